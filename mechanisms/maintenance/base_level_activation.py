"""Base-level activation: computes the availability of each memory from the times at which it was
used.

A memory used often and recently is likely to be needed again; Anderson & Schooler (1991) measured
this probability in natural data and found power laws.  ACT-R writes it as B = ln sum_j t_j^-d over
the ages t_j of the uses.  Storing every use is costly, so the k latest are stored and the older
ones replaced by an integral (Petrov 2006).  If each use decays at a rate set by the activation at
that use, d_j = c exp(m_j) + a (Pavlik & Anderson 2005), the spacing effect results: massed uses
help soon, spaced ones late.

Ages are in seconds, for which a and c were fitted, without that model's slower clock between
sessions; `time_scale` stretches the second. A memory is used when it is encoded and when it is in
an answer that may change memory.

Cost: O(n k) per maintain (100,000 memories, k = 4: 0.4 ms used once,
4 ms if all were used four times, 8 ms if more often), O(k) per use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import exact_kernel, formula, read_only
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import ACTIVATION, ARRIVED, NOW, RECALLED, ROW

SHORTEST_AGE = 1.0  # s; the law diverges at age 0

# --- columns --------------------------------------------------------------------------------------
USES = Column(
    "uses", np.int64, Scope.MEMORY, "1", 0, "how often the memory was encoded or recalled", low=0
)
RECENT_USES = Column(
    "recent_uses",
    np.float64,
    Scope.MEMORY,
    "h",
    np.nan,
    "times of the latest uses, newest first",
    ("kept_uses",),
    upkeep=Upkeep(clock=True),
)
RECENT_DECAYS = Column(
    "recent_decays",
    np.float64,
    Scope.MEMORY,
    "1",
    np.nan,
    "decay d_j of each of those uses",
    ("kept_uses",),
)


# --- equations ------------------------------------------------------------------------------------
@exact_kernel
def log_age(now: float, time: float, seconds: float) -> float:
    """ln of an age in seconds, at least SHORTEST_AGE.  seconds: their number in one hour of
    simulated time.  Cost: O(1).

    >>> round(float(np.exp(log_age(2.0, 1.0, 3600.0))), 6)
    3600.0
    """
    return float(math.log(max((now - time) * seconds, SHORTEST_AGE)))


@exact_kernel
def older_uses(count: Any, d: float, first: float, kept: float) -> float:
    """(n - k) (t_n^(1-d) - t_k^(1-d)) / [(1-d) (t_n - t_k)]: uses spread evenly between two ages.
    Petrov (2006), hybrid approximation.

    count        ()  1  n - k, uses no longer kept
    d            ()  1  their decay; the limit is taken at d = 1
    first, kept  ()  1  ln t_n and ln t_k, ages in s of the first use and of the oldest one kept
    Cost: O(1).

    >>> round(older_uses(3, 0.5, np.log(9.0), np.log(4.0)), 6)        # 3 * 2 (3 - 2) / (9 - 4)
    1.2
    """
    span = first - kept
    if span < 1e-12:
        return float(count * math.exp(-d * kept))
    x = (1.0 - d) * span
    mean = span if abs(x) < 1e-12 else math.expm1(x) / (1.0 - d)
    return float(count * math.exp(-d * kept) * mean / math.expm1(span))


@exact_kernel
def activation(
    now: float, created: Any, uses: Any, recent: Any, decays: Any, seconds: float, out: Any
) -> None:
    """B = ln [ sum_{j<=k} t_j^-d_j + integral over the older uses ] of every memory.  Petrov
    (2006), with a decay for each use.  Cost: O(n k).

    now      ()      h       present time
    created  (n,)    h       time of the first use
    uses     (n,)    1       number of uses; a memory with none is not written
    recent   (n, k)  h       times of the latest uses, newest first; places beyond the number of
                             uses are not read
    decays   (n, k)  1       d_j of those uses
    seconds  ()      s / h   seconds in an hour of simulated time: 3600 / time_scale
    out      (n,)    ln odds, written

    Two uses, one and four seconds old, d = 1/2: ln(1 + 1/2).

    >>> out = np.empty(1)
    >>> activation(4.0, np.zeros(1), np.array([2]), np.array([[3.0, 0.0]]), np.array([[0.5, 0.5]]), 1.0, out)
    >>> round(float(np.exp(out[0])), 6)
    1.5
    """
    k = recent.shape[1]
    for i in range(uses.shape[0]):
        if uses[i] == 1:  # most memories: no sum, no power
            out[i] = -decays[i, 0] * log_age(now, recent[i, 0], seconds)
        elif uses[i] > 1:
            kept, total, age = min(uses[i], k), 0.0, 0.0
            for j in range(kept):
                age = log_age(now, recent[i, j], seconds)
                total += math.exp(-decays[i, j] * age)
            if uses[i] > kept:
                total += older_uses(
                    uses[i] - kept, decays[i, kept - 1], log_age(now, created[i], seconds), age
                )
            out[i] = math.log(total)


@formula
def decay_of_use(m: float, a: float, c: float) -> float:
    """d_j = c exp(m_j) + a.  Pavlik & Anderson (2005), decay of the j-th use.  Cost: O(1).

    m  ()  ln odds  activation just before the use; -inf for the first
    a  ()  1        intercept
    c  ()  1        scale; 0 gives plain ACT-R

    >>> decay_of_use(-np.inf, 0.177, 0.217)
    0.177
    """
    return float(c * math.exp(m) + a)


@formula
def use(
    rows: Any,
    now: float,
    created: Any,
    uses: Any,
    recent: Any,
    decays: Any,
    seconds: float,
    a: float,
    c: float,
) -> None:
    """Record a use of each of `rows` (m,), which differ, at `now`; other arguments as in
    `activation`, changed in place.  Cost: O(m k).
    """
    before = np.full(len(rows), -np.inf)
    activation(
        now,
        read_only(created[rows]),
        read_only(uses[rows]),
        read_only(recent[rows]),
        read_only(decays[rows]),
        seconds,
        before,
    )
    recent[rows, 1:], decays[rows, 1:] = recent[rows, :-1], decays[rows, :-1]
    recent[rows, 0], decays[rows, 0] = now, [decay_of_use(m, a, c) for m in before.tolist()]
    uses[rows] += 1


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class BaseLevelParams(Params):
    decay_intercept: float  # a
    decay_scale: float  # c
    kept_uses: int  # k


class BaseLevelActivation(Mechanism[BaseLevelParams]):
    """A memory just encoded has ACTIVATION 0, its neutral value: ln 1, one use at the shortest
    age.
    """

    owns = (USES, RECENT_USES, RECENT_DECAYS)

    @property
    def seconds(self) -> float:
        return 3600.0 / self.params.time_scale

    @hook(Phase.ENCODE, reads=(ROW, NOW), adds=(), sets=(USES, RECENT_USES, RECENT_DECAYS))
    def first_use(self, view: Any, incoming: Incoming) -> None:
        row, p = view.row, self.params
        # no earlier use moves on, and the activation before the first one is minus infinity
        view.uses[row], view.recent_uses[row, 0] = 1, view.now
        view.recent_decays[row, 0] = decay_of_use(-math.inf, p.decay_intercept, p.decay_scale)

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, ARRIVED, NOW),
        adds=(),
        sets=(USES, RECENT_USES, RECENT_DECAYS),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        p = self.params
        use(
            view.recalled,
            view.now,
            view.arrived,
            view.uses,
            view.recent_uses,
            view.recent_decays,
            self.seconds,
            p.decay_intercept,
            p.decay_scale,
        )

    @hook(
        Phase.MAINTAIN,
        reads=(ARRIVED, USES, RECENT_USES, RECENT_DECAYS, NOW),
        adds=(),
        sets=(ACTIVATION,),
    )
    def age(self, view: Any, tick: Tick) -> None:
        activation(
            view.now,
            view.arrived,
            view.uses,
            view.recent_uses,
            view.recent_decays,
            self.seconds,
            view.activation,
        )
