"""Simulated time: hours since 1970-01-01T00:00 UTC, and the moments of the calendar that they
stand for.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from .errors import InputError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def hours(moment: datetime) -> float:
    """Simulated time of a moment; a naive moment is taken as UTC.  Raises InputError for anything
    but a datetime.

    >>> hours(datetime(1970, 1, 2, 6))
    30.0
    """
    if not isinstance(moment, datetime):
        raise InputError(
            f"{moment!r} is no datetime",
            where="time",
            cure="give a datetime, or hours since 1970-01-01 where a memory takes these",
        )
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH).total_seconds() / 3600.0


def as_hours(time: float | datetime) -> float:
    """Simulated time of a datetime; any other value is returned unchanged, for the caller to check.

    >>> as_hours(datetime(1970, 1, 2, 6)), as_hours(30.0)
    (30.0, 30.0)
    """
    return hours(time) if isinstance(time, datetime) else time


def offset_of(time: float | datetime) -> float | None:
    """Offset from UTC (h) of the clock that shows a datetime; None if it is not known: for hours
    and for a naive datetime.

    >>> offset_of(datetime(1970, 1, 2, 6, tzinfo=timezone(timedelta(hours=-4)))), offset_of(30.0)
    (-4.0, None)
    """
    offset = time.utcoffset() if isinstance(time, datetime) else None
    return None if offset is None else offset.total_seconds() / 3600.0


def moment(time: float, offset: float | None = None) -> datetime:
    """The moment of a simulated time, in UTC, or as a clock with an offset from UTC shows it.

    Raises OverflowError or ValueError outside the years 1 to 9999 of that clock.

    offset  h; None: not known, taken as 0

    >>> moment(30.0).isoformat(), moment(30.0, -4.0).isoformat()
    ('1970-01-02T06:00:00+00:00', '1970-01-02T02:00:00-04:00')
    """
    # float64 resolves hours to a microsecond
    at = EPOCH + timedelta(milliseconds=round(time * 3.6e6))
    return at.astimezone(timezone(timedelta(hours=offset))) if offset else at


@lru_cache(4096)  # the same times are written again and again
def written(time: float, offset: float | None = None) -> str:
    """A simulated time as text for readers, to the minute; empty outside the years 1 to 9999.

    offset  h, of the clock that shows it, as in `moment`

    >>> written(30.0), written(30.0, -7.5)
    ('6:00 am on 2 January, 1970', '10:30 pm on 1 January, 1970')
    """
    try:
        at = moment(time, offset)
    except (OverflowError, ValueError):
        return ""
    return f"{at.hour % 12 or 12}:{at:%M} {'am' if at.hour < 12 else 'pm'} on {at.day} {at:%B}, {at.year}"
