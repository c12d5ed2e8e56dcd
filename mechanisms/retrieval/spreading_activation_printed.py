"""Spreading activation as Cortex 4.3.1 prints it: computes a_j = sum over parents i of a_i w_ij
gamma^d, with d the graph distance of j.

The search is breadth-first from the entities of the query; a node receives activation once, from
its neighbours at distance d - 1.  As a_i already contains gamma^(d-1), decay compounds to
gamma^(d(d+1)/2): on one path of links of strength 1 no node three hops away reaches the threshold.

Cost: per query O(links of at most `most_nodes` nodes + nodes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Facet, Phase, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import GRAPH
from ...engine.state.graph import EdgeType, entity_node

# --- columns --------------------------------------------------------------------------------------
SPREAD_PRINTED = signal(
    "spread_printed",
    Facet.ASSOCIATION,
    "activation that spreads from the entities of the query, as printed in Cortex 4.3.1",
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def spread(
    seeds: Any,
    start: Any,
    degree: Any,
    pool: Any,
    target: Any,
    strength: Any,
    gamma: float,
    depth: int,
    threshold: float,
    most_nodes: int,
    activation: Any,
) -> int:
    """a_j = sum_{i in parents(j)} a_i w_ij gamma^d; returns the number of active nodes.  Cortex
    4.3.1, as printed.  Cost: O(v + links).

    seeds                (q,)      source nodes, of activation 1
    start, degree, pool            out-links of node v: pool[start[v]:start[v] + degree[v]]; v < 0
                                   for entities
    target, strength     (m,)  1   target of each link, and w_ij
    gamma, threshold     ()    1   decay; a node below the threshold stays at 0 and passes nothing
                                   on
    depth, most_nodes    ()        largest distance; largest number of active nodes
    activation           (v,)  1   zero on entry; written

    A chain 0 -> 1 -> 2: the second hop decays by gamma^2 in addition to gamma.

    >>> a = np.zeros(3)
    >>> spread(np.array([0]), np.array([0, 1, 2]), np.array([1, 1, 0]), np.array([0, 1]), np.array([1, 2]), np.ones(2), 0.65, 3, 0.1, 50, a)
    3
    >>> a.round(6).tolist()
    [1.0, 0.65, 0.274625]
    """
    size = activation.shape[0]
    arriving, visited = np.zeros(size), np.zeros(size, dtype=np.bool_)
    nodes, reached = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    count = active = 0
    for k in range(seeds.shape[0]):
        if not visited[seeds[k]] and active < most_nodes:
            visited[seeds[k]], activation[seeds[k]], nodes[count] = True, 1.0, seeds[k]
            count += 1
            active += 1
    for d in range(1, depth + 1):
        n_reached = 0
        for k in range(count):
            v = nodes[k]
            for place in range(start[v], start[v] + degree[v]):
                w = target[pool[place]]
                if not visited[w]:
                    if arriving[w] == 0.0:
                        reached[n_reached] = w
                        n_reached += 1
                    arriving[w] += activation[v] * strength[pool[place]] * gamma**d
        count = 0
        for k in range(n_reached):
            w = reached[k]
            visited[w] = True
            if arriving[w] >= threshold and active < most_nodes:
                activation[w], nodes[count] = arriving[w], w
                count += 1
                active += 1
    return active


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SpreadingActivationPrintedParams(Params):
    gamma: float
    depth: int
    most_nodes: int
    threshold: float
    weight: float


class SpreadingActivationPrinted(Mechanism[SpreadingActivationPrintedParams]):
    owns = (SPREAD_PRINTED,)

    @hook(Phase.RETRIEVE, reads=(GRAPH,), adds=(), sets=(SPREAD_PRINTED,))
    def retrieve(self, view: Any, cue: Cue) -> None:
        p, graph, out = self.params, view.graph, view.spread_printed
        known = [
            entity_node(e)
            for name in cue.features.entities
            if (e := graph.entity_id(name)) is not None
        ]
        if not known:
            return
        links = graph.csr(EdgeType.ENTITY)
        network = (links.start, links.degree, links.pool, graph.target)
        activation = np.zeros(links.start.shape[0])
        # one value, broadcast to all edges
        strength = np.broadcast_to(np.float32(1.0), graph.n_edges)
        spread(
            np.array(known),
            *network,
            strength,
            p.gamma,
            p.depth,
            p.threshold,
            p.most_nodes,
            activation,
        )
        np.copyto(out, activation[: out.shape[0]], where=activation[: out.shape[0]] > 0.0)
