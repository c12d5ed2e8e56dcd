"""Tripartite synapse as Cortex 4.4.7 prints it: calcium of a cluster rises with use and decays per
hour; two thresholds separate three regimes.

Below the first nothing is modulated, above it potentiation is increased ("D-serine"), above the
second it is reduced ("heterosynaptic depression"). The target of the rise is the steady state of
equations for which the source's code cites De Pitta et al. (2009), but with one inactivation gate
instead of three, the channel's IP3 term once more, and the drive (C0 - C) / c1.  A rise and a decay
cannot oscillate, and there is no release and no store.

Cost: O(1) per event; O(n) per maintain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import NOW, RECALLED, RELEASE_PROBABILITY, ROW

BITS: Final = 5  # 32 clusters
# as in the source's code
RC, RL, VER, KER, TOTAL, RATIO, D1, D2, D3, D5 = (
    6.0,
    0.11,
    0.9,
    0.1,
    2.0,
    0.185,
    0.13,
    1.049,
    0.9434,
    0.08234,
)

# --- columns --------------------------------------------------------------------------------------
PRINTED_TERRITORY = Column(
    "printed_territory", np.int16, Scope.MEMORY, "1", -1, "cluster of the memory", low=-1
)
PRINTED_CALCIUM = Column(
    "printed_calcium",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "calcium of a cluster at its last access, 0 at rest",
    (2**BITS,),
    low=0,
    high=1,
)
PRINTED_CALCIUM_CLOCK = Column(
    "printed_calcium_clock",
    np.float64,
    Scope.GLOBAL,
    "h",
    0.0,
    "time of the last access to a cluster",
    (2**BITS,),
    upkeep=Upkeep(clock=True),
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def calcium(
    C: float,
    h: float,
    I: float,
    rC: float,
    rL: float,
    vER: float,
    K_ER: float,
    C0: float,
    c1: float,
    d1: float,
    d5: float,
) -> float:
    """dC/dt of which the source's code takes the steady state: rC m^3 h I/(I + d1) (C0 - C)/c1 +
    rL (C0 - C)/c1 - vER C^2/(K_ER^2 + C^2).  O(1).
    """
    bound = I / (I + d1)
    m = bound * C / (C + d5)
    return (rC * m * m * m * h * bound + rL) * (C0 - C) / c1 - vER * C * C / (K_ER * K_ER + C * C)


@kernel
def inactivation(C: float, I: float, d1: float, d2: float, d3: float) -> float:
    """h = d2 (I + d1) / ((I + d3) (C + d2)), as in the source's code.  Cost: O(1)."""
    return d2 * (I + d1) / ((I + d3) * (C + d2))


@kernel
def steady(I: float) -> float:
    """Steady state of C, uM, at that IP3: steps of 0.05 until the change is below 1e-6, at most
    200.  Source's code.  Cost: O(200).

    >>> round(steady(0.0), 2)
    0.54
    """
    C = 0.05
    for _ in range(200):
        new = C + 0.05 * calcium(
            C, inactivation(C, I, D1, D2, D3), I, RC, RL, VER, KER, TOTAL, RATIO, D1, D5
        )
        new = min(0.95 * TOTAL, max(0.001, new))
        if abs(new - C) < 1e-6:
            return new
        C = new
    return C


@kernel
def risen(
    level: float, events: float, per_event: float, most: float, rest: float, rate: float
) -> float:
    """Calcium after some events at once: 1 - exp(-rate events) of the way to the steady state of
    their IP3.  Source's code.  Cost: O(1).
    """
    ip3 = per_event * events
    aim = min(1.0, max(0.0, steady(most * ip3 / (most + ip3)) - rest))
    return level + (1.0 - math.exp(-rate * events)) * (aim - level)


@kernel
def modulation(level: float, low: float, high: float, boost: float, cut: float) -> float:
    """Factor of the regime: 1, then 1 to 1 + boost between the thresholds, then 1 to 1 - cut.
    Cortex 4.4.7.  Cost: O(1).

    >>> modulation(0.2, 0.3, 0.6, 0.2, 0.15), round(modulation(0.45, 0.3, 0.6, 0.2, 0.15), 3), round(modulation(0.8, 0.3, 0.6, 0.2, 0.15), 3)
    (1.0, 1.1, 0.925)
    """
    if level < low:
        return 1.0
    return (
        1.0 + boost * (level - low) / (high - low)
        if level < high
        else max(0.5, 1.0 - cut * (level - high) / (1.0 - high))
    )


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TripartiteSynapsePrintedParams(Params):
    ip3_per_event: float
    ip3_most: float
    rest: float
    rise: float
    decay: float
    low: float
    high: float
    boost: float
    cut: float


class TripartiteSynapsePrinted(Mechanism[TripartiteSynapsePrintedParams]):
    owns = (PRINTED_TERRITORY, PRINTED_CALCIUM, PRINTED_CALCIUM_CLOCK)

    def accessed(self, view: Any, cluster: int, events: float) -> None:
        p = self.params
        level = view.printed_calcium[cluster] * math.exp(
            -self.hours("decay") * max(view.now - view.printed_calcium_clock[cluster], 0.0)
        )
        view.printed_calcium[cluster] = risen(
            level, events, p.ip3_per_event, p.ip3_most, p.rest, p.rise
        )
        view.printed_calcium_clock[cluster] = view.now

    @hook(
        Phase.ENCODE,
        reads=(ROW, NOW),
        adds=(),
        sets=(PRINTED_TERRITORY, PRINTED_CALCIUM, PRINTED_CALCIUM_CLOCK),
    )
    def encode(self, view: Any, incoming: Incoming) -> None:
        cluster = view.printed_territory[view.row] = int(
            (incoming.vector[:BITS] > 0.0) @ (1 << np.arange(min(BITS, len(incoming.vector))))
        )
        self.accessed(view, cluster, 1.0)

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, NOW, PRINTED_TERRITORY),
        adds=(),
        sets=(PRINTED_CALCIUM, PRINTED_CALCIUM_CLOCK),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        territories = view.printed_territory[view.recalled]
        clusters, events = np.unique(territories[territories >= 0], return_counts=True)
        for cluster, count in zip(clusters.tolist(), events.tolist(), strict=True):
            self.accessed(view, cluster, float(count))

    @hook(
        Phase.MAINTAIN,
        reads=(PRINTED_TERRITORY, PRINTED_CALCIUM, PRINTED_CALCIUM_CLOCK),
        adds=(),
        sets=(RELEASE_PROBABILITY,),
    )
    def modulate(self, view: Any, tick: Tick) -> None:
        p = self.params
        level = view.printed_calcium * np.exp(
            -self.hours("decay") * np.maximum(tick.end - view.printed_calcium_clock, 0.0)
        )
        # 32 clusters
        factor = np.array([modulation(x, p.low, p.high, p.boost, p.cut) for x in level])
        np.take(factor, view.printed_territory, out=view.release_probability)
        view.release_probability[view.printed_territory < 0] = 1.0
