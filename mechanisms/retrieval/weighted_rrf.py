"""Weighted reciprocal rank fusion: combines all signals into one score from their ranks alone.

The list of each signal adds w / (k + rank) to its memories and nothing to the others: Cormack,
Clarke & Buettcher (2009), https://doi.org/10.1145/1571941.1572114, with k = 60 and equal weights.
The weights are an extension by both source systems.  A list holds the best `depth` memories of its
signal.  Equal scores share the best of their ranks (1, 1, 3), and memories that tie at the end of
the list are all included, so the result does not depend on the order of the rows.  Memories without
a score (NaN) are not listed.

A signal that scores every memory on every query, such as heat or recency, always fills its list: it
acts as a prior.

Cost: O(n log depth) per signal, for any order of the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import FACET_WEIGHTS, FUSED, SIGNALS, VISIBLE


# --- equations ------------------------------------------------------------------------------------
@kernel
def reciprocal_rank(rank: int, k: float) -> float:
    """1 / (k + r).  rank () r, from 1; 0: not listed, result 0.  k () smoothing constant.  Cormack
    et al. (2009).  O(1).

    >>> reciprocal_rank(40, 60.0), reciprocal_rank(0, 60.0)
    (0.01, 0.0)
    """
    return 1.0 / (k + rank) if rank > 0 else 0.0


@kernel
def rank_in(listed: Any, score: float) -> int:
    """1 + number of listed scores above `score`; 0 if it is NaN or below all of them.  O(log m).

    listed  (m,)  scores of the list, best first

    >>> listed = np.array([0.9, 0.7, 0.7, 0.2])
    >>> [rank_in(listed, s) for s in (0.9, 0.7, 0.2, 0.1, np.nan)]
    [1, 2, 4, 0, 0]
    """
    m = listed.shape[0]
    if m == 0 or not score >= listed[m - 1]:
        return 0
    # the first index with listed <= score is in [low, high]
    low, high = 0, m - 1
    while low < high:
        middle = (low + high) // 2
        if listed[middle] > score:
            low = middle + 1
        else:
            high = middle
    return low + 1


def best_scores(scores: Any, visible: Any, depth: int) -> Any:
    """The `depth` best visible scores, best first, equal ones repeated; fewer if fewer memories
    have a score.  O(n + m log m).

    scores   (n,) float32  NaN for none
    visible  (n,) bool
    Returns (m,) float32, m <= depth.

    >>> best_scores(np.array([0.25, 2.0, np.nan, 0.5, 2.0], dtype=np.float32), np.ones(5, dtype=np.bool_), 3).tolist()
    [2.0, 2.0, 0.5]
    """
    negated = -scores[visible & ~np.isnan(scores)]
    if depth < negated.shape[0]:
        negated = np.partition(negated, depth)[:depth]
    return -np.sort(negated)


@kernel
def add_listed(scores: Any, listed: Any, k: float, weight: float, out: Any) -> None:
    """out += weight / (k + rank) for the memories whose score is on the list or above its end.
    O(n log m).

    scores   (n,) float32  NaN: not on the list
    listed   (m,) float32  scores of the list, best first, m > 0
    k        ()   smoothing constant
    weight   ()   weight of this signal
    out      (n,) added to
    """
    worst = listed[listed.shape[0] - 1]
    # computed once: in a constant signal all memories tie here
    of_worst = weight * reciprocal_rank(rank_in(listed, worst), k)
    for i in range(scores.shape[0]):
        if scores[i] >= worst:
            out[i] += (
                of_worst
                if scores[i] == worst
                else weight * reciprocal_rank(rank_in(listed, scores[i]), k)
            )


def add_reciprocal_ranks(
    scores: Any, visible: Any, depth: int, k: float, weight: float, out: Any
) -> None:
    """out += weight / (k + rank) for the memories on the list of the signal.  O(n log depth).

    A hidden memory gets the rank that it would have among the listed visible ones; below the last
    of them it is not on the list.

    scores   (n,) float32  NaN: not on the list
    visible  (n,) bool
    depth    ()   length of the list; ties at its end are included
    k        ()   smoothing constant
    weight   ()   weight of this signal
    out      (n,) added to

    >>> out = np.zeros(4)
    >>> add_reciprocal_ranks(np.array([0.1, 0.3, np.nan, 0.3], dtype=np.float32), np.ones(4, dtype=np.bool_), 1000, 60.0, 1.0, out)
    >>> (out * 61 * 63).round(9).tolist()
    [61.0, 63.0, 0.0, 63.0]
    """
    listed = best_scores(scores, visible, depth)
    if listed.shape[0]:
        add_listed(scores, listed, k, weight, out)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class WeightedRRFParams(Params):
    k: float  # smoothing constant
    depth: int  # memories on each signal's list


class WeightedRRF(Mechanism[WeightedRRFParams]):
    """f(d) = sum_s w_s / (k + rank_s(d)); a signal that does not list d adds 0."""

    @hook(Phase.RETRIEVE, reads=(SIGNALS, FACET_WEIGHTS, VISIBLE), adds=(), sets=(FUSED,))
    def fuse(self, view: Any, cue: Cue) -> None:
        p, facets, fused = self.params, view.facet_weights, view.fused
        fused[...] = 0.0
        for signal, scores, weight in view.signals:
            if (trust := weight * float(facets[signal.facet.value])) > 0.0:
                add_reciprocal_ranks(scores, view.visible, p.depth, p.k, trust, fused)
