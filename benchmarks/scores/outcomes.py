"""From outcomes of cells to scores: metrics of rows, percentiles of times, sums of receipts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..execution.cells import Outcome, Row
from .abstention import abstention
from .context import context_metrics
from .metrics import Metrics, question_metrics, summary
from .surroundings import Surroundings

NOTHING_AHEAD: Mapping[str, float] = MappingProxyType({"texts": 0, "hits": 0, "seconds": 0.0})


def scored(rows: Iterable[Row]) -> list[tuple[Row, Metrics]]:
    """Rows that have gold, each with its metrics."""
    return [(row, question_metrics(row["ranks"])) for row in rows if row["gold"]]


def metrics_of(
    dataset: str,
    outcomes: Sequence[Outcome],
    ahead: Mapping[str, float] = NOTHING_AHEAD,
    sizes: Mapping[tuple[str, str], int] | None = None,
) -> dict[str, Any]:
    """metrics.json: means over the questions that have gold, answers held back, percentiles of the
    phases' times, seconds for each event, embedding, summed receipts.

    If a language model was asked anything, `language_model`: requests and tokens by phase and
    mechanism.

    ahead  texts, hits and seconds of embedding before the first cell; those of the cells are added
    sizes  (conversation, question) -> items that are ranked; then also metrics at several depths,
           those of a random ranking and of an oracle, the pool, and `forbidden` where the data say
           what must not come back
    """
    marked = scored(row for o in outcomes for row in o.rows)
    categories = sorted({row["category"] for row, _ in marked})
    timing = {}
    for phase in outcomes[0].timing if outcomes else ():
        passes = [ms for o in outcomes for ms in o.timing[phase]]
        p50, p95 = np.percentile(passes, [50, 95]) if passes else (None, None)
        timing[phase] = {
            "p50": None if p50 is None else round(float(p50), 4),
            "p95": None if p95 is None else round(float(p95), 4),
        }
    return {
        "dataset": dataset, "overall": summary(m for _, m in marked),
        "by_category": {c: summary(m for row,
                                   m in marked if row["category"] == c) for c in categories},
        "abstention": abstention(row for o in outcomes for row in o.rows), "timing_ms": timing,
        "seconds_per_event": _per_event(outcomes),
        "embedding": {name: round(ahead[name] + sum(o.embedding.get(name, 0) for o in outcomes),
                                  3) for name in ahead},
        "receipts": total_receipts(outcomes),
        **(Surroundings.of((row for o in outcomes for row in o.rows),
                           sizes).plain() if sizes is not None else {}),
        **({"language_model": used} if (used := total_usage(outcomes)) else {}),
        **({"contexts": contexts} if (contexts := _contexts(outcomes)) else {}),
    }  # fmt: skip


def _per_event(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Seconds for each encoded event, without embedding: online while it is encoded, and offline
    in sleep and maintenance, spread over all events.
    """

    def total(phase: str) -> float:
        return sum(sum(o.timing.get(phase, ())) for o in outcomes) / 1e3

    events = sum(len(o.timing.get("encode", ())) for o in outcomes)
    parts = {"online": total("encode"), "offline": total("consolidate") + total("maintain")}
    return {name: round(seconds / events, 7) if events else None for name, seconds in parts.items()}


def _contexts(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Scores of contexts by budget, overall and by category; {} if no row has any."""
    return context_metrics(
        (row["category"], row["contexts"]) for o in outcomes for row in o.rows if "contexts" in row
    )


def total_receipts(outcomes: Iterable[Outcome]) -> dict[str, dict[str, int]]:
    """Receipts summed over cells."""
    total: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        for id, receipt in outcome.receipts.items():
            mine = total.setdefault(id, dict.fromkeys(receipt, 0))
            for name, count in receipt.items():
                mine[name] += count
    return total


def total_usage(outcomes: Iterable[Outcome]) -> dict[str, dict[str, dict[str, int]]]:
    """Requests and tokens of a language model by phase and mechanism, summed over cells."""
    total: dict[str, dict[str, dict[str, int]]] = {}
    for outcome in outcomes:
        for phase, used in outcome.language_model.items():
            for id, counts in used.items():
                mine = total.setdefault(phase, {}).setdefault(id, dict.fromkeys(counts, 0))
                for name, count in counts.items():
                    mine[name] += count
    return total
