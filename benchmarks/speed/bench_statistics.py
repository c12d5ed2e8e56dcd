"""Reports: 10,000 questions and 60 arms, from the values of each question to the files of the
report.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.reports.page import to_html, to_svg
from hebbarium.benchmarks.reports.result import (
    PRIMARY,
    REMOVED,
    ArmReceipt,
    BlockResult,
    DesignFacts,
    DesignResult,
    Estimate,
    corrected_estimates,
    to_json,
)
from hebbarium.benchmarks.reports.tables import to_latex, to_markdown
from hebbarium.benchmarks.scores.comparison import difference
from hebbarium.benchmarks.scores.metrics import METRICS
from hebbarium.benchmarks.speed.large import sizes
from hebbarium.reporting.files import write_json, write_whole

QUESTIONS, ARMS = sizes(10_000)[-1], 60
REPORT = 20_000.0  # ms, most


def reported(conversations: int, out: Path) -> DesignResult:
    """Invented values; every statistic and every file of a report."""
    rng = np.random.default_rng(1)
    ids = np.sort(rng.integers(conversations, size=QUESTIONS))
    base = rng.random((QUESTIONS, len(METRICS)))
    arms = []
    for i in range(ARMS):
        values = np.clip(
            base - 0.02 * rng.normal(size=base.shape) * (rng.random(QUESTIONS) < 0.1)[:, None],
            0.0,
            1.0,
        )
        changed = int((values != base).any(axis=1).sum())
        arms.append(
            Estimate(
                f"mechanism_{i}",
                REMOVED,
                PRIMARY,
                changed == 0,
                dict(zip(METRICS, values.mean(axis=0).tolist(), strict=True)),
                {
                    name: difference(base[:, j], values[:, j], ids, seed=0)
                    for j, name in enumerate(METRICS)
                },
                changed,
                changed,
                0,
                0,
                ArmReceipt(1, 1, 1),
                1.0,
            )
        )
    facts = DesignFacts("leave-one-out", "", "all", "leave-one-out", n_designed=ARMS)
    block = BlockResult(
        facts,
        "",
        "invented",
        "0" * 64,
        "none",
        conversations,
        QUESTIONS,
        {"full": 0.5},
        corrected_estimates(arms),
        dict.fromkeys(METRICS, 0.5),
    )
    result = DesignResult(facts, (block,))
    write_json(out / "design.json", to_json(result), shared=True)
    write_whole(out / "design.md", [to_markdown(result)], shared=True)
    write_whole(out / "design.svg", [to_svg(block)], shared=True)
    write_whole(out / "design.tex", [to_latex(result)], shared=True)
    to_html(result, out / "design.html")
    return result


@pytest.mark.parametrize("conversations", [10, 500])
def test_report(clock: Any, conversations: int, tmp_path: Path) -> None:
    """The report of a large ablation."""
    clock(lambda: reported(conversations, tmp_path), 3, target=REPORT, warmup=0)
