"""Writes docs/results/gate-signals.md: what each signal of True Memory's gate tells by itself, and how
much two of them say the same, over the labelled utterances of the probe gate_auc.

    python docs/tools/gate_signals.py

The gate of `true_memory_gated` judges each part of the stream with a threshold that admits
everything, so that every utterance has its three signals.  Areas and correlations are means over
the five parts, with the least and the greatest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import hebbarium as hb
from hebbarium.benchmarks.probes.gate_auc import EACH, PARTS, WORTH, of_scores, utterances
from hebbarium.engine.ports.embedder import Embedder
from hebbarium.mechanisms.encoding.write_gate_true_memory import GATE_TAGS

TARGET = Path(__file__).resolve().parents[1] / "results" / "gate-signals.md"
OPEN = {
    "write_gate_true_memory": {
        "threshold": -1.0,
        "salience_floor": 0.0,
        "prediction_error": "always",
    }
}
SIGNALS = ("novelty", "salience", "prediction error")
APART = 5.0 / 60.0  # h between utterances
HEAD = """# Signals of True Memory's gate

What each signal tells by itself, and the correlation of each two, over the 600 labelled utterances of the probe `gate_auc/stream`, in five lives of 120
(mean, least to greatest). Worth storing are facts, corrections, decisions, commitments, relationships and preferences; not: paraphrases, questions,
small talk and noise. The area is the probability that what is worth storing has the higher value; the baseline is one minus the cosine to the nearest
earlier utterance. True Memory prints .788 for novelty, .730 for the prediction error, .484 for the baseline, and correlations of the prediction error
with novelty of .30 and with salience of .23, over a stream of its own: NOT COMPARED.

`docs/tools/gate_signals.py` writes this page.

"""


def signals(embedding: str | Embedder, part: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(n, 4) novelty, salience, prediction error and baseline of the utterances of a part, and (n,)
    whether each is worth storing.  What is not computed counts as 0, as the gate counts it.
    """
    pool = [(kind, text) for i, (kind, text) in enumerate(utterances()) if i % EACH % PARTS == part]
    order = np.random.default_rng(part).permutation(len(pool)).tolist()
    said = [pool[i] for i in order]
    memory = hb.memory("true_memory_gated", embedding=embedding, params=OPEN)
    rows = [
        memory.encode(hb.Event(APART * n, text, id=f"u{n}", dated=False))
        for n, (_, text) in enumerate(said)
    ]
    assert None not in rows, "the threshold admits everything"
    tags = np.nan_to_num(np.asarray(memory.column(GATE_TAGS), dtype=np.float64))[rows]
    vectors = np.asarray(memory.column("embedding"), dtype=np.float64)[rows]
    cosines = vectors @ vectors.T
    nearest = [cosines[n, :n].max() if n else 0.0 for n in range(len(rows))]
    return np.column_stack([tags, 1.0 - np.array(nearest)]), np.array([k in WORTH for k, _ in said])


def areas_and_correlations(
    values: NDArray[np.float64], worth: NDArray[np.bool_]
) -> Mapping[str, float]:
    """The area of each signal and of the baseline, and the Pearson correlation of each two
    signals.
    """
    areas = {name: of_scores(values[:, n], worth) for n, name in enumerate((*SIGNALS, "baseline"))}
    r = np.corrcoef(values[:, :3].T)
    pairs = ((0, 1), (0, 2), (1, 2))
    return areas | {f"{SIGNALS[a]} and {SIGNALS[b]}": float(r[a, b]) for a, b in pairs}


def page(parts: Sequence[Mapping[str, float]]) -> str:
    """The page of the results of all parts."""
    lines = ["| area under the curve | |", "|---|--:|"]
    for name in parts[0]:
        if name == f"{SIGNALS[0]} and {SIGNALS[1]}":
            lines += ["", "| correlation | |", "|---|--:|"]
        held = [part[name] for part in parts]
        lines.append(f"| {name} | {np.mean(held):.3f} ({min(held):.3f} to {max(held):.3f}) |")
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    results = [areas_and_correlations(*signals("minilm", part)) for part in range(PARTS)]
    TARGET.write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
