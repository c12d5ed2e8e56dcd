"""BCM metaplasticity: scales the potentiation of associations onto a memory by its activity
relative to a sliding threshold.

In the theory of Bienenstock, Cooper & Munro (1982) activity c above a threshold theta strengthens a
neuron's active synapses, activity below it weakens them, and the threshold slides with the neuron's
own activity, faster than weights change.  The form here is Intrator & Cooper's (1992): dw/dt = eta
x c (c - theta), theta the running mean of c squared.  A neuron with several inputs becomes
selective for one of them, and growth is limited: a memory that is active all the time raises its
own threshold.

Each memory is a neuron; an occasion is one event, answer or replayed step with its pairs of
memories active together: x = 1 from the partners, c = drive + sum of w x, with the memory's own
activity as an input of fixed weight `drive`.  The weights w are used by BCM alone.  The other rules
of plasticity, in which activities are 1, get phi = c (c - theta), so that their potentiation eta x
times MODIFIABILITY is BCM's; 1 for a memory that was never active before.

Cost: O(p^2) for the p pairs of an event or an answer, O(p) for those of a night.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import MODIFIABILITY, RECALLED
from ..shared.coactivation import COACTIVATION, activities, is_first

# bound on weights: for an input rarer than theta's averaging time, theta has decayed, and the
# weight would grow without limit
LARGEST = 5.0

# --- columns --------------------------------------------------------------------------------------
BCM_THETA = Column(
    "bcm_theta",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "sliding threshold: running mean of the memory's squared activity",
    low=0,
)
BCM_WEIGHT = Column(
    "bcm_weight",
    np.float64,
    Scope.EDGE,
    "1",
    0.0,
    "BCM's weight of an association",
    low=-LARGEST,
    high=LARGEST,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def phi(c: float, theta: float) -> float:
    """c (c - theta): depression below the threshold, potentiation above.  Intrator & Cooper (1992).
    Cost: O(1).

    >>> phi(1.0, 2.0), phi(2.0, 2.0), phi(3.0, 2.0)
    (-1.0, 0.0, 3.0)
    """
    return c * (c - theta)


@kernel
def slide(theta: float, c: float, tau: float) -> float:
    """theta + (c^2 - theta) / tau: mean of c^2 over about the last tau occasions.  Intrator &
    Cooper (1992), as a running mean.  Cost: O(1).

    >>> slide(1.0, 3.0, 4.0)
    3.0
    """
    return theta + (c * c - theta) / tau


@kernel
def occasion(
    source: Any,
    target: Any,
    edge: Any,
    drive: float,
    eta: float,
    tau: float,
    weight: Any,
    theta: Any,
    modifiability: Any,
) -> None:
    """One occasion: c = drive + sum_i w_i x_i, w_i <- w_i + eta x_i phi(c, theta), and theta
    slides; x_i = 1 for active partners.

    source, target, edge  (p,)  pairs: rows, and the edge from source to target
    drive                 ()    contribution of a memory's own activity to c
    eta, tau              ()    learning rate; number of occasions over which theta averages
    weight                (m,)  w, bounded by +-LARGEST; written
    theta, modifiability  (n,)  written; phi is added to the modifiability of each target

    All c are computed before any change.  Cost: O(p^2).
    """
    c = activities(target, edge, drive, weight)
    for i in range(target.shape[0]):
        weight[edge[i]] = min(
            max(weight[edge[i]] + eta * phi(c[i], theta[target[i]]), -LARGEST), LARGEST
        )
    for i in range(target.shape[0]):
        if is_first(target, i):
            modifiability[target[i]] += phi(c[i], theta[target[i]])
            theta[target[i]] = slide(theta[target[i]], c[i], tau)


@kernel
def occur(
    times: int,
    source: Any,
    target: Any,
    edge: Any,
    drive: float,
    eta: float,
    tau: float,
    weight: Any,
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
            tau,
            weight,
            theta,
            modifiability,
        )


# --- plug-in --------------------------------------------------------------------------------------
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
        view.wrote(BCM_THETA, view.coactivation.target)

    @hook(
        Phase.CONSOLIDATE,
        reads=(COACTIVATION,),
        adds=(),
        sets=(BCM_THETA, BCM_WEIGHT, MODIFIABILITY),
    )
    def replay(self, view: Any, tick: Tick) -> None:
        """Each replayed step is an occasion; a memory's modifiability for the night is the mean
        over its occasions.
        """
        self.learn(view, len(view.coactivation.target) // 2)
        rows, times = np.unique(view.coactivation.target, return_counts=True)
        view.modifiability[rows] /= times

    @hook(
        Phase.RETRIEVE,
        reads=(COACTIVATION, RECALLED),
        adds=(),
        sets=(BCM_THETA, BCM_WEIGHT, MODIFIABILITY),
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
            p.tau,
            view.bcm_weight,
            view.bcm_theta,
            view.modifiability,
        )
