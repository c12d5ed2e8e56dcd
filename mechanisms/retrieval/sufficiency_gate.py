"""Sufficiency gate: estimates the probability that the answer suffices, and holds the whole answer
back if it is too low.

A decision value f of the query becomes a probability by a sigmoid, p = 1 / (1 + exp(A f + B))
(Platt 1999).  A and B are fitted to pairs of f and of whether the answer sufficed, with smoothed
targets and the Newton method with backtracking of Lin, Lin & Weng (2007),
https://doi.org/10.1007/s10994-007-5018-6; `hebbarium calibrate` collects the pairs and writes a set
with the fitted A and B.  If A < 0 the sigmoid increases with f, so a threshold on p decides exactly
as a threshold on f: calibration makes the threshold a probability and changes no ranking. This is
no judgement of the whole context by a language model, as in Joren et al. (2025).

f is the relevance that a reranker found, the margin of the best memory, or the share of the query's
words that the best memories contain.  Without a fit A = -1 and B = 0 mean nothing, so the threshold
is 0 and every answer is released.

Cost: O(n) per query; with `coverage` O(n) per word of the query; the fit O(pairs) per step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...engine.base.errors import InputError
from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    DATED,
    LEXICON,
    RELEASED,
    RELEVANCE,
    SUFFICIENCY,
)
from ...engine.state.postings import Idf
from ...engine.state.ranking import best

Floats = NDArray[np.float64]

# --- columns --------------------------------------------------------------------------------------
SUFFICIENCY_EVIDENCE = Column(
    "sufficiency_evidence",
    np.float64,
    Scope.EVENT,
    "1",
    np.nan,
    "decision value f of the query; NaN: not judged",
)

# --- equations: the fit ---------------------------------------------------------------------------
RIDGE: Final = 1e-12  # sigma, added to the diagonal of the Hessian
DECREASE: Final = 1e-4  # share of the predicted decrease that a step must reach
SMALLEST_STEP: Final = 1e-10


@kernel
def probability(f: float, A: float, B: float) -> float:
    """p = 1 / (1 + exp(A f + B)).  Platt (1999); Lin et al. (2007).  No argument overflows.

    f  ()  1    decision value
    A  ()  1    slope; below 0 if larger values speak for sufficiency
    B  ()  1    offset

    >>> probability(2.0, -0.5, 1.0), probability(1.0, 1e9, 0.0)
    (0.5, 0.0)
    """
    return float(1.0 / (1.0 + np.exp(A * f + B)))


def smoothed_targets(positive: ArrayLike) -> Floats:
    """t = (N+ + 1) / (N+ + 2) for a positive example, 1 / (N- + 2) for a negative one.  Platt
    (1999); Lin et al. (2007).  O(m).

    positive  (m,) bool
    Returns (m,), in (0, 1): with targets of 0 and 1 the fit to separable examples would have no
    finite A.

    >>> smoothed_targets([True, False, False]).round(6).tolist()
    [0.666667, 0.25, 0.25]
    """
    y = np.asarray(positive, dtype=np.bool_)
    n_positive = np.count_nonzero(y)
    return np.where(y, (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (len(y) - n_positive + 2.0))


def cross_entropy(z: Floats, t: Floats) -> float:
    """F = -sum [t ln p + (1 - t) ln(1 - p)] with p = 1 / (1 + exp(z)).  Lin et al. (2007), in their
    form without overflow.  O(m).

    z  (m,)  A f + B
    t  (m,)  targets

    >>> round(cross_entropy(np.zeros(3), np.array([0.2, 0.5, 0.9])) / math.log(2.0), 9)
    3.0
    """
    return float(np.sum(t * z + np.logaddexp(0.0, -z)))


def newton_direction(x: Floats, t: Floats, A: float, B: float) -> tuple[float, float, float]:
    """-(H + sigma I)^-1 grad F in A and in B, and the slope of F along it.  Lin et al. (2007),
    gradient and Hessian.  O(m).

    The gradient is sum f (t - p) and sum (t - p), the Hessian has sum f^2 w, sum f w and sum w with
    w = p (1 - p).

    x     (m,)  decision values
    t     (m,)  targets
    A, B  ()    where

    >>> [round(part, 6) for part in newton_direction(np.array([-1.0, 1.0]), np.array([0.25, 0.5]), 0.0, 0.0)]
    [-0.5, 0.5, -0.25]
    """
    p = np.exp(-np.logaddexp(0.0, A * x + B))
    slope_A, slope_B, w = float(np.sum(x * (t - p))), float(np.sum(t - p)), p * (1.0 - p)
    h_AA, h_AB, h_BB = (
        float(np.sum(x * x * w)) + RIDGE,
        float(np.sum(x * w)),
        float(np.sum(w)) + RIDGE,
    )
    determinant = h_AA * h_BB - h_AB * h_AB
    to_A, to_B = (
        (h_AB * slope_B - h_BB * slope_A) / determinant,
        (h_AB * slope_A - h_AA * slope_B) / determinant,
    )
    return to_A, to_B, slope_A * to_A + slope_B * to_B


def step_length(z: Floats, change: Floats, t: Floats, slope: float) -> float:
    """The first s of 1, 1/2, 1/4 ... with F(z + s change) <= F(z) + 1e-4 s slope, or that is below
    1e-10.  Lin et al. (2007), pseudo code.

    z       (m,)  A f + B
    change  (m,)  of z along the direction
    t       (m,)  targets
    slope   ()    of F along the direction, below 0
    Cost: O(m) per halving.
    """
    loss, step = cross_entropy(z, t), 1.0
    while (
        step > SMALLEST_STEP
        and cross_entropy(z + step * change, t) > loss + DECREASE * step * slope
    ):
        step /= 2.0
    return step


def fitted(f: ArrayLike, positive: ArrayLike, iterations: int = 100) -> tuple[float, float]:
    """A and B that minimise the cross-entropy of smoothed targets: Newton's method with
    backtracking.  Lin et al. (2007), pseudo code.

    f           (m,)       decision values
    positive    (m,) bool  whether the example is positive
    iterations  ()         from A = 0, B = ln((N- + 1) / (N+ + 1)); about 10 reach the minimum,
                           further ones change nothing

    The objective is convex and the minimum unique unless all f are equal.  Cost: O(m) per
    iteration. Raises InputError for no examples, examples of one kind, other shapes, and values
    that are not finite.

    >>> A, B = fitted([0.0, 1.0, 1.0, 0.0], [False, True, True, False])
    >>> round(A, 6), round(B, 6)
    (-2.197225, 1.098612)
    """
    x, y = np.asarray(f, dtype=np.float64), np.asarray(positive, dtype=np.bool_)
    if x.ndim != 1 or x.shape != y.shape or not np.isfinite(x).all():
        raise InputError(
            f"decision values of shape {x.shape} and labels of shape {y.shape} cannot be fitted",
            where="sufficiency_gate",
            cure="give one finite value and one label per example",
        )
    if not y.any() or y.all():
        raise InputError(
            f"{len(y)} examples are all of one kind",
            where="sufficiency_gate",
            cure="give positive and negative examples",
        )
    t, n_positive = smoothed_targets(y), int(np.count_nonzero(y))
    A, B = 0.0, math.log((len(y) - n_positive + 1.0) / (n_positive + 1.0))
    for _ in range(iterations):
        to_A, to_B, slope = newton_direction(x, t, A, B)
        step = step_length(A * x + B, to_A * x + to_B, t, slope)
        A, B = A + step * to_A, B + step * to_B
    return A, B


# --- equations: the decision value ----------------------------------------------------------------
@kernel
def most_relevant(relevance: Any, answerable: Any) -> float:
    """Largest relevance of what may be answered; NaN if none was looked at.  Cost: O(n).

    >>> most_relevant(np.array([0.25, np.nan, 0.5, 0.75]), np.array([True, True, True, False]))
    0.5
    """
    largest = -np.inf
    for i in range(relevance.shape[0]):
        if answerable[i] and relevance[i] > largest:
            largest = np.float64(relevance[i])
    return largest if largest > -np.inf else np.nan


@kernel
def margin(scores: Any, answerable: Any) -> float:
    """(s_1 - s_2) / sd, with s_1 and s_2 the two largest scores of what may be answered and sd
    their standard deviation.  Ours.  Cost: O(n).

    0 if all scores are equal, NaN for fewer than two.

    >>> margin(np.array([4.0, 0.0, 9.0, np.nan]), np.array([True, True, False, True]))
    2.0
    """
    count, total, first, second = 0, 0.0, -np.inf, -np.inf
    for i in range(scores.shape[0]):
        if answerable[i] and not np.isnan(scores[i]):
            score = np.float64(scores[i])
            count, total = count + 1, total + score
            first, second = max(first, score), max(second, min(first, score))
    if count < 2:
        return np.nan
    mean, squares = total / count, 0.0
    for i in range(scores.shape[0]):
        if answerable[i] and not np.isnan(scores[i]):
            squares += (scores[i] - mean) ** 2
    return (first - second) / math.sqrt(squares / count) if first > second else 0.0


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SufficiencyGateParams(Params):
    evidence: Literal["relevance", "margin", "coverage"]
    best: int  # memories whose words count as coverage
    A: float  # slope
    B: float  # offset
    threshold: float  # answers of a lower probability are held back
    # calibration.json, from which A and B are; a report refuses its conversations
    calibration: str


class SufficiencyGate(Mechanism[SufficiencyGateParams]):
    """Holds the answer back if the probability that it suffices is below the threshold."""

    owns = (SUFFICIENCY_EVIDENCE,)

    @hook(
        Phase.RETRIEVE,
        reads=(DATED, ANSWERABLE, RELEVANCE, LEXICON),
        adds=(),
        sets=(SUFFICIENCY_EVIDENCE, SUFFICIENCY, RELEASED),
    )
    def judge(self, view: Any, cue: Cue) -> None:
        """Without a decision value nothing is judged, and the answer is released."""
        p = self.params
        f = (
            self._coverage(view, cue)
            if p.evidence == "coverage"
            else (
                margin(view.dated, view.answerable)
                if p.evidence == "margin"
                else most_relevant(view.relevance, view.answerable)
            )
        )
        if math.isnan(f):
            return
        view.sufficiency_evidence, view.sufficiency = f, probability(f, p.A, p.B)
        if view.sufficiency < p.threshold:
            view.released[...] = np.nan

    def _coverage(self, view: Any, cue: Cue) -> float:
        """Share of the query's inverse document frequencies whose words stand in one of the best
        memories; NaN for a query without words.
        """
        rows = best(view.dated, view.answerable, self.params.best)
        inside = np.empty(len(view.dated), np.float32)
        covered = total = 0.0
        for term in dict.fromkeys(cue.terms):
            view.lexicon.scores((term,), inside, _one, k1=0.0)
            idf = Idf.LUCENE.weight(view.lexicon.n_counted, view.lexicon.document_frequency(term))
            total += idf
            covered += idf if inside[rows].any() else 0.0
        return covered / total if total > 0.0 else math.nan


def _one(n_rows: int, frequency: int) -> float:
    return 1.0
