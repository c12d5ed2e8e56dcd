"""Spreading activation: spreads activation from the entities of the query over the network to
entities and memories linked to them.

Memories and the entities that they mention are the nodes of one network.  The entities of the query
share a limited activation W.  A node passes the share gamma of its activation on, divided among its
links in proportion to their strength; contributions of several paths add (the linear network of
Anderson 1983, cut at `depth` hops).  Every entity with activation above the threshold is a source
of ACT-R's spread to its memories, A_i = sum_j W_j S_ji with S_ji = S - ln(fan_j): an entity with
more memories gives less to each (fan effect).  With depth = 1 only the entities of the query are
sources, and the signal is exactly ACT-R's equation.

Both parts agree: exp(S_ji - S) = 1/fan_j is the share of activation that each of fan_j equal links
receives.

Cost: O(entities) per event; per query O(links of the sources + entities), and for the spread
between entities at most W (gamma + gamma^2 + ...) / least_share links, for any size of memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import exact_kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import GRAPH, KIND, ROW
from ...engine.state.graph import EdgeType, entity_node
from ..shared.rows import events

# --- columns --------------------------------------------------------------------------------------
ASSOCIATION = Column(
    "association",
    np.float32,
    Scope.EDGE,
    "1",
    1.0,
    "strength of a link between a memory and an entity; 1: mentioned once",
    low=0,
)
SPREAD = signal(
    "spread",
    Facet.ASSOCIATION,
    "activation that spreads from the entities of the query",
    unit="ln odds",
)


# --- equations ------------------------------------------------------------------------------------
@exact_kernel
def associative_strength(strongest: float, fan: float) -> float:
    """S_ji = S - ln(fan_j), from a source j to each of its memories.  ACT-R (Anderson & Lebiere
    1998), fan equation.  Cost: O(1).

    strongest  S      ln odds  strength at fan 1
    fan        fan_j  1        number of links of j, plus one for j itself

    >>> round(associative_strength(1.6, 2.0), 7)
    0.9068528
    """
    return strongest - math.log(fan)


@exact_kernel
def spread(
    seeds: Any,
    attention: Any,
    start: Any,
    degree: Any,
    pool: Any,
    target: Any,
    strength: Any,
    gamma: float,
    hops: int,
    limited: bool,
    least_share: float,
    activation: Any,
) -> int:
    """a = s + gamma W^T a, summed over all paths of at most `hops` links; returns the number of
    links followed.  Anderson (1983), linear network.

    seeds                (q,)      source nodes
    attention            (q,)  1   s, activation of each source
    start, degree, pool            out-links of node v: pool[start[v]:start[v] + degree[v]]; v < 0
                                   for entities, as in engine/state/graph.py
    target, strength     (m,)  1   target of each link, and w_ij >= 0
    gamma                ()    1   share passed on at each hop, 0..1
    limited              ()        whether to divide by the sum of strengths: the rows of W then sum
                                   to 1, and gamma < 1 converges
    least_share          ()    1   a node that would pass less than this per link passes nothing; 0:
                                   exact
    activation           (v,)  1   a, same length as start; zero on entry, written

    Cost: O(v) to clear two arrays, then O(links); if limited, at most W (gamma + ... + gamma^hops)
    / least_share links.

    A chain 0 -> 1 -> 2:

    >>> a = np.zeros(3)
    >>> spread(np.array([0]), np.array([1.0]), np.array([0, 1, 2]), np.array([1, 1, 0]), np.array([0, 1]), np.array([1, 2]), np.ones(2),
    ...        0.65, 2, True, 0.0, a), a.round(6).tolist()
    (2, [1.0, 0.65, 0.4225])
    """
    size = activation.shape[0]
    arriving, flow = np.zeros(size), np.empty(size)
    nodes, reached = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    count = followed = 0
    for k in range(seeds.shape[0]):
        if arriving[seeds[k]] == 0.0:
            nodes[count] = seeds[k]
            count += 1
        arriving[seeds[k]] += attention[k]
    for hop in range(hops + 1):
        for k in range(count):
            v = nodes[k]
            flow[k] = arriving[v]
            activation[v] += flow[k]
            arriving[v] = 0.0
        if hop == hops:
            break
        n_reached = 0
        for k in range(count):
            v = nodes[k]
            first, last = start[v], start[v] + degree[v]
            if gamma * flow[k] < least_share * degree[v]:
                continue
            total = 1.0
            if limited:
                total = 0.0
                for place in range(first, last):
                    total += np.float64(strength[pool[place]])
            if total > 0.0:
                followed += last - first
                for place in range(first, last):
                    w, part = target[pool[place]], gamma * flow[k] * strength[pool[place]] / total
                    if arriving[w] == 0.0 and part > 0.0:
                        reached[n_reached] = w
                        n_reached += 1
                    arriving[w] += part
        nodes, reached, count = reached, nodes, n_reached
    return followed


@exact_kernel
def respond(
    activation: Any,
    threshold: float,
    strongest: float,
    entities: int,
    start: Any,
    degree: Any,
    pool: Any,
    target: Any,
    fan: Any,
    out: Any,
) -> None:
    """A_i - B_i = sum_j W_j S_ji over the sources j with W_j >= threshold.  ACT-R, activation
    equation.  Cost: O(entities + links).

    activation           (v,)  1        W_j of every node
    strongest            ()    ln odds  S
    entities             ()             number of entities, the nodes -1 ... -entities
    start, degree, pool                 out-links of the nodes
    target               (m,)           target of each link
    fan                  (v,)           links of each node, of which only some may be listed; fan_j
                                        = fan + 1, counting the source itself
    out                  (n,)  ln odds  written; NaN on entry, and stays NaN where nothing arrives
    """
    for e in range(entities):
        v = -1 - e
        if activation[v] >= threshold and activation[v] > 0.0:
            sent = activation[v] * associative_strength(strongest, fan[v] + 1.0)
            for place in range(start[v], start[v] + degree[v]):
                i = target[pool[place]]
                if i >= 0:
                    out[i] = sent if np.isnan(out[i]) else out[i] + sent


@exact_kernel
def prominence(mentions: float) -> float:
    """1 + ln(mentions): strength of the link between a memory and an entity.  Ours.  Cost: O(1)."""
    return 1.0 + math.log(mentions)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SpreadingActivationParams(Params):
    attention: float  # W
    gamma: float
    depth: int
    threshold: float
    margin: float  # S = ln(largest possible fan) + margin
    least_share: float
    weight: float


class SpreadingActivation(Mechanism[SpreadingActivationParams]):
    owns = (ASSOCIATION, SPREAD)

    @hook(Phase.ENCODE, reads=(ROW, GRAPH), adds=(), sets=(ASSOCIATION,))
    def encode(self, view: Any, incoming: Incoming) -> None:
        """Set the strength of the new memory's links, in both directions, by the number of
        mentions.
        """
        graph, association = view.graph, view.association
        words = f" {' '.join(incoming.features.words)} "
        for edge in graph.neighbours(view.row, EdgeType.ENTITY):
            entity = int(graph.target[edge])
            strength = prominence(
                float(max(words.count(f" {graph.entity_name(entity_node(entity))} "), 1))
            )
            association[edge] = association[graph.neighbours(entity, EdgeType.ENTITY)[-1]] = (
                strength
            )

    @hook(Phase.RETRIEVE, reads=(GRAPH, ASSOCIATION, KIND), adds=(), sets=(SPREAD,))
    def retrieve(self, view: Any, cue: Cue) -> None:
        p, graph = self.params, view.graph
        known = [e for name in cue.features.entities if (e := graph.entity_id(name)) is not None]
        if not known:
            return
        links = graph.csr(EdgeType.ENTITY)
        activation, n = (
            np.zeros(links.start.shape[0]),
            len(events(view.kind)) * (graph.whole_rows / graph.n_rows),
        )
        seeds, shares = (
            np.array([entity_node(e) for e in known]),
            np.full(len(known), p.attention / len(known)),
        )
        network = (links.start, links.degree, links.pool, graph.target)
        spread(
            seeds,
            shares,
            *network,
            view.association,
            p.gamma,
            p.depth - 1,
            True,
            p.least_share,
            activation,
        )
        respond(
            activation,
            p.threshold,
            math.log(n + 1.0) + p.margin,
            graph.n_entities,
            *network,
            graph.fan(EdgeType.ENTITY),
            view.spread,
        )
