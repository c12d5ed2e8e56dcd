"""Packing: the order in which whole memories are tried, so that many of those that answer fit.

A memory of rank r, from 1, and of length l is tried in the order of

    r l^POWER,    the smallest first, ties by rank

The chance that a memory is evidence falls about as 1 / r^q and grows about as l^s, since a longer one says more; what it brings for each
character is r^-q l^(s - 1), whose order is that of r l^((1 - s) / q).  So there is one exponent: 0 is best first, and a large one is shortest first.

Engineering, ours.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Final

# Chosen on conversations 4 and 5 of LoCoMo and checked on 1 to 3, see docs/context.md
POWER: Final = 2.0 / 3.0


def packing_order(sizes: Sequence[int]) -> list[int]:
    """Places of items in the order in which they are tried.  O(n log n).

    sizes  of the items as they are written, best item first

    >>> packing_order([80, 10, 10, 640])
    [1, 2, 0, 3]
    """
    return sorted(range(len(sizes)), key=lambda n: ((n + 1) * sizes[n] ** POWER, n))
