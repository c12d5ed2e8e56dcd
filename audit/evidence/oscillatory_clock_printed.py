"""Evidence for oscillatory_clock_printed: the form that Cortex 4.4.4 describes, and the checks
of the papers' form run on it.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import LTP, RIPPLES, WORKING_MEMORY
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import adaptation, between, mutant
from . import oscillatory_clock as papers
from .shared.views import Instead

DEPTH = 0.7  # X of a modulation between 0.3 and 1


def as_clock(specimen: Any) -> SimpleNamespace:
    """The printed form under the papers' names: the envelope modulates paths and plasticity, and
    its depth is fixed.
    """

    def passes(t: float, phi: float) -> float:
        return float(specimen.envelope((t + phi) / (2.0 * math.pi), 0.25))

    def learnt(x: float, phi: float, phi_ltp: float) -> float:
        return papers.over_a_cycle(lambda t: passes(t, phi_ltp) * passes(t, phi))

    return SimpleNamespace(
        transmission=lambda t, phi, x: passes(t, phi),
        plasticity=passes,
        learnt_in_a_cycle=learnt,
        weight_change=lambda ec, recalled, ca3, x, a, b, ltp: (
            (ec * learnt(x, a, ltp) + recalled * learnt(x, b, ltp)) * ca3
        ),
        capacity=lambda f_gamma, f_theta: 7,
        hold=specimen.bind,
    )


def engine(specimen: Any, every: float = 24.0) -> Engine:
    """A memory with the printed clock that sleeps every so many hours."""
    params = specimen.OscillatoryClockPrintedParams(
        time_scale=1.0, capacity=7, operations=20, interval=0.5
    )
    return Engine(
        [specimen.OscillatoryClockPrinted("oscillatory_clock_printed", params, {"interval": "h"})],
        HashingEmbedder(16),
        consolidate_every=every,
    )


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "OSP-1",
    source="public code of Cortex: cosine envelope between 0.3 and 1, encoding highest at a quarter of the cycle",
    papers=("cortex2026",),
)
def the_printed_envelope_is_a_raised_cosine(specimen: Any) -> Any:
    phases = np.linspace(0.0, 1.0, 9)
    return [specimen.envelope(p, c) for c in (0.25, 0.75) for p in phases], [
        *(0.65 + 0.35 * np.sin(2 * np.pi * phases)),
        *(0.65 - 0.35 * np.sin(2 * np.pi * phases)),
    ]


@adaptation(
    "OSP-2",
    source="Cortex 4.4.4: capacity of seven; public code: the next cycle starts empty",
    needs="engine",
    papers=("cortex2026",),
)
def the_printed_working_memory_binds_seven_in_twenty_operations(specimen: Any) -> Any:
    memory = engine(specimen)
    memory.encode_all(Event(papers.START + i / 60.0, f"turn {i}") for i in range(20))
    first = memory.store.array(WORKING_MEMORY).tolist()
    memory.encode_all(Event(papers.START + 1.0 + i / 60.0, f"turn {i}") for i in range(3))
    return [first, memory.store.array(WORKING_MEMORY).tolist()], [
        [*range(7), -1, -1],
        [20, 21, 22, *[-1] * 6],
    ]


@adaptation(
    "OSP-3",
    source="definition: the envelope at the operation's place in the cycle; a night with replay has 1.5",
    needs="engine",
)
def plasticity_follows_the_printed_envelope(specimen: Any) -> Any:
    memory, measured = engine(specimen), []
    for i in range(20):
        memory.encode(Event(papers.START + i / 60.0, f"turn {i}"))
        measured.append(papers.value(memory, LTP))
    memory.advance(papers.START + 24.0)
    return [*measured, papers.value(memory, LTP)], [
        *(0.65 + 0.35 * np.sin(2 * np.pi * np.arange(20) / 20)),
        1.5,
    ]


@adaptation(
    "OSP-3b",
    source="definition: a session begins with an empty working memory, also within the first cycle of both",
    needs="engine",
)
def a_session_begins_with_an_empty_working_memory(specimen: Any) -> Any:
    memory, held = engine(specimen), list[list[int]]()
    for i, session in enumerate("aabba"):
        memory.encode(Event(papers.START + i / 60.0, f"turn {i}", session=session))
        items = memory.column(WORKING_MEMORY)
        held.append(items[items >= 0].tolist())
    return str(held), str([[0], [0, 1], [2], [2, 3], [4]])


@adaptation(
    "OSP-4",
    source="public code of Cortex: at least three operations, recalls among them, and a half of the weighted sum, all since the last ripples",
    needs="engine",
    papers=("cortex2026",),
)
def the_printed_ripples_need_a_busy_day(specimen: Any) -> Any:
    measured = []
    for busy, asked, later in (
        (2, 0, 0),
        (3, 0, 0),
        (8, 0, 0),
        (20, 0, 0),
        (2, 10, 0),
        (20, 0, 3),
        (3, 0, 3),
    ):
        memory = engine(specimen)
        memory.encode_all(Event(papers.START + i / 60.0, f"turn {i}") for i in range(busy))
        for _ in range(asked):
            memory.retrieve("turn 1", learn=True)
        memory.advance(papers.START + 24.0)
        first = papers.value(memory, RIPPLES)
        memory.encode_all(Event(papers.START + 25.0 + i / 60.0, f"more {i}") for i in range(later))
        memory.advance(papers.START + 48.0)
        measured.append([first, papers.value(memory, RIPPLES)])
    return measured, [
        [0.0, 0.0],
        [0.0, 0.0],
        [1.0, 0.0],
        [1.0, 0.0],
        [1.0, 0.0],
        [1.0, 0.0],
        [0.0, 1.0],
    ]


@adaptation(
    "OSP-4b",
    source="public code of Cortex, by hand: hours and importance count from the last ripples on, over all sleeps without ripples",
    needs="engine",
    papers=("cortex2026",),
)
def waiting_for_ripples_goes_on_over_sleeps_without_them(specimen: Any) -> Any:
    told = {0: 5, 6: 3, 8: 2, 11: 9}  # events in an hour, of importance 1/2 each
    memory, measured, expected = engine(specimen, every=1.0), [], []
    operations, last = 0, 0
    for hour in range(16):
        for i in range(told.get(hour, 0)):
            memory.encode(Event(papers.START + hour + 0.01 * i, f"turn {hour} {i}"))
        memory.advance(papers.START + hour + 1.0)
        measured.append(papers.value(memory, RIPPLES))
        operations += told.get(hour, 0)
        score = 2 * operations / 100 + 3 * min(operations, 10) / 100
        score += 3 * min(hour + 1 - last, 4) / 40
        expected.append(float(operations >= 3 and score >= 0.5))
        if expected[-1]:
            operations, last = 0, hour + 1
    return measured, expected


@adaptation(
    "OSP-5", source="the printed envelope is a modulation of depth 0.7, so its mean is 1 - X / 2"
)
def the_printed_envelope_has_the_mean_of_a_path_of_that_depth(specimen: Any) -> Any:
    mean = papers.over_a_cycle(lambda t: specimen.envelope(t / (2.0 * math.pi), 0.25)) / (
        2.0 * math.pi
    )
    return between(mean, 1.0 - DEPTH / 2 - 1e-9, 1.0 - DEPTH / 2 + 1e-9)


# --- the papers' checks ---------------------------------------------------------------------------
by_phase = papers.a_path_learns_by_its_phase_relative_to_plasticity.of_variety(as_clock)
modulations = papers.the_product_of_the_modulations_integrates_to_the_closed_form.of_variety(
    as_clock
)
signs = papers.a_path_learns_in_phase_and_unlearns_in_antiphase.of_variety(as_clock)
unmodulated = papers.without_modulation_transmission_is_one_and_nothing_is_learnt.of_variety(
    as_clock
)
opposite = papers.learning_without_strengthening_recalled_associations_is_best_in_opposite_phases.of_variety(
    as_clock
)
reversal = papers.separate_phases_allow_reversal_of_an_association.of_variety(as_clock)
span = papers.gamma_in_theta_gives_the_span_of_memory.of_variety(as_clock)
queue = papers.working_memory_is_a_queue_of_that_length.of_variety(as_clock)


# --- figures --------------------------------------------------------------------------------------
gates = papers.gates_over_a_cycle.of_variety(
    "Printed envelopes never fall below 0.3, and plasticity never changes its sign", as_clock
)
phases = papers.learning_over_phase.of_variety(
    "Under printed envelopes a path learns at any phase and unlearns at none, at any X", as_clock
)
course = papers.associations_over_cycles.of_variety(
    "Under printed envelopes the old association strengthens itself in either phase", as_clock
)


@mutant("an envelope that goes down to 0", rejected_by="OSP-1")
def to_zero(specimen: Any) -> Any:
    return specimen.replacing(
        "envelope", lambda phase, centre: 0.5 + 0.5 * math.cos(2.0 * math.pi * (phase - centre))
    )


@mutant("a working memory of nine items", rejected_by="OSP-2")
def endless(specimen: Any) -> Any:
    return specimen.replacing("bind", lambda buffer, item, n: specimen.bind(buffer, item, 9))


@mutant("a recall is no operation for ripples", rejected_by="OSP-4")
def recalls_without_ripples(specimen: Any) -> Any:
    def recalled(self: Any, view: Any, cue: Any) -> None:
        view.clock_operations += 1

    return specimen.overriding("OscillatoryClockPrinted", on_recall=recalled)


@mutant("ripples every night", rejected_by="OSP-4")
def every_night(specimen: Any) -> Any:
    return specimen.replacing("ripples_due", lambda operations, hours, importance, least: True)


@mutant("importance from before the last ripples counts again", rejected_by="OSP-4")
def ever_more_important(specimen: Any) -> Any:
    def ripple(self: Any, view: Any, tick: Any) -> None:
        importance = float(view.importance_since_ripples)
        specimen.OscillatoryClockPrinted.ripple(self, view, tick)
        view.importance_since_ripples = importance

    return specimen.overriding("OscillatoryClockPrinted", ripple=ripple)


@mutant("each sleep starts the wait for ripples anew", rejected_by="OSP-4b")
def waiting_anew(specimen: Any) -> Any:
    def ripple(self: Any, view: Any, tick: Any) -> None:
        specimen.OscillatoryClockPrinted.ripple(self, view, tick)
        view.last_ripples = tick.end

    return specimen.overriding("OscillatoryClockPrinted", ripple=ripple)


@mutant("working memory goes on in another session", rejected_by="OSP-3b")
def one_session(specimen: Any) -> Any:
    original = specimen.OscillatoryClockPrinted.hold

    def hold(self: Any, view: Any, incoming: Any) -> None:
        original(self, Instead(view, session=np.zeros_like(view.session)), incoming)

    return specimen.overriding("OscillatoryClockPrinted", hold=hold)
