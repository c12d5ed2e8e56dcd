"""The loop: at each tick, MAINTAIN from the last tick to now, ENCODE the events that are due,
CONSOLIDATE after each sleep; RETRIEVE on demand.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import datetime
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from ..base.checks import checked_count, checked_hours, checked_row
from ..base.errors import ContractError, HebbariumError, InputError, SnapshotError, nearest
from ..base.numerics import read_only
from ..base.tables import html_table
from ..base.times import moment
from ..base.turns import Serial, serial, shared
from ..context.assembly import assemble
from ..context.cache import ContextCache
from ..context.context import Context
from ..context.context import Reader as ContextReader
from ..context.tasks import Tasks
from ..context.tokens import TokenCounter, counter
from ..contract.columns import Column, Phase, Scope
from ..contract.drafts import Kind
from ..contract.hooks import Cue, Incoming, Mechanism, Tick
from ..contract.offers import NO_LIMIT, Offer
from ..contract.records import Event, Only, Query
from ..contract.units import Unit
from ..contract.vocabulary import (
    ANSWERABLE,
    CHRONOLOGICAL,
    CREATED,
    DETAIL,
    GRAPH,
    LANGUAGE_MODEL,
    NOW,
    OFFERS,
    OUTCOME,
    RECALLED,
    ROW,
    SESSION,
    SLEEP_END,
    SLEEP_ONSET,
    SPEAKER,
    SUFFICIENCY,
    UTC_OFFSET,
    VETO,
    VISIBLE,
)
from ..contract.writings import Writing
from ..flow.lives import Plan
from ..flow.observer import Stopwatch
from ..flow.parameter_arms import Together
from ..flow.passes import Instrument, undisturbed
from ..flow.schedule import Schedule
from ..flow.view import Reader
from ..ports.embedder import Embedder, Progress, checked_embedder
from ..ports.language_model import LanguageModel
from ..saving.call_log import Call
from ..saving.snapshot import Durable, Snapshot
from ..scale.shortlist import Shortlist, checked_shortlist
from ..state.clock import ADVANCED, Integrity, Jump
from ..state.graph import BUILT_IN
from ..state.ranking import Answer, Asked, Rows, Standing
from ..state.store import Cells
from ..steps.capacity import checked_capacity
from ..text.condensing import condensed
from ..text.memo import forget_texts
from .arguments import checked_durable, checked_event, checked_query, checked_time
from .arrivals import (
    EVENTS,
    WallClock,
    after_jump,
    arrival,
    checked_clock,
    dated,
    reading,
    require_believable,
    set_back,
    standing,
    warning_of_event,
    warning_of_wall,
)
from .assembly import Assembly
from .encoded import Encoded, warning_of
from .erasing import Erasure, named_events, overwritten
from .explain import Explanation, explained
from .feedback import asked_of, checked_outcome, needed_rows, place
from .nights import DAY, STRIDE, NightBar, last_due, nights_between, require_few_nights

# events that `encode_all` takes, embeds and encodes at a time; forecasts of more would rest on rows
# that are not stored yet
CHUNK = 256


class Engine(Serial):
    """One memory: mechanisms over a store, changed by events, by simulated time and by queries that
    learn.

    mechanisms         the mechanisms that are on, as `Registry.build` gives them
    embedder           turns texts into unit vectors
    seed               of every mechanism's own random stream
    tick_hours         events closer than this share one maintenance; the state after a finished
                       tick does not depend on it.  A query sees what decays as of the present,
                       other columns as of the last maintenance: `advance(memory.now)` finishes the
                       tick
    consolidate_every  h between consolidations, unless a mechanism schedules sleep; infinity: never
    path               a snapshot file to continue from and to keep up to date; None: no file
    durable            whether what a call that changes the memory has returned from is in the file
                       then, whatever becomes of the process: True, or "full": also of the machine.
                       False: a process that ends without `close` loses the tick in flight, and the
                       next opening warns
    observer           measures the mechanisms from outside, such as `observer.Observer()`
    language_model     for hooks that can use one, in consolidation and retrieval; None: none, and
                       every mechanism does without.  A snapshot can be continued with another model
                       or none; later sleeps and queries then depend on that one
    capacity           most visible rows; when it is full, the rows of least WORTH are archived, see
                       `engine.steps.capacity`; None: no limit.  It is given anew when a snapshot is
                       continued
    shortlist          rows that a question is asked of, in a memory of at least 16 times as many:
                       the likely ones, see `engine.scale.shortlist`; None: all. Asked of all are
                       questions that learn or want more than an eighth of them, contexts of as many
                       or of sources, explanations; given anew when a snapshot is continued
    threads            that work on one question to a memory of at least 32,768 rows, if no other is
                       answered meanwhile, see `engine.scale.crew`; None: OMP_NUM_THREADS, or as
                       many as there are processors, at most 4.  Answers do not depend on it
    index              "exact" or "ivf": searches for near rows are approximate from 16,384
                       rows on, see `engine.scale.approximate`; given anew when a snapshot is
                       continued
    progress           called as progress(nights passed, nights due) every second of a call that
                       takes long because many nights pass
    late_hours         h, most that an event may lie before the present; it is then stored with its
                       own time, and the present stays.  0: none is
    jump_hours         h, most by which time goes ahead at once, unless that is confirmed, see
                       `encode` and `advance`; infinity: any
    clock              what tells the present: "events", they and `advance` alone; "wall", the clock
                       of the machine, too; or a callable that returns an aware datetime.  Questions
                       then see the present, and events whose time is None happen now

    Times are hours since 1970-01-01T00:00 UTC or datetimes; a naive datetime is taken as UTC.
    Bad input raises InputError before anything changes.  After a failed change, and after `close`,
    the memory refuses every further call with HebbariumError; a snapshot file then holds what was
    told before.  `with Engine(...) as memory:` closes the memory at the end. With a file,
    SnapshotError of a call that changes the memory says that the file could not take it; the memory
    can still be used. Threads may share a memory: a call that changes it runs alone, in some order;
    questions of `retrieve` and `context`, and calls that read a row, run at the same time.
    """

    def __init__(
        self,
        mechanisms: Sequence[Mechanism[Any]],
        embedder: Embedder,
        *,
        seed: int = 0,
        tick_hours: float = 1.0,
        consolidate_every: float = 24.0,
        path: Path | None = None,
        observer: Instrument | None = None,
        language_model: LanguageModel | None = None,
        capacity: int | None = None,
        index: str = "exact",
        shortlist: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        late_hours: float = 0.0,
        jump_hours: float = math.inf,
        clock: str | WallClock = EVENTS,
        durable: Durable = True,
    ) -> None:
        super().__init__()
        self.tick_hours = checked_hours(tick_hours, "tick_hours", 0.0)
        self.consolidate_every = checked_hours(consolidate_every, "consolidate_every", 0.001)
        self.late_hours, self.jump_hours = (
            checked_hours(late_hours, "late_hours", 0.0),
            checked_hours(jump_hours, "jump_hours", 0.0),
        )
        self._wall = checked_clock(clock)
        self.assembly = Assembly(
            mechanisms,
            checked_embedder(embedder),
            seed,
            observer,
            language_model,
            checked_capacity(capacity),
            index,
            checked_shortlist(shortlist),
            threads,
            [self._turns],
        )
        self._integrity = Integrity()
        self.observer, self.progress = observer, progress
        self._warned = False  # of an event that a gate refused
        self.event_log, self.store, self.clock, self._run = (
            self.assembly.event_log,
            self.assembly.store,
            self.assembly.clock,
            self.assembly.run,
        )
        model_asks = {
            node.phase
            for nodes in self.assembly.phases.values()
            for node in nodes
            if LANGUAGE_MODEL in node.sees
        }
        # phases that would ask a model anew if they were repeated
        self._asking = frozenset(model_asks if language_model is not None else ())
        durable = checked_durable(durable)
        self._snapshot = (
            Snapshot(path, self.assembly, self.consolidate_every, durable) if path else None
        )
        self._life = object()  # what its answers name as their origin
        self._contexts, self._tasks = ContextCache(), Tasks(self, self._turns)
        # the last question, and the changes and passes until then
        self._asked: tuple[Asked | None, Any, int, int] = None, None, 0, 0
        if self._snapshot:
            self._take_up(self._snapshot)

    def __enter__(self) -> Self:
        self._integrity.require("with")
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    @property
    def now(self) -> float:
        """h, simulated time; NaN before the first event."""
        return self.clock.now

    @property
    def mechanisms(self) -> tuple[Mechanism[Any], ...]:
        """The mechanisms that are on, in registry order."""
        return self.assembly.mechanisms

    @property
    def language_models(self) -> tuple[Mapping[str, str], ...]:
        """Name, revision and transcript of each language model that was asked since the memory
        was made, in order of first use.
        """
        self._integrity.require("language_models")
        return self.assembly.models_asked

    @property
    def schedule(self) -> Schedule:
        """The steps of every phase in the order in which they run, for printing."""
        return Schedule.of(self.assembly.phases)

    @serial
    def encode(self, event: Event, *, confirm: bool = False) -> Encoded:
        """Encode an event.  Its row, which is false and -1 if a gate refused it, with `why`.
        Raises InputError, with nothing changed.

        confirm  whether so much time has passed as the event says

        A late event is stored with its own time, if it is late by `late_hours` at most; the present
        stays.  One that is ahead by more than `jump_hours` is stored with its own time, too, and
        the present stays with a ClockWarning, unless `confirm`.  If it is erased later, with all
        events that came after it in time, the clock goes back. The first refusal warns with a
        VetoWarning, unless an observer measures the memory: that counts them. With a file, an event
        that begins a tick first saves the one before; SnapshotError: file or log could not take it,
        and the event was not stored.
        """
        self._integrity.require("encode")
        event = self.tasks.marked(checked_event(self._dated(event)))
        self.event_log.require_new(event.id)
        where = f"event {event.id or event.text[:40]!r}"
        time = arrival(event.time, self._since, self.late_hours, self.jump_hours, confirm, where)
        self._require_near(time, where)
        if time < event.time:
            warnings.warn(warning_of_event(event, self.now, where), stacklevel=3)
        self._store(event, time)
        row = int(self.store.array(ROW)[()])
        return Encoded(row) if row >= 0 else self._refused()

    def _dated(self, event: Event) -> Event:
        """The event, at the present of the wall clock if it has no time, which the memory sees
        first.
        """
        if self._wall is None or not isinstance(event, Event) or event.time is not None:
            return event
        event = dated(event, reading(self._wall), self.now)  # type: ignore[unreachable]
        self._see(event.time)
        return event

    @property
    def _since(self) -> float:
        """h, the present; NaN before the first event, and after all that set the clock were
        erased: the next one sets it, wherever it was.
        """
        return self.now if self.clock.jumps else math.nan

    def _store(self, event: Event, time: float) -> None:
        """Encode a checked event that arrives at a time, h."""
        incoming = self.assembly.incoming(event)
        since, jumps = self._since, self.clock.jumps
        if time < self.now:
            with self._changing("encode"):
                self._set_back(time)
            self.save()
        jumps = after_jump(jumps, len(self.event_log.events), since, time)
        if time - self.clock.maintained >= self.tick_hours or time >= self._sleep()[0]:
            with self._changing("encode"):
                self.clock.jumps = jumps
                self._pass(time, waking=True)
            self.save()
        self._store_in_tick(event, time, jumps, incoming)

    def _store_in_tick(
        self, event: Event, time: float, jumps: tuple[Jump, ...], incoming: Incoming
    ) -> None:
        """Encode an event that arrives at a time, h, in the tick that has begun.  jumps: of the
        clock then.
        """
        asks = Phase.ENCODE in self._asking
        with self._changing("encode", None if asks else ("encode", (event, time, jumps))):
            if math.isnan(self.now):
                self.clock.maintained = self.clock.consolidated = time
            self._set_now(time)
            self.clock.jumps = jumps
            self._run[Phase.ENCODE](incoming)
            self.clock.changed()
        if asks:
            self._write()

    @contextmanager
    def _changing(self, doing: str, call: Call | None = None) -> Iterator[None]:
        """Around a change that must be finished once begun, see `Integrity.change`.  call: what
        the log of the file has of it, see `_noted`.
        """
        with self._noted(call), self._integrity.change(doing):
            yield

    def _noted(self, call: Call | None) -> AbstractContextManager[None]:
        """Around a change that the log of the file has as a call, a key of REPEATED with its
        values; None: after it `save` is called.

        The present stands with the call, for a wall clock lets it pass without one.
        """
        if self._snapshot is None:
            return nullcontext()
        return self._snapshot.changing(call and (call[0], (self.now, *call[1])))

    def _take_up(self, snapshot: Snapshot) -> None:
        """Repeat the calls in the log of the file, with no language model: calls that asked one
        were saved.  Closes the file if that fails.

        Raises SnapshotError, and what the embedder raises.
        """
        try:
            with snapshot.repeating() as calls, self.assembly.language_model.silent():
                self.assembly.embed_ahead([values[1] for name, values in calls if name == "encode"])
                for number, call in enumerate(calls, 1):
                    self._repeat(call, f"{snapshot.path}, call {number} of its log")
        except BaseException:
            snapshot.close(save=False)
            raise

    def _repeat(self, call: Call, where: str) -> None:
        """Make a call of the log again."""
        name, (now, *values) = call
        try:
            if now == now and now != self.now:
                self._set_now(now)
            REPEATED[name](self, *values)
        except Exception as error:
            if isinstance(error, OSError) or not (
                self._integrity.ended or isinstance(error, HebbariumError | KeyError)
            ):
                raise  # of the embedder: nothing is wrong with file or memory
            raise SnapshotError(
                f"the call {name!r} cannot be repeated: {error}",
                where=where,
                cure="open the file with the version, the packages of mechanisms and the options that wrote it",
            ) from error

    def _refused(self) -> Encoded:
        """The result of an event that the last pass did not store."""
        refused = Encoded(vetoed_by=self.assembly.plans[Phase.ENCODE].contributors(VETO))
        if not self._warned and self.observer is None:
            self._warned = True
            warnings.warn(warning_of(refused), stacklevel=4)
        return refused

    def encode_all(self, events: Iterable[Event], *, confirm: bool = False) -> list[Encoded]:
        """Encode events in order, and finish the tick.  What became of each, as `encode` says it.
        Raises InputError.

        confirm  whether as much time has passed as they say, see `encode`

        Events are taken 256 at a time, so that an iterator of any length is encoded in bounded
        memory beside the memory's own.  The texts of 256 events are embedded together first, then
        the texts that hooks will probably need for them: faster, same result.  Each event of a list
        or tuple is checked before anything changes; of an iterator, the events before the 256 that
        hold a bad one are encoded.  A jump of time over too many sleeps, and a vector that is no
        unit vector, are found at their event: the events before it are encoded.

        A list or tuple has one turn.  Of an iterator each 256 events have one, so that other
        threads need not wait for the next ones.
        """
        self._integrity.require("encode_all")
        whole = isinstance(events, list | tuple)
        with self._turns.alone() if whole else nullcontext():
            coming, rows = iter(self._sound(events, confirm) if whole else events), list[Encoded]()
            while pending := list(islice(coming, CHUNK)):
                rows += self._encode_some(pending, confirm)
            if rows:
                self.advance(self.now)
            return rows

    @serial
    def _encode_some(self, events: Sequence[Event], confirm: bool) -> list[Encoded]:
        """Encode a few events, whose texts are embedded together."""
        self._integrity.require("encode_all")
        pending = self._sound(events, confirm)
        self.assembly.embed_ahead(pending)
        if self.assembly.forecasts:
            self.assembly.embed_forecast(pending)
        return [self.encode(event, confirm=confirm) for event in pending]

    def _sound(self, events: Iterable[Event], confirm: bool) -> list[Event]:
        """The events, checked, none of which is too late, and no two of which have the same id.
        Raises InputError.
        """
        sound, ids, now = list[Event](), set[str](), self._since
        for given in events:
            event = checked_event(self._dated(given))
            self.event_log.require_new(event.id, ids)
            sound.append(event)
            now = arrival(
                event.time,
                now,
                self.late_hours,
                self.jump_hours,
                confirm,
                f"event {event.id or event.text[:40]!r}",
            )
        return sound

    @serial
    def advance(self, time: float | datetime, *, confirm: bool = False) -> None:
        """Let simulated time pass: maintain up to `time`, and consolidate at the end of each sleep
        before it.  Only an event ends a sleep early.

        confirm  whether so much time has passed, if it is more than `jump_hours`

        Raises InputError for a time before the present, and for one that is too far ahead.
        """
        self._integrity.require("advance")
        time = checked_time(time, self.now, "advance")
        if math.isnan(self.now):
            return
        require_believable(time, self.now, self.jump_hours, confirm)
        self._require_near(time, "advance")
        self._let_pass(time)
        self.save()

    def _let_pass(self, time: float) -> None:
        """Let time pass up to a checked time that is not before the present."""
        begun, shown = (
            self._integrity.begun,
            self._shown() if len(self._contexts) and self.clock.settled else None,
        )
        with self._changing("advance"):
            self.clock.jumps = after_jump(self.clock.jumps, ADVANCED, self.now, time)
            self._pass(time)
        if shown is not None and shown == self._shown():
            self._contexts.passed(begun, self._integrity.begun)

    @serial
    def _see(self, present: float) -> None:
        """Bring the memory to a reading of the wall clock, as an event would: a tick that goes on
        is not finished.  A clock that was set back, or that is too far ahead, changes nothing.
        """
        self._integrity.require("clock")
        if math.isnan(self.now) or present <= self.now:
            return
        if present - self.now > self.jump_hours:
            warnings.warn(warning_of_wall(present, self.now), stacklevel=4)
        elif present - self.clock.maintained >= self.tick_hours or present >= self._sleep()[1]:
            self._let_pass(present)
            self.save()
        else:
            begun = self._integrity.begun
            with self._integrity.change("clock"):
                self._set_now(present)
            self._contexts.passed(begun, self._integrity.begun)

    def _look(self, depth: int = 1) -> None:
        """See the present of the wall clock, if there is one, unless this is part of another call.

        depth  turns of this thread in a call of its own: 1 in one that runs alone
        """
        if self._wall is not None and self._turns.depth == depth:
            self._see(checked_time(reading(self._wall), -math.inf, "clock"))

    def _shown(self) -> tuple[int, float, bytes, bytes]:
        """What contexts can show, besides its order: equal if only time has passed, without a
        sleep and without a memory archived or condensed.
        """
        return (
            self.store.n,
            self.clock.consolidated,
            self.store.array(VISIBLE).tobytes(),
            self.store.array(DETAIL).tobytes(),
        )

    @serial
    def planned(
        self,
        mechanisms: Sequence[Mechanism[Any]],
        observer: Instrument | None = None,
        *,
        fewer: bool = False,
    ) -> Plan:
        """A plan with which `retrieve` asks this memory as a memory of these mechanisms would be
        asked, bit for bit.

        mechanisms  may differ from the memory's own in those that have no hook outside RETRIEVE,
                    and in weights; columns of mechanisms that the memory does not have stand at
                    neutral
        observer    measures what these mechanisms do in retrieval with this plan
        fewer       the memory may have more mechanisms that decide its life; the plan is right
                    while its `Traces` say so (`engine.arms.traces`)

        Cost: about 0.1 ms for each step.  Raises InputError if such a memory would have lived
        another life: it names the first difference.
        """
        self._integrity.require("planned")
        return self.assembly.planned(mechanisms, observer, fewer)

    def retrieve(
        self,
        query: Query | str,
        k: int = 10,
        *,
        learn: bool = False,
        plan: Plan | None = None,
        depth: int = 0,
    ) -> Answer:
        """The k best memories for a query, as of the memory's present time; all visible ones if
        fewer.  Raises InputError.

        The state stays bit for bit as it is, unless `learn`: then recall may change memory, as if
        every row of the answer had been needed.  That carries no truth; `use` tells what was
        needed.  A query later than the present is refused; call `advance(query.time)` first, since
        passing time changes memory.  A blank query asks without words, here and in every other
        call: memories rank by time, use and strength alone.

        plan   of `planned`, instead of the memory's own; it never learns, and `use` refuses its
               answers
        depth  how many rows of the ranking will be read from `final`, if more than k: a shortlist
               is asked only if it can answer so many

        Questions of several threads are answered at the same time (`engine.scale.concurrent`),
        unless they learn, have a plan, or are measured by an observer, and except in a memory of
        fewer than 4,096 rows.
        """
        alone = learn or plan is not None
        with (
            self._question(alone, in_part=not alone and self._in_part(k, depth)),
            self._turns.answering(),
            self.assembly.places.one() as place,
        ):
            self._integrity.require("retrieve")
            depth = checked_count(depth, "depth")
            if place is None:
                return self._retrieve(query, k, learn, plan, depth)
            query, k, cue = self._checked_question(query, k)
            whole = self._part(max(k, depth)) is None
            return self._made(
                *place.ask(cue, k, whole),
                Asked(query, self._life, whole=whole),
                self._unit,
                place.store,
            )

    @contextmanager
    def _question(self, alone: bool, in_part: bool = False) -> Iterator[None]:
        """The turn of a question: together with others if that is right and pays.

        in_part  whether it is asked of a shortlist, which computes the late columns of its rows;
                 for others they are brought to the present
        """
        self._look(depth=0)
        if alone or self.observer is not None or self.store.n < self.assembly.places.least:
            with self._turns.alone():
                if not in_part:
                    self._refresh()
                yield
            return
        while True:
            with self._turns.together():
                if in_part or not self.clock.due or self._integrity.ended:
                    yield
                    return
            with self._turns.alone():  # a turn that only reads cannot become one that writes
                self._refresh()

    def _refresh(self) -> None:
        """Bring the late columns to the present, in a turn of its own; a memory that has ended
        stays as it is, and refuses the question.
        """
        if not self._integrity.ended:
            self.assembly.refresh()

    def _checked_question(self, query: Query | str, k: int) -> tuple[Query, int, Cue]:
        checked = checked_query(query, self.now)
        return checked, checked_count(k, "k"), self.assembly.cue(checked)

    def _in_part(self, k: object, depth: object) -> bool:
        """Whether `retrieve` asks a shortlist; a measured memory computes the late columns of
        all rows nevertheless, and measures that.
        """
        return (
            self.observer is None
            and isinstance(k, int)
            and isinstance(depth, int)
            and self._part(max(k, depth)) is not None
        )

    def _part(self, rows: int) -> Shortlist | None:
        """The shortlist of which a question that wants so many rows is asked; None: of all rows."""
        short = self.assembly.shortlist
        return short if short and short.asks(rows) else None

    def _retrieve(
        self, query: Query | str, k: int, learn: bool, plan: Plan | None, depth: int
    ) -> Answer:
        """The answer in the memory's own columns of candidates, which one thread at a time may
        write.
        """
        if plan is not None and (learn or plan.memory is not self.assembly):
            raise InputError(
                "a plan never learns" if learn else "the plan belongs to another memory",
                where="retrieve",
                cure="leave out the plan" if learn else "make one with `planned` of this memory",
            )
        query, k, cue = self._checked_question(query, k)
        self.assembly.answer_size[0] = k
        short = None if learn or plan is not None else self._part(max(k, depth))
        if short:
            with self._integrity.change("retrieve", changes=False):
                short.run(cue)
            self._asked = None, cue, 0, 0  # `use` asks all rows
            return self._made(
                *short.found, Asked(query, self._life, whole=False), self._unit, self.store
            )
        asks = Phase.RETRIEVE in self._asking
        noted = self._noted(None if asks else ("learn", (query, k))) if learn else nullcontext()
        with noted, self._integrity.change("retrieve", learn):
            (plan.run if plan else self._run[Phase.RETRIEVE])(cue, learn)
            if learn:
                self.clock.changed()
        if learn and asks:
            self._write()
        asked = None if plan else Asked(query, self._life, learn)
        self._asked = asked, cue, self._integrity.begun, self.store.passes
        return self._answer(plan or self.assembly, asked, self._unit)

    @serial
    def together(self, plans: Sequence[Plan]) -> Together:
        """Plans of `planned`, of the same mechanisms with other parameters, for
        `retrieve_together`.  Raises InputError for others, or for none.
        """
        self._integrity.require("together")
        if not plans or any(plan.memory is not self.assembly for plan in plans):
            raise InputError(
                "a plan belongs to another memory" if plans else "there is no plan",
                where="together",
                cure="make plans with `planned` of this memory",
            )
        watch, parts = Stopwatch(), self.assembly
        watch.attach((), parts.clock, parts.embedder, parts.language_model)
        return Together(plans, watch.seconds)

    @serial
    def retrieve_together(self, query: Query | str, k: int, plans: Together) -> tuple[Answer, ...]:
        """The answers of `retrieve` with each of some plans, in order, bit for bit; steps that no
        parameter reaches run once.

        The observers of the plans measure nothing; `plans.ms` holds the times.  The state stays bit
        for bit as it is.  Raises InputError.
        """
        self._integrity.require("retrieve_together")
        self._look()
        if plans.plans[0].memory is not self.assembly:
            raise InputError(
                "the plans belong to another memory",
                where="retrieve_together",
                cure="make them with `together` of this memory",
            )
        query = checked_query(query, self.now)
        self._refresh()
        self.assembly.answer_size[0] = checked_count(k, "k")
        cue = self.assembly.cue(query)
        unit = cache(self._unit)
        with self._integrity.change("retrieve", changes=False):
            return tuple(self._answer(plan, None, unit) for plan in plans.run(cue))

    @serial
    def asked_again(
        self, plans: Sequence[Plan], columns: Sequence[Column] = ()
    ) -> list[tuple[Answer, dict[Column, NDArray[Any]]]]:
        """The answers of `retrieve` with each of some plans to the last question, bit for bit, and
        copies of columns as each leaves them.

        plans    of `planned(..., fewer=True)`
        columns  of the engine; of a stage that a plan does not compute, the stage before

        Nothing may have been asked or changed since the question, which must not have learnt.
        Steps whose outcome cannot differ do not run again. The state stays bit for bit as it is,
        and so do the columns of the question.  Raises InputError.
        """
        self._integrity.require("asked_again")
        asked, cue, *_ = self._asked
        if asked is None or asked.learnt or not self._as_asked:
            raise InputError(
                "nothing was asked of all rows, or the memory was asked or has changed since",
                where="asked_again",
                cure="ask first, without learn=True and without a shortlist",
            )
        if any(plan.memory is not self.assembly for plan in plans):
            raise InputError(
                "a plan belongs to another memory",
                where="asked_again",
                cure="make plans with `planned` of this memory",
            )
        unit, found = cache(self._unit), dict[int, tuple[Answer, dict[Column, NDArray[Any]]]]()
        # a whole pass leaves structures, such as the wordings of the query, as its own plan fills
        # them: these come last
        for at in sorted(range(len(plans)), key=lambda at: plans[at].rest is None):
            plan = plans[at]
            with undisturbed(self.store, plan.rest.columns if plan.rest else None):
                if plan.rest:
                    plan.steps.again(plan.rest.steps, plan.rest.columns, cue)
                else:
                    plan.steps.run(cue)
                found[at] = (
                    self._answer(plan, None, unit),
                    {c: self._held(c, plan).copy() for c in columns},
                )
        return [found[at] for at in range(len(plans))]

    @property
    def _as_asked(self) -> bool:
        """Whether nothing was asked or changed since the last question."""
        return self._asked[2:] == (self._integrity.begun, self.store.passes)

    @serial
    def held(self, columns: Iterable[Column]) -> dict[Column, NDArray[Any]]:
        """Copies of columns of the engine; of a stage that no step computes, the stage before.

        Those of candidates are of the last question that was asked of all rows.
        """
        self._integrity.require("held")
        wanted = list(columns)
        if not self.assembly.late.isdisjoint(wanted):
            self._refresh()
        return {c: self._held(c, self.assembly).copy() for c in wanted}

    def _held(self, column: Column, by: Plan | Assembly) -> NDArray[Any]:
        return self.store.array(by.stages.source(column))

    def _answer(
        self, by: Plan | Assembly, asked: Asked | None, unit: Callable[[int], Unit]
    ) -> Answer:
        """The answer that the store holds.  unit: what a row holds."""
        standing = Standing(
            self.store.n,
            None,
            self.store.array(by.ranking[-1]).copy(),
            self.store.array(ANSWERABLE).copy(),
        )
        return self._made(self.store.structures[RECALLED], standing, asked, unit, self.store)

    def _made(
        self,
        rows: Rows,
        standing: Standing,
        asked: Asked | None,
        unit: Callable[[int], Unit],
        store: Cells,
    ) -> Answer:
        units = tuple(map(unit, rows.tolist()))
        records = tuple(
            self.event_log.of_row(unit.row) if unit.kind is Kind.EVENT else None for unit in units
        )
        return Answer(
            rows,
            standing.at(rows),
            standing,
            units,
            records,
            store.array(SUFFICIENCY).item(),
            store.array(CHRONOLOGICAL).item(),
            asked,
        )

    @serial
    def use(
        self,
        answer: Answer | Context,
        rows_or_ids: int | str | Collection[int | str] | NDArray[np.int64],
        outcome: float | None = None,
    ) -> Rows:
        """Tell the memory which rows were needed for an answer: recall changes memory as if exactly
        they had been answered.  These rows, best first.

        answer       of `retrieve` without `learn`, now or earlier, or a context with the answer it
                     was made from; one feedback for each answer
        rows_or_ids  any rows that the memory held when it answered, or ids of events: the answered
                     rows that show the event, else its own.  None of them: () says that nothing of
                     the answer was needed
        outcome      how well the answer served, from -1 to 1, for hooks that read OUTCOME; None:
                     not told

        The question is asked again at the memory's present, so `use(answer, answer.rows)` at once
        equals `retrieve(..., learn=True)` bit for bit. Archived rows count and stay archived;
        erased rows are left out, and if no other row was named nothing changes.  An answer given
        before a snapshot was saved can be used after it was loaded: its rows are then compared with
        the memory's.  Cost: one retrieval; if nothing was asked or changed since the answer, only
        what learns from it. Raises InputError, with nothing changed, for an answer that the memory
        has learnt from, or that another memory gave.
        """
        self._integrity.require("use")
        self._look()
        given: Any = answer.answer if isinstance(answer, Context) else answer
        asked = asked_of(given)
        score = checked_outcome(outcome, place(asked))
        rows, erased = needed_rows(
            given,
            asked,
            rows_or_ids,
            self._life,
            self.event_log,
            self.store,
            self.assembly.withholding.erased,
        )
        self._refresh()
        last, cue, *_ = self._asked
        at_once = last is asked and self._as_asked and self.assembly.plans[Phase.RETRIEVE].learning
        if not (erased and not len(rows)):
            self._learn_use(asked.query, rows, score, cue if at_once else None)
        asked.learnt = True
        return rows

    def _learn_use(self, query: Query, rows: Rows, outcome: float, cue: Cue | None = None) -> None:
        """Learn which rows were needed.  cue: of the last question, if it was this one and
        nothing has changed since.
        """
        asks, again = (
            Phase.RETRIEVE in self._asking,
            cue or self.assembly.cue(checked_query(query, self.now)),
        )
        with self._changing("use", None if asks else ("use", (query, rows, outcome))):
            self.assembly.told.append((rows, outcome))
            try:
                if cue:
                    self.assembly.learn(cue)
                else:
                    self._run[Phase.RETRIEVE](again, True)
            finally:
                self.assembly.told.clear()
                self.store.array(OUTCOME)[()] = OUTCOME.neutral
            self.clock.changed()
        if asks:
            self._write()

    def context(
        self,
        query: Query | str,
        max_tokens: int | None = None,
        *,
        max_items: int | None = None,
        session: str | None = None,
        task: str | None = None,
        only: Only | None = None,
        reader: ContextReader | None = None,
        also: str = "",
        ttl: float = 0.0,
    ) -> Context:
        """The text that a reader gets for a query, under a budget of tokens, and what was cut.  The
        state stays bit for bit as it is.

        max_tokens  most tokens of the whole text, counted by the tokeniser of the embedder, else as
                    length / 4; None: of `reader`, else by number of items, with nothing condensed
        max_items   most memories; None: no limit under a budget, else ten
        session     of the asker, for sources; None: not known
        task        only memories with this value of the attribute `task` are shown
        only        which memories may be shown; None: the filter of the query
        reader      whose window gives the budget
        also        a text of the asker's own; its tokens are set aside first
        ttl         h, simulated time: a context that was assembled so long ago is taken again if
                    only time has passed since; with 0, only one of this very state.  An event, what
                    recall changes, a sleep, or an archived or restored memory ends it at once

        What the memory's `sources` offer; without sources the best memories first, and several
        threads are answered at the same time as by `retrieve`.  Other counters, formats and
        strategies: `engine.context.assembly.assemble`.  Asked again in the same state, the context
        is the same object. Cost: one retrieval; beyond it 5 ms at 1,024 tokens of utterances, 30 ms
        at 4,096 of long texts; with the sources of `stages` at 20k memories 16 ms at 1,024 tokens
        and 23 ms at 4,096; microseconds if it was asked before. Raises InputError.
        """
        with self._question(alone=bool(self.sources)):
            self._integrity.require("context")
            ttl = checked_hours(ttl, "ttl", 0.0)
            asked, known = (query, max_tokens, max_items, session, task, only, reader, also,
                            type(max_tokens), type(max_items)), None  # fmt: skip
            with suppress(TypeError):  # a filter that cannot be hashed, or no question at all
                known = self._contexts.get(self._integrity.begun, asked, self.now, ttl)
            if known is not None:
                return known
            found = assemble(
                self,
                query,
                max_tokens,
                max_items=max_items,
                session=session,
                task=task,
                only=only,
                reader=reader,
                also=also,
                counter=self._counter,
            )
            with suppress(TypeError):
                found = self._contexts.put(asked, found, self.now)
            return found

    @serial
    def outcome(self, row: int, ok: bool) -> None:
        """Tell the memory that a row, such as a standing instruction, was applied, and whether that
        served: as `use` of it for its own text.

        Raises InputError.  Cost: two retrievals.
        """
        self._integrity.require("outcome")
        text = self.event_log.text(checked_row(row, self.store.n))
        self.use(self.retrieve(text, 1), row, 1.0 if ok else -1.0)

    @property
    def sources(self) -> Mapping[str, float]:
        """The mechanisms that are sources of contexts, with the share of the budget that each
        spends first, percent.
        """
        return MappingProxyType(self.assembly.sources)

    @serial
    def offers(
        self,
        query: Query | str,
        max_tokens: int | None = None,
        *,
        session: str | None = None,
        plan: Plan | None = None,
    ) -> tuple[Answer, tuple[Offer, ...]]:
        """The best memory for a query, and what each source offers for a context of so many tokens,
        in the order of `sources`; None: by number.

        session  of the asker; one that the memory does not know counts as not given
        plan     of `planned`, instead of the memory's own

        The state stays bit for bit as it is.  Cost: one retrieval.  Raises InputError.
        """
        self._integrity.require("offers")
        self._look()
        budget = (
            NO_LIMIT
            if max_tokens is None
            else min(checked_count(max_tokens, "max_tokens"), NO_LIMIT)
        )
        known = None if session is None else self.event_log.sessions.known(session)
        self.assembly.asked.append((budget, -1 if known is None else known))
        try:
            # sources look at the whole memory
            answer = self.retrieve(query, 1, plan=plan, depth=NO_LIMIT)
            taken = self.assembly.withholding.offered(
                self.store.structures[OFFERS].take(self.store.n)
            )
            order = [m.id for m in (plan.mechanisms if plan else self.mechanisms)]
            return answer, tuple(sorted(taken, key=lambda offer: order.index(offer.source)))
        finally:
            self.assembly.asked.clear()

    @cached_property
    def _counter(self) -> TokenCounter:
        """The tokeniser of the embedder's folder, loaded at the first context; without one,
        length / 4.
        """
        return counter(self.assembly.embedder)

    @shared
    def cue(self, query: Query | str) -> Cue:
        """The query as hooks receive it.  Raises InputError."""
        self._integrity.require("cue")
        return self.assembly.cue(checked_query(query, self.now))

    @overload
    def explain(self, query: Query | str, row: int) -> Explanation: ...
    @overload
    def explain(
        self, query: Query | str, row: Sequence[int] | NDArray[np.int64]
    ) -> tuple[Explanation, ...]: ...

    @serial
    def explain(
        self, query: Query | str, row: int | Sequence[int] | NDArray[np.int64]
    ) -> Explanation | tuple[Explanation, ...]:
        """Why a memory is ranked where it is: its signals, trusts and contributions, and its rank
        after each stage.

        One Explanation for one row; for several rows, such as `answer.rows`, a tuple of them at the
        cost of about one retrieval.  The state stays bit for bit as it is.  Raises InputError.
        """
        self._integrity.require("explain")
        self._look()
        one = not isinstance(row, Sequence | np.ndarray)
        rows = [checked_row(each, self.store.n) for each in ([row] if one else row)]  # type: ignore[union-attr]
        self._refresh()
        found = explained(self.assembly, self.cue(query), rows)
        return found[0] if one else found

    def column(self, column: Column | str) -> NDArray[Any]:
        """The present values of a column, by the column itself or by its name: a read-only view, to
        be fetched again after the memory has changed.

        (n, ...) for a column of memories or candidates, (m, ...) for one of edges, one cell (...)
        otherwise.  Candidate and event columns hold the values of the last event, or of the last
        query that was not asked beside another one; a stage that no step computes equals the stage
        before it.  Raises InputError for a column that no mechanism of this memory, nor the engine,
        owns.
        """
        self._integrity.require("column")
        known = {c.name: c for c in self.store.columns}
        name = column.name if isinstance(column, Column) else column
        found = known.get(name)
        if found is None or (isinstance(column, Column) and column is not found):
            raise InputError(
                f"this memory has no column {name!r}", where="column", cure=nearest(name, known)
            )
        if found in self.assembly.late and self.clock.due:
            with self._turns.alone():
                self._refresh()
        return self.store.read_only(self.assembly.stages.source(found))

    @property
    def graph(self) -> Reader:
        """The edges between memories and entities, read-only: the attributes that `GRAPH.reading`
        names, with shapes in `state.graph.Graph`.

        Any other attribute raises ContractError.
        """
        self._integrity.require("graph")
        edges = (
            frozenset(c.name for c in self.store.columns if c.scope is Scope.EDGE) | BUILT_IN.keys()
        )
        return Reader(self.store.graph, GRAPH, edges)

    @property
    def tasks(self) -> Tasks:
        """The stack of tasks: `push(goal)`, `pop(result)`, `peek()`, `path()`, `siblings()`;
        what is told meanwhile carries the attribute `task`.
        """
        return self._tasks

    @property
    def events(self) -> tuple[Event, ...]:
        """Every event given to `encode`, verbatim and in order, vetoed ones included.
        O(events).
        """
        self._integrity.require("events")
        return tuple(self.event_log.events)

    @shared
    def event(self, row: int) -> Event:
        """The event of a row, verbatim.  Raises InputError, also for a row that the memory made;
        `unit` reads both.
        """
        self._integrity.require("event")
        return self.event_log.of_row(checked_row(row, self.store.n))

    @shared
    def unit(self, row: int) -> Unit:
        """What a row holds: an event, or a text that the memory made, with the ids of its
        events.  Raises InputError.
        """
        self._integrity.require("unit")
        return self._unit(checked_row(row, self.store.n))

    @property
    def writings(self) -> tuple[Writing, ...]:
        """Every text that the memory made, in order; the column WRITING and columns of
        mechanisms hold numbers into it.  O(writings).
        """
        self._integrity.require("writings")
        return tuple(self.event_log.writings)

    @shared
    def condensed(self, row: int) -> str:
        """The condensed text of a memory for a context: all of its text, a summary or keywords, as
        its DETAIL says; `event` keeps the text itself.

        Raises InputError.
        """
        self._integrity.require("condensed")
        return condensed(
            self.event_log.text(checked_row(row, self.store.n)), int(self.store.array(DETAIL)[row])
        )

    @serial
    def archive(self, row: int) -> None:
        """Archive a memory for good: until `restore`, no query answers it and no context or later
        text of the memory quotes it.  Raises InputError.

        The same holds for what the memory made from it.  Its text and columns stay, for `event`,
        `unit` and `restore`.  What mechanisms archive may still be answered where one of them
        reaches it.
        """
        self._integrity.require("archive")
        row = checked_row(row, self.store.n)
        with self._noted(("archive", (row,))):
            self.assembly.withhold(row)
            self._integrity.begun += 1
            self.clock.changed()

    @serial
    def restore(self, row: int) -> None:
        """Undo `archive`, or show what a mechanism archived.  Raises InputError, also for a row
        made from what is archived, and for an erased one.

        What the memory made from it is then as visible as before.
        """
        self._integrity.require("restore")
        row = checked_row(row, self.store.n)
        with self._noted(("restore", (row,))):
            self.assembly.release(row)
            self._integrity.begun += 1
            self.clock.changed()

    @serial
    def erase(self, what: str | int | Only, *, confirm: bool | None = None) -> Erasure:
        """Overwrite the text of events, for good; the rows that were archived, made ones included.
        The one way to lose a text.

        what     the id of an event, the row of one, or an `Only`: every event that meets its
                 conditions, refused ones included
        confirm  True erases.  False erases nothing and returns what would be erased.  Left out, the
                 call raises InputError, which says the same

        Text, caption, attributes, vector, postings, passages and edges of the event are
        overwritten, in the memory and in its snapshot file, which is rewritten (VACUUM); so are all
        texts that the memory made from it, or that contain its text of 20 characters or more.  The
        rows stay as stubs with time, session and speaker, their columns at neutral.  What
        mechanisms have learnt over many events, such as means and weights, is not undone, and
        neither are copies of the file, the embedding cache (vectors under hashes of texts) or a
        transcript of a language model. Raises InputError, with nothing changed, without `confirm`,
        and for an id, a row or a filter that names no event; SnapshotError if the disk fails: the
        next save then overwrites in the file what this one could not.
        """
        self._integrity.require("erase")
        if confirm is not None and not isinstance(confirm, bool):
            raise InputError(
                f"confirm is {confirm!r}",
                where="erase",
                cure="give True to erase, or False to see what would be erased",
            )
        going = overwritten(named_events(what, self.event_log), self.event_log)
        planned = Erasure.of(
            going.rows, [self.event_log.events[n] for n in going.events], len(going.writings)
        )
        if confirm is None:
            raise InputError(
                f"erasing loses texts for good: {planned}",
                where="erase",
                cure="call erase(..., confirm=True); archive(row) hides a memory and keeps its text",
            )
        if not confirm:
            return planned
        with self._changing("erase"):
            self.assembly.erase(going)
            self._leave_jumps()
            self.tasks.read_again()
            self._contexts.clear()
            self.assembly.places.clear()
            forget_texts()
            self.clock.changed()
        if self._snapshot:
            self._snapshot.save(erased=going)
        return planned.finished()

    @serial
    def save(self) -> None:
        """Bring the snapshot file up to date; without one, do nothing.  Raises SnapshotError,
        after which the memory can still be used.
        """
        self._integrity.require("save")
        self._write()

    def _write(self) -> None:
        """Bring the snapshot file up to date, in the midst of a call."""
        if self._snapshot:
            self._snapshot.save()

    @serial
    def close(self) -> None:
        """Save and close the snapshot file, if there is one; afterwards the memory refuses every
        call but `close`.

        Raises SnapshotError if it cannot be saved; memory and file then stay open, so that room can
        be made and `close` called again.
        """
        if self._snapshot:
            self._snapshot.close(save=not self._integrity.ended)
            self._snapshot = None
        self._integrity.end("is closed")

    @serial
    def digest(self) -> str:
        """SHA-256 over the whole state."""
        self._integrity.require("digest")
        return self.assembly.digest()

    def __repr__(self) -> str:
        facts = self._facts()
        archived = f" ({facts['archived']} archived)" if facts["archived"] else ""
        return f"<Engine: {len(self.mechanisms)} mechanisms, {facts['memories']} memories{archived}, {facts['events']} events, now {facts['now']}>"

    def _repr_html_(self) -> str:
        facts = {
            **self._facts(),
            "embedder": self.assembly.embedder.name,
            "mechanisms": ", ".join(m.id for m in self.mechanisms),
        }
        return html_table(facts, [facts.values()])

    def _facts(self) -> dict[str, object]:
        now = (
            "before the first event"
            if math.isnan(self.now)
            else f"{moment(self.now):%Y-%m-%d %H:%M}"
        )
        return {
            "memories": self.store.n,
            "archived": self.store.n - int(np.count_nonzero(self.store.array(VISIBLE))),
            "events": len(self.event_log.events),
            "now": now,
        }

    def _unit(self, row: int) -> Unit:
        log, array = self.event_log, self.store.array
        session, speaker = (
            log.sessions.name(int(array(SESSION)[row])),
            log.speakers.name(int(array(SPEAKER)[row])),
        )
        sources, events = log.ids(log.origins(row)), log.ids(log.shown(row))
        return Unit(
            row,
            log.kind(row),
            log.text(row),
            float(array(CREATED)[row]),
            session,
            speaker,
            sources,
            events,
            float(array(UTC_OFFSET)[row]),
            self.assembly.passages.read(row),
        )

    def _sleep(self) -> tuple[float, float]:
        """Onset and end of the present or next sleep, h.  If no mechanism schedules sleep, both
        are the time of the next fixed consolidation.
        """
        onset, end = self.store.array(SLEEP_ONSET).item(), self.store.array(SLEEP_END).item()
        due = self.clock.consolidated + self.consolidate_every
        return (due, due) if math.isnan(end) else (onset, end)

    def _pass(self, time: float, waking: bool = False) -> None:
        """Maintain up to `time`, and consolidate at the end of each sleep that ends by then;
        `waking` also ends a sleep in progress.
        """
        if self._sleep()[1] <= time:
            self._pass_nights(time)
        self._maintain(time, again=not waking)
        if waking and self._sleep()[0] < time:
            self._consolidate(time)

    def _pass_nights(self, time: float) -> None:
        """Consolidate at the end of each sleep that ends by `time`; those that change nothing
        pass at once.
        """
        if self._idle():
            self._stride(time)
        bar = NightBar(self.progress, self._nights_until(time))
        while (end := self._sleep()[1]) <= time:
            slept = Tick(self.clock.consolidated, end)
            self._consolidate(end)
            if self._sleep()[1] <= end:
                break
            bar.passed()
            if self._fixed() and self.assembly.at_rest(slept):
                self._stride(time)

    def _stride(self, time: float) -> None:
        """Pass many sleeps up to `time` that change nothing at once, all but the last, after
        which everything stands as after all.
        """
        due, every = self.clock.consolidated, self.consolidate_every
        if nights_between(due, time, every) > STRIDE:
            self.clock.consolidated = last_due(
                due, every, math.nextafter(last_due(due, every, time), -math.inf)
            )

    def _fixed(self) -> bool:
        """Whether sleeps come at fixed times, and no mechanism schedules them."""
        return math.isnan(self.store.array(SLEEP_END).item())

    def _idle(self) -> bool:
        """Whether no sleep can change anything: no hook consolidates, or nothing is stored, and
        none schedules sleep.
        """
        return (not self.store.n or not self.assembly.phases[Phase.CONSOLIDATE]) and self._fixed()

    def _nights_until(self, time: float) -> float:
        """About how many sleeps end up to a time; scheduled ones are one a day."""
        start, every = (
            (self.clock.consolidated, self.consolidate_every) if self._fixed() else (self.now, DAY)
        )
        return nights_between(start, time, every)

    def _require_near(self, time: float, where: str) -> None:
        """Raises InputError for a time up to which more sleeps would be consolidated than any
        user can mean.
        """
        if not self._idle():
            require_few_nights(self._nights_until(time), time - self.now, where)

    def _consolidate(self, time: float) -> None:
        """Maintain, then consolidate, at the end of a sleep; an empty memory is not
        consolidated.
        """
        self._maintain(time)
        if self.store.n:
            if self.assembly.asleep_reads_late:
                self.assembly.refresh()
            self._run[Phase.CONSOLIDATE](Tick(self.clock.consolidated, time))
            self.clock.changed()
        self.clock.consolidated = time
        if self.store.n and self._sleep()[1] <= time:
            raise ContractError(
                f"after the sleep that ended at {time:.4f} h the next sleep also ends by then",
                where="consolidate",
                cure="set SLEEP_ONSET and SLEEP_END of the next sleep in that phase",
            )

    def _maintain(self, time: float, again: bool = False) -> None:
        """Maintain up to `time`; `again`: also if no time has passed, in case anything else
        changed since the last maintenance.
        """
        self._set_now(time)
        if self.store.n and (time > self.clock.maintained or (again and not self.clock.settled)):
            self._run[Phase.MAINTAIN](Tick(self.clock.maintained, time))
            self.clock.settled = self.clock.due = True
        self.clock.maintained = time

    def _leave_jumps(self) -> None:
        """Set the clock back if the events that took it ahead by more than a year are erased.
        Of the first event, the next one sets it anew.
        """
        left = standing(self.clock.jumps, self.event_log.events, self.event_log.is_stub, self.now)
        gone = self.clock.jumps[len(left) :]
        self.clock.jumps = left
        if gone and not math.isnan(gone[0].before):
            self._set_back(gone[0].before)

    def _set_back(self, time: float) -> None:
        """Set the clock back to a time, with all that reads it.  What was forgotten, slept over
        and learnt meanwhile stays as it is.  O(n).
        """
        now, store = self.now, self.store
        for column in store.columns:
            if column.upkeep.clock and column.persists:
                set_back(store.array(column), time, now)
        set_back(store.graph.column("created"), time, now)
        self.clock.maintained, self.clock.consolidated = (
            min(self.clock.maintained, time),
            min(self.clock.consolidated, time),
        )
        self._set_now(time)
        self.clock.changed()

    def _set_now(self, time: float) -> None:
        self.clock.due |= time != self.clock.now
        self.clock.now = time
        self.store.array(NOW)[()] = time

    # --- calls of the log, repeated ---------------------------------------------------------------

    def _encode_again(self, event: Event, time: float, jumps: Sequence[tuple[int, float]]) -> None:
        self._store_in_tick(
            event, time, tuple(Jump(*each) for each in jumps), self.assembly.incoming(event)
        )

    def _learn_again(self, query: Query, k: int) -> None:
        self._refresh()
        self._retrieve(query, k, True, None, 0)

    def _use_again(self, query: Query, rows: Sequence[int], outcome: float) -> None:
        self._refresh()
        self._learn_use(query, read_only(np.array(rows, np.int64)), outcome)


REPEATED: dict[str, Callable[..., object]] = {  # what the log of a file may hold
    "encode": Engine._encode_again,
    "learn": Engine._learn_again,
    "use": Engine._use_again,
    "archive": Engine.archive,
    "restore": Engine.restore,
}
