"""The result of a design, invented: Shapley values, interactions and a
sweep on two data sets.
"""

from __future__ import annotations

import numpy as np

from hebbarium.benchmarks.reports.published import NOTHING, Published, Removal, Sweep
from hebbarium.benchmarks.reports.result import (
    PRIMARY,
    REMOVED,
    BlockResult,
    Cost,
    DesignFacts,
    DesignResult,
    Estimate,
)
from hebbarium.benchmarks.scores.comparison import Difference

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


def estimate(rng: np.random.Generator, name: str, kind: str, scale: float = 0.05) -> Estimate:
    mean, half = float(rng.normal() * scale), float(abs(rng.normal()) * 0.02 + 0.004)
    decided, equivalent = abs(mean) > half, half < 0.008
    d = Difference(
        mean,
        mean - half,
        mean + half,
        0.012,
        p_holm=0.012 if decided else 0.12,
        p_bh=0.12,
        flip_p_holm=0.3,
        equivalent=equivalent and not decided,
        more=None if decided or equivalent else 12,
    )
    return Estimate(name, kind, PRIMARY, False, {}, {PRIMARY: d}, 3, 4, 2, 1, seed_sd=0.001)


def design(seed: int = 1, removed: bool = False, set_name: str = "default") -> DesignResult:
    rng, blocks = np.random.default_rng(seed), []
    facts = DesignFacts(
        "a design", f"what it is {EVIL}", set_name, "shapley", source="design.yaml", seeds=(0, 1)
    )
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
        # no design has both kinds of a name, but one may have all of these
        estimates = [estimate(rng, player, REMOVED) for player in PLAYERS] if removed else estimates
        blocks.append(
            BlockResult(
                facts,
                name,
                dataset,
                "0" * 64,
                "minilm",
                10,
                997,
                {"full": 0.62, "without all players": 0.31},
                tuple(estimates),
            )
        )
    return DesignResult(
        facts,
        tuple(blocks),
        ("full",),
        excluded={EVIL: f"two fusions {EVIL}"},
        notes=(f"a note {EVIL}",),
        costs=COSTS,
        made={
            "date": "2026-01-02T03:04:05Z",
            "platform": "Linux",
            "cores": 2,
            "command_line": "hebbarium ablate --design x",
        },
    )


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
