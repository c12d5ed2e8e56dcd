"""Evidence for engram_allocation_printed: what Cortex 4.4.9 says it does, and the checks of the papers' form on the printed one."""
from __future__ import annotations

import functools
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..checks import Check, adaptation, at_most, mutant
from . import engram_allocation as papers


def as_population(specimen: Any) -> SimpleNamespace:
    """The printed form in the place of the papers': an engram of one slot; the noise, which it does not have, is taken off again."""
    latest = np.zeros(papers.N)

    def excitability(base: Any, excited: Any, _slow: Any, gap: Any, boost: float, _inhibition: float, tau_e: float, _tau_i: float, out: Any) -> None:
        specimen.excitability(boost * excited, gap, tau_e * math.log(2.0), out)
        out += base
        latest[: len(out)] = out

    def allocate(_excitable: Any, _size: int) -> Any:
        return np.array([specimen.allocate(latest)])

    def activate(units: Any, now: float, tau_e: float, _tau_i: float, _most: float, excited: Any, _inhibited: Any, active: Any) -> None:
        for slot in units:
            specimen.activate(int(slot), now, 1.0, 0.25, tau_e * math.log(2.0), excited, active)

    def overlap(a: Any, b: Any) -> float:
        return float(np.isin(a, b).mean())

    return SimpleNamespace(excitability=excitability, allocate=allocate, activate=activate, overlap=overlap, slots_an_engram=1)


def on_printed(check: Check) -> Check:
    """A check of the papers' populations, asked of the printed slots."""

    @functools.wraps(check.function)
    def function(specimen: Any) -> Any:
        return check.function(as_population(specimen))

    return replace(check, function=function)


# --- as printed --------------------------------------------------------------------------------------------------------------
@adaptation("EAP-1", source="Cortex 4.4.9: E0 2^(-t / 6 h)", atol=1e-12)
def excitability_is_the_printed_half_life(specimen: Any) -> Any:
    t, out = np.array([1.0, 3.0, 5.0, 6.0, 12.0, 24.0, 48.0]), np.empty(7)
    specimen.excitability(np.full(7, 3.0), t, 6.0, out)
    return out, 3.0 * np.exp(-t * math.log(2.0) / 6.0)


@adaptation("EAP-2", source="order of E0 2^(-t / 6 h): slot 0 for ever, at any interval from a minute to half a year")
def every_memory_takes_the_first_slot(specimen: Any) -> Any:
    held, changed, out, now = np.zeros(20), np.zeros(20), np.empty(20), 0.0
    taken = []
    for gap in np.geomspace(1.0 / 60.0, 4000.0, 60):
        now += gap
        specimen.excitability(held, now - changed, 6.0, out)
        taken.append(specimen.allocate(out))
        specimen.activate(taken[-1], now, 1.0, 0.25, 6.0, held, changed)
    return at_most(np.abs(taken), 0)


@adaptation("EAP-3", source="matches summed by slot, in numpy")
def slotmates_share_the_match(specimen: Any) -> Any:
    slot, match = np.array([0, 1, 0, 2, 1, -1]), np.array([2.0, 0.5, -1.0, 0.0, 1.0, 3.0])
    out = np.full(6, np.nan)
    specimen.together(slot, np.array([5, 0, 4, 1, 2]), match, 3, out)
    return np.nan_to_num(out), [2.0, 1.5, 2.0, 0.0, 1.5, 0.0]


# --- the papers' checks, but for sums over activations and lasting differences, which the source does not claim ----------------------
half_life = on_printed(papers.excitability_halves_every_six_hours)
size = on_printed(papers.an_engram_has_the_same_size_whatever_was_before)
intervals = on_printed(papers.overlap_follows_the_closed_form_from_an_hour_to_a_week)
values = on_printed(papers.overlap_has_the_values_of_the_reference_model)
week = on_printed(papers.after_a_week_nothing_is_left)
day_and_week = on_printed(papers.five_hours_share_more_than_seven_days)
creb = on_printed(papers.a_tenth_of_the_cells_with_creb_makes_a_third_of_the_engram)
separation = on_printed(papers.slow_inhibition_separates_what_is_a_day_apart)
below_chance = on_printed(papers.a_day_apart_is_below_chance)
independent = on_printed(papers.without_excitability_engrams_are_independent)
forgotten = on_printed(papers.without_memory_of_use_all_memories_are_separate)


# --- to be seen --------------------------------------------------------------------------------------------------------------
overlap_picture = papers.overlap_by_the_interval.of_variety(
    "Overlap of two memories by the time between them: the printed form gives both the same slot, however far apart they are", as_population)
separation_picture = papers.overlap_with_and_without_slow_inhibition.of_variety(
    "Overlap with and without slow inhibition: the printed form has none, and both memories share their slot at any interval", as_population)


@mutant("the least excitable slot, which would at least change places", rejected_by="EAP-2")
def least_excitable(specimen: Any) -> Any:
    return specimen.replacing("allocate", lambda excitable: int(np.argmin(excitable)))


@mutant("a time constant of 6 h, which is not what is printed", rejected_by="EAP-1")
def time_constant(specimen: Any) -> Any:
    return specimen.replacing("excitability", lambda held, gap, half, out: specimen.excitability(held, gap, half * math.log(2.0), out))
