"""Snapshots: one SQLite file holds the whole memory and is updated in one transaction per tick.

A process killed at any moment loses at most the unfinished tick; a loaded memory continues exactly, bit for bit, as the saved one would have.
Only changes are written: events and vectors are appended, arrays are stored in blocks of rows and a block is rewritten if its
contents differ.  Word and trigram postings are rebuilt from the texts on loading.  All contents carry checksums, and the file is
locked while the memory is open.
"""
from __future__ import annotations

import hashlib
import json
import sqlite3
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..columns import Column, Scope
from ..errors import ContractError, InputError, SnapshotError
from ..records import Event
from ..vocabulary import EMBEDDING, GRAPH, HIDE, IMPORTANCE, KIND, NEWS, SHOW, VISIBLE, WRITING
from ..writings import Writing
from .event_log import EventLog
from .graph import Graph
from .store import PER_ROW, Store
from .vectors import VectorIndex

APPLICATION = 0x48656253  # "HebS", SQLite's application id in the header of the file; other programs' databases have another one
FORMAT = 3                # 1: events without attributes; 2: no writings; both lack columns, see NEW.  An older file becomes 3 when it is saved
READ = ("1", "2", str(FORMAT))
BLOCK = 4096              # rows of an array in one block
BUSY_SECONDS = 1.0        # wait for a locked file
SINCE_3 = (KIND, WRITING, HIDE, SHOW)
NEW = {"1": (IMPORTANCE, NEWS, *SINCE_3), "2": SINCE_3, "3": ()}    # columns that a file of each format lacks: neutral
CONSTANT = ("source", "target", "type", "created")  # arrays of the graph whose entries never change once an edge is made
WRITTEN_BY_MEMORY = (
    "CREATE TABLE writings (number INTEGER PRIMARY KEY, text BLOB NOT NULL, kind BLOB NOT NULL, maker BLOB NOT NULL, time REAL NOT NULL, "
    "sources TEXT NOT NULL, span TEXT NOT NULL, stored_as INTEGER NOT NULL, mark BLOB NOT NULL)")
TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE events (number INTEGER PRIMARY KEY, time REAL NOT NULL, text BLOB NOT NULL, speaker BLOB NOT NULL, session BLOB NOT NULL, "
    "id BLOB NOT NULL, caption BLOB NOT NULL, dated INTEGER NOT NULL, stored_as INTEGER NOT NULL, mark BLOB NOT NULL, "
    "attributes BLOB NOT NULL)",
    "CREATE TABLE vectors (row_number INTEGER PRIMARY KEY, vector BLOB NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE arrays (name TEXT PRIMARY KEY, dtype TEXT NOT NULL, shape TEXT NOT NULL)",
    "CREATE TABLE blocks (name TEXT NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL, mark BLOB NOT NULL, PRIMARY KEY (name, block))",
    WRITTEN_BY_MEMORY,
)
FROM_1 = "ALTER TABLE events ADD COLUMN attributes BLOB NOT NULL DEFAULT x''"
START_ANEW = "restore a copy of it, or start a new memory with another path"
MISMATCH = "a checksum does not match"
CURES = {
    sqlite3.SQLITE_CANTOPEN: "check that its folder exists and can be written to",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable",
    sqlite3.SQLITE_BUSY: "another memory has it open; close that one, or give another path",
    sqlite3.SQLITE_FULL: "free disk space and save again; the file holds the last finished tick",
}


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
    index: VectorIndex
    graph: Graph
    seed: int
    asked_before: tuple[Mapping[str, str], ...]      # language models that were asked before the memory was loaded

    @property
    def mechanisms(self) -> Sequence[Any]:
        """Each with `id` and the dataclass `params`; a parameter that is a file has the digest of its content as `sha256`."""
        ...

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

    def replay(self, event: Event, row: int, vector: Any) -> None:
        """Add a saved event to the event log, the index and the postings."""
        ...

    def replay_made(self, writing: int, vector: Any) -> None:
        """Add a saved row that holds a writing."""
        ...

    def adopt_graph(self, graph: Graph) -> None:
        """Copy a restored graph into `graph`."""
        ...


class Snapshot:
    """The file of one memory.

    path               of the file, made if it is not there
    assembly           the memory, new and empty; filled from the file if that holds one
    consolidate_every  h, part of the configuration that file and memory must share

    A memory continues with any language model or none: which ones were asked so far is saved, and not compared.

    Raises SnapshotError if the file is damaged, in use, or was written by another version or with another configuration.
    """

    def __init__(self, path: Path, assembly: MemoryParts, consolidate_every: float) -> None:
        self.path, self.assembly, self.consolidate_every = Path(path), assembly, consolidate_every
        self._blocks: dict[tuple[str, int], bytes] = {}
        self._forms: dict[str, tuple[str, str]] = {}
        self._format, self._events, self._vectors, self._edges, self._entities, self._writings = str(FORMAT), 0, 0, 0, 0, 0
        with self._snapshot_errors():
            self._file = sqlite3.connect(self.path, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
        try:
            with self._snapshot_errors():
                for statement in ("PRAGMA locking_mode = EXCLUSIVE", "PRAGMA synchronous = NORMAL", "BEGIN EXCLUSIVE", "COMMIT"):
                    self._file.execute(statement)
                application, = self._file.execute("PRAGMA application_id").fetchone()
                tables, = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if application != APPLICATION and (application or tables):
                    raise SnapshotError("is the database of another program, not a snapshot", where=str(self.path), cure="give another path")
                if application:
                    self._load()
            if not application:
                self.save()
        except BaseException:
            self._file.close()
            raise

    def save(self, state: str = "open", erased: Erased | None = None) -> None:
        """Update the file in one transaction.

        erased  what was overwritten since the last save: it is overwritten in the file, too, and the file is rewritten without what it held before

        Cost: O(added rows, events and edges), and a checksum over every column that a hook may have changed since the last save: 1 ms per 10^6 bytes.
        """
        a, plans = self.assembly, self.assembly.plans.values()
        blocks: dict[tuple[str, int], bytes] = {}
        forms: dict[str, tuple[str, str]] = {}
        with self._snapshot_errors(), self._transaction() as write:
            if not self._forms:
                for statement in (*TABLES, f"PRAGMA application_id = {APPLICATION}"):
                    write(statement)
            if self._format == "1":
                write(FROM_1)
            if self._format in ("1", "2"):
                write(WRITTEN_BY_MEMORY)
            for number in (*(erased.events if erased else ()), *range(self._events, len(a.event_log.events))):
                fields, attributes = _fields(a.event_log.events[number], a.event_log.row_of[number]), _written(a.event_log.events[number].attributes)
                write("INSERT OR REPLACE INTO events VALUES (?,?,?,?,?,?,?,?,?,?,?)", (number, *fields, _mark(fields, attributes), attributes))
            again = (*(erased.writings if erased else ()), *range(self._writings, len(a.event_log.writings)))
            stored = {~a.event_log.rows[row]: row for row in a.event_log.made} if again else {}
            for number in again:
                fields = _writing_fields(a.event_log.writings[number], stored.get(number, -1))
                write("INSERT OR REPLACE INTO writings VALUES (?,?,?,?,?,?,?,?,?)", (number, *fields, _checksum(*fields)))
            for row in (*(erased.rows if erased else ()), *range(self._vectors, a.store.n)):
                data = a.index.vectors[row].tobytes()
                write("INSERT OR REPLACE INTO vectors VALUES (?,?,?)", (row, data, _checksum(data)))
            changed = frozenset((*a.store.columns, GRAPH)) if erased else frozenset(c for p in plans if p.changed for c in p.changes)
            if erased:
                self._entities = -1
            for name, array, first in self._arrays(changed):
                forms[name] = array.dtype.str, json.dumps(array.shape)
                if self._forms.get(name) != forms[name]:
                    write("INSERT OR REPLACE INTO arrays VALUES (?,?,?)", (name, *forms[name]))
                for block, data in _blocks(array, first):
                    if self._blocks.get((name, block)) != (mark := _checksum(data)):
                        write("INSERT OR REPLACE INTO blocks VALUES (?,?,?,?)", (name, block, data, mark))
                        blocks[name, block] = mark
            meta = self._meta(state)
            for key, value in {**meta, "mark": _checksum(meta, {**self._forms, **forms}).hex()}.items():
                write("INSERT OR REPLACE INTO meta VALUES (?,?)", (key, value))
        self._blocks.update(blocks)
        self._forms.update(forms)
        self._format = str(FORMAT)
        self._note_sizes()
        for plan in plans:
            plan.changed = False
        if erased:
            with self._snapshot_errors():
                for statement in ("VACUUM", "PRAGMA journal_mode = TRUNCATE", "BEGIN IMMEDIATE", "COMMIT", "PRAGMA journal_mode = DELETE"):
                    self._file.execute(statement)

    def close(self, save: bool = True) -> None:
        """Save, mark the file as closed, and close it; with save=False the file stays at the last finished tick."""
        try:
            if save:
                self.save("closed")
        finally:
            self._file.close()

    def _arrays(self, changed: frozenset[Any]) -> Iterator[tuple[str, NDArray[Any], int]]:
        """Arrays that may have changed since the last save: name, array, first row that may have changed."""
        a = self.assembly
        for column in a.store.columns:
            if column.persists and column is not EMBEDDING and column.scope is not Scope.EDGE:
                tail = column.scope in PER_ROW and column is not VISIBLE and column not in changed and f"column.{column.name}" in self._forms
                yield f"column.{column.name}", a.store.array(column), self._vectors if tail else 0
        edges = {f"column:{c.name}" for c in changed if getattr(c, "scope", None) is Scope.EDGE}
        if self._forms and not edges and GRAPH not in changed and (self._vectors, self._edges) == (a.store.n, a.graph.n_edges):
            return
        for key, value in a.graph.state().items():
            if not isinstance(value, np.ndarray):
                if key != "entities" or len(value) != self._entities or not self._forms:
                    yield f"graph.{key}", np.frombuffer(json.dumps(value).encode(), dtype=np.uint8), 0
            else:
                tail = key in CONSTANT or (key.startswith("column:") and key not in edges and GRAPH not in changed)
                yield f"graph.{key}", value, self._edges if tail else 0

    def _meta(self, state: str) -> dict[str, str]:
        a = self.assembly
        return {
            "format": str(FORMAT), "state": state, "configuration": json.dumps(_configuration(a, self.consolidate_every), sort_keys=True),
            "clock": json.dumps([t.hex() for t in (a.clock.now, a.clock.maintained, a.clock.consolidated)]),
            "streams": json.dumps({k: v.bit_generator.state for k, v in a.streams.items()}),
            "rows": str(a.store.n), "events": str(len(a.event_log.events)), "writings": str(len(a.event_log.writings)),
            "language_models": json.dumps([dict(each) for each in a.models_asked], sort_keys=True),
        }

    def _load(self) -> None:
        a, read = self.assembly, self._file.execute
        (pages,), (size,) = read("PRAGMA page_count").fetchone(), read("PRAGMA page_size").fetchone()
        if self.path.stat().st_size < pages * size:     # SQLite does not notice it if nothing is stored in the last page
            raise ValueError("it is truncated")
        meta = dict(read("SELECT key, value FROM meta"))
        if meta["format"] not in READ:
            raise SnapshotError(f"has format {meta['format']}, not {', '.join(READ[:-1])} or {READ[-1]}", where=str(self.path),
                                cure="open it with the version that wrote it")
        self._forms = {name: (dtype, shape) for name, dtype, shape in read("SELECT name, dtype, shape FROM arrays")}
        _verify(bytes.fromhex(meta.pop("mark")), meta, self._forms)
        _same_configuration(json.loads(meta["configuration"]), _configuration(a, self.consolidate_every), str(self.path))
        a.asked_before = tuple(json.loads(meta.get("language_models", "[]")))        # older files have none
        self._format = meta["format"]
        new = NEW[self._format]
        _same_columns(self._forms, a.store, str(self.path), new)
        vectors = {}
        for row, data, mark in read("SELECT row_number, vector, mark FROM vectors"):
            _verify(mark, data)
            vectors[row] = np.frombuffer(data, dtype=np.float32)
        made = self._read_writings() if self._format == "3" else {}
        last = "x''" if self._format == "1" else "attributes"
        for *fields, mark, attributes in read(
                f"SELECT time, text, speaker, session, id, caption, dated, stored_as, mark, {last} FROM events ORDER BY number"):
            if _mark(fields, attributes) != mark:
                raise ValueError(MISMATCH)
            time, *blobs, dated, row = fields
            text, speaker, session, id, caption = (b.decode("utf-8", "surrogatepass") for b in blobs)
            if row >= 0:
                self._replay_made(made, vectors)
            a.replay(Event(time, text, speaker, session, id, caption, bool(dated), _attributes(attributes)), row, vectors.get(row))
        self._replay_made(made, vectors)
        counts = len(a.event_log.events), len(a.event_log.rows), len(a.event_log.writings)
        if counts != (int(meta["events"]), int(meta["rows"]), int(meta.get("writings", 0))):
            raise ValueError("events or writings are missing")
        arrays = {name: self._read(name, dtype, json.loads(shape)) for name, (dtype, shape) in self._forms.items()}
        kinds = a.graph.state()
        graph = {k.removeprefix("graph."): v for k, v in arrays.items() if k.startswith("graph.")}
        a.adopt_graph(Graph.from_state({k: v if isinstance(kinds.get(k, v), np.ndarray) else json.loads(v.tobytes()) for k, v in graph.items()}))
        rows = int(meta["rows"])
        neutral = {c.name: np.full((rows, *a.store.cell_shape(c)), c.neutral, dtype=c.dtype) for c in new}
        a.store.restore(neutral | {k.removeprefix("column."): v for k, v in arrays.items() if k.startswith("column.")}, rows)
        a.clock.now, a.clock.maintained, a.clock.consolidated = (float.fromhex(t) for t in json.loads(meta["clock"]))
        for id, state in json.loads(meta["streams"]).items():
            a.streams[id].bit_generator.state = state
        self._note_sizes()
        if meta["state"] != "closed":
            warnings.warn(
                f"{self.path}: the process that wrote it ended without closing it; the memory is as of its last finished tick, "
                f"after {self._events} events at {a.clock.now:.4f} h; encode later events again", InterruptedWarning, stacklevel=4)

    def _read_writings(self) -> dict[int, int]:
        """Restore the writings; row -> writing of each row that holds one."""
        found: list[Writing] = []
        made: dict[int, int] = {}
        for *fields, mark in self._file.execute("SELECT text, kind, maker, time, sources, span, stored_as, mark FROM writings ORDER BY number"):
            _verify(mark, *fields)
            text, kind, maker = (b.decode("utf-8", "surrogatepass") for b in fields[:3])
            time, sources, span, row = fields[3], tuple(json.loads(fields[4])), json.loads(fields[5]), fields[6]
            if row >= 0:
                made[row] = len(found)
            found.append(Writing(text, kind, maker, time, sources, tuple(span) if span else None))
        self.assembly.event_log.writings.restore(found)
        return made

    def _replay_made(self, made: dict[int, int], vectors: Mapping[int, Any]) -> None:
        """Replay the rows that hold a writing and that are next in order."""
        rows = self.assembly.event_log.rows
        while len(rows) in made:
            self.assembly.replay_made(made.pop(len(rows)), vectors.get(len(rows)))

    def _read(self, name: str, dtype: str, shape: list[int]) -> NDArray[Any]:
        parts = []
        for block, data, mark in self._file.execute("SELECT block, data, mark FROM blocks WHERE name = ? ORDER BY block", (name,)):
            _verify(mark, data)
            self._blocks[name, block] = mark
            parts.append(data)
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return np.frombuffer(b"".join(parts)[:size], dtype=np.dtype(dtype)).reshape(shape).copy()

    def _note_sizes(self) -> None:
        a = self.assembly
        self._events, self._vectors, self._edges, self._entities = len(a.event_log.events), a.store.n, a.graph.n_edges, a.graph.n_entities
        self._writings = len(a.event_log.writings)

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        """All statements or none, also if the process is killed."""
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield self._file.execute
            self._file.execute("COMMIT")
        except BaseException:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            raise

    @contextmanager
    def _snapshot_errors(self) -> Iterator[None]:
        """Raise the errors of SQLite and of invalid contents as SnapshotError with a cure."""
        try:
            yield
        except sqlite3.Error as error:
            cure = CURES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, START_ANEW)
            raise SnapshotError(f"cannot be used as a snapshot: {error}", where=str(self.path), cure=cure) from error
        except (KeyError, ValueError, TypeError, IndexError, OverflowError, AttributeError, InputError, ContractError) as error:
            raise SnapshotError(f"is damaged: {error}", where=str(self.path), cure=START_ANEW) from error


def _fields(event: Event, row: int) -> tuple[Any, ...]:
    texts = (t.encode("utf-8", "surrogatepass") for t in (event.text, event.speaker, event.session, event.id, event.caption))
    return (event.time, *texts, int(event.dated), row)


def _writing_fields(writing: Writing, row: int) -> tuple[Any, ...]:
    texts = (t.encode("utf-8", "surrogatepass") for t in (writing.text, writing.kind, writing.maker))
    return (*texts, writing.time, json.dumps(writing.sources), json.dumps(writing.span), row)


def _written(attributes: Sequence[tuple[str, str]]) -> bytes:
    """Attributes as JSON; empty if there are none.  Lone surrogates are kept."""
    return json.dumps(attributes, ensure_ascii=False).encode("utf-8", "surrogatepass") if attributes else b""


def _attributes(written: bytes) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in json.loads(written.decode("utf-8", "surrogatepass"))) if written else ()


def _mark(fields: Iterable[Any], attributes: bytes) -> bytes:
    """Checksum of an event; without attributes that of format 1."""
    return _checksum(*fields, *([attributes] if attributes else []))


def _checksum(*parts: Any) -> bytes:
    """Checksum of bytes, or of a few fields."""
    if len(parts) == 1 and isinstance(parts[0], bytes):
        return hashlib.blake2b(parts[0], digest_size=16).digest()
    plain = repr([sorted(p.items()) if isinstance(p, Mapping) else p for p in parts])
    return hashlib.blake2b(plain.encode(), digest_size=16).digest()


def _verify(mark: bytes, *parts: Any) -> None:
    if _checksum(*parts) != mark:
        raise ValueError(MISMATCH)


def _blocks(array: NDArray[Any], first: int) -> Iterable[tuple[int, bytes]]:
    """Number and contents of the blocks of rows, from the one that holds row `first`."""
    if array.ndim == 0:
        return [(0, array.tobytes())]
    starts = range(first // BLOCK * BLOCK, len(array), BLOCK)
    return ((start // BLOCK, np.ascontiguousarray(array[start:start + BLOCK]).tobytes()) for start in starts)


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
