"""Evidence for cross_encoder_rerank.  The model is the stand-in of the port, whose log odds are computed here again from sets of words; the blend
is computed over plain lists.  A cross-encoder itself is compared with transformers in the tests.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...engine.columns import Phase
from ...engine.errors import RegistryError
from ...engine.ports.reranker import STAND_IN
from ...engine.vocabulary import RELEVANCE, RERANKED, REWEIGHTED
from ..checks import adaptation, at_least, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour, plug_in

SINGLE = 1e-6           # of float32
STORY = ("Ada sold the boat", "the keys of a house", "a ship on the lake", "unpack the red boat", "", "Ada lost her red keys", "the lake house")
SCORES = (0.030, 0.010, 0.025, 0.005, 0.028, 0.021, 0.002)


# --- references --------------------------------------------------------------------------------------------------------------
def judged_by_hand(query: str, text: str) -> float:
    """Probability of the stand-in: the odds are (m + 1/2) : (q - m + 1/2)."""
    asked = set(query.lower().split())
    m = len(asked & set(text.lower().split()))
    return (m + 0.5) / (len(asked) + 1.0)


def scaled(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [(v - low) / (high - low) if high > low else 0.0 for v in values]


def answer_of(query: str, pool: int, alpha: float, hidden: Sequence[int] = (), spread: bool = False) -> tuple[list[float], list[float]]:
    """RELEVANCE, -1 where nothing is judged, and RERANKED of STORY."""
    rows = sorted((r for r in range(len(SCORES)) if r not in hidden), key=lambda r: -SCORES[r])[:pool]
    judged = [judged_by_hand(query, STORY[r]) for r in rows]
    mean = sum(judged) / len(rows)
    a = alpha * min(2.0 * math.sqrt(sum((p - mean) ** 2 for p in judged) / len(rows)), 1.0) if spread else alpha
    relevance, final, low = [-1.0] * len(SCORES), list(SCORES), min(SCORES[r] for r in rows)
    for r, f, j, p in zip(rows, scaled([SCORES[r] for r in rows]), scaled(judged), judged, strict=True):
        relevance[r], final[r] = p, low + (1.0 - a) * f + a * j
    return relevance, final


def asked_of(specimen: Any, query: str, hidden: Sequence[int] = (), scores: Sequence[float] = SCORES, **values: Any) -> Any:
    """RELEVANCE, RERANKED and the rows of the answer in a memory of STORY whose scores before the reranker are given."""
    def score(view: Any, cue: Any) -> None:
        view.reweighted[:] = scores

    memory = memory_of(specimen, neighbour(Phase.RETRIEVE, score, sets=(REWEIGHTED,)), **{"model": str(STAND_IN), **values})
    encode(memory, *((float(i), text) for i, text in enumerate(STORY[:len(scores)])))
    for row in hidden:
        memory.archive(row)
    rows = memory.retrieve(query, k=len(STORY)).rows.tolist()
    return np.nan_to_num(memory.column(RELEVANCE), nan=-1.0).tolist(), memory.column(RERANKED).tolist(), rows


# --- equations ---------------------------------------------------------------------------------------------------------------
@equation("CE-1", source="closed form: odds 1, 3, 1/4; ends of the range", atol=1e-15)
def log_odds_become_probabilities(specimen: Any) -> Any:
    out = np.full(7, np.nan)
    specimen.probability(np.array([0.0, math.log(3.0), -math.log(4.0), 800.0, -800.0, -20.0, 1e300]), out)
    return out, [0.5, 0.75, 0.2, 1.0, 0.0, 1.0 / (1.0 + math.exp(20.0)), 1.0]


@equation("CE-2", source="by hand: f' = (1, .5, 0), j' = (0, 1, .5)", atol=1e-12, papers=("cortex2026",))
def both_scores_are_blended_on_one_scale(specimen: Any) -> Any:
    found = []
    for a in (0.0, 0.25, 0.55, 1.0):
        out = np.empty(3)
        specimen.blended(np.array([3.0, 2.0, 1.0]) / 61.0, np.array([0.2, 0.6, 0.4]), a, out)
        found.append(out.tolist())
    return found, [[1.0, 0.5, 0.0], [0.75, 0.625, 0.125], [0.45, 0.775, 0.275], [0.0, 1.0, 0.5]]


@limit("CE-3", source="closed form: equal scores do not count, and one candidate has nothing to be compared with", atol=1e-12)
def equal_scores_do_not_count(specimen: Any) -> Any:
    found = []
    for fused, judged in (([0.5, 0.5], [0.1, 0.9]), ([0.1, 0.9], [0.5, 0.5]), ([0.3], [0.7])):
        out = np.empty(len(fused))
        specimen.blended(np.array(fused), np.array(judged), 0.55, out)
        found += out.tolist()
    return found, [0.0, 0.55, 0.0, 0.45, 0.0]


@adaptation("CE-4", source="dossier RR-6: on their own scale, fused scores of reciprocal ranks decide nothing beside scores that span 0 to 1")
def exchanging_the_first_and_the_tenth_changes_the_order(specimen: Any) -> Any:
    rng, changed = np.random.default_rng(8), 0
    for _ in range(20):
        fused, judged = 1.0 / (60.0 + np.arange(1.0, 11.0)), rng.random(10)
        one, two = np.empty(10), np.empty(10)
        specimen.blended(fused, judged, 0.5, one)
        specimen.blended(fused[[9, *range(1, 9), 0]], judged, 0.5, two)
        changed += np.argsort(-one).tolist() != np.argsort(-two).tolist()
    return at_least(changed, 15)


@adaptation("CE-5", source="by hand: twice the standard deviation, at most 1")
def the_spread_of_the_scores_is_the_rerankers_weight(specimen: Any) -> Any:
    judged = ([0.4, 0.4, 0.4], [0.0, 1.0], [0.2, 0.4], [-1.0, 1.0], [0.1, 0.1, 0.7])
    measured = [specimen.reranker_weight(0.6, "spread", np.array(each)) for each in judged]
    return [*measured, specimen.reranker_weight(0.6, "fixed", np.array([0.4, 0.4]))], [
        0.0, 0.6, 0.12, 0.6, 0.6 * 2.0 * math.sqrt(0.08), 0.6]


# --- in a memory -------------------------------------------------------------------------------------------------------------
@equation("CE-6", source="the stand-in's odds from sets of words, and the blend over plain lists", atol=SINGLE, papers=("cortex2026",))
def a_memory_judges_its_pool(specimen: Any) -> Any:
    measured: list[Any] = []
    expected: list[Any] = []
    cases: tuple[tuple[str, int, float, tuple[int, ...]], ...] = (
        ("red keys", 5, 0.7, (2,)), ("the lake", 3, 0.35, ()), ("sold the house", 50, 1.0, (0, 6)), ("boat", 1, 0.5, ()))
    for query, pool, alpha, hidden in cases:
        measured += asked_of(specimen, query, hidden, pool=pool, alpha=alpha)[:2]
        expected += answer_of(query, pool, alpha, hidden)
    return measured, expected


@adaptation("CE-7", source="the same, with the weight of the blend by twice the standard deviation", atol=SINGLE)
def the_blend_follows_the_spread(specimen: Any) -> Any:
    return asked_of(specimen, "the red boat", (1,), pool=6, alpha=0.8, blend="spread")[:2], answer_of("the red boat", 6, 0.8, (1,), spread=True)


@adaptation("CE-8", source="by hand: the pool of two, the better match last in it; the third has the lowest score of the pool and a lower row")
def the_pool_stays_above_all_others(specimen: Any) -> Any:
    return [asked_of(specimen, "boat", scores=(3.0, 3.0, 5.0), pool=2, alpha=alpha)[2] for alpha in (0.0, 1.0)], [[2, 0, 1], [0, 2, 1]]


@limit("CE-9", source="definition: an empty query is judged, a memory without candidates is not; without a model there is no mechanism", atol=SINGLE)
def nothing_to_judge(specimen: Any) -> Any:
    hidden = asked_of(specimen, "boat", range(7))
    try:
        plug_in(specimen)
        refused = 0.0
    except RegistryError as error:
        refused = float("no cross-encoder is named" in error.what and "FOLDER" in error.cure)
    return [*hidden[0], *hidden[1], *asked_of(specimen, "", pool=3)[0], refused], [
        *[-1.0] * 7, *SCORES, 0.5, -1.0, 0.5, -1.0, 0.5, -1.0, -1.0, 1.0]


# --- figures -----------------------------------------------------------------------------------------------------------------
@figure("blend", caption="Blend of a candidate that is last before the reranker and best for it, over the weight of the reranker: on one scale it "
        "passes the first at one half; with scores as they are it would at a hundredth", source="Cortex 3.3 and 6.4.1; ours: one scale")
def blend_over_weight(specimen: Any) -> Picture:
    weights, fused, judged = np.linspace(0.0, 1.0, 41), np.array([1.0, 0.5, 0.0]) / 60.0, np.array([0.1, 0.4, 0.9])
    found = np.empty((41, 3))
    for a, row in zip(weights, found, strict=True):
        specimen.blended(fused, judged, float(a), row)
    marks = np.array([0.0, 0.25, 0.55, 0.75, 1.0])
    return Picture("weight of the reranker", "blend", (
        Curve("first before", weights, found[:, 0]), Curve("second", weights, found[:, 1]), Curve("last before", weights, found[:, 2]),
        dots("by hand", marks, marks), Curve("last before, scores as they are", weights, (1.0 - weights) * fused[2] + weights * judged[2])))


# --- mutants -----------------------------------------------------------------------------------------------------------------
@mutant("log odds to base 10", rejected_by="CE-1")
def decimal(specimen: Any) -> Any:
    def probability(log_odds: Any, out: Any) -> None:
        out[:] = 1.0 / (1.0 + 10.0 ** -np.clip(log_odds, -300.0, 300.0))

    return specimen.replacing("probability", probability)


@mutant("the blend exchanges its terms", rejected_by="CE-2")
def exchanged(specimen: Any) -> Any:
    blended = specimen.blended
    return specimen.replacing("blended", lambda fused, judged, a, out: blended(judged, fused, a, out))


@mutant("equal scores count in full", rejected_by="CE-3")
def full(specimen: Any) -> Any:
    def blended(fused: Any, judged: Any, a: float, out: Any) -> None:
        one, two = ((x - x.min()) / np.ptp(x) if np.ptp(x) > 0.0 else np.ones(len(x)) for x in (fused, judged))
        out[:] = (1.0 - a) * one + a * two

    return specimen.replacing("blended", blended)


@mutant("the blend takes scores as they are, as Cortex prints it", rejected_by="CE-4")
def unscaled(specimen: Any) -> Any:
    def blended(fused: Any, judged: Any, a: float, out: Any) -> None:
        out[:] = (1.0 - a) * fused + a * judged

    return specimen.replacing("blended", blended)


@mutant("more spread lowers the weight", rejected_by="CE-5")
def turned(specimen: Any) -> Any:
    weight = specimen.reranker_weight
    return specimen.replacing("reranker_weight", lambda alpha, blend, judged: alpha - weight(alpha, "spread", judged) if blend == "spread" else alpha)


@mutant("archived memories are judged, too", rejected_by="CE-6")
def of_all(specimen: Any) -> Any:
    best = specimen.best
    return specimen.replacing("best", lambda scores, visible, k: best(scores, np.ones_like(visible), k))


@mutant("the spread of the blend is not used", rejected_by="CE-7")
def always_fixed(specimen: Any) -> Any:
    return specimen.replacing("reranker_weight", lambda alpha, blend, judged: alpha)


@mutant("the pool starts at its lowest score", rejected_by="CE-8")
def level(specimen: Any) -> Any:
    def above(fused: Any, blend: Any, out: Any) -> None:
        out[:] = fused.min() + blend

    return specimen.replacing("above", above)


@mutant("without a model the stand-in judges", rejected_by="CE-9")
def silent(specimen: Any) -> Any:
    class Silent(specimen.CrossEncoderRerank):                                          # type: ignore[misc]
        def __init__(self, id: str, params: Any, units: Any = None, order: int = 0) -> None:
            super().__init__(id, replace(params, model=params.model or str(STAND_IN)), units, order)

    return specimen.replacing("CrossEncoderRerank", Silent)
