"""The clock of checks that texts take linear time, which a mutant can put forward: a slow mutant
says how long it took, and no audit waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Final


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
