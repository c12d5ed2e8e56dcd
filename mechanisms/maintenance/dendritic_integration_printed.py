"""Dendritic integration as Cortex 4.4.8 prints it: a plain logistic in the number of active
memories on a branch, two regimes of their sum, a soma that sums its branches, and plasticity of
each branch.

The text omits the linear and the quadratic term of the branch and prints no values; the public code
has a slope of 2.0, where the paper has 0.20.  So there is no step at four synapses, s saturates at
1, and the soma stays at the foot of its curve.  Branches are groups of at most 15 memories with
similar entities and tags (Jaccard).  The two regimes and the plasticity are words in the text: the
rules and numbers are those of its public code, which joins them to nothing; here the regime is a
factor of the sum of matches, and the plasticity a factor of the branch.

Cost: per event O(entities x memories compared x entities); O(n) per query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, Upkeep, signal
from ...engine.contract.drafts import Kind
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import GRAPH, KIND, MATCH, RECALLED, ROW, TEXTS, VISIBLE
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
BRANCH_PLASTICITY = Column(
    "branch_plasticity",
    np.float64,
    Scope.MEMORY,
    "1",
    1.0,
    "plasticity of the branch whose first memory this is",
    low=0,
    high=1,
)
BRANCHED = signal(
    "branched",
    Facet.ASSOCIATION,
    "output of the soma, shared by the memories of its branches in proportion to their current",
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

    x  ()  1  sum of the outputs of the branches

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
def regime(n: float, members: float, spike: float, exponent: float, boost: float) -> float:
    """Factor of the sum of n active memories of a branch: n^(exponent - 1) below the threshold of
    the spike, a power law, and from there 1 rising to `boost`, where all are active.  Cortex 4.4.8,
    in words; form of its public code.  Cost: O(1).

    n, members  ()  memories  active on the branch, and all on it
    spike       ()  1         share of the members from which the branch spikes

    >>> regime(1.0, 10.0, 0.4, 0.7, 1.5), round(regime(7.0, 10.0, 0.4, 0.7, 1.5), 3)
    (1.0, 1.25)
    """
    if n >= spike * members:
        if spike >= 1.0:
            return boost
        return 1.0 + (boost - 1.0) * (min(n / members, 1.0) - spike) / (1.0 - spike)
    return float(n ** (exponent - 1.0))


@kernel
def plastic(p: float, spikes: bool, ltp: float, ltd: float, decay: float) -> float:
    """Plasticity of a branch after a recall that its memories take part in: + ltp if it spikes,
    else - ltd, within [0, 1], and then a share `decay` of the way to 0.5.  Cortex 4.4.8, in words;
    form of its public code.  Cost: O(1).

    >>> plastic(0.5, True, 0.05, 0.03, 0.0), plastic(0.5, False, 0.05, 0.03, 0.0)
    (0.55, 0.47)
    """
    p = min(1.0, p + ltp) if spikes else max(0.0, p - ltd)
    return p + decay * (0.5 - p)


@kernel
def integrate(
    rows: Any,
    match: Any,
    on: Any,
    members: Any,
    plasticity: Any,
    dendrite: Any,
    regimes: Any,
    cell: Any,
    out: Any,
) -> None:
    """The soma's output g(sum_b x_b), shared by all memories on its branches in proportion to x_b =
    plasticity s(n) times the mean match of the branch's n active memories in their regime.  Cortex
    4.4.8.  Cost: O(n).

    rows        (m,)        active memories
    match       (n,)  sd
    on          (n,)        branch of each memory, the row of its first; -1: none
    members     (n,)        memories on the branch whose first memory this is
    plasticity  (n,)  1     of the branch whose first memory this is
    dendrite    (2,)        half, slope of `branch`
    regimes     (3,)        spike, exponent, boost of `regime`
    cell        (3,)        height, odds, rate of `soma`
    out         (n,)  sd    NaN before, and where no memory is active; written
    """
    active, current, whole = np.zeros(out.shape[0]), np.zeros(out.shape[0]), 0.0
    for i in rows:
        if on[i] >= 0:
            active[on[i]] += 1.0
            current[on[i]] += match[i]
    for b in range(out.shape[0]):
        n = active[b]
        if n > 0.0:
            factor = regime(n, float(members[b]), regimes[0], regimes[1], regimes[2])
            driven = branch(n, dendrite[0], dendrite[1])
            current[b] *= plasticity[b] * driven * factor / n
            whole += current[b]
    fired = soma(whole, cell[0], cell[1], cell[2])
    for j in range(out.shape[0]):
        if on[j] >= 0 and active[on[j]] > 0.0 and whole > 0.0:
            out[j] = fired * current[on[j]] / whole


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
    spike: float
    exponent: float
    boost: float
    ltp: float
    ltd: float
    decay: float
    alike: float  # least Jaccard index to join a branch
    room: int  # most memories on a branch
    compared: int  # latest memories of each entity that a new one is compared with
    matches: int
    weight: float


class DendriticIntegrationPrinted(Mechanism[DendriticIntegrationPrintedParams]):
    owns = (BRANCH, BRANCH_MEMBERS, BRANCH_PLASTICITY, BRANCHED)

    @hook(Phase.ENCODE, reads=(ROW, GRAPH, TEXTS, KIND), adds=(), sets=(BRANCH, BRANCH_MEMBERS))
    def assign(self, view: Any, incoming: Incoming) -> None:
        """The branch of the memory most similar in entities and tags, of those that share an entity
        and whose branch has room, else a new one.
        """
        p, graph, row, chosen, most = self.params, view.graph, view.row, -1, 0.0
        named = graph.target[graph.neighbours(row, EdgeType.ENTITY)]
        mine = np.concatenate([named, tag_numbers(incoming.event)])
        others = [
            graph.target[graph.neighbours(entity, EdgeType.ENTITY)][-p.compared - 1 : -1]
            for entity in named.tolist()
        ]
        for other in dict.fromkeys(chain.from_iterable(rows.tolist() for rows in others)):
            theirs = graph.target[graph.neighbours(other, EdgeType.ENTITY)]
            if view.kind[other] == Kind.EVENT:
                theirs = np.concatenate([theirs, tag_numbers(view.texts.event(other))])
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

    @hook(
        Phase.RETRIEVE,
        reads=(MATCH, VISIBLE, BRANCH, BRANCH_MEMBERS, BRANCH_PLASTICITY.before),
        adds=(),
        sets=(BRANCHED,),
    )
    def retrieve(self, view: Any, cue: Cue) -> None:
        p = self.params
        rows = best(view.match, view.visible, p.matches)
        integrate(
            rows[view.match[rows] > 0.0],
            view.match,
            view.branch,
            view.branch_members,
            view.branch_plasticity,
            np.array([p.half, p.slope]),
            np.array([p.spike, p.exponent, p.boost]),
            np.array([p.height, p.odds, p.rate]),
            view.branched,
        )

    @hook(
        Phase.RETRIEVE, reads=(RECALLED, BRANCH, BRANCH_MEMBERS), adds=(), sets=(BRANCH_PLASTICITY,)
    )
    def learn(self, view: Any, cue: Cue) -> None:
        """Plasticity of each branch that the recalled memories are on, and of no other."""
        p, on = self.params, view.branch[view.recalled]
        branches, recalled = np.unique(on[on >= 0], return_counts=True)
        for b, n in zip(branches.tolist(), recalled.tolist(), strict=True):
            spikes = n >= p.spike * view.branch_members[b]
            view.branch_plasticity[b] = plastic(
                view.branch_plasticity[b], spikes, p.ltp, p.ltd, p.decay
            )
