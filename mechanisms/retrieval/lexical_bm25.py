"""BM25: how well a memory's words match the query's, rare words counting more and repetition ever less.

Each distinct word of the query adds its weight of evidence (the Robertson-Sparck Jones weight without relevance judgements, an inverse
document frequency) times a function of how often the memory holds it, which saturates, and counts less the longer the memory is:
Robertson & Zaragoza (2009), https://doi.org/10.1561/1500000019.  The engine's index computes it over postings; the equations stand here,
and the evidence holds the two together.

Acts on: the ranking, through the signal `lexical`; a memory that shares no word with the query is silent (NaN).
Cost: O(n + postings of the query's words).
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...engine.columns import Facet, Phase, signal
from ...engine.contract import Cue, Mechanism, Params, hook
from ...engine.numerics import kernel
from ...engine.storage.postings import Idf
from ...engine.vocabulary import LEXICON

# --- columns ------------------------------------------------------------------------------------------------------
LEXICAL = signal("lexical", Facet.WORDS, "BM25 score of the memory's words; silent where none is shared")


# --- equations ----------------------------------------------------------------------------------------------------
@kernel
def idf_robertson(n_rows: float, frequency: float) -> float:
    """w = ln((N - n + 1/2) / (n + 1/2)), where positive; else 1e-6, so that a word of most memories is no evidence against them.

    n_rows     ()  1   N, memories there are
    frequency  ()  1   n, memories that hold the word
    Returns () ln odds.  Robertson & Zaragoza (2009), weight without relevance information; the bound is that of SQLite FTS5.  O(1).

    >>> round(math.exp(idf_robertson(10.0, 2.0)), 12)
    3.4
    """
    return max(math.log((n_rows - frequency + 0.5) / (frequency + 0.5)), 1e-6)


@kernel
def idf_lucene(n_rows: float, frequency: float) -> float:
    """w = ln(1 + (N - n + 1/2) / (n + 1/2)): positive for every word, as in Lucene.  Arguments as above.  O(1).

    >>> round(math.exp(idf_lucene(10.0, 2.0)), 12)
    4.4
    """
    return math.log(1.0 + (n_rows - frequency + 0.5) / (frequency + 0.5))


@kernel
def saturation(tf: float, length: float, mean_length: float, k1: float, b: float) -> float:
    """tf (k1 + 1) / (tf + k1 B) with B = (1 - b) + b length / mean length.

    tf           ()  1      how often the memory holds the word
    length       ()  words  length of the memory
    mean_length  ()  words  mean over all memories
    k1           ()  1      the larger, the later repetition saturates; 0: presence alone counts
    b            ()  1      0: length does not matter; 1: counts are per length
    Returns () 1.  Robertson & Zaragoza (2009), saturation with soft length normalisation; the constant k1 + 1 makes one occurrence in a
    memory of mean length count 1, and changes no ranking.  O(1).

    >>> saturation(1.0, 7.0, 7.0, 1.2, 0.75), saturation(3.0, 7.0, 7.0, 0.0, 0.75)
    (1.0, 1.0)
    """
    return tf * (k1 + 1.0) / (tf + k1 * ((1.0 - b) + b * length / mean_length))


@kernel
def silence_zeros(scores: Any) -> None:
    """NaN where the score is zero: no word is shared.  scores (n,) 1, changed in place.  O(n)."""
    for i in range(scores.shape[0]):
        if scores[i] == 0.0:
            scores[i] = np.nan


# --- plug-in ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class LexicalBM25Params(Params):
    k1: float                   # saturation of repetition
    b: float                    # share of length normalisation
    idf: Literal["robertson", "lucene"]
    weight: float               # trust in the fused ranking


class LexicalBM25(Mechanism[LexicalBM25Params]):
    owns = (LEXICAL,)

    @hook(Phase.RETRIEVE, reads=(LEXICON,), adds=(), sets=(LEXICAL,))
    def score(self, view: Any, cue: Cue) -> None:
        p = self.params
        view.lexicon.scores(cue.terms, view.lexical, idf=Idf(p.idf), k1=p.k1, b=p.b)
        silence_zeros(view.lexical)
