"""Testing effect: computes the advantage in retention of retrieved over restudied memories and adds
it to log strength.

In Roediger & Karpicke (2006) one group studied a text twice, another studied it once and recalled
it once.  After five minutes the restudy group remembered more; after two days and after a week the
recall group did.  Each group forgets by a power function of time, R = a (1 + t)^-b; retrieval
lowers a slightly and b strongly, so the retention curves cross within hours.

A successful retrieval counts as one test of the experiment, or more if the memory was hard to
retrieve (desirable difficulty): its weight is 1 - R, divided by 1 - R of the experiment, where the
test directly followed study.  After w tests, a and b are those of restudy times the experiment's
ratios to the power w.  The value added to log strength is ln of the memory's retention over that of
a memory restudied at the same time, so it is negative at first.  Only the best memory of an answer
is tested, and only if its MATCH reaches the criterion; the other memories of the answer are not.

Cost: O(n) per maintain, O(1) per answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import ARRIVED, LOG_STRENGTH, MATCH, NOW, RECALLED

# --- columns --------------------------------------------------------------------------------------
TESTS = Column(
    "tests",
    np.float64,
    Scope.MEMORY,
    "tests",
    0.0,
    "successful retrievals, weighted by difficulty",
    low=0,
)
TESTED = Column(
    "tested",
    np.float64,
    Scope.MEMORY,
    "h",
    0.0,
    "time of the last successful retrieval; 0: none",
    upkeep=Upkeep(clock=True),
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def retention(t: float, a: float, b: float) -> float:
    """R = a (1 + t)^-b, power law of forgetting, finite at t = 0 (Wixted & Ebbesen 1991, the power
    law).  Cost: O(1).

    t  ()  d  time since study or retrieval
    a  ()  1  retention at t = 0
    b  ()  1  rate of forgetting

    >>> round(retention(7.0, 0.8, 1/3), 9)
    0.4
    """
    return float(a * (1.0 + t) ** -b)


@kernel
def after_tests(w: float, restudied: float, retrieved: float) -> float:
    """restudied (retrieved / restudied)^w: a, or b, after w tests.  Ours; w = 0 and 1 are the
    groups of the experiment.  Cost: O(1).

    >>> after_tests(0.0, 0.4, 0.1), after_tests(1.0, 0.4, 0.1), after_tests(0.5, 0.4, 0.1)
    (0.4, 0.1, 0.2)
    """
    return float(restudied * (retrieved / restudied) ** w)


@kernel
def difficulty(accessible: float, at_once: float) -> float:
    """(1 - R) / (1 - a): weight of a retrieval, 1 directly after study.  Ours, after Bjork's
    desirable difficulty.  Cost: O(1).

    accessible  ()  1  R, retention just before
    at_once     ()  1  a, retention just after study, below 1

    >>> difficulty(0.8, 0.8), round(difficulty(0.4, 0.8), 9)
    (1.0, 3.0)
    """
    return (1.0 - accessible) / (1.0 - at_once)


@kernel
def log_advantage(
    t: float, w: float, a_study: float, b_study: float, a_test: float, b_test: float
) -> float:
    """ln of the ratio of retention after w tests to that after restudy at the same time.  Cost:
    O(1).

    t                 ()  d      time since the last test, or restudy
    w                 ()  tests
    a_study, b_study  ()  1      of the restudy group
    a_test, b_test    ()  1      of the recall group

    >>> round(log_advantage(0.0, 1.0, 0.8, 0.3, 0.4, 0.1), 6), log_advantage(5.0, 0.0, 0.8, 0.3, 0.4, 0.1)
    (-0.693147, 0.0)
    """
    a, b = after_tests(w, a_study, a_test), after_tests(w, b_study, b_test)
    return math.log(a / a_study) + (b_study - b) * math.log1p(t)


@kernel
def add_advantage(
    now: float,
    day: float,
    tests: Any,
    tested: Any,
    a_study: float,
    b_study: float,
    a_test: float,
    b_test: float,
    out: Any,
) -> None:
    """out += log_advantage of every memory that has been tested.  Cost: O(n).

    now, day       ()    h      current time, and length of the day that is the unit of t
    tests, tested  (n,)  1, h   summed weight, and time of the last test
    out            (n,)  ln     added to
    """
    for i in range(tests.shape[0]):
        if tests[i] > 0.0:
            out[i] += log_advantage(
                (now - tested[i]) / day, tests[i], a_study, b_study, a_test, b_test
            )


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RetrievalPracticeParams(Params):
    a_study: float
    b_study: float
    a_test: float
    b_test: float
    day: float
    most_tests: float
    criterion: float


class RetrievalPractice(Mechanism[RetrievalPracticeParams]):
    owns = (TESTS, TESTED)

    @hook(Phase.RETRIEVE, reads=(RECALLED, MATCH, ARRIVED, NOW), adds=(), sets=(TESTS, TESTED))
    def retrieved(self, view: Any, cue: Cue) -> None:
        p = self.params
        if not view.recalled.size or view.match[view.recalled[0]] < p.criterion:
            return
        row, now = view.recalled[0], view.now
        w = float(view.tests[row])
        since = (now - (view.tested[row] if w > 0.0 else view.arrived[row])) / self.hours("day")
        accessible = retention(
            since, after_tests(w, p.a_study, p.a_test), after_tests(w, p.b_study, p.b_test)
        )
        view.tests[row] = min(w + difficulty(accessible, p.a_study), p.most_tests)
        view.tested[row] = now

    @hook(Phase.MAINTAIN, reads=(TESTS, TESTED), adds=(LOG_STRENGTH,), sets=())
    def strengthen(self, view: Any, tick: Tick) -> None:
        p = self.params
        add_advantage(
            tick.end,
            self.hours("day"),
            view.tests,
            view.tested,
            p.a_study,
            p.b_study,
            p.a_test,
            p.b_test,
            view.log_strength,
        )
