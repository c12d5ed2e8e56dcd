"""Salience reweighting: raises memories of the time asked for and memories that said something new,
and drops those of little importance.

True Memory (section 4.1, stage 9) multiplies the fused score of a candidate by scalar factors, each
only where its condition holds: 1.3 for a memory of the time asked for, if the query is temporal,
and 1 + alpha sigma for a memory with surprise score sigma.  It drops candidates of too little
salience.  Stage 10 multiplies the score of a summary by 0.7 if the query asks for a detail, and by
1.2 if it asks for a synthesis.  The factors commute, so their logarithms add to LOG_PRIOR; a
dropped candidate gets a vote of BAN.

A query is temporal if its intent is temporal or if it names a date.  A memory is of the time asked
for if WITHIN is 1, and a summary by its KIND.

Cost: O(n) per query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Kind
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import BAN, IMPORTANCE, KIND, LOG_PRIOR, NEWS, WITHIN
from ..shared.questions import Intent, QuestionKind, intent_of, question_kind_of


# --- equations ------------------------------------------------------------------------------------
@kernel
def add_log_factors(within: Any, news: Any, boost: float, alpha: float, out: Any) -> None:
    """out += ln f_t + ln(1 + alpha sigma), f_t = boost where the memory is within the time asked
    for, else 1.  True Memory 4.1, stage 9.

    within  (n,)  1   share of the memory inside the time asked for; NaN: no time asked
    news    (n,)  1   sigma, how much the memory said that was new
    boost   ()    1   f_t of a temporal query; 1 for any other
    alpha   ()    1   weight of sigma
    out     (n,)  ln  added to
    Cost: O(n).

    >>> import numpy as np
    >>> out = np.zeros(3)
    >>> add_log_factors(np.array([1.0, 0.5, np.nan]), np.array([0.0, 0.0, 1.0]), 1.3, 0.2, out)
    >>> np.exp(out).round(6).tolist()
    [1.3, 1.0, 1.2]
    """
    for i in range(out.shape[0]):
        if within[i] >= 1.0:
            out[i] += math.log(boost)
        out[i] += math.log(1.0 + alpha * news[i])


@kernel
def add_log_of_summaries(kind: Any, summary: int, factor: float, out: Any) -> None:
    """out += ln f_m, f_m = factor for a summary, else 1.  True Memory 4.1, stage 10.

    kind     (n,)  what each memory is
    summary  ()    the kind of a summary
    factor   ()  1
    out      (n,)  ln  added to
    Cost: O(n).

    >>> import numpy as np
    >>> out = np.zeros(3)
    >>> add_log_of_summaries(np.array([0, 3, 2]), 3, 0.7, out)
    >>> np.exp(out).round(6).tolist()
    [1.0, 0.7, 1.0]
    """
    for i in range(out.shape[0]):
        if kind[i] == summary:
            out[i] += math.log(factor)


@kernel
def add_bans(importance: Any, floor: float, out: Any) -> None:
    """out (n,) += 1 where the importance (n,) of a memory is below `floor`.  True Memory 4.1,
    stage 9, in words.  Cost: O(n).
    """
    for i in range(out.shape[0]):
        if importance[i] < floor:
            out[i] += 1


def is_temporal(words: str, dates: tuple[str, ...]) -> bool:
    """Whether a query, given as its words in lower case with single spaces and the dates it names,
    asks for a time or about one.  O(length).

    >>> is_temporal("when did she move", ()), is_temporal("what did she buy last week", ("last week",)), is_temporal("what did she buy", ())
    (True, True, False)
    """
    return bool(dates) or intent_of(words) is Intent.TEMPORAL


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SalienceReweightingParams(Params):
    temporal_boost: float  # f_t
    alpha: float
    floor: float  # least importance that may be answered
    detail: float  # f_m of a summary if the query asks for a detail
    synthesis: float  # f_m of a summary if it asks for a synthesis


class SalienceReweighting(Mechanism[SalienceReweightingParams]):
    @hook(Phase.RETRIEVE, reads=(WITHIN, NEWS, IMPORTANCE, KIND), adds=(LOG_PRIOR, BAN), sets=())
    def reweight(self, view: Any, cue: Cue) -> None:
        p, words = self.params, " ".join(cue.features.words)
        boost = p.temporal_boost if is_temporal(words, cue.features.dates) else 1.0
        add_log_factors(view.within, view.news, boost, p.alpha, view.log_prior)
        asked = question_kind_of(words)
        if asked is not QuestionKind.GENERAL:
            add_log_of_summaries(
                view.kind,
                int(Kind.SUMMARY),
                p.detail if asked is QuestionKind.DETAIL else p.synthesis,
                view.log_prior,
            )
        add_bans(view.importance, p.floor, view.ban)
