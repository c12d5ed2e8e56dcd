"""Evidence for titans_memory_printed: the update of Cortex 4.3.2, and the checks of the paper's
form applied to it.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import LOG_STRENGTH
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import adaptation, mutant
from ..memory import encode, hashing, memory_of
from . import titans_memory as paper


def printed(
    specimen: Any, m: Any, s: Any, k: Any, v: Any, eta: float, theta: float, _alpha: float
) -> None:
    specimen.memorise(m, s, k, v, eta, theta)


def as_memory(specimen: Any) -> SimpleNamespace:
    """The printed update under the name of the paper's."""
    return SimpleNamespace(memorise=functools.partial(printed, specimen))


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "TIP-1",
    source="Cortex 4.3.2: loss over first loss of a repeated pair, eta = 0.9, theta = 0.01",
    rtol=1e-6,
    figure="titans_sign",
    papers=("cortex2026",),
)
def the_printed_sign_raises_the_loss(specimen: Any) -> Any:
    errors = paper.repeated(as_memory(specimen), 0.9, 0.01, 0.0, (1, 2, 10))
    return [e**2 for e in errors], [1.0404, 1.120211, 3.931196]


@adaptation(
    "TIP-2",
    source="eigenvalue of the printed recursion, (1.92 + sqrt(0.0864)) / 2 per step",
    rtol=1e-6,
)
def the_error_grows_without_bound(specimen: Any) -> Any:
    a, b = paper.repeated(as_memory(specimen), 0.9, 0.01, 0.0, (200, 300))
    return (b / a) ** 0.01, (1.92 + 0.0864**0.5) / 2.0


@adaptation("TIP-3", source="ours: a diverging state stays finite", needs="engine")
def an_overflowing_error_leaves_a_finite_state(specimen: Any) -> Any:
    params = specimen.TitansMemoryPrintedParams(1.0, 0.9, 0.5, 0.1)
    memory = Engine(
        [specimen.TitansMemoryPrinted("titans_memory_printed", params)], HashingEmbedder(8)
    )
    # the error grows by a factor of 2.55 per step at theta = 0.5
    for i in range(1000):
        memory.encode(Event(i / 60.0, "porridge"))
    matrix, surprise = (
        memory.store.array(c)
        for c in (specimen.TITANS_PRINTED_MATRIX, specimen.TITANS_PRINTED_SURPRISE)
    )
    return bool(np.isfinite(matrix).all() and (surprise[60:] == 1.0).all())


@adaptation(
    "TIP-3b",
    source="eigenvector of the printed recursion at eta = 0.9, theta = 0.5, by numpy: |S| / |M| = 1 - 1 / lambda at every event",
    rtol=1e-6,
)
def rescaling_an_overflowing_state_keeps_its_direction(specimen: Any) -> Any:
    memory, ratio = memory_of(specimen, eta=0.9, theta=0.5), []
    for i in range(400):
        encode(memory, (i / 60.0, "porridge"))
        ratio.append(
            np.linalg.norm(memory.column(specimen.TITANS_PRINTED_MOMENTUM))
            / np.linalg.norm(memory.column(specimen.TITANS_PRINTED_MATRIX))
        )
    largest = max(np.linalg.eigvals([[0.9, -1.0], [-0.9, 2.0]]).real)
    # the state outgrows the squares of floats near event 380, so it is rescaled before
    return ratio[40:], np.full(360, 1.0 - 1.0 / largest)


@adaptation(
    "TIP-4",
    source="Cortex 4.3.2 in numpy: S <- eta S - 2 theta (M - x), M <- M - S, surprise |S| / (1 + |S|), times the gain in strength",
    rtol=1e-6,
    atol=1e-9,
    papers=("cortex2026",),
)
def a_memory_keeps_the_surprise_of_each_event(specimen: Any) -> Any:
    texts = ("a red boat", "lost keys", "a red boat", "rain again")
    memory = memory_of(specimen, eta=0.8, theta=0.3, surprise_gain=0.2)
    m, s, surprise = np.zeros(16), np.zeros(16), []
    for hour, text in enumerate(texts):
        encode(memory, (float(hour), text))
        s = 0.8 * s - 0.6 * (m - hashing(16).embed([text])[0])
        m = m - s
        surprise.append(np.linalg.norm(s) / (1.0 + np.linalg.norm(s)))
    memory.advance(6.0)
    return [*memory.column(specimen.TITANS_PRINTED_SURPRISE), *memory.column(LOG_STRENGTH)], [
        *surprise,
        *np.multiply(0.2, surprise),
    ]


# --- the paper's checks ---------------------------------------------------------------------------
one_step = paper.one_step_removes_the_share_two_theta_of_the_error.of_variety(as_memory)
gradient = paper.the_gradient_is_the_derivative_of_the_loss
keys_and_values = paper.keys_values_and_answers_are_matrix_products
sign = paper.repeating_a_pair_descends_the_loss.of_variety(as_memory)
history = paper.a_random_history_follows_the_recursion_of_the_paper.of_variety(as_memory)
impulse = paper.past_surprise_decays_by_eta_per_step.of_variety(as_memory)
forgetting = paper.forgetting_leaves_a_residual_error.of_variety(as_memory)
all_forgotten = paper.complete_forgetting_leaves_the_accumulated_surprise.of_variety(as_memory)
delta_rule = paper.without_momentum_and_forgetting_it_is_the_delta_rule.of_variety(as_memory)
stability = paper.learning_is_stable_up_to_its_bound.of_variety(as_memory)
reading = paper.a_hundred_recalls_do_not_change_memory
capacity = paper.as_many_pairs_as_dimensions_are_recalled_exactly.of_variety(as_memory)
data_dependence = paper.all_three_gates_differ_from_event_to_event


# --- figures --------------------------------------------------------------------------------------
sign_picture = paper.loss_over_repetitions.of_variety(
    "Loss of a pair that is stored repeatedly by the printed update: it grows without bound, where the paper's falls",
    as_memory,
)


@mutant("S is added in place of subtracted", rejected_by="TIP-1")
def descent(specimen: Any) -> Any:
    return specimen.replacing(
        "memorise", lambda m, s, k, v, eta, theta: paper.step(m, s, k, v, eta, theta, 0.0)
    )


@mutant("of a diverged state only the momentum is rescaled", rejected_by="TIP-3b")
def momentum_alone(specimen: Any) -> Any:
    def learn(self: Any, view: Any, incoming: Any) -> None:
        before = float(np.linalg.norm(view.titans_printed_momentum))
        specimen.TitansMemoryPrinted.learn(self, view, incoming)
        if np.linalg.norm(view.titans_printed_momentum) < 1e-9 * before:
            view.titans_printed_matrix *= 1e90

    return specimen.overriding("TitansMemoryPrinted", learn=learn)


@mutant("strength follows how far surprise is from a half", rejected_by="TIP-4")
def centred(specimen: Any) -> Any:
    def strengthen(self: Any, view: Any, tick: Any) -> None:
        specimen.TitansMemoryPrinted.strengthen(self, view, tick)
        view.log_strength[...] -= 0.5 * self.params.surprise_gain

    return specimen.overriding("TitansMemoryPrinted", strengthen=strengthen)
