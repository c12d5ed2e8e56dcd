"""What the cache of embeddings keeps in the process: which values are dropped, and what that
costs.
"""

from __future__ import annotations

import tracemalloc
from random import Random

import numpy as np
import pytest

from hebbarium.engine.ports import embedding_cache
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder


def test_the_oldest_values_are_dropped_until_the_rest_fits() -> None:
    """As in a list of pairs; of values of many sizes, some of which are more than everything
    that is kept.
    """
    chance, cached = Random(0), CachedEmbedder(HashingEmbedder(8), None)._tokens
    cached.size, cached.most = len, 40  # type: ignore[assignment, arg-type]
    kept: list[tuple[bytes, bytes]] = []
    for round in range(300):
        values = {
            b"%d %d" % (round, i): bytes(chance.choice([0, 1, 5, 9, 30, 70]))
            for i in range(chance.randrange(4))
        }
        cached._remember(values)  # type: ignore[arg-type]
        kept += values.items()
        while sum(len(value) for _, value in kept) > 40:
            kept.pop(0)
        assert list(cached.memo.items()) == kept and cached.held == sum(
            len(value) for _, value in kept
        )


def test_a_miss_copies_no_keys_of_a_full_memo(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of 4,096 keys would take 32,768 bytes."""
    monkeypatch.setattr(embedding_cache, "MEMO", 4096)
    cached = CachedEmbedder(HashingEmbedder(8), None)
    cached.embed([f"text {i}" for i in range(5000)])
    memo = cached._vectors
    assert len(memo.memo) == memo.held == 4096
    value = np.zeros(8, np.float32)
    tracemalloc.start()
    try:
        memo._remember({b"one more": value})
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 16_384 and len(memo.memo) == memo.held == 4096 and memo.memo[b"one more"] is value
