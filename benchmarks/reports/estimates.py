"""What the report of a design takes: estimates with intervals, as plain data.

A waterfall, a matrix of interactions and the curves of a sweep are read off the estimates by their
kinds; `report_of` reads design.json.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ...engine.base.errors import DataError
from ...reporting.text import visible
from ..scores.comparison import Verdict
from .published import NOTHING, Published, Removal, alone

SHAPLEY, INTERACTION = "Shapley value", "interaction"  # kinds of estimates
JOINED: Final = " x "  # between the players of an interaction
REMOVED: Final = "full minus arm"  # kind of the estimates of a leave-one-out


@dataclass(frozen=True, slots=True)
class Estimate:
    """One contrast.

    low, high   interval; None where there is no spread between conversations
    p, corrected  of the test of record, alone and over the family
    more        further conversations, as `scores.power.more_conversations`
    seed_sd     standard deviation over seeds; None for one seed
    """

    name: str
    kind: str
    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    corrected: float | None = None
    verdict: Verdict = Verdict.UNDECIDED
    more: int | None = None
    seed_sd: float | None = None


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
class Curve:
    """The metric over the values of one parameter, as differences from the set as it is.

    points     (value of the parameter, estimate)
    published  (value of the parameter, difference) as a paper prints them, without an interval; ()
               without any
    sentence   whether the paper's conclusion holds here; "" without one
    """

    parameter: str
    points: tuple[tuple[float, Estimate], ...]
    published: tuple[tuple[float, float], ...] = ()
    source: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU time of one mechanism, ms an event, a query and a night; None where it was not
    measured.
    """

    mechanism: str
    event: float | None
    query: float | None
    night: float | None


@dataclass(frozen=True, slots=True)
class Block:
    """The estimates on one data set: one family.

    means     arm -> the metric
    scale     sentences on chance level and pool; () if they were not computed
    by_seed   arm -> the metric with each seed; {} for one seed
    clusters  what the tests take as independent: conversations, or the seeds of a probe
    removals  what a publication says of the same mechanisms on the same data; () without any
    removed_source  of the removals
    """

    name: str
    n_questions: int
    n_conversations: int
    estimates: tuple[Estimate, ...]
    means: Mapping[str, float]
    waterfall: Waterfall | None = None
    matrix: Matrix | None = None
    curves: tuple[Curve, ...] = ()
    scale: tuple[str, ...] = ()
    by_seed: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    clusters: str = "conversations"
    removals: tuple[Removal, ...] = ()
    removed_source: str = ""

    def ours(self, removal: Removal) -> list[Estimate]:
        """The estimates of the mechanisms that stand for a published removal."""
        return [
            e for id in removal.ours for e in self.estimates if e.name == id and e.kind == REMOVED
        ]

    @property
    def points(self) -> Mapping[str, float]:
        """Mechanism -> published value, where the publication removes this one alone."""
        return alone(self.removals)

    @property
    def size(self) -> str:
        """
        >>> Block("x", 12, 3, (), {}).size, Block("x", 5, 5, (), {}, clusters="seeds").size
        ('12 questions of 3 conversations', '5 seeds')
        """
        if self.clusters != "conversations":
            return f"{self.n_conversations} {self.clusters}"
        return f"{self.n_questions:,} questions of {self.n_conversations} conversations"


@dataclass(frozen=True, slots=True)
class DesignReport:
    """A design with its estimates on every data set.

    facts     names and values of how it was made
    excluded  arm -> why it could not be built
    """

    name: str
    summary: str
    kind: str
    set: str
    metric: str
    margin: float
    correction: str
    blocks: tuple[Block, ...]
    costs: tuple[Cost, ...] = ()
    notes: tuple[str, ...] = ()
    excluded: Mapping[str, str] | None = None
    facts: tuple[tuple[str, str], ...] = ()


def waterfall(estimates: Sequence[Estimate], end: float) -> Waterfall | None:
    """Of the Shapley values among the estimates, largest first; None without any.

    >>> found = waterfall([Estimate("a", SHAPLEY, 0.1), Estimate("b", SHAPLEY, 0.3)], 0.9)
    >>> round(found.start, 6), [step.name for step in found.steps]
    (0.5, ['b', 'a'])
    """
    steps = sorted((e for e in estimates if e.kind == SHAPLEY), key=lambda e: (-e.value, e.name))
    return Waterfall(end - math.fsum(e.value for e in steps), end, tuple(steps)) if steps else None


def matrix(estimates: Iterable[Estimate]) -> Matrix | None:
    """Of the two-way interactions among the estimates; None without any.

    >>> matrix([Estimate("a x b", INTERACTION, 0.1)]).of("b", "a").value
    0.1
    """
    cells = {
        (one, other): e
        for e in estimates
        if e.kind == INTERACTION
        for one, _, other in [e.name.partition(JOINED)]
        if JOINED not in other
    }
    return (
        Matrix(tuple(dict.fromkeys(player for pair in cells for player in pair)), cells)
        if cells
        else None
    )


def curves(estimates: Iterable[Estimate]) -> tuple[Curve, ...]:
    """Of the arms that change one number of one parameter, such as "heat.weight=0.3"; by parameter,
    with two values or more.

    >>> [x for x, _ in curves([Estimate("heat.weight=0.3", "arm minus full", 0.1), Estimate("heat.weight=0", "arm minus full", 0.0)])[0].points]
    [0.0, 0.3]
    """
    found: dict[str, list[tuple[float, Estimate]]] = {}
    for e in estimates:
        name, equals, value = e.name.partition("=")
        try:
            if equals and "," not in value and math.isfinite(float(value)):
                found.setdefault(name, []).append((float(value), e))
        except ValueError:  # a word
            continue
    return tuple(
        Curve(name, tuple(sorted(points, key=lambda point: point[0])))
        for name, points in found.items()
        if len(points) > 1
    )


def report_of(
    design: Mapping[str, Any],
    *,
    costs: Sequence[Cost] = (),
    published: Callable[[str, str], Published] = lambda *_: NOTHING,
) -> DesignReport:
    """The report of what design.json holds.

    published  called with a block's data set and the metric: the numbers of a publication that
               stand beside that block's estimates

    Raises DataError for anything else.
    """
    try:
        blocks = tuple(
            _block(each, str(design["set"]), published(str(each["dataset"]), str(design["metric"])))
            for each in design["blocks"]
        )
        made = design.get("made") or {}
        facts = [
            ("Command", made.get("command_line") or "made from Python"),
            ("Date", made.get("date", "–")),
            ("Machine", f"{made.get('platform', '–')}, {made.get('cores', 0)} cores"),
            ("Design", str(design.get("source", "–"))),
            ("Seeds", ", ".join(map(str, design["seeds"])) or "0"),
            *(
                (f"Embedder on {block['block'] or block['dataset']}", str(block["embedder"]))
                for block in design["blocks"]
            ),
        ]
        timed = [
            Cost(
                str(c["mechanism"]),
                *(
                    None if c[part] is None else float(c[part])
                    for part in ("event", "query", "night")
                ),
            )
            for c in design.get("costs", ())
        ]
        return DesignReport(
            str(design["name"]),
            str(design["summary"]),
            str(design["kind"]),
            str(design["set"]),
            str(design["metric"]),
            float(design["margin"]),
            str(design["correction"]),
            blocks,
            tuple(costs or timed),
            tuple(map(str, design["notes"])),
            dict(design["excluded"]),
            tuple((visible(name), visible(str(value))) for name, value in facts),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DataError(
            f"this is not the result of a design ({error})",
            where="design.json",
            cure="give the file that `hebbarium ablate --design` wrote, or run the design again",
        ) from error


def _block(data: Mapping[str, Any], chosen: str, known: Published) -> Block:
    estimates = tuple(
        Estimate(
            e["name"],
            e["kind"],
            float(e["mean"]),
            e["low"],
            e["high"],
            e["p"],
            e["p_holm"],
            Verdict(e["verdict"]),
            e.get("more"),
            e["seed_sd"],
        )
        for e in data["estimates"]
    )
    means = {str(arm): float(value) for arm, value in data["means"].items()}
    sweeps = {name: sweep for name, sweep in (known.sweeps or {}).items() if sweep.set == chosen}
    drawn = tuple(
        replace(curve, published=sweep.points, source=sweep.source)
        if (sweep := sweeps.get(curve.parameter))
        else curve
        for curve in curves(estimates)
    )
    by_seed = {
        str(arm): tuple(map(float, values)) for arm, values in data.get("by_seed", {}).items()
    }
    removed = {e.name for e in estimates if e.kind == REMOVED}
    removals = known.removals if any(id in removed for r in known.removals for id in r.ours) else ()
    return Block(
        str(data["block"] or data["dataset"]),
        int(data["questions"]),
        int(data["conversations"]),
        estimates,
        means,
        waterfall(estimates, next(iter(means.values()))),
        matrix(estimates),
        drawn,
        (),
        by_seed,
        str(data.get("clusters", "conversations")),
        removals,
        known.source if removals else "",
    )
