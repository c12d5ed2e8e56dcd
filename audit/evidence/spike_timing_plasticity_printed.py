"""Evidence for spike_timing_plasticity_printed: the window of Cortex 4.4.5, and the paper's
checks run on it.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.integrate import quad

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import MATCH, REPLAY_LAG, REPLAYED, RESOURCES
from ...engine.state.graph import EdgeType
from ..checks import adaptation, mutant
from ..memory import Scripted, encode, memory_of, neighbour
from . import spike_timing_plasticity as paper
from .shared.scripts import giving

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


@adaptation(
    "STDP-P4",
    source="Cortex 4.4.5 by hand: the pairs of neighbours in a session and of replayed steps; match times weight, summed over the best that show",
    atol=1e-6,
    papers=("cortex2026",),
)
def a_memory_passes_its_match_on_to_neighbours_in_time(specimen: Any) -> Any:
    # hours, session, where the memory is beside the query
    told = (
        (0.0, "S1", 0.1),
        (12.0, "S1", 0.3),
        (13.0, "S2", 0.5),
        (40.0, "S2", 0.7),
        (41.0, "S1", 2.0),
    )
    supplies, steps, lags = (1.0, 0.5, 0.8, 1.0, 1.0), ((0, 1), (3, 0), (0, 1)), (6.0, 1.0, 30.0)

    def dream(view: Any, tick: Any) -> None:
        if tick.end > 40.0:
            view.replayed[1:4], view.replay_lag[1:4] = steps, lags

    places = {f"message {i}": [1.0, across] for i, (*_, across) in enumerate(told)}
    memory = memory_of(
        specimen,
        "dense_similarity",
        neighbour(Phase.CONSOLIDATE, dream, sets=(REPLAYED, REPLAY_LAG), id="asleep"),
        giving(Phase.RETRIEVE, RESOURCES, supplies),
        embedder=Scripted({**places, "query": [1.0, 0.0]}),
        consolidate_every=48.0,
        seeds=3,
    )
    pairs = [(first, second, lag) for (first, second), lag in zip(steps, lags, strict=True)]
    for row, (hour, session, _) in enumerate(told):
        memory.advance(hour)
        encode(memory, Event(hour, f"message {row}", session=session, dated=False))
        if row and told[row - 1][1] == session:
            pairs.append((row - 1, row, hour - told[row - 1][0]))
    memory.advance(50.0)
    w, measured = np.zeros((5, 5)), np.zeros((5, 5))
    for first, second, lag in pairs:
        w[first, second] += 0.03 * math.exp(-lag / 24.0)
        w[second, first] -= 0.02 * math.exp(-lag / 24.0)
    weight = memory.column(specimen.TIMING_PRINTED)
    for a in range(5):
        for b in range(5):
            edge = memory.graph.find(a, b, EdgeType.COACCESS)
            measured[a, b] = 0.0 if edge is None else weight[edge]
    memory.archive(1)
    memory.retrieve("query", learn=True)
    match = np.where(np.arange(5) == 1, -np.inf, memory.column(MATCH))
    sent = np.zeros(5)
    for row in np.argsort(-match)[:3]:
        sent[row] = max(match[row], 0.0) * supplies[row]
    return [*measured.ravel(), *np.nan_to_num(memory.column(specimen.CLOSE_IN_TIME))], [
        *w.ravel(),
        *(sent @ w),
    ]


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


@mutant("what is replayed teaches nothing", rejected_by="STDP-P4")
def asleep(specimen: Any) -> Any:
    def replay(self: Any, view: Any, tick: Any) -> None: ...

    return specimen.overriding("SpikeTimingPlasticityPrinted", replay=replay)


@mutant("archived memories pass on", rejected_by="STDP-P4")
def archived(specimen: Any) -> Any:
    return specimen.replacing(
        "best", lambda match, visible, k: specimen.best(match, np.ones_like(visible), k)
    )
