"""Evidence for sleep_orthogonalisation_printed: what Cortex 4.4.10 says it does, and the checks of the paper's form on the printed one."""
from __future__ import annotations

import functools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from ..checks import Check, adaptation, at_most, mutant
from ..figures import Figure
from . import sleep_orthogonalisation as papers

Shown = TypeVar("Shown", Check, Figure)


def as_sleep(specimen: Any) -> SimpleNamespace:
    """Steps of the printed form in the place of the paper's cycles, one for ten of them; each interfering pair once a step."""

    def separate(own: Any, x: Any, rivals: Any, cycles: int, *rest: Any) -> int:
        interfering = (rivals < np.arange(len(rivals))[:, None]) & (np.einsum("ip,ikp->ik", x[own], x[rivals]) > 0.7)
        earlier = np.where(interfering, rivals, -1)
        for _ in range(max(1, cycles // 10)):
            specimen.push_all(earlier, 0.15, rest[-1])
        return len(own)

    return SimpleNamespace(separate=separate, codes=specimen.codes)


def on_printed(check: Shown) -> Shown:
    """A check of the paper's sleep, asked of the printed form."""

    @functools.wraps(check.function)
    def function(specimen: Any) -> Any:
        return check.function(as_sleep(specimen))

    return replace(check, function=function)


# --- as printed --------------------------------------------------------------------------------------------------------------
@adaptation("SOP-1", source="Cortex 4.4.10: in the plane of the two, c -> (c (1 - 2 k + k^2 c^2)) / (1 - 2 k c^2 + k^2 c^2), k = 0.15", atol=1e-12)
def a_step_takes_off_its_share_of_the_cosine(specimen: Any) -> Any:
    measured, expected, k = [], [], 0.15
    for c in (0.95, 0.7, 0.3, -0.4):
        a, b = np.array([1.0, 0.0]), np.array([c, np.sqrt(1.0 - c * c)])
        specimen.push(a, b, k)
        measured.append(float(a @ b))
        expected.append(c * (1.0 - 2.0 * k + k * k * c * c) / (1.0 - 2.0 * k * c * c + k * k * c * c))
    return measured, expected


@adaptation("SOP-2", source="the rule has no other end than a cosine of 0: after 100 nights")
def nothing_in_common_is_left(specimen: Any) -> Any:
    w = np.array([[1.0, 0.0], [0.9, np.sqrt(0.19)]])
    for _ in range(100):
        specimen.push_all(np.array([[-1], [0]]), 0.15, w)
    return at_most(abs(float(w[0] @ w[1])), 1e-6)


# --- the paper's checks --------------------------------------------------------------------------------------------------------
oscillation = papers.an_oscillation_learns_twice_the_contrast
least_interference = on_printed(papers.sleep_ends_at_the_least_interference_there_is)
no_interference = on_printed(papers.without_interference_nothing_is_learnt)
cycle = replace(on_printed(papers.the_competitor_falls_the_target_rises_the_rest_stays), figure=None)
less_alike = on_printed(papers.interfering_memories_become_less_alike)
own_code = on_printed(papers.every_memory_stays_what_it_was)
recall = on_printed(papers.recall_does_not_fall)
help_ = on_printed(papers.sleep_helps_against_interference)
converges = on_printed(papers.repeated_sleep_converges)


# --- pictures ----------------------------------------------------------------------------------------------------------------
cosines = replace(on_printed(papers.cosines_over_sleep),
                  caption="Printed steps push interfering memories apart and out of the cone around their own codes, which the paper's form keeps")


@mutant("only one of the two is pushed", rejected_by="SOP-1")
def one_sided(specimen: Any) -> Any:
    def push(one: Any, other: Any, rate: float) -> None:
        one -= rate * (one @ other) * other
        one /= np.linalg.norm(one)

    return specimen.replacing("push", push)


@mutant("it stops at a cosine of 0.2, as in the code", rejected_by="SOP-2")
def with_a_floor(specimen: Any) -> Any:
    def push(one: Any, other: Any, rate: float) -> None:
        if one @ other > 0.2:
            specimen.push(one, other, rate)

    return specimen.replacing("push", push)
