"""Cross-encoder: a transformer reads the query together with each of the best candidates, and
reranks these.

The model reads query and text as one sequence and gives the log odds that the text is relevant
(Nogueira & Cho 2019, arXiv 1901.04085); its probability is RELEVANCE.  The pool is reordered by
Cortex's blend with its scores so far, (1 - a) fused + a judged (section 3.3, stage 4), both scaled
to 0..1; memories outside the pool keep their order below it.

`model` is the folder of a sentence-transformers CrossEncoder.  It scores one pair when the
mechanism is built, so a folder that cannot be loaded stops the command at once.  Scores are cached
by model, query and text; torch is loaded only if one is missing.

Cost: one inference for each pair that was never scored, 5 ms for 60 word pieces and a model of 6
layers; from the cache 10 us a pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import ANSWERABLE, RELEVANCE, RERANKED, REWEIGHTED, TEXTS
from ...engine.ports.reranker import STAND_IN, reranker
from ...engine.state.ranking import best
from ..shared.model_folder import from_folder
from ..shared.rerank import Blend, reranked


# --- equations ------------------------------------------------------------------------------------
@kernel
def probability(log_odds: Any, out: Any) -> None:
    """out (p,) = 1 / (1 + exp(-x)) of log odds x (p,), in ln, as (1 + tanh(x / 2)) / 2, which does
    not overflow.  O(p).

    >>> out = np.empty(3)
    >>> probability(np.array([0.0, np.log(3.0), -1000.0]), out)
    >>> out.round(12).tolist()
    [0.5, 0.75, 0.0]
    """
    for i in range(out.shape[0]):
        out[i] = 0.5 * (1.0 + np.tanh(0.5 * log_odds[i]))


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class CrossEncoderRerankParams(Params):
    model: str
    pool: int
    alpha: float  # a, weight of the cross-encoder in the blend
    blend: Blend


class CrossEncoderRerank(Mechanism[CrossEncoderRerankParams]):
    """Raises RegistryError when it is built without a model, or with a folder whose model cannot
    be loaded.
    """

    stand_ins: ClassVar[Mapping[str, str]] = MappingProxyType({"model": str(STAND_IN)})

    def __init__(
        self,
        id: str,
        params: CrossEncoderRerankParams,
        units: dict[str, str] | None = None,
        order: int = 0,
    ) -> None:
        super().__init__(id, params, units, order)
        self.reranker = from_folder(id, params.model, reranker, "cross-encoder", _cure)

    @hook(
        Phase.RETRIEVE, reads=(REWEIGHTED, ANSWERABLE, TEXTS), adds=(), sets=(RELEVANCE, RERANKED)
    )
    def rerank(self, view: Any, cue: Cue) -> None:
        """Raises HebbariumError for a score that is not finite."""
        p = self.params
        rows = best(view.reweighted, view.answerable, p.pool)
        if not rows.size:
            return
        judged = np.empty(rows.size)
        probability(
            self.reranker.score(cue.query.text, [view.texts[row] for row in rows.tolist()]), judged
        )
        view.relevance[rows], view.reranked[rows] = (
            judged,
            reranked(view.reweighted[rows], judged, p.alpha, p.blend),
        )


def _cure(id: str) -> str:
    return (
        "give the folder of a sentence-transformers CrossEncoder, in a set "
        f"`{id}: {{model: FOLDER}}`, or `--param {id}.model=FOLDER`"
    )
