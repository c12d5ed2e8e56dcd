"""Speed of contexts with the sources of `stages`: assembling beyond retrieval, the walk of
adjacent_stages if it is kept, and a kept context.

Embedding costs nothing here.  `-k 1000` leaves out the large memory, which takes minutes to build.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from time import thread_time
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.assembly import assemble
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.retrieval.adjacent_stages import Walks

UNITS = sizes(1_000, 20_000)
BUDGETS = (1_024, 4_096)
# ms, most: p50 of assembling beyond retrieval, and of a kept context
BEYOND, KEPT = 50.0, 1.0
ASKED = 24  # questions
MONTH = 24.0 * 30

Turns = Callable[[int, int], Iterator[Event]]


@pytest.fixture(scope="module")
def staged(grown: Callable[..., Engine], turns: Turns) -> Callable[[int], Engine]:
    """A memory of n events with the set `stages`, and a summary of each of its closed stages."""

    def made(n: int) -> Engine:
        registry = Registry.read()
        memory = Engine(
            registry.build(registry.set("stages")),
            grown(1).assembly.embedder.embedder,
            tick_hours=MONTH,
            consolidate_every=1e9,
        )
        index: Any = memory.assembly.index
        index.search = lambda *_: (np.empty(0, np.int64), np.empty(0, np.float32))
        for event, _ in zip(turns(0, n), range(n), strict=False):
            memory.encode(event)
        del index.search
        memory.assembly.clock.consolidated = memory.now
        memory.passing.consolidate_every = 24.0
        memory.advance(memory.now + 25.0)
        assert memory.store.n > n
        return memory

    return cache(made)


def timed(call: Callable[[Query], Any], query: Query) -> float:
    """ms of this thread, so that other programs do not count."""
    start = thread_time()
    call(query)
    return 1e3 * (thread_time() - start)


@pytest.mark.parametrize("session", ["", "asker"])
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("n", UNITS)
def test_assembling(
    clock: Any,
    benchmark: Any,
    staged: Callable[[int], Engine],
    asked: Callable[[int], Iterator[Query]],
    n: int,
    budget: int,
    session: str,
) -> None:
    """A new context, against a retrieval; the difference, and the same with the walk kept and
    made anew, in `extra_info` and with `-s`.
    """
    memory, queries, asker = staged(n), asked(n), f"session_{n // 40}" if session else None
    walker: Any = next(m for m in memory.mechanisms if m.id == "adjacent_stages")

    def assembled(query: Query) -> Any:
        return assemble(memory, query, budget, session=asker)

    clock(
        lambda: assembled(next(queries)),
        ASKED,
        reference=lambda: memory.retrieve(next(queries)),
        against="retrieval",
    )
    beyond, kept, anew = list[float](), list[float](), list[float]()
    for query, _ in zip(queries, range(ASKED), strict=False):
        walker.walks = Walks()
        anew.append(timed(assembled, query))
        kept.append(timed(assembled, query))
        beyond.append(anew[-1] - timed(memory.retrieve, query))
    figures = {
        "beyond_ms": float(np.median(beyond)),
        "anew_ms": float(np.median(anew)),
        "kept_ms": float(np.median(kept)),
    }
    benchmark.extra_info.update(figures)
    print(
        f"\n{n:,} events, {budget:,} tokens, session {asker}: "
        + ", ".join(f"{name} {value:.1f}" for name, value in figures.items())
    )
    assert benchmark.disabled or figures["beyond_ms"] <= BEYOND


@pytest.mark.parametrize("n", UNITS)
def test_kept(
    clock: Any, staged: Callable[[int], Engine], asked: Callable[[int], Iterator[Query]], n: int
) -> None:
    """A context of 4,096 tokens that was asked before, of the same state."""
    memory, query = staged(n), next(asked(n))
    memory.context(query, 4_096)
    clock(lambda: memory.context(query, 4_096), 200, target=KEPT)
