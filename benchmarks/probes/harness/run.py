"""Cells of probes: a probe with one seed on one memory.  Finished cells are kept in the ledger
and not run again.
"""

from __future__ import annotations

import gc
import json
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .... import __version__
from ....engine.catalogue.registry import MechanismSet, Registry
from ....engine.contract.hooks import Mechanism
from ....engine.contract.records import Event, Query
from ....engine.flow.observer import Stopwatch
from ....engine.ports.embedder import Embedder, Vectors
from ....engine.ports.embedding_cache import CachedEmbedder
from ...execution.ledger import Ledger
from ...execution.missing import Finished, Progress, completed
from ...execution.plan import Composition, setup_of
from ...execution.setup import Setup, code_version
from ...systems.base import Capability, Retrieved, RetrievedEvent, System
from ...systems.by_name import OURS, make
from ...systems.hebbarium import Hebbarium
from .base import Probe
from .collection import collected, source_of
from .instruments import Instrument
from .life import Life, Settings
from .shared import Arms, Diverged, Recorded, Replayed

FOLDERS = ("engine", "mechanisms", "benchmarks/systems")  # on whose source rows depend
# modules of this folder on which they depend, too
DECIDING = ("base", "life", "instruments", "run", "shared")
SHARED = "shared"  # in the ledger, of a cell that shared another cell's life
MOST_EVENTS = 120  # events that one life may be told


@dataclass(frozen=True, kw_only=True)
class ProbeSpec(Setup):
    """Everything that decides the outcome of a cell: a probe with one seed on one memory."""

    KIND: ClassVar[str] = "probe"
    UNDECIDING: ClassVar[frozenset[str]] = frozenset({"arm"})

    probe: str
    seed: int


def specs_of(
    probes: Sequence[Probe],
    seeds: int | None,
    measured: Composition,
    registry: Registry,
    embedder: CachedEmbedder,
) -> list[ProbeSpec]:
    """The records of all cells, probe by probe, with seeds 0, 1, ...

    seeds  of every probe; None: as many as each probe says
    """
    return [
        ProbeSpec(**setup, probe=probe.id, seed=seed)
        for probe in probes
        for setup in [setup_of(measured, registry, embedder, code_of(probe), __version__)]
        for seed in range(probe.seeds if seeds is None else seeds)
    ]


def code_of(probe: Probe) -> str:
    """The code on which the rows of a probe depend: a new probe leaves the others' rows valid."""
    here = Path(__file__).parent
    return code_version(
        FOLDERS,
        (*(here / f"{name}.py" for name in DECIDING), here.parent / "stimuli.py", source_of(probe)),
    )


def run_cells(
    specs: Sequence[ProbeSpec],
    registry: Registry,
    embedder: CachedEmbedder,
    book: Ledger,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    hosts: Mapping[str, ProbeSpec] | None = None,
) -> list[dict[str, Any]]:
    """The rows of all cells, in order, as `completed` runs them.

    hosts  by key of a cell, another cell of the same probe and seed whose set has all its
           mechanisms, and in whose life it may share

    All texts of the missing cells are embedded first, in one order, so that rows do not depend on
    the number of jobs.
    """

    def calls(missing: Mapping[str, ProbeSpec]) -> list[tuple[Any, ...]]:
        embed_ahead(list(missing.values()), embedder)
        groups: dict[str, tuple[ProbeSpec, dict[str, ProbeSpec]]] = {}
        for key, spec in missing.items():
            host = (hosts or {}).get(key)
            _, arms = groups.setdefault(host.key() if host else key, (host or spec, {}))
            if host:
                arms[key] = spec
        return [(spec, key if key in missing else "", arms) for key, (spec, arms) in groups.items()]

    cells = completed(
        specs,
        calls,
        _work,
        (registry, embedder),
        book,
        name=lambda spec: spec.probe,
        what="probe",
        jobs=jobs,
        progress=progress,
    )
    return [{**json.loads(cell.payload), "seconds": cell.meta["seconds"]} for cell in cells]


def _work(
    shared: tuple[Registry, CachedEmbedder],
    host: ProbeSpec,
    key: str,
    arms: Mapping[str, ProbeSpec],
) -> Finished:
    """A cell, and its arms: those that can share its life, and the others alone.

    key  of the cell; "" if only its arms are missing
    """
    _settle()
    start, probe = time.perf_counter(), collected()[host.probe]
    row, others = (
        run_shared(host, arms, probe, *shared) if arms else (run_cell(host, probe, *shared), {})
    )
    if arms:
        gc.collect()  # the record is large, and its lives refer to each other
    meta = {
        "probe": host.probe,
        "seed": host.seed,
        "seconds": round((time.perf_counter() - start) / (1 + len(others)), 3),
    }
    cells = [
        (arm, json.dumps(other, sort_keys=True), {**meta, SHARED: True})
        for arm, other in others.items()
    ]
    if key:
        cells.insert(0, (key, json.dumps(row, sort_keys=True), meta))
    for arm, spec in arms.items():
        if arm not in others:
            start = time.perf_counter()
            alone = json.dumps(run_cell(spec, probe, *shared), sort_keys=True)
            cells.append((arm, alone, {**meta, "seconds": round(time.perf_counter() - start, 3)}))
    return Finished(cells, f"{host.probe}, seed {host.seed}")


@cache
def _settle() -> None:
    """Leave all that this process holds by now, mostly modules, out of later collections of
    garbage, of which each memory causes some.
    """
    gc.collect()
    gc.freeze()


def run_cell(
    spec: ProbeSpec, probe: Probe, registry: Registry, embedder: Embedder
) -> dict[str, Any]:
    """One row: the numbers of a seed, or the message of what failed.  A number that is not
    finite is None.
    """
    with closing(Life(partial(_system, spec, registry, embedder), embedder)) as life:
        return row_of(spec, probe, life)


def run_shared(
    spec: ProbeSpec,
    arms: Mapping[str, ProbeSpec],
    probe: Probe,
    registry: Registry,
    embedder: Embedder,
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The row of a cell, and those of the arms that could share its life: the same rows as
    `run_cell` gives, bit for bit.

    arms  by key, cells with the same probe and seed, whose sets lack some mechanisms of the cell's
    """
    lacking = {
        key: frozenset(spec.mechanisms.keys() - arm.mechanisms.keys())
        for key, arm in arms.items()
        if arm.mechanisms.items() <= spec.mechanisms.items()
    }
    with closing(
        Recorded(partial(built, spec, registry), Arms(lacking), embedder, spec.seed)
    ) as life:
        row, shared_rows = row_of(spec, probe, life), dict[str, dict[str, Any]]()
        if row["error"] or row["missing"]:
            return run_cell(spec, probe, registry, embedder), {}
        for key, arm in arms.items():
            if key in life.arms.sharing:
                with suppress(Diverged), closing(Replayed(life, key)) as again:
                    shared_rows[key] = row_of(arm, probe, again)
    return row, {key: other for key, other in shared_rows.items() if not other["error"]}


def row_of(spec: ProbeSpec, probe: Probe, life: Life) -> dict[str, Any]:
    """The row of a life.  Raises Diverged if it was lived before, by another memory, and does
    not fit.
    """
    row: dict[str, Any] = {"probe": spec.probe, "seed": spec.seed, "set": spec.set_digest,
                           "system": spec.system, "code": spec.code,
                           "numbers": None, "error": "", "missing": "", "stimuli": "", "told": 0,
                           "stored": 0}  # fmt: skip
    try:
        if missing := life.lacks(probe.needs):
            return {**row, "missing": ", ".join(need.value for need in missing)}
        numbers = probe.run(life, spec.seed)
        row["numbers"] = {
            name: float(f"{value:.9g}") if math.isfinite(value) else None
            for name, value in numbers.items()
        }
    except (OSError, Diverged):  # a full disk is no finding about the memory
        raise
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {error}"
    row["stimuli"] = life.stimuli[:16]
    row["told"], row["stored"] = life.admitted()
    return row


def _system(
    spec: ProbeSpec,
    registry: Registry,
    embedder: Embedder,
    instruments: Sequence[Instrument],
    settings: Settings,
) -> System:
    if spec.system != OURS:
        return make(spec.system, embedder, spec.seed)
    return Hebbarium(built(spec, registry, instruments, settings), embedder, spec.seed, Stopwatch())


def built(
    spec: ProbeSpec, registry: Registry, instruments: Sequence[Instrument], settings: Settings
) -> list[Mechanism[Any]]:
    """The mechanisms of a memory of a cell."""
    mechanisms = {id: {**values, **settings.get(id, {})} for id, values in spec.mechanisms.items()}
    return [*registry.build(MechanismSet("", "", mechanisms)), *instruments]


# --- texts ahead ----------------------------------------------------------------------------------
class Recorder:
    """A system that notes the texts of a probe and answers with the events in the order in which
    they were told.
    """

    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, texts: dict[str, None]) -> None:
        self._texts, self._events = texts, list[Event]()

    def encode(self, events: Sequence[Event]) -> None:
        self._events += events
        self._texts.update(dict.fromkeys(event.rendered() for event in events))
        if len(self._events) > MOST_EVENTS:
            raise ValueError(
                f"a life is told {len(self._events)} events; a probe tells at most {MOST_EVENTS}"
            )

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        self._texts[query.text] = None
        return Retrieved(
            tuple(
                RetrievedEvent(event.id, -float(i), event.text)
                for i, event in enumerate(self._events[:k])
            )
        )

    def advance(self, time: float) -> None: ...

    def close(self) -> None: ...


class NotedTexts:
    """An embedder that notes texts and returns the same vector for each."""

    name, revision, dimensions = "noted", "", 2

    def __init__(self, texts: dict[str, None]) -> None:
        self._texts = texts

    def embed(self, texts: Sequence[str]) -> Vectors:
        self._texts.update(dict.fromkeys(texts))
        return np.full((len(texts), 2), math.sqrt(0.5), np.float32)


def recorded(probe: Probe, seed: int) -> tuple[list[str], Exception | None]:
    """The texts that a probe tells and asks, in order, and what stopped it."""
    texts: dict[str, None] = {}
    with closing(Life(lambda *_: Recorder(texts), NotedTexts(texts))) as life:
        try:
            probe.run(life, seed)
        except Exception as error:  # without a memory behind it a probe may stop early; its other texts are embedded when it runs
            return list(texts), error
    return list(texts), None


def embed_ahead(specs: Sequence[ProbeSpec], embedder: CachedEmbedder) -> None:
    """Embed the texts of all cells in one batch, in the order of the cells."""
    known, texts = collected(), dict[str, None]()
    for probe, seed in dict.fromkeys((spec.probe, spec.seed) for spec in specs):
        texts.update(dict.fromkeys(recorded(known[probe], seed)[0]))
    if texts:
        embedder.embed(list(texts))
