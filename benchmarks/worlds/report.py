"""The result of `hebbarium world` as JSON, Markdown and one HTML page that loads nothing.
Everything that comes from data is shown as text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...reporting.files import finite, write_whole
from ...reporting.pages import environment
from ...reporting.text import in_cell, plural, signed
from ..probes.harness.bands import SeedEstimate
from ..probes.harness.report import NO_EVIDENCE, shown, with_interval
from .figure import LAYOUTS, figure
from .result import (
    CHANCE,
    FLOOR,
    IDEAL,
    MEANING,
    ROOM,
    StrengthCurve,
    StrengthPoint,
    WorldResult,
    WorldVerdict,
)

FORMAT = 1
TEMPLATES = Path(__file__).parent.parent / "templates"


@dataclass(frozen=True, slots=True)
class WorldReport:
    """What a run of worlds found.

    measured    the mechanism sets, or the other system
    evidence    whether the embedder is a model; False for the hashing embedder
    provenance  what decided the rows
    """

    measured: tuple[str, ...]
    results: Sequence[WorldResult]
    evidence: bool
    provenance: Mapping[str, Any]

    @property
    def headline(self) -> str:
        seeds = self.results[0].seeds
        return f"{', '.join(self.measured)} in {plural(len(self.results), 'world')}, {plural(seeds, 'seed')} each"


def to_json(report: WorldReport) -> dict[str, Any]:
    """Plain data for `json.dumps`; numbers that are not defined are null."""
    return {
        "format": FORMAT,
        "measured": list(report.measured),
        "evidence": report.evidence,
        "headline": report.headline,
        "note": "" if report.evidence else NO_EVIDENCE,
        "provenance": dict(report.provenance),
        "worlds": [_world(result) for result in report.results],
    }


def _world(result: WorldResult) -> dict[str, Any]:
    w = result.world
    return {"name": w.name, "about": w.about, "strength": w.strength, "source": w.source, "k": w.k,
            "margin": w.margin, "capacity": w.capacity,
            "seeds": result.seeds, "strengths": list(result.strengths),
            "room": {f"{s:g}": finite(asdict(e)) for s, e in result.room.items()},
            "arms": [{"arm": c.arm, "set": c.set, "removed": c.removed, "why": c.why,
                      "points": [finite(asdict(p)) for p in c.points]}
                     for c in result.curves],
            "trials": [{"set": t.set, "mechanism": t.mechanism, "verdict": t.verdict.value,
                        "why": t.why,
                        "differences": {f"{s:g}": finite(asdict(e)) for s,
                                        e in t.differences.items()}} for t in result.trials]}  # fmt: skip


def judged(result: WorldResult, curve: StrengthCurve, point: StrengthPoint) -> str:
    """What a point says: an efficiency where there is room, else the difference from the floor,
    and whether it lies within the margin.
    """
    if curve.arm in (IDEAL, FLOOR, CHANCE):
        return ""
    if math.isfinite(point.efficiency.mean):
        return f"efficiency {with_interval(point.efficiency)}"
    d, margin = point.above, result.world.margin
    inside = math.isfinite(d.low) and -margin <= d.low and d.high <= margin
    return f"{difference(d)} from the floor" + (f", within {margin:g}" if inside else "")


def difference(estimate: SeedEstimate) -> str:
    """A difference with its sign and interval.

    >>> difference(SeedEstimate(0.0123, -0.0001, 0.03, 5)), difference(SeedEstimate(-0.5, math.nan, math.nan, 1))
    ('+0.012 [0.000, +0.030]', '-0.500')
    """
    interval = f" [{signed(estimate.low)}, {signed(estimate.high)}]"
    return signed(estimate.mean) + (interval if math.isfinite(estimate.low) else "")


def to_markdown(report: WorldReport) -> str:
    """For each world a table of arms, and one of the mechanisms on trial."""
    lines = [f"# Worlds of {in_cell(', '.join(report.measured))}", "", report.headline + ".", ""]
    lines += [] if report.evidence else [NO_EVIDENCE, ""]
    for result in report.results:
        w = result.world
        lines += [
            f"## {w.name}",
            "",
            f"{in_cell(w.about)}. s: {in_cell(w.strength)}. hit@{w.k} in expectation over what may be needed.",
            "",
            f"| arm | {' | '.join(f's = {s:g}' for s in result.strengths)} | stored |",
            f"|---|{'---|' * len(result.strengths)}---|",
        ]
        for curve in (c for c in result.curves if not c.removed):
            cells = [
                f"{shown(p.hit.mean)}{f', {judged(result, curve, p)}' if judged(result, curve, p) else ''}"
                for p in curve.points
            ]
            stored = shown(curve.points[-1].stored) if curve.points else "-"
            lines.append(
                f"| {in_cell(curve.arm)} | {' | '.join(cells) or ' | '.join([in_cell(curve.why)] * len(result.strengths))} | {stored} |"
            )
        if result.trials:
            lines += [
                "",
                f"| on trial | {' | '.join(f's = {s:g}' for s in result.strengths)} | verdict |",
                f"|---|{'---|' * len(result.strengths)}---|",
            ]
            lines += [
                f"| {in_cell(t.mechanism)} in {in_cell(t.set)} | "
                + " | ".join(
                    difference(t.differences[s]) if t.differences else "-" for s in result.strengths
                )
                + f" | {t.verdict}{f': {in_cell(t.why)}' if t.why else ''} |"
                for t in result.trials
            ]
        lines.append("")
    lines += [
        f"Efficiency: (arm - floor) / (ideal - floor) of hit@k, pooled over seeds, where ideal - floor is {ROOM:g} or more. Intervals: 95%, "
        "bootstrap over seeds. On trial: the set minus the set without the mechanism.",
        "",
    ]
    lines += [f"{verdict}: {MEANING[verdict]}.  " for verdict in used(report)]
    return "\n".join(lines) + "\n"


def used(report: WorldReport) -> list[WorldVerdict]:
    """Verdicts that occur."""
    return [
        verdict
        for verdict in WorldVerdict
        if any(t.verdict is verdict for result in report.results for t in result.trials)
    ]


def to_html(report: WorldReport, path: Path) -> Path:
    """Write the page, whole or not at all.  Raises HebbariumError."""
    made = environment(TEMPLATES)
    made.filters.update(interval=with_interval, difference=difference, number=shown)
    page = made.get_template("world.html.j2").render(
        report=report,
        no_evidence=NO_EVIDENCE,
        meaning=MEANING,
        used=used(report),
        room=ROOM,
        judged=judged,
        figures=[[figure(result, layout) for layout in LAYOUTS] for result in report.results],
    )
    write_whole(path, [page], shared=True)
    return path
