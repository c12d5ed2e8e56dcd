"""Evidence for retrieval_competition_printed: the linear suppression of Cortex 4.4.10, and the
checks of the papers' form applied to it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.columns import Facet, Phase, signal
from ...engine.contract.vocabulary import BAN, LOG_PRIOR, REWEIGHTED
from ..checks import adaptation, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour
from . import retrieval_competition as papers

FACTOR = 0.3


def as_race(specimen: Any) -> SimpleNamespace:
    """The printed form under the names of the papers' form: its one step replaces settling, and
    it learns nothing.
    """

    def settle(
        drive: Any, leak: float, inhibition: float, step: float, steps: int, noise: Any, x: Any
    ) -> None:
        order = np.argsort(-drive, kind="stable")
        out = np.empty(len(drive))
        specimen.suppressed(np.asarray(drive, dtype=np.float64)[order], FACTOR, out)
        x[order] = out

    def contrast(
        cue: Any,
        drive: Any,
        target: Any,
        inhibition: float,
        amplitude: float,
        gain: float,
        out: Any,
    ) -> None:
        out[:] = 0.0

    return SimpleNamespace(settle=settle, contrast=contrast, normal_inhibition=lambda drive, k: 0.0)


def after(specimen: Any, scores: Any, factor: float = FACTOR) -> Any:
    out = np.empty(len(scores))
    specimen.suppressed(np.asarray(scores, dtype=np.float64), factor, out)
    return out


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "RCP-1",
    source="Cortex 4.4.10: the definition, pair by pair, in numpy",
    figure="suppression",
    papers=("cortex2026",),
)
def each_score_falls_by_its_differences_to_all_higher_scores(specimen: Any) -> Any:
    scores = np.sort(np.random.default_rng(1).uniform(0.0, 1.0, 12))[::-1]
    scores[4] = scores[3]
    expected = [max(0.0, s - FACTOR * sum(t - s for t in scores if t > s)) for s in scores]
    return after(specimen, scores), expected


@adaptation(
    "RCP-2",
    source="Cortex 4.4.10: above 0 no order changes",
    figure="suppression",
    papers=("cortex2026",),
)
def the_order_of_scores_does_not_change(specimen: Any) -> Any:
    out = after(specimen, [1.0, 0.9, 0.8, 0.7])
    return bool((np.diff(out) < 0.0).all())


@adaptation("RCP-3", source="Cortex 4.4.10: the floor at 0", papers=("cortex2026",))
def low_scores_tie_at_zero(specimen: Any) -> Any:
    return after(specimen, [1.0, 0.2, 0.1]), [1.0, 0.0, 0.0]


PRINTED_MATCH = signal("printed_match", Facet.MEANING, "given scores")


@adaptation(
    "RCP-4",
    source="Cortex 4.4.10: the definition in numpy, on the score after priors of the best memories that may be answered",
    rtol=1e-6,
    atol=1e-6,
    papers=("cortex2026",),
)
def a_memory_suppresses_the_best_that_may_be_answered(specimen: Any) -> Any:
    scores, prior, banned = (
        np.array([0.9, 0.2, 0.8, 0.5, 0.7, 0.0]),
        np.log([1.0, 2.0, 0.5, 1.5, 1.0, 1.0]),
        np.arange(6) == 4,
    )

    def given(view: Any, _: Any) -> None:
        view.printed_match[...] = scores

    def weigh(view: Any, _: Any) -> None:
        view.log_prior[...] += prior
        view.ban[...] += banned

    memory = memory_of(
        specimen,
        neighbour(Phase.RETRIEVE, given, sets=(PRINTED_MATCH,), owns=(PRINTED_MATCH,)),
        neighbour(Phase.RETRIEVE, weigh, adds=(LOG_PRIOR, BAN), id="weigh"),
        factor=0.2,
        pool=4,
    )
    encode(memory, *((float(i), f"event {i}") for i in range(6)))
    memory.retrieve("event")
    out = scores / 0.9 * np.exp(prior)
    rows = [i for i in np.argsort(-out) if not banned[i]][:4]
    scaled = (out[rows] - out[rows].min()) / np.ptp(out[rows])
    lowered = [max(0.0, s - 0.2 * sum(t - s for t in scaled if t > s)) for s in scaled]
    out[rows] = out[rows].min() + np.ptp(out[rows]) * np.array(lowered)
    return memory.column(REWEIGHTED), out


# --- the papers' checks ---------------------------------------------------------------------------
side_by_side = papers.weak_inhibition_lets_both_stay_active.of_variety(as_race)
modes = papers.sum_and_difference_relax_each_at_its_rate.of_variety(as_race)
linear_system = papers.many_accumulators_solve_the_linear_system.of_variety(as_race)
winner = papers.strong_inhibition_lets_the_winner_take_all.of_variety(as_race)
integrator = papers.balanced_inhibition_integrates_the_difference.of_variety(as_race)
alone = papers.without_inhibition_each_settles_alone.of_variety(as_race)
sign = papers.activations_are_never_negative.of_variety(as_race)
contrast_rule = papers.change_is_the_contrast_of_two_half_cycles.of_variety(as_race)
one_cycle = papers.the_target_rises_and_a_strong_competitor_falls.of_variety(as_race)
forgetting = (
    papers.practice_raises_recall_of_practised_items_and_lowers_that_of_competitors.of_variety(
        as_race
    )
)


# --- figures --------------------------------------------------------------------------------------
race_picture = papers.traces_of_the_race.of_variety(
    "The printed form in place of the accumulators: no dynamics and no inhibition parameter; the weaker loses 0.3 times its difference in one step",
    as_race,
)
forgetting_picture = papers.recall_over_practice.of_variety(
    "Recall after practice in the printed form: practice does not change it", as_race
)


@figure(
    "suppression",
    caption="Scores of ten candidates before and after: each falls by its differences to all higher scores, the last to 0, and "
    "the order above does not change",
    source="Cortex 4.4.10; the definition in numpy",
)
def scores_before_and_after(specimen: Any) -> Picture:
    scores, rank = np.linspace(1.0, 0.55, 10), np.arange(1, 11)
    expected = [max(0.0, s - FACTOR * float(np.maximum(scores - s, 0.0).sum())) for s in scores]
    return Picture(
        "rank",
        "score",
        (
            Curve("before", rank, scores),
            Curve("after", rank, after(specimen, scores)),
            dots("definition", rank, expected),
        ),
    )


@mutant("suppression by the strongest only", rejected_by="RCP-1")
def by_the_first(specimen: Any) -> Any:
    def suppressed(scores: Any, factor: float, out: Any) -> None:
        out[:] = np.maximum(0.0, scores - factor * (scores[0] - scores))

    return specimen.replacing("suppressed", suppressed)


@mutant("memories that may not be answered suppress, too", rejected_by="RCP-4")
def all_suppress(specimen: Any) -> Any:
    best = specimen.best
    return specimen.replacing(
        "best", lambda scores, answerable, pool: best(scores, np.ones_like(answerable), pool)
    )
