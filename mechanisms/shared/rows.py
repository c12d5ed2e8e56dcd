"""Rows that hold events, among rows that the memory made."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def events(kind: Any) -> NDArray[np.int64]:
    """Rows of the events, ascending.  Cost: O(n).

    kind  (n,)  the column KIND

    >>> events(np.array([0, 1, 0, 3], dtype=np.int8)).tolist()
    [0, 2]
    """
    return np.flatnonzero(np.asarray(kind) == 0)


def last_event(kind: Any) -> int:
    """Row of the last event, -1 if there is none.  Cost: O(rows made after it).

    kind  (n,)  the column KIND

    >>> last_event(np.array([0, 0, 2, 1], dtype=np.int8)), last_event(np.empty(0, dtype=np.int8))
    (1, -1)
    """
    row = len(kind) - 1
    while row >= 0 and kind[row] != 0:
        row -= 1
    return row
