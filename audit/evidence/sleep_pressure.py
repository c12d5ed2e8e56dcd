"""Evidence for sleep_pressure: the model against its differential equations, closed forms and
published cycles, and in an engine.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import SLEEP_END, SLEEP_ONSET, SLEEP_SHARE, SURPRISE, VETO
from ...engine.memory.engine import Engine
from ..checks import (
    adaptation,
    at_least,
    at_most,
    between,
    equation,
    limit,
    mutant,
    reference,
    signature,
)
from ..figures import Curve, Picture, figure
from ..memory import encode, hashing, memory_of, neighbour, numbers_of
from ..paper_numbers import paper_number
from .shared.once import computed_once

MODEL = "Daan, Beersma & Borbely 1984, two-process model"
CAPTION = "Skeldon & Dijk 2025, Fig. 1"
NOON = 24.0 * 20000 + 12.0
PAPER = {"tau_r": 18.2, "tau_d": 4.2, "upper": 0.67, "lower": 0.17, "amplitude": 0.12,
         **numbers_of("sleep_pressure", "phase"), "day": 24.0}  # fmt: skip
NUMBERS = (
    *(
        paper_number(name, PAPER[name], "h", paper="skeldon2025complexity", where="Fig. 1, caption")
        for name in ("tau_r", "tau_d")
    ),
    *(
        paper_number(name, PAPER[name], "1", paper="skeldon2025complexity", where="Fig. 1, caption")
        for name in ("upper", "lower", "amplitude")
    ),
    paper_number(
        "day",
        PAPER["day"],
        "h",
        paper="skeldon2025complexity",
        where="circadian modulation of the thresholds",
    ),
)
OURS = numbers_of("sleep_pressure", "effort", "half_length", "vigil", "resist")


def rhythm(**changes: float) -> tuple[float, ...]:
    return tuple((PAPER | changes).values())


# --- independent references -----------------------------------------------------------------------
@computed_once
def simulated(
    s: float, t: float, sleeps: int, **changes: float
) -> list[tuple[float, float, float, float]]:
    """Onset, S, end and S of each sleep: both differential equations integrated, each until its
    threshold is crossed.
    """
    p: dict[str, float] = PAPER | changes
    nights = []

    def c(at: float) -> float:
        return float(p["amplitude"] * math.sin(2.0 * math.pi * (at - p["phase"]) / p["day"]))

    def stretch(start: float, s0: float, rate: Any, gap: Any) -> tuple[float, float]:
        gap.terminal, gap.direction = True, 1.0
        run = solve_ivp(
            rate, (start, start + 200.0), [s0], events=gap, rtol=1e-11, atol=1e-13, max_step=0.5
        )
        return float(run.t[-1]), float(run.y[0, -1])  # a terminal event is the last point

    for _ in range(sleeps):
        t, s = stretch(
            t, s, lambda _, y: (1.0 - y) / p["tau_r"], lambda at, y: y[0] - p["upper"] - c(at)
        )
        onset, top = t, s
        t, s = stretch(t, s, lambda _, y: -y / p["tau_d"], lambda at, y: p["lower"] + c(at) - y[0])
        nights.append((onset, top, t, s))
    return nights


def scanned(f: Any, longest: float = 60.0) -> float:
    """First root by a fine grid and Brent's method; 0 if f(0) >= 0."""
    grid = np.arange(0.0, longest, 0.002)
    values = f(grid)
    first = int(np.argmax(values >= 0.0))
    return 0.0 if first == 0 else float(brentq(f, grid[first - 1], grid[first], xtol=1e-13))


def solved(
    specimen: Any, s: float, t: float, sleeps: int, constants: tuple[float, ...]
) -> list[tuple[float, float, float, float]]:
    """The same four numbers from the kernels."""
    nights = []
    for _ in range(sleeps):
        onset = t + specimen.until_sleep(s, t, constants)
        top = specimen.awake(s, onset - t, constants[0])
        t = onset + specimen.until_waking(top, onset, constants)
        s = specimen.asleep(top, t - onset, constants[1])
        nights.append((onset, top, t, s))
    return nights


class Night:
    """An engine with this mechanism alone, and onset, end and share of each of its sleeps."""

    def __init__(self, specimen: Any, **changes: float) -> None:
        params = specimen.SleepPressureParams(time_scale=1.0, **(PAPER | OURS | changes))
        self.memory = Engine([specimen.SleepPressure("sleep_pressure", params)], hashing(16))
        self.sleeps: list[tuple[float, float, float]] = []
        self._run, self.memory.assembly.run[Phase.CONSOLIDATE] = (
            self.memory.assembly.run[Phase.CONSOLIDATE],
            self._noted,
        )

    def _noted(self, tick: Any) -> None:
        onset = self.value(SLEEP_ONSET)
        self._run(tick)
        self.sleeps.append((onset, tick.end, self.value(SLEEP_SHARE)))

    def value(self, column: Any) -> float:
        return float(self.memory.store.array(column).item())

    def tell(self, *times: float) -> Night:
        for i, time in enumerate(times):
            self.memory.encode(Event(time, f"we spoke of number {i}", session="s"))
        return self


# --- the equations --------------------------------------------------------------------------------
@equation(
    "CM-9.S",
    source=f"{MODEL}: dS/dt = (1 - S) / tau_r awake, -S / tau_d asleep; solve_ivp",
    rtol=1e-8,
    papers=("daan1984timing",),
)
def process_s_solves_its_differential_equations(specimen: Any) -> Any:
    times = [0.5, 3.0, 11.0, 40.0]
    up = solve_ivp(
        lambda _, y: (1.0 - y) / 18.2, (0.0, 40.0), [0.2], t_eval=times, rtol=1e-11, atol=1e-13
    ).y[0]
    down = solve_ivp(
        lambda _, y: -y / 4.2, (0.0, 40.0), [0.8], t_eval=times, rtol=1e-11, atol=1e-13
    ).y[0]
    return [
        f(s, t, tau)
        for f, s, tau in ((specimen.awake, 0.2, 18.2), (specimen.asleep, 0.8, 4.2))
        for t in times
    ], [*up, *down]


@equation(
    "CM-9.C",
    source=f"{MODEL}: C = a sin(2 pi (t - phi) / 24)",
    atol=1e-9,
    papers=("daan1984timing",),
)
def process_c_is_a_sine_of_the_time_of_day(specimen: Any) -> Any:
    hours = NOON + np.array([-6.0, -2.46, 0.0, 3.54, 9.54, 15.0, 24.0 * 365])
    return [specimen.circadian(float(t), 0.12, 9.54, 24.0) for t in hours], 0.12 * np.sin(
        2.0 * np.pi * (hours % 24.0 - 9.54) / 24.0
    )


@equation(
    "CM-9.H",
    source=f"{MODEL}: thresholds H+ + C and H- + C; brute-force scan and Brent's method",
    atol=1e-9,
    rtol=0.0,
    papers=("daan1984timing",),
)
def the_first_crossings_equal_those_of_a_scan(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(3), [], []
    for case in range(80):
        s, t, a, phi = (
            rng.uniform(0.02, 0.98),
            rng.uniform(0.0, 48.0),
            rng.uniform(0.0, 0.2),
            rng.uniform(0.0, 24.0),
        )
        day = 24.0 if case < 60 else 1.0 + 0.1 * (case - 60)
        c = rhythm(amplitude=a, phase=phi, day=day)

        def wave(x: Any, t: float = t, a: float = a, phi: float = phi, day: float = day) -> Any:
            return a * np.sin(2.0 * np.pi * (t + x - phi) / day)

        measured += [specimen.until_sleep(s, t, c), specimen.until_waking(s, t, c)]
        expected += [
            scanned(lambda x, s=s, w=wave: 1.0 - (1.0 - s) * np.exp(-x / 18.2) - 0.67 - w(x)),
            scanned(lambda x, s=s, w=wave: 0.17 + w(x) - s * np.exp(-x / 4.2)),
        ]
    return measured, expected


@limit(
    "CM-9.H2",
    source="a state at a threshold that moves away has crossed it; one 1e-13 below it crosses when the threshold returns, by scan",
    atol=1e-9,
    rtol=0.0,
    papers=("daan1984timing",),
)
def a_threshold_that_moves_away_is_crossed_at_once_or_on_its_return(specimen: Any) -> Any:
    c, s = rhythm(amplitude=0.2, phase=0.0), PAPER["lower"] + 1e-13
    later = scanned(
        lambda x: 0.17 + 0.2 * np.sin(2.0 * np.pi * (12.0 + x) / 24.0) - s * np.exp(-x / 4.2)
    )
    return [
        specimen.until_sleep(PAPER["upper"], 0.0, c),
        specimen.until_waking(s, 12.0, c),
        later > 6.0,
    ], [0.0, later, True]


@equation(
    "CM-9.6b",
    source=f"{MODEL}: both equations with thresholds, solve_ivp with events over ten days",
    atol=1e-7,
    rtol=0.0,
    papers=("daan1984timing",),
)
def ten_days_equal_the_integrated_model(specimen: Any) -> Any:
    return solved(specimen, 0.4, 10.0, 10, rhythm()), simulated(0.4, 10.0, 10)


@equation(
    "CM-9.L",
    source=f"{MODEL}; solve_ivp with events",
    atol=1e-7,
    rtol=0.0,
    papers=("daan1984timing",),
)
def s_after_unobserved_sleeps_equals_the_integrated_model(specimen: Any) -> Any:
    nights, c = simulated(0.4, 10.0, 6), rhythm()
    onset = 10.0 + specimen.until_sleep(0.4, 10.0, c)
    end = onset + specimen.until_waking(specimen.awake(0.4, onset - 10.0, 18.2), onset, c)
    _, _, woke, s = nights[4]
    onset6, top6, _, _ = nights[5]
    measured = [
        specimen.s_now(0.4, 10.0, onset, end, at, c)
        for at in (nights[0][0] - 1.0, woke + 5.0, onset6 + 2.0)
    ]
    return measured, [
        (1 - 0.6 * math.exp(-(nights[0][0] - 11.0) / 18.2), False),
        (1 - (1 - s) * math.exp(-5.0 / 18.2), True),
        (top6 * math.exp(-2.0 / 4.2), True),
    ]


# --- closed forms and published cycles ------------------------------------------------------------
@equation(
    "CM-9.5",
    source="closed form without C: tau_r ln(.83 / .33), tau_d ln(.67 / .17)",
    atol=1e-9,
    papers=("daan1984timing",),
)
def without_time_of_day_a_cycle_has_a_closed_form(specimen: Any) -> Any:
    c = rhythm(amplitude=0.0)
    _, s, up, top, down = specimen.cycle(c, 5)
    closed = [18.2 * math.log(0.83 / 0.33), 4.2 * math.log(0.67 / 0.17)]
    return [
        specimen.until_sleep(0.17, 5.0, c),
        specimen.until_waking(0.67, 5.0, c),
        up,
        down,
        s,
        top,
    ], [*closed, *closed, 0.17, 0.67]


@reference(
    "CM-9.5b",
    source="16.786 h awake and 5.760 h asleep",
    atol=0.001,
    rtol=0.0,
    papers=("daan1984timing",),
)
def the_free_running_cycle_has_the_known_length(specimen: Any) -> Any:
    cycle = specimen.cycle(rhythm(amplitude=0.0), 5)
    return [cycle[2], cycle[4]], [16.786, 5.760]


@reference(
    "CM-9.6",
    source="the model with a = 0.1 and 0.12, integrated: sleep, waking, S at onset",
    atol=0.005,
    rtol=0.0,
    figure="sleep_pressure",
    papers=("daan1984timing",),
)
def time_of_day_entrains_sleep_to_24_hours(specimen: Any) -> Any:
    cycles = [specimen.cycle(rhythm(amplitude=a), 100) for a in (0.1, 0.12)]
    return [[x[4], x[2], x[2] + x[4], x[3]] for x in cycles], [
        [7.69, 16.31, 24.0, 0.633],
        [7.94, 16.06, 24.0, 0.625],
    ]


@reference(
    "CM-9.6c",
    source=f"{CAPTION} c, d, e: three sleeps in four days, three in two days, two a day",
    papers=("skeldon2025complexity",),
)
def other_thresholds_give_the_published_patterns_of_sleep(specimen: Any) -> Any:
    patterns = []
    for lower in (0.09, 0.50, 0.58):
        onsets = np.array(
            [
                x[0]
                for x in solved(
                    specimen, 0.4, 0.0, 300, rhythm(upper=0.75, amplitude=0.07, lower=lower)
                )
            ]
        )
        days = [(onsets[-1] - onsets[-1 - n]) / 24.0 for n in range(1, 9)]
        first = next(n for n, d in enumerate(days) if abs(d - round(d)) < 1e-6)
        patterns.append((first + 1, round(days[first])))
    return patterns, [(3, 4), (3, 2), (2, 1)]


@equation(
    "CM-9.7",
    source="closed form of repeated 16 h awake and 8 h asleep; half-times tau ln 2",
    atol=1e-9,
    papers=("daan1984timing",),
)
def forced_days_converge_to_the_closed_form(specimen: Any) -> Any:
    s = 0.5
    for _ in range(60):
        top = specimen.awake(s, 16.0, 18.2)
        s = specimen.asleep(top, 8.0, 4.2)
    up, down = math.exp(-16.0 / 18.2), math.exp(-8.0 / 4.2)
    low = down * (1.0 - up) / (1.0 - up * down)
    return [
        s,
        top,
        specimen.awake(0.0, 18.2 * math.log(2.0), 18.2),
        specimen.asleep(1.0, 4.2 * math.log(2.0), 4.2),
    ], [low, low / down, 0.5, 0.5]


@reference(
    "CM-9.7b",
    source="S between .0928 and .6234; half-times 12.62 and 2.911 h",
    atol=0.0005,
    rtol=0.0,
    papers=("daan1984timing",),
)
def forced_days_oscillate_between_the_known_values(specimen: Any) -> Any:
    s = 0.5
    for _ in range(60):
        top = specimen.awake(s, 16.0, 18.2)
        s = specimen.asleep(top, 8.0, 4.2)
    return [s, top, specimen.awake(0.0, 12.62, 18.2), specimen.asleep(1.0, 2.911, 4.2)], [
        0.0928,
        0.6234,
        0.5,
        0.5,
    ]


@reference(
    "CM-9.8",
    source="40 h awake from .0928: S = .8993; recovery sleep 6.996 h, 1.215 times the usual",
    atol=0.001,
    rtol=0.0,
    figure="lost_night",
    papers=("daan1984timing",),
)
def a_lost_night_lengthens_sleep_by_little_over_an_hour(specimen: Any) -> Any:
    top, c = specimen.awake(0.0928, 40.0, 18.2), rhythm(amplitude=0.0)
    sleep = specimen.until_waking(top, 0.0, c)
    return [top, sleep, sleep / specimen.until_waking(0.67, 0.0, c)], [0.8993, 6.996, 1.215]


@signature(
    "CM-9.8b",
    source="recovery is by depth: initial slow-wave activity is proportional to S, the length of sleep to its logarithm",
    figure="lost_night",
    papers=("daan1984timing",),
)
def recovery_sleep_is_deeper_rather_than_longer(specimen: Any) -> Any:
    c, usual = rhythm(), specimen.cycle(rhythm(), 100)
    top = specimen.awake(usual[1], usual[2] + 24.0, 18.2)
    sleep = specimen.until_waking(top, usual[0] + usual[2], c)
    return at_least(
        (top - specimen.asleep(top, sleep, 4.2)) / (usual[3] - usual[1]) - sleep / usual[4], 0.2
    )


@equation(
    "CM-9.6e",
    source=f"{MODEL}: the first two sleeps after waking at midnight at the lower threshold, by scan",
    atol=1e-9,
    papers=("daan1984timing",),
)
def cycles_begin_at_the_lower_threshold(specimen: Any) -> Any:
    model, s, t, measured, expected = (
        TwoProcesses(1.0),
        PAPER["lower"],
        0.0,
        list[float](),
        list[float](),
    )
    for sleeps in (1, 2):
        awake = model.rise(s, t)
        top = model.up(s, awake)
        asleep = model.fall(top, t + awake)
        s, t = model.down(top, asleep), (t + awake + asleep) % 24.0
        measured += specimen.cycle(rhythm(), sleeps)
        expected += [t, s, awake, top, asleep]
    return measured, expected


# --- limits ---------------------------------------------------------------------------------------
@limit(
    "CM-9.5c",
    source="definition: with a = 0 the time of day has no effect",
    atol=1e-12,
    papers=("daan1984timing",),
)
def with_amplitude_zero_the_time_of_day_has_no_effect(specimen: Any) -> Any:
    c = rhythm(amplitude=0.0)
    return [specimen.until_sleep(0.3, t, c) for t in (0.0, 7.0, NOON)], [
        specimen.until_sleep(0.3, 3.0, c)
    ] * 3


@limit("CM-9.U", source=f"{MODEL}: mu = 1 above, 0 below", papers=("daan1984timing",))
def pressure_stays_between_zero_and_one(specimen: Any) -> Any:
    s = [
        specimen.awake(0.99, 100.0, 18.2),
        specimen.asleep(0.99, 100.0, 4.2),
        specimen.awake(0.5, specimen.effort(1e6, 1e3, 10.0, 20.0), 18.2),
    ]
    return between(s, 0.0, 1.0 - 1e-6)


# --- in an engine ---------------------------------------------------------------------------------
@adaptation(
    "SLP-1",
    source="one sleep a night, at the times of the integrated model",
    atol=1e-7,
    rtol=0.0,
    needs="engine",
)
def five_idle_days_have_five_sleeps(specimen: Any) -> Any:
    night = Night(specimen, effort=0.0, vigil=0.0).tell(NOON)
    s = night.value(specimen.PROCESS_S)
    night.memory.advance(NOON + 120.0)
    return [x[:2] for x in night.sleeps], [
        (x[0] + NOON - 12.0, x[2] + NOON - 12.0) for x in simulated(s, 12.0, 5)
    ]


@adaptation(
    "SLP-2", source="definition: an undisturbed night is 1", atol=1e-3, rtol=0.0, needs="engine"
)
def undisturbed_sleeps_are_full_nights(specimen: Any) -> Any:
    night = Night(specimen).tell(NOON)
    night.memory.advance(NOON + 120.0)
    return [x[2] for x in night.sleeps], [1.0] * 5


@adaptation(
    "SLP-3",
    source="closed form: S decays until the event, and rises from there to the threshold, found by scan",
    atol=1e-9,
    needs="engine",
)
def an_event_at_night_ends_sleep_and_leaves_the_remaining_pressure(specimen: Any) -> Any:
    night = Night(specimen, effort=0.0).tell(NOON)
    onset, s = night.value(SLEEP_ONSET), night.value(specimen.PROCESS_S)
    night.tell(onset + 3.0)
    top = 1.0 - (1.0 - s) * math.exp(-(onset - NOON) / 18.2)
    left = top * math.exp(-3.0 / 4.2)
    ((_, ended, share),) = night.sleeps
    usual = simulated(0.1, 8.0, 12)[-1]
    again = scanned(
        lambda x: (
            1.0
            - (1.0 - left) * np.exp(-x / 18.2)
            - 0.67
            - 0.12 * np.sin(2.0 * np.pi * (ended % 24.0 + x - 9.54) / 24.0)
        )
    )
    return [
        ended - onset,
        night.value(specimen.PROCESS_S),
        share,
        night.value(SLEEP_ONSET) - ended,
    ], [3.0, left, (top - left) / (usual[1] - usual[3]), again]


@adaptation(
    "SLP-3b",
    source="pressure is cleared once: the rest later in that night or in the next, which begins early",
    needs="engine",
)
def an_interrupted_night_is_compensated(specimen: Any) -> Any:
    late, early = (Night(specimen).tell(NOON) for _ in range(2))
    usual = early.value(SLEEP_ONSET)
    early.tell(usual + 0.5)
    late.tell(usual + 2.0)
    for night in (early, late):
        night.memory.advance(NOON + 48.0)
    same, after = sum(x[2] for x in early.sleeps[:2]), late.sleeps[1]
    return (
        between(same, 0.95, 1.1).passed and after[2] > 1.2 and 3.0 < usual + 24.0 - after[0] < 6.0
    )


@adaptation(
    "SLP-4",
    source="hysteresis, and `resist`: at most one short sleep a day under events without a pause",
    needs="engine",
)
def a_stream_without_pauses_has_at_most_one_sleep_a_day(specimen: Any) -> Any:
    night = Night(specimen).tell(*(NOON + np.arange(3 * 288) / 12.0))
    return between([len(night.sleeps), 2.0 * night.value(specimen.PROCESS_S)], 1.0, 3.0)


@adaptation(
    "SLP-4b",
    source="`vigil`: at most one sleep in two hours, at any rate of events",
    needs="engine",
)
def repeated_waking_does_not_make_sleep_and_waking_alternate_rapidly(specimen: Any) -> Any:
    for step in (7.0, 3.0, 2.01, 1.0, 0.05):
        night = Night(specimen).tell(*(NOON + np.arange(0.0, 72.0, step)))
        yield at_most(len(night.sleeps), 3 * 24 / 2)


@adaptation("SLP-5", source="closed form: S after 29 h awake", rtol=1e-9, needs="engine")
def pressure_rises_as_long_as_events_keep_memory_awake(specimen: Any) -> Any:
    night = Night(specimen, effort=0.0).tell(NOON)
    s = night.value(specimen.PROCESS_S)
    night.tell(*(NOON + np.arange(1, 30)))
    return [night.value(specimen.PROCESS_S), float(len(night.sleeps))], [
        1.0 - (1.0 - s) * math.exp(-29.0 / 18.2),
        0.0,
    ]


@adaptation(
    "SLP-6",
    source="definition: storing an event counts as wakefulness; surprise raises it",
    needs="engine",
)
def stored_events_add_pressure(specimen: Any) -> Any:
    times = NOON + np.arange(60) / 60.0
    with_, without = (
        Night(specimen, effort=e).tell(*times).value(specimen.PROCESS_S) for e in (0.02, 0.0)
    )
    return 0.0 < with_ - without < 0.05 and specimen.effort(9.0, 2.0, 0.02, 20.0) > specimen.effort(
        9.0, 0.0, 0.02, 20.0
    )


@adaptation(
    "SLP-7",
    source="the converged cycle at that time of day; solve_ivp with events",
    atol=1e-7,
    needs="engine",
)
def the_first_event_starts_at_the_usual_pressure_of_that_hour(specimen: Any) -> Any:
    _, _, woke, s = simulated(0.1, 8.0, 12)[-2]
    onset, top, _, _ = simulated(0.1, 8.0, 12)[-1]
    measured = [
        Night(specimen, effort=0.0).tell(24.0 * 20000 + hour).value(specimen.PROCESS_S)
        for hour in (12.0, 3.0)
    ]
    return measured, [
        1.0 - (1.0 - s) * math.exp(-((12.0 - woke) % 24.0) / 18.2),
        top * math.exp(-((3.0 - onset) % 24.0) / 4.2),
    ]


@adaptation(
    "SLP-8", source="the contract: after a sleep, the next one is in the future", needs="engine"
)
def the_next_sleep_is_in_the_future(specimen: Any) -> Any:
    night = Night(specimen).tell(NOON, NOON + 13.0, NOON + 13.0, NOON + 90.0)
    return night.value(SLEEP_END) > night.value(SLEEP_ONSET) >= night.memory.now + 2.0 - 1e-9


# Hours since the event before, number of words, surprise in nats, and whether it is stored.
STORY = ((0.0, 5, 0.0, False), (40.0, 3, 0.5, False), (5.0, 12, 2.0, True), (1.0, 1, 0.0, False),
         (6.0, 30, 0.0, True), *[(1.0, 4, 0.2, True)] * 14,
         (1.7, 2, 0.0, True), (2.9, 2, 1.0, False), (0.0, 60, 3.0, True), (26.0, 1, 0.0, True),
         (9.0, 7, 0.0, True), (75.0, 1, 0.1, True))  # fmt: skip
ODD: dict[str, Any] = {"effort": 0.4, "half_length": 9.0, "vigil": 1.5, "resist": 3.0}


class TwoProcesses:
    """S by its exponentials and the thresholds by scan and Brent's method, with events; all
    times multiplied by `scale`.
    """

    def __init__(self, scale: float) -> None:
        self.p = {
            name: x if name in ("upper", "lower", "amplitude", "half_length") else x * scale
            for name, x in (PAPER | ODD).items()
        }
        self.longest = 60.0 * scale
        t, s = 0.0, 0.3
        for _ in range(40):
            woke, low = t % self.p["day"], s
            onset = t + self.rise(s, t)
            top = self.up(s, onset - t)
            t = onset + self.fall(top, onset)
            s = self.down(top, t - onset)
        self.woke, self.low, self.top = woke, low, top
        self.share, self.since = 1.0, math.nan

    def up(self, s: float, x: float) -> float:
        return 1.0 - (1.0 - s) * math.exp(-x / self.p["tau_r"])

    def down(self, s: float, x: float) -> float:
        return s * math.exp(-x / self.p["tau_d"])

    def wave(self, t: Any) -> Any:
        return self.p["amplitude"] * np.sin(2.0 * np.pi * (t - self.p["phase"]) / self.p["day"])

    def rise(self, s: float, t: float) -> float:
        return scanned(
            lambda x: (
                1.0 - (1.0 - s) * np.exp(-x / self.p["tau_r"]) - self.p["upper"] - self.wave(t + x)
            ),
            self.longest,
        )

    def fall(self, s: float, t: float) -> float:
        return scanned(
            lambda x: self.p["lower"] + self.wave(t + x) - s * np.exp(-x / self.p["tau_d"]),
            self.longest,
        )

    def plan(self, s: float, now: float, onset: float) -> None:
        self.s, self.since, self.onset = s, now, onset
        self.end = onset + self.fall(self.up(s, onset - now), onset)

    def sleep_until(self, now: float, stored: bool) -> None:
        top = self.up(self.s, self.onset - self.since)
        s = self.down(top, now - self.onset)
        if stored:
            self.share = (top - s) / (self.top - self.low)
        self.drowsy = now + self.rise(s, now)
        self.plan(s, now, self.drowsy)

    def event(
        self, now: float, words: int, surprise: float, stored: bool, any_stored: bool
    ) -> list[float]:
        if math.isnan(self.since):
            s, x = self.low, (now - self.woke) % self.p["day"]
            onset = self.rise(s, self.woke)
            s = self.up(s, x) if x <= onset else self.down(self.top, x - onset)
            self.drowsy = math.inf
        else:
            while self.end <= now:
                self.sleep_until(self.end, any_stored)
            if self.onset < now:
                self.sleep_until(now, any_stored)
            s = self.up(self.s, now - self.since)
        if stored:
            n = self.p["effort"] * words / (words + self.p["half_length"])
            s = self.up(s, n + n * surprise / (1.0 + surprise))
        if now < self.drowsy:
            self.drowsy = now + self.rise(s, now)
        kept = now + self.p["vigil"]
        self.plan(
            s,
            now,
            min(
                kept + self.rise(self.up(s, self.p["vigil"]), kept),
                max(self.drowsy + self.p["resist"], now),
            ),
        )
        return [self.s, self.since, self.drowsy, self.onset, self.end, self.share]


def week_of_sleeps(specimen: Any, scale: float) -> tuple[Any, Any]:
    def tell(view: Any, incoming: Any) -> None:
        view.surprise, stored = told[0]
        view.veto = int(not stored)

    memory = memory_of(
        specimen, neighbour(Phase.ENCODE, tell, adds=(VETO, SURPRISE)), time_scale=scale, **ODD
    )
    model, now, any_stored, told, measured, expected = (
        TwoProcesses(scale),
        36.0 * scale,
        False,
        [(0.0, False)],
        [],
        [],
    )
    for gap, words, surprise, stored in STORY:
        now, told[0] = now + gap * scale, (surprise, stored)
        # stop words and marks are no words that tire
        encode(memory, (now, f"The {' '.join(['boat'] * words)}, and so?"))
        expected.append(model.event(now, words, surprise, stored, any_stored))
        any_stored = any_stored or stored
        columns = (
            specimen.PROCESS_S,
            specimen.PROCESS_S_SINCE,
            specimen.DROWSY_FROM,
            SLEEP_ONSET,
            SLEEP_END,
            SLEEP_SHARE,
        )
        measured.append([memory.column(c).item() for c in columns])
    return measured, expected


@equation(
    "SLP-9",
    source=f"{MODEL}: exponentials, and thresholds by scan, over a week with events; effects of events are ours",
    rtol=1e-9,
    atol=1e-7,
    papers=("daan1984timing", "skeldon2025complexity"),
)
def a_memory_sleeps_by_the_two_processes(specimen: Any) -> Any:
    return week_of_sleeps(specimen, 1.0)


@equation(
    "SLP-10",
    source=f"{MODEL}, as SLP-9 with all times halved",
    rtol=1e-9,
    atol=1e-7,
    papers=("daan1984timing", "skeldon2025complexity"),
)
def a_memory_at_another_time_scale_sleeps_by_the_two_processes(specimen: Any) -> Any:
    return week_of_sleeps(specimen, 0.5)


# --- figures --------------------------------------------------------------------------------------
def through(
    specimen: Any, days: float, c: tuple[float, ...], kept_awake: float = 0.0
) -> tuple[Any, Any]:
    """Hours from the usual onset of the first sleep, and S; `kept_awake` delays that sleep, in
    h.
    """
    woke, s, wake, _, _ = specimen.cycle(c, 100)
    times, start, until, asleep, pressures = (
        np.arange(-wake, 24.0 * days, 0.25),
        -wake,
        kept_awake,
        False,
        [],
    )
    for t in times:
        while t >= until:
            s, start, asleep = (
                specimen.asleep(s, until - start, c[1])
                if asleep
                else specimen.awake(s, until - start, c[0]),
                until,
                not asleep,
            )
            until = start + (specimen.until_waking if asleep else specimen.until_sleep)(
                s, woke + wake + start, c
            )
        pressures.append(
            specimen.asleep(s, t - start, c[1]) if asleep else specimen.awake(s, t - start, c[0])
        )
    return times, np.array(pressures)


@figure(
    "sleep_pressure",
    caption="Process S rises to the upper threshold while awake and falls to the lower one in sleep; both vary with the time "
    "of day, which entrains the cycle to 24 h",
    source=f"{MODEL}; as in {CAPTION}",
)
def pressure_over_three_days(specimen: Any) -> Picture:
    c = rhythm()
    woke, _, wake, _, _ = specimen.cycle(c, 100)
    times = np.arange(-wake, 100.0, 0.5)
    wave = np.array([specimen.circadian(float(woke + wake + t), *c[4:]) for t in times])
    return Picture(
        "hours from the first evening",
        "pressure S",
        (
            Curve("S", *through(specimen, 2.5, c)),
            Curve("sleep above, H+ + C", times, c[2] + wave),
            Curve("wake below, H- + C", times, c[3] + wave),
        ),
    )


@figure(
    "lost_night",
    caption="After a lost night the next sleep is little longer, but deeper, as it starts from a higher "
    "S",
    source=f"{MODEL}, awake for a day more",
)
def pressure_after_a_lost_night(specimen: Any) -> Picture:
    return Picture(
        "hours from the first evening",
        "pressure S",
        tuple(
            Curve(label, *through(specimen, 3.0, rhythm(), hours))
            for label, hours in (("usual", 0.0), ("the first night lost", 24.0))
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("a pressure that rises linearly", rejected_by="CM-9.S")
def linear(specimen: Any) -> Any:
    return specimen.replacing("awake", lambda s, t, tau_r: min(s + t * (1.0 - s) / tau_r, 1.0))


@mutant("sleep clears pressure linearly", rejected_by="CM-9.7")
def linear_sleep(specimen: Any) -> Any:
    return specimen.replacing("asleep", lambda s, t, tau_d: max(s - t * s / tau_d, 0.0))


@mutant("a single threshold", rejected_by="CM-9.5")
def single_threshold(specimen: Any) -> Any:
    return specimen.replacing(
        "until_waking",
        lambda s, t, rhythm: specimen.until_waking(s, t, (*rhythm[:3], rhythm[2], *rhythm[4:])),
    )


@mutant("rise and decay exchanged", rejected_by="CM-9.5")
def exchanged(specimen: Any) -> Any:
    return specimen.replacing(
        "until_sleep",
        lambda s, t, rhythm: specimen.until_sleep(s, t, (rhythm[1], rhythm[0], *rhythm[2:])),
    )


@mutant("the time of day moves the upper threshold only", rejected_by="CM-9.6")
def upper_only(specimen: Any) -> Any:
    return specimen.replacing(
        "until_waking",
        lambda s, t, rhythm: specimen.until_waking(s, t, (*rhythm[:4], 0.0, *rhythm[5:])),
    )


@mutant("Process C with the opposite sign", rejected_by="CM-9.H")
def upside_down(specimen: Any) -> Any:
    return specimen.replacing(
        "first_rise", lambda k, b, tau, c, *rest: specimen.first_rise(k, b, tau, -c, *rest)
    )


@mutant("steps that pass a crossing", rejected_by="CM-9.H")
def coarse(specimen: Any) -> Any:
    def first_rise(
        k: float, b: float, tau: float, c: float, t: float, phi: float, day: float
    ) -> float:
        x = 0.0
        while k - b * math.exp(-x / tau) + c * math.sin(2.0 * math.pi * (t + x - phi) / day) < 0.0:
            x += 6.0
        return x

    return specimen.replacing("first_rise", first_rise)


@mutant("a cosine instead of the sine", rejected_by="CM-9.C")
def cosine(specimen: Any) -> Any:
    return specimen.replacing(
        "circadian", lambda t, a, phi, day: a * math.cos(2.0 * math.pi * (t - phi) / day)
    )


@mutant("no pressure left after an interrupted sleep", rejected_by="SLP-3")
def no_debt(specimen: Any) -> Any:
    return specimen.replacing(
        "s_now",
        lambda s, since, onset, end, now, rhythm: (
            (0.17, True) if now > onset else specimen.s_now(s, since, onset, end, now, rhythm)
        ),
    )


@mutant("missed sleeps are ignored", rejected_by="CM-9.L")
def no_missed_sleep(specimen: Any) -> Any:
    return specimen.replacing(
        "s_now",
        lambda s, since, onset, end, now, rhythm: (
            specimen.awake(s, now - since, rhythm[0]),
            False,
        ),
    )


@mutant("pressure from time alone, not from stored events", rejected_by="SLP-6")
def clock_only(specimen: Any) -> Any:
    return specimen.replacing("effort", lambda words, surprise, most, half: 0.0)


@mutant("no bound on the effort of a long text", rejected_by="CM-9.U")
def unbounded(specimen: Any) -> Any:
    return specimen.replacing(
        "effort", lambda words, surprise, most, half: most * words * (1.0 + surprise)
    )


@mutant("the first cycle instead of the converged one", rejected_by="CM-9.6")
def unsettled(specimen: Any) -> Any:
    return specimen.replacing("cycle", lambda rhythm, sleeps: specimen.cycle(rhythm, 1))


@mutant("events end sleep, but do not keep memory awake", rejected_by="SLP-4b")
def restless(specimen: Any) -> Any:
    def hours(self: Any, parameter: str) -> float:
        return 0.0 if parameter == "vigil" else float(specimen.SleepPressure.hours(self, parameter))

    return specimen.overriding("SleepPressure", hours=hours)


@mutant("an event that is not stored adds pressure, too", rejected_by="SLP-9")
def vetoed_too(specimen: Any) -> Any:
    def attend(self: Any, view: Any, incoming: Any) -> None:
        specimen.SleepPressure.attend(self, view, incoming)
        if view.veto:
            words = specimen.effort(
                len(incoming.terms), view.surprise, self.hours("effort"), self.params.half_length
            )
            self._plan(
                view,
                specimen.awake(view.process_s, words, self.rhythm[0]),
                view.now,
                view.sleep_onset,
            )

    return specimen.overriding("SleepPressure", attend=attend)


@mutant("every word tires, stop words included", rejected_by="SLP-9")
def every_word(specimen: Any) -> Any:
    original = specimen.effort
    return specimen.replacing("effort", lambda words, *rest: original(words + 3, *rest))


@mutant("no limit to the delay of sleep", rejected_by="SLP-4")
def endless(specimen: Any) -> Any:
    def hours(self: Any, parameter: str) -> float:
        return (
            1e6 if parameter == "resist" else float(specimen.SleepPressure.hours(self, parameter))
        )

    return specimen.overriding("SleepPressure", hours=hours)


@mutant("a threshold that is just met and moves away counts on its return", rejected_by="CM-9.H2")
def on_its_return(specimen: Any) -> Any:
    return specimen.replacing("first_rise", lambda k, *rest: specimen.first_rise(k - 1e-15, *rest))
