from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.benchmarks.scores.metrics import METRICS, Metrics, question_metrics, summary
from hebbarium.engine.base.errors import InputError

gold_ranks = st.lists(st.integers(1, 30), min_size=1, max_size=14, unique=True)


def by_walking_the_list(ranks: list[int], misses: int) -> dict[str, float]:
    """An independent reference: lay out the ranking as relevance flags and walk down it."""
    relevance = np.zeros(40)
    relevance[[rank - 1 for rank in ranks]] = 1.0
    gold = len(ranks) + misses
    discount = np.log(2.0) / np.log(np.arange(10) + 2.0)
    ideal = np.zeros(10)
    ideal[:gold] = 1.0
    first = next((position for position in range(10) if relevance[position]), None)
    return {
        "hit@10": float(relevance[:10].any()),
        "recall@5": relevance[:5].sum() / gold,
        "recall@10": relevance[:10].sum() / gold,
        "mrr@10": 0.0 if first is None else 1.0 / (first + 1),
        "ndcg@10": float(relevance[:10] @ discount / (ideal @ discount)),
        "recall@1": relevance[0] / gold,
        "all@10": float(relevance[:10].sum() == gold),
    }


@given(gold_ranks, st.integers(0, 4), st.randoms(use_true_random=False))
def test_metrics_equal_a_walk_down_the_ranking(ranks: list[int], misses: int, random) -> None:
    shuffled = ranks + [0] * misses
    random.shuffle(shuffled)
    expected = by_walking_the_list(ranks, misses)
    assert question_metrics(shuffled).named() == pytest.approx(expected, abs=1e-12)
    assert question_metrics(ranks, n_gold=len(ranks) + misses) == question_metrics(shuffled)


@pytest.mark.parametrize(("ranks", "expected"), [
    ([1], (1, 1, 1, 1, 1, 1, 1)),
    ([10], (1, 0, 1, 1 / 10, 1 / math.log2(11), 0, 1)),
    ([11], (0, 0, 0, 0, 0, 0, 0)),
    ([0], (0, 0, 0, 0, 0, 0, 0)),
    ([5, 6], (1, 1 / 2, 1, 1 / 5,
              (1 / math.log2(6) + 1 / math.log2(7)) / (1 + 1 / math.log2(3)), 0, 1)),
    ([0, 2, 12, 4], (1, 2 / 4, 2 / 4, 1 / 2,
                     (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5)), 0, 0)),
    ([3, 1], (1, 1, 1, 1, (1 + 1 / 2) / (1 + 1 / math.log2(3)), 1 / 2, 1)),
])  # fmt: skip
def test_metrics_worked_by_hand(ranks: list[int], expected: tuple[float, ...]) -> None:
    assert tuple(question_metrics(ranks).named().values()) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("gold", [1, 3, 10, 14])
def test_a_perfect_ranking_has_an_ndcg_of_exactly_one_even_with_more_gold_than_places(
    gold: int,
) -> None:
    perfect = question_metrics(list(range(gold, 0, -1)))
    assert perfect.ndcg_10 == 1.0
    assert perfect.recall_10 == pytest.approx(min(gold, 10) / gold)


@given(gold_ranks.filter(lambda ranks: max(ranks) > 1), st.data())
def test_moving_a_gold_item_up_never_lowers_a_metric(ranks: list[int], data) -> None:
    before = question_metrics(ranks)
    chosen = data.draw(st.sampled_from([i for i, rank in enumerate(ranks) if rank > 1]))
    free = [rank for rank in range(1, ranks[chosen]) if rank not in ranks]
    if free:
        better = [*ranks[:chosen], data.draw(st.sampled_from(free)), *ranks[chosen + 1 :]]
        after = question_metrics(better).named()
        assert all(after[name] >= value - 1e-15 for name, value in before.named().items())


@pytest.mark.parametrize(
    ("ranks", "n_gold"), [([], None), ([], 0), ([3, 3], None), ([-1], None), ([1, 2], 1)]
)
def test_what_has_no_metric_is_refused(ranks: list[int], n_gold: int | None) -> None:
    with pytest.raises(InputError):
        question_metrics(ranks, n_gold)


def test_summary_is_the_mean_over_questions_in_any_order() -> None:
    rows = [question_metrics([rank, 0, 3]) for rank in (1, 2, 7, 9, 15, 40)] + [
        question_metrics([0])
    ]
    got = summary(rows)
    assert (
        list(got)
        == ["n", *METRICS]
        == ["n", "hit@10", "recall@5", "recall@10", "mrr@10", "ndcg@10", "recall@1", "all@10"]
    )
    table = np.array([list(row.named().values()) for row in rows])
    assert [got[name] for name in METRICS] == pytest.approx(table.mean(axis=0).tolist())
    assert got["n"] == 7
    assert summary(reversed(rows)) == got


def test_summary_of_no_question_has_no_means() -> None:
    assert summary([]) == {"n": 0, **dict.fromkeys(METRICS)}


def test_metrics_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Metrics(1, 1, 1, 1, 1, 1, 1).mrr_10 = 0.5  # type: ignore[misc]


def test_numpy_ranks_are_taken() -> None:
    assert question_metrics(np.array([4, 0])) == question_metrics([4, 0])  # type: ignore[arg-type]
