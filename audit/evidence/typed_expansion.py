"""Evidence for typed_expansion: breadth-first search over plain lists, walks by hand, and
archived memories that a memory reaches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.vocabulary import BAN, FUSED, GRAPH, NOW, REACH, ROW
from ...engine.state.graph import EdgeType
from ...mechanisms.shared.topology_bank import TOPOLOGY_MARKS
from ..checks import equation, limit, mutant, signature
from ..figures import Curve, Picture, figure
from ..memory import encode, memory_of, neighbour
from ..paper_numbers import paper_number
from .shared.scripts import giving

PAPER, ANCHORS, HOPS, CANDIDATES = "allmem2026", 10, 2, 40
RECOVERY = PRIORITY = True
NUMBERS = (
    paper_number("anchors", ANCHORS, "memories", paper=PAPER, where="table 9"),
    paper_number("hops", HOPS, "1", paper=PAPER, where="table 9"),
    paper_number("candidates", CANDIDATES, "memories", paper=PAPER, where="table 9"),
    paper_number("recovery", RECOVERY, "1", paper=PAPER, where="D.3: all link types are eligible"),
    paper_number("priority", PRIORITY, "1", paper=PAPER, where="D.3, eq. (33)"),
)
KINDS = ("version", "sibling", "temporal", "semantic")  # best first, eq. (33)
EDGES = dict(
    zip(
        KINDS,
        (EdgeType.VERSION, EdgeType.SIBLING, EdgeType.TEMPORAL, EdgeType.SEMANTIC),
        strict=True,
    )
)
Link = tuple[int, int, str]


def walk(
    anchors: Sequence[int],
    links: Sequence[Link],
    times: Sequence[float],
    most_hops: int,
    most: int,
    kinds: Sequence[str] = KINDS,
    rank: Mapping[str, int] | None = None,
) -> list[int]:
    """Candidates from D.3 and F.3: levels, FIFO, each level's units in turn, their neighbours by
    (type, time, id); no unit twice.
    """
    place = rank or {kind: i for i, kind in enumerate(KINDS)}
    candidates = list(anchors)[:most]
    level = list(candidates)
    for _ in range(most_hops):
        coming: list[int] = []
        for u in level:
            for _, _, v in sorted(
                (place[kind], times[b], b) for a, b, kind in links if a == u and kind in kinds
            ):
                if v not in candidates:
                    if len(candidates) >= most:
                        return candidates
                    candidates.append(v)
                    coming.append(v)
        level = coming
    return candidates


def packed(n: int, links: Sequence[Link]) -> tuple[Any, ...]:
    """starts, degrees, pool, target and marks of links between n units."""
    starts, degrees, pool, target = [], [], list[int](), [b for _, b, _ in links]
    leaving: dict[tuple[int, str], list[int]] = {}
    for i, (a, _, kind) in enumerate(links):
        leaving.setdefault((a, kind), []).append(i)
    for kind in KINDS:
        start, degree = np.zeros(n, np.int64), np.zeros(n, np.int64)
        for u in range(n):
            own = leaving.get((u, kind), [])
            start[u], degree[u] = len(pool), len(own)
            pool += own
        starts.append(start)
        degrees.append(degree)
    return (
        tuple(starts),
        tuple(degrees),
        np.array(pool, np.int64),
        np.array(target, np.int64),
        np.ones(len(links), np.int8),
    )


def expanded(
    specimen: Any,
    n: int,
    anchors: Sequence[int],
    links: Sequence[Link],
    times: Sequence[float],
    hops: int,
    most: int,
    priority: Sequence[int] = (0, 1, 2, 3),
) -> list[int]:
    reached = np.full(most, -9, np.int64)
    count = specimen.expand(
        np.array(anchors, np.int64),
        *packed(n, links),
        np.array(times),
        np.array(priority),
        hops,
        reached,
    )
    return [int(v) for v in reached[:count]]


def random_links(rng: Any, n: int, count: int) -> list[Link]:
    """Different links; several kinds may join the same units."""
    every = {
        (int(rng.integers(n)), int(rng.integers(n)), str(rng.choice(KINDS))) for _ in range(count)
    }
    return sorted(every, key=lambda link: (link[2], link[1], link[0]))


@equation("TE-1", source="D.3, eqs. (32) to (34), over plain lists", papers=(PAPER,))
def the_walk_is_breadth_first_in_the_order_of_types(specimen: Any) -> Any:
    rng, cases = np.random.default_rng(1), []
    for hops, most in ((0, 8), (1, 30), (2, 12), (3, 9), (2, 2), (5, 40)):
        for _ in range(6):
            n = int(rng.integers(3, 20))
            links, times = random_links(rng, n, 3 * n), [float(t) for t in rng.integers(0, 4, n)]
            anchors = rng.permutation(n)[:3].tolist()
            cases.append(
                (
                    expanded(specimen, n, anchors, links, times, hops, most),
                    walk(anchors, links, times, hops, most),
                )
            )
    return [measured == expected for measured, expected in cases], True


@equation("TE-2", source="eq. (34) by hand: type, then time, then id", papers=(PAPER,))
def neighbours_are_ordered_by_type_time_and_id(specimen: Any) -> Any:
    links = [(0, 1, "semantic"), (0, 2, "temporal"), (0, 5, "semantic"), (0, 3, "sibling"), (0, 4,
        "version"), (0, 6, "semantic"), (0, 4, "semantic")]  # fmt: skip
    times = [0.0, 7.0, 9.0, 9.0, 9.0, 3.0, 3.0]
    orders = [
        expanded(specimen, 7, [0], links, times, 1, 40),
        expanded(specimen, 7, [0], links, times, 1, 4),
        expanded(specimen, 7, [0], links, times, 1, 40, (0, 0, 0, 0)),
    ]
    return [v for order in orders for v in order], [0, 4, 3, 2, 5, 6, 1, 0, 4, 3, 2, 0, 5, 6, 1, 2, 3,
                                                 4]  # fmt: skip


@limit(
    "TE-3",
    source="by hand: cycles end, an unmarked or unfollowed link leads nowhere, entities are no memories",
    papers=(PAPER,),
)
def the_walk_ends(specimen: Any) -> Any:
    ring = [(0, 1, "version"), (1, 2, "version"), (2, 0, "version")]
    starts, degrees, pool, target, mark = packed(3, ring)
    reached = np.full(5, -9, np.int64)
    unmarked = specimen.expand(
        np.array([0]),
        starts,
        degrees,
        pool,
        target,
        0 * mark,
        np.zeros(3),
        np.arange(4),
        9,
        reached,
    )
    entity = specimen.expand(
        np.array([0]),
        starts,
        degrees,
        pool,
        np.array([-1, 2, 0]),
        mark,
        np.zeros(3),
        np.arange(4),
        9,
        reached,
    )
    times = [0.0] * 3
    cases: tuple[tuple[list[int], list[int]], ...] = (
        (expanded(specimen, 3, [0], ring, times, 9, 5), [0, 1, 2]),
        (expanded(specimen, 3, [0], ring, times, 9, 5, (-1, 1, 2, 3)), [0]),
        ([int(unmarked), int(entity)], [1, 1]),
        (expanded(specimen, 3, [0, 0, 2], ring, times, 0, 5), [0, 2]),
        (expanded(specimen, 3, [], ring, times, 2, 5), []),
    )
    return [measured == expected for measured, expected in cases], True


# --- in a memory ----------------------------------------------------------------------------------
AUDIT_MARK = Column("audit_mark", np.int8, Scope.EDGE, "1", 0, "whether the edge is a link")


def linked(
    links: Sequence[Link],
    others: Sequence[Link],
    scores: NDArray[np.float64],
    banned: Sequence[int] = (),
) -> tuple[Any, ...]:
    """Neighbours that make links and edges of others after the last event, give FUSED and ban
    rows; if there are links, their marks are handed on.
    """
    n = len(scores)

    def make(view: Any, incoming: Any) -> None:
        if view.row == n - 1:
            for marked, edges in ((1, links), (0, others)):
                for a, b, kind in edges:
                    edge = view.graph.add(a, b, EDGES[kind], view.now)
                    view.audit_mark[edge] = marked

    def hand_on(view: Any, cue: Any) -> None:
        view.topology_marks.put(cue, view.audit_mark)

    def ban(view: Any, cue: Any) -> None:
        view.ban[[row for row in banned if row < len(view.ban)]] += 1

    marks = (
        (
            neighbour(
                Phase.RETRIEVE, hand_on, reads=(AUDIT_MARK,), sets=(TOPOLOGY_MARKS,), id="hand_on"
            ),
        )
        if links
        else ()
    )
    return (
        neighbour(
            Phase.ENCODE,
            make,
            reads=(ROW, NOW),
            adds=(GRAPH,),
            sets=(AUDIT_MARK,),
            owns=(AUDIT_MARK,),
            id="make",
        ),
        *marks,
        giving(Phase.RETRIEVE, FUSED, scores),
        neighbour(Phase.RETRIEVE, ban, adds=(BAN,), id="ban"),
    )


@equation(
    "TE-4",
    source="D.2 to D.4 over plain lists: votes for what the walk reaches, and the answer by score among visible and reached",
    papers=(PAPER,),
)
def a_memory_reaches_archived_memories(specimen: Any) -> Any:
    measured, expected = [], []
    for case, (anchors, hops, candidates, recovery, priority) in enumerate(
        (
            (2, 2, 40, True, True),
            (3, 1, 6, True, True),
            (2, 2, 4, True, True),
            (2, 2, 5, True, False),
            (2, 2, 40, False, True),
            (9, 0, 40, True, True),
            (2, 2, 6, True, False),
            (3, 1, 7, True, False),
            (3, 2, 9, False, False),
            (ANCHORS, HOPS, CANDIDATES, RECOVERY, PRIORITY),
        )
    ):
        rng, n = np.random.default_rng(60 + case), 18
        links, others = (
            random_links(rng, n, 24 if candidates > n else 60),
            [(i, 17 - i, "semantic") for i in range(n)],
        )
        others = [link for link in others if link not in links]
        scores, times, archived, banned = (
            rng.permutation(n).astype(float),
            rng.integers(0, 9, n).astype(float),
            (1, 4, 7, 9, 12, 15),
            (3, 7),
        )
        # banned, though the best
        scores[3] = n
        memory = memory_of(
            specimen,
            *linked(links, others, scores, banned),
            anchors=anchors,
            hops=hops,
            candidates=candidates,
            recovery=recovery,
            priority=priority,
        )
        # told in another order than they happened
        memory.passing.late_hours = 9.0
        encode(memory, *((float(t), f"memory {i}") for i, t in enumerate(times)))
        for row in archived:
            memory.assembly.show(row, False)
        answer = memory.retrieve("what?", k=n)
        seen = [i for i in range(n) if i not in archived]
        first = sorted((i for i in seen if i not in banned), key=lambda i: -scores[i])[
            : min(anchors, candidates)
        ]
        kinds = KINDS if recovery else KINDS[1:]
        reached = walk(
            first,
            links,
            times.tolist(),
            hops,
            candidates,
            kinds,
            None if priority else dict.fromkeys(KINDS, 0),
        )[len(first) :]
        measured.append([memory.column(REACH).tolist(), answer.rows.tolist()])
        expected.append(
            [
                [int(i in reached) for i in range(n)],
                sorted((i for i in {*seen, *reached} - set(banned)), key=lambda i: -scores[i]),
            ]
        )
    return [a == b for a, b in zip(measured, expected, strict=True)], True


@signature(
    "TE-5",
    source="3.4 by hand: of a chain of versions, two are reached within two hops, and the third is not",
    papers=(PAPER,),
)
def a_chain_of_versions_is_reached_to_the_limit(specimen: Any) -> Any:
    chain, answers = [(3, 2, "version"), (2, 1, "version"), (1, 0, "version")], []
    for values in ({}, {"hops": 0}, {"recovery": False}, {"hops": 3}):
        memory = memory_of(specimen, *linked(chain, (), np.array([9.0, 8.0, 7.0, 6.0])), **values)
        encode(memory, *((float(i), f"address {i}") for i in range(4)))
        for row in (0, 1, 2):
            memory.assembly.show(row, False)
        answers.append(memory.retrieve("where?").rows.tolist())
    return [
        answer == wanted
        for answer, wanted in zip(answers, ([1, 2, 3], [3], [3], [0, 1, 2, 3]), strict=True)
    ], True


@signature(
    "TE-5b",
    source="eq. (33) by hand: with room for one, the version comes before the sibling, and that before the others",
    papers=(PAPER,),
)
def a_version_comes_before_a_sibling(specimen: Any) -> Any:
    measured = []
    for kinds in (
        ("semantic", "temporal", "sibling", "version"),
        ("semantic", "temporal", "sibling"),
        ("semantic", "temporal"),
        ("semantic",),
    ):
        links = [(5, row, kind) for row, kind in enumerate(kinds)]
        memory = memory_of(specimen, *linked(links, (), np.arange(6.0)), anchors=1, candidates=2)
        encode(memory, *((float(i), f"part {i}") for i in range(6)))
        for row in range(5):
            memory.assembly.show(row, False)
        memory.retrieve("which?")
        measured.append(int(np.flatnonzero(memory.column(REACH))[0]))
    # two anchors are all candidates, so nothing is reached
    full = memory_of(
        specimen, *linked([(2, 0, "version")], (), np.arange(3.0)), anchors=2, candidates=2
    )
    encode(full, *((float(i), f"part {i}") for i in range(3)))
    full.assembly.show(0, False)
    full.retrieve("which?")
    return [*measured, int(full.column(REACH).sum())], [3, 2, 1, 0, 0]


@limit(
    "TE-6",
    source="definition: without links of the topology, or without a memory, nothing is reached",
    papers=(PAPER,),
)
def without_links_nothing_is_reached(specimen: Any) -> Any:
    memory = memory_of(specimen)
    empty = memory.retrieve("what?").rows.tolist()
    encode(memory, (0.0, "one"), (1.0, "two"))
    memory.assembly.show(0, False)
    others = memory_of(
        specimen, *linked((), [(1, 0, "version"), (1, 0, "semantic")], np.arange(2.0))
    )
    encode(others, (0.0, "one"), (1.0, "two"))
    others.assembly.show(0, False)
    measured = [*empty, -1, *memory.retrieve("what?").rows.tolist(), -1,
             *memory.column(REACH).tolist(), -1, *others.retrieve("what?").rows.tolist()]  # fmt: skip
    return measured, [-1, 1, -1, 0, 0, -1, 1]


@figure(
    "hops",
    caption="Candidates found, against the hops allowed: the budget of candidates ends the walk where links are many",
    source="All-Mem D.3; random links, eight from each of 400 memories",
)
def candidates_over_hops(specimen: Any) -> Picture:
    rng, n, hops = np.random.default_rng(3), 400, np.arange(7)
    curves = []
    for degree in (1, 2, 8):
        links = [
            (a, int(b), "semantic") for a in range(n) for b in rng.choice(n, degree, replace=False)
        ]
        sizes = [
            len(expanded(specimen, n, list(range(10)), links, [0.0] * n, int(h), 40)) for h in hops
        ]
        curves.append(Curve(f"{degree} links each", hops, np.array(sizes)))
    return Picture("hops", "candidates", tuple(curves))


# --- mutants --------------------------------------------------------------------------------------
def changed(specimen: Any, change: Any) -> Any:
    """The specimen with other arguments of the walk."""
    original = specimen.expand
    return specimen.replacing("expand", lambda *given: original(*change(*given)))


@mutant("later memories first", rejected_by="TE-2")
def later_first(specimen: Any) -> Any:
    return changed(specimen, lambda a, s, d, p, t, m, created, priority, hops, reached: (a, s, d, p,
        t, m, -created, priority, hops, reached))  # fmt: skip


@mutant("the order of types is reversed", rejected_by="TE-1")
def reversed_order(specimen: Any) -> Any:
    return changed(specimen, lambda a, s, d, p, t, m, created, priority, hops, reached: (
        a, s, d, p, t, m, created, np.where(priority < 0, -1, 3 - priority), hops, reached))  # fmt: skip


@mutant("links of others are followed", rejected_by="TE-4")
def unmarked_links(specimen: Any) -> Any:
    return changed(specimen, lambda a, s, d, p, t, m, created, priority, hops, reached: (
        a, s, d, p, t, np.ones_like(m), created, priority, hops, reached))  # fmt: skip


@mutant("one hop more", rejected_by="TE-5")
def one_more(specimen: Any) -> Any:
    return changed(specimen, lambda a, s, d, p, t, m, created, priority, hops, reached: (a, s, d, p,
        t, m, created, priority, hops + 1, reached))  # fmt: skip


@mutant("the hook takes siblings for versions", rejected_by="TE-5b")
def other_kind(specimen: Any) -> Any:
    order = specimen.ORDER
    return specimen.replacing("ORDER", (order[1], order[0], *order[2:]))


@mutant("depth first", rejected_by="TE-1")
def depth_first(specimen: Any) -> Any:
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
        out: list[int] = []

        def visit(u: int, left: int) -> None:
            if u in out or len(out) == len(reached):
                return
            out.append(u)
            near = sorted(
                (priority[k], created[target[e]], target[e])
                for k in range(len(priority))
                if priority[k] >= 0
                for e in pool[starts[k][u] : starts[k][u] + degrees[k][u]]
                if mark[e] and target[e] >= 0
            )
            for _, _, v in near if left else ():
                visit(int(v), left - 1)

        for anchor in anchors:
            visit(int(anchor), hops)
        reached[: len(out)] = out
        return len(out)

    return specimen.replacing("expand", expand)


@mutant("a memory is found twice", rejected_by="TE-3")
def twice(specimen: Any) -> Any:
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
        out = list(anchors)[: len(reached)]
        for u in out:
            for k in range(len(priority)):
                out += [
                    int(target[e])
                    for e in pool[starts[k][u] : starts[k][u] + degrees[k][u]]
                    if mark[e]
                ][: len(reached) - len(out)]
        reached[: len(out)] = out
        return len(out)

    return specimen.replacing("expand", expand)


@mutant("the budget of candidates counts from the anchors on", rejected_by="TE-2")
def loose_budget(specimen: Any) -> Any:
    original = specimen.expand

    def expand(*given: Any) -> int:
        anchors, reached, room = (
            given[0],
            given[-1],
            np.full(len(given[0]) + len(given[-1]), -9, np.int64),
        )
        count = int(original(*given[:-1], room))
        reached[:] = room[len(room) - len(reached) :] if len(anchors) else room
        return min(count, len(reached))

    return specimen.replacing("expand", expand)


@mutant("without topology, all memories are reached", rejected_by="TE-6")
def all_reached(specimen: Any) -> Any:
    def reach(self: Any, view: Any, cue: Any) -> None:
        specimen.TypedExpansion.reach(self, view, cue)
        if not view.topology_marks.of(cue).size:
            view.reach[...] = 1

    return specimen.overriding("TypedExpansion", reach=reach)
