"""stage_summaries: a source of contexts, summaries of the stages of which nothing else is offered,
the nearest to the current stage first.

Summaries of stages are units of memory that another mechanism makes; without them this source
offers nothing.  A summary that is kept out of answers is offered all the same, unless a filter or
the owner excludes it.  Near is counted in stages, in the order in which they began.  The score, by which
what is left over of the budget is spent, is nearness times the summary's own score in the ranking,
on [0, 1].  If nothing is in FOCUS, the current stage is that of the best match.

It runs only when a context is asked for.  Cost: O(n log n), 1 ms at 20k rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Kind
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    APART,
    BAN,
    BUDGET,
    FOCUS,
    KIND,
    OFFERED,
    OFFERS,
    RELEASED,
    SESSION,
    STAGE,
    TEXTS,
    VISIBLE,
)
from ...engine.state.ranking import best
from ..shared.offering import BEYOND, on_scale, sizes, within
from ..shared.stages import stages_of

SECTION: Final = "Stage Summaries"


# --- equations ------------------------------------------------------------------------------------
@kernel
def nearness(stages: float) -> float:
    """1 / (1 + d), factor on the relevance of a summary whose stage began d stages before or after
    the current one.  Cost: O(1).

    >>> nearness(0.0), nearness(3.0)
    (1.0, 0.25)
    """
    return 1.0 / (1.0 + stages)


def nearest_first(
    summaries: Any, stages: Any, current: int, covered: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the summaries of stages that are not covered, the nearest first, of two equally near
    ones the later; and how many stages away.

    summaries  (k,)  rows of summaries that have a stage
    stages     (n,)  as `stages_of` gives them
    current    ()    the current stage; -1: the last one
    covered    stages of which something is offered

    >>> nearest_first(np.array([3, 4, 5]), np.array([0, 1, 2, 0, 1, 2]), 1, [])[0].tolist()
    [4, 5, 3]
    """
    known = np.unique(stages[stages >= 0])
    rows = np.asarray(summaries, dtype=np.int64)
    rows = rows[~np.isin(stages[rows], np.asarray(covered, dtype=np.int64))]
    at = int(np.searchsorted(known, current)) if current >= 0 else known.size - 1
    place = np.searchsorted(known, stages[rows])
    away = np.abs(place - at)
    order = np.lexsort((-place, away))
    return rows[order], away[order]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class StageSummariesParams(Params):
    share: float  # percent of the budget


class StageSummaries(Mechanism[StageSummariesParams]):
    """Offers summaries of the stages that are not shown otherwise."""

    @hook(
        Phase.RETRIEVE,
        reads=(
            BUDGET,
            FOCUS,
            OFFERED,
            RELEASED,
            ANSWERABLE,
            VISIBLE,
            BAN,
            APART,
            KIND,
            STAGE,
            SESSION,
            TEXTS,
        ),
        adds=(OFFERS,),
        sets=(),
    )
    def offer(self, view: Any, cue: Cue) -> None:
        stages, focus = (
            stages_of(view.kind, view.stage, view.session),
            np.flatnonzero(view.focus > 0.0),
        )
        top = focus if focus.size else best(view.released, view.answerable & (stages >= 0), 1)
        # those that are kept for contexts are answerable but for the votes that keep them
        admitted = view.answerable | (view.visible & (view.ban <= view.apart))
        summaries = np.flatnonzero((view.kind == Kind.SUMMARY) & admitted & (view.stage >= 0))
        rows, away = nearest_first(
            summaries,
            stages,
            int(stages[top[0]]) if top.size else -1,
            np.unique(stages[view.offered > 0]),
        )
        shown = within(sizes(view.texts, rows), BEYOND * view.budget) + 1
        relevance = np.empty(len(stages))
        on_scale(view.released, admitted, relevance)
        for row, stages_away in zip(rows[:shown].tolist(), away[:shown].tolist(), strict=True):
            view.offers.add(
                row,
                SECTION,
                nearness(float(stages_away)) * float(np.nan_to_num(relevance[row])),
                kind="summary",
            )
