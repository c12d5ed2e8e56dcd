"""The approximate index: it looks at some of the vectors only, by lists of vectors around centres.

Inverted lists, product quantisation: Jégou, Douze & Schmid (2011),
https://doi.org/10.1109/TPAMI.2010.57. Codes of 4 bits, looked up in registers: André, Kermarrec &
Le Scouarnec (2015), https://doi.org/10.14778/2856318.2856324.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import InputError, nearest
from ..base.sharing import one_thread
from ..state.ranking import falling
from ..state.vectors import KEPT, VectorIndex

LOOK: Final = 256  # rows that a search looks at, at least
LEAST: Final = 16_384  # rows; a smaller memory is searched exactly
# rows that enter the index together; those after the last whole lot are searched exactly
LOT: Final = 512
# share of visible rows below which a search is exact: hidden rows are looked at, but not found
SEEN: Final = 0.25
COMPARED: Final = 2  # rows that are compared exactly, for each that a search looks at
PROBED: Final = 64  # lists that a search looks at
TRAINED: Final = 64  # rows for each centre, from which the centres are found
ROUNDS: Final = 10  # rounds of k-means
AGAIN: Final = 4  # the centres are found anew when there are so many times the rows
BITS: Final = 4  # bits of a code; FAISS looks up 32 codes at a time
CODES: Final = 2**BITS
NO_PRODUCTS: Final = None, np.empty(0, np.float32)
NOTHING: Final = None, np.empty(0, np.int64), np.empty(0, np.float32)


class ListIndex(VectorIndex):
    """`search` looks at the rows in the 64 lists whose centres are next to a vector, O(d sqrt(n)),
    and does not always find the nearest.

    Rows of a list are judged by product quantisation, 4 bits for every two numbers (for each, if
    their number is odd), and the best twice as many as a search looks at are compared exactly.  The
    centres are those of k-means over the rows, and are found anew at 65,536, 262,144, 1,048,576,
    ... rows: 256 to begin with, twice as many each time.  The lists take d / 4 + 8 bytes a row.  A
    file keeps centres, codebooks, and the list and code of each row.

    Products are exact, those of `scores`, bit for bit; `scores` itself is a pass over all vectors.
    Hidden rows are never found.  Answers depend on the vectors, their order and the visible rows
    alone: the index is built by one thread, 512 rows at a time, from FAISS's fixed seed; rows
    beyond the last whole 512 are compared exactly.  A memory of fewer than 16,384 rows, or of which
    fewer than a quarter is visible, is searched exactly. The first search that needs the index
    builds it, and the first after a row was overwritten builds it anew.
    """

    def __init__(self, dimensions: int) -> None:
        self._built: Any = None
        self._building = Lock()  # threads may ask at the same time
        self._last: tuple[Any, NDArray[np.int64], NDArray[np.float32]] = NOTHING
        self._beyond: tuple[Any, NDArray[np.float32]] = NO_PRODUCTS
        # parts that a file holds, until FAISS's index is built
        self._saved: Mapping[str, NDArray[Any]] = {}
        self._trained = 0  # rows from which the centres were found
        # parts of a vector, each of which has a code
        self._subvectors = dimensions if dimensions % 2 else dimensions // 2
        super().__init__(dimensions)

    def overwrite(self, row: int, vector: ArrayLike) -> None:
        """Replace the vector (d,) of a row; O(d).  The next search builds the index anew.
        Raises InputError as `add_many` does.
        """
        super().overwrite(row, vector)
        self._built, self._last, self._beyond, self._saved = None, NOTHING, NO_PRODUCTS, {}

    def recall(self, queries: Sequence[NDArray[np.float32]], k: int = 10) -> float:
        """Mean share of the k nearest visible rows that `search` finds; NaN without rows or
        queries.  Cost: O(n d) for each query.
        """
        shares = []
        for query in queries:
            exact = super()._nearest(self._checked(query, 1), k, True)[0]
            if len(exact):
                shares.append(len(np.intersect1d(exact, self.search(query, k)[0])) / len(exact))
        return float(np.mean(shares)) if shares else float("nan")

    def _nearest(
        self, wanted: NDArray[np.float32], k: int, visible_only: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        few = visible_only and self.n_visible < SEEN * self._count
        if self._count < LEAST or few or k == 0:
            return super()._nearest(wanted, k, visible_only)
        covered, near, known = self._looked(wanted, COMPARED * max(LOOK, k), visible_only)
        later, beyond = np.arange(covered, self._count), self._products_from(covered, wanted)
        if visible_only:
            shown = self._shown_from(covered)
            later, beyond = later[shown], beyond[shown]
        rows = np.concatenate([near, later])
        if len(rows) < min(k, self.n_visible if visible_only else self._count):
            return super()._nearest(wanted, k, visible_only)
        products = np.concatenate([known, beyond])
        order = falling(products)[:k]
        return rows[order], products[order]

    @staticmethod
    def _serves(kept: int, k: int) -> bool:
        """As `VectorIndex._serves`: only if as many rows are looked at for k, so that an answer
        does not depend on what was asked before.
        """
        return kept >= k and max(LOOK, kept) == max(LOOK, k, KEPT)

    def _looked(
        self, wanted: NDArray[np.float32], look: int, visible_only: bool
    ) -> tuple[int, NDArray[np.int64], NDArray[np.float32]]:
        """How many rows the index holds, the rows that a search looks at, ascending, and their
        products.

        Kept for the last vector until a lot enters the index or a row is hidden or shown: the rows
        stored since then change nothing.
        """
        faiss = self._faiss
        with one_thread(faiss):
            with self._building:
                covered, last = self._cover(), self._last
            state = (wanted.tobytes(), look, visible_only, covered, self._turns)
            if last[0] != state:
                # a search of all rows gets a selector, too: without one FAISS uses another kernel,
                # whose last bits differ
                shown = (
                    faiss.IDSelectorBitmap(self._bits) if visible_only else faiss.IDSelectorAll()
                )
                near = self._built.search(
                    wanted[None], look, params=faiss.SearchParametersIVF(nprobe=PROBED, sel=shown)
                )[1][0]
                near = np.sort(near[near >= 0])
                self._last = last = state, near, self.products(wanted, near)
        return covered, *last[1:]

    def _products_from(self, row: int, wanted: NDArray[np.float32]) -> NDArray[np.float32]:
        """The products with the rows from one on.  Kept for the last vector, so that a row that
        is stored adds its own alone.
        """
        state = wanted.tobytes(), row
        last, known = self._beyond
        if last != state:
            known = np.empty(0, np.float32)
        if row + len(known) < self._count:
            known = np.concatenate(
                [known, self.products(wanted, np.arange(row + len(known), self._count))]
            )
            self._beyond = state, known
        return known

    def _shown_from(self, row: int) -> NDArray[np.bool_]:
        """Whether the rows from a multiple of 8 on are visible; O(rows)."""
        return np.unpackbits(
            self._bits[row // 8 :], count=self._count - row, bitorder="little"
        ).astype(bool)

    def _cover(self) -> int:
        """Put every whole lot of rows into the index; returns how many rows it holds."""
        built = self._renewed()
        if built is not self._built:
            self._built, self._last = built, NOTHING
        while self._built.ntotal + LOT <= self._count:
            self._built.add(self._buffer[self._built.ntotal : self._built.ntotal + LOT])
        return int(self._built.ntotal)

    def parts(self) -> dict[str, NDArray[Any]]:
        """centroids (lists, d); codebooks (parts of a row, 16, numbers of each); assigned (rows,),
        the list of each row; codes (rows, bytes of each).

        O(rows).
        """
        built, faiss = self._built, self._faiss
        if built is None:
            return {}
        lists = faiss.ArrayInvertedLists(built.nlist, built.pq.code_size)
        built.orig_invlists = lists
        built.reconstruct_orig_invlists()  # FAISS mixes the codes of 32 rows
        built.orig_invlists = None
        assigned, codes = (
            np.empty(built.ntotal, np.int32),
            np.empty((built.ntotal, built.pq.code_size), np.uint8),
        )
        for number in range(built.nlist):
            if size := lists.list_size(number):
                rows = faiss.rev_swig_ptr(lists.get_ids(number), size)
                assigned[rows] = number
                codes[rows] = faiss.rev_swig_ptr(
                    lists.get_codes(number), size * codes.shape[1]
                ).reshape(size, -1)
        return {
            "centroids": built.quantizer.reconstruct_n(0, built.nlist),
            "assigned": assigned,
            "codes": codes,
            "codebooks": faiss.vector_to_array(built.pq.centroids).reshape(
                self._subvectors, CODES, -1
            ),
        }

    def adopt(self, parts: Mapping[str, NDArray[Any]]) -> None:
        """As `VectorIndex.adopt`."""
        names = {"centroids", "codebooks", "assigned", "codes"}
        if parts and not (parts.keys() == names and self._fit(**parts)):
            raise ValueError("the lists of an index do not fit its vectors")
        self._saved = parts

    def _fit(
        self,
        centroids: NDArray[Any],
        codebooks: NDArray[Any],
        assigned: NDArray[Any],
        codes: NDArray[Any],
    ) -> bool:
        """Whether these can be parts of an index of some of the first rows."""
        d, m, rows = self.dimensions, self._subvectors, len(assigned)
        numbers = [(centroids, (len(centroids), d)), (codebooks, (m, CODES, d // m))]
        return (
            all(
                array.shape == shape
                and array.dtype == np.float32
                and bool(np.isfinite(array).all())
                for array, shape in numbers
            )
            and assigned.shape == (rows,)
            and assigned.dtype == np.int32
            and codes.shape == (rows, (m + 1) // 2)
            and codes.dtype == np.uint8
            and rows % LOT == 0
            and rows <= self._count
            and assigned.min(initial=0) >= 0
            and bool((assigned < len(centroids)).all())
        )

    def _renewed(self) -> Any:
        """FAISS's index: the one that is built, or a new one."""
        rows, lists = LEAST, 2 * int(LEAST**0.5)
        while rows * AGAIN <= self._count:
            rows, lists = rows * AGAIN, lists * 2
        if self._built is not None and rows == self._trained:
            return self._built
        saved, size = self._saved, min(TRAINED * lists, rows)
        if saved and len(saved["centroids"]) == lists:
            built = self._restored(saved)
        else:
            built = self._around(
                self._faiss.IndexIVFPQFastScan, self._faiss.IndexFlatIP(self.dimensions), lists
            )
            built.cp.niter, built.cp.spherical = ROUNDS, True
            built.train(self._buffer[np.arange(size) * rows // size])
        self._saved, self._trained = {}, rows
        return built

    def _around(self, kind: Any, centres: Any, lists: int) -> Any:
        """An empty index of FAISS, of a kind, with so many lists; centres: FAISS's index that holds
        the centres, or will hold them.
        """
        return kind(
            centres,
            self.dimensions,
            lists,
            self._subvectors,
            BITS,
            self._faiss.METRIC_INNER_PRODUCT,
        )

    def _restored(self, saved: Mapping[str, NDArray[Any]]) -> Any:
        """FAISS's index of saved parts; O(rows)."""
        faiss, assigned, centres = (
            self._faiss,
            saved["assigned"],
            self._faiss.IndexFlatIP(self.dimensions),
        )
        centres.add(saved["centroids"])
        coded = self._around(faiss.IndexIVFPQ, centres, centres.ntotal)
        coded.by_residual, coded.is_trained = False, True  # as in the index that is built
        faiss.copy_array_to_vector(saved["codebooks"].ravel(), coded.pq.centroids)
        order = np.argsort(assigned, kind="stable")
        ends = np.searchsorted(assigned[order], np.arange(centres.ntotal + 1))
        for number, (start, stop) in enumerate(pairwise(ends.tolist())):
            rows = order[start:stop]
            codes = saved["codes"][rows]  # FAISS reads its memory, so it needs a name
            coded.invlists.add_entries(
                number, len(rows), faiss.swig_ptr(rows), faiss.swig_ptr(codes)
            )
        coded.ntotal = len(assigned)
        built = faiss.IndexIVFPQFastScan(coded)
        # so that `coded` and its copy of the codes end here
        built.orig_invlists, built.referenced_objects = None, [centres]
        return built


INDEXES: Final[dict[str, type[VectorIndex]]] = {"exact": VectorIndex, "ivf": ListIndex}


def index_of(name: object, dimensions: int) -> VectorIndex:
    """An empty index by its name.  Raises InputError.

    >>> type(index_of("ivf", 8)).__name__
    'ListIndex'
    """
    kind = INDEXES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise InputError(
            f"there is no index {name!r}", where="index", cure=nearest(str(name), INDEXES)
        )
    return kind(dimensions)
