"""Snapshots: one SQLite file that holds the whole memory, brought up to date in one transaction a tick.

A process killed at any moment loses at most the tick in flight; loading and going on equals never having stopped, bit for bit.
Only what changed is written: events and vectors are appended, arrays go in blocks of rows and a block is rewritten if its
contents differ.  Word and trigram postings are rebuilt from the texts on loading.  Everything carries a checksum, and the file is
locked for as long as the memory is open.
"""
from __future__ import annotations

import hashlib
import json
import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..columns import Scope
from ..contract import parameter_types
from ..errors import ContractError, InputError, SnapshotError
from ..records import Event
from ..vocabulary import EMBEDDING, GRAPH, VISIBLE
from .graph import Graph
from .store import PER_ROW

if TYPE_CHECKING:
    from ..assembly import Assembly

APPLICATION = 0x48656253  # "HebS", in the header of the file: a stranger's database is recognised
FORMAT = 1
BLOCK = 4096
BUSY_SECONDS = 1.0
GROWN = ("source", "target", "type", "created")  # of an edge; the same for good
TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE events (number INTEGER PRIMARY KEY, time REAL NOT NULL, text BLOB NOT NULL, speaker BLOB NOT NULL, session BLOB NOT NULL, "
    "id BLOB NOT NULL, caption BLOB NOT NULL, dated INTEGER NOT NULL, stored_as INTEGER NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE vectors (row_number INTEGER PRIMARY KEY, vector BLOB NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE arrays (name TEXT PRIMARY KEY, dtype TEXT NOT NULL, shape TEXT NOT NULL)",
    "CREATE TABLE blocks (name TEXT NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL, mark BLOB NOT NULL, PRIMARY KEY (name, block))",
)
START_ANEW = "take a copy of it, or start anew with another path"
CURES = {
    sqlite3.SQLITE_CANTOPEN: "check that its folder exists and can be written to",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable",
    sqlite3.SQLITE_BUSY: "another memory has it open; close that one, or give another path",
    sqlite3.SQLITE_FULL: "free disk space and save again; the file holds the last finished tick",
}


class InterruptedWarning(UserWarning):
    """The process that last wrote a snapshot ended without closing it."""


class Snapshot:
    """The file behind one memory.  Raises SnapshotError if it is damaged, in use or belongs to another configuration."""

    def __init__(self, path: Path, assembly: Assembly, consolidate_every: float) -> None:
        self.path, self.assembly, self.consolidate_every = Path(path), assembly, consolidate_every
        self._blocks: dict[tuple[str, int], bytes] = {}
        self._forms: dict[str, tuple[str, str]] = {}
        self._events = self._vectors = self._edges = self._entities = 0
        with self._told():
            self._file = sqlite3.connect(self.path, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
        try:
            with self._told():
                for statement in ("PRAGMA locking_mode = EXCLUSIVE", "PRAGMA synchronous = NORMAL", "BEGIN EXCLUSIVE", "COMMIT"):
                    self._file.execute(statement)
                application, = self._file.execute("PRAGMA application_id").fetchone()
                tables, = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if application != APPLICATION and (application or tables):
                    raise SnapshotError("is another program's database, not a snapshot", where=str(self.path), cure="give another path")
                if application:
                    self._load()
            if not application:
                self.save()
        except BaseException:
            self._file.close()
            raise

    def save(self, state: str = "open") -> None:
        """Bring the file up to date in one transaction.

        Cost: O(what was added), and a checksum over every column that a hook may have changed since: 1 ms for a million bytes.
        """
        a, plans = self.assembly, self.assembly.plans.values()
        blocks: dict[tuple[str, int], bytes] = {}
        forms: dict[str, tuple[str, str]] = {}
        with self._told(), self._transaction() as write:
            if not self._forms:
                for statement in (*TABLES, f"PRAGMA application_id = {APPLICATION}"):
                    write(statement)
            for number in range(self._events, len(a.event_log.events)):
                fields = _fields(a.event_log.events[number], a.event_log.row_of[number])
                write("INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?,?)", (number, *fields, _mark(*fields)))
            for row in range(self._vectors, a.store.n):
                data = a.index.vectors[row].tobytes()
                write("INSERT INTO vectors VALUES (?,?,?)", (row, data, _mark(data)))
            for name, array, first in self._arrays(frozenset(c for p in plans if p.changed for c in p.changes)):
                forms[name] = array.dtype.str, json.dumps(array.shape)
                if self._forms.get(name) != forms[name]:
                    write("INSERT OR REPLACE INTO arrays VALUES (?,?,?)", (name, *forms[name]))
                for block, data in _blocks(array, first):
                    if self._blocks.get((name, block)) != (mark := _mark(data)):
                        write("INSERT OR REPLACE INTO blocks VALUES (?,?,?,?)", (name, block, data, mark))
                        blocks[name, block] = mark
            meta = self._meta(state)
            for key, value in {**meta, "mark": _mark(meta, {**self._forms, **forms}).hex()}.items():
                write("INSERT OR REPLACE INTO meta VALUES (?,?)", (key, value))
        self._blocks.update(blocks)
        self._forms.update(forms)
        self._settled()
        for plan in plans:
            plan.changed = False

    def close(self, save: bool = True) -> None:
        """Save, mark the file as closed in good order, and let go of it; without saving it stays at the last finished tick."""
        try:
            if save:
                self.save("closed")
        finally:
            self._file.close()

    def _arrays(self, changed: frozenset[Any]) -> Iterator[tuple[str, NDArray[Any], int]]:
        """Arrays that may have changed since the last save: name, array, first row that may have."""
        a = self.assembly
        for column in a.store.columns:
            if column.persists and column is not EMBEDDING and column.scope is not Scope.EDGE:
                tail = column.scope in PER_ROW and column is not VISIBLE and column not in changed
                yield f"column.{column.name}", a.store.array(column), self._vectors if tail else 0
        edges = {f"column:{c.name}" for c in changed if getattr(c, "scope", None) is Scope.EDGE}
        if self._forms and not edges and GRAPH not in changed and (self._vectors, self._edges) == (a.store.n, a.graph.n_edges):
            return
        for key, value in a.graph.state().items():
            if not isinstance(value, np.ndarray):
                if key != "entities" or len(value) != self._entities or not self._forms:
                    yield f"graph.{key}", np.frombuffer(json.dumps(value).encode(), dtype=np.uint8), 0
            else:
                tail = key in GROWN or (key.startswith("column:") and key not in edges and GRAPH not in changed)
                yield f"graph.{key}", value, self._edges if tail else 0

    def _meta(self, state: str) -> dict[str, str]:
        a = self.assembly
        return {
            "format": str(FORMAT), "state": state, "configuration": json.dumps(_configuration(a, self.consolidate_every), sort_keys=True),
            "clock": json.dumps([t.hex() for t in (a.clock.now, a.clock.maintained, a.clock.consolidated)]),
            "streams": json.dumps({k: v.bit_generator.state for k, v in a.streams.items()}),
            "rows": str(a.store.n), "events": str(len(a.event_log.events)),
        }

    def _load(self) -> None:
        a, read = self.assembly, self._file.execute
        meta = dict(read("SELECT key, value FROM meta"))
        if meta["format"] != str(FORMAT):
            raise SnapshotError(f"has format {meta['format']}, not {FORMAT}", where=str(self.path), cure="open it with the version that wrote it")
        self._forms = {name: (dtype, shape) for name, dtype, shape in read("SELECT name, dtype, shape FROM arrays")}
        _require(bytes.fromhex(meta.pop("mark")), meta, self._forms)
        _same_configuration(json.loads(meta["configuration"]), _configuration(a, self.consolidate_every), str(self.path))
        vectors = {}
        for row, data, mark in read("SELECT row_number, vector, mark FROM vectors"):
            _require(mark, data)
            vectors[row] = np.frombuffer(data, dtype=np.float32)
        for *fields, mark in read("SELECT time, text, speaker, session, id, caption, dated, stored_as, mark FROM events ORDER BY number"):
            _require(mark, *fields)
            time, *blobs, dated, row = fields
            text, speaker, session, id, caption = (b.decode("utf-8", "surrogatepass") for b in blobs)
            a.replay(Event(time, text, speaker, session, id, caption, bool(dated)), row, vectors.get(row))
        if (len(a.event_log.events), len(a.event_log.rows)) != (int(meta["events"]), int(meta["rows"])):
            raise ValueError("it lacks events")
        arrays = {name: self._read(name, dtype, json.loads(shape)) for name, (dtype, shape) in self._forms.items()}
        kinds = a.graph.state()
        graph = {k.removeprefix("graph."): v for k, v in arrays.items() if k.startswith("graph.")}
        a.adopt_graph(Graph.from_state({k: v if isinstance(kinds.get(k, v), np.ndarray) else json.loads(v.tobytes()) for k, v in graph.items()}))
        a.store.restore({k.removeprefix("column."): v for k, v in arrays.items() if k.startswith("column.")}, int(meta["rows"]))
        a.clock.now, a.clock.maintained, a.clock.consolidated = (float.fromhex(t) for t in json.loads(meta["clock"]))
        for id, state in json.loads(meta["streams"]).items():
            a.streams[id].bit_generator.state = state
        self._settled()
        if meta["state"] != "closed":
            warnings.warn(
                f"{self.path}: the process that wrote it ended without closing it; the memory stands at its last finished tick, "
                f"after {self._events} events at {a.clock.now:.4f} h; give later events again", InterruptedWarning, stacklevel=4)

    def _read(self, name: str, dtype: str, shape: list[int]) -> NDArray[Any]:
        parts = []
        for block, data, mark in self._file.execute("SELECT block, data, mark FROM blocks WHERE name = ? ORDER BY block", (name,)):
            _require(mark, data)
            self._blocks[name, block] = mark
            parts.append(data)
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return np.frombuffer(b"".join(parts)[:size], dtype=np.dtype(dtype)).reshape(shape).copy()

    def _settled(self) -> None:
        a = self.assembly
        self._events, self._vectors, self._edges, self._entities = len(a.event_log.events), a.store.n, a.graph.n_edges, a.graph.n_entities

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        """All or nothing, also for a process that is killed."""
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield self._file.execute
            self._file.execute("COMMIT")
        except BaseException:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Whatever a file can do to its reader comes out as a SnapshotError with a cure."""
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


def _mark(*parts: Any) -> bytes:
    """Checksum of bytes, or of a few fields."""
    if len(parts) == 1 and isinstance(parts[0], bytes):
        return hashlib.blake2b(parts[0], digest_size=16).digest()
    plain = repr([sorted(p.items()) if isinstance(p, Mapping) else p for p in parts])
    return hashlib.blake2b(plain.encode(), digest_size=16).digest()


def _require(mark: bytes, *parts: Any) -> None:
    if _mark(*parts) != mark:
        raise ValueError("a checksum does not fit")


def _blocks(array: NDArray[Any], first: int) -> Iterable[tuple[int, bytes]]:
    """Blocks of rows from the one that holds row `first`."""
    if array.ndim == 0:
        return [(0, array.tobytes())]
    starts = range(first // BLOCK * BLOCK, len(array), BLOCK)
    return ((start // BLOCK, np.ascontiguousarray(array[start:start + BLOCK]).tobytes()) for start in starts)


def _configuration(a: Assembly, consolidate_every: float) -> dict[str, Any]:
    return {
        "mechanisms": {m.id: {n: getattr(m.params, n) for n in ("time_scale", *parameter_types(type(m.params)))} for m in a.mechanisms},
        "embedder": [a.embedder.name, a.embedder.revision, a.embedder.dimensions], "seed": a.seed, "consolidate_every": consolidate_every,
    }


def _same_configuration(saved: dict[str, Any], ours: dict[str, Any], where: str) -> None:
    ours = json.loads(json.dumps(ours))
    if saved != ours:
        different = [k for k in ours if saved.get(k) != ours[k]]
        both = {*saved["mechanisms"], *ours["mechanisms"]}
        detail = sorted(k for k in both if saved["mechanisms"].get(k) != ours["mechanisms"].get(k))
        raise SnapshotError(f"was written with other {', '.join(different)}{f' ({detail})' if detail else ''}", where=where,
                            cure="continue with the configuration it was written with, or give another path")
