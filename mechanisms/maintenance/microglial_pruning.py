"""Microglial pruning: removes unused associations at random, with a hazard that grows with their
complement tag.

Complement C1q/C3 binds to idle synapses (Stevens et al. 2007), microglia engulf the tagged ones
(Schafer et al. 2012), a "do not eat me" signal protects active ones (CD47: Lehrman et al. 2018),
and this form of forgetting is stopped by removing microglia, or by the inhibitor CD55 in the cells
of an engram (Wang et al. 2020).  None of them gives kinetics; the equations here are a construction
of ours with these properties.

Each association between two memories has a trace of its use A, a protector P and a complement tag
T.  A has a closed form; P, T and the hazard are integrated in steps bound to the time constants,
accurate to 1e-4.  All are updated when the association is used and after each sleep, so nothing
depends on the length of a tick.  Engulfment is drawn after each sleep, from the hazard integrated
since the last: Poisson thinning.  A removed edge is a tombstone that keeps its numbers; no memory
is ever removed.

Cost: O(pairs) per event and recall that
changes memory; O(edges) per consolidation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import GRAPH, LOG_STRENGTH, NOW, RANDOM, RECALLED
from ...engine.state.graph import EdgeType
from ..shared.coactivation import COACTIVATION

COACCESS: Final = int(EdgeType.COACCESS)
Constants = tuple[
    float, float, float, tuple[float, float, float], tuple[float, float, float, float, float]
]

# --- columns --------------------------------------------------------------------------------------
SYNAPTIC_USE = Column(
    "synaptic_use",
    np.float64,
    Scope.EDGE,
    "uses",
    0.0,
    "trace A of the association's use, at the time `complement_clock`",
    low=0,
)
SYNAPTIC_PROTECTOR = Column(
    "synaptic_protector",
    np.float64,
    Scope.EDGE,
    "1",
    0.0,
    "protector P, like CD47, at the time `complement_clock`",
    low=0,
    high=1,
)
COMPLEMENT = Column(
    "complement",
    np.float64,
    Scope.EDGE,
    "1",
    0.0,
    "complement tag T, at the time `complement_clock`",
    low=0,
    high=1,
)
ENGULFMENT_RISK = Column(
    "engulfment_risk",
    np.float64,
    Scope.EDGE,
    "1",
    0.0,
    "hazard of engulfment from the last sleep to `complement_clock`",
    low=0,
)
COMPLEMENT_CLOCK = Column(
    "complement_clock",
    np.float64,
    Scope.EDGE,
    "h",
    np.nan,
    "time of the last update of A, P, T and hazard, by use or sleep; NaN: never",
    upkeep=Upkeep(clock=True),
)
PRUNED = Column(
    "pruned",
    np.float64,
    Scope.EDGE,
    "h",
    np.nan,
    "when the association was engulfed; NaN: it was not",
    upkeep=Upkeep(clock=True),
)
CD55 = Column(
    "cd55",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "share of the deposition of complement that the memory inhibits",
    low=0,
    high=1,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def deposition(T: float, A: float, i: float, k_on: float, k_off: float, K_A: float) -> float:
    """dT/dt = k_on K_A / (K_A + A) (1 - i) (1 - T) - k_off T.  Ours; complement binds to idle
    synapses (Stevens et al. 2007).  Cost: O(1).

    T            1      complement tag, 0..1
    A, K_A       uses   trace of use, and its value that halves deposition
    i            1      inhibitor like CD55, 0..1
    k_on, k_off  1/t
    """
    return k_on * K_A / (K_A + A) * (1.0 - i) * (1.0 - T) - k_off * T


@kernel
def protection(A: float, K_P: float) -> float:
    """A / (A + K_P), which P approaches: tau_P dP/dt = A / (A + K_P) - P.  Ours; CD47 marks
    active synapses (Lehrman et al. 2018).  Cost: O(1).
    """
    return A / (A + K_P)


@kernel
def hazard(T: float, P: float, k_ph: float, K_T: float, h: float, q: float, M: float) -> float:
    """lambda = k_ph M T^h / (T^h + K_T^h) (1 - P)^q, per unit of time.  Ours; engulfment by CR3
    (Schafer et al. 2012).  Cost: O(1).

    T, P  1  tag and protector, 0..1
    K_T   1  tag at which the hazard is half its maximum; h, q exponents
    M     1  microglia, 0: depleted

    >>> round(hazard(0.5, 0.0, 0.1, 0.5, 4.0, 1.0, 1.0), 6)
    0.05
    """
    x = max(T, 0.0) / K_T
    x = x * x * x * x if h == 4.0 else x**h
    free = 1.0 - P if q == 1.0 else max(1.0 - P, 0.0) ** q
    return k_ph * M * x / (1.0 + x) * free


@kernel
def moments(z: float) -> tuple[float, float, float]:
    """Integrals over u from 0 to z <= 1 of exp(u - z) u^k for k = 0, 1, 2, by series, which are
    accurate for small z.  Cost: O(1).
    """
    m0 = m1 = m2 = 0.0
    term = 1.0
    for j in range(1, 22):
        term *= z / j  # z^j / j!
        sign = 1.0 if j % 2 else -1.0
        m0 += sign * term
        m1 -= sign * term * (j > 1)
        m2 += 2.0 * sign * term * (j > 2)
    return m0, m1, m2


@kernel
def propagator(
    step: float, tau_A: float, tau_P: float
) -> tuple[float, float, float, float, float, float, float, float]:
    """Factors of one step, common to all edges: decay of A and P over half a step, weights of
    `protection` at start, middle and end.

    `protection` is interpolated by a parabola through the three, and integrated exactly against
    exp(-t / tau_P).  Cost: O(1).
    """
    z = step / tau_P
    a0, a1, a2 = moments(0.5 * z)
    b0, b1, b2 = moments(z)
    a1, a2, b1, b2 = a1 / z, a2 / (z * z), b1 / z, b2 / (z * z)
    return (math.exp(-0.5 * step / tau_A), math.exp(-0.5 * z), a0 - 3.0 * a1 + 2.0 * a2,
            4.0 * (a1 - a2), 2.0 * a2 - a1,
            b0 - 3.0 * b1 + 2.0 * b2, 4.0 * (b1 - b2), 2.0 * b2 - b1)  # fmt: skip


@kernel
def stride(
    A: float, P: float, T: float, i: float, step: float, c: Any, k: Constants
) -> tuple[float, float, float, float]:
    """A, P, T after one step without use, and the integral of the hazard: Runge-Kutta for T,
    Simpson for the hazard.  Cost: O(1), no exp.

    c  factors of the step, from `propagator`
    k  constants: tau_A, tau_P, K_P, (k_on, k_off, K_A), (k_ph, K_T, h, q, M), times in one unit
       throughout
    """
    middle = A * c[0]
    end = middle * c[0]
    f0, f1, f2 = protection(A, k[2]), protection(middle, k[2]), protection(end, k[2])
    P_middle = P * c[1] + c[2] * f0 + c[3] * f1 + c[4] * f2
    P_end = P * c[1] * c[1] + c[5] * f0 + c[6] * f1 + c[7] * f2
    s0 = deposition(T, A, i, *k[3])
    s1 = deposition(T + 0.5 * step * s0, middle, i, *k[3])
    s2 = deposition(T + 0.5 * step * s1, middle, i, *k[3])
    s3 = deposition(T + step * s2, end, i, *k[3])
    T_end = T + step / 6.0 * (s0 + 2.0 * s1 + 2.0 * s2 + s3)
    T_middle = 0.5 * (T + T_end) + step / 8.0 * (s0 - deposition(T_end, end, i, *k[3]))
    risk = (
        step
        / 6.0
        * (
            hazard(T, P, *k[4])
            + 4.0 * hazard(T_middle, P_middle, *k[4])
            + hazard(T_end, P_end, *k[4])
        )
    )
    return end, P_end, T_end, risk


@kernel
def strides(t: float, k: Constants) -> int:
    """Number of equal steps for a time without use such that P, T and the hazard are accurate to
    1e-4.  Cost: O(1).
    """
    return max(
        1, math.ceil(t / min(k[1], 0.25 * k[0], 0.1 / max(k[3][0] + k[3][1], 1e-300)) - 1e-6)
    )


@kernel
def advance(
    A: float, P: float, T: float, i: float, t: float, k: Constants
) -> tuple[float, float, float, float]:
    """A, P, T after a time t without use, and the integral of the hazard over it.  Cost: O(t /
    tau_P).

    >>> k = 7.0, 1.0, 1.0, (0.05, 0.01, 1.0), (0.1, 0.5, 4.0, 1.0, 1.0)
    >>> A, P, T, risk = advance(0.0, 0.0, 0.0, 0.0, 60.0, k)
    >>> round(T, 3), round(math.exp(-risk), 3)
    (0.811, 0.022)
    """
    total, n = 0.0, strides(t, k)
    if t > 0.0:
        c = propagator(t / n, k[0], k[1])
        for _ in range(n):
            A, P, T, risk = stride(A, P, T, i, t / n, c, k)
            total += risk
    return A, P, T, total


@kernel
def uniform(key: int, edge: int) -> float:
    """A number in [0, 1) for an edge, from a key drawn for the sleep (SplitMix64), independent
    of the other edges.  Cost: O(1).
    """
    x = np.uint64(key) + np.uint64(edge + 1) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((x ^ (x >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@kernel
def engulfed(risk: float, lot: float) -> bool:
    """Whether an edge with that integral of the hazard is removed: lot < 1 - exp(-risk), lot
    uniform.  Poisson thinning.  Cost: O(1).
    """
    # 1 - exp(-x) <= x avoids most exponentials
    return lot < risk and lot < 1.0 - math.exp(-risk)


# --- all associations -----------------------------------------------------------------------------
@kernel
def use(
    now: float,
    edges: Any,
    alive: Any,
    source: Any,
    target: Any,
    cd55: Any,
    k: Constants,
    A: Any,
    P: Any,
    T: Any,
    risk: Any,
    clock: Any,
) -> None:
    """Each edge in `edges` is used at `now`, once for each time that it is listed.  Cost: O(edges
    used).

    alive, source, target    (m,)     of the graph
    cd55                     (n,)  1  inhibitor of each memory; an edge has the larger one of its
                                      ends
    A, P, T, risk, clock     (m,)     as the columns; written
    """
    for e in edges:
        if alive[e]:
            if clock[e] < now:
                i = max(cd55[source[e]], cd55[target[e]])
                A[e], P[e], T[e], more = advance(A[e], P[e], T[e], i, now - clock[e], k)
                risk[e] += more
            A[e] += 1.0
            clock[e] = now


@kernel
def patrol(
    now: float,
    last: float,
    key: int,
    type: Any,
    alive: Any,
    source: Any,
    target: Any,
    cd55: Any,
    k: Constants,
    A: Any,
    P: Any,
    T: Any,
    risk: Any,
    clock: Any,
    pruned: Any,
) -> int:
    """Update every live association between memories to `now`; mark those engulfed since `last` and
    return their number.

    last, key   h, 1  end of the last sleep; key of `uniform`
    pruned      (m,)  h  written for those engulfed; others as for `use`; risk is reset to 0
    Cost: O(m), 1 exp at most per edge at risk.
    """
    n, gone = strides(now - last, k), 0
    step = (now - last) / n
    c = propagator(step, k[0], k[1])
    for e in range(type.shape[0]):
        if not alive[e] or type[e] != COACCESS or source[e] < 0 or target[e] < 0:
            continue
        i = max(cd55[source[e]], cd55[target[e]])
        a, p, t, total = A[e], P[e], T[e], risk[e]
        if clock[e] == last:
            for _ in range(n):
                a, p, t, more = stride(a, p, t, i, step, c, k)
                total += more
        elif clock[e] < now:
            a, p, t, more = advance(a, p, t, i, now - clock[e], k)
            total += more
        A[e], P[e], T[e], risk[e], clock[e] = a, p, t, 0.0, now
        if engulfed(total, uniform(key, e)):
            pruned[e] = now
            gone += 1
    return gone


@kernel
def shield(log_strength: Any, gain: float, out: Any) -> None:
    """i = 1 - exp(-gain ln w) for a memory of strength w > 1, else 0.  Ours; CD55 in the cells of
    an engram.  Cost: O(n).

    log_strength, out  (n,)  ln w; written
    """
    for row in range(out.shape[0]):
        out[row] = 1.0 - math.exp(-gain * log_strength[row]) if log_strength[row] > 0.0 else 0.0


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class MicroglialPruningParams(Params):
    tau_A: float
    K_A: float
    tau_P: float
    K_P: float
    k_on: float
    k_off: float
    k_ph: float
    K_T: float
    h: float
    q: float
    microglia: float  # M
    cd55: float  # gain from log strength to the inhibitor


class MicroglialPruning(Mechanism[MicroglialPruningParams]):
    """Tags idle associations, removes tagged ones after sleep."""

    owns = (SYNAPTIC_USE, SYNAPTIC_PROTECTOR, COMPLEMENT, ENGULFMENT_RISK, COMPLEMENT_CLOCK, PRUNED,
            CD55)  # fmt: skip

    @property
    def constants(self) -> Constants:
        """Constants of the kernels, in simulated hours."""
        p = self.params
        return (
            self.hours("tau_A"),
            self.hours("tau_P"),
            p.K_P,
            (self.hours("k_on"), self.hours("k_off"), p.K_A),
            (self.hours("k_ph"), p.K_T, p.h, p.q, p.microglia),
        )

    def used(self, view: Any, now: float) -> None:
        if view.coactivation.edge.size:
            g = view.graph
            use(
                now,
                view.coactivation.edge,
                g.alive,
                g.source,
                g.target,
                view.cd55,
                self.constants,
                view.synaptic_use,
                view.synaptic_protector,
                view.complement,
                view.engulfment_risk,
                view.complement_clock,
            )

    @hook(
        Phase.ENCODE,
        reads=(COACTIVATION, GRAPH, NOW, CD55),
        adds=(),
        sets=(SYNAPTIC_USE, SYNAPTIC_PROTECTOR, COMPLEMENT, ENGULFMENT_RISK, COMPLEMENT_CLOCK),
    )
    def encode(self, view: Any, incoming: Incoming) -> None:
        self.used(view, view.now)

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, COACTIVATION, GRAPH, NOW, CD55),
        adds=(),
        sets=(SYNAPTIC_USE, SYNAPTIC_PROTECTOR, COMPLEMENT, ENGULFMENT_RISK, COMPLEMENT_CLOCK),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        self.used(view, view.now)

    @hook(Phase.CONSOLIDATE, reads=(COACTIVATION, LOG_STRENGTH), adds=(GRAPH,),
          sets=(SYNAPTIC_USE, SYNAPTIC_PROTECTOR, COMPLEMENT, ENGULFMENT_RISK, COMPLEMENT_CLOCK,
                PRUNED, CD55, RANDOM))  # fmt: skip
    def prune(self, view: Any, tick: Tick) -> None:
        """Prune after a sleep; associations that were replayed in it and are not removed count
        as used at its end.
        """
        g, key = view.graph, int(view.random.integers(2**63))
        if patrol(
            tick.end,
            tick.start,
            key,
            g.type,
            g.alive,
            g.source,
            g.target,
            view.cd55,
            self.constants,
            view.synaptic_use,
            view.synaptic_protector,
            view.complement,
            view.engulfment_risk,
            view.complement_clock,
            view.pruned,
        ):
            for edge in np.flatnonzero(view.pruned == tick.end):
                g.remove(int(edge))
        self.used(view, tick.end)
        shield(view.log_strength, self.params.cd55, view.cd55)
