"""Topic fit: whether an event fits the current context, by running mean vectors; engineering
shared by the uncertainty mechanisms.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...engine.base.numerics import exact_kernel

TIE: Final = 1e-9  # tolerance for rounding


@exact_kernel
def fits(themes: Any, vector: Any) -> bool:
    """(x - g) . (c - g) >= 0: whether event and context differ from the mean of all events in the
    same direction.  Ours.  Cost: O(d).

    themes  (2, d)  1  c, mean vector of the present context, and g, of all events
    vector  (d,)    1  x, the event, of length 1

    >>> themes = np.array([[0.9, 0.1], [0.5, 0.5]])
    >>> bool(fits(themes, np.array([1.0, 0.0]))), bool(fits(themes, np.array([0.0, 1.0])))
    (True, False)
    """
    similarity = 0.0
    for i in range(vector.shape[0]):
        similarity += (np.float64(vector[i]) - themes[1, i]) * (themes[0, i] - themes[1, i])
    return similarity >= -TIE


@exact_kernel
def follow(themes: Any, masses: Any, vector: Any, joins: bool, starts: bool, keep: float) -> None:
    """Update both means with the event.  Ours.  Cost: O(d).

    themes  (2, d)  1       mean vector of the present context, and of all events; updated
    masses  (2,)    events  effective number of events in each mean; updated
    joins                   whether the event belongs to the context
    starts                  whether it starts a new context
    keep    ()      1       factor on the weight of the context's earlier events at each new one

    >>> themes, masses = np.zeros((2, 2)), np.zeros(2)
    >>> follow(themes, masses, np.array([1.0, 0.0]), True, False, 0.5)
    >>> follow(themes, masses, np.array([0.0, 1.0]), True, False, 0.5)
    >>> [round(float(x), 6) for x in themes[0]], themes[1].tolist()
    ([0.333333, 0.666667], [0.5, 0.5])
    """
    masses[1] += 1.0
    if starts:
        masses[0] = 1.0
    elif joins:
        masses[0] = keep * masses[0] + 1.0
    for i in range(vector.shape[0]):
        x = np.float64(vector[i])
        themes[1, i] += (x - themes[1, i]) / masses[1]
        if starts:
            themes[0, i] = x
        elif joins:
            themes[0, i] += (x - themes[0, i]) / masses[0]
