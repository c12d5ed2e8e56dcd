"""Late interaction through the engine, with the hashing embedder and the sentence model."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import RELEVANCE, RERANKED, REWEIGHTED
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval.late_interaction_rerank import maxsim, product

Build = Callable[..., Engine]
TEXTS = (
    "Ada bought a boat",
    "Bo sold his car",
    "we ate fish",
    "the boat is red",
    "Cleo likes the lake",
    "",
)


def told(memory: Engine, texts: tuple[str, ...] = TEXTS) -> Engine:
    memory.encode_all(Event(float(i), text) for i, text in enumerate(texts))
    return memory


def test_the_kernel_against_plain_python_and_numpy() -> None:
    rng = np.random.default_rng(0)
    query, codes = (
        rng.integers(-127, 128, (5, 33)).astype(np.int16),
        rng.integers(-127, 128, (40, 33)).astype(np.int8),
    )
    scales, offsets, weights = (
        rng.random(40).astype(np.float32),
        np.array([0, 10, 10, 33, 40]),
        rng.random(5),
    )
    one, other = np.empty(4), np.empty(4)
    maxsim(query, scales[:5], weights, codes, scales, offsets, one)
    maxsim.py_func(query, scales[:5], weights, codes, scales, offsets, other)  # type: ignore[attr-defined]
    products = (query.astype(int) @ codes.astype(int).T) * scales[:5, None] * scales
    expected = [
        weights @ products[:, a:b].max(axis=1) / weights.sum() if b > a else 0.0
        for a, b in pairwise(offsets)
    ]
    assert np.allclose(one, expected) and np.allclose(other, expected, rtol=1e-6)
    largest = np.full(4096, 127, np.int16)
    assert product(largest, -largest) == -4096 * 127 * 127


def test_a_shared_word_comes_first_and_the_rest_keep_their_order(build: Build) -> None:
    memory = told(
        build(
            "late_interaction_rerank",
            "dense_similarity",
            params={"late_interaction_rerank": {"alpha": 1.0, "pool": 3}},
        )
    )
    answer = memory.retrieve("Who has a boat?")
    before = memory.column(REWEIGHTED)
    pool = np.argsort(-before, kind="stable")[:3]
    assert set(answer.rows[:3].tolist()) == set(pool.tolist())
    assert memory.event(int(answer.rows[0])).text in (TEXTS[0], TEXTS[3])
    assert answer.rows[3:].tolist() == [
        r for r in np.argsort(-before, kind="stable").tolist() if r not in pool
    ]
    assert (
        np.isfinite(memory.column(RELEVANCE)).sum() == 3
        and np.nanmin(memory.column(RELEVANCE)) >= 0.0
    )


def test_an_embedder_without_token_vectors_is_named(registry: Registry) -> None:
    class Whole:
        name, revision, dimensions = "whole", "1", 8

        def embed(self, texts: Any) -> Any:
            return HashingEmbedder(8).embed(texts)

    memory = told(
        Engine(
            [registry.instance(i) for i in ("dense_similarity", "late_interaction_rerank")], Whole()
        )
    )
    with pytest.raises(InputError, match="'whole' has no token vectors") as caught:
        memory.retrieve("boat")
    assert caught.value.where == "whole" and caught.value.cure


@pytest.mark.slow
@pytest.mark.parametrize("query", ["", "??", "boat " * 200_000, "\ud800", "boat boat boat"])
def test_any_query_has_a_valid_answer_and_changes_nothing(build: Build, query: str) -> None:
    memory = told(build("late_interaction_rerank", "dense_similarity"))
    before = memory.digest()
    answer = memory.retrieve(query, learn=True)
    assert (
        len(answer) == len(TEXTS)
        and np.isfinite(memory.column(RERANKED)).all()
        and memory.digest() == before
    )


def test_meaning_finds_a_memory_without_a_shared_word(registry: Registry) -> None:
    parameters = {"alpha": 1.0, "weights": "uniform"}
    memory = told(
        Engine(
            [
                registry.instance("dense_similarity"),
                registry.instance("late_interaction_rerank", parameters),
            ],
            embedder("minilm"),
        ),
        (
            "Bo sold his automobile to a friend",
            "we ate fish in the old harbour",
            "Cleo likes the mountains in winter",
        ),
    )
    assert memory.retrieve("Which car was bought?").rows[0] == 0
    relevance = memory.column(RELEVANCE)
    assert relevance[0] > 0.2 and relevance.max() <= 1.0
