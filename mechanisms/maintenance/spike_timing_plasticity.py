"""Spike-timing-dependent plasticity: strengthens associations from a memory to later ones, weakens
those to earlier ones.

A synapse whose source fires within some ten milliseconds before its target grows, one whose source
fires after it shrinks, both the less the longer the interval (Bi & Poo 1998; the exponential fit of
2001).  Changes add up over all pairs of spikes; a weight stays between 0 and a largest value (Song,
Miller & Abbott 2000).  Here each memory is a neuron that fires when it is encoded or replayed;
COACTIVATION gives the time from source to target.  By default the typical interval between
neighbours, measured as events and uses arrive, is one gamma cycle of 25 ms, whether they arrive by
the second or by the day; with `pace: scale` only `time_scale` maps the paper's time, and a turn of
one minute is one gamma cycle. Steps replayed in sleep, which is faster than the original, count
more, and count at each replay.

The fit gives simultaneous activity no effect: the rows of one answer change nothing among
themselves; the uses before them in the session do. A change below a millionth of the largest weight
is none.

A question asked in a session has memories that are active before it: those that the last use in the
session needed.  They pass activation on as the best matches do, so what usually followed them comes
next.

Cost: O(1) per pair; O(n + 32 seeds) per query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    GRAPH,
    LTP,
    MATCH,
    MODIFIABILITY,
    RECALLED,
    RELEASE_PROBABILITY,
    RESOURCES,
    ROW,
    USED,
    USED_TIME,
    VISIBLE,
)
from ...engine.state.graph import EdgeType
from ...engine.steps.uses import used_last
from ..shared.coactivation import COACTIVATION, pass_on, sources

LEAST: Final = 1e-6  # share of the largest weight below which a change is none
INTERVALS: Final = 20  # intervals over which the pace is averaged

# --- columns --------------------------------------------------------------------------------------
TIMING_WEIGHT = Column(
    "timing_weight",
    np.float64,
    Scope.EDGE,
    "1",
    0.0,
    "weight of an association from a memory to one that came after it",
    low=0,
)
TIMING_PACE = Column(
    "timing_pace",
    np.float64,
    Scope.GLOBAL,
    "1, ln",
    0.0,
    "number of intervals between neighbours, and mean of their ln in cycles",
    (2,),
)
SUCCESSOR_IN_TIME = signal(
    "successor_in_time",
    Facet.ASSOCIATION,
    "match of the best, passed on to memories that came after them",
    unit="sd",
    direct=False,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def window(lag: float, a_plus: float, a_minus: float, tau_plus: float, tau_minus: float) -> float:
    """dW of one pair of spikes: A+ e^(-D / tau+) for D > 0, -A- e^(D / tau-) for D < 0, nothing at
    D = 0.  Bi & Poo (2001).  Cost: O(1).

    lag                  h  D = t_target - t_source
    a_plus, a_minus         A+, A-: largest potentiation, largest depression
    tau_plus, tau_minus  h  their time constants, in the unit of the lag

    >>> [round(window(d, 0.777, 0.273, 16.8, 33.7), 4) for d in (10.0, -10.0, 0.0)]
    [0.4285, -0.2029, 0.0]
    """
    if lag > 0.0:
        return a_plus * math.exp(-lag / tau_plus)
    return -a_minus * math.exp(lag / tau_minus) if lag < 0.0 else 0.0


@kernel
def traced(
    source: Any, target: Any, a_plus: float, a_minus: float, tau_plus: float, tau_minus: float
) -> float:
    """The sum of the window over all pairs of two spike trains, in one pass with one decaying trace
    per train.

    Song, Miller & Abbott (2000): x and y jump by 1 at spikes of source and target and decay with
    tau+ and tau-; a target spike adds A+ x, a source spike subtracts A- y.

    source, target  (s,), (t,)  h  times of spikes, ascending
    Others as for `window`.  Cost: O(s + t).

    >>> round(traced(np.array([0.0]), np.array([10.0]), 0.777, 0.273, 16.8, 33.7), 4)
    0.4285
    """
    i = k = 0
    x = y = total = last = 0.0
    while i < source.shape[0] or k < target.shape[0]:
        now = min(
            source[i] if i < source.shape[0] else np.inf,
            target[k] if k < target.shape[0] else np.inf,
        )
        x, y, last = (
            x * math.exp(-(now - last) / tau_plus),
            y * math.exp(-(now - last) / tau_minus),
            now,
        )
        fired = came = 0
        while i < source.shape[0] and source[i] == now:
            fired, i = fired + 1, i + 1
        while k < target.shape[0] and target[k] == now:
            came, k = came + 1, k + 1
        total += came * a_plus * x - fired * a_minus * y
        x, y = x + fired, y + came
    return total


@kernel
def paired(
    steps: int,
    edge: Any,
    target: Any,
    lag: Any,
    growth: Any,
    ltp: float,
    a_plus: float,
    a_minus: float,
    tau_plus: float,
    tau_minus: float,
    w_max: float,
    weight: Any,
) -> None:
    """Each pair adds its window to the weight of its edge, which stays in [0, w_max], step by step.
    Hard bounds: Song et al. (2000).  Cost: O(p).

    steps              ()                number of steps, in order; pair i belongs to step i mod
                                         `steps`
    edge, target, lag  (p,)  -, rows, h  of each pair
    growth, ltp        (n,), ()          factors on potentiation: of the edges to a memory, from the
                                         phase of theta
    w_max              ()                largest weight; a change below LEAST of it is none
    weight             (m,)              written
    Others as for `window`.

    A step of memory 0 before 1, and one of 1 before 0, each listed in both directions:

    >>> weight = np.zeros(2)
    >>> edge, target, lag = np.array([0, 1, 1, 0]), np.array([1, 0, 0, 1]), np.array([10.0, 10.0, -10.0, -10.0])
    >>> paired(2, edge, target, lag, np.ones(2), 1.0, 0.777, 0.273, 16.8, 33.7, 1.0, weight)
    >>> weight.round(4).tolist()
    [0.2256, 0.4285]
    """
    for step in range(steps):
        for i in range(step, edge.shape[0], steps):
            change = window(lag[i], a_plus, a_minus, tau_plus, tau_minus)
            if abs(change) < LEAST * w_max:
                continue
            if change > 0.0:
                change *= ltp * growth[target[i]]
            weight[edge[i]] = min(max(weight[edge[i]] + change, 0.0), w_max)


@kernel
def pace(lag: Any, cycle: float, kept: Any) -> None:
    """kept = n + 1, m + (ln(D / cycle) - m) / min(n + 1, INTERVALS), D the shortest lag above 0;
    unchanged without one.  Ours.  Cost: O(p).

    lag    (p,)  h      time between the sources and the targets of one occasion
    cycle  ()    h
    kept   (2,)  1, ln  n, number of intervals so far, and m, the mean of ln(D / cycle) over about
                        the last INTERVALS of them; written

    >>> kept = np.zeros(2)
    >>> pace(np.array([3.0, 1.0, 0.0, -1.0]), 0.5, kept)
    >>> pace(np.array([4.0]), 0.5, kept)
    >>> float(kept[0]), round(math.exp(kept[1]), 9)
    (2.0, 4.0)
    """
    shortest = math.inf
    for d in lag:
        if 0.0 < d < shortest:
            shortest = d
    if shortest < math.inf:
        kept[0] += 1.0
        kept[1] += (math.log(shortest / cycle) - kept[1]) / min(kept[0], INTERVALS)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SpikeTimingPlasticityParams(Params):
    a_plus: float  # of `pairings` pairs together
    a_minus: float
    pairings: float
    tau_plus: float
    tau_minus: float
    pace: Literal["events", "scale"]
    cycle: float  # the typical interval between neighbours, with the pace of events
    w_max: float
    seeds: int  # best matches that pass activation on
    present: float  # activity of the memories used last in the session, together
    weight: float


class SpikeTimingPlasticity(Mechanism[SpikeTimingPlasticityParams]):
    """Learns the order of memories in time; retrieves the successors of the best matches and of
    what was used last.
    """

    owns = (TIMING_WEIGHT, TIMING_PACE, SUCCESSOR_IN_TIME)

    def _learn(self, view: Any, awake: bool) -> None:
        """Pairs with their lags on the paper's clock; before the first interval the pace is not
        known, and nothing is learnt.
        """
        p, pairs, lag = self.params, view.coactivation, view.coactivation.lag
        if p.pace == "events":
            if awake:
                pace(lag, self.hours("cycle"), view.timing_pace)
            known, mean = view.timing_pace
            lag = lag * math.exp(-mean) if known else np.zeros(lag.size)
        if pairs.edge.size:
            paired(
                pairs.edge.size // 2,
                pairs.edge,
                pairs.target,
                lag,
                view.modifiability,
                view.ltp,
                p.a_plus / p.pairings,
                p.a_minus / p.pairings,
                self.hours("tau_plus"),
                self.hours("tau_minus"),
                p.w_max,
                view.timing_weight,
            )

    @hook(
        Phase.ENCODE,
        reads=(ROW, COACTIVATION, LTP, MODIFIABILITY),
        adds=(),
        sets=(TIMING_WEIGHT, TIMING_PACE),
    )
    def encode(self, view: Any, incoming: Incoming) -> None:
        """The event comes after all memories in working memory."""
        self._learn(view, True)

    @hook(
        Phase.CONSOLIDATE,
        reads=(COACTIVATION, LTP, MODIFIABILITY, TIMING_PACE),
        adds=(),
        sets=(TIMING_WEIGHT,),
    )
    def replay(self, view: Any, tick: Tick) -> None:
        """A step replayed k times counts as k pairings; steps count in the order in which they
        are replayed.
        """
        self._learn(view, False)

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, COACTIVATION, LTP, MODIFIABILITY),
        adds=(),
        sets=(TIMING_WEIGHT, TIMING_PACE),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        """The memories that were needed come after those that the last use in the session
        needed.
        """
        self._learn(view, True)

    @hook(Phase.RETRIEVE, reads=(GRAPH, MATCH, VISIBLE, USED.before, USED_TIME.before,
                                 RELEASE_PROBABILITY, RESOURCES, TIMING_WEIGHT), adds=(),
          sets=(SUCCESSOR_IN_TIME,))  # fmt: skip
    def follow(self, view: Any, cue: Cue) -> None:
        """Only memories with an activity above 0, the mean of the match, pass it on."""
        p, edges = self.params, view.graph.csr(EdgeType.COACCESS)
        rows, activity = sources(
            view.match,
            view.visible,
            used_last(cue, view.used, view.used_time, view.visible),
            p.seeds,
            p.present,
        )
        pass_on(
            rows,
            activity,
            view.release_probability,
            view.resources,
            edges.start,
            edges.degree,
            edges.pool,
            view.graph.target,
            view.timing_weight,
            view.successor_in_time,
        )
