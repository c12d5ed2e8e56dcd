"""Snapshots: one SQLite file holds the whole memory and is updated in one transaction per tick.

A process killed at any moment loses at most the unfinished tick; a loaded memory continues exactly, bit for bit, as the saved one would have.
Only changes are written: events, vectors, postings and names are appended; arrays are stored in blocks of rows, and a block is rewritten if its
contents differ.  Every part has a mark over contents, place and save, the sum of all marks stands once, and the pages of the file are checked
when it is opened.  The file is locked while the memory is open, and belongs to the process that opened it.
"""
from __future__ import annotations

import json
import math
import sqlite3
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..columns import Column, Scope
from ..errors import SnapshotError
from ..marks import WHOLE, checksum, mark, sum_of
from ..numerics import kernel
from ..records import Event
from ..vocabulary import EMBEDDING, GRAPH, VISIBLE, WITHHELD
from .event_log import EventLog
from .graph import Graph
from .older_formats import NEW, OlderFormat
from .postings import BM25Index, Forward, TrigramIndex
from .snapshot_contents import (
    FORMAT,
    TABLES,
    Contents,
    Format4,
    Forms,
    block_mark,
    event_cells,
    event_mark,
    memory_cells,
    writing_cells,
    writing_mark,
)
from .snapshot_file import APPLICATION, SnapshotFile, place_new, snapshot_errors
from .store import PER_ROW, Store
from .vectors import VectorIndex

READ = tuple(dict.fromkeys((*NEW, str(FORMAT))))
BLOCK = 512               # most rows of an array in one block
WIDE, LEAST = 16_384, 8   # a block of more bytes is halved, down to so few rows
CONSTANT = ("source", "target", "type", "created")  # arrays of the graph whose entries never change once an edge is made
INSERT = "INSERT OR REPLACE INTO {} VALUES ({})"


class InterruptedWarning(UserWarning):
    """The process that last wrote a snapshot ended without closing it."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What was overwritten: numbers of events, rows and numbers of writings."""

    events: tuple[int, ...]
    rows: tuple[int, ...]
    writings: tuple[int, ...]


class Clock(Protocol):
    """Simulated time, and up to which time the phases have run, h."""

    now: float
    maintained: float
    consolidated: float


class Plan(Protocol):
    """The steps of one phase: the persistent columns and structures they may change, and whether they may have since the last save."""

    changed: bool

    @property
    def changes(self) -> frozenset[Any]: ...


class Model(Protocol):
    """What identifies the embedding model."""

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimensions(self) -> int: ...


class MemoryParts(Protocol):
    """The parts of one memory that a snapshot saves, restores, or compares with those that a file was written with."""

    event_log: EventLog
    store: Store
    graph: Graph
    lexicon: BM25Index
    trigrams: TrigramIndex
    seed: int
    asked_before: tuple[Mapping[str, str], ...]      # language models that were asked before the memory was loaded

    @property
    def mechanisms(self) -> Sequence[Any]:
        """Each with `id` and the dataclass `params`; a parameter that is a file has the digest of its content as `sha256`."""
        ...

    @property
    def index(self) -> VectorIndex: ...
    @property
    def embedder(self) -> Model: ...
    @property
    def models_asked(self) -> tuple[Mapping[str, str], ...]:
        """What identifies each language model that was asked since the memory was made, in order of first use."""
        ...

    @property
    def plans(self) -> Mapping[Any, Plan]: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def streams(self) -> Mapping[str, np.random.Generator]: ...

    def replay(self, event: Event, row: int) -> None:
        """Add a saved event to the event log."""
        ...

    def replay_made(self, writing: int) -> None:
        """Add a saved row that holds a writing to the event log."""
        ...

    def adopt_rows(self, vectors: NDArray[np.float32], postings: tuple[Forward, Forward] | None) -> None:
        """Fill the index and the postings for all rows of the event log; without postings from the texts."""
        ...

    def adopt_graph(self, graph: Graph) -> None:
        """Copy a restored graph into `graph`."""
        ...


@dataclass
class _Held:
    """What the file holds, as far as the next save must know it.

    generation  number of the last save
    total       sum of all marks
    events, writings, rows, entities, edges  how many it holds
    forms       dtype and shape of each array
    prints      fingerprint of each block of an array
    marks       mark of each block, by array and number
    """

    generation: int = 0
    total: int = 0
    events: int = 0
    writings: int = 0
    rows: int = 0
    entities: int = 0
    edges: int = 0
    forms: Forms = field(default_factory=dict)
    prints: dict[str, NDArray[np.uint64]] = field(default_factory=dict)
    marks: dict[tuple[str, int], bytes] = field(default_factory=dict)


class Snapshot:
    """The file of one memory.

    path               of the file, made if it is not there
    assembly           the memory, new and empty; filled from the file if that holds one
    consolidate_every  h, part of the configuration that file and memory must share

    A memory continues with any language model or none: which ones were asked so far is saved, and not compared.

    Raises SnapshotError if the file is damaged, in use, belongs to another process, or was written by another version or configuration.
    """

    def __init__(self, path: Path, assembly: MemoryParts, consolidate_every: float) -> None:
        self.path, self.assembly, self._held, self._older = Path(path), assembly, _Held(), False
        self._configuration = json.dumps(_configuration(assembly, consolidate_every), sort_keys=True)
        assembly.lexicon.journal, assembly.trigrams.journal = [], []
        with snapshot_errors(self.path):
            if not self.path.exists():
                place_new(self.path, self._make)
        self._file = SnapshotFile(self.path)
        try:
            with snapshot_errors(self.path):
                self._load()
        except BaseException:
            self._file.close()
            raise

    def save(self, state: str = "open", erased: Erased | None = None) -> None:
        """Update the file in one transaction.

        erased  what was overwritten since the last save: it is overwritten in the file, too, and the file is rewritten without what it held before

        Cost: O(added rows, events and edges); for every column that a hook may have changed since the last save a fingerprint, 0.1 to 0.2 ms per
        10^6 bytes, and for every block of it that differs, of at most 16 kB or 8 rows, a checksum and a copy, 3 ms per 10^6 bytes.
        """
        with snapshot_errors(self.path), self._file.transaction() as to:
            if self._older:
                for name, in to.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                    to.execute(f"DROP TABLE {name}")
                _create(to)
            held = self._write(to, state, erased)
        self._held.prints.update(held.prints)
        self._held.marks.update(held.marks)
        self._held, self._older = replace(held, prints=self._held.prints, marks=self._held.marks), False
        for journal in (self.assembly.lexicon.journal, self.assembly.trigrams.journal):
            if journal:
                journal.clear()
        for plan in self.assembly.plans.values():
            plan.changed = False
        if erased:
            with snapshot_errors(self.path):
                self._file.rewrite()

    def close(self, save: bool = True) -> None:
        """Save, mark the file as closed, and close it; with save=False the file stays at the last finished tick."""
        try:
            if save:
                self.save("closed")
        finally:
            self._file.close()

    def _make(self, to: sqlite3.Connection) -> None:
        """Write a new file."""
        _create(to)
        self._write(to, "closed", None)

    def _write(self, to: sqlite3.Connection, state: str, erased: Erased | None) -> _Held:
        """Write what has changed.  What the file then holds; of fingerprints and marks of blocks the changed ones alone."""
        a, before = self.assembly, self._held
        held = _Held(before.generation + 1, before.total, len(a.event_log.events), len(a.event_log.writings), a.store.n, a.graph.n_entities,
                     a.graph.n_edges, dict(before.forms))
        gone = [to.execute(f"SELECT mark FROM {table} WHERE number = ?", (number,)).fetchone()[0]
                for table, numbers in (("events", erased.events), ("writings", erased.writings)) for number in numbers] if erased else []
        if erased:
            gone += [found for table in ("memories", "entities") for found, in to.execute(f"SELECT mark FROM {table}")]
            to.execute("DELETE FROM entities")
        for table, rows in (("events", self._event_rows), ("writings", self._writing_rows), ("memories", self._memory_rows),
                            ("entities", self._entity_rows)):
            if written := list(rows(held.generation, erased)):
                to.executemany(INSERT.format(table, ",".join("?" * len(written[0]))), written)
                held.total = (held.total + sum_of(row[-1] for row in written)) % WHOLE
        gone += self._write_arrays(to, held, erased)
        held.total = (held.total - sum_of(gone)) % WHOLE
        meta = self._meta(state, held)
        meta["mark"] = checksum(meta, held.forms).hex()
        to.executemany(INSERT.format("meta", "?,?"), list(meta.items()))
        return held

    def _event_rows(self, generation: int, erased: Erased | None) -> Iterator[tuple[Any, ...]]:
        log = self.assembly.event_log
        for number in (*(erased.events if erased else ()), *range(self._held.events, len(log.events))):
            time, *blobs, dated, row = event_cells(log.events[number], log.row_of[number])
            yield number, time, *blobs, dated, row, generation, event_mark(number, generation, time, blobs, dated, row)

    def _writing_rows(self, generation: int, erased: Erased | None) -> Iterator[tuple[Any, ...]]:
        log = self.assembly.event_log
        again = (*(erased.writings if erased else ()), *range(self._held.writings, len(log.writings)))
        stored = {~log.rows[row]: row for row in log.made} if again else {}
        for number in again:
            *values, row = writing_cells(log.writings[number], stored.get(number, -1))
            yield number, *values, row, generation, writing_mark(number, generation, values, row)

    def _memory_rows(self, generation: int, erased: Erased | None) -> Iterator[tuple[Any, ...]]:
        """The rows that the journals hold: those since the last save; after an erasure, which numbers words anew, all."""
        a = self.assembly
        words, trigrams = a.lexicon.journal or (), a.trigrams.journal or ()
        for number, word, trigram in zip(range(a.store.n - len(words), a.store.n), words, trigrams, strict=True):
            values = memory_cells(a.index.vectors[number].tobytes(), word, trigram)
            yield number, *values, generation, mark(b"memories", number, generation, *values)

    def _entity_rows(self, generation: int, erased: Erased | None) -> Iterator[tuple[Any, ...]]:
        graph = self.assembly.graph
        for number in range(0 if erased else self._held.entities, graph.n_entities):
            name = graph.entity_name(number).encode("utf-8", "surrogatepass")
            yield number, name, generation, mark(b"entities", number, generation, name)

    def _write_arrays(self, to: sqlite3.Connection, held: _Held, erased: Erased | None) -> list[bytes]:
        """Write the blocks of arrays that differ from the file's; the marks that they replace."""
        a, before = self.assembly, self._held
        changed = frozenset((*a.store.columns, GRAPH)) if erased else frozenset(c for p in a.plans.values() if p.changed for c in p.changes)
        rows: list[tuple[Any, ...]] = []
        gone: list[bytes] = []
        for name, array, first in self._arrays(changed):
            form = array.dtype.str, str(list(array.shape))
            if held.forms.get(name) != form:
                to.execute(INSERT.format("arrays", "?,?,?"), (name, *form))
                held.forms[name] = form
            size = _bytes_of_block(array)
            data, known = np.ascontiguousarray(array).reshape(-1).view(np.uint8), before.prints.get(name, NONE)
            start = min(first // _rows_of_block(array), len(known))
            prints = fingerprints(data[start * size:], size)
            old = known[start:]
            shared = min(len(old), len(prints))
            for at in (*np.flatnonzero(old[:shared] != prints[:shared]).tolist(), *range(shared, len(prints))):
                block = start + at
                part = data[block * size:(block + 1) * size].tobytes()
                found = held.marks[name, block] = block_mark(name, block, held.generation, part)
                gone.append(before.marks.get((name, block), b""))
                rows.append((name, block, part, held.generation, found))
            block = start + len(prints)
            while found := before.marks.get((name, block), b""):        # of a list that became shorter, or that had smaller blocks
                to.execute("DELETE FROM blocks WHERE name = ? AND number = ?", (name, block))
                held.marks[name, block] = b""
                gone.append(found)
                block += 1
            held.prints[name] = np.concatenate([known[:start], prints])
        to.executemany(INSERT.format("blocks", "?,?,?,?,?"), rows)
        held.total = (held.total + sum_of(row[-1] for row in rows)) % WHOLE
        return gone

    def _arrays(self, changed: frozenset[Any]) -> Iterator[tuple[str, NDArray[Any], int]]:
        """Arrays that may have changed since the last save: name, array, first row that may have changed."""
        a, before = self.assembly, self._held
        for column in a.store.columns:
            if column.persists and column is not EMBEDDING and column.scope is not Scope.EDGE:
                anywhere = column in changed or column in (VISIBLE, WITHHELD)       # of which old rows may have changed
                tail = column.scope in PER_ROW and not anywhere and f"column.{column.name}" in before.forms
                yield f"column.{column.name}", a.store.array(column), before.rows if tail else 0
        edges = {f"column:{c.name}" for c in changed if getattr(c, "scope", None) is Scope.EDGE}
        if before.forms and not edges and GRAPH not in changed and (before.rows, before.edges) == (a.store.n, a.graph.n_edges):
            return
        for key, value in a.graph.parts().items():
            if key == "entities":
                continue        # a table of their own
            if not isinstance(value, np.ndarray):
                yield f"graph.{key}", np.frombuffer(json.dumps(value).encode(), dtype=np.uint8), 0
            else:
                tail = key in CONSTANT or (key.startswith("column:") and key not in edges and GRAPH not in changed)
                yield f"graph.{key}", value, before.edges if tail and f"graph.{key}" in before.forms else 0

    def _meta(self, state: str, held: _Held) -> dict[str, str]:
        a = self.assembly
        return {
            "format": str(FORMAT), "state": state, "configuration": self._configuration, "generation": str(held.generation),
            "marks": f"{held.total:032x}", "clock": json.dumps([t.hex() for t in (a.clock.now, a.clock.maintained, a.clock.consolidated)]),
            "streams": json.dumps({k: v.bit_generator.state for k, v in a.streams.items()}),
            "rows": str(held.rows), "events": str(held.events), "writings": str(held.writings), "entities": str(held.entities),
            "language_models": json.dumps([dict(each) for each in a.models_asked], sort_keys=True),
        }

    def _load(self) -> None:
        a, where = self.assembly, str(self.path)
        meta = dict(self._file.execute("SELECT key, value FROM meta"))
        if meta["format"] not in READ:
            raise SnapshotError(f"has format {meta['format']}, not {', '.join(READ[:-1])} or {READ[-1]}", where=where,
                                cure="open it with the version that wrote it")
        self._older = meta["format"] != str(FORMAT)
        self._file.require_sound(None if self._older else frozenset(TABLES))
        saved: Contents = OlderFormat(self._file, meta) if self._older else Format4(self._file, meta)
        _same_configuration(json.loads(meta["configuration"]), json.loads(self._configuration), where)
        a.asked_before = tuple(json.loads(meta.get("language_models", "[]")))        # older files have none
        lacks = NEW.get(meta["format"], ())
        _same_columns(saved.forms, a.store, where, lacks)
        self._load_rows(saved)
        rows = int(meta["rows"])
        arrays = self._load_arrays(saved)
        saved.require_whole()
        a.store.restore({c.name: np.full((rows, *a.store.cell_shape(c)), c.neutral, dtype=c.dtype) for c in lacks} | arrays, rows)
        a.clock.now, a.clock.maintained, a.clock.consolidated = (float.fromhex(t) for t in json.loads(meta["clock"]))
        for id, state in json.loads(meta["streams"]).items():
            a.streams[id].bit_generator.state = state
        if self._older:
            self._held = _Held()
        else:
            held = self._held
            held.generation, held.total, held.forms = int(meta["generation"]), int(meta["marks"], 16), dict(saved.forms)
            held.events, held.writings, held.rows = len(a.event_log.events), len(a.event_log.writings), rows
            held.entities, held.edges = a.graph.n_entities, a.graph.n_edges
        if meta["state"] != "closed":
            warnings.warn(
                f"{self.path}: the process that wrote it ended without closing it; the memory is as of its last finished tick, "
                f"after {len(a.event_log.events)} events at {a.clock.now:.4f} h; encode later events again", InterruptedWarning, stacklevel=4)

    def _load_rows(self, saved: Contents) -> None:
        """Restore event log, writings, vectors and postings."""
        a, log, meta = self.assembly, self.assembly.event_log, saved.meta
        written = list(saved.writings())
        log.writings.restore([writing for writing, _ in written])
        made = {row: number for number, (_, row) in enumerate(written) if row >= 0}

        def replay_made() -> None:
            """Replay the rows that hold a writing and that are next in order."""
            while made and len(log.rows) in made:
                a.replay_made(made.pop(len(log.rows)))

        for event, row in saved.events():
            if row >= 0:
                replay_made()
                if row != len(log.rows):
                    raise ValueError("a row is missing")
            a.replay(event, row)
        replay_made()
        vectors = saved.vectors()
        counts = len(log.events), len(log.rows), len(log.writings), len(vectors)
        if made or counts != (int(meta["events"]), int(meta["rows"]), int(meta.get("writings", 0)), len(log.rows)):
            raise ValueError("events, writings or vectors are missing")
        whole = np.frombuffer(b"".join(vectors), np.float32).reshape(len(vectors), a.embedder.dimensions)
        a.adopt_rows(whole, saved.postings(np.array(log.rows, np.int64) >= 0))

    def _load_arrays(self, saved: Contents) -> dict[str, NDArray[Any]]:
        """Restore the graph; the arrays of columns by name."""
        parts: dict[str, list[bytes]] = {name: [] for name in saved.forms}
        for name, number, data, found in saved.blocks():
            if number != len(parts[name]):
                raise ValueError("a block is missing")
            parts[name].append(data)
            self._held.marks[name, number] = found
        arrays = {name: _array(parts[name], dtype, json.loads(shape)) for name, (dtype, shape) in saved.forms.items()}
        for name, array in arrays.items():
            size = _bytes_of_block(array)
            if [len(part) for part in parts[name][:-1]] == [size] * (-(-array.nbytes // size) - 1 if size else 0):
                self._held.prints[name] = fingerprints(array.reshape(-1).view(np.uint8), size)
            # else the next save writes it whole: its blocks in the file have another size
        a, entities = self.assembly, saved.entities()
        kinds = a.graph.parts()
        graph = {k.removeprefix("graph."): v for k, v in arrays.items() if k.startswith("graph.")}
        state = {k: v if isinstance(kinds.get(k, v), np.ndarray) else json.loads(v.tobytes()) for k, v in graph.items()}
        if entities is not None:
            if len(entities) != int(saved.meta["entities"]):
                raise ValueError("entities are missing")
            state["entities"] = entities
        a.adopt_graph(Graph.from_state(state))
        return {k.removeprefix("column."): v for k, v in arrays.items() if k.startswith("column.")}


NONE = np.zeros(0, np.uint64)


def _create(to: sqlite3.Connection) -> None:
    """Make the tables of the present format."""
    for statement in (*TABLES, f"PRAGMA application_id = {APPLICATION}"):
        to.execute(statement)


def _rows_of_block(array: NDArray[Any]) -> int:
    """Rows of an array in one block: fewer the wider they are, so that a row that changes costs little to save."""
    rows, cell = BLOCK, _bytes_of_row(array)
    while rows > LEAST and rows * cell > WIDE:
        rows //= 2
    return rows


def _bytes_of_block(array: NDArray[Any]) -> int:
    """Bytes of a whole block of an array, a multiple of 8; of an array without rows, all of it."""
    return _rows_of_block(array) * _bytes_of_row(array) if array.ndim else array.itemsize


def _bytes_of_row(array: NDArray[Any]) -> int:
    return array.itemsize * math.prod(array.shape[1:])


def _array(parts: Sequence[bytes], dtype: str, shape: Sequence[int]) -> NDArray[Any]:
    """A read-only array from its blocks.  Raises ValueError if they have another size."""
    return np.frombuffer(b"".join(parts), np.dtype(dtype)).reshape(shape)


def fingerprints(data: NDArray[np.uint8], size: int) -> NDArray[np.uint64]:
    """64 bits of each block of so many bytes, a multiple of 8 unless there is one block; equal blocks have equal ones.  0.1 ms per 10^6 bytes.

    >>> one, two, three = fingerprints(np.array([1, 2, 1, 2, 1], np.uint8).repeat(8), 16)
    >>> bool(one == two), bool(one == three)
    (True, False)
    """
    whole = data.size // 8 * 8
    out = np.empty(-(-data.size // size) if size else 0, np.uint64)
    _fingerprints(data[:whole].view(np.uint64), data[whole:], max(size // 8, 1), out)
    return out


@kernel
def _fingerprints(words: NDArray[np.uint64], rest: NDArray[np.uint8], per_block: int, out: NDArray[np.uint64]) -> None:
    """A multiplicative hash of the words of each block in four lanes, of which each step can be undone; the rest belongs to the last block."""
    prime, plus, shift = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03), np.uint64(32)
    for block in range(out.size):
        a, b, c, d = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
        start, end = block * per_block, min((block + 1) * per_block, words.size)
        at = start
        while at + 4 <= end:
            a, b = (a ^ words[at]) * prime + plus, (b ^ words[at + 1]) * prime + plus
            c, d = (c ^ words[at + 2]) * prime + plus, (d ^ words[at + 3]) * prime + plus
            a, b, c, d = a ^ (a >> shift), b ^ (b >> shift), c ^ (c >> shift), d ^ (d >> shift)
            at += 4
        while at < end:
            a = (a ^ words[at]) * prime + plus
            a ^= a >> shift
            at += 1
        size = np.uint64(8 * (end - start))
        if block == out.size - 1:
            size += np.uint64(rest.size)
            for byte in rest:
                a = (a ^ np.uint64(byte)) * prime + plus
                a ^= a >> shift
        for lane in (b, c, d, size):
            a = (a ^ lane) * prime + plus
            a ^= a >> shift
        out[block] = a


def _configuration(a: MemoryParts, consolidate_every: float) -> dict[str, Any]:
    """What file and memory must share; of a parameter that is a file its content, wherever the file is."""
    return {
        "mechanisms": {m.id: {name: getattr(value, "sha256", value) for name, value in asdict(m.params).items()} for m in a.mechanisms},
        "embedder": [a.embedder.name, a.embedder.revision, a.embedder.dimensions], "seed": a.seed, "consolidate_every": consolidate_every,
    }


def _same_configuration(saved: dict[str, Any], ours: dict[str, Any], where: str) -> None:
    ours = json.loads(json.dumps(ours))
    if different := [k for k in ours if saved.get(k) != ours[k]]:
        both = {*saved["mechanisms"], *ours["mechanisms"]}
        detail = sorted(k for k in both if saved["mechanisms"].get(k) != ours["mechanisms"].get(k))
        raise SnapshotError(f"was written with other {', '.join(different)}{f' ({detail})' if detail else ''}", where=where,
                            cure="continue with the configuration it was written with, or give another path")


def _same_columns(saved: Mapping[str, tuple[str, str]], store: Store, where: str, may_lack: Collection[Column]) -> None:
    """Raises SnapshotError if the columns of an undamaged file differ from those of the store in name, type or shape of a cell.

    may_lack  columns of the store that the file may not have
    """
    ours = {f"graph.column:{c.name}" if c.scope is Scope.EDGE else f"column.{c.name}": c for c in store.columns if c.persists and c is not EMBEDDING}
    theirs = [name for name in saved if name.startswith(("column.", "graph.column:"))]
    gone, new, changed = sorted({*theirs} - {*ours}), sorted({*ours} - {*theirs} - {f"column.{c.name}" for c in may_lack}), []
    for name in {*ours} & {*theirs}:
        column, (dtype, shape) = ours[name], saved[name]
        form, cells, cell = json.loads(shape), int(column.scope in (*PER_ROW, Scope.EDGE)), store.cell_shape(column)
        if (dtype, len(form), tuple(form[cells:])) != (np.dtype(column.dtype).str, cells + len(cell), cell):
            changed.append(name)
    kinds = (("only in the file", gone), ("not in the file", new), ("of another type or shape", sorted(changed)))
    differ = [f"{kind}: {', '.join(n.removeprefix('graph.column:').removeprefix('column.') for n in names)}" for kind, names in kinds if names]
    if differ:
        raise SnapshotError(f"was written by an older version of Hebbarium or of a mechanism; columns {'; '.join(differ)}", where=where,
                            cure="open it with the version that wrote it, or start a new memory with another path")
