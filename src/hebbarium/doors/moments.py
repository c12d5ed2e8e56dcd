"""Times as people write them: "yesterday 10pm", "3 March 2025", "2 hours ago", ISO 8601."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..engine.base.errors import InputError
from ..engine.base.times import hours, moment
from ..engine.text.dates import times

POINT = timedelta(hours=1, seconds=1)  # a time of the clock is read as at most an hour around it
SLASHES = re.compile(r"\d{1,2}/\d{1,2}(/\d+)?")
DAY_ALONE = re.compile(r"\d{4}-\d\d-\d\d|\d{8}|\d{4}-?W\d\d-?\d")
WEEK_ALONE = re.compile(r"\d{4}-?W\d\d")
FORMS = ("", "today at ", "in ", "on ")  # before a text that says no time by itself
CURE = (
    "write it like 2025-03-01, 2025-03-01T22:05, 2025-03-01T22:05+01:00, 3 March 2025, "
    "yesterday 10pm, last Friday, or 2 hours ago"
)


@dataclass(frozen=True, slots=True)
class Period:
    """What a written time stands for; of a time of the clock both ends are the same.

    start, end  aware datetimes, on the clock of the one who wrote it
    """

    start: datetime
    end: datetime

    @property
    def middle(self) -> datetime:
        """The moment that stands for all of it."""
        return self.start + (self.end - self.start) / 2


def here() -> datetime:
    """The present, on the clock of this machine."""
    return datetime.now().astimezone()


def period(text: str, now: datetime, where: str = "time") -> Period:
    """The period that a written time means.  Raises InputError.

    now    an aware datetime: the present of the writer, whose clock a time without an offset means
    where  of an error

    >>> from datetime import UTC
    >>> now = datetime(2025, 3, 12, 15, tzinfo=UTC)
    >>> [period(text, now).middle.isoformat()[:16] for text in ("2025-03-01", "yesterday 10pm", "2 hours ago")]
    ['2025-03-01T12:00', '2025-03-11T22:00', '2025-03-12T13:00']
    """
    plain = " ".join(text.split())
    if plain.lower() in ("", "now"):
        if not plain:
            raise InputError("the time is empty", where=where, cure=CURE)
        return Period(now, now)
    if SLASHES.fullmatch(plain.split(" ")[0]):
        raise InputError(
            f"{plain!r} does not say which number is the month, and countries differ in that",
            where=where,
            cure=CURE,
        )
    if not WEEK_ALONE.fullmatch(plain):  # of which `fromisoformat` reads the first midnight
        with suppress(ValueError):
            written = datetime.fromisoformat(plain)
            start = written if written.tzinfo else written.replace(tzinfo=now.tzinfo)
            return Period(start, start + timedelta(days=1) if DAY_ALONE.fullmatch(plain) else start)
    said = hours(now.replace(tzinfo=None))
    for before in FORMS:
        expressions = times(before + plain, said)
        if len(expressions.expressions) == 1 and not expressions.beside(before + plain).strip():
            read = expressions.expressions[0]
            start, end = (
                moment(hour).replace(tzinfo=now.tzinfo)
                for hour in read.focus or (read.start, read.end)
            )
            span = Period(start, end)
            return Period(span.middle, span.middle) if end - start <= POINT else span
    raise InputError(f"{plain!r} is no time", where=where, cure=CURE)
