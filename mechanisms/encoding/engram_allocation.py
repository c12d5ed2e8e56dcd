"""Engram allocation: assigns each memory to the most excitable units and links memories whose units
overlap beyond chance.

A memory is written into the k most excitable units of a population; inhibition silences the others,
so every engram has the same size.  Activity raises the excitability of a unit for hours (CREB), so
a memory encoded within hours shares units with the earlier one, and recall of one partly
reactivates the other (Cai et al. 2016; Rashid et al. 2016; review: Josselyn & Frankland 2018).  A
slower inhibition outlasts the excitability, so a day later recently used units are avoided and the
two engrams are separate; after a week both effects have decayed.

    E_i(t) = E0_i + D sum_k exp(-(t - t_k) / tau_E) - J sum_k exp(-(t - t_k) / tau_I) + noise

No paper fits this form; the papers report overlap up to 6 h and none at 24 h.  For large
populations a closed form exists; the evidence uses it.

Memories whose overlap exceeds chance are linked by SIBLING edges in both directions, with
ENGRAM_OVERLAP, the share of common units.  Recall that may change memory activates the units of its
best memory again.

Cost, with N units, k of them an engram, m memories kept per unit:
O(N + k log k log N + k m log(k m)) per event; O(n + s links) per query for s best matches.  No step
runs over all past memories.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.errors import RegistryError
from ...engine.base.numerics import exact_kernel, formula
from ...engine.contract.columns import Column, Facet, Phase, Scope, Upkeep, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import GRAPH, MATCH, NOW, RANDOM, RECALLED, ROW, VISIBLE
from ...engine.state.graph import EdgeType
from ...engine.state.ranking import best

# --- columns --------------------------------------------------------------------------------------
ENGRAM_EXCITED = Column(
    "engram_excited",
    np.float64,
    Scope.GLOBAL,
    "activations",
    0.0,
    "past activations of each unit, decayed with tau_E, at its last activation",
    ("units",),
    low=0,
)
ENGRAM_INHIBITED = Column(
    "engram_inhibited",
    np.float64,
    Scope.GLOBAL,
    "activations",
    0.0,
    "past activations of each unit, decayed with tau_I, at its last activation",
    ("units",),
    low=0,
)
ENGRAM_ACTIVE = Column(
    "engram_active",
    np.float64,
    Scope.GLOBAL,
    "h",
    0.0,
    "when each unit was last active",
    ("units",),
    upkeep=Upkeep(clock=True),
)
ENGRAM = Column(
    "engram", np.int16, Scope.MEMORY, "1", -1, "units of the memory, ascending", ("size",)
)
ENGRAM_RECENT = Column(
    "engram_recent",
    np.int32,
    Scope.GLOBAL,
    "1",
    -1,
    "rows of the last memories written into each unit, a ring buffer; -1: none",
    ("units", "depth"),
)
ENGRAM_WRITTEN = Column(
    "engram_written",
    np.int64,
    Scope.GLOBAL,
    "1",
    0,
    "memories written into each unit so far",
    ("units",),
    low=0,
)
ENGRAM_OVERLAP = Column(
    "engram_overlap",
    np.float32,
    Scope.EDGE,
    "1",
    0.0,
    "share of units that two memories have in common; 0: no link of this mechanism",
    low=0,
    high=1,
)
LINKED = signal(
    "linked",
    Facet.CONTEXT,
    "match of the best matches, times their engram overlap with the memory, summed",
    unit="sd",
    direct=False,
)


# --- equations ------------------------------------------------------------------------------------
@formula
def excitability(
    base: Any,
    excited: Any,
    inhibited: Any,
    gap: Any,
    boost: float,
    inhibition: float,
    tau_e: float,
    tau_i: float,
    out: Any,
) -> None:
    """E_i(t) = E0_i + D x_i exp(-gap / tau_E) - J y_i exp(-gap / tau_I), before noise.  Ours, after
    Josselyn & Frankland (2018).  Cost: O(N).

    base                 (N,)  sd           E0, constant differences between units
    excited, inhibited   (N,)  activations  x, y at the last activation of a unit, see `activate`
    gap                  (N,)  h            time since the last activation
    boost, inhibition    ()    sd           D, J: effect of one activation at gap 0
    tau_e, tau_i         ()    h
    out                  (N,)  sd           in standard deviations of the noise, written

    >>> out, ones = np.empty(1), np.ones(1)
    >>> excitability(0.0 * ones, ones, ones, 6.0 * ones, 2.0, 0.0, 6.0 / np.log(2.0), 24.0, out)
    >>> round(float(out[0]), 9)
    1.0
    """
    rising, falling = boost * excited * np.exp(-gap / tau_e), inhibited * np.exp(-gap / tau_i)
    out[...] = base + rising - inhibition * falling


@exact_kernel
def activate(
    units: Any,
    now: float,
    tau_e: float,
    tau_i: float,
    most: float,
    excited: Any,
    inhibited: Any,
    active: Any,
) -> None:
    """x_i <- min(x_i exp(-gap / tau_E) + 1, most), y_i likewise with tau_I: exact update of the
    sums over past activations.  Cost: O(k).

    units                (k,)  1            units active at `now`
    now                  ()    h
    most                 ()    activations  saturation of both sums; infinity: none
    excited, inhibited   (N,)  activations  updated
    active               (N,)  h            last activation, updated

    >>> x, y, t = np.ones(1), np.ones(1), np.zeros(1)
    >>> activate(np.array([0]), 6.0, 6.0 / np.log(2.0), 6.0 / np.log(4.0), np.inf, x, y, t)
    >>> float(x[0]), float(y[0]), float(t[0])
    (1.5, 1.25, 6.0)
    """
    for i in units:
        gap = max(now - active[i], 0.0)  # a unit that was never active stands at 1970
        excited[i] = min(excited[i] * math.exp(-gap / tau_e) + 1.0, most)
        inhibited[i] = min(inhibited[i] * math.exp(-gap / tau_i) + 1.0, most)
        active[i] = now


@formula
def allocate(excitable: Any, size: int) -> Any:
    """The engram: the k most excitable units, ascending; lateral inhibition silences all others.
    Cost: O(N + k log k log N).

    excitable  (N,)  sd  E + noise
    size       ()    1   k

    >>> allocate(np.array([0.1, 0.9, 0.3, 0.7]), 2).tolist()
    [1, 3]
    """
    return np.sort(best(excitable, np.ones(excitable.shape[0], dtype=np.bool_), size))


@exact_kernel
def overlap(a: Any, b: Any) -> float:
    """|A and B| / k of two engrams of the same size: share of common units.  Cost: O(k).

    a, b  (k,)  1  units, ascending

    >>> overlap(np.array([0, 2, 5, 7]), np.array([1, 2, 7, 9]))
    0.5
    """
    i = j = common = 0
    while i < a.shape[0] and j < b.shape[0]:
        if a[i] == b[j]:
            common += 1
            i += 1
            j += 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return float(common / a.shape[0])


@formula
def chance(units: int, size: int) -> Any:
    """Mean and standard deviation of the overlap of two engrams drawn independently
    (hypergeometric), as shares of k.  Cost: O(1).

    >>> [round(x, 4) for x in chance(1000, 100)]
    [0.1, 0.0285]
    """
    p = size / units
    return p, math.sqrt(p * (1.0 - p) * (units - size) / max(units - 1, 1) / size)


@formula
def companions(engram: Any, recent: Any, engrams: Any, least: float, most: int) -> Any:
    """The earlier memories with the largest overlap, later ones first among equals.  Cost: O(k m
    log(k m) + k most).

    engram    (k,)    1  units of the new memory, ascending
    recent    (N, m)  1  the last memories of each unit, -1 for none
    engrams   (n, k)  1  units of every memory, ascending
    least     ()      1  least overlap of a result
    most      ()      1  largest number of results
    returns   (c,), (c,)  rows, largest overlap first; their overlap

    Candidates are the 2 `most` memories listed most often in the rows of `recent` for these units;
    their overlap is computed exactly.
    """
    met = recent[engram]
    rows, hits = np.unique(met[met >= 0].astype(np.int64), return_counts=True)
    # later memories first; the stable sort keeps this order among equals
    near = rows[::-1][np.argsort(-hits[::-1], kind="stable")[: 2 * most]]
    shares = np.array([overlap(engram, engrams[row]) for row in near.tolist()], dtype=np.float64)
    near, shares = near[shares >= least], shares[shares >= least]
    order = np.argsort(-shares, kind="stable")[:most]
    return near[order], shares[order]


@exact_kernel
def write(engram: Any, row: int, recent: Any, written: Any) -> None:
    """Write a memory into the ring buffer of each of its units, over the oldest entry.  Cost:
    O(k).
    """
    for unit in engram:
        recent[unit, written[unit] % recent.shape[1]] = row
        written[unit] += 1


@exact_kernel
def lend(
    rows: Any, match: Any, start: Any, degree: Any, pool: Any, target: Any, share: Any, out: Any
) -> None:
    """out_j = sum_i match_i overlap_ij over the memories i in `rows`: how strongly recall of them
    reactivates j.  Cost: O(their links).

    rows                 (s,)      memories i
    match                (n,)  sd  values <= 0 contribute nothing
    start, degree, pool            edges of node v: pool[start[v]:start[v] + degree[v]]
    target, share        (e,)      target of each edge, and overlap_ij
    out                  (n,)  sd  written; NaN on entry, and stays NaN where nothing arrives
    """
    for v in rows:
        if match[v] > 0.0:
            for place in range(start[v], start[v] + degree[v]):
                j, lent = target[pool[place]], match[v] * share[pool[place]]
                if j >= 0 and lent > 0.0:
                    out[j] = lent if np.isnan(out[j]) else out[j] + lent


def link(graph: Any, row: int, other: int, share: float, most: int, now: float) -> None:
    """Add SIBLING edges in both directions; if `other` has `most` links, replace its weakest by a
    stronger one only.  Cost: O(most).

    share  ()  1  overlap
    now    ()  h  time of new edges
    """
    edges, shares = graph.neighbours(other, EdgeType.SIBLING), graph.column(ENGRAM_OVERLAP.name)
    edges = edges[shares[edges] > 0.0]
    if len(edges) >= most:
        weakest = int(edges[np.argmin(shares[edges])])
        if shares[weakest] >= share:
            return
        back = graph.find(int(graph.target[weakest]), other, EdgeType.SIBLING)
        graph.remove(weakest)
        if back is not None:
            graph.remove(back)
    for source, target in ((row, other), (other, row)):
        edge = graph.add(source, target, EdgeType.SIBLING, now)
        graph.column(ENGRAM_OVERLAP.name)[edge] = share


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class EngramAllocationParams(Params):
    units: int  # N
    size: int  # k
    boost: float  # D
    half_life: float  # tau_E ln 2
    inhibition: float  # J
    inhibition_time: float  # tau_I
    saturation: float  # in activations, of excitability and inhibition
    depth: int  # m
    criterion: float  # least overlap of a link, in standard deviations above chance
    links: int
    lenders: int  # s
    weight: float


class EngramAllocation(Mechanism[EngramAllocationParams]):
    """Writes each memory into the most excitable units; links memories that share units."""

    owns = (ENGRAM_EXCITED, ENGRAM_INHIBITED, ENGRAM_ACTIVE, ENGRAM, ENGRAM_RECENT, ENGRAM_WRITTEN,
            ENGRAM_OVERLAP, LINKED)  # fmt: skip

    def __init__(
        self,
        id: str,
        params: EngramAllocationParams,
        units: dict[str, str] | None = None,
        order: int = 0,
    ) -> None:
        super().__init__(id, params, units, order)
        if params.size > params.units:
            raise RegistryError(
                f"size {params.size} is more than the {params.units} units",
                where=f"mechanism {id}",
                cure="lower size",
            )
        mean, sd = chance(params.units, params.size)
        self.least = mean + params.criterion * sd
        self.times = self.hours("half_life") / math.log(2.0), self.hours("inhibition_time")
        self.base = np.zeros(params.units)

    @hook(Phase.ENCODE, reads=(ROW, NOW), adds=(GRAPH,), sets=(ENGRAM_EXCITED, ENGRAM_INHIBITED,
        ENGRAM_ACTIVE, ENGRAM, ENGRAM_RECENT, ENGRAM_WRITTEN,
                                                           ENGRAM_OVERLAP, RANDOM))  # fmt: skip
    def allocate_engram(self, view: Any, incoming: Incoming) -> None:
        p, row, now = self.params, view.row, view.now
        excitable = np.empty(p.units)
        traces = view.engram_excited, view.engram_inhibited
        excitability(
            self.base,
            *traces,
            np.maximum(now - view.engram_active, 0.0),
            p.boost,
            p.inhibition,
            *self.times,
            excitable,
        )
        engram = allocate(excitable + view.random.standard_normal(p.units), p.size)
        rows, shares = companions(engram, view.engram_recent, view.engram, self.least, p.links)
        view.engram[row] = engram
        activate(engram, now, *self.times, p.saturation, *traces, view.engram_active)
        write(engram, row, view.engram_recent, view.engram_written)
        for other, share in zip(rows.tolist(), shares.tolist(), strict=True):
            link(view.graph, row, other, share, 2 * p.links, now)

    @hook(Phase.RETRIEVE, reads=(GRAPH, ENGRAM_OVERLAP, MATCH, VISIBLE), adds=(), sets=(LINKED,))
    def reactivate(self, view: Any, cue: Cue) -> None:
        """No score unless the best match is above 0, the mean of MATCH."""
        rows = best(view.match, view.visible, self.params.lenders)
        if rows.size and view.match[rows[0]] > 0.0:
            edges = view.graph.csr(EdgeType.SIBLING)
            lend(
                rows,
                view.match,
                edges.start,
                edges.degree,
                edges.pool,
                view.graph.target,
                view.engram_overlap,
                view.linked,
            )

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, ENGRAM, NOW),
        adds=(),
        sets=(ENGRAM_EXCITED, ENGRAM_INHIBITED, ENGRAM_ACTIVE),
    )
    def excite(self, view: Any, cue: Cue) -> None:
        """The best memory of an answer activates its units."""
        if len(view.recalled) and (engram := view.engram[view.recalled[0]])[0] >= 0:
            activate(
                engram,
                view.now,
                *self.times,
                self.params.saturation,
                view.engram_excited,
                view.engram_inhibited,
                view.engram_active,
            )
