"""Evidence for testing_effect.  References are the cells of Roediger & Karpicke (2006), quoted
from memory, and closed forms.  Checks of the data read the numbers that ship; all others take
numbers of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import curve_fit

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event, Query
from ...engine.contract.vocabulary import LOG_STRENGTH, MATCH, PRIMED
from ..checks import adaptation, at_least, between, data, equation, limit, mutant, rival, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour, plug_in, with_numbers
from .shared.views import Instead

# near what ships, and not the same
A_STUDY, B_STUDY, A_TEST, B_TEST = 0.79, 0.34, 0.74, 0.125
CURVES = (A_STUDY, B_STUDY, A_TEST, B_TEST)
DELAYS = np.array([5 / 1440, 2.0, 7.0])  # d
# Experiment 1, % recalled at each delay
STUDIED, RECALLED = np.array([81.0, 54.0, 42.0]), np.array([75.0, 68.0, 56.0])
# Experiment 2: tests among four periods -> % after 5 min, 1 week
FOUR = {0: (83.0, 40.0), 1: (78.0, 56.0), 3: (71.0, 61.0)}


def shipped(specimen: Any) -> tuple[float, float, float, float]:
    """The two curves of the plug-in as it ships."""
    p = plug_in(specimen).params
    return p.a_study, p.b_study, p.a_test, p.b_test


def curve(specimen: Any, delays: Any, tests: float) -> Any:
    """% recalled by the specimen: retention of the restudy group, times the advantage."""
    ours = shipped(specimen)
    study = np.array([specimen.retention(t, *ours[:2]) for t in delays])
    return 100.0 * study * np.exp([specimen.log_advantage(t, tests, *ours) for t in delays])


# --- the power law --------------------------------------------------------------------------------
@equation(
    "TE-0",
    source="a (1 + t)^-b by hand: (1 + 7)^(-1/3) = 1/2, (1 + 3)^(-1/2) = 1/2, and a at t = 0",
    papers=("wixted1991form",),
)
def retention_is_a_power_of_time(specimen: Any) -> Any:
    return [
        specimen.retention(7.0, 0.8, 1 / 3),
        specimen.retention(3.0, 0.6, 0.5),
        specimen.retention(0.0, 0.7, 2.0),
    ], [0.4, 0.3, 0.7]


@equation("TE-0b", source="ln of the quotient of two power functions, in numpy")
def advantage_is_the_log_of_the_ratio_of_the_two_groups(specimen: Any) -> Any:
    t = np.linspace(0.0, 30.0, 31)
    ratio = (A_TEST * (1 + t) ** -B_TEST) / (A_STUDY * (1 + t) ** -B_STUDY)
    return [specimen.log_advantage(x, 1.0, *CURVES) for x in t], np.log(ratio)


@equation(
    "TE-0c", source="the root of the ratio: t = (a_s / a_t)^(1 / (b_s - b_t)) - 1", atol=1e-12
)
def the_curves_cross_at_the_time_of_the_closed_form(specimen: Any) -> Any:
    return specimen.log_advantage(
        (A_STUDY / A_TEST) ** (1 / (B_STUDY - B_TEST)) - 1.0, 1.0, *CURVES
    ), 0.0


@limit("TE-0d", source="no test: restudy")
def without_a_test_there_is_no_advantage(specimen: Any) -> Any:
    return [specimen.log_advantage(t, 0.0, *CURVES) for t in (0.0, 1.0, 100.0)], [0.0, 0.0, 0.0]


@adaptation("TE-0e", source="ln of the two groups' quotient, added to what other mechanisms give")
def the_advantage_is_added(specimen: Any) -> Any:
    out = np.array([1.5, -0.5])
    specimen.add_advantage(100.0, 24.0, np.array([1.0, 0.0]), np.array([28.0, 0.0]), *CURVES, out)
    return out, [1.5 + np.log(A_TEST * 4.0**-B_TEST / (A_STUDY * 4.0**-B_STUDY)), -0.5]


# --- the experiments ------------------------------------------------------------------------------
@signature(
    "TE-1",
    source="Roediger & Karpicke 2006, Experiment 1",
    figure="testing_effect",
    papers=("roediger2006test",),
)
def restudy_leads_at_five_minutes_and_retrieval_after_days(specimen: Any) -> Any:
    gain = curve(specimen, DELAYS, 1.0) - curve(specimen, DELAYS, 0.0)
    return bool(gain[0] < 0.0 < gain[1] and gain[2] > 0.0)


@data(
    "TE-2",
    source="Roediger & Karpicke 2006, Experiment 1, six cells, quoted from memory; the numbers that ship",
    figure="testing_effect",
    papers=("roediger2006test",),
    subjects="120 students, 40 at each delay",
)
def all_six_cells_lie_within_three_points(specimen: Any) -> Any:
    return between(
        np.concatenate(
            [curve(specimen, DELAYS, 0.0) - STUDIED, curve(specimen, DELAYS, 1.0) - RECALLED]
        ),
        -3.0,
        3.0,
    )


@data(
    "TE-2a",
    source="Roediger & Karpicke 2006, Experiment 1: the least squares of two power functions, by scipy",
    rtol=0.03,
    figure="testing_effect",
    papers=("roediger2006test",),
    subjects="120 students, 40 at each delay",
)
def the_numbers_that_ship_are_those_that_fit_best(specimen: Any) -> Any:
    return shipped(specimen), [*fitted(power, STUDIED), *fitted(power, RECALLED)]


def power(t: Any, a: float, b: float) -> Any:
    return a * (1.0 + t) ** -b


def fitted(form: Any, cells: Any) -> Any:
    """Least-squares parameters (a, b) of a form of (days, a, b) on the cells of one group."""
    return curve_fit(form, DELAYS, cells / 100.0, p0=(0.75, 0.1))[0]


@data(
    "TE-2b",
    source="Roediger & Karpicke 2006, Experiment 2, one and three tests; the cells without tests given, nothing fitted",
    warn=True,
    papers=("roediger2006test",),
    subjects="180 students",
)
def three_tests_are_predicted_from_the_fit_to_one(specimen: Any) -> Any:
    off = [
        percent * np.exp(specimen.log_advantage(t, float(n), *shipped(specimen))) - cell
        for n in (1, 3)
        for t, percent, cell in zip(DELAYS[[0, 2]], FOUR[0], FOUR[n], strict=True)
    ]
    return between(off, -5.0, 5.0)


@signature(
    "TE-3", source="desirable difficulty (Bjork): boost at accessibility .2 above that at .9"
)
def a_harder_retrieval_gains_more(specimen: Any) -> Any:
    hard, easy = (
        specimen.log_advantage(7.0, specimen.difficulty(accessible, A_STUDY), *CURVES)
        for accessible in (0.2, 0.9)
    )
    return at_least(hard / easy, 1.5)


# --- the adaptation -------------------------------------------------------------------------------
def told(specimen: Any) -> Any:
    from ...engine.catalogue.registry import Registry
    from ...engine.memory.engine import Engine
    from ...engine.ports.embedder import HashingEmbedder

    params = specimen.RetrievalPracticeParams(
        time_scale=1.0,
        a_study=A_STUDY,
        b_study=B_STUDY,
        a_test=A_TEST,
        b_test=B_TEST,
        day=1.0,
        most_tests=3.0,
        criterion=1.0,
    )
    mechanisms = [
        specimen.RetrievalPractice("testing_effect", params, {"day": "d"}),
        Registry.read().instance("lexical_bm25"),
    ]
    memory = Engine(mechanisms, HashingEmbedder(16))
    memory.encode_all(Event(0.0, text) for text in ("a red kite", "a blue kite", "a green kite",
        "an old boat", "some rain", "more rain"))  # fmt: skip
    return memory


def strength(memory: Any, hours: float) -> Any:
    memory.advance(memory.now + hours)
    return np.array(memory.column(LOG_STRENGTH))


@adaptation(
    "TE-4",
    source="only a successful retrieval counts, not other memories of the answer and no failure",
    needs="engine",
)
def only_the_best_memory_of_a_successful_retrieval_is_tested(specimen: Any) -> Any:
    memory = told(specimen)
    memory.retrieve(Query("red kite"), k=4, learn=True)
    memory.retrieve(Query("nobody knows"), k=4, learn=True)
    return (strength(memory, 48.0) != 0.0).tolist(), [True, False, False, False, False, False]


@adaptation(
    "TE-4b",
    source="definition: the best memory of the answer has to match, and another that matches better does not stand for it; by hand",
)
def a_best_memory_that_does_not_match_is_not_tested(specimen: Any) -> Any:
    measured = []
    for prior in (0.0, 9.0):

        def prefer(view: Any, _: Any, prior: float = prior) -> None:
            view.primed[1:2] += prior

        memory = memory_of(
            specimen,
            "lexical_bm25",
            neighbour(Phase.RETRIEVE, prefer, adds=(PRIMED,), id="prefer"),
            criterion=0.9,
        )
        encode(memory, (0.0, "a red kite"), (1.0, "some rain"), (2.0, "an old boat"))
        memory.advance(30.0)
        first = int(memory.retrieve("kite", k=3, learn=True).rows[0])
        measured.append(str((first, (memory.column(specimen.TESTS) > 0.0).tolist())))
    return measured, ["(0, [True, False, False])", "(1, [False, False, False])"]


@adaptation(
    "TE-5",
    source="t = 0 .. 7 d after an immediate retrieval, closed form",
    atol=1e-9,
    needs="engine",
)
def strength_in_the_engine_follows_the_ratio_of_the_groups(specimen: Any) -> Any:
    memory = told(specimen)
    memory.retrieve(Query("red kite"), learn=True)
    measured = [strength(memory, h)[0] for h in (5 / 60, 48.0 - 5 / 60, 120.0)]
    return measured, np.log(A_TEST / A_STUDY * (1 + DELAYS) ** (B_STUDY - B_TEST))


def tested_in_memory(
    specimen: Any,
    time_scale: float | None,
    a_s: float,
    b_s: float,
    a_t: float,
    b_t: float,
    most: float,
) -> tuple[Any, Any]:
    """Tests, time of the last and LOG_STRENGTH of four memories, and the curves of the two groups
    in numpy.

    One memory is retrieved three times and reaches the most tests; one answer changes nothing; one
    best match is below the criterion, one query matches nothing; one memory is archived.
    """
    memory = memory_of(
        specimen,
        "lexical_bm25",
        time_scale=time_scale,
        a_study=a_s,
        b_study=b_s,
        a_test=a_t,
        b_test=b_t,
        day=1.5,
        most_tests=most,
        criterion=0.9,
    )
    day, made = 24.0 * 1.5 * (time_scale or 1.0), np.array([3.0, 4.5, 9.0, 9.5])
    encode(
        memory,
        *zip(made.tolist(), ("a red kite", "a blue kite", "an old boat", "some rain"), strict=True),
    )
    w, last, measured, expected = np.zeros(4), np.zeros(4), [], []
    for now, query, learn in (
        (12.0, "red", True),
        (20.0, "kite", True),
        (40.0, "blue", False),
        (61.0, "red kite", True),
        (70.0, "nobody", True),
        (75.0, "boat", True),
        (130.0, "red", True),
        (400.0, "rain", True),
    ):
        memory.advance(now)
        measured += [
            memory.column(LOG_STRENGTH).tolist(),
            memory.column(specimen.TESTS).tolist(),
            memory.column(specimen.TESTED).tolist(),
        ]
        a, b, t = a_s * (a_t / a_s) ** w, b_s * (b_t / b_s) ** w, (now - last) / day
        expected += [
            np.where(w > 0.0, np.log(a * (1.0 + t) ** -b) - np.log(a_s * (1.0 + t) ** -b_s), 0.0),
            w.copy(),
            last.copy(),
        ]
        row = int(memory.retrieve(query, k=3, learn=learn).rows[0])
        if learn and memory.column(MATCH)[row] >= 0.9:
            since = (now - (last[row] if w[row] else made[row])) / day
            w[row] = min(w[row] + (1.0 - a[row] * (1.0 + since) ** -b[row]) / (1.0 - a_s), most)
            last[row] = now
        if now == 75.0:
            memory.archive(2)
    assert np.array_equal(w > 0.0, [True, False, True, True])
    return np.ravel(measured), np.ravel(expected)


@adaptation(
    "TE-6",
    source="ratio of the two groups' power functions after every retrieval, in numpy; odd numbers",
    rtol=1e-9,
)
def retrievals_in_a_memory_follow_the_two_curves(specimen: Any) -> Any:
    return tested_in_memory(specimen, None, 0.7, 0.4, 0.6, 0.2, 4.3)


@adaptation(
    "TE-6b", source="as TE-6 with curves near those that ship, and a day that lasts two", rtol=1e-9
)
def at_another_time_scale_retrievals_follow_the_two_curves(specimen: Any) -> Any:
    return tested_in_memory(specimen, 2.0, *CURVES, 3.0)


@limit(
    "TE-6c",
    source="of two memories the one that matches is exactly 1 sd above the mean; an answer without memories tests none",
)
def a_match_at_the_criterion_is_a_test_and_an_empty_answer_is_none(specimen: Any) -> Any:
    memory = memory_of(specimen, "lexical_bm25", criterion=1.0)
    encode(memory, (0.0, "a red kite"), (1.0, "some rain"))
    memory.advance(30.0)
    memory.retrieve("kite", learn=True)
    measured = [float(memory.column(MATCH)[0]), *memory.column(specimen.TESTED)]
    for row in (0, 1):
        memory.archive(row)
    memory.retrieve("rain", learn=True)
    return [*measured, *memory.column(specimen.TESTED)], [1.0, 30.0, 0.0, 30.0, 0.0]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "testing_effect",
    caption="Recall over the delay after restudy and after a test: restudy is better after five minutes, the test after days",
    source="Roediger & Karpicke 2006, Experiment 1, from memory",
)
def recall_over_the_delay(specimen: Any) -> Picture:
    days = np.geomspace(0.002, 30.0, 60)
    return Picture(
        "delay, d",
        "recalled, %",
        (
            Curve("studied twice", days, curve(specimen, days, 0.0)),
            Curve("studied and tested", days, curve(specimen, days, 1.0)),
            Curve("tested three times", days, curve(specimen, days, 3.0)),
            dots("published, studied twice", DELAYS, STUDIED),
            dots("published, tested", DELAYS, RECALLED),
        ),
        log="x",
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("a constant for each access, studied or retrieved", rejected_by="TE-1")
def constant(specimen: Any) -> Any:
    return specimen.replacing("log_advantage", lambda t, w, *fit: 0.1 * w)


@mutant("retrieval slows forgetting without an initial loss", rejected_by="TE-0b")
def free(specimen: Any) -> Any:
    return specimen.replacing(
        "log_advantage",
        lambda t, w, a_s, b_s, a_t, b_t: (b_s - b_s * (b_t / b_s) ** w) * np.log1p(t),
    )


@mutant("every retrieval counts the same", rejected_by="TE-3")
def effortless(specimen: Any) -> Any:
    return specimen.replacing("difficulty", lambda accessible, at_once: 1.0)


def at_their_best(specimen: Any, form: Any) -> Any:
    """The specimen with another form of forgetting in both groups, each fitted to its cells."""
    study, test = fitted(form, STUDIED), fitted(form, RECALLED)
    return specimen.replacing("retention", lambda t, a, b: form(t, *study)).replacing(
        "log_advantage", lambda t, w, *curves: w * np.log(form(t, *test) / form(t, *study))
    )


@rival("exponential forgetting in both groups, at its best", rejected_by="TE-2")
def exponential(specimen: Any) -> Any:
    return at_their_best(specimen, lambda t, a, b: a * np.exp(-b * t))


@rival("a line in both groups, at its best", rejected_by="TE-2")
def linear(specimen: Any) -> Any:
    return at_their_best(specimen, lambda t, a, b: a - b * t)


@rival("a line in the log of time, at its best", rejected_by="TE-2")
def logarithmic(specimen: Any) -> Any:
    return at_their_best(specimen, lambda t, a, b: a - b * np.log1p(t))


@rival("a test changes nothing: one curve for both groups, at its best", rejected_by="TE-2a")
def one_curve(specimen: Any) -> Any:
    a, b = curve_fit(
        power, np.tile(DELAYS, 2), np.concatenate([STUDIED, RECALLED]) / 100.0, p0=(0.75, 0.1)
    )[0]
    return with_numbers(specimen, a_study=a, b_study=b, a_test=a, b_test=b)


@mutant("forgetting after a test three times as fast", rejected_by="TE-2a")
def tests_do_not_last(specimen: Any) -> Any:
    return with_numbers(specimen, b_test=0.335)


@mutant("difficulty counts from encoding after every test", rejected_by="TE-6")
def since_encoding(specimen: Any) -> Any:
    def retrieved(self: Any, view: Any, cue: Any) -> None:
        if view.recalled.size:
            view.tested[view.recalled[0]] = view.arrived[view.recalled[0]]
        specimen.RetrievalPractice.retrieved(self, view, cue)

    return specimen.overriding("RetrievalPractice", retrieved=retrieved)


@mutant("any memory of the answer that matches is enough", rejected_by="TE-4b")
def any_match(specimen: Any) -> Any:
    def retrieved(self: Any, view: Any, cue: Any) -> None:
        best = np.full_like(view.match, np.max(view.match))
        specimen.RetrievalPractice.retrieved(self, Instead(view, match=best), cue)

    return specimen.overriding("RetrievalPractice", retrieved=retrieved)
