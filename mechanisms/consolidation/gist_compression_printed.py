"""Gist compression as Cortex 4.2.3 prints it: a memory of low hippocampal dependence is reduced to
a summary and then to keywords, by age.

    eligible if h <= threshold      full text, from 168 h a summary, from 720 h keywords

The paper prints "below a threshold" without a number; its code uses age alone, as a threshold of 1
does here.  HIPPOCAMPAL_DEPENDENCE is set by systems transfer.  Neither distortion nor value enters.
The source replaces the text; here the text stays, and only the form shown changes.

Cost: O(n) per consolidation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import ARRIVED, DETAIL, HIPPOCAMPAL_DEPENDENCE


# --- equations ------------------------------------------------------------------------------------
@kernel
def cut(
    now: float,
    created: Any,
    dependency: Any,
    threshold: float,
    summary_age: float,
    keywords_age: float,
    out: Any,
) -> None:
    """Level of detail by age for memories whose dependency is at most the threshold, full text for
    the others.  Cost: O(n).

    now, created               h  (n,) the second
    summary_age, keywords_age  h
    out                        (n,)  1  0 full text, 1 summary, 2 keywords; written

    >>> import numpy as np
    >>> out = np.zeros(4, np.int8)
    >>> cut(800.0, np.array([0.0, 200.0, 700.0, 0.0]), np.array([0.1, 0.1, 0.1, 0.9]), 0.5, 168.0, 720.0, out)
    >>> out.tolist()
    [2, 1, 0, 0]
    """
    for i in range(out.shape[0]):
        age = now - created[i]
        out[i] = (
            0 if dependency[i] > threshold or age < summary_age else 1 if age < keywords_age else 2
        )


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class GistCompressionPrintedParams(Params):
    threshold: float
    summary_age: float
    keywords_age: float


class GistCompressionPrinted(Mechanism[GistCompressionPrintedParams]):
    @hook(Phase.CONSOLIDATE, reads=(ARRIVED, HIPPOCAMPAL_DEPENDENCE), adds=(), sets=(DETAIL,))
    def compress(self, view: Any, tick: Tick) -> None:
        p = self.params
        cut(
            tick.end,
            view.arrived,
            view.hippocampal_dependence,
            p.threshold,
            self.hours("summary_age"),
            self.hours("keywords_age"),
            view.detail,
        )
