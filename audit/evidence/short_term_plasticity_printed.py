"""Evidence for short_term_plasticity_printed: the rule of Cortex 4.4.5, and the papers' checks
run on it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ..checks import adaptation, mutant
from . import short_term_plasticity as papers


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


@mutant("resources are not used up, unlike the printed rule", rejected_by="STP-P1")
def inexhaustible(specimen: Any) -> Any:
    return specimen.replacing(
        "spike",
        lambda u, x, baseline: (u + baseline * (1.0 - u), x, (u + baseline * (1.0 - u)) * x),
    )


@mutant("repeated uses in one call count once, unlike the printed rule", rejected_by="STP-P2")
def once(specimen: Any) -> Any:
    return specimen.replacing("use", lambda rows, *rest: specimen.use(np.unique(rows), *rest))
