"""The curve over gates as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from ..reports.chart import line_chart
from .measure import Point

# most erroneous edits at the gate 0.9, of all
GOAL = 0.02
CURVES = {"found": "right edits, of possible ones", "share": "erroneous edits, of all"}


def to_svg(points: Sequence[Point]) -> str:
    """Both shares of all edits by gate; a dot for each gate."""
    of = sorted((p for p in points if p.operator == "all"), key=lambda p: p.gate)
    curves = {
        words: [
            (p.gate, getattr(p, name), f"gate {p.gate:g}: {words} {getattr(p, name):.3f}")
            for p in of
        ]
        for name, words in CURVES.items()
    }
    return line_chart("Edits of known truth by gate", "gate", curves, most=1.0)
