"""Coverage: greedy choice against brute force and against greedy choice without shortcuts, under
a number of items and under costs.
"""

from __future__ import annotations

from itertools import combinations
from math import e

import numpy as np
import pytest

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.context.coverage import Concepts, cover, cover_from, cover_within

Sets = list[set[str]]


def instances(number: int, most: int, seed: int) -> list[tuple[Sets, dict[str, float], list[int]]]:
    """Random items, weights of concepts and costs; small, so that every subset can be tried."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        n, v = int(rng.integers(1, most + 1)), int(rng.integers(1, 9))
        sets = [
            {f"c{c}" for c in range(v) if rng.random() < rng.choice([0.2, 0.5])} for _ in range(n)
        ]
        weights = {f"c{c}": float(rng.choice([0.0, 1.0, rng.random() * 9.0])) for c in range(v)}
        found.append((sets, weights, rng.integers(0, 12, n).tolist()))
    return found


def value(sets: Sets, weights: dict[str, float], chosen: tuple[int, ...] | list[int]) -> float:
    return sum(weights[c] for c in set().union(*(sets[j] for j in chosen)))


def subsets(n: int) -> list[tuple[int, ...]]:
    return [s for size in range(n + 1) for s in combinations(range(n), size)]


def plain_greedy(sets: Sets, weights: dict[str, float], k: int) -> list[int]:
    chosen: list[int] = []
    while len(chosen) < k:
        gains = {
            j: value(sets, weights, [*chosen, j]) - value(sets, weights, chosen)
            for j in range(len(sets))
            if j not in chosen
        }
        best = max(gains, key=lambda j: (gains[j], -j), default=None)
        if best is None or gains[best] <= 1e-12:
            break
        chosen.append(best)
    return chosen


def test_a_number_of_items_is_within_its_bound_of_the_best_on_500_instances() -> None:
    for sets, weights, _ in instances(500, 8, 1):
        k = 1 + len(sets) // 3
        best = max(value(sets, weights, s) for s in subsets(len(sets)) if len(s) <= k)
        chosen = cover(Concepts.of(sets, weights), k).tolist()
        assert len(set(chosen)) == len(chosen) <= k
        assert (
            value(sets, weights, chosen)
            >= (1.0 - (1.0 - 1.0 / k) ** k) * best - 1e-9
            >= (1.0 - 1.0 / e) * best - 1e-9
        )


def test_a_budget_is_kept_and_within_its_bound_of_the_best_on_500_instances() -> None:
    for sets, weights, costs in instances(500, 8, 2):
        budget = sum(costs) // 3 + 1
        best = max(
            value(sets, weights, s)
            for s in subsets(len(sets))
            if sum(costs[j] for j in s) <= budget
        )
        chosen = cover_within(Concepts.of(sets, weights), costs, budget).tolist()
        assert sum(costs[j] for j in chosen) <= budget and len(set(chosen)) == len(chosen)
        assert value(sets, weights, chosen) >= (1.0 - 1.0 / e) / 2.0 * best - 1e-9


def test_lazy_choice_is_the_choice_without_shortcuts_with_fewer_evaluations() -> None:
    for sets, weights, _ in instances(100, 12, 3):
        # whole numbers, so that equal gains are equal
        whole = {c: round(w) * 1.0 for c, w in weights.items()}
        assert cover(Concepts.of(sets, whole), len(sets)).tolist() == plain_greedy(
            sets, whole, len(sets)
        )
    rng = np.random.default_rng(4)
    concepts = Concepts.of([{f"c{c}" for c in rng.integers(0, 400, 20)} for _ in range(200)])
    chosen = np.empty(30, np.int64)
    count, evaluated = cover_from(
        concepts.start,
        concepts.concept,
        concepts.weight,
        np.ones(200),
        np.zeros(200),
        np.full(200, -1),
        np.zeros(0),
        0.0,
        False,
        0,
        chosen,
    )
    assert count == 30 and evaluated < 0.5 * sum(200 - step for step in range(30))


def test_the_instances_of_the_dossier() -> None:
    """SB-1: greedy choice covers 5 of 6.  SB-7: by density alone the value is 2 of 100."""
    sets = [{"1", "2", "3", "4"}, {"1", "2", "5"}, {"3", "4", "6"}]
    concepts = Concepts.of(sets, {})
    assert cover(concepts, 2).tolist()[0] == 0 and concepts.value(cover(concepts, 2)) == 5.0
    assert cover_within(
        Concepts.of([{"a"}, {"b"}], {"a": 2.0, "b": 100.0}), [1, 100], 100
    ).tolist() == [1]
    cheap = Concepts.of([{"a"}, *({f"b{i}"} for i in range(10))], {"a": 2.0})
    # by gain alone: one item of value 2
    assert len(cover_within(cheap, [10, *[1] * 10], 10)) == 10


def test_gains_shrink_and_values_grow() -> None:
    for sets, weights, _ in instances(200, 6, 5):
        concepts = Concepts.of(sets, weights)
        for small in subsets(len(sets)):
            large = (*small, *(j for j in range(len(sets)) if j not in small and j % 2))
            for v in set(range(len(sets))) - set(large):
                gains = [
                    concepts.value([*chosen, v]) - concepts.value(chosen)
                    for chosen in (small, large)
                ]
                assert gains[0] >= gains[1] - 1e-9 >= -2e-9
            assert concepts.value(small) == pytest.approx(value(sets, weights, small))


def test_a_repetition_and_an_item_without_concepts_are_not_chosen() -> None:
    assert cover(Concepts.of([{"a", "b"}, {"b", "a"}, set(), {"c"}]), 9).tolist() == [0, 3]
    assert cover_within(Concepts.of([{"a"}, {"a"}, set()]), [3, 2, 0], 9).tolist() in ([0], [1])


def test_nothing_to_choose_from_and_no_room_give_nothing() -> None:
    assert cover(Concepts.of([]), 3).tolist() == cover_within(Concepts.of([]), [], 9).tolist() == []
    some = Concepts.of([{"a"}])
    assert (
        cover(some, 0).tolist()
        == cover(some, -1).tolist()
        == cover_within(some, [1], 0).tolist()
        == []
    )
    assert cover_within(some, [0], 0).tolist() == [0]


def test_odd_costs_and_weights_are_refused() -> None:
    some = Concepts.of([{"a"}])
    for costs in ([-1.0], [np.nan], [1.0, 2.0]):
        with pytest.raises(InputError, match="costs"):
            cover_within(some, costs, 1.0)
    with pytest.raises(InputError, match="weight"):
        Concepts.of([{"a"}], {"a": -1.0})


def worth_of(
    sets: Sets, weights: dict[str, float], worth: list[float], chosen: tuple[int, ...] | list[int]
) -> float:
    return sum(
        weight * max((worth[j] for j in chosen if c in sets[j]), default=0.0)
        for c, weight in weights.items()
    )


def test_items_of_different_worth_are_within_the_bound_of_the_best_on_300_instances() -> None:
    rng = np.random.default_rng(8)
    for sets, weights, costs in instances(300, 7, 8):
        worth, plain = (
            [float(w) for w in rng.choice([0.0, 0.3, 1.0, 2.0], len(sets))],
            Concepts.of(sets, weights),
        )
        concepts = Concepts(plain.start, plain.concept, plain.weight, np.array(worth))
        budget = sum(costs) // 3 + 1
        best = max(
            worth_of(sets, weights, worth, s)
            for s in subsets(len(sets))
            if sum(costs[j] for j in s) <= budget
        )
        chosen = cover_within(concepts, costs, budget).tolist()
        assert concepts.value(chosen) == pytest.approx(worth_of(sets, weights, worth, chosen))
        assert (
            concepts.value(chosen) >= (1.0 - 1.0 / e) / 2.0 * best - 1e-9
            and sum(costs[j] for j in chosen) <= budget
        )
        assert all(worth[j] > 0.0 for j in chosen)


def test_the_first_item_of_a_group_pays_for_its_opening() -> None:
    some = Concepts.of([{"a"}, {"b"}, {"c"}], {"a": 3.0, "b": 2.0, "c": 1.0})
    # 4 + 1 + 1; a third one would need 5
    assert cover_within(some, [1, 1, 1], 7, [0, 0, 1], [4, 4]).tolist() == [0, 1]
    assert cover_within(some, [1, 1, 1], 11, [0, 0, 1], [4, 4]).tolist() == [0, 1, 2]
    # only the item without a group fits
    assert cover_within(some, [1, 1, 1], 4, [0, 0, -1], [4]).tolist() == [2]
    for sets, weights, costs in instances(200, 8, 9):
        rng = np.random.default_rng(len(sets))
        groups, opening = rng.integers(-1, 3, len(sets)), np.array([2.0, 0.0, 5.0])
        chosen = cover_within(Concepts.of(sets, weights), costs, 14.0, groups, opening).tolist()
        assert (
            sum(costs[j] for j in chosen)
            + sum(opening[g] for g in {int(groups[j]) for j in chosen} - {-1})
            <= 14.0
        )


@pytest.mark.slow
def test_the_compiled_choice_is_the_plain_one() -> None:
    rng = np.random.default_rng(7)
    for sets, weights, costs in instances(30, 10, 6):
        concepts, found = Concepts.of(sets, weights), []
        worth, groups, opening = (
            rng.random(len(sets)),
            rng.integers(-1, 2, len(sets)),
            np.array([1.0, 3.0]),
        )
        for run in (cover_from, cover_from.py_func):
            chosen = np.full(len(sets), -1, np.int64)
            with np.errstate(divide="ignore"):
                found.append(
                    (
                        run(
                            concepts.start,
                            concepts.concept,
                            concepts.weight,
                            worth,
                            np.array(costs, float),
                            groups,
                            opening,
                            15.0,
                            True,
                            0,
                            chosen,
                        ),
                        chosen.tolist(),
                    )
                )
        assert found[0] == found[1]
