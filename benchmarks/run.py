"""`hebbarium run`: one mechanism set on one data set."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.ports.embedding_cache import CachedEmbedder
from ..engine.registry import MechanismSet, Registry
from ..reporting.files import results_folder, write_json
from .datasets import Dataset
from .scores.metrics import Metrics, question_metrics, summary
from .sweep import FULL, Arm, Outcome, Progress, cells_of, check_arms, embed_ahead, manifest, run_cells, write_rows


def scored(rows: Iterable[dict[str, Any]]) -> list[tuple[dict[str, Any], Metrics]]:
    """Rows that have gold, each with its metrics."""
    return [(row, question_metrics(row["ranks"])) for row in rows if row["gold"]]


def metrics_of(dataset: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """metrics.json: means over the questions that have gold, percentiles of the phases' times, summed receipts."""
    marked = scored(row for o in outcomes for row in o.rows)
    categories = sorted({row["category"] for row, _ in marked})
    timing = {}
    for phase in outcomes[0].timing if outcomes else ():
        passes = [ms for o in outcomes for ms in o.timing[phase]]
        p50, p95 = np.percentile(passes, [50, 95]) if passes else (None, None)
        timing[phase] = {"p50": None if p50 is None else round(float(p50), 4), "p95": None if p95 is None else round(float(p95), 4)}
    return {
        "dataset": dataset, "overall": summary(m for _, m in marked),
        "by_category": {c: summary(m for row, m in marked if row["category"] == c) for c in categories},
        "timing_ms": timing, "receipts": total_receipts(outcomes),
    }


def total_receipts(outcomes: Iterable[Outcome]) -> dict[str, dict[str, int]]:
    """Receipts summed over cells."""
    total: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        for id, receipt in outcome.receipts.items():
            mine = total.setdefault(id, dict.fromkeys(receipt, 0))
            for name, count in receipt.items():
                mine[name] += count
    return total


def run(chosen: MechanismSet, registry: Registry, data: Dataset, embedder: CachedEmbedder, out: Path, *, seed: int = 0, unit: str = "turn",
        rehearse: float | None = None, jobs: int = 1, progress: Progress | None = None) -> dict[str, Any]:
    """Run, and write manifest.json, rows.jsonl and metrics.json into `out`.  The metrics.

    rehearse  h: every question is asked once so that recall changes memory, and again so much later, which counts; None: asked once

    Conversations that `out` holds already, with the same set, data, seed, embedder and code, are taken from its ledger, times included;
    the files of an earlier run are replaced at the end.  Raises HebbariumError.
    """
    arms = [Arm(FULL, chosen)]
    check_arms(arms, registry)
    results_folder(out)
    embed_ahead(data, embedder)
    cells = cells_of(arms, data, seed, unit, rehearse)
    outcomes = run_cells(cells, registry, embedder, out / "ledger.sqlite", jobs=jobs, progress=progress)
    result = metrics_of(data.name, outcomes)
    write_json(out / "manifest.json", manifest(chosen, registry, data, embedder, seed, unit, {"command": "run", "rehearse": rehearse}))
    write_rows(out / "rows.jsonl", outcomes)
    write_json(out / "metrics.json", result)
    return result

