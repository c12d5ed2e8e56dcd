"""Sleep replay: replays, in sleep, the steps between memories whose backup would most improve
future behaviour, and learns from them.

A session is a linear track, and its memories are places along it; the actions are a step back and a
step on.  A backup of a step (s, a, r, s') updates the value of a at s from the value of s'.  Its
worth is Gain, how much better the policy at s becomes, times Need, how often s will be visited; the
most valuable backup is replayed, the values it changed are computed again, and so on (Mattar & Daw
2018).  After a reward, gain leads back from it step by step: reverse replay (Foster & Wilson 2006).
Where nothing is left to learn, need decides, and the last replay is extended by one more step as
long as that pays: forward replay (Diba & Buzsaki 2007).  Replay is compressed in time (Davidson,
Kloosterman & Wilson 2009).

A night is a series of ripples, each with as many backups as a pause in the paper; after each
ripple, the need of replayed memories is lower. Need is the stationary distribution of the walk
through the sessions, as in Mattar & Daw for sleep; with `need: predicted` it is NEED, which they
use in the pauses of a run, or the stationary distribution while no memory has a NEED. The reward of
a memory is computed from its words; a rewarded memory is terminal: no value after it counts.

Cost: per event O(terms); per sleep O(n + replays m) for m candidates, 0.8 ms for 600 memories and
10 ms for 10,000 with 200 replays; per maintain O(n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    ARRIVED,
    KIND,
    LOG_STRENGTH,
    NEED,
    RANDOM,
    REPLAY_LAG,
    REPLAY_STEPS,
    REPLAYED,
    REPLAYS,
    RIPPLES,
    ROW,
    SESSION,
    SLEEP_SHARE,
    VISIBLE,
)
from ...engine.state.ranking import best
from ..shared.reward import reward_in
from ..shared.rows import events

# --- columns --------------------------------------------------------------------------------------
REPLAY_VALUE = Column(
    "replay_value",
    np.float64,
    Scope.MEMORY,
    "reward",
    0.0,
    "Q(s, a): discounted reward after a step back, after a step on",
    (2,),
    low=0,
)
REPLAY_REWARD = Column(
    "replay_reward",
    np.float64,
    Scope.MEMORY,
    "reward",
    0.0,
    "size of the reward in the memory",
    low=0,
    high=1,
)
REPLAY_REHEARSED = Column(
    "replay_rehearsed",
    np.float64,
    Scope.MEMORY,
    "ln",
    0.0,
    "ln(1 + replayed steps that the memory was part of so far)",
    low=0,
)


# --- equations: backup, gain ----------------------------------------------------------------------
@kernel
def backup(q: float, r: float, following: float, alpha: float, gamma: float) -> float:
    """Q(s, a) <- Q + alpha [r + gamma V(s') - Q], with V(s') = max_a' Q(s', a').  Mattar & Daw
    (2018), the backup.  Cost: O(1).

    q, r, following  reward  Q(s, a) before, reward of the step, V(s') or the return from s' on
    alpha, gamma     1       learning rate, discount

    >>> backup(0.5, 1.0, 2.0, 0.5, 0.9)
    1.65
    """
    return q + alpha * (r + gamma * following - q)


@kernel
def gain(q: Any, action: int, new: float, beta: float) -> float:
    """Gain(s, a) = sum_a' [pi_new(a'|s) - pi_old(a'|s)] Q_new(s, a'), pi the softmax of beta Q.
    Mattar & Daw (2018), gain.  Cost: O(A).

    q       (A,)  reward    Q(s, .) before
    action  ()              a
    new     ()    reward    Q_new(s, a)
    beta    ()    1/reward  inverse temperature

    >>> round(gain(np.zeros(2), 1, 1.0, 5.0), 6), gain(np.zeros(2), 1, 0.0, 5.0)
    (0.493307, 0.0)
    """
    top_old, top_new = q[0], new if action == 0 else q[0]
    for b in range(q.shape[0]):
        top_old, top_new = max(top_old, q[b]), max(top_new, new if b == action else q[b])
    sum_old = sum_new = mean_old = mean_new = 0.0
    for b in range(q.shape[0]):
        after = new if b == action else q[b]
        old, chosen = math.exp(beta * (q[b] - top_old)), math.exp(beta * (after - top_new))
        sum_old, sum_new = sum_old + old, sum_new + chosen
        # relative to Q_new(s, a): exactly 0 if all are equal
        mean_old, mean_new = mean_old + old * (after - new), mean_new + chosen * (after - new)
    return mean_new / sum_new - mean_old / sum_old


# --- equations: need ------------------------------------------------------------------------------
@kernel
def transition(first: bool, last: bool, rate: float) -> Any:
    """T(s, s - 1) and T(s, s + 1), learnt by T(s, .) <- T + rate (e_s' - T) in one walk along the
    track, after random exploration.  Cost: O(1).

    first, last  whether s is the first, the last of its track; the first of the next track follows
                 the last
    rate         ()  1, rate at which T is learnt

    >>> [round(x, 9) for x in transition(False, False, 0.9)], transition(True, False, 0.9)
    ([0.05, 0.95], (0.0, 1.0))
    """
    back = 0.0 if first or last else 0.5 * (1.0 - rate)
    return back, 1.0 - back


@kernel
def stationary(session: Any, rate: float, out: Any) -> None:
    """The stationary distribution pi = pi T, the need in sleep (Mattar & Daw 2018, offline need).
    Cost: O(n).

    session  (n,)     track of every memory; the first track follows the last
    rate     ()    1  rate at which T is learnt
    out      (n,)  1  pi, written

    The walk circulates through all tracks, so the net flow from s to s + 1, pi(s) T(s, s + 1) -
    pi(s + 1) T(s + 1, s), is the same for all s, which gives pi from the end of each track.

    >>> out = np.empty(5)
    >>> stationary(np.array([0, 0, 0, 0, 7]), 0.0, out)
    >>> (11 * out).round(9).tolist()
    [3.0, 4.0, 2.0, 1.0, 1.0]
    """
    n, total = out.shape[0], 0.0
    for s in range(n - 1, -1, -1):
        last = s == n - 1 or session[s + 1] != session[s]
        flow = 1.0
        if not last:
            flow += (
                out[s + 1] * transition(False, s + 2 >= n or session[s + 2] != session[s], rate)[0]
            )
        out[s] = flow / transition(s == 0 or session[s - 1] != session[s], last, rate)[1]
        total += out[s]
    for s in range(n):
        out[s] /= total


# --- equations: what is replayed ------------------------------------------------------------------
@kernel
def back_up(
    states: Any,
    actions: Any,
    length: int,
    after: Any,
    reward: Any,
    q: Any,
    alpha: float,
    gamma: float,
    beta: float,
    baseline: float,
    write: bool,
) -> float:
    """A backup of n steps: each step learns the return to the end and V there.  Returns the sum of
    the steps' gains, or 0 if `write` changes Q.

    Mattar & Daw (2018), n-step backups; gain of a step at least `baseline`.  Arguments as for
    `replay`.  Cost: O(n A).
    """
    end, total, following = after[states[length - 1], actions[length - 1]], 0.0, 0.0
    if reward[end] == 0.0:
        following = q[end].max()
    for k in range(length - 1, -1, -1):
        s, a = states[k], actions[k]
        r = reward[after[s, a]]
        new = backup(q[s, a], r, following, alpha, gamma)
        if write:
            q[s, a] = new
        else:
            total += max(gain(q[s], a, new, beta), baseline)
        following = r + gamma * following
    return total


@kernel
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
    """EVB(s, a) = Gain(s, a) Need(s) of every step from s; -1 for those that cannot be taken.
    Mattar & Daw (2018).  Cost: O(A^2).
    """
    for a in range(after.shape[1]):
        end = after[s, a]
        evb[s, a] = -1.0
        if end >= 0:
            new = backup(
                q[s, a], reward[end], q[end].max() if reward[end] == 0.0 else 0.0, alpha, gamma
            )
            evb[s, a] = need[s] * max(gain(q[s], a, new, beta), baseline)


@kernel
def replay(
    steps: int,
    after: Any,
    reward: Any,
    need: Any,
    q: Any,
    alpha: float,
    gamma: float,
    beta: float,
    baseline: float,
    chance: Any,
    evb: Any,
    states: Any,
    actions: Any,
    gains: Any,
) -> int:
    """Repeat: replay argmax EVB, learn from it, recompute the changed EVB.  Returns the number of
    steps.  Mattar & Daw (2018), whole algorithm.

    steps           ()                   most backups
    after           (m, A)               s' of each step, -1 if it cannot be taken; an unrewarded
                                         state has steps to all its predecessors
    reward          (m,)       reward    of entering a state; a rewarded state is terminal
    need            (m,)       visits    Need(s)
    q               (m, A)     reward    Q(s, a); written
    alpha, gamma    ()         1         learning rate, discount
    beta            ()         1/reward  inverse temperature of the policy
    baseline        ()         reward    least gain of a backup
    chance          (steps, 2) 1         uniform random numbers: choice among equally valuable
                                         steps, among equally good actions
    evb             (m, A)     reward    buffer for EVB; written
    states, actions (steps,)             s and a of each replayed step, for an n-step backup the
                                         added step; written
    gains           (steps,)   reward    gain of that step; written

    A backup of n steps is the last replay plus the greedy step from its end, unless that returns to
    a state of the replay.  Its value is the sum of its gains times the need of the state it is
    extended from; it is chosen if this is more than the value of any single step. Cost: O(steps (m
    A + n A)).
    """
    path, choices, old, length = (
        np.empty(steps, dtype=np.int64),
        np.empty(steps, dtype=np.int64),
        np.empty(steps),
        0,
    )
    for s in range(after.shape[0]):
        value_state(s, after, reward, need, q, alpha, gamma, beta, baseline, evb)
    for step in range(steps):
        most, ties = 0.0, 0
        for s in range(after.shape[0]):
            for a in range(after.shape[1]):
                if evb[s, a] > most:
                    most, ties = evb[s, a], 1
                elif evb[s, a] == most and ties > 0:
                    ties += 1
        longer = False
        if length > 0:
            s = after[path[length - 1], choices[length - 1]]
            top = q[s].max()
            pick, a = int(chance[step, 1] * (q[s] == top).sum()), 0
            for b in range(after.shape[1]):
                if q[s, b] == top:
                    if pick == 0:
                        a = b
                    pick -= 1
            end = after[s, a]
            if end >= 0 and reward[s] == 0.0 and not (path[:length] == end).any() and end != s:
                path[length], choices[length] = s, a
                longer = (
                    need[s]
                    * back_up(
                        path,
                        choices,
                        length + 1,
                        after,
                        reward,
                        q,
                        alpha,
                        gamma,
                        beta,
                        baseline,
                        False,
                    )
                    > most
                )
        if longer:
            length += 1
        elif ties == 0:
            return step
        else:
            pick, length = int(chance[step, 0] * ties), 1
            for s in range(after.shape[0]):
                for a in range(after.shape[1]):
                    if evb[s, a] == most:
                        if pick == 0:
                            path[0], choices[0] = s, a
                        pick -= 1
        states[step], actions[step] = path[length - 1], choices[length - 1]
        gains[step] = back_up(
            path[length - 1 :],
            choices[length - 1 :],
            1,
            after,
            reward,
            q,
            alpha,
            gamma,
            beta,
            0.0,
            False,
        )
        for k in range(length):
            old[k] = q[path[k], choices[k]]
        back_up(path, choices, length, after, reward, q, alpha, gamma, beta, baseline, True)
        for k in range(length):
            if q[path[k], choices[k]] != old[k]:
                value_state(path[k], after, reward, need, q, alpha, gamma, beta, baseline, evb)
                for before in after[path[k]]:
                    if before >= 0:
                        value_state(
                            before, after, reward, need, q, alpha, gamma, beta, baseline, evb
                        )
    return steps


@kernel
def reversed_steps(states: Any, ends: Any, gains: Any, baseline: float, out: Any) -> None:
    """Whether each replayed step is a reverse one, s' active before s.  Mattar & Daw (2018),
    directions of events.  Cost: O(k).

    states, ends  (k,)          s and s' of each step
    gains         (k,)  reward  gain of each step
    baseline      ()    reward  gain of a step that is replayed for need alone
    out           (k,)          bool, written

    Reverse: it ends in the state in which the step before it starts.  Forward: it starts in the
    state in which that one ends.  An isolated step is reverse if its gain is above the baseline.

    >>> out = np.empty(4, dtype=np.bool_)
    >>> reversed_steps(np.array([3, 2, 5, 6]), np.array([4, 3, 6, 7]), np.zeros(4), 0.0, out)
    >>> out.tolist()
    [True, True, False, False]
    """
    k = out.shape[0]
    for i in range(k):
        if (i > 0 and ends[i] == states[i - 1]) or (
            i + 1 < k and ends[i + 1] == states[i] and not (i > 0 and states[i] == ends[i - 1])
        ):
            out[i] = True
        elif (i > 0 and states[i] == ends[i - 1]) or (i + 1 < k and states[i + 1] == ends[i]):
            out[i] = False
        else:
            out[i] = gains[i] > baseline


# --- the adaptation -------------------------------------------------------------------------------
@kernel
def tracks(rows: Any, session: Any, reward: Any, after: Any) -> None:
    """The memory before and the one after each candidate in its session, as candidates; -1: none.
    Ours.  Cost: O(m).

    rows     (m,)            candidates, ascending
    session  (n,)            of every memory
    reward   (n,)    reward  of every memory; from a rewarded one only the step on is possible, as
                             from a goal to the next start
    after    (m, 2)          written

    >>> after = np.empty((5, 2), dtype=np.int64)
    >>> tracks(np.array([0, 2, 3, 4, 5]), np.array([0, 0, 0, 0, 0, 1]), np.array([0.0, 0.0, 0.0, 0.5, 0.0, 0.0]), after)
    >>> after.tolist()
    [[-1, -1], [-1, 2], [-1, 3], [2, -1], [-1, -1]]
    """
    for i in range(rows.shape[0]):
        for a, j in ((0, i - 1), (1, i + 1)):
            there = (
                0 <= j < rows.shape[0]
                and abs(rows[j] - rows[i]) == 1
                and session[rows[j]] == session[rows[i]]
            )
            after[i, a] = j if there and (a == 1 or reward[rows[i]] == 0.0) else -1


@kernel
def unmet(need: Any, times: Any) -> Any:
    """Need / (1 + times): remaining need of a memory after that many replays this night.  Ours.
    Cost: O(m).

    need   (m,)  visits
    times  (m,)  replays of steps from each

    >>> unmet(np.array([3.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [1.0, 1.0]
    """
    return need / (1.0 + times)


@kernel
def rehearse(replayed: Any, replays: Any, rehearsed: Any) -> None:
    """Count the steps that each memory is part of, and add them to ln(1 + steps so far).  Ours.
    Cost: O(n).
    """
    for i in range(replayed.shape[0]):
        for row in replayed[i]:
            replays[row] += 1
    for row in range(replays.shape[0]):
        if replays[row] > 0:
            rehearsed[row] = math.log(math.exp(rehearsed[row]) + replays[row])


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SleepReplayParams(Params):
    backups: int  # of a full night
    pause: int  # backups of a ripple
    alpha: float
    discount: float  # gamma
    inverse_temperature: float
    need: Literal["stationary", "predicted"]
    transition_rate: float
    baseline: float
    compression: float
    window: int
    needed: int
    rehearsal: float


class SleepReplay(Mechanism[SleepReplayParams]):
    """Learns in sleep the values of the steps between the memories of a session, the most
    valuable backups first.
    """

    owns = (REPLAY_VALUE, REPLAY_REWARD, REPLAY_REHEARSED)

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(REPLAY_REWARD,))
    def read_reward(self, view: Any, incoming: Incoming) -> None:
        view.replay_reward[view.row] = abs(reward_in(incoming.features.terms))

    @hook(
        Phase.CONSOLIDATE,
        reads=(ARRIVED, SESSION, VISIBLE, KIND, NEED, RIPPLES, SLEEP_SHARE, REPLAY_REWARD),
        adds=(),
        sets=(REPLAY_VALUE, REPLAY_REHEARSED, REPLAYED, REPLAY_LAG, REPLAYS, RANDOM),
    )
    def dream(self, view: Any, tick: Tick) -> None:
        """Replays events alone: neighbours are events with no other event between them."""
        p, stored = self.params, events(view.kind)
        steps = min(round(p.backups * view.ripples * view.sleep_share), REPLAY_STEPS)
        places, need = self._candidates(
            view.need[stored], view.visible[stored], view.session[stored]
        )
        rows = stored[places]
        after, q = np.empty((rows.size, 2), dtype=np.int64), view.replay_value[rows]
        tracks(places, view.session[stored], view.replay_reward[stored], after)
        states, actions, gains = (
            np.empty(steps, dtype=np.int64),
            np.empty(steps, dtype=np.int64),
            np.empty(steps),
        )
        chance, backwards, evb, times = (
            view.random.random((steps, 2)),
            np.empty(steps, dtype=np.bool_),
            np.empty(q.shape),
            np.zeros(rows.size),
        )
        k, made = 0, -1
        while k < steps and made:
            ripple = slice(k, min(k + p.pause, steps))
            made = replay(
                ripple.stop - k,
                after,
                view.replay_reward[rows],
                unmet(need, times),
                q,
                p.alpha,
                p.discount,
                p.inverse_temperature,
                p.baseline,
                chance[ripple],
                evb,
                states[ripple],
                actions[ripple],
                gains[ripple],
            )
            new = slice(k, k + made)
            reversed_steps(
                states[new],
                after[states[new], actions[new]],
                gains[new],
                p.baseline,
                backwards[new],
            )
            np.add.at(times, states[new], 1.0)
            k += made
        view.replay_value[rows] = q
        ends = after[states[:k], actions[:k]]
        pairs = rows[
            np.stack(
                [
                    np.where(backwards[:k], ends, states[:k]),
                    np.where(backwards[:k], states[:k], ends),
                ],
                axis=1,
            )
        ]
        view.replayed[:k] = pairs
        view.replay_lag[:k] = np.abs(np.diff(view.arrived[pairs], axis=1)[:, 0]) / p.compression
        rehearse(pairs, view.replays, view.replay_rehearsed)

    @hook(Phase.MAINTAIN, reads=(REPLAY_REHEARSED,), adds=(LOG_STRENGTH,), sets=())
    def strengthen(self, view: Any, tick: Tick) -> None:
        np.multiply(view.replay_rehearsed, self.params.rehearsal, out=view.log_strength)

    def _candidates(
        self, need: Any, visible: Any, session: Any
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Events that can be replayed, ascending, and their need: the newest and, with predicted
        need, the most needed older ones, with neighbours.

        need, visible, session  (n,)  of each event
        """
        p, n = self.params, len(need)
        older = max(0, n - p.window)
        rows = np.arange(older, n)
        if p.need == "stationary" or not need.any():
            need = np.empty(n)
            stationary(session, p.transition_rate, need)
        elif older:
            top = best(need[:older], visible[:older], p.needed)
            near = (top[need[top] > 0.0, None] + np.arange(-1, 2)).ravel()
            rows = np.union1d(rows, near[near >= 0])
        return rows, need[rows] * visible[rows]
