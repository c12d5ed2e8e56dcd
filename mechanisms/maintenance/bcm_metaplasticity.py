"""BCM metaplasticity: how easily associations onto a memory grow depends on how active it has been.

In the theory of Bienenstock, Cooper & Munro (1982) activity c above a threshold theta makes a neuron's active synapses grow, activity below it
makes them shrink, and the threshold slides with the neuron's own history, faster than weights change.  Here in the form of Intrator & Cooper (1992):
dw/dt = eta x c (c - theta), theta the running mean of c squared.  A neuron that is driven in many ways comes to answer one of them, and growth has
no runaway: what is active all the time raises its own threshold.

Each memory is a neuron, each pair of memories active together an occasion: x = 1 from the partners, c = drive + sum of w x, with the memory's own
activity as an input of fixed weight `drive`.  The weights w are BCM's own.  What it tells the other rules of plasticity, whose activities are 1, is
phi = c (c - theta), so that their potentiation eta x times MODIFIABILITY is BCM's; 1 for a memory that was never active before.

Acts on: MODIFIABILITY of the memories of each pair, hence what hebbian_association and spike_timing_plasticity gain; alone it has no path into the
ranking.  Cost: O(p^2) for the p pairs of an event or an answer, O(p) for those of a night.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.columns import Column, Phase, Scope
from ...engine.contract import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.numerics import kernel
from ...engine.vocabulary import MODIFIABILITY, RECALLED
from ..shared.coactivation import COACTIVATION

LARGEST = 5.0           # of a weight: an input rarer than theta remembers meets a threshold that has forgotten it, and would grow without end

# --- columns -----------------------------------------------------------------------------------------------------------------
BCM_THETA = Column("bcm_theta", np.float64, Scope.MEMORY, "1", 0.0, "sliding threshold: running mean of the memory's squared activity", low=0)
BCM_WEIGHT = Column("bcm_weight", np.float64, Scope.EDGE, "1", 0.0, "BCM's weight of an association", low=-LARGEST, high=LARGEST)


# --- equations ---------------------------------------------------------------------------------------------------------------
@kernel
def phi(c: float, theta: float) -> float:
    """c (c - theta): depression below the threshold, potentiation above.  Intrator & Cooper (1992).  Cost: O(1).

    >>> phi(1.0, 2.0), phi(2.0, 2.0), phi(3.0, 2.0)
    (-1.0, 0.0, 3.0)
    """
    return c * (c - theta)


@kernel
def slide(theta: float, c: float, tau: float) -> float:
    """theta + (c^2 - theta) / tau: E[c^2] over the last tau occasions or so.  Intrator & Cooper (1992), as a running mean.  Cost: O(1).

    >>> slide(1.0, 3.0, 4.0)
    3.0
    """
    return theta + (c * c - theta) / tau


@kernel
def occasion(source: Any, target: Any, edge: Any, drive: float, eta: float, tau: float, weight: Any, theta: Any, modifiability: Any) -> None:
    """Memories active together, once: c = drive + sum_i w_i x_i, w_i <- w_i + eta x_i phi(c, theta), and theta slides; x_i = 1 for who is there.

    source, target, edge  (p,)  pairs: rows, and the edge from one to the other
    drive                 ()    what a memory's own activity adds to c
    eta, tau              ()    gain of learning; occasions over which theta averages
    weight                (m,)  w, kept within LARGEST of 0; written
    theta, modifiability  (n,)  written; phi is added to the modifiability of each target

    Every c is that before anything changes.  Cost: O(p^2).
    """
    c = np.full(target.shape[0], drive)
    for i in range(target.shape[0]):
        for k in range(target.shape[0]):
            if target[k] == target[i]:
                c[i] += weight[edge[k]]
    for i in range(target.shape[0]):
        weight[edge[i]] = min(max(weight[edge[i]] + eta * phi(c[i], theta[target[i]]), -LARGEST), LARGEST)
    for i in range(target.shape[0]):
        first = True
        for k in range(i):
            first = first and target[k] != target[i]
        if first:
            modifiability[target[i]] += phi(c[i], theta[target[i]])
            theta[target[i]] = slide(theta[target[i]], c[i], tau)


@kernel
def occur(times: int, source: Any, target: Any, edge: Any, drive: float, eta: float, tau: float, weight: Any, theta: Any, modifiability: Any) -> None:
    """Some occasions in order: pair i belongs to number i mod `times`.  Others as for `occasion`.  Cost: that of each."""
    for i in range(times):
        occasion(source[i::times], target[i::times], edge[i::times], drive, eta, tau, weight, theta, modifiability)


# --- plug-in -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class BCMMetaplasticityParams(Params):
    drive: float
    eta: float
    tau: float


class BCMMetaplasticity(Mechanism[BCMMetaplasticityParams]):
    owns = (BCM_THETA, BCM_WEIGHT)

    @hook(Phase.ENCODE, reads=(COACTIVATION,), adds=(), sets=(BCM_THETA, BCM_WEIGHT, MODIFIABILITY))
    def encode(self, view: Any, incoming: Incoming) -> None:
        self.learn(view, 1)

    @hook(Phase.CONSOLIDATE, reads=(COACTIVATION,), adds=(), sets=(BCM_THETA, BCM_WEIGHT, MODIFIABILITY))
    def replay(self, view: Any, tick: Tick) -> None:
        """Each replayed step is an occasion; a memory's modifiability for the night is the mean over its own."""
        self.learn(view, len(view.coactivation.target) // 2)
        rows, times = np.unique(view.coactivation.target, return_counts=True)
        view.modifiability[rows] /= times

    @hook(Phase.RETRIEVE, reads=(COACTIVATION, RECALLED), adds=(), sets=(BCM_THETA, BCM_WEIGHT, MODIFIABILITY))
    def on_recall(self, view: Any, cue: Cue) -> None:
        self.learn(view, 1)

    def learn(self, view: Any, times: int) -> None:
        p, pairs = self.params, view.coactivation
        view.modifiability[pairs.target] = 0.0
        occur(times, pairs.source, pairs.target, pairs.edge, p.drive, p.eta, p.tau, view.bcm_weight, view.bcm_theta, view.modifiability)
