"""Ranking kernels against numpy, compiled and plain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hebbarium.engine.base.kernels import in_python
from hebbarium.engine.contract.drafts import Kind
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.units import Unit
from hebbarium.engine.state.ranking import (
    MANY,
    SAMPLED,
    Answer,
    Standing,
    add_standardised,
    best,
    falling,
    rank,
)

FEW = [-2.0, 0.0, 0.5, 0.5, 1.0, np.nan, np.inf, -np.inf]  # many ties
scores_and_surface = st.lists(
    st.tuples(st.sampled_from(FEW) | st.floats(-1e3, 1e3, width=32), st.booleans()), max_size=40
)
both_ways = pytest.mark.parametrize("way", ["compiled", "plain"])


def function(called: Any, way: str) -> Any:
    """A function whose kernels run compiled, or as plain Python."""

    def plain(*arguments: Any) -> Any:
        with in_python():
            return called(*arguments)

    return called if way == "compiled" else plain


def arrays(pairs: list[tuple[float, bool]]) -> tuple[Any, Any]:
    return np.array([s for s, _ in pairs], dtype=np.float32), np.array(
        [v for _, v in pairs], dtype=np.bool_
    )


def reference(scores: Any, visible: Any) -> list[int]:
    """All retrievable rows, best first, by a stable sort."""
    rows = np.flatnonzero(visible & ~np.isnan(scores))
    return [int(r) for r in rows[np.argsort(-scores[rows], kind="stable")]]


@pytest.mark.parametrize(
    "kind", ["random", "ties", "silent", "falling", "sample below", "sample above", "hidden"]
)
@pytest.mark.parametrize("k", [MANY, MANY + 88, 4 * MANY])
@pytest.mark.parametrize("way", ["compiled", "plain"])
def test_many_of_many_more_rows_are_the_best(way: str, k: int, kind: str) -> None:
    rng = np.random.default_rng(k)
    n = SAMPLED * k + 7
    scores, visible = rng.standard_normal(n).astype(np.float32), rng.random(n) < 0.9
    if kind == "ties":
        scores = np.round(scores)
    elif kind == "silent":
        scores[rng.random(n) < 0.9] = np.nan
    elif kind == "falling":
        scores[::-1].sort()
    elif kind.startswith("sample"):
        scores[::SAMPLED] += 9.0 if kind == "sample above" else -9.0
    elif kind == "hidden":
        visible = rng.random(n) < 0.001
    assert function(best, way)(scores, visible, k).tolist() == reference(scores, visible)[:k]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("k", [1, 5, 56, 300])
def test_ties_among_many_are_ranked_by_row(k: int, dtype: type) -> None:
    """In every order of arrival: few scores, each of many rows."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        scores, visible = rng.integers(0, 9, 900).astype(dtype), rng.random(900) < 0.8
        for held in (scores, np.sort(scores), np.sort(scores)[::-1]):
            assert best(held, visible, k).tolist() == reference(held, visible)[:k]


@given(
    st.lists(st.floats(-1e3, 1e3, width=32) | st.sampled_from([0.0, -0.0, 1.5, -1.5]), max_size=60)
)
def test_falling_is_a_stable_sort(scores: list[float]) -> None:
    held = np.array(scores, np.float32)
    before = held.tobytes()
    assert (
        falling(held).tolist() == sorted(range(len(held)), key=lambda i: -float(held[i]))
        and held.tobytes() == before
    )


@both_ways
@given(scores_and_surface, st.integers(-2, 50))
@example([(1.0, True)] * 10, 4)
def test_best_is_a_stable_sort_cut_at_k(way: str, pairs: list[tuple[float, bool]], k: int) -> None:
    scores, visible = arrays(pairs)
    found = function(best, way)(scores, visible, k)
    assert found.dtype == np.int64 and found.tolist() == reference(scores, visible)[: max(k, 0)]


@both_ways
@given(scores_and_surface)
def test_rank_is_the_place_in_that_order(way: str, pairs: list[tuple[float, bool]]) -> None:
    scores, visible = arrays(pairs)
    order = reference(scores, visible)
    for row in range(-1, len(pairs) + 1):
        assert function(rank, way)(scores, visible, row) == (
            order.index(row) + 1 if row in order else 0
        )


@both_ways
@given(
    st.lists(
        st.tuples(
            st.sampled_from([np.nan, 0.0, 1.0]) | st.floats(-1e3, 1e3, width=32), st.booleans()
        ),
        max_size=40,
    ),
    st.sampled_from([-1.0, 0.0, 2.5]),
    st.sampled_from([0.0, 0.5, 3.0]),
)
def test_standardised_scores_are_z_scores(
    way: str, pairs: list[tuple[float, bool]], floor: float, weight: float
) -> None:
    scores, visible = arrays(pairs)
    out = np.full(len(pairs), 7.0)
    function(add_standardised, way)(scores, visible, floor, weight, out)
    filled = np.where(np.isnan(scores), floor, scores).astype(np.float64)
    compared, expected = filled[visible], np.full(len(pairs), 7.0)
    if compared.size and np.ptp(compared) > 1e-4:
        expected += weight * (filled - compared.mean()) / compared.std()
    elif compared.size and np.ptp(compared) > 0:
        return  # next to equal: rounding decides
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


@both_ways
@pytest.mark.parametrize("value", [0.0, 0.1, -3.7, 1e30, 1e-30, np.nan])
def test_equal_scores_standardise_to_zero(way: str, value: float) -> None:
    for n in (7, 300_000 if way == "compiled" else 1000):
        out = np.zeros(n)
        function(add_standardised, way)(
            np.full(n, value, dtype=np.float32), np.ones(n, dtype=np.bool_), 0.3, 1.0, out
        )
        assert not out.any()


@pytest.mark.parametrize("n", [1_024, 1_025, 3_000, 20_000])
@pytest.mark.parametrize("few", [1, 2, 40])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_no_standard_score_is_beyond_32(n: int, few: int, sign: float) -> None:
    """Up to 1,024 memories none can be; above, the largest distance from the mean is 32 sd, and
    all others keep their proportions to it.
    """
    rng = np.random.default_rng(n + few)
    scores, visible = np.zeros(n, np.float32), rng.random(n) < 0.95
    shown = np.flatnonzero(visible)[rng.permutation(int(visible.sum()))[:few]]
    scores[shown] = sign * rng.uniform(0.5, 1.0, few)
    scores[~visible] = sign * 50.0
    scores[np.flatnonzero(visible & (scores == 0.0))[::3]] = np.nan
    heard = np.where(np.isnan(scores), 0.0, scores.astype(np.float64))
    far = heard - heard[visible].mean()
    expected = far / max(heard[visible].std(), np.abs(far[visible]).max() / 32.0)
    for standardise in (
        (add_standardised, function(add_standardised, "plain"))
        if n < 4_000
        else (add_standardised,)
    ):
        out = np.zeros(n)
        assert standardise(scores, visible, 0.0, 1.0, out)
        np.testing.assert_allclose(out, expected, rtol=1e-6)
    assert np.abs(expected[visible]).max() <= 32.0 + 1e-9 and (
        n > 1_024 or np.isclose(heard[visible].std(), np.abs(far / expected)[shown[0]])
    )


def test_few_rows_that_stand_for_many_have_no_score_beyond_32() -> None:
    """A shortlist of 64 rows for 20,064 memories, of which one alone has a score: with these
    written out.
    """
    counts, scores, out = np.full(64, 318, np.int64), np.zeros(64, np.float32), np.zeros(64)
    counts[5], scores[5] = 30, 2.0
    repeated = np.repeat(scores, counts).astype(np.float64)
    assert add_standardised(scores, counts.astype(np.float32), 0.0, 1.0, out)
    far = scores - repeated.mean()
    np.testing.assert_allclose(out, far / max(repeated.std(), far.max() / 32.0), rtol=1e-6)
    counts[5] = 1
    out[:] = 0.0
    assert add_standardised(scores, counts.astype(np.float32), 0.0, 1.0, out) and np.isclose(
        out[5], 32.0
    )


@pytest.mark.parametrize("n", [640, 5_003])
@pytest.mark.parametrize("few", [1, 7, 40])
@pytest.mark.parametrize("alone", [False, True])
def test_scores_of_few_rows_that_stand_for_many(n: int, few: int, alone: bool) -> None:
    """Most rows are silent; with all memories written out.  `alone`: the rows with a score are
    the only visible ones.
    """
    rng = np.random.default_rng(n + few)
    counts, scores = rng.integers(0, 5, n), np.full(n, np.nan, np.float32)
    rows = rng.choice(n, few, replace=False)
    scores[rows] = rng.uniform(-2.0, 3.0, few)
    counts[rows[1:]] = rng.integers(0, 3, few - 1)
    counts[rows[0]] = 2
    if alone:
        counts[np.isnan(scores)] = 0
    heard = np.where(np.isnan(scores), 0.25, scores.astype(np.float64))
    repeated = np.repeat(heard, counts)
    far, reach = heard - repeated.mean(), np.abs(repeated - repeated.mean()).max() / 32.0
    for standardise in (add_standardised, function(add_standardised, "plain")):
        out = np.full(n, 1.0)
        differ = standardise(scores, counts.astype(np.float32), 0.25, 3.0, out)
        assert differ == (np.ptp(repeated) > 0.0)
        np.testing.assert_allclose(
            out, 1.0 + (3.0 * far / max(repeated.std(), reach) if differ else 0.0), rtol=1e-6
        )


@given(st.integers(0, 600), st.integers(0, 2**31))
def test_standard_scores_are_those_of_numpy(n: int, seed: int) -> None:
    """With hidden memories, infinities among them, silence and scores of any size; in Python and
    compiled.
    """
    rng = np.random.default_rng(seed)
    visible, floor = (
        rng.random(n) < rng.choice([0.0, 0.5, 1.0]),
        float(rng.choice([-1.0, 0.0, 0.3])),
    )
    scores = (rng.standard_normal(n) * rng.choice([0.0, 1e-7, 1.0, 1e12])).astype(np.float32)
    scores[rng.random(n) < rng.choice([0.0, 0.5, 0.97, 1.0])] = np.nan
    scores[~visible & (rng.random(n) < rng.choice([0.0, 0.5]))] = np.inf
    heard = np.where(np.isnan(scores), floor, scores.astype(np.float64))
    mean, sd = (heard[visible].mean(), heard[visible].std()) if visible.any() else (0.0, 0.0)
    for standardise in (add_standardised, function(add_standardised, "plain")):
        out = np.zeros(n)
        differ = standardise(scores, visible, floor, 2.0, out)
        if sd <= 1e-13 * abs(mean):
            assert not differ and not out.any()
        elif sd > 1e-9 * abs(mean):
            assert differ
            np.testing.assert_allclose(out, 2.0 * (heard - mean) / sd, rtol=1e-5, atol=1e-5)


def test_an_answer_ranks_rows_beyond_k() -> None:
    final, visible = (
        np.array([0.1, 0.9, np.nan, 0.4, 0.4], dtype=np.float32),
        np.array([1, 1, 1, 0, 1], dtype=np.bool_),
    )
    rows = best(final, visible, 2)
    units = tuple(
        Unit(row, Kind.EVENT, text, 0.0, "", "", (), ()) for row, text in ((1, "b"), (4, "e"))
    )
    answer = Answer(
        rows,
        final[rows],
        Standing(5, None, final, visible),
        units,
        (Event(0.0, "b"), Event(0.0, "e")),
    )
    assert [answer.rank(r) for r in range(5)] == [3, 1, 0, 0, 2] and answer.rows.tolist() == [1, 4]
