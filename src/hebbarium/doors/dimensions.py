"""How exactly vectors of so many dimensions can keep the distances of so many memories: the bound
of Johnson and Lindenstrauss, which Larsen and Nelson (2017) showed to be the best possible.
"""

from __future__ import annotations

import math

from scipy.special import lambertw


def distance_error(points: int, dimensions: int) -> float:
    """The relative error e with log2(e^2 n) / e^2 = d: some n points cannot be mapped to d
    dimensions with a smaller one, up to a constant that the theorem leaves open, here 1.  At most
    1; 0 for so few points that the bound forbids nothing.

    The bound is of the worst n points, so it says what no embedding can promise, not what one does.

    >>> round(distance_error(7_500, 384), 3), distance_error(100, 384)
    (0.136, 0.0)
    """
    # with x = e^2 n: ln(x) / x = d ln(2) / n, of whose two solutions the one above the greatest
    # value of ln(x) / x, at x = e, is meant
    slope = dimensions * math.log(2.0) / max(points, 1)
    if points <= math.e or slope >= 1.0 / math.e:
        return 0.0
    return min(math.sqrt(-lambertw(-slope, -1).real / slope / points), 1.0)
