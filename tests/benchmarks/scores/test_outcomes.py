"""Scores of outcomes: questions without gold are left out, times and receipts are put together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.execution.cells import Outcome
from hebbarium.benchmarks.scores.metrics import METRICS
from hebbarium.benchmarks.scores.outcomes import metrics_of, scored, total_receipts


def row(category: str, *ranks: int) -> dict[str, Any]:
    return {
        "category": category,
        "gold": [f"e{i}" for i in range(len(ranks))],
        "ranks": list(ranks),
        "held_back": not ranks,
    }


OUTCOMES = [
    Outcome(
        [row("a", 1), row("b", 0, 2), row("a")],
        {"encode": [1.0, 2.0], "retrieve": []},
        {"x": {"calls": 1, "ranks_changed": 4}},
        0.1,
    ),
    Outcome(
        [row("a", 20)],
        {"encode": [9.0], "retrieve": []},
        {"x": {"calls": 2, "ranks_changed": 0}, "y": {"calls": 5, "ranks_changed": 1}},
        0.2,
    ),
]


def test_questions_without_gold_are_not_scored() -> None:
    assert [r["ranks"] for r, _ in scored(OUTCOMES[0].rows)] == [[1], [0, 2]]


def test_means_times_and_receipts() -> None:
    result = metrics_of("d", OUTCOMES)
    assert result["overall"]["n"] == 3 and result["overall"]["recall@10"] == pytest.approx(
        (1.0 + 0.5 + 0.0) / 3
    )
    assert (
        result["by_category"]["a"]["n"] == 2
        and result["by_category"]["a"]["mrr@10"] == 0.5
        and result["by_category"]["b"]["mrr@10"] == 0.5
    )
    assert result["timing_ms"]["encode"] == {
        "p50": 2.0,
        "p95": round(float(np.percentile([1.0, 2.0, 9.0], 95)), 4),
    }
    assert result["timing_ms"]["retrieve"] == {"p50": None, "p95": None}
    assert result["seconds_per_event"] == {"online": 0.004, "offline": 0.0}
    assert metrics_of("d", [])["seconds_per_event"] == {"online": None, "offline": None}
    assert (
        result["receipts"]
        == total_receipts(OUTCOMES)
        == {"x": {"calls": 3, "ranks_changed": 4}, "y": {"calls": 5, "ranks_changed": 1}}
    )
    assert result["abstention"] == {
        "unanswerable": 0,
        "held_back": None,
        "answerable": 4,
        "false_hold_backs": 0.25,
    }
    assert metrics_of("d", [])["overall"] == {"n": 0, **dict.fromkeys(METRICS)}


def test_what_was_asked_of_a_language_model_is_summed_by_phase_and_mechanism() -> None:
    one, two = ({"requests": n, "prompt_tokens": 10 * n} for n in (1, 2))
    found = [
        Outcome([], {}, {}, 0.1, language_model=used)
        for used in (
            {"consolidate": {"x": one}},
            {},
            {"consolidate": {"x": two, "y": one}, "retrieve": {"x": one}},
        )
    ]
    assert metrics_of("d", found)["language_model"] == {
        "consolidate": {"x": {"requests": 3, "prompt_tokens": 30}, "y": one},
        "retrieve": {"x": one},
    }
    assert found[0].language_model == {"consolidate": {"x": one}}, "cells stay as they are"


def test_forbidden_rows_are_counted_over_the_questions_that_name_any() -> None:
    def asked(question: str, retrieved: list[str], forbidden: list[str]) -> dict[str, Any]:
        return {
            **row("a", 1), "conversation": "c", "question": question, "retrieved": retrieved,
            **({"forbidden": forbidden} if forbidden else {}),
        }  # fmt: skip

    rows: list[Any] = [
        asked("q1", ["x", "e0", "y"], ["x", "y"]),
        asked("q2", [], ["x"]),  # held back
        asked("q3", ["x"], []),
    ]
    sizes = {("c", name): 20 for name in ("q1", "q2", "q3")}
    found = metrics_of("d", [Outcome(rows, {}, {}, 0.0)], sizes=sizes)
    assert found["forbidden"]["n"] == 2
    assert found["forbidden"]["forbidden@1"] == 0.5
    assert found["forbidden"]["forbidden@5"] == pytest.approx(2 / 5 / 2)
    assert found["forbidden"]["chance"]["forbidden@10"] == pytest.approx((2 / 20 + 1 / 20) / 2)
    assert found["forbidden"]["oracle"]["forbidden@10"] == 0.0
    assert found["oracle"]["recall@1"] == 1.0
    without = metrics_of("d", [Outcome(rows[2:], {}, {}, 0.0)], sizes=sizes)
    assert "forbidden" not in without
