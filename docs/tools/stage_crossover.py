"""Draws pictures/stage-crossover.svg: contexts of `waking`, best first, against those of `stages`
by its sources, in chats of growing length.

    python docs/tools/stage_crossover.py --beam FOLDER ... --out OUT [--by labels|gap|semantic]

Every run is one of `hebbarium run` with contexts; OUT keeps the runs, and a run that it holds is
read and not made again.  Points are the folders of BEAM, such as 100K 500K 1M.  `--by` says how
stages are found; by labels, the default of the set, a stage of BEAM is an exchange, mostly of two
messages.  Intervals are of the mean over questions, which are few, and of few chats.  The table of
docs/results/contexts.md is printed.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hebbarium.benchmarks.datasets import Dataset, load
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.scores.statistics import clustered_bootstrap
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder, default_cache

SCORES, BUDGETS, DRAWN = ("evidence", "answer"), (1024, 2048, 4096), 4096
# arm -> set, strategy
SETS = {"flat": ("waking", "flat"), "staged": ("stages", "sources")}
ALL = "all questions"
TARGET = Path(__file__).parents[1] / "pictures" / "stage-crossover.svg"
NEAR = 10  # nearest events of each event
WIDTH, PLOT, ROW = 860, 180, 24  # px
STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: var(--ink) }
  .ground { fill: var(--ground); stroke: var(--edge) }
  .title { font-size: 15px; font-weight: 600 }
  .head { font-weight: 600 }
  .soft { fill: var(--soft); font-size: 11px }
  .end { text-anchor: end }
  .middle { text-anchor: middle }
  .grid { stroke: var(--edge); stroke-width: .7 }
  .zero { stroke: var(--soft) }
  .cross { stroke: var(--soft); stroke-dasharray: 2 4 }
  .line { fill: none; stroke: currentColor; stroke-width: 2 }
  .bar { stroke: currentColor; stroke-width: 1.4 }
  .dot { fill: currentColor }
  .flat { color: var(--flat) } .staged { color: var(--staged) } .staged .line { stroke-dasharray: 8 4 }
  .size-0 { color: var(--flat) } .size-1 { color: var(--staged) } .size-2 { color: var(--third) }
  svg { --ground: #ffffff; --ink: #1f2328; --soft: #57606a; --edge: #d0d7de; --flat: #0a5fb4; --staged: #b35900; --third: #1a7f37 }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --ink: #e6edf3; --soft: #9aa4af; --edge: #3d444d; --flat: #6cb6ff; --staged: #f0a35e; --third: #57d364 }
  }
"""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over questions with its 95% interval; both ends equal the mean of a single
    question.
    """

    value: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """Percentile or BCa bootstrap over questions, 10,000 resamples.

        >>> Mean.of([0.5, 0.5])
        Mean(value=0.5, low=0.5, high=0.5, n=2)
        """
        estimate = clustered_bootstrap(values, [str(i) for i in range(len(values))], seed=0)
        return cls(
            estimate.mean,
            estimate.mean if estimate.low is None else estimate.low,
            estimate.mean if estimate.high is None else estimate.high,
            len(values),
        )


@dataclass(frozen=True, slots=True)
class Point:
    """One size: its chats and events, the geometry of its vectors, and the scores of both arms,
    question by question.
    """

    size: str
    chats: int
    events: float  # of a chat, mean
    hubness: float
    contrast: float
    rows: Mapping[str, Mapping[str, Row]]  # arm -> question -> row

    def pairs(self, score: str, budget: int, ability: str) -> tuple[list[float], list[float]]:
        """The scores of flat and staged contexts of the same questions."""
        flat, staged = (self.rows[arm] for arm in SETS)
        scores = [
            (mine["contexts"][str(budget)][score], staged[name]["contexts"][str(budget)][score])
            for name, mine in flat.items()
            if ability in (ALL, mine["category"])
            and mine["contexts"][str(budget)]["evidence"] is not None
        ]
        kept = [pair for pair in scores if None not in pair]
        return [a for a, _ in kept], [b for _, b in kept]

    def difference(self, score: str, budget: int, ability: str = ALL) -> Mean:
        """Staged minus flat, over the questions that have the score."""
        return Mean.of([b - a for a, b in zip(*self.pairs(score, budget, ability), strict=True)])

    def abilities(self) -> list[str]:
        """Abilities with evidence, by name."""
        return sorted(
            {
                row["category"]
                for row in self.rows["flat"].values()
                if row["contexts"][str(DRAWN)]["evidence"] is not None
            }
        )


# --- geometry -------------------------------------------------------------------------------------
def hubness(vectors: NDArray[np.float64], k: int = NEAR) -> float:
    """Skewness of the k-occurrence: of how many others a vector is among the k nearest.
    Radovanović, Nanopoulos & Ivanović (2010).

    vectors  (n, d)  unit vectors, n > k; of equal similarities the earlier row is nearer

    >>> circle = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    >>> hubness(np.stack([np.cos(circle), np.sin(circle)], 1).round(9), 7)
    0.0
    """
    products = vectors @ vectors.T
    np.fill_diagonal(products, -np.inf)
    near = np.argsort(-products, axis=1, kind="stable")[:, :k]
    count = np.bincount(near.ravel(), minlength=len(vectors)).astype(np.float64)
    away = count - count.mean()
    spread = math.sqrt(float((away**2).mean()))
    return float((away**3).mean()) / spread**3 if spread else 0.0


def relative_contrast(vectors: NDArray[np.float64], queries: NDArray[np.float64]) -> float:
    """Mean distance of a query to the vectors over the mean distance to its nearest one.  He, Kumar
    & Chang (2012), eq. 1.  1: all are as far.

    vectors, queries  (n, d), (q, d)  unit vectors

    >>> relative_contrast(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([[0.0, 1.0]]))
    1.0
    """
    distance = np.sqrt(np.maximum(2.0 - 2.0 * queries @ vectors.T, 0.0))
    return float(distance.mean() / distance.min(axis=1).mean())


def crossings(events: Sequence[float], difference: Sequence[float]) -> list[float]:
    """Lengths, in events, at which staged contexts begin or cease to be ahead: linear in the
    logarithm between two points.

    >>> [round(x) for x in crossings([100.0, 10_000.0], [-0.1, 0.1])], crossings([100.0, 200.0], [-0.1, -0.2])
    ([1000], [])
    """
    lengths = []
    for (a, before), (b, after) in zip(
        zip(events, difference, strict=True),
        list(zip(events, difference, strict=True))[1:],
        strict=False,
    ):
        if before * after < 0.0:
            lengths.append(
                math.exp(math.log(a) + (math.log(b) - math.log(a)) * before / (before - after))
            )
    return lengths


# --- runs -----------------------------------------------------------------------------------------
def point(folder: Path, out: Path, model: CachedEmbedder, by: str = "labels") -> Point:
    """Both arms on the chats of a folder.  Raises HebbariumError."""
    data, size = load("beam", folder), folder.resolve().name
    rows = {}
    for arm, (name, strategy) in SETS.items():
        other = arm == "staged" and by != "labels"
        where, registry = out / f"{size}-{name}{f'-{by}' * other}", Registry.installed()
        if not (where / "metrics.json").exists():
            settings = Settings(
                context=BUDGETS,
                strategy=strategy,
                param={"stage_detection": {"by": by}} if other else {},
            )  # type: ignore[arg-type]
            run(registry.set(name), registry, data, model, where, settings=settings)
        rows[arm] = {
            row["question"]: row
            for row in map(
                json.loads, (where / "rows.jsonl").read_text(encoding="utf-8").splitlines()
            )
        }
    lengths, shapes = geometry(data, model)
    hubs, contrast = (float(np.mean(values)) for values in zip(*shapes, strict=True))
    return Point(size, len(lengths), float(np.mean(lengths)), hubs, contrast, rows)


def geometry(data: Dataset, model: CachedEmbedder) -> tuple[list[int], list[tuple[float, float]]]:
    """Of each chat its events, and hubness and relative contrast of their vectors."""
    lengths, shapes = list[int](), list[tuple[float, float]]()
    for chat in data.conversations:
        vectors = model.embed([event.rendered() for event in chat.events]).astype(np.float64)
        queries = model.embed([question.text for question in chat.questions]).astype(np.float64)
        lengths.append(len(vectors))
        shapes.append((hubness(vectors), relative_contrast(vectors, queries)))
    return lengths, shapes


# --- figure ---------------------------------------------------------------------------------------
def drawn(points: Sequence[Point], by: str = "labels", budget: int = DRAWN) -> str:
    """Above the means of both arms over length; below the differences by ability, one mark for
    each size.
    """
    abilities = [ALL, *points[-1].abilities()]
    top, parts = 104, list[str]()
    for place, score in enumerate(SCORES):
        parts += _curves(points, score, budget, 56 + place * 420, top)
    below = top + PLOT + 118
    for place, score in enumerate(SCORES):
        parts += _forest(
            points, score, budget, abilities, 178 + place * 344, below, labels=not place
        )
    tall = below + ROW * len(abilities) + 62
    lead = (
        f"Budget {budget:,} tokens. Flat: best first, set waking. Staged: sources of the set stages, stages by {by}. "
        "Bars: 95% intervals over questions."
    )
    few = "; ".join(
        f"{p.size}: {p.chats} chat{'s' * (p.chats > 1)}, {p.difference('evidence', budget).n} questions"
        for p in points
    )
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" width="{WIDTH}" height="{tall}" role="img" aria-labelledby="t d">',
            f'<title id="t">Flat and staged contexts in chats of growing length</title><desc id="d">{escape(lead)} {few}.</desc>',
            f"<style>{STYLE}</style>",
            f'<rect class="ground" x=".5" y=".5" width="{WIDTH - 1}" height="{tall - 1}" rx="6"/>',
            '<text class="title" x="18" y="28">Flat and staged contexts in chats of growing length (BEAM, development chats)</text>',
            f'<text class="soft" x="18" y="46">{escape(lead)}</text>',
            f'<text class="soft" x="18" y="61">{few}. Bars that leave a panel are cut.</text>',
            *parts,
            "</svg>",
            "",
        )
    )


def _curves(points: Sequence[Point], score: str, budget: int, left: float, top: float) -> list[str]:
    """One panel: mean score of both arms over the events of a chat, with what is known of the
    vectors below each point.
    """
    wide = 356.0
    low, high = math.log(points[0].events) - 0.35, math.log(points[-1].events) + 0.35
    means = {
        arm: [Mean.of(p.pairs(score, budget, ALL)[i]) for p in points] for i, arm in enumerate(SETS)
    }
    ends = [v for estimates in means.values() for m in estimates for v in (m.low, m.high)]
    floor = math.floor(min(ends) * 10) / 10
    roof = max(math.ceil(max(ends) * 10) / 10, floor + 0.1)

    def x(events: float) -> float:
        return left + wide * (math.log(events) - low) / (high - low)

    def y(value: float) -> float:
        return top + PLOT - PLOT * (value - floor) / (roof - floor)

    parts = [f'<text class="head" x="{left}" y="{top - 12}">{score}@{budget:,}</text>']
    for value in np.arange(round(floor * 10), round(roof * 10) + 1) / 10:
        parts.append(
            f'<path class="grid" d="M{left} {y(value):.1f}h{wide}"/>'
            f'<text class="soft end" x="{left - 6}" y="{y(value) + 4:.1f}">{value:.1f}</text>'
        )
    for p in points:
        for line, text in enumerate(
            (
                p.size,
                f"{p.events:,.0f} events",
                f"hubness {p.hubness:.2f}",
                f"contrast {p.contrast:.2f}",
            )
        ):
            parts.append(
                f'<text class="{"soft " * (line > 0)}middle" x="{x(p.events):.1f}" y="{top + PLOT + 18 + 15 * line}">{text}</text>'
            )
    gap = [b.value - a.value for a, b in zip(means["flat"], means["staged"], strict=True)]
    if not (crossed := crossings([p.events for p in points], gap)):
        ahead = "staged" if gap[-1] > 0.0 else "flat"
        parts.append(
            f'<text class="soft end" x="{left + wide}" y="{top + PLOT - 8}">no crossover: {ahead} is ahead</text>'
        )
    for events in crossed:
        parts.append(
            f'<path class="cross" d="M{x(events):.1f} {top}v{PLOT}"/>'
            f'<text class="soft middle" x="{x(events):.1f}" y="{top - 1}">crossover {events:,.0f} events</text>'
        )
    for number, (arm, estimates) in enumerate(means.items()):
        places = [(x(p.events) + 8 * number - 4, m) for p, m in zip(points, estimates, strict=True)]
        parts.append(
            f'<g class="{arm}"><path class="line" d="M{"L".join(f"{a:.1f} {y(m.value):.1f}" for a, m in places)}"/>'
        )
        for a, m in places:
            parts.append(
                f"<g><title>{arm} {m.value:.3f} [{m.low:.3f}, {m.high:.3f}], {m.n} questions</title>"
                f'<path class="bar" d="M{a:.1f} {y(m.low):.1f}V{y(m.high):.1f}"/>{_mark(number, a, y(m.value))}</g>'
            )
        key = left + wide - 150 + 76 * number
        parts.append(
            f'<path class="line" d="M{key} {top - 16}h22"/>{_mark(number, key + 11, top - 16)}</g>'
            f'<text x="{key + 27}" y="{top - 12}">{arm}</text>'
        )
    return parts


def _forest(
    points: Sequence[Point],
    score: str,
    budget: int,
    abilities: Sequence[str],
    left: float,
    top: float,
    labels: bool,
) -> list[str]:
    """One panel: staged minus flat by ability; a mark for each size."""
    wide = 300.0
    differences = [[p.difference(score, budget, ability) for p in points] for ability in abilities]
    most = max(
        math.ceil(
            float(
                np.quantile(
                    [
                        abs(v)
                        for estimates in differences
                        for m in estimates
                        for v in (m.low, m.high)
                    ],
                    0.9,
                )
            )
            * 5
        )
        / 5,
        0.2,
    )

    def x(value: float) -> float:
        return left + wide * (min(max(value, -most), most) + most) / (2 * most)

    bottom = top + ROW * len(abilities)
    parts = [
        f'<text class="head middle" x="{x(0.0):.1f}" y="{top - 12}">{score}: staged minus flat</text>'
    ]
    for value in (-most, -most / 2, 0.0, most / 2, most):
        parts.append(
            f'<path class="{"grid" if value else "zero"}" d="M{x(value):.1f} {top}V{bottom}"/>'
            f'<text class="soft middle" x="{x(value):.1f}" y="{bottom + 15}">{f"{value:+.1f}" if value else "0"}</text>'
        )
    for row, (ability, estimates) in enumerate(zip(abilities, differences, strict=True)):
        middle = top + ROW * row + ROW / 2
        if labels:
            parts.append(
                f'<text class="end" x="{left - 10}" y="{middle + 4}">{escape(ability.replace("_", " "))}</text>'
            )
        for number, (p, m) in enumerate(zip(points, estimates, strict=True)):
            a = middle + 6.5 * (number - (len(points) - 1) / 2)
            parts.append(
                f'<g class="size-{number}"><title>{p.size}: {m.value:+.3f} [{m.low:+.3f}, {m.high:+.3f}], {m.n} questions</title>'
                f'<path class="bar" d="M{x(m.low):.1f} {a}H{x(m.high):.1f}"/>{_mark(number, x(m.value), a, 3.2)}</g>'
            )
            if abs(m.value) > most:
                parts.append(
                    f'<text class="soft" x="{x(m.value) + math.copysign(16.0, -m.value) - 10:.1f}" y="{a - 4}">{m.value:+.2f}</text>'
                )
    if labels:
        for number, p in enumerate(points):
            key = left + 96 * number
            parts.append(
                f'<g class="size-{number}">{_mark(number, key, bottom + 36)}</g><text x="{key + 10}" y="{bottom + 40}">{p.size}</text>'
            )
    else:
        parts.append(
            f'<text class="soft" x="{left}" y="{bottom + 40}">right of 0: staged contexts hold more</text>'
        )
    return parts


def _mark(number: int, x: float, y: float, size: float = 4.2) -> str:
    """Circle, square or diamond."""
    if number == 0:
        return f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{size}"/>'
    if number == 1:
        return f'<rect class="dot" x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size}" height="{2 * size}"/>'
    return f'<path class="dot" d="M{x:.1f} {y - 1.4 * size:.1f}l{1.4 * size} {1.4 * size}-{1.4 * size} {1.4 * size}-{1.4 * size}-{1.4 * size}z"/>'


def table(points: Sequence[Point]) -> list[str]:
    """The tables of docs/results/contexts.md: differences by budget, and by ability with where
    they cross.
    """

    def signed(m: Mean) -> str:
        return f"{m.value:+.3f} [{m.low:+.2f}, {m.high:+.2f}]".replace("0.", ".").replace("-", "−")

    events = [p.events for p in points]
    lines = ["| size | chats, events | hubness | contrast |", "|---|---|---|---|"]
    lines += [
        f"| {p.size} | {p.chats}, {p.events:,.0f} | {p.hubness:.2f} | {p.contrast:.2f} |"
        for p in points
    ]
    sizes = " | ".join(p.size for p in points)
    for score in SCORES:
        lines += [
            "",
            f"| {score}, staged minus flat | {sizes} | crossover |",
            "|---|" + "---|" * (len(points) + 1),
        ]
        abilities = [
            (ability.replace("_", " "), DRAWN, ability) for ability in points[-1].abilities()
        ]
        for name, budget, ability in [
            *((f"@{budget:,}", budget, ALL) for budget in BUDGETS),
            *abilities,
        ]:
            differences = [p.difference(score, budget, ability) for p in points]
            crossed = (
                ", ".join(
                    f"{length:,.0f}" for length in crossings(events, [m.value for m in differences])
                )
                or "none"
            )
            lines.append(
                f"| {name} | " + " | ".join(signed(m) for m in differences) + f" | {crossed} |"
            )
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--beam", type=Path, nargs="+", required=True, help="folders of BEAM, such as 100K 500K 1M"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the runs")
    parser.add_argument(
        "--by", choices=("labels", "gap", "semantic"), default="labels", help="how stages are found"
    )
    given = parser.parse_args(arguments)
    model = embedder("minilm", default_cache())
    points = sorted(
        (point(folder, given.out, model, given.by) for folder in given.beam), key=lambda p: p.events
    )
    TARGET.write_text(drawn(points, given.by), encoding="utf-8")
    print(*table(points), sep="\n")


if __name__ == "__main__":
    main()
