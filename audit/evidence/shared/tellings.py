"""Evidence with an event that is told after it happened: what passes with time passes from the
telling on, since a clock may be wrong and nobody has confirmed it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....engine.contract.columns import Before
from ....engine.contract.hooks import hook
from ....engine.contract.records import Event
from ....engine.contract.vocabulary import ARRIVED, CREATED
from ....engine.memory.engine import Engine
from .views import Instead


def tell(memory: Engine, told: float, event: Event) -> int | None:
    """Encode an event at a time, h, which may be later than its own; its row, None if a gate
    refused it.
    """
    if event.time < told:
        memory.passing.late_hours = max(memory.passing.late_hours, told - event.time)
        memory.advance(told)
    return memory.encode(event).row


_HAPPENED: Mapping[Any, Any] = {ARRIVED: CREATED, Before(ARRIVED): CREATED.before}


def as_happened(specimen: Any, name: str, method: str) -> Any:
    """A mutant: the specimen, whose plug-in of this name counts time in one hook from when an event
    happened, not from when it was told.
    """
    original = getattr(specimen, name).__dict__[method]
    declared = original.__hook__

    def counted(self: Any, view: Any, what: Any) -> None:
        original(self, Instead(view, arrived=view.created), what)

    counted.__name__ = method
    reads = tuple(_HAPPENED.get(read, read) for read in declared.reads)
    declare = hook(declared.phase, reads=reads, adds=declared.adds, sets=declared.sets)
    return specimen.overriding(name, **{method: declare(counted)})
