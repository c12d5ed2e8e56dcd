"""Systems transfer as Cortex 4.2.3 prints it: each replay lowers a memory's hippocampal dependency,
by a smaller amount every time.

    h <- h - s r / sqrt(n)      r = 0.02, n-th replay, s = 1 to 2.5 by the fit with a schema

There is one number and no cortical trace: nothing is learnt, nothing decays, and time does not
enter.  The sum does not converge, so h is cut off at 0: half of it is gone after 175 replays, nine
tenths after 540.

Cost: O(n + replays) per consolidation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import CONGRUENCY, HIPPOCAMPAL_DEPENDENCE, REPLAYS

# --- columns --------------------------------------------------------------------------------------
PRINTED_DEPENDENCY_REPLAYS = Column(
    "printed_dependency_replays",
    np.int32,
    Scope.MEMORY,
    "1",
    0,
    "replays of the memory so far",
    low=0,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def lowered(h: float, done: int, times: int, r: float, factor: float, match: float) -> float:
    """h after more replays: h_n = max(0, h_{n-1} - s r / sqrt(n)) with s = 1 + (factor - 1) match.
    Cortex 4.2.3, as printed.  Cost: O(times).

    done, times  ()  1  replays before, and now
    r            ()  1  transfer rate
    factor       ()  1  acceleration at a perfect fit
    match        ()  1  fit with a schema

    >>> round(lowered(1.0, 0, 3, 0.02, 2.5, 0.0), 4), lowered(0.01, 0, 1, 0.02, 2.5, 0.0)
    (0.9543, 0.0)
    """
    speed = 1.0 + (factor - 1.0) * match
    for n in range(done + 1, done + times + 1):
        h -= speed * r / math.sqrt(n)
    return max(0.0, h)


@kernel
def transferred(
    replays: Any, r: float, factor: float, congruency: Any, dependency: Any, count: Any
) -> None:
    """Dependency of every memory after a sleep.  Cost: O(n + replays).

    replays, congruency  (n,)  1  of this sleep; fit with a schema
    dependency, count    (n,)  1  written
    """
    for i in range(replays.shape[0]):
        if replays[i] > 0:
            dependency[i] = lowered(dependency[i], count[i], replays[i], r, factor, congruency[i])
            count[i] += replays[i]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SystemsTransferPrintedParams(Params):
    rate: float  # r
    schema_factor: float


class SystemsTransferPrinted(Mechanism[SystemsTransferPrintedParams]):
    owns = (PRINTED_DEPENDENCY_REPLAYS,)

    @hook(
        Phase.CONSOLIDATE,
        reads=(REPLAYS, CONGRUENCY),
        adds=(),
        sets=(HIPPOCAMPAL_DEPENDENCE, PRINTED_DEPENDENCY_REPLAYS),
    )
    def sleep(self, view: Any, tick: Tick) -> None:
        transferred(
            view.replays,
            self.params.rate,
            self.params.schema_factor,
            view.congruency,
            view.hippocampal_dependence,
            view.printed_dependency_replays,
        )
