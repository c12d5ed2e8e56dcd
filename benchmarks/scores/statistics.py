"""Statistics for paired comparisons on clustered questions.

Questions of one conversation share its memory, so they are not independent; everything here
resamples or flips whole conversations ("clusters").  Below, n is the number of questions and c the
number of clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...engine.base.errors import InputError
from .clusters import ClusterIds, Floats, by_cluster

ENOUGH: Final = 8  # clusters from which on an interval is corrected for bias and acceleration
BCA, PERCENTILE = "BCa", "percentile"
_BLOCK = 1 << 20  # random draws held at a time; bounds memory to some tens of MB
_KEPT = 1 << 24  # numbers of draws that are kept for further comparisons on as many clusters
# totals closer than this share of the largest possible total are equal up to rounding
_TIE = 1e-10


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over questions with its interval; `low` and `high` are None for a single cluster,
    which has no spread.

    method  "BCa" or "percentile"; "" without an interval
    """

    mean: float
    low: float | None
    high: float | None
    level: float
    n_clusters: int
    n_resamples: int
    method: str = ""


@dataclass(frozen=True, slots=True)
class SignFlip:
    """Outcome of the sign-flip test.

    p           two-sided p-value
    smallest_p  the smallest p-value this design can give
    n_clusters  clusters in all; `n_informative` of them have a difference that is not zero
    n_flips     sign patterns evaluated or covered; `exact` if they are all of them
    """

    p: float
    smallest_p: float
    n_clusters: int
    n_informative: int
    n_flips: int
    exact: bool


def clustered_bootstrap(
    values: ArrayLike,
    cluster_ids: ClusterIds,
    n_resamples: int = 10_000,
    *,
    seed: int,
    level: float = 0.95,
) -> Interval:
    """Interval of the mean over questions, resampling clusters with replacement.

    values       (n,) a metric, or the paired difference of a metric, per question
    cluster_ids  (n,) the conversation of each question
    level        share of the bootstrap distribution inside the interval

    Each resample is a ratio of sums (sum of values over number of questions), so a longer
    conversation weighs more, as it does in the mean itself.  With 8 clusters or more the interval
    is `bca`, with fewer the percentile interval, as `Interval.method` says.  With few clusters
    (fewer than about 30) both are too narrow: the interval of record is that of
    `cluster_robust.cluster_t`. Resamples are the same for equal seeds and numbers of clusters.
    Cost: O(n + n_resamples * c).  The order of the questions does not matter, up to rounding.

    Efron & Tibshirani (1993), *An Introduction to the Bootstrap*, ch. 13 and 14; Field & Welsh
    (2007), Bootstrapping clustered data, doi:10.1111/j.1467-9868.2007.00593.x; on few clusters
    Cameron, Gelbach & Miller (2008), doi:10.1162/rest.90.3.414.

    >>> clustered_bootstrap([0.5, 0.5, 0.5], ["a", "a", "b"], 100, seed=1).low
    0.5
    """
    if not 0.0 < level < 1.0 or n_resamples < 1:
        raise InputError(
            f"level must lie between 0 and 1 and n_resamples be positive; got {level} and {n_resamples}",
            cure="give a level such as 0.95, and 10,000 resamples",
        )
    clusters = by_cluster(values, cluster_ids)
    sums, counts = clusters.sums, clusters.counts
    c, mean = len(sums), float(sums.sum() / counts.sum())
    if c == 1:
        return Interval(mean, None, None, level, 1, n_resamples)
    if np.ptp(clusters.values) == 0.0:  # every resample has this mean
        return Interval(
            mean,
            float(clusters.values[0]),
            float(clusters.values[0]),
            level,
            c,
            n_resamples,
            PERCENTILE,
        )
    means = _means(sums, counts, n_resamples, seed)
    if c >= ENOUGH and (
        corrected := bca(means, mean, (sums.sum() - sums) / (counts.sum() - counts), level)
    ):
        return Interval(mean, *corrected, level, c, n_resamples, BCA)
    low, high = np.quantile(means, ((1.0 - level) / 2.0, (1.0 + level) / 2.0))
    return Interval(mean, float(low), float(high), level, c, n_resamples, PERCENTILE)


def bca(
    resampled: ArrayLike, estimate: float, jackknife: ArrayLike, level: float = 0.95
) -> tuple[float, float] | None:
    """The interval of a bootstrap distribution, corrected for bias and acceleration; None where it
    is not defined.

    resampled  (b,) estimates of the resamples
    estimate   ()   of the data
    jackknife  (c,) estimates without each cluster

    With z0 = Phi^-1(share of resamples below the estimate, ties counted half) and the acceleration
    a = sum (m - j_i)^3 / (6 (sum (m - j_i)^2)^1.5), m the mean of the jackknife, the ends are the
    quantiles Phi(z0 + (z0 + z) / (1 - a (z0 + z))) at z = +-Phi^-1((1 + level) / 2).  Not defined
    if all jackknife values are equal, or if all resamples lie on one side of the estimate.  Cost:
    O(b log b).  Efron (1987), Better bootstrap confidence intervals,
    doi:10.1080/01621459.1987.10478410.

    >>> low, high = bca([0.1, 0.2, 0.3, 0.4], 0.25, [0.2, 0.3], 0.5)
    >>> round(low, 3), round(high, 3)
    (0.175, 0.325)
    """
    draws, left_out, normal = (
        np.asarray(resampled, dtype=np.float64),
        np.asarray(jackknife, dtype=np.float64),
        NormalDist(),
    )
    away = left_out.mean() - left_out
    below = (np.count_nonzero(draws < estimate) + np.count_nonzero(draws <= estimate)) / (
        2.0 * len(draws)
    )
    if not 0.0 < below < 1.0 or np.abs(away).max() <= _TIE * max(
        np.abs(left_out).max(), np.finfo(np.float64).tiny
    ):
        return None
    z0, acceleration = (
        normal.inv_cdf(below),
        float((away**3).sum() / (6.0 * (away**2).sum() ** 1.5)),
    )
    ends = []
    for share in ((1.0 - level) / 2.0, (1.0 + level) / 2.0):
        z = z0 + normal.inv_cdf(share)
        ends.append(normal.cdf(z0 + z / (1.0 - acceleration * z)))
    low, high = np.quantile(draws, ends)
    return float(low), float(high)


def sign_flip(
    differences: ArrayLike, cluster_ids: ClusterIds, *, seed: int, n: int = 10_000
) -> SignFlip:
    """Two-sided p-value of a mean paired difference, flipping the sign of whole clusters.

    differences  (n_questions,) paired differences
    n            largest number of sign patterns to evaluate

    If the two arms are exchangeable, both signs of a cluster's total difference are equally likely.
    p is the share of sign patterns whose |total| is at least the observed one.  All patterns are
    enumerated when there are at most n; otherwise n are drawn and p = (1 + extreme) / (n + 1).
    Clusters whose total is zero have no sign to flip and are left out of the patterns, which
    changes no p-value.  All differences zero: p = 1.  Cost: O(questions + min(2^c, n c)).

    Fisher (1935), *The Design of Experiments*, sec. 21; for clusters Canay, Romano & Shaikh (2017),
    doi:10.3982/ECTA13081; in retrieval Smucker, Allan & Carterette (2007),
    doi:10.1145/1321440.1321528; the +1 is Phipson & Smyth (2010), doi:10.2202/1544-6115.1585.

    >>> sign_flip([0.1, 0.2, 0.1, 0.3], [1, 2, 3, 4], seed=1).p
    0.125
    """
    if n < 1:
        raise InputError(
            f"the sign-flip test needs at least one pattern; got n = {n}",
            cure="give n = 10,000, or any whole number from 1",
        )
    clusters = by_cluster(differences, cluster_ids)
    totals, c, scale = clusters.sums, len(clusters.sums), float(np.abs(clusters.values).sum())
    flippable = totals[np.abs(totals) > _TIE * scale]
    k, smallest = len(flippable), smallest_p(c, n)
    if k == 0:
        return SignFlip(1.0, smallest, c, 0, 1, True)
    bar = abs(float(flippable.sum())) - _TIE * scale
    if k <= _enumerable(n):
        # |total| is the same with all signs turned, so the first sign stays
        patterns = flippable[:1]
        for total in flippable[1:]:
            patterns = np.concatenate((patterns + total, patterns - total))
        return SignFlip(float(np.mean(np.abs(patterns) >= bar)), smallest, c, k, 1 << k, True)
    drawn = _kept_signs(k, n, seed) if n * k <= _KEPT else _signs(k, n, seed)
    extreme = sum(int(np.count_nonzero(np.abs(signs @ flippable) >= bar)) for signs in drawn)
    return SignFlip((1 + extreme) / (n + 1), smallest, c, k, n, False)


def smallest_p(n_clusters: int, n: int = 10_000) -> float:
    """The smallest p-value `sign_flip` can give with this many clusters: 2 / 2^c, or 1 / (n + 1)
    where patterns are drawn.

    >>> smallest_p(5)
    0.0625
    """
    if n_clusters < 1:
        raise InputError(
            "a test needs at least one cluster", cure="give the number of conversations, 1 or more"
        )
    return 2.0 ** (1 - n_clusters) if n_clusters <= _enumerable(n) else 1.0 / (n + 1)


def holm(p_values: ArrayLike) -> Floats:
    """Holm's step-down adjusted p-values, in the order given: monotone in p, at most 1; O(m log m).

    Rejecting where the adjusted value is at most alpha keeps the chance of any false rejection in
    the family at most alpha, whatever the dependence.  Holm (1979), A simple sequentially rejective
    multiple test procedure, Scand. J. Statist. 6, 65-70.

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Step-up adjusted p-values, in the order given: monotone in p, at most 1; O(m log m).

    Rejecting where the adjusted value is at most alpha keeps the expected share of false rejections
    among all rejections at most alpha, for tests that are independent or positively dependent.
    Benjamini & Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")[::-1]
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(
        np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1)), 1.0
    )
    return adjusted


def _checked(p_values: ArrayLike) -> Floats:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not np.all((p >= 0.0) & (p <= 1.0)):
        raise InputError(
            "p-values must be one row of numbers between 0 and 1",
            cure="leave out NaN; give a one-dimensional array",
        )
    return p


def _means(sums: Floats, counts: Floats, n_resamples: int, seed: int) -> Floats:
    """Means of the resamples.  Many comparisons on the same clusters share the draws, so they
    are counted once.
    """
    if n_resamples * len(sums) <= _KEPT:
        drawn = _drawn(len(sums), n_resamples, seed)
        means: Floats = (drawn @ sums) / (drawn @ counts)
        return means
    return np.concatenate(
        [
            (counts_drawn @ sums) / (counts_drawn @ counts)
            for counts_drawn in _times_drawn(len(sums), n_resamples, seed)
        ]
    )


def _signs(k: int, n: int, seed: int) -> Iterator[Floats]:
    """Blocks of n drawn sign patterns of k clusters, -1 or 1."""
    rng = np.random.default_rng(seed)
    for rows in _blocks(n, k):
        yield (2.0 * rng.integers(2, size=(rows, k), dtype=np.int8) - 1.0).astype(
            np.float64, copy=False
        )


@lru_cache(maxsize=2)
def _kept_signs(k: int, n: int, seed: int) -> tuple[Floats, ...]:
    return tuple(_signs(k, n, seed))


@lru_cache(maxsize=2)
def _drawn(c: int, n_resamples: int, seed: int) -> Floats:
    """(n_resamples, c) how often each resample has each cluster."""
    return np.concatenate(list(_times_drawn(c, n_resamples, seed)))


def _times_drawn(c: int, n_resamples: int, seed: int) -> Iterator[Floats]:
    """Blocks of resamples: how often each has each cluster."""
    rng = np.random.default_rng(seed)
    for rows in _blocks(n_resamples, c):
        draws: NDArray[np.int64] = rng.integers(c, size=(rows, c))
        draws += np.arange(rows)[:, None] * c
        yield np.bincount(draws.ravel(), minlength=rows * c).reshape(rows, c).astype(np.float64)


def _blocks(rows: int, width: int) -> Iterator[int]:
    step = max(1, _BLOCK // width)
    for start in range(0, rows, step):
        yield min(step, rows - start)


def _enumerable(n: int) -> int:
    """The largest c with 2^c <= n."""
    return n.bit_length() - 1
