"""Evidence for retrieval_competition_printed: what the linear suppression does, and the checks of the papers' form on it."""
from __future__ import annotations

import functools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..checks import Check, adaptation, mutant
from ..figures import Curve, Picture, dots, figure
from . import retrieval_competition as papers

FACTOR = 0.3


def as_race(specimen: Any) -> SimpleNamespace:
    """The printed form in the place of the papers': its one step stands for settling, and what it learns is nothing."""
    def settle(drive: Any, leak: float, inhibition: float, step: float, steps: int, noise: Any, x: Any) -> None:
        order = np.argsort(-drive, kind="stable")
        out = np.empty(len(drive))
        specimen.suppressed(np.asarray(drive, dtype=np.float64)[order], FACTOR, out)
        x[order] = out

    def contrast(cue: Any, drive: Any, target: Any, inhibition: float, amplitude: float, gain: float, out: Any) -> None:
        out[:] = 0.0

    return SimpleNamespace(settle=settle, contrast=contrast, normal_inhibition=lambda drive, k: 0.0)


def on_printed(check: Check) -> Check:
    """A check of the papers' form, asked of the printed one."""

    @functools.wraps(check.function)
    def function(specimen: Any) -> Any:
        return check.function(as_race(specimen))

    return replace(check, function=function)


def after(specimen: Any, scores: Any, factor: float = FACTOR) -> Any:
    out = np.empty(len(scores))
    specimen.suppressed(np.asarray(scores, dtype=np.float64), factor, out)
    return out


# --- as printed --------------------------------------------------------------------------------------------------------------
@adaptation("RCP-1", source="Cortex 4.4.10: the definition, pair by pair, in numpy", figure="suppression")
def each_loses_by_its_distance_to_all_who_are_stronger(specimen: Any) -> Any:
    scores = np.sort(np.random.default_rng(1).uniform(0.0, 1.0, 12))[::-1]
    scores[4] = scores[3]
    expected = [max(0.0, s - FACTOR * sum(t - s for t in scores if t > s)) for s in scores]
    return after(specimen, scores), expected


@adaptation("RCP-2", source="Cortex 4.4.10: above 0 no order changes", figure="suppression")
def who_was_lower_is_lower_still(specimen: Any) -> Any:
    out = after(specimen, [1.0, 0.9, 0.8, 0.7])
    return bool((np.diff(out) < 0.0).all())


@adaptation("RCP-3", source="Cortex 4.4.10: the floor at 0")
def far_losers_tie_at_zero(specimen: Any) -> Any:
    return after(specimen, [1.0, 0.2, 0.1]), [1.0, 0.0, 0.0]


# --- the papers' checks ------------------------------------------------------------------------------------------------------
side_by_side = on_printed(papers.weak_inhibition_settles_side_by_side)
modes = on_printed(papers.sum_and_difference_relax_each_at_its_rate)
linear_system = on_printed(papers.many_accumulators_solve_the_linear_system)
winner = on_printed(papers.strong_inhibition_lets_the_winner_take_all)
integrator = on_printed(papers.balanced_inhibition_integrates_the_difference)
alone = on_printed(papers.without_inhibition_each_settles_alone)
sign = on_printed(papers.activations_are_never_negative)
contrast_rule = on_printed(papers.change_is_the_contrast_of_two_half_cycles)
one_cycle = on_printed(papers.the_target_rises_and_a_strong_competitor_falls)
forgetting = on_printed(papers.practice_lifts_the_practised_and_costs_their_competitors)


# --- to be seen --------------------------------------------------------------------------------------------------------------
race_picture = papers.traces_of_the_race.of_variety(
    "The printed form in place of the race: no course in time and no inhibition to set; the weaker loses three tenths of its distance at once",
    as_race)
forgetting_picture = papers.recall_over_practice.of_variety(
    "Recall after practice in the printed form: practice changes nothing for anybody", as_race)


@figure("suppression", caption="Scores of ten candidates before and after: each loses by its distance to all who are stronger, the last falls to "
        "nought, and the order above it stays", source="Cortex 4.4.10; the definition in numpy")
def scores_before_and_after(specimen: Any) -> Picture:
    scores, rank = np.linspace(1.0, 0.55, 10), np.arange(1, 11)
    expected = [max(0.0, s - FACTOR * float(np.maximum(scores - s, 0.0).sum())) for s in scores]
    return Picture("rank", "score", (
        Curve("before", rank, scores), Curve("after", rank, after(specimen, scores)), dots("definition", rank, expected)))


@mutant("suppression by the strongest alone", rejected_by="RCP-1")
def by_the_first(specimen: Any) -> Any:
    def suppressed(scores: Any, factor: float, out: Any) -> None:
        out[:] = np.maximum(0.0, scores - factor * (scores[0] - scores))

    return specimen.replacing("suppressed", suppressed)
