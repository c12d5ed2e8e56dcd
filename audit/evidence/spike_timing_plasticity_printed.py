"""Evidence for spike_timing_plasticity_printed: the window of Cortex 4.4.5, and the paper's
checks run on it.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.integrate import quad

from ..checks import adaptation, mutant
from . import spike_timing_plasticity as paper

PRINTED = (0.03, 0.02, 24.0, 24.0)


def as_window(specimen: Any) -> SimpleNamespace:
    """The printed window under the paper's names, its 24 h scaled to the paper's tau+, its 0.03
    to the paper's A+.
    """

    def window(
        lag: float, a_plus: float, _minus: float, tau_plus: float, _tau_minus: float
    ) -> float:
        return float(specimen.window(lag * 24.0 / tau_plus, *PRINTED) * a_plus / 0.03)

    def paired(
        _steps: int,
        edge: Any,
        target: Any,
        lag: Any,
        growth: Any,
        ltp: float,
        a_plus: float,
        _minus: float,
        tau_plus: float,
        *rest: Any,
    ) -> None:
        specimen.paired(
            edge, lag * 24.0 / tau_plus, a_plus, a_plus * 0.02 / 0.03, 24.0, 24.0, rest[-1]
        )

    return SimpleNamespace(window=window, paired=paired, pass_on=specimen.pass_on)


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "STDP-P1",
    source="Cortex 4.4.5: A+ 0.03, A- 0.02, both time constants 24 h; written out",
    papers=("cortex2026",),
)
def the_printed_window_has_one_time_constant(specimen: Any) -> Any:
    written = [0.03 / math.e, -0.02 / math.e, 0.03 * math.exp(-1 / 24), -0.02 * math.exp(-2)]
    return [specimen.window(d, *PRINTED) for d in (24.0, -24.0, 1.0, -48.0)], written


@adaptation(
    "STDP-P2",
    source="integral of the printed window, (0.03 - 0.02) 24 h = +0.24 h: uncorrelated accesses drift upwards",
    atol=1e-9,
)
def the_printed_window_has_a_positive_integral(specimen: Any) -> Any:
    return sum(
        quad(lambda d, s=s: specimen.window(s * d, *PRINTED), 1e-12, 2000.0, limit=500)[0]
        for s in (1.0, -1.0)
    ), 0.24


@adaptation(
    "STDP-P3",
    source="Cortex 4.4.5 prints no bounds: 100 pairs an hour apart, in both directions, written out",
    rtol=1e-9,
    papers=("cortex2026",),
)
def printed_weights_have_no_bounds(specimen: Any) -> Any:
    weight = np.zeros(2)
    specimen.paired(np.tile([0, 1], 100), np.tile([1.0, -1.0], 100), *PRINTED, weight)
    return weight, [3.0 * math.exp(-1 / 24), -2.0 * math.exp(-1 / 24)]


# --- the paper's checks ---------------------------------------------------------------------------
fit = paper.the_window_has_the_values_of_the_fit.of_variety(as_window)
order = paper.order_decides_between_potentiation_and_depression.of_variety(as_window)
far_apart = paper.far_apart_depression_outweighs_potentiation.of_variety(as_window)
areas = paper.the_areas_of_the_window_are_amplitude_times_time_constant.of_variety(as_window)
sixty = paper.sixty_pairings_are_the_published_amplitude.of_variety(as_window)
bounds = paper.weights_stay_between_their_bounds.of_variety(as_window)
sequence = paper.a_sequence_is_learnt_in_its_direction.of_variety(as_window)
transmission = paper.the_signal_is_the_match_passed_on_by_the_best.of_variety(as_window)


# --- figures --------------------------------------------------------------------------------------
change = paper.change_over_lag.of_variety(
    "The printed window decays equally fast on both sides; in the fit depression extends twice as far",
    as_window,
)
chain = paper.weights_along_a_chain.of_variety(
    "The printed window, without bounds, drives weights backward along the chain below zero",
    as_window,
)


@mutant("depression with a time constant of 48.1 h, unlike the printed rule", rejected_by="STDP-P2")
def common_scale(specimen: Any) -> Any:
    return specimen.replacing(
        "window",
        lambda d, a, b, tau_plus, tau_minus: specimen.window(d, a, b, tau_plus, 24.0 * 33.7 / 16.8),
    )


@mutant("weights kept between 0 and 1, unlike the printed rule", rejected_by="STDP-P3")
def bounded(specimen: Any) -> Any:
    def paired(*arguments: Any) -> None:
        specimen.paired(*arguments)
        arguments[-1][:] = np.clip(arguments[-1], 0.0, 1.0)

    return specimen.replacing("paired", paired)
