"""Typed expansion: the best visible memories lead along the links of the topology to archived ones,
which may then be answered (All-Mem).

From the best visible memories, the anchors, a breadth-first search follows outgoing links, at most
two hops and 40 memories.  The links of a memory are followed in a fixed order: version, sibling,
temporal, semantic; then the earlier memory, then the lower row.  What is reached gets a vote in
REACH and is ranked by its own score.  If no mechanism keeps links, nothing is reached.

Cost: O(n) to find the anchors, O(candidates x links) for the walk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import BAN, CREATED, FUSED, GRAPH, REACH, VISIBLE
from ...engine.state.graph import EdgeType
from ...engine.state.ranking import best
from ..shared.topology_bank import TOPOLOGY_MARKS

# priority 0 to 3
ORDER = (EdgeType.VERSION, EdgeType.SIBLING, EdgeType.TEMPORAL, EdgeType.SEMANTIC)


# --- equations ------------------------------------------------------------------------------------
@kernel
def expand(
    anchors: Any,
    starts: Any,
    degrees: Any,
    pool: Any,
    target: Any,
    mark: Any,
    created: Any,
    priority: Any,
    hops: int,
    reached: Any,
) -> int:
    """C: breadth first from the anchors along outgoing links, neighbours by (priority, t_v, v); how
    many there are.  Eqs. (33), (34).

    anchors          (q,)    first candidates, q <= c
    starts, degrees  4 (v,)  out-links of node u of kind k: pool[starts[k][u]:starts[k][u] +
                             degrees[k][u]]
    pool             (p,)    edge ids
    target           (m,)    of each edge
    mark             (m,)    0: the edge is no link
    created          (n,)  h  t_v
    priority         (4,)    of each kind, lower first; below 0: not followed
    hops             ()      most links from an anchor
    reached          (c,)    candidates in the order in which they are found; written

    An anchor 0 with the links 0 -> 2 of kind 1, 0 -> 1 of kind 0 and 1 -> 3 of kind 0:

    >>> reached = np.full(4, -1)
    >>> starts = np.array([0, 1, 2, 2]), np.array([2, 3, 3, 3])
    >>> degrees = np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0])
    >>> expand(np.array([0]), starts, degrees, np.arange(3), np.array([1, 3, 2]), np.ones(3), np.zeros(4), np.array([0, 1]), 2, reached), reached.tolist()
    (4, [0, 1, 2, 3])
    """
    most, count = reached.shape[0], 0
    for anchor in anchors:
        if count < most and not (reached[:count] == anchor).any():
            reached[count] = anchor
            count += 1
    first = 0
    for _ in range(hops):
        last = count
        for place in range(first, last):
            u, links = reached[place], 0
            for kind in range(priority.shape[0]):
                links += degrees[kind][u]
            near, order, size = np.empty(links, dtype=np.int64), np.empty(links, dtype=np.int64), 0
            for kind in range(priority.shape[0]):
                for at in range(starts[kind][u], starts[kind][u] + degrees[kind][u]):
                    v = target[pool[at]]
                    if priority[kind] < 0 or mark[pool[at]] == 0 or v < 0:
                        continue
                    i = size
                    while i > 0 and (
                        order[i - 1] > priority[kind]
                        or (
                            order[i - 1] == priority[kind]
                            and (
                                created[near[i - 1]] > created[v]
                                or (created[near[i - 1]] == created[v] and near[i - 1] > v)
                            )
                        )
                    ):
                        near[i], order[i] = near[i - 1], order[i - 1]
                        i -= 1
                    near[i], order[i] = v, priority[kind]
                    size += 1
            for i in range(size):
                if not (reached[:count] == near[i]).any():
                    if count == most:
                        return count
                    reached[count] = near[i]
                    count += 1
        first = last
    return count


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TypedExpansionParams(Params):
    anchors: int
    hops: int
    candidates: int  # anchors included
    recovery: bool  # whether version links are followed
    priority: bool  # whether the kind of a link decides the order


class TypedExpansion(Mechanism[TypedExpansionParams]):
    """Reaches archived memories from the best visible ones."""

    @hook(
        Phase.RETRIEVE,
        reads=(FUSED, VISIBLE, BAN, CREATED, GRAPH, TOPOLOGY_MARKS),
        adds=(REACH,),
        sets=(),
    )
    def reach(self, view: Any, cue: Cue) -> None:
        p, mark = self.params, view.topology_marks.of(cue)
        if not mark.size or not p.hops:
            return
        anchors = best(view.fused, view.visible & (view.ban <= 0), min(p.anchors, p.candidates))
        links = [view.graph.csr(kind) for kind in ORDER]
        priority = np.arange(len(ORDER)) if p.priority else np.zeros(len(ORDER), dtype=np.int64)
        if not p.recovery:
            priority[ORDER.index(EdgeType.VERSION)] = -1
        reached = np.empty(p.candidates, dtype=np.int64)
        count = expand(
            anchors,
            tuple(link.start for link in links),
            tuple(link.degree for link in links),
            links[0].pool,
            view.graph.target,
            mark,
            view.created,
            priority,
            p.hops,
            reached,
        )
        view.reach[reached[anchors.size : count]] += 1
