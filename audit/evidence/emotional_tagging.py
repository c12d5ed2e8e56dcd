"""Evidence for emotional_tagging.  References are closed forms, Lambert's W, quadrature and a
Chebyshev series of the measured curve.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import lambertw

from ...engine.base.errors import HebbariumError
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import EMBEDDING, INITIAL_STRENGTH, LOG_STRENGTH
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import adaptation, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, numbers_of
from .shared.durations import unscaled as without_scale
from .shared.embedders import Longer
from .shared.scripts import refusing
from .shared.tellings import as_happened, tell

B, C = 2.0, 2.0 * math.e  # peak 1 at arousal 0.5
A0, K, G = numbers_of("emotional_tagging", "optimum", "hardening", "gain").values()
PARAMS = {"time_scale": 1.0, "day": 1.0, "optimum": A0, "hardening": K, "gain": G,
          **numbers_of("emotional_tagging", "saturation", "stake", "decay", "spared")}  # fmt: skip
UNIT = np.linspace(0.0, 1.0, 10_001)


def values(specimen: Any, a: Any, c: float = C, b: float = B) -> Any:
    return np.array([specimen.ricker(float(x), c, b) for x in np.ravel(a)])


def series(specimen: Any) -> Any:
    """The curve as a Chebyshev series on [0, 2], which can be differentiated."""
    return np.polynomial.Chebyshev.interpolate(lambda a: values(specimen, a), 24, domain=[0.0, 2.0])


# --- the curve ------------------------------------------------------------------------------------
@equation(
    "YD-1", source="calculus: f' = c (1 - b a) exp(-b a); argmax 1/b, maximum c/(b e)", atol=1e-4
)
def the_maximum_is_at_one_over_b(specimen: Any) -> Any:
    measured = []
    for c, b in ((C, B), (1.0, 4.0), (3.0, 1.25)):
        f = values(specimen, UNIT, c, b)
        measured += [UNIT[f.argmax()], f.max() - c / (b * math.e)]
    return measured, [0.5, 0.0, 0.25, 0.0, 0.8, 0.0]


@equation("YD-1b", source="f(1/b) = c/(b e) and its values elsewhere, in numpy", figure="ricker")
def the_curve_is_c_a_exp_minus_b_a(specimen: Any) -> Any:
    a = np.linspace(0.0, 3.0, 61)
    return np.concatenate([values(specimen, a), values(specimen, [1 / B])]), np.append(
        C * a / np.exp(B * a), 1.0
    )


@equation("YD-1c", source="normalisation: peak 1 at a*, for every a*")
def the_scaled_curve_peaks_at_one(specimen: Any) -> Any:
    best = np.array([0.1, 0.3, 0.5, 0.9])
    return [specimen.curve(x, x) for x in best] + [specimen.curve(2 * x, x) for x in best], [
        1.0
    ] * 4 + [2 / math.e] * 4


@equation(
    "YD-2",
    source="calculus: f(0) = 0, f'(0) = c, f''(2/b) = 0, f(2/b)/f(1/b) = 2/e = .7357589",
    atol=1e-8,
)
def slope_at_zero_and_inflection_at_twice_the_optimum(specimen: Any) -> Any:
    f, (double, single) = series(specimen), values(specimen, [2 / B, 1 / B])
    return [values(specimen, [0.0])[0], f.deriv()(0.0), f.deriv(2)(2 / B), double / single], [
        0.0,
        C,
        0.0,
        0.735758882,
    ]


@equation(
    "YD-3",
    source="Lambert's W: half maximum at b a = -W(-1/(2e)), .2319610 and 2.6783470; f(.25) = .8243606, f(1) = .7357589",
    atol=1e-7,
    figure="ricker",
)
def the_curve_is_skewed_to_the_right(specimen: Any) -> Any:
    def above(a: float) -> float:
        return float(values(specimen, [a])[0]) - 0.5

    low, high = brentq(above, 0.0, 0.5, xtol=1e-13), brentq(above, 0.5, 4.0, xtol=1e-13)
    roots = [-lambertw(-0.5 / math.e, k).real for k in (0, -1)]
    return [B * low, B * high, high / low, *values(specimen, [0.25, 1.0])], [
        *roots,
        roots[1] / roots[0],
        0.82436064,
        0.73575888,
    ]


@equation(
    "YD-4", source="integral from 0 to infinity of f = c / b^2, by adaptive quadrature", rtol=1e-6
)
def the_area_is_c_over_b_squared(specimen: Any) -> Any:
    cases = ((C, B), (1.0, 0.5), (3.0, 4.0))
    return [quad(lambda a, c=c, b=b: specimen.ricker(a, c, b), 0.0, np.inf)[0] for c, b in cases], [
        c / b**2 for c, b in cases
    ]


@limit("YD-5", source="argmax 1/b lies inside (0, 1) only for b > 1")
def an_inverted_u_needs_an_optimum_below_one_and_others_are_refused(specimen: Any) -> Any:
    inside = [
        0 < values(specimen, UNIT, 1.0, b).argmax() < UNIT.size - 1 for b in (0.5, 1.0, 1.2, 5.0)
    ]
    return [*inside, *(refused(specimen, b) for b in (0.5, 1.0, 1.2, 5.0))], [False, False, True,
        True, True, True, False, False]  # fmt: skip


def refused(specimen: Any, b: float) -> bool:
    try:
        specimen.EmotionalTagging(
            "emotional_tagging", specimen.EmotionalTaggingParams(**(PARAMS | {"optimum": 1 / b}))
        )
    except HebbariumError:
        return True
    return False


# --- Yerkes & Dodson ------------------------------------------------------------------------------
@signature(
    "YD-6",
    source="Yerkes & Dodson 1908: the harder the task, the lower the best arousal, and the larger the loss above it",
    figure="yerkes_dodson",
    papers=("yerkes1908relation",),
)
def harder_tasks_have_a_lower_best_arousal_and_a_larger_loss_above_it(specimen: Any) -> Any:
    curves = np.array(
        [
            [specimen.enhancement(float(a), d, A0, K, 1.0) - 1.0 for a in UNIT[::10]]
            for d in (0.0, 0.5, 1.0)
        ]
    )
    best, fall = UNIT[::10][curves.argmax(axis=1)], curves.max(axis=1) - curves[:, -1]
    return bool((np.diff(best) < -0.05).all() and (np.diff(fall) > 0.05).all() and fall[0] < 0.01)


@equation("YD-6b", source="a0 / (1 + k D), in exact fractions", figure="yerkes_dodson")
def the_best_arousal_falls_with_difficulty(specimen: Any) -> Any:
    return [specimen.optimum(d, A0, K) for d in (0.0, 0.25, 0.5, 1.0)], [
        9 / 10,
        6 / 10,
        9 / 20,
        3 / 10,
    ]


# --- the adaptation -------------------------------------------------------------------------------
def laid_down(
    specimen: Any, *texts: str, hours: float = 0.0, column: Any = INITIAL_STRENGTH, steps: int = 1
) -> Any:
    """A column of a memory, `hours` after it encoded these texts."""
    params = specimen.EmotionalTaggingParams(**PARAMS)
    memory = Engine(
        [specimen.EmotionalTagging("emotional_tagging", params, {"day": "d"})], HashingEmbedder(256)
    )
    memory.encode_all(Event(0.0, text) for text in texts)
    for _ in range(steps):
        memory.advance(memory.now + hours / steps)
    return np.array(memory.column(column))


@adaptation("YD-7", source="definition: m = 1 without arousal, at most 1 + g", needs="engine")
def neutral_text_has_factor_one_and_no_text_exceeds_the_bound(specimen: Any) -> Any:
    neutral, loud = (
        laid_down(specimen, "The box stands on the table."),
        laid_down(specimen, "fear! panic! rage! stress! " * 200),
    )
    factors = np.array(
        [
            specimen.enhancement(specimen.arousal(x, 0.15, 0.1), 0.0, A0, K, G)
            for x in (0.0, 0.1, 0.5, 1.0, 50.0)
        ]
    )
    return bool(
        neutral[0] == 0.0 < loud[0] <= math.log1p(G)
        and (factors >= 1.0).all()
        and (factors <= 1.0 + G).all()
    )


@adaptation("YD-7b", source="arousal, not valence", needs="engine")
def joy_and_grief_are_encoded_with_equal_strength(specimen: Any) -> Any:
    joy, grief = (
        laid_down(specimen, f"The letter made her {word} all day long")[0]
        for word in ("happy", "miserable")
    )
    return [joy, grief - joy], [
        np.log1p(G * ricker_reference(1 - math.exp(-1 / 8 / 0.15), A0)),
        0.0,
    ]


def ricker_reference(a: float, best: float) -> float:
    """(a / a*) e / e^(a / a*), in numpy."""
    return float(np.divide(a, best) * np.e / np.exp(np.divide(a, best)))


@adaptation(
    "YD-8",
    source="definition: difficulty is the cosine to the most similar memory, here in numpy",
    atol=1e-5,
    needs="engine",
)
def extreme_arousal_strengthens_less_if_a_similar_memory_exists(specimen: Any) -> Any:
    cry, a, measured, expected = "fear panic rage stress", 1 - math.exp(-1 / 0.15), [], []
    for earlier in ("walnut desk", "panic and stress", cry):
        measured.append(laid_down(specimen, earlier, cry)[1])
        first, second = laid_down(specimen, earlier, cry, column=EMBEDDING).astype(np.float64)
        expected.append(math.log1p(G * ricker_reference(a, A0 / (1 + K * (first @ second)))))
    return [*measured, float(measured[0] > measured[1] > measured[2])], [*expected, 1.0]


@adaptation(
    "YD-9",
    source="(1 + t)^(b s a) in closed form, at 0, 1 and 30 d, in one step or many",
    atol=1e-12,
    needs="engine",
)
def the_advantage_of_arousing_events_grows_with_age_as_a_smaller_exponent_implies(
    specimen: Any,
) -> Any:
    text, a = "The letter made her miserable all day long", 1 - math.exp(-1 / 8 / 0.15)
    days, at_once = np.array([0.0, 1.0, 30.0, 30.0]), laid_down(specimen, text)[0]
    measured = [
        laid_down(specimen, text, "The box is here.", hours=24 * d, column=LOG_STRENGTH, steps=s)[0]
        - at_once
        for d, s in zip(days[1:], (1, 1, 7), strict=True)
    ]
    return measured, 0.3 * 0.5 * a * np.log(1 + days[1:])


# time, text, emotional words per word, whether something is at stake, direction of the vector
LOG = (
    (2.0, "The box stands on the table", 0.0, False, (1.0, 0.0, 0.0)),
    (3.5, "fear panic rage stress", 1.0, False, (0.0, 1.0, 0.0)),
    (5.0, "vetoed fear", 0.5, False, (0.0, 0.0, 1.0)),
    (9.0, "I promise to call you", 0.0, True, (0.6, 0.8, 0.0)),
    (30.0, "Actually, it was Tuesday", 0.0, True, (-0.8, -0.6, 0.0)),
    (31.0, "We decided on Lisbon", 0.0, True, (0.0, 0.28, 0.96)),
    (32.0, "Where is the box", 0.0, False, (0.6, 0.0, 0.8)),
    (33.0, "The letter made her miserable all day long", 1 / 8, False, (0.8, 0.6, 0.0)),
    (34.0, "Send the box to Oslo", 0.0, True, (0.0, -1.0, 0.0)),
    (34.0, "Send the panic button to Oslo", 1 / 6, True, (0.0, 0.6, -0.8)),
)
LATE = 20.0  # h by which the last of them is told late


def aroused_in_memory(specimen: Any, time_scale: float | None, **p: Any) -> tuple[Any, Any]:
    """INITIAL_STRENGTH, AROUSAL and LOG_STRENGTH of a log with neutral, arousing and vetoed events
    and with something at stake, and the closed forms.

    Of the nearest memories some are the same, some similar, some opposite; one memory is archived.
    The last event happened hours before it was told, and is forgotten from then on.
    """

    embedder = Scripted({text: direction for _, text, _, _, direction in LOG})
    memory = memory_of(specimen, refusing("vetoed"), time_scale=time_scale, embedder=embedder, **p)
    made, aroused, vectors, initial = [], [], list[Any](), []
    for time, text, emotion, stake, direction in LOG:
        a, v = (
            1.0 - (1.0 - p["stake"] * stake) * math.exp(-emotion / p["saturation"]),
            np.divide(direction, np.linalg.norm(direction)),
        )
        hard = max([0.0, *(float(v @ other) for other in vectors)])
        happened = time - LATE * (text == LOG[-1][1])
        if tell(memory, time, Event(happened, text, dated=False)) is not None:
            vectors.append(v)
            made.append(time)
            aroused.append(a)
            initial.append(
                math.log1p(
                    p["gain"] * ricker_reference(a, p["optimum"] / (1.0 + p["hardening"] * hard))
                )
            )
        if text.startswith("Actually"):
            memory.archive(2)
            vectors[2] = np.zeros(3)
    measured: list[Any] = [
        memory.column(INITIAL_STRENGTH),
        memory.column(specimen.AROUSAL).tolist(),
    ]
    expected: list[Any] = [initial, aroused]
    for now in (34.0, 50.0, 700.0):
        memory.advance(now)
        age = (now - np.array(made)) / (24.0 * p["day"] * (time_scale or 1.0))
        measured.append(memory.column(LOG_STRENGTH).tolist())
        expected.append(
            initial
            + np.log(
                (1.0 + age) ** -(p["decay"] * (1.0 - p["spared"] * np.array(aroused)))
                / (1.0 + age) ** -p["decay"]
            )
        )
    return np.ravel(measured), np.ravel(expected)


@adaptation(
    "YD-10",
    source="closed forms in numpy, cosines of given vectors; odd numbers",
    rtol=1e-6,
    atol=1e-7,
)
def a_memory_strengthens_and_spares_each_event_by_its_arousal(specimen: Any) -> Any:
    return aroused_in_memory(
        specimen,
        None,
        optimum=0.7,
        hardening=3.0,
        gain=0.8,
        saturation=0.4,
        stake=0.25,
        decay=0.45,
        spared=0.6,
        day=0.7,
    )


@adaptation(
    "YD-10b",
    source="as YD-10 with the numbers of the registry, and a day that lasts three",
    rtol=1e-6,
    atol=1e-7,
)
def at_another_time_scale_arousal_spares_as_much_of_a_longer_day(specimen: Any) -> Any:
    return aroused_in_memory(
        specimen, 3.0, **{name: value for name, value in PARAMS.items() if name != "time_scale"}
    )


@limit(
    "YD-11",
    source="difficulty is at most 1: the cosine of equal events whose vectors have length 1.0004; contributions add; no optimum of 0",
    rtol=1e-9,
)
def difficulty_is_at_most_one_and_contributions_add(specimen: Any) -> Any:
    memory, out = memory_of(specimen, embedder=Longer()), np.array([2.0])
    encode(memory, (0.0, "fear panic rage stress"), (0.0, "panic panic"))
    a = 1.0 - math.exp(-1.0 / 0.15)
    specimen.add_spared(72.0, 24.0, np.zeros(1), np.ones(1), 0.3, 0.5, out)
    return [memory.column(INITIAL_STRENGTH)[1], *out, refused(specimen, math.inf)], [
        math.log1p(G * ricker_reference(a, A0 / (1.0 + K))),
        2.0 + 0.15 * math.log(4.0),
        True,
    ]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "ricker",
    caption="The curve rises steeply to its peak at 1/b and falls slowly: it is at half the peak for arousals 0.12 and 1.34",
    source="closed forms: calculus and Lambert's W, at b = 2 and peak 1",
)
def the_curve_over_arousal(specimen: Any) -> Picture:
    a = np.linspace(0.0, 3.0, 121)
    return Picture(
        "arousal",
        "c a exp(-b a)",
        (
            Curve("mechanism", a, values(specimen, a)),
            dots(
                "closed form",
                [0.231961 / B, 0.25, 0.5, 1.0, 2.678347 / B],
                [0.5, 0.82436064, 1.0, 0.73575888, 0.5],
            ),
        ),
    )


@figure(
    "yerkes_dodson",
    caption="Encoding strength over arousal: an inverted U; for harder tasks the best arousal is lower, and the fall above it "
    "deeper",
    source="Yerkes & Dodson 1908; peaks at a0 / (1 + k D)",
)
def encoding_over_arousal(specimen: Any) -> Picture:
    arousal, tasks = UNIT[::100], ((0.0, "easy"), (0.5, "harder"), (1.0, "hardest"))
    return Picture(
        "arousal",
        "share of the greatest increase",
        (
            *(
                Curve(
                    label,
                    arousal,
                    [specimen.enhancement(float(a), d, A0, K, 1.0) - 1.0 for a in arousal],
                )
                for d, label in tasks
            ),
            dots("peaks expected", [A0 / (1.0 + K * d) for d, _ in tasks], [1.0, 1.0, 1.0]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("a parabola", rejected_by="YD-3")
def parabola(specimen: Any) -> Any:
    return specimen.replacing(
        "ricker", lambda a, c, b: c / (b * math.e) * max(0.0, 1.0 - (b * a - 1.0) ** 2)
    )


@mutant("a Gaussian", rejected_by="YD-2")
def gaussian(specimen: Any) -> Any:
    return specimen.replacing(
        "ricker", lambda a, c, b: c / (b * math.e) * math.exp(-0.5 * (b * a - 1.0) ** 2)
    )


@mutant("one curve for every difficulty", rejected_by="YD-6")
def no_interaction(specimen: Any) -> Any:
    return specimen.replacing("optimum", lambda difficulty, easiest, k: easiest)


@mutant("unscaled: the peak is 1/(b e) = .184", rejected_by="YD-1c")
def too_low(specimen: Any) -> Any:
    return specimen.replacing("curve", lambda a, best: specimen.ricker(a, 1.0, 1.0 / best))


@mutant("neutral text is encoded with strength f(0) = 0", rejected_by="YD-7")
def penalised(specimen: Any) -> Any:
    return specimen.replacing(
        "enhancement",
        lambda a, d, a0, k, gain: 1e-9 + gain * specimen.curve(a, specimen.optimum(d, a0, k)),
    )


@mutant("exponential forgetting in place of the power law", rejected_by="YD-9")
def exponential(specimen: Any) -> Any:
    return specimen.replacing("log_spared", lambda t, a, decay, spared: decay * spared * a * t)


@mutant("difficulty is always 0", rejected_by="YD-8")
def always_easy(specimen: Any) -> Any:
    return specimen.replacing(
        "enhancement", lambda a, d, a0, k, gain: 1.0 + gain * specimen.curve(a, a0)
    )


@mutant("the best arousal falls at half the rate", rejected_by="YD-6b")
def slow_fall(specimen: Any) -> Any:
    return specimen.replacing(
        "optimum", lambda difficulty, easiest, k: easiest / (1.0 + 0.5 * k * difficulty)
    )


@mutant("emotional words count without saturation", rejected_by="YD-7b")
def unsaturated(specimen: Any) -> Any:
    return specimen.replacing(
        "arousal", lambda emotion, saturation, stake: stake + emotion / saturation
    )


@mutant("arousal is the larger of what words and a speech act give", rejected_by="YD-10")
def larger(specimen: Any) -> Any:
    return specimen.replacing(
        "arousal",
        lambda emotion, saturation, stake: max(stake, 1.0 - math.exp(-emotion / saturation)),
    )


@mutant("the stake of an event does not count", rejected_by="YD-10")
def no_stake(specimen: Any) -> Any:
    return specimen.replacing("AT_STAKE", frozenset())


@mutant("age counts from when an event happened", rejected_by="YD-10")
def from_the_event(specimen: Any) -> Any:
    return as_happened(specimen, "EmotionalTagging", "slow_forgetting")


@mutant("the day does not follow the time scale", rejected_by="YD-10b")
def unscaled(specimen: Any) -> Any:
    return without_scale(specimen, "EmotionalTagging")
