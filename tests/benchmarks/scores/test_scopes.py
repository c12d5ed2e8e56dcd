"""The two scopes: flips against scipy, the step-down against closed testing over all subsets, the
stratified interval against its closed form, and what degenerate data give.
"""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
import pytest
from scipy import stats

from hebbarium.benchmarks.scores.scopes import flipped, gatekept, here, step_down
from hebbarium.benchmarks.scores.statistics import sign_flip
from hebbarium.engine.base.errors import InputError


def rows(m: int, n: int, seed: int = 0, shared: float = 0.6) -> np.ndarray:
    """m estimates on n questions; they share part of their changes, and most questions have none."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=n)
    table = shared * common + (1.0 - shared) * rng.normal(size=(m, n))
    return np.where(rng.random((m, n)) < 0.5, table, 0.0)


def test_all_patterns_give_the_p_of_scipy() -> None:
    table = rows(3, 9, seed=4)
    observed, null = flipped(table, seed=0)
    for row, t, drawn in zip(table, observed, null.T, strict=True):
        exact = stats.permutation_test(
            (row,), np.sum, permutation_type="samples", n_resamples=np.inf
        ).pvalue
        assert float(np.mean(drawn >= t * (1 - 1e-9))) == pytest.approx(exact)


def test_drawn_patterns_agree_with_the_normal_limit() -> None:
    table = rows(2, 900, seed=1) + 0.02
    observed, null = flipped(table, seed=3)
    assert null.shape == (10_001, 2)
    for t, drawn in zip(observed, null.T, strict=True):
        assert np.mean(drawn >= t) == pytest.approx(2 * stats.norm.sf(t), abs=0.015)


def test_flips_of_conversations_are_the_sign_flip_test() -> None:
    table, ids = rows(4, 60, seed=2) + 0.1, np.repeat(np.arange(6), 10)
    observed, null = flipped(table, seed=0, cluster_ids=ids)
    for row, t, drawn in zip(table, observed, null.T, strict=True):
        assert np.mean(drawn >= t * (1 - 1e-9)) == pytest.approx(sign_flip(row, ids, seed=0).p)


def test_the_step_down_is_the_closed_test_over_all_subsets() -> None:
    """A hypothesis is rejected if every intersection that holds it is, by its largest statistic."""
    for seed in range(5):
        table = rows(4, 12, seed=seed) + np.array([[0.8], [0.4], [0.1], [0.0]])
        observed, null = flipped(table, seed=0)
        subsets = list(chain.from_iterable(combinations(range(4), size) for size in (1, 2, 3, 4)))
        of = {
            s: float(np.mean(null[:, s].max(axis=1) >= observed[list(s)].max() * (1 - 1e-9)))
            for s in map(list, subsets)
            for s in [tuple(s)]
        }
        closed = [max(p for s, p in of.items() if i in s) for i in range(4)]
        assert step_down(observed, null).tolist() == pytest.approx(closed)


def test_equal_estimates_cost_no_more_than_one() -> None:
    row = rows(1, 200, seed=5)[0] + 0.2
    one, twenty = (
        here([row], np.zeros(200, int), seed=0, margin=0.01),
        here([row] * 20, np.zeros(200, int), seed=0, margin=0.01),
    )
    assert {h.p_rw for h in twenty} == {one[0].p_rw} == {one[0].p}


def test_members_are_tested_only_inside_families_that_matter() -> None:
    table = np.concatenate([rows(3, 400, seed=6) + 0.25, rows(9, 400, seed=7, shared=0.0)])
    names = ["words"] * 3 + ["sleep"] * 4 + ["gates"] * 5
    observed, null = flipped(table, seed=0)
    gated = gatekept(observed, null, names)
    assert (gated[:3] <= 0.05).all() and (gated[3:] > 0.05).all()
    inside = step_down(observed[:3], null[:, :3]) * 3  # one of three families is selected
    assert gated[:3].tolist() == pytest.approx(np.maximum(inside, gated[:3].min()).tolist())
    whole = gatekept(observed, null, ["all"] * 12)
    assert (whole >= step_down(observed, null) - 1e-12).all()


def test_the_level_of_every_correction_is_kept_where_no_arm_does_anything() -> None:
    """400 families of 12 arms with symmetric changes: the share with a false rejection."""
    false = np.zeros(3)
    for seed in range(400):
        table = rows(12, 80, seed=1000 + seed)
        table *= np.random.default_rng(seed).choice([-1.0, 1.0], size=80)
        observed, null = flipped(table, seed=seed, n=400)
        names = [i // 4 for i in range(12)]
        false += [
            (null[:, 0] >= observed[0]).mean() <= 0.05,
            step_down(observed, null).min() <= 0.05,
            gatekept(observed, null, names).min() <= 0.05,
        ]
    alone, stepped, gated = false / 400
    assert 0.02 < alone < 0.08 and 0.02 < stepped < 0.08 and gated <= 0.08


def test_the_interval_is_that_of_a_stratified_sample() -> None:
    rng = np.random.default_rng(8)
    sizes = (200, 120, 80)
    ids = np.repeat(np.arange(3), sizes)
    row = rng.normal(size=400) + np.repeat([0.5, -0.4, 1.0], sizes)
    (h,) = here([row], ids, seed=0, margin=0.01)
    within = sum(n * row[ids == g].var() for g, n in enumerate(sizes)) / 400**2
    assert h.low is not None and h.high is not None
    assert h.high - h.low == pytest.approx(2 * 1.96 * within**0.5, rel=0.08)
    assert (h.high + h.low) / 2 == pytest.approx(row.mean(), abs=0.02)
    (flat,) = here([row], np.zeros(400, int), seed=0, margin=0.01)
    assert flat.high - flat.low > h.high - h.low, "conversations that differ are strata"  # type: ignore[operator]


@pytest.mark.parametrize("n", [1, 5, 600])
def test_what_changes_nothing_or_everything_alike_has_a_verdict(n: int) -> None:
    nothing, alike = here([[0.0] * n, [0.5] * n], ["c"] * n, seed=0, margin=0.005)
    assert (nothing.p, nothing.low, nothing.p_rw) == (1.0, None, 1.0)
    assert nothing.equivalent == (n == 600), "few questions show no equivalence"
    assert (
        alike.low is None
        and alike.equivalent is False
        and alike.p == (pytest.approx(2.0 ** (1 - n)) if n < 14 else pytest.approx(1e-4, rel=0.01))
    )
    assert here(np.zeros((0, 0)), [], seed=0, margin=0.1) == ()


@pytest.mark.parametrize(
    ("table", "ids", "families"),
    [
        ([[0.1, np.nan]], [1, 1], None),
        ([0.1, 0.2], [1, 1], None),
        ([[0.1, 0.2]], [1], None),
        ([[0.1, 0.2]], [1, 1], ["a", "b"]),
        ([[]], [], None),
    ],
)
def test_bad_input_is_refused_with_a_cure(table: object, ids: object, families: object) -> None:
    with pytest.raises(InputError) as caught:
        here(table, ids, seed=0, margin=0.01, families=families)  # type: ignore[arg-type]
    assert caught.value.cure
    with pytest.raises(InputError, match="margin"):
        here([[0.1, 0.2]], [1, 1], seed=0, margin=0.0)


def test_patterns_are_all_sign_patterns_up_to_the_sign_of_the_whole() -> None:
    table = np.array([[1.0, 2.0, 4.0]])
    _, null = flipped(table, seed=0)
    brute = sorted({abs(sum(s * v for s, v in zip(signs, table[0], strict=True)))
                    for signs in product((1, -1), repeat=3)})  # fmt: skip
    assert sorted((null[:, 0] * np.sqrt(21)).round(9).tolist()) == pytest.approx(brute)


def test_conversations_of_one_question_are_no_strata_of_their_own() -> None:
    row = np.random.default_rng(9).normal(size=300)
    (single,), (pooled,) = (
        here([row], ids, seed=0, margin=0.01) for ids in (np.arange(300), np.zeros(300, int))
    )
    assert (single.low, single.high) == (pooled.low, pooled.high) and single.low is not None
