"""Mechanisms with a known effect, made on the spot, for tests of the engine."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import new_class
from typing import Any

import numpy as np

from hebbarium.engine.columns import Column, Facet, Phase, Scope, Signal, signal
from hebbarium.engine.contract import HookFunction, Mechanism, Params, hook
from hebbarium.engine.loop import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.records import Event
from hebbarium.engine.vocabulary import ROW


@dataclass(frozen=True, slots=True)
class Weighted(Params):
    weight: float


Body = Callable[[Any, Any], None]
Declared = tuple[Phase, dict[str, Any], Body]


def does(phase: Phase, body: Body, *, reads: Any = (), adds: Any = (), sets: Any = ()) -> Declared:
    """A hook: when, what it declares, what it does with (view, what)."""
    return phase, {"reads": tuple(reads), "adds": tuple(adds), "sets": tuple(sets)}, body


def mechanism(id: str, *hooks: Declared, owns: Iterable[Any] = (), order: int = 0) -> Mechanism[Any]:
    members: dict[str, Any] = {"owns": tuple(owns)}
    for i, (phase, declared, body) in enumerate(hooks):
        members[f"hook{i}"] = hook(phase, **declared)(_method(f"hook{i}", body))
    made: type[Mechanism[Weighted]] = new_class(id, (Mechanism[Weighted],), exec_body=lambda space: space.update(members))
    return made(id, Weighted(1.0, 1.0), order=order)


def _method(name: str, body: Body) -> HookFunction:
    def method(self: Any, view: Any, what: Any) -> None:
        body(view, what)

    method.__name__ = name
    return method


def column(name: str, scope: Scope = Scope.MEMORY, neutral: Any = 0.0, dtype: Any = np.float64, **more: Any) -> Column:
    return Column(name, dtype, scope, "1", neutral, "for the test", **more)


def score(name: str, **more: Any) -> Signal:
    return signal(name, Facet.WORDS, "for the test", **more)


def by_number(name: str = "number", order: int = 0) -> Mechanism[Any]:
    """Ranks memories by the number that their text ends in, the largest first."""
    mine, held = score(name), column(f"{name}_held")

    def dress(view: Any, incoming: Any) -> None:
        getattr(view, held.name)[view.row] = float(incoming.event.text.split()[-1])

    def ask(view: Any, cue: Any) -> None:
        getattr(view, name)[...] = getattr(view, held.name)

    return mechanism(name, does(Phase.ENCODE, dress, reads=[ROW], sets=[held]), does(Phase.RETRIEVE, ask, reads=[held], sets=[mine]),
                     owns=[mine, held], order=order)


def memory(*mechanisms: Mechanism[Any], **options: Any) -> Engine:
    return Engine(mechanisms, HashingEmbedder(16), **options)


def numbered(*numbers: float, start: float = 0.0, step: float = 0.01) -> list[Event]:
    return [Event(start + i * step, f"number {number}", id=f"e{i}") for i, number in enumerate(numbers)]
