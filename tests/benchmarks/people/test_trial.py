"""Mechanisms on trial: paired changes of the log distance, and what they show."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from hebbarium.benchmarks.people.effects import EffectSize, EffectVerdict
from hebbarium.benchmarks.people.paradigms import PRINTED
from hebbarium.benchmarks.people.printed_study import PrintedReport, PrintedRow
from hebbarium.benchmarks.people.study import compositions, study
from hebbarium.benchmarks.people.trial import (
    EVERY,
    MARGIN,
    OnTrial,
    TrialVerdict,
    lines_of,
    simultaneous,
    tried,
    verdict_of,
)
from hebbarium.benchmarks.probes.harness.bands import SeedEstimate
from hebbarium.benchmarks.systems.by_name import OURS
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

REGISTRY = Registry.read()
MINE = MechanismSet(
    "mine", "", {"temporal_context": {}, "dense_similarity": {}, "convex_fusion": {}}
)


def row(name: str, distance: float, *, noise: float = 0.0, shown: bool = False) -> PrintedRow:
    stream = np.random.default_rng(1)  # the same draws for every memory
    samples = distance * np.exp(noise * stream.normal(size=400))
    score = SeedEstimate(distance, math.nan, math.nan, 8)
    verdict = EffectVerdict.AS_PEOPLE if shown else EffectVerdict.NONE
    effects = {"slower": EffectSize(score, verdict)}
    return PrintedRow(name, score=score, effects=effects, samples=samples)


def report(*rows: PrintedRow, paradigm: str = "fan") -> PrintedReport:
    return PrintedReport(PRINTED[paradigm], rows, 8)


def test_a_change_is_the_log_ratio_and_what_both_share_does_not_widen_its_interval() -> None:
    rows = [row("s", 1.0, noise=0.5, shown=True), row("s without m", 2.0, noise=0.5)]
    (only,) = tried([report(*rows)], [OnTrial("s", "m")])
    assert only.change.mean == pytest.approx(-math.log(2.0))
    assert only.change.low == pytest.approx(only.change.high) == pytest.approx(-math.log(2.0))
    assert only.verdict is TrialVerdict.NEARER
    assert only.gained == ("slower",) and only.lost == ()
    assert lines_of([only])[0][:3] == ("s", "m", "fan")


def test_a_mean_lies_within_its_interval_though_resampling_adds_distance() -> None:
    """Near people, errors of the human numbers are most of a distance."""
    stream = np.random.default_rng(2)
    noise = stream.normal(size=400) ** 2
    rows = [
        PrintedRow(name, score=SeedEstimate(d, d, d, 8), samples=np.sqrt(d**2 + noise))
        for name, d in (("s", 0.2), ("s without m", 0.3))
    ]
    (only,) = tried([report(*rows)], [OnTrial("s", "m")])
    assert only.change.low <= only.change.mean <= only.change.high < 0.0
    assert math.log(0.2 / 0.3) < only.change.mean


@pytest.mark.slow
def test_intervals_hold_for_all_mechanisms_at_once() -> None:
    """Nine changes of 0 with independent noise: intervals of single changes at 95 % would miss 0 in
    1 - .95^9 = 37 % of families, those of the family in 5 %.
    """
    stream, missed, alone, families = np.random.default_rng(4), 0, 0, 300
    for _ in range(families):
        changes = [stream.normal() + stream.normal(size=400) for _ in range(9)]
        missed += any(low > 0.0 or high < 0.0 for low, high in simultaneous(changes))
        single = [simultaneous([change])[0] for change in changes]
        alone += any(low > 0.0 or high < 0.0 for low, high in single)
    assert abs(missed / families - 0.05) < 4.0 * math.sqrt(0.05 * 0.95 / families)
    assert abs(alone / families - 0.37) < 4.0 * math.sqrt(0.37 * 0.63 / families)


def test_mechanisms_that_change_alike_cost_less_than_their_number() -> None:
    stream = np.random.default_rng(5)
    shared, many = stream.normal(size=400), stream.normal(size=(12, 400))
    assert simultaneous([shared] * 12) == simultaneous([shared]) * 12
    (alone,) = simultaneous([many[0]])
    among = simultaneous(list(many))[0]
    assert among[0] < 1.2 * alone[0] < 1.2 * alone[1] < among[1]
    low, high = np.quantile(many[0], (0.025, 0.975))
    assert alone == pytest.approx((low, high), abs=0.05)


def test_verdicts_of_one_mechanism_depend_on_how_many_are_tried() -> None:
    """Of a set and a paradigm; other sets and paradigms are other families."""
    stream = np.random.default_rng(6)

    def of(name: str, distance: float) -> PrintedRow:
        samples = distance * np.exp(0.1 * stream.normal(size=400))
        return PrintedRow(
            name, score=SeedEstimate(distance, distance, distance, 8), samples=samples
        )

    rows = [row("s", 1.0), of("s without a", 1.45), *(of(f"s without {i}", 1.0) for i in range(20))]
    few = tried([report(*rows)], [OnTrial("s", "a")])
    many = tried([report(*rows)], [OnTrial("s", "a"), *(OnTrial("s", f"{i}") for i in range(20))])
    assert few[0].change.mean == many[0].change.mean
    assert many[0].change.low < few[0].change.low < few[0].change.high < many[0].change.high
    apart = tried([report(*rows)], [OnTrial("s", "a"), OnTrial("t", "a")])
    assert apart[0].change == few[0].change


def test_verdicts_follow_the_interval_and_the_margin() -> None:
    def of(low: float, high: float) -> TrialVerdict:
        return verdict_of(SeedEstimate((low + high) / 2.0, low, high, 8))

    assert of(-0.3, -0.1) is TrialVerdict.NEARER and of(0.1, 0.3) is TrialVerdict.FARTHER
    assert of(-MARGIN, MARGIN) is of(0.001, 0.01) is TrialVerdict.NONE
    assert of(-0.2, 0.2) is of(-0.2, 0.001) is TrialVerdict.UNDECIDED
    assert verdict_of(SeedEstimate(math.nan, math.nan, math.nan, 8)) is TrialVerdict.UNKNOWN


def test_several_paradigms_have_their_mean_over_those_that_are_scored() -> None:
    fan = report(row("s", 1.0), row("s without m", 2.0))
    context = report(row("s", 3.0), row("s without m", 1.0), paradigm="context")
    unscored = report(row("s", math.nan), row("s without m", math.nan), paradigm="release")
    rows = {row.paradigm: row for row in tried([fan, context, unscored], [OnTrial("s", "m")])}
    assert list(rows) == ["fan", "context", "release", EVERY]
    assert rows["release"].verdict is TrialVerdict.UNKNOWN
    assert rows[EVERY].change.mean == pytest.approx((math.log(3.0) - math.log(2.0)) / 2.0)
    refused = report(row("s", 1.0), PrintedRow("s without m", "its gates refused 1 of 2"))
    assert tried([refused], [OnTrial("s", "m")])[0].verdict is TrialVerdict.UNKNOWN


def test_sets_stand_before_what_lacks_a_mechanism_and_odd_names_have_a_cure() -> None:
    arms, trials = compositions([MINE], ["all"], REGISTRY, OURS)
    assert [trial.mechanism for trial in trials] == list(MINE.mechanisms)
    assert [arm.arm for arm in arms][:4] == ["mine", *(trial.arm for trial in trials)]
    assert set(arms[1].mechanisms) == set(MINE.mechanisms) - {trials[0].mechanism}
    _, some = compositions([MINE], ["dense_similarity"] * 2, REGISTRY, OURS)
    assert some == (OnTrial("mine", "dense_similarity"),)
    with pytest.raises(InputError, match="no set of these has 'dense'"):
        compositions([MINE], ["dense"], REGISTRY, OURS)
    with pytest.raises(InputError, match="has no mechanisms"):
        compositions([], ["dense_similarity"], REGISTRY, "a:B")


@pytest.mark.slow
def test_a_mechanism_that_carries_an_effect_is_said_to(tmp_path: Path) -> None:
    """Without words in the question, the temporal context is all that tells places apart."""
    report_of_both = study(
        ["context", "part_list"],
        [MINE],
        REGISTRY,
        CachedEmbedder(HashingEmbedder(32), tmp_path / "cache.sqlite"),
        tmp_path / "out",
        on_trial=["temporal_context"],
        people=4,
    )
    by_paradigm = {row.paradigm: row for row in report_of_both.trials}
    assert list(by_paradigm) == ["context", "part_list", EVERY]
    assert by_paradigm["context"].gained == ("better where it was learnt",)
    assert by_paradigm["part_list"].verdict is TrialVerdict.UNKNOWN
    text = (tmp_path / "out" / "human.md").read_text(encoding="utf-8")
    assert "## Mechanisms on trial" in text and "| mine | temporal\\_context | context |" in text
