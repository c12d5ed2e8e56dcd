"""Times of memories, by which mechanisms decide which of several is the newest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def told_at(
    created: NDArray[np.float64], arrived: NDArray[np.float64], now: float
) -> NDArray[np.float64]:
    """h, when each memory counts as told: its own time; while that is ahead of the present, when it
    arrived.  Cost: O(n).

    An event may come from a clock that is wrong, and nobody has confirmed a time that the present
    has not reached.  So what is told next is newer than it.

    created, arrived  (n,)  h  the columns CREATED and ARRIVED
    now               h     the present

    >>> told_at(np.array([5.0, 9.0, 70.0]), np.array([8.0, 9.0, 9.0]), 10.0).tolist()
    [5.0, 9.0, 9.0]
    """
    return np.where(created > now, arrived, created)
