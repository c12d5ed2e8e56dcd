"""What a memory holds besides its columns: verbatim events, interned names, clocks."""
from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Final

from .errors import HebbariumError, InputError, SnapshotError
from .records import Event, Query, moment


class Names:
    """Names numbered in the order in which they are met."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def known(self, name: str) -> int | None:
        return self._numbers.get(name)

    def due(self, name: str) -> int:
        """The number that the name has, or would get; changes nothing."""
        return self._numbers.get(name, len(self._numbers))

    def __len__(self) -> int:
        return len(self._numbers)


@dataclass
class Clock:
    """Simulated time, and how far the phases have come, all in hours; NaN before the first event."""

    now: float = math.nan
    maintained: float = math.nan
    consolidated: float = math.nan


class Texts:
    """Verbatim text of every row."""

    def __init__(self, diary: Diary) -> None:
        self._diary = diary

    def __getitem__(self, row: int) -> str:
        return self._diary.of_row(row).text

    def __len__(self) -> int:
        return len(self._diary.rows)


@dataclass
class Diary:
    """Every event ever taken in, verbatim, stored or not; nothing is ever removed.

    events    in the order of encoding
    row_of    row of each event, -1 where a gate kept it out
    rows      event number of each row
    sessions, speakers  names of those met in the events
    """

    events: list[Event] = field(default_factory=list)
    row_of: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    by_id: dict[str, int] = field(default_factory=dict)
    sessions: Names = field(default_factory=Names)
    speakers: Names = field(default_factory=Names)

    def write(self, event: Event, row: int) -> None:
        self.sessions.number(event.session)
        self.speakers.number(event.speaker)
        if event.id:
            self.by_id[event.id] = len(self.events)
        if row >= 0:
            self.rows.append(len(self.events))
        self.events.append(event)
        self.row_of.append(row)

    def of_row(self, row: int) -> Event:
        return self.events[self.rows[row]]

    def row(self, event_id: str) -> int:
        """Row of the event with that id; -1 if it was kept out or never seen."""
        number = self.by_id.get(event_id, -1)
        return self.row_of[number] if number >= 0 else -1


class Integrity:
    """Half a change is neither gone on from nor saved: what breaks off ends the memory.

    ended  why memory takes nothing more; empty while it does
    """

    def __init__(self) -> None:
        self.ended = ""

    def end(self, why: str) -> None:
        self.ended = self.ended or why

    def require(self, doing: str) -> None:
        if self.ended:
            raise HebbariumError(f"this memory {self.ended}", where=doing, cure="make it anew; a snapshot file holds the last finished tick")

    @contextmanager
    def change(self, doing: str, changes: bool = True) -> Iterator[None]:
        """Around what must be finished once it is begun; a file that cannot be written is another matter."""
        self.require(doing)
        try:
            yield
        except SnapshotError:
            raise
        except BaseException:
            if changes:
                self.end(f"broke off in {doing}")
            raise


WORDS: Final = ("text", "speaker", "session", "id", "caption")     # of an event


def sound_event(event: Any, now: float) -> Event:
    """The event with its time as a plain float and its words as plain str, as a snapshot gives them back.

    Raises InputError for one that cannot be taken; called before anything changes.
    """
    if not isinstance(event, Event):
        raise InputError(f"{type(event).__name__} is no Event", where="event", cure="give hebbarium.Event(time, text)")
    where = f"event {event.id or event.text[:40]!r}" if isinstance(event.text, str) and isinstance(event.id, str) else "event"
    for name in WORDS:
        if not isinstance(getattr(event, name), str):
            raise InputError(f"{name} is {type(getattr(event, name)).__name__}, not text", where=where, cure=f"give {name} as a str")
    time = sound_time(event.time, now, where)
    plain: dict[str, Any] = {name: str.__str__(getattr(event, name)) for name in WORDS if type(getattr(event, name)) is not str}
    if type(event.time) is not float or time is not event.time:
        plain["time"] = time
    return replace(event, **plain) if plain else event


def sound_query(query: Any, now: float) -> Query:
    """The query as a record.  Raises InputError for one that cannot be answered."""
    query = Query(query) if isinstance(query, str) else query
    if not isinstance(query, Query) or not isinstance(query.text, str):
        raise InputError(f"{type(getattr(query, 'text', query)).__name__} is no question", where="query", cure="give the question as text")
    where = f"query {query.id or query.text[:40]!r}"
    if query.time is not None and sound_time(query.time, now, where) > now:
        raise InputError(f"is asked at {query.time:.4f} h, after the memory's present {now:.4f} h", where=where,
                         cure="call advance(query.time) first: letting time pass changes memory, asking does not")
    return query


def sound_time(time: Any, now: float, where: str) -> float:
    """Hours as a plain float.  Raises InputError for what is no time of the calendar, or before now."""
    cure = "give hours since 1970-01-01 (hebbarium.hours turns a datetime into them)"
    if isinstance(time, bool) or not isinstance(time, Real) or time != time:
        raise InputError(f"time {time!r} is no number", where=where, cure=cure)
    try:
        at = float(time) + 0.0  # -0.0 would come back from a file as 0.0
        moment(at)
    except (OverflowError, ValueError):
        raise InputError(f"time {time!r} lies outside the years 1 to 9999", where=where, cure=f"{cure}; seconds are 3600 times too many") from None
    if at < now:
        raise InputError(f"time runs backwards: {at:.4f} h is before the memory's {now:.4f} h", where=where,
                         cure="sort by time, or clamp to the time before")
    return at


def sound_count(number: Any, what: str, most: int | None = None) -> int:
    """A whole number from 0.  Raises InputError."""
    sound = isinstance(number, Integral) and not isinstance(number, bool)
    if not sound or not 0 <= int(number) <= (int(number) if most is None else most):
        raise InputError(f"{what} is {number!r}", where="memory", cure=f"give a whole number from 0{'' if most is None else f' to {most}'}")
    return int(number)


def sound_hours(hours: Any, what: str, least: float) -> float:
    """A length of time, infinity included.  Raises InputError."""
    sound = isinstance(hours, Real) and not isinstance(hours, bool)
    if not sound or not float(hours) >= least:
        raise InputError(f"{what} is {hours!r}", where="memory", cure=f"give hours, {least:g} or more")
    return float(hours)
