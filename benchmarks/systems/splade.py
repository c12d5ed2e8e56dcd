"""Learned sparse vectors alone: every event and question as words with weights (SPLADE), ranked by
their dot product.  A baseline that shares no code with the engine but the encoder.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import vstack

from ...engine.contract.records import Event, Query
from ...engine.ports.embedder import Embedder
from ...engine.ports.splade import SpladeEncoder
from .base import Capability, Retrieved, RetrievedEvent


class Splade:
    """Every event is kept; nothing changes with time or recall.  Needs the extra `splade`.  Cost:
    O(n) of encoded events per query.
    """

    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, embedder: Embedder, seed: int) -> None:
        self._encoder, self._events = SpladeEncoder(), list[Event]()
        self._vectors = self._encoder.encode([])

    def encode(self, events: Sequence[Event]) -> None:
        self._events += events
        new = self._encoder.encode([event.rendered() for event in events])
        self._vectors = vstack([self._vectors, new], format="csr")

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        scores = (self._vectors @ self._encoder.encode([query.text]).T).toarray().ravel()
        best = [(self._events[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")[:k]]
        return Retrieved(
            tuple(RetrievedEvent(event.id, score, event.text) for event, score in best)
        )

    def advance(self, time: float) -> None: ...

    def close(self) -> None: ...
