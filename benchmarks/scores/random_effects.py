"""One estimate of an effect over several studies: the random-effects summary of a meta-analysis.

The effect of a mechanism differs between data sets by more than their questions' chance: study j of
k has the effect delta_j ~ N(mu, tau^2), and measures it as y_j ~ N(delta_j, v_j).  tau^2 is estimated
by Paule & Mandel (1982, https://doi.org/10.6028/jres.087.022), mu by weights w_j = 1 / (v_j + tau^2),
and its interval by Hartung & Knapp (2001, https://doi.org/10.1002/sim.791), which a handful of
studies needs: the usual one takes tau^2 for known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats

from ...engine.base.errors import InputError
from .clusters import Floats


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """The mean effect over studies like these.

    mean        mu
    se          by Hartung and Knapp, with their factor q at least 1 (Roever, Knapp & Friede 2015,
                https://doi.org/10.1186/s12874-015-0091-1): few studies that happen to agree would
                give an interval narrower than their own; None for one study
    low, high   interval at the level, t with k - 1 degrees of freedom; None for one study
    p           two-sided, that mu is 0; None for one study
    tau         standard deviation of the effect between studies
    beyond      interval of the effect in another study, t with k - 2 degrees of freedom (Higgins,
                Thompson & Spiegelhalter 2009, https://doi.org/10.1111/j.1467-985X.2008.00552.x); None
                for fewer than three studies
    n_studies   k
    """

    mean: float
    se: float | None
    low: float | None
    high: float | None
    p: float | None
    tau: float
    beyond: tuple[float, float] | None
    n_studies: int


def random_effects(
    effects: ArrayLike, variances: ArrayLike, *, level: float = 0.95
) -> RandomEffects:
    """The summary of k studies.  Cost: O(k) for each of some twenty values of tau^2.

    effects    (k,) y, the effect that each study measures
    variances  (k,) v, squared standard error of each, above 0
    level      of the intervals

    Raises InputError for no study, shapes that differ, and numbers that are not finite or variances
    that are not above 0.

    >>> pooled = random_effects([0.02, 0.03, 0.01], [1e-4, 1e-4, 1e-4])
    >>> round(pooled.mean, 3), round(pooled.tau, 3), round(pooled.se, 5)
    (0.02, 0.0, 0.00577)
    """
    y, v = checked_studies(effects, variances)
    if not 0.0 < level < 1.0:
        raise InputError(f"the level is {level}", cure="give a level between 0 and 1")
    k = len(y)
    tau2 = between(y, v)
    w = 1.0 / (v + tau2)
    mean = float(w @ y / w.sum())
    if k == 1:
        return RandomEffects(mean, None, None, None, None, 0.0, None, 1)
    q = float(w @ (y - mean) ** 2) / (k - 1)
    se = float(np.sqrt(max(1.0, q) / w.sum()))
    half = float(stats.t.ppf(0.5 + level / 2.0, k - 1)) * se
    beyond = None
    if k > 2:
        reach = float(stats.t.ppf(0.5 + level / 2.0, k - 2)) * float(np.hypot(np.sqrt(tau2), se))
        beyond = (mean - reach, mean + reach)
    p = 2.0 * float(stats.t.sf(abs(mean) / se, k - 1))
    return RandomEffects(mean, se, mean - half, mean + half, p, tau2**0.5, beyond, k)


def between(effects: ArrayLike, variances: ArrayLike) -> float:
    """tau^2 >= 0 by Paule and Mandel: where sum_j w_j (y_j - mu)^2 is k - 1, its expectation."""
    y, v = checked_studies(effects, variances)

    def excess(tau2: float) -> float:
        w = 1.0 / (v + tau2)
        return float(w @ (y - w @ y / w.sum()) ** 2) - (len(y) - 1)

    if len(y) == 1 or excess(0.0) <= 0.0:
        return 0.0
    # here the sum is at most 1/2, which no rounding brings to the 1 of two studies
    most = 2.0 * float(np.sum((y - y.mean()) ** 2))
    return float(optimize.brentq(excess, 0.0, most, xtol=1e-16, rtol=1e-12))


def checked_studies(effects: ArrayLike, variances: ArrayLike) -> tuple[Floats, Floats]:
    """Effects and variances of k studies as arrays.  Raises InputError."""
    y, v = np.asarray(effects, np.float64), np.asarray(variances, np.float64)
    if y.ndim != 1 or y.shape != v.shape or not len(y):
        raise InputError(
            f"one effect and one variance of each study are needed; got the shapes {y.shape} and {v.shape}",
            cure="give two rows of the same length, at least 1",
        )
    if not (np.isfinite(y).all() and np.isfinite(v).all() and (v > 0.0).all()):
        raise InputError(
            "an effect is not finite, or a variance is not above 0",
            cure="leave out studies whose effect is not defined; one without spread has a floor",
        )
    return y, v
