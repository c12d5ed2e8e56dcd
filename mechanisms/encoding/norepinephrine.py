"""Norepinephrine: estimates unexpected uncertainty, the probability that the context has changed,
and declares context switches.

If a cue is valid with probability gamma, 1 - gamma is the expected uncertainty.  A cue that fails
more often than that signals unexpected uncertainty: the context itself has changed (Yu & Dayan
2005).  Here the cue is the current topic and each event is a trial, valid if the event fits the
topic.  lambda, the probability that the context is still the same, falls with invalid trials,
faster if the topic was more reliable. Norepinephrine reports 1 - lambda; if it exceeds a threshold
set by expected uncertainty, the context ends and a new one starts. The same estimates set the gain
of choice: high if predictions hold, low if they fail (Aston-Jones & Cohen 2005).

Topic fit (ours): an event fits if it differs from the mean event in the same direction as the
current context.  An event of another context fits with probability 1/2, as the inference assumes
for changed contexts, so no similarity threshold is needed.

Cost: O(d) per event.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import exact_kernel, formula
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import CHOICE_GAIN, CONTEXT_KEPT, THRESHOLD_SHIFT
from ..shared.topic_fit import fits, follow

CHANCE: Final = 0.5  # probability of a valid trial after a change of context

# --- columns --------------------------------------------------------------------------------------
CONTEXT_TRUST = Column(
    "context_trust",
    np.float64,
    Scope.GLOBAL,
    "1",
    1.0,
    "lambda, probability that the context has not changed",
    low=0,
    high=1,
)
CONTEXT_VALID = Column(
    "context_valid",
    np.float64,
    Scope.GLOBAL,
    "events",
    0.0,
    "events that fitted the current context",
    low=0,
)
CONTEXT_TRIALS = Column(
    "context_trials",
    np.float64,
    Scope.GLOBAL,
    "events",
    0.0,
    "events compared with the current context",
    low=0,
)
CONTEXT_SWITCHES = Column(
    "context_switches",
    np.int64,
    Scope.GLOBAL,
    "switches",
    0,
    "context switches declared so far",
    low=0,
)
CONTEXT_THEMES = Column(
    "context_themes",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "mean vector of the current context, and of all events",
    (2, "dimensions"),
)
CONTEXT_MASSES = Column(
    "context_masses",
    np.float64,
    Scope.GLOBAL,
    "events",
    0.0,
    "effective number of events in each of the two means",
    (2,),
    low=0,
)
NOREPINEPHRINE_LEVEL = Column(
    "norepinephrine_level",
    np.float64,
    Scope.EVENT,
    "1",
    0.0,
    "NE = 1 - lambda at this event; 0: as expected",
    low=0,
    high=1,
)


# --- equations: unexpected uncertainty ------------------------------------------------------------
@formula
def unchanged(lam: float, valid: bool, gamma: float, tau: float) -> float:
    """lambda_t = lambda tau L / [lambda tau L + (1 - lambda tau) / 2], with L = gamma if valid,
    else 1 - gamma.  Cost: O(1).

    Probability that the context has not changed, given all trials: the inference of Yu & Dayan
    (2005) reduced to "same" and "other".

    lam    ()  1  lambda before the trial
    valid         whether the cue of the current context was valid
    gamma  ()  1  validity of the cue
    tau    ()  1  probability that a context lasts one more trial

    >>> round(float(unchanged(1.0, False, 0.9, 0.99)), 6), round(float(unchanged(1.0, True, 0.9, 0.99)), 6)
    (0.951923, 0.99442)
    """
    same = lam * tau
    likely = same * (gamma if valid else 1.0 - gamma)
    return likely / (likely + (1.0 - same) * CHANCE)


@formula
def validity(valid: float, trials: float, prior_valid: float, prior_invalid: float) -> float:
    """gamma = (valid + a) / (trials + a + b): validity of the cue in this context.  Yu & Dayan
    (2005), running estimate.  Cost: O(1).

    valid, trials               ()  events  in the current context
    prior_valid, prior_invalid  ()  events  a, b: pseudo-counts of the prior

    >>> validity(3.0, 3.0, 1.0, 1.0)
    0.8
    """
    return (valid + prior_valid) / (trials + prior_valid + prior_invalid)


@formula
def switch_bar(ach: float) -> float:
    """ACh / (1/2 + ACh): threshold on unexpected uncertainty, given the expected one.  Yu & Dayan
    (2005), switch rule.  Cost: O(1).

    ach  ()  1  expected uncertainty, 1 - gamma

    >>> switch_bar(0.5)
    0.5
    """
    return ach / (0.5 + ach)


@formula
def switches(ne: float, ach: float) -> bool:
    """NE > ACh / (1/2 + ACh).  Yu & Dayan (2005).  Cost: O(1).

    >>> bool(switches(0.17, 0.1)), bool(switches(0.16, 0.1))
    (True, False)
    """
    return ne > switch_bar(ach)


# --- equations: adaptive gain ---------------------------------------------------------------------
@exact_kernel
def response(x: float, gain: float, bias: float) -> float:
    """f_G(x) = 1 / (1 + exp(-(G x + B))).  Servan-Schreiber et al. (1990); Aston-Jones & Cohen
    (2005).  Cost: O(1).

    x, bias  ()  1  input and B
    gain     ()  1  G, raised by norepinephrine; the slope at x = -B / G is G / 4
    """
    return float(1.0 / (1.0 + math.exp(-(gain * x + bias))))


@exact_kernel
def engagement(short: float, long: float) -> float:
    """1 - [1 - L(U_short)] [1 - L(U_long)]: near 1 phasic mode, exploitation; near 0 tonic mode,
    exploration.  Cost: O(1).

    Aston-Jones & Cohen (2005), two time scales of utility: the task is abandoned only if both
    utilities are low.

    short, long  ()  log odds  short-term and long-term utility

    >>> engagement(0.0, 0.0)
    0.75
    """
    now = response(short, 1.0, 0.0)
    return (1.0 - now) * response(long, 1.0, 0.0) + now


@formula
def log_odds(p: float) -> float:
    """ln(p / (1 - p)), finite for every p in [0, 1].  Cost: O(1).

    >>> log_odds(0.5)
    0.0
    """
    p = min(max(p, 1e-12), 1.0 - 1e-12)
    return float(math.log(p / (1.0 - p)))


@formula
def choice_gain(engaged: float, tonic: float, phasic: float) -> float:
    """G: `tonic` at engagement 0, `phasic` at engagement 1, linear between.  Engineering.  Cost:
    O(1).

    >>> choice_gain(0.75, 0.2, 1.0)
    0.8
    """
    return tonic + (phasic - tonic) * engaged


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class NorepinephrineParams(Params):
    persistence: float  # tau
    prior_valid: float  # a
    prior_invalid: float  # b
    reach: float  # events, time constant of the topic's mean vector
    kept_on_switch: float
    tonic_gain: float
    phasic_gain: float
    gate_relief: float  # decrease of the gate thresholds at NE = 1


class Norepinephrine(Mechanism[NorepinephrineParams]):
    """Tests every event against the topic; a declared switch reduces the temporal context and
    restarts the estimate.
    """

    owns = (CONTEXT_TRUST, CONTEXT_VALID, CONTEXT_TRIALS, CONTEXT_SWITCHES, CONTEXT_THEMES,
            CONTEXT_MASSES, NOREPINEPHRINE_LEVEL)  # fmt: skip

    @hook(Phase.ENCODE, reads=(), adds=(),
          sets=(CONTEXT_TRUST, CONTEXT_VALID, CONTEXT_TRIALS, CONTEXT_SWITCHES, CONTEXT_THEMES,
                CONTEXT_MASSES, NOREPINEPHRINE_LEVEL, CONTEXT_KEPT,
                CHOICE_GAIN))  # fmt: skip
    def infer(self, view: Any, incoming: Incoming) -> None:
        """Update the inference.  The first two events are not trials; they only define the two
        means.
        """
        p, vector = self.params, incoming.vector
        judged, switched = view.context_masses[1] >= 2.0, False
        fit = not judged or fits(view.context_themes, vector)
        if judged:
            view.context_trust = unchanged(view.context_trust, fit, self.gamma(view), p.persistence)
            view.context_valid += fit
            view.context_trials += 1.0
            view.norepinephrine_level = ne = 1.0 - view.context_trust
            switched = switches(ne, 1.0 - self.gamma(view))
        if switched:
            view.context_trust, view.context_valid, view.context_trials = 1.0, 0.0, 0.0
            view.context_switches += 1
        view.context_kept = p.kept_on_switch if switched else 1.0
        follow(view.context_themes, view.context_masses, vector, fit, switched, 1.0 - 1.0 / p.reach)
        engaged = engagement(log_odds(view.context_trust), log_odds(self.gamma(view)))
        view.choice_gain = choice_gain(engaged, p.tonic_gain, p.phasic_gain)

    @hook(Phase.ENCODE, reads=(NOREPINEPHRINE_LEVEL,), adds=(THRESHOLD_SHIFT,), sets=())
    def lower_thresholds(self, view: Any, incoming: Incoming) -> None:
        view.threshold_shift = -self.params.gate_relief * view.norepinephrine_level

    def gamma(self, view: Any) -> float:
        """Validity of the current context, at least chance."""
        p = self.params
        return max(
            CHANCE,
            validity(view.context_valid, view.context_trials, p.prior_valid, p.prior_invalid),
        )
