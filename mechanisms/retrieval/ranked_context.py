"""ranked_context: a source of contexts, the best matches of the ranking, with the boosts of the
Context Assembly Specification if they are wanted.

The 20 best memories are offered by relevance, their score in the ranking on [0, 1] over all
memories.  With `boosts: printed` the relevance is multiplied by 1 + 0.1 for each keyword of the
query that the text holds, as a part of a word, too, and by 1.2 below an age of 24 h.

The intent of the query is fix, explain, question or action by the printed rule; `fitting`
multiplies the relevance of events whose attribute `kind` goes with it, such as an error for fix.
The specification finds these kinds and prints no use of them, so the factor is 1 unless a strategy
sets it.

It runs only when a context is asked for.  Cost: O(n), and O(length) of each memory offered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Kind
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    BUDGET,
    CREATED,
    IMPORTANCE,
    KIND,
    NOW,
    OFFERS,
    RELEASED,
    TEXTS,
)
from ...engine.state.ranking import best
from ...engine.text.features import fold
from ..shared.items import Decay, Scores, decayed, final_scores, printed_scores, signals_of
from ..shared.offering import on_scale

SECTION: Final = "Relevant Content"


# --- equations ------------------------------------------------------------------------------------
@kernel
def boost(hits: float, age: float, gain: float, fresh: float, span: float) -> float:
    """(1 + b k) f, with f = 1 from the age `span` on: the printed factor on a similarity.  Cost:
    O(1).

    hits    k, keywords that the text holds
    age     h
    gain    b
    fresh   f below `span` h

    >>> round(boost(2.0, 3.0, 0.1, 1.2, 24.0), 6), boost(0.0, 24.0, 0.1, 1.2, 24.0)
    (1.44, 1.0)
    """
    return (1.0 + gain * hits) * (fresh if age < span else 1.0)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RankedContextParams(Params):
    share: float  # percent of the budget
    most: int  # memories
    boosts: Literal["none", "printed"]
    keyword: float  # factor for each keyword, above 1
    fresh: float  # factor below `span`
    fitting: float  # factor where the kind of the event goes with the intent
    decay: Decay
    span: float  # h
    scores: Scores  # whether terms are put on one scale, or summed as printed
    recency: float  # weight in the final score
    relevance: float
    salience: float


class RankedContext(Mechanism[RankedContextParams]):
    """Offers the best matches."""

    @hook(
        Phase.RETRIEVE,
        reads=(BUDGET, NOW, CREATED, KIND, IMPORTANCE, ANSWERABLE, RELEASED, TEXTS),
        adds=(OFFERS,),
        sets=(),
    )
    def offer(self, view: Any, cue: Cue) -> None:
        p, span, asked = self.params, self.hours("span"), signals_of(cue.query.text)
        rows = best(view.released, view.answerable, p.most if view.budget else 0)
        relevance = np.array(view.released, dtype=np.float64)
        if p.scores == "scaled":
            on_scale(view.released, view.answerable, relevance)
        ages, worth = (
            [max(view.now - float(view.created[row]), 0.0) for row in rows.tolist()],
            relevance[rows],
        )
        if p.boosts == "printed":
            texts = [fold(view.texts[row]) for row in rows.tolist()]
            worth = worth * [
                boost(
                    float(sum(word in text for word in asked.keywords)),
                    age,
                    p.keyword,
                    p.fresh,
                    span,
                )
                for text, age in zip(texts, ages, strict=True)
            ]
        if p.fitting != 1.0 and asked.kinds:
            worth = worth * [
                p.fitting
                if view.kind[row] == Kind.EVENT and view.texts.event(row).get("kind") in asked.kinds
                else 1.0
                for row in rows.tolist()
            ]
        recency = [decayed(age, span, p.decay == "half") for age in ages]
        weights = (p.recency, p.relevance, p.salience)
        scores = (
            final_scores(recency, worth, view.importance[rows], weights)
            if p.scores == "scaled"
            else printed_scores(recency, worth, weights)
        )
        for place in np.argsort(-worth, kind="stable").tolist():
            view.offers.add(int(rows[place]), SECTION, float(scores[place]))
