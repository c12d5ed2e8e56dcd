"""Microglial pruning as Cortex 4.4.6 prints it: removes associations that are weak, not recently
used and between cold memories.

"Threshold-based pruning rules: edges with low weight, no recent co-activation, and cold endpoints
are candidates for removal"; recent potentiation, many accesses and an explicit flag protect: an
event with an attribute `protected` other than no, false or 0.  There is no tag that builds up and
is removed again, no protector, and no randomness.  The source calls it a heuristic.

Cost: O(pairs) per event and recall; O(edges) per consolidation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import GRAPH, NOW, RECALLED, ROW
from ...engine.state.graph import EdgeType
from ..shared.coactivation import COACTIVATION

COACCESS: Final = int(EdgeType.COACCESS)

# --- columns --------------------------------------------------------------------------------------
PRINTED_EDGE_WEIGHT = Column(
    "printed_edge_weight",
    np.float64,
    Scope.EDGE,
    "1",
    0.0,
    "weight of the association: a gain for each co-activation",
    low=0,
    high=1,
)
PRINTED_COACTIVE = Column(
    "printed_coactive",
    np.float64,
    Scope.EDGE,
    "h",
    np.nan,
    "time of the last co-activation; NaN: none",
    upkeep=Upkeep(clock=True),
)
PRINTED_ACCESSES = Column(
    "printed_accesses",
    np.int32,
    Scope.MEMORY,
    "1",
    0,
    "how often the memory was active together with another",
    low=0,
    upkeep=Upkeep(anywhere=True),
)
PRINTED_TOUCHED = Column(
    "printed_touched",
    np.float64,
    Scope.MEMORY,
    "h",
    np.nan,
    "when it was last active together with another; NaN: never",
    upkeep=Upkeep(clock=True, anywhere=True),
)

PRINTED_PROTECTED = Column(
    "printed_protected",
    np.bool_,
    Scope.MEMORY,
    "1",
    False,
    "whether the event says that its associations are to be kept",
)
NO: Final = frozenset(("", "0", "false", "no"))  # values of the attribute that protect nothing


# --- equations ------------------------------------------------------------------------------------
@kernel
def prunable(
    weight: float,
    idle: float,
    heat_a: float,
    heat_b: float,
    accesses: int,
    weak: float,
    stale: float,
    cold: float,
    many: int,
) -> bool:
    """Whether an association is removed: weak, idle for long, both ends cold, and neither accessed
    often.  Cortex 4.4.6.  Cost: O(1).

    weight, weak          1  of the association, and the threshold below which it is weak
    idle, stale           h  since the last co-activation, which is also the last potentiation;
                             threshold
    heat_a, heat_b, cold  1  of both ends, and threshold
    accesses, many           larger number of the two ends, and the number from which it protects

    >>> prunable(0.05, 200.0, 0.0, 0.05, 1, 0.1, 168.0, 0.1, 5), prunable(0.05, 100.0, 0.0, 0.05, 1, 0.1, 168.0, 0.1, 5)
    (True, False)
    """
    return weight < weak and idle > stale and heat_a < cold and heat_b < cold and accesses < many


@kernel
def sweep(
    now: float,
    weak: float,
    stale: float,
    cold: float,
    many: int,
    half_life: float,
    type: Any,
    alive: Any,
    source: Any,
    target: Any,
    weight: Any,
    coactive: Any,
    accesses: Any,
    touched: Any,
    gone: Any,
) -> int:
    """Mark the edges to be removed in `gone` (m,) bool; their number.  Heat of a memory: 2^(-h
    since it was active / half_life).  Cost: O(m).
    """
    count = 0
    for e in range(type.shape[0]):
        if (
            alive[e]
            and type[e] == COACCESS
            and source[e] >= 0
            and target[e] >= 0
            and weight[e] < weak
            and now - coactive[e] > stale
        ):
            a, b = source[e], target[e]
            heat_a, heat_b = (
                2.0 ** ((touched[a] - now) / half_life),
                2.0 ** ((touched[b] - now) / half_life),
            )
            if prunable(
                weight[e],
                now - coactive[e],
                heat_a,
                heat_b,
                max(accesses[a], accesses[b]),
                weak,
                stale,
                cold,
                many,
            ):
                gone[e] = True
                count += 1
    return count


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class MicroglialPruningPrintedParams(Params):
    weak: float
    stale: float
    cold: float
    many: int
    gain: float
    half_life: float


class MicroglialPruningPrinted(Mechanism[MicroglialPruningPrintedParams]):
    owns = (PRINTED_EDGE_WEIGHT, PRINTED_COACTIVE, PRINTED_ACCESSES, PRINTED_TOUCHED,
            PRINTED_PROTECTED)  # fmt: skip

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(PRINTED_PROTECTED,))
    def protect(self, view: Any, incoming: Incoming) -> None:
        flags = [value for name, value in incoming.event.attributes if name == "protected"]
        view.printed_protected[view.row] = any(value.lower() not in NO for value in flags)

    def used(self, view: Any, now: float) -> None:
        for edge, row in zip(
            view.coactivation.edge.tolist(), view.coactivation.source.tolist(), strict=True
        ):
            view.printed_edge_weight[edge] = min(
                1.0, view.printed_edge_weight[edge] + self.params.gain
            )
            view.printed_coactive[edge] = view.printed_touched[row] = now
            view.printed_accesses[row] += 1

    @hook(
        Phase.ENCODE,
        reads=(COACTIVATION, NOW),
        adds=(),
        sets=(PRINTED_EDGE_WEIGHT, PRINTED_COACTIVE, PRINTED_ACCESSES, PRINTED_TOUCHED),
    )
    def encode(self, view: Any, incoming: Incoming) -> None:
        self.used(view, view.now)

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, COACTIVATION, NOW),
        adds=(),
        sets=(PRINTED_EDGE_WEIGHT, PRINTED_COACTIVE, PRINTED_ACCESSES, PRINTED_TOUCHED),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        self.used(view, view.now)

    @hook(
        Phase.CONSOLIDATE,
        reads=(COACTIVATION, PRINTED_PROTECTED),
        adds=(GRAPH,),
        sets=(PRINTED_EDGE_WEIGHT, PRINTED_COACTIVE, PRINTED_ACCESSES, PRINTED_TOUCHED),
    )
    def prune(self, view: Any, tick: Tick) -> None:
        p, g = self.params, view.graph
        self.used(view, tick.end)
        gone = np.zeros(g.n_edges, np.bool_)
        if sweep(
            tick.end,
            p.weak,
            self.hours("stale"),
            p.cold,
            p.many,
            self.hours("half_life"),
            g.type,
            g.alive,
            g.source,
            g.target,
            view.printed_edge_weight,
            view.printed_coactive,
            np.where(view.printed_protected, p.many, view.printed_accesses),
            view.printed_touched,
            gone,
        ):
            for edge in np.flatnonzero(gone):
                g.remove(int(edge))
