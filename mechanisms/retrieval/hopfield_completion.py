"""Hopfield completion: completes a partial or noisy cue to the stored pattern, or group of
patterns, to which a Hopfield network converges.

A modern Hopfield network stores continuous patterns x_i.  One update replaces the state by a mean
of the patterns, weighted by the softmax of their overlaps with the state, xi <- X softmax(beta X^T
xi).  The update never raises the energy
    E = -lse(beta, X^T xi) + xi^T xi / 2 + ln(N) / beta + M^2 / 2,        0 <= E <= 2 M^2
and equals the attention of transformers (Ramsauer et al. 2021).  beta determines the fixed points:
patterns separated by more than about ln(N) / beta have fixed points of their own, closer patterns
share a metastable state, their weighted mean, and at small beta all patterns share one.

Here the patterns are the embeddings of the memories nearest to the query, and the embedding of the
query is the cue.  The completed cue is close to all memories of the group, so memories that
resemble the query little are found through memories of the group that resemble it more.

Cost: one index search, O(n d), and O(M d) per update for a pool of M memories (1 ms for
256 memories of 384 dimensions and the 16 updates that a fixed point usually takes).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import exact_kernel, kernel
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import INDEX, VISIBLE
from ..shared.attention import attention, overlaps, update

# --- columns --------------------------------------------------------------------------------------
COMPLETION = signal(
    "completion",
    Facet.COMPLETION,
    "overlap x_i . xi with the completed cue; NaN outside the pool",
    scale=Scale.SIMILARITY,
)
COMPLETION_CONFIDENCE = Column(
    "completion_confidence",
    np.float64,
    Scope.EVENT,
    "1",
    0.0,
    "largest p_i of the completed cue; 1: one memory is recalled, 1/m: m equally",
    low=0,
    high=1,
)
COMPLETION_NEGLECTED = Column(
    "completion_neglected",
    np.float64,
    Scope.EVENT,
    "1",
    0.0,
    "upper bound on the softmax mass, at the cue, of memories outside the pool",
    low=0,
    high=1,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def energy(patterns: Any, state: Any, beta: float) -> float:
    """E = -lse(beta, X^T xi) + xi^T xi / 2 + ln(N) / beta + M^2 / 2 with M = max_i |x_i|.  Ramsauer
    et al. (2021), energy.  Cost: O(N d).

    patterns  (N, d)     X^T
    state     (d,)       xi; 0 <= E <= 2 M^2 for every state in the convex hull of the patterns
    beta      ()     1   inverse temperature

    One pattern, and the state equal to it.

    >>> energy(np.array([[3.0, 4.0]]), np.array([3.0, 4.0]), 0.5)
    0.0
    """
    n, largest, own = patterns.shape[0], 0.0, 0.0
    for i in range(n):
        square = 0.0
        for k in range(state.shape[0]):
            square += patterns[i, k] * patterns[i, k]
        largest = max(largest, square)
    for k in range(state.shape[0]):
        own += state[k] * state[k]
    lse = attention(patterns, state, beta, np.empty(n))
    return float(-lse + 0.5 * own + np.log(n) / beta + 0.5 * largest)


@exact_kernel
def complete(
    patterns: Any, cue: Any, beta: float, tolerance: float, most: int, p: Any, state: Any
) -> int:
    """Update from the cue until the state moves by <= `tolerance`; returns the number of updates.
    Ramsauer et al. (2021).  Cost: O(N d updates).

    patterns   (N, d)     X^T
    cue        (d,)       initial state
    beta       ()     1   inverse temperature
    tolerance  ()         largest |xi_new - xi| of a fixed point
    most       ()         largest number of updates, >= 1
    p          (N,)   1   softmax at the final state, written
    state      (d,)       completed cue, written

    Half of a pattern is completed to the whole pattern.

    >>> p, state = np.empty(2), np.empty(4)
    >>> steps = complete(np.array([[0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5]]), np.array([0.5, 0.5, 0.0, 0.0]), 32.0, 1e-9, 9, p, state)
    >>> state.round(6).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    new, steps, moved = np.empty(state.shape[0]), 0, np.inf
    for k in range(state.shape[0]):
        state[k] = cue[k]
    attention(patterns, state, beta, p)
    while steps < most and moved > tolerance:
        update(patterns, p, new)
        moved = 0.0
        for k in range(new.shape[0]):
            step = new[k] - state[k]
            moved += step * step
            state[k] = new[k]
        moved = np.sqrt(moved)
        steps += 1
        attention(patterns, state, beta, p)
    return steps


# --- regimes: when a pattern is a separate fixed point --------------------------------------------
@kernel
def separation(patterns: Any, i: int) -> float:
    """Delta_i = x_i . x_i - max_{j != i} x_i . x_j.  Ramsauer et al. (2021), separation of a
    pattern.  Cost: O(N d).

    >>> separation(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), 0)
    0.4
    """
    own, nearest = 0.0, -np.inf
    for j in range(patterns.shape[0]):
        overlap = 0.0
        for k in range(patterns.shape[1]):
            overlap += patterns[i, k] * patterns[j, k]
        if j == i:
            own = overlap
        else:
            nearest = max(nearest, overlap)
    return own - nearest


@kernel
def least_separation(n: float, beta: float, largest: float) -> float:
    """Delta at which a pattern is well separated: 2 / (beta N) + ln(2 (N - 1) N beta M^2) / beta.
    Ramsauer et al. (2021).  Cost: O(1).

    n  ()  number of patterns;  beta  ()  1  inverse temperature;  largest  ()  M

    A thousand patterns of length 1 need a separation of 0.29 at beta = 64.

    >>> round(least_separation(1000.0, 64.0, 1.0), 3)
    0.292
    """
    return float(2.0 / (beta * n) + np.log(2.0 * (n - 1.0) * n * beta * largest * largest) / beta)


@kernel
def retrieval_error(n: float, beta: float, delta: float, distance: float, largest: float) -> float:
    """Bound on |f(xi) - x_i| after one update: 2 M (N - 1) exp(-beta (Delta_i - 2 M |xi - x_i|)).
    Cost: O(1).

    From x_i . xi - x_j . xi >= Delta_i - 2 M |xi - x_i| and |f - x_i| <= 2 M (1 - p_i); the paper's
    theorem on retrieval has the same form.

    n  ()  number of patterns;  beta  ()  1;  delta  ()  Delta_i;  distance  ()  |xi - x_i|;
                                                         largest  ()  M

    >>> retrieval_error(2.0, 10.0, 1.0, 0.5, 1.0)
    2.0
    """
    return float(2.0 * largest * (n - 1.0) * np.exp(-beta * (delta - 2.0 * largest * distance)))


@kernel
def lambert_w(x: float) -> float:
    """W_0(x), the w >= 0 with w exp(w) = x, for x >= 0, by Newton's method on w + ln w = ln x.
    Cost: O(1).

    >>> round(lambert_w(np.e), 12)
    1.0
    """
    if x == 0.0:
        return 0.0
    w = float(np.log1p(x))
    for _ in range(64):
        step = w * float(np.log(x) - w - np.log(w)) / (1.0 + w)
        w = max(w + step, 0.5 * w)
        if abs(step) <= 1e-15 * w:
            break
    return w


@kernel
def capacity_base(beta: float, k: float, d: float, p: float) -> float:
    """c of N >= sqrt(p) c^((d - 1) / 4), the storable random patterns on a sphere.  Ramsauer et al.
    (2021), storage capacity.  Cost: O(1).

    beta  ()  1  inverse temperature
    k     ()     K; patterns have length K sqrt(d - 1)
    d     ()     dimensions
    p     ()  1  probability of failure

    >>> round(capacity_base(1.0, 3.0, 20.0, 0.001), 4)
    3.1546
    """
    a = 2.0 / (d - 1.0) * (1.0 + np.log(2.0 * beta * k * k * p * (d - 1.0)))
    b = 2.0 * k * k * beta / 5.0
    return b / lambert_w(np.exp(a + np.log(b)))


@kernel
def polynomial_capacity(neurons: float, degree: int) -> float:
    """K_max = N^(n-1) / (2 (2n-3)!! ln N) patterns without errors, for the energy x^n.  Krotov &
    Hopfield (2016), eq. (6).  Cost: O(degree).

    >>> round(polynomial_capacity(100.0, 2), 3)
    10.857
    """
    odd = 1.0
    for factor in range(3, 2 * degree - 2, 2):
        odd *= factor
    return float(neurons ** (degree - 1) / (2.0 * odd * np.log(neurons)))


@exact_kernel
def neglected(overlap: Any, beta: float, left_out: float) -> float:
    """Upper bound on the softmax mass, at the cue, of patterns outside the pool of the largest
    overlaps.  Ours.  Cost: O(m).

    A pattern outside has at most the overlap of the last one of the pool: n exp(beta last) / (n
    exp(beta last) + sum_i exp(beta x_i . q)).

    overlap   (m,)     x_i . q of the pool, largest first
    beta      ()    1  inverse temperature
    left_out  ()       n, number of patterns outside the pool

    A pool of two patterns, and three patterns outside.

    >>> round(neglected(np.array([np.log(4.0), 0.0]), 1.0, 3.0), 6)
    0.375
    """
    kept = 0.0
    for i in range(overlap.shape[0]):
        kept += math.exp(beta * (overlap[i] - overlap[overlap.shape[0] - 1]))
    return float(left_out / (left_out + kept))


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class HopfieldCompletionParams(Params):
    beta: float
    pool: int  # M, memories that form the network
    most_updates: int
    tolerance: float  # largest |xi_new - xi| of a fixed point
    weight: float


class HopfieldCompletion(Mechanism[HopfieldCompletionParams]):
    owns = (COMPLETION, COMPLETION_CONFIDENCE, COMPLETION_NEGLECTED)

    @hook(
        Phase.RETRIEVE,
        reads=(INDEX, VISIBLE),
        adds=(),
        sets=(COMPLETION, COMPLETION_CONFIDENCE, COMPLETION_NEGLECTED),
    )
    def score(self, view: Any, cue: Cue) -> None:
        if not cue.vector.any():  # asked without words: there is no pattern to complete
            return
        p = self.params
        rows, first = view.index.search(cue.vector, p.pool)
        if not rows.size:
            return
        patterns, attended, overlap, state = (
            view.index.vectors_of(rows),
            np.empty(rows.size),
            np.empty(rows.size),
            np.empty(cue.vector.size),
        )
        complete(patterns, cue.vector, p.beta, p.tolerance, p.most_updates, attended, state)
        overlaps(patterns, state, overlap)
        view.completion[rows] = overlap
        view.completion_confidence = attended.max()
        view.completion_neglected = neglected(
            first, p.beta, float(np.count_nonzero(view.visible) - rows.size)
        )
