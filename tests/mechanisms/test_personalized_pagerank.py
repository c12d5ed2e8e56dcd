"""Personalized PageRank: compiled and plain kernels agree, and in the engine the signal equals
the dense solution on the memory's graph.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval import personalized_pagerank as papers

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

Build = Callable[..., Engine]
REGISTRY = Registry.read()
TEXTS = (
    "Yesterday Ada met Bo again.",  # 0: Ada, Bo
    "They say Bo moved to Lisbon.",  # 1: Bo, Lisbon
    "In winter Lisbon was warm.",  # 2: Lisbon
    "Nobody wrote to Cleo.",  # 3: Cleo
)
# rows: memories; columns: Ada, Bo, Lisbon, Cleo
MENTIONS = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def pagerank(memory: Engine, query: str) -> np.ndarray:
    memory.retrieve(query)
    return np.array(memory.store.array(papers.PAGERANK), dtype=np.float64)


def filled(build: Build, texts: tuple[str, ...] = TEXTS, **params: object) -> Engine:
    memory = build("personalized_pagerank", params={"personalized_pagerank": params})
    memory.encode_all(Event(100.0 + i, text) for i, text in enumerate(texts))
    return memory


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 0.01])
def test_kernels_compiled_equal_plain(epsilon: float) -> None:
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 17, 60), rng.integers(0, 17, 60).astype(np.int32) - 17
    degree = np.bincount(source, minlength=17).astype(np.int32)
    net = np.cumsum(degree) - degree, degree, target[np.argsort(source, kind="stable")]
    outs = [np.zeros(17), np.zeros(17)]
    reports = [
        k(np.array([-1, -3]), np.array([0.4, 0.6]), *net, 0.7, epsilon, 30, out)
        for k, out in zip((papers.walk, papers.walk.py_func), outs, strict=True)
    ]
    np.testing.assert_allclose(reports[0], reports[1], rtol=1e-12)
    np.testing.assert_allclose(outs[0], outs[1], rtol=1e-12)
    a, b = np.full(12, np.nan, np.float32), np.full(12, np.nan, np.float32)
    net = (*net[:2], rng.integers(0, 12, 60).astype(np.int32))
    papers.passages(outs[0], 5, *net, a)
    papers.passages.py_func(outs[0], 5, *net, b)
    np.testing.assert_allclose(a, b, rtol=1e-6)
    assert papers.specificity(4.0) == papers.specificity.py_func(4.0) == 0.25
    similar, allowed = rng.random(12), rng.random(12) < 0.6
    papers.restarts(similar, allowed, 0.05, outs[0][:12])
    papers.restarts.py_func(similar, allowed, 0.05, outs[1][:12])
    np.testing.assert_array_equal(outs[0], outs[1])


def test_the_signal_is_pagerank_on_the_graph_of_entities(build: Build) -> None:
    got = pagerank(filled(build, epsilon=0.0), "Where do Ada and Bo live?")
    step = (MENTIONS / MENTIONS.sum(axis=0)).T @ (MENTIONS / MENTIONS.sum(axis=1, keepdims=True))
    s = np.array([1.0, 0.5, 0.0, 0.0]) / 1.5  # Ada in one memory, Bo in two
    expected = MENTIONS @ np.linalg.solve(np.eye(4) - 0.5 * step.T, s)
    np.testing.assert_allclose(got[:3] / got[0], expected[:3] / expected[0], rtol=1e-6)
    assert np.isnan(got[3])


def test_a_query_without_known_names_gives_no_signal(build: Build) -> None:
    assert np.isnan(pagerank(filled(build), "Is Zoe well?")).all()


def test_a_rare_name_counts_more_than_a_hub(build: Build) -> None:
    got = pagerank(
        filled(build, (*("Again Ada was late.",) * 9, "Only once Bo came."), epsilon=0.0),
        "Did Ada see Bo?",
    )
    np.testing.assert_allclose(got[9] / got[0], 9.0, rtol=1e-6)


def test_memories_that_start_are_found_without_a_name_of_the_query(build: Build) -> None:
    alone, both = (
        pagerank(filled(build, epsilon=0.0, passages=weight), "Where does Ada live?")
        for weight in (0.0, 0.05)
    )
    assert np.isnan(alone[3]) and (np.isfinite(both).sum() >= 3) and np.nanargmax(both) == 0
    assert abs(np.nansum(both)) < 1.0, "the entities keep a part of the probability"
    assert np.isnan(pagerank(filled(build, passages=0.05), "Where is it warm?")).all(), (
        "nobody is named: another signal decides"
    )


@pytest.mark.parametrize("query", ["Did Zelda go?", "Zelda, Link and Ganon", "?", "\ud800 Bo"])
def test_hipporag_answers_whoever_is_named(query: str) -> None:
    memory = REGISTRY.build(REGISTRY.set("hipporag"))
    engine = Engine(memory, HashingEmbedder(16))
    assert engine.retrieve(query).rows.size == 0
    engine.encode_all(Event(100.0 + i, text) for i, text in enumerate(TEXTS))
    before = engine.digest()
    assert (
        sorted(engine.retrieve(query).rows.tolist()) == [0, 1, 2, 3] and engine.digest() == before
    )
