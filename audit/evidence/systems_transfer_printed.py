"""Evidence for systems_transfer_printed: what Cortex 4.2.3 says it does, and the checks of the two-trace model on the printed rule."""
from __future__ import annotations

import functools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from ..checks import Check, adaptation, mutant
from ..figures import Figure
from . import systems_transfer as paper

RATE, FACTOR = 0.02, 2.5
Shown = TypeVar("Shown", Check, Figure)


def on_printed(check: Shown) -> Shown:
    """A check of the two traces, asked of the printed rule: h and 1 - h, with a replay a day, or, where schemas count, an hour."""

    @functools.wraps(check.function)
    def function(specimen: Any) -> Any:
        def transfer(s_h: float, s_c: float, t: float, d_h: float, c: float, d_c: float) -> tuple[float, float]:
            h = specimen.lowered(s_h, 0, int(t), RATE, FACTOR, 0.0)
            return h, 1.0 - h

        def consolidate(now: float, before: float, spontaneous: bool, first: bool, d_h: float, c: float, d_c: float, rho: float, k: float,
                        created: Any, congruency: Any, replays: Any, s_h: Any, s_c: Any, at: Any, dependence: Any, amount: Any) -> None:
            dependence[0] = specimen.lowered(1.0, 0, round(24.0 * now), RATE, FACTOR, float(k > 0.0) * congruency[0])

        return check.function(SimpleNamespace(transfer=transfer, consolidate=consolidate))

    return replace(check, function=function)


# --- as printed --------------------------------------------------------------------------------------------------------------
@adaptation("CM-3.5", source="Cortex 4.2.3: first n with sum 0.02 / sqrt(k) >= 0.5, 0.9; about 0.04 sqrt(n)", atol=0.0)
def half_is_transferred_after_175_replays_and_nine_tenths_after_540(specimen: Any) -> Any:
    course = np.array([specimen.lowered(1.0, 0, n, RATE, FACTOR, 0.0) for n in range(700)])
    sums = np.concatenate([[0.0], np.cumsum(0.02 / np.sqrt(np.arange(1, 700)))])
    return [int(np.argmax(x)) for x in (course <= 0.5, course <= 0.1, sums >= 0.5, sums >= 0.9)], [175, 540, 175, 540]


@adaptation("CM-3.5b", source="Cortex 4.2.1: consolidated after three replays; 1 - 0.02 (1 + 0.707 + 0.577)", atol=5e-5)
def after_the_three_replays_that_consolidate_nearly_all_is_hippocampal(specimen: Any) -> Any:
    return specimen.lowered(1.0, 0, 3, RATE, FACTOR, 0.0), 0.9543


@adaptation("SYP-1", source="a sum that does not converge: without an end it would be negative after 651 replays", atol=0.0)
def dependency_ends_at_nothing(specimen: Any) -> Any:
    return [specimen.lowered(1.0, 0, n, RATE, FACTOR, m) for n, m in ((5000, 0.0), (200, 1.0), (1_000_000, 0.5))], [0.0, 0.0, 0.0]


@adaptation("SYP-2", source="Cortex 4.2.3: up to 2.5 times as fast", atol=1e-12)
def what_fits_goes_two_and_a_half_times_as_fast_night_by_night(specimen: Any) -> Any:
    dependency, count = np.ones(3), np.zeros(3, np.int32)
    for night in ([2, 2, 0], [1, 1, 0], [0, 0, 0]):
        specimen.transferred(np.array(night, np.int32), RATE, FACTOR, np.array([0.0, 1.0, 1.0]), dependency, count)
    loss = 0.02 * (1.0 + 2.0**-0.5 + 3.0**-0.5)
    return [*dependency, *count], [1.0 - loss, 1.0 - 2.5 * loss, 1.0, 3.0, 3.0, 0.0]


# --- the paper's checks --------------------------------------------------------------------------------------------------------
traces = on_printed(paper.both_traces_follow_their_differential_equations)
peak = on_printed(paper.the_cortical_trace_peaks_when_the_rates_say)
limits = on_printed(paper.equal_rates_no_time_and_no_decay)
lesion = on_printed(paper.a_lesion_spares_remote_memories_although_they_are_weaker)
without_hippocampus = on_printed(paper.without_hippocampus_what_fits_is_lost_at_three_hours_and_kept_at_forty_eight)
schema = on_printed(paper.a_schema_makes_transfer_ten_to_twenty_times_as_fast)
interference = replace(on_printed(paper.learning_in_blocks_overwrites_and_learning_in_turns_does_not), figure=None)


# --- pictures ----------------------------------------------------------------------------------------------------------------
courses = replace(on_printed(paper.traces_over_days),
                  caption="Printed dependency and its complement: nothing is forgotten, and what is transferred has no peak")
lesions = replace(on_printed(paper.share_without_hippocampus),
                  caption="Two and a half times as fast, printed transfer meets the demand of the lesion at 3 h and misses that at 48 h")


@mutant("every replay transfers the same", rejected_by="CM-3.5")
def linear(specimen: Any) -> Any:
    return specimen.replacing("lowered", lambda h, done, times, r, factor, match: max(0.0, h - r * times))


@mutant("a count that begins anew each night", rejected_by="SYP-2")
def forgetful(specimen: Any) -> Any:
    original = specimen.lowered
    return specimen.replacing("lowered", lambda h, done, times, r, factor, match: original(h, 0, times, r, factor, match))
