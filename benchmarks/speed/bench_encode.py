"""Speed of encoding an event: features, postings, graph, index and every encoding hook; the
embedding costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.contract.records import Event
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.memory.engine import Engine

TARGETS = {1_000: None, 10_000: 1.5, 100_000: None}  # ms an event
COUNT = 400
Memory = Callable[[int], Engine]
Turns = Callable[[int, int], Iterator[Event]]


def encoder(memory: Engine, events: Iterator[Event]) -> Callable[[], object]:
    """Encodes one event after the other at the memory's present time, so that no tick is due."""
    return lambda: memory.encode(replace(next(events), time=memory.now))


@pytest.mark.parametrize("n", sizes(*TARGETS))
def test_encode(clock: Any, memory: Memory, turns: Turns, n: int) -> None:
    clock(encoder(memory(n), turns(n, COUNT)), COUNT, target=TARGETS.get(n))


@pytest.mark.parametrize("n", sizes(1_000, 10_000))
def test_gated(
    clock: Any, grown: Callable[..., Engine], memory: Memory, turns: Turns, n: int
) -> None:
    """With True Memory's write gate, which searches the index and compresses the nearest texts;
    the reference has no gate.
    """
    # each memory is told texts of its own, for a process reads a text once
    gated, events, others = (
        grown(n, also=("write_gate_true_memory",)),
        turns(n, COUNT),
        turns(n + COUNT, COUNT),
    )
    clock(
        encoder(gated, events),
        COUNT,
        target=TARGETS.get(n),
        reference=encoder(memory(n), others),
        against="without the gate",
    )


@pytest.mark.parametrize("n", sizes(1_000, 4_000))
def test_observed(clock: Any, grown: Callable[..., Engine], turns: Turns, n: int) -> None:
    """With receipts and timings of every step; the reference has no observer."""
    # each memory is told texts of its own, for a process reads a text once
    plain, watched, events, others = (
        grown(n),
        grown(n, observer=Observer()),
        turns(n, COUNT),
        turns(n + COUNT, COUNT),
    )
    clock(
        encoder(watched, events),
        COUNT // 2,
        reference=encoder(plain, others),
        against="without observer",
    )


@pytest.mark.parametrize("n", sizes(*TARGETS))
def test_day(clock: Any, memory: Memory, turns: Turns, n: int) -> None:
    """A whole day: twenty events, three maintenances and a consolidation."""
    grown_memory, events = memory(n), turns(n, COUNT)
    grown_memory.passing.tick_hours, grown_memory.passing.consolidate_every = 1.0, 24.0

    def day() -> None:
        for minute in range(20):
            grown_memory.encode(
                replace(next(events), time=grown_memory.now + (1.0 / 60.0 if minute else 0.0))
            )
        for _ in range(2):
            grown_memory.advance(grown_memory.now + 12.0)

    grown_memory.advance(grown_memory.now + 24.0 * 30)
    clock(day, 10)
