"""Passages: overlapping windows of the texts that are longer than what the embedder reads, each with a vector of its own.

Shorter windows of these texts, spans, have postings of their own.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .drafts import Kind
from .ports.embedder import Embedder, Spans
from .ports.word_pieces import cuts, reads
from .storage.event_log import EventLog
from .storage.postings import BM25Index, terms_of

SIZE: Final = 200       # word pieces of a passage
OVERLAP: Final = 40     # word pieces that neighbouring passages share
SPAN: Final = 64        # word pieces of a span, in which words are searched: two or three sentences
SHARED: Final = 16      # word pieces that neighbouring spans share
_COMING: Final = 4096    # most texts that are cut before they have a row


class Passages:
    """The vectors of all passages of a memory.  They follow from the texts alone, are computed when first read, and are not saved.

    A text that the embedder reads whole has no passages: its vector is in the index.  Threads may read at the same time.
    """

    def __init__(self, event_log: EventLog, embedder: Embedder) -> None:
        self._event_log, self._embedder, self._covering = event_log, embedder, Lock()
        self._coming: dict[str, tuple[Spans, ...]] = {}         # cuts of texts that `of` has read and that have no row yet
        self._cut = 0                                           # rows that are cut
        self._cuts: dict[int, tuple[Spans, ...]] = {}           # windows and spans of each row that has passages
        self._covered = 0
        self._rows = np.empty(0, dtype=np.int64)
        self._starts = np.empty(0, dtype=np.int64)
        self._vectors = np.empty((0, embedder.dimensions), dtype=np.float32)
        self._spans = BM25Index()
        self._first = np.empty(0, dtype=np.int64)               # first span of each row; empty as long as no row has passages

    def forget(self) -> None:
        """Drop all vectors; they are computed again when they are next read."""
        self._coming.clear()
        self._cuts.clear()
        self._cut = self._covered = 0
        self._rows, self._starts, self._vectors = self._rows[:0], self._starts[:0], self._vectors[:0]
        self._first = self._first[:0]
        self._spans.clear()

    def of(self, texts: Iterable[str]) -> list[str]:
        """The passages of the texts that are longer than what the embedder reads, in order."""
        found: list[str] = []
        for text in texts:
            with self._covering:
                if len(self._coming) >= _COMING:
                    self._coming.clear()
                self._coming[text] = cut = self._divided(text)
            found += _parts(text, cut[0])
        return found

    def scores(self, vector: NDArray[np.float32], out: NDArray[np.float32]) -> NDArray[np.float32]:
        """Write the cosine of each row's best passage into `out` (n_rows,) float32; NaN for a row without passages.

        Embeds the passages of rows stored since the last call, in one batch.  Cost: O(passages d).
        """
        with self._covering:
            self._cover(len(out))
        out.fill(np.nan)
        if self._rows.size:
            out[self._rows] = np.maximum.reduceat(self._vectors @ vector, self._starts)
        return out

    def counts(self, n: int, shown: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """(n,) number of passages of each row; 0 for a text that the embedder reads whole.

        shown  (m,) rows that are counted instead of all: (m,), O(m log passages)
        """
        with self._covering:
            self._cover(n)
        ends: NDArray[np.int64] = np.append(self._starts, len(self._vectors))
        if shown is not None:
            found: NDArray[np.int64] = ends[np.searchsorted(self._rows, shown, "right")] - ends[np.searchsorted(self._rows, shown, "left")]
            return found
        out = np.zeros(n, dtype=np.int64)
        out[self._rows] = np.diff(ends)
        return out

    def words(self, terms: Sequence[str], weight: Callable[[int, int], float], k1: float, b: float,
              out: NDArray[np.float32]) -> NDArray[np.int64] | None:
        """Write the BM25 score of each row's best span into `out` (n_rows,) float32; (n_rows,) number of spans of each row.

        A text that the embedder reads whole is one span.  None, and nothing is written, if it reads all texts whole.  `weight`, `k1` and `b` as in
        `BM25Index.scores`; frequencies and lengths are those of the spans of events.  Cost: O(spans + their postings of the terms).
        """
        with self._covering:
            self._cover_words(len(out))
        if not self._first.size:
            return None
        scores = np.zeros(self._spans.n_rows, dtype=np.float32)
        self._spans.scores(terms, scores, weight, k1=k1, b=b)
        np.maximum.reduceat(scores, self._first, out=out)
        return np.diff(self._first, append=self._spans.n_rows)

    def _cover_words(self, n: int) -> None:
        log = self._event_log
        self._divide(n)
        if not self._cuts or self._first.size >= n:
            return
        first: list[int] = []
        try:
            for row in range(self._first.size, n):
                text, counted = log.rendered(row), log.kind(row) is Kind.EVENT
                first.append(self._spans.n_rows)
                for span in _parts(text, self._cuts[row][1]) if row in self._cuts else (text,):
                    self._spans.add(self._spans.n_rows, terms_of(span, stop_words=True), counted)
            self._first = np.concatenate([self._first, np.array(first, dtype=np.int64)])
        except BaseException:               # as after an interruption: no span is left without its row
            self._spans, self._first = BM25Index(), self._first[:0]
            raise

    def _cover(self, n: int) -> None:
        self._divide(n)
        new = [(row, _parts(self._event_log.rendered(row), self._cuts[row][0])) for row in range(self._covered, n) if row in self._cuts]
        if new:
            counts = [len(found) for _, found in new]
            starts = len(self._vectors) + np.cumsum([0, *counts[:-1]])
            vectors: Any = self._embedder.embed([text for _, found in new for text in found])
            rows = np.concatenate([self._rows, np.array([row for row, _ in new], dtype=np.int64)])
            starts = np.concatenate([self._starts, starts])
            vectors = np.concatenate([self._vectors, vectors])
            self._rows, self._starts, self._vectors, self._covered = rows, starts, vectors, n       # together, after all that can fail
        self._covered = max(self._covered, n)

    def _divide(self, n: int) -> None:
        """Cut the texts of rows that are not yet cut; each text is divided into word pieces once.  Surely short ones are not written out."""
        window, log = reads(self._embedder, SIZE), self._event_log
        if window is None:          # no text is cut
            self._cut = max(self._cut, n)
            return
        for row in range(self._cut, n):
            if self._coming or not log.is_short(row, window):
                text = log.rendered(row)
                cut = self._coming.pop(text, None) or self._divided(text)
                if len(cut[0]):
                    self._cuts[row] = cut
            self._cut = row + 1

    def _divided(self, text: str) -> tuple[Spans, ...]:
        """Windows and spans of a text; none if the embedder reads it whole."""
        return cuts(self._embedder, text, (SIZE, OVERLAP), (SPAN, SHARED))


def _parts(text: str, cut: Spans) -> list[str]:
    return [text[start:end] for start, end in cut.tolist()]
