"""How well probabilities fit frequencies: reliability over bins, expected calibration error, and
risk at each coverage.

Reliability diagram: DeGroot & Fienberg (1983), doi:10.2307/2987588.  Expected calibration error
over bins of equal width: Naeini, Cooper & Hauskrecht (2015), doi:10.1609/aaai.v29i1.9602.  Risk and
coverage: El-Yaniv & Wiener (2010), JMLR 11, 1605-1641.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...engine.base.errors import InputError

BINS: Final = 10
COVERAGES: Final = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)


@dataclass(frozen=True, slots=True)
class Bin:
    """Examples whose probability is in [low, high); the last bin includes 1.

    n           of them
    confidence  their mean probability; None for no example
    frequency   share of positive ones; None for no example
    """

    low: float
    high: float
    n: int
    confidence: float | None
    frequency: float | None


@dataclass(frozen=True, slots=True)
class Answered:
    """If only the examples of the highest probability are answered.

    coverage   share of examples that are answered; equal probabilities are answered together
    risk       share of negative ones among them
    threshold  the lowest probability among them
    """

    coverage: float
    risk: float
    threshold: float


def reliability(p: ArrayLike, positive: ArrayLike, bins: int = BINS) -> tuple[Bin, ...]:
    """Examples by probability, in bins of equal width.  O(m).  Raises InputError for no examples,
    other shapes, and probabilities outside [0, 1].

    p         (m,)       probabilities
    positive  (m,) bool
    """
    probabilities, y = _checked(p, positive)
    place = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    made = []
    for i in range(bins):
        inside = place == i
        n = int(np.count_nonzero(inside))
        made.append(
            Bin(
                i / bins,
                (i + 1) / bins,
                n,
                float(probabilities[inside].mean()) if n else None,
                float(y[inside].mean()) if n else None,
            )
        )
    return tuple(made)


def expected_calibration_error(bins: Sequence[Bin]) -> float:
    """sum_b n_b / m |frequency_b - confidence_b|.

    >>> round(expected_calibration_error(reliability([0.9, 0.9, 0.1, 0.3], [True, False, False, False])), 6)
    0.3
    """
    total = sum(b.n for b in bins)
    return (
        fsum(
            b.n * abs(b.frequency - b.confidence)
            for b in bins
            if b.frequency is not None and b.confidence is not None
        )
        / total
    )


def risk_coverage(
    p: ArrayLike, positive: ArrayLike, coverages: Sequence[float] = COVERAGES
) -> tuple[Answered, ...]:
    """The risk at each coverage, or at the next larger one that equal probabilities allow.  O(m log
    m).  Raises as `reliability`.

    >>> [(a.coverage, a.risk, a.threshold) for a in risk_coverage([0.9, 0.8, 0.5, 0.5], [True, True, True, False], (1.0, 0.6, 0.5))]
    [(1.0, 0.25, 0.5), (1.0, 0.25, 0.5), (0.5, 0.0, 0.8)]
    """
    probabilities, y = _checked(p, positive)
    order = np.argsort(-probabilities, kind="stable")
    probabilities, y = probabilities[order], y[order]
    made = []
    for coverage in coverages:
        n = max(1, int(np.ceil(coverage * len(probabilities) - 1e-9)))
        n = int(np.count_nonzero(probabilities >= probabilities[n - 1]))
        made.append(
            Answered(n / len(probabilities), float(1.0 - y[:n].mean()), float(probabilities[n - 1]))
        )
    return tuple(made)


def _checked(p: ArrayLike, positive: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    probabilities, y = np.asarray(p, dtype=np.float64), np.asarray(positive, dtype=np.bool_)
    if (
        probabilities.ndim != 1
        or probabilities.shape != y.shape
        or not len(probabilities)
        or not ((probabilities >= 0.0) & (probabilities <= 1.0)).all()
    ):
        raise InputError(
            f"probabilities of shape {probabilities.shape} and labels of shape {y.shape} cannot be compared",
            cure="give one probability in [0, 1] and one label per example, at least one of each",
        )
    return probabilities, y
