"""Pattern completion threshold: decides from the cosines of the cue whether to complete it to one
memory, link it to several, or separate it.

The recurrent network of CA3 recalls a whole memory from a part of it (Marr 1971; Hopfield 1982) if
the part is large enough; below a threshold other memories match equally well by chance.  For N
random unit vectors of d dimensions the largest cosine of a wrong one is about sqrt(2 ln N / d), so
completion needs at least the share f* = 2 ln N / d of the coordinates.  In rats the output of CA3
is closer to the stored pattern than its input from the dentate gyrus (Neunuebel & Knierim 2014).

The threshold depends on N and on the similarity of memories, so both tests use the cosines of the
  cue with all memories: separate  the best cosine is below mean + sd sqrt(2 ln N), the expected
  best of N chance matches complete  the best leads the second by at least ln((N - 1) p / (1 - p)) /
  beta: its softmax share is p even if all others equal the second link      otherwise: more than
  one memory matches.

Cost: one pass over the vectors, O(n d), per query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from ...engine.base.numerics import exact_kernel, kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import INDEX, LOG_FACETS, STANDS_FOR


class Decision(IntEnum):
    """The decision about a cue."""

    NONE = -1
    SEPARATE = 0
    LINK = 1
    COMPLETE = 2


# --- columns --------------------------------------------------------------------------------------
COMPLETION_COSINE = Column(
    "completion_cosine",
    np.float32,
    Scope.CANDIDATE,
    "1",
    0.0,
    "cosine with the cue",
    low=-1,
    high=1,
)
COMPLETION_DECISION = Column(
    "completion_decision",
    np.int64,
    Scope.EVENT,
    "1",
    -1,
    "value of Decision; -1: fewer than three memories",
    low=-1,
    high=2,
)


# --- equations: decision about a cue --------------------------------------------------------------
@kernel
def extremes(cosine: Any, visible: Any) -> Any:
    """(N, best, second, mean, sd) of the cosines with the visible memories; NaN if too few are
    visible.  Cost: O(n).

    cosine   (n,)  1
    visible  (n,)  bool, or how many visible memories each row stands for, see STANDS_FOR

    >>> extremes(np.array([0.5, 0.1, 0.3, 0.9]), np.array([True, True, True, False]))[:3]
    (3, 0.5, 0.3)
    """
    n, first, second, total = 0, -np.inf, -np.inf, 0.0
    for i in range(cosine.shape[0]):
        if visible[i]:
            s = np.float64(cosine[i])
            n += visible[i]
            total += visible[i] * s
            if s > first:
                first, second = s, first
            elif s > second:
                second = s
    mean, squares = total / n, 0.0
    for i in range(cosine.shape[0]):
        if visible[i]:
            squares += visible[i] * (np.float64(cosine[i]) - mean) ** 2
    return n, first, second, mean, np.sqrt(squares / n)


@exact_kernel
def chance_maximum(n: float, mean: float, sd: float) -> float:
    """mu + sigma sqrt(2 ln N): approximate maximum of N normally distributed chance matches.  Cost:
    O(1).

    For unit vectors in random directions of d dimensions mu = 0 and sigma = 1 / sqrt(d).

    >>> round(float(chance_maximum(2000.0, 0.0, 384.0 ** -0.5)), 3)
    0.199
    """
    return mean + sd * float(np.sqrt(2.0 * math.log(n)))


@kernel
def completable_fraction(n: float, d: float) -> float:
    """f* = 2 ln N / d: share of a pattern's coordinates at which its cosine sqrt(f) equals the best
    wrong match.  Cost: O(1).

    >>> round(float(completable_fraction(2000.0, 384.0)), 4)
    0.0396
    """
    return 2.0 * float(np.log(n)) / d


@exact_kernel
def least_margin(n: float, p: float, beta: float) -> float:
    """ln((N - 1) p / (1 - p)) / beta, lead at which the best has softmax share p, if the N - 1
    others all equal the second.  Cost: O(1).

    n     ()     N >= 2
    p     ()  1  confidence, 0 < p < 1
    beta  ()  1  inverse temperature

    >>> round(float(least_margin(2.0, 0.75, 10.0)), 6)
    0.109861
    """
    return float(math.log((n - 1.0) * p / (1.0 - p))) / beta


@exact_kernel
def decision(
    n: float, first: float, second: float, mean: float, sd: float, p: float, beta: float
) -> int:
    """0 separate, 1 link, 2 complete, -1 for fewer than three memories, by the tests of the module
    docstring.  Cost: O(1).

    If all cosines are equal, the decision is not separate.

    >>> [int(decision(100, first, second, 0.1, 0.1, 0.5, 60.0)) for first, second in ((0.35, 0.3), (0.55, 0.5), (0.55, 0.3))]
    [0, 1, 2]
    """
    if n < 3:
        return -1
    if first < chance_maximum(float(n), mean, sd):
        return 0
    return 2 if first - second >= least_margin(float(n), p, beta) else 1


# --- equations: completion by recurrence ----------------------------------------------------------
@kernel
def outer_products(patterns: Any, weights: Any) -> None:
    """W = (1 / N) sum_mu x_mu x_mu^T with zero diagonal.  Hopfield (1982).  Cost: O(P N^2).

    patterns  (P, N)  +1 or -1;  weights  (N, N)  written

    >>> weights = np.empty((2, 2))
    >>> outer_products(np.array([[1.0, -1.0]]), weights)
    >>> weights.tolist()
    [[0.0, -0.5], [-0.5, 0.0]]
    """
    n = patterns.shape[1]
    weights[...] = patterns.T @ patterns / n
    for i in range(n):
        weights[i, i] = 0.0


@kernel
def settle(weights: Any, state: Any, most: int) -> int:
    """s <- sign(W s), all units at once, until no unit changes; input 0 keeps the state.  Returns
    the number of steps.  Cost: O(N^2 steps).

    weights  (N, N);  state  (N,)  +1 or -1, changed in place;  most  ()  largest number of steps

    >>> state = np.array([1.0, 1.0, 1.0])
    >>> settle(np.array([[0.0, -0.5, 0.1], [-0.1, 0.0, 0.5], [0.1, 0.5, 0.0]]), state, 9), state.tolist()
    (2, [-1.0, 1.0, 1.0])
    """
    for step in range(most):
        h, changed = weights @ state, False
        for i in range(state.shape[0]):
            new = state[i] if h[i] == 0.0 else np.sign(h[i])
            changed = changed or new != state[i]
            state[i] = new
        if not changed:
            return step + 1
    return most


@kernel
def completed(patterns: Any, cue: Any, beta: float, out: Any) -> None:
    """One update of a modern Hopfield network: X softmax(beta X^T q), scaled to length 1.  Cost:
    O(N d).

    patterns  (N, d)     unit vectors, one per row
    cue       (d,)       q
    beta      ()     1   inverse temperature
    out       (d,)       written

    >>> out = np.empty(2)
    >>> completed(np.eye(2), np.array([0.8, 0.6]), 100.0, out)
    >>> out.round(6).tolist()
    [1.0, 0.0]
    """
    p = patterns @ cue
    p = np.exp(beta * (p - np.max(p)))
    out[:] = p @ patterns
    out /= np.sqrt(np.sum(out * out))


# --- equations: capacity --------------------------------------------------------------------------
@kernel
def bit_error(load: float) -> float:
    """erfc(1 / sqrt(2 alpha)) / 2, share of wrong units after one step from a stored pattern.
    Amit, Gutfreund & Sompolinsky (1985).

    load  ()  1  alpha = P / N, patterns per unit; above about 0.138 recall fails

    >>> round(bit_error(0.138), 7)
    0.0035522
    """
    return 0.5 * math.erfc(1.0 / math.sqrt(2.0 * load))


@kernel
def sparse_capacity(k: float, connections: float, a: float) -> float:
    """p_max = k C_RC / (a ln(1 / a)), patterns that CA3 can hold.  Treves & Rolls (1994).  Cost:
    O(1).

    k            1  0.2 to 0.3
    connections  1  C_RC, recurrent connections per cell
    a            1  sparseness

    >>> round(sparse_capacity(0.2, 12000.0, 0.02))
    30675
    """
    return float(k * connections / (a * np.log(1.0 / a)))


@kernel
def connection_capacity(c: float, a: float) -> float:
    """P = c / a^2 for connectivity c and sparseness a.  After de Almeida, Idiart & Lisman (2007).
    Cost: O(1).

    >>> round(connection_capacity(0.2, 0.003))
    22222
    """
    return c / (a * a)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class PatternCompletionThresholdParams(Params):
    confidence: float  # p
    beta: float
    gain: float  # log of the factor on a facet


class PatternCompletionThreshold(Mechanism[PatternCompletionThresholdParams]):
    """Compares the cue with all memories before the signals are weighted."""

    owns = (COMPLETION_COSINE, COMPLETION_DECISION)

    @hook(
        Phase.RETRIEVE,
        reads=(INDEX, STANDS_FOR),
        adds=(LOG_FACETS,),
        sets=(COMPLETION_COSINE, COMPLETION_DECISION),
    )
    def decide(self, view: Any, cue: Cue) -> None:
        p = self.params
        view.index.scores(cue.vector, view.completion_cosine)
        n, first, second, mean, sd = extremes(view.completion_cosine, view.stands_for)
        view.completion_decision = chosen = decision(
            n, first, second, mean, sd, p.confidence, p.beta
        )
        if chosen in (Decision.COMPLETE, Decision.SEPARATE):
            view.log_facets[Facet.COMPLETION.value] += (
                p.gain if chosen == Decision.COMPLETE else -p.gain
            )
        if chosen in (Decision.LINK, Decision.SEPARATE):
            view.log_facets[Facet.ASSOCIATION.value] += (
                p.gain if chosen == Decision.LINK else -p.gain
            )
