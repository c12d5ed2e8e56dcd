"""The two scopes of a verdict, and the correction over a family whose tests depend on each other.

*Here*, for these conversations: the question is the unit, and every resample keeps the number of
questions of each conversation.  It says what the mechanism does on the questions that such
conversations as these very ones would be asked.  *Beyond*, for conversations like these: the
conversation is the unit (`comparison`).  Below, m is the number of estimates of a family, N of
questions and B of resamples.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...engine.base.errors import InputError
from .cluster_robust import equivalence_floor
from .clusters import ClusterIds, Floats, by_cluster

RESAMPLES: Final = 2_000  # of the questions of every conversation, for intervals
FLIPS: Final = 10_000  # sign patterns
_BLOCK: Final = 1 << 22  # random draws held at a time
_TIE: Final = 1e-9  # statistics closer than this share are equal up to rounding


@dataclass(frozen=True, slots=True)
class Here:
    """An estimate for these conversations.

    low, high    interval of the stratified bootstrap over questions; None where no question of any
                 resample differs from the others, as when none changed
    equivalence  interval of level 1 - 2 alpha that shows equivalence if it lies inside the margin;
                 never narrower than that of `ClusterT.equivalence`
    equivalent   whether it does
    p            two-sided, by flips of the signs of questions
    p_rw         the same, stepped down over the family with its dependence (Romano & Wolf): it
                 decides the verdict
    p_gated      after the declared group of the estimate was tested as a whole; None without groups
    """

    low: float | None
    high: float | None
    equivalence: tuple[float, float] | None
    equivalent: bool
    p: float
    p_rw: float
    p_gated: float | None = None


def here(
    estimates: ArrayLike,
    cluster_ids: ClusterIds,
    *,
    seed: int,
    margin: float,
    families: Sequence[Hashable] | None = None,
    alpha: float = 0.05,
    level: float = 0.95,
) -> tuple[Here, ...]:
    """Every estimate of a family for these conversations.  Cost: O(B N m).

    estimates    (m, N) value of each estimate for each question
    cluster_ids  (N,) the conversation of each question
    margin       of equivalence
    families     (m,) declared group of each estimate; None: they are not tested as groups

    Raises InputError for values that are not finite, and for shapes that do not fit.
    """
    table = _table(estimates)
    if not len(table):
        return ()
    if families is not None and len(families) != len(table):
        raise InputError(
            f"{len(families)} groups were given for {len(table)} estimates",
            cure="name the group of every estimate once",
        )
    observed, null = flipped(table, seed=seed)
    alone = _alone(observed, null)
    stepped = step_down(observed, null)
    gated = None if families is None else gatekept(observed, null, families, alpha)
    means = table.mean(axis=1)
    lows, highs = _intervals(table, cluster_ids, seed, (level, 1.0 - 2.0 * alpha))
    half = equivalence_floor(margin, alpha, table.shape[1])
    comparisons = []
    for i, mean in enumerate(means.tolist()):
        low, high = float(lows[0, i]), float(highs[0, i])
        inside = (min(float(lows[1, i]), mean - half), max(float(highs[1, i]), mean + half))
        comparisons.append(
            Here(
                low if low < high else None,
                high if low < high else None,
                inside,
                -margin < inside[0] and inside[1] < margin,
                float(alone[i]),
                float(stepped[i]),
                None if gated is None else float(gated[i]),
            )
        )
    return tuple(comparisons)


def flipped(
    estimates: ArrayLike, *, seed: int, n: int = FLIPS, cluster_ids: ClusterIds | None = None
) -> tuple[Floats, Floats]:
    """|t| of every estimate, (m,), and under the same flips of signs, (B, m): the joint null
    distribution of a family whose arms answer the same questions.

    estimates    (m, N)
    cluster_ids  (N,): signs of whole clusters are flipped; None: of questions

    If arms are exchangeable, both signs of a unit's differences are equally likely, for all
    estimates of the family at once.  t is the sum over the root of the sum of squares, which no flip
    changes.  All 2^k patterns of k units that differ are enumerated if they are at most n.
    """
    table = _table(estimates)
    if cluster_ids is not None:
        table = np.array([by_cluster(row, cluster_ids).sums for row in table])
    table = table[:, np.abs(table).any(axis=0)]
    k = table.shape[1]
    scale = np.sqrt(np.sum(table**2, axis=1))
    standard = np.divide(table, scale[:, None], out=np.zeros_like(table), where=scale[:, None] > 0)
    observed: Floats = np.abs(standard.sum(axis=1))
    if k <= n.bit_length() - 1:
        bits = (np.arange(1 << max(k - 1, 0))[:, None] >> np.arange(max(k - 1, 0))) & 1
        signs = np.concatenate([np.ones((len(bits), min(k, 1))), 1.0 - 2.0 * bits], axis=1)
        return observed, np.abs(signs @ standard.T)
    rng, blocks = np.random.default_rng(seed), [observed[None, :]]
    left = n
    while left:
        rows = min(left, max(1, _BLOCK // k))
        signs = 2.0 * rng.integers(2, size=(rows, k), dtype=np.int8) - 1.0
        blocks.append(np.abs(signs @ standard.T))
        left -= rows
    return observed, np.concatenate(blocks)


def _alone(observed: Floats, null: Floats) -> Floats:
    """(m,) p of every estimate alone: the share of patterns at least as far out.  Drawn patterns
    include the observed one (Phipson & Smyth 2010, doi:10.2202/1544-6115.1585).
    """
    return np.asarray((null >= observed * (1.0 - _TIE)).mean(axis=0), np.float64)


def step_down(observed: ArrayLike, null: ArrayLike) -> Floats:
    """Adjusted p-values of the step-down with the largest statistic of those that are left.

    observed, null  as `flipped` gives them

    Rejecting where the adjusted value is at most alpha keeps the chance of any false rejection at
    most alpha.  It uses how the tests depend on each other, which Holm's method does not: arms that
    change the same questions cost less than their number.  Romano & Wolf (2005),
    doi:10.1198/016214504000000539, algorithm 4.1; Westfall & Young (1993), sec. 2.6.

    >>> step_down([3.0, 1.0], [[3.0, 1.0], [1.0, 2.0], [0.5, 0.2], [0.1, 0.3]]).tolist()
    [0.25, 0.5]
    """
    t, drawn = np.asarray(observed, np.float64), np.asarray(null, np.float64)
    order = np.argsort(-t, kind="stable")
    # of each place in the order, the largest statistic from there on
    largest = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    p = (largest >= t[order] * (1.0 - _TIE)).mean(axis=0)
    adjusted = np.empty(len(t))
    adjusted[order] = np.maximum.accumulate(p)
    return adjusted


def gatekept(
    observed: ArrayLike, null: ArrayLike, families: Sequence[Hashable], alpha: float = 0.05
) -> Floats:
    """Adjusted p-values of estimates in declared families: families are tested first, members only
    inside those that matter.

    families  (m,) group of each estimate

    A family's statistic is the mean of its members' squares, stepped down over the families by the
    same flips.  Of g families r are selected at alpha; inside each, members are stepped down and
    their p multiplied by g / r (Benjamini & Bogomolov 2014, doi:10.1111/rssb.12028): the expected
    share of selected families with a false rejection is at most alpha.  A member's p is never below
    that of its family; members of families that were not selected have at least that of the family.
    With one family for all it is `step_down` behind one test of all.

    >>> t, null = [4.0, 0.1], [[4.0, 0.1], *[[0.2, 0.3]] * 99]
    >>> gatekept(t, null, ["words", "sleep"]).round(3).tolist()
    [0.02, 1.0]
    """
    t, drawn = np.asarray(observed, np.float64), np.asarray(null, np.float64)
    names = list(dict.fromkeys(families))
    members = [np.flatnonzero([family == name for family in families]) for name in names]
    of_families = np.array([np.mean(t[own] ** 2) for own in members])
    of_drawn = np.stack([np.mean(drawn[:, own] ** 2, axis=1) for own in members], axis=1)
    # families of other sizes have other spreads: each on the scale of its own p-values
    ranks = _ranked(np.concatenate([of_drawn, of_families[None, :]]))
    p_family = step_down(ranks[-1], ranks[:-1])
    selected = int((p_family <= alpha).sum())
    adjusted = np.empty(len(t))
    for p, own in zip(p_family, members, strict=True):
        inside = step_down(t[own], drawn[:, own]) * (len(names) / max(selected, 1))
        adjusted[own] = np.minimum(1.0, np.maximum(p, inside))
    return adjusted


def _ranked(table: Floats) -> Floats:
    """Each column as the share of its values that are smaller: 1 less the p of each value."""
    ranks = np.empty_like(table)
    for column in range(table.shape[1]):
        ordered = np.sort(table[:, column])
        below = np.searchsorted(ordered, table[:, column] * (1.0 - _TIE), side="left")
        ranks[:, column] = below / len(ordered)
    return ranks


def _intervals(
    table: Floats, cluster_ids: ClusterIds, seed: int, levels: Sequence[float]
) -> tuple[Floats, Floats]:
    """(levels, m) ends of percentile intervals of the means over resamples of the questions inside
    each conversation.
    """
    _, place, counts = np.unique(np.asarray(cluster_ids), return_inverse=True, return_counts=True)
    if place.shape != table.shape[1:]:
        raise InputError(
            "one conversation is needed for each question", cure="give two rows of equal length"
        )
    # conversations of one question have no spread inside: together they are one stratum
    place = np.where(counts[place] == 1, len(counts), place)
    rng, total = np.random.default_rng(seed), table.shape[1]
    moving = np.abs(table).any(axis=0)
    sums: NDArray[np.float64] = np.zeros((RESAMPLES, len(table)))
    for cluster in np.unique(place).tolist():
        mine = place == cluster
        n, kept = int(mine.sum()), table[:, mine & moving].T
        if not len(kept):
            continue
        shares = np.append(np.full(len(kept), 1.0 / n), (n - len(kept)) / n)
        step = max(1, _BLOCK // len(shares))
        for start in range(0, RESAMPLES, step):
            rows = slice(start, min(start + step, RESAMPLES))
            drawn = rng.multinomial(n, shares / shares.sum(), size=rows.stop - rows.start)
            sums[rows] += drawn[:, :-1] @ kept
    tails = [((1.0 - level) / 2.0, (1.0 + level) / 2.0) for level in levels]
    ends = np.quantile(sums / total, np.array(tails).ravel(), axis=0)
    return ends[::2], ends[1::2]


def _table(estimates: ArrayLike) -> Floats:
    table = np.asarray(estimates, np.float64)
    if table.ndim != 2 or (len(table) and not table.shape[1]):
        raise InputError(
            f"a table of estimates by questions is needed; got the shape {table.shape}",
            cure="give one row of values for each estimate, with at least one question",
        )
    if not np.isfinite(table).all():
        raise InputError(
            f"{int((~np.isfinite(table)).sum())} of {table.size} values are not finite",
            cure="leave out the questions for which the metric is not defined",
        )
    return table
