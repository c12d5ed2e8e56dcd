"""Evidence for sufficiency_gate_printed: the threshold of Cortex 3.3 on the largest relevance,
and answers held back in a memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine.contract.vocabulary import RELEASED, SUFFICIENCY
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Marks, Picture, figure
from .sufficiency_gate import LOOKED, SCORES, gated

TAU = 0.15
CORTEX = ("cortex2026",)


def held_back(specimen: Any, relevance: Any, answerable: Any = None, tau: float = TAU) -> bool:
    r = np.asarray(relevance, dtype=np.float32)
    return bool(
        specimen.insufficient(
            r, np.ones(len(r), np.bool_) if answerable is None else np.asarray(answerable), tau
        )
    )


@equation(
    "PGP-1",
    source="Cortex 3.3: suppressed where the largest score is below tau, by `max`",
    figure="threshold",
    papers=CORTEX,
)
def the_largest_relevance_decides(specimen: Any) -> Any:
    rng = np.random.default_rng(4)
    tables = [rng.uniform(0.0, scale, 7).astype(np.float32) for scale in np.linspace(0.05, 0.5, 24)]
    return [held_back(specimen, table) for table in tables], [
        max(table.tolist()) < TAU for table in tables
    ]


@adaptation(
    "PGP-2",
    source="ours: what cannot be answered and what was not looked at does not count; a relevance of tau suffices",
)
def only_what_may_be_answered_counts(specimen: Any) -> Any:
    nan, quarter = math.nan, 0.25
    return [
        held_back(specimen, [0.1, nan, 0.9], [True, True, False]),
        held_back(specimen, [nan, nan]),
        held_back(specimen, []),
        held_back(specimen, [nan, 0.1, 0.2]),
        held_back(specimen, [quarter, 0.0], tau=quarter),
        held_back(specimen, [0.9, 0.1], [False, False]),
    ], [True, False, False, False, False, False]


@adaptation(
    "PGP-3", source="Cortex 3.3, in a memory: an empty answer below tau, by hand", papers=CORTEX
)
def a_memory_holds_the_whole_answer_back(specimen: Any) -> Any:
    measured = []
    for relevance, changes in (
        (LOOKED, {}),
        (LOOKED * np.float32(0.2), {}),
        (LOOKED * np.float32(0.2), {"threshold": 0.125}),
        (LOOKED, {"threshold": 0.75}),
        (LOOKED * np.float32(np.nan), {}),
    ):
        memory = gated(specimen, relevance, **changes)
        answer = memory.retrieve("boat", k=3)
        released = memory.column(RELEASED)
        measured.append(
            [
                answer.rows.tolist() == [1, 2, 4],
                len(answer.rows) == 0,
                np.isnan(released).all(),
                released.tolist() == SCORES.tolist(),
                memory.column(SUFFICIENCY).item(),
            ]
        )
    through, back = [True, False, False, True, 1.0], [False, True, True, False, 0.0]
    return measured, [through, back, through, back, through]


@limit("PGP-4", source="definition: at a threshold of 0 nothing is held back")
def a_threshold_of_zero_releases_everything(specimen: Any) -> Any:
    return [held_back(specimen, [0.0, 0.0], tau=0.0), held_back(specimen, [0.0, 1e-9], tau=1e-6)], [
        False,
        True,
    ]


@figure(
    "threshold",
    caption="Whether an answer is released, over the largest relevance: a step at 0.15, and no degrees of confidence",
    source="Cortex 3.3",
)
def release_over_relevance(specimen: Any) -> Picture:
    r = np.linspace(0.0, 0.5, 101)
    released = np.array([0.0 if held_back(specimen, [x]) else 1.0 for x in r])
    return Picture(
        "largest relevance", "released", (Curve("printed gate", r, released, Marks.STEPS),)
    )


@mutant("the mean in place of the largest", rejected_by="PGP-1")
def mean_relevance(specimen: Any) -> Any:
    return specimen.replacing(
        "insufficient",
        lambda relevance, answerable, tau: bool(np.nanmean(relevance[answerable]) < tau),
    )


@mutant("archived memories count, too", rejected_by="PGP-2")
def unfiltered(specimen: Any) -> Any:
    return specimen.replacing(
        "insufficient",
        lambda relevance, answerable, tau: bool(
            np.max(relevance, initial=-1.0, where=relevance >= 0.0) < tau
        ),
    )


@mutant("each memory is held back by its own relevance", rejected_by="PGP-3")
def one_by_one(specimen: Any) -> Any:
    def judge(self: Any, view: Any, cue: Any) -> None:
        view.released[view.relevance < self.params.threshold] = np.nan

    return specimen.overriding("SufficiencyGatePrinted", judge=judge)


@mutant("a relevance equal to the threshold is held back", rejected_by="PGP-4")
def not_above(specimen: Any) -> Any:
    return specimen.replacing(
        "insufficient",
        lambda relevance, answerable, tau: bool((relevance[answerable] <= tau).all()),
    )
