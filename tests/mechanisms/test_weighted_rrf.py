from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval import weighted_rrf as module

floats = st.one_of(
    st.just(np.nan),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 1e-45, -1e-45]),
    st.floats(width=32),
)


@given(st.lists(st.tuples(floats, st.booleans()), max_size=40), st.integers(1, 45))
def test_the_best_scores_are_those_of_a_full_sort(
    cells: list[tuple[float, bool]], depth: int
) -> None:
    scores = np.array([score for score, _ in cells], dtype=np.float32)
    visible = np.array([there for _, there in cells], dtype=np.bool_)
    kept = scores[visible & ~np.isnan(scores)]
    np.testing.assert_array_equal(
        module.best_scores(scores, visible, depth), np.sort(kept)[::-1][:depth]
    )


@pytest.mark.kernels
def test_kernels_jitted_equal_plain() -> None:
    rng = np.random.default_rng(0)
    scores = np.where(rng.random(200) < 0.2, np.nan, rng.integers(-20, 20, 200)).astype(np.float32)
    listed, jitted, plain = (
        module.best_scores(scores, rng.random(200) < 0.8, 30),
        np.zeros(200),
        np.zeros(200),
    )
    module.add_listed(scores, listed, 60.0, 0.7, jitted)
    module.add_listed.py_func(scores, listed, 60.0, 0.7, plain)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(jitted, plain)
    for score in (-30.0, 0.0, 12.0, 25.0, np.nan):
        assert module.rank_in(listed, score) == module.rank_in.py_func(listed, score)  # type: ignore[attr-defined]
    assert module.reciprocal_rank(3, 60.0) == module.reciprocal_rank.py_func(3, 60.0)  # type: ignore[attr-defined]


def engine(*ids: str) -> Engine:
    registry = Registry.read()
    made = Engine(
        [
            registry.instance(id, {} if id.endswith(("rrf", "fusion")) else {"weight": 1.0})
            for id in ids
        ],
        HashingEmbedder(64),
    )
    made.encode_all(
        Event(float(i), text)
        for i, text in enumerate(("a red kite", "a blue kite over the hill", "the hill", "rain"))
    )
    return made


def test_a_memory_ranked_first_by_both_signals_scores_two_sixty_firsts() -> None:
    made = engine("dense_similarity", "lexical_bm25", "weighted_rrf")
    answer = made.retrieve("red kite", k=2)
    assert answer.rows[0] == 0
    assert answer.scores[0] == pytest.approx(2 / 61)


def test_archived_memories_have_no_rank() -> None:
    made = engine("lexical_bm25", "weighted_rrf")
    made.archive(0)
    answer = made.retrieve("red kite", k=4)
    assert answer.rows[0] == 1
    assert answer.scores[0] == pytest.approx(1 / 61)


def test_two_fusions_are_refused() -> None:
    with pytest.raises(ContractError, match="both set fused"):
        engine("dense_similarity", "weighted_rrf", "convex_fusion")


def test_a_hidden_memory_gets_the_place_of_its_score_and_takes_none() -> None:
    made = engine("lexical_bm25", "weighted_rrf")
    made.archive(0)
    answer = made.retrieve("red kite", k=4)
    assert 0 not in answer.rows
    assert answer.final[:2].tolist() == pytest.approx([1 / 61, 1 / 61]), (
        "the archived best and the visible best"
    )


def test_hidden_memories_below_the_last_of_the_list_have_no_rank() -> None:
    out = np.zeros(5)
    scores = np.array([3.0, 1.0, 2.0, 1.0, 0.5], dtype=np.float32)
    module.add_reciprocal_ranks(
        scores, np.array([True, True, False, False, False]), 10, 60.0, 1.0, out
    )
    np.testing.assert_allclose(out, [1 / 61, 1 / 62, 1 / 62, 1 / 62, 0.0])
