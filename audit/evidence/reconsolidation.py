"""Evidence for reconsolidation, on a network of 100 units with patterns A and B of 14 units each,
seven of them shared. References: a general solver, outer products in numpy, and closed forms; none
calls a kernel it judges.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import LOG_STRENGTH
from ...engine.state.graph import EdgeType
from ..checks import (
    Measured,
    adaptation,
    at_least,
    at_most,
    between,
    equation,
    limit,
    mutant,
    signature,
)
from ..figures import Curve, Picture, figure
from ..memory import Scripted, encode, memory_of, numbers_of
from ..paper_numbers import paper_number
from .shared.named import SOURCE as NAMED
from .shared.named import named
from .shared.scripts import refusing

OSAN, NADER = "Osan, Tort & Amaral 2011", "Nader, Schafe & LeDoux 2000"
N, S, D, WINDOW = 100, 0.8, 0.95, 6.0
STORED, LEAST = numbers_of("reconsolidation", "stored", "least").values()
NUMBERS = (
    paper_number(
        "s",
        S,
        "1",
        paper="osan2011mismatch",
        where="network simulations, as in the public notebook of Santiago & Tort",
    ),
    paper_number("d", D, "1", paper="osan2011mismatch", where="network simulations, not confirmed"),
    paper_number(
        "window", WINDOW, "h", paper="nader2000fear", where="infusion six hours after reactivation"
    ),
)
OF_A, SHARED, OF_B = slice(0, 7), slice(7, 14), slice(14, 21)
Vector = NDArray[np.float64]


def pattern(*units: slice) -> Vector:
    x = -np.ones(N)
    for active in units:
        x[active] = 1.0
    return x


def cue(units: slice) -> Vector:
    x = np.zeros(N)
    x[units] = 0.1
    return x


A, B = pattern(OF_A, SHARED), pattern(SHARED, OF_B)


def between_patterns(q: float) -> Vector:
    return (1.0 - q) * A + q * B


def activity(specimen: Any, w: Any, current: Any) -> Any:
    return specimen.settle(np.zeros(N), w, current, 1.0, 40.0)


def trained(specimen: Any, w: Any, current: Any, s: float = S) -> Any:
    """Weights after the network has settled under an input and learnt."""
    return specimen.session(w, activity(specimen, w, current), current, s, D)


def with_a(specimen: Any) -> Any:
    return trained(specimen, np.zeros((N, N)), 5.0 * A)


def answer(specimen: Any, w: Any, units: slice = SHARED) -> list[float]:
    """Mean activity on a cue, of the units of A alone, of B alone, and of neither."""
    u = activity(specimen, w, cue(units))
    return [float(u[OF_A].mean()), float(u[OF_B].mean()), float(u[21:].mean())]


# --- the equations --------------------------------------------------------------------------------
@equation("RC-1", source="solve_ivp of the network", atol=1e-6, papers=("osan2011mismatch",))
def activity_follows_its_differential_equation(specimen: Any) -> Any:
    rng = np.random.default_rng(3)
    w, start = rng.uniform(-1.0, 1.0, (12, 12)), rng.random(12)
    measured, expected = [], []
    for t, tau, current in (
        (0.7, 1.0, rng.normal(size=12)),
        (3.0, 2.0, rng.normal(size=12)),
        (30.0, 1.0, np.zeros(12)),
    ):

        def slope(_: float, u: Any, current: Any = current, tau: float = tau) -> Any:
            return (-u + 0.5 * (1.0 + np.tanh(w @ u + current))) / tau

        measured.append(specimen.settle(start, w, current, tau, t))
        expected.append(
            solve_ivp(slope, (0.0, t), start, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
        )
    return np.concatenate(measured), np.concatenate(expected)


@equation(
    "RC-2",
    source=f"{OSAN}: S u u' - S (1 - u) u' + D m u', as outer products, in [-1, 1]",
    atol=1e-12,
    papers=("osan2011mismatch",),
)
def a_session_changes_weights_by_three_outer_products(specimen: Any) -> Any:
    rng = np.random.default_rng(4)
    w, u, current = rng.uniform(-1.0, 1.0, (9, 9)), rng.random(9), rng.normal(size=9)
    m = (current / np.abs(current).max() + 1.0) / 2.0 - u
    expected = [
        np.clip(w + s * np.outer(u, u) - s * np.outer(1.0 - u, u) + D * np.outer(m, u), -1.0, 1.0)
        for s in (S, 0.0)
    ]
    return np.array([specimen.session(w, u, current, s, D) for s in (S, 0.0)]), np.array(expected)


@equation(
    "RC-3",
    source=f"{OSAN}: W (1 - gamma) after each session",
    atol=1e-12,
    papers=("osan2011mismatch",),
)
def weights_decay_between_sessions(specimen: Any) -> Any:
    w = np.array([[0.5, -1.0], [0.0, 0.8]])
    for _ in range(7):
        w = specimen.between_sessions(w, 0.1)
    return w, np.array([[0.5, -1.0], [0.0, 0.8]]) * 0.9**7


@limit(
    "RC-4",
    source="u = A to rounding, so W = S, and -S onto units outside; recall from the seven shared units",
    atol=2e-4,
    papers=("osan2011mismatch",),
)
def one_session_stores_a_pattern(specimen: Any) -> Any:
    w = with_a(specimen)
    return [
        w[:14, :14].min(),
        w[:14, :14].max(),
        w[14:, :14].max(),
        np.abs(w[:, 14:]).max(),
        *answer(specimen, w),
    ], [S, S, -S, 0.0, 1.0, 0.0, 0.0]


# --- the model's results --------------------------------------------------------------------------
@limit(
    "CM-1.7a",
    source=f"{OSAN}: no mismatch, no change; inhibitor given",
    papers=("osan2011mismatch",),
)
def reexposure_to_the_same_pattern_changes_nothing(specimen: Any) -> Any:
    before = with_a(specimen)
    after = trained(specimen, before, A, s=0.0)
    largest, recalled = float(np.abs(after - before).max()), answer(specimen, after)
    return Measured(
        [largest, *recalled],
        "below 1e-3, then 1, 0, 0",
        largest < 1e-3 and bool(np.allclose(recalled, [1.0, 0.0, 0.0], atol=0.005)),
    )


@equation(
    "CM-1.7b",
    source=f"{OSAN}: max |dW| = D q under a weak input and the inhibitor",
    rtol=0.02,
    papers=("osan2011mismatch",),
)
def degradation_is_d_times_the_mismatch(specimen: Any) -> Any:
    before, qs = with_a(specimen), (0.25, 0.5, 0.75, 1.0)
    return [
        float(np.abs(trained(specimen, before, 0.1 * between_patterns(q), s=0.0) - before).max())
        for q in qs
    ], [D * q for q in qs]


@signature(
    "CM-1.7c",
    source=f"{OSAN}: full mismatch; activity over all of A, and of B, with and without inhibitor",
    atol=0.01,
    figure="inhibitor",
    papers=("osan2011mismatch",),
)
def the_inhibitor_abolishes_the_memory_at_full_mismatch(specimen: Any) -> Any:
    measured = []
    for s in (0.0, S):
        u = activity(specimen, trained(specimen, with_a(specimen), 0.1 * B, s), cue(SHARED))
        measured += [float(u[:14].mean()), float(u[7:21].mean())]
    return measured, [0.55, 0.95, 1.0, 0.5]


@signature(
    "CM-1.7d",
    source=f"{OSAN}: the inhibitor impairs recall only with mismatch",
    figure="inhibitor",
    papers=("osan2011mismatch",),
)
def a_mismatch_of_up_to_one_half_loses_nothing(specimen: Any) -> Any:
    before = with_a(specimen)
    return at_least(
        [
            answer(specimen, trained(specimen, before, 0.1 * between_patterns(q), s))[0]
            for q in (0.1, 0.25, 0.5)
            for s in (0.0, S)
        ],
        0.995,
    )


@limit(
    "CM-1.7f",
    source="W - D q changes sign at q = S / D = 0.84",
    atol=0.04,
    figure="inhibitor",
    papers=("osan2011mismatch",),
)
def under_the_inhibitor_the_old_memory_is_lost_where_degradation_exceeds_its_weight(
    specimen: Any,
) -> Any:
    before, qs = with_a(specimen), np.arange(0.7, 1.0, 0.02)
    won = [answer(specimen, trained(specimen, before, 0.1 * between_patterns(q), 0.0)) for q in qs]
    return float(qs[[a > b for a, b, _ in won].index(False)]), S / D


@limit(
    "CM-1.7g",
    source="amplitude x (2 q - 1) equals the input of A to its own units: from 7 S, of the shared ones, to 14 S, of all",
    papers=("osan2011mismatch",),
)
def a_stronger_input_prevails_from_a_mismatch_nearer_one_half(specimen: Any) -> Any:
    w, qs, excess = with_a(specimen), np.arange(0.5, 0.9, 0.01), []
    for amplitude in (15.0, 30.0, 60.0):
        turned = (
            q
            for q in qs
            if activity(specimen, w, amplitude * between_patterns(q))[OF_B].mean() > 0.5
        )
        excess.append(amplitude * (2.0 * next(turned, math.nan) - 1.0))
    return between(excess, 7.0 * S, 14.0 * S)


@signature(
    "CM-1.7h",
    source=f"{OSAN}: extinction forms a new trace, and the inhibitor prevents it",
    atol=0.005,
    figure="inhibitor",
    papers=("osan2011mismatch",),
)
def a_strong_new_input_forms_a_new_trace_and_leaves_the_old_one_unchanged(specimen: Any) -> Any:
    """The shared cue recalls the new trace, the cue of A the old one.  Under the inhibitor the
    shared cue recalls the old one.
    """
    before = with_a(specimen)
    new, blocked = (trained(specimen, before, 60.0 * B, s) for s in (S, 0.0))
    return [
        answer(specimen, new)[:2],
        answer(specimen, new, OF_A)[:2],
        answer(specimen, new, OF_B)[:2],
        answer(specimen, blocked)[:2],
    ], [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]


def days_later(specimen: Any, m: float, inhibited_at: float) -> float:
    """Weight two days after a reactivation, with synthesis blocked from `inhibited_at` h after
    it.
    """
    weight = specimen.degraded(STORED, m, D, LEAST)
    return float(specimen.restabilised(weight, S, min(inhibited_at, 48.0), WINDOW))


@signature(
    "CM-1.8",
    source=f"{NADER}: an inhibitor at 0 h abolishes the memory, at 6 h does nothing",
    atol=1e-12,
    figure="window",
    papers=("nader2000fear",),
)
def the_inhibitor_works_at_reactivation_and_not_six_hours_later(specimen: Any) -> Any:
    m = 0.6
    return [days_later(specimen, m, at) for at in (0.0, 6.0, math.inf)], [
        STORED - D * m,
        min(1.0, STORED - D * m + S),
        min(1.0, STORED - D * m + S),
    ]


# --- the adaptation -------------------------------------------------------------------------------
@equation(
    "CM-1.7e",
    source="mean weight among the units of A alone in the network, after a session without and with synthesis",
    atol=1e-3,
    papers=("osan2011mismatch",),
)
def one_weight_follows_the_networks_rule_for_the_memorys_own_synapses(specimen: Any) -> Any:
    before, measured, expected = with_a(specimen), [], []
    for q in (0.0, 0.25, 0.5, 0.75):
        lost = trained(specimen, before, 0.1 * between_patterns(q), 0.0)[OF_A, OF_A].mean()
        kept = trained(specimen, before, 0.1 * between_patterns(q), S)[OF_A, OF_A].mean()
        weight = specimen.degraded(STORED, q, D, LEAST)
        measured += [weight, specimen.restabilised(weight, S, 100.0, WINDOW)]
        expected += [float(lost), float(kept)]
    return measured, expected


@adaptation(
    "RC-5",
    source="definition: 0 for identical content, 1 for the average similarity, clipped to 0..1",
    atol=1e-12,
)
def mismatch_is_zero_for_identical_content_and_one_for_average_similarity(specimen: Any) -> Any:
    cases = ((1.0, 0.6), (0.6, 0.6), (0.8, 0.6), (-0.5, 0.6), (0.9, 1.0), (0.5, -0.5))
    return [specimen.mismatch(c, b) for c, b in cases], [0.0, 1.0, 0.5, 1.0, 1.0, 1.0 / 3.0]


@adaptation("RC-6", source="strengthened, revised, unchanged; bounds by hand", atol=0.0)
def three_regimes_of_mismatch(specimen: Any) -> Any:
    return [specimen.regime(m, 0.1, 0.4) for m in (0.0, 0.1, 0.11, 0.39, 0.4, 1.0)], [
        0,
        0,
        1,
        1,
        2,
        2,
    ]


@adaptation(
    "RC-7",
    source="with synthesis a mismatch below S / D does not lower the weight; weights end in (0, 1]",
)
def reactivation_with_synthesis_does_not_lower_the_weight(specimen: Any) -> Any:
    ends = np.array([days_later(specimen, m, math.inf) for m in np.linspace(0.0, 1.0, 21)])
    ok = bool(
        (ends[np.linspace(0.0, 1.0, 21) < S / D] >= STORED).all()
        and ends.min() > 0.0
        and ends.max() <= 1.0
    )
    return Measured(ends, "at least 0.8 for mismatch below 0.84, within (0, 1]", ok)


@adaptation("RC-8", source="nothing is erased: a weight of at least 0.05 after any revisions")
def no_memory_is_abolished_by_revisions(specimen: Any) -> Any:
    weight, seen = STORED, []
    for m in (0.39, 0.39, 1.0, 0.2, 0.9):
        weight = specimen.degraded(weight, m, D, LEAST)
        seen.append(weight)
    return between(seen, LEAST, STORED)


@adaptation("RC-9", source="closed form, memory by memory", atol=1e-12)
def strength_is_the_weight_relative_to_a_memory_stored_once(specimen: Any) -> Any:
    out, times = np.full(4, 9.0), np.array([math.nan, 10.0, 10.0, 1.0])
    specimen.relative_weights(
        13.0,
        np.array([0.8, 0.4, 0.4, 0.8]),
        np.array([0.0, 0.0, 0.8, 0.8]),
        times,
        WINDOW,
        STORED,
        out,
    )
    return out, [1.0, 0.5, 1.0, 1.0 / 0.8]


@adaptation("RC-10", source="closed form: a slope of at most S over the window")
def weights_are_continuous_in_time(specimen: Any) -> Any:
    curve = np.array([specimen.restabilised(0.3, S, t, WINDOW) for t in np.linspace(0.0, 8.0, 801)])
    return at_most(np.abs(np.diff(curve)), 1.01 * S / WINDOW * 0.01)


# --- in a memory ----------------------------------------------------------------------------------
OWN: dict[str, Any] = {"stored": 0.6, "least": 0.2, "low": 0.15, "high": 0.5, "prior": 3.0}
# time h, text, speaker, direction of meaning
MET = (
    (0.0, "one", "Ada", (1.0, 0.2, 0.1)), (1.0, "far", "Bo", (-0.3, 1.0, 0.5)), (2.0, "one again",
    "Ada", (1.0, 0.24, 0.1)),
    (3.0, "refused", "Ada", (1.0, 0.1, 0.1)), (4.5, "one but other", "Ada", (0.8, 0.1, 1.1)), (5.0,
    "one, asks Bo", "Bo", (0.9, 0.9, 0.3)),
    (6.5, "far again", "Bo", (-0.2, 1.1, 0.5)), (8.0, "far but other", "Bo", (-1.0, 0.8, 0.0)),
    (31.0, "one more", "Ada", (1.0, 0.15, -0.1)),
    (33.0, "aside", "Ada", (-0.5, -0.6, 0.7)), (34.0, "aside again", "Ada", (-0.5, -0.6, 0.7)))  # fmt: skip
ASKED = {
    "about one": (0.8, 0.7, -0.3),
    "about nothing": (0.1, -0.2, -1.0),
    "about far": (-0.3, 1.0, 0.5),
}


@equation(
    "RC-11",
    source=f"{OSAN}: the rule for one synapse, in [-1, 1], event by event in numpy; {NADER}: synthesis within six hours",
    atol=2e-6,
    papers=("osan2011mismatch", "nader2000fear"),
)
def a_memory_is_strengthened_revised_or_left_unchanged(specimen: Any) -> Any:
    """Eleven events of two speakers, one refused, one memory archived; recalls with low, medium and
    high mismatch, one of which does not learn; two sleeps.  Both give each memory's weight, due
    synthesis, time of reactivation and ln of its strength at eight times, and the versions.
    """
    vectors = {
        text: np.array(v) / np.linalg.norm(v)
        for text, v in (*((text, v) for _, text, _, v in MET), *ASKED.items())
    }
    memory = memory_of(
        specimen, "dense_similarity", refusing("refused"), embedder=Scripted(vectors), **OWN
    )
    known: list[tuple[str, str]] = []
    state: list[tuple[float, float, float]] = []  # weight, due synthesis, time
    versions: list[tuple[int, int]] = []
    hidden: set[int] = set()
    measured: list[float] = []
    expected: list[float] = []

    def weight(row: int, now: float) -> float:
        w, due, at = state[row]
        return (
            w
            if math.isnan(at)
            else min(float(np.interp(now, [at, at + WINDOW], [w, w + due])), 1.0)
        )

    def mismatch(v: Vector, row: int) -> float:
        background = sum(float(v @ vectors[text]) for text, _ in known) / (
            len(known) + OWN["prior"]
        )
        return float(np.clip((1.0 - v @ vectors[known[row][0]]) / (1.0 - background), 0.0, 1.0))

    def reactivated(row: int, m: float, due: float, now: float) -> None:
        state[row] = max(weight(row, now) - D * m, OWN["least"]), due, now

    def look(time: float) -> None:
        memory.advance(time)
        for name in (
            specimen.TRACE_WEIGHT,
            specimen.SYNTHESIS_DUE,
            specimen.REACTIVATED,
            LOG_STRENGTH,
        ):
            measured.extend(np.nan_to_num(memory.column(name), nan=-9.0))
        expected.extend(
            [s[0] for s in state]
            + [s[1] for s in state]
            + [-9.0 if math.isnan(s[2]) else s[2] for s in state]
        )
        expected.extend(
            0.0 if math.isnan(s[2]) else math.log(weight(row, time) / OWN["stored"])
            for row, s in enumerate(state)
        )

    def ask(query: str, learn: bool) -> None:
        first = int(memory.retrieve(query, k=3, learn=learn).rows[0])
        m = mismatch(vectors[query], first)
        if learn and m < OWN["high"]:
            reactivated(first, m, S, memory.now)

    for time, text, speaker, _ in MET:
        encode(memory, (time, text, speaker))
        if text != "refused":
            v, row = vectors[text], len(known)
            near = (
                int(
                    np.argmax(
                        [-1.0 if i in hidden else v @ vectors[known[i][0]] for i in range(row)]
                    )
                )
                if row
                else -1
            )
            m = mismatch(v, near) if row else 1.0
            known.append((text, speaker))
            state.append((OWN["stored"], 0.0, math.nan))
            if m <= OWN["low"]:
                reactivated(near, m, S, time)
            elif m < OWN["high"] and known[near][1] == speaker:
                reactivated(near, m, 0.0, time)
                state[row] = OWN["stored"], S, time
                versions.append((row, near))
        if text == "far but other":
            look(8.5)
            ask("about one", True)
            look(9.5)
            ask("about one", True)
            ask("about far", False)
            look(10.0)
            ask("about nothing", True)
            memory.archive(2)
            hidden.add(2)
            look(14.0)
            look(29.0)
        elif text == "aside":
            ask("about far", True)
            look(33.5)
    look(36.0)
    look(60.0)
    graph = memory.graph
    edges = (graph.type == EdgeType.VERSION) & graph.alive
    return [*measured, *graph.source[edges], *graph.target[edges]], [
        *expected,
        *(new for new, _ in versions),
        *(old for _, old in versions),
    ]


@adaptation("RC-12", source="definition: from the upper bound on a mismatch is high; by hand")
def a_mismatch_at_the_upper_bound_changes_nothing(specimen: Any) -> Any:
    """A text and a question less like the memories than average, whose mismatch is 1."""
    vectors = {
        "one": (1.0, 0.2, -0.3),
        "two": (0.8, -0.6, -0.3),
        "apart": (-0.9, 0.1, -0.3),
        "asked": (0.0, 0.0, 1.0),
    }
    memory = memory_of(
        specimen, "dense_similarity", embedder=Scripted(vectors), **{**OWN, "high": 1.0}
    )
    encode(memory, (0.0, "one"), (1.0, "apart"))
    met = memory.column(specimen.REACTIVATED).tolist()
    encode(memory, (2.0, "two"))
    before = memory.column(specimen.REACTIVATED).copy()
    memory.advance(5.0)
    memory.retrieve("asked", learn=True)
    asked = memory.column(specimen.REACTIVATED)
    return bool(np.isnan(met).all() and np.array_equal(before, asked, equal_nan=True))


@adaptation("RC-15", source=NAMED)
def what_an_event_changes_of_earlier_rows_is_named(specimen: Any) -> Any:
    columns = specimen.TRACE_WEIGHT, specimen.SYNTHESIS_DUE, specimen.REACTIVATED
    # one earlier memory, of a small mismatch
    memory = memory_of(specimen, low=0.98, high=0.99)
    encode(memory, (1.0, "Miso the cat ran away", "Ada"))
    event = Event(5.0, "Miso the cat slept", "Ada", dated=False)
    return named(memory, columns, event), [(1, 0)] * 3


# --- figures --------------------------------------------------------------------------------------
@figure(
    "inhibitor",
    caption="Recall of the old memory after reexposure to another pattern: kept at small mismatch, lost under the inhibitor beyond "
    "S / D; a strong input forms a trace of its own, which the shared cue then recalls",
    source=f"{OSAN}; 100 units, two patterns of 14 that share seven",
)
def recall_over_mismatch(specimen: Any) -> Picture:
    before = with_a(specimen)
    runs = (
        ("weak input, inhibitor", 0.1, 0.0, [0.0, 0.6, 0.7, 0.8, 0.84, 0.9, 1.0]),
        ("weak input, synthesis", 0.1, S, [0.0, 0.5, 1.0]),
        ("strong input, synthesis", 60.0, S, [0.0, 0.5, 0.9, 0.95, 1.0]),
    )
    return Picture(
        "mismatch between memory and input",
        "activity of the old memory",
        tuple(
            Curve(
                label,
                qs,
                np.array(
                    [
                        answer(
                            specimen, trained(specimen, before, amplitude * between_patterns(q), s)
                        )[0]
                        for q in qs
                    ]
                ),
            )
            for label, amplitude, s, qs in runs
        ),
    )


@figure(
    "window",
    caption="The earlier in the window of six hours an inhibitor is given, the more weight a reactivated memory loses; without "
    "mismatch it loses the gain only",
    source=f"{NADER}: at 0 h and at 6 h",
)
def weight_over_the_time_of_the_inhibitor(specimen: Any) -> Picture:
    hours = np.linspace(0.0, 12.0, 61)
    return Picture(
        "inhibitor given, h after reactivation",
        "weight two days later",
        tuple(
            Curve(
                f"mismatch {m:g}",
                hours,
                np.array([days_later(specimen, m, float(h)) for h in hours]),
            )
            for m in (0.0, 0.3, 0.6, 0.9)
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("no depression of units that are silent", rejected_by="RC-2")
def hebb_alone(specimen: Any) -> Any:
    return specimen.replacing("change", lambda u_i, u_j, m_i, s, d: s * u_i * u_j + d * m_i * u_j)


@mutant("degradation by the mismatch of the other unit", rejected_by="RC-2")
def other_unit(specimen: Any) -> Any:
    return specimen.replacing(
        "session",
        lambda w, u, current, s, d: np.clip(
            w + s * np.outer(2.0 * u - 1.0, u) + d * np.outer(u, specimen.expected(current) - u),
            -1.0,
            1.0,
        ),
    )


@mutant("degradation that needs protein synthesis", rejected_by="CM-1.7b")
def needs_synthesis(specimen: Any) -> Any:
    return specimen.replacing(
        "change",
        lambda u_i, u_j, m_i, s, d: s * (2.0 * u_i - 1.0) * u_j + d * m_i * u_j * (s > 0.0),
    )


@mutant("mismatch as activity less input", rejected_by="CM-1.7c")
def sign(specimen: Any) -> Any:
    return specimen.replacing(
        "change", lambda u_i, u_j, m_i, s, d: s * (2.0 * u_i - 1.0) * u_j - d * m_i * u_j
    )


@mutant("input not normalised to 0..1", rejected_by="CM-1.7b")
def raw_input(specimen: Any) -> Any:
    return specimen.replacing("expected", lambda current: current)


@mutant("unbounded weights", rejected_by="RC-2")
def unbounded(specimen: Any) -> Any:
    return specimen.replacing("clipped", lambda weight: weight)


@mutant("a linear network", rejected_by="RC-1")
def linear(specimen: Any) -> Any:
    def settle(u: Any, w: Any, current: Any, tau: float, t: float) -> Any:
        return u + (0.5 * (1.0 + w @ u + current) - u) * (1.0 - math.exp(-t / tau))

    return specimen.replacing("settle", settle)


@mutant("decay by subtraction", rejected_by="RC-3")
def subtraction(specimen: Any) -> Any:
    return specimen.replacing("between_sessions", lambda w, gamma: w - gamma * np.sign(w))


@mutant("a window that never closes", rejected_by="CM-1.8")
def open_window(specimen: Any) -> Any:
    return specimen.replacing(
        "restabilised",
        lambda weight, due, since, window: min(1.0, weight + due * (1.0 - math.exp(-since / 48.0))),
    )


@mutant("synthesis without duration", rejected_by="CM-1.8")
def instant(specimen: Any) -> Any:
    return specimen.replacing(
        "restabilised", lambda weight, due, since, window: min(1.0, weight + due)
    )


@mutant("reconsolidation on every retrieval", rejected_by="RC-6")
def always(specimen: Any) -> Any:
    return specimen.replacing("regime", lambda m, low, high: 1)


@mutant("a revision that may abolish the memory", rejected_by="RC-8")
def abolished(specimen: Any) -> Any:
    return specimen.replacing("degraded", lambda weight, m, d, least: weight - d * m)


@mutant("a window of six minutes in place of six hours", rejected_by="RC-11")
def minutes(specimen: Any) -> Any:
    def hours(self: Any, parameter: str) -> float:
        return float(specimen.Reconsolidation.hours(self, parameter)) / 60.0

    return specimen.overriding("Reconsolidation", hours=hours)


@mutant("the upper bound belongs to the middle", rejected_by="RC-12")
def inclusive(specimen: Any) -> Any:
    return specimen.replacing("regime", lambda m, low, high: 0 if m <= low else int(m > high) + 1)
