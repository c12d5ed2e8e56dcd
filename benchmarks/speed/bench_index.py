"""Speed of the vector index and of the graph, outside a memory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, cycle
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.state.graph import EdgeType, Graph, gather
from hebbarium.engine.state.vectors import VectorIndex

DIMENSIONS, SIZES = 384, sizes(1_000, 10_000, 100_000)


@pytest.fixture(scope="module")
def rows() -> np.ndarray[Any, np.dtype[np.float32]]:
    """Random unit vectors."""
    drawn = np.random.default_rng(5).standard_normal((max(SIZES), DIMENSIONS), np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


@pytest.mark.parametrize("n", SIZES)
def test_add(clock: Any, rows: Any, n: int) -> None:
    """One vector at a time, into an empty index, growth included; times are per vector."""

    def fill() -> None:
        index = VectorIndex(DIMENSIONS)
        for row in rows[:n]:
            index.add(row)

    clock(fill, 3, per=n, warmup=1)


@pytest.mark.parametrize("share", (1.0, 0.5))
@pytest.mark.parametrize("n", SIZES)
def test_search(clock: Any, rows: Any, n: int, share: float) -> None:
    """The fifty nearest to one vector after another, with some rows archived; the reference
    scores all rows, without selector and heap.
    """
    # an answer is kept for one vector, and the products of eight
    index, out, queries = VectorIndex(DIMENSIONS), np.empty(n, np.float32), cycle(rows[:17].copy())
    index.add_many(rows[:n], np.arange(n) % 10 < 10 * share)
    clock(
        lambda: index.search(next(queries), 50),
        48,
        reference=lambda: index.scores(next(queries), out),
        against="scores of all rows",
    )


def linked(m: int) -> tuple[Graph, list[list[int]]]:
    """A graph of m edges between m / 10 rows, and their ends."""
    graph, ends = Graph(), np.random.default_rng(m).integers(0, m // 10, (m, 2)).tolist()
    for source, target in ends:
        graph.add(source, target, EdgeType.SEMANTIC)
    return graph, ends


@pytest.mark.parametrize("m", sizes(1_000, 100_000))
def test_edge(clock: Any, m: int) -> None:
    """One more edge, from a new row."""
    graph, rows = linked(m)[0], count(m)
    clock(lambda: graph.add(next(rows), 0, EdgeType.SEMANTIC), 1_000)


@pytest.mark.parametrize("m", sizes(1_000, 100_000))
def test_restore(clock: Any, m: int) -> None:
    """A graph from its saved state; times are per edge."""
    state = linked(m)[0].state()
    clock(lambda: Graph.from_state(state), 3, per=m, warmup=1)


@pytest.mark.parametrize("m", sizes(1_000, 100_000))
def test_gather(clock: Any, m: int) -> None:
    """The out-edges of a hundred nodes."""
    graph = linked(m)[0]
    nodes, out, adjacency = (
        np.arange(100, dtype=np.int32),
        np.empty(4096, np.int32),
        graph.csr(EdgeType.SEMANTIC),
    )
    call: Callable[[], object] = lambda: gather(nodes, *adjacency, out)  # noqa: E731
    clock(call, 200)
