"""Accuracies that treat questions as independent, against statsmodels and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from hebbarium.benchmarks.scores.agreement import chi_squared, mcnemar, wilson
from hebbarium.engine.base.errors import InputError


@pytest.mark.parametrize(
    ("successes", "n"), [(0, 1), (1, 1), (8, 10), (0, 40), (77, 80), (1302, 1540)]
)
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_is_that_of_statsmodels(successes: int, n: int, level: float) -> None:
    from statsmodels.stats.proportion import proportion_confint

    found = wilson(successes, n, level)
    assert (found.low, found.high) == pytest.approx(
        proportion_confint(successes, n, 1 - level, method="wilson"), abs=1e-12
    )
    assert found.share == successes / n and 0.0 <= found.low <= found.share <= found.high <= 1.0


@pytest.mark.parametrize(
    ("b", "c"),
    [(0, 0), (1, 0), (2, 9), (12, 12), (13, 11), (24, 0), (25, 0), (13, 12), (30, 60), (400, 380)],
)
def test_mcnemar_is_exact_and_that_of_statsmodels(b: int, c: int) -> None:
    from statsmodels.stats.contingency_tables import mcnemar as oracle

    found = mcnemar(b, c)
    assert (found.first_only, found.second_only) == (b, c)
    if b + c:
        table = np.array([[50, b], [c, 7]])
        assert found.p == pytest.approx(oracle(table, exact=True).pvalue, rel=1e-9)
    else:
        assert found.p == 1.0


def test_mcnemar_of_thousands_of_questions_does_not_overflow() -> None:
    assert mcnemar(2000, 2200).p == pytest.approx(stats.binomtest(2000, 4200).pvalue)


@pytest.mark.parametrize(("a", "b", "n"), [(90, 70, 100), (5, 6, 11), (0, 3, 40), (40, 37, 40)])
def test_chi_squared_is_that_of_scipy(a: int, b: int, n: int) -> None:
    expected = stats.chi2_contingency([[a, n - a], [b, n - b]], correction=False)
    assert (chi_squared(a, b, n).statistic, chi_squared(a, b, n).p) == pytest.approx(
        (expected.statistic, expected.pvalue)
    )


def test_two_perfect_runs_have_no_p() -> None:
    assert chi_squared(5, 5, 5).p is None and chi_squared(0, 0, 5).p is None


def test_impossible_counts_are_refused() -> None:
    for call in (
        lambda: wilson(3, 2),
        lambda: wilson(0, 0),
        lambda: wilson(-1, 2),
        lambda: mcnemar(-1, 0),
        lambda: chi_squared(3, 1, 2),
    ):
        with pytest.raises(InputError):
            call()
