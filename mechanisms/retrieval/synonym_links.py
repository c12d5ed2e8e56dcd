"""Synonym links: entities whose names are near in meaning are linked for walks over the graph of
memories and entities (HippoRAG).

HippoRAG adds an edge between two names if the cosine of their vectors is at least 0.8, so that a
walk from "New York City" reaches the memories of "NYC".  A name in the query that no entity has is
linked to the entity whose name has the largest cosine, however small it is, and the walk starts
there.  The names of entities are embedded when a query first finds them, each once; pairs and links
are handed to `personalized_pagerank`, which walks along pairs as along any other link.  Nothing is
stored: graph and file are those of a memory without this mechanism.

With `model` the five triples nearest to the query are shown to a language model, if there is one,
and the walk starts at the entities of those that it keeps (HippoRAG 2, recognition memory).

Cost: O(new n d) after n names with new ones, embedding apart; O(nodes + links) per query for the
network of the walk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import EMBEDDER, GRAPH, LANGUAGE_MODEL, VISIBLE
from ...engine.text.features import terms_of
from ..shared.relations import RELATIONS
from ..shared.synonyms import NOTHING, SYNONYMS
from ..shared.triples_model import OFFERED, filter_request, kept_of

BATCH: Final = 256  # names compared in one pass
SLACK: Final = 1e-4  # more than the rounding errors of a cosine in float32


# --- equations ------------------------------------------------------------------------------------
def near_pairs(vectors: NDArray[np.float32], first: int, least: float) -> NDArray[np.int64]:
    """(k, 2) pairs a < b of names with first <= b and a cosine of at least `least`, sorted by b,
    then a.  O(new n d).

    The matrix product finds candidates only: its last bits depend on the sizes, and whether two
    names are near must not.

    vectors  (n, d)  unit vectors; a zero vector is near to none

    >>> near_pairs(np.array([[1, 0], [0, 1], [0.8, 0.6]], np.float32), 0, 0.6).tolist()
    [[0, 2], [1, 2]]
    """
    pairs = [NOTHING]
    for start in range(first, len(vectors), BATCH):
        some = vectors[start : start + BATCH]
        b, a = np.nonzero(some @ vectors[: start + len(some)].T >= least - SLACK)
        b, a = b[a < b + start] + start, a[a < b + start]
        exact = np.einsum("ij,ij->i", vectors[a], vectors[b]) >= np.float32(least)
        pairs.append(np.stack([a[exact], b[exact]], axis=1))
    return np.concatenate(pairs)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SynonymLinksParams(Params):
    cosine: float  # least, of two names
    # names of the query: those of entities alone, or the nearest entity of each other
    query: Literal["names", "nearest"]
    model: bool  # whether a language model filters triples near to the query, if there is one


class SynonymLinks(Mechanism[SynonymLinksParams]):
    """Links entities of near names for the walks of a query."""

    @hook(
        Phase.RETRIEVE,
        reads=(GRAPH, EMBEDDER, LANGUAGE_MODEL, RELATIONS, VISIBLE),
        adds=(),
        sets=(SYNONYMS,),
    )
    def link(self, view: Any, cue: Cue) -> None:
        graph = view.graph
        names = [graph.entity_name(e) for e in range(graph.n_entities)]
        view.synonyms.put(
            cue, names, view.embedder.embed, partial(near_pairs, least=self.params.cosine)
        )
        if self.params.query == "nearest":
            view.synonyms.link(cue.features.entities, view.embedder.embed)
        if self.params.model and terms_of(cue.query.text, stem=False):
            self._start(view, cue)

    @staticmethod
    def _start(view: Any, cue: Cue) -> None:
        """Start the walk at the entities of the triples that the model keeps; at none if it keeps
        none, so that passages are ranked by similarity; where no reply is whole, at the names of
        the query.
        """
        triples = list(
            dict.fromkeys((r.source, r.kind, r.target) for r in view.relations.shown(view.visible))
        )
        places = view.synonyms.closest(
            cue.vector, [" ".join(triple) for triple in triples], view.embedder.embed, OFFERED
        )
        if not places:
            return
        near = [triples[place] for place in places]
        (reply,) = view.language_model.ask([filter_request(cue.query.text, near)])
        kept = kept_of(reply, near)
        if kept is not None:
            view.synonyms.start(list(dict.fromkeys(name for t in kept for name in (t[0], t[2]))))
