"""What figures of a design take: a waterfall, a matrix of interactions and the curves of a sweep,
read off the estimates by their kinds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from .published import Published
from .result import BlockResult, Estimate

SHAPLEY, INTERACTION = "Shapley value", "interaction"  # kinds of estimates
JOINED: Final = " x "  # between the players of an interaction


@dataclass(frozen=True, slots=True)
class Waterfall:
    """How the players' Shapley values lead from the base to the set: `start` plus all values is
    `end`.
    """

    start: float
    end: float
    steps: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Two-way interactions: (player, player) -> estimate, each pair once, in the order of the
    players.
    """

    players: tuple[str, ...]
    cells: Mapping[tuple[str, str], Estimate]

    def of(self, one: str, other: str) -> Estimate | None:
        return self.cells.get((one, other)) or self.cells.get((other, one))


@dataclass(frozen=True, slots=True)
class SweptCurve:
    """The metric over the values of one parameter, as differences from the set as it is.

    points     (value of the parameter, estimate)
    published  (value of the parameter, difference) as a paper prints them, without an interval; ()
               without any
    source     of the published points
    """

    parameter: str
    points: tuple[tuple[float, Estimate], ...]
    published: tuple[tuple[float, float], ...] = ()
    source: str = ""


def waterfall(estimates: Sequence[Estimate], end: float) -> Waterfall | None:
    """Of the Shapley values among the estimates, largest first; None without any."""
    steps = sorted(
        (e for e in estimates if e.kind == SHAPLEY), key=lambda e: (-e.primary.mean, e.name)
    )
    if not steps:
        return None
    return Waterfall(end - math.fsum(e.primary.mean for e in steps), end, tuple(steps))


def matrix(estimates: Iterable[Estimate]) -> Matrix | None:
    """Of the two-way interactions among the estimates; None without any."""
    cells = {
        (left, other): e
        for e in estimates
        if e.kind == INTERACTION
        for left, _, other in [e.name.partition(JOINED)]
        if JOINED not in other
    }
    return (
        Matrix(tuple(dict.fromkeys(player for pair in cells for player in pair)), cells)
        if cells
        else None
    )


def curves(block: BlockResult, known: Published) -> tuple[SweptCurve, ...]:
    """Of the arms that change one number of one parameter, such as "heat.weight=0.3"; by parameter,
    with two values or more.

    known  published sweeps stand beside those of the same set
    """
    by_parameter: dict[str, list[tuple[float, Estimate]]] = {}
    for e in block.estimates:
        name, equals, value = e.name.partition("=")
        try:
            if equals and "," not in value and math.isfinite(float(value)):
                by_parameter.setdefault(name, []).append((float(value), e))
        except ValueError:  # a word
            continue
    drawn = [
        SweptCurve(name, tuple(sorted(points, key=lambda point: point[0])))
        for name, points in by_parameter.items()
        if len(points) > 1
    ]
    sweeps = {
        name: sweep for name, sweep in (known.sweeps or {}).items() if sweep.set == block.facts.set
    }
    return tuple(
        replace(curve, published=sweep.points, source=sweep.source)
        if (sweep := sweeps.get(curve.parameter))
        else curve
        for curve in drawn
    )
