"""Writes one page and one picture for each probe, the table of all sets in their index, and, by
`behaviour.py`, the verdicts that the audit reads.

    python docs/tools/probe_pages.py [FOLDER]     # FOLDER/<set>/probes.json, as `hebbarium probe`
                                                  writes them; the others from results.json

A picture has its own background and follows `prefers-color-scheme`.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import behaviour
from probe_notes import BESIDE, CHANGED, CURVES, INERT, PUBLISHED, REASONS, SECOND_BASE

from hebbarium.benchmarks.probes.harness.alive import cost_of
from hebbarium.benchmarks.probes.harness.base import Probe, Within
from hebbarium.benchmarks.probes.harness.collection import own

DOCS = Path(__file__).parents[1]
HERE = DOCS / "reference" / "probes"
RESULTS = HERE / "results.json"
SETS = ("naive_rag", "bm25", "hybrid", "waking", "night", "everything")
GATES = ("gate_true_memory", "gate_true_memory_code", "gate_cortex")
ALIVE = ("waking", "everything")
OPEN = "everything_open"  # `everything` without its gates: sets/everything_open.yaml
GROUPS = ("sets", "open", "gates", "beside")  # results by set, and by probe
PAPERS = ("true_memory", "all_mem")  # sets of papers, measured on the probes that BESIDE names
DRAWN = ("hybrid", "waking", "night", "everything")
MARKS = {"shown": "shown", "outside": "no", "not shown": "-", "error": "error",
         "measured": "measured", "no verdict": "?", "not applicable": "/",
         "refused by a gate": "refused"}  # fmt: skip
START, END = "<!-- table of all sets -->", "<!-- end of the table -->"
STYLE = """
  text { font: 11px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: var(--ink) }
  .ground { fill: var(--ground); stroke: var(--edge) }
  .title { font-size: 13px; font-weight: 600 }
  .soft { fill: var(--soft); font-size: 10px }
  .end { text-anchor: end }
  .middle { text-anchor: middle }
  .grid { stroke: var(--edge); stroke-width: .6 }
  .band { fill: var(--band) }
  .line { fill: none; stroke-width: 1.8 }
  .whisker { stroke-width: 1.2 }
  .c0 { stroke: var(--c0); fill: var(--c0) } .c1 { stroke: var(--c1); fill: var(--c1) } .c2 { stroke: var(--c2); fill: var(--c2) }
  .c3 { stroke: var(--c3); fill: var(--c3) } .people { stroke: var(--ink); fill: var(--ink); stroke-dasharray: 5 3 }
  path.line { fill: none }
  path.line.second { stroke-dasharray: 2 3 }
  path.whisker { stroke-dasharray: none }
  path.whole { stroke-dasharray: none; stroke-width: 2 }
  svg { --ground: #ffffff; --ink: #1f2328; --soft: #57606a; --edge: #d0d7de; --band: #e6f2ea;
        --c0: #8a6d1a; --c1: #0a5fb4; --c2: #7a3fb0; --c3: #b3382c }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --ink: #e6edf3; --soft: #9aa4af; --edge: #3d444d; --band: #16301f;
          --c0: #d8b64a; --c1: #6cb6ff; --c2: #c297f5; --c3: #ff8f83 }
  }
"""
Numbers = Mapping[str, Mapping[str, float | None]]
# label, class, points (x, mean, low, high)
Line = tuple[str, str, Sequence[tuple[float, float, float, float]]]


def read(folder: Path) -> dict[str, Any]:
    """What all runs of a folder found, without what is in the probes themselves."""
    results: dict[str, Any] = {"sets": {}, "open": {}, "gates": {}, "beside": {}, "seeds": {}}
    for name in (*SETS, OPEN, *GATES, *PAPERS):
        file = folder / name / "probes.json"
        if not file.is_file():
            continue
        result = json.loads(file.read_text(encoding="utf-8"))
        results["gates" if name in GATES else "open" if name == OPEN else "beside" if name in PAPERS else "sets"][name] = {
            p["id"]: {"verdict": p["verdict"], "why": p["why"], "told": p.get("told", 0),
                      "stored": p.get("stored", 0),
                      "numbers": {k: {part: _short(v[part]) for part in ("mean", "low",
                      "high")} for k, v in p["numbers"].items()},
                      "claims": [{"claim": c["claim"], "holds": c["holds"]} for c in p["claims"]]}
            for p in result["probes"]}  # fmt: skip
        results["seeds"][name] = max(len(p["seeds"]) for p in result["probes"])
        if name in PAPERS:
            continue
        results["embedder"], results["code"], results["date"] = (
            result["provenance"][k] for k in ("embedder", "code", "made")
        )
        results["date"] = results["date"]["date"][:10]
    for of in ALIVE:
        for key, name in (("alive", f"alive_{of}"), ("alive, others", f"alive_{of}2")):
            if (file := folder / name / "probes.json").is_file():
                results.setdefault(key, {})[of] = matrix(
                    json.loads(file.read_text(encoding="utf-8"))
                )
    return results


def renewed(known: Mapping[str, Any], read: Mapping[str, Any]) -> dict[str, Any]:
    """The results known so far, with those of a folder in place of theirs.

    A run of some probes of a set replaces these alone, and `again` names them with its code and its
    date.  A new matrix of a set is shown without the second one of an older run.
    """
    made = {**known, **{part: value for part, value in read.items() if part not in GROUPS}}
    some: dict[str, set[str]] = {}
    for part in GROUPS:
        sets = dict(known.get(part, {}))
        for name, probes in read.get(part, {}).items():
            if missing := sets.get(name, {}).keys() - probes.keys():
                some[name] = set(probes)
            sets[name] = {**sets.get(name, {}), **probes} if missing else probes
        made[part] = sets
    seeds = read.get("seeds", {})
    made["seeds"] = {
        **known.get("seeds", {}),
        **{name: n for name, n in seeds.items() if name not in some},
    }
    for part in ("alive", "alive, others"):
        made[part] = {**known.get(part, {}), **read.get(part, {})}
    if some:
        for part in ("code", "date", "embedder"):
            made[part] = known[part]
        run = {
            "code": read["code"],
            "date": read["date"],
            "probes": sorted(set.union(*some.values())),
            "seeds": max(seeds[name] for name in some),
            "sets": [],
        }
        made["again"] = [*known.get("again", ()), run]
    fresh, second = read.get("alive", {}), read.get("alive, others", {})
    made["alive, others"] = {
        of: run for of, run in made["alive, others"].items() if of in second or of not in fresh
    }
    return made


def matrix(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a page shows of a run of `hebbarium probe --alive`."""
    return {**{part: result[part] for part in ("measured", "base", "headline", "mechanisms",
                                               "seeds", "options", "ran",
                                               "shared") if part in result},
            "cells": [_cell(cell) for cell in result["cells"] if cell["state"] != "no path"]}  # fmt: skip


def _cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    """State, and the number that moves most, of a cell of the alive matrix."""

    def shown(side: Mapping[str, Any]) -> Mapping[str, Any] | None:
        moving = [n for n in side["numbers"] if n["state"] == "moves"]
        return next(iter(moving or side["numbers"]), None)

    sides = [cell["full"], cell["alone"]]
    first = next((side for side in sides if side["state"] == "moves"), cell["full"])
    name = (shown(first) or {"number": ""})["number"]
    values = [next((n for n in side["numbers"] if n["number"] == name), None) for side in sides]
    three = [
        values[0] and values[0]["with"],
        values[0] and values[0]["without"],
        values[1] and values[1]["with"],
    ]
    return {"mechanism": cell["mechanism"], "probe": cell["probe"], "state": cell["state"],
            "number": name, "needs": cell["alone"]["needs_readers"],
            "three": [None if v is None else {part: _short(v[part]) for part in ("mean", "low",
            "high")} for v in three]}  # fmt: skip


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


# --- pictures -------------------------------------------------------------------------------------
def picture(probe: Probe, results: Mapping[str, Any]) -> str:
    """The SVG of a probe: the curve of its numbers if it has one, else the numbers of its band,
    by set.
    """
    return curve(probe, results) if probe.id in CURVES else dots(probe, results)


def curve(probe: Probe, results: Mapping[str, Any]) -> str:
    wanted = CURVES[probe.id]
    lines: list[Line] = []
    gates = {name: results["gates"][name] for name in GATES if name in results["gates"]}
    of = (
        gates
        if probe.id == "gate_auc/stream" and gates
        else {name: results["sets"][name] for name in wanted.sets(results)}
    )
    for number, (name, outcomes) in enumerate(of.items()):
        for place, (label, names) in enumerate(wanted.series):
            points = [
                (x, *_parts(outcomes[probe.id]["numbers"], key))
                for x, key in names
                if key in outcomes.get(probe.id, {"numbers": {}})["numbers"]
            ]
            points = [p for p in points if math.isfinite(p[1])]
            if points:
                lines.append(
                    (
                        f"{name.replace('_', ' ')}{f', {label}' if label else ''}",
                        f"c{number % 4}{' second' if place else ''}",
                        points,
                    )
                )
    people = PUBLISHED.get(probe.id)
    if people:
        lines += [
            (label, f"people{' second' if i else ''}", [(x, y, y, y) for x, y in points])
            for i, (label, points) in enumerate(people.series)
        ]
    return _plot(probe.id, lines, wanted.x, wanted.y or probe.unit)


def _parts(numbers: Numbers, name: str) -> tuple[float, float, float]:
    estimate = numbers[name]
    mean, low, high = (
        math.nan if estimate[k] is None else float(estimate[k] or 0.0)
        for k in ("mean", "low", "high")
    )
    return mean, (mean if math.isnan(low) else low), (mean if math.isnan(high) else high)


def _plot(title: str, lines: Sequence[Line], x_label: str, y_label: str) -> str:
    left, top, wide, tall = 58, 58, 400, 220
    points = [p for _, _, drawn in lines for p in drawn] or [(0.0, 0.0, 0.0, 1.0)]

    x0, x1 = min(p[0] for p in points), max(p[0] for p in points)
    y0, y1 = min(p[2] for p in points), max(p[3] for p in points)
    x0, x1 = (x0 - 0.5, x1 + 0.5) if x0 == x1 else (x0, x1)
    pad = (y1 - y0 or 1.0) * 0.06
    y0, y1 = (0.0 if 0.0 <= y0 < 0.35 * y1 else y0 - pad), y1 + pad
    height = top + tall + 56 + 16 * len(lines)

    def at(x: float, y: float) -> tuple[float, float]:
        return left + wide * (x - x0) / (x1 - x0), top + tall * (1.0 - (y - y0) / (y1 - y0))

    parts = [
        _head(left + wide + 24, height, title),
        f'<text class="soft" x="14" y="42">{escape(y_label)}</text>',
    ]
    for y in _ticks(y0, y1):
        line = at(points[0][0], y)[1]
        parts.append(
            f'<path class="grid" d="M{left} {line:.1f}h{wide}"/><text class="soft end" x="{left - 6}" y="{line + 3:.1f}">{y:g}</text>'
        )
    for x in sorted({p[0] for p in points}):
        parts.append(
            f'<text class="soft middle" x="{at(x, y0)[0]:.1f}" y="{top + tall + 16}">{x:.3g}</text>'
        )
    parts.append(
        f'<text class="soft middle" x="{left + wide / 2}" y="{top + tall + 34}">{escape(x_label)}</text>'
    )
    for number, (label, kind, drawn) in enumerate(lines):
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (at(p[0], p[1]) for p in drawn))
        parts.append(f'<path class="line {kind}" style="fill:none" d="M{path}"/>')
        for x, mean, low, high in drawn:
            (cx, cy), (_, a), (_, b) = at(x, mean), at(x, low), at(x, high)
            parts.append(
                f'<path class="whisker {kind}" d="M{cx:.1f} {a:.1f}V{b:.1f}"/><circle class="{kind}" cx="{cx:.1f}" cy="{cy:.1f}" r="3"/>'
            )
        y = top + tall + 54 + 16 * number
        parts.append(
            f'<path class="line {kind}" style="fill:none" d="M{left} {y - 4}h26"/><text x="{left + 34}" y="{y}">{escape(label)}</text>'
        )
    return _svg(parts)


def dots(probe: Probe, results: Mapping[str, Any]) -> str:
    names = list(dict.fromkeys(name for claim in probe.band for name in claim.names))
    if not names:
        names = list(
            next((r[probe.id]["numbers"] for r in results["sets"].values() if probe.id in r), {})
        )
    sets = [name for name in DRAWN if name in results["sets"] and probe.id in results["sets"][name]]
    left, wide, row = 230, 290, 15
    ranges: list[tuple[float, float]] = []
    rows: list[tuple[str, list[tuple[str, tuple[float, float, float]]]]] = []
    for name in names:
        numbers = [
            (f"c{DRAWN.index(s)}", _parts(results["sets"][s][probe.id]["numbers"], name))
            for s in sets
            if name in results["sets"][s][probe.id]["numbers"]
        ]
        numbers = [(kind, p) for kind, p in numbers if math.isfinite(p[0])]
        rows.append((name, numbers))
        ranges += [(p[1], p[2]) for _, p in numbers]
    people = PUBLISHED.get(probe.id)
    published = dict(people.numbers) if people else {}
    ranges += [(value, value) for value in published.values()]
    bands = {c.name: c for c in probe.band if isinstance(c, Within)}
    low, high = min((r[0] for r in ranges), default=0.0), max((r[1] for r in ranges), default=1.0)
    low, high = (
        min(low, 0.0) if low < 0.5 * high or low < 0 else low,
        high if high > low else low + 1.0,
    )
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    scale, bottom = (
        wide / (high - low),
        58 + sum(14 + row * max(1, len(numbers)) for _, numbers in rows),
    )
    parts = [
        _head(left + wide + 34, bottom + (78 if published else 62), probe.id),
        f'<text class="soft" x="14" y="42">{escape(probe.unit)}</text>',
    ]
    for x in _ticks(low, high):
        at = left + (x - low) * scale
        parts.append(
            f'<path class="grid" d="M{at:.1f} 52V{bottom}"/><text class="soft middle" x="{at:.1f}" y="{bottom + 15}">{x:g}</text>'
        )
    y = 58
    for name, numbers in rows:
        height = row * max(1, len(numbers))
        if name in bands:
            a, b = max(bands[name].low, low), min(bands[name].high, high)
            if a <= b:
                x, long = left + (a - low) * scale, max((b - a) * scale, 2.0)
                parts.append(
                    f'<rect class="band" x="{x:.1f}" y="{y}" width="{long:.1f}" height="{height + 4}"/>'
                )
        parts.append(
            f'<text class="end" x="{left - 12}" y="{y + height / 2 + 5:.1f}">{escape(name)}</text>'
        )
        for i, (kind, (mean, a, b)) in enumerate(numbers):
            at = y + 8 + row * i
            parts.append(
                f'<path class="whisker {kind}" d="M{left + (a - low) * scale:.1f} {at}H{left + (b - low) * scale:.1f}"/>'
                f'<circle class="{kind}" cx="{left + (mean - low) * scale:.1f}" cy="{at}" r="3.5"/>'
            )
        if name in published:
            parts.append(
                f'<path class="people whole" d="M{left + (published[name] - low) * scale:.1f} {y}v{height + 4}"/>'
            )
        y += height + 14
    x = 14
    for s in sets:
        parts.append(
            f'<circle class="c{DRAWN.index(s)}" cx="{x + 4}" cy="{bottom + 34}" r="3.5"/><text x="{x + 12}" y="{bottom + 38}">{s}</text>'
        )
        x += 34 + 7 * len(s)
    if bands:
        parts.append(
            f'<rect class="band" x="{x}" y="{bottom + 28}" width="14" height="11"/><text x="{x + 19}" y="{bottom + 38}">band</text>'
        )
    if people and published:
        parts.append(
            f'<path class="people whole" d="M18 {bottom + 46}v12"/>'
            f'<text x="26" y="{bottom + 56}">{escape(people.label)}</text>'
        )
    return _svg(parts)


def _ticks(low: float, high: float) -> list[float]:
    """Four to eight round numbers between two."""
    span = high - low
    step = 10.0 ** math.floor(math.log10(span))
    step = next(s for s in (step / 5, step / 2, step, step * 2) if span / s <= 8)
    return [
        round(i * step, 10)
        for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]


def _head(width: float, height: float, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="{escape(title)}"><style>{STYLE}</style>'
        f'<rect class="ground" x=".5" y=".5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="6"/>'
        f'<text class="title" x="14" y="24">{escape(title)}</text>'
    )


def _svg(parts: Iterable[str]) -> str:
    return "\n".join(parts) + "\n</svg>\n"


# --- pages ----------------------------------------------------------------------------------------
def page(probes: Sequence[Probe], results: Mapping[str, Any]) -> str:
    """The page of all variants of a probe."""
    lines = [f"# {probes[0].name}", "", "Written by `docs/tools/probe_pages.py`; do not edit.", ""]
    for probe in probes:
        source = f"{probe.source}, {probe.place}" if probe.source else probe.place
        lines += [f"## {probe.id}", "", probe.capability, "",
                  f"Source: {source}. Unit: {probe.unit}.", "", f"**Protocol.** {probe.protocol}",
                  "",
                  f"**Band.** {'; '.join(f'`{c.text}`' for c in probe.band) or 'none, the numbers are printed'}."
                  + (f" From where: {probe.basis}." if probe.basis else ""), "",
                  f"**Should matter.** {', '.join(f'`{m}`' for m in probe.matters) or 'nothing in particular'}.", "",
                  f"![{probe.id}, by set](pictures/{file_of(probe)})", ""]  # fmt: skip
        if people := PUBLISHED.get(probe.id):
            lines += [f"Drawn beside: {people.label} ({people.source}). {people.note}".rstrip(), ""]
        lines += table_of(probe, results)
        if probe.id in CHANGED:
            lines += [
                f"**Changed after first results.** {CHANGED[probe.id]} No bound was moved.",
                "",
            ]
        failing = [
            name
            for name in SETS
            if _verdict(results, name, probe)
            in ("outside", "not shown", "refused by a gate", "error")
        ]
        passing = [name for name in SETS if _verdict(results, name, probe) == "shown"]
        if probe.band and len(passing) == len(results["sets"]):
            lines += [f"**Every set shows it.** {REASONS.get(probe.id, 'It is a control.')}", ""]
        elif failing:
            lines += [
                f"**What fails it.** {', '.join(f'`{n}`' for n in failing)}. {REASONS.get(probe.id, '')}".rstrip(),
                "",
            ]
        if probe.id in BESIDE:
            lines += [f"**Sets of papers.** {BESIDE[probe.id]}", ""]
    return "\n".join(lines)


def table_of(probe: Probe, results: Mapping[str, Any]) -> list[str]:
    """The numbers of a probe by set, with intervals."""
    of = {
        name: results["sets"][name][probe.id]
        for name in SETS
        if probe.id in results["sets"].get(name, {})
    }
    if opened := results.get("open", {}).get(OPEN, {}).get(probe.id):
        of["everything, without its gates"] = opened
    of |= {
        name: outcomes[probe.id]
        for name in PAPERS
        if probe.id in (outcomes := results.get("beside", {}).get(name, {}))
    }
    if probe.id == "gate_auc/stream":
        of |= {
            name: results["gates"][name][probe.id]
            for name in GATES
            if probe.id in results["gates"].get(name, {})
        }
    names = list(dict.fromkeys(name for claim in probe.band for name in claim.names))
    names = names or list(
        dict.fromkeys(name for outcome in of.values() for name in outcome["numbers"])
    )
    heads = " | ".join(name.replace("|", "\\|") for name in names)
    lines = [f"| set | verdict | {heads} |", f"|---|---|{'---|' * len(names)}"]
    for name, outcome in of.items():
        cells = [_interval(outcome["numbers"].get(number)) for number in names]
        label = f"`{name}`" if name in results["sets"] or name in (*GATES, *PAPERS) else name
        stored = (
            f" ({outcome['stored']} of {outcome['told']} events stored)"
            if outcome.get("stored", 0) < outcome.get("told", 0)
            else ""
        )
        lines.append(f"| {label} | {outcome['verdict']}{stored} | {' | '.join(cells)} |")
    return [*lines, ""]


def _interval(estimate: Mapping[str, float | None] | None) -> str:
    if estimate is None or estimate["mean"] is None:
        return "-"
    if estimate["low"] is None or estimate["high"] is None:
        return f"{estimate['mean']:.3g}"
    return f"{estimate['mean']:.3g} [{estimate['low']:.3g}, {estimate['high']:.3g}]"


def _verdict(results: Mapping[str, Any], name: str, probe: Probe) -> str:
    return str(results["sets"].get(name, {}).get(probe.id, {"verdict": ""})["verdict"])


def _again(measured: Mapping[str, Any]) -> str:
    """What was measured after the other results."""
    sets = [
        "`everything` without its gates" if name == OPEN else f"`{name}`"
        for name in measured["sets"]
    ]
    probes = [f"{', '.join(measured['probes'])} of all sets"] if measured["probes"] else []
    return f" Measured on {measured['date']} with {measured['seeds']} seeds and code {measured['code']}: {'; '.join([*sets, *probes])}."


def _gated(probes: Sequence[Probe], results: Mapping[str, Any]) -> list[str]:
    """What the gates of `everything` cost it, and what it shows without them."""
    full, opened, plain = (
        results["sets"]["everything"],
        results.get("open", {}).get(OPEN, {}),
        results["sets"]["naive_rag"],
    )
    banded = [probe.id for probe in probes if probe.band]
    told, stored = (
        sum(outcome.get(part, 0) for outcome in full.values()) for part in ("told", "stored")
    )
    failing = [id for id in banded if full[id]["verdict"] != "shown"]
    refused = [id for id in failing if full[id]["verdict"] == "refused by a gate"]
    again = [id for id in refused if id in opened]
    shown = sum(opened[id]["verdict"] == "shown" for id in again)

    def two(id: str, number: str) -> str:
        return " beside ".join(f"{of[id]['numbers'][number]['mean']:.2f}" for of in (opened, full))

    text = (
        f"`everything` shows fewer effects than `waking`, for one reason above all: its gates stored {stored:,} of the {told:,} events that all "
        f"probes told it ({results['seeds']['everything']} seeds), so that what is asked for was never stored. Of the {len(failing)} probes that "
        f"it fails, {len(refused)} are *refused by a gate*. "
    )
    if opened:
        text += (
            f"That is not an excuse: of {len(again)} of these that were run without the gates, too, it then shows {shown} and fails "
            f"{len(again) - shown}. Without them it finds more exact needles ({two('needle/depths', 'hit@1 exact')}), more of what was told "
            f"({two('write_to_recall/lag', 'at once')}), and the order of events (tau {two('event_order/tau', 'tau')}). The pages say where. "
        )
    return [
        f"{text}`naive_rag` fails {sum(plain[id]['verdict'] != 'shown' for id in banded)} of the {len(banded)} probes with a band.",
        "",
    ]


def index_table(probes: Sequence[Probe], results: Mapping[str, Any]) -> str:
    """All probes by all sets."""
    newer = "".join(map(_again, results.get("again", ())))
    sets, opened = (
        [name for name in SETS if name in results["sets"]],
        results.get("open", {}).get(OPEN, {}),
    )
    heads = [f"`{s}`" for s in sets] + ["`everything` without its gates"] * bool(opened)
    seeds = max(results["seeds"][s] for s in sets)
    lines = [
        "",
        *_gated(probes, results),
        f"All sets over all probes: {results['embedder']}, {seeds} seeds, {results['date']}, "
        f"code {results['code']}. `shown`: in the band; `no`: outside; `-`: nothing that the band compares differs, or a number is not "
        f"defined; `refused`: not shown, and gates stored fewer than 9 in 10 events of the experiment.{newer}",
        "",
        f"| probe | {' | '.join(heads)} |",
        f"|---|{'---|' * len(heads)}",
    ]
    for probe in probes:
        cells = [MARKS.get(_verdict(results, name, probe), "not run") for name in sets]
        cells += [MARKS[opened[probe.id]["verdict"]] if probe.id in opened else "not run"] * bool(
            opened
        )
        lines.append(f"| [{probe.id}]({probe.name}.md) | {' | '.join(cells)} |")
    banded = [probe for probe in probes if probe.band]
    of = {
        name: [verdict for p in banded if (verdict := _verdict(results, name, p))] for name in sets
    }
    if opened:
        of[OPEN] = [opened[probe.id]["verdict"] for probe in banded if probe.id in opened]
    counts = [f"{verdicts.count('shown')} of {len(verdicts)}" for verdicts in of.values()]
    return "\n".join([*lines, f"| **shown, of those with a band** | {' | '.join(counts)} |", ""])


def alive_page(of: str, results: Mapping[str, Any]) -> str:
    """The alive matrix of a set: the cells that the registry names, then those that do not move
    there, on a second base.
    """
    alive, others = results["alive"][of], results.get("alive, others", {}).get(of)
    moved = {
        mechanism["id"]
        for run in (alive, others)
        if run
        for mechanism in run["mechanisms"]
        if mechanism["moved"]
    }
    inert = [mechanism["id"] for mechanism in alive["mechanisms"] if mechanism["id"] not in moved]
    lines = [
        f"# Which mechanisms of `{of}` are alive?",
        "",
        "Written by `docs/tools/probe_pages.py`; do not edit.",
        "",
        f"{len(alive['mechanisms']) - len(inert)} of {len(alive['mechanisms'])} mechanisms move a probe"
        + (f"; inert: {', '.join(f'`{id}`' for id in inert)}." if inert else "."),
        "",
    ]
    lines += [f"- `{id}`: {INERT[id]}" for id in inert if id in INERT] + [""] * any(
        id in INERT for id in inert
    )
    options = alive.get("options", ["--named"])
    lines += [
        f"`hebbarium probe --alive {' '.join([*options, ''])}--set {of} --seeds {alive['seeds']}`, with the base `{alive['base']}`: "
        f"{alive['headline']}. {_what_was_run(alive, options)} A number of the band, or another one that the probe names for the matrix, has "
        "to move.",
        "",
        *_mechanisms(alive),
        *_cells_of(alive, every="--named" in options),
    ]
    if others:
        if others["base"] == alive["base"]:
            tried = list(dict.fromkeys(cell["probe"] for cell in others["cells"]))
            lines += [
                "",
                "## Those that no named probe moves",
                "",
                f"On {', '.join(tried)}: {others['headline']}.",
                "",
                *_mechanisms(others),
            ]
        else:
            lines += ["", f"## On the base `{others['base']}`", "",
                      f"Mechanisms that move nothing above, with `--base {others['base']}`: "
                      f"{others['headline']}. {SECOND_BASE}", "", *_mechanisms(others),
                      *_cells_of(others)]  # fmt: skip
    return "\n".join(lines) + "\n"


def _mechanisms(alive: Mapping[str, Any]) -> list[str]:
    lines = [
        "| mechanism | verdict | moves | named, and does not move | why nothing moves |",
        "|---|---|---|---|---|",
    ]
    for mechanism in alive["mechanisms"]:
        cells = (
            mechanism["id"],
            mechanism["verdict"],
            ", ".join(mechanism["moved"]),
            ", ".join(mechanism["named_not_moved"]),
            "" if mechanism["moved"] else mechanism["why"],
        )
        lines.append("| " + " | ".join(text or "-" for text in cells) + " |")
    return lines


def _what_was_run(alive: Mapping[str, Any], options: Sequence[str]) -> str:
    said = []
    if "--named" in options:
        said.append(
            "Only cells that the registry names were run, so a mechanism that moves a probe which its entry does not name does not show "
            "here."
        )
    if "--quick" in options:
        said.append(
            "Where no number differs in the first seed, the other seeds were run only if nothing else moves the mechanism."
        )
    if "ran" in alive:
        said.append(f"{cost_of(alive['ran'], alive['shared'])}.")
    if retired := alive.get("retired"):
        said.append(
            f"They include those of {retired} more probes, which experiments with people have replaced since."
        )
    return " ".join(said)


def _cells_of(alive: Mapping[str, Any], every: bool = True) -> list[str]:
    """every: else only the cells that move."""
    lines = [
        "",
        f"{'' if every else 'The cells that move. '}Three numbers of a cell: the full set, the set without the mechanism, the base with it "
        "alone.",
        "",
        "| mechanism | probe | state | number | full | without | alone | the base also needs |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cell in alive["cells"]:
        if not every and cell["state"] != "moves":
            continue
        three = " | ".join(map(_interval, cell["three"]))
        number = cell["number"].replace("|", "\\|")
        lines.append(
            f"| {cell['mechanism']} | {cell['probe']} | {cell['state']} | {number or '-'} | {three} | {', '.join(cell['needs']) or '-'} |"
        )
    return lines


def file_of(probe: Probe) -> str:
    return f"{probe.id.replace('/', '_')}.svg"


def main(arguments: Sequence[str]) -> None:
    if arguments:
        made = renewed(json.loads(RESULTS.read_text(encoding="utf-8")), read(Path(arguments[0])))
        RESULTS.write_text(
            json.dumps(made, indent=None, separators=(",", ":"), sort_keys=True).replace(
                '},"', '},\n"'
            )
            + "\n",
            encoding="utf-8",
        )
    results, probes = json.loads(RESULTS.read_text(encoding="utf-8")), list(own().values())
    (HERE / "pictures").mkdir(exist_ok=True)
    for probe in probes:
        (HERE / "pictures" / file_of(probe)).write_text(picture(probe, results), encoding="utf-8")
    for name, group in groupby(sorted(probes, key=lambda p: p.name), key=lambda p: p.name):
        (HERE / f"{name}.md").write_text(page(list(group), results), encoding="utf-8")
    for of in results.get("alive", {}):
        (DOCS / "results" / f"alive-{of}.md").write_text(alive_page(of, results), encoding="utf-8")
    behaviour.main()
    index = HERE / "index.md"
    text = index.read_text(encoding="utf-8")
    table = f"{START}\n{index_table(probes, results)}\n{END}"
    index.write_text(
        re.sub(f"{re.escape(START)}.*{re.escape(END)}", lambda _: table, text, flags=re.DOTALL),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(sys.argv[1:])
