"""Late interaction: compares every word piece of the query with every word piece of the best
candidates, and reranks these.

Each text is a bag of contextual vectors, one for each word piece; a memory scores by the sum, over
the pieces of the query, of the largest cosine to any of its pieces: MaxSim of ColBERT (Khattab &
Zaharia 2020), https://doi.org/10.1145/3397271.3401075.  One vector for a whole text loses single
words; MaxSim finds them, also by meaning.  The mean over the pieces is RELEVANCE.  The pool is
reordered by a blend with its scores so far, both scaled to 0..1; memories outside the pool keep
their order below it.

The vectors are those of the sentence model's last layer, of the text as it is indexed: with date,
speaker and caption.  They are cached in the embedder's file; a pool that was never looked at costs
the model's inference for up to `pool` texts (MiniLM on two cores: 4 ms for a sentence of 25 word
pieces).

Cost: O(pool q t d) for q and t word pieces of query and memory; 7 ms for 32 pieces, 50 memories of
256, and 384 dimensions; with 40 pieces a memory 0.1 ms for each that is read from the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import copy, kernel
from ...engine.base.sharing import in_blocks
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    LEXICON,
    RELEVANCE,
    RERANKED,
    REWEIGHTED,
    TEXTS,
    TOKEN_EMBEDDER,
)
from ...engine.state.postings import Idf
from ...engine.state.ranking import best
from ...engine.text.features import terms_of
from ..shared.rerank import Blend, reranked

PART = 8  # texts that one thread compares at a time
WORD = re.compile(r"[^\W_]+")  # as the lexicon splits texts


# --- equations ------------------------------------------------------------------------------------
@kernel
def product(one: Any, other: Any) -> Any:
    """one . other of codes (d,) int16, at most 2^17 of them.  O(d)."""
    total = np.int32(0)
    for k in range(one.shape[0]):
        total = np.int32(total + np.int32(one[k] * other[k]))
    return total


@kernel
def maxsim(
    query: Any, lengths: Any, weights: Any, codes: Any, scales: Any, offsets: Any, out: Any
) -> None:
    """S = sum_i w_i max_j E_q(i) . E_d(j) / sum_i w_i for each text d.  Khattab & Zaharia (2020),
    eq. (3), there with w = 1 and without the division.

    query    (q, d)   int16    codes of the query's vectors
    lengths  (q,)              factor that makes each a unit vector
    weights  (q,)     1        w
    codes    (t, d)   int8     codes of the vectors of all texts
    scales   (t,)              factor that makes each a unit vector
    offsets  (p + 1,)          text k has the vectors offsets[k] to offsets[k + 1]
    out      (p,)     cosine   S; 0 for a text without vectors, or if all weights are 0
    Cost: O(q t d).

    >>> query, codes, out = np.array([[3, 4], [0, 5]], np.int16), np.array([[5, 0], [0, 5]], np.int8), np.empty(1)
    >>> maxsim(query, np.full(2, 0.2), np.ones(2), codes, np.full(2, 0.2), np.array([0, 2]), out)
    >>> out.round(9).tolist()
    [0.9]
    """
    total = 0.0
    for i in range(weights.shape[0]):
        total += weights[i]
    nearest, wide = np.empty(query.shape[0]), np.empty(query.shape[1], np.int16)
    for text in range(out.shape[0]):
        out[text] = 0.0
        if total == 0.0 or offsets[text] == offsets[text + 1]:
            continue
        nearest[:] = -np.inf
        for j in range(offsets[text], offsets[text + 1]):
            copy(codes[j], wide)
            for i in range(query.shape[0]):
                nearest[i] = max(nearest[i], product(query[i], wide) * scales[j])
        for i in range(query.shape[0]):
            out[text] += weights[i] * lengths[i] * nearest[i] / total


def idf_weights(text: str, spans: Any, idf: Callable[[str], float]) -> NDArray[np.float64]:
    """Weight of each word piece: the idf of its word, shared equally by the word's pieces; 0 for
    stop words and for what is no word.  Ours.

    text   of the query
    spans  (q, 2)  start and end of each piece, in characters
    idf            weight of a term of the lexicon
    Returns (q,).  O(length).

    >>> idf_weights("the keyring, Ada", np.array([[0, 3], [4, 7], [7, 11], [11, 12], [13, 16]]), lambda term: float(len(term))).tolist()
    [0.0, 2.0, 2.0, 0.0, 3.0]
    """
    out = np.zeros(len(spans))
    for word in WORD.finditer(text):
        own = (spans[:, 0] >= word.start()) & (spans[:, 0] < word.end())
        terms = terms_of(word.group(), stop_words=True)
        if terms and own.any():
            out[own] = idf(terms[0]) / np.count_nonzero(own)
    return out


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class LateInteractionRerankParams(Params):
    pool: int
    alpha: float  # a, weight of MaxSim in the blend
    blend: Blend
    weights: Literal["idf", "uniform"]
    query_pieces: int  # N_q


class LateInteractionRerank(Mechanism[LateInteractionRerankParams]):
    @hook(
        Phase.RETRIEVE,
        reads=(REWEIGHTED, ANSWERABLE, TEXTS, LEXICON, TOKEN_EMBEDDER),
        adds=(),
        sets=(RELEVANCE, RERANKED),
    )
    def rerank(self, view: Any, cue: Cue) -> None:
        """Raises InputError, which names the embedder, if it has no token vectors."""
        p = self.params
        rows = best(view.reweighted, view.answerable, p.pool)
        if not rows.size:
            return
        asked = view.token_embedder.embed_tokens([cue.query.text])
        query, lengths, spans = (
            asked.codes[: p.query_pieces],
            asked.scales[: p.query_pieces],
            asked.spans[: p.query_pieces],
        )
        if not len(query):
            return
        texts = view.token_embedder.embed_tokens(
            [view.texts.rendered(row) for row in rows.tolist()]
        )
        weights = self._weights(view.lexicon, cue.query.text, spans)
        similar = np.empty(rows.size)
        codes, offsets = query.astype(np.int16), texts.offsets

        def compare(some: slice) -> None:
            maxsim(
                codes,
                lengths,
                weights,
                texts.codes,
                texts.scales,
                offsets[some.start : some.stop + 1],
                similar[some],
            )

        in_blocks(rows.size, PART, compare)
        view.relevance[rows], view.reranked[rows] = (
            np.clip(similar, 0.0, 1.0),
            reranked(view.reweighted[rows], similar, p.alpha, p.blend),
        )

    def _weights(self, lexicon: Any, text: str, spans: Any) -> NDArray[np.float64]:
        """Equal weights also for a query of stop words alone."""
        if self.params.weights == "idf":
            weights = idf_weights(
                text,
                spans,
                lambda term: Idf.LUCENE.weight(lexicon.n_counted, lexicon.document_frequency(term)),
            )
            if weights.any():
                return weights
        return np.ones(len(spans))
