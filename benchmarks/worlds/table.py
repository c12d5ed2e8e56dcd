"""The result of a world as lines of a table for the terminal."""

from __future__ import annotations

from ..probes.harness.report import shown
from .report import difference, judged
from .result import WorldResult


def lines_of(result: WorldResult) -> list[tuple[str, ...]]:
    """One line for each arm, with its share of stored events, then one for each mechanism on
    trial, with its verdict.
    """
    lines = []
    for curve in (c for c in result.curves if not c.removed):
        cells = [
            " ".join(filter(None, (shown(p.hit.mean), judged(result, curve, p))))
            for p in curve.points
        ] or ["-"] * len(result.strengths)
        lines.append(
            (
                curve.arm,
                *cells,
                curve.why or (shown(curve.points[-1].stored) if curve.points else "-"),
            )
        )
    return lines + [
        (
            f"{t.set} minus without {t.mechanism}",
            *(difference(t.differences[s]) if t.differences else "-" for s in result.strengths),
            t.why or t.verdict.value,
        )
        for t in result.trials
    ]
