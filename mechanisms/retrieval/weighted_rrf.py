"""Weighted reciprocal rank fusion: one ranking from many, by rank alone.

Each signal's list adds w / (k + rank) to the memories on it and nothing to the others: Cormack, Clarke & Buettcher (2009),
https://doi.org/10.1145/1571941.1572114, with k = 60 and equal weights.  The weights are the extension of both source systems.  A list holds the
best `depth` memories of its signal; equal scores share the best rank among them (1, 1, 3), and a tie at the end of the list is kept
or left as a whole, so that nothing depends on the order of the rows.  A signal that has nothing to say (NaN) lists nothing.

A signal that scores every memory whatever the query, such as heat or recency, lists its best on every query: it acts as a prior.

Acts on: FUSED, from which the answer is ranked.  A query's facet weights multiply the signals' own.
Cost: O(n + depth log depth) per signal, by radix selection whatever the order of the scores.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.columns import Phase
from ...engine.contract import Cue, Mechanism, Params, hook
from ...engine.numerics import kernel
from ...engine.vocabulary import FACET_WEIGHTS, FUSED, SIGNALS, VISIBLE


# --- equations ----------------------------------------------------------------------------------------------------
@kernel
def reciprocal_rank(rank: int, k: float) -> float:
    """1 / (k + r).  rank () r, from 1; 0: not on the list, which counts 0.  k () smoothing.  Cormack et al. (2009).  O(1).

    >>> reciprocal_rank(40, 60.0), reciprocal_rank(0, 60.0)
    (0.01, 0.0)
    """
    return 1.0 / (k + rank) if rank > 0 else 0.0


@kernel
def rank_in(listed: Any, score: float) -> int:
    """1 + number of listed scores above `score`; 0 if it is below all of them or NaN.  O(log m).

    listed  (m,)  scores of the list, best first

    >>> listed = np.array([0.9, 0.7, 0.7, 0.2])
    >>> [rank_in(listed, s) for s in (0.9, 0.7, 0.2, 0.1, np.nan)]
    [1, 2, 4, 0, 0]
    """
    m = listed.shape[0]
    if m == 0 or not score >= listed[m - 1]:
        return 0
    low, high = 0, m - 1                                      # the first place whose score is not above ours lies in [low, high]
    while low < high:
        middle = (low + high) // 2
        if listed[middle] > score:
            low = middle + 1
        else:
            high = middle
    return low + 1


@kernel
def order_key(bits: int) -> int:
    """A number in [0, 2^32) that orders as the float32 of these (signed) bits does, -0 as 0.  O(1).

    >>> [order_key(int(np.float32(x).view(np.int32))) - 2**31 for x in (-np.inf, -0.0, 0.0, 1e-45)]
    [-2139095040, 0, 0, 1]
    """
    key = int(bits)                                           # sign and magnitude
    return 0x80000000 + (key if key >= 0 else -(key & 0x7FFFFFFF))


@kernel
def best_scores(scores: Any, visible: Any, depth: int) -> Any:
    """The `depth` best visible scores, best first, equal ones repeated; fewer if fewer memories have one.

    scores   (n,) float32, contiguous  NaN for silence
    visible  (n,) bool
    Returns (m,) float32, m <= depth.  A histogram of the order keys, refined twice (11, 11 and 10 bits), finds the last of them exactly,
    and a further pass collects the rest: O(n + m log m) for any order of the scores.

    >>> best_scores(np.array([0.25, 2.0, np.nan, 0.5, 2.0], dtype=np.float32), np.ones(5, dtype=np.bool_), 3).tolist()
    [2.0, 2.0, 0.5]
    """
    n, bits, counts = scores.shape[0], scores.view(np.int32), np.zeros(1 << 11, dtype=np.int64)
    m, above, last = depth, 0, 0                              # `above` keys are greater than all keys that begin with the bits of `last`
    for shift, width in ((21, 11), (10, 11), (0, 10)):
        counts[:] = 0
        for i in range(n):
            if visible[i] and not np.isnan(scores[i]):
                key = order_key(bits[i])
                if key >> (shift + width) == last:
                    counts[(key >> shift) & ((1 << width) - 1)] += 1
        if shift == 21:
            m = min(depth, counts.sum())
            if m <= 0:
                return np.empty(0, dtype=np.float32)
        digit = (1 << width) - 1
        while above + counts[digit] < m:
            above += counts[digit]
            digit -= 1
        last = (last << width) + digit
    cutoff, found, size = np.float32(0.0), np.empty(m, dtype=np.float32), 0
    for i in range(n):
        if visible[i] and not np.isnan(scores[i]):
            key = order_key(bits[i])
            if key > last:
                found[size] = -scores[i]
                size += 1
            elif key == last:
                cutoff = scores[i]
    found[size:] = -cutoff
    found.sort()
    return -found


@kernel
def add_reciprocal_ranks(scores: Any, visible: Any, depth: int, k: float, weight: float, out: Any) -> None:
    """out += weight / (k + rank) for the memories on the signal's list.  O(n + depth log depth).

    scores   (n,) float32  NaN: not on the list
    visible  (n,) bool
    depth    ()   length of the list; ties at its end are listed
    k        ()   smoothing
    weight   ()   of this list
    out      (n,) added to

    >>> out = np.zeros(4)
    >>> add_reciprocal_ranks(np.array([0.1, 0.3, np.nan, 0.3], dtype=np.float32), np.ones(4, dtype=np.bool_), 1000, 60.0, 1.0, out)
    >>> (out * 61 * 63).round(9).tolist()
    [61.0, 63.0, 0.0, 63.0]
    """
    listed = best_scores(scores, visible, depth)
    if listed.shape[0] == 0:
        return
    worst = listed[listed.shape[0] - 1]
    of_worst = weight * reciprocal_rank(rank_in(listed, worst), k)    # constant signals tie all memories here
    for i in range(scores.shape[0]):
        if visible[i] and scores[i] >= worst:
            out[i] += of_worst if scores[i] == worst else weight * reciprocal_rank(rank_in(listed, scores[i]), k)


# --- plug-in ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class WeightedRRFParams(Params):
    k: float                    # smoothing constant
    depth: int                  # memories on each signal's list


class WeightedRRF(Mechanism[WeightedRRFParams]):
    """f(d) = sum_s w_s / (k + rank_s(d)), absent: 0."""

    @hook(Phase.RETRIEVE, reads=(SIGNALS, FACET_WEIGHTS, VISIBLE), adds=(), sets=(FUSED,))
    def fuse(self, view: Any, cue: Cue) -> None:
        p, facets, fused = self.params, view.facet_weights, view.fused
        fused[...] = 0.0
        for each, scores, weight in view.signals:
            if (trust := weight * float(facets[each.facet.value])) > 0.0:
                add_reciprocal_ranks(scores, view.visible, p.depth, p.k, trust, fused)
