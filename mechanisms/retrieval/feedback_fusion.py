"""Feedback fusion: log odds that a memory is needed from need and all signals, whose slopes are learnt from what uses needed.

Which evidence counts differs between memories: in one the next need follows from the last, in another from how often a thing was needed, and in many
conversations the cue decides alone.  Slopes chosen for one kind of data do not carry over to another.  Here

    ln odds of i = a (ACTIVATION + LOG_STRENGTH)_i + sum_s b_s z_si,

z_s the standardised scores of signal s, as in convex_fusion.  Before any use the slope of need is `need`, and b_s is `slope` times the weight of the
signal.  With `need` 0 the ranking is then that of convex_fusion: history does not count until feedback shows that it tells what is needed.

Each use says which memory, of all visible ones, was needed: an observation of a conditional logit with these odds.  It moves all slopes by one step
of Newton's method on their posterior, an extended Kalman filter for fixed parameters; slopes stay at 0 or above.  A signal that tells nothing here
loses its slope, one that tells much gains, and signals that say the same share theirs.  Several memories that are just the best of the answer teach
nothing: so a whole answer is taken as needed, which would confirm whatever slopes gave it.

Cost: O(n s) per query and O(n s^2) per use, for s signals.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...engine.columns import Column, Phase, Scope, Signal
from ...engine.contract import Cue, Mechanism, Params, hook
from ...engine.ranking import add_standardised, best
from ...engine.vocabulary import (
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

Floats = NDArray[np.float64]
SLOPES: Final = 32          # slopes that learn: that of need, and those of the first signals of the set
MOST_NEED: Final = 2.0      # largest slope of need

# --- columns ------------------------------------------------------------------------------------------------------
SLOPE_OF = Column("slope_of", np.int64, Scope.GLOBAL, "1", -1, "number of the signal of each slope; -1: none, the first slope is that of need",
                  (SLOPES,), low=-1)
SLOPE_LEARNT = Column("slope_learnt", np.float64, Scope.GLOBAL, "ln odds", 0.0, "what uses added to each slope", (SLOPES,))
SLOPE_INFORMATION = Column("slope_information", np.float64, Scope.GLOBAL, "1", 0.0, "information of all uses about the slopes", (SLOPES, SLOPES))


# --- equations ----------------------------------------------------------------------------------------------------
def need_of(activation: Any, log_strength: Any, kind: Any, visible: Any) -> Floats:
    """(n,) B + ln s of events, ln odds; a row that the memory made has the mean B of the visible events besides its ln s.  O(n).

    activation, log_strength  (n,)  B and ln s
    kind                      (n,)  0 for events
    visible                   (n,)  bool

    >>> need_of(np.array([-2.0, -4.0, 0.0]), np.zeros(3), np.array([0, 0, 3]), np.ones(3, dtype=np.bool_)).tolist()
    [-2.0, -4.0, -3.0]
    """
    events = np.asarray(kind == 0)
    shown = np.asarray(activation, dtype=np.float64)[events & visible]
    return np.where(events, activation, shown.mean() if shown.size else 0.0) + np.asarray(log_strength, dtype=np.float64)


def chances(odds: Floats) -> Floats:
    """P_i = exp(odds_i) / sum_j exp(odds_j): exactly one memory is needed.  O(n).

    >>> chances(np.log(np.array([1.0, 3.0]))).round(9).tolist()
    [0.25, 0.75]
    """
    shares = np.exp(odds - odds.max())
    return np.asarray(shares / shares.sum())


def observe(evidence: Floats, odds: Floats, needed: NDArray[np.int64], prior: Floats, slopes: Floats, information: Floats) -> Floats:
    """b + (diag(prior) + I)^-1 (mean of x over the needed - sum_i P_i x_i), the slopes after one more use, where Cov_P(x) is added to I first.

    evidence     (n, s)  x of each memory, for a slope of 1
    odds         (n,)    ln odds by the slopes so far; P are their chances
    needed       (k,)    places of the memories that were needed, of which each is equally likely to be the one
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
    return np.asarray(slopes + np.linalg.solve(np.diag(prior) + information, evidence[needed].mean(axis=0) - mean))


def key_of(name: str) -> int:
    """A number for the name of a signal, the same in every process."""
    return crc32(name.encode())


def place_of(key: int, keys: Any) -> int:
    """The place of a key among `keys`, the next free one if it is new; 0 if all are taken.  Place 0 is never given.  O(SLOPES).

    >>> keys = np.array([-1, 7, -1])
    >>> place_of(7, keys), place_of(9, keys)
    (1, 2)
    >>> keys[2] = 9
    >>> place_of(5, keys)
    0
    """
    found = np.flatnonzero((keys[1:] == key) | (keys[1:] < 0))
    return int(found[0]) + 1 if found.size else 0


# --- plug-in ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class FeedbackFusionParams(Params):
    need: float                 # slope of need before any use
    slope: float                # of a standardised signal of weight 1, before any use
    spread: float               # standard deviation of a slope before any use, as a share of it; of need as a share of 1


class FeedbackFusion(Mechanism[FeedbackFusionParams]):
    """FUSED: ln odds of need, up to a constant of the query."""

    owns = (SLOPE_OF, SLOPE_LEARNT, SLOPE_INFORMATION)

    @hook(Phase.RETRIEVE, reads=(SIGNALS, FACET_WEIGHTS, ACTIVATION, LOG_STRENGTH, KIND, VISIBLE, SLOPE_OF.before, SLOPE_LEARNT.before), adds=(),
          sets=(FUSED,))
    def fuse(self, view: Any, cue: Cue) -> None:
        """Signals of weight 0 do not count."""
        p, learnt = self.params, view.slope_learnt
        out = np.zeros(len(view.fused))
        if p.need + learnt[0] > 0.0:
            out += (p.need + learnt[0]) * need_of(view.activation, view.log_strength, view.kind, view.visible)
        for each, scores, weight in view.signals:
            if weight > 0.0:
                more = learnt[1:][view.slope_of[1:] == key_of(each.name)].sum()
                add_standardised(scores, view.visible, each.floor, (p.slope * weight + more) * float(view.facet_weights[each.facet.value]), out)
        view.fused[...] = out

    @hook(Phase.RETRIEVE, reads=(RECALLED, OUTCOME, SIGNALS, FACET_WEIGHTS, ACTIVATION, LOG_STRENGTH, KIND, VISIBLE, FUSED, RELEASED, ANSWERABLE),
          adds=(), sets=(SLOPE_OF, SLOPE_LEARNT, SLOPE_INFORMATION))
    def on_use(self, view: Any, cue: Cue) -> None:
        """Learn from the visible memories that were needed, unless the outcome was bad or they are the whole answer."""
        p, rows, recalled = self.params, np.flatnonzero(view.visible), view.recalled
        needed = np.flatnonzero(np.isin(rows, recalled))
        whole = len(recalled) > 1 and np.array_equal(best(view.released, view.answerable, len(recalled)), recalled)
        if not needed.size or whole or p.spread == 0.0 or view.outcome < 0.0:
            return
        evidence, start, places = [need_of(view.activation, view.log_strength, view.kind, view.visible)], [p.need], [0]
        for each, scores, weight in view.signals:
            place = place_of(key_of(each.name), view.slope_of) if weight > 0.0 else 0
            if place:
                view.slope_of[place] = key_of(each.name)
                evidence.append(self._standardised(each, scores, view))
                start.append(p.slope * weight)
                places.append(place)
        before, at = np.array(start), np.ix_(places, places)
        information = np.array(view.slope_information[at])
        found = np.maximum(observe(
            np.array(evidence).T[rows], view.fused[rows].astype(np.float64), needed, (p.spread * np.append(1.0, before[1:])) ** -2.0,
            before + view.slope_learnt[places], information), 0.0)
        found[0] = min(found[0], MOST_NEED)
        view.slope_learnt[places], view.slope_information[at] = found - before, information

    def _standardised(self, each: Signal, scores: Any, view: Any) -> Floats:
        out = np.zeros(len(view.kind))
        add_standardised(scores, view.visible, each.floor, float(view.facet_weights[each.facet.value]), out)
        return out
