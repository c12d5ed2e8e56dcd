"""Evidence for bcm_metaplasticity_printed: the threshold that Cortex 4.4.3 prints, and the
checks of the theory that it cites, run on it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ..checks import adaptation, mutant
from . import bcm_metaplasticity as paper


def as_theory(specimen: Any) -> SimpleNamespace:
    """The printed threshold under the theory's names: the decay is 1 - 1 / tau, the mean
    activity starts at the root of theta.
    """

    def means(thetas: Any) -> Any:
        return np.sqrt(np.maximum(thetas, 0.0))

    def occasion(
        source: Any,
        target: Any,
        edge: Any,
        drive: float,
        eta: float,
        tau: float,
        weight: Any,
        theta: Any,
        modifiability: Any,
    ) -> None:
        specimen.occasion(
            source,
            target,
            edge,
            drive,
            eta,
            1.0 - 1.0 / tau,
            weight,
            means(theta),
            theta,
            modifiability,
        )

    def occur(
        times: int,
        source: Any,
        target: Any,
        edge: Any,
        drive: float,
        eta: float,
        tau: float,
        weight: Any,
        theta: Any,
        m: Any,
    ) -> None:
        specimen.occur(
            times, source, target, edge, drive, eta, 1.0 - 1.0 / tau, weight, means(theta), theta, m
        )

    def slide(theta: float, c: float, tau: float) -> Any:
        mean = specimen.smoothed(theta**0.5, c, 1.0 - 1.0 / tau)
        return specimen.smoothed(theta, mean * mean, 1.0 - 1.0 / tau)

    return SimpleNamespace(phi=specimen.phi, slide=slide, occasion=occasion, occur=occur)


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "BMP-1",
    source="Cortex 4.4.3: theta <- 0.95 theta + 0.05 c_bar^2, by hand",
    atol=1e-12,
    papers=("cortex2026",),
)
def the_threshold_is_a_running_mean_of_the_squared_mean(specimen: Any) -> Any:
    mean, theta, m, weight = (
        np.array([2.0, 0.0]),
        np.array([1.0, 0.0]),
        np.zeros(2),
        np.array([0.5]),
    )
    specimen.occasion(
        np.array([1]), np.array([0]), np.array([0]), 1.0, 0.1, 0.95, weight, mean, theta, m
    )
    bar = 0.95 * 2.0 + 0.05 * 1.5
    return [mean[0], theta[0], weight[0], m[0]], [
        bar,
        0.95 + 0.05 * bar**2,
        0.5 + 0.1 * 1.5 * 0.5,
        0.75,
    ]


@adaptation(
    "BMP-2",
    source="the squared mean of k inputs in turn: theta = (c / k)^2 = c at c = k^2",
    rtol=0.01,
)
def the_response_to_an_input_is_one_over_its_squared_probability(specimen: Any) -> Any:
    measured = []
    for k in (2, 3):
        weight, mean, theta, turns = (
            np.array([0.6, *[0.3] * (k - 1)]),
            np.zeros(k + 1),
            np.full(k + 1, 0.3),
            np.tile(np.arange(k), 100000),
        )
        specimen.occur(
            len(turns),
            turns + 1,
            np.zeros(len(turns), np.int64),
            turns,
            0.0,
            0.0005,
            0.98,
            weight,
            mean,
            theta,
            np.zeros(k + 1),
        )
        measured.append(weight.max())
    return measured, [4.0, 9.0]


# --- the theory's checks --------------------------------------------------------------------------
parabola = paper.modification_is_a_parabola_through_zero_and_the_threshold.of_variety(as_theory)
running_mean = paper.the_threshold_is_the_running_mean_of_squares.of_variety(as_theory)
matrices = paper.an_occasion_of_many_memories_equals_the_rule_in_matrices.of_variety(as_theory)
one_input = paper.the_response_to_one_input_converges_to_one.of_variety(as_theory)
two_inputs = paper.a_neuron_becomes_selective_for_one_of_two_inputs.of_variety(as_theory)
probability = paper.the_response_to_an_input_is_one_over_its_probability.of_variety(as_theory)
bifurcation = (
    paper.the_fixed_point_is_unstable_where_the_threshold_is_slower_than_learning.of_variety(
        as_theory
    )
)


# --- figures --------------------------------------------------------------------------------------
curve = paper.modification_over_response.of_variety(standing_in=as_theory)
responses = paper.responses_over_presentations.of_variety(
    "Under the printed threshold, a squared mean, the response oscillates about 1 / p^2 = 4; the theory has 1 / p = 2",
    as_theory,
)
swings = paper.response_to_one_input.of_variety(
    "The response to one input converges to 1 under a fast printed threshold, too; under a slow one it dies out",
    as_theory,
)


@mutant("the mean of squares, as in the theory", rejected_by="BMP-1")
def mean_of_squares(specimen: Any) -> Any:
    def occasion(
        source: Any,
        target: Any,
        edge: Any,
        drive: float,
        eta: float,
        decay: float,
        weight: Any,
        mean: Any,
        theta: Any,
        m: Any,
    ) -> None:
        for v, e in zip(target, edge, strict=True):
            c = drive + weight[e]
            m[v] += c * (c - theta[v])
            weight[e] += eta * c * (c - theta[v])
            theta[v] = decay * theta[v] + (1.0 - decay) * c * c

    return specimen.replacing("occasion", occasion)
