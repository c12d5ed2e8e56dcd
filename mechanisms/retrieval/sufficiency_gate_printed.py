"""Sufficiency gate as in Cortex 3.3: holds the answer back if the largest score of the
cross-encoder is below 0.15.

The source names Joren et al. (2025), who judge the whole context by a language model and abstain by
a logistic model of confidence and sufficiency; the printed gate is a fixed threshold on one score.

Cost: O(n) per query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import ANSWERABLE, RELEASED, RELEVANCE, SUFFICIENCY


# --- equations ------------------------------------------------------------------------------------
@kernel
def insufficient(relevance: Any, answerable: Any, tau: float) -> bool:
    """max_i r_i < tau over what may be answered; False if none was looked at.  Cortex 3.3,
    sufficient-context gate.  Cost: O(n).

    relevance   (n,)  1  r, NaN: not looked at
    answerable  (n,)     bool
    tau         ()    1  threshold

    >>> insufficient(np.array([0.1, np.nan, 0.9]), np.array([True, True, False]), 0.15)
    True
    """
    looked = False
    for i in range(relevance.shape[0]):
        if answerable[i] and not np.isnan(relevance[i]):
            looked = True
            if relevance[i] >= tau:
                return False
    return looked


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SufficiencyGatePrintedParams(Params):
    threshold: float  # tau


class SufficiencyGatePrinted(Mechanism[SufficiencyGatePrintedParams]):
    """Holds the answer back if no memory is relevant enough; sufficiency is then 0."""

    @hook(Phase.RETRIEVE, reads=(RELEVANCE, ANSWERABLE), adds=(), sets=(SUFFICIENCY, RELEASED))
    def judge(self, view: Any, cue: Cue) -> None:
        if insufficient(view.relevance, view.answerable, self.params.threshold):
            view.sufficiency = 0.0
            view.released[...] = np.nan
