"""The curve over gates as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from ...reporting.svg import standalone
from .measure import Point

WIDE, TALL, LEFT, TOP = 260.0, 200.0, 54.0, 24.0  # px of the diagram
# most erroneous edits at the gate 0.9, of all
GOAL = 0.02
STYLES = {
    "found": ("right edits, of possible ones", "var(--accent)", ""),
    "share": ("erroneous edits, of all", "var(--ink)", "5 3"),
}


def to_svg(points: Sequence[Point]) -> str:
    """Both shares of all edits by gate; a dot for each gate."""
    of = sorted((p for p in points if p.operator == "all"), key=lambda p: p.gate)
    low, high = of[0].gate, max(of[-1].gate, of[0].gate + 0.01)

    def at(gate: float, share: float) -> tuple[float, float]:
        return LEFT + WIDE * (gate - low) / (high - low), TOP + TALL * (1.0 - share)

    marks = []
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = at(low, value)[1]
        marks.append(
            f'<path d="M{LEFT:g} {y:.1f}H{LEFT + WIDE:g}" style="stroke: var(--rule); fill: none"/>'
            f'<text x="{LEFT - 8:g}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'
        )
    for point in of:
        if point.gate in (low, high, 0.7, 0.9):
            marks.append(
                f'<text x="{at(point.gate, 0.0)[0]:.1f}" y="{TOP + TALL + 16:g}" text-anchor="middle">{point.gate:g}</text>'
            )
    for place, (name, (words, colour, dash)) in enumerate(STYLES.items()):
        spots = [at(p.gate, getattr(p, name)) for p in of]
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        marks.append(
            f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in spots)}" style="stroke: {colour}; fill: none" stroke-width="1.5"{dashed}/>'
        )
        for p, (x, y) in zip(of, spots, strict=True):
            marks.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" style="fill: {colour}"><title>gate {p.gate:g}: {words} {getattr(p, name):.3f}'
                f"</title></circle>"
            )
        marks.append(
            f'<path d="M{LEFT:g} {TOP + TALL + 52 + 14 * place:g}h20" style="stroke: {colour}" stroke-width="1.5"{dashed}/>'
            f'<text x="{LEFT + 26:g}" y="{TOP + TALL + 56 + 14 * place:g}">{words}</text>'
        )
    return standalone(
        f'<svg viewBox="0 0 340 310" xmlns="http://www.w3.org/2000/svg" role="img" font-family="sans-serif" font-size="11">'
        f'<title>Edits of known truth by gate</title><rect width="340" height="310" style="fill: var(--ground)"/>'
        f'<g style="fill: var(--ink)">{"".join(marks)}'
        f'<text x="{LEFT + WIDE / 2:g}" y="{TOP + TALL + 34:g}" text-anchor="middle">gate</text></g></svg>'
    )
