"""Short-term plasticity: scales the activation that a memory passes on by its depression or
facilitation from recent use.

A synapse has resources, of which the share x is available; a spike releases the share u of those.
It raises u by U (1 - u) and uses up u x; between spikes x recovers to 1 with tau_rec and u falls to
0 with tau_f (Tsodyks & Markram 1997; Markram, Wang & Tsodyks 1998; Tsodyks, Pawelzik & Markram
1998).  With a large U and a slow recovery synapses depress and signal changes; with a small U and a
long tau_f they facilitate and maintain what was active (Mongillo, Barak & Tsodyks 2008).  As u and
x depend on the source alone, all synapses of a memory share one u and one x.

A memory is used when it is encoded, when it is activated in replay, and when it is in an answer
that may change memory.  The state is stored as of the last use and advanced exactly from there;
there are no time steps.

Cost: O(1) per use; O(n) per query, a comparison for each memory
that has recovered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    NOW,
    RECALLED,
    RELEASE_PROBABILITY,
    REPLAY_LAG,
    REPLAYED,
    RESOURCES,
    ROW,
)

# time constants after which the remainder, 2e-9, is below the float32 resolution of RESOURCES
RECOVERED = 20.0

# --- columns --------------------------------------------------------------------------------------
UTILISATION = Column(
    "utilisation", np.float64, Scope.MEMORY, "1", 0.0, "u just after the last use", low=0, high=1
)
DEPLETION = Column(
    "depletion", np.float64, Scope.MEMORY, "1", 0.0, "1 - x just after the last use", low=0, high=1
)
LAST_USED = Column(
    "last_used",
    np.float64,
    Scope.MEMORY,
    "h",
    np.nan,
    "time of the last use; NaN: never",
    upkeep=Upkeep(clock=True),
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def rested(u: float, x: float, t: float, tau_rec: float, tau_f: float) -> tuple[float, float]:
    """u and x after a time t without spikes: du/dt = -u / tau_f, dx/dt = (1 - x) / tau_rec.  Solved
    exactly.  Cost: O(1).

    Tsodyks, Pawelzik & Markram (1998).

    u, x            1  utilisation, share of the resources available
    t               h  time
    tau_rec, tau_f  h  time constants of recovery and of facilitation, in the unit of t; 0:
                       immediate

    >>> u, x = rested(0.5, 0.5, 50.0, 800.0, 0.0)
    >>> u, round(x, 4)
    (0.0, 0.5303)
    """
    u = u * math.exp(-t / tau_f) if tau_f > 0.0 else 0.0
    return u, 1.0 - (1.0 - x) * math.exp(-t / tau_rec) if tau_rec > 0.0 else 1.0


@kernel
def spike(u: float, x: float, baseline: float) -> tuple[float, float, float]:
    """A spike: u <- u + U (1 - u), then u x is released, then x <- x - u x.  Returns u, x and the
    release.  Cost: O(1).

    Markram, Wang & Tsodyks (1998); Tsodyks, Pawelzik & Markram (1998).

    u, x       1  just before
    baseline   1  U, the utilisation of a rested synapse

    >>> spike(0.0, 1.0, 0.5)
    (0.5, 0.5, 0.5)
    """
    u += baseline * (1.0 - u)
    return u, x - u * x, u * x


@kernel
def mean_field(rate: float, baseline: float, tau_rec: float, tau_f: float) -> tuple[float, float]:
    """u and x at a steady rate of many sources: u = U (1 + tau_f r) / (1 + U tau_f r), x = 1 / (1 +
    u tau_rec r).  Cost: O(1).

    Tsodyks, Pawelzik & Markram (1998), mean field; a spike releases u x, and r u x tends to 1 /
    tau_rec.  Others as above.

    >>> u, x = mean_field(0.02, 0.5, 800.0, 0.0)
    >>> u, round(u * x, 4)
    (0.5, 0.0556)
    """
    u = baseline * (1.0 + tau_f * rate) / (1.0 + baseline * tau_f * rate)
    return u, 1.0 / (1.0 + u * tau_rec * rate)


# --- memories as sources --------------------------------------------------------------------------
@kernel
def use(
    row: int,
    time: float,
    baseline: float,
    release: Any,
    tau_rec: float,
    tau_f: float,
    utilisation: Any,
    depletion: Any,
    used: Any,
) -> None:
    """One spike of a memory; a time before its last use counts as the last use.  Cost: O(1).

    row, time              ()       -, h
    baseline               ()       U
    release                (n,)     factor on U
    utilisation, depletion (n,)     u and 1 - x just after the last use; written
    used                   (n,)  h  the last use, NaN for none; written
    Others as for `rested`.
    """
    u, x = 0.0, 1.0
    if not np.isnan(used[row]):
        time = max(time, used[row])
        u, x = rested(utilisation[row], 1.0 - depletion[row], time - used[row], tau_rec, tau_f)
    u, x, _ = spike(u, x, min(baseline * release[row], 1.0))
    utilisation[row], depletion[row], used[row] = u, 1.0 - x, time


@kernel
def replay(
    end: float,
    steps: Any,
    lag: Any,
    baseline: float,
    release: Any,
    tau_rec: float,
    tau_f: float,
    utilisation: Any,
    depletion: Any,
    used: Any,
) -> None:
    """Uses of memories by replayed steps, one step after the other, the last of them at the end of
    the sleep.

    end    ()      h  end of the sleep
    steps  (s, 2)     rows activated one after the other; -1: no more
    lag    (s,)    h  time between the two
    A step that starts where the one before it ended does not activate that memory again.  Others as
    for `use`.  Cost: O(steps).
    """
    time = end
    for i in range(steps.shape[0]):
        if steps[i, 0] >= 0 and steps[i, 1] >= 0:
            time -= lag[i]
    last = -1
    for i in range(steps.shape[0]):
        if steps[i, 0] >= 0 and steps[i, 1] >= 0:
            if steps[i, 0] != last:
                use(
                    steps[i, 0],
                    time,
                    baseline,
                    release,
                    tau_rec,
                    tau_f,
                    utilisation,
                    depletion,
                    used,
                )
            time += lag[i]
            use(
                steps[i, 1],
                min(time, end),
                baseline,
                release,
                tau_rec,
                tau_f,
                utilisation,
                depletion,
                used,
            )
            last = steps[i, 1]


@kernel
def resources(
    now: float,
    baseline: float,
    release: Any,
    tau_rec: float,
    tau_f: float,
    utilisation: Any,
    depletion: Any,
    used: Any,
    out: Any,
) -> None:
    """Release of a spike now, relative to that of a rested synapse with the same factor on U.
    Cost: O(n).

    now  ()    h
    out  (n,)     u x / (U release), with u after its jump; written
    Others as for `use`.
    """
    longest = RECOVERED * max(tau_rec, tau_f)
    for row in range(out.shape[0]):
        aim, t = baseline * release[row], now - used[row]
        if not t < longest:
            out[row] = 1.0 if aim <= 1.0 else 1.0 / aim
            continue
        u, x = rested(utilisation[row], 1.0 - depletion[row], t, tau_rec, tau_f)
        out[row] = spike(u, x, min(aim, 1.0))[2] / aim if aim > 0.0 else 1.0


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ShortTermPlasticityParams(Params):
    baseline: float  # U
    tau_rec: float
    tau_f: float


class ShortTermPlasticity(Mechanism[ShortTermPlasticityParams]):
    """Stores u and x of every memory as of its last use."""

    owns = (UTILISATION, DEPLETION, LAST_USED)

    def _state(self, view: Any) -> tuple[float, Any, float, float, Any, Any, Any]:
        p = self.params
        return (p.baseline, view.release_probability, self.hours("tau_rec"), self.hours("tau_f"),
                view.utilisation, view.depletion, view.last_used)  # fmt: skip

    @hook(
        Phase.ENCODE,
        reads=(ROW, NOW, RELEASE_PROBABILITY),
        adds=(),
        sets=(UTILISATION, DEPLETION, LAST_USED),
    )
    def encode(self, view: Any, incoming: Incoming) -> None:
        use(view.row, view.now, *self._state(view))

    @hook(
        Phase.CONSOLIDATE,
        reads=(REPLAYED, REPLAY_LAG, RELEASE_PROBABILITY),
        adds=(),
        sets=(UTILISATION, DEPLETION, LAST_USED),
    )
    def sleep(self, view: Any, tick: Tick) -> None:
        replay(tick.end, view.replayed, view.replay_lag, *self._state(view))

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, NOW, RELEASE_PROBABILITY),
        adds=(),
        sets=(UTILISATION, DEPLETION, LAST_USED),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        for row in view.recalled.tolist():
            use(row, view.now, *self._state(view))

    @hook(
        Phase.RETRIEVE,
        reads=(NOW, RELEASE_PROBABILITY, UTILISATION, DEPLETION, LAST_USED),
        adds=(),
        sets=(RESOURCES,),
    )
    def supply(self, view: Any, cue: Cue) -> None:
        resources(view.now, *self._state(view), view.resources)
