"""Evidence for tripartite_synapse_printed: the rule of Cortex 4.4.7 and its code, and the checks
of the G-ChI model run on it.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.vocabulary import RELEASE_PROBABILITY
from ..checks import adaptation, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of
from . import tripartite_synapse as paper
from .shared.scripts import drafting
from .shared.views import Instead


def as_cell(specimen: Any) -> SimpleNamespace:
    """The printed rule under the paper's names: at a constant drive calcium goes to the steady
    state of its IP3 and stays there.
    """

    def integrate(
        C: float, h: float, I: float, g: float, t: float, a: Any
    ) -> tuple[float, float, float]:
        level = specimen.steady(I)
        return level, specimen.inactivation(level, I, 0.13, 1.049, 0.9434), I

    def held(C: float, h: float, I: float, *_: float) -> float:
        return float(specimen.steady(I) - C)

    names = {
        name: getattr(paper_names, name) for name in ("CALCIUM_FLOW", "INACTIVATION", "IP3_FLOW")
    }
    return SimpleNamespace(
        integrate=integrate, calcium=held, gating=lambda *_: 0.0, phosphate=lambda *_: 0.0, **names
    )


paper_names = SimpleNamespace(
    CALCIUM_FLOW=("rC", "rL", "vER", "K_ER", "C0", "c1", "d1", "d5"),
    INACTIVATION=("d1", "d2", "d3", "a2"),
    IP3_FLOW=("v_b", "v_d", "v_3K", "r_5P", "K_R", "K_p", "K_pi", "k_d", "K_PLCd", "K_D", "K_3"),
)


def root(ip3: float) -> float:
    """Calcium at which the source's equations are at rest, uM."""

    def flow(C: float) -> float:
        n, h = ip3 / (ip3 + 0.13), 1.049 * (ip3 + 0.13) / ((ip3 + 0.9434) * (C + 1.049))
        return (6.0 * (n * C / (C + 0.08234)) ** 3 * h * n + 0.11) * (
            2.0 - C
        ) / 0.185 - 0.9 * C * C / (0.01 + C * C)

    return float(brentq(flow, 0.3, 1.9))


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "TSP-1",
    source="root of the source's equations by Brent's method; 0.54 uM without IP3",
    atol=1e-3,
    papers=("cortex2026",),
)
def calcium_goes_to_the_steady_state_of_the_sources_equations(specimen: Any) -> Any:
    ip3 = (0.0, 0.14, 0.5)
    return [specimen.steady(I) for I in ip3], [root(I) for I in ip3]


@adaptation(
    "TSP-2",
    source="Cortex 4.4.7: quiescent, facilitation, depression; thresholds 0.3 and 0.6 of its code",
    atol=1e-12,
    papers=("cortex2026",),
)
def two_thresholds_separate_three_regimes(specimen: Any) -> Any:
    return [
        specimen.modulation(c, 0.3, 0.6, 0.2, 0.15) for c in (0.0, 0.29, 0.45, 0.6, 0.8, 1.0)
    ], [1.0, 1.0, 1.1, 1.0, 0.925, 0.85]


@adaptation(
    "TSP-3",
    source="Cortex, code: 1 - exp(-0.3 events) of the way",
    atol=1e-9,
    papers=("cortex2026",),
)
def calcium_rises_towards_the_steady_state(specimen: Any) -> Any:
    aim = specimen.steady(2.0 * 0.45 / 2.45) - 0.54
    return [specimen.risen(level, 3.0, 0.15, 2.0, 0.54, 0.3) for level in (0.0, 0.4)], [
        aim + (level - aim) * math.exp(-0.9) for level in (0.0, 0.4)
    ]


@adaptation(
    "TSP-4",
    source="Cortex, code, by hand: a cluster for the signs of five dimensions, events of one moment together, 0.9 after an hour",
    atol=1e-3,
    papers=("cortex2026",),
)
def a_memory_raises_the_calcium_of_clusters(specimen: Any) -> Any:
    # signs of the first five dimensions; the sixth does not count
    signs = ((1, 1, -1, 1, 1, -1), (1, 1, -1, 1, 1, 1), (-1, 1, 1, -1, 1, 1), (1, 1, -1, 1, 1, -1))
    texts = ("a red boat", "a blue boat", "lost keys", "an old boat")
    vectors = dict(zip(texts, signs, strict=True)) | {"boat": (1, 1, -1, 1, 1, 1)}
    memory = memory_of(
        specimen,
        "lexical_bm25",
        embedder=Scripted({text: np.array(v, float) for text, v in vectors.items()}),
        decay=0.1,
    )
    level, since = dict.fromkeys(signs[1:3], 0.0), dict.fromkeys(signs[1:3], 0.0)
    of = (signs[1], signs[1], signs[2], signs[1])
    measured, expected = list[float](), list[float]()

    def now_of(cluster: Any, now: float) -> float:
        return level[cluster] * math.exp(-0.1 * (now - since[cluster]))

    def accessed(cluster: Any, now: float, events: int) -> None:
        ip3 = 0.15 * events
        aim = min(max(root(2.0 * ip3 / (2.0 + ip3)) - 0.54, 0.0), 1.0)
        raised = aim + (now_of(cluster, now) - aim) * math.exp(-0.3 * events)
        level[cluster], since[cluster] = raised, now

    def factor(x: float) -> float:
        if x < 0.3:
            return 1.0
        return 1.0 + 0.2 * (x - 0.3) / 0.3 if x < 0.6 else 1.0 - 0.15 * (x - 0.6) / 0.4

    def compare(now: float) -> None:
        memory.advance(now)
        stored = memory.column(RELEASE_PROBABILITY)
        clusters = memory.column(specimen.PRINTED_TERRITORY).tolist()
        measured.extend((*stored, *memory.column(specimen.PRINTED_CALCIUM)[clusters]))
        shown = [of[row] for row in range(len(stored))]
        expected.extend((*(factor(now_of(c, now)) for c in shown), *(level[c] for c in shown)))

    for hour, text in enumerate(texts):
        encode(memory, (float(hour), text))
        accessed(of[hour], float(hour), 1)
    compare(4.0)
    for now, learn in ((5.0, True), (5.5, True), (6.0, False), (7.0, True), (9.0, True)):
        memory.advance(now)
        memory.retrieve("boat", k=3, learn=learn)
        if learn:
            accessed(of[0], now, 3)
        compare(now + 0.25)
    compare(12.0)
    return measured, expected


@adaptation(
    "TSP-5",
    source="definition: a unit that a sleep made is in no cluster; 1, as at rest, beside five events that raised their cluster; its recall raises none",
)
def a_unit_that_sleep_made_is_in_no_cluster(specimen: Any) -> Any:
    texts = ("a red boat", "a blue boat", "an old boat", "a new boat", "a boat")
    memory = memory_of(
        specimen,
        "lexical_bm25",
        drafting(Draft("harbour", Kind.SUMMARY, (0,)), rows=len(texts)),
        embedder=Scripted({text: np.ones(5) for text in (*texts, "harbour")}),
        consolidate_every=2.0,
        ip3_per_event=0.3,
        decay=0.1,
    )
    encode(memory, *((1.0, text) for text in texts))
    memory.advance(3.0)
    *events, made = memory.column(RELEASE_PROBABILITY)
    before = memory.column(specimen.PRINTED_CALCIUM).copy()
    recalled = memory.retrieve("harbour", k=1, learn=True).rows.tolist()
    risen = memory.column(specimen.PRINTED_CALCIUM) - before
    measured = [made, min(events) > 1.0, max(events) == min(events), *recalled, *risen]
    return measured, [1.0, True, True, len(texts), *np.zeros(len(before))]


# --- the paper's checks ---------------------------------------------------------------------------
def as_flow(specimen: Any) -> SimpleNamespace:
    """The same, with the printed equation for the flow of calcium."""
    return SimpleNamespace(**{**vars(as_cell(specimen)), "calcium": specimen.calcium})


calcium_flow = paper.calcium_flows_through_channel_leak_and_pump.of_variety(as_flow)
inactivation = paper.channels_inactivate_towards_their_steady_state
ip3 = paper.ip3_is_produced_and_degraded
rest = paper.at_basal_glutamate_nothing_oscillates.of_variety(as_cell)
amplitude = paper.calcium_codes_by_amplitude.of_variety(as_cell)
frequency = paper.calcium_codes_by_frequency.of_variety(as_cell)
glutamate = paper.glutamate_sets_the_period.of_variety(as_cell)
release = paper.a_release_uses_six_tenths_of_the_store
probability = paper.occupied_receptors_move_release_probability_towards_alpha
crossings = paper.each_upward_crossing_releases_once.of_variety(drawn=False)


# --- figures --------------------------------------------------------------------------------------
calcium = paper.calcium_over_time.of_variety(
    "Under constant glutamate printed calcium goes to a steady state and does not oscillate",
    as_cell,
)
swings = paper.amplitude_over_ip3.of_variety("Printed calcium has no amplitude at any IP3", as_cell)


@figure(
    "frequency",
    caption="Printed calcium has no period: it is a level that rises with IP3, from six times the resting level of the paper's cell",
    source="Cortex, code of 4.4.7; rest of De Pitta et al. 2009",
)
def steady_calcium_over_ip3(specimen: Any) -> Picture:
    ip3 = np.linspace(0.0, 1.2, 61)
    return Picture(
        "IP3, uM",
        "steady calcium, uM",
        (
            Curve("printed", ip3, np.array([specimen.steady(i) for i in ip3])),
            dots("rest in the paper", [0.226], [0.0906]),
        ),
    )


@mutant("one threshold", rejected_by="TSP-2")
def one_threshold(specimen: Any) -> Any:
    return specimen.replacing(
        "modulation",
        lambda level, low, high, boost, cut: (
            1.0 if level < low else 1.0 + boost * (level - low) / (1.0 - low)
        ),
    )


@mutant("a rise to the steady state at once", rejected_by="TSP-3")
def at_once(specimen: Any) -> Any:
    return specimen.replacing(
        "risen", lambda level, events, per_event, most, rest, rate: specimen.steady(0.3673) - rest
    )


@mutant("the paper's number of gates", rejected_by="TSP-1")
def right_gates(specimen: Any) -> Any:
    return specimen.replacing(
        "calcium",
        lambda C, h, I, rC, rL, vER, K_ER, C0, c1, d1, d5: (
            (rC * (I / (I + d1) * C / (C + d5) * h) ** 3 + rL) * (C0 - (1 + c1) * C)
            - vER * C * C / (C * C + K_ER**2)
        ),
    )


@mutant("memories of one cluster in an answer are one event", rejected_by="TSP-4")
def one_event(specimen: Any) -> Any:
    def accessed(self: Any, view: Any, cluster: int, events: float) -> None:
        specimen.TripartiteSynapsePrinted.accessed(self, view, cluster, 1.0)

    return specimen.overriding("TripartiteSynapsePrinted", accessed=accessed)


@mutant("calcium between events does not decay", rejected_by="TSP-4")
def kept(specimen: Any) -> Any:
    def accessed(self: Any, view: Any, cluster: int, events: float) -> None:
        view.printed_calcium_clock[cluster] = view.now
        specimen.TripartiteSynapsePrinted.accessed(self, view, cluster, events)

    return specimen.overriding("TripartiteSynapsePrinted", accessed=accessed)


def all_in_clusters(view: Any) -> Any:
    """The view in which memories that are in no cluster are in the last one."""
    clusters, last = view.printed_territory, len(view.printed_calcium) - 1
    return Instead(view, printed_territory=np.where(clusters < 0, last, clusters))


@mutant("a unit that sleep made is in the last cluster", rejected_by="TSP-5")
def in_the_last_cluster(specimen: Any) -> Any:
    original = specimen.TripartiteSynapsePrinted.modulate

    def modulate(self: Any, view: Any, tick: Any) -> None:
        original(self, all_in_clusters(view), tick)

    return specimen.overriding("TripartiteSynapsePrinted", modulate=modulate)


@mutant("the recall of a unit that sleep made raises the last cluster", rejected_by="TSP-5")
def raising_the_last_cluster(specimen: Any) -> Any:
    original = specimen.TripartiteSynapsePrinted.on_recall

    def on_recall(self: Any, view: Any, cue: Any) -> None:
        original(self, all_in_clusters(view), cue)

    return specimen.overriding("TripartiteSynapsePrinted", on_recall=on_recall)
