"""The log of calls: what has changed a memory since its last save, in the file of its snapshot, so
that nothing a call has returned from is lost.

One row holds one run of bytes, which the save before has made long enough: a call overwrites bytes
of it, and no page is added, moved or linked. What a power cut leaves half-written is therefore the
log, never the file around it.

A call is written before it changes the memory, when a full disk is still an error that changes
nothing, and counts once the change is done: a change that raises, or that the death of the process
cuts off, leaves none.  Each call has a mark over its contents, its number, the save that it
follows, and the mark of the call before.  The head of the log has the number of calls, the mark of
the last one, and a mark of its own, so that a log that is cut or of another save is noticed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from ..base.errors import InputError
from ..base.marks import SIZE, mark, verify
from ..contract.records import Event, Only, Query
from ..text.utf8 import decoded, encoded
from .file import SnapshotFile, Sync

TABLE = "CREATE TABLE calls (number INTEGER PRIMARY KEY, data BLOB NOT NULL)"
FIRST = 1 << 15  # bytes of a new log
KEPT = 1 << 20  # bytes of the longest log that the next save leaves as long as it is
LARGE = 1 << 22  # bytes of calls after which the next call saves first
# calls after which the next one saves first: so many are made again at opening, at most
MOST = 256
HEAD, ENTRY = Struct(f"<3Q{SIZE}s{SIZE}s"), Struct(f"<Q{SIZE}s")
NO_MARK = bytes(SIZE)
RECORDS: dict[str, type[Any]] = {record.__name__: record for record in (Event, Query, Only)}
RECORD = "record"  # key of the name of a record; no record has a field of this name
Call = tuple[str, tuple[Any, ...]]  # what the memory does, and the values that it does it with


class Reached(NamedTuple):
    """Where a log ends.

    generation  number of the save that it follows
    calls       how many it holds
    end         bytes that they and the head take
    mark        of the last call
    size        bytes that there is room for
    """

    generation: int
    calls: int
    end: int
    mark: bytes
    size: int


class LoggedCalls(NamedTuple):
    """What a file holds: the calls up to the first damaged one, how many follow from there, and
    where the log ends.
    """

    calls: Sequence[Call]
    lost: int
    reached: Reached


class CallLog:
    """The log of one file.

    file     that holds it
    sync     of a call that counts, see `SnapshotFile.transaction`
    reached  as of the last call that counts; None: the file has no log
    """

    def __init__(self, file: SnapshotFile, sync: Sync) -> None:
        self._file, self._sync = file, sync
        self.reached: Reached | None = None

    @property
    def full(self) -> bool:
        """Whether it is time for a save, which begins the log anew."""
        return self.reached is not None and (
            self.reached.calls >= MOST or self.reached.end >= LARGE
        )

    def begin(self, to: sqlite3.Connection, generation: int, anew: bool) -> Reached:
        """Begin the log that follows a save, in its transaction.  Returns what `reached` will be
        when the transaction has ended.

        anew  overwrite what the file held of earlier calls
        """
        sizes = [size for (size,) in to.execute("SELECT length(data) FROM calls")]
        if anew or len(sizes) != 1 or sizes[0] > KEPT:
            self.remove(to)
            to.execute("INSERT INTO calls VALUES (1, zeroblob(?))", (FIRST,))
            sizes = [FIRST]
        reached = Reached(generation, 0, HEAD.size, NO_MARK, sizes[0])
        _put(self._file, 0, _head(reached))
        return reached

    @staticmethod
    def remove(to: sqlite3.Connection) -> None:
        """Remove the log, in the transaction of the last save."""
        to.execute("DELETE FROM calls")

    def write(self, call: Call) -> Reached:
        """Write a call, which does not count yet; `conclude` with the result makes it count.
        Raises errors of SQLite, and InputError.

        Cost: 20 us, and a few microseconds per 1,000 characters.
        """
        if self.reached is None:
            raise ValueError("it has no log of calls")
        data = written(call)
        size = ENTRY.size + len(data)
        if self.reached.end + size > self.reached.size:
            self._enlarge(self.reached, self.reached.end + size)
        reached = self.reached
        own = _mark(reached, data)
        with self._file.transaction("OFF"):
            _put(self._file, reached.end, ENTRY.pack(len(data), own) + data)
        return reached._replace(calls=reached.calls + 1, end=reached.end + size, mark=own)

    def conclude(self, reached: Reached) -> None:
        """Let the call that was written last count.  Raises errors of SQLite.  Cost: 15 us; that of
        the disk if the log is synced.
        """
        with self._file.transaction(self._sync):
            _put(self._file, 0, _head(reached))
        self.reached = reached

    def _enlarge(self, reached: Reached, least: int) -> None:
        """Make room for at least so many bytes, twice as many as before or more."""
        size = max(2 * reached.size, -(-least // FIRST) * FIRST)
        with self._file.transaction() as to:
            (data,) = to.execute("SELECT data FROM calls").fetchone()
            to.execute("UPDATE calls SET data = ?", (data + bytes(size - len(data)),))
        self.reached = reached._replace(size=size)


def read_log(file: SnapshotFile, generation: int) -> LoggedCalls:
    """The log of a file that follows a save.  Raises ValueError for a log that is missing, of
    another save, or without a sound head.
    """
    rows = file.execute("SELECT number, data FROM calls").fetchall()
    if [number for number, _ in rows] != [1] or len(rows[0][1]) < HEAD.size:
        raise ValueError("the log of calls is missing")
    data = rows[0][1]
    of, count, end, last, own = HEAD.unpack_from(data)
    due = Reached(of, count, end, last, len(data))
    verify(own, _head(due)[-SIZE:])
    if of != generation or not HEAD.size <= end <= len(data):
        raise ValueError("the log of calls is of another save")
    calls, reached = list[Call](), Reached(of, 0, HEAD.size, NO_MARK, len(data))
    while reached.calls < count:
        at = reached.end + ENTRY.size
        length, mark = ENTRY.unpack_from(data, reached.end) if at <= end else (0, b"")
        if at + length > end or mark != (own := _mark(reached, data[at : at + length])):
            break
        calls.append(_read(data[at : at + length]))
        reached = reached._replace(calls=reached.calls + 1, end=at + length, mark=own)
    if reached.calls == count and reached != due:
        raise ValueError("the log of calls has another end")
    return LoggedCalls(calls, count - reached.calls, reached)


def _mark(before: Reached, data: bytes) -> bytes:
    """The mark of the call after `before`."""
    return mark(b"calls", before.calls, before.generation, before.mark, data)


def _head(reached: Reached) -> bytes:
    plain = HEAD.pack(*reached[:4], NO_MARK)[:-SIZE]
    return plain + mark(b"calls head", reached.calls, reached.generation, plain)


def _put(file: SnapshotFile, at: int, data: bytes) -> None:
    """Overwrite bytes of the log, in a transaction."""
    file.overwrite("calls", "data", 1, at, data)


# --- calls as bytes -------------------------------------------------------------------------------
def written(call: Call) -> bytes:
    """A call as JSON.  Values: None, truth values, numbers, texts, arrays, records of RECORDS, and
    tuples of them.  Raises InputError for others.

    >>> written(("use", (Query("Who?"), (3, 1), 0.5)))
    b'["use", {"record": "Query", "text": "Who?"}, [3, 1], 0.5]'
    """
    return encoded(json.dumps([call[0], *map(_plain, call[1])], ensure_ascii=False))


def _read(data: bytes) -> Call:
    """The call that `written` gave; arrays and lists come back as tuples."""
    name, *values = json.loads(decoded(data))
    return str(name), tuple(map(_value, values))


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if is_dataclass(value) and type(value).__name__ in RECORDS:
        kept = [(f, getattr(value, f.name)) for f in fields(value)]
        return {
            RECORD: type(value).__name__,
            **{
                f.name: _plain(held)
                for f, held in kept
                if f.default is MISSING or held != f.default
            },
        }
    raise InputError(
        f"{type(value).__name__} is no plain value, which the log of calls could keep",
        where="log of calls",
        cure="give texts, numbers and the records of hebbarium, or make the memory with durable=False",
    )


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return tuple(map(_value, plain))
    if isinstance(plain, dict):
        return RECORDS[plain[RECORD]](
            **{name: _value(held) for name, held in plain.items() if name != RECORD}
        )
    return plain
