"""Small memories: mechanisms with a known effect, made from functions, and numbered events, for
tests of the engine and of mechanisms.

>>> m = memory(by_number())                             # ranks memories by the number that their text ends in
>>> m.encode_all(numbered(3, 9, 5))
[0, 1, 2]
>>> m.retrieve("number").rows.tolist()
[1, 2, 0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import new_class
from typing import Any

import numpy as np

from ..engine.contract.columns import Column, Facet, Phase, Scope, Signal, signal
from ..engine.contract.hooks import HookFunction, Mechanism, Params, hook
from ..engine.contract.records import Event
from ..engine.contract.vocabulary import ROW
from ..engine.memory.engine import Engine
from ..engine.ports.embedder import HashingEmbedder


@dataclass(frozen=True, slots=True)
class Weighted(Params):
    weight: float  # trust in the fused ranking


Body = Callable[[Any, Any], None]
Declared = tuple[Phase, dict[str, Any], Body]


def does(phase: Phase, body: Body, *, reads: Any = (), adds: Any = (), sets: Any = ()) -> Declared:
    """A hook for `mechanism`: its phase, its declarations, and its body, called with (view,
    incoming | cue | tick).
    """
    return phase, {"reads": tuple(reads), "adds": tuple(adds), "sets": tuple(sets)}, body


def mechanism(
    id: str, *hooks: Declared, owns: Iterable[Any] = (), order: int = 0
) -> Mechanism[Any]:
    """A mechanism of these hooks and columns, with weight 1; `order` is its place in the
    registry.
    """
    members: dict[str, Any] = {"owns": tuple(owns)}
    for i, (phase, declared, body) in enumerate(hooks):
        members[f"hook{i}"] = hook(phase, **declared)(_method(f"hook{i}", body))
    made: type[Mechanism[Weighted]] = new_class(
        id, (Mechanism[Weighted],), exec_body=lambda space: space.update(members)
    )
    return made(id, Weighted(1.0, 1.0), order=order)


def _method(name: str, body: Body) -> HookFunction:
    def method(self: Any, view: Any, what: Any) -> None:
        body(view, what)

    method.__name__ = name
    return method


def column(
    name: str, scope: Scope = Scope.MEMORY, neutral: Any = 0.0, dtype: Any = np.float64, **more: Any
) -> Column:
    """A column without a unit; `more` are further fields of Column."""
    return Column(name, dtype, scope, "1", neutral, "for the test", **more)


def score(name: str, **more: Any) -> Signal:
    """A signal of the facet WORDS; `more` are further options of `signal`."""
    return signal(name, Facet.WORDS, "for the test", **more)


def by_number(name: str = "number", order: int = 0) -> Mechanism[Any]:
    """Ranks memories by the number that their text ends in, the largest first."""
    mine, held = score(name), column(f"{name}_held")

    def dress(view: Any, incoming: Any) -> None:
        getattr(view, held.name)[view.row] = float(incoming.event.text.split()[-1])

    def ask(view: Any, cue: Any) -> None:
        getattr(view, name)[...] = getattr(view, held.name)

    return mechanism(
        name,
        does(Phase.ENCODE, dress, reads=[ROW], sets=[held]),
        does(Phase.RETRIEVE, ask, reads=[held], sets=[mine]),
        owns=[mine, held],
        order=order,
    )


def memory(*mechanisms: Mechanism[Any], **options: Any) -> Engine:
    """An engine with these mechanisms on a hashing embedder of 16 dimensions; `options` are
    those of Engine.
    """
    return Engine(mechanisms, HashingEmbedder(16), **options)


def numbered(*numbers: float, start: float = 0.0, step: float = 0.01) -> list[Event]:
    """Events `number 3`, `number 9`, ... with ids e0, e1, ..., `step` hours apart."""
    return [
        Event(start + i * step, f"number {number}", id=f"e{i}") for i, number in enumerate(numbers)
    ]
