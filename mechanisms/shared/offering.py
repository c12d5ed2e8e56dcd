"""What sources of contexts share: how many tokens a memory will take, and scores on [0, 1]."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.context.selection import LONG
from ...engine.context.tokens import CHARACTERS

HEAD: Final = 32  # characters of row, date and speaker before a memory
# sources offer until they hold so many times the budget: one source may have to fill it alone, and
# memories may take less of it than is estimated
BEYOND: Final = 1.25
MOST: Final = 400  # memories that a source looks at
# tokens of the first level of best matches; each further one holds as many as all before it
FIRST: Final = 512.0


def sizes(texts: Any, rows: Any) -> NDArray[np.float64]:
    """Estimated tokens of some memories in a context: a quarter of the characters, at most that to
    which each may be condensed.

    texts   text of a row
    rows    (k,)

    >>> sizes(["a" * 68, "b" * 9000], [0, 1]).tolist()
    [25.0, 128.0]
    """
    lengths = np.array([len(texts[row]) for row in np.asarray(rows).tolist()], dtype=np.float64)
    return np.asarray(np.minimum((lengths + HEAD) / CHARACTERS, float(LONG)))


def within(tokens: Any, room: float) -> int:
    """How many of the first items have at most `room` tokens together.

    >>> within([10.0, 20.0, 5.0], 30.0), within([10.0], 9.0), within([], 9.0)
    (2, 0, 0)
    """
    return int(np.searchsorted(np.cumsum(np.asarray(tokens, dtype=np.float64)), room, side="right"))


def levels(tokens: Any) -> NDArray[np.int64]:
    """The level of each of some best matches, best first: 0 for those before which fewer than 512
    tokens stand, 1 for those before which fewer than 1,024 stand, and so on.  No budget changes it,
    so that a source that offers level by level offers in one order for all budgets.  O(k).

    tokens  (k,)

    >>> levels([300.0, 212.0, 500.0, 100.0, 900.0, 100.0]).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    before = np.cumsum(np.append(0.0, np.asarray(tokens, dtype=np.float64)))[:-1]
    return np.searchsorted(FIRST * 2.0 ** np.arange(64), before, side="right").astype(np.int64)


@kernel
def on_scale(scores: Any, among: Any, out: Any) -> None:
    """out = (s - min) / (max - min) over the items among which it is put on scale, 1 if these are
    equal; NaN of others and of NaN.  Cost: O(n).

    scores  (n,)
    among   (n,)  bool
    out     (n,)  written

    >>> out = np.empty(3)
    >>> on_scale(np.array([1.0, 5.0, 2.0]), np.array([True, False, True]), out)
    >>> out.tolist()
    [0.0, nan, 1.0]
    """
    low, high = np.inf, -np.inf
    for i in range(out.shape[0]):
        if among[i] and not np.isnan(scores[i]):
            low, high = min(low, scores[i]), max(high, scores[i])
    for i in range(out.shape[0]):
        out[i] = np.nan
        if among[i] and not np.isnan(scores[i]):
            out[i] = (scores[i] - low) / (high - low) if high > low else 1.0
