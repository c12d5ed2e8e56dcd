"""Personalized PageRank: a walker that keeps returning to what the query names, and the memories around where it is found.

Memories and the entities they mention are the nodes of one network.  A walker starts at an entity of the query, follows a random link
with probability d, else goes back to the start; pi is how often it is found at each node (Page et al. 1999; Haveliwala 2002).  HippoRAG
(Jiménez Gutiérrez et al. 2024) starts it at the query's entities by node specificity, 1 / (memories that mention the entity), and
ranks a memory by the sum of pi over the entities it mentions: association over several hops in one step.

The walk alternates between entities and memories, so that two links make one step from entity to entity.  Damping sqrt(d) a
link is d a step, and the entities' pi is, up to a factor, that of the walk on the entity graph with damping d.

The walk is computed by pushing: a node keeps 1 - d of what has arrived and passes d on, as long as it has at least `epsilon` a link to
pass on (Andersen, Chung & Lang 2006).  What is passed on is at most the mass of the walker, so a query follows at most
1 / (epsilon (1 - d)) links, however large the memory; with epsilon = 0 a round of pushing is a round of the power iteration.

Acts on: the PAGERANK signal.  Cost: per query O(v) blank for v nodes, at most 1 / (epsilon (1 - sqrt d)) links, and the fans of the entities reached.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.columns import Facet, Phase, signal
from ...engine.contract import Cue, Mechanism, Params, hook
from ...engine.numerics import kernel
from ...engine.storage.graph import EdgeType, entity_node
from ...engine.vocabulary import GRAPH

MOST_ROUNDS = 1000      # the residual falls by d a round; reached only with d beyond 0.99

# --- columns -----------------------------------------------------------------------------------------------------------------
PAGERANK = signal("pagerank", Facet.ASSOCIATION, "how often a walker from the entities of the query is found at the entities of the memory")


# --- equations ---------------------------------------------------------------------------------------------------------------
@kernel
def specificity(passages: float) -> float:
    """s_i = |P_i|^-1, weight of a query entity that so many memories mention.  HippoRAG, node specificity.  Cost: O(1).

    >>> specificity(10.0)
    0.1
    """
    return 1.0 / passages


@kernel
def walk(seeds: Any, share: Any, start: Any, degree: Any, pool: Any, target: Any, d: float, epsilon: float, rounds: int, rank: Any) -> Any:
    """pi = (1 - d) s + d P^T pi, to a stated residual; (rounds, links followed, residual).  Page et al. (1999), Haveliwala (2002).

    A residual r is pushed: (1 - d) r stays, d r is divided equally among the links, and a node without links returns it to s.  What is
    left where r < epsilon degree stays at its node, so that sum pi = sum s.  |pi - exact|_1 <= 2 residual, as of the power iteration
    2 d^t; with epsilon = 0 it is the power iteration from s.  On an undirected network |pi_v - exact_v| <= epsilon degree_v.

    seeds                (q,)      nodes of the restart vector, each once
    share                (q,)  1   s > 0
    start, degree, pool            out-links of node v: pool[start[v]:start[v] + degree[v]]; a node may be negative, as in engine/graph.py
    target               (m,)      where a link leads
    d                    ()    1   probability of following a link, 0..1 (networkx: alpha)
    epsilon              ()    1   least residual per link that is pushed
    rounds               ()        at most so many
    rank                 (v,)  1   pi, zero before, as long as start; written
    Cost: O(v) blank, then at most sum s / (epsilon (1 - d)) links and as many nodes.

    A path 0 - 1 - 2, from 0:

    >>> pi = np.zeros(3)
    >>> path = np.array([0, 1, 3]), np.array([1, 2, 1]), np.arange(4), np.array([1, 0, 2, 1])
    >>> walk(np.array([0]), np.array([1.0]), *path, 0.5, 0.0, 60, pi)[0], pi.round(7).tolist()
    (60, [0.5833333, 0.3333333, 0.0833333])
    """
    size, total = rank.shape[0], 0.0
    residual, flow = np.zeros(size), np.empty(size)
    nodes, touched = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    seen = np.zeros(size, dtype=np.bool_)
    known = followed = done = 0                                # `touched[:known]` may hold a residual
    for k in range(seeds.shape[0]):
        residual[seeds[k]] += share[k]
        seen[seeds[k]] = True
        touched[known] = seeds[k]
        known += 1
        total += share[k]
    while done < rounds:
        count, returned = 0, 0.0
        for k in range(known):
            v = touched[k]
            if residual[v] > 0.0 and residual[v] >= epsilon * max(degree[v], 1):
                nodes[count], flow[count] = v, residual[v]
                count += 1
                residual[v] = 0.0
        if count == 0:
            break
        for k in range(count):
            v = nodes[k]
            rank[v] += (1.0 - d) * flow[k]
            if degree[v] == 0:
                returned += d * flow[k]
                continue
            part = d * flow[k] / degree[v]
            followed += degree[v]
            for place in range(start[v], start[v] + degree[v]):
                w = target[pool[place]]
                residual[w] += part
                at = w if w >= 0 else size + w
                if not seen[at]:
                    seen[at] = True
                    touched[known] = w
                    known += 1
        if returned > 0.0:
            for k in range(seeds.shape[0]):
                residual[seeds[k]] += returned * share[k] / total
        done += 1
    left = 0.0
    for k in range(known):
        v = touched[k]
        left += residual[v]
        rank[v] += residual[v]
    return done, followed, left


@kernel
def passages(rank: Any, entities: int, start: Any, degree: Any, pool: Any, target: Any, out: Any) -> None:
    """P^T n': each memory's sum of pi over the entities it mentions.  HippoRAG, passage score.  Cost: O(entities + their fans).

    rank                 (v,)  1  n', pi of every node
    entities             ()       they are the nodes -1 ... -entities
    start, degree, pool           out-links of the nodes
    target               (m,)     where a link leads
    out                  (n,)  1  NaN before, and where no entity was reached; written
    """
    for e in range(entities):
        v = -1 - e
        if rank[v] > 0.0:
            for place in range(start[v], start[v] + degree[v]):
                i = target[pool[place]]
                if i >= 0:
                    out[i] = rank[v] if np.isnan(out[i]) else out[i] + rank[v]


# --- plug-in -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class PersonalizedPageRankParams(Params):
    damping: float          # d, for a step from entity to entity
    epsilon: float
    weight: float


class PersonalizedPageRank(Mechanism[PersonalizedPageRankParams]):
    owns = (PAGERANK,)

    @hook(Phase.RETRIEVE, reads=(GRAPH,), adds=(), sets=(PAGERANK,))
    def retrieve(self, view: Any, cue: Cue) -> None:
        p, graph = self.params, view.graph
        links = graph.csr(EdgeType.ENTITY)
        known = [entity_node(e) for name in cue.features.entities if (e := graph.entity_id(name)) is not None]
        seeds = np.array([v for v in known if links.degree[v] > 0], dtype=np.int64)
        if not seeds.size:
            return
        share = np.array([specificity(float(links.degree[v])) for v in seeds])
        network = (links.start, links.degree, links.pool, graph.target)
        rank = np.zeros(links.start.shape[0])
        walk(seeds, share / share.sum(), *network, math.sqrt(p.damping), p.epsilon, MOST_ROUNDS, rank)
        passages(rank, graph.n_entities, *network, view.pagerank)
