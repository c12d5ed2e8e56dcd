"""The result of a composition as plain data, a table and one HTML page that loads nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from ...engine.base.yaml_file import yaml_text
from ...engine.catalogue.registry import MechanismSet
from ...reporting.files import write_whole
from ...reporting.pages import environment
from ...reporting.text import in_cell, plural, visible
from ..reports.figures import ticks_of
from ..reports.words import number, signed
from .resampling import CrossValidation, Stability
from .search import Part

FORMAT: Final = 1
TEMPLATES: Final = Path(__file__).parent.parent / "templates"
COSTS: Final[Mapping[str, str]] = {
    "mechanisms": "mechanisms",
    "event": "ms an event",
    "question": "ms a question",
    "compile": "CPU s to compile",
}
LEFT, RIGHT, TOP, BOTTOM = 52.0, 366.0, 14.0, 182.0  # px of the plot


@dataclass(frozen=True, slots=True)
class Scored:
    """One constraint, and what the found part loses on it.

    name, metric, margin  as the constraint has them
    n, conversations      questions that are scored, and their conversations
    whole_mean, part_mean  of the whole set, and of the part that was found
    low, high             95 % interval of the loss, conversations as clusters; None without a
                          spread.  The part was chosen by these questions, so it flatters
    """

    name: str
    metric: str
    margin: float
    n: int
    conversations: int
    whole_mean: float
    part_mean: float
    low: float | None
    high: float | None

    @property
    def loss(self) -> float:
        return self.whole_mean - self.part_mean

    @property
    def label(self) -> str:
        return f"{self.name}, {self.metric}"


@dataclass(frozen=True, slots=True)
class MeasuredPart:
    """A part that was measured.

    costs    name of each cost that was measured -> that of the part
    scores   mean on every constraint
    allowed  whether it loses no more than the margins
    """

    part: tuple[str, ...]
    costs: Mapping[str, float]
    scores: tuple[float, ...]
    allowed: bool


@dataclass(frozen=True, slots=True)
class Composed:
    """What `compose` found.

    chosen       the whole set
    part         the smallest allowed part, as a set
    cost         name of the cost that was made small
    constraints  with their scores
    singles      mechanism -> what the whole set loses without it on each constraint; NaN in worlds
                 that need not be lived, since another loss was too large
    families     family -> the same
    family_of    mechanism -> family
    costs        name of each cost that was measured -> of each mechanism
    points       every part that was measured, in that order
    steps        how the search went: sentences
    stability    over resamples
    validated    nested cross-validation; None without folds
    unbuildable  reason why the engine refused a part -> how many
    fixed        mechanisms that were not to be removed
    provenance   what decided it
    """

    chosen: MechanismSet
    part: MechanismSet
    cost: str
    constraints: tuple[Scored, ...]
    singles: Mapping[str, tuple[float, ...]]
    families: Mapping[str, tuple[float, ...]]
    family_of: Mapping[str, str]
    costs: Mapping[str, Mapping[str, float]]
    points: tuple[MeasuredPart, ...]
    steps: tuple[str, ...]
    stability: Stability
    validated: CrossValidation | None
    unbuildable: Mapping[str, int]
    fixed: Part
    provenance: Mapping[str, Any]

    @property
    def removed(self) -> tuple[str, ...]:
        return tuple(id for id in self.chosen.mechanisms if id not in self.part.mechanisms)

    @property
    def headline(self) -> str:
        n, of = len(self.part.mechanisms), len(self.chosen.mechanisms)
        worst = max(self.constraints, key=lambda scored: scored.loss / max(scored.margin, 1e-6))
        return (
            f"A part of {n} of the {plural(of, 'mechanism')} of {self.chosen.name} loses no more than its margins; "
            f"the worst change is {signed(-worst.loss, 3)} of {worst.label} (margin {worst.margin:g})"
        )

    def honest(self) -> list[str]:
        """What was lost on conversations that took no part, in a sentence for each constraint."""
        if self.validated is None:
            return []
        return [
            f"{scored.label}: {number(held.mean, 4)}"
            + (
                ""
                if held.low is None or held.high is None
                else f" [{number(held.low, 4)}, {number(held.high, 4)}]"
            )
            for scored, held in zip(self.constraints, self.validated.losses, strict=True)
            if held
        ]

    def path(self) -> list[MeasuredPart]:
        """The best part of every number of mechanisms that was measured, smallest first: the one
        whose largest loss, in units of its margin, is least.
        """
        margins, whole = (
            [scored.margin for scored in self.constraints],
            [scored.whole_mean for scored in self.constraints],
        )

        def worst(point: MeasuredPart) -> float:
            return max(
                (full - mine) / max(margin, 1e-6)
                for full, mine, margin in zip(whole, point.scores, margins, strict=True)
            )

        best: dict[int, MeasuredPart] = {}
        for point in self.points:
            size = len(point.part)
            if size not in best or worst(point) < worst(best[size]):
                best[size] = point
        return [best[size] for size in sorted(best)]


def to_json(result: Composed) -> dict[str, Any]:
    """Plain data for `json.dumps`."""
    return {
        "format": FORMAT,
        "set": result.chosen.name,
        "cost": result.cost,
        "headline": result.headline,
        "part": list(result.part.mechanisms),
        "removed": list(result.removed),
        "fixed": sorted(result.fixed),
        "constraints": [
            {**asdict(scored), "loss": scored.loss, "held_out": asdict(held) if held else None}
            for scored, held in zip(result.constraints, _held(result), strict=True)
        ],
        "mechanisms": [
            {
                "mechanism": id,
                "family": result.family_of.get(id, ""),
                "kept": id in result.part.mechanisms,
                "alone": _lost(result.singles.get(id, ())),
                "stays": {
                    "questions": result.stability.questions[id],
                    "conversations": result.stability.conversations.get(id),
                    "folds": result.validated.kept[id] if result.validated else None,
                },
                "costs": {name: cost.get(id) for name, cost in result.costs.items()},
            }
            for id in result.chosen.mechanisms
        ],
        "families": {name: _lost(losses) for name, losses in result.families.items()},
        "sizes": {str(size): share for size, share in result.stability.sizes.items()},
        "folds": [
            {
                "held_out": [id for _, id in fold.held_out],
                "part": [id for id in result.chosen.mechanisms if id in fold.part],
                "losses": list(fold.losses),
            }
            for fold in (result.validated.folds if result.validated else ())
        ],
        "path": [asdict(point) for point in result.path()],
        "measured": [asdict(point) for point in result.points],
        "steps": list(result.steps),
        "unbuildable": dict(result.unbuildable),
        "provenance": dict(result.provenance),
    }


def _lost(losses: Sequence[float]) -> list[float | None]:
    """Losses for JSON: None in worlds that were not lived, since another loss was too large."""
    return [None if math.isnan(loss) else loss for loss in losses]


def _held(result: Composed) -> Sequence[Any]:
    return result.validated.losses if result.validated else [None] * len(result.constraints)


HEADS: Final = ("constraint", "questions", "whole", "found", "loss", "margin", "loss held out")


def constraint_rows(result: Composed) -> list[tuple[str, ...]]:
    """Rows of a table under `HEADS`."""
    rows = list[tuple[str, ...]]()
    for scored, held in zip(result.constraints, _held(result), strict=True):
        apart = "-"
        if held:
            apart = number(held.mean, 4)
            if held.low is not None:
                apart += f" [{number(held.low, 4)}, {number(held.high, 4)}]"
        rows.append(
            (
                scored.label,
                f"{scored.n:,}",
                number(scored.whole_mean, 4),
                number(scored.part_mean, 4),
                number(scored.loss, 4),
                f"{scored.margin:g}",
                apart,
            )
        )
    return rows


MECHANISM_HEADS: Final = ("mechanism", "family", "kept", "loss alone", "questions",
                          "conversations", "folds")  # fmt: skip


def mechanism_rows(result: Composed) -> list[tuple[str, ...]]:
    """Rows of a table under `MECHANISM_HEADS`: kept mechanisms first.  `loss alone` is the largest
    loss that was measured without the mechanism, in units of its margin.
    """

    def alone(id: str) -> str:
        if id not in result.singles:
            return "fixed" if id in result.fixed else "-"
        largest = max(
            loss / max(scored.margin, 1e-6)
            for loss, scored in zip(result.singles[id], result.constraints, strict=True)
            if not math.isnan(loss)
        )
        return "cannot be built" if largest == float("inf") else f"{largest:.2f}"

    def share(value: float | None) -> str:
        return "-" if value is None else f"{value:.0%}"

    ordered = sorted(result.chosen.mechanisms, key=lambda id: id not in result.part.mechanisms)
    return [
        (
            id,
            result.family_of.get(id, ""),
            "yes" if id in result.part.mechanisms else "no",
            alone(id),
            share(result.stability.questions[id]),
            share(result.stability.conversations.get(id)),
            share(result.validated.kept[id] if result.validated else None),
        )
        for id in ordered
    ]


def path_rows(result: Composed) -> list[tuple[str, ...]]:
    """Rows of a table: the best part of each size, its mean on each constraint, and whether it is
    within the margins.
    """
    return [
        (
            str(len(point.part)),
            *(number(score, 4) for score in point.scores),
            "yes" if point.allowed else "no",
        )
        for point in result.path()
    ]


def to_markdown(result: Composed) -> str:
    """The tables of the report as Markdown."""
    data = " and ".join(dict.fromkeys(in_cell(scored.name) for scored in result.constraints))
    made = result.provenance
    lines = [
        f"# The smallest part of {in_cell(result.chosen.name)} for {data}",
        "",
        f"{result.headline}. {plural(made['measured'], 'part')} were measured for the whole data, "
        f"{made['measured_on_all']} of them on all; measured with code {made['code']}, "
        f"{in_cell(made['embedder'])}.",
        "",
    ]
    lines += _markdown(HEADS, constraint_rows(result))
    lines += ["", "The path, the best part of each size that was measured on all data:", ""]
    labels = [scored.label for scored in result.constraints]
    lines += _markdown(("mechanisms", *labels, "within the margins"), path_rows(result))
    lines += [
        "",
        "How often each mechanism stays, in resamples of questions and conversations, and in the "
        "searches without a fold:",
        "",
    ]
    lines += _markdown(MECHANISM_HEADS, mechanism_rows(result))
    lines += ["", *(f"- {step}" for step in result.steps)]
    return "\n".join(lines) + "\n"


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(map(in_cell, row))} |" for row in rows),
    ]


def set_text(result: Composed, command: str) -> str:
    """The found part as the file of a mechanism set."""
    part = result.part
    lines = [
        f"# The smallest part of {result.chosen.name} that `hebbarium compose` found: {command}",
        *(
            f"# {scored.label}: {number(scored.part_mean, 4)} ({result.chosen.name} {number(scored.whole_mean, 4)}, "
            f"margin {scored.margin:g})"
            for scored in result.constraints
        ),
    ]
    data: dict[str, Any] = {
        "summary": part.summary,
        "mechanisms": {id: dict(values) for id, values in part.mechanisms.items()}
        if any(part.mechanisms.values())
        else list(part.mechanisms),
    }
    if part.alternates:
        data["alternates"] = {id: list(others) for id, others in part.alternates.items()}
    return visible("\n".join(lines), keep="\n") + "\n" + yaml_text(data)


# --- the page -------------------------------------------------------------------------------------
def to_html(result: Composed, path: Path) -> Path:
    """Write the page, whole or not at all.  Raises HebbariumError."""
    made = environment(TEMPLATES)
    page = made.get_template("composition.html.j2").render(
        result=result,
        costs=COSTS,
        constraint_heads=HEADS,
        constraints=constraint_rows(result),
        mechanism_heads=MECHANISM_HEADS,
        mechanisms=mechanism_rows(result),
        figures=[
            (COSTS[cost], [panel(result, place, cost) for place in range(len(result.constraints))])
            for cost in result.costs
        ],
        sizes=sorted(result.stability.sizes.items()),
    )
    write_whole(path, [page], shared=True)
    return path


def panel(result: Composed, place: int, cost: str) -> dict[str, Any]:
    """One constraint against one cost, as px: every part that was measured, the path of the best
    part of each size, and the line below which a part is not allowed.
    """
    scored = result.constraints[place]
    floor, values = (
        scored.whole_mean - scored.margin,
        [part.scores[place] for part in result.points],
    )
    # parts far below the margin would flatten the rest
    low = max(min(values), floor - 12.0 * max(scored.margin, 0.005))
    y = _scale(min(low, floor), max(*values, scored.whole_mean), BOTTOM, TOP, lambda v: f"{v:.3f}")
    dearest = max(part.costs[cost] for part in result.points)
    x = _scale(0.0, dearest, LEFT, RIGHT, lambda v: f"{v:g}")

    def at(part: MeasuredPart) -> tuple[float, float]:
        return x.at(part.costs[cost]), y.at(part.scores[place])

    return {
        "name": scored.label,
        "cost": COSTS[cost],
        "points": [
            (*at(part), part.allowed) for part in result.points if part.scores[place] >= low
        ],
        "path": [at(part) for part in result.path() if part.scores[place] >= low]
        if cost == "mechanisms"
        else [],
        "found": next(
            at(part) for part in result.points if set(part.part) == set(result.part.mechanisms)
        ),
        "whole": y.at(scored.whole_mean),
        "floor": y.at(floor),
        "xs": x.ticks,
        "ys": y.ticks,
    }


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    start: float
    end: float
    ticks: tuple[tuple[float, str], ...] = ()

    def at(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return round(self.start + share * (self.end - self.start), 2)


def _scale(
    low: float, high: float, start: float, end: float, text: Callable[[float], str]
) -> _Scale:
    ticks = ticks_of(low, high, 4)
    bare = _Scale(ticks[0], ticks[-1], start, end)
    return _Scale(
        bare.low, bare.high, start, end, tuple((bare.at(tick), text(tick)) for tick in ticks)
    )
