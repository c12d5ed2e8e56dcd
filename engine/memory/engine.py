"""The face of a memory: what is told to it, asked of it and read from it.  Each call is carried
out by a part: `telling`, `passing`, `answering`, `changes`, over the parts of `assembly`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from ..base.checks import checked_count, checked_row
from ..base.turns import serial
from ..context.assembly import AssemblyMemory, assemble
from ..context.cache import ContextCache
from ..context.context import Context, ContextReader
from ..context.tasks import Tasks
from ..context.tokens import TokenCounter, counter
from ..contract.hooks import Mechanism
from ..contract.offers import Offer
from ..contract.records import Event, Only, Query
from ..flow.passes import Instrument
from ..ports.embedder import Embedder, Progress, checked_embedder
from ..ports.language_model import LanguageModel
from ..saving.snapshot import Durable, Snapshot
from ..state.ranking import Answer, Rows
from ..steps.capacity import checked_capacity
from .answering import Answering
from .arguments import checked_durable, checked_shortlist, checked_time
from .arrivals import EVENTS, WallClock, require_believable
from .assembly import Assembly
from .changes import Changes, Repeated
from .encoded import Encoded
from .erasing import Erasure, going
from .explain import Explanation, explained
from .passing import Passing
from .readable import ReadableMemory
from .requests import RequestedMemory, SourceStrategy
from .telling import Telling


class Engine(ReadableMemory):
    """One memory: mechanisms over a store, changed by events, by simulated time and by queries that
    learn.

    mechanisms         the mechanisms that are on, as `Registry.build` gives them
    embedder           turns texts into unit vectors
    seed               of every mechanism's own random stream
    tick_hours         events closer than this share one maintenance; the state after a finished
                       tick does not depend on it.  `advance(memory.now)` finishes the tick
    consolidate_every  h between consolidations, unless a mechanism schedules sleep; infinity: never
    path               a snapshot file to continue from and to keep up to date; None: no file
    durable            whether what a call that changes the memory has returned from is in the file
                       then, whatever becomes of the process: True, or "full": also of the machine.
                       False: a process that ends without `close` loses the tick in flight
    observer           measures the mechanisms from outside, such as `observer.Observer()`
    language_model     for hooks that can use one; None: every mechanism does without
    capacity           most visible rows, see `engine.steps.capacity`; None: no limit
    shortlist          rows that a question is asked of, in a memory of at least 16 times as many,
                       see `engine.scale.shortlist`; None: all
    threads            that work on one question to a memory of at least 32,768 rows; answers do not
                       depend on it.  None: OMP_NUM_THREADS, or at most 4 of the processors
    index              "exact" or "ivf": approximate from 16,384 rows on
    progress           called as progress(nights passed, nights due) every second of a call that
                       takes long because many nights pass
    late_hours         h, most that an event may lie before the present; it is then stored with its
                       own time, and the present stays.  0: none is
    jump_hours         h, most by which time goes ahead at once, unless that is confirmed
    clock              what tells the present: "events", they and `advance` alone; "wall", the clock
                       of the machine, too; or a callable that returns an aware datetime.  Questions
                       then see the present, and events whose time is None happen now

    `tasks` is the stack of tasks; what is told meanwhile carries the attribute `task`.  Capacity,
    shortlist, threads, index and language model are given anew when a snapshot is continued.

    Times are hours since 1970-01-01T00:00 UTC or datetimes; a naive datetime is taken as UTC.
    Bad input raises InputError before anything changes.  After a failed change, and after `close`,
    the memory refuses every further call with HebbariumError; a snapshot file then holds what was
    told before.  `with Engine(...) as memory:` closes the memory at the end.  SnapshotError of a
    call that changes the memory says that the file could not take it; the memory can still be used.
    Threads may share a memory: a call that changes it runs alone, in some order; questions of
    `retrieve` and `context`, and calls that read a row, run at the same time.
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
        self.observer = observer
        self.assembly = parts = Assembly(
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
        self.event_log, self.store, self.clock = parts.event_log, parts.store, parts.clock
        self._contexts = ContextCache()
        self.changes = Changes(parts, models=language_model is not None)
        self.passing = Passing(
            parts,
            self.changes,
            self._contexts,
            self._turns,
            tick_hours=tick_hours,
            consolidate_every=consolidate_every,
            late_hours=late_hours,
            jump_hours=jump_hours,
            clock=clock,
            progress=progress,
        )
        self._telling = Telling(parts, self.changes, self.passing, quiet=observer is not None)
        self.answering = Answering(
            parts, self.changes, self.passing, self._turns, measured=observer is not None
        )
        self.tasks = Tasks(self, self._turns)
        durable = checked_durable(durable)
        if path:
            snapshot = Snapshot(path, parts, self.passing.consolidate_every, durable)
            repeated: Repeated = {  # what the log of a file may hold
                "encode": self._telling.again,
                "learn": self.answering.learn_again,
                "use": self.answering.use_again,
                "archive": self.archive,
                "restore": self.restore,
            }
            self.changes.take_up(snapshot, repeated, self.passing.at)

    def __enter__(self) -> Self:
        self._sound("with")
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    # --- telling, and time ------------------------------------------------------------------------

    @serial
    def encode(self, event: Event, *, confirm: bool = False) -> Encoded:
        """Encode an event.  Its row, which is false and -1 if a gate refused it, with `why`.
        Raises InputError, with nothing changed; SnapshotError: the file could not take the tick
        before, and the event was not stored.

        confirm  whether so much time has passed as the event says

        A late event is stored with its own time, if it is late by `late_hours` at most; the present
        stays.  So it does, with a ClockWarning, for one that is ahead by more than `jump_hours`,
        unless `confirm`; if that is erased later, with all that came after it in time, the clock
        goes back.  The first refusal by a gate warns with a VetoWarning, unless an observer counts.
        """
        ((event, time),) = self._telling.sound([event], confirm, near=True)
        return self._telling.store(self.tasks.marked(event), time)

    def encode_all(self, events: Iterable[Event], *, confirm: bool = False) -> list[Encoded]:
        """Encode events in order, and finish the tick.  What became of each, as `encode` says it.
        Raises InputError.

        confirm  whether as much time has passed as they say, see `encode`

        Events are taken, and their texts embedded, 256 at a time: same result, and an iterator of
        any length in bounded memory.  A list or tuple has one turn, and each of its events is
        checked before anything changes; of an iterator each 256 events have a turn, and those
        before the 256 that hold a bad one are encoded.  A jump of time over too many sleeps, and a
        vector that is no unit vector, are found at their event.
        """
        self._sound("encode_all")
        return self._telling.encode_all(events, confirm, self._turns, self.encode)

    @serial
    def advance(self, time: float | datetime, *, confirm: bool = False) -> None:
        """Let simulated time pass: maintain up to `time`, and consolidate at the end of each sleep
        before it.  Only an event ends a sleep early.

        confirm  whether so much time has passed, if it is more than `jump_hours`

        Raises InputError for a time before the present, and for one that is too far ahead.
        """
        time = checked_time(time, self.now, "advance")
        if not math.isnan(self.now):
            require_believable(time, self.now, self.passing.jump_hours, confirm)
            self.passing.require_near(time, "advance")
            self.passing.advance(time)

    # --- asking -----------------------------------------------------------------------------------

    def retrieve(
        self, query: Query | str, k: int = 10, *, learn: bool = False, whole: bool = False
    ) -> Answer:
        """The k best memories for a query, as of the memory's present time; all visible ones if
        fewer.  Raises InputError.

        learn  whether recall may change memory, as if every row of the answer had been needed;
               `use` tells what was needed.  Else the state stays bit for bit
        whole  whether all rows are asked, never a shortlist, so that the ranking of all is known

        A query later than the present is refused; call `advance(query.time)` first, since passing
        time changes memory.  A blank query asks without words, here and in every other call:
        memories rank by time, use and strength alone.
        """
        return self.answering.retrieve(query, k, learn, whole)

    def asks_all(self, rows: int) -> bool:
        """Whether a question that wants so many rows is asked of all, and not of a shortlist."""
        self._sound("asks_all")
        return self.answering.asks_all(checked_count(rows, "rows"))

    @serial
    def use(
        self,
        answer: Answer | Context,
        rows_or_ids: int | str | Collection[int | str] | NDArray[np.int64],
        outcome: float | None = None,
    ) -> Rows:
        """Tell the memory which rows were needed for an answer: recall changes memory as if exactly
        they had been answered.  These rows, best first.

        answer       of `retrieve` without `learn`, now or earlier, or a context; one feedback each
        rows_or_ids  any rows that the memory held when it answered, or ids of events: the answered
                     rows that show the event, else its own.  (): nothing of the answer was needed
        outcome      how well the answer served, from -1 to 1; None: not told

        The question is asked again at the memory's present, so `use(answer, answer.rows)` at once
        equals `retrieve(..., learn=True)` bit for bit.  Archived rows count and stay archived;
        erased rows are left out.  Cost: one retrieval; if nothing was asked or changed since, only
        what learns from it.  Raises InputError, with nothing changed, for an answer that the memory
        has learnt from, or that another memory gave.
        """
        self.passing.look()
        given = answer.answer if isinstance(answer, Context) else answer
        return self.answering.use(given, rows_or_ids, outcome)

    @serial
    def outcome(self, row: int, ok: bool) -> None:
        """Tell the memory that a row, such as a standing instruction, was applied, and whether that
        served: as `use` of it for its own text.

        Raises InputError.  Cost: two retrievals.
        """
        text = self.event_log.text(checked_row(row, self.store.n))
        self.use(self.retrieve(text, 1), row, 1.0 if ok else -1.0)

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
        strategy: SourceStrategy | None = None,
        compress: str = "",
        ttl: float = 0.0,
    ) -> Context:
        """The text that a reader gets for a query, under a budget of tokens, and what was cut.  The
        state stays bit for bit as it is.  Raises InputError.

        max_tokens  most tokens of the whole text, by the tokeniser of the embedder, else length / 4;
                    None: of `reader`, else by number of items, with nothing condensed
        strategy    of sources that act otherwise for this request alone, their parameters by name,
                    such as {"recent_context": {"share": 10, "last": 5}}; None: as they are
        compress    "extracts" or "model", the memory's language model: what exceeds the budget is
                    compressed, the lowest scores first; "": not
        ttl         h, simulated time: a context that was assembled so long ago is taken again if
                    only time has passed since; with 0, only one of this very state, which is the
                    same object

        Other arguments, counters, formats and strategies: `engine.context.assembly.assemble`.  What
        the memory's `sources` offer; without sources the best memories first.  Cost: one retrieval
        and the assembly, see `docs/results/contexts.md`.
        """
        with self.answering.turn(alone=bool(self.assembly.sources)):
            self._sound("context")
            further: dict[str, Any] = {"max_items": max_items, "session": session, "task": task,
                                       "only": only, "reader": reader, "also": also,
                                       "compress": compress}  # fmt: skip
            asked_memory: AssemblyMemory = self
            named: tuple[Any, ...] = ()
            if strategy:
                requested = RequestedMemory(self, self.assembly, self.answering, strategy)
                asked_memory, named = requested, requested.named
            make = partial(assemble, asked_memory, query, max_tokens, **further,
                           counter=self._counter, model=self.assembly.language_model)  # fmt: skip
            asked = (query, max_tokens, type(max_tokens), type(max_items), *further.values(), named)
            return self._contexts.kept(self.changes.begun, asked, make, self.now, ttl)

    @serial
    def offers(
        self, query: Query | str, max_tokens: int | None = None, *, session: str | None = None
    ) -> tuple[Answer, tuple[Offer, ...]]:
        """The best memory for a query, and what each source offers for a context of so many tokens,
        in the order of `sources`; None: by number.

        session  of the asker; one that the memory does not know counts as not given

        The state stays bit for bit as it is.  Cost: one retrieval.  Raises InputError.
        """
        self.passing.look()
        return self.answering.offers(query, max_tokens, session)

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
        after each stage; for several rows a tuple, at the cost of one retrieval.  The state stays
        bit for bit as it is.  Raises InputError.
        """
        self.passing.look()
        rows = list(row) if isinstance(row, Sequence | np.ndarray) else [row]
        checked = [checked_row(number, self.store.n) for number in rows]
        self.answering.refresh()
        explanations = explained(self.assembly, self.answering.asked(query), checked)
        return explanations if isinstance(row, Sequence | np.ndarray) else explanations[0]

    # --- taking away, and keeping -----------------------------------------------------------------

    @serial
    def archive(self, row: int) -> None:
        """Archive a memory, and what the memory made from it: until `restore`, no query answers it
        and no context or later text of the memory quotes it.  Raises InputError.

        Its text and columns stay, for `event`, `unit` and `restore`.
        """
        row = checked_row(row, self.store.n)
        with self.changes.small("archive", row):
            self.assembly.withhold(row)

    @serial
    def restore(self, row: int) -> None:
        """Undo `archive`, or show what a mechanism archived.  Raises InputError, also for a row
        made from what is archived, and for an erased one.
        """
        row = checked_row(row, self.store.n)
        with self.changes.small("restore", row):
            self.assembly.release(row)

    @serial
    def erase(self, what: str | int | Only, *, confirm: bool | None = None) -> Erasure:
        """Overwrite the text of events, for good; the rows that were archived, made ones included.
        The one way to lose a text.

        what     the id of an event, the row of one, or an `Only`: every event that meets its
                 conditions, refused ones included
        confirm  True erases.  False erases nothing and returns what would be erased.  Left out, the
                 call raises InputError, which says the same

        All that holds the text is overwritten, in the memory and in its file: caption, attributes,
        vector, postings, edges, texts that the memory made from it or that quote 20 characters of
        it.  Stubs keep time, session and speaker.  What mechanisms have learnt over many events is
        not undone, nor are copies of the file, cached vectors and transcripts.  Raises InputError,
        with nothing changed, without `confirm` and where `what` names no event; SnapshotError if
        the disk fails: the next save then overwrites in the file what this one could not.
        """
        erased, planned = going(what, confirm, self.event_log)
        if not confirm:
            return planned
        with self.changes.whole("erase"):
            self.assembly.erase(erased)
            self.passing.leave_jumps()
            self.tasks.read_again()
            self._contexts.clear()
        self.changes.save(erased)
        return planned.finished()

    @serial
    def save(self) -> None:
        """Bring the snapshot file up to date; without one, do nothing.  Raises SnapshotError,
        after which the memory can still be used.
        """
        self.changes.save()

    def close(self) -> None:
        """Save and close the snapshot file, if there is one; afterwards the memory refuses every
        call but `close`.  SnapshotError if it cannot be saved: memory and file then stay open, so
        that room can be made and `close` called again.
        """
        with self._turns.alone():
            self.changes.close()

    @cached_property
    def _counter(self) -> TokenCounter:
        """The tokeniser of the embedder's folder, loaded at the first context; without one,
        length / 4.
        """
        return counter(self.assembly.embedder)
