"""CPU times of mechanisms: their hooks alone, in the phase where they are, and rows that do not
depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from hebbarium.benchmarks.datasets import Conversation, Question
from hebbarium.benchmarks.experiments import costs as module
from hebbarium.benchmarks.experiments.costs import HookTimes, costs_of
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.testing.conformance import talk

REGISTRY = Registry.read()
CHOSEN = REGISTRY.set("minimal")


def conversation() -> Conversation:
    events = tuple(talk(12))
    return Conversation(
        "c",
        events,
        tuple(
            Question(f"q{i}", events[i].text[:20], events[-1].time + 1.0, "kind", (events[i].id,))
            for i in range(4)
        ),
    )


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A clock that moves on 1 ms at each reading, so that every call of a hook takes 1 ms."""
    ticks = count()
    monkeypatch.setattr(module, "thread_time", lambda: next(ticks) / 1e3)
    yield


def test_costs_are_calls_of_hooks_an_event_a_query_and_a_night(ticking: None) -> None:
    hooks: dict[str, set[Phase]] = {
        m.id: {h.phase for h in type(m).hooks()} for m in REGISTRY.build(CHOSEN)
    }
    for cost in costs_of(CHOSEN, REGISTRY, conversation(), HashingEmbedder(32)):
        phases = hooks[cost.mechanism]
        assert (cost.query is not None) == bool(phases & {Phase.RETRIEVE, Phase.MAINTAIN}), cost
        assert (cost.event is not None) == bool(phases & {Phase.ENCODE, Phase.MAINTAIN}), cost
        assert (cost.night is not None) <= (Phase.CONSOLIDATE in phases), cost
    dense = next(
        c
        for c in costs_of(CHOSEN, REGISTRY, conversation(), HashingEmbedder(32))
        if c.mechanism == "dense_similarity"
    )
    assert (dense.event, dense.query, dense.night) == (None, pytest.approx(1.0), None), (
        "one hook, called once a query"
    )


def test_a_timed_memory_answers_like_another() -> None:
    answers = []
    for observer in (None, HookTimes()):
        engine = Engine(REGISTRY.build(CHOSEN), HashingEmbedder(32), seed=0, observer=observer)
        engine.encode_all(conversation().events)
        answers.append(
            [
                (unit.id, score)
                for unit, score in zip(
                    *(lambda a: (a.units, a.scores))(engine.retrieve("boat", 8)), strict=True
                )
            ]
        )
        engine.close()
    assert answers[0] == answers[1]
