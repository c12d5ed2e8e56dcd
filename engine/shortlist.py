"""Shortlists: in a large memory a question is asked of the rows that are likely to matter, instead of all.

The rows are found by the vector index, by postings, by entities, by time and by links; then every step of RETRIEVE runs over a `PartialStore` of
them.  A sample of the other rows stands for them in means and deviations.  Links are those among the shortlist, and no other row is answered.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .columns import Before, Column, Phase, Scope, Signal, Structure
from .contract import Cue
from .errors import InputError
from .filter import Banned
from .numerics import kernel
from .partial import PartialStore, Rows
from .plan import Instrument, PhasePlan, answering, schedule
from .ranking import best
from .scans import SharedScans
from .schedule import Node
from .steps import ENGINE
from .storage.graph import EdgeType, entity_node
from .storage.postings import BM25Index, Idf
from .storage.store import Cells
from .vocabulary import ANSWERABLE, INDEX, LEXICON, PASSAGES, RECALLED, RELEASED, SESSION, STANDS_FOR, VISIBLE

LEAST: Final = 64           # rows of a shortlist
PAYS: Final = 16            # a memory of fewer rows than so many shortlists is asked as a whole, which is faster
ANSWERED: Final = 1 / 8     # share of a shortlist that can be answered
LIKELY: Final = 1 / 2       # share of a shortlist for the likeliest rows
BACK: Final = 1 / 8         # share for rows that point back to these
SAMPLE: Final = 1 / 4       # share for a sample of the others; the rest is for rows to which all these point
FILL: Final = 8             # rows for each of the shortlist that are looked at, evenly over time, for the sample and for what room is left
POOL: Final = 4             # rows for each of the sample that are compared with the question, to draw the sample from
LONGEST: Final = 1 / 128    # share for the longest texts in words, and as much in passages: scores that depend on length have their extremes there
ALIKE: Final = 1 / 2        # share by the vector of the question
WORDS: Final = 1 / 4        # by its words
NEAR: Final = 1 / 4         # around the best in time and along links
NAMED: Final = 1 / 16       # by the entities that it names, the newest first; as many of the newest rows
BEYOND: Final = 1 / 4       # by the entities to which these have edges, at most; few of them differ
EACH: Final = 8             # newest rows of each of these
BEST: Final = 32            # of those by vector, and of those by words, whose neighbours in time and along links are taken
ENTITY: Final = int(EdgeType.ENTITY)
AROUND: Final = 2           # neighbours in time on either side, at least
FAR: Final = 1 / 16         # share of the room for neighbours for those in time on either side of the best row; of the row with rank r, divided by r


def checked_shortlist(rows: object) -> int | None:
    """Rows of a shortlist as a memory takes them.  Raises InputError.

    >>> checked_shortlist(None), checked_shortlist(2048)
    (None, 2048)
    """
    if rows is None or (isinstance(rows, int) and not isinstance(rows, bool) and rows >= LEAST):
        return rows
    raise InputError(f"a shortlist of {rows!r} memories", where="shortlist", cure=f"give a whole number of at least {LEAST}, such as 2048, or None")


@kernel
def around(rows: Rows, n: int, start: NDArray[np.int64], degree: NDArray[np.int32], ends: NDArray[np.int32], out: NDArray[np.int64]) -> int:
    """Rows next to some rows in time, the better the further, then those to which they have edges, until `out` is full; their number.

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


@kernel
def first_of(rows: Rows, most: int, seen: NDArray[np.bool_]) -> int:
    """Move the first `most` different numbers to the front of `rows`, in order of first occurrence; their number.  Negative ones are none.

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


@kernel
def beyond(named: NDArray[np.int64], start: NDArray[np.int64], degree: NDArray[np.int32], ends: NDArray[np.int32], out: NDArray[np.int64]) -> int:
    """The newest rows of the entities to which some entities have edges, until `out` is full; their number.

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


def allotted(counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """How many of `size` rows each stratum gives: by the root of its size, at least one if it has any, at most all; all rows if they are few.

    >>> allotted(np.array([900, 0, 100, 1]), 12).tolist(), allotted(np.array([2, 3]), 12).tolist()
    ([8, 0, 3, 1], [2, 3])
    """
    taken = np.minimum(counts, 1)
    while (left := min(size, int(counts.sum())) - int(taken.sum())) > 0:
        roots = np.where(taken < counts, np.sqrt(counts), 0.0)
        more = np.minimum((left * roots / roots.sum()).astype(np.int64), counts - taken)
        more[np.argmax(roots)] += not more.any()
        taken += more
    return taken


class Shortlist:
    """Asks the likely rows of a store.

    store  shows the rows of the last question
    plan   the steps of RETRIEVE over it, without those that learn or make a context
    run    finds the rows for a cue and runs the plan over them, and lets the memory's observer measure it
    """

    def __init__(self, most: int, base: Cells, banned: Banned, nodes: Callable[[Cells, Banned], Sequence[Node]],
                 signals: Sequence[tuple[Signal, float]], streams: Mapping[str, np.random.Generator], instrument: Instrument | None) -> None:
        """banned: of all rows; nodes: the steps of RETRIEVE for the store that is asked.

        Raises ContractError for a set that cannot be asked in part.
        """
        self.most, self._base, self._graph, self._banned_of = most, base, base.graph, banned
        self._index: SharedScans = base.structures[INDEX]
        self._lexicon: BM25Index = base.structures[LEXICON]
        self.store = PartialStore(base, most)
        asking = answering(nodes(self.store, lambda _: self._banned[self.store.rows]))
        touched = dict.fromkeys(t.of if isinstance(t, Before) else t for node in asking for t in (*node.reads, *node.adds, *node.sets))
        self.store.receive(t for t in touched if isinstance(t, Structure))
        represent = Node(ENGINE, "represent", Phase.RETRIEVE, -1, (), (), (STANDS_FOR,), self._represent)
        steps = schedule([*asking, represent], [s for s, _ in signals])[Phase.RETRIEVE]
        self.plan = PhasePlan(Phase.RETRIEVE, steps, self.store, signals, streams, instrument.wrap if instrument else None)
        self.run: Callable[..., None] = instrument.timed(Phase.RETRIEVE, self._run) if instrument else self._run
        numbered = [c for c in touched if isinstance(c, Column) and c.rows is not None]
        self._known = [c for c in numbered if c.scope is Scope.GLOBAL]
        self._pointing = [c for c in numbered if c.scope is Scope.MEMORY]
        self._passages = base.structures[PASSAGES] if PASSAGES in touched else None
        self._words = np.empty(0, np.float32)
        self._long: tuple[tuple[int, int], list[Rows]] = (-1, -1), []
        self._stand_for: NDArray[np.float32] = np.empty(0, np.float32)
        self._seen = np.empty(0, np.bool_)          # for each row, False between calls
        self._banned = np.empty(0, np.bool_)        # of all rows, by the filter of the last question that had one

    def asks(self, rows: int) -> bool:
        """Whether a question that wants so many rows is asked of a shortlist: the memory is large, and they are few."""
        return self._base.n >= PAYS * self.most and rows <= self.most * ANSWERED

    def _run(self, cue: Cue) -> None:
        rows, self._stand_for = self.chosen(cue)
        self.store.show(rows)
        self.plan.run(cue)

    @property
    def answered(self) -> Rows:
        """The rows of the answer, as the whole store numbers them."""
        found: Rows = self.store.rows[self.store.structures[RECALLED]]
        return found

    @property
    def found(self) -> tuple[Rows, NDArray[np.float32], NDArray[np.bool_]]:
        """The rows of the answer, the final scores of all rows, and whether they may be answered: NaN and False for those not on the shortlist.

        O(n).
        """
        final, answerable = (self.store.spread(self.plan.stages.source(c), elsewhere) for c, elsewhere in ((RELEASED, np.nan), (ANSWERABLE, False)))
        return self.answered, final, answerable

    def chosen(self, cue: Cue) -> tuple[Rows, NDArray[np.float32]]:
        """The rows of a question, ascending, and how many visible memories each stands for.

        The likely rows, those that follow closely and point back to them, and the longest each stand for themselves, a sample of the other visible
        ones for all of these.  Rows to which they point, such as the question that a memory answers, and further likely rows are shown for the sake
        of their scores and stand for none, so that means have no bias.  A filter leaves all others out of the rows that are likely by content, not
        out of the sample, as means and deviations are of all visible memories.
        Cost: that of `likely`, O(n), and the products of `POOL` times as many rows as the sample has.
        """
        most, visible = self.most, self._base.array(VISIBLE)
        likely, later = np.split(self.likely(cue), [int(most * LIKELY)])
        first = np.concatenate([likely, *self._longest(visible), self._pointing_back(likely, int(most * BACK))])
        other = visible.copy()
        other[first] = False
        wanted, spread = int(most * SAMPLE) * POOL, _even(self._base.n, FILL * most)
        left = spread[other[spread]]
        if len(spread) == self._base.n or len(left) < wanted:       # few rows, or most are hidden
            left = np.flatnonzero(other)
        sample, counts = self._sample(cue, left[_even(len(left), wanted)], int(np.count_nonzero(other)))
        begun = np.concatenate([first, sample])
        pointed = [self._pointed(c, begun).ravel() for c in self._pointing]
        rows = self._different([begun, *pointed, later, left[_even(len(left), most)]], most)
        rows.sort()
        stand_for = (visible[rows] & ~other[rows]).astype(np.float32)
        stand_for[np.searchsorted(rows, sample)] = counts
        return rows, stand_for

    def _longest(self, visible: NDArray[np.bool_]) -> list[Rows]:
        """Rows of the longest texts: in words, and in passages, if steps read these.  O(n) after a change."""
        if self._long[0] != self._index.state:
            lengths = [self._lexicon.lengths] + ([self._passages.counts(self._base.n)] if self._passages else [])
            self._long = self._index.state, [best(each, visible, int(self.most * LONGEST)) for each in lengths]
        return self._long[1]

    def _pointed(self, column: Column, rows: Rows) -> NDArray[Any]:
        """(k, m) the row numbers that some rows hold in a column; negative ones are none."""
        found = self._base.array(column)[rows][column.rows]
        targets: NDArray[Any] = found.reshape(len(rows), prod(found.shape[1:]))
        return targets

    def _pointing_back(self, rows: Rows, most: int) -> Rows:
        """Up to `most` visible rows that follow closely after one of these and point to it, in their order.  O(rows)."""
        after = (rows[:, None] + np.arange(1, AROUND + 1)).ravel()
        back, after = np.repeat(rows, AROUND)[after < self._base.n], after[after < self._base.n]
        points = np.zeros(len(after), np.bool_)
        for c in self._pointing:
            points |= (self._pointed(c, after) == back[:, None]).any(axis=1)
        found: Rows = after[points & self._base.array(VISIBLE)[after]][:most]
        return found

    def _sample(self, cue: Cue, pool: Rows, total: int) -> tuple[Rows, NDArray[np.float64]]:
        """A sample of a pool that is spread evenly over time, and how many rows each of it stands for: `total` in all.

        Rows that point to others through a column are a stratum of their own, since few of them may have scores that all others lack; a stratum
        gives rows by the root of its size, evenly over their products with the question.
        """
        size = int(self.most * SAMPLE)
        stratum = np.zeros(len(pool), np.int64)
        for number, c in enumerate(self._pointing, 1):
            stratum[(self._pointed(c, pool) >= 0).any(axis=1)] = number
        order, counts = np.lexsort((self._index.products(cue.vector, pool), stratum)), np.bincount(stratum)
        taken = allotted(counts, size)
        ends = np.cumsum(counts)
        chosen = [order[end - count:end][_even(int(count), int(k))] for end, count, k in zip(ends, counts, taken, strict=True)]
        weights = np.repeat(counts / np.maximum(taken, 1), taken) * (total / max(len(pool), 1))
        return pool[np.concatenate([pool[:0], *chosen])], weights

    def likely(self, cue: Cue) -> Rows:
        """The rows that are likely to matter to a question, the likeliest first.

        Up to half of a shortlist are nearest to the vector of the question, a quarter best by BM25; others are what answers needed last, rows of the
        entities that it names and of those to which these have edges, the newest of all and of its session, and the neighbours of the best in time
        and along links.  Hidden rows, and rows that a filter leaves out, come by use and as neighbours alone.
        Cost: one search of the index, O(n) for the words and for each condition of a filter, O(1) in n for the rest.
        """
        n, most, visible, only = self._base.n, self.most, self._base.array(VISIBLE), cue.query.only
        if only is not None:
            self._banned = self._banned_of(only)
            visible = visible & ~self._banned
        alike = self._alike(cue, int(most * ALIKE), visible if only is not None else None)
        words = self._by_words(cue, visible)
        used = [np.ravel(self._base.array(c)[c.rows]) for c in self._known]
        share = int(most * NAMED)
        known = [e for name in cue.features.entities if (e := self._graph.entity_id(name)) is not None]
        recent: list[NDArray[np.integer[Any]]] = []
        others = np.empty(int(most * BEYOND), np.int64)
        for e in known:
            edges = self._graph.neighbours(entity_node(e), EdgeType.ENTITY)         # oldest first
            recent.append(self._graph.target[edges[max(len(edges) - share // len(known), 0):]])
        recent.append(np.arange(max(n - share, 0), n))
        if cue.session >= 0:
            recent.append(np.flatnonzero(self._base.array(SESSION) == cue.session)[-share:])
        start, near = _in_turn(alike[:BEST], words[:BEST]), np.empty(int(self.most * NEAR), np.int64)
        blocks = self._graph.blocks
        count = around(start, n, blocks[0], blocks[1], blocks[3], near)
        others = others[:beyond(np.array([entity_node(e) for e in known], np.int64), blocks[0], blocks[1], blocks[3], others)]
        return self._different([start, *used, others[visible[others]], near[:count], *(each[visible[each]] for each in recent), words, alike], n)

    def _different(self, parts: Sequence[NDArray[np.integer[Any]]], most: int) -> Rows:
        """The first `most` different row numbers of the parts, in order of first occurrence; negative ones are none.  O(numbers)."""
        if len(self._seen) < self._base.n:
            self._seen = np.zeros(self._base.capacity, np.bool_)
        rows = np.concatenate(parts).astype(np.int64, copy=False)
        return rows[:first_of(rows, most, self._seen)]

    def _alike(self, cue: Cue, most: int, admitted: NDArray[np.bool_] | None) -> Rows:
        """The visible rows nearest to the vector of the question, of those that a filter admits.

        All of them are compared, O(rows d), if they are few, and if most of the rows near the question are not among them.
        """
        if admitted is None:
            return self._index.search(cue.vector, most)[0]
        rows, most = np.flatnonzero(admitted), min(most, int(np.count_nonzero(admitted)))
        wanted = min(2 * most * self._base.n // max(len(rows), 1), PAYS * most)         # enough if as many of the near rows are admitted as of all
        found = self._index.search(cue.vector, wanted)[0] if len(rows) > PAYS * self.most else rows[:0]
        found = found[admitted[found]][:most]
        if len(found) < most:
            found = rows[best(self._index.products(cue.vector, rows), np.ones(len(rows), np.bool_), most)]
        return found

    def _represent(self, view: Any, cue: Cue) -> None:
        view.stands_for[...] = self._stand_for

    def _by_words(self, cue: Cue, visible: NDArray[np.bool_]) -> Rows:
        if len(self._words) != self._lexicon.n_rows:
            self._words = np.empty(self._lexicon.n_rows, np.float32)
        self._lexicon.scores(cue.terms, self._words, Idf.LUCENE.weight)
        rows: Rows = best(self._words, visible, int(self.most * WORDS))
        return rows[self._words[rows] > 0.0]


def _in_turn(one: Rows, other: Rows) -> Rows:
    """The rows of both, in turn, then the rest of the longer.

    >>> _in_turn(np.array([1, 2, 3]), np.array([8])).tolist()
    [1, 8, 2, 3]
    """
    order = np.argsort(np.concatenate([np.arange(len(one)), np.arange(len(other))]), kind="stable")
    return np.concatenate([one, other])[order]


def _even(n: int, most: int) -> NDArray[np.int64]:
    """Up to `most` of n places, ascending, each in the middle of as many.

    >>> _even(3, 8).tolist(), _even(8, 2).tolist()
    ([0, 1, 2], [2, 6])
    """
    size = min(n, most)
    return (2 * np.arange(size) + 1) * n // max(2 * size, 1)
