"""Synaptic tagging and capture: an important event stabilises weak memories encoded shortly before
or after it that share an entity with it.

A memory is a set of synapses, one onto each entity it mentions; the entity is the neuron.  Encoding
raises the early-phase weight h of all of them, and h decays back to h0 within hours.  While |h -
h0| is above theta_tag a synapse is tagged; while the sum of |h - h0| over an entity's synapses is
above theta_pro the entity makes proteins p; while proteins are present a tagged synapse builds up
its late phase z, which does not decay (Frey & Morris 1997; Luboeinski & Tetzlaff 2021).  So a
memory too weak to last is kept if it shares an entity with a strong one encoded soon after it or,
as proteins persist, an even longer time before it.

Between events h decays exponentially, and so does the sum over an entity's synapses (it jumps only
at encoding), each threshold is crossed once at a known time, p is piecewise exponential, and z
depends only on the integral of p over the lifetime of the tag: the whole system has a closed form.
Each link from an entity to a memory stores the entity's state at that encoding and is never
changed; the present state follows from the latest link.  There are no time steps, so results depend
neither on the length of a tick nor on when the state is read.

Cost: O(entities of the event) per event; O(n) per maintain; per consolidation O(n), and
O(entities log fan) for each memory still tagged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import exact_kernel, formula
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, Tick, at_rest, hook
from ...engine.contract.vocabulary import ARRIVED, GRAPH, LOG_STRENGTH, NOW, ROW, SALIENCE
from ...engine.state.graph import EdgeType

CEILING_MV, RELAXATION = 10.0, 0.1  # constants of the early-phase equation
NO_SYNAPSE = -1.0  # PROTEIN_INTEGRAL of a link that is no synapse

# --- columns --------------------------------------------------------------------------------------
EARLY_PHASE_INDUCED = Column(
    "early_phase_induced",
    np.float64,
    Scope.MEMORY,
    "mV",
    0.0,
    "h - h0 just after encoding; 0: at rest",
)
LATE_PHASE = Column(
    "late_phase",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "mean late phase z of the memory's synapses; 0: nothing captured",
    low=-0.5,
    high=1,
)
PROTEIN_DRIVE = Column(
    "protein_drive",
    np.float64,
    Scope.EDGE,
    "mV",
    0.0,
    "sum of |h - h0| over the entity's synapses just after this encoding",
    low=0,
)
PROTEINS = Column(
    "proteins",
    np.float64,
    Scope.EDGE,
    "1",
    0.0,
    "amount p of the entity's proteins at this encoding",
    low=0,
)
PROTEIN_INTEGRAL = Column(
    "protein_integral",
    np.float64,
    Scope.EDGE,
    "h",
    NO_SYNAPSE,
    "integral of p up to this encoding; -1: no synapse",
    low=NO_SYNAPSE,
)


# --- equations ------------------------------------------------------------------------------------
@exact_kernel
def early_phase(
    h: float,
    t: float,
    above_p: bool,
    above_d: bool,
    h0: float,
    gamma_p: float,
    gamma_d: float,
    tau_h: float,
) -> float:
    """h after a time t of constant calcium: tau_h dh/dt = 0.1 (h0 - h) + gamma_p (10 mV - h) H(c -
    theta_p) - gamma_d h H(c - theta_d).

    Luboeinski & Tetzlaff (2021), early phase after Graupner & Brunel (2012), without noise; solved
    exactly.  Cost: O(1).

    h, h0             mV  early-phase weight before, and at rest
    t, tau_h          h   duration (may be inf), time constant
    above_p, above_d      calcium above the threshold of potentiation, of depression
    gamma_p, gamma_d  1   rates

    >>> round(early_phase(4.20075, np.inf, True, True, 4.20075, 1645.6, 313.1, 688.4), 4)
    8.4013
    """
    up, down = gamma_p * above_p, gamma_d * above_d
    rate = RELAXATION + up + down
    end = (RELAXATION * h0 + CEILING_MV * up) / rate
    return end + (h - end) * math.exp(-rate * t / tau_h)


@exact_kernel
def above(size: float, theta: float, decay: float) -> float:
    """Time for which an exponentially decaying size stays above theta: decay ln(|size| / theta), h.
    Cost: O(1).

    With theta_tag the lifetime of a tag, with theta_pro the duration of protein synthesis.  `decay`
    is tau_h / 0.1.

    >>> round(above(4.20075, 0.84015, 1.9122), 3)
    3.078
    """
    return decay * math.log(abs(size) / theta) if abs(size) > theta else 0.0


@exact_kernel
def proteins_after(
    p: float, drive: float, t: float, theta_pro: float, alpha: float, decay: float, tau_p: float
) -> float:
    """p at a time t after a known state, with no encoding in between: tau_p dp/dt = -p + alpha
    H(sum |h - h0| - theta_pro).

    Luboeinski & Tetzlaff (2021), proteins; solved exactly.  Cost: O(1).

    p                  1   amount before
    drive, theta_pro   mV  sum of |h - h0| before, and its threshold
    t, decay, tau_p    h   time, decay time of the drive, time constant of p
    alpha              1   amount that synthesis approaches
    """
    made = min(t, above(drive, theta_pro, decay))
    return (alpha + (p - alpha) * math.exp(-made / tau_p)) * math.exp(-(t - made) / tau_p)


@exact_kernel
def synthesised(
    p: float, drive: float, t: float, theta_pro: float, alpha: float, decay: float, tau_p: float
) -> float:
    """Integral of p over the time t, h; arguments as for `proteins_after`.  Cost: O(1)."""
    made = min(t, above(drive, theta_pro, decay))
    rise = 1.0 - math.exp(-made / tau_p)
    then = alpha + (p - alpha) * (1.0 - rise)
    return (
        alpha * made
        + (p - alpha) * tau_p * rise
        + then * tau_p * (1.0 - math.exp(-(t - made) / tau_p))
    )


@exact_kernel
def late_phase(z: float, integral: float, potentiated: bool, tau_z: float) -> float:
    """z after an integral of p while tagged: tau_z dz/dt = p (1 - z), or -p (z + 0.5) for a
    depressed synapse.

    Luboeinski & Tetzlaff (2021), late phase; solved exactly.  Cost: O(1).

    z            1  before
    integral     h  of p over the time of the tag
    potentiated     h > h0
    tau_z        h  time constant

    >>> round(late_phase(0.0, 1.0, True, 1.0), 6)
    0.632121
    """
    end = 1.0 if potentiated else -0.5
    return end + (z - end) * math.exp(-integral / tau_z)


@formula
def weight(h: Any, z: Any, h0: float) -> Any:
    """w = h + h0 z, mV.  Luboeinski & Tetzlaff (2021), total weight.  Cost: O(1)."""
    return h + h0 * z


# --- the network: entities as neurons -------------------------------------------------------------
@exact_kernel
def induce(
    row: int,
    now: float,
    change: float,
    theta_pro: float,
    alpha: float,
    decay: float,
    tau_p: float,
    start: Any,
    degree: Any,
    pool: Any,
    target: Any,
    created: Any,
    drive: Any,
    proteins: Any,
    synthesis: Any,
) -> None:
    """For each entity of a new memory: compute its state now, add the new synapse, and store the
    result on its link to the memory.

    row, now, change                            row of the memory, time in h, its h - h0 in mV
    start, degree, pool, target                 links of the graph, oldest first; entities are
                                                negative nodes
    created                    (n,)  h          when each memory was encoded
    drive, proteins, synthesis (m,)  mV, 1, h   state on the links from an entity to a memory;
                                                written for the new ones

    Cost: O(entities of the memory).
    """
    for link in range(start[row], start[row] + degree[row]):
        entity, mine = target[pool[link]], -1
        if entity >= 0:
            continue
        d = p = integral = 0.0
        for place in range(start[entity] + degree[entity] - 1, start[entity] - 1, -1):
            edge = pool[place]
            if target[edge] == row:
                mine = edge
            elif synthesis[edge] != NO_SYNAPSE:
                t = now - created[target[edge]]
                d = drive[edge] * math.exp(-t / decay)
                p = proteins_after(proteins[edge], drive[edge], t, theta_pro, alpha, decay, tau_p)
                integral = synthesis[edge] + synthesised(
                    proteins[edge], drive[edge], t, theta_pro, alpha, decay, tau_p
                )
                break
        if mine >= 0:
            drive[mine], proteins[mine], synthesis[mine] = d + abs(change), p, integral


@exact_kernel
def latest(
    time: float, first: int, last: int, pool: Any, target: Any, created: Any, synthesis: Any
) -> int:
    """The last synapse in pool[first:last] encoded by that time, or -1.  Cost: O(log (last -
    first)), as links are in order of encoding.
    """
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if created[target[pool[middle]]] <= time:
            low = middle + 1
        else:
            high = middle
    while low > first and synthesis[pool[low - 1]] == NO_SYNAPSE:
        low -= 1
    return pool[low - 1] if low > first else -1


@exact_kernel
def capture(
    now: float,
    since: float,
    longest: float,
    theta_tag: float,
    theta_pro: float,
    alpha: float,
    decay: float,
    tau_p: float,
    tau_z: float,
    start: Any,
    degree: Any,
    pool: Any,
    target: Any,
    created: Any,
    induced: Any,
    drive: Any,
    proteins: Any,
    synthesis: Any,
    late: Any,
) -> None:
    """z, at time now, of every memory whose tag was active at `since` or later, as the mean over
    its entities; z of older ones is final.

    since       ()    h   time of an earlier call, or -inf
    longest     ()    h   lifetime of the strongest tag
    induced     (n,)  mV  h - h0 just after encoding
    late        (n,)  1   written
    Others as for `induce`.  Cost: O(entities log fan) per memory written.
    """
    for row in range(len(created) - 1, -1, -1):
        if created[row] + longest < since:
            break
        end, count, total = min(now, created[row] + above(induced[row], theta_tag, decay)), 0, 0.0
        for link in range(start[row], start[row] + degree[row]):
            entity = target[pool[link]]
            if entity < 0:
                first, last = start[entity], start[entity] + degree[entity]
                mine, low, high = -1, first, last
                while low < high:
                    middle = (low + high) // 2
                    if target[pool[middle]] < row:
                        low = middle + 1
                    else:
                        high = middle
                if low < last and target[pool[low]] == row and synthesis[pool[low]] != NO_SYNAPSE:
                    mine, edge = pool[low], latest(end, low, last, pool, target, created, synthesis)
                    t = end - created[target[edge]]
                    made = (
                        synthesis[edge]
                        - synthesis[mine]
                        + synthesised(
                            proteins[edge], drive[edge], t, theta_pro, alpha, decay, tau_p
                        )
                    )
                    total += late_phase(0.0, made, induced[row] > 0.0, tau_z)
                    count += 1
        if count:
            late[row] = total / count


@formula
def log_weight(
    now: float, created: Any, induced: Any, late: Any, h0: float, decay: float, out: Any
) -> None:
    """ln(w / h0) of every memory: 0 at rest, ln 2 fully potentiated or fully captured.  Cost: O(n).

    created, induced, late  (n,)  h, mV, 1
    out                     (n,)  ln      written
    """
    h = h0 + induced * np.exp(-(now - created) / decay)
    out[...] = np.log(weight(h, late, h0) / h0)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SynapticTaggingParams(Params):
    h0: float
    gamma_p: float
    gamma_d: float
    tau_h: float
    theta_tag: float
    theta_pro: float
    tau_p: float
    tau_z: float
    alpha: float
    # how long an event of salience 1/2 holds calcium above both thresholds
    stimulation: float


class SynapticTagging(Mechanism[SynapticTaggingParams]):
    owns = (EARLY_PHASE_INDUCED, LATE_PHASE, PROTEIN_DRIVE, PROTEINS, PROTEIN_INTEGRAL)

    @property
    def decay(self) -> float:
        """Decay time of the early phase, h."""
        return self.hours("tau_h") / RELAXATION

    def induction(self, salience: float) -> float:
        """h - h0, in mV, induced by an event: calcium is high for `stimulation` times the odds
        of its salience.
        """
        p = self.params
        odds = salience / (1.0 - salience) if salience < 1.0 else math.inf
        return (
            early_phase(
                p.h0,
                self.hours("stimulation") * odds,
                True,
                True,
                p.h0,
                p.gamma_p,
                p.gamma_d,
                self.hours("tau_h"),
            )
            - p.h0
        )

    @hook(
        Phase.ENCODE,
        reads=(ROW, NOW, ARRIVED, SALIENCE, GRAPH),
        adds=(),
        sets=(EARLY_PHASE_INDUCED, PROTEIN_DRIVE, PROTEINS, PROTEIN_INTEGRAL),
    )
    def encode(self, view: Any, incoming: Incoming) -> None:
        p, links = self.params, view.graph.csr(EdgeType.ENTITY)
        view.early_phase_induced[view.row] = change = self.induction(view.salience)
        induce(
            view.row,
            view.now,
            change,
            p.theta_pro,
            p.alpha,
            self.decay,
            self.hours("tau_p"),
            links.start,
            links.degree,
            links.pool,
            view.graph.target,
            view.arrived,
            view.protein_drive,
            view.proteins,
            view.protein_integral,
        )

    @hook(
        Phase.CONSOLIDATE,
        reads=(ARRIVED, EARLY_PHASE_INDUCED, GRAPH, PROTEIN_DRIVE, PROTEINS, PROTEIN_INTEGRAL),
        adds=(),
        sets=(LATE_PHASE,),
    )
    def settle(self, view: Any, tick: Tick) -> None:
        """Set the late phase to its exact value now; memories whose tag ended before the last
        consolidation do not change.
        """
        p, links = self.params, view.graph.csr(EdgeType.ENTITY)
        longest = above(self.induction(1.0), p.theta_tag, self.decay)
        capture(
            tick.end,
            tick.start,
            longest,
            p.theta_tag,
            p.theta_pro,
            p.alpha,
            self.decay,
            self.hours("tau_p"),
            self.hours("tau_z"),
            links.start,
            links.degree,
            links.pool,
            view.graph.target,
            view.arrived,
            view.early_phase_induced,
            view.protein_drive,
            view.proteins,
            view.protein_integral,
            view.late_phase,
        )

    @at_rest(reads=(ARRIVED,))
    def captured(self, view: Any, tick: Tick) -> bool:
        """Whether even the newest tag had ended before this sleep did: the next one then finds
        no memory to change.
        """
        return bool(
            view.arrived[-1] + above(self.induction(1.0), self.params.theta_tag, self.decay)
            < tick.end
        )

    @hook(
        Phase.MAINTAIN,
        reads=(ARRIVED, EARLY_PHASE_INDUCED, LATE_PHASE),
        adds=(LOG_STRENGTH,),
        sets=(),
    )
    def strengthen(self, view: Any, tick: Tick) -> None:
        log_weight(
            tick.end,
            view.arrived,
            view.early_phase_induced,
            view.late_phase,
            self.params.h0,
            self.decay,
            view.log_strength,
        )
