"""The cluster-robust t-test of a mean paired difference: CR2 variance with Satterthwaite degrees of freedom.

Questions of one conversation share its memory, so their differences are correlated.  The variance of the mean is estimated from the
conversations' summed residuals, with the bias-reduced linearisation CR2 (Bell & McCaffrey 2002, Bias reduction in standard errors for
linear regression with multi-stage samples, Survey Methodology 28, 169-181; Pustejovsky & Tipton 2018,
https://doi.org/10.1080/07350015.2016.1247004).  Below, N is the number of questions, c the number of clusters, n_g the questions of
cluster g and w_g = n_g / N.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...engine.errors import InputError

ClusterIds = Sequence[str] | Sequence[int] | NDArray[np.str_] | NDArray[np.integer]
_TIE = 1e-12      # a standard error below this share of the largest difference is rounding


@dataclass(frozen=True, slots=True)
class ClusterT:
    """A mean paired difference with its cluster-robust test.

    mean        over questions
    se          CR2 standard error; None with a single cluster
    df          Satterthwaite degrees of freedom; None with a single cluster
    t, p        two-sided; None where the standard error is None or 0 (p = 1 if every difference is 0)
    low, high   confidence interval at `level`; None with a single cluster
    n_clusters  conversations
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

    def interval(self, level: float) -> tuple[float, float] | None:
        """The confidence interval at another level; None with a single cluster."""
        if self.se is None or self.df is None:
            return None
        half = _quantile(level, self.df) * self.se
        return self.mean - half, self.mean + half

    def equivalent(self, margin: float, alpha: float = 0.05) -> bool:
        """Whether the effect is smaller than `margin` either way: two one-sided t-tests at `alpha`, that is, the interval of level
        1 - 2 alpha lies inside (-margin, margin).  Schuirmann (1987), https://doi.org/10.1007/BF01068419.

        Raises InputError for a margin of 0 or less.
        """
        if not margin > 0.0:
            raise InputError(f"the margin of equivalence is {margin}", cure="give a positive margin, such as 0.005")
        inside = self.interval(1.0 - 2.0 * alpha)
        return inside is not None and -margin < inside[0] and inside[1] < margin


def cluster_t(differences: ArrayLike, cluster_ids: ClusterIds, *, level: float = 0.95) -> ClusterT:
    """Test that the mean over questions of a paired difference is 0.  Cost: O(N log N + c^2).

    differences  (N,) paired differences, one per question
    cluster_ids  (N,) the conversation of each question
    level        of the interval

    The regression is the mean alone, for which CR2 has a closed form: with residuals e and their sums r_g over cluster g,
    V = sum_g r_g^2 / (1 - w_g) / N^2, and under independent errors of equal variance
    df = 1 / (sum_g w_g^2 + sum_{g != h} w_g^2 w_h^2 / ((1 - w_g)(1 - w_h))).
    Clusters of equal size give the one-sample t-test of the cluster means, with c - 1 degrees of freedom.

    >>> found = cluster_t([0.1, 0.3, 0.2, 0.0], [1, 2, 3, 4])
    >>> round(found.t, 3), round(found.df, 3), round(found.p, 3)
    (2.324, 3.0, 0.103)
    """
    if not 0.0 < level < 1.0:
        raise InputError(f"the level of the interval is {level}", cure="give a number between 0 and 1, such as 0.95")
    x, sums, counts = _by_cluster(differences, cluster_ids)
    total, c = float(counts.sum()), len(sums)
    mean = float(sums.sum() / total)
    if c == 1:
        return ClusterT(mean, None, None, None, None, None, None, level, 1)
    w = counts / total
    residual = sums - mean * counts
    se = math.sqrt(float(np.sum(residual**2 / (1.0 - w)))) / total
    df = satterthwaite(counts)
    if se <= _TIE * float(np.abs(x).max()):
        return ClusterT(mean, 0.0, df, None, 1.0 if not x.any() else None, mean, mean, level, c)
    from scipy.stats import t as student

    statistic = mean / se
    half = _quantile(level, df) * se
    return ClusterT(mean, se, df, statistic, float(2.0 * student.sf(abs(statistic), df)), mean - half, mean + half, level, c)


def satterthwaite(counts: ArrayLike) -> float:
    """Degrees of freedom of the cluster-robust t-test for clusters of n_g questions each, (c,); c - 1 if all are equal.

    >>> round(satterthwaite([5, 5, 5]), 3), round(satterthwaite([1, 1, 100]), 3)
    (2.0, 1.02)
    """
    n = np.asarray(counts, dtype=np.float64)
    w = n / n.sum()
    share = w**2 / (1.0 - w)
    return float(1.0 / (np.sum(w**2) + share.sum() ** 2 - np.sum(share**2)))


def expected_half_width(counts: ArrayLike, sd_between: float, sd_within: float, *, level: float = 0.95) -> float:
    """Expected half width of the interval for a design, from the spread of an earlier run.

    counts      (c,) questions of each conversation
    sd_between  standard deviation of the conversations' true means
    sd_within   standard deviation of a question's difference within its conversation

    The variance of the mean over questions is sum_g w_g^2 sd_between^2 + sd_within^2 / N.  Raises InputError for a single conversation.
    """
    n = np.asarray(counts, dtype=np.float64)
    if len(n) < 2:
        raise InputError("one conversation says nothing about the spread between conversations", cure="take two or more")
    w = n / n.sum()
    variance = float(np.sum(w**2)) * sd_between**2 + sd_within**2 / float(n.sum())
    return _quantile(level, satterthwaite(n)) * math.sqrt(variance)


def _quantile(level: float, df: float) -> float:
    from scipy.stats import t as student

    return float(student.ppf(0.5 + level / 2.0, df))


def _by_cluster(values: ArrayLike, cluster_ids: ClusterIds) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """(N,) values, (c,) their sums and (c,) questions per cluster, clusters in sorted order.  Raises InputError."""
    x, ids = np.asarray(values, dtype=np.float64), np.asarray(cluster_ids)
    if x.ndim != 1 or ids.shape != x.shape or not len(x) or ids.dtype.kind not in "iuU":
        raise InputError(f"one value and one cluster id (text or integer) per question are needed; got shapes {x.shape} and {ids.shape}")
    if not np.all(np.isfinite(x)):
        raise InputError(f"{int(np.count_nonzero(~np.isfinite(x)))} of {len(x)} values are not finite",
                         cure="leave out of both arms the questions for which the metric is not defined")
    _, inverse = np.unique(ids, return_inverse=True)
    return x, np.asarray(np.bincount(inverse, weights=x), dtype=np.float64), np.bincount(inverse).astype(np.float64)
