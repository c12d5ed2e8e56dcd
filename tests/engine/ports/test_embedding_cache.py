"""What the cache of embeddings keeps in the process: which values are dropped, and what that
costs.
"""

from __future__ import annotations

import sqlite3
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.ports import embedding_cache
from hebbarium.engine.ports.embedder import HashingEmbedder, Vectors
from hebbarium.engine.ports.embedding_cache import CachedEmbedder, metered


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


def test_a_miss_copies_no_keys_of_a_full_memo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of 4,096 keys would take 32,768 bytes."""
    monkeypatch.setattr(embedding_cache, "MEMO", 4096)
    cached = CachedEmbedder(HashingEmbedder(8), tmp_path / "c.sqlite")
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


def test_without_a_file_the_process_keeps_all_values_and_asks_no_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And they are those that a file gives back, token vectors too."""
    texts = [f"text {i} of a memory" for i in range(300)]
    stored = CachedEmbedder(HashingEmbedder(8), tmp_path / "c.sqlite")
    stored.embed_tokens(texts)
    read = CachedEmbedder(HashingEmbedder(8), tmp_path / "c.sqlite").embed_tokens(texts)
    monkeypatch.setattr(embedding_cache, "MEMO", 10)
    monkeypatch.setattr(embedding_cache, "TOKEN_MEMO", 10)
    monkeypatch.setattr(sqlite3, "connect", None)  # a call would raise TypeError
    cached = CachedEmbedder(HashingEmbedder(8), None)
    cached.embed(texts)
    tokens = cached.embed_tokens(texts)
    assert cached.misses == 600
    assert np.array_equal(cached.embed(texts), HashingEmbedder(8).embed(texts))
    for field in ("codes", "scales", "offsets", "spans"):
        kept = getattr(cached.embed_tokens(texts), field)
        assert np.array_equal(kept, getattr(read, field))
        assert np.array_equal(kept, getattr(tokens, field))
    assert cached.misses == 600


def test_an_interrupted_batch_without_a_file_keeps_its_finished_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = HashingEmbedder(8)
    embed, chunks = source.embed, list[int]()

    def breaks(texts: Sequence[str]) -> Vectors:
        chunks.append(len(texts))
        if len(chunks) == 3:
            raise KeyboardInterrupt
        return embed(texts)

    monkeypatch.setattr(source, "embed", breaks)
    cached = CachedEmbedder(source, None)
    texts = [f"t{i}" for i in range(1000)]
    with pytest.raises(KeyboardInterrupt):
        cached.embed(texts)
    cached.embed(texts)
    assert chunks == [256, 256, 256, 256, 232]


def test_a_metered_embedder_refuses_vectors_that_no_cache_has_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And gives copies: an embedder may use its array again."""
    source = HashingEmbedder(8)
    given = source.embed(["a", "b"])
    monkeypatch.setattr(source, "embed", lambda texts: given)
    embedder = metered(source)
    vectors = embedder.embed(["a", "b"])
    given[1] *= 2.0
    assert np.allclose(np.sum(vectors * vectors, axis=1), 1.0)
    with pytest.raises(InputError, match="no unit vector of 8 dimensions for 'b'"):
        embedder.embed(["a", "b"])
    assert embedder.texts == 4
