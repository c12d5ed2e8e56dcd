"""Chance levels, against every ranking of a small pool and against random rankings of a large
one.
"""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from hebbarium.benchmarks.scores.chance import (
    chance,
    chance_levels,
    forbidden_levels,
    oracle_levels,
    pool_of,
    pools,
)
from hebbarium.benchmarks.scores.metrics import (
    DEPTHS,
    KINDS,
    at_depths,
    depth_summary,
    forbidden_shares,
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


@pytest.mark.slow
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


@pytest.mark.parametrize(("pool", "refused"), [(1, 1), (5, 1), (6, 4), (7, 7), (12, 5)])
def test_forbidden_levels_are_the_mean_and_the_least_over_all_answers(
    pool: int, refused: int
) -> None:
    """Every set of places of what is forbidden is as likely as any other."""
    names = [f"e{n}" for n in range(pool)]
    shares = [
        forbidden_shares(names, [names[place] for place in places])
        for places in combinations(range(pool), refused)
    ]
    levels = forbidden_levels([(pool, refused)])
    for name in ("forbidden@1", "forbidden@5", "forbidden@10"):
        values = [share[name] for share in shares]
        assert levels["chance"][name] == pytest.approx(np.mean(values))
        assert levels["oracle"][name] == pytest.approx(min(values))


def test_no_ranking_scores_more_than_the_oracle() -> None:
    best = oracle_levels([(5, 2)], (1, 3))
    for ranks in permutations(range(1, 6), 2):
        assert all(value <= best[name] for name, value in at_depths(ranks, (1, 3)).items())
    assert best == at_depths([1, 2], (1, 3)) and oracle_levels([]) == {}


def test_levels_are_means_over_questions() -> None:
    whole, parts = forbidden_levels([(10, 6), (4, 1)]), [(10, 6), (4, 1)]
    for kind in ("chance", "oracle"):
        for name, value in whole[kind].items():
            assert value == pytest.approx(
                np.mean([forbidden_levels([part])[kind][name] for part in parts])
            )
    assert forbidden_levels([]) == {}
    pair = oracle_levels([(20, 1), (20, 12)])
    assert pair["recall@10"] == pytest.approx((1.0 + 10 / 12) / 2) and pair["recall@1"] == (
        pytest.approx((1.0 + 1 / 12) / 2)
    )
