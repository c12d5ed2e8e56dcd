"""Primacy gradient: attention falls over the items of a session, so that its first ones are more
readily recalled.

People recall the first items of a list better than those in its middle.  Context maintenance and
retrieval (Polyn, Norman & Kahana 2009, after Sederberg, Howard & Kahana 2008) gives the i-th item
of a list the attention phi_i = phi_s exp(-phi_d (i - 1)) + 1, by which its associations from context
are stronger.  Here a session is a list, and ln phi_i is a prior: the fused support of a memory is
multiplied by phi_i, as the paper multiplies the support that an item gets from context.  Events
without a session are in no list and have phi = 1.

Cost: O(n) per event to count those of its session, and O(n) per query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import formula
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import KIND, LOG_PRIOR, ROW, SESSION

# --- columns --------------------------------------------------------------------------------------
PRIMACY = Column(
    "primacy",
    np.float64,
    Scope.MEMORY,
    "1",
    1.0,
    "phi, attention at the place of the event in its session; 1: no primacy",
    low=1.0,
)


# --- equations ------------------------------------------------------------------------------------
@formula
def attention(place: int, phi_s: float, phi_d: float) -> float:
    """phi_i = phi_s exp(-phi_d (i - 1)) + 1.  Polyn, Norman & Kahana (2009), primacy gradient, as
    `prime_fact` of the authors' code.  Cost: O(1).

    place  ()  1  i, from 1
    phi_s  ()  1  attention to the first item above that to late ones
    phi_d  ()  1  rate at which it falls with each item

    >>> attention(1, 2.0, 0.5), round(attention(3, 2.0, 0.5), 6)
    (3.0, 1.735759)
    """
    return phi_s * math.exp(-phi_d * (place - 1)) + 1.0


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class PrimacyGradientParams(Params):
    scale: float  # phi_s
    decay: float  # phi_d


class PrimacyGradient(Mechanism[PrimacyGradientParams]):
    """Keeps the attention that an event gets by its place in its session, and adds its logarithm to
    the prior.
    """

    owns = (PRIMACY,)

    @hook(Phase.ENCODE, reads=(ROW, SESSION, KIND), adds=(), sets=(PRIMACY,))
    def attend(self, view: Any, incoming: Incoming) -> None:
        if not incoming.event.session:
            return
        p, own = self.params, view.session == incoming.session
        place = int(np.count_nonzero(own & (view.kind == 0)))  # the event itself is one of them
        view.primacy[view.row] = attention(place, p.scale, p.decay)

    @hook(Phase.RETRIEVE, reads=(PRIMACY,), adds=(LOG_PRIOR,), sets=())
    def prefer(self, view: Any, cue: Cue) -> None:
        np.log(view.primacy, out=view.log_prior)
