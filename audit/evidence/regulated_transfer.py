"""Evidence for regulated_transfer.  References are gradient descent step by step, scipy's solution of
the flow, and made teachers of known predictability with new pairs of their own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from ...engine.contract.records import Event, Query
from ...engine.memory.engine import Engine
from ..checks import at_least, at_most, equation, limit, mutant, signature
from ..figures import Curve, Picture, figure
from ..memory import Scripted, encode, memory_of
from .shared.once import computed_once

Array = NDArray[np.float64]
Pairs = tuple[Array, Array]
PAPER, KEY = "Sun et al. 2023", ("sun2023organizing",)
RATE, SIZE, EPOCHS = 0.015, 100, 2000  # of the authors' code: inputs as many as pairs


# --- references -----------------------------------------------------------------------------------
def taught(snr: float, seed: int, pairs: int = SIZE, new: int = 1000) -> tuple[Pairs, Pairs]:
    """Pairs of a linear teacher, and new ones: weights have the variance snr / (1 + snr), the noise
    of the outputs 1 / (1 + snr), as in the authors' code.
    """
    rng, share = np.random.default_rng(seed), snr / (1.0 + snr)
    w = rng.normal(0.0, math.sqrt(share), (SIZE, 1))
    drawn = []
    for count in (pairs, new):
        x = rng.normal(0.0, SIZE**-0.5, (count, SIZE))
        drawn.append((x, x @ w + rng.normal(0.0, math.sqrt(1.0 - share), (count, 1))))
    return drawn[0], drawn[1]


@computed_once
def descended(x: Array, y: Array, rate: float, steps: list[int]) -> list[Array]:
    """W after some numbers of steps of W += rate X'(Y - X W) from zero."""
    w, course = np.zeros((x.shape[1], y.shape[1])), []
    for step in range(max(steps) + 1):
        if step in steps:
            course.append(w.copy())
        w = w + rate * (x.T @ y - x.T @ x @ w)
    return course


def small(seed: int) -> tuple[Pairs, Pairs]:
    """Eight pairs of six inputs and three outputs, of which one direction is never seen, and five
    pairs that are held out.
    """
    rng = np.random.default_rng(seed)
    x, y, held_x, held_y = (rng.normal(0.0, 1.0, s) for s in ((8, 6), (8, 3), (5, 6), (5, 3)))
    x[:, 5] = 0.0
    return (x, y), (held_x, held_y)


def error(pairs: Pairs, w: Array) -> float:
    """Mean squared error of pairs."""
    return float(np.mean(np.sum((pairs[1] - pairs[0] @ w) ** 2, axis=1)))


# --- the student ----------------------------------------------------------------------------------
@equation(
    "RT-1",
    source="scipy.integrate.solve_ivp of dW/dt = X'(Y - X W), and the solution by scipy.linalg.expm",
    rtol=1e-6,
    atol=1e-9,
    papers=KEY,
)
def the_student_follows_the_flow(specimen: Any) -> Any:
    (x, y), _ = small(1)
    times = (0.0, 0.05, 0.7, 4.0)
    solved = solve_ivp(
        lambda _, w: (x.T @ (y - x @ w.reshape(6, 3))).ravel(),
        (0.0, 4.0),
        np.zeros(18),
        rtol=1e-10,
        atol=1e-12,
        t_eval=times,
    ).y.T.reshape(4, 6, 3)
    both = np.zeros((9, 9))  # exp of [[-X'X, X'Y], [0, 0]] has W in its corner
    both[:6, :6], both[:6, 6:] = -x.T @ x, x.T @ y
    closed = [expm(t * both)[:6, 6:] for t in times]
    ours = [specimen.learnt(x, y, t) for t in times]
    return [ours, ours], [solved, closed]


@equation(
    "RT-2",
    source=f"{PAPER}, authors' code: steps of rate 0.015 from zero, 100 pairs of 100 inputs; a step "
    "keeps 1 - z and a flow e^-z of what is left, which differ by at most z / (2 e) after any "
    "number of steps, z = 0.015 times the largest eigenvalue, of an error of at most |Y|",
    papers=KEY,
)
def the_flow_is_gradient_descent_in_small_steps(specimen: Any) -> Any:
    (x, y), _ = taught(4.0, 2)
    steps = [1, 10, 100, 1000, EPOCHS]
    course = descended(x, y, RATE, steps)
    apart = [
        np.linalg.norm(x @ (specimen.learnt(x, y, RATE * step) - w)) / np.linalg.norm(y)
        for step, w in zip(steps, course, strict=True)
    ]
    return at_most(apart, float(RATE * np.linalg.norm(x.T @ x, 2) / (2.0 * math.e)))


@equation(
    "RT-3",
    source="the definition, |Y - X W|^2 of the held-out pairs, with W by scipy.linalg.expm",
    rtol=1e-8,
    papers=KEY,
)
def errors_are_those_of_the_held_out_pairs(specimen: Any) -> Any:
    times, measured, expected = np.array([0.0, 0.02, 0.3, 2.0]), [], []
    for seed in range(3):
        (x, y), held = small(seed)
        both = np.zeros((9, 9))
        both[:6, :6], both[:6, 6:] = -x.T @ x, x.T @ y
        measured.append(specimen.errors(x, y, *held, times))
        expected.append([error(held, expm(t * both)[:6, 6:]) for t in times])
    return measured, expected


@equation(
    "RT-4",
    source=f"{PAPER}: the smallest error along gradient descent step by step, rate 0.015, with 100 new "
    "pairs that are not learnt; times are 12 percent apart, and the error is flat there",
    rtol=2e-3,
    papers=KEY,
)
def learning_stops_where_it_generalises_best(specimen: Any) -> Any:
    measured, expected = [], []
    for snr, seed in ((0.1, 3), (1.0, 4), (10.0, 5)):
        (x, y), held = taught(snr, seed, new=100)
        time = specimen.best_time(x, y, *held)
        measured.append(error(held, specimen.learnt(x, y, time)))
        every = descended(x, y, RATE, list(range(0, EPOCHS + 1, 2)))
        expected.append(min(error(held, w) for w in every))
    return measured, expected


def generalised(specimen: Any, snr: float) -> tuple[float, float, float, float]:
    """Over 10 teachers, errors of 1,000 new pairs: of no student, of one that stops by 100 held-out
    pairs, of one that learns all; and the share of the learnt outputs that the second one holds.
    """
    rows = []
    for seed in range(10):
        (x, y), (new_x, new_y) = taught(snr, 100 + seed, new=1100)
        new = new_x[100:], new_y[100:]
        w = specimen.learnt(x, y, specimen.best_time(x, y, new_x[:100], new_y[:100]))
        all_of_it = specimen.learnt(x, y, 1e4)
        rows.append(
            (
                error(new, 0.0 * w),
                error(new, w),
                error(new, all_of_it),
                1.0 - error((x, y), w) / error((x, y), 0.0 * w),
            )
        )
    none, regulated, unregulated, share = np.mean(rows, axis=0)
    return float(none), float(regulated), float(unregulated), float(share)


@signature(
    "RT-5",
    source=f"{PAPER}: where the teacher is noisy, full transfer harms generalisation and regulated "
    "transfer does not; the more predictable the teacher, the more is transferred",
    figure="transfer",
    papers=KEY,
)
def only_what_is_predictable_is_transferred(specimen: Any) -> Any:
    noisy, even, clear = (generalised(specimen, snr) for snr in (0.05, 1.0, 20.0))
    return bool(
        noisy[2] > 2.0 * noisy[0]
        and noisy[1] < 1.05 * noisy[0]
        and even[1] < 0.9 * even[0] < even[2]
        and clear[1] < 0.6 * clear[0]
        and noisy[3] < 0.2 < 0.4 < even[3] < clear[3]
    )


@limit(
    "RT-6",
    source="definition: a student that would predict the held-out pairs worst with anything it learns "
    "learns nothing; outputs reversed in sign between the learnt and the held-out pairs",
)
def what_misleads_stays_in_the_notebook(specimen: Any) -> Any:
    (x, y), _ = small(4)
    times = [specimen.best_time(x, y, x, sign * y) for sign in (-1.0, 1.0)]
    return [times[0], float(times[1] > 0.0), specimen.best_time(0.0 * x, y, x, y)], [0.0, 1.0, 0.0]


# --- in a memory ----------------------------------------------------------------------------------
D, TALKS = 5, ("a", "b", "c")


def walk(seed: int, events: int, noise: float) -> tuple[list[str], Array]:
    """The session of each event in turn, and its vector: each turns the one before it in its session
    by the same turn, with some noise.
    """
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(D, D)))[0]
    last = {talk: rng.normal(size=D) for talk in TALKS}
    sessions, vectors = [], []
    for _ in range(events):
        talk = TALKS[int(rng.integers(len(TALKS)))]
        v = turn @ last[talk] + noise * rng.normal(size=D) + 0.3
        last[talk] = v / np.linalg.norm(v)
        sessions.append(talk)
        vectors.append(last[talk])
    return sessions, np.array(vectors)


def lived(
    specimen: Any,
    sessions: list[str],
    vectors: Array,
    archived: tuple[int, ...] = (),
    **values: Any,
) -> Engine:
    """A memory of these events, an hour apart, that has slept twice after the last one."""
    places = {f"event {i}": v.tolist() for i, v in enumerate(vectors)}
    embedder = Scripted({**places, "question": [1.0, 0.5, -0.5, 0.2, 0.0]})
    memory = memory_of(specimen, "dense_similarity", embedder=embedder, **values)
    for hour, session in enumerate(sessions):
        encode(memory, Event(float(hour), f"event {hour}", session=session, dated=False))
    for row in archived:
        memory.archive(row)
    memory.advance(len(sessions) + 48.0)
    return memory


@computed_once
def by_hand(
    sessions: list[str], vectors: Array, archived: tuple[int, ...], held: int, most: int
) -> tuple[Array, Array]:
    """W and the mean input: pairs listed one by one, gradient descent in small steps, kept where the
    held-out pairs are predicted best.
    """
    last, pairs = dict[str, int](), list[tuple[int, int]]()
    for row, session in enumerate(sessions):
        if row in archived:
            continue
        if session in last:
            pairs.append((last[session], row))
        last[session] = row
    pairs = pairs[-most:]
    judges = [pair for k, pair in enumerate(pairs, 1) if k % held == 0]
    lessons = [pair for k, pair in enumerate(pairs, 1) if k % held]
    units = np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
    x, y, held_x, held_y = (
        np.array([units[pair[end]] for pair in chosen], np.float64)
        for chosen in (lessons, judges)
        for end in (0, 1)
    )
    mean, mean_y = x.mean(axis=0), y.mean(axis=0)
    x, y, held_x, held_y = x - mean, y - mean_y, held_x - mean, held_y - mean_y
    w, best, least = np.zeros((D, D)), np.zeros((D, D)), math.inf
    for _ in range(8_000):
        if (now := error((held_x, held_y), w)) < least:
            least, best = now, w
        w = w + 0.004 * (x.T @ y - x.T @ x @ w)
    return best, mean


@equation(
    "RT-7",
    source=f"{PAPER}: pairs listed one by one and gradient descent in small steps, stopped at its "
    "smallest error of the held-out pairs; times are 12 percent apart",
    atol=0.02,
    papers=KEY,
)
def a_memory_learns_what_follows_what(specimen: Any) -> Any:
    for seed, noise, archived, held in ((1, 0.2, (), 5), (2, 0.6, (7, 8, 20), 3)):
        sessions, vectors = walk(seed, 60, noise)
        memory = lived(specimen, sessions, vectors, archived, held=held)
        w, mean = by_hand(sessions, vectors, archived, held, 10**6)
        memory.retrieve(Query("question"))
        question = np.array([1.0, 0.5, -0.5, 0.2, 0.0])
        expected = (question / np.linalg.norm(question) - mean) @ w
        kept = [row for row in range(60) if row not in archived]
        yield memory.column(specimen.STUDENT_WEIGHTS), w
        cosines = vectors[kept] @ expected / np.linalg.norm(expected)
        yield np.nan_to_num(memory.column(specimen.EXPECTED_NEXT)[kept]), np.maximum(cosines, 0.0)


@limit(
    "RT-8",
    source="definition: what older pairs say does not matter beyond the most that are replayed; the "
    "memory of the latest events alone, with the last event before them",
    rtol=1e-9,
)
def only_the_latest_pairs_are_replayed(specimen: Any) -> Any:
    sessions, vectors = ["a"] * 60, walk(3, 60, 0.3)[1]
    bounded = lived(specimen, sessions, vectors, pairs=24)
    short = lived(specimen, sessions[35:], vectors[35:])
    ours, theirs = (m.column(specimen.STUDENT_WEIGHTS) for m in (bounded, short))
    return [ours, [[float(np.abs(ours).max() > 0.05)] * D] * D], [theirs, np.ones((D, D))]


@limit(
    "RT-9",
    source="definition: nothing is expected before a sleep, by a question without a text, after pairs "
    "that are too few to judge, or in sessions of one event; two pairs are enough to judge",
)
def without_a_student_nothing_is_expected(specimen: Any) -> Any:
    sessions, vectors = walk(1, 60, 0.2)
    slept = lived(specimen, sessions, vectors)
    slept.retrieve(Query("", session="a"))
    silent = [bool(np.isnan(slept.column(specimen.EXPECTED_NEXT)).all())]
    for those, count in ((sessions, 11), ([str(i) for i in range(60)], 60)):
        memory = lived(specimen, those[:count], vectors[:count])
        memory.retrieve("question")
        silent.append(bool(np.isnan(memory.column(specimen.EXPECTED_NEXT)).all()))
    awake = lived(specimen, sessions[:20], vectors[:20], consolidate_every=1e6)
    awake.retrieve("question")
    silent.append(bool(np.isnan(awake.column(specimen.EXPECTED_NEXT)).all()))
    silent.append(float(awake.column(specimen.STUDENT_TIME)) == 0.0)
    slept.retrieve("question")
    expects = not np.isnan(slept.column(specimen.EXPECTED_NEXT)).all()
    # two of ten pairs judge, one of nine
    angles = 0.5 * np.arange(11.0)
    regular = np.stack([np.cos(angles), np.sin(angles), *np.zeros((D - 2, 11))], axis=1)
    one_session = [
        float(lived(specimen, ["a"] * n, regular[:n], held=5).column(specimen.STUDENT_TIME)) > 0.0
        for n in (10, 11)
    ]
    return [*silent, expects, float(slept.column(specimen.STUDENT_TIME)) > 0.0, *one_session], [
        *[True] * 7,
        False,
        True,
    ]


@signature(
    "RT-10",
    source=f"{PAPER}: in a memory, a predictable world is transferred, and of a world without a rule "
    "less than a tenth as much",
    papers=KEY,
)
def a_world_without_a_rule_is_hardly_transferred(specimen: Any) -> Any:
    size = []
    for noise in (0.1, 100.0):
        weights = [
            lived(specimen, *walk(seed, 80, noise)).column(specimen.STUDENT_WEIGHTS)
            for seed in (4, 5, 6, 7)
        ]
        size.append(float(np.mean([np.linalg.norm(w) for w in weights])))
    return at_least(size[0] / max(size[1], 1e-9), 10.0)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "transfer",
    caption="The noisier the teacher, the earlier the student must stop; a student that learns all "
    "predicts new pairs worse than none",
    source=f"{PAPER}: regulated and full transfer",
)
def errors_over_predictability(specimen: Any) -> Picture:
    snr = np.array([0.05, 0.2, 1.0, 4.0, 20.0])
    rows = np.array([generalised(specimen, float(s)) for s in snr])
    return Picture(
        "signal to noise ratio of the teacher",
        "error of new pairs; share transferred",
        (
            Curve("no student", snr, rows[:, 0]),
            Curve("regulated transfer", snr, rows[:, 1]),
            Curve("full transfer, at most 3", snr, np.minimum(rows[:, 2], 3.0)),
            Curve("share of the learnt outputs", snr, rows[:, 3]),
        ),
        log="x",
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("the student follows its inputs alone: Hebb, without an error", rejected_by="RT-1")
def hebbian(specimen: Any) -> Any:
    return specimen.replacing("flow", lambda eigenvalues, time: time * np.ones(len(eigenvalues)))


@mutant("the flow runs twice as fast", rejected_by="RT-2")
def fast(specimen: Any) -> Any:
    return specimen.replacing("learnt", lambda x, y, time: specimen.learnt(x, y, 2.0 * time))


@mutant("errors of what was learnt", rejected_by="RT-3")
def of_the_learnt(specimen: Any) -> Any:
    return specimen.replacing(
        "errors", lambda x, y, held_x, held_y, times: specimen.errors(x, y, x, y, times)
    )


@mutant("learning never stops: full transfer", rejected_by="RT-5")
def full(specimen: Any) -> Any:
    return specimen.replacing("best_time", lambda *rest: 1e4)


@mutant("the student stops at the smallest error of what it learns", rejected_by="RT-4")
def trained_to_the_end(specimen: Any) -> Any:
    return specimen.replacing(
        "best_time", lambda x, y, held_x, held_y: specimen.best_time(x, y, x, y)
    )


@mutant("the student always learns a little", rejected_by="RT-6")
def always(specimen: Any) -> Any:
    return specimen.replacing(
        "best_time", lambda *pairs: max(float(specimen.best_time(*pairs)), 0.01)
    )


def paired(specimen: Any, changed: Any) -> Any:
    """The plug-in with other pairs."""

    def following(session: Any, kind: Any, visible: Any, most: int) -> tuple[Any, Any]:
        first, second = changed(session, kind, visible, most)
        return first, second

    return specimen.replacing("following", following)


@mutant("an event predicts the one before it", rejected_by="RT-7")
def backwards(specimen: Any) -> Any:
    return paired(specimen, lambda *rest: specimen.following(*rest)[::-1])


@mutant("sessions are one", rejected_by="RT-7")
def one_session(specimen: Any) -> Any:
    return paired(
        specimen, lambda session, *rest: specimen.following(np.zeros_like(session), *rest)
    )


@mutant("archived events are replayed", rejected_by="RT-7")
def all_rows(specimen: Any) -> Any:
    return paired(
        specimen,
        lambda session, kind, visible, most: specimen.following(
            session, kind, np.ones_like(visible), most
        ),
    )


@mutant("the oldest pairs are replayed", rejected_by="RT-8")
def oldest(specimen: Any) -> Any:
    def changed(session: Any, kind: Any, visible: Any, most: int) -> Any:
        first, second = specimen.following(session, kind, visible, 10**9)
        return first[:most], second[:most]

    return paired(specimen, changed)


@mutant("one held-out pair judges", rejected_by="RT-9")
def hasty(specimen: Any) -> Any:
    return specimen.replacing("LEAST_HELD", 1).replacing("best_time", lambda *rest: 1.0)


@mutant("in a memory, learning never stops", rejected_by="RT-10")
def full_in_a_memory(specimen: Any) -> Any:
    return specimen.replacing("best_time", lambda *rest: 1e4)
