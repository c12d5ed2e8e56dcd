"""Writes docs/results/default-over-data.md: what each mechanism of `default` is worth over data sets.

    python docs/tools/default_over_data.py DESIGN...

DESIGN are folders of `hebbarium ablate --set default --design leave-one-out`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from hebbarium.benchmarks.runs.meta_analysis import MetaAnalysis, Worth, meta_analysis

TARGET = Path(__file__).parents[1] / "results" / "default-over-data.md"
HEAD = """# What each mechanism of `default` is worth over data sets

Recall@{k}, the set less the set without the mechanism, on development data. *Alone* and *with its family* are explained
[with ablation](../guides/ablation.md#one-estimate-over-data-sets). What learns from use, or tells states and tellings apart, has no questions here: see
[how the set was found](default-set.md). `docs/tools/default_over_data.py` writes this page from designs that were measured with {version}.

| mechanism | family | {data} | alone | tau | with its family | helps | within {margin:g} | hurts | verdict |
|:--|:--|{rules}--:|--:|--:|--:|--:|--:|:--|
"""


def line(row: Worth, data: Sequence[str]) -> str:
    measured = {study.data: study.effect for study in row.studies}
    shown = [f"{measured[name]:+.3f}" if name in measured else "-" for name in data]
    pooled, posterior = row.pooled, row.posterior
    low, high = pooled.low or 0.0, pooled.high or 0.0
    cells = [
        f"`{row.mechanism}`",
        row.family,
        *shown,
        f"{pooled.mean:+.3f} [{low:+.3f}, {high:+.3f}]" if pooled.se else f"{pooled.mean:+.3f}",
        f"{pooled.tau:.3f}",
        f"{posterior.mean:+.3f} [{posterior.low:+.3f}, {posterior.high:+.3f}]",
        *(f"{share:.2f}" for share in (posterior.helps, posterior.within, posterior.hurts)),
        row.verdict,
    ]
    return f"| {' | '.join(cells)} |"


def page(result: MetaAnalysis, version: str) -> str:
    data = list(dict.fromkeys(study.data for row in result.rows for study in row.studies))
    head = HEAD.format(
        k=result.metric.partition("@")[2],
        version=version,
        data=" | ".join(data),
        margin=result.margin,
        rules="--:|" * len(data),
    )
    return head + "\n".join(line(row, data) for row in result.rows) + "\n"


def main(arguments: Sequence[str]) -> None:
    folders = [Path(name) for name in arguments]
    version = json.loads((folders[0] / "design.json").read_text(encoding="utf-8"))["version"]
    TARGET.write_text(page(meta_analysis(folders), version), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
