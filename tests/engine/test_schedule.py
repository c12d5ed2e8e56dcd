"""The schedule: an order computed from declarations alone, and errors that name the hooks."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.contract.columns import Before, Column, Facet, Phase, Scope, signal
from hebbarium.engine.contract.vocabulary import (
    ACTIVATION,
    FACET_WEIGHTS,
    FUSED,
    GRAPH,
    MATCH,
    RANDOM,
    RECALLED,
    RERANKED,
    REWEIGHTED,
    SIGNALS,
)
from hebbarium.engine.flow.dataflow import ordered
from hebbarium.engine.flow.schedule import Node

A, B, C = (Column(name, np.float64, Scope.MEMORY, "1", 0.0, "for the test") for name in "abc")
ONE, TWO = (signal(name, Facet.WORDS, "for the test") for name in ("one", "two"))


def node(
    owner: str,
    order: int,
    reads: Any = (),
    adds: Any = (),
    sets: Any = (),
    phase: Phase = Phase.MAINTAIN,
) -> Node:
    return Node(
        owner, "step", phase, order, tuple(reads), tuple(adds), tuple(sets), lambda *_: None
    )


def names(nodes: Any, signals: Any = ()) -> list[str]:
    return [n.owner for n in ordered(nodes, signals)]


def test_before_then_set_then_add_then_read_against_registry_order() -> None:
    assert names(
        [
            node("reader", 0, reads=[A]),
            node("adder", 1, adds=[A]),
            node("setter", 2, sets=[A]),
            node("past", 3, reads=[A.before]),
        ]
    ) == ["past", "setter", "adder", "reader"]


def test_steps_without_constraints_are_in_registry_order_then_by_name() -> None:
    assert names([node("c", 2), node("b", 1), node("a", 1)]) == ["a", "b", "c"]


def test_a_structure_orders_like_a_column() -> None:
    assert names(
        [
            node("reader", 0, reads=[GRAPH]),
            node("adder", 1, adds=[GRAPH]),
            node("past", 2, reads=[GRAPH.before]),
        ]
    ) == ["past", "adder", "reader"]


def test_private_structures_order_nothing() -> None:
    assert names([node("a", 0, sets=[RANDOM]), node("b", 1, sets=[RANDOM])]) == ["a", "b"]


def test_readers_of_signals_wait_for_every_signal() -> None:
    nodes = [
        node("fusion", 0, reads=[SIGNALS], sets=[FUSED]),
        node("x", 1, sets=[ONE]),
        node("y", 2, sets=[TWO]),
    ]
    assert names(nodes, (ONE, TWO)) == ["x", "y", "fusion"]


def test_an_absent_stage_passes_its_input_on() -> None:
    answer = node("answer", 0, reads=[RERANKED])
    assert names([answer, node("gather", 1, sets=[MATCH])]) == ["gather", "answer"]
    assert names(
        [answer, node("fusion", 1, reads=[MATCH], sets=[FUSED]), node("gather", 2, sets=[MATCH])]
    ) == ["gather", "fusion", "answer"]


def test_a_stage_comes_after_the_stage_it_starts_from_even_if_it_reads_nothing() -> None:
    nodes = [
        node("answer", 0, reads=[RERANKED]),
        node("prior", 1, adds=[REWEIGHTED]),
        node("fusion", 2, sets=[FUSED]),
        node("gather", 3, sets=[MATCH]),
    ]
    assert names(nodes) == ["gather", "fusion", "prior", "answer"]


def test_what_recall_changes_is_changed_after_the_answer() -> None:
    """A signal that reads the graph and a hook that adds to it after the answer do not form a
    loop.
    """
    nodes = [
        node("learner", 0, reads=[RECALLED], adds=[GRAPH], sets=[ACTIVATION]),
        node("answer", 1, reads=[ONE], sets=[RECALLED]),
        node("spread", 2, reads=[GRAPH, ACTIVATION], sets=[ONE]),
    ]
    assert names(nodes, (ONE,)) == ["spread", "answer", "learner"]


def test_hooks_that_learn_see_the_results_of_other_hooks_that_learn() -> None:
    nodes = [
        node("late", 0, reads=[RECALLED, A]),
        node("early", 1, reads=[RECALLED], sets=[A]),
        node("answer", 2, sets=[RECALLED]),
    ]
    assert names(nodes) == ["answer", "early", "late"]


def test_two_setters_are_named() -> None:
    with pytest.raises(ContractError, match=r"x\.step and y\.step both set a"):
        ordered([node("x", 0, sets=[A]), node("y", 1, sets=[A])])


@pytest.mark.parametrize("length", [2, 3, 6])
def test_a_cycle_names_the_hooks_of_its_loop_and_no_other(length: int) -> None:
    columns = [
        Column(f"c{i}", np.float64, Scope.MEMORY, "1", 0.0, "for the test") for i in range(length)
    ]
    ring = [
        node(f"n{i}", i, reads=[columns[i]], sets=[columns[(i + 1) % length]])
        for i in range(length)
    ]
    bystanders = [
        node("downstream", 90, reads=[columns[0]]),
        node("upstream", 91, sets=[A]),
        node("free", 92),
    ]
    with pytest.raises(ContractError) as caught:
        ordered([*bystanders, *ring])
    path = caught.value.what.partition(": ")[2].split(" -> ")
    assert path[0] == path[-1] and sorted(path[1:]) == [f"n{i}.step" for i in range(length)]
    for here, there in pairwise(path):
        assert int(there[1]) == (int(here[1]) + 1) % length
    assert "before" in caught.value.cure


def test_before_resolves_a_cycle() -> None:
    assert names([node("x", 0, reads=[A.before], sets=[B]), node("y", 1, reads=[B], sets=[A])]) == [
        "x",
        "y",
    ]


COLUMNS = (A, B, C, FACET_WEIGHTS, GRAPH)


@st.composite
def declarations(draw: st.DrawFn) -> list[Node]:
    """Nodes in a valid order: each reads columns of earlier nodes, sets a column without a
    setter, and reads `before` of later ones.
    """
    nodes, unset = [], list(COLUMNS)
    for i in range(draw(st.integers(2, 7))):
        sets = [unset.pop()] if unset and draw(st.booleans()) else []
        past = [Before(c) for c in unset if draw(st.booleans())]
        nodes.append(
            node(
                f"n{i}",
                draw(st.integers(0, 3)),
                reads=[
                    *past,
                    *(
                        c
                        for c in COLUMNS
                        if c not in unset and c not in sets and draw(st.booleans())
                    ),
                ],
                sets=sets,
            )
        )
    return nodes


@given(declarations(), st.randoms(use_true_random=False))
def test_the_order_respects_every_declaration_and_not_the_order_of_the_input(
    nodes: list[Node], random: Any
) -> None:
    result = ordered(nodes)
    assert sorted(n.owner for n in result) == sorted(n.owner for n in nodes)
    for first, second in combinations(result, 2):
        past = {r.of for r in second.reads if isinstance(r, Before)}
        assert not set(second.sets) & first.sees, "a reader before its setter"
        assert not past & set(first.sets), "a reader of `before` after the setter"
    shuffled = list(nodes)
    random.shuffle(shuffled)
    assert [n.owner for n in ordered(shuffled)] == [n.owner for n in result]
