"""Retrieval competition: memories that answer to the same cue inhibit one another, and those that lose are left weaker.

The best candidates of a query are leaky competing accumulators (Usher & McClelland 2001): each is driven by its score, leaks, and is inhibited by all
others.  With less inhibition than leak they settle side by side; with more, the winner takes all.

What remembering does to memory follows Norman, Newman & Detre (2007): inhibition swings around the level at which just the retrieved memories
are active.  When it is low, strong competitors pop up, and learning by contrast with the normal state weakens them; when it is
high, retrieved memories drop out, and are strengthened.  So retrieving some memories impairs their strong competitors, spares weak and
unrelated ones, and studying again does nothing of the kind (Anderson, Bjork & Bjork 1994).  Once a competitor no longer pops up and a target no
longer drops out, nothing more is learnt.

Acts on: REWEIGHTED; LOG_STRENGTH, through recall that may change memory.  Cost: per query O(n + steps p) for a pool of p candidates;
per learning O(n + p log p); O(n) per maintain.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.columns import Column, Phase, Scope
from ...engine.contract import Cue, Mechanism, Params, Tick, hook
from ...engine.numerics import kernel
from ...engine.ranking import best
from ...engine.vocabulary import FUSED, LOG_STRENGTH, MATCH, NOW, RECALLED, REWEIGHTED, VISIBLE

# --- columns -----------------------------------------------------------------------------------------------------------------
COMPETITION_TRACE = Column("competition_trace", np.float64, Scope.MEMORY, "ln", 0.0,
                           "what competition left at that time: suppressed below 0, strengthened above")
COMPETITION_TIME = Column("competition_time", np.float64, Scope.MEMORY, "h", 0.0, "when competition last left a trace")


# --- equations: competition ----------------------------------------------------------------------------------------------------
@kernel
def settle(drive: Any, leak: float, inhibition: float, step: float, steps: int, noise: Any, x: Any) -> None:
    """x_i <- max(0, x_i + [I_i - k x_i - b sum_{j != i} x_j] dt/tau + xi_i sqrt(dt/tau)).  Usher & McClelland (2001), LCA.  Cost: O(steps p).

    drive        (p,)        1  I_i
    leak         ()          1  k
    inhibition   ()          1  b
    step, steps  ()          1  dt/tau, and how many
    noise        (steps, p)  1  xi of each step; without rows: none
    x            (p,)        1  activations before; written

    >>> x = np.zeros(2)
    >>> settle(np.array([1.0, 0.9]), 0.2, 0.1, 0.1, 4000, np.empty((0, 2)), x)
    >>> x.round(4).tolist()
    [3.6667, 2.6667]
    """
    root = math.sqrt(step)
    for t in range(steps):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i]
        for i in range(x.shape[0]):
            change = (drive[i] - leak * x[i] - inhibition * (total - x[i])) * step
            if t < noise.shape[0]:
                change += noise[t, i] * root
            x[i] = max(0.0, x[i] + change)


@kernel
def standing(drive: Any, x: Any, inhibition: float, out: Any) -> None:
    """x_i where a unit is active, else its net input I_i - b sum_j x_j, which is not positive: an order among losers, too.  Ours.  Cost: O(p).

    >>> out = np.empty(2)
    >>> standing(np.array([1.0, 0.9]), np.array([5.0, 0.0]), 0.4, out)
    >>> out.round(6).tolist()
    [5.0, -1.1]
    """
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    for i in range(x.shape[0]):
        out[i] = x[i] if x[i] > 0.0 else min(0.0, drive[i] - inhibition * total)


# --- equations: learning -------------------------------------------------------------------------------------------------------
@kernel
def unit(drive: float, inhibition: float, gain: float) -> float:
    """Activity in [0, 1] of a threshold-linear unit: gain (I - inhibition), clipped.  Cost: O(1).

    >>> unit(0.5, 0.25, 2.0), unit(0.5, 0.75, 2.0), unit(9.0, 0.25, 2.0)
    (0.5, 0.0, 1.0)
    """
    return min(1.0, max(0.0, gain * (drive - inhibition)))


@kernel
def normal_inhibition(drive: Any, k: int) -> float:
    """Half-way between the k-th and the next greatest drive: k winners take all.  Norman et al. (2007), inhibition.  Cost: O(p log p).

    >>> normal_inhibition(np.array([0.5, 1.0, 0.0]), 1)
    0.75
    """
    ordered = np.sort(drive)[::-1]
    below = ordered[k] if k < ordered.shape[0] else 0.0
    return float(0.5 * (ordered[k - 1] + below))


@kernel
def contrast(cue: Any, drive: Any, target: Any, inhibition: float, amplitude: float, gain: float, out: Any) -> None:
    """dw / eps = X+ Y+ - X- Y- of one cycle of inhibition, Y+ at its normal level, Y- at its lowest and at its highest.  Norman et al. (2007).

    cue         (p,)  1  X, how active the cue of each memory is, 0..1; the same throughout
    drive       (p,)  1  net input X w
    target      (p,)     which were retrieved: active at the normal level, silent ones are not
    inhibition  ()    1  its normal level, and by how much it swings
    amplitude
    gain        ()    1  of the units
    out         (p,)  1  dw / eps; written
    Cost: O(p).

    A target that drops out, a strong competitor that pops up, one too weak to:

    >>> out = np.empty(3)
    >>> contrast(np.array([1.0, 0.5, 0.125]), np.array([1.0, 0.5, 0.125]), np.array([True, False, False]), 0.75, 0.5, 2.0, out)
    >>> out.tolist()
    [1.0, -0.25, 0.0]
    """
    for i in range(out.shape[0]):
        normal = 1.0 if target[i] else 0.0
        low = max(normal, unit(drive[i], inhibition - amplitude, gain))
        high = min(normal, unit(drive[i], inhibition + amplitude, gain))
        out[i] = cue[i] * ((normal - low) + (normal - high))


@kernel
def faded(trace: float, age: float, recovery: float) -> float:
    """What is left of a trace: trace exp(-age / recovery), both in h.  Suppression passes within a day or so; ours.  Cost: O(1).

    >>> round(faded(-1.0, 24.0, 24.0), 6)
    -0.367879
    """
    return float(trace * math.exp(-age / recovery))


@kernel
def add_traces(now: float, trace: Any, traced: Any, recovery: float, out: Any) -> None:
    """out (n,) += what is left of each trace.  Cost: O(n)."""
    for i in range(trace.shape[0]):
        if trace[i] != 0.0:
            out[i] += faded(trace[i], now - traced[i], recovery)


@kernel
def spread_out(scores: Any, rows: Any, out: Any) -> None:
    """out (p,): scores of `rows` from 0, the lowest, to 1; all 0 if they are equal.  Cost: O(p)."""
    low, high = np.inf, -np.inf
    for r in rows:
        low, high = min(low, scores[r]), max(high, scores[r])
    for i in range(rows.shape[0]):
        out[i] = (scores[rows[i]] - low) / (high - low) if high > low else 0.0


# --- plug-in -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RetrievalCompetitionParams(Params):
    leak: float                 # k
    inhibition: float           # b
    step: float                 # dt / tau
    steps: int
    pool: int
    learning_rate: float        # eps
    amplitude: float
    gain: float
    recovery: float


class RetrievalCompetition(Mechanism[RetrievalCompetitionParams]):
    owns = (COMPETITION_TRACE, COMPETITION_TIME)

    @hook(Phase.RETRIEVE, reads=(FUSED, VISIBLE, NOW, COMPETITION_TRACE, COMPETITION_TIME), adds=(), sets=(REWEIGHTED,))
    def compete(self, view: Any, cue: Cue) -> None:
        """The pool keeps its range of scores; within it goes by where competition ends.  Without traces no order changes."""
        p = self.params
        rows = best(view.fused, view.visible, p.pool)
        if rows.size < 2:
            return
        drive, x, stands = np.empty(rows.size), np.zeros(rows.size), np.empty(rows.size)
        spread_out(view.fused, rows, drive)
        drive *= np.exp(self._left(view, rows))
        settle(drive, p.leak, p.inhibition, p.step, p.steps, np.empty((0, rows.size)), x)
        standing(drive, x, p.inhibition, stands)
        low, high = float(view.fused[rows[-1]]), float(view.fused[rows[0]])
        if (span := float(np.ptp(stands))) > 0.0:
            view.reweighted[rows] = low + (high - low) * (stands - stands.min()) / span

    @hook(Phase.RETRIEVE, reads=(RECALLED, MATCH, VISIBLE, NOW), adds=(), sets=(COMPETITION_TRACE, COMPETITION_TIME))
    def learn(self, view: Any, cue: Cue) -> None:
        """One cycle of inhibition.  It goes by the match, which unlike the fused score does not depend on when memory was last maintained."""
        p = self.params
        rows = best(view.match, view.visible, p.pool)
        target = np.isin(rows, view.recalled)
        if not target.any():
            return
        active, change, left = np.empty(rows.size), np.empty(rows.size), self._left(view, rows)
        spread_out(view.match, rows, active)
        drive = active * np.exp(left)
        contrast(active, drive, target, normal_inhibition(drive, int(target.sum())), p.amplitude, p.gain, change)
        changed = change != 0.0
        view.competition_trace[rows[changed]] = left[changed] + p.learning_rate * change[changed]
        view.competition_time[rows[changed]] = view.now

    @hook(Phase.MAINTAIN, reads=(COMPETITION_TRACE, COMPETITION_TIME), adds=(LOG_STRENGTH,), sets=())
    def weaken(self, view: Any, tick: Tick) -> None:
        add_traces(tick.end, view.competition_trace, view.competition_time, self.hours("recovery"), view.log_strength)

    def _left(self, view: Any, rows: Any) -> Any:
        return view.competition_trace[rows] * np.exp((view.competition_time[rows] - view.now) / self.hours("recovery"))
