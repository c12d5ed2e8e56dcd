"""Emotional tagging: raises encoding strength with arousal, up to a best arousal that is lower for
harder tasks, and slows forgetting.

Yerkes & Dodson (1908) trained mice on discriminations of three difficulties under shocks of graded
strength.  On the easy task stronger shocks gave faster learning; on the harder tasks an
intermediate strength was best, and it was lower the harder the task.  Their paper has no equation.
The curve is Ricker's (1954), c a exp(-b a), scaled to a peak of 1; the decrease of the best
arousal, a0 / (1 + k D) with difficulty D, is ours. An inverted U without this interaction is not
the result of Yerkes and Dodson (Diamond et al. 2007).

The arousal of a text is a saturating function of the share of emotional words and marks, and higher
for commitments, corrections, decisions and instructions; valence is ignored.  The task is to
discriminate the event from stored memories, so difficulty is the cosine to the most similar memory.
After encoding, the exponent of the power law of forgetting is reduced in proportion to arousal (the
amygdala modulates consolidation: McGaugh 2004; the form is ours).

Cost: O(n d) per arousing event, for one search; O(n) per maintain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.errors import RegistryError
from ...engine.base.numerics import exact_kernel, formula
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import ARRIVED, ENCODING_STRENGTH, INDEX, LOG_STRENGTH, ROW
from ...engine.text.features import SpeechAct

AT_STAKE = frozenset(
    {SpeechAct.COMMITMENT, SpeechAct.CORRECTION, SpeechAct.DECISION, SpeechAct.INSTRUCTION}
)

# --- columns --------------------------------------------------------------------------------------
AROUSAL = Column(
    "arousal",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "arousal of the event at encoding; 0: neutral",
    low=0,
    high=1,
)


# --- equations ------------------------------------------------------------------------------------
@formula
def ricker(a: float, c: float, b: float) -> float:
    """f = c a exp(-b a), with its maximum c / (b e) at a = 1/b.  Ricker (1954), with arousal in
    place of the stock.  Cost: O(1).

    a  ()  1  arousal, >= 0
    c  ()  1  slope at 0
    b  ()  1  1 / best arousal

    >>> round(ricker(0.5, 2 * math.e, 2.0), 12)
    1.0
    """
    return c * a * math.exp(-b * a)


@formula
def curve(a: float, best: float) -> float:
    """(a / a*) exp(1 - a / a*): Ricker's curve with peak 1 at a*.  Cost: O(1).

    a, best  ()  1  arousal, and best arousal a*

    >>> curve(0.0, 0.5), curve(0.5, 0.5)
    (0.0, 1.0)
    """
    return ricker(a, math.e / best, 1.0 / best)


@formula
def optimum(difficulty: float, easiest: float, k: float) -> float:
    """a* = a0 / (1 + k D): best arousal, lower for harder tasks.  The law is Yerkes & Dodson's
    (1908), the form ours.  Cost: O(1).

    difficulty  ()  1  D, 0..1
    easiest     ()  1  a0, best arousal at D = 0
    k           ()  1  strength of the decrease with difficulty

    >>> optimum(0.0, 0.9, 2.0), round(optimum(1.0, 0.9, 2.0), 12)
    (0.9, 0.3)
    """
    return easiest / (1.0 + k * difficulty)


@formula
def enhancement(a: float, difficulty: float, easiest: float, k: float, gain: float) -> float:
    """m = 1 + g f(a; a*(D)): factor on encoding strength, in [1, 1 + g]; 1 without arousal.  Ours.
    Cost: O(1).

    >>> enhancement(0.0, 0.5, 0.9, 2.0, 1.0), enhancement(0.5, 0.0, 0.5, 2.0, 1.0)
    (1.0, 2.0)
    """
    return 1.0 + gain * curve(a, optimum(difficulty, easiest, k))


@formula
def arousal(emotion: float, saturation: float, stake: float) -> float:
    """a = 1 - (1 - stake) exp(-emotion / saturation), in [0, 1]; 0 only if emotion and stake are 0.
    Ours.  Cost: O(1).

    emotion     ()  1  emotional words and marks per word
    saturation  ()  1  share at which arousal is 1 - 1/e
    stake       ()  1  arousal from the speech act alone

    >>> arousal(0.0, 0.15, 0.0), round(arousal(0.15, 0.15, 0.0), 6)
    (0.0, 0.632121)
    """
    return 1.0 - (1.0 - stake) * math.exp(-emotion / saturation)


@exact_kernel
def log_spared(t: float, a: float, decay: float, spared: float) -> float:
    """ln of (1 + t)^-(b (1 - s a)) over (1 + t)^-b: retention gained by slower forgetting.  Power
    law of Wixted & Ebbesen (1991).  Cost: O(1).

    t       ()  d  age
    a       ()  1  arousal
    decay   ()  1  b, exponent of forgetting without arousal
    spared  ()  1  s, share of the exponent removed at full arousal

    >>> round(log_spared(math.e - 1.0, 0.5, 0.4, 0.5), 12)
    0.1
    """
    return decay * spared * a * math.log1p(t)


@exact_kernel
def add_spared(
    now: float, day: float, created: Any, aroused: Any, decay: float, spared: float, out: Any
) -> None:
    """out += log_spared of every memory at its age.  Cost: O(n).

    now, day          ()    h     current time, and length of the day that is the unit of age
    created, aroused  (n,)  h, 1  time and arousal of encoding
    out               (n,)  ln    added to
    """
    for i in range(created.shape[0]):
        if aroused[i] > 0.0:
            out[i] += log_spared((now - created[i]) / day, aroused[i], decay, spared)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class EmotionalTaggingParams(Params):
    optimum: float  # a0
    hardening: float  # k
    gain: float  # g
    saturation: float
    stake: float
    decay: float
    spared: float
    day: float


class EmotionalTagging(Mechanism[EmotionalTaggingParams]):
    owns = (AROUSAL,)

    def __init__(
        self,
        id: str,
        params: EmotionalTaggingParams,
        units: dict[str, str] | None = None,
        order: int = 0,
    ) -> None:
        """Raises RegistryError for an optimum outside (0, 1): arousal is at most 1, so the curve
        would not fall.
        """
        super().__init__(id, params, units, order)
        if not 0.0 < params.optimum < 1.0:
            raise RegistryError(
                f"the optimum {params.optimum:g} leaves no inverted U between arousal 0 and 1",
                where=id,
                cure="choose a value between 0 and 1",
            )

    @hook(Phase.ENCODE, reads=(INDEX.before,), adds=(ENCODING_STRENGTH,), sets=())
    def enhance(self, view: Any, incoming: Incoming) -> None:
        p, a = self.params, self.aroused(incoming)
        if a > 0.0:
            _, nearest = view.index.search(incoming.vector, 1)
            difficulty = min(max(float(nearest[0]), 0.0), 1.0) if nearest.size else 0.0
            view.encoding_strength += math.log(
                enhancement(a, difficulty, p.optimum, p.hardening, p.gain)
            )

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(AROUSAL,))
    def tag(self, view: Any, incoming: Incoming) -> None:
        view.arousal[view.row] = self.aroused(incoming)

    @hook(Phase.MAINTAIN, reads=(ARRIVED, AROUSAL), adds=(LOG_STRENGTH,), sets=())
    def slow_forgetting(self, view: Any, tick: Tick) -> None:
        p = self.params
        add_spared(
            tick.end,
            self.hours("day"),
            view.arrived,
            view.arousal,
            p.decay,
            p.spared,
            view.log_strength,
        )

    def aroused(self, incoming: Incoming) -> float:
        """Arousal a of an event."""
        p, features = self.params, incoming.features
        return arousal(features.emotion, p.saturation, p.stake if features.act in AT_STAKE else 0.0)
