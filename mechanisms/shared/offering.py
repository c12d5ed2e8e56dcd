"""What sources of contexts share: how many tokens a memory will take, and scores on [0, 1]."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.context.selection import cap_of
from ...engine.context.tokens import CHARACTERS
from ...engine.state.ranking import best

HEAD: Final = 32  # characters of row, date and speaker before a memory
# sources offer until they hold so many times their share, so that what is left over can be spent
BEYOND: Final = 2.0
MOST: Final = 400  # memories that a source looks at


def sizes(texts: Any, rows: Any, budget: int) -> NDArray[np.float64]:
    """Estimated tokens of some memories in a context: a quarter of the characters, at most that to
    which it is condensed.

    texts   text of a row
    rows    (k,)
    budget  tokens of the context

    >>> sizes(["a" * 68, "b" * 9000], [0, 1], 800).tolist()
    [25.0, 128.0]
    """
    lengths = np.array([len(texts[row]) for row in np.asarray(rows).tolist()], dtype=np.float64)
    return np.asarray(np.minimum((lengths + HEAD) / CHARACTERS, float(cap_of(budget))))


def within(tokens: Any, room: float) -> int:
    """How many of the first items have at most `room` tokens together.

    >>> within([10.0, 20.0, 5.0], 30.0), within([10.0], 9.0), within([], 9.0)
    (2, 0, 0)
    """
    return int(np.searchsorted(np.cumsum(np.asarray(tokens, dtype=np.float64)), room, side="right"))


def near(scores: Any, among: Any, texts: Any, budget: int) -> NDArray[np.bool_]:
    """Which memories are the best matches that fill a context alone, (n,), and the next one.  A
    source spends its share on these.  O(n).

    scores  (n,)  NaN: none
    among   (n,)  bool

    >>> near(np.array([0.1, 0.9, 0.5, 0.3]), np.ones(4, dtype=np.bool_), ["a" * 168] * 4, 100).tolist()
    [False, True, True, True]
    """
    rows = best(scores, among, MOST)
    found = np.zeros(len(scores), dtype=np.bool_)
    found[rows[: within(sizes(texts, rows, budget), float(budget)) + 1]] = True
    return found


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
