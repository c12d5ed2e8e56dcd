"""The testing effect: what was retrieved is forgotten more slowly than what was studied again.

Roediger & Karpicke (2006) let people study a text twice, or study it once and recall it once.  After five minutes those who had studied twice
knew more; after two days, and after a week, those who had recalled it did.  Each group forgets by a power of time,
R = a (1 + t)^-b, and retrieval lowers a a little and b a lot: retention crosses over within hours.

A successful retrieval counts as one test of the experiment, and for more if the memory had become hard to reach (desirable difficulty): 1 - R in
units of what it was in the experiment, where the test followed study at once.  After w tests, a and b have gone from those of restudy by
the wth power of the experiment's ratios.  What is added to a memory's log strength is ln of its retention over that of a memory studied
again at the same time; so it is negative at first.  Successful is the best memory of an answer if it stands well out of the match; to be
shown among the others is no retrieval.

Acts on: LOG_STRENGTH.  Cost: O(n) per maintain, O(1) per answer.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.columns import Column, Phase, Scope
from ...engine.contract import Cue, Mechanism, Params, Tick, hook
from ...engine.numerics import kernel
from ...engine.vocabulary import CREATED, LOG_STRENGTH, MATCH, NOW, RECALLED

# --- columns -----------------------------------------------------------------------------------------------------------------
TESTS = Column("tests", np.float64, Scope.MEMORY, "tests", 0.0, "successful retrievals, weighed by how difficult they were", low=0)
TESTED = Column("tested", np.float64, Scope.MEMORY, "h", 0.0, "when it was last retrieved successfully; 0 with no tests")


# --- equations ---------------------------------------------------------------------------------------------------------------
@kernel
def retention(t: float, a: float, b: float) -> float:
    """R = a (1 + t)^-b, a power function of time that is finite at 0 (Wixted & Ebbesen 1991, the power law).  Cost: O(1).

    t  ()  d  time since study or retrieval
    a  ()  1  retention at once
    b  ()  1  rate of forgetting

    >>> round(retention(7.0, 0.8, 1/3), 9)
    0.4
    """
    return float(a * (1.0 + t) ** -b)


@kernel
def after_tests(w: float, restudied: float, retrieved: float) -> float:
    """restudied (retrieved / restudied)^w: a, or b, after w tests.  Ours; w = 0 and 1 are the groups of the experiment.  Cost: O(1).

    >>> after_tests(0.0, 0.4, 0.1), after_tests(1.0, 0.4, 0.1), after_tests(0.5, 0.4, 0.1)
    (0.4, 0.1, 0.2)
    """
    return float(restudied * (retrieved / restudied) ** w)


@kernel
def difficulty(accessible: float, at_once: float) -> float:
    """(1 - R) / (1 - a): what a retrieval counts for, 1 where it follows study at once.  Ours, after Bjork's desirable difficulty.  Cost: O(1).

    accessible  ()  1  R, retention just before
    at_once     ()  1  a, retention just after study, below 1

    >>> difficulty(0.8, 0.8), round(difficulty(0.4, 0.8), 9)
    (1.0, 3.0)
    """
    return (1.0 - accessible) / (1.0 - at_once)


@kernel
def log_advantage(t: float, w: float, a_study: float, b_study: float, a_test: float, b_test: float) -> float:
    """ln of retention after w tests over that after restudy at the same time.  Cost: O(1).

    t                 ()  d      time since then
    w                 ()  tests
    a_study, b_study  ()  1      of those who studied again
    a_test, b_test    ()  1      of those who recalled once

    >>> round(log_advantage(0.0, 1.0, 0.8, 0.3, 0.4, 0.1), 6), log_advantage(5.0, 0.0, 0.8, 0.3, 0.4, 0.1)
    (-0.693147, 0.0)
    """
    a, b = after_tests(w, a_study, a_test), after_tests(w, b_study, b_test)
    return math.log(a / a_study) + (b_study - b) * math.log1p(t)


@kernel
def add_advantage(now: float, day: float, tests: Any, tested: Any, a_study: float, b_study: float, a_test: float, b_test: float, out: Any) -> None:
    """out += log_advantage of every memory that has been tested.  Cost: O(n).

    now, day       ()    h      present time, and length of the day that t is counted in
    tests, tested  (n,)  1, h   weight and time of its tests
    out            (n,)  ln     added to
    """
    for i in range(tests.shape[0]):
        if tests[i] > 0.0:
            out[i] += log_advantage((now - tested[i]) / day, tests[i], a_study, b_study, a_test, b_test)


# --- plug-in -----------------------------------------------------------------------------------------------------------------
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

    @hook(Phase.RETRIEVE, reads=(RECALLED, MATCH, CREATED, NOW), adds=(), sets=(TESTS, TESTED))
    def retrieved(self, view: Any, cue: Cue) -> None:
        p = self.params
        if not view.recalled.size or view.match[view.recalled[0]] < p.criterion:
            return
        row, now = view.recalled[0], view.now
        w = float(view.tests[row])
        since = (now - (view.tested[row] if w > 0.0 else view.created[row])) / self.hours("day")
        accessible = retention(since, after_tests(w, p.a_study, p.a_test), after_tests(w, p.b_study, p.b_test))
        view.tests[row] = min(w + difficulty(accessible, p.a_study), p.most_tests)
        view.tested[row] = now

    @hook(Phase.MAINTAIN, reads=(TESTS, TESTED), adds=(LOG_STRENGTH,), sets=())
    def strengthen(self, view: Any, tick: Tick) -> None:
        p = self.params
        add_advantage(tick.end, self.hours("day"), view.tests, view.tested, p.a_study, p.b_study, p.a_test, p.b_test, view.log_strength)
