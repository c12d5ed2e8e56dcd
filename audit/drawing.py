"""Pictures as SVG in the colours of the page, light or dark."""

from __future__ import annotations

import io
import itertools
import re
from importlib.util import find_spec
from typing import Any

import numpy as np

from .figures import Marks, Picture

WIDTH, HEIGHT = 5.6, 3.2  # inches
# Colours for matplotlib, replaced by the page's variables afterwards: text, axes and ticks, curves.
INK, SOFT = "#010203", "#040506"
CURVES = tuple(f"#0{i}0a0b" for i in range(8))
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
SHAPES = "osD^vPX*"


def available() -> bool:
    """Whether pictures can be drawn: matplotlib is an extra."""
    return find_spec("matplotlib") is not None


def to_svg(picture: Picture, name: str) -> str:
    """One picture as an SVG element for a page that defines --ink, --soft and --curve-0 to
    --curve-7.

    name  unique on the page.  Cost: some 50 ms.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

    style: Any = {"font.size": 9, "text.color": INK, "axes.edgecolor": SOFT, "axes.labelcolor": INK,
                  "xtick.color": SOFT, "ytick.color": SOFT,
             "xtick.labelcolor": INK, "ytick.labelcolor": INK, "axes.spines.top": False,
             "axes.spines.right": False, "svg.fonttype": "none",
             "svg.hashsalt": name, "legend.frameon": False, "font.family": "sans-serif",
             "axes.unicode_minus": True}  # fmt: skip
    with matplotlib.rc_context(style):
        drawn = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        FigureCanvasSVG(drawn)
        axes = drawn.add_subplot()
        _curves(axes, picture)
        axes.set_xlabel(picture.x)
        axes.set_ylabel(picture.y)
        for name_of_axis, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            if name_of_axis in picture.log:
                axes.set(**{f"{name_of_axis}scale": "log"})
                axis.set_major_formatter(FuncFormatter(_power_of_ten))
                axis.set_minor_formatter(NullFormatter())
                if np.ptp(np.log10(axis.get_view_interval())) > 2.5:
                    # over many decades minor ticks are too dense to read, and slow
                    axis.set_minor_locator(NullLocator())
        if not picture.log and all(
            np.array_equal(c.x, np.round(np.asarray(c.x, dtype=float))) for c in picture.curves
        ):
            axes.xaxis.set_major_locator(
                MaxNLocator("auto", integer=True, steps=[1, 2, 2.5, 5, 10])
            )
        if len(picture.curves) > 1 or picture.curves[0].label:
            # above the axes, where it hides no curve
            drawn.legend(loc="outside upper left", ncols=_columns(picture), fontsize=8)
        out = io.StringIO()
        drawn.savefig(
            out,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    return _of_the_page(out.getvalue(), name)


def _power_of_ten(value: float, _: int | None = None) -> str:
    """A number on a logarithmic axis, in plain text; typesetting powers would take most of the time
    of a picture.

    >>> [_power_of_ten(v) for v in (1e-6, 0.01, 100.0, 1e6)]
    ['1e-6', '0.01', '100', '1e6']
    """
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:g}")


def _columns(picture: Picture) -> int:
    """Columns of a legend with room for the longest label: a letter of 8 points is about 1/15
    inch wide, the line before it half an inch.
    """
    return max(1, min(4, int(WIDTH / (max(len(c.label) for c in picture.curves) / 15 + 0.6))))


def _curves(axes: Any, picture: Picture) -> None:
    """Curves differ in dash or shape as well as in colour."""
    bars = [c for c in picture.curves if c.marks is Marks.BARS]
    for i, (curve, colour) in enumerate(zip(picture.curves, itertools.cycle(CURVES), strict=False)):
        x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
        if curve.marks is Marks.BARS:
            wide = (
                (np.min(np.diff(np.unique(x))) if np.unique(x).size > 1 else 1.0) * 0.8 / len(bars)
            )
            axes.bar(
                x + (bars.index(curve) - (len(bars) - 1) / 2) * wide,
                y,
                wide,
                color=colour,
                label=curve.label,
            )
        elif curve.marks is Marks.DOTS:
            axes.plot(x, y, SHAPES[i % len(SHAPES)], color=colour, markersize=5, label=curve.label)
        else:
            axes.plot(
                x,
                y,
                linestyle=DASHES[i % len(DASHES)],
                color=colour,
                linewidth=1.6,
                label=curve.label,
                drawstyle="steps-mid" if curve.marks is Marks.STEPS else "default",
            )


def _of_the_page(svg: str, name: str) -> str:
    """The SVG without prologue and fixed size, with the page's colours and ids of its own."""
    svg = svg[svg.index("<svg") :]
    # a style element applies to the whole page
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    for i, colour in enumerate(CURVES):
        svg = svg.replace(colour, f"var(--curve-{i})")
    svg = svg.replace(INK, "var(--ink)").replace(SOFT, "var(--soft)")
    ids = sorted(set(re.findall(r'\bid="([^"]+)"', svg)), key=len, reverse=True)
    for old in ids:
        svg = re.sub(rf'(id="|url\(#|href="#){re.escape(old)}(?=["\)])', rf"\g<1>{name}-{old}", svg)
    return svg.strip()
