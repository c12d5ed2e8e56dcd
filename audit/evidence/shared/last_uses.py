"""Evidence that mechanisms share which pass activation on from the memories used last in a
session: the reference in numpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....engine.contract.columns import Column
from ....engine.contract.records import Query
from ....engine.contract.vocabulary import MATCH
from ....engine.memory.engine import Engine

SOURCE = (
    "(activity release resources) W in numpy; the memories that the last use in the session needed share 2.5 sd besides their match; a session "
    "without a use, and no session, have the best matches alone"
)


def passed_on(
    memory: Engine,
    signal: Column,
    w: NDArray[np.float64],
    last: Mapping[str, Sequence[int]],
    archived: int | None,
    together: float,
    supply: Any,
) -> tuple[list[float], list[float]]:
    """A signal after a question in each of four sessions, and (activity supply) W of the two best
    matches and what was used last; -1 for none.

    w         (n, n)  weight from row to column
    last      rows of the last use of each session
    archived  row that passes nothing on; None: all do
    together  activity that the memories used last share, sd
    supply    (n,)    resources
    """
    measured, expected = list[float](), list[float]()
    for session in ("x", "y", "z", ""):
        memory.retrieve(Query("query", session=session))
        match = memory.column(MATCH).astype(float)
        used = [row for row in last.get(session, []) if row != archived]
        best = [row for row in np.argsort(-match, kind="stable") if row != archived][:2]
        active = np.where(np.isin(np.arange(len(w)), [*best, *used]), np.maximum(match, 0.0), 0.0)
        active[used] += together / max(len(used), 1)
        sent = active * supply
        measured += np.nan_to_num(memory.column(signal), nan=-1.0).tolist()
        expected += np.where((sent > 0.0) @ (w > 0.0), sent @ w, -1.0).tolist()
    return measured, expected
