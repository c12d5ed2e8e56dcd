"""Cells of worlds: one life of one seed in one memory, or before the observers.  Finished cells
are kept in the ledger and not run again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from ... import __version__
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.contract.records import Event, Query
from ...engine.flow.observer import Stopwatch
from ...engine.ports.embedder import Embedder
from ...engine.ports.embedding_cache import CachedEmbedder
from ..execution.ledger import Ledger
from ..execution.missing import Finished, Progress, payloads_of_arms
from ..execution.plan import Composition, setup_of
from ..execution.setup import Setup, code_version, versions
from ..systems.base import Capability, Retrieved, System, TakesFeedback
from ..systems.by_name import OURS, make
from ..systems.hebbarium import Hebbarium
from .base import (
    Beliefs,
    Stream,
    WorldQuestion,
    counting,
    kept_by,
    last_use,
    places,
    places_of_kept,
)
from .collection import WORLDS
from .result import CHANCE, IDEAL

# folders on whose source lives and observers depend
LIVES = ("benchmarks/worlds",)
MEMORIES = (*LIVES, "engine", "mechanisms", "benchmarks/systems")  # and the cells of memories
OBSERVERS = "observers"  # in the place of a system
DEPTH = 50  # events asked of a system that does not rank all
# of each scored question, the rank of everything that fits; 0: not found
Ranks = list[list[int]]


@dataclass(frozen=True, kw_only=True)
class WorldSpec(Setup):
    """Everything that decides a cell, and how it is called; its system is `observers` for the
    ideal observer and its rivals.
    """

    KIND: ClassVar[str] = "world"
    UNDECIDING: ClassVar[frozenset[str]] = frozenset({"arm", "set"})

    world: str
    strength: float
    seed: int


def specs_of(
    worlds: Sequence[str],
    strengths: Sequence[float],
    seeds: int,
    arms: Sequence[Composition],
    registry: Registry,
    embedder: CachedEmbedder,
) -> list[WorldSpec]:
    """The records of all cells: of each world, strength and seed first the observers, then each
    arm.
    """
    watching: dict[str, Any] = {**{f.name: "" for f in fields(Setup)}, "arm": OBSERVERS,
                                "system": OBSERVERS, "mechanisms": {}, "files": {},
                                "embedder_dimensions": 0, "code": code_version(LIVES),
                                "versions": versions(__version__)}  # fmt: skip
    cells = [
        watching,
        *(setup_of(arm, registry, embedder, code_version(MEMORIES), __version__) for arm in arms),
    ]
    return [
        WorldSpec(world=world, strength=strength, seed=seed, **cell)
        for world in worlds
        for strength in strengths
        for seed in range(seeds)
        for cell in cells
    ]


def run_cells(
    specs: Sequence[WorldSpec],
    registry: Registry,
    embedder: CachedEmbedder,
    book: Ledger,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """The findings of all cells, in order, as `payloads_of_arms` runs them.

    All texts of the missing cells are embedded first, in one order, so that findings do not depend
    on the number of jobs.
    """

    def calls(missing: Mapping[str, WorldSpec]) -> list[tuple[Any, ...]]:
        if texts := _texts(spec for spec in missing.values() if spec.system != OBSERVERS):
            embedder.embed(texts)
        return [(spec, key) for key, spec in missing.items()]

    return payloads_of_arms(
        specs, calls, _work, (registry, embedder), book, jobs=jobs, progress=progress
    )


def _texts(specs: Iterable[WorldSpec]) -> list[str]:
    """The texts of all lives, each once, in order."""
    texts: dict[str, None] = {}
    for world, strength, seed in dict.fromkeys(
        (spec.world, spec.strength, spec.seed) for spec in specs
    ):
        steps = WORLDS[world].make(strength, seed).steps
        texts.update(
            dict.fromkeys(
                step.rendered() if isinstance(step, Event) else step.text for step in steps
            )
        )
    return list(texts)


def _work(shared: tuple[Registry, Embedder], spec: WorldSpec, key: str) -> Finished:
    return Finished(
        [
            (
                key,
                json.dumps(run_cell(spec, *shared), sort_keys=True),
                {"world": spec.world, "seed": spec.seed, "arm": spec.arm},
            )
        ],
        f"{spec.world} at {spec.strength:g}, seed {spec.seed}, {spec.arm}",
    )


def run_cell(spec: WorldSpec, registry: Registry, embedder: Embedder) -> dict[str, Any]:
    """What one life shows: the beliefs of observers, or the ranks that a memory gave, or what it
    lacks, or the message of what failed.
    """
    world = WORLDS[spec.world]
    stream = world.make(spec.strength, spec.seed)
    if spec.system == OBSERVERS:
        need = stream.ideal()
        return {
            "need": [[float(f"{p:.9g}") for p in shares] for shares in need],
            "needed": [ask.needed for ask in stream.scored],
            "observers": observed(stream, need, world.capacity),
        }
    if spec.system != OURS and world.capacity is not None:
        return {"missing": "a capacity that can be set"}
    try:
        with closing(_system(spec, world.capacity, registry, embedder)) as system:
            if not isinstance(system, TakesFeedback):
                return {"missing": "feedback: a method `use`"}
            ranks = lived(system, stream, world.k)
            return {"ranks": ranks, **_kept(system, stream)}
    except OSError:  # a full disk is no finding about the memory
        raise
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def observed(
    stream: Stream, need: Beliefs, capacity: int | None
) -> dict[str, list[list[list[int]]]]:
    """Of the ideal observer, its rivals and chance, the ranks that everything that fits each scored
    question may have.

    With a capacity each keeps so many events: the ideal observer the best choice, counting those
    that were needed most, last use those that were needed or told last, and chance any.
    """
    scores: dict[str, Beliefs] = {
        IDEAL: need,
        "counting": counting(stream),
        "last use": last_use(stream),
        CHANCE: [np.zeros(len(p)) for p in need],
    }
    if capacity is None:
        return {name: list(map(places, given)) for name, given in scores.items()}
    if stream.kept is None:
        raise ValueError(
            "the life of a world with a capacity does not say what the best choice of rows keeps"
        )
    drawn = np.random.default_rng(0).random(len(stream.events))
    chance = {event.id: float(x) for event, x in zip(stream.events, drawn, strict=True)}
    kept = {
        IDEAL: stream.kept(),
        "counting": kept_by(stream, capacity, lambda _, times: float(len(times))),
        "last use": kept_by(stream, capacity, lambda _, times: times[-1]),
        CHANCE: kept_by(stream, capacity, lambda id, _: chance[id]),
    }
    return {name: list(map(places_of_kept, scores[name], kept[name])) for name in scores}


def _system(
    spec: WorldSpec, capacity: int | None, registry: Registry, embedder: Embedder
) -> System:
    if spec.system != OURS:
        return make(spec.system, embedder, spec.seed)
    return Hebbarium(
        registry.build(MechanismSet("", "", spec.mechanisms)),
        embedder,
        spec.seed,
        Stopwatch(),
        capacity=capacity,
    )


def lived(system: TakesFeedback, stream: Stream, k: int) -> Ranks:
    """Lead a memory through a life; of each scored question the ranks of everything that fits,
    before the memory is told what was needed.

    What is told is the event of what was needed that the answer ranks best among its first k, else
    every event that tells it.
    """
    waiting, ranks = list[Event](), Ranks()
    depth = k if Capability.RANKS_ALL in system.capabilities else DEPTH
    for step in stream.steps:
        if isinstance(step, Event):
            waiting.append(step)
            continue
        if waiting:
            system.encode(waiting)
            waiting = []
        system.advance(step.time)
        answer = system.retrieve(Query(step.text, step.time, step.id, session=step.session), depth)
        if step.scored:
            ranks.append(
                [
                    min((rank for id in ids if (rank := answer.rank_of(id))), default=0)
                    for ids in step.fits
                ]
            )
        system.use(answer, _shown(answer, step, k) or step.gold)
    if waiting:
        system.encode(waiting)
    return ranks


def _shown(answer: Retrieved, ask: WorldQuestion, k: int) -> tuple[str, ...]:
    """The first event among the k best that tells what was needed."""
    return tuple(event.id for event in answer.events[:k] if event.id in ask.gold)[:1]


def _kept(system: System, stream: Stream) -> dict[str, float]:
    """`stored`: share of the events that the memory stored; `visible`: share that it can answer
    in the end.
    """
    events = stream.events
    answer = system.retrieve(Query(events[-1].text), len(events))
    visible = len({event.id for event in answer.events} & {event.id for event in events}) / len(
        events
    )
    log: Any = getattr(getattr(system, "engine", None), "event_log", None)
    stored = float(np.mean([bool(log.rows_of(event.id)) for event in events])) if log else visible
    return {"stored": round(stored, 6), "visible": round(visible, 6)}
