"""Marks: checksums of the parts of a file that cover what a part holds and where it belongs, and
the sum of all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from struct import Struct
from typing import Any

import numpy as np

SIZE = 16  # bytes of a mark
WHOLE = 1 << 8 * SIZE
MISMATCH = "a checksum does not match"
HEADS = [Struct(f"<{n}Q") for n in range(16)]


def mark(table: bytes, number: int, generation: int, *parts: bytes) -> bytes:
    """BLAKE2b of the table with the name, the number of the row or block, the generation, the
    length of each part, and the parts.

    generation  number of the save that wrote it

    A part that is read from another place, from another save, or with another length has another
    mark.
    """
    head = HEADS[len(parts) + 2].pack(number, generation, *map(len, parts))
    return blake2b(b"".join((table, b"\0", head, *parts)), digest_size=SIZE).digest()


def sum_of(marks: Iterable[bytes]) -> int:
    r"""The sum of all marks, modulo 2^128; each has SIZE bytes, or fewer.

    >>> sum_of([b"a", b"b"]) == sum_of([b"b", b"a"]) == ord("a") + ord("b")
    True
    >>> sum_of([b"\xff" * 16, b"\x02" + b"\0" * 15]), sum_of([])
    (1, 0)
    """
    all_marks = list(marks)
    whole = b"".join(all_marks)
    if len(whole) != SIZE * len(all_marks):
        return sum(int.from_bytes(mark, "little") for mark in all_marks) % WHOLE
    # exact for fewer than 2^32 marks
    words = np.frombuffer(whole, "<u4").reshape(-1, SIZE // 4).sum(axis=0, dtype=np.uint64)
    return sum(int(word) << 32 * place for place, word in enumerate(words)) % WHOLE


def checksum(*parts: Any) -> bytes:
    """Checksum of bytes, or of a few fields, without a place: of the description of a file."""
    if len(parts) == 1 and isinstance(parts[0], bytes):
        return blake2b(parts[0], digest_size=SIZE).digest()
    plain = repr([sorted(p.items()) if isinstance(p, Mapping) else p for p in parts])
    return blake2b(plain.encode(), digest_size=SIZE).digest()


def verify(stored: bytes | Sequence[bytes], expected: bytes | Sequence[bytes]) -> None:
    """Raises ValueError unless both marks, or both lists of marks, are equal."""
    if stored != expected:
        raise ValueError(MISMATCH)
