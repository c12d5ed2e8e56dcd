"""Evidence for engram_allocation_printed: the equation of Cortex 4.4.9, and the checks of the
papers' form applied to it.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.vocabulary import MATCH, VISIBLE
from ..checks import adaptation, at_most, mutant
from ..memory import encode, memory_of
from . import engram_allocation as papers
from .shared.dreams import dreaming
from .shared.scripts import refusing


def as_population(specimen: Any) -> SimpleNamespace:
    """The printed form under the names of the papers' form: an engram is one slot, and noise,
    which the printed form lacks, is ignored.
    """
    latest = np.zeros(papers.N)

    def excitability(
        base: Any,
        excited: Any,
        _slow: Any,
        gap: Any,
        boost: float,
        _inhibition: float,
        tau_e: float,
        _tau_i: float,
        out: Any,
    ) -> None:
        specimen.excitability(boost * excited, gap, tau_e * math.log(2.0), out)
        out += base
        latest[: len(out)] = out

    def allocate(_excitable: Any, _size: int) -> Any:
        return np.array([specimen.allocate(latest)])

    def activate(
        units: Any,
        now: float,
        tau_e: float,
        _tau_i: float,
        _most: float,
        excited: Any,
        _inhibited: Any,
        active: Any,
    ) -> None:
        for slot in units:
            specimen.activate(int(slot), now, 1.0, 0.25, tau_e * math.log(2.0), excited, active)

    def overlap(a: Any, b: Any) -> float:
        return float(np.isin(a, b).mean())

    return SimpleNamespace(
        excitability=excitability,
        allocate=allocate,
        activate=activate,
        overlap=overlap,
        slots_an_engram=1,
    )


# --- as printed -----------------------------------------------------------------------------------
@adaptation("EAP-1", source="Cortex 4.4.9: E0 2^(-t / 6 h)", atol=1e-12, papers=("cortex2026",))
def excitability_is_the_printed_half_life(specimen: Any) -> Any:
    t, out = np.array([1.0, 3.0, 5.0, 6.0, 12.0, 24.0, 48.0]), np.empty(7)
    specimen.excitability(np.full(7, 3.0), t, 6.0, out)
    return out, 3.0 * np.exp(-t * math.log(2.0) / 6.0)


@adaptation(
    "EAP-2",
    source="order of E0 2^(-t / 6 h): always slot 0, at intervals from a minute to half a year",
)
def every_memory_takes_the_first_slot(specimen: Any) -> Any:
    held, changed, out, now = np.zeros(20), np.zeros(20), np.empty(20), 0.0
    taken = []
    for gap in np.geomspace(1.0 / 60.0, 4000.0, 60):
        now += gap
        specimen.excitability(held, now - changed, 6.0, out)
        taken.append(specimen.allocate(out))
        specimen.activate(taken[-1], now, 1.0, 0.25, 6.0, held, changed)
    return at_most(np.abs(taken), 0)


@adaptation(
    "EAP-2b", source="by hand: the first slot in every age, for times are below 0 before 1970"
)
def in_every_age_memories_take_the_first_slot(specimen: Any) -> Any:
    taken = []
    for start in (-600_000.0, -10.0, 400_000.0):
        memory = memory_of(specimen, slots=3)
        encode(memory, (start, "ash"), (start + 1.0, "oak"))
        taken += memory.column(specimen.SLOT).tolist()
    return taken, [0] * 6


@adaptation("EAP-3", source="matches summed by slot, in numpy")
def slotmates_share_the_match(specimen: Any) -> Any:
    slot, match = np.array([0, 1, 0, 2, 1, -1]), np.array([2.0, 0.5, -1.0, 0.0, 1.0, 3.0])
    out = np.full(6, np.nan)
    specimen.together(slot, np.array([5, 0, 4, 1, 2]), match, 3, out)
    return np.nan_to_num(out), [2.0, 1.5, 2.0, 0.0, 1.5, 0.0]


@adaptation(
    "EAP-4",
    source="by hand: the first slot takes all events that are stored; its memories share what the best visible one lends, and a "
    "unit that sleep made has none",
    rtol=1e-6,
    papers=("cortex2026",),
)
def in_a_memory_all_events_share_a_slot(specimen: Any) -> Any:
    memory = memory_of(
        specimen,
        "lexical_bm25",
        refusing("refused"),
        dreaming(),
        slots=3,
        peak=0.8,
        suppression=0.25,
        lenders=1,
    )
    measured, expected = list[Any](), list[Any]()
    for i, text in enumerate(("ash ash", "oak", "refused", "ash fir", "ash dream", "fir elm")):
        encode(memory, (7.0 * i, text))
        if text != "refused":
            measured += [
                *memory.column(specimen.SLOT_EXCITABILITY),
                *memory.column(specimen.SLOT_CHANGED),
            ]
            expected += [0.8, 0.0, 0.0, 7.0 * i, 7.0 * i, 0.0]
    slot = [0, 0, 0, -1, 0, 0]  # the fourth was made in the sleep at 24 h
    measured += memory.column(specimen.SLOT).tolist()
    expected += slot
    memory.archive(0)
    for cue in ("ash", "fir", "dream", "nobody"):
        memory.retrieve(cue)
        match, seen = memory.column(MATCH).astype(np.float64), memory.column(VISIBLE)
        best = sorted(np.flatnonzero(seen).tolist(), key=lambda row: (-match[row], row))[:1]
        lent = sum(max(match[row], 0.0) for row in best if slot[row] == 0)
        measured += np.nan_to_num(memory.column(specimen.SLOTMATES), nan=-9.0).tolist()
        expected += [lent if s == 0 and lent > 0.0 else -9.0 for s in slot]
    return measured, expected


# --- the papers' checks, but for sums of activations and lasting differences ----------------------
half_life = papers.excitability_halves_every_six_hours.of_variety(as_population)
size = papers.an_engram_has_the_same_size_after_any_history.of_variety(as_population)
intervals = papers.overlap_follows_the_closed_form_from_an_hour_to_a_week.of_variety(as_population)
values = papers.overlap_has_the_values_of_the_reference_model.of_variety(as_population)
week = papers.after_a_week_overlap_is_at_chance.of_variety(as_population)
day_and_week = papers.memories_five_hours_apart_overlap_more_than_seven_days_apart.of_variety(
    as_population
)
creb = papers.a_tenth_of_the_cells_with_creb_makes_a_third_of_the_engram.of_variety(as_population)
separation = papers.slow_inhibition_separates_memories_a_day_apart.of_variety(as_population)
below_chance = papers.overlap_a_day_apart_is_at_or_below_chance.of_variety(as_population)
independent = papers.without_excitability_engrams_are_independent.of_variety(as_population)
forgotten = papers.without_lasting_excitability_all_memories_are_separate.of_variety(as_population)


# --- figures --------------------------------------------------------------------------------------
overlap_picture = papers.overlap_by_the_interval.of_variety(
    "Overlap of two memories by the time between them: the printed form gives both the same slot at any interval",
    as_population,
)
separation_picture = papers.overlap_with_and_without_slow_inhibition.of_variety(
    "Overlap with and without slow inhibition: the printed form has none, and both memories share a slot at any interval",
    as_population,
)


@mutant("the least excitable slot", rejected_by="EAP-2")
def least_excitable(specimen: Any) -> Any:
    return specimen.replacing("allocate", lambda excitable: int(np.argmin(excitable)))


@mutant("a time constant of 6 h in place of a half-life", rejected_by="EAP-1")
def time_constant(specimen: Any) -> Any:
    return specimen.replacing(
        "excitability",
        lambda held, gap, half, out: specimen.excitability(held, gap, half * math.log(2.0), out),
    )


@mutant("archived memories lend, too", rejected_by="EAP-4")
def archived_lend(specimen: Any) -> Any:
    original = specimen.best
    return specimen.replacing(
        "best", lambda match, visible, most: original(match, np.ones_like(visible), most)
    )


@mutant("all matches lend", rejected_by="EAP-4")
def all_lend(specimen: Any) -> Any:
    original = specimen.best
    return specimen.replacing("best", lambda match, visible, most: original(match, visible, 99))


@mutant("a slot that was used rests", rejected_by="EAP-4")
def resting(specimen: Any) -> Any:
    return specimen.replacing("allocate", lambda excitable: int(np.argmin(excitable)))


@mutant("a slot never used is as it was before time 0", rejected_by="EAP-2b")
def before_time_0(specimen: Any) -> Any:
    def excitability(held: Any, gap: Any, half_life: float, out: Any) -> None:
        specimen.excitability(held, np.where(held > 0.0, gap, -600_000.0), half_life, out)

    return specimen.replacing("excitability", excitability)
