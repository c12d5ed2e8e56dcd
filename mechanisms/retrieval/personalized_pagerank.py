"""Personalized PageRank: computes the stationary probability of a random walk with restart at the
query's entities and scores memories by it.

Memories and the entities that they mention are the nodes of one network.  A walk starts at an
entity of the query, follows a random link with probability d, and else restarts; pi is its
stationary probability at each node (Page et al. 1999; Haveliwala 2002).  HippoRAG (Jiménez
Gutiérrez et al. 2024) restarts at the query's entities in proportion to node specificity, 1 /
(memories that mention the entity), and ranks a memory by the sum of pi over its entities:
association over several hops in one computation.

HippoRAG 2 (Jiménez Gutiérrez et al. 2025) restarts at the memories, too, each in proportion to its
similarity to the query on [0, 1] times a weight of 0.05, and ranks a memory by the walk's
probability at the memory itself, with damping d per link.  This is the form with `passages` above
0.  In both forms nothing is scored if the query has no entity; another signal, such as dense
similarity, then decides.

With `typed_relations` in the set, entities of which a relation is told are linked, too, and with
`synonym_links` those of near names.

The walk alternates between entities and memories, so two links make one step from entity to entity.
Damping sqrt(d) per link is damping d per step, and the entities' pi equals, up to a factor, that of
the walk on the entity graph with damping d.

pi is computed by pushing: a node keeps the share 1 - d of its residual and distributes d over its
links, if the residual is at least `epsilon` per link (Andersen, Chung & Lang 2006).  The
distributed mass is bounded, so a query follows at most 1 / (epsilon (1 - d)) links for any size of
memory; with epsilon = 0 a round of pushing is a round of the power iteration.

Cost: per query O(v) to clear arrays of v nodes, at most 1 / (epsilon (1 - sqrt d)) links, and the
links of the entities reached; with `passages` O(n d) for similarities in d dimensions, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.contract.columns import Facet, Phase, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import EMBEDDING, GRAPH, VISIBLE
from ...engine.state.graph import EdgeType, Links, entity_node
from ..shared.relations import RELATIONS
from ..shared.synonyms import SYNONYMS, joined
from ..shared.walks import MOST_ROUNDS, passages, restarts, specificity, walk

# --- columns --------------------------------------------------------------------------------------
PAGERANK = signal(
    "pagerank",
    Facet.ASSOCIATION,
    "stationary probability, at the memory's entities, of the walk from the query's entities",
)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class PersonalizedPageRankParams(Params):
    damping: float  # d, per step from entity to entity; with `passages`, per link
    epsilon: float
    # of the restarts at memories, against that of an entity with one memory; 0: restarts at
    # entities alone
    passages: float
    weight: float


class PersonalizedPageRank(Mechanism[PersonalizedPageRankParams]):
    owns = (PAGERANK,)

    @hook(
        Phase.RETRIEVE,
        reads=(GRAPH, SYNONYMS, RELATIONS, EMBEDDING, VISIBLE),
        adds=(),
        sets=(PAGERANK,),
    )
    def retrieve(self, view: Any, cue: Cue) -> None:
        p, graph = self.params, view.graph
        links: Links = graph.links(EdgeType.ENTITY)
        starts = view.synonyms.starts(cue)
        known = {
            entity_node(e): None
            for name in (cue.features.entities if starts is None else starts)
            if (e := self._entity(view, cue, name)) is not None
        }
        seeds = np.array([v for v in known if links.degree[v] > 0], dtype=np.int64)
        if not seeds.size:
            return
        share = np.array([specificity(float(links.degree[v])) for v in seeds])
        network = links
        pairs = np.concatenate(
            [view.synonyms.of(cue), view.relations.pairs(graph.entity_id, view.visible)]
        )
        if pairs.size:
            network = joined(*network, pairs)
        rank = np.zeros(links.start.shape[0])
        if p.passages:
            restart = np.zeros(len(view.visible))
            restarts(view.embedding @ cue.vector, view.visible, p.passages, restart)
            rows = np.flatnonzero(restart)
            seeds, share = np.concatenate([seeds, rows]), np.concatenate([share, restart[rows]])
            walk(seeds, share / share.sum(), *network, p.damping, p.epsilon, MOST_ROUNDS, rank)
            view.pagerank[...] = np.where(rank[: len(restart)] > 0.0, rank[: len(restart)], np.nan)
        else:
            walk(
                seeds,
                share / share.sum(),
                *network,
                math.sqrt(p.damping),
                p.epsilon,
                MOST_ROUNDS,
                rank,
            )
            passages(rank, graph.n_entities, *network, view.pagerank)

    @staticmethod
    def _entity(view: Any, cue: Cue, name: str) -> int | None:
        """The entity of a name, or the one that stands for it; None if there is none."""
        entity: int | None = view.graph.entity_id(name)
        return view.synonyms.nearest(cue, name) if entity is None else entity
