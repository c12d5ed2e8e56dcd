"""Synaptic tagging as Cortex 4.2.4 prints it: an important memory raises, once, the weak ones of
the last 48 hours that share entities with it.

Importance rises by 0.25 times the overlap of the entities, heat is multiplied by 1.5.  There is no
tag that decays, no protein that is shared or used up, and no effect on a weak memory that comes
after the strong one.

Cost: per important event O(memories of its entities in the window x
entities^2); per maintain O(n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import ARRIVED, GRAPH, LOG_STRENGTH, ROW, SALIENCE
from ...engine.state.graph import EdgeType

# --- columns --------------------------------------------------------------------------------------
PRINTED_IMPORTANCE = Column(
    "printed_importance",
    np.float64,
    Scope.MEMORY,
    "1",
    0.5,
    "importance: salience, and what tagging added",
    low=0,
    high=1,
    upkeep=Upkeep(anywhere=True),
)
PRINTED_TAGGING_HEAT = Column(
    "printed_tagging_heat",
    np.float64,
    Scope.MEMORY,
    "1",
    1.0,
    "factor on heat from tagging; 1: never raised",
    low=1,
    upkeep=Upkeep(anywhere=True),
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def overlap(shared: int, a: int, b: int) -> float:
    """|A n B| / min(|A|, |B|), the coefficient of Szymkiewicz and Simpson.  Cost: O(1).

    >>> overlap(1, 2, 5)
    0.5
    """
    return shared / min(a, b)


@kernel
def lift(
    row: int,
    strong: float,
    weak: float,
    window: float,
    gain: float,
    factor: float,
    start: Any,
    degree: Any,
    pool: Any,
    target: Any,
    created: Any,
    importance: Any,
    heat: Any,
) -> int:
    """Raise every weak memory of the window that shares an entity with an important new one;
    returns their number.  Cortex 4.2.4, as printed.

    row, strong, weak           the new memory; importance above which it raises others, below which
                                others are raised
    window                h     longest time before the new memory
    gain, factor          1     importance += gain overlap; heat *= factor
    start, degree, pool, target links of the graph, oldest first; entities are negative nodes
    created, importance, heat   (n,)  h, 1, 1; the last two written

    Cost: O(memories of its entities in the window x entities^2).
    """
    lifted = 0
    if importance[row] <= strong:
        return lifted
    mine = pool[start[row] : start[row] + degree[row]]
    for k in range(mine.shape[0]):
        entity = target[mine[k]]
        for place in range(start[entity] + degree[entity] - 1, start[entity] - 1, -1):
            other = target[pool[place]]
            if other >= row:
                continue
            if created[row] - created[other] > window:
                break
            if importance[other] < weak:
                shared, earlier = 0, False
                for theirs in pool[start[other] : start[other] + degree[other]]:
                    for j in range(mine.shape[0]):
                        if target[theirs] == target[mine[j]]:
                            shared += 1
                            earlier = earlier or j < k
                # found through its first shared entity: raised once
                if not earlier:
                    importance[other] = min(
                        1.0,
                        importance[other] + gain * overlap(shared, mine.shape[0], degree[other]),
                    )
                    heat[other] *= factor
                    lifted += 1
    return lifted


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SynapticTaggingPrintedParams(Params):
    strong: float
    weak: float
    window: float
    gain: float
    heat_factor: float


class SynapticTaggingPrinted(Mechanism[SynapticTaggingPrintedParams]):
    owns = (PRINTED_IMPORTANCE, PRINTED_TAGGING_HEAT)

    @hook(
        Phase.ENCODE,
        reads=(ROW, ARRIVED, SALIENCE, GRAPH),
        adds=(),
        sets=(PRINTED_IMPORTANCE, PRINTED_TAGGING_HEAT),
    )
    def encode(self, view: Any, incoming: Incoming) -> None:
        p, links = self.params, view.graph.csr(EdgeType.ENTITY)
        view.printed_importance[view.row] = view.salience
        lift(
            view.row,
            p.strong,
            p.weak,
            self.hours("window"),
            p.gain,
            p.heat_factor,
            links.start,
            links.degree,
            links.pool,
            view.graph.target,
            view.arrived,
            view.printed_importance,
            view.printed_tagging_heat,
        )

    @hook(Phase.MAINTAIN, reads=(PRINTED_TAGGING_HEAT,), adds=(LOG_STRENGTH,), sets=())
    def strengthen(self, view: Any, tick: Tick) -> None:
        np.log(view.printed_tagging_heat, out=view.log_strength)
