"""The approximate index against exact search."""
from __future__ import annotations

import faiss
import numpy as np
import pytest

import hebbarium as hb
from hebbarium.engine import approximate
from hebbarium.engine.approximate import LOT, GraphIndex, index_of
from hebbarium.engine.errors import InputError
from hebbarium.engine.scans import SharedScans

D, TOPICS = 32, np.random.default_rng(99).standard_normal((20, 32))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The graph is used from 1,000 rows on."""
    monkeypatch.setattr(approximate, "LEAST", 1000)


def drawn(n: int, seed: int) -> np.ndarray:
    """Unit vectors around twenty topics."""
    rng = np.random.default_rng(seed)
    rows = (TOPICS[rng.integers(0, 20, n)] + rng.standard_normal((n, D))).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def filled(rows: np.ndarray, lots: int = 1) -> GraphIndex:
    index = GraphIndex(rows.shape[1])
    for part in np.array_split(rows, lots):
        index.add_many(part)
    return index


def test_recall_is_high_and_products_are_exact() -> None:
    rows, queries = drawn(3000, 0), drawn(50, 1)
    index = filled(rows)
    exact = rows.astype(np.float64) @ queries.astype(np.float64).T
    shares = []
    for query, scores in zip(queries, exact.T, strict=True):
        found, products = index.search(query, 10)
        assert products.tobytes() == index.scores(query, np.empty(3000, np.float32))[found].tobytes()
        assert np.all(np.diff(products) <= 0) and len(set(found.tolist())) == 10
        shares.append(len(set(found.tolist()) & set(np.argsort(-scores)[:10].tolist())) / 10)
    assert np.mean(shares) >= 0.98 and index.recall(list(queries)) == pytest.approx(np.mean(shares))


def test_the_answer_depends_neither_on_how_rows_were_added_nor_on_threads_nor_on_earlier_questions() -> None:
    rows, queries = drawn(2500, 2), drawn(20, 3)
    one, other = filled(rows), filled(rows[:1100], 7)
    threads = faiss.omp_get_max_threads()
    for row, query in zip(rows[1100:], np.resize(queries, (1400, D)), strict=True):
        other.add(row)
        if row[0] > 0.3:
            other.search(query, 70)
    faiss.omp_set_num_threads(3)
    try:
        answers = [[index.search(query, k) for query in queries for k in (1, 10, 300)] for index in (one, other)]
        assert faiss.omp_get_max_threads() == 3
    finally:
        faiss.omp_set_num_threads(threads)
    for (found, products), (rows_too, products_too) in zip(*answers, strict=True):
        assert found.tolist() == rows_too.tolist() and products.tobytes() == products_too.tobytes()


def test_hidden_rows_are_never_found_and_new_rows_at_once() -> None:
    rows, query = drawn(3 * LOT + 1500, 4), drawn(1, 5)[0]
    index = filled(rows)
    for row in index.search(query, 40)[0].tolist():
        index.archive(row)
    shown = index.visible_mask()
    found, _ = index.search(query, 40)
    assert shown[found].all() and len(found) == 40
    assert not shown[index.search(query, 40, visible_only=False)[0]].all()
    row = index.add(query)
    assert index.search(query, 1)[0].tolist() == [row]
    index.archive(row)
    assert row not in index.search(query, 40)[0]


@pytest.mark.parametrize("case", ["few rows", "few visible", "overwritten", "all"])
def test_where_the_graph_does_not_pay_the_search_is_exact(case: str) -> None:
    rows, query = drawn(900 if case == "few rows" else 1300, 6), drawn(1, 7)[0]
    index, exact = filled(rows), SharedScans(D)
    exact.add_many(rows)
    for each in (index, exact):
        if case == "few visible":
            for row in range(0, 1000):
                each.archive(row)
        if case == "overwritten":
            each.search(query, 3)
            each.overwrite(17, query)
    k = 5000 if case == "all" else 20
    (found, products), (wanted, scores) = index.search(query, k), exact.search(query, k)
    assert found.tolist() == wanted.tolist() and products.tobytes() == scores.tobytes()


def test_an_unknown_index_is_refused() -> None:
    assert type(index_of("exact", 4)) is SharedScans
    for name in ("hnws", None, 3):
        with pytest.raises(InputError, match="index"):
            index_of(name, 4)
    with pytest.raises(InputError, match="hnws"):
        hb.memory("hybrid", embedding="hashing", index="hnws")


def test_a_memory_with_a_graph_lives_and_a_small_one_answers_as_an_exact_one() -> None:
    events = [hb.Event(float(i), f"note {i} about {('boats', 'keys', 'lakes')[i % 3]} and {i * i}") for i in range(1040)]
    answers = []
    for index, count in (("exact", 60), ("hnsw", 60), ("hnsw", 1040)):
        with hb.memory("hybrid", embedding="hashing:32", without=(), index=index) as memory:
            memory.encode_all(events[:count])
            answers.append(memory.retrieve("what about boats?", 5).rows.tolist())
    assert answers[0] == answers[1] and len(answers[2]) == 5
