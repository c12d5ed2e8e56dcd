"""Which rounds of a measurement had the processor for themselves: others on the same one make it
up to twice as slow, for milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

LENGTH = 5_000  # additions of a loop: 0.2 to 0.8 ms
SLACK = 1.25  # a loop that takes this many times the least is disturbed


def loop() -> float:
    """Seconds that a short loop of Python takes now."""
    start, total = perf_counter(), 0
    for number in range(LENGTH):
        total += number
    return perf_counter() - start


def quiet(before: Sequence[float], after: Sequence[float], least: float) -> NDArray[np.bool_]:
    """Of each round, whether neither the loop before it nor the one after it was disturbed.

    before, after  seconds of the loop next to each round
    least          seconds of the fastest loop of all

    >>> quiet([1.0, 1.1, 2.0, 1.0], [1.2, 3.0, 1.0, 1.0], 1.0).tolist()
    [True, False, False, True]
    """
    return np.maximum(before, after) <= SLACK * least
