"""Oscillatory clock as Cortex 4.4.4 describes it: theta as a cosine envelope over a session, seven
slots, ripples by threshold.

Encoding and retrieval strength are two raised cosines in opposite phase, never below 0.3;
plasticity is multiplied by the encoding strength, so it is weaker in the retrieval half but never
becomes depression.  The cycle counts operations, not time.  An eighth item of a cycle is not bound.
Ripples occur if enough has happened since the last ones, without randomness.  Constants that the
text does not print are those of the public code.

Cost: O(1) per event, recall and sleep.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    LTP,
    NOW,
    RECALLED,
    RIPPLES,
    ROW,
    SALIENCE,
    SESSION,
    WORKING_MEMORY,
)

MEAN, SWING = 0.65, 0.35
ENCODING_CENTRE, RETRIEVAL_CENTRE = 0.25, 0.75  # cycles
# of the rule for ripples: operations, operations, importance, h
FEWEST, MANY, GREAT, LONG = 3, 20.0, 5.0, 4.0
REPLAYING: Final = 1.5  # factor on plasticity in a ripple

# --- columns --------------------------------------------------------------------------------------
CLOCK_SESSION = Column(
    "clock_session", np.int64, Scope.GLOBAL, "1", -1, "session of the last event; -1: none yet"
)
CLOCK_OPERATIONS = Column(
    "clock_operations",
    np.int64,
    Scope.GLOBAL,
    "1",
    0,
    "events and recalls of the session before the last of them",
    low=0,
)
CYCLE_BOUND = Column(
    "cycle_bound",
    np.int64,
    Scope.GLOBAL,
    "1",
    -1,
    "theta cycle of the session whose items working memory holds; -1: none",
)
SINCE_RIPPLES = Column(
    "since_ripples", np.float64, Scope.GLOBAL, "1", 0.0, "operations since the last ripples", low=0
)
IMPORTANCE_SINCE_RIPPLES = Column(
    "importance_since_ripples",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "summed importance of events since the last ripples",
    low=0,
)
LAST_RIPPLES = Column(
    "last_ripples",
    np.float64,
    Scope.GLOBAL,
    "h",
    np.nan,
    "time of the last ripples, else of the first event; NaN: no event",
    upkeep=Upkeep(clock=True),
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def envelope(phase: float, centre: float) -> float:
    """0.65 + 0.35 cos(2 pi (phase - centre)).  Cortex 4.4.4, public code.  Cost: O(1).

    phase, centre  cycles  phase in the cycle; 0.25 for encoding, 0.75 for retrieval

    >>> round(envelope(0.25, 0.25), 6), round(envelope(0.75, 0.25), 6)
    (1.0, 0.3)
    """
    return MEAN + SWING * math.cos(2.0 * math.pi * (phase - centre))


@kernel
def bind(items: Any, item: int, n: int) -> bool:
    """Append an item if working memory has fewer than n; returns whether it was added.  Cortex
    4.4.4, public code.  Cost: O(n).

    items  (>= n,) int32  working memory, oldest first, then -1; written
    """
    for i in range(n):
        if items[i] < 0:
            items[i] = item
            return True
    return False


@kernel
def ripples_due(operations: float, hours: float, importance: float, least: float) -> bool:
    """Whether at least `least` h and 3 operations passed, and 0.4 operations / 20 + 0.3 importance
    / 5 + 0.3 hours / 4 >= 0.5.  Cost: O(1).

    Each of the three ratios is at most 1.  Cortex 4.4.4, public code.

    >>> ripples_due(20.0, 2.0, 0.0, 0.5), ripples_due(10.0, 2.0, 0.0, 0.5)
    (True, False)
    """
    score = (
        0.4 * min(operations / MANY, 1.0)
        + 0.3 * min(importance / GREAT, 1.0)
        + 0.3 * min(hours / LONG, 1.0)
    )
    return operations >= FEWEST and hours >= least and score >= 0.5


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class OscillatoryClockPrintedParams(Params):
    capacity: int
    operations: int  # in a cycle
    interval: float  # between ripples


class OscillatoryClockPrinted(Mechanism[OscillatoryClockPrintedParams]):
    owns = (
        CLOCK_SESSION,
        CLOCK_OPERATIONS,
        CYCLE_BOUND,
        SINCE_RIPPLES,
        IMPORTANCE_SINCE_RIPPLES,
        LAST_RIPPLES,
    )

    def encoding(self, turns: int) -> float:
        return envelope(turns / self.params.operations, ENCODING_CENTRE)

    @hook(Phase.ENCODE, reads=(NOW, SALIENCE), adds=(), sets=(CLOCK_SESSION, CLOCK_OPERATIONS,
        SINCE_RIPPLES, IMPORTANCE_SINCE_RIPPLES, LAST_RIPPLES,
                                                              LTP))  # fmt: skip
    def operate(self, view: Any, incoming: Incoming) -> None:
        view.clock_operations = (
            view.clock_operations + 1 if incoming.session == view.clock_session else 0
        )
        view.clock_session = incoming.session
        view.since_ripples += 1.0
        view.importance_since_ripples += view.salience
        if math.isnan(view.last_ripples):
            view.last_ripples = view.now
        view.ltp = self.encoding(view.clock_operations)

    @hook(
        Phase.ENCODE,
        reads=(ROW, SESSION, CLOCK_OPERATIONS),
        adds=(),
        sets=(CYCLE_BOUND, WORKING_MEMORY),
    )
    def hold(self, view: Any, incoming: Incoming) -> None:
        """A new cycle, or session, starts with an empty working memory."""
        cycle, row, before = (
            view.clock_operations // self.params.operations,
            view.row,
            incoming.before,
        )
        if cycle != view.cycle_bound or before < 0 or view.session[row] != view.session[before]:
            view.working_memory[:] = -1
        view.cycle_bound = cycle
        bind(view.working_memory, row, self.params.capacity)

    @hook(Phase.RETRIEVE, reads=(RECALLED,), adds=(), sets=(CLOCK_OPERATIONS, SINCE_RIPPLES, LTP))
    def on_recall(self, view: Any, cue: Cue) -> None:
        view.clock_operations += 1
        view.since_ripples += 1.0
        view.ltp = self.encoding(view.clock_operations)

    @hook(
        Phase.CONSOLIDATE,
        reads=(CLOCK_OPERATIONS,),
        adds=(),
        sets=(SINCE_RIPPLES, IMPORTANCE_SINCE_RIPPLES, LAST_RIPPLES, RIPPLES, LTP),
    )
    def ripple(self, view: Any, tick: Tick) -> None:
        due = ripples_due(
            view.since_ripples,
            tick.end - view.last_ripples,
            view.importance_since_ripples,
            self.hours("interval"),
        )
        view.ripples, view.ltp = (
            float(due),
            REPLAYING if due else self.encoding(view.clock_operations),
        )
        if due:
            view.since_ripples, view.importance_since_ripples, view.last_ripples = (
                0.0,
                0.0,
                tick.end,
            )
