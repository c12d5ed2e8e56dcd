"""Shortlists: in a large memory a question is asked of the rows that are likely to matter, instead
of all.

The rows are found by the vector index, by postings, by entities, by time and by links; then every
step of RETRIEVE runs over a `PartialStore` of them.  A sample of the other rows stands for them in
means and deviations.  Links are those among the shortlist, and no other row is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.numerics import exact_kernel, kernel, read_only
from ..base.sharing import at_once
from ..contract.ask import Ask
from ..contract.columns import Column, Phase, Scope, Signal, Structure
from ..contract.hooks import Cue
from ..contract.vocabulary import (
    ANSWERABLE,
    CREATED,
    INDEX,
    LEXICON,
    NOW,
    PASSAGES,
    RECALLED,
    RELEASED,
    SESSION,
    STANDS_FOR,
    UTC_OFFSET,
    VISIBLE,
)
from ..flow.dataflow import answering, touched_by
from ..flow.passes import Helpers, Instrument, PhasePlan, schedule
from ..flow.schedule import ENGINE, Node
from ..state.graph import EdgeType, entity_node
from ..state.postings import BM25Index, Idf
from ..state.ranking import Standing, best, falling
from ..state.store import Cells
from ..state.vectors import VectorIndex
from ..steps.filter import Banned
from ..text.dates import times
from .on_read import LateRows
from .partial import PartialStore, Rows
from .priors import Priors

Points = NDArray[np.bool_]  # (rows, AROUND), of one column
# a memory of fewer rows than so many shortlists is asked as a whole, which is faster
PAYS: Final = 16
MOST_ANSWERED: Final = 1 / 8  # share of a shortlist that can be answered
LIKELY: Final = 9 / 16  # share of a shortlist for the likeliest rows
# share of a shortlist, within LIKELY, for rows told at a time that the question names
OF_TIME: Final = 1 / 8
BACK: Final = 1 / 8  # share for rows that point back to likely rows
# Shares of a shortlist for a sample of the other rows.  What is left is for rows to which the rows
# so far point.
REPLIES: Final = 3 / 32  # of rows that point back to a row with words of the question
WORDED: Final = 1 / 16  # of rows with words of the question
UNWORDED: Final = 1 / 8  # of the rest
LOOKED: Final = 8192  # rows with words from which the sample is drawn
# rows that are compared with the question for each of the rest that is drawn from them
POOL: Final = 8
MOSTLY: Final = 3 / 4  # share of the pool that must be other rows
# candidates for each row of the shortlist, spread over time, for the sample without words and for
# unused places
FILL: Final = 8
# share for the longest texts in words, and as much in passages: scores that depend on length have
# their extremes there
LONGEST: Final = 1 / 128
# rows nearest to the vector of the question that are sought for each row of the shortlist
ALIKE: Final = 1
# rows best by words for each row of the shortlist; they and the nearest rows are compared by both
WORDS: Final = 1
# newest rows for each row of the shortlist that are compared by both because a column marks them
CONSIDERED: Final = 1
# Shares of a shortlist, in the order in which the likeliest rows are taken.
FIRST: Final = 1 / 8  # for the first rows by vector, and as much for the first by words
NEAREST: Final = 1 / 8  # for the nearest rows by vector alone
BOTH: Final = 1 / 4  # for the best rows by vector and words together
# for rows of the entities to which those of the question have edges, at most: few of them differ
BEYOND: Final = 1 / 4
NEAR: Final = 3 / 16  # for rows around the first rows in time and along links
# for the newest rows of the entities of the question, and as much for its session and for all
NAMED: Final = 1 / 16
EACH: Final = 8  # newest rows that are taken of each entity for BEYOND
# rows from which the mean and deviation of products with the question are taken
SPREAD: Final = 512
BEST: Final = 32  # most first rows by vector, and most by words
ENTITY: Final = int(EdgeType.ENTITY)
AROUND: Final = 2  # neighbours in time on either side, at least
# share of the room for neighbours for those in time on either side of the best row; of the row with
# rank r, divided by r
FAR: Final = 1 / 16
GOLDEN: Final = (5**0.5 - 1) / 2  # its multiples modulo 1 are spread evenly and never repeat


@exact_kernel
def around(
    rows: Rows,
    n: int,
    start: NDArray[np.int64],
    degree: NDArray[np.int32],
    ends: NDArray[np.int32],
    out: NDArray[np.int64],
) -> int:
    """Rows next to some rows in time, the better the further, then rows to which they have edges,
    until `out` is full; returns their number.

    rows           (q,)  rows of a memory of n, the best first
    start, degree  (types, nodes) and ends: `Graph.blocks`
    out            written; a row may occur more than once

    >>> out = np.empty(8, dtype=np.int64)
    >>> out[:around(np.array([0]), 3, np.zeros((1, 3), np.int64), np.array([[2, 0, 0]]), np.array([-1, 2]), out)].tolist()
    [1, 2, 2]
    """
    count = 0
    for rank in range(rows.shape[0]):
        row, reach = rows[rank], max(AROUND, int(out.shape[0] * FAR) // (rank + 1))
        for other in range(max(row - reach, 0), min(row + reach + 1, n)):
            if other != row and count < out.shape[0]:
                out[count] = other
                count += 1
    for row in rows:
        for kind in range(degree.shape[0]):
            for place in range(start[kind, row], start[kind, row] + degree[kind, row]):
                if ends[place] >= 0 and count < out.shape[0]:
                    out[count] = ends[place]
                    count += 1
    return count


@exact_kernel
def first_of(rows: Rows, most: int, seen: NDArray[np.bool_]) -> int:
    """Move the first `most` different numbers to the front of `rows`, in order of first occurrence;
    returns their number.  Negative numbers do not count.

    seen  (n,) all False, as afterwards

    >>> rows = np.array([4, -1, 2, 4, 0, 2, 1])
    >>> rows[:first_of(rows, 3, np.zeros(5, np.bool_))].tolist()
    [4, 2, 0]
    """
    count = 0
    for i in range(rows.shape[0]):
        if count == most:
            break
        row = rows[i]
        if row >= 0 and not seen[row]:
            seen[row] = True
            rows[count] = row
            count += 1
    for i in range(count):
        seen[rows[i]] = False
    return count


@exact_kernel
def beyond(
    named: NDArray[np.int64],
    start: NDArray[np.int64],
    degree: NDArray[np.int32],
    ends: NDArray[np.int32],
    out: NDArray[np.int64],
) -> int:
    """The newest rows of the entities to which some entities have edges, until `out` is full;
    returns their number.

    named          (q,)  nodes of entities
    start, degree  (types, nodes) and ends: `Graph.blocks`
    out            written; a row may occur more than once
    Cost: O(edges of the entities + rows written).
    """
    count = 0
    for node in named:
        for kind in range(degree.shape[0]):
            for place in range(start[kind, node], start[kind, node] + degree[kind, node]):
                other = ends[place]
                if other < 0:
                    last = start[ENTITY, other] + degree[ENTITY, other]
                    for at in range(max(start[ENTITY, other], last - EACH), last):
                        if count == out.shape[0]:
                            return count
                        out[count] = ends[at]
                        count += 1
    return count


@exact_kernel
def mark_pointing(targets: Any, rows: Rows, points: Points) -> None:
    """points_(i, k) becomes True if row rows_i + k + 1 has rows_i among its targets.  O(rows).

    targets  (n, m)       row numbers; negative: none
    points   (q, AROUND)  written

    >>> points = np.zeros((2, AROUND), np.bool_)
    >>> mark_pointing(np.array([[-1], [0], [0]]), np.array([0, 1]), points)
    >>> points.tolist()
    [[True, True], [False, False]]
    """
    for i in range(rows.shape[0]):
        for k in range(min(AROUND, targets.shape[0] - rows[i] - 1)):
            for j in range(targets.shape[1]):
                if targets[rows[i] + k + 1, j] == rows[i]:
                    points[i, k] = True


@kernel
def mark_worded(
    targets: Any, rows: Rows, words: NDArray[np.float32], worded: NDArray[np.bool_]
) -> None:
    """worded_i becomes True if rows_i has among its targets one that it follows closely and that has
    words of the question.  O(rows).

    targets  (n, m)  row numbers; negative: none
    words    (n,)    score of each row by words
    worded   (q,)    written
    """
    for i in range(rows.shape[0]):
        for j in range(targets.shape[1]):
            target = targets[rows[i], j]
            worded[i] |= target >= 0 and 1 <= rows[i] - target <= AROUND and words[target] > 0.0


@kernel
def positive(scores: NDArray[np.float32], rows: Rows, held: NDArray[np.float32]) -> int:
    """Write the rows with a positive score, ascending, and these scores; returns how many there
    are.  O(n), in half the time of numpy.

    scores      (n,)
    rows, held  (n,)  written from the front

    >>> rows, held = np.empty(4, np.int64), np.empty(4, np.float32)
    >>> count = positive(np.array([0.0, 2.0, 0.0, 1.0], np.float32), rows, held)
    >>> rows[:count].tolist(), held[:count].tolist()
    ([1, 3], [2.0, 1.0])
    """
    count = 0
    for row in range(scores.shape[0]):
        if scores[row] > 0.0:
            rows[count], held[count] = row, scores[row]
            count += 1
    return count


@kernel
def count_wordless(other: NDArray[np.bool_], words: NDArray[np.float32]) -> int:
    """How many of the other rows have no word of the question.  O(n), without an array of n.

    >>> count_wordless(np.array([True, True, False]), np.array([0.0, 1.0, 0.0], np.float32))
    1
    """
    count = 0
    for row in range(other.shape[0]):
        count += other[row] and words[row] <= 0.0
    return count


class _Near(NamedTuple):
    """What is near a question.

    visible   (n,)  rows that may be likely by content: those that a filter admits
    alike     the nearest rows by vector, the nearest first; products: theirs with the question
    words     the best rows by words, the best first
    marked    the newest rows that a column with `considered` marks
    """

    visible: NDArray[np.bool_]
    alike: Rows
    products: NDArray[np.float32]
    words: Rows
    marked: Rows


class _Pool(NamedTuple):
    """Rows spread over all that are without words of the question, from which a sample is drawn.

    products    theirs with the question
    stands_for  how many rows they are spread over; None where all rows with words are looked at, so
                that this follows from the number of all
    """

    rows: Rows
    products: NDArray[np.float32]
    stands_for: int | None


class Shortlist:
    """Asks the likely rows of a store.

    store  shows the rows of the last question
    plan   the steps of RETRIEVE over it, without those that learn or make a context
    run    finds the rows for an `Ask` and runs the plan over them, and lets the memory's observer
           measure it
    """

    def __init__(
        self,
        most: int,
        base: Cells,
        banned: Banned,
        nodes: Callable[[Cells, Banned], Sequence[Node]],
        signals: Sequence[tuple[Signal, float]],
        streams: Mapping[str, np.random.Generator],
        instrument: Instrument | None,
        helpers: Helpers | None = None,
        *,
        late: Callable[[Cells, int], LateRows | None],
    ) -> None:
        """banned: of all rows; nodes: the steps of RETRIEVE for the store that is asked; helpers:
        threads that find the rows; late: makes what computes the late columns of at most so many
        rows.

        Raises ContractError for a set that cannot be asked in part.
        """
        self.most, self._base, self._graph, self._banned_of, self._helpers = (
            most,
            base,
            base.graph,
            banned,
            helpers,
        )
        self._index: VectorIndex = base.structures[INDEX]
        self._lexicon: BM25Index = base.structures[LEXICON]
        self.store = PartialStore(base, most, late=late(base, most))
        asking = answering(nodes(self.store, lambda _: self._banned[self.store.rows]))
        touched = dict.fromkeys(item for node in asking for item in touched_by(node))
        self.store.receive(t for t in touched if isinstance(t, Structure))
        represent = Node(
            ENGINE, "represent", Phase.RETRIEVE, -1, (), (), (STANDS_FOR,), self._represent
        )
        steps = schedule([*asking, represent], [s for s, _ in signals])[Phase.RETRIEVE]
        self.plan = PhasePlan(
            Phase.RETRIEVE,
            steps,
            self.store,
            signals,
            streams,
            instrument.wrap if instrument else None,
        )
        self.run: Callable[..., None] = (
            instrument.timed(Phase.RETRIEVE, self._run) if instrument else self._run
        )
        numbered = [c for c in touched if isinstance(c, Column) and c.upkeep.rows is not None]
        self._known = [c for c in numbered if c.scope is Scope.GLOBAL]
        self._pointing = [c for c in numbered if c.scope is Scope.MEMORY]
        self._passages = base.structures[PASSAGES] if PASSAGES in touched else None
        # score of each row by words of the question
        self._words: NDArray[np.float32] = np.empty(0, np.float32)
        self._worded: Rows = np.empty(0, np.int64)  # rows with words of the question
        self._held: NDArray[np.float32] = np.empty(0, np.float32)  # scores of these rows
        self._room = self._words, self._worded, self._held  # spare room for the three arrays
        self._asking = [c for c in touched if isinstance(c, Column) and c.upkeep.considered]
        considered = (ALIKE + WORDS + CONSIDERED) * most
        self._priors = Priors(base, considered, asking, streams, late(base, considered))
        self._long: tuple[tuple[int, int], list[Rows]] = (-1, -1), []
        self._stand_for: NDArray[np.float32] = np.empty(0, np.float32)
        self._seen = np.empty(0, np.bool_)  # whether each row was seen, False between calls
        # which rows the filter of the last question with a filter leaves out
        self._banned = np.empty(0, np.bool_)

    def asks(self, rows: int) -> bool:
        """Whether a question that wants so many rows is asked of a shortlist: if the memory is
        large, and the rows are few.
        """
        return self._base.n >= PAYS * self.most and rows <= self.most * MOST_ANSWERED

    def _run(self, ask: Ask) -> None:
        with self._helpers.helping(self._base.n) if self._helpers else nullcontext():
            rows, self._stand_for = self.chosen(ask.cue)
            self.store.show(rows)
            self.plan.run(ask)

    @property
    def answered(self) -> tuple[Rows, Standing]:
        """The rows of the answer, and how all memories stand.  O(rows)."""
        rows = self.store.rows.copy()  # a view of a longer array
        final, answerable = (
            self.store.array(self.plan.stages.source(c)).copy() for c in (RELEASED, ANSWERABLE)
        )
        return rows[self.store.structures[RECALLED]], Standing(
            self._base.n, rows, final, answerable
        )

    def chosen(self, cue: Cue) -> tuple[Rows, NDArray[np.float32]]:
        """The rows of a question, ascending, and how many visible memories each stands for.

        Rows of the time that the question names, the likely rows, rows that follow likely rows
        closely and point back to them, and the longest rows each stand for themselves; a sample of
        the other visible rows stands for all of these.  Rows to which they point, such as the
        question that a memory answers, and further likely rows are shown for the sake of their
        scores and stand for none, so that means have no bias.  A filter leaves the rows that it
        does not admit out of the rows that are likely by content, but not out of the sample, as
        means and deviations are those of all visible memories.  Cost: that of `likely`, O(n), and
        the products of `POOL` times as many rows as the sample of the rest has.
        """
        n, most, visible = self._base.n, self.most, self._base.array(VISIBLE)
        near = self._near(cue)
        (ranked, points), looked, pool = at_once(
            lambda: self._with_points(self._likely(cue, near)),
            self._looked,
            lambda: self._pool(cue, visible),
        )
        of_time = self._of_time(cue, near.visible)
        likely, later = np.split(ranked, [int(most * LIKELY) - len(of_time)])
        columns = [at for at, marks in enumerate(points) if marks.any()]
        back, _ = self._pointing_back(ranked, points)
        first = self._different(
            [of_time, likely, *self._longest(visible), back[: int(most * BACK)]], n
        )
        other = visible.copy()
        other[first] = False
        sample, counts = self._sample(cue, other, looked, pool, columns)
        begun = np.concatenate([first, sample])
        pointed = [self._targets(c)[begun].ravel() for c in self._pointing]
        rows = self._different(
            [begun, *pointed, later, self._evenly(lambda rows: other[rows], most)], most
        )
        rows.sort()
        stand_for = np.zeros(len(rows), np.float32)
        stand_for[np.searchsorted(rows, first)] = visible[first]
        stand_for[np.searchsorted(rows, sample)] = counts
        return rows, stand_for

    def _of_time(self, cue: Cue, visible: NDArray[np.bool_]) -> Rows:
        """The first visible rows told at the times of the calendar that the question names, those
        of the middle of a vague time before others.

        A row is of a day if it was that day on the asker's clock or on its own.  O(n) for each
        time.
        """
        created, offsets = self._base.array(CREATED), self._base.array(UTC_OFFSET)
        own = float(offsets[-1]) if cue.query.offset is None else cue.query.offset
        named = times(cue.query.text, float(self._base.array(NOW)) + own).expressions
        if not named:
            return np.empty(0, np.int64)
        clocks, parts = (created + offsets, created + own), []
        for start, end in [
            *(expression.focus for expression in named if expression.focus),
            *((expression.start, expression.end) for expression in named),
        ]:
            of_it = np.flatnonzero(
                visible & np.logical_or.reduce([(start <= at) & (at < end) for at in clocks])
            )
            parts.append(of_it[np.argsort(created[of_it], kind="stable")])
        return self._different(parts, int(self.most * OF_TIME))

    def _longest(self, visible: NDArray[np.bool_]) -> list[Rows]:
        """Rows of the longest texts: in words, and in passages, if steps read these.  O(n) after
        a change.
        """
        if self._long[0] != self._index.state:
            lengths = [self._lexicon.lengths] + (
                [self._passages.counts(self._base.n)] if self._passages else []
            )
            self._long = (
                self._index.state,
                [best(row_lengths, visible, int(self.most * LONGEST)) for row_lengths in lengths],
            )
        return self._long[1]

    def _targets(self, column: Column) -> NDArray[Any]:
        """(n, m) the row numbers that a column holds, a view; a negative number is no row."""
        array = self._base.array(column)[column.upkeep.rows]
        targets: NDArray[Any] = array.reshape(len(array), prod(array.shape[1:]))
        return targets

    def _with_points(self, rows: Rows) -> tuple[Rows, list[Points]]:
        """These rows, and for each column that holds row numbers which rows after them point to
        them in that column, see `mark_pointing`.

        O(rows) for each column.
        """
        points = [np.zeros((len(rows), AROUND), np.bool_) for _ in self._pointing]
        for column, marks in zip(self._pointing, points, strict=True):
            mark_pointing(self._targets(column), rows, marks)
        return rows, points

    def _pointing_back(self, rows: Rows, points: Sequence[Points]) -> tuple[Rows, Rows]:
        """The visible rows that follow closely after one of `rows` and point to it, in the order of
        `rows`, and the rows to which they point.
        """
        at, after = np.divmod(
            np.flatnonzero(np.logical_or.reduce(points, initial=False))
            if points
            else np.empty(0, np.int64),
            AROUND,
        )
        following = rows[at] + after + 1
        shown = self._base.array(VISIBLE)[following]
        return following[shown], rows[at][shown]

    def _points_back(self, rows: Rows, columns: Sequence[int]) -> NDArray[np.bool_]:
        """Whether each row follows closely after one with words of the question and points to it
        in a column.  O(rows) for each column.
        """
        pointing = np.zeros(len(rows), np.bool_)
        for at in columns:
            mark_worded(self._targets(self._pointing[at]), rows, self._words, pointing)
        return pointing

    @property
    def _all_looked(self) -> bool:
        """Whether `_looked` gives all rows with words."""
        return len(self._worded) <= LOOKED

    def _looked(self) -> tuple[Rows, list[Points]]:
        """Rows with words of the question, spread over all such rows, as `_with_points` gives them:
        a sample is drawn from them.
        """
        return self._with_points(self._worded[_scattered(len(self._worded), LOOKED)])

    def _pool(self, cue: Cue, admitted: NDArray[np.bool_]) -> _Pool:
        """Some of the rows that are admitted and have no words of the question; a sample is drawn
        from them.  O(n).
        """
        rows = self._evenly(
            lambda rows: admitted[rows] & (self._words[rows] <= 0.0),
            int(self.most * UNWORDED) * POOL,
        )
        return _Pool(
            rows,
            self._index.products(cue.vector, rows),
            None if self._all_looked else count_wordless(admitted, self._words),
        )

    def _sample(
        self,
        cue: Cue,
        other: NDArray[np.bool_],
        with_words: tuple[Rows, list[Points]],
        pool: _Pool,
        columns: Sequence[int],
    ) -> tuple[Rows, NDArray[np.float64]]:
        """A sample of the rows for which `other` is True, and how many rows each of the sample
        stands for.

        with_words  as `_looked`
        pool        of all visible rows; if too few of its rows are others, it is made anew
        columns     in which rows point to one another, by place

        Scores are most unequal among rows with words of the question and those that point back to
        them.  So both are strata, drawn evenly over their scores by words; the others are drawn
        evenly over their products with the question.
        """
        most, (looked, points) = self.most, with_words
        back, to = self._pointing_back(looked, [points[at] for at in columns])
        back = back[falling(self._words[to])]
        back = self._different([back[other[back]]], self._base.n)
        looked = looked[other[looked] & ~self._points_back(looked, columns)]
        looked = looked[falling(self._words[looked])]
        total, n_looked = int(np.count_nonzero(other)), len(back) + len(looked)
        if np.count_nonzero(other[pool.rows]) < len(pool.rows) * MOSTLY:
            pool = self._pool(cue, other)
        drawn = other[pool.rows] & ~self._points_back(pool.rows, columns)
        rest = pool.rows[drawn][falling(-pool.products[drawn])]
        size = (
            total - n_looked
            if pool.stands_for is None or not n_looked
            else pool.stands_for * len(rest) / max(len(pool.rows), 1)
        )
        # rows for which each that was looked at stands
        stands_for = (total - size) / max(n_looked, 1)
        strata = (
            (back, REPLIES, stands_for * len(back)),
            (looked, WORDED, stands_for * len(looked)),
            (rest, UNWORDED, size),
        )
        samples = [stratum[_even(len(stratum), int(most * share))] for stratum, share, _ in strata]
        counts = [
            np.full(len(sample), rows / max(len(sample), 1))
            for sample, (_, _, rows) in zip(samples, strata, strict=True)
        ]
        return np.concatenate(samples), np.concatenate(counts)

    def _evenly(self, admitted: Callable[[Any], NDArray[np.bool_]], most: int) -> Rows:
        """Up to `most` of the rows that are admitted, spread over time.  O(most), or O(n) if few
        are.

        admitted  whether each of some rows, or of those of a slice, is
        """
        spread = _scattered(self._base.n, FILL * self.most)
        rows = spread[admitted(spread)]
        if len(rows) < most:
            rows = np.flatnonzero(admitted(slice(None)))
        return rows[_scattered(len(rows), most)]

    def likely(self, cue: Cue) -> Rows:
        """The rows that are likely to matter to a question, the likeliest first.

        The few best by vector and by words come first, then what answers needed last, the nearest,
        and those that are best by vector, words and priors together.  Others are rows of entities
        to which those of the question lead, the neighbours of the best in time and along links, and
        the newest rows of the entities of the question, of all and of its session.  Hidden rows,
        and rows that a filter leaves out, come by use and as neighbours alone.  Cost: one search of
        the index, O(n) for the words and for each condition of a filter, O(1) in n for the rest.
        """
        return self._likely(cue, self._near(cue))

    def _near(self, cue: Cue) -> _Near:
        """The rows nearest to a question by vector and by words, and those that a column marks.
        O(n) for the words and for each filter.
        """
        visible, only = self._base.array(VISIBLE), cue.query.only
        if only is not None:
            self._banned = self._banned_of(only)
            visible = visible & ~self._banned
        (alike, products), words, marked = at_once(
            lambda: self._alike(cue, ALIKE * self.most, visible if only is not None else None),
            lambda: self._by_words(cue, visible),
            lambda: self._marked(visible),
        )
        return _Near(visible, alike, products, words, marked)

    def _likely(self, cue: Cue, near: _Near) -> Rows:
        """As `likely`, from what is near."""
        n, most, (visible, alike, products, words, marked) = self._base.n, self.most, near
        both = self._by_both(cue, alike, products, [words, marked])
        used = [np.ravel(self._base.array(c)[c.upkeep.rows]) for c in self._known]
        share = int(most * NAMED)
        known = [
            e for name in cue.features.entities if (e := self._graph.entity_id(name)) is not None
        ]
        recent: list[NDArray[np.integer[Any]]] = []
        others = np.empty(int(most * BEYOND), np.int64)
        for e in known:
            edges = self._graph.neighbours(entity_node(e), EdgeType.ENTITY)  # oldest first
            recent.append(self._graph.target[edges[max(len(edges) - share // len(known), 0) :]])
        recent.append(np.arange(max(n - share, 0), n))
        if cue.session >= 0:
            recent.append(np.flatnonzero(self._base.array(SESSION) == cue.session)[-share:])
        first = min(BEST, int(most * FIRST))
        start, beside = _in_turn(alike[:first], words[:first]), np.empty(int(most * NEAR), np.int64)
        blocks = self._graph.blocks
        count = around(start, n, blocks[0], blocks[1], blocks[3], beside)
        others = others[
            : beyond(
                np.array([entity_node(e) for e in known], np.int64),
                blocks[0],
                blocks[1],
                blocks[3],
                others,
            )
        ]
        parts = [
            start,
            *used,
            alike[: int(most * NEAREST)],
            both[: int(most * BOTH)],
            others[visible[others]],
            beside[:count],
        ]
        return self._different(
            [*parts, *(recent_rows[visible[recent_rows]] for recent_rows in recent), both], n
        )

    def _different(self, parts: Sequence[NDArray[np.integer[Any]]], most: int) -> Rows:
        """The first `most` different row numbers of the parts, in order of first occurrence;
        negative ones are none.  O(numbers).
        """
        if len(self._seen) < self._base.n:
            self._seen = np.zeros(self._base.capacity, np.bool_)
        rows = np.concatenate(parts).astype(np.int64, copy=False)
        return rows[: first_of(rows, most, self._seen)]

    def _alike(
        self, cue: Cue, most: int, admitted: NDArray[np.bool_] | None
    ) -> tuple[Rows, NDArray[np.float32]]:
        """The visible rows that the filter admits and that are nearest to the vector of the
        question, and their products with it.

        All admitted rows are compared, O(rows d), if they are few, or if too few of the rows near
        the question are admitted.
        """
        if admitted is None:
            return self._index.search(cue.vector, most)
        rows, most = np.flatnonzero(admitted), min(most, int(np.count_nonzero(admitted)))
        if len(rows) > PAYS * self.most:
            # enough if the filter admits the same share of the near rows as of all rows
            wanted = min(2 * most * self._base.n // len(rows), PAYS * most)
            nearest, products = self._index.search(cue.vector, wanted)
            shown = np.flatnonzero(admitted[nearest])[:most]
            if len(shown) == most:
                return nearest[shown], products[shown]
        products = self._index.products(cue.vector, rows)
        at = best(products, np.ones(len(rows), np.bool_), most)
        return rows[at], products[at]

    def _represent(self, view: Any, cue: Cue) -> None:
        view.stands_for[...] = self._stand_for

    def _by_words(self, cue: Cue, visible: NDArray[np.bool_]) -> Rows:
        """The visible rows with the best scores by words."""
        n = self._lexicon.n_rows
        if len(self._room[0]) < n:
            self._room = (
                np.empty(2 * n, np.float32),
                np.empty(2 * n, np.int64),
                np.empty(2 * n, np.float32),
            )
        words, worded, held = self._room
        self._words = words[:n]
        self._lexicon.scores(cue.terms, self._words, Idf.LUCENE.weight)
        count = positive(self._words, worded, held)
        self._worded, self._held = worded[:count], held[:count]
        best_rows: Rows = self._worded[best(self._held, visible[self._worded], WORDS * self.most)]
        return best_rows

    def _marked(self, visible: NDArray[np.bool_]) -> Rows:
        """The newest visible rows at which a column with `considered` is not neutral.  O(n)."""
        rows: Rows = np.unique(
            np.concatenate(
                [
                    np.empty(0, np.int64),
                    *(np.flatnonzero(self._base.array(c) != c.neutral) for c in self._asking),
                ]
            )
        )
        return rows[visible[rows]][-CONSIDERED * self.most :]

    def _by_both(
        self, cue: Cue, alike: Rows, products: NDArray[np.float32], parts: Sequence[Rows]
    ) -> Rows:
        """The rows by the sum of their standard scores by vector and by words, above the least,
        times their priors; the best first.

        alike, products  rows whose products with the question are known
        parts            others
        Means and deviations are those of all rows; for products those of rows spread over
        all.  O(rows d).
        """
        rows, spread = (
            self._different([alike, *parts], self._base.n),
            _scattered(self._base.n, SPREAD),
        )
        every, n = np.concatenate([rows, spread]), len(self._words)
        further, priors = at_once(
            lambda: self._index.products(cue.vector, every[len(alike) :]),
            lambda: self._priors.of(rows, cue),
        )
        products = np.append(products, further).astype(np.float64)
        held, others = self._held.astype(np.float64) / n, products[len(rows) :]
        total = _standard(products, others.mean(), np.square(others).mean()) + _standard(
            self._words[every], held.sum(), n * np.square(held).sum()
        )
        total = (total - total.min())[: len(rows)] * np.exp(priors)
        ordered: Rows = rows[falling(total.astype(np.float32))]
        return ordered


def _standard(scores: NDArray[np.floating[Any]], mean: float, square: float) -> NDArray[np.float64]:
    """Standard scores, by the mean and the mean square of all; zeros if all are equal.

    >>> _standard(np.array([1.0, 3.0]), 2.0, 5.0).tolist(), _standard(np.array([2.0]), 2.0, 4.0).tolist()
    ([-1.0, 1.0], [0.0])
    """
    scores = scores.astype(np.float64)
    return (
        (scores - mean) / (square - mean**2) ** 0.5 if square > mean**2 else np.zeros(len(scores))
    )


def _in_turn(one: Rows, other: Rows) -> Rows:
    """The rows of both, in turn, then the rest of the longer.

    >>> _in_turn(np.array([1, 2, 3]), np.array([8])).tolist()
    [1, 8, 2, 3]
    """
    order = np.argsort(np.concatenate([np.arange(len(one)), np.arange(len(other))]), kind="stable")
    return np.concatenate([one, other])[order]


def _even(n: int, most: int) -> NDArray[np.int64]:
    """Up to `most` of n places, ascending, each in the middle of an equal part of them.

    >>> _even(3, 8).tolist(), _even(8, 2).tolist()
    ([0, 1, 2], [2, 6])
    """
    size = min(n, most)
    return (2 * np.arange(size) + 1) * n // max(2 * size, 1)


@lru_cache(maxsize=8)  # as those of all rows are asked for twice by each question
def _scattered(n: int, most: int) -> NDArray[np.int64]:
    """Up to `most` of n places, ascending, each somewhere in an equal part of them: the middles
    would all be of one speaker if two take turns.

    >>> _scattered(3, 8).tolist(), _scattered(12, 4).tolist()
    ([0, 1, 2], [0, 4, 6, 11])
    """
    size = min(n, most)
    begins = np.arange(size + 1) * n // max(size, 1)
    return read_only(
        begins[:-1] + (np.arange(size) * GOLDEN % 1.0 * np.diff(begins)).astype(np.int64)
    )
