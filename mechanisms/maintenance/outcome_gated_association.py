"""Outcome-gated association: what was used together is associated only once an outcome is told,
more if it was good, less if it was bad.

Synapses whose two neurons fire together are marked, and a reward that comes seconds later changes
those that are marked still: a rule of three factors (Fremaux & Gerstner 2016; Gerstner et al.
2018).  In the model of Izhikevich (2007) spike timing moves an eligibility c, which decays with
tau_c = 1 s; a reward raises the dopamine d, which decays with tau_d = 0.2 s and reaches all synapses
alike; the strength s of a synapse follows c d:

    dc/dt = -c / tau_c + STDP(lag) delta(t - t_pair),  ds/dt = c d,  dd/dt = -d / tau_d + DA(t)

Here an association between two memories is a synapse, and a use of a memory is a spike: the
memories that one answer needed fire at once, those that the last use in the session needed fired
before them.  The outcome that feedback tells, `memory.use(answer, rows, outcome)`, is the reward,
for that use and for earlier ones that are eligible still; a bad one lowers d below its baseline.
Without an outcome nothing is learnt.  At the paper's time scale an outcome counts for uses of the
last seconds, and has its effect in the second after it, in which d fades; a set in which outcomes
come an hour after the use needs a `time_scale` of 3600.

Between spikes and outcomes c and d decay exponentially and c d keeps its sign, so s has a closed
form, and a bound is met once: there are no time steps.

Cost: O(p) for the p pairs of a use; O(eligible associations) per outcome that is told; O(n + 32
seeds) per query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, Upkeep, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    GRAPH,
    MATCH,
    NOW,
    OUTCOME,
    RECALLED,
    RELEASE_PROBABILITY,
    RESOURCES,
    USED,
    USED_TIME,
    VISIBLE,
)
from ...engine.state.graph import EdgeType
from ...engine.steps.uses import used_last
from ..shared.coactivation import COACTIVATION, pass_on, sources

LEAST: Final = 1e-6  # share of the largest strength below which an association passes nothing on

# --- columns --------------------------------------------------------------------------------------
ELIGIBILITY = Column(
    "eligibility",
    np.float64,
    Scope.EDGE,
    "mV/uM",
    0.0,
    "c, mark that the use of both memories left on the association, at `eligibility_time`",
)
GATED_STRENGTH = Column(
    "gated_strength",
    np.float64,
    Scope.EDGE,
    "mV",
    0.0,
    "s, strength that outcomes gave the association, at `eligibility_time`",
    low=0,
)
ELIGIBILITY_TIME = Column(
    "eligibility_time",
    np.float64,
    Scope.EDGE,
    "h",
    0.0,
    "time of the eligibility and of the strength",
    upkeep=Upkeep(clock=True),
)
OUTCOME_LEVEL = Column(
    "outcome_level",
    np.float64,
    Scope.GLOBAL,
    "uM",
    0.0,
    "d, dopamine above its baseline, at the last outcome",
)
OUTCOME_TIME = Column(
    "outcome_time",
    np.float64,
    Scope.GLOBAL,
    "h",
    0.0,
    "time of the last outcome that was told",
    upkeep=Upkeep(clock=True),
)
SERVED_TOGETHER = signal(
    "served_together",
    Facet.ASSOCIATION,
    "match of the best, passed on to memories that served together with them",
    unit="sd",
    direct=False,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def window(lag: float, a_plus: float, a_minus: float, tau: float) -> float:
    """STDP(lag) = A+ e^(-lag / tau) for lag >= 0, -A- e^(lag / tau) for lag < 0.  Izhikevich (2007);
    at lag 0, where the order is not known, it is that of two neurons that fire together.
    Cost: O(1).

    lag              h      t_target - t_source
    a_plus, a_minus  mV/uM  A+, A-
    tau              h      time constant of both sides

    >>> [round(window(lag, 0.1, 0.15, 20.0), 4) for lag in (0.0, 20.0, -20.0)]
    [0.1, 0.0368, -0.0552]
    """
    return a_plus * math.exp(-lag / tau) if lag >= 0.0 else -a_minus * math.exp(lag / tau)


@kernel
def gated(c: float, d: float, elapsed: float, tau_c: float, tau_d: float) -> float:
    """The integral of c d over a time without spikes and outcomes: c d tau (1 - e^(-t / tau)), with
    1 / tau = 1 / tau_c + 1 / tau_d.  Izhikevich (2007), ds/dt = c d.  Cost: O(1).

    c, d          mV/uM, uM  eligibility and dopamine at the start of this time
    elapsed       h          t
    tau_c, tau_d  h          time constants of c and d

    >>> round(gated(0.1, 0.5, 1e9, 1.0, 0.2), 6), gated(0.1, 0.5, 0.0, 1.0, 0.2)
    (0.008333, 0.0)
    """
    tau = tau_c * tau_d / (tau_c + tau_d)
    return -c * d * tau * math.expm1(-elapsed / tau)


@kernel
def strength(
    now: float,
    c: float,
    s: float,
    at: float,
    level: float,
    since: float,
    tau_c: float,
    tau_d: float,
    step: float,
    strongest: float,
) -> float:
    """s now, mV, in [0, strongest].  Izhikevich (2007), ds/dt = c d.  Cost: O(1).

    c, s       mV/uM, mV  eligibility and strength at the time `at`, h
    level      uM         d at the time `since`, h, of the last outcome, which is not after `at` where
                          c is not 0
    step       h          time in which c d is added to s
    strongest  mV         largest strength

    >>> round(strength(9.0, 0.1, 1.0, 2.0, 0.5, 2.0, 1.0, 0.2, 0.01, 4.0), 3)
    1.833
    """
    if c == 0.0 or level == 0.0:
        return s
    d = level * math.exp(-max(at - since, 0.0) / tau_d)
    grown = s + gated(c, d, max(now - at, 0.0), tau_c, tau_d) / step
    return min(max(grown, 0.0), strongest)


@kernel
def advance(
    now: float,
    edges: Any,
    level: float,
    since: float,
    tau_c: float,
    tau_d: float,
    step: float,
    strongest: float,
    c: Any,
    s: Any,
    at: Any,
) -> None:
    """Eligibility, strength and their time of some associations are those of now.  Izhikevich
    (2007), dc/dt = -c / tau_c.  Cost: O(edges).

    edges     (q,)             associations
    c, s, at  (m,) mV/uM, mV, h  of each association; written
    Others as for `strength`.

    >>> c, s, at = np.array([0.1, 0.1]), np.zeros(2), np.zeros(2)
    >>> advance(1.0, np.array([0]), 0.0, 0.0, 1.0, 0.2, 0.01, 4.0, c, s, at)
    >>> c.round(4).tolist(), at.tolist()
    ([0.0368, 0.1], [1.0, 0.0])
    """
    for e in edges:
        s[e] = strength(now, c[e], s[e], at[e], level, since, tau_c, tau_d, step, strongest)
        c[e] *= math.exp(-max(now - at[e], 0.0) / tau_c)
        at[e] = now


@kernel
def mark(edge: Any, lag: Any, a_plus: float, a_minus: float, tau: float, c: Any) -> None:
    """c += STDP(lag) for the association of each pair.  Izhikevich (2007).  Cost: O(p).

    edge, lag  (p,)  -, h    association and lag of each pair
    c          (m,)  mV/uM   eligibility; written
    Others as for `window`.
    """
    for i in range(edge.shape[0]):
        c[edge[i]] += window(lag[i], a_plus, a_minus, tau)


@kernel
def weights_from(
    rows: Any,
    now: float,
    level: float,
    since: float,
    tau_c: float,
    tau_d: float,
    step: float,
    strongest: float,
    start: Any,
    degree: Any,
    pool: Any,
    c: Any,
    s: Any,
    at: Any,
    weight: Any,
) -> None:
    """Strengths now of the associations from some memories, as shares of the largest one; 0 below
    LEAST.  Cost: O(their edges).

    rows                 (q,)  memories
    start, degree, pool        out-edges of node v: pool[start[v]:start[v] + degree[v]]
    weight               (m,)  written; 0 before
    Others as for `advance`.
    """
    for v in rows:
        for e in pool[start[v] : start[v] + degree[v]]:
            w = strength(now, c[e], s[e], at[e], level, since, tau_c, tau_d, step, strongest)
            weight[e] = w / strongest if w >= LEAST * strongest else 0.0


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class OutcomeGatedAssociationParams(Params):
    a_plus: float
    a_minus: float
    tau_window: float
    tau_c: float
    tau_d: float
    release: float  # dopamine that an outcome of 1 sets free
    step: float  # time in which c d is added to s
    strongest: float
    seeds: int  # best matches that pass activation on
    present: float  # activity of the memories used last in the session, together
    weight: float


class OutcomeGatedAssociation(Mechanism[OutcomeGatedAssociationParams]):
    """Associates memories used together once an outcome is told; retrieves what served together with
    the best matches and with what was used last.
    """

    owns = (
        ELIGIBILITY,
        GATED_STRENGTH,
        ELIGIBILITY_TIME,
        OUTCOME_LEVEL,
        OUTCOME_TIME,
        SERVED_TOGETHER,
    )

    def _course(self, view: Any) -> tuple[float, float, float, float, float, float]:
        """The last outcome, and the constants in which c, d and s run on from it."""
        return (
            view.outcome_level,
            view.outcome_time,
            self.hours("tau_c"),
            self.hours("tau_d"),
            self.hours("step"),
            self.params.strongest,
        )

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, OUTCOME, COACTIVATION, NOW),
        adds=(),
        sets=(ELIGIBILITY, GATED_STRENGTH, ELIGIBILITY_TIME, OUTCOME_LEVEL, OUTCOME_TIME),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        """What the answer needed becomes eligible; then an outcome, if told, reaches all that is."""
        p, pairs, now = self.params, view.coactivation, view.now
        state = view.eligibility, view.gated_strength, view.eligibility_time
        advance(now, pairs.edge, *self._course(view), *state)
        mark(pairs.edge, pairs.lag, p.a_plus, p.a_minus, self.hours("tau_window"), state[0])
        if math.isnan(view.outcome):
            return
        advance(now, np.flatnonzero(view.eligibility), *self._course(view), *state)
        # before the first outcome the time of the last one is 0, which may be ahead of now
        since = max(now - view.outcome_time, 0.0)
        left = view.outcome_level * math.exp(-since / self.hours("tau_d"))
        view.outcome_level, view.outcome_time = left + p.release * view.outcome, now

    @hook(Phase.RETRIEVE, reads=(GRAPH, MATCH, VISIBLE, USED.before, USED_TIME.before, NOW,
                                 RELEASE_PROBABILITY, RESOURCES, ELIGIBILITY, GATED_STRENGTH,
                                 ELIGIBILITY_TIME, OUTCOME_LEVEL, OUTCOME_TIME), adds=(),
          sets=(SERVED_TOGETHER,))  # fmt: skip
    def associate(self, view: Any, cue: Cue) -> None:
        """Only memories with an activity above 0, the mean of the match, pass it on."""
        p, edges = self.params, view.graph.csr(EdgeType.COACCESS)
        rows, activity = sources(
            view.match,
            view.visible,
            used_last(cue, view.used, view.used_time, view.visible),
            p.seeds,
            p.present,
        )
        weight = np.zeros(view.gated_strength.shape[0])
        weights_from(
            rows,
            view.now,
            *self._course(view),
            edges.start,
            edges.degree,
            edges.pool,
            view.eligibility,
            view.gated_strength,
            view.eligibility_time,
            weight,
        )
        pass_on(
            rows,
            activity,
            view.release_probability,
            view.resources,
            edges.start,
            edges.degree,
            edges.pool,
            view.graph.target,
            weight,
            view.served_together,
        )
