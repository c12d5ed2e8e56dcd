"""The calls of a memory for programs of asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any, ParamSpec, Self, TypeVar

from ..engine.context.context import Context
from ..engine.contract.records import Event, Only, Query
from ..engine.contract.units import Unit
from ..engine.memory.encoded import Encoded
from ..engine.memory.engine import Engine
from ..engine.memory.erasing import Erasure
from ..engine.memory.explain import Explanation
from ..engine.state.ranking import Answer

P = ParamSpec("P")
T = TypeVar("T")


class AsyncMemory:
    """A memory whose calls are awaited: each runs in a thread, so that the event loop goes on.

    memory  the memory itself, whose calls these are; both may be used

    Calls keep the memory's own turns: one that changes it runs alone.  A call that is cancelled
    while it runs is finished nevertheless, and what it changed stays; await it again with
    `asyncio.shield` if its result matters.

    >>> import asyncio, hebbarium as hb
    >>> async def asked():
    ...     async with hb.AsyncMemory(hb.memory("bm25", embedding="hashing:64")) as memory:
    ...         await memory.encode(hb.Event(30.0, "We moved.", "Ada"))
    ...         return (await memory.retrieve("Who moved?")).events
    >>> asyncio.run(asked())
    (<Event 1970-01-02 06:00, Ada: 'We moved.'>,)
    """

    def __init__(self, memory: Engine) -> None:
        self.memory = memory

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    async def encode(self, event: Event, *, confirm: bool = False) -> Encoded:
        """As `Engine.encode`."""
        return await _in_thread(self.memory.encode, event, confirm=confirm)

    async def encode_all(self, events: Sequence[Event], *, confirm: bool = False) -> list[Encoded]:
        """As `Engine.encode_all`."""
        return await _in_thread(self.memory.encode_all, events, confirm=confirm)

    async def retrieve(self, query: Query | str, k: int = 10, *, learn: bool = False) -> Answer:
        """As `Engine.retrieve`."""
        return await _in_thread(self.memory.retrieve, query, k, learn=learn)

    async def context(
        self, query: Query | str, max_tokens: int | None = None, **options: Any
    ) -> Context:
        """As `Engine.context`, with its options."""
        return await _in_thread(self.memory.context, query, max_tokens, **options)

    async def use(
        self,
        answer: Answer | Context,
        rows_or_ids: int | str | Collection[int | str],
        outcome: float | None = None,
    ) -> tuple[int, ...]:
        """As `Engine.use`; the rows as numbers."""
        rows = await _in_thread(self.memory.use, answer, rows_or_ids, outcome)
        return tuple(rows.tolist())

    async def explain(self, query: Query | str, row: int) -> Explanation:
        """As `Engine.explain` of one row."""
        return await _in_thread(self.memory.explain, query, row)

    async def unit(self, row: int) -> Unit:
        """As `Engine.unit`."""
        return await _in_thread(self.memory.unit, row)

    async def advance(self, time: float | datetime, *, confirm: bool = False) -> None:
        """As `Engine.advance`."""
        await _in_thread(self.memory.advance, time, confirm=confirm)

    async def archive(self, row: int) -> None:
        """As `Engine.archive`."""
        await _in_thread(self.memory.archive, row)

    async def restore(self, row: int) -> None:
        """As `Engine.restore`."""
        await _in_thread(self.memory.restore, row)

    async def erase(self, what: str | int | Only, *, confirm: bool | None = None) -> Erasure:
        """As `Engine.erase`."""
        return await _in_thread(self.memory.erase, what, confirm=confirm)

    async def save(self) -> None:
        """As `Engine.save`."""
        await _in_thread(self.memory.save)

    async def close(self) -> None:
        """As `Engine.close`."""
        await _in_thread(self.memory.close)


async def _in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    return await asyncio.to_thread(call, *args, **kwargs)
