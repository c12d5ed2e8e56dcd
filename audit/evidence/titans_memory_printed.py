"""Evidence for titans_memory_printed: what Cortex 4.3.2 says it does, and the checks of the paper's form on the printed one."""
from __future__ import annotations

import functools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.loop import Engine
from ...engine.ports.embedder import HashingEmbedder
from ...engine.records import Event
from ..checks import Check, adaptation, mutant
from . import titans_memory as paper


def printed(specimen: Any, m: Any, s: Any, k: Any, v: Any, eta: float, theta: float, _alpha: float) -> None:
    specimen.memorise(m, s, k, v, eta, theta)


def as_memory(specimen: Any) -> SimpleNamespace:
    """The printed update in the place of the paper's."""
    return SimpleNamespace(memorise=functools.partial(printed, specimen))


def on_printed(check: Check) -> Check:
    """A check of the paper's update, asked of the printed one, which knows no forgetting."""

    @functools.wraps(check.function)
    def function(specimen: Any) -> Any:
        return check.function(as_memory(specimen))

    return replace(check, function=function)


# --- as printed --------------------------------------------------------------------------------------------------------------
@adaptation("TIP-1", source="Cortex 4.3.2: loss over first loss of a repeated pair, eta = 0.9, theta = 0.01", rtol=1e-6, figure="titans_sign")
def the_printed_sign_climbs_the_loss(specimen: Any) -> Any:
    found = paper.repeated(as_memory(specimen), 0.9, 0.01, 0.0, (1, 2, 10))
    return [e ** 2 for e in found], [1.0404, 1.120211, 3.931196]


@adaptation("TIP-2", source="eigenvalue of the printed recursion, (1.92 + sqrt(0.0864)) / 2 a step", rtol=1e-6)
def the_error_grows_without_bound(specimen: Any) -> Any:
    a, b = paper.repeated(as_memory(specimen), 0.9, 0.01, 0.0, (200, 300))
    return (b / a) ** 0.01, (1.92 + 0.0864 ** 0.5) / 2.0


@adaptation("TIP-3", source="ours: a runaway state stays a number", needs="engine")
def an_error_beyond_the_largest_number_leaves_a_finite_state(specimen: Any) -> Any:
    params = specimen.TitansMemoryPrintedParams(1.0, 0.9, 0.5, 0.1)
    memory = Engine([specimen.TitansMemoryPrinted("titans_memory_printed", params)], HashingEmbedder(8))
    for i in range(1000):                       # the error grows 2.55 times a step at theta = 0.5
        memory.encode(Event(i / 60.0, "porridge"))
    matrix, surprise = (memory.store.array(c) for c in (specimen.TITANS_PRINTED_MATRIX, specimen.TITANS_PRINTED_SURPRISE))
    return bool(np.isfinite(matrix).all() and surprise[-1] == 1.0)


# --- the paper's checks ------------------------------------------------------------------------------------------------------
one_step = on_printed(paper.one_step_takes_the_share_two_theta_of_the_error_away)
gradient = paper.the_gradient_is_the_slope_of_the_loss
keys_and_values = paper.keys_values_and_answers_are_matrix_products
sign = on_printed(paper.repeating_a_pair_descends_the_loss)
history = on_printed(paper.a_random_history_is_the_recursion_of_the_paper)
impulse = on_printed(paper.a_surprise_goes_on_and_fades_by_eta_a_step)
forgetting = on_printed(paper.forgetting_leaves_a_residual_error)
all_forgotten = on_printed(paper.forgetting_all_leaves_the_last_surprise)
delta_rule = on_printed(paper.without_momentum_and_forgetting_it_is_the_delta_rule)
stability = on_printed(paper.learning_is_stable_up_to_its_bound)
reading = paper.a_hundred_recalls_leave_memory_as_it_is
capacity = on_printed(paper.as_many_pairs_as_dimensions_are_recalled_exactly)
data_dependence = paper.all_three_gates_differ_from_event_to_event


# --- to be seen --------------------------------------------------------------------------------------------------------------
sign_picture = paper.loss_over_repetitions.of_variety(
    "Loss of a pair that is stored again and again by the printed update: it grows without bound, where the paper's falls", as_memory)


@mutant("S is added, which is not what is printed", rejected_by="TIP-1")
def descent(specimen: Any) -> Any:
    return specimen.replacing("memorise", lambda m, s, k, v, eta, theta: paper.step(m, s, k, v, eta, theta, 0.0))
