"""Successor representation: learns the expected discounted future visits of entities and scores
memories by the visits expected after the query.

M(s, s') is the expected number of future visits of state s' from state s on, discounted by gamma
per step (Dayan 1993).  It is learnt from the order of events by temporal differences, so it extends
over several steps and is directed: states that precede s do not count.  The states are the
entities; an event is in the states of all its entities at once, and events without entities are
skipped.  Successive uses in a session are steps, too: from the entities of the memories that one
answer needed to those of the next.  The entries of M are COACCESS edges between entities, with
weight SUCCESSOR.

The signal of a memory is its expected number of visits: a visit of an entity is divided equally
among the memories of the entity, sum_j M(query, j) / fan_j, without the current visit.  A question
asked in a session is asked from the states that the session is in, too: the entities of the
memories that its last use needed.  In sleep the same sum, from the current state and with the
current visit, is the NEED of each memory: how soon and how often it will be visited (Mattar & Daw
2018), which can set the priority of replay.

Cost, with q entities per event and at most r = 2 / ((1 - gamma) least) entries per row:
O(q r log r) per event, O(q r + links of the successors) per query, and O(n) more per sleep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import exact_kernel, formula, place_from
from ...engine.contract.columns import Column, Facet, Phase, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, at_rest, hook
from ...engine.contract.vocabulary import (
    GRAPH,
    HORIZON,
    KIND,
    LEARNING_RATE,
    NEED,
    NOW,
    PLASTICITY,
    RECALLED,
    ROW,
    SESSION,
    USED,
    USED_TIME,
    VISIBLE,
)
from ...engine.state.graph import EdgeType, Links, entity_node
from ...engine.steps.uses import step_of_use, used_last
from ..shared.rows import last_event

# --- columns --------------------------------------------------------------------------------------
SUCCESSOR = Column(
    "successor",
    np.float64,
    Scope.EDGE,
    "visits",
    0.0,
    "M(s, s') of two entities: expected discounted visits of s' from s on",
    low=0,
)
SUCCESSOR_STATED = Column(
    "successor_stated",
    np.int32,
    Scope.MEMORY,
    "1",
    -1,
    "last row of the session so far that names an entity; -1: none",
)
SUCCESSION = signal(
    "succession",
    Facet.ASSOCIATION,
    "expected visits after the entities of the query and of the last use",
    unit="visits",
)


# --- equations ------------------------------------------------------------------------------------
@formula
def expected_row(states: Any, start: Any, degree: Any, pool: Any, target: Any, weight: Any) -> Any:
    """Mean of M(s', .) over equally likely states s'.  Cost: O(r log r) for r entries.

    states               (q,)           nodes s'
    start, degree, pool                 rows of M: entries pool[start[v]:start[v] + degree[v]]; v <
                                        0 for entities
    target, weight       (m,)  visits   column j of an entry, and M(s', j)
    returns              (u,), (u,)     nodes j, ascending, each once; mean of M(s', j)

    >>> expected_row(np.array([0, 1]), np.array([0, 2]), np.array([2, 1]), np.array([0, 1, 2]), np.array([1, 0, 1]), np.array([0.5, 1.0, 1.5]))
    (array([0, 1]), array([0.5, 1. ]))
    """
    none = np.empty(0, np.int64)
    entries = np.concatenate([none, *(pool[start[v] : start[v] + degree[v]] for v in states)])
    nodes, places = np.unique(target[entries].astype(np.int64), return_inverse=True)
    values = weight[entries].astype(np.float64) / len(states)
    return nodes, np.bincount(places, values, len(nodes))


@exact_kernel
def update(
    state: int,
    nodes: Any,
    values: Any,
    alpha: float,
    gamma: float,
    start: Any,
    degree: Any,
    pool: Any,
    target: Any,
    weight: Any,
) -> Any:
    """M(s, .) += alpha [e_s + gamma M(s', .) - M(s, .)].  Dayan (1993), learning by TD(0).  Cost:
    O(r log r).

    state            ()     s; its entry M(s, s) must exist
    nodes, values    (u,)   nodes j, ascending, and M(s', j)
    alpha, gamma     ()  1  learning rate, discount
    start ... weight        rows of M, as in `expected_row`; `weight` is written
    returns          (u,)   M(s, j) of the entries that do not exist yet, 0 for existing ones

    >>> weight = np.array([1.0])
    >>> row = np.array([0]), np.array([1]), np.array([0]), np.array([0]), weight
    >>> update(0, np.array([0, 1]), np.array([0.5, 2.0]), 0.1, 0.9, *row).round(9).tolist()
    [0.0, 0.18]
    >>> weight.round(9).tolist()
    [1.045]
    """
    missing = np.empty(nodes.shape[0])
    for i in range(nodes.shape[0]):
        missing[i] = alpha * gamma * values[i]
    for place in range(start[state], start[state] + degree[state]):
        edge = pool[place]
        end = target[edge]
        aim = 1.0 if end == state else 0.0
        i = place_from(nodes, 0, nodes.shape[0], end)
        if i < nodes.shape[0] and nodes[i] == end:
            aim += gamma * values[i]
            missing[i] = 0.0
        weight[edge] += alpha * (aim - weight[edge])
    return missing


def network(graph: Any) -> tuple[Any, Any, Any, Any]:
    """start, degree, pool and target of the COACCESS edges, valid until an edge is added."""
    edges = graph.csr(EdgeType.COACCESS)
    return edges.start, edges.degree, edges.pool, graph.target


def experience(
    graph: Any,
    before: Sequence[int],
    after: Sequence[int],
    alpha: float,
    gamma: float,
    least: float,
    initial: float,
    now: float = 0.0,
) -> list[int]:
    """One step from the states `before` to the states `after`: TD(0) update of each row of `before`
    towards the mean row of `after`.

    before, after  nodes, each once; empty `after`: terminal step, M(s', .) = 0
    least          an entry is created above this value and removed below half of it; 0: exact
    initial        the initial M is `initial` times the identity
    now            h, time of new edges
    returns        the edges whose weights may have changed, new ones left out

    Several states at once stand for one step to each with equal probability.  A row sums to at most
    1 / (1 - gamma), so it has at most 2 / ((1 - gamma) least) entries.  Cost: O(q r log r).
    """
    for s in (*before, *after):
        if graph.find(s, s, EdgeType.COACCESS) is None:
            edge = graph.add(s, s, EdgeType.COACCESS, now)
            graph.column(SUCCESSOR.name)[edge] = initial
    nodes, values = expected_row(
        np.array(after, dtype=np.int64), *network(graph), graph.column(SUCCESSOR.name)
    )
    changed: list[int] = []
    for s in before:
        weight = graph.column(SUCCESSOR.name)
        changed += graph.neighbours(s, EdgeType.COACCESS).tolist()
        missing = update(s, nodes, values, alpha, gamma, *network(graph), weight)
        if least > 0.0:
            edges = graph.neighbours(s, EdgeType.COACCESS)
            for edge in edges[weight[edges] < 0.5 * least]:
                if graph.target[edge] != s:
                    graph.remove(int(edge))
        for i in np.flatnonzero(missing > least):
            edge = graph.add(s, int(nodes[i]), EdgeType.COACCESS, now)
            graph.column(SUCCESSOR.name)[edge] = missing[i]
    return changed


@exact_kernel
def visits(
    states: Any, nodes: Any, values: Any, start: Any, degree: Any, ends: Any, fan: Any, out: Any
) -> None:
    """V_i = sum_j (M(s, j) - [j is s]) R_i(j) with R_i(j) = 1 / fan_j for the memories i of entity
    j.  V = M R.  Cost: O(fans).

    states               (q,)          states of the query, equally likely
    nodes, values        (u,)  visits  j, and mean M(s, j) over the states
    start, degree, ends                targets of the links from entity j: ends[start[j]:start[j] +
                                       degree[j]]
    fan                  (nodes,)      fan_j; degree[j], unless links are left out
    out                  (n,)  visits  written; NaN on entry, and stays NaN where nothing arrives
    If `states` is empty, the current visit is not subtracted.

    >>> out = np.full(2, np.nan)
    >>> visits(np.array([-1]), np.array([-2, -1]), np.array([0.8, 1.0]), np.array([0, 2]), np.array([2, 0]), np.array([0, 1]), np.array([2, 0]), out)
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
                i = ends[place]
                if i >= 0:
                    share = expected / fan[j]
                    out[i] = share if np.isnan(out[i]) else out[i] + share


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SuccessorRepresentationParams(Params):
    alpha: float
    discount: float  # gamma
    least: float
    initial: float
    weight: float


class SuccessorRepresentation(Mechanism[SuccessorRepresentationParams]):
    """Learns which entities follow which; scores memories of the entities that follow those of
    the query and of the last use.
    """

    owns = (SUCCESSOR, SUCCESSOR_STATED, SUCCESSION)

    @hook(
        Phase.ENCODE,
        reads=(ROW, NOW, SESSION, LEARNING_RATE, PLASTICITY, HORIZON),
        adds=(GRAPH,),
        sets=(SUCCESSOR_STATED, SUCCESSOR),
    )
    def learn(self, view: Any, incoming: Incoming) -> None:
        """Learn the step from the session's last memory with entities; the first such memory of
        a session has no predecessor.
        """
        p, row, before, graph = self.params, view.row, incoming.before, view.graph
        last = (
            int(view.successor_stated[before])
            if before >= 0 and view.session[before] == view.session[row]
            else -1
        )
        view.successor_stated[row] = row if incoming.features.entities else last
        if incoming.features.entities and last >= 0:
            alpha = min(1.0, p.alpha * view.learning_rate * view.plasticity)
            gamma = further(p.discount, view.horizon)
            view.wrote(
                SUCCESSOR,
                experience(
                    graph,
                    entities_of(graph, last),
                    entities_of(graph, row),
                    alpha,
                    gamma,
                    p.least,
                    p.initial,
                    view.now,
                ),
            )

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, USED.before, USED_TIME.before, NOW, LEARNING_RATE, PLASTICITY, HORIZON),
        adds=(GRAPH,),
        sets=(SUCCESSOR,),
    )
    def follow(self, view: Any, cue: Cue) -> None:
        """Learn the step from the last use in the session to this one, if both are of memories
        with entities.
        """
        p, graph = self.params, view.graph
        last, rows, _ = step_of_use(cue, view.recalled, view.used, view.used_time, view.now)
        before, after = (
            list(
                dict.fromkeys(
                    node for row in used_rows.tolist() for node in entities_of(graph, row)
                )
            )
            for used_rows in (last, rows)
        )
        if before and after:
            alpha = min(1.0, p.alpha * view.learning_rate * view.plasticity)
            experience(
                graph,
                before,
                after,
                alpha,
                further(p.discount, view.horizon),
                p.least,
                p.initial,
                view.now,
            )

    @hook(
        Phase.CONSOLIDATE,
        reads=(GRAPH.before, SUCCESSOR, SUCCESSOR_STATED, KIND),
        adds=(),
        sets=(NEED,),
    )
    def expect(self, view: Any, tick: Tick) -> None:
        """Compute NEED from the entities of the last memory with entities, before replay adds
        edges between memories.
        """
        graph, last = view.graph, int(view.successor_stated[last_event(view.kind)])
        links: Links = graph.links(EdgeType.ENTITY)
        out = np.full(len(view.need), np.nan)
        if last >= 0:
            nodes, values = expected_row(
                np.array(entities_of(graph, last), dtype=np.int64), *network(graph), view.successor
            )
            visits(
                np.empty(0, dtype=np.int64), nodes, values, *links, graph.fan(EdgeType.ENTITY), out
            )
        view.need[...] = np.nan_to_num(out, copy=False, nan=0.0)

    @at_rest(reads=())
    def known(self, view: Any, tick: Tick) -> bool:
        """NEED follows from edges and what was learnt; time does not change them."""
        return True

    @hook(
        Phase.RETRIEVE,
        reads=(GRAPH, SUCCESSOR, VISIBLE, USED.before, USED_TIME.before),
        adds=(),
        sets=(SUCCESSION,),
    )
    def score(self, view: Any, cue: Cue) -> None:
        """No score unless the query names, or the last use in its session needed, an entity with
        learnt successors.
        """
        graph = view.graph
        links: Links = graph.links(EdgeType.ENTITY)
        named = [
            entity_node(e)
            for name in cue.features.entities
            if (e := graph.entity_id(name)) is not None
        ]
        left = [
            node
            for row in used_last(cue, view.used, view.used_time, view.visible).tolist()
            for node in entities_of(graph, row)
        ]
        states = np.array(list(dict.fromkeys((*named, *left))), dtype=np.int64)
        if states.size:
            nodes, values = expected_row(states, *network(graph), view.successor)
            visits(states, nodes, values, *links, graph.fan(EdgeType.ENTITY), view.succession)


def further(discount: float, horizon: float) -> float:
    """The discount whose time horizon 1 / (1 - gamma) is `horizon` times as long; 0 if that is less
    than one step.

    >>> further(0.9, 1.0), round(further(0.9, 2.0), 3), further(0.9, 0.01)
    (0.9, 0.95, 0.0)
    """
    return discount if horizon == 1.0 else max(0.0, 1.0 - (1.0 - discount) / max(horizon, 1e-9))


def entities_of(graph: Any, row: int) -> list[int]:
    """Nodes of the entities that a memory names.  Cost: O(q)."""
    nodes: list[int] = graph.target[graph.neighbours(row, EdgeType.ENTITY)].tolist()
    return nodes
