"""Experiments with printed results: simulated people take part, one memory or more each."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import __version__
from ...engine.catalogue.registry import Registry
from ...engine.contract.records import Event
from ...engine.ports.embedder import Embedder
from ...engine.ports.embedding_cache import CachedEmbedder
from ...reporting.text import plural
from ..execution.ledger import Ledger
from ..execution.local import Progress
from ..execution.missing import Finished, payloads_of_arms
from ..execution.plan import Composition, setup_of
from ..execution.setup import Setup, code_version
from ..probes.harness.bands import SeedEstimate
from ..probes.harness.life import Life
from ..probes.harness.report import with_interval
from ..probes.harness.run import NotedTexts, Recorder
from .effects import EffectSize
from .list_study import in_a_cell, without_samples
from .paradigms import PRINTED
from .paradigms.contract import Paradigm, SimulatedPerson
from .printed import PrintedOutcome, Timing, measured, plain, read
from .readout import Readout
from .run import CODE, DIGITS, LIFE, PROBES, system_of, why_not

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class SubjectSpec(Setup):
    """Everything that decides what a simulated person gave in a paradigm.

    seed  of the memory and of the draws of words
    """

    KIND: ClassVar[str] = "subject"
    UNDECIDING: ClassVar[frozenset[str]] = frozenset({"arm", "set"})

    paradigm: str
    seed: int


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """What one memory showed.

    why      what kept it from being scored; "" if nothing did
    numbers  of the readout; None if `why`
    fitted   whether they were fitted to the printed numbers
    score    distance from people in noise ceilings; NaN if as few numbers are printed as are fitted
    values   point -> mean over simulated people
    effects  name -> size and verdict
    samples  (RESAMPLES,) distances of resamples, paired with those of other memories
    """

    name: str
    why: str = ""
    numbers: Readout | Timing | None = None
    fitted: bool = False
    score: SeedEstimate = field(
        default_factory=lambda: SeedEstimate(math.nan, math.nan, math.nan, 0)
    )
    values: Mapping[str, SeedEstimate] = field(default_factory=dict)
    effects: Mapping[str, EffectSize] = field(default_factory=dict)
    samples: Floats = field(default_factory=lambda: np.empty(0), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PrintedReport:
    """What memories showed in one paradigm; simulated people of each memory."""

    paradigm: Paradigm
    rows: tuple[PrintedRow, ...]
    people: int

    @property
    def id(self) -> str:
        return self.paradigm.id

    @property
    def source(self) -> str:
        return f"{self.paradigm.source} ({self.paradigm.read})"

    @property
    def about(self) -> str:
        """What the table shows."""
        p = self.paradigm
        scored = (
            "The score is the distance from the printed numbers, in noise ceilings, after a fit of two "
            "numbers to them."
            if len(p.printed) > 2
            else "As few numbers are printed as are fitted, so there is no distance."
            if p.printed
            else "No numbers are known here, so only the signs of the effects are compared."
        )
        return (
            f"{plural(self.people, 'simulated person', 'simulated people')} each. {p.protocol} "
            f"{p.departures} {scored} {p.missing}"
        )

    @property
    def heads(self) -> tuple[str, ...]:
        return ("memory", "score", *(effect.name for effect in self.paradigm.effects))

    def lines(self) -> list[tuple[str, ...]]:
        """A row of cells for each memory, after one for what is printed of people."""
        people = [self.paradigm.size_of(effect) for effect in self.paradigm.effects]
        first = [f"{size:.3f}" if size else "above 0" for size in people]
        return [("printed", "", *first)] + [
            (row.name, row.why, *[""] * len(first))
            if row.why
            else (
                row.name,
                with_interval(row.score) if math.isfinite(row.score.mean) else "-",
                *(f"{e.size.mean:.3f}, {e.verdict}" for e in row.effects.values()),
            )
            for row in self.rows
        ]

    def summaries(self) -> dict[str, str]:
        """Each memory in one cell: its score, and how many effects are as in people."""
        return {row.name: in_a_cell(row.why, row.score, row.effects) for row in self.rows}

    def to_json(self) -> dict[str, Any]:
        p = self.paradigm
        return {
            "title": p.title,
            "source": p.source,
            "read": p.read,
            "protocol": p.protocol,
            "departures": p.departures,
            "missing": p.missing,
            "kind": p.kind.value,
            "people": {point: asdict(number) for point, number in p.printed.items()},
            "subjects": self.people,
            "rows": [without_samples(asdict(row)) for row in self.rows],
        }


class PrintedMeasure:
    """Measures one memory after the other in one paradigm.

    values   what each simulated person gave, a line a person
    """

    def __init__(
        self,
        paradigm: Paradigm,
        people: int,
        registry: Registry,
        embedder: CachedEmbedder,
        book: Ledger,
        jobs: int,
        progress: Progress | None,
    ) -> None:
        self._paradigm, self._people = paradigm, people
        self._registry, self._embedder, self._book = registry, embedder, book
        self._jobs, self._progress = jobs, progress
        self.values: list[dict[str, Any]] = []

    def measured(self, memory: Composition) -> tuple[str, PrintedOutcome | None]:
        """What kept a memory from being scored, or what it showed."""
        setup = setup_of(memory, self._registry, self._embedder, code(), __version__)
        specs = [
            SubjectSpec(**setup, paradigm=self._paradigm.id, seed=seed)
            for seed in range(self._people)
        ]
        cells = run_cells(
            specs,
            self._registry,
            self._embedder,
            self._book,
            jobs=self._jobs,
            progress=self._progress,
        )
        if why := why_not(cells):
            return why, None
        return "", measured(self._paradigm, [read(cell["tests"]) for cell in cells])

    def row(self, memory: Composition) -> PrintedRow:
        why, shown = self.measured(memory)
        if shown is None:
            return PrintedRow(memory.arm, why)
        self.values += [
            {
                "paradigm": self._paradigm.id,
                "arm": memory.arm,
                "person": person,
                "values": {point: float(of[person]) for point, of in shown.by_person.items()},
            }
            for person in range(self._people)
        ]
        return PrintedRow(
            memory.arm,
            "",
            shown.numbers,
            shown.fitted,
            shown.distance,
            shown.values,
            shown.effects,
            shown.samples,
        )


def run_cells(
    specs: Sequence[SubjectSpec],
    registry: Registry,
    embedder: CachedEmbedder,
    book: Ledger,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """What each cell gave, in order, as `payloads_of_arms` runs them.  All texts are embedded first."""

    def calls(missing: Mapping[str, SubjectSpec]) -> list[tuple[Any, ...]]:
        texts = [text for s in missing.values() for text in texts_of(s.paradigm, s.seed)]
        embedder.embed(list(dict.fromkeys(texts)))
        return [(spec, key) for key, spec in missing.items()]

    return payloads_of_arms(
        specs, calls, _work, (registry, embedder), book, jobs=jobs, progress=progress
    )


class _Noting(Recorder):
    """Notes lives that are longer than those of probes may be."""

    def encode(self, events: Sequence[Event]) -> None:
        self._events += events
        self._texts.update(dict.fromkeys(event.rendered() for event in events))


def code() -> str:
    """The code on which tests depend; that of probes drives the memories, and has the words."""
    return code_version(CODE, (PROBES / "stimuli.py", LIFE))


@cache
def texts_of(paradigm: str, seed: int) -> tuple[str, ...]:
    """The texts that a simulated person is told and asked."""
    texts: dict[str, None] = {}
    with closing(Life(lambda *_: _Noting(texts), NotedTexts(texts))) as life:
        PRINTED[paradigm].run(SimulatedPerson(paradigm, seed, life))
    return tuple(text for text in texts if text.strip())


def _work(shared: tuple[Registry, Embedder], spec: SubjectSpec, key: str) -> Finished:
    payload = json.dumps(run_cell(spec, *shared), sort_keys=True)
    meta = {"paradigm": spec.paradigm, "seed": spec.seed, "arm": spec.arm}
    return Finished([(key, payload, meta)], f"{spec.arm}, {spec.paradigm}, person {spec.seed}")


def run_cell(spec: SubjectSpec, registry: Registry, embedder: Embedder) -> dict[str, Any]:
    """The tests of a simulated person; how many of the things to be learnt were refused; or the
    message of what failed.
    """
    try:
        with closing(
            Life(lambda *_: system_of(spec, spec.seed, registry, embedder), embedder)
        ) as life:
            subject = SimulatedPerson(spec.paradigm, spec.seed, life)
            PRINTED[spec.paradigm].run(subject)
            refused, told = subject.refused()
            return {"tests": plain(subject.tests, DIGITS), "refused": refused, "told": told}
    except OSError:  # a full disk is no finding about the memory
        raise
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
