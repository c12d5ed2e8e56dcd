"""What is known of the effect of every mechanism, with that of its family: a hierarchical posterior.

Study j measures the effect of mechanism i of family f as

    y_ij ~ N(theta_i, v_ij + tau^2 + (c theta_i)^2)
    theta_i ~ Cauchy(mu_f, w)
    mu_f ~ N(0, sigma^2)

so that a mechanism which was measured badly is drawn towards its family, and a family towards 0,
while one that stands out stays where it is.  A mechanism that matters differs between data sets in
proportion to its effect, by c, and one that does nothing does nothing anywhere; a few studies hardly
show this for one mechanism, so that c and tau are learnt from all.  tau, w and sigma have half-Cauchy
priors (Gelman 2006, https://doi.org/10.1214/06-BA117A) with a few times the effect that would matter
as their scale, c one of scale 1.

All is integrated over a grid: the four above over points of equal prior mass, theta and mu over
points that are denser near 0.  Given the four, families are independent, and their members given mu.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ...engine.base.errors import InputError
from .clusters import Floats
from .random_effects import checked_studies

POINTS: Final = 10  # of the grid, for each of tau, c, w and sigma
SCALE: Final = 4.0  # of the priors of tau, w and sigma, in margins of equivalence
EFFECTS: Final = 251  # points of theta and of mu
LARGEST: Final = 1.0  # effect either way: metrics lie in [0, 1]
_FINEST: Final = 0.4  # margins: beyond it points are as far apart as in proportion to their size


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
    """Points of what is integrated, n for each of tau, c, w and sigma, g for theta and mu.

    ends      (g + 1,) of the cells of effects, one after another
    effect    (g,) theta, mu: the middle of each cell
    tau2, c2  (n,) squares
    near      (n, g, g) of each w: share of each theta given mu, log
    family    (g, n) share of each mu given sigma, log
    """

    ends: Floats
    effect: Floats
    tau2: Floats
    c2: Floats
    near: Floats
    family: Floats


def posteriors(
    effects: Sequence[Sequence[float]],
    variances: Sequence[Sequence[float]],
    families: Sequence[Hashable],
    *,
    margin: float,
    level: float = 0.95,
    points: int = POINTS,
) -> tuple[Posterior, ...]:
    """The posterior of each of m mechanisms.  Cost: O(m points^3 EFFECTS^2).

    effects    y: of each mechanism the effects that its studies measure, at least one
    variances  v: their squared standard errors, above 0
    families   (m,) declared family of each
    margin     effects within it do not matter, above 0
    level      of the intervals
    points     of the grid, for each of tau, c, w and sigma

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
    grid = _grid(margin, points)
    own = [_log_density(y, v, grid) for y, v in studies]
    # (tau, c, w, mu) log density of the studies of each mechanism, theta integrated
    given_mu = [_theta_integrated(density, grid) for density in own]
    of_family = {
        name: np.sum([given_mu[i] for i in mine], axis=0) for name, mine in members.items()
    }
    # (tau, c, w, sigma): evidence of each family, and the shares given that of all
    evidence = {name: _log_product(log, grid.family) for name, log in of_family.items()}
    shared = special.log_softmax(np.sum(list(evidence.values()), axis=0))
    results: dict[int, Posterior] = {}
    for name, mine in members.items():
        # (tau, c, w, mu): shares, sigma integrated
        share = of_family[name] + _log_product(shared - evidence[name], grid.family.T)
        for i in mine:
            density = _posterior_density(own[i], share - given_mu[i], grid)
            results[i] = _summary(density, grid, margin, level)
    return tuple(results[i] for i in range(len(studies)))


def _grid(margin: float, points: int) -> _Grid:
    least = _FINEST * margin
    ends = least * np.sinh(np.linspace(-1.0, 1.0, EFFECTS + 1) * np.arcsinh(LARGEST / least))
    effect = (ends[1:] + ends[:-1]) / 2.0
    quantiles = np.tan(np.pi * (np.arange(points) + 0.5) / points / 2.0)
    spreads = SCALE * margin * quantiles
    # shares of whole cells, as a spread may be smaller than a cell
    cauchy = np.arctan((ends[:, None] - effect) / spreads[:, None, None]) / np.pi
    normal = special.ndtr(ends[:, None] / spreads)
    with np.errstate(divide="ignore"):
        near, family = np.log(np.diff(cauchy, axis=1)), np.log(np.diff(normal, axis=0))
    return _Grid(ends, effect, spreads**2, quantiles**2, near, family)


def _log_density(y: Floats, v: Floats, grid: _Grid) -> Floats:
    """(tau, c, theta) log density of the studies of a mechanism."""
    between = grid.tau2[:, None, None] + grid.c2[:, None] * grid.effect**2
    log: Floats = np.zeros_like(between)
    for effect, variance in zip(y, v, strict=True):
        total = variance + between
        log -= 0.5 * (np.log(total) + (effect - grid.effect) ** 2 / total)
    return log


def _theta_integrated(own: Floats, grid: _Grid) -> Floats:
    """(tau, c, w, mu)."""
    return np.stack([_log_product(own, near) for near in grid.near], axis=2)


def _posterior_density(own: Floats, share: Floats, grid: _Grid) -> Floats:
    """(theta,) probability of each point.

    own    (tau, c, theta)
    share  (tau, c, w, mu) of the posterior, over the mechanism's own density
    """
    log = [
        special.logsumexp(own + _log_product(share[:, :, w], near.T), axis=(0, 1))
        for w, near in enumerate(grid.near)
    ]
    return np.asarray(special.softmax(special.logsumexp(log, axis=0)), np.float64)


def _log_product(a: Floats, b: Floats) -> Floats:
    """log(exp(a) @ exp(b))."""
    most = a.max(axis=-1, keepdims=True)
    other: NDArray[np.float64] = b.max(axis=0, keepdims=True)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(a - most) @ np.exp(b - other)) + most + other, np.float64)


def _summary(probability: Floats, grid: _Grid, margin: float, level: float) -> Posterior:
    mean = float(probability @ grid.effect)
    sd = float(np.sqrt(probability @ (grid.effect - mean) ** 2))
    below = np.append(0.0, np.cumsum(probability))
    hurts, not_helps = np.interp((-margin, margin), grid.ends, below).tolist()
    tail = (1.0 - level) / 2.0
    low, high = np.interp((tail, 1.0 - tail), below, grid.ends).tolist()
    return Posterior(mean, sd, low, high, 1.0 - not_helps, not_helps - hurts, hurts)
