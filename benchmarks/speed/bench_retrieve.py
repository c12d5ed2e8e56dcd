"""Speed of retrieval: all signals of the set `minimal`, fusion and the ten best; the query's
embedding costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.contract.records import Query
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.memory.engine import Engine

TARGETS = {1_000: None, 10_000: 4.0, 100_000: 25.0}  # ms, p50
Memory = Callable[[int], Engine]
Asked = Callable[[int], Iterator[Query]]


@pytest.mark.parametrize("n", sizes(*TARGETS))
def test_retrieve(clock: Any, memory: Memory, asked: Asked, n: int) -> None:
    grown_memory, queries = memory(n), asked(n)
    clock(lambda: grown_memory.retrieve(next(queries)), 192, target=TARGETS.get(n))


@pytest.mark.parametrize("n", sizes(*TARGETS))
def test_cue(clock: Any, memory: Memory, asked: Asked, n: int) -> None:
    """Reading the question alone; its cost does not depend on n."""
    grown_memory, queries = memory(n), asked(n)
    clock(lambda: grown_memory.assembly.cue(next(queries)), 192)


@pytest.mark.parametrize("n", sizes(1_000, 10_000))
def test_learn(clock: Any, grown: Callable[..., Engine], asked: Asked, n: int) -> None:
    """Recall that changes memory."""
    grown_memory, queries = grown(n), asked(n)
    clock(lambda: grown_memory.retrieve(next(queries), learn=True), 192)


def test_observed(clock: Any, grown: Callable[..., Engine], asked: Asked) -> None:
    """With receipts and timings of every step, at 1,000 units; the reference has no observer."""
    n = sizes(1_000)[0]
    plain, watched, queries, same = grown(n), grown(n, observer=Observer()), asked(n), asked(n)
    clock(
        lambda: watched.retrieve(next(queries)),
        192,
        reference=lambda: plain.retrieve(next(same)),
        against="without observer",
    )
