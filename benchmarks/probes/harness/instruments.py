"""Instruments: mechanisms that an experiment adds to a memory to do something to it.  They are
in no registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....engine.contract.columns import Phase
from ....engine.contract.hooks import Mechanism, Params, Tick, hook
from ....engine.contract.vocabulary import (
    HIDE,
    HIPPOCAMPAL_DEPENDENCE,
    LOG_STRENGTH,
    NOW,
    TEXTS,
    VISIBLE,
)

Instrument = Mechanism[Any]
# of 1 - dependence: what remains of a memory that depends on the hippocampus alone
LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class LesionParams(Params):
    at: float  # h, time of the lesion


class Lesion(Mechanism[LesionParams]):
    """From a given time on, a memory has the strength of the part that does not depend on the
    hippocampus: ln(1 - dependence).
    """

    @hook(Phase.MAINTAIN, reads=(NOW, HIPPOCAMPAL_DEPENDENCE), adds=(LOG_STRENGTH,), sets=())
    def remove(self, view: Any, tick: Tick) -> None:
        if view.now >= self.params.at:
            view.log_strength += np.log(np.maximum(1.0 - view.hippocampal_dependence, LEAST))


def lesion(at: float) -> Instrument:
    """The loss of the hippocampus at a time, h."""
    return Lesion("probe_lesion", LesionParams(time_scale=1.0, at=at))


@dataclass(frozen=True, slots=True)
class RetireParams(Params):
    newer: Mapping[str, str]  # text of a version -> text of the version that replaces it


class Retire(Mechanism[RetireParams]):
    """In sleep, every version whose newer version is stored is archived by a vote, as a
    mechanism of the memory would archive it.
    """

    @hook(Phase.CONSOLIDATE, reads=(TEXTS, VISIBLE.before), adds=(HIDE,), sets=())
    def hide(self, view: Any, tick: Tick) -> None:
        newer = self.params.newer
        stored = {view.texts[row] for row in range(len(view.texts))}
        for row in np.flatnonzero(view.visible).tolist():
            if newer.get(view.texts[row]) in stored:
                view.hide[row] += 1


def retire(newer: Mapping[str, str]) -> Instrument:
    """Archives earlier versions in sleep.

    newer  text of a version -> text of the version that replaces it
    """
    return Retire("probe_retire", RetireParams(time_scale=1.0, newer=dict(newer)))
