"""Arrays that are put together from the blocks of a file as these are read, in the place where
they will stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bulk_marks import Marks, block_marks, placed_marks
from .recent_blocks import Later

Place = Callable[[str], NDArray[Any] | None]


class ArrayBlocks:
    """One array, from its blocks in their order; a block that holds the same row throughout has
    that row alone in the file.

    name, dtype, shape  of the array
    rows                of a block
    place               an array by name, into which the array is read if its form is the same and
                        its rows are not all the same
    """

    def __init__(
        self, name: str, dtype: np.dtype[Any], shape: Sequence[int], rows: int, place: Place
    ) -> None:
        self._name, self._dtype, self._shape, self._place = name, dtype, tuple(shape), place
        self._row = dtype.itemsize * math.prod(self._shape[1:])
        # bytes of a whole block, and of the array
        self._size, self._end = rows * self._row, self._row * (self._shape[0] if shape else 1)
        self._at = 0  # bytes that are read
        # the row that all blocks so far hold, as long as `_array` is None
        self._same = b""
        self._array: NDArray[Any] | None = None
        self._bytes = memoryview(bytearray())  # the bytes of `_array`
        # as they stand in the file, so that marks show one of another type
        self._generations: list[Any] = []
        # blocks that do not lie in `_array` as whole words
        self._odd: dict[int, bytes] = {}

    def add(
        self,
        numbers: Sequence[int],
        generations: Sequence[Any],
        parts: Sequence[bytes],
        later: Later | None = None,
    ) -> None:
        """The next blocks, of which `later` may have newer contents.  Raises ValueError for a
        block that is not the next one, or of another size.
        """
        first = len(self._generations)
        # SQLite trusts the order of the pages, and a later search would miss it
        if tuple(numbers) != tuple(range(first, first + len(parts))):
            raise ValueError("a block is missing or in the wrong place")
        self._generations += generations
        for number, generation, part in zip(numbers, generations, parts, strict=True):
            since, newest = later[number] if later and number in later else (generation, part)
            if not self._put(newest if since > generation else part) or since > generation:
                self._odd[number] = part

    def _put(self, part: bytes) -> bool:
        """Write the next block; whether it lies in the array as whole words."""
        at, row, length = self._at, self._row, len(part)
        due = min(self._size, self._end - at)
        self._at = at + due
        if length not in (due, row):
            raise ValueError("a block is missing or of another size")
        if self._array is None:
            if length == row and (not at or part == self._same):
                self._same = part
                return False
            self._open(at)
        self._bytes[at : at + due] = part if length == due else part * (due // row)
        return length == due == self._size and not due % 8

    def _open(self, at: int) -> None:
        """Make room for the array, whose first `at` bytes repeat one row."""
        place = self._place(self._name)
        if place is None or (place.dtype, place.shape) != (self._dtype, self._shape):
            place = np.empty(self._shape, self._dtype)
        if at:
            place[: at // self._row] = self._one_row()
        self._array, self._bytes = place, place.reshape(-1).view(np.uint8).data

    def _one_row(self) -> NDArray[Any]:
        return np.frombuffer(self._same, self._dtype).reshape(self._shape[1:])

    def marks(self) -> Marks:
        """The marks of the blocks."""
        odd, generations = list(self._odd), np.array(self._generations)
        out = np.empty((len(generations), 2), np.uint64)
        out[odd] = block_marks(
            [self._name] * len(odd), odd, generations[odd], list(self._odd.values())
        )
        if len(odd) < len(out):
            whole = np.delete(np.arange(len(out)), odd)
            words = np.frombuffer(self._bytes, np.uint64, len(self._bytes) // 8)
            out[whole] = placed_marks(self._name, whole, generations[whole], words, self._size // 8)
        return out

    def array(self, tail: bytes) -> NDArray[Any]:
        """The array, with the rows after its blocks; read-only if it is not at its place.
        Raises ValueError if rows are missing.
        """
        if tail:
            self._put(tail)
        if self._at != self._end:
            raise ValueError("a block is missing or of another size")
        if self._array is not None:
            return self._array
        return (
            np.broadcast_to(self._one_row(), self._shape)
            if self._end
            else np.zeros(self._shape, self._dtype)
        )
