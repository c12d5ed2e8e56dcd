"""BM25 over stems plus cosine similarity of embeddings, in equal parts: a baseline that shares no code with the engine.

BM25: Robertson & Zaragoza (2009), The probabilistic relevance framework, doi:10.1561/1500000019, with k1 = 1.2, b = 0.75 and the idf
ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative.  The sum is the convex combination of min-max normalised scores of Bruch, Gai &
Ingber (2023), doi:10.1145/3596512, with weight 1/2.
"""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import Stemmer

from ...engine.ports.embedder import Embedder
from ...engine.records import Event, Query
from .base import Capability, Hit, Hits

K1, B = 1.2, 0.75
_WORD = re.compile(r"\w+")


class BM25Dense:
    """Every event is kept; nothing changes with time or recall.  Cost: O(n) of encoded events per query."""

    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, embedder: Embedder, seed: int) -> None:
        self._embedder, self._stem = embedder, Stemmer.Stemmer("english").stemWords
        self._events: list[Event] = []
        self._counts: list[Counter[str]] = []       # stem -> occurrences, by event
        self._vectors = np.empty((0, embedder.dimensions), np.float32)

    def _stems(self, text: str) -> list[str]:
        return list(self._stem(_WORD.findall(text.lower())))

    def encode(self, events: Sequence[Event]) -> None:
        texts = [event.rendered() for event in events]
        self._events += events
        self._counts += [Counter(self._stems(text)) for text in texts]
        self._vectors = np.concatenate([self._vectors, self._embedder.embed(texts)])

    def advance(self, time: float) -> None:
        pass

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Hits:
        if not self._events:
            return Hits(())
        scores = 0.5 * _unit_range(self._bm25(query.text)) + 0.5 * _unit_range(self._vectors @ self._embedder.embed([query.text])[0])
        best = np.argsort(-scores, kind="stable")[:k].tolist()
        return Hits(tuple(Hit(self._events[i].id, float(scores[i]), self._events[i].text) for i in best))

    def _bm25(self, text: str) -> Any:
        lengths = np.array([count.total() for count in self._counts], float)
        scores, share = np.zeros(len(lengths)), lengths / max(lengths.mean(), 1.0)
        for stem in dict.fromkeys(self._stems(text)):
            tf = np.array([count[stem] for count in self._counts], float)
            n = np.count_nonzero(tf)
            scores += np.log1p((len(tf) - n + 0.5) / (n + 0.5)) * tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * share))
        return scores

    def close(self) -> None:
        pass


def _unit_range(scores: Any) -> Any:
    """The scores (n,) moved and scaled to [0, 1]; zeros if all are equal."""
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros(len(scores))
