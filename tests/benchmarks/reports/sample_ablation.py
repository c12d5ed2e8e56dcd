"""A whole leave-one-out, computed from invented ranks: every number in its reports follows from them."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np

from hebbarium.benchmarks.reports.result import (
    PRIMARY,
    REMOVED,
    ArmReceipt,
    BlockResult,
    DesignFacts,
    DesignResult,
    Estimate,
    Gate,
    corrected_estimates,
)
from hebbarium.benchmarks.scores.comparison import difference
from hebbarium.benchmarks.scores.metrics import METRICS, question_metrics, summary

HOSTILE = "<script>alert('x')</script>&\"|`*\x1b[31m\u202e"
EFFECTS = {
    "dense_retrieval": 0.30, "lexical_bm25": 0.06, "cross_encoder_rerank": 0.045,
    "spreading_activation": 0.012, "temporal_context_printed": 0.02,
    "surprise_gate": -0.07, "base_level_activation": 0.004,
    "two_stage_consolidation_with_schema_acceleration_printed": -0.006,
    "swap spreading_activation->personalized_pagerank_over_entities": 0.008, HOSTILE: 0.002,
    "emotional_tagging": None, "synaptic_homeostasis": None,
    "reconsolidation": None,
}  # fmt: skip
STILL = ("synaptic_homeostasis",)  # wrote nothing in the full run
PROVENANCE = {
    "command": "ablate", "design": "leave-one-out", "embedder": "all-MiniLM-L6-v2",
    "embedder_revision": "r1", "embedder_dimensions": 384,
    "unit": "session", "without": ["heat"], "param": {"recency": {"weight": 0.2}}, "rehearse": 24.0,
    "set_digest": "5" * 64, "registry_digest": "6" * 64,
    "versions": {"python": "3.11.7", "numpy": "2.4.0"},
    "made": {"date": "2026-01-02T03:04:05Z", "platform": "Linux-6-x86_64", "cores": 2,
             "command_line": "hebbarium ablate --set cortex",
             "bibtex": "@article{a2000b,\n  title = {Of {B}}\n}\n"},
    "expected": {"n_conversations": 10, "n_questions": 400, "family": 13, "margin": 0.005,
                 "flip_p": 0.001953125, "flip_p_holm": 0.025390625,
                 "half_width": [0.01, 0.02, 0.03], "decided": [0.02, 0.04, 0.06],
                 "source": "an earlier run", "enough_questions": 542}}  # fmt: skip
CATEGORIES = {"single-hop": 841, "multi-hop": 282, "temporal": 321, "open-domain <b>": 96}


def sample(
    effects: dict[str, float | None] = EFFECTS, n_conversations: int = 10, n_questions: int = 400
) -> BlockResult:
    rng = np.random.default_rng(7)
    ids = np.sort(rng.integers(n_conversations, size=n_questions))
    kinds = rng.choice(list(CATEGORIES), size=n_questions)
    full = [
        [int(rank) for rank in rng.choice(14, size=rng.integers(1, 4), replace=False)]
        for _ in range(n_questions)
    ]

    def table(ranks: list[list[int]]) -> np.ndarray:
        return np.array([list(question_metrics(row).named().values()) for row in ranks])

    base, arms = table(full), []
    for name, effect in effects.items():
        ranks = [list(row) for row in full]
        if effect is not None:
            moved = rng.random(n_questions) < abs(effect) * 2 + 0.02
            for i in np.flatnonzero(moved):
                worse = rng.random() < (0.5 + np.sign(effect) * min(0.48, abs(effect) * 20))
                ranks[i] = (
                    [rank + 40 if rank else 0 for rank in ranks[i]]
                    if worse
                    else list(range(1, len(ranks[i]) + 1))
                )
        d = base - table(ranks)
        changed = [a != b for a, b in zip(full, ranks, strict=True)]
        n_ranks = sum(
            x != y for a, b in zip(full, ranks, strict=True) for x, y in zip(a, b, strict=True)
        )
        arms.append(
            Estimate(
                name=name,
                kind=REMOVED,
                metric=PRIMARY,
                no_op=n_ranks == 0,
                metrics=dict(zip(METRICS, table(ranks).mean(axis=0).tolist(), strict=True)),
                differences={
                    metric: difference(
                        base[:, j], base[:, j] - d[:, j], ids, seed=1, n_resamples=400, n_flips=2048
                    )
                    for j, metric in enumerate(METRICS)
                },
                n_questions_changed=sum(changed),
                n_ranks_changed=n_ranks,
                n_helped=int((d[:, 2] > 1e-12).sum()),
                n_hurt=int((d[:, 2] < -1e-12).sum()),
                receipt=ArmReceipt(
                    int(rng.integers(5000)),
                    int(rng.integers(90000)) * (name not in STILL),
                    int(rng.integers(900)),
                    Gate(5000, 4100, 900, 850, 7) if name == "surprise_gate" else None,
                )
                if not name.startswith("swap")
                else None,
                silenced=("temporal_context", "synaptic_homeostasis")
                if name == "spreading_activation"
                else (),
                fair=("swap spreading_activation->personalized_pagerank_over_entities",)
                if name == "spreading_activation"
                else (),
                seconds=float(rng.uniform(2, 9)),
                by_category={
                    kind: float(d[kinds == kind, 2].mean()) for kind in list(CATEGORIES)[:3]
                },
            )
        )
    baseline = summary([question_metrics(row) for row in full])
    without = {f"without {e.name}": e.metrics[PRIMARY] for e in arms}
    return BlockResult(
        DesignFacts(
            "leave-one-out",
            "",
            "cortex",
            "leave-one-out",
            seeds=(7,),
            n_designed=len(effects),
            n_resamples=400,
            n_flips=2048,
            version="0.1.0+abcdef0123",
        ),
        "",
        "LoCoMo",
        sha256(b"data").hexdigest(),
        "minilm",
        n_conversations,
        n_questions,
        {"full": float(baseline[PRIMARY] or 0.0), **without},
        corrected_estimates(arms),
        baseline,
        CATEGORIES,
        12.25,
        provenance=PROVENANCE,
    )


def whole(*blocks: BlockResult, **more: Any) -> DesignResult:
    """The design that has these blocks alone."""
    return DesignResult(blocks[0].facts, blocks, made=PROVENANCE["made"], **more)  # type: ignore[arg-type]
