"""The parts of one memory: store, indexes, graph, schedule and plans for a list of mechanisms."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import astuple, replace
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.checks import checked_count, checked_limit, checked_row
from ..base.errors import ContractError, HebbariumError, InputError, nearest
from ..base.numerics import read_only
from ..contract.ask import Ask
from ..contract.columns import Column, Phase, Scope, Signal, Structure
from ..contract.cues import Cues, Wording, mean_direction
from ..contract.drafts import Drafts, Kind, MadeRows
from ..contract.hooks import Cue, Incoming, Mechanism, ReadingMethod, Tick, item_of, parameter_types
from ..contract.offers import Offers, shares_of_sources
from ..contract.records import Event, Only, Query
from ..contract.vocabulary import (
    ARRIVED,
    BUDGET,
    CREATED,
    CUES,
    DRAFTS,
    EMBEDDER,
    EMBEDDING,
    ENCODING_STRENGTH,
    ENGINE_COLUMNS,
    GRAPH,
    HIDE,
    INDEX,
    KIND,
    LANGUAGE_MODEL,
    LEXICON,
    LOG_PRIOR,
    MADE,
    OFFERS,
    PASSAGES,
    PRIMED,
    RELEASED,
    SALIENCE,
    SESSION,
    SHOW,
    SPANS,
    SPEAKER,
    TEXTS,
    TOKEN_EMBEDDER,
    TRIGRAMS,
    USED,
    USED_TIME,
    UTC_OFFSET,
    VISIBLE,
    WITHHELD,
    WRITING,
    WRITINGS,
)
from ..contract.writings import Writings
from ..flow.dataflow import derived, late, touched_by
from ..flow.passes import Helpers, Instrument, PhasePlan, Work, Wrap, nodes_of, schedule
from ..flow.schedule import ENGINE, Node, Stages
from ..flow.view import Binding
from ..ports.embedder import Embedder, HashingEmbedder, Vectors
from ..ports.embedding_cache import metered
from ..ports.language_model import LanguageModel, described
from ..ports.language_model import metered as metered_model
from ..state.clock import Clock
from ..state.event_log import Erased, EventLog
from ..state.graph import Graph
from ..state.postings import BM25Index, Forward, TrigramIndex, terms_of
from ..state.store import Cells, Store
from ..state.vectors import VectorIndex
from ..steps.capacity import Capacity, without_votes
from ..steps.filter import Banned, banned
from ..steps.passages import Passages
from ..steps.steps import (
    LAST,
    MakeRows,
    StoreEvent,
    admit_node,
    answer_node,
    ask_node,
    budget_node,
    carry_node,
    gather_node,
    imprint_node,
    prime_node,
    restrict_node,
    surface_node,
    value_node,
    weigh_node,
)
from ..steps.uses import used_node
from ..steps.withholding import FreeTexts, Withholding
from ..text.features import features
from ..text.memo import forget_texts
from ..text.words import terms_within

if TYPE_CHECKING:
    from ..scale.concurrent import Places
    from ..scale.crew import Crew, Lends
    from ..scale.on_read import LateRows
    from ..scale.shortlist import Shortlist

# rows; a smaller memory is asked by one thread at a time: its questions are mostly Python, of which
# one thread runs at a time
BESIDE_FROM: Final = 4_096
# rows; in a smaller memory handing work over takes longer than what it saves
HELPED_FROM: Final = 32_768
EXACT: Final = "exact"  # the index that compares all rows
# texts that are embedded in one batch when a file without passages is opened
TOGETHER: Final = 256
# what an erased row keeps, or has overwritten
STUB: Final = frozenset(
    (CREATED, ARRIVED, UTC_OFFSET, SESSION, SPEAKER, KIND, WRITING, VISIBLE, WITHHELD, EMBEDDING)
)


class Asker(Protocol):
    """With what a memory is asked: its own `Assembly`, or a plan of other mechanisms.

    mechanisms  in registry order
    stages      which array holds each stage of the ranking
    ranking     the stages that some step computes, in order; the scores of the last decide the
                answer
    """

    @property
    def mechanisms(self) -> Sequence[Mechanism[Any]]: ...
    @property
    def stages(self) -> Stages: ...
    @property
    def ranking(self) -> Sequence[Column]: ...


class Assembly:
    """The parts of one memory, and the plan of each phase.

    run          phase -> callable that runs it
    learn        runs the steps of RETRIEVE that learn from recall, after a pass that did not, see
                 `PhasePlan.learn`
    phases       phase -> its nodes in order
    signals      each signal with its weight
    sources      share of the budget of each source of contexts, percent, in registry order
    shortlist    asks large memories in part; None: every question is asked of all rows
    beside_from  rows of a memory that answers several questions sooner at the same time than in turn
    helped_from  rows of a memory whose question several threads answer sooner than one
    stages       which array holds each stage of the ranking
    ranking      the stages that some step computes, in order; the scores of the last decide the
                 answer
    asked_before  what identifies each language model that was asked before the memory was loaded
    derived       columns that maintenance computes from the rest of the state
    late          those of them that `refresh` computes, when they are read; late_plan: its steps
    """

    def __init__(
        self,
        mechanisms: Sequence[Mechanism[Any]],
        embedder: Embedder,
        seed: int,
        instrument: Instrument | None,
        language_model: LanguageModel | None = None,
        capacity: int | None = None,
        index: str = "exact",
        shortlist: int | None = None,
        threads: int | None = 1,
        lends: Sequence[Lends] = (),
    ) -> None:
        """threads, lends: of `scale.crew.Crew`, beside what the index lends."""
        self.mechanisms, self.embedder, self.seed = (
            in_order(mechanisms),
            metered(embedder),
            checked_count(seed, "seed"),
        )
        self.language_model, self.asked_before = (
            metered_model(language_model),
            tuple[Mapping[str, str], ...](),
        )
        self.clock = Clock()
        self.event_log = EventLog(writings=Writings(self.clock))
        self.index = self._empty_index(index, embedder.dimensions)
        self.graph, self.lexicon, self.trigrams = Graph(), BM25Index(), TrigramIndex()
        self.streams = {m.id: stream(seed, m.id) for m in self.mechanisms}
        self.passages = Passages(
            self.event_log,
            self.embedder,
            self.lexicon,
            vectors=asks(self.mechanisms, PASSAGES),
            words=asks(self.mechanisms, SPANS),
        )
        structures: dict[Structure, Any] = {
            INDEX: self.index, GRAPH: self.graph, LEXICON: self.lexicon, TRIGRAMS: self.trigrams,
            WRITINGS: self.event_log.writings,
            DRAFTS: Drafts(), MADE: MadeRows(),
            EMBEDDER: self.embedder, TOKEN_EMBEDDER: self.embedder, LANGUAGE_MODEL: self.language_model,
            CUES: Cues(self.wordings), OFFERS: Offers(),
            PASSAGES: self.passages, SPANS: self.passages,
            **{s: s.create() for s in provided(self.mechanisms) if s.create}}  # fmt: skip
        self.store = Store(
            owned_columns(self.mechanisms, embedder.dimensions), structures, self.index, self.graph
        )
        self.withholding = Withholding(self.store, self.event_log, self.show)
        self.store.structures[TEXTS] = FreeTexts(self.event_log, self.withholding)
        self.capacity = None if capacity is None else Capacity(capacity, self.store, self.clock)
        self.sources = shares_of_sources(self.mechanisms)
        self.signals = weighted_signals(self.mechanisms)
        self._store_event = StoreEvent(
            self.store,
            self.event_log,
            self.lexicon,
            self.trigrams,
            self.graph,
            self.passages,
            self.capacity,
        )
        self.phases = self.phases_of(self.mechanisms, self.signals)
        steps = self.phases[Phase.MAINTAIN]
        self.derived, deriving = derived(steps)
        read = [item for node in (*self.phases[Phase.ENCODE], *steps) for item in node.reads]
        read += [
            item
            for m in self.mechanisms
            for reader in (*type(m).forecasts(), *type(m).rests())
            for item in reader.reads
        ]
        self.late, waiting = late(self.derived, deriving, read)
        self._deriving = tuple(node for node in deriving if node not in waiting)
        self.asleep_reads_late = any(
            item_of(read) in self.late
            for node in self.phases[Phase.CONSOLIDATE]
            for read in node.reads
        )
        if instrument:
            instrument.attach(
                [m.id for m in self.mechanisms], self.clock, self.embedder, self.language_model
            )
        self._threads = checked_limit(
            threads,
            "threads",
            "give how many threads work on one question, a whole number from 1, or None",
        )
        self._lends = [self.index, *lends]
        self.beside_from, self.helped_from = BESIDE_FROM, HELPED_FROM
        self._instrument = instrument
        wrap = instrument.wrap if instrument else None
        at_once, put_off = (
            PhasePlan(
                Phase.MAINTAIN,
                [node for node in steps if (node in waiting) is waits],
                self.store,
                (),
                self.streams,
                wrap,
            )
            for waits in (False, True)
        )
        self.plans = {
            phase: at_once if phase is Phase.MAINTAIN else self.plan(phase, wrap, helpers=self)
            for phase in self.phases
        }
        self.run: dict[Phase, Callable[..., None]] = {
            phase: self._timed(phase, plan.run) for phase, plan in self.plans.items()
        }
        self.late_plan = put_off
        self._run_late: Callable[..., None] = self._timed(Phase.MAINTAIN, put_off.run)
        retrieve = self.plans[Phase.RETRIEVE]
        self.learn: Callable[[Ask], None] = self._timed(Phase.RETRIEVE, retrieve.learn)
        self._most = shortlist
        self.shortlist = self._shortlist(instrument) if shortlist else None
        self._forecasts = [
            self._reader(m, f, Phase.ENCODE) for m in self.mechanisms for f in type(m).forecasts()
        ]
        asleep = {node.owner for node in self.phases[Phase.CONSOLIDATE]}
        consolidating = [m for m in self.mechanisms if m.id in asleep]
        self._rests = [
            self._reader(m, r, Phase.CONSOLIDATE) for m in consolidating for r in type(m).rests()
        ]
        self._can_rest = all(type(m).rests() for m in consolidating)
        self._no_words = read_only(np.zeros(embedder.dimensions, np.float32))
        self._coming: dict[Event, Incoming] = {}  # read by `embed_forecast`, not yet encoded
        self.stages = self.plans[Phase.RETRIEVE].stages
        self.ranking = self.stages.up_to(RELEASED)

    # The room of scale is loaded by the memories that use it.

    @staticmethod
    def _empty_index(name: object, dimensions: int) -> VectorIndex:
        """Raises InputError for a name that no index has."""
        if name == EXACT:
            return VectorIndex(dimensions)
        from ..scale.approximate import index_of

        return index_of(name, dimensions)

    def _shortlist(self, instrument: Instrument | None) -> Shortlist:
        from ..scale.shortlist import Shortlist

        assert self._most
        return Shortlist(
            self._most,
            self.store,
            self._banned,
            self._asking,
            self.signals,
            self.streams,
            instrument,
            None if instrument else self,
            late=self.late_of_rows,
        )

    @cached_property
    def places(self) -> Places:
        """Where questions of several threads are asked at the same time."""
        from ..scale import concurrent

        return concurrent.Places(
            lambda: concurrent.Place(
                self.store,
                self._banned,
                self._asking,
                self.signals,
                self.streams,
                self.wordings,
                self._most,
                self.late_of_rows,
            )
        )

    def leave_places(self) -> None:
        """Drop what places beside the memory hold of earlier questions."""
        if "places" in vars(self):
            self.places.clear()

    @cached_property
    def crew(self) -> Crew:
        """The threads that work on one question to a large memory."""
        from ..scale.crew import Crew

        return Crew(self._threads, self._lends, lambda: self.places.asked > 1)

    def helping(self, rows: int) -> AbstractContextManager[Work | None]:
        """As `flow.passes.Helpers`."""
        return self.crew.helping() if rows >= self.helped_from else nullcontext()

    def order(self, nodes: Sequence[Node], signals: Sequence[Signal]) -> Any:
        """As `flow.passes.Helpers`."""
        from ..scale.crew import Order

        return Order(nodes, signals)

    def late_of_rows(self, base: Cells, most: int) -> LateRows | None:
        """What computes the late columns of some rows of a store that shows this one; None:
        there are none.
        """
        if not self.late:
            return None
        from ..scale.on_read import LateRows

        steps = [step.node for step in self.late_plan.steps]
        return LateRows(base, most, self.late, steps, self.clock)

    def _banned(self, only: Only) -> NDArray[np.bool_]:
        """As `filter.banned`, of all rows."""
        return banned(only, self.event_log, self.store, self.graph)

    def _asking(self, store: Cells, bans: Banned) -> Sequence[Node]:
        """The steps of RETRIEVE over another store, which shows this one, as `phases_of` takes
        it.
        """
        return self.phases_of(self.mechanisms, self.signals, store, bans)[Phase.RETRIEVE]

    def phases_of(
        self,
        mechanisms: Sequence[Mechanism[Any]],
        signals: Sequence[tuple[Signal, float]],
        asked: Cells | None = None,
        bans: Banned | None = None,
    ) -> Mapping[Phase, tuple[Node, ...]]:
        """The schedule of some mechanisms over this store, with the engine's own steps.  Raises
        ContractError.

        asked, bans  the store that questions are asked of, and which of its rows a filter bans, if
                     they are others
        """
        structures = self.store.structures
        hooks = nodes_of(mechanisms) if self.capacity else without_votes(nodes_of(mechanisms))
        nodes = [
            *hooks,
            self._store_event.node(),
            weigh_node(),
            gather_node(signals),
            restrict_node(bans or self._banned),
            admit_node(),
            answer_node(asked or self.store),
        ]
        added, read = (
            {c for node in nodes for c in node.adds},
            {r for node in nodes for r in node.reads},
        )
        if ENCODING_STRENGTH in added:
            nodes += [imprint_node(), carry_node()]
        if SALIENCE in added or any(SALIENCE in node.sets for node in nodes):
            nodes.append(value_node())
        if not added.isdisjoint((LOG_PRIOR, PRIMED)):
            nodes.append(prime_node())
        if CUES in read | added:
            nodes.append(ask_node())
        if BUDGET in read:
            nodes.append(budget_node(structures[OFFERS]))
        if DRAFTS in added or MADE in read:
            nodes.append(
                MakeRows(
                    structures[DRAFTS],
                    self.store,
                    self.event_log,
                    self._store_event,
                    self.embedded,
                    self.withholding,
                ).node()
            )
        if self.capacity:
            nodes.append(self.capacity.surface_node(ENGINE, LAST + 1))
        elif not added.isdisjoint((HIDE, SHOW)):
            nodes.append(surface_node())
        nodes += [node for s in structures if s in read and s.steps for node in s.steps()]
        if any(item_of(r) in (USED, USED_TIME) for node in nodes for r in node.reads):
            nodes.append(used_node())
        return schedule(nodes, [s for s, _ in signals])

    @property
    def models_asked(self) -> tuple[Mapping[str, str], ...]:
        """What identifies each language model that was asked since the memory was made, in order
        of first use, see `described`.
        """
        ours = described(self.language_model)
        asked = (
            ours["language_model"]
            and self.language_model.usage.requests
            and ours not in self.asked_before
        )
        return (*self.asked_before, ours) if asked else self.asked_before

    def plan(
        self,
        phase: Phase,
        wrap: Wrap | None = None,
        helpers: Helpers | None = None,
        nodes: Sequence[Node] | None = None,
        signals: Sequence[tuple[Signal, float]] | None = None,
    ) -> PhasePlan:
        """A new plan of a phase over the memory's store.  Cost: about 0.1 ms for each of its steps.

        nodes, signals  steps of the phase, and signals with their weights, if they are others
        """
        return PhasePlan(
            phase,
            self.phases[phase] if nodes is None else nodes,
            self.store,
            self.signals if signals is None else signals,
            self.streams,
            wrap,
            helpers,
        )

    def retrieving(self, changed: Mapping[str, Mechanism[Any]]) -> Callable[[Ask], None]:
        """A pass of RETRIEVE with other mechanisms in place of some, by their ids: each has the same
        hooks and other parameters.  Cost: as of `plan`.
        """
        nodes = [
            replace(node, function=getattr(changed[node.owner], node.name))
            if node.owner in changed
            else node
            for node in self.phases[Phase.RETRIEVE]
        ]
        wrap = self._instrument.wrap if self._instrument else None
        return self._timed(Phase.RETRIEVE, self.plan(Phase.RETRIEVE, wrap, nodes=nodes).run)

    def _timed(self, phase: Phase, run: Callable[..., None]) -> Callable[..., None]:
        """A pass as the instrument of the memory times it, if there is one."""
        return self._instrument.timed(phase, run) if self._instrument else run

    def incoming(self, event: Event) -> Incoming:
        """The event with the text features and the vector that hooks read; changes nothing.  Raises
        InputError if the vector is no unit vector.

        What `embed_forecast` has read of the event is not read again.
        """
        session, speaker = (
            self.event_log.sessions.due(event.session),
            self.event_log.speakers.due(event.speaker),
        )
        if known := self._coming.pop(event, None):
            return replace(known, session=session, speaker=speaker, before=self.event_log.last)
        (before, after), text = event.frame(), event.rendered()
        read = features(event.words())
        ((vector, passages),) = self.embedded([text])
        return Incoming(
            event,
            text,
            read,
            terms_within(before, event.text, after),
            vector,
            session,
            speaker,
            self.event_log.last,
            passages,
        )

    def cue(self, query: Query, vector: NDArray[np.float32] | None = None) -> Cue:
        """The query with the text features and the vector that hooks read.  Raises InputError if
        the vector is no unit vector.

        vector  if it is not that of the query's text

        A blank query asks without words: a model's vector of no text would be near some memories by
        accident, so its vector is zeros.
        """
        text = query.text
        if vector is None:
            vector = read_only(self.embedder.embed([text])[0]) if text.strip() else self._no_words
        session = self.event_log.sessions.known(query.session) if query.session else None
        return Cue(
            query,
            features(text),
            terms_of(text, stop_words=True),
            vector,
            -1 if session is None else session,
        )

    def wordings(self, cue: Cue, wordings: Sequence[Wording]) -> list[Cue]:
        """The query in other words, as hooks receive it.  All texts are embedded in one batch.
        Raises InputError as `cue` does.
        """
        known = {" ".join(cue.query.text.split()): cue.vector}
        texts = [
            text
            for text in dict.fromkeys(t for w in wordings for t in (w.text, *w.averaged))
            if text not in known
        ]
        if texts:
            known |= zip(texts, map(read_only, self.embedder.embed(texts)), strict=True)
        vectors = [
            mean_direction([known[text] for text in (w.text, *w.averaged)]) for w in wordings
        ]
        self.index.expect([cue.vector, *vectors])
        return [
            self.cue(replace(cue.query, text=w.text), vector)
            for w, vector in zip(wordings, vectors, strict=True)
        ]

    def embedded(self, texts: Sequence[str]) -> list[tuple[NDArray[np.float32], Vectors]]:
        """The vector of each text, and (p, d) those of its passages if the memory keeps them, all
        embedded in one batch.

        Raises InputError for one that is no unit vector.
        """
        if not texts:
            return []
        groups = [texts, *map(self.passages.parts, texts)]
        vectors = self.embedder.embed(list(chain.from_iterable(groups)))
        ends = accumulate(map(len, groups))
        passages = (vectors[start:end] for start, end in pairwise(ends))
        return list(zip(vectors[: len(texts)], passages, strict=True))

    def embed_ahead(self, events: Sequence[Event]) -> None:
        """Embed many texts and their passages at once, so that the embedder's cache has them;
        without a cache, do nothing.
        """
        if events and self.embedder.keeps:
            texts = [e.rendered() for e in events]
            self.embedder.embed([*texts, *chain.from_iterable(map(self.passages.parts, texts))])

    def _reader(
        self, m: Mechanism[Any], read: ReadingMethod, phase: Phase
    ) -> tuple[Binding, Callable[..., Any]]:
        """A method that only reads, and its view."""
        return Binding(
            Node(m.id, read.name, phase, m.order, read.reads, (), (), read.function),
            self.store,
            Stages(()),
        ), getattr(m, read.name)

    def _read(
        self, readers: Iterable[tuple[Binding, Callable[..., Any]]], what: Any
    ) -> Iterator[Any]:
        """What each of these methods returns, one after the other."""
        for binding, function in readers:
            if binding.version != self.store.version:
                binding.bind()
            yield function(binding.view, what)

    def at_rest(self, slept: Tick) -> bool:
        """Whether further sleeps change nothing until something but time does, as the mechanisms
        that consolidate say after a sleep.
        """
        return self._can_rest and all(self._read(self._rests, slept))

    @property
    def forecasts(self) -> bool:
        """Whether texts of hooks can be embedded ahead."""
        return bool(self._forecasts) and self.embedder.keeps

    def embed_forecast(self, events: Sequence[Event]) -> None:
        """Embed in one batch the texts that hooks will probably need for these events, the next
        ones.

        Errors are left to the hooks, which ask for the same texts in their turn.
        """
        self._coming.clear()
        with suppress(HebbariumError):
            coming = [self.incoming(event) for event in events]
            numbers = zip(
                self.event_log.sessions.due_all([e.session for e in events]),
                self.event_log.speakers.due_all([e.speaker for e in events]),
                strict=True,
            )
            coming = [
                replace(incoming, session=session, speaker=speaker)
                for incoming, (session, speaker) in zip(coming, numbers, strict=True)
            ]
            texts = dict.fromkeys(
                text for named in self._read(self._forecasts, coming) for text in named
            )
            if texts:
                self.embedder.embed(list(texts))
            self._coming = {incoming.event: incoming for incoming in coming}

    def show(self, row: int, visible: bool) -> None:
        """Set whether a row is visible: False archives it, as a vote HIDE does.  Raises
        InputError.
        """
        row = checked_row(row, self.store.n)
        self.store.array(VISIBLE)[row] = visible
        (self.index.restore if visible else self.index.archive)(row)
        if visible and self.capacity:
            self.capacity.make_room(row)

    def owned(self, column: Column | str) -> Column:
        """A column of this memory, by itself or by its name.  Raises InputError for another."""
        if isinstance(column, Column) and self.store.owns(column):
            return column
        known = {c.name: c for c in self.store.columns}
        name = column.name if isinstance(column, Column) else column
        owned = known.get(name)
        if owned is None or isinstance(column, Column):
            raise InputError(
                f"this memory has no column {name!r}", where="column", cure=nearest(name, known)
            )
        return owned

    def withhold(self, row: int) -> None:
        """Archive a row so that no vote answers it, see `engine.steps.withholding`.  Raises
        InputError.
        """
        self.show(row, False)
        self.withholding.keep([row])

    def release(self, row: int) -> None:
        """Undo `withhold`, and show the row.  Raises InputError."""
        self.withholding.release(checked_row(row, self.store.n))

    def erase(self, going: Erased) -> None:
        """Overwrite events, and what the memory made from them, see `Engine.erase`.  Cost: O(all
        texts).
        """
        log, store, rows = self.event_log, self.store, list(going.rows)
        self._coming.clear()
        for number in going.events:
            log.overwrite(number, replace(log.events[number], text="", caption="", attributes=()))
        for number in going.writings:
            log.writings.overwrite(number, replace(log.writings[number], text="", span=None))
        passages = self.passages.erase(rows)
        for row, (vector, anew) in zip(
            rows, self.embedded([log.rendered(row) for row in rows]), strict=True
        ):
            self.index.overwrite(row, vector)
            self.show(row, False)
            passages[row] = anew
        for column in store.columns:
            if column.scope is Scope.MEMORY and column not in STUB:
                store.array(column)[rows] = column.neutral
        self.withholding.keep(rows)
        used = store.array(USED)
        used[np.isin(used[:, 0], rows), 0] = -1
        self.graph.forget(rows)
        store.structures[MADE].fill(())
        for structure, held in store.structures.items():
            if structure.create and hasattr(held, "forget"):
                held.forget()
        self.lexicon.clear()
        self.trigrams.clear()
        for row in range(store.n):
            self._index(row, passages.get(row))
        self.leave_places()
        forget_texts()
        self.clock.changed()

    def restore_postings(
        self, words: Forward, trigrams: Forward, beside: Executor
    ) -> tuple[Future[None], Future[None]]:
        """Fill the empty postings for all rows, in other threads.  Their futures raise
        ValueError for a key without a name.
        """
        return beside.submit(self.lexicon.restore, words), beside.submit(
            self.trigrams.restore, trigrams
        )

    def _index(self, row: int, passages: Vectors | None = None) -> None:
        text = self.event_log.rendered(row)
        self._store_event.index(
            row,
            text,
            terms_of(text, stop_words=True),
            passages,
            counted=self.event_log.kind(row) is Kind.EVENT,
        )

    def adopt_graph(self, graph: Graph) -> None:
        """Copy a restored graph into the graph object that hooks and views refer to; its `epoch`
        grows, so that readers fetch all arrays again.
        """
        epoch = self.graph.epoch + graph.epoch + 1
        vars(self.graph).update(vars(graph), epoch=epoch)

    def derive(self) -> None:
        """Compute the derived columns that are not late as of the last maintenance, with steps
        that no instrument measures.
        """
        time = self.clock.maintained
        PhasePlan(Phase.MAINTAIN, self._deriving, self.store, (), self.streams, None).run(
            Tick(time, time)
        )

    def refresh(self) -> None:
        """Compute the late columns for the present, if time or anything else has changed since.
        Cost: that of their steps, or 0.1 us.
        """
        if self.clock.due:
            if self.store.n and self.late:
                self._run_late(Tick(self.clock.now, self.clock.now))
            self.clock.due = False

    def digest(self) -> str:
        """SHA-256 over columns, vectors, graph, texts, clocks and random streams."""
        self.refresh()
        h = hashlib.sha256(repr((self.clock, self.event_log.row_of)).encode())
        for record in (*self.event_log.events, *self.event_log.writings):
            h.update(repr(astuple(record)).encode("utf-8", "backslashreplace"))
        for name, array in sorted(
            {
                **self.store.persistent(),
                "embedding": self.index.vectors,
                **_arrays(self.graph.state()),
            }.items()
        ):
            h.update(name.encode() + np.ascontiguousarray(array).tobytes())
        for id in sorted(self.streams):
            h.update(repr(self.streams[id].bit_generator.state).encode())
        return h.hexdigest()


def schedule_of(mechanisms: Sequence[Mechanism[Any]]) -> Mapping[Phase, tuple[Node, ...]]:
    """The schedule of a list of mechanisms.  Raises ContractError."""
    return Assembly(mechanisms, HashingEmbedder(8), 0, None).phases


def _arrays(state: Mapping[str, Any]) -> dict[str, Any]:
    """The graph's state as arrays; lists of names become bytes."""
    return {
        f"graph.{k}": v
        if isinstance(v, np.ndarray)
        else np.frombuffer(repr(v).encode("utf-8", "backslashreplace"), dtype=np.uint8)
        for k, v in state.items()
    }


def in_order(mechanisms: Sequence[Mechanism[Any]]) -> tuple[Mechanism[Any], ...]:
    """The mechanisms in registry order, ties by id, whatever order they are given in.  Raises
    ContractError.
    """
    ids = [m.id for m in mechanisms]
    if double := sorted({i for i in ids if ids.count(i) > 1 or i == ENGINE}):
        raise ContractError(
            f"the name {double[0]!r} is taken",
            where="assembly",
            cure="name every mechanism once, and none of them 'engine'",
        )
    return tuple(sorted(mechanisms, key=lambda m: (m.order, m.id)))


def stream(seed: int, id: str) -> np.random.Generator:
    """The random stream of one mechanism, made from seed and id, so that switching another off
    never shifts it.
    """
    return np.random.default_rng(
        [seed, int.from_bytes(hashlib.sha256(id.encode()).digest()[:8], "little")]
    )


def owned_columns(
    mechanisms: Sequence[Mechanism[Any]], dimensions: int
) -> list[tuple[Column, Mapping[str, int]]]:
    """All columns, each with the sizes that its shape refers to.  Raises ContractError for a
    column with two owners or none.
    """
    owners: dict[Any, str] = dict.fromkeys(ENGINE_COLUMNS, "the engine")
    columns: list[tuple[Column, Mapping[str, int]]] = [
        (c, {"dimensions": dimensions}) for c in ENGINE_COLUMNS
    ]
    for m in mechanisms:
        sizes = {name: getattr(m.params, name) for name in parameter_types(type(m.params))} | {
            "dimensions": dimensions
        }
        for column in m.owns:
            if column in owners:
                raise ContractError(
                    f"{column.name} is owned by {owners[column]} and by {m.id}",
                    where="assembly",
                    cure="a column has one owner",
                )
            owners[column] = m.id
            if isinstance(column, Column):
                columns.append((column, sizes))
    for m in mechanisms:
        for declared in type(m).hooks():
            for item in (*declared.sets, *declared.adds):
                if isinstance(item, Column) and item not in owners:
                    raise ContractError(
                        f"writes {item.name}, which no mechanism owns",
                        where=f"{m.id}.{declared.name}",
                        cure="list it in `owns`",
                    )
    return columns


def provided(mechanisms: Sequence[Mechanism[Any]]) -> list[Structure]:
    """Structures with a `create` function that hooks declare, each once, in order of first
    mention.
    """
    touched = (item for m in mechanisms for h in type(m).hooks() for item in touched_by(h))
    return list(dict.fromkeys(t for t in touched if isinstance(t, Structure) and t.create))


def asks(mechanisms: Sequence[Mechanism[Any]], structure: Structure) -> bool:
    """Whether a hook of RETRIEVE reads the structure, of a mechanism without a parameter of its
    name, or with a true one.
    """
    return any(
        structure in h.reads and getattr(m.params, structure.name, True)
        for m in mechanisms
        for h in type(m).hooks()
        if h.phase is Phase.RETRIEVE
    )


def weighted_signals(mechanisms: Sequence[Mechanism[Any]]) -> list[tuple[Signal, float]]:
    """Every signal with its owner's parameter `weight`.  Raises ContractError for an owner
    without one.
    """
    weighted = list[tuple[Signal, float]]()
    for m in mechanisms:
        for column in m.owns:
            if isinstance(column, Signal):
                if not hasattr(m.params, "weight"):
                    raise ContractError(
                        f"owns the signal {column.name} but has no parameter `weight`",
                        where=m.id,
                        cure="add it",
                    )
                weighted.append((column, float(m.params.weight)))
    return weighted
