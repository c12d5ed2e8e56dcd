"""The loop: maintain from the last tick to now, encode what is due, consolidate when it is time, answer what is asked."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .assembly import Assembly
from .checks import checked_count, checked_event, checked_hours, checked_query, checked_time
from .columns import Phase
from .contract import Mechanism, Tick
from .errors import ContractError
from .observer import Observer
from .ports.embedder import Embedder
from .ranking import Answer
from .records import Event, Query
from .state import Integrity
from .storage.snapshot import Snapshot
from .text.condensing import condensed
from .vocabulary import DETAIL, NOW, RECALLED, ROW, SLEEP_END, SLEEP_ONSET, VISIBLE


class Engine:
    """One memory: a set of mechanisms over a store, moved on by events, queries and simulated time.

    mechanisms         what is on, as `Registry.build` gives them
    embedder           turns texts into unit vectors
    seed               of every mechanism's own random stream
    tick_hours         events closer than this share one maintenance; what memory comes to does not depend on it.  A query sees what is
                       maintained as of the last tick: `advance(memory.now)` finishes the tick
    consolidate_every  h between consolidations, unless a mechanism says when memory sleeps; infinity: never
    path               a snapshot file to continue from and to keep up to date; None keeps all in memory
    observer           receipts, timings and traces from outside

    Bad input raises InputError before anything changes.  If a hook fails half-way, memory takes nothing more and saves nothing more:
    every later call raises HebbariumError, and a snapshot file stays at the last finished tick.
    """

    def __init__(self, mechanisms: Sequence[Mechanism[Any]], embedder: Embedder, *, seed: int = 0, tick_hours: float = 1.0,
                 consolidate_every: float = 24.0, path: Path | None = None, observer: Observer | None = None) -> None:
        self.tick_hours = checked_hours(tick_hours, "tick_hours", 0.0)
        self.consolidate_every = checked_hours(consolidate_every, "consolidate_every", 0.001)
        self.assembly, self._integrity = Assembly(mechanisms, embedder, seed, observer), Integrity()
        self.event_log, self.store, self.clock, self._run = self.assembly.event_log, self.assembly.store, self.assembly.clock, self.assembly.run
        self._snapshot = Snapshot(path, self.assembly, self.consolidate_every) if path else None
        self._news = True       # whether anything may have changed since the last maintenance

    @property
    def now(self) -> float:
        """h, simulated time; NaN before the first event."""
        return self.clock.now

    def encode(self, event: Event) -> int | None:
        """Take in an event.  Its row, or None if a gate kept it out.  Raises InputError, with nothing changed."""
        event = checked_event(event, self.now)
        incoming = self.assembly.incoming(event)
        with self._integrity.change("encode"):
            if math.isnan(self.now):
                self.clock.maintained = self.clock.consolidated = event.time
            elif event.time - self.clock.maintained >= self.tick_hours or event.time >= self._sleep()[0]:
                self._pass(event.time, waking=True)
                self.save()
            self._set_now(event.time)
            self._run[Phase.ENCODE](incoming)
            self._news = True
        row = int(self.store.array(ROW)[()])
        return row if row >= 0 else None

    def encode_all(self, events: Iterable[Event]) -> list[int | None]:
        """Take in events in order, and finish the tick; their texts are embedded together first, which is faster."""
        pending, now = [], self.now
        for event in events:
            pending.append(checked_event(event, now))
            now = pending[-1].time
        self.assembly.embed_ahead(pending)
        rows = [self.encode(event) for event in pending]
        if rows:
            self.advance(self.now)
        return rows

    def advance(self, time: float) -> None:
        """Let simulated time pass: maintenance up to `time`, cut at the sleeps that end by then.  Only an event ends a sleep early."""
        time = checked_time(time, self.now, "advance")
        if math.isnan(self.now):
            return
        with self._integrity.change("advance"):
            self._pass(time)
        self.save()

    def retrieve(self, query: Query | str, k: int = 10, *, learn: bool = False) -> Answer:
        """The k best memories for a query, as of the memory's present time; all there are if fewer.  Raises InputError.

        The state stays bit for bit as it is, unless `learn`: then recall may change memory.  A query from the future needs
        `advance(query.time)` first, for letting time pass changes memory.
        """
        query = checked_query(query, self.now)
        self.assembly.answer_size[0] = checked_count(k, "k")
        cue = self.assembly.cue(query)
        with self._integrity.change("retrieve", learn):
            self._run[Phase.RETRIEVE](cue, learn)
            self._news = self._news or learn
        final, rows = self.store.array(self.assembly.last_stage), self.store.structures[RECALLED]
        return Answer(rows, final[rows], final.copy(), self.store.array(VISIBLE).copy())

    @property
    def events(self) -> tuple[Event, ...]:
        """Every event ever taken in, verbatim and in order, those that a gate kept out as well.  O(events)."""
        return tuple(self.event_log.events)

    def event(self, row: int) -> Event:
        """The event behind a row, verbatim."""
        return self.event_log.of_row(int(row))

    def condensed(self, row: int) -> str:
        """What a context shows of a memory: all of its text, a summary or keywords, as DETAIL has it; the text itself stays in `event`."""
        return condensed(self.event(row).text, int(self.store.array(DETAIL)[row]))

    def archive(self, row: int) -> None:
        """Take a memory off the surface; its text and columns stay."""
        self._integrity.require("archive")
        self.assembly.show(row, False)
        self._news = True

    def restore(self, row: int) -> None:
        """Bring an archived memory back to the surface."""
        self._integrity.require("restore")
        self.assembly.show(row, True)
        self._news = True

    def save(self) -> None:
        """Bring the snapshot file up to date.  Nothing to do without one.  Raises SnapshotError; memory itself stays sound."""
        self._integrity.require("save")
        if self._snapshot:
            self._snapshot.save()

    def close(self) -> None:
        """Finish the tick and close the snapshot file in good order, after which memory takes nothing more; without one, nothing to do."""
        if self._snapshot:
            self._snapshot.close(save=not self._integrity.ended)
            self._snapshot = None
            self._integrity.end("is closed")

    def digest(self) -> str:
        """SHA-256 over the whole state."""
        return self.assembly.digest()

    def _sleep(self) -> tuple[float, float]:
        """When the sleep that memory is in, or will be in next, begins and ends, h; with nobody to say, a moment's sleep."""
        onset, end = self.store.array(SLEEP_ONSET).item(), self.store.array(SLEEP_END).item()
        due = self.clock.consolidated + self.consolidate_every
        return (due, due) if math.isnan(end) else (onset, end)

    def _pass(self, time: float, waking: bool = False) -> None:
        """Maintain up to `time`, cut at every sleep that is over by then; `waking` ends the one that is not."""
        while (end := self._sleep()[1]) <= time:
            self._consolidate(end)
            if self._sleep()[1] <= end:
                break
        self._maintain(time, again=not waking)
        if waking and self._sleep()[0] < time:
            self._consolidate(time)

    def _consolidate(self, time: float) -> None:
        """At the end of a sleep.  An empty memory does not sleep."""
        self._maintain(time)
        if self.store.n:
            self._run[Phase.CONSOLIDATE](Tick(self.clock.consolidated, time))
            self._news = True
        self.clock.consolidated = time
        if self.store.n and self._sleep()[1] <= time:
            raise ContractError(f"after the sleep that ended at {time:.4f} h the next is said to be over, too", where="consolidate",
                                cure="set SLEEP_ONSET and SLEEP_END anew in that phase")

    def _maintain(self, time: float, again: bool = False) -> None:
        """`again`: also if memory was maintained at that very time, for what came in since then."""
        self._set_now(time)
        if self.store.n and (time > self.clock.maintained or (again and self._news)):
            self._run[Phase.MAINTAIN](Tick(self.clock.maintained, time))
            self._news = False
        self.clock.maintained = time

    def _set_now(self, time: float) -> None:
        self.clock.now = time
        self.store.array(NOW)[()] = time
