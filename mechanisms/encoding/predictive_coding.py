"""Predictive coding: predicts each event with a hierarchy of causes and computes its surprise from
the prediction errors.

Each level predicts the level below.  For every event the causes are relaxed until the prediction
errors balance: each cause is driven by the error of its prediction and by its own error under the
prediction from above (Rao & Ballard 1999; Friston 2005).  Errors are weighted by precisions, which
are learnt from past errors; the prediction weights are learnt, too.  Level 0 is the input, a
projection of the event's embedding; the levels above are the causes of embeddings, entities (whose
names are also observed), and a slow schema of the conversation.

    schema r3  -- U3 -->  entities r2  -- U2 -->  causes r1  -- U1 -->  embedding u          and
                                                             entity code e  <--  r2

For a linear hierarchy half the sum of precision-weighted squared errors at rest is -ln p(event) up
to a constant: the surprise in nats. For SURPRISE the memory nearest to the event contributes to the
prediction, as the hippocampus does for the cortex, so a repetition is predicted at any delay.
Learning uses the event alone, without this contribution.

Cost: one exact search, O(n d); O(d k0) for the projection; O(k0 k1 + k1 k2 + k2 k3) per step of
inference, two inferences of at most `steps` each: 1 ms per event.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import exact_kernel, formula, kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ENCODING_STRENGTH,
    INDEX,
    LEARNING_RATE,
    PLASTICITY,
    RANDOM,
    ROW,
    SURPRISE,
    THRESHOLD_SHIFT,
)
from ...engine.text.utf8 import encoded

Array = NDArray[np.float64]
CODE_BITS = 512  # bits of the digest from which the signs of an entity code are taken
LEAST_VARIANCE = 1e-6  # without a hyperprior the variance of errors may fall to 0

# --- columns --------------------------------------------------------------------------------------
PC_PROJECTION = Column(
    "pc_projection",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "random projection from embedding to input, drawn once",
    ("inputs", "dimensions"),
)
PC_CAUSES = Column(
    "pc_causes",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "U1, from causes to input",
    ("inputs", "causes"),
)
PC_ENTITIES = Column(
    "pc_entities",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "U2, from entities to causes",
    ("causes", "entities"),
)
PC_SCHEMATA = Column(
    "pc_schemata",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "U3, from schema to entities",
    ("entities", "schema"),
)
PC_SCHEMA = Column(
    "pc_schema",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "schema predicted for the next event",
    ("schema",),
)
PC_VARIANCE = Column(
    "pc_variance",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "variance of past errors of each level and of the entity code; 0: none yet",
    (5,),
    low=0,
)
PC_EVENTS = Column("pc_events", np.int64, Scope.GLOBAL, "events", 0, "events perceived", low=0)
PC_USUAL_SURPRISE = Column(
    "pc_usual_surprise",
    np.float64,
    Scope.GLOBAL,
    "nats",
    0.0,
    "running mean of SURPRISE; 0: no event yet",
    low=0,
)
PC_INPUT = Column(
    "pc_input", np.float64, Scope.EVENT, "1", 0.0, "u, the input of the event", ("inputs",)
)
PC_CODE = Column(
    "pc_code",
    np.float64,
    Scope.EVENT,
    "1",
    0.0,
    "e, code of the entities named; 0: none",
    ("entities",),
)
PC_CODES = Column(
    "pc_codes", np.float32, Scope.MEMORY, "1", 0.0, "PC_CODE of each memory", ("entities",)
)


# --- equations ------------------------------------------------------------------------------------
# A hierarchy of L levels above its input: weights (U_1 .. U_L), U_i of shape (k_{i-1}, k_i).  x is
# the concatenation [u, r_1, ..., r_L]; eps holds the errors in the same order, then the error of
# the code e, an observation of x[at:].  precisions holds Pi of each level, then that of e (0:
# none).
@kernel
def errors(x: Any, weights: Any, prior: Any, e: Any, at: int, saturating: bool, eps: Any) -> None:
    """eps_i = x_i - f(U_{i+1} x_{i+1}); x_L - prior at the top; e - x[at:] for the code.  Rao &
    Ballard (1999), generative model; Friston (2005).

    x           (sum k,)      1  input and causes
    weights     L of (k, k')  1  U_i
    prior       (k_L,)        1  r^td at the top
    e           (k_e,)        1  observed code of the causes from index `at` on
    saturating  ()               whether f is tanh; else the identity
    eps         (sum k + k_e,)  1  written
    Cost: O(sum k k').

    >>> eps = np.empty(4)
    >>> errors(np.array([3.0, 2.0, 1.0]), (np.eye(1), np.eye(1)), np.zeros(1), np.zeros(1), 1, False, eps)
    >>> eps.tolist()
    [1.0, 1.0, 1.0, -2.0]
    """
    start = 0
    for i in range(len(weights)):
        w = weights[i]
        above = start + w.shape[0]
        for j in range(w.shape[0]):
            total = 0.0
            for k in range(w.shape[1]):
                total += w[j, k] * x[above + k]
            eps[start + j] = x[start + j] - (np.tanh(total) if saturating else total)
        start = above
    for j in range(prior.shape[0]):
        eps[start + j] = x[start + j] - prior[j]
    for j in range(e.shape[0]):
        eps[x.shape[0] + j] = e[j] - x[at + j]


@exact_kernel
def imagine(weights: Any, prior: Any, saturating: bool, x: Any) -> None:
    """Top-down prediction: x_L = prior, x_i = f(U_{i+1} x_{i+1}), all errors 0.  Cost: O(sum k k').

    >>> x = np.empty(3)
    >>> imagine((np.eye(1) * 2.0, np.eye(1) * 3.0), np.ones(1), False, x)
    >>> x.tolist()
    [6.0, 3.0, 1.0]
    """
    start = x.shape[0] - prior.shape[0]
    for j in range(prior.shape[0]):
        x[start + j] = prior[j]
    for i in range(len(weights) - 1, -1, -1):
        w = weights[i]
        below = start - w.shape[0]
        for j in range(w.shape[0]):
            total = 0.0
            for k in range(w.shape[1]):
                total += w[j, k] * x[start + k]
            x[below + j] = math.tanh(total) if saturating else total
        start = below


@kernel
def surprise(eps: Any, weights: Any, precisions: Any) -> float:
    """1/2 sum_i Pi_i |eps_i|^2 in nats.  At rest, for f = identity and alpha = 0, -ln p(u, e) +
    constant.  Cost: O(sum k).

    eps, precisions  as for `errors`; (L + 2,) inverse variances

    >>> surprise(np.array([1.0, 1.0, 1.0, 9.0]), (np.eye(1), np.eye(1)), np.array([1.0, 1.0, 1.0, 0.0]))
    1.5
    """
    start, total = 0, 0.0
    for i in range(len(weights) + 2):
        if i < len(weights):
            size = weights[i].shape[0]
        elif i == len(weights):
            size = weights[i - 1].shape[1]
        else:
            size = eps.shape[0] - start
        square = 0.0
        for j in range(start, start + size):
            square += eps[j] * eps[j]
        total += precisions[i] * square
        start += size
    return float(0.5 * total)


@kernel
def free_energy(x: Any, eps: Any, weights: Any, precisions: Any, alpha: float) -> float:
    """F = 1/2 sum_i (Pi_i |eps_i|^2 - k_i ln Pi_i) + alpha/2 sum ln(1 + r^2).  Friston (2005); Rao
    & Ballard's E and g(r), halved.  Cost: O(sum k).

    alpha  ()  1  sparseness of the causes

    >>> free_energy(np.array([3.0, 2.0, 1.0]), np.array([1.0, 1.0, 1.0, 9.0]), (np.eye(1), np.eye(1)), np.array([1.0, 1.0, 1.0, 0.0]), 0.0)
    1.5
    """
    total, levels = surprise(eps, weights, precisions), len(weights)
    for i in range(levels):
        total -= 0.5 * weights[i].shape[0] * np.log(precisions[i])
    total -= 0.5 * weights[levels - 1].shape[1] * np.log(precisions[levels])
    if precisions[levels + 1] > 0.0:
        total -= 0.5 * (eps.shape[0] - x.shape[0]) * np.log(precisions[levels + 1])
    if alpha > 0.0:
        for j in range(weights[0].shape[0], x.shape[0]):
            total += 0.5 * alpha * np.log(1.0 + x[j] * x[j])
    return float(total)


@kernel
def descent(
    x: Any,
    eps: Any,
    weights: Any,
    precisions: Any,
    alpha: float,
    at: int,
    saturating: bool,
    out: Any,
) -> None:
    """dr_i/dt / rate: U_i^T J_f Pi_{i-1} eps_{i-1} - Pi_i eps_i - alpha r/(1 + r^2), which is
    -dF/dr.  Rao & Ballard (1999); Friston (2005).

    Error of the level below minus the level's own error.  For tanh J_f = 1 - f^2, where f = x -
    eps.  Cost: O(sum k k').

    out  (sum k,)  1  written; 0 for the input, which is fixed

    >>> out = np.empty(3)
    >>> descent(np.array([3.0, 0.0, 0.0]), np.array([3.0, 0.0, 0.0, 0.0]), (np.eye(1), np.eye(1)), np.array([2.0, 1.0, 1.0, 0.0]), 0.0, 1, False, out)
    >>> out.tolist()
    [0.0, 6.0, 0.0]
    """
    start = 0
    for i in range(len(weights) + 1):
        last = weights[i - 1].shape[1] if i == len(weights) else weights[i].shape[0]
        for j in range(start, start + last):
            out[j] = 0.0 if i == 0 else -precisions[i] * eps[j] - alpha * x[j] / (1.0 + x[j] * x[j])
        start += last
    start = 0
    for i in range(len(weights)):
        w = weights[i]
        above = start + w.shape[0]
        for j in range(w.shape[0]):
            error = precisions[i] * eps[start + j]
            if saturating:
                f = x[start + j] - eps[start + j]
                error *= 1.0 - f * f
            for k in range(w.shape[1]):
                out[above + k] += w[j, k] * error
        start = above
    seen = precisions[len(weights) + 1]
    for j in range(eps.shape[0] - x.shape[0]):
        out[at + j] += seen * eps[x.shape[0] + j]


@kernel
def relax(
    x: Any,
    weights: Any,
    prior: Any,
    e: Any,
    at: int,
    precisions: Any,
    alpha: float,
    saturating: bool,
    rate: float,
    steps: int,
    eps: Any,
) -> None:
    """`steps` Euler steps r <- r + rate dr/dt of the papers' inference; stable if rate < 2 /
    (largest curvature of F).

    x    (sum k,)        1  input and initial causes; written
    eps  (sum k + k_e,)  1  errors at the end, written
    Cost: O(steps sum k k').

    >>> x, eps = np.array([3.0, 0.0, 0.0]), np.empty(4)
    >>> relax(x, (np.eye(1), np.eye(1)), np.zeros(1), np.zeros(1), 1, np.array([1.0, 1.0, 1.0, 0.0]), 0.0, False, 0.6, 400, eps)
    >>> x.round(6).tolist()
    [3.0, 2.0, 1.0]
    """
    slope = np.empty_like(x)
    errors(x, weights, prior, e, at, saturating, eps)
    for _ in range(steps):
        descent(x, eps, weights, precisions, alpha, at, saturating, slope)
        x += rate * slope
        errors(x, weights, prior, e, at, saturating, eps)


@kernel
def _curvature(slope: Any, before: Any) -> Any:
    """Curvature along the last step, and the square of its slope, both times the step."""
    curvature = square = 0.0
    for j in range(slope.shape[0]):
        curvature += before[j] * (before[j] - slope[j])
        square += before[j] * before[j]
    return curvature, square


@formula
def settle(
    x: Any,
    weights: Any,
    prior: Any,
    e: Any,
    at: int,
    precisions: Any,
    alpha: float,
    saturating: bool,
    tolerance: float,
    most: int,
    eps: Any,
) -> int:
    """Gradient descent on F until it converges; returns the number of steps.

    The rate is the last step divided by the change of slope along it (Barzilai & Borwein 1988); it
    is halved until F is below the largest of its last ten values, by 1e-4 of what the slope
    promises (Raydan 1997, doi:10.1137/S1052623494266365).  Without this the steps may not converge.

    tolerance  ()  1  largest |dF/dr| at convergence
    most       ()  1  largest number of steps
    Cost: O(most sum k k').

    >>> x, eps = np.array([3.0, 0.0, 0.0]), np.empty(4)
    >>> n = settle(x, (np.eye(1), np.eye(1)), np.zeros(1), np.zeros(1), 1, np.array([4.0, 1.0, 1.0, 0.0]), 0.0, False, 1e-9, 500, eps)
    >>> x.round(6).tolist(), eps[:3].round(6).tolist(), n < 500
    ([3.0, 2.666667, 1.333333], [0.333333, 1.333333, 1.333333], True)
    """
    slope, before, trial = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    errors(x, weights, prior, e, at, saturating, eps)
    recent, rate = (
        np.full(10, free_energy(x, eps, weights, precisions, alpha)),
        0.5 / precisions.max(),
    )
    descent(x, eps, weights, precisions, alpha, at, saturating, slope)
    accepted = 0
    for step in range(most):
        if np.abs(slope).max() <= tolerance:
            return step
        trial[:] = x + rate * slope
        errors(trial, weights, prior, e, at, saturating, eps)
        energy = free_energy(trial, eps, weights, precisions, alpha)
        if energy <= recent.max() - 1e-4 * rate * (slope * slope).sum():
            accepted += 1
            recent[accepted % recent.shape[0]] = energy
            x[:], before[:] = trial, slope
            descent(x, eps, weights, precisions, alpha, at, saturating, slope)
            curvature, square = _curvature(slope, before)
            rate = rate * square / curvature if curvature > 0.0 else 2.0 * rate
        else:
            rate *= 0.5
    errors(x, weights, prior, e, at, saturating, eps)
    return most


@exact_kernel
def learn(
    w: Any,
    below: Any,
    eps: Any,
    above: Any,
    precision: float,
    rate: float,
    decay: float,
    saturating: bool,
) -> None:
    """U <- U + k2 [Pi J_f eps r^T - lambda U].  Rao & Ballard (1999), learning.  Cost: O(k k').

    w          (k, k')  1  U, written
    below      (k,)     1  x of the predicted level
    eps        (k,)     1  errors of the predicted level
    above      (k',)    1  r of the level above
    precision  ()       1  Pi = 1 / sigma^2
    rate, decay  ()     1  k2, lambda

    >>> w = np.zeros((1, 1))
    >>> learn(w, np.ones(1), np.ones(1), np.ones(1), 1.0, 0.1, 0.0, False); w.tolist()
    [[0.1]]
    """
    for j in range(w.shape[0]):
        error = precision * eps[j]
        if saturating:
            f = below[j] - eps[j]
            error *= 1.0 - f * f
        for k in range(w.shape[1]):
            w[j, k] += rate * (error * above[k] - decay * w[j, k])


@formula
def variance_after(variance: float, mean_square: float, rate: float) -> float:
    """sigma^2 + rate (<eps^2> - sigma^2): with rate 1/t the mean of all errors so far, at which
    dF/dPi = 0.  Friston (2005), precisions.  Cost: O(1).

    variance, mean_square  ()  1  sigma^2 so far; mean square of the current errors
    rate                   ()  1  weight of the current errors

    >>> variance_after(1.0, 3.0, 0.5)
    2.0
    """
    return variance + rate * (mean_square - variance)


# --- the adaptation to texts ----------------------------------------------------------------------
@exact_kernel
def expected(prediction: Any, memory: Any, share: float, seen: Any, out: Any) -> None:
    """seen - share (memory - prediction): the input after the nearest memory has contributed its
    share of the prediction.  Ours.  Cost: O(k).

    prediction  (k,)  1  top-down prediction of the hierarchy
    memory      (k,)  1  input of the memory nearest to the event, the prediction by recall
    share       ()    1  0: no recall; 1: recall replaces the prediction of the hierarchy
    seen        (k,)  1  input of the event
    out         (k,)  1  written; equals the prediction if event and memory are the same and share =
                         1

    >>> out = np.empty(2)
    >>> expected(np.array([0.0, 1.0]), np.array([2.0, 2.0]), 1.0, np.array([2.0, 3.0]), out); out.tolist()
    [0.0, 2.0]
    """
    for i in range(out.shape[0]):
        out[i] = seen[i] - share * (memory[i] - prediction[i])


@formula
def relative(surprise: float, usual: float) -> float:
    """S / S_usual - 1, clipped to [-1, 1]: -1 wholly predicted, 0 as usual, or no usual value yet.
    Ours.  Cost: O(1).

    surprise, usual  ()  nats  SURPRISE of the event; its running mean

    >>> relative(0.0, 20.0), relative(25.0, 20.0), relative(99.0, 20.0), relative(30.0, 0.0)
    (-1.0, 0.25, 1.0, 0.0)
    """
    return min(max(surprise / usual - 1.0, -1.0), 1.0) if usual > 0.0 else 0.0


def entity_code(names: Iterable[str], size: int) -> Array:
    """e, (size,): sum of one vector of random signs per name, divided by sqrt(number of names); 0
    without names.  O(names size).

    >>> a, b = entity_code(["ada"], 8), entity_code(["bo"], 8)
    >>> bool(np.allclose(entity_code(["ada", "bo"], 8), (a + b) / np.sqrt(2))), set(np.abs(a).tolist())
    (True, {1.0})
    """
    code, count = np.zeros(size), 0
    for name in names:
        digest = hashlib.blake2b(encoded(name), digest_size=CODE_BITS // 8).digest()
        code += 1.0 - 2.0 * np.unpackbits(np.frombuffer(digest, dtype=np.uint8))[:size]
        count += 1
    return code / np.sqrt(count) if count else code


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class PredictiveCodingParams(Params):
    inputs: int  # k0
    causes: int  # k1
    entities: int  # k2
    schema: int  # k3
    saturating: bool  # f = tanh
    sigma_input: float  # sigma^2 of the input before learning
    sigma_above: float  # sigma_td^2, of every level above
    sparseness: float  # alpha
    learning_rate: float  # k2 of Rao & Ballard
    decay: float  # lambda
    adaptation: float  # rate per event of the precisions and of the mean surprise
    hyperprior: float  # weight of the initial variances
    schema_rate: float
    tolerance: float
    steps: int
    recall_share: float
    surprise_gain: float
    threshold_gain: float


class PredictiveCoding(Mechanism[PredictiveCodingParams]):
    """Predicts every event and infers its causes; surprise sets the encoding strength and may
    veto storage.
    """

    owns = (PC_PROJECTION, PC_CAUSES, PC_ENTITIES, PC_SCHEMATA, PC_SCHEMA, PC_VARIANCE, PC_EVENTS,
            PC_USUAL_SURPRISE, PC_INPUT, PC_CODE, PC_CODES)  # fmt: skip

    @hook(Phase.ENCODE, reads=(), adds=(), sets=(PC_PROJECTION, RANDOM))
    def draw(self, view: Any, incoming: Incoming) -> None:
        """Draw the projection once; each component of the input of a unit vector has variance 1."""
        w = view.pc_projection
        if w[0, 0] == 0.0:
            w[...] = view.random.standard_normal(w.shape)

    @hook(Phase.ENCODE, adds=(), sets=(SURPRISE, PC_INPUT, PC_CODE), reads=(
        PC_PROJECTION, PC_CAUSES.before, PC_ENTITIES.before, PC_SCHEMATA.before, PC_SCHEMA.before,
        PC_VARIANCE.before, PC_EVENTS.before, INDEX.before,
        PC_CODES.before))  # fmt: skip
    def predict(self, view: Any, incoming: Incoming) -> None:
        """Compute SURPRISE, before the gates decide about storage."""
        p, u, e = self.params, view.pc_input, view.pc_code
        np.dot(view.pc_projection, incoming.vector, out=u)
        e[...] = entity_code(incoming.features.entities, p.entities)
        weights = view.pc_causes.copy(), view.pc_entities.copy(), view.pc_schemata.copy()
        prior, x = view.pc_schema.copy(), np.empty(p.inputs + p.causes + p.entities + p.schema)
        imagine(weights, prior, p.saturating, x)
        rows, cosines = view.index.search(incoming.vector, 1)
        left, code = u.copy(), e.copy()
        if rows.size:
            share = p.recall_share * min(max(float(cosines[0]), 0.0), 1.0)
            expected(
                x[: p.inputs].copy(),
                np.dot(view.pc_projection, view.index.vectors[rows[0]]),
                share,
                u,
                left,
            )
            if (known := view.pc_codes[rows[0]].astype(np.float64)).any():
                expected(x[self._at : self._at + p.entities].copy(), known, share, e, code)
        x[: p.inputs] = left
        precisions = self._precisions(view, e)
        eps = self._settled(x, weights, prior, code, precisions)
        view.surprise = surprise(eps, weights, precisions)

    @hook(
        Phase.ENCODE,
        reads=(SURPRISE, PC_USUAL_SURPRISE.before),
        adds=(ENCODING_STRENGTH, THRESHOLD_SHIFT),
        sets=(),
    )
    def judge(self, view: Any, incoming: Incoming) -> None:
        p, usual = self.params, view.pc_usual_surprise
        excess = relative(view.surprise, usual)
        view.encoding_strength = p.surprise_gain * excess
        view.threshold_shift = -p.threshold_gain * excess

    @hook(Phase.ENCODE, reads=(PC_INPUT, PC_CODE, SURPRISE, LEARNING_RATE, PLASTICITY), adds=(),
          sets=(PC_CAUSES, PC_ENTITIES, PC_SCHEMATA, PC_SCHEMA, PC_VARIANCE, PC_EVENTS,
                PC_USUAL_SURPRISE, RANDOM))  # fmt: skip
    def perceive(self, view: Any, incoming: Incoming) -> None:
        """Infer the causes of the event without recall, and learn from every event, stored or
        not.
        """
        p, u, e = self.params, view.pc_input, view.pc_code
        weights = view.pc_causes, view.pc_entities, view.pc_schemata
        if not view.pc_events:
            for w in weights:
                w[...] = view.random.standard_normal(w.shape) / np.sqrt(w.shape[1])
        x, precisions = (
            np.empty(p.inputs + p.causes + p.entities + p.schema),
            self._precisions(view, e),
        )
        imagine(weights, view.pc_schema, p.saturating, x)
        x[: p.inputs] = u
        eps = self._settled(x, weights, view.pc_schema, e.copy(), precisions)
        self._learn(view, weights, x, eps, precisions)
        view.pc_events += 1
        rate = max(p.adaptation, 1.0 / view.pc_events)
        view.pc_usual_surprise = variance_after(view.pc_usual_surprise, view.surprise, rate)
        view.pc_schema += p.schema_rate * (x[-p.schema :] - view.pc_schema)
        first, variance = self._first, view.pc_variance
        if view.pc_events == 1:
            variance[...] = first
        for i, part in enumerate(
            np.split(eps, np.cumsum([p.inputs, p.causes, p.entities, p.schema]))
        ):
            if precisions[i] > 0.0:
                square = (
                    p.hyperprior * first[i] + (1.0 - p.hyperprior) * float(part @ part) / part.size
                )
                variance[i] = variance_after(variance[i], square, p.adaptation)

    @hook(Phase.ENCODE, reads=(ROW, PC_CODE), adds=(), sets=(PC_CODES,))
    def store_code(self, view: Any, incoming: Incoming) -> None:
        view.pc_codes[view.row] = view.pc_code

    @property
    def _at(self) -> int:
        """Index in x of the first entity cause."""
        return self.params.inputs + self.params.causes

    @property
    def _first(self) -> Array:
        p = self.params
        return np.array([p.sigma_input, p.sigma_above, p.sigma_above, p.sigma_above, p.sigma_input])

    def _precisions(self, view: Any, e: Array) -> Array:
        precisions: Array = 1.0 / np.maximum(
            view.pc_variance if view.pc_events else self._first, LEAST_VARIANCE
        )
        if not e.any():
            precisions[-1] = 0.0
        return precisions

    def _settled(self, x: Array, weights: Any, prior: Array, e: Array, precisions: Array) -> Array:
        p, eps = self.params, np.empty(x.size + e.size)
        settle(
            x,
            weights,
            prior,
            e,
            self._at,
            precisions,
            p.sparseness,
            p.saturating,
            p.tolerance,
            p.steps,
            eps,
        )
        return eps

    def _learn(self, view: Any, weights: Any, x: Array, eps: Array, precisions: Array) -> None:
        """Update all weights; each step removes at most half of the error, so that repetition
        cannot diverge.
        """
        p, start = self.params, 0
        for i, w in enumerate(weights):
            middle, end = start + w.shape[0], start + w.shape[0] + w.shape[1]
            above = x[middle:end]
            rate = min(
                p.learning_rate * view.learning_rate * view.plasticity,
                0.5 / max(precisions[i] * float(above @ above), 1e-12),
            )
            learn(
                w,
                x[start:middle],
                eps[start:middle],
                above,
                precisions[i],
                rate,
                p.decay,
                p.saturating,
            )
            start = middle
