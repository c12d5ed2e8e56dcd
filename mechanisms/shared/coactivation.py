"""Coactivation: lists the pairs of memories that are active together and the time lag of each pair,
for the plasticity rules, and gives the memories that pass activation on when a question is asked.

ENCODE: the new memory forms a pair with each memory in WORKING_MEMORY; if no mechanism sets
WORKING_MEMORY, with the previous memory of its session. CONSOLIDATE: each REPLAYED step is a pair.
RETRIEVE with learning: the best TOGETHER rows of the answer form pairs with each other at lag 0,
and each of those that the last use in the session needed forms a pair with each of them, which come
second, see `engine.steps.uses`. Each pair is listed in both directions, with a COACCESS edge for
each.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase, Structure
from ...engine.contract.vocabulary import (
    ARRIVED,
    GRAPH,
    NOW,
    RECALLED,
    REPLAY_LAG,
    REPLAYED,
    ROW,
    SESSION,
    USED,
    USED_TIME,
    WORKING_MEMORY,
    WORKING_MEMORY_STEP,
)
from ...engine.flow.schedule import Node
from ...engine.state.graph import EdgeType
from ...engine.state.ranking import best
from ...engine.steps.uses import TOGETHER as TOGETHER
from ...engine.steps.uses import step_of_use

# most COACCESS edges of a memory; a new one beyond them replaces the oldest
PARTNERS: Final = 32


class CoactivePairs:
    """The pairs of the current pass; p counts each pair twice, once in each direction.

    source, target  (p,) int64  rows
    edge            (p,) int64  COACCESS edge from source to target
    lag             (p,) float64, h, time from the source's activity to the target's; positive if
                    the source is active first
    """

    __slots__ = ("edge", "lag", "source", "target")

    def __init__(self) -> None:
        self.put(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), None, 0.0)

    def put(
        self,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        lag: NDArray[np.float64],
        graph: Any,
        now: float,
    ) -> None:
        """Replace the pairs by these, with the lag from first to second; missing edges are
        created at `now` (h).  Cost: O(p).
        """
        self.source, self.target = np.concatenate([first, second]), np.concatenate([second, first])
        self.lag = np.concatenate([lag, -lag])
        ends = list(zip(self.source.tolist(), self.target.tolist(), strict=True))
        current = set(ends)
        self.edge = np.array([_edge(graph, a, b, now, current) for a, b in ends], dtype=np.int64)


def _edge(graph: Any, source: int, target: int, now: float, current: Set[tuple[int, int]]) -> int:
    """The COACCESS edge, created if missing; a memory with PARTNERS edges first loses its oldest
    one that is not among the current pairs.
    """
    known = graph.find(source, target, EdgeType.COACCESS)
    if known is None:
        old = graph.neighbours(source, EdgeType.COACCESS)
        if len(old) >= PARTNERS:
            oldest = next(
                (int(edge) for edge in old if (source, int(graph.target[edge])) not in current),
                None,
            )
            if oldest is not None:
                graph.remove(oldest)
        known = graph.add(source, target, EdgeType.COACCESS, now)
    return int(known)


def pairing_nodes() -> list[Node]:
    """The schedule steps that fill COACTIVATION, one for each phase that has pairs."""
    return [
        Node("engine", "pair", Phase.ENCODE, -1, (ROW, NOW, ARRIVED, SESSION, WORKING_MEMORY,
                                                  WORKING_MEMORY_STEP), (GRAPH,), (COACTIVATION,),
             _of_event),
        Node("engine", "pair", Phase.CONSOLIDATE, -1, (REPLAYED, REPLAY_LAG), (GRAPH,),
             (COACTIVATION,), _of_replay),
        Node("engine", "pair", Phase.RETRIEVE, -1, (RECALLED, NOW, USED.before, USED_TIME.before),
             (GRAPH,), (COACTIVATION,), _of_answer),
    ]  # fmt: skip


def _of_event(view: Any, incoming: Any) -> None:
    """Pairs of each memory in working memory with the new one, which comes second."""
    row, before, now = view.row, incoming.before, view.now
    held = view.working_memory[view.working_memory >= 0].astype(np.int64)
    if not held.size and before >= 0 and view.session[before] == view.session[row]:
        held = np.array([before])
    # WORKING_MEMORY may already contain the new memory
    held = held[held != row]
    lag = (
        now - view.arrived[held]
        if np.isnan(view.working_memory_step)
        else np.arange(len(held), 0.0, -1.0) * view.working_memory_step
    )
    view.coactivation.put(held, np.full(len(held), row), lag, view.graph, now)


def _of_replay(view: Any, tick: Any) -> None:
    """One pair per replayed step; a repeated step counts every time."""
    steps = np.flatnonzero((view.replayed >= 0).all(axis=1))
    first, second = view.replayed[steps].T.astype(np.int64)
    view.coactivation.put(first, second, view.replay_lag[steps], view.graph, tick.end)


def _of_answer(view: Any, cue: Any) -> None:
    """All pairs among the best rows of the answer, at lag 0, then each row of the last use in
    the session with each of them.
    """
    before, rows, lag = step_of_use(cue, view.recalled, view.used, view.used_time, view.now)
    left, right = np.triu_indices(len(rows), 1)
    first, second = np.repeat(before, len(rows)), np.tile(rows, len(before))
    view.coactivation.put(
        np.concatenate([rows[left], first]),
        np.concatenate([rows[right], second]),
        np.concatenate([np.zeros(len(left)), np.full(len(first), lag)]),
        view.graph,
        view.now,
    )


COACTIVATION = Structure(
    "coactivation",
    "pairs of memories active together, in both directions: rows, COACCESS edge and time lag",
    ("source", "target", "edge", "lag"),
    persists=False,
    phases=(Phase.ENCODE, Phase.CONSOLIDATE, Phase.RETRIEVE),
    stored_only=True,
    create=CoactivePairs,
    steps=pairing_nodes,
)


@kernel
def between(rows: Any, start: Any, degree: Any, pool: Any, leads_to: Any) -> Any:
    """Edges from any of some rows to any of them; of a row that comes twice, twice.  Cost: O(rows x
    their edges).

    rows                 (p,)  such as the sources of pairs
    start, degree, pool        out-edges of node v: pool[start[v]:start[v] + degree[v]]
    leads_to             (m,)  target of each edge

    >>> between(np.array([0, 2]), np.array([0, 2, 2]), np.array([2, 0, 1]), np.array([0, 1, 2]), np.array([1, 2, 0])).tolist()
    [1, 2]
    """
    edges, count = np.empty(degree[rows].sum(), np.int64), 0
    for v in rows:
        for edge in pool[start[v] : start[v] + degree[v]]:
            for other in rows:
                if leads_to[edge] == other:
                    edges[count] = edge
                    count += 1
                    break
    return edges[:count]


def sources(
    match: NDArray[Any],
    visible: NDArray[np.bool_],
    used: NDArray[np.int64],
    seeds: int,
    present: float,
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The memories that pass activation on, and the activity of each memory (n,), sd.

    match, visible  (n,)  MATCH and VISIBLE
    used            (m,)  rows that the last use in the session needed, see
                          `engine.steps.uses.used_last`
    seeds           ()    best matches that are active, with their match
    present         ()    sd  activity of `used` together, divided equally as the source activation
                              of ACT-R, besides their match if that is above 0

    Without used rows the activity is the match.  Cost: O(n + seeds log seeds log n).

    >>> rows, activity = sources(np.array([2.0, -1.0, 0.5]), np.ones(3, dtype=np.bool_), np.array([1, 2]), 1, 3.0)
    >>> rows.tolist(), activity.tolist()
    ([0, 1, 2], [2.0, 1.5, 2.0])
    """
    rows = best(match, visible, seeds)
    if not used.size or present <= 0.0:
        return rows, match
    activity = np.array(match)
    activity[used] = np.maximum(activity[used], 0.0) + present / used.size
    return np.concatenate([rows, used[~np.isin(used, rows)]]), activity


@kernel
def pass_on(
    rows: Any,
    match: Any,
    release: Any,
    resources: Any,
    start: Any,
    degree: Any,
    pool: Any,
    leads_to: Any,
    weight: Any,
    out: Any,
) -> None:
    """out_j = sum_i match_i release_i resources_i w_ij over the memories i in `rows`; w_ij may be
    negative.  Cost: O(their edges).

    rows                 (q,)      memories i; those with match <= 0 contribute nothing
    match                (n,)  sd  match of each memory with the query, or its activity, see
                                   `sources`
    release, resources   (n,)      factors on the activation that each memory passes on
    start, degree, pool            out-edges of node v: pool[start[v]:start[v] + degree[v]]
    leads_to, weight     (m,)      target node of an edge, and w
    out                  (n,)  sd  written; NaN on entry, and stays NaN where nothing arrives
    """
    for v in rows:
        sent = match[v] * release[v] * resources[v]
        if sent > 0.0:
            for place in range(start[v], start[v] + degree[v]):
                j, w = leads_to[pool[place]], weight[pool[place]]
                if j >= 0 and w != 0.0:
                    out[j] = sent * w if np.isnan(out[j]) else out[j] + sent * w


@kernel
def activities(target: Any, edge: Any, drive: float, weight: Any) -> Any:
    """(p,) c = drive + sum of w over the pairs of the same target, for each pair's target.  Cost:
    O(p^2).

    target, edge  (p,)  target of each pair, and the edge from source to target
    drive         ()    activity of a memory without partners
    weight        (m,)  w of each edge

    >>> activities(np.array([4, 5, 4]), np.array([0, 1, 2]), 1.0, np.array([0.5, 0.25, 2.0])).tolist()
    [3.5, 1.25, 3.5]
    """
    c = np.full(target.shape[0], drive)
    for i in range(target.shape[0]):
        for k in range(target.shape[0]):
            if target[k] == target[i]:
                c[i] += weight[edge[k]]
    return c


@kernel
def is_first(target: Any, i: int) -> bool:
    """Whether pair i is the first with its target.  Cost: O(i).

    >>> [is_first(np.array([4, 5, 4]), i) for i in range(3)]
    [True, True, False]
    """
    first = True
    for k in range(i):
        first = first and target[k] != target[i]
    return first
