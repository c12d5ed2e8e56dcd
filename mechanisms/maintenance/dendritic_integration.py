"""Dendritic integration: scores memories by the supralinear summation of matches on one branch, an
entity in one session.

A pyramidal cell is a network of two layers.  Each thin branch maps the number n of its active
synapses to s(n), nearly linear up to three of them, with a step at the fourth, the dendritic spike;
the soma sums its branches and maps the sum to a rate, g (Poirazi, Brannon & Mel 2003).  So synapses
cooperate if they are on one branch:

    y = g( sum_i alpha_i s(n_i) )        s(n) = 1 / (1 + exp((3.6 - n) / 0.20)) + 0.30 n + 0.0114
                                         n^2        g(x) = 0.96 x / (1 + 1509 exp(-0.26 x))

Here the soma is an entity, a branch is one session in which it occurs, a synapse is a memory of
that entity and session, and it is active if it is among the best matches of the query.  The gain is
ln of y relative to the y of the same synapses each alone on a branch; it is 0 unless several are on
one branch, and nearly 0 below four.  Each memory of a branch gets the gain times its branch's share
of the current into the soma: a memory with a low match is raised by others on its branch.

Cost: O(n) per query for the best matches, then O(fan) for each entity that these mention; nothing
is stored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Facet, Phase, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import GRAPH, MATCH, SESSION, VISIBLE
from ...engine.state.graph import EdgeType
from ...engine.state.ranking import best

# --- columns --------------------------------------------------------------------------------------
COACTIVE = signal(
    "coactive",
    Facet.ASSOCIATION,
    "share of the supralinear gain of the cell whose branch the memory is on",
    unit="ln",
    direct=False,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def branch(n: float, dendrite: Any) -> float:
    """s(n) = 1 / (1 + exp((half - n) / slope)) + linear n + quadratic n^2.  Poirazi, Brannon & Mel
    (2003), thin branches.  Cost: O(1).

    n         ()    synapses   active on the branch
    dendrite  (4,)  synapses, synapses, 1 per synapse, 1 per synapse^2
                               half point 3.6, slope 0.20, linear 0.30 and quadratic 0.0114 term

    The step from three synapses to four is the dendritic spike.

    >>> paper = np.array([3.6, 0.2, 0.3, 0.0114])
    >>> [round(branch(n, paper), 4) for n in (1.0, 3.0, 4.0, 5.0)]
    [0.3114, 1.05, 2.2632, 2.7841]
    """
    return float(
        1.0 / (1.0 + math.exp((dendrite[0] - n) / dendrite[1]))
        + dendrite[2] * n
        + dendrite[3] * n * n
    )


@kernel
def soma(x: float, cell: Any) -> float:
    """g(x) = slope x / (1 + odds exp(-rate x)).  Poirazi, Brannon & Mel (2003), soma and axon.
    Cost: O(1).

    x     ()    1         summed output of the branches
    cell  (3,)  Hz, 1, 1  slope 0.96 of the rate at large x, odds 1509 against firing at 0, rate
                          0.26 of their decay

    >>> paper = np.array([0.96, 1509.0, 0.26])
    >>> [round(soma(x, paper), 3) for x in (0.0, 10.0, 30.0, 100.0)]
    [0.0, 0.085, 17.797, 96.0]
    """
    return float(cell[0] * x / (1.0 + cell[1] * math.exp(-cell[2] * x)))


@kernel
def current(n: Any, alpha: float, dendrite: Any) -> float:
    """sum_i alpha s(n_i), current into the soma; an inactive branch gives none.  Poirazi, Brannon &
    Mel (2003).  Cost: O(branches).

    n      (b,)  synapses  active on each branch
    alpha  ()    1         coupling of a branch to the soma
    """
    total = 0.0
    for i in range(n.shape[0]):
        if n[i] > 0:
            total += alpha * branch(float(n[i]), dendrite)
    return total


@kernel
def output(n: Any, alpha: float, dendrite: Any, cell: Any) -> float:
    """y = g(sum_i alpha s(n_i)), Hz.  Poirazi, Brannon & Mel (2003), the two-layer network.  Cost:
    O(branches).

    >>> dendrite, cell = np.array([3.6, 0.2, 0.3, 0.0114]), np.array([0.96, 1509.0, 0.26])
    >>> output(np.array([4, 0]), 1.0, dendrite, cell) > output(np.array([2, 2]), 1.0, dendrite, cell)
    True
    """
    return soma(current(n, alpha, dendrite), cell)


# --- the adaptation -------------------------------------------------------------------------------
@kernel
def cooperation(n: Any, alpha: float, dendrite: Any, cell: Any) -> float:
    """ln of y relative to the y of the same synapses each on a branch of its own; 0: no
    cooperation.  Ours.  Cost: O(branches).

    >>> dendrite, cell = np.array([3.6, 0.2, 0.3, 0.0114]), np.array([0.96, 1509.0, 0.26])
    >>> cooperation(np.array([1, 1, 1]), 1.0, dendrite, cell), round(cooperation(np.array([4]), 1.0, dendrite, cell), 3)
    (0.0, 0.861)
    """
    apart = 0.0
    for i in range(n.shape[0]):
        apart += alpha * n[i] * branch(1.0, dendrite)
    together = output(n, alpha, dendrite, cell)
    return math.log(together / soma(apart, cell)) if together > 0.0 else 0.0


@kernel
def bind(
    rows: Any,
    session: Any,
    start: Any,
    degree: Any,
    pool: Any,
    target: Any,
    alpha: float,
    dendrite: Any,
    cell: Any,
    out: Any,
) -> None:
    """Each cell's cooperation, divided among its branches in proportion to their current; a memory
    on several cells gets the largest.  Ours.

    rows                         (m,)      active memories, each once
    session                      (n,)      the branch of a memory on each of its cells
    start, degree, pool, target            links of the graph; entities, the cells, are negative
                                           nodes
    alpha, dendrite, cell                  as for `output`
    out                          (n,)  ln  NaN before, and where there is no cooperation; written

    Cost: O(synapses log synapses) for the cells of the active memories, and O(fan) for each cell
    with any cooperation.
    """
    count = last = 0
    for row in rows:
        count += degree[row]
        last = max(last, session[row])
    cells, branches, size = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64), 0
    for row in rows:
        for place in range(start[row], start[row] + degree[row]):
            if target[pool[place]] < 0:
                cells[size], branches[size] = target[pool[place]], session[row]
                size += 1
    order = np.argsort(cells[:size], kind="mergesort")
    active, met = np.zeros(last + 1, dtype=np.int64), np.empty(size, dtype=np.int64)
    first = 0
    while first < size:
        entity, end, n_met = cells[order[first]], first, 0
        while end < size and cells[order[end]] == entity:
            b = branches[order[end]]
            if active[b] == 0:
                met[n_met] = b
                n_met += 1
            active[b] += 1
            end += 1
        n = active[met[:n_met]]
        gain = cooperation(n, alpha, dendrite, cell)
        if gain > 0.0:
            whole = current(n, alpha, dendrite)
            for place in range(start[entity], start[entity] + degree[entity]):
                j = target[pool[place]]
                if 0 <= session[j] <= last and active[session[j]] > 0:
                    lent = gain * alpha * branch(float(active[session[j]]), dendrite) / whole
                    out[j] = lent if np.isnan(out[j]) else max(out[j], lent)
        for b in met[:n_met]:
            active[b] = 0
        first = end


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class DendriticIntegrationParams(Params):
    half: float
    slope: float
    linear: float
    quadratic: float
    rate_slope: float  # of g at large x
    rate_odds: float
    rate_gain: float
    alpha: float
    matches: int  # m, memories that a query makes active
    weight: float


class DendriticIntegration(Mechanism[DendriticIntegrationParams]):
    owns = (COACTIVE,)

    def __init__(
        self,
        id: str,
        params: DendriticIntegrationParams,
        units: dict[str, str] | None = None,
        order: int = 0,
    ) -> None:
        super().__init__(id, params, units, order)
        self.dendrite = np.array([params.half, params.slope, params.linear, params.quadratic])
        self.cell = np.array([params.rate_slope, params.rate_odds, params.rate_gain])

    @hook(Phase.RETRIEVE, reads=(MATCH, VISIBLE, SESSION, GRAPH), adds=(), sets=(COACTIVE,))
    def integrate(self, view: Any, cue: Cue) -> None:
        """Only memories with a match above the mean, which is 0, are active."""
        rows = best(view.match, view.visible, self.params.matches)
        rows = rows[view.match[rows] > 0.0]
        if rows.size > 1:
            links = view.graph.csr(EdgeType.ENTITY)
            bind(
                rows,
                view.session,
                links.start,
                links.degree,
                links.pool,
                view.graph.target,
                self.params.alpha,
                self.dendrite,
                self.cell,
                view.coactive,
            )
