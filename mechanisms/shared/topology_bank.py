"""The memory as a bank of units with marked links, and the structures through which the hooks of
one pass hand on what they found.

A link is an edge of the graph with a mark in an edge column: MADE if the edge was made for it,
SHARED if another mechanism had made the edge before. A link that is taken back is removed in the
first case and loses its mark in the second, so links of others stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base import numerics
from ...engine.base.sharing import in_blocks
from ...engine.contract.columns import Phase, Structure
from ...engine.state.graph import EdgeType
from .topology_edits import Descriptor, ProposalOutcome, Script
from .topology_links import Vector

MADE_LINK: Final = 1
SHARED_LINK: Final = 2
PART: Final = 8_192  # rows that one thread compares at a time
BATCH: Final = 64  # rows whose neighbours are sought in one pass


class GraphBank:
    """A bank over the graph; visibility and vectors are copies of this pass.

    graph    of the view
    mark     () -> (m,) the edge column, fetched anew at each access: adding edges may move it
    visible  (n,) bool, changed by `archive`
    units    (n,) bool, rows that have a descriptor and so belong to the bank, changed by `describe`
    vectors  (n, d), e_u
    created  (n,) h
    now      h, time of new links
    """

    def __init__(
        self,
        graph: Any,
        mark: Callable[[], NDArray[np.int8]],
        visible: NDArray[np.bool_],
        units: NDArray[np.bool_],
        vectors: NDArray[np.float32],
        created: NDArray[np.float64],
        now: float,
    ) -> None:
        self.graph, self.mark, self.shown, self.units, self.vectors, self.created, self.now = (
            graph,
            mark,
            visible,
            units,
            vectors,
            created,
            now,
        )
        self.hidden: list[int] = []
        self._into: dict[EdgeType, tuple[NDArray[Any], NDArray[Any]]] = {}
        self._since: dict[tuple[EdgeType, int], set[int]] = {}

    def exists(self, unit: int) -> bool:
        return 0 <= unit < len(self.units) and bool(self.units[unit])

    def visible(self, unit: int) -> bool:
        return bool(self.shown[unit])

    def time(self, unit: int) -> float:
        return float(self.created[unit])

    def vector(self, unit: int) -> Vector:
        vector: Vector = self.vectors[unit]
        return vector

    def targets(self, unit: int, kind: EdgeType) -> list[int]:
        mark = self.mark()
        return sorted(
            int(self.graph.target[edge]) for edge in self.graph.neighbours(unit, kind) if mark[edge]
        )

    def sources(self, unit: int, kind: EdgeType) -> list[int]:
        """Units with a link to this one; O(m log m) for the first call of a kind, then O(log m +
        links).
        """
        if kind not in self._into:
            mark = self.mark()
            edges = np.flatnonzero((mark > 0) & self.graph.alive & (self.graph.type == int(kind)))
            order = edges[np.argsort(self.graph.target[edges], kind="stable")]
            self._into[kind] = self.graph.target[order].copy(), self.graph.source[order].copy()
        if (kind, unit) not in self._since:
            target, source = self._into[kind]
            first, last = np.searchsorted(target, [unit, unit + 1])
            self._since[kind, unit] = set(source[first:last].tolist())
        return sorted(self._since[kind, unit])

    def link(self, source: int, target: int, kind: EdgeType) -> None:
        self._prepare(target, kind)
        known = self.graph.find(source, target, kind)
        edge = self.graph.add(source, target, kind, self.now) if known is None else known
        if self.mark()[edge] == 0:
            self.mark()[edge] = MADE_LINK if known is None else SHARED_LINK
        if kind in self._into:
            self._since[kind, target].add(source)

    def unlink(self, source: int, target: int, kind: EdgeType) -> None:
        self._prepare(target, kind)
        edge = self.graph.find(source, target, kind)
        if edge is not None and self.mark()[edge]:
            if self.mark()[edge] == MADE_LINK:
                self.graph.remove(edge)
            self.mark()[edge] = 0
            if kind in self._into:
                self._since[kind, target].discard(source)

    def _prepare(self, target: int, kind: EdgeType) -> None:
        """Before a link changes: note the sources of its target as they were listed.  Without a
        list of the kind the graph alone knows them.
        """
        if kind in self._into:
            self.sources(target, kind)

    def counts(self, kind: EdgeType) -> NDArray[np.int64]:
        """(n,) outgoing links of a kind of every row; O(m)."""
        edges = np.flatnonzero(
            (self.mark() > 0) & self.graph.alive & (self.graph.type == int(kind))
        )
        return np.bincount(self.graph.source[edges], minlength=len(self.units))

    def archive(self, unit: int) -> None:
        self.shown[unit] = False
        self.hidden.append(unit)

    def describe(self, unit: int, vector: Vector) -> None:
        self.vectors[unit] = vector
        self.units[unit] = True

    def nearest(self, unit: int, k: int) -> list[int]:
        """The k visible units with the largest cosine, ties by number; O(n d)."""
        return self.near(self.vectors[unit], unit, k)[0]

    def near(self, vector: Vector, besides: int, k: int) -> tuple[list[int], list[float]]:
        """The k visible units nearest to a vector, one left out, and their cosines; O(n d)."""
        allowed = self.shown & self.units
        allowed[besides] = False
        rows = np.flatnonzero(allowed)
        return nearest_rows(products(self.vectors, vector)[rows], self.vectors, rows, vector, k)


def products(vectors: NDArray[np.float32], vector: Vector) -> NDArray[np.float32]:
    """(n,) inner products: a row's product depends neither on n nor on the number of threads.
    O(n d).
    """
    out = np.empty(len(vectors), np.float32)
    in_blocks(
        len(vectors), PART, lambda block: numerics.products(vectors[block], vector, out[block])
    )
    return out


def nearest_of_each(
    vectors: NDArray[np.float32], rows: Sequence[int], allowed: NDArray[np.bool_], k: int
) -> list[list[int]]:
    """The k allowed rows nearest to each of some rows, without itself, with one pass over the
    memory for 64 rows.  O(rows n d), O(64 n) memory.

    >>> vectors = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0]], np.float32)
    >>> nearest_of_each(vectors, [0, 3], np.array([True, True, True, False]), 2)
    [[1, 2], [2, 1]]
    """
    nearest, places = [], np.flatnonzero(allowed)
    base = vectors if len(places) == len(vectors) else vectors[places]
    for start in range(0, len(rows), BATCH):
        some = list(rows[start : start + BATCH])
        for row, rough in zip(some, vectors[some] @ base.T, strict=True):
            others = places != row
            nearest.append(nearest_rows(rough[others], vectors, places[others], vectors[row], k)[0])
    return nearest


def nearest_rows(
    rough: NDArray[np.float32],
    vectors: NDArray[np.float32],
    rows: NDArray[np.int64],
    vector: Vector,
    k: int,
) -> tuple[list[int], list[float]]:
    """The k rows with the largest cosines, and these cosines; ties by row.  O(m + k d).

    The last bits of a sum in single precision depend on the processor and on how many rows are
    multiplied at once.  So the rough cosines only tell the candidates, which are all rows within
    their rounding error of the k-th.  A candidate's cosine is summed in double precision and
    rounded once: texts with the same words in another order are equally near on every processor.

    rough    (m,)    cosines of the rows with the vector, in single precision
    vectors  (n, d)  of the memory, unit length
    rows     (m,)    increasing
    vector   (d,)    unit length

    >>> vectors = np.array([[0.6, 0.8], [0.0, 1.0], [0.8, 0.6]], np.float32)
    >>> vector = np.array([1.0, 0.0], np.float32)
    >>> nearest_rows(vectors[[0, 2]] @ vector, vectors, np.array([0, 2]), vector, 1)[0]
    [2]
    """
    if len(rows) > k:
        least = np.partition(rough, len(rows) - k)[len(rows) - k]
        rows = rows[rough >= least - 4.0 * len(vector) * np.finfo(np.float32).eps]
    cosines = (vectors[rows].astype(np.float64) @ vector.astype(np.float64)).astype(np.float32)
    order = np.lexsort((rows, -cosines))[:k]
    return rows[order].tolist(), cosines[order].tolist()


class Plans:
    """What one run planned: scripts in order, what became of other proposals, and what the
    executor needs of the time before the run.
    """

    def __init__(self) -> None:
        self.clear()

    def forget(self) -> None:
        """Drop the plans of the last run, which hold texts.  The engine calls it when memories
        are erased.
        """
        self.clear()

    def clear(self) -> None:
        """Nothing is planned."""
        self.runs = False
        self.first = 0  # rows before this run
        self.visible: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.scripts: list[Script] = []
        self.dropped: list[ProposalOutcome] = []
        self.described: list[tuple[int, Descriptor]] = []  # events of the buffer
        # those whose descriptor is not that of their vector
        self.renewed: set[int] = set()


class OwnRows:
    """Rows that were made for this mechanism, in order."""

    def __init__(self) -> None:
        self.rows: list[int] = []


class LinkMarks:
    """The marks of links as of one query: the edge column, for the hook that walks along links."""

    def __init__(self) -> None:
        self._cue: Any = None
        self._mark: NDArray[np.int8] = np.zeros(0, np.int8)

    def put(self, cue: Any, mark: NDArray[np.int8]) -> None:
        """Set the marks for a query."""
        self._cue, self._mark = cue, mark

    def of(self, cue: Any) -> NDArray[np.int8]:
        """(m,) marks if they were set for this query; empty if no mechanism keeps links."""
        return self._mark if self._cue is cue else np.zeros(0, np.int8)


TOPOLOGY_PLANS = Structure(
    "topology_plans",
    "edits planned in this sleep",
    ("runs", "first", "visible", "scripts", "dropped", "described", "renewed"),
    persists=False,
    phases=(Phase.CONSOLIDATE,),
    create=Plans,
)
TOPOLOGY_ROWS = Structure(
    "topology_rows",
    "rows made for the edits of this sleep",
    ("rows",),
    persists=False,
    phases=(Phase.CONSOLIDATE,),
    create=OwnRows,
)
TOPOLOGY_MARKS = Structure(
    "topology_marks",
    "which edges are links of the topology, for the present query",
    ("of",),
    persists=False,
    phases=(Phase.RETRIEVE,),
    create=LinkMarks,
    partial=lambda held, _: held,
)
