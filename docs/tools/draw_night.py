"""Draw docs/pictures/night.svg: every persistent column, hour by hour, over three days of a memory
that sleeps.

    python docs/tools/draw_night.py

One SVG for light and dark pages: it has its own background and follows `prefers-color-scheme`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import hebbarium as hb
from hebbarium.engine.contract.columns import Column, Scope
from hebbarium.engine.contract.vocabulary import SLEEP_END, SLEEP_ONSET
from hebbarium.engine.memory.engine import Engine

HERE = Path(__file__).parents[1] / "pictures" / "night.svg"
START = hb.hours(datetime(2024, 5, 6, 8))
HOURS = 72
COLUMNS, WIDE, TALL, LEFT, TOP, PANEL, BAND = 5, 172, 74, 14, 62, 148, 34  # panels per row; px
# of the engine, the same in every memory
SEEN = frozenset(("now", "created", "session", "speaker", "visible", "row", "before"))
STYLE = """
  text { font: 10px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: var(--ink) }
  .ground { fill: var(--ground); stroke: var(--edge) }
  .title { font-size: 15px; font-weight: 600 }
  .owner { font-size: 11.5px; font-weight: 600 }
  .soft { fill: var(--soft); font-size: 9px }
  .end { text-anchor: end }
  .night { fill: var(--night) }
  .band { fill: var(--mark); opacity: .25 }
  .mean { fill: none; stroke: var(--mark); stroke-width: 1.3 }
  .axis { stroke: var(--edge) }
  svg { --ground: #ffffff; --ink: #1f2328; --soft: #57606a; --edge: #d0d7de; --mark: #0a5fb4; --night: #eef1f5 }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --ink: #e6edf3; --soft: #9aa4af; --edge: #3d444d; --mark: #6cb6ff; --night: #1b222c }
  }
"""
TALK = (
    ("Ada", "I found the old mill in Lisbon today!"), ("Bo",
    "Wonderful, is the wheel still turning?"), ("Ada", "It turns, but the roof is broken."),
    ("Bo", "Then we need slates from Cleo."), ("Ada", "Cleo sells slates in Oslo now."), ("Bo",
    "I will ask her on Friday."),
    ("Ada", "The mill smells of flour and rain."), ("Bo", "My grandmother worked at that mill."),
    ("Ada", "Really? In which year?"),
    ("Bo", "In 1931, before the flood."), ("Ada", "The flood took the bridge, too."), ("Bo",
    "And they never rebuilt it."))  # fmt: skip
LATER = (
    ("Bo", "Cleo can send two hundred slates."),
    ("Ada", "Great news, thank you!"),
    ("Bo", "She asks when the roof must be done."),
    ("Ada", "Before the rain in October."),
    ("Bo", "Then I hire Dan for the roof."),
    ("Ada", "Dan repaired the old mill wheel, didn't he?"),
    ("Bo", "No, that was Eve."),
    ("Ada", "I found the old mill in Lisbon today!"),
)


@dataclass
class Days:
    """Recorded hours (h since the start), sleeps as (onset, end), and minimum, mean and maximum
    of the cells of every (owner, column).
    """

    hours: list[float] = field(default_factory=list)
    sleeps: list[tuple[float, float]] = field(default_factory=list)
    traces: dict[tuple[str, Column], list[tuple[float, float, float]]] = field(default_factory=dict)


def events() -> Iterator[hb.Event]:
    """Two sessions on the first day, one on the second, none on the third."""
    for number, (hour, lines) in enumerate(
        ((1.0, TALK), (10.0, LATER), (26.0, TALK[:4] + LATER[:4]))
    ):
        for i, (who, text) in enumerate(lines):
            yield hb.Event(START + hour + i / 60.0, text, who, f"s{number}", f"e{number}-{i}")


def simulated(memory: Engine) -> Days:
    """Three days, recorded every hour, with a question in the first two evenings that may change
    memory.
    """
    days, waiting = Days(), list(events())
    for hour in range(HOURS + 1):
        while waiting and waiting[0].time <= START + hour:
            memory.encode(waiting.pop(0))
        if hour in (12, 36):
            memory.advance(START + hour)
            memory.retrieve("Who repairs the roof of the mill?", learn=True)
        if not math.isnan(memory.now):
            memory.advance(START + hour)
            _record(memory, days, float(hour))
    return days


def _record(memory: Engine, days: Days, hour: float) -> None:
    days.hours.append(hour)
    onset, end = (float(memory.column(c)) - START for c in (SLEEP_ONSET, SLEEP_END))
    if onset <= hour and (not days.sleeps or days.sleeps[-1][0] != onset):
        days.sleeps.append((onset, end))
    owners = {column: m.id for m in memory.mechanisms for column in m.owns}
    for column in memory.store.columns:
        if column.persists and column.name not in SEEN and column.name != "embedding":
            cells = np.asarray(memory.column(column), dtype=np.float64).ravel()
            cells = cells[np.isfinite(cells)] - (
                START if column.unit == "h" and np.nanmax(cells, initial=0.0) >= START else 0.0
            )
            spread = (
                (float(cells.min()), float(cells.mean()), float(cells.max()))
                if cells.size
                else (math.nan,) * 3
            )
            days.traces.setdefault((owners.get(column, "the engine"), column), []).append(spread)


def drawn(days: Days) -> str:
    """Small multiples, by owner; nights are shaded."""
    parts: list[str] = []
    y = TOP
    for owner in sorted({owner for owner, _ in days.traces}, key=lambda o: (o == "the engine", o)):
        panels = [(c, t) for (o, c), t in days.traces.items() if o == owner]
        parts.append(f'<text class="owner" x="{LEFT}" y="{y + 10}">{escape(owner)}</text>')
        y += 16
        for i, (column, trace) in enumerate(panels):
            parts.append(
                _panel(column, trace, days, LEFT + WIDE * (i % COLUMNS), y + TALL * (i // COLUMNS))
            )
        y += TALL * math.ceil(len(panels) / COLUMNS) + 6
    width, height = 2 * LEFT + WIDE * COLUMNS - (WIDE - PANEL), y + 14
    lead = (
        "Line: mean over all cells. Band: from minimum to maximum. Shaded: asleep. Times are in h from 8 in the morning; "
        "sessions at 1, 10 and 26 h."
    )
    return "\n".join((
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-labelledby="t d">',
        '<title id="t">Three days of a memory that sleeps</title>',
        f'<desc id="d">{len(days.traces)} columns by owner. {lead}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="ground" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="6"/>',
        f'<text class="title" x="{LEFT}" y="28">Three days of a memory that sleeps</text>',
        f'<text class="soft" x="{LEFT}" y="44">{lead}</text>',
        *parts, "</svg>", ""))  # fmt: skip


def _panel(
    column: Column, trace: Sequence[tuple[float, float, float]], days: Days, x: float, y: float
) -> str:
    values = np.array(trace)
    low, high = (
        (float(v) for v in (np.nanmin(values), np.nanmax(values)))
        if np.isfinite(values).any()
        else (0.0, 0.0)
    )
    span = high - low or 1.0
    at = [x + PANEL * h / HOURS for h in days.hours]
    down = y + 14 + BAND - (np.nan_to_num(values, nan=low) - low) / span * BAND
    band = " ".join(
        f"{a:.1f},{v:.1f}"
        for a, v in [*zip(at, down[:, 2], strict=True), *zip(at[::-1], down[::-1, 0], strict=True)]
    )
    mean = " ".join(f"{a:.1f},{v:.1f}" for a, v in zip(at, down[:, 1], strict=True))
    hour = PANEL / HOURS
    nights = "".join(
        f'<rect class="night" x="{x + hour * a:.1f}" y="{y + 14}" width="{hour * (min(b, HOURS) - a):.1f}" height="{BAND}"/>'
        for a, b in days.sleeps
    )
    unit = "" if column.unit == "1" else f", {column.unit}"
    kind = {Scope.MEMORY: "memories", Scope.EDGE: "edges", Scope.GLOBAL: "memory"}[column.scope]
    return (
        f'<g><title>{escape(column.meaning)}</title>{nights}<polygon class="band" points="{band}"/><polyline class="mean" points="{mean}"/>'
        f'<line class="axis" x1="{x}" x2="{x + PANEL}" y1="{y + 14 + BAND}" y2="{y + 14 + BAND}"/>'
        f'<text x="{x}" y="{y + 10}">{escape(column.name)}{escape(unit)}</text>'
        f'<text class="soft" x="{x}" y="{y + 24 + BAND}">{kind}</text>'
        f'<text class="soft end" x="{x + PANEL}" y="{y + 24 + BAND}">{_short(low)} to {_short(high)}</text></g>'
    )


def _short(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1e5 else f"{value:.2e}"


def facts(days: Days) -> Mapping[str, Any]:
    """The sleeps and the number of columns, to be printed."""
    return {
        "columns": len(days.traces),
        "sleeps": [(round(a, 2), round(b, 2)) for a, b in days.sleeps],
    }


if __name__ == "__main__":
    days = simulated(hb.memory("night", embedding="hashing"))
    HERE.write_text(drawn(days), encoding="utf-8")
    print(f"{HERE.name}: {facts(days)}")
