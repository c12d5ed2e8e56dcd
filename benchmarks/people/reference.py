"""A published model beside the memories: context maintenance and retrieval (CMR), with explicit
vectors.  It is a reference for `hebbarium human`, and no mechanism.

Polyn, Norman & Kahana (2009), https://doi.org/10.1037/a0014420: temporal part, without sources.
Items are orthonormal; each changes the context, t = rho t + beta t_in, and is bound to it in both
directions, context to item with the primacy gradient phi_i = phi_s exp(-phi_d (i - 1)) + 1.  Its
numbers are those of the paper's fit to immediate free recall as second-hand sources give them, not
read in the paper; the readout is fitted as for every memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.records import Event, Query
from ..systems.base import Capability, Retrieved, RetrievedEvent

BETA_ENCODING: Final = 0.78
BETA_RECALL: Final = 0.51
GAMMA: Final = 0.90  # share of new associations in item to context
PHI_S: Final = 1.07
PHI_D: Final = 0.98
MOST_ITEMS: Final = 512


def drifted(context: NDArray[np.float64], entering: NDArray[np.float64], beta: float) -> Any:
    """rho t + beta t_in, with rho so that the length stays 1; both of length 1.

    >>> drifted(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 0.6).tolist()
    [0.8, 0.6]
    """
    dot = float(context @ entering)
    rho = math.sqrt(1.0 + beta**2 * (dot**2 - 1.0)) - beta * dot
    return rho * context + beta * entering


class ReferenceCMR:
    """CMR behind the port of systems: a list is a session, a recall is a use.

    The support of an item is its bound context times the present one.  A question's text is not
    read: the last use has already moved the context.
    """

    def __init__(self, embedder: Any = None, seed: int = 0) -> None:
        self.capabilities = frozenset({Capability.LEARNS, Capability.RANKS_ALL})
        self._events: list[Event] = []
        size = 2 * MOST_ITEMS + 1
        self._bound = np.zeros((0, size))  # contexts to items
        self._studied = np.zeros((0, size))  # items to contexts
        self._context = np.zeros(size)
        self._context[-1] = 1.0
        self._session, self._place, self._lists = "", 0, 0

    def encode(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.session != self._session:
                self._session, self._place = event.session, 0
                self._shift()
            row = len(self._events)
            self._context = drifted(self._context, self._own(row), BETA_ENCODING)
            gain = PHI_S * math.exp(-PHI_D * self._place) + 1.0
            self._bound = np.vstack([self._bound, gain * self._context])
            self._studied = np.vstack([self._studied, self._context])
            self._events.append(event)
            self._place += 1

    def _own(self, row: int) -> NDArray[np.float64]:
        own: NDArray[np.float64] = np.eye(1, len(self._context), row % MOST_ITEMS)[0]
        return own

    def _shift(self) -> None:
        """Between lists the context drifts to a direction of its own."""
        fresh = np.eye(1, len(self._context), MOST_ITEMS + self._lists % MOST_ITEMS)[0]
        self._lists += 1
        self._context = drifted(self._context, fresh, BETA_ENCODING)

    def advance(self, time: float) -> None: ...

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        support = self._bound @ self._context
        best = np.argsort(-support, kind="stable")[:k]
        events = tuple(
            RetrievedEvent(self._events[row].id, float(support[row]), self._events[row].text)
            for row in best
        )
        return Retrieved(events)

    def use(self, answer: Retrieved, ids: Sequence[str]) -> None:
        for row in (i for i, event in enumerate(self._events) if event.id in ids):
            entering = (1.0 - GAMMA) * self._own(row) + GAMMA * self._studied[row]
            self._context = drifted(self._context, entering / np.linalg.norm(entering), BETA_RECALL)

    def close(self) -> None: ...
