"""Life: drives one memory through the System port, in simulated time."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....engine.base.times import hours
from ....engine.contract.records import Event, Only, Query
from ....engine.contract.vocabulary import (
    ACTIVATION,
    CHRONOLOGICAL,
    ENGINE_COLUMNS,
    LOG_STRENGTH,
    SLEEP_END,
)
from ...systems.base import Capability, Retrieved, System
from .instruments import Instrument

if TYPE_CHECKING:
    from ....engine.contract.columns import Column
    from ....engine.memory.engine import Engine
    from ....engine.ports.embedder import Embedder

START = hours(datetime(2026, 1, 5, 9))  # Monday, 9 am
MINUTE, SECOND, DAY = 1 / 60, 1 / 3600, 24.0  # h
MORNING = 7.0  # o'clock: end of a night of a system that does not say when it sleeps
TIED = 1e-6  # cosines that differ by less are equal: float32
ADMISSIBLE = 0.05  # h: `sleep` stops this long after the end of the sleep at most
# memories among which a recall is drawn: twice the longest list of delayed recall beside people; the
# longest of immediate recall has 40 words, so of its conditions this one leaves the fewest other words
CANDIDATES = 48

# parameters by mechanism, of those that the memory has
Settings = Mapping[str, Mapping[str, str | float]]
Maker = Callable[[Sequence[Instrument], Settings], System]


def standardised(scores: Any) -> NDArray[np.float64]:
    """(s - mean) / sd of scores, NaN as the lowest; zeros if they are all equal.

    >>> standardised([1.0, 3.0]).tolist(), standardised([2.0, 2.0]).tolist()
    ([-1.0, 1.0], [0.0, 0.0])
    """
    values = np.array(scores, np.float64)
    known = values[np.isfinite(values)]
    if not known.size:
        return np.zeros(len(values))
    values[~np.isfinite(values)] = known.min()
    spread = float(values.std())
    # scores that differ by less than float32 can show are equal
    if spread <= 1e-6 * max(1.0, float(np.abs(values).max())):
        return np.zeros(len(values))
    centred: NDArray[np.float64] = (values - values.mean()) / spread
    return centred


class Need(Enum):
    """What a probe needs of a system beyond encoding, simulated time and retrieval.

    The engine has all of them; another system has those that it declares.  Without one of them the
    probe is not applicable.
    """

    SLEEP = "sleep"
    LEARNING = "learning from recall"
    ARCHIVE = "archive"
    COLUMNS = "engine columns"
    INSTRUMENTS = "instruments"


class Life:
    """One memory, made at its first use.

    make      makes a new system, with instruments added to its mechanisms and with settings of
              those that it has
    embedder  that of the system, for the baseline `cosine`
    now       h, simulated time
    """

    def __init__(
        self,
        make: Maker,
        embedder: Embedder,
        instruments: Sequence[Instrument] = (),
        parent: Life | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._make, self._instruments, self._parent, self.embedder = (
            make,
            tuple(instruments),
            parent,
            embedder,
        )
        self._settings = settings or {}
        self._made: System | None = None
        self._texts: dict[str, str] = {}  # id -> text as it is indexed
        # told and not yet encoded: events are encoded together, which is faster
        self._waiting: list[Event] = []
        self._lives: list[Life] = [self]
        self._digest: Any = parent._digest if parent else sha256()
        self.now = START

    # --- lives ------------------------------------------------------------------------------------
    def fresh(self, *instruments: Instrument, settings: Settings | None = None) -> Life:
        """A new, empty memory of the same kind; instruments are added to its mechanisms.

        settings  what its user gives a mechanism, such as a file of rules; a memory without the
                  mechanism has no use for it
        """
        root = self._parent or self
        made = root._another(instruments, settings)
        root._lives.append(made)
        return made

    def _another(self, instruments: Sequence[Instrument], settings: Settings | None) -> Life:
        """A further life of the experiment that began with this one."""
        return Life(self._make, self.embedder, instruments, self, settings)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Equal for lives with the same instruments and settings."""
        return [(type(i), i.id, i.params) for i in self._instruments], self._settings

    def close(self) -> None:
        """Close this memory and those made by `fresh`."""
        for life in self._lives:
            if life._made is not None:
                life._made.close()
                life._made = None

    @property
    def system(self) -> System:
        if self._made is None:
            self._made = self._make(self._instruments, self._settings)
        return self._made

    @property
    def engine(self) -> Engine | None:
        """The engine behind the system; None if it has none."""
        system: Any = self.system
        engine: Engine | None = getattr(system, "engine", None)
        return engine

    def lacks(self, needs: Collection[Need]) -> list[Need]:
        """Those of the needs that the system does not have.  The engine has all of them."""
        if self.engine is not None:
            return []
        declared = {
            Need.SLEEP: Capability.SLEEPS,
            Need.LEARNING: Capability.LEARNS,
            Need.ARCHIVE: Capability.ARCHIVES,
        }
        return [
            need
            for need in Need
            if need in needs and declared.get(need) not in self.system.capabilities
        ]

    @property
    def stimuli(self) -> str:
        """SHA-256 over all texts told and all speakers, in order, in all lives of the
        experiment.
        """
        return str(self._digest.hexdigest())

    @property
    def told(self) -> tuple[str, ...]:
        """Ids of all events of this life, in order."""
        return tuple(self._texts)

    def admitted(self) -> tuple[int, int]:
        """Events told in all lives of the experiment and encoded so far, and those of them that
        no gate refused; (0, 0) without an engine.
        """
        logs = [
            life.engine.event_log
            for life in self._lives
            if life._made is not None and life.engine is not None
        ]
        return sum(len(log.row_of) for log in logs), sum(
            row >= 0 for log in logs for row in log.row_of
        )

    # --- events and time --------------------------------------------------------------------------
    def tell(
        self,
        text: str,
        speaker: str = "",
        session: str = "",
        at: float | None = None,
        *,
        dated: bool = False,
        attributes: tuple[tuple[str, str], ...] = (),
    ) -> str:
        """Tell one thing, now or `at` a later time (h).  Id of the event.

        dated  whether the date is part of the indexed text
        """
        return self.tell_all(
            [text], speaker=speaker, session=session, at=at, dated=dated, attributes=attributes
        )[0]

    def tell_all(
        self,
        texts: Sequence[str],
        apart: float = 0.0,
        *,
        speaker: str = "",
        session: str = "",
        at: float | None = None,
        dated: bool = False,
        attributes: tuple[tuple[str, str], ...] = (),
    ) -> list[str]:
        """Tell things `apart` h from each other; the last one is told at the time that is then
        the present.  Ids of the events.
        """
        start, events = self.now if at is None else at, []
        for i, text in enumerate(texts):
            event = Event(
                start + i * apart,
                text,
                speaker,
                session,
                f"e{len(self._texts)}",
                attributes=attributes,
                dated=dated,
            )
            self._texts[event.id] = event.rendered()
            self._digest.update(f"{speaker}\0{text}\0".encode())
            events.append(event)
        if events:
            self._waiting += events
            self.now = events[-1].time
        return [event.id for event in events]

    def wait(self, hours: float) -> None:
        """Let simulated time pass.  The system learns of it with the next event or question."""
        self.now += hours

    def until(self, time: float) -> None:
        """Let simulated time pass up to a point in time, h."""
        self.now = time

    def _present(self) -> None:
        """Have all events encoded, and bring the system to the present time."""
        if self._waiting:
            self.system.encode(self._waiting)
            self._waiting = []
        self.system.advance(self.now)

    def sleep(self) -> None:
        """Advance to the end of the next sleep; of a system that does not say when it sleeps, to
        the next 7 am.
        """
        self._present()
        self.until(max(self._end_of_sleep(), self.now) + ADMISSIBLE)

    def _end_of_sleep(self) -> float:
        """h, of the next sleep, as the system says now."""
        engine = self.engine
        if engine is None:
            return self.now + (MORNING - self.now % DAY) % DAY
        end = float(engine.column(SLEEP_END).item())
        return (
            engine.clock.consolidated + engine.passing.consolidate_every if math.isnan(end) else end
        )

    def archive(self, id: str) -> None:
        """Archive an event on purpose, as its owner.  Without an engine, or if it was not
        stored, nothing happens.
        """
        self._present()
        self._archive(id)

    def _archive(self, id: str) -> None:
        engine = self.engine
        row = engine.event_log.row(id) if engine else -1
        if engine and row >= 0:
            engine.archive(row)

    # --- questions --------------------------------------------------------------------------------
    def ask(
        self,
        text: str,
        k: int = 10,
        learn: bool = False,
        session: str = "",
        only: Only | None = None,
    ) -> Retrieved:
        """The answer to a question at the present time.

        session  of the conversation; uses of one session follow each other, uses without one do not
        only     which events may be answered; None: all
        """
        self._present()
        return self._asked(Query(text, session=session, only=only), k, learn)

    def _asked(self, query: Query, k: int, learn: bool) -> Retrieved:
        return self.system.retrieve(query, k, learn=learn)

    def presented(self, text: str, k: int) -> list[str]:
        """Ids of the answer in the order in which the memory presents it: in order of time if it
        says so, else best first.
        """
        ids = [event.id for event in self.ask(text, k).events]
        in_time = bool(self._value(CHRONOLOGICAL) == 1)  # False if it is not known
        places = {id: place for place, id in enumerate(self._texts)}
        return sorted(ids, key=lambda id: places.get(id, len(places))) if in_time else ids

    def everything(self, text: str) -> Retrieved:
        """An answer with every event that can be retrieved."""
        return self.ask(text, max(len(self._texts), 1))

    def hit(self, text: str, ids: str | Collection[str], k: int = 3) -> bool:
        """Whether one of the events is among the k best."""
        wanted = _set_of(ids)
        return any(event.id in wanted for event in self.ask(text, k).events)

    def next_recalls(self, text: str, ids: Sequence[str]) -> NDArray[np.float64]:
        """Chance that each of some events is the next recall, cued by a text, given that one of them
        is: exp(z) / sum exp(z) over them, z as for `recalled`.  Equal without an answer.
        Shape (len(ids),).
        """
        odds = np.exp(self._support(self.ask(text, CANDIDATES), ids))
        if not odds.any():
            return np.full(len(ids), 1.0 / max(len(ids), 1))
        chances: NDArray[np.float64] = odds / odds.sum()
        return chances

    def recalled(self, ids: Sequence[str], session: str) -> NDArray[np.float64]:
        """Chance that each of some events is recalled without words in a session before recall ends,
        by the readout of the experiments with people at temperature 1: R / (R + 1), R = exp(z), z the
        standardised final score among the 48 best.  Stopping is as strong as a memory at the mean; an
        event that is not among the 48 is as strong as the weakest of them.  0 without an answer.
        Shape (len(ids),).
        """
        odds = np.exp(self._support(self.ask("", CANDIDATES, session=session), ids))
        chances: NDArray[np.float64] = odds / (odds + 1.0)
        return chances

    @staticmethod
    def _support(answer: Retrieved, ids: Sequence[str]) -> NDArray[np.float64]:
        """Standardised scores of some events in an answer; the lowest of it for an event that it
        lacks, -infinity if it is empty.  Shape (len(ids),).
        """
        support = standardised([event.score for event in answer.events]).tolist()
        by_id = {event.id: z for event, z in zip(answer.events, support, strict=True)}
        least = min(by_id.values(), default=-math.inf)
        return np.array([by_id.get(id, least) for id in ids])

    def margin(self, text: str, ids: str | Collection[str]) -> float:
        """Score of the best of some events above the mean of all others, in their standard
        deviations; NaN if none of them is retrieved.
        """
        wanted = _set_of(ids)
        scores = [
            (e.id in wanted, e.score)
            for e in self.everything(text).events
            if math.isfinite(e.score)
        ]
        mine, others = (
            [s for is_mine, s in scores if is_mine],
            np.array([s for is_mine, s in scores if not is_mine]),
        )
        return (
            float((max(mine) - others.mean()) / others.std())
            if mine and others.size > 1 and others.std() > 0
            else math.nan
        )

    def lead(self, text: str, ids: str | Collection[str], over: str | Collection[str]) -> float:
        """Score of the best of some events above that of the best of others, in standard
        deviations of all scores; NaN if either is not retrieved.
        """
        scores = {e.id: e.score for e in self.everything(text).events if math.isfinite(e.score)}
        mine, theirs = (
            [scores[id] for id in _set_of(group) if id in scores] for group in (ids, over)
        )
        spread = float(np.std(list(scores.values()))) if mine and theirs else 0.0
        return (max(mine) - max(theirs)) / spread if spread > 0.0 else math.nan

    def rank(self, text: str, ids: str | Collection[str]) -> float:
        """Rank of the best of some events from 1; infinity if none is retrieved."""
        wanted = _set_of(ids)
        return next(
            (rank for rank, e in enumerate(self.everything(text).events, 1) if e.id in wanted),
            math.inf,
        )

    def kept(self, text: str = "everything") -> set[str]:
        """Ids of all events that can be retrieved now."""
        return {event.id for event in self.everything(text).events}

    def cosines(self, text: str, ids: Sequence[str]) -> NDArray[np.float64]:
        """The baseline of a memory with nothing but embeddings: cosine of a text with each
        event.  Shape (len(ids),).
        """
        vectors = self.embedder.embed([text, *(self._texts[id] for id in ids)])
        return np.asarray(vectors[1:] @ vectors[0], np.float64)

    def dense_hit(self, text: str, id: str, k: int = 3) -> float:
        """Probability that an event is among the k nearest of all events told, by cosine alone,
        if ties are broken at random.
        """
        ids = list(self._texts)
        above = self.cosines(text, ids) - self.cosines(text, [id])[0]
        nearer, tied = np.count_nonzero(above > TIED), np.count_nonzero(np.abs(above) <= TIED)
        return float(np.clip((k - nearer) / tied, 0.0, 1.0))

    # --- columns of the engine --------------------------------------------------------------------
    def column(self, column: Column) -> NDArray[Any]:
        """The present values of a column that the engine owns; NaN, shape (), without an engine.
        Raises ValueError for another column.
        """
        if column not in ENGINE_COLUMNS:
            raise ValueError(
                f"{column.name} is the column of a mechanism; a probe reads columns of the engine only"
            )
        self._present()
        return self._value(column)

    def _value(self, column: Column) -> NDArray[Any]:
        return np.array(math.nan) if self.engine is None else self.engine.column(column)

    def of(self, column: Column, ids: Sequence[str]) -> NDArray[np.float64]:
        """The values of a column of memories at some events; NaN for events that were not
        stored.  Shape (len(ids),).
        """
        values = self.column(column)
        return np.array(
            [values[row] if row >= 0 else math.nan for row in self._rows(ids)], np.float64
        )

    def _rows(self, ids: Sequence[str]) -> list[int]:
        """Rows of events; -1 for those that were not stored, or without an engine."""
        engine = self.engine
        return [engine.event_log.row(id) if engine else -1 for id in ids]

    def strength(self, ids: Sequence[str]) -> NDArray[np.float64]:
        """Log of the strength of memories at the present time: ACTIVATION + LOG_STRENGTH, ln.
        NaN if not stored.  Shape (len(ids),).
        """
        return self.of(ACTIVATION, ids) + self.of(LOG_STRENGTH, ids)


def _set_of(ids: str | Collection[str]) -> set[str]:
    return {ids} if isinstance(ids, str) else set(ids)
