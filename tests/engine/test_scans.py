"""Products that an index keeps, against FAISS without a memory: the same products and answers,
with fewer passes.
"""

from __future__ import annotations

import faiss
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import EVERYDAY_SETS, slow_unless

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import CUES
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.state.vectors import ODD_DIMENSIONS, PART, SCANS, VectorIndex

TEXTS = (
    "we saw a boat on the lake",
    "Ada lost her keys",
    "the dog barked all night",
    "Bo bought a red boat",
    "the lake froze over",
    "keys were in the car",
)


def unit(n: int, d: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Plain:
    """Vectors that FAISS compares with each query anew."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows, self.visible = rows.copy(), np.ones(len(rows), np.bool_)

    def scores(self, query: np.ndarray) -> np.ndarray:
        (n, d), out = self.rows.shape, np.empty(len(self.rows), np.float32)
        ip, x, y = map(faiss.swig_ptr, (out, query, self.rows))
        if d in ODD_DIMENSIONS:
            ids = np.arange(n, dtype=np.int64)
            faiss.fvec_inner_products_by_idx(ip, x, y, faiss.swig_ptr(ids), d, 1, n)
        else:
            faiss.fvec_inner_products_ny(ip, x, y, d, n)
        return out

    def search(self, query: np.ndarray, k: int, visible_only: bool) -> tuple[np.ndarray, ...]:
        rows = np.flatnonzero(self.visible | (not visible_only))
        products = self.scores(query)[rows]
        order = np.lexsort((rows, -products))[:k]
        return rows[order], products[order]


def both(rows: np.ndarray) -> tuple[Plain, VectorIndex]:
    index = VectorIndex(rows.shape[1])
    index.add_many(rows)
    return Plain(rows), index


def same(
    plain: Plain, index: VectorIndex, query: np.ndarray, ks: tuple[int, ...] = (1, 10, 5000)
) -> None:
    """Products, and answers with and without hidden rows, are equal bit for bit."""
    products = index.scores(query, np.empty(len(index), np.float32))
    assert plain.scores(query).tobytes() == products.tobytes()
    for k in ks:
        for visible_only in (True, False):
            rows, expected = plain.search(query, k, visible_only)
            found, scores = index.search(query, k, visible_only)
            assert rows.tolist() == found.tolist() and expected.tobytes() == scores.tobytes()
            assert (found.dtype, scores.dtype) == (np.int64, np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 8, 12, 31, 384])
def test_answers_are_those_of_faiss_while_rows_are_stored_hidden_and_overwritten(d: int) -> None:
    rng = np.random.default_rng(d)
    plain, shared = both(unit(PART + 3, d))
    queries = unit(6, d, 1)
    shared.expect(list(queries[1:]))
    for step, query in enumerate((*queries, *queries)):
        same(plain, shared, query)
        more, hidden = unit(70, d, step + 2), rng.integers(0, len(shared), 30).tolist()
        for row in hidden:
            (shared.archive if row % 3 else shared.restore)(row)
            plain.visible[row] = not row % 3
        shared.add_many(more)
        plain.rows = np.vstack([plain.rows, more])
        plain.visible = np.append(plain.visible, np.ones(len(more), np.bool_))
        same(plain, shared, query)
    shared.overwrite(5, queries[-1])
    plain.rows[5] = queries[-1]
    same(plain, shared, queries[-1])


@given(st.integers(1, 60), st.integers(0, 70), st.integers(0, 2**31))
def test_ties_go_to_the_first_rows(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    plain, shared = both(rng.integers(-1, 2, (n, 3)).astype(np.float32))
    for row in np.flatnonzero(rng.random(n) < 0.4).tolist():
        plain.visible[row] = False
        shared.archive(row)
    same(plain, shared, rng.integers(-2, 3, 3).astype(np.float32), (k,))


def test_one_pass_serves_every_question_about_a_vector() -> None:
    shared, query = VectorIndex(16), unit(1, 16, 9)[0]
    shared.add_many(unit(1000, 16))
    out = np.empty(1000, np.float32)
    shared.scores(query, out)
    shared.search(query, 300)
    shared.search(query.copy(), 7, False)
    shared.archive(3)
    shared.search(query, 5)
    assert shared.scans == 1
    shared.add_many(unit(5, 16, 3))
    shared.search(query, 5)
    assert shared.scans == 1  # rows stored later add their own products
    shared.overwrite(0, query)
    assert shared.search(query, 1)[0].tolist() == [0] and shared.scans == 2


def test_expected_vectors_share_a_pass_and_few_are_kept() -> None:
    shared, queries = VectorIndex(16), unit(2 * SCANS, 16, 9)
    shared.add_many(unit(2 * PART, 16))
    for query in queries:
        shared.search(query, 5)
    assert shared.scans == len(queries)
    shared.search(queries[-SCANS], 5)
    assert shared.scans == len(queries)
    shared.search(queries[0], 5)
    assert shared.scans == len(queries) + 1
    other = unit(2 * (SCANS - 1), 16, 10)
    shared.expect(list(other))
    for query in other:
        shared.search(query, 5)
    assert shared.scans == len(queries) + 3


def test_what_is_no_vector_and_no_place_for_products_is_refused() -> None:
    shared = VectorIndex(4)
    shared.add_many(unit(3, 4))
    for bad in (np.ones(3), np.array([np.nan, 0, 0, 0]), "text"):
        with pytest.raises(InputError):
            shared.search(bad, 2)  # type: ignore[arg-type]
    for out in (np.empty(2, np.float32), np.empty(3)):
        with pytest.raises(InputError):
            shared.scores(np.ones(4), out)  # type: ignore[arg-type]
    empty = VectorIndex(4)
    assert empty.search(np.ones(4), 3)[0].shape == (0,) and empty.scores(
        np.ones(4), np.empty(0, np.float32)
    ).shape == (0,)


@pytest.mark.parametrize("chosen", slow_unless(EVERYDAY_SETS, ["default", "waking", "cortex"]))
def test_a_question_and_an_event_take_one_pass_each(chosen: str) -> None:
    """Dense similarity, the completion threshold and Hopfield completion ask for the cue; gates and
    curation for the event, before and after it is stored."""
    registry = Registry.read()
    chosen_set = registry.set(chosen).without(
        [
            i
            for i in ("query_expansion", "late_interaction_rerank")
            if i in registry.set(chosen).mechanisms
        ]
    )
    memory = Engine(registry.build(chosen_set), HashingEmbedder(32))
    index = memory.assembly.index
    for number, text in enumerate(TEXTS):
        before = index.scans
        memory.encode(Event(float(number), text, "Ada", "s", f"e{number}"))
        assert index.scans - before <= 1
    before = index.scans
    memory.retrieve("who bought a boat?")
    assert index.scans - before == 1


@pytest.mark.slow
def test_all_wordings_of_a_question_share_one_pass() -> None:
    """Query expansion adds wordings; dense similarity, Hopfield completion and reranking ask for
    their vectors.
    """
    memory = Engine(Registry.read().build(Registry.read().set("cortex")), HashingEmbedder(32))
    index = memory.assembly.index
    for number, text in enumerate(TEXTS):
        memory.encode(Event(float(number), text, "Ada", "s", f"e{number}"))
    before = index.scans
    memory.retrieve("who bought a boat and where did Ada lose her keys?")
    assert len(memory.store.structures[CUES]) > 2 and index.scans - before == 1
