"""Comparisons of two arms: every number against its own source, and verdicts in their order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from hebbarium.benchmarks.scores.comparison import (
    ALPHA,
    Correction,
    Difference,
    Verdict,
    corrected,
    difference,
    verdict,
)
from hebbarium.benchmarks.scores.statistics import clustered_bootstrap, sign_flip

SETTLED = Difference(0.1, 0.05, 0.15, 0.001, p_holm=0.01, se=0.02, df=9.0)


def arms(
    seed: int, effect: float, c: int = 8, n: int = 30
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Metric of each question with and without, and the conversation: equal sizes, so that the
    t-test of conversation means is the reference.
    """
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(c), n)
    base = rng.random(c * n)
    return base, base - effect - 0.1 * rng.normal(size=c)[ids] - 0.2 * rng.normal(size=c * n), ids


@pytest.mark.parametrize("seed", range(5))
def test_the_test_of_record_is_the_t_test_and_the_others_stand_beside_it(seed: int) -> None:
    base, arm, ids = arms(seed, 0.05)
    found, d = difference(base, arm, ids, seed=3), base - arm
    oracle = stats.ttest_1samp(d.reshape(8, 30).mean(axis=1), 0.0)
    assert (found.mean, found.p, found.df) == pytest.approx((d.mean(), oracle.pvalue, 7.0))
    assert (found.low, found.high) == pytest.approx(tuple(oracle.confidence_interval(0.95)))
    assert found.equivalence == pytest.approx(tuple(oracle.confidence_interval(0.90)))
    assert found.flip_p == sign_flip(d, ids, seed=3).p
    assert found.bootstrap == (
        clustered_bootstrap(d, ids, seed=3).low,
        clustered_bootstrap(d, ids, seed=3).high,
    )
    assert found.p_holm is None and found.smallest is None


@pytest.mark.parametrize("seed", range(5))
def test_both_tests_are_corrected_over_the_whole_family(seed: int) -> None:
    from statsmodels.stats.multitest import multipletests

    family = [
        difference(*arms(10 * seed + i, effect)[:2], arms(0, 0.0)[2], seed=1)
        for i, effect in enumerate((0.0, 0.05, 0.1, 0.2, 0.0))
    ]
    found = corrected(family)
    assert [d.p_holm for d in found] == pytest.approx(
        multipletests([d.p for d in family], method="holm")[1]
    )
    assert [d.p_bh for d in found] == pytest.approx(
        multipletests([d.p for d in family], method="fdr_bh")[1]
    )
    assert [d.flip_p_holm for d in found] == pytest.approx(
        multipletests([d.flip_p for d in family], method="holm")[1]
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_smallest_effect_is_the_edge_of_significance_in_its_family(seed: int) -> None:
    """Moved to just above it, with the same spread, the comparison becomes significant; just
    below, it does not.
    """
    rng = np.random.default_rng(seed)
    effects = [0.0, *rng.choice([0.0, 0.03, 0.3], 5)]
    family = [
        difference(*arms(100 * seed + i, effect)[:2], arms(0, 0.0)[2], seed=1)
        for i, effect in enumerate(effects)
    ]
    found = corrected(family)
    undecided = [i for i, d in enumerate(found) if d.p_holm is not None and d.p_holm > ALPHA]
    assert undecided
    for i in undecided[:2]:
        d, edge = family[i], found[i].smallest
        assert d.se and d.df and edge
        for factor, significant in ((1.0001, True), (0.9999, False)):
            moved = replace(
                d, mean=factor * edge, p=float(2 * stats.t.sf(factor * edge / d.se, d.df))
            )
            others = [*family[:i], moved, *family[i + 1 :]]
            # Beside arms that were not rejected either: they keep their p-values, so the moved one
            # is the smallest of those left.
            assert (corrected(others)[i].p_holm <= ALPHA) == significant  # type: ignore[operator]


def test_a_p_that_is_not_defined_counts_as_one() -> None:
    found = corrected(
        [Difference(0.1, 0.1, 0.1, None, se=0.0, df=3.0), replace(SETTLED, p_holm=None)]
    )
    assert (
        found[0].p_holm == 1.0
        and found[0].smallest is None
        and found[1].p_holm == pytest.approx(0.002)
    )


def test_verdicts_come_in_their_order() -> None:
    assert verdict(replace(SETTLED, mean=0.0, equivalent=True), no_op=True) is Verdict.NO_OP
    assert (
        verdict(replace(SETTLED, mean=0.0, equivalent=True), no_op=True, wrote=True)
        is Verdict.STATE_ONLY
    )
    assert verdict(replace(SETTLED, p_holm=0.06, p_bh=0.04), no_op=False) is Verdict.UNDECIDED
    assert (
        verdict(
            replace(SETTLED, p_holm=0.06, p_bh=0.04),
            no_op=False,
            correction=Correction.BENJAMINI_HOCHBERG,
        )
        is Verdict.HELPS
    )
    assert verdict(replace(SETTLED, equivalent=True), no_op=False) is Verdict.EQUIVALENT, (
        "equivalent, although significant"
    )
    assert verdict(SETTLED, no_op=False) is Verdict.HELPS
    assert verdict(replace(SETTLED, mean=-0.1), no_op=False) is Verdict.HURTS
    for other in (
        replace(SETTLED, p_holm=0.051),
        replace(SETTLED, p_holm=None),
        replace(SETTLED, mean=0.0),
    ):
        assert verdict(other, no_op=False) is Verdict.UNDECIDED
    assert verdict(replace(SETTLED, p_holm=ALPHA), no_op=False) is Verdict.HELPS
    assert [str(v) for v in Verdict] == [
        "no-op",
        "changed state but no rank",
        "equivalent",
        "helps",
        "hurts",
        "undecided",
    ]


def test_no_change_has_no_interval_but_one_of_equivalence() -> None:
    """An interval of no width would say that the effect is known to be 0; few questions without
    a change do not show that.
    """
    ids = np.repeat(np.arange(5), 12)
    found = difference(np.ones(60), np.ones(60), ids, seed=0)
    assert (found.mean, found.p, found.low, found.high, found.bootstrap, found.equivalent) == (
        0.0,
        1.0,
        None,
        None,
        None,
        False,
    )
    assert found.equivalence == pytest.approx(
        (-1.6449 * (0.005 / 60) ** 0.5, 1.6449 * (0.005 / 60) ** 0.5), rel=1e-4
    )


def test_one_conversation_is_never_decided() -> None:
    (found,) = corrected([difference([1.0, 1.0, 1.0], [0.0, 0.0, 0.5], ["a"] * 3, seed=0)])
    assert (found.p, found.low, found.equivalence, found.spread, found.p_holm) == (
        None,
        None,
        None,
        None,
        1.0,
    )
    assert verdict(found, no_op=False) is Verdict.UNDECIDED
