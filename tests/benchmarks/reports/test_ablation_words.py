"""Conclusions in words: they say what was shown, and never that nothing is there where the
design could not have shown it.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from statistics import median

import pytest
from sample_ablation import sample, whole

from hebbarium.benchmarks.reports.result import (
    PRIMARY,
    REMOVED,
    ArmReceipt,
    BlockResult,
    DesignFacts,
    Estimate,
    corrected_estimates,
    from_json,
    to_json,
)
from hebbarium.benchmarks.reports.tables import said
from hebbarium.benchmarks.reports.words import (
    family,
    headline,
    legend,
    limits,
    notes,
    p_text,
    provenance,
    scale,
    signed,
    verdict_text,
)
from hebbarium.benchmarks.scores.chance import chance_levels, oracle_levels, pool_of
from hebbarium.benchmarks.scores.cluster_robust import Spread
from hebbarium.benchmarks.scores.comparison import Difference, Verdict
from hebbarium.benchmarks.scores.metrics import METRICS
from hebbarium.benchmarks.scores.power import more_words


@pytest.fixture(scope="module")
def result() -> BlockResult:
    return sample()


def arm(id: str, word: Verdict) -> Estimate:
    """An arm with that verdict."""
    mean = {Verdict.NO_OP: 0.0, Verdict.STATE_ONLY: 0.0, Verdict.HURTS: -0.1}.get(word, 0.1)
    p = 0.5 if word is Verdict.UNDECIDED else 0.001
    d = Difference(
        mean,
        mean - 0.05,
        mean + 0.05,
        p,
        p,
        se=0.02,
        df=9.0,
        flip_p=0.5,
        flip_p_holm=0.5,
        equivalence=(mean - 0.04, mean + 0.04),
        equivalent=word is Verdict.EQUIVALENT,
        smallest=0.12,
        spread=Spread(0.1, 0.2),
    )
    changed, receipt = (
        int(word not in (Verdict.NO_OP, Verdict.STATE_ONLY)),
        ArmReceipt(1, 1, 0) if word is Verdict.STATE_ONLY else None,
    )
    return Estimate(
        id,
        REMOVED,
        PRIMARY,
        not changed,
        dict.fromkeys(METRICS, 0.5),
        dict.fromkeys(METRICS, d),
        changed,
        changed,
        0,
        0,
        receipt,
        1.0,
    )


def made(*words: Verdict, n_questions: int = 1000) -> BlockResult:
    arms = tuple(arm(f"m{i}", word) for i, word in enumerate(words))
    facts = DesignFacts("leave-one-out", "", "toy", "leave-one-out", n_designed=len(arms))
    return BlockResult(
        facts,
        "",
        "demo",
        "0" * 64,
        "minilm",
        10,
        n_questions,
        {"full": 0.5},
        arms,
        dict.fromkeys(METRICS, 0.5),
    )


def test_numbers_as_text() -> None:
    assert [signed(v) for v in (0.5, -0.5, 0.0, -0.0, -0.00004, None, float("nan"))] == ["+0.5000",
        "−0.5000", "0.0000", "0.0000", "0.0000", "–", "–"]  # fmt: skip
    assert [p_text(v) for v in (0.0254, 1.0, 0.00001, None)] == ["0.0254", "1", "<0.0001", "–"]


def test_the_headline_counts_every_verdict_and_names_what_was_decided(result: BlockResult) -> None:
    words = said(result)
    for word in (
        Verdict.HELPS,
        Verdict.HURTS,
        Verdict.NO_OP,
        Verdict.STATE_ONLY,
        Verdict.UNDECIDED,
    ):
        assert re.search(
            rf"\b{len(result.judged(word))} (helps?|hurts?|changed nothing|changed state but no rank|(is|are) undecided)",
            words,
        )
    assert {text for text, name in headline(result) if name} >= {
        a.name for a in result.judged(Verdict.HURTS)
    }


@pytest.mark.parametrize("words", [[Verdict.UNDECIDED], [Verdict.UNDECIDED] * 3,
                                   [Verdict.UNDECIDED] * 2 + [Verdict.NO_OP] * 2,
                                   [Verdict.HELPS, Verdict.UNDECIDED], [Verdict.EQUIVALENT] * 2,
                                   list(Verdict) * 3, []],
                         ids=lambda words: " ".join(words) or "none")  # fmt: skip
def test_no_headline_claims_that_none_helps(words: list[Verdict]) -> None:
    found = said(made(*words))
    assert not re.search(
        r"\b(none|no arm|nothing) (of \S+ )?(helps|hurts)|beyond chance", found, re.IGNORECASE
    )
    assert found.endswith(".") and ("undecided" in found) == (Verdict.UNDECIDED in words)
    assert ("could have shown effects of ±0.1200 or more" in found) == (Verdict.UNDECIDED in words)


def test_what_could_have_been_shown_is_the_median_and_the_range_of_the_undecided_arms(
    result: BlockResult,
) -> None:
    shown = sorted(
        a.primary.smallest for a in result.judged(Verdict.UNDECIDED) if a.primary.smallest
    )
    sentence = limits(result)[0]
    assert (
        f"±{median(shown):.4f} or more" in sentence
        and f"(±{shown[0]:.4f} to ±{shown[-1]:.4f}" in sentence
    )


def test_an_effect_of_more_than_a_score_can_change_is_not_promised() -> None:
    def told(*smallest: float) -> list[str]:
        found = made(*[Verdict.UNDECIDED] * len(smallest))
        return limits(
            replace(
                found,
                estimates=tuple(
                    replace(
                        each,
                        differences={
                            **each.differences,
                            PRIMARY: replace(each.primary, smallest=needed),
                        },
                    )
                    for each, needed in zip(found.estimates, smallest, strict=True)
                ),
            )
        )

    none = "this design could have shown no effect: it would have to be larger than 1, and no two scores differ by more."
    assert told(1.5, 10.0) == [f"For the undecided arms {none}"]
    assert told(0.6, 1.5) == [
        "For 1 of the undecided arms this design could have shown effects of ±0.6000 or more; smaller ones are neither shown "
        "nor excluded.",
        f"For the others {none}",
    ]


def test_one_conversation_and_few_questions_say_so() -> None:
    assert "decides no arm" in limits(sample({"a": 0.2, "b": 0.1}, n_conversations=1))[0]
    assert any(
        "it needs 542 or more" in line for line in limits(made(Verdict.UNDECIDED, n_questions=300))
    )
    assert not any("542" in line for line in limits(made(Verdict.UNDECIDED, n_questions=542)))
    assert limits(made(Verdict.HELPS, Verdict.EQUIVALENT, n_questions=10)) == []


def test_a_missing_spread_has_its_reason() -> None:
    base = arm("x", Verdict.UNDECIDED)
    bare = replace(base.primary, se=0.0, smallest=None)
    for d, word in ((replace(bare, mean=0.0), "too few questions"), (bare, "no spread")):
        odd = replace(base, differences=dict.fromkeys(METRICS, d))
        assert word in notes(odd, made(Verdict.UNDECIDED))[0]
    assert notes(base, made(Verdict.UNDECIDED)) == []


def test_an_arm_that_removes_more_than_it_names_is_marked_and_points_to_the_fair_one(
    result: BlockResult,
) -> None:
    confounded = next(a for a in result.estimates if a.silenced)
    (note,) = (each for each in notes(confounded, result) if each.startswith("†"))
    assert (
        "signals of 2 other mechanisms (temporal_context, synaptic_homeostasis)" in note
        and confounded.fair[0] in note
    )
    assert "no fair arm" in notes(replace(confounded, fair=()), result)[-1]
    assert not any(
        each.startswith("†")
        for a in result.estimates
        if not a.silenced
        for each in notes(a, result)
    )


def test_an_undecided_arm_says_once_how_many_more_conversations_it_needs(
    result: BlockResult,
) -> None:
    for a in result.estimates:
        said_of = " ".join((verdict_text(a, result), *notes(a, result)))
        needs = bool(a.verdict is Verdict.UNDECIDED and a.primary.more)
        assert said_of.count("more conversation") == needs
        assert not needs or more_words(a.primary.more) in said_of
    assert any(a.primary.more for a in result.judged(Verdict.UNDECIDED))


def test_chance_level_pool_and_seeds_are_said_where_they_are_known(result: BlockResult) -> None:
    assert scale(result) == []
    known = replace(
        result,
        pool=pool_of([8, 40, 900], 10),
        chance=chance_levels([(40, 2)]),
        oracle=oracle_levels([(40, 2), (40, 20)]),
        facts=replace(result.facts, seeds=(0, 1, 2)),
        by_seed={"full": (0.5, 0.51, 0.52)},
    )
    words = " ".join(legend(known))
    assert (
        "8 to 900 items, median 40" in words
        and "recall@10 of 0.2500, all evidence first 0.7500, no memory 0." in words
        and "Warning: the first 10 are the whole pool for 1 of 3" in words
    )
    assert "Seeds: 0, 1, 2" in words and "0.0100" in words
    assert from_json(json.loads(json.dumps(to_json(whole(known))))).blocks == (known,)


def test_the_family_is_what_was_run() -> None:
    assert "all 2 arms" in family(made(Verdict.HELPS, Verdict.HURTS))
    both = made(Verdict.HELPS, Verdict.HURTS)
    part = replace(both, facts=replace(both.facts, n_designed=9))
    assert "2 of the 9 arms" in family(part) and "before any result" in family(part)


def test_the_smallest_effect_is_where_the_correction_would_have_rejected() -> None:
    """Three arms, one of them clearly significant: the others are tested at alpha / 2."""
    ds = [
        Difference(0.3, 0.2, 0.4, 1e-6, se=0.02, df=8.0, flip_p=0.1),
        Difference(0.03, 0, 0.1, 0.2, se=0.02, df=8.0, flip_p=0.1),
        Difference(0.01, 0, 0.1, 0.6, se=0.02, df=8.0, flip_p=0.1),
    ]
    base = arm("x", Verdict.UNDECIDED)
    arms = corrected_estimates(
        [
            replace(base, name=f"a{i}", differences=dict.fromkeys(METRICS, d))
            for i, d in enumerate(ds)
        ]
    )
    from scipy.stats import t

    assert [a.primary.smallest for a in arms] == pytest.approx([t.ppf(1 - 0.025 / 2, 8) * 0.02] * 3)


def test_provenance_names_everything_that_decides_the_result(result: BlockResult) -> None:
    made = whole(result).made
    found = dict(provenance(result, made))
    assert (
        found["Command"] == "hebbarium ablate --set cortex"
        and found["Overrides"] == "recency.weight=0.2"
        and found["Left off"] == "heat"
    )
    assert (
        "session" in found["Unit"]
        and "all-MiniLM-L6-v2" in found["Embedder"]
        and "24 h" in found["Rehearsal"]
        and "2 cores" in found["Machine"]
    )
    assert (
        result.dataset_sha256 in found["Data"]
        and "5" * 64 in found["Mechanism set"]
        and "numpy 2.4.0" in found["Versions"]
    )
    assert dict(provenance(replace(result, provenance={}), made))["Code"] == result.facts.version
