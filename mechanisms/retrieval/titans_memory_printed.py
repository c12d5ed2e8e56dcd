"""Titans memory as Cortex 4.3.2 prints it: computes S_t = eta S_{t-1} - theta grad L and M_t =
M_{t-1} - S_t, with fixed eta and theta.

S already contains the minus sign, so subtracting it raises the loss: the prediction of a repeated
event becomes worse each time, without bound.  The loss is the "embedding-space prediction error
between the new memory and the current memory state": the state is a point of the embedding space, M
k with the constant key 1; there are no other keys and no forgetting.

Cost: O(d) per event; O(n) per maintain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import LOG_STRENGTH, ROW

# --- columns --------------------------------------------------------------------------------------
TITANS_PRINTED_MATRIX = Column(
    "titans_printed_matrix",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "M, the memory state",
    ("dimensions", 1),
)
TITANS_PRINTED_MOMENTUM = Column(
    "titans_printed_momentum", np.float64, Scope.GLOBAL, "1", 0.0, "S", ("dimensions", 1)
)
TITANS_PRINTED_SURPRISE = Column(
    "titans_printed_surprise",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "|S| / (1 + |S|) at encoding",
    low=0,
    high=1,
)
KEY = np.ones(1)


# --- equations ------------------------------------------------------------------------------------
@kernel
def memorise(m: Any, s: Any, k: Any, v: Any, eta: float, theta: float) -> None:
    """S_t = eta S_{t-1} - theta grad L, M_t = M_{t-1} - S_t with grad L = 2 (M k - v) k^T.  Cortex
    4.3.2, exactly as printed.  Cost: O(d_v d_k).

    m, s     (d_v, d_k)      1  M and S; written
    k, v     (d_k,), (d_v,)  1  key and value
    eta      ()              1  momentum
    theta    ()              1  learning rate

    The same pair twice: M k moves away from v.

    >>> m, s = np.zeros((1, 1)), np.zeros((1, 1))
    >>> for _ in range(2):
    ...     memorise(m, s, np.ones(1), np.ones(1), 0.9, 0.01)
    ...     print(round(float(m[0, 0]), 9))
    -0.02
    -0.0584
    """
    for i in range(v.shape[0]):
        error = -v[i]
        for j in range(k.shape[0]):
            error += m[i, j] * k[j]
        for j in range(k.shape[0]):
            s[i, j] = eta * s[i, j] - theta * 2.0 * error * k[j]
            m[i, j] = m[i, j] - s[i, j]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TitansMemoryPrintedParams(Params):
    eta: float
    theta: float
    surprise_gain: float


class TitansMemoryPrinted(Mechanism[TitansMemoryPrintedParams]):
    owns = (TITANS_PRINTED_MATRIX, TITANS_PRINTED_MOMENTUM, TITANS_PRINTED_SURPRISE)

    @hook(
        Phase.ENCODE,
        reads=(ROW,),
        adds=(),
        sets=(TITANS_PRINTED_MATRIX, TITANS_PRINTED_MOMENTUM, TITANS_PRINTED_SURPRISE),
    )
    def learn(self, view: Any, incoming: Incoming) -> None:
        m, s = view.titans_printed_matrix, view.titans_printed_momentum
        memorise(m, s, KEY, incoming.vector, self.params.eta, self.params.theta)
        size = float(np.linalg.norm(s))
        view.titans_printed_surprise[view.row] = size / (1.0 + size)
        # the state has diverged and events are below its rounding error: rescale it before the
        # squares in its norm overflow
        if size > 1e120:
            m *= 1e-100
            s *= 1e-100

    @hook(Phase.MAINTAIN, reads=(TITANS_PRINTED_SURPRISE,), adds=(LOG_STRENGTH,), sets=())
    def strengthen(self, view: Any, tick: Tick) -> None:
        np.multiply(view.titans_printed_surprise, self.params.surprise_gain, out=view.log_strength)
