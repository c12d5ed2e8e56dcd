"""Embeddings cut to their first dimensions."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence

import numpy as np
import pytest

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.ports.by_name import embedder, papers_behind
from hebbarium.engine.ports.embedder import HashingEmbedder, Vectors
from hebbarium.engine.ports.shortened import ShortenedEmbedder

TEXTS = ["a wet dog", "rain in Oslo", ""]


def test_vectors_are_cut_and_unit_vectors_again() -> None:
    whole, short = HashingEmbedder(64).embed(TEXTS), embedder("hashing:64@16")
    found = short.embed(TEXTS)
    expected = whole[:, :16].astype(np.float64)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert (short.name, short.dimensions, found.dtype) == ("hashing@16", 16, np.float32)
    assert (
        papers_behind("minilm@256") == papers_behind("minilm")
        and embedder("minilm@256").dimensions == 256
    )


def test_a_vector_that_is_zero_there_becomes_the_first_axis() -> None:
    class Last(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            found = np.zeros((len(texts), self.dimensions), np.float32)
            found[:, -1] = 1.0
            return found

    assert ShortenedEmbedder(Last(8), 4).embed(["x"]).tolist() == [[1.0, 0.0, 0.0, 0.0]]


def test_a_copy_embeds_the_same_and_what_is_missing_is_an_error() -> None:
    short = embedder("hashing:64@16").embedder
    # of the whole embedder
    assert isinstance(short, ShortenedEmbedder) and short.pieces("a wet dog").tolist() == [
        [0, 1],
        [2, 5],
        [6, 9],
    ]
    for other in (copy.copy(short), copy.deepcopy(short), pickle.loads(pickle.dumps(short))):
        assert other.name == short.name and np.array_equal(other.embed(TEXTS), short.embed(TEXTS))
    for name in ("_hidden", "no_such_thing"):
        with pytest.raises(AttributeError, match=name):
            getattr(short, name)
    with pytest.raises(AttributeError, match="embedder"):
        # before the embedder is set: an error, no endless recursion
        assert object.__new__(ShortenedEmbedder).window


@pytest.mark.parametrize("kept", ["0", "1", "65"])
def test_dimensions_that_are_not_there_are_refused(kept: str) -> None:
    with pytest.raises(InputError, match="dimensions") as caught:
        embedder(f"hashing:64@{kept}")
    assert "keep 2 to 64" in caught.value.cure
