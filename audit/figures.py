"""Figures: data that a specimen computes for a picture; a changed specimen gives a changed picture.

    @figure("window", caption="Change of a synapse by the time between two spikes", source="Bi & Poo
    2001, exponential fit") def window(specimen):
        lag = np.linspace(-100.0, 100.0, 201)
        return Picture("time from pre to post, ms", "change", (Curve("model", lag, ...), dots("Bi &
        Poo 1998", lags, changes)))

The picture is drawn from public kernels of the specimen; numbers of a paper or of a closed form
beside them are dots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..engine.base.errors import ContractError

MOST_CURVES = 8


class Marks(StrEnum):
    """How the values of a curve are drawn."""

    LINE = "line"
    DOTS = "dots"  # numbers to compare with, or values at single places
    BARS = "bars"
    STEPS = "steps"


@dataclass(frozen=True, slots=True)
class Curve:
    """Values (m,) over places (m,); NaN leaves a gap."""

    label: str
    x: ArrayLike
    y: ArrayLike
    marks: Marks = Marks.LINE


def dots(label: str, x: ArrayLike, y: ArrayLike) -> Curve:
    """Numbers to compare with, of a paper or of a closed form; the label says which."""
    return Curve(label, x, y, Marks.DOTS)


@dataclass(frozen=True, slots=True)
class Picture:
    """Axes with their units, and the curves in them.

    log  "", "x", "y" or "xy": which axes are logarithmic
    """

    x: str
    y: str
    curves: tuple[Curve, ...]
    log: str = ""

    def __post_init__(self) -> None:
        where = f"picture {self.y!r} over {self.x!r}"
        if self.log not in ("", "x", "y", "xy"):
            raise ContractError(f"log={self.log!r}", where=where, cure='write "", "x", "y" or "xy"')
        if not 0 < len(self.curves) <= MOST_CURVES:
            raise ContractError(
                f"has {len(self.curves)} curves", where=where, cure=f"draw 1 to {MOST_CURVES}"
            )
        for curve in self.curves:
            if (
                np.shape(curve.x) != np.shape(curve.y)
                or np.ndim(curve.x) != 1
                or not np.isfinite(np.asarray(curve.y, dtype=float)).any()
            ):
                raise ContractError(
                    f"curve {curve.label!r} has places {np.shape(curve.x)} and values {np.shape(curve.y)}",
                    where=where,
                    cure="give two arrays of one length, with a finite value",
                )


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture of a result of the paper, computed by the mechanism; calling it calls its function.

    name     as a check's `figure` has it
    caption  one sentence: what the picture shows; also its text for readers who cannot see it
    source   the figure or table of a paper that it is compared with, or "ours"
    """

    name: str
    caption: str
    source: str
    function: Callable[[Any], Picture]

    def __call__(self, specimen: Any) -> Picture:
        return self.function(specimen)

    def of_variety(
        self, caption: str = "", standing_in: Callable[[Any], Any] = lambda specimen: specimen
    ) -> Figure:
        """The same axes for another form: it draws `standing_in(specimen)`, and the caption, if
        given, says what is seen then.
        """
        return replace(
            self,
            caption=caption or self.caption,
            function=lambda specimen: self.function(standing_in(specimen)),
        )


def figure(name: str, *, caption: str, source: str) -> Callable[[Callable[[Any], Picture]], Figure]:
    """Declare a figure of an evidence file.  Raises ContractError for one without a name,
    caption or source.
    """

    def declare(function: Callable[[Any], Picture]) -> Figure:
        if not (name.isidentifier() and caption.strip() and source.strip()):
            raise ContractError(
                "has no name of one word, no caption or no source",
                where=f"figure {name!r} of {function.__module__}",
                cure="give all three",
            )
        return Figure(name, caption, source, function)

    return declare
