"""The ends of every table, by pool size and number of gold items: the chance level, which a random
ranking scores, and the ceiling, which an oracle scores; and a warning where an answer takes the
whole pool.  A memory that answers nothing scores 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, fsum, log2
from statistics import median
from typing import Any

from ...engine.base.errors import InputError
from ...reporting.text import plural
from .metrics import DEPTHS, FORBIDDEN_DEPTHS, KINDS, depth_summary, named


@dataclass(frozen=True, slots=True)
class Pool:
    """How many items each question's answer is drawn from, over questions with gold.

    smallest, middle, largest  items
    reached   questions whose pool has no more than k items: each gold item of theirs is in the
              answer, whatever the memory does
    """

    smallest: int
    middle: float
    largest: int
    k: int
    reached: int
    n: int

    @property
    def warning(self) -> str:
        """ "" if no answer takes its whole pool."""
        if not self.reached:
            return ""
        return (
            f"the first {self.k} are the whole pool for {self.reached} of {plural(self.n, 'question')}: these show nothing of a ranking; "
            f"read the metrics at smaller depths"
        )


def pool_of(sizes: Sequence[int], k: int) -> Pool:
    """Pool sizes of the questions with gold, (n,).  Raises InputError for no question.

    >>> pool_of([5, 12, 40], 10).warning
    'the first 10 are the whole pool for 1 of 3 questions: these show nothing of a ranking; read the metrics at smaller depths'
    """
    if not sizes:
        raise InputError(
            "no question has gold, so there is no pool",
            cure="take data whose questions name their evidence",
        )
    return Pool(
        min(sizes),
        float(median(sizes)),
        max(sizes),
        k,
        sum(size <= k for size in sizes),
        len(sizes),
    )


def chance(pool: int, gold: int, k: int) -> dict[str, float]:
    """Expected `hit`, `recall`, `mrr`, `ndcg` and `all` at depth k if the pool is ranked at random.  O(k).

    The rank of the first of g gold items among n is r with probability C(n - r, g - 1) / C(n, g);
    every item is at every rank with probability 1 / n; all are among the first k with probability
    C(k, g) / C(n, g).  Raises InputError for more gold than pool.

    >>> {name: round(value, 4) for name, value in chance(10, 1, 5).items()}
    {'hit': 0.5, 'recall': 0.5, 'mrr': 0.2283, 'ndcg': 0.2948, 'all': 0.5}
    """
    if not 1 <= gold <= pool or k < 1:
        raise InputError(
            f"{gold} gold items cannot be drawn from a pool of {pool}",
            cure="give 1 or more, and no more than the pool has",
        )
    depth, ways = min(k, pool), comb(pool, gold)
    first = [comb(pool - r, gold - 1) / ways for r in range(1, depth + 1)]
    gain = fsum(1.0 / log2(r + 1) for r in range(1, depth + 1)) * gold / pool
    ideal = fsum(1.0 / log2(r + 1) for r in range(1, min(gold, k) + 1))
    return {
        "hit": fsum(first),
        "recall": depth / pool,
        "mrr": fsum(p / r for r, p in enumerate(first, 1)),
        "ndcg": gain / ideal,
        "all": comb(depth, gold) / ways,
    }


def chance_levels(
    questions: Iterable[tuple[int, int]], depths: Sequence[int] = DEPTHS
) -> dict[str, float]:
    """Means over questions of `chance`, by metric and depth such as "recall@10"; {} without a
    question.

    questions  (pool size, number of gold items) of each
    """
    counted: dict[tuple[int, int], int] = {}
    for question in questions:
        counted[question] = counted.get(question, 0) + 1
    total = sum(counted.values())
    known = {(pool, gold, k): chance(pool, gold, k) for pool, gold in counted for k in depths}
    return (
        {
            named(kind, k): fsum(
                n * known[pool, gold, k][kind] for (pool, gold), n in counted.items()
            )
            / total
            for k in depths
            for kind in KINDS
        }
        if total
        else {}
    )


def forbidden_levels(
    questions: Iterable[tuple[int, int]], depths: Sequence[int] = FORBIDDEN_DEPTHS
) -> dict[str, dict[str, float]]:
    """Means over questions of `forbidden@k`, by name: `chance`, if the pool is ranked at random, and
    `oracle`, the least that an answer of k rows can have, with everything that may come back first.
    {} without a question.

    questions  (pool size, number of forbidden items) of each

    >>> forbidden_levels([(10, 6)])["chance"]["forbidden@5"], forbidden_levels([(10, 6)])["oracle"]["forbidden@5"]
    (0.6, 0.2)
    """
    asked = list(questions)
    if not asked:
        return {}
    rows = {k: [(min(k, pool), pool, refused) for pool, refused in asked] for k in depths}
    return {
        "chance": {
            named("forbidden", k): fsum(n * refused / pool / k for n, pool, refused in group)
            / len(asked)
            for k, group in rows.items()
        },
        "oracle": {
            named("forbidden", k): fsum(
                max(0, n - (pool - refused)) / k for n, pool, refused in group
            )
            / len(asked)
            for k, group in rows.items()
        },
    }


def oracle_levels(
    questions: Iterable[tuple[int, int]], depths: Sequence[int] = DEPTHS
) -> dict[str, float]:
    """Means over questions of what a ranking with all evidence first scores, by metric and depth:
    the ceiling of every table, below 1 where a question has more gold than places.  {} without a
    question.

    questions  (pool size, number of gold items) of each

    >>> oracle_levels([(10, 2)])["recall@1"], oracle_levels([(10, 2)])["recall@5"]
    (0.5, 1.0)
    """
    return depth_summary([range(1, gold + 1) for _, gold in questions], depths)


def pools(
    rows: Iterable[Mapping[str, Any]], sizes: Mapping[tuple[str, str], int]
) -> list[tuple[int, int]]:
    """(pool size, gold items) of each row with gold, by the sizes of the pools of questions; a pool
    has at least the gold.

    sizes  (conversation, question) -> items that are ranked
    """
    return [
        (max(sizes[row["conversation"], row["question"]], len(row["gold"])), len(row["gold"]))
        for row in rows
        if row["gold"]
    ]
