"""The blend that the rerankers share: references, checks and mutants of
`mechanisms.shared.rerank`, for their evidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...checks import Mutant, at_least, mutant
from ...specimen import Holdings, rebuilt


# --- references -----------------------------------------------------------------------------------
def final_by_hand(
    fused: Sequence[float], judged: Sequence[float], alpha: float, spread: bool
) -> list[float]:
    """Scores of a pool after the reranker, over plain lists."""
    mean, low = sum(judged) / len(judged), min(fused)
    a = (
        alpha * min(2.0 * math.sqrt(sum((j - mean) ** 2 for j in judged) / len(judged)), 1.0)
        if spread
        else alpha
    )
    return [
        low + (1.0 - a) * f + a * j for f, j in zip(_scaled(fused), _scaled(judged), strict=True)
    ]


def _scaled(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [(v - low) / (high - low) if high > low else 0.0 for v in values]


# --- the specimen ---------------------------------------------------------------------------------
def kernel(specimen: Any, name: str) -> Any:
    """The function of that name that the specimen's `reranked` calls."""
    return specimen.reranked.__globals__[name]


def replacing(specimen: Any, name: str, value: Any) -> Any:
    """The specimen with another function of that name in the module of `reranked`."""
    function = specimen.reranked
    holdings = Holdings(function.__globals__, function.__module__)
    return specimen.replacing("reranked", rebuilt(holdings, {name: value})["reranked"])


# --- checks ---------------------------------------------------------------------------------------
BY_HAND = "by hand: f' = (1, .5, 0), j' = (0, 1, .5)"
EXCHANGED = "dossier RR-6: on their own scale, fused scores of reciprocal ranks decide nothing beside scores that span 0 to 1"
DEVIATION = "by hand: twice the standard deviation, at most 1"


def both_scores_are_blended_on_one_scale(specimen: Any) -> Any:
    measured = []
    for a in (0.0, 0.25, 0.55, 1.0):
        out = np.empty(3)
        kernel(specimen, "blended")(
            np.array([3.0, 2.0, 1.0]) / 61.0, np.array([0.2, 0.6, 0.4]), a, out
        )
        measured.append(out.tolist())
    return measured, [[1.0, 0.5, 0.0], [0.75, 0.625, 0.125], [0.45, 0.775, 0.275], [0.0, 1.0, 0.5]]


def exchanging_the_first_and_the_tenth_changes_the_order(specimen: Any) -> Any:
    rng, changed, blended = np.random.default_rng(8), 0, kernel(specimen, "blended")
    for _ in range(20):
        fused, judged = 1.0 / (60.0 + np.arange(1.0, 11.0)), rng.random(10)
        first_out, second_out = np.empty(10), np.empty(10)
        blended(fused, judged, 0.5, first_out)
        blended(fused[[9, *range(1, 9), 0]], judged, 0.5, second_out)
        changed += np.argsort(-first_out).tolist() != np.argsort(-second_out).tolist()
    return at_least(changed, 15)


def the_spread_of_the_scores_is_the_rerankers_weight(specimen: Any) -> Any:
    judged, weight = (
        ([0.4, 0.4, 0.4], [0.0, 1.0], [0.2, 0.4], [-1.0, 1.0], [0.1, 0.1, 0.7]),
        kernel(specimen, "reranker_weight"),
    )
    measured = [weight(0.6, "spread", np.array(scores)) for scores in judged]
    return [*measured, weight(0.6, "fixed", np.array([0.4, 0.4]))], [
        0.0,
        0.6,
        0.12,
        0.6,
        0.6 * 2.0 * math.sqrt(0.08),
        0.6,
    ]


PRINTED = "Cortex 3.3, stage 4, by hand: (1 - a) f + a j, above the lowest f of the pool"


def the_printed_blend_takes_scores_as_they_are(specimen: Any) -> Any:
    fused, judged = np.array([0.03, 0.02, 0.01], np.float32), np.array([0.2, 0.25, 0.1])
    measured = [specimen.reranked(fused, judged, a, "printed") for a in (0.0, 0.55, 1.0)]
    return measured, [
        [0.01 + (1.0 - a) * f + a * j for f, j in zip((0.03, 0.02, 0.01), judged, strict=True)]
        for a in (0.0, 0.55, 1.0)
    ]


# --- mutants --------------------------------------------------------------------------------------
def mutants(*, blended: str, scaled: str, weight: str, used: str, pool: str) -> tuple[Mutant, ...]:
    """The five wrong blends, each with the id of the check that rejects it."""
    return (
        mutant("the blend exchanges its terms", rejected_by=blended)(_exchanged),
        mutant("the blend takes scores as they are, as Cortex prints it", rejected_by=scaled)(
            _unscaled
        ),
        mutant("more spread lowers the weight", rejected_by=weight)(_turned),
        mutant("the spread of the blend is not used", rejected_by=used)(_always_fixed),
        mutant("the pool starts at its lowest score", rejected_by=pool)(_level),
    )


def _exchanged(specimen: Any) -> Any:
    blended = kernel(specimen, "blended")
    return replacing(
        specimen, "blended", lambda fused, judged, a, out: blended(judged, fused, a, out)
    )


def _unscaled(specimen: Any) -> Any:
    def blended(fused: Any, judged: Any, a: float, out: Any) -> None:
        out[:] = (1.0 - a) * fused + a * judged

    return replacing(specimen, "blended", blended)


def _turned(specimen: Any) -> Any:
    weight = kernel(specimen, "reranker_weight")

    def reranker_weight(alpha: float, blend: str, judged: Any) -> float:
        return float(alpha - weight(alpha, "spread", judged)) if blend == "spread" else alpha

    return replacing(specimen, "reranker_weight", reranker_weight)


def _always_fixed(specimen: Any) -> Any:
    return replacing(specimen, "reranker_weight", lambda alpha, blend, judged: alpha)


def _level(specimen: Any) -> Any:
    def above(fused: Any, blend: Any, out: Any) -> None:
        out[:] = fused.min() + blend

    return replacing(specimen, "above", above)
