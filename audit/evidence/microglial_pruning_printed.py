"""Evidence for microglial_pruning_printed: what Cortex 4.4.6 says it does, and how the checks of the paper's form come out for it.

The source calls its rule a heuristic and claims no kinetics, so those checks are reported and do not decide.
"""
from __future__ import annotations

import functools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from ..checks import Check, adaptation, mutant
from ..figures import Figure
from . import microglial_pruning as paper

RULE = (0.1, 168.0, 0.1, 5)         # weak, stale (h), cold, many
GAIN, HALF_LIFE = 0.04, 48.0
Shown = TypeVar("Shown", Check, Figure)


def on_rule(check: Shown) -> Shown:
    """A check of the paper's form, asked of the printed rule: days as hours, survival is 0 or 1; what the rule has no word for cannot be tested."""

    @functools.wraps(check.function)
    def function(specimen: Any) -> Any:
        def use(now: float, edges: Any, *rest: Any) -> None:
            for e in edges:
                rest[5][e] += 1.0                                                        # A counts uses, its clock is the last
                rest[9][e] = now

        def patrol(now: float, last: float, key: int, kind: Any, alive: Any, source: Any, target: Any, cd55: Any, k: Any, A: Any, P: Any, T: Any,
                   risk: Any, clock: Any, pruned: Any) -> int:
            for e in np.flatnonzero(alive):
                heat = 2.0 ** (24.0 * (clock[e] - now) / HALF_LIFE)
                if specimen.prunable(GAIN * A[e], 24.0 * (now - clock[e]), heat, heat, int(A[e]), *RULE):
                    pruned[e] = now
            return int((pruned == now).sum())

        def advance(A: float, P: float, T: float, i: float, t: float, k: Any) -> tuple[float, float, float, float]:
            heat = 2.0 ** (-24.0 * t / HALF_LIFE)
            return A, P, T, 1e9 if specimen.prunable(GAIN * A, 24.0 * t, heat, heat, int(A), *RULE) else 0.0

        return check.function(SimpleNamespace(use=use, patrol=patrol, advance=advance))

    return replace(check, function=function)


def asked(check: Check) -> Check:
    return replace(on_rule(check), warn=True)


# --- as printed --------------------------------------------------------------------------------------------------------------
@adaptation("MPP-1", source="Cortex 4.4.6: low weight, no recent co-activation and cold endpoints, all three; many accesses protect")
def each_of_four_conditions_spares(specimen: Any) -> Any:
    cases = ((0.05, 200.0, 0.05, 0.05, 2), (0.2, 200.0, 0.05, 0.05, 2), (0.05, 100.0, 0.05, 0.05, 2), (0.05, 200.0, 0.5, 0.05, 2),
             (0.05, 200.0, 0.05, 0.5, 2), (0.05, 200.0, 0.05, 0.05, 5))
    return [bool(specimen.prunable(*c, *RULE)) for c in cases], [True, False, False, False, False, False]


@adaptation("MPP-2", source="live edges between memories that meet the rule, by hand")
def a_sweep_marks_what_meets_the_rule(specimen: Any) -> Any:
    kind, alive = np.array([5, 5, 5, 4, 5, 5], np.uint8), np.array([True, True, True, True, False, True])
    source, target = np.array([0, 1, 2, 0, 0, -1]), np.array([1, 2, 0, 1, 1, 0])
    weight, coactive = np.full(6, 0.04), np.zeros(6)
    accesses, touched, gone = np.array([1, 1, 9]), np.zeros(3), np.zeros(6, bool)
    count = specimen.sweep(500.0, *RULE, HALF_LIFE, kind, alive, source, target, weight, coactive, accesses, touched, gone)
    return [count, *np.flatnonzero(gone)], [1, 0]


@adaptation("MPP-3", source="2^(-h / 48) < 0.1 from 159.5 h on")
def an_end_used_elsewhere_keeps_all_its_associations(specimen: Any) -> Any:
    found = []
    for since in (150.0, 165.0):
        gone = np.zeros(1, bool)
        specimen.sweep(500.0, *RULE, HALF_LIFE, np.full(1, 5, np.uint8), np.ones(1, bool), np.zeros(1, int), np.ones(1, int), np.full(1, 0.04),
                       np.zeros(1), np.ones(2, int), np.array([0.0, 500.0 - since]), gone)
        found.append(bool(gone[0]))
    return found, [False, True]


# --- the checks of the paper's form ------------------------------------------------------------------------------------------------
tag = asked(paper.an_idle_association_is_tagged_exponentially)
depletion = asked(paper.without_microglia_nothing_is_lost)
cd55 = asked(paper.full_cd55_keeps_complement_off)
protection = asked(paper.full_protection_means_no_hazard)
survival = asked(paper.what_is_never_used_goes_and_what_is_used_daily_stays)
rescue = asked(paper.use_takes_back_a_tag)
activity = asked(paper.the_more_an_association_is_used_the_longer_it_stays)
weeks = asked(paper.forgetting_takes_weeks)
recent_use = asked(paper.a_weak_association_in_recent_use_is_not_pruned)
thinning = asked(paper.as_many_go_as_the_hazard_says)


# --- pictures ----------------------------------------------------------------------------------------------------------------
tags = replace(on_rule(paper.tag_and_survival),
               caption="Under the printed rule an association never used is there until the day it meets the conditions, then gone; it has no tag")


@mutant("a threshold of weight and nothing else", rejected_by="MPP-1")
def weight_only(specimen: Any) -> Any:
    return specimen.replacing("prunable", lambda weight, idle, heat_a, heat_b, accesses, weak, stale, cold, many: weight < weak)


@mutant("one cold end is enough", rejected_by="MPP-3")
def one_end(specimen: Any) -> Any:
    def prunable(weight: float, idle: float, heat_a: float, heat_b: float, accesses: int, weak: float, stale: float, cold: float, many: int) -> bool:
        return weight < weak and idle > stale and min(heat_a, heat_b) < cold and accesses < many

    return specimen.replacing("prunable", prunable)


@mutant("accesses do not protect", rejected_by="MPP-2")
def unprotected(specimen: Any) -> Any:
    rule = specimen.prunable
    return specimen.replacing("prunable", lambda weight, idle, heat_a, heat_b, accesses, *rest: rule(weight, idle, heat_a, heat_b, 0, *rest))
