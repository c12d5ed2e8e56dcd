"""A memory as a session of the OpenAI Agents SDK, beside the SDK's own session, and in its runner."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hebbarium as hb
from hebbarium import Engine, Event, HebbariumError

pytest.importorskip("agents",
                    reason="the OpenAI Agents SDK is not installed: pip install 'hebbarium[openai-agents]'")  # fmt: skip
from agents import (
    Agent,
    ModelResponse,
    RunConfig,
    Runner,
    Session,
    SessionSettings,
    SQLiteSession,
    Usage,
)
from agents.models.interface import Model
from agents.tool_context import ToolContext
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from hebbarium.integrations.openai_agents import MemorySession, recall_tool

pytestmark = pytest.mark.slow  # conftest.py says why

ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "Ada is allergic to walnuts."},
    {"type": "message", "role": "assistant", "id": "m1", "status": "completed",
     "content": [{"type": "output_text", "text": "I keep that in mind.", "annotations": []}]},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"town": "Bergen"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "rain\x00 😀"},
    {"type": "reasoning", "id": "r1", "summary": []},
]  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    with hb.memory("hybrid", embedding="hashing:64", path=tmp_path / "life.db") as memory:
        yield memory


@pytest.mark.parametrize("seed", range(3))
def test_it_does_what_the_own_session_of_the_sdk_does(memory: Engine, seed: int) -> None:
    draw = random.Random(seed)
    pairs: list[tuple[Any, Any]] = [
        (MemorySession(name, memory), SQLiteSession(name)) for name in ("ada", "bo")
    ]

    async def lived() -> None:
        for step in range(60):
            both = draw.choice(pairs)
            kind = draw.choice(["add", "add", "pop", "get", "clear"])
            if kind == "add":
                items = [{**draw.choice(ITEMS), "step": step} for _ in range(draw.randrange(4))]
                for session in both:
                    await session.add_items(items)
            elif kind == "pop":
                ours, theirs = [await session.pop_item() for session in both]
                assert ours == theirs
            elif kind == "get":
                limit = draw.choice([None, 0, 1, 3, 100])
                ours, theirs = [await session.get_items(limit) for session in both]
                assert ours == theirs
            elif step % 3 == 0:
                for session in both:
                    await session.clear_session()
        for ours, theirs in pairs:
            assert await ours.get_items() == await theirs.get_items()

    asyncio.run(lived())


def test_a_session_is_a_session_with_settings_and_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "life.db"

    async def told() -> None:
        with hb.memory("bm25", embedding="hashing:64", path=path) as memory:
            memory.encode(Event(480_000.0, "no item", session="ada"))
            session = MemorySession("ada", memory)
            assert isinstance(session, Session)
            await session.add_items(ITEMS)

    async def read() -> None:
        with hb.reopen(path) as memory:
            session = MemorySession("ada", memory, SessionSettings(limit=2))
            assert await session.get_items() == ITEMS[-2:]
            assert await session.get_items(limit=50) == ITEMS
            assert await MemorySession("bo", memory).get_items() == []
            kinds = [event.get("kind") for event in memory.events]
            assert kinds == ["", "", "", "function_call", "function_call_output", "reasoning"]
            assert await session.pop_item() == ITEMS[-1]
            await session.clear_session()
            assert await session.get_items() == []
            assert [event.text for event in memory.events if "walnuts" in event.text] == []
            assert memory.events[0].text == "no item"

    asyncio.run(told())
    asyncio.run(read())


def test_what_a_gate_refuses_stays_an_item_and_is_erased_as_well() -> None:
    async def lived() -> None:
        registry = hb.Registry.installed()
        gated = ("write_gate_true_memory", "lexical_bm25", "weighted_rrf")
        mechanisms = [registry.instance(id) for id in gated]
        with Engine(mechanisms, hb.embedder("hashing:64")) as memory:
            session = MemorySession("ada", memory)
            with pytest.warns(hb.VetoWarning):
                await session.add_items([{"role": "user", "content": "ok"}] * 3)
            assert -1 in memory.event_log.row_of, "the gate refuses none of them"
            assert len(await session.get_items()) == 3
            await session.clear_session()
            assert await session.get_items() == []
            assert "ok" not in {event.text for event in memory.events}

    asyncio.run(lived())


def test_bad_input_is_refused_and_changes_nothing(memory: Engine) -> None:
    async def lived() -> None:
        session: Any = MemorySession("ada", memory)
        await session.add_items(ITEMS)
        digest = memory.digest()
        for bad in (object(), {"n": float("nan")}, {"role": {1, 2}}, "text", None, ["a"]):
            with pytest.raises(HebbariumError, match="cannot be kept"):
                await session.add_items([ITEMS[0], bad])
        assert memory.digest() == digest
        for name in ("", None, 3):
            with pytest.raises(HebbariumError, match="session"):
                MemorySession(name, memory)  # type: ignore[arg-type]

    asyncio.run(lived())


def test_sessions_of_many_tasks_lose_nothing(memory: Engine) -> None:
    async def lived() -> None:
        sessions = [MemorySession(f"s{n % 3}", memory) for n in range(12)]
        await asyncio.gather(
            *(session.add_items([{"role": "user", "content": f"{n}"}])
              for n, session in enumerate(sessions)),
            *(session.get_items() for session in sessions),
        )  # fmt: skip
        kept = [await MemorySession(f"s{n}", memory).get_items() for n in range(3)]
        assert sorted(int(item["content"]) for items in kept for item in items) == list(range(12))
        assert [len(items) for items in kept] == [4, 4, 4]

    asyncio.run(lived())


class Scripted(Model):
    """A model whose replies are written beforehand; it keeps what it was given."""

    def __init__(self, *replies: Any) -> None:
        self.replies, self.given = list(replies), list[Any]()

    async def get_response(
        self, system_instructions: Any, input: Any, *args: Any, **kw: Any
    ) -> Any:
        self.given.append(input)
        return ModelResponse(output=[self.replies.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kw: Any) -> Any:
        raise NotImplementedError


def said(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed",
                                 type="message")  # fmt: skip


def test_a_runner_keeps_its_history_in_the_memory_and_recalls_other_sessions(
    memory: Engine,
) -> None:
    call = ResponseFunctionToolCall(call_id="c", name="recall", type="function_call",
                                    arguments='{"question": "Who is allergic to walnuts?"}')  # fmt: skip
    model = Scripted(said("Noted."), said("Yes."), call, said("Ada is."))
    agent = Agent(name="helper", model=model, tools=[recall_tool(memory, 200)])
    quiet = RunConfig(tracing_disabled=True)

    async def asked(text: str, session: str) -> Any:
        return await Runner.run(agent, text, session=MemorySession(session, memory),
                                run_config=quiet)  # fmt: skip

    async def lived() -> None:
        await asked("Ada is allergic to walnuts.", "monday")
        await asked("Do you know that?", "monday")
        assert [item.get("content") for item in model.given[1] if item["role"] == "user"] == [
            "Ada is allergic to walnuts.",
            "Do you know that?",
        ]
        result = await asked("Who must not eat walnuts?", "tuesday")
        assert result.final_output == "Ada is."
        (returned,) = [i for i in model.given[3] if i.get("type") == "function_call_output"]
        assert "Ada is allergic to walnuts." in returned["output"]
        kept = await MemorySession("tuesday", memory).get_items()
        assert [item.get("type", "message") for item in kept] == [
            "message", "function_call", "function_call_output", "message"]  # fmt: skip

    asyncio.run(lived())


def test_a_tool_says_that_nothing_is_remembered() -> None:
    with hb.memory("bm25", embedding="hashing:64") as memory:
        tool = recall_tool(memory)
        given = '{"question": "Who?"}'
        context: Any = ToolContext(context=None, tool_name="recall", tool_call_id="1",
                                   tool_arguments=given)  # fmt: skip
        said = asyncio.run(tool.on_invoke_tool(context, given))  # type: ignore[arg-type]
    assert said == "Nothing is remembered." and tool.params_json_schema["required"] == ["question"]
