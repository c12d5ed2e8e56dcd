"""Evidence for sleep_replay.  References: closed forms, eigenvectors and resolvents in numpy, and
Mattar & Daw's algorithm written out plainly, with every value computed anew at every step; none
calls a kernel it judges.

The agent of the paper's linear track (two lanes of ten states, run in both directions) is simulated
here with its own learning and choice; only its replays come from the specimen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from scipy.stats import spearmanr

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.hooks import Mechanism, Params, Tick, hook
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import (
    CREATED,
    DRAFTS,
    KIND,
    LOG_STRENGTH,
    NEED,
    REPLAY_LAG,
    REPLAYED,
    REPLAYS,
    RIPPLES,
    SLEEP_SHARE,
)
from ...engine.memory.assembly import stream
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ...mechanisms.retrieval.successor_representation import (
    SuccessorRepresentation,
    SuccessorRepresentationParams,
)
from ..checks import adaptation, at_least, at_most, between, equation, limit, mutant, signature
from ..figures import Curve, Marks, Picture, dots, figure
from ..memory import encode, memory_of, neighbour
from ..paper_numbers import paper_number
from .shared.once import computed_once
from .shared.scripts import refusing
from .shared.tellings import as_happened, tell

Array = NDArray[np.float64]
PAPER = "Mattar & Daw 2018"
CODE = "authors' code"
ALPHA, GAMMA, BETA, BASELINE, RATE, PAUSE = 1.0, 0.9, 5.0, 1e-10, 0.9, 20
NUMBERS = (
    *(
        paper_number(
            name, value, "1", paper="mattar2018prioritized", where="authors' code, setParams.m"
        )
        for name, value in (
            ("pause", PAUSE),
            ("alpha", ALPHA),
            ("discount", GAMMA),
            ("transition_rate", RATE),
        )
    ),
    paper_number(
        "inverse_temperature",
        BETA,
        "1/reward",
        paper="mattar2018prioritized",
        where="authors' code, setParams.m",
    ),
    paper_number(
        "baseline",
        BASELINE,
        "reward",
        paper="mattar2018prioritized",
        where="authors' code, setParams.m",
    ),
    paper_number(
        "need",
        "stationary",
        "1",
        paper="mattar2018prioritized",
        where="offline need, and the authors' code",
    ),
)


# --- tasks ----------------------------------------------------------------------------------------
def line(n: int = 10) -> NDArray[np.int64]:
    """s' of L and R on a line whose last state is the end of the task."""
    after = np.array([[s - 1, s + 1] for s in range(n)])
    after[-1] = -1
    return after


def lanes() -> NDArray[np.int64]:
    return np.where(np.vstack([line(), line()]) < 0, -1, np.vstack([line(), line() + 10]))


def explored(after: NDArray[np.int64], next_start: dict[int, int]) -> Array:
    """T after every action was taken once in every state; an action without effect leads to the
    same state, a goal to the next start.
    """
    m, actions = after.shape
    t = np.zeros((m, m))
    for s in range(m):
        for a in range(actions):
            t[s, after[s, a] if after[s, a] >= 0 else s] += 1.0 / actions
    for goal, start in next_start.items():
        t[goal] = np.eye(m)[start]
    return t


def successors(t: Array) -> Array:
    return np.asarray(np.linalg.inv(np.eye(len(t)) - GAMMA * t))


def eigenvector(t: Array) -> Array:
    values, vectors = np.linalg.eig(t.T)
    pi = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    return np.asarray(pi / pi.sum())


# --- the specimen, and the algorithm written out --------------------------------------------------
def replayed(
    specimen: Any,
    after: Any,
    reward: Any,
    need: Any,
    q: Any,
    chance: Any,
    baseline: float = BASELINE,
    alpha: float = ALPHA,
) -> tuple[Any, Any]:
    """States and actions of the replayed steps; q is written."""
    steps = len(chance)
    states, actions = np.empty(steps, np.int64), np.empty(steps, np.int64)
    k = specimen.replay(
        steps,
        after,
        reward,
        need,
        q,
        alpha,
        GAMMA,
        BETA,
        baseline,
        chance,
        np.empty(after.shape),
        states,
        actions,
        np.empty(steps),
    )
    return states[:k], actions[:k]


def policy(x: Array) -> Array:
    """Softmax of few values; that of scipy takes ten times as long."""
    exponentials = np.exp(x - x.max())
    return np.asarray(exponentials / exponentials.sum())


def written_out(
    after: Any,
    reward: Any,
    need: Any,
    q: Any,
    chance: Any,
    baseline: float = BASELINE,
    alpha: float = ALPHA,
    *,
    beta: float = BETA,
    expand: bool = True,
    stale: bool = False,
    need_of_first: bool = False,
    gains: list[float] | None = None,
) -> tuple[Any, Any]:
    """The algorithm, with optional faults: no longer backups, values from before the first replay,
    the need of a sequence's first state.

    The gain of each replayed step alone is added to `gains`.
    """

    def future(s: int) -> float:
        return 0.0 if reward[s] else float(np.max(q[s]))

    def gain_of(sequence: Sequence[tuple[int, int]]) -> tuple[float, list[tuple[int, int, float]]]:
        total, new = 0.0, []
        ends = [int(after[s, a]) for s, a in sequence]
        for k, (s, a) in enumerate(sequence):
            returns = sum(GAMMA**j * reward[e] for j, e in enumerate(ends[k:])) + GAMMA ** (
                len(ends) - k
            ) * future(ends[-1])
            changed = q[s].copy()
            changed[a] += alpha * (returns - changed[a])
            policies = policy(beta * changed), policy(beta * q[s])
            total += max(float((policies[0] - policies[1]) @ changed), baseline)
            new.append((s, a, changed[a]))
        return total, new

    done: list[tuple[int, int]] = []
    path: list[tuple[int, int]] = []
    known: dict[tuple[int, int], float] = {}
    for which, action in chance:
        single = [
            (s, a) for s in range(len(after)) for a in range(after.shape[1]) if after[s, a] >= 0
        ]
        if not stale or not known:
            known = {step: need[step[0]] * gain_of([step])[0] for step in single}
        most = max(known.values())
        longer = 0.0
        if path and expand:
            s = int(after[path[-1]])
            greedy = np.flatnonzero(q[s] == q[s].max())
            a = int(greedy[int(action * len(greedy))])
            if after[s, a] >= 0 and not reward[s] and after[s, a] not in [p[0] for p in path] + [s]:
                longer = need[path[0][0] if need_of_first else s] * gain_of([*path, (s, a)])[0]
        if longer > most:
            path = [*path, (s, a)]
        elif most <= 0.0:
            break
        else:
            best = [step for step, value in known.items() if value == most]
            path = [best[int(which * len(best))]]
            known[path[0]] = known[path[0]] * (0.0 if stale else 1.0)
        if gains is not None:
            s, a = path[-1]
            alone = q[s].copy()
            alone[a] += alpha * (reward[after[s, a]] + GAMMA * future(int(after[s, a])) - alone[a])
            gains.append(float((policy(beta * alone) - policy(beta * q[s])) @ alone))
        for s, a, value in gain_of(path)[1]:
            q[s, a] = value
        done.append(path[-1])
    return np.array([s for s, _ in done]), np.array([a for _, a in done])


# --- backup and gain ------------------------------------------------------------------------------
@equation(
    "RP-2.1",
    source=f"{PAPER}, gain: sigma(5) - 1/2 for the step into the goal",
    atol=1e-6,
    papers=("mattar2018prioritized",),
)
def the_gain_of_the_first_step_into_a_goal_has_its_closed_form(specimen: Any) -> Any:
    return [specimen.gain(np.zeros(2), 1, 1.0, 5.0), specimen.gain(np.zeros(2), 0, 1.0, 5.0)], [
        expit(5.0) - 0.5,
        0.493307,
    ]


@equation(
    "RP-2.1b",
    source=f"{PAPER}, gain and backup, with the softmax of scipy; random values of four actions",
    papers=("mattar2018prioritized",),
)
def gain_is_the_value_of_the_change_of_policy(specimen: Any) -> Any:
    rng = np.random.default_rng(0)
    measured, expected = [], []
    for _ in range(40):
        q, a, r, v, alpha = rng.normal(size=4), int(rng.integers(4)), *rng.random(3)
        new = q.copy()
        new[a] = (1.0 - alpha) * q[a] + alpha * (r + GAMMA * v)
        measured += [specimen.backup(q[a], r, v, alpha, GAMMA), specimen.gain(q, a, new[a], BETA)]
        expected += [new[a], float((softmax(BETA * new) - softmax(BETA * q)) @ new)]
    return measured, expected


@limit(
    "RP-2.1c",
    source=f"{PAPER}, gain of a greedy policy: max Q_new - Q_new at the best old action; values that exceed exp's range at beta = 5",
    papers=("mattar2018prioritized",),
)
def gain_of_a_sharp_policy_is_that_of_the_greedy_one(specimen: Any) -> Any:
    measured, expected = [], []
    for q in (
        [900.0, -400.0, 300.0],
        [-500.0, 400.0, -900.0],
        [-300.0, -1200.0, -700.0],
        [0.0, 500.0, 1400.0],
    ):
        for action in range(3):
            for new in (-2000.0, -600.0, 100.0, 2000.0):
                changed = [new if a == action else value for a, value in enumerate(q)]
                measured.append(specimen.gain(np.array(q), action, new, BETA))
                expected.append(max(changed) - changed[q.index(max(q))])
    return measured, expected


@signature(
    "RP-2.2",
    source=f"{PAPER}: line of ten, reward 1 at its end, the agent at its start; 0.9^k",
    atol=1e-9,
    figure="reverse_replay",
    papers=("mattar2018prioritized",),
)
def a_reward_is_replayed_backwards_to_the_start(specimen: Any) -> Any:
    q, reward = np.zeros((10, 2)), np.eye(10)[9]
    need = successors(explored(line(), {9: 0}))[0]
    states, actions = replayed(specimen, line(), reward, need, q, np.full((9, 2), 0.5))
    return [*states, *actions, *q[8::-1, 1]], [*range(8, -1, -1), *[1] * 9, *GAMMA ** np.arange(9)]


# --- need -----------------------------------------------------------------------------------------
def sessions() -> list[NDArray[np.int64]]:
    rng = np.random.default_rng(1)
    return [
        np.repeat(np.arange(len(sizes)), sizes)
        for sizes in ([1], [6], [1, 1, 2, 3], rng.integers(1, 9, 7), [20, 1, 14])
    ]


def walked(session: NDArray[np.int64], rate: float) -> Array:
    """T learnt in one walk after random exploration; the last state of a track leads to the next
    track, the last of all to the first.
    """
    n = len(session)
    t = np.zeros((n, n))
    for s in range(n):
        near = [o for o in (s - 1, s + 1) if 0 <= o < n and session[o] == session[s]]
        last = s == n - 1 or session[s + 1] != session[s]
        following = (s + 1) % n
        t[s, [following] if last else near] = 1.0 if last else 1.0 / len(near)
        t[s] += rate * (np.eye(n)[following] - t[s])
    return t


@equation(
    "RP-2.3",
    source=f"{PAPER}, learning of T, written out; a row of (I - gamma T)^-1 sums to 1 / (1 - gamma)",
    atol=1e-9,
    papers=("mattar2018prioritized",),
)
def transitions_are_learnt_from_one_walk(specimen: Any) -> Any:
    session = np.repeat([0, 1, 2], [5, 1, 4])
    t = np.zeros((10, 10))
    for s in range(10):
        first, last = s == 0 or session[s - 1] != session[s], s == 9 or session[s + 1] != session[s]
        back, ahead = specimen.transition(first, last, RATE)
        t[s, (s + 1) % 10] += ahead
        t[s, (s - 1) % 10] += back
    return [*t.ravel(), *successors(t).sum(axis=1)], [*walked(session, RATE).ravel(), *[10.0] * 10]


@equation(
    "RP-2.3b",
    source=f"{PAPER}, need in sleep; left eigenvector of T in numpy",
    atol=1e-9,
    papers=("mattar2018prioritized",),
)
def need_in_sleep_is_the_stationary_distribution(specimen: Any) -> Any:
    measured, expected = [], []
    for session in sessions():
        for rate in (0.0, 0.4, RATE):
            out = np.empty(len(session))
            specimen.stationary(session, rate, out)
            measured += out.tolist()
            expected += eigenvector(walked(session, rate)).tolist()
    return measured, expected


@limit("RP-2.4a", source=f"{PAPER}: EVB is a product", papers=("mattar2018prioritized",))
def without_need_nothing_is_replayed(specimen: Any) -> Any:
    need = np.where(np.arange(10) > 5, 0.0, 1.0)
    some, _ = replayed(
        specimen, line(), np.eye(10)[9], need, np.zeros((10, 2)), np.full((30, 2), 0.5)
    )
    none, _ = replayed(
        specimen, line(), np.eye(10)[9], np.zeros(10), np.zeros((10, 2)), np.full((30, 2), 0.5)
    )
    return [len(none), int((some > 5).sum())], [0, 0]


@limit(
    "RP-2.4b",
    source=f"{PAPER}; baseline gain 1e-10 ({CODE})",
    rtol=1e-12,
    papers=("mattar2018prioritized",),
)
def a_backup_that_does_not_change_the_policy_has_the_baseline_gain(specimen: Any) -> Any:
    after, reward, q, need = line(), np.eye(10)[9], np.zeros((10, 2)), np.arange(1.0, 11.0)
    # Q*, which no backup changes
    q[:9, 1], q[1:9, 0] = GAMMA ** np.arange(8, -1, -1), GAMMA ** np.arange(9, 1, -1)
    evb = np.empty((10, 2))
    for s in range(10):
        specimen.value_state(s, after, reward, need, q, ALPHA, GAMMA, BETA, BASELINE, evb)
    return [*evb[:9, 1], *evb[1:9, 0], evb[0, 0], *evb[9]], [
        *need[:9] * BASELINE,
        *need[1:9] * BASELINE,
        -1.0,
        -1.0,
        -1.0,
    ]


# --- the algorithm --------------------------------------------------------------------------------
def problem(rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    """A random task: a line cut into pieces, some states rewarded, some values known."""
    n = int(rng.integers(4, 16))
    after = np.array([[s - 1, s + 1 if s + 1 < n else -1] for s in range(n)])
    for cut in rng.integers(1, n, 2):
        after[cut, 0] = after[cut - 1, 1] = -1
    reward = np.where(rng.random(n) < 0.3, rng.random(n), 0.0)
    return after, reward, rng.random(n), np.where(rng.random((n, 2)) < 0.5, rng.random((n, 2)), 0.0)


@equation(
    "RP-2.5e",
    source=f"{PAPER}, the algorithm with longer backups, written out; forty random tasks, forty replays each",
    atol=1e-9,
    papers=("mattar2018prioritized",),
)
def replay_is_the_algorithm_of_the_paper(specimen: Any) -> Any:
    rng = np.random.default_rng(2)
    for _ in range(40):
        after, reward, need, q = problem(rng)
        chance, alpha, twin = rng.random((40, 2)), float(rng.choice([1.0, 0.5])), q.copy()
        done = replayed(specimen, after, reward, need, q, chance, alpha=alpha)
        by_hand = written_out(after, reward, need, twin, chance, alpha=alpha)
        yield of_replays(40, *done, q), of_replays(40, *by_hand, twin)


def of_replays(most: int, states: Any, actions: Any, q: Any) -> list[float]:
    """How many replays there are, their states and actions with zeros up to `most`, and the values
    after them.
    """
    rest = np.zeros(most - len(states))
    return [len(states), *states, *rest, *actions, *rest, *q.ravel()]


@equation(
    "RP-2.5f",
    source=f"{PAPER}, the algorithm written out: both actions are equally good, so that chance chooses the longer backup",
    atol=1e-9,
    papers=("mattar2018prioritized",),
)
def a_longer_backup_takes_one_of_the_best_actions_by_chance(specimen: Any) -> Any:
    rng = np.random.default_rng(5)
    for _ in range(30):
        after, reward, need, q = problem(rng)
        q[:, 1] = q[:, 0] = rng.random(len(q))
        chance, twin = rng.random((12, 2)), q.copy()
        done = replayed(specimen, after, reward, need, q, chance)
        by_hand = written_out(after, reward, need, twin, chance)
        yield of_replays(12, *done, q), of_replays(12, *by_hand, twin)


@limit(
    "RP-2.5g",
    source=f"{PAPER}: without a least gain replay ends when all is learnt, here after one step from each of nine states",
    papers=("mattar2018prioritized",),
)
def replay_ends_when_no_backup_is_worth_anything(specimen: Any) -> Any:
    states, _ = replayed(
        specimen,
        line(),
        np.eye(10)[9],
        np.ones(10),
        np.zeros((10, 2)),
        np.full((30, 2), 0.5),
        baseline=0.0,
    )
    return states, np.arange(8, -1, -1)


@equation(
    "RP-2.5h",
    source=f"{PAPER}, by hand: a value that falls to that of the other action lowers the value of the step to it",
    atol=1e-12,
    papers=("mattar2018prioritized",),
)
def a_state_that_loses_value_is_recomputed_for_those_before_it(specimen: Any) -> Any:
    """Along the states 0, 1 and 2, whose value is gamma: the step from 1 to 2 learns gamma^2, as
    much as the step from 1 to 0 is worth.

    Then 0 learns gamma^3 for the step to 1, which leaves its other action, of 0.85, the better one.
    """
    after, need = np.array([[-1, 1], [0, 2], [-1, -1]]), np.array([1.0, 1e6, 1.0])
    q = np.array([[0.85, GAMMA], [GAMMA**2, 1.0], [GAMMA, GAMMA]])
    states, actions = replayed(specimen, after, np.zeros(3), need, q, np.full((2, 2), 0.75))
    return [*states, *actions, *q.ravel()], [1, 0, 1, 1, 0.85, GAMMA ** 3, GAMMA ** 2, GAMMA ** 2,
                                             GAMMA, GAMMA]  # fmt: skip


def runs(states: Any, ends: Any, least: int = 5) -> dict[str, int]:
    """Forward and reverse sequences of at least five states, as the authors' analysis finds
    them.
    """
    kinds = [
        "R" if ends[i + 1] == states[i] else "F" if ends[i] == states[i + 1] else ""
        for i in range(len(states) - 1)
    ]
    count, i = {"F": 0, "R": 0}, 0
    while i < len(kinds):
        j = i
        while j < len(kinds) and kinds[j] == kinds[i]:
            j += 1
        if kinds[i] and j - i + 1 >= least:
            count[kinds[i]] += 1
        i = j
    return count


@computed_once
def laps(
    specimen: Any, sizes: Sequence[float], seeds: int = 20, episodes: int = 50
) -> dict[tuple[str, str, float], float]:
    """Sequences per lap at start and goal, by the size of the last reward; the paper's agent
    learns, chooses, and makes 20 backups per pause.
    """
    count: dict[tuple[str, str, float], float] = {}
    after, goals, visited = lanes(), (9, 19), np.eye(20)
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        q, reward, t = np.zeros((20, 2)), np.zeros(20), explored(after, {9: 10, 19: 0})
        s, lap, last, fresh = 0, 0, 0.0, False
        while lap < episodes:
            a = int(rng.random() < expit(BETA * (q[s, 1] - q[s, 0])))
            end = int(after[s, a]) if after[s, a] >= 0 else s
            if goal := end in goals:
                last = float(rng.choice(sizes))
                reward[end] = max(0.0, rng.normal(last, 0.1))
            t[s] += RATE * (visited[end] - t[s])
            q[s, a] = reward[end] if goal else GAMMA * q[end].max()
            if last and (goal or fresh):
                states, actions = replayed(
                    specimen, after, reward, successors(t)[s], q, rng.random((20, 2))
                )
                for kind, number in runs(states, after[states, actions]).items():
                    key = "goal" if goal else "start", kind, last
                    count[key] = count.get(key, 0.0) + number / (seeds * episodes)
            s, fresh = end, False
            if goal:
                lap, s, fresh = lap + 1, (end + 1) % 20, True
    return count


@signature(
    "RP-2.5",
    source="Diba & Buzsaki 2007: forward before the run, reverse after it; sequences per lap",
    figure="forward_and_reverse",
    papers=("diba2007forward",),
)
def forward_at_the_start_and_reverse_at_the_goal(specimen: Any) -> Any:
    n = laps(specimen, [1.0])
    return at_least(
        [n["start", "F", 1.0] - n["start", "R", 1.0], n["goal", "R", 1.0] - n["goal", "F", 1.0]],
        0.2,
    )


@signature(
    "RP-2.6a",
    source="Ambrose, Pfeiffer & Foster 2016: reverse replay after a fourfold reward, over that after the usual one",
    figure="forward_and_reverse",
    papers=("ambrose2016reverse",),
)
def a_greater_reward_brings_more_reverse_replay(specimen: Any) -> Any:
    n = laps(specimen, [1.0, 4.0])
    return at_least(n["goal", "R", 4.0] / max(n["goal", "R", 1.0], 1e-9), 2.0)


@signature(
    "RP-2.6b",
    source="Ambrose, Pfeiffer & Foster 2016: forward replay after the two rewards; within a tenth",
    figure="forward_and_reverse",
    papers=("ambrose2016reverse",),
)
def a_greater_reward_does_not_change_forward_replay(specimen: Any) -> Any:
    n = laps(specimen, [1.0, 4.0])
    return between(n["start", "F", 4.0] / n["start", "F", 1.0], 0.9, 1.1)


@signature(
    "RP-2.8",
    source=f"{PAPER}, sleep: T-maze with one arm rewarded, need from the eigenvector of T ({CODE})",
    papers=("mattar2018prioritized",),
)
def in_sleep_the_rewarded_arm_is_replayed_more(specimen: Any) -> Any:
    # left, right, along the stem
    after = np.array([[-1, -1, -1], [0, 2, -1], [1, 3, 5], [2, 4, -1], [-1, -1, -1], [-1, -1, 2]])
    need, rng, left, right = (
        eigenvector(explored(after, {0: 5, 4: 5})),
        np.random.default_rng(3),
        0,
        0,
    )
    for _ in range(50):
        states, actions = replayed(
            specimen, after, np.eye(6)[4], need, np.zeros((6, 3)), rng.random((20, 2))
        )
        left += int(((actions == 0) & np.isin(states, (1, 2))).sum())
        right += int(((actions == 1) & np.isin(states, (2, 3))).sum())
    return at_least(right / max(left, 1), 1.5)


# --- through the engine ---------------------------------------------------------------------------
TIMES = np.cumsum([0.0, 0.02, 0.1, 0.05, 0.03, 0.2, 0.07, 0.01]) + 100.0


class Wanting(Mechanism[Params]):
    """Predicts that the first memory will be needed most, each later one half as much as the one
    before it.
    """

    @hook(Phase.CONSOLIDATE, reads=(), adds=(), sets=(NEED,))
    def want(self, view: Any, tick: Tick) -> None:
        view.need[...] = 0.5 ** np.arange(len(view.need))


def params_of(
    specimen: Any, backups: int, compression: float = 20.0, need: str = "stationary"
) -> Any:
    """The paper's parameters; all memories can be replayed, and rehearsal has no effect."""
    return specimen.SleepReplayParams(
        time_scale=1.0,
        backups=backups,
        pause=PAUSE,
        alpha=ALPHA,
        discount=GAMMA,
        inverse_temperature=BETA,
        need=need,
        transition_rate=RATE,
        baseline=BASELINE,
        compression=compression,
        window=1000,
        needed=10,
        rehearsal=0.0,
    )


def nights(
    specimen: Any,
    texts: Sequence[str],
    count: int,
    backups: int,
    compression: float = 20.0,
    *company: Mechanism[Any],
    need: str = "stationary",
) -> list[tuple[Any, Any]]:
    """Replayed rows and lags of each of `count` nights after a session."""
    replay = specimen.SleepReplay("sleep_replay", params_of(specimen, backups, compression, need))
    memory, dreamt = Engine([replay, *company], HashingEmbedder(16), consolidate_every=10.0), []
    memory.encode_all(
        Event(float(t), text, session="s") for t, text in zip(TIMES, texts, strict=False)
    )
    for night in range(1, count + 1):
        memory.advance(100.0 + 10.0 * night)
        rows = memory.store.array(REPLAYED)
        k = int((rows[:, 0] >= 0).sum())
        dreamt.append((rows[:k].copy(), memory.store.array(REPLAY_LAG)[:k].copy()))
    return dreamt


STORY = [
    f"Then Ada {did}."
    for did in ("set out", "ran", "slept", "ate", "turned", "climbed", "arrived", "sang, wonderful")
]


@equation(
    "RP-2.7a",
    source="Davidson et al. 2009: fifteen- to twentyfold compression; lag = real lag / c",
    atol=1e-9,
    needs="engine",
    papers=("davidson2009hippocampal",),
)
def replay_is_compressed_in_time(specimen: Any) -> Any:
    ((rows, lags),) = nights(specimen, STORY, 1, 7)
    ((_, slower),) = nights(specimen, STORY, 1, 7, 15.0)
    real = np.abs(TIMES[rows[:, 1]] - TIMES[rows[:, 0]])
    return [*lags, *slower], [*real / 20.0, *real / 15.0]


@signature(
    "RP-2.7b",
    source=f"{PAPER}: reverse after a reward, forward once all is learnt; order in replay against order in time, Spearman",
    needs="engine",
    papers=("mattar2018prioritized",),
)
def the_first_night_is_reverse_and_a_later_one_forward(specimen: Any) -> Any:
    first, later = nights(specimen, STORY, 2, 7)
    backwards = [
        spearmanr(np.arange(len(first[0])), TIMES[first[0][:, 0]])[0],
        *np.sign(np.diff(TIMES[first[0]], axis=1)[:, 0]),
    ]
    seen = [
        spearmanr(np.arange(len(run)), TIMES[run])[0] for run in chains(later[0]) if len(run) >= 4
    ]
    return [*backwards, *seen, float(len(seen) > 0)], [
        *[-1.0] * len(backwards),
        *[1.0] * len(seen),
        1.0,
    ]


def chains(rows: Any) -> list[list[int]]:
    """Chains of rows in which each step starts where the one before it ends."""
    linked: list[list[int]] = []
    for source, target in rows:
        if linked and linked[-1][-1] == source:
            linked[-1].append(int(target))
        else:
            linked.append([int(source), int(target)])
    return linked


@adaptation(
    "RP-9",
    source="ours: the steps of the rewarded session are learnt, the other has nothing to learn",
)
def of_two_tracks_the_rewarded_one_is_learnt(specimen: Any) -> Any:
    after, rows = np.empty((10, 2), np.int64), np.arange(10)
    specimen.tracks(rows, np.repeat([0, 1], 5), np.eye(10)[9], after)
    q = np.zeros((10, 2))
    replayed(specimen, after, np.eye(10)[9], np.ones(10), q, np.full((4, 2), 0.5))
    return [*after[4], *after[5], *after[9], *q[:5].ravel(), *q[5:9, 1]], [3, -1, -1, 6, -1, -1,
        *[0.0] * 10, *GAMMA ** np.arange(3, -1, -1)]  # fmt: skip


@adaptation(
    "RP-10", source="counts of rows in the replayed pairs, in numpy; ln(1 + steps) adds up exactly"
)
def rehearsal_counts_every_step(specimen: Any) -> Any:
    rng, so_far, total = np.random.default_rng(4), np.zeros(12), np.zeros(12)
    for _ in range(3):
        pairs, replays = rng.integers(0, 12, (15, 2)), np.zeros(12, np.int32)
        specimen.rehearse(pairs, replays, so_far)
        total += np.bincount(pairs.ravel(), minlength=12)
    return [*replays, *so_far], [*np.bincount(pairs.ravel(), minlength=12), *np.log1p(total)]


@adaptation(
    "RP-11",
    source="ours: with nothing left to learn, need alone selects replays; the number of backups of a full night",
    needs="engine",
)
def a_full_night_makes_all_its_backups(specimen: Any) -> Any:
    return [len(rows) for rows, _ in nights(specimen, STORY, 3, 25)], [25, 25, 25]


# Two sessions that end alike; their last steps differ in need.  The second session starts and ends
# with the same entity.
TRACKS = ("Ada met Bo.", "Bo was wonderful.", "Fay met Emil.", "Emil met Ada.", "Ada met Cleo.",
          "Cleo met Gus.", "Gus met Hal.",
          "Fay was wonderful.")  # fmt: skip
SESSION = np.repeat([0, 1], [2, 6])


def steps_of_a_night(
    specimen: Any, backups: int, need: str, *company: Mechanism[Any]
) -> tuple[Any, Any]:
    """Steps of the first night after the two sessions, as pairs of rows in either order, and
    NEED of each memory.
    """
    memory = Engine(
        [*company, specimen.SleepReplay("sleep_replay", params_of(specimen, backups, need=need))],
        HashingEmbedder(16),
        consolidate_every=10.0,
    )
    memory.encode_all(
        Event(100.0 + 0.02 * i, text, session=f"s{k}")
        for i, (text, k) in enumerate(zip(TRACKS, SESSION, strict=True))
    )
    memory.advance(110.0)
    rows = memory.store.array(REPLAYED)
    return np.sort(rows[rows[:, 0] >= 0], axis=1), memory.store.array(NEED).copy()


def expected_steps(need: Any, backups: int) -> Any:
    """The same steps by the algorithm written out; the last memory of either session has the
    reward 1/2 of one good word.
    """
    n = len(SESSION)
    after = np.array(
        [
            [j if 0 <= j < n and SESSION[j] == SESSION[s] else -1 for j in (s - 1, s + 1)]
            for s in range(n)
        ]
    )
    reward = np.where(np.isin(np.arange(n), (1, 7)), 0.5, 0.0)
    after[reward > 0.0, 0] = -1
    states, actions = written_out(after, reward, need, np.zeros((n, 2)), np.full((backups, 2), 0.5))
    return np.sort(np.stack([states, after[states, actions]], axis=1), axis=1)


@equation(
    "RP-13",
    source=f"{PAPER}, need in sleep ({CODE}: offline, stationary distribution): eigenvector of T, the algorithm written out; a night "
    "beside the successor representation, whose NEED is not zero",
    needs="engine",
    papers=("mattar2018prioritized",),
)
def need_in_sleep_is_stationary_beside_a_predicted_one(specimen: Any) -> Any:
    successor = SuccessorRepresentation(
        "successor_representation", SuccessorRepresentationParams(1.0, 0.1, GAMMA, 0.005, 1.0, 0.1)
    )
    steps, predicted = steps_of_a_night(specimen, 6, "stationary", successor)
    return [*steps.ravel(), float(predicted.max() > 0.0)], [
        *expected_steps(eigenvector(walked(SESSION, RATE)), 6).ravel(),
        1.0,
    ]


@equation(
    "RP-14",
    source=f"{PAPER}, EVB with the need of a run ({CODE}: online), here 2^-k; the algorithm written out",
    needs="engine",
    papers=("mattar2018prioritized",),
)
def with_predicted_need_the_most_needed_track_comes_first(specimen: Any) -> Any:
    steps, _ = steps_of_a_night(specimen, 6, "predicted", Wanting("wanting", Params(1.0)))
    return steps, expected_steps(0.5 ** np.arange(8), 6)


@adaptation(
    "RP-12",
    source="ours: nothing is left to learn, and one memory is needed most; share of a night's replays",
    needs="engine",
)
def no_step_has_over_a_third_of_a_nights_replays(specimen: Any) -> Any:
    rows, _ = nights(
        specimen, STORY, 3, 200, 20.0, Wanting("wanting", Params(1.0)), need="predicted"
    )[-1]
    _, times = np.unique(rows, axis=0, return_counts=True)
    return at_most(times.max() / len(rows), 1.0 / 3.0)


# Hours, session, text, reward by its words, and whether it is stored.
WEEK = ((0.0, "a", "Ada set out", 0.0, True), (0.1, "a", "Ada ran", 0.0, True), (0.15, "a",
    "Ada ate", 0.0, True),
        (0.4, "a", "Ada got a great prize", 0.5, True), (1.0, "b", "Bo came", 0.0, True), (1.2, "b",
        "Bo wrote, off the record", 0.0, False),
        (1.3, "b", "Bo slept", 0.0, True), (2.0, "c", "Cleo sang", 0.0, True), (2.3, "c",
        "Cleo was sad and hurt", 2.0 / 3.0, True),
        (2.35, "c", "Cleo left", 0.0, True), (2.5, "c", "Cleo read", 0.0, True), (2.9, "c",
        "Cleo rejoiced, joy and love and fun", 0.75, True),
        (3.0, "d", "Dora woke", 0.0, True), (3.2, "e", "Emil dug", 0.0, True), (3.5, "e",
        "Emil cooked", 0.0, True),
        (3.6, "e", "Emil was happy", 0.5, True))  # fmt: skip
# RIPPLES and SLEEP_SHARE of each night
WORTH = ((1.0, 1.0), (1.6, 0.9), (0.0, 1.0), (0.5, 1.2))
BACKUPS, RIPPLE, FASTER, WINDOW, NEEDED, SHARE = 17, 4, 17.0, 9, 2, 0.3
NO_NEED = np.zeros(15)
FEW = np.array([0.0, 0.0, 0.9, 0.0, 0.95, 0.3, 0.35, 0.13, 0.8, 0.21, 0.34, 0.55, 0.05, 0.4, 0.15])
MANY = np.array([0.55, 0.0, 0.6, 0.5, 0.9, 0.1, 0.7, 0.23, 0.4, 0.11, 0.64, 0.25, 0.35, 0.8, 0.85])


def directions(states: Any, ends: Any, gains: Sequence[float], baseline: float) -> list[bool]:
    """Whether each step of a ripple is a reverse one: it joins its neighbours backwards, or
    stands alone and has something to learn.
    """
    reverse = []
    for i, gain in enumerate(gains):
        after_end = i > 0 and states[i] == ends[i - 1]
        back = (i > 0 and ends[i] == states[i - 1]) or (
            i + 1 < len(gains) and ends[i + 1] == states[i] and not after_end
        )
        ahead = after_end or (i + 1 < len(gains) and states[i + 1] == ends[i])
        reverse.append(back or (not ahead and gain > baseline))
    return reverse


@equation(
    "RP-19",
    source=f"{PAPER}, directions of events: all series of up to four steps on a line of three states, the definition written out",
    papers=("mattar2018prioritized",),
)
def the_direction_of_a_step_follows_from_its_neighbours(specimen: Any) -> Any:
    steps, measured, expected = ((0, 1), (1, 0), (1, 2), (2, 1), (2, 2)), list[bool](), list[bool]()
    for k in (1, 2, 3, 4):
        for case, series in enumerate(product(steps, repeat=k)):
            states, ends = np.array(series).T.copy()
            gains, out = (
                np.array([0.1 * ((case + 2 * i) % 3) for i in range(k)]),
                np.zeros(k, dtype=np.bool_),
            )
            specimen.reversed_steps(states, ends, gains, 0.1, out)
            measured += out.tolist()
            expected += directions(states, ends, gains.tolist(), 0.1)
    return measured, expected


@adaptation(
    "RP-20",
    source="ours, by hand: 2/3 - 1/2 of two good words and a bad one, 0 of one of each, 1/2 - 3/4",
)
def the_reward_of_a_memory_weighs_good_and_bad_words(specimen: Any) -> Any:
    memory = memory_of(specimen)
    encode(
        memory,
        (0.0, "Ada was happy and glad, but her knee hurt"),
        (1.0, "Bo was glad and sad"),
        (2.0, "A nice day of pain, hate and failure"),
    )
    return memory.column(specimen.REPLAY_REWARD), [1.0 / 6.0, 0.0, 0.25]


def week_of_nights(
    specimen: Any,
    need: str,
    wanted: Sequence[Array],
    *,
    window: int = WINDOW,
    needed: int = NEEDED,
    beta: float = BETA,
    baseline: float = BASELINE,
    rate: float = RATE,
) -> tuple[Any, Any]:
    """Replayed rows, lags, counts, values and strengths of four nights in a memory, and of the
    algorithm written out, ripple by ripple.

    wanted  NEED in each night
    """
    night = [0]

    def sleep(view: Any, tick: Any) -> None:
        view.ripples, view.sleep_share = WORTH[night[0]]
        view.need[...] = wanted[night[0]]

    memory = memory_of(
        specimen,
        refusing("record"),
        neighbour(Phase.CONSOLIDATE, sleep, sets=(RIPPLES, SLEEP_SHARE, NEED), id="sleep"),
        need=need,
        backups=BACKUPS,
        pause=RIPPLE,
        compression=FASTER,
        window=window,
        needed=needed,
        rehearsal=SHARE,
        inverse_temperature=beta,
        baseline=baseline,
        transition_rate=rate,
    )
    for at, talk, text, _, _ in WEEK:
        happened = at * (0.5 if talk in "ac" else 1.0)  # some are told late
        tell(memory, 100.0 + at, Event(100.0 + happened, text, session=talk, dated=False))
    for row in (4, 13):
        memory.archive(row)
    kept = [event for event in WEEK if event[4]]
    n, random = len(kept), stream(0, "sleep_replay")
    created, reward, visible = (
        np.array([100.0 + e[0] for e in kept]),
        np.array([e[3] for e in kept]),
        ~np.isin(np.arange(n), (4, 13)),
    )
    session = np.array([ord(e[1]) for e in kept])
    q, count, measured, expected = np.zeros((n, 2)), np.zeros(n), list[float](), list[float]()
    for k, (ripples, share) in enumerate(WORTH):
        night[0] = k
        memory.advance(100.0 + 24.0 * (k + 1))
        steps, given, rows = round(BACKUPS * ripples * share), wanted[k], set(range(n - window, n))
        if need == "predicted" and given.any():
            best = [row for row in np.argsort(-given[: n - window], kind="stable") if visible[row]][
                :needed
            ]
            rows |= {
                row + d for row in best for d in (-1, 0, 1) if given[row] > 0.0 and row + d >= 0
            }
        else:
            given = np.round(eigenvector(walked(session, rate)), 12)
        mine = sorted(rows)
        after = np.array(
            [
                [
                    mine.index(o)
                    if o in rows
                    and 0 <= o < n
                    and session[o] == session[row]
                    and (o > row or reward[row] == 0.0)
                    else -1
                    for o in (row - 1, row + 1)
                ]
                for row in mine
            ]
        )
        values, times, pairs, chance = (
            q[mine],
            np.zeros(len(mine)),
            list[list[int]](),
            random.random((steps, 2)),
        )
        for first in range(0, steps, RIPPLE):
            gains, left = list[float](), (given * visible)[mine] / (1.0 + times)
            states, actions = written_out(
                after,
                reward[mine],
                left,
                values,
                chance[first : first + RIPPLE],
                baseline,
                beta=beta,
                gains=gains,
            )
            ends = after[states, actions] if len(states) else states
            for s, end, reverse in zip(
                states, ends, directions(states, ends, gains, baseline), strict=True
            ):
                pairs.append([mine[end], mine[s]] if reverse else [mine[s], mine[end]])
                times[s] += 1.0
        q[mine] = values
        replays = np.bincount(np.ravel(pairs).astype(int), minlength=n)
        count += replays
        measured += [
            *memory.column(REPLAYED)[: steps + 1].ravel(),
            *memory.column(REPLAY_LAG)[:steps],
        ]
        measured += [*memory.column(REPLAYS), *memory.column(specimen.REPLAY_VALUE).ravel()]
        expected += [
            *np.ravel(pairs),
            *[-1.0] * (2 * (steps + 1 - len(pairs))),
            *(abs(created[b] - created[a]) / FASTER for a, b in pairs),
            *[0.0] * (steps - len(pairs)),
            *replays,
            *q.ravel(),
        ]
        memory.advance(memory.now + 1.0)
        measured += [*memory.column(LOG_STRENGTH), *memory.column(specimen.REPLAY_REWARD)]
        expected += [*SHARE * np.log1p(count), *reward]
    return measured, expected


@equation(
    "RP-15",
    source=f"{PAPER}, the algorithm written out, ripple by ripple, with offline need ({CODE}); rewards, tracks and the lower need of "
    "replayed memories are ours",
    atol=1e-9,
    papers=("mattar2018prioritized",),
)
def four_nights_of_a_memory_follow_the_algorithm(specimen: Any) -> Any:
    return week_of_nights(specimen, "stationary", (NO_NEED, FEW, MANY, MANY))


@equation(
    "RP-16",
    source=f"{PAPER}, as RP-15 with the need of a run ({CODE}); without a prediction, offline need",
    atol=1e-9,
    papers=("mattar2018prioritized",),
)
def four_nights_with_predicted_need_follow_the_algorithm(specimen: Any) -> Any:
    return week_of_nights(specimen, "predicted", (NO_NEED, FEW, MANY, MANY))


@adaptation(
    "RP-17",
    source="ours, the algorithm written out: of older memories the most needed one, if its need is not 0, and its neighbours",
    atol=1e-9,
)
def only_the_most_needed_older_memory_and_its_neighbours_are_replayed(specimen: Any) -> Any:
    middle, end, first = (np.where(np.arange(15) == row, 0.9, MANY) for row in (1, 3, 12))
    # gain of a reward 0.75 over that of 0.5: 2.2 at beta = 0.7, 1.8 at beta = 4
    first[[0, 1, 2, 9]] = 0.0, 0.95, 0.8, 0.4
    few = week_of_nights(
        specimen, "predicted", (middle, end, middle, end), window=4, needed=1, beta=0.7
    )
    wide = week_of_nights(
        specimen, "predicted", (first, first, first, first), window=14, needed=1, beta=0.7
    )
    return few[0] + wide[0], few[1] + wide[1]


@adaptation(
    "RP-17b",
    source="ours, by sets: candidates with another memory between them are no neighbours; from a rewarded one only the step on; 20 "
    "random tracks",
)
def candidates_apart_are_no_neighbours(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(17), [], []
    for _ in range(20):
        session, reward = rng.integers(0, 2, 12), rng.choice([0.0, 0.0, 0.5], 12)
        rows = np.sort(rng.permutation(12)[:8])
        after, places = np.empty((8, 2), np.int64), {row: i for i, row in enumerate(rows.tolist())}
        specimen.tracks(rows, session, reward, after)
        measured += after.ravel().tolist()
        for row in places:
            ends = ((row - 1, reward[row] == 0.0), (row + 1, True))
            expected += [
                places[end] if end in places and session[end] == session[row] and may else -1
                for end, may in ends
            ]
    return measured, expected


@adaptation(
    "RP-22",
    source="ours, the algorithm written out: need of older memories alone is need, and nights that do not replay them leave their "
    "values",
    atol=1e-9,
)
def need_of_older_memories_alone_counts_and_their_values_last(specimen: Any) -> Any:
    older = np.where(np.arange(15) < 15 - WINDOW, FEW + 0.01, 0.0)
    return week_of_nights(specimen, "predicted", (older, NO_NEED, older, MANY))


@limit(
    "RP-18",
    source=f"{PAPER}: without a least gain, a step that changes no policy has the EVB 0, so a night ends when all is learnt",
    atol=1e-9,
    papers=("mattar2018prioritized",),
)
def without_a_least_gain_a_night_ends_when_all_is_learnt(specimen: Any) -> Any:
    # a rate unlike the discount, so that one is not taken for the other
    return week_of_nights(
        specimen, "stationary", (NO_NEED, FEW, MANY, MANY), baseline=0.0, rate=0.6
    )


def nights_beside_drafts(
    specimen: Any, drafts: Sequence[Draft], need: str, window: int
) -> tuple[list[float], int]:
    """Replay of two nights by the number of each event, and the rows made by the memory that have a
    part in it.

    The memory makes the drafts in the first night, before the session goes on.
    """

    def want(view: Any, tick: Any) -> None:
        view.need[...] = np.where(
            view.kind == Kind.EVENT, np.exp(-0.02 * np.abs(view.created - 103.0)), 9.0
        )

    def draft(view: Any, tick: Any) -> None:
        for made in drafts if len(view.kind) == 5 else ():
            view.drafts.add(made)

    memory = memory_of(
        specimen,
        neighbour(Phase.CONSOLIDATE, want, reads=(KIND, CREATED), sets=(NEED,), id="want"),
        neighbour(Phase.CONSOLIDATE, draft, reads=(KIND,), adds=(DRAFTS,), id="draft"),
        need=need,
        window=window,
        needed=2,
        backups=9,
    )
    texts, measured, others = (
        (("set out", "ran", "won a great prize", "slept", "ate"), ("left", "sang", "was happy")),
        list[float](),
        0,
    )
    for night, told in enumerate(texts):
        encode(
            memory,
            *(
                Event(100.0 + 26.0 * night + 0.5 * i * i, f"Ada {did}", session="s", dated=False)
                for i, did in enumerate(told)
            ),
        )
        memory.advance(125.0 + 24.0 * night)
        is_event, replays = memory.column(KIND) == Kind.EVENT, memory.column(REPLAYS)
        number = np.append(np.where(is_event, np.cumsum(is_event) - 1, 99), -1)
        measured += [
            *number[memory.column(REPLAYED)[:10]].ravel(),
            *memory.column(REPLAY_LAG)[:10],
            *replays[is_event],
        ]
        measured += memory.column(specimen.REPLAY_VALUE)[is_event].ravel().tolist()
        others += int(
            (replays[~is_event] > 0).sum()
            + (memory.column(specimen.REPLAY_VALUE)[~is_event] > 0.0).sum()
        )
    return [*measured, memory.column(KIND).size - len(drafts)], others


@adaptation(
    "RP-21",
    source="ours: segments, bundles and summaries have no part in replay, so the nights are those of a memory without them",
)
def only_events_are_replayed(specimen: Any) -> Any:
    drafts = (
        Draft("prize", Kind.SEGMENT, (2,)),
        Draft("ran, slept", Kind.BUNDLE, (1, 3)),
        Draft("a good day", Kind.SUMMARY, (0, 2, 4)),
    )
    cases = [(need, window) for need in ("stationary", "predicted") for window in (2, 50)]
    beside, alone = (
        [nights_beside_drafts(specimen, made, *case) for case in cases] for made in (drafts, ())
    )
    return [x for replays, others in beside for x in (*replays, others)], [
        x for replays, _ in alone for x in (*replays, 0)
    ]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "reverse_replay",
    caption="Values after one, three, six and nine replayed steps: from a reward at the end of the line they spread back to "
    "the start",
    source=f"{PAPER}, line of ten; 0.9^k",
)
def values_along_the_line(specimen: Any) -> Picture:
    need, curves = successors(explored(line(), {9: 0}))[0], []
    for steps in (1, 3, 6, 9):
        q = np.zeros((10, 2))
        replayed(specimen, line(), np.eye(10)[9], need, q, np.full((steps, 2), 0.5))
        curves.append(Curve(f"after {steps}", np.arange(9), q[:9, 1]))
    return Picture(
        "place on the line, reward at 9",
        "value of a step ahead",
        (*curves, dots("0.9^k", np.arange(9), GAMMA ** np.arange(8, -1, -1))),
    )


@figure(
    "forward_and_reverse",
    caption="Sequences per lap: forward at the start of a run, reverse at the goal, more of these after the larger of two "
    "rewards",
    source="Diba & Buzsaki 2007; Ambrose, Pfeiffer & Foster 2016; up to five simulated animals",
)
def sequences_at_start_and_goal(specimen: Any) -> Picture:
    alike, mixed = laps(specimen, [1.0], seeds=3), laps(specimen, [1.0, 4.0], seeds=5)
    groups = ((alike, 1.0), (mixed, 1.0), (mixed, 4.0))
    return Picture(
        "equal rewards: 0 start, 1 goal;  unequal: 2, 3 after the smaller, 4, 5 after the fourfold",
        "sequences per lap",
        tuple(
            Curve(
                label,
                np.arange(8),
                np.array(
                    [
                        *(
                            n.get((where, kind, size), 0.0)
                            for n, size in groups
                            for where in ("start", "goal")
                        ),
                        0.0,
                        0.0,
                    ]
                ),
                Marks.BARS,
            )
            for label, kind in (("forward", "F"), ("reverse", "R"))
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
def algorithm(specimen: Any, **faults: Any) -> Any:
    """The written-out algorithm in place of the kernel, with a fault."""

    def replay(
        steps: int,
        after: Any,
        reward: Any,
        need: Any,
        q: Any,
        alpha: float,
        _gamma: float,
        _beta: float,
        baseline: float,
        chance: Any,
        _evb: Any,
        states: Any,
        actions: Any,
        gains: Any,
    ) -> int:
        s, a = written_out(after, reward, need, q, chance[:steps], baseline, alpha, **faults)
        states[: len(s)], actions[: len(s)], gains[: len(s)] = s, a, 1.0
        return len(s)

    return specimen.replacing("replay", replay)


@mutant("need is not lowered by replay", rejected_by="RP-12")
def unmeetable(specimen: Any) -> Any:
    return specimen.replacing("unmet", lambda need, times: need)


@mutant("priority is a weighted sum of importance and recency", rejected_by="RP-2.4b")
def weighted_sum(specimen: Any) -> Any:
    def value_state(
        s: int,
        after: Any,
        reward: Any,
        need: Any,
        q: Any,
        alpha: float,
        gamma: float,
        beta: float,
        baseline: float,
        evb: Any,
    ) -> None:
        evb[s] = np.where(after[s] >= 0, 0.6 * reward[after[s]] + 0.4 * s / len(after), -1.0)

    return specimen.replacing("value_state", value_state)


@mutant("memories sorted by time instead of replay", rejected_by="RP-2.2")
def sorted_by_time(specimen: Any) -> Any:
    def replay(steps: int, after: Any, *rest: Any) -> int:
        states, actions = rest[-3], rest[-2]
        steps = min(steps, len(after) - 1)
        states[:steps], actions[:steps] = np.arange(steps), 1
        return steps

    return specimen.replacing("replay", replay)


@mutant("need as a count of visits, one for each memory", rejected_by="RP-2.3b")
def visits(specimen: Any) -> Any:
    def stationary(session: Any, rate: float, out: Any) -> None:
        out[...] = 1.0 / len(out)

    return specimen.replacing("stationary", stationary)


@mutant("values of steps from before the first replay", rejected_by="RP-2.2")
def stale(specimen: Any) -> Any:
    return algorithm(specimen, stale=True)


@mutant("single steps only", rejected_by="RP-2.5e")
def single_steps(specimen: Any) -> Any:
    return algorithm(specimen, expand=False)


@mutant("a longer backup has the need of its first state", rejected_by="RP-2.5e")
def need_of_first(specimen: Any) -> Any:
    return algorithm(specimen, need_of_first=True)


@mutant("gain in terms of the old values", rejected_by="RP-2.1")
def old_values(specimen: Any) -> Any:
    def gain(q: Any, action: int, new: float, beta: float) -> float:
        changed = q.copy()
        changed[action] = new
        return float((softmax(beta * changed) - softmax(beta * q)) @ q)

    return specimen.replacing("gain", gain)


@mutant("gain is the size of the prediction error", rejected_by="RP-2.1b")
def prediction_error(specimen: Any) -> Any:
    return specimen.replacing("gain", lambda q, action, new, beta: abs(new - q[action]))


@mutant("an undiscounted backup", rejected_by="RP-2.2")
def undiscounted(specimen: Any) -> Any:
    return specimen.replacing(
        "backup", lambda q, r, following, alpha, gamma: q + alpha * (r + following - q)
    )


@mutant("transitions are never learnt", rejected_by="RP-2.3")
def unlearnt(specimen: Any) -> Any:
    return specimen.replacing(
        "transition", lambda first, last, rate: specimen.transition(first, last, 0.0)
    )


@mutant("everything is replayed forwards", rejected_by="RP-2.7b")
def forwards(specimen: Any) -> Any:
    def reversed_steps(states: Any, ends: Any, gains: Any, baseline: float, out: Any) -> None:
        out[...] = False

    return specimen.replacing("reversed_steps", reversed_steps)


@mutant("need in sleep is predicted", rejected_by="RP-13")
def predicted_need(specimen: Any) -> Any:
    def params(**values: Any) -> Any:
        return specimen.SleepReplayParams(**{**values, "need": "predicted"})

    return specimen.replacing("SleepReplayParams", params)


@mutant("predicted need has no effect", rejected_by="RP-14")
def never_predicted(specimen: Any) -> Any:
    def params(**values: Any) -> Any:
        return specimen.SleepReplayParams(**{**values, "need": "stationary"})

    return specimen.replacing("SleepReplayParams", params)


@mutant("replay lowers the need of the memory beside the replayed one", rejected_by="RP-15")
def beside(specimen: Any) -> Any:
    whole = specimen.unmet
    return specimen.replacing("unmet", lambda need, times: whole(need, np.roll(times, 1)))


@mutant("rows that are no events are replayed, too", rejected_by="RP-21")
def replays_all_rows(specimen: Any) -> Any:
    return specimen.replacing("events", lambda kind: np.arange(len(kind)))


@mutant("an archived memory is replayed, too", rejected_by="RP-15")
def replays_archived(specimen: Any) -> Any:
    def _candidates(self: Any, need: Any, visible: Any, session: Any) -> Any:
        return specimen.SleepReplay._candidates(self, need, np.ones_like(visible), session)

    return specimen.overriding("SleepReplay", _candidates=_candidates)


@mutant("replay without compression in time", rejected_by="RP-2.7a")
def uncompressed(specimen: Any) -> Any:
    def params(**values: Any) -> Any:
        return specimen.SleepReplayParams(**{**values, "compression": 1.0})

    return specimen.replacing("SleepReplayParams", params)


@mutant("candidates with others between them are neighbours", rejected_by="RP-17b")
def over_a_gap(specimen: Any) -> Any:
    return specimen.replacing(
        "tracks",
        lambda rows, session, reward, after: specimen.tracks(
            np.arange(len(rows)), session[rows], reward[rows], after
        ),
    )


@mutant("the first of the older memories instead of the most needed", rejected_by="RP-17")
def first_of_the_older(specimen: Any) -> Any:
    return specimen.replacing("best", lambda scores, visible, k: np.arange(min(k, len(scores))))


@mutant("values of memories that a night does not replay are forgotten", rejected_by="RP-22")
def forgotten_values(specimen: Any) -> Any:
    def _candidates(self: Any, need: Any, visible: Any, session: Any) -> Any:
        rows, needed = specimen.SleepReplay._candidates(self, need, visible, session)
        self.left = np.setdiff1d(np.arange(len(need)), rows)
        return rows, needed

    def dream(self: Any, view: Any, tick: Any) -> None:
        specimen.SleepReplay.dream(self, view, tick)
        view.replay_value[self.left] = 0.0

    return specimen.overriding("SleepReplay", _candidates=_candidates, dream=dream)


@mutant("a least gain whatever the parameter", rejected_by="RP-18")
def always_a_least_gain(specimen: Any) -> Any:
    return specimen.replacing(
        "value_state",
        lambda *given: specimen.value_state(*given[:-2], max(given[-2], BASELINE), given[-1]),
    )


@mutant("lags between when events happened", rejected_by="RP-15")
def from_the_event(specimen: Any) -> Any:
    return as_happened(specimen, "SleepReplay", "dream")
