"""The result of `hebbarium probe` as JSON, Markdown and one HTML page that loads nothing.
Everything that comes from data is shown as text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ....reporting.files import finite, write_whole
from ....reporting.pages import environment
from ....reporting.text import in_cell, plural
from .bands import MEANING, ProbeOutcome, ProbeVerdict, SeedEstimate
from .base import Probe

FORMAT = 1
TEMPLATES = Path(__file__).parent.parent.parent / "templates"
NO_EVIDENCE = "The hashing embedder knows no meaning: these numbers are for tests, and no evidence about a memory."
FAILING = (ProbeVerdict.OUTSIDE, ProbeVerdict.NOT_SHOWN, ProbeVerdict.REFUSED, ProbeVerdict.ERROR)


@dataclass(frozen=True, slots=True)
class Report:
    """What a run of probes found.

    measured    the mechanism set, or the other system
    outcomes    of each probe
    named       names of probes that the registry entries of the set's mechanisms name
    evidence    whether the embedder is a model; False for the hashing embedder
    provenance  what decided the rows
    """

    measured: str
    outcomes: Sequence[ProbeOutcome]
    named: frozenset[str]
    evidence: bool
    provenance: Mapping[str, Any]

    @property
    def failing(self) -> list[ProbeOutcome]:
        """Probes that the set's mechanisms name and that are not in their band."""
        return [
            outcome
            for outcome in self.outcomes
            if outcome.verdict in FAILING and outcome.probe.name in self.named
        ]

    @property
    def headline(self) -> str:
        counts = Counter(outcome.verdict for outcome in self.outcomes)
        return f"{plural(len(self.outcomes), 'probe')}: " + ", ".join(
            f"{counts[v]} {v}" for v in ProbeVerdict if counts[v]
        )


def to_json(report: Report) -> dict[str, Any]:
    """Plain data for `json.dumps`; numbers that are not defined are null."""
    return {
        "format": FORMAT,
        "measured": report.measured,
        "evidence": report.evidence,
        "headline": report.headline,
        "note": "" if report.evidence else NO_EVIDENCE,
        "provenance": dict(report.provenance),
        "probes": [_probe(outcome, report) for outcome in report.outcomes],
    }


def record(p: Probe) -> dict[str, Any]:
    """A probe without its experiment."""
    return {"id": p.id, "capability": p.capability, "source": p.source, "place": p.place,
            "protocol": p.protocol, "unit": p.unit,
            "band": [claim.text for claim in p.band], "basis": p.basis, "matters": list(p.matters),
            "sets": list(p.sets),
            "needs": sorted(need.value for need in p.needs), "default_seeds": p.seeds}  # fmt: skip


def _probe(outcome: ProbeOutcome, report: Report) -> dict[str, Any]:
    return {**record(outcome.probe), "expected": outcome.probe.name in report.named,
            "verdict": outcome.verdict.value, "why": outcome.why,
            "told": outcome.told, "stored": outcome.stored, "seeds": list(outcome.seeds),
            "stimuli": list(outcome.stimuli), "numbers": {name: finite(asdict(estimate)) for name,
            estimate in outcome.numbers.items()},
            "claims": [{"claim": c.text, "holds": c.holds,
                        **finite(asdict(c.estimate))} for c in outcome.claims]}  # fmt: skip


def shown(value: float) -> str:
    """A number with three significant digits after the point, or a dash.

    >>> shown(0.12345), shown(-1e-9), shown(1234.5), shown(math.nan)
    ('0.123', '0.000', '1234', '-')
    """
    return (
        "-" if not math.isfinite(value) else f"{value:z.3f}" if abs(value) < 100 else f"{value:.0f}"
    )


def with_interval(estimate: SeedEstimate) -> str:
    """
    >>> with_interval(SeedEstimate(0.5, 0.4, 0.6, 10)), with_interval(SeedEstimate(0.5, math.nan, math.nan, 2))
    ('0.500 [0.400, 0.600]', '0.500')
    """
    return shown(estimate.mean) + (
        f" [{shown(estimate.low)}, {shown(estimate.high)}]" if math.isfinite(estimate.low) else ""
    )


CURVE = re.compile(r"hits at ([0-9.]+)")


def curve(outcome: ProbeOutcome) -> list[tuple[float, SeedEstimate]]:
    """The points of a probe that measures hits at shares of false alarms, (false alarms, hits),
    in order; [] for another probe.
    """
    points = [
        (float(match[1]), value)
        for name, value in outcome.numbers.items()
        if (match := CURVE.fullmatch(name)) and math.isfinite(value.mean)
    ]
    return sorted(points, key=lambda point: point[0])


def to_markdown(report: Report) -> str:
    """A table with one line for each probe, then the numbers of each."""
    lines = [f"# Probes of {in_cell(report.measured)}", "", report.headline + ".", ""]
    lines += [] if report.evidence else [NO_EVIDENCE, ""]
    lines += ["| probe | verdict | band | why |", "|---|---|---|---|"]
    for outcome in report.outcomes:
        band = "; ".join(
            f"{c.text}: {with_interval(c.estimate)}{'' if c.holds else ' (no)'}"
            for c in outcome.claims
        )
        lines.append(
            f"| {in_cell(outcome.probe.id)} | {outcome.verdict} | {in_cell(band or '-')} | {in_cell(outcome.why or '-')} |"
        )
    lines += ["", "Intervals: 95%, bootstrap over seeds.", ""]
    lines += [
        f"{verdict}: {MEANING[verdict]}.  "
        for verdict in ProbeVerdict
        if any(outcome.verdict is verdict for outcome in report.outcomes)
    ]
    for outcome in report.outcomes:
        lines += ["", f"## {in_cell(outcome.probe.id)}", "", in_cell(outcome.probe.capability), "",
                  in_cell(outcome.probe.protocol), "",
                  f"Should matter: {', '.join(outcome.probe.matters) or '-'}. Sets that should show it: {', '.join(outcome.probe.sets)}. "
                  f"Seeds: {len(outcome.seeds)}. Unit: {in_cell(outcome.probe.unit)}.", "",
                  *(f"- {in_cell(name)}: {with_interval(estimate)}" for name,
                    estimate in outcome.numbers.items())]  # fmt: skip
    return "\n".join(lines) + "\n"


def to_html(report: Report, path: Path) -> Path:
    """Write the page, whole or not at all.  Raises HebbariumError."""
    made = environment(TEMPLATES)
    made.filters.update(interval=with_interval, curve=curve)
    page = made.get_template("probes.html.j2").render(
        report=report,
        no_evidence=NO_EVIDENCE,
        meaning=MEANING,
        used=[v for v in ProbeVerdict if any(outcome.verdict is v for outcome in report.outcomes)],
    )
    write_whole(path, [page], shared=True)
    return path
