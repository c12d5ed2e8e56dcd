"""Evidence for temporal_distinctiveness: sums over all pairs, closed forms, scale invariance,
and serial position.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from hebbarium.author import (
    Curve,
    Picture,
    adaptation,
    at_least,
    at_most,
    encode,
    equation,
    figure,
    limit,
    memory_of,
    mutant,
    signature,
)

PAPER = "Brown, Neath & Chater 2007"
# ten items, one per second: distances at the end of the last one
LIST = np.arange(10.0, 0.0, -1.0)


def discriminated(specimen: Any, distance: Any, c: float = 1.0) -> Any:
    out = np.full(len(distance), np.nan)
    specimen.discriminability(np.asarray(distance, float), c, out)
    return out


def by_all_pairs(distance: Any, c: float) -> Any:
    """The definition: every similarity is computed, without sorting."""
    x = np.log(np.asarray(distance, float))
    return 1.0 / np.exp(-c * np.abs(x[:, None] - x[None, :])).sum(axis=1)


def retrieved(specimen: Any, d: Any, s: float, t: float) -> Any:
    out = np.full(len(d), np.nan)
    specimen.retrieval(np.asarray(d, float), s, t, out)
    return out


@equation(
    "TD-1",
    source=f"{PAPER}, the definition: sums over all pairs, for distances over nine orders of magnitude",
)
def two_sweeps_give_the_sums_over_all_pairs(specimen: Any) -> Any:
    rng = np.random.default_rng(0)
    distance = np.sort(10.0 ** rng.uniform(-3.0, 6.0, 60))
    # some at the same time
    distance[20:25] = distance[20]
    sums = [
        discriminated(specimen, d, c) for c in (0.3, 1.0, 12.0) for d in (distance, distance[::-1])
    ]
    return sums, [by_all_pairs(d, c) for c in (0.3, 1.0, 12.0) for d in (distance, distance[::-1])]


@equation(
    "TD-2",
    source=f"{PAPER}: with c = 1 similarity is the ratio of the distances; fractions by hand",
)
def with_c_one_ratios_are_similarities(specimen: Any) -> Any:
    pairs = [
        specimen.similarity(a, b, 1.0) for a, b in ((4.0, 5.0), (5.0, 4.0), (1.0, 2.0), (3.0, 3.0))
    ]
    return [*pairs, *discriminated(specimen, [1.0, 2.0, 6.0])], [0.8, 0.8, 0.5, 1.0,
        1 / (1 + 1 / 2 + 1 / 6), 1 / (1 + 1 / 2 + 1 / 3), 2 / 3]  # fmt: skip


@equation("TD-3", source="closed form: equal ratios of distances make geometric series")
def equal_ratios_make_geometric_series(specimen: Any) -> Any:
    n, ratio, c = 12, 1.3, 2.5
    q, i = ratio**-c, np.arange(n)
    expected = 1.0 / (1.0 + q * (1.0 - q**i) / (1.0 - q) + q * (1.0 - q ** (n - 1 - i)) / (1.0 - q))
    return discriminated(specimen, 7.0 * ratio**i, c), expected


@equation("TD-4", source=f"{PAPER}, omissions: the log odds of retrieval are s (D - t)")
def log_odds_of_retrieval_are_linear(specimen: Any) -> Any:
    d = np.array([0.05, 0.4, 0.55, 1.0])
    p = retrieved(specimen, d, 8.0, 0.4)
    return np.log(p / (1.0 - p)), 8.0 * (d - 0.4)


@limit(
    "TD-5",
    source="closed form: c = 0 discriminates nothing; a large c everything but simultaneous memories",
)
def nothing_is_discriminated_or_everything(specimen: Any) -> Any:
    distance = [1.0, 2.0, 2.0, 2.0, 9.0]
    return [discriminated(specimen, distance, c) for c in (0.0, 1e4)], [
        [1 / 5] * 5,
        [1.0, 1 / 3, 1 / 3, 1 / 3, 1.0],
    ]


@limit("TD-6", source=f"{PAPER}: scale invariance, D is the same when all distances are multiplied")
def the_unit_of_time_does_not_matter(specimen: Any) -> Any:
    distance = np.array([0.5, 1.0, 4.0, 5.0, 30.0])
    return [discriminated(specimen, k * distance, 3.0) for k in (1e-3, 60.0, 3e7)], [
        by_all_pairs(distance, 3.0)
    ] * 3


@signature(
    "TD-7a",
    source=f"{PAPER}: recency; ten items a second apart, the last against the first and the middle",
    figure="serial_position",
)
def the_last_items_are_distinct_at_once(specimen: Any) -> Any:
    d = discriminated(specimen, LIST, 3.0)
    return at_least([d[-1] / d[0], d[-1] / d[5]], 2.0)


@signature(
    "TD-7b",
    source=f"{PAPER}: no recency after a filled delay; the same list a minute later, the best item against the worst",
    figure="serial_position",
)
def a_filled_delay_flattens_the_list(specimen: Any) -> Any:
    d = discriminated(specimen, LIST + 60.0, 3.0)
    return at_most(d.max() / d.min(), 1.2)


@signature(
    "TD-8", source=f"{PAPER}: isolation in time; the same item with and without near neighbours"
)
def an_isolated_memory_is_more_distinct(specimen: Any) -> Any:
    crowded, alone = ([20.0, 29.0, 30.0, 31.0, 40.0], [15.0, 20.0, 30.0, 40.0, 45.0])
    return at_most(
        discriminated(specimen, crowded, 10.0)[2] / discriminated(specimen, alone, 10.0)[2], 0.5
    )


def scores_in_memory(
    specimen: Any, times: list[float], archived: tuple[int, ...] = (), time_scale: float = 1.0
) -> Any:
    """The signal of each memory at the time of the last one."""
    memory = memory_of(specimen, time_scale=time_scale, c=2.0, s=6.0, t=0.3, shortest=1.0)
    encode(memory, *((time, f"event {i}") for i, time in enumerate(times)))
    for row in archived:
        memory.archive(row)
    memory.retrieve("event")
    return memory.column("distinct_in_time")


@equation(
    "TD-9",
    source="sums over all pairs of the visible memories, and log odds s (D - t); the shortest distance: seconds, times the time scale",
    rtol=1e-6,
)
def a_memory_scores_every_visible_event(specimen: Any) -> Any:
    odds, expected = [], []
    for scale in (1.0, 3.0):
        scores = scores_in_memory(
            specimen, [40.0, 90.0, 99.0, 99.0, 100.0], archived=(2,), time_scale=scale
        )
        odds.append(np.where(np.isnan(scores), -2.0, scores))
        d = by_all_pairs([60.0, 10.0, 1.0, scale / 3600.0], 2.0)
        p = 1.0 / (1.0 + np.exp(-6.0 * (d - 0.3)))
        expected.append([p[0], p[1], -2.0, p[2], p[3]])
    return odds, expected


@adaptation(
    "TD-10", source="ours: memories of the time of the query have a finite, equal score", rtol=1e-6
)
def memories_of_the_present_are_finite(specimen: Any) -> Any:
    return scores_in_memory(specimen, [5.0, 5.0]), 1.0 / (1.0 + math.exp(-6.0 * (0.5 - 0.3)))


@figure(
    "serial_position",
    caption="Ten items a second apart: the last ones are distinct at once, and no longer after a filled delay",
    source=f"{PAPER}: recency and its loss after a filled delay (shape, not data)",
)
def serial_position(specimen: Any) -> Picture:
    place, delays = np.arange(1.0, 11.0), {"at once": 0.0, "after 10 s": 10.0, "after 60 s": 60.0}
    return Picture(
        "serial position",
        "discriminability",
        tuple(
            Curve(label, place, discriminated(specimen, LIST + delay, 3.0))
            for label, delay in delays.items()
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("differences of distances, not ratios", rejected_by="TD-6")
def linear_time(specimen: Any) -> Any:
    return specimen.replacing("similarity", lambda one, other, c: math.exp(-c * abs(one - other)))


@mutant("only the next neighbours compete", rejected_by="TD-1")
def neighbours(specimen: Any) -> Any:
    def discriminability(distance: Any, c: float, out: Any) -> None:
        near = np.exp(-c * np.abs(np.diff(np.log(distance))))
        out[:] = 1.0 / (1.0 + np.append(0.0, near) + np.append(near, 0.0))

    return specimen.replacing("discriminability", discriminability)


@mutant("only later memories compete", rejected_by="TD-3")
def retroactive(specimen: Any) -> Any:
    def discriminability(distance: Any, c: float, out: Any) -> None:
        x = np.log(distance)
        out[:] = 1.0 / np.where(
            x[None, :] <= x[:, None], np.exp(-c * np.abs(x[:, None] - x[None, :])), 0.0
        ).sum(axis=1)

    return specimen.replacing("discriminability", discriminability)


@mutant("a memory does not compete with itself", rejected_by="TD-5")
def without_itself(specimen: Any) -> Any:
    def discriminability(distance: Any, c: float, out: Any) -> None:
        out[:] = 1.0 / np.maximum(1.0 / by_all_pairs(distance, c) - 1.0, 1e-9)

    return specimen.replacing("discriminability", discriminability)


@mutant("time without compression: the list is equally flat at once and later", rejected_by="TD-7a")
def uncompressed(specimen: Any) -> Any:
    return specimen.replacing(
        "similarity", lambda one, other, c: math.exp(-c * abs(one - other) / 60.0)
    )


@mutant("a decaying trace without interference", rejected_by="TD-8")
def decay(specimen: Any) -> Any:
    def discriminability(distance: Any, c: float, out: Any) -> None:
        out[:] = np.asarray(distance) ** (-c / 10.0)

    return specimen.replacing("discriminability", discriminability)


@mutant("the threshold with the wrong sign", rejected_by="TD-4")
def upside_down(specimen: Any) -> Any:
    def retrieval(d: Any, s: float, t: float, out: Any) -> None:
        out[:] = 1.0 / (1.0 + np.exp(-s * (t - d)))

    return specimen.replacing("retrieval", retrieval)


@mutant("archived memories compete", rejected_by="TD-9")
def archived_compete(specimen: Any) -> Any:
    class All(specimen.TemporalDistinctiveness):  # type: ignore[misc]
        def score(self, view: Any, cue: Any) -> None:
            everything = np.ones(len(view.visible), bool)
            super().score(
                SimpleNamespace(
                    now=view.now,
                    created=view.created,
                    visible=everything,
                    distinct_in_time=view.distinct_in_time,
                ),
                cue,
            )
            view.distinct_in_time[~view.visible] = np.nan

    return specimen.replacing("TemporalDistinctiveness", All)
