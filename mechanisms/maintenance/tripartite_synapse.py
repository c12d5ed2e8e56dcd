"""Tripartite synapse: computes the calcium of the astrocyte around a cluster of memories, and from
it their release probability.

Glutamate g from active synapses makes the astrocyte produce IP3 (I), which releases calcium (C)
from stores; calcium acts back on both: the G-ChI model of De Pitta et al. (2009), with h the share
of channels that calcium has not inactivated.  Below some drive nothing happens, above it C
oscillates.  Each time C crosses a threshold *upwards* the astrocyte releases transmitter from its
own limited store; this occupies receptors on the presynaptic ends (Gamma), which for minutes of
biological time moves their release probability from U0* towards alpha (De Pitta et al. 2011;
Stimberg et al. 2019).

A territory is the set of memories nearest to one of a few fixed random directions.  Each access of
a memory (encoding, recall, replay) is a dose of glutamate for its territory, cleared exponentially.
C, h and I are integrated in steps that start at the last access and depend on the state alone, not
on when it is read; the remainder until now is one shorter step that is not stored.  The released
transmitter has a closed form. Within AT_REST of the resting state no steps are taken, so idle
months cost nothing.

Cost: O(territories d + n) per event; O(n) per maintain; and some hundred microseconds for
each time that a territory is excited and returns to rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import copy, kernel, read_only
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import NOW, RECALLED, RELEASE_PROBABILITY, REPLAYS, ROW

# uM and 1: distance from the resting state below which a territory is at rest
AT_REST: Final = 1e-3
TOLERANCE: Final = 1e-5  # error of a step: uM in C and I, 1 in h
FIRST_STEP, LONGEST_STEP = 0.02, 2.0  # s
START = (0.09, 0.78, 0.22)  # C, h, I in uM, 1, uM: near rest

# --- columns --------------------------------------------------------------------------------------
TERRITORY = Column(
    "territory", np.int16, Scope.MEMORY, "1", -1, "astrocyte around the memory", low=-1
)
GLUTAMATE = Column(
    "glutamate",
    np.float64,
    Scope.GLOBAL,
    "uM",
    0.0,
    "g above its basal level in a territory at `astrocyte_clock`",
    ("territories",),
    low=0,
)
ASTROCYTE = Column(
    "astrocyte",
    np.float64,
    Scope.GLOBAL,
    "uM, 1, uM",
    0.0,
    "C, h, I of a territory at `astrocyte_clock`",
    ("territories", 3),
    low=0,
)
GLIOTRANSMISSION = Column(
    "gliotransmission",
    np.float64,
    Scope.GLOBAL,
    "1, uM, 1",
    0.0,
    "x_A, G_A, Gamma of a territory at `astrocyte_clock`",
    ("territories", 3),
    low=0,
)
ASTROCYTE_STEP = Column(
    "astrocyte_step",
    np.float64,
    Scope.GLOBAL,
    "s",
    FIRST_STEP,
    "next step to try in a territory",
    ("territories",),
    low=0,
)
ASTROCYTE_CLOCK = Column(
    "astrocyte_clock",
    np.float64,
    Scope.GLOBAL,
    "h",
    np.nan,
    "time up to which a territory is integrated; NaN: never active",
    ("territories",),
    upkeep=Upkeep(clock=True),
)

# Names of constants, in the order of the kernels' arguments.  Constants of the astrocyte `a`: the
# first three tuples, basal glutamate, tau_g; of its release `r`: C_Theta, the last two tuples.
CALCIUM_FLOW = ("rC", "rL", "vER", "K_ER", "C0", "c1", "d1", "d5")
INACTIVATION = ("d1", "d2", "d3", "a2")
IP3_FLOW = ("v_b", "v_d", "v_3K", "r_5P", "K_R", "K_p", "K_pi", "k_d", "K_PLCd", "K_D", "K_3")
EXOCYTOSIS = ("U_A", "G_T", "rho_e")
RECEPTION = ("Omega_A", "Omega_e", "O_G", "Omega_G")


# --- equations: calcium ---------------------------------------------------------------------------
@kernel
def calcium(
    C: float,
    h: float,
    I: float,
    rC: float,
    rL: float,
    vER: float,
    K_ER: float,
    C0: float,
    c1: float,
    d1: float,
    d5: float,
) -> float:
    """dC/dt = (rC m^3 n^3 h^3 + rL) (C0 - (1 + c1) C) - vER C^2 / (C^2 + K_ER^2), m = I / (I + d1),
    n = C / (C + d5), uM/s.

    De Pitta et al. (2009), after Li & Rinzel (1994): channel, leak and pump.  Cost: O(1).

    C, I                uM     calcium in the cell, IP3
    h                   1      share of channels that calcium has not inactivated
    rC, rL, vER         1/s, 1/s, uM/s  maximum flow through channels, leak, pump
    C0, c1              uM, 1  total calcium, ratio of the volumes of stores and cell
    K_ER, d1, d5        uM     affinities
    """
    mnh = I / (I + d1) * C / (C + d5) * h
    return (rC * mnh * mnh * mnh + rL) * (C0 - (1.0 + c1) * C) - vER * C * C / (C * C + K_ER * K_ER)


@kernel
def gating(C: float, h: float, I: float, d1: float, d2: float, d3: float, a2: float) -> float:
    """dh/dt = a2 (Q2 (1 - h) - C h), Q2 = d2 (I + d1) / (I + d3), 1/s.  De Pitta et al. (2009).
    a2 1/(uM s), d uM.  Cost: O(1).
    """
    return a2 * (d2 * (I + d1) / (I + d3) * (1.0 - h) - C * h)


@kernel
def phosphate(
    C: float,
    I: float,
    g: float,
    v_b: float,
    v_d: float,
    v_3K: float,
    r_5P: float,
    K_R: float,
    K_p: float,
    K_pi: float,
    k_d: float,
    K_PLCd: float,
    K_D: float,
    K_3: float,
) -> float:
    """dI/dt: made by PLC beta (driven by glutamate) and PLC delta, degraded by the 3-kinase and the
    5-phosphatase, uM/s.  De Pitta et al. (2009).

    v_b g^0.7 / (g^0.7 + Kg^0.7) + v_d / (1 + I/k_d) C^2 / (C^2 + K_PLCd^2) - v_3K C^4 / (C^4 +
    K_D^4) I / (I + K_3) - r_5P I, Kg = K_R (1 + K_p/K_R C / (C + K_pi)).  C, I, glutamate g and K,
    k uM; v uM/s; r_5P 1/s.  Cost: O(1).
    """
    Kg = K_R + K_p * C / (C + K_pi)
    C2, D4 = C * C, K_D * K_D * K_D * K_D
    by_beta = v_b / (1.0 + (Kg / g) ** 0.7) if g > 0.0 else 0.0
    by_delta = v_d / (1.0 + I / k_d) * C2 / (C2 + K_PLCd * K_PLCd)
    return by_beta + by_delta - v_3K * C2 * C2 / (C2 * C2 + D4) * I / (I + K_3) - r_5P * I


@kernel
def stride(
    C: float, h: float, I: float, g: float, t: float, a: Any
) -> tuple[float, float, float, float]:
    """C, h, I after t seconds in one step, and its error relative to the tolerance.  Cost: O(1).

    Exponential time differencing of third order (Cox & Matthews 2002) for C, which at rest is a
    hundred times faster than h and I; for these Kutta's third-order method, its limit without
    decay.  The error is that of the embedded midpoint rule.

    g  uM  glutamate above the basal level at the start; it decays with tau_g
    """
    half = math.exp(-0.5 * t / a[4])
    # rate of decay; any value gives third order
    rate = (calcium(1.001 * C, h, I, *a[0]) - calcium(0.999 * C, h, I, *a[0])) / (0.002 * C)
    z = rate * t
    if abs(z) < 0.05:
        z = rate = 0.0
        middle, full, w0, w1, w2 = 0.5, 1.0, 1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0
    else:
        e = math.exp(z)
        middle, full = (math.exp(0.5 * z) - 1.0) / z, (e - 1.0) / z
        w0, w1, w2 = (
            (-4.0 - z + e * (4.0 - 3.0 * z + z * z)) / z**3,
            4.0 * (2.0 + z + e * (z - 2.0)) / z**3,
            (-4.0 - 3.0 * z - z * z + e * (4.0 - z)) / z**3,
        )
    c0, h0, i0 = calcium(C, h, I, *a[0]), gating(C, h, I, *a[1]), phosphate(C, I, a[3] + g, *a[2])
    dC, y, x = t * middle * c0, h + 0.5 * t * h0, I + 0.5 * t * i0
    c1, h1, i1 = (
        calcium(C + dC, y, x, *a[0]) - rate * dC,
        gating(C + dC, y, x, *a[1]),
        phosphate(C + dC, x, a[3] + g * half, *a[2]),
    )
    dC, y, x = t * full * (2.0 * c1 - c0), h + t * (2.0 * h1 - h0), I + t * (2.0 * i1 - i0)
    if C + dC <= 0.0 or x <= 0.0:
        return C, h, I, 1e3
    c2, h2, i2 = (
        calcium(C + dC, y, x, *a[0]) - rate * dC,
        gating(C + dC, y, x, *a[1]),
        phosphate(C + dC, x, a[3] + g * half * half, *a[2]),
    )
    dC, dh, dI = (
        t * (w0 * c0 + w1 * c1 + w2 * c2),
        t * (h0 + 4.0 * h1 + h2) / 6.0,
        t * (i0 + 4.0 * i1 + i2) / 6.0,
    )
    error = max(abs(dC - t * full * c1), abs(dh - t * h1), abs(dI - t * i1)) / TOLERANCE
    return C + dC, h + dh, I + dI, error if min(C + dC, I + dI) > 0.0 else 1e3


@kernel
def resized(t: float, error: float) -> float:
    """The next step to try after one of t seconds with that error relative to the tolerance.
    Cost: O(1).
    """
    factor: float = 0.9 * max(error, 1e-9) ** (-1.0 / 3.0)
    return min(LONGEST_STEP, t * min(4.0, max(0.2, factor)))


@kernel
def integrate(
    C: float, h: float, I: float, g: float, t: float, a: Any
) -> tuple[float, float, float]:
    """C, h, I after t seconds, in as many steps as the tolerance requires.  Cost: O(t).

    At basal glutamate, in the amplitude-coding set of constants:

    >>> flow, gate, ip3 = (6, .11, .9, .1, 2, .185, .13, .08234), (.13, 1.049, .9434, .2), (.2, .02, 2, .04, 1.3, 10, .6, 1.5, .1, .7, 1)
    >>> a = flow, gate, ip3, .002, np.inf
    >>> [round(x, 3) for x in integrate(.09, .78, .22, 0.0, 1000.0, a)]
    [0.091, 0.779, 0.226]
    """
    step, done = FIRST_STEP, 0.0
    while done < t:
        dt = min(step, t - done)
        x, y, z, error = stride(C, h, I, g, dt, a)
        if error <= 1.0:
            C, h, I, g, done = x, y, z, g * math.exp(-dt / a[4]), done + dt
        step = resized(dt, error)
    return C, h, I


# --- equations: gliotransmission ------------------------------------------------------------------
@kernel
def release(x: float, G: float, U_A: float, G_T: float, rho_e: float) -> tuple[float, float]:
    """x_A and G_A after a release: x_A -= U_A x_A, G_A += rho_e G_T U_A x_A.  Stimberg et al.
    (2019), after De Pitta et al. (2011).  Cost: O(1).

    x, U_A  1   share of filled vesicles of the astrocyte, and the share of them released
    G, G_T  uM  transmitter in the space around the synapses, and in a vesicle
    rho_e   1   ratio of the volume of vesicles to that space
    """
    return x - U_A * x, G + rho_e * G_T * U_A * x


@kernel
def between_releases(
    x: float,
    G: float,
    gamma: float,
    t: float,
    Omega_A: float,
    Omega_e: float,
    O_G: float,
    Omega_G: float,
) -> tuple[float, float, float]:
    """x_A, G_A and Gamma after t seconds without release, exactly.  Stimberg et al. (2019), after
    De Pitta et al. (2011).  Cost: O(1).

    dx_A/dt = Omega_A (1 - x_A), dG_A/dt = -Omega_e G_A, dGamma/dt = O_G G_A (1 - Gamma) - Omega_G
    Gamma.  1 - Gamma obeys a linear equation whose rate decays, hence a series in b = O_G G_A /
    Omega_e.  Omega 1/s, O_G 1/(uM s).
    """
    cleared, freed, b = math.exp(-Omega_e * t), math.exp(-Omega_G * t), O_G * G / Omega_e
    total, term, power = (1.0 - freed) / Omega_G if Omega_G > 0.0 else t, 1.0, 1.0
    if b > 1e-15:
        for k in range(1, 60):
            term *= -b / k
            power *= cleared
            total += term * (power - freed) / (Omega_G - k * Omega_e)
            if abs(term) < 1e-17:
                break
    free = (
        math.exp(-b * (1.0 - cleared)) * (1.0 - gamma) * freed
        + math.exp(b * cleared) * Omega_G * total
    )
    return 1.0 - (1.0 - x) * math.exp(-Omega_A * t), G * cleared, min(1.0, max(0.0, 1.0 - free))


@kernel
def release_probability(gamma: float, U0: float, alpha: float) -> float:
    """U0 = (1 - Gamma) U0* + alpha Gamma: below U0* if alpha < U0*, above if alpha > U0*.  De Pitta
    et al. (2011).  Cost: O(1).

    >>> round(release_probability(0.5, 0.6, 0.0), 6), round(release_probability(0.5, 0.6, 1.0), 6)
    (0.3, 0.8)
    """
    return (1.0 - gamma) * U0 + alpha * gamma


@kernel
def crossing(C: float, slope: float, C1: float, slope1: float, t: float, theta: float) -> float:
    """Time at which C crosses theta upwards in a step of t seconds, or -1; cubic with the values
    and slopes (uM, uM/s) of both ends.  Cost: O(1).
    """
    if not C < theta <= C1:
        return -1.0
    low, high = 0.0, 1.0
    for _ in range(30):
        s = 0.5 * (low + high)
        u = 1.0 - s
        here = (
            u * u * (1.0 + 2.0 * s) * C
            + s * s * (3.0 - 2.0 * s) * C1
            + t * s * u * (u * slope - s * slope1)
        )
        if here < theta:
            low = s
        else:
            high = s
    return t * high


# --- territories ----------------------------------------------------------------------------------
@kernel
def nearest(vector: Any, territories: int, seed: int) -> int:
    """The territory whose direction, random but fixed by `seed`, is nearest to a vector (d,).
    Ours.  Cost: O(territories d).
    """
    best, territory, state = -np.inf, 0, np.uint64(seed)
    for j in range(territories):
        score = 0.0
        for i in range(vector.shape[0]):
            state += np.uint64(0x9E3779B97F4A7C15)
            x = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            score += vector[i] * (
                float((x ^ (x >> np.uint64(31))) >> np.uint64(11)) * 2.0**-52 - 1.0
            )
        if score > best:
            best, territory = score, j
    return territory


@kernel
def moved(
    t: float, j: int, state: Any, released: Any, glutamate: Any, a: Any, r: Any, out: Any
) -> float:
    """Write C, h, I, x_A, G_A, Gamma and g of territory j after one step of t seconds into `out`
    (7,); returns its error.  Cost: O(1).
    """
    C, h, I, g = state[j, 0], state[j, 1], state[j, 2], glutamate[j]
    x, G, gamma = released[j, 0], released[j, 1], released[j, 2]
    out[0], out[1], out[2], error = stride(C, h, I, g, t, a)
    at = -1.0
    if out[0] > C:
        at = crossing(
            C, calcium(C, h, I, *a[0]), out[0], calcium(out[0], out[1], out[2], *a[0]), t, r[0]
        )
    if at >= 0.0:
        x, G, gamma = between_releases(x, G, gamma, at, *r[2])
        x, G = release(x, G, *r[1])
    out[3], out[4], out[5] = between_releases(x, G, gamma, t - max(at, 0.0), *r[2])
    out[6] = g * math.exp(-t / a[4])
    return error


@kernel
def until(
    now: float,
    j: int,
    second: float,
    rest: Any,
    state: Any,
    released: Any,
    glutamate: Any,
    step: Any,
    clock: Any,
    a: Any,
    r: Any,
    out: Any,
) -> None:
    """Advance territory j by all whole steps that end by `now`; write its state at `now` into `out`
    (7,), as for `moved`.

    now, clock        h     clock (k,) written, as are state (k, 3), released (k, 3), glutamate (k,)
                            and step (k,)
    second            h     one second of the astrocyte's time
    rest              (3,)  C, h, I without activity
    Cost: O(time while excited).
    """
    while True:
        if np.isnan(clock[j]):
            clock[j], released[j, 0] = now, 1.0
            copy(rest, state[j])
        left = (now - clock[j]) / second
        away = max(
            abs(state[j, 0] - rest[0]),
            abs(state[j, 1] - rest[1]),
            abs(state[j, 2] - rest[2]),
            100.0 * glutamate[j],
        )
        if away < AT_REST:
            copy(rest, state[j])
            copy(rest, out[:3])
            glutamate[j] = out[6] = 0.0
            out[3], out[4], out[5] = between_releases(
                released[j, 0], released[j, 1], released[j, 2], left, *r[2]
            )
            return
        t = step[j]
        error = moved(t, j, state, released, glutamate, a, r, out)
        if error > 1.0:
            step[j] = resized(t, error)
        elif t <= left:
            copy(out[:3], state[j])
            copy(out[3:6], released[j])
            glutamate[j] = out[6]
            clock[j] += t * second
            step[j] = resized(t, error)
        else:
            moved(left, j, state, released, glutamate, a, r, out)
            return


@kernel
def active(
    now: float,
    doses: Any,
    dose: float,
    ceiling: float,
    second: float,
    rest: Any,
    state: Any,
    released: Any,
    glutamate: Any,
    step: Any,
    clock: Any,
    a: Any,
    r: Any,
) -> None:
    """Each territory j is accessed doses[j] times at `now`: g += dose (1 - g / ceiling) each
    time, uM.  Others as for `until`; O(territories).
    """
    out = np.empty(7)
    for j in range(doses.shape[0]):
        if doses[j] > 0:
            until(now, j, second, rest, state, released, glutamate, step, clock, a, r, out)
            copy(out[:3], state[j])
            copy(out[3:6], released[j])
            clock[j], step[j] = now, FIRST_STEP
            glutamate[j] = ceiling - (ceiling - out[6]) * (1.0 - dose / ceiling) ** doses[j]


@kernel
def advance(
    now: float,
    second: float,
    rest: Any,
    state: Any,
    released: Any,
    glutamate: Any,
    step: Any,
    clock: Any,
    a: Any,
    r: Any,
) -> None:
    """Advance every territory that was ever active, as `until` does.  Cost: O(territories), and
    that of `until`.
    """
    out = np.empty(7)
    for j in range(clock.shape[0]):
        if not np.isnan(clock[j]):
            until(now, j, second, rest, state, released, glutamate, step, clock, a, r, out)


@kernel
def gate(
    now: float,
    only: int,
    U0: float,
    alpha: float,
    territory: Any,
    probability: Any,
    second: float,
    rest: Any,
    state: Any,
    released: Any,
    glutamate: Any,
    step: Any,
    clock: Any,
    a: Any,
    r: Any,
) -> None:
    """Write U0 / U0* of the territory of every memory into `probability` (n,); 1 for a memory
    without territory.  Cost: O(n).

    only       territory to write, -1: all
    territory  (n,)  of each memory
    Others as for `until`.
    """
    out, factor = np.empty(7), np.ones(clock.shape[0])
    for j in range(clock.shape[0]):
        if (only < 0 or only == j) and not np.isnan(clock[j]):
            until(now, j, second, rest, state, released, glutamate, step, clock, a, r, out)
            factor[j] = release_probability(out[5], U0, alpha) / U0
    for row in range(territory.shape[0]):
        if only < 0 or territory[row] == only:
            probability[row] = factor[territory[row]] if territory[row] >= 0 else 1.0


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TripartiteSynapseParams(Params):
    rC: float
    rL: float
    vER: float
    K_ER: float
    C0: float
    c1: float
    d1: float
    d2: float
    d3: float
    d5: float
    a2: float
    v_b: float
    v_d: float
    v_3K: float
    r_5P: float
    K_R: float
    K_p: float
    K_pi: float
    k_d: float
    K_PLCd: float
    K_D: float
    K_3: float
    C_Theta: float
    U_A: float
    Omega_A: float
    G_T: float  # mM
    rho_e: float
    Omega_e: float
    O_G: float
    Omega_G: float  # 1/min
    U0: float
    alpha: float
    basal: float
    tau_g: float
    dose: float
    ceiling: float
    compression: float
    territories: int
    territory_seed: int


class TripartiteSynapse(Mechanism[TripartiteSynapseParams]):
    """Integrates the astrocytes, and scales the release probability of the memories around them."""

    owns = (TERRITORY, GLUTAMATE, ASTROCYTE, GLIOTRANSMISSION, ASTROCYTE_STEP, ASTROCYTE_CLOCK)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        p = self.params
        value = {
            name: float(getattr(p, name))
            for name in (*CALCIUM_FLOW, *INACTIVATION, *IP3_FLOW, *EXOCYTOSIS, *RECEPTION)
        }
        value |= {"Omega_G": p.Omega_G / 60.0, "G_T": 1000.0 * p.G_T}  # 1/s, uM
        flow, gates, ip3, exocytosis, reception = (
            tuple(value[name] for name in names)
            for names in (CALCIUM_FLOW, INACTIVATION, IP3_FLOW, EXOCYTOSIS, RECEPTION)
        )
        self.astrocyte, self.gliotransmission = (
            (flow, gates, ip3, p.basal, p.tau_g),
            (p.C_Theta, exocytosis, reception),
        )
        self.second = p.time_scale / 3600.0  # h

    @cached_property
    def rest(self) -> Any:
        """C, h, I without activity."""
        return np.array(integrate(*START, 0.0, 3000.0, self.astrocyte))

    def accessed(self, view: Any, now: float, doses: Any) -> None:
        p = self.params
        active(now, doses, p.dose, p.ceiling, *self.astrocytes(view))

    def gated(self, view: Any, now: float, astrocytes: tuple[Any, ...], only: int = -1) -> None:
        p = self.params
        territory = read_only(view.territory)  # in every hook, so that one form is compiled
        gate(now, only, p.U0, p.alpha, territory, view.release_probability, *astrocytes)

    def astrocytes(self, view: Any, copied: bool = False) -> tuple[Any, ...]:
        held = (
            view.astrocyte,
            view.gliotransmission,
            view.glutamate,
            view.astrocyte_step,
            view.astrocyte_clock,
        )
        return (
            self.second,
            self.rest,
            *(map(np.copy, held) if copied else held),
            self.astrocyte,
            self.gliotransmission,
        )

    @hook(Phase.ENCODE, reads=(ROW, NOW), adds=(), sets=(TERRITORY, GLUTAMATE, ASTROCYTE,
        GLIOTRANSMISSION, ASTROCYTE_STEP, ASTROCYTE_CLOCK,
                                                         RELEASE_PROBABILITY))  # fmt: skip
    def encode(self, view: Any, incoming: Incoming) -> None:
        territory = view.territory[view.row] = nearest(
            incoming.vector, self.params.territories, self.params.territory_seed
        )
        doses = np.zeros(self.params.territories)
        doses[territory] = 1.0
        self.accessed(view, view.now, doses)
        self.gated(view, view.now, self.astrocytes(view), territory)

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, NOW, TERRITORY),
        adds=(),
        sets=(GLUTAMATE, ASTROCYTE, GLIOTRANSMISSION, ASTROCYTE_STEP, ASTROCYTE_CLOCK),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        territories = view.territory[view.recalled]
        self.accessed(
            view,
            view.now,
            np.bincount(territories[territories >= 0], minlength=self.params.territories).astype(
                float
            ),
        )

    @hook(
        Phase.CONSOLIDATE,
        reads=(REPLAYS, TERRITORY),
        adds=(),
        sets=(GLUTAMATE, ASTROCYTE, GLIOTRANSMISSION, ASTROCYTE_STEP, ASTROCYTE_CLOCK),
    )
    def replay(self, view: Any, tick: Tick) -> None:
        """Replay is faster than the original by the factor `compression`: that many replays make
        one access, fewer make none.
        """
        p, replayed = self.params, np.flatnonzero((view.replays != 0) & (view.territory >= 0))
        if replayed.size:
            counts = np.bincount(
                view.territory[replayed], weights=view.replays[replayed], minlength=p.territories
            )
            self.accessed(view, tick.end, counts // p.compression)

    @hook(
        Phase.MAINTAIN,
        reads=(),
        adds=(),
        sets=(GLUTAMATE, ASTROCYTE, GLIOTRANSMISSION, ASTROCYTE_STEP, ASTROCYTE_CLOCK),
    )
    def maintain(self, view: Any, tick: Tick) -> None:
        """Advance the stored state to the last whole step of each territory, which its last
        access alone determines.
        """
        advance(tick.end, *self.astrocytes(view))

    @hook(
        Phase.MAINTAIN,
        reads=(TERRITORY, GLUTAMATE, ASTROCYTE, GLIOTRANSMISSION, ASTROCYTE_STEP, ASTROCYTE_CLOCK),
        adds=(),
        sets=(RELEASE_PROBABILITY,),
    )
    def modulate(self, view: Any, tick: Tick) -> None:
        """Write the factors at the end of the tick, in the step of each territory that is not
        yet whole.
        """
        self.gated(view, tick.end, self.astrocytes(view, copied=True))
