"""Evidence for recency: exponential decay with its half-life, and the events that restart it."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from .shared.views import nothing

TAU = 30.0 * 24.0 / math.log(2.0)


def decayed(specimen: Any, ages: Any, tau: float = TAU, now: float = 5000.0) -> Any:
    out = np.full(np.shape(ages), np.nan)
    specimen.recency(now, now - np.asarray(ages, float), tau, out)
    return out


def plug_in(specimen: Any, half_life: float, time_scale: float = 1.0) -> Any:
    return specimen.Recency(
        "recency",
        specimen.RecencyParams(time_scale=time_scale, half_life=half_life, weight=0.1),
        {"half_life": "d"},
    )


@equation("RC-1", source="closed form: 2^(-age / half-life)", figure="half_life")
def recency_halves_with_every_half_life(specimen: Any) -> Any:
    ages = np.array([0.0, 360.0, 720.0, 1440.0, 7200.0])
    return decayed(specimen, ages), np.exp2(-ages / 720.0)


@equation("RC-2", source="memorylessness: r(a + b) = r(a) r(b)")
def decay_over_two_spans_is_the_product(specimen: Any) -> Any:
    a, b = np.meshgrid([1.0, 30.0, 500.0], [0.0, 7.0, 900.0])
    return decayed(specimen, (a + b).ravel()), (
        decayed(specimen, a.ravel()) * decayed(specimen, b.ravel())
    )


@limit("RC-3", source="closed form")
def recency_is_one_at_access_and_zero_in_the_distant_past(specimen: Any) -> Any:
    return decayed(specimen, [0.0, -1.0, 1e9]), [1.0, 1.0, 0.0]


@equation("RC-4", source="unit of the half-life: days, times the time scale", rtol=1e-6)
def the_plug_in_uses_days_and_the_time_scale(specimen: Any) -> Any:
    measured = []
    for scale in (1.0, 2.0):
        view = SimpleNamespace(
            now=96.0, last_access=np.array([96.0, 48.0]), recency=np.full(2, np.nan, np.float32)
        )
        plug_in(specimen, 2.0, scale).score(view, None)
        measured.extend(view.recency.tolist())
    return measured, [1.0, 0.5, 1.0, math.sqrt(0.5)]


@adaptation(
    "RC-5",
    source="last access; of an event that is told late when it happened, of one with a wrong clock when it is told",
)
def only_encoding_and_recall_restart_the_decay(specimen: Any) -> Any:
    view = SimpleNamespace(
        now=10.0,
        created=np.array([99.0, 7.0, 4.0]),
        last_access=np.array([0.0, 0.0, 4.0]),
        recalled=np.array([2]),
        recency=np.zeros(3, np.float32),
    )
    mechanism = plug_in(specimen, 1.0)
    for view.row in (0, 1):
        mechanism.met(view, None)
    view.now = 20.0
    mechanism.score(view, None)
    mechanism.recalled(view, None)
    return view.last_access, [10.0, 7.0, 20.0]


def scores_in_memory(specimen: Any, time_scale: float, half_life: float) -> tuple[Any, Any]:
    """The signal at four queries, and 2^(-age / half-life) with ages since the last encoding or
    recall.
    """
    memory, hours = (
        memory_of(specimen, "lexical_bm25", time_scale=time_scale, half_life=half_life),
        24.0 * half_life * time_scale,
    )
    last = np.array([0.0, 30.0, 36.0])
    encode(
        memory,
        *zip(last.tolist(), ("Ada saw a boat", "Bo lost his keys", "Cleo sings"), strict=True),
    )
    measured, expected = [], []
    for now, query, recalled in (
        (36.0, "boat", [0]),
        (60.0, "keys", [1]),
        (75.0, "keys sings", [1, 2]),
        (90.0, "boat", []),
    ):
        memory.advance(now)
        answer = memory.retrieve(query, k=max(len(recalled), 1), learn=bool(recalled))
        measured += [memory.column(specimen.RECENCY).tolist()]
        expected += [np.exp2(-(now - last) / hours).tolist()]
        if recalled:
            assert sorted(answer.rows.tolist()) == recalled
            last[recalled] = now
    return measured, expected


@equation(
    "RC-6", source="closed form: 2^(-age / half-life) since the last encoding or recall", rtol=1e-6
)
def in_a_memory_the_signal_decays_from_the_last_access(specimen: Any) -> Any:
    (once, expected), (slow, stretched) = (
        scores_in_memory(specimen, 1.0, 1.5),
        scores_in_memory(specimen, 3.0, 0.5),
    )
    return once + slow, expected + stretched


@figure(
    "half_life",
    caption="Recency halves with every half-life since the last encoding or recall: 30 days by default",
    source="closed form 2^(-age / half-life)",
)
def recency_over_days(specimen: Any) -> Picture:
    days, marks = np.linspace(0.0, 180.0, 91), np.arange(0.0, 181.0, 30.0)
    return Picture(
        "days since the last encoding or recall",
        "recency",
        (
            *(
                Curve(
                    f"half-life {h} d",
                    days,
                    decayed(specimen, 24.0 * days, 24.0 * h / math.log(2.0)),
                )
                for h in (30, 90)
            ),
            dots("closed form, 30 d", marks, 2.0 ** (-marks / 30.0)),
        ),
    )


@mutant("linear decay", rejected_by="RC-2")
def linear(specimen: Any) -> Any:
    def decay(now: float, last_access: Any, tau: float, out: Any) -> None:
        out[...] = np.maximum(1.0 - (now - last_access) / tau, 0.0)

    return specimen.replacing("recency", decay)


@mutant("the half-life used as the time constant", rejected_by="RC-4")
def half_life_as_tau(specimen: Any) -> Any:
    original = specimen.recency
    return specimen.replacing(
        "recency",
        lambda now, last_access, tau, out: original(now, last_access, tau * math.log(2.0), out),
    )


@mutant("a late event is as recent as one that happens when it is told", rejected_by="RC-5")
def never_late(specimen: Any) -> Any:
    def met(self: Any, view: Any, incoming: Any) -> None:
        view.last_access[view.row] = view.now

    return specimen.overriding("Recency", met=met)


@mutant("age since encoding: recall does not count", rejected_by="RC-5")
def recall_forgotten(specimen: Any) -> Any:
    return specimen.overriding("Recency", recalled=nothing)


@mutant("the best memory of an answer alone is recalled", rejected_by="RC-6")
def best_alone(specimen: Any) -> Any:
    def recalled(self: Any, view: Any, cue: Any) -> None:
        view.last_access[view.recalled[0]] = view.now

    return specimen.overriding("Recency", recalled=recalled)
