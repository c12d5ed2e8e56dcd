"""The curve over questions as a figure with its table: geometry, and the page of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...reporting.files import write_whole
from ...reporting.pages import environment
from .drawings import axis
from .figures import LAYOUTS, Layout
from .learning_curve import PAGE, SHOWN, said

TEMPLATES = Path(__file__).parent.parent / "templates"
PLOT = 240.0  # px of the figure's height
EXPLAINED = (
    "Mean scores by the share of a conversation's questions that were asked before; each question is scored before its feedback, so a "
    "change along the line is an effect of earlier feedback only if a run without feedback does not show it as well."
)

Points = Sequence[Mapping[str, float]]


def figures(points: Points) -> list[dict[str, Any]]:
    """The figure of one arm in each layout; [] without points."""
    return [drawn(points, layout) for layout in LAYOUTS] if points else []


def drawn(points: Points, layout: Layout) -> dict[str, Any]:
    """One line for each metric of `SHOWN`; a mark stands at the middle of its group of
    positions, and scores begin at 0.
    """
    left, right = 58.0, layout.width - 26
    x = axis(0.0, 1.0, left, right, 5, lambda value: f"{value:.0%}")
    y = axis(
        0.0,
        max([0.1, *(point[name] for point in points for name in SHOWN)]),
        PLOT + 20,
        20.0,
        5,
        lambda value: f"{value:g}",
    )
    lines = []
    for name in SHOWN:
        marks = [
            (x((point["since"] + point["until"]) / 2), y(point[name]), point) for point in points
        ]
        lines.append(
            {"name": name, "marks": marks, "path": "M" + "L".join(f"{a} {b}" for a, b, _ in marks)}
        )
    return {"layout": layout, "left": left, "right": right, "bottom": PLOT + 20,
            "height": PLOT + 96, "x": x, "y": y, "lines": lines}  # fmt: skip


def write_learning_page(out: Path, feedback: str, arms: Mapping[str, Points], about: str) -> None:
    """Write learning_curve.html into `out`: a figure and a table for each arm; nothing without
    arms.  Raises HebbariumError.

    about  what was run on what, for the heading
    """
    if arms:
        page = (
            environment(TEMPLATES)
            .get_template("learning_curve.html.j2")
            .render(
                about=about,
                feedback=said(feedback),
                shown=SHOWN,
                explained=EXPLAINED,
                arms=[(arm, points, figures(points)) for arm, points in arms.items()],
            )
        )
        write_whole(out / PAGE, [page], shared=True)
