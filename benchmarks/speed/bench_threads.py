"""Questions of two threads at the same time, and one question of two threads: the ratio is the
throughput of two threads over that of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.contract.records import Query
from hebbarium.engine.memory.engine import Engine

EACH = 32  # questions of a thread
SIZES = sizes(1_000, 10_000, 100_000)


@pytest.mark.parametrize("n", SIZES)
def test_two_threads(
    clock: Any, memory: Callable[[int], Engine], asked: Callable[[int], Iterator[Query]], n: int
) -> None:
    """The set `minimal`; a memory of 1,000 units is asked by one thread at a time.  No question
    has helpers.
    """
    shared, queries = memory(n), list(zip(range(2 * EACH), asked(n), strict=False))
    shared.assembly.crew.threads = 1

    def ask(first: int) -> None:
        for _, query in queries[first::2]:
            shared.retrieve(query)

    def alone() -> None:
        ask(0)
        ask(1)

    with ThreadPoolExecutor(2) as pool:
        clock(
            lambda: list(pool.map(ask, (0, 1))),
            12,
            reference=alone,
            against="one thread",
            per=2 * EACH,
        )


@pytest.mark.parametrize("n", SIZES)
def test_one_question_of_two_threads(
    clock: Any, memory: Callable[[int], Engine], asked: Callable[[int], Iterator[Query]], n: int
) -> None:
    """Also in memories that are too small for helpers by default."""
    shared, queries = memory(n), asked(n)
    crew, usual = shared.assembly.crew, shared.assembly.helped_from
    shared.assembly.helped_from = 0

    def ask(threads: int) -> None:
        crew.threads = threads
        shared.retrieve(next(queries))

    clock(lambda: ask(2), 64, reference=lambda: ask(1), against="one thread", warmup=4)
    crew.threads, shared.assembly.helped_from = 1, usual
