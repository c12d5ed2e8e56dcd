"""Dopamine: computes the reward prediction error of each event and recall, and scales plasticity
and encoding strength by it.

The predictions of all cues present add up.  The error, reward obtained minus reward predicted,
changes the prediction of each cue that was present (Rescorla & Wagner 1972): a cue that adds no
information learns nothing, which is blocking.  Within a session the error also contains the reward
predicted from now on, as in TD(0) (Sutton 1988).  Dopamine neurons report this error (Schultz,
Dayan & Montague 1997): a burst at an unexpected reward, later a burst at the cue that predicts it,
and a pause if the reward is omitted.

Cues are entities.  The entities of one event predict the reward of the next; a session is an
episode with terminal value 0.  A recall that may change memory is a trial of its own: the entities
of the query, and one background cue, predict how well the best answer fits or, if feedback tells
it, how well the answer served. Entities of events and entities of queries are separate cues with
separate predictions.

Cost, with q cues: O(q + terms) per event, O(q + d) per recall, O(n) per
maintain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import exact_kernel, formula
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    EMBEDDING,
    ENCODING_STRENGTH,
    LOG_STRENGTH,
    OUTCOME,
    PLASTICITY,
    RECALLED,
)
from ..shared.reward import cells, prediction, reward_in

# --- columns --------------------------------------------------------------------------------------
PREDICTED_REWARD = Column(
    "predicted_reward",
    np.float64,
    Scope.GLOBAL,
    "reward",
    0.0,
    "V of each cue in events, and in queries; indexed by hash",
    (2, "cues"),
)
PRESENT_CUES = Column(
    "present_cues",
    np.int64,
    Scope.GLOBAL,
    "1",
    -1,
    "cells of the cues of the last event; padded with -1",
    ("most_cues",),
)
REWARD_EPISODE = Column(
    "reward_episode", np.int64, Scope.GLOBAL, "1", -1, "session of the last event; -1: none yet"
)
RECALL_CREDIT = Column(
    "recall_credit",
    np.float64,
    Scope.MEMORY,
    "ln",
    0.0,
    "log strength added by the prediction errors of recalls",
)
TOLD, ASKED = 0, 1


# --- equations ------------------------------------------------------------------------------------
@formula
def error(r: float, v: float, v_next: float, gamma: float) -> float:
    """delta = r + gamma V(s') - V(s), the reward prediction error.  TD(0); with V(s') = 0 at the
    end of a trial, Rescorla-Wagner.  Cost: O(1).

    r          ()  reward  obtained; lambda in Rescorla & Wagner
    v, v_next  ()  reward  predicted before, and from now on
    gamma      ()  1       discount per step

    >>> error(1.0, 0.25, 0.0, 0.9), error(0.0, 0.0, 1.0, 0.9)
    (0.75, 0.9)
    """
    return r + gamma * v_next - v


@exact_kernel
def learn(value: Any, cues: Any, alpha: Any, beta: float, delta: float) -> None:
    """V_i += alpha_i beta delta for the cues present only.  Rescorla & Wagner (1972); TD(0) with
    one feature per cue.  Cost: O(q).

    value  (c,)  reward  V of every cue; written
    cues   (q,)          cells of the cues present, each once; negative: none
    alpha  (q,)  1       salience of each
    beta   ()    1       learning rate of the outcome
    delta  ()    reward  prediction error

    >>> value = np.zeros(3)
    >>> learn(value, np.array([0, 2]), np.array([0.1, 0.2]), 1.0, 0.5)
    >>> value.tolist()
    [0.05, 0.0, 0.1]
    """
    for k in range(cues.shape[0]):
        if cues[k] >= 0:
            value[cues[k]] += alpha[k] * beta * delta


@formula
def tone(delta: float, gain: float, most: float) -> float:
    """DA = clip(1 + g delta, 0, DA_max), firing rate over its baseline.  The clip is engineering.
    Cost: O(1).

    delta  ()  reward    prediction error
    gain   ()  1/reward  g
    most   ()  1         largest burst over baseline; 20 to 30 Hz over 5 Hz is 4 to 6

    >>> tone(-2.0, 1.0, 6.0), tone(0.5, 1.0, 6.0), tone(9.0, 1.0, 6.0)
    (0.0, 1.5, 6.0)
    """
    return min(max(1.0 + gain * delta, 0.0), most)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class DopamineParams(Params):
    alpha: float
    beta: float
    beta_absent: float  # beta of an outcome without reward
    discount: float  # gamma
    gain: float  # g
    most: float  # DA_max
    encoding_gain: float
    cues: int  # c
    most_cues: int


class Dopamine(Mechanism[DopamineParams]):
    """Learns which cues predict reward; the prediction error modulates plasticity and encoding
    strength.
    """

    owns = (PREDICTED_REWARD, PRESENT_CUES, REWARD_EPISODE, RECALL_CREDIT)

    @hook(
        Phase.ENCODE,
        reads=(),
        adds=(ENCODING_STRENGTH,),
        sets=(PREDICTED_REWARD, PRESENT_CUES, REWARD_EPISODE, PLASTICITY),
    )
    def experience(self, view: Any, incoming: Incoming) -> None:
        """Learn from every event, stored or not."""
        p, value, present = self.params, view.predicted_reward[TOLD], view.present_cues
        if view.reward_episode != incoming.session:
            self._learn(value, present, 0.0, 0.0)
            present[...] = -1
            view.reward_episode = incoming.session
        now = self._cues(incoming.features.entities)
        level = tone(
            self._learn(value, present, reward_in(incoming.features.terms), prediction(value, now)),
            p.gain,
            p.most,
        )
        present[...] = now
        view.plasticity = level
        view.encoding_strength = p.encoding_gain * (level - 1.0)

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, OUTCOME, EMBEDDING),
        adds=(),
        sets=(PREDICTED_REWARD, RECALL_CREDIT, PLASTICITY),
    )
    def outcome(self, view: Any, cue: Cue) -> None:
        """The reward of a recall is its OUTCOME; if not told, the cosine of query and best
        answer, at least 0.  The best answer gets the credit.
        """
        if view.recalled.size:
            p, row = self.params, view.recalled[0]
            r = (
                max(0.0, float(cue.vector @ view.embedding[row]))
                if view.outcome != view.outcome
                else view.outcome
            )
            level = tone(
                self._learn(
                    view.predicted_reward[ASKED], self._cues(("", *cue.features.entities)), r, 0.0
                ),
                p.gain,
                p.most,
            )
            view.plasticity = level
            view.recall_credit[row] += p.encoding_gain * (level - 1.0)

    @hook(Phase.MAINTAIN, reads=(RECALL_CREDIT,), adds=(LOG_STRENGTH,), sets=())
    def credit(self, view: Any, tick: Tick) -> None:
        view.log_strength[...] = view.recall_credit

    def _cues(self, names: Sequence[str]) -> Any:
        return cells(names, self.params.cues, self.params.most_cues)

    def _learn(self, value: Any, cues: Any, r: float, v_next: float) -> float:
        """Update the cues; returns delta.  With more than 1 / alpha cues each has salience 1 /
        q, so that their sum does not overshoot.
        """
        p = self.params
        delta = error(r, prediction(value, cues), v_next, p.discount)
        alpha = np.full(cues.shape[0], min(p.alpha, 1.0 / max(1, int(np.count_nonzero(cues >= 0)))))
        learn(value, cues, alpha, p.beta if r != 0.0 else p.beta_absent, delta)
        return float(delta)
