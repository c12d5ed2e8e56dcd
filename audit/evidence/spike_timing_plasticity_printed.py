"""Evidence for spike_timing_plasticity_printed: what Cortex 4.4.5 says it does, and the paper's checks on the printed window."""
from __future__ import annotations

import functools
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
from scipy.integrate import quad

from ..checks import Check, adaptation, mutant
from ..figures import Figure
from . import spike_timing_plasticity as paper

PRINTED = (0.03, 0.02, 24.0, 24.0)
Shown = TypeVar("Shown", Check, Figure)


def on_printed(check: Shown) -> Shown:
    """A check of the paper's window, asked of the printed one: its 24 h stand for the paper's tau+, its 0.03 for the paper's A+."""

    @functools.wraps(check.function)
    def function(specimen: Any) -> Any:
        def window(lag: float, a_plus: float, _minus: float, tau_plus: float, _tau_minus: float) -> float:
            return float(specimen.window(lag * 24.0 / tau_plus, *PRINTED) * a_plus / 0.03)

        def paired(edge: Any, target: Any, lag: Any, growth: Any, ltp: float, a_plus: float, _minus: float, tau_plus: float, *rest: Any) -> None:
            specimen.paired(edge, lag * 24.0 / tau_plus, a_plus, a_plus * 0.02 / 0.03, 24.0, 24.0, rest[-1])

        return check.function(SimpleNamespace(window=window, paired=paired, pass_on=specimen.pass_on))

    return replace(check, function=function)


# --- as printed ------------------------------------------------------------------------------------------------------------------
@adaptation("STDP-P1", source="Cortex 4.4.5: A+ 0.03, A- 0.02, both time constants 24 h; written out")
def the_printed_window_has_one_time_constant(specimen: Any) -> Any:
    written = [0.03 / math.e, -0.02 / math.e, 0.03 * math.exp(-1 / 24), -0.02 * math.exp(-2)]
    return [specimen.window(d, *PRINTED) for d in (24.0, -24.0, 1.0, -48.0)], written


@adaptation("STDP-P2", source="integral of the printed window, (0.03 - 0.02) 24 h = +0.24 h: uncorrelated accesses drift upwards", atol=1e-9)
def the_printed_window_has_a_positive_integral(specimen: Any) -> Any:
    return sum(quad(lambda d, s=s: specimen.window(s * d, *PRINTED), 1e-12, 2000.0, limit=500)[0] for s in (1.0, -1.0)), 0.24


@adaptation("STDP-P3", source="Cortex 4.4.5 prints no bounds: 100 pairs an hour apart, there and back, written out", rtol=1e-9)
def printed_weights_have_no_bounds(specimen: Any) -> Any:
    weight = np.zeros(2)
    specimen.paired(np.tile([0, 1], 100), np.tile([1.0, -1.0], 100), *PRINTED, weight)
    return weight, [3.0 * math.exp(-1 / 24), -2.0 * math.exp(-1 / 24)]


# --- the paper's checks ----------------------------------------------------------------------------------------------------------
fit = on_printed(paper.the_window_has_the_values_of_the_fit)
order = on_printed(paper.order_decides_between_potentiation_and_depression)
far_apart = on_printed(paper.far_apart_depression_outweighs_potentiation)
areas = on_printed(paper.the_areas_of_the_window_are_amplitude_times_time_constant)
sixty = on_printed(paper.sixty_pairings_are_the_published_amplitude)
bounds = on_printed(paper.weights_stay_between_their_bounds)
sequence = on_printed(paper.a_sequence_is_learnt_in_its_direction)
transmission = on_printed(paper.the_signal_is_what_arrives_from_the_best_matches)


# --- pictures ----------------------------------------------------------------------------------------------------------------
change = replace(on_printed(paper.change_over_lag),
                 caption="The printed window decays as fast on either side, where depression reaches twice as far in the fit")
chain = replace(on_printed(paper.weights_along_a_chain), caption="The printed window, unbounded, drives weights back along the chain below nothing")


@mutant("depression by the common scale of time, 48.1 h, which is not what is printed", rejected_by="STDP-P2")
def common_scale(specimen: Any) -> Any:
    return specimen.replacing("window", lambda d, a, b, tau_plus, tau_minus: specimen.window(d, a, b, tau_plus, 24.0 * 33.7 / 16.8))


@mutant("weights kept between 0 and 1, which is not what is printed", rejected_by="STDP-P3")
def bounded(specimen: Any) -> Any:
    def paired(*arguments: Any) -> None:
        specimen.paired(*arguments)
        arguments[-1][:] = np.clip(arguments[-1], 0.0, 1.0)

    return specimen.replacing("paired", paired)
