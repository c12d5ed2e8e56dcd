"""Numbers that users give: counts, limits, rows, lengths of time.  Each `checked_*` returns the
number in plain form or raises InputError.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from .errors import InputError


def checked_count(number: Any, what: str) -> int:
    """A whole number from 0.  Raises InputError."""
    if not _whole(number) or int(number) < 0:
        raise InputError(f"{what} is {number!r}", where="memory", cure="give a whole number from 0")
    return int(number)


def checked_limit(number: Any, what: str, cure: str) -> int | None:
    """A whole number from 1; None for no limit.  Raises InputError."""
    if number is None:
        return None
    if not _whole(number) or int(number) < 1:
        raise InputError(f"{what} is {number!r}", where=what, cure=cure)
    return int(number)


def checked_row(row: Any, n: int) -> int:
    """A row of a memory that holds n.  Raises InputError."""
    if not _whole(row) or not 0 <= int(row) < n:
        raise InputError(
            f"the row is {row!r}",
            where="memory",
            cure=f"give a whole number from 0 to {n - 1}"
            if n
            else "store an event first; this memory has no rows yet",
        )
    return int(row)


def checked_hours(hours: Any, what: str, least: float) -> float:
    """A length of time in hours, infinity included.  Raises InputError."""
    sound = isinstance(hours, Real) and not isinstance(hours, bool)
    if not sound or not float(hours) >= least:
        raise InputError(
            f"{what} is {hours!r}", where="memory", cure=f"give hours, {least:g} or more"
        )
    return float(hours)


def _whole(number: Any) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool)
