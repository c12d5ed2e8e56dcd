"""Times of memories: which of several is the newest, and which were told in a time asked for."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.hooks import Cue
from ...engine.text.dates import TimeExpression


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


def asker_offset(cue: Cue, offsets: NDArray[np.float64]) -> float:
    """h, offset of the asker's clock from UTC: the query's own, or that of the latest event; 0
    without either.

    offsets  (n,)  h  of the memories, in the order of arrival
    """
    if cue.query.offset is not None:
        return cue.query.offset
    return float(offsets[-1]) if len(offsets) else 0.0


def told_within(
    created: NDArray[np.float64],
    offsets: NDArray[np.float64],
    own: float,
    expressions: Iterable[TimeExpression],
) -> NDArray[np.bool_]:
    """(n,) whether each memory was told in one of the times asked for, on the asker's clock or on
    its speaker's.  Cost: O(n m).

    created      (n,)  h  instants, in UTC
    offsets      (n,)  h  of the speakers' clocks from UTC
    own          ()    h  of the asker's clock
    expressions  (m,)     as the asker's clock shows them

    >>> day = TimeExpression("on the 2nd", 24.0, 48.0)
    >>> told_within(np.array([23.0, 24.0, 47.0, 48.0]), np.array([2.0, 0.0, 0.0, 0.0]), 0.0, [day]).tolist()
    [True, True, True, False]
    """
    inside = np.zeros(len(created), np.bool_)
    for expression in expressions:
        for told in (created + offsets, created + own):
            inside |= (expression.start <= told) & (told < expression.end)
    return inside
