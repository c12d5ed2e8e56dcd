"""Evidence for systems_transfer_printed: the rule of Cortex 4.2.3, and the checks of the
two-trace model run on it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import CONGRUENCY, HIPPOCAMPAL_DEPENDENCE, REPLAYS
from ..checks import adaptation, mutant
from ..memory import encode, memory_of, neighbour, shipping
from . import systems_transfer as paper
from .shared.scripts import marking

RATE, FACTOR = 0.02, 2.5


def as_traces(specimen: Any) -> SimpleNamespace:
    """The printed rule as two traces, h and 1 - h, with one replay a day, or one an hour in the
    checks with schemas.
    """

    def transfer(
        s_h: float, s_c: float, t: float, d_h: float, c: float, d_c: float
    ) -> tuple[float, float]:
        h = specimen.lowered(s_h, 0, int(t), RATE, FACTOR, 0.0)
        return h, 1.0 - h

    def consolidate(
        now: float,
        before: float,
        spontaneous: bool,
        first: bool,
        d_h: float,
        c: float,
        d_c: float,
        rho: float,
        k: float,
        created: Any,
        congruency: Any,
        replays: Any,
        s_h: Any,
        s_c: Any,
        at: Any,
        dependence: Any,
        amount: Any,
    ) -> None:
        dependence[0] = specimen.lowered(
            1.0, 0, round(24.0 * now), RATE, FACTOR, float(k > 0.0) * congruency[0]
        )

    return SimpleNamespace(
        transfer=transfer, consolidate=consolidate, **shipping("systems_transfer")
    )


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "CM-3.5",
    source="Cortex 4.2.3: first n with sum 0.02 / sqrt(k) >= 0.5, 0.9; about 0.04 sqrt(n)",
    atol=0.0,
    papers=("cortex2026",),
)
def half_is_transferred_after_175_replays_and_nine_tenths_after_540(specimen: Any) -> Any:
    course = np.array([specimen.lowered(1.0, 0, n, RATE, FACTOR, 0.0) for n in range(700)])
    sums = np.concatenate([[0.0], np.cumsum(0.02 / np.sqrt(np.arange(1, 700)))])
    return [int(np.argmax(x)) for x in (course <= 0.5, course <= 0.1, sums >= 0.5, sums >= 0.9)], [
        175,
        540,
        175,
        540,
    ]


@adaptation(
    "CM-3.5b",
    source="Cortex 4.2.1: consolidated after three replays; 1 - 0.02 (1 + 0.707 + 0.577)",
    atol=5e-5,
    papers=("cortex2026",),
)
def after_three_replays_dependency_is_still_nearly_complete(specimen: Any) -> Any:
    return specimen.lowered(1.0, 0, 3, RATE, FACTOR, 0.0), 0.9543


@adaptation(
    "SYP-1",
    source="a sum that does not converge: without the bound it would be negative after 651 replays",
    atol=0.0,
)
def dependency_ends_at_zero(specimen: Any) -> Any:
    return [
        specimen.lowered(1.0, 0, n, RATE, FACTOR, m)
        for n, m in ((5000, 0.0), (200, 1.0), (1_000_000, 0.5))
    ], [0.0, 0.0, 0.0]


@adaptation(
    "SYP-2", source="Cortex 4.2.3: up to 2.5 times as fast", atol=1e-12, papers=("cortex2026",)
)
def with_a_schema_dependency_falls_two_and_a_half_times_as_fast(specimen: Any) -> Any:
    # the last memory has nothing left to transfer, and its replays are still counted
    dependency, count = np.array([1.0, 1.0, 1.0, 0.01]), np.zeros(4, np.int32)
    for night in ([2, 2, 0, 2], [1, 1, 0, 3], [0, 0, 0, 0]):
        specimen.transferred(
            np.array(night, np.int32),
            RATE,
            FACTOR,
            np.array([0.0, 1.0, 1.0, 1.0]),
            dependency,
            count,
        )
    loss = 0.02 * (1.0 + 2.0**-0.5 + 3.0**-0.5)
    return [*dependency, *count], [1.0 - loss, 1.0 - 2.5 * loss, 1.0, 0.0, 3.0, 3.0, 0.0, 5.0]


@adaptation(
    "SYP-3",
    source="Cortex 4.2.3, as a sum in numpy: replays of three nights in a memory, an event that is told between them, and an archived one",
    atol=1e-12,
    papers=("cortex2026",),
)
def in_a_memory_each_replay_lowers_the_dependency(specimen: Any) -> Any:
    fits, nights = (0.0, 0.5, 1.0, 0.25), ([3, 1, 0], [0, 2, 0, 5], [4, 0, 1, 1])

    def dream(view: Any, tick: Any) -> None:
        view.replays[...] = nights[round(tick.end / 24.0) - 1]

    memory = memory_of(
        specimen,
        marking(CONGRUENCY, fits),
        neighbour(Phase.CONSOLIDATE, dream, sets=(REPLAYS,), id="dream"),
        rate=0.07,
        schema_factor=3.0,
    )
    encode(memory, *((float(i), f"event {i}") for i in range(3)))
    measured, expected, total = list[Any](), list[Any](), np.zeros(4, np.int64)
    for night, replays in enumerate(nights, 1):
        memory.advance(24.0 * night)
        total[: len(replays)] += replays
        for column in (HIPPOCAMPAL_DEPENDENCE, specimen.PRINTED_DEPENDENCY_REPLAYS):
            measured += memory.column(column).tolist()
        expected += [
            1.0 - (1.0 + 2.0 * c) * 0.07 * sum(1.0 / np.sqrt(np.arange(1, n + 1)))
            for c, n in zip(fits, total[: len(replays)], strict=False)
        ]
        expected += total[: len(replays)].tolist()
        if night == 1:
            memory.archive(1)
            encode(memory, (25.0, "event 3"))
    return measured, expected


# --- the paper's checks ---------------------------------------------------------------------------
traces = paper.both_traces_follow_their_differential_equations.of_variety(as_traces)
peak = paper.the_cortical_trace_peaks_at_the_closed_form.of_variety(as_traces)
limits = paper.equal_rates_no_time_and_no_decay.of_variety(as_traces)
lesion = paper.a_lesion_spares_remote_memories_although_they_are_weaker.of_variety(as_traces)
without_hippocampus = paper.without_hippocampus_congruent_memories_are_lost_at_three_hours_and_kept_at_forty_eight.of_variety(
    as_traces
)
schema = paper.a_schema_makes_transfer_ten_to_twenty_times_as_fast.of_variety(as_traces)
interference = paper.blocked_learning_overwrites_and_interleaved_learning_does_not.of_variety(
    as_traces, drawn=False
)


# --- figures --------------------------------------------------------------------------------------
courses = paper.traces_over_days.of_variety(
    "Printed dependency and its complement: nothing is forgotten, and the transferred share has no peak",
    as_traces,
)
lesions = paper.share_without_hippocampus.of_variety(
    "With a factor of 2.5 printed transfer meets the bound from the lesion at 3 h and misses that at 48 h",
    as_traces,
)


@mutant("every replay transfers the same", rejected_by="CM-3.5")
def linear(specimen: Any) -> Any:
    return specimen.replacing(
        "lowered", lambda h, done, times, r, factor, match: max(0.0, h - r * times)
    )


@mutant("a count that restarts each night", rejected_by="SYP-2")
def forgetful(specimen: Any) -> Any:
    original = specimen.lowered
    return specimen.replacing(
        "lowered", lambda h, done, times, r, factor, match: original(h, 0, times, r, factor, match)
    )


@mutant("replays of a memory without dependency are not counted", rejected_by="SYP-2")
def uncounted_at_zero(specimen: Any) -> Any:
    original = specimen.transferred

    def transferred(
        replays: Any, r: float, factor: float, fit: Any, dependency: Any, count: Any
    ) -> None:
        before = count.copy()
        original(replays, r, factor, fit, dependency, count)
        count[dependency == 0.0] = before[dependency == 0.0]

    return specimen.replacing("transferred", transferred)


@mutant("replays of a night count from the first, each night anew", rejected_by="SYP-3")
def uncounted(specimen: Any) -> Any:
    def sleep(self: Any, view: Any, tick: Any) -> None:
        specimen.transferred(
            view.replays, self.params.rate, self.params.schema_factor, view.congruency,
            view.hippocampal_dependence, np.zeros_like(view.printed_dependency_replays),
        )  # fmt: skip
        view.printed_dependency_replays += view.replays

    return specimen.overriding("SystemsTransferPrinted", sleep=sleep)


@mutant("a schema makes no difference in a memory", rejected_by="SYP-3")
def without_schemas(specimen: Any) -> Any:
    original = specimen.transferred
    return specimen.replacing(
        "transferred",
        lambda replays, r, factor, fit, *rest: original(replays, r, factor, 0.0 * fit, *rest),
    )
