"""The random-effects summary and the hierarchical posterior, against statsmodels, integrals and
draws of the model.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

from hebbarium.benchmarks.scores.hierarchy import SCALE, Posterior, posteriors
from hebbarium.benchmarks.scores.random_effects import random_effects
from hebbarium.engine.base.errors import InputError

STUDY = st.tuples(st.floats(-0.2, 0.2), st.floats(1e-5, 1e-2))


@given(studies=st.lists(STUDY, min_size=2, max_size=9))
def test_the_summary_is_that_of_statsmodels(studies: list[tuple[float, float]]) -> None:
    y, v = map(np.array, zip(*studies, strict=True))
    ours = random_effects(y, v)
    theirs = combine_effects(y, v, method_re="iterated", use_t=True, atol=1e-8)
    left = np.sum((y - ours.mean) ** 2 / (v + ours.tau**2)) - (len(y) - 1)
    assert left == pytest.approx(0.0, abs=1e-6) or (ours.tau == 0.0 and left <= 0.0)
    # its steps end at 0 when one overshoots by rounding
    assume(theirs.tau2 > 0.0 or ours.tau == 0.0)
    assert ours.tau**2 == pytest.approx(theirs.tau2, rel=1e-4, abs=1e-7)
    assert ours.mean == pytest.approx(theirs.mean_effect_re, rel=1e-4, abs=1e-7)
    # statsmodels does not keep the factor of Hartung and Knapp at 1 or above
    plain = theirs.sd_eff_w_re
    assert ours.se == pytest.approx(max(plain, theirs.sd_eff_w_re_hksj), rel=1e-4)
    half = stats.t.ppf(0.975, len(y) - 1) * ours.se
    assert (ours.low, ours.high) == pytest.approx((ours.mean - half, ours.mean + half))


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    """Four data sets whose effects differ as much as they are measured badly.  The interval that
    takes tau^2 for known is too narrow.
    """
    rng, held, naive, runs = np.random.default_rng(5), 0, 0, 2_000
    v = np.array([2e-4, 3e-4, 4e-4, 5e-4])
    for _ in range(runs):
        y = rng.normal(0.02, np.sqrt(v + 0.02**2))
        pooled = random_effects(y, v)
        assert pooled.low is not None and pooled.high is not None
        held += pooled.low <= 0.02 <= pooled.high
        known = 1.96 / np.sqrt(np.sum(1.0 / (v + pooled.tau**2)))
        naive += abs(pooled.mean - 0.02) <= known
    assert 0.94 <= held / runs <= 0.985 and naive / runs < 0.92


def test_one_study_has_no_interval_and_two_have_none_for_another_study() -> None:
    alone, two = random_effects([0.1], [0.01]), random_effects([0.1, 0.2], [0.01, 0.01])
    assert (alone.mean, alone.se, alone.low, alone.p, alone.beyond) == (0.1, None, None, None, None)
    assert two.low is not None and two.beyond is None


@pytest.mark.parametrize(
    ("y", "v"), [([], []), ([0.1], [0.0]), ([0.1], [-1.0]), ([np.nan], [0.1]), ([0.1], [0.1, 0.1])]
)
def test_studies_without_spread_or_effect_are_refused(y: list[float], v: list[float]) -> None:
    with pytest.raises(InputError):
        random_effects(y, v)
    with pytest.raises(InputError):
        posteriors([y], [v], ["words"], margin=0.005)


def density(
    y: list[list[float]],
    v: list[list[float]],
    tau: np.ndarray,
    omega: np.ndarray,
    sigma: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Density of the measurements of a family at (g,) standard deviations, and mean and variance of
    its theta given them, by the covariances of the whole: no step of the closed form.
    """
    place = [i for i, row in enumerate(y) for _ in row]
    flat, chance = (np.concatenate([np.asarray(row) for row in rows]) for rows in (y, v))
    of_theta = omega[:, None, None] ** 2 * np.eye(len(y)) + sigma[:, None, None] ** 2
    of_y = of_theta[:, place][:, :, place] + (chance + tau[:, None] ** 2)[:, None] * np.eye(
        len(flat)
    )
    gain = of_theta[:, :, place] @ np.linalg.inv(of_y)
    p = [stats.multivariate_normal.pdf(flat, np.zeros(len(flat)), one) for one in of_y]
    known = np.einsum("gij,gji->gi", gain, of_theta[:, place])
    return np.array(p), gain @ flat, np.einsum("gii->gi", of_theta) - known


@pytest.mark.slow
def test_the_posterior_is_the_integral_over_the_spreads() -> None:
    margin = 0.005
    y = [[0.03, 0.01], [0.002], [-0.01, 0.0, 0.004], [0.06]]
    v = [[1e-4, 2e-4], [4e-5], [1e-4, 3e-4, 5e-5], [9e-4]]
    # points of Gauss and Legendre in the share of the prior's mass below
    nodes, weights = np.polynomial.legendre.leggauss(9)
    shares = (nodes + 1.0) / 2.0
    cauchy, normal = (
        prior.ppf(shares) for prior in (stats.halfcauchy(scale=SCALE * margin), stats.halfnorm())
    )
    t, tau, omega, sigma = (
        axis.ravel() for axis in np.meshgrid(cauchy, normal, cauchy, cauchy, indexing="ij")
    )
    weight = np.multiply.outer(weights, weights)
    all_families, moments = np.ones_like(weight), np.zeros((2, 4, *weight.shape))
    for own in ([0, 1], [2], [3]):
        rows = [y[i] for i in own], [v[i] for i in own]
        p, centre, variance = density(*rows, t * tau, omega, sigma)
        helps = stats.norm.sf(margin, centre, np.sqrt(variance))
        inner = (p.reshape((9,) * 4) * weight[:, :, None]).transpose(0, 3, 1, 2)
        of_family = inner.sum(axis=(2, 3))
        for place, i in enumerate(own):
            for kind, values in enumerate((centre, helps)):
                at = values[:, place].reshape((9,) * 4).transpose(0, 3, 1, 2)
                moments[kind, i] = (inner * at).sum(axis=(2, 3)) / of_family
        all_families *= of_family
    posterior = weight * all_families / np.sum(weight * all_families)
    mean, helps = np.sum(moments * posterior, axis=(2, 3))
    ours = posteriors(y, v, ["words", "words", "time", "sleep"], margin=margin, points=24)
    assert [p.mean for p in ours] == pytest.approx(mean, abs=5e-4)
    assert [p.helps for p in ours] == pytest.approx(helps, abs=0.01)
    for p in ours:
        assert p.helps + p.within + p.hurts == pytest.approx(1.0)
        assert p.low < p.mean < p.high


def test_shrinking_is_calibrated_and_better_than_each_alone() -> None:
    """Mechanisms drawn from the model: of those of which `helps` says 90 % or more, as many help;
    and the means are nearer than those of single mechanisms.
    """
    rng, margin, said, true = np.random.default_rng(3), 0.005, 0.0, 0
    shrunk, alone = 0.0, 0.0
    for _ in range(25):
        families = np.repeat(np.arange(6), 5)
        theta = rng.normal(0, 0.01, 6)[families] + rng.normal(0, 0.01, 30)
        v = rng.uniform(2e-5, 4e-4, (30, 3))
        y = theta[:, None] + rng.normal(0, np.sqrt(v + 0.005**2))
        results = posteriors(y.tolist(), v.tolist(), families.tolist(), margin=margin, points=8)
        for i, posterior in enumerate(results):
            shrunk += (posterior.mean - theta[i]) ** 2
            alone += (random_effects(y[i], v[i]).mean - theta[i]) ** 2
            if posterior.helps >= 0.9:
                said, true = said + posterior.helps, true + int(theta[i] > margin)
    assert shrunk < 0.85 * alone
    assert said > 100 and abs(true - said) < 2.6 * np.sqrt(said * 0.05)


@given(studies=st.lists(STUDY, min_size=1, max_size=4), flip=st.booleans())
def test_a_posterior_turns_with_the_sign_of_the_effects(
    studies: list[tuple[float, float]], flip: bool
) -> None:
    y, v = zip(*studies, strict=True)
    sign = -1.0 if flip else 1.0
    (up,) = posteriors([list(y)], [list(v)], ["words"], margin=0.01, points=6)
    (down,) = posteriors(
        [[sign * value for value in y]], [list(v)], ["words"], margin=0.01, points=6
    )
    mirrored = (
        Posterior(-up.mean, up.sd, -up.high, -up.low, up.hurts, up.within, up.helps) if flip else up
    )
    for field in Posterior.__slots__:
        assert getattr(down, field) == pytest.approx(getattr(mirrored, field), abs=1e-7)


def test_lengths_that_differ_and_margins_of_0_are_refused() -> None:
    for families, margin in ((["words", "time"], 0.01), (["words"], 0.0), (["words"], np.nan)):
        with pytest.raises(InputError) as caught:
            posteriors([[0.1]], [[0.01]], families, margin=margin)
        assert caught.value.cure
    assert posteriors([], [], [], margin=0.01) == ()
