"""Experiments with lists of words and free recall: memories recall the lists of people, and their
curves are compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.errors import DataError, InputError
from ...engine.catalogue.registry import Registry
from ...engine.ports.embedding_cache import CachedEmbedder
from ..execution.ledger import Ledger
from ..execution.local import Progress
from ..execution.plan import Composition
from ..probes.harness.bands import SeedEstimate
from ..probes.harness.report import with_interval
from .data import (
    HALVES,
    Half,
    ListExperiment,
    RecallTrial,
    by_person,
    half,
    read_trials,
    shipped_people,
    shipped_trials,
)
from .effects import EffectSize, shown_of
from .free_recall import CURVES, Counts, added, counts, curves, summary
from .readout import Choice, Readout, fitted, log_likelihood
from .run import NOT_SCORED, choices_of, run_cells, specs_of, why_not
from .scores import CORE, Target, distances, effects_of, geometric_mean, interval_of, target_of

Floats = NDArray[np.float64]
HEADS: Final = ("memory", "score", *CURVES, "log likelihood")
UNKNOWN: Final = SeedEstimate(math.nan, math.nan, math.nan, 0)


@dataclass(frozen=True, slots=True)
class ListRow:
    """What one memory showed.

    why        what kept it from being scored; "" if nothing did
    readout    the two numbers that were fitted on the fitting people; None if `why`
    score      geometric mean of the distances of CORE over conditions, with its interval
    distances  condition -> curve -> distance, in noise ceilings
    curves     condition -> curve -> values
    means      condition -> words recalled and intrusions of a list
    effects    order of people, such as primacy -> its size and verdict
    likelihood log likelihood of a choice of people: of those who were fitted, and of others
    samples    (RESAMPLES,) scores of resamples, paired with those of other memories
    """

    name: str
    why: str = ""
    readout: Readout | None = None
    score: SeedEstimate = UNKNOWN
    distances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    curves: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    means: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    effects: Mapping[str, EffectSize] = field(default_factory=dict)
    likelihood: Mapping[Half, float] = field(default_factory=dict)
    samples: Floats = field(default_factory=lambda: np.empty(0), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ListReport:
    """What memories showed in one experiment.

    rows     the measured memories first, then the baselines
    lists    simulated for each memory
    targets  condition -> curve -> values, errors and noise ceiling of the reporting people
    fit_on   conditions that the readout was fitted on, and that do not judge; none: all do both
    """

    experiment: ListExperiment
    rows: tuple[ListRow, ...]
    lists: int
    targets: Mapping[str, Target]
    fit_on: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.experiment.id

    @property
    def source(self) -> str:
        return self.experiment.attribution

    @property
    def about(self) -> str:
        """What the table shows."""
        unit = " (words-seconds a word)" if self.experiment.by_rate else ""
        return (
            f"{self.lists:,} simulated lists each. Distances in noise ceilings, geometric means over "
            f"lists of {', '.join(self.targets)} words{unit}; the score is that over "
            f"{', '.join(CORE)}, too. "
            + (
                f"The readout was fitted on lists of {', '.join(self.fit_on)}. "
                if self.fit_on
                else ""
            )
            + "The log likelihood is that of a choice of people who were not fitted."
        )

    @property
    def heads(self) -> tuple[str, ...]:
        return HEADS

    def lines(self) -> list[tuple[str, ...]]:
        """A row of cells for each memory."""
        return [
            (row.name, row.why, *[""] * (len(HEADS) - 2))
            if row.why
            else (
                row.name,
                with_interval(row.score),
                *(
                    _number(geometric_mean([apart[name] for apart in row.distances.values()]))
                    for name in CURVES
                ),
                _number(row.likelihood["reporting"]),
            )
            for row in self.rows
        ]

    def summaries(self) -> dict[str, str]:
        """Each memory in one cell: its score, and how many effects are as in people."""
        return {row.name: in_a_cell(row.why, row.score, row.effects) for row in self.rows}

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "lists": self.lists,
            "rows": [without_samples(asdict(row)) for row in self.rows],
            "people": self.targets,
        }


def without_samples(row: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a row: resamples follow from the rest."""
    return {name: value for name, value in row.items() if name != "samples"}


def in_a_cell(why: str, score: SeedEstimate, effects: Mapping[str, EffectSize]) -> str:
    """A memory: its score, and how many effects are as in people; not scored if there is a `why`."""
    return NOT_SCORED if why else f"{_number(score.mean)}, {shown_of(effects)}"


def _number(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "-"


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
        conditions = {experiment.condition(trial) for trials in own.values() for trial in trials}
        if missing := [name for name in experiment.lengths if name not in conditions]:
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
            name: target_of([person[name] for person in everyone]) for name in experiment.lengths
        }
    fitting = dict(list(halves["fitting"].items())[:16])
    return {
        "fitting": fitting,
        "reporting": dict(list(halves["reporting"].items())[:count]),
    }, targets


def judging_of(experiment: ListExperiment, fit_on: Sequence[str]) -> tuple[str, ...]:
    """The conditions whose lists judge: those that the readout is not fitted on; all if `fit_on`
    names none.  Raises InputError for an unknown condition, and if none is left.
    """
    known = list(experiment.lengths)
    if unknown := [name for name in fit_on if name not in known]:
        raise InputError(
            f"{experiment.id} has no lists of {unknown[0]!r}",
            where="--fit-on",
            cure=f"choose among {', '.join(known)}",
        )
    judging = tuple(name for name in known if name not in fit_on)
    if not judging:
        raise InputError(
            "no condition is left to judge",
            where="--fit-on",
            cure=f"leave out one of {', '.join(known)}",
        )
    return judging


def counts_of(experiment: ListExperiment, trials: Sequence[RecallTrial]) -> dict[str, Counts]:
    """The counts of trials by condition."""
    return {
        name: counts([trial for trial in trials if experiment.condition(trial) == name], length)
        for name, length in experiment.lengths.items()
    }


class ListMeasure:
    """Measures one memory after the other over the people of both halves.

    fit_on   conditions on which the readout is fitted; the others judge.  None: all do both
    judging  the conditions that judge
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
        fit_on: Sequence[str] = (),
    ) -> None:
        self._experiment, self._people = experiment, people
        self.judging = judging_of(experiment, fit_on)
        self._conditions: dict[Half, Sequence[str]] = {
            "fitting": fit_on or self.judging,
            "reporting": self.judging,
        }
        self._condition_of = {
            name: {trial.number: experiment.condition(trial) for trial in trials}
            for half_of_people in people.values()
            for name, trials in half_of_people.items()
        }
        self._registry, self._embedder = registry, embedder
        self._book, self._jobs, self._progress = book, jobs, progress
        self.recalls: list[dict[str, Any]] = []

    def row(self, memory: Composition, targets: Mapping[str, Target], seeds: int) -> ListRow:
        some = dict(list(self._people["reporting"].items())[: len(self._people["fitting"])])
        followed: dict[Half, list[tuple[str, dict[str, Any]]]] = {
            "fitting": self._cells(memory, self._people["fitting"], None, 1),
            "reporting": self._cells(memory, some, None, 1),
        }
        if why := why_not([cell for cells in followed.values() for _, cell in cells]):
            return ListRow(memory.arm, why)
        choices = {name: self._choices(name, cells) for name, cells in followed.items()}
        readout = fitted(choices["fitting"])
        cells = self._cells(memory, self._people["reporting"], readout, seeds)
        if why := why_not([cell for _, cell in cells]):
            return ListRow(memory.arm, why, readout)
        by_condition: dict[str, list[Counts]] = {name: [] for name in self._conditions["reporting"]}
        for name, trials in self._people["reporting"].items():
            given = [
                counts_of(self._experiment, _recalled(trials, cell))
                for person, cell in cells
                if person == name
            ]
            for condition, people in by_condition.items():
                people.append(added([seed[condition] for seed in given]))
        whole = {condition: added(people) for condition, people in by_condition.items()}
        mine = {condition: curves(counted) for condition, counted in whole.items()}
        score, samples = interval_of(by_condition, targets)
        self.recalls += [
            {"paradigm": self._experiment.id, "arm": memory.arm, "person": name, **cell}
            for name, cell in cells
        ]
        return ListRow(
            memory.arm,
            readout=readout,
            score=score,
            distances={name: distances(shown, targets[name]) for name, shown in mine.items()},
            curves=mine,
            means={condition: summary(counted) for condition, counted in whole.items()},
            effects=effects_of(by_condition, targets),
            likelihood={h: log_likelihood(choices[h], readout) for h in HALVES},
            samples=samples,
        )

    def _choices(self, name: Half, cells: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Choice]:
        """The choices in the lists of the conditions that one half of the people answers for."""
        return [
            choice
            for person, cell in cells
            for choice in choices_of(cell)
            if self._condition_of[person][choice.trial] in self._conditions[name]
        ]

    def _cells(
        self,
        memory: Composition,
        people: Mapping[str, list[RecallTrial]],
        readout: Readout | None,
        seeds: int,
    ) -> list[tuple[str, dict[str, Any]]]:
        """Person and finding of each cell."""
        specs = specs_of(
            memory, people, self._registry, self._embedder, seeds=seeds, readout=readout
        )
        cells = run_cells(
            specs,
            people,
            self._registry,
            self._embedder,
            self._book,
            jobs=self._jobs,
            progress=self._progress,
        )
        return [(spec.person, cell) for spec, cell in zip(specs, cells, strict=True)]


def _recalled(trials: Sequence[RecallTrial], cell: Mapping[str, Any]) -> list[RecallTrial]:
    """The trials with the recalls of a cell."""
    return [
        replace(trial, recalls=tuple(given[0]), times=tuple(given[1]))
        for trial in trials
        if (given := cell["recalls"].get(str(trial.number)))
    ]
