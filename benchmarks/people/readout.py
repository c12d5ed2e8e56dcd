"""The readout: how scores of a memory become recalls.  It is a part of the experiment, the same for
every memory, and a pure function of scores and a random stream.

Choice.  With z the standardised final scores of what was answered, the next recall is drawn by
Luce's rule, and stopping is one more alternative of a fixed strength:

    P(i) = exp(z_i / T) / (exp(theta / T) + sum_j exp(z_j / T))
    P(stop) = exp(theta / T) / (exp(theta / T) + sum_j exp(z_j / T))

over the candidates j, those that were not recalled yet.  So recall ends where the total support
sum_j exp(z_j / T) falls to the threshold exp(theta / T), with chance 1/2 at equality.  Howard &
Kahana (2002) use Luce's rule on activations; the temperature T and the threshold theta are the only
free numbers.

Pause.  Candidates that race with rates exp(z_j / T) give the same choice, and the first arrives
after 1 / sum_j exp(z_j / T) in the mean.

Fit.  With b = 1 / T and c = theta / T the log likelihood of choices that people made is concave in
(b, c), so its maximum is unique.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...engine.base.errors import DataError, InputError

Floats = NDArray[np.float64]
STOP: Final = -1  # a choice: nothing more is recalled
# of a fit: scores that say nothing about recalls have the highest temperature
COLDEST, HOTTEST, MOST = 0.02, 100.0, 50.0


@dataclass(frozen=True, slots=True)
class Readout:
    """The two free numbers.

    temperature  T, standard deviations of the final score; small: the best is recalled
    threshold    theta, standard deviations: strength of stopping
    """

    temperature: float
    threshold: float

    def __post_init__(self) -> None:
        if not (self.temperature > 0.0 and math.isfinite(self.temperature)):
            raise InputError(
                f"the temperature is {self.temperature}",
                where="readout",
                cure="give a number above 0",
            )
        if not math.isfinite(self.threshold):
            raise InputError(
                f"the threshold is {self.threshold}", where="readout", cure="give a finite number"
            )


class Choice(NamedTuple):
    """What a person did at one point of recall.

    support  (n,) standardised scores of the candidates
    chosen   place of the recalled one, or STOP
    trial    number of the list; 0: of none
    """

    support: Floats
    chosen: int
    trial: int = 0


def chances(support: Floats, readout: Readout) -> Floats:
    """(n + 1,) probability of recalling each candidate, and last of stopping.

    >>> chances(np.array([1.0, 0.0]), Readout(1.0 / math.log(2.0), 0.0)).round(3).tolist()
    [0.5, 0.25, 0.25]
    """
    strength = np.append(support, readout.threshold) / readout.temperature
    weights = np.exp(strength - strength.max())
    shares: Floats = weights / weights.sum()
    return shares


def drawn(probabilities: Floats, stream: np.random.Generator) -> int:
    """A candidate's place by its probability, or STOP; one number of the stream."""
    place = int(np.searchsorted(np.cumsum(probabilities)[:-1], stream.random(), side="right"))
    return STOP if place == len(probabilities) - 1 else place


def pause(support: Floats, readout: Readout) -> float:
    """Mean time to the first of racing candidates, 1 / sum_j exp(z_j / T), in units of a candidate
    at the mean.

    >>> round(pause(np.array([0.0, 0.0]), Readout(0.5, 0.0)), 6)
    0.5
    """
    strength = support / readout.temperature
    top = float(strength.max())
    return float(np.exp(-top) / np.exp(strength - top).sum())


def log_likelihood(choices: Sequence[Choice], readout: Readout) -> float:
    """Log likelihood of choices, a choice; NaN without any."""
    if not choices:
        return math.nan
    logs = [
        math.log(max(float(chances(c.support, readout)[c.chosen]), 1e-300)) for c in choices
    ]  # STOP is the last place
    return float(np.mean(logs))


def fitted(choices: Sequence[Choice]) -> Readout:
    """The readout of the greatest likelihood of choices.  Raises DataError without choices."""
    from scipy.optimize import minimize

    if not choices:
        raise DataError(
            "no choice of people can be followed",
            where="readout",
            cure="give trials with recalls, and a memory that stores the words",
        )
    most = max(len(choice.support) for choice in choices)
    support = np.full((len(choices), most), -np.inf)
    for row, choice in zip(support, choices, strict=True):
        row[: len(choice.support)] = choice.support
    stops = np.array([choice.chosen == STOP for choice in choices])
    taken = np.array([0.0 if c.chosen == STOP else c.support[c.chosen] for c in choices])
    zeroed = np.where(np.isfinite(support), support, 0.0)

    def loss(free: Floats) -> tuple[float, Floats]:
        b, c = free
        strength = np.where(np.isfinite(support), b * zeroed, -np.inf)
        top = np.maximum(strength.max(axis=1, initial=-np.inf), c)
        weights = np.exp(strength - top[:, None])
        stop = np.exp(c - top)
        total = weights.sum(axis=1) + stop
        value = b * taken + c * stops - top - np.log(total)
        by_b = taken - (weights * zeroed).sum(axis=1) / total
        by_c = stops - stop / total
        return -float(value.mean()), -np.array([by_b.mean(), by_c.mean()])

    best = minimize(
        loss,
        np.array([1.0, 1.0]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(1.0 / HOTTEST, 1.0 / COLDEST), (-MOST, MOST)],
        options={"ftol": 1e-12, "gtol": 1e-8},
    )
    b, c = map(float, best.x)
    return Readout(1.0 / b, c / b)
