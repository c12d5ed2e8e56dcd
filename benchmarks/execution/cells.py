"""One cell: a new system encodes one conversation and answers its questions.

Rows hold nothing that depends on the machine or the clock, so they are equal for any number of jobs
and for a resumed run. Times are kept in a file of their own.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, TypeVar

from ...engine.base.errors import InputError
from ...engine.contract.records import Event, Query
from ...engine.ports.embedding_cache import CachedEmbedder, MeteredEmbedder
from ..datasets import Conversation, Question
from ..datasets.base import Stop, matched, stops
from ..systems.base import (
    Capability,
    Factory,
    GivesContexts,
    ReportsReceipts,
    ReportsUsage,
    Retrieved,
    RetrievedEvent,
    System,
    TakesFeedback,
)
from .contexts import ContextRow, context_row
from .spec import RunSpec

if TYPE_CHECKING:
    from ..systems.hebbarium import Asking, Deciding, SharedLife

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Cell:
    """A record and the conversation that it names; plain data that can be sent to a worker.

    probed  whether receipts are kept, with the ranks that each mechanism changes
    life    what its mechanisms decide of its life; None if it shares its life with no other cell
    whole   mechanisms of a set whose part it is, with the same parameters; None: it is part of none
    """

    spec: RunSpec
    conversation: Conversation
    probed: bool = True
    life: Deciding | None = None
    whole: Mapping[str, Mapping[str, Any]] | None = None


class Row(TypedDict):
    """One line of rows.jsonl: a question and its answer.

    gold, ranks        ids, and the rank of each from 1; 0 is a miss.  Ids of sessions if these are
                       matched
    retrieved, scores  of the first k events or sessions, six significant digits; None for a score
                       that is not finite
    held_back          whether the answer has no event
    set                digest of the mechanism set
    forbidden          ids, as in gold, of what must not come back; only where the data name any
    contexts           scores of contexts, by budget; only where they were asked for
    """

    arm: str
    dataset: str
    sha256: str
    conversation: str
    question: str
    question_text: str
    answer: str
    category: str
    gold: list[str]
    ranks: list[int]
    reciprocal_rank: float
    retrieved: list[str]
    scores: list[float | None]
    held_back: bool
    seed: int
    set: str
    code: str
    forbidden: NotRequired[list[str]]
    contexts: NotRequired[dict[str, ContextRow]]


@dataclass(frozen=True)
class Outcome:
    """The results of a cell.

    rows      one per question
    timing    phase -> ms of every pass, without the time spent in the embedder; of a system without
              receipts `encode`, ms an event, and `retrieve`, ms a question
    receipts  mechanism -> calls, values_changed, ranks_changed; empty for a system without
              receipts, and of a cell that is not probed
    seconds   wall time; of a shared life, that of the life and of this asking
    times     lines of times.jsonl: one for everything before the first question (its `question` is
              None), then one per question, in the order of the rows; ms of each phase, summed over
              its passes.  Not reproducible
    embedding  `texts` given to the embedder, `hits` of its cache, and its `seconds`
    capabilities  values of what the system declares, sorted
    language_model  phase -> mechanism -> what it asked a language model; empty for a system that
                    does not report it
    shared    cells that shared this cell's life, this one included
    """

    rows: list[Row]
    timing: dict[str, list[float]]
    receipts: dict[str, dict[str, int]]
    seconds: float
    times: list[dict[str, Any]] = field(default_factory=list)
    embedding: dict[str, float] = field(default_factory=dict)
    capabilities: list[str] = field(default_factory=list)
    language_model: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    shared: int = 1


def run_cell(cell: Cell, make: Factory, embedder: CachedEmbedder) -> Outcome:
    """Make a system, encode the conversation, and ask each question at its time, before later
    events.  Raises HebbariumError.
    """
    start = time.perf_counter()
    cell = replace(cell, conversation=cell.conversation.held())
    counted = MeteredEmbedder(embedder)
    with closing(make(counted, cell.spec.seed)) as system:
        outcome = _measured(cell, system, counted)
        capabilities = sorted(capability.value for capability in system.capabilities)
        used = system.language_model_usage() if isinstance(system, ReportsUsage) else {}
    usage = {
        phase: {id: dict(counts) for id, counts in by_id.items()} for phase, by_id in used.items()
    }
    return replace(
        outcome,
        seconds=time.perf_counter() - start,
        embedding=counted.counts,
        capabilities=capabilities,
        language_model=usage,
    )


def prepare(cell: Cell, system: System) -> float:
    """Encode the events before the first question and, with `rehearse`, ask the questions there
    a first time.  Simulated time after it, h.
    """
    first = next(stops(cell.conversation))
    return _reach(cell, first, system, -math.inf)


def asked(cell: Cell, system: System, now: float) -> Iterator[tuple[Question, Query]]:
    """The questions in the order in which they are asked; before each, later events than those of
    `prepare` are encoded up to it, and the system is advanced to its time.  After the last question
    the other events are encoded.

    now   h, time that the system has reached
    """
    for place, stop in enumerate(stops(cell.conversation)):
        if place:
            now = _reach(cell, stop, system, now)
        for question in stop.questions:
            now = max(question.time, now)
            system.advance(now)
            yield question, Query(question.text, now, question.id)


def later(conversation: Conversation) -> Iterator[Sequence[Event]]:
    """The events that `prepare` does not encode, in parts: those after the first question."""
    return (stop.events for stop in islice(stops(conversation), 1, None))


def require_rehearsable(conversation: Conversation, rehearse: float | None) -> None:
    """Raises InputError if a rehearsal of so many hours in the middle of the conversation would
    end after its next event.
    """
    if rehearse is None:
        return
    before: Question | None = None
    for stop in stops(conversation):
        if before and stop.events and before.time + rehearse > stop.events[0].time:
            raise InputError(
                f"{before.id!r} is asked in the middle of conversation {conversation.id!r}, and the next event follows in less than "
                f"{rehearse:g} h",
                where="--rehearse",
                cure="take fewer hours, ask all questions after the last event, or leave it out",
            )
        before = stop.questions[-1] if stop.questions else None


def _reach(cell: Cell, stop: Stop, system: System, now: float) -> float:
    """Encode the events of a stop and rehearse its questions.  Simulated time after it, h."""
    spec = cell.spec
    if stop.events:
        system.encode(stop.events)
        now = max(now, stop.events[-1].time)
    if spec.rehearse is None or (not stop.questions and cell.conversation.questions):
        return now
    for question in stop.questions:
        now = max(question.time, now)
        system.advance(now)
        system.retrieve(Query(question.text, now, question.id), spec.k, learn=True)
    system.advance(now + spec.rehearse)
    return now + spec.rehearse


def run_life(
    cells: Sequence[Cell],
    make: Callable[[MeteredEmbedder], AbstractContextManager[SharedLife]],
    embedder: CachedEmbedder,
    *,
    lived: bool = False,
    keep: Callable[[SharedLife], None] | None = None,
) -> list[Outcome]:
    """Encode one conversation once, and ask its questions once for every cell, each with the
    mechanisms of its record; outcomes in order.

    cells  of one conversation, whose lives are equal (`execution.lives`) and in which no query
           learns
    make   the memory that lives; it is closed at the end
    lived  whether the memory that is made has the events before the first question already
    keep   called with the memory before the first question, when it has the events before that

    The rows equal those of `run_cell` bit for bit.  Raises HebbariumError.
    """
    from ..systems.hebbarium import Round

    start, counted, held = (
        time.perf_counter(),
        MeteredEmbedder(embedder),
        cells[0].conversation.held(),
    )
    cells = [replace(cell, conversation=held) for cell in cells]
    with make(counted) as life:
        now = life.now if lived else prepare(cells[0], life)
        if keep:
            keep(life)
        same = _same(cells)
        distinct = {place: cells[place] for place in same}
        askings = {
            place: life.asking(cell.spec.mechanisms, cell.probed)
            for place, cell in distinct.items()
        }
        records = {
            place: _Record(cell, askings[place], counted) for place, cell in distinct.items()
        }
        own = dict.fromkeys(records, (time.perf_counter() - start, counted.counts))
        for record in records.values():
            record.begin()
        rounds = [
            (places, Round([askings[place] for place in places]))
            for places in _rounds(records, askings)
        ]
        for question, query in asked(cells[0], life, now):
            for places, asking_round in rounds:
                before = counted.counts
                answers = asking_round.retrieve(query, records[places[0]].depth)
                asking = {n: v - before[n] for n, v in counted.counts.items()}
                for place, (answer, took) in zip(places, answers, strict=True):
                    begin, before = time.perf_counter(), counted.counts
                    records[place].take(question, query, answer)
                    seconds, spent = own[place]
                    own[place] = (
                        seconds + took + time.perf_counter() - begin,
                        {
                            n: v + asking[n] + counted.counts[n] - before[n]
                            for n, v in spent.items()
                        },
                    )
        made = {
            place: replace(
                record.outcome(),
                seconds=own[place][0],
                embedding={name: round(value, 6) for name, value in own[place][1].items()},
                capabilities=sorted(capability.value for capability in record.system.capabilities),
                shared=len(cells),
            )
            for place, record in records.items()
        }
    return [
        made[place] if cell is cells[place] else _renamed(made[place], cell.spec)
        for cell, place in zip(cells, same, strict=True)
    ]


def run_parts(
    cells: Sequence[Cell],
    make: Callable[[MeteredEmbedder], AbstractContextManager[SharedLife]],
    embedder: CachedEmbedder,
) -> tuple[dict[int, Outcome], dict[int, frozenset[str]]]:
    """Encode one conversation once as a set, ask each question once, and ask again for each part of
    the set, where only those steps run whose outcome can differ.

    cells  of one conversation, each with the mechanisms of a part of the set; no query learns in
           any of them
    make   the memory of the set, whose instrument is `Traces`

    Returns outcomes by place, of the cells that have lived this life; and of the others, the
    mechanisms that they lack and that left a trace in it, none if it cannot be told.  Rows equal
    those of `run_cell` bit for bit.  Raises HebbariumError.
    """
    start, counted, held = (
        time.perf_counter(),
        MeteredEmbedder(embedder),
        cells[0].conversation.held(),
    )
    cells = [replace(cell, conversation=held) for cell in cells]
    records, others = dict[int, _Record](), dict[int, frozenset[str]]()
    askings: dict[int, Asking] = {}
    with make(counted) as life:
        now = prepare(cells[0], life)
        for place, cell in enumerate(cells):
            try:
                askings[place] = life.asking_part(cell.spec.mechanisms)
            except InputError:  # by its declarations it would have lived another life
                others[place] = frozenset()
                continue
            records[place] = _Record(cell, askings[place], counted)
            records[place].begin()
        seconds = dict.fromkeys(records, time.perf_counter() - start)
        for question, query in asked(cells[0], life, now):
            for place in list(records):
                if traced := life.traced_by(askings[place]):
                    others[place] = traced
                    del records[place]
            if not records:
                break
            begin = time.perf_counter()
            answer = life.retrieve(query, next(iter(records.values())).depth)
            answers = life.again(answer, [askings[place] for place in records])
            took = (time.perf_counter() - begin) / len(records)
            for (place, record), retrieved in zip(records.items(), answers, strict=True):
                begin = time.perf_counter()
                askings[place].note(took)
                record.take(question, query, retrieved)
                seconds[place] += took + time.perf_counter() - begin
        made = {
            place: replace(
                record.outcome(),
                seconds=seconds[place],
                embedding=counted.counts,
                capabilities=sorted(kind.value for kind in record.system.capabilities),
                shared=len(cells),
            )
            for place, record in records.items()
        }
    return made, others


def _same(cells: Sequence[Cell]) -> list[int]:
    """Place of the cell that is asked for each cell: the first with the same mechanisms and
    parameters, if it is probed where this one is.
    """
    first: dict[str, int] = {}
    same_cells = []
    for place, cell in enumerate(cells):
        key = json.dumps(cell.spec.mechanisms, sort_keys=True, default=str)
        at = first.get(key)
        if at is None or (cell.probed and not cells[at].probed):
            at = first[key] = place
        same_cells.append(at)
    return same_cells


def _rounds(records: Mapping[int, _Record], askings: Mapping[int, Asking]) -> list[list[int]]:
    """Places of records whose askings can be asked together, in the order of their first ones;
    contexts are asked for alone.
    """
    rounds: dict[Any, list[int]] = {}
    for place, record in records.items():
        same = None if record.cell.spec.context else askings[place].same
        rounds.setdefault((same or place, record.depth), []).append(place)
    return list(rounds.values())


def _renamed(outcome: Outcome, spec: RunSpec) -> Outcome:
    """The outcome of an arm with the same mechanisms and parameters, under this arm's id."""
    rows: list[Row] = [{**row, "arm": spec.arm, "set": spec.set_digest} for row in outcome.rows]
    return replace(outcome, rows=rows, times=[{**line, "arm": spec.arm} for line in outcome.times])


def _measured(cell: Cell, system: System, embedder: MeteredEmbedder) -> Outcome:
    record = _Record(cell, system, embedder)
    now = prepare(cell, record.timed)
    record.begin()
    for question, query in asked(cell, record.timed, now):
        record.ask(question, query)
    return record.outcome()


class _Record:
    """The rows and times of one cell, while its questions are asked.

    timed  the system, with its calls timed
    depth  places of an answer that are asked for
    """

    def __init__(self, cell: Cell, system: System, embedder: MeteredEmbedder) -> None:
        spec, conversation = cell.spec, cell.conversation
        self.cell, self.system, self.timed = cell, system, _Timed(system, embedder)
        self._observed = (
            system
            if Capability.RECEIPTS in system.capabilities and isinstance(system, ReportsReceipts)
            else None
        )
        self._sessions, self.depth = spec.match == "session", max(spec.k, spec.depth)
        if Capability.RANKS_ALL in system.capabilities:
            self.depth = max(spec.k, len(conversation.events)) if self._sessions else spec.k
        self._since = _Since(self._observed.phase_ms if self._observed else lambda: self.timed.ms)
        self._every = max(1, -(-len(conversation.questions) // spec.probed))
        self._number = 0
        self._times: dict[str | None, dict[str, Any]] = {}
        self._rows: dict[str, Row] = {}
        self._changed: dict[str, int] = {}

    def begin(self) -> None:
        """Note the times of everything before the first question."""
        self._times[None] = _times(self.cell.spec, None, self._since())

    def ask(self, question: Question, query: Query) -> None:
        """Ask a question and make its row."""
        self.take(question, query, self.timed.retrieve(query, self.depth))

    def take(self, question: Question, query: Query, answer: Retrieved) -> None:
        """Make the row of an answer to `depth` places."""
        spec = self.cell.spec
        self._times[question.id] = _times(spec, question.id, self._since())
        if self._observed and self.cell.probed and self._number % self._every == 0:
            for id, places in self._observed.ranks_changed(query).items():
                self._changed[id] = self._changed.get(id, 0) + places
        self._number += 1
        contexts = _contexts(self.cell, question, query, answer)
        if spec.feedback != "none":
            give_feedback(spec, self.system, question, answer)
            # feedback is no part of any question's times
            self._since()
        if self._sessions:
            question, answer = by_session(question, answer, self.cell.conversation.events)
        ranks = [answer.rank_of(gold) or 0 for gold in question.gold]
        self._rows[question.id] = _row(spec, question, ranks, answer.events[: spec.k])
        if contexts:
            self._rows[question.id]["contexts"] = contexts

    def outcome(self) -> Outcome:
        """All rows and times, in the order of the conversation's questions; the wall time is
        left at 0.
        """
        seen, conversation = self._observed, self.cell.conversation
        counts = seen.receipts() if seen else {}
        receipts = {
            id: {
                **row_counts,
                **({"ranks_changed": self._changed.get(id, 0)} if self.cell.probed else {}),
            }
            for id, row_counts in counts.items()
        }
        timing = (
            {phase: list(ms) for phase, ms in seen.phase_ms().items()}
            if seen
            else self.timed.passes()
        )
        order = [q.id for q in conversation.questions]
        return Outcome(
            [self._rows[id] for id in order],
            timing,
            receipts,
            0.0,
            [self._times[id] for id in (None, *order)],
        )


def give_feedback(spec: RunSpec, system: System, question: Question, answer: Retrieved) -> None:
    """Tell a system that takes feedback what was needed for a question that it has answered: the
    first k events, or the gold.
    """
    if isinstance(system, TakesFeedback):
        system.use(
            answer,
            [event.id for event in answer.events[: spec.k]]
            if spec.feedback == "answer"
            else question.gold,
        )


def _contexts(
    cell: Cell, question: Question, query: Query, answer: Retrieved
) -> dict[str, ContextRow]:
    """The scores of a context of each budget, by budget; none if none is asked for, or if the
    system gives none.
    """
    if not cell.spec.context or not isinstance(answer, GivesContexts):
        return {}
    texts = {event.id: event.text for event in cell.conversation.events}
    gold = [texts[id] for id in question.gold]
    rows: dict[str, ContextRow] = {}
    for budget in cell.spec.context:
        latest = answer.context(query, budget, "everything")
        made = (
            latest
            if cell.spec.strategy == "everything"
            else answer.context(query, budget, cell.spec.strategy)
        )
        rows[str(budget)] = context_row(made, gold, question.answer, latest)
    return rows


def by_session(
    question: Question, answer: Retrieved, events: Sequence[Event]
) -> tuple[Question, Retrieved]:
    """A question whose gold and forbidden ids are sessions, and the sessions of an answer, each in
    the place and with the score of its best event.  O(events).
    """
    home = {event.id: event.session for event in events}
    sessions: dict[str, RetrievedEvent] = {}
    for event in answer.events:
        for id in event.events or (event.id,):
            session = home.get(id, id)
            sessions.setdefault(session, replace(event, id=session, events=()))
    return matched(question, home), Retrieved(tuple(sessions.values()))


class _Timed:
    """A system whose calls are timed, without the time spent in the embedder.

    ms   by kind of call, one entry per call
    """

    def __init__(self, system: System, embedder: MeteredEmbedder) -> None:
        self.system, self.capabilities, self._embedder = system, system.capabilities, embedder
        self.ms: dict[str, list[float]] = {"encode": [], "advance": [], "retrieve": []}
        self._sizes, self._rehearsals = list[int](), set[int]()

    def encode(self, events: Sequence[Event]) -> None:
        self._sizes.append(len(events))
        self._call("encode", lambda: self.system.encode(events))

    def advance(self, time: float) -> None:
        self._call("advance", lambda: self.system.advance(time))

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        if learn:
            self._rehearsals.add(len(self.ms["retrieve"]))
        return self._call("retrieve", lambda: self.system.retrieve(query, k, learn=learn))

    def close(self) -> None:
        self.system.close()

    def passes(self) -> dict[str, list[float]]:
        """`encode`: ms an event; `retrieve`: ms of each question that counts."""
        return {
            "encode": [
                ms / max(size, 1) for ms, size in zip(self.ms["encode"], self._sizes, strict=True)
            ],
            "retrieve": [
                ms for place, ms in enumerate(self.ms["retrieve"]) if place not in self._rehearsals
            ],
        }

    def _call(self, kind: str, call: Callable[[], _T]) -> _T:
        start = time.perf_counter() - self._embedder.seconds
        made = call()
        self.ms[kind].append((time.perf_counter() - self._embedder.seconds - start) * 1e3)
        return made


class _Since:
    """Sums of ms by phase, since the last call."""

    def __init__(self, passes: Callable[[], Mapping[str, Sequence[float]]]) -> None:
        self._passes, self._seen = passes, dict.fromkeys(passes(), 0)

    def __call__(self) -> dict[str, float]:
        spent = {
            phase: math.fsum(ms[self._seen.get(phase, 0) :]) for phase, ms in self._passes().items()
        }
        self._seen = {phase: len(ms) for phase, ms in self._passes().items()}
        return spent


def _times(spec: RunSpec, question: str | None, ms: Mapping[str, float]) -> dict[str, Any]:
    """One line of times.jsonl."""
    return {
        "arm": spec.arm,
        "conversation": spec.conversation,
        "question": question,
        "seed": spec.seed,
        **{f"{phase}_ms": round(spent, 4) for phase, spent in ms.items()},
    }


def _row(
    spec: RunSpec, question: Question, ranks: list[int], events: Sequence[RetrievedEvent]
) -> Row:
    gold_ranks = [rank for rank in ranks if rank]
    row: Row = {
        "arm": spec.arm, "dataset": spec.dataset, "sha256": spec.sha256,
        "conversation": spec.conversation, "question": question.id,
        "question_text": question.text, "answer": question.answer, "category": question.category,
        "gold": list(question.gold), "ranks": ranks,
        "reciprocal_rank": 1.0 / min(gold_ranks) if gold_ranks else 0.0, "retrieved": [e.id for e in events],
        "scores": [_rounded(e.score) for e in events],
        "held_back": not events, "seed": spec.seed, "set": spec.set_digest, "code": spec.code,
    }  # fmt: skip
    if question.forbidden:
        row["forbidden"] = list(question.forbidden)
    return row


def _rounded(score: float) -> float | None:
    """Six significant digits: the last bits of a float32 sum may depend on the number of threads.

    >>> _rounded(0.123456789), _rounded(-math.inf)
    (0.123457, None)
    """
    return float(f"{score:.6g}") if math.isfinite(score) else None
