"""Writes default-against-parts.md: the set `default` beside the sets of one signal, on development
data; and with LoCoMo and BEAM 100K the table of these sets in the README.

    python docs/tools/default_against_parts.py --locomo FILE [--beam FOLDER ...] [--longmemeval
    FILE] [--turns NAME ...] --out OUT

Every run is one of `hebbarium run`, in turns and in sessions, of the data named after `--turns` in
turns alone; OUT keeps the runs.  The table names each folder of BEAM: `--beam 100K 500K` gives
`beam 100K` and `beam 500K`.  Sections after the table stay as they are.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hebbarium.benchmarks.datasets import Dataset, load
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.run import run
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder, default_cache

CHOSEN, PARTS, SCORES = (
    "default",
    ("bm25", "naive_rag"),
    ("hit@10", "recall@10", "mrr@10", "ndcg@10"),
)
# data sets, and the one that has several folders
OFFICIAL, SEVERAL = ("locomo", "beam", "longmemeval"), "beam"
TARGET = Path(__file__).parents[1] / "results" / "default-against-parts.md"
README = Path(__file__).parents[2] / "README.md"
PLACE = re.compile(
    r"(?<=<!-- written by docs/tools/default_against_parts\.py -->\n).*?(?=<!-- end -->)", re.S
)
COLUMNS = (  # of the README: head, label of the data, score
    ("LoCoMo turn R@10", "locomo, turns", "recall@10"),
    ("MRR@10", "locomo, turns", "mrr@10"),
    ("LoCoMo session hit@10", "locomo, sessions", "hit@10"),
    ("MRR@10", "locomo, sessions", "mrr@10"),
    ("BEAM 100K R@10", "beam 100K, turns", "recall@10"),
    ("MRR@10", "beam 100K, turns", "mrr@10"),
)
HEAD = """# `default` against its parts

The set `default` combines several signals. It should never be worse than the best set of one signal: `bm25` (words) or `naive_rag`
(sentence vectors). The table shows every score on the development data and marks where `default` is worse. In sessions, an event is a whole
session of LoCoMo or LongMemEval, and an exchange of BEAM, which is named by its folder. Three questions of LongMemEval decide nothing.

`docs/tools/default_against_parts.py` writes this table; a test checks the demo data.

| data | questions | score | `default` | best part | difference | |
|---|---|---|---|---|---|---|
"""

Scores = Mapping[str, Mapping[str, float]]


def scores(
    data: Dataset,
    model: CachedEmbedder,
    out: Path,
    settings: Settings,
    names: Sequence[str] = (CHOSEN, *PARTS),
) -> dict[str, dict[str, float]]:
    """Set -> score -> mean over the questions that have gold; also `n`, their number.  Raises
    HebbariumError.
    """
    registry, by_set = Registry.installed(), {}
    for name in names:
        result: dict[str, Any] = run(
            registry.set(name), registry, data, model, out / name, settings=settings, replace=True
        )
        by_set[name] = {score: result["overall"][score] for score in ("n", *SCORES)}
    return by_set


def lines(data: str, by_set: Scores) -> list[str]:
    """One row of the table for each score.

    >>> same = {score: 0.5 for score in SCORES} | {"n": 20}
    >>> print(lines("demo", {"default": same, "bm25": same | {"hit@10": 0.6}, "naive_rag": same})[0])
    | demo | 20 | hit@10 | 0.500 | 0.600 `bm25` | -0.100 | **loses** |
    """
    rows = []
    for score in SCORES:
        best = max(PARTS, key=lambda part: by_set[part][score])
        mine, other = by_set[CHOSEN][score], by_set[best][score]
        rows.append(
            f"| {data} | {by_set[CHOSEN]['n']} | {score} | {mine:.3f} | {other:.3f} `{best}` | {mine - other:+.3f} | "
            f"{'**loses**' if mine < other else ''} |"
        )
    return rows


def losses(by_set: Scores) -> list[str]:
    """Scores in which `default` is worse than a part."""
    return [
        score
        for score in SCORES
        if by_set[CHOSEN][score] < max(by_set[part][score] for part in PARTS)
    ]


def runs(given: Mapping[str, Any]) -> list[tuple[str, str, Path | None, str]]:
    """Label of the table, name of the data set, path and unit of each run, the demo first.

    >>> [(label, unit) for label, _, _, unit in runs({"locomo": Path("l.json"), "beam": None, "longmemeval": None, "turns": ["locomo"]})]
    [('demo', 'turn'), ('locomo', 'turn')]

    >>> [label for label, *_ in runs({"locomo": None, "beam": [Path("chats/100K"), Path("chats/500K")], "longmemeval": Path("lme.json")})]
    ['demo', 'beam 100K', 'beam 100K', 'beam 500K', 'beam 500K', 'longmemeval', 'longmemeval']
    """
    named: list[tuple[str, str, Path | None, str]] = [("demo", "demo", None, "turn")]
    for name in OFFICIAL:
        paths = given[name] if isinstance(given[name], list) else [given[name]]
        named += [
            (f"{name} {path.resolve().name}" if name == SEVERAL else name, name, path, unit)
            for path in paths
            if path
            for unit in (("turn",) if name in given.get("turns", ()) else ("turn", "session"))
        ]
    return named


def page(
    doc: str | None,
    target: Path,
    head: str,
    names: Sequence[str],
    rows_of: Callable[[str, Scores], list[str]],
    arguments: Sequence[str] | None,
) -> dict[str, Scores]:
    """Measure some sets on the data that the arguments name, and write the head of a page and a
    table; sections after the table stay as they are.  The scores of each run, by its label.

    rows_of  the rows of the table for a run, from its label and the scores of each set
    """
    parser = argparse.ArgumentParser(description=doc)
    for name in OFFICIAL:
        parser.add_argument(f"--{name}", type=Path, nargs="+" if name == SEVERAL else None)
    parser.add_argument("--turns", nargs="+", choices=OFFICIAL, default=())
    parser.add_argument("--out", type=Path, required=True)
    given = vars(parser.parse_args(arguments))
    model, table = embedder("minilm", default_cache()), list[str]()
    measured = dict[str, Scores]()
    for label, name, path, unit in runs(given):
        by_set = scores(
            load(name, path, unit=unit),
            model,
            given["out"] / f"{label.replace(' ', '-')}-{unit}",
            Settings(unit=unit),
            names,
        )
        measured[f"{label}, {unit}s"] = by_set
        table += (rows := rows_of(f"{label}, {unit}s", by_set))
        print(*rows, sep="\n", flush=True)
    later = "".join(target.read_text(encoding="utf-8").partition("\n## ")[1:])
    target.write_text(head + "\n".join(table) + "\n" + later, encoding="utf-8")
    return measured


def readme_table(measured: Mapping[str, Scores]) -> str:
    """The table of the README: the best score of each column is bold."""
    rows = {}
    for name in (CHOSEN, *PARTS):
        cells = []
        for _, label, score in COLUMNS:
            by_set = measured[label]
            shown = f"{by_set[name][score]:.3f}".removeprefix("0")
            best = max(by_set[other][score] for other in (CHOSEN, *PARTS))
            cells.append(f"**{shown}**" if by_set[name][score] == best else shown)
        rows[name] = cells
    heads = " | ".join(head for head, *_ in COLUMNS)
    lines = [f"| set | {heads} |", "|---" * (len(COLUMNS) + 1) + "|"]
    lines += [f"| `{name}` | {' | '.join(cells)} |" for name, cells in rows.items()]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    measured = page(__doc__, TARGET, HEAD, (CHOSEN, *PARTS), lines, arguments)
    if {label for _, label, _ in COLUMNS} <= measured.keys():
        text = README.read_text(encoding="utf-8")
        README.write_text(PLACE.sub(lambda _: readme_table(measured), text), encoding="utf-8")


if __name__ == "__main__":
    main()
