"""Emotional tagging as Cortex 4.1.2 prints it: computes f(a) = c a exp(-b a) from the share of
emotional words, for every task alike.

The source calls this the exact equation of Yerkes & Dodson (1908).  Their paper has no equation,
and the source omits their result that the best arousal is lower for harder tasks.  It prints
neither c nor b, nor how f changes the strength; for small b, f only rises.

Cost: O(1) per event.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import ENCODING_STRENGTH


# --- equations ------------------------------------------------------------------------------------
@kernel
def ricker(a: float, c: float, b: float) -> float:
    """f = c a exp(-b a).  Cortex 4.1.2, exactly as printed.  Cost: O(1).

    a     ()  1  arousal
    c, b  ()  1  "scaling parameters"

    >>> round(ricker(0.5, 2 * math.e, 2.0), 12)
    1.0
    """
    return c * a * math.exp(-b * a)


@kernel
def enhancement(a: float, c: float, b: float) -> float:
    """1 + f(a): factor on encoding strength, 1 for neutral text.  The source does not print how f
    enters.  Cost: O(1).

    >>> enhancement(0.0, 5.4, 2.0)
    1.0
    """
    return 1.0 + ricker(a, c, b)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class EmotionalTaggingPrintedParams(Params):
    c: float
    b: float


class EmotionalTaggingPrinted(Mechanism[EmotionalTaggingPrintedParams]):
    @hook(Phase.ENCODE, reads=(), adds=(ENCODING_STRENGTH,), sets=())
    def enhance(self, view: Any, incoming: Incoming) -> None:
        view.encoding_strength += math.log(
            enhancement(incoming.features.emotion, self.params.c, self.params.b)
        )
