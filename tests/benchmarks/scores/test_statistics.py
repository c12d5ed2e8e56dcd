from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hebbarium.benchmarks.scores.statistics import (
    _drawn,
    bca,
    benjamini_hochberg,
    clustered_bootstrap,
    holm,
    sign_flip,
    smallest_p,
)
from hebbarium.engine.base.errors import InputError


def conversations(
    rng: np.random.Generator, c: int, mu: float, between: float, within: float
) -> tuple[np.ndarray, np.ndarray]:
    """Questions that share their conversation's effect; sizes are independent of effects, so mu
    is the true mean.
    """
    ids = np.repeat(np.arange(c), rng.integers(5, 30, size=c))
    return mu + between * rng.normal(size=c)[ids] + within * rng.normal(size=len(ids)), ids


def linearised_standard_error(x: np.ndarray, ids: np.ndarray) -> float:
    """The delta-method standard error of a ratio of sums over clusters."""
    labels = sorted(set(ids.tolist()))
    residuals = [float(np.sum(x[ids == label] - x.mean())) for label in labels]
    return float(np.sqrt(np.sum(np.square(residuals)))) / len(x)


# ---- bootstrap


def test_the_interval_covers_the_truth_as_often_as_it_says_and_the_naive_one_does_not() -> None:
    rng = np.random.default_rng(20)
    runs, clustered, naive = 300, 0, 0
    for run in range(runs):
        x, ids = conversations(rng, 30, mu=0.3, between=1.0, within=1.0)
        interval = clustered_bootstrap(x, ids, 400, seed=run)
        clustered += interval.low <= 0.3 <= interval.high
        half = 1.96 * x.std() / np.sqrt(len(x))
        naive += abs(x.mean() - 0.3) <= half
    assert 0.89 <= clustered / runs <= 0.98  # binomial error at 0.94 over 300 runs is 0.014
    assert naive / runs < 0.75


def test_the_interval_agrees_with_the_delta_method_on_many_clusters() -> None:
    x, ids = conversations(np.random.default_rng(3), 200, mu=-0.1, between=0.5, within=1.0)
    interval, error = clustered_bootstrap(x, ids, 4000, seed=0), linearised_standard_error(x, ids)
    assert interval.mean == pytest.approx(x.mean())
    assert (interval.low, interval.high) == pytest.approx(
        (x.mean() - 1.96 * error, x.mean() + 1.96 * error), abs=0.15 * error
    )


@pytest.mark.parametrize(("level", "seed"), [(0.95, 1), (0.9, 2), (0.6, 3)])
def test_the_corrected_interval_of_a_distribution_is_that_of_scipy(level: float, seed: int) -> None:
    x = np.random.default_rng(seed).exponential(size=14)
    oracle = stats.bootstrap(
        (x,),
        np.mean,
        n_resamples=3000,
        confidence_level=level,
        method="BCa",
        rng=np.random.default_rng(seed),
    )
    found = bca(oracle.bootstrap_distribution, float(x.mean()), (x.sum() - x) / 13, level)
    assert found == pytest.approx(tuple(oracle.confidence_interval), rel=1e-9)


def test_the_interval_is_corrected_from_eight_clusters_on_and_says_so() -> None:
    x, ids = conversations(np.random.default_rng(3), 40, 0.2, 1.0, 0.5)
    for c in (2, 7, 8, 40):
        mine = x[ids < c], ids[ids < c]
        found = clustered_bootstrap(*mine, 2000, seed=1)
        assert found.method == ("BCa" if c >= 8 else "percentile")
    sums, counts = np.bincount(ids, weights=x), np.bincount(ids)

    def ratio(places: np.ndarray, axis: int = -1) -> np.ndarray:
        where = places.astype(int)
        return sums[where].sum(axis=axis) / counts[where].sum(axis=axis)

    oracle = stats.bootstrap(
        (np.arange(40.0),), ratio, n_resamples=20000, method="BCa", rng=np.random.default_rng(2)
    )
    error = linearised_standard_error(x, ids)
    assert (
        clustered_bootstrap(x, ids, 20000, seed=1).low,
        clustered_bootstrap(x, ids, 20000, seed=1).high,
    ) == pytest.approx(tuple(oracle.confidence_interval), abs=0.06 * error)


def test_where_the_correction_is_not_defined_the_interval_is_that_of_percentiles() -> None:
    assert bca([0.1, 0.2], 0.0, [0.1, 0.3]) is None and bca([0.1, 0.2], 0.15, [0.2, 0.2]) is None
    same = clustered_bootstrap(np.full(30, 0.25), np.repeat(np.arange(10), 3), 100, seed=1)
    assert (same.low, same.high, same.method) == (0.25, 0.25, "percentile")


def test_two_clusters_give_the_multinomial_distribution_of_the_ratio() -> None:
    """Sums 3 and 0 over 3 and 1 questions: resamples have means 1 (1/4), 0 (1/4) and 3/4 (1/2),
    each interval end known.
    """
    x, ids = [1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"]
    assert clustered_bootstrap(x, ids, 4000, seed=1).mean == 0.75
    wide, middle = (
        clustered_bootstrap(x, ids, 4000, seed=1, level=0.9),
        clustered_bootstrap(x, ids, 4000, seed=1, level=0.4),
    )
    assert (wide.low, wide.high) == (0.0, 1.0)
    assert (middle.low, middle.high) == (0.75, 0.75)


def test_the_order_of_questions_and_the_kind_of_ids_do_not_matter() -> None:
    rng = np.random.default_rng(8)
    x, ids = rng.integers(-4, 5, size=60) / 4.0, rng.integers(10, 19, size=60)
    shuffle = rng.permutation(60)
    a = clustered_bootstrap(x, ids, 500, seed=5)
    assert (
        a
        == clustered_bootstrap(x[shuffle], ids[shuffle], 500, seed=5)
        == clustered_bootstrap(x, [str(i) for i in ids], 500, seed=5)
    )
    assert (a.low, a.high) != (
        clustered_bootstrap(x, ids, 500, seed=6).low,
        clustered_bootstrap(x, ids, 500, seed=6).high,
    )


def test_many_clusters_are_drawn_in_blocks_without_changing_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, ids = conversations(np.random.default_rng(4), 64, 0.0, 1.0, 1.0)
    whole = clustered_bootstrap(x, ids, 100, seed=2)
    monkeypatch.setattr("hebbarium.benchmarks.scores.statistics._BLOCK", 64 * 16)
    # draws that are kept for the next comparison, and draws that are not
    for kept in (1 << 24, 0):
        monkeypatch.setattr("hebbarium.benchmarks.scores.statistics._KEPT", kept)
        _drawn.cache_clear()
        found = clustered_bootstrap(x, ids, 100, seed=2)
        assert (found.low, found.high, found.method) == pytest.approx(
            (whole.low, whole.high, "BCa")
        )


def test_a_single_conversation_has_no_interval() -> None:
    only = clustered_bootstrap([0.1, 0.5], ["a", "a"], 50, seed=0)
    assert (only.mean, only.low, only.high, only.n_clusters) == (0.3, None, None, 1)


# ---- sign flips


def brute_force_p(differences: np.ndarray, ids: np.ndarray) -> float:
    """All sign patterns over clusters, applied to the questions themselves."""
    labels = sorted(set(ids.tolist()))
    observed = abs(differences.mean())
    extreme = 0
    for signs in product((-1.0, 1.0), repeat=len(labels)):
        flipped = differences * np.array([signs[labels.index(i)] for i in ids.tolist()])
        extreme += abs(flipped.mean()) >= observed - 1e-12
    return extreme / 2 ** len(labels)


@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.booleans())
def test_the_exact_test_equals_brute_force_enumeration(c: int, seed: int, coarse: bool) -> None:
    rng = np.random.default_rng(seed)
    ids = np.concatenate([np.arange(c), rng.integers(c, size=12)])
    # coarse: ties, zeros, 0.1 + 0.2 - 0.3
    d = rng.integers(-2, 3, size=len(ids)) / 10.0 if coarse else rng.normal(0.2, 1.0, size=len(ids))
    result = sign_flip(d, ids, seed=0)
    assert result.exact and result.n_clusters == c
    assert result.p == pytest.approx(brute_force_p(d, ids), abs=1e-15)
    assert result.p >= result.smallest_p * (result.n_informative == c)


def test_drawn_patterns_approach_the_exact_p() -> None:
    rng = np.random.default_rng(12)
    ids = np.repeat(np.arange(11), 6)
    d = rng.normal(0.25, 1.0, size=66)
    exact = sign_flip(d, ids, seed=0)
    drawn = sign_flip(d, ids, seed=0, n=2000)
    assert exact.exact and exact.n_flips == 2**11 and not drawn.exact and drawn.n_flips == 2000
    assert drawn.p == pytest.approx(
        brute_force_p(d, ids), abs=4 * np.sqrt(exact.p * (1 - exact.p) / 2000) + 1 / 2000
    )
    assert (drawn.p * 2001) == pytest.approx(round(drawn.p * 2001))


def test_a_drawn_p_is_never_zero() -> None:
    result = sign_flip(np.ones(60), np.arange(60), seed=3, n=500)
    assert result.p == result.smallest_p == 1 / 501


def test_under_the_null_the_p_value_is_uniform_on_its_lattice() -> None:
    """Eight clusters with continuous totals: p takes the values j / 128 with equal chance,
    however unequal the clusters.
    """
    rng = np.random.default_rng(77)
    sizes = np.array([1, 2, 3, 5, 8, 13, 4, 6])
    ids = np.repeat(np.arange(8), sizes)
    p = np.array(
        [
            sign_flip(
                rng.normal(size=8)[ids] * sizes[ids] + 0.3 * rng.normal(size=len(ids)), ids, seed=0
            ).p
            for _ in range(2560)
        ]
    )
    lattice = np.rint(p * 128).astype(int)
    assert np.allclose(p * 128, lattice) and lattice.min() >= 1 and lattice.max() == 128
    counts = np.bincount((lattice - 1) // 8, minlength=16)
    assert stats.chisquare(counts).pvalue > 0.001


def test_no_difference_at_all_is_p_one() -> None:
    result = sign_flip(np.zeros(9), ["a", "b", "c"] * 3, seed=0)
    assert (result.p, result.n_informative, result.smallest_p) == (1.0, 0, 0.25)


def test_conversations_that_did_not_change_only_lower_the_attainable_significance() -> None:
    d, ids = np.zeros(500), np.arange(500)
    d[:3] = 0.5
    result = sign_flip(d, ids, seed=0)
    assert (
        result.exact
        and result.p == 2 / 2**3
        and (result.n_clusters, result.n_informative) == (500, 3)
    )


@pytest.mark.parametrize("c", [1, 2, 5, 10, 13])
def test_the_smallest_p_is_attained(c: int) -> None:
    assert sign_flip(np.arange(1.0, c + 1), np.arange(c), seed=0).p == smallest_p(c) == 2 / 2**c


# ---- Holm


@pytest.mark.parametrize("seed", range(40))
def test_holm_equals_statsmodels(seed: int) -> None:
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(seed)
    # ties, ends and small values
    p = np.where(
        rng.random(1 + seed // 2) < 0.3,
        rng.choice([0.0, 1.0, 0.01, 0.05]),
        rng.random(1 + seed // 2) ** 3,
    )
    got = holm(p)
    assert got == pytest.approx(multipletests(p, method="holm")[1], abs=1e-15)
    assert (
        np.all(got >= p)
        and np.all(got <= 1.0)
        and np.all(np.diff(got[np.argsort(p, kind="stable")]) >= 0)
    )


def test_holm_of_an_empty_family_is_empty() -> None:
    assert holm([]).shape == (0,)


@pytest.mark.parametrize(
    "call",
    [
        lambda: clustered_bootstrap([], [], 10, seed=0),
        lambda: clustered_bootstrap([1.0, 2.0], ["a"], 10, seed=0),
        lambda: clustered_bootstrap([1.0, float("nan")], ["a", "b"], 10, seed=0),
        lambda: clustered_bootstrap([1.0, 2.0], ["a", "b"], 0, seed=0),
        lambda: clustered_bootstrap([1.0, 2.0], ["a", "b"], 10, seed=0, level=1.0),
        lambda: clustered_bootstrap([1.0, 2.0], [0.5, 1.5], 10, seed=0),  # type: ignore[list-item]
        lambda: sign_flip([1.0], ["a"], seed=0, n=0),
        lambda: smallest_p(0),
        lambda: holm([0.5, 1.5]),
        lambda: holm([float("nan")]),
    ],
)
def test_bad_input_is_refused(call) -> None:
    with pytest.raises(InputError):
        call()


@pytest.mark.parametrize("seed", range(4))
def test_benjamini_hochberg_is_that_of_statsmodels(seed: int) -> None:
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(seed).random(12) ** 2
    p[3] = p[5]
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1])
    assert benjamini_hochberg([]).tolist() == [] and benjamini_hochberg([1.0]).tolist() == [1.0]
    with pytest.raises(InputError):
        benjamini_hochberg([1.5])
