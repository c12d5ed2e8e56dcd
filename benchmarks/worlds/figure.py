"""Geometry of the dose-response figure: hit@k by strength, for the ideal observer, its rivals,
the floor and every whole set.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .result import CHANCE, FLOOR, IDEAL, StrengthCurve, WorldResult

COLOURS = 8  # of curves in the shared style sheet


@dataclass(frozen=True, slots=True)
class WorldLayout:
    """Geometry, px: a wide figure with names beside the curves, a narrow one with a key below."""

    name: str
    width: float
    right: float  # end of the plot
    bottom: float
    named: bool  # names beside the curves


WIDE, NARROW = WorldLayout("wide", 760, 520, 300, True), WorldLayout("narrow", 380, 362, 260, False)
LAYOUTS = (WIDE, NARROW)
LEFT, TOP, LINE = 46.0, 16.0, 16.0


def figure(result: WorldResult, layout: WorldLayout) -> dict[str, Any]:
    """Curves as px, with names that do not overlap."""
    curves = [curve for curve in result.curves if curve.points and not curve.removed]
    high = max(
        e for curve in curves for p in curve.points for e in (p.hit.mean, p.hit.high) if e == e
    )
    top = min(1.0, -(-high * 10 // 1) / 10) if high > 0 else 1.0
    first, last = result.strengths[0], result.strengths[-1]

    def x(strength: float) -> float:  # a single strength has its points beside the names
        share = (strength - first) / (last - first) if last > first else 1.0
        return round(LEFT + 8 + share * (layout.right - LEFT - 16), 2)

    def y(value: float) -> float:
        return round(layout.bottom - value / top * (layout.bottom - TOP), 2)

    drawn, sets = [], 0
    for curve in curves:
        kind = _kind(curve)
        colour = f"var(--curve-{sets % COLOURS})" if kind == "set" else ""
        sets += kind == "set"
        points = [
            (
                x(p.strength),
                y(p.hit.mean),
                *((y(p.hit.low), y(p.hit.high)) if p.hit.low == p.hit.low else (0.0, 0.0)),
            )
            for p in curve.points
        ]
        drawn.append({"arm": curve.arm, "kind": kind, "colour": colour, "points": points,
                      "at": points[-1][1], "hit": curve.points[-1].hit.mean})  # fmt: skip
    below = _names(drawn, layout)
    ticks = [
        (y(i * top / 5), f"{i * top / 5:.2f}".rstrip("0").rstrip(".") or "0") for i in range(6)
    ]
    return {
        "layout": layout,
        "height": layout.bottom + 46 + below,
        "left": LEFT,
        "curves": drawn,
        "ticks": ticks,
        "strengths": [(x(s), f"{s:g}") for s in result.strengths],
        "k": result.world.k,
    }


def _kind(curve: StrengthCurve) -> str:
    return {IDEAL: "ideal", FLOOR: "floor", CHANCE: "chance"}.get(
        curve.arm, "set" if curve.set else "rival"
    )


def _names(drawn: list[dict[str, Any]], layout: WorldLayout) -> float:
    """Where the names stand; px that they take below the figure."""
    if not layout.named:
        for i, curve in enumerate(drawn):
            curve["name"] = (LEFT, layout.bottom + 52 + i * LINE)
        return LINE * len(drawn) + 6
    order = sorted(drawn, key=lambda curve: curve["at"])
    for curve in order:
        curve["name"] = (layout.right + 26, curve["at"] + 4)
    for above, curve in pairwise(order):
        curve["name"] = (curve["name"][0], max(curve["name"][1], above["name"][1] + LINE))
    lowest = order[-1]["name"][1] if order else 0.0
    return max(0.0, lowest - layout.bottom - 30)
