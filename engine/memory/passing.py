"""Simulated time of one memory: it passes up to the events, `advance` and the wall clock, with
maintenance at each tick and consolidation after each sleep.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, Final

from ..base.checks import checked_hours
from ..base.errors import ContractError
from ..base.turns import Serial, Turns, serial
from ..context.cache import ContextCache
from ..contract.columns import Phase
from ..contract.hooks import Tick
from ..contract.records import Event
from ..contract.vocabulary import DETAIL, NOW, SLEEP_END, SLEEP_ONSET, VISIBLE
from ..ports.embedder import Progress
from ..state.clock import ADVANCED, Jump
from .arguments import checked_time
from .arrivals import (
    WallClock,
    after_jump,
    checked_clock,
    dated,
    reading,
    set_back,
    standing,
    warning_of_wall,
)
from .assembly import Assembly
from .changes import Changes
from .nights import DAY, STRIDE, NightBar, last_due, nights_between, require_few_nights

LEAST_CONSOLIDATION: Final = 0.001  # h between consolidations, at least


class Passing(Serial):
    """The clock of one memory, and what happens while it goes on.  Arguments as of `Engine`.

    wall  what tells the present; None: events and `advance` alone
    """

    def __init__(
        self,
        assembly: Assembly,
        changes: Changes,
        contexts: ContextCache,
        turns: Turns,
        *,
        tick_hours: float,
        consolidate_every: float,
        late_hours: float,
        jump_hours: float,
        clock: str | WallClock,
        progress: Progress | None,
    ) -> None:
        super().__init__(turns)
        self.tick_hours = checked_hours(tick_hours, "tick_hours", 0.0)
        self.consolidate_every = checked_hours(
            consolidate_every, "consolidate_every", LEAST_CONSOLIDATION
        )
        self.late_hours = checked_hours(late_hours, "late_hours", 0.0)
        self.jump_hours = checked_hours(jump_hours, "jump_hours", 0.0)
        self.wall, self._progress = checked_clock(clock), progress
        self._assembly, self._changes, self._contexts = assembly, changes, contexts
        self._clock, self._store = assembly.clock, assembly.store

    # --- the present ------------------------------------------------------------------------------

    @property
    def since(self) -> float:
        """h, the present; NaN before the first event, and after all that set the clock were
        erased: the next one sets it, wherever it was.
        """
        return self._clock.now if self._clock.jumps else math.nan

    def at(self, time: float) -> None:
        """Set the present, h, with nothing else."""
        self._clock.due |= time != self._clock.now
        self._clock.now = time
        self._store.array(NOW)[()] = time

    def dated(self, event: Event) -> Event:
        """The event, at the present of the wall clock if it has no time, which the memory sees
        first.
        """
        if self.wall is None or not isinstance(event, Event):
            return event
        time: Any = event.time  # None in one made by `Event.untimed`
        if time is not None:
            return event
        event = dated(event, reading(self.wall), self._clock.now)
        self._see(event.time)
        return event

    def look(self, depth: int = 1) -> None:
        """See the present of the wall clock, if there is one, unless this is part of another call.

        depth  turns of this thread in a call of its own: 1 in one that runs alone
        """
        if self.wall is not None and self._turns.depth == depth:
            self._see(checked_time(reading(self.wall), -math.inf, "clock"))

    @serial
    def _see(self, present: float) -> None:
        """Bring the memory to a reading of the wall clock, as an event would: a tick that goes on
        is not finished.  A clock that was set back, or that is too far ahead, changes nothing.
        """
        self._changes.require("clock")
        now = self._clock.now
        if math.isnan(now) or present <= now:
            return
        if present - now > self.jump_hours:
            warnings.warn(warning_of_wall(present, now), stacklevel=4)
        elif self.ends_tick(present) or present >= self._sleep()[1]:
            self.advance(present)
        else:
            begun = self._changes.begun
            with self._changes.unsaved("clock"):
                self.at(present)
            self._contexts.passed(begun, self._changes.begun)

    # --- time passes ------------------------------------------------------------------------------

    def ends_tick(self, time: float) -> bool:
        """Whether the tick in flight is over at a time, h."""
        return time - self._clock.maintained >= self.tick_hours

    def advance(self, time: float) -> None:
        """Let time pass up to a checked time that is not before the present, and save."""
        begun, shown = (
            self._changes.begun,
            self._shown() if len(self._contexts) and self._clock.settled else None,
        )
        with self._changes.whole("advance"):
            self._clock.jumps = after_jump(self._clock.jumps, ADVANCED, self._clock.now, time)
            self._until(time)
        if shown is not None and shown == self._shown():
            self._contexts.passed(begun, self._changes.begun)
        self._changes.save()

    def arrive(self, time: float, events: int) -> tuple[Jump, ...]:
        """Let time pass up to an event at a checked time, h.  Returns the jumps of the clock then.

        events  number of events before

        The memory maintains and saves if a tick is over or a sleep has begun.  After an erasure the
        event may lie before the present: then the clock goes back.
        """
        since, jumps = self.since, self._clock.jumps
        if time < self._clock.now:
            with self._changes.whole("encode"):
                self._back_to(time)
            self._changes.save()
        jumps = after_jump(jumps, events, since, time)
        if self.ends_tick(time) or time >= self._sleep()[0]:
            with self._changes.whole("encode"):
                self._clock.jumps = jumps
                self._until(time, waking=True)
            self._changes.save()
        return jumps

    def begin(self, time: float, jumps: tuple[Jump, ...]) -> None:
        """Set the clock for an event in the tick that has begun."""
        if math.isnan(self._clock.now):
            self._clock.maintained = self._clock.consolidated = time
        self.at(time)
        self._clock.jumps = jumps

    def require_near(self, time: float, where: str) -> None:
        """Raises InputError for a time up to which more sleeps would be consolidated than any
        user can mean.
        """
        few = time - self._clock.now <= min(self.consolidate_every, DAY)  # one night, or two
        if not (few or self._idle()):
            require_few_nights(self._nights_until(time), time - self._clock.now, where)

    def consolidate(self, time: float) -> None:
        """Maintain, then consolidate, at the end of a sleep; an empty memory is not
        consolidated.
        """
        self._maintain(time)
        if self._store.n:
            if self._assembly.asleep_reads_late:
                self._assembly.refresh()
            self._assembly.run[Phase.CONSOLIDATE](Tick(self._clock.consolidated, time))
            self._clock.changed()
        self._clock.consolidated = time
        if self._store.n and self._sleep()[1] <= time:
            raise ContractError(
                f"after the sleep that ended at {time:.4f} h the next sleep also ends by then",
                where="consolidate",
                cure="set SLEEP_ONSET and SLEEP_END of the next sleep in that phase",
            )

    def _until(self, time: float, waking: bool = False) -> None:
        """Maintain up to `time`, and consolidate at the end of each sleep that ends by then;
        `waking` also ends a sleep in progress.
        """
        if self._sleep()[1] <= time:
            self._pass_nights(time)
        self._maintain(time, again=not waking)
        if waking and self._sleep()[0] < time:
            self.consolidate(time)

    def _maintain(self, time: float, again: bool = False) -> None:
        """Maintain up to `time`; `again`: also if no time has passed, in case anything else
        changed since the last maintenance.
        """
        clock = self._clock
        self.at(time)
        if self._store.n and (time > clock.maintained or (again and not clock.settled)):
            self._assembly.run[Phase.MAINTAIN](Tick(clock.maintained, time))
            clock.settled = clock.due = True
        clock.maintained = time

    def _shown(self) -> tuple[int, float, bytes, bytes]:
        """What contexts can show, besides its order: equal if only time has passed, without a
        sleep and without a memory archived or condensed.
        """
        return (
            self._store.n,
            self._clock.consolidated,
            self._store.array(VISIBLE).tobytes(),
            self._store.array(DETAIL).tobytes(),
        )

    # --- sleep ------------------------------------------------------------------------------------

    def _sleep(self) -> tuple[float, float]:
        """Onset and end of the present or next sleep, h.  If no mechanism schedules sleep, both
        are the time of the next fixed consolidation.
        """
        onset, end = self._store.array(SLEEP_ONSET).item(), self._store.array(SLEEP_END).item()
        due = self._clock.consolidated + self.consolidate_every
        return (due, due) if math.isnan(end) else (onset, end)

    def _pass_nights(self, time: float) -> None:
        """Consolidate at the end of each sleep that ends by `time`; those that change nothing
        pass at once.
        """
        if self._idle():
            self._stride(time)
        bar = NightBar(self._progress, self._nights_until(time))
        while (end := self._sleep()[1]) <= time:
            slept = Tick(self._clock.consolidated, end)
            self.consolidate(end)
            if self._sleep()[1] <= end:
                break
            bar.passed()
            if self._fixed() and self._assembly.at_rest(slept):
                self._stride(time)

    def _stride(self, time: float) -> None:
        """Pass many sleeps up to `time` that change nothing at once, all but the last, after
        which everything stands as after all.
        """
        due, every = self._clock.consolidated, self.consolidate_every
        if nights_between(due, time, every) > STRIDE:
            self._clock.consolidated = last_due(
                due, every, math.nextafter(last_due(due, every, time), -math.inf)
            )

    def _fixed(self) -> bool:
        """Whether sleeps come at fixed times, and no mechanism schedules them."""
        return math.isnan(self._store.array(SLEEP_END).item())

    def _idle(self) -> bool:
        """Whether no sleep can change anything: no hook consolidates, or nothing is stored, and
        none schedules sleep.
        """
        awake = not self._store.n or not self._assembly.phases[Phase.CONSOLIDATE]
        return awake and self._fixed()

    def _nights_until(self, time: float) -> float:
        """About how many sleeps end up to a time; scheduled ones are one a day."""
        start, every = (
            (self._clock.consolidated, self.consolidate_every)
            if self._fixed()
            else (self._clock.now, DAY)
        )
        return nights_between(start, time, every)

    # --- the clock goes back ----------------------------------------------------------------------

    def leave_jumps(self) -> None:
        """Set the clock back if the events that took it ahead by more than a year are erased.
        Of the first event, the next one sets it anew.
        """
        clock, log = self._clock, self._assembly.event_log
        left = standing(clock.jumps, log.events, log.is_stub, clock.now)
        gone, clock.jumps = clock.jumps[len(left) :], left
        if gone and not math.isnan(gone[0].before):
            self._back_to(gone[0].before)

    def _back_to(self, time: float) -> None:
        """Set the clock back to a time, with all that reads it.  What was forgotten, slept over
        and learnt meanwhile stays as it is.  O(n).
        """
        clock, store = self._clock, self._store
        for column in store.columns:
            if column.upkeep.clock and column.persists:
                set_back(store.array(column), time, clock.now)
        set_back(store.graph.column("created"), time, clock.now)
        clock.maintained = min(clock.maintained, time)
        clock.consolidated = min(clock.consolidated, time)
        self.at(time)
        clock.changed()
