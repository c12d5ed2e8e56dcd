"""The vector index: embeddings are stored once, in FAISS's memory; a bitmap hides archived rows
without moving them.  The inner products of one vector with all rows are computed once for all
askers, and searches are answered from them.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from threading import RLock, local
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import InputError
from ..base.sharing import in_blocks, one_thread
from .ranking import best

FIRST_ROWS = 256
MOST_SPARE = 32_768  # most spare rows, until an eighth of the rows is more
KEPT = 32  # fewest rows in the kept answer, for repeated queries
# there FAISS computes several rows at once, the last few with another order of sums
ODD_DIMENSIONS = frozenset({2, 4, 8, 12})
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


class VectorIndex:
    """n vectors of d dimensions under inner product, searched exactly.

    Rows are numbered as in the memory, 0, 1, 2, ..., and never renumbered; `archive` only hides a
    row from `search`.  The vectors are in FAISS's memory: n d floats and spare room, which takes
    memory, too: as much again, but at most MOST_SPARE rows or an eighth.  Views of them stay valid:
    a full index is copied to a new FAISS index with more room (O(n d), amortised O(d) per row), and
    old views keep the old one alive.

    The products of the last 8 vectors asked for are kept, by their bytes.  A row that is stored
    later adds its product; a row that is hidden or shown changes none; a row that is overwritten
    drops all.

    Results depend neither on how the rows were added nor on the number of threads.  Threads may ask
    at the same time, but not while rows change; each keeps products of its own, which those that
    help it share.  FAISS is imported with the first index.

    scans   passes over all vectors so far, for measurements of one thread
    """

    def __init__(self, dimensions: int) -> None:
        if dimensions < 1:
            raise InputError(
                f"an index cannot have {dimensions} dimensions",
                cure="give the embedder's dimensions",
            )
        self._faiss: Any = importlib.import_module("faiss")  # takes 0.1 s
        self.dimensions = dimensions
        self._count = self._hidden = self._turns = 0
        self._kept: (
            tuple[tuple[bytes, int, int, bool], int, tuple[NDArray[np.int64], NDArray[np.float32]]]
            | None
        ) = None
        self.scans = 0
        self._own = _Products()
        self._mask: tuple[tuple[int, int], NDArray[np.bool_]] = (-1, -1), np.zeros(0, np.bool_)
        self._bits = np.zeros(0, np.uint8)
        self._buffer = np.zeros((0, dimensions), np.float32)
        self._reserve(FIRST_ROWS)

    def __len__(self) -> int:
        return self._count

    @property
    def vectors(self) -> NDArray[np.float32]:
        """(n, d), read-only, FAISS's memory itself; O(1)."""
        return self._buffer[: self._count]

    def vectors_of(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """(k, d) a copy of the vectors of some rows; O(k d)."""
        return self._buffer[: self._count][rows]

    @property
    def n_visible(self) -> int:
        return self._count - self._hidden

    @property
    def state(self) -> tuple[int, int]:
        """The number of rows, and how often rows were hidden, shown or overwritten: equal as
        long as the same vectors are visible.
        """
        return self._count, self._turns

    def add(self, vector: ArrayLike) -> int:
        """Append one visible vector (d,) and return its row; amortised O(d)."""
        return self.add_many([vector])

    def add_many(
        self,
        vectors: ArrayLike | Sequence[ArrayLike],
        visible: NDArray[np.bool_] | Sequence[bool] | None = None,
    ) -> int:
        """Append vectors (m, d) and return the first one's row; amortised O(m d).

        Errors: InputError, before anything has changed, for a wrong shape, a NaN or infinity, or a
        vector too long for float32 products.
        """
        rows = self._checked(vectors, 2)
        first, total = self._count, self._count + len(rows)
        shown = np.ones(len(rows), bool) if visible is None else np.asarray(visible, bool)
        if shown.shape != (len(rows),):
            raise InputError(
                f"{len(rows)} vectors come with visibility of shape {shown.shape}",
                cure="give one flag per vector",
            )
        if total > (held := len(self._buffer)):
            self._reserve(max(total, held + max(min(held, MOST_SPARE), held // 8)))
        if len(rows):
            self._flat.add(rows)
        self._count = total
        self._hidden += int(len(rows) - np.count_nonzero(shown))
        at = np.arange(first, total)[shown]
        np.bitwise_or.at(self._bits, at >> 3, np.left_shift(1, at & 7).astype(np.uint8))
        return first

    def reserve(self, rows: int) -> None:
        """Make room for so many rows in all and a few more, so that adding them moves nothing;
        O(rows d).
        """
        if rows > len(self._buffer):
            self._reserve(rows + rows // 32)

    def parts(self) -> dict[str, NDArray[Any]]:
        """Arrays that a file keeps beside the vectors, since they take long to compute.  An exact
        index has none, nor has an index that is not built.
        """
        return {}

    def adopt(self, parts: Mapping[str, NDArray[Any]]) -> None:
        """Use what `parts` gave when the index held its first rows alone; arrays of other indexes
        are ignored.

        Raises ValueError for arrays that do not fit.
        """

    def overwrite(self, row: int, vector: ArrayLike) -> None:
        """Replace the vector (d,) of a row; O(d).  What any thread has asked for is dropped.
        Raises InputError as `add_many` does.
        """
        new = self._checked([vector], 2)
        self.is_visible(row)
        whole = self._faiss.rev_swig_ptr(self._flat.get_xb(), self._count * self.dimensions)
        whole.reshape(self._count, self.dimensions)[row] = new[0]
        self._turns, self._kept, self._own = self._turns + 1, None, _Products()

    def archive(self, row: int) -> None:
        """Hide a row from `search`; O(1), changes no vector."""
        if self.is_visible(row):
            self._bits[row >> 3] &= np.uint8(255 - (1 << (row & 7)))
            self._hidden += 1
            self._turns += 1

    def restore(self, row: int) -> None:
        """Show a row again; O(1)."""
        if not self.is_visible(row):
            self._bits[row >> 3] |= np.uint8(1 << (row & 7))
            self._hidden -= 1
            self._turns += 1

    def is_visible(self, row: int) -> bool:
        """O(1)."""
        if not 0 <= row < self._count:
            raise InputError(
                f"there is no row {row} in an index of {self._count}",
                cure="give a row that add returned",
            )
        return bool(self._bits[row >> 3] >> (row & 7) & 1)

    def visible_mask(self) -> NDArray[np.bool_]:
        """(n,) flags, a copy; O(n)."""
        return np.unpackbits(self._bits, count=self._count, bitorder="little").astype(bool)

    def search(
        self, query: ArrayLike, k: int, visible_only: bool = True
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The k rows with the largest inner products, best first, ties by row ascending, and these
        products.

        The products are those of `scores`, bit for bit.  O(n d), of visible rows alone where half
        of the rows are hidden; O(n) if they are kept.  Shorter than k if fewer rows are visible.

        The last answer is kept until a row is added, hidden, shown or overwritten, so that hooks
        that search for the vector of one event share one pass.
        """
        if k < 0:
            raise InputError(f"k is {k}", cure="ask for k >= 0 results")
        is_plain = (
            isinstance(query, np.ndarray)
            and query.dtype == np.float32
            and query.shape == (self.dimensions,)
        )
        wanted: NDArray[Any] = np.asarray(query) if is_plain else self._checked(query, 1)
        asked, kept = (wanted.tobytes(), *self.state, visible_only), self._kept
        if kept is None or kept[0] != asked or not self._serves(kept[1], k):
            kept = self._kept = (
                asked,
                max(k, KEPT),
                self._nearest(self._checked(wanted, 1), max(k, KEPT), visible_only),
            )
        rows, products = kept[2]
        return rows[:k].copy(), products[:k].copy()

    @staticmethod
    def _serves(kept: int, k: int) -> bool:
        """Whether the first k rows of an answer for `kept` are those of an answer for k."""
        return kept >= k

    def scores(self, query: ArrayLike, out: NDArray[np.float32]) -> NDArray[np.float32]:
        """All inner products into out (n,), hidden rows included.

        O(n d), O(n) if they are kept.  A row's product does not depend on n or on the other rows.
        """
        wanted = self._checked(query, 1)
        if (
            out.shape != (self._count,)
            or out.dtype != np.float32
            or not out.flags.c_contiguous
            or not out.flags.writeable
        ):
            raise InputError(
                f"out is {out.dtype}{list(out.shape)}, needed is a writeable contiguous float32[{self._count}]",
                cure="np.empty(len(index), np.float32)",
            )
        with self._own.lock:  # helpers may drop and write again what is kept
            out[...] = self._of(wanted)
        return out

    def products(self, query: ArrayLike, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """(m,) the products with some rows, those of `scores`, bit for bit.  O(m) if the
        products with all are kept, else O(m d).
        """
        return self._some(self._checked(query, 1), rows)

    def _some(self, wanted: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """`products` of a checked vector."""
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
            with one_thread(faiss):
                faiss.fvec_inner_products_by_idx(
                    ip, x, self._flat.get_xb(), ids, self.dimensions, 1, len(some)
                )

        in_blocks(len(rows), FEW, compare)
        return out

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

    def _nearest(
        self, wanted: NDArray[np.float32], k: int, visible_only: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        k = min(k, self.n_visible if visible_only else self._count)
        if k == 0:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        if visible_only and 2 * self._hidden >= self._count:  # no hidden row is compared
            shown = np.flatnonzero(self._shown())
            products = self._some(wanted, shown)
            places = best(products, np.ones(len(shown), np.bool_), k)
            return shown[places], products[places]
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
        known = own.products
        kept, done = known.pop(key, (None, 0))
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
            for other, products in zip(group, out, strict=True):
                known[other] = products, n
            kept, _ = known.pop(key)
        elif done < n:
            if n > len(kept):
                kept = np.concatenate([kept[:done], np.empty(len(self._buffer) - done, np.float32)])
            self._scan([wanted], [kept], done)
        known[key] = kept, n
        while len(known) > SCANS:
            own.spare.append(known.pop(next(iter(known)))[0])
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
        part, rows = PART // k, self._buffer[first : self._count]
        targets = [products[first : self._count] for products in out]
        if k == 1 and d not in ODD_DIMENSIONS:

            def scan(block: slice) -> None:
                some = rows[block]
                ip, x, y = map(faiss.swig_ptr, (targets[0][block], wanted[0], some))
                faiss.fvec_inner_products_ny(ip, x, y, d, len(some))
        else:  # each row is compared with every vector while it is at hand
            vectors, ids = np.stack(wanted), np.tile(np.arange(k, dtype=np.int64), (part, 1))

            def scan(block: slice) -> None:
                some = rows[block]
                products = np.empty((len(some), k), np.float32)
                ip, x, y, numbers = map(faiss.swig_ptr, (products, some, vectors, ids))
                with one_thread(faiss):
                    faiss.fvec_inner_products_by_idx(ip, x, y, numbers, d, len(some), k)
                for target, column in zip(targets, products.T, strict=True):
                    target[block] = column

        in_blocks(len(rows), part, scan)

    def _checked(self, vectors: ArrayLike | Sequence[ArrayLike], axes: int) -> NDArray[np.float32]:
        try:
            if (
                isinstance(vectors, np.ndarray)
                and vectors.dtype == np.float32
                and vectors.flags.c_contiguous
            ):
                rows: NDArray[np.float32] = vectors
            else:
                with np.errstate(over="ignore"):
                    rows = np.asarray(vectors, np.float32, order="C")
        except (TypeError, ValueError) as error:
            raise InputError(
                f"these are no vectors: {error}",
                cure=f"give float32 arrays of {self.dimensions} dimensions",
            ) from error
        if rows.ndim != axes or rows.shape[-1] != self.dimensions:
            raise InputError(
                f"the index holds vectors of {self.dimensions} dimensions, the array has shape {rows.shape}",
                cure="use the embedder that the index was made for",
            )
        # Finite squared lengths mean finite entries and, by Cauchy and Schwarz, finite products
        # with every other row.  Neither function warns of an overflow.
        if not math.isfinite(np.vdot(rows, rows)) and not np.all(
            np.isfinite(np.einsum("...i,...i->...", rows, rows))
        ):
            raise InputError(
                "a vector holds a NaN, an infinity or entries beyond 1e19", cure="give unit vectors"
            )
        return rows

    def _reserve(self, rows: int) -> None:
        """Move to a FAISS index with room for this many rows; the old one is freed with its last
        view.
        """
        flat = self._faiss.IndexFlatIP(self.dimensions)
        # a C++ vector keeps its room when it shrinks, so that `add` does not move the rows
        flat.codes.resize(rows * flat.code_size)
        flat.codes.resize(0)
        if self._count:
            flat.add(self.vectors)
        memory = _Memory(flat, self._faiss.rev_swig_ptr(flat.get_xb(), rows * self.dimensions))
        buffer = np.asarray(memory).reshape(rows, self.dimensions)
        bits = np.zeros((rows + 7) // 8, np.uint8)
        bits[: len(self._bits)] = self._bits
        self._flat, self._buffer, self._bits = flat, buffer, bits


class _Memory:
    """FAISS's rows as a numpy array that keeps the FAISS index alive."""

    def __init__(self, owner: Any, rows: NDArray[np.float32]) -> None:
        self.owner = owner
        # read-only
        self.__array_interface__ = {**rows.__array_interface__, "data": (rows.ctypes.data, True)}
