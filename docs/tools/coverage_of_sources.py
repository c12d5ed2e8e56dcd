"""Writes docs/results/coverage.md from coverage_of_sources.tsv: every row of the four source systems, the file
and symbol that does it, and the test or check that shows it.

    python docs/tools/coverage_of_sources.py
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from hebbarium.reporting.text import in_cell

HERE = Path(__file__).resolve().parent
TABLE, TARGET = HERE / "coverage_of_sources.tsv", HERE.parent / "results" / "coverage.md"
STATES = ("landed", "partly", "open")
PARTS = ("Cortex", "Context Assembly Specification", "True Memory", "All-Mem")
HEAD = """# Coverage of the source systems

Row by row, what the texts of the four source systems say and what does it here. *core* rows are what a system is made of; the rest is what its text
measures, compares with or mentions. Of each core row the table names the file and symbol that does it, and what shows it: a test
(`tests/FILE:NAME`, without `test_`), a check of the audit (`audit MECHANISM CHECK`, run by `hebbarium audit MECHANISM`), or a file that is run. A test
asserts that every file, symbol, test and check exists.

`docs/tools/coverage_of_sources.py` writes this page from `docs/tools/coverage_of_sources.tsv`.
"""


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """A row of the table.

    row      id, such as C16
    part     source system
    place    in its text
    says     what it says
    matters  core or rest
    state    landed, partly or open
    code     FILE or FILE:SYMBOL that does it; "" where nothing does
    shown    tests/FILE, tests/FILE:NAME, audit MECHANISM [CHECK], or another file
    why      what is missing, and why; "" of a landed row
    """

    row: str
    part: str
    place: str
    says: str
    matters: str
    state: str
    code: str
    shown: str
    why: str


def coverage(path: Path = TABLE) -> list[CoverageRow]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            CoverageRow(**row)
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]


def counts(rows: list[CoverageRow]) -> list[str]:
    """Lines of a Markdown table: rows by system and state."""
    lines = [
        "| | core: landed, partly, open | rest: landed, partly, open | rows landed |",
        "|---|--:|--:|--:|",
    ]
    for part in (*PARTS, ""):
        chosen = [row for row in rows if not part or row.part == part]
        of = Counter((row.matters, row.state) for row in chosen)
        cells = [
            ", ".join(str(of[matters, state]) for state in STATES) for matters in ("core", "rest")
        ]
        landed = sum(row.state == "landed" for row in chosen)
        lines.append(f"| {part or 'all'} | {' | '.join(cells)} | {landed} of {len(chosen)} |")
    return lines


def page(rows: list[CoverageRow]) -> str:
    """The page."""
    parts = [HEAD, "\n".join(counts(rows))]
    for part in PARTS:
        own = [row for row in rows if row.part == part]
        parts.append(f"\n## {part}\n")
        parts.append("| row | place | what it says | done by | shown by |\n|---|---|---|---|---|")
        for row in own:
            if row.matters == "core":
                shown = f"`{row.shown}`" if row.shown else ""
                said = f"**{row.state}**: {in_cell(row.why)}; " if row.why else ""
                parts.append(
                    f"| {row.row} | {in_cell(row.place)} | {in_cell(row.says)} | `{row.code}` | {said}{shown} |"
                )
        parts.append(f"\n### {part}: the rest\n")
        parts.append(
            "| row | place | what it says | done by | shown by, or what is missing |\n|---|---|---|---|---|"
        )
        for row in own:
            if row.matters == "rest":
                code = f"`{row.code}`" if row.code else "-"
                shown = f"`{row.shown}`" if row.shown else ""
                said = f"**{row.state}**: {in_cell(row.why)}" if row.state != "landed" else shown
                parts.append(
                    f"| {row.row} | {in_cell(row.place)} | {in_cell(row.says)} | {code} | {said} |"
                )
    return "\n".join(parts) + "\n"


def main() -> None:
    TARGET.write_text(page(coverage()), encoding="utf-8")


if __name__ == "__main__":
    main()
