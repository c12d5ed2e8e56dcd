"""Threshold-linear units."""

from __future__ import annotations

from ...engine.base.numerics import exact_kernel


@exact_kernel
def unit(drive: float, inhibition: float, gain: float) -> float:
    """Y in [0, 1] of a threshold-linear unit: gain (drive - inhibition), clipped.  Cost: O(1).

    >>> unit(0.5, 0.25, 2.0), unit(0.5, 0.75, 2.0), unit(9.0, 0.25, 2.0)
    (0.5, 0.0, 1.0)
    """
    return min(1.0, max(0.0, gain * (drive - inhibition)))
