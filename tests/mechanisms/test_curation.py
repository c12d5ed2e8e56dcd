"""Curation: compiled and plain kernels agree; duplicates and near duplicates are distinguished,
stored, linked and rehearsed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Incoming, Mechanism, Params, hook
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import DUPLICATE, LOG_STRENGTH
from hebbarium.engine.memory.arrivals import ClockWarning
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.state.graph import EdgeType, Graph, entity_node
from hebbarium.engine.text.features import features
from hebbarium.mechanisms.encoding import curation

Build = Callable[..., Engine]


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng, graph = np.random.default_rng(0), Graph()
    graph.cover_rows(12)
    for row in range(12):
        for name in rng.choice(6, 3, replace=False):
            graph.add(row, entity_node(graph.entity(str(name))), EdgeType.ENTITY)
        graph.add(row, int(rng.integers(12)), EdgeType.SEMANTIC)
    near, cosine, links, lent = (
        np.arange(11),
        rng.random(11),
        graph.csr(EdgeType.ENTITY),
        graph.csr(EdgeType.SEMANTIC),
    )
    match, strength, results = rng.normal(size=12), rng.random(graph.n_edges), []
    for plain in (False, True):
        count, decide, borrow = (
            k.py_func if plain else k
            for k in (curation.count_shared, curation.decide, curation.borrow)
        )
        shared, theirs, decision = np.zeros((3, 11), np.int64)
        affinity, out = np.zeros(11), np.full(12, np.nan)
        count(11, near, links.start, links.degree, links.pool, graph.target, shared, theirs)
        decide(cosine, shared, theirs, 3, 0.8, 0.5, 0.5, 0.1, affinity, decision)
        followed = borrow(
            np.arange(6), match, lent.start, lent.degree, lent.pool, graph.target, strength, out
        )
        results.append((shared, theirs, affinity, decision, out, np.array(followed)))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other)
    assert set(results[0][3]) == {0, 1, 2} and results[0][-1] > 0


@pytest.mark.parametrize(("new", "same"), [
    ("Ada has 3 boats", True), ("ada has 3 boats!", True), ("Ada has 4 boats", False),
    ("Ada hasn't 3 boats", False),
    ("Ada never had 3 boats", False), ("It is not that Ada hasn't 3 boats", True),
    ("Ada has 3 boats since 7 May 2023", False),
])  # fmt: skip
def test_details(new: str, same: bool) -> None:
    assert (
        curation.details(features("Ada has 3 boats")) == curation.details(features(new))
    ) is same


def test_duplicates_are_stored_and_counted_at_the_first(build: Build) -> None:
    memory = build("curation", params={"curation": {"merge": 0.8}})
    said = (
        "I bought a red kayak",
        "nine geese crossed the lake",
        "I bought a red kayak",
        "I bought a red kayak",
    )
    assert memory.encode_all(Event(float(i), text) for i, text in enumerate(said)) == [0, 1, 2, 3]
    assert memory.store.array(curation.RESTATES).tolist() == [-1, -1, 0, 0]
    assert memory.store.array(curation.RESTATED).tolist() == [2, 0, 0, 0]
    memory.advance(memory.now + 1.0)
    np.testing.assert_allclose(
        memory.column(LOG_STRENGTH), [0.2 * np.log(3.0), 0.0, 0.0, 0.0], atol=1e-12
    )
    graph = memory.store.graph
    assert (
        graph.find(2, 0, EdgeType.VERSION) is not None
        and graph.find(0, 2, EdgeType.VERSION) is None
    )
    assert [memory.event_log.of_row(row).text for row in range(4)] == list(said)


@pytest.mark.parametrize("unsorted", [0, 3, 4096])
def test_the_memories_with_a_number_are_those_of_a_comparison_one_by_one(
    monkeypatch: pytest.MonkeyPatch, unsorted: int
) -> None:
    monkeypatch.setattr(curation, "UNSORTED", unsorted)
    rng, sayings = np.random.default_rng(0), curation.Sayings()
    numbers = rng.integers(0, 9, 200)
    for n in range(201):
        for number in range(9):
            assert sayings.rows(numbers[:n], number).tolist() == [
                row for row in range(n) if numbers[row] == number
            ]
    numbers[:100] = 0  # as after an erasure
    sayings.forget()
    assert sayings.rows(numbers, 0).tolist() == np.flatnonzero(numbers == 0).tolist()


@pytest.mark.parametrize("unsorted", [0, 4096])
def test_of_repeats_of_an_erased_memory_the_newest_is_answered(
    monkeypatch: pytest.MonkeyPatch, build: Build, unsorted: int
) -> None:
    monkeypatch.setattr(curation, "UNSORTED", unsorted)
    memory = build("curation")
    memory.encode_all(
        Event(float(i), text, id=f"e{i}")
        for i, text in enumerate(("one red kayak", "nine geese", "One red kayak!"))
    )
    assert memory.store.array(curation.REPEATS).tolist() == [-1, -1, 0]
    memory.erase("e0", confirm=True)
    memory.encode(Event(3.0, "nine geese", id="e3"))
    memory.encode(Event(4.0, "one red kayak", id="e4"))
    assert memory.store.array(curation.REPEATS)[2:].tolist() == [0, 1, 0], (
        "the number of the erased first still says which are the same"
    )
    assert sorted(memory.retrieve("kayak", k=5).rows.tolist()) == [3, 4], (
        "of the same words one is answered, the newest"
    )


def test_erasing_the_newest_telling_brings_the_one_before_back(build: Build) -> None:
    memory = build("curation", "lexical_bm25")
    memory.encode_all(Event(float(i), "The door code is 4711.", id=f"e{i}") for i in range(3))
    for left in ([2], [1], [0], []):
        assert memory.retrieve("door code").rows.tolist() == left
        assert not left or memory.unit(left[0]).time == float(left[0])
        if left:
            memory.erase(f"e{left[0]}", confirm=True)


def test_a_telling_dated_after_the_present_is_not_the_newest_until_the_present_reaches_it(
    build: Build,
) -> None:
    memory = build("curation", "lexical_bm25")
    memory.passing.jump_hours = 1000.0
    with pytest.warns(ClockWarning, match="the present stays"):
        memory.encode_all(
            Event(time, "The door code is 4711.", id=f"e{i}")
            for i, time in enumerate((0.0, 9000.0, 2.0))
        )
    assert memory.now == 2.0 and memory.retrieve("door code").rows.tolist() == [2]
    memory.erase("e2", confirm=True)
    assert memory.retrieve("door code").rows.tolist() == [1], "it arrived after the first"
    memory.encode(Event(3.0, "The door code is 4711.", id="e3"))
    assert memory.retrieve("door code").rows.tolist() == [3]
    memory.advance(9000.0, confirm=True)
    assert memory.retrieve("door code").rows.tolist() == [1]


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("Did I walk to the mill on 3 January 1970?", {2}),
        ("Did I walk to the mill between 2 and 4 January 1970?", {1, 2, 3}),
        ("Did I walk to the mill?", set()),
    ],
)
def test_a_repeat_told_in_the_time_asked_for_is_answered(
    build: Build, question: str, days: set[int]
) -> None:
    memory = build("curation", "lexical_bm25", "temporal_index")
    memory.encode_all(Event(24.0 * day, "I walked to the mill.") for day in range(6))
    newest = 5
    answered = memory.retrieve(question).rows.tolist()
    assert set(answered) == {*days, newest} and (not days or answered[0] in days)


def test_the_day_of_a_repeat_is_that_of_the_asker_s_or_of_its_speaker_s_clock(build: Build) -> None:
    memory = build("curation", "lexical_bm25")
    memory.encode_all(
        Event(time, "I walked to the mill.", offset=offset)
        for time, offset in ((23.0, 2.0), (50.0, 0.0), (80.0, 0.0))
    )
    for day, rows in ((1, [0, 2]), (2, [0, 2]), (3, [1, 2])):
        asked = Query(f"Did I walk to the mill on {day} January 1970?", offset=0.0)
        assert sorted(memory.retrieve(asked).rows.tolist()) == rows


def test_near_duplicates_are_linked_both_ways_and_nothing_else(build: Build) -> None:
    memory = build("curation", params={"curation": {"merge": 0.6, "link": 0.6}})
    memory.encode_all(
        Event(0.0, text)
        for text in (
            "the ferry leaves at 9 from the old pier",
            "the ferry leaves at 11 from the old pier",
        )
    )
    graph, affinity = memory.store.graph, memory.store.array(curation.AFFINITY)
    assert memory.store.array(curation.RESTATES).tolist() == [-1, -1]
    ahead, back = graph.find(0, 1, EdgeType.SEMANTIC), graph.find(1, 0, EdgeType.SEMANTIC)
    one, other = memory.store.index.vectors.astype(np.float64)
    assert ahead is not None and back is not None
    np.testing.assert_allclose(affinity[[ahead, back]], one @ other, atol=1e-6)


def test_an_event_makes_at_most_k_links_each_way(build: Build) -> None:
    memory = build("curation", params={"curation": {"neighbours": 3, "link": -1.0}})
    memory.encode_all(Event(float(i), f"word{i} in a list") for i in range(20))
    graph = memory.store.graph
    made = [
        int((np.maximum(graph.source, graph.target)[graph.type == EdgeType.SEMANTIC] == row).sum())
        for row in range(20)
    ]
    assert made == [0, 2, 4, *[6] * 17]


class Oracle(Mechanism[Params]):
    """Marks every event as a duplicate of the first."""

    @hook(Phase.ENCODE, reads=(), adds=(), sets=(DUPLICATE,))
    def mark(self, view: Any, incoming: Incoming) -> None:
        view.duplicate = 0


def test_an_event_marked_as_duplicate_by_another_mechanism_is_merged_without_a_search(
    registry: Registry,
) -> None:
    memory = Engine(
        [registry.instance("curation"), Oracle("oracle", Params(1.0))], HashingEmbedder(64)
    )
    memory.encode_all(
        Event(float(i), text) for i, text in enumerate(("a kite", "nine geese", "some rain"))
    )
    assert memory.store.array(curation.RESTATES).tolist() == [-1, 0, 0]
    assert memory.store.array(curation.RESTATED).tolist() == [2, 0, 0]


def test_a_query_alone_changes_nothing_but_the_ranking(build: Build) -> None:
    texts = (
        "heron lantern pond",
        "granite ridge",
        "copper spool",
        "velvet hem",
        "lantern pond reeds",
    )
    ranks = []
    for ids in ((), ("curation",)):
        memory = build(
            *ids, "lexical_bm25", "convex_fusion", params={"curation": {"link": 0.8}} if ids else {}
        )
        memory.encode_all(Event(0.0, text) for text in texts)
        before = memory.digest()
        ranks.append(memory.retrieve("heron").rank(4))
        assert memory.digest() == before
    assert ranks == [5, 2]
