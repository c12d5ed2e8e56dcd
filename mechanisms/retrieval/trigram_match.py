"""Trigram match: computes the similarity in spelling of query and memory from their sets of letter
trigrams.

Words are split into overlapping groups of three letters, and the two sets are compared, as in
PostgreSQL's pg_trgm: the third signal of the Cortex read path (section 3.3).  It finds file paths,
identifiers, and inflected, compound or misspelt words that word search splits or misses.

Cost: O(n + postings of the query's trigrams); trigrams that occur in more than a share `max_df` of
all memories are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...engine.base.numerics import formula
from ...engine.contract.columns import Facet, Phase, Scale, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import TRIGRAMS
from ...engine.state.postings import TrigramMeasure

# --- columns --------------------------------------------------------------------------------------
FORM = signal(
    "form",
    Facet.FORM,
    "share of letter trigrams that query and memory have in common; NaN if none",
    scale=Scale.SIMILARITY,
)


# --- equations ------------------------------------------------------------------------------------
@formula
def silence_zeros(scores: Any) -> None:
    """Replace zero scores, no shared trigram, by NaN.  scores (n,) 1, changed in place.  O(n).

    >>> scores = np.array([0.0, 0.5])
    >>> silence_zeros(scores)
    >>> scores.tolist()
    [nan, 0.5]
    """
    scores[scores == 0.0] = np.nan


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TrigramMatchParams(Params):
    # |A and B| / |A or B|, or |A and B| / |A|, with A of the query
    measure: Literal["similarity", "containment"]
    max_df: float  # share of memories above which a trigram is ignored
    weight: float  # trust in the fused ranking


class TrigramMatch(Mechanism[TrigramMatchParams]):
    owns = (FORM,)

    @hook(Phase.RETRIEVE, reads=(TRIGRAMS,), adds=(), sets=(FORM,))
    def score(self, view: Any, cue: Cue) -> None:
        p = self.params
        view.trigrams.scores(cue.query.text, view.form, TrigramMeasure(p.measure), p.max_df)
        silence_zeros(view.form)
