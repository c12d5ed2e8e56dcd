"""The vector index against brute force in float64."""

from __future__ import annotations

import gc
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.state.vectors import MOST_SPARE, VectorIndex


def unit(n: int, d: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def filled(rows: np.ndarray) -> VectorIndex:
    index = VectorIndex(rows.shape[1])
    index.add_many(rows)
    return index


def test_import_does_not_load_faiss() -> None:
    code = "import sys, hebbarium.engine.state.vectors as i; assert 'faiss' not in sys.modules; i.VectorIndex(3); assert 'faiss' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rows_are_stored_once_and_read_without_a_copy() -> None:
    rows = unit(50, 24)
    index = filled(rows)
    view = index.vectors
    assert np.array_equal(view, rows) and not view.flags.writeable
    with pytest.raises(ValueError):
        view.flags.writeable = True
    assert np.shares_memory(view, index.vectors)
    import faiss

    assert view.ctypes.data == faiss.rev_swig_ptr(index._flat.get_xb(), 1).ctypes.data


@pytest.mark.slow
def test_one_by_one_equals_at_once_and_old_views_survive_growth_and_the_index() -> None:
    rows = unit(3000, 16)
    index = VectorIndex(16)
    views = []
    for i, row in enumerate(rows):
        assert index.add(row) == i
        if i % 100 == 0:
            views.append((i, index.vectors))
    assert np.array_equal(index.vectors, rows)
    assert len({view.ctypes.data for _, view in views}) <= 5  # 256 -> 4096 rows by doubling
    assert [np.shares_memory(view, index.vectors) for _, view in views] == [
        i >= 2048 for i, _ in views
    ]
    query = rows[7]
    one, many = index.search(query, 20), filled(rows).search(query, 20)
    assert np.array_equal(one[0], many[0]) and np.array_equal(one[1], many[1])
    del index
    gc.collect()
    junk = [np.ones((3000, 16), np.float32) for _ in range(20)]
    assert all(np.array_equal(view, rows[: i + 1]) for i, view in views) and len(junk) == 20


def test_spare_room_takes_at_most_an_eighth_of_many_rows() -> None:
    """FAISS writes it all, so that it is resident; a reserved index moves neither its rows nor
    the next.
    """
    index, rows = VectorIndex(3), np.ones((20_011, 3), np.float32)
    for _ in range(20):
        index.add_many(rows)
        assert 0 <= len(index._buffer) - len(index) <= max(MOST_SPARE, len(index) // 8)
    reserved = VectorIndex(3)
    reserved.reserve(len(rows))
    buffer = reserved._buffer
    reserved.add_many(rows)
    reserved.add(rows[0])
    assert reserved._buffer is buffer and len(reserved._buffer) <= 1.05 * len(rows)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 8, 12, 16, 31, 100, 384])
def test_scores_are_right_and_do_not_depend_on_n(d: int) -> None:
    rows = np.random.default_rng(d).standard_normal((1000, d)).astype(np.float32)
    query = rows[3] * np.float32(0.7)
    whole = filled(rows).scores(query, np.empty(1000, np.float32))
    exact = rows.astype(np.float64) @ query.astype(np.float64)
    bound = np.abs(rows).astype(np.float64) @ np.abs(query).astype(np.float64)
    assert np.all(np.abs(whole - exact) <= d * 2.0**-24 * 1.01 * bound + 1e-30)
    for n in (1, 2, 3, 5, 17, 100, 999):
        assert np.array_equal(filled(rows[:n]).scores(query, np.empty(n, np.float32)), whole[:n])
    found, products = filled(rows).search(query, 40)
    assert np.array_equal(products, whole[found])


@given(st.integers(1, 60), st.integers(0, 70), st.integers(0, 2**31), st.booleans())
def test_search_with_ties_and_hidden_rows_is_the_sorted_list(
    n: int, k: int, seed: int, visible_only: bool
) -> None:
    rng = np.random.default_rng(seed)
    # few distinct vectors, exact products, many ties
    rows = rng.integers(-1, 2, (n, 3)).astype(np.float32)
    index, hidden = filled(rows), rng.random(n) < 0.4
    for row in np.flatnonzero(hidden):
        index.archive(int(row))
    query = rng.integers(-2, 3, 3).astype(np.float32)
    exact = rows.astype(int) @ query.astype(int)
    order = sorted(
        (row for row in range(n) if not (visible_only and hidden[row])),
        key=lambda row: (-exact[row], row),
    )[:k]
    found, products = index.search(query, k, visible_only)
    assert found.tolist() == order and products.tolist() == [float(exact[row]) for row in order]
    assert found.dtype == np.int64 and products.dtype == np.float32


def test_a_tie_over_many_rows_keeps_the_first_rows() -> None:
    rows = np.repeat(unit(4, 40), 500, axis=0)
    found, _ = filled(rows).search(rows[1000], 30)
    assert found.tolist() == list(range(1000, 1030))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 399)), max_size=60))
def test_archive_and_restore_follow_a_set(steps: list[tuple[bool, int]]) -> None:
    index, hidden = filled(unit(400, 4)), set()
    for archive, row in steps:
        (index.archive if archive else index.restore)(row)
        (hidden.add if archive else hidden.discard)(row)
    mask = np.array([row not in hidden for row in range(400)])
    assert np.array_equal(index.visible_mask(), mask) and index.n_visible == mask.sum()
    index.add_many(unit(300, 4, 1), visible=np.arange(300) % 3 == 0)  # grows
    assert np.array_equal(index.visible_mask(), np.concatenate([mask, np.arange(300) % 3 == 0]))


def test_archiving_changes_neither_scores_nor_vectors() -> None:
    rows = unit(20, 8)
    index = filled(rows)
    before = index.scores(rows[0], np.empty(20, np.float32))
    for row in range(20):
        index.archive(row)
    assert np.array_equal(
        index.scores(rows[0], np.empty(20, np.float32)), before
    ) and np.array_equal(index.vectors, rows)
    assert (
        index.search(rows[0], 5)[0].size == 0
        and index.search(rows[0], 5, visible_only=False)[0].size == 5
    )


def test_empty_index() -> None:
    index = VectorIndex(5)
    found, products = index.search(np.ones(5), 3)
    assert found.shape == products.shape == (0,) and index.vectors.shape == (0, 5)
    assert index.scores(np.ones(5), np.empty(0, np.float32)).shape == (0,)
    assert index.add_many(np.empty((0, 5))) == 0 and len(index) == 0


@pytest.mark.parametrize("bad", [np.ones(4), np.ones((1, 3)), np.array([1, np.nan, 0]), np.array([1,
    np.inf, 0]), np.array([1e30, 0, 0]),
                                 np.array([1e300, 0, 0]), 5.0, "text", [1, [2], 3]])  # fmt: skip
def test_invalid_vectors_leave_the_state_unchanged(bad: object) -> None:
    index = filled(unit(3, 3))
    with pytest.raises(InputError):
        index.add(bad)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        index.search(bad, 2)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        index.add_many([unit(1, 3)[0], bad])  # type: ignore[list-item]
    assert len(index) == 3 and np.array_equal(index.vectors, unit(3, 3)) and index.n_visible == 3


def test_bad_arguments() -> None:
    index = filled(unit(3, 3))
    for row in (-1, 3):
        for act in (index.archive, index.restore, index.is_visible):
            with pytest.raises(InputError):
                act(row)
    with pytest.raises(InputError):
        index.search(np.ones(3), -1)
    for out in (np.empty(2, np.float32), np.empty(3), np.empty(6, np.float32)[::2]):
        with pytest.raises(InputError):
            index.scores(np.ones(3), out)
    with pytest.raises(InputError):
        index.add_many(unit(2, 3), visible=[True])
    with pytest.raises(InputError):
        VectorIndex(0)
    assert len(index) == 3


def test_the_last_answer_is_reused_only_while_it_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same vector again, for fewer or more rows, after rows came, went, came back and were
    overwritten, and after its array has changed, in which hooks see it through a read-only view:
    always the sorted list of whole products."""
    rng, looked, nearest = np.random.default_rng(5), list[int](), VectorIndex._nearest
    monkeypatch.setattr(
        VectorIndex, "_nearest", lambda self, *args: looked.append(1) or nearest(self, *args)
    )
    rows, column = (
        rng.integers(-9, 10, (90, 16)).astype(np.float32),
        rng.integers(-9, 10, 16).astype(np.float32),
    )
    index, query, held, hidden = VectorIndex(16), column.view(), rows[:80], set[int]()
    index.add_many(held)
    query.flags.writeable = False

    def add(vector: np.ndarray) -> None:
        nonlocal held
        index.add(vector)
        held = np.vstack([held, vector])

    def overwrite(row: int, vector: np.ndarray) -> None:
        index.overwrite(row, vector)
        held[row] = vector

    changes = [lambda: None, lambda: add(rows[80]), lambda: (index.archive(3), hidden.add(3)),
               lambda: (index.restore(3), hidden.clear()),
               lambda: add(query), lambda: np.copyto(column, rows[7]), lambda: overwrite(5, query),
               lambda: column.sort(), lambda: None]  # fmt: skip
    for change in changes:
        change()
        for k in (3, 50, 7, 0, 200):
            for visible in (True, False, True):
                exact = held.astype(int) @ column.astype(int)
                order = sorted(
                    set(range(len(held))) - (hidden if visible else set()),
                    key=lambda row: (-exact[row], row),
                )[:k]
                found, products = index.search(query, k, visible)
                assert found.tolist() == order and products.tolist() == exact[order].tolist()
                # what was given out is the asker's own
                found[:] = -1
    for asked in (query, column, column.copy(), np.repeat(column, 2)[::2]):
        index.search(asked, 32)
    looked.clear()
    for asked in (
        query,
        column,
        column.copy(),
        np.repeat(column, 2)[::2],
        column.astype(float),
        column.tolist(),
    ):
        index.search(asked, 9)
    assert not looked, "the same numbers share one pass"
    for wrong, k in (
        (query, -1),
        (column[None], 3),
        (column[:8], 3),
        (column.view(np.int32).astype("V4"), 3),
    ):
        with pytest.raises(InputError):
            index.search(wrong, k)


def test_an_overwritten_vector_is_found_as_one_that_was_added() -> None:
    rows, new = unit(40, 16), unit(1, 16, seed=9)[0]
    index, query = filled(rows), unit(1, 16, seed=5)[0]
    query.flags.writeable = False
    before = index.search(query, 3)  # kept, and no longer valid afterwards
    index.overwrite(7, new)
    rows[7] = new
    fresh = filled(rows)
    np.testing.assert_array_equal(index.vectors, rows)
    for one, other in zip(
        (*index.search(query, 40), index.scores(query, np.empty(40, np.float32))),
        (*fresh.search(query, 40), fresh.scores(query, np.empty(40, np.float32))),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    index.overwrite(int(before[0][0]), -query)
    assert index.search(query, 3)[0][0] != before[0][0]
    for row, vector in ((40, new), (-1, new), (0, new[:3]), (0, np.full(16, np.nan))):
        with pytest.raises(InputError):
            index.overwrite(row, vector)
