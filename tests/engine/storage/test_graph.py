"""The graph against networkx on random histories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import ContractError, InputError, SnapshotError
from hebbarium.engine.state.graph import EdgeType, Graph, drop, entity_node, gather

NODES = st.sampled_from([-4, -1, 0, 1, 2, 6])  # few nodes and types: blocks fill, edges repeat
TYPES = st.sampled_from([EdgeType.TEMPORAL, EdgeType.COACCESS])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), NODES, NODES, TYPES),
        st.tuples(st.just("remove"), st.integers(0, 10**6)),
    ),
    max_size=80,
)


def play(
    graph: Graph, steps: list, oracle: nx.MultiDiGraph | None = None, time: float = 0.0
) -> None:
    """The same history for the graph and for networkx; keys of networkx's edges are (type, id)."""
    for step in steps:
        time += 1.0
        if step[0] == "remove":
            if graph.n_edges:
                edge = step[1] % graph.n_edges
                graph.remove(edge)
                if oracle is not None:
                    oracle.remove_edges_from(
                        [(s, t, k) for s, t, k in oracle.edges(keys=True) if k[1] == edge]
                    )
            continue
        _, source, target, kind = step
        edge = graph.add(source, target, kind, time)
        if oracle is None:
            continue
        same = [k for k in (oracle.get_edge_data(source, target) or {}) if k[0] == kind]
        if same:
            assert edge == same[0][1]
            continue
        assert edge == graph.n_edges - 1
        oracle.add_edge(source, target, (kind, edge), created=time)


def new() -> Graph:
    graph = Graph()
    for name in "abcd":
        graph.entity(name)
    return graph


def same(one: Graph, two: Graph) -> None:
    a, b = one.state(), two.state()
    assert list(a) == list(b)
    for key in a:
        if isinstance(a[key], list):
            assert a[key] == b[key]
        else:
            assert (
                a[key].dtype == b[key].dtype
                and a[key].shape == b[key].shape
                and a[key].tobytes() == b[key].tobytes()
            )
    for kind in EdgeType:
        for node in range(-one.n_entities, one.n_rows):
            assert one.neighbours(node, kind).tolist() == two.neighbours(node, kind).tolist()


@given(STEPS)
def test_random_history_equals_networkx(steps: list) -> None:
    graph, oracle = new(), nx.MultiDiGraph()
    play(graph, steps, oracle)
    live = {
        k[1]: (s, t, k[0], data["created"]) for s, t, k, data in oracle.edges(keys=True, data=True)
    }
    assert np.flatnonzero(graph.alive).tolist() == sorted(live)
    for edge, (source, target, kind, created) in live.items():
        assert (graph.source[edge], graph.target[edge], graph.type[edge], graph.created[edge]) == (
            source,
            target,
            kind,
            created,
        )
        assert graph.find(source, target, kind) == edge
    for kind in EdgeType:
        start, degree, pool = graph.csr(kind)
        for node in range(-4, graph.n_rows):
            expected = sorted(edge for edge, (s, _, k, _) in live.items() if (s, k) == (node, kind))
            assert graph.neighbours(node, kind).tolist() == expected
            assert pool[start[node] : start[node] + degree[node]].tolist() == expected
            assert graph.links(kind).ends[start[node] : start[node] + degree[node]].tolist() == [
                live[edge][1] for edge in expected
            ]


@given(STEPS, STEPS)
def test_a_restored_graph_continues_as_the_original_does(before: list, after: list) -> None:
    graph = new()
    graph.allocate("weight", np.float32, (), np.nan)
    graph.allocate("trace", np.float64, (2,), [1.0, -1.0])
    play(graph, before)
    graph.column("weight")[::2] = 3.0
    graph.cover_rows(9)
    loaded = Graph.from_state(graph.state())
    same(graph, loaded)
    for g in (graph, loaded):
        play(g, after, time=500.0)
        g.entity("new")
        g.allocate("weight", np.float32, (), np.nan)
    same(graph, loaded)
    assert loaded.n_rows == graph.n_rows


def test_growth_moves_arrays_only_with_the_epoch() -> None:
    rng, graph = np.random.default_rng(1), new()
    graph.allocate("weight", np.float64, (), 0.5)

    def arrays() -> tuple[Any, ...]:
        return (
            *graph.csr(EdgeType.SEMANTIC),
            *graph.links(EdgeType.SEMANTIC),
            graph._edges["weight"],
            graph._edges["target"],
        )

    epoch, kept, edges = graph.epoch, arrays(), dict[tuple[int, int], int]()
    for step in range(5000):
        source, target = (int(x) for x in rng.integers(-4, 400, 2))
        edges.setdefault((source, target), len(edges))
        assert graph.add(source, target, EdgeType.SEMANTIC) == edges[source, target]
        now = arrays()
        if graph.epoch == epoch:
            assert all(
                np.shares_memory(a, b) and a.shape == b.shape
                for a, b in zip(kept, now, strict=True)
            ), step
        epoch, kept = graph.epoch, now
    assert graph.n_edges == len(edges) and epoch < 40
    assert np.all(graph.column("weight") == 0.5) and graph.column("weight").shape == (len(edges),)
    assert len(kept[2]) <= 8 * len(edges)


def test_views_are_of_the_first_m_edges_and_read_only() -> None:
    graph = new()
    graph.add(0, 1, EdgeType.TEMPORAL, 2.0)
    for view, dtype in (
        (graph.source, np.int32),
        (graph.target, np.int32),
        (graph.type, np.uint8),
        (graph.alive, np.bool_),
        (graph.created, np.float64),
        (graph.neighbours(0, EdgeType.TEMPORAL), np.int32),
    ):
        assert view.shape == (1,) and view.dtype == dtype and not view.flags.writeable
    assert np.shares_memory(graph.source, graph._edges["source"])
    graph.remove(0)
    graph.remove(0)
    assert (
        not graph.alive[0] and graph.target[0] == 1 and graph.find(0, 1, EdgeType.TEMPORAL) is None
    )
    assert graph.add(0, 1, EdgeType.TEMPORAL) == 1  # a tombstone is never used again


@pytest.mark.parametrize("run", [gather, gather.py_func], ids=["jitted", "python"])
def test_gather(run: Callable[..., Any]) -> None:
    graph = new()
    for target in (3, 1, entity_node(2)):
        graph.add(0, target, EdgeType.ENTITY)
    graph.add(entity_node(2), 0, EdgeType.ENTITY)
    out = np.full(5, -7, np.int32)
    nodes = np.array([entity_node(2), 2, 0], np.int32)
    assert run(nodes, *graph.csr(EdgeType.ENTITY), out) == 4
    assert out.tolist() == [3, 0, 1, 2, -7]
    short = np.full(2, -7, np.int32)
    assert run(nodes, *graph.csr(EdgeType.ENTITY), short) == 4 and short.tolist() == [3, 0]


@pytest.mark.parametrize("run", [drop, drop.py_func], ids=["jitted", "python"])
@pytest.mark.parametrize("edge", [4, 6, 8, 5])
def test_drop(run: Callable[..., Any], edge: int) -> None:
    pool, ends = np.array([1, 4, 6, 8, 2], np.int32), np.array([10, 40, 60, 80, 20], np.int32)
    rest = [e for e in (4, 6, 8) if e != edge]
    assert run(pool, ends, 1, 3, edge) == (edge in (4, 6, 8))
    assert pool[1 : 1 + len(rest)].tolist() == rest and pool[0] == 1 and pool[4] == 2
    assert (
        ends[1 : 1 + len(rest)].tolist() == [10 * e for e in rest]
        and ends[0] == 10
        and ends[4] == 20
    )


def test_entities() -> None:
    graph, names = Graph(), [f"e{i}" for i in range(500)]
    assert (
        [graph.entity(name) for name in names]
        == list(range(500))
        == [graph.entity(name) for name in names]
    )
    assert (
        graph.n_entities == 500
        and graph.entity_id("e7") == 7
        and graph.entity_id("no") is None
        and graph.entity_name(7) == "e7"
    )
    for e in range(500):
        graph.add(entity_node(e), e, EdgeType.ENTITY)
        graph.add(e, entity_node(e), EdgeType.ENTITY)
    assert all(
        graph.neighbours(entity_node(e), EdgeType.ENTITY).tolist() == [2 * e] for e in range(500)
    )
    with pytest.raises(InputError):
        graph.entity_name(500)


def test_invalid_input_leaves_the_state_unchanged() -> None:
    graph = new()
    graph.add(0, 1, EdgeType.SEMANTIC)
    before = new()
    before.add(0, 1, EdgeType.SEMANTIC)
    for source, target, kind in ((0, -5, 0), (-5, 0, 0), (2**31, 0, 0), (0, 2, 8), (0, 2, -1)):
        with pytest.raises(InputError):
            graph.add(source, target, kind)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        graph.add(0, 2, EdgeType.SEMANTIC, "soon")  # type: ignore[arg-type]
    for edge in (-1, 1):
        with pytest.raises(InputError):
            graph.remove(edge)
    same(graph, before)
    assert (
        graph.neighbours(77, EdgeType.SEMANTIC).size
        == graph.neighbours(-77, EdgeType.SEMANTIC).size
        == 0
    )


def test_columns_are_declared_once() -> None:
    graph = new()
    graph.allocate("weight", np.float64, (), 1.0)
    graph.allocate("weight", np.float64, (), 1.0)
    for name, dtype, shape, neutral in (
        ("weight", np.float32, (), 1.0),
        ("weight", np.float64, (1,), 1.0),
        ("weight", np.float64, (), 0.0),
        ("alive", bool, (), False),
    ):
        with pytest.raises(ContractError):
            graph.allocate(name, dtype, shape, neutral)
    with pytest.raises(ContractError):
        graph.column("none")


@pytest.mark.parametrize(("key", "value"), [("target", np.array([99, 1], np.int32)), ("type",
    np.array([9, 0], np.uint8)),
                                            ("alive", np.array([True])), ("source", np.array([-9,
                                            0], np.int32)),
                                            ("entities", ["a", "a"]), ("caps", np.array([1])),
                                            ("caps", np.full(8, 3))])  # fmt: skip
def test_an_unsound_state_is_refused(key: str, value: object) -> None:
    graph = new()
    graph.add(0, 1, EdgeType.SEMANTIC)
    graph.add(1, 0, EdgeType.SEMANTIC)
    state = graph.state()
    with pytest.raises(SnapshotError):
        Graph.from_state({**state, key: value})  # type: ignore[dict-item]
    with pytest.raises(SnapshotError):
        Graph.from_state({k: v for k, v in state.items() if k != key})


def test_forgetting_removes_the_edges_of_nodes_and_the_names_that_nothing_else_holds() -> None:
    graph = Graph()
    graph.allocate("weight", np.float64, (), 0.5)
    kept, gone = entity_node(graph.entity("Ada")), entity_node(graph.entity("secret"))
    edges = [
        graph.add(0, kept, EdgeType.ENTITY),
        graph.add(1, kept, EdgeType.ENTITY),
        graph.add(1, gone, EdgeType.ENTITY),
        graph.add(gone, 1, EdgeType.ENTITY),
        graph.add(2, 1, EdgeType.SEMANTIC),
        graph.add(2, 0, EdgeType.CONFLICT),
    ]
    graph.column("weight")[:] = 2.0
    graph.forget([1])
    assert graph.alive.tolist() == [True, False, False, False, False, True]
    assert graph.column("weight").tolist() == [2.0, 0.5, 0.5, 0.5, 0.5, 2.0] and len(edges) == 6
    assert (
        graph.entity_id("Ada") == 0
        and graph.entity_id("secret") is None
        and "secret" not in graph.entity_name(1)
    )
    again = Graph.from_state(graph.state())
    assert again.entity_name(1) == graph.entity_name(1) and again.entity(
        "secret"
    ) == 2 == graph.entity("secret")
    graph.forget([])
    assert graph.alive.tolist() == [True, False, False, False, False, True]


@pytest.mark.parametrize("value", [0.0, -0.0, 3.0])
@pytest.mark.parametrize("neutral", [0.0, -0.0, 1.5, np.nan])
def test_a_restored_column_keeps_its_cells_and_gives_new_edges_its_neutral_value(
    neutral: float, value: float
) -> None:
    """Bit for bit, also where the file holds one cell for all edges, and after the arrays have
    grown.
    """
    graph = Graph()
    graph.allocate("trace", np.dtype(np.float64), (2,), neutral)
    graph.cover_rows(40)
    for row in range(1, 9):
        graph.add(0, row, EdgeType.TEMPORAL, float(row))
    state = {**graph.state(), "column:trace": np.broadcast_to(np.full(2, value), (8, 2))}
    again = Graph.from_state(state)
    for source in range(1, 20):
        for target in range(20, 40):
            again.add(source, target, EdgeType.TEMPORAL, 9.0)
    expected = np.concatenate([np.full((8, 2), value), np.full((19 * 20, 2), neutral)])
    assert again.column("trace").tobytes() == expected.tobytes()
