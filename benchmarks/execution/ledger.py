"""The ledger of a run: the finished cells and their outcomes.

A cell is content-addressed: its key is the hash of everything that decides its outcome (`RunSpec`),
so a run that was stopped continues with the cells that are not finished, and a changed parameter is
a different cell.  A digest covers key, payload and what was stored with it, so that cells that have
changed places are refused.  One SQLite file in WAL mode.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...engine.base.errors import DataError, HebbariumError, InputError
from ...engine.base.forks import SQLITE
from ...engine.base.private import private_file

# "Hebb", in the header of the file: distinguishes a ledger from other SQLite files
_APPLICATION = 0x48656262
_VERSION = 2  # the only one
_TABLE = """CREATE TABLE cells (
    key TEXT PRIMARY KEY, payload NOT NULL, digest BLOB NOT NULL, meta TEXT NOT NULL, finished TEXT NOT NULL DEFAULT (datetime('now'))
) WITHOUT ROWID"""
_BUSY_SECONDS = 60.0
_TOGETHER = 64  # cells that are read at a time
_CURES = {
    sqlite3.SQLITE_CANTOPEN: "check that its folder exists and can be written to",
    sqlite3.SQLITE_FULL: "free disk space; finished cells are safe",
    sqlite3.SQLITE_IOERR: "check that the disk works and has free space; finished cells are safe",
    sqlite3.SQLITE_BUSY: "another process holds the file; end it or wait",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable",
}


@dataclass(frozen=True, slots=True)
class FinishedCell:
    """A finished cell: its payload, and what the writer stored with it (arm, conversation ...)."""

    key: str
    payload: bytes | str
    meta: Mapping[str, Any]


class Ledger:
    """Finished cells in one file.

    Safe with many writers: processes, threads, forks and pickling alike, because every call opens
    its own connection (well under a millisecond, against seconds for a cell).  `put` returns when
    the cell is on disk; if a process is killed, each cell is complete or absent.  WAL needs one
    machine: on a cluster the coordinator must `put` what the workers return.
    """

    def __init__(self, path: Path) -> None:
        """Open or create; raises DataError if the file is damaged or not a ledger.  The folder
        must exist.
        """
        self.path = Path(path)
        with self._connection("rwc") as connection:
            if connection.execute("PRAGMA journal_mode").fetchone()[
                0
            ] != "wal" and not self._foreign(connection):
                _switch_to_wal(connection)
            connection.execute("BEGIN IMMEDIATE")  # one process creates the table; others wait here
            if self._foreign(connection):
                raise DataError(
                    "this is another program's database, not a ledger",
                    where=str(self.path),
                    cure="choose another file for the ledger",
                )
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if version not in (0, _VERSION):
                raise DataError(
                    f"the ledger has format {version}; this release reads format {_VERSION} alone",
                    where=str(self.path),
                    cure="use the release that wrote it, or start a new ledger",
                )
            if version == 0:
                connection.execute(_TABLE)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            connection.execute("COMMIT")

    @staticmethod
    def key(parts: Mapping[str, Any]) -> str:
        """SHA-256 (hex) of the canonical JSON of `parts`: sorted keys, no spaces, shortest
        round-trip floats.

        1 and 1.0 differ, lists and tuples do not.  Raises InputError for what JSON cannot hold
        faithfully (NaN, sets, arrays, keys that are not text), because two different cells must
        never share a key.

        >>> Ledger.key({"seed": 1, "set": "cortex"}) == Ledger.key({"set": "cortex", "seed": 1})
        True
        """
        return hashlib.sha256(_canonical(parts).encode("ascii")).hexdigest()

    def done(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys whose cells are finished; one query, O(keys log cells)."""
        with self._connection() as connection:
            rows = connection.execute(
                "SELECT key FROM cells WHERE key IN (SELECT value FROM json_each(?))",
                (json.dumps(list(keys)),),
            )
            return {str(key) for (key,) in rows}

    def put(self, key: str, payload: bytes | str, meta: Mapping[str, Any] | None = None) -> bool:
        """Record a finished cell; False, without a change, if the key is already recorded."""
        try:
            written = _canonical(dict(meta or {}))
            row = (key, payload, _digest(key, payload, written), written)
        except UnicodeEncodeError as error:
            raise InputError(
                "the payload holds half a surrogate pair and cannot be stored as text",
                where=key,
                cure="put bytes instead",
            ) from error
        with self._connection() as connection:
            return (
                connection.execute(
                    "INSERT OR IGNORE INTO cells (key, payload, digest, meta) VALUES (?, ?, ?, ?)",
                    row,
                ).rowcount
                == 1
            )

    def get(self, key: str) -> FinishedCell | None:
        """The finished cell, or None; raises DataError if anything of it was altered."""
        return next(self.cells([key]), None)

    def cells(self, keys: Iterable[str] | None = None) -> Iterator[FinishedCell]:
        """Finished cells, ordered by key: those of `keys`, or all; read some at a time."""
        with self._connection() as connection:
            there = [key for (key,) in connection.execute("SELECT key FROM cells ORDER BY key")]
        wanted = there if keys is None else sorted({*there} & {*keys})
        for first in range(0, len(wanted), _TOGETHER):
            with self._connection() as connection:
                rows = connection.execute(
                    "SELECT key, payload, digest, meta FROM cells WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key",
                    (json.dumps(wanted[first : first + _TOGETHER]),),
                ).fetchall()
            for key, payload, digest, meta in rows:
                if _digest(key, payload, meta) != digest:
                    raise DataError(
                        f"cell {key} was altered after it was written, or has the place of another",
                        where=str(self.path),
                        cure=self._cure,
                    )
                yield FinishedCell(key, payload, json.loads(meta))

    def __len__(self) -> int:
        with self._connection() as connection:
            return int(connection.execute("SELECT count(*) FROM cells").fetchone()[0])

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the ledger for one run, so that two runs never compute the same cell; raises
        HebbariumError if another run has the lock.

        The coordinating process takes the lock, not its workers.  The operating system releases it
        when that process ends, also by a kill.
        """
        lock = self.path.with_name(self.path.name + ".lock")
        with SQLITE:
            connection = sqlite3.connect(private_file(lock), timeout=0.0, isolation_level=None)
        try:
            with SQLITE:
                connection.execute("BEGIN EXCLUSIVE")
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                raise self._unusable(error) from error
            raise HebbariumError(
                "another run is using this ledger",
                where=str(self.path),
                cure="wait until it ends, or choose another folder for this run",
            ) from error
        finally:
            with SQLITE:
                connection.close()

    @property
    def _cure(self) -> str:
        return (
            f"move the file away (with its -wal and -shm companions) and start the same command again, which runs its cells again; "
            f"or recover the readable cells: sqlite3 '{self.path.name}' .recover | sqlite3 salvaged.sqlite"
        )

    @staticmethod
    def _foreign(connection: sqlite3.Connection) -> bool:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        return application != _APPLICATION and bool(
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] or application
        )

    @contextmanager
    def _connection(self, mode: str = "rw") -> Iterator[sqlite3.Connection]:
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        try:
            if mode == "rwc":
                private_file(self.path)
            with (
                SQLITE,
                closing(
                    sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
                ) as connection,
            ):
                # finished cells survive a power failure
                connection.execute("PRAGMA synchronous = FULL")
                yield connection
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise DataError(
                    f"the ledger is damaged ({error})", where=str(self.path), cure=self._cure
                ) from error
            raise self._unusable(error) from error

    def _unusable(self, error: sqlite3.Error) -> HebbariumError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return HebbariumError(
            f"the ledger cannot be used ({error})",
            where=str(self.path),
            cure=_CURES.get(code, self._cure),
        )


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """If two processes switch a new file at once, one can get a busy error without waiting; the
    other one has then switched it.
    """
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise


def _digest(key: str, payload: bytes | str, meta: str) -> bytes:
    """SHA-256 of all that a cell holds, each part after its length."""
    kind, held = (b"t", payload.encode()) if isinstance(payload, str) else (b"b", payload)
    parts = (kind, key.encode(), held, meta.encode())
    return hashlib.sha256(b"".join(len(p).to_bytes(8, "little") + p for p in parts)).digest()


def _canonical(value: Any) -> str:
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    """The value, if JSON holds it without loss; tuples become lists."""
    if (
        value is None
        or isinstance(value, (bool, int, str))
        or (isinstance(value, float) and math.isfinite(value))
    ):
        return value
    if isinstance(value, Mapping):
        if odd := [key for key in value if not isinstance(key, str)]:
            raise InputError(
                f"the key {odd[0]!r} is not text", cure="name every part of a cell by a string"
            )
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    raise InputError(
        f"{value!r} ({type(value).__name__}) cannot be hashed faithfully",
        cure="describe a cell by text, finite numbers, true/false, null, lists and mappings; call .tolist() on arrays and numpy scalars",
    )
