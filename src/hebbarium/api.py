"""Memories from the name of a mechanism set, from their file alone, and from the events of
another memory.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from .engine.base.errors import HebbariumError, InputError, SnapshotError
from .engine.base.forks import SQLITE
from .engine.base.private import draft_name
from .engine.catalogue.registry import Registry, Value
from .engine.contract.vocabulary import WITHHELD
from .engine.memory.arrivals import EVENTS, YEAR_AHEAD, WallClock
from .engine.memory.encoded import Encoded
from .engine.memory.engine import Engine
from .engine.memory.nights import DAY
from .engine.memory.telling import CHUNK
from .engine.ports.by_name import embedder, spec_of
from .engine.ports.by_name import language_model as named_language_model
from .engine.ports.embedder import Embedder
from .engine.ports.embedding_cache import default_cache
from .engine.ports.language_model import LanguageModel
from .engine.saving.snapshot import Durable
from .engine.steps.withholding import OWN

HOUR = timedelta(hours=1)


def memory(
    set: str | Path = "default",
    *,
    embedding: str | Path | Embedder = "minilm",
    path: Path | str | None = None,
    without: Sequence[str] = (),
    params: Mapping[str, Mapping[str, Value]] | None = None,
    language_model: str | LanguageModel | None = None,
    transcript: Path | None = None,
    late: float | timedelta = DAY,
    clock: str | WallClock = EVENTS,
    durable: Durable = True,
    **options: Any,
) -> Engine:
    """A memory with the mechanisms of a named set.

    set        name of a mechanism set, or path of its YAML file; SET+STRATEGY: with the sources of
               contexts of a strategy, such as default+coding
    embedding  "minilm", "hashing", another name that `embedder` takes, or any object with `name`,
               `revision`, `dimensions` and `embed`; vectors of an object are cached in memory,
               others on disk
    path       snapshot file to continue from and to keep up to date
    durable    whether what a call has returned from is in that file: True; "full": after a power
               cut, too; False: only at the end of each tick
    without    mechanisms of the set to leave out; a single one may be given as a text
    params     overrides, such as {"recency": {"weight": 0.2}}
    language_model  "openai:<model>", or any object with `name`, `revision` and `ask`; for
                    mechanisms that can use one
    transcript  a file that records its requests and replies; without a model the file is replayed,
                and nothing is sent
    late       h or a timedelta, most that an event may lie before the memory's present: it is
               stored with its own time, see docs/guides/time.md
    clock      "events": time passes with events and `advance`; "wall": with the machine's clock,
               too, and an event whose time is None happens now; or a callable that returns an aware
               datetime
    options    further options of `Engine`; time goes ahead by a year at most unless that is
               confirmed, see `jump_hours`

    Raises HebbariumError for an unknown name or an invalid configuration.

    >>> with memory("hybrid", embedding="hashing:64") as m:
    ...     m.now
    nan
    """
    registry = Registry.installed()
    if not isinstance(set, str | Path):
        raise InputError(
            f"the set is {set!r}",
            where="memory",
            cure="give the name of a set, such as 'default', or the path of its YAML file",
        )
    off = (without,) if isinstance(without, str) else without
    chosen = registry.set(str(set)).without(off).overridden(params or {}, "params")
    # vectors of an object stay in memory
    model = embedder(embedding, default_cache() if isinstance(embedding, str | Path) else None)
    language = named_language_model(language_model, transcript)
    return Engine(
        registry.build(chosen),
        model,
        path=None if path is None else Path(path),
        language_model=language,
        clock=clock,
        durable=durable,
        **{
            "late_hours": late / HOUR if isinstance(late, timedelta) else late,
            "jump_hours": YEAR_AHEAD,
            **options,
        },
    )


def reopen(
    path: Path | str,
    *,
    embedding: str | Path | Embedder | None = None,
    params: Mapping[str, Mapping[str, Value]] | None = None,
    **options: Any,
) -> Engine:
    """A memory from its file alone: with the mechanisms, parameters, seed and embedder that the
    file names.

    embedding  needed if the file names a model that is found under another name here
    params     needed for parameters that are files, of which the memory's file names the content
               alone
    options    further options of `Engine`, such as `language_model`, with the late events and jumps
               of `memory` if they do not say otherwise

    Raises SnapshotError for a path without a memory, RegistryError for a mechanism that is not
    installed, HebbariumError for a model that is not.
    """
    path = Path(path)
    saved = _configuration(path)
    registry = Registry.installed()
    order = sorted(saved["mechanisms"], key=lambda id: registry.order.get(id, len(registry.order)))
    mechanisms = [
        registry.instance(id, {**saved["mechanisms"][id], **(params or {}).get(id, {})})
        for id in order
    ]
    name, _, dimensions = saved["embedder"]
    spec = embedding or spec_of(name, dimensions)
    model = embedder(spec, default_cache() if isinstance(spec, str | Path) else None)
    return Engine(
        mechanisms,
        model,
        path=path,
        seed=saved["seed"],
        consolidate_every=saved["consolidate_every"],
        **{"late_hours": DAY, "jump_hours": YEAR_AHEAD, **options},
    )


def rebuild(
    source: Engine | Path | str,
    set: str | Path = "default",
    *,
    path: Path | str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Engine:
    """A new memory of another set, other parameters or another embedder, which encodes the events
    of a memory again.

    source    a memory, or the file of one; both stay as they are
    set       as of `memory`
    path      file of the new memory, in which nothing may stand yet; the file of `source` itself,
              if that is given as a path, is replaced when the new memory is whole.  None: no file
    progress  called as progress(events encoded, events in all); None: a bar on a terminal, lines
              elsewhere, for 1,000 events and more
    options   further arguments of `memory`

    Events keep their order, times and ids.  What their owner has archived is archived; what was
    erased is gone, and so is what recall has changed: uses are no events.  Raises HebbariumError as
    `memory` and `reopen`; then no file has changed.

    >>> from hebbarium import Event
    >>> with memory("hybrid", embedding="hashing:64") as old:
    ...     row = old.encode(Event(30.0, "We moved.", "Ada"))
    ...     rebuild(old, "bm25", embedding="hashing:64").retrieve("Who moved?").events
    (<Event 1970-01-02 06:00, Ada: 'We moved.'>,)
    """
    path = None if path is None else Path(path)
    if (
        path is not None
        and path.exists()
        and not (isinstance(source, str | Path) and path.samefile(source))
    ):
        raise InputError(
            "the file is there already",
            where=str(path),
            cure="give a path where nothing stands, or remove the file",
        )
    part = path and draft_name(path, "new")
    with reopen(source) if not isinstance(source, Engine) else nullcontext(source) as old:
        new = memory(set, path=part, **{**options, "durable": False})
        late, new.passing.late_hours = new.passing.late_hours, math.inf
        try:
            _encode_again(old, new, progress)
            new.passing.late_hours = late
            if path is None or part is None:
                return new
            new.close()
        except BaseException:
            with suppress(HebbariumError):
                new.close()
            if part:
                part.unlink(missing_ok=True)
            raise
    part.replace(path)
    return memory(set, path=path, **options)


def _encode_again(old: Engine, new: Engine, progress: Callable[[int, int], None] | None) -> None:
    """Encode the events of one memory in another one, and archive what is archived there."""
    from .console import Meter

    log, archived, rows = old.event_log, old.column(WITHHELD) == OWN, dict[int, Encoded]()
    jumps = {jump.event for jump in old.clock.jumps}
    erased = old.assembly.withholding.erased
    told = [
        number
        for number, row in enumerate(log.row_of)
        if not (erased(row) if row >= 0 else log.is_stub(number))
    ]
    with Meter("events", least=1000) as meter:
        tell = progress or meter
        for first in range(0, len(told), CHUNK):
            chunk = told[first : first + CHUNK]
            for confirmed, numbers in groupby(chunk, jumps.__contains__):
                again = list(numbers)
                rows.update(
                    zip(
                        again,
                        new.encode_all([log.events[number] for number in again], confirm=confirmed),
                        strict=True,
                    )
                )
            tell(first + len(chunk), len(told))
    if old.now == old.now:
        new.advance(old.now, confirm=True)
    for number, row in rows.items():
        if row and log.row_of[number] >= 0 and archived[log.row_of[number]]:
            new.archive(row)


def _configuration(path: Path) -> dict[str, Any]:
    """What the file of a memory names: mechanisms with their parameters, embedder, seed,
    consolidate_every.  Raises SnapshotError.
    """
    if not path.exists():
        raise SnapshotError(
            "there is no such file",
            where=str(path),
            cure="check the path; `hebbarium.memory(path=...)` begins a memory in a new file",
        )
    try:
        with (
            SQLITE,
            closing(
                sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
            ) as file,
        ):
            ((saved,),) = file.execute(
                "SELECT value FROM meta WHERE key = 'configuration'"
            ).fetchall()
            configuration: dict[str, Any] = json.loads(saved)
            return configuration
    except (sqlite3.Error, ValueError, OSError) as error:
        raise SnapshotError(
            "holds no memory that can be read",
            where=str(path),
            cure="give the file of a memory; `hebbarium.memory(path=...)` says what is wrong with it",
        ) from error
