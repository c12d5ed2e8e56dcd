"""Stages of a talk, by the row of their first event."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def stages_of(kind: Any, stage: Any, session: Any) -> NDArray[np.int64]:
    """Row of the first event of the stage that each row belongs to, (n,): what STAGE says, else the
    first event of its session; -1 for none.

    kind, stage, session  (n,)  the columns KIND, STAGE and SESSION

    Events without a session are of one stage; a made row without a session has none.  Cost: O(n log
    n), 1 ms at 20k rows.

    >>> stages_of(np.array([0, 0, 3, 0, 0]), np.array([-1, 1, 1, 1, -1]), np.array([7, 7, -1, 8, 7])).tolist()
    [0, 1, 1, 1, 0]
    """
    stages = np.array(stage, dtype=np.int64)
    session, without = np.asarray(session), stages < 0
    events = np.flatnonzero(without & (np.asarray(kind) == 0))
    if not events.size:
        return stages
    numbers, first = np.unique(session[events], return_index=True)
    rows = np.flatnonzero(without & ((np.asarray(kind) == 0) | (session >= 0)))
    place = np.minimum(np.searchsorted(numbers, session[rows]), numbers.size - 1)
    stages[rows] = np.where(numbers[place] == session[rows], events[first[place]], -1)
    return stages
