"""Convex fusion: combines all signals into one score, the weighted mean of their normalised scores.

Bruch, Gai & Ingber (2023), https://doi.org/10.1145/3596512, compare combinations of a lexical and a
semantic score and find a convex combination of normalised scores better than reciprocal rank
fusion, because it keeps score differences, which ranks lose.  Three of their normalisations are
implemented; for each, suitable weights give the ranking of any other.

Cost: O(n) per signal, three passes, no allocation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import FACET_WEIGHTS, FUSED, SIGNALS, STANDS_FOR
from ...engine.state.ranking import add_all_standardised


# --- equations ------------------------------------------------------------------------------------
@kernel
def extremes(scores: Any, visible: Any, floor: float) -> Any:
    """Minimum and maximum score of the visible memories, with `floor` for NaN; (floor, floor) if no
    memory is visible.  O(n).

    scores   (n,)  score of each memory, NaN for none
    visible  (n,)  bool

    >>> extremes(np.array([0.5, np.nan, 0.2, 9.0]), np.array([True, True, True, False]), 0.0)
    (0.0, 0.5)
    """
    low, high = np.inf, -np.inf
    for i in range(scores.shape[0]):
        if visible[i]:
            score = floor if np.isnan(scores[i]) else scores[i]
            low, high = min(low, score), max(high, score)
    return (low, high) if low <= high else (floor, floor)


@kernel
def add_rescaled(
    scores: Any, floor: float, low: float, high: float, weight: float, out: Any
) -> None:
    """out += weight (s - low) / (high - low); adds nothing unless low < high.  O(n).

    scores   (n,)  s, NaN for none
    floor    ()    score that replaces NaN
    low      ()    score that maps to 0: the observed or the theoretical minimum of the visible
                   memories
    high     ()    score that maps to 1: their observed maximum
    out      (n,)  added to, also for hidden memories

    >>> out = np.zeros(3)
    >>> add_rescaled(np.array([0.5, np.nan, 0.2]), 0.0, 0.0, 0.5, 1.0, out)
    >>> out.tolist()
    [1.0, 0.0, 0.4]
    """
    if low < high:
        for i in range(scores.shape[0]):
            out[i] += weight * (
                ((floor if np.isnan(scores[i]) else scores[i]) - low) / (high - low)
            )


def add_minmax(scores: Any, visible: Any, floor: float, weight: float, out: Any) -> None:
    """out += weight phi(s), phi(s) = (s - min) / (max - min): min-max.  A constant signal adds
    nothing.  O(n).
    """
    low, high = extremes(scores, visible, floor)
    add_rescaled(scores, floor, low, high, weight, out)


def add_theoretical_minmax(
    scores: Any, visible: Any, floor: float, weight: float, out: Any
) -> None:
    """out += weight phi(s), phi(s) = (s - inf) / (max - inf), inf the theoretical minimum:
    theoretical min-max.

    inf is the signal's floor: -1 for a cosine, 0 for BM25.  A constant signal adds the same to all
    memories.  O(n).
    """
    _, high = extremes(scores, visible, floor)
    add_rescaled(scores, floor, floor, high, weight, out)


def in_turn(add: Any, signals: Any, visible: Any, out: Any) -> None:
    """Add each signal, (scores, floor, weight), with a function of one."""
    for scores, floor, weight in signals:
        add(scores, visible, floor, weight, out)


NORMALISED: dict[str, Any] = {
    "standard": add_all_standardised,
    "minmax": partial(in_turn, add_minmax),
    "theoretical_minmax": partial(in_turn, add_theoretical_minmax),
}


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ConvexFusionParams(Params):
    normalisation: Literal["standard", "minmax", "theoretical_minmax"]


class ConvexFusion(Mechanism[ConvexFusionParams]):
    """f = sum_s w_s phi_s / sum_s w_s."""

    @hook(Phase.RETRIEVE, reads=(SIGNALS, FACET_WEIGHTS, STANDS_FOR), adds=(), sets=(FUSED,))
    def fuse(self, view: Any, cue: Cue) -> None:
        facets, fused = view.facet_weights, view.fused
        fused[...] = 0.0
        trusts = [
            (signal, scores, weight * float(facets[signal.facet.value]))
            for signal, scores, weight in view.signals
        ]
        total = sum(trust for _, _, trust in trusts)
        signals = [
            (scores, signal.floor, trust / total) for signal, scores, trust in trusts if trust > 0.0
        ]
        NORMALISED[self.params.normalisation](signals, view.stands_for, fused)
