"""Neurogenesis: granule cells are born all life long, and take the place of older ones in the dentate gyrus.

Young cells, some weeks old, are easier to drive than mature ones, so what is encoded in the same weeks shares young cells and what is
encoded weeks apart does not: codes carry time (Aimone, Wiles & Gage 2009; Becker 2005).  The price is forgetting: a memory whose cells have been
replaced answers less to its own cue (Akers et al. 2014).

Here births go on at a constant rate, one unit after the other, so that TURNOVER = (t - t_0) / T counts replaced populations; whichever mechanism
keeps a sparse code reads it (pattern_separation: which cells there are, and how old each is).  The number of units never changes; no dimension is
added anywhere.

Acts on: TURNOVER, and through it the codes of events and cues.  Cost: O(1) per event and per tick.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.columns import Column, Phase, Scope
from ...engine.contract import Incoming, Mechanism, Params, Tick, hook
from ...engine.numerics import kernel
from ...engine.vocabulary import NOW, TURNOVER

# --- columns -----------------------------------------------------------------------------------------------------------------
NEUROGENESIS_STARTED = Column("neurogenesis_started", np.float64, Scope.GLOBAL, "h", np.nan,
                              "time of the first event, when all cells were mature; NaN: none yet")


# --- equations ---------------------------------------------------------------------------------------------------------------
@kernel
def replacement_time(population: float, births: float, survival: float) -> float:
    """T = M / (b s), time in which as many cells have been born and have survived as there are.  Cost: O(1).

    population  cells      M
    births      cells / d  b
    survival    1          s, share of the newborn that is still there when it matures
    returns     d

    >>> replacement_time(1_000_000.0, 10_000.0, 0.5)
    200.0
    """
    return population / (births * survival)


@kernel
def turnover(elapsed: float, replacement: float) -> float:
    """Populations replaced so far, t / T: births go on at a constant rate whatever happens.  Cost: O(1).

    elapsed      h  since all cells were mature
    replacement  h  T

    >>> turnover(50.0, 200.0)
    0.25
    """
    return max(elapsed, 0.0) / replacement


@kernel
def surviving(replaced: float) -> float:
    """Share of a code's cells that are still there after TURNOVER has grown: births take the oldest first, so 1 - it, down to 0.  Cost: O(1).

    >>> surviving(0.25), surviving(3.0)
    (0.75, 0.0)
    """
    return max(1.0 - replaced, 0.0)


# --- plug-in -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class NeurogenesisParams(Params):
    population: float           # M
    births_per_day: float       # b
    survival: float             # s


class Neurogenesis(Mechanism[NeurogenesisParams]):
    """Counts births from elapsed time alone: an event sees those up to its own time, however long the tick is."""

    owns = (NEUROGENESIS_STARTED,)

    def replaced(self, elapsed: float) -> float:
        p = self.params
        return float(turnover(elapsed, 24.0 * p.time_scale * replacement_time(p.population, p.births_per_day, p.survival)))

    @hook(Phase.ENCODE, reads=(NOW,), adds=(), sets=(NEUROGENESIS_STARTED, TURNOVER))
    def experience(self, view: Any, incoming: Incoming) -> None:
        if np.isnan(view.neurogenesis_started):
            view.neurogenesis_started = view.now
        view.turnover = self.replaced(view.now - view.neurogenesis_started)

    @hook(Phase.MAINTAIN, reads=(NEUROGENESIS_STARTED,), adds=(), sets=(TURNOVER,))
    def grow(self, view: Any, tick: Tick) -> None:
        if not np.isnan(view.neurogenesis_started):
            view.turnover = self.replaced(tick.end - view.neurogenesis_started)
