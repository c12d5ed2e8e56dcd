"""Numbers for what occurs in a long text, in order of first appearance.

A string of Python for each of 200,000 pairs of letters takes most of the time of reading a text in
a script without spaces: such pairs are told apart as numbers, and only distinct ones become
strings.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from ..base.kernels import exact_kernel

# keys; fewer are sorted, so that a memory of short texts compiles nothing
HASHED_FROM: Final = 16_384
# steps for each key, on average, after which keys that were chosen to collide are sorted
STEPS: Final = 8
HALF: Final = 31  # bits of a key that a whole number of 64 bits can multiply
KEY_BITS: Final = 62


def numbered(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(n,) the number of each key, 0, 1, 2, ... in order of first appearance, and (distinct,) the
    place where each number first appears, ascending.

    keys  (n,) any whole numbers

    O(n), 20 ns a key; O(n log n) for keys that were chosen to collide.

    >>> [array.tolist() for array in numbered(np.array([7, -1, 7, 5]))]
    [[0, 1, 0, 2], [0, 1, 3]]
    """
    if len(keys) >= HASHED_FROM:
        size = 1 << (2 * len(keys)).bit_length()
        numbers, first = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        held, number = np.empty(size, np.int64), np.full(size, -1, np.int32)
        distinct = _number(keys, STEPS * len(keys), held, number, numbers, first)
        if distinct >= 0:
            return numbers, first[:distinct]
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    return rank[places], first[order]


@exact_kernel
def _number(
    keys: NDArray[np.int64],
    left: int,
    held: NDArray[np.int64],
    number: NDArray[np.int32],
    numbers: NDArray[np.int64],
    first: NDArray[np.int64],
) -> int:
    """Write `numbers` and `first` of `numbered`; returns how many keys are distinct, or -1 if that
    takes more steps than are left.

    held, number  (2^k,) a hash table: the key in each place and its number, -1 where it is empty
    """
    mask, distinct = held.size - 1, 0
    for i in range(keys.size):
        key = keys[i]
        mixed = (key & 0x7FFFFFFF) * 0x45D9F3B5 + (key >> HALF) * 0x27D4EB2F
        at = (mixed ^ (mixed >> 29)) & mask
        while number[at] >= 0 and held[at] != key:
            at = (at + 1) & mask
            left -= 1
        if left < 0:
            return -1
        if number[at] < 0:
            held[at], number[at], first[distinct] = key, distinct, i
            distinct += 1
        numbers[i] = number[at]
    return distinct


def codes_of(text: str) -> NDArray[np.uint32]:
    """(length,) the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def strings(
    codes: NDArray[np.uint32], begin: NDArray[np.int64], end: NDArray[np.int64]
) -> list[str]:
    """Stretches of a text without NUL, given by its code points: half of what slices of it cost.

    >>> strings(codes_of("tea for two"), np.array([0, 4]), np.array([3, 6]))
    ['tea', 'fo']
    """
    size = end - begin
    longest = int(size.max(initial=1))
    cells = np.zeros((len(begin), longest), np.uint32)
    for place in range(longest):
        within = np.flatnonzero(size > place)
        cells[within, place] = codes[begin[within] + place]
    made: list[str] = cells.view(f"<U{longest}").reshape(-1).tolist()
    return made


@dataclass(frozen=True, slots=True)
class Stretches:
    """Stretches of a text without NUL as numbers that are equal if, and only if, they are.

    codes   (length,) the code points of the text
    digits  (length,) of the characters, from 1 on
    bits    of a digit
    """

    codes: NDArray[np.uint32]
    digits: NDArray[np.int64]
    bits: int

    @classmethod
    def of(cls, text: str) -> Self:
        """O(length + characters of Unicode), 2 ms beside the length."""
        codes = codes_of(text)
        occurs = np.zeros(sys.maxunicode + 1, np.bool_)
        occurs[codes] = True
        distinct = np.flatnonzero(occurs)
        digit = np.zeros(sys.maxunicode + 1, np.int32)
        digit[distinct] = np.arange(1, len(distinct) + 1)
        return cls(codes, digit[codes].astype(np.int64), len(distinct).bit_length())

    @property
    def longest(self) -> int:
        """The most characters of a stretch that has a number."""
        return KEY_BITS // max(self.bits, 1)

    def keys(self, begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,) the number of each stretch, of 1 to `longest` characters; positive.

        >>> Stretches.of("tea tea").keys(np.array([0, 1, 4]), np.array([2, 3, 6])).tolist()
        [35, 26, 35]
        """
        keys, size = self.digits[begin], end - begin
        for place in range(1, int(size.max(initial=0))):
            within = size > place
            keys[within] = (keys[within] << self.bits) | self.digits[begin[within] + place]
        return keys
