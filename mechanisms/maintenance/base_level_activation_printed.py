"""Base-level activation as Cortex 4.4.1 prints it: B = ln n - d ln L, and a heat that decays
exponentially between accesses.

The equation lacks ACT-R's constant -ln(1-d) and does not depend on the times of the accesses; the
heat by which Cortex ranks is not a power law.  The text does not say how the two are combined, so
`law` chooses which of them sets the activation: the heat, as the log of its odds, or B.  Stages
depend on age, with the multipliers and floors of Cortex 4.2.1; the other conditions of stages
belong to the cascade.

Cost: O(n) per maintain, O(1) per access.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import ACTIVATION, ARRIVED, NOW, RECALLED, ROW

# from age in h, decay multiplier, heat floor
STAGES = np.array([[0.0, 2.0, 0.0], [1.0, 1.2, 0.0], [6.0, 0.8, 0.05], [24.0, 0.5, 0.1]])
SHORTEST_LIFE = 0.01  # h; ln L diverges at 0
ODDS_LIMIT = 1e-6  # heat 1 would have infinite odds

# --- columns --------------------------------------------------------------------------------------
ACCESSES = Column(
    "accesses",
    np.int64,
    Scope.MEMORY,
    "1",
    1,
    "how often the memory was encoded or recalled",
    low=1,
)
ACCESSED = Column(
    "accessed",
    np.float64,
    Scope.MEMORY,
    "h",
    0.0,
    "when it was last encoded or recalled",
    upkeep=Upkeep(clock=True),
)
HEAT_AT_ACCESS = Column(
    "heat_at_access",
    np.float64,
    Scope.MEMORY,
    "1",
    1.0,
    "heat just after the last access",
    low=0,
    high=1,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def base_level(n: Any, life: Any, d: float) -> Any:
    """B = ln n - d ln L.  Cortex 4.4.1.  n: presentations and retrievals; life: h since creation;
    d: decay.  Cost: O(1).

    >>> float(base_level(1, 1.0, 0.5))
    0.0
    """
    return np.log(n) - d * np.log(np.maximum(life, SHORTEST_LIFE))


@kernel
def heat(heat_then: float, age_then: float, age: float, rate: float, scale: float) -> float:
    """h(t) = max(floor, h_0 exp(-rate sum of multiplier x hours in each stage)).  Cortex 4.4.1 and
    4.2.1.  Cost: O(stages).

    heat_then      ()  1     heat after the last access
    age_then, age  ()  h     age of the memory at that access and now
    rate           ()  1/h   decay rate before the stage's multiplier
    scale          ()  1     time_scale, factor on the durations of the stages

    In the first hour heat decays twice as fast.

    >>> round(heat(1.0, 0.0, 1.0, np.log(2.0), 1.0), 6)
    0.25
    """
    stages, hours, floor = STAGES.shape[0], 0.0, 0.0
    for s in range(stages):
        start = STAGES[s, 0] * scale
        end = STAGES[s + 1, 0] * scale if s + 1 < stages else np.inf
        hours += STAGES[s, 1] * max(min(age, end) - max(age_then, start), 0.0)
        if age >= start:
            floor = STAGES[s, 2]
    return float(max(floor, heat_then * np.exp(-rate * hours)))


@kernel
def log_odds(h: float) -> float:
    """ln h / (1 - h), for heats of ODDS_LIMIT to 1 - ODDS_LIMIT."""
    h = min(max(h, ODDS_LIMIT), 1.0 - ODDS_LIMIT)
    return float(np.log(h / (1.0 - h)))


@kernel
def cool(
    now: float, created: Any, accessed: Any, heat_then: Any, rate: float, scale: float, out: Any
) -> None:
    """Log odds of every memory's heat; arrays (n,), times in h.  Cost: O(n)."""
    for i in range(created.shape[0]):
        out[i] = log_odds(
            heat(heat_then[i], accessed[i] - created[i], now - created[i], rate, scale)
        )


@kernel
def access(
    rows: Any,
    now: float,
    created: Any,
    accesses: Any,
    accessed: Any,
    heat_then: Any,
    rate: float,
    scale: float,
    boost: float,
) -> None:
    """Record an access of each of `rows` (m,): the present heat plus the boost, at most 1.
    Cost: O(m).
    """
    for i in rows:
        warm = heat(heat_then[i], accessed[i] - created[i], now - created[i], rate, scale)
        heat_then[i], accessed[i] = min(warm + boost, 1.0), now
        accesses[i] += 1


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class PrintedParams(Params):
    law: Literal["heat", "base_level"]
    decay: float  # d
    decay_factor: float  # factor on heat per hour, without the stage's multiplier
    boost: float


class BaseLevelActivationPrinted(Mechanism[PrintedParams]):
    owns = (ACCESSES, ACCESSED, HEAT_AT_ACCESS)

    @property
    def rate(self) -> float:
        return float(-np.log(self.params.decay_factor) / self.params.time_scale)

    @hook(Phase.ENCODE, reads=(ROW, NOW), adds=(), sets=(ACCESSED, ACTIVATION))
    def store(self, view: Any, incoming: Incoming) -> None:
        view.accessed[view.row] = view.now
        view.activation[view.row] = (
            log_odds(1.0) if self.params.law == "heat" else base_level(1, 0.0, self.params.decay)
        )

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, ARRIVED, NOW),
        adds=(),
        sets=(ACCESSES, ACCESSED, HEAT_AT_ACCESS),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        p = self.params
        access(
            view.recalled,
            view.now,
            view.arrived,
            view.accesses,
            view.accessed,
            view.heat_at_access,
            self.rate,
            p.time_scale,
            p.boost,
        )

    @hook(
        Phase.MAINTAIN,
        reads=(ARRIVED, ACCESSES, ACCESSED, HEAT_AT_ACCESS, NOW),
        adds=(),
        sets=(ACTIVATION,),
    )
    def age(self, view: Any, tick: Tick) -> None:
        p = self.params
        if p.law == "heat":
            cool(
                view.now,
                view.arrived,
                view.accessed,
                view.heat_at_access,
                self.rate,
                p.time_scale,
                view.activation,
            )
        else:
            view.activation[...] = base_level(
                view.accesses, (view.now - view.arrived) / p.time_scale, p.decay
            )
