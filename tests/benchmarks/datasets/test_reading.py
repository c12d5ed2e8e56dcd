"""Conversations are handed one at a time, and a chat of plans plan by plan: what is read, and
how much of it is in memory at once.
"""

from __future__ import annotations

import gc
import json
import pickle
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.datasets import Dataset, load
from hebbarium.benchmarks.datasets.base import by_session
from hebbarium.benchmarks.datasets.conversations import describe, write_conversations
from hebbarium.benchmarks.datasets.events import Events
from hebbarium.benchmarks.datasets.long_chat import write_long_chat
from hebbarium.benchmarks.datasets.reading import elements
from hebbarium.benchmarks.execution import local
from hebbarium.benchmarks.experiments.run import measure, plan
from hebbarium.benchmarks.systems.base import Capability, Retrieved
from hebbarium.engine.base.errors import DataError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.memory.encoded import Encoded
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.memory.telling import CHUNK
from hebbarium.engine.ports.embedder import Embedder, HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.testing.small import numbered


def live() -> int:
    """How many events this process holds."""
    gc.collect()
    return sum(type(one) is Event for one in gc.get_objects())


@pytest.fixture
def long_chat(tmp_path: Path) -> Callable[[int, int], Dataset]:
    def make(plans: int, messages: int) -> Dataset:
        folder = tmp_path / f"{plans}x{messages}" / "10M" / "1"
        write_long_chat(folder, plans, messages)
        return load("beam", folder)

    return make


@pytest.fixture
def own(tmp_path: Path) -> Dataset:
    """The demo as one's own conversations, read from files."""
    write_conversations(load("demo", limit=4), tmp_path / "own", licence="free", citation="none")
    return load("conversations", tmp_path / "own")


def test_a_long_chat_is_read_plan_by_plan(long_chat: Callable[[int, int], Dataset]) -> None:
    data = long_chat(6, 40)
    (chat,) = data.conversations
    events = list(chat.events)
    assert (
        isinstance(chat.events, Events)
        and chat.events.by_part
        and len(chat.events) == len(events) == 240
        and chat.held() is chat
    )
    assert [e.id for e in events] == [
        f"plan-{n // 40 + 1}/{n}" for n in range(240)
    ] and chat.events == tuple(events)
    assert (chat.events[0], chat.events[-1], chat.events[100], chat.events[38:44]) == (
        events[0],
        events[-1],
        events[100],
        tuple(events[38:44]),
    )
    texts = {e.id: e.text for e in events}
    assert all(texts[one] for q in chat.questions for one in q.gold) and all(
        len(q.gold) == 1 for q in chat.questions
    )
    assert all(a.time <= b.time for a, b in pairwise(events))


@pytest.mark.slow
def test_no_more_than_one_plan_of_a_long_chat_is_in_memory(
    long_chat: Callable[[int, int], Dataset],
) -> None:
    def most(plans: int) -> tuple[int, int]:
        (chat,) = long_chat(plans, 60).conversations
        before = live()
        counts = [live() - before for number, _ in enumerate(chat.events) if number % 100 == 50]
        tracemalloc.start()
        for _ in chat.events:
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return max(counts), peak

    (few, small), (many, large) = most(3), most(15)
    # bytes: the ids so far are known, so that one that occurs again is told from the first
    ids = 12 * 60 * 250
    assert few == many <= 2 and large < 1.2 * small + ids, (
        "five times as many plans, and no more of them in memory"
    )


@pytest.mark.slow
def test_a_memory_takes_a_long_chat_by_chunks(
    long_chat: Callable[[int, int], Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    (chat,) = long_chat(8, 40).conversations
    handed, encoded, most, real = 0, 0, 0, Engine.encode

    def told() -> Sequence[Event]:
        nonlocal handed
        for event in chat.events:
            handed += 1
            yield event

    def encode(memory: Engine, event: Event, **options: Any) -> Encoded:
        nonlocal encoded, most
        most, encoded = max(most, handed - encoded), encoded + 1
        return real(memory, event, **options)

    monkeypatch.setattr(Engine, "encode", encode)
    registry = Registry.installed()
    with Engine(
        registry.build(registry.set("bm25")), CachedEmbedder(HashingEmbedder(16), None)
    ) as memory:
        memory.encode_all(told())
        assert most == CHUNK and encoded == handed == 320
        question = chat.questions[-1]
        memory.advance(question.time)
        assert len(memory.retrieve(Query(question.text, question.time)).rows) == 10


@pytest.mark.slow
def test_chunks_change_nothing() -> None:
    events = [
        replace(one, session=f"s{n // 7}")
        for n, one in enumerate(numbered(*(n * 37 % 101 for n in range(CHUNK + 70))))
    ]
    registry = Registry.installed()
    digests = []
    for given in (events, tuple(events), iter(events)):
        with Engine(
            registry.build(registry.set("minimal")), CachedEmbedder(HashingEmbedder(16), None)
        ) as memory:
            rows = memory.encode_all(given)
            digests.append((rows, memory.digest()))
    with Engine(registry.build(registry.set("minimal")), HashingEmbedder(16)) as memory:
        digests.append(
            (
                [memory.encode(event) for event in events],
                (memory.advance(memory.now), memory.digest())[1],
            )
        )
    assert all(found == digests[0] for found in digests)


def test_a_bad_event_of_a_list_changes_nothing_and_one_of_an_iterator_only_what_was_before_its_chunk() -> (
    None
):
    events = [*numbered(*range(2 * CHUNK)), Event(-1.0, "too early")]
    registry = Registry.installed()
    for given, kept in ((events, 0), (iter(events), 2 * CHUNK)):
        with Engine(registry.build(registry.set("bm25")), HashingEmbedder(16)) as memory:
            with pytest.raises(InputError, match="runs backwards"):
                memory.encode_all(given)
            assert memory.store.n == kept and memory.encode(Event(events[-2].time, "later")) == kept


# --- data sets ------------------------------------------------------------------------------------
class Counting:
    """A memory that keeps nothing, and counts the events that exist while it is asked."""

    capabilities: frozenset[Capability] = frozenset()
    seen: list[int]

    def __init__(self, embedder: Embedder, seed: int) -> None:
        self.asked = False

    def encode(self, events: Sequence[Event]) -> None:
        self.seen.append(live())

    def advance(self, time: float) -> None: ...

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        if not self.asked:
            self.seen.append(live())
        self.asked = True
        return Retrieved(())

    def close(self) -> None: ...


@pytest.mark.slow
def test_a_run_holds_the_events_of_one_conversation(
    own: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: Registry
) -> None:
    Counting.seen = []
    monkeypatch.setattr(local, "maker", lambda *_, **__: Counting)
    before, sizes = live(), [len(c.events) for c in own.conversations]
    chosen = MechanismSet("small", "for the test", {"lexical_bm25": {}})
    measure(plan(chosen, registry), own, CachedEmbedder(HashingEmbedder(8), None), tmp_path / "o")
    most = max(Counting.seen) - before
    assert max(sizes) <= most <= max(sizes) + 5 < sum(sizes), (
        "one conversation, and the first and last event that a handle keeps"
    )


@pytest.mark.slow
def test_a_data_set_holds_two_events_of_a_conversation_and_reads_the_others(
    own: Dataset, tmp_path: Path
) -> None:
    demo = load("demo", limit=4)
    before = live()
    again = load("conversations", tmp_path / "own")
    assert (
        live() - before <= 2 * len(again.conversations)
        and again.conversations == demo.conversations == own.conversations
    )
    assert describe(again)["events"] == sum(len(c.events) for c in demo.conversations)
    assert {hash(c) for c in again.conversations} == {hash(c) for c in own.conversations}


def test_sessions_are_merged_one_conversation_at_a_time(tmp_path: Path, own: Dataset) -> None:
    merged = load("conversations", tmp_path / "own", unit="session")
    assert merged.conversations == tuple(by_session(c.held()) for c in own.conversations)
    assert all(isinstance(c.events, Events) for c in merged.conversations)


def test_conversations_can_be_sent_to_workers(
    own: Dataset, long_chat: Callable[[int, int], Dataset]
) -> None:
    for data in (own, long_chat(2, 20)):
        assert pickle.loads(pickle.dumps(data.conversations)) == data.conversations


@pytest.mark.parametrize("kind", ["own", "long"])
def test_a_file_that_changes_after_it_was_loaded_is_named(
    kind: str, own: Dataset, tmp_path: Path, long_chat: Callable[[int, int], Dataset]
) -> None:
    data = own if kind == "own" else long_chat(2, 20)
    file = (
        tmp_path / "own" / "events.jsonl"
        if kind == "own"
        else tmp_path / "2x20" / "10M" / "1" / "chat.json"
    )
    file.write_text(file.read_text(encoding="utf-8").replace("the ", "teh ", 1), encoding="utf-8")
    with pytest.raises(DataError, match="changed since it was loaded") as caught:
        [list(c.events) for c in data.conversations]
    assert caught.value.where == str(file) and caught.value.cure
    file.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        list(data.conversations[0].events)


# --- items of an array ----------------------------------------------------------------------------
@pytest.mark.parametrize("value", [
    [], [[]], [1, "a,b", None], ["]", "[", "{\"", "\\", "\\\"", "\u2028,"], [{"a": [1,
    {"b": "],["}]}, {}, [[], [2, 3]]], [{"a": "x" * 10_000}] * 3])  # fmt: skip
@pytest.mark.parametrize("indent", [None, 2])
def test_items_are_those_of_the_parsed_array(
    value: list[object], indent: int | None, tmp_path: Path
) -> None:
    file = tmp_path / "a.json"
    file.write_text(f" {json.dumps(value, indent=indent, ensure_ascii=False)}\n ", encoding="utf-8")
    found = elements(file, "item")
    assert found is not None and [one.place().value for one in found] == value
    assert [one.place().steps for one in found] == [
        (f"item {n}",) for n in range(1, len(value) + 1)
    ]


@pytest.mark.parametrize("text", ["{}", "3", '"a"', "null", '{"a": [1, 2]}'])
def test_other_values_have_no_items(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    assert elements(tmp_path / "a.json", "item") is None


@pytest.mark.parametrize("text", ["", " ", "[1, 2", "[1] 2", "[1]]", "[1,, 2]", "[1, 2],", "[[1}]",
                                  '["a]', "[1, 2, x]", "[1 2]", "[,]", "[1,]",
                                  "\ufeff[]"])  # fmt: skip
def test_what_is_no_json_is_never_read_in_part(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        [one.place() for one in elements(tmp_path / "a.json", "item") or ()]
    assert str(tmp_path) in caught.value.where and caught.value.cure
