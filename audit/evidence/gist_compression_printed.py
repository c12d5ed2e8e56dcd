"""Evidence for gist_compression_printed: the rules of Cortex 4.2.3 and of its code, and the
checks of rate and distortion on them.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ..checks import adaptation, mutant
from ..figures import Curve, Marks, Picture, figure
from . import gist_compression as paper

SUMMARY, KEYWORDS = 168.0, 720.0


def cut(specimen: Any, ages: Any, dependency: Any, threshold: float) -> Any:
    ages, out = np.asarray(ages, float), np.zeros(len(ages), np.int8)
    specimen.cut(
        1000.0,
        1000.0 - ages,
        np.broadcast_to(np.asarray(dependency, float), ages.shape).copy(),
        threshold,
        SUMMARY,
        KEYWORDS,
        out,
    )
    return out


def as_choice(specimen: Any) -> SimpleNamespace:
    """The printed rule as the choice of a form: memories in order of age, from 900 h to new;
    their value has no effect.
    """

    def choose(loss: Any, log_value: Any, level: float, out: Any) -> None:
        out[:] = cut(specimen, np.linspace(900.0, 0.0, len(out)), 0.0, 1.0)

    return SimpleNamespace(choose=choose)


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "GCP-1", source="Cortex, compression.py: 168 h and 720 h", atol=0.0, papers=("cortex2026",)
)
def a_week_makes_a_summary_and_a_month_keywords(specimen: Any) -> Any:
    return cut(specimen, [0.0, 167.9, 168.0, 719.9, 720.0, 5000.0], 1.0, 1.0), [0, 0, 1, 1, 2, 2]


@adaptation(
    "GCP-2",
    source="Cortex 4.2.3: eligible when the dependency drops below a threshold",
    atol=0.0,
    papers=("cortex2026",),
)
def memories_that_depend_on_the_hippocampus_keep_their_full_text(specimen: Any) -> Any:
    return cut(specimen, [900.0, 900.0, 300.0, 300.0], [0.49, 0.51, 0.5, 1.0], 0.5), [2, 0, 1, 0]


# --- the paper's checks ---------------------------------------------------------------------------
rate_distortion = paper.a_gaussian_loses_a_factor_of_four_per_bit
water_level = paper.a_common_water_level_takes_the_fewest_bits
budget = paper.no_memory_loses_more_than_its_value_allows.of_variety(as_choice)
worth = paper.infinite_value_gives_full_text_and_zero_value_keywords.of_variety(as_choice)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "water_level",
    caption="The printed rule uses age and dependency alone: a summary after a week, keywords after a month, at any value of the "
    "memory",
    source="Cortex 4.2.3 and its compression.py, threshold 0.5",
)
def form_over_age(specimen: Any) -> Picture:
    days = np.linspace(0.0, 45.0, 181)
    return Picture(
        "age, days",
        "form, 0 full to 2 keywords",
        tuple(
            Curve(label, days, cut(specimen, 24.0 * days, dependency, 0.5), Marks.STEPS)
            for label, dependency in (("transferred", 0.3), ("hippocampal", 0.7))
        ),
    )


@mutant("compression that never ends in keywords", rejected_by="GCP-1")
def no_keywords(specimen: Any) -> Any:
    original = specimen.cut

    def cut(
        now: float,
        created: Any,
        dependency: Any,
        threshold: float,
        summary_age: float,
        keywords_age: float,
        out: Any,
    ) -> None:
        original(now, created, dependency, threshold, summary_age, np.inf, out)

    return specimen.replacing("cut", cut)


@mutant("no threshold", rejected_by="GCP-2")
def no_threshold(specimen: Any) -> Any:
    original = specimen.cut

    def cut(
        now: float,
        created: Any,
        dependency: Any,
        threshold: float,
        summary_age: float,
        keywords_age: float,
        out: Any,
    ) -> None:
        original(now, created, dependency, 1.0, summary_age, keywords_age, out)

    return specimen.replacing("cut", cut)
