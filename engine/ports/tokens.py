"""Token vectors: one unit vector for each word piece of a text, in 8 bits a coordinate, stored
in 7 if they suffice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SMALL, LARGE = 63, 127  # largest codes of 7 and 8 bits
# least step of a code, and the step from which the codes have 8 bits; cosines change by less than
# 0.01
STEP, WIDE = 0.003, 0.006
EIGHT = 0x8000
BITS = np.arange(7, dtype=np.uint8)[:, None]
MOST_PIECES = 512  # word pieces of a text for models without a window


@dataclass(frozen=True, eq=False, slots=True)
class Tokens:
    """Unit vectors of the word pieces of n texts, special tokens left out; the vector of piece i is
    codes[i] * scales[i].

    An embedder with a method `embed_tokens(texts)` gives them; d may differ from its `dimensions`.

    codes    (t, d) int8      of the pieces of all texts in order
    scales   (t,) float32     1 / length of the codes
    offsets  (n + 1,) int64   text k has the pieces offsets[k] to offsets[k + 1]
    spans    (t, 2) int32     start and end of each piece in its text, in characters
    """

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    offsets: NDArray[np.int64]
    spans: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def by_text(self) -> Iterator[Tokens]:
        """The tokens of each text alone.  O(n)."""
        for start, end in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            yield Tokens(
                self.codes[start:end],
                self.scales[start:end],
                np.array([0, end - start]),
                self.spans[start:end],
            )

    @property
    def nbytes(self) -> int:
        return self.codes.nbytes + self.scales.nbytes + self.offsets.nbytes + self.spans.nbytes


def coded(vectors: ArrayLike, spans: ArrayLike) -> Tokens:
    """The tokens of one text from vectors (t, d) of any length; a vector of length 0 becomes the
    first unit vector.

    A code is v / s rounded, with v of length 1 and s = max(STEP, max |v| / 63), or max |v| / 127 if
    that is above WIDE.  O(t d).

    >>> tokens = coded([[3.0, 4.0], [0.0, 0.0]], [[0, 2], [3, 4]])
    >>> (tokens.codes * tokens.scales[:, None]).astype(float).round(2).tolist()
    [[0.6, 0.8], [1.0, 0.0]]
    """
    rows = np.array(vectors, np.float64, ndmin=2)
    rows[~rows.any(axis=1), 0] = 1.0
    rows /= np.sqrt(np.sum(rows * rows, axis=1, keepdims=True))
    top = np.abs(rows).max(axis=1, keepdims=True)
    codes = np.rint(rows / np.where(top > SMALL * WIDE, top / LARGE, np.maximum(STEP, top / SMALL)))
    return Tokens(
        codes.astype(np.int8),
        _scales(codes),
        np.array([0, len(rows)]),
        np.asarray(spans, np.int32).reshape(-1, 2),
    )


def joined(parts: Sequence[Tokens], dimensions: int) -> Tokens:
    """The tokens of several texts as one; `dimensions` if none of them has a word piece.  O(t
    d).
    """
    some = [part for part in parts if len(part.codes)]
    starts = np.cumsum([0, *(len(part.codes) for part in parts)])[:-1]
    offsets = np.concatenate(
        [
            np.zeros(1, np.int64),
            *(part.offsets[1:] + start for part, start in zip(parts, starts.tolist(), strict=True)),
        ]
    )
    if not some:
        return Tokens(
            np.empty((0, dimensions), np.int8),
            np.empty(0, np.float32),
            offsets,
            np.empty((0, 2), np.int32),
        )
    return Tokens(
        np.concatenate([part.codes for part in some]),
        np.concatenate([part.scales for part in some]),
        offsets,
        np.concatenate([part.spans for part in some]),
    )


def valid(tokens: Any, texts: int) -> bool:
    """Whether these are tokens of so many texts: shapes that agree, and vectors of length 1."""
    if (
        not isinstance(tokens, Tokens)
        or tokens.codes.ndim != 2
        or tokens.codes.dtype != np.int8
        or len(tokens) != texts
    ):
        return False
    count, starts = len(tokens.codes), tokens.offsets
    if (
        starts[0] != 0
        or starts[-1] != count
        or np.any(np.diff(starts) < 0)
        or tokens.scales.shape != (count,)
        or tokens.spans.shape != (count, 2)
    ):
        return False
    return bool(
        np.all(
            np.abs(
                tokens.scales * np.sqrt(np.sum(np.square(tokens.codes, dtype=np.int64), axis=1))
                - 1.0
            )
            < 1e-3
        )
    )


def packed(tokens: Tokens) -> tuple[int, bytes]:
    """The tokens of one text as a number of pieces and bytes: d, spans of 2 x 16 bits, then codes
    of 7 bits; 340 bytes a piece at d = 384.

    If a code needs 8 bits all have 8, and d has the bit EIGHT.  The 7-bit codes in a row are cut
    into eight equal parts; the bits of the last part are the highest bits of the bytes of the other
    seven. Places beyond 65,535 characters are stored as 65,535.
    """
    head = np.array([tokens.codes.shape[1], *np.minimum(tokens.spans.ravel(), 65_535)], "<u2")
    if np.any(np.abs(tokens.codes) > SMALL):
        head[0] |= EIGHT
        return len(tokens.codes), head.tobytes() + tokens.codes.tobytes()
    flat = np.full(-(-tokens.codes.size // 8) * 8, 64, np.uint8)
    flat[: tokens.codes.size] = (tokens.codes.ravel() + np.int8(64)).view(np.uint8)
    parts = flat.reshape(8, -1)
    return len(tokens.codes), head.tobytes() + (parts[:7] | (parts[7] >> BITS & 1) << 7).tobytes()


def unpacked(pieces: int, data: bytes) -> Tokens:
    """The inverse of `packed`.  Raises ValueError for other bytes."""
    head, codes = (
        np.frombuffer(data[: 2 + 4 * pieces], "<u2").astype(np.int32),
        np.frombuffer(data[2 + 4 * pieces :], np.uint8),
    )
    eight, size = (
        len(head) > 0 and bool(head[0] & EIGHT),
        pieces * int(head[0] & ~EIGHT) if len(head) else -1,
    )
    if len(head) != 1 + 2 * pieces or len(codes) != (size if eight else -(-size // 8) * 7):
        raise ValueError(f"{len(data)} bytes are no vectors of {pieces} word pieces")
    if eight:
        flat = codes.view(np.int8)
    else:
        low, parts = codes.reshape(7, -1), np.empty((8, len(codes) // 7), np.uint8)
        np.bitwise_and(low, 127, out=parts[:7])
        parts[7] = np.bitwise_or.reduce(low >> 7 << BITS, axis=0)
        flat = parts.view(np.int8).ravel() - np.int8(64)
    rows = flat[:size].reshape(pieces, int(head[0] & ~EIGHT))
    return Tokens(rows, _scales(rows), np.array([0, pieces]), head[1:].reshape(-1, 2))


def _scales(codes: NDArray[Any]) -> NDArray[np.float32]:
    # sums of squares of codes are whole numbers below 2^24 for up to 1040 dimensions
    wide = codes.astype(np.float32)
    return np.asarray(1.0 / np.sqrt(np.maximum(np.einsum("td,td->t", wide, wide), 1.0)), np.float32)
