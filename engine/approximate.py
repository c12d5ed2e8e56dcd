"""An approximate index: a graph of near neighbours over the same vectors.

HNSW: Malkov & Yashunin (2020), https://doi.org/10.1109/TPAMI.2018.2889473.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, nearest
from .scans import SharedScans

LINKS: Final = 32           # of a row on each level; twice as many on the lowest
BUILD: Final = 128          # rows that are looked at for the links of a new row
LOOK: Final = 256           # rows that a search looks at, at least
LEAST: Final = 16_384       # rows; a smaller memory is searched exactly
LOT: Final = 256            # rows that enter the graph together; those after the last whole lot are searched exactly
SEEN: Final = 0.25          # share of visible rows below which a search is exact: hidden rows are walked through, but not found


class GraphIndex(SharedScans):
    """`search` by a walk through a graph of near neighbours, O(d log n) instead of O(n d), and not always the nearest rows.

    Products are exact, those of `scores`, bit for bit; `scores` itself is a pass over all vectors.  Hidden rows are never found.  Answers depend on
    the vectors, their order and the visible rows alone: the graph is built by one thread, 256 rows at a time, from FAISS's fixed seed; rows beyond
    the last whole 256 are compared exactly.  A memory of fewer than 16,384 rows, of which fewer than a quarter is visible, or whose rows were
    overwritten is searched exactly.  The graph takes 2 d bytes a row for a copy of the vectors in half precision, by which it is walked, and about
    270 for its links.  It is not saved: the first search after loading builds it.
    """

    def __init__(self, dimensions: int) -> None:
        self._graph: Any = None
        self._overwritten = False
        super().__init__(dimensions)

    def overwrite(self, row: int, vector: ArrayLike) -> None:
        """Replace the vector (d,) of a row; O(d).  From then on every search is exact.  Raises InputError as `add_many` does."""
        super().overwrite(row, vector)
        self._overwritten, self._graph = True, None

    def recall(self, queries: Sequence[NDArray[np.float32]], k: int = 10) -> float:
        """Mean share of the k nearest visible rows that `search` finds; NaN without rows or queries.  Cost: O(n d) for each query."""
        shares = []
        for query in queries:
            exact = super()._nearest(self._checked(query, 1), k, True)[0]
            if len(exact):
                shares.append(len(np.intersect1d(exact, self.search(query, k)[0])) / len(exact))
        return float(np.mean(shares)) if shares else float("nan")

    def _nearest(self, wanted: NDArray[np.float32], k: int, visible_only: bool) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        few = visible_only and self.n_visible < SEEN * self._count
        if self._count < LEAST or self._overwritten or few or k == 0:
            return super()._nearest(wanted, k, visible_only)
        covered = self._cover()
        look = max(LOOK, k)
        with self._one_thread():
            parameters = self._faiss.SearchParametersHNSW(efSearch=look, sel=self._parameters[visible_only].sel)
            found = self._graph.search(wanted[None], look, params=parameters)[1][0]
        later = np.arange(covered, self._count)
        rows = np.concatenate([found[found >= 0], later[self._shown()[covered:]] if visible_only else later])
        if len(rows) < min(k, self.n_visible if visible_only else self._count):
            return super()._nearest(wanted, k, visible_only)
        products = self.products(wanted, rows)
        order = np.lexsort((rows, -products))[:k]
        return rows[order], products[order]

    def _cover(self) -> int:
        """Put every whole lot of rows into the graph; how many rows it holds."""
        if self._graph is None:
            faiss = self._faiss
            self._graph = faiss.IndexHNSWSQ(self.dimensions, faiss.ScalarQuantizer.QT_fp16, LINKS, faiss.METRIC_INNER_PRODUCT)
            self._graph.hnsw.efConstruction = BUILD
        while self._graph.ntotal + LOT <= self._count:
            with self._one_thread():
                self._graph.add(self._buffer[self._graph.ntotal:self._graph.ntotal + LOT])
        return int(self._graph.ntotal)


INDEXES: Final[dict[str, type[SharedScans]]] = {"exact": SharedScans, "hnsw": GraphIndex}


def index_of(name: object, dimensions: int) -> SharedScans:
    """An empty index by its name.  Raises InputError.

    >>> type(index_of("hnsw", 8)).__name__
    'GraphIndex'
    """
    kind = INDEXES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise InputError(f"there is no index {name!r}", where="index", cure=nearest(str(name), INDEXES))
    return kind(dimensions)
