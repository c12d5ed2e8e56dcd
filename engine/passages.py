"""Passages: overlapping windows of the texts that are longer than what the embedder reads, each with a vector of its own."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .ports.embedder import Embedder
from .ports.word_pieces import passages
from .storage.event_log import EventLog

SIZE: Final = 200       # word pieces of a passage
OVERLAP: Final = 40     # word pieces that neighbouring passages share


class Passages:
    """The vectors of all passages of a memory.  They follow from the texts alone, are computed when first read, and are not saved.

    A text that the embedder reads whole has no passages: its vector is in the index.
    """

    def __init__(self, event_log: EventLog, embedder: Embedder) -> None:
        self._event_log, self._embedder = event_log, embedder
        self._covered = 0
        self._rows = np.empty(0, dtype=np.int64)
        self._starts = np.empty(0, dtype=np.int64)
        self._vectors = np.empty((0, embedder.dimensions), dtype=np.float32)

    def of(self, texts: Iterable[str]) -> list[str]:
        """The passages of the texts that are longer than what the embedder reads, in order."""
        return [each for text in texts for each in self._split(text)]

    def scores(self, vector: NDArray[np.float32], out: NDArray[np.float32]) -> NDArray[np.float32]:
        """Write the cosine of each row's best passage into `out` (n_rows,) float32; NaN for a row without passages.

        Embeds the passages of rows stored since the last call, in one batch.  Cost: O(passages d).
        """
        self._cover(len(out))
        out.fill(np.nan)
        if self._rows.size:
            out[self._rows] = np.maximum.reduceat(self._vectors @ vector, self._starts)
        return out

    def counts(self, n: int) -> NDArray[np.int64]:
        """(n,) number of passages of each row; 0 for a text that the embedder reads whole."""
        self._cover(n)
        out = np.zeros(n, dtype=np.int64)
        out[self._rows] = np.diff(self._starts, append=len(self._vectors))
        return out

    def _cover(self, n: int) -> None:
        new: list[tuple[int, Sequence[str]]] = []
        for row in range(self._covered, n):
            if found := self._split(self._event_log.of_row(row).rendered()):
                new.append((row, found))
        if new:
            counts = [len(found) for _, found in new]
            starts = len(self._vectors) + np.cumsum([0, *counts[:-1]])
            vectors: Any = self._embedder.embed([text for _, found in new for text in found])
            self._rows = np.concatenate([self._rows, np.array([row for row, _ in new], dtype=np.int64)])
            self._starts = np.concatenate([self._starts, starts])
            self._vectors = np.concatenate([self._vectors, vectors])
        self._covered = max(self._covered, n)       # last, so that the rows are tried again after an error of the embedder

    def _split(self, text: str) -> Sequence[str]:
        found = passages(self._embedder, text, SIZE, OVERLAP)
        return found if len(found) > 1 else ()
