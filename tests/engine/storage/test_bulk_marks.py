"""Marks of many rows against SipHash-2-4-128 written out from its paper, and its published
values.
"""

from __future__ import annotations

import hashlib
import random

import numpy as np
import pytest

from hebbarium.engine.base.marks import sum_of
from hebbarium.engine.state.bulk_marks import (
    _hash,
    as_bytes,
    block_marks,
    marks_of,
    placed_marks,
    total_of,
)

WORD = (1 << 64) - 1


def siphash(key: bytes, message: bytes) -> bytes:
    """Aumasson and Bernstein 2012, with the output of 128 bits of their reference code; a
    message of whole words.
    """
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D ^ 0xEE,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]

    def turn(number: int, by: int) -> int:
        return (number << by | number >> (64 - by)) & WORD

    def rounds(count: int) -> None:
        for _ in range(count):
            v[0] = (v[0] + v[1]) & WORD
            v[1] = turn(v[1], 13) ^ v[0]
            v[0] = turn(v[0], 32)
            v[2] = (v[2] + v[3]) & WORD
            v[3] = turn(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & WORD
            v[3] = turn(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & WORD
            v[1] = turn(v[1], 17) ^ v[2]
            v[2] = turn(v[2], 32)

    for at in range(0, len(message) + 1, 8):
        word = (
            int.from_bytes(message[at : at + 8], "little")
            if at < len(message)
            else (len(message) & 255) << 56
        )
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xEE
    rounds(4)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return first.to_bytes(8, "little") + (v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("size", "published"),
    [(0, "a3817f04ba25a8e66df67214c7550293"), (8, "3b62a9ba6258f5610f83e264f31497b4")],
)
def test_published_values(size: int, published: str) -> None:
    """`vectors.h` of the reference implementation: key and message are the bytes 0, 1, 2, ..."""
    key, message, out = bytes(range(16)), bytes(range(size)), np.empty((1, 2), np.uint64)
    one, other = np.frombuffer(key, np.uint64)
    _hash(
        one,
        other,
        np.frombuffer(message, np.uint64).reshape(1, -1),
        np.zeros(0, np.uint64),
        np.array([0]),
        np.array([0]),
        out,
    )
    assert out.tobytes().hex() == published == siphash(key, message).hex()


def padded(part: bytes) -> bytes:
    return part + bytes(-len(part) % 8)


def test_marks_are_the_hash_of_place_lengths_and_contents() -> None:
    chance = random.Random(4)
    numbers, saves, times = [3, 4, 900], [1, 7, 7], np.array([0.5, -1.0, 1e9])
    parts = [[chance.randbytes(n) for n in sizes] for sizes in ((0, 13, 64), (5, 0, 1000))]
    found = marks_of(b"events", numbers, saves, parts, [times])
    key = hashlib.blake2b(b"events", digest_size=16).digest()
    for row in range(3):
        head = np.array(
            [
                numbers[row],
                saves[row],
                times.view(np.int64)[row],
                *(len(part[row]) for part in parts),
            ],
            np.int64,
        ).tobytes()
        assert found[row].tobytes() == siphash(
            key, head + padded(b"".join(part[row] for part in parts))
        )
    assert total_of(found) == sum_of(as_bytes(found))


def test_marks_of_blocks_cover_the_name_of_the_array() -> None:
    data = [bytes(16), b"abc", b"12345678"]
    marks = block_marks(["x", "x", "y"], [0, 1, 1], [5, 5, 6], data)
    assert len(set(as_bytes(marks))) == 3
    assert as_bytes(block_marks(["x"], [1], [5], [b"abc"])) == as_bytes(marks)[1:2]
    for name, number, save, part in (
        ("y", 1, 5, b"abc"),
        ("x", 0, 5, b"abc"),
        ("x", 1, 6, b"abc"),
        ("x", 1, 5, b"abc\0"),
        ("x", 1, 5, b"abd"),
    ):
        assert as_bytes(block_marks([name], [number], [save], [part])) != as_bytes(marks)[1:2]


def test_blocks_in_their_array_have_the_same_marks() -> None:
    words = np.random.default_rng(6).integers(0, 1 << 63, 12, np.uint64)
    parts = [words[3 * number : 3 * number + 3].tobytes() for number in range(4)]
    expected = block_marks(["x"] * 4, range(4), [5, 8, 5, 7], parts)
    assert np.array_equal(placed_marks("x", range(4), [5, 8, 5, 7], words, 3), expected)
    assert np.array_equal(placed_marks("x", [1, 3], [8, 7], words, 3), expected[[1, 3]])
    assert len(placed_marks("x", [], [], words, 3)) == 0


def test_no_rows_have_no_marks_and_cells_of_another_type_are_refused() -> None:
    assert len(marks_of(b"t", [], [], [[]])) == 0 == total_of(marks_of(b"t", [], [], [[]]))
    for bad in ("text", 3, None):
        with pytest.raises((TypeError, ValueError)):
            marks_of(b"t", [0], [1], [[bad]])  # type: ignore[list-item]
    with pytest.raises((TypeError, ValueError)):
        marks_of(b"t", [0.5], [1], [[b""]], [["a"]])  # type: ignore[list-item]
