"""Evidence for neurogenesis.  Codes are those of pattern_separation; references are closed forms
and counts.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import TURNOVER
from ...mechanisms.encoding import pattern_separation as code
from ..checks import adaptation, at_least, between, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from .shared.scripts import refusing
from .shared.tellings import tell

UNITS, K, INPUTS = 2048, 41, 384
REPLACEMENT = 222.0  # d
# twice as easy to drive at 35 days, sd 7 days
YOUNG = (1.0, 0.1575, 0.0315)
MATURE = (0.0, 0.1575, 0.0315)
DAY = 24.0
# d, by which all cells were born within the simulation
SETTLED = 300.0


@functools.cache
def inputs(n: int, seed: int) -> NDArray[np.float64]:
    x = np.random.default_rng(seed).standard_normal((n, INPUTS))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def driven(
    x: NDArray[np.float64], replaced: float, young: tuple[float, float, float]
) -> NDArray[np.float64]:
    """Drive of every unit after so many populations were replaced."""
    h = np.empty(UNITS)
    for generation in code.generations(replaced, UNITS):
        code.drive(
            x,
            *code.readers(0, generation, UNITS, INPUTS, 0.2, 0.5),
            generation,
            replaced,
            True,
            *young,
            h,
        )
    return h


def coded(
    specimen: Any, x: NDArray[np.float64], day: float, young: tuple[float, float, float]
) -> set[int]:
    """Cells that are active for an input on a day."""
    replaced = specimen.turnover(day * DAY, REPLACEMENT * DAY)
    out = np.empty(K, dtype=np.int32)
    code.cells(code.winners(driven(x, replaced, young), K), replaced, UNITS, out)
    return set(out.tolist())


def common(one: set[int], other: set[int]) -> float:
    return len(one & other) / K


def unrelated(specimen: Any, apart: float) -> float:
    """Mean overlap of unrelated items, encoded `apart` days apart."""
    x = inputs(40, 1)
    first, second = (
        [coded(specimen, item, day, YOUNG) for item in part]
        for part, day in ((x[:20], SETTLED), (x[20:], SETTLED + apart))
    )
    return float(np.mean([common(a, b) for a in first for b in second]))


def own(specimen: Any, apart: float, young: tuple[float, float, float] = MATURE) -> float:
    """Mean overlap of a memory with its own cue, `apart` days later."""
    return float(
        np.mean(
            [
                common(
                    coded(specimen, x, SETTLED, young), coded(specimen, x, SETTLED + apart, young)
                )
                for x in inputs(20, 2)
            ]
        )
    )


def alive(specimen: Any, cells: set[int], day: float) -> set[int]:
    """The cells that have not been replaced by a day."""
    replaced = specimen.turnover(day * DAY, REPLACEMENT * DAY)
    return {
        c
        for c in cells
        if int(np.floor(replaced + (c % code.GENERATION) / UNITS)) == c // code.GENERATION
    }


# --- births ---------------------------------------------------------------------------------------
@equation(
    "CM-16.0",
    source="constant births: M / (b s); a million cells, 9000 a day, half of which survive",
    rtol=1e-12,
)
def a_population_is_replaced_in_222_days(specimen: Any) -> Any:
    return [
        specimen.replacement_time(1e6, 9000.0, 0.5),
        specimen.replacement_time(1e6, 9000.0, 1.0),
    ], [1e6 / 4500.0, 1e6 / 9000.0]


@equation("CM-16.0b", source="closed form t / T; adds up over any division of time", rtol=1e-12)
def births_are_proportional_to_time(specimen: Any) -> Any:
    steps = np.random.default_rng(0).exponential(10.0, 50)
    return [
        specimen.turnover(float(steps.sum()), 97.0),
        sum(specimen.turnover(float(s), 97.0) for s in steps),
    ], steps.sum() / 97.0


@equation("CM-16.0c", source="count of the cells that are not replaced", atol=1.0 / UNITS, rtol=0.0)
def the_oldest_cells_are_replaced_first_and_each_unit_once_per_population(specimen: Any) -> Any:
    cells, start = range(UNITS), 0.37
    before, measured = [code.generation_of(start, u, UNITS) for u in cells], []
    for later in (0.1, 0.25, 0.9, 1.0, 1.7):
        after = [code.generation_of(start + later, u, UNITS) for u in cells]
        measured += [np.mean(np.equal(before, after)) - specimen.surviving(later)]
    return measured, 0.0


# --- effects on memory ----------------------------------------------------------------------------
@signature(
    "CM-16.1",
    source="Aimone, Wiles & Gage 2009: items encoded together share young cells",
    figure="integration",
    papers=("aimone2009computational",),
)
def unrelated_items_of_a_day_overlap_more_than_those_three_weeks_apart(specimen: Any) -> Any:
    return at_least(
        unrelated(specimen, 0.0) - np.array([unrelated(specimen, 21.0), unrelated(specimen, 42.0)]),
        0.02,
    )


@signature(
    "CM-16.1b",
    source="Aimone, Wiles & Gage 2009: integration fades as the cohort matures",
    figure="integration",
    papers=("aimone2009computational",),
)
def integration_fades_with_the_days_between(specimen: Any) -> Any:
    return bool(
        (np.diff([unrelated(specimen, apart) for apart in (0.0, 7.0, 14.0, 28.0)]) < 0.0).all()
    )


@limit("CM-16.1c", source="turnover 0: codes do not depend on time", atol=1e-12)
def without_births_codes_do_not_depend_on_time(specimen: Any) -> Any:
    x = inputs(40, 1)
    born = [specimen.turnover(day * DAY, 1e300) for day in (0.0, 21.0, 400.0)]
    drives = [driven(x[0], replaced, YOUNG) for replaced in born]
    return np.r_[drives[1], drives[2]], np.r_[drives[0], drives[0]]


@limit(
    "CM-16.2",
    source="no time, no births: a memory responds fully to its own cue",
    atol=0.0,
    rtol=0.0,
)
def at_encoding_a_memory_overlaps_fully_with_its_cue(specimen: Any) -> Any:
    return own(specimen, 0.0), 1.0


@signature(
    "CM-16.2b",
    source="Akers et al. 2014: births make old memories fade",
    figure="fading",
    papers=("akers2014hippocampal",),
)
def old_memories_fade_monotonically(specimen: Any) -> Any:
    kept = np.array([own(specimen, apart) for apart in (0.0, 14.0, 40.0, 80.0, 140.0, 222.5)])
    return bool((np.diff(kept) < 0.0).all() and kept[-1] == 0.0)


@signature(
    "CM-16.2c",
    source="closed form: replaced cells are a random part of a code, 1 - t / T remains; 4 standard errors",
    atol=0.04,
    rtol=0.0,
    figure="fading",
)
def the_remaining_share_of_a_code_is_that_of_all_cells(specimen: Any) -> Any:
    codes = [coded(specimen, x, SETTLED, MATURE) for x in inputs(60, 2)]
    days = (30.0, 80.0, 140.0)
    return [
        np.mean([len(alive(specimen, c, SETTLED + apart)) / K for c in codes]) for apart in days
    ], [1.0 - apart / REPLACEMENT for apart in days]


@limit(
    "CM-16.2e",
    source="a replaced cell cannot fire: overlap with the own cue is at most the remaining share of the code",
)
def no_memory_responds_with_replaced_cells(specimen: Any) -> Any:
    spare = []
    for x in inputs(20, 2):
        stored = coded(specimen, x, SETTLED, MATURE)
        for day in (SETTLED + 30.0, SETTLED + 140.0):
            spare.append(
                len(alive(specimen, stored, day)) - len(stored & coded(specimen, x, day, MATURE))
            )
    return at_least(spare, 0)


@signature(
    "CM-16.2d",
    source="the benefit: a new item activates other cells than a similar old one (Becker 2005)",
    papers=("becker2005computational",),
)
def old_memories_interfere_less_with_similar_new_ones(specimen: Any) -> Any:
    rng, falls = np.random.default_rng(3), []
    for old in inputs(15, 4):
        new = 0.9 * old + 0.43589 * rng.standard_normal(INPUTS) / np.sqrt(INPUTS)
        stored = coded(specimen, old, SETTLED, MATURE)
        falls.append(
            common(stored, coded(specimen, new, SETTLED, MATURE))
            - common(stored, coded(specimen, new, SETTLED + 80.0, MATURE))
        )
    return at_least(np.mean(falls), 0.1)


@equation(
    "CM-16.3", source="fixed number of active cells; old codes do not change", atol=0.0, rtol=0.0
)
def codes_keep_their_size(specimen: Any) -> Any:
    return [
        len(coded(specimen, inputs(1, 5)[0], day, YOUNG))
        for day in (0.0, 3.0, 150.0, 222.0, 1000.0)
    ], K


@signature(
    "CM-16.3b",
    source="k-WTA of a fixed size: young cells displace some of the mature ones, not all",
)
def young_cells_are_a_part_of_a_code(specimen: Any) -> Any:
    replaced, shares = specimen.turnover(SETTLED * DAY, REPLACEMENT * DAY), []
    for x in inputs(20, 6):
        ages = [
            (replaced + (cell % code.GENERATION) / UNITS) % 1.0
            for cell in coded(specimen, x, SETTLED, YOUNG)
        ]
        shares.append(np.mean(np.abs(np.array(ages) - YOUNG[1]) < 2.0 * YOUNG[2]))
    return between(np.mean(shares), 4.0 * YOUNG[2] * 1.5, 0.8)


# --- in a memory ----------------------------------------------------------------------------------
def turnover_in_memory(specimen: Any, time_scale: float | None) -> tuple[Any, Any]:
    """TURNOVER before the first event, at each event and each time, and the cells born since the
    first event over the population.

    The first event is vetoed; an event follows another within a tick; two sleeps pass without an
    event.
    """
    population, births, survival, scale = 5_000.0, 130.0, 0.3, time_scale or 1.0

    memory = memory_of(
        specimen,
        refusing("vetoed"),
        time_scale=time_scale,
        population=population,
        births_per_day=births,
        survival=survival,
    )
    measured, times = [float(memory.column(TURNOVER)[()])], []
    for time, text in (
        (7.0, "vetoed"),
        (7.4, "one"),
        (7.9, "two"),
        (31.0, ""),
        (60.0, ""),
        (100.0, "three"),
        (100.0, "four"),
        (4000.0, ""),
    ):
        encode(memory, (time, text)) if text else memory.advance(time)
        measured.append(float(memory.column(TURNOVER)[()]))
        times.append(time)
    return measured, [
        0.0,
        *(births / 24.0 / scale * (t - 7.0) * survival / population for t in times),
    ]


@adaptation(
    "CM-16.4",
    source="surviving births of the days since the first event over the population, by hand",
    rtol=1e-12,
)
def in_a_memory_births_are_counted_from_the_first_event(specimen: Any) -> Any:
    return turnover_in_memory(specimen, None)


@adaptation("CM-16.4b", source="as CM-16.4, with a day that lasts three", rtol=1e-12)
def at_another_time_scale_births_are_slower(specimen: Any) -> Any:
    return turnover_in_memory(specimen, 3.0)


@adaptation(
    "CM-16.4c",
    source="births of the hours since the first event was told, by hand, in a memory that had no births before",
    rtol=1e-12,
)
def births_begin_when_an_event_is_told_late(specimen: Any) -> Any:
    memory = memory_of(specimen, population=50.0, births_per_day=12.0, survival=1.0)
    encode(memory, (5.0, "told without births"))
    # what stands in a memory that is given this mechanism from now on
    memory.store.array(specimen.NEUROGENESIS_STARTED)[()] = np.nan
    memory.store.array(TURNOVER)[()] = 0.0
    measured = []
    for told, happened in ((30.0, 9.0), (50.0, 41.0), (50.0, 50.0)):
        tell(memory, told, Event(happened, f"of hour {happened}", dated=False))
        measured.append(float(memory.column(TURNOVER)[()]))
    memory.advance(80.0)
    return [*measured, float(memory.column(TURNOVER)[()])], [0.0, 0.2, 0.2, 0.5]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "integration",
    caption="Overlap of unrelated items over the days between them: items of one day share young cells; items weeks apart use "
    "different young cells and overlap less than by chance",
    source="Aimone, Wiles & Gage 2009, the direction; 41 of 2048 cells is chance",
)
def overlap_of_unrelated_items(specimen: Any) -> Picture:
    days = np.arange(0.0, 43.0, 3.5)
    return Picture(
        "days between the items",
        "share of common cells",
        (
            Curve(
                "mechanism, mean of 400 pairs", days, [unrelated(specimen, float(d)) for d in days]
            ),
            Curve("chance", days[[0, -1]], [K / UNITS] * 2),
        ),
    )


@figure(
    "fading",
    caption="Remaining share of a memory's code as cells are born: a straight line to 0 within one replacement time; its own cue "
    "activates a smaller share",
    source="closed form 1 - t / T, T = 222 d; Akers et al. 2014 give the direction",
)
def codes_over_the_days(specimen: Any) -> Picture:
    days, codes = (
        np.arange(0.0, 241.0, 20.0),
        [coded(specimen, x, SETTLED, MATURE) for x in inputs(20, 2)],
    )
    marks = np.array([0.0, 60.0, 120.0, 180.0, REPLACEMENT])
    return Picture(
        "days since encoding",
        "share of the code",
        (
            Curve(
                "cells not replaced",
                days,
                [np.mean([len(alive(specimen, c, SETTLED + d)) / K for c in codes]) for d in days],
            ),
            Curve("cells active for its own cue", days, [own(specimen, float(d)) for d in days]),
            dots("closed form", marks, 1.0 - marks / REPLACEMENT),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("no births", rejected_by="CM-16.2b")
def none_born(specimen: Any) -> Any:
    return specimen.replacing("turnover", lambda elapsed, replacement: 0.0)


@mutant("no births, no integration", rejected_by="CM-16.1")
def none_born_no_integration(specimen: Any) -> Any:
    return specimen.replacing("turnover", lambda elapsed, replacement: 0.0)


@mutant("the whole population is replaced at once", rejected_by="CM-16.2c")
def overnight(specimen: Any) -> Any:
    return specimen.replacing(
        "turnover", lambda elapsed, replacement: float(elapsed // replacement)
    )


@mutant("births slow down with age", rejected_by="CM-16.0b")
def saturating(specimen: Any) -> Any:
    return specimen.replacing(
        "turnover", lambda elapsed, replacement: 1.0 - float(np.exp(-elapsed / replacement))
    )


@mutant("cells die at random", rejected_by="CM-16.0c")
def exponential(specimen: Any) -> Any:
    return specimen.replacing("surviving", lambda replaced: float(np.exp(-replaced)))


@mutant("all newborn cells survive", rejected_by="CM-16.0")
def immortal(specimen: Any) -> Any:
    return specimen.replacing(
        "replacement_time", lambda population, births, survival: population / births
    )


@mutant("births are counted from time 0", rejected_by="CM-16.4")
def from_zero(specimen: Any) -> Any:
    def grow(self: Any, view: Any, tick: Any) -> None:
        view.turnover = self.replaced(tick.end)

    return specimen.overriding("Neurogenesis", grow=grow)


@mutant("births begin when the first event happened", rejected_by="CM-16.4c")
def from_what_happened(specimen: Any) -> Any:
    def experience(self: Any, view: Any, incoming: Any) -> None:
        if np.isnan(view.neurogenesis_started):
            view.neurogenesis_started = incoming.event.time
        view.turnover = self.replaced(view.now - view.neurogenesis_started)

    return specimen.overriding("Neurogenesis", experience=experience)


@mutant("the time scale makes births faster", rejected_by="CM-16.4b")
def faster(specimen: Any) -> Any:
    def replaced(self: Any, elapsed: float) -> float:
        return float(specimen.Neurogenesis.replaced(self, elapsed * self.params.time_scale**2))

    return specimen.overriding("Neurogenesis", replaced=replaced)
