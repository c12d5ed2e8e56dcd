"""Dendritic integration as Cortex 4.4.8 prints it: a plain logistic in the number of active
memories on a branch.

The text omits the linear and the quadratic term of the branch and prints no values; the public code
has a slope of 2.0, where the paper has 0.20, and applies the soma's function to one branch at a
time, times the mean score.  So there is no step at four synapses, s saturates at 1, and the soma
stays at the foot of its curve.  Branches are groups of at most 15 memories with similar entities
and tags (Jaccard).

Cost: per event O(entities x memories compared x entities); O(n) per query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, Upkeep, signal
from ...engine.contract.drafts import Kind
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import GRAPH, KIND, MATCH, ROW, TEXTS, VISIBLE
from ...engine.state.graph import EdgeType
from ...engine.state.ranking import best
from ...engine.text.utf8 import encoded

# --- columns --------------------------------------------------------------------------------------
BRANCH = Column(
    "branch",
    np.int32,
    Scope.MEMORY,
    "1",
    -1,
    "branch that the memory is on, by the row of its first memory; -1: none",
    upkeep=Upkeep(rows=...),
)
BRANCH_MEMBERS = Column(
    "branch_members",
    np.int32,
    Scope.MEMORY,
    "memories",
    0,
    "memories on the branch whose first memory this is",
    low=0,
    upkeep=Upkeep(anywhere=True),
)
BRANCHED = signal(
    "branched",
    Facet.ASSOCIATION,
    "g(s(n)) of the memory's branch times its mean match",
    unit="sd Hz",
    direct=False,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def branch(n: float, half: float, slope: float) -> float:
    """s(n) = 1 / (1 + exp(-(n - n_threshold) / slope)).  Cortex 4.4.8, with beta = 1 / slope.
    Cost: O(1).

    n, half, slope  ()  synapses

    >>> branch(3.6, 3.6, 2.0)
    0.5
    """
    return 1.0 / (1.0 + math.exp((half - n) / slope))


@kernel
def soma(x: float, height: float, odds: float, rate: float) -> float:
    """g(x) = height x / (1 + odds exp(-rate x)).  Cortex 4.4.8, which prints only the letter g;
    form of its public code.  Cost: O(1).

    x  ()  1  output of one branch

    >>> soma(0.0, 0.96, 1509.0, 0.26)
    0.0
    """
    return height * x / (1.0 + odds * math.exp(-rate * x))


@kernel
def jaccard(a: Any, b: Any) -> float:
    """|A and B| / |A or B| of two arrays of distinct numbers; 0 if both are empty.  Cortex 4.4.8, branch assignment.  Cost: O(|A| |B|).

    >>> jaccard(np.array([1, 2, 3]), np.array([2, 3, 4]))
    0.5
    """
    common = 0
    for x in a:
        for y in b:
            common += x == y
    union = a.shape[0] + b.shape[0] - common
    return common / union if union else 0.0


@kernel
def integrate(
    rows: Any,
    match: Any,
    on: Any,
    half: float,
    slope: float,
    height: float,
    odds: float,
    rate: float,
    out: Any,
) -> None:
    """g(s(n)) times the mean match of the n active memories of a branch, for all memories on it.
    Cortex 4.4.8 and its public code.  Cost: O(n).

    rows   (m,)      active memories
    match  (n,)  sd
    on     (n,)      branch of each memory, the row of its first; -1: none
    out    (n,)  sd  NaN before, and where no memory is active; written
    """
    active, total = np.zeros(out.shape[0]), np.zeros(out.shape[0])
    for i in rows:
        if on[i] >= 0:
            active[on[i]] += 1.0
            total[on[i]] += match[i]
    for j in range(out.shape[0]):
        if on[j] >= 0 and active[on[j]] > 0.0:
            n = active[on[j]]
            out[j] = soma(branch(n, half, slope), height, odds, rate) * total[on[j]] / n


def tag_numbers(event: Event) -> NDArray[np.int64]:
    """A number for each attribute `tags` of an event, 0 or above, where entities are below 0."""
    tags = {crc32(encoded(value)) for name, value in event.attributes if name == "tags"}
    return np.array(sorted(tags), np.int64)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class DendriticIntegrationPrintedParams(Params):
    half: float
    slope: float
    height: float
    odds: float
    rate: float
    alike: float  # least Jaccard index to join a branch
    room: int  # most memories on a branch
    compared: int  # latest memories of each entity that a new one is compared with
    matches: int
    weight: float


class DendriticIntegrationPrinted(Mechanism[DendriticIntegrationPrintedParams]):
    owns = (BRANCH, BRANCH_MEMBERS, BRANCHED)

    @hook(Phase.ENCODE, reads=(ROW, GRAPH, TEXTS, KIND), adds=(), sets=(BRANCH, BRANCH_MEMBERS))
    def assign(self, view: Any, incoming: Incoming) -> None:
        """The branch of the memory most similar in entities and tags, of those that share an entity
        and whose branch has room, else a new one.
        """
        p, graph, row, chosen, most = self.params, view.graph, view.row, -1, 0.0
        named = graph.target[graph.neighbours(row, EdgeType.ENTITY)]
        mine = np.concatenate([named, tag_numbers(incoming.event)])
        for entity in named:
            for other in graph.target[graph.neighbours(int(entity), EdgeType.ENTITY)][
                -p.compared - 1 : -1
            ]:
                theirs = graph.target[graph.neighbours(int(other), EdgeType.ENTITY)]
                if view.kind[other] == Kind.EVENT:
                    tags = tag_numbers(view.texts.event(int(other)))
                    theirs = np.concatenate([theirs, tags])
                alike = jaccard(mine, theirs)
                if (
                    alike >= p.alike
                    and alike > most
                    and view.branch_members[view.branch[other]] < p.room
                ):
                    chosen, most = int(view.branch[other]), alike
        if len(named):
            view.branch[row] = chosen = row if chosen < 0 else chosen
            view.branch_members[chosen] += 1

    @hook(Phase.RETRIEVE, reads=(MATCH, VISIBLE, BRANCH), adds=(), sets=(BRANCHED,))
    def retrieve(self, view: Any, cue: Cue) -> None:
        p = self.params
        rows = best(view.match, view.visible, p.matches)
        integrate(
            rows[view.match[rows] > 0.0],
            view.match,
            view.branch,
            p.half,
            p.slope,
            p.height,
            p.odds,
            p.rate,
            view.branched,
        )
