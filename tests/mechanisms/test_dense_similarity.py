from __future__ import annotations

import numpy as np

from hebbarium.engine.loop import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.records import Event
from hebbarium.engine.registry import Registry

TEXTS = ("We adopted a puppy.", "The violin needs new strings.", "Rain all week.", "The puppy chewed my shoes.")


def test_without_a_fusion_the_answer_is_ranked_by_the_cosine() -> None:
    embedder = HashingEmbedder(64)
    engine = Engine([Registry.read().instance("dense_similarity")], embedder)
    engine.encode_all(Event(float(i), text) for i, text in enumerate(TEXTS))
    vectors = embedder.embed([Event(float(i), text).rendered() for i, text in enumerate(TEXTS)]).astype(float)
    cosines = vectors @ embedder.embed(["puppy shoes"])[0].astype(float)
    answer = engine.retrieve("puppy shoes", k=4)
    assert answer.rows.tolist() == np.argsort(-cosines).tolist()
    np.testing.assert_allclose(answer.final, (cosines - cosines.mean()) / cosines.std(), atol=1e-5)


def test_an_empty_memory_answers_with_nothing() -> None:
    engine = Engine([Registry.read().instance("dense_similarity")], HashingEmbedder(16))
    assert engine.retrieve("anything").rows.size == 0
