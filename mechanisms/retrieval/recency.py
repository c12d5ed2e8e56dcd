"""Recency: computes an exponential decay of each memory since its last encoding or recall.

It is the fifth signal of the Cortex read path (section 3.3), and a prior, not a match: it scores
every memory on every query, so its weight is small.  (Human forgetting follows a power law; see
base_level_activation.)

Cost: O(n) per query, O(k) per recall of k memories.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import formula
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, Upkeep, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import CREATED, NOW, RECALLED, ROW

# --- columns --------------------------------------------------------------------------------------
LAST_ACCESS = Column(
    "last_access",
    np.float64,
    Scope.MEMORY,
    "h",
    0.0,
    "when it happened, or was last recalled",
    upkeep=Upkeep(clock=True),
)
RECENCY = signal(
    "recency",
    Facet.TIME,
    "1 at the last access, halved after every half-life",
    direct=False,
    scale=Scale.SIMILARITY,
)


# --- equations ------------------------------------------------------------------------------------
@formula
def recency(now: float, last_access: Any, tau: float, out: Any) -> None:
    """r = exp(-(t - t_last) / tau).

    now          ()    h  t
    last_access  (n,)  h  t_last of each memory
    tau          ()    h  half-life / ln 2
    out          (n,)  1  written, in [0, 1]
    O(n).

    >>> out = np.empty(2)
    >>> recency(48.0, np.array([48.0, 24.0]), 24.0 / np.log(2.0), out)
    >>> out.round(12).tolist()
    [1.0, 0.5]
    """
    out[...] = np.exp(-np.maximum(now - last_access, 0.0) / tau)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RecencyParams(Params):
    half_life: float  # of the signal after an access
    weight: float  # trust in the fused ranking


class Recency(Mechanism[RecencyParams]):
    owns = (LAST_ACCESS, RECENCY)

    @hook(Phase.ENCODE, reads=(NOW, ROW, CREATED), adds=(), sets=(LAST_ACCESS,))
    def met(self, view: Any, incoming: Incoming) -> None:
        # of a late event, its own time
        view.last_access[view.row] = min(view.created[view.row], view.now)

    @hook(Phase.RETRIEVE, reads=(NOW, LAST_ACCESS.before), adds=(), sets=(RECENCY,))
    def score(self, view: Any, cue: Cue) -> None:
        recency(view.now, view.last_access, self.hours("half_life") / math.log(2.0), view.recency)

    @hook(Phase.RETRIEVE, reads=(NOW, RECALLED), adds=(), sets=(LAST_ACCESS,))
    def recalled(self, view: Any, cue: Cue) -> None:
        view.last_access[view.recalled] = view.now
