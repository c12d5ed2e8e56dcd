"""Evidence for cross_encoder_rerank.  The model is the stand-in of the port, whose log odds are
computed here again from sets of words; the blend is computed over plain lists.  A cross-encoder
itself is compared with transformers in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...engine.base.errors import RegistryError
from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import RELEVANCE, RERANKED, REWEIGHTED
from ...engine.ports.reranker import STAND_IN
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, plug_in
from .shared import reranking as blends
from .shared.scripts import giving

SINGLE = 1e-6  # of float32
STORY = ("Ada sold the boat", "the keys of a house", "a ship on the lake", "unpack the red boat",
         "", "Ada lost her red keys", "the lake house")  # fmt: skip
SCORES = (0.030, 0.010, 0.025, 0.005, 0.028, 0.021, 0.002)


# --- references -----------------------------------------------------------------------------------
def judged_by_hand(query: str, text: str) -> float:
    """Probability of the stand-in: the odds are (m + 1/2) : (q - m + 1/2)."""
    asked = set(query.lower().split())
    m = len(asked & set(text.lower().split()))
    return (m + 0.5) / (len(asked) + 1.0)


def answer_of(
    query: str, pool: int, alpha: float, hidden: Sequence[int] = (), spread: bool = False
) -> tuple[list[float], list[float]]:
    """RELEVANCE, -1 where nothing is judged, and RERANKED of STORY."""
    rows = sorted((r for r in range(len(SCORES)) if r not in hidden), key=lambda r: -SCORES[r])[
        :pool
    ]
    judged = [judged_by_hand(query, STORY[r]) for r in rows]
    relevance, final = [-1.0] * len(SCORES), list(SCORES)
    for r, p, blend in zip(
        rows,
        judged,
        blends.final_by_hand([SCORES[r] for r in rows], judged, alpha, spread),
        strict=True,
    ):
        relevance[r], final[r] = p, blend
    return relevance, final


def asked_of(
    specimen: Any,
    query: str,
    hidden: Sequence[int] = (),
    scores: Sequence[float] = SCORES,
    **values: Any,
) -> Any:
    """RELEVANCE, RERANKED and the rows of the answer in a memory of STORY whose scores before
    the reranker are given.
    """

    memory = memory_of(
        specimen, giving(Phase.RETRIEVE, REWEIGHTED, scores), **{"model": str(STAND_IN), **values}
    )
    encode(memory, *((float(i), text) for i, text in enumerate(STORY[: len(scores)])))
    for row in hidden:
        memory.archive(row)
    rows = memory.retrieve(query, k=len(STORY)).rows.tolist()
    return (
        np.nan_to_num(memory.column(RELEVANCE), nan=-1.0).tolist(),
        memory.column(RERANKED).tolist(),
        rows,
    )


# --- equations ------------------------------------------------------------------------------------
@equation("CE-1", source="closed form: odds 1, 3, 1/4; ends of the range", atol=1e-15)
def log_odds_become_probabilities(specimen: Any) -> Any:
    out = np.full(7, np.nan)
    specimen.probability(
        np.array([0.0, math.log(3.0), -math.log(4.0), 800.0, -800.0, -20.0, 1e300]), out
    )
    return out, [0.5, 0.75, 0.2, 1.0, 0.0, 1.0 / (1.0 + math.exp(20.0)), 1.0]


blend_on_one_scale = equation("CE-2", source=blends.BY_HAND, atol=1e-12, papers=("cortex2026",))(
    blends.both_scores_are_blended_on_one_scale
)


@limit(
    "CE-3",
    source="closed form: equal scores do not count, and one candidate has nothing to be compared with",
    atol=1e-12,
)
def equal_scores_do_not_count(specimen: Any) -> Any:
    measured = []
    for fused, judged in (([0.5, 0.5], [0.1, 0.9]), ([0.1, 0.9], [0.5, 0.5]), ([0.3], [0.7])):
        out = np.empty(len(fused))
        blends.kernel(specimen, "blended")(np.array(fused), np.array(judged), 0.55, out)
        measured += out.tolist()
    return measured, [0.0, 0.55, 0.0, 0.45, 0.0]


blend_of_orders = adaptation("CE-4", source=blends.EXCHANGED)(
    blends.exchanging_the_first_and_the_tenth_changes_the_order
)
weight_by_spread = adaptation("CE-5", source=blends.DEVIATION)(
    blends.the_spread_of_the_scores_is_the_rerankers_weight
)
blend_as_printed = adaptation("CE-10", source=blends.PRINTED, atol=1e-6, papers=("cortex2026",))(
    blends.the_printed_blend_takes_scores_as_they_are
)


# --- in a memory ----------------------------------------------------------------------------------
@equation(
    "CE-6",
    source="the stand-in's odds from sets of words, and the blend over plain lists",
    atol=SINGLE,
    papers=("cortex2026",),
)
def a_memory_judges_its_pool(specimen: Any) -> Any:
    measured: list[Any] = []
    expected: list[Any] = []
    cases: tuple[tuple[str, int, float, tuple[int, ...]], ...] = (
        ("red keys", 5, 0.7, (2,)),
        ("the lake", 3, 0.35, ()),
        ("sold the house", 50, 1.0, (0, 6)),
        ("boat", 1, 0.5, ()),
    )
    for query, pool, alpha, hidden in cases:
        measured += asked_of(specimen, query, hidden, pool=pool, alpha=alpha)[:2]
        expected += answer_of(query, pool, alpha, hidden)
    return measured, expected


@adaptation(
    "CE-7",
    source="the same, with the weight of the blend by twice the standard deviation",
    atol=SINGLE,
)
def the_blend_follows_the_spread(specimen: Any) -> Any:
    return asked_of(specimen, "the red boat", (1,), pool=6, alpha=0.8, blend="spread")[
        :2
    ], answer_of("the red boat", 6, 0.8, (1,), spread=True)


@adaptation(
    "CE-8",
    source="by hand: the pool of two, the better match last in it; the third has the lowest score of the pool and a lower row",
)
def the_pool_stays_above_all_others(specimen: Any) -> Any:
    return [
        asked_of(specimen, "boat", scores=(3.0, 3.0, 5.0), pool=2, alpha=alpha)[2]
        for alpha in (0.0, 1.0)
    ], [[2, 0, 1], [0, 2, 1]]


@adaptation(
    "CE-11",
    source="definition: the query as it was asked, and the texts of the best as they were told, are judged; by hand",
)
def texts_are_judged_as_they_are(specimen: Any) -> Any:
    judged = list[str]()

    class Noting:
        def score(self, query: str, texts: Sequence[str]) -> Any:
            judged.extend((query, *texts))
            return np.zeros(len(texts))

    memory = memory_of(
        specimen.replacing("reranker", lambda *of: Noting()),
        "lexical_bm25",
        model=str(STAND_IN),
        pool=2,
    )
    encode(memory, (0.0, "Keys, red ones!", "Ada"), (1.0, "No"), (2.0, "Red -- my KEYS?", "Bo"))
    memory.retrieve("Whose red Keys, Zoë?")
    return [judged[0], *sorted(judged[1:])], [
        "Whose red Keys, Zoë?",
        "Keys, red ones!",
        "Red -- my KEYS?",
    ]


@limit(
    "CE-9",
    source="definition: an empty query is judged, a memory without candidates is not; without a model there is no mechanism",
    atol=SINGLE,
)
def nothing_to_judge(specimen: Any) -> Any:
    hidden = asked_of(specimen, "boat", range(7))
    try:
        plug_in(specimen)
        refused = 0.0
    except RegistryError as error:
        refused = float("no cross-encoder is named" in error.what and "FOLDER" in error.cure)
    return [*hidden[0], *hidden[1], *asked_of(specimen, "", pool=3)[0], refused], [
        *[-1.0] * 7, *SCORES, 0.5, -1.0, 0.5, -1.0, 0.5, -1.0, -1.0, 1.0]  # fmt: skip


# --- figures --------------------------------------------------------------------------------------
@figure(
    "blend",
    caption="Blend of a candidate that is last before the reranker and best for it, over the weight of the reranker: on one scale it "
    "passes the first at one half; with scores as they are it would at a hundredth",
    source="Cortex 3.3 and 6.4.1; ours: one scale",
)
def blend_over_weight(specimen: Any) -> Picture:
    weights, fused, judged = (
        np.linspace(0.0, 1.0, 41),
        np.array([1.0, 0.5, 0.0]) / 60.0,
        np.array([0.1, 0.4, 0.9]),
    )
    blend = np.empty((41, 3))
    for a, row in zip(weights, blend, strict=True):
        blends.kernel(specimen, "blended")(fused, judged, float(a), row)
    marks = np.array([0.0, 0.25, 0.55, 0.75, 1.0])
    return Picture(
        "weight of the reranker",
        "blend",
        (
            Curve("first before", weights, blend[:, 0]),
            Curve("second", weights, blend[:, 1]),
            Curve("last before", weights, blend[:, 2]),
            dots("by hand", marks, marks),
            Curve(
                "last before, scores as they are",
                weights,
                (1.0 - weights) * fused[2] + weights * judged[2],
            ),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("log odds to base 10", rejected_by="CE-1")
def decimal(specimen: Any) -> Any:
    def probability(log_odds: Any, out: Any) -> None:
        out[:] = 1.0 / (1.0 + 10.0 ** -np.clip(log_odds, -300.0, 300.0))

    return specimen.replacing("probability", probability)


@mutant("equal scores count in full", rejected_by="CE-3")
def full(specimen: Any) -> Any:
    def blended(fused: Any, judged: Any, a: float, out: Any) -> None:
        scaled_fused, scaled_judged = (
            (x - x.min()) / np.ptp(x) if np.ptp(x) > 0.0 else np.ones(len(x))
            for x in (fused, judged)
        )
        out[:] = (1.0 - a) * scaled_fused + a * scaled_judged

    return blends.replacing(specimen, "blended", blended)


exchanged, unscaled, turned, always_fixed, level = blends.mutants(
    blended="CE-2", scaled="CE-4", weight="CE-5", used="CE-7", pool="CE-8"
)


@mutant("archived memories are judged, too", rejected_by="CE-6")
def of_all(specimen: Any) -> Any:
    best = specimen.best
    return specimen.replacing(
        "best", lambda scores, visible, k: best(scores, np.ones_like(visible), k)
    )


@mutant("without a model the stand-in judges", rejected_by="CE-9")
def silent(specimen: Any) -> Any:
    def __init__(self: Any, id: str, params: Any, units: Any = None, order: int = 0) -> None:
        specimen.CrossEncoderRerank.__init__(
            self, id, replace(params, model=params.model or str(STAND_IN)), units, order
        )

    return specimen.overriding("CrossEncoderRerank", __init__=__init__)
