"""Arrivals: what the present of a memory is when an event is told or time is let pass, and which
times it does not believe.

An event may be late, or may come from a clock that is wrong.  A late one is stored with its own
time, and the present stays.  One that is far ahead is stored with its own time, too, and the
present stays until somebody confirms that so much time has passed: no wrong clock can lock a
memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from ..base.errors import InputError
from ..base.times import hours, offset_of, written
from ..contract.records import Event
from ..state.clock import ADVANCED, Jump
from .nights import DAY, YEAR

WALL: Final = "wall"
EVENTS: Final = "events"
# h; a step of the clock that is longer is a jump, and in a memory of `hebbarium.memory` has to be
# confirmed
YEAR_AHEAD: Final = 366 * DAY
WallClock = Callable[[], datetime]


class ClockWarning(UserWarning):
    """The time of an event, or of the wall clock, is so far ahead of a memory that its clock
    stays where it is.
    """


def arrival(
    time: float, now: float, late: float, jump: float, confirmed: bool, where: str
) -> float:
    """h, the present of a memory in which an event of a time has arrived.  Raises InputError for an
    event that is too late.

    time       h, of the event
    now        h, the present before; NaN: the event sets the clock
    late       h, most that an event may lie before the present
    jump       h, most by which an event takes the present ahead, unless that is `confirmed`

    >>> [arrival(time, 100.0, 24.0, 1000.0, False, "event") for time in (80.0, 100.0, 900.0, 9000.0)]
    [100.0, 100.0, 900.0, 100.0]
    """
    if time < now - late:
        said = f", by more than {late:g} h: {written(time)}, not {written(now)}" if late else ""
        raise InputError(
            f"time runs backwards: {time:.4f} h is before the memory's {now:.4f} h{said}",
            where=where,
            cure=_cure_of_late(late),
        )
    if math.isnan(now) or confirmed or time - now <= jump:
        return time if math.isnan(now) else max(time, now)
    return now


def warning_of_event(event: Event, now: float, where: str) -> ClockWarning:
    """What is told of an event that is stored although the clock does not go to its time."""
    return ClockWarning(
        f"{where}: its time, {written(event.time, event.offset)}, is {(event.time - now) / YEAR:.1f} years ahead of the memory's "
        f"present, {written(now)}; it is stored with its time, and the present stays\n"
        "  What to do: if so much time has passed, encode(event, confirm=True) or advance(time, confirm=True); if a clock was wrong, "
        "erase the event"
    )


def warning_of_wall(reading: float, now: float) -> ClockWarning:
    """What is told when the wall clock is so far ahead that the memory does not follow."""
    return ClockWarning(
        f"the wall clock shows {written(reading)}, {(reading - now) / YEAR:.1f} years ahead of the memory's present, {written(now)}, "
        "which stays\n  What to do: if so much time has passed, call advance(time, confirm=True)"
    )


def require_believable(time: float, now: float, jump: float, confirmed: bool) -> None:
    """Raises InputError for a passing of time of more than `jump` h that nobody confirms."""
    if time - now > jump and not confirmed:
        raise InputError(
            f"time jumps by {(time - now) / YEAR:.1f} years, from {written(now)} to {written(time)}",
            where="advance",
            cure="correct the time; if it is meant, call advance(time, confirm=True)",
        )


def after_jump(jumps: Sequence[Jump], number: int, now: float, time: float) -> tuple[Jump, ...]:
    """The jumps of a memory whose clock goes from `now` to a time, h, at an event, or in
    `advance`.  now: NaN: the event sets the clock.
    """
    return (
        (*jumps, Jump(number, now)) if math.isnan(now) or time - now > YEAR_AHEAD else tuple(jumps)
    )


def standing(
    jumps: Sequence[Jump], events: Sequence[Event], erased: Callable[[int], bool], now: float
) -> tuple[Jump, ...]:
    """The jumps that stay after an erasure: up to the last one since which the clock has reached
    an event that is not erased.  O(events since).
    """

    def holds(jump: Jump) -> bool:
        since = -math.inf if math.isnan(jump.before) else jump.before
        return jump.event == ADVANCED or any(
            since < events[n].time <= now and not erased(n) for n in range(jump.event, len(events))
        )

    left = list(jumps)
    while left and not holds(left[-1]):
        left.pop()
    return tuple(left)


def set_back(stamps: Any, time: float, now: float) -> None:
    """Take readings of a clock along that is set back from `now` to `time`: later ones by as much,
    but not before `time`.  In place; NaN stays.

    stamps  (...) float64  h

    >>> import numpy as np
    >>> stamps = np.array([10.0, 50.0, 100.0, 108.0, np.nan])
    >>> set_back(stamps, 20.0, 100.0)
    >>> stamps.tolist()
    [10.0, 20.0, 20.0, 28.0, nan]
    """
    later = stamps > time
    stamps[later] = (stamps[later] - (now - time)).clip(min=time)


def checked_clock(given: Any) -> WallClock | None:
    """What tells a memory the present: None, its events and `advance`; else a wall clock.
    Raises InputError.
    """
    if given is None or given == EVENTS:
        return None
    if given == WALL:
        return _now_here
    if callable(given):
        return given  # type: ignore[no-any-return]
    raise InputError(
        f"the clock is {given!r}",
        where="memory",
        cure='give "events", "wall", or a callable that returns an aware datetime',
    )


def reading(clock: WallClock) -> datetime:
    """The present by a wall clock.  Raises InputError for anything but an aware datetime."""
    now = clock()
    if not isinstance(now, datetime) or now.tzinfo is None:
        raise InputError(
            f"the clock returns {now!r}",
            where="clock",
            cure="return an aware datetime, such as datetime.now().astimezone()",
        )
    return now


def dated(event: Event, now: datetime, least: float) -> Event:
    """An event without a time, at the present of a wall clock, but not before a time, h: a clock
    that was set back leaves a memory where it is.
    """
    time = hours(now)
    return Event(
        least if time < least else time,
        event.text,
        event.speaker,
        event.session,
        event.id,
        event.caption,
        event.dated,
        event.attributes,
        offset_of(now) if event.offset is None else event.offset,
    )


def _now_here() -> datetime:
    return datetime.now().astimezone()


def _cure_of_late(late: float) -> str:
    if not late:
        return "sort by time, or clamp to the time before; a memory made with late_hours takes late events"
    return (
        f"if it is meant, make the memory with `late` of more than {late:g} h; if an earlier event had a wrong clock, erase that one: "
        "the memory then goes on from the others"
    )
