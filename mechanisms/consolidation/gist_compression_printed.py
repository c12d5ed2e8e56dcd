"""Gist compression as Cortex 4.2.3 has it: a memory that no longer depends on the hippocampus is cut to a summary and then to keywords, by age.

    eligible if h <= threshold      full text, from 168 h a summary, from 720 h keywords

The paper prints "below a threshold" without a number, its code goes by age alone; a threshold of 1 does so, too.  No distortion is measured and no
value weighed.  The source replaces the text; here it stays and only what is shown changes.

Acts on: DETAIL, and so what a context shows.  Cost: O(n + replays) per consolidation.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.columns import CREATED, DETAIL, REPLAYS, Column, Phase, Scope
from ...engine.contract import Mechanism, Params, Tick, hook
from ...engine.numerics import kernel

# --- columns -----------------------------------------------------------------------------------------------------------------
DEPENDENCY = Column("printed_gist_dependency", np.float64, Scope.MEMORY, "1", 1.0, "hippocampal dependency h that decides who is cut", low=0, high=1)
COUNT = Column("printed_gist_replays", np.int32, Scope.MEMORY, "1", 0, "replays of the memory so far", low=0)


# --- equations ---------------------------------------------------------------------------------------------------------------
@kernel
def depend(replays: Any, r: float, dependency: Any, count: Any) -> None:
    """h_n = max(0, h_{n-1} - r / sqrt(n)) for every replay of this sleep.  Cortex 4.2.3, without schemas.  Cost: O(n + replays).

    replays            (n,)  1  of this sleep
    dependency, count  (n,)  1  h and n; written
    """
    for i in range(replays.shape[0]):
        for _ in range(replays[i]):
            count[i] += 1
            dependency[i] = max(0.0, dependency[i] - r / math.sqrt(count[i]))


@kernel
def cut(now: float, created: Any, dependency: Any, threshold: float, summary_age: float, keywords_age: float, out: Any) -> None:
    """Level of detail by age, for memories whose dependency is at most the threshold.  Cost: O(n).

    now, created               h  (n,) the second
    summary_age, keywords_age  h
    out                        (n,)  1  0 all of the text, 1 the summary, 2 the keywords; written

    >>> out = np.zeros(4, np.int8)
    >>> cut(800.0, np.array([0.0, 200.0, 700.0, 0.0]), np.array([0.1, 0.1, 0.1, 0.9]), 0.5, 168.0, 720.0, out)
    >>> out.tolist()
    [2, 1, 0, 0]
    """
    for i in range(out.shape[0]):
        age = now - created[i]
        out[i] = 0 if dependency[i] > threshold or age < summary_age else 1 if age < keywords_age else 2


# --- plug-in -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class GistCompressionPrintedParams(Params):
    rate: float             # r
    threshold: float
    summary_age: float
    keywords_age: float


class GistCompressionPrinted(Mechanism[GistCompressionPrintedParams]):
    owns = (DEPENDENCY, COUNT)

    @hook(Phase.CONSOLIDATE, reads=(CREATED, REPLAYS), adds=(), sets=(DEPENDENCY, COUNT, DETAIL))
    def compress(self, view: Any, tick: Tick) -> None:
        p = self.params
        depend(view.replays, p.rate, view.printed_gist_dependency, view.printed_gist_replays)
        cut(tick.end, view.created, view.printed_gist_dependency, p.threshold, self.hours("summary_age"), self.hours("keywords_age"), view.detail)
