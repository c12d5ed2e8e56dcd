"""Calibration and abstention: reliability, its error and risk at each coverage against counts by
hand and scipy; answers held back by kind.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binned_statistic

from hebbarium.benchmarks.scores.abstention import UNANSWERABLE, abstention, unanswerable
from hebbarium.benchmarks.scores.calibration import (
    expected_calibration_error,
    reliability,
    risk_coverage,
)
from hebbarium.engine.base.errors import InputError


def test_bins_hold_what_lies_between_their_ends() -> None:
    bins = reliability([0.0, 0.09, 0.1, 0.55, 1.0, 0.95], [False, True, True, False, True, True])
    assert [(b.low, b.n) for b in bins if b.n] == [(0.0, 2), (0.1, 1), (0.5, 1), (0.9, 2)]
    assert (bins[0].confidence, bins[0].frequency) == (pytest.approx(0.045), 0.5) and (
        bins[9].confidence,
        bins[9].frequency,
    ) == (0.975, 1.0)
    assert bins[2].confidence is None and bins[2].frequency is None and len(bins) == 10
    assert expected_calibration_error(bins) == pytest.approx(
        (2 * 0.455 + 0.9 + 0.55 + 2 * 0.025) / 6
    )


def test_the_error_agrees_with_scipys_bins() -> None:
    rng = np.random.default_rng(5)
    p = rng.random(500)
    y = rng.random(500) < p**2
    kinds = ((p, "count"), (p, "mean"), (y, "mean"))
    n, confidence, frequency = (
        binned_statistic(p, values, kind, bins=10, range=(0.0, 1.0))[0] for values, kind in kinds
    )
    assert expected_calibration_error(reliability(p, y)) == pytest.approx(
        float(np.sum(n / 500 * np.abs(confidence - frequency)))
    )
    assert expected_calibration_error(reliability(y.astype(float), y)) == 0.0


def test_risk_is_that_of_the_most_probable_and_ties_are_answered_together() -> None:
    p, y = [0.9, 0.8, 0.8, 0.8, 0.3, 0.1], [True, True, False, True, False, True]
    found = risk_coverage(p, y, (1.0, 0.8, 0.5, 0.1))
    assert [(a.coverage, a.threshold) for a in found] == [
        (1.0, 0.1),
        (5 / 6, 0.3),
        (4 / 6, 0.8),
        (1 / 6, 0.9),
    ]
    assert [a.risk for a in found] == pytest.approx([2 / 6, 2 / 5, 1 / 4, 0.0])
    assert all(a.coverage == pytest.approx(np.mean(np.asarray(p) >= a.threshold)) for a in found)


@pytest.mark.parametrize(("p", "y"), [([], []), ([0.5], [True, False]), ([1.5], [True]), ([-0.1],
    [True]), ([np.nan], [False]), ([[0.5]], [[True]])])  # fmt: skip
def test_what_is_no_probability_is_refused(p: list[float], y: list[bool]) -> None:
    for function in (reliability, risk_coverage):
        with pytest.raises(InputError):
            function(p, y)


def test_answers_held_back_are_counted_by_kind_of_question() -> None:
    asked = [
        ("abstention", True),
        ("abstention", False),
        ("adversarial", True),
        ("single-hop", True),
        ("single-hop", False),
        ("temporal", False),
    ]
    found = abstention({"category": category, "held_back": held} for category, held in asked)
    assert found == {
        "unanswerable": 3,
        "held_back": 2 / 3,
        "answerable": 3,
        "false_hold_backs": 1 / 3,
    }
    assert abstention([]) == {
        "unanswerable": 0,
        "held_back": None,
        "answerable": 0,
        "false_hold_backs": None,
    }
    assert {
        c for c in ("abstention", "adversarial", "summarization") if unanswerable(c)
    } == UNANSWERABLE
