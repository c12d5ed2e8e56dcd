"""Evidence for testing_effect.  References are the cells of Roediger & Karpicke (2006), quoted from memory, and closed forms."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.records import Event, Query
from ..checks import adaptation, at_least, between, data, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure

A_STUDY, B_STUDY, A_TEST, B_TEST = 0.804, 0.329, 0.760, 0.135
FIT = (A_STUDY, B_STUDY, A_TEST, B_TEST)
DELAYS = np.array([5 / 1440, 2.0, 7.0])                                # d
STUDIED, RECALLED = np.array([81.0, 54.0, 42.0]), np.array([75.0, 68.0, 56.0])     # Experiment 1, % recalled at each delay
FOUR = {0: (83.0, 40.0), 1: (78.0, 56.0), 3: (71.0, 61.0)}            # Experiment 2: tests among four periods -> % after 5 min, 1 week


def curve(specimen: Any, delays: Any, tests: float) -> Any:
    """% recalled by the specimen: retention of the restudy group, times the advantage."""
    study = np.array([specimen.retention(t, A_STUDY, B_STUDY) for t in delays])
    return 100.0 * study * np.exp([specimen.log_advantage(t, tests, *FIT) for t in delays])


# --- the power law -----------------------------------------------------------------------------------------------------------
@equation("TE-0", source="a (1 + t)^-b by hand: (1 + 7)^(-1/3) = 1/2, (1 + 3)^(-1/2) = 1/2, and a at t = 0", papers=("wixted1991form",))
def retention_is_a_power_of_time(specimen: Any) -> Any:
    return [specimen.retention(7.0, 0.8, 1 / 3), specimen.retention(3.0, 0.6, 0.5), specimen.retention(0.0, 0.7, 2.0)], [0.4, 0.3, 0.7]


@equation("TE-0b", source="ln of the quotient of two power functions, in numpy")
def advantage_is_the_log_of_the_ratio_of_the_two_groups(specimen: Any) -> Any:
    t = np.linspace(0.0, 30.0, 31)
    ratio = (A_TEST * (1 + t) ** -B_TEST) / (A_STUDY * (1 + t) ** -B_STUDY)
    return [specimen.log_advantage(x, 1.0, *FIT) for x in t], np.log(ratio)


@equation("TE-0c", source="the root of the ratio: t = (a_s / a_t)^(1 / (b_s - b_t)) - 1, about 8 h", atol=1e-12)
def the_curves_cross_at_the_time_of_the_closed_form(specimen: Any) -> Any:
    return specimen.log_advantage((A_STUDY / A_TEST) ** (1 / (B_STUDY - B_TEST)) - 1.0, 1.0, *FIT), 0.0


@limit("TE-0d", source="no test: restudy")
def without_a_test_there_is_no_advantage(specimen: Any) -> Any:
    return [specimen.log_advantage(t, 0.0, *FIT) for t in (0.0, 1.0, 100.0)], [0.0, 0.0, 0.0]


# --- the experiments ---------------------------------------------------------------------------------------------------------
@signature("TE-1", source="Roediger & Karpicke 2006, Experiment 1", figure="testing_effect", papers=("roediger2006test",))
def restudy_leads_at_five_minutes_and_retrieval_after_days(specimen: Any) -> Any:
    gain = curve(specimen, DELAYS, 1.0) - curve(specimen, DELAYS, 0.0)
    return bool(gain[0] < 0.0 < gain[1] and gain[2] > 0.0)


@data("TE-2", source="Roediger & Karpicke 2006, Experiment 1, six cells; four parameters fitted", figure="testing_effect",
      papers=("roediger2006test",))
def all_six_cells_lie_within_five_points(specimen: Any) -> Any:
    return between(np.concatenate([curve(specimen, DELAYS, 0.0) - STUDIED, curve(specimen, DELAYS, 1.0) - RECALLED]), -5.0, 5.0)


@data("TE-2b", source="Roediger & Karpicke 2006, Experiment 2, one and three tests; the cells without tests given, nothing fitted", warn=True,
      papers=("roediger2006test",))
def three_tests_are_predicted_from_the_fit_to_one(specimen: Any) -> Any:
    off = [percent * np.exp(specimen.log_advantage(t, float(n), *FIT)) - cell
           for n in (1, 3) for t, percent, cell in zip(DELAYS[[0, 2]], FOUR[0], FOUR[n], strict=True)]
    return between(off, -5.0, 5.0)


@signature("TE-3", source="desirable difficulty (Bjork): boost at accessibility .2 above that at .9")
def a_harder_retrieval_gains_more(specimen: Any) -> Any:
    hard, easy = (specimen.log_advantage(7.0, specimen.difficulty(accessible, A_STUDY), *FIT) for accessible in (0.2, 0.9))
    return at_least(hard / easy, 1.5)


# --- the adaptation ----------------------------------------------------------------------------------------------------------
def told(specimen: Any) -> Any:
    from ...engine.loop import Engine
    from ...engine.ports.embedder import HashingEmbedder
    from ...engine.registry import Registry

    params = specimen.RetrievalPracticeParams(
        time_scale=1.0, a_study=A_STUDY, b_study=B_STUDY, a_test=A_TEST, b_test=B_TEST, day=1.0, most_tests=3.0, criterion=1.0)
    mechanisms = [specimen.RetrievalPractice("testing_effect", params, {"day": "d"}), Registry.read().instance("lexical_bm25")]
    memory = Engine(mechanisms, HashingEmbedder(16))
    memory.encode_all(Event(0.0, text) for text in ("a red kite", "a blue kite", "a green kite", "an old boat", "some rain", "more rain"))
    return memory


def strength(memory: Any, hours: float) -> Any:
    from ...engine.vocabulary import LOG_STRENGTH

    memory.advance(memory.now + hours)
    return np.array(memory.store.array(LOG_STRENGTH))


@adaptation("TE-4", source="only a successful retrieval counts, not other memories of the answer and no failure", needs="engine")
def only_the_best_memory_of_a_successful_retrieval_is_tested(specimen: Any) -> Any:
    memory = told(specimen)
    memory.retrieve(Query("red kite"), k=4, learn=True)
    memory.retrieve(Query("nobody knows"), k=4, learn=True)
    return (strength(memory, 48.0) != 0.0).tolist(), [True, False, False, False, False, False]


@adaptation("TE-5", source="t = 0 .. 7 d after an immediate retrieval, closed form", atol=1e-9, needs="engine")
def strength_in_the_engine_follows_the_ratio_of_the_groups(specimen: Any) -> Any:
    memory = told(specimen)
    memory.retrieve(Query("red kite"), learn=True)
    measured = [strength(memory, h)[0] for h in (5 / 60, 48.0 - 5 / 60, 120.0)]
    return measured, np.log(A_TEST / A_STUDY * (1 + DELAYS) ** (B_STUDY - B_TEST))


# --- figures -----------------------------------------------------------------------------------------------------------------
@figure("testing_effect", caption="Recall over the delay after restudy and after a test: restudy is better after five minutes, the test after days",
        source="Roediger & Karpicke 2006, Experiment 1, from memory; four parameters fitted")
def recall_over_the_delay(specimen: Any) -> Picture:
    days = np.geomspace(0.002, 30.0, 60)
    return Picture("delay, d", "recalled, %", (
        Curve("studied twice", days, curve(specimen, days, 0.0)), Curve("studied and tested", days, curve(specimen, days, 1.0)),
        Curve("tested three times", days, curve(specimen, days, 3.0)), dots("published, studied twice", DELAYS, STUDIED),
        dots("published, tested", DELAYS, RECALLED)), log="x")


# --- mutants -----------------------------------------------------------------------------------------------------------------
@mutant("a constant for each access, studied or retrieved", rejected_by="TE-1")
def constant(specimen: Any) -> Any:
    return specimen.replacing("log_advantage", lambda t, w, *fit: 0.1 * w)


@mutant("retrieval slows forgetting without an initial loss", rejected_by="TE-0b")
def free(specimen: Any) -> Any:
    return specimen.replacing("log_advantage", lambda t, w, a_s, b_s, a_t, b_t: (b_s - b_s * (b_t / b_s) ** w) * np.log1p(t))


@mutant("every retrieval counts the same", rejected_by="TE-3")
def effortless(specimen: Any) -> Any:
    return specimen.replacing("difficulty", lambda accessible, at_once: 1.0)


@mutant("exponential forgetting", rejected_by="TE-2")
def exponential(specimen: Any) -> Any:
    return specimen.replacing("retention", lambda t, a, b: a * np.exp(-b * t))
