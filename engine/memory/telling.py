"""Telling a memory events: each is checked before anything changes, time passes up to it, and it
is encoded in its tick.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import Final

from ..base.turns import Turns
from ..contract.columns import Phase
from ..contract.hooks import Incoming
from ..contract.records import Event
from ..contract.vocabulary import ROW, VETO
from ..state.clock import Jump
from .arguments import checked_event
from .arrivals import arrival, warning_of_event
from .assembly import Assembly
from .changes import Changes
from .encoded import Encoded, warning_of
from .passing import Passing

# events that `encode_all` takes, embeds and encodes at a time; forecasts of more would rest on rows
# that are not stored yet
CHUNK: Final = 256


class Telling:
    """How one memory takes events.

    quiet  whether a refusal by a gate is not warned of
    """

    def __init__(
        self, assembly: Assembly, changes: Changes, passing: Passing, *, quiet: bool
    ) -> None:
        self._assembly, self._changes, self._passing = assembly, changes, passing
        self._log, self._quiet = assembly.event_log, quiet

    def sound(
        self, events: Iterable[Event], confirm: bool, *, near: bool = False
    ) -> list[tuple[Event, float]]:
        """The events, checked, each with the time, h, at which it arrives: none is too late, and
        no two have the same id.  Raises InputError.

        near  whether no event may bring more nights than any user can mean
        """
        arriving, ids, now, passing = list[tuple[Event, float]](), set[str](), None, self._passing
        for given in events:
            event = checked_event(passing.dated(given))
            self._log.require_new(event.id, ids)
            now = arrival(
                event.time,
                passing.since if now is None else now,
                passing.late_hours,
                passing.jump_hours,
                confirm,
                where := _where(event),
            )
            if near:
                passing.require_near(now, where)
            arriving.append((event, now))
        return arriving

    def encode_all(
        self, events: Iterable[Event], confirm: bool, turns: Turns, encode: Callable[..., Encoded]
    ) -> list[Encoded]:
        """As `Engine.encode_all`.

        encode  of one event
        """
        whole = isinstance(events, list | tuple)
        with turns.alone() if whole else nullcontext():
            if whole:
                events = [event for event, _ in self.sound(events, confirm)]
            coming, encoded = iter(events), list[Encoded]()
            while pending := list(islice(coming, CHUNK)):
                with turns.alone():
                    self._changes.require("encode_all")
                    pending = [event for event, _ in self.sound(pending, confirm)]
                    self._assembly.embed_ahead(pending)
                    if self._assembly.forecasts:
                        self._assembly.embed_forecast(pending)
                    encoded += [encode(event, confirm=confirm) for event in pending]
            if encoded:
                with turns.alone():
                    self._passing.advance(self._assembly.clock.now)
            return encoded

    def store(self, event: Event, time: float) -> Encoded:
        """Encode a checked event that arrives at a time, h."""
        if time < event.time:
            warnings.warn(
                warning_of_event(event, self._assembly.clock.now, _where(event)), stacklevel=4
            )
        incoming = self._assembly.incoming(event)
        jumps = self._passing.arrive(time, len(self._log.events))
        self._store_in_tick(event, time, jumps, incoming)
        row = int(self._assembly.store.array(ROW)[()])
        return Encoded(row) if row >= 0 else self._refused()

    def again(self, event: Event, time: float, jumps: Sequence[tuple[int, float]]) -> None:
        """Encode an event of the log, in the tick that has begun."""
        after = tuple(Jump(*jump) for jump in jumps)
        self._store_in_tick(event, time, after, self._assembly.incoming(event))

    def _store_in_tick(
        self, event: Event, time: float, jumps: tuple[Jump, ...], incoming: Incoming
    ) -> None:
        """jumps: of the clock then."""
        with self._changes.logged("encode", Phase.ENCODE, event, time, jumps):
            self._passing.begin(time, jumps)
            self._assembly.run[Phase.ENCODE](incoming)

    def _refused(self) -> Encoded:
        """The result of an event that the last pass did not store; the first one warns."""
        refused = Encoded(vetoed_by=self._assembly.plans[Phase.ENCODE].contributors(VETO))
        if not self._quiet:
            self._quiet = True
            warnings.warn(warning_of(refused), stacklevel=5)
        return refused


def _where(event: Event) -> str:
    return f"event {event.id or event.text[:40]!r}"
