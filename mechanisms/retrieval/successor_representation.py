"""Successor representation: what the query names brings to mind the memories of what tends to come next.

M(s, s') is how often state s' is to be expected from state s on, later visits counting less by gamma a step (Dayan 1993).  It is learnt
from the order of events by temporal differences, so it reaches further than one step and has a direction: what comes before does not
follow.  The states are the entities; an event is in all the entities it names at once, and events that name none are passed over.  The rows
of M are the COACCESS edges between entities, SUCCESSOR their weight.

The signal of a memory is the number of visits that it may expect: a visit of an entity falls on each of its memories alike,
sum_j M(query, j) / fan_j, the present left out.  In sleep the same sum, from where memory is then and with the present in it, is the NEED of
each memory: how soon and how often it will be wanted (Mattar & Daw 2018), by which replay chooses.

Acts on: the SUCCESSION signal; NEED.  Cost, with q entities an event and at most r = 2 / ((1 - gamma) least) entries of a row:
O(q r log r) per event, O(q r + fans of the successors) per query, and O(n) more per sleep.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.columns import Column, Facet, Phase, Scope, signal
from ...engine.contract import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.numerics import kernel
from ...engine.storage.graph import EdgeType, entity_node
from ...engine.vocabulary import GRAPH, HORIZON, LEARNING_RATE, NEED, PLASTICITY, ROW, SESSION

# --- columns -----------------------------------------------------------------------------------------------------------------
SUCCESSOR = Column("successor", np.float64, Scope.EDGE, "visits", 0.0, "M(s, s') of two entities: expected discounted visits of s' from s on", low=0)
SUCCESSOR_STATED = Column("successor_stated", np.int32, Scope.MEMORY, "1", -1, "last row of the session, so far, that names an entity; -1: none")
SUCCESSION = signal("succession", Facet.ASSOCIATION, "expected visits, after what the query names", unit="visits")


# --- equations ---------------------------------------------------------------------------------------------------------------
@kernel
def expected_row(states: Any, start: Any, degree: Any, pool: Any, target: Any, weight: Any) -> Any:
    """M(s', .) on average over some states s' that hold alike.  Cost: O(r log r) for r entries.

    states               (q,)           nodes s'
    start, degree, pool                 rows of M: entries pool[start[v]:start[v] + degree[v]]; a node may be negative
    target, weight       (m,)  visits   column of an entry, and M(s', j)
    returns              (u,), (u,)     nodes j, ascending, each once; average of M(s', j)

    >>> expected_row(np.array([0, 1]), np.array([0, 2]), np.array([2, 1]), np.array([0, 1, 2]), np.array([1, 0, 1]), np.array([0.5, 1.0, 1.5]))
    (array([0, 1]), array([0.5, 1. ]))
    """
    size = 0
    for v in states:
        size += degree[v]
    nodes, values, at = np.empty(size, dtype=np.int64), np.empty(size), 0
    for v in states:
        for place in range(start[v], start[v] + degree[v]):
            nodes[at], values[at] = target[pool[place]], weight[pool[place]] / states.shape[0]
            at += 1
    order = np.argsort(nodes, kind="mergesort")
    kept = 0
    found, total = np.empty(size, dtype=np.int64), np.empty(size)
    for i in order:
        if kept and found[kept - 1] == nodes[i]:
            total[kept - 1] += values[i]
        else:
            found[kept], total[kept] = nodes[i], values[i]
            kept += 1
    return found[:kept], total[:kept]


@kernel
def update(state: int, nodes: Any, values: Any, alpha: float, gamma: float, start: Any, degree: Any, pool: Any, target: Any, weight: Any) -> Any:
    """M(s, .) += alpha [e_s + gamma M(s', .) - M(s, .)].  Dayan (1993), learning by TD(0).  Cost: O(r log r).

    state            ()     s, whose entry M(s, s) must be there
    nodes, values    (u,)   nodes j, ascending, and M(s', j)
    alpha, gamma     ()  1  learning rate, discount
    start ... weight        rows of M, as in `expected_row`; `weight` is written
    returns          (u,)   M(s, j) of the entries that are still to be made, 0 for those there are

    >>> weight = np.array([1.0])
    >>> row = np.array([0]), np.array([1]), np.array([0]), np.array([0]), weight
    >>> update(0, np.array([0, 1]), np.array([0.5, 2.0]), 0.1, 0.9, *row).round(9).tolist()
    [0.0, 0.18]
    >>> weight.round(9).tolist()
    [1.045]
    """
    missing = alpha * gamma * values
    for place in range(start[state], start[state] + degree[state]):
        edge = pool[place]
        j = target[edge]
        aim = 1.0 if j == state else 0.0
        i = np.searchsorted(nodes, j)
        if i < nodes.shape[0] and nodes[i] == j:
            aim += gamma * values[i]
            missing[i] = 0.0
        weight[edge] += alpha * (aim - weight[edge])
    return missing


def network(graph: Any, type: EdgeType) -> tuple[Any, Any, Any, Any]:
    """start, degree, pool and target of the edges of one type, right until edges are made."""
    edges = graph.csr(type)
    return edges.start, edges.degree, edges.pool, graph.target


def experience(graph: Any, before: Sequence[int], after: Sequence[int], alpha: float, gamma: float, least: float, initial: float,
               now: float = 0.0) -> None:
    """One step from the states `before` to the states `after`: TD(0) of the row of each, all towards the same average row.

    before, after  nodes, each once; no `after`: the end, after which nothing is to be expected
    least          an entry is made once it is this large, and given up at half of it; 0: exact
    initial        M at the start is `initial` times the identity
    now            h, for new edges

    Several states at once are one step to each with equal chance.  A row sums to at most 1 / (1 - gamma), so it has at most
    2 / ((1 - gamma) least) entries.  Cost: O(q r log r).
    """
    for s in (*before, *after):
        if graph.find(s, s, EdgeType.COACCESS) is None:
            edge = graph.add(s, s, EdgeType.COACCESS, now)
            graph.column(SUCCESSOR.name)[edge] = initial
    nodes, values = expected_row(np.array(after, dtype=np.int64), *network(graph, EdgeType.COACCESS), graph.column(SUCCESSOR.name))
    for s in before:
        weight = graph.column(SUCCESSOR.name)
        missing = update(s, nodes, values, alpha, gamma, *network(graph, EdgeType.COACCESS), weight)
        if least > 0.0:
            edges = graph.neighbours(s, EdgeType.COACCESS)
            for edge in edges[weight[edges] < 0.5 * least]:
                if graph.target[edge] != s:
                    graph.remove(int(edge))
        for i in np.flatnonzero(missing > least):
            edge = graph.add(s, int(nodes[i]), EdgeType.COACCESS, now)
            graph.column(SUCCESSOR.name)[edge] = missing[i]


@kernel
def visits(states: Any, nodes: Any, values: Any, start: Any, degree: Any, pool: Any, target: Any, out: Any) -> None:
    """V_i = sum_j (M(s, j) - [j is s]) R_i(j) with R_i(j) = 1 / fan_j for the memories i of entity j.  V = M R.  Cost: O(fans).

    states               (q,)          states of the query, which hold alike
    nodes, values        (u,)  visits  j and M(s, j) on average over them
    start, degree, pool                links from entities to memories; fan_j is degree
    target               (m,)          where a link leads
    out                  (n,)  visits  NaN before, and where nothing arrives; written
    Without `states` nothing is taken off for the present.

    >>> out = np.full(2, np.nan)
    >>> visits(np.array([-1]), np.array([-2, -1]), np.array([0.8, 1.0]), np.array([0, 2]), np.array([2, 0]), np.array([0, 1]), np.array([0, 1]), out)
    >>> out.tolist()
    [0.4, 0.4]
    """
    for k in range(nodes.shape[0]):
        j, expected = nodes[k], values[k]
        for s in states:
            if s == j:
                expected -= 1.0 / states.shape[0]
        if expected > 0.0:
            for place in range(start[j], start[j] + degree[j]):
                i = target[pool[place]]
                if i >= 0:
                    share = expected / degree[j]
                    out[i] = share if np.isnan(out[i]) else out[i] + share


# --- plug-in -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SuccessorRepresentationParams(Params):
    alpha: float
    discount: float         # gamma
    least: float
    initial: float
    weight: float


class SuccessorRepresentation(Mechanism[SuccessorRepresentationParams]):
    """Learns which entities follow which; brings up the memories of what follows those of the query."""

    owns = (SUCCESSOR, SUCCESSOR_STATED, SUCCESSION)

    @hook(Phase.ENCODE, reads=(ROW, SESSION, LEARNING_RATE, PLASTICITY, HORIZON), adds=(GRAPH,), sets=(SUCCESSOR_STATED, SUCCESSOR))
    def learn(self, view: Any, incoming: Incoming) -> None:
        """A session starts without a past."""
        p, row, graph = self.params, view.row, view.graph
        last = int(view.successor_stated[row - 1]) if row and view.session[row - 1] == view.session[row] else -1
        view.successor_stated[row] = row if incoming.features.entities else last
        if incoming.features.entities and last >= 0:
            alpha = min(1.0, p.alpha * view.learning_rate * view.plasticity)
            gamma = further(p.discount, view.horizon)
            experience(graph, entities_of(graph, last), entities_of(graph, row), alpha, gamma, p.least, p.initial, incoming.event.time)

    @hook(Phase.CONSOLIDATE, reads=(GRAPH.before, SUCCESSOR, SUCCESSOR_STATED), adds=(), sets=(NEED,))
    def expect(self, view: Any, tick: Tick) -> None:
        """From the entities of the last memory that names any; before replay, which makes edges between memories."""
        graph, last = view.graph, int(view.successor_stated[-1])
        out = np.full(len(view.need), np.nan)
        if last >= 0:
            nodes, values = expected_row(np.array(entities_of(graph, last), dtype=np.int64), *network(graph, EdgeType.COACCESS), view.successor)
            visits(np.empty(0, dtype=np.int64), nodes, values, *network(graph, EdgeType.ENTITY), out)
        view.need[...] = np.nan_to_num(out, copy=False, nan=0.0)

    @hook(Phase.RETRIEVE, reads=(GRAPH, SUCCESSOR), adds=(), sets=(SUCCESSION,))
    def foresee(self, view: Any, cue: Cue) -> None:
        """Silent unless the query names a state that something has followed."""
        graph = view.graph
        states = np.array([entity_node(e) for name in cue.features.entities if (e := graph.entity_id(name)) is not None], dtype=np.int64)
        if states.size:
            nodes, values = expected_row(states, *network(graph, EdgeType.COACCESS), view.successor)
            visits(states, nodes, values, *network(graph, EdgeType.ENTITY), view.succession)


def further(discount: float, horizon: float) -> float:
    """The discount whose time horizon 1 / (1 - gamma) is `horizon` times as far; 0 where that is less than a step.

    >>> further(0.9, 1.0), round(further(0.9, 2.0), 3), further(0.9, 0.01)
    (0.9, 0.95, 0.0)
    """
    return discount if horizon == 1.0 else max(0.0, 1.0 - (1.0 - discount) / max(horizon, 1e-9))


def entities_of(graph: Any, row: int) -> list[int]:
    """Nodes of the entities that a memory names.  Cost: O(q)."""
    nodes: list[int] = graph.target[graph.neighbours(row, EdgeType.ENTITY)].tolist()
    return nodes
