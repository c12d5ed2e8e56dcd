"""Writes sets-on-data.md: every mechanism set on development data, each beside `naive_rag`.

    python docs/tools/sets_on_data.py [--locomo FILE] [--beam FOLDER] [--sets NAME ...] --out OUT

Every run is one of `hebbarium run`; OUT keeps the runs, and conversations that it holds already are
not run again.  With `--sets`, only these sets are run; the rows of sets that OUT does not have in
full stay as they are on the page, and so does what stands below the tables.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from hebbarium.benchmarks.datasets import load
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.scores.cluster_robust import cluster_t
from hebbarium.benchmarks.scores.metrics import Metrics
from hebbarium.benchmarks.scores.outcomes import scored
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.embedding_cache import default_cache

BASE = "naive_rag"
SETS = ("naive_rag", "bm25", "hybrid", "minimal", "default", "waking", "cortex", "cortex_as_printed",
        "true_memory", "true_memory_gated", "true_memory_code",
        "all_mem", "hipporag", "a_mem", "light", "night", "in_use", "everything")  # fmt: skip
METRIC = "recall@10"
TARGET = Path(__file__).parents[1] / "results" / "sets-on-data.md"
HEAD = """# Sets on real data

Every set of the package on the development data of LoCoMo and BEAM: recall of gold events in the first ten answers, its 95% interval (cluster-robust
t, conversations as clusters), and the paired difference to `naive_rag` with its interval. What a set lacks of its source is on
[the page of the sets](../reference/sets.md); so a row is a result of the set here, not of the source system. No set was fitted to one of the data
sets; `default` was chosen on both. Times are medians of one run on a busy machine, without embedding.

`all_mem` is below `naive_rag` on both data sets because of the vectors of its descriptors: ranked by those of the texts it has the recall of
`naive_rag` ([All-Mem](all-mem.md)). `true_memory` is below it on BEAM because of its words: in its leave-one-out there (`hebbarium ablate
--set true_memory --dataset beam --limit 10`) `lexical_bm25` costs .090 of recall@10 [.047, .134], p .011 by Holm, so that it has .571 without it. No
other part shows what is left of the difference: `weighted_rrf` costs .018 [-.012, .048], `surprise_index` .011 [-.007, .028], `fact_timeline` .001
[-.009, .011].

`docs/tools/sets_on_data.py` writes this page.
"""


def scores(folder: Path) -> dict[tuple[str, str], Metrics]:
    """(conversation, question) -> metrics, of the questions of a run that have gold."""
    rows = [
        json.loads(text)
        for text in (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return {(row["conversation"], row["question"]): metrics for row, metrics in scored(rows)}


def line(name: str, folder: Path, base: Mapping[tuple[str, str], Metrics]) -> str:
    """One row of the table."""
    own = scores(folder)
    keys = sorted(own)
    clusters = [conversation for conversation, _ in keys]
    level = cluster_t([own[k].recall_10 for k in keys], clusters)
    change = cluster_t([own[k].recall_10 - base[k].recall_10 for k in keys], clusters)
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    times = metrics["timing_ms"]
    mrr = sum(own[k].mrr_10 for k in keys) / len(keys)
    return (
        f"| `{name}` | {level.mean:.3f} {interval(level.low, level.high, '.3f')} | {mrr:.3f} | "
        + (
            ""
            if name == BASE
            else f"{change.mean:+.3f} {interval(change.low, change.high, '+.3f')}"
        )
        + f" | {times['encode']['p50']:.1f} | {times['retrieve']['p50']:.1f} |"
    )


def interval(low: float | None, high: float | None, form: str) -> str:
    """
    >>> interval(0.1, 0.25, ".2f"), interval(None, None, ".2f")
    ('[0.10, 0.25]', '')
    """
    return "" if low is None or high is None else f"[{low:{form}}, {high:{form}}]"


def rows_of_page(page: str, title: str) -> dict[str, str]:
    """The rows of a table of the page by set.

    >>> rows_of_page("## A\\n\\n| `bm25` | 1 |\\n| `a_mem` | 2 |\\n\\n## B\\n\\n| `bm25` | 3 |\\n", "A")
    {'bm25': '| `bm25` | 1 |', 'a_mem': '| `a_mem` | 2 |'}
    """
    section = page.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return {row[1]: row[0] for row in re.finditer(r"^\| `(\w+)` \|.*$", section, re.M)}


def table(title: str, out: Path, page: str) -> str:
    """The table of one data set: of the sets whose runs `out` has, and the rows of the page of the
    others.
    """
    base, rows = scores(out / BASE), rows_of_page(page, title)
    for name in SETS:
        if (out / name / "metrics.json").exists():
            rows[name] = line(name, out / name, base)
    head = (
        f"\n## {title}\n\n{len(base)} questions of {len({conversation for conversation, _ in base})} conversations.\n\n"
        f"| set | {METRIC} | MRR | difference to `{BASE}` | encode ms | retrieve ms |\n|---|---|---|---|---|---|\n"
    )
    return head + "\n".join(rows[name] for name in SETS if name in rows) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--beam", type=Path)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--out", type=Path, required=True)
    given = vars(parser.parse_args(arguments))
    model, registry, text = embedder("minilm", default_cache()), Registry.installed(), HEAD
    page = TARGET.read_text(encoding="utf-8")
    for name in ("locomo", "beam"):
        if given[name]:
            data = load(name, given[name])
            for chosen in given["sets"]:
                run(
                    registry.set(chosen),
                    registry,
                    data,
                    model,
                    given["out"] / name / chosen,
                    settings=Settings(),
                )
                print(name, chosen, flush=True)
        if (given["out"] / name / BASE / "metrics.json").exists():
            text += table(
                {"locomo": "LoCoMo, turns", "beam": "BEAM 100K, turns"}[name],
                given["out"] / name,
                page,
            )
    TARGET.write_text(text + page.rpartition("|\n")[2], encoding="utf-8")


if __name__ == "__main__":
    main()
