"""A memory as LangGraph's store, beside LangGraph's own store in memory, and as a retriever."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hebbarium as hb
from hebbarium import Engine, Event, HebbariumError

pytest.importorskip("langgraph.store.memory",
                    reason="langgraph-checkpoint is not installed: pip install 'hebbarium[langgraph]'")  # fmt: skip
from langgraph.store.memory import InMemoryStore

from hebbarium.integrations.langgraph import MemoryRetriever, MemoryStore

pytestmark = pytest.mark.slow  # conftest.py says why


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    with hb.memory("hybrid", embedding="hashing:64", path=tmp_path / "life.db") as memory:
        yield memory


def seen(items: list[Any]) -> list[Any]:
    return sorted((item.namespace, item.key, repr(sorted(item.value.items()))) for item in items)


@pytest.mark.parametrize("seed", range(3))
def test_it_does_what_langgraphs_own_store_does(memory: Engine, seed: int) -> None:
    draw, ours, theirs = random.Random(seed), MemoryStore(memory), InMemoryStore()
    places = [("users", "ada"), ("users", "bo"), ("docs",), ("docs", "v1")]
    for step in range(120):
        place, key = draw.choice(places), f"k{draw.randrange(4)}"
        kind = draw.choice(["put", "put", "delete", "get", "search", "list"])
        if kind == "put":
            value = {"text": f"boat {step}", "n": draw.randrange(5), "deep": {"a": [step % 3]}}
            index = draw.choice([None, None, False])
            for store in (ours, theirs):
                store.put(place, key, value, index=index)
        elif kind == "delete":
            for store in (ours, theirs):
                store.delete(place, key)
        elif kind == "get":
            one, other = ours.get(place, key), theirs.get(place, key)
            assert (one and (one.value, one.key, one.namespace)) == (
                other and (other.value, other.key, other.namespace))  # fmt: skip
        elif kind == "search":
            condition = draw.choice([None, {"n": 2}, {"n": {"$gte": 2, "$ne": 4}},
                                     {"deep": {"a": [1]}}, {"absent": 1}])  # fmt: skip
            prefix = place[: draw.randrange(3)]
            found = [s.search(prefix, filter=condition, limit=100) for s in (ours, theirs)]
            assert seen(found[0]) == seen(found[1])
        else:
            more: dict[str, Any] = draw.choice([{}, {"prefix": ("users",)}, {"suffix": ("v1",)},
                                                {"prefix": ("*", "bo")}, {"max_depth": 1}])  # fmt: skip
            full = InMemoryStore()  # theirs also lists namespaces that were emptied, or only asked
            for item in theirs.search((), limit=100):
                full.put(item.namespace, item.key, item.value)
            assert ours.list_namespaces(**more) == sorted(full.list_namespaces(**more))
    assert seen(ours.search((), limit=100)) == seen(theirs.search((), limit=100))


def test_a_search_asks_the_memory_within_its_namespace(memory: Engine) -> None:
    store = MemoryStore(memory)
    memory.encode(Event(480_000.0, "the kiln is hot, and no item"))
    store.put(("users", "ada"), "food", {"text": "Ada is allergic to walnuts."})
    store.put(("users", "bo"), "food", {"text": "Bo likes walnuts."})
    store.put(("users", "ada"), "boat", {"text": "Ada has a blue boat."})
    best, *rest = store.search(("users", "ada"), query="walnuts")
    assert best.key == "food" and best.score is not None and [i.key for i in rest] == ["boat"]
    assert {i.namespace[1] for i in store.search(("users",), query="walnuts", limit=2)} == {
        "ada", "bo"}  # fmt: skip
    store.put(("users", "ada"), "food", {"text": "Ada eats everything."})
    assert all(
        "allergic" not in i.value["text"] for i in store.search((), query="allergic walnuts")
    )
    store.delete(("users", "bo"), "food")
    assert "Bo likes walnuts." not in {event.text for event in memory.events}


def test_items_are_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "life.db"
    with hb.memory("bm25", embedding="hashing:64", path=path) as memory:
        store = MemoryStore(memory)
        store.put(("a",), "k", {"n": 1})
        first = store.get(("a",), "k")
        store.put(("a",), "k", {"n": 2})
        store.put(("a",), "gone", {"n": 3})
        store.delete(("a",), "gone")
        kept = store.get(("a",), "k")
    with hb.reopen(path) as memory:
        again = MemoryStore(memory)
        item = again.get(("a",), "k")
        assert item.value == {"n": 2} and again.get(("a",), "gone") is None
        assert item.created_at == first.created_at == kept.created_at
        assert abs((item.updated_at - kept.updated_at).total_seconds()) < 0.01
        again.delete(("a",), "k")
        assert again.search(()) == [] and not any("n" in e.text for e in memory.events)


def test_operations_of_a_batch_and_awaited_ones(memory: Engine) -> None:
    store = MemoryStore(memory)

    async def lived() -> None:
        await store.aput(("a",), "k", {"text": "the kiln is hot"})
        assert (await store.aget(("a",), "k")).value == {"text": "the kiln is hot"}
        assert [i.key for i in await store.asearch(("a",), query="kiln")] == ["k"]
        await asyncio.gather(*(store.aput(("b",), f"k{n}", {"n": n}) for n in range(10)))
        assert len(await store.asearch(("b",), limit=50)) == 10

    asyncio.run(lived())


def test_bad_input_is_refused_and_changes_nothing(memory: Engine) -> None:
    store = MemoryStore(memory)
    store.put(("a",), "k", {"n": 1})
    digest = memory.digest()
    with pytest.raises(HebbariumError, match="cannot be kept"):
        store.put(("a",), "k", {"n": object()})
    with pytest.raises(HebbariumError, match="cannot be kept"):
        store.put(("a",), "k", {"n": float("nan")})
    with pytest.raises(HebbariumError, match="operator"):
        store.search(("a",), filter={"n": {"$near": 1}})
    with pytest.raises(HebbariumError, match="operation"):
        store.batch(["get"])  # type: ignore[list-item]
    assert store.search(("a",), filter={"n": {"$gt": "x"}}) == []
    assert memory.digest() == digest and store.get(("a",), "k").value == {"n": 1}


def test_a_retriever_gives_documents(memory: Engine) -> None:
    memory.encode(Event(480_000.0, "The kiln is hot.", "Ada", "monday", "e1"))
    (document,) = MemoryRetriever(memory=memory, k=3).invoke("kiln")
    assert document.page_content == "The kiln is hot."
    assert (document.metadata["id"], document.metadata["speaker"]) == ("e1", "Ada")


def test_an_item_that_a_gate_refused_is_kept_and_erased_as_well() -> None:
    registry = hb.Registry.installed()
    gated = ("write_gate_true_memory", "lexical_bm25", "weighted_rrf")
    with Engine([registry.instance(id) for id in gated], hb.embedder("hashing:64")) as memory:
        store = MemoryStore(memory)
        with pytest.warns(hb.VetoWarning):
            for number in range(3):
                store.put(("a",), "k", {"text": "ok", "n": number})
        assert -1 in memory.event_log.row_of, "the gate refuses none of them"
        assert store.get(("a",), "k").value["n"] == 2
        store.delete(("a",), "k")
        assert store.get(("a",), "k") is None
        assert not any("ok" in event.text for event in memory.events)
        assert MemoryStore(memory).search(()) == []


def test_a_graph_reads_and_writes_the_store(memory: Engine) -> None:
    """A node asks the store that the graph was compiled with, and writes to it."""
    pytest.importorskip(
        "langgraph.graph", reason="langgraph is not installed: pip install langgraph"
    )
    from langgraph.graph import END, START, StateGraph
    from langgraph.runtime import Runtime

    def told(state: dict[str, Any], runtime: Runtime) -> dict[str, Any]:
        assert runtime.store is not None
        runtime.store.put(("users", "ada"), state["key"], {"text": state["text"]})
        hits = runtime.store.search(("users", "ada"), query=state["question"], limit=1)
        return {"text": hits[0].value["text"]}

    builder = StateGraph(dict)
    builder.add_node("told", told)
    builder.add_edge(START, "told")
    builder.add_edge("told", END)
    graph = builder.compile(store=MemoryStore(memory))
    question = {"question": "Which food is Ada allergic to?"}
    graph.invoke({"key": "food", "text": "Ada is allergic to walnuts.", **question})
    last = graph.invoke({"key": "boat", "text": "Ada has a blue boat.", **question})
    assert last["text"] == "Ada is allergic to walnuts."


try:
    from langchain_tests.integration_tests import RetrieversIntegrationTests
except ImportError:  # the workflow frameworks.yml has it
    RetrieversIntegrationTests = object


@pytest.mark.anyio
@pytest.mark.skipif(
    RetrieversIntegrationTests is object,
    reason="langchain-tests is not installed: pip install langchain-tests",
)
class TestAsLangChainTestsRetrievers(RetrieversIntegrationTests):  # type: ignore[misc, valid-type]
    """LangChain's own conformance tests."""

    retriever_constructor = MemoryRetriever
    retriever_query_example = "Who counted the boats?"

    @pytest.fixture(autouse=True)
    def _memory(self, memory: Engine) -> None:
        memory.encode_all(Event(480_000.0 + n, f"Ada counted {n} boats.") for n in range(5))
        self.memory = memory

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory}

    @pytest.fixture
    def anyio_backend(self) -> str:
        return "asyncio"
