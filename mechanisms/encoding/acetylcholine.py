"""Acetylcholine: estimates expected uncertainty and, if it is high, raises learning and encoding
and lowers the weight of recurrent signals.

Within one context a cue is valid with probability gamma.  Acetylcholine reports the expected
uncertainty ACh = 1 - gamma (Yu & Dayan 2005). Here the cue is the current topic and each event is a
trial; the trial is valid if the event differs from the mean event in the same direction as the
topic.  The estimate restarts when a mechanism reports a change of context (CONTEXT_KEPT below 1).

The effect follows Hasselmo, Bodelon & Wyble (2002): ACh sets the depth X = c ACh of a theta rhythm
that alternates external input and recurrent recall.  At the encoding phase the input has gain 1 and
the recurrent path has gain 1 - c ACh.  Learning over a cycle is proportional to X, so without
acetylcholine encoding and recall cancel and nothing is learnt.  All effects are relative to the
usual level, the geometric mean of ACh over all events so far.

Cost: O(d) per event, O(1) per query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import exact_kernel, formula, kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import CONTEXT_KEPT, ENCODING_STRENGTH, LEARNING_RATE, LOG_FACETS
from ..shared.topic_fit import fits, follow

ENCODING_PHASE: Final = math.pi / 2  # rad, phase of the cycle at which plasticity is highest
RECALL_LAG: Final = math.pi  # rad, phase lag of the recurrent path behind the input
RECURRENT: Final = (Facet.ASSOCIATION, Facet.CONTEXT, Facet.COMPLETION)

# --- columns --------------------------------------------------------------------------------------
ACETYLCHOLINE_LEVEL = Column(
    "acetylcholine_level",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "ACh = 1 - gamma, expected uncertainty",
    low=0,
    high=1,
)
ACETYLCHOLINE_USUAL = Column(
    "acetylcholine_usual",
    np.float64,
    Scope.GLOBAL,
    "ln",
    0.0,
    "mean of ln ACh over all events so far",
)
CUE_VALID = Column(
    "cue_valid",
    np.float64,
    Scope.GLOBAL,
    "events",
    0.0,
    "events that fitted the current context",
    low=0,
)
CUE_TRIALS = Column(
    "cue_trials",
    np.float64,
    Scope.GLOBAL,
    "events",
    0.0,
    "events compared with the current context",
    low=0,
)
CUE_THEMES = Column(
    "cue_themes",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "mean vector of the current context, and of all events",
    (2, "dimensions"),
)
CUE_MASSES = Column(
    "cue_masses",
    np.float64,
    Scope.GLOBAL,
    "events",
    0.0,
    "effective number of events in each of the two means",
    (2,),
    low=0,
)


# --- equations: expected uncertainty --------------------------------------------------------------
@formula
def validity(valid: float, trials: float, prior_valid: float, prior_invalid: float) -> float:
    """gamma = (valid + a) / (trials + a + b); ACh = 1 - gamma.  Yu & Dayan (2005), running estimate
    of cue validity.  Cost: O(1).

    valid, trials               ()  events  in the current context
    prior_valid, prior_invalid  ()  events  a, b: pseudo-counts of the prior; 1, 1 is flat

    >>> round(float(1.0 - validity(90.0, 100.0, 1.0, 1.0)), 7)
    0.1078431
    """
    return (valid + prior_valid) / (trials + prior_valid + prior_invalid)


# --- equations: theta cycle of encoding and recall ------------------------------------------------
@formula
def theta(t: float, phase: float, x: float) -> float:
    """theta(t) = X/2 sin(t + phi) + (1 - X/2).  Hasselmo, Bodelon & Wyble (2002), transmission over
    a theta cycle.  Cost: O(1).

    t, phase  ()  rad  time in the cycle, and phase phi of the path
    x         ()  1    X, depth of the modulation, 0..1; 0: none

    >>> round(float(theta(np.pi / 2, 0.0, 0.8)), 6), round(float(theta(np.pi / 2, np.pi, 0.8)), 6)
    (1.0, 0.2)
    """
    return float(0.5 * x * math.sin(t + phase) + (1.0 - 0.5 * x))


@kernel
def learn_cycle(
    ec: Any,
    ca3: Any,
    weights: Any,
    x: float,
    phase_ec: float,
    phase_ca3: float,
    phase_ltp: float,
    steps: int,
    out: Any,
) -> None:
    """Delta W = int sin(t + phi_LTP) [theta_EC a_EC + theta_CA3 W a_CA3] a_CA3^T dt over one cycle.
    Hasselmo et al. (2002).

    ec       (m,)    activity of the external input
    ca3      (n,)    activity of the recurrent path
    weights  (m, n)  W, weights learnt before
    x, phase_ec, phase_ca3, phase_ltp  ()  depth, and phases in rad
    steps    ()      of the rectangle rule; exact for steps >= 3, as the integrand is a
                     trigonometric polynomial of degree 2
    out      (m, n)  Delta W, written

    Cost: O(m n + steps).

    >>> out = np.empty((1, 1))
    >>> learn_cycle(np.ones(1), np.ones(1), np.zeros((1, 1)), 1.0, 0.0, np.pi, 0.0, 8, out)
    >>> round(float(out[0, 0]), 7)
    1.5707963
    """
    from_ec, from_ca3, dt = 0.0, 0.0, 2.0 * np.pi / steps
    for k in range(steps):
        t = k * dt
        ltp = np.sin(t + phase_ltp)
        from_ec += ltp * theta(t, phase_ec, x) * dt
        from_ca3 += ltp * theta(t, phase_ca3, x) * dt
    for i in range(ec.shape[0]):
        recalled = 0.0
        for j in range(ca3.shape[0]):
            recalled += weights[i, j] * ca3[j]
        post = from_ec * ec[i] + from_ca3 * recalled
        for j in range(ca3.shape[0]):
            out[i, j] = post * ca3[j]


@formula
def recurrent_gain(ach: float, c: float) -> float:
    """g_rec = 1 - c ACh: gain of the recurrent path at the encoding phase, with depth X = c ACh;
    the input has gain 1.  Cost: O(1).

    ach, c  ()  1  level 0..1, and suppression of recall at level 1, 0..1

    >>> round(float(recurrent_gain(0.5, 0.8)), 6)
    0.6
    """
    return theta(ENCODING_PHASE, RECALL_LAG, c * ach)


@exact_kernel
def learning(ach: float, c: float) -> float:
    """(pi/2) c ACh: weight learnt per cycle from unit input, (pi X / 2) cos(phi_LTP - phi_EC) in
    phase, X = c ACh.  Cost: O(1).

    >>> round(float(learning(1.0, 1.0)), 7)
    1.5707963
    """
    return 0.5 * np.pi * c * ach


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class AcetylcholineParams(Params):
    prior_valid: float  # a
    prior_invalid: float  # b
    reach: float  # events, time constant of the topic's mean vector
    suppression: float  # c
    rate_gain: float  # exponent of ACh / usual ACh in LEARNING_RATE
    encoding_gain: float  # exponent of ACh / usual ACh in the encoding strength


class Acetylcholine(Mechanism[AcetylcholineParams]):
    """Estimates the validity of the topic at every event; low validity favours new input over
    recall.
    """

    owns = (ACETYLCHOLINE_LEVEL, ACETYLCHOLINE_USUAL, CUE_VALID, CUE_TRIALS, CUE_THEMES, CUE_MASSES)

    @hook(Phase.ENCODE, reads=(CONTEXT_KEPT,), adds=(), sets=(ACETYLCHOLINE_LEVEL,
        ACETYLCHOLINE_USUAL, CUE_VALID, CUE_TRIALS, CUE_THEMES, CUE_MASSES,
                                                              LEARNING_RATE))  # fmt: skip
    def estimate(self, view: Any, incoming: Incoming) -> None:
        """Update the estimate.  The first two events are not trials; they only define the two
        means.
        """
        p, vector, restarts = self.params, incoming.vector, view.context_kept < 1.0
        judged = view.cue_masses[1] >= 2.0
        fit = not judged or fits(view.cue_themes, vector)
        if restarts:
            view.cue_valid, view.cue_trials = 0.0, 0.0
        elif judged:
            view.cue_valid += fit
            view.cue_trials += 1.0
        follow(view.cue_themes, view.cue_masses, vector, fit, restarts, 1.0 - 1.0 / p.reach)
        view.acetylcholine_level = ach = 1.0 - validity(
            view.cue_valid, view.cue_trials, p.prior_valid, p.prior_invalid
        )
        view.acetylcholine_usual += (math.log(ach) - view.acetylcholine_usual) / view.cue_masses[1]
        usual = math.exp(view.acetylcholine_usual)
        view.learning_rate = (learning(ach, 1.0) / learning(usual, 1.0)) ** p.rate_gain

    @hook(
        Phase.ENCODE,
        reads=(ACETYLCHOLINE_LEVEL, ACETYLCHOLINE_USUAL),
        adds=(ENCODING_STRENGTH,),
        sets=(),
    )
    def strengthen(self, view: Any, incoming: Incoming) -> None:
        view.encoding_strength = self.params.encoding_gain * (
            math.log(view.acetylcholine_level) - view.acetylcholine_usual
        )

    @hook(
        Phase.RETRIEVE,
        reads=(ACETYLCHOLINE_LEVEL, ACETYLCHOLINE_USUAL),
        adds=(LOG_FACETS,),
        sets=(),
    )
    def lower_recurrent(self, view: Any, cue: Cue) -> None:
        """Does nothing before the first event."""
        if view.acetylcholine_level > 0.0:
            c = self.params.suppression
            change = math.log(
                recurrent_gain(view.acetylcholine_level, c)
                / recurrent_gain(math.exp(view.acetylcholine_usual), c)
            )
            for facet in RECURRENT:
                view.log_facets[facet.value] = change
