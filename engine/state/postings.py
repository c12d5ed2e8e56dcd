"""Incremental lexical indexes over memory rows: BM25 over terms and trigram overlap.

Both keep their postings in one growable CSR (`Postings`): each key owns a block of a shared pool; a
full block moves to one twice as long, and the block it leaves is used again by the next key that
needs one of that length.  So an append is amortised O(1), the pool is linear in the number of
postings, and a query reads each of its keys' postings once, in row order. Every row is added
exactly once and in order, texts without terms included; archived rows stay, and still count in the
statistics. Rows added with `counted=False`, those that the memory made, are scored like all others
but do not count: the numbers of rows and of rows that hold a key, and the mean length, are those of
the counted rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, islice, pairwise
from sys import intern
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.errors import InputError
from ..base.numerics import exact_kernel, kernel, place_from, read_only
from ..base.sharing import in_blocks
from ..text.features import terms_of
from ..text.memo import remembered
from ..text.numbering import codes_of, numbered, strings
from ..text.words import NumberedTerms, fold, written

__all__ = ["Added", "BM25Index", "Forward", "Idf", "Postings", "TrigramIndex", "TrigramMeasure",
           "Vocabulary", "WordCounts", "terms_of", "trigrams_of"]  # fmt: skip

Entry = TypeVar("Entry", np.int32, np.int64)

MIN_BLOCK: Final = 4
# in a list of words that is so many times as long as the rows that get a score, each of these rows
# is sought
SPARSE: Final = 8
LISTED: Final = 4096  # rows whose lists are written together
# rows whose scores by words are computed together: they stay in the processor's cache, and threads
# share out such parts
PART: Final = 65_536
LONG: Final = 4_096  # characters of a text whose trigrams are found together
FEW: Final = 1_024  # rows whose trigrams are counted together, if some rows alone get a score
# bits of tf in a BM25 posting, row << 24 | tf: a posting is one number, and rows stay in order
TF_BITS: Final = 24


class Idf(Enum):
    """Inverse document frequency of a term that n of N rows hold (Robertson and Zaragoza 2009,
    https://doi.org/10.1561/1500000019).

    ROBERTSON  ln((N - n + .5) / (n + .5)), where not positive 1e-6: as SQLite FTS5 computes it
    LUCENE     ln(1 + (N - n + .5) / (n + .5)): never negative
    """

    ROBERTSON = "robertson"
    LUCENE = "lucene"

    def weight(self, n_rows: int, frequency: int) -> float:
        """The idf itself.

        >>> round(Idf.ROBERTSON.weight(10, 2), 4), Idf.ROBERTSON.weight(10, 9)
        (1.2238, 1e-06)
        """
        odds = (n_rows - frequency + 0.5) / (frequency + 0.5)
        if self is Idf.LUCENE:
            return math.log1p(odds)
        idf = math.log(odds)
        return idf if idf > 0.0 else 1e-6


@dataclass(frozen=True, slots=True)
class ScoredRows:
    """The rows that get a score, valid as long as no text changes.

    rows   (m,) ascending
    place  (>= n_rows,) of each row in the vector of scores; -1: none
    held   id of a word of one BM25Index -> the places of the rows that hold it, and how often each
           does: one question asks for a word several times
    """

    rows: NDArray[np.int64]
    place: NDArray[np.int32]
    held: dict[int, tuple[NDArray[np.int32], NDArray[np.int64]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WordCounts:
    """What the weights of words rest on: the number of some texts, the number of their terms with
    repeats, and how many of the texts hold each of some terms.
    """

    texts: int
    length: int
    holding: Mapping[str, int]

    def __add__(self, other: WordCounts) -> WordCounts:
        """The counts of these texts and the other texts together.

        >>> WordCounts(3, 9, {"tea": 2}) + WordCounts(1, 2, {"tea": 1}) - WordCounts(2, 5, {"tea": 2})
        WordCounts(texts=2, length=6, holding={'tea': 1})
        """
        return WordCounts(
            self.texts + other.texts,
            self.length + other.length,
            {term: n + other.holding[term] for term, n in self.holding.items()},
        )

    def __sub__(self, other: WordCounts) -> WordCounts:
        """The counts of these texts without the other texts."""
        return self + WordCounts(
            -other.texts, -other.length, {term: -n for term, n in other.holding.items()}
        )


class TrigramMeasure(Enum):
    """How much of the query A and the text B is shared, as sets of trigrams.

    SIMILARITY   |A and B| / |A or B|: PostgreSQL's pg_trgm similarity()
    CONTAINMENT  |A and B| / |A|: does not punish long texts
    """

    SIMILARITY = "similarity"
    CONTAINMENT = "containment"


@dataclass(frozen=True, slots=True)
class Added:
    """What one row added to an index, for a file.

    keys    (k,) its distinct keys
    counts  (k,) how often it holds each; None in an index of sets
    names   those keys that were new, in order
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64] | None
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forward:
    """The contents of an index row by row, as `Added` holds them.

    sizes    (n,) keys of each row
    keys     (sum of sizes,) of all rows, in order
    counts   (sum of sizes,) how often the row holds the key; None in an index of sets
    names    of the keys 0, 1, 2, ...
    counted  (n,) whether a row counts in the statistics
    """

    sizes: NDArray[np.int64]
    keys: NDArray[np.int64]
    counts: NDArray[np.int64] | None
    names: Sequence[str]
    counted: NDArray[np.bool_]

    @property
    def uncounted(self) -> dict[int, int]:
        """Key -> rows that hold it and do not count."""
        counts = (
            np.bincount(self.keys[np.repeat(~self.counted, self.sizes)])
            if not self.counted.all()
            else np.zeros(0, np.int64)
        )
        return {int(key): int(counts[key]) for key in np.flatnonzero(counts)}


class Vocabulary:
    """Strings numbered 0, 1, 2, ... in order of first appearance.  O(1) per string.

    numbers  string -> its number, to be read
    """

    __slots__ = ("numbers",)

    def __init__(self, terms: Sequence[str] = ()) -> None:
        self.numbers: dict[str, int] = {term: id_ for id_, term in enumerate(terms)}

    def intern(self, terms: Iterable[str]) -> list[int]:
        """The id of each term; a new term gets the next one."""
        ids = self.numbers
        return [ids.setdefault(term, len(ids)) for term in terms]

    def since(self, first: int) -> tuple[str, ...]:
        """The terms numbered from `first` on.  O(these)."""
        return tuple(islice(reversed(self.numbers), len(self.numbers) - first))[::-1]


class Postings(Generic[Entry]):
    """Growable CSR of integer postings: a list per key, appended to in order.

    pool      (capacity,)  blocks of MIN_BLOCK * 2^c entries
    start     (keys,)      where a key's block begins
    length    (keys,)      postings of a key (int64), its document frequency
    capacity  (keys,)      length of its block; 0 before the first posting
    free      (64,)        per block size the first unused block, as offset / MIN_BLOCK, or -1; the
                           first entry of an unused block names the next
    """

    def __init__(self, dtype: type[Entry]) -> None:
        self.pool: NDArray[Entry] = np.zeros(1024, dtype)
        self.start = np.zeros(256, np.int64)
        self.length = np.zeros(256, np.int64)
        self.capacity = np.zeros(256, np.int64)
        self.free = np.full(64, -1, np.int64)
        self.used = 0

    def append(
        self,
        keys: NDArray[np.int64],
        entries: NDArray[Entry],
        n_keys: int,
        among: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    ) -> None:
        """Append `entries[i]` to the list of `keys[i]`, one after another; keys are below `n_keys`.
        Amortised O(len(keys)).

        among  the distinct keys and how often each is appended to; None: keys are distinct
        """
        if n_keys > self.start.size:
            size = max(n_keys, 2 * self.start.size)
            self.start, self.length, self.capacity = (
                _grown(array, size) for array in (self.start, self.length, self.capacity)
            )
        room = self.used + (
            self._space(*among) if among else _space_needed(keys, self.length, self.capacity)
        )
        if room > self.pool.size:
            self.pool = _grown(self.pool, max(room, 2 * self.pool.size))
        self.used = _append(
            keys, entries, self.pool, self.start, self.length, self.capacity, self.free, self.used
        )

    def _space(self, keys: NDArray[np.int64], times: NDArray[np.int64]) -> int:
        """As `_space_needed`, for so many postings of each key: a block moves to ever larger ones."""
        before, after = self.capacity[keys], _block(self.length[keys] + times)
        return int(
            np.where(after > before, 2 * (after - np.maximum(before, MIN_BLOCK // 2)), 0).sum()
        )

    def restore(self, saved: Forward) -> NDArray[np.float64]:
        """Fill empty postings with those of all rows at once, in the order in which they were
        appended.  O(entries + keys).

        The sum of the counts of each row.  Raises ValueError for a key without a name.
        """
        n_keys, lengths = len(saved.names), np.zeros(len(saved.sizes), np.float64)
        size = max(self.start.size, n_keys)
        self.length = np.zeros(size, np.int64)
        if int(saved.sizes.sum()) != len(saved.keys) or not _count_keys(
            saved.keys, n_keys, self.length
        ):
            raise ValueError("a posting has an unknown key")
        self.capacity = np.where(self.length > 0, _block(self.length), 0)
        self.start = np.cumsum(self.capacity) - self.capacity
        self.used = int(self.capacity.sum())
        self.pool = np.zeros(max(self.pool.size, self.used), self.pool.dtype)
        _spread(
            saved.keys,
            saved.keys if saved.counts is None else saved.counts,
            saved.sizes,
            saved.counts is not None,
            self.start.copy(),
            self.pool,
            lengths,
        )
        return lengths


class RowLists:
    """Keys of each row, the reverse of postings.

    end   (>= n_rows,)   where the list of a row ends; it begins where that of the row before ends
    keys  (>= entries,)  of all rows, in order
    """

    def __init__(self, held: Postings[np.int32], sizes: NDArray[np.int32]) -> None:
        """The lists of postings; sizes: (n_rows,) of each row.  O(entries)."""
        self.end = np.cumsum(sizes, dtype=np.int64)
        self.keys = np.zeros(int(self.end[-1]) if len(sizes) else 0, np.int32)
        _list_keys(held.pool, held.start, held.length, self.end - sizes, self.keys)

    def add(self, row: int, keys: NDArray[np.int64]) -> None:
        """Append the list of the next row.  Amortised O(keys)."""
        first = int(self.end[row - 1]) if row else 0
        last = first + len(keys)
        if row == self.end.size:
            self.end = _grown(self.end, max(2 * row, 1))
        if last > self.keys.size:
            self.keys = _grown(self.keys, 2 * last)
        self.keys[first:last] = keys
        self.end[row] = last


class BM25Index:
    """Okapi BM25 over term lists; a query scores every row.

    journal  a list that gets what each added row added, for a file; None: not kept

    Memory: 8 bytes per (row, distinct term), at most four times that with the slack of growth.
    """

    def __init__(self) -> None:
        self.journal: list[Added] | None = None
        self.clear()

    def clear(self) -> None:
        """Drop all rows and all words."""
        if self.journal is not None:
            self.journal.clear()
        self.vocabulary = Vocabulary()
        self.n_rows = self.n_counted = 0
        self._postings: Postings[np.int64] = Postings(np.int64)
        self._lengths = np.zeros(256, np.float64)
        self._total = 0
        self._uncounted: dict[int, int] = {}  # term -> rows that hold it and do not count

    def add(self, row: int, terms: Sequence[str], counted: bool = True) -> None:
        """Index the terms (with repeats, any order) of the next row.  O(len(terms)) amortised.
        InputError unless `row == n_rows`.
        """
        _require_next(row, self.n_rows, "BM25Index.add")
        counts = Counter(terms)
        known = len(self.vocabulary.numbers)
        ids, times = (
            np.array(self.vocabulary.intern(counts), np.int64),
            np.fromiter(counts.values(), np.int64, len(counts)),
        )
        self._put(ids, times, row, counted)
        if self.journal is not None:
            self.journal.append(Added(ids, times, self.vocabulary.since(known)))
        self._measure([len(terms)], counted)

    def extend(self, texts: NumberedTerms, counted: bool = True) -> None:
        """Index the terms of the next rows, as `add` does one after another."""
        known, sizes = len(self.vocabulary.numbers), np.diff(texts.ends, prepend=0)
        of_word = np.array(self.vocabulary.intern(texts.words), np.int64)
        rows = np.repeat(np.arange(len(sizes)), sizes)
        # the distinct terms of each row, in order of appearance
        numbers, first = numbered(rows * len(texts.words) + texts.numbers)
        keys, times = of_word[texts.numbers[first]], np.bincount(numbers)
        among = of_word, np.bincount(texts.numbers[first], minlength=len(of_word))
        self._put(keys, times, self.n_rows + rows[first], counted, among)
        if self.journal is not None:
            new, told = self.vocabulary.since(known), 0
            for begin, end in pairwise([0, *np.searchsorted(first, texts.ends).tolist()]):
                of_row = keys[begin:end]
                due = max(told, int(of_row.max(initial=-1)) + 1 - known)
                self.journal.append(Added(of_row, times[begin:end], new[told:due]))
                told = due
        self._measure(sizes.tolist(), counted)

    def _put(
        self,
        keys: NDArray[np.int64],
        times: NDArray[np.int64],
        rows: NDArray[np.int64] | int,
        counted: bool,
        among: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    ) -> None:
        """Append the postings of the next rows, in order of the rows; among: as in
        `Postings.append`.
        """
        if len(keys):
            entries = (rows << TF_BITS) | np.minimum(times, (1 << TF_BITS) - 1)
            self._postings.append(keys, entries, len(self.vocabulary.numbers), among)
            if not counted:
                _count(self._uncounted, keys)

    def _measure(self, lengths: Sequence[int], counted: bool) -> None:
        """Note the lengths of the next rows, in terms with repeats."""
        if (end := self.n_rows + len(lengths)) > self._lengths.size:
            self._lengths = _grown(self._lengths, max(end, 2 * self._lengths.size))
        self._lengths[self.n_rows : end] = lengths
        self.n_rows = end
        if counted:
            self._total += sum(lengths)
            self.n_counted += len(lengths)

    def restore(self, saved: Forward) -> None:
        """Fill the empty index with saved rows: it continues as the saved one would have.
        O(postings).  Raises ValueError for an invalid state.
        """
        self.vocabulary = Vocabulary(saved.names)
        lengths = self._postings.restore(saved)
        self.n_rows, self.n_counted = len(saved.sizes), int(np.count_nonzero(saved.counted))
        self._lengths = _grown(lengths, max(self._lengths.size, self.n_rows))
        self._total = int(lengths[saved.counted].sum())
        self._uncounted = saved.uncounted

    @property
    def lengths(self) -> NDArray[np.float64]:
        """(n_rows,) number of terms of each row, read-only."""
        return read_only(self._lengths[: self.n_rows])

    def document_frequency(self, term: str) -> int:
        """How many counted rows hold the term."""
        number = self.vocabulary.numbers.get(term)
        if number is None:
            return 0
        return int(self._postings.length[number]) - self._uncounted.get(number, 0)

    def counts(self, terms: Iterable[str], among: ScoredRows | None = None) -> WordCounts:
        """The counts of these terms in the rows that count, or in some rows alone.  Terms are in
        the order of their numbers, unknown terms last.

        O(terms); of some rows O(rows + postings of the terms).
        """
        numbers = self.vocabulary.numbers
        known = {term: numbers[term] for term in set(terms) if term in numbers}
        order = sorted(known, key=known.__getitem__) + sorted(set(terms) - known.keys())
        if among is None:
            return WordCounts(
                self.n_counted, self._total, {term: self.document_frequency(term) for term in order}
            )
        held = {term: len(self._holding(id_, among)[0]) for term, id_ in known.items()}
        return WordCounts(
            len(among.rows),
            int(self._lengths[among.rows].sum()),
            {term: held.get(term, 0) for term in order},
        )

    def scores(
        self,
        terms: Sequence[str],
        out: NDArray[np.float32],
        weight: Callable[[int, int], float],
        k1: float = 1.2,
        b: float = 0.75,
        shown: ScoredRows | None = None,
        counts: WordCounts | None = None,
    ) -> None:
        """Write each row's score into `out` (n_rows,) float32; 0 where no term matches.

        sum over distinct query terms of  w tf (k1 + 1) / (tf + k1 (1 - b + b length / mean length))

        weight  w of a term from the number of counted rows N and the number n of these that hold
                it, such as `Idf.LUCENE.weight`

        ROBERTSON with k1 = 1.2, b = .75 is -bm25() of SQLite FTS5 for an OR query.  LUCENE keeps
        the constant k1 + 1, which Lucene itself has dropped since version 8 (same ranking).
        Frequencies and mean length are those of the counted rows so far.  The order of the query's
        terms changes no bit.  O(n_rows + postings of the query's terms); InputError on a vector of
        another shape or type.

        shown   the rows that get a score, instead of all; `out` is then (rows,)
        counts  frequencies and lengths of the terms, if not those of the counted rows; their order
                is that of the sum
        """
        _require_vector(out, len(shown.rows) if shown else self.n_rows, "BM25Index.scores")
        numbers = self.vocabulary.numbers
        if counts is None:  # those of `self.counts`, without a table by term
            texts, length, uncounted = self.n_counted, self._total, self._uncounted
            known = sorted({numbers[term] for term in terms if term in numbers})
            in_rows = self._postings.length[known].tolist()
            holding = [n - uncounted.get(id_, 0) for id_, n in zip(known, in_rows, strict=True)]
        else:
            texts, length = counts.texts, counts.length
            known = [numbers[term] for term in counts.holding if term in numbers]
            holding = [held for term, held in counts.holding.items() if term in numbers]
        ids = np.array(known, np.int64)
        weights = np.array([weight(texts, held) * (k1 + 1.0) for held in holding], np.float64)
        mean = length / texts if length else 1.0
        base, slope = k1 * (1.0 - b), k1 * b / mean
        if shown:
            lengths = self._lengths[shown.rows]
            out[:] = 0.0
            for id_, term_weight in zip(ids.tolist(), weights.tolist(), strict=True):
                _add_bm25(term_weight, *self._holding(id_, shown), lengths, base, slope, out)
        else:
            held = self._postings

            def count(block: slice) -> None:
                _bm25(
                    ids,
                    weights,
                    held.pool,
                    held.start,
                    held.length,
                    self._lengths,
                    base,
                    slope,
                    block.start,
                    out[block],
                )

            in_blocks(len(out), PART, count)

    def _holding(self, id_: int, shown: ScoredRows) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The places of the rows shown that hold a term, ascending, and how often each does.

        O(postings), or O(rows log postings) if there are many; O(1) if it was asked for before.
        """
        holding = shown.held.get(id_)
        if holding is None:
            held, size = self._postings, len(shown.rows)
            first, which, where = (
                int(held.start[id_]),
                np.empty(size, np.int32),
                np.empty(size, np.int64),
            )
            count = _held(
                held.pool,
                first,
                first + int(held.length[id_]),
                shown.rows,
                shown.place,
                which,
                where,
            )
            holding = shown.held[id_] = (
                which[:count],
                held.pool[where[:count]] & ((1 << TF_BITS) - 1),
            )
        return holding


class TrigramIndex:
    """Overlap of sets of trigrams, as in PostgreSQL's pg_trgm; a query scores every row.

    journal  as in `BM25Index`

    Memory: 4 bytes per (row, distinct trigram), at most four times that with the slack of growth.
    Scores of some rows alone are read off lists of the trigrams of each row, which take as much
    again from the first of them on.
    """

    def __init__(self) -> None:
        self.journal: list[Added] | None = None
        self.clear()

    def clear(self) -> None:
        """Drop all rows and all trigrams."""
        if self.journal is not None:
            self.journal.clear()
        self.vocabulary = Vocabulary()
        self.n_rows = self.n_counted = 0
        self._postings: Postings[np.int32] = Postings(np.int32)
        self._sizes = np.zeros(256, np.int32)
        self._lists: RowLists | None = None
        self._uncounted: dict[int, int] = {}  # trigram -> rows that hold it and do not count

    def add(self, row: int, text: str, counted: bool = True) -> None:
        """Index the text of the next row.  O(len(text)) amortised.  InputError unless `row ==
        n_rows`.
        """
        _require_next(row, self.n_rows, "TrigramIndex.add")
        known = len(self.vocabulary.numbers)
        ids = np.array(self.vocabulary.intern(trigrams_of(text)), np.int64)
        if ids.size:
            self._postings.append(
                ids, np.full(ids.size, row, np.int32), len(self.vocabulary.numbers)
            )
            if not counted:
                _count(self._uncounted, ids)
        if self.journal is not None:
            self.journal.append(Added(ids, None, self.vocabulary.since(known)))
        if row == self._sizes.size:
            self._sizes = _grown(self._sizes, 2 * row)
        self._sizes[row] = ids.size
        if self._lists is not None:
            self._lists.add(row, ids)
        self.n_rows += 1
        self.n_counted += counted

    def restore(self, saved: Forward) -> None:
        """Fill the empty index with saved rows, as `BM25Index.restore` does."""
        self.vocabulary = Vocabulary(saved.names)
        self._postings.restore(saved)
        self.n_rows, self.n_counted = len(saved.sizes), int(np.count_nonzero(saved.counted))
        self._sizes = _grown(saved.sizes.astype(np.int32), max(self._sizes.size, self.n_rows))
        self._lists = None
        self._uncounted = saved.uncounted

    def scores(
        self,
        text: str,
        out: NDArray[np.float32],
        measure: TrigramMeasure,
        max_df: float = 1.0,
        shown: ScoredRows | None = None,
    ) -> None:
        """Write each row's overlap with `text` into `out` (n_rows,) float32, in [0, 1].

        Query trigrams that more than `max_df * n_counted` counted rows hold are ignored, as if no
        row held them: exact at 1, below it a lower bound at a fraction of the cost (an engineering
        cap: the most frequent trigrams cost most and discriminate least).  O(n_rows + postings of
        the trigrams considered); InputError on a vector of another shape or type.

        shown  as in `BM25Index.scores`; O(trigrams of these rows), and O(all postings) the first
               time
        """
        _require_vector(out, len(shown.rows) if shown else self.n_rows, "TrigramIndex.scores")
        asked = trigrams_of(text)
        numbers = self.vocabulary.numbers
        ids = np.array([numbers[key] for key in asked if key in numbers], np.int64)
        frequencies = self._postings.length[ids]
        if self._uncounted:
            frequencies = frequencies - np.array(
                [self._uncounted.get(int(id_), 0) for id_ in ids], np.int64
            )
        ids = ids[frequencies <= max_df * self.n_counted]
        out[:] = 0.0
        if shown:
            if self._lists is None:  # threads that ask at the same time make equal ones
                self._lists = RowLists(self._postings, self._sizes[: self.n_rows])
            wanted = np.zeros(len(self.vocabulary.numbers), np.uint8)
            wanted[ids] = 1
            lists = self._lists
            in_blocks(
                len(out),
                FEW,
                lambda block: _count_listed(
                    wanted, lists.end, lists.keys, shown.rows[block], out[block]
                ),
            )
        else:
            _count_shared(
                ids, self._postings.pool, self._postings.start, self._postings.length, out
            )
        if asked:
            _overlap(
                self._sizes[shown.rows] if shown else self._sizes,
                len(asked),
                measure is TrigramMeasure.SIMILARITY,
                out,
            )


def trigrams_of(text: str) -> list[str]:
    """The distinct trigrams of a text in order: each word in lower case, with two blanks before and
    one behind (pg_trgm).

    Diacritics are folded, which pg_trgm leaves to a dictionary; names with symbols ("c++") count as
    words, and so does a run of a script without spaces.  O(len(text)).

    >>> trigrams_of("Cat cat!")
    ['  c', ' ca', 'cat', 'at ']
    """
    words = dict.fromkeys(written(fold(text)))
    if len(text) > LONG:
        return _trigrams_of_words(list(words))
    return list(dict.fromkeys(chain.from_iterable(map(_trigrams_of_word, words))))


def _trigrams_of_words(words: list[str]) -> list[str]:
    """The distinct trigrams of many words in order, found as numbers: a new word costs a tenth of
    what it costs alone.
    """
    joined = "".join([f"  {word} " for word in words])
    codes = codes_of(joined)
    keys = codes.astype(np.int64)
    numbers = (keys[:-2] << 42) | (keys[1:-1] << 21) | keys[2:]
    ends = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)) + 3)
    within = np.ones(len(codes), np.bool_)
    within[ends - 1] = within[ends - 2] = False  # they lead into the next word
    places = np.flatnonzero(within)
    begin = places[numbered(numbers[places])[1]]
    return strings(codes, begin, begin + 3)


@remembered
def _trigrams_of_word(word: str) -> tuple[str, ...]:
    """Of a word alone: texts share most of their words, and so their trigrams.  One string a
    trigram.
    """
    padded = f"  {word} "
    return tuple([intern(padded[i : i + 3]) for i in range(len(word) + 1)])


def _block(length: NDArray[np.int64]) -> NDArray[np.int64]:
    """Entries of the smallest block that holds so many."""
    blocks = np.ceil(np.log2(np.maximum(length, MIN_BLOCK) / MIN_BLOCK)).astype(np.int64)
    return MIN_BLOCK << blocks


def _count(counts: dict[int, int], ids: NDArray[np.int64]) -> None:
    for id_ in ids.tolist():
        counts[id_] = counts.get(id_, 0) + 1


def _require_next(row: int, due: int, where: str) -> None:
    if row != due:
        raise InputError(
            f"row {row} was added, but row {due} is next",
            where=where,
            cure="add every row once and in order, empty texts included",
        )


def _require_vector(out: NDArray[np.float32], n_rows: int, where: str) -> None:
    if out.shape != (n_rows,) or out.dtype != np.float32:
        raise InputError(
            f"the score vector is {out.dtype} of shape {out.shape}",
            where=where,
            cure=f"pass float32 of shape ({n_rows},)",
        )


Array = TypeVar("Array", bound=np.generic)


def _grown(array: NDArray[Array], size: int) -> NDArray[Array]:
    longer = np.zeros(size, array.dtype)
    longer[: array.size] = array
    return longer


@exact_kernel
def _space_needed(
    keys: NDArray[np.int64], length: NDArray[np.int64], capacity: NDArray[np.int64]
) -> int:
    """Most new entries of the pool that appending one posting to each key needs, if no unused
    block can be taken.
    """
    room = 0
    for i in range(keys.size):
        key = keys[i]
        if length[key] == capacity[key]:
            room += max(MIN_BLOCK, 2 * capacity[key])
    return room


@exact_kernel
def _append(
    keys: NDArray[np.int64],
    entries: NDArray[Entry],
    pool: NDArray[Entry],
    start: NDArray[np.int64],
    length: NDArray[np.int64],
    capacity: NDArray[np.int64],
    free: NDArray[np.int64],
    used: int,
) -> int:
    """Append `entries[i]` to the block of `keys[i]`, moving full blocks; returns the new end of the
    used pool.
    """
    for i in range(keys.size):
        key = keys[i]
        old = capacity[key]
        if length[key] == old:
            new = max(MIN_BLOCK, 2 * old)
            size = 0
            while MIN_BLOCK << size < new:
                size += 1
            if free[size] >= 0:
                at = free[size] * MIN_BLOCK
                free[size] = pool[at]
            else:
                at = used
                used += new
            for j in range(old):
                pool[at + j] = pool[start[key] + j]
            if old:
                pool[start[key]] = free[size - 1]
                free[size - 1] = start[key] // MIN_BLOCK
            start[key] = at
            capacity[key] = new
        pool[start[key] + length[key]] = entries[i]
        length[key] += 1
    return used


@kernel
def _count_keys(keys: NDArray[np.int64], n_keys: int, length: NDArray[np.int64]) -> bool:
    """Add to `length` how often each key occurs; returns whether all keys are known."""
    for key in keys:
        if not 0 <= key < n_keys:
            return False
        length[key] += 1
    return True


@kernel
def _spread(
    keys: NDArray[np.int64],
    counts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    counted: bool,
    at: NDArray[np.int64],
    pool: NDArray[Entry],
    lengths: NDArray[np.float64],
) -> None:
    """Write the posting of each entry into the block of its key, after those before it: row <<
    TF_BITS | count if `counted`, else the row.

    at       next place of each key, changed
    lengths  of each row, to which its counts are added if `counted`
    """
    i = 0
    for row in range(sizes.size):
        for _ in range(sizes[row]):
            if counted:
                pool[at[keys[i]]] = (row << TF_BITS) | min(np.int64(counts[i]), (1 << TF_BITS) - 1)  # type: ignore[operator]
                lengths[row] += counts[i]
            else:
                pool[at[keys[i]]] = row
            at[keys[i]] += 1
            i += 1


@exact_kernel
def _sought(pool: NDArray[Entry], at: int, end: int, least: int) -> int:
    """The first place from `at` on whose entry is not below `least`; `end` if there is none.
    Entries ascend.  O(log of the distance).
    """
    step = 1
    while at + step < end and pool[at + step] < least:
        at += step
        step *= 2
    return place_from(pool, at, min(at + step, end), least)


@exact_kernel
def _bm25(
    ids: NDArray[np.int64],
    weights: NDArray[np.float64],
    pool: NDArray[np.int64],
    start: NDArray[np.int64],
    length: NDArray[np.int64],
    lengths: NDArray[np.float64],
    base: float,
    slope: float,
    first: int,
    out: NDArray[np.float32],
) -> None:
    """out[row - first] = sum of weight tf / (tf + base + slope lengths[row]) over the postings (row
    << TF_BITS | tf) of the ids.

    first  of the rows that get a score
    """
    for j in range(out.size):
        out[j] = 0.0
    for i in range(ids.size):
        begin, end = start[ids[i]], start[ids[i]] + length[ids[i]]
        for j in range(_sought(pool, begin, end, first << TF_BITS), end):
            row = pool[j] >> TF_BITS
            if row >= first + out.size:
                break
            tf = pool[j] & ((1 << TF_BITS) - 1)
            out[row - first] += weights[i] * tf / (tf + base + slope * lengths[row])


@kernel
def _held(
    pool: NDArray[np.int64],
    at: int,
    end: int,
    rows: NDArray[np.int64],
    place: NDArray[np.int32],
    which: NDArray[np.int32],
    where: NDArray[np.int64],
) -> int:
    """Write which of some rows pool[at:end] holds: for each the place in `rows` and the place in
    the pool, ascending; returns how many there are.

    which, where  (m,) written

    Rows are sought in a long list, and read off a short one.
    """
    count = 0
    if end - at > SPARSE * rows.size:
        for j in range(rows.size):
            at = _sought(pool, at, end, rows[j] << TF_BITS)
            if at < end and pool[at] >> TF_BITS == rows[j]:
                which[count], where[count] = j, at
                count += 1
    else:
        for posting in range(at, end):
            if place[pool[posting] >> TF_BITS] >= 0:
                which[count], where[count] = place[pool[posting] >> TF_BITS], posting
                count += 1
    return count


@kernel
def _add_bm25(
    weight: float,
    which: NDArray[np.int32],
    times: NDArray[np.int64],
    lengths: NDArray[np.float64],
    base: float,
    slope: float,
    out: NDArray[np.float32],
) -> None:
    """Add to out[which_i] what `_bm25` adds for a term that is held times_i times.  lengths: of
    each place.
    """
    for i in range(which.size):
        out[which[i]] += weight * times[i] / (times[i] + base + slope * lengths[which[i]])


@exact_kernel
def _count_shared(
    ids: NDArray[np.int64],
    pool: NDArray[np.int32],
    start: NDArray[np.int64],
    length: NDArray[np.int64],
    out: NDArray[np.float32],
) -> None:
    """Add to out[row] how many of the ids the row holds (exact below 2^24)."""
    for i in range(ids.size):
        begin = start[ids[i]]
        for j in range(begin, begin + length[ids[i]]):
            out[pool[j]] += np.float32(1.0)


@kernel
def _list_keys(
    pool: NDArray[np.int32],
    start: NDArray[np.int64],
    length: NDArray[np.int64],
    at: NDArray[np.int64],
    keys: NDArray[np.int32],
) -> None:
    """Write each posting's key to the list of its row, a few rows at a time, whose lists stay in
    the processor's cache.

    at  (n_rows,) next place of each row's list, changed
    """
    due = start.copy()  # next posting of each key
    for first in range(0, at.size, LISTED):
        for key in range(start.size):
            j, end = due[key], start[key] + length[key]
            while j < end and pool[j] < first + LISTED:
                keys[at[pool[j]]] = key
                at[pool[j]] += 1
                j += 1
            due[key] = j


@kernel
def _count_listed(
    wanted: NDArray[np.uint8],
    end: NDArray[np.int64],
    keys: NDArray[np.int32],
    rows: NDArray[np.int64],
    out: NDArray[np.float32],
) -> None:
    """Add to out[i] how many of the wanted keys the list of rows[i] holds.  wanted: (keys,)."""
    for i in range(rows.size):
        held = np.uint32(0)
        for key in keys[end[rows[i] - 1] if rows[i] else 0 : end[rows[i]]]:
            # an unsigned place is not tested for being counted from the end
            held += wanted[np.uint32(key)]
        out[i] += np.float32(held)


@exact_kernel
def _overlap(sizes: NDArray[np.int32], asked: int, jaccard: bool, out: NDArray[np.float32]) -> None:
    """From the number of shared trigrams: out = shared / (asked + size - shared) if `jaccard`,
    else shared / asked.
    """
    for row in range(out.size):
        shared = out[row]
        out[row] = shared / (asked + sizes[row] - shared) if jaccard else shared / asked
