"""The paired comparison of two arms, the correction over a family of comparisons, and the verdict.

The test of record is the cluster-robust t-test (`cluster_robust`); the sign flip and the bootstrap
(`statistics`) stand beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from .cluster_robust import Spread, cluster_t, smallest_effect, spread
from .clusters import ClusterIds
from .power import more_conversations, more_words
from .scopes import Here
from .statistics import benjamini_hochberg, clustered_bootstrap, holm, sign_flip

ALPHA = 0.05
MARGIN = 0.005


class Verdict(StrEnum):
    """What a comparison shows.  `verdict` returns the first that applies, in this order."""

    NO_OP = "no-op"
    STATE_ONLY = "changed state but no rank"
    EQUIVALENT = "equivalent"
    HELPS = "helps"
    HURTS = "hurts"
    UNDECIDED = "undecided"

    @property
    def slug(self) -> str:
        """As a class of a style sheet: both verdicts without a change of rank look alike."""
        return Verdict.NO_OP.value if self is Verdict.STATE_ONLY else self.value


class Correction(StrEnum):
    """How p-values are corrected over the family, for the verdicts."""

    HOLM = "holm"
    BENJAMINI_HOCHBERG = "benjamini-hochberg"


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean paired difference of one metric, baseline minus arm: positive means that what the arm
    lacks helps.

    low, high        interval of the cluster-robust t-test; None where there is no spread between
                     conversations to judge by: a single conversation, or a standard error of 0, as
                     when no question changed
    p                two-sided p of this test; None if there is no such spread, and 1 if no question
                     changed
    p_holm, p_bh     the same after Holm's, and after Benjamini's and Hochberg's correction over the
                     family; None until `corrected`
    se, df           standard error and Satterthwaite degrees of freedom
    flip_p, flip_p_holm  of the sign-flip test
    bootstrap        interval over resampled conversations; None like low and high; by
                     `bootstrap_method`, "BCa" or "percentile"
    equivalence      interval that shows equivalence if it lies inside the margin
                     (`ClusterT.equivalence`); `equivalent` says whether it does
    smallest         smallest absolute mean that would have been significant in its family; None
                     until `corrected`, or if there is no spread
    spread           between and within conversations
    more             further conversations until an effect as large as the margin has a power of
                     80%, before correction over the family; 0 if these are enough, 1,001 for more
                     than 1,000, None without a spread
    """

    mean: float
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None = None
    se: float | None = None
    df: float | None = None
    flip_p: float = 1.0
    flip_p_holm: float | None = None
    bootstrap: tuple[float, float] | None = None
    equivalence: tuple[float, float] | None = None
    equivalent: bool = False
    smallest: float | None = None
    spread: Spread | None = None
    p_bh: float | None = None
    bootstrap_method: str = ""
    more: int | None = None

    def corrected_p(self, correction: Correction = Correction.HOLM) -> float | None:
        """The p-value that decides the verdict."""
        return self.p_holm if correction is Correction.HOLM else self.p_bh


def difference(
    baseline: ArrayLike,
    arm: ArrayLike,
    cluster_ids: ClusterIds,
    *,
    seed: int,
    margin: float = MARGIN,
    n_resamples: int = 10_000,
    n_flips: int = 10_000,
    level: float = 0.95,
) -> Difference:
    """The paired difference of one metric between two arms, the same questions in the same order;
    not yet corrected.

    baseline, arm  (n,) metric per question, in [0, 1]
    cluster_ids    (n,) conversation per question
    margin         of equivalence
    """
    d = np.asarray(baseline, dtype=np.float64) - np.asarray(arm, dtype=np.float64)
    t = cluster_t(d, cluster_ids, level=level)
    resampled = clustered_bootstrap(d, cluster_ids, n_resamples, seed=seed, level=level)
    low, high = (t.low, t.high) if t.se else (None, None)
    interval = (
        (resampled.low, resampled.high)
        if t.se and resampled.low is not None and resampled.high is not None
        else None
    )
    return Difference(
        t.mean,
        low,
        high,
        t.p,
        se=t.se,
        df=t.df,
        flip_p=sign_flip(d, cluster_ids, seed=seed, n=n_flips).p,
        bootstrap=interval,
        equivalence=t.equivalence(margin, ALPHA),
        equivalent=t.equivalent(margin, ALPHA),
        spread=spread(d, cluster_ids),
        bootstrap_method=resampled.method if interval else "",
        more=more_conversations(t.se, t.n_clusters, margin, ALPHA),
    )


def corrected(family: Sequence[Difference]) -> tuple[Difference, ...]:
    """The differences of one family with p_holm, p_bh, flip_p_holm and smallest filled in.

    The family is every comparison that was planned, those without any change included.  A p that is
    not defined counts as 1.  If Holm's method rejects r of m, each of the others is tested at alpha
    / (m - r), the level of `smallest`.
    """
    defined = [1.0 if d.p is None else d.p for d in family]
    by_t, by_bh = holm(defined), benjamini_hochberg(defined)
    by_flip = holm([d.flip_p for d in family])
    left = sum(p > ALPHA for p in by_t) or len(family)
    return tuple(
        replace(
            d,
            p_holm=float(p),
            p_bh=float(bh),
            flip_p_holm=float(flip),
            smallest=smallest_effect(d.se, d.df, ALPHA / left),
        )
        for d, p, bh, flip in zip(family, by_t, by_bh, by_flip, strict=True)
    )


def verdict(
    d: Difference, *, no_op: bool, wrote: bool = False, correction: Correction = Correction.HOLM
) -> Verdict:
    """The first that applies.

    no-op       no rank of any question changed
    changed state but no rank  the same, although by its receipt the mechanism wrote values in the
                               full run (`wrote`)
    equivalent  the interval of equivalence lies inside the margin; this is not corrected over the
                family
    helps, hurts  the corrected p of the t-test is at most 0.05
    undecided   none of these
    """
    if no_op:
        return Verdict.STATE_ONLY if wrote else Verdict.NO_OP
    if d.equivalent:
        return Verdict.EQUIVALENT
    p = d.corrected_p(correction)
    if p is not None and p <= ALPHA and d.mean:
        return Verdict.HELPS if d.mean > 0 else Verdict.HURTS
    return Verdict.UNDECIDED


def verdict_here(h: Here, mean: float) -> Verdict:
    """The verdict for these conversations: the first of equivalent, helps or hurts, undecided that
    applies, for an estimate that changed some rank.
    """
    if h.equivalent:
        return Verdict.EQUIVALENT
    if h.p_rw <= ALPHA and mean:
        return Verdict.HELPS if mean > 0 else Verdict.HURTS
    return Verdict.UNDECIDED


def both_scopes(
    here: Verdict | None, beyond: Verdict, more: int | None, clusters: str = "conversations"
) -> str:
    """The verdicts of both scopes as a sentence to quote.

    here    for these conversations; None if that was not tested
    beyond  for conversations like these
    more    conversations that would decide on an effect of the margin, as `Difference.more`

    >>> both_scopes(Verdict.HELPS, Verdict.UNDECIDED, 66)
    'helps here, undecided beyond (about 66 more conversations)'
    >>> both_scopes(Verdict.HURTS, Verdict.HURTS, 3), both_scopes(Verdict.NO_OP, Verdict.NO_OP, None)
    ('hurts here and beyond', 'no-op')
    """
    needed = more_words(more, clusters) if beyond is Verdict.UNDECIDED else ""
    more_needed = f" ({needed})" if needed else ""
    if here is None:
        return f"{beyond.value}{more_needed}"
    if beyond in (Verdict.NO_OP, Verdict.STATE_ONLY):
        return beyond.value
    if here is beyond:
        return f"{beyond.value} here and beyond{more_needed}"
    return f"{here.value} here, {beyond.value} beyond{more_needed}"
