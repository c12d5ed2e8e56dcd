"""Passage words: BM25 of the best passage of each memory, where memories are long.

A long memory that shares many words with the query may share them in many places; what answers
usually stands in one.  Callan (1994) ranks documents by their best passage of fixed length.  Here a
memory that is longer than what the embedder reads is cut into spans of 64 word pieces, 16 of them
shared; any other memory is one span.  The spans have idf and mean length of their own.  The largest
of many scores is large by chance, so the score of a memory of p spans is divided by 1 + d ln p.

If the embedder reads all memories whole, spans are memories, and the mechanism is silent:
`lexical_bm25` says the same.

Cost: O(spans + their postings of the query's words) for each wording.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Facet, Phase, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import CUES, SPANS
from ...engine.state.postings import Idf

PASSAGE_WORDS = signal("passage_words", Facet.WORDS, "BM25 of the memory's best passage", floor=0.0)


# --- equations ------------------------------------------------------------------------------------
@kernel
def discounted(best: Any, spans: Any, penalty: float, weight: float, out: Any) -> None:
    """out = max(out, w b / (1 + d ln p)); NaN, no shared word, stands for 0 and stays where b = 0.
    O(n).

    best     (n,)  1  b, BM25 of the best span
    spans    (n,)  1  p, number of spans, at least 1
    penalty  ()    1  d
    weight   ()    1  w, of the wording, in (0, 1]
    out      (n,)  1  changed in place

    >>> out = np.array([np.nan, 3.0, np.nan])
    >>> discounted(np.array([4.0, 2.0, 0.0]), np.array([1, 1, 5]), 0.1, 1.0, out)
    >>> out.tolist()
    [4.0, 3.0, nan]
    """
    for i in range(best.shape[0]):
        if best[i] > 0.0:
            score = weight * best[i] / (1.0 + penalty * np.log(spans[i]))
            if not score <= out[i]:
                out[i] = score


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class PassageWordsParams(Params):
    k1: float  # saturation of repetition
    b: float  # share of length normalisation
    length_penalty: float  # d
    weight: float  # trust in the fused ranking


class PassageWords(Mechanism[PassageWordsParams]):
    owns = (PASSAGE_WORDS,)

    @hook(Phase.RETRIEVE, reads=(SPANS, CUES), adds=(), sets=(PASSAGE_WORDS,))
    def score(self, view: Any, cue: Cue) -> None:
        p, best = self.params, np.zeros_like(view.passage_words)
        for weight, wording in view.cues:
            spans = view.spans.words(wording.terms, Idf.ROBERTSON.weight, p.k1, p.b, best)
            if spans is None:
                return
            discounted(best, spans, p.length_penalty, weight, view.passage_words)
