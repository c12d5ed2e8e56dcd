"""Short-term plasticity as Cortex 4.4.5 prints it: u and x jump at each use, and do not recover
between uses.

u rises to 1 and x falls to 0 with the number of uses, whatever their rate: at its fifth use a
memory passes on a five-hundredth of what it did at the first, and less with each further use,
permanently.

Cost: O(1) per use; O(n) per query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import RECALLED, RELEASE_PROBABILITY, REPLAYED, RESOURCES, ROW

# --- columns --------------------------------------------------------------------------------------
UTILISATION_PRINTED = Column(
    "utilisation_printed",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "u after all uses so far",
    low=0,
    high=1,
)
DEPLETION_PRINTED = Column(
    "depletion_printed",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "1 - x after all uses so far",
    low=0,
    high=1,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def spike(u: float, x: float, baseline: float) -> tuple[float, float, float]:
    """u_new = u + U (1 - u), x_new = x - u_new x; returns both and the release, u_new x.  Cortex
    4.4.5.  Cost: O(1).

    u, x      1  utilisation and resources before
    baseline  1  U

    >>> spike(0.0, 1.0, 0.5)
    (0.5, 0.5, 0.5)
    """
    u += baseline * (1.0 - u)
    return u, x - u * x, u * x


@kernel
def use(rows: Any, baseline: float, release: Any, utilisation: Any, depletion: Any) -> None:
    """Use memories, one after the other; -1: none.  Cost: O(q).

    rows                    (q,)
    release                 (n,)  factor on U
    utilisation, depletion  (n,)  u and 1 - x; written
    """
    for row in rows:
        if row >= 0:
            u, x, _ = spike(
                utilisation[row], 1.0 - depletion[row], min(baseline * release[row], 1.0)
            )
            utilisation[row], depletion[row] = u, 1.0 - x


@kernel
def resources(baseline: float, release: Any, utilisation: Any, depletion: Any, out: Any) -> None:
    """Release of the next use, relative to the first; written into out (n,).  Others as for
    `use`.  Cost: O(n).
    """
    for row in range(out.shape[0]):
        aim = baseline * release[row]
        out[row] = (
            spike(utilisation[row], 1.0 - depletion[row], min(aim, 1.0))[2] / aim
            if aim > 0.0
            else 1.0
        )


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ShortTermPlasticityPrintedParams(Params):
    baseline: float  # U


class ShortTermPlasticityPrinted(Mechanism[ShortTermPlasticityPrintedParams]):
    owns = (UTILISATION_PRINTED, DEPLETION_PRINTED)

    def _use(self, view: Any, rows: Any) -> None:
        use(
            rows,
            self.params.baseline,
            view.release_probability,
            view.utilisation_printed,
            view.depletion_printed,
        )

    @hook(
        Phase.ENCODE,
        reads=(ROW, RELEASE_PROBABILITY),
        adds=(),
        sets=(UTILISATION_PRINTED, DEPLETION_PRINTED),
    )
    def encode(self, view: Any, incoming: Incoming) -> None:
        self._use(view, np.array([view.row]))

    @hook(
        Phase.CONSOLIDATE,
        reads=(REPLAYED, RELEASE_PROBABILITY),
        adds=(),
        sets=(UTILISATION_PRINTED, DEPLETION_PRINTED),
    )
    def sleep(self, view: Any, tick: Tick) -> None:
        self._use(view, view.replayed.ravel())

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, RELEASE_PROBABILITY),
        adds=(),
        sets=(UTILISATION_PRINTED, DEPLETION_PRINTED),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        self._use(view, view.recalled)

    @hook(
        Phase.RETRIEVE,
        reads=(RELEASE_PROBABILITY, UTILISATION_PRINTED, DEPLETION_PRINTED),
        adds=(),
        sets=(RESOURCES,),
    )
    def supply(self, view: Any, cue: Cue) -> None:
        resources(
            self.params.baseline,
            view.release_probability,
            view.utilisation_printed,
            view.depletion_printed,
            view.resources,
        )
