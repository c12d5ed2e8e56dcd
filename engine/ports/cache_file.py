"""The SQLite file of a cache: content-addressed values of models, shared by many processes."""
from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from ..errors import HebbariumError

SQL_KEYS = 500             # keys in one SELECT
BUSY_SECONDS = 60.0
CURE_CACHE = "delete the file if it is damaged (it is filled again as needed), or set HEBBARIUM_CACHE to a folder you can write to"
TABLES = {
    "models": "id INTEGER PRIMARY KEY, name TEXT NOT NULL, revision TEXT NOT NULL, UNIQUE (name, revision)",
    "vectors": "model INTEGER NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text)",
    "tokens": "model INTEGER NOT NULL, text BLOB NOT NULL, pieces INTEGER NOT NULL, vectors BLOB NOT NULL, PRIMARY KEY (model, text)",
    "scores": "model INTEGER NOT NULL, pair BLOB NOT NULL, score REAL NOT NULL, PRIMARY KEY (model, pair)",
}


class Model(Protocol):
    """Equal (name, revision) must mean equal values."""

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...


class CacheFile:
    """The cached values of one model in a SQLite file; the file is made at first use.

    Many processes may use one file at once.  A stored value is never replaced: `store` keeps the value that another process has stored first.

    path        None keeps everything in memory
    what        the cache in messages of errors
    connection  None while the file is closed

    Errors: HebbariumError when the file is damaged or cannot be written.
    """

    def __init__(self, model: Model, path: Path | None, what: str) -> None:
        self.model, self.path, self.what = model, path, what
        self.connection: sqlite3.Connection | None = None
        self._process = self._number = 0
        self._inherited: list[sqlite3.Connection] = []

    def stored(self, table: str, keys: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
        """(key, value, ...) of those keys that are stored, in any order; one SELECT for 500 keys."""
        for start in range(0, len(keys), SQL_KEYS):
            some = keys[start:start + SQL_KEYS]
            with self._open() as connection:
                key, *values = _columns(table)
                marks = ",".join("?" * len(some))
                yield from connection.execute(f"SELECT {key}, {', '.join(values)} FROM {table} WHERE model = ? AND {key} IN ({marks})",
                                              (self._number, *some)).fetchall()

    def store(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Store rows (key, value, ...) in one transaction; a key that is stored already keeps its value."""
        columns = _columns(table)
        with self._open() as connection, connection:
            connection.executemany(f"INSERT OR IGNORE INTO {table} (model, {', '.join(columns)}) VALUES (?{', ?' * len(columns)})",
                                   [(self._number, *row) for row in rows])

    def close(self) -> None:
        """Close the file; the next call opens it again.  With path=None all values are lost."""
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def damaged(self, what: str) -> HebbariumError:
        return HebbariumError(f"{self.what} cannot be used: {what}", where=str(self.path or "memory"), cure=CURE_CACHE)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The open file.  Raises errors of SQLite as HebbariumError with a cure."""
        try:
            if self.connection is not None and self._process != os.getpid():
                self._inherited.append(self.connection)  # a forked process may neither use nor close its connection
                self.connection = None
            if self.connection is None:
                self.connection, self._number = _opened(self.path, self.model)
                self._process = os.getpid()
            yield self.connection
        except (sqlite3.Error, OSError) as error:
            raise self.damaged(str(error)) from error


def default_cache() -> Path:
    """The folder of caches: $HEBBARIUM_CACHE, or `hebbarium` in the user's cache folder of the platform; created if need be."""
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
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HebbariumError(f"the cache folder cannot be made: {error}", where=str(folder), cure=CURE_CACHE) from error
    return folder


def _columns(table: str) -> list[str]:
    """The columns of a table of values but `model`, the key first."""
    return [part.split()[0] for part in TABLES[table].split(", ")[1:] if not part.startswith(("PRIMARY", "text)", "pair)"))]


def _opened(path: Path | None, model: Model) -> tuple[sqlite3.Connection, int]:
    """The connection, and the model's number in this file."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(":memory:" if path is None else path, timeout=BUSY_SECONDS, check_same_thread=False)
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
                connection.execute("INSERT OR IGNORE INTO models (name, revision) VALUES (?, ?)", key)
            row = connection.execute(select, key).fetchone()
        return connection, int(row[0])
    except BaseException:
        connection.close()
        raise


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Write-ahead logging, so that readers need not wait for a writer.  Changing the mode ignores SQLite's timeout, so that it is retried here."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
