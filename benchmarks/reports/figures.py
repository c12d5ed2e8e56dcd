"""Geometry of the two figures of every design: the forest plot, and the questions gained and
lost.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..scores.comparison import Correction, Verdict
from .result import BlockResult, Estimate
from .words import label, signed

# arms far out get another scale if they would make the axis this many times longer, so that they do
# not squeeze the others
_SQUEEZE = 4.0
_OUTER = 0.3  # share of the plot for each side with another scale
_ROOM = 42.0  # px between two labels of the axis
_GAP = 12.0  # px of a break


@dataclass(frozen=True, slots=True)
class Layout:
    """Geometry of a figure, px: a wide one with labels and values beside the plot, a narrow one
    for phones with labels above it.
    """

    name: str
    width: float
    left: float  # x range of the plot
    right: float
    values: float  # x of the values' text; 0: on a line of their own above the mark
    p: float  # right end of the p-values
    words: float  # x of the verdicts
    head: float  # y of the first row
    row: float
    mark: float  # y of the mark within a row
    characters: int  # of a label's line


WIDE = Layout("wide", 980, 262, 592, 616, 872, 886, 34, 36, 19, 34)
NARROW = Layout("narrow", 380, 26, 354, 0, 0, 0, 30, 74, 54, 46)
LAYOUTS = (WIDE, NARROW)


class AxisScale:
    """A map from values to px: linear, with another linear scale beyond a break on each side where
    values lie far out.

    ticks   (px, value) of the labels
    breaks  px of the breaks
    """

    def __init__(
        self,
        near: tuple[float, float],
        whole: tuple[float, float],
        left: float,
        right: float,
        wanted: int,
    ) -> None:
        outer, far_left, far_right = _OUTER * (right - left), whole[0] < near[0], whole[1] > near[1]
        a, b = left + far_left * outer, right - far_right * outer
        inner = ticks_of(*near, min(wanted, int((b - a) / _ROOM / 1.5)))
        self._pieces = [(inner[0], inner[-1], a, b)]
        self.ticks = [(self._place(value), value) for value in inner]
        self.breaks: list[float] = []
        for far, edge, end, x, out in (
            (far_left, inner[0], whole[0], a, left),
            (far_right, inner[-1], whole[1], b, right),
        ):
            if far:
                last = max(ticks_of(min(edge, end), max(edge, end), 2), key=abs)
                start = x + math.copysign(_GAP, out - x)
                self._pieces.append(
                    (min(edge, last), max(edge, last), min(start, out), max(start, out))
                )
                self.breaks.append(round((x + start) / 2, 2))
                self.ticks += self._beyond(edge, last)

    def __call__(self, value: float) -> float:
        return self._place(value)

    def far(self, value: float) -> bool:
        """Whether the value lies beyond a break."""
        low, high, _, _ = self._pieces[0]
        return not low <= value <= high

    def _beyond(self, edge: float, last: float) -> list[tuple[float, float]]:
        """The last tick beyond a break, and those before it that leave room for their labels."""
        kept = [(self._place(last), last)]
        between = [
            value
            for value in ticks_of(min(edge, last), max(edge, last), 2)
            if abs(edge) < abs(value) < abs(last)
        ]
        for value in sorted(between, key=abs, reverse=True):
            if min(abs(self._place(value) - x) for x in (kept[-1][0], self._place(edge))) >= _ROOM:
                kept.append((self._place(value), value))
        return kept

    def _place(self, value: float) -> float:
        low, high, x, y = next((p for p in self._pieces if p[0] <= value <= p[1]), self._pieces[0])
        return round(x + (value - low) / (high - low) * (y - x), 2)


def forest(
    result: BlockResult, layout: Layout, published: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Mean differences with their intervals, and the published values of the same arms."""
    arms, known = result.ordered(), published or {}
    ends = {
        arm.name: [
            v
            for v in (
                arm.primary.mean,
                arm.primary.low,
                arm.primary.high,
                known.get(arm.name),
                *((arm.here.low, arm.here.high) if arm.here else ()),
            )
            if v is not None
        ]
        for arm in arms
    }
    limit = _limit([max(map(abs, ends[arm.name])) for arm in arms if not arm.no_op])
    near = [v for own in ends.values() if max(map(abs, own)) <= limit for v in own]
    low, high = min([0.0, *near]), max([0.0, *near])
    # on both sides, for the words "hurts" and "helps"
    room = max(max(high, -low) / 5, 1e-3)
    whole = (
        min([low, *(v for own in ends.values() for v in own)]),
        max([high, *(v for own in ends.values() for v in own)]),
    )
    x = AxisScale(
        (min(low, -room), max(high, room)),
        whole,
        layout.left,
        layout.right,
        6 if layout.values else 4,
    )
    rows = []
    for arm, row in zip(arms, _label_rows(arms, layout), strict=True):
        d = arm.primary
        start, end = (d.mean, d.mean) if d.low is None or d.high is None else (d.low, d.high)
        inner = (
            (x(arm.here.low), x(arm.here.high))
            if arm.here and arm.here.low is not None and arm.here.high is not None
            else None
        )
        rows.append(row | {"d": d, "here": inner, "x": x(d.mean), "far": x.far(d.mean), "low": x(start),
                           "high": x(end),
                           "published": (x(known[arm.name]),
                                         known[arm.name]) if arm.name in known else None})  # fmt: skip
    band = (
        None
        if x.far(result.margin) or x.far(-result.margin)
        else (x(-result.margin), x(result.margin))
    )
    keys = _keys(result, layout)
    below = 72 + 18 * max((line for _, line, _ in keys), default=0)
    return _figure(layout, arms, below) | {
        "zero": x(0.0),
        "ticks": _labels(x),
        "breaks": x.breaks,
        "rows": rows,
        "band": band,
        "keys": keys,
        "corrected": "BH" if result.facts.correction == Correction.BENJAMINI_HOCHBERG else "Holm",
        "sides": ("hurts", "helps") if result.removes else ("below 0", "above 0"),
        "words": f"difference in {result.metric}, full minus arm"
        if result.removes
        else f"difference in {result.metric}",
    }


def _keys(result: BlockResult, layout: Layout) -> list[tuple[float, int, Verdict]]:
    """Place, line and word of each verdict that some arm has."""
    first = layout.left if layout.values else 14.0
    x, line, keys = first, 0, []
    for word in (word for word in Verdict if result.judged(word)):
        width = (46 if layout.values else 22) + 6.7 * len(word.value)
        if x > first and x + width > layout.width:
            x, line = first, line + 1
        keys.append((x, line, word))
        x += width
    return keys


def tally(result: BlockResult, layout: Layout) -> dict[str, Any]:
    """Questions that are better, and worse, with the mechanism."""
    arms, side = result.ordered(), 92.0  # px kept free on each side for the words above it
    limit = _limit([max(arm.n_helped, arm.n_hurt) for arm in arms if not arm.no_op])
    counts = [(-arm.n_hurt, arm.n_helped) for arm in arms]
    near = [pair for pair in counts if max(map(abs, pair)) <= limit]
    low, high = min([0, *(a for a, _ in near)]), max([1, *(b for _, b in near)])
    span = high - low
    least = span * side / (layout.right - layout.left)
    whole = (min([low, *(a for a, _ in counts)]), max([high, *(b for _, b in counts)]))
    x = AxisScale(
        (min(low, -least), max(high, least)), whole, layout.left + 40, layout.right - 40, 4
    )
    rows = [
        row | {"lost": x(-arm.n_hurt), "helped": x(arm.n_helped)}
        for arm, row in zip(arms, _label_rows(arms, layout), strict=True)
    ]
    return _figure(layout, arms, 46) | {
        "zero": x(0.0),
        "ticks": _labels(x, str_of_count),
        "breaks": x.breaks,
        "rows": rows,
        "n_questions": result.n_questions,
        "sides": ("worse with it", "better with it") if result.removes else ("below 0", "above 0"),
        "words": f"number of questions, by {result.metric}",
    }


def str_of_count(value: float) -> str:
    """A count on an axis that has two sides."""
    return f"{abs(value):g}"


def heat_scale(arms: Sequence[Estimate]) -> float:
    """The difference with the full colour: the largest of the arms that do not lie far out."""
    reach = [max(map(abs, arm.by_category.values()), default=0.0) for arm in arms if not arm.no_op]
    limit = _limit(reach)
    return max((value for value in reach if value <= limit), default=0.0) or 1.0


def ticks_of(low: float, high: float, wanted: int) -> list[float]:
    """Round numbers, about as many as wanted, whose first and last enclose the range.

    >>> ticks_of(-0.012, 0.047, 4)
    [-0.02, 0.0, 0.02, 0.04, 0.06]
    """
    span = (high - low) or 0.01
    rough = span / wanted
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(
        factor * magnitude
        for factor in (1.0, 2.0, 5.0, 10.0)
        if factor * magnitude >= rough * (1 - 1e-9)
    )
    first, last = math.floor(low / step + 1e-6), math.ceil(high / step - 1e-6)
    return [round(i * step, 12) for i in range(first, max(last, first + 1) + 1)]


def wrapped(text: str, width: int, lines: int) -> list[str]:
    """The text on at most `lines` lines of `width` characters, broken after a separator if there is
    one, cut with an ellipsis if too long.

    >>> wrapped("swap spreading_activation->pattern_completion", 30, 2)
    ['swap spreading_activation->', 'pattern_completion']
    >>> wrapped("x" * 12, 10, 1)
    ['xxxxxxxxx…']
    """
    out: list[str] = []
    while len(out) < lines - 1 and _wide(text) > width:
        fits = next(n for n in range(len(text), 0, -1) if _wide(text[:n]) <= width)
        cut = next(
            (
                n
                for n in range(fits, fits // 3, -1)
                if text[n - 1] in " _->.:/" and text[n] not in ">"
            ),
            fits,
        )
        out, text = [*out, text[:cut].rstrip()], text[cut:]
    while _wide(text) > width:
        text = text[:-2] + "…"
    return [*out, text]


def _limit(reach: Sequence[float]) -> float:
    """The largest reach that is drawn on the inner scale: the one below the largest relative step
    among the upper half; infinite if the axis of all is at most _SQUEEZE times as long.

    >>> _limit([0.01, 0.02, 0.03, 0.3]), _limit([0.01, 0.02, 0.03, 0.1])
    (0.03, inf)
    """
    upper = [value for value in sorted(reach)[len(reach) // 2 :] if value > 0]
    steps = [(b / a, a) for a, b in pairwise(upper)]
    limit = max(steps, default=(0.0, math.inf))[1]
    return limit if upper and upper[-1] > _SQUEEZE * limit else math.inf


def _labels(x: AxisScale, text: Callable[[float], str] | None = None) -> list[tuple[float, str]]:
    digits = max(len(f"{value:.10f}".rstrip("0").partition(".")[2]) for _, value in x.ticks)
    return [(place, text(value) if text else signed(value, digits)) for place, value in x.ticks]


def _label_rows(arms: Sequence[Estimate], layout: Layout) -> list[dict[str, Any]]:
    lines = 2 if layout.values else 1
    return [
        {
            "arm": arm,
            "label": wrapped(label(arm), layout.characters, lines),
            "y": layout.head + i * layout.row,
        }
        for i, arm in enumerate(arms)
    ]


def _figure(layout: Layout, arms: Sequence[Estimate], below: float) -> dict[str, Any]:
    """A figure's frame with some px below the plot.

    Its vertical lines are whole if labels are beside the plot, and one piece per row if labels are
    above the marks.
    """
    bottom = layout.head + len(arms) * layout.row
    marks = [layout.head + i * layout.row + layout.mark for i in range(len(arms))]
    strokes = (
        [(layout.head - 6, bottom)] if layout.values else [(mark - 10, mark + 10) for mark in marks]
    )
    return {"layout": layout, "bottom": bottom, "height": bottom + below, "strokes": strokes}


def _wide(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
