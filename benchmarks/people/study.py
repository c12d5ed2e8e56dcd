"""`hebbarium human`: mechanism sets, or another system, beside people."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ...engine.base.errors import DataError, InputError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.ports.embedding_cache import CachedEmbedder
from ...reporting.files import finite, write_json, write_whole
from ...reporting.provenance import Made, made
from ...reporting.text import in_cell, plural
from ..designs.arms import Arm
from ..execution.folder import ledger_beside
from ..execution.ledger import Ledger
from ..execution.local import Progress, write_lines
from ..execution.plan import Composition, planned
from ..execution.setup import code_version
from ..execution.spec import DEFAULTS
from ..probes.harness.bands import SeedEstimate
from ..probes.harness.report import NO_EVIDENCE, with_interval
from ..systems.by_name import OURS
from .data import (
    DELAYED,
    HALVES,
    IMMEDIATE,
    Half,
    ListExperiment,
    RecallTrial,
    by_person,
    half,
    read_trials,
    shipped_people,
    shipped_trials,
    written,
)
from .free_recall import CURVES, Counts, added, counts, curves, summary, texts_of
from .readout import Readout, fitted, log_likelihood
from .run import choices_of, run_cells, specs_of, with_practice
from .scores import CORE, Target, distances, geometric_mean, interval_of, signs, target_of

PARADIGMS: Final = {each.id: each for each in (DELAYED, IMMEDIATE)}
ROWS, RESULT = "rows.jsonl", "human.json"
RECENCY: Final = "recency alone"
REFERENCE: Final = "hebbarium.benchmarks.people.reference:ReferenceCMR"
BASELINES: Final = ("bm25", "naive_rag")  # sets that are always measured
FORMAT: Final = 2  # conditions are named; a table has their means


@dataclass(frozen=True, slots=True)
class StudyRow:
    """What one memory showed.

    why        what kept it from being scored; "" if nothing did
    readout    the two numbers that were fitted on the fitting people; None if `why`
    score      geometric mean of the distances of CORE over conditions, with its interval
    distances  condition -> curve -> distance, in noise ceilings
    curves     condition -> curve -> values
    means      condition -> words recalled and intrusions of a list
    signs      condition -> whether intrusions and pauses go as in people
    likelihood log likelihood of a choice of people: of those who were fitted, and of others
    """

    name: str
    why: str = ""
    readout: Readout | None = None
    score: SeedEstimate = field(
        default_factory=lambda: SeedEstimate(math.nan, math.nan, math.nan, 0)
    )
    distances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    curves: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    means: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    signs: Mapping[str, Mapping[str, bool | None]] = field(default_factory=dict)
    likelihood: Mapping[Half, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StudyReport:
    """What a run found.

    rows      the measured memories first, then the baselines
    lists     simulated for each memory
    targets   condition -> curve -> values, errors and noise ceiling of the reporting people
    evidence  whether the embedder is a model
    """

    experiment: ListExperiment
    rows: tuple[StudyRow, ...]
    lists: int
    targets: Mapping[str, Target]
    evidence: bool
    provenance: Mapping[str, Any]

    @property
    def headline(self) -> str:
        return (
            f"{plural(len(self.rows), 'memory', 'memories')}, {self.lists:,} simulated lists each"
        )


def people_of(
    experiment: ListExperiment, path: Path | None, count: int
) -> tuple[dict[Half, dict[str, list[RecallTrial]]], dict[str, Target]]:
    """The trials of the people of each half, and the targets of the reporting ones by condition.

    path   a table of trials; None: those that ship
    count  reporting people who are simulated

    Raises DataError for a table without people of both halves or without lists of a condition, and
    InputError for more people than there are.
    """
    trials = shipped_trials(experiment) if path is None else read_trials(path)
    people = by_person(trials)
    halves = {h: {name: people[name] for name in sorted(people) if half(name) == h} for h in HALVES}
    for name, own in halves.items():
        conditions = {experiment.condition(trial) for each in own.values() for trial in each}
        if missing := [each for each in experiment.lengths if each not in conditions]:
            raise DataError(
                f"the {name} people have no list of {' or '.join(missing)} words",
                where=str(path),
                cure=f"give a table with lists of {', '.join(experiment.lengths)} words"
                f"{' (words-seconds)' if experiment.by_rate else ''} of people of both halves",
            )
    if count > len(halves["reporting"]):
        raise InputError(
            f"{count} people are asked for, and the data have {len(halves['reporting'])} reporting ones",
            where="--people",
            cure="give fewer, or more seeds"
            + ("" if path else "; --data PATH of the whole table has more"),
        )
    if path is None:
        of = shipped_people(experiment)["reporting"]
        targets: dict[str, Target] = {name: of[name]["curves"] for name in experiment.lengths}
    else:
        everyone = [counts_of(experiment, own) for own in halves["reporting"].values()]
        targets = {
            name: target_of([each[name] for each in everyone]) for name in experiment.lengths
        }
    fitting = dict(list(halves["fitting"].items())[:16])
    return {
        "fitting": fitting,
        "reporting": dict(list(halves["reporting"].items())[:count]),
    }, targets


def counts_of(experiment: ListExperiment, trials: Sequence[RecallTrial]) -> dict[str, Counts]:
    """The counts of trials by condition."""
    return {
        name: counts([trial for trial in trials if experiment.condition(trial) == name], length)
        for name, length in experiment.lengths.items()
    }


def compositions(
    sets: Sequence[MechanismSet], registry: Registry, system: str
) -> list[Composition]:
    """The memories that are measured, then the baselines, each once.  Each is built and checked."""
    recency = MechanismSet(RECENCY, "", {"recency": {}, "convex_fusion": {}})
    named = {one.name: one for one in sets} if system == OURS else {}
    if len(named) < len(sets):
        raise InputError(
            "a set is named twice, or stands beside another system",
            where="--set",
            cure="name every set once, or leave out --system",
        )
    for one in (*map(registry.set, BASELINES), recency):
        named.setdefault(one.name, one)
    ours = planned([Arm(name, one) for name, one in named.items()], registry).arms
    others = [*([] if system == OURS else [system]), REFERENCE]
    theirs = planned([], registry, DEFAULTS, list(dict.fromkeys(others))).arms
    return [*theirs[:-1], *ours, theirs[-1]]


def study(
    paradigm: str,
    sets: Sequence[MechanismSet],
    registry: Registry,
    embedder: CachedEmbedder,
    out: Path,
    *,
    system: str = OURS,
    data: Path | None = None,
    people: int = 64,
    seeds: int = 1,
    jobs: int = 1,
    progress: Progress | None = None,
    making: Made | None = None,
    overwrite: bool = False,
) -> StudyReport:
    """Fit the readout of each memory on the fitting people, simulate the lists of the reporting
    people, and write human.json, human.md and rows.jsonl into `out`.

    Cells that `out` holds from the same inputs are taken from its ledger.  Raises HebbariumError;
    InputError for a folder with other results.
    """
    if paradigm not in PARADIGMS:
        raise InputError(
            f"there is no paradigm {paradigm!r}",
            where="--paradigm",
            cure=f"choose {', '.join(PARADIGMS)}",
        )
    experiment = PARADIGMS[paradigm]
    halves, targets = people_of(experiment, data, people)
    arms = compositions(sets, registry, system)
    lists = [trial for own in halves.values() for each in own.values() for trial in each]
    deciding = {
        "paradigm": paradigm,
        "arms": {one.arm: one.set_digest or one.system_revision for one in arms},
        "embedder": embedder.name,
        "embedder_revision": embedder.revision,
        "registry_digest": registry.digest,
        "lists": hashlib.sha256(written(lists).encode()).hexdigest(),
    }
    practised = {name: with_practice(own) for name, own in halves.items()}
    with ledger_beside(out / RESULT, deciding, "people", replace=overwrite) as book:
        embedder.embed(texts_of(lists))
        measure = _Measure(experiment, practised, registry, embedder, book, jobs, progress)
        rows = tuple(measure.row(one, targets, seeds) for one in arms)
    provenance = {
        **deciding,
        "code": code_version(),
        "people": {name: len(own) for name, own in halves.items()},
        "seeds": seeds,
        "source": experiment.attribution,
        "made": asdict(making or made()),
    }
    simulated = seeds * sum(map(len, halves["reporting"].values()))
    report = StudyReport(
        experiment, rows, simulated, targets, embedder.name != "hashing", provenance
    )
    write_lines(out / ROWS, measure.recalls)
    write_json(out / RESULT, to_json(report), shared=True)
    write_whole(out / "human.md", [to_markdown(report)], shared=True)
    return report


class _Measure:
    """Measures one memory after the other over the people of both halves.

    recalls  what was recalled, one line a person and seed
    """

    def __init__(
        self,
        experiment: ListExperiment,
        people: Mapping[Half, Mapping[str, list[RecallTrial]]],
        registry: Registry,
        embedder: CachedEmbedder,
        book: Ledger,
        jobs: int,
        progress: Progress | None,
    ) -> None:
        self._experiment, self._people = experiment, people
        self._registry, self._embedder = registry, embedder
        self._book, self._jobs, self._progress = book, jobs, progress
        self.recalls: list[dict[str, Any]] = []

    def row(self, one: Composition, targets: Mapping[str, Target], seeds: int) -> StudyRow:
        some = dict(list(self._people["reporting"].items())[: len(self._people["fitting"])])
        followed = {
            "fitting": self._cells(one, self._people["fitting"], None, 1),
            "reporting": self._cells(one, some, None, 1),
        }
        if why := _why_not([cell for cells in followed.values() for _, cell in cells]):
            return StudyRow(one.arm, why)
        choices = {
            name: [choice for _, cell in cells for choice in choices_of(cell)]
            for name, cells in followed.items()
        }
        readout = fitted(choices["fitting"])
        cells = self._cells(one, self._people["reporting"], readout, seeds)
        if why := _why_not([cell for _, cell in cells]):
            return StudyRow(one.arm, why, readout)
        by_condition: dict[str, list[Counts]] = {name: [] for name in self._experiment.lengths}
        for name, trials in self._people["reporting"].items():
            given = [
                counts_of(self._experiment, _recalled(trials, cell))
                for person, cell in cells
                if person == name
            ]
            for condition, people in by_condition.items():
                people.append(added([each[condition] for each in given]))
        whole = {condition: added(people) for condition, people in by_condition.items()}
        mine = {condition: curves(each) for condition, each in whole.items()}
        self.recalls += [{"arm": one.arm, "person": name, **cell} for name, cell in cells]
        return StudyRow(
            one.arm,
            readout=readout,
            score=interval_of(by_condition, targets),
            distances={name: distances(each, targets[name]) for name, each in mine.items()},
            curves=mine,
            means={condition: summary(each) for condition, each in whole.items()},
            signs={
                name: signs(each, {c: curve["values"] for c, curve in targets[name].items()})
                for name, each in mine.items()
            },
            likelihood={h: log_likelihood(choices[h], readout) for h in HALVES},
        )

    def _cells(
        self,
        one: Composition,
        people: Mapping[str, list[RecallTrial]],
        readout: Readout | None,
        seeds: int,
    ) -> list[tuple[str, dict[str, Any]]]:
        """Person and finding of each cell."""
        specs = specs_of(one, people, self._registry, self._embedder, seeds=seeds, readout=readout)
        found = run_cells(
            specs,
            people,
            self._registry,
            self._embedder,
            self._book,
            jobs=self._jobs,
            progress=self._progress,
        )
        return [(spec.person, cell) for spec, cell in zip(specs, found, strict=True)]


def _why_not(cells: Sequence[Mapping[str, Any]]) -> str:
    """What keeps a memory from being scored: an error, or words that its gates refused."""
    if errors := [cell["error"] for cell in cells if "error" in cell]:
        return f"a call of the memory failed: {errors[0]}"
    refused, told = (sum(cell[name] for cell in cells) for name in ("refused", "told"))
    return (
        f"its gates refused {refused:,} of {told:,} words: the lists were not learnt"
        if refused
        else ""
    )


def _recalled(trials: Sequence[RecallTrial], cell: Mapping[str, Any]) -> list[RecallTrial]:
    """The trials with the recalls of a cell."""
    return [
        replace(trial, recalls=tuple(given[0]), times=tuple(given[1]))
        for trial in trials
        if (given := cell["recalls"].get(str(trial.number)))
    ]


# --- what is written ------------------------------------------------------------------------------
def to_json(report: StudyReport) -> dict[str, Any]:
    """Plain data for `json.dumps`; numbers that are not defined are null."""
    plain: dict[str, Any] = finite(
        {
            "format": FORMAT,
            "headline": report.headline,
            "evidence": report.evidence,
            "note": "" if report.evidence else NO_EVIDENCE,
            "rows": [{**asdict(row), "score": asdict(row.score)} for row in report.rows],
            "people": report.targets,
            "provenance": report.provenance,
        }
    )
    return plain


def lines_of(report: StudyReport) -> list[tuple[str, ...]]:
    """A row of cells for each memory: HEADS."""
    return [
        (row.name, row.why, *[""] * (len(HEADS) - 2))
        if row.why
        else (
            row.name,
            with_interval(row.score),
            *(
                _number(geometric_mean([each[name] for each in row.distances.values()]))
                for name in CURVES
            ),
            _number(row.likelihood["reporting"]),
        )
        for row in report.rows
    ]


HEADS: Final = ("memory", "score", *CURVES, "log likelihood")


def _number(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "-"


def to_markdown(report: StudyReport) -> str:
    """The table of memories."""
    lines = [
        "# Beside people",
        "",
        report.headline + ".",
        "",
        *([] if report.evidence else [NO_EVIDENCE, ""]),
        f"Distances in noise ceilings, geometric means over lists of {', '.join(report.experiment.lengths)} "
        f"words{' (words-seconds a word)' if report.experiment.by_rate else ''}; the score is that "
        f"over {', '.join(CORE)}, too. The log likelihood is that of a choice of people who were not "
        "fitted.",
        "",
        f"| {' | '.join(HEADS)} |",
        f"|{'---|' * len(HEADS)}",
        *(f"| {' | '.join(map(in_cell, cells))} |" for cells in lines_of(report)),
        "",
        f"Human data: {report.experiment.attribution}.",
        "",
    ]
    return "\n".join(lines)
