"""A cache of embeddings in a file: each text is embedded once."""
from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np

from ..errors import HebbariumError
from .embedder import Embedder, Progress, Vectors, checked_texts, text_bytes

CHUNK = 256                # texts embedded and stored in one transaction; an interrupted run loses at most one chunk
MEMO = 16_384              # vectors kept in the process (24 MB at d = 384)
SQL_KEYS = 500             # keys in one SELECT
BUSY_SECONDS = 60.0
CURE_CACHE = "delete the file if it is damaged (it is filled again as needed), or set HEBBARIUM_CACHE to a folder you can write to"
SCHEMA = """
CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, name TEXT NOT NULL, revision TEXT NOT NULL, UNIQUE (name, revision));
CREATE TABLE IF NOT EXISTS vectors (model INTEGER NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text));
"""


class CachedEmbedder:
    """An embedder whose vectors are kept in a content-addressed SQLite file, so that each text is embedded once.

    The key is (name, revision, SHA-256 of the text); many processes may use one file at once.  Every caller gets the vector that was stored
    first, also a process that has computed the same text a second time: the last bits of a vector may depend on the batch in which the text
    was computed, and results must depend on the text and the file alone.  A hit loads neither torch nor the model.

    path       the SQLite file, made at first use; None keeps everything in memory
    progress   called as progress(done, total) after each stored chunk of misses
    hits       texts answered without the embedder
    misses     distinct texts that were embedded

    Errors: HebbariumError when the file is damaged or cannot be written, or when the embedder returns something else than unit vectors.
    """

    def __init__(self, embedder: Embedder, path: Path | None, *, progress: Progress | None = None) -> None:
        self.embedder, self.path, self.progress = embedder, path, progress
        self.hits = self.misses = 0
        self._memo: dict[bytes, Vectors] = {}
        self._lock = threading.RLock()
        self._opened: tuple[int, sqlite3.Connection, int] | None = None  # process, connection, model's number in this file
        self._inherited: list[sqlite3.Connection] = []

    def __reduce__(self) -> tuple[object, ...]:
        return CachedEmbedder, (self.embedder, self.path)

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def revision(self) -> str:
        return self.embedder.revision

    @property
    def dimensions(self) -> int:
        return self.embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, d) unit vectors, a fresh array.  Cost per text: 1 us from the memo (5 us alone), 5 us from the file, else the embedder's and 15 us."""
        checked_texts(texts)
        keys = [hashlib.sha256(text_bytes(text)).digest() for text in texts]
        with self._lock:
            found = {key: self._memo[key] for key in keys if key in self._memo}
            wanted = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
            if wanted:
                found |= self._stored(list(wanted))
                missing = sorted(((key, text) for key, text in wanted.items() if key not in found), key=lambda item: len(item[1]))
                for start in range(0, len(missing), CHUNK):
                    found |= self._computed(dict(missing[start:start + CHUNK]))
                    if self.progress is not None:
                        self.progress(min(start + CHUNK, len(missing)), len(missing))
                self._remember({key: found[key] for key in wanted})
                self.misses += len(missing)
                self.hits -= len(missing)
            self.hits += len(keys)
        out = np.empty((len(keys), self.dimensions), np.float32)
        for row, key in zip(out, keys, strict=True):
            row[:] = found[key]
        return out

    def close(self) -> None:
        """Close the file; the next miss of the memo opens it again.  With path=None all vectors are lost."""
        with self._lock:
            if self._opened is not None:
                self._opened[1].close()
            self._opened = None
            self._memo.clear()

    def _computed(self, texts: dict[bytes, str]) -> dict[bytes, Vectors]:
        vectors = np.ascontiguousarray(self.embedder.embed(list(texts.values())), np.float32)
        unit = vectors.shape == (len(texts), self.dimensions) and bool(np.all(np.abs(np.sum(vectors * vectors, 1) - 1.0) < 1e-3))
        if not unit:
            raise HebbariumError(f"the embedder gave no {len(texts)} unit vectors of {self.dimensions} dimensions", where=self.name,
                                 cure="choose another embedding model; this one may be damaged")
        with self._sql() as (connection, model), connection:
            connection.executemany("INSERT OR IGNORE INTO vectors (model, text, vector) VALUES (?, ?, ?)",
                                   [(model, key, row.tobytes()) for key, row in zip(texts, vectors, strict=True)])
        return self._stored(list(texts))  # as the file holds them, from this process or another

    def _stored(self, keys: list[bytes]) -> dict[bytes, Vectors]:
        found: dict[bytes, Vectors] = {}
        with self._sql() as (connection, model):
            for start in range(0, len(keys), SQL_KEYS):
                some = keys[start:start + SQL_KEYS]
                marks = ",".join("?" * len(some))
                for key, blob in connection.execute(f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})", (model, *some)):
                    if len(blob) != 4 * self.dimensions:
                        raise sqlite3.DatabaseError(f"a stored vector has {len(blob)} bytes instead of {4 * self.dimensions}")
                    found[key] = np.frombuffer(blob, np.float32)
        return found

    def _remember(self, vectors: dict[bytes, Vectors]) -> None:
        self._memo |= vectors
        for key in list(islice(self._memo, max(len(self._memo) - MEMO, 0))):  # the oldest
            del self._memo[key]

    @contextmanager
    def _sql(self) -> Iterator[tuple[sqlite3.Connection, int]]:
        """The open file and the model's number in it.  Raises errors of SQLite as HebbariumError with a cure."""
        try:
            if self._opened is not None and self._opened[0] != os.getpid():
                self._inherited.append(self._opened[1])  # a forked process may neither use nor close its connection
                self._opened = None
            if self._opened is None:
                self._opened = os.getpid(), *_open(self.path, self.name, self.revision)
            yield self._opened[1:]
        except (sqlite3.Error, OSError) as error:
            raise HebbariumError(f"the embedding cache cannot be used: {error}", where=str(self.path or "memory"), cure=CURE_CACHE) from error


class MeteredEmbedder:
    """An embedder whose calls are counted and timed; each memory has one, so that embedding can be told from the work of its mechanisms.

    texts    given to `embed`
    hits     of these, answered without the model; 0 for an embedder without a cache
    seconds  s, wall time in `embed`
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.texts = self.hits = 0
        self.seconds = 0.0

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def revision(self) -> str:
        return self.embedder.revision

    @property
    def dimensions(self) -> int:
        return self.embedder.dimensions

    @property
    def keeps(self) -> bool:
        """Whether a text that was embedded once is answered from a cache."""
        return isinstance(self.embedder, CachedEmbedder)

    @property
    def counts(self) -> dict[str, float]:
        return {"texts": self.texts, "hits": self.hits, "seconds": round(self.seconds, 3)}

    def embed(self, texts: Sequence[str]) -> Vectors:
        hits, start = self._hits, time.perf_counter()
        try:
            return self.embedder.embed(texts)
        finally:
            self.seconds += time.perf_counter() - start
            self.texts += len(texts)
            self.hits += self._hits - hits

    @property
    def _hits(self) -> int:
        return self.embedder.hits if isinstance(self.embedder, CachedEmbedder) else 0


def metered(embedder: Embedder) -> MeteredEmbedder:
    """The embedder, counted and timed; one that is metered already is returned as it is."""
    return embedder if isinstance(embedder, MeteredEmbedder) else MeteredEmbedder(embedder)


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


def _open(path: Path | None, name: str, revision: str) -> tuple[sqlite3.Connection, int]:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(":memory:" if path is None else path, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        if path is not None:
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
        key = (name, revision)
        select = "SELECT id FROM models WHERE name = ? AND revision = ?"
        ready = connection.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('models', 'vectors')").fetchone()[0] == 2
        row = connection.execute(select, key).fetchone() if ready else None
        if row is None:
            connection.executescript(SCHEMA)
            with connection:
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
