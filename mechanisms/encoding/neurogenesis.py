"""Neurogenesis: replaces the granule cells of a sparse code at a constant rate and counts the
replaced populations.

Granule cells of the dentate gyrus are born throughout life and replace older cells.  Young cells,
some weeks old, are easier to drive than mature ones, so events of the same weeks share young cells
and events weeks apart do not: codes carry time (Aimone, Wiles & Gage 2009; Becker 2005).  The cost
is forgetting: a memory whose cells have been replaced responds less to its own cue (Akers et al.
2014).

Births occur at a constant rate, one unit after the other, so TURNOVER = (t - t_0) / T counts
replaced populations.  A mechanism with a sparse code reads it (pattern_separation: generation and
age of each cell).  The number of units and the dimensions of the code never change.

Cost: O(1) per event and per tick.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import formula, kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import NOW, TURNOVER

# --- columns --------------------------------------------------------------------------------------
NEUROGENESIS_STARTED = Column(
    "neurogenesis_started",
    np.float64,
    Scope.GLOBAL,
    "h",
    np.nan,
    "time of the first event, at which all cells are mature; NaN: none yet",
    upkeep=Upkeep(clock=True),
)


# --- equations ------------------------------------------------------------------------------------
@formula
def replacement_time(population: float, births: float, survival: float) -> float:
    """T = M / (b s), time in which the number of surviving newborn cells reaches the population
    size.  Cost: O(1).

    population  cells      M
    births      cells / d  b
    survival    1          s, share of the newborn cells that survive to maturity
    returns     d

    >>> replacement_time(1_000_000.0, 10_000.0, 0.5)
    200.0
    """
    return population / (births * survival)


@formula
def turnover(elapsed: float, replacement: float) -> float:
    """Populations replaced so far, t / T: births occur at a constant rate.  Cost: O(1).

    elapsed      h  time since all cells were mature
    replacement  h  T

    >>> turnover(50.0, 200.0)
    0.25
    """
    return max(elapsed, 0.0) / replacement


@kernel
def surviving(replaced: float) -> float:
    """max(0, 1 - increase of TURNOVER): share of a code's cells that are not replaced; births
    replace the oldest first.  Cost: O(1).

    >>> surviving(0.25), surviving(3.0)
    (0.75, 0.0)
    """
    return max(1.0 - replaced, 0.0)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class NeurogenesisParams(Params):
    population: float  # M
    births_per_day: float  # b
    survival: float  # s


class Neurogenesis(Mechanism[NeurogenesisParams]):
    """Computes TURNOVER from elapsed time alone: an event sees the births up to its own time,
    for any length of tick.
    """

    owns = (NEUROGENESIS_STARTED,)

    def replaced(self, elapsed: float) -> float:
        p = self.params
        return float(
            turnover(
                elapsed,
                24.0 * p.time_scale * replacement_time(p.population, p.births_per_day, p.survival),
            )
        )

    @hook(Phase.ENCODE, reads=(NOW,), adds=(), sets=(NEUROGENESIS_STARTED, TURNOVER))
    def experience(self, view: Any, incoming: Incoming) -> None:
        if np.isnan(view.neurogenesis_started):
            view.neurogenesis_started = view.now
        view.turnover = self.replaced(view.now - view.neurogenesis_started)

    @hook(Phase.MAINTAIN, reads=(NEUROGENESIS_STARTED,), adds=(), sets=(TURNOVER,))
    def grow(self, view: Any, tick: Tick) -> None:
        if not np.isnan(view.neurogenesis_started):
            view.turnover = self.replaced(tick.end - view.neurogenesis_started)
