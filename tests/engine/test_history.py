"""The history of a row: its versions, against a walk through all edges one by one."""

from __future__ import annotations

import tracemalloc

import numpy as np

from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.memory.history import history
from hebbarium.engine.state.graph import EdgeType
from hebbarium.testing.small import by_number, memory


def linked(seed: int, rows: int, edges: int) -> Engine:
    """Edges of all types between rows and entities, some of them dead."""
    rng, m = np.random.default_rng(seed), memory(by_number())
    m.encode_all([Event(float(i), f"number {i}") for i in range(rows)])
    graph = m.assembly.graph
    nodes = [*range(rows), *(~graph.entity(name) for name in ("Ada", "Bo"))]
    for source, target, kind in zip(
        *rng.integers(0, len(nodes), (2, edges)).tolist(),
        rng.integers(0, len(EdgeType), edges).tolist(),
        strict=True,
    ):
        graph.add(nodes[source], nodes[target], EdgeType(kind), 0.0)
    return m


def versions(m: Engine, row: int) -> list[int]:
    """Rows in reach of living VERSION edges, until no edge adds one."""
    graph, found, before = m.graph, {row}, set[int]()
    while found != before:
        before = set(found)
        for edge in range(graph.n_edges):
            ends = {int(graph.source[edge]), int(graph.target[edge])}
            if (
                graph.alive[edge]
                and graph.type[edge] == EdgeType.VERSION
                and min(ends) >= 0
                and ends & found
            ):
                found |= ends
    return sorted(found)


def test_versions_are_the_rows_in_reach_of_living_version_edges() -> None:
    sizes = set()
    for seed in range(12):
        m = linked(seed, 12, 40)
        m.assembly.graph.forget([3])
        assert not m.graph.alive.all() and (m.graph.source < 0).any()
        for row in range(12):
            assert list(history(m, row).versions) == versions(m, row)
            sizes.add(len(versions(m, row)))
    assert len(sizes) > 3, "histories of many lengths were tried"


def test_edges_of_other_types_become_no_numbers_of_python() -> None:
    """Of 20,000 edges, none of them between versions, each of which would take 30 bytes or more."""
    m = memory(by_number())
    m.encode_all([Event(float(i), f"number {i}") for i in range(1000)])
    for source, target in np.random.default_rng(0).integers(0, 1000, (20_000, 2)).tolist():
        m.assembly.graph.add(source, target, EdgeType.SEMANTIC, 0.0)
    edges = m.graph.n_edges
    assert edges > 10_000 and history(m, 3).versions == (3,)
    tracemalloc.start()
    try:
        history(m, 3)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 16 * edges
