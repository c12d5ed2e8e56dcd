"""BM25 over stems plus cosine similarity of embeddings, in equal parts: a baseline that shares no
code with the engine.

BM25: Robertson & Zaragoza (2009), doi:10.1561/1500000019, k1 = 1.2, b = 0.75, idf ln(1 + (N - n +
0.5) / (n + 0.5)), which is never negative. Sum: convex combination of min-max normalised scores,
weight 1/2, of Bruch, Gai & Ingber (2023), doi:10.1145/3596512.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import Stemmer

from ...engine.contract.records import Event, Query
from ...engine.ports.embedder import Embedder
from .base import Capability, Retrieved, RetrievedEvent


class BM25Dense:
    """Every event is kept; nothing changes with time or recall.  Cost: O(n) of encoded events
    per query.
    """

    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, embedder: Embedder, seed: int) -> None:
        self._embedder, self._stem = embedder, Stemmer.Stemmer("english").stemWords
        self._events, self._stems, self._vectors = (
            list[Event](),
            list[Counter[str]](),
            np.empty((0, embedder.dimensions), np.float32),
        )

    def encode(self, events: Sequence[Event]) -> None:
        texts = [event.rendered() for event in events]
        self._events += events
        self._stems += map(self._counted, texts)
        self._vectors = np.concatenate([self._vectors, self._embedder.embed(texts)])

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        if not self._events:
            return Retrieved(())
        parts = self._bm25(query.text), self._vectors @ self._embedder.embed([query.text])[0]
        scores = sum(0.5 * (part - part.min()) / (np.ptp(part) or 1.0) for part in parts)
        best = [(self._events[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")[:k]]
        return Retrieved(
            tuple(RetrievedEvent(event.id, score, event.text) for event, score in best)
        )

    def advance(self, time: float) -> None: ...

    def close(self) -> None: ...

    def _counted(self, text: str) -> Counter[str]:
        return Counter(self._stem(re.findall(r"\w+", text.lower())))

    def _bm25(self, text: str) -> Any:
        lengths = np.array([counts.total() for counts in self._stems], float)
        tf = np.array(
            [[counts[stem] for counts in self._stems] for stem in self._counted(text)], float
        ).reshape(-1, len(lengths))
        n = np.count_nonzero(tf, axis=1, keepdims=True)
        length = 0.25 + 0.75 * (lengths / max(lengths.mean(), 1.0))
        return (
            np.log1p((len(lengths) - n + 0.5) / (n + 0.5)) * tf * 2.2 / (tf + 1.2 * length)
        ).sum(axis=0)
