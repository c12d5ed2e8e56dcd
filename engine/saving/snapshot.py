"""Snapshots: one SQLite file holds the whole memory; it is updated in one transaction per tick, and
has a log of the calls since.

A process killed at any moment loses no call that has returned, see `call_log`; a loaded memory
continues exactly, bit for bit, as it would have. Only changes are written: events, vectors,
postings and names are appended; arrays are stored in blocks of rows, and a block is written again
if its contents differ.  The last rows of all arrays, too few for blocks of their own, share one,
for a new row changes them all; so do arrays that do not grow.  What a tick changes in blocks that
the file holds is appended as one block, and brought to its places some ticks later.  A block that
holds one row throughout is stored as that row.  Columns that maintenance computes from the rest are
left out as long as only time has passed since; loading computes them.  Every part has a mark over
contents, place and save, the sum of all marks stands once, and the pages of the file are checked
when it is opened.  The file is locked while the memory is open, and belongs to the process that
opened it.
"""

from __future__ import annotations

import gc
import json
import math
import sqlite3
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.errors import InputError, SnapshotError
from ..base.marks import WHOLE, sum_of
from ..contract.columns import Column, Phase, Scope
from ..contract.vocabulary import EMBEDDING, GRAPH, RANDOM, VISIBLE, WITHHELD
from ..state.bulk_marks import Marks, as_bytes, marks_of, total_of
from ..state.divided import Divided
from ..state.event_log import Erased, EventLog
from ..state.graph import BUILT_IN, Graph
from ..state.postings import BM25Index, Forward, TrigramIndex
from ..state.recent_blocks import RECENT, SAVES, latest
from ..state.store import PER_ROW, Store
from ..state.vectors import VectorIndex
from ..text.utf8 import encoded
from ..text.words import RULE
from .block_writer import BlockWriter, Written
from .call_log import Call, CallLog, LoggedCalls, Reached, read_log
from .contents import (
    DIFFER,
    FORMAT,
    PACKED,
    TABLES,
    TAILS,
    ArrayForm,
    Contents,
    description_mark,
    event_cells,
    forms_mark,
    left_out,
    memory_cells,
    passage_cells,
    shortened,
    writing_cells,
    writing_marks,
)
from .differences import Parted, Whole
from .erasures import NotedErasure, as_json, from_json
from .file import APPLICATION, SnapshotFile, Sync, disk_errors, is_there, place_new, snapshot_errors
from .fingerprints import fingerprints

CLOSED: Final = "closed"  # states of a file: nothing has changed the memory since it was saved
OPEN: Final = "open"  # what has changed the memory since is lost
LOGGED: Final = "logged"  # what has changed the memory since is in the log of calls
# most rows in one block of an array, and most edges in one block of an array of edges
BLOCK, EDGES = 512, 1024
# a block of more bytes is halved, down to so few rows; a block of LARGE rows may have twice the
# bytes
HALVED, LEAST = 16_384, 8
# rows of a block of a column that maintenance changes in all rows: fewer blocks for the same bytes
LARGE = 4096
INDEXED = "index."  # before the names of arrays of the vector index
SMALL = 1 << 18  # most bytes of an array that is packed with others
INSERT = "INSERT OR REPLACE INTO {} VALUES ({})"
TOGETHER = 4096  # rows of a table that are written at a time
T = TypeVar("T")
Durable = bool | Literal["full"]
State = Literal["closed", "open", "logged"]
# numbers, columns between number and generation, marks
Rows = tuple[Sequence[int], Sequence[Sequence[Any]], Marks]
# name, whole blocks of an array, which rows may differ (None: any), form
Part = tuple[str, NDArray[Any], NDArray[np.int64] | None, ArrayForm]
Noted = Mapping[Column, NDArray[np.int64]]


class InterruptedWarning(UserWarning):
    """The process that last wrote a snapshot ended without closing it, and calls may be missing
    or are damaged.
    """


class SavedClock(Protocol):
    """Simulated time, and up to which time the phases have run, h; the jumps; whether only time
    has passed since the last maintenance.
    """

    now: float
    maintained: float
    consolidated: float
    settled: bool

    @property
    def jumps(self) -> Sequence[tuple[int, float]]:
        """Steps of more than a year: number of an event, and the present before."""
        ...

    def restore_jumps(self, jumps: Iterable[tuple[int, float]]) -> None: ...


class SavedSteps(Protocol):
    """The steps of one phase: the persistent columns and structures they may change, and whether
    they may have since the last save.
    """

    changed: bool

    @property
    def changes(self) -> frozenset[Any]: ...


class SavedModel(Protocol):
    """What identifies the embedding model."""

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimensions(self) -> int: ...


class SavedPassages(Protocol):
    """Vectors of passages and postings of spans, `passages.Passages`."""

    journal: list[Divided] | None

    @property
    def n_divided(self) -> int: ...

    def restore(
        self, n: int, saved: Sequence[Divided], words: Forward, counted: NDArray[np.bool_]
    ) -> None: ...


class MemoryParts(Protocol):
    """The parts of one memory that a snapshot saves, restores, or compares with those that a
    file was written with.
    """

    event_log: EventLog
    store: Store
    graph: Graph
    lexicon: BM25Index
    trigrams: TrigramIndex
    seed: int
    # language models that were asked before the memory was loaded
    asked_before: tuple[Mapping[str, str], ...]

    @property
    def mechanisms(self) -> Sequence[Any]:
        """Each with `id` and the dataclass `params`; a parameter that is a file has the digest
        of its content as `sha256`.
        """
        ...

    @property
    def index(self) -> VectorIndex: ...
    @property
    def passages(self) -> SavedPassages: ...
    @property
    def embedder(self) -> SavedModel: ...
    @property
    def models_asked(self) -> tuple[Mapping[str, str], ...]:
        """What identifies each language model that was asked since the memory was made, in order
        of first use.
        """
        ...

    @property
    def plans(self) -> Mapping[Any, SavedSteps]: ...
    @property
    def clock(self) -> SavedClock: ...
    @property
    def streams(self) -> Mapping[str, np.random.Generator]: ...

    def restore_postings(
        self, words: Forward, trigrams: Forward, beside: Executor
    ) -> Sequence[Future[None]]:
        """Fill the empty postings for all rows, in other threads."""
        ...

    def adopt_graph(self, graph: Graph) -> None:
        """Copy a restored graph into `graph`."""
        ...

    @property
    def derived(self) -> frozenset[Column]:
        """Columns of memories that are computed from everything else that is saved: `late` columns
        when they are read, the others by `derive`, if the memory is settled.
        """
        ...

    @property
    def late(self) -> frozenset[Column]:
        """Derived columns that are computed when they are read: no file holds them."""
        ...

    def derive(self) -> None:
        """Compute the derived columns that are not late, for the time of the last maintenance."""
        ...


@dataclass
class _Held:
    """What the file holds, as far as the next save must know it.

    generation  number of the last save
    total       sum of all marks
    events, writings, rows, entities, edges  how many it holds
    meta        its description
    computed    columns that it leaves out
    forms       form of each array
    forms_mark  mark of all of them
    prints      fingerprint of each block of an array as of the last save
    marks       mark of each block of an array that stands at its place, and of each of RECENT
    packed      the block PACKED as of the last save; None: there is none
    tails       the block TAILS, likewise
    """

    generation: int = 0
    total: int = 0
    events: int = 0
    writings: int = 0
    rows: int = 0
    entities: int = 0
    edges: int = 0
    meta: dict[str, str] = field(default_factory=dict)
    computed: frozenset[Column] = frozenset()
    forms: dict[str, ArrayForm] = field(default_factory=dict)
    forms_mark: bytes = b""
    prints: dict[str, NDArray[np.uint64]] = field(default_factory=dict)
    marks: dict[str, Marks] = field(default_factory=dict)
    packed: bytes | None = None
    tails: bytes | None = None


class Snapshot:
    """The file of one memory.

    path               of the file, made if it is not there
    assembly           the memory, new and empty; filled from the file if that holds one
    consolidate_every  h, part of the configuration that file and memory must share
    durable            whether what has changed the memory since a save is in the log of calls;
                       "full": and each call on the disk when it returns

    A memory continues with any language model or none: which ones were asked so far is saved, and
    not compared.

    Raises SnapshotError if the file is damaged, in use, belongs to another process, or was written
    by another version or configuration.
    """

    def __init__(
        self, path: Path, assembly: MemoryParts, consolidate_every: float, durable: Durable = True
    ) -> None:
        self.path, self.assembly, self._held = Path(path), assembly, _Held()
        # the state of the file after a save but the last
        self._saved_as: State = LOGGED if durable else OPEN
        self._sync: Sync = "FULL" if durable == "full" else "NORMAL"
        # what the file holds, until the memory has taken it up
        self._logged: LoggedCalls | None = None
        self._repeating = False
        self._complete = True  # whether file and log together hold the memory
        # what the file holds if the save under way is done
        self._due: tuple[_Held, Reached | None] | None = None
        self._erased: Erased | None = None  # what was overwritten, and is not in the file yet
        self._erasures: list[NotedErasure] = []  # all, also of earlier processes
        self._edge_forms: dict[str, ArrayForm] = {}
        # whether the file is known to hold all whole blocks in our forms
        self._fits = False
        self._configuration = json.dumps(
            _configuration(assembly, consolidate_every), sort_keys=True
        )
        assembly.lexicon.journal, assembly.trigrams.journal, assembly.passages.journal = [], [], []
        with snapshot_errors(self.path):
            if not is_there(self.path):
                place_new(self.path, self._make)
        self._file = SnapshotFile(self.path, _is_whole)
        self._log = CallLog(self._file, "FULL" if durable == "full" else "OFF")
        try:
            with snapshot_errors(self.path), _without_collection():
                self._load()
            if not self._held.computed <= assembly.late:
                assembly.derive()
            self._forget_changes()
        except BaseException:
            self._file.close()
            raise

    @contextmanager
    def repeating(self) -> Iterator[Sequence[Call]]:
        """Yields the calls that the log holds, once; what changes the memory meanwhile is not
        logged again.
        """
        self._repeating = True
        try:
            yield self._logged.calls if self._logged else ()
            self._logged = None
        finally:
            self._repeating = False

    @contextmanager
    def changing(self, call: Call | None) -> Iterator[None]:
        """Around a change of the memory, which is in the file when this has ended.

        call  what changes the memory, and can be repeated; None: something else, after which `save`
              is called

        Raises SnapshotError before the change if the file cannot take the call; a change that
        raises InputError has changed nothing.  Cost: 50 us; every 256 calls a save.
        """
        if self._repeating:
            yield
            return
        self._settle()
        with disk_errors(self.path):
            if call is not None and (
                self._held.meta.get("state") != self._saved_as
                or (self._saved_as is LOGGED and not self._ready)
            ):
                self.save()
            reached = (
                self._log.write(call) if call is not None and self._saved_as is LOGGED else None
            )
        complete, self._complete = self._complete, False
        try:
            yield
        except InputError:
            self._complete = complete
            raise
        if reached is not None:
            self._conclude(reached)

    @property
    def _ready(self) -> bool:
        """Whether the log can take a call."""
        return self._complete and not self._log.full

    def _conclude(self, reached: Reached) -> None:
        """Let the call that has changed the memory count.  Raises SnapshotError, with the memory
        changed, for a disk that has just failed.
        """
        try:
            with disk_errors(self.path):
                self._log.conclude(reached)
        except SnapshotError as error:
            raise SnapshotError(
                f"{error.what}; the call has changed the memory, and the next save writes it",
                where=error.where,
                cure="call save() when the disk works again, and do not repeat the call",
            ) from error
        self._complete = True

    def save(self, erased: Erased | None = None, state: State | None = None) -> None:
        """Update the file in one transaction, and begin its log of calls anew.

        state   of the file; None: that of a memory that goes on
        erased  what was overwritten since the last save: it is overwritten in the file, too, and
                the file is rewritten without what it held before; if that fails, the next save does
                what is left of it; that of a later process rewrites a file in which it is
                overwritten

        Cost: O(added rows, events and edges); for every column of which a hook may have changed
        cells of earlier rows since the last save a fingerprint, 40 us per 10^6 bytes, and for every
        block that differs, of at most 16 kB or 8 rows, a mark and a copy.  Every SAVES saves these
        are brought to their places.  With the state "closed" all columns are compared.
        """
        self._settle()
        state = state or self._saved_as
        if erased:
            self._erased = erased | self._erased
            self._erasures.append(NotedErasure.now(erased))
        with disk_errors(self.path), self._file.transaction(self._sync) as to:
            held = self._write(to, state)
            reached = (
                self._log.begin(to, held.generation, anew=self._erased is not None)
                if state == LOGGED
                else self._log.remove(to)
            )
            if self._erased is not None:
                self._file.outdate()
            self._due = (
                replace(
                    held,
                    prints=self._held.prints | held.prints,
                    marks=self._held.marks | held.marks,
                ),
                reached,
            )
        self._adopt(*self._due)
        with disk_errors(self.path):
            if self._file.outdated:
                self._file.rewrite()

    def _adopt(self, held: _Held, reached: Reached | None) -> None:
        """Note what the file holds after a save; calling it twice is calling it once."""
        self._held, self._log.reached, self._fits, self._erased = held, reached, True, None
        for journal in (
            self.assembly.lexicon.journal,
            self.assembly.trigrams.journal,
            self.assembly.passages.journal,
        ):
            if journal:
                journal.clear()
        self._forget_changes()
        self._complete, self._due = True, None

    def _settle(self) -> None:
        """Find out whether a save that an interruption has cut off is in the file.  Called before
        anything changes again.
        """
        if self._due is None:
            return
        with disk_errors(self.path):
            self._file.roll_back()
            done = self._file.execute(
                "SELECT value FROM meta WHERE key = 'generation'"
            ).fetchone() == (str(self._due[0].generation),)
        if done:
            self._adopt(*self._due)
        self._due = None

    def unsaved(self) -> list[str]:
        """Names of arrays that differ from the file's: none after a save, unless a mechanism
        changes cells that it has not declared.  O(n).

        Those of the vector index, which follow from the vectors, are not compared.
        """
        known, computed = self._held.prints, self._held.computed
        differing = [
            name
            for name, array, _, form in self._arrays(frozenset(), computed, everything=True)
            if not np.array_equal(known.get(name, NONE), _fingerprints_of(array, form.rows))
        ]
        return (
            differing
            + [PACKED] * (self._held.packed != self._packed())
            + [TAILS] * (self._held.tails != self._tails(computed))
        )

    def close(self, save: bool = True) -> None:
        """Save, mark the file as closed, and close it; with save=False file and log stay as they
        are.

        A file that cannot be saved stays open, so that it can be saved or closed later.  Raises
        SnapshotError.
        """
        if save:
            self.save(state=CLOSED)
        self._file.close()

    def _forget_changes(self) -> None:
        """Note changes from now on."""
        self.assembly.store.journal, self.assembly.graph.removed = {}, []
        for plan in self.assembly.plans.values():
            plan.changed = False

    def _make(self, to: sqlite3.Connection) -> None:
        """Write a new file."""
        for statement in (*TABLES, f"PRAGMA application_id = {APPLICATION}"):
            to.execute(statement)
        self._write(to, CLOSED)

    def _write(self, to: sqlite3.Connection, state: State) -> _Held:
        """Write what has changed.  Returns what the file then holds; fingerprints and marks of
        blocks are those of changed arrays alone.
        """
        a, before, erased = self.assembly, self._held, self._erased
        held = _Held(
            before.generation + 1,
            before.total,
            len(a.event_log.events),
            len(a.event_log.writings),
            a.store.n,
            a.graph.n_entities,
            a.graph.n_edges,
            computed=a.derived if a.clock.settled else a.late,
            forms=before.forms,
            forms_mark=before.forms_mark,
        )
        gone = list[bytes]()
        if erased:
            for table, numbers in (
                ("events", _below(before.events, erased.events)),
                ("writings", _below(before.writings, erased.writings)),
            ):
                gone += [
                    to.execute(f"SELECT mark FROM {table} WHERE number = ?", (number,)).fetchone()[
                        0
                    ]
                    for number in numbers
                ]
            gone += [
                mark
                for table in ("memories", "passages", "entities")
                for (mark,) in to.execute(f"SELECT mark FROM {table}")
            ]
            for table in ("passages", "entities"):
                to.execute(f"DELETE FROM {table}")
        for table, written in (
            ("events", self._event_rows),
            ("writings", self._writing_rows),
            ("memories", self._memory_rows),
            ("passages", self._passage_rows),
            ("entities", self._entity_rows),
        ):
            for numbers, columns, marks in written(held.generation):
                to.executemany(
                    INSERT.format(table, ",".join("?" * (len(columns) + 3))),
                    zip(
                        numbers,
                        *columns,
                        (held.generation for _ in numbers),
                        as_bytes(marks),
                        strict=True,
                    ),
                )
                held.total = (held.total + total_of(marks)) % WHOLE
        held.total = (held.total - sum_of(gone)) % WHOLE
        changed = before.computed.union(*(p.changes for p in a.plans.values() if p.changed))
        self._write_arrays(to, held, changed, everything=bool(erased) or state == CLOSED)
        if held.forms is not before.forms:
            held.forms_mark = forms_mark(held.forms)
        held.meta = self._meta(state, held, RANDOM in changed)
        held.meta["mark"] = description_mark(held.meta, held.forms_mark).hex()
        to.executemany(
            INSERT.format("meta", "?,?"),
            [(key, value) for key, value in held.meta.items() if before.meta.get(key) != value],
        )
        return held

    def _event_rows(self, generation: int) -> Iterator[Rows]:
        log = self.assembly.event_log
        for numbers in _some(
            (
                *_below(self._held.events, self._erased.events if self._erased else ()),
                *range(self._held.events, len(log.events)),
            )
        ):
            time, *blobs, dated, row = zip(
                *(event_cells(log.events[number], log.row_of[number]) for number in numbers),
                strict=True,
            )
            values = np.array(time, np.float64), np.array(dated, np.int64), np.array(row, np.int64)
            yield (
                numbers,
                (time, *blobs, dated, row),
                marks_of(b"events", numbers, [generation] * len(numbers), blobs, values),
            )

    def _writing_rows(self, generation: int) -> Iterator[Rows]:
        log = self.assembly.event_log
        due = (
            *_below(self._held.writings, self._erased.writings if self._erased else ()),
            *range(self._held.writings, len(log.writings)),
        )
        stored = {~log.rows[row]: row for row in log.made} if due else {}
        for numbers in _some(due):
            *values, rows = zip(
                *(
                    writing_cells(log.writings[number], stored.get(number, -1))
                    for number in numbers
                ),
                strict=True,
            )
            yield (
                numbers,
                (*values, rows),
                writing_marks(numbers, [generation] * len(numbers), values, rows),
            )

    def _memory_rows(self, generation: int) -> Iterator[Rows]:
        """The rows that the journals hold: those since the last save; after an erasure, which
        numbers words anew, all.
        """
        a = self.assembly
        words, trigrams = a.lexicon.journal or [], a.trigrams.journal or []
        due = range(a.store.n - len(words), a.store.n)
        for numbers, some, others in zip(_some(due), _some(words), _some(trigrams), strict=True):
            cells = [
                memory_cells(a.index.vectors[number].tobytes(), *added)
                for number, *added in zip(numbers, some, others, strict=True)
            ]
            columns = tuple(zip(*cells, strict=True))
            yield (
                numbers,
                columns,
                marks_of(b"memories", numbers, [generation] * len(numbers), columns),
            )

    def _passage_rows(self, generation: int) -> Iterator[Rows]:
        """The divided rows that the journal holds, as `_memory_rows`."""
        divided = self.assembly.passages.journal or []
        due = range(
            self.assembly.passages.n_divided - len(divided), self.assembly.passages.n_divided
        )
        for numbers, some in zip(_some(due), _some(divided), strict=True):
            rows, windows, *blobs = zip(*map(passage_cells, some), strict=True)
            values = np.array(rows, np.int64), np.array(windows, np.int64)
            yield (
                numbers,
                (rows, windows, *blobs),
                marks_of(b"passages", numbers, [generation] * len(numbers), blobs, values),
            )

    def _entity_rows(self, generation: int) -> Iterator[Rows]:
        graph = self.assembly.graph
        for numbers in _some(range(0 if self._erased else self._held.entities, graph.n_entities)):
            names = [encoded(graph.entity_name(number)) for number in numbers]
            yield (
                numbers,
                (names,),
                marks_of(b"entities", numbers, [generation] * len(numbers), [names]),
            )

    def _write_arrays(
        self, to: sqlite3.Connection, held: _Held, changed: frozenset[Any], everything: bool
    ) -> None:
        """Write the blocks of arrays that differ from the file's.

        changed     columns and structures that a hook may have changed
        everything  compare all arrays, not these alone
        """
        before = self._held
        placed = everything or not self._fits or len(before.marks.get(RECENT, NO_MARKS)) == SAVES
        writer = BlockWriter(to, held.generation, before.marks, gathers=not placed)
        forms = {name: form for _, name, form in self._small if before.forms.get(name) != form}
        for name, array, rows, form in chain(
            self._arrays(changed, held.computed, everything),
            self._index_arrays() if everything else (),
        ):
            known = before.prints.get(name, NONE)
            if anew := before.forms.get(name) != form:
                forms[name], known, rows = form, NONE, None
            prints = self._write_array(writer, name, array, form, known, rows)
            if anew or prints is not known:
                held.prints[name] = prints
        held.packed, held.tails = self._packed(), self._tails(held.computed)
        for block, old, new, kind in (
            (PACKED, before.packed, held.packed, Whole()),
            (TAILS, before.tails, held.tails, self._last_rows),
        ):
            if writer.gathers and old is not None:
                if new != old:
                    writer.gather(block, 0, kind.difference(old, new))
            else:
                writer.add(block, 0, new)
        if forms:
            held.forms = dict(sorted((before.forms | forms).items()))
            to.executemany(
                INSERT.format("arrays", "?,?,?,?"), [(name, *form) for name, form in forms.items()]
            )
        self._enter_marks(held, writer.finish())
        # a list that became shorter, or that had smaller blocks, leaves blocks over
        for name, prints in held.prints.items():
            self._shorten(to, held, name, len(prints))
        if placed:
            self._place_recent(to, held)
            for name, form in forms.items():
                if not form.rows:  # the array had blocks of its own
                    self._shorten(to, held, name, 0)

    @staticmethod
    def _write_array(
        writer: BlockWriter,
        name: str,
        array: NDArray[Any],
        form: ArrayForm,
        known: NDArray[np.uint64],
        rows: NDArray[np.int64] | None,
    ) -> NDArray[np.uint64]:
        """Write the blocks of an array that differ from the file's.  Returns the fingerprints of
        all its blocks; `known` itself if no block differs.

        known  fingerprints of the file's; none of an array that the file does not have in this form
        rows   which may differ; None: any
        """
        cell, data = _bytes_of_row(array), np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        size = form.rows * cell
        prints = (
            fingerprints(data, size)
            if rows is None
            else _renewed(known, data, size, rows // form.rows)
        )
        if known.tobytes() == prints.tobytes():
            return known
        shared = min(len(known), len(prints))
        for block in (
            *np.flatnonzero(known[:shared] != prints[:shared]).tolist(),
            *range(shared, len(prints)),
        ):
            writer.add(
                name, block, shortened(data[block * size : (block + 1) * size].tobytes(), cell)
            )
        return prints

    def _place_recent(self, to: sqlite3.Connection, held: _Held) -> None:
        """Bring the blocks that stand in RECENT to their places, unless a later save has written
        these, and remove differences and RECENT.
        """
        with snapshot_errors(self.path):
            recent, _ = latest(
                to.execute(
                    "SELECT generation, data FROM blocks WHERE name = ? ORDER BY number", (RECENT,)
                ),
                DIFFER,
            )
        writer = BlockWriter(to, held.generation, self._held.marks | held.marks, gathers=False)
        for name, blocks in sorted(recent.items()):
            for number, (generation, part) in sorted(blocks.items()):
                there = to.execute(
                    "SELECT generation FROM blocks WHERE name = ? AND number = ?", (name, number)
                ).fetchone()
                if there is not None and there[0] < generation:
                    writer.add(name, number, part)
        self._enter_marks(held, writer.finish())
        self._shorten(to, held, RECENT, 0)

    def _enter_marks(self, held: _Held, written: Written) -> None:
        """Enter the marks of blocks that were written, in place of those that they replace, also
        in the sum.
        """
        for name, numbers, marks in written:
            known_marks = self._marks(held, name)
            known_marks = np.concatenate(
                [known_marks, np.zeros((max(0, max(numbers) + 1 - len(known_marks)), 2), np.uint64)]
            )
            held.total = (held.total + total_of(marks) - total_of(known_marks[numbers])) % WHOLE
            known_marks[numbers] = marks
            held.marks[name] = known_marks

    def _shorten(self, to: sqlite3.Connection, held: _Held, name: str, count: int) -> None:
        """Remove all blocks of an array but the first `count`."""
        marks = self._marks(held, name)
        if len(marks) > count:
            to.execute("DELETE FROM blocks WHERE name = ? AND number >= ?", (name, count))
            held.total = (held.total - total_of(marks[count:])) % WHOLE
            held.marks[name] = marks[:count]

    def _marks(self, held: _Held, name: str) -> Marks:
        """Marks of the blocks of an array, as far as this save has written them."""
        return held.marks[name] if name in held.marks else self._held.marks.get(name, NO_MARKS)

    def _arrays(
        self, changed: frozenset[Any], computed: frozenset[Column], everything: bool
    ) -> Iterator[Part]:
        """Arrays whose blocks may differ from the file's, but for packed ones.

        computed  columns that the file leaves out: no row of them
        """
        written = {
            column: rows
            for column, noted in (self.assembly.store.journal or {}).items()
            if (rows := np.concatenate(noted)).size
        }
        yield from self._columns_to_save(changed, computed, written, everything)
        yield from self._graph_to_save(changed, written, everything)

    def _columns_to_save(
        self, changed: frozenset[Any], computed: frozenset[Column], written: Noted, everything: bool
    ) -> Iterator[Part]:
        """Columns of memories, and single cells.  `written`: rows of columns that hooks of
        ENCODE named.
        """
        store = self.assembly.store
        grown = self._grown(store.n, self._held.rows)
        for column, name, form in self._columns:
            anywhere = (
                everything
                or column in changed
                or column in computed
                or column in (VISIBLE, WITHHELD)
            )
            if anywhere or column in written or form.rows in grown or not self._fits:
                array = store.array(column)[:0] if column in computed else store.array(column)
                yield (
                    name,
                    _whole(array, form),
                    None if anywhere or not form.grows else written.get(column, NO_NUMBERS),
                    form,
                )

    def _graph_to_save(
        self, changed: frozenset[Any], written: Noted, everything: bool
    ) -> Iterator[Part]:
        """Arrays of the graph and columns of edges.  `written`: edges of columns that hooks of
        ENCODE named.
        """
        graph, before = self.assembly.graph, self._held
        edges = {f"column:{c.name}" for c in changed if getattr(c, "scope", None) is Scope.EDGE}
        noted = {
            f"column:{c.name}": numbers for c, numbers in written.items() if c.scope is Scope.EDGE
        }
        if graph.removed:
            noted["alive"] = np.array(graph.removed, np.int64)
        same = (before.rows, before.edges) == (self.assembly.store.n, graph.n_edges)
        if same and not (everything or edges or noted or GRAPH in changed):
            return
        grown = self._grown(graph.n_edges, before.edges)
        only = {
            *edges,
            *noted,
            *(key for key, form in self._edge_forms.items() if form.rows in grown),
        }
        for key, value in graph.parts(None if everything or not self._fits else only).items():
            if key == "entities":
                continue  # a table of their own
            array = (
                value
                if isinstance(value, np.ndarray)
                else np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
            )
            form = self._form_of(key, array)
            yield (
                f"graph.{key}",
                _whole(array, form),
                None
                if everything or not form.grows or key in edges
                else noted.get(key, NO_NUMBERS),
                form,
            )

    def _index_arrays(self) -> Iterator[Part]:
        """What the vector index keeps in the file, as `_arrays`; written when the file is closed.
        After an erasure nothing: a list tells where a vector was."""
        parts = {f"{INDEXED}{key}": array for key, array in self.assembly.index.parts().items()}
        if self._erased:
            parts = {
                name: np.zeros(0, np.uint8) for name in self._held.forms if name.startswith(INDEXED)
            }
        for name, array in parts.items():
            yield name, array, None, _form(array, array.shape)

    def _grown(self, count: int, before: int) -> frozenset[int]:
        """The sizes of blocks of which so many rows or edges fill more than before."""
        return frozenset(size for size in self._sizes if count // size != before // size)

    def _form_of(self, key: str, array: NDArray[Any]) -> ArrayForm:
        """The form of an array of the graph."""
        known = self._edge_forms.get(key)
        if known is None:
            if key not in BUILT_IN and not key.startswith("column:"):
                return _form(array, array.shape)
            known = self._edge_forms[key] = _form(array, ("edges", *array.shape[1:]))
        return known

    def _tails(self, computed: frozenset[Column]) -> bytes:
        """The last rows of each array that grows, in the order of their names; no row of arrays
        that the file leaves out.
        """
        store, graph, parts = self.assembly.store, self.assembly.graph, list[bytes]()
        for column, key, rows, cell in self._growing:
            array = graph.column(key) if column is None else store.array(column)
            parts.append(
                b""
                if column in computed
                else shortened(array[len(array) // rows * rows :].tobytes(), cell)
            )
        return self._last_rows.joined(parts)

    @cached_property
    def _growing(self) -> tuple[tuple[Column | None, str, int, int], ...]:
        """Arrays that grow, in the order of their names: column of memories or None, name of the
        edge column, rows of a block, bytes of a row.
        """
        store, edges = (
            self.assembly.store,
            {
                k: v
                for k, v in self.assembly.graph.parts().items()
                if k in BUILT_IN or k.startswith("column:")
            },
        )
        growing: dict[str, tuple[Column | None, str, int, int]] = {
            name: (c, "", form.rows, _bytes_of_row(store.array(c)))
            for c, name, form in self._columns
            if form.grows
        }
        growing |= {
            f"graph.{key}": (
                None,
                key.removeprefix("column:"),
                self._form_of(key, np.asarray(array)).rows,
                _bytes_of_row(np.asarray(array)),
            )
            for key, array in edges.items()
        }
        return tuple(growing[name] for name in sorted(growing))

    @cached_property
    def _last_rows(self) -> Parted:
        """How the block TAILS is divided."""
        return Parted(len(self._growing))

    @cached_property
    def _sizes(self) -> frozenset[int]:
        """Rows of a block of each array that grows."""
        return frozenset(rows for _, _, rows, _ in self._growing)

    @cached_property
    def _columns(self) -> tuple[tuple[Column, str, ArrayForm], ...]:
        """The columns that are stored as arrays of their own."""
        store, moving = (
            self.assembly.store,
            self.assembly.plans[Phase.MAINTAIN].changes | self.assembly.late,
        )
        return tuple(
            (
                c,
                f"column.{c.name}",
                _form(
                    array, ("rows", *array.shape[1:]) if rows else array.shape, rows and c in moving
                ),
            )
            for c in store.columns
            if c.persists and c is not EMBEDDING and c.scope is not Scope.EDGE
            for array, rows in ((store.array(c), c.scope in PER_ROW),)
            if rows or array.nbytes > SMALL
        )

    @cached_property
    def _small(self) -> tuple[tuple[NDArray[Any], str, ArrayForm], ...]:
        """Arrays that are packed, which are never replaced, in the order of their names."""
        store = self.assembly.store
        return tuple(
            sorted(
                (
                    (
                        array,
                        f"column.{c.name}",
                        ArrayForm(array.dtype.str, json.dumps(array.shape), 0),
                    )
                    for c in store.columns
                    if c.scope is Scope.GLOBAL
                    for array in (store.array(c),)
                    if array.nbytes <= SMALL
                ),
                key=lambda part: part[1],
            )
        )

    def _packed(self) -> bytes:
        """The arrays that are packed, one after the other."""
        return b"".join([array.data for array, _, _ in self._small])

    @cached_property
    def _drawing(self) -> tuple[str, ...]:
        """Mechanisms whose streams are saved: those that draw; all others stay as the seed makes
        them.
        """
        return tuple(
            m.id for m in self.assembly.mechanisms if any(RANDOM in h.sets for h in type(m).hooks())
        )

    def _meta(self, state: State, held: _Held, drawn: bool) -> dict[str, str]:
        """The description.  drawn: whether a hook may have drawn random numbers since the last
        save.
        """
        a = self.assembly
        streams = self._held.meta.get("streams")
        if streams is None or drawn:
            streams = json.dumps({k: a.streams[k].bit_generator.state for k in self._drawing})
        return {
            "format": FORMAT, "state": state, "configuration": self._configuration,
            "generation": str(held.generation),
            "marks": f"{held.total:032x}", "clock": json.dumps([t.hex() for t in (a.clock.now,
            a.clock.maintained, a.clock.consolidated)]),
            "jumps": json.dumps([(event, before.hex()) for event, before in a.clock.jumps]),
            "streams": streams,
            "rows": str(held.rows), "events": str(held.events), "writings": str(held.writings),
            "entities": str(held.entities),
            "passages": str(self.assembly.passages.n_divided), "terms": RULE,
            "edges": str(held.edges), "computed": json.dumps(sorted(c.name for c in held.computed)),
            "settled": json.dumps(a.clock.settled),
            "language_models": json.dumps([dict(model) for model in a.models_asked], sort_keys=True),
            "erasures": as_json(self._erasures),
        }  # fmt: skip

    def _load(self) -> None:
        a, where = self.assembly, str(self.path)
        meta = dict(self._file.execute("SELECT key, value FROM meta"))
        rule = meta.get("terms", RULE)  # a file without a rule has another format
        if meta["format"] != FORMAT or rule != RULE:
            raise SnapshotError(
                f"has format {meta['format']}; this version reads format {FORMAT} alone"
                if meta["format"] != FORMAT
                else f"has words of rule {rule}; this version reads those of rule {RULE} alone",
                where=where,
                cure="open it with the version that wrote it, or start a new memory with another path",
            )
        with self._file.checked(frozenset(TABLES)) as beside:
            self._load_contents(meta, beside)
            self._logged = _log_of(self._file, meta)
        if self._logged:
            self._log.reached, self._complete = self._logged.reached, not self._logged.lost
        lost, calls = (self._logged.lost, len(self._logged.calls)) if self._logged else (0, 0)
        if lost or meta["state"] == OPEN:
            why = (
                f"{lost} of its last {lost + calls} calls are damaged"
                if lost
                else "it kept no log of calls (durable=False)"
            )
            then = f" and {calls} further calls" if calls else ""
            warnings.warn(
                f"{self.path}: the process that wrote it ended without closing it, and {why}; the memory is as of its last save, "
                f"after {len(a.event_log.events)} events at {a.clock.now:.4f} h{then}; encode later events again",
                InterruptedWarning,
                stacklevel=4,
            )

    def _load_contents(self, meta: dict[str, str], beside: Executor) -> None:
        """Fill the memory from the file.  beside: runs what needs no lock of the interpreter in
        other threads.
        """
        a, where = self.assembly, str(self.path)
        saved = Contents(self._file, meta, beside)
        _same_configuration(
            json.loads(meta["configuration"]), json.loads(self._configuration), where
        )
        a.asked_before = tuple(json.loads(meta["language_models"]))
        self._erasures = from_json(meta["erasures"])
        _same_columns(saved.forms, a.store, where)
        computed = _computed(meta, a.derived, where)
        rows = int(meta["rows"])
        room = beside.submit(a.index.reserve, rows)
        arrays, state, roomy = self._load_arrays(saved, rows)
        graph = beside.submit(Graph.from_state, state, roomy)
        prints = beside.submit(_prints, arrays, saved.stored)
        self._load_rows(saved, beside, room)
        saved.require_whole()
        a.adopt_graph(graph.result())
        parts = {
            k.removeprefix(INDEXED): v
            for k, v in arrays.items()
            if k.startswith(INDEXED) and len(v)
        }
        if parts:
            a.index.adopt(parts)
        columns = {
            k.removeprefix("column."): v for k, v in arrays.items() if k.startswith("column.")
        }
        neutral = {
            c.name: np.broadcast_to(
                np.array(c.neutral, c.dtype),
                (*(rows,) * (c.scope in PER_ROW), *a.store.cell_shape(c)),
            )
            for c in computed
        }
        a.store.restore(neutral | columns, rows)
        a.clock.now, a.clock.maintained, a.clock.consolidated = (
            float.fromhex(t) for t in json.loads(meta["clock"])
        )
        a.clock.restore_jumps(
            (event, float.fromhex(before)) for event, before in json.loads(meta["jumps"])
        )
        a.clock.settled = bool(json.loads(meta["settled"]))
        for id, state in json.loads(meta["streams"]).items():
            a.streams[id].bit_generator.state = state
        self._held = _Held(
            int(meta["generation"]),
            int(meta["marks"], 16),
            len(a.event_log.events),
            len(a.event_log.writings),
            rows,
            a.graph.n_entities,
            a.graph.n_edges,
            meta,
            computed,
            saved.stored,
            forms_mark(saved.stored),
            prints.result(),
            saved.marks,
            saved.packed,
            saved.tails,
        )

    def _load_rows(self, saved: Contents, beside: Executor, room: Future[None]) -> None:
        """Restore event log, writings, vectors and postings.  room: for the vectors, made
        meanwhile.
        """
        a, log, meta = self.assembly, self.assembly.event_log, saved.meta
        written, rows = saved.writings(), int(meta["rows"])
        made = [(row, number) for number, (_, row) in enumerate(written) if row >= 0]
        room.result()
        for part in saved.vectors():
            a.index.add_many(np.frombuffer(part, np.float32).reshape(-1, a.embedder.dimensions))
        if len(a.index) != rows:
            raise ValueError("vectors are missing")
        counted = np.ones(rows, bool)
        counted[[row for row, _ in made]] = False
        # while events are read, which is mostly Python
        restored = a.restore_postings(*saved.postings(counted), beside)
        log.writings.restore([writing for writing, _ in written])
        log.restore(*saved.events(), made)
        if (len(log.events), len(log.rows), len(log.writings)) != (
            int(meta["events"]),
            rows,
            int(meta["writings"]),
        ):
            raise ValueError("events or writings are missing")
        for future in restored:
            future.result()
        a.passages.restore(rows, *saved.passages(a.embedder.dimensions, counted), counted)

    def _load_arrays(
        self, saved: Contents, rows: int
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any], dict[str, NDArray[Any]]]:
        """All arrays, those of columns in the store; and the state of the graph, with edge
        columns that have spare room.
        """
        a, (edges,) = self.assembly, json.loads(saved.forms["graph.alive"][1])
        a.store.cover(rows)
        columns = {f"column.{name}": array for name, array in a.store.persistent().items()}
        roomy: dict[str, NDArray[Any]] = {}

        def place(name: str) -> NDArray[Any] | None:
            key = name.removeprefix("graph.")
            if name != key and (key in BUILT_IN or key.startswith("column:")):
                roomy[key] = a.graph.roomy(key.removeprefix("column:"), edges)
                return roomy[key][:edges]
            return columns.get(name)

        arrays, entities = saved.arrays(place), saved.entities()
        kinds = a.graph.parts()
        graph = {k.removeprefix("graph."): v for k, v in arrays.items() if k.startswith("graph.")}
        state = {
            k: v if isinstance(kinds.get(k, v), np.ndarray) else json.loads(v.tobytes())
            for k, v in graph.items()
        }
        return arrays, state | {"entities": entities}, roomy


NONE = np.zeros(0, np.uint64)
NO_NUMBERS = np.zeros(0, np.int64)
NO_MARKS: Marks = np.zeros((0, 2), np.uint64)


def _is_whole(file: SnapshotFile) -> bool:
    """Whether all parts of the file are there, of one save; False for another format.  Raises
    what `snapshot_errors` knows for a damaged one.
    """
    meta = dict(file.execute("SELECT key, value FROM meta"))
    if meta["format"] != FORMAT:
        return False
    with file.checked(frozenset(TABLES)) as beside:
        saved = Contents(file, meta, beside)
        saved.arrays(lambda name: None)
        for read in (saved.entities, saved.writings, saved.events):
            read()
        deque(saved.vectors(), maxlen=0)
        saved.passages(
            json.loads(meta["configuration"])["embedder"][2], np.ones(int(meta["rows"]), bool)
        )
        saved.require_whole()
        logged = _log_of(file, meta)
    return not logged or not logged.lost


def _log_of(file: SnapshotFile, meta: Mapping[str, str]) -> LoggedCalls | None:
    """The log of calls of a file with this description; None: it has none.  Raises ValueError
    for a damaged one, and for one that should not be.
    """
    if meta["state"] == LOGGED:
        return read_log(file, int(meta["generation"]))
    if meta["state"] not in (CLOSED, OPEN) or file.execute("SELECT 1 FROM calls").fetchone():
        raise ValueError("it has a log of calls, or a state, that it should not have")
    return None


def _prints(
    arrays: Mapping[str, NDArray[Any]], forms: Mapping[str, ArrayForm]
) -> dict[str, NDArray[np.uint64]]:
    """Fingerprints of the blocks of arrays as they stand in the file."""
    return {
        name: _fingerprints_of(_whole(arrays[name], form), form.rows)
        for name, form in forms.items()
        if name in arrays and form.rows
    }


def _whole(array: NDArray[Any], form: ArrayForm) -> NDArray[Any]:
    """The part of an array that stands in blocks of its own."""
    return array[: len(array) // form.rows * form.rows] if form.grows else array


def _renewed(
    known: NDArray[np.uint64], data: NDArray[np.uint8], size: int, blocks: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Fingerprints of whole blocks of `size` bytes.  They are computed for the blocks named and for
    blocks without a known fingerprint.
    """
    prints, blocks = (
        np.concatenate([known, fingerprints(data[len(known) * size :], size)]),
        np.unique(blocks[blocks < len(known)]),
    )
    if blocks.size:
        prints[blocks] = fingerprints(data.reshape(-1, size)[blocks].reshape(-1), size)
    return prints


def _fingerprints_of(array: NDArray[Any], rows: int) -> NDArray[np.uint64]:
    """Fingerprints of the blocks of so many rows; the same row throughout is read once."""
    size = rows * _bytes_of_row(array)
    if array.ndim and array.strides[0] == 0 and len(array) > rows:
        whole, rest = (
            fingerprints(np.ascontiguousarray(array[:count]).reshape(-1).view(np.uint8), size)
            for count in (rows, len(array) % rows)
        )
        return np.concatenate([whole.repeat(len(array) // rows), rest])
    return fingerprints(np.ascontiguousarray(array).reshape(-1).view(np.uint8), size)


def _some(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Up to TOGETHER items at a time.

    >>> list(_some(range(5000)))
    [range(0, 4096), range(4096, 5000)]
    """
    return (items[at : at + TOGETHER] for at in range(0, len(items), TOGETHER))


def _below(count: int, numbers: Sequence[int]) -> Sequence[int]:
    """The numbers of parts that a file of so many holds; after a save that failed, it lacks the
    latest.
    """
    return [number for number in numbers if number < count]


def _form(array: NDArray[Any], shape: Sequence[int | str], moving: bool = False) -> ArrayForm:
    """shape: of the array, the first entry by name if it grows; moving: whether maintenance may
    change all rows, so that blocks are large.
    """
    most, wide = (
        (LARGE, 2 * HALVED)
        if moving
        else (EDGES if shape and shape[0] == "edges" else BLOCK, HALVED)
    )
    return ArrayForm(array.dtype.str, json.dumps(shape), _rows_of_block(array, most, wide))


@contextmanager
def _without_collection() -> Iterator[None]:
    """No garbage is collected meanwhile: loading makes very many objects, and none of them is
    garbage.
    """
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _rows_of_block(array: NDArray[Any], most: int, wide: int) -> int:
    """Rows of an array in one block: fewer the wider they are, so that a row that changes costs
    little to save.
    """
    rows, cell = most, _bytes_of_row(array)
    while rows > LEAST and rows * cell > wide:
        rows //= 2
    return rows


def _bytes_of_row(array: NDArray[Any]) -> int:
    """Bytes of a row, or of an array without rows."""
    return array.itemsize * math.prod(array.shape[1:])


def _configuration(a: MemoryParts, consolidate_every: float) -> dict[str, Any]:
    """What file and memory must share; of a parameter that is a file its content, wherever the
    file is.
    """
    return {
        "mechanisms": {
            m.id: {
                name: getattr(value, "sha256", value) for name, value in asdict(m.params).items()
            }
            for m in a.mechanisms
        },
        "embedder": [a.embedder.name, a.embedder.revision, a.embedder.dimensions],
        "seed": a.seed,
        "consolidate_every": consolidate_every,
    }


def _same_configuration(saved: dict[str, Any], ours: dict[str, Any], where: str) -> None:
    ours = json.loads(json.dumps(ours))
    if different := [k for k in ours if saved.get(k) != ours[k]]:
        both = {*saved["mechanisms"], *ours["mechanisms"]}
        detail = sorted(k for k in both if saved["mechanisms"].get(k) != ours["mechanisms"].get(k))
        cure = "continue with the configuration it was written with, or give another path"
        if "embedder" in different:
            (name, revision, _), (own_name, own_revision, _) = saved["embedder"], ours["embedder"]
            cure += f"; its vectors are those of {name!r}, revision {revision}, not of {own_name!r}, revision {own_revision}"
        raise SnapshotError(
            f"was written with other {', '.join(different)}{f' ({detail})' if detail else ''}",
            where=where,
            cure=cure,
        )


def _computed(meta: Mapping[str, str], derived: frozenset[Column], where: str) -> frozenset[Column]:
    """The columns that an undamaged file leaves out.  Raises SnapshotError if one of them is not
    derived here.
    """
    names = left_out(meta)
    columns = frozenset(c for c in derived if c.name in names)
    if odd := sorted(names - {c.name for c in columns}):
        raise SnapshotError(
            f"was written by another version of Hebbarium or of a mechanism, which computed {', '.join(odd)} at loading",
            where=where,
            cure="open it with the version that wrote it, or start a new memory with another path",
        )
    return columns


def _same_columns(saved: Mapping[str, tuple[str, str]], store: Store, where: str) -> None:
    """Raises SnapshotError if the columns of an undamaged file differ from those of the store in
    name, type or shape of a cell.
    """
    ours = {
        f"graph.column:{c.name}" if c.scope is Scope.EDGE else f"column.{c.name}": c
        for c in store.columns
        if c.persists and c is not EMBEDDING
    }
    theirs = [name for name in saved if name.startswith(("column.", "graph.column:"))]
    gone, new, changed = (sorted({*theirs} - {*ours}), sorted({*ours} - {*theirs}), [])
    for name in {*ours} & {*theirs}:
        column, (dtype, shape) = ours[name], saved[name]
        form, cells, cell = (
            json.loads(shape),
            int(column.scope in (*PER_ROW, Scope.EDGE)),
            store.cell_shape(column),
        )
        if (dtype, len(form), tuple(form[cells:])) != (
            np.dtype(column.dtype).str,
            cells + len(cell),
            cell,
        ):
            changed.append(name)
    kinds = (
        ("only in the file", gone),
        ("not in the file", new),
        ("of another type or shape", sorted(changed)),
    )
    differ = [
        f"{kind}: {', '.join(n.removeprefix('graph.column:').removeprefix('column.') for n in names)}"
        for kind, names in kinds
        if names
    ]
    if differ:
        raise SnapshotError(
            f"was written by an older version of Hebbarium or of a mechanism; columns {'; '.join(differ)}",
            where=where,
            cure="open it with the version that wrote it, or start a new memory with another path",
        )
