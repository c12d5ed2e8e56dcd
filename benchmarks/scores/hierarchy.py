"""What is known of the effect of every mechanism, with that of its family: a hierarchical posterior.

Study j measures the effect of mechanism i of family f as

    y_ij ~ N(theta_i, v_ij + tau^2)    tau: between studies
    theta_i ~ N(mu_f, omega^2)         omega: between mechanisms of a family
    mu_f ~ N(0, sigma^2)               sigma: between families

so that a mechanism which was measured badly is drawn towards its family, and a family towards 0.
Given the three standard deviations all is normal and has a closed form; they are integrated over a
grid.  Each has a half-Cauchy prior (Gelman 2006, https://doi.org/10.1214/06-BA117A), whose scale is
the effect that would matter, and the grid holds points of equal prior mass.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from ...engine.base.errors import InputError
from .clusters import Floats
from .random_effects import checked_studies

POINTS: Final = 24  # of the grid, for each of the three standard deviations
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


@dataclass(frozen=True, slots=True)
class _Grid:
    """Points of the three variances, flattened: (g,) each."""

    tau2: Floats
    omega2: Floats
    sigma2: Floats


def posteriors(
    effects: Sequence[Sequence[float]],
    variances: Sequence[Sequence[float]],
    families: Sequence[Hashable],
    *,
    margin: float,
    level: float = 0.95,
    points: int = POINTS,
) -> tuple[Posterior, ...]:
    """The posterior of each of m mechanisms.  Cost: O(points^3 m).

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
    grid = _grid(SCALE * margin, points)
    precision, centre, log_weight = _measured(studies, grid)
    family, log_family = _families(precision, centre, families, grid)
    log_weight += log_family
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    kept = weight > 1e-9 * weight.max()
    weight = weight[kept] / weight[kept].sum()
    results = []
    for i, (mu, spread) in enumerate(family):
        # theta given mu_f is drawn towards it by what the measurements leave open
        own = grid.omega2 / (1.0 + precision[i] * grid.omega2)
        open_share = 1.0 / (1.0 + precision[i] * grid.omega2)
        mean = (1.0 - open_share) * centre[i] + open_share * mu
        sd = np.sqrt(own + open_share**2 * spread)
        results.append(_summary(mean[kept], sd[kept], weight, margin, level))
    return tuple(results)


def _grid(scale: float, points: int) -> _Grid:
    """Quantiles in the middle of equal shares of a half-Cauchy distribution, squared."""
    middle = (np.arange(points) + 0.5) / points
    squared = (scale * np.tan(np.pi * middle / 2.0)) ** 2
    tau2, omega2, sigma2 = np.meshgrid(squared, squared, squared, indexing="ij")
    return _Grid(tau2.ravel(), omega2.ravel(), sigma2.ravel())


def _measured(
    studies: Sequence[tuple[Floats, Floats]], grid: _Grid
) -> tuple[Floats, Floats, Floats]:
    """(m, g) precision of each theta from its own studies, and their weighted mean; (g,) log density
    of the studies about these means.
    """
    tau2 = np.unique(grid.tau2)
    precision, centre = np.empty((2, len(studies), len(tau2)))
    log_weight = np.zeros(len(tau2))
    for i, (y, v) in enumerate(studies):
        w = 1.0 / (v[:, None] + tau2)  # (k, points)
        precision[i] = w.sum(axis=0)
        centre[i] = y @ w / precision[i]
        residual = np.sum(w * (y[:, None] - centre[i]) ** 2, axis=0)
        log_weight += 0.5 * (np.log(w).sum(axis=0) - np.log(precision[i]) - residual)
    place: NDArray[np.intp] = np.searchsorted(tau2, grid.tau2)
    return precision[:, place], centre[:, place], log_weight[place]


def _families(
    precision: Floats, centre: Floats, families: Sequence[Hashable], grid: _Grid
) -> tuple[list[tuple[Floats, Floats]], Floats]:
    """For each mechanism (g,) mean and variance of its family's mu; (g,) log density of all means."""
    of_family: dict[Hashable, tuple[Floats, Floats]] = {}
    log_weight = np.zeros(len(grid.tau2))
    for name in dict.fromkeys(families):
        own = [i for i, family in enumerate(families) if family == name]
        w = 1.0 / (1.0 / precision[own] + grid.omega2)  # (members, g)
        total = w.sum(axis=0)
        mean = np.sum(w * centre[own], axis=0) / total
        residual = np.sum(w * (centre[own] - mean) ** 2, axis=0)
        log_weight += 0.5 * (np.log(w).sum(axis=0) - np.log(total) - residual)
        about_0 = 1.0 / total + grid.sigma2
        log_weight -= 0.5 * (np.log(about_0) + mean**2 / about_0)
        drawn = grid.sigma2 / about_0
        of_family[name] = drawn * mean, drawn / total
    return [of_family[name] for name in families], log_weight


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
