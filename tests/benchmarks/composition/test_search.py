"""The search against brute force on toy problems, all of whose parts are scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.composition.search import Floats, Part, Problem, complete, smallest

IDS = tuple("abcdefgh")
Score = Callable[[Part], Floats]


def losing(problem: Problem, score: Score) -> Callable[[Sequence[Part]], Floats]:
    whole = score(problem.whole)
    return lambda parts: np.array([whole - score(part) for part in parts])


def cheapest(problem: Problem, score: Score) -> float:
    """The cost of the cheapest allowed part, among all that can be built."""
    lost = losing(problem, score)
    return min(
        problem.cost_of(part)
        for size in range(1, len(problem.mechanisms) + 1)
        for part in map(frozenset, combinations(problem.mechanisms, size))
        if problem.fixed <= part
        and problem.without(part, []) == part
        and problem.allowed(lost([part])[0])
    )


def toy(seed: int, **more: Any) -> tuple[Problem, Score]:
    """Two constraints, effects of mechanisms and of pairs of them."""
    rng = np.random.default_rng(seed)
    alone = rng.choice([0.0, 0.0, 0.0, 0.002, 0.01, 0.03, -0.004], size=(2, len(IDS)))
    pairs = [tuple(rng.choice(len(IDS), 2, replace=False)) for _ in range(6)]
    together = rng.choice([-0.01, 0.01, 0.005, -0.005], size=(2, len(pairs)))

    def score(part: Part) -> Floats:
        on = np.array([float(id in part) for id in IDS])
        return np.asarray(alone @ on + together @ np.array([on[a] * on[b] for a, b in pairs]))

    return Problem(IDS, (0.006, 0.006), dict.fromkeys(IDS, 1.0), **more), score


def test_the_part_is_allowed_and_nothing_of_it_can_leave_alone() -> None:
    for seed in range(60):
        problem, score = toy(seed)
        lost = losing(problem, score)
        found = smallest(problem, lost).part
        assert problem.allowed(lost([found])[0])
        alone = [problem.without(found, [id]) for id in problem.removable(found)]
        assert not alone or not problem.allowed(lost(alone)).any()


def test_losses_that_are_measured_briefly_are_enough() -> None:
    sizes = []
    for seed in range(100):
        problem, score = toy(seed)
        lost = losing(problem, score)
        left_out = 0

        def briefly(
            parts: Sequence[Part],
            lost: Callable[[Sequence[Part]], Floats] = lost,
            margins: tuple[float, ...] = problem.margins,
        ) -> Floats:
            nonlocal left_out
            table = lost(parts)
            over = table[:, 0] > margins[0] + 1e-12
            table[over, 1] = np.nan
            left_out += int(over.sum())
            return table

        found = smallest(problem, lost, briefly=briefly)
        assert problem.allowed(lost([found.part])[0])
        alone = [problem.without(found.part, [id]) for id in problem.removable(found.part)]
        assert not alone or not problem.allowed(lost(alone)).any()
        assert all(complete(found.measured[part]) for part in (problem.whole, found.part))
        assert all(np.isfinite(single).all() for single in found.singles.values())
        sizes.append((len(found.part), len(smallest(problem, lost).part), left_out))
    assert sum(left_out for *_, left_out in sizes) > 100
    assert np.mean([brief - full for brief, full, _ in sizes]) <= 0.05


@pytest.mark.slow
def test_brute_force_over_all_parts_seldom_finds_a_smaller_one() -> None:
    gaps = []
    for seed in range(200):
        problem, score = toy(seed)
        found = smallest(problem, losing(problem, score)).part
        gaps.append(problem.cost_of(found) - cheapest(problem, score))
    assert min(gaps) >= 0
    assert np.mean(np.array(gaps) == 0) >= 0.9
    assert max(gaps) <= 2


def test_brute_force_with_costs_that_differ() -> None:
    ratios = []
    for seed in range(100):
        problem, score = toy(seed)
        cost = dict(zip(IDS, np.random.default_rng(seed).uniform(0.1, 5.0, len(IDS)), strict=True))
        problem = replace(problem, cost=cost)
        found = smallest(problem, losing(problem, score)).part
        ratios.append(problem.cost_of(found) / cheapest(problem, score))
    assert min(ratios) >= 1.0 - 1e-9
    assert np.mean(np.array(ratios) < 1.0 + 1e-9) >= 0.75


def test_of_two_substitutes_one_stays_although_neither_loses_anything_alone() -> None:
    problem = Problem(IDS, (0.005,), dict.fromkeys(IDS, 1.0), families=dict.fromkeys("ab", "words"))

    def score(part: Part) -> Floats:
        return np.array([0.3 * ("a" in part or "b" in part) + 0.1 * ("h" in part)])

    result = smallest(problem, losing(problem, score))
    assert len(result.part) == 2
    assert "h" in result.part
    assert result.singles["a"].tolist() == [0.0]
    assert result.families["words"] == pytest.approx([0.3])


def test_what_helps_only_together_stays_together_or_leaves_together() -> None:
    problem = Problem(IDS, (0.005,), dict.fromkeys(IDS, 1.0))

    def score(part: Part) -> Floats:
        return np.array([0.2 * ({"a", "b"} <= part) + 0.1 * ("c" in part)])

    assert smallest(problem, losing(problem, score)).part == {"a", "b", "c"}


def test_a_harmful_mechanism_leaves_first_and_pays_for_no_other_constraint() -> None:
    problem = Problem(tuple("abc"), (0.005, 0.005), dict.fromkeys("abc", 1.0))

    def score(part: Part) -> Floats:  # a hurts the first number, b helps the second alone
        return np.array([-0.1 * ("a" in part) + 0.02 * ("c" in part), 0.02 * ("b" in part)])

    assert smallest(problem, losing(problem, score)).part == {"b"}


def test_the_fusion_stays_and_what_requires_a_mechanism_leaves_with_it() -> None:
    problem = Problem(
        tuple("abcd"),
        (0.005,),
        dict.fromkeys("abcd", 1.0),
        fixed=frozenset("d"),
        requires={"a": frozenset("b"), "c": frozenset("d")},
    )
    seen = list[Part]()

    def score(part: Part) -> Floats:
        seen.append(part)
        return np.array([0.0])

    assert smallest(problem, losing(problem, score)).part == {"d"}
    assert all("d" in part and ("a" not in part or "b" in part) for part in seen)
    assert problem.removable(problem.whole) == ["a", "b", "c"]
    assert problem.with_required(frozenset("d"), "a") == {"a", "b", "d"}


def test_margins_of_zero_and_one() -> None:
    problem, score = toy(3)
    strict = replace(problem, margins=(0.0, 0.0))
    lost = losing(strict, score)
    assert (lost([smallest(strict, lost).part])[0] <= 1e-12).all()
    lenient = replace(problem, margins=(1.0, 1.0))
    assert len(smallest(lenient, losing(lenient, score)).part) == 1


def test_a_set_of_one_and_a_set_without_any_effect() -> None:
    one = Problem(("a",), (0.0,), {"a": 1.0})
    assert smallest(one, lambda parts: np.zeros((len(parts), 1))).part == {"a"}
    idle = Problem(IDS, (0.0,), dict.fromkeys(IDS, 1.0))
    assert len(smallest(idle, lambda parts: np.zeros((len(parts), 1))).part) == 1


def test_a_part_that_cannot_be_built_is_never_chosen() -> None:
    problem = Problem(tuple("abc"), (0.005,), dict.fromkeys("abc", 1.0))

    def lost(parts: Sequence[Part]) -> Floats:
        return np.array([[np.inf if "b" not in part else 0.0] for part in parts])

    assert smallest(problem, lost).part == {"b"}


def test_a_mechanism_comes_back_if_a_cheaper_part_becomes_possible() -> None:
    """x alone does what a and b do together, but while both are there it adds next to nothing, and
    so it leaves first.
    """
    problem = Problem(tuple("xab"), (0.005,), {"x": 1.5, "a": 1.0, "b": 1.0})

    def score(part: Part) -> Floats:
        x = "x" in part
        both = 0.3 + 0.001 * x
        return np.array([both if {"a", "b"} <= part else 0.3 * x or 0.1 * len(part & {"a", "b"})])

    result = smallest(problem, losing(problem, score))
    assert problem.cost_of(result.part) == cheapest(problem, score)
    assert result.part == {"x"}
    assert [step.how for step in result.steps] == ["elimination", "re-entry"]
    assert result.steps[1].entered == ("x",)
    assert result.steps[1].left == ("a", "b")


def test_every_part_is_measured_once_and_the_work_grows_slowly() -> None:
    ids = tuple(f"m{place}" for place in range(36))
    problem = Problem(ids, (0.006,), dict.fromkeys(ids, 1.0))
    effects = dict(zip(ids, np.random.default_rng(0).choice([0.0, 0.001, 0.03], 36), strict=True))
    asked = list[Part]()

    def lost(parts: Sequence[Part]) -> Floats:
        asked.extend(parts)
        return np.array([[sum(effects[id] for id in ids if id not in part)] for part in parts])

    result = smallest(problem, lost)
    assert len(asked) == len(set(asked)) == len(result.measured)
    assert len(asked) < 8 * len(ids)
    useful = [value for value in effects.values() if value == 0.03]
    minor = [value for value in effects.values() if value == 0.001]
    assert len(result.part) == len(useful) + len(minor) - 6  # six times .001 is the margin


def test_a_search_that_begins_with_a_part_grows_it_first_and_ends_as_well() -> None:
    gaps = []
    for seed in range(120):
        problem, score = toy(seed)
        start = frozenset(np.random.default_rng(seed).choice(IDS, 2, replace=False).tolist())
        lost = losing(problem, score)
        result = smallest(problem, lost, start=start)
        assert problem.allowed(lost([result.part])[0])
        alone = [problem.without(result.part, [id]) for id in problem.removable(result.part)]
        assert not alone or not problem.allowed(lost(alone)).any()
        gaps.append(problem.cost_of(result.part) - cheapest(problem, score))
    assert np.mean(np.array(gaps) == 0) >= 0.8


def test_growth_compares_parts_where_the_part_to_begin_with_was_measured() -> None:
    """The second constraint is measured only for parts that the first one allows, as a world is."""
    ids = ("m1", "m2", "m3")
    problem = Problem(ids, (0.01, 0.01), dict.fromkeys(ids, 1.0))

    def lost(parts: Sequence[Part]) -> Floats:
        first = [0.02 * ("m1" not in part) for part in parts]
        second = [0.09 * ("m2" not in part) for part in parts]
        return np.array(
            [(a, b if a <= 0.01 else np.nan) for a, b in zip(first, second, strict=True)]
        )

    grown = smallest(problem, lost, start=frozenset({"m3"}))
    assert [step.how for step in grown.steps] == ["growth", "elimination"]
    assert grown.part == {"m1", "m2"}


def test_a_part_to_begin_with_that_is_allowed_spares_the_screening() -> None:
    ids = tuple(f"m{place}" for place in range(36))
    problem = Problem(ids, (0.006,), dict.fromkeys(ids, 1.0))

    def lost(parts: Sequence[Part]) -> Floats:
        return np.array([[0.1 * len({"m1", "m2"} - part)] for part in parts])

    result = smallest(problem, lost, start=frozenset({"m1", "m2", "m3"}))
    assert result.part == {"m1", "m2"}
    assert result.singles == {}
    assert len(result.measured) < 45
    nothing = smallest(problem, lost, start=frozenset({"m3"}))
    assert nothing.part == {"m1", "m2"}
    assert [step.how for step in nothing.steps] == ["growth", "elimination"]
