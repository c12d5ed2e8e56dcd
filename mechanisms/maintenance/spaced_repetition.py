"""Spaced repetition: computes the probability that a memory would be recalled, from its difficulty
and its stability, which each use changes.

It is the memory model of the free spaced repetition scheduler (FSRS-6), the successor of the model
of Ye, Su & Cao (2022): a card has a difficulty D from 1 to 10 and a stability S, the days until
the probability of recall R has fallen to 0.9, and R falls as a power of time.  A recall adds the
more stability the less likely it was, so spaced uses make a memory last; a failure takes stability
away; and a review on the day of the last one has a rule of its own.

Encoding is the first review of a memory, and each answer that may change memory reviews the
memories in it, or those that were needed.  The learner grades a review.  Here a review is good, or
again, which is a failure, if the outcome of the answer is told and is below 0.  The log odds of
recall, ln(R / (1 - R)), are the ACTIVATION, so that the signal heat is R.

Cost: O(n) per maintain, O(k) per use of k memories.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import formula, kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import ACTIVATION, NOW, OUTCOME, RECALLED, ROW

AGAIN, GOOD, EASY = 1, 3, 4  # grades of a review; 2 would be hard
LEAST_DIFFICULTY, MOST_DIFFICULTY = 1.0, 10.0
LEAST_STABILITY: Final = 0.001  # d
SHORTEST_AGE: Final = 1.0 / 86_400.0  # d; the log odds diverge at age 0

# --- columns --------------------------------------------------------------------------------------
STABILITY = Column(
    "stability",
    np.float64,
    Scope.MEMORY,
    "d",
    0.0,
    "S, time after a review at which the probability of recall is 0.9; 0: never reviewed",
    low=0.0,
)
DIFFICULTY = Column(
    "difficulty",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "D, from 1 to 10: how little stability a recall adds; 0: never reviewed",
    low=0.0,
    high=10.0,
)
REVIEWED = Column(
    "reviewed",
    np.float64,
    Scope.MEMORY,
    "h",
    0.0,
    "time of the last review; 0 if there was none",
    upkeep=Upkeep(clock=True),
)


# --- equations ------------------------------------------------------------------------------------
# In all of them: t days since the last review, s = S in days, d = D, r = R, grade = G, and w (21,)
# the weights w_0 to w_20 of FSRS-6.
@formula
def log_decay(t: float, s: float, decay: float) -> float:
    """-ln R = w_20 ln(1 + F t / S), with F = 0.9^(-1 / w_20) - 1.  Cost: O(1).

    >>> round(math.exp(-log_decay(7.0, 7.0, 0.5)), 12)
    0.9
    """
    return decay * math.log1p(math.expm1(-math.log(0.9) / decay) * t / s)


@formula
def retrievability(t: float, s: float, decay: float) -> float:
    """R(t, S) = (1 + F t / S)^(-w_20), with F = 0.9^(-1 / w_20) - 1.  FSRS-6, forgetting curve.
    Cost: O(1).

    t      ()  d  time since the last review
    s      ()  d  S, stability
    decay  ()  1  w_20

    With w_20 = 1/2, F = 19/81, and R(81, 1) = (1 + 19)^(-1/2).

    >>> round(retrievability(81.0, 1.0, 0.5) ** -2, 12)
    20.0
    """
    return math.exp(-log_decay(t, s, decay))


@formula
def log_odds(t: float, s: float, decay: float) -> float:
    """ln(R / (1 - R)); ages below SHORTEST_AGE count as this.  Arguments as for `retrievability`.
    Cost: O(1).

    >>> round(math.exp(log_odds(3.0, 3.0, 0.2)), 12)       # 0.9 / 0.1
    9.0
    """
    return -math.log(math.expm1(log_decay(max(t, SHORTEST_AGE), s, decay)))


@formula
def first_difficulty(grade: int, w: Any) -> float:
    """D_0(G) = w_4 - exp(w_5 (G - 1)) + 1, before it is bounded.  FSRS-6, initial difficulty.
    Cost: O(1).
    """
    return float(w[4] - math.exp(w[5] * (grade - 1)) + 1.0)


@formula
def bounded_difficulty(d: float) -> float:
    """D within [1, 10].  Cost: O(1)."""
    return min(max(d, LEAST_DIFFICULTY), MOST_DIFFICULTY)


@formula
def next_difficulty(d: float, grade: int, w: Any) -> float:
    """D'' = w_7 D_0(4) + (1 - w_7) D', with D' = D - w_6 (G - 3) (10 - D) / 9, within [1, 10].
    FSRS-6, linear damping and mean reversion.  Cost: O(1).
    """
    damped = d - w[6] * (grade - GOOD) * (MOST_DIFFICULTY - d) / 9.0
    return bounded_difficulty(w[7] * first_difficulty(EASY, w) + (1.0 - w[7]) * damped)


@formula
def stability_recalled(d: float, s: float, r: float, w: Any) -> float:
    """S'_r = S [1 + exp(w_8) (11 - D) S^(-w_9) (exp(w_10 (1 - R)) - 1)].  FSRS-6, stability after
    a recall that is graded good.  Cost: O(1).
    """
    gain = math.exp(w[8]) * (11.0 - d) * s ** -w[9] * math.expm1(w[10] * (1.0 - r))
    return float(s * (1.0 + gain))


@formula
def stability_failed(d: float, s: float, r: float, w: Any) -> float:
    """S'_f = w_11 D^(-w_12) [(S + 1)^w_13 - 1] exp(w_14 (1 - R)), at most S / exp(w_17 w_18).
    FSRS-6, stability after a failure.  Cost: O(1).
    """
    left = w[11] * d ** -w[12] * ((s + 1.0) ** w[13] - 1.0) * math.exp(w[14] * (1.0 - r))
    return float(min(left, s / math.exp(w[17] * w[18])))


@formula
def stability_same_day(s: float, grade: int, w: Any) -> float:
    """S' = S exp(w_17 (G - 3 + w_18)) S^(-w_19), at least S unless the review failed.  FSRS-6,
    stability after a review less than a day after the last one.  Cost: O(1).
    """
    factor = math.exp(w[17] * (grade - GOOD + w[18])) * s ** -w[19]
    return float(s * (factor if grade == AGAIN else max(factor, 1.0)))


@kernel
def review(
    rows: Any,
    now: float,
    day: float,
    grade: int,
    w: Any,
    stability: Any,
    difficulty: Any,
    reviewed: Any,
) -> None:
    """Review memories; for those that never were, it is the first review.  FSRS-6.  Cost: O(m).

    rows        (m,)      rows of the memories, each once
    now         ()     h  time of the review
    day         ()     h  length of a day
    grade       ()        AGAIN or GOOD
    w           (21,)     weights; w_1, w_3, w_15 and w_16, of the other grades, are not read
    stability   (n,)   d  S, changed in place; 0 if there was no review, else at least
                          LEAST_STABILITY
    difficulty  (n,)   1  D, changed in place
    reviewed    (n,)   h  time of the last review, changed in place

    >>> s, d, last = np.zeros(1), np.zeros(1), np.zeros(1)
    >>> w = np.zeros(21); w[2] = 3.0; w[4] = 5.0
    >>> review(np.array([0]), 7.0, 24.0, GOOD, w, s, d, last)
    >>> s.tolist(), d.tolist(), last.tolist()
    ([3.0], [5.0], [7.0])
    """
    for i in rows:
        s, d = stability[i], difficulty[i]
        if s == 0.0:
            s, d = w[grade - 1], bounded_difficulty(first_difficulty(grade, w))
        else:
            t = (now - reviewed[i]) / day
            if t < 1.0:
                s = stability_same_day(s, grade, w)
            else:
                r = retrievability(t, s, w[20])
                failed = grade == AGAIN
                s = stability_failed(d, s, r, w) if failed else stability_recalled(d, s, r, w)
            d = next_difficulty(d, grade, w)
        stability[i], difficulty[i], reviewed[i] = max(s, LEAST_STABILITY), d, now


@kernel
def all_log_odds(
    now: float, day: float, decay: float, stability: Any, reviewed: Any, out: Any
) -> None:
    """The log odds of recall of all memories that were reviewed; others are not written.  Cost:
    O(n).

    now        ()    h        present time
    day        ()    h        length of a day
    decay      ()    1        w_20
    stability  (n,)  d        S
    reviewed   (n,)  h        time of the last review
    out        (n,)  ln odds  written
    """
    for i in range(stability.shape[0]):
        if stability[i] > 0.0:
            out[i] = log_odds((now - reviewed[i]) / day, stability[i], decay)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SpacedRepetitionParams(Params):
    first_stability_failed: float  # w_0
    first_stability: float  # w_2
    first_difficulty: float  # w_4
    first_difficulty_slope: float  # w_5
    difficulty_step: float  # w_6
    difficulty_reversion: float  # w_7
    recall_gain: float  # w_8
    recall_saturation: float  # w_9
    recall_spacing: float  # w_10
    failure_scale: float  # w_11
    failure_difficulty: float  # w_12
    failure_stability: float  # w_13
    failure_spacing: float  # w_14
    same_day_gain: float  # w_17
    same_day_shift: float  # w_18
    same_day_saturation: float  # w_19
    decay: float  # w_20


class SpacedRepetition(Mechanism[SpacedRepetitionParams]):
    owns = (STABILITY, DIFFICULTY, REVIEWED)

    @property
    def day(self) -> float:
        """h of simulated time"""
        return 24.0 * self.params.time_scale

    @property
    def weights(self) -> NDArray[np.float64]:
        """(21,) by their number in FSRS-6; NaN for those of the grades hard and easy."""
        p, none = self.params, math.nan
        failed = self.hours("first_stability_failed") / self.day
        good = self.hours("first_stability") / self.day
        return np.array([
            failed, none, good, none,
            p.first_difficulty, p.first_difficulty_slope, p.difficulty_step, p.difficulty_reversion,
            p.recall_gain, p.recall_saturation, p.recall_spacing,
            p.failure_scale, p.failure_difficulty, p.failure_stability, p.failure_spacing,
            none, none,
            p.same_day_gain, p.same_day_shift, p.same_day_saturation,
            p.decay,
        ])  # fmt: skip

    @hook(Phase.ENCODE, reads=(ROW, NOW), adds=(), sets=(STABILITY, DIFFICULTY, REVIEWED))
    def told(self, view: Any, incoming: Incoming) -> None:
        self._review(view, np.array([view.row]), GOOD)

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, OUTCOME, NOW),
        adds=(),
        sets=(STABILITY, DIFFICULTY, REVIEWED),
    )
    def used(self, view: Any, cue: Cue) -> None:
        self._review(view, view.recalled, AGAIN if view.outcome < 0.0 else GOOD)

    @hook(Phase.MAINTAIN, reads=(STABILITY, REVIEWED), adds=(), sets=(ACTIVATION,))
    def forget(self, view: Any, tick: Tick) -> None:
        all_log_odds(
            tick.end, self.day, self.params.decay, view.stability, view.reviewed, view.activation
        )

    def _review(self, view: Any, rows: Any, grade: int) -> None:
        review(
            rows,
            view.now,
            self.day,
            grade,
            self.weights,
            view.stability,
            view.difficulty,
            view.reviewed,
        )
