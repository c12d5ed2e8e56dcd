"""BCM metaplasticity as Cortex 4.4.3 prints it: the threshold is a running mean of the squared mean
activity.

theta <- 0.95 theta + 0.05 c_bar^2, with c_bar the running mean of c in the same way.  The square of
a mean is not the mean of squares: a neuron that is selective for one of many inputs has a threshold
that is too low, and its response reaches 1 / p^2 where BCM gives 1 / p, for an input of probability
p.

Cost: O(p^2) for the p pairs of an event or an answer, O(p) for those of a night.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import MODIFIABILITY, RECALLED
from ..shared.coactivation import COACTIVATION, activities, is_first

# bound on weights: for an input rarer than theta's averaging time they would grow without limit;
# far above the evidence's
LARGEST = 20.0

# --- columns --------------------------------------------------------------------------------------
PRINTED_BCM_MEAN = Column(
    "printed_bcm_mean",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "running mean of the memory's activity",
    upkeep=Upkeep(anywhere=True),
)
PRINTED_BCM_THETA = Column(
    "printed_bcm_theta",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "running mean of the square of the mean activity",
    low=0,
    upkeep=Upkeep(anywhere=True),
)
PRINTED_BCM_WEIGHT = Column(
    "printed_bcm_weight",
    np.float64,
    Scope.EDGE,
    "1",
    0.0,
    "BCM's weight of an association, under the printed threshold",
    low=-LARGEST,
    high=LARGEST,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def phi(c: float, theta: float) -> float:
    """c (c - theta).  Cortex 4.4.3.  Cost: O(1).

    >>> phi(1.0, 2.0), phi(3.0, 2.0)
    (-1.0, 3.0)
    """
    return c * (c - theta)


@kernel
def smoothed(old: float, new: float, decay: float) -> float:
    """decay old + (1 - decay) new.  Cortex 4.4.3.  Cost: O(1).

    >>> smoothed(1.0, 3.0, 0.75)
    1.5
    """
    return decay * old + (1.0 - decay) * new


@kernel
def occasion(
    source: Any,
    target: Any,
    edge: Any,
    drive: float,
    eta: float,
    decay: float,
    weight: Any,
    mean: Any,
    theta: Any,
    modifiability: Any,
) -> None:
    """One occasion: w_i <- w_i + eta x_i phi(c, theta), c_bar and theta by running means; x_i = 1
    for active partners.

    source, target, edge        (p,)  pairs: rows, and the edge from source to target
    drive, eta                  ()    contribution of a memory's own activity to c; learning rate
    decay                       ()    gamma, weight of the old mean
    weight                      (m,)  w, bounded by +-LARGEST; written
    mean, theta, modifiability  (n,)  written; phi is added to the modifiability of each target

    Cost: O(p^2).
    """
    c = activities(target, edge, drive, weight)
    for i in range(target.shape[0]):
        weight[edge[i]] = min(
            max(weight[edge[i]] + eta * phi(c[i], theta[target[i]]), -LARGEST), LARGEST
        )
    for i in range(target.shape[0]):
        if is_first(target, i):
            v = target[i]
            modifiability[v] += phi(c[i], theta[v])
            mean[v] = smoothed(mean[v], c[i], decay)
            theta[v] = smoothed(theta[v], mean[v] * mean[v], decay)


@kernel
def occur(
    times: int,
    source: Any,
    target: Any,
    edge: Any,
    drive: float,
    eta: float,
    decay: float,
    weight: Any,
    mean: Any,
    theta: Any,
    modifiability: Any,
) -> None:
    """`times` occasions in order; pair i belongs to occasion i mod `times`.  Others as for
    `occasion`.  Cost: that of each.
    """
    for i in range(times):
        occasion(
            source[i::times],
            target[i::times],
            edge[i::times],
            drive,
            eta,
            decay,
            weight,
            mean,
            theta,
            modifiability,
        )


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class BCMMetaplasticityPrintedParams(Params):
    drive: float
    eta: float
    decay: float


class BCMMetaplasticityPrinted(Mechanism[BCMMetaplasticityPrintedParams]):
    owns = (PRINTED_BCM_MEAN, PRINTED_BCM_THETA, PRINTED_BCM_WEIGHT)

    @hook(
        Phase.ENCODE,
        reads=(COACTIVATION,),
        adds=(),
        sets=(PRINTED_BCM_MEAN, PRINTED_BCM_THETA, PRINTED_BCM_WEIGHT, MODIFIABILITY),
    )
    def encode(self, view: Any, incoming: Incoming) -> None:
        self.learn(view, 1)

    @hook(
        Phase.CONSOLIDATE,
        reads=(COACTIVATION,),
        adds=(),
        sets=(PRINTED_BCM_MEAN, PRINTED_BCM_THETA, PRINTED_BCM_WEIGHT, MODIFIABILITY),
    )
    def replay(self, view: Any, tick: Tick) -> None:
        self.learn(view, len(view.coactivation.target) // 2)
        rows, times = np.unique(view.coactivation.target, return_counts=True)
        view.modifiability[rows] /= times

    @hook(
        Phase.RETRIEVE,
        reads=(COACTIVATION, RECALLED),
        adds=(),
        sets=(PRINTED_BCM_MEAN, PRINTED_BCM_THETA, PRINTED_BCM_WEIGHT, MODIFIABILITY),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        self.learn(view, 1)

    def learn(self, view: Any, times: int) -> None:
        p, pairs = self.params, view.coactivation
        view.modifiability[pairs.target] = 0.0
        occur(
            times,
            pairs.source,
            pairs.target,
            pairs.edge,
            p.drive,
            p.eta,
            p.decay,
            view.printed_bcm_weight,
            view.printed_bcm_mean,
            view.printed_bcm_theta,
            view.modifiability,
        )
