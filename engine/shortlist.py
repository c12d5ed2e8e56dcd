"""Shortlists: in a large memory a question is asked of the rows that are likely to matter, instead of all.

The rows are found by the vector index, by postings, by entities, by time and by links; then every step of RETRIEVE runs over a `PartialStore` of
them.  A sample of the other rows stands for them in means and deviations.  Links are those among the shortlist, and no other row is answered.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .columns import Before, Column, Phase, Scope, Signal, Structure
from .contract import Cue
from .errors import InputError
from .numerics import kernel
from .partial import PartialStore, Rows
from .plan import Instrument, PhasePlan, answering, schedule
from .ranking import best
from .records import Query
from .scans import SharedScans
from .schedule import Node
from .steps import ENGINE
from .storage.graph import EdgeType, entity_node
from .storage.postings import BM25Index, Idf
from .storage.store import Cells
from .vocabulary import ANSWERABLE, INDEX, LEXICON, RECALLED, RELEASED, SESSION, STANDS_FOR, VISIBLE

LEAST: Final = 64           # rows of a shortlist
PAYS: Final = 16            # a memory of fewer rows than so many shortlists is asked as a whole, which is faster
ANSWERED: Final = 1 / 8     # share of a shortlist that can be answered
LIKELY: Final = 5 / 8       # share of a shortlist for the likeliest rows
SAMPLE: Final = 1 / 8       # share for a sample of the others; the rest is for rows to which these point
ALIKE: Final = 1 / 2        # share by the vector of the question
WORDS: Final = 1 / 4        # by its words
NAMED: Final = 1 / 16       # by the entities that it names, the newest first; as many of the newest rows, and around the best
BEST: Final = 32            # of those by vector, and of those by words, whose neighbours in time and along links are taken
AROUND: Final = 2           # neighbours in time on either side


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
    """Rows next to some rows in time, then those to which they have edges, until `out` is full; their number.

    rows           (q,)  rows of a memory of n
    start, degree  (types, nodes) and ends: `Graph.blocks`
    out            written; a row may occur more than once

    >>> out = np.empty(8, dtype=np.int64)
    >>> out[:around(np.array([0]), 3, np.zeros((1, 3), np.int64), np.array([[2, 0, 0]]), np.array([-1, 2]), out)].tolist()
    [1, 2, 2]
    """
    count = 0
    for row in rows:
        for other in range(max(row - AROUND, 0), min(row + AROUND + 1, n)):
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


class Shortlist:
    """Asks the likely rows of a store.

    store  shows the rows of the last question
    plan   the steps of RETRIEVE over it, without those that learn or make a context
    run    finds the rows for a cue and runs the plan over them, and lets the memory's observer measure it
    """

    def __init__(self, most: int, base: Cells, nodes: Callable[[Cells], Sequence[Node]], signals: Sequence[tuple[Signal, float]],
                 streams: Mapping[str, np.random.Generator], instrument: Instrument | None) -> None:
        """nodes: the steps of RETRIEVE for the store that is asked.  Raises ContractError for a set that cannot be asked in part."""
        self.most, self._base, self._graph = most, base, base.graph
        self._index: SharedScans = base.structures[INDEX]
        self._lexicon: BM25Index = base.structures[LEXICON]
        self.store = PartialStore(base, most)
        asking = answering(nodes(self.store))
        touched = dict.fromkeys(t.of if isinstance(t, Before) else t for node in asking for t in (*node.reads, *node.adds, *node.sets))
        self.store.receive(t for t in touched if isinstance(t, Structure))
        represent = Node(ENGINE, "represent", Phase.RETRIEVE, -1, (), (), (STANDS_FOR,), self._represent)
        steps = schedule([*asking, represent], [s for s, _ in signals])[Phase.RETRIEVE]
        self.plan = PhasePlan(Phase.RETRIEVE, steps, self.store, signals, streams, instrument.wrap if instrument else None)
        self.run: Callable[..., None] = instrument.timed(Phase.RETRIEVE, self._run) if instrument else self._run
        numbered = [c for c in touched if isinstance(c, Column) and c.rows is not None]
        self._known = [c for c in numbered if c.scope is Scope.GLOBAL]
        self._pointing = [c for c in numbered if c.scope is Scope.MEMORY]
        self._words = np.empty(0, np.float32)
        self._stand_for: NDArray[np.float32] = np.empty(0, np.float32)

    def asks(self, query: Query, k: int) -> bool:
        """Whether a question is asked of a shortlist: the memory is large, the answer short, and no filter may leave out the likely rows."""
        return query.only is None and self._base.n >= PAYS * self.most and k <= self.most * ANSWERED

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

        The likely rows and a sample, spread evenly over the other visible ones; then the rows to which these point, such as the question that a
        memory answers, further likely rows, and further rows spread over all.  Cost: that of `likely`, and O(n).
        """
        most, visible = self.most, self._base.array(VISIBLE)
        likely = self.likely(cue)
        first, later = np.split(likely, [int(most * LIKELY)])
        other = visible.copy()
        other[first] = False
        left = np.flatnonzero(other)
        size = min(int(most * SAMPLE), len(left))
        sample = left[np.arange(size) * len(left) // max(size, 1)]
        begun = np.concatenate([first, sample])
        pointed = [np.ravel(self._base.array(c)[begun][c.rows]) for c in self._pointing]
        rows = _first_of([begun, *pointed, later, left[np.arange(min(most, len(left))) * len(left) // most]], most)
        stand_for = visible[rows].astype(np.float32)
        sampled = np.searchsorted(rows, sample)
        stand_for[sampled] += (np.count_nonzero(other) - np.count_nonzero(other[rows])) / max(size, 1)
        return rows, stand_for

    def likely(self, cue: Cue) -> Rows:
        """The rows that are likely to matter to a question, the likeliest first.

        Up to half of a shortlist are nearest to the vector of the question, a quarter best by BM25; others are what answers needed last, rows of the
        entities that it names, the newest of all and of its session, and the neighbours of the best in time and along links.  Hidden rows come by
        links and by use alone.
        Cost: one search of the index, O(n) for the words, O(1) in n for the rest.
        """
        n, most, visible = self._base.n, self.most, self._base.array(VISIBLE)
        alike = self._index.search(cue.vector, int(most * ALIKE))[0]
        words = self._by_words(cue, visible)
        used = [np.ravel(self._base.array(c)[c.rows]) for c in self._known]
        share = int(most * NAMED)
        known = [e for name in cue.features.entities if (e := self._graph.entity_id(name)) is not None]
        recent: list[NDArray[np.integer[Any]]] = []
        for e in known:
            edges = self._graph.neighbours(entity_node(e), EdgeType.ENTITY)         # oldest first
            recent.append(self._graph.target[edges[max(len(edges) - share // len(known), 0):]])
        recent.append(np.arange(max(n - share, 0), n))
        if cue.session >= 0:
            recent.append(np.flatnonzero(self._base.array(SESSION) == cue.session)[-share:])
        start, near, blocks = np.concatenate([alike[:BEST], words[:BEST]]), np.empty(share, np.int64), self._graph.blocks
        count = around(start, n, blocks[0], blocks[1], blocks[3], near)
        return _different([start, *used, near[:count], *(each[visible[each]] for each in recent), words, alike])

    def _represent(self, view: Any, cue: Cue) -> None:
        view.stands_for[...] = self._stand_for

    def _by_words(self, cue: Cue, visible: NDArray[np.bool_]) -> Rows:
        if len(self._words) != self._lexicon.n_rows:
            self._words = np.empty(self._lexicon.n_rows, np.float32)
        self._lexicon.scores(cue.terms, self._words, Idf.LUCENE.weight)
        rows: Rows = best(self._words, visible, int(self.most * WORDS))
        return rows[self._words[rows] > 0.0]


def _first_of(parts: Sequence[NDArray[np.integer[Any]]], most: int) -> Rows:
    """The first different row numbers of the parts, ascending; negative ones are none.  Later parts are not read once there are enough rows."""
    found: Rows = np.empty(0, np.int64)
    for part in parts:
        if len(found) < most:
            found = _different([found, part])[:most]
    found.sort()
    return found


def _different(parts: Sequence[NDArray[np.integer[Any]]]) -> Rows:
    """The different row numbers of the parts, in order of first occurrence; negative ones are none."""
    found = np.concatenate(parts)
    found = found[found >= 0]
    return found[np.sort(np.unique(found, return_index=True)[1])]
