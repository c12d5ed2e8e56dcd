"""How many conversations an undecided comparison would have needed."""

from __future__ import annotations

import math
from typing import Final

from scipy import special

from ...engine.base.errors import InputError

POWER: Final = 0.8
MOST: Final = 1000  # further conversations that are counted


def power(effect: float, sd: float, n: int, alpha: float = 0.05) -> float:
    """Power of the two-sided one-sample t-test of n conversations whose means have the standard
    deviation sd.

    1 - F(t) + F(-t), F of the noncentral t with n - 1 degrees of freedom and noncentrality |effect|
    sqrt(n) / sd, t the quantile of 1 - alpha / 2. Cohen (1988), *Statistical Power Analysis for the
    Behavioral Sciences*, ch. 2.

    >>> round(power(0.5, 1.0, 34), 3)
    0.808
    """
    if n < 2 or not sd > 0.0:
        raise InputError(
            f"{n} conversations with a standard deviation of {sd} have no power",
            cure="give 2 or more, and a positive deviation",
        )
    edge, shift = float(special.stdtrit(n - 1, 1.0 - alpha / 2.0)), abs(effect) * math.sqrt(n) / sd
    return min(
        1.0, float(1.0 - special.nctdtr(n - 1, shift, edge) + special.nctdtr(n - 1, shift, -edge))
    )


def more_conversations(se: float | None, n: int, margin: float, alpha: float = 0.05) -> int | None:
    """Further conversations like these until an effect as large as the margin has a power of 80%;
    MOST + 1 if it is more than MOST.

    se  standard error of the mean difference over n conversations; se sqrt(n) is then the deviation
        of their means
    Returns 0 if n are enough, None without a spread to judge by.  About 11 evaluations of `power`.

    >>> more_conversations(0.002, 10, 0.005), more_conversations(0.1, 10, 0.005), more_conversations(None, 1, 0.005)
    (5, 1001, None)
    """
    if not margin > 0.0:
        raise InputError(
            f"the margin of equivalence is {margin}", cure="give a positive margin, such as 0.005"
        )
    if not se or n < 2:
        return None
    sd, low, high = se * math.sqrt(n), n, n + MOST
    if power(margin, sd, low, alpha) >= POWER:
        return 0
    if power(margin, sd, high, alpha) < POWER:
        return MOST + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(margin, sd, middle, alpha) >= POWER else (middle, high)
    return high - n


def more_words(more: int | None, clusters: str = "conversations") -> str:
    """
    >>> more_words(12), more_words(1), more_words(1001), more_words(0), more_words(1, "seeds")
    ('about 12 more conversations', 'about 1 more conversation', 'more than 1,000 more conversations', '', 'about 1 more seed')
    """
    if not more:
        return ""
    return (
        f"more than {MOST:,} more {clusters}"
        if more > MOST
        else f"about {more:,} more {clusters if more > 1 else clusters.removesuffix('s')}"
    )
