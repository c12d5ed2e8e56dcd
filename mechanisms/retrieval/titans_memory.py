"""Titans memory: learns a matrix online that predicts the value of each event from a key, with
larger steps for larger prediction errors.

A linear associative memory M maps keys to values, both projections of an event's embedding.  Every
event is one step of gradient descent on the loss |M k - v|^2: the gradient is the momentary
surprise, the momentum S accumulates past surprise, and M decays at a rate alpha (Behrouz, Zhong &
Mirrokni 2025, for a memory of one layer).  Momentum, step size and decay depend on the event.  The
key is computed from the previous event, unless `pairing` is "same", so M learns transitions between
events.  At retrieval M maps the key of the query to a value, without learning.  With `pairing`
successor, the step from the best memory that one use in a session needed to that of the next one is
a step of gradient descent, too.

Cost, with d dimensions and d_k keys: O(d d_k + d_k^2) per event, O(d d_k + n d_k) per query (3 ms
at 100,000 memories and d_k = 64), O(n) per maintain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...engine.base.numerics import exact_kernel, formula, kernel, products, read_only
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    ARRIVED,
    EMBEDDING,
    LEARNING_RATE,
    LOG_STRENGTH,
    NOW,
    PLASTICITY,
    RANDOM,
    RECALLED,
    ROW,
    SESSION,
    USED,
    USED_TIME,
)
from ...engine.steps.uses import step_of_use

# --- columns --------------------------------------------------------------------------------------
TITANS_PROJECTIONS = Column(
    "titans_projections",
    np.float32,
    Scope.GLOBAL,
    "1",
    0.0,
    "W_K and W_V, drawn once",
    (2, "dimensions", "keys"),
)
TITANS_MATRIX = Column(
    "titans_matrix", np.float64, Scope.GLOBAL, "1", 0.0, "M, from keys to values", ("keys", "keys")
)
TITANS_MOMENTUM = Column(
    "titans_momentum",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "S, momentum: accumulated past surprise",
    ("keys", "keys"),
)
TITANS_KEY = Column(
    "titans_key",
    np.float64,
    Scope.EVENT,
    "1",
    0.0,
    "k_t, of length 1; 0: no previous event to predict from",
    ("keys",),
)
TITANS_TARGET = Column(
    "titans_target", np.float64, Scope.EVENT, "1", 0.0, "v_t, the value to be predicted", ("keys",)
)
TITANS_RELEVANCE = Column(
    "titans_relevance",
    np.float64,
    Scope.EVENT,
    "1",
    0.0,
    "r_t, similarity to the previous event",
    low=0,
    high=1,
)
TITANS_SURPRISE = Column(
    "titans_surprise",
    np.float64,
    Scope.EVENT,
    "1",
    1.0,
    "|grad l| relative to an empty memory; 1: nothing was predicted",
    low=0,
)
TITANS_UNFORESEEN = Column(
    "titans_unforeseen", np.float64, Scope.MEMORY, "1", 1.0, "TITANS_SURPRISE at encoding", low=0
)
TITANS_VALUE = Column(
    "titans_value",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "value of the memory, scaled to length 1",
    ("keys",),
)
TITANS_RECALL = signal(
    "titans_recall",
    Facet.ASSOCIATION,
    "cosine with the value that M recalls for the query",
    floor=-1.0,
    scale=Scale.SIMILARITY,
)


# --- equations ------------------------------------------------------------------------------------
@exact_kernel
def project(x: Any, w: Any, out: Any) -> None:
    """k = x W, or v, or q.  Behrouz et al. (2025), eqs 11 and 15.  Cost: O(d d_k).

    x    (d,)      1  embedding
    w    (d, d_k)  1  W_K, W_V or W_Q
    out  (d_k,)    1  written

    >>> out = np.empty(2)
    >>> project(np.array([1.0, 2.0]), np.array([[1.0, 0.0], [1.0, 3.0]]), out)
    >>> out.tolist()
    [3.0, 6.0]
    """
    for j in range(out.shape[0]):
        out[j] = 0.0
    for i in range(x.shape[0]):
        for j in range(out.shape[0]):
            out[j] += x[i] * w[i, j]


@formula
def unit(x: Any) -> None:
    """x / |x|, in place; 0 stays 0.  Cost: O(d_k)."""
    length = np.sqrt(np.add.accumulate(x * x)[-1])  # one term after another
    if length > 0.0:
        x /= length


@exact_kernel
def gradient(m: Any, k: Any, v: Any, out: Any) -> float:
    """grad l = 2 (M k - v) k^T of the loss l = |M k - v|^2; returns its norm.  Behrouz et al.
    (2025), eq. 12.  Cost: O(d_k^2).

    m        (d_v, d_k)  1  M
    k, v     (d_k,), (d_v,)  1  key and value
    out      (d_v, d_k)  1  written
    returns  ()          1  |grad l|, the momentary surprise: 2 |M k - v| |k|

    >>> out = np.empty((1, 2))
    >>> gradient(np.zeros((1, 2)), np.array([0.6, 0.8]), np.array([3.0]), out), out.round(9).tolist()
    (6.0, [[-3.6, -4.8]])
    """
    square = error_square = 0.0
    for j in range(k.shape[0]):
        square += k[j] * k[j]
    for i in range(v.shape[0]):
        error = -v[i]
        for j in range(k.shape[0]):
            error += m[i, j] * k[j]
        error_square += error * error
        for j in range(k.shape[0]):
            out[i, j] = 2.0 * error * k[j]
    return 2.0 * float(np.sqrt(error_square * square))


@formula
def memorise(m: Any, s: Any, k: Any, v: Any, eta: float, theta: float, alpha: float) -> None:
    """S_t = eta_t S_{t-1} - theta_t grad l, M_t = (1 - alpha_t) M_{t-1} + S_t.  Behrouz et al.
    (2025), eqs 13 and 14.  Cost: O(d_k^2).

    m, s     (d_v, d_k)      1  M and S; written
    k, v     (d_k,), (d_v,)  1  key and value
    eta      ()              1  eta_t, momentum, share of past surprise that is kept
    theta    ()              1  theta_t, step size, weight of momentary surprise
    alpha    ()              1  alpha_t, share of M that is forgotten, 0..1; 0: eqs 9 and 10

    One step with theta = 1/2 stores a pair with a key of length 1 exactly.

    >>> m, s = np.zeros((1, 2)), np.zeros((1, 2))
    >>> memorise(m, s, np.array([0.6, 0.8]), np.array([3.0]), 0.9, 0.5, 0.0)
    >>> m.round(9).tolist()
    [[1.8, 2.4]]
    """
    slope = np.empty(m.shape)
    gradient(read_only(m), read_only(k), read_only(v), slope)
    slope *= theta
    s *= eta
    s -= slope
    m *= 1.0 - alpha
    m += s


@exact_kernel
def recall(m: Any, q: Any, out: Any) -> None:
    """y = M*(q), without learning.  Behrouz et al. (2025), eq. 15.  Cost: O(d_k^2).

    m    (d_v, d_k)  1  M
    q    (d_k,)      1  query
    out  (d_v,)      1  y, written
    """
    for i in range(m.shape[0]):
        total = 0.0
        for j in range(m.shape[1]):
            total += m[i, j] * q[j]
        out[i] = total


@kernel
def relevance(before: Any, x: Any) -> float:
    """r_t = max(0, x_{t-1} . x_t), similarity of an event to the previous one.  Ours.  Cost: O(d).

    before, x  (d,)  1  embeddings, of length 1

    >>> relevance(np.array([0.6, 0.8]), np.array([1.0, 0.0])), relevance(np.array([0.6, 0.8]), np.array([-1.0, 0.0]))
    (0.6, 0.0)
    """
    total = 0.0
    for i in range(x.shape[0]):
        total += before[i] * x[i]
    return min(max(total, 0.0), 1.0)


@formula
def gates(r: float, dt: float, eta: float, theta: float, alpha: float, half_life: float) -> Any:
    """eta_t = eta r, theta_t = theta sqrt(1 - r^2), alpha_t = 1 - (1 - alpha (1 - r)) 2^(-dt/H).
    Ours; the paper learns them.  Cost: O(1).

    Past surprise is kept while the subject stays the same.  The step size follows the new part of
    an event, orthogonal to the previous one. Memory decays at a change of subject, and over time.

    r                 ()  1  similarity to the previous event, 0..1
    dt, half_life     ()  h  time since the previous event; H
    eta, theta, alpha ()  1  largest value of each
    returns           eta_t, theta_t, alpha_t

    >>> [round(float(g), 9) for g in gates(0.6, 0.0, 0.9, 0.25, 0.01, 720.0)]
    [0.54, 0.2, 0.004]
    """
    return (
        eta * r,
        theta * math.sqrt(1.0 - r * r),
        1.0 - (1.0 - alpha * (1.0 - r)) * 2.0 ** (-dt / half_life),
    )


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TitansMemoryParams(Params):
    keys: int  # d_k
    pairing: Literal["successor", "same"]
    eta: float
    theta: float
    alpha: float
    half_life: float  # H
    surprise_gain: float
    weight: float


class TitansMemory(Mechanism[TitansMemoryParams]):
    """Learns to predict each event; recalls the predicted value of a query."""

    owns = (TITANS_PROJECTIONS, TITANS_MATRIX, TITANS_MOMENTUM, TITANS_KEY, TITANS_TARGET,
            TITANS_RELEVANCE, TITANS_SURPRISE, TITANS_UNFORESEEN,
            TITANS_VALUE, TITANS_RECALL)  # fmt: skip

    @hook(Phase.ENCODE, reads=(), adds=(), sets=(TITANS_PROJECTIONS, RANDOM))
    def draw(self, view: Any, incoming: Incoming) -> None:
        """Draw the projections once; they preserve lengths on average."""
        w = view.titans_projections
        if w[0, 0, 0] == 0.0:
            w[...] = view.random.standard_normal(w.shape, dtype=np.float32) / np.float32(
                np.sqrt(self.params.keys)
            )

    @hook(
        Phase.ENCODE,
        reads=(TITANS_PROJECTIONS, TITANS_MATRIX.before, EMBEDDING.before, SESSION.before),
        adds=(),
        sets=(TITANS_KEY, TITANS_TARGET, TITANS_RELEVANCE, TITANS_SURPRISE),
    )
    def predict(self, view: Any, incoming: Incoming) -> None:
        """Compute key, value and surprise of the event, before it is stored."""
        w_key, w_value = view.titans_projections
        k, v = view.titans_key, view.titans_target
        project(incoming.vector, w_value, v)
        before = incoming.before
        follows = before >= 0 and view.session[before] == incoming.session
        if follows:
            view.titans_relevance = relevance(view.embedding[before], incoming.vector)
        if self.params.pairing == "same":
            project(incoming.vector, w_key, k)
        elif follows:
            project(view.embedding[before], w_key, k)
        unit(k)
        if k.any() and v.any():
            view.titans_surprise = gradient(
                view.titans_matrix, read_only(k), read_only(v), np.empty_like(view.titans_matrix)
            ) / (2.0 * float(np.linalg.norm(v)))

    @hook(Phase.ENCODE, reads=(ROW, ARRIVED, TITANS_KEY, TITANS_TARGET, TITANS_RELEVANCE,
                               TITANS_SURPRISE, LEARNING_RATE, PLASTICITY), adds=(),
          sets=(TITANS_MATRIX, TITANS_MOMENTUM, TITANS_UNFORESEEN, TITANS_VALUE))  # fmt: skip
    def learn(self, view: Any, incoming: Incoming) -> None:
        p, row, k, v = self.params, view.row, view.titans_key, view.titans_target
        dt = view.arrived[row] - view.arrived[incoming.before] if incoming.before >= 0 else 0.0
        # above 1 a step of gradient descent overshoots
        theta = min(1.0, p.theta * view.learning_rate * view.plasticity)
        memorise(
            view.titans_matrix,
            view.titans_momentum,
            k,
            v,
            *gates(view.titans_relevance, dt, p.eta, theta, p.alpha, self.hours("half_life")),
        )
        view.titans_unforeseen[row] = view.titans_surprise
        view.titans_value[row] = v
        unit(view.titans_value[row])

    @hook(Phase.RETRIEVE, reads=(RECALLED, USED.before, USED_TIME.before, NOW, TITANS_PROJECTIONS,
                                 EMBEDDING, LEARNING_RATE, PLASTICITY), adds=(),
          sets=(TITANS_MATRIX, TITANS_MOMENTUM))  # fmt: skip
    def follow(self, view: Any, cue: Cue) -> None:
        """Learn the step from the best row of the last use in the session to that of this one."""
        p = self.params
        before, rows, lag = step_of_use(cue, view.recalled, view.used, view.used_time, view.now)
        if p.pairing != "successor" or not before.size:
            return
        k, v = np.empty(p.keys), np.empty(p.keys)
        project(view.embedding[before[0]], view.titans_projections[0], k)
        project(view.embedding[rows[0]], view.titans_projections[1], v)
        unit(k)
        theta = min(1.0, p.theta * view.learning_rate * view.plasticity)
        similar = relevance(view.embedding[before[0]], view.embedding[rows[0]])
        memorise(
            view.titans_matrix,
            view.titans_momentum,
            k,
            v,
            *gates(similar, lag, p.eta, theta, p.alpha, self.hours("half_life")),
        )

    @hook(Phase.MAINTAIN, reads=(TITANS_UNFORESEEN,), adds=(LOG_STRENGTH,), sets=())
    def strengthen(self, view: Any, tick: Tick) -> None:
        """Add gain (min(u, 2) - 1): 0 without a prediction, negative after a good one, positive
        after a bad one.
        """
        strength = view.log_strength
        np.minimum(view.titans_unforeseen, 2.0, out=strength)
        strength -= 1.0
        strength *= self.params.surprise_gain

    @hook(
        Phase.RETRIEVE,
        reads=(TITANS_PROJECTIONS, TITANS_MATRIX, TITANS_VALUE),
        adds=(),
        sets=(TITANS_RECALL,),
    )
    def score(self, view: Any, cue: Cue) -> None:
        """No score before anything is learnt."""
        q, y = np.empty(self.params.keys), np.empty(self.params.keys)
        project(cue.vector, view.titans_projections[0], q)
        unit(q)
        recall(view.titans_matrix, q, y)
        unit(y)
        if y.any():
            products(view.titans_value, y.astype(np.float32), view.titans_recall)
