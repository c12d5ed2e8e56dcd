"""Synaptic renormalisation: sleep removes, in proportion, the weight that memories gained while
awake, except from the strongest.

The synaptic homeostasis hypothesis (Tononi & Cirelli 2014): learning while awake is on the whole
potentiation, which uses up capacity; the more is used, the less can still be learnt.  Sleep scales
synapses down.  De Vivo et al. (2017) measured it: after sleep the axon-spine interface is 18%
smaller, but not in the largest fifth.

Each memory has a weight w, 1 when stored.  Memories active together, in an event or an answer,
share a gain eta, limited by capacity: potentiation and the strength of new memories are
proportional to the headroom 1 - E / E_max, where E is the sum of w - 1.  A full night takes 18% off
the sum of all weights, but never more than E: sleep returns the total to its baseline and stops
there, as slow waves do, so nights after idle days change nothing, and an old memory loses only as
much as others have gained.  Within a night, all weights below the line of the strongest fifth lose
the same share, so their ratios stay; towards the line the loss falls smoothly to zero.

Cost: O(p) per event and answer for p memories active; O(n) per sleep and per
maintain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Before, Column, Phase, Scope
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    ENCODING_STRENGTH,
    KIND,
    LOG_STRENGTH,
    RECALLED,
    ROW,
    SLEEP_SHARE,
)
from ..shared.coactivation import COACTIVATION

# largest share that a weight can lose in a night, even if nearly all of the total is spared
MOST = 0.5
LEAST_ROOM = 1e-9

# --- columns --------------------------------------------------------------------------------------
RENORMALISED_WEIGHT = Column(
    "renormalised_weight",
    np.float64,
    Scope.MEMORY,
    "ln",
    0.0,
    "log of the memory's weight w from waking gains and sleeping losses",
)
RENORMALISED_ROOM = Column(
    "renormalised_room",
    np.float64,
    Scope.GLOBAL,
    "ln",
    0.0,
    "log of the headroom 1 - E / E_max; 0: full headroom",
    high=0,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def headroom(excess: float, most: float) -> float:
    """1 - E / E_max, the remaining capacity to learn, in (0, 1].  Ours, after the hypothesis:
    potentiation saturates.  Cost: O(1).

    >>> headroom(5.0, 20.0)
    0.75
    """
    return min(1.0, max(1.0 - excess / most, LEAST_ROOM))


@kernel
def potentiate(active: Any, eta: float, most: float, log_room: float, log_weight: Any) -> float:
    """Memories active together share a gain eta (1 - E / E_max); returns ln of the headroom after E
    has grown by it.  Cost: O(p).

    active      (p,)  rows, each once
    eta, most   ()    gain of an event or answer, E_max
    log_room    ()    ln of the headroom before
    log_weight  (n,)  ln w; written
    """
    gain = eta * math.exp(log_room) / len(active)
    for row in active:
        log_weight[row] = math.log(math.exp(log_weight[row]) + gain)
    return max(log_room + math.log1p(-eta / most) if eta < most else -np.inf, math.log(LEAST_ROOM))


@kernel
def loss(x: float, low: float, high: float) -> float:
    """Share of the night's loss that falls on a memory of log strength x: 1 up to low, 0 above
    high, smooth between.  Cost: O(1).

    >>> loss(0.0, 0.0, 1.0), loss(0.5, 0.0, 1.0), loss(1.0, 0.0, 1.0)
    (1.0, 0.5, 0.0)
    """
    if x <= low or high <= low:
        return 1.0 if x <= high else 0.0
    s = min((x - low) / (high - low), 1.0)
    return 1.0 - s * s * (3.0 - 2.0 * s)


@kernel
def downscale(share: float, low: float, high: float, log_strength: Any, log_weight: Any) -> float:
    """w <- w f, f = 1 - rho loss, such that the sum of all w falls by `share` of itself, but not
    below one per memory; returns the remaining E.

    After Tononi & Cirelli (2014): in proportion, down to the baseline; de Vivo et al. (2017): the
    amount, and the exception.

    share                  ()    of the total that this sleep may take off
    low, high              ()    ln   log strengths between which the loss falls to zero
    log_strength           (n,)  ln  decides which memories are the strongest
    log_weight             (n,)  ln w; written

    Cost: O(n).
    """
    total, exposed = 0.0, 0.0
    for row in range(len(log_weight)):
        w = math.exp(log_weight[row]) if log_weight[row] != 0.0 else 1.0
        total += w
        exposed += w * loss(log_strength[row], low, high)
    excess = total - len(log_weight)
    if excess <= 1e-12 * total or exposed == 0.0:
        return max(excess, 0.0)
    rho = min(min(excess, share * total) / exposed, MOST)
    for row in range(len(log_weight)):
        part = loss(log_strength[row], low, high)
        if part > 0.0:
            log_weight[row] += math.log1p(-rho * part)
    return excess - rho * exposed


def quantiles(values: Any, *shares: float) -> list[float]:
    """The values at the given quantiles, without interpolation (lower neighbours).  Cost: O(n)."""
    places = [int(share * (len(values) - 1)) for share in shares]
    parted = np.partition(values, places)
    return [float(parted[place]) for place in places]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SynapticRenormalisationParams(Params):
    downscaling: float  # share of the total that a full night takes off
    spared: float  # share of memories, the strongest, that lose nothing
    # share of memories, the next strongest, over which the loss falls to zero
    ramp: float
    eta: float
    excess_most: float


class SynapticRenormalisation(Mechanism[SynapticRenormalisationParams]):
    owns = (RENORMALISED_WEIGHT, RENORMALISED_ROOM)

    @hook(Phase.ENCODE, reads=(Before(RENORMALISED_ROOM),), adds=(ENCODING_STRENGTH,), sets=())
    def encode(self, view: Any, incoming: Incoming) -> None:
        view.encoding_strength = view.renormalised_room

    @hook(
        Phase.ENCODE,
        reads=(ROW, COACTIVATION),
        adds=(),
        sets=(RENORMALISED_WEIGHT, RENORMALISED_ROOM),
    )
    def learn(self, view: Any, incoming: Incoming) -> None:
        self.potentiate(view, np.unique(np.append(view.coactivation.target, view.row)))
        view.wrote(RENORMALISED_WEIGHT, view.coactivation.target)

    @hook(
        Phase.RETRIEVE,
        reads=(COACTIVATION, RECALLED),
        adds=(),
        sets=(RENORMALISED_WEIGHT, RENORMALISED_ROOM),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        if len(view.coactivation.target):
            self.potentiate(view, np.unique(view.coactivation.target))

    def potentiate(self, view: Any, active: Any) -> None:
        p = self.params
        view.renormalised_room = potentiate(
            active, p.eta, p.excess_most, view.renormalised_room, view.renormalised_weight
        )

    @hook(
        Phase.CONSOLIDATE,
        reads=(LOG_STRENGTH, SLEEP_SHARE, KIND),
        adds=(),
        sets=(RENORMALISED_WEIGHT, RENORMALISED_ROOM),
    )
    def sleep(self, view: Any, tick: Tick) -> None:
        """Rows that the memory made take part once they have been active."""
        p = self.params
        if view.renormalised_room < 0.0:
            rows = np.flatnonzero((view.kind == 0) | (view.renormalised_weight != 0.0))
            strength, weight = view.log_strength[rows], view.renormalised_weight[rows]
            low, high = quantiles(strength, 1.0 - p.spared - p.ramp, 1.0 - p.spared)
            left = downscale(
                1.0 - (1.0 - p.downscaling) ** view.sleep_share, low, high, strength, weight
            )
            view.renormalised_weight[rows] = weight
            view.renormalised_room = math.log(headroom(left, p.excess_most))

    @hook(Phase.MAINTAIN, reads=(RENORMALISED_WEIGHT,), adds=(LOG_STRENGTH,), sets=())
    def strengthen(self, view: Any, tick: Tick) -> None:
        np.copyto(view.log_strength, view.renormalised_weight)
