"""The report of a design: one self-contained HTML page, and tables as CSV, LaTeX and Markdown.

The page loads nothing.  Everything that comes from data is shown as text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ...reporting.files import write_whole
from ...reporting.latex import NEEDS, broken, longtable
from ...reporting.pages import environment
from ...reporting.text import in_cell
from ..scores.power import more_words
from . import drawings
from .estimates import Block, DesignReport, report_of
from .figures import LAYOUTS
from .page import TEMPLATES
from .published import published
from .tables import COSTED, PUBLISHED, removal_rows
from .words import interval_text, more_short, number, p_text, signed

MOST: Final = 80  # estimates that are drawn; the table has all
HEADS: Final = ("estimate", "kind", "value", "95% interval", "p", "corrected p", "more", "verdict")
FIELDS: Final = ("block", "estimate", "kind", "value", "low", "high", "p", "corrected_p", "more",
                 "seed_sd", "verdict")  # fmt: skip


def write(design: Mapping[str, Any], out: Path) -> DesignReport:
    """design.html, design.csv and design.tex of what design.json holds.  Raises HebbariumError."""
    report = report_of(design, published=published)
    to_html(report, out / "design.html")
    write_whole(out / "design.csv", [to_csv(report)], shared=True)
    write_whole(out / "design.tex", [to_latex(report)], shared=True)
    return report


def to_html(report: DesignReport, path: Path) -> Path:
    """Write the page, whole or not at all.  Raises HebbariumError."""
    made = environment(TEMPLATES)
    made.filters.update(
        signed=signed,
        p=p_text,
        interval=interval_text,
        number=number,
        heat=drawings.heat,
        more=more_words,
        removals=_removals,
    )
    page = made.get_template("design.html.j2").render(
        report=report,
        costed=COSTED,
        blocks=[_drawn(block, report.margin) for block in report.blocks],
    )
    write_whole(Path(path), [page], shared=True)
    return Path(path)


def _drawn(block: Block, margin: float) -> dict[str, Any]:
    shown = block.estimates if len(block.estimates) <= MOST else ()
    return {"block": block, "forest": [drawings.forest(shown, margin, layout,
        block.points) for layout in LAYOUTS] if shown else [],
            "strips": [drawings.strips(block.by_seed,
                                       layout) for layout in LAYOUTS] if 0 < len(block.by_seed) <= MOST else [],
            "waterfall": [drawings.steps(block.waterfall,
                                         layout) for layout in LAYOUTS] if block.waterfall else [],
            "curves": [{"curve": curve, "drawn": [drawings.line(curve, margin,
            layout) for layout in LAYOUTS]} for curve in block.curves],
            "largest": max((abs(e.value) for e in block.matrix.cells.values()),
                           default=0.0) if block.matrix else 0.0}  # fmt: skip


def to_csv(report: DesignReport) -> str:
    """Every estimate of every data set, numbers in full; nothing for what is not defined."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    for block in report.blocks:
        writer.writerows((block.name, e.name, e.kind, repr(e.value), e.low, e.high, e.p,
                          e.corrected, e.more, e.seed_sd, e.verdict.value)
                         for e in block.estimates)  # fmt: skip
    return text.getvalue()


def to_latex(report: DesignReport) -> str:
    """One table for each data set, for `\\input`."""
    parts = [NEEDS.rstrip()]
    for i, block in enumerate(report.blocks, 1):
        caption = (
            f"{report.name}: {report.kind} of {report.set} on {block.name}. {_under(report, block)}"
        )
        parts.append(
            longtable(
                HEADS,
                _rows(block),
                caption=caption,
                label=f"tab:design-{i}",
                widths=f"{broken(0.28)}{broken(0.12)}rrrrrl",
            )
        )
    return "\n".join(parts)


def to_markdown(report: DesignReport) -> str:
    """One table for each data set."""
    parts = [f"# {in_cell(report.name)}: {in_cell(report.kind)} of {in_cell(report.set)}"]
    for block in report.blocks:
        rule = "|:--|:--|--:|--:|--:|--:|--:|:--|"
        table = [
            f"| {' | '.join(HEADS)} |",
            rule,
            *(f"| {' | '.join(map(in_cell, row))} |" for row in _rows(block)),
        ]
        parts += [
            f"## {in_cell(block.name)}",
            in_cell(_under(report, block)),
            *(in_cell(line) for line in block.scale),
            "\n".join(table),
        ]
        if block.removals:
            table = [
                f"| {' | '.join(PUBLISHED)} |",
                "|:--|:--|--:|:--|",
                *(f"| {' | '.join(map(in_cell, row))} |" for row in _removals(block)),
            ]
            parts += [
                in_cell(f"Beside ours, {block.removed_source}: all minus without, no interval."),
                "\n".join(table),
            ]
    return "\n\n".join(parts) + "\n"


def _under(report: DesignReport, block: Block) -> str:
    return (
        f"{report.metric}, {block.size}; p corrected ({report.correction}) over "
        f"{len(block.estimates)} estimates; margin {report.margin:g}."
    )


def _removals(block: Block) -> list[tuple[str, str, str, str]]:
    return removal_rows(
        block.removals,
        {e.name: (e.value, (e.low, e.high)) for r in block.removals for e in block.ours(r)},
    )


def _rows(block: Block) -> Iterator[tuple[str, ...]]:
    for e in block.estimates:
        yield (e.name, e.kind, signed(e.value), interval_text((e.low, e.high)), p_text(e.p),
               p_text(e.corrected), more_short(e.more), e.verdict.value)  # fmt: skip
