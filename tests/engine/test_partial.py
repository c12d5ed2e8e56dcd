"""Some rows of a store, against the whole store and plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tiers import slow_unless

import hebbarium as hb
from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.ask import Ask
from hebbarium.engine.contract.columns import Column, Phase, Scope, Signal, Structure
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import (
    CREATED,
    GRAPH,
    INDEX,
    RECALLED,
    STANDS_FOR,
    VETO,
    VISIBLE,
    WRITINGS,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.scale.partial import PartialGraph, PartialStore
from hebbarium.engine.scale.shortlist import Shortlist
from hebbarium.engine.state.graph import EdgeType, Graph, entity_node
from hebbarium.testing.conformance import talk


def drawn_graph(seed: int, rows: int = 30, entities: int = 7) -> Graph:
    """A graph with edges of all types between rows and entities, and tombstones."""
    rng, graph = np.random.default_rng(seed), Graph()
    graph.allocate("weight", np.float64, (), 0.5)
    graph.cover_rows(rows)
    names = [graph.entity(f"e{i}") for i in range(entities)]
    nodes = [*range(rows), *map(entity_node, names)]
    for _ in range(600):
        edge = graph.add(
            int(rng.choice(nodes)),
            int(rng.choice(nodes)),
            EdgeType(int(rng.integers(8))),
            float(rng.integers(100)),
        )
        graph.column("weight")[edge] = rng.random()
    for edge in rng.choice(graph.n_edges, 60, replace=False):
        graph.remove(int(edge))
    return graph


def shown(graph: Graph, rows: Sequence[int]) -> PartialGraph:
    place = np.full(40, -1, np.int32)
    place[list(rows)] = np.arange(len(rows))
    found = PartialGraph(graph)
    # another first
    found.show(
        np.array([1, 5, 6], np.int64),
        np.where(np.isin(np.arange(40), [1, 5, 6]), np.arange(40) % 3, -1).astype(np.int32),
    )
    found.show(np.array(rows, np.int64), place)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_partial_graph_has_the_live_edges_among_its_rows_and_the_entities_that_they_name(
    seed: int,
) -> None:
    graph, rows = (
        drawn_graph(seed),
        sorted(np.random.default_rng(seed).choice(30, 11, replace=False).tolist()),
    )
    part, new = shown(graph, rows), {row: i for i, row in enumerate(rows)}
    edges = list(
        zip(
            graph.source.tolist(),
            graph.target.tolist(),
            graph.type.tolist(),
            graph.created.tolist(),
            graph.column("weight").tolist(),
            strict=True,
        )
    )
    live = [edge for edge, alive in zip(edges, graph.alive, strict=True) if alive]
    named = {target for source, target, *_ in live if source in new and target < 0}
    wanted = {
        (new.get(s, s), new.get(t, t), *rest)
        for s, t, *rest in live
        if (s in new or s in named) and (t in new or t in named)
    }
    found = set(
        zip(
            *(
                part.column(name).tolist()
                for name in ("source", "target", "type", "created", "weight")
            ),
            strict=True,
        )
    )
    assert found == wanted and part.n_edges == len(wanted) and part.alive.all()
    assert len({edge[0] for edge in wanted}) > 8 and (part.n_rows, part.n_entities) == (11, 7)


@pytest.mark.parametrize("seed", range(4))
def test_blocks_of_a_partial_graph_are_those_of_the_whole_without_the_rows_left_out(
    seed: int,
) -> None:
    graph, rows = (
        drawn_graph(seed),
        sorted(np.random.default_rng(seed).choice(30, 11, replace=False).tolist()),
    )
    part, new = shown(graph, rows), {row: i for i, row in enumerate(rows)}
    new |= {
        node: node
        for node in {
            t
            for r in rows
            for k in EdgeType
            for t in graph.target[graph.neighbours(r, k)].tolist()
            if t < 0
        }
    }
    nodes = [(row, new[row]) for row in rows] + [
        (node, node) for node in map(entity_node, range(7)) if (part.source == node).any()
    ]
    for kind in EdgeType:
        csr, links = part.csr(kind), part.links(kind)
        for old, node in nodes:
            wanted = [
                new[t] for t in graph.target[graph.neighbours(old, kind)].tolist() if t in new
            ]
            edges = part.neighbours(node, kind)
            # also to rows that are not shown
            assert part.fan(kind)[node] == graph.fan(kind)[old] == len(graph.neighbours(old, kind))
            assert part.target[edges].tolist() == wanted  # oldest first
            assert (
                csr.pool[csr.start[node] : csr.start[node] + csr.degree[node]].tolist()
                == edges.tolist()
            )
            assert (
                links.ends[links.start[node] : links.start[node] + links.degree[node]].tolist()
                == wanted
            )
            for target in range(-7, 11):
                found = part.find(node, target, kind)
                assert (found is None) == (target not in wanted)
                assert found is None or (
                    part.source[found],
                    part.target[found],
                    part.type[found],
                ) == (node, target, kind)
    assert (
        not len(part.neighbours(11, EdgeType.ENTITY)) and part.find(12, 0, EdgeType.ENTITY) is None
    )


def test_an_interrupted_copy_of_edges_leaves_no_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = drawn_graph(5)
    part, expected = shown(graph, [2, 9, 11]), shown(graph, [1, 3])

    def interrupted(*_: Any) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("hebbarium.engine.scale.partial._copied", interrupted)
        with pytest.raises(KeyboardInterrupt):
            part.show(np.array([4, 5, 6, 7]), np.full(80, -1, np.int32))
    place = np.full(80, -1, np.int32)
    place[[1, 3]] = 0, 1
    part.show(np.array([1, 3]), place)
    assert part.n_edges == expected.n_edges
    for name in ("source", "target", "type"):
        assert part.column(name).tolist() == expected.column(name).tolist()


def test_a_partial_graph_shows_rows_that_came_since(registry: Registry) -> None:
    graph = drawn_graph(5)
    part, rows = shown(graph, [2, 9, 11]), np.array([2, 9, 45])
    graph.add(45, 2, EdgeType.VERSION, 7.0)
    graph.add(45, entity_node(3), EdgeType.ENTITY, 7.0)
    place = np.full(80, -1, np.int32)
    place[rows] = np.arange(3)
    part.show(rows, place)
    assert (
        part.target[part.neighbours(2, EdgeType.VERSION)].tolist() == [0]
        and part.find(2, entity_node(3), EdgeType.ENTITY) is not None
    )


def engine(
    registry: Registry, name: str, without: Sequence[str] = (), depth: int | None = None
) -> Engine:
    """A memory of 160 events, which no gate rejects, after questions that learnt: all of its
    questions are asked of the whole, since it is small.
    """
    gates = [
        m.id
        for m in registry.build(registry.set(name))
        if any(VETO in h.adds for h in type(m).hooks())
    ]
    chosen = (
        registry.set(name)
        .without([*gates, *without])
        .overridden({"spreading_activation": {"depth": depth}} if depth else {})
    )
    memory = Engine(registry.build(chosen), HashingEmbedder(64), shortlist=256)
    events = conversation(160)
    memory.encode_all(events)
    for event in events[::40]:
        memory.use(memory.retrieve(Query(event.text, session=event.session)), (5, 10, 20))
    assert memory.store.n >= 160
    return memory


def conversation(n: int) -> list[Event]:
    """Events in other words each, so that gates admit them."""
    rng, words = np.random.default_rng(5), ("garden", "river", "violin", "kitchen", "letter",
                                            "train", "market", "winter", "painting", "doctor")  # fmt: skip
    return [
        replace(
            event,
            text=f"{event.text}. The {' and the '.join(rng.choice(words, 3, replace=False))}, {int(rng.integers(9999))} times?",
        )
        for event in talk(n)
    ]


def asked(
    memory: Engine, rows: np.ndarray, text: str
) -> tuple[Shortlist, dict[Column, Any], dict[Column, Any]]:
    """Columns of candidates of a question to the whole memory, at some rows, and to these rows
    alone.
    """
    short, cue = memory.assembly.shortlist, memory.answering.asked(text).cue
    assert short is not None
    memory.retrieve(text)
    columns = [
        c
        for step in short.plan.steps
        for c in (*step.node.sets, *step.node.adds)
        if isinstance(c, Column) and c.scope is Scope.CANDIDATE and c is not STANDS_FOR
    ]
    whole = {c: memory.store.array(c)[rows].copy() for c in columns}
    short._stand_for = memory.store.array(VISIBLE)[rows].astype(np.float32)
    short.store.show(rows)
    short.plan.run(Ask(cue))
    return short, whole, {c: short.store.array(c).copy() for c in columns}


SETS = ("minimal", "hybrid", "default", "everything", "cortex", "true_memory", "all_mem", "in_use")


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_all_rows_shown_are_the_whole_memory(registry: Registry, name: str) -> None:
    memory = engine(registry, name)
    for text in (
        "what did Ada say about the garden",
        "when did we move",
        conversation(160)[7].text,
    ):
        short, whole, part = asked(memory, np.arange(memory.store.n), text)
        for column in whole:
            np.testing.assert_allclose(
                part[column], whole[column], rtol=2e-5, atol=2e-6, err_msg=column.name
            )
        assert short.answered[0].tolist() == memory.retrieve(text, 10).rows.tolist()


EVERY = sorted(Registry.read().sets)


@pytest.mark.parametrize("name", slow_unless({"minimal"}, EVERY))
def test_every_set_can_be_asked_in_part(registry: Registry, name: str) -> None:
    memory = engine(registry, name)
    rows = np.sort(np.random.default_rng(1).choice(memory.store.n, 60, replace=False))
    for text in ("What is Ada like?", "when did we move", "who painted in Lisbon with Bo?"):
        short, _, part = asked(memory, rows, text)
        assert (
            set(short.answered[0].tolist()) <= set(rows.tolist()) and len(short.answered[0]) == 10
        )
        assert all(len(values) == 60 for values in part.values())


def test_sources_of_writings_are_the_rows_shown() -> None:
    with hb.memory("bm25", embedding="hashing:64", shortlist=64) as memory:
        memory.encode_all(conversation(12))
        memory.event_log.writings.add("about all", "profile", "test", (2, 5, 9))
        assert memory.assembly.shortlist is not None
        part = PartialStore(memory.store, 8)
        part.receive((WRITINGS,))
        part.show(np.array([1, 5, 9, 10]))
        assert part.structures[WRITINGS][0].sources == (1, 2) and [
            each.sources for each in part.structures[WRITINGS]
        ] == [(1, 2)]
        assert (
            memory.event_log.writings[0].sources == (2, 5, 9)
            and len(part.structures[WRITINGS]) == 1
        )


def links_apart(registry: Registry, name: str) -> list[str]:
    """Mechanisms of a set that follow links in a question: with fewer rows they find fewer ways."""
    return [
        m.id
        for m in registry.build(registry.set(name))
        for h in type(m).hooks()
        if h.phase is Phase.RETRIEVE and GRAPH in (*h.reads, *h.adds)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_direct_signals_of_rows_are_those_of_a_memory_whose_other_rows_are_hidden(
    registry: Registry, name: str
) -> None:
    memory = engine(registry, name, links_apart(registry, name))
    n = memory.store.n
    hidden = np.flatnonzero(np.arange(n) % 5 == 3)
    for row in hidden.tolist():
        memory.store.array(VISIBLE)[row] = False
        memory.assembly.index.archive(row)
    rows = np.setdiff1d(np.arange(n), hidden)
    signals = 0
    for text in (
        "what did Ada say about the garden",
        "when did we move",
        conversation(160)[7].text,
    ):
        _, whole, part = asked(memory, rows, text)
        for column in whole:
            if isinstance(column, Signal) and column.direct:
                signals += bool(np.isfinite(whole[column]).any())
                np.testing.assert_allclose(
                    part[column], whole[column], rtol=2e-5, atol=2e-6, err_msg=column.name
                )
    assert signals >= 3


def test_activation_by_the_fan_of_a_name_is_that_of_the_whole_memory(registry: Registry) -> None:
    """The fan and the number of events are those of all rows, also where only some are shown."""
    memory = engine(registry, "minimal", depth=1)
    rows = np.arange(0, memory.store.n, 3)
    for text in ("what did Ada say about the garden", "did Ada meet Bo in Lisbon"):
        _, whole, part = asked(memory, rows, text)
        spread = next(c for c in whole if c.name == "spread")
        assert np.isfinite(whole[spread]).sum() >= 5
        np.testing.assert_allclose(part[spread], whole[spread], rtol=1e-6)


def test_columns_of_row_numbers_hold_the_new_ones(registry: Registry) -> None:
    memory = engine(registry, "default")
    rows = np.array([3, 5, 10, 25, 40])
    short, *_ = asked(memory, rows, "what did Ada say")
    place = {row: i for i, row in enumerate(rows.tolist())} | {-1: -1}
    numbered = [
        c
        for c in memory.store.columns
        if c.upkeep.rows is not None and c.scope in (Scope.MEMORY, Scope.GLOBAL)
    ]
    assert {"used", "answers", "exchange", "context_cues", "repeats"} <= {c.name for c in numbered}
    for column in numbered:
        old, new = memory.store.array(column), short.store.array(column)
        at = old[rows] if column.scope is Scope.MEMORY else old
        assert (
            new[column.upkeep.rows].tolist()
            == np.vectorize(lambda row: place.get(row, -1))(at[column.upkeep.rows]).tolist()
        ), column.name
        assert new.shape == at.shape
    assert (short.store.array(next(c for c in numbered if c.name == "used"))[:, 0] >= 0).sum() >= 2
    assert short.store.array(CREATED).tolist() == memory.store.array(CREATED)[rows].tolist()


def test_the_index_of_some_rows_is_brute_force(registry: Registry) -> None:
    memory = engine(registry, "minimal")
    rows = np.array([2, 5, 9, 70, 71])
    memory.store.array(VISIBLE)[9] = False
    short, *_ = asked(memory, rows, "what did Ada say")
    index, vector = (
        short.store.structures[INDEX],
        memory.answering.asked("the garden in spring").cue.vector,
    )
    products = memory.assembly.index.vectors[rows] @ vector
    np.testing.assert_allclose(
        index.scores(vector, np.empty(5, np.float32)), products, rtol=1e-5, atol=1e-6
    )
    order = [i for i in np.argsort(-products, kind="stable").tolist() if i != 2]
    assert (
        index.search(vector, 9)[0].tolist() == order
        and index.search(vector, 2)[0].tolist() == order[:2]
    )
    assert (
        index.search(vector, 9, visible_only=False)[0].tolist()
        == np.argsort(-products, kind="stable").tolist()
    )
    assert index.vectors.tobytes() == memory.assembly.index.vectors[rows].tobytes()


def test_a_structure_that_cannot_be_shown_in_part_is_refused(registry: Registry) -> None:
    memory = engine(registry, "minimal")
    odd = Structure("odd", "of all rows", create=list)
    memory.store.structures[odd] = []
    with pytest.raises(ContractError, match="odd cannot be shown for some memories only"):
        PartialStore(memory.store, 8).receive((odd,))
    assert RECALLED in PartialStore(memory.store, 8).structures
