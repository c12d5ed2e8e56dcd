"""BM25: computes the lexical match of query and memory; rare words count more, and repetition
saturates.

Each distinct word of the query adds its inverse document frequency (the Robertson-Sparck Jones
weight without relevance judgements) times a saturating function of its frequency in the memory,
normalised by the length of the memory: Robertson & Zaragoza (2009),
https://doi.org/10.1561/1500000019.  The weight is computed here; the engine's index computes the
saturation over postings, and the evidence compares it with the equation stated here.

Of several wordings of the query, the best counts: a score is multiplied by the weight of its
wording.

Cost: O(n + postings of the query's words) for each wording.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...engine.base.numerics import formula, kernel
from ...engine.contract.columns import Facet, Phase, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import CUES, LEXICON

# --- columns --------------------------------------------------------------------------------------
LEXICAL = signal(
    "lexical", Facet.WORDS, "BM25 score of the memory's words; NaN if no word is shared"
)


# --- equations ------------------------------------------------------------------------------------
@formula
def idf_robertson(n_rows: float, frequency: float) -> float:
    """w = ln((N - n + 1/2) / (n + 1/2)), at least 1e-6, so that a word in most memories is no
    evidence against them.

    n_rows     ()  1   N, number of memories
    frequency  ()  1   n, number of memories that contain the word
    Returns () ln odds.  Robertson & Zaragoza (2009), weight without relevance information; the
    lower bound is that of SQLite FTS5.  O(1).

    >>> round(math.exp(idf_robertson(10.0, 2.0)), 12)
    3.4
    """
    return max(math.log((n_rows - frequency + 0.5) / (frequency + 0.5)), 1e-6)


@kernel
def idf_lucene(n_rows: float, frequency: float) -> float:
    """w = ln(1 + (N - n + 1/2) / (n + 1/2)): positive for every word, as in Lucene.  Arguments as
    above.  O(1).

    >>> round(math.exp(idf_lucene(10.0, 2.0)), 12)
    4.4
    """
    return math.log1p((n_rows - frequency + 0.5) / (frequency + 0.5))


@kernel
def saturation(tf: float, length: float, mean_length: float, k1: float, b: float) -> float:
    """tf (k1 + 1) / (tf + k1 B) with B = (1 - b) + b length / mean length.

    tf           ()  1      frequency of the word in the memory
    length       ()  words  length of the memory
    mean_length  ()  words  mean over all memories
    k1           ()  1      saturation constant, larger for slower saturation; 0: only presence
                            counts
    b            ()  1      length normalisation, 0: none; 1: full
    Returns () 1.  Robertson & Zaragoza (2009), saturation with soft length normalisation; with the
    factor k1 + 1 one occurrence in a memory of mean length counts 1; it changes no ranking.  O(1).

    >>> saturation(1.0, 7.0, 7.0, 1.2, 0.75), saturation(3.0, 7.0, 7.0, 0.0, 0.75)
    (1.0, 1.0)
    """
    return tf * (k1 + 1.0) / (tf + k1 * ((1.0 - b) + b * length / mean_length))


@formula
def silence_zeros(scores: Any) -> None:
    """Replace zero scores, no shared word, by NaN.  scores (n,) 1, changed in place.  O(n)."""
    scores[scores == 0.0] = np.nan


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class LexicalBM25Params(Params):
    k1: float  # saturation of repetition
    b: float  # share of length normalisation
    idf: Literal["robertson", "lucene"]
    weight: float  # trust in the fused ranking


class LexicalBM25(Mechanism[LexicalBM25Params]):
    owns = (LEXICAL,)

    @hook(Phase.RETRIEVE, reads=(LEXICON, CUES), adds=(), sets=(LEXICAL,))
    def score(self, view: Any, cue: Cue) -> None:
        p = self.params
        idf = idf_robertson if p.idf == "robertson" else idf_lucene
        view.lexicon.scores(cue.terms, view.lexical, idf, k1=p.k1, b=p.b)
        for weight, wording in view.cues:
            if wording is not cue:
                other = np.zeros_like(view.lexical)
                view.lexicon.scores(wording.terms, other, idf, k1=p.k1, b=p.b)
                np.maximum(view.lexical, weight * other, out=view.lexical)
        silence_zeros(view.lexical)
