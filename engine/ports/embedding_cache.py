"""A cache of embeddings, in a file or in the process: each text is embedded once."""

from __future__ import annotations

import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from ..base.errors import HebbariumError, InputError
from ..base.forks import ForkLock
from ..text.utf8 import encoded
from .cache_file import CacheFile, default_cache
from .embedder import Embedder, Progress, Vectors, WrappedEmbedder, checked_texts, tokens_of
from .tokens import Tokens, joined, packed, unpacked, valid

__all__ = ["CachedEmbedder", "MeteredEmbedder", "default_cache", "metered"]

Value = TypeVar("Value")

UNIT = 1e-3  # largest difference of a squared length from 1
# texts embedded and kept at once; an interrupted run loses at most one chunk
CHUNK = 256
# beside a file, what is kept in the process:
MEMO = 16_384  # vectors (24 MB at d = 384)
TOKEN_MEMO = 128_000_000  # bytes of token vectors


class CachedEmbedder(WrappedEmbedder):
    """An embedder whose vectors are kept in a content-addressed SQLite file, or without a file in
    the process, so that each text is embedded once.

    The key is (name, revision, SHA-256 of the text); many processes may use one file at once.
    Every caller gets the vector that was stored first, also a process that has computed the same
    text a second time: the last bits of a vector may depend on the batch in which the text was
    computed, and results must depend on the text and the file alone.  A hit loads neither torch nor
    the model. A vector that is damaged is computed anew, and DamagedCacheWarning says so.

    path       the SQLite file, made at first use; None: no file, and all vectors stay in memory
    progress   called as progress(done, total) before the first and after each stored chunk of
               misses
    hits       texts answered without the embedder, vectors and token vectors counted alike
    misses     distinct texts that were embedded

    Errors: HebbariumError when the file is damaged or cannot be opened, or when the embedder
    returns something else than unit vectors.  If the disk of the file is full or fails, vectors are
    used without being stored, and FullCacheWarning says so once.
    """

    def __init__(
        self, embedder: Embedder, path: Path | None, *, progress: Progress | None = None
    ) -> None:
        super().__init__(embedder)
        self.path, self.progress = path, progress
        self.hits = self.misses = 0
        self._lock = ForkLock("this embedder")
        self._file = None if path is None else CacheFile(embedder, path, "the embedding cache")
        self._vectors = _Cached(
            self._file,
            "vectors",
            self._embed,
            lambda row: (row.tobytes(),),
            self._vector,
            lambda row: 1,
            MEMO,
        )
        self._tokens = _Cached(
            self._file,
            "tokens",
            self._embed_tokens,
            packed,
            unpacked,
            lambda tokens: tokens.nbytes,
            TOKEN_MEMO,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return CachedEmbedder, (self.embedder, self.path)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, d) unit vectors, a fresh array.  Cost per text: 1 us from the memo (5 us alone), 5
        us from the file, else the embedder's and 60 us.
        """
        vectors = self._of(self._vectors, texts)
        out = np.empty((len(vectors), self.dimensions), np.float32)
        for row, vector in zip(out, vectors, strict=True):
            row[:] = vector
        return out

    def embed_tokens(self, texts: Sequence[str]) -> Tokens:
        """Unit vectors of the word pieces of n texts.  Cost for a text of 40 pieces: 5 us from the
        memo, 30 us from the file.

        Raises InputError, which names the embedder, if it has none.
        """
        return joined(self._of(self._tokens, texts), self.dimensions)

    def close(self) -> None:
        """Close the file; the next miss of the memo opens it again.  With path=None all vectors
        are lost.
        """
        with self._lock.lock:
            if self._file is not None:
                self._file.close()
            self._vectors.forget()
            self._tokens.forget()

    def _of(self, cached: _Cached[Value], texts: Sequence[str]) -> list[Value]:
        checked_texts(texts)
        with self._lock.lock:
            values, misses = cached.of(texts, self.progress)
            self.misses += misses
            self.hits += len(texts) - misses
        return values

    def _embed(self, texts: list[str]) -> list[Vectors]:
        vectors = np.array(self.embedder.embed(texts), np.float32)  # the embedder may reuse its own
        unit = vectors.shape == (len(texts), self.dimensions) and bool(
            np.all(np.abs(np.sum(vectors * vectors, 1) - 1.0) < UNIT)
        )
        if not unit:
            raise self._no_unit_vectors(
                f"{len(texts)} unit vectors of {self.dimensions} dimensions"
            )
        return list(vectors)

    def _vector(self, blob: bytes) -> Vectors:
        if len(blob) != 4 * self.dimensions:
            raise ValueError(
                f"a stored vector has {len(blob)} bytes instead of {4 * self.dimensions}"
            )
        vector = np.frombuffer(blob, np.float32)
        if not abs(float(vector @ vector) - 1.0) < UNIT:
            raise ValueError("a stored vector is no unit vector")
        return vector

    def _embed_tokens(self, texts: list[str]) -> list[Tokens]:
        tokens = tokens_of(self.embedder, texts)
        if not valid(tokens, len(texts)):
            raise self._no_unit_vectors(f"unit vectors of the word pieces of {len(texts)} texts")
        return [unpacked(*packed(of_text)) for of_text in tokens.by_text()]

    def _no_unit_vectors(self, what: str) -> HebbariumError:
        return HebbariumError(
            f"the embedder gave no {what}",
            where=self.name,
            cure="choose another embedding model; this one may be damaged",
        )


class _Cached(Generic[Value]):
    """Values of texts by the SHA-256 of the text: in the process, else in the file, else computed
    and stored.

    file       None: there is none, and the process keeps all values
    compute    values of texts, in order, as `unpack` makes them
    pack       the cells of a value in the table, `unpack` its inverse, which may raise ValueError
    size, most  beside a file: how much a value counts in the process, and how much is kept there;
                the oldest are dropped first
    """

    def __init__(
        self,
        file: CacheFile | None,
        table: str,
        compute: Callable[[list[str]], list[Value]],
        pack: Callable[[Value], tuple[object, ...]],
        unpack: Callable[..., Value],
        size: Callable[[Value], int],
        most: int,
    ) -> None:
        self.file, self.table, self.compute, self.pack, self.unpack = (
            file,
            table,
            compute,
            pack,
            unpack,
        )
        self.size, self.most = size, math.inf if file is None else most
        self.memo: OrderedDict[bytes, Value] = OrderedDict()  # the oldest first
        self.held = 0

    def of(self, texts: Sequence[str], progress: Progress | None) -> tuple[list[Value], int]:
        """The value of each text, and the number of texts that were computed."""
        keys = [hashlib.sha256(encoded(text)).digest() for text in texts]
        values = {key: self.memo[key] for key in keys if key in self.memo}
        wanted = {key: text for key, text in zip(keys, texts, strict=True) if key not in values}
        missing: list[tuple[bytes, str]] = []
        if wanted:
            values |= self._remember({} if self.file is None else self.stored(list(wanted)))
            missing = sorted(
                ((key, text) for key, text in wanted.items() if key not in values),
                key=lambda item: len(item[1]),
            )
            if missing and progress is not None:
                # the first chunk may wait until a model is loaded or converted
                progress(0, len(missing))
            for start in range(0, len(missing), CHUNK):
                chunk = dict(missing[start : start + CHUNK])
                values |= self._remember(self._computed(chunk))
                if progress is not None:
                    progress(min(start + CHUNK, len(missing)), len(missing))
        return [values[key] for key in keys], len(missing)

    def stored(self, keys: Sequence[bytes]) -> dict[bytes, Value]:
        """Values of the keys that the file holds undamaged.  Raises HebbariumError if a value with
        a right mark is no value of this embedder.
        """
        assert self.file is not None
        try:
            return {key: self.unpack(*cells) for key, *cells in self.file.stored(self.table, keys)}
        except ValueError as error:
            raise self.file.damaged(str(error)) from error

    def forget(self) -> None:
        self.memo.clear()
        self.held = 0

    def _computed(self, texts: dict[bytes, str]) -> dict[bytes, Value]:
        """Values of texts by key, as the file holds them, or would hold them."""
        values = dict(zip(texts, self.compute(list(texts.values())), strict=True))
        if self.file is None or not self.file.store(
            self.table, [(key, *self.pack(value)) for key, value in values.items()]
        ):
            return values
        stored = self.stored(list(texts))  # as the file holds them, from this process or another
        if len(stored) < len(texts):
            raise self.file.damaged("values that were just stored cannot be read")
        return stored

    def _remember(self, values: dict[bytes, Value]) -> dict[bytes, Value]:
        """Keep values in the process; returns them."""
        self.memo |= values
        self.held += sum(map(self.size, values.values()))
        while self.memo and self.held > self.most:
            self.held -= self.size(self.memo.popitem(last=False)[1])
        return values


class MeteredEmbedder(WrappedEmbedder):
    """An embedder whose calls are counted and timed; each memory has one, so that embedding can be
    told from the work of its mechanisms.

    Calls of several threads run one at a time.

    keeps    whether a text that was embedded once is answered from a cache
    texts    given to `embed` and `embed_tokens`
    hits     of these, answered without the model; 0 for an embedder without a cache
    seconds  s, wall time in both
    """

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.keeps = isinstance(embedder, CachedEmbedder)  # which checks its vectors
        self.texts = self.hits = 0
        self.seconds = 0.0
        self._turn = ForkLock("this embedder")

    @property
    def counts(self) -> dict[str, float]:
        return {"texts": self.texts, "hits": self.hits, "seconds": round(self.seconds, 3)}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, d) unit vectors.  Raises InputError if the embedder gives others."""
        vectors = self._metered(self.embedder.embed, texts)
        return vectors if self.keeps else self._checked(vectors, texts)

    def embed_tokens(self, texts: Sequence[str]) -> Tokens:
        """Raises InputError, which names the embedder, if it has no token vectors."""
        return self._metered(partial(tokens_of, self.embedder), texts)

    def _metered(self, embed: Callable[[Sequence[str]], Value], texts: Sequence[str]) -> Value:
        cache = self.embedder if isinstance(self.embedder, CachedEmbedder) else None
        with self._turn.lock:
            hits, start = cache.hits if cache else 0, time.perf_counter()
            try:
                return embed(texts)
            finally:
                self.seconds += time.perf_counter() - start
                self.texts += len(texts)
                self.hits += cache.hits - hits if cache else 0

    def _checked(self, given: Any, texts: Sequence[str]) -> Vectors:
        """A copy of the vectors.  Raises InputError for one that is no unit vector."""
        for text, row in zip(texts, given, strict=True):
            vector = np.asarray(row, np.float32)
            if (
                vector.shape != (self.dimensions,)
                or not abs(float(vector.dot(vector)) - 1.0) < UNIT
            ):
                raise InputError(
                    f"the embedder gave no unit vector of {self.dimensions} dimensions for {text[:40]!r}",
                    where=self.name,
                    cure="choose another embedding model; this one may be damaged",
                )
        return np.array(given, np.float32).reshape(len(texts), self.dimensions)


def metered(embedder: Embedder) -> MeteredEmbedder:
    """The embedder, counted and timed; a metered embedder is returned as it is."""
    return embedder if isinstance(embedder, MeteredEmbedder) else MeteredEmbedder(embedder)
