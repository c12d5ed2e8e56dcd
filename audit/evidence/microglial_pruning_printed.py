"""Evidence for microglial_pruning_printed: the rule of Cortex 4.4.6, and the checks of the paper's
form run on it.

The source calls its rule a heuristic and claims no kinetics, so those checks are reported and do
not decide the rating.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.records import Event
from ..checks import adaptation, mutant
from ..memory import memory_of
from . import microglial_pruning as paper
from .shared.crowded import SOURCE as CROWDED
from .shared.crowded import associates_of_a_crowded_memory
from .shared.views import nothing

RULE = (0.1, 168.0, 0.1, 5)  # weak, stale (h), cold, many
GAIN, HALF_LIFE = 0.04, 48.0


def as_hazard(specimen: Any) -> SimpleNamespace:
    """The printed rule under the paper's names: days as hours, survival is 0 or 1; what the rule
    lacks is not testable.
    """

    def use(now: float, edges: Any, *rest: Any) -> None:
        for e in edges:
            # A counts uses; the clock is the last use
            rest[5][e] += 1.0
            rest[9][e] = now

    def patrol(
        now: float,
        last: float,
        key: int,
        kind: Any,
        alive: Any,
        source: Any,
        target: Any,
        cd55: Any,
        k: Any,
        A: Any,
        P: Any,
        T: Any,
        risk: Any,
        clock: Any,
        pruned: Any,
    ) -> int:
        for e in np.flatnonzero(alive):
            heat = 2.0 ** (24.0 * (clock[e] - now) / HALF_LIFE)
            if specimen.prunable(
                GAIN * A[e], 24.0 * (now - clock[e]), heat, heat, int(A[e]), *RULE
            ):
                pruned[e] = now
        return int((pruned == now).sum())

    def advance(
        A: float, P: float, T: float, i: float, t: float, k: Any
    ) -> tuple[float, float, float, float]:
        heat = 2.0 ** (-24.0 * t / HALF_LIFE)
        return (
            A,
            P,
            T,
            1e9 if specimen.prunable(GAIN * A, 24.0 * t, heat, heat, int(A), *RULE) else 0.0,
        )

    return SimpleNamespace(use=use, patrol=patrol, advance=advance)


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "MPP-1",
    source="Cortex 4.4.6: low weight, no recent co-activation and cold endpoints, all three; many accesses protect",
    papers=("cortex2026",),
)
def each_of_four_conditions_spares_an_association(specimen: Any) -> Any:
    cases = (
        (0.05, 200.0, 0.05, 0.05, 2),
        (0.2, 200.0, 0.05, 0.05, 2),
        (0.05, 100.0, 0.05, 0.05, 2),
        (0.05, 200.0, 0.5, 0.05, 2),
        (0.05, 200.0, 0.05, 0.5, 2),
        (0.05, 200.0, 0.05, 0.05, 5),
    )
    return [bool(specimen.prunable(*c, *RULE)) for c in cases], [
        True,
        False,
        False,
        False,
        False,
        False,
    ]


@adaptation("MPP-2", source="live edges between memories that meet the rule, by hand")
def a_sweep_marks_the_edges_that_meet_the_rule(specimen: Any) -> Any:
    kind, alive = (
        np.array([5, 5, 5, 4, 5, 5], np.uint8),
        np.array([True, True, True, True, False, True]),
    )
    source, target = np.array([0, 1, 2, 0, 0, -1]), np.array([1, 2, 0, 1, 1, 0])
    weight, coactive = np.full(6, 0.04), np.zeros(6)
    accesses, touched, gone = np.array([1, 1, 9]), np.zeros(3), np.zeros(6, bool)
    count = specimen.sweep(
        500.0,
        *RULE,
        HALF_LIFE,
        kind,
        alive,
        source,
        target,
        weight,
        coactive,
        accesses,
        touched,
        gone,
    )
    return [count, *np.flatnonzero(gone)], [1, 0]


@adaptation("MPP-3", source="2^(-h / 48) < 0.1 from 159.5 h on")
def a_memory_used_elsewhere_keeps_all_its_associations(specimen: Any) -> Any:
    measured = []
    for since in (150.0, 165.0):
        gone = np.zeros(1, bool)
        specimen.sweep(
            500.0,
            *RULE,
            HALF_LIFE,
            np.full(1, 5, np.uint8),
            np.ones(1, bool),
            np.zeros(1, int),
            np.ones(1, int),
            np.full(1, 0.04),
            np.zeros(1),
            np.ones(2, int),
            np.array([0.0, 500.0 - since]),
            gone,
        )
        measured.append(bool(gone[0]))
    return measured, [False, True]


@adaptation(
    "MPP-4",
    source="Cortex 4.4.6: an explicit protection flag spares: associations after 40 days, of two memories of which one has the "
    "flag; ours: no, false and 0 are none, however they are written",
    papers=("cortex2026",),
)
def a_flag_protects(specimen: Any) -> Any:
    left = []
    for value in ("yes", "no", "No", "FALSE", "0"):
        memory = memory_of(specimen)
        for hour in range(2):
            flag = (("protected", value),) if hour else ()
            event = Event(float(hour), f"the boat {hour}", "", "S1", dated=False, attributes=flag)
            memory.encode(event)
        memory.advance(960.0)
        left.append(int(memory.assembly.graph.alive.sum()))
    return left, [2, 0, 0, 0, 0]


@adaptation(
    "MPP-5",
    source="Cortex 4.4.6: an association is stale if it was not used for a week; by hand: one that a sleep replays is used in that sleep",
    papers=("cortex2026",),
)
def what_a_sleep_replays_it_does_not_prune(specimen: Any) -> Any:
    left = []
    for nights in ({960.0: [(0, 1)]}, {}):
        memory = memory_of(specimen, paper.asleep(nights), consolidate_every=960.0)
        for hour in range(2):
            memory.encode(Event(float(hour), f"the boat {hour}", "", "S1", dated=False))
        memory.advance(961.0)
        left.append(int(memory.assembly.graph.alive.sum()))
    return left, [2, 0]


# --- the checks of the paper's form ---------------------------------------------------------------
tag = paper.an_idle_association_is_tagged_exponentially.of_variety(as_hazard, decides=False)
depletion = paper.without_microglia_no_association_is_lost.of_variety(as_hazard, decides=False)
cd55 = paper.full_cd55_prevents_complement.of_variety(as_hazard, decides=False)
protection = paper.full_protection_means_no_hazard.of_variety(as_hazard, decides=False)
survival = paper.an_association_never_used_is_removed_and_one_used_daily_stays.of_variety(
    as_hazard, decides=False
)
rescue = paper.use_lowers_the_tag.of_variety(as_hazard, decides=False)
activity = paper.the_more_an_association_is_used_the_longer_it_stays.of_variety(
    as_hazard, decides=False
)
weeks = paper.forgetting_takes_weeks.of_variety(as_hazard, decides=False)
recent_use = paper.a_weak_association_in_recent_use_is_not_pruned.of_variety(
    as_hazard, decides=False
)
thinning = paper.the_number_of_removals_follows_the_hazard.of_variety(as_hazard, decides=False)


crowded = adaptation("MPP-6", source=CROWDED)(associates_of_a_crowded_memory)


# --- figures --------------------------------------------------------------------------------------
tags = paper.tag_and_survival.of_variety(
    "Under the printed rule an association never used stays until it meets the conditions and is then removed; it has no tag",
    as_hazard,
)


@mutant("a threshold of weight alone", rejected_by="MPP-1")
def weight_only(specimen: Any) -> Any:
    return specimen.replacing(
        "prunable",
        lambda weight, idle, heat_a, heat_b, accesses, weak, stale, cold, many: weight < weak,
    )


@mutant("one cold end is enough", rejected_by="MPP-3")
def one_end(specimen: Any) -> Any:
    def prunable(
        weight: float,
        idle: float,
        heat_a: float,
        heat_b: float,
        accesses: int,
        weak: float,
        stale: float,
        cold: float,
        many: int,
    ) -> bool:
        return weight < weak and idle > stale and min(heat_a, heat_b) < cold and accesses < many

    return specimen.replacing("prunable", prunable)


@mutant("accesses do not protect", rejected_by="MPP-2")
def unprotected(specimen: Any) -> Any:
    rule = specimen.prunable
    return specimen.replacing(
        "prunable",
        lambda weight, idle, heat_a, heat_b, accesses, *rest: rule(
            weight, idle, heat_a, heat_b, 0, *rest
        ),
    )


@mutant("associations that a sleep replays are used after it has pruned", rejected_by="MPP-5")
def late(specimen: Any) -> Any:
    original = specimen.MicroglialPruningPrinted.prune

    def prune(self: Any, view: Any, tick: Any) -> None:
        idle = SimpleNamespace(params=self.params, hours=self.hours, used=lambda view, now: None)
        original(idle, view, tick)
        self.used(view, tick.end)

    return specimen.overriding("MicroglialPruningPrinted", prune=prune)


@mutant("the flag protects nothing", rejected_by="MPP-4")
def without_flag(specimen: Any) -> Any:
    return specimen.overriding("MicroglialPruningPrinted", protect=nothing)


@mutant("a flag that says no in capitals protects", rejected_by="MPP-4")
def capitals(specimen: Any) -> Any:
    def protect(self: Any, view: Any, incoming: Any) -> None:
        flags = [value for name, value in incoming.event.attributes if name == "protected"]
        view.printed_protected[view.row] = any(value not in specimen.NO for value in flags)

    return specimen.overriding("MicroglialPruningPrinted", protect=protect)
