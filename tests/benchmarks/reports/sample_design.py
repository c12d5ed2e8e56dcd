"""The result of a design as design.json holds it, invented: Shapley values, interactions and a
sweep on two data sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hebbarium.benchmarks.reports.estimates import Cost
from hebbarium.benchmarks.reports.published import NOTHING, Published, Removal, Sweep

EVIL = "<script>alert('x')</script>&\"|`*\x1b[31m\u202e"
PLAYERS = (
    "dense_similarity",
    "lexical_bm25",
    "temporal_context",
    "spreading_activation",
    "two_stage_consolidation_with_schema_acceleration",
    EVIL,
)
WEIGHTS = (0, 0.3, 0.5, 0.7, 1)


def estimate(rng: np.random.Generator, name: str, kind: str, scale: float = 0.05) -> dict[str, Any]:
    mean, half = float(rng.normal() * scale), float(abs(rng.normal()) * 0.02 + 0.004)
    verdict = (
        "helps"
        if mean > half
        else "hurts"
        if mean < -half
        else "equivalent"
        if half < 0.008
        else "undecided"
    )
    return {"name": name, "kind": kind, "mean": mean, "low": mean - half, "high": mean + half,
            "p": 0.012, "p_holm": 0.12, "verdict": verdict,
            "no_op": False, "seed_sd": 0.001, "more": 12 if verdict == "undecided" else None}  # fmt: skip


def design(seed: int = 1, removed: bool = False) -> dict[str, Any]:
    rng, blocks = np.random.default_rng(seed), []
    for name, dataset in (("1 locomo", "locomo"), (f"2 {EVIL}", EVIL)):
        estimates = [estimate(rng, player, "Shapley value") for player in PLAYERS]
        estimates += [
            estimate(rng, f"{a} x {b}", "interaction", 0.02)
            for i, a in enumerate(PLAYERS)
            for b in PLAYERS[i + 1 :]
        ]
        estimates += [
            estimate(rng, f"lexical_bm25.weight={w:g}", "arm minus full", 0.02) for w in WEIGHTS
        ]
        estimates += (
            [estimate(rng, player, "full minus arm") for player in PLAYERS] if removed else []
        )
        blocks.append({"block": name, "dataset": dataset, "embedder": "minilm", "questions": 997,
                       "conversations": 10, "seconds": 1.0,
                       "means": {"full": 0.62, "without all players": 0.31},
                       "estimates": estimates})  # fmt: skip
    return {"name": "a design", "summary": f"what it is {EVIL}", "set": "default",
            "kind": "shapley", "metric": "recall@10", "margin": 0.005,
            "correction": "holm", "source": "design.yaml", "seeds": [0, 1], "arms": ["full"],
            "excluded": {EVIL: f"two fusions {EVIL}"},
            "dropped": [], "notes": [f"a note {EVIL}"], "blocks": blocks, "contrasts": {},
            "made": {"date": "2026-01-02T03:04:05Z", "platform": "Linux", "cores": 2,
                     "command_line": "hebbarium ablate --design x"}}  # fmt: skip


COSTS = (Cost("lexical_bm25", 0.12, 0.4, None), Cost(EVIL, None, 1.5, 20.0))
_KNOWN = Published(
    (
        Removal("WORDS", ("lexical_bm25",), "4.1", 0.0321),
        Removal("BOTH", ("dense_similarity", "temporal_context"), "4.2", 0.0),
        Removal(EVIL, (), "4.3", -0.0111),
    ),
    {
        "lexical_bm25.weight": Sweep(
            "default", ((0.0, -0.02), (0.5, 0.0), (1.0, -0.01)), "a paper, section 6"
        ),
        "heat.weight": Sweep("default", ((0.0, -0.02),), "a paper, section 7"),
    },
    "the ablation of a paper",
)


def known(dataset: str, metric: str) -> Published:
    """Numbers on one of the two data sets."""
    return _KNOWN if (dataset, metric) == ("locomo", "recall@10") else NOTHING
