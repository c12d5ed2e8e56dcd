"""Retrieval competition: lets the best candidates inhibit each other, and weakens strong
competitors of the retrieved memories.

The best candidates of a query are leaky competing accumulators (Usher & McClelland 2001): each is
driven by its score, leaks, and is inhibited by all others.  If inhibition is below the leak,
several stay active; if above, one winner suppresses all others.  Of the drive, the share of the
memory's words that the query says is input from outside; learning scales only the rest, which
weights complete.  So a query with a memory's own text finds it, however weak its weights are.

Learning from recall follows Norman, Newman & Detre (2007): inhibition oscillates around the level
at which only the retrieved memories are active.  At low inhibition strong competitors become
active, and learning by contrast with the normal state weakens them.  At high inhibition retrieved
memories become inactive, and learning strengthens them.  So retrieval impairs strong competitors
and spares weak and unrelated memories; restudy does not impair competitors (Anderson, Bjork & Bjork
1994).  Learning stops when no competitor becomes active and no target becomes inactive.

Cost: per query O(n + steps p) for a pool of p candidates, and the words of those that are weakened;
per learning O(n + p log p); O(n) per maintain.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import exact_kernel, formula
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    LOG_STRENGTH,
    MATCH,
    NOW,
    PRIMED,
    RECALLED,
    REWEIGHTED,
    TEXTS,
)
from ...engine.state.ranking import best
from ...engine.text.features import terms_of
from ..shared.units import unit

# --- columns --------------------------------------------------------------------------------------
COMPETITION_TRACE = Column(
    "competition_trace",
    np.float64,
    Scope.MEMORY,
    "ln",
    0.0,
    "change of log strength by competition at COMPETITION_TIME; suppressed below 0, strengthened above",
)
COMPETITION_TIME = Column(
    "competition_time",
    np.float64,
    Scope.MEMORY,
    "h",
    0.0,
    "when competition last changed the trace",
    upkeep=Upkeep(clock=True),
)


# --- equations: competition -----------------------------------------------------------------------
@exact_kernel
def settle(
    drive: Any, leak: float, inhibition: float, step: float, steps: int, noise: Any, x: Any
) -> None:
    """x_i <- max(0, x_i + [I_i - k x_i - b sum_{j != i} x_j] dt/tau + xi_i sqrt(dt/tau)).  Usher &
    McClelland (2001), LCA.  Cost: O(steps p).

    drive        (p,)        1  I_i
    leak         ()          1  k
    inhibition   ()          1  b
    step, steps  ()          1  dt/tau, and number of steps
    noise        (steps, p)  1  xi of each step; no rows: no noise
    x            (p,)        1  activations; updated

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


@exact_kernel
def standing(drive: Any, x: Any, inhibition: float, out: Any) -> None:
    """x_i if a unit is active, else its net input I_i - b sum_j x_j <= 0, which orders the losers,
    too.  Ours.  Cost: O(p).

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


@exact_kernel
def driven(active: Any, given: Any, trace: Any, out: Any) -> None:
    """Net input a [g + (1 - g) w] for w = e^trace <= 1, and a w / (1 - a + a w), at most full
    activity, for w > 1.  Ours.  Cost: O(p).

    active  (p,)  1   a, net input before learning, 0..1
    given   (p,)  1   g, share of the memory that the cue gives: external input, which no weight
                      scales
    trace   (p,)  ln  w = e^trace, weight that completes the rest of the pattern; 0: not changed by
                      learning
    out     (p,)  1   written; equal to a where trace is 0, 0 where a is, and below 1 where a is

    A memory that the cue gives whole, one of which the cue gives half, and one that was
    strengthened:

    >>> out = np.empty(3)
    >>> driven(np.array([1.0, 0.8, 0.5]), np.array([1.0, 0.5, 0.5]), np.log(np.array([0.1, 0.5, 2.0])), out)
    >>> out.round(9).tolist()
    [1.0, 0.6, 0.666666667]
    """
    for i in range(out.shape[0]):
        if trace[i] <= 0.0:
            out[i] = (
                active[i] * (given[i] + (1.0 - given[i]) * math.exp(trace[i]))
                if trace[i] < 0.0
                else active[i]
            )
        else:
            out[i] = active[i] / (active[i] + (1.0 - active[i]) * math.exp(-trace[i]))


# --- equations: learning --------------------------------------------------------------------------
@formula
def normal_inhibition(drive: Any, k: int) -> float:
    """Mean of the k-th and the next largest drive: k winners take all.  Norman et al. (2007),
    inhibition.  Cost: O(p log p).

    >>> normal_inhibition(np.array([0.5, 1.0, 0.0]), 1)
    0.75
    """
    ordered = np.sort(drive)[::-1]
    below = ordered[k] if k < ordered.shape[0] else 0.0
    return float(0.5 * (ordered[k - 1] + below))


@exact_kernel
def contrast(
    cue: Any, drive: Any, target: Any, inhibition: float, amplitude: float, gain: float, out: Any
) -> None:
    """dw / eps = X+ Y+ - X- Y- over one cycle of inhibition, Y+ at its normal level, Y- at its
    lowest and its highest level.  Norman et al. (2007).

    cue         (p,)  1  X, activity of the cue of each memory, 0..1; constant
    drive       (p,)  1  net input X w
    target      (p,)     whether retrieved; targets are active at the normal level, others inactive
    inhibition  ()    1  normal level of inhibition
    amplitude   ()    1  amplitude of its oscillation
    gain        ()    1  gain of the units
    out         (p,)  1  dw / eps; written
    Cost: O(p).

    A target that becomes inactive, a strong competitor that becomes active, and a weak competitor:

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


@formula
def faded(trace: float, age: float, recovery: float) -> float:
    """Trace after decay: trace exp(-age / recovery), both in h.  Suppression ends after about a
    day; ours.  Cost: O(1).

    >>> round(faded(-1.0, 24.0, 24.0), 6)
    -0.367879
    """
    return float(trace * math.exp(-age / recovery))


@exact_kernel
def add_traces(now: float, trace: Any, traced: Any, recovery: float, out: Any) -> None:
    """out (n,) += each trace after decay.  Cost: O(n)."""
    for i in range(trace.shape[0]):
        if trace[i] != 0.0:
            out[i] += faded(trace[i], now - traced[i], recovery)


@formula
def spread_out(scores: Any, rows: Any, out: Any) -> None:
    """out (p,): scores of `rows`, scaled linearly to 0..1; all 0 if they are equal.  Cost: O(p)."""
    chosen = scores[rows].astype(np.float64)
    above, span = chosen - chosen.min(), np.ptp(chosen)
    out[...] = above / span if span > 0.0 else 0.0


def given(texts: Any, rows: Any, terms: Collection[str]) -> Any:
    """(p,) share of each memory's words that the cue says: |T_i n Q| / |T_i|, stemmed, without stop
    words; 0 without words.  Ours.

    texts  text of each row
    rows   (p,)
    terms  stemmed terms of the cue
    Cost: O(their words).

    >>> given(["we saw the boats", "a boat", "so what"], np.array([1, 0]), ["grey", "boat"]).tolist()
    [1.0, 0.5]
    """
    said = frozenset(terms)
    words = [frozenset(terms_of(texts[row], stop_words=True)) for row in rows.tolist()]
    return np.array(
        [len(memory_words & said) / max(len(memory_words), 1) for memory_words in words]
    )


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RetrievalCompetitionParams(Params):
    leak: float  # k
    inhibition: float  # b
    step: float  # dt / tau
    steps: int
    pool: int
    learning_rate: float  # eps
    amplitude: float
    gain: float
    recovery: float


class RetrievalCompetition(Mechanism[RetrievalCompetitionParams]):
    owns = (COMPETITION_TRACE, COMPETITION_TIME)

    @hook(
        Phase.RETRIEVE,
        reads=(PRIMED, ANSWERABLE, TEXTS, NOW, COMPETITION_TRACE, COMPETITION_TIME),
        adds=(),
        sets=(REWEIGHTED,),
    )
    def compete(self, view: Any, cue: Cue) -> None:
        """Reorder the pool by the final activations, within its range of scores.  Without traces
        the order does not change.
        """
        p = self.params
        rows = best(view.primed, view.answerable, p.pool)
        if rows.size < 2:
            return
        active, drive, x, final = (
            np.empty(rows.size),
            np.empty(rows.size),
            np.zeros(rows.size),
            np.empty(rows.size),
        )
        spread_out(view.primed, rows, active)
        traces, said = self._decayed_traces(view, rows), np.zeros(rows.size)
        weakened = traces < 0.0
        said[weakened] = given(view.texts, rows[weakened], cue.terms)
        driven(active, said, traces, drive)
        settle(drive, p.leak, p.inhibition, p.step, p.steps, np.empty((0, rows.size)), x)
        standing(drive, x, p.inhibition, final)
        low, high = float(view.primed[rows[-1]]), float(view.primed[rows[0]])
        if (span := float(np.ptp(final))) > 0.0:
            view.reweighted[rows] = low + (high - low) * (final - final.min()) / span

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, MATCH, ANSWERABLE, NOW),
        adds=(),
        sets=(COMPETITION_TRACE, COMPETITION_TIME),
    )
    def learn(self, view: Any, cue: Cue) -> None:
        """One cycle of inhibition, driven by MATCH; PRIMED would depend on the time of the last
        maintain.
        """
        p = self.params
        rows = best(view.match, view.answerable, p.pool)
        target = np.isin(rows, view.recalled)
        if not target.any():
            return
        active, change, left = (
            np.empty(rows.size),
            np.empty(rows.size),
            self._decayed_traces(view, rows),
        )
        spread_out(view.match, rows, active)
        drive = active * np.exp(left)
        contrast(
            active,
            drive,
            target,
            normal_inhibition(drive, int(target.sum())),
            p.amplitude,
            p.gain,
            change,
        )
        changed = change != 0.0
        view.competition_trace[rows[changed]] = left[changed] + p.learning_rate * change[changed]
        view.competition_time[rows[changed]] = view.now

    @hook(
        Phase.MAINTAIN, reads=(COMPETITION_TRACE, COMPETITION_TIME), adds=(LOG_STRENGTH,), sets=()
    )
    def weaken(self, view: Any, tick: Tick) -> None:
        add_traces(
            tick.end,
            view.competition_trace,
            view.competition_time,
            self.hours("recovery"),
            view.log_strength,
        )

    def _decayed_traces(self, view: Any, rows: Any) -> Any:
        return view.competition_trace[rows] * np.exp(
            np.minimum(view.competition_time[rows] - view.now, 0.0) / self.hours("recovery")
        )
