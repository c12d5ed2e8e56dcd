"""Evidence for base_level_activation.  References are sums over all uses, closed forms and
published data; none calls a kernel it judges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import curve_fit, minimize_scalar

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import ACTIVATION
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import (
    adaptation,
    at_least,
    at_most,
    data,
    equation,
    limit,
    mutant,
    reference,
    rival,
    signature,
)
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, plug_in, with_numbers
from ..paper_numbers import paper_number
from .shared.views import Instead
from .temporal_context import WordParams, Words

Vector = NDArray[np.float64]
# Pavlik & Anderson 2005, as generally quoted
A, C = 0.177, 0.217
NUMBERS = (
    paper_number(
        "decay_intercept",
        A,
        "1",
        paper="pavlik2005practice",
        where="a, as generally quoted; the paper was not opened",
    ),
    paper_number(
        "decay_scale",
        C,
        "1",
        paper="pavlik2005practice",
        where="c, as generally quoted; the paper was not opened",
    ),
)
EVEN = np.arange(100.0, 1001.0, 100.0)  # s, ages of uses spread evenly
TRANSIENT = np.array([1.0, 500, 600, 700, 800, 900, 950, 970, 990, 1000])
EBBINGHAUS_MIN = np.array([19.0, 63, 525, 1440, 2880, 8640, 44640])
EBBINGHAUS_SAVINGS = np.array([58.2, 44.2, 35.8, 33.7, 27.8, 25.4, 21.1])
EBBINGHAUS = "Ebbinghaus 1885, savings in % at the true intervals; Murre & Dros 2015"
ZETA_HALF = -1.4603545088095868  # Riemann zeta at 1/2
RECENT_ENOUGH = -200.0  # ln of an age near 0


# --- references and instruments -------------------------------------------------------------------
def exact(ages: ArrayLike, d: float) -> float:
    """The definition: ln of the sum over all uses."""
    return math.log(sum(float(t) ** -d for t in np.asarray(ages)))


def optimised(n: int, life: float, d: float) -> float:
    """ACT-R's optimised learning: n uses spread evenly over a life."""
    return math.log(n / (1.0 - d)) - d * math.log(life)


def r_squared(y: Vector, fitted: Vector) -> float:
    return float(1.0 - np.sum((y - fitted) ** 2) / np.sum((y - y.mean()) ** 2))


def fitted(curve: Callable[..., Any], start: Sequence[float]) -> tuple[Vector, float]:
    """Least-squares parameters and R^2 of a curve (minutes, *parameters) on Ebbinghaus' savings."""
    best, _ = curve_fit(curve, EBBINGHAUS_MIN, EBBINGHAUS_SAVINGS, p0=start, maxfev=10_000)
    return np.asarray(best), r_squared(EBBINGHAUS_SAVINGS, np.asarray(curve(EBBINGHAUS_MIN, *best)))


def activation_of(
    specimen: Any, ages: ArrayLike, d: float = 0.5, kept: int = 64, seconds: float = 1.0
) -> float:
    """The specimen's B of a memory with uses at these ages (in units of `seconds`), all of one
    decay.
    """
    times = -np.sort(np.asarray(ages, dtype=np.float64))
    recent, decays = np.full((1, kept), np.nan), np.full((1, kept), d)
    recent[0, : min(kept, len(times))] = times[:kept]
    out = np.full(1, np.nan)
    specimen.activation(0.0, times[-1:], np.array([len(times)]), recent, decays, seconds, out)
    return float(out[0])


class Practice:
    """One memory used at given seconds, with the specimen's own decay of each use."""

    def __init__(
        self, specimen: Any, times: Sequence[float], a: float = A, c: float = C, kept: int = 8
    ) -> None:
        self.specimen, self.created, self.uses = (
            specimen,
            np.array([times[0]], dtype=np.float64),
            np.zeros(1, dtype=np.int64),
        )
        self.recent, self.decays = np.full((1, kept), np.nan), np.full((1, kept), np.nan)
        for now in times:
            specimen.use(
                np.array([0]),
                float(now),
                self.created,
                self.uses,
                self.recent,
                self.decays,
                1.0,
                a,
                c,
            )

    def at(self, now: float) -> float:
        out = np.full(1, np.nan)
        self.specimen.activation(now, self.created, self.uses, self.recent, self.decays, 1.0, out)
        return float(out[0])


# --- the equations --------------------------------------------------------------------------------
@equation(
    "CM-6.1",
    source="Anderson & Lebiere 1998, uses spread evenly: B = ln(n / (1-d)) - d ln L",
    atol=1e-12,
    papers=("anderson1998atomic",),
)
def evenly_spread_uses_include_the_constant(specimen: Any) -> Any:
    cases = [(n, life, d) for n in (1, 10, 1000) for life in (10.0, 1e6) for d in (0.3, 0.5)]
    above = [
        math.log(specimen.older_uses(n, d, math.log(life), RECENT_ENOUGH))
        - (math.log(n) - d * math.log(life))
        for n, life, d in cases
    ]
    return above, [-math.log(1.0 - d) for _, _, d in cases]


@equation(
    "CM-6.2a",
    source="definition B = ln sum t^-d",
    papers=("anderson1991reflections", "anderson1998atomic"),
)
def keeping_every_use_is_exact(specimen: Any) -> Any:
    return [activation_of(specimen, EVEN), activation_of(specimen, EVEN, d=0.8)], [
        exact(EVEN, 0.5),
        exact(EVEN, 0.8),
    ]


@equation(
    "CM-6.2b",
    source="Petrov 2006, hybrid with the 1, 3 and 10 latest of ten uses kept",
    atol=1e-6,
    papers=("petrov2006computationally",),
)
def the_hybrid_has_its_published_values(specimen: Any) -> Any:
    return [activation_of(specimen, EVEN, kept=k) for k in (1, 3, 10)], [
        -0.630256,
        -0.664577,
        -0.688956,
    ]


@equation(
    "CM-6.2c",
    source="Petrov 2006: at d = 1/2 the older uses add 2 (n-k) / (sqrt t_n + sqrt t_k); at d = 1 their limit is a logarithm",
    papers=("petrov2006computationally",),
)
def the_older_uses_have_their_closed_forms(specimen: Any) -> Any:
    t_n, t_k = 900.0, 25.0
    measured = [specimen.older_uses(7, d, math.log(t_n), math.log(t_k)) for d in (0.5, 1.0, 1.5)]
    inverse_root = (t_n**-0.5 - t_k**-0.5) / -0.5
    return measured, [
        7 * 2 / (math.sqrt(t_n) + math.sqrt(t_k)),
        7 * math.log(t_n / t_k) / (t_n - t_k),
        7 * inverse_root / (t_n - t_k),
    ]


@limit(
    "CM-6.3",
    source="Euler-Maclaurin: exact - optimised -> ln(1 + zeta(1/2) / (2 sqrt n) + 1 / (4n))",
    atol=5e-4,
    papers=("anderson1998atomic",),
)
def many_uses_approach_the_evenly_spread_form(specimen: Any) -> Any:
    sizes = (10, 100, 1000)
    measured = [
        activation_of(specimen, np.arange(1.0, n + 1.0) * 100.0, kept=n)
        - optimised(n, n * 100.0, 0.5)
        for n in sizes
    ]
    return measured, [
        math.log(1.0 + ZETA_HALF / (2.0 * math.sqrt(n)) + 1.0 / (4.0 * n)) for n in sizes
    ]


@signature(
    "CM-6.4",
    source="Petrov 2006: a use a second ago; exact 0.2776, hybrid with one use kept 0.4394",
    atol=1e-4,
    papers=("petrov2006computationally",),
)
def a_recent_use_lifts_activation_at_once(specimen: Any) -> Any:
    return [
        activation_of(specimen, TRANSIENT, kept=10),
        activation_of(specimen, TRANSIENT, kept=1),
    ], [0.2776, 0.4394]


@signature(
    "CM-6.5a",
    source="Fisher, Houpt & Gunzelmann 2018: the evenly spread form is least at d = 1 - 1/ln L; L = 1000",
    atol=1e-4,
    papers=("fisher2018comparison",),
)
def the_evenly_spread_form_is_not_monotone_in_d(specimen: Any) -> Any:
    lowest = minimize_scalar(
        lambda d: specimen.older_uses(10, d, math.log(1000.0), RECENT_ENOUGH),
        bounds=(0.5, 0.99),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return float(lowest.x), 1.0 - 1.0 / math.log(1000.0)


@signature(
    "CM-6.5b",
    source="Fisher, Houpt & Gunzelmann 2018: every t^-d falls with d where t > 1",
    papers=("fisher2018comparison",),
)
def with_every_use_kept_more_decay_is_less_activation(specimen: Any) -> Any:
    return at_most(
        np.diff([activation_of(specimen, EVEN, d=d) for d in np.linspace(0.05, 0.99, 40)]), -1e-3
    )


@equation(
    "CM-6.6",
    source="closed form: a power law has no time scale; d = 1/2",
    papers=("anderson1998atomic",),
)
def one_trace_loses_ln_two_whenever_its_age_quadruples(specimen: Any) -> Any:
    ages = (10.0, 3600.0, 1e6)
    return [
        activation_of(specimen, [4.0 * t]) - activation_of(specimen, [t]) for t in ages
    ], -math.log(2.0)


@reference(
    "CM-6.7a",
    source=f"{EBBINGHAUS}; power function a t^-b, as in Wixted & Ebbesen 1991",
    rtol=2e-3,
    figure="ebbinghaus",
    papers=("ebbinghaus1885gedachtnis", "murre2015replication", "wixted1991form"),
)
def odds_of_one_trace_fit_the_savings_as_a_power_function(specimen: Any) -> Any:
    def savings(minutes: Vector, scale: float, d: float) -> Vector:
        return np.array([scale * math.exp(activation_of(specimen, [m], d=d)) for m in minutes])

    (scale, d), r2 = fitted(savings, [80.0, 0.2])
    return [scale, d, r2], [81.84, 0.1302, 0.975]


@data(
    "CM-6.7d",
    source=f"{EBBINGHAUS}; odds of one trace with the decay that ships, scaled to the savings and nothing else fitted",
    figure="ebbinghaus",
    papers=("ebbinghaus1885gedachtnis", "murre2015replication"),
    subjects="one, Ebbinghaus himself",
)
def the_decay_that_ships_is_near_the_savings(specimen: Any) -> Any:
    d = plug_in(specimen).params.decay_intercept
    odds = np.array([math.exp(activation_of(specimen, [60.0 * m], d=d)) for m in EBBINGHAUS_MIN])
    scale = float(odds @ EBBINGHAUS_SAVINGS / (odds @ odds))
    return at_least(r_squared(EBBINGHAUS_SAVINGS, scale * odds), 0.8)


@data(
    "CM-6.7b",
    source=f"{EBBINGHAUS}; savings are linear in activation, whose slope is free, so that d is not tested",
    figure="ebbinghaus",
    papers=("ebbinghaus1885gedachtnis", "murre2015replication"),
    subjects="one, Ebbinghaus himself",
)
def savings_are_linear_in_activation(specimen: Any) -> Any:
    d = plug_in(specimen).params.decay_intercept
    curve = np.array([activation_of(specimen, [60.0 * m], d=d) for m in EBBINGHAUS_MIN])
    _, r2 = fitted(lambda t, high, gain: high + gain * curve, [50.0, 5.0])
    return at_least(r2, 0.93)


@figure(
    "ebbinghaus",
    caption="Odds of one trace, scaled to Ebbinghaus' savings, and the best exponential",
    source=EBBINGHAUS,
)
def forgetting_over_the_savings(specimen: Any) -> Picture:
    def savings(minutes: Vector, scale: float, d: float) -> Vector:
        return np.array([scale * math.exp(activation_of(specimen, [m], d=d)) for m in minutes])

    minutes, (best, _) = np.geomspace(15.0, 60_000.0, 80), fitted(savings, [80.0, 0.2])
    (high, rate), _ = fitted(lambda t, high, rate: high * np.exp(-rate * t), [50.0, 1e-4])
    return Picture(
        "time since learning, min",
        "savings, %",
        (
            Curve("mechanism, power law", minutes, savings(minutes, *best)),
            dots("Ebbinghaus 1885", EBBINGHAUS_MIN, EBBINGHAUS_SAVINGS),
            Curve("best exponential", minutes, high * np.exp(-rate * minutes)),
        ),
        log="x",
    )


@figure(
    "spacing_crossover",
    caption="Two uses ten seconds or a day apart: massed practice is ahead at first, spaced practice later",
    source="Pavlik & Anderson 2005, the recursion with a = 0.177, c = 0.217",
)
def massed_and_spaced_practice(specimen: Any) -> Picture:
    waits = np.geomspace(5.0, 60 * 86_400.0, 60)
    return Picture(
        "time since the second use, s",
        "activation, ln odds",
        tuple(
            Curve(
                label,
                waits,
                np.array([Practice(specimen, [0.0, lag]).at(lag + wait) for wait in waits]),
            )
            for label, lag in (("10 s apart", 10.0), ("a day apart", 86_400.0))
        ),
        log="x",
    )


@equation(
    "CM-6.8a",
    source="Pavlik & Anderson 2005: d_2 = c e^m + a at lags 10, 100, 1000, 86400 s",
    atol=1e-4,
    papers=("pavlik2005practice",),
)
def a_use_decays_faster_the_higher_the_activation_before_it(specimen: Any) -> Any:
    return [Practice(specimen, [0.0, lag]).decays[0, 0] for lag in (10.0, 100.0, 1e3, 86_400.0)], [
        0.3214,
        0.2730,
        0.2409,
        0.2060,
    ]


@signature(
    "CM-6.8b",
    source="Pavlik & Anderson 2005; two uses 10 s or a day apart, tested after 10 s and 7 d",
    atol=1e-3,
    figure="spacing_crossover",
    papers=("pavlik2005practice",),
)
def massed_wins_early_and_spaced_wins_late(specimen: Any) -> Any:
    measured = [
        Practice(specimen, [0.0, lag]).at(lag + wait)
        for wait in (10.0, 7 * 86_400.0)
        for lag in (10.0, 86_400.0)
    ]
    return measured, [0.0635, -0.2797, -2.2198, -1.8518]


@equation(
    "CM-6.8c",
    source="Pavlik & Anderson 2005, recursion over five uses: the definition, all uses kept",
    rtol=1e-9,
    papers=("pavlik2005practice",),
)
def a_history_of_uses_equals_the_recursion(specimen: Any) -> Any:
    times, decays = [0.0, 7.0, 30.0, 4000.0, 90_000.0], [A]
    for j, now in enumerate(times[1:], start=1):
        decays.append(C * sum((now - t) ** -d for t, d in zip(times[:j], decays, strict=True)) + A)
    expected = math.log(sum((200_000.0 - t) ** -d for t, d in zip(times, decays, strict=True)))
    return Practice(specimen, times).at(200_000.0), expected


@equation("CM-6.9", source="closed form: counting in hours instead of seconds adds d ln 3600")
def a_change_of_unit_shifts_activation(specimen: Any) -> Any:
    ages = np.array([2.0, 30.0, 400.0])
    return activation_of(specimen, ages, seconds=1.0) - activation_of(
        specimen, ages, seconds=3600.0
    ), 0.5 * math.log(3600.0)


def lived(specimen: Any, uses: Sequence[float], until: float, time_scale: float) -> float:
    """ACTIVATION through the engine at `until` (h) of a memory that is encoded at the first of
    these times (h) and recalled at the others.
    """
    params = specimen.BaseLevelParams(
        time_scale=time_scale, decay_intercept=A, decay_scale=C, kept_uses=4
    )
    memory = Engine(
        [
            Words("words", WordParams(1.0)),
            specimen.BaseLevelActivation("base_level_activation", params),
        ],
        HashingEmbedder(16),
    )
    memory.encode(Event(uses[0], "ash"))
    for time in uses[1:]:
        memory.advance(time)
        memory.retrieve("ash", k=1, learn=True)
    memory.advance(until)
    return float(memory.column(ACTIVATION)[0])


def recursion(uses: Sequence[float], until: float, seconds: float) -> float:
    """Pavlik & Anderson's m after uses at these times (h), with so many seconds counted in an
    hour.
    """
    decays = [A]
    for j, now in enumerate(uses[1:], start=1):
        decays.append(
            C * sum(((now - t) * seconds) ** -d for t, d in zip(uses[:j], decays, strict=True)) + A
        )
    return math.log(sum(((until - t) * seconds) ** -d for t, d in zip(uses, decays, strict=True)))


DAYS = (0.0, 24.0, 72.0, 73.0)


@equation(
    "CM-6.8d",
    source="Pavlik & Anderson 2005, recursion in seconds; a memory encoded and recalled three times in three days",
    rtol=1e-9,
    needs="engine",
    papers=("pavlik2005practice",),
)
def a_memory_recalled_on_three_days_follows_the_recursion(specimen: Any) -> Any:
    return [lived(specimen, DAYS[:n], 240.0, 1.0) for n in (1, 2, 4)], [
        recursion(DAYS[:n], 240.0, 3600.0) for n in (1, 2, 4)
    ]


@adaptation(
    "CM-6.10",
    source="Pavlik & Anderson 2005 as generally quoted, paper not opened: time between sessions counts h = 0.025 times, a day as "
    "36 min; the recursion with that clock for uses in different sessions",
    rtol=1e-9,
    needs="engine",
    papers=("pavlik2005practice",),
)
def a_time_scale_of_one_over_h_slows_the_clock_between_sessions(specimen: Any) -> Any:
    h, sessions = 0.025, (0.0, 24.0, 72.0)
    measured = [lived(specimen, sessions, 240.0, 1.0 / h), lived(specimen, sessions, 240.0, 1.0)]
    return [measured[0], measured[0] - measured[1] > 0.5], [
        recursion(sessions, 240.0, 3600.0 * h),
        True,
    ]


def by_the_paper(
    uses: Sequence[float], decays: Sequence[float], now: float, kept: int, seconds: float
) -> float:
    """Petrov's hybrid with the `kept` latest uses (h) summed, each with its own decay; the older
    ones share the decay of the oldest kept.
    """
    ages = [max((now - time) * seconds, 1.0) for time in uses]
    total = sum(age**-d for age, d in list(zip(ages, decays, strict=True))[-kept:])
    if len(uses) > kept:
        first, last, d = ages[0], ages[-kept], decays[-kept]
        total += (
            (len(uses) - kept)
            * (first ** (1.0 - d) - last ** (1.0 - d))
            / ((1.0 - d) * (first - last))
        )
    return math.log(total)


def used_in_memory(
    specimen: Any, time_scale: float | None, kept: int, a: float, c: float
) -> tuple[Any, Any]:
    """ACTIVATION, number of uses and decay of the last use of three memories, and the recursion
    over the uses of each.

    One memory is used more often than uses are kept; one is archived; one answer changes nothing;
    one recall follows another within a second.
    """
    memory = memory_of(
        specimen,
        Words("words", WordParams(1.0)),
        time_scale=time_scale,
        decay_intercept=a,
        decay_scale=c,
        kept_uses=kept,
    )
    seconds, uses, decays = 3600.0 / (time_scale or 1.0), list[list[float]](), list[list[float]]()
    measured, expected = list[float](), list[float]()

    def used(row: int, now: float) -> None:
        decays[row].append(
            a
            + (
                c * math.exp(by_the_paper(uses[row], decays[row], now, kept, seconds))
                if uses[row]
                else 0.0
            )
        )
        uses[row].append(now)

    def compared(now: float) -> None:
        memory.advance(now)
        measured.extend(
            [
                *memory.column(ACTIVATION),
                *memory.column(specimen.USES),
                *memory.column(specimen.RECENT_DECAYS)[:, 0],
            ]
        )
        expected.extend(
            [
                *(
                    by_the_paper(u, d, now, kept, seconds)
                    for u, d in zip(uses, decays, strict=True)
                ),
                *map(len, uses),
            ]
        )
        expected.extend(d[-1] for d in decays)

    for row, (time, text) in enumerate(((0.0, "ash"), (1.0, "birch"), (5.0, "cedar"))):
        encode(memory, (time, text))
        uses.append([])
        decays.append([])
        used(row, time)
        compared(time)
    for now, query, k, learn in (
        (10.0, "ash", 1, True),
        (12.0, "birch", 3, True),
        (12.0002, "ash", 1, True),
        (20.0, "ash", 1, False),
        (31.0, "cedar", 2, True),
        (60.0, "ash", 1, True),
        (200.0, "birch", 2, True),
    ):
        compared(now)
        for row in memory.retrieve(query, k=k, learn=learn).rows.tolist() if learn else ():
            used(row, now)
        if now == 12.0:
            memory.archive(2)
    compared(200.0)
    compared(900.0)
    return measured, expected


@equation(
    "CM-6.11",
    source="Pavlik & Anderson 2005, recursion; Petrov 2006, hybrid; uses of three memories, two kept, with odd numbers",
    rtol=1e-9,
    papers=("pavlik2005practice", "petrov2006computationally"),
)
def uses_in_a_memory_follow_the_recursion_and_the_hybrid(specimen: Any) -> Any:
    return used_in_memory(specimen, None, 2, 0.31, 0.47)


@equation(
    "CM-6.11b",
    source="as CM-6.11 with the numbers of the papers, an hour that lasts 720 s, and four uses kept",
    rtol=1e-9,
    papers=("pavlik2005practice", "petrov2006computationally"),
)
def at_another_time_scale_uses_follow_the_recursion(specimen: Any) -> Any:
    return used_in_memory(specimen, 5.0, 4, A, C)


@limit(
    "CM-6.L1",
    source="definition: c = 0 is plain ACT-R with decay a",
    papers=("pavlik2005practice",),
)
def with_scale_zero_it_is_plain_act_r(specimen: Any) -> Any:
    return Practice(specimen, [0.0, 10.0, 500.0], a=0.5, c=0.0).at(1000.0), exact(
        [1000.0, 990.0, 500.0], 0.5
    )


@limit(
    "CM-6.L2",
    source="definition: n uses at one moment have n t^-d; a memory without uses has no value and is not written",
    papers=("anderson1998atomic",),
)
def uses_at_one_moment_count_each(specimen: Any) -> Any:
    out = np.array([7.0])
    specimen.activation(
        9.0,
        np.zeros(1),
        np.zeros(1, np.int64),
        np.full((1, 2), np.nan),
        np.full((1, 2), np.nan),
        1.0,
        out,
    )
    return [
        activation_of(specimen, [1000.0] * 9, d=0.3, kept=4),
        activation_of(specimen, [50.0] * 9, d=1.0, kept=1),
        *out,
    ], [math.log(9.0) - 0.3 * math.log(1000.0), math.log(9.0 / 50.0), 7.0]


@adaptation("CM-6.A1", source="ours: uses of random histories, four kept against all")
def keeping_four_uses_is_nearly_exact(specimen: Any) -> Any:
    rng = np.random.default_rng(0)
    histories = [np.sort(rng.uniform(1.0, 1e6, rng.integers(5, 40))) for _ in range(200)]
    off = [abs(activation_of(specimen, ages, kept=4) - exact(ages, 0.5)) for ages in histories]
    return at_most(float(np.mean(off)), 0.05)


@adaptation("CM-6.A2", source="ours: uses within the same second")
def uses_at_the_same_moment_give_finite_activation(specimen: Any) -> Any:
    crowd = Practice(specimen, [5.0] * 40)
    return at_most(np.abs([crowd.at(5.0), crowd.at(6.0), crowd.at(1e9)]), 200.0)


# --- mutants --------------------------------------------------------------------------------------
def per_row(formula: Callable[..., float]) -> Callable[..., None]:
    """An `activation` that applies a formula (ages of kept uses, age of the first, uses, decays)
    to every memory.
    """

    def activation(
        now: float,
        created: Vector,
        uses: Any,
        recent: Vector,
        decays: Vector,
        seconds: float,
        out: Vector,
    ) -> None:
        for i in np.flatnonzero(uses):
            kept = min(int(uses[i]), recent.shape[1])
            out[i] = formula(
                np.maximum((now - recent[i, :kept]) * seconds, 1.0),
                max((now - created[i]) * seconds, 1.0),
                uses[i],
                decays[i],
            )

    return activation


def with_course(specimen: Any, course: Callable[[float], float]) -> Any:
    """The specimen whose activation is another function of the minutes since the one use."""

    def activation(
        now: float, created: Any, uses: Any, recent: Any, decays: Any, seconds: float, out: Any
    ) -> None:
        out[:] = [course((now - t) / 60.0) for t in recent[:, 0]]

    return specimen.replacing("activation", activation)


@rival("an exponential, at its best", rejected_by="CM-6.7b")
def exponential_savings(specimen: Any) -> Any:
    _, rate = fitted(lambda t, high, rate: high * np.exp(-rate * t), [50.0, 1e-4])[0]
    return with_course(specimen, lambda minutes: math.exp(-rate * minutes))


@rival("an exponential of the odds, at its best", rejected_by="CM-6.7d")
def exponential_odds(specimen: Any) -> Any:
    _, rate = fitted(lambda t, high, rate: high * np.exp(-rate * t), [50.0, 1e-4])[0]
    return with_course(specimen, lambda minutes: -rate * minutes)


@mutant("a third of the decay", rejected_by="CM-6.7d")
def slow_decay(specimen: Any) -> Any:
    return with_numbers(specimen, decay_intercept=0.177 / 3.0)


@mutant("three times the decay", rejected_by="CM-6.7d")
def fast_decay(specimen: Any) -> Any:
    return with_numbers(specimen, decay_intercept=0.177 * 3.0)


@rival("a line over time", rejected_by="CM-6.7b")
def linear_savings(specimen: Any) -> Any:
    return with_course(specimen, lambda minutes: -minutes)


@rival("a hyperbola of the rate that fits best", rejected_by="CM-6.7b")
def hyperbolic_savings(specimen: Any) -> Any:
    _, rate = fitted(lambda t, high, rate: high / (1.0 + rate * t), [50.0, 0.01])[0]
    return with_course(specimen, lambda minutes: 1.0 / (1.0 + rate * minutes))


@mutant("exponential forgetting", rejected_by="CM-6.6")
def exponential(specimen: Any) -> Any:
    return specimen.replacing(
        "activation", per_row(lambda ages, life, n, d: math.log(np.exp(-d[0] * ages / 1e5).sum()))
    )


@mutant("age since the last use only", rejected_by="CM-6.2a")
def last_use_only(specimen: Any) -> Any:
    return specimen.replacing(
        "activation", per_row(lambda ages, life, n, d: -d[0] * math.log(ages[0]))
    )


@mutant("number of uses and age of the last one", rejected_by="CM-6.4")
def count_and_last(specimen: Any) -> Any:
    return specimen.replacing(
        "activation",
        per_row(lambda ages, life, n, d: math.log(n / (1.0 - d[0])) - d[0] * math.log(ages[0])),
    )


@mutant("one decay for all uses", rejected_by="CM-6.8b")
def fixed_decay(specimen: Any) -> Any:
    return specimen.replacing("decay_of_use", lambda m, a, c: a)


@mutant("decay set by the activation after the use", rejected_by="CM-6.8a")
def decay_after(specimen: Any) -> Any:
    return specimen.replacing("decay_of_use", lambda m, a, c: c * (math.exp(m) + 1.0) + a)


@mutant("the constant -ln(1-d) dropped", rejected_by="CM-6.1")
def no_constant(specimen: Any) -> Any:
    return specimen.replacing(
        "older_uses", lambda count, d, first, kept: count * math.exp(-d * first)
    )


@mutant("older uses ignored", rejected_by="CM-6.2b")
def only_the_kept(specimen: Any) -> Any:
    return specimen.replacing("older_uses", lambda count, d, first, kept: 0.0)


@mutant("hours instead of seconds", rejected_by="CM-6.8b")
def hours_for_seconds(specimen: Any) -> Any:
    return specimen.replacing(
        "log_age", lambda now, time, seconds: math.log(max((now - time) * seconds, 1.0) / 3600.0)
    )


@mutant("recall is no use", rejected_by="CM-6.8d")
def unused(specimen: Any) -> Any:
    return specimen.replacing(
        "use",
        lambda rows, now, created, uses, *rest: specimen.use(
            rows[uses[rows] == 0], now, created, uses, *rest
        ),
    )


@mutant("the time scale makes the clock faster", rejected_by="CM-6.10")
def faster_clock(specimen: Any) -> Any:
    def seconds(self: Any) -> float:
        return 3600.0 * float(self.params.time_scale)

    return specimen.overriding("BaseLevelActivation", seconds=property(seconds))


@mutant("only the best memory of an answer is used", rejected_by="CM-6.11")
def best_alone(specimen: Any) -> Any:
    def on_recall(self: Any, view: Any, cue: Any) -> None:
        best = Instead(view, recalled=view.recalled[:1])
        specimen.BaseLevelActivation.on_recall(self, best, cue)

    return specimen.overriding("BaseLevelActivation", on_recall=on_recall)


@mutant("intercept and scale exchanged", rejected_by="CM-6.11b")
def exchanged(specimen: Any) -> Any:
    return specimen.replacing("decay_of_use", lambda m, a, c: a * math.exp(m) + c)
