"""Fingerprints of blocks, by which a save finds the blocks that differ from the file's: NH (Black
et al. 1999, https://doi.org/10.1007/3-540-48405-1_14).

They stay in memory, so that another version may compute others.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..base.numerics import kernel

# words that are summed before the sums are mixed into the fingerprint; as many keys are needed
CHUNK: Final = 512
KEYS: Final = np.random.default_rng(18).integers(0, 2**32, (4, CHUNK), dtype=np.uint64)


def fingerprints(data: NDArray[np.uint8], size: int) -> NDArray[np.uint64]:
    """64 bits of each block of so many bytes, a multiple of 8 unless there is one block; equal
    blocks have equal fingerprints.  40 us per 10^6 bytes.

    Different blocks have equal fingerprints with a probability of about 2^-64, if they do not
    depend on the keys.

    >>> first, second, third = fingerprints(np.array([1, 2, 1, 2, 1], np.uint8).repeat(8), 16)
    >>> bool(first == second), bool(first == third)
    (True, False)
    """
    whole = data.size // 8 * 8
    out = np.empty(-(-data.size // size) if size else 0, np.uint64)
    _fingerprints(data[:whole].view(np.uint64), data[whole:], max(size // 8, 1), KEYS, out)
    return out


@kernel
def _mixed(x: np.uint64) -> np.uint64:
    """64 mixed bits of x; no other number has the same ones."""
    x = (x ^ (x >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(32))) * np.uint64(0xD1B54A32D192ED03)
    return x ^ (x >> np.uint64(29))


@kernel
def _fingerprints(
    words: NDArray[np.uint64],
    rest: NDArray[np.uint8],
    per_block: int,
    keys: NDArray[np.uint64],
    out: NDArray[np.uint64],
) -> None:
    """Of each chunk of a block two sums over its words of (lower half + key) (upper half + key),
    halves modulo 2^32, with different keys; two chunks that differ have the same pair with a
    probability of at most 2^-64.  Pairs, `rest`, which belongs to the last block, and size are
    mixed in turn.
    """
    plus, low, half = np.uint64(0xA0761D6478BD642F), np.uint64(0xFFFFFFFF), np.uint64(32)
    for block in range(out.size):
        a, b = np.uint64(1), np.uint64(2)
        start, end = block * per_block, min((block + 1) * per_block, words.size)
        for at in range(start, end, CHUNK):
            chunk, first_sum, second_sum = (
                words[at : min(at + CHUNK, end)],
                np.uint64(0),
                np.uint64(0),
            )
            # products of 32 bits, for which processors have vector instructions
            for i in range(chunk.size):
                lower, upper = chunk[i] & low, chunk[i] >> half
                first_sum += ((lower + keys[0, i]) & low) * ((upper + keys[1, i]) & low)
                second_sum += ((lower + keys[2, i]) & low) * ((upper + keys[3, i]) & low)
            a, b = _mixed(a ^ first_sum) + plus, _mixed(b ^ second_sum) + plus
        size = np.uint64(8 * (end - start))
        if block == out.size - 1:
            size += np.uint64(rest.size)
            for byte in rest:
                a = _mixed(a ^ np.uint64(byte)) + plus
        out[block] = _mixed((_mixed(a ^ b) + plus) ^ size)
