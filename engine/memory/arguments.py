"""Arguments of users: events, queries, times, counts, rows.  Each `checked_*` returns the value
in plain form or raises InputError.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from numbers import Real
from typing import Any, Final, Literal

import numpy as np

from ..base.errors import InputError
from ..base.times import as_hours, moment, offset_of
from ..contract.records import Event, Only, Query, attribute_pairs, no_event, wanted_attributes
from ..text.features import normal_name
from .nights import DAY

SHORTEST: Final = 64  # rows of a shortlist
WORDS: Final = ("text", "speaker", "session", "id", "caption")  # of an event


def checked_event(event: Any) -> Event:
    """The event with its time as a plain float, `dated` as a plain bool, its texts as plain str and
    its attributes as sorted pairs, as a snapshot restores them.

    Raises InputError for an invalid event; called before anything changes.
    """
    if not isinstance(event, Event):
        raise no_event(event, "event")
    where = (
        f"event {event.id or event.text[:40]!r}"
        if isinstance(event.text, str) and isinstance(event.id, str)
        else "event"
    )
    for name in WORDS:
        if not isinstance(getattr(event, name), str):
            raise InputError(
                f"{name} is {type(getattr(event, name)).__name__}, not text",
                where=where,
                cure=f"give {name} as a str",
            )
    time = checked_time(event.time, -math.inf, where)
    plain: dict[str, Any] = {
        name: str.__str__(getattr(event, name))
        for name in WORDS
        if type(getattr(event, name)) is not str
    }
    if type(event.time) is not float or time is not event.time:
        plain["time"] = time
    offset = checked_offset(event.offset, event.time, where)
    if type(event.offset) is not type(offset) or event.offset != offset:
        plain["offset"] = offset
    dated: Any = event.dated
    if not isinstance(dated, bool | np.bool_):
        raise InputError(f"dated is {dated!r}", where=where, cure="give True or False")
    if type(dated) is not bool:
        plain["dated"] = bool(dated)
    if type(event.attributes) is not tuple or event.attributes:
        plain["attributes"] = attribute_pairs(event.attributes, where)
    return replace(event, **plain) if plain else event


def checked_query(query: Any, now: float) -> Query:
    """The query as a record, its times in hours, its filter in plain form.  Raises InputError
    for a query that cannot be answered.
    """
    query = Query(query) if isinstance(query, str) else query
    if not isinstance(query, Query) or not isinstance(query.text, str):
        raise InputError(
            f"{type(getattr(query, 'text', query)).__name__} is no question",
            where="query",
            cure="give the question as text",
        )
    where = f"query {query.id or query.text[:40]!r}"
    if not isinstance(query.session, str):
        raise InputError(
            f"the session is {query.session!r}",
            where=where,
            cure='give the name of the session as text, "" for a query from nowhere',
        )
    sound: Query = (
        query if query.only is None else replace(query, only=checked_only(query.only, where))
    )
    time = None if query.time is None else checked_time(query.time, -math.inf, where)
    if time is not None and time > now:
        raise InputError(
            f"is asked at {time:.4f} h, after the memory's present {now:.4f} h",
            where=where,
            cure="call advance(query.time) first: letting time pass changes memory, asking does not",
        )
    if time is not None and time < now:
        raise InputError(
            f"time runs backwards: it is asked at {time:.4f} h, before the memory's present {now:.4f} h",
            where=where,
            cure="ask with hb.Query(text, only=hb.Only(until=time)) what had happened until then; without a time, a query is asked now",
        )
    if time is None and query.offset is None:
        return sound
    offset = checked_offset(query.offset, query.time, where)
    return (
        sound
        if time is query.time and offset is query.offset
        else replace(sound, time=time, offset=offset)
    )


def checked_only(only: Any, where: str) -> Only:
    """The filter with times in hours, sorted names, each once, those of entities in normal form, and
    sorted pairs.  Raises InputError for a wrong type; no value is too strict.
    """
    if not isinstance(only, Only):
        raise InputError(
            f"only is {type(only).__name__}, not Only",
            where=where,
            cure="give hebbarium.Only(since=..., speakers=(...))",
        )
    since, until = (
        None if time is None else checked_time(time, -math.inf, f"{where}, only.{name}")
        for name, time in (("since", only.since), ("until", only.until))
    )
    sessions, speakers, exclude, entities = (
        _names(getattr(only, name), f"{where}, only.{name}")
        for name in ("sessions", "speakers", "exclude", "entities")
    )
    return Only(
        since,
        until,
        sessions,
        speakers,
        wanted_attributes(only.attributes, f"{where}, only.attributes"),
        exclude,
        tuple(sorted({normal_name(name) for name in entities})),
    )


def checked_time(time: Any, now: float, where: str) -> float:
    """Simulated time as a plain float, in hours; a datetime is converted, a naive one taken as UTC.

    Raises InputError for a value that is no time of the calendar, or before `now`.
    """
    cure, time = "give hours since 1970-01-01, or a datetime", as_hours(time)
    if isinstance(time, bool) or not isinstance(time, Real) or time != time:
        cure += (
            '; a memory made with clock="wall" dates an event whose time is None'
            if time is None
            else ""
        )
        raise InputError(f"time {time!r} is no number", where=where, cure=cure)
    try:
        at = float(time) + 0.0  # -0.0 would come back from a file as 0.0
        moment(at)
    except (OverflowError, ValueError):
        raise InputError(
            f"time {time!r} lies outside the years 1 to 9999",
            where=where,
            cure=f"{cure}; seconds are 3600 times too many",
        ) from None
    if at < now:
        raise InputError(
            f"time runs backwards: {at:.4f} h is before the memory's {now:.4f} h",
            where=where,
            cure="sort by time, or clamp to the time before",
        )
    return at


def checked_offset(given: Any, time: Any, where: str) -> float | None:
    """Offset of a clock from UTC as a plain float, h; if none is given, that of an aware datetime,
    else None.

    time  a checked time, or None

    Raises InputError for a day or more, and for a time that this clock shows outside the years 1 to
    9999.
    """
    offset: Any = given
    if offset is None and isinstance(time, datetime):
        offset = offset_of(time)
    if offset is None:
        return None
    if isinstance(offset, bool) or not isinstance(offset, Real) or not -DAY < float(offset) < DAY:
        raise InputError(
            f"the offset {offset!r} is none of a clock",
            where=where,
            cure="give hours from UTC, more than -24 and less than 24, such as -4.0 or 5.5; None if it is not known",
        )
    if time is not None:
        try:
            moment(float(as_hours(time)), float(offset))
        except (OverflowError, ValueError):
            raise InputError(
                f"a clock {float(offset):g} h from UTC shows time {time!r} outside the years 1 to 9999",
                where=where,
                cure="correct the time or the offset",
            ) from None
    return float(offset) + 0.0  # -0.0 would come back from a file as 0.0


def checked_durable(given: Any) -> Literal["full"] | bool:
    """Whether a file keeps a log of calls.  Raises InputError."""
    if given is not True and given is not False and given != "full":
        raise InputError(f"durable is {given!r}", where="memory", cure='give True, False or "full"')
    return given if isinstance(given, bool) else "full"


def _names(given: Any, where: str) -> tuple[str, ...]:
    """Names, sorted, each once.  Raises InputError."""
    if (
        isinstance(given, str | Mapping)
        or not isinstance(given, Collection)
        or not all(isinstance(name, str) for name in given)
    ):
        raise InputError(
            f"{given!r} is no tuple of names",
            where=where,
            cure='give a tuple of texts, such as ("Ada", "Bo"), or ()',
        )
    return tuple(sorted({str.__str__(name) for name in given}))


def checked_shortlist(rows: object) -> int | None:
    """Rows of a shortlist as a memory takes them.  Raises InputError.

    >>> checked_shortlist(None), checked_shortlist(2048)
    (None, 2048)
    """
    if rows is None or (isinstance(rows, int) and not isinstance(rows, bool) and rows >= SHORTEST):
        return rows
    raise InputError(
        f"a shortlist of {rows!r} memories",
        where="shortlist",
        cure=f"give a whole number of at least {SHORTEST}, such as 2048, or None",
    )
