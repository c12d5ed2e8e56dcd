"""A memory as a retriever of LlamaIndex, in a query engine of it, and as a block of its Memory.

Each test imports LlamaIndex itself: it takes four seconds, and all processes collect all tests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

import hebbarium as hb
from hebbarium import Engine, Event

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import Memory

pytestmark = [
    pytest.mark.slow,  # conftest.py says why
    pytest.mark.skipif(
        find_spec("llama_index") is None,
        reason="LlamaIndex is not installed: pip install 'hebbarium[llamaindex]'",
    ),
]
EVENTS = [
    Event(480_000.0, "Ada is allergic to walnuts.", "Ada", "monday", "e1"),
    Event(480_001.0, "The kiln is hot.", "Bo", "monday", "e2"),
    Event(480_002.0, "Walnuts are on sale.", "Bo", "tuesday"),
]


@pytest.fixture
def memory() -> Iterator[Engine]:
    with hb.memory("hybrid", embedding="hashing:64") as memory:
        memory.encode_all(EVENTS)
        yield memory


def test_a_retriever_gives_what_the_memory_answers(memory: Engine) -> None:
    from llama_index.core.schema import QueryBundle

    from hebbarium.integrations.llamaindex import NodeRetriever

    retriever = NodeRetriever(memory, 2)
    answer = memory.retrieve("walnuts", 2)
    nodes = retriever.retrieve("walnuts")
    assert [node.metadata["row"] for node in nodes] == answer.rows.tolist()
    assert [node.score for node in nodes] == answer.scores.tolist()
    first = next(node for node in nodes if node.metadata["id"] == "e1")
    assert first.text == EVENTS[0].text and first.metadata["speaker"] == "Ada"
    assert first.metadata["session"] == "monday" and first.metadata["time"].startswith("2024-")
    awaited = asyncio.run(retriever.aretrieve(QueryBundle("walnuts")))
    assert [node.node_id for node in awaited] == [node.node_id for node in nodes]


def test_a_query_engine_reads_the_memories(memory: Engine) -> None:
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.response_synthesizers import get_response_synthesizer

    from hebbarium.integrations.llamaindex import NodeRetriever

    engine = RetrieverQueryEngine(
        NodeRetriever(memory, k=1), get_response_synthesizer(llm=MockLLM())
    )
    response = engine.query("Is the kiln hot?")
    assert "The kiln is hot." in str(response)  # the model of tests repeats its prompt
    assert [node.metadata["id"] for node in response.source_nodes] == ["e2"]


def told(role: str, text: str) -> ChatMessage:
    from llama_index.core.base.llms.types import ChatMessage

    return ChatMessage(role=role, content=text)


def short(memory: Engine, **of_block: Any) -> Memory:
    """A memory of LlamaIndex that hands on all but the last messages."""
    from llama_index.core.memory import Memory

    from hebbarium.integrations.llamaindex import MemoryBlock

    return Memory.from_defaults(
        session_id="wednesday", token_limit=120, token_flush_size=20, chat_history_token_ratio=0.3,
        memory_blocks=[MemoryBlock(memory=memory, **of_block)],
    )  # fmt: skip


def test_a_block_is_told_what_leaves_the_chat_and_gives_it_back(memory: Engine) -> None:
    chat = short(memory, tokens=200)
    for n in range(6):
        chat.put(told("user", f"In bay {n} Ada counted {n + 1000} boats this morning."))
        chat.put(told("assistant", f"I noted bay {n}."))
    kept = memory.events[len(EVENTS) :]
    assert [event.text for event in kept[:2]] == [
        "In bay 0 Ada counted 1000 boats this morning.", "I noted bay 0."]  # fmt: skip
    assert {(event.session, event.speaker, event.get("role")) for event in kept} == {
        ("wednesday", "user", "user"), ("wednesday", "assistant", "assistant")}  # fmt: skip
    shown = chat.get(input="How many boats were in bay 0?")
    system = str(shown[0].content)
    assert shown[0].role == "system" and "<long_term_memory>" in system and "1000 boats" in system
    assert all("bay 0" not in str(message.content) for message in shown[1:])


def test_a_block_without_a_question_or_a_text_does_nothing(memory: Engine) -> None:
    from llama_index.core.base.llms.types import ChatMessage, ImageBlock

    from hebbarium.integrations.llamaindex import MemoryBlock

    block, digest = MemoryBlock(memory=memory), memory.digest()

    async def lived() -> None:
        assert await block.aget() == "" == await block.aget([told("assistant", "walnuts")])
        assert await block.aget([told("user", " ")]) == ""
        picture = ChatMessage(role="user", blocks=[ImageBlock(url="http://127.0.0.1/a.png")])
        await block.aput([picture, told("user", " ")], from_short_term_memory=True)
        await block.aput([])

    asyncio.run(lived())
    assert memory.digest() == digest


def test_two_blocks_of_one_memory_and_the_session_of_messages(memory: Engine) -> None:
    """LlamaIndex writes the session into the messages that it hands to all blocks."""
    from hebbarium.integrations.llamaindex import MemoryBlock

    blocks = [MemoryBlock(memory=memory, name=name) for name in ("first", "second")]
    message = told("user", "The boat is blue.")

    async def lived() -> None:
        for block in blocks:
            await block.aput([message], from_short_term_memory=True, session_id="s1")

    asyncio.run(lived())
    assert [event.session for event in memory.events[-2:]] == ["s1", "s1"]
