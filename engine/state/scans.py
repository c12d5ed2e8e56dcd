"""Shared scans: the inner products of one vector with all rows are computed once for all askers,
and searches are answered from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from threading import RLock, local
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.sharing import in_blocks
from .ranking import best
from .vectors import ODD_DIMENSIONS, VectorIndex

SCANS: Final = 8  # most vectors whose products are kept; each takes 4 bytes a row
PART: Final = 8_192  # rows that one thread compares with a vector at a time
FEW: Final = 1_024  # rows that one thread compares at a time if they are not next to one another


class _Products(local):
    """The products that one thread and its helpers have asked for.

    products  bytes of a vector -> its products with spare room, rows done; last asked for last
    expected  bytes of a vector -> the vector, of those that will probably be asked for
    spare     dropped products, to be written again: fresh memory costs as much as a tenth of a pass
    lock      held while products are looked up or computed
    """

    def __init__(self) -> None:
        self.products: dict[bytes, tuple[NDArray[np.float32], int]] = {}
        self.expected: dict[bytes, NDArray[np.float32]] = {}
        self.spare: list[NDArray[np.float32]] = []
        self.lock = RLock()


class SharedScans(VectorIndex):
    """An exact index that reads its vectors once for each vector asked for: all products and all
    searches for it share one pass.

    The products of the last 8 vectors asked for are kept, by their bytes.  A row that is stored
    later adds its product; a row that is hidden or shown changes none; a row that is overwritten
    drops all.  Products and answers are those of `VectorIndex`, bit for bit.

    Threads may ask at the same time, but not while rows change; each keeps products of its own,
    which those that help it share.

    scans   passes over all vectors so far, for measurements of one thread
    """

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.scans = 0
        self._own = _Products()
        self._mask: tuple[tuple[int, int], NDArray[np.bool_]] = (-1, -1), np.zeros(0, np.bool_)

    def expect(self, vectors: Sequence[NDArray[np.float32]]) -> None:
        """Name vectors (d,) that will probably be asked for: the first that is asked for is
        compared in one pass with up to 6 later vectors.
        """
        with self._own.lock:
            self._own.expected.clear()
            self._own.expected.update((vector.tobytes(), vector) for vector in vectors)

    def lend(self) -> Callable[[], AbstractContextManager[None]]:
        """A context for a helper, as `crew.Lends` wants it: the helper finds what this thread has
        asked for, and adds to it.
        """
        kept = dict(vars(self._own))

        @contextmanager
        def helping() -> Iterator[None]:
            vars(self._own).update(kept)
            yield

        return helping

    def overwrite(self, row: int, vector: ArrayLike) -> None:
        """Replace the vector (d,) of a row; O(d).  What any thread has asked for is dropped.
        Raises InputError as `add_many` does.
        """
        super().overwrite(row, vector)
        self._own = _Products()

    def scores(self, query: ArrayLike, out: NDArray[np.float32]) -> NDArray[np.float32]:
        """As `VectorIndex.scores`; O(n) if the products are kept."""
        wanted = self._checked(query, 1)
        if (
            out.shape != (self._count,)
            or out.dtype != np.float32
            or not out.flags.c_contiguous
            or not out.flags.writeable
        ):
            return super().scores(wanted, out)  # which refuses it
        with self._own.lock:  # helpers may drop and write again what is kept
            out[...] = self._of(wanted)
        return out

    def products(self, query: ArrayLike, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """(m,) the products with some rows, those of `scores`, bit for bit.  O(m) if the
        products with all are kept, else O(m d).
        """
        wanted = self._checked(query, 1)
        with self._own.lock:
            kept, done = self._own.products.get(wanted.tobytes(), (None, 0))
            if kept is not None and done == self._count:
                return kept[rows]
        faiss, out, rows = (
            self._faiss,
            np.empty(len(rows), np.float32),
            np.ascontiguousarray(rows, np.int64),
        )

        def compare(block: slice) -> None:
            some, part = rows[block], out[block]
            ip, x, ids = map(faiss.swig_ptr, (part, wanted, some))
            with self._one_thread():
                faiss.fvec_inner_products_by_idx(
                    ip, x, self._flat.get_xb(), ids, self.dimensions, 1, len(some)
                )

        in_blocks(len(rows), FEW, compare)
        return out

    def _nearest(
        self, wanted: NDArray[np.float32], k: int, visible_only: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        k = min(k, self.n_visible if visible_only else self._count)
        if k == 0:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        with self._own.lock:
            products = self._of(wanted)
            rows = best(
                products, self._shown() if visible_only else np.ones(self._count, np.bool_), k
            )
            return rows, products[rows]

    def _shown(self) -> NDArray[np.bool_]:
        """(n,) the visible rows; O(n) after a change."""
        state, kept = self.state, self._mask
        if kept[0] != state:
            kept = self._mask = state, self.visible_mask()
        return kept[1]

    def _of(self, wanted: NDArray[np.float32]) -> NDArray[np.float32]:
        """(n,) the products of a vector, kept; O(n d), or O(n + d rows stored since) if they are
        known.
        """
        key, n, own = wanted.tobytes(), self._count, self._own
        kept, done = own.products.pop(key, (None, 0))
        if kept is None:
            group = {key: wanted}
            if key in own.expected:
                group |= self._expected_after(key)
            room = len(self._buffer)
            spare = [buffer for buffer in own.spare if len(buffer) == room]
            own.spare.clear()
            out = [spare.pop() if spare else np.empty(room, np.float32) for _ in group]
            self.scans += 1
            self._scan(list(group.values()), out, 0)
            own.products.update(zip(group, ((products, n) for products in out), strict=True))
            kept, _ = own.products.pop(key)
        elif done < n:
            if n > len(kept):
                kept = np.concatenate([kept[:done], np.empty(len(self._buffer) - done, np.float32)])
            self._scan([wanted], [kept], done)
        own.products[key] = kept, n
        while len(own.products) > SCANS:
            own.spare.append(own.products.pop(next(iter(own.products)))[0])
        return kept[:n]

    def _expected_after(self, key: bytes) -> dict[bytes, NDArray[np.float32]]:
        """The vectors that will probably be asked for after one of those expected, without those
        whose products are kept; with it at most SCANS - 1.
        """
        expected = self._own.expected
        later = islice(expected, list(expected).index(key) + 1, None)
        wanted = (key for key in later if key not in self._own.products)
        return {key: expected[key] for key in islice(wanted, SCANS - 2)}

    def _scan(
        self, wanted: Sequence[NDArray[np.float32]], out: Sequence[NDArray[np.float32]], first: int
    ) -> None:
        """Write the products of some vectors with the rows from `first` on: one pass over these
        rows.
        """
        faiss, d, k = self._faiss, self.dimensions, len(wanted)
        part = PART // k
        if k == 1 and d not in ODD_DIMENSIONS:

            def scan(block: slice) -> None:
                start, stop = first + block.start, first + block.stop
                faiss.fvec_inner_products_ny(
                    *map(faiss.swig_ptr, (out[0][start:stop], wanted[0], self._buffer[start:stop])),
                    d,
                    stop - start,
                )
        else:  # each row is compared with every vector while it is at hand
            vectors, ids = np.stack(wanted), np.tile(np.arange(k, dtype=np.int64), (part, 1))

            def scan(block: slice) -> None:
                start, stop = first + block.start, first + block.stop
                products = np.empty((stop - start, k), np.float32)
                with self._one_thread():
                    faiss.fvec_inner_products_by_idx(
                        *map(faiss.swig_ptr, (products, self._buffer[start:stop], vectors, ids)),
                        d,
                        stop - start,
                        k,
                    )
                for target, column in zip(out, products.T, strict=True):
                    target[start:stop] = column

        in_blocks(self._count - first, part, scan)

    @contextmanager
    def _one_thread(self) -> Iterator[None]:
        """FAISS in one thread, and with as many as before afterwards."""
        threads = self._faiss.omp_get_max_threads()
        self._faiss.omp_set_num_threads(1)
        try:
            yield
        finally:
            self._faiss.omp_set_num_threads(threads)
