"""The face of a memory: what is told to it, asked of it and read from it.  Each call is carried
out by a part: `telling`, `passing`, `answering`, `changes`, over the parts of `assembly`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from ..base.checks import checked_count, checked_row
from ..base.counts import plural
from ..base.errors import InputError, nearest
from ..base.tables import html_table
from ..base.times import moment
from ..base.turns import Serial, serial, shared
from ..context.assembly import assemble
from ..context.cache import ContextCache
from ..context.context import Context, ContextReader
from ..context.tasks import Tasks
from ..context.tokens import TokenCounter, counter
from ..contract.columns import Column, Scope
from ..contract.hooks import Mechanism
from ..contract.offers import Offer
from ..contract.records import Event, Only, Query
from ..contract.units import Unit
from ..contract.vocabulary import GRAPH, VISIBLE
from ..flow.passes import Instrument
from ..flow.schedule import Schedule
from ..flow.view import Reader
from ..ports.embedder import Embedder, Progress, checked_embedder
from ..ports.language_model import LanguageModel
from ..saving.snapshot import Durable, Snapshot
from ..state.graph import BUILT_IN
from ..state.ranking import Answer, Rows
from ..steps.capacity import checked_capacity
from ..text.memo import forget_texts
from .answering import Answering
from .arguments import checked_durable, checked_shortlist, checked_time
from .arrivals import EVENTS, WallClock, require_believable
from .assembly import Assembly
from .changes import Changes, Repeated
from .encoded import Encoded
from .erasing import Erasure, going
from .explain import Explanation, explained
from .passing import Passing
from .telling import Telling

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

    `tasks` is the stack of tasks: `push(goal)`, `pop(result)`, `peek()`, `path()`, `siblings()`; what
    is told meanwhile carries the attribute `task`.

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

    def _sound(self, doing: str) -> None:
        self.changes.require(doing)

    def __enter__(self) -> Self:
        self._sound("with")
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    # --- telling, and time ------------------------------------------------------------------------

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
        ((event, time),) = self._telling.sound([event], confirm, near=True)
        return self._telling.store(self.tasks.marked(event), time)

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
        self._sound("encode_all")
        whole = isinstance(events, list | tuple)
        with self._turns.alone() if whole else nullcontext():
            if whole:
                events = [event for event, _ in self._telling.sound(events, confirm)]
            coming, rows = iter(events), list[Encoded]()
            while pending := list(islice(coming, CHUNK)):
                rows += self._encode_some(pending, confirm)
            if rows:
                self.advance(self.now)
            return rows

    def _encode_some(self, events: Sequence[Event], confirm: bool) -> list[Encoded]:
        """Encode a few events in one turn; their texts are embedded together."""
        with self._turns.alone():
            self._sound("encode_all")
            pending = [event for event, _ in self._telling.sound(events, confirm)]
            self.assembly.embed_ahead(pending)
            if self.assembly.forecasts:
                self.assembly.embed_forecast(pending)
            return [self.encode(event, confirm=confirm) for event in pending]

    @property
    def now(self) -> float:
        """h, simulated time; NaN before the first event."""
        return self.clock.now

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

        learn  whether recall may change memory, as if every row of the answer had been needed:
               that carries no truth; `use` tells what was needed.  Else the state stays bit for bit
        whole  whether all rows are asked, and never a shortlist, so that the ranking of all is
               known

        A query later than the present is refused; call `advance(query.time)` first, since passing
        time changes memory.  A blank query asks without words, here and in every other call:
        memories rank by time, use, strength and the present context of the session in which it
        is asked.

        Questions of several threads are answered at the same time (`engine.scale.concurrent`),
        unless they learn or are measured by an observer, and except in a memory of fewer than
        4,096 rows.
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
        ttl: float = 0.0,
    ) -> Context:
        """The text that a reader gets for a query, under a budget of tokens, and what was cut.  The
        state stays bit for bit as it is.

        max_tokens  most tokens of the whole text, counted by the tokeniser of the embedder, else as
                    length / 4; None: of `reader`, else by number of items, with nothing condensed
        ttl         h, simulated time: a context that was assembled so long ago is taken again if
                    only time has passed since; with 0, only one of this very state.  An event, what
                    recall changes, a sleep, or an archived or restored memory ends it at once

        Other arguments, counters, formats and strategies: `engine.context.assembly.assemble`.  What
        the memory's `sources` offer; without sources the best memories first, and several threads
        are answered at the same time as by `retrieve`.  Asked again in the same state, the context
        is the same object. Cost: one retrieval; beyond it 5 ms at 1,024 tokens of utterances, 30 ms
        at 4,096 of long texts; with the sources of `stages` at 20k memories 16 ms at 1,024 tokens
        and 23 ms at 4,096; microseconds if it was asked before. Raises InputError.
        """
        with self.answering.turn(alone=bool(self.sources)):
            self._sound("context")
            further: dict[str, Any] = {"max_items": max_items, "session": session, "task": task,
                                       "only": only, "reader": reader, "also": also}  # fmt: skip
            asked = (query, max_tokens, type(max_tokens), type(max_items), *further.values())
            make = partial(assemble, self, query, max_tokens, **further, counter=self._counter)
            return self._contexts.kept(self.changes.begun, asked, make, self.now, ttl)

    @property
    def sources(self) -> Mapping[str, float]:
        """The mechanisms that are sources of contexts, with the share of the budget that each
        spends first, percent.
        """
        return MappingProxyType(self.assembly.sources)

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
        after each stage.

        One Explanation for one row; for several rows, such as `answer.rows`, a tuple of them at the
        cost of about one retrieval.  The state stays bit for bit as it is.  Raises InputError.
        """
        self.passing.look()
        rows = list(row) if isinstance(row, Sequence | np.ndarray) else [row]
        checked = [checked_row(each, self.store.n) for each in rows]
        self.answering.refresh()
        explanations = explained(self.assembly, self.answering.asked(query), checked)
        return explanations if isinstance(row, Sequence | np.ndarray) else explanations[0]

    # --- what it holds ----------------------------------------------------------------------------

    @property
    def mechanisms(self) -> tuple[Mechanism[Any], ...]:
        """The mechanisms that are on, in registry order."""
        return self.assembly.mechanisms

    @property
    def schedule(self) -> Schedule:
        """The steps of every phase in the order in which they run, for printing."""
        return Schedule.of(self.assembly.phases)

    @property
    def events(self) -> tuple[Event, ...]:
        """Every event given to `encode`, verbatim and in order, vetoed ones included.
        O(events).
        """
        self._sound("events")
        return tuple(self.event_log.events)

    @shared
    def event(self, row: int) -> Event:
        """The event of a row, verbatim.  Raises InputError, also for a row that the memory made;
        `unit` reads both.
        """
        return self.event_log.of_row(checked_row(row, self.store.n))

    @shared
    def unit(self, row: int) -> Unit:
        """What a row holds: an event, or a text that the memory made, with the ids of its
        events.  Raises InputError.
        """
        return self.answering.unit(checked_row(row, self.store.n))

    def column(self, column: Column | str) -> NDArray[Any]:
        """The present values of a column, by the column itself or by its name: a read-only view, to
        be fetched again after the memory has changed.

        (n, ...) for a column of memories or candidates, (m, ...) for one of edges, one cell (...)
        otherwise.  Columns of events hold the values of the last event.  Columns of candidates hold
        those of the last question that the memory's own store answered; other stores are those of
        shortlists and of concurrent questions.  Where no step computes a stage, its values are
        those of the stage before.  Raises InputError for a column that no mechanism of this memory, nor the engine,
        owns.
        """
        self._sound("column")
        known = {c.name: c for c in self.store.columns}
        name = column.name if isinstance(column, Column) else column
        owned = known.get(name)
        if owned is None or (isinstance(column, Column) and column is not owned):
            raise InputError(
                f"this memory has no column {name!r}", where="column", cure=nearest(name, known)
            )
        if owned in self.assembly.late and self.clock.due:
            with self._turns.alone():
                self.answering.refresh()
        return self.store.read_only(self.assembly.stages.source(owned))

    @property
    def graph(self) -> Reader:
        """The edges between memories and entities, read-only: the attributes that `GRAPH.reading`
        names, with shapes in `state.graph.Graph`.

        Any other attribute raises ContractError.
        """
        self._sound("graph")
        own = {c.name for c in self.store.columns if c.scope is Scope.EDGE}
        return Reader(self.store.graph, GRAPH, frozenset(own | BUILT_IN.keys()))

    # --- taking away, and keeping -----------------------------------------------------------------

    @serial
    def archive(self, row: int) -> None:
        """Archive a memory for good: until `restore`, no query answers it and no context or later
        text of the memory quotes it.  Raises InputError.

        The same holds for what the memory made from it.  Its text and columns stay, for `event`,
        `unit` and `restore`.  What mechanisms archive may still be answered where one of them
        reaches it.
        """
        row = checked_row(row, self.store.n)
        with self.changes.small("archive", row):
            self.assembly.withhold(row)

    @serial
    def restore(self, row: int) -> None:
        """Undo `archive`, or show what a mechanism archived.  Raises InputError, also for a row
        made from what is archived, and for an erased one.

        What the memory made from it is then as visible as before.
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
        erased, planned = going(what, confirm, self.event_log)
        if not confirm:
            return planned
        with self.changes.whole("erase"):
            self.assembly.erase(erased)
            self.passing.leave_jumps()
            self.tasks.read_again()
            self._contexts.clear()
            self.assembly.leave_places()
            forget_texts()
            self.clock.changed()
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
        call but `close`.

        Raises SnapshotError if it cannot be saved; memory and file then stay open, so that room can
        be made and `close` called again.
        """
        with self._turns.alone():
            self.changes.close()

    @serial
    def digest(self) -> str:
        """SHA-256 over the whole state."""
        return self.assembly.digest()

    @cached_property
    def _counter(self) -> TokenCounter:
        """The tokeniser of the embedder's folder, loaded at the first context; without one,
        length / 4.
        """
        return counter(self.assembly.embedder)

    def __repr__(self) -> str:
        facts = self._facts()
        archived = f" ({facts['archived']} archived)" if facts["archived"] else ""
        memories = plural(self.store.n, "memory", "memories") + archived
        events = plural(len(self.event_log.events), "event")
        return f"<Engine: {plural(len(self.mechanisms), 'mechanism')}, {memories}, {events}, now {facts['now']}>"

    def _repr_html_(self) -> str:
        facts = {
            **self._facts(),
            "embedder": self.assembly.embedder.name,
            "mechanisms": ", ".join(m.id for m in self.mechanisms),
        }
        return html_table(facts, [facts.values()])

    def _facts(self) -> dict[str, object]:
        before = math.isnan(self.now)
        return {
            "memories": self.store.n,
            "archived": self.store.n - int(np.count_nonzero(self.store.array(VISIBLE))),
            "events": len(self.event_log.events),
            "now": "before the first event" if before else f"{moment(self.now):%Y-%m-%d %H:%M}",
        }
