"""Evidence for short_term_plasticity_printed: what Cortex 4.4.5 says it does, and the papers' checks on the printed rule."""
from __future__ import annotations

import functools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from ..checks import Check, adaptation, mutant
from ..figures import Figure
from . import short_term_plasticity as papers

Shown = TypeVar("Shown", Check, Figure)


def on_printed(check: Shown) -> Shown:
    """A check of the papers' synapse, asked of the printed one: nothing happens between spikes."""

    @functools.wraps(check.function)
    def function(specimen: Any) -> Any:
        return check.function(SimpleNamespace(spike=specimen.spike, rested=lambda u, x, *_: (u, x)))

    return replace(check, function=function)


# --- as printed ------------------------------------------------------------------------------------------------------------------
@adaptation("STP-P1", source="Cortex 4.4.5 iterated by hand from u = 0, x = 1 with U = 0.5: 1/2, 3/8, 7/64, 15/1024, 31/32768")
def printed_releases_collapse_with_the_number_of_uses(specimen: Any) -> Any:
    u, x, found = 0.0, 1.0, []
    for _ in range(5):
        u, x, released = specimen.spike(u, x, 0.5)
        found.append(released)
    return found, [1 / 2, 3 / 8, 7 / 64, 15 / 1024, 31 / 32768]


@adaptation("STP-P2", source="closed form: u = 1 - (1 - U)^k, x the product of (1 - U)^j for j = 1 ... k", atol=1e-7)
def printed_resources_are_a_closed_form_of_the_number_of_uses(specimen: Any) -> Any:
    u, depletion, out = np.zeros(4), np.zeros(4), np.zeros(4, np.float32)
    specimen.use(np.array([1, 2, 2, 3, 3, 3, -1]), 0.3, np.ones(4), u, depletion)
    specimen.resources(0.3, np.ones(4), u, depletion, out)
    return out, [(1.0 - 0.7 ** (k + 1)) * 0.7 ** (k * (k + 1) / 2) / 0.3 for k in range(4)]


# --- the papers' checks ----------------------------------------------------------------------------------------------------------
depressing = on_printed(papers.a_depressing_synapse_releases_less_and_less)
settles = on_printed(papers.depression_settles_by_the_rate)
two_pulses = on_printed(papers.the_second_of_two_pulses_is_half_the_first)
facilitating = on_printed(papers.a_facilitating_synapse_releases_more_and_more)
facilitation = on_printed(papers.facilitation_settles_at_its_closed_form)
twice = on_printed(papers.the_second_of_two_pulses_is_nearly_twice_the_first)
irregular = on_printed(papers.irregular_trains_follow_the_differential_equations)
poisson = on_printed(papers.poisson_trains_find_the_mean_field)
rest = on_printed(papers.rest_restores_the_first_response)
rate = on_printed(papers.releases_depend_on_the_rate)


# --- pictures ----------------------------------------------------------------------------------------------------------------
trains = replace(on_printed(papers.releases_in_a_train),
                 caption="Spike by spike printed synapses run out for good, at any rate, where the paper's settle")
steady = replace(on_printed(papers.release_over_rate), caption="The printed synapse releases nothing in the end, whatever the rate")


@mutant("resources are not used up, which is not what is printed", rejected_by="STP-P1")
def inexhaustible(specimen: Any) -> Any:
    return specimen.replacing("spike", lambda u, x, baseline: (u + baseline * (1.0 - u), x, (u + baseline * (1.0 - u)) * x))


@mutant("a use counts once a pass, which is not what is printed", rejected_by="STP-P2")
def once(specimen: Any) -> Any:
    return specimen.replacing("use", lambda rows, *rest: specimen.use(np.unique(rows), *rest))
