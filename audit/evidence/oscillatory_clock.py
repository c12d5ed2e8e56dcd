"""Evidence for oscillatory_clock: theta's modulations by numerical integration, working memory
by a queue, and its columns in an engine.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.integrate import quad, solve_ivp

from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Mechanism, Params, hook
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import (
    LTP,
    RIPPLES,
    SLEEP_END,
    SLEEP_ONSET,
    SLEEP_SHARE,
    VETO,
    WORKING_MEMORY,
    WORKING_MEMORY_SLOTS,
    WORKING_MEMORY_STEP,
)
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import (
    adaptation,
    at_least,
    at_most,
    between,
    data,
    equation,
    limit,
    mutant,
    reference,
    rival,
    signature,
)
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour, numbers_of, plug_in, with_numbers
from ..paper_numbers import paper_number
from .shared import dreams

HASSELMO = "Hasselmo, Bodelon & Wyble 2002"
START = 24.0 * 20000 + 9.0
MINUTE = 1.0 / 60.0
DEPTHS, PHASES = (0.0, 0.3, 1.0), (0.0, 0.7, math.pi / 2, 2.5, math.pi, 5.0)
UNITS = {"theta": "1/s", "gamma": "1/s", "ripple_rate": "1/s", "usual_rate": "1/s",
         "phase_ec": "rad", "phase_ca3": "rad", "phase_ltp": "rad"}  # fmt: skip
PAPER = {**numbers_of("oscillatory_clock", "theta"), "gamma": 40.0, "depth": 1.0, "phase_ec": 0.0, "phase_ca3": math.pi,
         "phase_ltp": 0.0,
         **numbers_of("oscillatory_clock", "ripple_rate", "usual_rate", "night")}  # fmt: skip
NUMBERS = (
    paper_number(
        "gamma",
        PAPER["gamma"],
        "1/s",
        paper="lisman1995storage",
        where="abstract: subcycles of 40 Hz",
    ),
    paper_number(
        "depth", PAPER["depth"], "1", paper="hasselmo2002proposed", where="best performance: X"
    ),
    paper_number(
        "phase_ec",
        PAPER["phase_ec"],
        "rad",
        paper="hasselmo2002proposed",
        where="best performance: EC in phase with LTP",
    ),
    paper_number(
        "phase_ca3",
        PAPER["phase_ca3"],
        "rad",
        paper="hasselmo2002proposed",
        where="best performance: CA3 opposite to LTP",
    ),
)


# --- independent references -----------------------------------------------------------------------
def gate(t: Any, phi: float, x: float) -> Any:
    """A path's transmission, as the paper writes it."""
    return x / 2 * np.sin(t + phi) + (1 - x / 2)


def cases() -> Iterator[tuple[float, float, float]]:
    return ((x, phi, ltp) for x in DEPTHS for phi in PHASES for ltp in (0.0, 1.3))


def over_a_cycle(f: Any) -> float:
    return float(quad(f, 0.0, 2.0 * math.pi, epsabs=1e-12)[0])


def clock(specimen: Any, time_scale: float = 2400.0, **changes: float) -> Any:
    return specimen.OscillatoryClock(
        "oscillatory_clock",
        specimen.OscillatoryClockParams(time_scale=time_scale, **(PAPER | changes)),
        UNITS,
    )


class Nights(Mechanism[Params]):
    """Sleeps of a given length and share, one a day."""

    def __init__(self, length: float, share: float) -> None:
        super().__init__("nights", Params(1.0))
        self.length, self.share = length, share

    @hook(Phase.ENCODE, reads=(), adds=(), sets=(SLEEP_ONSET, SLEEP_END))
    def wake(self, view: Any, incoming: Any) -> None:
        view.sleep_onset, view.sleep_end = START + 14.0, START + 14.0 + self.length

    @hook(Phase.CONSOLIDATE, reads=(), adds=(), sets=(SLEEP_ONSET, SLEEP_END, SLEEP_SHARE))
    def sleep(self, view: Any, tick: Any) -> None:
        view.sleep_onset, view.sleep_end = (
            view.sleep_onset + 24.0,
            view.sleep_onset + 24.0 + self.length,
        )
        view.sleep_share = self.share


def engine(specimen: Any, *others: Any, time_scale: float = 2400.0, **changes: float) -> Engine:
    return Engine([*others, clock(specimen, time_scale, **changes)], HashingEmbedder(16))


def value(memory: Engine, column: Any) -> float:
    return float(memory.store.array(column).item())


# --- theta ----------------------------------------------------------------------------------------
@equation(
    "CM-9.1",
    source=f"{HASSELMO}: integral over a cycle of th_LTP th; quadrature of its sines",
    atol=1e-9,
    papers=("hasselmo2002proposed",),
)
def a_path_learns_by_its_phase_relative_to_plasticity(specimen: Any) -> Any:
    return [specimen.learnt_in_a_cycle(*case) for case in cases()], [
        over_a_cycle(lambda t, x=x, phi=phi, ltp=ltp: np.sin(t + ltp) * gate(t, phi, x))
        for x, phi, ltp in cases()
    ]


@equation(
    "CM-9.1b",
    source="closed form (pi X / 2) cos(phi_LTP - phi) of the product of the two modulations, by quadrature",
    atol=1e-9,
    papers=("hasselmo2002proposed",),
)
def the_product_of_the_modulations_integrates_to_the_closed_form(specimen: Any) -> Any:
    def product(t: float, x: float, phi: float, ltp: float) -> float:
        return float(specimen.plasticity(t, ltp) * specimen.transmission(t, phi, x))

    return [over_a_cycle(lambda t, case=case: product(t, *case)) for case in cases()], [
        math.pi * x / 2 * math.cos(ltp - phi) for x, phi, ltp in cases()
    ]


@reference(
    "CM-9.1c",
    source="+1.5708 in phase, 0 at 90 degrees, -1.5708 in antiphase",
    atol=5e-5,
    rtol=0.0,
    figure="learning",
    papers=("hasselmo2002proposed",),
)
def a_path_learns_in_phase_and_unlearns_in_antiphase(specimen: Any) -> Any:
    return [specimen.learnt_in_a_cycle(1.0, phi, 0.0) for phi in (0.0, math.pi / 2, math.pi)], [
        1.5708,
        0.0,
        -1.5708,
    ]


@limit(
    "CM-9.2",
    source=f"{HASSELMO}: X = 0, no modulation",
    atol=1e-12,
    papers=("hasselmo2002proposed",),
)
def without_modulation_transmission_is_one_and_nothing_is_learnt(specimen: Any) -> Any:
    passed = [specimen.transmission(t, phi, 0.0) for t in (0.0, 1.0, 4.0) for phi in PHASES]
    learnt = [specimen.learnt_in_a_cycle(0.0, phi, 0.0) for phi in PHASES]
    return [*passed, *learnt, specimen.weight_change(1.0, 1.0, 1.0, 0.0, 0.0, math.pi, 0.0)], [
        1.0
    ] * 18 + [0.0] * 7


@equation(
    "CM-9.2b",
    source="mean of a modulation 1 - X / 2, by quadrature; extremes 1 and 1 - X",
    atol=1e-9,
    figure="theta_gates",
    papers=("hasselmo2002proposed",),
)
def mean_transmission_is_one_minus_half_the_depth(specimen: Any) -> Any:
    means = [
        over_a_cycle(lambda t, x=x: specimen.transmission(t, 0.4, x)) / (2 * math.pi)
        for x in DEPTHS
    ]
    ends = [specimen.transmission(math.pi / 2, phi, 0.8) for phi in (0.0, math.pi)]
    return [*means, *ends], [*(1.0 - x / 2 for x in DEPTHS), 1.0, 0.2]


@signature(
    "CM-9.3",
    source=f"{HASSELMO}: separate phases are best; all phases in steps of 15 degrees",
    figure="learning",
    papers=("hasselmo2002proposed", "hasselmo2005function"),
)
def learning_without_strengthening_recalled_associations_is_best_in_opposite_phases(
    specimen: Any,
) -> Any:
    grid = np.radians(np.arange(0, 360, 15))
    learnt = np.array([specimen.learnt_in_a_cycle(1.0, phi, 0.0) for phi in grid]) / (2.0 * math.pi)
    score = learnt[:, None] - learnt[None, :]
    best, worst = (np.unravel_index(f(score), score.shape) for f in (np.argmax, np.argmin))
    measured = [*np.degrees(grid[[*best, *worst]]), score.max(), score.min()]
    return bool(np.allclose(measured, [0.0, 180.0, 180.0, 0.0, 0.5, -0.5], atol=1e-9))


@equation(
    "CM-9.W",
    source=f"{HASSELMO}: dW/dt = th_LTP a_CA1 a_CA3^T with both paths, W for recall; solve_ivp at a small rate",
    rtol=5e-4,
    atol=5e-4,
    papers=("hasselmo2002proposed",),
)
def the_change_of_a_synapse_follows_the_differential_equation(specimen: Any) -> Any:
    rate, measured, expected = 1e-5, [], []
    for ec, w, ca3, x, ec_phase, ca3_phase, ltp in (
        (1.0, 0.0, 1.0, 1.0, 0.0, math.pi, 0.0),
        (0.0, 0.8, 0.7, 1.0, 0.0, math.pi, 0.0),
        (0.6, 0.5, 1.2, 0.4, 0.3, 2.0, 1.0),
    ):

        def change(
            t: float,
            weight: Any,
            ec: float = ec,
            ca3: float = ca3,
            x: float = x,
            a: float = ec_phase,
            b: float = ca3_phase,
            ltp: float = ltp,
        ) -> Any:
            return (
                rate * math.sin(t + ltp) * (gate(t, a, x) * ec + gate(t, b, x) * weight * ca3) * ca3
            )

        end = solve_ivp(change, (0.0, 2.0 * math.pi), [w], rtol=1e-11, atol=1e-15).y[0, -1]
        measured.append(specimen.weight_change(ec, w * ca3, ca3, x, ec_phase, ca3_phase, ltp))
        expected.append((end - w) / rate)
    return measured, expected


@signature(
    "CM-9.R",
    source=f"{HASSELMO}: reversal; with recall in phase the old association grows as the new one is learnt",
    figure="reversal",
    papers=("hasselmo2002proposed", "hasselmo2005function"),
)
def separate_phases_allow_reversal_of_an_association(specimen: Any) -> Any:
    def learnt(recall_phase: float) -> tuple[float, float]:
        a, b = 1.0, 0.0
        for _ in range(60):
            da, db = (
                0.01 * specimen.weight_change(now, w, 1.0, 1.0, 0.0, recall_phase, 0.0)
                for now, w in ((0.0, a), (1.0, b))
            )
            a, b = a + da, b + db
        return a, b

    reversed_, stuck = learnt(math.pi), learnt(0.0)
    down, up = (1.0 - 0.005 * math.pi) ** 60, (1.0 + 0.005 * math.pi) ** 60
    return bool(
        np.allclose([*reversed_, *stuck], [down, 1.0 - down, up, up - 1.0])
        and reversed_[1] > reversed_[0]
        and stuck[0] > stuck[1]
    )


@equation(
    "CM-9.P",
    source="definition: 2 pi times the fraction of a cycle; exact fractions",
    atol=1e-6,
    rtol=0.0,
)
def phase_follows_time_exactly(specimen: Any) -> Any:
    times, f = (0.0, 0.05, 0.1, 3.7, 1000.123), 9.375
    return [specimen.phase(t, f) for t in times], [
        2 * math.pi * float(Fraction(t) * Fraction(f) % 1) for t in times
    ]


# --- gamma ----------------------------------------------------------------------------------------
@reference(
    "CM-9.4",
    source="Lisman & Jensen 2013: whole cycles of gamma in one of theta; 40 Hz in 6 Hz, 6.67 items",
    papers=("lisman2013theta",),
)
def gamma_in_theta_gives_the_span_of_memory(specimen: Any) -> Any:
    spans = [
        specimen.capacity(g, th)
        for g, th in ((40.0, 6.0), (40.0, 6.25), (35.0, 7.0), (63.0, 7.0), (42.0, 6.0))
    ]
    return spans, [6, 6, 5, 9, 7]


@equation(
    "CM-9.4b",
    source="definition of a queue; collections.deque with a maximum length",
    papers=("lisman1995storage", "lisman2013theta"),
)
def working_memory_is_a_queue_of_that_length(specimen: Any) -> Any:
    measured, expected = [], []
    for n in (1, 5, 6, 9):
        buffer, queue = np.full(WORKING_MEMORY_SLOTS, -1, dtype=np.int32), deque[int](maxlen=n)
        for item in range(25):
            specimen.hold(buffer, item, n)
            queue.append(item)
            measured.append(buffer.copy())
            expected.append([*queue, *[-1] * (WORKING_MEMORY_SLOTS - len(queue))])
    return np.array(measured), np.array(expected)


@equation(
    "CM-9.4c",
    source="definition of a queue that has become shorter: the newest items stay",
    papers=("lisman1995storage",),
)
def a_shorter_queue_keeps_its_newest_items(specimen: Any) -> Any:
    buffer, measured = np.arange(WORKING_MEMORY_SLOTS, dtype=np.int32), []
    for item, n in ((20, 6), (21, 2), (22, 4), (23, 4), (24, 1)):
        specimen.hold(buffer, item, n)
        measured.append(buffer.tolist())
    kept = ([4, 5, 6, 7, 8, 20], [20, 21], [20, 21, 22], [20, 21, 22, 23], [24])
    return measured, [[*items, *[-1] * (WORKING_MEMORY_SLOTS - len(items))] for items in kept]


@adaptation("CM-9.4d", source="ours: a ratio within 1e-9 of a whole number counts as whole")
def rounding_does_not_cost_an_item(specimen: Any) -> Any:
    return [
        specimen.capacity(0.6, 0.2),
        specimen.capacity(6.0 - 0.9e-9, 1.0),
        specimen.capacity(6.0 - 1.1e-9, 1.0),
    ], [3, 6, 5]


# --- ripples --------------------------------------------------------------------------------------
@equation("CM-9.N", source="definition of a rate: mean of exponential intervals, drawn", rtol=0.01)
def ripples_occur_at_their_rate(specimen: Any) -> Any:
    trains = np.random.default_rng(0).exponential(1.0 / 1800.0, size=(40, 18000)).cumsum(axis=1)
    return specimen.ripples(1800.0, 8.0), float((trains < 8.0).sum(axis=1).mean())


@data(
    "CM-9.N2",
    source="Buzsaki 2015: 0.1 to 2 ripples a second of slow-wave sleep",
    papers=("buzsaki2015hippocampal",),
    subjects="rodents of many studies, as reviewed",
)
def the_default_rate_is_in_the_published_range(specimen: Any) -> Any:
    return between(plug_in(specimen).hours("ripple_rate") / 3600.0, 0.1, 2.0)


# --- in an engine ---------------------------------------------------------------------------------
@adaptation("OSC-1", source="a queue, emptied at each new session and long pause", needs="engine")
def working_memory_holds_the_last_turns_of_the_session(specimen: Any) -> Any:
    memory, queue, measured, expected = engine(specimen), deque[int](maxlen=6), [], []
    times = np.cumsum([0, *[1] * 8, 6, 1, 7, 1, 1, 1, 6.5, *[1] * 7])
    sessions = "a" * 13 + "b" * 10
    for i, (minute, session) in enumerate(zip(times, sessions, strict=True)):
        if i and (times[i] - times[i - 1] > 6.4 or session != sessions[i - 1]):
            queue.clear()
        memory.encode(Event(START + minute * MINUTE, f"turn {i}", session=session))
        queue.append(i)
        measured.append(memory.store.array(WORKING_MEMORY).copy())
        expected.append([*queue, *[-1] * (WORKING_MEMORY_SLOTS - len(queue))])
    return np.array(measured), np.array(expected)


@adaptation(
    "OSC-2", source="a common time scale: 25 ms and 160 ms, 2400 times slower", needs="engine"
)
def a_gamma_cycle_is_a_minute_and_all_rhythms_scale_together(specimen: Any) -> Any:
    memory, paper, ours = engine(specimen), clock(specimen, 1.0), clock(specimen)
    memory.encode(Event(START, "hello"))
    ratios = [paper.hours(n) / ours.hours(n) for n in ("theta", "gamma", "ripple_rate")]
    measured = [
        value(memory, WORKING_MEMORY_STEP),
        3.6e6 / paper.hours("gamma"),
        3.6e6 / paper.hours("theta"),
        *ratios,
    ]
    return measured, [MINUTE, 25.0, 160.0, *[2400.0] * 3]


@adaptation(
    "OSC-3",
    source="learning of input and of recall over a cycle, relative to the maximum",
    atol=1e-9,
    needs="engine",
)
def recall_reverses_the_sign_of_learning(specimen: Any) -> Any:
    measured = []
    for x, ca3 in ((1.0, math.pi), (0.5, math.pi), (1.0, math.pi / 3)):
        memory = engine(specimen, depth=x, phase_ca3=ca3)
        memory.encode(Event(START, "hello there"))
        encoding = value(memory, LTP)
        memory.retrieve("hello")
        asked = value(memory, LTP)
        memory.retrieve("hello", learn=True)
        recalled = value(memory, LTP)
        memory.advance(START + 24.0)
        measured += [encoding, asked, recalled, value(memory, LTP)]
    return measured, [1.0, 1.0, -1.0, 1.0, 0.5, 0.5, -0.5, 1.0, 1.0, 1.0, 0.5, 1.0]


@adaptation(
    "OSC-4",
    source="ripples of the sleep over those of a usual night, at any SLEEP_SHARE",
    rtol=1e-9,
    needs="engine",
)
def the_amount_of_replay_is_proportional_to_the_length_of_sleep(specimen: Any) -> Any:
    measured = []
    for length, share, rate in ((8.0, 1.0, 0.5), (4.0, 0.7, 0.5), (8.0, 1.3, 1.0), (4.0, 0.0, 0.5)):
        memory = engine(specimen, Nights(length, share), ripple_rate=rate)
        memory.encode(Event(START, "hello"))
        memory.advance(START + 24.0)
        measured.append(value(memory, RIPPLES) * value(memory, SLEEP_SHARE))
    return measured, [1.0, 0.5, 2.0, 0.0]


@adaptation(
    "OSC-4b",
    source="definition: if no mechanism schedules sleep, it is a usual night",
    rtol=1e-9,
    needs="engine",
)
def without_sleep_times_every_night_is_full(specimen: Any) -> Any:
    memory = engine(specimen)
    memory.encode(Event(START, "hello"))
    memory.advance(START + 24.0)
    return value(memory, RIPPLES), 1.0


@adaptation(
    "OSC-4c",
    source="an interrupted sleep replays in proportion to its length",
    rtol=1e-9,
    needs="engine",
)
def an_interrupted_night_replays_less(specimen: Any) -> Any:
    memory = engine(specimen, Nights(8.0, 0.5))
    memory.encode(Event(START, "hello"))
    memory.encode(Event(START + 16.0, "are you awake?"))
    return value(memory, RIPPLES) * 0.5, 0.25


@adaptation("OSC-5", source="2 pi f t since the session began", atol=1e-6, rtol=0.0, needs="engine")
def theta_restarts_with_a_session(specimen: Any) -> Any:
    memory, measured, expected = engine(specimen), [], []
    for session, begin, minute in (
        ("a", 0.0, 0.0),
        ("a", 0.0, 2.0),
        ("a", 0.0, 9.0),
        ("b", 11.0, 11.0),
        ("b", 11.0, 100.0),
    ):
        memory.encode(Event(START + minute * MINUTE, "turn", session=session))
        measured.append(value(memory, specimen.THETA_PHASE))
        expected.append(2 * math.pi * ((minute - begin) / 6.4 % 1.0))
    return measured, expected


@adaptation("OSC-6", source="definition: no more slots than the engine has", needs="engine")
def fast_gamma_fills_at_most_the_slots_of_the_engine(specimen: Any) -> Any:
    memory = engine(specimen, gamma=90.0, theta=4.0)
    memory.encode_all(Event(START + i * MINUTE, f"turn {i}") for i in range(20))
    held = memory.store.array(WORKING_MEMORY)
    return (
        at_least(held, 11.0).passed
        and at_most(held, 19.0).passed
        and bool((np.diff(held) == 1).all())
    )


# Theta cycles, session, and whether the event is stored; a pause of 1.3 cycles, a second session,
# and the first one again.
TURNS = ((0.0, "a", True), (0.3, "a", True), (0.9, "a", True), (2.2, "a", True), *((2.3 + 0.1 * i,
    "a", True) for i in range(8)), (3.05, "b", False),
         (3.15, "b", True), (3.2, "b", True), (3.3, "a", False), (3.45, "b", True), (3.5, "a",
         True))  # fmt: skip
SLEEPS = ((0.5, 1.0), (4.0, 0.7), (8.0, 1.3), (2.0, 0.0))
ODD: dict[str, Any] = {"depth": 0.7, "phase_ec": 0.4, "phase_ca3": 2.5, "phase_ltp": 1.1,
                       "ripple_rate": 0.3, "usual_rate": 0.8, "night": 6.0}  # fmt: skip


def day_of_a_memory(specimen: Any, time_scale: float | None, start: float) -> tuple[Any, Any]:
    """Turns, a question without and one with learning after each, and four sleeps; and the same
    day from the paper's numbers in seconds.
    """
    kappa = 2400.0 if time_scale is None else time_scale
    cycle = kappa / PAPER["theta"] / 3600.0  # h
    learnt = [
        over_a_cycle(lambda t, phi=phi: np.sin(t + 1.1) * gate(t, phi, 0.7)) / (math.pi / 2)
        for phi in (0.4, 2.5)
    ]
    night = iter(SLEEPS)
    present: list[Any] = [None]

    def reject(view: Any, incoming: Any) -> None:
        view.veto = int(incoming.event.text == "off the record")
        view.sleep_onset, view.sleep_end = start + 14.0, start + 14.0 + SLEEPS[0][0]

    def wake(view: Any, tick: Any) -> None:
        _, view.sleep_share = present[0] = next(night)
        k = SLEEPS.index(present[0]) + 1
        view.sleep_onset, view.sleep_end = (
            start + 14.0 + 24.0 * k,
            start + 14.0 + 24.0 * k + SLEEPS[min(k, 3)][0],
        )

    memory = memory_of(
        specimen,
        "lexical_bm25",
        neighbour(Phase.ENCODE, reject, adds=(VETO,), sets=(SLEEP_ONSET, SLEEP_END)),
        neighbour(Phase.CONSOLIDATE, wake, sets=(SLEEP_ONSET, SLEEP_END, SLEEP_SHARE), id="waker"),
        time_scale=time_scale,
        **ODD,
    )
    measured, expected = list[float](), list[float]()
    queue, row, last, began, session = deque[int](maxlen=6), -1, (0.0, ""), 0.0, ""

    def compare(columns: tuple[Any, ...], values: Any) -> None:
        measured.extend(float(x) for c in columns for x in memory.column(c).ravel())
        expected.extend(values)

    for i, (at, of, stored) in enumerate(TURNS):
        encode(
            memory,
            Event(
                start + at * cycle,
                f"turn {i}" if stored else "off the record",
                session=of,
                dated=False,
            ),
        )
        began, session = (began, session) if of == session else (at, of)
        if stored:
            row += 1
            if of != last[1] or at - last[0] > 1.0:
                queue.clear()
            queue.append(row)
            last = at, of
        held = [*queue, *[-1] * (WORKING_MEMORY_SLOTS - len(queue))]
        compare(
            (WORKING_MEMORY, WORKING_MEMORY_STEP, specimen.THETA_PHASE, LTP),
            [
                *held,
                kappa / PAPER["gamma"] / 3600.0,
                2.0 * math.pi * ((at - began) % 1.0),
                learnt[0],
            ],
        )
        memory.retrieve("turn", k=1)
        compare((LTP,), learnt[:1])
        memory.retrieve("turn", k=1, learn=True)
        compare((LTP,), learnt[1:])
    for k, (length, share) in enumerate(SLEEPS):
        memory.advance(start + 14.0 + 24.0 * k + length)
        compare(
            (specimen.RIPPLE_TIME, LTP, RIPPLES),
            [length / 6.0, 1.0, length * 0.3 / (6.0 * 0.8) / share if share else 0.0],
        )
    return measured, expected


@equation(
    "OSC-7",
    source=f"{HASSELMO}, by quadrature; Lisman & Idiart 1995: as many items as gamma cycles in a theta cycle; sleep and resets are "
    "ours",
    rtol=1e-6,
    atol=1e-6,
    papers=("hasselmo2002proposed", "lisman1995storage"),
)
def a_day_of_a_memory_at_the_papers_time_scale(specimen: Any) -> Any:
    return day_of_a_memory(specimen, 1.0, 9.0)


@equation(
    "OSC-8",
    source="as OSC-7 with 2400 simulated seconds for one: Lisman & Idiart 1995",
    rtol=1e-6,
    atol=1e-6,
    papers=("hasselmo2002proposed", "lisman1995storage"),
)
def a_day_of_a_memory_at_its_default_time_scale(specimen: Any) -> Any:
    return day_of_a_memory(specimen, None, START)


@adaptation(
    "OSC-9",
    source="definition: a pause of exactly one cycle empties nothing; quarters of an hour, exact in binary",
)
def a_pause_of_exactly_a_cycle_empties_nothing(specimen: Any) -> Any:
    memory = memory_of(specimen, time_scale=3600.0, theta=4.0, gamma=32.0)
    encode(memory, (0.0, "turn"), (0.25, "turn"), (0.5, "turn"))
    return memory.column(WORKING_MEMORY), [0, 1, 2, -1, -1, -1, -1, -1, -1]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "theta_gates",
    caption="Input from the cortex passes while synapses potentiate, recall while they depress",
    source=f"{HASSELMO}, X = 1",
)
def gates_over_a_cycle(specimen: Any) -> Picture:
    t = np.linspace(0.0, 2.0 * math.pi, 121)
    return Picture(
        "phase of theta, rad",
        "transmission; plasticity",
        (
            Curve("input, EC", t, np.array([specimen.transmission(x, 0.0, 1.0) for x in t])),
            Curve("recall, CA3", t, np.array([specimen.transmission(x, math.pi, 1.0) for x in t])),
            Curve("plasticity", t, np.array([specimen.plasticity(x, 0.0) for x in t])),
        ),
    )


@figure(
    "learning",
    caption="Learning of a path in a cycle is proportional to the cosine of its phase relative to plasticity: positive in phase, "
    "negative in antiphase",
    source=f"{HASSELMO}: +1.5708 in phase, 0 at 90 degrees, -1.5708 in antiphase",
)
def learning_over_phase(specimen: Any) -> Picture:
    degrees = np.arange(0.0, 361.0, 7.5)
    return Picture(
        "phase of the path relative to plasticity, degrees",
        "learnt in a cycle",
        (
            *(
                Curve(
                    f"X = {x:g}",
                    degrees,
                    np.array(
                        [specimen.learnt_in_a_cycle(x, phi, 0.0) for phi in np.radians(degrees)]
                    ),
                )
                for x in (1.0, 0.5, 0.0)
            ),
            dots("closed form", [0.0, 90.0, 180.0], [math.pi / 2, 0.0, -math.pi / 2]),
        ),
    )


@figure(
    "reversal",
    caption="With recall in antiphase the new association replaces the old one; in phase the old one grows faster than the "
    "new one",
    source=f"{HASSELMO}, reversal",
)
def associations_over_cycles(specimen: Any) -> Picture:
    curves = []
    for where, phase in (("antiphase", math.pi), ("in phase", 0.0)):
        change = [
            0.01 * specimen.weight_change(*path, 1.0, 1.0, 0.0, phase, 0.0)
            for path in ((0.0, 1.0), (1.0, 0.0), (0.0, 0.0))
        ]
        course = [np.array([1.0, 0.0])]
        for _ in range(60):
            old, new = course[-1]
            # the recalled association adds to the input
            course.append(course[-1] + [old * change[0], change[1] + new * change[0]])
        curves += [
            Curve(f"{name}, {where}", np.arange(61), np.array(course)[:, k])
            for k, name in enumerate(("old", "new"))
        ]
    return Picture("theta cycles of reversal", "weight", tuple(curves))


@adaptation("OSC-10", source=dreams.SOURCE)
def what_sleep_made_empties_no_working_memory(specimen: Any) -> Any:
    # a cycle of theta takes more than an hour
    memory = memory_of(
        specimen, dreams.dreaming(), consolidate_every=0.5, time_scale=36000.0, theta=8.0
    )
    for hour, text in ((23.5, "a kite"), (24.2, "a boat")):
        memory.encode(Event(hour, text, "Ada", "s", dated=False))
    return memory.store.array(WORKING_MEMORY)[:3], [0, 2, -1]


# --- mutants --------------------------------------------------------------------------------------
@mutant("a cosine envelope that never depresses", rejected_by="CM-9.1b")
def envelope(specimen: Any) -> Any:
    return specimen.replacing("plasticity", lambda t, phi: 0.65 + 0.35 * math.sin(t + phi))


@mutant("learning without depression: only its positive half", rejected_by="CM-9.3")
def no_depression(specimen: Any) -> Any:
    return specimen.replacing(
        "learnt_in_a_cycle", lambda x, phi, ltp: max(specimen.learnt_in_a_cycle(x, phi, ltp), 0.0)
    )


@mutant("learning that does not depend on the depth", rejected_by="CM-9.2")
def depthless(specimen: Any) -> Any:
    return specimen.replacing(
        "learnt_in_a_cycle", lambda x, phi, ltp: specimen.learnt_in_a_cycle(1.0, phi, ltp)
    )


@mutant("a modulation around 1", rejected_by="CM-9.2b")
def around_one(specimen: Any) -> Any:
    return specimen.replacing("transmission", lambda t, phi, x: 1.0 + 0.5 * x * math.sin(t + phi))


@mutant("recall without effect on the weight", rejected_by="CM-9.W")
def no_recall(specimen: Any) -> Any:
    return specimen.replacing(
        "weight_change", lambda ec, recalled, *rest: specimen.weight_change(ec, 0.0, *rest)
    )


@mutant("recall strengthens itself", rejected_by="CM-9.R")
def self_strengthening(specimen: Any) -> Any:
    return specimen.replacing(
        "weight_change",
        lambda ec, recalled, *rest: (
            specimen.weight_change(ec, abs(recalled), *rest)
            if ec
            else abs(specimen.weight_change(ec, recalled, *rest))
        ),
    )


@rival("a ripple a minute, still many a night", rejected_by="CM-9.N2")
def rare_ripples(specimen: Any) -> Any:
    return with_numbers(specimen, ripple_rate=1.0 / 60.0)


@mutant("seven items at any frequencies", rejected_by="CM-9.4")
def seven(specimen: Any) -> Any:
    return specimen.replacing("capacity", lambda f_gamma, f_theta: 7)


@mutant("a full working memory accepts no item", rejected_by="CM-9.4b")
def full(specimen: Any) -> Any:
    return specimen.replacing(
        "hold",
        lambda buffer, item, n: (
            None if (buffer >= 0).sum() >= n else specimen.hold(buffer, item, n)
        ),
    )


@mutant("phase not reduced modulo 2 pi", rejected_by="CM-9.P")
def whole(specimen: Any) -> Any:
    return specimen.replacing("phase", lambda t, f: 2.0 * math.pi * t * f)


@mutant("every sleep has the ripples of a night", rejected_by="OSC-4")
def always(specimen: Any) -> Any:
    return specimen.replacing("ripples", lambda rate, hours: 1.0)


@mutant("ripples by the square of time", rejected_by="CM-9.N")
def squared(specimen: Any) -> Any:
    return specimen.replacing("ripples", lambda rate, hours: rate * hours * hours)


@mutant("recall learns as input does", rejected_by="OSC-3")
def no_turn(specimen: Any) -> Any:
    def learning(self: Any, ec: float, recalled: float) -> float:
        return abs(float(specimen.OscillatoryClock.learning(self, ec, recalled)))

    return specimen.overriding("OscillatoryClock", learning=learning)


@mutant("theta has no phase of its own in a session", rejected_by="OSC-7")
def no_session(specimen: Any) -> Any:
    @hook(
        Phase.ENCODE,
        reads=(),
        adds=(),
        sets=(specimen.THETA_SESSION, specimen.THETA_START, specimen.THETA_PHASE, LTP),
    )
    def beat(self: Any, view: Any, incoming: Any) -> None:
        view.theta_session, view.theta_start, view.theta_phase = incoming.session, 0.0, 0.0
        view.ltp = self.learning(1.0, 0.0)

    return specimen.overriding("OscillatoryClock", beat=beat)


@mutant("sleep counts in hours, not in nights", rejected_by="OSC-8")
def in_hours(specimen: Any) -> Any:
    def ripple(self: Any, view: Any, tick: Any) -> None:
        specimen.OscillatoryClock.ripple(self, view, tick)
        view.ripples *= self.params.night

    return specimen.overriding("OscillatoryClock", ripple=ripple)


@mutant("theta slowed down, gamma not", rejected_by="OSC-2")
def own_scale(specimen: Any) -> Any:
    def hours(self: Any, parameter: str) -> float:
        return float(specimen.OscillatoryClock.hours(self, parameter)) * (
            self.params.time_scale if parameter == "gamma" else 1.0
        )

    return specimen.overriding("OscillatoryClock", hours=hours)


@mutant("what sleep made is the event before", rejected_by="OSC-10")
def after_a_dream(specimen: Any) -> Any:
    def keep(self: Any, view: Any, incoming: Any) -> None:
        specimen.OscillatoryClock.keep(self, view, replace(incoming, before=int(view.row) - 1))

    return specimen.overriding("OscillatoryClock", keep=keep)
