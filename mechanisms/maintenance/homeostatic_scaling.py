"""Homeostatic scaling: multiplies the strengths of a speaker's memories by a common factor that
keeps their mean at a target.

A neuron that fires less than its goal makes all of its synapses stronger by a common factor, and
weaker if it fires more (Turrigiano 2008).  In the model of van Rossum, Bi & Turrigiano (2000) a
slow sensor a follows the neuron's rate, and every weight changes in proportion to itself, by the
error a_goal - a and by its integral.  The integral matters: against constant growth the error alone
leaves an offset from the goal, with the integral there is none.

Here the memories of one speaker are the synapses of one neuron.  Its input is their mean strength,
and its rate saturates, so that an error is never above a_goal whatever the strengths.  Between two
sleeps strengths are taken to be those at the second sleep, except for the factor itself, which acts
on the rate continuously; so the frequency of sleep makes no difference.  A common factor does not
change the order among a speaker's memories; it brings the speakers to the same mean, the strength
at which memories are encoded.

Cost: O(n) per maintain, one gather; O(n) per sleep, one exponential a row, and a Runge-Kutta step
for each tenth of tau_a and speaker.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import HOURS_PER, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import LOG_STRENGTH, SPEAKER, VISIBLE

STEPS = 10  # of integration per tau_a; for the errors see `advance`
SECOND = HOURS_PER["s"]

# --- columns --------------------------------------------------------------------------------------
SCALING_EXCESS = Column(
    "scaling_excess",
    np.float64,
    Scope.GLOBAL,
    "Hz",
    0.0,
    "a - a_goal, excess of each domain's sensor over its goal",
    ("domains",),
)
SCALING_INTEGRAL = Column(
    "scaling_integral",
    np.float64,
    Scope.GLOBAL,
    "Hz h",
    0.0,
    "time integral of a_goal - a, of each domain",
    ("domains",),
)
SCALING_FACTOR = Column(
    "scaling_factor",
    np.float64,
    Scope.GLOBAL,
    "ln",
    0.0,
    "log of the factor on all strengths of a domain; 0: none",
    ("domains",),
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def rate(strength: float, target: float, a_goal: float) -> float:
    """Rate of a neuron at a mean strength, Hz: a_goal at the target, 0 at 0, never above 2 a_goal
    (hyperbolic response, ours).  Cost: O(1).

    >>> rate(1.0, 1.0, 20.0), rate(3.0, 1.0, 20.0), rate(0.0, 1.0, 20.0)
    (20.0, 30.0, 0.0)
    """
    return 2.0 * a_goal / (1.0 + target / strength) if strength > 0.0 else 0.0


@kernel
def slopes(
    a: float, integral: float, r: float, a_goal: float, beta: float, gamma: float, tau_a: float
) -> tuple[float, float, float]:
    """da/dt = (r - a) / tau_a,  d(integral)/dt = a_goal - a,  d(ln w)/dt = beta (a_goal - a) +
    gamma integral.

    van Rossum, Bi & Turrigiano (2000), activity sensor and eq. (3); dw/dt is in proportion to w.
    Cost: O(1).

    a, r, a_goal  Hz          sensor, rate of the neuron, goal
    integral      Hz h        of a_goal - a
    beta, gamma   1/(h Hz), 1/(h2 Hz)
    tau_a         h

    >>> slopes(5.0, 2.0, 7.0, 10.0, 0.1, 0.01, 4.0)
    (0.5, 5.0, 0.52)
    """
    return (r - a) / tau_a, a_goal - a, beta * (a_goal - a) + gamma * integral


@kernel
def advance(
    a: float,
    integral: float,
    strength: float,
    t: float,
    target: float,
    a_goal: float,
    beta: float,
    gamma: float,
    tau_a: float,
) -> tuple[float, float, float]:
    """Sensor, integral and gain of the ln factor after a time t; the factor acts on the rate at
    once (Runge-Kutta, fourth order).

    strength  ()  1  mean strength at the start, constant except for the factor
    t         ()  h
    Others as for `slopes` and `rate`.  Cost: O(1 + STEPS t / tau_a).

    Largest errors of a / a_goal, integral / (a_goal tau_a) and the ln factor: 1e-6 for the paper's
    beta and gamma with a_goal = 100, 1e-5 for up to 5 times, 1e-4 for up to 20 times, 0.004 for 50
    times both; beta, gamma and a_goal count by their products.

    >>> advance(10.0, 0.0, 1.0, 24.0, 1.0, 10.0, 0.01, 0.001, 5.0)
    (10.0, 0.0, 0.0)
    """
    steps = math.ceil(t * STEPS / tau_a)
    h, x = t / max(steps, 1), 0.0
    for _ in range(steps):
        a1, i1, x1 = slopes(
            a, integral, rate(strength * math.exp(x), target, a_goal), a_goal, beta, gamma, tau_a
        )
        d = 0.5 * h
        a2, i2, x2 = slopes(
            a + d * a1,
            integral + d * i1,
            rate(strength * math.exp(x + d * x1), target, a_goal),
            a_goal,
            beta,
            gamma,
            tau_a,
        )
        a3, i3, x3 = slopes(
            a + d * a2,
            integral + d * i2,
            rate(strength * math.exp(x + d * x2), target, a_goal),
            a_goal,
            beta,
            gamma,
            tau_a,
        )
        a4, i4, x4 = slopes(
            a + h * a3,
            integral + h * i3,
            rate(strength * math.exp(x + h * x3), target, a_goal),
            a_goal,
            beta,
            gamma,
            tau_a,
        )
        a += h * (a1 + 2.0 * a2 + 2.0 * a3 + a4) / 6.0
        integral += h * (i1 + 2.0 * i2 + 2.0 * i3 + i4) / 6.0
        x += h * (x1 + 2.0 * x2 + 2.0 * x3 + x4) / 6.0
    return a, integral, x


@kernel
def mean_strengths(log_strength: Any, visible: Any, speaker: Any, mean: Any, count: Any) -> None:
    """Mean strength and number of the visible memories of each domain; domain = speaker modulo the
    number of domains.  Cost: O(n).

    log_strength, visible, speaker  (n,)
    mean, count                     (domains,)  written; mean 0 without memories
    """
    mean[:], count[:] = 0.0, 0
    for row in range(len(speaker)):
        if visible[row]:
            domain = speaker[row] % len(mean)
            mean[domain] += math.exp(log_strength[row]) if log_strength[row] != 0.0 else 1.0
            count[domain] += 1
    for domain in range(len(mean)):
        if count[domain]:
            mean[domain] /= count[domain]


@kernel
def scale(log_factor: Any, speaker: Any, out: Any) -> None:
    """ln of the factor on every memory: w_i -> factor w_i for all of a domain, so their ratios
    stay.  Cost: O(n).

    log_factor  (domains,)  ln
    speaker     (n,)
    out         (n,)  ln    written
    """
    for row in range(len(speaker)):
        out[row] = log_factor[speaker[row] % len(log_factor)]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class HomeostaticScalingParams(Params):
    tau_a: float
    beta: float
    gamma: float
    a_goal: float
    target: float  # mean strength at which a domain fires at its goal
    domains: int  # most speakers distinguished


class HomeostaticScaling(Mechanism[HomeostaticScalingParams]):
    owns = (SCALING_EXCESS, SCALING_INTEGRAL, SCALING_FACTOR)

    @property
    def gains(self) -> tuple[float, float]:
        """beta and gamma per simulated hour."""
        second = SECOND * self.params.time_scale
        return self.params.beta / second, self.params.gamma / second**2

    @hook(
        Phase.CONSOLIDATE,
        reads=(LOG_STRENGTH, VISIBLE, SPEAKER),
        adds=(),
        sets=(SCALING_EXCESS, SCALING_INTEGRAL, SCALING_FACTOR),
    )
    def regulate(self, view: Any, tick: Tick) -> None:
        p, (beta, gamma), tau_a = self.params, self.gains, self.hours("tau_a")
        mean, count = np.zeros(p.domains), np.zeros(p.domains, np.int64)
        mean_strengths(view.log_strength, view.visible, view.speaker, mean, count)
        for k in np.flatnonzero(count):
            a, integral, gained = advance(
                p.a_goal + view.scaling_excess[k],
                view.scaling_integral[k],
                mean[k],
                tick.dt,
                p.target,
                p.a_goal,
                beta,
                gamma,
                tau_a,
            )
            view.scaling_excess[k], view.scaling_integral[k] = a - p.a_goal, integral
            view.scaling_factor[k] += gained

    @hook(Phase.MAINTAIN, reads=(SPEAKER, SCALING_FACTOR), adds=(LOG_STRENGTH,), sets=())
    def strengthen(self, view: Any, tick: Tick) -> None:
        if view.scaling_factor.any():
            scale(view.scaling_factor, view.speaker, view.log_strength)
