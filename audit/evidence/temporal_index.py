"""Evidence for temporal_index: quadrature and brute force over plain lists; intervals of the
stories are set by hand from the calendar.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any
from warnings import catch_warnings

import numpy as np
from scipy.integrate import quad

from ...engine.base.times import hours
from ...engine.contract.columns import Facet, Phase, signal
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.hooks import hook
from ...engine.contract.records import Event, Only, Query
from ...engine.contract.vocabulary import ARRANGED, CREATED, DATED, LOG_PRIOR, MATCH, WITHIN
from ...engine.memory.arrivals import ClockWarning
from ..checks import adaptation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of
from .shared.scripts import drafting, giving, refusing
from .shared.views import Instead

# Times of memories (h), all against [100, 124): inside, over the start, over the end, over both,
# before, after, adjacent, short, across all.
INTERVALS = ((101.0, 110.0), (90.0, 106.0), (120.0, 150.0), (60.0, 200.0), (10.0, 40.0), (130.0,
    131.0), (124.0, 148.0), (99.99, 100.01),
             (100.0, 124.0))  # fmt: skip
FIRST, LAST = 100.0, 124.0
UNUSED = -(2**63)  # seconds: no time


# --- references -----------------------------------------------------------------------------------
def profile(t: float, first: float, last: float, width: float) -> float:
    """1 in the time asked for, exp(-gap / width) beyond it."""
    return 1.0 if first <= t <= last else math.exp(-min(abs(t - first), abs(t - last)) / width)


def mean_profile(start: float, end: float, first: float, last: float, width: float) -> float:
    """By quadrature between the kinks."""
    if start == end:
        return profile(start, first, last, width)
    edges = sorted({start, end, *(x for x in (first, last) if start < x < end)})
    return float(
        sum(quad(profile, a, b, (first, last, width), epsabs=1e-13)[0] for a, b in pairwise(edges))
    ) / (end - start)


def inside(start: float, end: float, first: float, last: float, steps: int = 2000) -> float:
    """Share of equal steps whose middle lies inside; exact if the ends fall between steps."""
    if start == end:
        return float(first <= start < last)
    middles = start + (np.arange(steps) + 0.5) * (end - start) / steps
    return float(np.mean((middles >= first) & (middles < last)))


def at(*moment: int) -> float:
    return hours(datetime(*moment))  # type: ignore[arg-type]


def days(*moment: int, n: int = 1) -> tuple[float, float]:
    return at(*moment), at(*moment) + 24.0 * n


# --- the equations --------------------------------------------------------------------------------
@adaptation("TX-1", source="quadrature of the profile over the interval", rtol=1e-9)
def the_fit_is_the_mean_over_the_interval(specimen: Any) -> Any:
    cases = [(*i, w) for i in INTERVALS for w in (0.7, 24.0, 500.0)]
    return [specimen.fit(a, b, FIRST, LAST, w) for a, b, w in cases], [
        mean_profile(a, b, FIRST, LAST, w) for a, b, w in cases
    ]


@adaptation("TX-2", source="closed form: exp(-gap / width), 1 inside", figure="profile")
def an_instant_has_the_fit_of_its_gap(specimen: Any) -> Any:
    gaps = {100.0: 0.0, 110.0: 0.0, 124.0: 0.0, 88.0: 12.0, 136.0: 12.0, 52.0: 48.0, 172.0: 48.0}
    return [specimen.fit(t, t, FIRST, LAST, w) for t in gaps for w in (12.0, 24.0)], [
        math.exp(-g / w) for g in gaps.values() for w in (12.0, 24.0)
    ]


@adaptation("TX-3", source="brute force: steps whose middle lies inside", atol=1e-12)
def the_share_inside_is_counted(specimen: Any) -> Any:
    cases = [(101.0, 110.0), (90.0, 106.0), (120.0, 140.0), (60.0, 260.0), (10.0, 40.0), (124.0,
        148.0), (99.0, 101.0), (100.0, 100.0),
             (124.0, 124.0), (99.0, 99.0), (123.0, 123.0)]  # fmt: skip
    return [specimen.share_inside(a, b, FIRST, LAST) for a, b in cases], [
        inside(a, b, FIRST, LAST) for a, b in cases
    ]


@adaptation("TX-4", source="quadrature of exp(-x / width)", rtol=1e-10)
def gaps_are_integrated(specimen: Any) -> Any:
    cases = [
        (0.0, 5.0, 3.0),
        (2.0, 5.0, 3.0),
        (7.0, 7.0, 3.0),
        (1.0, 90.0, 20.0),
        (4.0, 4.000001, 1000.0),
    ]
    return [specimen.decayed(*c) for c in cases], [
        quad(lambda x, w=c[2]: math.exp(-x / w), c[0], c[1], epsabs=1e-15)[0] for c in cases
    ]


@limit(
    "TX-5",
    source="closed form: an interval inside fits wholly, a far one not at all, and an adjacent one of the same length by 1 - 1/e",
)
def inside_far_and_adjacent(specimen: Any) -> Any:
    return (
        [
            specimen.fit(*i, FIRST, LAST, 24.0)
            for i in ((100.0, 124.0), (103.0, 104.0), (9e6, 9.1e6), (124.0, 148.0), (76.0, 100.0))
        ],
        [1.0, 1.0, 0.0, 1.0 - math.exp(-1.0), 1.0 - math.exp(-1.0)],
    )


@adaptation("TX-6", source="brute force over plain lists", rtol=1e-9, atol=1e-12)
def the_best_of_all_intervals_counts(specimen: Any) -> Any:
    told: list[list[tuple[float, float]]] = [
        [],
        [(90.0, 106.0)],
        [(10.0, 40.0), (101.0, 110.0)],
        [(400.0, 440.0), (10.0, 20.0), (500.0, 520.0), (120.0, 140.0)],
        [],
        [],
        [(330.0, 350.0)],
    ]
    created = [150.0, 110.0, 110.0, 110.0, 320.0, 104.0, 0.0]
    asked, widths = [(FIRST, LAST), (300.0, 340.0)], [24.0, 40.0]
    starts, ends = np.full((7, 4), UNUSED), np.full((7, 4), UNUSED)
    for i, spans in enumerate(told):
        for j, (a, b) in enumerate(spans):
            starts[i, j], ends[i, j] = 3600 * a, 3600 * b
    when, within = np.full(7, np.nan), np.full(7, np.nan)
    offset, askers = [0.0, 0.0, 0.0, 0.0, 12.0, -7.5, 5.0], -20.0
    specimen.score_times(
        starts,
        ends,
        np.array(created),
        np.array(offset),
        askers,
        np.array(asked),
        np.array(widths),
        when,
        within,
    )
    own = [
        spans or [(c + z, c + z), (c + askers, c + askers)]
        for spans, c, z in zip(told, created, offset, strict=True)
    ]
    return (
        np.array([when, within]),
        [
            [
                max(
                    mean_profile(*s, *q, w)
                    for s in spans
                    for q, w in zip(asked, widths, strict=True)
                )
                for spans in own
            ],
            [max(inside(*s, *q) for s in spans for q in asked) for spans in own],
        ],
    )


@adaptation("TX-7", source="closed form: exp(-distance / length)", rtol=1e-12)
def one_end_of_a_history_is_preferred(specimen: Any) -> Any:
    created, out = np.array([0.0, 30.0, 120.0]), np.full(3, np.nan)
    measured = []
    for end in (0.0, 120.0, 50.0):
        specimen.score_order(created, end, 120.0, out)
        measured.append(out.tolist())
    distances = [[0.0, 0.25, 1.0], [1.0, 0.75, 0.0], [5 / 12, 1 / 6, 7 / 12]]
    return measured, np.exp(-np.array(distances))


# --- in a memory ----------------------------------------------------------------------------------
T0 = at(2023, 5, 10, 9)  # a Wednesday
# hours after T0, text, intervals set by hand
STORY: tuple[tuple[float, str, list[tuple[float, float]]], ...] = (
    (0.0, "Ada went to the lake yesterday", [days(2023, 5, 9)]),
    (2.0, "Bo likes tea", []),
    (30.0, "We met in June 2021 and again last Friday", [days(2021, 6, 1, n=30), days(2023, 5, 5)]),
    (
        54.0,
        "Cleo taught in 2001, in 2002, in 2004, in 2005 and in 2006",
        [
            days(2001, 1, 1, n=365),
            days(2002, 1, 1, n=365),
            days(2004, 1, 1, n=366),
            days(2005, 1, 1, n=365),
        ],
    ),
    (80.0, "Dan sings", []),
    (81.0, "the boat was sold on 2023-05-08", [days(2023, 5, 8)]),
)


def story(specimen: Any, time_scale: float | None = 1.0) -> Any:
    """A memory of the story with a vetoed event in its middle, and 120 h later."""

    memory = memory_of(specimen, "dense_similarity", refusing("refused"), time_scale=time_scale)
    log = [(T0 + h, text) for h, text, _ in STORY]
    encode(memory, *log[:3], (T0 + 40.0, "refused on 7 May 2020"), *log[3:])
    memory.advance(T0 + 120.0)
    return memory


@adaptation(
    "TX-8",
    source="intervals set by hand from the calendar; the first four are kept, none of a vetoed event",
)
def a_memory_keeps_the_intervals_of_its_text(specimen: Any) -> Any:
    memory = story(specimen)
    kept = [
        [pair for pair in zip(starts, ends, strict=True) if pair != (UNUSED, UNUSED)]
        for starts, ends in zip(
            memory.column(specimen.TIME_START).tolist(),
            memory.column(specimen.TIME_END).tolist(),
            strict=True,
        )
    ]
    return (
        [x for spans in kept for pair in [(len(spans), 0), *spans] for x in pair],
        [
            x
            for _, _, spans in STORY
            for pair in [(len(spans), 0), *((round(3600 * a), round(3600 * b)) for a, b in spans)]
            for x in pair
        ],
    )


def expected(memory: Any, asked: list[tuple[float, float]], widths: list[float]) -> Any:
    """Signal and share of the story by quadrature and counting."""
    spans = [s or [(c, c)] for (_, _, s), c in zip(STORY, memory.column(CREATED), strict=True)]
    return [
        [
            max(
                mean_profile(a, b, *q, w)
                for a, b in own
                for q, w in zip(asked, widths, strict=True)
            )
            for own in spans
        ],
        [max(share(a, b, *q) for a, b in own for q in asked) for own in spans],
    ]


def share(a: float, b: float, first: float, last: float) -> float:
    """Share inside, in whole minutes."""
    if a == b:
        return float(first <= a < last)
    lower, upper, low, high = (
        round(60.0 * (x - T0)) for x in (a, b, max(first, T0 - 1e6), min(last, T0 + 1e6))
    )
    return len(range(max(lower, low), min(upper, high))) / (upper - lower)


@adaptation(
    "TX-9",
    source="quadrature of the profile with the calendar's intervals, which time_scale does not stretch",
    rtol=1e-6,
)
def a_query_scores_every_memory_by_its_time(specimen: Any) -> Any:
    """Asked on Monday 15 May, 9:00, with an archived memory; the length asked for decays, at
    least a day, and a day for open ends.
    """
    cases: tuple[tuple[str, list[tuple[float, float]], list[float]], ...] = (
        ("What did we do last week?", [days(2023, 5, 8, n=7)], [168.0]),
        ("What did we do the day before yesterday?", [days(2023, 5, 13)], [24.0]),
        ("Who sang 38 hours ago?", [(T0 + 81.5, T0 + 82.5)], [24.0]),
        (
            "Was it in 2003 or on 9 May 2023?",
            [days(2003, 1, 1, n=365), days(2023, 5, 9)],
            [8760.0, 24.0],
        ),
        ("Whom did we meet before 2004?", [(-1e8, at(2004, 1, 1))], [24.0]),
        ("Who called after 8 May 2023?", [(at(2023, 5, 9), 1e8)], [24.0]),
        (
            "Who called since 11 May?",
            [(at(2023, 5, 11), T0 + 120.0)],
            [T0 + 120.0 - at(2023, 5, 11)],
        ),
    )
    measured, wanted = [], []
    for scale in (1.0, 3.0, None):
        memory = story(specimen, scale)
        memory.archive(1)
        for text, asked, widths in cases:
            memory.retrieve(Query(text))
            measured += [memory.column(specimen.WHEN).tolist(), memory.column(WITHIN).tolist()]
            wanted += expected(memory, asked, widths)
    return measured, wanted


MOVED, WED, TEA, BOAT = (
    [1.0, 0.0, 0.0, 0.2],
    [0.0, 1.0, 0.0, 0.2],
    [0.0, 0.0, 1.0, 0.2],
    [0.0, 0.0, 0.0, 1.0],
)
EVENTS = {
    "We moved house yesterday": MOVED, "Ada got married": WED, "Tea is fine": TEA,
    "Bo bought a boat": BOAT,
    "What did Bo buy before the move?": BOAT, "What did Bo buy after the wedding?": BOAT,
    "What did Bo buy the day after the move?": BOAT,
    "What did Bo buy two days after the wedding?": BOAT,
    "What did Bo buy during the wedding?": BOAT, "What did Bo buy since the wedding?": BOAT,
    "What did Bo buy until the move?": BOAT, "What did Bo buy after the flood?": BOAT,
    "the move": [1.0, 0.1, 0.0, 0.0], "the wedding": [0.0, 1.0, 0.1, 0.0], "the flood": [-0.5, -0.2,
    0.55, 0.0],
    "What did Bo buy after the purchase?": TEA, "the purchase": BOAT,
}  # fmt: skip
TOLD = (
    (0.0, "Tea is fine"),
    (31.0, "We moved house yesterday"),
    (60.0, "Ada got married"),
    (61.0, "Bo bought a boat"),
    (99.0, "Tea is fine"),
)


@adaptation(
    "TX-10",
    source="closed form: the gap of each instant from the time that the event gives",
    rtol=1e-6,
)
def an_event_gives_the_time_through_its_memory(specimen: Any) -> Any:
    memory = memory_of(specimen, embedder=Scripted(EVENTS), criterion=0.6)
    encode(memory, *((T0 + h, text) for h, text in TOLD))
    memory.advance(T0 + 200.0)
    move, wed = days(2023, 5, 10), T0 + 60.0  # yesterday of 11 May; 12 May, 21:00
    present = T0 + 200.0
    cases = (
        ("What did Bo buy before the move?", -1e8, move[0], 24.0),
        ("What did Bo buy after the wedding?", wed + 1e-9, 1e8, 24.0),
        ("What did Bo buy the day after the move?", *days(2023, 5, 11), 24.0),
        ("What did Bo buy two days after the wedding?", *days(2023, 5, 14), 24.0),
        ("What did Bo buy during the wedding?", wed, wed + 1e-9, 24.0),
        ("What did Bo buy since the wedding?", wed, present, 140.0),
        ("What did Bo buy until the move?", -1e8, move[1], 24.0),
    )
    measured, wanted = [], []
    for text, first, last, width in cases:
        memory.retrieve(text)
        own = [(T0, T0), move, (wed, wed), (T0 + 61.0, T0 + 61.0), (T0 + 99.0, T0 + 99.0)]
        measured += [memory.column(specimen.WHEN).tolist(), memory.column(WITHIN).tolist()]
        wanted += [
            [mean_profile(*s, first, last, width) for s in own],
            [share(*s, first, last) for s in own],
        ]
    return measured, wanted


@limit(
    "TX-26",
    source="definition: an event was when its memory was told on the clock of who told it, and the present is that of the asker; by hand",
)
def events_are_timed_by_the_clocks_of_their_memories(specimen: Any) -> Any:
    """The first is told at 55 h on a clock 5 h behind UTC, the last at 202 h on one 3 h ahead, as
    the asker's.
    """
    memory = memory_of(specimen, embedder=Scripted(EVENTS), criterion=0.6)
    encode(
        memory,
        Event(T0 + 60.0, "Ada got married", offset=-5.0, dated=False),
        Event(T0 + 199.0, "Tea is fine", offset=3.0, dated=False),
    )
    memory.advance(T0 + 200.0)
    measured = []
    for when in ("during", "since"):
        memory.retrieve(Query(f"What did Bo buy {when} the wedding?", offset=3.0))
        measured.append(memory.column(WITHIN).tolist())
    return measured, [[1.0, 0.0], [1.0, 1.0]]


@limit("TX-11", source="ours: an event that no visible memory is about gives no time")
def an_event_without_a_memory_gives_no_time(specimen: Any) -> Any:
    measured = []
    for criterion, archived, text in (
        (0.6, None, "after the flood"),
        (0.75, None, "after the flood"),
        (0.6, 2, "after the wedding"),
        (0.6, None, "after the wedding"),
        (0.994, None, "after the wedding"),
        (1.0, None, "after the purchase"),
    ):
        memory = memory_of(specimen, embedder=Scripted(EVENTS), criterion=criterion)
        encode(memory, *((T0 + h, text) for h, text in TOLD))
        if archived is not None:
            memory.archive(archived)
        memory.retrieve(f"What did Bo buy {text}?")
        measured.append(
            bool(
                np.isnan(memory.column(specimen.WHEN)).all()
                and np.isnan(memory.column(WITHIN)).all()
            )
        )
    return measured, [False, True, True, False, True, False]


@adaptation(
    "TX-12",
    source="closed form: exp(-distance / length of the history), over visible memories; no time is asked for",
    rtol=1e-6,
)
def the_first_and_the_latest_are_at_the_ends_of_the_history(specimen: Any) -> Any:
    ages = np.array([0.0, 2.0, 30.0, 54.0, 80.0, 81.0])
    measured, wanted = [], []
    for archived, low, high in (((), 0.0, 81.0), ((0, 5), 2.0, 80.0), ((0, 2, 3, 4, 5), 2.0, 2.0)):
        memory = story(specimen, 2.0)
        for row in archived:
            memory.archive(row)
        for text, end in (("What did Bo read first?", low), ("What is the latest news?", high)):
            memory.retrieve(text)
            measured += [
                [
                    *memory.column(specimen.END),
                    *(
                        float(np.isnan(memory.column(column)).all())
                        for column in (specimen.WHEN, WITHIN)
                    ),
                ]
            ]
            wanted += [[*np.exp(-np.abs(ages - end) / max(high - low, 24.0)), 1.0, 1.0]]
    return measured, wanted


@adaptation(
    "TX-12b",
    source="closed form: a history ends at the present, though an event is dated ahead of it",
    rtol=1e-6,
)
def a_history_ends_at_the_present(specimen: Any) -> Any:
    memory, measured, days = memory_of(specimen), [], np.array([0.0, 1.0, 2.0, 20.0])
    memory.passing.jump_hours = 100.0
    with catch_warnings(action="ignore", category=ClockWarning):
        encode(memory, *((T0 + 24.0 * day, "Bo sings") for day in days.tolist()))
    for text in ("What did Bo read first?", "What is the latest news?"):
        memory.retrieve(text)
        measured.append(memory.column(specimen.END).copy())
    return measured, [np.exp(-days / 2.0), np.exp(-np.abs(days - 2.0) / 2.0)]


@limit("TX-13", source="neutral: a query without a time, and an empty memory")
def a_query_without_a_time_is_left_alone(specimen: Any) -> Any:
    memory, bare, hidden = story(specimen), memory_of(specimen), story(specimen)
    for row in range(len(STORY)):
        hidden.archive(row)
    measured = []
    for life, text in (
        (memory, "What does Bo like?"),
        (memory, ""),
        (memory, "on February 30"),
        (hidden, "Who was first?"),
        (hidden, "before the trip"),
    ):
        life.retrieve(text)
        measured += [
            bool(np.isnan(life.column(column)).all())
            for column in (specimen.WHEN, specimen.END, WITHIN)
        ]
    return [*measured, len(bare.retrieve("What did we do last week?").rows)], [*[True] * 15, 0]


@adaptation(
    "TX-14",
    source="ours: times are those of the words that were said, not of the date that the rendered text shows",
)
def the_rendered_date_is_not_an_expression(specimen: Any) -> Any:
    memory = memory_of(specimen)
    encode(memory, Event(T0, "Bo sings"), Event(T0 + 1.0, "Bo sang today", "Bo"))
    return memory.column(specimen.TIME_START)[:, 0], [UNUSED, 3600 * at(2023, 5, 10)]


@adaptation("TX-15", source="closed form: lengths, at least a day; a day for open ends")
def the_length_asked_for_is_the_width(specimen: Any) -> Any:
    early, late = at(1, 1, 1), at(9999, 12, 31) + 24.0
    asked = np.array([(0.0, 168.0), (5.0, 6.0), (0.0, 24.0), (0.0, 24.5), (early, 900.0), (900.0,
        late), (early + 1.0, early + 30.0)])  # fmt: skip
    return specimen.widths(asked), [168.0, 24.0, 24.0, 24.5, 24.0, 24.0, 29.0]


@adaptation(
    "TX-16",
    source="closed form: standard scores of the hand-set fits; the match of a memory without any other signal",
    rtol=1e-6,
    atol=1e-6,
)
def the_time_asked_for_is_part_of_the_match(specimen: Any) -> Any:
    """Signals that start from the match start in the time asked for; an order, and a query
    without a time, give no match.
    """
    memory = memory_of(specimen)
    encode(
        memory,
        *((T0 + 24.0 * d, f"day {word}") for d, word in enumerate(("one", "two", "three", "four"))),
    )
    measured = []
    for text in ("What was on 11 May 2023?", "What was it?", "What was first?"):
        memory.retrieve(text)
        measured.append(memory.column(MATCH).tolist())
    fits = np.array([profile(T0 + 24.0 * d, *days(2023, 5, 11), 24.0) for d in range(4)])
    return measured, [((fits - fits.mean()) / fits.std()).tolist(), *[[0.0] * 4] * 2]


# --- a time alone, and a time beside something else -----------------------------------------------
def standing_of(
    spans: list[tuple[float, float]],
    told: tuple[float, ...],
    asked: Any,
    focus: Any,
    widths: Any,
    least: float,
) -> tuple[int, float]:
    """How a memory stands, and by how much it sticks out, from lists."""
    if any(f[0] <= t < f[1] for t in told for f in focus):
        standing = 3
    elif any(a[0] <= t < a[1] for t in told for a in asked):
        standing = 2
    else:
        standing = int(any(inside(*s, *a) >= least for s in spans for a in asked))
    return standing, min(
        max(a[0] - s, e - a[1], 0.0) / w
        for s, e in [*spans, *((t, t) for t in told)]
        for a, w in zip(asked, widths, strict=True)
    )


@adaptation("TX-17", source="brute force over plain lists", atol=1e-12)
def a_memory_is_told_in_the_time_or_about_it_or_elsewhere(specimen: Any) -> Any:
    told: list[list[tuple[float, float]]] = [[], [], [], [], [(101.0, 110.0)], [(90.0, 106.0)],
                                             [(10.0, 40.0), (310.0, 330.0)], [(0.0, 900.0)], []]  # fmt: skip
    created, offset, askers = (
        [100.0, 112.0, 124.0, 50.0, 99.0, 10.0, 10.0, 10.0, 330.0],
        [0.0] * 7 + [3.0, -20.0],
        2.0,
    )
    asked, focus, widths = (
        [(FIRST, LAST), (300.0, 340.0)],
        [(108.0, 114.0), (0.0, 0.0)],
        [24.0, 12.0],
    )
    starts, ends = np.full((9, 4), UNUSED), np.full((9, 4), UNUSED)
    for i, spans in enumerate(told):
        for j, (a, b) in enumerate(spans):
            starts[i, j], ends[i, j] = 3600 * a, 3600 * b
    measured, wanted = [], []
    for least in (0.3, 0.5, 1.0):
        standing, gap = np.empty(9, np.int8), np.empty(9)
        specimen.stand_in_time(
            starts,
            ends,
            np.array(created),
            np.array(offset),
            askers,
            np.array(asked),
            np.array(focus),
            np.array(widths),
            least,
            standing,
            gap,
        )
        measured.append([standing.astype(float), gap])
        wanted.append(
            np.transpose(
                [
                    standing_of(spans, (c + z, c + askers), asked, focus, widths, least)
                    for spans, c, z in zip(told, created, offset, strict=True)
                ]
            )
        )
    return measured, wanted


@limit(
    "TX-18",
    source="closed form: nothing in the time, half of ln f at a gap of ln 2, all of it far away",
)
def a_memory_of_another_time_is_set_back(specimen: Any) -> Any:
    standing, gap, out = (
        np.array([3, 2, 1, 0, 0, 0], np.int8),
        np.array([0.0, 0.0, 0.25, 0.0, math.log(2.0), 1e6]),
        np.full(6, 7.0),
    )
    specimen.add_elsewhere(standing, gap, -3.0, out)
    return out, [7.0, 7.0, 7.0, 7.0, 5.5, 4.0]


# Hours after T0, text and speaker; asked on Friday 12 May, 21:00.
DIARY = (
    (0.0, "Tea is fine", "Ada"),
    (2.0, "The boat leaks", "Bo"),
    (26.0, "We sang on 10 May 2023", "Cleo"),
    (27.0, "I met Bo, who has a cold", "Ada"),
    (50.0, "Rain", "Bo"),
)
ORDER = (1.0, 3.0, 2.0, 0.0, 5.0)  # scores before the time counts


def diary(specimen: Any, archived: tuple[int, ...] = (), **values: Any) -> Any:
    memory = memory_of(
        specimen, "dense_similarity", giving(Phase.RETRIEVE, ARRANGED, ORDER), **values
    )
    encode(
        memory, *(Event(T0 + h, text, who, id=f"e{i}") for i, (h, text, who) in enumerate(DIARY))
    )
    memory.advance(T0 + 60.0)
    for row in archived:
        memory.archive(row)
    return memory


def by_gap(gap: float, high: float, span: float) -> float:
    """Score of a memory that is not of the time, from its gap in days."""
    return high - span * (1.0 - 1.0 / (1.0 + math.log(1.0 + gap)))


@adaptation("TX-19", source="closed form over the gaps in days, set by hand", rtol=1e-6)
def those_of_the_time_stand_first_and_the_nearest_follow(specimen: Any) -> Any:
    memory, hidden = diary(specimen), diary(specimen, (1, 4))
    measured = []
    for life, text in (
        (memory, "What happened on 10 May 2023?"),
        (memory, "What did I do on 1 May 2023?"),
        (hidden, "What happened on 10 May 2023?"),
        (memory, Query("What happened on 10 May 2023?", only=Only(exclude=("e1", "e4")))),
    ):
        life.retrieve(text)
        measured.append(life.column(DATED)[[0, 2, 3]])
    far = [(T0 + h - at(2023, 5, 2)) / 24.0 for h in (0.0, 27.0)]
    return measured, [
        [10.0, 5.0 + 5.0 / 3.0, by_gap(0.5, 5.0, 5.0)],
        [
            by_gap(far[0], 5.0, 5.0),
            by_gap((at(2023, 5, 11) - at(2023, 5, 2)) / 24.0, 5.0, 5.0),
            by_gap(far[1], 5.0, 5.0),
        ],
        *[[4.0, 2.0 + 2.0 / 2.0, by_gap(0.5, 2.0, 2.0)]] * 2,
    ]


@limit(
    "TX-20b",
    source="definition: in the order in which they happened, not of telling, and rows that the memory made are not among them; by hand",
)
def the_order_of_a_time_is_not_that_of_telling(specimen: Any) -> Any:
    memory = memory_of(specimen, "dense_similarity", drafting(Draft("a note", Kind.SUMMARY, (0,))))
    memory.passing.late_hours = 100.0
    encode(memory, *(Event(T0 + h, text, "Ada") for h, text in ((2.0, "Tea"), (5.0, "Rain"))))
    encode(memory, Event(T0 + 1.0, "Songs", "Ada"))
    memory.advance(T0 + 60.0)
    asked = (
        "What happened on 10 May 2023?",
        "What was the last thing we talked about on 10 May 2023?",
    )
    return [str(memory.retrieve(text).rows[:3].tolist()) for text in asked], [
        "[2, 0, 1]",
        "[1, 0, 2]",
    ]


@limit(
    "TX-20", source="ours: orders set by hand; a question with content keeps the scores that it has"
)
def the_order_of_a_time_alone(specimen: Any) -> Any:
    cases = (
        ("What happened on 10 May 2023?", [0, 1, 2, 3, 4]),
        ("Tell me about 10 May 2023, please", [0, 1, 2, 3, 4]),
        ("What was the last thing we talked about on 10 May 2023?", [1, 0, 2, 3, 4]),
        ("Where was I on 10 May 2023?", [1, 0, 2, 3, 4]),
        ("What did Bo do on 10 May 2023?", [1, 0, 2, 3, 4]),
        ("What did Ada say on 10 May 2023?", [0, 1, 2, 3, 4]),
        ("What was Bo's news on 10 May 2023?", [1, 0, 2, 3, 4]),
        ("What did Cleo say on 10 May 2023?", [2, 0, 1, 3, 4]),
        ("Who's known from 10 May 2023?", [1, 0, 2, 3, 4]),
        ("What did Bo do yesterday?", [3, 2, 4, 1, 0]),
        ("What happened between 11 and 12 May?", [2, 3, 4, 1, 0]),
        # Ada's memory of Bo, not what Bo says without her
        ("What did Ada and Bo do between 11 and 12 May?", [3, 2, 4, 1, 0]),
        ("What happened today?", [4, 3, 2, 1, 0]),
        ("What did Bo mend on 10 May 2023?", [4, 1, 2, 0, 3]),
        ("What did Zoe do yesterday?", [4, 1, 2, 0, 3]),
        ("What happened?", [4, 1, 2, 0, 3]),
        ("What happened on 10 May 2023 before the talk?", [4, 1, 2, 0, 3]),
        ("What happened on 45 May?", [4, 1, 2, 0, 3]),
    )
    memory = diary(specimen, elsewhere=0.0)
    return [memory.retrieve(text).rows.tolist() for text, _ in cases], [rows for _, rows in cases]


@adaptation("TX-21", source="closed form over the gaps in days, set by hand", rtol=1e-6)
def a_time_beside_content_is_a_prior(specimen: Any) -> Any:
    measured, wanted = [], []
    for factor in (-1.0, -2.5, 0.0):
        memory = diary(specimen, elsewhere=factor)
        for text, gaps in (
            ("Who mended the boat on 10 May 2023?", (0.0, 0.0, 0.0, 0.5, 35.0 / 24.0)),
            ("Who mended the boat?", (0.0,) * 5),
            ("Who mended the boat before the rain?", (0.0,) * 5),
        ):
            memory.retrieve(text)
            measured.append(memory.column(LOG_PRIOR).tolist())
            wanted.append([factor * (1.0 - math.exp(-gap)) for gap in gaps])
    return measured, wanted


@adaptation(
    "TX-25",
    source="closed form: hours before June, which begins 519 hours after the first event, and before 2024, in quarters of "
    "their lengths",
    rtol=1e-6,
)
def what_is_far_depends_on_the_length_of_the_time(specimen: Any) -> Any:
    measured, wanted, memory = [], [], diary(specimen)
    for time, begins, length in (("June 2023", 519.0, 30 * 24.0), ("2024", 5655.0, 366 * 24.0)):
        memory.retrieve(f"Who mended the boat in {time}?")
        measured.append(memory.column(LOG_PRIOR).tolist())
        wanted.append([math.expm1(-4.0 * (begins - told) / length) for told, *_ in DIARY])
    return measured, wanted


@limit(
    "TX-22",
    source="set by hand: days on the asker's clock and on the speaker's; a time in a text is read on the speaker's",
)
def days_are_those_of_the_clocks(specimen: Any) -> Any:
    """Told in New York at 23:30 on 30 June and at 12:00 on 1 July; asked at 10:00 on 2 July.  Ten
    days before something was told in Auckland, where it is 3 July now.
    """
    memory = memory_of(specimen)
    night = at(2025, 7, 1, 3, 30)
    encode(
        memory,
        Event(night - 240.0, "We sailed", offset=12.0),
        Event(night, "We signed it", offset=-4.0),
        Event(night + 12.5, "We moved yesterday", offset=-4.0),
    )
    memory.advance(at(2025, 7, 2, 14))
    measured = [memory.column(specimen.TIME_START)[2, 0] == 3600 * at(2025, 6, 30)]
    for query in (
        Query("on 30 June 2025"),
        Query("on 1 July 2025"),
        Query("yesterday"),
        Query("yesterday", offset=-4.0),
        Query("on 1 July 2025", offset=2.0),
        Query("on 30 June 2025", offset=2.0),
        Query("on 1 July 2025", offset=0.0),
        Query("yesterday", offset=14.0),
    ):
        memory.retrieve(query)
        measured += (memory.column(WITHIN) == 1.0).tolist()
    return measured, [True, *(False, True, True), *[False] * 9,
        *(False, True, False), *(False, True, True), *(False, True, False), *(False, False, False)]  # fmt: skip


# texts of a cue, and whether the time that it tells counts; on 11 May was a memory
FRAMED = (
    ("We sold the boat yesterday. How do we pay the tax?", False),
    ("We sold the boat yesterday. What did we eat?", True),
    ("We sold the boat yesterday. Who called?", True),
    ("We sold the boat yesterday. Is it fun? What did we eat?", True),
    ("How much was it? We sold the boat yesterday.", True),
    ("We sold the boat yesterday! We need help. What is due?", False),
    ("We sold the boat. What is from yesterday?", True),
    ("We sold the boat yesterday", True),
    ("Show what was sold yesterday. Thanks!", True),
    ("Ada: We sang yesterday.\nBo: Is it fun?", False),
    ("昨日 yesterday。 元気ですか？", False),
)


@limit("TX-23", source="ours: set by hand, by whether the question is in the past tense")
def what_is_told_beside_a_question_is_news(specimen: Any) -> Any:
    """Times in sentences that tell count in requests without a question, and for questions in
    the past tense alone; the same of the first and the latest, and of the prior.
    """
    memory = diary(specimen)
    measured = []
    for text, _ in FRAMED:
        memory.retrieve(text)
        measured.append(
            [
                bool(np.isfinite(memory.column(specimen.WHEN)).any()),
                bool((memory.column(LOG_PRIOR) < 0.0).any()),
            ]
        )
    for text in ("The latest news is bad. Why is that?", "The latest news was bad. What was it?"):
        memory.retrieve(text)
        measured.append([bool(np.isfinite(memory.column(specimen.END)).any()), False])
    return measured, [*([counts, counts] for _, counts in FRAMED), [False, False], [True, False]]


@limit(
    "TX-27",
    source="definition: one end of the history is asked for where no time is, and a time counts against others beside an event, too",
)
def times_go_before_ends_and_beside_events(specimen: Any) -> Any:
    memory, measured = diary(specimen), []
    for text in (
        "What did Bo mend first?",
        "What did Bo mend first on 10 May 2023?",
        "What did Bo mend on 10 May 2023 before the talk?",
    ):
        memory.retrieve(text)
        end, prior = memory.column(specimen.END), memory.column(LOG_PRIOR)
        measured.append([bool(np.isfinite(end).any()), bool((prior < 0.0).any())])
    return measured, [[True, False], [False, True], [False, True]]


@limit(
    "TX-24",
    source="closed form: the signal is there up to a gap of one width from the nearest visible memory; the share inside is kept",
)
def a_time_that_no_memory_is_near_tells_nothing(specimen: Any) -> Any:
    memory, hidden = diary(specimen), diary(specimen, (4,))
    measured = []
    for life, query in (
        (memory, "Who mended the boat on 9 May 2023?"),  # the nearest is told 9 h after it
        (memory, "Who mended the boat on 8 May 2023?"),  # 33 h
        (memory, "Who mended the boat on 13 May 2023?"),  # 13 h before it
        (hidden, "Who mended the boat on 13 May 2023?"),  # 36 h
        (memory, "Who mended the boat in June 2023?"),  # 20 days, of a month
        (memory, "Who mended the boat in July 2023?"),
    ):
        life.retrieve(query)
        measured.append(
            [
                bool(np.isfinite(life.column(specimen.WHEN)).all()),
                bool(np.isnan(life.column(specimen.WHEN)).all()),
                float(life.column(WITHIN).max()),
            ]
        )
    near = [True, False, True, False, True, False]
    return measured, [[counts, not counts, 0.0] for counts in near]


@figure(
    "profile",
    caption="Fit of a memory with a day that is asked for, by the day that it is about: 1 for an instant of that day, less beyond "
    "it; a memory about a whole day or week scores the mean over it",
    source="ours: exp(-gap / width)",
)
def profile_over_days(specimen: Any) -> Picture:
    middle = np.linspace(-5.0, 6.0, 111)

    def fits(length: float) -> list[float]:
        return [
            specimen.fit(24.0 * (m - length / 2), 24.0 * (m + length / 2), 0.0, 24.0, 24.0)
            for m in middle
        ]

    marks = np.arange(-5.0, 7.0)
    return Picture(
        "middle of the memory's time, days from the start of the day asked for",
        "fit",
        (
            Curve("an instant", middle, fits(0.0)),
            Curve("a day", middle, fits(1.0)),
            Curve("a week", middle, fits(7.0)),
            dots("closed form, an instant", marks, [profile(m, 0.0, 1.0, 1.0) for m in marks]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("the nearest end alone: adjacent intervals fit wholly", rejected_by="TX-1")
def nearest_end(specimen: Any) -> Any:
    def gap(start: float, end: float, first: float, last: float, width: float) -> float:
        return math.exp(-max(first - end, start - last, 0.0) / width)

    return specimen.replacing("fit", gap)


@mutant("half of the width", rejected_by="TX-2")
def half_width(specimen: Any) -> Any:
    original = specimen.fit
    return specimen.replacing(
        "fit", lambda start, end, first, last, width: original(start, end, first, last, width / 2.0)
    )


@mutant("the end of the time asked for belongs to it", rejected_by="TX-3")
def closed_end(specimen: Any) -> Any:
    original = specimen.share_inside
    return specimen.replacing(
        "share_inside",
        lambda a, b, first, last: 1.0 if a == b == last else original(a, b, first, last),
    )


@mutant("gaps from zero", rejected_by="TX-4")
def from_zero(specimen: Any) -> Any:
    original = specimen.decayed
    return specimen.replacing("decayed", lambda near, far, width: original(0.0, far, width))


@mutant("linear decay", rejected_by="TX-5")
def linear(specimen: Any) -> Any:
    return specimen.replacing(
        "decayed",
        lambda near, far, width: (far - near) * max(0.0, 1.0 - (near + far) / 2.0 / width),
    )


@mutant("the first interval alone", rejected_by="TX-6")
def first_interval(specimen: Any) -> Any:
    original = specimen.score_times
    return specimen.replacing(
        "score_times", lambda starts, ends, *others: original(starts[:, :1], ends[:, :1], *others)
    )


@mutant("distance by the square", rejected_by="TX-7")
def squared(specimen: Any) -> Any:
    def order(created: Any, end: float, length: float, out: Any) -> None:
        out[...] = np.exp(-(((created - end) / length) ** 2))

    return specimen.replacing("score_order", order)


@mutant("a history ends with its latest date", rejected_by="TX-12b")
def ends_with_the_latest_date(specimen: Any) -> Any:
    original = specimen.score_order

    def order(created: Any, end: float, length: float, out: Any) -> None:
        end = end if end == created.min() else float(created.max())
        original(created, end, max(float(np.ptp(created)), 24.0), out)

    return specimen.replacing("score_order", order)


@mutant("resolved against the day before", rejected_by="TX-8")
def another_time(specimen: Any) -> Any:
    original = specimen.times
    return specimen.replacing("times", lambda text, said: original(text, said - 24.0))


@mutant("time_scale stretches the width", rejected_by="TX-9")
def stretched(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        specimen.replacing(
            "widths", lambda asked: self.params.time_scale * specimen.widths(asked)
        ).TemporalIndex.score(self, view, cue)

    return specimen.overriding("TemporalIndex", score=score)


@mutant("an event happened when it was told, although its memory names a time", rejected_by="TX-10")
def told_not_happened(specimen: Any) -> Any:
    def _spans_of_events(self: Any, view: Any, named: Any, own: float) -> Any:
        rows = (
            [
                view.index.search(v, 1)[0][0]
                for v in view.embedder.embed([e.phrase for e in named.events])
            ]
            if named.events
            else []
        )
        created = [float(view.created[row]) for row in rows]
        return [
            span
            for e, c in zip(named.events, created, strict=True)
            if (span := e.span((c, math.nextafter(c, math.inf)), view.now))
        ]

    return specimen.overriding("TemporalIndex", _spans_of_events=_spans_of_events)


@mutant("any memory is near enough to an event", rejected_by="TX-11")
def no_criterion(specimen: Any) -> Any:
    def __init__(self: Any, id: str, params: Any, units: Any = None, order: int = 0) -> None:
        specimen.TemporalIndex.__init__(self, id, replace(params, criterion=-1.0), units, order)

    return specimen.overriding("TemporalIndex", __init__=__init__)


@mutant("the first is the latest", rejected_by="TX-12")
def ends_exchanged(specimen: Any) -> Any:
    first, latest = specimen.SIDES.values()
    return specimen.replacing("SIDES", dict(zip(specimen.SIDES, (latest, first), strict=True)))


@mutant("a query without a time asks for now", rejected_by="TX-13")
def now_by_default(specimen: Any) -> Any:
    original = specimen.times
    return specimen.replacing(
        "times",
        lambda text, said: (
            read if (read := original(text, said)).expressions else original("today", said)
        ),
    )


@mutant("expressions of the rendered text", rejected_by="TX-14")
def of_the_rendered_text(specimen: Any) -> Any:
    def keep(self: Any, view: Any, incoming: Any) -> None:
        for i, expression in enumerate(
            specimen.times(incoming.text, view.created[view.row]).expressions
        ):
            view.time_start[view.row, i], view.time_end[view.row, i] = (
                round(3600 * expression.start),
                round(3600 * expression.end),
            )

    return specimen.overriding("TemporalIndex", keep=keep)


@mutant("the length alone, also of open ends", rejected_by="TX-15")
def length_alone(specimen: Any) -> Any:
    return specimen.replacing("widths", lambda asked: np.maximum(asked[:, 1] - asked[:, 0], 24.0))


@mutant("a signal that does not count as match", rejected_by="TX-16")
def after_the_match(specimen: Any) -> Any:
    late = signal(
        "when", Facet.WHEN, "fit that nothing starts from", direct=False, scale=specimen.WHEN.scale
    )

    class Late(specimen.TemporalIndex):  # type: ignore[misc]
        owns = (specimen.TIME_START, specimen.TIME_END, late, specimen.END)

        @hook(
            Phase.RETRIEVE,
            reads=specimen.TemporalIndex.score.__hook__.reads,
            adds=(),
            sets=(late, specimen.END, WITHIN),
        )
        def score(self, view: Any, cue: Any) -> None:
            super().score(view, cue)

    return specimen.replacing("TemporalIndex", Late)


@mutant("the first and the latest are a part of the match", rejected_by="TX-16")
def an_order_that_matches(specimen: Any) -> Any:
    early = signal("end", Facet.WHEN, "nearness that others start from", scale=specimen.END.scale)

    class Early(specimen.TemporalIndex):  # type: ignore[misc]
        owns = (specimen.TIME_START, specimen.TIME_END, specimen.WHEN, early)

        @hook(
            Phase.RETRIEVE,
            reads=specimen.TemporalIndex.score.__hook__.reads,
            adds=(),
            sets=(specimen.WHEN, early, WITHIN),
        )
        def score(self, view: Any, cue: Any) -> None:
            super().score(view, cue)

    return specimen.replacing("TemporalIndex", Early)


@mutant("the day in the middle of a vague time is like the others", rejected_by="TX-17")
def no_focus(specimen: Any) -> Any:
    original = specimen.stand_in_time
    return specimen.replacing(
        "stand_in_time",
        lambda starts, ends, created, offset, own, asked, focus, *others: original(
            starts, ends, created, offset, own, asked, np.zeros_like(focus), *others
        ),
    )


@mutant("a memory that names a time in it was told in it", rejected_by="TX-17")
def about_is_told(specimen: Any) -> Any:
    return specimen.replacing("ABOUT", specimen.TOLD)


@mutant("set back in proportion to the gap", rejected_by="TX-18")
def in_proportion(specimen: Any) -> Any:
    def add(standing: Any, gap: Any, log_factor: float, out: Any) -> None:
        out += np.where(standing == 0, log_factor * np.minimum(gap, 1.0), 0.0)

    return specimen.replacing("add_elsewhere", add)


@mutant("the others keep their scores", rejected_by="TX-19")
def others_keep(specimen: Any) -> Any:
    original = specimen.date_scores

    def date(scores: Any, answerable: Any, gap: Any, rows: Any, out: Any) -> None:
        original(scores, answerable, gap, rows, out)
        others = np.ones(len(out), np.bool_)
        others[rows] = False
        out[others] = scores[others]

    return specimen.replacing("date_scores", date)


@mutant("as they match, whatever is asked for", rejected_by="TX-20")
def never_in_time(specimen: Any) -> Any:
    return specimen.replacing("asks_kind", lambda words: True)


@mutant("any question with a time asks for it alone", rejected_by="TX-20")
def always_alone(specimen: Any) -> Any:
    return specimen.replacing("asked_beside", lambda words: ())


@mutant("a named person changes no order", rejected_by="TX-20")
def nobody_first(specimen: Any) -> Any:
    def _of_people(self: Any, view: Any, rows: Any, named: Any) -> Any:
        theirs = specimen.TemporalIndex._of_people(self, view, rows, named)
        return None if theirs is None else np.full(len(rows), 2, np.int8)

    return specimen.overriding("TemporalIndex", _of_people=_of_people)


@mutant("by whom one of the names tells is enough", rejected_by="TX-20")
def any_of_them(specimen: Any) -> Any:
    def of_people(self: Any, view: Any, rows: Any, named: Any) -> Any:
        scores = [specimen.TemporalIndex._of_people(self, view, rows, (word,)) for word in named]
        if not scores or any(theirs is None for theirs in scores):
            return specimen.TemporalIndex._of_people(self, view, rows, named)
        return np.max(scores, axis=0)

    return specimen.overriding("TemporalIndex", _of_people=of_people)


@mutant("the prior counts a memory of the time, too", rejected_by="TX-21")
def all_set_back(specimen: Any) -> Any:
    original = specimen.add_elsewhere
    return specimen.replacing(
        "add_elsewhere",
        lambda standing, gap, log_factor, out: original(
            np.zeros_like(standing), gap + 0.1, log_factor, out
        ),
    )


@mutant("all of the length of the time counts as near", rejected_by="TX-25")
def whole_length(specimen: Any) -> Any:
    return specimen.replacing("NEAR", 1.0)


@mutant("all times of a cue are asked for", rejected_by="TX-23")
def all_times(specimen: Any) -> Any:
    return specimen.replacing("asking_part", lambda text: text)


@mutant("the sentences with a question mark alone", rejected_by="TX-23")
def questions_alone(specimen: Any) -> Any:
    def part(text: str) -> str:
        sentences = re.split(r"(?<=[.!?。？])\s+|\n+", text)
        return " ".join(s for s in sentences if s.endswith(("?", "？"))) or text

    return specimen.replacing("asking_part", part)


@mutant("the nearest memory counts however far it is", rejected_by="TX-24")
def however_far(specimen: Any) -> Any:
    return specimen.replacing("LEAST_FIT", 0.0)


@mutant("a time without a memory in it tells nothing", rejected_by="TX-24")
def only_inside(specimen: Any) -> Any:
    return specimen.replacing("LEAST_FIT", 1.0)


@mutant("a memory that is hidden is near enough", rejected_by="TX-24")
def hidden_is_near(specimen: Any) -> Any:
    original = specimen.replacing("LEAST_FIT", 0.0).TemporalIndex.score

    def score(self: Any, view: Any, cue: Any) -> None:
        original(self, view, cue)
        if not (view.when >= math.exp(-1.0)).any():
            view.when[...] = np.nan

    return specimen.overriding("TemporalIndex", score=score)


@mutant("days of UTC", rejected_by="TX-22")
def utc_days(specimen: Any) -> Any:
    return specimen.replacing("asker_offset", lambda cue, offsets: 0.0)


@mutant("in order of telling", rejected_by="TX-20b")
def in_order_of_telling(specimen: Any) -> Any:
    def answer_by_time(self: Any, view: Any, cue: Any) -> None:
        told = Instead(view, created=np.sort(view.created))
        specimen.TemporalIndex.answer_by_time(self, told, cue)

    return specimen.overriding("TemporalIndex", answer_by_time=answer_by_time)


@mutant("a query without a clock is asked by the first one that spoke", rejected_by="TX-22")
def first_clock(specimen: Any) -> Any:
    def asker_offset(cue: Any, offsets: Any) -> float:
        return float(offsets[0]) if cue.query.offset is None else cue.query.offset

    return specimen.replacing("asker_offset", asker_offset)


@mutant("a clock that shows UTC is none", rejected_by="TX-22")
def no_clock_of_zero(specimen: Any) -> Any:
    return specimen.replacing(
        "asker_offset", lambda cue, offsets: cue.query.offset or float(offsets[-1])
    )
