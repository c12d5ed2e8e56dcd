"""Feedback fusion: log odds that a memory is needed from need and all signals, whose slopes are
learnt from what uses needed.

Which evidence counts differs between memories: in one the next need follows from the last, in
another from how often a thing was needed, and in many conversations the cue decides alone.  Slopes
chosen for one kind of data do not carry over to another.  Here each memory fits the cue or does
not, and of those that fit need decides:

    P(i fits) = 1 / (1 + exp(c - e_i)),  e_i = sum_s b_s z_si,        odds of i = P(i fits) exp(a
                                         (ACTIVATION + LOG_STRENGTH)_i),

z_s the standardised scores of signal s, as in convex_fusion, and c the evidence at which a memory
fits as likely as not.  Evidence far below c counts in full, and beyond c hardly more: of memories
that all fit, the one whose words the signals like better is needed no more.  The ranking is on the
scale of e, as the evidence that a memory with the greatest need would have to have.

Before any use the slope of need is `need`, b_s is `slope` times the weight of the signal, and c is
`enough`.  With `need` 0 the ranking is then that of convex_fusion: history does not count until
feedback shows that it tells what is needed.

Each use says which memory, of all visible ones, was needed: an observation of a conditional logit
with these odds.  It moves a, c and all b by one step of Newton's method on their posterior, an
extended Kalman filter for fixed parameters; they stay at 0 or above.  A signal that tells nothing
here loses its slope, one that tells much gains, and signals that say the same share theirs.
Several memories that are just the best of the answer teach nothing: so a whole answer is taken as
needed, which would confirm whatever slopes gave it.

Cost: O(n s) per query and O(n s^2) per use, for s signals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ACTIVATION,
    ANSWERABLE,
    FACET_WEIGHTS,
    FUSED,
    KIND,
    LOG_STRENGTH,
    OUTCOME,
    RECALLED,
    RELEASED,
    SIGNALS,
    VISIBLE,
)
from ...engine.state.ranking import add_all_standardised, add_standardised, best

Floats = NDArray[np.float64]
# what is learnt: the slope of need, the evidence that is enough, and the slopes of the first
# signals of the set
SLOPES: Final = 33
NEED, ENOUGH, FIRST = range(3)  # their places; signals have those from FIRST on
MOST_NEED: Final = 2.0  # largest slope of need

# --- columns --------------------------------------------------------------------------------------
SLOPE_OF = Column(
    "slope_of",
    np.int64,
    Scope.GLOBAL,
    "1",
    -1,
    "number of the signal of each slope; -1: none, as of need and of enough evidence",
    (SLOPES,),
    low=-1,
)
SLOPE_LEARNT = Column(
    "slope_learnt",
    np.float64,
    Scope.GLOBAL,
    "ln odds",
    0.0,
    "what uses added to each slope",
    (SLOPES,),
)
SLOPE_INFORMATION = Column(
    "slope_information",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "information of all uses about what is learnt",
    (SLOPES, SLOPES),
)


# --- equations ------------------------------------------------------------------------------------
def need_of(activation: Any, log_strength: Any, kind: Any, visible: Any) -> Floats:
    """(n,) B + ln s of events, ln odds; a row that the memory made has the mean B of the visible
    events besides its ln s.  O(n).

    activation, log_strength  (n,)  B and ln s
    kind                      (n,)  0 for events
    visible                   (n,)  bool

    >>> need_of(np.array([-2.0, -4.0, 0.0]), np.zeros(3), np.array([0, 0, 3]), np.ones(3, dtype=np.bool_)).tolist()
    [-2.0, -4.0, -3.0]
    """
    events = np.asarray(kind == 0)
    shown = np.asarray(activation, dtype=np.float64)[events & visible]
    return np.where(events, activation, shown.mean() if shown.size else 0.0) + np.asarray(
        log_strength, dtype=np.float64
    )


def ranked(evidence: Floats, less: Floats, enough: float) -> Floats:
    """c + logit(P(fits) s) for the share s = exp(-less) of the greatest need; the evidence itself
    where less is 0.  (n,) ln odds.  O(n).

    evidence  (n,)  ln odds  e
    less      (n,)  ln       how much less a memory is needed than the most needed one, at least 0
    enough    ()    ln odds  c

    Fits, needed half as often: P = 1/2 as a whole, which evidence c alone would give.

    >>> ranked(np.array([50.0, 1.0]), np.array([np.log(2.0), 0.0]), 3.0).round(9).tolist()
    [3.0, 1.0]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(enough - less - np.logaddexp(enough - evidence, np.log(-np.expm1(-less))))


def gradient(evidence: Floats, need: Floats, signals: Floats, enough: float) -> Floats:
    """Of each memory's log odds, by the slope of need, by c, and by the slopes of the signals: (n,
    2 + s).  O(n s).

    evidence  (n,)    e
    need      (n,)    B + ln s
    signals   (n, s)  z
    enough    ()      c

    >>> gradient(np.array([3.0]), np.array([-0.5]), np.array([[2.0]]), 3.0).tolist()
    [[-0.5, -0.5, 1.0]]
    """
    missing = np.exp(-np.logaddexp(0.0, evidence - enough))  # 1 - P(fits)
    return np.column_stack([need, -missing, missing[:, None] * signals])


def chances(odds: Floats) -> Floats:
    """P_i = exp(odds_i) / sum_j exp(odds_j): exactly one memory is needed.  O(n).

    >>> chances(np.log(np.array([1.0, 3.0]))).round(9).tolist()
    [0.25, 0.75]
    """
    shares = np.exp(odds - odds.max())
    return np.asarray(shares / shares.sum())


def observe(
    evidence: Floats,
    odds: Floats,
    needed: NDArray[np.int64],
    prior: Floats,
    slopes: Floats,
    information: Floats,
) -> Floats:
    """b + (diag(prior) + I)^-1 (mean of x over the needed - sum_i P_i x_i), the slopes after one
    more use, where Cov_P(x) is added to I first.

    evidence     (n, s)  x of each memory, for a slope of 1
    odds         (n,)    ln odds by the slopes so far; P are their chances
    needed       (k,)    places of the memories that were needed, of which each is equally likely to
                         be the one
    prior        (s,)    precision of each slope before any use
    slopes       (s,)    b
    information  (s, s)  I; changed in place
    Cost: O(n s^2 + s^3).

    >>> information = np.zeros((1, 1))
    >>> observe(np.array([[1.0], [0.0]]), np.zeros(2), np.array([0]), np.array([0.75]), np.array([2.0]), information), information
    (array([2.5]), array([[0.25]]))
    """
    p = chances(odds)
    mean = p @ evidence
    away = evidence - mean
    information += away.T @ (p[:, None] * away)
    return np.asarray(
        slopes + np.linalg.solve(np.diag(prior) + information, evidence[needed].mean(axis=0) - mean)
    )


@cache
def key_of(name: str) -> int:
    """A number for the name of a signal, the same in every process."""
    return crc32(name.encode())


def place_of(key: int, keys: Any) -> int:
    """The place of a key among `keys`, the next free one if it is new; 0 if all are taken.  Places
    before FIRST are never given.  O(SLOPES).

    >>> keys = np.array([-1, -1, 7, -1])
    >>> place_of(7, keys), place_of(9, keys)
    (2, 3)
    >>> keys[3] = 9
    >>> place_of(5, keys)
    0
    """
    places = np.flatnonzero((keys[FIRST:] == key) | (keys[FIRST:] < 0))
    return int(places[0]) + FIRST if places.size else 0


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class FeedbackFusionParams(Params):
    need: float  # slope of need before any use
    slope: float  # of a standardised signal of weight 1, before any use
    # evidence at which a memory fits the cue as likely as not, before any use
    enough: float
    # standard deviation of these before any use, as a share of each; of need as a share of 1
    spread: float


class FeedbackFusion(Mechanism[FeedbackFusionParams]):
    """FUSED: the evidence, less what a memory lacks of the greatest need."""

    owns = (SLOPE_OF, SLOPE_LEARNT, SLOPE_INFORMATION)

    @hook(Phase.RETRIEVE, reads=(SIGNALS, FACET_WEIGHTS, ACTIVATION, LOG_STRENGTH, KIND, VISIBLE,
                                 SLOPE_OF.before, SLOPE_LEARNT.before), adds=(),
          sets=(FUSED,))  # fmt: skip
    def fuse(self, view: Any, cue: Cue) -> None:
        """Signals of weight 0 do not count."""
        slope, less = self._slope_of_need(view), np.zeros(len(view.fused))
        if slope > 0.0 and len(less):
            need = need_of(view.activation, view.log_strength, view.kind, view.visible)
            less = slope * (need.max() - need)
        view.fused[...] = ranked(self._evidence(view), less, self._enough(view))

    @hook(Phase.RETRIEVE, reads=(RECALLED, OUTCOME, SIGNALS, FACET_WEIGHTS, ACTIVATION,
                                 LOG_STRENGTH, KIND, VISIBLE, RELEASED, ANSWERABLE),
          adds=(), sets=(SLOPE_OF, SLOPE_LEARNT, SLOPE_INFORMATION))  # fmt: skip
    def on_use(self, view: Any, cue: Cue) -> None:
        """Learn from the visible memories that were needed, unless the outcome was bad or they
        are the whole answer.
        """
        p, rows, recalled = self.params, np.flatnonzero(view.visible), view.recalled
        needed = np.flatnonzero(np.isin(rows, recalled))
        whole = len(recalled) > 1 and np.array_equal(
            best(view.released, view.answerable, len(recalled)), recalled
        )
        if not needed.size or whole or p.spread == 0.0 or view.outcome < 0.0:
            return
        need = need_of(view.activation, view.log_strength, view.kind, view.visible)[rows]
        evidence, enough = self._evidence(view)[rows], self._enough(view)
        odds = self._slope_of_need(view) * need - np.logaddexp(0.0, enough - evidence)
        z, start, places = np.zeros((SLOPES, len(view.kind))), [p.need, p.enough], [NEED, ENOUGH]
        visible = view.visible.astype(np.float32)  # as `standard` takes it, once for all signals
        for signal, scores, weight in view.signals:
            place = place_of(key_of(signal.name), view.slope_of) if weight > 0.0 else 0
            if place:
                view.slope_of[place] = key_of(signal.name)
                add_standardised(
                    scores,
                    visible,
                    signal.floor,
                    float(view.facet_weights[signal.facet.value]),
                    z[place],
                )
                start.append(p.slope * weight)
                places.append(place)
        before, at = np.array(start), np.ix_(places, places)
        information = np.array(view.slope_information[at])
        slopes = np.maximum(
            observe(
                gradient(evidence, need, z[places[FIRST:]].T[rows], enough),
                odds,
                needed,
                (p.spread * np.append(1.0, before[1:])) ** -2.0,
                before + view.slope_learnt[places],
                information,
            ),
            0.0,
        )
        slopes[NEED] = min(slopes[NEED], MOST_NEED)
        view.slope_learnt[places], view.slope_information[at] = slopes - before, information

    def _slope_of_need(self, view: Any) -> float:
        return self.params.need + float(view.slope_learnt[NEED])

    def _enough(self, view: Any) -> float:
        return self.params.enough + float(view.slope_learnt[ENOUGH])

    def _evidence(self, view: Any) -> Floats:
        out, facets = np.zeros(len(view.kind)), view.facet_weights.tolist()
        learnt = dict(
            zip(view.slope_of[FIRST:].tolist(), view.slope_learnt[FIRST:].tolist(), strict=True)
        )
        signals = []
        for signal, scores, weight in view.signals:
            if weight > 0.0:
                slope = self.params.slope * weight + learnt.get(key_of(signal.name), 0.0)
                signals.append((scores, signal.floor, slope * facets[signal.facet.value]))
        add_all_standardised(signals, view.visible, out)
        return out
