"""Geometry of the figures that some designs have: arms with the value of each seed, the waterfall
of Shapley values, and the curve of a sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from ...reporting.text import visible
from .estimates import SweptCurve, Waterfall
from .figures import Layout, ticks_of, wrapped
from .result import Estimate
from .words import signed

_PLOT = 220.0  # px of a curve's height


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear map from values to px with round labels."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[tuple[float, str], ...]

    def __call__(self, value: float) -> float:
        return round(
            self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 2
        )


def axis(
    low: float,
    high: float,
    start: float,
    end: float,
    wanted: int,
    text: Callable[[float], str] = signed,
) -> Axis:
    """Enclose a range by round numbers; `end` may be above `start`.

    >>> axis(0.0, 1.0, 0.0, 100.0, 2, str).ticks
    ((0.0, '0.0'), (50.0, '0.5'), (100.0, '1.0'))
    """
    ticks = ticks_of(low, high, wanted)
    made = Axis(ticks[0], ticks[-1], start, end, ())
    return Axis(
        made.low, made.high, start, end, tuple((made(value), text(value)) for value in ticks)
    )


def _across(values: Sequence[float], layout: Layout) -> Axis:
    """The axis from left to right that has room for all values."""
    ticks = 5 if layout.values else 3
    low, high = min(values), max(values)
    return axis(low, high, layout.left, layout.right, ticks, lambda v: f"{v:.3g}")


def strips(by_seed: Mapping[str, Sequence[float]], layout: Layout) -> dict[str, Any]:
    """The value of every arm with each seed, and its mean; arms in the order of the design."""
    values = [v for values in by_seed.values() for v in values]
    x = _across(values, layout)
    rows = [
        _row(layout, i, arm)
        | {
            "dots": [x(v) for v in values],
            "mean": x(fmean(values)),
            "value": fmean(values),
            "sd": stdev(values),
            "arm": arm,
        }
        for i, (arm, values) in enumerate(by_seed.items())
    ]
    return _frame(layout, len(rows)) | {"rows": rows, "axis": x}


def steps(waterfall: Waterfall, layout: Layout) -> dict[str, Any]:
    """The base, each player's value from where the one before ended, and the set."""
    now, places = waterfall.start, list[tuple[str, float, float, Estimate | None]]()
    places.append(("the base", waterfall.start, waterfall.start, None))
    for player in waterfall.steps:
        places.append((player.name, now, now + player.primary.mean, player))
        now += player.primary.mean
    places.append(("the set", waterfall.end, waterfall.end, None))
    ends = [v for _, a, b, _ in places for v in (a, b)]
    x = _across(ends, layout)
    rows = []
    for i, (name, a, b, step) in enumerate(places):
        whisker = None
        if step and step.primary.low is not None and step.primary.high is not None:
            whisker = tuple(
                max(layout.left - 8, min(x(a + v), layout.right + 8))
                for v in (step.primary.low, step.primary.high)
            )
        rows.append(_row(layout, i, name) | {"from": min(x(a), x(b)),
                                             "width": round(abs(x(b) - x(a)), 2), "end": x(b),
                                             "e": step, "total": b,
                                             "whisker": whisker})  # fmt: skip
    return _frame(layout, len(rows)) | {"rows": rows, "axis": x}


def line(curve: SweptCurve, margin: float, layout: Layout) -> dict[str, Any]:
    """A curve with its intervals, the margin, and the published points."""
    left, right = (64.0 if layout.values else 58.0), layout.width - (40 if layout.values else 18)
    xs = [value for value, _ in (*curve.points, *curve.published)]
    ys = [
        v
        for _, e in curve.points
        for v in (e.primary.mean, e.primary.low, e.primary.high)
        if v is not None
    ] + [v for _, v in curve.published]
    x = axis(min(xs), max(xs), left, right, 5, lambda v: f"{v:g}")
    y = axis(min([0.0, -margin, *ys]), max([0.0, margin, *ys]), _PLOT + 20, 20.0, 4, _short)
    points = [
        {
            "e": e,
            "value": value,
            "x": x(value),
            "y": y(e.primary.mean),
            "low": y(e.primary.mean if e.primary.low is None else e.primary.low),
            "high": y(e.primary.mean if e.primary.high is None else e.primary.high),
        }
        for value, e in curve.points
    ]
    return {"layout": layout, "width": right + 18, "height": _PLOT + 66, "left": left,
            "right": right, "bottom": _PLOT + 20, "x": x, "y": y,
            "points": points, "path": "M" + "L".join(f"{p['x']} {p['y']}" for p in points),
            "zero": y(0.0), "band": (y(margin), y(-margin)),
            "published": [(x(a), y(b), a, b) for a, b in curve.published]}  # fmt: skip


def heat(value: float, largest: float) -> float:
    """Share of the full colour.

    >>> heat(-0.5, 1.0), heat(0.0, 0.0)
    (0.5, 0.0)
    """
    return round(min(1.0, abs(value) / largest), 3) if largest else 0.0


def _short(value: float) -> str:
    text = signed(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _row(layout: Layout, i: int, name: str) -> dict[str, Any]:
    return {
        "label": wrapped(visible(name), layout.characters, 2 if layout.values else 1),
        "y": layout.head + i * layout.row,
    }


def _frame(layout: Layout, n: int) -> dict[str, Any]:
    bottom = layout.head + n * layout.row
    marks = [layout.head + i * layout.row + layout.mark for i in range(n)]
    strokes = (
        [(layout.head - 6, bottom)] if layout.values else [(mark - 10, mark + 10) for mark in marks]
    )
    return {"layout": layout, "bottom": bottom, "height": bottom + 46, "strokes": strokes}
