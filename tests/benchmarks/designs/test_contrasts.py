"""Contrasts of designs against definitions by brute force, least squares, and games with known
values.
"""

from __future__ import annotations

from itertools import combinations, permutations
from math import factorial
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.designs.contrasts import (
    Contrast,
    coalitions,
    confounded,
    estimated,
    factorial_effects,
    folded,
    hadamard_matrix,
    interaction,
    shapley,
    shapley_sampled,
)
from hebbarium.engine.base.errors import InputError

Game = dict[frozenset[int], float]


def game(p: int, seed: int = 0) -> Game:
    rng = np.random.default_rng(seed)
    return {c: float(rng.normal()) for c in coalitions(range(p))}


def value(weights: Any, v: Game) -> float:
    return float(sum(w * v[c] for c, w in weights.items()))


def by_orders(p: int, v: Game, player: int) -> float:
    """The mean marginal contribution over all p! orders, which defines the Shapley value."""
    total = 0.0
    for order in permutations(range(p)):
        before = frozenset(order[: order.index(player)])
        total += v[before | {player}] - v[before]
    return total / factorial(p)


@pytest.mark.parametrize("p", [1, 2, 3, 5, 6])
def test_shapley_values_are_the_mean_over_all_orders(p: int) -> None:
    v, found = game(p, p), shapley(range(p))
    assert [value(found[i], v) for i in range(p)] == pytest.approx(
        [by_orders(p, v, i) for i in range(p)], abs=1e-12
    )


@pytest.mark.slow
@pytest.mark.parametrize("p", [3, 6, 10])
def test_shapley_values_and_interactions_are_those_of_shapiq(p: int) -> None:
    """Values, and for two players alone the interaction beside none, which is the Moebius
    coefficient of the pair.
    """
    from shapiq import ExactComputer

    v = game(p, p)
    oracle = ExactComputer(
        lambda on: np.array([v[frozenset(np.flatnonzero(row).tolist())] for row in on]), p
    )
    values = oracle("SV")
    assert [value(weights, v) for weights in shapley(range(p)).values()] == pytest.approx(
        [values[(i,)] for i in range(p)], abs=1e-12
    )
    moebius = oracle("Moebius")
    for i, j in combinations(range(p), 2):
        of = {
            "both": frozenset({i, j}),
            "one": frozenset({i}),
            "other": frozenset({j}),
            "none": frozenset[int](),
        }
        assert value({of[name]: w for name, w in interaction(*of).items()}, v) == pytest.approx(
            moebius[(i, j)], abs=1e-12
        )


@pytest.mark.parametrize("p", [1, 4, 10])
def test_shapley_values_add_up(p: int) -> None:
    v, found = game(p, 7), shapley(range(p))
    assert sum(value(found[i], v) for i in range(p)) == pytest.approx(
        v[frozenset(range(p))] - v[frozenset()], abs=1e-12
    )
    for weights in found.values():
        assert sum(weights.values()) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 64, 65])
def test_sampled_shapley_values_add_up_too(n: int) -> None:
    v, found = game(11, 1), shapley_sampled(range(11), n, seed=3)
    assert sum(value(found[i], v) for i in range(11)) == pytest.approx(
        v[frozenset(range(11))] - v[frozenset()], abs=1e-12
    )
    assert found == shapley_sampled(range(11), n, seed=3) != shapley_sampled(range(11), n, seed=4)


def test_symmetric_players_and_dummies() -> None:
    """A glove game: 0 and 1 hold left gloves, 2 a right one, 3 adds nothing; its values are 1/6,
    1/6, 4/6, 0 (Shapley 1953).
    """
    v = {c: float(2 in c and bool(c & {0, 1})) for c in coalitions(range(4))}
    found = shapley(range(4))
    assert [value(found[i], v) for i in range(4)] == pytest.approx(
        [1 / 6, 1 / 6, 4 / 6, 0.0], abs=1e-12
    )
    many = shapley_sampled(range(4), 20_000, seed=0)
    assert [value(many[i], v) for i in range(4)] == pytest.approx(
        [1 / 6, 1 / 6, 4 / 6, 0.0], abs=0.02
    )
    assert value(many[3], v) == 0.0


def test_antithetic_permutations_are_exact_for_two_way_games() -> None:
    """In a game of main effects and pairs, a permutation and its reverse give each pair's half
    to both: no error at all.
    """
    rng = np.random.default_rng(5)
    main, pair = rng.normal(size=11), rng.normal(size=(11, 11))
    v = {
        c: sum(main[i] for i in c) + sum(pair[i, j] for i, j in combinations(sorted(c), 2))
        for c in coalitions(range(11))
    }
    truth = [
        main[i] + sum(pair[min(i, j), max(i, j)] for j in range(11) if j != i) / 2
        for i in range(11)
    ]
    found = shapley_sampled(range(11), 2, seed=9)
    assert [value(found[i], v) for i in range(11)] == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_factorial_effects_are_those_of_least_squares(p: int) -> None:
    v, found = game(p, 11), factorial_effects(range(p))
    runs = coalitions(range(p))
    terms = [c for size in range(p + 1) for c in combinations(range(p), size)]
    signs = np.array(
        [[np.prod([1.0 if i in run else -1.0 for i in term]) for term in terms] for run in runs]
    )
    fit = np.linalg.lstsq(signs, np.array([v[run] for run in runs]), rcond=None)[0]
    for term, coefficient in zip(terms, fit, strict=True):
        if term in found:
            assert value(found[term], v) == pytest.approx(2.0 * coefficient, abs=1e-12)


def test_the_interaction_of_a_factorial_of_two_is_half_the_four_term_contrast() -> None:
    v = game(2)
    four = v[frozenset((0, 1))] - v[frozenset((0,))] - v[frozenset((1,))] + v[frozenset()]
    assert value(factorial_effects(range(2))[0, 1], v) == pytest.approx(four / 2, abs=1e-12)


@pytest.mark.parametrize(
    "n",
    [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88],
)
def test_hadamard_matrices_have_orthogonal_rows(n: int) -> None:
    h = hadamard_matrix(n)
    np.testing.assert_array_equal(h @ h.T, n * np.eye(n))
    assert (h[:, 0] == 1).all() and set(np.unique(h)) <= {-1, 1}


@pytest.mark.parametrize("p", [1, 3, 4, 7, 11, 12, 19, 40, 66, 87])
def test_main_effects_of_a_fold_over_are_clear_of_all_pairs(p: int) -> None:
    signs = folded(p)
    assert signs.shape == (2 * 4 * (p // 4 + 1), p)
    np.testing.assert_array_equal(signs.T @ signs, len(signs) * np.eye(p))
    pairs = np.array([signs[:, a] * signs[:, b] for a, b in combinations(range(p), 2)]).reshape(
        -1, len(signs)
    )
    assert not (pairs @ signs).any() and not signs.sum(axis=0).any()


def test_confounded_pairs_are_those_with_columns_that_are_not_orthogonal() -> None:
    signs = folded(4)
    groups = confounded(signs, "abcd")
    together = {frozenset((x, y)) for group in groups for x, y in combinations(group, 2)}
    for one, other in combinations(list(combinations(range(4), 2)), 2):
        dot = int((signs[:, one[0]] * signs[:, one[1]]) @ (signs[:, other[0]] * signs[:, other[1]]))
        if dot:
            assert (
                frozenset((("abcd"[one[0]], "abcd"[one[1]]), ("abcd"[other[0]], "abcd"[other[1]])))
                in together
            )
    full = np.array([[1 if i in run else -1 for i in range(3)] for run in coalitions(range(3))])
    assert confounded(full, "abc") == []


def test_a_size_without_a_construction_is_refused() -> None:
    with pytest.raises(InputError, match="no Hadamard matrix of 92 rows"):
        hadamard_matrix(92)


def test_estimates_are_weighted_sums_by_question() -> None:
    values = {"full": np.array([1.0, 0.5]), "without a": np.array([0.0, 0.5])}
    found = estimated([Contrast("a", "full minus arm", {"full": 1.0, "without a": -1.0})], values)
    assert found["a"].tolist() == [1.0, 0.0]
