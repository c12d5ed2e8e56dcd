"""Evidence for outcome_gated_association.  References are integrals written out and summed over all
pairs of a mark and an outcome, scipy's solution of the three equations, and the steps of the
authors' program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event, Query
from ...engine.contract.vocabulary import MATCH, RELEASE_PROBABILITY, RESOURCES
from ...engine.memory.engine import Engine
from ...engine.state.graph import EdgeType
from ..checks import adaptation, at_least, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of
from ..paper_numbers import paper_number
from .shared.crowded import SOURCE as CROWDED
from .shared.crowded import associates_of_a_crowded_memory
from .shared.durations import unscaled as without_scale
from .shared.last_uses import SOURCE as LAST_USE
from .shared.last_uses import passed_on
from .shared.once import computed_once
from .shared.scripts import giving, marking
from .shared.views import Instead

Array = NDArray[np.float64]
PAPER, KEY = "Izhikevich 2007", ("izhikevich2007solving",)
A_PLUS, A_MINUS, TAU_WINDOW = 0.1, 0.15, 0.02  # mV/uM, mV/uM, s
TAU_C, TAU_D, RELEASE, STEP, STRONGEST = 1.0, 0.2, 0.5, 0.01, 4.0  # s, s, uM, s, mV
CONSTANTS = (TAU_C, TAU_D, STEP)
NUMBERS = tuple(
    paper_number(name, value, unit, paper=KEY[0], where=f"authors' code: {where}")
    for name, value, unit, where in (
        ("a_plus", A_PLUS, "mV/uM", "STDP of a neuron that fired"),
        ("a_minus", A_MINUS, "mV/uM", "1.5 STDP"),
        ("tau_window", 1000.0 * TAU_WINDOW, "ms", "tau = 20 ms"),
        ("tau_c", TAU_C, "s", "0.99 in 10 ms"),
        ("tau_d", TAU_D, "s", "0.995 in 1 ms"),
        ("release", RELEASE, "uM", "a reward"),
        ("step", 1000.0 * STEP, "ms", "how often the strength is updated"),
        ("strongest", STRONGEST, "mV", "maximal synaptic strength"),
    )
)

Jump = tuple[float, float, float]  # time, s; added to c, mV/uM; added to d, uM


# --- references -----------------------------------------------------------------------------------
def summed(jumps: Sequence[Jump], until: float) -> float:
    """Strength without bounds: c d integrated for each mark with each outcome, from the later one."""
    marks = [(t, c) for t, c, _ in jumps if c and t <= until]
    outcomes = [(t, d) for t, _, d in jumps if d and t <= until]
    total, tau = 0.0, 1.0 / (1.0 / TAU_C + 1.0 / TAU_D)
    for marked, c in marks:
        for told, d in outcomes:
            first = max(marked, told)
            begun = c * math.exp((marked - first) / TAU_C) * d * math.exp((told - first) / TAU_D)
            total += begun * tau * (1.0 - math.exp((first - until) / tau)) / STEP
    return total


@computed_once
def solved(jumps: Sequence[tuple[float, Any, float]], until: Sequence[float], most: float) -> Array:
    """(times, synapses) strengths by scipy between jumps; they are cut at 0 and at the largest, which
    each meets once in between.

    jumps  time, s; added to c of each synapse (synapses,), mV/uM; added to d, uM
    until  times asked for, s
    """
    m = np.atleast_1d(jumps[0][1]).size

    def rates(_: float, y: Any) -> Array:
        return np.concatenate([-y[:m] / TAU_C, y[:m] * y[-1] / STEP, -y[-1:] / TAU_D])

    y, at, out = np.zeros(2 * m + 1), 0.0, []
    told = [(time, False, k) for k, (time, _, _) in enumerate(jumps)]
    for time, ask, k in sorted(told + [(time, True, 0) for time in until]):
        if time > at:
            within = (at, time)
            y = solve_ivp(rates, within, y, method="DOP853", rtol=1e-11, atol=1e-14).y[:, -1]
            y[m:-1] = np.clip(y[m:-1], 0.0, most)
        at = time
        if ask:
            out.append(y[m:-1].copy())
        else:
            y[:m] += jumps[k][1]
            y[-1] += jumps[k][2]
    return np.array(out)


def stepped(jumps: Sequence[Jump], until: float) -> float:
    """The strength of one synapse in the steps of the authors' program: dopamine fades by 0.995 each
    millisecond; every tenth one c d is added to the strength, and c fades by 0.99.
    """
    c = d = s = 0.0
    due: dict[int, list[float]] = {}
    for time, marked, told in jumps:
        at = due.setdefault(round(1000.0 * time), [0.0, 0.0])
        at[0], at[1] = at[0] + marked, at[1] + told
    for ms in range(round(1000.0 * until) + 1):
        marked, told = due.get(ms, (0.0, 0.0))
        c, d = c + marked, 0.995 * d
        if ms % 10 == 0:
            s, c = min(max(s + d * c, 0.0), STRONGEST), 0.99 * c
        d += told
    return s


def lived(
    specimen: Any, jumps: Sequence[Jump], until: Sequence[float], strongest: float = STRONGEST
) -> list[float]:
    """Strengths of one synapse at some times, by the kernels of the specimen."""
    c, s, at, edge, out = np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1, np.int64), []
    level = since = 0.0
    told = [(time, False, marked, released) for time, marked, released in jumps]
    for time, ask, marked, released in sorted(told + [(t, True, 0.0, 0.0) for t in until]):
        course = level, since, *CONSTANTS, strongest
        if ask:
            out.append(specimen.strength(time, c[0], s[0], at[0], *course))
            continue
        specimen.advance(time, edge, *course, c, s, at)
        c += marked
        if released:
            level, since = level * math.exp(-(time - since) / TAU_D) + released, time
    return out


def history(seed: int, count: int, bad: float) -> list[Jump]:
    """Random marks, and outcomes of which a share is bad, within 30 s."""
    rng = np.random.default_rng(seed)
    kinds = rng.random(count) < 0.3
    return [
        (float(t), 0.0, RELEASE * (-1.0 if rng.random() < bad else 1.0))
        if outcome
        else (float(t), float(rng.normal(0.03, 0.06)), 0.0)
        for t, outcome in zip(np.sort(rng.uniform(0.0, 30.0, count)), kinds, strict=True)
    ]


# --- the three equations --------------------------------------------------------------------------
@equation(
    "OGA-1",
    source=f"{PAPER}: the integral of c d, for a reward some seconds after one pair, at once, and "
    "shortly before it, written out",
    papers=KEY,
)
def a_delayed_reward_changes_what_is_eligible_still(specimen: Any) -> Any:
    most = A_PLUS * RELEASE / (1.0 / TAU_C + 1.0 / TAU_D) / STEP
    measured = [
        lived(specimen, [(10.0, A_PLUS, 0.0), (10.0 + lag, 0.0, RELEASE)], [60.0])[0]
        for lag in (0.0, 1.0, 2.0, 3.0, -0.1, -0.4)
    ]
    later = [most * math.exp(-lag / TAU_C) for lag in (0.0, 1.0, 2.0, 3.0)]
    return measured, [*later, *(most * math.exp(-lag / TAU_D) for lag in (0.1, 0.4))]


@equation(
    "OGA-2",
    source="the same integral over all pairs of a mark and an outcome in random histories, which the "
    "kernel does not list, at times between them too",
    papers=KEY,
)
def strengths_sum_over_marks_and_outcomes(specimen: Any) -> Any:
    measured, expected = [], []
    for seed in range(6):
        # far from both bounds
        jumps = [(0.0, 500.0, 0.0), (0.0, 0.0, RELEASE), *history(seed, 40, 0.4)]
        until = [20.0, 25.3, 30.0, 31.7]
        measured += lived(specimen, jumps, until, 1e9)
        expected += [summed(jumps, t) for t in until]
    return measured, expected


@equation(
    "OGA-3",
    source="scipy.integrate.solve_ivp of the three equations between the jumps of random histories, "
    "cut at 0 and at the largest strength",
    rtol=1e-7,
    atol=1e-9,
    papers=KEY,
)
def strengths_follow_the_equations_between_their_bounds(specimen: Any) -> Any:
    for seed, bad in product(range(5), (0.2, 0.6)):
        told, until = history(seed, 60, bad), [29.0, 34.0]
        yield lived(specimen, told, until, 0.7), solved(told, until, 0.7).ravel()


@equation(
    "OGA-4",
    source=f"{PAPER}, authors' code: its steps of 1 and 10 ms, which are off by at most one step of "
    "10 ms in the 167 ms over which c d fades",
    rtol=0.06,
    papers=KEY,
)
def strengths_agree_with_the_steps_of_the_authors(specimen: Any) -> Any:
    delays = (0.2, 0.7, 1.0, 2.0, 3.0)
    stories = [[(1.0, A_PLUS, 0.0), (1.0 + lag, 0.0, RELEASE)] for lag in delays]
    stories.append(
        [(t, 0.0, RELEASE) if k % 3 == 2 else (t, A_PLUS, 0.0) for k, t in enumerate(delays * 2)]
    )
    return [lived(specimen, story, [9.0])[0] for story in stories], [
        stepped(story, 9.0) for story in stories
    ]


@equation(
    "OGA-5",
    source=f"{PAPER}: A+ 0.1, A- 0.15 and 20 ms; e^(-1/2) and e^(-2) on either side",
    papers=KEY,
)
def order_decides_what_is_marked(specimen: Any) -> Any:
    lags = np.array([0.0, 0.01, 0.04, -0.01, -0.04])
    c = np.zeros(5)
    specimen.mark(np.arange(5), lags, A_PLUS, A_MINUS, TAU_WINDOW, c)
    twice = np.zeros(2)
    specimen.mark(np.array([1, 1]), lags[1:3], A_PLUS, A_MINUS, TAU_WINDOW, twice)
    near, far = math.exp(-0.5), math.exp(-2.0)
    return [c, [*twice, 0.0, 0.0, 0.0]], [
        [0.1, 0.1 * near, 0.1 * far, -0.15 * near, -0.15 * far],
        [0.0, 0.1 * (near + far), 0.0, 0.0, 0.0],
    ]


def rewarded(specimen: Any, seconds: float, synapses: int = 40) -> tuple[Array, Array, int]:
    """Strengths of synapses whose neurons fire at random, and of the first one, which fires in its
    order about twice a minute and is rewarded 1 to 3 s later: every ten seconds, and the number of
    rewards.
    """
    rng, m = np.random.default_rng(7), synapses
    events: list[tuple[float, int, float]] = []
    for synapse in range(m):
        for time in rng.uniform(0.0, seconds, rng.poisson(0.2 * seconds)):
            events.append((float(time), synapse, float(rng.uniform(-0.05, 0.05))))
    for time in rng.uniform(0.0, seconds - 3.0, int(seconds / 30.0)):
        events += [(float(time), 0, 0.005), (float(time + rng.uniform(1.0, 3.0)), -1, 0.0)]
    c, s, at, every = np.zeros(m), np.zeros(m), np.zeros(m), np.arange(m)
    level = since = 0.0
    course, times = [], []
    for time, synapse, lag in sorted(events):
        now = level, since, *CONSTANTS, STRONGEST
        if synapse >= 0:
            edge = np.array([synapse])
            specimen.advance(time, edge, *now, c, s, at)
            specimen.mark(edge, np.array([lag]), A_PLUS, A_MINUS, TAU_WINDOW, c)
        else:
            specimen.advance(time, every, *now, c, s, at)
            level, since = level * math.exp(-(time - since) / TAU_D) + RELEASE, time
            times.append(time)
            course.append(s.copy())
    return np.array(times), np.array(course), len(times)


@signature(
    "OGA-6",
    source=f"{PAPER}, figure 1: of synapses that are all active until a reward 1 to 3 s later, the one "
    "that precedes each reward outgrows the others, which stay weak",
    figure="distal_reward",
    papers=KEY,
)
def the_synapse_before_a_distal_reward_is_chosen(specimen: Any) -> Any:
    _, course, _ = rewarded(specimen, 1200.0)
    return at_least([course[-1][0] / 2.0, course[-1][0] / course[-1][1:].max() / 2.0], 1.0)


# --- in a memory ----------------------------------------------------------------------------------
N, UNIT = 6, 1.0 / 3600.0  # memories; h
AXES = {f"event {row}": np.eye(N)[row].tolist() for row in range(N)}
# time in s, session, question, rows that it needed, outcome
USES: tuple[tuple[float, str, int, tuple[int, ...], float | None], ...] = (
    (1.000, "x", 0, (0, 1), None),
    (1.004, "y", 4, (4, 5), None),
    (1.012, "x", 2, (2,), None),
    (1.500, "z", 0, (), 1.0),
    (2.200, "y", 5, (5, 3), 0.0),
    (2.220, "y", 0, (0, 3, 4), -0.4),
    (2.900, "", 1, (1, 2), 1.0),
    (3.000, "x", 3, (1, 2, 0, 3), 0.8),
    (3.018, "x", 5, (5, 0), None),
    (3.600, "z", 4, (4,), -1.0),
    (4.400, "y", 2, (2, 3), 1.0),
    (4.450, "y", 1, (1, 2), 0.9),
    (4.500, "z", 0, (0, 5), -0.7),
)


def ended(memory: Engine, specimen: Any) -> list[float]:
    """Strength of each association now, as the share of the best match that arrives."""
    arrived: list[float] = []
    for row in range(N):
        memory.retrieve(Query(f"event {row}"))
        match = memory.column(MATCH).astype(float)
        arrived += (np.nan_to_num(memory.column(specimen.SERVED_TOGETHER)) / match[row]).tolist()
    return arrived


def story(specimen: Any, scale: float) -> tuple[list[float], Array]:
    """Strengths as shares, asked in the midst of the uses and at their end, and by scipy."""
    strongest, unit = 1.1, UNIT * scale
    memory = memory_of(
        specimen,
        "dense_similarity",
        time_scale=scale,
        embedder=Scripted(AXES),
        strongest=strongest,
        seeds=1,
        present=0.0,
    )
    # each in a session of its own
    encode(memory, *(Event(0.0, t, session=t, dated=False) for t in AXES))
    last, jumps = dict[str, tuple[float, list[int]]](), list[tuple[float, Array, float]]()
    measured, asked = list[float](), list[float]()
    for time, session, question, rows, outcome in USES:
        memory.advance(time * unit)
        answer = memory.retrieve(Query(f"event {question}", session=session), k=N)
        memory.use(answer, rows, outcome)
        best = [row for row in answer.rows.tolist() if row in rows][:3]
        marks = np.zeros((N, N))
        marks[np.ix_(best, best)] = A_PLUS * (1.0 - np.eye(len(best)))
        before, others = last.get(session, (0.0, []))
        for a in (a for a in others if a not in best):
            fall = math.exp(-(time - before) / TAU_WINDOW)
            marks[a, best], marks[best, a] = A_PLUS * fall, -A_MINUS * fall
        if session and best:
            last[session] = time, best
        jumps.append((time, marks.ravel(), RELEASE * (outcome or 0.0)))
        if outcome is not None:
            asked.append(time + 0.01)
            memory.advance(asked[-1] * unit)
            measured += ended(memory, specimen)
    return measured, (solved(jumps, asked, strongest) / strongest).ravel()


@equation(
    "OGA-7",
    source=f"{PAPER}: the three equations by scipy.integrate.solve_ivp, one synapse after the other, "
    "over uses and outcomes in sessions, at kappa 1 and 3600",
    rtol=1e-5,
    atol=1e-6,
    papers=KEY,
)
def a_memory_associates_what_served(specimen: Any) -> Any:
    yield story(specimen, 1.0)
    yield story(specimen, 3600.0)


@limit(
    "OGA-8",
    source="definition: no association without an outcome, with an outcome of 0, with a bad one alone, "
    "or with a good one a minute later, rather than one of 1e-26; one at once is a fifth of the largest",
    rtol=1e-6,
)
def without_an_outcome_in_time_nothing_is_associated(specimen: Any) -> Any:
    for outcome, later, share in (
        (None, None, 0.0),
        (0.0, None, 0.0),
        (-1.0, None, 0.0),
        (None, 60.0, 0.0),
        (1.0, None, A_PLUS * RELEASE * TAU_C * TAU_D / (TAU_C + TAU_D) / STEP / STRONGEST),
    ):
        memory = memory_of(
            specimen, "dense_similarity", embedder=Scripted(AXES), seeds=1, present=0.0
        )
        encode(memory, *(Event(0.0, t, session=t, dated=False) for t in AXES))
        memory.use(memory.retrieve("event 2"), (2, 4), outcome)
        if later:
            memory.advance(later * UNIT)
            memory.use(memory.retrieve("event 0"), (), 1.0)
        memory.advance(0.5)
        memory.retrieve("event 2")
        match = float(memory.column(MATCH)[2])
        arrived = memory.column(specimen.SERVED_TOGETHER) / match
        expected = np.full(N, -1.0)
        if share:
            expected[4] = share
        yield np.nan_to_num(arrived, nan=-1.0), expected


@equation("OGA-9", source=LAST_USE, rtol=1e-6, atol=1e-9)
def what_was_used_last_passes_activation_on(specimen: Any) -> Any:
    n, together = N, 2.5
    release = np.array([1.5, 0.5, 0.8, 0.9, 1.2, 0.7])
    supply_of = np.array([0.9, 0.6, 1.0, 0.4, 0.5, 0.3])

    places = {
        f"event {row}": place
        for row, place in enumerate(
            ([-0.5, 1.0], [0.9, -0.3], [-1.0, 0.0], [0.98, 0.15], [0.95, 0.1], [0.7, 0.6])
        )
    }
    memory = memory_of(
        specimen,
        "dense_similarity",
        marking(RELEASE_PROBABILITY, release),
        giving(Phase.RETRIEVE, RESOURCES, supply_of),
        embedder=Scripted({**places, "query": [1.0, 0.1]}),
        seeds=2,
        present=together,
    )
    for row, text in enumerate(places):
        encode(memory, Event(float(row), text, session=str(row), dated=False))
    last = dict[str, list[int]]()
    for time, session, rows, outcome in (
        (8.0, "x", [2, 4], 1.0),
        (9.0, "y", [0, 4, 3], 0.6),
        (10.0, "x", [5, 1], 0.9),
        (11.0, "x", [0, 1], 1.0),
        (12.0, "y", [5, 3], -1.0),
        (13.0, "x", [4, 2], 0.3),
    ):
        memory.advance(time)
        memory.use(memory.retrieve(Query("query", session=session)), rows, outcome)
        last[session] = rows
    measured, expected = list[float](), list[float]()
    memory.advance(20.0)
    most = A_PLUS * RELEASE * TAU_C * TAU_D / (TAU_C + TAU_D) / STEP / STRONGEST
    w = np.zeros((n, n))
    for rows, outcome in (([2, 4], 1.3), ([0, 4, 3], 0.6), ([5, 1], 0.9), ([0, 1], 1.0)):
        for a in rows:
            for b in rows:
                w[a, b] += most * outcome * (a != b)
    # an archived memory passes nothing on
    for archived in (None, 2):
        if archived is not None:
            memory.archive(archived)
        passed, by_hand = passed_on(
            memory, specimen.SERVED_TOGETHER, w, last, archived, together, release * supply_of
        )
        measured, expected = measured + passed, expected + by_hand
    return measured, expected


@limit(
    "OGA-10",
    source="definition: an outcome reaches associations of every session alike, and a memory that has "
    "no pair of its own when it is told; c and d of the columns by hand",
)
def an_outcome_reaches_all_that_is_eligible(specimen: Any) -> Any:
    memory = memory_of(specimen, "dense_similarity", embedder=Scripted(AXES))
    encode(memory, *(Event(0.0, t, session=t, dated=False) for t in AXES))
    for seconds, session, rows, outcome in (
        (1.0, "x", (0, 1), 0.5),
        (1.3, "y", (2, 3), None),
        (1.6, "z", (4,), 1.0),
    ):
        memory.advance(seconds * UNIT)
        memory.use(memory.retrieve(Query("event 0", session=session)), rows, outcome)
    edges = [
        memory.graph.find(a, b, EdgeType.COACCESS) for a, b in ((0, 1), (1, 0), (2, 3), (3, 2))
    ]
    c = memory.column(specimen.ELIGIBILITY)[edges]
    return [*c, float(memory.column(specimen.OUTCOME_LEVEL)), memory.graph.n_edges], [
        *[A_PLUS * math.exp(-0.6 / TAU_C)] * 2,
        *[A_PLUS * math.exp(-0.3 / TAU_C)] * 2,
        RELEASE * (0.5 * math.exp(-0.6 / TAU_D) + 1.0),
        4,
    ]


crowded = adaptation("OGA-11", source=CROWDED)(associates_of_a_crowded_memory)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "distal_reward",
    caption="The synapse that fires in order 1 to 3 s before each reward grows; the others fire as often, "
    "and stay weak",
    source=f"{PAPER}, figure 1",
)
def strengths_over_rewards(specimen: Any) -> Picture:
    times, course, _ = rewarded(specimen, 1200.0)
    return Picture(
        "time, s",
        "strength, mV",
        (
            Curve("before each reward", times, course[:, 0]),
            Curve("largest of the others", times, course[:, 1:].max(axis=1)),
        ),
    )


@figure(
    "delay",
    caption="The later the reward, the less it changes",
    source="closed form: e^(-delay / tau_c)",
)
def change_over_delay(specimen: Any) -> Picture:
    delays = np.linspace(0.0, 4.0, 41)
    grown = [
        lived(specimen, [(5.0, A_PLUS, 0.0), (5.0 + lag, 0.0, RELEASE)], [60.0])[0]
        for lag in delays
    ]
    most = A_PLUS * RELEASE / (1.0 / TAU_C + 1.0 / TAU_D) / STEP
    marks = np.arange(5.0)
    return Picture(
        "from pair to reward, s",
        "change, mV",
        (
            Curve("mechanism", delays, np.array(grown)),
            dots("closed form", marks, most * np.exp(-marks)),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("dopamine that is gone at once", rejected_by="OGA-1")
def gone_at_once(specimen: Any) -> Any:
    return specimen.replacing("gated", lambda c, d, t, tau_c, tau_d: c * d * tau_d * (t > 0.0))


@mutant("dopamine does not fade between outcomes", rejected_by="OGA-2")
def lasting(specimen: Any) -> Any:
    def strength(now: float, c: float, s: float, at: float, level: float, *rest: Any) -> float:
        return float(specimen.strength(now, c, s, at, level, at, *rest[1:]))

    return specimen.replacing("strength", strength)


@mutant("strengths without bounds", rejected_by="OGA-3")
def unbounded(specimen: Any) -> Any:
    def strength(
        now: float,
        c: float,
        s: float,
        at: float,
        level: float,
        since: float,
        tau_c: float,
        tau_d: float,
        step: float,
        strongest: float,
    ) -> float:
        d = level * math.exp(-(at - since) / tau_d)
        return float(s + specimen.gated(c, d, now - at, tau_c, tau_d) / step)

    return specimen.replacing("strength", strength)


@mutant("the eligibility fades with the time constant of dopamine", rejected_by="OGA-4")
def short_trace(specimen: Any) -> Any:
    def advance(now: float, edges: Any, level: float, since: float, *rest: Any) -> None:
        tau_c, tau_d, step, strongest, c, s, at = rest
        elapsed = now - at[edges]
        before = c[edges]
        specimen.advance(now, edges, level, since, tau_c, tau_d, step, strongest, c, s, at)
        c[edges] = before * np.exp(-elapsed / tau_d)

    return specimen.replacing("advance", advance)


@mutant("the sides of the window exchanged", rejected_by="OGA-5")
def exchanged(specimen: Any) -> Any:
    return specimen.replacing("window", lambda lag, *rest: specimen.window(-lag, *rest))


@mutant("no order: all pairs are marked alike", rejected_by="OGA-6")
def unordered(specimen: Any) -> Any:
    return specimen.replacing("window", lambda lag, a, b, tau: a * math.exp(-abs(lag) / tau))


@mutant("no trace: only pairs at the time of the reward are changed", rejected_by="OGA-6")
def without_a_trace(specimen: Any) -> Any:
    def advance(now: float, edges: Any, *rest: Any) -> None:
        *course, c, s, at = rest
        late = now - at[edges] > 0.05
        specimen.advance(now, edges, *course, c, s, at)
        c[edges[late]] = 0.0

    return specimen.replacing("advance", advance)


@mutant("the time scale does not apply", rejected_by="OGA-7")
def unscaled(specimen: Any) -> Any:
    return without_scale(specimen, "OutcomeGatedAssociation")


@mutant("strengths of the last use, not of now", rejected_by="OGA-7")
def of_the_last_use(specimen: Any) -> Any:
    def weights_from(rows: Any, now: float, level: float, *rest: Any) -> None:
        specimen.weights_from(rows, now, 0.0, *rest)

    return specimen.replacing("weights_from", weights_from)


def another_outcome(specimen: Any, changed: Any) -> Any:
    """The plug-in with a changed outcome."""

    def on_recall(self: Any, view: Any, cue: Any) -> None:
        another = Instead(view, outcome=changed(view.outcome))
        specimen.OutcomeGatedAssociation.on_recall(self, another, cue)

    return specimen.overriding("OutcomeGatedAssociation", on_recall=on_recall)


@mutant("a bad outcome counts as a good one", rejected_by="OGA-7")
def unsigned(specimen: Any) -> Any:
    return another_outcome(specimen, abs)


@mutant("a use without an outcome counts as a good one", rejected_by="OGA-8")
def ungated(specimen: Any) -> Any:
    return another_outcome(specimen, lambda outcome: 1.0 if math.isnan(outcome) else outcome)


@mutant("every strength above 0 passes on", rejected_by="OGA-8")
def without_least(specimen: Any) -> Any:
    return specimen.replacing("LEAST", 0.0)


@mutant("the resources of a memory do not matter to what it passes on", rejected_by="OGA-9")
def endless(specimen: Any) -> Any:
    return specimen.replacing(
        "pass_on",
        lambda rows, match, release, resources, *rest: specimen.pass_on(
            rows, match, release, np.ones_like(resources), *rest
        ),
    )


@mutant("what was used last passes on only its match", rejected_by="OGA-9")
def without_a_past(specimen: Any) -> Any:
    sources = specimen.sources
    return specimen.replacing(
        "sources",
        lambda match, visible, used, seeds, present: sources(match, visible, used, seeds, 0.0),
    )


@mutant("a use forgets what earlier uses made eligible", rejected_by="OGA-10")
def one_use(specimen: Any) -> Any:
    def mark(edge: Any, lag: Any, a_plus: float, a_minus: float, tau: float, c: Any) -> None:
        if edge.size:
            c[...] = 0.0
        specimen.mark(edge, lag, a_plus, a_minus, tau, c)

    return specimen.replacing("mark", mark)
