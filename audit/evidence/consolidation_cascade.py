"""Evidence for consolidation_cascade.  References: transition matrices written entry by entry,
synapses drawn one by one, and a general solver for the chain; none calls a kernel it judges.  Time
is counted in events.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import LOG_STRENGTH, REPLAYS
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
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour
from ..paper_numbers import paper_number
from .shared.scripts import refusing

FUSI, BENNA = "Fusi, Drew & Abbott 2005", "Benna & Fusi 2016"
X = 0.5
NUMBERS = (paper_number("x", X, "1", paper="fusi2005cascade", where="transition probabilities"),)
Matrix = NDArray[np.float64]


# --- the reference: states (+, 1..n), (-, 1..n) ---------------------------------------------------
def potentiation(n: int, x: float = X) -> Matrix:
    """M_pot, from the transition probabilities as the paper gives them."""
    m = np.zeros((2 * n, 2 * n))
    for level in range(1, n + 1):
        q = x ** (level - 1) / (1.0 if level < n else 1.0 - x)
        p = x**level / (1.0 - x) if level < n else 0.0
        strong, weak = level - 1, n + level - 1
        m[0, weak], m[weak, weak] = q, 1.0 - q
        m[strong, strong] = 1.0 - p
        if level < n:
            m[strong + 1, strong] = p
    return m


def mean_event(n: int, x: float = X) -> Matrix:
    pot, swap = potentiation(n, x), np.roll(np.eye(2 * n), n, axis=0)
    return np.asarray(0.5 * (pot + swap @ pot @ swap))


def signals(m: Matrix, v: Matrix, times: Any) -> Matrix:
    """S after each number of events."""
    read = np.repeat([1.0, -1.0], len(v) // 2)
    return np.array([read @ np.linalg.matrix_power(m, int(t)) @ v for t in times])


# --- the specimen as matrices ---------------------------------------------------------------------
def matrices(specimen: Any, n: int, x: float = X) -> tuple[Matrix, Matrix]:
    """M_pot and M as the specimen's kernels make them."""
    q, p = specimen.overwriting(n, x), specimen.deepening(n, x)
    made = []
    for act in (specimen.potentiate, specimen.overwrite):
        columns = []
        for state in np.eye(2 * n):
            strong, weak = state[:n].copy(), state[n:].copy()
            act(strong, weak, q, p)
            columns.append(np.concatenate([strong, weak]))
        made.append(np.array(columns).T)
    return made[0], made[1]


def kept(specimen: Any, n: int, times: Any, replays: int = 1, x: float = X) -> Matrix:
    """The specimen's S of a memory potentiated `replays` times, after each number of later
    events.
    """
    pot, m = matrices(specimen, n, x)
    v = np.linalg.matrix_power(pot, replays) @ np.full(2 * n, 0.5 / n)
    states = (np.linalg.matrix_power(m, int(t)) @ v for t in times)
    return np.array([specimen.signal(state[:n], state[n:]) for state in states])


def fit(x: Any, y: Any) -> float:
    """R^2 of a straight line."""
    return float(np.corrcoef(x, y)[0, 1] ** 2)


# --- the cascade ----------------------------------------------------------------------------------
@equation(
    "CM-1.1",
    source=f"{FUSI}: every state is as likely as every other, F = 1 / 2n",
    atol=1e-12,
    papers=("fusi2005cascade",),
)
def the_uniform_occupancy_is_stationary(specimen: Any) -> Any:
    sizes = (2, 3, 5, 10, 20)
    return [
        float(np.abs(matrices(specimen, n)[1] @ np.full(2 * n, 0.5 / n) - 0.5 / n).max())
        for n in sizes
    ], np.zeros(len(sizes))


@equation(
    "CM-1.1b",
    source=f"{FUSI}: M_pot and M, entry by entry",
    atol=1e-14,
    papers=("fusi2005cascade",),
)
def every_transition_has_its_probability(specimen: Any) -> Any:
    cases = ((2, 0.5), (6, 0.5), (7, 0.4))
    expected = [m.ravel() for n, x in cases for m in (potentiation(n, x), mean_event(n, x))]
    printed = [*specimen.overwriting(3, 0.4), *specimen.deepening(3, 0.4)]
    return np.concatenate(
        [*(m.ravel() for n, x in cases for m in matrices(specimen, n, x)), printed]
    ), np.concatenate([*expected, [1.0, 0.4, 0.16 / 0.6, 0.4 / 0.6, 0.16 / 0.6, 0.0]])


@equation(
    "CM-1.1c",
    source="columns of a transition matrix are probabilities and add up to 1",
    atol=1e-12,
    papers=("fusi2005cascade",),
)
def the_number_of_synapses_is_conserved(specimen: Any) -> Any:
    both = np.concatenate(matrices(specimen, 9), axis=1)
    return np.append(both.sum(axis=0), min(both.min(), 0.0) + 1.0), np.ones(37)


@equation(
    "CM-1.2", source=f"{FUSI}: S_0 = sum of q_i / n = 2 / n", atol=1e-9, papers=("fusi2005cascade",)
)
def the_initial_signal_is_two_over_n(specimen: Any) -> Any:
    return [kept(specimen, n, [0])[0] for n in (2, 5, 10, 20)], [1.0, 0.4, 0.2, 0.1]


@signature(
    "CM-1.3",
    source=f"{FUSI}, n = 10: recomputed from its matrices",
    rtol=1e-3,
    figure="memory_signal",
    papers=("fusi2005cascade",),
)
def the_signal_after_one_to_a_thousand_events(specimen: Any) -> Any:
    times = [1, 10, 100, 1000]
    expected = signals(mean_event(10), potentiation(10) @ np.full(20, 0.05), times)
    return np.append(kept(specimen, 10, times), expected), [
        0.06667,
        0.03669,
        0.008195,
        0.0007281,
    ] * 2


@signature(
    "CM-1.3b",
    source="40 000 synapses drawn one by one; 4.5 standard errors",
    papers=("fusi2005cascade",),
)
def the_occupancies_are_the_expectation_of_random_synapses(specimen: Any) -> Any:
    n, count, rng = 5, 40_000, np.random.default_rng(7)
    jumps = potentiation(n)
    strong, level = rng.random(count) < 0.5, rng.integers(0, n, count)
    worst = 0.0
    for t in range(13):
        told = np.ones(count, bool) if t == 0 else rng.random(count) < 0.5
        same, luck = strong == told, rng.random(count)
        go = luck < np.where(same, 1.0 - jumps.diagonal()[level], 1.0 - jumps.diagonal()[n + level])
        level = np.where(go, np.where(same, level + 1, 0), level)
        strong = np.where(go & ~same, told, strong)
        if t % 4 == 0:
            values = np.where(strong, 1.0, -1.0)
            worst = max(
                worst,
                abs(values.mean() - kept(specimen, n, [t])[0]) / (values.std() / math.sqrt(count)),
            )
    return at_most(worst, 4.5)


@signature(
    "CM-1.4",
    source=f"{FUSI}: forgetting by the 3/4 power of time",
    atol=0.05,
    figure="memory_signal",
    papers=("fusi2005cascade",),
)
def the_signal_falls_by_the_three_quarter_power(specimen: Any) -> Any:
    early, late = kept(specimen, 10, [30, 300])
    return math.log(late / early) / math.log(10.0), -0.75


@limit(
    "CM-1.4b",
    source="two states, one level: S = q (1 - q)^t",
    atol=1e-12,
    papers=("fusi2005cascade",),
)
def with_one_level_forgetting_is_exponential(specimen: Any) -> Any:
    measured, q = [], np.array([0.3])
    strong, weak = np.array([0.5]), np.array([0.5])
    specimen.potentiate(strong, weak, q, np.zeros(1))
    for _ in range(20):
        measured.append(specimen.signal(strong, weak))
        specimen.overwrite(strong, weak, q, np.zeros(1))
    return measured, 0.3 * 0.7 ** np.arange(20)


@signature(
    "CM-1.4c",
    source="straight in log and log for the cascade, in log and linear for two states",
    figure="memory_signal",
    papers=("fusi2005cascade",),
)
def only_the_cascade_passes_the_test_of_a_power_law(specimen: Any) -> Any:
    times = np.arange(10, 301, 10)
    curves = (np.log(kept(specimen, 10, times)), np.log(0.05 * 0.95**times))
    verdicts = [fit(np.log(times), y) > fit(times, y) for y in curves]
    return bool(verdicts[0] and not verdicts[1])


@limit(
    "CM-1.9",
    source="Bahrick 1984: no common floor; share of deepest synapses that no event has changed, (1 - q_n / 2)^t; n = 20",
    papers=("bahrick1984semantic",),
)
def a_memory_trained_often_stays_and_one_seen_once_fades(specimen: Any) -> Any:
    """After many events, but fewer than 2^n, the well-trained memory keeps its signal; the other
    falls further by the same power.
    """
    n, times = 20, [10_000, 100_000]
    trained, once = kept(specimen, n, times, replays=2_000_000), kept(specimen, n, times)
    sure = [2.0 * (1.0 - 0.5 * X ** (n - 1) / (1.0 - X)) ** t - 1.0 for t in times]
    start = kept(specimen, n, [0])[0]
    ok = bool(
        (trained >= sure).all()
        and trained[0] > 0.95
        and (once / start < [0.01, 0.002]).all()
        and once[1] / once[0] < 0.25
    )
    return Measured(
        [*trained, *once],
        f"first two >= {sure[0]:.3f}, {sure[1]:.3f}; last two fall by the 3/4 power",
        ok,
    )


# --- the chain ------------------------------------------------------------------------------------
def levels(specimen: Any, t: float, m: int = 12, leak: bool = True) -> Any:
    """Levels of all beakers at a time t after a unit impulse on the first."""
    return specimen.beakers_after(np.eye(m)[0], t, 1.0, 0.25, leak)


def chain_slope(m: int, leak: bool) -> Any:
    """Right side of the differential equation, beaker by beaker."""
    c, g = [2.0**k for k in range(m)], [0.25 * 2.0**-k for k in range(m)]

    def slope(_: float, u: Any) -> list[float]:
        return [
            (
                (g[k - 1] * (u[k - 1] - u[k]) if k else 0.0)
                + (g[k] * (u[k + 1] - u[k]) if k + 1 < m else -g[k] * u[k] * leak)
            )
            / c[k]
            for k in range(m)
        ]

    return slope


@signature(
    "CM-1.5",
    source=f"{BENNA}: decay by the square root of time; m = 12",
    atol=0.02,
    figure="chain",
    papers=("benna2016computational",),
)
def the_chain_falls_by_the_square_root(specimen: Any) -> Any:
    starts = (1e2, 1e3, 1e4, 1e5)
    return [
        math.log(levels(specimen, 3.0 * t)[0] / levels(specimen, t)[0]) / math.log(3.0)
        for t in starts
    ], [-0.5] * 4


@equation(
    "CM-1.5b",
    source="solve_ivp of the chain, with and without a leak",
    atol=1e-8,
    papers=("benna2016computational",),
)
def the_chain_follows_its_differential_equation(specimen: Any) -> Any:
    cases = [(t, leak) for t in (3.0, 300.0, 20000.0) for leak in (True, False)]
    solved = [
        solve_ivp(
            chain_slope(7, leak), (0.0, t), np.eye(7)[0], method="LSODA", rtol=1e-10, atol=1e-12
        ).y[:, -1]
        for t, leak in cases
    ]
    return np.concatenate([levels(specimen, t, 7, leak) for t, leak in cases]), np.concatenate(
        solved
    )


@equation(
    "CM-1.6",
    source=f"{BENNA}: sum of C_k u_k is kept without a leak",
    atol=1e-9,
    papers=("benna2016computational",),
)
def without_a_leak_the_chain_conserves_its_content(specimen: Any) -> Any:
    return [
        levels(specimen, t, leak=False) @ 2.0 ** np.arange(12) for t in (1.0, 1e2, 1e4, 1e6)
    ], np.ones(4)


@limit(
    "CM-1.6b",
    source="levels of communicating vessels: sum of C_k u_k over sum of C_k",
    atol=1e-9,
    papers=("benna2016computational",),
)
def without_a_leak_all_beakers_reach_the_same_level(specimen: Any) -> Any:
    return levels(specimen, 1e9, 6, leak=False), np.full(6, 1.0 / 63.0)


# --- the adaptation -------------------------------------------------------------------------------
def life(specimen: Any, looks: int) -> Matrix:
    """State of five memories stored one after the other, then 40 other events, with replays;
    updated also at every `looks`-th event.
    """
    n = 6
    q, p = specimen.overwriting(n, X), specimen.deepening(n, X)
    _, m = matrices(specimen, n)
    turn = np.block([[np.eye(n), -np.eye(n)], [np.eye(n), np.eye(n)]])
    half = turn @ m @ np.linalg.inv(turn)
    lean, total = specimen.powers(half[:n, :n].copy()), specimen.powers(half[n:, n:].copy())
    balance, occupancy, as_of = np.zeros((5, n)), np.zeros((5, n)), np.zeros(5, np.int64)
    for event in range(1, 46):
        if event <= 5:
            fresh = turn @ (potentiation(n) @ np.full(2 * n, 0.5 / n))
            balance[event - 1], occupancy[event - 1], as_of[event - 1] = fresh[:n], fresh[n:], event
        stored = min(event, 5)
        if event in (12, 30) or event % looks == 0:
            times = np.array((1, 0, 3, 0, 2) if event in (12, 30) else (0,) * 5)[:stored]
            specimen.renew(
                np.arange(stored), times, event, balance, occupancy, as_of, lean, total, q, p, False
            )
    specimen.renew(
        np.arange(5), np.zeros(5, np.int64), 45, balance, occupancy, as_of, lean, total, q, p, False
    )
    return np.concatenate([balance, occupancy], axis=1)


@adaptation(
    "CM-1.10",
    source="every event applied to every memory when it occurs, by the reference's matrices",
    atol=1e-12,
)
def late_updates_equal_updates_at_every_event(specimen: Any) -> Any:
    n, pot, m = 6, potentiation(6), mean_event(6)
    expected = []
    for memory in range(5):
        v = pot @ np.full(2 * n, 0.5 / n)
        for event in range(memory + 2, 46):
            v = m @ v
            if event in (12, 30):
                v = np.linalg.matrix_power(pot, (1, 0, 3, 0, 2)[memory]) @ v
        expected.append(np.concatenate([v[:n] - v[n:], v[:n] + v[n:]]))
    return np.concatenate([life(specimen, 1000), life(specimen, 7)]), np.concatenate(
        [expected, expected]
    )


@adaptation("CM-1.11", source="S of the reference's matrices; least signal 1 / sqrt(N)", atol=1e-9)
def strength_is_the_signal_relative_to_its_start(specimen: Any) -> Any:
    n, m = 10, mean_event(10)
    v = potentiation(n) @ np.full(2 * n, 0.5 / n)
    step = np.column_stack([(m @ np.concatenate([e, -e]) / 2.0)[:n] * 2.0 for e in np.eye(n)])
    table, measured, expected = specimen.powers(np.ascontiguousarray(step.T)), [], []
    for events, as_of in (
        (100, [1, 1, 40, 95, 96, 100]),
        (100, [1, 99, 95, 98, 100]),
        (100, [1, 99]),
        (2**21 + 5, [2**20, 7]),
        (9, []),
    ):
        out = np.full(len(as_of), 9.0)
        specimen.relative_signal(
            events,
            np.tile(v[:n] - v[n:], (len(as_of), 1)),
            np.array(as_of, np.int64),
            np.ones(n),
            table,
            0.2,
            0.012,
            out,
        )
        measured += out.tolist()
        expected += (np.maximum(signals(m, v, [events - at for at in as_of]), 0.012) / 0.2).tolist()
    return measured, expected


@adaptation(
    "CM-1.12", source="monotone: a potentiation moves no synapse to a shallower strong state"
)
def each_replay_makes_a_memory_last_longer(specimen: Any) -> Any:
    after = np.array([kept(specimen, 10, [600], replays=r)[0] for r in range(1, 40)])
    return at_least(np.diff(np.log(after)), 1e-3)


@adaptation(
    "CM-1.13",
    source="names of Cortex 4.2.1; its multipliers of decay are 2.0, 1.2, 0.8 and 0.5, a factor of 4 from first to last",
    papers=("cortex2026",),
)
def stages_are_passed_in_order_and_each_decays_more_slowly(specimen: Any) -> Any:
    pot, m = matrices(specimen, 10)
    v, loss = np.full(20, 0.05), dict[str, list[float]]()
    for _ in range(400):
        v = pot @ v
        loss.setdefault(specimen.stage(v[:10] - v[10:]), []).append(
            1.0 - signals(m, v, [1])[0] / signals(m, v, [0])[0]
        )
    means = [float(np.mean(rates)) for rates in loss.values()]
    ordered = list(loss) == ["LABILE", "EARLY_LTP", "LATE_LTP", "CONSOLIDATED"] and bool(
        (np.diff(means) < 0.0).all()
    )
    return Measured(
        means, "share of the signal lost per event, falling through the four stages", ordered
    )


@adaptation(
    "CM-1.13b",
    source="mean depth of the signal, by hand: a quarter of the way belongs to the next stage; weights below 0 do not count",
    atol=0.0,
    papers=("cortex2026",),
)
def the_stage_is_the_quarter_of_the_mean_depth(specimen: Any) -> Any:
    names = ("LABILE", "EARLY_LTP", "LATE_LTP", "CONSOLIDATED")
    cases = (((1, 0, 0, 0, 0), 0), ((1, 9, 0, 0, 0), 0), ((0, 2, 0, 0, 0), 1), ((0, 3.1, 2, 0, 0),
        1), ((1, 0, 0, 0, 1), 2), ((0, 0, 3, 0.9, 0), 2),
             ((-5, 0, 0, 2, 0), 3), ((0, 0, 0, 0, 0.3), 3), ((0, 0, 0, 0, 0), 0))  # fmt: skip
    return [names.index(specimen.stage(np.array(balance, float))) for balance, _ in cases], [
        place for _, place in cases
    ]


@adaptation("CM-1.14", source="S is at most 1, with all synapses strong")
def many_potentiations_bring_the_signal_to_one(specimen: Any) -> Any:
    return between([kept(specimen, n, [0], replays=5000)[0] for n in (2, 5, 10)], 0.99, 1.0 + 1e-12)


# --- in a memory ----------------------------------------------------------------------------------
def chain_matrix(m: int, c1: float, g1: float) -> Matrix:
    """The chain's rate matrix, beaker by beaker, with a leak."""
    c, g, rates = c1 * 2.0 ** np.arange(m), g1 * 0.5 ** np.arange(m), np.zeros((m, m))
    for k in range(m):
        rates[k, k] = -(g[k] + (g[k - 1] if k else 0.0)) / c[k]
        if k:
            rates[k, k - 1] = g[k - 1] / c[k]
        if k + 1 < m:
            rates[k, k + 1] = g[k] / c[k]
    return rates


def life_in_memory(
    specimen: Any, start: Matrix, later: Matrix, again: Any, read: Any, least: float, **values: Any
) -> tuple[Any, Any]:
    """Eleven events, one vetoed, with three recalls, two that learn, and two sleeps with replays.

    start, later, again, read  the reference: state of a new memory, matrix of an event, the state
                               after a potentiation, S of a state
    Both give ln of each memory's signal relative to its start at five times, and the synapses of
    each memory after the last sleep.
    """
    replays = {24.0: [2, 0, 1, 0, 0, 5], 48.0: [0, 3, 0, 0, 1, 0, 0, 1, 0, 2]}

    def dream(view: Any, tick: Any) -> None:
        view.replays[: len(replays[tick.end])] = replays[tick.end]

    memory = memory_of(
        specimen,
        "dense_similarity",
        refusing("refused"),
        neighbour(Phase.CONSOLIDATE, dream, sets=(REPLAYS,), id="dreamer"),
        synapses=least**-2.0,
        **values,
    )
    states: list[Matrix] = []
    measured: list[float] = []
    expected: list[float] = []

    def store(*texts: str) -> None:
        for text in texts:
            encode(memory, (memory.now + 1.0 if states else 0.0, text))
            if "refused" not in text:
                states[:] = [later @ v for v in states] + [start]

    def potentiated(times: Any) -> None:
        for row, count in times:
            for _ in range(count):
                states[row] = again(states[row])

    def look() -> None:
        memory.advance(memory.now)
        measured.extend(memory.column(LOG_STRENGTH))
        expected.extend(math.log(max(read(v), least) / read(start)) for v in states)

    def ask(k: int, learn: bool) -> None:
        rows = memory.retrieve("tea and rain", k=k, learn=learn).rows
        potentiated((row, 1) for row in rows[: 3 * learn])

    def sleep(time: float) -> None:
        memory.advance(time)
        potentiated(enumerate(replays[time]))

    store("tea", "rain on Monday", "refused", "a dog")
    look()
    store("rain and tea", "an old song", "bread")
    memory.archive(1)
    ask(2, True)
    look()
    store("a refused one", "tea with Bo")
    ask(4, False)
    sleep(24.0)
    look()
    store("the sea", "a refused sea", "snow")
    ask(5, True)
    look()
    store("Ada sings")
    sleep(48.0)
    look()
    for row in range(len(states)):
        memory.archive(row)
    ask(3, True)
    state = memory.column(specimen.CASCADE_BALANCE), memory.column(specimen.CASCADE_OCCUPANCY)
    return [
        *measured,
        int(memory.column(specimen.PLASTICITY_EVENTS)),
        *np.concatenate(state, axis=1).ravel(),
    ], [
        *expected,
        len(states),
        *(x for v in states for x in (v if len(v) > values["levels"] else [*v, *np.zeros(len(v))])),
    ]


def cascade_in_memory(specimen: Any, least: float) -> tuple[Any, Any]:
    """`life_in_memory` with the matrices of strong minus weak and their sum, which follow from
    the states' own.
    """
    n, x = 5, 0.4
    half = np.block([[np.eye(n), -np.eye(n)], [np.eye(n), np.eye(n)]])
    pot, event = (half @ m @ np.linalg.inv(half) for m in (potentiation(n, x), mean_event(n, x)))
    start = pot @ half @ np.full(2 * n, 0.5 / n)
    return life_in_memory(
        specimen,
        start,
        event,
        lambda v: pot @ v,
        lambda v: float(v[:n].sum()),
        least,
        synapse="cascade",
        levels=n,
        x=x,
    )


@equation(
    "CM-1.15",
    source=f"{FUSI}: its matrices, event by event; float32 columns",
    rtol=1e-5,
    atol=1e-6,
    papers=("fusi2005cascade",),
)
def a_memory_is_overwritten_by_the_papers_matrices(specimen: Any) -> Any:
    return cascade_in_memory(specimen, 1e-3)


@limit(
    "CM-1.15b",
    source=f"{FUSI}: the signal is below the noise of N synapses, 1 / sqrt(N)",
    rtol=1e-5,
    atol=1e-6,
    papers=("fusi2005cascade",),
)
def a_signal_below_the_noise_is_as_strong_as_the_noise(specimen: Any) -> Any:
    return cascade_in_memory(specimen, 0.2)


@equation(
    "CM-1.16",
    source=f"{BENNA}: scipy's matrix exponential of the chain, event by event",
    rtol=1e-5,
    atol=1e-6,
    papers=("benna2016computational",),
)
def a_memory_of_chains_is_overwritten_by_the_papers_equations(specimen: Any) -> Any:
    m, c1, g1 = 4, 1.5, 0.35
    return life_in_memory(
        specimen,
        np.eye(m)[0],
        expm(chain_matrix(m, c1, g1)),
        lambda u: u + np.eye(m)[0],
        lambda u: float(u[0]),
        1e-3,
        synapse="chain",
        levels=m,
        c1=c1,
        g1=g1,
    )


# --- figures --------------------------------------------------------------------------------------
@figure(
    "memory_signal",
    caption="The cascade's signal of one memory falls with the 3/4 power of the number of later events; with two states it "
    "falls exponentially",
    source=f"{FUSI}; its transition matrices, n = 10",
)
def one_memory_among_later_events(specimen: Any) -> Picture:
    times = np.unique(np.geomspace(1.0, 1000.0, 40).astype(int))
    q, strong, weak, two = np.array([0.2]), np.array([0.5]), np.array([0.5]), []
    specimen.potentiate(strong, weak, q, np.zeros(1))
    for _ in range(40):
        specimen.overwrite(strong, weak, q, np.zeros(1))
        two.append(float(specimen.signal(strong, weak)))
    marks, later = np.array([1, 10, 100, 1000]), times[times >= 20]
    return Picture(
        "events since the memory was stored",
        "signal",
        (
            Curve("cascade of 10 levels", times, kept(specimen, 10, times)),
            Curve("two states", np.arange(1, 41), np.array(two)),
            Curve("3/4 power", later, 0.45 * later**-0.75),
            dots(
                "the paper's matrices",
                marks,
                signals(mean_event(10), potentiation(10) @ np.full(20, 0.05), marks),
            ),
        ),
        log="xy",
    )


@figure(
    "chain",
    caption="The level of the first beaker falls with the square root of time while its content passes to the deeper ones",
    source=f"{BENNA}, twelve beakers",
)
def levels_over_time(specimen: Any) -> Picture:
    times = np.geomspace(1.0, 1e6, 60)
    heights = np.array([levels(specimen, t) for t in times])
    return Picture(
        "events since the memory was stored",
        "level of a beaker",
        (
            *(
                Curve(label, times, np.where(heights[:, k] > 1e-5, heights[:, k], np.nan))
                for label, k in (("first", 0), ("third", 2), ("sixth", 5))
            ),
            Curve("square root", times[10:], 1.6 * times[10:] ** -0.5),
        ),
        log="xy",
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("the same transition probabilities at all levels", rejected_by="CM-1.4")
def flat(specimen: Any) -> Any:
    return specimen.replacing("overwriting", lambda n, x: np.full(n, 0.1)).replacing(
        "deepening", lambda n, x: np.append(np.full(n - 1, 0.1), 0.0)
    )


@mutant("a last level without the factor 1 / (1 - x)", rejected_by="CM-1.1")
def last_level(specimen: Any) -> Any:
    return specimen.replacing("overwriting", lambda n, x: x ** np.arange(n))


@mutant(
    "deepening as likely as the level's own overwriting, less one power of x", rejected_by="CM-1.1"
)
def slow_deepening(specimen: Any) -> Any:
    return specimen.replacing("deepening", lambda n, x: np.append(x ** np.arange(1, n), 0.0))


@mutant("a changed synapse keeps its depth", rejected_by="CM-1.1b")
def depth_kept(specimen: Any) -> Any:
    def potentiate(strong: Any, weak: Any, q: Any, p: Any) -> None:
        sinking = p * strong
        strong += q * weak - sinking
        strong[1:] += sinking[:-1]
        weak -= q * weak

    return specimen.replacing("potentiate", potentiate)


@mutant("later events that only potentiate", rejected_by="CM-1.3")
def one_sided(specimen: Any) -> Any:
    return specimen.replacing("overwrite", specimen.potentiate)


@mutant("a signal that counts strong synapses alone", rejected_by="CM-1.2")
def strong_alone(specimen: Any) -> Any:
    return specimen.replacing("signal", lambda strong, weak: float(np.sum(strong)))


@mutant("the same floor for every memory", rejected_by="CM-1.9")
def common_floor(specimen: Any) -> Any:
    return specimen.replacing(
        "signal", lambda strong, weak: max(float(np.sum(strong) - np.sum(weak)), 0.01)
    )


@mutant("flow to the next beaker only", rejected_by="CM-1.6b")
def downward(specimen: Any) -> Any:
    def beakers_after(u: Any, t: float, c1: float, g1: float, leak: bool) -> Any:
        m = len(u)
        rates = np.diag(-g1 * 0.5 ** np.arange(m) * (np.arange(m) < m - 1 + leak)) + np.diag(
            g1 * 0.5 ** np.arange(m - 1), -1
        )
        values, vectors = np.linalg.eig(rates / (c1 * 2.0 ** np.arange(m))[:, None])
        return np.real(vectors @ (np.exp(values * t) * np.linalg.solve(vectors, u)))

    return specimen.replacing("beakers_after", beakers_after)


@mutant("beakers of one size", rejected_by="CM-1.5")
def equal_beakers(specimen: Any) -> Any:
    def beakers_after(u: Any, t: float, c1: float, g1: float, leak: bool) -> Any:
        m = len(u)
        rates = g1 * (np.eye(m, k=1) + np.eye(m, k=-1) - 2.0 * np.eye(m))
        rates[0, 0] = -g1
        values, vectors = np.linalg.eigh(rates / c1)
        return np.maximum(vectors @ (np.exp(values * t) * (vectors.T @ u)), 1e-300)

    return specimen.replacing("beakers_after", beakers_after)


@mutant("updates that skip the events since the last update", rejected_by="CM-1.10")
def missed(specimen: Any) -> Any:
    return specimen.replacing(
        "after",
        lambda vector, k, table: vector if k > 5 else np.linalg.matrix_power(table[0], k) @ vector,
    )


@mutant("strength without the events since the last update", rejected_by="CM-1.11")
def stale(specimen: Any) -> Any:
    def relative_signal(
        events: int,
        balance: Any,
        as_of: Any,
        readout: Any,
        transposed: Any,
        initial: float,
        least: float,
        out: Any,
    ) -> None:
        out[:] = np.maximum(balance @ readout, least) / initial

    return specimen.replacing("relative_signal", relative_signal)


@mutant("a replay counts once a night, however often it comes", rejected_by="CM-1.15")
def once_a_night(specimen: Any) -> Any:
    def _renew(self: Any, view: Any, rows: Any, times: Any) -> None:
        specimen.ConsolidationCascade._renew(self, view, rows, np.minimum(times, 1))

    return specimen.overriding("ConsolidationCascade", _renew=_renew)


@mutant("the noise of one synapse in place of N", rejected_by="CM-1.15b")
def noise_of_one(specimen: Any) -> Any:
    original = specimen.relative_signal

    def relative_signal(
        events: int,
        balance: Any,
        as_of: Any,
        readout: Any,
        transposed: Any,
        initial: float,
        least: float,
        out: Any,
    ) -> None:
        original(events, balance, as_of, readout, transposed, initial, least * least, out)

    return specimen.replacing("relative_signal", relative_signal)


@mutant("tubes of a chain as wide as its beakers are large", rejected_by="CM-1.16")
def exchanged(specimen: Any) -> Any:
    original = specimen.beakers_after
    return specimen.replacing(
        "beakers_after", lambda u, t, c1, g1, leak: original(u, t, g1, c1, leak)
    )
