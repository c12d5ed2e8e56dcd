"""A line chart as SVG: curves over one number, a dot for each point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ...engine.base.errors import ContractError
from ...reporting.svg import standalone
from .drawings import axis

WIDE, TALL, LEFT, TOP = 260.0, 200.0, 54.0, 24.0  # px of the diagram
STYLES = (("var(--accent)", ""), ("var(--ink)", "5 3"), ("var(--ink)", "1 3"))
Points = Sequence[tuple[float, float, str]]  # (x, y, what a dot says)


def line_chart(
    title: str, along: str, curves: Mapping[str, Points], dots: Points = (), *, most: float = 0.0
) -> str:
    """Curves by name, at most three, with dots that belong to none.

    along  what the numbers below are
    most   where the upright axis ends if no point is above it

    Raises ContractError for more curves than can be told apart.
    """
    if len(curves) > len(STYLES):
        raise ContractError(
            f"{len(curves)} curves are drawn in {len(STYLES)} styles",
            where=f"chart {title!r}",
            cure="draw fewer curves, or two charts",
        )
    points = [point for curve in (*curves.values(), dots) for point in curve]
    below = axis(
        min((x for x, _, _ in points), default=0.0),
        max((x for x, _, _ in points), default=1.0),
        LEFT, LEFT + WIDE, 4, lambda value: f"{value:,g}",
    )  # fmt: skip
    up = axis(
        0.0, max(most, max((y for _, y, _ in points), default=1.0)),
        TOP + TALL, TOP, 4, lambda value: f"{value:,g}",
    )  # fmt: skip
    marks = [
        f'<path d="M{LEFT:g} {y:.1f}H{LEFT + WIDE:g}" style="stroke: var(--rule); fill: none"/>'
        f'<text x="{LEFT - 8:g}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
        for y, text in up.ticks
    ]
    marks += [
        f'<text x="{x:.1f}" y="{TOP + TALL + 16:g}" text-anchor="middle">{text}</text>'
        for x, text in below.ticks
    ]
    marks += [_dot(below(x), up(y), said, "var(--rule)") for x, y, said in dots]
    for place, ((name, curve), (colour, dash)) in enumerate(
        zip(curves.items(), STYLES[: len(curves)], strict=True)
    ):
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        spots = [(below(x), up(y), said) for x, y, said in curve]
        if spots:
            way = "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in spots)
            marks.append(
                f'<path d="M{way}" style="stroke: {colour}; fill: none" stroke-width="1.5"{dashed}/>'
            )
        marks += [_dot(x, y, said, colour) for x, y, said in spots]
        line = TOP + TALL + 52 + 14 * place
        marks.append(
            f'<path d="M{LEFT:g} {line:g}h20" style="stroke: {colour}" stroke-width="1.5"{dashed}/>'
            f'<text x="{LEFT + 26:g}" y="{line + 4:g}">{escape(name)}</text>'
        )
    return standalone(
        f'<svg viewBox="0 0 340 320" xmlns="http://www.w3.org/2000/svg" role="img" font-family="sans-serif" font-size="11">'
        f'<title>{escape(title)}</title><rect width="340" height="320" style="fill: var(--ground)"/>'
        f'<g style="fill: var(--ink)">{"".join(marks)}'
        f'<text x="{LEFT + WIDE / 2:g}" y="{TOP + TALL + 34:g}" text-anchor="middle">{escape(along)}</text></g></svg>'
    )


def _dot(x: float, y: float, said: str, colour: str) -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" style="fill: {colour}">'
        f"<title>{escape(said)}</title></circle>"
    )
