"""Serotonin: computes the long-run average of reward and stretches the time horizon of prediction
with it.

It combines two models.  Daw, Kakade & Dayan (2002): average-reward temporal-difference learning, in
which phasic dopamine reports the prediction error and phasic serotonin its negative, predicted
punishment; tonic serotonin is the long-run average of reward, which is subtracted in the error.
Doya (2002): serotonin sets the discount gamma of reinforcement learning, that is, the time horizon
of 1 / (1 - gamma) steps.  Here the serotonin level of the first model multiplies the horizon of the
second by exp(gain level).

Cues are entities; the entities of one event predict the reward of the next.  There are no episodes,
as in the average-reward formulation.

Cost, with q cues: O(q + terms) per event.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import exact_kernel, formula, kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import HORIZON
from ..shared.reward import cells, prediction, reward_in

# --- columns --------------------------------------------------------------------------------------
AVERAGE_REWARD = Column(
    "average_reward",
    np.float64,
    Scope.GLOBAL,
    "reward",
    0.0,
    "long-run average of reward per event",
    low=-1,
    high=1,
)
RELATIVE_VALUE = Column(
    "relative_value",
    np.float64,
    Scope.GLOBAL,
    "reward",
    0.0,
    "V of each cue, relative to the average; indexed by hash",
    ("cues",),
)
STANDING_CUES = Column(
    "standing_cues",
    np.int64,
    Scope.GLOBAL,
    "1",
    -1,
    "cells of the cues of the last event; padded with -1",
    ("most_cues",),
)


# --- equations of Daw, Kakade & Dayan (2002) ------------------------------------------------------
@formula
def error(r: float, average: float, v: float, v_next: float) -> float:
    """delta = r - rbar + V(s') - V(s), the average-reward prediction error; phasic dopamine.  Cost:
    O(1).

    r, average  ()  reward  current reward, and average reward
    v, v_next   ()  reward  values of the previous and of the current state

    >>> error(1.0, 0.25, 0.5, 0.0)
    0.25
    """
    return r - average + v_next - v


@exact_kernel
def learn(value: Any, cues: Any, alpha: float, delta: float) -> None:
    """V_j += alpha delta for each cue j present.  Cost: O(q).

    value  (c,)  reward  V of every cue; written
    cues   (q,)          cells of the cues present, each once; negative: none
    alpha  ()    1       learning rate
    delta  ()    reward  prediction error

    >>> value = np.zeros(2)
    >>> learn(value, np.array([1, -1]), 0.1, 2.0)
    >>> value.tolist()
    [0.0, 0.2]
    """
    for j in cues:
        if j >= 0:
            value[j] += alpha * delta


@formula
def averaged(average: float, r: float, kappa: float) -> float:
    """rbar + kappa (r - rbar): slow average of reward, reported by tonic serotonin.  Cost: O(1).

    >>> averaged(0.0, 1.0, 0.01)
    0.01
    """
    return average + kappa * (r - average)


@formula
def phasic(delta: float) -> float:
    """-delta: phasic serotonin before rectification, the negative of phasic dopamine.  Cost: O(1).

    >>> phasic(0.5)
    -0.5
    """
    return -delta


@formula
def level(average: float, delta: float, share: float) -> float:
    """rbar + share max(0, -delta): tonic and phasic serotonin.  The sum is ours, the parts are the
    paper's.  Cost: O(1).

    average  ()  reward  long-run average
    delta    ()  reward  prediction error
    share    ()  1       weight of the phasic part

    >>> level(0.2, -0.5, 0.1), level(0.2, 0.5, 0.1)
    (0.25, 0.2)
    """
    return average + share * max(0.0, phasic(delta))


# --- equations of Doya (2002) ---------------------------------------------------------------------
@kernel
def horizon(gamma: float) -> float:
    """1 / (1 - gamma), time horizon in steps: the sum of all discounts.  Cost: O(1).

    >>> round(horizon(0.9), 9)
    10.0
    """
    return 1.0 / (1.0 - gamma)


@kernel
def half_life(gamma: float) -> float:
    """ln(1/2) / ln(gamma), steps in which the discount falls to one half.  Cost: O(1).

    >>> half_life(0.5)
    1.0
    """
    return float(np.log(0.5) / np.log(gamma))


@kernel
def discounted(reward: Any, delay: Any, gamma: float) -> Any:
    """gamma^D r: present value of a reward r after a delay D; delay discounting tasks measure
    gamma.  Cost: O(options).

    reward, delay  (a,)  reward, steps
    gamma          ()    1  discount per step

    >>> discounted(np.array([1.0, 2.0]), np.array([0.0, 2.0]), 0.5).tolist()
    [1.0, 0.5]
    """
    return reward * gamma**delay


@kernel
def choice(q: Any, beta: float) -> Any:
    """P(a) = exp(beta Q_a) / sum_b exp(beta Q_b).  Doya assigns beta to noradrenaline, CHOICE_GAIN
    here, not to serotonin.  Cost: O(options).

    q     (a,)  reward    value of each action
    beta  ()    1/reward  inverse temperature

    >>> choice(np.array([1.0, 0.0]), 0.0).tolist()
    [0.5, 0.5]
    """
    p = np.exp(beta * (q - q.max()))
    return p / p.sum()


@formula
def stretched(level: float, gain: float) -> float:
    """exp(gain level): factor on the horizon; 1 at level 0.  Ours.  Cost: O(1).

    >>> stretched(0.0, 1.0)
    1.0
    """
    return float(math.exp(gain * level))


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SerotoninParams(Params):
    kappa: float
    alpha: float
    phasic_share: float
    horizon_gain: float
    cues: int  # c
    most_cues: int


class Serotonin(Mechanism[SerotoninParams]):
    """Learns the long-run average of reward; a high average lengthens the horizon of prediction."""

    owns = (AVERAGE_REWARD, RELATIVE_VALUE, STANDING_CUES)

    @hook(
        Phase.ENCODE,
        reads=(),
        adds=(),
        sets=(AVERAGE_REWARD, RELATIVE_VALUE, STANDING_CUES, HORIZON),
    )
    def experience(self, view: Any, incoming: Incoming) -> None:
        """Learn from every event, stored or not."""
        p, value, present = self.params, view.relative_value, view.standing_cues
        r = reward_in(incoming.features.terms)
        now = cells(incoming.features.entities, p.cues, p.most_cues)
        delta = error(r, view.average_reward, prediction(value, present), prediction(value, now))
        learn(
            value, present, min(p.alpha, 1.0 / max(1, int(np.count_nonzero(present >= 0)))), delta
        )
        present[...] = now
        view.average_reward = averaged(view.average_reward, r, p.kappa)
        view.horizon = stretched(level(view.average_reward, delta, p.phasic_share), p.horizon_gain)
