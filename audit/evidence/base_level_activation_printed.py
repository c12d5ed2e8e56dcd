"""Evidence for base_level_activation_printed: the checks of the paper's form, run on Cortex'
printed equation and on its heat.

The source claims FAITHFUL to ACT-R; the checks that fail here decide that claim.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...engine.contract.vocabulary import ACTIVATION
from ..checks import adaptation, at_least, at_most, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from .base_level_activation import (
    EBBINGHAUS,
    EBBINGHAUS_MIN,
    EBBINGHAUS_SAVINGS,
    EVEN,
    TRANSIENT,
    ZETA_HALF,
    exact,
    fitted,
)

RATE = -math.log(0.95)  # 1/h


def printed(specimen: Any, ages: ArrayLike, d: float = 0.5) -> float:
    """The printed B of a memory with uses at these ages, in the unit that L is counted in."""
    return float(specimen.base_level(np.size(ages), float(np.max(ages)), d))


def heat_odds(specimen: Any, age: float) -> float:
    """ln odds of the heat of a memory never recalled, at an age in hours."""
    return float(specimen.log_odds(specimen.heat(1.0, 0.0, age, RATE, 1.0)))


@equation("CM-6.0", source="Cortex 4.4.1, the printed equation", papers=("cortex2026",))
def the_printed_equation_is_computed(specimen: Any) -> Any:
    return [printed(specimen, [4.0]), printed(specimen, EVEN, d=0.3)], [
        -0.5 * math.log(4.0),
        math.log(10.0) - 0.3 * math.log(1000.0),
    ]


@equation(
    "CM-6.1",
    source="Anderson & Lebiere 1998, uses spread evenly: B = ln(n / (1-d)) - d ln L",
    atol=1e-12,
    papers=("anderson1998atomic",),
)
def evenly_spread_uses_include_the_constant(specimen: Any) -> Any:
    cases = [(n, life, d) for n in (1, 10, 1000) for life in (10.0, 1e6) for d in (0.3, 0.5)]
    above = [
        float(specimen.base_level(n, life, d)) - (math.log(n) - d * math.log(life))
        for n, life, d in cases
    ]
    return above, [-math.log(1.0 - d) for _, _, d in cases]


@equation(
    "CM-6.2a",
    source="definition B = ln sum t^-d",
    papers=("anderson1991reflections", "anderson1998atomic"),
)
def activation_equals_the_sum_over_uses(specimen: Any) -> Any:
    return [printed(specimen, EVEN), printed(specimen, EVEN, d=0.8)], [
        exact(EVEN, 0.5),
        exact(EVEN, 0.8),
    ]


@limit(
    "CM-6.3",
    source="the sum over n even uses less ACT-R's evenly spread form -> ln(1 + zeta(1/2) / (2 sqrt n) + 1 / (4n))",
    atol=5e-4,
    papers=("anderson1998atomic",),
)
def many_uses_approach_the_evenly_spread_form(specimen: Any) -> Any:
    sizes = (10, 100, 1000)
    measured = [
        printed(specimen, np.arange(1.0, n + 1.0) * 100.0)
        - (math.log(2.0 * n) - 0.5 * math.log(n * 100.0))
        for n in sizes
    ]
    return measured, [
        math.log(1.0 + ZETA_HALF / (2.0 * math.sqrt(n)) + 1.0 / (4.0 * n)) for n in sizes
    ]


@signature(
    "CM-6.4",
    source="Petrov 2006: a use a second ago counts; exact 0.2776",
    atol=1e-4,
    papers=("petrov2006computationally",),
)
def a_recent_use_lifts_activation_at_once(specimen: Any) -> Any:
    return printed(specimen, TRANSIENT), 0.2776


@signature(
    "CM-6.5b",
    source="Fisher, Houpt & Gunzelmann 2018: every t^-d falls with d where t > 1",
    papers=("fisher2018comparison",),
)
def more_decay_is_less_activation(specimen: Any) -> Any:
    return at_most(
        np.diff([printed(specimen, EVEN, d=d) for d in np.linspace(0.05, 0.99, 40)]), -1e-3
    )


@equation(
    "CM-6.6a",
    source="closed form: a power law has no time scale; d = 1/2",
    papers=("anderson1998atomic",),
)
def one_trace_loses_ln_two_whenever_its_age_quadruples(specimen: Any) -> Any:
    ages = (10.0, 3600.0, 1e6)
    return [printed(specimen, [4.0 * t]) - printed(specimen, [t]) for t in ages], -math.log(2.0)


@equation(
    "CM-6.6b",
    source="closed form: a power law loses the same log odds whenever age quadruples; heat from 1.5 h to 96 h",
    papers=("anderson1998atomic",),
)
def heat_loses_the_same_log_odds_whenever_its_age_quadruples(specimen: Any) -> Any:
    lost = [heat_odds(specimen, 4.0 * t) - heat_odds(specimen, t) for t in (1.5, 6.0, 24.0)]
    return lost, lost[0]


@signature(
    "CM-6.7",
    source=f"{EBBINGHAUS}; a power function reaches R^2 = 0.975, an exponential 0.397",
    figure="ebbinghaus",
    papers=("ebbinghaus1885gedachtnis", "murre2015replication"),
)
def heat_fits_the_savings(specimen: Any) -> Any:
    curve = np.array([specimen.heat(1.0, 0.0, m / 60.0, RATE, 1.0) for m in EBBINGHAUS_MIN])
    _, r2 = fitted(lambda t, low, gain: low + gain * curve, [20.0, 50.0])
    return at_least(r2, 0.93)


@signature(
    "CM-6.8",
    source="Pavlik & Anderson 2005: of two uses 10 s or a day apart, the spaced ones win after a week, the massed ones after 10 s",
    figure="spacing_crossover",
    papers=("pavlik2005practice",),
)
def massed_wins_early_and_spaced_wins_late(specimen: Any) -> Any:
    b = {
        (lag, wait): specimen.base_level(2, (lag + wait) / 3600.0, 0.5)
        for lag in (10.0, 86_400.0)
        for wait in (10.0, 7 * 86_400.0)
    }
    return bool(
        b[10.0, 10.0] > b[86_400.0, 10.0] and b[10.0, 7 * 86_400.0] < b[86_400.0, 7 * 86_400.0]
    )


@equation("CM-6.9", source="closed form: counting in hours instead of seconds adds d ln 3600")
def a_change_of_unit_shifts_activation(specimen: Any) -> Any:
    return float(
        specimen.base_level(3, 400.0, 0.5) - specimen.base_level(3, 400.0 * 3600.0, 0.5)
    ), 0.5 * math.log(3600.0)


@adaptation(
    "CM-6.A3",
    source="Cortex 4.4.1 and 4.2.1: exponential decay, faster when labile, floors 0.05 and 0.10",
    papers=("cortex2026",),
)
def heat_follows_the_printed_stages(specimen: Any) -> Any:
    ages = (0.5, 6.0, 24.0, 1000.0)
    hours = (1.0, 2.0 + 5 * 1.2, 2.0 + 5 * 1.2 + 18 * 0.8, 1e9)
    floors = (0.0, 0.05, 0.10, 0.10)
    return [specimen.heat(1.0, 0.0, t, RATE, 1.0) for t in ages], [
        max(f, 0.95**h) for f, h in zip(floors, hours, strict=True)
    ]


def remembered(specimen: Any, law: str, scale: float) -> tuple[list[float], list[float]]:
    """ACTIVATION of three memories from when they are told, of which answers need two, and the same
    by the printed law, whose hours are counted one by one; one answer changes nothing.
    """
    boost, measured, expected = 0.3, list[float](), list[float]()
    memory = memory_of(
        specimen,
        "lexical_bm25",
        time_scale=scale,
        law=law,
        decay=0.4,
        decay_factor=0.9,
        boost=boost,
    )
    told, heat, since, count = [0.0, 2.0 * scale, 3.0 * scale], [1.0] * 3, [0.0] * 3, [1] * 3

    def warm(row: int, now: float) -> float:
        age = (now - told[row]) / scale
        floor = 0.1 if age >= 24.0 else 0.05 if age >= 6.0 else 0.0
        hours = sum(
            factor * max(min(age, end) - max(since[row], start), 0.0)
            for start, end, factor in (
                (0.0, 1.0, 2.0),
                (1.0, 6.0, 1.2),
                (6.0, 24.0, 0.8),
                (24.0, 1e9, 0.5),
            )
        )
        return max(floor, heat[row] * float(0.9**hours))

    def activation(row: int, now: float) -> float:
        if law == "heat":
            odds = min(max(warm(row, now), 1e-6), 1.0 - 1e-6)
            return math.log(odds / (1.0 - odds))
        life = max((now - told[row]) / scale, 0.01)
        return math.log(count[row]) - 0.4 * math.log(life)

    for row, text in enumerate(("a red boat", "a blue boat", "lost keys")):
        encode(memory, (told[row], text))
        measured.append(float(memory.column(ACTIVATION)[row]))
        expected.append(activation(row, told[row]))
    for hours, learn in ((3.5, True), (5.0, False), (9.0, True), (11.0, True), (60.0, False)):
        now = hours * scale
        memory.advance(now)
        measured += memory.column(ACTIVATION).tolist()
        expected += [activation(row, now) for row in range(3)]
        for row in memory.retrieve("boat", k=2, learn=learn).rows.tolist() if learn else ():
            heat[row] = min(warm(row, now) + boost, 1.0)
            since[row], count[row] = (now - told[row]) / scale, count[row] + 1
    return measured, expected


@adaptation(
    "CM-6.A4",
    source="Cortex 4.4.1 and 4.2.1 by hand: an access adds the boost to the present heat, and the stages go on with age",
    rtol=1e-9,
    papers=("cortex2026",),
)
def a_memory_cools_by_the_printed_stages(specimen: Any) -> Any:
    for scale in (1.0, 2.0):
        yield remembered(specimen, "heat", scale)


@adaptation(
    "CM-6.A5",
    source="Cortex 4.4.1 by hand: ln of the number of accesses, less d ln of the time since creation",
    rtol=1e-9,
    papers=("cortex2026",),
)
def a_memory_counts_its_accesses(specimen: Any) -> Any:
    for scale in (1.0, 2.0):
        yield remembered(specimen, "base_level", scale)


@figure(
    "ebbinghaus",
    caption="Heat falls to its floor within days, while Ebbinghaus' savings fall slowly for a month; no scaling makes the "
    "two agree",
    source=f"{EBBINGHAUS}; low and gain fitted",
)
def heat_over_the_savings(specimen: Any) -> Picture:
    minutes = np.geomspace(15.0, 60_000.0, 80)

    def heat(at: Any) -> Any:
        return np.array([specimen.heat(1.0, 0.0, float(m) / 60.0, RATE, 1.0) for m in at])

    curve = heat(EBBINGHAUS_MIN)
    (low, gain), _ = fitted(lambda t, low, gain: low + gain * curve, [20.0, 50.0])
    return Picture(
        "time since learning, min",
        "savings, %",
        (
            Curve("mechanism, heat", minutes, low + gain * heat(minutes)),
            dots("Ebbinghaus 1885", EBBINGHAUS_MIN, EBBINGHAUS_SAVINGS),
        ),
        log="x",
    )


@figure(
    "spacing_crossover",
    caption="Two uses ten seconds or a day apart: the printed form counts uses over a life, so massed practice stays ahead "
    "at all times",
    source="Pavlik & Anderson 2005, where spaced practice overtakes",
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
                [float(specimen.base_level(2, (lag + wait) / 3600.0, 0.5)) for wait in waits],
            )
            for label, lag in (("10 s apart", 10.0), ("a day apart", 86_400.0))
        ),
        log="x",
    )


@mutant("ln L with twice the decay", rejected_by="CM-6.0")
def double_life(specimen: Any) -> Any:
    return specimen.replacing("base_level", lambda n, life, d: np.log(n) - 2.0 * d * np.log(life))


@mutant("heat without stages", rejected_by="CM-6.A3")
def no_stages(specimen: Any) -> Any:
    return specimen.replacing(
        "heat",
        lambda heat_then, age_then, age, rate, scale: (
            heat_then * math.exp(-rate * (age - age_then))
        ),
    )


@mutant("an access gives full heat", rejected_by="CM-6.A4")
def reheated(specimen: Any) -> Any:
    def access(rows: Any, *rest: Any) -> None:
        specimen.access(rows, *rest[:-1], 1.0)

    return specimen.replacing("access", access)


@mutant("lives are counted without the time scale", rejected_by="CM-6.A5")
def unscaled(specimen: Any) -> Any:
    def age(self: Any, view: Any, tick: Any) -> None:
        specimen.BaseLevelActivationPrinted.age(self, view, tick)
        if self.params.law == "base_level":
            view.activation[...] = specimen.base_level(
                view.accesses, view.now - view.arrived, self.params.decay
            )

    return specimen.overriding("BaseLevelActivationPrinted", age=age)
