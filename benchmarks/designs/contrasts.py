"""Contrasts: what a design estimates, each a linear combination of the arms' values of one
question.

Every function returns weights over runs or coalitions; the estimate of a question is the weighted
sum of the arms' metric on that question, so intervals and tests come from differences per question,
as for a paired comparison.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard

from ...engine.base.errors import InputError

Player = TypeVar("Player", bound=Hashable)
Coalition = frozenset[Player]
EXACT = 10  # most players of an exact Shapley value and of a full factorial
PAIRED = 12  # most players of all pairs


@dataclass(frozen=True, slots=True)
class Contrast:
    """One estimate of a design.

    name     what it is called in reports, unique in the design
    kind     such as "effect of adding", "interaction" or "Shapley value"
    weights  arm id -> weight; weights of 0 are left out
    """

    name: str
    kind: str
    weights: Mapping[str, float]


def interaction(both: str, one: str, other: str, none: str) -> dict[str, float]:
    """Weights of the two-way interaction Y11 - Y10 - Y01 + Y00.

    >>> interaction("ab", "a", "b", "")
    {'ab': 1.0, 'a': -1.0, 'b': -1.0, '': 1.0}
    """
    return {both: 1.0, one: -1.0, other: -1.0, none: 1.0}


def coalitions(players: Sequence[Player]) -> list[Coalition[Player]]:
    """All 2^p subsets, by size, then in the order of the players.

    >>> [sorted(c) for c in coalitions("ab")]
    [[], ['a'], ['b'], ['a', 'b']]
    """
    return [
        frozenset(chosen)
        for size in range(len(players) + 1)
        for chosen in combinations(players, size)
    ]


def shapley(players: Sequence[Player]) -> dict[Player, dict[Coalition[Player], float]]:
    """Exact Shapley values as weights over all 2^p coalitions.

    phi_i = sum over S without i of |S|! (p - |S| - 1)! / p! (v(S + i) - v(S)): Shapley (1953),
    doi:10.1515/9781400881970-018.  Cost: O(p 2^p).
    """
    p, worths = len(players), {}
    for player in players:
        weights: dict[Coalition[Player], float] = {}
        for s in coalitions([other for other in players if other != player]):
            w = factorial(len(s)) * factorial(p - len(s) - 1) / factorial(p)
            weights[s], weights[s | {player}] = -w, w
        worths[player] = weights
    return worths


def shapley_sampled(
    players: Sequence[Player], permutations: int, seed: int
) -> dict[Player, dict[Coalition[Player], float]]:
    """Shapley values estimated from random permutations, each with its reverse, as weights over the
    coalitions that these visit.

    permutations  in all, rounded up to an even number

    Unbiased; the values of all players add up to v(all) - v(none) exactly, since each permutation's
    contributions do.  Castro, Gómez & Tejada (2009), doi:10.1016/j.cor.2008.04.004; antithetic
    pairs: Mitchell, Cooper, Frank & Holmes (2022), arXiv:2104.12199.
    """
    rng, gains = (
        np.random.default_rng(seed),
        {player: dict[Coalition[Player], float]() for player in players},
    )
    pairs = -(-permutations // 2)
    for _ in range(pairs):
        order = [players[i] for i in rng.permutation(len(players))]
        for permutation in (order, order[::-1]):
            before: Coalition[Player] = frozenset()
            for player in permutation:
                after, weights = before | {player}, gains[player]
                weights[after] = weights.get(after, 0.0) + 0.5 / pairs
                weights[before] = weights.get(before, 0.0) - 0.5 / pairs
                before = after
    return gains


def factorial_effects(
    players: Sequence[Player], order: int = 2
) -> dict[tuple[Player, ...], dict[Coalition[Player], float]]:
    """Main effects and interactions up to `order` of a full factorial, as weights over all 2^p
    coalitions.

    The effect is the mean of Y where the product of the signs is +1, less that where it is -1 (sign
    +1: the player is in).  Box, Hunter & Hunter (2005), Statistics for Experimenters, ch. 5; twice
    the coefficient of a least squares fit on signs.
    """
    runs, effects = coalitions(players), {}
    for size in range(1, order + 1):
        for chosen in combinations(players, size):
            effects[chosen] = {
                run: (-1.0) ** sum(player not in run for player in chosen) / 2 ** (len(players) - 1)
                for run in runs
            }
    return effects


def hadamard_matrix(n: int) -> NDArray[np.int64]:
    """An n x n matrix of signs with orthogonal rows, its first column all +1, for n = 1, 2 or a
    multiple of 4 below 92.

    Sylvester's construction for powers of two; Paley's first and second construction (1933),
    doi:10.1002/sapm1933121311, and products of smaller matrices otherwise.  Raises InputError for a
    size that these do not reach.
    """
    matrix = _hadamard(n)
    if matrix is None:
        raise InputError(
            f"no Hadamard matrix of {n} rows is constructed here",
            where="fractional design",
            cure="take fewer players",
        )
    return matrix * matrix[:, :1]


def _hadamard(n: int) -> NDArray[np.int64] | None:
    if n in (1, 2) or (n > 0 and n & (n - 1) == 0):
        return np.asarray(hadamard(n), dtype=np.int64)
    for q, first in ((n - 1, True), (n // 2 - 1, False)):
        jacobsthal = (
            _jacobsthal(q) if q % 4 == (3 if first else 1) and (first or n % 2 == 0) else None
        )
        if jacobsthal is not None:
            s = np.zeros((q + 1, q + 1), dtype=np.int64)
            s[0, 1:], s[1:, 0], s[1:, 1:] = 1, -1 if first else 1, jacobsthal
            if first:
                return s + np.eye(q + 1, dtype=np.int64)
            return np.kron(s, [[1, 1], [1, -1]]) + np.kron(
                np.eye(q + 1, dtype=np.int64), [[1, -1], [-1, -1]]
            )
    half = _hadamard(n // 2) if n % 8 == 0 else None
    return None if half is None else np.kron(np.asarray(hadamard(2), dtype=np.int64), half)


def _jacobsthal(q: int) -> NDArray[np.int64] | None:
    """(q, q) quadratic character of the differences of the field of q elements, q a prime or 25;
    None for another q.

    The field of 25 is a + b sqrt 2 over the field of 5, in which a number is a square if its norm
    a^2 - 2 b^2 is one.
    """
    p = 5 if q == 25 else q
    if p < 2 or any(p % d == 0 for d in range(2, int(p**0.5) + 1)):
        return None
    squares = {pow(x, 2, p) for x in range(1, p)}
    chi = np.array([0, *(1 if x in squares else -1 for x in range(1, p))], dtype=np.int64)
    at = np.arange(q)
    if q == p:
        return chi[(at[:, None] - at) % p]  # type: ignore[no-any-return]
    a, b = (part[:, None] - part for part in np.divmod(at, p))
    return chi[(a * a - 2 * b * b) % p]  # type: ignore[no-any-return]


def folded(p: int) -> NDArray[np.int64]:
    """The signs of a fold-over of a Hadamard design, (2 n, p) with n the next multiple of 4 above
    p: each run, and each with all signs turned.

    Main effects are orthogonal to each other and to all two-way interactions (resolution IV): Box &
    Wilson (1951), doi:10.1111/j.2517-6161.1951.tb00067.x; Plackett & Burman (1946),
    doi:10.1093/biomet/33.4.305.  Raises InputError beyond 87 players.

    >>> folded(3).shape
    (8, 3)
    """
    n = 4 * (p // 4 + 1)
    half = hadamard_matrix(n)[:, 1 : p + 1]
    return np.concatenate([half, -half])


def confounded(
    signs: NDArray[np.int64], players: Sequence[Player]
) -> list[tuple[tuple[Player, Player], ...]]:
    """Groups of two-way interactions whose columns are not orthogonal: their effects cannot be
    told apart.  Groups of one are left out.  O(p^4 n).
    """
    pairs = list(combinations(range(len(players)), 2))
    columns = np.array([signs[:, a] * signs[:, b] for a, b in pairs]).reshape(len(pairs), -1)
    touching = (columns @ columns.T) != 0
    left, groups = set(range(len(pairs))), []
    for start in range(len(pairs)):
        if start in left:
            group, todo = set[int](), [start]
            while todo:
                at = todo.pop()
                if at in left:
                    left.discard(at)
                    group.add(at)
                    todo += np.flatnonzero(touching[at]).tolist()
            if len(group) > 1:
                groups.append(
                    tuple((players[pairs[i][0]], players[pairs[i][1]]) for i in sorted(group))
                )
    return groups


def n_coalitions(p: int) -> int:
    """Coalitions of p players.

    >>> n_coalitions(10)
    1024
    """
    return sum(comb(p, size) for size in range(p + 1))


def estimated(
    contrasts: Iterable[Contrast], values: Mapping[str, NDArray[np.float64]]
) -> dict[str, NDArray[np.float64]]:
    """Contrast -> its value for each question, (n,).

    values  arm id -> metric of each question, (n,)

    Summed in order of falling absolute weight of the same arms, so equal contrasts give equal sums.
    """
    return {
        c.name: np.sum([weight * values[arm] for arm, weight in c.weights.items()], axis=0)
        for c in contrasts
    }
