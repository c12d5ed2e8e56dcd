"""Evidence for homeostatic_scaling, in the paper's seconds unless stated otherwise.  References:
closed forms for a constant rate, and the differential equations in a general solver.  Where a check
needs spike-timing plasticity, it is the paper's, written out here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import LOG_STRENGTH
from ..checks import (
    adaptation,
    at_least,
    at_most,
    between,
    data,
    equation,
    limit,
    mutant,
    signature,
)
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from ..paper_numbers import paper_number
from .shared.scripts import giving

PAPER = "van Rossum, Bi & Turrigiano 2000"
BETA, GAMMA, TAU = 4e-5, 1e-7, 100.0  # 1/(s Hz), 1/(s2 Hz), s
GOAL, KAPPA, HOUR = 100.0, 800.0, 3600.0
# pS, 1: additive growth, decay in proportion
CP, CD = 1.0, 0.003
NUMBERS = (
    paper_number("tau_a", TAU, "s", paper="vanrossum2000stable", where="below eq. (3)"),
    paper_number(
        "beta",
        BETA,
        "1/(s Hz)",
        paper="vanrossum2000stable",
        where="below eq. (3)",
        held=lambda plug_in: plug_in.gains[0],
    ),
    paper_number(
        "gamma",
        GAMMA,
        "1/(s2 Hz)",
        paper="vanrossum2000stable",
        where="below eq. (3)",
        held=lambda plug_in: plug_in.gains[1],
    ),
)


def hyperbolic(strength: Any) -> Any:
    return 2.0 * GOAL * strength / (strength + 1.0)


def in_hours(hours: float) -> float:
    """Simulated hours in the paper's seconds."""
    return hours * HOUR / KAPPA


def advanced(
    specimen: Any, a: float, integral: float, strength: float, t: float, gamma: float = GAMMA
) -> tuple[float, float, float]:
    result: tuple[float, float, float] = specimen.advance(
        a, integral, strength, t, 1.0, GOAL, BETA, gamma, TAU
    )
    return result


def through_nights(
    specimen: Any,
    growth: float,
    nights: int,
    gamma: float = GAMMA,
    start: float = 0.0,
    sleep: float = 24.0,
) -> NDArray[np.float64]:
    """ln of a domain's mean strength at each sleep; it grows by `growth` a day without scaling,
    and a sleep's factor acts from that sleep on.
    """
    a, integral, factor, seen = GOAL, 0.0, 0.0, []
    for night in range(nights):
        seen.append(start + growth * (night + 1) * sleep / 24.0 + factor)
        a, integral, gained = advanced(
            specimen, a, integral, math.exp(seen[-1]), in_hours(sleep), gamma
        )
        factor += gained
    return np.array(seen)


def on_synapses(
    specimen: Any, log_factor: list[float], log_w: NDArray[np.float64], speaker: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Strengths after a factor on each domain."""
    out = np.full(len(log_w), np.nan)
    specimen.scale(np.array(log_factor), speaker, out)
    return np.asarray(np.exp(log_w + out))


# --- the equations --------------------------------------------------------------------------------
@equation(
    "CM-8.1",
    source="Turrigiano 2008: multiplicative; w_i / w_j of a domain do not change",
    papers=("turrigiano2008self",),
)
def scaling_keeps_ratios_and_order_within_a_domain(specimen: Any) -> Any:
    rng = np.random.default_rng(0)
    log_w, speaker = rng.normal(0.0, 1.0, 60), rng.integers(0, 3, 60).astype(np.int32)
    after = on_synapses(specimen, [0.7, -1.3, 0.0], log_w, speaker)
    mine = [np.flatnonzero(speaker == k) for k in range(3)]
    return np.concatenate([after[m] / after[m[0]] for m in mine]), np.concatenate(
        [np.exp(log_w[m] - log_w[m[0]]) for m in mine]
    )


@equation(
    "CM-8.1b",
    source=f"{PAPER}: sensor, and eq. (3), by hand",
    atol=1e-15,
    papers=("vanrossum2000stable",),
)
def error_and_integral_drive_the_weight_in_proportion_to_itself(specimen: Any) -> Any:
    cases = ((5.0, 2.0, 7.0), (30.0, -400.0, 0.0), (20.0, 0.0, 20.0))
    return [x for c in cases for x in specimen.slopes(*c, 20.0, BETA, GAMMA, TAU)], [
        x for a, i, r in cases for x in ((r - a) / TAU, 20.0 - a, BETA * (20.0 - a) + GAMMA * i)
    ]


@equation(
    "CM-8.1c",
    source="solve_ivp of the equations with the factor on the rate",
    rtol=1e-5,
    atol=1e-7,
    papers=("vanrossum2000stable",),
)
def the_loop_follows_its_differential_equations(specimen: Any) -> Any:
    measured: list[float] = []
    expected: list[float] = []
    for a, integral, strength, t in (
        (GOAL, 0.0, 3.0, 500.0),
        (40.0, 2e4, 0.2, 2000.0),
        (GOAL, 0.0, 500.0, 9000.0),
        (150.0, -3e4, 1.0, 7.0),
    ):

        def slope(_: float, y: NDArray[np.float64], s: float = strength) -> list[float]:
            return [
                (hyperbolic(s * math.exp(y[2])) - y[0]) / TAU,
                GOAL - y[0],
                BETA * (GOAL - y[0]) + GAMMA * y[1],
            ]

        measured += advanced(specimen, a, integral, strength, t)
        expected += list(
            solve_ivp(
                slope, (0.0, t), [a, integral, 0.0], method="DOP853", rtol=1e-11, atol=1e-11
            ).y[:, -1]
        )
    return measured, expected


@equation(
    "CM-8.8b",
    source="closed form of the equations at rate 0, from rest: a = a_goal e^(-t/tau), its integrals by hand",
    rtol=1e-5,
    papers=("vanrossum2000stable",),
)
def a_silenced_neuron_scales_up_by_the_closed_form(specimen: Any) -> Any:
    times = np.array([20.0, 100.0, 400.0, 900.0])
    decayed = TAU * -np.expm1(-times / TAU)
    first, second = times - decayed, times**2 / 2 - TAU * (times - decayed)
    return [advanced(specimen, GOAL, 0.0, 0.0, t)[2] for t in times], GOAL * (
        BETA * first + GAMMA * second
    )


@equation(
    "CM-8.4",
    source=f"{PAPER}: growth c_p, decay c_d w: c_p / c_d = 333 pS; with scaling at rate s, c_p f / (c_d f - s)",
    rtol=1e-6,
    papers=("vanrossum2000stable",),
)
def scaling_changes_the_mean_of_spike_timing_plasticity_only_away_from_the_goal(
    specimen: Any,
) -> Any:
    # pairings of either order, 1/s
    f, measured, expected = 20.0, [], []
    for off in (0.0, 50.0, -100.0):
        s = specimen.slopes(GOAL - off, 0.0, GOAL - off, GOAL, BETA, GAMMA, TAU)[2]

        def slope(_: float, w: Any, s: float = s) -> Any:
            return f * (CP - CD * w) + s * w

        measured.append(
            solve_ivp(slope, (0.0, 2000.0), [100.0], method="LSODA", rtol=1e-10).y[0, -1]
        )
        expected.append(CP * f / (CD * f - BETA * off))
    return measured, expected


# --- consequences ---------------------------------------------------------------------------------
def synapses(specimen: Any, additive: bool) -> NDArray[np.float64]:
    """Weights after many pairings in random order, 3 s apart, with continuous scaling; bounds 0
    and 700 pS, which matter if decay is additive.
    """
    rng = np.random.default_rng(1)
    w, a, integral = rng.uniform(100.0, 600.0, 300), GOAL, 0.0
    for _ in range(4000):
        up = rng.random(300) < 0.5
        w = (
            np.clip(w + np.where(up, 8.0, -8.0) + (w - 350.0) * 0.02 * np.abs(up - 0.5), 0.0, 700.0)
            if additive
            else w + np.where(up, CP, -CD * w)
        )
        a, integral, gained = specimen.advance(
            a,
            integral,
            w.mean() / (350.0 if additive else CP / CD),
            3.0,
            1.0,
            GOAL,
            BETA,
            GAMMA,
            TAU,
        )
        w *= math.exp(gained)
    return np.asarray(np.minimum(w, 700.0))


@signature(
    "CM-8.4b",
    source=f"{PAPER}: one peak if decay is proportional; control with additive decay and growth with size: two, at the bounds",
    papers=("vanrossum2000stable",),
)
def scaled_weights_have_one_peak_and_not_two(specimen: Any) -> Any:
    stable, control = synapses(specimen, False), synapses(specimen, True)
    middle = np.mean(np.abs(stable - CP / CD) < 100.0)
    ends = np.mean((control < 100.0) | (control > 600.0))
    return at_least([middle, ends], 0.8)


@limit(
    "CM-8.1d",
    source="a = a_goal, integral 0: all derivatives are 0",
    atol=1e-12,
    papers=("vanrossum2000stable",),
)
def at_its_goal_nothing_changes(specimen: Any) -> Any:
    return advanced(specimen, GOAL, 0.0, 1.0, 1e5), (GOAL, 0.0, 0.0)


@adaptation(
    "CM-8.8",
    source="ours: the time scale was chosen so that 48 h without activity give between 1.5 and 2.5, as in Turrigiano 1998",
    figure="deprivation",
    papers=("turrigiano1998activity",),
)
def two_days_of_silence_double_all_weights(specimen: Any) -> Any:
    factor = advanced(specimen, GOAL, 0.0, 0.0, in_hours(48.0))[2]
    log_w = np.array([-2.0, 0.0, 1.0])
    return between(
        on_synapses(specimen, [factor], log_w, np.zeros(3, np.int32)) / np.exp(log_w), 1.5, 2.5
    )


@data(
    "CM-8.8c",
    source="Turrigiano et al. 1998: 48 h of TTX, mEPSC amplitude +92%; the time scale was chosen by it, so that it decides nothing",
    atol=0.15,
    warn=True,
    figure="deprivation",
    papers=("turrigiano1998activity",),
    subjects="neurons of rat cortex in culture; their number was not read",
)
def two_days_of_silence_scale_as_in_culture(specimen: Any) -> Any:
    return math.exp(advanced(specimen, GOAL, 0.0, 0.0, in_hours(48.0))[2]), 1.92


@signature(
    "CM-8.9",
    source="d(ln w)/dt = g + gamma integral = 0 needs a = a_goal: half a day's growth above before a sleep, as much below after it",
    atol=1e-3,
    figure="runaway",
    papers=("vanrossum2000stable",),
)
def a_domain_that_grows_constantly_returns_to_its_goal(specimen: Any) -> Any:
    return through_nights(specimen, 0.05, 400)[-50:], 0.025


@limit(
    "CM-8.9b",
    source="proportional control alone: the rate settles at a_goal + g / beta",
    rtol=0.02,
    papers=("vanrossum2000stable",),
)
def without_the_integral_the_rate_settles_above_the_goal(specimen: Any) -> Any:
    per_day = 0.05
    # in the middle of a day
    settled = through_nights(specimen, per_day, 400, gamma=0.0)[-1] - per_day / 2.0
    return hyperbolic(math.exp(settled)) - GOAL, per_day / in_hours(24.0) / BETA


@signature(
    "CM-8.9c",
    source="no offset: from a fifth and from a thousandfold to the target",
    atol=0.01,
    figure="runaway",
    papers=("vanrossum2000stable",),
)
def any_initial_strength_converges_to_the_target(specimen: Any) -> Any:
    return [
        through_nights(specimen, 0.0, 400, start=math.log(s))[-1] for s in (0.2, 5.0, 1000.0)
    ], [0.0, 0.0, 0.0]


@signature(
    "CM-8.7b",
    source="Zenke et al. 2013: slower than learning; more than half of a doubling remains after two days, little after weeks",
    papers=("zenke2013synaptic",),
)
def scaling_is_slower_than_learning(specimen: Any) -> Any:
    course = through_nights(specimen, 0.0, 30, start=math.log(2.0))
    return bool(course[2] > 0.5 * math.log(2.0) and np.abs(course[25:]).max() < 0.2 * math.log(2.0))


# --- the adaptation -------------------------------------------------------------------------------
@adaptation(
    "CM-8.10",
    source="24 sleeps an hour apart against one after a day; strengths constant without scaling",
    rtol=1e-4,
    atol=1e-6,
)
def the_frequency_of_sleep_makes_no_difference(specimen: Any) -> Any:
    once, a, integral, factor = advanced(specimen, GOAL, 0.0, 2.5, in_hours(24.0)), GOAL, 0.0, 0.0
    for _ in range(24):
        a, integral, gained = advanced(specimen, a, integral, 2.5 * math.exp(factor), in_hours(1.0))
        factor += gained
    return (a, integral, factor), once


@adaptation(
    "CM-8.11",
    source="numpy means over the visible memories of each domain: speakers 1 and 7, and 2 and 14, share one of six",
)
def a_domain_is_the_visible_memories_of_a_speaker(specimen: Any) -> Any:
    rng = np.random.default_rng(2)
    log_w, speaker, visible = (
        rng.normal(0.0, 1.0, 90),
        rng.choice([0, 1, 2, 3, 7, 14], 90).astype(np.int32),
        rng.random(90) < 0.7,
    )
    log_w[rng.choice(90, 30, replace=False)] = 0.0
    log_w[5], visible[5] = 1.0, True
    mean, count = np.full(6, np.nan), np.full(6, -1)
    specimen.mean_strengths(log_w, visible, speaker, mean, count)
    mine = [visible & np.isin(speaker, k) for k in ([0], [1, 7], [2, 14], [3], [], [])]
    factors = np.log(on_synapses(specimen, [0.1, -0.2, 0.3, 0.4, 0.5, 0.6], np.zeros(90), speaker))
    return np.concatenate([mean, count, factors]), [
        *(np.exp(log_w[m]).mean() if m.any() else 0.0 for m in mine),
        *(m.sum() for m in mine),
        *({0: 0.1, 1: -0.2, 7: -0.2, 2: 0.3, 14: 0.3, 3: 0.4}[int(k)] for k in speaker),
    ]


@adaptation(
    "CM-8.12",
    source="ours: no error above a_goal; slope at the target half that of a linear neuron",
)
def the_rate_saturates(specimen: Any) -> Any:
    slope = (specimen.rate(1.001, 1.0, GOAL) - specimen.rate(0.999, 1.0, GOAL)) / 0.002
    return bool(
        specimen.rate(1e9, 1.0, GOAL) <= 2.0 * GOAL
        and specimen.rate(0.7, 0.7, GOAL) == GOAL
        and abs(slope - GOAL / 2.0) < 1e-3
    )


@adaptation(
    "CM-8.13",
    source="solve_ivp (DOP853) of the equations with beta and gamma multiplied by 1, 5, 20 and 50; largest error in each",
)
def the_error_of_integration_is_as_stated(specimen: Any) -> Any:
    cases = [
        (times, stated, a, integral)
        for times, stated in ((1.0, 1e-6), (5.0, 1e-5), (20.0, 1e-4), (50.0, 4e-3))
        for a, integral in ((GOAL, 0.0), (40.0, 2e4), (150.0, -3e4))
    ]
    k, _, first_a, first_integral = np.array(cases).T
    start = np.stack([first_a, first_integral, np.zeros(len(cases))])
    for strength, t in ((0.0, 500.0), (0.2, 9000.0), (3.0, 500.0), (3.0, 2000.0), (500.0, 108.0)):

        def slope(_: float, y: NDArray[np.float64], s: float = strength) -> NDArray[np.float64]:
            """Of all cases at once, by activity, integral and ln of the factor."""
            a, integral, log = y.reshape(start.shape)
            return np.concatenate(
                [
                    (hyperbolic(s * np.exp(log)) - a) / TAU,
                    GOAL - a,
                    k * (BETA * (GOAL - a) + GAMMA * integral),
                ]
            )

        true = solve_ivp(slope, (0.0, t), start.ravel(), method="DOP853", rtol=1e-12, atol=1e-11)
        ends = true.y[:, -1].reshape(start.shape).T
        for (times, stated, a, integral), exact in zip(cases, ends, strict=True):
            state = specimen.advance(
                a, integral, strength, t, 1.0, GOAL, BETA * times, GAMMA * times, TAU
            )
            off = np.abs((np.array(state) - exact) / [GOAL, GOAL * TAU, 1.0])
            yield at_most(off.max() / stated, 1.0)


# --- in a memory ----------------------------------------------------------------------------------
def nights_in_memory(
    specimen: Any, time_scale: float | None, sleep: float, nights: int, speakers: int = 2
) -> tuple[Any, Any]:
    """Speakers in a memory that sleeps every `sleep` hours, and the same nights by the paper's
    differential equations in seconds.

    Rows 5 and 6 are archived; a third speaker said row 6 alone, and without visible memories a
    neuron has no input, so that nothing of it changes.  Both give, for each speaker after each
    night, a - a_goal (Hz), its integral (Hz s) and ln of the factor on each memory.
    """
    log_w = np.array([0.4, 1.1, -0.7, -0.2, -1.5, 2.0, 0.9])
    mine = (np.array([0, 1, 4]), np.array([2, 3])) if speakers == 2 else (np.arange(5),)
    kappa = KAPPA if time_scale is None else time_scale

    memory = memory_of(
        specimen,
        giving(Phase.MAINTAIN, LOG_STRENGTH, log_w, adds=True),
        time_scale=time_scale,
        consolidate_every=sleep,
        a_goal=GOAL,
        target=1.0,
    )
    encode(
        memory,
        *(
            (0.0, f"message {i}", "Ada" if i in mine[0] else "Cleo" if i == 6 else "Bo")
            for i in range(5 + 2 * (speakers == 2))
        ),
    )
    if speakers == 2:
        memory.archive(5)
        memory.archive(6)
    measured: list[float] = []
    expected: list[float] = []
    state = [(GOAL, 0.0, 0.0)] * 2
    for night in range(nights):
        memory.advance((night + 1) * sleep)
        total = memory.column(LOG_STRENGTH) - log_w[: len(memory.column(LOG_STRENGTH))]
        for k, rows in enumerate(mine):
            a, integral, x = state[k]
            before = float(np.exp(log_w[rows] + x).mean())

            def slope(_: float, y: NDArray[np.float64], s: float = before) -> list[float]:
                return [
                    (hyperbolic(s * math.exp(y[2])) - y[0]) / TAU,
                    GOAL - y[0],
                    BETA * (GOAL - y[0]) + GAMMA * y[1],
                ]

            after = solve_ivp(
                slope,
                (0.0, sleep * HOUR / kappa),
                [a, integral, 0.0],
                method="LSODA",
                rtol=1e-10,
                atol=1e-10,
            ).y[:, -1]
            state[k] = (after[0], after[1], x + after[2])
            measured += [
                memory.column(specimen.SCALING_EXCESS)[k],
                memory.column(specimen.SCALING_INTEGRAL)[k] * HOUR / kappa,
                *total[rows],
            ]
            expected += [after[0] - GOAL, after[1], *[state[k][2]] * len(rows)]
        if speakers == 2:
            measured += [
                memory.column(specimen.SCALING_EXCESS)[2],
                memory.column(specimen.SCALING_INTEGRAL)[2],
                total[6],
            ]
            expected += [0.0, 0.0, 0.0]
    return measured, expected


@equation(
    "CM-8.14",
    source=f"{PAPER}: solve_ivp (LSODA) of the equations in the paper's seconds, night by night",
    rtol=1e-4,
    atol=1e-4,
    papers=("vanrossum2000stable", "turrigiano2008self"),
)
def a_memory_at_the_papers_time_scales_its_speakers(specimen: Any) -> Any:
    return nights_in_memory(specimen, 1.0, 0.5, 4)


@equation(
    "CM-8.14b",
    source=f"{PAPER}: as CM-8.14, of a single speaker",
    rtol=1e-4,
    atol=1e-4,
    papers=("vanrossum2000stable", "turrigiano2008self"),
)
def a_memory_with_one_speaker_is_one_domain(specimen: Any) -> Any:
    return nights_in_memory(specimen, 1.0, 0.5, 2, speakers=1)


@equation(
    "CM-8.15",
    source=f"{PAPER}: as CM-8.14 with {KAPPA:g} simulated seconds for one",
    rtol=1e-4,
    atol=1e-4,
    papers=("vanrossum2000stable", "turrigiano2008self"),
)
def a_memory_at_its_default_time_scale_scales_its_speakers(specimen: Any) -> Any:
    return nights_in_memory(specimen, None, 24.0, 8)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "deprivation",
    caption="Without activity all synapses are scaled up by one factor, which doubles within days",
    source="Turrigiano et al. 1998, 48 h of TTX: +92%",
)
def factor_under_silence(specimen: Any) -> Picture:
    hours = np.linspace(0.0, 72.0, 37)
    return Picture(
        "time without activity, h",
        "factor on all weights",
        (
            Curve(
                "mechanism",
                hours,
                np.exp([advanced(specimen, GOAL, 0.0, 0.0, in_hours(h))[2] for h in hours]),
            ),
            dots("Turrigiano et al. 1998", [0.0, 48.0], [1.0, 1.92]),
        ),
    )


@figure(
    "runaway",
    caption="From any initial strength, and with growth every day, the rate of a domain returns to the goal; without the "
    "integral of the error it settles above it",
    source=f"{PAPER}, eq. (3), with a hyperbolic response of ours",
)
def rate_over_nights(specimen: Any) -> Picture:
    nights, runs = (
        np.arange(1, 91),
        (
            ("from a fifth", 0.0, GAMMA, 0.2),
            ("from tenfold", 0.0, GAMMA, 10.0),
            ("growing 20% a day", 0.2, GAMMA, 1.0),
            ("growing, no integral", 0.2, 0.0, 1.0),
        ),
    )
    return Picture(
        "night",
        "rate before the sleep, Hz",
        (
            *(
                Curve(
                    label,
                    nights,
                    np.array(
                        [
                            specimen.rate(math.exp(s), 1.0, GOAL)
                            for s in through_nights(specimen, growth, 90, gamma, math.log(start))
                        ]
                    ),
                )
                for label, growth, gamma, start in runs
            ),
            Curve("goal", nights, np.full(90, GOAL)),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("additive scaling", rejected_by="CM-8.1")
def additive(specimen: Any) -> Any:
    def scale(log_factor: Any, speaker: Any, out: Any) -> None:
        out[:] = [math.log1p(abs(log_factor[s]) / (1.0 + row)) for row, s in enumerate(speaker)]

    return specimen.replacing("scale", scale)


@mutant(
    "a separate factor for each memory, as from a term quadratic in the weight",
    rejected_by="CM-8.1",
)
def quadratic(specimen: Any) -> Any:
    def scale(log_factor: Any, speaker: Any, out: Any) -> None:
        out[:] = [0.1 * log_factor[s] * row for row, s in enumerate(speaker)]

    return specimen.replacing("scale", scale)


@mutant("no sensor: the rate itself is compared with the goal", rejected_by="CM-8.8b")
def no_sensor(specimen: Any) -> Any:
    return specimen.replacing(
        "slopes",
        lambda a, i, r, goal, beta, gamma, tau: (
            (r - a) / tau,
            goal - r,
            beta * (goal - r) + gamma * i,
        ),
    )


@mutant("gamma per hour, where the sensor counts hours squared", rejected_by="CM-8.14")
def gamma_per_hour(specimen: Any) -> Any:
    def gains(self: Any) -> tuple[float, float]:
        beta, gamma = specimen.HomeostaticScaling.gains.fget(self)
        return beta, gamma / HOUR

    return specimen.overriding("HomeostaticScaling", gains=property(gains))


@mutant("no integral", rejected_by="CM-8.9")
def no_integral(specimen: Any) -> Any:
    return specimen.replacing(
        "slopes",
        lambda a, i, r, goal, beta, gamma, tau: ((r - a) / tau, goal - a, beta * (goal - a)),
    )


@mutant("scaling with the opposite sign", rejected_by="CM-8.4")
def reversed_sign(specimen: Any) -> Any:
    return specimen.replacing(
        "slopes",
        lambda a, i, r, goal, beta, gamma, tau: (
            (r - a) / tau,
            goal - a,
            beta * (a - goal) - gamma * i,
        ),
    )


@mutant("the power ratio in one step, with no dynamics", rejected_by="CM-8.7b")
def at_one_stroke(specimen: Any) -> Any:
    return specimen.replacing(
        "advance",
        lambda a, i, s, t, target, goal, beta, gamma, tau: (
            a,
            i,
            math.log(target / s) if s else 0.0,
        ),
    )


@mutant("the factor is not fed back to the rate between sleeps", rejected_by="CM-8.1c")
def open_loop(specimen: Any) -> Any:
    def advance(
        a: float,
        i: float,
        s: float,
        t: float,
        target: float,
        goal: float,
        beta: float,
        gamma: float,
        tau: float,
    ) -> Any:
        r, d = hyperbolic(s), tau * -math.expm1(-t / tau)
        first = (goal - r) * t - (a - r) * d
        second = i * t + (goal - r) * t * t / 2 - (a - r) * tau * (t - d)
        return r + (a - r) * math.exp(-t / tau), i + first, beta * first + gamma * second

    return specimen.replacing("advance", advance)


@mutant("a mean that includes archived memories", rejected_by="CM-8.11")
def over_all(specimen: Any) -> Any:
    def mean_strengths(
        log_strength: Any, visible: Any, speaker: Any, mean: Any, count: Any
    ) -> None:
        for k in range(len(mean)):
            mine = speaker == k
            mean[k], count[k] = np.exp(log_strength[mine]).mean() if mine.any() else 0.0, mine.sum()

    return specimen.replacing("mean_strengths", mean_strengths)


@mutant("a speaker without visible memories has the strength 0", rejected_by="CM-8.14")
def silent(specimen: Any) -> Any:
    def mean_strengths(
        log_strength: Any, visible: Any, speaker: Any, mean: Any, count: Any
    ) -> None:
        specimen.mean_strengths(log_strength, visible, speaker, mean, count)
        count[np.unique(speaker % len(count))] += 1

    return specimen.replacing("mean_strengths", mean_strengths)


@mutant("half as many steps of integration", rejected_by="CM-8.13")
def coarse(specimen: Any) -> Any:
    return specimen.replacing("STEPS", 5)


@mutant("a rate without bound", rejected_by="CM-8.12")
def linear(specimen: Any) -> Any:
    return specimen.replacing("rate", lambda strength, target, goal: goal * strength / target)
