"""A memory in programs of asyncio: the same answers, and an event loop that goes on."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import hebbarium as hb
from hebbarium import AsyncMemory, Engine, Event, HebbariumError

EVENTS = [Event(480_000.0 + n, f"In bay {n} Ada counted {n + 1000} boats.", "Ada", id=f"e{n}")
          for n in range(40)]  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    with hb.memory("bm25", embedding="hashing:64", path=tmp_path / "life.db") as memory:
        yield memory


def test_awaited_calls_do_what_the_calls_do(memory: Engine) -> None:
    with hb.memory("bm25", embedding="hashing:64") as plain:
        plain.encode_all(EVENTS)

        async def lived() -> None:
            awaited = AsyncMemory(memory)
            assert [int(e) for e in await awaited.encode_all(EVENTS)] == list(range(40))
            answer = await awaited.retrieve("bay 7", 3)
            assert answer.rows.tolist() == plain.retrieve("bay 7", 3).rows.tolist()
            assert (await awaited.context("bay 7", 100)).text == plain.context("bay 7", 100).text
            assert await awaited.use(answer, [7]) == (7,)
            plain.use(plain.retrieve("bay 7", 3), [7])
            assert (await awaited.unit(7)).id == "e7"
            assert (await awaited.explain("bay 7", 7)).stages[-1].rank == 1
            await awaited.archive(3), plain.archive(3)
            await awaited.restore(3), plain.restore(3)
            assert await awaited.erase("e9", confirm=True) == plain.erase("e9", confirm=True)
            await awaited.advance(480_100.0), plain.advance(480_100.0)
            await awaited.save()
            assert memory.digest() == plain.digest()

        asyncio.run(lived())


def test_many_questions_are_answered_while_the_loop_goes_on(memory: Engine) -> None:
    memory.encode_all(EVENTS)
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    async def lived() -> list[int]:
        awaited, heart = AsyncMemory(memory), asyncio.create_task(beat())
        asked = [awaited.retrieve(f"bay {n}", 1) for n in range(40)]
        told = awaited.encode(Event(480_200.0, "One more boat."))
        *answers, _ = await asyncio.gather(*asked, told)
        heart.cancel()
        return [int(answer.rows[0]) for answer in answers]

    assert asyncio.run(lived()) == list(range(40)) and beats > 40


def test_errors_are_those_of_the_memory_and_the_end_closes_it(memory: Engine) -> None:
    async def lived() -> None:
        async with AsyncMemory(memory) as awaited:
            with pytest.raises(HebbariumError, match=r"no row|the row is"):
                await awaited.unit(0)
            with pytest.raises(HebbariumError):
                await awaited.retrieve("x", -1)
        with pytest.raises(HebbariumError, match="closed"):
            await awaited.retrieve("x")

    asyncio.run(lived())


def test_a_cancelled_call_is_finished(memory: Engine) -> None:
    async def lived() -> None:
        task = asyncio.create_task(AsyncMemory(memory).encode_all(EVENTS))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(lived())
    assert len(memory.events) in (0, 40) and memory.retrieve("bay 1") is not None


def test_awaited_calls_are_named_like_those_of_the_memory() -> None:
    for name, call in inspect.getmembers(AsyncMemory, inspect.iscoroutinefunction):
        if not name.startswith("_"):
            theirs = inspect.signature(getattr(Engine, name)).parameters
            ours = inspect.signature(call).parameters
            assert set(ours) - {"options"} <= set(theirs), name
