"""The cluster-robust t-test against matrices written out, against scipy, and on simulated data
whose truth is known.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hebbarium.benchmarks.scores.cluster_robust import (
    Spread,
    cluster_t,
    expected_half_width,
    fewest_questions,
    satterthwaite,
    smallest_effect,
    spread,
)
from hebbarium.benchmarks.scores.statistics import sign_flip
from hebbarium.engine.base.errors import InputError

# Questions of the conversations of a design: equal ones, LoCoMo's own spread, and one conversation
# that holds half of all questions.
DESIGNS = {
    5: [199, 105, 193, 260, 242],
    10: [20] * 9 + [180],
    35: [5 + 3 * (g % 12) for g in range(35)],
}
EXPERIMENTS = 2000
CORRELATION = 0.1  # of two questions of one conversation


def by_matrices(y: Any, ids: Any) -> tuple[float, float]:
    """Standard error and degrees of freedom from the definition: A_g = (I - H_gg)^(-1/2), G =
    P'P.
    """
    cluster, n = np.unique(ids, return_inverse=True)[1], len(y)
    hat = np.full((n, n), 1.0 / n)
    residual, variance, columns = y - y.mean(), 0.0, []
    for g in range(cluster.max() + 1):
        member = cluster == g
        value, vector = np.linalg.eigh(np.eye(member.sum()) - hat[np.ix_(member, member)])
        adjusted = vector @ np.diag(value**-0.5) @ vector.T @ np.ones(member.sum())
        variance += float(adjusted @ residual[member]) ** 2 / n**2
        columns.append((np.eye(n) - hat)[:, member] @ adjusted / n)
    gram = np.array(columns) @ np.array(columns).T
    return math.sqrt(variance), float(np.trace(gram) ** 2 / np.sum(gram**2))


@pytest.mark.parametrize("seed", range(6))
def test_error_and_degrees_of_freedom_are_those_of_the_matrices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, 3 + seed, 60)
    y = rng.normal(size=60) + 0.3 * rng.normal(size=3 + seed)[ids]
    found = cluster_t(y, ids)
    assert (found.se, found.df) == pytest.approx(by_matrices(y, ids), rel=1e-9)
    assert found.t == pytest.approx(y.mean() / by_matrices(y, ids)[0], rel=1e-9)


def test_equal_clusters_give_the_t_test_of_their_means() -> None:
    rng = np.random.default_rng(1)
    means = rng.normal(0.2, 1.0, 7)
    y, ids = np.repeat(means, 4) + np.tile([-1.0, 0.5, 0.25, 0.25], 7), np.repeat(np.arange(7), 4)
    found, oracle = cluster_t(y, ids), stats.ttest_1samp(means, 0.0)
    assert (found.t, found.p, found.df) == pytest.approx((oracle.statistic, oracle.pvalue, 6.0))
    low, high = oracle.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_order_and_names_of_the_conversations_do_not_matter() -> None:
    rng = np.random.default_rng(2)
    ids, y = rng.integers(0, 5, 40), rng.normal(size=40)
    shuffled = rng.permutation(40)
    one, other = cluster_t(y, ids), cluster_t(y[shuffled], [f"c{i}" for i in ids[shuffled]])
    assert (one.p, one.low, one.high) == pytest.approx((other.p, other.low, other.high))


@pytest.mark.parametrize("c", DESIGNS)
def test_the_size_of_the_test_is_its_level(c: int) -> None:
    """No effect, correlated questions: at most .05 and two standard errors of the simulation are
    rejected; the interval covers as promised.
    """
    rng, sizes = np.random.default_rng([3, c]), np.array(DESIGNS[c])
    ids = np.repeat(np.arange(c), sizes)
    rejected = covered = 0
    for _ in range(EXPERIMENTS):
        y = math.sqrt(CORRELATION) * rng.normal(size=c)[ids] + math.sqrt(
            1.0 - CORRELATION
        ) * rng.normal(size=len(ids))
        found = cluster_t(y, ids)
        assert found.p is not None and found.low is not None and found.high is not None
        rejected += found.p <= 0.05
        covered += found.low <= 0.0 <= found.high
    bound = 0.05 + 2.0 * math.sqrt(0.05 * 0.95 / EXPERIMENTS)
    assert rejected / EXPERIMENTS <= bound, rejected / EXPERIMENTS
    assert covered == EXPERIMENTS - rejected


def test_five_conversations_can_decide_where_the_sign_flip_cannot() -> None:
    """A third of the questions improves in each of five conversations: the exact sign flip stops
    at 1/16.
    """
    ids = np.repeat(np.arange(5), 30)
    y = np.where(np.arange(150) % 3 == 0, 1.0, 0.0) + 0.01 * ids
    found = cluster_t(y, ids)
    assert found.p is not None and found.p < 1e-3 and sign_flip(y, ids, seed=1).p == 0.0625


@pytest.mark.slow
@pytest.mark.parametrize("c", DESIGNS)
def test_equivalence_on_the_margin_is_claimed_at_most_at_its_level(c: int) -> None:
    rng, sizes, margin = np.random.default_rng([5, c]), np.array(DESIGNS[c]), 0.05
    ids = np.repeat(np.arange(c), sizes)
    claimed = 0
    for _ in range(EXPERIMENTS):
        y = margin + 0.02 * rng.normal(size=c)[ids] + 0.3 * rng.normal(size=len(ids))
        claimed += cluster_t(y, ids).equivalent(margin)
    assert claimed / EXPERIMENTS <= 0.05 + 2.0 * math.sqrt(0.05 * 0.95 / EXPERIMENTS)


def test_what_is_zero_everywhere_is_equivalent_and_what_is_large_is_not() -> None:
    ids = np.repeat(np.arange(6), 100)
    nothing, large = (
        cluster_t(np.zeros(600), ids),
        cluster_t(0.2 + 0.01 * np.sin(np.arange(600)), ids),
    )
    assert (nothing.p, nothing.mean, nothing.t) == (1.0, 0.0, None) and nothing.equivalent(0.005)
    assert not large.equivalent(0.005) and large.equivalent(0.3)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[199, 105, 193, 260, 242], [22] * 10, [200] * 20], ids=str)
def test_equivalence_is_not_claimed_above_its_level_where_few_questions_change(
    sizes: list[int],
) -> None:
    """A share of the questions, as large as the margin, is lost entirely: the effect is the margin.
    Without its floor the interval of level .90 lies inside the margin in 8 to 35 % of such
    experiments."""
    rng, margin, ids = (
        np.random.default_rng([9, len(sizes)]),
        0.005,
        np.repeat(np.arange(len(sizes)), sizes),
    )
    claimed = unguarded = 0
    for _ in range(EXPERIMENTS):
        found = cluster_t((rng.random(len(ids)) < margin).astype(float), ids)
        plain = found.interval(0.90)
        assert plain is not None
        claimed += found.equivalent(margin)
        unguarded += -margin < plain[0] and plain[1] < margin
    assert (
        claimed / EXPERIMENTS
        <= 0.05 + 2.0 * math.sqrt(0.05 * 0.95 / EXPERIMENTS)
        < unguarded / EXPERIMENTS
    )


def test_equivalence_needs_enough_questions() -> None:
    for margin in (0.005, 0.02, 0.3):
        enough = fewest_questions(margin)
        for n, shown in ((enough, True), (enough - 1, False)):
            assert cluster_t(np.zeros(n), np.arange(n) % 3).equivalent(margin) == shown, margin


def test_equivalence_is_the_interval_of_the_t_test_where_questions_are_many() -> None:
    rng = np.random.default_rng(11)
    ids = np.repeat(np.arange(9), 50)
    found = cluster_t(0.02 + 0.1 * rng.normal(size=9)[ids], ids)
    assert found.equivalence(0.3) == found.interval(0.90) and found.n_questions == 450


def test_the_smallest_effect_has_p_alpha() -> None:
    rng = np.random.default_rng(12)
    ids, y = np.repeat(np.arange(5), [4, 9, 20, 3, 7]), rng.normal(size=43)
    first = cluster_t(y, ids)
    edge = smallest_effect(first.se, first.df, 0.01)
    assert edge is not None and cluster_t(y - y.mean() + edge, ids).p == pytest.approx(
        0.01, rel=1e-6
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_spread_is_the_expected_mean_squares_solved_for_its_parts(seed: int) -> None:
    """The sums of squares by loops, n0 from its definition; for equal sizes the F statistic is
    scipy's.
    """
    rng = np.random.default_rng(seed)
    sizes = [6] * 7 if seed == 0 else rng.integers(2, 20, 7).tolist()
    groups = [rng.normal() + rng.normal(size=n) for n in sizes]
    y, ids = np.concatenate(groups), np.repeat(np.arange(7), sizes)
    n, mean = len(y), y.mean()
    msw = sum(float(np.sum((g - g.mean()) ** 2)) for g in groups) / (n - 7)
    msb = sum(len(g) * float((g.mean() - mean) ** 2) for g in groups) / 6
    found = spread(y, ids)
    assert found is not None and found.within**2 == pytest.approx(msw)
    assert found.between**2 == pytest.approx(
        max(0.0, (msb - msw) / ((n - sum(len(g) ** 2 for g in groups) / n) / 6))
    )
    assert stats.f_oneway(*groups).statistic == pytest.approx(msb / msw)


def test_the_spread_of_many_experiments_is_the_truth() -> None:
    rng, sizes = np.random.default_rng(21), np.array(DESIGNS[35])
    ids = np.repeat(np.arange(35), sizes)
    found = [
        spread(0.2 * rng.normal(size=35)[ids] + 0.5 * rng.normal(size=len(ids)), ids)
        for _ in range(300)
    ]
    assert np.mean([f.between**2 for f in found if f]) == pytest.approx(0.04, rel=0.05)
    assert np.mean([f.within**2 for f in found if f]) == pytest.approx(0.25, rel=0.02)


def test_one_question_per_conversation_has_no_spread_within() -> None:
    found = spread([0.1, 0.5, 0.3], ["a", "b", "c"])
    assert (
        found is not None
        and found.within == 0.0
        and found.between == pytest.approx(np.std([0.1, 0.5, 0.3], ddof=1))
    )
    assert spread([0.1, 0.2], ["a", "a"]) is None


def test_the_expected_half_width_is_what_simulations_show() -> None:
    rng, sizes = np.random.default_rng(7), np.array(DESIGNS[35])
    ids, c = np.repeat(np.arange(35), sizes), 35
    halves = []
    for _ in range(400):
        found = cluster_t(0.05 * rng.normal(size=c)[ids] + 0.3 * rng.normal(size=len(ids)), ids)
        assert found.high is not None
        halves.append(found.high - found.mean)
    assert np.mean(halves) == pytest.approx(expected_half_width(sizes, Spread(0.05, 0.3)), rel=0.05)


def test_one_conversation_says_nothing_about_spread() -> None:
    found = cluster_t([0.1, 0.2], ["a", "a"])
    assert (
        found.mean == pytest.approx(0.15)
        and (found.p, found.low, found.df) == (None, None, None)
        and not found.equivalent(10.0)
    )
    with pytest.raises(InputError):
        expected_half_width([10], Spread(1.0, 1.0))


@pytest.mark.parametrize(
    ("values", "ids"),
    [([], []), ([1.0], ["a", "b"]), ([math.nan, 1.0], ["a", "b"]), ([1.0, 2.0], [0.5, 1.5])],
)
def test_what_cannot_be_tested_is_refused(values: Any, ids: Any) -> None:
    with pytest.raises(InputError):
        cluster_t(values, ids)


def test_levels_and_margins_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="level"):
        cluster_t([1.0, 2.0], ["a", "b"], level=1.0)
    with pytest.raises(InputError, match="margin"):
        cluster_t([1.0, 2.0], ["a", "b"]).equivalent(0.0)


def test_degrees_of_freedom_fall_with_imbalance() -> None:
    assert satterthwaite([7] * 9) == pytest.approx(8.0)
    assert 1.0 < satterthwaite([1, 1, 1, 1, 100]) < satterthwaite([10, 10, 10, 10, 60]) < 4.0
