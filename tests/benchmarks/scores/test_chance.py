"""Chance levels, against every ranking of a small pool and against random rankings of a large
one.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from hebbarium.benchmarks.scores.chance import chance, chance_levels, pool_of, pools
from hebbarium.benchmarks.scores.metrics import (
    DEPTHS,
    KINDS,
    at_depths,
    depth_summary,
    named,
    question_metrics,
)
from hebbarium.engine.base.errors import InputError


@pytest.mark.parametrize(("pool", "gold"), [(1, 1), (5, 1), (6, 2), (7, 3), (4, 4)])
@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_chance_is_the_mean_over_all_rankings(pool: int, gold: int, k: int) -> None:
    every = [at_depths(list(ranks), (k,)) for ranks in combinations(range(1, pool + 1), gold)]
    expected = {kind: np.mean([each[named(kind, k)] for each in every]) for kind in KINDS}
    assert chance(pool, gold, k) == pytest.approx(expected)


def test_chance_is_the_mean_of_random_rankings_of_a_large_pool() -> None:
    rng, found = np.random.default_rng(3), []
    for _ in range(6000):
        found.append(
            [at_depths((rng.permutation(200)[:4] + 1).tolist())[named(kind, 10)] for kind in KINDS]
        )
    table, expected = np.array(found), chance(200, 4, 10)
    for i, kind in enumerate(KINDS):
        p = expected[kind]  # of `all`, which no drawn ranking has here: its own spread
        spread = (p * (1.0 - p)) ** 0.5 if kind == "all" else table[:, i].std()
        assert abs(table[:, i].mean() - p) < 4 * spread / 6000**0.5


def test_levels_of_questions_are_means_and_more_gold_than_pool_is_refused() -> None:
    found = chance_levels([(10, 1), (20, 2), (20, 2)])
    assert (
        set(found) == {named(kind, k) for kind in KINDS for k in DEPTHS} and chance_levels([]) == {}
    )
    assert found["mrr@5"] == pytest.approx(
        (chance(10, 1, 5)["mrr"] + 2 * chance(20, 2, 5)["mrr"]) / 3
    )
    with pytest.raises(InputError):
        chance(3, 4, 10)


def test_a_pool_that_an_answer_exhausts_has_a_warning() -> None:
    assert pool_of([11, 30, 20], 10).warning == "" and (
        pool_of([11, 30, 20], 10).smallest,
        pool_of([11, 30, 20], 10).middle,
    ) == (11, 20.0)
    assert "for 2 of 3 questions" in pool_of([10, 4, 20], 10).warning
    with pytest.raises(InputError):
        pool_of([], 10)
    rows = [
        {"conversation": "a", "question": "1", "gold": ["x"]},
        {"conversation": "b", "question": "1", "gold": []},
        {"conversation": "b", "question": "2", "gold": ["x", "y", "z"]},
        {"conversation": "a", "question": "2", "gold": ["x"]},
    ]
    assert pools(rows, {("a", "1"): 9, ("b", "1"): 2, ("b", "2"): 2, ("a", "2"): 4}) == [
        (9, 1),
        (3, 3),
        (4, 1),
    ]


@pytest.mark.parametrize(
    "ranks", [[1], [0], [2, 7, 0], [11, 50, 51], [1, 2, 3, 4, 5, 6], [0, 0, 49]]
)
def test_depths_agree_with_the_metrics_at_ten_and_with_their_definitions(ranks: list[int]) -> None:
    found, ten = at_depths(ranks), question_metrics(ranks)
    assert (found["hit@10"], found["recall@10"], found["mrr@10"], found["ndcg@10"]) == (
        ten.hit_10,
        ten.recall_10,
        ten.mrr_10,
        ten.ndcg_10,
    )
    for k in DEPTHS:
        top = [r for r in ranks if 0 < r <= k]
        assert found[f"recall@{k}"] == len(top) / len(ranks) and found[f"hit@{k}"] == float(
            bool(top)
        )
        assert found[f"mrr@{k}"] == (1.0 / min(top) if top else 0.0)
        assert found[f"all@{k}"] == float(len(top) == len(ranks))
        ideal = sum(1.0 / np.log2(r + 1) for r in range(1, min(len(ranks), k) + 1))
        assert found[f"ndcg@{k}"] == pytest.approx(sum(1.0 / np.log2(r + 1) for r in top) / ideal)
    assert (
        depth_summary([ranks, [1]])["recall@5"] == pytest.approx((found["recall@5"] + 1.0) / 2)
        and depth_summary([]) == {}
    )
