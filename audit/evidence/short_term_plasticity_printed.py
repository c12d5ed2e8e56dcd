"""Evidence for short_term_plasticity_printed: the rule of Cortex 4.4.5, and the papers' checks
run on it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.vocabulary import RELEASE_PROBABILITY, RESOURCES
from ..checks import adaptation, mutant
from ..memory import encode, memory_of
from . import short_term_plasticity as papers
from .shared.scripts import marking, replaying


def as_synapse(specimen: Any) -> SimpleNamespace:
    """The printed synapse under the papers' names: no change between spikes."""
    return SimpleNamespace(spike=specimen.spike, rested=lambda u, x, *_: (u, x))


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "STP-P1",
    source="Cortex 4.4.5 iterated by hand from u = 0, x = 1 with U = 0.5: 1/2, 3/8, 7/64, 15/1024, 31/32768",
    papers=("cortex2026",),
)
def printed_releases_collapse_with_the_number_of_uses(specimen: Any) -> Any:
    u, x, measured = 0.0, 1.0, []
    for _ in range(5):
        u, x, released = specimen.spike(u, x, 0.5)
        measured.append(released)
    return measured, [1 / 2, 3 / 8, 7 / 64, 15 / 1024, 31 / 32768]


@adaptation(
    "STP-P2",
    source="closed form: u = 1 - (1 - U)^k, x the product of (1 - U)^j for j = 1 ... k",
    atol=1e-7,
)
def printed_resources_are_a_closed_form_of_the_number_of_uses(specimen: Any) -> Any:
    u, depletion, out = np.zeros(4), np.zeros(4), np.zeros(4, np.float32)
    specimen.use(np.array([1, 2, 2, 3, 3, 3, -1]), 0.3, np.ones(4), u, depletion)
    specimen.resources(0.3, np.ones(4), u, depletion, out)
    return out, [(1.0 - 0.7 ** (k + 1)) * 0.7 ** (k * (k + 1) / 2) / 0.3 for k in range(4)]


# --- the papers' checks ---------------------------------------------------------------------------
depressing = papers.a_depressing_synapse_releases_less_and_less.of_variety(as_synapse)
settles = papers.depression_reaches_the_steady_state_of_the_rate.of_variety(as_synapse)
two_pulses = papers.the_second_of_two_pulses_is_half_the_first.of_variety(as_synapse)
facilitating = papers.a_facilitating_synapse_releases_more_and_more.of_variety(as_synapse)
facilitation = papers.facilitation_settles_at_its_closed_form.of_variety(as_synapse)
twice = papers.the_second_of_two_pulses_is_nearly_twice_the_first.of_variety(as_synapse)
irregular = papers.irregular_trains_follow_the_differential_equations.of_variety(as_synapse)
poisson = papers.poisson_trains_follow_the_mean_field.of_variety(as_synapse)
rest = papers.rest_restores_the_first_response.of_variety(as_synapse)
rate = papers.releases_depend_on_the_rate.of_variety(as_synapse)


# --- figures --------------------------------------------------------------------------------------
trains = papers.releases_in_a_train.of_variety(
    "Printed synapses are exhausted at any rate; the paper's reach a steady state", as_synapse
)
steady = papers.release_over_rate.of_variety(
    "The steady release of the printed synapse is zero at any rate", as_synapse
)


@adaptation(
    "STP-P3",
    source="the closed form of STP-P2 by the uses that were made: an event, a place in a replayed step, an answer that learns",
    atol=1e-6,
)
def in_a_memory_uses_are_counted_whenever_they_are_made(specimen: Any) -> Any:
    factors, steps = (1.0, 0.5, 2.0, 4.0, 0.0), ((0, 2), (2, 3), (3, 2), (1, 0))
    measured: list[float] = []
    expected: list[float] = []

    memory = memory_of(
        specimen,
        "lexical_bm25",
        marking(RELEASE_PROBABILITY, factors),
        replaying(steps, until=30.0),
        baseline=0.3,
    )
    texts = ("a red boat", "lost keys", "a blue boat", "an old boat", "some bread")
    encode(memory, *((float(hour), text) for hour, text in enumerate(texts)))
    uses = np.ones(5, int)
    for now, learn in ((6.0, False), (7.0, True), (25.0, False), (200.0, True), (201.0, False)):
        memory.advance(now)
        if now == 25.0:
            uses += np.bincount(np.ravel(steps), minlength=5)
        rows = memory.retrieve("boat", k=3, learn=learn).rows
        measured += memory.column(RESOURCES).tolist()
        for k, factor in zip(uses, factors, strict=True):
            share = min(0.3 * factor, 1.0)
            released = (1.0 - (1.0 - share) ** (k + 1)) * (1.0 - share) ** (k * (k + 1) / 2)
            expected.append(released / (0.3 * factor) if factor else 1.0)
        uses[rows] += learn
    return measured, expected


@mutant("resources are not used up, unlike the printed rule", rejected_by="STP-P1")
def inexhaustible(specimen: Any) -> Any:
    return specimen.replacing(
        "spike",
        lambda u, x, baseline: (u + baseline * (1.0 - u), x, (u + baseline * (1.0 - u)) * x),
    )


@mutant("repeated uses in one call count once, unlike the printed rule", rejected_by="STP-P2")
def once(specimen: Any) -> Any:
    return specimen.replacing("use", lambda rows, *rest: specimen.use(np.unique(rows), *rest))


@mutant("a memory in several replayed steps is used once", rejected_by="STP-P3")
def once_a_night(specimen: Any) -> Any:
    def sleep(self: Any, view: Any, tick: Any) -> None:
        self._use(view, np.unique(view.replayed))

    return specimen.overriding("ShortTermPlasticityPrinted", sleep=sleep)


@mutant("an answer uses its best memory alone", rejected_by="STP-P3")
def best_alone(specimen: Any) -> Any:
    def on_recall(self: Any, view: Any, cue: Any) -> None:
        self._use(view, view.recalled[:1])

    return specimen.overriding("ShortTermPlasticityPrinted", on_recall=on_recall)
