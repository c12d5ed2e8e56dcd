"""Speed of each mechanism alone, in a memory of 10,000 units in which every mechanism is on: its
retrieve hooks and its maintain hooks.

A repeated call of these hooks on the state of one query or one tick writes the same values.  A
repeated call of an encode hook does not, so an observer sums the time of each over a run of events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, islice
from typing import Any

import pytest

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Tick
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import RECALLED
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.memory.engine import Engine

UNITS, EVENTS = sizes(10_000)[-1], 256
REGISTRY = Registry.read()


def acting(phase: Phase) -> list[str]:
    """Mechanisms with a hook of the phase that runs without recall."""
    chosen = REGISTRY.set("everything").mechanisms
    return [
        id
        for id in chosen
        if any(
            h.phase is phase and RECALLED not in h.reads for h in REGISTRY.entry(id).load().hooks()
        )
    ]


@pytest.fixture(scope="module")
def whole(grown: Callable[..., Engine], asked: Callable[[int], Iterator[Query]]) -> Engine:
    """A memory of everything, after one maintenance and one query."""
    memory = grown(UNITS, chosen="everything")
    memory.advance(memory.now + 1.0)
    memory.retrieve(next(asked(UNITS)).text)
    return memory


def repeated(memory: Engine, phase: Phase, id: str, occasions: Iterable[Any]) -> Callable[[], None]:
    mine, in_turn = (
        [
            s
            for s in memory.assembly.plans[phase].steps
            if s.node.owner == id and not s.needs_recall
        ],
        cycle(list(occasions)),
    )

    def call() -> None:
        what = next(in_turn)
        for step in mine:
            step.binding.bind()
            step.function(step.binding.view, what)

    return call


@pytest.mark.parametrize("id", acting(Phase.RETRIEVE))
def test_retrieve(
    clock: Any, whole: Engine, asked: Callable[[int], Iterator[Query]], id: str
) -> None:
    clock(
        repeated(whole, Phase.RETRIEVE, id, map(whole.assembly.cue, islice(asked(UNITS), 64))), 64
    )


@pytest.mark.parametrize("id", acting(Phase.MAINTAIN))
def test_maintain(clock: Any, whole: Engine, id: str) -> None:
    clock(repeated(whole, Phase.MAINTAIN, id, [Tick(whole.now - 1.0, whole.now)]), 32)


def test_encode(
    clock: Any, grown: Callable[..., Engine], turns: Callable[[int, int], Iterator[Event]]
) -> None:
    """All mechanisms, event by event; `-s` prints the time of each."""
    observer = Observer()
    memory, more = grown(UNITS, observer=observer, chosen="everything"), turns(UNITS, 2 * EVENTS)
    observer.mechanism_ms.clear()
    clock(lambda: memory.encode(next(more)), EVENTS)
    for id, ms in sorted(observer.mechanism_ms.items(), key=lambda item: -item[1]):
        print(f"{id:28} {ms / EVENTS:.3f} ms an event")
