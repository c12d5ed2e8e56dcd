"""The dataflow of random schedules, against brute force and against toy steps that are run.

A toy step writes numbers that depend on its name and on all that it has declared to read, so that a
difference anywhere in what it reads shows in what it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.contract.columns import Before, Column, Phase, Scope, Upkeep
from hebbarium.engine.contract.hooks import item_of
from hebbarium.engine.contract.vocabulary import BUDGET, RECALLED
from hebbarium.engine.flow.dataflow import (
    Paths,
    answering,
    arrays_of,
    can_change_an_answer,
    concurrent_followers,
    derived,
    late,
    learning,
    learnt_from,
    ordered,
    reach,
    read_for_the_answer,
    reads_row_by_row,
    silence_reaches,
    writes_for_the_pass_alone,
)
from hebbarium.engine.flow.schedule import Node
from hebbarium.testing.small import column, does, mechanism

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


BEFORE, SET, ADD, READ = range(4)  # the order in which steps use a column


@st.composite
def steps(
    draw: st.DrawFn, passing: Any, kept: Any, phase: Phase, most: int = 6, loops: bool = False
) -> list[Node]:
    """Steps of one phase in any order: each reads, adds to and sets some columns of `passing`, and
    reads some of `kept`.

    loops  whether many of the schedules are to be impossible
    """
    nodes, last = list[Node](), dict.fromkeys(passing, BEFORE)
    for i in range(draw(st.integers(1, most))):
        use: dict[int, list[Any]] = {BEFORE: [], SET: [], ADD: [], READ: []}
        for c in passing:
            tier = draw(st.sampled_from((None, None, BEFORE, SET, ADD, READ)))
            if tier is not None and (
                tier >= last[c] + (tier == last[c] == SET) or (loops and tier != SET)
            ):
                use[tier].append(c)
                last[c] = max(last[c], tier)
        reads = [*use[READ], *(c.before for c in use[BEFORE])]
        reads += [c for c in kept if draw(st.booleans())]
        nodes.append(node(f"n{i}", draw(st.integers(0, 2)), reads, use[ADD], use[SET], phase))
    return draw(st.permutations(nodes))


def scheduled(nodes: list[Node]) -> tuple[Node, ...] | None:
    """The steps in order; None if they cannot be scheduled."""
    try:
        return ordered(nodes)
    except ContractError:
        return None


def holder(item: Any, nodes: Sequence[Node]) -> Any:
    """The column whose array holds a stage: the nearest one at or before it that a step writes."""
    written = {c for n in nodes for c in (*n.sets, *n.adds)}
    while isinstance(item, Column) and isinstance(item.neutral, Column) and item not in written:
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


@given(steps(PASSING, (KEPT,), Phase.RETRIEVE, most=5, loops=True))
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


Numbers = dict[Any, int]


def toy_pass(
    order: Sequence[Node],
    numbers: Numbers,
    salts: Mapping[Node, int],
    only: Iterable[Node] | None = None,
    whole: bool = True,
    learn: bool = False,
) -> None:
    """Run toy steps of RETRIEVE over one number a column, as plans run hooks.

    only   these steps alone
    whole  whether the pass begins anew: a stage starts as the stage before it, other columns at 0
    learn  whether steps that wait for the answer do their work
    """
    nodes, run = list(order), set(order if only is None else only)
    if whole:
        numbers.update({c: 0 for c in PASSING if not isinstance(c.neutral, Column)})
    given = dict.fromkeys((*PASSING, KEPT, AGE), 0)
    for at, step in enumerate(nodes):
        if step not in run:
            continue
        works = learn or RECALLED not in step.reads
        starts = {
            c: numbers[holder(c.neutral, nodes)]
            for c in step.writes
            if isinstance(c, Column) and isinstance(c.neutral, Column)
        }
        seen = [*starts.values(), *(numbers[holder(item_of(read), nodes)] for read in step.reads)]
        for c in step.sets:
            if works:
                numbers[c] = hash((step.owner, c.name, salts[step], *seen))
            elif c in starts:
                numbers[c] = starts[c]
        for c in step.adds:
            given[c] += works and hash((step.owner, c.name, salts[step], *seen)) >> 8
            if not any(c in later.adds for later in nodes[at + 1 :]):
                if c in starts and not any(c in n.sets for n in nodes):
                    numbers[c] = starts[c]
                numbers[c] += given[c]


@given(steps(PASSING, (KEPT, AGE), Phase.RETRIEVE), st.data())
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


# what maintenance writes: columns that it computes anew, and one that it does not
FRESH = tuple(column(name, upkeep=Upkeep(fresh=Phase.MAINTAIN)) for name in "abc")
HELD = column("held")
FACTOR = column("factor", Scope.GLOBAL, 1.0, upkeep=Upkeep(chained=True))
LINKS = column("links", upkeep=Upkeep(rows=...))
UPKEPT = (*FRESH, HELD)


def kept_up(order: Sequence[Node], numbers: Numbers, only: Iterable[Node] | None = None) -> None:
    """Run toy steps of MAINTAIN: fresh columns that they write start at 0."""
    run = list(order if only is None else only)
    numbers.update({c: 0 for n in run for c in n.writes if c in FRESH})
    for step in run:
        seen = [numbers[item_of(read)] for read in step.reads]
        for c in step.sets:
            numbers[c] = hash((step.owner, c.name, numbers[c], *seen))
        for c in step.adds:
            numbers[c] += hash((step.owner, c.name, *seen)) >> 8


def largest(columns: Iterable[Column], sound: Callable[[frozenset[Column]], bool]) -> Any:
    """The union of all sets of columns that are sound."""
    pool = tuple(columns)
    return frozenset[Column]().union(
        *(
            chosen
            for size in range(len(pool) + 1)
            for chosen in map(frozenset, combinations(pool, size))
            if sound(chosen)
        )
    )


@given(steps(UPKEPT, (KEPT, LINKS), Phase.MAINTAIN))
def test_derived_columns_are_computed_again_from_rubbish(nodes: list[Node]) -> None:
    order = scheduled(nodes)
    if order is None:
        return
    columns, deriving = derived(order)
    numbers = {c: at + 1 for at, c in enumerate((*UPKEPT, KEPT, LINKS))}
    kept_up(order, numbers)
    again = numbers | dict.fromkeys(columns, -77)
    kept_up(order, again, only=deriving)
    assert again == numbers

    def sound(chosen: frozenset[Column]) -> bool:
        return chosen <= set(FRESH) and all(
            chosen.issuperset(n.writes)
            and all(isinstance(r, Column) and r not in n.writes for r in n.reads)
            for n in order
            if chosen & {*n.writes}
        )

    written = {c for n in order for c in n.writes}
    assert columns == largest((c for c in FRESH if c in written), sound)
    assert deriving == tuple(n for n in order if columns & {*n.writes})


@given(
    steps(UPKEPT, (KEPT, LINKS), Phase.MAINTAIN),
    st.sets(st.sampled_from([*FRESH, *(c.before for c in FRESH)])),
)
def test_late_columns_are_read_by_nobody_in_time_and_need_no_other_rows(
    nodes: list[Node], read: set[Any]
) -> None:
    order = scheduled(nodes)
    if order is None:
        return
    columns, deriving = derived(order)
    read_early = {*read, *(r for n in order for r in n.reads)}
    waiting, put_off = late(columns, deriving, read_early)

    def sound(chosen: frozenset[Column]) -> bool:
        return not any(c in read_early or c.before in read_early for c in chosen) and all(
            chosen.issuperset(n.writes) and LINKS not in n.reads
            for n in order
            if chosen & {*n.writes}
        )

    assert waiting == largest(columns, sound)
    # the steps that wait can run after all others
    numbers = {c: at + 1 for at, c in enumerate((*UPKEPT, KEPT, LINKS))}
    whole = dict(numbers)
    kept_up(order, whole)
    kept_up(order, numbers, only=[n for n in order if n not in put_off])
    kept_up(order, numbers, only=put_off)
    assert numbers == whole


@given(steps((FIRST, HEAT), (KEPT, AGE, LINKS, FACTOR), Phase.RETRIEVE))
def test_a_step_that_reads_row_by_row_reads_numbers_of_its_own_row(nodes: list[Node]) -> None:
    for n in nodes:
        odd = {LINKS, FACTOR, FIRST, HEAT} & {item_of(r) for r in n.reads}
        past = any(isinstance(r, Before) for r in n.reads)
        assert reads_row_by_row(n) is not (bool(odd) or past)
        assert writes_for_the_pass_alone(n)


@st.composite
def questions(draw: st.DrawFn) -> list[Node]:
    """Steps of RETRIEVE, one that answers, and some that learn after it or make a context."""
    nodes = [
        node("answer", 1, draw(st.sets(st.sampled_from(PASSING))), (), (RECALLED,), Phase.RETRIEVE)
    ]
    kept = [KEPT, AGE]
    for n in draw(steps(PASSING, (KEPT, AGE), Phase.RETRIEVE)):
        # a value before the pass is gone when the steps that learn run later
        plain = replace(n, reads=tuple(r for r in n.reads if not isinstance(r, Before)))
        kind = draw(st.sampled_from(("leads", "leads", "learns", "learns", "budget")))
        if kind == "budget":
            plain = replace(plain, reads=(*plain.reads, BUDGET), adds=(), sets=())
        if kind == "learns":
            adds = draw(st.sets(st.sampled_from((KEPT, AGE))))
            sets = [kept.pop()] if kept and draw(st.booleans()) else []
            passing = draw(st.booleans())
            reads = (RECALLED, *(r for r in plain.reads if r not in adds and r not in sets))
            plain = replace(
                plain,
                reads=reads,
                adds=(*(plain.adds if passing else ()), *(c for c in adds if c not in sets)),
                sets=(*(plain.sets if passing else ()), *sets),
            )
        nodes.append(plain)
    return nodes


@given(questions(), st.data())
def test_a_question_that_learns_later_leaves_what_it_leaves_at_once(
    nodes: list[Node], data: Any
) -> None:
    order = scheduled(nodes)
    if order is None:
        return
    salts = dict.fromkeys(order, 0)
    before: Numbers = dict.fromkeys(PASSING, 0) | {KEPT: 3, AGE: 4, RECALLED: 0, BUDGET: -1}
    at_once, later, short = dict(before), dict(before), dict(before)
    toy_pass(order, at_once, salts, learn=True)
    toy_pass(order, later, salts)
    # the answer needs no other steps
    needed = answering(order)
    toy_pass(needed, short, salts)
    assert short[RECALLED] == later[RECALLED] == at_once[RECALLED]
    assert {n.owner for n in order if n not in needed} == {
        n.owner for n in nodes if RECALLED in n.reads or BUDGET in n.reads
    }
    rest = learning(order)
    if not rest:  # steps that learn and others write the same
        assert any({*a.writes} & {*b.writes} - {KEPT, AGE} for a, b in combinations(order, 2))
        return
    again = dict(later)
    again.update(
        {c: 0 for n in rest for c in n.writes if c in PASSING and not isinstance(c.neutral, Column)}
    )
    toy_pass(order, again, salts, only=rest, whole=False, learn=True)
    assert again == at_once
    # other numbers of the query change nothing that is kept, unless they are learnt from
    columns = learnt_from(order)
    assert columns is not None and columns <= {*PASSING, BUDGET}
    other = later | {c: data.draw(st.integers(5, 6)) for c in PASSING if c not in columns}
    other.update({c: 0 for n in rest for c in n.writes if c in (FIRST, HEAT)})
    learners = [n for n in rest if RECALLED not in n.sets]
    toy_pass(order, other, salts, only=learners, whole=False, learn=True)
    assert [other[c] for c in (KEPT, AGE)] == [at_once[c] for c in (KEPT, AGE)]


def test_what_follows_from_learning_within_the_question_is_left_too() -> None:
    learner = node("learner", 0, [RECALLED], (), [HEAT], Phase.RETRIEVE)
    follower = node("follower", 0, [HEAT], (), [FIRST], Phase.RETRIEVE)
    last = node("last", 0, [FIRST], [SECOND], (), Phase.RETRIEVE)
    answer = node("answer", 1, [THIRD], (), [RECALLED], Phase.RETRIEVE)
    assert learning((answer, learner, follower, last)) == (answer, learner, follower, last)
    assert learning((answer, follower, last)) == (answer,)
    # a stage starts from the stage before it, whether or not its step declares to read that
    unread = replace(last, reads=())
    assert learning((answer, learner, follower, unread)) == (answer, learner, follower, unread)


def test_a_column_that_cannot_wait_takes_those_that_are_written_with_it_along() -> None:
    a, b, c = FRESH
    first = node("first", 0, [LINKS], (), [a], Phase.MAINTAIN)
    second = node("second", 0, [KEPT], [a, b], (), Phase.MAINTAIN)
    third = node("third", 0, [AGE], [b, c], (), Phase.MAINTAIN)
    columns, deriving = derived((first, second, third))
    assert columns == {a, b, c}
    assert late(columns, deriving, ()) == (frozenset(), ())
    assert late(columns, deriving[1:], ()) == ({a, b, c}, (second, third))


@given(steps(PASSING, (KEPT,), Phase.RETRIEVE), st.randoms(use_true_random=False))
def test_steps_at_the_same_time_give_the_numbers_of_steps_one_after_another(
    nodes: list[Node], random: Any
) -> None:
    order = scheduled(nodes)
    if order is None:
        return
    followers = concurrent_followers(order)
    waits = {
        at: {b for b, later in enumerate(followers) if at in later} for at in range(len(order))
    }
    mixed: list[int] = []
    while len(mixed) < len(order):
        ready = [at for at in waits if at not in mixed and waits[at] <= set(mixed)]
        mixed.append(random.choice(ready))
    before: Numbers = dict.fromkeys(PASSING, 0) | {KEPT: 3}
    one_by_one, at_once, salts = dict(before), dict(before), dict.fromkeys(order, 0)
    toy_pass(order, one_by_one, salts)
    toy_pass([order[at] for at in mixed], at_once, salts)
    assert at_once == one_by_one

    def sums_after(a: int, b: int) -> bool:
        return any(
            c in order[b].adds and not any(c in n.adds for n in order[b + 1 :])
            for c in order[a].adds
        )

    pairs = [
        (a, b)
        for a, b in combinations(range(len(order)), 2)
        if must_precede(order[a], order[b], nodes) or sums_after(a, b)
    ]
    graph = nx.DiGraph(pairs)
    graph.add_nodes_from(range(len(order)))
    direct = nx.transitive_reduction(graph)
    assert followers == [tuple(sorted(direct[at])) for at in range(len(order))]


@given(
    steps(PASSING, (KEPT, AGE), Phase.RETRIEVE),
    st.sets(st.sampled_from((KEPT, AGE))),
    st.booleans(),
)
def test_a_mechanism_that_can_change_no_answer_reaches_no_step_by_its_silence(
    nodes: list[Node], owned: set[Column], writes_age: bool
) -> None:
    order = scheduled(nodes)
    if order is None:
        return
    body = does(Phase.MAINTAIN, lambda view, tick: None, adds=[AGE] if writes_age else [])
    m = mechanism("n0", body, owns=owned)
    changed = {*owned, *([AGE] if writes_age else [])}
    reads = {n.owner for n in order if changed & {item_of(r) for r in n.reads if r in n.sees}}
    assert can_change_an_answer(m, order) is bool(reads or any(n.owner == "n0" for n in order))
    steps_of = arrays_of(order)
    reached = silence_reaches(steps_of, m)
    assert reached == reach(steps_of, lambda node: node.owner == "n0", changed)
    assert {"n0", *reads} <= {n.owner for n in reached.of(order)}


@given(steps(PASSING, (KEPT, AGE), Phase.RETRIEVE), st.sets(st.sampled_from(PASSING)))
def test_a_number_that_no_step_reads_for_the_answer_does_not_change_it(
    nodes: list[Node], answered_from: set[Column]
) -> None:
    answer = node("answer", 1, answered_from, (), [RECALLED], Phase.RETRIEVE)
    order = scheduled([answer, *nodes])
    if order is None:
        return
    read = read_for_the_answer(order)
    salts = dict.fromkeys(order, 0)
    before: Numbers = dict.fromkeys(PASSING, 0) | {KEPT: 3, AGE: 4, RECALLED: 0}
    whole = dict(before)
    toy_pass(order, whole, salts)
    other = before | {c: 9 for c in (KEPT, AGE) if c not in read}
    toy_pass(order, other, {n: int(read.isdisjoint(n.writes)) for n in order})
    assert other[RECALLED] == whole[RECALLED]
    # and it is the least such set: what a graph of all pairs leads back to
    reads = {
        n: {holder(item_of(r), order) for r in n.reads}
        | {
            holder(c.neutral, order)
            for c in n.writes
            if isinstance(getattr(c, "neutral", 0), Column)
        }
        for n in order
    }
    graph = nx.DiGraph([(b, a) for a in order for b in order if {*a.writes} & reads[b]])
    graph.add_nodes_from(order)
    leading = {answer, *nx.descendants(graph, answer)}
    assert read == {RECALLED}.union(*(reads[n] for n in leading))


@given(steps(PASSING, (KEPT, AGE), Phase.RETRIEVE), steps((KEPT, AGE), (), Phase.MAINTAIN))
def test_cheapest_paths_are_the_shortest_of_a_graph_of_what_steps_write_and_read(
    asked: list[Node], kept: list[Node]
) -> None:
    """The graph of networkx has an edge from each step to what it writes, told apart by phase if it
    does not persist, and from there to each step that reads it.
    """
    phases = {Phase.MAINTAIN: kept, Phase.RETRIEVE: asked}
    graph: Any = nx.DiGraph()

    def place(item: Any, phase: Phase) -> tuple[Any, ...]:
        return ("written", item, None if item.persists else phase)

    for phase, nodes in phases.items():
        for step in nodes:
            graph.add_node(step)
            for item in (*step.sets, *step.adds):
                graph.add_edge(step, place(item, phase))
            starts = [c.neutral for c in (*step.sets, *step.adds) if isinstance(c.neutral, Column)]
            seen = [read for read in step.reads if isinstance(read, Column)]
            for item in (*seen, *starts):
                graph.add_edge(place(holder(item, nodes), phase), step)
            for read in step.reads:
                if isinstance(read, Before) and holder(read.of, nodes).persists:
                    graph.add_edge(place(holder(read.of, nodes), phase), step)
    paths = Paths(phases)
    for owner in {n.owner for n in (*asked, *kept)}:
        own = [n for n in (*kept, *asked) if n.owner == owner]
        steps_to = nx.multi_source_dijkstra_path_length(graph, own)
        expected = {
            (to[1], to[2]): (length + 1) // 2
            for to, length in steps_to.items()
            if isinstance(to, tuple)
        }
        lengths = {
            (path[-1][1].what, path[-1][1].phase): len(path)
            for path in paths.cheapest(owner, lambda *_: True, lambda path: (len(path),))
        }
        assert lengths == expected
