"""Attention over stored patterns: the softmax of the overlaps with a state, and the update of
modern Hopfield networks.
"""

from __future__ import annotations

import math
from typing import Any

from ...engine.base.numerics import exact_kernel, summing_kernel


@summing_kernel
def overlaps(patterns: Any, state: Any, out: Any) -> None:
    """X^T xi.  patterns (N, d), one per row; state (d,); out (N,), written.  Cost: O(N d).

    >>> import numpy as np
    >>> out = np.empty(2)
    >>> overlaps(np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([1.0, 1.0]), out)
    >>> out.round(6).tolist()
    [1.0, 1.4]
    """
    for i in range(patterns.shape[0]):
        total = 0.0
        for k in range(state.shape[0]):
            total += patterns[i, k] * state[k]
        out[i] = total


@exact_kernel
def attention(patterns: Any, state: Any, beta: float, p: Any) -> float:
    """p = softmax(beta X^T xi); returns lse(beta, X^T xi) = ln(sum_i exp(beta x_i . xi)) / beta.
    Cost: O(N d).

    Ramsauer et al. (2021); Cortex 4.3.4: "attention with softmax".

    patterns  (N, d)     X^T, one pattern per row
    state     (d,)       xi
    beta      ()     1   inverse temperature, > 0
    p         (N,)   1   written; the largest score is subtracted first, so no beta overflows

    Two orthogonal patterns of length 1, and the state equal to the first: p_1 = 1 / (1 +
    exp(-beta)).

    >>> import numpy as np
    >>> p = np.empty(2)
    >>> lse = attention(np.eye(2), np.array([1.0, 0.0]), 2.0, p)
    >>> p.round(6).tolist(), round(lse, 6)
    ([0.880797, 0.119203], 1.063464)
    """
    overlaps(patterns, state, p)
    top, total = p[0], 0.0
    for i in range(1, patterns.shape[0]):
        top = max(top, p[i])
    for i in range(patterns.shape[0]):
        p[i] = math.exp(beta * (p[i] - top))
        total += p[i]
    for i in range(patterns.shape[0]):
        p[i] /= total
    return float(top + math.log(total) / beta)


@exact_kernel
def update(patterns: Any, p: Any, out: Any) -> None:
    """xi_new = X p, a point in the convex hull of the patterns.  Ramsauer et al. (2021), update
    rule.  Cost: O(N d).

    patterns  (N, d)     X^T
    p         (N,)   1   as returned by `attention`
    out       (d,)       xi_new, written

    >>> import numpy as np
    >>> out = np.empty(2)
    >>> update(np.eye(2), np.array([0.75, 0.25]), out)
    >>> out.tolist()
    [0.75, 0.25]
    """
    for k in range(out.shape[0]):
        out[k] = 0.0
    for i in range(patterns.shape[0]):
        for k in range(out.shape[0]):
            out[k] += p[i] * patterns[i, k]
