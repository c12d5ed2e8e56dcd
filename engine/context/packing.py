"""Packing: the order in which whole memories are tried, so that many of those that answer fit.

The five best memories are tried first.  Then one of rank r, from 1, and of length l is tried in the order of

    r l^POWER,    the smallest first, ties by rank

If the chance that a memory is evidence falls as 1 / r^q and grows as l^s, what it brings for each character is r^-q l^(s - 1), whose order is that
of r l^((1 - s) / q).  So there is one exponent: 0 is best first, and a large one is shortest first.  On LoCoMo a logistic regression finds q = 1.9
and s = 0.0 (120 best memories of each question of conversations 4 and 5), so 0.5; the best exponent tried is larger.

The best memory is evidence for about half of the questions there, so the first are exempt: else three short ones displace a long one that answers.

Engineering, ours.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Final

# The best of 1/2, 2/3, 3/4 and 1 on conversations 4 and 5 of LoCoMo at 1,024 tokens; on 1 to 3 all of them are within .002, see docs/context.md
POWER: Final = 0.75
# Of 0, 1, 2, 3 and 5 the best at 256 tokens on the same two conversations; from 512 tokens on they differ by .001 at most there
FIRST: Final = 5


def packing_order(sizes: Sequence[int]) -> list[int]:
    """Places of items in the order in which they are tried.  O(n log n).

    sizes  of the items as they are written, best item first

    >>> packing_order([640, 20, 20, 20, 20, 640, 80, 10])
    [0, 1, 2, 3, 4, 7, 6, 5]
    """
    return sorted(range(len(sizes)), key=lambda n: ((n + 1) * sizes[n] ** POWER if n >= FIRST else 0.0, n))
