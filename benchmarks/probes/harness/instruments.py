"""Instruments: mechanisms that an experiment adds to a memory to do something to it.  They are in no registry."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....engine.columns import Phase
from ....engine.contract import Mechanism, Params, Tick, hook
from ....engine.vocabulary import HIPPOCAMPAL_DEPENDENCE, LOG_STRENGTH, NOW

Instrument = Mechanism[Any]
LEAST = 1e-6        # of 1 - dependence: what remains of a memory that depends on the hippocampus alone


@dataclass(frozen=True, slots=True)
class LesionParams(Params):
    at: float                   # h, time of the lesion


class Lesion(Mechanism[LesionParams]):
    """From a given time on, a memory has the strength of the part that does not depend on the hippocampus: ln(1 - dependence)."""

    @hook(Phase.MAINTAIN, reads=(NOW, HIPPOCAMPAL_DEPENDENCE), adds=(LOG_STRENGTH,), sets=())
    def remove(self, view: Any, tick: Tick) -> None:
        if view.now >= self.params.at:
            view.log_strength += np.log(np.maximum(1.0 - view.hippocampal_dependence, LEAST))


def lesion(at: float) -> Instrument:
    """The loss of the hippocampus at a time, h."""
    return Lesion("probe_lesion", LesionParams(time_scale=1.0, at=at))
