"""Heat: computes the probability that a memory is needed from its history of use and its strength.

It is the fourth signal of the Cortex read path (section 3.3).  The log odds of being needed are the
ACTIVATION from the history of use (base-level activation, if it is on) plus LOG_STRENGTH, to which
many mechanisms add.  The logistic function converts log odds to a probability.  If all memories
have equal values, no ranking changes.

In a memory with a capacity the same log odds are a vote on what stays visible (WORTH).

Cost: O(n) per query, and per sleep.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import formula, kernel
from ...engine.contract.columns import Facet, Phase, Scale, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import ACTIVATION, LOG_STRENGTH, WORTH

# --- columns --------------------------------------------------------------------------------------
HEAT = signal(
    "heat",
    Facet.USE,
    "probability of being needed, from use and strength; 0.5 without information",
    direct=False,
    scale=Scale.LOG_ODDS,
)


# --- equations ------------------------------------------------------------------------------------
@formula
def heat(activation: Any, log_strength: Any, out: Any) -> None:
    """p = 1 / (1 + exp(-(B + ln s))): odds e^B of being needed, times the strength s.

    activation    (n,)  ln odds  B
    log_strength  (n,)  ln       ln s
    out           (n,)  1        written, in [0, 1]; 0.5 where either is NaN
    O(n).

    >>> import numpy as np
    >>> out = np.empty(3)
    >>> heat(np.array([0.0, 0.0, np.log(3.0)]), np.array([0.0, np.log(3.0), -np.log(3.0)]), out)
    >>> out.round(12).tolist()
    [0.5, 0.75, 0.5]
    """
    with np.errstate(over="ignore", invalid="ignore"):  # exp(800) and -inf + inf
        p = activation + log_strength
        np.exp(np.negative(p, p), p)
        p += 1.0
        np.divide(1.0, p, p)
    p[np.isnan(p)] = 0.5
    out[...] = p


@kernel
def add_log_odds(activation: Any, log_strength: Any, out: Any) -> None:
    """out += B + ln s; nothing is added where the sum is NaN.  Arguments as for `heat`; out (n,) ln
    odds, added to.  O(n).

    >>> import numpy as np
    >>> out = np.ones(2)
    >>> add_log_odds(np.array([0.5, np.inf]), np.array([1.0, -np.inf]), out)
    >>> out.tolist()
    [2.5, 1.0]
    """
    for i in range(out.shape[0]):
        x = activation[i] + log_strength[i]
        if not math.isnan(x):
            out[i] += x


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class HeatParams(Params):
    weight: float  # trust in the fused ranking


class Heat(Mechanism[HeatParams]):
    owns = (HEAT,)

    @hook(Phase.RETRIEVE, reads=(ACTIVATION, LOG_STRENGTH), adds=(), sets=(HEAT,))
    def score(self, view: Any, cue: Cue) -> None:
        heat(view.activation, view.log_strength, view.heat)

    @hook(Phase.CONSOLIDATE, reads=(ACTIVATION, LOG_STRENGTH), adds=(WORTH,), sets=())
    def judge(self, view: Any, tick: Tick) -> None:
        add_log_odds(view.activation, view.log_strength, view.worth)
