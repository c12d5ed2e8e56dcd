"""Consolidation cascade as Cortex 4.2.1 prints it: heat decays through four stages, each with a
duration, a decay multiplier and a floor.

A memory advances to the next stage once its stage has lasted for the printed duration and a
condition is met: dopamine above 1 or importance above 0.6 for EARLY_LTP; a replay, or importance
above 0.7, for LATE_LTP; three replays, or one of a memory that fits a schema, for CONSOLIDATED.
Heat decays exponentially, at 2.0, 1.2, 0.8 or 0.5 times the base rate by stage, and never below the
stage's floor.  No event overwrites another memory, and the floor of a stage does not depend on the
number of replays.

Cost: O(1) per event; O(n) per consolidation and per maintain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    ARRIVED,
    CONGRUENCY,
    LOG_STRENGTH,
    PLASTICITY,
    REPLAYS,
    ROW,
    SALIENCE,
)

STAGES = ("LABILE", "EARLY_LTP", "LATE_LTP", "CONSOLIDATED")
LASTS = np.array([1.0, 5.0, 18.0, np.inf])  # h; 0-1, 1-6, 6-24, above 24
MULTIPLIER = np.array([2.0, 1.2, 0.8, 0.5])
FLOOR = np.array([0.0, 0.0, 0.05, 0.10])

# --- columns --------------------------------------------------------------------------------------
STAGE_ENTERED = Column(
    "stage_entered",
    np.float64,
    Scope.MEMORY,
    "h",
    np.nan,
    "when each stage begins or began; NaN: its condition is not met",
    (4,),
    upkeep=Upkeep(clock=True),
)
STAGE_IMPORTANCE = Column(
    "stage_importance",
    np.float64,
    Scope.MEMORY,
    "1",
    0.5,
    "importance: salience when encoded",
    low=0,
    high=1,
)
REPLAYED_SO_FAR = Column(
    "replayed_so_far",
    np.int64,
    Scope.MEMORY,
    "1",
    0,
    "replayed steps that the memory was part of, over all sleeps",
    low=0,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def goes_on(stage: int, dopamine: float, importance: float, replays: int, congruent: bool) -> bool:
    """Whether the condition to leave a stage is met.  Cortex 4.2.1, advancement criteria.  Cost:
    O(1).

    >>> goes_on(0, 1.0, 0.7, 0, False), goes_on(1, 1.0, 0.7, 0, False), goes_on(2, 1.0, 0.7, 1, True), goes_on(3, 2.0, 1.0, 9, True)
    (True, False, True, False)
    """
    if stage == 0:
        return dopamine > 1.0 or importance > 0.6
    if stage == 1:
        return replays >= 1 or importance > 0.7
    return stage == 2 and (replays >= 3 or (replays >= 1 and congruent))


@kernel
def advance(
    now: float,
    dopamine: float,
    importance: float,
    replays: int,
    congruent: bool,
    scale: float,
    entered: Any,
) -> None:
    """Set the start of each next stage whose condition is met now: the later of now and the end of
    the stage before.

    now                            ()    h   time at which the conditions are evaluated
    dopamine, importance, replays  ()    1   as for `goes_on`; congruent: the memory fits a schema
    scale                          ()    1   time_scale, factor on the durations of the stages
    entered                        (4,)  h   start of each stage, NaN if not known; changed in place

    Cost: O(stages).
    """
    for stage in range(3):
        if math.isnan(entered[stage]) or (
            math.isnan(entered[stage + 1])
            and not goes_on(stage, dopamine, importance, replays, congruent)
        ):
            break
        if math.isnan(entered[stage + 1]):
            entered[stage + 1] = max(now, entered[stage] + scale * LASTS[stage])


@kernel
def log_heat(now: float, entered: Any, rate: float) -> float:
    """ln max(floor, exp(-rate sum of multiplier x hours in each stage)).  Cortex 4.2.1.  Cost:
    O(stages).

    now      ()    h
    entered  (4,)  h    when each stage began
    rate     ()    1/h  base rate of decay

    >>> round(log_heat(4.0, np.array([0.0, 1.0, np.nan, np.nan]), 0.1), 9)
    -0.56
    """
    total, floor = 0.0, 0.0
    for stage in range(4):
        if not entered[stage] <= now:
            break
        end = entered[stage + 1] if stage < 3 and entered[stage + 1] <= now else now
        total, floor = total + MULTIPLIER[stage] * (end - entered[stage]), FLOOR[stage]
    return max(-rate * total, math.log(floor)) if floor else -rate * total


@kernel
def slept(
    now: float,
    importance: Any,
    replayed: Any,
    congruency: Any,
    congruent: float,
    scale: float,
    entered: Any,
) -> None:
    """`advance` for every memory at the end of a sleep; dopamine counts only at encoding.  Cost:
    O(n).
    """
    for row in range(replayed.shape[0]):
        if math.isnan(entered[row, 3]):
            advance(
                now,
                0.0,
                importance[row],
                replayed[row],
                congruency[row] > congruent,
                scale,
                entered[row],
            )


@kernel
def heats(now: float, entered: Any, rate: float, out: Any) -> None:
    """`log_heat` of every memory.  Cost: O(n)."""
    for row in range(out.shape[0]):
        out[row] = log_heat(now, entered[row], rate)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ConsolidationCascadePrintedParams(Params):
    decay_factor: float  # factor on heat in one hour, without the stage's multiplier
    congruent: float  # least congruency of a memory that fits a schema


class ConsolidationCascadePrinted(Mechanism[ConsolidationCascadePrintedParams]):
    owns = (STAGE_ENTERED, STAGE_IMPORTANCE, REPLAYED_SO_FAR)

    @hook(
        Phase.ENCODE,
        reads=(ROW, ARRIVED, SALIENCE, PLASTICITY),
        adds=(),
        sets=(STAGE_ENTERED, STAGE_IMPORTANCE),
    )
    def encode(self, view: Any, incoming: Incoming) -> None:
        row, now = view.row, float(view.arrived[view.row])
        view.stage_importance[row], view.stage_entered[row, 0] = view.salience, now
        advance(
            now,
            view.plasticity,
            view.salience,
            0,
            False,
            self.params.time_scale,
            view.stage_entered[row],
        )

    @hook(
        Phase.CONSOLIDATE,
        reads=(REPLAYS, CONGRUENCY, STAGE_IMPORTANCE),
        adds=(),
        sets=(STAGE_ENTERED, REPLAYED_SO_FAR),
    )
    def sleep(self, view: Any, tick: Tick) -> None:
        view.replayed_so_far += view.replays
        slept(
            tick.end,
            view.stage_importance,
            view.replayed_so_far,
            view.congruency,
            self.params.congruent,
            self.params.time_scale,
            view.stage_entered,
        )

    @hook(Phase.MAINTAIN, reads=(STAGE_ENTERED,), adds=(LOG_STRENGTH,), sets=())
    def strengthen(self, view: Any, tick: Tick) -> None:
        heats(
            tick.end,
            view.stage_entered,
            -math.log(self.params.decay_factor) / self.params.time_scale,
            view.log_strength,
        )
