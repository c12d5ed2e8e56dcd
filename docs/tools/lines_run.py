"""Keep what `make coverage` counted, and write docs/results/lines-run.md, the share of lines and
branches of the four rooms that tests run.

    python docs/tools/lines_run.py quick|all COMMIT [out/coverage.json]

The counts of a tier replace those of the same tier and commit in lines_run.tsv, beside this script,
from which the page is written. The public functions that no test enters are printed.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
TABLE: Final = Path(__file__).with_suffix(".tsv")
PAGE: Final = ROOT / "docs" / "results" / "lines-run.md"
ROOMS: Final = ("engine", "mechanisms", "audit", "benchmarks")
TIERS: Final = ("quick", "all")
INTRODUCTION: Final = """\
# Lines that tests run

`make coverage` counts which lines and branches of each room `make test` (quick) and all tests run. It sees a kernel that runs as plain Python, but not
one that runs as machine code. `docs/tools/lines_run.py` keeps the counts in `docs/tools/lines_run.tsv` and writes this page.

| commit | tier | room | files | lines | run | branches | run |
|---|---|---|--:|--:|--:|--:|--:|
"""


@dataclass(frozen=True, slots=True)
class Count:
    """Lines and branches of one room, and how many of them a tier of tests runs."""

    commit: str
    tier: str
    room: str
    files: int
    lines: int
    lines_run: int
    branches: int
    branches_run: int


def counted(commit: str, tier: str, files: Mapping[str, Any]) -> Iterator[Count]:
    """The counts by room of the files of a report of coverage, and of all rooms."""
    of_all = [0] * 5
    for room in ROOMS:
        summaries = [of["summary"] for name, of in files.items() if Path(name).parts[0] == room]
        sums = [len(summaries)] + [
            sum(summary[part] for summary in summaries)
            for part in ("num_statements", "covered_lines", "num_branches", "covered_branches")
        ]
        of_all = [a + b for a, b in zip(of_all, sums, strict=True)]
        yield Count(commit, tier, room, *sums)
    yield Count(commit, tier, "all", *of_all)


def entered_by_none(files: Mapping[str, Any]) -> Iterator[str]:
    """Public functions with lines of which none is run."""
    for name, of in sorted(files.items()):
        for function, part in of.get("functions", {}).items():
            public = function and not any(word.startswith("_") for word in function.split("."))
            if (
                public
                and part["summary"]["num_statements"]
                and not part["summary"]["covered_lines"]
            ):
                yield f"{name}: {function}"


def kept() -> list[Count]:
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [
            Count(row["commit"], row["tier"], row["room"],
                  *(int(row[field.name]) for field in fields(Count)[3:]))
            for row in csv.DictReader(file, delimiter="\t")
        ]  # fmt: skip


def page(counts: list[Count]) -> str:
    """The page of these counts."""
    rows = [
        f"| {c.commit} | {c.tier} | {c.room} | {c.files} | {c.lines:,} | {c.lines_run / c.lines:.1%} "
        f"| {c.branches:,} | {c.branches_run / c.branches:.1%} |\n"
        for c in counts
    ]
    return INTRODUCTION + "".join(rows)


def main(tier: str, commit: str, report: str = "out/coverage.json") -> None:
    if tier not in TIERS:
        sys.exit(f"{tier!r} is no tier\nWhat to do: name one of {', '.join(TIERS)}")
    files = json.loads(Path(report).read_text(encoding="utf-8"))["files"]
    others = [c for c in kept() if (c.commit, c.tier) != (commit, tier)]
    counts = [*others, *counted(commit, tier, files)]
    names = [field.name for field in fields(Count)]
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, counts))
    PAGE.write_text(page(counts), encoding="utf-8")
    print(*entered_by_none(files), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
