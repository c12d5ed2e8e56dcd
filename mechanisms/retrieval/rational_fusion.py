"""Rational fusion: the log posterior odds that a memory is needed: log prior odds of need plus the
log likelihood ratios of the cue's evidence.

In the rational analysis of memory a memory is searched for in the order of its need probability,
which Bayes' rule gives from two terms: how needed the memory is by its history, and how well the
cue fits it (Anderson 1990; Anderson & Schooler 1991),

    ln P(i | cue) / P(not i | cue) = ln P(i) / P(not i) + sum_s ln P(x_s | i needed) / P(x_s | i not
    needed).

The first term is ACTIVATION plus LOG_STRENGTH, which are log odds already and enter in their own
units.  Each signal s is evidence in units of its own, which a monotone function turns into a log
likelihood ratio, by the scale that the signal declares:

    similarity   slope (x - floor)
    support      slope ln(1 + (x - floor) / half): each factor of support counts equally, and none
                 counts nothing
    log odds     an estimate of need itself, which ACTIVATION holds: not counted twice

`hebbarium calibrate --fit fusion` fits the slopes, at least 0, to questions of development data as
a conditional logit: the needed memory of each question against all others, with need as it is.
Fitted together, two signals that say the same share their slope.  So a memory that fits the cue far
better wins whatever its need, and among memories that fit equally need decides.  The shipped values
are of `demo`, see evidence.json.

Cost: O(n) per signal; the fit O(rows of the questions) per step.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...engine.base.errors import InputError, RegistryError
from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase, Scale
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ACTIVATION,
    FACET_WEIGHTS,
    FUSED,
    KIND,
    LOG_STRENGTH,
    SIGNALS,
    VISIBLE,
)

Floats = NDArray[np.float64]
SHIPPED: Final = Path(__file__).parent / "evidence.json"
# slopes of signals that a calibration does not name, for a weight of 1
PLAIN: Final = {Scale.SIMILARITY: 10.0, Scale.SUPPORT: 1.0}
# gradient, and relative change of the likelihood, at which a fit ends
PRECISE: Final = {"gtol": 1e-8, "ftol": 1e-15}


# --- equations ------------------------------------------------------------------------------------
@kernel
def evidence(x: float, floor: float, half: float) -> float:
    """ln(1 + (x - floor) / half) for half > 0, x - floor for half = 0; 0 below the floor and for
    NaN.  Monotone.  Ours.  O(1).

    x     ()  score of a memory, in the unit of the signal
    floor ()  score that says nothing
    half  ()  support that counts ln 2, in the same unit; 0: a similarity

    >>> evidence(3.0, 0.0, 1.0) == math.log(4.0), round(evidence(0.5, -1.0, 0.0), 9), evidence(np.nan, 0.0, 1.0), evidence(-2.0, -1.0, 0.0)
    (True, 1.5, 0.0, 0.0)
    """
    above = x - floor
    if not above > 0.0:
        return 0.0
    return math.log1p(above / half) if half > 0.0 else above


@kernel
def add_evidence(scores: Any, floor: float, half: float, slope: float, out: Any) -> None:
    """out += slope evidence(x): the log likelihood ratio of one signal.  Anderson (1990), with
    `evidence` as its form.  O(n).

    scores  (n,)      x, NaN for none
    slope   ()        ln odds for each unit of evidence
    out     (n,)      ln odds, added to

    >>> out = np.zeros(3)
    >>> add_evidence(np.array([3.0, np.nan, 1.0]), 0.0, 1.0, 2.0, out)
    >>> np.exp(out).round(9).tolist()
    [16.0, 1.0, 4.0]
    """
    for i in range(scores.shape[0]):
        out[i] += slope * evidence(scores[i], floor, half)


@kernel
def add_need(
    activation: Any, log_strength: Any, kind: Any, visible: Any, weight: float, out: Any
) -> None:
    """out += weight (B + ln s), the log prior odds of need; a row that the memory made has the mean
    of the visible events.  O(n).

    activation    (n,)  ln odds  B
    log_strength  (n,)  ln       ln s
    kind          (n,)           0 for events
    visible       (n,)  bool
    weight        ()             1: Bayes' rule; 0: evidence alone
    out           (n,)  ln odds  added to

    >>> out = np.zeros(3)
    >>> add_need(np.array([-2.0, -4.0, 0.0]), np.zeros(3), np.array([0, 0, 3]), np.ones(3, dtype=np.bool_), 1.0, out)
    >>> out.tolist()
    [-2.0, -4.0, -3.0]
    """
    total, events = 0.0, 0
    for i in range(kind.shape[0]):
        if kind[i] == 0 and visible[i]:
            total, events = total + activation[i], events + 1
    typical = total / events if events else 0.0
    for i in range(kind.shape[0]):
        out[i] += weight * ((activation[i] if kind[i] == 0 else typical) + log_strength[i])


# --- the fit --------------------------------------------------------------------------------------
def log_likelihood(
    slopes: ArrayLike, questions: Sequence[tuple[Floats, Floats, NDArray[np.int64]]]
) -> float:
    """Mean over the questions of ln P(needed | cue), P the softmax of need + evidence . slopes:
    exactly one memory is needed.  O(rows signals).

    slopes     (s,)
    questions  of each: evidence (n, s), log prior odds (n,), rows that were needed, of which each
               is equally likely to be the one

    >>> round(math.exp(log_likelihood([1.0], [(np.array([[math.log(3.0)], [0.0]]), np.zeros(2), np.array([0]))])), 9)
    0.75
    """
    b = np.asarray(slopes, dtype=np.float64)
    return float(
        np.mean([np.mean(_log_softmax(x @ b + need)[needed]) for x, need, needed in questions])
    )


def fitted(
    questions: Sequence[tuple[Floats, Floats, NDArray[np.int64]]], ridge: float = 1e-3
) -> Floats:
    """The slopes >= 0 of the largest likelihood, less ridge / 2 times their squares: a conditional
    logit.  (s,).

    questions  as for `log_likelihood`; evidence in comparable units, so that the ridge bears on all
               signals alike

    The likelihood is concave, so there is one maximum, which scipy's L-BFGS-B finds.  Cost: O(rows
    signals) per step. Raises InputError without questions.
    """
    from scipy.optimize import minimize  # half a second, for a fit alone

    if not questions:
        raise InputError(
            "there is no question with a needed memory",
            where="rational_fusion",
            cure="take data with questions that name their evidence",
        )

    def loss(slopes: Floats) -> tuple[float, Floats]:
        slope = [
            x[needed].mean(axis=0) - np.exp(_log_softmax(x @ slopes + need)) @ x
            for x, need, needed in questions
        ]
        return 0.5 * ridge * float(slopes @ slopes) - log_likelihood(
            slopes, questions
        ), ridge * slopes - np.mean(slope, axis=0)

    signals = questions[0][0].shape[1]
    fit = minimize(
        loss,
        np.zeros(signals),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * signals,
        options=PRECISE,
    )
    return np.asarray(fit.x)


def _log_softmax(odds: Floats) -> Floats:
    top = odds.max()
    return np.asarray(odds - top - np.log(np.exp(odds - top).sum()))


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Calibrated:
    """How one signal becomes evidence: `slope` ln odds for each unit, and `half`, see
    `evidence`.
    """

    slope: float
    half: float


def read_calibration(path: Path) -> dict[str, Calibrated]:
    """The signals of a file that `hebbarium calibrate --fit fusion` wrote.  Raises
    RegistryError.
    """
    try:
        signals = json.loads(path.read_text(encoding="utf-8"))["signals"]
        calibrated = {
            name: Calibrated(float(signal["slope"]), float(signal["half"]))
            for name, signal in signals.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RegistryError(
            f"is no calibration of evidence ({type(error).__name__}: {error})",
            where=str(path),
            cure="give the evidence.json that `hebbarium calibrate --fit fusion` wrote",
        ) from error
    for name, signal in calibrated.items():
        if not (0.0 <= signal.slope < math.inf and 0.0 <= signal.half < math.inf):
            raise RegistryError(
                f"{name}: slope {signal.slope} and half {signal.half} must be at least 0",
                where=str(path),
                cure="fit it again",
            )
    return calibrated


@dataclass(frozen=True, slots=True)
class RationalFusionParams(Params):
    need: float
    calibration: str  # evidence.json; "": the shipped one


class RationalFusion(Mechanism[RationalFusionParams]):
    """FUSED: ln posterior odds, up to a constant of the query."""

    @cached_property
    def calibrated(self) -> Mapping[str, Calibrated]:
        return read_calibration(
            Path(self.params.calibration) if self.params.calibration else SHIPPED
        )

    @hook(
        Phase.RETRIEVE,
        reads=(SIGNALS, FACET_WEIGHTS, ACTIVATION, LOG_STRENGTH, KIND, VISIBLE),
        adds=(),
        sets=(FUSED,),
    )
    def fuse(self, view: Any, cue: Cue) -> None:
        """Signals of weight 0 do not count; the others with their calibrated slopes, or with
        weight times PLAIN.
        """
        out = np.zeros(len(view.fused))
        add_need(view.activation, view.log_strength, view.kind, view.visible, self.params.need, out)
        for signal, scores, weight in view.signals:
            if weight > 0.0 and signal.scale is not Scale.LOG_ODDS:
                known = self.calibrated.get(signal.name) or Calibrated(
                    weight * PLAIN[signal.scale], 1.0 if signal.scale is Scale.SUPPORT else 0.0
                )
                add_evidence(
                    scores,
                    signal.floor,
                    known.half,
                    known.slope * float(view.facet_weights[signal.facet.value]),
                    out,
                )
        view.fused[...] = out
