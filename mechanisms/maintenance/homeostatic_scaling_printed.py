"""Homeostatic scaling as Cortex 4.4.3 prints it: at each consolidation every strength is multiplied
by (target / mean) to the power alpha.

The mean is over the whole store.  There is no sensor with a time constant and no integral.  The
public code multiplies by 1 + 0.05 (target - mean) instead.

Cost: O(n) per sleep and per maintain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import LOG_STRENGTH, VISIBLE

# --- columns --------------------------------------------------------------------------------------
PRINTED_SCALING_FACTOR = Column(
    "printed_scaling_factor",
    np.float64,
    Scope.GLOBAL,
    "ln",
    0.0,
    "log of the factor on every heat from scaling; 0: none",
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def power_ratio(w: Any, r: float, r_target: float, alpha: float) -> Any:
    """w' = w (r_target / r)^alpha, as Cortex 4.4.3 prints it.  Cost: O(size of w).

    >>> power_ratio(3.0, 0.5, 0.25, 1.0)
    1.5
    """
    return w * (r_target / r) ** alpha


@kernel
def proportional(w: Any, r: float, r_target: float, gain: float) -> Any:
    """w' = w (1 + gain (r_target - r)), as in Cortex's public code, at least a tenth of w.  Cost:
    O(size of w).

    >>> proportional(2.0, 0.5, 1.0, 0.1)
    2.1
    """
    return w * max(1.0 + gain * (r_target - r), 0.1)


@kernel
def mean_strength(log_strength: Any, visible: Any) -> float:
    """Mean strength of the visible memories; 0 if there are none.  Cost: O(n)."""
    total, count = 0.0, 0
    for row in range(len(visible)):
        if visible[row]:
            total += math.exp(log_strength[row])
            count += 1
    return total / count if count else 0.0


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class HomeostaticScalingPrintedParams(Params):
    variant: Literal["paper", "code"]
    target: float
    alpha: float
    gain: float


class HomeostaticScalingPrinted(Mechanism[HomeostaticScalingPrintedParams]):
    owns = (PRINTED_SCALING_FACTOR,)

    @hook(Phase.CONSOLIDATE, reads=(LOG_STRENGTH, VISIBLE), adds=(), sets=(PRINTED_SCALING_FACTOR,))
    def regulate(self, view: Any, tick: Tick) -> None:
        p, mean = self.params, mean_strength(view.log_strength, view.visible)
        if mean > 0.0:
            factor = (
                power_ratio(1.0, mean, p.target, p.alpha)
                if p.variant == "paper"
                else proportional(1.0, mean, p.target, p.gain)
            )
            view.printed_scaling_factor = view.printed_scaling_factor + math.log(factor)

    @hook(Phase.MAINTAIN, reads=(PRINTED_SCALING_FACTOR,), adds=(LOG_STRENGTH,), sets=())
    def strengthen(self, view: Any, tick: Tick) -> None:
        if view.printed_scaling_factor != 0.0:
            view.log_strength[...] = view.printed_scaling_factor
