"""Temporal distinctiveness: a memory is retrieved with a probability that grows with its
distinctiveness in time (SIMPLE).

Brown, Neath & Chater (2007): memories lie on a logarithmic axis of temporal distance, so ratios of
distances decide how similar two memories are.  Recent memories lie far apart and remote ones close
together, which gives recency at any scale of time and its loss after a filled delay; a memory
without near neighbours is distinct at any age.  Nothing decays: all forgetting is interference.

On a sorted axis similarities multiply, eta_ik = eta_ij eta_jk for j between i and k, so one sweep
in each direction gives all sums over pairs.

Cost per query: O(n), because rows are in order of time (otherwise O(n log n) to sort); 100,000
memories: 4 ms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebbarium.author import (
    CREATED,
    NOW,
    VISIBLE,
    Cue,
    Facet,
    Mechanism,
    Params,
    Phase,
    hook,
    kernel,
    signal,
)

# --- columns --------------------------------------------------------------------------------------
DISTINCT = signal(
    "distinct_in_time",
    Facet.TIME,
    "probability of retrieval from the memory's distinctiveness in time",
    direct=False,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def similarity(one: float, other: float, c: float) -> float:
    """eta_ij = exp(-c |ln T_i - ln T_j|).  Brown, Neath & Chater (2007), similarity.  Cost: O(1).

    one, other  ()  any one unit of time  T_i and T_j, above 0
    c           ()  1                     resolution in time; at 1 the similarity is the ratio of
                                          the distances

    >>> round(similarity(2.0, 8.0, 1.0), 9)
    0.25
    """
    return math.exp(-c * abs(math.log(one) - math.log(other)))


@kernel
def discriminability(distance: Any, c: float, out: Any) -> None:
    """D_i = 1 / sum_j eta_ij, j = i included.  Brown, Neath & Chater (2007), discriminability.
    Cost: O(n).

    distance  (n,)  any one unit of time  T, sorted, upwards or downwards; above 0
    c         ()    1                     as in `similarity`
    out       (n,)  1                     written, in (0, 1]; another array than `distance`

    >>> out = np.empty(3)
    >>> discriminability(np.array([1.0, 2.0, 4.0]), 1.0, out)          # 1 / (1 + 1/2 + 1/4) at the ends
    >>> out.round(6).tolist()
    [0.571429, 0.5, 0.571429]
    """
    n, crowd = distance.shape[0], 0.0
    for i in range(n):
        if i > 0:
            crowd = (1.0 + crowd) * similarity(distance[i - 1], distance[i], c)
        out[i] = crowd
    crowd = 0.0
    for i in range(n - 1, -1, -1):
        if i < n - 1:
            crowd = (1.0 + crowd) * similarity(distance[i], distance[i + 1], c)
        out[i] = 1.0 / (1.0 + out[i] + crowd)


@kernel
def retrieval(d: Any, s: float, t: float, out: Any) -> None:
    """P_i = 1 / (1 + exp(-s (D_i - t))).  Brown, Neath & Chater (2007), omissions.  Cost: O(n).

    d    (n,)  1  D
    s    ()    1  slope: how sharp the threshold is
    t    ()    1  threshold on D
    out  (n,)  1  written, in (0, 1); may be `d`
    """
    for i in range(out.shape[0]):
        out[i] = 1.0 / (1.0 + math.exp(-s * (d[i] - t)))


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TemporalDistinctivenessParams(Params):
    c: float
    s: float
    t: float
    shortest: float  # smaller distances are set to this
    weight: float  # trust in the fused ranking


class TemporalDistinctiveness(Mechanism[TemporalDistinctivenessParams]):
    owns = (DISTINCT,)

    @hook(Phase.RETRIEVE, reads=(NOW, CREATED, VISIBLE), adds=(), sets=(DISTINCT,))
    def score(self, view: Any, cue: Cue) -> None:
        """Archived memories neither compete nor have a score."""
        p, rows = self.params, np.flatnonzero(view.visible)
        rows = rows[np.argsort(view.created[rows], kind="stable")]
        distance = np.maximum(view.now - view.created[rows], self.hours("shortest"))
        odds = np.empty_like(distance)
        discriminability(distance, p.c, odds)
        retrieval(odds, p.s, p.t, odds)
        view.distinct_in_time[rows] = odds
