"""Bands and verdicts: intervals against brute force, and every verdict from rows written by
hand.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.probes.harness.bands import (
    ProbeOutcome,
    ProbeVerdict,
    estimate,
    judge,
    ratio,
)
from hebbarium.benchmarks.probes.harness.base import (
    Above,
    Claim,
    MoreThan,
    NotBelow,
    Probe,
    Ratio,
    Within,
)
from hebbarium.benchmarks.probes.harness.report import FAILING


def probe(*band: Claim) -> Probe:
    return Probe("made/up", "", "", "", "", "1", band, (), lambda life, seed: {})


def rows(
    *numbers: dict[str, float | None], error: str = "", missing: str = ""
) -> list[dict[str, Any]]:
    return [
        {
            "seed": i,
            "numbers": n,
            "error": error if i == 1 else "",
            "missing": missing,
            "stimuli": "x",
        }
        for i, n in enumerate(numbers)
    ]


def verdict(band: Claim, *numbers: dict[str, float | None]) -> ProbeVerdict:
    return judge(probe(band), rows(*numbers)).verdict


def test_the_interval_is_that_of_all_resamples_of_the_seeds() -> None:
    """All 4^4 resamples of four values, and their quantiles, against 10,000 random ones."""
    values = [0.1, 0.5, 0.6, 1.4]
    means = [np.mean(draw) for draw in product(values, repeat=4)]
    low, high = np.quantile(means, (0.025, 0.975))
    found = estimate(values)
    assert (
        found.mean == pytest.approx(0.65)
        and found.low == pytest.approx(low, abs=0.03)
        and found.high == pytest.approx(high, abs=0.03)
    )
    assert estimate(values) == found


def test_the_interval_of_a_ratio_is_that_of_the_ratio_of_means() -> None:
    a, b = [1.0, 2.0, 6.0, 3.0], [1.0, 1.0, 2.0, 2.0]
    ratios = [
        np.mean([a[i] for i in draw]) / np.mean([b[i] for i in draw])
        for draw in product(range(4), repeat=4)
    ]
    found = ratio(a, b)
    assert found.mean == pytest.approx(2.0)
    assert (found.low, found.high) == pytest.approx(
        tuple(np.quantile(ratios, (0.025, 0.975))), abs=0.08
    )
    assert math.isnan(ratio([1.0], [0.0]).mean)


@pytest.mark.parametrize(("band", "holding", "failing"), [
    (Above("a", "b"), {"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0}), (Above("a", "b", 2.0), {"a": 3.0,
    "b": 1.0}, {"a": 1.5, "b": 1.0}),
    (NotBelow("a", "b"), {"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0}), (Within("a", 0.5, 1.0),
    {"a": 0.5}, {"a": 1.1}),
    (Within("a", low=0.8), {"a": 0.8}, {"a": 0.79}), (MoreThan("a", 0.5), {"a": 0.6}, {"a": 0.5}),
    (Ratio("a", "b", low=1.3, high=3.0), {"a": 2.0, "b": 1.0}, {"a": 4.0, "b": 1.0})],
    ids=lambda x: getattr(x, "text", ""))  # fmt: skip
def test_each_claim_holds_and_fails(
    band: Claim, holding: dict[str, float | None], failing: dict[str, float | None]
) -> None:
    assert (
        verdict(band, *[holding] * 3) is ProbeVerdict.SHOWN
        and verdict(band, *[failing] * 3) is ProbeVerdict.OUTSIDE
    )


def test_an_order_needs_an_interval_that_excludes_0() -> None:
    assert (
        verdict(Above("a", "b"), {"a": 3.0, "b": 0.0}, {"a": 0.0, "b": 1.0}, {"a": 3.0, "b": 0.0})
        is ProbeVerdict.OUTSIDE
    )
    assert (
        verdict(
            NotBelow("a", "b"), {"a": 0.0, "b": 3.0}, {"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 3.0}
        )
        is ProbeVerdict.SHOWN
    )
    assert verdict(MoreThan("a", 0.5), {"a": 0.4}, {"a": 1.0}, {"a": 1.0}) is ProbeVerdict.OUTSIDE


def test_nan_and_constant_signatures_are_not_shown() -> None:
    assert verdict(Above("a", "b"), *[{"a": 1.0, "b": 1.0}] * 3) is ProbeVerdict.NOT_SHOWN
    assert verdict(NotBelow("a", "b"), *[{"a": 1.0, "b": 1.0}] * 3) is ProbeVerdict.NOT_SHOWN
    found = judge(probe(Within("a", low=0.0)), rows({"a": 1.0}, {"a": None}, {"a": 1.0}))
    assert (
        found.verdict is ProbeVerdict.NOT_SHOWN
        and found.why == "not defined: a in 1 of 3 seeds"
        and found.numbers["a"].mean == 1.0
    )


def test_errors_missing_capabilities_and_few_seeds_have_verdicts_of_their_own() -> None:
    band = Within("a", low=0.0)
    failed = judge(probe(band), rows({"a": 1.0}, {}, {"a": 1.0}, error="ValueError: no"))
    assert (
        failed.verdict is ProbeVerdict.ERROR
        and failed.why == "seed 1: ValueError: no"
        and failed.seeds == (0, 1, 2)
    )
    assert (
        judge(probe(band), rows({}, {}, {}, missing="sleep")).verdict is ProbeVerdict.NOT_APPLICABLE
    )
    few = judge(probe(band), rows({"a": 1.0}, {"a": 2.0}))
    assert (
        few.verdict is ProbeVerdict.NO_VERDICT
        and few.numbers["a"].mean == 1.5
        and math.isnan(few.numbers["a"].low)
    )
    assert judge(probe(), rows({"a": 1.0}, {"a": 2.0}, {"a": 3.0})).verdict is ProbeVerdict.MEASURED


def test_a_failure_with_few_stored_events_is_said_to_be_refused_and_stays_a_failure() -> None:
    """9 in 10 events stored is enough; a probe about gates has no such excuse; what is shown is
    shown.
    """
    band = Within("a", low=1.0)

    def found(value: float, stored: int, *, of_gates: bool = False) -> ProbeOutcome:
        given = [{**row, "told": 10, "stored": stored} for row in rows(*[{"a": value}] * 3)]
        return judge(replace(probe(band), of_gates=of_gates), given)

    refused = found(0.0, 8)
    assert (
        refused.verdict is ProbeVerdict.REFUSED
        and refused.why == "24 of 30 events stored; outside: does not hold: a >= 1"
    )
    assert refused.verdict in FAILING and (refused.told, refused.stored) == (30, 24)
    assert (
        found(0.0, 9).verdict is found(0.0, 8, of_gates=True).verdict is ProbeVerdict.OUTSIDE
        and found(1.0, 1).verdict is ProbeVerdict.SHOWN
    )
