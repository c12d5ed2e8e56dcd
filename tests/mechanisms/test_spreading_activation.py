"""Spreading activation: compiled and plain kernels agree, and in the engine entities of the
query find the memories linked to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import EdgeType
from hebbarium.mechanisms.retrieval import spreading_activation as papers
from hebbarium.mechanisms.retrieval import spreading_activation_printed as printed

Build = Callable[..., Engine]
TEXTS = (
    "Yesterday Ada met Bo again.",  # 0: Ada, Bo
    "They say Bo moved to Lisbon.",  # 1: Bo, Lisbon
    "In winter Lisbon was warm.",  # 2: Lisbon
    "Nobody wrote to Cleo.",  # 3: Cleo
)


def filled(build: Build, id: str, texts: tuple[str, ...] = TEXTS, **params: object) -> Engine:
    memory = build(id, params={id: params})
    memory.encode_all(Event(100.0 + i, text) for i, text in enumerate(texts))
    return memory


def signal(memory: Engine, name: str, query: str) -> np.ndarray:
    memory.retrieve(query)
    column = next(c for c in memory.store.columns if c.name == name)
    return np.array(memory.store.array(column), dtype=np.float64)


def random_network(rng: np.random.Generator, rows: int, entities: int) -> tuple[np.ndarray, ...]:
    nodes = rows + entities
    links = [
        (a, b)
        for m in range(rows)
        for e in range(entities)
        if rng.random() < 0.4
        for a, b in ((m, -1 - e), (-1 - e, m))
    ]
    source = np.array([a % nodes for a, _ in links])
    degree = np.bincount(source, minlength=nodes).astype(np.int32)
    pool = np.argsort(source, kind="stable").astype(np.int32)
    target = np.array([b for _, b in links], dtype=np.int32)
    return np.cumsum(degree) - degree, degree, pool, target, rng.uniform(0.5, 2.0, len(links))


@pytest.mark.slow
@pytest.mark.parametrize("limited", [True, False])
@pytest.mark.parametrize("least", [0.0, 0.02])
def test_spread_compiled_equals_plain(limited: bool, least: float) -> None:
    net = random_network(np.random.default_rng(0), 12, 5)
    outs = [np.zeros(17), np.zeros(17)]
    followed = [
        k(np.array([-1, -3]), np.array([0.5, 0.5]), *net, 0.65, 3, limited, least, out)
        for k, out in zip((papers.spread, papers.spread.py_func), outs, strict=True)
    ]
    assert followed[0] == followed[1] > 0
    np.testing.assert_allclose(outs[0], outs[1], rtol=1e-12)


@pytest.mark.slow
def test_other_kernels_compiled_equal_plain() -> None:
    net = random_network(np.random.default_rng(1), 12, 5)
    activation, a, b = (
        np.linspace(0.0, 1.0, 17),
        np.full(12, np.nan, np.float32),
        np.full(12, np.nan, np.float32),
    )
    papers.respond(activation, 0.8, 3.0, 5, *net[:4], net[1] + 2, a)
    papers.respond.py_func(activation, 0.8, 3.0, 5, *net[:4], net[1] + 2, b)
    np.testing.assert_allclose(a, b, rtol=1e-6)
    x, y = np.zeros(17), np.zeros(17)
    counts = [
        k(np.array([-1, -3]), *net, 0.65, 3, 0.1, 9, out)
        for k, out in ((printed.spread, x), (printed.spread.py_func, y))
    ]
    assert counts == [9, 9] and (x > 0).sum() == 9
    np.testing.assert_allclose(x, y, rtol=1e-12)
    assert papers.prominence(1.0) == papers.prominence.py_func(1.0) == 1.0


@pytest.mark.kernels
def test_depth_one_is_the_fan_equation(build: Build) -> None:
    got = signal(
        filled(build, "spreading_activation", depth=1), "spread", "Where do Ada and Bo live?"
    )
    strongest = math.log(len(TEXTS) + 1) + 0.1
    ada, bo = strongest - math.log(2), strongest - math.log(3)
    np.testing.assert_allclose(got[:2], [0.5 * ada + 0.5 * bo, 0.5 * bo], rtol=1e-6)
    assert np.isnan(got[2:]).all()


@pytest.mark.kernels
def test_a_second_step_reaches_memories_that_the_query_does_not_name(build: Build) -> None:
    got = signal(filled(build, "spreading_activation"), "spread", "Is Bo well?")
    # 0 and 1 mention Bo, 2 shares Lisbon with 1
    assert min(got[0], got[1]) > got[2] > 0.0
    assert np.isnan(got[3])
    assert np.isnan(signal(filled(build, "spreading_activation"), "spread", "Is Zoe well?")).all()


def test_a_frequent_name_counts_less_than_a_rare_one(build: Build) -> None:
    texts = (*("Again Ada was late.",) * 9, "Only once Bo came.")
    got = signal(filled(build, "spreading_activation", texts), "spread", "Did Ada see Bo?")
    assert got[9] > got[0] > 0.0


def test_links_are_as_strong_as_the_entity_is_prominent(build: Build) -> None:
    memory = filled(build, "spreading_activation", ("They know Ada and Bo and Ada.",))
    graph, strength = memory.store.graph, memory.store.array(papers.ASSOCIATION)
    for name, mentions in (("ada", 2), ("bo", 1)):
        node = -1 - graph.entity_id(name)
        for edge in (graph.find(0, node, EdgeType.ENTITY), graph.find(node, 0, EdgeType.ENTITY)):
            assert strength[edge] == pytest.approx(1.0 + math.log(mentions))


@pytest.mark.kernels
def test_printed_form_reaches_direct_memories_only(build: Build) -> None:
    got = signal(filled(build, "spreading_activation_printed"), "spread_printed", "Is Bo well?")
    np.testing.assert_allclose(got[:2], [0.65, 0.65], rtol=1e-6)
    assert np.isnan(got[2:]).all()  # 0.65^6 is below the threshold
