from __future__ import annotations

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import MATCH, VISIBLE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval import convex_fusion as module

TEXTS = ("a red kite", "a blue kite over the hill", "the hill", "rain", "a kite, a kite!")


def engine(*ids: str, normalisation: str = "standard") -> Engine:
    registry = Registry.read()
    made = Engine(
        [
            *(registry.instance(id) for id in ids),
            registry.instance("convex_fusion", {"normalisation": normalisation}),
        ],
        HashingEmbedder(64),
    )
    made.encode_all(Event(float(i), text) for i, text in enumerate(TEXTS))
    return made


def test_kernels_jitted_equal_plain() -> None:
    rng = np.random.default_rng(0)
    scores = np.where(rng.random(100) < 0.3, np.nan, rng.normal(size=100)).astype(np.float32)
    visible, jitted, plain = rng.random(100) < 0.7, np.zeros(100), np.zeros(100)
    assert module.extremes(scores, visible, -1.0) == module.extremes.py_func(scores, visible, -1.0)  # type: ignore[attr-defined]
    module.add_rescaled(scores, -1.0, -2.0, 3.0, 0.4, jitted)
    module.add_rescaled.py_func(scores, -1.0, -2.0, 3.0, 0.4, plain)  # type: ignore[attr-defined]
    np.testing.assert_allclose(jitted, plain, rtol=1e-6)


def test_extremes_without_visible_memories() -> None:
    assert module.extremes(np.array([1.0, 2.0], dtype=np.float32), np.zeros(2, np.bool_), -1.0) == (
        -1.0,
        -1.0,
    )


def test_with_direct_signals_only_the_standard_fusion_is_the_match() -> None:
    made = engine("dense_similarity", "lexical_bm25", "trigram_match")
    answer = made.retrieve("red kite", k=5)
    np.testing.assert_allclose(answer.final, made.store.array(MATCH), atol=1e-6)


@pytest.mark.parametrize("normalisation", ["minmax", "theoretical_minmax"])
def test_the_best_in_every_signal_scores_one_and_archived_memories_are_ignored(
    normalisation: str,
) -> None:
    made = engine("dense_similarity", "lexical_bm25", normalisation=normalisation)
    answer = made.retrieve("red", k=5)
    assert answer.rows[0] == 0
    assert answer.scores[0] == pytest.approx(1.0)
    made.archive(0)
    again = made.retrieve("kite", k=5)
    assert 0 not in again.rows
    assert again.final[made.store.array(VISIBLE)].max() <= 1.0 + 1e-6


def test_without_signals_all_scores_are_equal() -> None:
    assert engine().retrieve("kite", k=3).scores.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("normalisation", "expected"),
    [("standard", 3.0), ("minmax", 2.0), ("theoretical_minmax", 1.25)],
)
def test_a_hidden_memory_is_scored_on_the_scale_of_the_visible_ones(
    normalisation: str, expected: float
) -> None:
    """Cosines 0.2 and 0.6 are visible, 1 is hidden: 0.8 / 0.2 - 1, 0.8 / 0.4 and 2 / 1.6."""
    add, out = module.NORMALISED[normalisation], np.zeros(3)
    add(
        [(np.array([0.2, 0.6, 1.0], dtype=np.float32), -1.0, 1.0)],
        np.array([True, True, False]),
        out,
    )
    assert out[2] == pytest.approx(expected, rel=1e-6)


def test_a_hidden_memory_keeps_its_score_and_changes_no_other() -> None:
    made, without = (
        engine("dense_similarity", "lexical_bm25", normalisation="minmax"),
        engine("dense_similarity", normalisation="minmax"),
    )
    for each in (made, without):
        each.archive(0)
    assert made.retrieve("red", k=5).final[0] > 1.0, (
        "the best in every signal is above the best visible one"
    )
    seen = without.store.array(VISIBLE)
    assert without.retrieve("red", k=5).final[seen].max() == pytest.approx(1.0)
