from __future__ import annotations

import numpy as np

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import CUES
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval import dense_similarity as module
from hebbarium.testing.small import does, mechanism

TEXTS = (
    "We adopted a puppy.",
    "The violin needs new strings.",
    "Rain all week.",
    "The puppy chewed my shoes.",
)


def test_without_a_fusion_the_answer_is_ranked_by_the_cosine() -> None:
    embedder = HashingEmbedder(64)
    engine = Engine([Registry.read().instance("dense_similarity")], embedder)
    engine.encode_all(Event(float(i), text) for i, text in enumerate(TEXTS))
    vectors = embedder.embed(
        [Event(float(i), text).rendered() for i, text in enumerate(TEXTS)]
    ).astype(float)
    cosines = vectors @ embedder.embed(["puppy shoes"])[0].astype(float)
    answer = engine.retrieve("puppy shoes", k=4)
    assert answer.rows.tolist() == np.argsort(-cosines).tolist()
    np.testing.assert_allclose(answer.final, (cosines - cosines.mean()) / cosines.std(), atol=1e-5)


def test_an_empty_memory_answers_with_nothing() -> None:
    engine = Engine([Registry.read().instance("dense_similarity")], HashingEmbedder(16))
    assert engine.retrieve("anything").rows.size == 0


def test_kernel_jitted_equals_plain() -> None:
    rng = np.random.default_rng(0)
    scores, jitted = (
        rng.uniform(-1.0, 1.0, 100).astype(np.float32),
        rng.uniform(-1.0, 1.0, 100).astype(np.float32),
    )
    plain = jitted.copy()
    module.raise_to_weighted(scores, 0.7, jitted)
    module.raise_to_weighted.py_func(scores, 0.7, plain)  # type: ignore[attr-defined]
    np.testing.assert_allclose(jitted, plain, rtol=1e-6)


def test_a_subject_late_in_a_long_memory_is_found_by_its_passage() -> None:
    rng = np.random.default_rng(1)
    chatter = [" ".join(f"word{i}" for i in rng.integers(0, 400, 380)) for _ in range(2)]
    texts = (f"{chatter[0]} harbour violin glacier", f"{chatter[1]} the end", "a violin, once")
    scores = []
    for passages in (False, True):
        engine = Engine(
            [
                Registry.read().instance(
                    "dense_similarity", {"passages": passages, "length_penalty": 0.0}
                )
            ],
            HashingEmbedder(384),
        )
        engine.encode_all(Event(float(i), text, dated=False) for i, text in enumerate(texts))
        engine.retrieve("harbour violin glacier")
        scores.append(engine.store.array(module.DENSE).copy())
    whole, best = scores
    assert best[0] > whole[0] and best[2] == whole[2]
    assert (best >= whole).all()


def test_a_wording_counts_by_its_weight_and_never_lowers_a_score() -> None:
    def scores(*wordings: tuple[str, float]) -> np.ndarray:
        wordy = mechanism(
            "wordy",
            does(
                Phase.RETRIEVE,
                lambda view, cue: [view.cues.add(*each, "test") for each in wordings],
                adds=[CUES],
            ),
        )
        engine = Engine([Registry.read().instance("dense_similarity"), wordy], HashingEmbedder(64))
        engine.encode_all(Event(float(i), text) for i, text in enumerate(TEXTS))
        engine.retrieve("a young dog")
        return np.array(engine.store.array(module.DENSE))

    alone, half, whole = scores(), scores(("puppy", 0.5)), scores(("puppy", 1.0))
    assert (half >= alone).all() and (whole >= half).all()
    assert whole[0] > half[0] and whole[3] > half[3]
