"""The SQLite file of a cache: content-addressed values of models, shared by many processes."""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
import time
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from ..base.errors import HebbariumError
from ..base.forks import SQLITE
from ..base.marks import mark
from ..base.private import private_file, private_folder
from ..text.utf8 import encoded

SQL_KEYS = 500  # keys in one SELECT
BUSY_SECONDS = 60.0
CURE_CACHE = "delete the file if it is damaged (it is filled again as needed), or set HEBBARIUM_CACHE to a folder you can write to"
CURES = {
    sqlite3.SQLITE_FULL: "free disk space, or set HEBBARIUM_CACHE to a folder on another disk; what the file holds stays",
    sqlite3.SQLITE_IOERR: "the disk fails, or the connection to it: check it, or set HEBBARIUM_CACHE to a folder on another disk",
}
# the last column of each table of values
MARK = "mark"
ODD_BESIDE = """
    SELECT count(*) FROM (
        SELECT * FROM (SELECT rowid AS number, model AS its_model, {0} AS its_key FROM {1} WHERE (model, {0}) > (?1, ?2) ORDER BY model, {0} LIMIT 1)
        UNION ALL
        SELECT * FROM (SELECT rowid, model, {0} FROM {1} WHERE (model, {0}) < (?1, ?2) ORDER BY model DESC, {0} DESC LIMIT 1))
    LEFT JOIN {1} AS row ON row.rowid = number WHERE row.model IS NOT its_model OR row.{0} IS NOT its_key"""
TABLES = {
    "models": "id INTEGER PRIMARY KEY, name TEXT NOT NULL, revision TEXT NOT NULL, UNIQUE (name, revision)",
    "vectors": "model INTEGER NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, mark BLOB, PRIMARY KEY (model, text)",
    "tokens": "model INTEGER NOT NULL, text BLOB NOT NULL, pieces INTEGER NOT NULL, vectors BLOB NOT NULL, mark BLOB, PRIMARY KEY (model, text)",
    "scores": "model INTEGER NOT NULL, pair BLOB NOT NULL, score REAL NOT NULL, mark BLOB, PRIMARY KEY (model, pair)",
}
# of each table of values those but `model` and the mark, the key first
COLUMNS: Final = {
    "vectors": ("text", "vector"),
    "tokens": ("text", "pieces", "vectors"),
    "scores": ("pair", "score"),
}


NO_ROOM: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class DamagedCacheWarning(UserWarning):
    """Values of a cache were damaged, and are computed anew."""


class FullCacheWarning(UserWarning):
    """A cache takes no more values, as its disk is full or fails; they are used all the same."""


class Model(Protocol):
    """Equal (name, revision) must mean equal values."""

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...


class CacheFile:
    """The cached values of one model in a SQLite file; the file is made at first use.

    Many processes may use one file at once.  A stored value is never replaced: `store` keeps the
    value that another process has stored first. Each value has a mark over itself, its key and its
    model.  A value with another mark is removed, and DamagedCacheWarning says so; the caller
    computes it anew.

    path        None keeps everything in memory
    what        the cache in messages of errors
    connection  None while the file is closed

    Errors: HebbariumError when the file is damaged or cannot be opened.  Where an open file takes
    no more values, as its disk is full or fails, FullCacheWarning says so once.
    """

    def __init__(self, model: Model, path: Path | None, what: str) -> None:
        self.model, self.path, self.what = model, path, what
        self.connection: sqlite3.Connection | None = None
        self._process = self._number = 0
        self._told_full = False
        self._inherited: list[sqlite3.Connection] = []

    def stored(self, table: str, keys: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
        """(key, value, ...) of the keys that are stored undamaged, in any order; one SELECT for 500
        keys.
        """
        for start in range(0, len(keys), SQL_KEYS):
            some = keys[start : start + SQL_KEYS]
            with self._open() as connection:
                key, *values = COLUMNS[table]
                marks = ",".join("?" * len(some))
                rows = connection.execute(
                    f"SELECT {key}, {', '.join(values)}, {MARK} FROM {table} WHERE model = ? AND {key} IN ({marks})",
                    (self._number, *some),
                ).fetchall()
            sound = [row for row in rows if row[-1] == self._mark(table, row[:-1])]
            if len(sound) < len(rows):
                self._discard(table, [(row[0], row[-1]) for row in rows if row not in sound])
            if len(rows) < len(some):
                self._tell_damaged_keys(table, {*some} - {row[0] for row in rows})
            yield from (row[:-1] for row in sound)

    def store(self, table: str, rows: Iterable[tuple[Any, ...]]) -> bool:
        """Store rows (key, value, ...) in one transaction; a key that is stored already keeps
        its value.  False if the disk is full or fails: none is stored, and the caller goes on with
        the values that it has.
        """
        columns = (*COLUMNS[table], MARK)
        with self._open() as connection:
            try:
                with connection:
                    connection.executemany(
                        f"INSERT OR IGNORE INTO {table} (model, {', '.join(columns)}) VALUES (?{', ?' * len(columns)})",
                        [(self._number, *row, self._mark(table, row)) for row in rows],
                    )
            except sqlite3.OperationalError as error:
                if (code := error.sqlite_errorcode & 0xFF) not in NO_ROOM:
                    raise
                self._tell_full(error, code)
                return False
        return True

    def _tell_full(self, error: sqlite3.Error, code: int) -> None:
        if not self._told_full:
            self._told_full = True
            warnings.warn(
                f"{self.what} {self.path or 'in memory'} takes no more values: {error}; they are computed each time\n"
                f"  What to do: {CURES[code]}",
                FullCacheWarning,
                stacklevel=5,
            )

    def _discard(self, table: str, odd: Sequence[tuple[bytes, bytes]]) -> None:
        """Remove values that are damaged, given as key and mark, unless another process has
        replaced them, and warn.
        """
        with self._open() as connection, connection:
            connection.executemany(
                f"DELETE FROM {table} WHERE model = ? AND {COLUMNS[table][0]} = ? AND {MARK} IS ?",
                [(self._number, *key_and_mark) for key_and_mark in odd],
            )
        self._warn(f"{len(odd)} damaged values of {self.model.name} are computed anew")

    def _tell_damaged_keys(self, table: str, missed: Collection[bytes]) -> None:
        """Warn of keys that were missed next to a damaged one.  Cost: 40 us a key.

        Rows are looked up in an index that also holds their keys: a row whose key is damaged in the
        index still stands in the place of the right key.
        """
        with self._open() as connection:
            query = ODD_BESIDE.format(COLUMNS[table][0], table)
            damaged = sum(
                connection.execute(query, (self._number, key)).fetchone()[0] > 0 for key in missed
            )
        if damaged:
            self._warn(
                f"{damaged} values of {self.model.name} are computed anew, as keys next to theirs are damaged"
            )

    def _warn(self, what: str) -> None:
        warnings.warn(
            f"{self.what} {self.path or 'in memory'}: {what}", DamagedCacheWarning, stacklevel=4
        )

    def _mark(self, table: str, row: Sequence[Any]) -> bytes:
        """The mark of a row (key, value, ...)."""
        place = encoded(f"{table}\0{self.model.name}\0{self.model.revision}")
        return mark(
            place, 0, 0, *(cell if isinstance(cell, bytes) else repr(cell).encode() for cell in row)
        )

    def close(self) -> None:
        """Close the file; the next call opens it again.  With path=None all values are lost."""
        if self.connection is not None:
            with SQLITE:
                self.connection.close()
        self.connection = None

    def damaged(self, what: str, cure: str = CURE_CACHE) -> HebbariumError:
        return HebbariumError(
            f"{self.what} cannot be used: {what}", where=str(self.path or "memory"), cure=cure
        )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The open file; within it no other thread forks the process.  Raises errors of SQLite as
        HebbariumError with a cure.
        """
        try:
            with SQLITE:
                if self.connection is not None and self._process != os.getpid():
                    # a forked process may neither use nor close its connection
                    self._inherited.append(self.connection)
                    self.connection = None
                if self.connection is None:
                    try:
                        self.connection, self._number = _opened(self.path, self.model)
                    except (
                        TypeError,
                        ValueError,
                    ) as error:  # cells of another type than the file's tables have
                        raise self.damaged(str(error)) from error
                    self._process = os.getpid()
                yield self.connection
        except UnicodeDecodeError as error:  # names of a damaged table, in an error of SQLite
            raise self.damaged(str(error)) from error
        except (sqlite3.Error, OSError) as error:
            code = (
                sqlite3.SQLITE_FULL
                if getattr(error, "errno", 0) == errno.ENOSPC
                else getattr(error, "sqlite_errorcode", 0) & 0xFF
            )
            raise self.damaged(str(error), CURES.get(code, CURE_CACHE)) from error


def default_cache() -> Path:
    """The folder of caches: $HEBBARIUM_CACHE, or `hebbarium` in the user's cache folder of the
    platform; made for its user alone if need be.
    """
    home = Path.home()
    if chosen := os.environ.get("HEBBARIUM_CACHE"):
        folder = Path(chosen).expanduser()
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "hebbarium"
    elif sys.platform == "darwin":
        folder = home / "Library" / "Caches" / "hebbarium"
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "hebbarium"
    try:
        private_folder(folder)
    except OSError as error:
        raise HebbariumError(
            f"the cache folder cannot be made: {error}", where=str(folder), cure=CURE_CACHE
        ) from error
    return folder


def _opened(path: Path | None, model: Model) -> tuple[sqlite3.Connection, int]:
    """The connection, and the model's number in this file."""
    if path is not None:
        private_folder(path.parent)
    connection = sqlite3.connect(
        ":memory:" if path is None else private_file(path),
        timeout=BUSY_SECONDS,
        check_same_thread=False,
    )
    try:
        if path is not None:
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
        key = (model.name, model.revision)
        select = "SELECT id FROM models WHERE name = ? AND revision = ?"
        known = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        row = connection.execute(select, key).fetchone() if known >= TABLES.keys() else None
        if row is None:
            with connection:
                for name, columns in TABLES.items():
                    connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")
                connection.execute(
                    "INSERT OR IGNORE INTO models (name, revision) VALUES (?, ?)", key
                )
            row = connection.execute(select, key).fetchone()
        return connection, int(row[0])
    except BaseException:
        connection.close()
        raise


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Write-ahead logging, so that readers need not wait for a writer.  Changing the mode
    ignores SQLite's timeout, so that it is retried here.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
