"""Scores of contexts: means by budget and category."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any, Final

from ..execution.contexts import ContextRow

MEANS: Final = ("evidence", "answer", "tokens", "items", "repeated", "cut", "latest_evidence",
                "latest_answer")  # fmt: skip


def context_metrics(rows: Iterable[tuple[str, Mapping[str, ContextRow]]]) -> dict[str, Any]:
    """Means by budget, overall and by category, over the questions that have gold, and the name of
    the counter; {} without rows.

    rows  (category, scores by budget) of each question; their order does not matter

    >>> row: ContextRow = {"evidence": 1.0, "answer": None, "tokens": 9, "counter": "length/4", "items": 1, "repeated": 0.0, "cut": 0,
    ...                    "truncated": False, "latest_evidence": 0.0, "latest_answer": None}
    >>> metrics = context_metrics([("single", {"512": row})])
    >>> metrics["counter"], metrics["budgets"]["512"]["overall"]["evidence"]
    ('length/4', 1.0)
    """
    kept = list(rows)
    if not kept:
        return {}
    metrics: dict[str, Any] = {}
    for budget in sorted({budget for _, scores in kept for budget in scores}, key=int):
        here = [
            (category, scores[budget])
            for category, scores in kept
            if budget in scores and scores[budget]["evidence"] is not None
        ]
        categories = sorted({category for category, _ in here})
        metrics[budget] = {
            "overall": _means([row for _, row in here]),
            "by_category": {
                name: _means([row for category, row in here if category == name])
                for name in categories
            },
        }
    counters = sorted({row["counter"] for _, scores in kept for row in scores.values()})
    return {"counter": ", ".join(counters), "budgets": metrics}


def _means(rows: Sequence[ContextRow]) -> dict[str, float | int | None]:
    """Means of what is not None, with the number of questions, of those with an answer, and the
    share of truncated contexts.
    """
    means: dict[str, float | int | None] = {
        "n": len(rows),
        "answers": sum(row["answer"] is not None for row in rows),
    }
    for name in MEANS:
        values = [float(value) for row in rows if (value := row[name]) is not None]
        means[name] = fsum(values) / len(values) if values else None
    means["truncated"] = sum(row["truncated"] for row in rows) / len(rows) if rows else None
    return means
