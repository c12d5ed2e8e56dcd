"""Spike-timing-dependent plasticity as Cortex 4.4.5 prints it: one time constant of 24 hours on
both sides, A+ = 0.03 and A- = 0.02.

The window of Bi & Poo (1998) has a depression that lasts twice as long as its potentiation; here
both last equally long, so memories close in time in either order are strengthened on balance, by
0.24 weight-hours a pair.  No bounds are printed: weights grow without limit, and fall below zero.

Cost: O(1) per pair; O(n + 32 seeds) per query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import GRAPH, MATCH, RELEASE_PROBABILITY, RESOURCES, ROW, VISIBLE
from ...engine.state.graph import EdgeType
from ...engine.state.ranking import best
from ..shared.coactivation import COACTIVATION, pass_on

# --- columns --------------------------------------------------------------------------------------
TIMING_PRINTED = Column(
    "timing_printed",
    np.float64,
    Scope.EDGE,
    "1",
    0.0,
    "sum of the printed window over all pairs; without bounds",
)
CLOSE_IN_TIME = signal(
    "close_in_time",
    Facet.ASSOCIATION,
    "match of the best, passed on to memories a day around them",
    unit="sd",
    direct=False,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def window(lag: float, a_plus: float, a_minus: float, tau_plus: float, tau_minus: float) -> float:
    """dw = A+ e^(-dt / tau+) for dt > 0, -A- e^(dt / tau-) for dt < 0.  Cortex 4.4.5, as printed.
    Cost: O(1).

    lag                  h  time from source to target
    a_plus, a_minus         0.03, 0.02
    tau_plus, tau_minus  h  24, 24

    >>> [round(window(d, 0.03, 0.02, 24.0, 24.0), 4) for d in (24.0, -24.0)]
    [0.011, -0.0074]
    """
    if lag > 0.0:
        return a_plus * math.exp(-lag / tau_plus)
    return -a_minus * math.exp(lag / tau_minus) if lag < 0.0 else 0.0


@kernel
def paired(
    edge: Any,
    lag: Any,
    a_plus: float,
    a_minus: float,
    tau_plus: float,
    tau_minus: float,
    weight: Any,
) -> None:
    """Each pair adds its window to the weight of its edge.  Cost: O(p).

    edge, lag  (p,)  -, h
    weight     (m,)        written
    """
    for i in range(edge.shape[0]):
        weight[edge[i]] += window(lag[i], a_plus, a_minus, tau_plus, tau_minus)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SpikeTimingPlasticityPrintedParams(Params):
    a_plus: float
    a_minus: float
    tau_plus: float
    tau_minus: float
    seeds: int
    weight: float


class SpikeTimingPlasticityPrinted(Mechanism[SpikeTimingPlasticityPrintedParams]):
    owns = (TIMING_PRINTED, CLOSE_IN_TIME)

    def _learn(self, view: Any) -> None:
        p, pairs = self.params, view.coactivation
        if pairs.edge.size:
            paired(
                pairs.edge,
                pairs.lag,
                p.a_plus,
                p.a_minus,
                self.hours("tau_plus"),
                self.hours("tau_minus"),
                view.timing_printed,
            )

    @hook(Phase.ENCODE, reads=(ROW, COACTIVATION), adds=(), sets=(TIMING_PRINTED,))
    def encode(self, view: Any, incoming: Incoming) -> None:
        self._learn(view)

    @hook(Phase.CONSOLIDATE, reads=(COACTIVATION,), adds=(), sets=(TIMING_PRINTED,))
    def replay(self, view: Any, tick: Tick) -> None:
        self._learn(view)

    @hook(
        Phase.RETRIEVE,
        reads=(GRAPH, MATCH, VISIBLE, RELEASE_PROBABILITY, RESOURCES, TIMING_PRINTED),
        adds=(),
        sets=(CLOSE_IN_TIME,),
    )
    def follow(self, view: Any, cue: Cue) -> None:
        """Only memories with a match above the mean, which is 0, pass it on."""
        edges = view.graph.csr(EdgeType.COACCESS)
        pass_on(
            best(view.match, view.visible, self.params.seeds),
            view.match,
            view.release_probability,
            view.resources,
            edges.start,
            edges.degree,
            edges.pool,
            view.graph.target,
            view.timing_printed,
            view.close_in_time,
        )
