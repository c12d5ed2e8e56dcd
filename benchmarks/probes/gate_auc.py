"""Gate: what is worth storing is told from what is not, over all thresholds (receiver operating
characteristic).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import THRESHOLD_SHIFT
from .harness.base import Measures, MoreThan, Numbers, Probe
from .harness.instruments import Instrument
from .harness.life import MINUTE, Life, Need
from .stimuli import FOODS, JOBS, NAMES, OBJECTS, PLACES, Stimuli

# utterances of each kind; parts of the stream, one for each seed
EACH, PARTS = 60, 5
WORTH: Final = ("fact", "correction", "decision", "commitment", "relationship", "preference")
NOT: Final = ("paraphrase", "question", "small talk", "noise")
# of the threshold
SHIFTS: Final = (-2.0, -0.3, -0.2, -0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 2.0)
# false alarms at which the curve is read
GRID: Final = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

RELATIVES: Final = ("sister", "brother", "cousin", "neighbour", "aunt", "uncle", "grandfather",
                    "stepson")  # fmt: skip
TALK: Final = ("Nice weather today, isn't it?", "How funny, I laughed a lot.",
               "Good morning, hope you slept well.", "What a long day that was.",
               "It is getting dark early again.", "I am a bit tired, but fine.",
               "Well, that is life, I guess.", "Have a lovely evening then.",
               "That sounds nice indeed.", "Time really flies these days.",
               "I could do with a coffee now.", "Traffic was the usual mess.")  # fmt: skip
NOISES: Final = ("ok", "hmm", "yeah", "uh-huh", "lol", "right", "sure", "oh", "haha", "mhm", "yep",
                 "thanks!")  # fmt: skip


@dataclass(frozen=True, slots=True)
class ThresholdShiftParams(Params):
    by: float  # score


class ThresholdShift(Mechanism[ThresholdShiftParams]):
    """Moves the threshold of every gate."""

    @hook(Phase.ENCODE, reads=(), adds=(THRESHOLD_SHIFT,), sets=())
    def move(self, view: Any, incoming: Incoming) -> None:
        view.threshold_shift += self.params.by


def shift(by: float) -> Instrument:
    """The threshold of every gate, moved by a score."""
    return ThresholdShift("probe_shift", ThresholdShiftParams(time_scale=1.0, by=by))


def utterances() -> list[tuple[str, str]]:
    """600 labelled utterances (kind, text), the same for every seed; fact i and paraphrase i say
    the same.

    >>> len(utterances()), utterances()[0][0], utterances()[360][0]
    (600, 'fact', 'paraphrase')
    """
    s = Stimuli("gate_auc, pool", 0)

    def some(pool: Sequence[str]) -> list[str]:
        return [pool[i] for i in s.rng.integers(len(pool), size=EACH)]

    names, others, things, places, jobs, foods = (
        some(p) for p in (NAMES, NAMES, OBJECTS, PLACES, JOBS, FOODS)
    )
    days, relatives = s.rng.integers(1, 29, EACH).tolist(), some(RELATIVES)
    rows = list(zip(names, others, things, places, jobs, foods, days, relatives, strict=True))
    said = {
        "fact": ["{0} bought a {2} in the {3} for {6}0 euros.",
                 "{0} works as a {4} in the {3} since 20{6:02d}."],
        "correction": ["Actually, {0} keeps the {2} in the {3}, not in the cellar.",
                       "Sorry, I was wrong: {0} is a {4}, not a painter."],
        "decision": ["We decided to sell the {2} on the {6}th of May.",
                     "I have decided that {0} will become the new {4}."],
        "commitment": ["I will bring the {2} to the {3} on the {6}th.",
                       "I promise to call {0} about the {2} tomorrow at nine."],
        "relationship": ["{0} is the {7} of {1}.", "{0} and {1} got married in the {3}."],
        "preference": ["I prefer {5} to anything else for breakfast.",
                       "I really hate {5}, please never order them for me."],
        "paraphrase": ["As I told you, {0} bought that {2} in the {3} for {6}0 euros.",
                       "{0} has been a {4} in the {3} since 20{6:02d}, as I said."],
        "question": ["Where did {0} put the {2}?", "Do you know when the {3} opens?"],
    }  # fmt: skip
    made = {
        kind: [forms[i % 2].format(*row) for i, row in enumerate(rows)]
        for kind, forms in said.items()
    }
    made |= {
        "small talk": [
            f"{TALK[i % len(TALK)]}{'' if i < len(TALK) else f' It is {days[i]} degrees.'}"
            for i in range(EACH)
        ],
        "noise": [NOISES[i % len(NOISES)] + "." * (i // len(NOISES)) for i in range(EACH)],
    }
    return [(kind, text) for kind in (*WORTH, *NOT) for text in made[kind]]


def run(life: Life, seed: int) -> Numbers:
    s, pool = Stimuli("gate_auc", seed), utterances()
    part = [i for i in range(len(pool)) if i % EACH % PARTS == seed % PARTS]
    places = {
        i: float(at) for i, at in zip(part, s.rng.permutation(len(part)).tolist(), strict=True)
    }
    first = WORTH.index("fact") * EACH, (len(WORTH) + NOT.index("paraphrase")) * EACH
    for i in part:
        # a fact before what repeats it
        if first[0] <= i < first[0] + EACH and places[i] > places[i + first[1]]:
            places[i], places[i + first[1]] = places[i + first[1]], places[i]
    stream = [pool[i] for i in sorted(part, key=places.__getitem__)]
    worth, texts = np.array([kind in WORTH for kind, _ in stream]), [text for _, text in stream]
    admitted, kept_kinds = [], dict[str, float]()
    for by in SHIFTS:
        memory = life.fresh(shift(by))
        ids = memory.tell_all(texts, apart=5 * MINUTE)
        kept = memory.kept()
        admitted.append(np.array([id in kept for id in ids]))
        if by == 0.0:
            kept_kinds = {
                f"stored, {kind}": float(
                    np.mean([i in kept for i, (k, _) in zip(ids, stream, strict=True) if k == kind])
                )
                for kind in (*WORTH, *NOT)
            }
    alarms, hits = ([float(stored[rows].mean()) for stored in admitted] for rows in (~worth, worth))
    dense = [
        1.0 if i == 0 else 1.0 - float(memory.cosines(text, ids[:i]).max())
        for i, text in enumerate(texts)
    ]
    return {
        "AUC": area(alarms, hits),
        "AUC, dense inverted": of_scores(dense, worth),
        **{f"hits at {x:g}": at(x, alarms, hits) for x in GRID},
        **kept_kinds,
    }


def hull(alarms: ArrayLike, hits: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """The curve from (0, 0) to (1, 1) through the points, in the order of false alarms, then
    hits.
    """
    points = sorted(
        {
            (0.0, 0.0),
            (1.0, 1.0),
            *zip(np.asarray(alarms).tolist(), np.asarray(hits).tolist(), strict=True),
        }
    )
    x, y = np.array(points).T
    return x, y


def area(alarms: ArrayLike, hits: ArrayLike) -> float:
    """Area under the curve through the points, by trapezia.

    >>> area([0.0, 0.5], [1.0, 1.0]), area([1.0], [1.0]), area([0.5], [0.75])
    (1.0, 0.5, 0.625)
    """
    x, y = hull(alarms, hits)
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2.0))


def at(alarm: float, alarms: ArrayLike, hits: ArrayLike) -> float:
    """Hits at a share of false alarms, between the points.

    >>> at(0.25, [0.5], [0.8])
    0.4
    """
    x, y = hull(alarms, hits)
    return float(np.interp(alarm, x, y))


def of_scores(scores: ArrayLike, worth: ArrayLike) -> float:
    """Area under the curve of a score: probability that one worth storing has the higher score; a
    tie counts one half.

    >>> of_scores([0.9, 0.2, 0.2], [True, False, True])
    0.75
    """
    s, w = np.asarray(scores, np.float64), np.asarray(worth, bool)
    difference = s[w][:, None] - s[~w][None, :]
    return float(np.mean((difference > 0) + 0.5 * (difference == 0)))


PROBES = (
    Probe(
        id="gate_auc/stream",
        capability="What is worth storing is told from what is not, better than by chance over all thresholds.",
        source="",
        place="labelled stream; receiver operating characteristic",
        unit="area; share",
        protocol="600 utterances of ten kinds, a fifth of them in one life, 5 min apart; an instrument moves the threshold of every gate in 14 steps, "
        "one life each. Worth storing: fact, correction, decision, commitment, relationship, preference; not: paraphrase, question, small talk, "
        "noise. Beside it one minus the cosine to the nearest earlier utterance.",
        band=(MoreThan("AUC", 0.5),),
        matters=("write_gate_true_memory", "write_gate_cortex"),
        sets=("true_memory_gated", "waking", "everything"),
        needs=frozenset({Need.INSTRUMENTS}),
        of_gates=True,
        run=run,
        measures=Measures(columns=("threshold_shift",), answers=True),
    ),
)
