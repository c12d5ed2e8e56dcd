"""Values of exports that may be of any type: each function takes anything and never raises."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# 1.3.2025 22:05, with the day first, and 2025/3/1; 3/1/2025 is of two days
DAY_AND_TIME = re.compile(
    r"(?:(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})|(\d{4})/(\d{1,2})/(\d{1,2}))"
    r"(?:,?\s+(\d{1,2})[:.](\d\d)(?::(\d\d))?)?",
    re.ASCII,
)
MANY_DIGITS = re.compile(r"(\.\d{6})\d+")


def as_dict(value: Any) -> Mapping[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> Sequence[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else ()


def text_of(value: Any) -> str:
    """A text or a whole number as text; "" for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value) if isinstance(value, str) or abs(value) < 10**30 else ""


def from_seconds(value: Any) -> datetime | None:
    """The moment of seconds since 1970, or of milliseconds, which are a thousand times as many.

    >>> from_seconds("1740820500.000200"), from_seconds(1740820500000) == from_seconds(1740820500)
    (datetime.datetime(2025, 3, 1, 9, 15, 0, 200, tzinfo=datetime.timezone.utc), True)
    """
    if isinstance(value, bool):
        return None
    try:
        seconds = float(value)
        return EPOCH + timedelta(seconds=seconds / 1000.0 if abs(seconds) > 1e11 else seconds)
    except (TypeError, ValueError, OverflowError):
        return None


def from_iso(value: Any) -> datetime | None:
    """The moment of a text in ISO 8601; naive if it has no offset."""
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(MANY_DIGITS.sub(r"\1", value.strip()))
    except ValueError:
        return None


def from_numbers(
    date: Sequence[str], day_first: bool, hour: int = 0, minute: int = 0, second: int = 0
) -> datetime | None:
    """The naive moment of the three numbers of a date, as written, and of a time of the clock; None
    if there is no such day or time.

    date       the year first, if it has four digits, or last; below 100 it is of this century
    day_first  whether the day stands before the month, where the year is last

    >>> from_numbers(("1", "3", "25"), True, 22, 5), from_numbers(("2025", "2", "31"), True)
    (datetime.datetime(2025, 3, 1, 22, 5), None)
    """
    a, b, c = map(int, date)
    if len(date[0]) == 4:
        year, month, day = a, b, c
    else:
        year, (day, month) = c, ((a, b) if day_first else (b, a))
    try:
        return datetime(year + 2000 if year < 100 else year, month, day, hour, minute, second)
    except ValueError:
        return None


def from_day(value: Any) -> datetime | None:
    """The naive moment of a text such as 1.3.2025 22:05, day first, or 2025/3/1; a day alone is its
    midnight.

    >>> from_day("1.3.2025, 22:05"), from_day("3/1/2025"), from_day("31.2.2025")
    (datetime.datetime(2025, 3, 1, 22, 5), None, None)
    """
    read = DAY_AND_TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    if read is None:
        return None
    hour, minute, second = (int(part or 0) for part in read.group(7, 8, 9))
    date = read.group(1, 2, 3) if read[1] else read.group(4, 5, 6)
    return from_numbers(date, True, hour, minute, second)
