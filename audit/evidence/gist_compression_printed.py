"""Evidence for gist_compression_printed: the rules of Cortex 4.2.3 and of its code, and the
checks of rate and distortion on them.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import DETAIL, HIPPOCAMPAL_DEPENDENCE
from ..checks import adaptation, mutant
from ..figures import Curve, Marks, Picture, figure
from ..memory import memory_of
from . import gist_compression as paper
from .shared.durations import unscaled as without_scale
from .shared.scripts import marking
from .shared.tellings import as_happened, tell

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


# when each event is told and when it happened, h, and its dependency
STORY = (
    (0.0, 0.0, 0.2),
    (1.0, 1.0, 0.7),
    (2.0, 2.0, 0.6),
    (30.0, 1.0, 0.1),
    (31.0, 31.0, 1.0),
    (60.0, 60.0, 0.0),
)


def cut_in_memory(specimen: Any, scale: float) -> tuple[Any, Any]:
    """Forms of a story after each of its nights, a summary at 24 h and keywords at 60 h, both of
    `scale` times their length; and the same by hand.
    """
    memory = memory_of(
        specimen,
        marking(HIPPOCAMPAL_DEPENDENCE, [told[2] for told in STORY]),
        time_scale=scale,
        consolidate_every=12.0 * scale,
        threshold=0.6,
        summary_age=24.0,
        keywords_age=60.0,
    )
    measured, expected = list[Any](), list[Any]()
    for night, (told, happened, _) in enumerate(STORY):
        tell(memory, told * scale, Event(happened * scale, f"event {night}", dated=False))
    for hours in (72.0, 84.0, 96.0, 120.0):
        memory.advance(hours * scale)
        measured += memory.column(DETAIL).tolist()
        expected += [
            0 if dependency > 0.6 or hours - told < 24.0 else 1 if hours - told < 60.0 else 2
            for told, _, dependency in STORY
        ]
    return measured, expected


@adaptation(
    "GCP-3",
    source="Cortex 4.2.3 and compression.py, by hand: nights of a memory with an event that happened before it was told",
    atol=0.0,
    papers=("cortex2026",),
)
def in_a_memory_forms_follow_the_age_since_the_telling(specimen: Any) -> Any:
    return cut_in_memory(specimen, 1.0)


@adaptation("GCP-3b", source="as GCP-3 with hours that last three", atol=0.0)
def at_another_time_scale_forms_last_longer(specimen: Any) -> Any:
    return cut_in_memory(specimen, 3.0)


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


@mutant("age counts from when an event happened", rejected_by="GCP-3")
def from_the_event(specimen: Any) -> Any:
    return as_happened(specimen, "GistCompressionPrinted", "compress")


@mutant("ages at the start of a night", rejected_by="GCP-3")
def before_the_night(specimen: Any) -> Any:
    original = specimen.cut
    return specimen.replacing(
        "cut",
        lambda now, created, dependency, threshold, summary, keywords, out: original(
            now - 12.0, created, dependency, threshold, summary, keywords, out
        ),
    )


@mutant("ages do not follow the time scale", rejected_by="GCP-3b")
def unscaled(specimen: Any) -> Any:
    return without_scale(specimen, "GistCompressionPrinted")
