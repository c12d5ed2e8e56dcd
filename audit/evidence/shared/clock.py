"""Checks that long texts take linear time, and their clock, which a mutant can put forward: a slow
mutant says how long it took, and no audit waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Final

from ...checks import Measured, at_most

LENGTH: Final = 300_000  # characters of a long text
LIMIT: Final = 2.0  # s, far more than linear time takes for that length
PARTS: Final = (10, 3)  # one of so many parts of a text is read first, then one of so many


@dataclass(slots=True)
class ProcessorClock:
    """Processor time of this process, and what mutants say that they took besides.

    >>> clock = ProcessorClock()
    >>> start = clock.now()
    >>> clock.put_forward(3.0)
    >>> clock.now() - start >= 3.0
    True
    """

    put_forward_by: float = 0.0  # s

    def now(self) -> float:
        """s"""
        return process_time() + self.put_forward_by

    def put_forward(self, seconds: float) -> None:
        self.put_forward_by += seconds


CLOCK: Final = ProcessorClock()


def long_text(unit: str, before: str = "") -> str:
    """What stands before, then one unit again and again, LENGTH characters at most."""
    return before + unit * (LENGTH // len(unit))


def linear_time(read: Callable[[str], object], *texts: str) -> Measured:
    """Whether a function reads each of some long texts within LIMIT: the processor time of each, s.

    The beginning of a text, one of so many PARTS, is read first.  In quadratic time the whole takes
    the square of their number times as long; if that is within LIMIT it is the result, else more of
    the text is read, and at last the whole.
    """

    def seconds(text: str) -> float:
        start = CLOCK.now()
        read(text)
        return CLOCK.now() - start

    def at_worst(text: str) -> float:
        whole = 0.0  # s that the whole takes in linear time, by the last part
        for parts in PARTS:
            if parts * whole <= LIMIT:
                whole = parts * seconds(text[: len(text) // parts])
                if parts * whole <= LIMIT:
                    return parts * whole
        return seconds(text)

    return at_most([at_worst(text) for text in texts], LIMIT)
