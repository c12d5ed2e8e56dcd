"""The cluster-robust t-test of a mean paired difference: CR2 variance with Satterthwaite degrees of
freedom.

Questions of one conversation share its memory, so their differences are correlated.  The variance
of the mean is estimated from the conversations' summed residuals, with the bias-reduced
linearisation CR2 (Bell & McCaffrey 2002, Bias reduction in standard errors for linear regression
with multi-stage samples, Survey Methodology 28, 169-181; Pustejovsky & Tipton 2018,
https://doi.org/10.1080/07350015.2016.1247004).  Below, N is the number of questions, c the number
of clusters, n_g the questions of cluster g and w_g = n_g / N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ...engine.base.errors import InputError
from .clusters import ClusterIds, by_cluster

_TIE = 1e-12  # a standard error below this share of the largest difference is rounding


@dataclass(frozen=True, slots=True)
class ClusterT:
    """A mean paired difference with its cluster-robust test.

    mean        over questions
    se          CR2 standard error; None with a single cluster
    df          Satterthwaite degrees of freedom; None with a single cluster
    t, p        two-sided; None where the standard error is None or 0 (p = 1 if every difference is
                0)
    low, high   confidence interval at `level`; None with a single cluster
    n_clusters  conversations
    n_questions  questions
    """

    mean: float
    se: float | None
    df: float | None
    t: float | None
    p: float | None
    low: float | None
    high: float | None
    level: float
    n_clusters: int
    n_questions: int

    def interval(self, level: float) -> tuple[float, float] | None:
        """The confidence interval at another level; None with a single cluster."""
        if self.se is None or self.df is None:
            return None
        half = _quantile(level, self.df) * self.se
        return self.mean - half, self.mean + half

    def equivalence(self, margin: float, alpha: float = 0.05) -> tuple[float, float] | None:
        """The interval that shows equivalence if it lies inside (-margin, margin); None with a
        single cluster.

        Two one-sided t-tests at `alpha` (Schuirmann 1987, https://doi.org/10.1007/BF01068419): the
        interval of level 1 - 2 alpha.  Where few questions change, that interval is too narrow, and
        empty if none does.  So its half width is at least z sqrt(margin / N), with z the normal
        quantile of 1 - alpha: the spread of the mean if the effect were the margin and a share
        `margin` of independent questions changed by 1, the largest difference of a metric in [0,
        1].

        Raises InputError for a margin of 0 or less.
        """
        floor = equivalence_floor(margin, alpha, self.n_questions)
        if self.se is None or self.df is None:
            return None
        half = max(_quantile(1.0 - 2.0 * alpha, self.df) * self.se, floor)
        return self.mean - half, self.mean + half

    def equivalent(self, margin: float, alpha: float = 0.05) -> bool:
        """Whether the effect is smaller than `margin` either way, by `equivalence`.  Raises
        InputError for a margin of 0 or less.
        """
        inside = self.equivalence(margin, alpha)
        return inside is not None and -margin < inside[0] and inside[1] < margin


def smallest_effect(se: float | None, df: float | None, alpha: float = 0.05) -> float | None:
    """The smallest absolute mean that has p <= alpha with such a standard error; None if there is
    none or it is 0.

    >>> round(smallest_effect(0.01, 9.0, 0.05), 6), smallest_effect(None, None), smallest_effect(0.0, 9.0)
    (0.022622, None, None)
    """
    return _quantile(1.0 - alpha, df) * se if se and df is not None else None


def equivalence_floor(margin: float, alpha: float, n_questions: int) -> float:
    """Least half width of an interval of equivalence, by `ClusterT.equivalence`.  Raises InputError
    for a margin of 0 or less.
    """
    return _quantum(margin, alpha) / math.sqrt(n_questions)


def fewest_questions(margin: float, alpha: float = 0.05) -> int:
    """The smallest number of questions that can show equivalence within `margin` at all, by
    `ClusterT.equivalence`.

    >>> fewest_questions(0.005), fewest_questions(0.02)
    (542, 136)
    """
    return math.floor((_quantum(margin, alpha) / margin) ** 2) + 1


def _quantum(margin: float, alpha: float) -> float:
    if not margin > 0.0:
        raise InputError(
            f"the margin of equivalence is {margin}", cure="give a positive margin, such as 0.005"
        )
    return NormalDist().inv_cdf(1.0 - alpha) * math.sqrt(margin)


def cluster_t(differences: ArrayLike, cluster_ids: ClusterIds, *, level: float = 0.95) -> ClusterT:
    """Test that the mean over questions of a paired difference is 0.  Cost: O(N log N + c^2).

    differences  (N,) paired differences, one per question
    cluster_ids  (N,) the conversation of each question
    level        of the interval

    The regression is the mean alone, for which CR2 has a closed form: with residuals e and their
    sums r_g over cluster g, V = sum_g r_g^2 / (1 - w_g) / N^2, and under independent errors of
    equal variance df = 1 / (sum_g w_g^2 + sum_{g != h} w_g^2 w_h^2 / ((1 - w_g)(1 - w_h))).
    Clusters of equal size give the one-sample t-test of the cluster means, with c - 1 degrees of
    freedom.

    >>> test = cluster_t([0.1, 0.3, 0.2, 0.0], [1, 2, 3, 4])
    >>> round(test.t, 3), round(test.df, 3), round(test.p, 3)
    (2.324, 3.0, 0.103)
    """
    if not 0.0 < level < 1.0:
        raise InputError(
            f"the level of the interval is {level}",
            cure="give a number between 0 and 1, such as 0.95",
        )
    clusters = by_cluster(differences, cluster_ids)
    x, sums, counts = clusters.values, clusters.sums, clusters.counts
    total, c, n = float(counts.sum()), len(sums), len(x)
    mean = float(sums.sum() / total)
    if c == 1:
        return ClusterT(mean, None, None, None, None, None, None, level, 1, n)
    w = counts / total
    residual = sums - mean * counts
    se = math.sqrt(float(np.sum(residual**2 / (1.0 - w)))) / total
    df = satterthwaite(counts)
    if se <= _TIE * float(np.abs(x).max()):
        return ClusterT(mean, 0.0, df, None, 1.0 if not x.any() else None, mean, mean, level, c, n)
    statistic = mean / se
    half = _quantile(level, df) * se
    return ClusterT(
        mean,
        se,
        df,
        statistic,
        float(2.0 * special.stdtr(df, -abs(statistic))),
        mean - half,
        mean + half,
        level,
        c,
        n,
    )


def satterthwaite(counts: ArrayLike) -> float:
    """Degrees of freedom of the cluster-robust t-test for clusters of n_g questions each, (c,); c -
    1 if all are equal.

    >>> round(satterthwaite([5, 5, 5]), 3), round(satterthwaite([1, 1, 100]), 3)
    (2.0, 1.02)
    """
    n = np.asarray(counts, dtype=np.float64)
    w = n / n.sum()
    share = w**2 / (1.0 - w)
    return float(1.0 / (np.sum(w**2) + share.sum() ** 2 - np.sum(share**2)))


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviations of a paired difference: of the conversations' true means, and of a
    question within its conversation.
    """

    between: float
    within: float


def spread(differences: ArrayLike, cluster_ids: ClusterIds) -> Spread | None:
    """The analysis-of-variance estimate of both standard deviations; None with a single cluster.
    Cost: O(N log N).

    With SSB and SSW the sums of squares between and within the c clusters of N questions: within^2
    = SSW / (N - c) and between^2 = max(0, (SSB / (c - 1) - within^2) / n0), n0 = (N - sum_g n_g^2 /
    N) / (c - 1).  With one question per cluster, within = 0. Searle, Casella & McCulloch (1992),
    *Variance Components*, sec. 3.6.

    >>> spread([1.0, 1.0, 3.0, 3.0], ["a", "a", "b", "b"])
    Spread(between=1.4142135623730951, within=0.0)
    """
    clusters = by_cluster(differences, cluster_ids)
    c, n = len(clusters.sums), len(clusters.values)
    if c == 1:
        return None
    means = clusters.sums / clusters.counts
    within = (
        float(np.sum((clusters.values - means[clusters.place]) ** 2)) / (n - c) if n > c else 0.0
    )
    between = float(np.sum(clusters.counts * (means - clusters.values.mean()) ** 2)) / (c - 1)
    typical = (n - float(np.sum(clusters.counts**2)) / n) / (c - 1)
    return Spread(math.sqrt(max(0.0, (between - within) / typical)), math.sqrt(within))


def expected_half_width(counts: ArrayLike, spread: Spread, *, level: float = 0.95) -> float:
    """Expected half width of the interval for a design, from the spread of an earlier run.

    counts  (c,) questions of each conversation

    The variance of the mean over questions is sum_g w_g^2 between^2 + within^2 / N.  Raises
    InputError for a single conversation.
    """
    n = np.asarray(counts, dtype=np.float64)
    if len(n) < 2:
        raise InputError(
            "one conversation says nothing about the spread between conversations",
            cure="take two or more",
        )
    w = n / n.sum()
    variance = float(np.sum(w**2)) * spread.between**2 + spread.within**2 / float(n.sum())
    return _quantile(level, satterthwaite(n)) * math.sqrt(variance)


def _quantile(level: float, df: float) -> float:
    return float(special.stdtrit(df, 0.5 + level / 2.0))
