"""Passages: overlapping windows of the texts that are longer than what the embedder reads, each
with a vector of its own.

Shorter windows of these texts, spans, have postings of their own.  Of a very long text MOST windows
have a vector, those that together hold most of its words; spans cover all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..contract.drafts import Kind
from ..ports.embedder import Embedder, Spans, Vectors
from ..ports.word_pieces import cuts, reads
from ..state.divided import Divided, TextCut
from ..state.event_log import EventLog
from ..state.postings import Added, BM25Index, Forward, ScoredRows
from ..text.memo import remembered
from ..text.words import terms_of_parts

SIZE: Final = 200  # word pieces of a passage
OVERLAP: Final = 40  # word pieces that neighbouring passages share
# passages of a text, so that embedding one costs 2 to 3 CPU seconds at most, however long it is
MOST: Final = 64
SPAN: Final = 64  # word pieces of a span, in which words are searched: two or three sentences
SHARED: Final = 16  # word pieces that neighbouring spans share


class Passages:
    """Vectors of passages and postings of spans, of all rows of a memory.

    A text that the embedder reads whole has no passages: its vector is in the index.  The passages
    or spans that the mechanisms of a memory read are kept for each row as it is stored, so that no
    question pays for them; everything else follows from the texts, and is computed when it is first
    read.  Threads may read at the same time.

    journal  a list that gets each divided row that is added, for a file; None: not kept
    """

    def __init__(
        self,
        event_log: EventLog,
        embedder: Embedder,
        lexicon: BM25Index,
        *,
        vectors: bool = False,
        words: bool = False,
    ) -> None:
        """lexicon: the words of all rows; vectors, words: whether these are kept for each row as
        it is stored.
        """
        self._event_log, self._embedder, self._lexicon, self._covering = (
            event_log,
            embedder,
            lexicon,
            Lock(),
        )
        self._keeps_vectors, self._keeps_words, self._keeps = vectors, words, vectors or words
        self._cut_of = remembered(self._divided)
        self.journal: list[Divided] | None = None
        self.forget()

    def forget(self) -> None:
        """Drop everything, as if no row had been added."""
        if self.journal is not None:
            self.journal.clear()
        # rows that are divided, or known to be read whole
        self._looked = 0
        # cut of each divided row, rows ascending
        self._cuts: dict[int, TextCut] = {}
        # for each of the first divided rows: row, and end of its vectors
        self._with_vectors = Growing(np.int64, 2)
        self._vectors = Growing(np.float32, self._embedder.dimensions)
        self._forget_words()

    def _forget_words(self) -> None:
        self._spans = BM25Index()
        # for each of the first divided rows: row, end of its spans, whether its words count
        self._with_words = Growing(np.int64, 3)
        # number of rows of the lexicon, and the rows among them that are divided and count
        self._whole: tuple[int, ScoredRows] | None = None

    # --- storing ----------------------------------------------------------------------------------

    def parts(self, text: str) -> list[str]:
        """The passages of a text, in order, if their vectors are kept; none of a text that the
        embedder reads whole.  O(length).
        """
        return _parts(text, self._cut_of(text).passages) if self._keeps_vectors else []

    def add(
        self, row: int, text: str, vectors: Vectors | None = None, counted: bool = True
    ) -> None:
        """Keep the parts of the next row, as far as they are kept.  O(length).

        vectors  (p, d) of its `parts`; None: they are embedded when they are first read
        counted  whether its words count in the statistics
        """
        if row != self._looked or not self._keeps:
            return  # `_look` divides it when it is first read
        self._looked = row + 1
        cut, number = self._cut_of(text), len(self._cuts)
        if not len(cut.spans):
            return
        self._cuts[row] = cut
        kept, words = self._vectors.array[:0], list[Added]()
        # without `vectors` no part was embedded, so the vectors that came are none of the passages
        if self._keeps_vectors and vectors is not None and len(self._with_vectors.array) == number:
            kept = vectors
            self._keep_vectors(row, vectors)
        if self._keeps_words and len(self._with_words.array) == number:
            self._spans.journal = None if self.journal is None else words
            self._keep_words(row, text, counted)
            self._spans.journal = None
        if self.journal is not None:
            self.journal.append(Divided(row, cut, kept, words))

    def _keep_vectors(self, row: int, vectors: Vectors) -> None:
        """Append the vectors of the next divided row.  Interrupted anywhere, it has appended
        nothing.
        """
        number, end = len(self._with_vectors.array), _end(self._with_vectors)
        self._vectors.put(end, vectors)
        self._with_vectors.put(number, [(row, end + len(vectors))])

    def _keep_words(self, row: int, text: str, counted: bool) -> None:
        """Add the spans of the next divided row to the postings."""
        try:
            self._spans.extend(terms_of_parts(tuple(_parts(text, self._cuts[row].spans))), counted)
            self._with_words.put(len(self._with_words.array), [(row, self._spans.n_rows, counted)])
        except BaseException:  # as after an interruption: no span is left without its row
            self._forget_words()
            raise

    # --- reading ----------------------------------------------------------------------------------

    def read(self, row: int) -> tuple[int, int]:
        """How many windows of a row's text have a vector, and how many it has; (0, 0) if it is
        read whole or was never divided.  O(1).
        """
        cut = self._cuts.get(row)
        return (len(cut.passages), cut.windows) if cut else (0, 0)

    def scores(self, vector: NDArray[np.float32], out: NDArray[np.float32]) -> NDArray[np.float32]:
        """Write the cosine of each row's best passage into `out` (n_rows,) float32; NaN for a row
        without passages.

        Embeds passages that have no vector yet, in one batch.  Cost: O(passages d).
        """
        with self._covering:
            self._cover(len(out))
        out.fill(np.nan)
        rows, starts, vectors = self._starts()
        if rows.size:
            out[rows] = np.maximum.reduceat(vectors @ vector, starts[:-1])
        return out

    def counts(self, n: int, shown: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """(n,) number of passages of each row; 0 for a text that the embedder reads whole.

        shown  (m,) rows that are counted instead of all: (m,), O(m log passages)
        """
        if self._looked >= n and not self._cuts:  # all texts are read whole
            return np.zeros(n if shown is None else len(shown), np.int64)
        with self._covering:
            self._cover(n)
        held = self._with_vectors.array
        rows, starts = held[:, 0], np.append(0, held[:, 1])
        if shown is not None:
            counts: NDArray[np.int64] = (
                starts[np.searchsorted(rows, shown, "right")]
                - starts[np.searchsorted(rows, shown, "left")]
            )
            return counts
        out = np.zeros(n, dtype=np.int64)
        out[rows] = np.diff(starts)
        return out

    def words(
        self,
        terms: Sequence[str],
        weight: Callable[[int, int], float],
        k1: float,
        b: float,
        out: NDArray[np.float32],
    ) -> NDArray[np.int64] | None:
        """Write the BM25 score of each row's best span into `out` (n_rows,) float32; returns
        (n_rows,) the number of spans of each row.

        A text that the embedder reads whole is one span.  Returns None, and writes nothing, if the
        embedder reads all texts whole.  `weight`, `k1` and `b` as in `BM25Index.scores`;
        frequencies and lengths are those of the spans of events.  Cost: O(rows + spans + their
        postings of the terms).
        """
        with self._covering:
            whole = self._cover_words(len(out))
        if whole is None:
            return None
        counts = (
            self._lexicon.counts(terms)
            - self._lexicon.counts(terms, whole)
            + self._spans.counts(terms)
        )
        self._lexicon.scores(terms, out, weight, k1, b, counts=counts)
        scores = np.zeros(self._spans.n_rows, dtype=np.float32)
        self._spans.scores(terms, scores, weight, k1, b, counts=counts)
        rows, ends = self._with_words.array[:, 0], self._with_words.array[:, 1]
        out[rows] = np.maximum.reduceat(scores, np.append(0, ends[:-1]))
        spans = np.ones(len(out), dtype=np.int64)
        spans[rows] = np.diff(ends, prepend=0)
        return spans

    def _starts(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Vectors]:
        """(r,) rows that have vectors, (r + 1,) the first vector of each and the end of all, and
        the vectors.
        """
        held = self._with_vectors.array
        return held[:, 0], np.append(0, held[:, 1]), self._vectors.array[: _end(self._with_vectors)]

    def _cover(self, n: int) -> None:
        """Embed the passages that have no vector, of the first n rows, in one batch."""
        self._look(n)
        if len(self._with_vectors.array) < len(self._cuts):
            due = list(islice(self._cuts, len(self._with_vectors.array), None))
            parts = [_parts(self._event_log.rendered(row), self._cuts[row].passages) for row in due]
            vectors: Any = self._embedder.embed([text for passages in parts for text in passages])
            ends = np.cumsum([len(passages) for passages in parts])
            for row, of_row in zip(due, np.split(vectors, ends[:-1]), strict=True):
                self._keep_vectors(row, of_row)

    def _cover_words(self, n: int) -> ScoredRows | None:
        """Index the spans of the first n rows that have no postings; returns the divided rows that
        count, None if no row is divided.
        """
        self._look(n)
        if not self._cuts:
            return None
        log = self._event_log
        for row in (
            list(islice(self._cuts, len(self._with_words.array), None))
            if len(self._with_words.array) < len(self._cuts)
            else ()
        ):
            self._keep_words(row, log.rendered(row), log.kind(row) is Kind.EVENT)
        if self._whole is None or self._whole[0] != self._lexicon.n_rows:
            held = self._with_words.array
            rows = held[held[:, 2] > 0, 0]
            place = np.full(self._lexicon.n_rows, -1, np.int32)
            place[rows] = np.arange(len(rows))
            self._whole = self._lexicon.n_rows, ScoredRows(rows, place)
        return self._whole[1]

    def _look(self, n: int) -> None:
        """Divide the texts of the first n rows, as far as that is not done.  Surely short ones
        are not written out.
        """
        if self._looked >= n:
            return
        window, log = reads(self._embedder, SIZE), self._event_log
        for row in range(self._looked, n):
            if window is not None and not log.is_short(row, window):
                cut = self._cut_of(log.rendered(row))
                if len(cut.spans):
                    self._cuts[row] = cut
            self._looked = row + 1

    def _divided(self, text: str) -> TextCut:
        windows, spans = cuts(self._embedder, text, (SIZE, OVERLAP), (SPAN, SHARED))
        if len(windows) <= MOST:
            return TextCut(windows, len(windows), spans)
        # the terms are remembered, since the postings need them too
        terms = terms_of_parts(tuple(_parts(text, spans)))
        first, last = (
            np.searchsorted(spans[:, 0], windows[:, 0]),
            np.searchsorted(spans[:, 1], windows[:, 1], "right"),
        )
        edges = np.append(0, terms.ends)
        # terms of the spans within each window
        held = [
            np.unique(terms.numbers[edges[a] : edges[b]])
            for a, b in zip(first.tolist(), last.tolist(), strict=True)
        ]
        return TextCut(windows[telling(held, MOST)], len(windows), spans)

    @property
    def n_divided(self) -> int:
        """How many rows are divided, if the memory keeps what it divides; else 0."""
        return len(self._cuts) if self._keeps else 0

    # --- erasing and saving -----------------------------------------------------------------------

    def erase(self, rows: Iterable[int]) -> dict[int, Vectors]:
        """`forget`; returns the vectors of all other rows, by row, with which these rows can be
        added anew.  O(rows that have vectors).
        """
        gone = set(rows)
        having, starts, vectors = self._starts()
        kept = dict(zip(having.tolist(), np.split(vectors, starts[1:-1]), strict=False))
        self.forget()
        return {row: of_row for row, of_row in kept.items() if row not in gone}

    def restore(
        self, n: int, saved: Sequence[Divided], words: Forward, counted: NDArray[np.bool_]
    ) -> None:
        """Hold what a file has of the n rows of the memory, which are divided as they were.
        O(passages d + postings).

        saved    without words
        words    of all their spans
        counted  (n,) whether the words of a row count

        Raises ValueError for what does not fit.
        """
        self.forget()
        if not self._keeps:
            return
        if [divided.row for divided in saved] != sorted(
            {divided.row for divided in saved} & set(range(n))
        ):
            raise ValueError("a divided row is missing or in the wrong place")
        self._cuts, self._looked = {divided.row: divided.cut for divided in saved}, n
        for divided in saved:
            if len(divided.vectors) != len(divided.cut.passages):
                break  # they were not kept
            self._keep_vectors(divided.row, divided.vectors)
        if len(words.sizes):
            ends = np.cumsum([len(divided.cut.spans) for divided in saved])
            self._spans.restore(words)
            if ends[-1] != self._spans.n_rows:
                raise ValueError("spans are missing")
            rows = np.array([divided.row for divided in saved], np.int64)
            self._with_words.put(0, np.stack([rows, ends, counted[rows]], axis=1))


class Growing:
    """An array that grows at its end, of which views stay valid; amortised O(cells added)."""

    def __init__(self, dtype: Any, *cell: int) -> None:
        self._buffer = np.empty((4, *cell), dtype)
        self.array: NDArray[Any] = self._buffer[:0]

    def put(self, at: int, cells: Any) -> None:
        """Write (m, ...) cells at a place up to the end; they become the last cells."""
        if (size := at + len(cells)) > len(self._buffer):
            longer = np.empty((2 * size, *self._buffer.shape[1:]), self._buffer.dtype)
            longer[:at] = self._buffer[:at]
            self._buffer = longer
        self._buffer[at:size] = cells
        self.array = self._buffer[:size]


def telling(held: Sequence[NDArray[np.int64]], most: int) -> NDArray[np.int64]:
    """Places of at most so many windows of a text that stand for all, ascending: the first, the
    last, and those that together hold most terms.

    After the first and the last, again and again the window with most terms that no chosen window
    holds is chosen; of equal windows the one farthest from the chosen windows, then the
    earliest.  So a text in which terms repeat is spread over the windows that say something new,
    and one without terms over its length.  This is the greedy cover, which holds at least 1 - 1/e
    of the terms that any choice could (Nemhauser, Wolsey and Fisher 1978,
    https://doi.org/10.1007/BF01588971).

    held  distinct terms of each window, as numbers from 0

    O(terms + most windows).

    >>> tea, moon = 0, 1
    >>> windows = [[tea], [tea], [tea, moon], [tea], [tea], [tea], [tea]]
    >>> telling([np.array(terms) for terms in windows], 4).tolist()
    [0, 2, 4, 6]
    """
    n = len(held)
    if n <= most:
        return np.arange(n)
    sizes = np.array([len(window_terms) for window_terms in held], np.int64)
    keys, windows = np.concatenate(held), np.repeat(np.arange(n), sizes)
    windows = windows[np.argsort(keys, kind="stable")]  # that hold each term, term by term
    count = np.bincount(keys)
    start = np.cumsum(count) - count
    new, gain, far = np.ones(len(count), np.bool_), sizes.copy(), np.full(n, n)
    chosen = list[int]()
    while len(chosen) < most:
        best = np.flatnonzero(gain == gain.max())
        at = (0, n - 1)[len(chosen)] if len(chosen) < 2 else int(best[np.argmax(far[best])])
        chosen.append(at)
        own = held[at][new[held[at]]]
        new[own] = False
        places = np.repeat(start[own] - np.cumsum(count[own]) + count[own], count[own]) + np.arange(
            int(count[own].sum())
        )
        gain -= np.bincount(windows[places], minlength=n)
        far = np.minimum(far, np.abs(np.arange(n) - at))
        gain[at] = -1
    return np.sort(chosen)


def _end(held: Growing) -> int:
    """The end of what belongs to the last row: the second number of its cell."""
    return int(held.array[-1, 1]) if len(held.array) else 0


def _parts(text: str, cut: Spans) -> list[str]:
    return [text[start:end] for start, end in cut.tolist()]
