"""Evidence for weighted_rrf: the identities of the formula, and the plug-in against ranks by
scipy.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ...engine.base.numerics import read_only
from ...engine.contract.columns import Facet, Phase, signal
from ...engine.contract.vocabulary import FUSED, LOG_FACETS
from ..checks import adaptation, at_least, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from ..paper_numbers import paper_number
from .shared.scripts import giving, signalling

SILENT, K = np.nan, 60.0
NUMBERS = (
    paper_number(
        "k",
        K,
        "1",
        paper="cormack2009reciprocal",
        where="RRF score: k = 60, fixed during a pilot investigation",
    ),
)


def fused(
    specimen: Any,
    lists: Sequence[Any],
    weights: Sequence[float] = (),
    k: float = 60.0,
    depth: int = 1000,
    visible: Any = None,
    facets: Any = None,
) -> Any:
    """FUSED in float64 as the plug-in writes it, from the scores of each signal; the i-th signal
    has the i-th facet.
    """
    n = len(lists[0])
    rows = tuple(
        (SimpleNamespace(facet=facet, floor=0.0), np.asarray(scores, np.float32), weight)
        for scores, weight, facet in zip(lists, weights or [1.0] * len(lists), Facet, strict=False)
    )
    view = SimpleNamespace(
        signals=rows,
        facet_weights=np.ones(len(Facet)) if facets is None else facets,
        visible=np.ones(n, np.bool_) if visible is None else visible,
        fused=np.full(n, np.nan),
    )
    specimen.WeightedRRF(
        "weighted_rrf", specimen.WeightedRRFParams(time_scale=1.0, k=k, depth=depth)
    ).fuse(view, None)
    return view.fused


def by_hand(lists: Sequence[Any], weights: Sequence[float], k: float, depth: int) -> Any:
    """The definition, with ranks by scipy: ties share the best rank; beyond `depth` or NaN:
    absent.
    """
    total = np.zeros(len(lists[0]))
    for scores, weight in zip(lists, weights, strict=True):
        there = ~np.isnan(scores)
        ranks = np.full(len(scores), np.inf)
        ranks[there] = rankdata(-scores[there], method="min")
        ranks[ranks > depth] = np.inf
        total += weight / (k + ranks)
    return total


def on_lists_of(
    there: Any, lists: Sequence[Any], weights: Sequence[float], k: float, depth: int
) -> Any:
    """Sum over the lists of the memories that are there, memory by memory: any other gets the
    place of its score, none below the last on a list.
    """
    total = np.zeros(len(there))
    for scores, weight in zip(lists, weights, strict=True):
        listed = sorted(
            (s for s, here in zip(scores, there, strict=True) if here and not np.isnan(s)),
            reverse=True,
        )[:depth]
        for i, score in enumerate(scores):
            if listed and score >= listed[-1]:
                total[i] += weight / (k + 1 + sum(other > score for other in listed))
    return total


def lists(seed: int, n: int = 400) -> list[Any]:
    """Scores of six signals with many ties and many NaN, of both signs; one signal is constant
    and one all NaN.
    """
    rng = np.random.default_rng(seed)
    coarse = rng.integers(-6, 7, n).astype(float)
    sparse = np.where(rng.random(n) < 0.1, rng.gamma(2.0, size=n), SILENT)
    ascending = np.exp(-np.arange(n)[::-1] / 50.0)
    return [s.astype(np.float32) for s in (rng.normal(size=n), coarse, sparse, ascending, np.full(n,
        0.5), np.full(n, SILENT))]  # fmt: skip


def places(n: int, **at: int) -> Any:
    """Scores in which memory 0 has a given rank among n, or NaN for rank 0: `places(9,
    first=3)`.
    """
    (place,) = at.values()
    scores = np.empty(n)
    scores[0] = SILENT if place == 0 else n - place + 0.5
    scores[1:] = np.arange(n - 1, 0, -1)
    return scores


@equation(
    "RR-1", source="Cormack et al. 2009 with k = 60, closed form", papers=("cormack2009reciprocal",)
)
def rank_one_adds_one_over_61_per_list(specimen: Any) -> Any:
    top, none = places(80, first=1), places(80, absent=0)
    measured = [fused(specimen, ranked)[0] for ranked in ([top, none], [top, top], [none])]
    return [*measured, fused(specimen, [top] * 5, [1.0, 0.8, 0.5, 0.3, 0.2]).max()], [
        1 / 61,
        2 / 61,
        0.0,
        2.8 / 61,
    ]


@equation("RR-2", source="closed form: 1/61 = 2/122", papers=("cormack2009reciprocal",))
def rank_one_in_one_list_equals_rank_62_in_both(specimen: Any) -> Any:
    once = fused(specimen, [places(99, first=1), places(99, absent=0)])[0]
    twice = fused(specimen, [places(99, place=62), places(99, place=62)])[0]
    return [once, twice], [1 / 61, 1 / 61]


@equation("RR-3", source="definition: only ranks enter", papers=("cormack2009reciprocal",))
def an_increasing_transform_of_a_list_and_the_scale_of_the_weights_do_not_matter(
    specimen: Any,
) -> Any:
    some = lists(3)
    stretched = [some[0] ** 3, np.arctan(some[1]) + 7.0, np.exp(some[2]), *some[3:]]
    plain = fused(specimen, some)
    return np.concatenate(
        [fused(specimen, stretched), fused(specimen, some, [3.0] * 6) / 3.0]
    ), np.tile(plain, 2)


@limit(
    "RR-4",
    source="closed form: (k + 10) / (k + 1)",
    rtol=1e-6,
    figure="contribution",
    papers=("cormack2009reciprocal",),
)
def k_sets_the_ratio_of_the_first_to_the_tenth_rank(specimen: Any) -> Any:
    ratios = [
        fused(specimen, [places(20, first=1)], k=k)[0]
        / fused(specimen, [places(20, tenth=10)], k=k)[0]
        for k in (0.0, 60.0, 1000.0)
    ]
    return ratios, [10.0, 70 / 61, 1010 / 1001]


@equation(
    "RR-5",
    source="definition with competition ranks; scipy.stats.rankdata",
    papers=("cormack2009reciprocal",),
)
def ties_share_the_best_rank_and_a_list_ends_at_its_depth(specimen: Any) -> Any:
    some, weights = lists(5), [1.0, 0.8, 0.6, 0.1, 0.3, 0.2]
    cases = [(60.0, 1000), (60.0, 37), (0.0, 1), (7.5, 150)]
    return np.concatenate([fused(specimen, some, weights, k, m) for k, m in cases]), np.concatenate(
        [by_hand(some, weights, k, m) for k, m in cases]
    )


@equation("RR-5b", source="symmetry", papers=("cormack2009reciprocal",))
def the_order_of_the_memories_does_not_matter(specimen: Any) -> Any:
    some, shuffled = lists(6), np.random.default_rng(6).permutation(400)
    return fused(specimen, [s[shuffled] for s in some], depth=37), fused(specimen, some, depth=37)[
        shuffled
    ]


@equation(
    "RR-5c",
    source="definition, by brute force over sorted lists: 1 / (k + r), 1 + the number of listed scores above, the best `depth` scores",
    papers=("cormack2009reciprocal",),
)
def lists_ranks_and_contributions_follow_the_definition(specimen: Any) -> Any:
    below_one = np.array(
        [np.nextafter(np.float32(1.0), np.float32(0.0)), 0.5, -0.0, 0.0, -1.5, np.inf, 2.0**-140],
        np.float32,
    )
    measured: list[Any] = []
    expected: list[Any] = []
    some = [
        *lists(4)[:4],
        below_one,
        -below_one,
        np.full(4, SILENT, np.float32),
        np.empty(0, np.float32),
    ]
    for scores in some:
        there = np.arange(len(scores)) % 3 != 1
        for depth in (1, 2, 5, 1000):
            listed = np.sort(scores[there & ~np.isnan(scores)])[::-1][:depth]
            kept = specimen.best_scores(scores, there, depth)
            measured += [len(kept), *kept]
            expected += [len(listed), *listed]
            asked = [
                *listed[:3],
                *(listed[-1:] - np.float32(0.1)),
                np.float32(9.0),
                np.float32(SILENT),
            ]
            measured += [specimen.rank_in(listed, s) for s in asked]
            expected += [
                0
                if np.isnan(s) or not len(listed) or s < listed[-1]
                else 1 + int((listed > s).sum())
                for s in asked
            ]
    ranks = (0, 1, 40)
    return [*map(float, measured), *(specimen.reciprocal_rank(r, 60.0) for r in ranks)], [
        *map(float, expected),
        0.0,
        1 / 61,
        1 / 100,
    ]


@adaptation(
    "RR-6", source="closed form: fused scores are at most sum(w)/61, those of a reranker in [0, 1]"
)
def after_rescaling_the_fused_score_can_outweigh_a_reranker(specimen: Any) -> Any:
    changed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        score = fused(specimen, [rng.normal(size=50), rng.normal(size=50)])
        order = np.argsort(-score, kind="stable")
        unit, other = (score - score.min()) / np.ptp(score), rng.random(50)
        swapped = unit.copy()
        swapped[order[[0, 9]]] = unit[order[[9, 0]]]
        changed += not np.array_equal(
            np.argsort(-(unit + other), kind="stable"),
            np.argsort(-(swapped + other), kind="stable"),
        )
    return at_least(changed, 1)


@adaptation("RR-7", source="closed form")
def a_constant_or_absent_signal_does_not_change_the_ranking(specimen: Any) -> Any:
    some = lists(7)
    return np.argsort(-fused(specimen, some, depth=50), kind="stable"), np.argsort(
        -fused(specimen, some[:4], depth=50), kind="stable"
    )


@adaptation("RR-8", source="ours: archived memories are not ranked")
def archived_memories_are_not_listed(specimen: Any) -> Any:
    some = lists(8)
    here = np.arange(400) % 3 > 0
    return fused(specimen, some, visible=here, depth=40)[here], fused(
        specimen, [s[here] for s in some], depth=40
    )


@adaptation("RR-9", source="a query's facet weights")
def a_facet_weight_multiplies_the_weight_of_its_signals(specimen: Any) -> Any:
    some = lists(9)[:2]
    facets = np.ones(len(Facet))
    facets[1] = 4.0
    return fused(specimen, some, [1.0, 0.5], facets=facets), fused(specimen, some, [1.0, 2.0])


# --- in a memory ----------------------------------------------------------------------------------
RANKED_DENSE = signal("ranked_dense", Facet.MEANING, "given scores", floor=-1.0)
RANKED_WORDS = signal("ranked_words", Facet.WORDS, "given scores")
RANKED_USE = signal("ranked_use", Facet.USE, "given scores", direct=False)
RANKED_UNTRUSTED = signal("ranked_untrusted", Facet.FORM, "given scores")
GIVEN = (RANKED_DENSE, RANKED_WORDS, RANKED_USE, RANKED_UNTRUSTED)


@equation(
    "RR-10",
    source="Cormack et al. 2009; scipy.stats.rankdata of visible memories, hidden ones by brute force; weight times facet factor",
    rtol=1e-6,
    papers=("cormack2009reciprocal",),
)
def a_memory_fuses_the_ranks_of_its_signals(specimen: Any) -> Any:
    measured, expected = [], []
    for seed, k, depth, weights in (
        (1, K, 1000, (1.0, 1.0, 1.0, 1.0)),
        (2, 7.5, 5, (1.0, 0.4, 0.3, 0.0)),
        (3, 0.0, 1, (0.5, 2.0, 0.1, 0.0)),
    ):
        some, there = [scores[:12] for scores in lists(seed)[:4]], np.arange(12) % 5 != 2
        factor = np.zeros(len(Facet))
        factor[[Facet.WORDS.value, Facet.USE.value]] = 0.7, -1.2

        memory = memory_of(
            specimen,
            giving(Phase.RETRIEVE, LOG_FACETS, factor, adds=True),
            *signalling(
                dict(zip(GIVEN, some, strict=True)), dict(zip(GIVEN, weights, strict=True))
            ),
            k=k,
            depth=depth,
        )
        encode(memory, *((float(i), f"event {i}") for i in range(12)))
        for row in np.flatnonzero(~there):
            memory.archive(int(row))
        memory.retrieve("event")
        trusts = [
            w * float(np.exp(factor[c.facet.value])) for c, w in zip(GIVEN, weights, strict=True)
        ]
        kept = [t > 0.0 for t in trusts]
        of_trust = (
            [s for s, on in zip(some, kept, strict=True) if on],
            [t for t in trusts if t > 0.0],
        )
        fusion = on_lists_of(there, *of_trust, k, depth)
        fusion[there] = by_hand([s[there] for s in of_trust[0]], of_trust[1], k, depth)
        measured.append(memory.column(FUSED))
        expected.append(fusion)
    return np.array(measured), np.array(expected)


@adaptation(
    "RR-11",
    source="ours: a hidden memory has the place of its score on the list of the visible ones, by hand; none below the last",
    rtol=1e-6,
)
def hidden_memories_get_the_place_of_their_score(specimen: Any) -> Any:
    # visible          hidden: above all, between, tied, tied with the last, below the last, without
    # a score
    scores = (0.9, 0.5, 0.5, 0.3, 1.0, 0.7, 0.5, 0.3, 0.1, SILENT)
    by_rank = {1000: (1, 2, 2, 4, 1, 2, 2, 4, 0, 0), 2: (1, 2, 2, 0, 1, 2, 2, 0, 0, 0)}
    measured, expected = [], []
    for depth, ranks in by_rank.items():
        memory = memory_of(specimen, *signalling({RANKED_WORDS: scores}, 0.8), k=K, depth=depth)
        encode(memory, *((float(i), f"event {i}") for i in range(10)))
        for row in range(4, 10):
            memory.archive(row)
        answered = memory.retrieve("event").rows.tolist()
        measured.append([*memory.column(FUSED), *answered])
        expected.append([*(0.8 / (K + r) if r else 0.0 for r in ranks), 0, 1, 2, 3])
    return measured, expected


@figure(
    "contribution",
    caption="Contribution of a rank to the fused score: for larger k the first ranks differ less from the others",
    source="Cormack et al. 2009, w / (k + rank)",
)
def contribution_over_rank(specimen: Any) -> Picture:
    ranks = np.array([1, 2, 3, 5, 10, 20, 50, 100, 200])
    return Picture(
        "rank",
        "contribution to the fused score",
        (
            *(
                Curve(
                    f"k = {k}",
                    ranks,
                    [fused(specimen, [places(201, place=int(r))], k=float(k))[0] for r in ranks],
                )
                for k in (1, 10, 60)
            ),
            dots("closed form, k = 60", ranks, 1.0 / (60.0 + ranks)),
        ),
        log="xy",
    )


@mutant("ranks from 0", rejected_by="RR-1")
def from_zero(specimen: Any) -> Any:
    return specimen.replacing(
        "reciprocal_rank", lambda rank, k: 1.0 / (k + rank - 1) if rank > 0 else 0.0
    )


@mutant("an absent memory gets the last rank", rejected_by="RR-1")
def absent_is_last(specimen: Any) -> Any:
    def add(scores: Any, visible: Any, depth: int, k: float, weight: float, out: Any) -> None:
        ranks = rankdata(-np.nan_to_num(scores, nan=-1e9), method="min")
        out += weight / (k + ranks)

    return specimen.replacing("add_reciprocal_ranks", add)


@mutant("scores are added, not ranks", rejected_by="RR-3")
def scores_added(specimen: Any) -> Any:
    def add(scores: Any, visible: Any, depth: int, k: float, weight: float, out: Any) -> None:
        out += weight * np.nan_to_num(scores) / k

    return specimen.replacing("add_reciprocal_ranks", add)


@mutant("ties ranked in the order of rows", rejected_by="RR-5b")
def ties_by_row(specimen: Any) -> Any:
    def add(scores: Any, visible: Any, depth: int, k: float, weight: float, out: Any) -> None:
        ranks = rankdata(-np.nan_to_num(scores, nan=-np.inf), method="ordinal")
        out += np.where(np.isnan(scores) | (ranks > depth), 0.0, weight / (k + ranks))

    return specimen.replacing("add_reciprocal_ranks", add)


@mutant("lists without end", rejected_by="RR-5")
def endless(specimen: Any) -> Any:
    original = specimen.best_scores
    return specimen.replacing(
        "best_scores", lambda scores, visible, depth: original(scores, visible, len(scores))
    )


@mutant("k ignored", rejected_by="RR-4")
def plain_reciprocal(specimen: Any) -> Any:
    return specimen.replacing("reciprocal_rank", lambda rank, k: 1.0 / rank if rank > 0 else 0.0)


@mutant("the hook exchanges k and depth", rejected_by="RR-10")
def exchanged(specimen: Any) -> Any:
    original = specimen.add_reciprocal_ranks
    return specimen.replacing(
        "add_reciprocal_ranks",
        lambda scores, visible, depth, k, weight, out: original(
            scores, visible, max(int(k), 1), float(depth), weight, out
        ),
    )


@mutant("hidden memories get no score", rejected_by="RR-11")
def hidden_at_zero(specimen: Any) -> Any:
    original = specimen.add_reciprocal_ranks

    def add(scores: Any, visible: Any, depth: int, k: float, weight: float, out: Any) -> None:
        # read-only as the scores of a memory are, so that nothing is compiled for other arrays
        shown = read_only(np.where(visible, scores, np.float32(SILENT)))
        original(shown, visible, depth, k, weight, out)

    return specimen.replacing("add_reciprocal_ranks", add)


@mutant("hidden memories are listed among the visible ones", rejected_by="RR-11")
def all_listed(specimen: Any) -> Any:
    original = specimen.best_scores
    return specimen.replacing(
        "best_scores", lambda scores, visible, depth: original(scores, np.ones_like(visible), depth)
    )
