"""Order of use: the latest rows that answers needed, the steps from one use in a session to the
next, and the last use as a cue for what follows.

A use is one feedback on an answer, `Engine.use`, or one `retrieve(..., learn=True)`.  Uses belong
to the session of their query; a query without a session belongs to none, and leaves and continues
no order.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..contract.columns import Phase
from ..contract.hooks import Cue
from ..contract.vocabulary import NOW, RECALLED, USED, USED_TIME
from ..flow.schedule import Node
from ..text.utf8 import encoded

TOGETHER = 3  # best rows of an answer that count as used together


def session_key(session: str) -> int:
    """A number for the name of an asker's session, the same in every process; -1 for none.

    >>> session_key(""), session_key("monday") == session_key("monday") != session_key("tuesday")
    (-1, True)
    """
    return crc32(encoded(session)) & 0x7FFFFFFF if session else -1


def last_use(used: Any, times: Any, key: int) -> tuple[NDArray[np.int64], float]:
    """The rows of the last use in a session, best first, and its time, h; no rows and NaN if the
    session has none.  Cost: O(USES_KEPT).

    used   (s, 3)  the column USED
    times  (s,)    the column USED_TIME
    key            of the session, see `session_key`; -1: no session

    >>> used = np.array([[4, 7, 2], [9, 8, 1], [3, 7, 0], [5, 7, 0]])
    >>> rows, time = last_use(used, np.array([6.0, 5.0, 2.0, 2.0]), 7)
    >>> rows.tolist(), time
    ([4], 6.0)
    """
    ours = (
        np.flatnonzero((used[:, 0] >= 0) & (used[:, 1] == key))
        if key >= 0
        else np.empty(0, dtype=np.int64)
    )
    if not ours.size:
        return np.empty(0, dtype=np.int64), float("nan")
    latest = ours[used[ours, 2] == used[ours[0], 2]]
    return used[latest, 0].astype(np.int64), float(times[latest[0]])


def used_last(cue: Cue, used: Any, times: Any, visible: Any) -> NDArray[np.int64]:
    """The visible rows that the last use in the session of the query needed, best first: what is
    active before the question is asked.

    used, times  USED.before and USED_TIME.before
    visible      (n,)  VISIBLE

    No rows for a query without a session, and before its first use.  Cost: O(USES_KEPT).
    """
    rows, _ = last_use(used, times, session_key(cue.query.session))
    return rows[np.asarray(visible, dtype=np.bool_)[rows]]


def step_of_use(
    cue: Cue, recalled: Any, used: Any, times: Any, now: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """The step from the last use in the session of the query to this one: rows before, rows now,
    each best first, and the lag, h.

    recalled, now  RECALLED, and the time of this use, h
    used, times    USED.before and USED_TIME.before

    Rows of both uses are left out of the rows before, so that every pair is of two rows.  No rows
    before, and a lag of NaN, without an earlier use in the session.
    """
    rows = recalled[:TOGETHER].astype(np.int64)
    before, time = last_use(used, times, session_key(cue.query.session))
    before = before[(before[:, None] != rows).all(axis=1)] if rows.size else before[:0]
    return before, rows, float(now) - time if before.size else float("nan")


def used_node() -> Node:
    """USED and USED_TIME: the best TOGETHER rows of this use in front of the earlier ones;
    unchanged without a session or a row.
    """

    def remember(view: Any, cue: Cue) -> None:
        key, rows = session_key(cue.query.session), view.recalled[:TOGETHER]
        if key >= 0 and rows.size:
            used, times, number = view.used, view.used_time, int(view.used[0, 2]) + 1
            used[len(rows) :], times[len(rows) :] = (
                used[: -len(rows)].copy(),
                times[: -len(rows)].copy(),
            )
            used[: len(rows)] = [(row, key, number) for row in rows.tolist()]
            times[: len(rows)] = view.now

    return Node(
        "engine", "remember", Phase.RETRIEVE, -1, (RECALLED, NOW), (), (USED, USED_TIME), remember
    )
