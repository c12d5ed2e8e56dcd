"""Oscillatory clock: theta sets the sign of plasticity at encoding and recall, gamma the size of
working memory, ripples the amount of replay.

In a theta cycle input from outside (EC) and recall from within (CA3) are transmitted in opposite
halves, and plasticity changes its sign with them: synapses potentiate while input dominates and
depress while recall does (Hasselmo, Bodelon & Wyble 2002).  Over a whole cycle input is learnt, and
what is merely recalled is unlearnt a little, so that an old association does not strengthen itself
while a new one is learnt in its place.  Nested in theta are gamma cycles, one for each item in
working memory, an ordered list of f_gamma / f_theta items (Lisman & Idiart 1995; Lisman & Jensen
2013), the oldest of which is dropped.  In sleep theta is silent; ripples occur at their own rate in
slow-wave sleep and replay what was learnt (Buzsaki 2015).

The clock runs on simulated time.  With time_scale 2400 a gamma cycle takes a minute, a turn of a
conversation.

Cost: O(1) per event, recall and sleep.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    ARRIVED,
    LTP,
    NOW,
    RECALLED,
    RIPPLES,
    ROW,
    SESSION,
    SLEEP_ONSET,
    SLEEP_SHARE,
    WORKING_MEMORY,
    WORKING_MEMORY_SLOTS,
    WORKING_MEMORY_STEP,
)

NO_THETA: Final = 1.0  # LTP in sleep: replay potentiates as without this mechanism

# --- columns --------------------------------------------------------------------------------------
THETA_SESSION = Column(
    "theta_session",
    np.int64,
    Scope.GLOBAL,
    "1",
    -1,
    "session to which the present theta rhythm belongs; -1: none yet",
)
THETA_START = Column(
    "theta_start",
    np.float64,
    Scope.GLOBAL,
    "h",
    np.nan,
    "when that session began; NaN: none yet",
    upkeep=Upkeep(clock=True),
)
THETA_PHASE = Column(
    "theta_phase",
    np.float64,
    Scope.GLOBAL,
    "rad",
    0.0,
    "phase of theta at the last event",
    low=0,
    high=2 * math.pi,
)
RIPPLE_TIME = Column(
    "ripple_time",
    np.float64,
    Scope.GLOBAL,
    "nights",
    0.0,
    "length of the last sleep, in which ripples occur",
    low=0,
)


# --- equations: theta -----------------------------------------------------------------------------
@kernel
def phase(t: float, f: float) -> float:
    """2 pi f t modulo 2 pi: phase of theta at a time t after the session began, rad in [0, 2 pi).
    Cost: O(1).

    t  h    time
    f  1/h  frequency

    >>> round(phase(0.25, 5.0), 6)
    1.570796
    """
    cycles = t * f
    return 2.0 * math.pi * (cycles - math.floor(cycles))


@kernel
def transmission(t: float, phi: float, x: float) -> float:
    """th(t) = X/2 sin(t + phi) + 1 - X/2: transmission of a path.  Hasselmo, Bodelon & Wyble
    (2002), modulation of EC and CA3.  Cost: O(1).

    t, phi  rad  phase of theta, and of the path
    x       1    X, depth, 0..1

    >>> round(transmission(math.pi / 2, 0.0, 1.0), 6), round(transmission(math.pi / 2, math.pi, 1.0), 6)
    (1.0, 0.0)
    """
    return 0.5 * x * math.sin(t + phi) + 1.0 - 0.5 * x


@kernel
def plasticity(t: float, phi: float) -> float:
    """th_LTP(t) = sin(t + phi): potentiation above 0, depression below.  Hasselmo, Bodelon &
    Wyble (2002), modulation of LTP.  Cost: O(1).
    """
    return math.sin(t + phi)


@kernel
def learnt_in_a_cycle(x: float, phi: float, phi_ltp: float) -> float:
    """(pi X / 2) cos(phi_LTP - phi) = int th_LTP(t) th(t) dt over a cycle: learning of a path at
    unit activity.  Cost: O(1).

    Hasselmo, Bodelon & Wyble (2002), change of weights over a cycle.  Positive: learnt.  Negative:
    unlearnt.

    x             1    X
    phi, phi_ltp  rad  phases of the path and of plasticity

    >>> round(learnt_in_a_cycle(1.0, 0.0, 0.0), 4), round(learnt_in_a_cycle(1.0, math.pi, 0.0), 4)
    (1.5708, -1.5708)
    """
    return 0.5 * math.pi * x * math.cos(phi_ltp - phi)


@kernel
def weight_change(
    ec: float, recalled: float, ca3: float, x: float, phi_ec: float, phi_ca3: float, phi_ltp: float
) -> float:
    """Delta W = int th_LTP (th_EC w_EC a_EC + th_CA3 W a_CA3) a_CA3 dt over a cycle, of one synapse
    onto CA1.  Cost: O(1).

    Hasselmo, Bodelon & Wyble (2002): dW/dt = th_LTP a_CA1 a_CA3^T with a_CA1 driven by both paths;
    W constant within a cycle.

    ec, recalled, ca3  1    w_EC a_EC and W a_CA3, which drive the CA1 cell; a_CA3 on the synapse
    """
    return (
        ec * learnt_in_a_cycle(x, phi_ec, phi_ltp)
        + recalled * learnt_in_a_cycle(x, phi_ca3, phi_ltp)
    ) * ca3


# --- equations: gamma -----------------------------------------------------------------------------
@kernel
def capacity(f_gamma: float, f_theta: float) -> int:
    """n = f_gamma / f_theta, whole items.  Lisman & Idiart (1995); Lisman & Jensen (2013), items in
    a theta cycle.  Cost: O(1).

    >>> capacity(40.0, 6.0)
    6
    """
    return math.floor(f_gamma / f_theta + 1e-9)


@kernel
def hold(items: Any, item: int, n: int) -> None:
    """Append an item to working memory; of more than n items the oldest is dropped.  Lisman &
    Idiart (1995), first in, first out.  Cost: O(n).

    items  (>= n,) int32  working memory, oldest first, then -1; written

    >>> held = np.array([4, 5, -1], dtype=np.int32)
    >>> hold(held, 7, 2)
    >>> held.tolist()
    [5, 7, -1]
    """
    count = 0
    while count < items.shape[0] and items[count] >= 0:
        count += 1
    drop = max(count + 1 - n, 0)
    for i in range(count - drop):
        items[i] = items[i + drop]
    items[count - drop] = item
    items[count - drop + 1 :] = -1


# --- equations: ripples ---------------------------------------------------------------------------
@kernel
def ripples(rate: float, hours: float) -> float:
    """rate x hours: expected number of ripples in that many hours of sleep, at a constant rate.
    Rates: Buzsaki (2015).  Cost: O(1).

    rate   1/h
    hours  h
    """
    return rate * hours


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class OscillatoryClockParams(Params):
    theta: float  # f_theta
    gamma: float  # f_gamma
    depth: float  # X
    phase_ec: float  # phi_EC
    phase_ca3: float  # phi_CA3
    phase_ltp: float  # phi_LTP
    ripple_rate: float
    usual_rate: float
    night: float  # of simulated time, not rescaled


class OscillatoryClock(Mechanism[OscillatoryClockParams]):
    owns = (THETA_SESSION, THETA_START, THETA_PHASE, RIPPLE_TIME)

    def learning(self, ec: float, recalled: float) -> float:
        """Change of a synapse in a cycle by input `ec` and recall `recalled`, relative to the
        maximum: unit input, X = 1, in phase.
        """
        p = self.params
        return weight_change(
            ec, recalled, 1.0, p.depth, p.phase_ec, p.phase_ca3, p.phase_ltp
        ) / learnt_in_a_cycle(1.0, 0.0, 0.0)

    @hook(Phase.ENCODE, reads=(NOW,), adds=(), sets=(THETA_SESSION, THETA_START, THETA_PHASE, LTP))
    def beat(self, view: Any, incoming: Incoming) -> None:
        if incoming.session != view.theta_session:
            view.theta_session, view.theta_start = incoming.session, view.now
        view.theta_phase = phase(view.now - view.theta_start, self.hours("theta"))
        view.ltp = self.learning(1.0, 0.0)

    @hook(
        Phase.ENCODE,
        reads=(ROW, ARRIVED, SESSION),
        adds=(),
        sets=(WORKING_MEMORY, WORKING_MEMORY_STEP),
    )
    def keep(self, view: Any, incoming: Incoming) -> None:
        """An item stays in working memory by being active in each theta cycle; a pause longer
        than a cycle, or a new session, empties it.
        """
        row, before, cycle, gamma = (
            view.row,
            incoming.before,
            1.0 / self.hours("theta"),
            self.hours("gamma"),
        )
        if (
            before < 0
            or view.session[row] != view.session[before]
            or view.arrived[row] - view.arrived[before] > cycle
        ):
            view.working_memory[:] = -1
        hold(view.working_memory, row, min(capacity(gamma, 1.0 / cycle), WORKING_MEMORY_SLOTS))
        view.working_memory_step = 1.0 / gamma

    @hook(Phase.RETRIEVE, reads=(RECALLED,), adds=(), sets=(LTP,))
    def on_recall(self, view: Any, cue: Cue) -> None:
        view.ltp = self.learning(0.0, 1.0)

    @hook(Phase.CONSOLIDATE, reads=(SLEEP_ONSET.before,), adds=(), sets=(RIPPLE_TIME, LTP))
    def sleep(self, view: Any, tick: Tick) -> None:
        """If no mechanism schedules sleep, its length is a full night."""
        view.ripple_time = (
            1.0
            if math.isnan(view.sleep_onset)
            else max(tick.end - view.sleep_onset, 0.0) / self.params.night
        )
        view.ltp = NO_THETA

    @hook(Phase.CONSOLIDATE, reads=(RIPPLE_TIME, SLEEP_SHARE), adds=(), sets=(RIPPLES,))
    def ripple(self, view: Any, tick: Tick) -> None:
        """RIPPLES times SLEEP_SHARE, the factor on replay, is the number of ripples relative to
        a usual full night.
        """
        usual, share = ripples(self.hours("usual_rate"), self.params.night), view.sleep_share
        per_night = ripples(self.hours("ripple_rate"), view.ripple_time * self.params.night)
        view.ripples = per_night / usual / share if share > 0.0 else 0.0
