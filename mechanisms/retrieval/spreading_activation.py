"""Spreading activation: what the query names brings to mind the memories linked to it, and what is linked to those.

Memories and the entities they mention are the nodes of one network.  The entities of the query hold a limited amount of
activation W.  A node releases a share gamma of what reaches it, divided among its links by their strength; what arrives over several
paths is summed (the linear network of Anderson 1983, cut at `depth` hops).  Every entity whose activation passes the threshold is a source of
ACT-R's spread to its memories, A_i = sum_j W_j S_ji with S_ji = S - ln(fan_j): the more memories an entity has, the less it
tells about each of them.  With depth = 1 only the entities of the query are sources, and the signal is ACT-R's equation and nothing else.

The two parts are one theory: exp(S_ji - S) = 1/fan_j is the share of the release that each of fan_j equal links gets.

Acts on: the SPREAD signal.  Cost: O(entities) per event; per query O(fans of the sources + entities), and for the spread between
them at most W (gamma + gamma^2 + ...) / least_share links, however large the memory.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.columns import Column, Facet, Phase, Scope, signal
from ...engine.contract import Cue, Incoming, Mechanism, Params, hook
from ...engine.numerics import kernel
from ...engine.storage.graph import EdgeType, entity_node
from ...engine.vocabulary import GRAPH, ROW

# --- columns -----------------------------------------------------------------------------------------------------------------
ASSOCIATION = Column("association", np.float32, Scope.EDGE, "1", 1.0, "strength of a link between a memory and an entity; 1: mentioned once", low=0)
SPREAD = signal("spread", Facet.ASSOCIATION, "activation that spreads from the entities of the query", unit="ln odds")


# --- equations ---------------------------------------------------------------------------------------------------------------
@kernel
def associative_strength(strongest: float, fan: float) -> float:
    """S_ji = S - ln(fan_j), from a source j to each of its facts.  ACT-R (Anderson & Lebiere 1998), fan equation.  Cost: O(1).

    strongest  S      ln odds  strength at fan 1
    fan        fan_j  1        number of links of j, itself counted as one

    >>> round(associative_strength(1.6, 2.0), 7)
    0.9068528
    """
    return strongest - math.log(fan)


@kernel
def spread(seeds: Any, attention: Any, start: Any, degree: Any, pool: Any, target: Any, strength: Any,
           gamma: float, hops: int, limited: bool, least_share: float, activation: Any) -> int:
    """a = s + gamma W^T a, as the sum over all paths of at most `hops` links; links followed.  Anderson (1983), linear network.

    seeds                (q,)      nodes that hold activation
    attention            (q,)  1   s, how much
    start, degree, pool            out-links of node v: pool[start[v]:start[v] + degree[v]]; a node may be negative, as in engine/graph.py
    target, strength     (m,)  1   where a link leads, and w_ij >= 0
    gamma                ()    1   share passed on at each hop, 0..1
    limited              ()        release is divided by the sum of strengths: W has rows of sum 1, so gamma < 1 always converges
    least_share          ()    1   a node whose release per link is below it releases nothing; 0: exact
    activation           (v,)  1   a, zero before, as long as start; written

    Cost: O(v) for two blank arrays, then O(links); limited, at most W (gamma + ... + gamma^hops) / least_share links.

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
        found = 0
        for k in range(count):
            v = nodes[k]
            first, last = start[v], start[v] + degree[v]
            if gamma * flow[k] < least_share * degree[v]:
                continue
            total = 1.0
            if limited:
                total = 0.0
                for place in range(first, last):
                    total += strength[pool[place]]
            if total > 0.0:
                followed += last - first
                for place in range(first, last):
                    w, part = target[pool[place]], gamma * flow[k] * strength[pool[place]] / total
                    if arriving[w] == 0.0 and part > 0.0:
                        reached[found] = w
                        found += 1
                    arriving[w] += part
        nodes, reached, count = reached, nodes, found
    return followed


@kernel
def respond(activation: Any, threshold: float, strongest: float, entities: int, start: Any, degree: Any, pool: Any, target: Any, out: Any) -> None:
    """A_i - B_i = sum_j W_j S_ji over the sources j with W_j >= threshold.  ACT-R, activation equation.  Cost: O(entities + fans).

    activation           (v,)  1        W_j of every node
    strongest            ()    ln odds  S
    entities             ()             sources are the nodes -1 ... -entities
    start, degree, pool                 out-links of the nodes; fan_j is degree + 1, the source itself counted
    target               (m,)           where a link leads
    out                  (n,)  ln odds  NaN before, and where nothing arrives; written
    """
    for e in range(entities):
        v = -1 - e
        if activation[v] >= threshold and activation[v] > 0.0:
            sent = activation[v] * associative_strength(strongest, degree[v] + 1.0)
            for place in range(start[v], start[v] + degree[v]):
                i = target[pool[place]]
                if i >= 0:
                    out[i] = sent if np.isnan(out[i]) else out[i] + sent


@kernel
def prominence(mentions: float) -> float:
    """Strength of the link to an entity mentioned that often in a memory, 1 + ln(mentions).  Ours.  Cost: O(1)."""
    return 1.0 + math.log(mentions)


# --- plug-in -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SpreadingActivationParams(Params):
    attention: float        # W
    gamma: float
    depth: int
    threshold: float
    margin: float           # S = ln(largest fan there can be) + margin
    least_share: float
    weight: float


class SpreadingActivation(Mechanism[SpreadingActivationParams]):
    owns = (ASSOCIATION, SPREAD)

    @hook(Phase.ENCODE, reads=(ROW, GRAPH), adds=(), sets=(ASSOCIATION,))
    def encode(self, view: Any, incoming: Incoming) -> None:
        """Links of the new memory, both ways, by how often it names the entity."""
        graph, association = view.graph, view.association
        words = f" {' '.join(incoming.features.words)} "
        for edge in graph.neighbours(view.row, EdgeType.ENTITY):
            entity = int(graph.target[edge])
            strength = prominence(float(max(words.count(f" {graph.entity_name(entity_node(entity))} "), 1)))
            association[edge] = association[graph.neighbours(entity, EdgeType.ENTITY)[-1]] = strength

    @hook(Phase.RETRIEVE, reads=(GRAPH, ASSOCIATION), adds=(), sets=(SPREAD,))
    def retrieve(self, view: Any, cue: Cue) -> None:
        p, graph = self.params, view.graph
        known = [e for name in cue.features.entities if (e := graph.entity_id(name)) is not None]
        if not known:
            return
        links = graph.csr(EdgeType.ENTITY)
        activation, n = np.zeros(links.start.shape[0]), view.spread.shape[0]
        seeds, shares = np.array([entity_node(e) for e in known]), np.full(len(known), p.attention / len(known))
        network = (links.start, links.degree, links.pool, graph.target)
        spread(seeds, shares, *network, view.association, p.gamma, p.depth - 1, True, p.least_share, activation)
        respond(activation, p.threshold, math.log(n + 1.0) + p.margin, graph.n_entities, *network, view.spread)
