"""Dense similarity: computes the cosine between the embeddings of the query and of every memory.

It is the first of the five signals of the Cortex read path (section 3.3) and the dense list of True Memory (stage 7).  Embeddings have unit length,
so their inner product is the cosine.  The search is exact over all memories, so every memory has a score.

Cost: O(n d) per query, one pass of the index over its vectors.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...engine.columns import Facet, Phase, signal
from ...engine.contract import Cue, Mechanism, Params, hook
from ...engine.vocabulary import INDEX

DENSE = signal("dense", Facet.MEANING, "cosine of the embeddings of query and memory", floor=-1.0)


@dataclass(frozen=True, slots=True)
class DenseSimilarityParams(Params):
    weight: float               # trust in the fused ranking


class DenseSimilarity(Mechanism[DenseSimilarityParams]):
    owns = (DENSE,)

    @hook(Phase.RETRIEVE, reads=(INDEX,), adds=(), sets=(DENSE,))
    def score(self, view: Any, cue: Cue) -> None:
        view.index.scores(cue.vector, view.dense)
