"""The random-effects summary and the hierarchical posterior, against statsmodels, integrals and
draws of the model.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from hebbarium.benchmarks.scores.hierarchy import SCALE, Posterior, posteriors
from hebbarium.benchmarks.scores.random_effects import random_effects
from hebbarium.engine.base.errors import InputError

STUDY = st.tuples(st.floats(-0.2, 0.2), st.floats(1e-5, 1e-2))


@given(studies=st.lists(STUDY, min_size=2, max_size=9))
def test_the_summary_is_that_of_statsmodels(studies: list[tuple[float, float]]) -> None:
    from statsmodels.stats.meta_analysis import combine_effects

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


@pytest.mark.slow
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


def test_two_studies_that_differ_by_more_than_rounding_shows_have_the_variance_between_them() -> (
    None
):
    y = np.array([-10.76756591, -4.91227862])
    pooled = random_effects(y, [6.58448547e-17, 1.28826543e-16])
    assert pooled.tau == pytest.approx(y.std(ddof=1)) and pooled.mean == pytest.approx(y.mean())


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


@pytest.mark.slow
def test_the_posterior_is_that_of_drawn_mechanisms() -> None:
    """Draws of the model, weighted by how well they give the measurements: no grid, no integral."""
    margin, draws = 0.01, 2_000_000
    y = [[0.05, 0.01], [0.01], [-0.02, 0.0, 0.01]]
    v = [[4e-4, 9e-4], [4e-4], [4e-4, 9e-4, 6e-4]]
    rng = np.random.default_rng(11)
    tau, w, sigma = np.abs(rng.standard_cauchy((3, draws))) * SCALE * margin
    c = np.abs(rng.standard_cauchy(draws))
    mu = rng.normal(size=(2, draws)) * sigma
    theta = [mu[family] + w * rng.standard_cauchy(draws) for family in (0, 0, 1)]
    log_weight = np.where(np.max(np.abs([*mu, *theta]), axis=0) > 1.0, -np.inf, 0.0)
    for effect, measured, variances in zip(theta, y, v, strict=True):
        for value, variance in zip(measured, variances, strict=True):
            total = variance + tau**2 + (c * effect) ** 2
            log_weight -= 0.5 * (np.log(total) + (value - effect) ** 2 / total)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    assert 1.0 / np.sum(weight**2) > 40_000
    ours = posteriors(y, v, ["words", "words", "time"], margin=margin)
    for effect, posterior in zip(theta, ours, strict=True):
        helps, hurts = weight @ (effect > margin), weight @ (effect < -margin)
        assert (posterior.helps, posterior.hurts) == pytest.approx((helps, hurts), abs=0.02)
        order = np.argsort(effect)
        below = np.cumsum(weight[order])
        middle = effect[order][np.searchsorted(below, (0.1, 0.9))]
        (narrow,) = [p for p in posteriors(y, v, ["words", "words", "time"], margin=margin, level=0.8)
                     if p.mean == posterior.mean]  # fmt: skip
        assert (narrow.low, narrow.high) == pytest.approx(middle, abs=2e-3)


@pytest.mark.slow
def test_shrinking_is_calibrated_and_better_than_each_alone() -> None:
    """Mechanisms drawn from the model: of those of which `helps` says 90 % or more, as many help;
    and the means are nearer than those of single mechanisms.
    """
    rng, margin, said, true = np.random.default_rng(3), 0.005, 0.0, 0
    shrunk, alone, families = 0.0, 0.0, np.repeat(np.arange(6), 5)
    for _ in range(8):
        theta = rng.normal(0, 0.01, 6)[families] + 0.003 * np.clip(rng.standard_cauchy(30), -20, 20)
        v = rng.uniform(2e-5, 4e-4, (30, 3))
        y = theta[:, None] + rng.normal(0, np.sqrt(v + 0.003**2 + (0.5 * theta[:, None]) ** 2))
        results = posteriors(y.tolist(), v.tolist(), families.tolist(), margin=margin, points=6)
        for i, posterior in enumerate(results):
            shrunk += (posterior.mean - theta[i]) ** 2
            alone += (random_effects(y[i], v[i]).mean - theta[i]) ** 2
            if posterior.helps >= 0.9:
                said, true = said + posterior.helps, true + int(theta[i] > margin)
    assert shrunk < 0.9 * alone
    assert said > 25 and abs(true - said) < 2.6 * np.sqrt(said * 0.05)


def test_what_does_nothing_is_within_the_margin_however_much_others_differ() -> None:
    """One mechanism whose effect differs widely between data sets does not blur the others."""
    y = [[0.03, 0.2, 0.08], *[[0.0, 0.0, 0.0]] * 4]
    v = [[2e-5, 1e-3, 2e-4], *[[6e-6, 2e-5, 1e-5]] * 4]
    strong, *idle = posteriors(y, v, ["meaning", "meaning", "time", "time", "words"], margin=0.005)
    assert strong.helps > 0.9 and all(p.within > 0.9 for p in idle)


def test_a_posterior_turns_with_the_sign_of_the_effects() -> None:
    y, v = [[0.03, 0.01], [-0.002]], [[1e-4, 2e-4], [4e-5]]
    negative = [[-value for value in row] for row in y]
    upright = posteriors(y, v, ["words", "words"], margin=0.01)
    for up, down in zip(
        upright, posteriors(negative, v, ["words", "words"], margin=0.01), strict=True
    ):
        mirrored = Posterior(-up.mean, up.sd, -up.high, -up.low, up.hurts, up.within, up.helps)
        for field in Posterior.__slots__:
            assert getattr(down, field) == pytest.approx(getattr(mirrored, field), abs=1e-5)
        assert up.helps + up.within + up.hurts == pytest.approx(1.0) and up.low < up.mean < up.high


def test_lengths_that_differ_and_margins_of_0_are_refused() -> None:
    for families, margin in ((["words", "time"], 0.01), (["words"], 0.0), (["words"], np.nan)):
        with pytest.raises(InputError) as caught:
            posteriors([[0.1]], [[0.01]], families, margin=margin)
        assert caught.value.cure
    assert posteriors([], [], [], margin=0.01) == ()
