"""Marks of many rows at once: SipHash-2-4 with 128 bits (Aumasson and Bernstein 2012,
https://doi.org/10.1007/978-3-642-34931-7_28).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.marks import SIZE, WHOLE
from ..base.numerics import kernel

Marks = NDArray[np.uint64]  # (n, 2)
Numbers = Sequence[Any] | NDArray[Any]
PADDING = [bytes(n) for n in range(8)]


def marks_of(
    table: bytes,
    numbers: Numbers,
    generations: Numbers,
    parts: Sequence[Sequence[bytes]],
    values: Numbers = (),
) -> Marks:
    """The mark of each row: the hash, keyed by the name of the table, of number, generation,
    values, the length of each part, and the parts.

    generations  number of the save that wrote each row
    parts        each (n,) bytes
    values       each (n,) numbers of 8 bytes

    A part that is read from another place, from another save, or with another length has another
    mark.  Raises TypeError and ValueError for cells of another type.  Cost: 0.5 ms per 10^6 bytes,
    0.1 us per part.
    """
    count = len(numbers)
    lengths = (
        np.array([list(map(len, part)) for part in parts], np.int64).reshape(len(parts), count).T
    )
    heads = _heads(numbers, generations, values, lengths)
    sizes = lengths.sum(axis=1)
    odd = -sizes % 8
    cells = (
        zip(*parts, [PADDING[few] for few in odd.tolist()], strict=True)
        if odd.any()
        else zip(*parts, strict=True)
    )
    words = np.frombuffer(b"".join(chain.from_iterable(cells)), np.uint64)
    ends = np.cumsum((sizes + 7) // 8)
    out = np.empty((count, 2), np.uint64)
    _hash(*_key(table), heads, words, np.concatenate([[0], ends[:-1]]), ends, out)
    return out


def block_marks(
    names: Sequence[str], numbers: Numbers, generations: Numbers, parts: Sequence[bytes]
) -> Marks:
    """The mark of each block of an array."""
    return marks_of(b"blocks", numbers, generations, [parts], _digests(names))


def placed_marks(
    name: str, numbers: Numbers, generations: Numbers, words: NDArray[np.uint64], size: int
) -> Marks:
    """The marks, as `block_marks` has them, of some blocks of one array that lie where the array
    is.

    words  of the whole array
    size   words of each block: the first word of block i is size i
    """
    places, out = np.asarray(numbers, np.int64), np.empty((len(numbers), 2), np.uint64)
    heads = _heads(
        places,
        generations,
        _digests([name]).repeat(len(places), axis=1),
        np.full((len(places), 1), 8 * size),
    )
    _hash(*_key(b"blocks"), heads, words, size * places, size * (places + 1), out)
    return out


def _heads(
    numbers: Numbers, generations: Numbers, values: Numbers, lengths: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """What the mark of each row covers beside its parts; lengths (n, parts)."""
    columns = np.column_stack(
        [as_words(numbers), as_words(generations), *map(as_words, values), lengths]
    )
    return np.ascontiguousarray(columns, np.int64).view(np.uint64)


def _digests(names: Sequence[str]) -> NDArray[np.int64]:
    """(2, n) numbers that stand for names."""
    return np.frombuffer(b"".join(map(_digest, names)), np.int64).reshape(-1, 2).T


def as_words(values: Numbers) -> NDArray[np.int64]:
    """Integers, or the bits of floats, as whole numbers of 64 bits."""
    array = np.asarray(values)
    return (
        array.view(np.int64)
        if array.dtype == np.float64
        else array.astype(np.int64, casting="same_kind" if array.size else "unsafe", copy=False)
    )


def as_bytes(marks: Marks) -> list[bytes]:
    """Each mark as SIZE bytes."""
    whole = marks.tobytes()
    return [whole[at : at + SIZE] for at in range(0, len(whole), SIZE)]


def total_of(marks: Marks) -> int:
    """The sum of all marks, modulo 2^128; `marks.sum_of` of the same bytes."""
    # exact for fewer than 2^32 marks
    words = marks.view(np.uint32).reshape(-1, 4).sum(axis=0, dtype=np.uint64)
    return sum(int(word) << 32 * place for place, word in enumerate(words)) % WHOLE


@cache
def _key(table: bytes) -> tuple[np.uint64, np.uint64]:
    first_half, last_half = np.frombuffer(blake2b(table, digest_size=16).digest(), np.uint64)
    return first_half, last_half


@lru_cache(4096)
def _digest(name: str) -> bytes:
    return blake2b(name.encode(), digest_size=16).digest()


@kernel
def _hash(
    first_half: np.uint64,
    last_half: np.uint64,
    heads: NDArray[np.uint64],
    words: NDArray[np.uint64],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    out: NDArray[np.uint64],
) -> None:
    """SipHash-2-4-128 of the words of each head and of `words` from the row's beginning to its end.

    first_half, last_half  the key: its first and last 8 bytes
    """
    width = heads.shape[1]
    for i in range(ends.size):
        begin = begins[i]
        a, b = (
            first_half ^ np.uint64(0x736F6D6570736575),
            last_half ^ np.uint64(0x646F72616E646F6D) ^ np.uint64(0xEE),
        )
        c, d = first_half ^ np.uint64(0x6C7967656E657261), last_half ^ np.uint64(0x7465646279746573)
        count = width + ends[i] - begin
        for j in range(count + 1):
            if j < width:
                word = heads[i, j]
            elif j < count:
                word = words[begin + j - width]
            else:
                word = np.uint64(8 * count) << np.uint64(56)
            d ^= word
            for _ in range(2):
                a, b, c, d = _round(a, b, c, d)
            a ^= word
        c ^= np.uint64(0xEE)
        for _ in range(4):
            a, b, c, d = _round(a, b, c, d)
        out[i, 0] = a ^ b ^ c ^ d
        b ^= np.uint64(0xDD)
        for _ in range(4):
            a, b, c, d = _round(a, b, c, d)
        out[i, 1] = a ^ b ^ c ^ d


@kernel
def _round(
    a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """One SipRound."""
    a, c = a + b, c + d
    b = ((b << np.uint64(13)) | (b >> np.uint64(51))) ^ a
    d = ((d << np.uint64(16)) | (d >> np.uint64(48))) ^ c
    a = ((a << np.uint64(32)) | (a >> np.uint64(32))) + d
    c = c + b
    d = ((d << np.uint64(21)) | (d >> np.uint64(43))) ^ a
    b = ((b << np.uint64(17)) | (b >> np.uint64(47))) ^ c
    return a, b, (c << np.uint64(32)) | (c >> np.uint64(32)), d
