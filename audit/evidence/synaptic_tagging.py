"""Evidence for synaptic_tagging, in the paper's hours and millivolts.  References: closed forms of
single crossings, and the differential equations of the whole system in a general solver; none calls
a kernel it judges.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import LOG_STRENGTH, SALIENCE
from ..checks import adaptation, at_most, between, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour
from ..paper_numbers import paper_number
from .shared.scripts import refusing

LT = "Luboeinski & Tetzlaff 2021"
H0, GAMMA_P, GAMMA_D, TAU_H = 4.20075, 1645.6, 313.1, 688.4 / 3600.0
THETA_TAG, THETA_PRO, TAU_P, TAU_Z, DECAY, ALPHA = 0.840149, 2.10037, 1.0, 1.0, 6884.0 / 3600.0, 1.0
# simulated hours for one, by default
KAPPA = 15.6
CODE = "parameters of the network simulation, as in the authors' code, Network.cpp"
NUMBERS = tuple(paper_number(name, value, unit, paper="luboeinski2021memory", where=CODE) for name,
                value, unit in (
    ("h0", H0, "mV"), ("gamma_p", GAMMA_P, "1"), ("gamma_d", GAMMA_D, "1"), ("tau_h", TAU_H, "h"),
    ("theta_tag", THETA_TAG, "mV"),
    ("theta_pro", THETA_PRO, "mV"), ("tau_p", TAU_P, "h"), ("tau_z", TAU_Z, "h"), ("alpha", ALPHA,
    "1")))  # fmt: skip
FULL = (0.1 * H0 + 10.0 * GAMMA_P) / (0.1 + GAMMA_P + GAMMA_D) - H0  # h* - h0
WEAK, STRONG = 0.5 * FULL, FULL
# time h, h - h0 mV, neurons
Events = Sequence[tuple[float, float, tuple[int, ...]]]


# --- the specimen and the reference on the same events --------------------------------------------
def network(events: Events) -> tuple[NDArray[Any], ...]:
    """start, degree, pool, target of links memory -> neuron and back, oldest first; neuron k is
    the node -1 - k.
    """
    neurons = 1 + max(n for _, _, on in events for n in on)
    return blocks(
        [
            link
            for row, (_, _, on) in enumerate(events)
            for n in on
            for link in ((-1 - n, row), (row, -1 - n))
        ],
        len(events) + neurons,
    )


def blocks(links: Sequence[tuple[int, int]], nodes: int) -> tuple[NDArray[Any], ...]:
    """start, degree, pool, target of links, each a pair of nodes."""
    source = np.array([s % nodes for s, _ in links])
    degree = np.bincount(source, minlength=nodes)
    return (
        np.cumsum(degree) - degree,
        degree,
        np.argsort(source, kind="stable"),
        np.array([t for _, t in links]),
    )


def late(
    specimen: Any, events: Events, at: float, *, alpha: float = 1.0, looks: Sequence[float] = ()
) -> NDArray[np.float64]:
    """The specimen's z of every memory at a time, also computed at the earlier times `looks`."""
    links, n = network(events), len(events)
    created, induced, out = (
        np.array([t for t, _, _ in events]),
        np.array([c for _, c, _ in events]),
        np.zeros(n),
    )
    drive, proteins, synthesis = (
        np.zeros(len(links[3])),
        np.zeros(len(links[3])),
        np.full(len(links[3]), specimen.NO_SYNAPSE),
    )
    since, longest = -math.inf, DECAY * math.log(FULL / THETA_TAG)
    done = 0
    for time in (*looks, at):
        while done < n and created[done] <= time:
            specimen.induce(
                done,
                created[done],
                induced[done],
                THETA_PRO,
                alpha,
                DECAY,
                TAU_P,
                *links,
                created,
                drive,
                proteins,
                synthesis,
            )
            done += 1
        specimen.capture(
            time,
            since,
            longest,
            THETA_TAG,
            THETA_PRO,
            alpha,
            DECAY,
            TAU_P,
            TAU_Z,
            *links,
            created,
            induced,
            drive,
            proteins,
            synthesis,
            out,
        )
        since = time
    return out


def solved(
    events: Events, at: float, tau_p: float = TAU_P, tau_z: float = TAU_Z
) -> NDArray[np.float64]:
    """z of every memory at a time, from the differential equations."""
    return np.array(solution(tuple(events), at, tau_p, tau_z))


@functools.cache
def solution(
    events: tuple[tuple[float, float, tuple[int, ...]], ...], at: float, tau_p: float, tau_z: float
) -> tuple[float, ...]:
    n, neurons = len(events), 1 + max(k for _, _, on in events for k in on)
    on = np.array([[k in e[2] for k in range(neurons)] for e in events], dtype=float)

    def slope(_: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        h, p, z = y[:n], y[n : n + neurons], y[n + neurons :].reshape(n, neurons)
        x = (h - H0)[:, None]
        dz = p * ((1.0 - z) * (x > THETA_TAG) - (z + 0.5) * (-x > THETA_TAG)) / tau_z
        return np.concatenate(
            [
                0.1 * (H0 - h) / TAU_H,
                (-p + ALPHA * (on.T @ np.abs(h - H0) > THETA_PRO)) / tau_p,
                (dz * on).ravel(),
            ]
        )

    y = np.concatenate([np.full(n, H0), np.zeros(neurons + n * neurons)])
    times = [t for t, _, _ in events]
    for k, (time, change, _) in enumerate(events):
        y[k] = H0 + change
        end = times[k + 1] if k + 1 < n else at
        if end > time:
            y = solve_ivp(
                slope, (time, end), y, method="RK45", max_step=0.01, rtol=1e-7, atol=1e-9
            ).y[:, -1]
    z = y[n + neurons :].reshape(n, neurons)
    return tuple((z * on).sum(axis=1) / np.maximum(on.sum(axis=1), 1.0))


def weak_and_ten_strong(lag: float) -> Events:
    """A weak memory at 0, ten strong ones `lag` hours later, all on one neuron."""
    return sorted([(0.0, WEAK, (0,)), *[(lag, STRONG, (0,))] * 10])


def of_the_weak(specimen: Any, lag: float, wait: float = 24.0) -> float:
    events = weak_and_ten_strong(lag)
    z = late(specimen, events, max(0.0, lag) + wait)
    return float(z[[c for _, c, _ in events].index(WEAK)])


# --- the equations --------------------------------------------------------------------------------
def settled(specimen: Any, up: bool, down: bool) -> float:
    return float(specimen.early_phase(H0, math.inf, up, down, H0, GAMMA_P, GAMMA_D, TAU_H))


@equation(
    "CM-4.1",
    source=f"{LT}: (0.1 h0 + 10 gamma_p) / (0.1 + gamma_p + gamma_d), 0.1 h0 / (0.1 + gamma_d)",
    atol=1e-9,
    papers=("luboeinski2021memory",),
)
def calcium_drives_the_early_phase_to_its_fixed_points(specimen: Any) -> Any:
    return [
        settled(specimen, True, True),
        settled(specimen, False, True),
        settled(specimen, False, False),
    ], [(0.1 * H0 + 10.0 * GAMMA_P) / (0.1 + GAMMA_P + GAMMA_D), 0.1 * H0 / (0.1 + GAMMA_D), H0]


@equation(
    "CM-4.1b",
    source=f"{LT}: published parameters, h* = 2 h0",
    atol=1e-3,
    papers=("luboeinski2021memory",),
)
def full_potentiation_doubles_the_weight(specimen: Any) -> Any:
    return [settled(specimen, True, True), settled(specimen, False, True)], [2.0 * H0, 0.0013]


@equation(
    "CM-4.1c", source="solve_ivp of the early phase", atol=1e-7, papers=("luboeinski2021memory",)
)
def the_early_phase_follows_its_differential_equation(specimen: Any) -> Any:
    measured, expected = [], []
    for up, down, t in ((True, True, 1e-4), (False, True, 4e-4), (False, False, 1.5)):

        def slope(_: float, h: Any, up: bool = up, down: bool = down) -> Any:
            return (0.1 * (H0 - h) + GAMMA_P * (10.0 - h) * up - GAMMA_D * h * down) / TAU_H

        measured.append(specimen.early_phase(6.0, t, up, down, H0, GAMMA_P, GAMMA_D, TAU_H))
        expected.append(
            solve_ivp(slope, (0.0, t), [6.0], method="LSODA", rtol=1e-10, atol=1e-10).y[0, -1]
        )
    return measured, expected


@equation(
    "CM-4.2",
    source=f"{LT}: 1.9122 h ln 5 and 1.9122 h ln 2",
    rtol=5e-3,
    papers=("luboeinski2021memory",),
)
def a_strong_tag_lasts_three_hours_and_its_synthesis_one_and_a_third(specimen: Any) -> Any:
    cases = ((FULL, THETA_TAG), (FULL, THETA_PRO), (-WEAK, THETA_TAG))
    return [specimen.above(size, theta, DECAY) for size, theta in cases], [3.078, 1.325, 1.75]


@equation(
    "CM-4.3",
    source="1 - exp(-t / tau_z) and -0.5 (1 - exp(-t / tau_z)) at p = 1",
    papers=("luboeinski2021memory",),
)
def with_proteins_a_tagged_synapse_saturates_exponentially(specimen: Any) -> Any:
    times = [0.1, 1.0, 3.0, math.inf]
    cases = [
        (z, t, end, tau)
        for z, tau in ((0.0, 1.0), (0.3, 2.0))
        for end in (1.0, -0.5)
        for t in times
    ]
    return [specimen.late_phase(z, t, end > 0.0, tau) for z, t, end, tau in cases], [
        z * math.exp(-t / tau) + end * (1.0 - math.exp(-t / tau)) for z, t, end, tau in cases
    ]


@equation(
    "CM-4.3b",
    source="solve_ivp of the protein equation with its integral",
    atol=1e-6,
    papers=("luboeinski2021memory",),
)
def proteins_and_their_integral_follow_the_differential_equation(specimen: Any) -> Any:
    measured, expected = [], []
    for p, drive, t in ((0.0, 9.0, 1.0), (0.3, 4.0, 6.0), (0.8, 1.0, 2.0)):

        def slope(s: float, y: Any, drive: float = drive) -> Any:
            return [-y[0] + (drive * math.exp(-s / DECAY) > THETA_PRO), y[0]]

        measured += [
            f(p, drive, t, THETA_PRO, 1.0, DECAY, 1.0)
            for f in (specimen.proteins_after, specimen.synthesised)
        ]
        expected += list(
            solve_ivp(slope, (0.0, t), [p, 0.0], max_step=0.002, rtol=1e-9, atol=1e-11).y[:, -1]
        )
    return measured, expected


@equation("CM-4.3c", source=f"{LT}: w = h + h0 z, by hand", papers=("luboeinski2021memory",))
def the_weight_is_the_sum_of_both_phases(specimen: Any) -> Any:
    return [
        specimen.weight(H0, 0.0, H0),
        specimen.weight(5.0, 1.0, H0),
        specimen.weight(3.0, -0.5, 4.0),
    ], [H0, 5.0 + H0, 1.0]


@equation(
    "CM-4.10",
    source="solve_ivp of h, p and z of seven synapses, one of them depressed, on three neurons",
    atol=2e-4,
    figure="capture",
    papers=("luboeinski2021memory",),
)
def the_whole_system_follows_its_differential_equations(specimen: Any) -> Any:
    events = [
        (0.0, WEAK, (0,)),
        (0.4, 0.3 * FULL, (0, 1)),
        (0.9, STRONG, (1,)),
        (0.9, 0.25 * FULL, (2,)),
        (2.5, -0.9 * H0, (0, 2)),
        (3.0, STRONG, (0,)),
        (5.0, WEAK, (1, 2)),
    ]
    return np.concatenate([late(specimen, events, at) for at in (5.5, 12.0)]), np.concatenate(
        [solved(events, at) for at in (5.5, 12.0)]
    )


@equation(
    "CM-4.10b",
    source="sums of exponentials, and solve_ivp of p and its integral; -1 and 0 on links that are no synapse",
    atol=2e-4,
    papers=("luboeinski2021memory",),
)
def links_that_are_no_synapse_have_no_effect(specimen: Any) -> Any:
    """Beside the synapses: links of two memories to each other, a link to a neuron without one
    back, and a last one between memories.
    """
    events = [
        (0.0, STRONG, (1,)),
        (0.3, WEAK, (0,)),
        (0.5, STRONG, (0,)),
        (0.9, WEAK, (0,)),
        (1.2, 0.7 * FULL, (0,)),
    ]
    pairs = ((0, -2), (-2, 0), (1, -1), (-1, 1), (1, 0), (0, 1), (2, -1), (-1, 2), (2, -2), (3, -1),
             (-1, 3), (4, -1), (-1, 4), (3, 0))  # fmt: skip
    links, created, induced, z = (
        blocks(pairs, 7),
        np.array([t for t, _, _ in events]),
        np.array([c for _, c, _ in events]),
        np.zeros(5),
    )
    drive, proteins, synthesis = (
        np.zeros(len(pairs)),
        np.zeros(len(pairs)),
        np.full(len(pairs), -1.0),
    )
    for row, (time, change, _) in enumerate(events):
        specimen.induce(
            row,
            time,
            change,
            THETA_PRO,
            ALPHA,
            DECAY,
            TAU_P,
            *links,
            created,
            drive,
            proteins,
            synthesis,
        )
    specimen.capture(
        4.0,
        -math.inf,
        DECAY * math.log(FULL / THETA_TAG),
        THETA_TAG,
        THETA_PRO,
        ALPHA,
        DECAY,
        TAU_P,
        TAU_Z,
        *links,
        created,
        induced,
        drive,
        proteins,
        synthesis,
        z,
    )
    expected = np.array([(0.0, 0.0, -1.0)] * len(pairs))
    for link, (source, row) in enumerate(pairs):
        if source < 0:
            before = [(t, abs(c)) for t, c, on in events[: row + 1] if -1 - source in on]

            def synthesis_of(t: float, y: Any, before: Any = before) -> Any:
                return [
                    (
                        ALPHA
                        * (
                            sum(c * math.exp(-(t - at) / DECAY) for at, c in before if at <= t)
                            > THETA_PRO
                        )
                        - y[0]
                    )
                    / TAU_P,
                    y[0],
                ]

            now = before[-1][0]
            sums = (
                solve_ivp(synthesis_of, (0.0, now), [0.0, 0.0], max_step=0.005).y[:, -1]
                if now
                else (0.0, 0.0)
            )
            expected[link] = sum(c * math.exp(-(now - t) / DECAY) for t, c in before), *sums
    return np.concatenate([drive, proteins, synthesis, z]), np.concatenate(
        [*expected.T, solved(events, 4.0)]
    )


@adaptation(
    "CM-4.10c",
    source="definition, by a search through all places; times and links that are no synapse drawn at random",
)
def the_latest_synapse_is_that_of_a_full_search(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(1), list[int](), list[int]()
    for case in range(60):
        created, first, last = (
            np.sort(rng.integers(0, 6, 9)) / 2.0,
            int(rng.integers(0, 4)),
            int(rng.integers(4, 10)),
        )
        pool, target, row = rng.permutation(9), np.empty(9, np.int64), np.arange(9)
        target[pool] = row
        synthesis = np.where(rng.random(9) < (0.5 if case else 1.0), -1.0, rng.random(9))
        first = first if case else 0
        for time in (-1.0, 0.5, 1.25, 2.0, 9.0):
            measured.append(specimen.latest(time, first, last, pool, target, created, synthesis))
            expected.append(
                max(
                    [
                        (place, int(pool[place]))
                        for place in row[first:last]
                        if created[place] <= time and synthesis[pool[place]] >= 0.0
                    ],
                    default=(0, -1),
                )[1]
            )
    return measured, expected


# --- consequences ---------------------------------------------------------------------------------
@signature(
    "CM-4.4",
    source=f"{LT}, published parameters; recomputed from its equations",
    atol=0.01,
    papers=("luboeinski2021memory",),
)
def one_strong_synapse_captures_less_than_ten(specimen: Any) -> Any:
    return [
        late(specimen, [(0.0, STRONG, (0,))], 24.0)[0],
        late(specimen, [(0.0, STRONG, (0,))] * 10, 24.0).min(),
    ], [0.698, 0.880]


@limit(
    "CM-4.4b", source="p decays with tau_p once synthesis is over", papers=("luboeinski2021memory",)
)
def proteins_are_gone_after_a_day(specimen: Any) -> Any:
    return at_most(specimen.proteins_after(0.0, STRONG, 24.0, THETA_PRO, 1.0, DECAY, TAU_P), 1e-6)


@limit(
    "CM-4.5",
    source="0.3 of the amplitude is below theta_pro",
    atol=0.0,
    papers=("luboeinski2021memory",),
)
def a_weak_memory_alone_captures_nothing(specimen: Any) -> Any:
    return late(specimen, [(0.0, 0.3 * FULL, (0,))], 24.0), [0.0]


@signature(
    "CM-4.6",
    source=f"Frey & Morris 1997; {LT}, recomputed from its equations",
    atol=0.01,
    figure="capture_window",
    papers=("frey1997synaptic", "luboeinski2021memory"),
)
def strong_memories_preserve_a_weak_one_longer_if_they_come_before_it(specimen: Any) -> Any:
    return [of_the_weak(specimen, lag) for lag in (-5.0, -3.0, -1.0, 0.0, 1.0, 2.0)], [
        0.826,
        0.819,
        0.765,
        0.604,
        0.200,
        0.0,
    ]


@limit(
    "CM-4.6b",
    source="life of the weak tag, 1.9122 h ln(0.5 h0 / theta_tag)",
    rtol=0.01,
    figure="capture_window",
    papers=("luboeinski2021memory",),
)
def capture_ends_with_the_tag(specimen: Any) -> Any:
    lags = np.linspace(1.5, 2.0, 501)
    return float(max(lag for lag in lags if of_the_weak(specimen, lag, wait=4.0) > 0.0)), 1.75


@signature(
    "CM-4.7",
    source="Frey & Morris 1997: anisomycin; alpha = 0",
    atol=0.0,
    papers=("frey1997synaptic",),
)
def without_protein_synthesis_nothing_is_captured(specimen: Any) -> Any:
    return late(specimen, weak_and_ten_strong(0.5), 24.0, alpha=0.0), np.zeros(11)


@signature(
    "CM-4.9", source="Frey & Morris 1997: two pathways of one neuron", papers=("frey1997synaptic",)
)
def pathways_of_one_neuron_share_proteins_and_others_do_not(specimen: Any) -> Any:
    shared, apart = ([(0.0, WEAK, (0,)), (0.5, STRONG, (on,))] for on in (0, 1))
    return bool(late(specimen, shared, 24.0)[0] > 0.2 and late(specimen, apart, 24.0)[0] == 0.0)


# --- the adaptation -------------------------------------------------------------------------------
@adaptation("CM-4.11", source="a closed form does not depend on when it is computed", atol=1e-12)
def the_number_of_updates_does_not_change_the_result(specimen: Any) -> Any:
    events = [(0.5 * k, (0.3 + 0.7 * (k % 3 == 0)) * FULL, (k % 2, 2)) for k in range(9)]
    return late(specimen, events, 20.0, looks=np.arange(0.1, 20.0, 0.37).tolist()), late(
        specimen, events, 20.0
    )


@adaptation(
    "CM-4.12",
    source="theta_pro = 0.5 and theta_tag = 0.2 of the amplitude; limits 0.7 and 0.5 in Cortex 4.2.4",
    papers=("cortex2026",),
)
def at_salience_seven_tenths_an_event_is_strong_and_at_a_half_it_is_weak(specimen: Any) -> Any:
    duration = 0.15 / 3600.0
    share = {}
    for s in (0.3, 0.5, 0.7):
        share[s] = (
            specimen.early_phase(
                H0, duration * s / (1.0 - s), True, True, H0, GAMMA_P, GAMMA_D, TAU_H
            )
            - H0
        ) / FULL
    return bool(share[0.3] < 0.2 < share[0.5] < 0.5 < share[0.7])


@equation(
    "CM-4.17",
    source=f"{LT}: the early phase in closed form after calcium for times in proportion to the odds of salience",
    rtol=1e-9,
    papers=("luboeinski2021memory",),
)
def what_an_event_induces_grows_with_the_odds_of_its_salience(specimen: Any) -> Any:
    salience, seconds = (0.0, 0.3, 0.9, 0.97, 0.99, 0.999, 1.0), 0.002

    def judge(view: Any, incoming: Any) -> None:
        view.salience = salience[int(incoming.event.text)]

    memory = memory_of(
        specimen, neighbour(Phase.ENCODE, judge, sets=(SALIENCE,), id="judge"), stimulation=seconds
    )
    encode(memory, *((float(i), str(i)) for i in range(7)))
    return memory.column(specimen.EARLY_PHASE_INDUCED), [induced_by(s, seconds) for s in salience]


@adaptation("CM-4.13", source="ln 2 at h = 2 h0, 0 at rest")
def a_captured_memory_keeps_its_weight(specimen: Any) -> Any:
    out = np.zeros(3)
    specimen.log_weight(
        1000.0,
        np.array([1000.0, 0.0, 0.0]),
        np.array([H0, H0, H0]),
        np.array([0.0, 0.0, 1.0]),
        H0,
        DECAY,
        out,
    )
    return out, [math.log(2.0), 0.0, math.log(2.0)]


@limit(
    "CM-4.13b",
    source="ln(1 + exp(-age)) at 20 to 25 decay times, in doubles beside 1; the value before is replaced",
    rtol=1e-4,
    atol=0.0,
)
def the_early_phase_fades_smoothly(specimen: Any) -> Any:
    ages, out = np.array([20.5, 22.0, 25.0, 400.0, 3.0]), np.full(5, 0.5)
    specimen.log_weight(
        400.0 * DECAY, (400.0 - ages) * DECAY, np.full(5, H0), np.zeros(5), H0, DECAY, out
    )
    return out, np.where(ages < 300.0, np.log1p(np.exp(-ages)), 0.0)


@adaptation("CM-4.14", source="upper bound: p <= 1 over a tag's life of 3.078 h")
def many_memories_of_one_entity_keep_the_late_phase_in_bounds(specimen: Any) -> Any:
    z = late(specimen, [(0.05 * k, STRONG, (0,)) for k in range(200)], 30.0)
    return between(z, 0.8, 1.0 - math.exp(-3.078))


# --- in a memory ----------------------------------------------------------------------------------
# time h, salience, text, neurons of the entities it mentions
STORY = (
    (0.0, 0.5, "Today Ada hummed.", (0,)), (0.3, 0.8, "a walk in the rain", ()), (0.4, 0.45,
    "Then Ada met Bo.", (0, 1)),
    (0.9, 1.0, "Later Bo shouted.", (1,)), (0.9, 0.42, "Then Cy slept.", (2,)), (1.1, 0.99,
    "Here Ada is refused.", None),
    (2.5, 0.6, "Once Ada called Cy.", (0, 2)), (3.0, 0.95, "Now Ada sings.", (0,)), (5.0, 0.5,
    "So Bo wrote to Cy.", (1, 2)),
    (5.1, 0.1, "Maybe Ada rests.", (0,)), (9.0, 0.7, "At last Ada left.", (0,)))  # fmt: skip


def induced_by(salience: float, seconds: float) -> float:
    """h - h0 after calcium above both thresholds for `seconds` times the odds of the salience:
    the early phase's closed form.
    """
    t = seconds * salience / (1.0 - salience) if salience < 1.0 else math.inf
    return FULL * (1.0 - math.exp(-(0.1 + GAMMA_P + GAMMA_D) * t / (3600.0 * TAU_H)))


def tagged_in_memory(
    specimen: Any, time_scale: float | None, tau_p: float = TAU_P, tau_z: float = TAU_Z
) -> tuple[Any, Any]:
    """Ten events, one of them without an entity, and one that is refused, with a sleep every four
    of the paper's hours.

    Both give z after each sleep, and ln(w / h0) an hour and a half later.
    """
    kappa, seconds = KAPPA if time_scale is None else time_scale, 0.2
    salience = {text: s for _, s, text, _ in STORY}

    def judge(view: Any, incoming: Any) -> None:
        view.salience = salience[incoming.event.text]

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, judge, sets=(SALIENCE,), id="judge"),
        refusing("refused"),
        time_scale=time_scale,
        consolidate_every=4.0 * kappa,
        stimulation=seconds,
        tau_p=60.0 * tau_p,
        tau_z=60.0 * tau_z,
    )
    events = [(t, induced_by(s, seconds), on) for t, s, _, on in STORY if on is not None]
    measured: list[float] = []
    expected: list[float] = []
    told = list(STORY)
    for night in (4.0, 8.0, 12.0):
        z = solved([e for e in events if e[0] <= night], night, tau_p, tau_z)
        for until, look in ((night, "z"), (night + 1.5, "w")):
            while told and told[0][0] <= until:
                time, _, text, _ = told.pop(0)
                encode(memory, (time * kappa, text))
            memory.advance(until * kappa)
            if look == "z":
                measured += memory.column(specimen.LATE_PHASE).tolist()
                expected += z.tolist()
            else:
                stored = [e for e in events if e[0] <= until]
                early = np.array(
                    [change * math.exp(-(until - t) / DECAY) for t, change, _ in stored]
                )
                measured += memory.column(LOG_STRENGTH).tolist()
                expected += np.log1p(
                    early / H0 + np.append(z, np.zeros(len(stored) - len(z)))
                ).tolist()
    return measured, expected


@equation(
    "CM-4.15",
    source=f"{LT}: solve_ivp of h, p and z in the paper's hours; ln(1 + (h - h0) / h0 + z)",
    atol=3e-4,
    papers=("luboeinski2021memory",),
)
def a_memory_at_the_papers_time_tags_and_captures(specimen: Any) -> Any:
    return tagged_in_memory(specimen, 1.0)


@equation(
    "CM-4.16",
    source=f"{LT}: as CM-4.15 with {KAPPA:g} simulated hours for one; tau_p and tau_z, which the paper has alike, are unlike",
    atol=3e-4,
    papers=("luboeinski2021memory",),
)
def a_memory_at_its_default_time_scale_tags_and_captures(specimen: Any) -> Any:
    return tagged_in_memory(specimen, None, tau_p=0.7, tau_z=1.4)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "capture",
    caption="A weak memory, and ten strong ones half an hour later on the same neuron: the weak one's late phase grows while its tag "
    "lasts and then stays; that of the strong ones grows on",
    source=f"{LT}; solve_ivp of its differential equations",
)
def late_phases_over_time(specimen: Any) -> Picture:
    events, hours, marks = weak_and_ten_strong(0.5), np.linspace(0.0, 6.0, 49), (2.0, 5.0)
    z = np.array([late(specimen, events, float(t)) for t in hours])
    exact = np.array([solved(events, t) for t in marks])
    early = [
        float(
            specimen.early_phase(H0 + WEAK, float(t), False, False, H0, GAMMA_P, GAMMA_D, TAU_H)
            - H0
        )
        / H0
        for t in hours
    ]
    return Picture(
        "time, h",
        "share of h0",
        (
            Curve("weak, early phase", hours, early),
            Curve("threshold of the tag", hours[[0, -1]], [THETA_TAG / H0] * 2),
            Curve("weak, late phase", hours, z[:, 0]),
            Curve("strong, late phase", hours, z[:, 1]),
            dots("solve_ivp", np.repeat(marks, 2), exact[:, :2].ravel()),
        ),
    )


@figure(
    "capture_window",
    caption="Late phase of a weak memory by the lag of strong ones: strong ones before it preserve it for hours, strong ones "
    "after it only while its tag lasts",
    source=f"Frey & Morris 1997, the direction; {LT}, recomputed from its equations",
)
def capture_by_the_lag_of_the_strong(specimen: Any) -> Picture:
    lags = np.linspace(-8.0, 4.0, 49)
    return Picture("strong ones after the weak one, h", "late phase of the weak one", (
        Curve("mechanism", lags, [of_the_weak(specimen, float(lag)) for lag in lags]),
        dots("recomputed", [-5.0, -3.0, -1.0, 0.0, 1.0, 2.0], [0.826, 0.819, 0.765, 0.604, 0.200,
        0.0])))  # fmt: skip


# --- mutants --------------------------------------------------------------------------------------
@mutant("the odds of a salience are at most 20", rejected_by="CM-4.17")
def bounded_odds(specimen: Any) -> Any:
    def induction(self: Any, salience: float) -> float:
        return float(specimen.SynapticTagging.induction(self, min(salience, 20.0 / 21.0)))

    return specimen.overriding("SynapticTagging", induction=induction)


@mutant("a one-shot boost of a quarter", rejected_by="CM-4.3")
def one_shot(specimen: Any) -> Any:
    return specimen.replacing(
        "late_phase", lambda z, integral, potentiated, tau_z: z + 0.25 if integral > 0.0 else z
    )


@mutant("a symmetric capture window", rejected_by="CM-4.6")
def symmetric(specimen: Any) -> Any:
    def capture(now: float, since: float, longest: float, *rest: Any) -> None:
        created, induced, out = rest[10], rest[11], rest[15]
        for i in range(len(out)):
            near = np.abs(created - created[i])[induced > THETA_PRO]
            out[i] = 0.7 * np.exp(-near.min()) if near.size else 0.0

    return specimen.replacing("capture", capture)


@mutant("capture without proteins", rejected_by="CM-4.5")
def no_proteins(specimen: Any) -> Any:
    return specimen.replacing("synthesised", lambda p, drive, t, theta_pro, alpha, decay, tau_p: t)


@mutant("proteins that do not outlast their synthesis", rejected_by="CM-4.6")
def fleeting_proteins(specimen: Any) -> Any:
    def synthesised(
        p: float, drive: float, t: float, theta_pro: float, alpha: float, decay: float, tau_p: float
    ) -> float:
        return alpha * min(t, decay * math.log(max(drive / theta_pro, 1.0)))

    return specimen.replacing("synthesised", synthesised)


@mutant("a tag that never expires", rejected_by="CM-4.6b")
def lasting_tag(specimen: Any) -> Any:
    return specimen.replacing(
        "above",
        lambda size, theta, decay: (
            1e6 if theta < 1.0 else decay * math.log(max(abs(size) / theta, 1.0))
        ),
    )


@mutant("proteins shared by all neurons", rejected_by="CM-4.9")
def one_pool(specimen: Any) -> Any:
    def capture(
        now: float,
        since: float,
        longest: float,
        theta_tag: float,
        theta_pro: float,
        alpha: float,
        decay: float,
        tau_p: float,
        tau_z: float,
        start: Any,
        degree: Any,
        pool: Any,
        target: Any,
        created: Any,
        induced: Any,
        *rest: Any,
    ) -> None:
        rest[-1][:] = late(
            specimen,
            [(t, c, (0,)) for t, c in zip(created, induced, strict=True)],
            now,
            alpha=alpha,
        )

    return specimen.replacing("capture", capture)


@mutant("proteins that are made with the time constant of the early phase", rejected_by="CM-4.15")
def other_time_constant(specimen: Any) -> Any:
    def hours(self: Any, parameter: str) -> float:
        return float(
            specimen.SynapticTagging.hours(self, "tau_h" if parameter == "tau_p" else parameter)
        )

    return specimen.overriding("SynapticTagging", hours=hours)


@mutant("the decay of the early phase without its factor 0.1", rejected_by="CM-4.16")
def fast_decay(specimen: Any) -> Any:
    def decay(self: Any) -> float:
        return float(self.hours("tau_h"))

    return specimen.overriding("SynapticTagging", decay=property(decay))
