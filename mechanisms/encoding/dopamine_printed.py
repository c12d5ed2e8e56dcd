"""Dopamine as Cortex 4.1.3 prints it: computes delta = r - V(s) and DA = 1 + delta, clipped to [0,
3].

The source calls this the Rescorla-Wagner learning rule, but nothing is learnt: V does not change,
is not summed over cues, and has no learning rate. V(s) is therefore a constant here, `predicted`.
The reward of an event is counted from the words of its text.

Cost: O(terms) per event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import ENCODING_STRENGTH, PLASTICITY
from ..shared.reward import reward_in


# --- equations ------------------------------------------------------------------------------------
@kernel
def error(r: float, v: float) -> float:
    """delta = r - V(s).  Cortex 4.1.3.  Cost: O(1).

    r, v  ()  reward  actual outcome, and predicted value

    >>> error(1.0, 0.25)
    0.75
    """
    return r - v


@kernel
def tone(delta: float, most: float) -> float:
    """DA = 1 + delta in [0, DA_max].  Cortex 4.1.3.  Cost: O(1).

    delta  ()  reward  prediction error
    most   ()  1       3 in the source

    >>> tone(-2.0, 3.0), tone(0.5, 3.0), tone(9.0, 3.0)
    (0.0, 1.5, 3.0)
    """
    return min(max(1.0 + delta, 0.0), most)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class DopaminePrintedParams(Params):
    predicted: float  # V(s)
    most: float
    encoding_gain: float


class DopaminePrinted(Mechanism[DopaminePrintedParams]):
    @hook(Phase.ENCODE, reads=(), adds=(ENCODING_STRENGTH,), sets=(PLASTICITY,))
    def experience(self, view: Any, incoming: Incoming) -> None:
        p = self.params
        level = tone(error(reward_in(incoming.features.terms), p.predicted), p.most)
        view.plasticity = level
        view.encoding_strength = p.encoding_gain * (level - 1.0)
