"""From tests of memories to a verdict: the two numbers of the readout, the distance from the printed
numbers, and the effects.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..probes.harness.bands import COLDEST, HOTTEST, SeedEstimate, estimate
from .effects import EffectSize, judged
from .paradigms.contract import BEYOND, Effect, Paradigm, Printed, ReadoutKind, Recalled, Tests
from .readout import Readout
from .scores import about

Floats = NDArray[np.float64]
NUMBERS: Final = 2  # of a readout
FURTHEST = 10.0  # what the threshold of a readout may be, standard deviations
UNFITTED: Final = 1.0  # temperature where no number of people is known
RESAMPLES: Final = 400


@dataclass(frozen=True, slots=True)
class Timing:
    """The two numbers of a time: intercept and factor, s."""

    intercept: float
    factor: float


class Supports:
    """The tests of one point in arrays, so that a readout is applied at once.

    subjects  tests of each simulated person
    """

    def __init__(self, subjects: Sequence[Sequence[Recalled]], kind: ReadoutKind) -> None:
        tests = [test for own in subjects for test in own]
        widest = max((len(test.support) for test in tests), default=0)
        self._kind = kind
        self._support = np.full((len(tests), widest), -np.inf)
        own_of = [number for number, own in enumerate(subjects) for _ in own]
        places, mask, subject = list[int](), list[Floats](), list[int]()
        for row, test in enumerate(tests):
            self._support[row, : len(test.support)] = test.support
            for word in test.words if kind is ReadoutKind.FREE else [sum(test.words, ())]:
                right = np.full(widest, -np.inf)
                for place in word if len(test.support) else ():
                    # a memory that is no candidate has at most the least support
                    at = int(test.support.argmin()) if place == BEYOND else place
                    right[at] = test.support[at]
                places.append(row)
                mask.append(right)
                subject.append(own_of[row])
        self._row, self._subject = np.array(places, np.int64), np.array(subject, np.int64)
        self._right = np.array(mask).reshape(len(places), widest)
        self._count = np.bincount(self._subject, minlength=len(subjects))
        self._subjects = len(subjects)

    def by_subject(self, numbers: Readout | Timing) -> Floats:
        """(subjects,) mean over what is tested of a probability, or of a time; NaN without a test."""
        total = np.bincount(self._subject, self._each(numbers), minlength=self._subjects)
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Floats = total / self._count
        return means

    def _each(self, numbers: Readout | Timing) -> Floats:
        if isinstance(numbers, Timing):
            return numbers.intercept + numbers.factor * self.slowness()
        t, theta = numbers.temperature, numbers.threshold
        with np.errstate(over="ignore"):
            right = np.exp(self._right / t).sum(axis=1)
            stop = math.exp(min(theta / t, 700.0))
            if self._kind is ReadoutKind.FREE:
                shares: Floats = right / (right + stop)
                return shares
            whole = np.exp(self._support / t).sum(axis=1)[self._row]
        chosen: Floats = right / (whole + stop)
        return chosen

    def slowness(self) -> Floats:
        """exp(-z) of the best right memory of each test, of the least candidate if none is right; NaN
        where nothing was answered.
        """
        best = self._right.max(axis=1, initial=-np.inf)
        least = self._support.min(axis=1, initial=np.inf, where=np.isfinite(self._support))
        least[np.isinf(least)] = math.nan
        slow: Floats = np.exp(-np.where(np.isfinite(best), best, least[self._row]))
        return slow

    def mean_slowness(self) -> float:
        return float(self.slowness().mean()) if len(self._row) else math.nan


@dataclass(frozen=True, slots=True)
class PrintedOutcome:
    """What a memory showed in a paradigm.

    numbers   of the readout
    fitted    whether they were fitted to the printed numbers
    values    point -> mean over simulated people, with its interval
    distance  from people, in noise ceilings; NaN if as few numbers are printed as are fitted
    effects   name -> size and verdict
    by_person point -> (people,) value of each simulated person
    samples   (RESAMPLES,) distances of resampled people, in one order for every memory
    """

    numbers: Readout | Timing
    fitted: bool
    values: Mapping[str, SeedEstimate]
    distance: SeedEstimate
    effects: Mapping[str, EffectSize]
    by_person: Mapping[str, Floats]
    samples: Floats


def measured(paradigm: Paradigm, subjects: Sequence[Tests]) -> PrintedOutcome:
    """Judge the tests of simulated people, in one order for every memory."""
    supports = {
        point: Supports([own.get(point, ()) for own in subjects], paradigm.kind)
        for point in paradigm.points
    }
    numbers = fitted(paradigm, supports)
    values = {point: tests.by_subject(numbers) for point, tests in supports.items()}
    effects = {
        effect.name: judged(_size(effect, values), paradigm.size_of(effect))
        for effect in paradigm.effects
    }
    distance, samples = _distance(values, paradigm.printed)
    return PrintedOutcome(
        numbers,
        bool(paradigm.printed),
        {point: estimate(shares) for point, shares in values.items()},
        distance,
        effects,
        values,
        samples,
    )


def fitted(paradigm: Paradigm, supports: Mapping[str, Supports]) -> Readout | Timing:
    """The numbers of the least squares to what is printed, each weighted by its standard error.

    Without printed numbers the temperature is 1, and the threshold that at which the mean over
    points is nearest to 1/2.
    """
    from scipy.optimize import minimize

    printed = paradigm.printed
    if paradigm.kind is ReadoutKind.TIME:
        return _timing(printed, supports)

    def loss(free: Floats) -> float:
        readout = Readout(math.exp(free[0]), float(free[1]))
        means = {point: _mean(supports[point].by_subject(readout)) for point in supports}
        if not printed:
            return (float(np.mean(list(means.values()))) - 0.5) ** 2
        return sum(((means[p] - of.value) / of.error) ** 2 for p, of in printed.items())

    low, high = math.log(COLDEST), math.log(HOTTEST)
    thresholds = np.linspace(-4.0, 6.0, 11)
    temperatures = np.linspace(low, high, 7) if printed else [math.log(UNFITTED)]
    start = min(
        (np.array([t, theta]) for t in temperatures for theta in thresholds),
        key=lambda free: _known(loss(free)),
    )
    bounds = [(low, high), (-FURTHEST, FURTHEST)]
    if not printed:
        bounds[0] = (math.log(UNFITTED), math.log(UNFITTED))
    best = minimize(loss, start, method="Nelder-Mead", bounds=bounds, options={"maxiter": 200})
    free = best.x if _known(best.fun) <= _known(loss(start)) else start
    return Readout(math.exp(float(free[0])), float(free[1]))


def _known(value: float) -> float:
    return value if math.isfinite(value) else math.inf


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else math.nan


def _timing(printed: Mapping[str, Printed], supports: Mapping[str, Supports]) -> Timing:
    """Intercept and factor by weighted least squares; no factor below 0."""
    x = np.array([supports[point].mean_slowness() for point in printed])
    y = np.array([number.value for number in printed.values()])
    w = np.array([number.error**-2 for number in printed.values()])
    known = np.isfinite(x)
    if not known.any():
        return Timing(float(np.average(y, weights=w)), 0.0)
    x, y, w = x[known], y[known], w[known]
    centre, level = np.average(x, weights=w), np.average(y, weights=w)
    spread = float(np.sum(w * (x - centre) ** 2))
    factor = max(0.0, float(np.sum(w * (x - centre) * (y - level))) / spread) if spread else 0.0
    return Timing(float(level - factor * centre), factor)


def _size(effect: Effect, values: Mapping[str, Floats]) -> SeedEstimate:
    return estimate(np.sum([w * values[point] for point, w in effect.weights.items()], axis=0))


def _distance(
    values: Mapping[str, Floats], printed: Mapping[str, Printed]
) -> tuple[SeedEstimate, Floats]:
    """RMSD from what is printed, divided by that of two halves of people, twice the root mean
    square of standard errors.  The readout is kept where people are resampled.
    """
    nothing = np.full(RESAMPLES, math.nan)
    n = len(next(iter(values.values())))
    if len(printed) <= NUMBERS:
        return SeedEstimate(math.nan, math.nan, math.nan, n), nothing
    mine = np.array([values[point] for point in printed])
    people = np.array([number.value for number in printed.values()])
    errors = np.array([number.error for number in printed.values()])
    ceiling = 2.0 * float(np.sqrt(np.mean(errors**2)))
    whole = float(np.sqrt(np.mean((mine.mean(axis=1) - people) ** 2))) / ceiling
    stream = np.random.default_rng(0)
    drawn = stream.integers(n, size=(RESAMPLES, n))
    others = stream.normal(people, errors, size=(RESAMPLES, len(people)))
    apart = mine[:, drawn].mean(axis=2).T - others
    samples: Floats = np.sqrt(np.mean(apart**2, axis=1)) / ceiling
    if n < 2 or not np.isfinite(samples).all():
        return SeedEstimate(whole, math.nan, math.nan, n), samples
    return SeedEstimate(whole, *about(whole, samples), n), samples


def plain(tests: Tests, digits: int) -> dict[str, Any]:
    """Tests for JSON."""
    return {
        point: [[np.round(t.support, digits).tolist(), t.words] for t in own]
        for point, own in tests.items()
    }


def read(plain_tests: Mapping[str, Any]) -> dict[str, list[Recalled]]:
    """Tests as `plain` wrote them."""
    return {
        point: [
            Recalled(np.array(support, np.float64), tuple(map(tuple, words)))
            for support, words in own
        ]
        for point, own in plain_tests.items()
    }
