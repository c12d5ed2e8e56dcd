"""Retrieval competition as in the code of Cortex 4.4.10: lowers each score in one linear step by
its differences to all higher scores.

s_i <- max(0, s_i - 0.3 sum_{s_j > s_i} (s_j - s_i)).  The text of the source describes a leaky
competing accumulator and retrieval-induced forgetting, but the step has no dynamics and no
learning.  It lowers low scores more, so the order above 0 does not change; scores lowered to 0 are
tied.

Cost: O(n + p log p) per query for a pool of p candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import ANSWERABLE, PRIMED, REWEIGHTED
from ...engine.state.ranking import best


# --- equations ------------------------------------------------------------------------------------
@kernel
def suppressed(scores: Any, factor: float, out: Any) -> None:
    """s_i' = max(0, s_i - f sum_{s_j > s_i} (s_j - s_i)).  Cortex 4.4.10, linear suppression.
    Cost: O(p).

    scores  (p,)  1  scores of the candidates, best first
    factor  ()    1  f
    out     (p,)  1  written

    >>> out = np.empty(3)
    >>> suppressed(np.array([1.0, 0.5, 0.25]), 0.5, out)
    >>> out.tolist()
    [1.0, 0.25, 0.0]
    """
    ahead = 0.0
    for i in range(scores.shape[0]):
        # equal scores contribute 0
        out[i] = max(0.0, scores[i] - factor * (ahead - i * scores[i]))
        ahead += scores[i]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RetrievalCompetitionPrintedParams(Params):
    factor: float
    pool: int


class RetrievalCompetitionPrinted(Mechanism[RetrievalCompetitionPrintedParams]):
    @hook(Phase.RETRIEVE, reads=(PRIMED, ANSWERABLE), adds=(), sets=(REWEIGHTED,))
    def suppress(self, view: Any, cue: Cue) -> None:
        rows = best(view.primed, view.answerable, self.params.pool)
        if rows.size < 2:
            return
        scores = view.primed[rows].astype(np.float64)
        low, span = scores[-1], scores[0] - scores[-1]
        if span > 0.0:
            out = np.empty(rows.size)
            suppressed((scores - low) / span, self.params.factor, out)
            view.reweighted[rows] = low + span * out
