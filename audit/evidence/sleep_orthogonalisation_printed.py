"""Evidence for sleep_orthogonalisation_printed: the rule of Cortex 4.4.10, and the checks of the
paper's form run on it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ..checks import adaptation, at_most, mutant
from . import sleep_orthogonalisation as papers


def as_sleep(specimen: Any) -> SimpleNamespace:
    """One printed step in place of ten of the paper's cycles; each interfering pair once per
    step.
    """

    def separate(own: Any, x: Any, rivals: Any, cycles: int, *rest: Any) -> int:
        interfering = (rivals < np.arange(len(rivals))[:, None]) & (
            np.einsum("ip,ikp->ik", x[own], x[rivals]) > 0.7
        )
        earlier = np.where(interfering, rivals, -1)
        for _ in range(max(1, cycles // 10)):
            specimen.push_all(earlier, 0.15, rest[-1])
        return len(own)

    return SimpleNamespace(separate=separate, codes=specimen.codes)


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "SOP-1",
    source="Cortex 4.4.10: in the plane of the two, c -> (c (1 - 2 k + k^2 c^2)) / (1 - 2 k c^2 + k^2 c^2), k = 0.15",
    atol=1e-12,
    papers=("cortex2026",),
)
def a_step_lowers_the_cosine_by_the_closed_form(specimen: Any) -> Any:
    measured, expected, k = [], [], 0.15
    for c in (0.95, 0.7, 0.3, -0.4):
        a, b = np.array([1.0, 0.0]), np.array([c, np.sqrt(1.0 - c * c)])
        specimen.push(a, b, k)
        measured.append(float(a @ b))
        expected.append(
            c * (1.0 - 2.0 * k + k * k * c * c) / (1.0 - 2.0 * k * c * c + k * k * c * c)
        )
    return measured, expected


@adaptation("SOP-2", source="the rule converges to a cosine of 0: after 100 nights")
def the_cosine_converges_to_zero(specimen: Any) -> Any:
    w = np.array([[1.0, 0.0], [0.9, np.sqrt(0.19)]])
    for _ in range(100):
        specimen.push_all(np.array([[-1], [0]]), 0.15, w)
    return at_most(abs(float(w[0] @ w[1])), 1e-6)


# --- the paper's checks ---------------------------------------------------------------------------
oscillation = papers.an_oscillation_learns_twice_the_contrast
least_interference = papers.sleep_converges_to_the_minimum_of_interference.of_variety(as_sleep)
no_interference = papers.without_interference_nothing_is_learnt.of_variety(as_sleep)
cycle = papers.the_competitor_falls_the_target_rises_and_others_do_not_change.of_variety(
    as_sleep, drawn=False
)
less_alike = papers.interfering_memories_become_less_similar.of_variety(as_sleep)
own_code = papers.every_unit_stays_within_the_bound_around_its_code.of_variety(as_sleep)
recall = papers.recall_does_not_fall.of_variety(as_sleep)
help_ = papers.sleep_helps_against_interference.of_variety(as_sleep)
converges = papers.repeated_sleep_converges.of_variety(as_sleep)


# --- figures --------------------------------------------------------------------------------------
cosines = papers.cosines_over_sleep.of_variety(
    "Printed steps push interfering memories apart and out of the cone around their own codes; the paper's form stays in it",
    as_sleep,
)


@mutant("only one of the two is pushed", rejected_by="SOP-1")
def one_sided(specimen: Any) -> Any:
    def push(first: Any, second: Any, rate: float) -> None:
        first -= rate * (first @ second) * second
        first /= np.linalg.norm(first)

    return specimen.replacing("push", push)


@mutant("a stop at a cosine of 0.2, as in Cortex' code", rejected_by="SOP-2")
def with_a_floor(specimen: Any) -> Any:
    def push(first: Any, second: Any, rate: float) -> None:
        if first @ second > 0.2:
            specimen.push(first, second, rate)

    return specimen.replacing("push", push)
