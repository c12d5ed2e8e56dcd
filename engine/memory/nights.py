"""Idle time: how many sleeps a jump of time brings, when it is refused because no user can mean
it, and what is told while many pass.
"""

from __future__ import annotations

import math
import warnings
from time import monotonic
from typing import Final

import numpy as np

from ..base.errors import InputError
from ..ports.embedder import Progress

DAY: Final = 24.0  # h
YEAR: Final = 365.25 * DAY  # h; a longer jump in a data file is a note
CENTURY: Final = 100 * YEAR  # h; a longer jump in a data file is an error
MOST_NIGHTS: Final = 36_525  # sleeps in one call: one a day for a century
# from here on a warning says how many: one a day for ten years
MANY_NIGHTS: Final = 3_653
# more sleeps than this that change nothing pass at once; after so many one by one comes the warning
STRIDE: Final = 366
TELL_SECONDS: Final = 1.0
AT_ONCE: Final = 65_536  # sleeps that are summed in one call of numpy


class LongIdleWarning(UserWarning):
    """A call lets time pass over so many sleeps that it takes long."""


class NightBar:
    """Tells how many of the nights of a call have passed.

    nights  that are due, about
    """

    def __init__(self, progress: Progress | None, nights: float) -> None:
        self._progress, self._nights, self._done, self._told = progress, nights, 0, monotonic()

    def passed(self) -> None:
        """One more night: tell it if the last time is a second ago, and warn of a long call
        after the first year.  0.1 us.
        """
        self._done += 1
        if self._done == STRIDE and self._nights > MANY_NIGHTS:
            warnings.warn(
                f"{self._nights:.0f} nights are consolidated one by one; `progress` of a memory tells how many have passed",
                LongIdleWarning,
                stacklevel=6,
            )
        if self._progress and monotonic() - self._told >= TELL_SECONDS:
            self._told = monotonic()
            self._progress(self._done, max(self._done, round(self._nights)))


def nights_between(start: float, end: float, every: float) -> float:
    """About how many sleeps end in a span of time; 0 if they never end.

    every  h from one sleep to the next

    >>> nights_between(0.0, 240.0, 24.0), nights_between(0.0, 240.0, math.inf)
    (10.0, 0.0)
    """
    return 0.0 if math.isnan(start) else max(0.0, (end - start) / every)


def require_few_nights(nights: float, span: float, where: str) -> None:
    """Raises InputError for more than MOST_NIGHTS sleeps, before anything changes.

    span  h, by which time jumps
    """
    if nights > MOST_NIGHTS:
        raise InputError(
            f"time jumps by {span / YEAR:.0f} years, over {nights:.0f} nights",
            where=where,
            cure="correct the time; if it is meant, advance in steps of less than a century, or make the memory with "
            "consolidate_every=math.inf",
        )


def last_due(consolidated: float, every: float, time: float) -> float:
    """The time of the last fixed consolidation up to `time`, summed night by night as the loop
    would; `consolidated` if none is due.  10 ns a night.

    >>> last_due(0.1, 24.0, 100.0) == 0.1 + 24.0 + 24.0 + 24.0 + 24.0
    True
    """
    while consolidated < consolidated + every <= time:
        steps = np.full(int(min(AT_ONCE, (time - consolidated) / every)) + 2, every)
        steps[0] = consolidated
        times = np.cumsum(steps)  # from left to right
        consolidated = float(times[np.searchsorted(times, time, "right") - 1])
    return consolidated
