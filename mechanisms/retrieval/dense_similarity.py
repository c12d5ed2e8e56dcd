"""Dense similarity: computes the cosine between the embeddings of the query and of every memory.

It is the first of the five signals of the Cortex read path (section 3.3) and the dense list of True
Memory (stage 7).  Embeddings have unit length, so their inner product is the cosine.  The search is
exact over all memories, so every memory has a score.

An embedding model reads the first 256 word pieces or so of a text.  With `passages`, a longer
memory also has vectors for windows of 200 word pieces, at most 64, and its best one counts.  The
largest of many cosines is large by chance, so a memory of p windows loses c ln p.

Of several wordings of the query, the best counts: a positive cosine is multiplied by the weight of
its wording.

Cost: O((n + passages) d) for each wording.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Facet, Phase, Scale, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import CUES, INDEX, PASSAGES

DENSE = signal(
    "dense",
    Facet.MEANING,
    "cosine of the embeddings of query and memory",
    floor=-1.0,
    scale=Scale.SIMILARITY,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def raise_to_weighted(scores: Any, weight: float, best: Any) -> None:
    """best = max(best, w s) where s > 0, else max(best, s).  O(n).

    scores  (n,)  1  s, cosines with a further wording of the query
    weight  ()    1  w, of that wording, in (0, 1]
    best    (n,)  1  changed in place

    >>> best = np.array([0.5, 0.2, -0.4])
    >>> raise_to_weighted(np.array([0.8, 0.6, -0.2]), 0.5, best)
    >>> best.tolist()
    [0.5, 0.3, -0.2]
    """
    for i in range(scores.shape[0]):
        best[i] = max(best[i], weight * scores[i] if scores[i] > 0.0 else scores[i])


@kernel
def raise_to_windows(windows: Any, counts: Any, penalty: float, scores: Any) -> None:
    """score = max(s, best window) - c ln p for a memory of p windows; a memory without windows
    keeps s.  O(n).

    windows  (n,)  1  cosine of the best window; NaN: no windows
    counts   (n,)  1  p
    penalty  ()    1  c
    scores   (n,)  1  s, cosines with the whole texts, changed in place

    >>> scores = np.array([0.5, 0.25])
    >>> raise_to_windows(np.array([0.75, np.nan]), np.array([1, 0]), 0.1, scores)
    >>> scores.tolist()
    [0.75, 0.25]
    """
    for i in range(scores.shape[0]):
        if counts[i] > 0:
            scores[i] = max(scores[i], windows[i]) - penalty * np.log(counts[i])


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class DenseSimilarityParams(Params):
    length_penalty: float  # c
    passages: bool  # whether the windows of long memories count
    weight: float  # trust in the fused ranking


class DenseSimilarity(Mechanism[DenseSimilarityParams]):
    owns = (DENSE,)

    @hook(Phase.RETRIEVE, reads=(INDEX, PASSAGES, CUES), adds=(), sets=(DENSE,))
    def score(self, view: Any, cue: Cue) -> None:
        # embedded before the query is compared, so that all share one pass
        others = [(weight, wording) for weight, wording in view.cues if wording is not cue]
        self._cosines(view, cue, view.dense)
        for weight, wording in others:
            raise_to_weighted(
                self._cosines(view, wording, np.empty_like(view.dense)), weight, view.dense
            )

    def _cosines(self, view: Any, wording: Cue, out: Any) -> Any:
        view.index.scores(wording.vector, out)
        counts = view.passages.counts(len(out)) if self.params.passages else np.zeros(0)
        if counts.any():
            raise_to_windows(
                view.passages.scores(wording.vector, np.empty_like(out)),
                counts,
                self.params.length_penalty,
                out,
            )
        return out
