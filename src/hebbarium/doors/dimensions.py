"""How exactly vectors of so many dimensions can keep the distances of so many memories: the bound
of Johnson and Lindenstrauss, which Larsen and Nelson (2017) showed to be the best possible.
"""

from __future__ import annotations

import math


def distance_error(points: int, dimensions: int) -> float:
    """The relative error e with log2(e^2 n) / e^2 = d: some n points cannot be mapped to d
    dimensions with a smaller one, up to a constant that the theorem leaves open, here 1.  At most
    1; 0 for so few points that the bound forbids nothing.

    The bound is of the worst n points, so it says what no embedding can promise, not what one does.

    >>> round(distance_error(7_500, 384), 3), distance_error(100, 384)
    (0.136, 0.0)
    """
    if points < 1:
        return 0.0

    def needed(error: float) -> float:
        return math.log2(error * error * points) / (error * error)

    low, high = math.sqrt(math.e / points), 1.0  # from its greatest value on, `needed` falls
    if low >= high or needed(low) <= dimensions:
        return 0.0
    if needed(high) >= dimensions:
        return 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2.0
        low, high = (middle, high) if needed(middle) > dimensions else (low, middle)
    return high
