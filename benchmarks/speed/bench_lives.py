"""Speed of a memory in use: an event, a question and a use of the set `in_use` at 300 rows, at the
end of a life in each world.

Embedding is left out: every text is embedded before the memory lives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import count, cycle
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.systems.hebbarium import Hebbarium
from hebbarium.benchmarks.worlds.collection import WORLDS
from hebbarium.benchmarks.worlds.run import lived
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.flow.observer import Stopwatch
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.by_name import embedder

EVENT, QUESTION, USE = 3.0, 2.0, 1.0  # ms, most at 300 rows
ROUNDS = 64
NAMES = list(WORLDS)


@cache
def end_of_life(name: str) -> tuple[Engine, list[Event], list[Query]]:
    """The memory after the life of seed 0 at s = 1; the last events, to be told again, and the
    last questions, with a new session each.
    """
    registry, world = Registry.read(), WORLDS[name]
    life, known = world.make(1.0, 0), embedder("hashing:384")
    known.embed([step.rendered() if isinstance(step, Event) else step.text for step in life.steps])
    system = Hebbarium(
        registry.build(registry.set("in_use")), known, 0, Stopwatch(), capacity=world.capacity
    )
    lived(system, life, world.k)
    memory = system.engine
    return (
        memory,
        [replace(event, time=memory.now) for event in life.events[-ROUNDS:]],
        [Query(ask.text, memory.now, ask.id, session=ask.session) for ask in life.asks[-ROUNDS:]],
    )


def asking(name: str) -> tuple[Engine, Callable[[], Any]]:
    memory, _, queries = end_of_life(name)
    coming = cycle(queries)
    return memory, lambda: memory.retrieve(next(coming), WORLDS[name].k)


@pytest.mark.parametrize("name", NAMES)
def test_question(clock: Any, name: str) -> None:
    _, ask = asking(name)
    clock(ask, ROUNDS, target=QUESTION)


@pytest.mark.parametrize("name", NAMES)
def test_use(clock: Any, name: str) -> None:
    """At once after the question, as the worlds tell it."""
    memory, ask = asking(name)
    answers: list[Any] = []
    clock(
        lambda: memory.use(answers[-1], answers[-1].rows[:1]),
        ROUNDS,
        target=USE,
        reference=lambda: answers.append(ask()),
        against="the question",
    )
    assert np.isfinite(answers[-1].scores).all()


@pytest.mark.parametrize("name", NAMES)
def test_event(clock: Any, name: str) -> None:
    memory, events, _ = end_of_life(name)
    number = count()
    told = cycle(events)

    def tell() -> None:
        event = next(told)
        memory.encode(replace(event, id=f"again {next(number)}"))

    clock(tell, ROUNDS, target=EVENT)
