"""Retrieval metrics of one question, from the ranks of its gold items, and their means over
questions.

Definitions: Manning, Raghavan & Schuetze (2008), *Introduction to Information Retrieval*, ch. 8;
nDCG with binary gains and the log2(rank + 1) discount of Jarvelin & Kekalainen (2002),
doi:10.1145/582415.582418, as trec_eval computes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, log2
from operator import index
from typing import Final

from ...engine.base.errors import InputError

METRICS = ("hit@10", "recall@5", "recall@10", "mrr@10", "ndcg@10", "recall@1", "all@10")
KINDS: Final = ("hit", "recall", "mrr", "ndcg", "all")
DEPTHS: Final = (1, 5, 10, 50)
DEPTH = 10
FORBIDDEN_DEPTHS: Final = (1, 5, 10)  # an answer's row holds no more than its first k ids
_DISCOUNT = tuple(1.0 / log2(rank + 1) for rank in range(1, DEPTH + 1))


@dataclass(frozen=True, slots=True)
class Metrics:
    """One question's metrics, each in [0, 1].

    hit_10      1 if any gold item is among the first ten
    recall_5    share of the gold items among the first five
    recall_10   share of the gold items among the first ten
    mrr_10      1 / rank of the first gold item; 0 if it is beyond ten
    ndcg_10     discounted gain of the gold among the first ten, over the best gain that min(gold,
                10) items can have
    recall_1    share of the gold items at the first place
    all_10      1 if every gold item is among the first ten
    """

    hit_10: float
    recall_5: float
    recall_10: float
    mrr_10: float
    ndcg_10: float
    recall_1: float
    all_10: float

    def named(self) -> dict[str, float]:
        """The metrics under their printed names, in the order of `METRICS`."""
        values = (
            self.hit_10,
            self.recall_5,
            self.recall_10,
            self.mrr_10,
            self.ndcg_10,
            self.recall_1,
            self.all_10,
        )
        return dict(zip(METRICS, values, strict=True))


def question_metrics(ranks: Sequence[int], n_gold: int | None = None) -> Metrics:
    """Metrics of one question; O(gold).

    ranks    (g,) 1-based ranks of the gold items in any order; 0: never retrievable (rejected at
             encoding, say), a miss
    n_gold   number of gold items where `ranks` leaves out those that were not retrieved; g by
             default

    Raises InputError if no metric is defined: no gold item, a negative rank, two items at one rank.

    >>> question_metrics([2, 7, 0]).named()["mrr@10"]
    0.5
    >>> round(question_metrics([2, 7, 0]).recall_10, 3)
    0.667
    """
    given = [index(rank) for rank in ranks]
    total = len(given) if n_gold is None else index(n_gold)
    answered = sorted(rank for rank in given if rank)
    if total < 1 or total < len(given):
        raise InputError(
            f"{len(given)} ranks were given for {total} gold items",
            cure="leave questions without gold items out of the metrics; give at most one rank per gold item",
        )
    if answered and (answered[0] < 0 or len(set(answered)) < len(answered)):
        raise InputError(
            f"ranks of gold items must be distinct and 1-based, with 0 for a miss; got {given[:20]}",
            cure="give the place of each gold item in the ranking, 1 for the best",
        )
    top = [rank for rank in answered if rank <= DEPTH]
    # fsum rounds correctly in any order, so a perfect ranking gives exactly 1.
    gain, ideal = fsum(_DISCOUNT[rank - 1] for rank in top), fsum(_DISCOUNT[:total])
    return Metrics(
        float(bool(top)),
        sum(rank <= 5 for rank in top) / total,
        len(top) / total,
        1.0 / top[0] if top else 0.0,
        gain / ideal,
        float(answered[:1] == [1]) / total,
        float(len(top) == total),
    )


def named(kind: str, depth: int) -> str:
    """
    >>> named("recall", 10)
    'recall@10'
    """
    return f"{kind}@{depth}"


def at_depths(ranks: Sequence[int], depths: Sequence[int] = DEPTHS) -> dict[str, float]:
    """`hit`, `recall`, `mrr`, `ndcg` and `all` of one question at several depths, by name; at 10
    equal to those of `question_metrics`.  `all` is 1 if every gold item is among the first so many.
    O(gold * depths).

    ranks  (g,) as `question_metrics` takes them

    >>> scores = at_depths([2, 7, 0])
    >>> scores["hit@1"], scores["recall@5"] == 1 / 3, scores["mrr@50"]
    (0.0, True, 0.5)
    >>> scores["all@50"], at_depths([2, 7])["all@5"], at_depths([2, 7])["all@10"]
    (0.0, 0.0, 1.0)
    """
    given = question_metrics(ranks)  # checks the ranks
    ordered = sorted(rank for rank in map(index, ranks) if rank)
    by_name: dict[str, float] = {}
    for depth in depths:
        top, total = [rank for rank in ordered if rank <= depth], len(ranks)
        if depth == DEPTH:
            values = (given.hit_10, given.recall_10, given.mrr_10, given.ndcg_10, given.all_10)
        else:
            gain, ideal = (
                fsum(1.0 / log2(rank + 1) for rank in top),
                fsum(1.0 / log2(rank + 1) for rank in range(1, min(total, depth) + 1)),
            )
            values = (
                float(bool(top)),
                len(top) / total,
                1.0 / top[0] if top else 0.0,
                gain / ideal,
                float(len(top) == total),
            )
        by_name |= {named(kind, depth): value for kind, value in zip(KINDS, values, strict=True)}
    return by_name


def forbidden_shares(
    retrieved: Sequence[str], forbidden: Iterable[str], depths: Sequence[int] = FORBIDDEN_DEPTHS
) -> dict[str, float]:
    """Share of the first k places that hold what must not come back, by name: "forbidden@5".  Lower
    is better; an answer of fewer than k rows has empty places, which hold nothing.  O(k).

    retrieved  ids, best first
    forbidden  ids

    >>> forbidden_shares(["a", "x", "b"], ["x", "y"])
    {'forbidden@1': 0.0, 'forbidden@5': 0.2, 'forbidden@10': 0.1}
    """
    refused = set(forbidden)
    return {named("forbidden", k): sum(id in refused for id in retrieved[:k]) / k for k in depths}


def depth_summary(
    rows: Iterable[Sequence[int]], depths: Sequence[int] = DEPTHS
) -> dict[str, float]:
    """Means of `at_depths` over the ranks of questions; {} without a question."""
    values = [at_depths(ranks, depths) for ranks in rows]
    return (
        {name: fsum(row_values[name] for row_values in values) / len(values) for name in values[0]}
        if values
        else {}
    )


def summary(rows: Iterable[Metrics]) -> dict[str, float | int | None]:
    """Means over questions, with their number as "n"; no question gives n = 0 and None.
    Independent of the rows' order.

    >>> summary([question_metrics([1]), question_metrics([0])])["recall@10"]
    0.5
    """
    named = [row.named() for row in rows]
    means = {
        name: fsum(row[name] for row in named) / len(named) if named else None for name in METRICS
    }
    return {"n": len(named), **means}
