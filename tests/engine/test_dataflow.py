"""The dataflow of random schedules, against brute force and against toy steps that are run.

A toy step writes numbers that depend on its name and on all that it has declared to read, so that a
difference anywhere in what it reads shows in what it writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.contract.columns import Before, Column, Phase, Scope
from hebbarium.engine.flow.dataflow import arrays_of, ordered, reach
from hebbarium.engine.flow.schedule import Node
from hebbarium.testing.small import column

# a stage starts as the stage before it
FIRST = column("first", Scope.CANDIDATE)
SECOND, THIRD = (
    Column(name, np.float64, Scope.CANDIDATE, "1", start, "for the test")
    for name, start in (("second", FIRST), ("third", FIRST))
)
HEAT = column("heat", Scope.CANDIDATE)
KEPT, AGE = column("kept"), column("age")
PASSING = (FIRST, SECOND, THIRD, HEAT)
STAGES_BEFORE = (SECOND.before, THIRD.before)


def node(owner: str, order: int, reads: Any, adds: Any, sets: Any, phase: Phase) -> Node:
    return Node(
        owner, "step", phase, order, tuple(reads), tuple(adds), tuple(sets), lambda *_: None
    )


@st.composite
def steps(draw: st.DrawFn, passing: Any, kept: Any, phase: Phase, most: int = 6) -> list[Node]:
    """Steps of one phase in any order, which may not be possible to schedule: each reads, adds to
    and sets some columns of `passing`, and reads some of `kept`.
    """
    nodes, unset = [], list(passing)
    for i in range(draw(st.integers(1, most))):
        sets = (
            [unset.pop(draw(st.integers(0, len(unset) - 1)))]
            if unset and draw(st.booleans())
            else []
        )
        use = {c: draw(st.sampled_from(("", "", "", "read", "before", "add"))) for c in passing}
        reads = [c for c in passing if use[c] == "read" and c not in sets]
        reads += [c.before for c in passing if use[c] == "before"]
        reads += [c for c in kept if draw(st.booleans())]
        adds = [c for c in passing if use[c] == "add" and c not in sets]
        nodes.append(node(f"n{i}", draw(st.integers(0, 2)), reads, adds, sets, phase))
    return nodes


def scheduled(nodes: list[Node]) -> tuple[Node, ...] | None:
    """The steps in order; None if they cannot be scheduled."""
    try:
        return ordered(nodes)
    except ContractError:
        return None


def holder(item: Column, nodes: list[Node]) -> Column:
    """The column whose array holds a stage: the nearest one at or before it that a step writes."""
    written = {c for n in nodes for c in (*n.sets, *n.adds)}
    while isinstance(item.neutral, Column) and item not in written:
        item = item.neutral
    return item


def must_precede(a: Node, b: Node, nodes: list[Node]) -> bool:
    """By the words of the contract: of one column first those who read it as it was, then the
    setter, then those who add, then the readers.
    """

    def tiers(n: Node) -> list[tuple[Any, int]]:
        uses = [(holder(r.of, nodes), 0) for r in n.reads if isinstance(r, Before)]
        uses += [(c, 1) for c in n.sets] + [(c, 2) for c in n.adds]
        uses += [(holder(r, nodes), 3) for r in n.reads if isinstance(r, Column)]
        uses += [
            (holder(c.neutral, nodes), 3)
            for c in (*n.sets, *n.adds)
            if isinstance(c.neutral, Column)
        ]
        own = {c for c, tier in uses if tier == 1}
        return [(c, tier) for c, tier in uses if tier == 1 or c not in own]

    return any(x is y and i < j for x, i in tiers(a) for y, j in tiers(b))


@given(steps(PASSING, (KEPT,), Phase.RETRIEVE, most=5))
@settings(max_examples=150, deadline=None)
def test_the_order_is_the_first_of_all_permutations_that_respect_the_declarations(
    nodes: list[Node],
) -> None:
    possible = [
        order
        for order in permutations(nodes)
        if not any(
            must_precede(later, earlier, nodes)
            for at, earlier in enumerate(order)
            for later in order[at + 1 :]
        )
    ]
    result = scheduled(nodes)
    if result is None:
        assert not possible
    else:
        assert result == min(possible, key=lambda order: [(*n.rank, nodes.index(n)) for n in order])


Numbers = dict[Column, int]


def toy_pass(
    order: Sequence[Node],
    numbers: Numbers,
    salts: Mapping[Node, int],
    only: Iterable[Node] | None = None,
    whole: bool = True,
) -> None:
    """Run toy steps of RETRIEVE over one number a column, as plans run hooks.

    only   these steps alone
    whole  whether the pass begins anew: a stage starts as the stage before it, other columns at 0
    """
    nodes, run = list(order), set(order if only is None else only)
    if whole:
        numbers.update({c: 0 for c in PASSING if not isinstance(c.neutral, Column)})
    given: dict[Column, int] = dict.fromkeys(PASSING, 0)
    for at, step in enumerate(nodes):
        if step not in run:
            continue
        starts = {
            c: numbers[holder(c.neutral, nodes)] if isinstance(c.neutral, Column) else 0
            for c in (*step.sets, *step.adds)
        }
        seen = [
            numbers[holder(r.of if isinstance(r, Before) else r, nodes)]
            for r in step.reads
            if isinstance(r, Before | Column)
        ]
        for c in step.sets:
            numbers[c] = hash((step.owner, c.name, salts[step], starts[c], *seen))
        for c in step.adds:
            given[c] += hash((step.owner, c.name, salts[step], *seen)) >> 8
            if not any(c in later.adds for later in nodes[at + 1 :]):
                if isinstance(c.neutral, Column) and not any(c in n.sets for n in nodes):
                    numbers[c] = numbers[holder(c.neutral, nodes)]
                numbers[c] += given[c]


@given(steps(PASSING, (KEPT, AGE), Phase.RETRIEVE), st.data())
@settings(max_examples=300, deadline=None)
def test_the_steps_that_a_change_reaches_give_the_whole_pass_once_more(
    nodes: list[Node], data: Any
) -> None:
    # a stage before the pass is what the last pass left, on which no step may build
    order = scheduled(
        [replace(n, reads=tuple(r for r in n.reads if r not in STAGES_BEFORE)) for n in nodes]
    )
    if order is None:
        return
    changed = data.draw(st.sets(st.sampled_from(order)))
    columns = data.draw(st.sets(st.sampled_from((KEPT, AGE))))
    before: Numbers = dict.fromkeys(PASSING, 0) | {KEPT: 3, AGE: 4}
    salts = dict.fromkeys(order, 0)
    toy_pass(order, before, salts)

    reached = reach(arrays_of(order), lambda node: node in changed, columns)
    after = dict(before)
    for n in changed:
        salts[n] = 1
    after.update(dict.fromkeys(columns, 9))
    whole = dict(after)
    toy_pass(order, whole, salts)
    after.update({c: 0 for c in reached.columns if not isinstance(c.neutral, Column)})
    toy_pass(order, after, salts, only=reached.of(order), whole=False)
    assert after == whole
    # what is not reached is the same before and after, and the two parts are the pass
    assert {c for c in PASSING if before[c] != whole[c]} <= set(reached.columns)
    assert sorted([*reached.of(order), *reached.others(order)], key=order.index) == list(order)


@given(steps(PASSING, (KEPT, AGE), Phase.RETRIEVE), st.data())
@settings(max_examples=150, deadline=None)
def test_what_a_change_reaches_is_what_a_graph_of_all_pairs_reaches(
    nodes: list[Node], data: Any
) -> None:
    order = scheduled(nodes)
    if order is None:
        return
    changed = data.draw(st.sets(st.sampled_from(order)))
    columns = data.draw(st.sets(st.sampled_from((KEPT, AGE))))
    writes, touches = {}, {}
    for n in order:
        past = {holder(r.of, nodes) for r in n.reads if isinstance(r, Before)}
        writes[n] = {*n.sets, *n.adds, *(past - {KEPT, AGE})}
        starts = {
            holder(c.neutral, nodes)
            for c in writes[n] & {*n.sets, *n.adds}
            if isinstance(c.neutral, Column)
        }
        touches[n] = (
            writes[n] | starts | past | {holder(r, nodes) for r in n.reads if isinstance(r, Column)}
        )
    graph = nx.DiGraph([(a, b) for a in order for b in order if writes[a] & touches[b]])
    graph.add_nodes_from(order)
    first = {n for n in order if n in changed or touches[n] & columns}
    expected = first.union(*(nx.descendants(graph, n) for n in first))
    reached = reach(arrays_of(order), lambda node: node in changed, columns)
    assert set(reached.of(order)) == expected
    assert set(reached.columns) == set().union(*(writes[n] for n in expected))
    assert not reached.structures
