"""The approximate index against exact search."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copyfile
from typing import Any

import faiss
import numpy as np
import pytest

import hebbarium as hb
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.scale import approximate
from hebbarium.engine.scale.approximate import LOT, ListIndex, index_of
from hebbarium.engine.state.vectors import VectorIndex

D, TOPICS = 32, np.random.default_rng(99).standard_normal((20, 32))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes are approximate from 1,000 rows on, and look at an eighth of the lists, as they do
    with 300,000 rows.
    """
    monkeypatch.setattr(approximate, "LEAST", 1000)
    monkeypatch.setattr(approximate, "PROBED", 8)


def drawn(n: int, seed: int) -> np.ndarray:
    """Unit vectors around twenty topics."""
    rng = np.random.default_rng(seed)
    rows = (TOPICS[rng.integers(0, 20, n)] + rng.standard_normal((n, D))).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def filled(rows: np.ndarray, lots: int = 1) -> ListIndex:
    index = ListIndex(rows.shape[1])
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
        assert (
            products.tobytes() == index.scores(query, np.empty(3000, np.float32))[found].tobytes()
        )
        assert np.all(np.diff(products) <= 0) and len(set(found.tolist())) == 10
        shares.append(len(set(found.tolist()) & set(np.argsort(-scores)[:10].tolist())) / 10)
    assert np.mean(shares) >= 0.98 and index.recall(list(queries)) == pytest.approx(np.mean(shares))


def test_the_answer_depends_neither_on_how_rows_were_added_nor_on_threads_nor_on_earlier_questions() -> (
    None
):
    rows, queries = drawn(2500, 2), drawn(20, 3)
    one, other = filled(rows), filled(rows[:1100], 7)
    threads = faiss.omp_get_max_threads()
    for row, query in zip(rows[1100:], np.resize(queries, (1400, D)), strict=True):
        other.add(row)
        if row[0] > 0.3:
            other.search(query, 70)
    faiss.omp_set_num_threads(3)
    try:
        answers = [
            [index.search(query, k) for query in queries for k in (1, 10, 300)]
            for index in (one, other)
        ]
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


def test_a_search_for_the_same_vector_looks_again_only_if_it_would_see_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, queries = drawn(2 * LOT + 900, 10), drawn(2, 11)
    index, looks, search = (
        filled(rows[: 2 * LOT + 10]),
        list[int](),
        faiss.IndexIVFPQFastScan.search,
    )
    monkeypatch.setattr(
        faiss.IndexIVFPQFastScan,
        "search",
        lambda self, *given, **how: looks.append(1) or search(self, *given, **how),
    )

    def looked(query: np.ndarray, k: int) -> int:
        """Times that FAISS is asked; the answer is that of an index that was never asked."""
        before, fresh = len(looks), filled(index.vectors)
        found, products = index.search(query, k)
        times = len(looks) - before
        for row in np.flatnonzero(~index.visible_mask()).tolist():
            fresh.archive(row)
        wanted, scores = fresh.search(query, k)
        assert found.tolist() == wanted.tolist() and products.tobytes() == scores.tobytes()
        return times

    assert [
        looked(queries[0], 5),
        looked(queries[0], 200),
        looked(queries[0], 300),
        looked(queries[1], 5),
        looked(queries[1], 5),
    ] == [1, 0, 1, 1, 0]
    index.add(queries[1])
    assert looked(queries[1], 5) == 0 and index.search(queries[1], 1)[0].tolist() == [2 * LOT + 10]
    index.archive(2 * LOT + 10)
    assert looked(queries[1], 5) == 1
    index.restore(2 * LOT + 10)
    assert looked(queries[1], 5) == 1
    index.add_many(rows[2 * LOT + 11 :])
    assert looked(queries[1], 5) == 1


def test_rows_beyond_the_last_lot_are_found_as_they_come_and_go() -> None:
    """Their products with the last vector are kept; a search for one of them finds it first, and
    hidden ones never.
    """
    rng, rows = np.random.default_rng(12), drawn(2 * LOT + 400, 13)
    index = filled(rows[: 2 * LOT + 5])
    for row in range(2 * LOT + 5, 2 * LOT + 60):
        index.add(rows[row])
        gone = int(rng.integers(2 * LOT, row))
        index.archive(gone)
        for asked in (row, int(rng.integers(2 * LOT, row)), row):
            found, products = index.search(rows[asked], 3)
            assert (found[0] == asked) == index.is_visible(asked) and gone not in found
            assert products == pytest.approx(
                rows[found].astype(np.float64) @ rows[asked].astype(np.float64), abs=1e-6
            )
        if rng.random() < 0.5:
            index.restore(gone)


@pytest.mark.parametrize("case", ["few rows", "few visible", "all"])
def test_where_an_index_does_not_pay_the_search_is_exact(case: str) -> None:
    rows, query = drawn(900 if case == "few rows" else 1300, 6), drawn(1, 7)[0]
    index, exact = filled(rows), VectorIndex(D)
    exact.add_many(rows)
    for each in (index, exact):
        if case == "few visible":
            for row in range(0, 1000):
                each.archive(row)
    k = 5000 if case == "all" else 20
    (found, products), (wanted, scores) = index.search(query, k), exact.search(query, k)
    assert found.tolist() == wanted.tolist() and products.tobytes() == scores.tobytes()


def test_an_overwritten_index_answers_as_the_one_that_is_loaded() -> None:
    """Rows in the lists and beyond them are overwritten: answers are those of an
    index of the new vectors, which looks at some only.
    """
    rows, queries = drawn(1300, 6), drawn(8, 7)
    index = filled(rows)
    for step, query in enumerate(queries):
        index.search(query, 20)  # keeps products
        before, taken = index.parts(), int(index.search(query, 1)[0][0])
        for row in (taken, 17 * step, 1299 - step):
            rows[row] = -query if row == taken else queries[step - 1]
            index.overwrite(row, rows[row])
        assert index.parts() == {} != before, "nothing that tells where the vectors were"
        found, products = index.search(query, 20)
        loaded = filled(rows)
        loaded.adopt({key: array.copy() for key, array in index.parts().items()})
        for other in (loaded, filled(rows)):
            wanted, scores = other.search(query, 20)
            assert found.tolist() == wanted.tolist() and products.tobytes() == scores.tobytes()
        assert taken not in found and products == pytest.approx(
            rows[found].astype(np.float64) @ query.astype(np.float64), abs=1e-6
        )
        assert index._built is not None


@pytest.mark.slow
def test_a_memory_with_an_erasure_answers_as_the_one_that_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks at one list, so that it does not find all that an exact one finds."""
    for constant, value in (("PROBED", 1), ("LOOK", 12)):
        monkeypatch.setattr(approximate, constant, value)
    words = np.random.default_rng(0).integers(0, 400, (1300, 6))
    talk = [
        hb.Event(i / 60.0, " ".join(f"w{word}" for word in each), id=f"e{i}", dated=False)
        for i, each in enumerate(words.tolist())
    ]

    def opened(index: str = "ivf", file: str = "memory.db") -> Any:
        return hb.memory("hybrid", embedding="hashing:32", path=tmp_path / file, index=index)

    def answers(memory: Any) -> list[tuple[list[int], bytes]]:
        found = [
            memory.assembly.index.search(memory.answering.asked(event.text).cue.vector, 10)
            for event in talk[::40]
        ]
        return [(rows.tolist(), products.tobytes()) for rows, products in found]

    with opened() as memory:
        memory.encode_all(talk)
        answers(memory)
        memory.erase("e80", confirm=True)
        copyfile(tmp_path / "memory.db", tmp_path / "copy.db")
        found = answers(memory)
    with opened(file="copy.db") as memory:  # a copy of an open file is a whole memory
        assert answers(memory) == found
    with opened() as memory:
        assert memory.assembly.index._saved and answers(memory) == found
    with opened("exact") as memory:
        assert answers(memory) != found and not any(80 in rows for rows, _ in found)


@pytest.mark.slow
def test_centres_are_found_anew_when_there_are_four_times_the_rows() -> None:
    rows, query = drawn(4300, 8), drawn(1, 9)[0]
    whole, grown = filled(rows), filled(rows[:3999])
    grown.search(query, 5)
    before = grown._built.nlist
    grown.add_many(rows[3999:])
    assert grown.search(query, 200)[0].tolist() == whole.search(query, 200)[0].tolist()
    assert (before, grown._built.nlist, whole._built.nlist) == (62, 124, 124)
    once = filled(rows[:3999])
    once.search(query, 5)
    once.add(rows[3999])  # no further lot enters
    assert once.search(query, 200)[0].tolist() == filled(rows[:4000]).search(query, 200)[0].tolist()


def test_an_unknown_index_is_refused() -> None:
    assert type(index_of("exact", 4)) is VectorIndex
    for name in ("hnws", None, 3):
        with pytest.raises(InputError, match="index"):
            index_of(name, 4)
    with pytest.raises(InputError, match="hnws"):
        hb.memory("hybrid", embedding="hashing", index="hnws")


def test_a_memory_with_an_approximate_index_lives_and_a_small_one_answers_as_an_exact_one() -> None:
    events = [
        hb.Event(float(i), f"note {i} about {('boats', 'keys', 'lakes')[i % 3]} and {i * i}")
        for i in range(1040)
    ]
    answers = []
    for index, count in (("exact", 60), ("ivf", 60), ("ivf", 1040)):
        with hb.memory("hybrid", embedding="hashing:32", without=(), index=index) as memory:
            memory.encode_all(events[:count])
            answers.append(memory.retrieve("what about boats?", 5).rows.tolist())
    assert answers[0] == answers[1] and len(answers[2]) == 5


@pytest.mark.parametrize("kind", [VectorIndex, ListIndex])
def test_an_overwritten_vector_is_in_nothing_that_a_thread_has_asked(
    kind: type[VectorIndex],
) -> None:
    """What two threads have asked for is dropped: the products, the vectors that were expected,
    and the last search.
    """
    rows = np.random.default_rng(0).standard_normal((1_200, 16)).astype(np.float32)
    index = kind(16)
    index.add_many(rows)

    def ask(row: int) -> None:
        index.expect([rows[row], rows[row + 1]])
        index.scores(rows[row], np.empty(len(index), np.float32))
        index.search(rows[row], 5)

    with ThreadPoolExecutor(1) as other:
        ask(3)
        other.submit(ask, 7).result()
        assert index._own.products and other.submit(lambda: index._own.products).result()
        index.overwrite(3, rows[5])
        held = [index._own, other.submit(lambda: index._own).result()]
    assert all(not (own.products or own.expected) for own in held)
    assert index._kept is None and (not isinstance(index, ListIndex) or index._last[0] is None)


def counted(monkeypatch: pytest.MonkeyPatch, kind: Any, method: str) -> list[int]:
    """How many rows a method of FAISS was given, each time."""
    found, original = list[int](), getattr(kind, method)
    monkeypatch.setattr(
        kind, method, lambda self, rows: found.append(len(rows)) or original(self, rows)
    )
    return found


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows from which centres were found, each time."""
    return counted(monkeypatch, faiss.IndexIVFPQFastScan, "train")


@pytest.mark.slow
def test_an_index_from_saved_lists_is_the_one_that_was_built(trained: list[int]) -> None:
    rows, queries = drawn(4300, 12), drawn(20, 13)
    assert filled(rows).parts() == filled(rows[:900]).parts() == {}
    # the last ones need more lists
    for first, end in ((1000, 1000), (1000, 1100), (2600, 3999), (3000, 4000)):
        built, index = filled(rows[:first]), filled(rows[:end])
        built.search(queries[0], 5)
        saved = {key: array.copy() for key, array in built.parts().items()}
        index.adopt(saved)
        times = len(trained)
        assert index.search(queries[0], 5)[0].shape == (5,) and len(trained) == times + (
            end == 4000
        )
        whole = filled(rows[:end])
        for query in queries:
            (found, products), (wanted, scores) = index.search(query, 30), whole.search(query, 30)
            assert found.tolist() == wanted.tolist() and products.tobytes() == scores.tobytes()
        assert {key: array.tobytes() for key, array in index.parts().items()} == {
            key: array.tobytes() for key, array in whole.parts().items()
        }


@pytest.mark.parametrize("wrong", [{"assigned": np.zeros(9 * LOT, np.int32),
                                    "codes": np.zeros((9 * LOT, D // 4), np.uint8)},
                                   {"assigned": np.full(LOT, 62, np.int32)},
                                   {"assigned": np.full(LOT, -1, np.int32)},
                                   {"assigned": np.zeros(LOT + 1, np.int32),
                                    "codes": np.zeros((LOT + 1, D // 4), np.uint8)},
                                   {"assigned": np.zeros(LOT)}, {"assigned": np.zeros((LOT, 1),
                                   np.int32)}, {"assigned": None},
                                   {"codes": np.zeros((LOT + 1, D // 4), np.uint8)},
                                   {"codes": np.zeros((LOT, D // 2), np.uint8)},
                                   {"codes": np.zeros((LOT, D // 4), np.int8)}, {"codes": None},
                                   {"centroids": np.zeros((62, D + 1), np.float32)},
                                   {"centroids": np.zeros((62, D))}, {"centroids": None},
                                   {"centroids": np.full((62, D), np.nan, np.float32)},
                                   {"codebooks": np.zeros((D, 16, 1), np.float32)},
                                   {"codebooks": np.full((D // 2, 16, 2), np.inf, np.float32)},
                                   {"codebooks": None}])  # fmt: skip
def test_lists_that_do_not_fit_are_refused(wrong: dict[str, Any]) -> None:
    index = filled(drawn(4300, 14))
    fits = {
        "centroids": np.zeros((62, D), np.float32),
        "codebooks": np.zeros((D // 2, 16, 2), np.float32),
        "assigned": np.full(LOT, 61, np.int32),
        "codes": np.zeros((LOT, D // 4), np.uint8),
    }
    index.adopt(fits)
    with pytest.raises(ValueError, match="lists"):
        index.adopt({key: array for key, array in (fits | wrong).items() if array is not None})


@pytest.mark.parametrize("dimensions", [1, 2, 3, 7, 30, 33])
def test_codes_of_vectors_of_any_length(dimensions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an odd number of dimensions too, whose codes are of one number each, and of codes that
    fill no whole byte.  All lists are looked at.
    """
    monkeypatch.setattr(approximate, "PROBED", 62)
    rng = np.random.default_rng(dimensions)
    rows = rng.standard_normal((1500, dimensions)).astype(np.float32)
    queries = rng.standard_normal((20, dimensions)).astype(np.float32)
    whole, index = filled(rows), filled(rows)
    assert whole.recall(list(queries)) >= 0.98
    index.adopt({key: array.copy() for key, array in whole.parts().items()})
    assert all(
        index.search(query, 40)[0].tolist() == whole.search(query, 40)[0].tolist()
        for query in queries
    )


@pytest.mark.parametrize("k", [512, 700, 2_000])
def test_a_long_search_of_lists_finds_most(k: int) -> None:
    """More rows than a search looks at when it wants few; hidden ones are not among them."""
    rows, query = drawn(8_000, 17), drawn(1, 18)[0]
    index, exact = filled(rows), VectorIndex(D)
    exact.add_many(rows)
    for row in range(0, 8_000, 3):
        index.archive(row)
        exact.archive(row)
    found, wanted = (set(each.search(query, k)[0].tolist()) for each in (index, exact))
    assert len(found) == k and not any(row % 3 == 0 for row in found)
    assert len(found & wanted) / k >= 0.6


@pytest.mark.slow
def test_a_memory_keeps_its_lists_in_its_file_until_something_is_erased(
    tmp_path: Path, trained: list[int]
) -> None:
    """Also if it is opened with the exact index in between; a process that ends without closing
    leaves those of the last closing.
    """
    talk = [
        hb.Event(
            i / 60.0, f"note {i} about {('boats', 'keys', 'lakes')[i % 3]} and {i * i}", id=str(i)
        )
        for i in range(4200)
    ]
    path, copied = tmp_path / "memory.db", tmp_path / "copy.db"

    def opened(index: str, where: Path = path) -> Any:
        return hb.memory("hybrid", embedding="hashing:32", path=where, index=index)

    def answer(memory: Any) -> tuple[list[int], bytes]:
        found, products = memory.assembly.index.search(
            memory.answering.asked("what about boats?").cue.vector, 20
        )
        return found.tolist(), products.tobytes()

    times = list[int]()
    for index, first, end in (
        ("ivf", 0, 2000),
        ("exact", 2000, 2600),
        ("ivf", 2600, 3200),
        ("ivf", 3200, 4200),
        ("ivf", 4200, 4200),
    ):
        with opened(index) as memory:
            memory.encode_all(talk[first:end])
            copyfile(path, copied)
            found = answer(memory)
            times.append(len(trained))
            trained.clear()
            with hb.memory("hybrid", embedding="hashing:32", index=index) as fresh:
                fresh.encode_all(talk[:end])
                assert answer(fresh) == found
            trained.clear()
        if end > first:
            with opened(index, copied) as interrupted:
                assert answer(interrupted) == found
        trained.clear()
    assert times == [1, 0, 0, 1, 0]
    with opened("exact") as memory:
        memory.erase("7", confirm=True)
    with opened("ivf") as memory:
        assert memory.assembly.index._saved == {} and len(answer(memory)[0]) == 20
    assert len(trained) == 1
