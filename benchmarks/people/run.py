"""Cells of people: the lists of one person in one memory, followed or recalled.  Finished cells are
kept in the ledger and not run again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from ... import __version__
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.flow.observer import Stopwatch
from ...engine.ports.embedder import Embedder
from ...engine.ports.embedding_cache import CachedEmbedder
from ..execution.ledger import Ledger
from ..execution.missing import Finished, Progress, payloads_of_arms
from ..execution.plan import Composition, setup_of
from ..execution.setup import Setup, code_version
from ..systems.base import System
from ..systems.by_name import OURS, make
from ..systems.hebbarium import Hebbarium
from .data import RecallTrial, written
from .free_recall import followed_by, practised, recalled_by
from .readout import Choice, Readout

CODE: Final = ("benchmarks/people", "benchmarks/systems", "engine", "mechanisms")
PROBES: Final = Path(__file__).parents[1] / "probes"
LIFE: Final = PROBES / "harness" / "life.py"
DIGITS: Final = 6  # of scores that are kept
NOT_SCORED: Final = "not scored"
People = Mapping[str, Sequence[RecallTrial]]  # with the practice lists first


@dataclass(frozen=True, kw_only=True)
class PersonSpec(Setup):
    """Everything that decides a cell, and how it is called.

    person       whose lists are told
    lists        digest of them
    following    whether the person's own recalls are followed, to fit the readout; the numbers of
                 the readout then are 0
    seed         of the memory and of the readout's draws
    """

    KIND: ClassVar[str] = "people"
    UNDECIDING: ClassVar[frozenset[str]] = frozenset({"arm", "set"})

    person: str
    lists: str
    following: bool
    seed: int
    temperature: float = 0.0
    threshold: float = 0.0


def with_practice(people: Mapping[str, Sequence[RecallTrial]]) -> dict[str, list[RecallTrial]]:
    """The trials of each person after two practice lists, whose words are those of the next one."""
    names = list(people)
    return {
        name: [*practised(people[name], people[names[(i + 1) % len(names)]]), *people[name]]
        for i, name in enumerate(names)
    }


def specs_of(
    memory: Composition,
    people: People,
    registry: Registry,
    embedder: CachedEmbedder,
    *,
    seeds: int,
    readout: Readout | None,
) -> list[PersonSpec]:
    """The records of an arm: of each person and seed, or of following each person once without a
    readout.
    """
    setup = setup_of(memory, registry, embedder, code(), __version__)
    free = (readout.temperature, readout.threshold) if readout else (0.0, 0.0)
    return [
        PersonSpec(
            person=name,
            lists=hashlib.sha256(written(trials).encode()).hexdigest(),
            following=readout is None,
            seed=seed,
            temperature=free[0],
            threshold=free[1],
            **setup,
        )
        for name, trials in people.items()
        for seed in range(seeds if readout else 1)
    ]


def run_cells(
    specs: Sequence[PersonSpec],
    people: People,
    registry: Registry,
    embedder: CachedEmbedder,
    book: Ledger,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """What each cell found, in order, as `payloads_of_arms` runs them."""

    def calls(missing: Mapping[str, PersonSpec]) -> list[tuple[Any, ...]]:
        return [(spec, people[spec.person], key) for key, spec in missing.items()]

    return payloads_of_arms(
        specs, calls, _work, (registry, embedder), book, jobs=jobs, progress=progress
    )


def code() -> str:
    """The code on which cells of lists depend; that of probes standardises scores."""
    return code_version(CODE, (LIFE,))


def _work(
    shared: tuple[Registry, Embedder], spec: PersonSpec, trials: Sequence[RecallTrial], key: str
) -> Finished:
    payload = json.dumps(run_cell(spec, trials, *shared), sort_keys=True)
    meta = {"person": spec.person, "seed": spec.seed, "arm": spec.arm}
    what = "followed" if spec.following else f"seed {spec.seed}"
    return Finished([(key, payload, meta)], f"{spec.arm}, {spec.person}, {what}")


def run_cell(
    spec: PersonSpec, trials: Sequence[RecallTrial], registry: Registry, embedder: Embedder
) -> dict[str, Any]:
    """Recalls of each list by its number, or the choices of the person; how many words were
    refused; or the message of what failed.
    """
    try:
        with closing(system_of(spec, spec.seed, registry, embedder)) as system:
            if spec.following:
                choices, (refused, told) = followed_by(system, trials)
                return {
                    "choices": [[c.support.round(DIGITS).tolist(), *c[1:]] for c in choices],
                    "refused": refused,
                    "told": told,
                }
            digits = "".join(filter(str.isdigit, spec.person))
            stream = np.random.default_rng([spec.seed, int(digits or 0)])
            lived = recalled_by(system, trials, Readout(spec.temperature, spec.threshold), stream)
            recalls = {str(t.number): [list(t.recalls), list(t.times)] for t in lived.trials}
            return {"recalls": recalls, "refused": lived.refused, "told": lived.told}
    except OSError:  # a full disk is no finding about the memory
        raise
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def choices_of(cell: Mapping[str, Any]) -> list[Choice]:
    """The choices of a cell that followed a person."""
    return [Choice(np.array(support), *chosen) for support, *chosen in cell["choices"]]


def system_of(spec: Setup, seed: int, registry: Registry, embedder: Embedder) -> System:
    """The memory of a cell."""
    if spec.system != OURS:
        return make(spec.system, embedder, seed)
    mechanisms = registry.build(MechanismSet("", "", spec.mechanisms))
    return Hebbarium(mechanisms, embedder, seed, Stopwatch())


def why_not(cells: Sequence[Mapping[str, Any]]) -> str:
    """What keeps a memory from being scored: an error, or words that its gates refused."""
    if errors := [cell["error"] for cell in cells if "error" in cell]:
        return f"a call of the memory failed: {errors[0]}"
    refused, told = (sum(cell[name] for cell in cells) for name in ("refused", "told"))
    return f"its gates refused {refused:,} of {told:,} things to be learnt" if refused else ""
