"""How near the curves of a memory come to those of people: root mean square differences, in units of
the noise ceiling.

The noise ceiling of a curve is the difference between two halves of the people, the mean over random
halves: at 1 a memory is as near as other people are.  A memory's score is the geometric mean over
recall by position, first recall and moves by lag, in all conditions; the other curves are shown beside
it.  Intervals resample the simulated people, each with all its seeds, and the people: those who were
counted, or, of the shipped curves, their standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..probes.harness.bands import SeedEstimate
from .effects import EffectSize, judged
from .free_recall import Counts, added, curves

Floats = NDArray[np.float64]
CORE: Final = ("position", "first", "lags")  # curves of the score
LEVEL: Final = 0.95
TAILS: Final = ((1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0)
RESAMPLES: Final = 400
SPLITS: Final = 100
Curves = Mapping[str, Floats]
Target = Mapping[str, Mapping[str, Any]]  # curve -> values, errors, ceiling


def rmsd(one: Floats, other: Floats) -> float:
    """Root mean square difference over the points that both have; NaN if there are none.

    >>> rmsd(np.array([0.0, 3.0, np.nan]), np.array([4.0, 3.0, 1.0])) == math.sqrt(8.0)
    True
    """
    difference = (np.asarray(one) - np.asarray(other))[np.isfinite(one) & np.isfinite(other)]
    return float(np.sqrt(np.mean(difference**2))) if difference.size else math.nan


def target_of(people: Sequence[Counts], seed: int = 0) -> dict[str, dict[str, Any]]:
    """Of each curve of people its values, their standard errors over people, and the noise ceiling.

    people  the counts of each, of one length
    """
    stream = np.random.default_rng(seed)
    values = curves(added(people))
    tops, bottoms = _stacked(people)
    drawn: dict[str, list[Floats]] = {name: [] for name in values}
    apart: dict[str, list[float]] = {name: [] for name in values}
    n = len(people)
    for _ in range(SPLITS):
        weights = _weights(n, stream)
        side = np.zeros(n)
        side[stream.permutation(n)[: n // 2]] = 1.0
        again, half, rest = (_of(tops, bottoms, w) for w in (weights, side, 1.0 - side))
        for name in values:
            drawn[name].append(again[name])
            apart[name].append(rmsd(half[name], rest[name]))
    return {
        name: {
            "values": values[name],
            "errors": np.ma.masked_invalid(drawn[name]).std(axis=0).filled(math.nan),
            "ceiling": float(np.ma.masked_invalid(apart[name]).mean() or 0.0),
        }
        for name in values
    }


def _stacked(people: Sequence[Counts]) -> tuple[dict[str, Floats], dict[str, Floats]]:
    names = people[0]
    return (
        {name: np.array([person[name][0] for person in people]) for name in names},
        {name: np.array([person[name][1] for person in people]) for name in names},
    )


def _of(tops: Mapping[str, Floats], bottoms: Mapping[str, Floats], weights: Floats) -> Curves:
    return curves({name: (weights @ tops[name], weights @ bottoms[name]) for name in tops})


def distances(mine: Curves, target: Target) -> dict[str, float]:
    """Of each curve its difference from people, in noise ceilings; NaN where people show none."""
    return {
        name: rmsd(mine[name], np.asarray(target[name]["values"], np.float64))
        / (float(target[name]["ceiling"]) or math.nan)
        for name in mine
    }


def geometric_mean(values: Sequence[float]) -> float:
    """exp of the mean logarithm; NaN if a value is none, 0 if one is 0.

    >>> geometric_mean([1.0, 4.0]), geometric_mean([0.0, 5.0])
    (2.0, 0.0)
    """
    if not values or any(math.isnan(value) for value in values):
        return math.nan
    return math.exp(sum(map(math.log, values)) / len(values)) if min(values) > 0.0 else 0.0


def score_of(by_condition: Mapping[str, Mapping[str, float]]) -> float:
    """The geometric mean over the curves of CORE and all conditions."""
    return geometric_mean([apart[name] for apart in by_condition.values() for name in CORE])


def interval_of(
    simulated: Mapping[str, Sequence[Counts]], targets: Mapping[str, Target], seed: int = 0
) -> tuple[SeedEstimate, Floats]:
    """The score with its interval `about` it, and the (RESAMPLES,) scores of the resamples.

    simulated  by condition, the counts of each simulated person over all seeds, people in one order
    targets    by condition

    The same number of people is resampled in the same way, so that the scores of two memories are
    paired.  Of one person there is no interval.
    """
    stream = np.random.default_rng(seed)
    whole = score_of(
        {
            condition: distances(curves(added(people)), targets[condition])
            for condition, people in simulated.items()
        }
    )
    n = len(next(iter(simulated.values())))
    if n < 2:
        return SeedEstimate(whole, math.nan, math.nan, n), np.full(RESAMPLES, math.nan)
    stacked = {condition: _stacked(people) for condition, people in simulated.items()}
    samples = np.empty(RESAMPLES)
    for number in range(RESAMPLES):
        weights = _weights(n, stream)
        apart = {
            condition: distances(
                _of(*stacked[condition], weights), _disturbed(targets[condition], stream)
            )
            for condition in simulated
        }
        samples[number] = score_of(apart)
    known = samples[np.isfinite(samples)]
    if not known.size:
        return SeedEstimate(math.nan, math.nan, math.nan, n), samples
    return SeedEstimate(whole, *about(whole, known), n), samples


def about(distance: float, samples: Floats) -> tuple[float, float]:
    """The interval of a distance: as wide as that of its resamples on the scale of logarithms, about
    the distance itself.  Curves that are resampled are noisier than the curve of all, on both sides,
    so that resampled distances are larger.

    >>> about(2.0, np.full(3, 5.0))
    (2.0, 2.0)
    """
    low, high = map(float, np.quantile(samples, TAILS))
    width = math.sqrt(high / low) if low > 0.0 else math.inf
    return distance / width, distance * width


def _disturbed(target: Target, stream: np.random.Generator) -> Target:
    """The target with values drawn by their standard errors."""
    return {
        name: {
            **curve,
            "values": stream.normal(
                np.asarray(curve["values"], np.float64), np.asarray(curve["errors"], np.float64)
            ),
        }
        for name, curve in target.items()
    }


def effects_of(
    simulated: Mapping[str, Sequence[Counts]], targets: Mapping[str, Target], seed: int = 0
) -> dict[str, EffectSize]:
    """The orders that people show, each a difference that is above 0 in people, and whether a memory
    shows them; an order that the data of people lack is left out.

    simulated  by condition, the counts of each simulated person over all seeds, people in one order
    targets    by condition

    primacy, recency  the first, or the last, word of a list is recalled more than its middle half
    contiguity        recall moves by one place more than by three
    forward           it moves forward by one place more than back
    intrusions        they come more from the list before than from those further back
    pauses            they grow with recall
    length            of the longest lists a smaller share is recalled than of the shortest
    """
    people = differences(
        {
            condition: {name: np.asarray(c["values"], np.float64) for name, c in target.items()}
            for condition, target in targets.items()
        }
    )
    mine = differences({condition: curves(added(own)) for condition, own in simulated.items()})
    n = len(next(iter(simulated.values())))
    stacked = {condition: _stacked(own) for condition, own in simulated.items()}
    stream = np.random.default_rng(seed)
    resampled = [
        differences({condition: _of(*own, weights) for condition, own in stacked.items()})
        for weights in (_weights(n, stream) for _ in range(RESAMPLES if n > 1 else 0))
    ]
    return {
        name: _judged(sign * mine[name], [sign * of[name] for of in resampled], n, abs(size))
        for name, size in people.items()
        if math.isfinite(size) and (sign := math.copysign(1.0, size))
    }


def _judged(mine: float, resampled: Sequence[float], n: int, people: float) -> EffectSize:
    """An effect with its verdict; the interval is NaN where a resample has no value."""
    low, high = np.quantile(resampled, TAILS) if resampled else (math.nan, math.nan)
    return judged(SeedEstimate(mine, float(low), float(high), n), people)


def _weights(n: int, stream: np.random.Generator) -> Floats:
    """How often each of n people is drawn in a resample."""
    return np.bincount(stream.integers(n, size=n), minlength=n).astype(np.float64)


def differences(by_condition: Mapping[str, Curves]) -> dict[str, float]:
    """The size of each order, the mean over the conditions that have it; NaN if none has.

    by_condition  from the shortest lists to the longest
    """
    shares = [float(np.mean(of["position"])) for of in by_condition.values()]
    sizes = {
        name: [size for of in by_condition.values() if math.isfinite(size := order(of))]
        for name, order in ORDERS.items()
    }
    by_length = shares[0] - shares[-1] if len(shares) > 1 else math.nan
    means = {name: float(np.mean(of)) if of else math.nan for name, of in sizes.items()}
    return means | {"length": by_length}


def _above(high: Floats, low: Floats) -> float:
    return float(np.mean(high)) - float(np.mean(low))


def _of_positions(curve: Floats, end: int) -> float:
    quarter = len(curve) // 4
    return _above(curve[end], curve[quarter : len(curve) - quarter])


def _of_ends(curve: Floats) -> float:
    known = curve[np.isfinite(curve)]
    return _above(known[-1], known[0]) if len(known) > 1 else math.nan


def _of_lags(curve: Floats, high: Sequence[int], low: Sequence[int]) -> float:
    """Moves by lag, -n to n without 0."""
    n = len(curve) // 2
    if n < max(map(abs, (*high, *low))):
        return math.nan
    places = [[lag + n - (lag > 0) for lag in lags] for lags in (high, low)]
    return _above(curve[places[0]], curve[places[1]])


ORDERS: Final[Mapping[str, Callable[[Curves], float]]] = {
    "primacy": lambda of: _of_positions(of["position"], 0),
    "recency": lambda of: _of_positions(of["position"], -1),
    "contiguity": lambda of: _of_lags(of["lags"], (-1, 1), (-3, 3)),
    "forward": lambda of: _of_lags(of["lags"], (1,), (-1,)),
    "intrusions": lambda of: _of_ends(of["intrusions"]),
    "pauses": lambda of: _of_ends(of["pauses"]),
}
