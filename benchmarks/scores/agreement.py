"""Accuracies as many papers print them.  Everything here treats questions as independent; the
clustered tests stand beside it.

Questions of one conversation share its memory, so these intervals are too narrow and these p-values
too small if conversations differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from ...engine.base.errors import InputError

LABEL: Final = "treats questions as independent"


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share of n questions with its Wilson interval."""

    share: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class McNemar:
    """A paired comparison of two accuracies.

    first_only, second_only  questions that only the first, and only the second run answered rightly
    p                        two-sided and exact
    """

    first_only: int
    second_only: int
    p: float


@dataclass(frozen=True, slots=True)
class ChiSquared:
    """An unpaired comparison of two accuracies, without correction for continuity; p is None if
    both are 0 or both 1.
    """

    statistic: float
    p: float | None


def wilson(successes: int, n: int, level: float = 0.95) -> Proportion:
    """Wilson's score interval of a share.

    (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n).  Wilson (1927),
    doi:10.1080/01621459.1927.10502953. Raises InputError for no questions, or more successes than
    questions.

    >>> interval = wilson(8, 10)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.4902, 0.9433)
    """
    if not 0 <= successes <= n or n < 1:
        raise InputError(
            f"{successes} of {n} questions cannot be right",
            cure="count among at least one question",
        )
    p, z = successes / n, NormalDist().inv_cdf(0.5 + level / 2.0)
    half = z * math.sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n))
    scale = 1.0 + z * z / n
    # exactly, not up to rounding
    low = (p + z * z / (2.0 * n) - half) / scale if successes else 0.0
    return Proportion(p, low, (p + z * z / (2.0 * n) + half) / scale if successes < n else 1.0, n)


def mcnemar(first_only: int, second_only: int) -> McNemar:
    """McNemar's test, exact: how often a fair coin divides the discordant questions at least as
    unevenly.  O(questions).

    McNemar (1947), doi:10.1007/BF02295996.  Raises InputError for a negative count.

    >>> round(mcnemar(2, 9).p, 4), mcnemar(0, 0).p
    (0.0654, 1.0)
    """
    if min(first_only, second_only) < 0:
        raise InputError(
            f"{first_only} and {second_only} are no counts of questions",
            cure="count questions that only one run answered rightly",
        )
    n, fewer = first_only + second_only, min(first_only, second_only)
    # whole numbers divide without overflow
    p = min(1.0, 2 * sum(math.comb(n, i) for i in range(fewer + 1)) / 2**n)
    return McNemar(first_only, second_only, p)


def chi_squared(first: int, second: int, n: int) -> ChiSquared:
    """Pearson's test of two shares of n questions each, as if they were other questions.

    first, second  questions that were answered rightly

    >>> test = chi_squared(90, 70, 100)
    >>> test.statistic, round(test.p, 6)
    (12.5, 0.000407)
    """
    if not 0 <= min(first, second) <= max(first, second) <= n or n < 1:
        raise InputError(
            f"{first} and {second} of {n} questions cannot be right",
            cure="count among at least one question",
        )
    right = first + second
    if right in (0, 2 * n):
        return ChiSquared(0.0, None)
    statistic = 2.0 * n * (first - second) ** 2 / (right * (2 * n - right))
    return ChiSquared(statistic, math.erfc(math.sqrt(statistic / 2.0)))
