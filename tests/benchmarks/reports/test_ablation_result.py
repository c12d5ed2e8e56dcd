"""The result of an ablation: consistent, corrected, and the same after JSON."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from sample_ablation import EFFECTS, STILL, sample, whole
from scipy.stats import binomtest

from hebbarium.benchmarks.reports.result import (
    PRIMARY,
    BlockResult,
    from_json,
    source_of,
    spreads_of,
    to_json,
)
from hebbarium.benchmarks.reports.tables import to_csv
from hebbarium.benchmarks.scores.comparison import Verdict
from hebbarium.benchmarks.scores.metrics import METRICS
from hebbarium.engine.base.errors import DataError, InputError


@pytest.fixture(scope="module")
def result() -> BlockResult:
    return sample()


def test_holm_is_taken_over_all_arms_per_metric_for_both_tests(result: BlockResult) -> None:
    from statsmodels.stats.multitest import multipletests

    for name in METRICS:
        found = [arm.differences[name] for arm in result.estimates]
        for raw, adjusted in (
            ([1.0 if d.p is None else d.p for d in found], [d.p_holm for d in found]),
            ([d.flip_p for d in found], [d.flip_p_holm for d in found]),
        ):
            assert adjusted == pytest.approx(multipletests(raw, method="holm")[1].tolist())
    for arm in result.estimates:
        for name in METRICS:
            assert arm.differences[name].mean == pytest.approx(
                result.baseline[name] - arm.metrics[name], abs=1e-12
            )


def test_verdicts_follow_from_the_primary_metric(result: BlockResult) -> None:
    found = {arm.name: arm.verdict for arm in result.estimates}
    assert found["dense_retrieval"] is Verdict.HELPS and found["surprise_gate"] is Verdict.HURTS
    assert [name for name, word in found.items() if word is Verdict.NO_OP] == list(STILL)
    unmoved = [name for name, effect in EFFECTS.items() if effect is None and name not in STILL]
    assert [name for name, word in found.items() if word is Verdict.STATE_ONLY] == unmoved
    for arm in result.estimates:
        significant = (arm.primary.p_holm or 1.0) <= 0.05
        assert (arm.verdict in (Verdict.HELPS, Verdict.HURTS)) == (
            significant and not arm.primary.equivalent and not arm.no_op
        )
        assert arm.primary is arm.differences[PRIMARY]
    assert {arm.name for word in Verdict for arm in result.judged(word)} == set(found)


def test_arms_are_ordered_by_the_primary_difference_with_no_ops_last(result: BlockResult) -> None:
    live = [arm.primary.mean for arm in result.ordered() if not arm.no_op]
    assert live == sorted(live, reverse=True) and len(live) == 10
    assert [arm.name for arm in result.ordered()[10:]] == [
        "emotional_tagging",
        "reconsolidation",
        "synaptic_homeostasis",
    ]


def test_what_the_design_can_give_at_all(result: BlockResult) -> None:
    assert (result.smallest_p, result.exact, result.enough_questions) == (2 / 2**10, True, 542)
    assert not replace(result, n_conversations=35).exact


@pytest.mark.parametrize("change", [
    {"no_op": True}, {"n_ranks_changed": 0}, {"n_questions_changed": 0}, {"n_helped": 401},
    {"differences": {}},
])  # fmt: skip
def test_an_arm_that_contradicts_itself_is_refused(
    result: BlockResult, change: dict[str, object]
) -> None:
    with pytest.raises(InputError):
        replace(result.estimates[0], **change)


def test_a_no_op_cannot_have_a_difference(result: BlockResult) -> None:
    with pytest.raises(InputError):
        replace(result.judged(Verdict.NO_OP)[0], differences=result.estimates[0].differences)


@pytest.mark.parametrize(
    "change",
    [
        lambda r: {"estimates": (*r.estimates, r.estimates[0])},
        lambda r: {"n_conversations": 0},
        lambda r: {"n_questions": 3},
        lambda r: {"categories": {}},
    ],
)
def test_a_result_that_contradicts_itself_is_refused(result: BlockResult, change) -> None:
    with pytest.raises(InputError):
        replace(result, **change(result))


def test_json_comes_back_as_it_was(result: BlockResult) -> None:
    written = json.loads(json.dumps(to_json(whole(result)), allow_nan=False))
    assert from_json(written) == whole(result)
    (block,) = written["blocks"]
    assert block["smallest_p"] == 2 / 2**10 and block["family"] == list(EFFECTS)
    assert [e["verdict"] for e in block["estimates"]] == [e.verdict.value for e in result.estimates]
    one = whole(sample({"a": 0.2}, n_conversations=1))
    assert from_json(json.loads(json.dumps(to_json(one), allow_nan=False))) == one


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"format": 3},
        {"format": 1},
        {"format": 3, "blocks": [{"name": "x"}]},
        {"format": 3, "blocks": 3},
    ],
)
def test_other_json_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(DataError) as caught:
        from_json(data)
    assert caught.value.cure


def test_an_earlier_result_gives_the_spread_of_its_arms_that_changed(result: BlockResult) -> None:
    spreads = spreads_of(result)
    assert set(spreads) == {arm.name for arm in result.estimates if not arm.no_op}
    assert (
        source_of(result).spreads == tuple(spreads.values())
        and "cortex on LoCoMo" in source_of(result).what
    )
    assert not source_of(sample({"a": 0.2}, n_conversations=1)).spreads


def test_questions_won_and_lost_have_the_p_of_a_binomial_test(result: BlockResult) -> None:
    few = [e for e in result.estimates if 0 < e.n_helped + e.n_hurt < 25]
    assert few
    for e in few:
        exact = binomtest(e.n_helped, e.n_helped + e.n_hurt).pvalue
        assert e.mcnemar_p == pytest.approx(exact)
    assert result.judged(Verdict.NO_OP)[0].mcnemar_p == 1.0
    every = list(csv.DictReader(io.StringIO(to_csv(whole(result)))))
    primary = {r["estimate"]: r for r in every if r["metric"] == PRIMARY}
    for e in result.estimates:
        told = primary[e.name]
        assert (int(told["won"]), int(told["lost"])) == (e.n_helped, e.n_hurt)
        assert float(told["mcnemar_p"]) == pytest.approx(e.mcnemar_p)
