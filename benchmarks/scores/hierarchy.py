"""What is known of the effect of every mechanism, with that of its family: a hierarchical posterior.

Study j measures the effect of mechanism i of family f as

    y_ij ~ N(theta_i, v_ij + tau_f^2)    tau_f ~ half-normal(t): between studies
    theta_i ~ N(mu_f, omega_f^2)         omega_f: between mechanisms of the family
    mu_f ~ N(0, sigma^2)                 sigma: between families

so that a mechanism which was measured badly is drawn towards its family, and a family towards 0.
How much studies differ is learnt from all families, since a few studies hardly show it (half-normal:
Roever et al. 2021, https://doi.org/10.1002/jrsm.1475).  Given the four standard deviations all is
normal and has a closed form; they are integrated over a grid.  t, omega_f and sigma have half-Cauchy
priors (Gelman 2006, https://doi.org/10.1214/06-BA117A), whose scale is a few times the effect that
would matter, and the grid holds points of equal prior mass.  Given t and sigma, families are
independent.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import optimize, special

from ...engine.base.errors import InputError
from .clusters import Floats
from .random_effects import checked_studies

POINTS: Final = 14  # of the grid, for each of the four standard deviations
SCALE: Final = 4.0  # of their priors, in margins of equivalence


@dataclass(frozen=True, slots=True)
class Posterior:
    """The effect theta of one mechanism, after all studies of all mechanisms.

    mean, sd    of theta
    low, high   central interval at the level
    helps       probability that theta is above the margin
    within      that it is within the margin either way
    hurts       that it is below the negative margin
    """

    mean: float
    sd: float
    low: float
    high: float
    helps: float
    within: float
    hurts: float


def posteriors(
    effects: Sequence[Sequence[float]],
    variances: Sequence[Sequence[float]],
    families: Sequence[Hashable],
    *,
    margin: float,
    level: float = 0.95,
    points: int = POINTS,
) -> tuple[Posterior, ...]:
    """The posterior of each of m mechanisms.  Cost: O(points^4 m) time, O(points^4) memory
    for each member of a family.

    effects    y: of each mechanism the effects that its studies measure, at least one
    variances  v: their squared standard errors, above 0
    families   (m,) declared family of each
    margin     effects within it do not matter, above 0
    level      of the intervals
    points     of the grid, for each standard deviation

    Raises InputError for lengths that differ, a mechanism without a study, and numbers out of range.
    """
    if not len(effects) == len(variances) == len(families):
        raise InputError(
            f"{len(effects)} rows of effects, {len(variances)} of variances and {len(families)} families were given",
            cure="give one of each for every mechanism",
        )
    if not (0.0 < margin < np.inf and 0.0 < level < 1.0 and points > 0):
        raise InputError(
            f"margin {margin}, level {level} and {points} points of the grid do not do",
            cure="give a margin above 0, a level between 0 and 1, and at least one point",
        )
    studies = [checked_studies(y, v) for y, v in zip(effects, variances, strict=True)]
    if not studies:
        return ()
    members = {
        name: [i for i, family in enumerate(families) if family == name]
        for name in dict.fromkeys(families)
    }
    grid = _grid(SCALE * margin, points)
    parts = [_family([studies[i] for i in own], grid) for own in members.values()]
    # (t, s) log density of the studies of each family, and the shares given those of all
    shared = [special.logsumexp(part.log_density, axis=(1, 2)) for part in parts]
    of_shared = special.softmax(np.sum(shared, axis=0))
    results: dict[int, Posterior] = {}
    for own, part, total in zip(members.values(), parts, shared, strict=True):
        given_shared = np.exp(part.log_density - total[:, None, None, :])
        weight = (given_shared * of_shared[:, None, None, :]).ravel()
        kept = weight > 1e-9 * weight.max()
        share = weight[kept] / weight[kept].sum()
        for place, i in enumerate(own):
            mean, sd = part.mean[place].ravel()[kept], part.sd[place].ravel()[kept]
            results[i] = _summary(mean, sd, share, margin, level)
    return tuple(results[i] for i in range(len(studies)))


@dataclass(frozen=True, slots=True)
class _Grid:
    """Squares of the standard deviations; the axes of the grid are t, tau, omega and sigma."""

    tau2: Floats  # (n, n, 1, 1)
    omega2: Floats  # (n, 1)
    sigma2: Floats  # (n,)


def _grid(scale: float, points: int) -> _Grid:
    """Quantiles in the middle of equal shares of the priors."""
    shares: Floats = (np.arange(points) + 0.5) / points
    half_cauchy = scale * np.tan(np.pi * shares / 2.0)
    half_normal = special.ndtri((1.0 + shares) / 2.0)
    tau = half_cauchy[:, None, None, None] * half_normal[:, None, None]
    return _Grid(tau**2, half_cauchy[:, None] ** 2, half_cauchy**2)


@dataclass(frozen=True, slots=True)
class _Family:
    """A family over the grid, (n, n, n, n).

    log_density  of its studies, up to a constant
    mean, sd     (members, n, n, n, n) of theta
    """

    log_density: Floats
    mean: Floats
    sd: Floats


def _family(studies: Sequence[tuple[Floats, Floats]], grid: _Grid) -> _Family:
    """Cost: O(members n^4)."""
    # of each member: precision of theta from its own studies, and their weighted mean
    precision, centre = np.empty((2, len(studies), *grid.tau2.shape))
    log_density: Floats = np.zeros((len(grid.sigma2),) * 4)
    for i, (y, v) in enumerate(studies):
        w = 1.0 / (v[:, None, None, None, None] + grid.tau2)
        precision[i] = w.sum(axis=0)
        centre[i] = np.tensordot(y, w, axes=1) / precision[i]
        residual = np.sum(w * (y[:, None, None, None, None] - centre[i]) ** 2, axis=0)
        log_density += 0.5 * (np.log(w).sum(axis=0) - np.log(precision[i]) - residual)
    # these means about mu
    w = 1.0 / (1.0 / precision + grid.omega2)
    total = w.sum(axis=0)
    mu = np.sum(w * centre, axis=0) / total
    residual = np.sum(w * (centre - mu) ** 2, axis=0)
    log_density += 0.5 * (np.log(w).sum(axis=0) - np.log(total) - residual)
    # mu about 0
    about_0 = 1.0 / total + grid.sigma2
    log_density -= 0.5 * (np.log(about_0) + mu**2 / about_0)
    drawn = grid.sigma2 / about_0
    # theta is drawn towards mu by what its own studies leave open
    open_share = 1.0 / (1.0 + precision * grid.omega2)
    mean = (1.0 - open_share) * centre + open_share * drawn * mu
    variance = grid.omega2 * open_share + open_share**2 * drawn / total
    return _Family(log_density, mean, np.sqrt(variance))


def _summary(mean: Floats, sd: Floats, weight: Floats, margin: float, level: float) -> Posterior:
    """Of a mixture of normal distributions."""

    def below(value: float) -> float:
        return float(weight @ special.ndtr((value - mean) / sd))

    def quantile(share: float) -> float:
        reach = 40.0 * float(sd.max())
        least, most = float(mean.min()) - reach, float(mean.max()) + reach
        return float(optimize.brentq(lambda value: below(value) - share, least, most, xtol=1e-10))

    centre = float(weight @ mean)
    spread = float(np.sqrt(weight @ (sd**2 + (mean - centre) ** 2)))
    hurts, helps = below(-margin), float(weight @ special.ndtr((mean - margin) / sd))
    tail = (1.0 - level) / 2.0
    return Posterior(
        centre,
        spread,
        quantile(tail),
        quantile(1.0 - tail),
        helps,
        max(0.0, 1.0 - helps - hurts),
        hurts,
    )
