"""Evidence for convex_fusion: two signals by hand for each normalisation, and invariance under
changes of scale, weights and normalisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, zmap, zscore

from ...engine.contract.columns import Facet, Phase, signal
from ...engine.contract.vocabulary import FUSED, LOG_FACETS
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from .shared.scripts import giving, signalling

NAMES = ("standard", "minmax", "theoretical_minmax")
Scores = NDArray[np.float64]


def fused(
    specimen: Any,
    signals: Sequence[tuple[Any, float, Facet, float]],
    name: str,
    visible: Any = None,
    facets: Any = None,
) -> Any:
    """FUSED in float64 as the plug-in writes it; signals as (scores, floor, facet, weight).
    visible: or how many memories each stands for.
    """
    n = len(signals[0][0])
    rows = tuple(
        (SimpleNamespace(floor=floor, facet=facet), np.asarray(scores, np.float64), weight)
        for scores, floor, facet, weight in signals
    )
    view = SimpleNamespace(
        signals=rows,
        facet_weights=np.ones(len(Facet)) if facets is None else facets,
        stands_for=np.ones(n, np.bool_) if visible is None else visible,
        fused=np.full(n, np.nan),
    )
    specimen.ConvexFusion(
        "convex_fusion", specimen.ConvexFusionParams(time_scale=1.0, normalisation=name)
    ).fuse(view, None)
    return view.fused


def two(seed: int, n: int = 200) -> tuple[Scores, Scores]:
    """Cosines, and word scores with most memories at zero."""
    rng = np.random.default_rng(seed)
    return np.clip(rng.normal(0.2, 0.15, n), -1.0, 1.0), np.maximum(
        rng.gamma(2.0, 3.0, n) - 6.0, 0.0
    )


def pair(
    dense: Any, words: Any, a: float = 0.8, b: float = 0.2
) -> list[tuple[Any, float, Facet, float]]:
    return [(dense, -1.0, Facet.MEANING, a), (words, 0.0, Facet.WORDS, b)]


def order(scores: Scores) -> NDArray[Any]:
    return np.argsort(-scores, kind="stable")


@equation(
    "CC-1",
    source="Bruch, Gai & Ingber 2023, z-score; scipy.stats.zscore",
    papers=("bruch2023analysis",),
)
def z_scores_are_averaged_by_weight(specimen: Any) -> Any:
    dense, words = two(1)
    return fused(specimen, pair(dense, words), "standard"), 0.8 * zscore(dense) + 0.2 * zscore(
        words
    )


@equation(
    "CC-2",
    source="Bruch, Gai & Ingber 2023, min-max; numpy",
    figure="weights",
    papers=("bruch2023analysis",),
)
def min_max_scores_are_averaged_by_weight(specimen: Any) -> Any:
    dense, words = two(2)
    return fused(specimen, pair(dense, words), "minmax"), 0.8 * (dense - dense.min()) / np.ptp(
        dense
    ) + 0.2 * words / words.max()


@equation(
    "CC-3",
    source="Bruch, Gai & Ingber 2023, theoretical min-max; numpy",
    papers=("bruch2023analysis",),
)
def theoretical_min_max_measures_from_the_least_possible_score(specimen: Any) -> Any:
    dense, words = two(3)
    dense = np.abs(dense) + 0.05  # no cosine is near -1, which must not matter
    return fused(specimen, pair(dense, words), "theoretical_minmax"), 0.8 * (dense + 1.0) / (
        dense.max() + 1.0
    ) + 0.2 * words / words.max()


@equation(
    "CC-4",
    source="linear algebra, the reason for the small effect of the normalisation; scipy.stats.rankdata",
    papers=("bruch2023analysis",),
)
def suitable_weights_give_the_ranking_of_another_normalisation(specimen: Any) -> Any:
    dense, words = two(4)
    by_range = fused(specimen, pair(dense, words, 0.6, 0.4), "minmax")
    by_spread = fused(
        specimen,
        pair(dense, words, 0.6 * dense.std() / np.ptp(dense), 0.4 * words.std() / np.ptp(words)),
        "standard",
    )
    return rankdata(np.round(by_range, 9)), rankdata(np.round(by_spread * np.std(by_range), 9))


@equation("CC-5", source="affine invariance", atol=1e-9, papers=("bruch2023analysis",))
def the_scale_and_zero_of_a_signal_do_not_matter(specimen: Any) -> Any:
    dense, words = two(5)
    changed = [
        fused(specimen, pair(7.0 * dense - 3.0, 0.01 * words + 40.0), name) for name in NAMES[:2]
    ]
    return np.concatenate(changed), np.concatenate(
        [fused(specimen, pair(dense, words), name) for name in NAMES[:2]]
    )


@equation(
    "CC-6",
    source="convexity: weights are divided by their sum",
    atol=1e-9,
    papers=("bruch2023analysis",),
)
def only_the_ratio_of_the_weights_matters(specimen: Any) -> Any:
    dense, words = two(6)
    thrice = [fused(specimen, pair(dense, words, 2.4, 0.6), name) for name in NAMES]
    return np.concatenate(thrice), np.concatenate(
        [fused(specimen, pair(dense, words), name) for name in NAMES]
    )


@limit("CC-7", source="closed form: one weight is zero", papers=("bruch2023analysis",))
def a_single_trusted_signal_keeps_its_ranking(specimen: Any) -> Any:
    dense, words = two(7)
    return np.concatenate(
        [order(fused(specimen, pair(dense, words, 1.0, 0.0), name)) for name in NAMES]
    ), np.tile(order(dense), 3)


@limit(
    "CC-8", source="closed form: a constant signal adds a constant", papers=("bruch2023analysis",)
)
def a_constant_or_absent_signal_does_not_change_the_ranking(specimen: Any) -> Any:
    dense, _ = two(8)
    orders = [
        order(fused(specimen, pair(dense, np.full_like(dense, level)), name))
        for name in NAMES
        for level in (0.3, np.nan)
    ]
    return np.concatenate(orders), np.tile(order(dense), 6)


@limit(
    "CC-9",
    source="convexity: a mean lies between its parts",
    atol=1e-12,
    papers=("bruch2023analysis",),
)
def a_memory_that_is_best_in_every_signal_scores_one(specimen: Any) -> Any:
    dense, words = two(9)
    dense[17], words[17] = 0.99, 99.0
    tops = [fused(specimen, pair(dense, words), name) for name in NAMES[1:]]
    return [float(t.max()) for t in tops] + [int(t.argmax()) for t in tops], [1.0, 1.0, 17, 17]


@adaptation("CC-10", source="ours: a missing score counts as the floor")
def a_missing_score_counts_as_the_least_possible_one(specimen: Any) -> Any:
    dense, words = two(10)
    silent = np.where(words == 0.0, np.nan, words)
    told, zeros = (
        np.concatenate([fused(specimen, pair(dense, word_scores), name) for name in NAMES])
        for word_scores in (silent, words)
    )
    return told, zeros


@adaptation("CC-11", source="ours: archived memories do not affect the scale", atol=1e-12)
def archived_memories_do_not_affect_the_scores(specimen: Any) -> Any:
    dense, words = two(11)
    here = np.arange(len(dense)) % 3 > 0
    outliers = np.where(here, words, 1e6)
    both = [fused(specimen, pair(dense, outliers), name, visible=here)[here] for name in NAMES]
    return np.concatenate(both), np.concatenate(
        [fused(specimen, pair(dense[here], words[here]), name) for name in NAMES]
    )


@limit("CC-11b", source="ours: without a visible memory both extremes are the floor")
def without_a_visible_memory_there_is_no_range(specimen: Any) -> Any:
    return specimen.extremes(np.array([0.3, 0.8]), np.zeros(2, np.bool_), -1.0), (-1.0, -1.0)


@adaptation("CC-12", source="a query's facet weights", atol=1e-12)
def a_facet_weight_multiplies_the_weights_of_its_signals(specimen: Any) -> Any:
    dense, words = two(12)
    facets = np.ones(len(Facet))
    facets[Facet.WORDS.value] = 4.0
    return fused(specimen, pair(dense, words), "standard", facets=facets), fused(
        specimen, pair(dense, words, 0.5, 0.5), "standard"
    )


# --- in a memory ----------------------------------------------------------------------------------
CONVEX_DENSE = signal("convex_dense", Facet.MEANING, "given scores", floor=-1.0)
CONVEX_WORDS = signal("convex_words", Facet.WORDS, "given scores")
CONVEX_USE = signal("convex_use", Facet.USE, "given scores", floor=-3.0, direct=False)
CONVEX_CONSTANT = signal("convex_constant", Facet.TIME, "given scores")
CONVEX_UNTRUSTED = signal("convex_untrusted", Facet.FORM, "given scores")
GIVEN = (CONVEX_DENSE, CONVEX_WORDS, CONVEX_USE, CONVEX_CONSTANT, CONVEX_UNTRUSTED)
WEIGHTS = (1.0, 0.4, 0.3, 0.2, 0.0)


def normalised(name: str, scores: Scores, there: NDArray[np.bool_], floor: float) -> Scores:
    """The paper's normalisation over the scores that are there, applied to all scores, in numpy;
    without a spread a signal adds nothing.
    """
    seen = scores[there]
    if name == "standard":
        return np.asarray(zmap(scores, seen)) if np.ptp(seen) else np.zeros(len(scores))
    least = floor if name == "theoretical_minmax" else seen.min()
    return (scores - least) / (seen.max() - least) if seen.max() > least else np.zeros(len(scores))


@equation(
    "CC-13",
    source="Bruch, Gai & Ingber 2023 over the visible memories, in numpy and scipy; weight times facet factor, divided by their sum",
    rtol=1e-5,
    atol=1e-6,
    papers=("bruch2023analysis",),
)
def a_memory_averages_its_normalised_signals(specimen: Any) -> Any:
    rng, there, measured, expected = np.random.default_rng(13), np.arange(11) % 4 != 1, [], []
    dense, words = two(13, 11)
    words = rng.permutation(np.where(np.arange(11) % 3 == 0, np.nan, words + 1.0))
    some = [dense, words, rng.normal(size=11), np.where(there, 0.5, 0.7), rng.normal(size=11)]
    factor = np.zeros(len(Facet))
    factor[[Facet.WORDS.value, Facet.USE.value]] = 0.7, -1.2

    for name in NAMES:
        memory = memory_of(
            specimen,
            giving(Phase.RETRIEVE, LOG_FACETS, factor, adds=True),
            *signalling(
                dict(zip(GIVEN, some, strict=True)), dict(zip(GIVEN, WEIGHTS, strict=True))
            ),
            normalisation=name,
        )
        encode(memory, *((float(i), f"event {i}") for i in range(11)))
        for row in np.flatnonzero(~there):
            memory.archive(int(row))
        memory.retrieve("event")
        trusts = np.array(WEIGHTS) * np.exp([factor[c.facet.value] for c in GIVEN])
        parts = [
            normalised(name, np.where(np.isnan(s), c.floor, s), there, c.floor)
            for c, s in zip(GIVEN, some, strict=True)
        ]
        measured.append(memory.column(FUSED))
        expected.append(trusts @ np.array(parts) / trusts.sum())
    return np.array(measured), np.array(expected)


@adaptation(
    "CC-14",
    source="ours: hidden memories on the scale of visible ones, by hand; of 1, 0.2, 0, 0.6, none only 0.2 and 0.6 are visible",
    atol=1e-6,
)
def hidden_memories_are_scored_on_the_scale_of_the_visible_ones(specimen: Any) -> Any:
    measured, answered = [], []
    for name in NAMES:
        memory = memory_of(
            specimen,
            *signalling({CONVEX_DENSE: [1.0, 0.2, 0.0, 0.6, np.nan]}, 0.7),
            normalisation=name,
        )
        encode(memory, *((float(i), f"event {i}") for i in range(5)))
        for row in (0, 2, 4):
            memory.archive(row)
        answered.append(memory.retrieve("event").rows.tolist())
        measured.append(memory.column(FUSED))
    by_hand = np.array(
        [[3.0, -1.0, -2.0, 1.0, -7.0], [2.0, 0.0, -0.5, 1.0, -3.0], [1.25, 0.75, 0.625, 1.0, 0.0]]
    )
    return np.hstack([measured, answered]), np.hstack([by_hand, [[3, 1]] * 3])


@adaptation(
    "CC-15",
    source="ours: a memory that stands for several counts as often in means and deviations; scipy.stats.zmap of repeated scores",
)
def a_memory_that_stands_for_several_counts_as_often(specimen: Any) -> Any:
    dense, words = two(15, 40)
    counts = np.random.default_rng(15).integers(1, 6, 40)
    expected = 0.8 * zmap(dense, np.repeat(dense, counts)) + 0.2 * zmap(
        words, np.repeat(words, counts)
    )
    return fused(specimen, pair(dense, words), "standard", counts.astype(np.float32)), expected


@adaptation(
    "CC-16",
    source="ours: no memory is more than 32 sd from the mean, by a larger sd; by hand, and scipy.stats.zscore",
)
def one_match_among_many_counts_as_one_among_a_thousand(specimen: Any) -> Any:
    n = 4_000
    dense, rare = np.random.default_rng(16).normal(0.2, 0.15, n), np.zeros(n)
    rare[7] = 3.0
    bounded = (rare - 3.0 / n) / ((3.0 - 3.0 / n) / 32.0)
    return fused(specimen, pair(dense, rare), "standard"), 0.8 * zscore(dense) + 0.2 * bounded


@figure(
    "weights",
    caption="Fused scores of three memories over the weight of meaning against words: each is linear between its two scores, and "
    "the memory good in both leads in between",
    source="Bruch, Gai & Ingber 2023, min-max; the definition by hand",
)
def scores_over_the_weight_of_meaning(specimen: Any) -> Picture:
    dense, words, share = (
        np.array([0.9, 0.3, 0.75, 0.1]),
        np.array([1.0, 9.0, 6.5, 0.0]),
        np.linspace(0.0, 1.0, 21),
    )
    scores = np.array([fused(specimen, pair(dense, words, a, 1.0 - a), "minmax") for a in share])
    by_hand = np.array([[1.0, 0.25, 0.8125], [1 / 9, 1.0, 6.5 / 9]])
    at = np.repeat([0.0, 0.5, 1.0], 3)
    return Picture(
        "share of meaning in the weights",
        "fused score",
        (
            *(
                Curve(label, share, scores[:, i])
                for i, label in enumerate(("near in meaning", "shares words", "good in both"))
            ),
            dots("by hand", at, np.concatenate([by_hand[1], by_hand.mean(axis=0), by_hand[0]])),
        ),
    )


@mutant("raw scores are added", rejected_by="CC-5")
def raw(specimen: Any) -> Any:
    def add(signals: Any, visible: Any, out: Any) -> None:
        for scores, floor, weight in signals:
            out += weight * np.where(np.isnan(scores), floor, scores)

    return specimen.replacing("NORMALISED", dict.fromkeys(NAMES, add))


@mutant("z-scores with the sample's sd (n - 1)", rejected_by="CC-1")
def sample_sd(specimen: Any) -> Any:
    def add(signals: Any, visible: Any, out: Any) -> None:
        for scores, floor, weight in signals:
            out += weight * zscore(np.where(np.isnan(scores), floor, scores), ddof=1)

    return specimen.replacing("add_all_standardised", add)


@mutant("theoretical minimum taken from the sample", rejected_by="CC-3")
def observed_minimum(specimen: Any) -> Any:
    return specimen.replacing("add_theoretical_minmax", specimen.add_minmax)


@mutant("the least score is taken over scored memories only", rejected_by="CC-10")
def silence_sets_no_scale(specimen: Any) -> Any:
    original = specimen.extremes

    def extremes(scores: Any, visible: Any, floor: float) -> Any:
        return original(scores, visible, float(np.nanmean(scores)))

    return specimen.replacing("extremes", extremes)


@mutant("archived memories affect the scale, too", rejected_by="CC-11")
def archived_counts(specimen: Any) -> Any:
    return specimen.replacing(
        "extremes",
        lambda scores, visible, floor: (float(np.nanmin(scores)), float(np.nanmax(scores))),
    )


@mutant("weights are not divided by their sum", rejected_by="CC-13")
def undivided(specimen: Any) -> Any:
    def fuse(self: Any, view: Any, cue: Any) -> None:
        view.fused[...] = 0.0
        signals = [
            (scores, signal.floor, weight * view.facet_weights[signal.facet.value])
            for signal, scores, weight in view.signals
        ]
        specimen.NORMALISED[self.params.normalisation](signals, view.stands_for, view.fused)

    return specimen.overriding("ConvexFusion", fuse=fuse)


@mutant("a memory that stands for several counts once", rejected_by="CC-15")
def counted_once(specimen: Any) -> Any:
    def once(signals: Any, stands_for: Any, out: Any) -> None:
        specimen.add_all_standardised(signals, stands_for > 0, out)

    return specimen.replacing("NORMALISED", {**specimen.NORMALISED, "standard": once})


@mutant("a rare signal outvotes all others in a large memory", rejected_by="CC-16")
def unbounded(specimen: Any) -> Any:
    def add(signals: Any, visible: Any, out: Any) -> None:
        for scores, floor, weight in signals:
            heard = np.where(np.isnan(scores), floor, scores)
            out += weight * zmap(heard, np.repeat(heard, np.asarray(visible, np.int64)))

    return specimen.replacing("NORMALISED", {**specimen.NORMALISED, "standard": add})


@mutant("hidden memories get no score", rejected_by="CC-14")
def hidden_at_zero(specimen: Any) -> Any:
    def masked(add: Any) -> Any:
        def seen(signals: Any, visible: Any, out: Any) -> None:
            before = out.copy()
            add(signals, visible, out)
            out[~visible] = before[~visible]

        return seen

    return specimen.replacing(
        "NORMALISED", {name: masked(add) for name, add in specimen.NORMALISED.items()}
    )


@mutant("hidden scores are kept within the range of the visible ones", rejected_by="CC-14")
def kept_within(specimen: Any) -> Any:
    original = specimen.add_rescaled

    def add(scores: Any, floor: float, low: float, high: float, weight: float, out: Any) -> None:
        original(
            np.clip(np.where(np.isnan(scores), floor, scores), low, high),
            floor,
            low,
            high,
            weight,
            out,
        )

    return specimen.replacing("add_rescaled", add)
