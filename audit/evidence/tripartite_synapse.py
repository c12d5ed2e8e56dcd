"""Evidence for tripartite_synapse, in the papers' seconds and micromoles per litre.  References:
the equations written out again and solved by scipy's LSODA; the same solver searches the specimen's
equations for oscillations.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import simpson, solve_ivp
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import brentq

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.vocabulary import RELEASE_PROBABILITY, REPLAYS
from ..checks import adaptation, at_least, at_most, between, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour, numbers_of
from ..paper_numbers import PaperNumber, paper_number
from .shared.once import computed_once
from .shared.scripts import drafting, refusing
from .shared.views import nothing

DEPITTA = "De Pitta et al. 2009 (G-ChI), constants of the reimplementation ModelDB 223269"
STIMBERG = "Stimberg et al. 2019, after De Pitta et al. 2011"
COMMON = {"rC": 6.0, "rL": 0.11, "vER": 0.9, "C0": 2.0, "c1": 0.185, "d1": 0.13, "d2": 1.049,
          "d3": 0.9434, "d5": 0.08234, "a2": 0.2, "v_3K": 2.0,
          "K_R": 1.3, "K_p": 10.0, "K_pi": 0.6, "k_d": 1.5, "K_PLCd": 0.1, "K_D": 0.7, "K_3": 1.0,
          **numbers_of("tripartite_synapse", "basal", "tau_g")}  # fmt: skip
AM = COMMON | {"K_ER": 0.1, "v_b": 0.2, "v_d": 0.02, "r_5P": 0.04}
FM = COMMON | {"K_ER": 0.05, "v_b": 0.5, "v_d": 0.05, "r_5P": 0.05}
GLIO = {"C_Theta": 0.5, "U_A": 0.6, "Omega_A": 0.6, "G_T": 200e3, "rho_e": 6.5e-4, "Omega_e": 60.0,
        "O_G": 1.5, "Omega_G": 0.5 / 60.0}  # fmt: skip
# U0*, effect of the transmitter: it facilitates
UNIT, ALPHA = 0.6, 1.0
START = (0.09, 0.78, 0.22)
States = NDArray[np.float64]

NOTEBOOK, EXAMPLE = (
    "as the reimplementation ModelDB 223269 has it",
    "authors' Brian 2 example, example_4_synrel.py",
)
# astrocyte[0], [1], [2]
HOLDS = (
    ("rC", "rL", "vER", "K_ER", "C0", "c1", "d1", "d5"),
    ("d1", "d2", "d3", "a2"),
    ("v_b", "v_d", "v_3K", "r_5P", "K_R", "K_p", "K_pi", "k_d", "K_PLCd", "K_D", "K_3"),
)
# gliotransmission[1], [2]
RELEASES = (("U_A", "G_T", "rho_e"), ("Omega_A", "Omega_e", "O_G", "Omega_G"))


def held(name: str, uM: int, s: int) -> Any:
    """What the plug-in's tuples hold under a name, in M and hours, from uM and seconds to these
    powers.
    """

    def value(plug_in: Any) -> float:
        tables = [
            *zip(HOLDS, plug_in.astrocyte[:3], strict=True),
            *zip(RELEASES, plug_in.gliotransmission[1:], strict=True),
        ]
        matching = {
            v for names, values in tables for n, v in zip(names, values, strict=True) if n == name
        }
        (here,) = matching or {plug_in.gliotransmission[0]}
        return float(here * 1e-6**uM * plug_in.second**s)

    return value


def numbers(
    paper: str, where: str, unit: str, uM: int, s: int, **values: float
) -> tuple[PaperNumber, ...]:
    return tuple(
        paper_number(name, value, unit, paper=paper, where=where, held=held(name, uM, s))
        for name, value in values.items()
    )


NUMBERS = (
    *numbers("depitta2009glutamate", NOTEBOOK, "1/s", 0, -1, **{name: FM[name] for name in ("rC",
    "rL", "r_5P")}),
    *numbers("depitta2009glutamate", NOTEBOOK, "uM/s", 1, -1, **{name: FM[name] for name in ("vER",
    "v_b", "v_d", "v_3K")}),
    *numbers("depitta2009glutamate", NOTEBOOK, "1/(uM s)", -1, -1, a2=FM["a2"]),
    *numbers("depitta2009glutamate", NOTEBOOK, "1", 0, 0, c1=FM["c1"]),
    *numbers("depitta2009glutamate", NOTEBOOK, "uM", 1, 0, **{name: FM[name] for name in (
        "K_ER", "C0", "d1", "d2", "d3", "d5", "K_R", "K_p", "K_pi", "k_d", "K_PLCd", "K_D",
        "K_3")}),
    *numbers("stimberg2019modeling", EXAMPLE, "uM", 1, 0, C_Theta=GLIO["C_Theta"]),
    *numbers("stimberg2019modeling", EXAMPLE, "1", 0, 0, U_A=GLIO["U_A"], rho_e=GLIO["rho_e"]),
    *numbers("stimberg2019modeling", EXAMPLE, "1/s", 0, -1, Omega_A=GLIO["Omega_A"],
             Omega_e=GLIO["Omega_e"]),
    *numbers("stimberg2019modeling", EXAMPLE, "mM", 1, 0, G_T=1e-3 * GLIO["G_T"]),
    *numbers("stimberg2019modeling", EXAMPLE, "1/(uM s)", -1, -1, O_G=GLIO["O_G"]),
    *numbers("stimberg2019modeling", EXAMPLE, "1/min", 0, -1, Omega_G=60.0 * GLIO["Omega_G"]),
    paper_number("U0", UNIT, "1", paper="stimberg2019modeling", where=f"{EXAMPLE}, U0*"),
    paper_number("alpha", ALPHA, "1", paper="depitta2011tale",
                 where="effect of gliotransmission: 1 facilitates, 0 depresses"),
)  # fmt: skip


# --- the references -------------------------------------------------------------------------------
def slopes(C: float, h: float, I: float, g: float, k: dict[str, float]) -> list[float]:
    """dC/dt, dh/dt, dI/dt as the paper writes them."""
    m, n, Q2 = I / (I + k["d1"]), C / (C + k["d5"]), k["d2"] * (I + k["d1"]) / (I + k["d3"])
    dC = (k["rC"] * m**3 * n**3 * h**3 + k["rL"]) * (k["C0"] - (1.0 + k["c1"]) * C) - k[
        "vER"
    ] * C**2 / (C**2 + k["K_ER"] ** 2)
    h_inf, tau_h = Q2 / (Q2 + C), 1.0 / (k["a2"] * (Q2 + C))
    Kg = k["K_R"] * (1.0 + k["K_p"] / k["K_R"] * C / (C + k["K_pi"]))
    dI = (
        k["v_b"] * g**0.7 / (g**0.7 + Kg**0.7)
        + k["v_d"] / (1.0 + I / k["k_d"]) * C**2 / (C**2 + k["K_PLCd"] ** 2)
        - k["v_3K"] * C**4 / (C**4 + k["K_D"] ** 4) * I / (I + k["K_3"])
        - k["r_5P"] * I
    )
    return [dC, (h_inf - h) / tau_h, dI]


def solved(y: Any, g: float, times: Any, k: dict[str, float]) -> States:
    """C, h, I at times (t, 3), glutamate g above basal at 0 and decaying."""

    def slope(t: float, y: Any) -> list[float]:
        return slopes(y[0], y[1], y[2], k["basal"] + g * math.exp(-t / k["tau_g"]), k)

    return np.asarray(
        solve_ivp(slope, (0.0, times[-1]), y, "LSODA", t_eval=times, rtol=1e-8, atol=1e-10).y.T
    )


def transmitted(x: float, G: float, gamma: float, t: float) -> States:
    """x_A, G_A, Gamma after t seconds without release."""

    def slope(_: float, y: Any) -> list[float]:
        return [
            GLIO["Omega_A"] * (1.0 - y[0]),
            -GLIO["Omega_e"] * y[1],
            GLIO["O_G"] * y[1] * (1.0 - y[2]) - GLIO["Omega_G"] * y[2],
        ]

    return np.asarray(
        solve_ivp(slope, (0.0, t), [x, G, gamma], "LSODA", rtol=1e-10, atol=1e-12).y[:, -1]
    )


# --- the specimen ---------------------------------------------------------------------------------
def constants(specimen: Any, k: dict[str, float]) -> Any:
    flow, gates, ip3 = (
        tuple(k[name] for name in names)
        for names in (specimen.CALCIUM_FLOW, specimen.INACTIVATION, specimen.IP3_FLOW)
    )
    return flow, gates, ip3, k["basal"], k["tau_g"]


def specimen_slopes(
    specimen: Any, C: float, h: float, I: float, g: float, k: dict[str, float]
) -> list[float]:
    return slopes_of(specimen, g, k)(C, h, I)


def slopes_of(specimen: Any, g: float, k: dict[str, float]) -> Callable[..., list[float]]:
    """The slopes over C, h and I."""
    flow, gates, ip3, _, _ = constants(specimen, k)
    calcium, gating, phosphate = specimen.calcium, specimen.gating, specimen.phosphate
    return lambda C, h, I: [
        calcium(C, h, I, *flow),
        gating(C, h, I, *gates),
        phosphate(C, I, g, *ip3),
    ]


def glio(specimen: Any) -> Any:
    exocytosis, reception = (
        tuple(GLIO[name] for name in names) for names in (specimen.EXOCYTOSIS, specimen.RECEPTION)
    )
    return GLIO["C_Theta"], exocytosis, reception


def course(
    specimen: Any,
    k: dict[str, float],
    *,
    g: float = 0.0,
    I: float | None = None,
    seconds: float = 400.0,
) -> tuple[NDArray[Any], States]:
    """C of the specimen's equations at constant glutamate, or at constant IP3 (Li & Rinzel's two
    equations), every 0.05 s after half of the time.

    No specimen: the equations as written out above.
    """

    def written_out(C: float, h: float, I: float) -> list[float]:
        return slopes(C, h, I, g, k)

    at_once = slopes_of(specimen, g, k) if specimen else written_out

    def slope(_: float, y: Any) -> list[float]:
        dC, dh, dI = at_once(y[0], y[1], y[2] if I is None else I)
        return [dC, dh, dI if I is None else 0.0]

    t = np.arange(0.5 * seconds, seconds, 0.05)
    return t, np.asarray(
        solve_ivp(slope, (0.0, seconds), START, "LSODA", t_eval=t, rtol=1e-7, atol=1e-9).y[0]
    )


@computed_once
def wave(specimen: Any, k: dict[str, float], **drive: Any) -> tuple[float, float, float]:
    """Peak to peak, period and peak of C."""
    t, C = course(specimen, k, **drive)
    middle = 0.5 * (C.max() + C.min())
    ups = np.flatnonzero((C[:-1] < middle) & (C[1:] >= middle))
    return (
        float(np.ptp(C)),
        float(np.diff(t[ups]).mean()) if len(ups) > 1 else math.nan,
        float(C.max()),
    )


class Territories:
    """A few territories of the specimen, in seconds."""

    def __init__(self, specimen: Any, k: dict[str, float] = FM, count: int = 1) -> None:
        self.specimen, self.a, self.r = specimen, constants(specimen, k), glio(specimen)
        self.rest = np.array(specimen.integrate(*START, 0.0, 2000.0, self.a))
        self.arrays = (
            np.zeros((count, 3)),
            np.zeros((count, 3)),
            np.zeros(count),
            np.full(count, 0.02),
            np.full(count, np.nan),
        )

    def access(self, now: float, doses: Any, dose: float = 0.15) -> None:
        self.specimen.active(
            now,
            np.asarray(doses, dtype=float),
            dose,
            20.0,
            1.0,
            self.rest,
            *self.arrays,
            self.a,
            self.r,
        )

    def at(self, now: float, j: int = 0) -> States:
        """C, h, I, x_A, G_A, Gamma, g."""
        out = np.empty(7)
        self.specimen.until(now, j, 1.0, self.rest, *self.arrays, self.a, self.r, out)
        return out


# --- the equations --------------------------------------------------------------------------------
def compared(specimen: Any, which: int) -> tuple[list[float], list[float]]:
    """One of the three slopes at some points, of the specimen and as written out."""
    points = (
        np.random.default_rng(12)
        .uniform((0.01, 0.05, 0.02, 0.001), (1.5, 0.95, 1.5, 20.0), (12, 4))
        .tolist()
    )
    both = [
        (specimen_slopes(specimen, C, h, I, g, k)[which], slopes(C, h, I, g, k)[which])
        for k in (AM, FM)
        for C, h, I, g in points
    ]
    return [m for m, _ in both], [e for _, e in both]


@equation(
    "CM-12.0a",
    source=f"{DEPITTA}: channel with m^3 n^3 h^3, leak and pump",
    rtol=1e-12,
    papers=("depitta2009glutamate",),
)
def calcium_flows_through_channel_leak_and_pump(specimen: Any) -> Any:
    return compared(specimen, 0)


@equation(
    "CM-12.0b",
    source=f"{DEPITTA}: (h_inf - h) / tau_h with h_inf = Q2 / (Q2 + C), tau_h = 1 / (a2 (Q2 + C))",
    rtol=1e-12,
    papers=("depitta2009glutamate",),
)
def channels_inactivate_towards_their_steady_state(specimen: Any) -> Any:
    return compared(specimen, 1)


@equation(
    "CM-12.0c",
    source=f"{DEPITTA}: PLC beta and delta, 3-kinase, 5-phosphatase",
    rtol=1e-12,
    papers=("depitta2009glutamate",),
)
def ip3_is_produced_and_degraded(specimen: Any) -> Any:
    return compared(specimen, 2)


@equation(
    "CM-12.1",
    source=f"{DEPITTA}: rest at 0.002 uM glutamate, amplitude coding; LSODA",
    atol=1e-3,
    papers=("depitta2009glutamate",),
)
def at_basal_glutamate_nothing_oscillates(specimen: Any) -> Any:
    ends = [specimen.integrate(*START, 0.0, t, constants(specimen, AM)) for t in (1000.0, 1015.0)]
    return ends, [[0.0906, 0.7790, 0.2260]] * 2


@equation(
    "CM-12.1b",
    source="solve_ivp (LSODA) of the whole system under decaying glutamate",
    atol=1e-3,
    figure="calcium",
    papers=("depitta2009glutamate",),
)
def steps_follow_the_differential_equations(specimen: Any) -> Any:
    measured, expected = [], []
    for k, g in ((AM, 4.0), (FM, 0.15), (FM, 2.0)):
        times = np.array([0.0, 0.3, 2.0, 5.0, 9.0, 20.0, 60.0])
        measured += [specimen.integrate(*START, g, t, constants(specimen, k)) for t in times]
        expected += solved(START, g, times, k).tolist()
    return measured, expected


@limit(
    "CM-12.2",
    source="at C = C0 / (1 + c1) = 1.6878 the store is empty",
    papers=("depitta2009glutamate",),
)
def calcium_stays_within_its_bounds(specimen: Any) -> Any:
    rng, C, h = np.random.default_rng(2), [], []
    for k in (AM, FM):
        for g in (0.0, 1.0, 50.0):
            y = tuple(rng.uniform((0.001, 0.0, 0.0), (1.68, 1.0, 3.0)).tolist())
            for _ in range(20):
                y = specimen.integrate(*y, g, 2.0, constants(specimen, k | {"tau_g": math.inf}))
                C.append(y[0])
                h.append(y[1])
    return bool(between(C, 1e-12, 2.0 / 1.185).passed and between(h, 0.0, 1.0).passed)


@equation(
    "CM-12.6",
    source="De Pitta et al. 2011: (1 - Gamma) U0* + alpha Gamma, by hand",
    papers=("depitta2011tale",),
)
def occupied_receptors_move_release_probability_towards_alpha(specimen: Any) -> Any:
    cases = ((0.0, 0.6, 0.0), (0.5, 0.6, 0.0), (0.5, 0.6, 1.0), (1.0, 0.6, 0.25), (0.25, 0.4, 1.0))
    return [specimen.release_probability(*c) for c in cases], [0.6, 0.3, 0.8, 0.25, 0.55]


@signature(
    "CM-12.6b",
    source="mean field: facilitating iff U0 < Omega_d / (Omega_d + Omega_f) = 2 / 5.33",
    atol=1e-3,
    papers=("depitta2011tale",),
)
def a_depressing_synapse_turns_facilitating_at_gamma_of_three_eighths(specimen: Any) -> Any:
    gamma = np.linspace(0.0, 1.0, 10001)
    U0 = np.array([specimen.release_probability(x, 0.6, 0.0) for x in gamma])
    return float(gamma[np.argmax(U0 < 2.0 / 5.33)]), 0.3746


@equation(
    "CM-12.7",
    source=f"{STIMBERG}: rho_e G_T U_A = 78 uM, x_A = 1 - U_A; two releases",
    papers=("stimberg2019modeling", "depitta2011tale"),
)
def a_release_uses_six_tenths_of_the_store(specimen: Any) -> Any:
    first = specimen.release(1.0, 0.0, *glio(specimen)[1])
    return [first, specimen.release(*first, *glio(specimen)[1])], [(0.4, 78.0), (0.16, 78.0 * 1.4)]


@limit(
    "CM-12.7b",
    source="1 / Omega_A = 1.667 s: 1 - x_A falls by e",
    rtol=1e-3,
    papers=("depitta2011tale",),
)
def the_store_refills(specimen: Any) -> Any:
    return (
        1.0 - specimen.between_releases(0.4, 0.0, 0.0, 1.667, *glio(specimen)[2])[0]
    ) / 0.6, math.exp(-1.0)


@equation(
    "CM-12.8",
    source=f"solve_ivp (LSODA) of x_A, G_A and Gamma; {STIMBERG}",
    atol=1e-7,
    papers=("stimberg2019modeling", "depitta2011tale"),
)
def the_closed_form_is_the_solution_between_releases(specimen: Any) -> Any:
    starts = ((0.4, 78.0, 0.0), (0.16, 109.0, 0.7), (1.0, 0.0, 0.9), (0.7, 480.0, 0.1))
    cases = [(*start, t) for start in starts for t in (1e-3, 0.02, 0.4, 30.0, 600.0)]
    return [specimen.between_releases(*c, *glio(specimen)[2]) for c in cases], [
        transmitted(*c) for c in cases
    ]


@signature(
    "CM-12.8b",
    source=f"{STIMBERG}: 1 / Omega_G = 120 s against 1 / Omega_e = 1/60 s",
    rtol=1e-3,
    figure="release",
    papers=("stimberg2019modeling", "depitta2011tale"),
)
def receptors_stay_occupied_seven_thousand_times_longer_than_transmitter_lasts(
    specimen: Any,
) -> Any:
    G = specimen.between_releases(1.0, 78.0, 0.0, 1.0 / 60.0, *glio(specimen)[2])[1] / 78.0
    gamma = specimen.between_releases(1.0, 0.0, 0.8, 7200.0 / 60.0, *glio(specimen)[2])[2] / 0.8
    return [G, gamma], [math.exp(-1.0)] * 2


# --- oscillations ---------------------------------------------------------------------------------
@signature(
    "CM-12.3",
    source=f"{DEPITTA}: amplitude coding, constant IP3; recomputed from its equations",
    rtol=0.03,
    figure="amplitude",
    papers=("depitta2009glutamate",),
)
def calcium_codes_by_amplitude(specimen: Any) -> Any:
    waves = [wave(specimen, AM, I=I) for I in (0.40, 0.45, 0.50, 0.55, 0.60)]
    return [*(w[0] for w in waves), waves[0][1]], [0.208, 0.289, 0.337, 0.364, 0.364, 12.8]


@signature(
    "CM-12.3c",
    source="the same equations as written out above, 10.96 s at 0.60 uM",
    rtol=1e-3,
    figure="frequency",
    papers=("depitta2009glutamate",),
)
def the_period_shortens_with_ip3(specimen: Any) -> Any:
    return [wave(specimen, AM, I=I)[1] for I in (0.40, 0.50, 0.60)], [
        wave(None, AM, I=I)[1] for I in (0.40, 0.50, 0.60)
    ]


@signature(
    "CM-12.3d",
    source=f"{DEPITTA}: largest over smallest amplitude from 0.40 to 0.60 uM IP3",
    figure="amplitude",
    papers=("depitta2009glutamate",),
)
def amplitude_nearly_doubles(specimen: Any) -> Any:
    return at_least(wave(specimen, AM, I=0.60)[0] / wave(specimen, AM, I=0.40)[0], 1.7)


@signature(
    "CM-12.3b",
    source=f"{DEPITTA}: amplitude coding, outside of 0.40 to 0.60 uM IP3",
    figure="amplitude",
    papers=("depitta2009glutamate",),
)
def too_little_or_too_much_ip3_gives_no_oscillation(specimen: Any) -> Any:
    return at_most(
        [np.ptp(course(specimen, AM, I=I, seconds=1200.0)[1]) for I in (0.35, 0.70)], 1e-3
    )


@signature(
    "CM-12.4",
    source=f"{DEPITTA}: frequency coding, constant IP3; recomputed from its equations",
    rtol=0.03,
    figure="frequency",
    papers=("depitta2009glutamate",),
)
def calcium_codes_by_frequency(specimen: Any) -> Any:
    waves = [wave(specimen, FM, I=I) for I in (0.55, 0.70, 0.90, 1.10)]
    height = [w[0] for w in waves]
    return [min(height), max(height), waves[0][1], waves[-1][1]], [0.990, 1.065, 35.8, 17.3]


@signature(
    "CM-12.5",
    source=f"{DEPITTA}: the whole model at constant glutamate; recomputed from its equations",
    rtol=0.03,
    figure="calcium",
    papers=("depitta2009glutamate",),
)
def glutamate_sets_the_period(specimen: Any) -> Any:
    weak, strong = wave(specimen, AM, g=0.1), wave(specimen, AM, g=2.5)
    slow, fast = wave(specimen, FM, g=0.1), wave(specimen, FM, g=2.5)
    return [weak[1], strong[1], strong[2], slow[1], fast[1], fast[2]], [
        10.7,
        8.11,
        0.569,
        19.5,
        12.0,
        1.115,
    ]


@signature(
    "CM-12.5b",
    source=f"{DEPITTA}: from 5 uM on steady in amplitude coding; still oscillating at 20 uM in frequency coding",
    papers=("depitta2009glutamate",),
)
def strong_glutamate_ends_oscillations_in_one_set_of_constants_only(specimen: Any) -> Any:
    steady = [course(specimen, AM, g=g, seconds=800.0)[1] for g in (5.0, 20.0)]
    return bool(
        max(np.ptp(C) for C in steady) < 0.01
        and between([C.mean() for C in steady], 0.38, 0.44).passed
        and at_least(wave(specimen, FM, g=20.0)[0], 0.5).passed
    )


# --- release --------------------------------------------------------------------------------------
@functools.cache
def reference_of_releases(
    g: float, dose_at: float, second: float, end: float
) -> tuple[int, tuple[float, ...]]:
    """Number of releases, one for each upward crossing of 0.5 uM by the solved C, and x_A, G_A,
    Gamma at the end.
    """
    y, start, released = (
        solved(START, 0.0, np.linspace(0.0, 2000.0, 9), FM)[-1],
        0.0,
        [1.0, 0.0, 0.0],
    )
    count, clock, gs = 0, dose_at, 0.0
    for stop, more in ((second, g), (end, g)):
        gs = gs * math.exp(-(dose_at - start) / 5.0) + more * (
            1.0 - gs * math.exp(-(dose_at - start) / 5.0) / 20.0
        )
        start = dose_at
        times = np.arange(0.0, stop - start + 1e-9, 0.005)
        states = solved(y, gs, times, FM)
        for i in np.flatnonzero((states[:-1, 0] < 0.5) & (states[1:, 0] >= 0.5)):
            at = start + times[i] + 0.005 * (0.5 - states[i, 0]) / (states[i + 1, 0] - states[i, 0])
            x, G, gamma = transmitted(released[0], released[1], released[2], at - clock)
            released, clock, count = [0.4 * x, G + 78.0 * x, gamma], at, count + 1
        y, dose_at = states[-1], stop
    return count, tuple(transmitted(released[0], released[1], released[2], end - clock).tolist())


@equation(
    "CM-12.9",
    source="LSODA: course of C, one release for each upward crossing of 0.5 uM, x_A, G_A and Gamma",
    atol=2e-3,
    figure="release",
    papers=("depitta2009glutamate", "depitta2011tale"),
)
def each_upward_crossing_releases_once(specimen: Any) -> Any:
    measured, expected = [], []
    for g, end in ((2.0, 14.0), (2.0, 75.0), (0.1, 60.0)):
        cell = Territories(specimen)
        cell.access(0.0, [1.0], g)
        cell.access(4.0, [1.0], g)
        measured.append(cell.at(end)[3:6])
        expected.append(reference_of_releases(g, 0.0, 4.0, end)[1])
    return measured, expected


@limit(
    "CM-12.9b",
    source="no crossing while C is above the threshold, falls through it, or starts at it",
    atol=0.0,
)
def staying_above_the_threshold_releases_nothing(specimen: Any) -> Any:
    cases = (0.6, 0.1, 0.7, 0.1), (0.6, -2.0, 0.4, -2.0), (0.3, 1.0, 0.4, 1.0), (0.5, 1.0, 0.6, 1.0)
    return [specimen.crossing(*c, 0.1, 0.5) for c in cases], [-1.0] * 4


@equation(
    "CM-12.9c",
    source="root of a parabola, which the cubic through values and slopes reproduces exactly",
    atol=1e-8,
)
def the_crossing_is_the_time_at_which_calcium_reaches_the_threshold(specimen: Any) -> Any:
    inside, at_end = (
        specimen.crossing(0.4, 1.0, 0.4 + 0.2 + 0.12, 1.0 + 1.2, 0.2, 0.5),
        specimen.crossing(0.4, 1.0, 0.5, 1.0, 0.1, 0.5),
    )
    return [inside, at_end], [(math.sqrt(1.0 + 4.0 * 3.0 * 0.1) - 1.0) / 6.0, 0.1]


# --- steps ----------------------------------------------------------------------------------------
# C, h and I do not change
STILL = dict.fromkeys(("rC", "rL", "vER", "v_b", "v_d", "v_3K", "r_5P"), 0.0) | {"a2": 1e-300}
# uM or 1, unit of the error of a step
ERROR = 1e-5


def taylor(z: float) -> float:
    return 1.0 - z + z * z / 2.0 - z**3 / 6.0


@adaptation(
    "CM-12.16",
    source="one equation at a time: e^-z of linear calcium (Cox & Matthews 2002), Taylor's third order below z = .05, for h, I "
    "(Kutta), Simpson's rule for glutamate; the error is the distance to the midpoint rule",
    papers=("cox2002exponential",),
    atol=1e-9,
)
def a_step_is_exact_for_linear_equations(specimen: Any) -> Any:
    def step(t: float, C: float = 0.3, g: float = 0.0, **flows: float) -> list[float]:
        *state, error = specimen.stride(
            C, 0.5, 0.4, g, t, constants(specimen, FM | STILL | {"d1": 0.4, "d3": 0.4} | flows)
        )
        return [*state, ERROR * error]

    measured, expected, empty = (
        list[list[float]](),
        list[list[float]](),
        FM["C0"] / (1.0 + FM["c1"]),
    )
    for z in (0.04, 0.06, 0.8, 4.0):
        measured.append(step(z / 2.0 / (1.0 + FM["c1"]), rL=2.0))
        expected.append(
            [
                empty + (0.3 - empty) * (math.exp(-z) if z > 0.05 else taylor(z)),
                0.5,
                0.4,
                (empty - 0.3) * z**3 / 6.0 * (z < 0.05),
            ]
        )
    for a2, r_5P, t in ((0.2, 0.0, 1.5), (0.01, 0.3, 1.2)):
        rate, steady = a2 * (FM["d2"] + 0.3), FM["d2"] / (FM["d2"] + 0.3)
        measured.append(step(t, a2=a2, r_5P=r_5P))
        expected.append(
            [
                0.3,
                steady + (0.5 - steady) * taylor(rate * t),
                0.4 * taylor(r_5P * t),
                max(abs(0.5 - steady) * (rate * t) ** 3, 0.4 * (r_5P * t) ** 3) / 6.0,
            ]
        )
    for g, t in ((3.0, 4.0), (0.4, 2.0)):
        k = FM | STILL | {"v_b": 0.5}
        rates = [
            slopes(0.3, 0.5, 0.4, k["basal"] + g * math.exp(-s / k["tau_g"]), k)[2]
            for s in (0.0, t / 2, t)
        ]
        gained = float(simpson(rates, x=[0.0, t / 2, t]))
        measured.append(step(t, g=g, v_b=0.5))
        expected.append([0.3, 0.5, 0.4 + gained, abs(gained - t * rates[1])])
    return measured, expected


@limit(
    "CM-12.22",
    source="concentrations are above 0: such a step has the error 1000 and is taken again in smaller ones",
    atol=0.0,
)
def a_step_to_a_negative_concentration_is_refused(specimen: Any) -> Any:
    half_way = specimen.stride(
        0.05, 0.5, 0.4, 0.0, 0.05, constants(specimen, FM | STILL | {"vER": 5.0, "K_ER": 0.01})
    )
    at_end = specimen.stride(
        0.3,
        0.5,
        0.4,
        0.0,
        10.0,
        constants(specimen, FM | STILL | {"r_5P": 0.3, "d1": 0.4, "d3": 0.4}),
    )
    return [*half_way, at_end[3], at_end[2] < 0.0], [0.05, 0.5, 0.4, 1e3, 1e3, True]


@adaptation(
    "CM-12.17",
    source="third order: half the step has a sixteenth of the local error, in C, h and I; DOP853",
)
def a_step_is_of_third_order(specimen: Any) -> Any:
    def errors(t: float, y: tuple[float, float, float], g: float, k: dict[str, float]) -> States:
        def slope(s: float, y: Any) -> list[float]:
            return slopes(y[0], y[1], y[2], k["basal"] + g * math.exp(-s / k["tau_g"]), k)

        exact = solve_ivp(slope, (0.0, t), y, "DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
        return np.asarray(
            np.abs(np.subtract(specimen.stride(*y, g, t, constants(specimen, k))[:3], exact))
        )

    fast, slow = AM | {"a2": 2.0, "r_5P": 4.0, "v_b": 3.0}, FM | {"a2": 1.0, "r_5P": 2.0}
    # z -.02, -.4, .2
    cases = (
        (0.04, (0.3, 0.4, 0.5), 2.0, fast),
        (0.08, (0.1, 0.3, 0.2), 8.0, fast),
        (0.08, (0.15, 0.8, 0.3), 2.0, slow),
    )
    return between(
        [errors(t, y, g, k) / errors(0.5 * t, y, g, k) for t, y, g, k in cases], 14.5, 17.5
    )


@adaptation(
    "CM-12.18",
    source="third order with an error of the second: .9 / cbrt(error) times the step, from a fifth to four times it, at most "
    "2 s; by hand",
    rtol=1e-12,
)
def the_next_step_follows_from_the_error(specimen: Any) -> Any:
    cases = ((1.0, 1.0, 0.9), (0.5, 8.0, 0.225), (0.1, 0.027, 0.3), (0.1, 0.008, 0.4), (0.1, 1e3,
        0.02), (0.1, 1e-7, 0.4), (0.1, 0.0, 0.4),
             (1.2, 0.027, 2.0), (0.2, 216.0, 0.04), (0.2, 64.0, 0.045))  # fmt: skip
    return [specimen.resized(t, error) for t, error, _ in cases], [after for *_, after in cases]


@adaptation(
    "CM-12.19",
    source="scipy's cubic Hermite spline and Brent's method for the crossing in a step, LSODA for x_A, G_A and Gamma",
    atol=1e-7,
    papers=("depitta2011tale", "stimberg2019modeling"),
)
def a_step_releases_at_the_crossing(specimen: Any) -> Any:
    measured, expected = list[float](), list[float]()
    for y, g, t, rC, crosses in (
        ((0.47, 0.75, 0.6), 3.0, 0.15, 6.0, True),
        ((0.44, 0.75, 0.8), 1.0, 0.2, 6.0, True),
        ((0.62, 0.3, 0.5), 1.0, 0.2, 6.0, False),
        ((0.48, 0.45, 1.4), 1.0, 0.1, 20.0, True),
    ):
        k, now, out = FM | {"rC": rC}, (0.8, 20.0, 0.1), np.empty(7)
        specimen.moved(
            t,
            1,
            np.array([[9.0] * 3, y]),
            np.array([[9.0] * 3, now]),
            np.array([9.0, g]),
            constants(specimen, k),
            glio(specimen),
            out,
        )
        at = 0.0
        if crosses:
            spline = CubicHermiteSpline(
                [0.0, t],
                [y[0], out[0]],
                [slopes(y[0], y[1], y[2], 1.0, k)[0], slopes(out[0], out[1], out[2], 1.0, k)[0]],
            )
            at = brentq(lambda s, C=spline: float(C(s)) - GLIO["C_Theta"], 0.0, t, xtol=1e-14)
            x, G, gamma = transmitted(*now, at)
            now = x - GLIO["U_A"] * x, G + GLIO["rho_e"] * GLIO["G_T"] * GLIO["U_A"] * x, gamma
        measured += out[3:].tolist()
        expected += [*transmitted(*now, t - at), g * math.exp(-t / FM["tau_g"])]
    return measured, expected


@adaptation(
    "CM-12.20",
    source="LSODA for Gamma of two territories, one after the other and all at once; one without an access has U0*",
    atol=2e-3,
    papers=("depitta2009glutamate", "depitta2011tale"),
)
def factors_are_written_for_one_territory_or_for_all(specimen: Any) -> Any:
    cells, gamma = (
        Territories(specimen, count=3),
        [reference_of_releases(g, 0.0, 4.0, 30.0)[1][2] for g in (2.0, 0.2)],
    )
    for time in (0.0, 4.0):
        cells.access(time, [1.0, 0.0, 0.0], 2.0)
        cells.access(time, [0.0, 0.0, 1.0], 0.2)
    factor = [
        (0.4 * (1.0 - gamma[0]) + 0.7 * gamma[0]) / 0.4,
        1.0,
        (0.4 * (1.0 - gamma[1]) + 0.7 * gamma[1]) / 0.4,
    ]
    territory, measured = np.array([2, 0, 1, 2, 0], np.int16), []
    for only in (2, 0, -1):
        probability = np.full(5, 9.0)
        specimen.gate(
            30.0,
            only,
            0.4,
            0.7,
            territory,
            probability,
            1.0,
            cells.rest,
            *cells.arrays,
            cells.a,
            cells.r,
        )
        measured.append(probability)
    return measured, [
        [factor[j] if only in (-1, j) else 9.0 for j in territory] for only in (2, 0, -1)
    ]


# --- the adaptation -------------------------------------------------------------------------------
@adaptation("CM-12.10", source="steps follow from the state at the last access", atol=0.0)
def the_number_of_updates_does_not_change_the_result(specimen: Any) -> Any:
    often, once = Territories(specimen), Territories(specimen)
    for start, end in ((0.0, 7.0), (7.0, 90.0)):
        often.access(start, [2.0], 0.5)
        once.access(start, [2.0], 0.5)
        for t in np.arange(start, end, 0.83):
            often.at(t)
    return often.at(90.0), once.at(90.0)


@adaptation(
    "CM-12.11",
    source="ours: one access in a session is below the threshold, two are above it",
    figure="release",
)
def one_access_releases_nothing_and_two_in_a_row_do(specimen: Any) -> Any:
    gamma = []
    for n in (1, 2):
        cell = Territories(specimen)
        for i in range(n):
            cell.access(2.0 * i, [1.0])
        gamma.append(cell.at(40.0)[5])
    return bool(gamma[0] == 0.0 and gamma[1] > 0.4)


@adaptation("CM-12.12", source="within 0.001 uM of rest", atol=1e-3)
def after_an_idle_year_all_is_at_rest(specimen: Any) -> Any:
    cell = Territories(specimen)
    cell.access(0.0, [3.0], 1.0)
    cell.at(365.0 * 86400.0)
    rest = solved(START, 0.0, np.linspace(0.0, 2000.0, 9), FM)[-1]
    return [*cell.at(2.0 * 365.0 * 86400.0), cell.arrays[4][0] < 400.0], [
        *rest,
        1.0,
        0.0,
        0.0,
        0.0,
        True,
    ]


@adaptation(
    "CM-12.23",
    source="within 0.001 of rest and 1e-5 uM of glutamate no steps are taken; LSODA for x_A, G_A and Gamma",
    atol=1e-7,
    papers=("stimberg2019modeling", "depitta2011tale"),
)
def a_territory_at_rest_takes_no_steps(specimen: Any) -> Any:
    measured, expected = list[float](), list[float]()
    for *offset, g, still in (
        (0.0, 0.0, 0.0, 0.0, True),
        (9e-4, -9e-4, 9e-4, 0.9e-5, True),
        (1.1e-3, 0.0, 0.0, 0.0, False),
        (0.0, 1.1e-3, 0.0, 0.0, False),
        (0.0, 0.0, -1.1e-3, 0.0, False),
        (0.0, 0.0, 0.0, 1.1e-5, False),
    ):
        cells, released = Territories(specimen, count=2), (0.3, 50.0, 0.4)
        state, held_back, glutamate, _, clock = cells.arrays
        state[:], held_back[:], glutamate[:], clock[:] = 9.0, 9.0, (9.0, g), (90.0, 100.0)
        state[1], held_back[1] = cells.rest + offset, released
        out = cells.at(100.05, 1)
        measured += [
            float(clock[1] == 100.0),
            *out[3:6],
            *state[0],
            glutamate[0],
            *([*out[:3], out[6], *state[1], glutamate[1]] if still else []),
        ]
        expected += [
            float(still),
            *transmitted(*released, 0.05),
            *[9.0] * 4,
            *([*cells.rest, 0.0] * 2 if still else []),
        ]
    return measured, expected


@adaptation(
    "CM-12.13",
    source="territories are independent; simultaneous doses saturate like successive ones",
    atol=1e-12,
)
def a_dose_stays_in_its_territory(specimen: Any) -> Any:
    cells = Territories(specimen, count=3)
    cells.access(0.0, [2.0, 0.0, 1.0], 4.0)
    cells.access(0.0, [0.0, 0.0, 1.0], 4.0)
    glutamate, untouched = cells.arrays[2].copy(), np.isnan(cells.arrays[4][1])
    # its next step is the first one again, 0.02 s
    cells.access(5.0, [1.0, 0.0, 0.0], 1.0)
    return [*glutamate, untouched, cells.arrays[3][0]], [7.2, 0.0, 7.2, True, 0.02]


# --- in a memory ----------------------------------------------------------------------------------
KAPPA, HOUR, BASAL, TAU_G, DOSE, CEILING, COMPRESSION = 60.0, 3600.0, 0.003, 4.0, 0.4, 6.0, 4.0
OWN = FM | {"basal": BASAL, "tau_g": TAU_G}
VECTORS = np.random.default_rng(3).normal(0.0, 1.0, (6, 4))


def directions(count: int, seed: int, dimensions: int) -> NDArray[np.float64]:
    """(count, dimensions) numbers of SplitMix64 in [-1, 1), in Python's integers."""
    drawn, state, all_ones = [], seed, 2**64 - 1
    for _ in range(count * dimensions):
        state = (state + 0x9E3779B97F4A7C15) & all_ones
        x = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & all_ones
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & all_ones
        drawn.append(((x ^ (x >> 31)) >> 11) / 2**52 - 1.0)
    return np.array(drawn).reshape(count, dimensions)


@adaptation(
    "CM-12.21",
    source="argmax over SplitMix64 directions in Python's integers; also for vectors between two directions, by 1e-13",
    atol=0.0,
)
def the_territory_is_that_of_the_nearest_direction(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(14), [], []
    for seed in range(3, 43):
        (first, second), vector = directions(2, seed, 4), rng.normal(size=4)
        apart = first - second
        between_both = vector - vector @ apart / (apart @ apart) * apart
        measured += [specimen.nearest(between_both + by * apart, 2, seed) for by in (1e-13, -1e-13)]
        expected += [0, 1]
        measured.append(specimen.nearest(vector, 5, seed))
        expected.append(int(np.argmax(directions(5, seed, 4) @ vector)))
    return [*measured, specimen.nearest(np.zeros(3), 4, 1)], [*expected, 0]


@functools.cache
def resting() -> tuple[float, ...]:
    return tuple(solved(START, 0.0, np.linspace(0.0, 2000.0, 9), OWN)[-1].tolist())


@functools.cache
def excited(accesses: tuple[tuple[float, float], ...], until: float) -> tuple[float, ...]:
    """C, h, I, x_A, G_A, Gamma and g at a time (s) after accesses (s, doses), by LSODA from
    access to access and release to release.
    """
    y, g, here, (x, G, gamma), released = (
        np.array(resting()),
        0.0,
        accesses[0][0],
        (1.0, 0.0, 0.0),
        accesses[0][0],
    )

    def slope(t: float, y: Any) -> list[float]:
        return slopes(y[0], y[1], y[2], BASAL + g * math.exp(-(t - here) / TAU_G), OWN)

    def rises(_: float, y: Any) -> float:
        return float(y[0]) - GLIO["C_Theta"]

    rises.direction = 1.0  # type: ignore[attr-defined]
    before = [(time, doses) for time, doses in accesses if time <= until]
    for (_, doses), end in zip(before, [*(time for time, _ in before[1:]), until], strict=True):
        g = CEILING - (CEILING - g) * (1.0 - DOSE / CEILING) ** doses
        if end > here:
            solution = solve_ivp(
                slope, (here, end), y, "LSODA", events=rises, rtol=1e-8, atol=1e-10
            )
            y = solution.y[:, -1]
            for at in solution.t_events[0]:
                x, G, gamma = (
                    transmitted(x, G, gamma, at - released) if at > released else (x, G, gamma)
                )
                x, G, released = (
                    x - GLIO["U_A"] * x,
                    G + GLIO["rho_e"] * GLIO["G_T"] * GLIO["U_A"] * x,
                    at,
                )
        g, here = g * math.exp(-(end - here) / TAU_G), end
    return (
        *y,
        *(transmitted(x, G, gamma, until - released) if until > released else (x, G, gamma)),
        g,
    )


def territories_in_memory(specimen: Any, kappa: float | None) -> tuple[list[float], list[float]]:
    """Six memories in three territories: what the columns hold, and the same by LSODA in the
    paper's seconds.

    One event is rejected; one answer changes memory; the first sleep replays, one territory too
    little to count; a long rest at the end.
    """
    # h for one second
    hour, count, seed = (kappa or KAPPA) / HOUR, 3, 5
    # at another time than the paper's unlike U_A, so that one is not taken for the other
    unit = UNIT if kappa == 1.0 else 0.5
    texts, times, replays = (
        [f"event {row}" for row in range(6)],
        (0.0, 1.0, 2.0, 3.0, 4.0, 7.0),
        np.array([5, 3, 2, 3, 1, 9]),
    )
    territory = np.argmax(VECTORS @ directions(count, seed, 4).T, axis=1)
    accesses: list[list[tuple[float, float]]] = [[] for _ in range(count)]
    measured, expected = list[float](), list[float]()

    def dream(view: Any, tick: Any) -> None:
        if tick.end < 21.0 * hour:
            view.replays[...] = replays

    memory = memory_of(
        specimen,
        "dense_similarity",
        refusing("rejected"),
        neighbour(Phase.CONSOLIDATE, dream, sets=(REPLAYS,), id="asleep"),
        time_scale=kappa,
        consolidate_every=20.0 * hour,
        basal=BASAL,
        tau_g=TAU_G,
        embedder=Scripted(
            {**dict(zip(texts, VECTORS, strict=True)), "rejected": VECTORS[0], "query": VECTORS[0]}
        ),
        dose=DOSE,
        ceiling=CEILING,
        compression=COMPRESSION,
        territories=count,
        territory_seed=seed,
        U0=unit,
    )

    def released(j: int, now: float) -> float:
        gamma = excited(tuple(accesses[j]), now)[5] if accesses[j] else 0.0
        return ((1.0 - gamma) * unit + ALPHA * gamma) / unit

    def compare(now: float) -> None:
        stored = memory.column(specimen.TERRITORY).size
        measured.extend((*memory.column(specimen.TERRITORY), *memory.column(RELEASE_PROBABILITY)))
        expected.extend((*territory[:stored], *(released(int(j), now) for j in territory[:stored])))
        for j in range(count):
            clock = float(memory.column(specimen.ASTROCYTE_CLOCK)[j])
            measured.append(float(math.isnan(clock)))
            expected.append(float(not accesses[j]))
            if accesses[j]:
                # at rest from then on
                at = excited(tuple(accesses[j]), min(clock / hour, 400.0))
                measured.extend(
                    (*memory.column(specimen.ASTROCYTE)[j], memory.column(specimen.GLUTAMATE)[j])
                )
                expected.extend((*at[:3], at[6]))

    for row, (time, text) in enumerate(zip(times, texts, strict=True)):
        encode(memory, (time * hour, text))
        j = int(territory[row])
        accesses[j].append((time, 1.0))
        if row == 2:
            encode(memory, (2.5 * hour, "rejected"))
        compare(2.5 if row == 2 else time)
    for now, learn in (
        (7.5, False),
        (9.0, True),
        (20.0, False),
        (26.0, False),
        (60.0, False),
        (900.0, False),
    ):
        memory.advance(now * hour)
        if now == 20.0:
            doses = np.bincount(territory, weights=replays, minlength=count) // COMPRESSION
            for j in np.flatnonzero(doses).tolist():
                accesses[j].append((20.0, float(doses[j])))
        compare(now)
        rows = memory.retrieve("query", k=2, learn=learn).rows
        if learn:
            for j in np.unique(territory[rows]).tolist():
                accesses[j].append((now, float(np.count_nonzero(territory[rows] == j))))
            compare(now)
    return measured, expected


@equation(
    "CM-12.14",
    source=f"LSODA of {DEPITTA}; one release for each upward crossing of 0.5 uM, and Gamma of {STIMBERG}; in seconds",
    atol=2e-3,
    papers=("depitta2009glutamate", "depitta2011tale", "stimberg2019modeling"),
)
def a_memory_at_the_papers_time_releases_by_its_territories(specimen: Any) -> Any:
    return territories_in_memory(specimen, 1.0)


@equation(
    "CM-12.15",
    source=f"as CM-12.14 with {KAPPA:g} simulated seconds for one",
    atol=2e-3,
    papers=("depitta2009glutamate", "depitta2011tale", "stimberg2019modeling"),
)
def a_memory_at_its_default_time_scale_releases_by_its_territories(specimen: Any) -> Any:
    return territories_in_memory(specimen, None)


DOSED = 3.0  # uM


@limit(
    "CM-12.24",
    source="definition: a unit that memory made lies in no territory, so neither its recall nor its replay brings glutamate",
)
def made_units_bring_no_glutamate(specimen: Any) -> Any:
    def dream(view: Any, tick: Any) -> None:
        view.replays[1:] = 10**6

    memory = memory_of(
        specimen,
        "lexical_bm25",
        drafting(Draft("a kite", Kind.SUMMARY, (0,)), 1),
        neighbour(Phase.CONSOLIDATE, dream, sets=(REPLAYS,), id="dream"),
        territories=2,
        dose=DOSED,
        ceiling=DOSED,
    )
    encode(memory, (0.0, "a red kite"))
    memory.advance(30.0)
    memory.use(memory.retrieve("kite"), [1])
    glutamate = [float(memory.column(specimen.GLUTAMATE).max())]
    memory.advance(48.0)  # the end of a sleep
    glutamate.append(float(memory.column(specimen.GLUTAMATE).max()))
    memory.use(memory.retrieve("kite"), [0])
    glutamate.append(float(memory.column(specimen.GLUTAMATE).max()))
    return [*memory.column(specimen.TERRITORY)[1:], *glutamate], [-1, 0.0, 0.0, DOSED]


# --- figures --------------------------------------------------------------------------------------
def oscillation(
    specimen: Any,
    k: dict[str, float],
    *,
    g: float = 0.0,
    I: float | None = None,
    start: float = 200.0,
    seconds: float = 150.0,
) -> States:
    """C every 0.1 s after `start`, at constant glutamate or at constant IP3, which is then
    neither produced nor degraded.
    """
    still = {"v_b": 0.0, "v_d": 0.0, "v_3K": 0.0, "r_5P": 0.0} if I is not None else {}
    a, C = constants(specimen, k | still | {"tau_g": math.inf}), []
    y = specimen.integrate(*START[:2], START[2] if I is None else I, g, start, a)
    for _ in range(int(seconds / 0.1)):
        C.append(y[0])
        y = specimen.integrate(*y, g, 0.1, a)
    return np.array(C)


def rhythm(C: States) -> tuple[float, float]:
    """Peak to peak, and mean period; NaN without an oscillation."""
    ups = np.flatnonzero(
        (C[:-1] < 0.5 * (C.max() + C.min())) & (C[1:] >= 0.5 * (C.max() + C.min()))
    )
    return float(np.ptp(C)), float(np.diff(ups).mean() * 0.1) if len(ups) > 1 and np.ptp(
        C
    ) > 0.02 else math.nan


@figure(
    "calcium",
    caption="Calcium under the same glutamate: small oscillations with one set of constants, spikes of one height with the other",
    source=f"{DEPITTA}; glutamate held at 2.5 uM",
)
def calcium_over_time(specimen: Any) -> Picture:
    t = 0.1 * np.arange(500)
    return Picture(
        "time, s",
        "calcium, uM",
        (
            *(
                Curve(label, t, oscillation(specimen, k, g=2.5, start=100.0, seconds=50.0))
                for label, k in (("amplitude coding", AM), ("frequency coding", FM))
            ),
            Curve("threshold of release", [0.0, 75.0], [GLIO["C_Theta"]] * 2),
        ),
    )


@figure(
    "amplitude",
    caption="With rising IP3 the amplitude of the oscillation nearly doubles in amplitude coding and stays the same in "
    "frequency coding",
    source=f"{DEPITTA}, constant IP3; dots recomputed from its equations",
)
def amplitude_over_ip3(specimen: Any) -> Picture:
    ip3 = (
        np.array([0.36, 0.38, 0.40, 0.45, 0.50, 0.55, 0.60, 0.64, 0.68]),
        np.array([0.50, 0.55, 0.60, 0.70, 0.80, 0.90, 1.0, 1.10]),
    )
    return Picture(
        "IP3, uM",
        "amplitude of calcium, uM",
        (
            *(
                Curve(
                    label,
                    at,
                    np.array([rhythm(oscillation(specimen, k, I=float(i)))[0] for i in at]),
                )
                for label, k, at in (
                    ("amplitude coding", AM, ip3[0]),
                    ("frequency coding", FM, ip3[1]),
                )
            ),
            dots("recomputed", [0.40, 0.45, 0.50, 0.55, 0.60], [0.208, 0.289, 0.337, 0.364, 0.364]),
        ),
    )


@figure(
    "frequency",
    caption="With rising IP3 the period of the oscillation halves in frequency coding and hardly changes in amplitude coding",
    source=f"{DEPITTA}, constant IP3; dots recomputed from its equations",
)
def period_over_ip3(specimen: Any) -> Picture:
    ip3 = (
        np.array([0.40, 0.45, 0.50, 0.55, 0.60]),
        np.array([0.55, 0.60, 0.70, 0.80, 0.90, 1.0, 1.10]),
    )
    return Picture(
        "IP3, uM",
        "period of calcium, s",
        (
            *(
                Curve(
                    label,
                    at,
                    np.array([rhythm(oscillation(specimen, k, I=float(i)))[1] for i in at]),
                )
                for label, k, at in (
                    ("amplitude coding", AM, ip3[0]),
                    ("frequency coding", FM, ip3[1]),
                )
            ),
            dots("recomputed", [0.40, 0.55, 1.10], [12.8, 35.8, 17.3]),
        ),
    )


@figure(
    "release",
    caption="Two accesses in a row raise calcium above its threshold: the store empties and refills within seconds, while the "
    "synapse's receptors stay occupied for minutes",
    source=f"{STIMBERG}; accesses at 0 and 4 s",
)
def release_after_two_accesses(specimen: Any) -> Picture:
    cell, times = Territories(specimen), np.arange(0.0, 40.0, 0.2)
    cell.access(0.0, [1.0])
    states = [cell.at(float(t)) for t in times[times < 4.0]]
    cell.access(4.0, [1.0])
    path = np.array([*states, *(cell.at(float(t)) for t in times[times >= 4.0])])
    return Picture(
        "time, s",
        "calcium, uM; share",
        (
            Curve("calcium", times, path[:, 0]),
            Curve("store of transmitter", times, path[:, 3]),
            Curve("occupied receptors", times, path[:, 5]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("calcium that rises and leaks away", rejected_by="CM-12.3")
def leaky(specimen: Any) -> Any:
    return specimen.replacing("calcium", lambda C, h, I, *_: 0.5 * I - C)


@mutant("channels with one inactivation gate", rejected_by="CM-12.0a")
def one_gate(specimen: Any) -> Any:
    return specimen.replacing(
        "calcium",
        lambda C, h, I, rC, rL, vER, K_ER, C0, c1, d1, d5: (
            (rC * (I / (I + d1) * C / (C + d5)) ** 3 * h + rL) * (C0 - (1 + c1) * C)
            - vER * C * C / (C * C + K_ER**2)
        ),
    )


@mutant("inactivation as in the code of Cortex", rejected_by="CM-12.0b")
def other_gating(specimen: Any) -> Any:
    return specimen.replacing(
        "gating", lambda C, h, I, d1, d2, d3, a2: a2 * (d2 * (I + d1) / ((I + d3) * (C + d2)) - h)
    )


@mutant("calcium that does not inhibit PLC beta", rejected_by="CM-12.0c")
def uninhibited(specimen: Any) -> Any:
    phosphate = specimen.phosphate
    return specimen.replacing(
        "phosphate", lambda C, I, g, *k: phosphate(C, I, g, *k[:5], 0.0, *k[6:])
    )


@mutant("Euler's method", rejected_by="CM-12.1b")
def euler(specimen: Any) -> Any:
    def stride(C: float, h: float, I: float, g: float, t: float, a: Any) -> Any:
        dC, dh, dI = (
            specimen.calcium(C, h, I, *a[0]),
            specimen.gating(C, h, I, *a[1]),
            specimen.phosphate(C, I, a[3] + g, *a[2]),
        )
        return C + t * dC, h + t * dh, I + t * dI, (t / 0.2) ** 3

    return specimen.replacing("stride", stride)


@mutant("release for as long as calcium is high", rejected_by="CM-12.9b")
def level(specimen: Any) -> Any:
    return specimen.replacing(
        "crossing", lambda C, slope, C1, slope1, t, theta: 0.0 if theta <= C1 else -1.0
    )


@mutant("release that does not use the store", rejected_by="CM-12.7")
def endless(specimen: Any) -> Any:
    return specimen.replacing(
        "release", lambda x, G, U_A, G_T, rho_e: (x, G + rho_e * G_T * U_A * x)
    )


@mutant("receptors freed as fast as transmitter is cleared", rejected_by="CM-12.8")
def fleeting(specimen: Any) -> Any:
    exact = specimen.between_releases
    return specimen.replacing(
        "between_releases", lambda x, G, gamma, t, *k: exact(x, G, gamma, t, *k[:3], k[1])
    )


@mutant("astrocytes that only facilitate", rejected_by="CM-12.6")
def facilitating(specimen: Any) -> Any:
    return specimen.replacing(
        "release_probability", lambda gamma, U0, alpha: (1.0 - gamma) * U0 + gamma
    )


@mutant("steps that restart at every read of the state", rejected_by="CM-12.10")
def restless(specimen: Any) -> Any:
    until = specimen.until

    def looking(now: float, j: int, *rest: Any) -> None:
        until(now, j, *rest)
        rest[2][j], rest[3][j], rest[4][j], rest[6][j] = (
            rest[-1][:3],
            rest[-1][3:6],
            rest[-1][6],
            now,
        )

    return specimen.replacing("until", looking)


@mutant("every replay is an access", rejected_by="CM-12.14")
def uncompressed(specimen: Any) -> Any:
    def replay(self: Any, view: Any, tick: Any) -> None:
        self.accessed(
            view,
            tick.end,
            np.bincount(view.territory, weights=view.replays, minlength=self.params.territories),
        )

    return specimen.overriding("TripartiteSynapse", replay=replay)


@mutant("the time scale does not apply", rejected_by="CM-12.15")
def unscaled(specimen: Any) -> Any:
    def __init__(self: Any, *args: Any, **options: Any) -> None:
        specimen.TripartiteSynapse.__init__(self, *args, **options)
        self.second = 1.0 / HOUR

    return specimen.overriding("TripartiteSynapse", __init__=__init__)


@mutant("recall brings no glutamate", rejected_by="CM-12.14")
def unrecalled(specimen: Any) -> Any:
    return specimen.overriding("TripartiteSynapse", on_recall=nothing)


@mutant("release probability is not relative to U0*", rejected_by="CM-12.14")
def absolute(specimen: Any) -> Any:
    return specimen.replacing(
        "release_probability", lambda gamma, U0, alpha: U0 * ((1.0 - gamma) * U0 + alpha * gamma)
    )


@mutant("directions of another seed", rejected_by="CM-12.21")
def other_seed(specimen: Any) -> Any:
    def nearest(vector: Any, territories: int, seed: int) -> int:
        rows = directions(territories, seed + 1, vector.shape[0])
        return int(np.argmax(rows @ vector))

    return specimen.replacing("nearest", nearest)


@mutant("a release at the end of the step in which calcium rises", rejected_by="CM-12.19")
def late(specimen: Any) -> Any:
    return specimen.replacing(
        "crossing", lambda C, slope, C1, slope1, t, theta: t if C < theta <= C1 else -1.0
    )


@mutant("a unit that memory made lies in the first territory", rejected_by="CM-12.24")
def made_in_the_first(specimen: Any) -> Any:
    def on_recall(self: Any, view: Any, cue: Any) -> None:
        territories, count = np.maximum(view.territory[view.recalled], 0), 2
        self.accessed(view, view.now, np.bincount(territories, minlength=count).astype(float))

    return specimen.overriding("TripartiteSynapse", on_recall=on_recall)
