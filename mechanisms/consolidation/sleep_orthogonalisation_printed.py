"""Sleep orthogonalisation as Cortex 4.4.10 prints it: pushes interfering embeddings apart by 0.15
of their projection per step.

Each of a pair loses 0.15 of its projection on the other, night after night, until they are
orthogonal; nothing keeps a code close to what it was. The source changes the vectors that are
searched; here a separate small code is changed, so that it can be compared.

Cost: O(p d) per event; per sleep O(n k p) for k rivals, and one search, O(n d), for each of at most
`newest` new memories; O(n p) per query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import EMBEDDING, INDEX, KIND, ROW, SLEEP_SHARE
from ..shared.codes import codes
from ..shared.rows import events

# --- columns --------------------------------------------------------------------------------------
PUSHED_CODE = Column(
    "pushed_code",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "small code, pushed away from its rivals; unit length",
    ("code",),
)
PUSHED_RIVALS = Column(
    "pushed_rivals",
    np.int32,
    Scope.MEMORY,
    "1",
    -1,
    "earlier memories that interfere; -1: no more",
    ("rivals",),
    low=-1,
)
PUSHED_SEARCHED = Column(
    "pushed_searched",
    np.int64,
    Scope.GLOBAL,
    "1",
    0,
    "memories whose rivals have been searched for",
    low=0,
)
PUSHED = signal(
    "pushed",
    Facet.MEANING,
    "cosine of the cue's small code with the memory's pushed code; silent before the first sleep",
    scale=Scale.SIMILARITY,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def push(one: Any, other: Any, rate: float) -> None:
    """a <- a - rate (a.b) b and b <- b - rate (a.b) a, then normalised.  Cortex 4.4.10,
    projection-based separation.  Cost: O(p).

    one, other  (p,)  1  unit length; written
    rate        ()    1  0.15

    >>> a, b = np.array([1.0, 0.0]), np.array([0.6, 0.8])
    >>> push(a, b, 0.15)
    >>> round(float(a @ b), 4)
    0.472
    """
    dot = squares_one = squares_other = 0.0
    for d in range(one.shape[0]):
        dot += one[d] * other[d]
    for d in range(one.shape[0]):
        a, b = one[d] - rate * dot * other[d], other[d] - rate * dot * one[d]
        one[d], other[d] = a, b
        squares_one, squares_other = squares_one + a * a, squares_other + b * b
    for d in range(one.shape[0]):
        one[d] /= math.sqrt(squares_one)
        other[d] /= math.sqrt(squares_other)


@kernel
def push_all(rivals: Any, rate: float, w: Any) -> None:
    """One step for every pair, in the order of rows.  Cost: O(n k p).

    rivals  (n, k)        earlier rows; -1: no more
    w       (n, p)  1     codes, written
    """
    for row in range(rivals.shape[0]):
        for other in rivals[row]:
            if other >= 0:
                push(w[row], w[other], rate)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SleepOrthogonalisationPrintedParams(Params):
    code: int
    projection_seed: int
    interferes: float
    rivals: int
    newest: int
    rate: float
    weight: float


class SleepOrthogonalisationPrinted(Mechanism[SleepOrthogonalisationPrintedParams]):
    owns = (PUSHED_CODE, PUSHED_RIVALS, PUSHED_SEARCHED, PUSHED)

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(PUSHED_CODE,))
    def store(self, view: Any, incoming: Incoming) -> None:
        view.pushed_code[view.row] = self._codes(incoming.vector)

    @hook(
        Phase.CONSOLIDATE,
        reads=(INDEX, EMBEDDING, SLEEP_SHARE, KIND),
        adds=(),
        sets=(PUSHED_CODE, PUSHED_RIVALS, PUSHED_SEARCHED),
    )
    def dream(self, view: Any, tick: Tick) -> None:
        """One step per full night; for a shorter sleep, that share of a step."""
        p, stored = self.params, events(view.kind)
        for row in stored[stored >= view.pushed_searched][: p.newest].tolist():
            near, likeness = view.index.search(view.embedding[row], 2 * p.rivals + 1)
            earlier = near[(near < row) & (likeness > p.interferes) & (view.kind[near] == 0)][
                : p.rivals
            ]
            view.pushed_rivals[row, : len(earlier)] = earlier
            view.pushed_searched = row + 1
        push_all(view.pushed_rivals, min(1.0, p.rate * view.sleep_share), view.pushed_code)

    @hook(Phase.RETRIEVE, reads=(PUSHED_CODE, PUSHED_SEARCHED), adds=(), sets=(PUSHED,))
    def compare(self, view: Any, cue: Cue) -> None:
        if view.pushed_searched:
            np.matmul(view.pushed_code, self._codes(cue.vector), out=view.pushed)

    def _codes(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        code: NDArray[np.float32] = codes(
            vector[None], self.params.projection_seed, self.params.code
        )[0]
        return code
