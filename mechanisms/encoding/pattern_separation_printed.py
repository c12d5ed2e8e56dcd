"""Pattern separation as Cortex 4.4.2 prints it: subtracts half of the projections on similar
memories and keeps the largest 4 % of dimensions.

    e' = e - s sum_{i in I} proj_{e_i}(e),  s = 0.5,  I the memories with 0.75 < cos < 0.95,  then
                                                      all but the 4 % largest dimensions set to
                                                      zero.

There is no expansion and no competition among many cells, and the code of a memory depends on
earlier memories.  The source stores e' in place of the embedding; here e' has its own column and
the searched embedding does not change, so I is computed from the original embeddings.

Cost: O(n d) per event and per query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import copy, formula, kernel
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import DUPLICATE, EMBEDDING, ROW, VISIBLE
from ...engine.state.ranking import best

# --- columns --------------------------------------------------------------------------------------
SEPARATED_KEPT = Column(
    "separated_kept",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "vector after separation; 0 where set to zero",
    ("dimensions",),
)
SEPARATED_EVENT_KEPT = Column(
    "separated_event_kept",
    np.float32,
    Scope.EVENT,
    "1",
    0.0,
    "vector after separation of the current event",
    ("dimensions",),
)
SEPARATED = signal(
    "separated",
    Facet.MEANING,
    "cosine of the cue and the memory's vector after separation",
    scale=Scale.SIMILARITY,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def orthogonalised(
    e: Any, stored: Any, visible: Any, s: float, low: float, high: float, out: Any
) -> int:
    """e' = e - s sum_i proj_{e_i}(e) over the memories i with low < cos < high.  Cortex 4.4.2,
    exactly as printed.  Cost: O(n d).

    e         (d,)    the new memory, of length 1
    stored    (n, d)  embeddings e_i, of length 1
    visible   (n,)    bool
    s         ()   1  separation strength
    low, high ()   1  interference and identity thresholds
    out       (d,)    e', written
    returns           row of the most similar memory at or above the identity threshold, -1 if there
                      is none

    >>> out = np.empty(2)
    >>> orthogonalised(np.array([1.0, 0.0]), np.array([[0.8, 0.6]]), np.array([True]), 0.5, 0.75, 0.95, out), out.round(6).tolist()
    (-1, [0.68, -0.24])
    """
    same, most = -1, high
    copy(e, out)
    for i in range(stored.shape[0]):
        if not visible[i]:
            continue
        cosine = 0.0
        for j in range(e.shape[0]):
            cosine += e[j] * stored[i, j]
        if cosine >= most:
            same, most = i, cosine
        elif low < cosine < high:
            for j in range(e.shape[0]):
                out[j] -= s * cosine * stored[i, j]
    return same


@formula
def winners(h: Any, k: int) -> Any:
    """The k dimensions with the largest |h|, lower numbers first among equals; sorted ascending.
    Cost: O(d).

    >>> winners(np.array([0.1, -0.9, 0.5]), 2).tolist()
    [1, 2]
    """
    rows = best(np.abs(h), np.ones(h.shape[0], dtype=np.bool_), k)
    rows.sort()
    return rows


@formula
def sparsified(e: Any, share: float, out: Any) -> None:
    """Keep the given share of dimensions with the largest |e|; set the others to zero.  Cortex
    4.4.2.  Cost: O(d).

    e, out  (d,);  share  ()  1  of dimensions kept; at least one is kept

    >>> out = np.empty(4)
    >>> sparsified(np.array([0.1, -0.9, 0.5, 0.2]), 0.5, out)
    >>> out.tolist()
    [0.0, -0.9, 0.5, 0.0]
    """
    out[:] = 0.0
    for j in winners(e, max(int(np.round(share * e.shape[0])), 1)):
        out[j] = e[j]


@kernel
def cosines(kept: Any, visible: Any, cue: Any, out: Any) -> None:
    """Cosine of each kept vector with the cue; zero vectors get no value.  Cost: O(n d).

    kept  (n, d);  visible  (n,)  bool;  cue  (d,);  out  (n,)  1  written

    >>> out = np.full(1, np.nan)
    >>> cosines(np.array([[0.0, 2.0]]), np.array([True]), np.array([0.8, 0.6]), out)
    >>> out.round(6).tolist()
    [0.6]
    """
    length = 0.0
    for j in range(cue.shape[0]):
        length += cue[j] * cue[j]
    for i in range(kept.shape[0]):
        if visible[i]:
            dot, own = 0.0, 0.0
            for j in range(cue.shape[0]):
                if kept[i, j] != 0.0:
                    dot += kept[i, j] * cue[j]
                    own += kept[i, j] * kept[i, j]
            if own > 0.0 and length > 0.0:
                out[i] = dot / np.sqrt(own * length)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class PatternSeparationPrintedParams(Params):
    strength: float  # s
    interference: float
    identity: float
    kept_share: float
    weight: float


class PatternSeparationPrinted(Mechanism[PatternSeparationPrintedParams]):
    owns = (SEPARATED_KEPT, SEPARATED_EVENT_KEPT, SEPARATED)

    @hook(
        Phase.ENCODE,
        reads=(EMBEDDING.before, VISIBLE.before),
        adds=(),
        sets=(DUPLICATE, SEPARATED_EVENT_KEPT),
    )
    def separate(self, view: Any, incoming: Incoming) -> None:
        p, left = self.params, np.empty(incoming.vector.size)
        view.duplicate = orthogonalised(
            incoming.vector,
            view.embedding,
            view.visible,
            p.strength,
            p.interference,
            p.identity,
            left,
        )
        sparsified(left, p.kept_share, view.separated_event_kept)

    @hook(Phase.ENCODE, reads=(ROW, SEPARATED_EVENT_KEPT), adds=(), sets=(SEPARATED_KEPT,))
    def store(self, view: Any, incoming: Incoming) -> None:
        view.separated_kept[view.row] = view.separated_event_kept

    @hook(Phase.RETRIEVE, reads=(SEPARATED_KEPT, VISIBLE), adds=(), sets=(SEPARATED,))
    def compare(self, view: Any, cue: Cue) -> None:
        cosines(view.separated_kept, view.visible, cue.vector, view.separated)
