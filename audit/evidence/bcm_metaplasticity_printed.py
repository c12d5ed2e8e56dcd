"""Evidence for bcm_metaplasticity_printed: what Cortex 4.4.3 prints, and the checks of the theory that it cites, asked of the printed threshold."""
from __future__ import annotations

import functools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from ..checks import Check, adaptation, mutant
from ..figures import Figure
from . import bcm_metaplasticity as paper

Shown = TypeVar("Shown", Check, Figure)


def on_printed(check: Shown) -> Shown:
    """A check of the theory, asked of the printed threshold: tau occasions as the decay 1 - 1 / tau, its mean settled at the root of theta."""

    def means(thetas: Any) -> Any:
        return np.sqrt(np.maximum(thetas, 0.0))

    @functools.wraps(check.function)
    def function(specimen: Any) -> Any:
        def occasion(source: Any, target: Any, edge: Any, drive: float, eta: float, tau: float, weight: Any, theta: Any, modifiability: Any) -> None:
            specimen.occasion(source, target, edge, drive, eta, 1.0 - 1.0 / tau, weight, means(theta), theta, modifiability)

        def occur(times: int, source: Any, target: Any, edge: Any, drive: float, eta: float, tau: float, weight: Any, theta: Any, m: Any) -> None:
            specimen.occur(times, source, target, edge, drive, eta, 1.0 - 1.0 / tau, weight, means(theta), theta, m)

        def slide(theta: float, c: float, tau: float) -> Any:
            mean = specimen.smoothed(theta**0.5, c, 1.0 - 1.0 / tau)
            return specimen.smoothed(theta, mean * mean, 1.0 - 1.0 / tau)

        return check.function(SimpleNamespace(phi=specimen.phi, slide=slide, occasion=occasion, occur=occur))

    return replace(check, function=function)


# --- as printed --------------------------------------------------------------------------------------------------------------
@adaptation("BMP-1", source="Cortex 4.4.3: theta <- 0.95 theta + 0.05 c_bar^2, by hand", atol=1e-12)
def the_threshold_is_a_running_mean_of_the_squared_mean(specimen: Any) -> Any:
    mean, theta, m, weight = np.array([2.0, 0.0]), np.array([1.0, 0.0]), np.zeros(2), np.array([0.5])
    specimen.occasion(np.array([1]), np.array([0]), np.array([0]), 1.0, 0.1, 0.95, weight, mean, theta, m)
    bar = 0.95 * 2.0 + 0.05 * 1.5
    return [mean[0], theta[0], weight[0], m[0]], [bar, 0.95 + 0.05 * bar**2, 0.5 + 0.1 * 1.5 * 0.5, 0.75]


@adaptation("BMP-2", source="the squared mean of k inputs in turn: theta = (c / k)^2 = c at c = k^2", rtol=0.01)
def the_answer_to_an_input_is_one_over_its_squared_probability(specimen: Any) -> Any:
    found = []
    for k in (2, 3):
        weight, mean, theta, turns = np.array([0.6, *[0.3] * (k - 1)]), np.zeros(k + 1), np.full(k + 1, 0.3), np.tile(np.arange(k), 100000)
        specimen.occur(len(turns), turns + 1, np.zeros(len(turns), np.int64), turns, 0.0, 0.0005, 0.98, weight, mean, theta, np.zeros(k + 1))
        found.append(weight.max())
    return found, [4.0, 9.0]


# --- the theory's checks -------------------------------------------------------------------------------------------------------
parabola = on_printed(paper.modification_is_a_parabola_through_zero_and_the_threshold)
running_mean = on_printed(paper.the_threshold_is_the_running_mean_of_squares)
matrices = on_printed(paper.an_occasion_of_many_is_the_rule_in_matrices)
one_input = on_printed(paper.one_input_is_answered_with_one)
two_inputs = on_printed(paper.a_neuron_comes_to_answer_one_of_two_inputs)
probability = on_printed(paper.the_answer_to_an_input_is_one_over_its_probability)
bifurcation = on_printed(paper.the_fixed_point_is_lost_where_the_threshold_is_slower_than_learning)


# --- pictures ----------------------------------------------------------------------------------------------------------------
curve = on_printed(paper.modification_over_response)
responses = replace(on_printed(paper.responses_over_presentations),
                    caption="Under the printed threshold, a squared mean, the answer swings about 1 / p^2 = 4 where theory has 1 / p = 2")
swings = replace(on_printed(paper.response_to_one_input),
                 caption="One input is answered with 1 under the printed threshold, too, where that is fast; under a slow one the response dies out")


@mutant("the mean of squares, as the theory has it", rejected_by="BMP-1")
def mean_of_squares(specimen: Any) -> Any:
    def occasion(source: Any, target: Any, edge: Any, drive: float, eta: float, decay: float, weight: Any, mean: Any, theta: Any, m: Any) -> None:
        for v, e in zip(target, edge, strict=True):
            c = drive + weight[e]
            m[v] += c * (c - theta[v])
            weight[e] += eta * c * (c - theta[v])
            theta[v] = decay * theta[v] + (1.0 - decay) * c * c

    return specimen.replacing("occasion", occasion)
