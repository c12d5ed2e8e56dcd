"""Rest: a mechanism that says that it is at rest changes nothing in later sleeps, by nights of three
hours.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np

from ...engine.catalogue.registry import Entry, Registry
from ...engine.contract import vocabulary as v
from ...engine.contract.columns import Column, Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.hooks import Incoming, Mechanism, Params, Tick, at_rest, hook
from ...engine.memory.engine import Engine
from ..life import REST, Circumstances, lived, replying
from .lives import read_by, shipped_and_switched_on

NIGHT: Final = 3.0  # h from sleep to sleep
FADING: Final = 0.1  # ln a square root of an hour


class Teller(Mechanism[Params]):
    """In the first sleep after an event makes a summary of it that names a thing of its own."""

    @hook(Phase.CONSOLIDATE, reads=(v.WRITING.before,), adds=(v.DRAFTS,), sets=())
    def draft(self, view: Any, tick: Tick) -> None:
        told = np.flatnonzero(view.writing < 0)
        if told.size and told[-1] == len(view.writing) - 1:
            text = f"Dora bought car {len(view.writing)} for {len(view.writing)} dollars."
            view.drafts.add(Draft(text, Kind.SUMMARY, (int(told[-1]),)))

    @at_rest(reads=())
    def told(self, view: Any, tick: Tick) -> bool:
        return True


class Fading(Mechanism[Params]):
    """Memories fade with time, so that what is read of their strength and of their need is another in
    each sleep, and differs between memories.
    """

    @hook(Phase.MAINTAIN, reads=(v.ARRIVED,), adds=(v.LOG_STRENGTH, v.ACTIVATION), sets=())
    def fade(self, view: Any, tick: Tick) -> None:
        age = np.maximum(tick.end - view.arrived, 0.0)
        view.log_strength -= FADING * np.sqrt(age)
        view.activation -= FADING * np.log1p(age)


class Stirring(Mechanism[Params]):
    """Every event is as salient as one can be."""

    @hook(Phase.ENCODE, reads=(), adds=(), sets=(v.SALIENCE,))
    def stir(self, view: Any, incoming: Incoming) -> None:
        view.salience = 1.0


def wrong_rest(entry: Entry, registry: Registry) -> Iterator[str]:
    """A mechanism that says that it is at rest and changes in a later sleep, or changes no more and
    never says so.
    """
    if entry.load().rests():
        for around in shipped_and_switched_on(entry):
            yield from _wrong_rest(entry, registry, around)


def _wrong_rest(entry: Entry, registry: Registry, around: Circumstances) -> Iterator[str]:
    loaded = entry.load()
    written = {
        item
        for declared in loaded.hooks()
        if declared.phase is Phase.CONSOLIDATE
        for item in (*declared.adds, *declared.sets)
        if isinstance(item, Column) and item.persists and item.upkeep.fresh is None
    }
    nights: list[tuple[int, bool, dict[str, object]]] = []

    def watch(memory: Engine, number: int) -> None:
        if number == 0:
            ask = memory.assembly.at_rest

            def asked(slept: Tick) -> bool:
                state: dict[str, object] = {c.name: memory.column(c).tobytes() for c in written}
                links = memory.store.structures[v.GRAPH]
                state["links"] = links.alive.tobytes()
                state["rows"] = memory.column(v.VISIBLE).tobytes()
                state["writings"] = len(memory.store.structures[v.WRITINGS])
                told = int(np.count_nonzero(memory.column(v.WRITING) < 0))
                nights.append((told, ask(slept), state))
                return False  # so that the nights that would change nothing are slept, too

            # a memory at rest would skip these nights
            memory.assembly.at_rest = asked  # type: ignore[method-assign]
        if number % 4 == 3:
            memory.advance(memory.now + 4 * NIGHT)

    beside: list[Mechanism[Any]] = [
        Teller("teller", Params(1.0), order=10**5),
        Fading("fading", Params(1.0)),
    ]
    if v.SALIENCE in read_by(loaded.hooks()):
        beside.append(Stirring("stirring", Params(1.0)))
    lived(
        registry,
        entry.id,
        around,
        beside=beside,
        consolidate_every=NIGHT,
        language_model=replying() if around.choices else None,
        after=watch,
    )
    for (when, rests, before), (later, _, after) in pairwise(nights):
        if rests and when == later and before != after:
            changed = ", ".join(sorted(name for name in before if before[name] != after.get(name)))
            yield f"it says that it is at rest, and the next sleep changes {changed}"
            return
    last = nights[-int(REST / NIGHT / 2) :]
    if last and all(state == last[0][2] for _, _, state in last) and not any(r for _, r, _ in last):
        yield "no sleep changes anything for weeks, and it does not say that it is at rest"
