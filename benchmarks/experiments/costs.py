"""What each mechanism costs: CPU time of its hooks in one life, apart from the cells of an
experiment, so that no row depends on it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from time import thread_time
from typing import Any

from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.contract.columns import Phase
from ...engine.contract.records import Query
from ...engine.flow.passes import StepFunction
from ...engine.flow.schedule import Node
from ...engine.flow.view import Binding
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import Embedder
from ..datasets import Conversation
from ..datasets.base import stops
from ..reports.result import Cost


@dataclass
class HookTimes:
    """An instrument that adds up the CPU time of every hook and counts passes.

    ms      (mechanism id, phase) -> total
    passes  of each phase
    """

    ms: defaultdict[tuple[str, Phase], float] = field(default_factory=lambda: defaultdict(float))
    passes: Counter[Phase] = field(default_factory=Counter)
    contributions: None = None

    def add(self, after: HookTimes, before: HookTimes) -> None:
        """Add what was measured between two states of an instrument."""
        for key, ms in after.ms.items():
            self.ms[key] += ms - before.ms.get(key, 0.0)
        self.passes.update(after.passes - before.passes)

    def copy(self) -> HookTimes:
        return HookTimes(self.ms.copy(), self.passes.copy())

    def attach(
        self, ids: Iterable[str], clock: object, embedder: object, language_model: object
    ) -> None:
        """Nothing is needed of the memory."""

    def wrap(self, node: Node, binding: Binding, function: StepFunction) -> StepFunction:
        """The step, with its time added up."""
        key = node.owner, node.phase

        def call(view: Any, what: Any) -> None:
            start = thread_time()
            function(view, what)
            self.ms[key] += (thread_time() - start) * 1e3

        return call

    def timed(self, phase: Phase, run: Callable[..., None]) -> Callable[..., None]:
        """The pass, counted."""

        def call(*args: Any) -> None:
            self.passes[phase] += 1
            run(*args)

        return call


def costs_of(
    chosen: MechanismSet,
    registry: Registry,
    conversation: Conversation,
    embedder: Embedder,
    *,
    seed: int = 0,
    k: int = 10,
) -> list[Cost]:
    """The costs of every mechanism of a set: one conversation is lived twice, and the second life
    is timed.

    A cost is ms of one thread, without the engine's own steps and without embedding: an event with
    the maintenance up to it, a query with the maintenance up to it, and a night; None where the
    mechanism has no hook there, or nothing of the kind happens.
    """
    held = conversation.held()
    lived(chosen, registry, held, embedder, seed, k)  # compiles, and fills caches
    told, asked = lived(chosen, registry, held, embedder, seed, k)
    n_events, n_questions, nights = (
        len(held.events),
        len(held.questions),
        told.passes[Phase.CONSOLIDATE] + asked.passes[Phase.CONSOLIDATE],
    )
    costs = []
    for id in chosen.mechanisms:
        event = _each((told.ms, id, (Phase.ENCODE, Phase.MAINTAIN)), n=n_events)
        query = _each((asked.ms, id, (Phase.RETRIEVE, Phase.MAINTAIN)), n=n_questions)
        night = _each(
            (told.ms, id, (Phase.CONSOLIDATE,)), (asked.ms, id, (Phase.CONSOLIDATE,)), n=nights
        )
        costs.append(Cost(id, event, query, night))
    return costs


def lived(
    chosen: MechanismSet,
    registry: Registry,
    conversation: Conversation,
    embedder: Embedder,
    seed: int,
    k: int,
) -> tuple[HookTimes, HookTimes]:
    """Times of the hooks in one life of a conversation: of its events, and of its questions."""
    times = HookTimes()
    with closing(Engine(registry.build(chosen), embedder, seed=seed, observer=times)) as engine:
        told, asked = HookTimes(), HookTimes()
        for stop in stops(conversation):
            before = times.copy()
            engine.encode_all(stop.events)
            told.add(times, before)
            before = times.copy()
            for question in stop.questions:
                engine.advance(max(question.time, engine.now))
                engine.retrieve(Query(question.text, engine.now, question.id), k)
            asked.add(times, before)
    return told, asked


def _each(
    *parts: tuple[Mapping[tuple[str, Phase], float], str, tuple[Phase, ...]], n: int
) -> float | None:
    values = [ms[id, phase] for ms, id, phases in parts for phase in phases if (id, phase) in ms]
    return sum(values) / n if values and n else None
