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
from dataclasses import dataclass, fields
from functools import cache, cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from .... import __version__, engine
from ....engine.catalogue.packages import source_digest
from ....engine.catalogue.registry import MechanismSet, Registry
from ....engine.contract.hooks import Mechanism
from ....engine.contract.records import Event, Query
from ....engine.flow.observer import Stopwatch
from ....engine.ports.embedder import Embedder, Vectors
from ....engine.ports.embedding_cache import CachedEmbedder
from ...execution.ledger import Ledger
from ...execution.missing import Finished, Progress, finished_cells, run_missing
from ...execution.plan import Composition
from ...execution.spec import versions
from ...systems.base import Capability, Retrieved, RetrievedEvent, System
from ...systems.by_name import OURS, make
from ...systems.hebbarium import Hebbarium
from .base import Probe
from .collection import collected, source_of
from .instruments import Instrument
from .life import Life, Settings
from .shared import Arms, Diverged, Recorded, Replayed

# modules of this folder on which rows depend
DECIDING = ("base", "life", "instruments", "run", "shared")
SHARED = "shared"  # in the ledger, of a cell that shared another cell's life
MOST_EVENTS = 120  # events that one life may be told


@dataclass(frozen=True, kw_only=True)
class ProbeSpec:
    """Everything that decides the outcome of a cell; fields as in `execution.spec.RunSpec`.

    code      version of this package, and a digest of what decides the row: engine, mechanisms,
              systems, driver, stimuli and the probe's module
    """

    probe: str
    seed: int
    system: str
    system_revision: str
    set: str
    set_digest: str
    mechanisms: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, str]
    registry_digest: str
    embedder: str
    embedder_revision: str
    embedder_dimensions: int
    code: str
    versions: Mapping[str, str]

    def key(self) -> str:
        """Key of the cell in the ledger: SHA-256 over the canonical JSON of all fields."""
        return self._key

    @cached_property
    def _key(self) -> str:
        return Ledger.key(
            {"command": "probe", **{one.name: getattr(self, one.name) for one in fields(self)}}
        )


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
    shared = {
        name: getattr(measured, name)
        for name in ("system", "system_revision", "set", "set_digest", "mechanisms", "files")
    }
    shared |= {
        "registry_digest": registry.digest,
        "embedder": embedder.name,
        "embedder_revision": embedder.revision,
        "embedder_dimensions": embedder.dimensions,
        "versions": {**versions(), "hebbarium": __version__},
    }
    return [
        ProbeSpec(probe=probe.id, seed=seed, code=code, **shared)
        for probe in probes
        for code in [code_of(probe)]
        for seed in range(probe.seeds if seeds is None else seeds)
    ]


def code_of(probe: Probe) -> str:
    """Version of the package, and a digest of the source on which the rows of a probe depend: a
    new probe leaves the others' rows valid.
    """
    return f"{__version__}+{sha256((_shared_source() + source_of(probe).read_text(encoding='utf-8')).encode()).hexdigest()[:12]}"


@cache
def _shared_source() -> str:
    root = Path(engine.__file__).parent.parent
    files = [Path(__file__).parent / f"{name}.py" for name in DECIDING] + [
        Path(__file__).parent.parent / "stimuli.py"
    ]
    rooms = source_digest(
        root, root / "engine", root / "mechanisms", root / "benchmarks" / "systems"
    )
    return rooms + "".join(file.read_text(encoding="utf-8") for file in files)


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
    """The rows of all cells, in order; cells that the ledger holds are not run again.  The caller
    holds `book.locked()`.

    hosts  by key of a cell, another cell of the same probe and seed whose set has all its
           mechanisms, and in whose life it may share

    All texts of the missing cells are embedded first, in one order, so that rows do not depend on
    the number of jobs.  Raises DataError for a damaged ledger.
    """
    keys = [spec.key() for spec in specs]
    finished = book.done(keys)
    todo = {key: spec for spec, key in zip(specs, keys, strict=True) if key not in finished}
    if todo:
        embed_ahead(list(todo.values()), embedder)
    groups: dict[str, tuple[ProbeSpec, dict[str, ProbeSpec]]] = {}
    for key, spec in todo.items():
        if host := (hosts or {}).get(key):
            groups.setdefault(host.key(), (host, {}))[1][key] = spec
    calls = [(host, key if key in todo else "", arms) for key, (host, arms) in groups.items()]
    if calls:
        run_missing(
            _work_shared,
            (registry, embedder),
            calls,
            book,
            keys,
            len(specs),
            len(specs) - len(todo),
            jobs=jobs,
            progress=progress,
        )
        finished = book.done(keys)
    rest = [(spec, key) for key, spec in todo.items() if key not in finished]
    if rest or not calls:
        run_missing(
            _work,
            (registry, embedder),
            rest,
            book,
            keys,
            len(specs),
            len(specs) - len(rest),
            jobs=jobs,
            progress=progress,
        )
    found = finished_cells(book, keys, [spec.probe for spec in specs], "probe")
    return [{**json.loads(cell.payload), "seconds": cell.meta["seconds"]} for cell in found]


def _work(shared: tuple[Registry, CachedEmbedder], spec: ProbeSpec, key: str) -> Finished:
    _settle()
    start = time.perf_counter()
    row = run_cell(spec, collected()[spec.probe], *shared)
    meta = {
        "probe": spec.probe,
        "seed": spec.seed,
        "seconds": round(time.perf_counter() - start, 3),
    }
    return Finished(
        [(key, json.dumps(row, sort_keys=True), meta)], f"{spec.probe}, seed {spec.seed}"
    )


def _work_shared(
    shared: tuple[Registry, CachedEmbedder],
    host: ProbeSpec,
    key: str,
    arms: Mapping[str, ProbeSpec],
) -> Finished:
    """A cell, and those of its arms that could share its life.

    key  of the cell; "" if only its arms are missing
    """
    _settle()
    start = time.perf_counter()
    row, others = run_shared(host, arms, collected()[host.probe], *shared)
    gc.collect()  # the record is large, and its lives refer to each other
    meta = {
        "probe": host.probe,
        "seed": host.seed,
        "seconds": round((time.perf_counter() - start) / (1 + len(others)), 3),
    }
    return Finished(
        [
            *([(key, json.dumps(row, sort_keys=True), meta)] if key else []),
            *(
                (arm, json.dumps(other, sort_keys=True), {**meta, SHARED: True})
                for arm, other in others.items()
            ),
        ],
        f"{host.probe}, seed {host.seed}",
    )


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
        row, found = row_of(spec, probe, life), dict[str, dict[str, Any]]()
        if row["error"] or row["missing"]:
            return run_cell(spec, probe, registry, embedder), {}
        for key, arm in arms.items():
            if key in life.arms.sharing:
                with suppress(Diverged), closing(Replayed(life, key)) as again:
                    found[key] = row_of(arm, probe, again)
    return row, {key: other for key, other in found.items() if not other["error"]}


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
        found = probe.run(life, spec.seed)
        row["numbers"] = {
            name: float(f"{value:.9g}") if math.isfinite(value) else None
            for name, value in found.items()
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
