"""Reranking: a closer look at the best candidates, blended with the scores that they have; shared
by the rerankers.

The blend is that of Cortex (section 3.3, stage 4), (1 - a) fused + a judged, on one scale: without
one, fused scores that span a few hundredths would never matter beside scores that span 0 to 1.
`printed` takes both scores as they are, as the text has it.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel

Blend = Literal["fixed", "spread", "printed"]


@kernel
def min_max(scores: Any, out: Any) -> None:
    """out (p,) = (s - min s) / (max s - min s); 0 if all are equal.  O(p).

    >>> out = np.empty(3)
    >>> min_max(np.array([2.0, 4.0, 3.0]), out)
    >>> out.tolist()
    [0.0, 1.0, 0.5]
    """
    low, high = np.inf, -np.inf
    for i in range(scores.shape[0]):
        low, high = min(low, scores[i]), max(high, scores[i])
    for i in range(scores.shape[0]):
        out[i] = (scores[i] - low) / (high - low) if high > low else 0.0


@kernel
def spread(judged: Any) -> float:
    """2 sd of scores in 0..1: 0 if all are equal, 1 if one half is 0 and the other 1.  Ours.  O(p).

    >>> spread(np.array([0.0, 1.0, 0.0, 1.0])), spread(np.array([0.3, 0.3]))
    (1.0, 0.0)
    """
    mean, squares = 0.0, 0.0
    for i in range(judged.shape[0]):
        # differences from one score, so that equal scores give exactly 0
        mean += (judged[i] - judged[0]) / judged.shape[0]
    for i in range(judged.shape[0]):
        squares += (judged[i] - judged[0] - mean) ** 2
    return 2.0 * math.sqrt(squares / judged.shape[0])


@kernel
def blended(fused: Any, judged: Any, a: float, out: Any) -> None:
    """out (p,) = (1 - a) f' + a j', each on its own scale from 0 to 1.  Cortex, 3.3, stage 4.
    O(p).

    fused   (p,)  f, scores before the reranker
    judged  (p,)  j, scores of the reranker
    a       ()    weight of the reranker, 0..1

    >>> out = np.empty(3)
    >>> blended(np.array([0.03, 0.02, 0.01]), np.array([0.1, 0.9, 0.5]), 0.75, out)
    >>> out.tolist()
    [0.25, 0.875, 0.375]
    """
    scale = np.empty(fused.shape[0])
    min_max(fused, scale)
    min_max(judged, out)
    for i in range(out.shape[0]):
        out[i] = (1.0 - a) * scale[i] + a * out[i]


@kernel
def as_printed(fused: Any, judged: Any, a: float, out: Any) -> None:
    """out (p,) = (1 - a) f + a j, both as they are.  Cortex, 3.3, stage 4, exactly as printed.  O(p).

    >>> out = np.empty(2)
    >>> as_printed(np.array([0.03, 0.01]), np.array([0.1, 0.2]), 0.5, out)
    >>> out.round(6).tolist()
    [0.065, 0.105]
    """
    for i in range(out.shape[0]):
        out[i] = (1.0 - a) * fused[i] + a * judged[i]


@kernel
def above(fused: Any, blend: Any, out: Any) -> None:
    """out (p,) float32 = blend + the number next above the lowest f: the pool stays above all
    others, which have at most the lowest f.  Ours.  O(p).

    fused  (p,) float32  f, scores before the reranker
    blend  (p,)          0..1

    >>> out = np.empty(2, np.float32)
    >>> above(np.array([3.0, 2.0], np.float32), np.array([0.0, 1.0]), out)
    >>> out.round(4).tolist(), bool(out[0] > 2.0)
    ([2.0, 3.0], True)
    """
    low = np.float32(np.inf)
    for i in range(fused.shape[0]):
        low = min(low, fused[i])
    low = np.nextafter(low, np.float32(np.inf))
    for i in range(out.shape[0]):
        out[i] = low + blend[i]


def reranked(fused: Any, judged: Any, alpha: float, blend: Blend) -> NDArray[np.float32]:
    """Scores of a pool after a reranker: its blend, `above` all that is not in the pool.  Cortex,
    3.3, stage 4.  O(p).

    fused   (p,) float32  f, scores before the reranker
    judged  (p,)          j, scores of the reranker
    alpha   ()            weight of the reranker, 0..1, see `reranker_weight`

    >>> reranked(np.array([3.0, 2.0], np.float32), np.array([0.1, 0.9]), 0.75, "fixed").round(4).tolist()
    [2.25, 2.75]
    """
    mixed, final = np.empty(judged.shape[0]), np.empty(judged.shape[0], np.float32)
    if blend == "printed":
        as_printed(fused, judged, alpha, mixed)
    else:
        blended(fused, judged, reranker_weight(alpha, blend, judged), mixed)
    above(fused, mixed, final)
    return final


def reranker_weight(alpha: float, blend: Blend, judged: Any) -> float:
    """a of the blend: alpha, or with `spread` alpha times the spread of the reranker's scores, at
    most 1.  Ours, after Cortex, 6.4.4.

    >>> reranker_weight(0.5, "fixed", np.array([0.2, 0.6])), round(reranker_weight(0.5, "spread", np.array([0.2, 0.6])), 6)
    (0.5, 0.2)
    """
    return alpha * min(spread(judged), 1.0) if blend == "spread" else alpha
