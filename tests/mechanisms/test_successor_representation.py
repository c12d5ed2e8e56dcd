"""successor_representation: compiled and plain kernels agree; in the engine it predicts
successors, and the printed form counts both directions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import NEED
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import EdgeType, Graph, entity_node
from hebbarium.mechanisms.retrieval import successor_representation as papers
from hebbarium.mechanisms.retrieval import successor_representation_printed as printed

Build = Callable[..., Engine]
STORY = ("Then Ada rang.", "it was raining", "Then Bo came.", "Then Cleo sang.")


def random_rows(rng: np.random.Generator, nodes: int) -> tuple[np.ndarray, ...]:
    links = [(a, b) for a in range(nodes) for b in range(nodes) if a == b or rng.random() < 0.4]
    degree = np.bincount([a for a, _ in links], minlength=nodes)
    return (
        np.cumsum(degree) - degree,
        degree,
        np.arange(len(links)),
        np.array([b for _, b in links]),
        rng.random(len(links)),
    )


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    net = random_rows(np.random.default_rng(0), 9)
    states = np.array([2, 5, 7])
    nodes, values = papers.expected_row(states, *net)
    for a, b in zip((nodes, values), papers.expected_row.py_func(states, *net), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)
    weights = [net[-1].copy(), net[-1].copy()]
    missing = [
        k(3, nodes, values, 0.2, 0.9, *net[:4], w)
        for k, w in zip((papers.update, papers.update.py_func), weights, strict=True)
    ]
    np.testing.assert_allclose(missing[0], missing[1], rtol=1e-13)
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-13)
    for kernel, arguments in (
        (papers.visits, (states, nodes, values, *net[:2], net[3], net[1] + 1)),
        (printed.associates, (states, *net)),
    ):
        a, b = np.full(9, np.nan), np.full(9, np.nan)
        kernel(*arguments, a)
        kernel.py_func(*arguments, b)
        np.testing.assert_allclose(a, b, rtol=1e-13)


def filled(build: Build, id: str = "successor_representation", **params: object) -> Engine:
    memory = build(id, params={id: params})
    memory.encode_all(
        Event(24.0 * r + i / 60.0, text, session=f"s{r}")
        for r in range(4)
        for i, text in enumerate(STORY)
    )
    return memory


def weight(memory: Engine, one: str, other: str) -> float:
    graph = memory.store.graph
    edge = graph.find(
        *(entity_node(graph.entity_id(name)) for name in (one, other)), EdgeType.COACCESS
    )
    return 0.0 if edge is None else float(graph.column(papers.SUCCESSOR.name)[edge])


@pytest.mark.kernels
def test_rows_follow_the_order_within_sessions_and_not_across_them(build: Build) -> None:
    memory = filled(build, alpha=1.0, least=0.0)
    assert [
        weight(memory, *pair) for pair in (("ada", "bo"), ("bo", "cleo"), ("ada", "cleo"))
    ] == pytest.approx([0.9, 0.9, 0.81])
    assert [weight(memory, *pair) for pair in (("bo", "ada"), ("cleo", "bo"), ("cleo", "ada"))] == [
        0.0,
        0.0,
        0.0,
    ]


@pytest.mark.kernels
def test_a_query_ranks_the_following_memories_higher(build: Build) -> None:
    memory = filled(build)
    before = memory.digest()
    memory.retrieve("Where is Bo?")
    visits = memory.store.array(papers.SUCCESSION).reshape(4, 4)
    assert np.isnan(visits[:, :3]).all() and (visits[:, 3] > 0.0).all()
    memory.retrieve("Where is Zoe?")
    assert np.isnan(memory.store.array(papers.SUCCESSION)).all()
    assert memory.digest() == before


def test_the_visits_are_shared_among_the_memories_of_an_entity(build: Build) -> None:
    memory = filled(build, alpha=1.0, discount=0.5, least=0.0)
    memory.retrieve("Where is Bo?")
    assert np.nansum(memory.store.array(papers.SUCCESSION)) == pytest.approx(0.5, rel=1e-6)


def test_small_entries_are_dropped() -> None:
    graph = Graph()
    graph.allocate(papers.SUCCESSOR.name, np.float64, (), 0.0)
    papers.experience(graph, [0], [1], 0.1, 0.9, 0.05, 1.0)
    assert graph.find(0, 1, EdgeType.COACCESS) is not None
    for _ in range(20):
        papers.experience(graph, [0], [2], 0.1, 0.9, 0.05, 1.0)
    assert (
        graph.find(0, 1, EdgeType.COACCESS) is None
        and graph.find(0, 2, EdgeType.COACCESS) is not None
    )


def test_the_printed_form_learns_from_recall_and_both_ways(build: Build) -> None:
    memory = build("lexical_bm25", "successor_representation_printed")
    memory.encode_all(Event(i / 60.0, text) for i, text in enumerate(STORY))
    memory.retrieve("Did Ada and Cleo sing?", k=2)
    assert memory.store.graph.find(0, 3, EdgeType.COACCESS) is None
    memory.retrieve("Did Ada and Cleo sing?", k=2, learn=True)
    graph = memory.store.graph
    counts = [
        graph.column(printed.COACCESS_COUNT.name)[graph.find(a, b, EdgeType.COACCESS)]
        for a, b in ((0, 3), (3, 0))
    ]
    assert counts == [1.0, 1.0]
    memory.retrieve("Did Ada ring?")
    assert memory.store.array(printed.COACCESSED)[3] >= 1.0


def test_need_is_what_the_learnt_rows_expect_of_every_memory(build: Build) -> None:
    memory = filled(build)
    memory.advance(memory.now + 24.0)
    graph, names = memory.store.graph, ("then", "ada", "bo", "cleo")
    names = tuple(n for n in names if graph.entity_id(n) is not None)
    m = np.array([[weight(memory, a, b) for b in names] for a in names])
    said = [
        [
            n
            for n in names
            if n.capitalize() in STORY[i % 4]
            and (n != "then" or graph.entity_id("then") is not None)
        ]
        for i in range(16)
    ]
    fans = {n: sum(n in s for s in said) for n in names}
    present = m[[names.index(n) for n in said[-1]]].mean(axis=0)
    expected = [sum(present[names.index(n)] / fans[n] for n in s) for s in said]
    np.testing.assert_allclose(memory.store.array(NEED), expected, rtol=1e-9)
    assert max(expected) > 0.0
