"""The vector index: embeddings are stored once, in FAISS's memory; a bitmap hides archived rows
without moving them.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import InputError

FIRST_ROWS = 256
MOST_SPARE = 32_768  # most spare rows, until an eighth of the rows is more
KEPT = 32  # fewest rows in the kept answer, for repeated queries
# there FAISS computes several rows at once, the last few with another order of sums
ODD_DIMENSIONS = frozenset({2, 4, 8, 12})


class VectorIndex:
    """n vectors of d dimensions under inner product, searched exactly.

    Rows are numbered as in the memory, 0, 1, 2, ..., and never renumbered; `archive` only hides a
    row from `search`.  The vectors are in FAISS's memory: n d floats and spare room, which takes
    memory, too: as much again, but at most MOST_SPARE rows or an eighth.  Views of them stay valid:
    a full index is copied to a new FAISS index with more room (O(n d), amortised O(d) per row), and
    old views keep the old one alive.

    Results depend neither on how the rows were added nor on the number of threads.  FAISS is
    imported with the first index.
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
        """Replace the vector (d,) of a row; O(d).  Raises InputError as `add_many` does."""
        new = self._checked([vector], 2)
        self.is_visible(row)
        whole = self._faiss.rev_swig_ptr(self._flat.get_xb(), self._count * self.dimensions)
        whole.reshape(self._count, self.dimensions)[row] = new[0]
        self._turns, self._kept = self._turns + 1, None

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

        O(n d) in one thread; a tie across the k-th place costs further passes (at most log4 n).
        The products are those of `scores`, bit for bit.  Shorter than k if fewer rows are visible.
        FAISS's number of threads is not changed.

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

    def _nearest(
        self, wanted: NDArray[np.float32], k: int, visible_only: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """`search` without the kept answer."""
        most = self.n_visible if visible_only else self._count
        k = min(k, most)
        if k == 0:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        take = min(k + 1, most)
        # of equal rows FAISS keeps arbitrary ones; take more until the tie at the k-th place is
        # complete
        while True:
            products, ids = (
                part[0]
                for part in self._flat.search(
                    wanted[None], take, params=self._parameters[visible_only]
                )
            )
            if take == most or products[-1] < products[k - 1]:
                break
            take = min(4 * take, most)
        order = np.lexsort((ids, -products))[:k]
        return ids[order], products[order]

    def scores(self, query: ArrayLike, out: NDArray[np.float32]) -> NDArray[np.float32]:
        """All inner products into out (n,), hidden rows included: one pass of FAISS's kernel over
        FAISS's memory, nothing copied.

        O(n d), one thread.  A row's product does not depend on n or on the other rows.
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
        if self._count:
            faiss = self._faiss
            x, y, ip = faiss.swig_ptr(wanted), self._flat.get_xb(), faiss.swig_ptr(out)
            if self.dimensions in ODD_DIMENSIONS:
                ids = np.arange(self._count, dtype=np.int64)
                faiss.fvec_inner_products_by_idx(
                    ip, x, y, faiss.swig_ptr(ids), self.dimensions, 1, self._count
                )
            else:
                faiss.fvec_inner_products_ny(ip, x, y, self.dimensions, self._count)
        return out

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
        # with every other row.
        with np.errstate(over="ignore", invalid="ignore"):
            finite = math.isfinite(np.vdot(rows, rows)) or bool(
                np.all(np.isfinite(np.einsum("...i,...i->...", rows, rows)))
            )
        if not finite:
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
        # A search of all rows gets a selector, too: without one FAISS uses another kernel, whose
        # last bits differ.
        selectors = self._faiss.IDSelectorAll(), self._faiss.IDSelectorBitmap(bits)
        self._parameters = [self._faiss.SearchParameters(sel=selector) for selector in selectors]


class _Memory:
    """FAISS's rows as a numpy array that keeps the FAISS index alive."""

    def __init__(self, owner: Any, rows: NDArray[np.float32]) -> None:
        self.owner = owner
        # read-only
        self.__array_interface__ = {**rows.__array_interface__, "data": (rows.ctypes.data, True)}
