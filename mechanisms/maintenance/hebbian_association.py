"""Hebbian association: strengthens associations between memories that are active together, and
passes the match on along them.

Synapses between neurons that are active at the same time grow (Hebb 1949), without limit; in Oja's
rule (1982) the activity of the target that lets a synapse grow also makes every synapse onto it
decay, so that weights have a fixed point and compete.  Here each memory is a neuron, and an
association a synapse from one to the other.  Whenever a memory is active, y = 1, the synapses from
memories active with it have x = 1 and all others onto it have x = 0: the weight tends to the
frequency of the source when the target is active, P(x | y), which is in [0, 1].

The synapses that only decay are not visited: a memory counts its occasions of activity, a synapse
stores the count up to which it is current, and Oja's rule with x = 0 is a power.

COACTIVATION gives the memories active together: in working memory at encoding, in a replayed step,
in an answer that may change memory.  One event, one replayed step and one answer are one occasion
each.

A question asked in a session has memories that are active before it: those that the last use in the
session needed.  They pass activation on as the best matches do, so what was used together with them
comes next.

Cost, with at most 32 associations a memory: O(32 p^2) for the p memories
of an occasion; O(n + 32 seeds) per query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    GRAPH,
    LTP,
    MATCH,
    MODIFIABILITY,
    RECALLED,
    RELEASE_PROBABILITY,
    RESOURCES,
    ROW,
    USED,
    USED_TIME,
    VISIBLE,
)
from ...engine.state.graph import EdgeType
from ...engine.steps.uses import used_last
from ..shared.coactivation import COACTIVATION, between, sources

# --- columns --------------------------------------------------------------------------------------
HEBBIAN_WEIGHT = Column(
    "hebbian_weight",
    np.float64,
    Scope.EDGE,
    "1",
    0.0,
    "Oja's weight of an association, at its last occasion",
    low=0,
    high=1,
)
HEBBIAN_SEEN = Column(
    "hebbian_seen",
    np.int32,
    Scope.EDGE,
    "1",
    0,
    "occasions of the target that the weight includes",
    low=0,
)
HEBBIAN_OCCASIONS = Column(
    "hebbian_occasions",
    np.int32,
    Scope.MEMORY,
    "1",
    0,
    "how often the memory was active together with others",
    low=0,
)
ASSOCIATED = signal(
    "associated",
    Facet.ASSOCIATION,
    "match of the best, passed on to memories active together with them",
    unit="sd",
    direct=False,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def oja(w: Any, x: Any, y: float, eta: float, growth: float = 1.0) -> Any:
    """w + eta y (growth x - y w).  Oja (1982), with growth = 1; one weight or a vector of them.
    Cost: O(size).

    w, x    (d,) or ()  weights onto a neuron, activities of their sources
    y       ()          activity of the neuron: w . x for Oja's linear unit
    eta     ()          learning rate
    growth  ()          factor on the Hebbian term x y, from theta and the sliding threshold; the
                        decay y^2 w is not scaled

    >>> oja(0.5, 1.0, 1.0, 0.1), oja(0.5, 0.0, 1.0, 0.1)
    (0.55, 0.45)
    """
    return w + eta * y * (growth * x - y * w)


@kernel
def current(w: float, occasions: int, eta: float) -> float:
    """w after some occasions of the target without the source: Oja's rule with x = 0, y = 1,
    repeated.  Cost: O(1).

    >>> round(current(0.5, 2, 0.1), 6)
    0.405
    """
    return w * (1.0 - eta) ** occasions if occasions and w != 0.0 else w


@kernel
def occasion(
    source: Any,
    target: Any,
    edge: Any,
    eta: float,
    ltp: float,
    modifiability: Any,
    start: Any,
    degree: Any,
    pool: Any,
    leads_to: Any,
    occasions: Any,
    weight: Any,
    seen: Any,
) -> None:
    """One occasion: Oja's rule with y = 1 for each active memory, x = 1 from its partners and x = 0
    from inactive memories.

    source, target, edge     (p,)  pairs, each in both directions: rows, and the edge from source to
                                   target
    eta, ltp                 ()    learning rate, factor on growth
    modifiability            (n,)  factor on growth of the edges to a memory
    start, degree, pool            out-edges of node v: pool[start[v]:start[v] + degree[v]]
    leads_to                 (m,)  target of each edge
    occasions                (n,)  of each memory; written
    weight, seen             (m,)  w, and the number of occasions of the target that it includes;
                                   written

    Synapses between active memories that are not paired on this occasion neither grow nor decay.
    Weights are clipped to [0, 1], which they can leave only where growth is negative or above 1.
    Cost: O(p^2) for p partners with 32 associations each.
    """
    for i in range(edge.shape[0]):
        weight[edge[i]] = current(weight[edge[i]], occasions[target[i]] - seen[edge[i]], eta)
        seen[edge[i]] = occasions[target[i]]
    for i in range(target.shape[0]):
        v, first = target[i], True
        for k in range(i):
            first = first and target[k] != v
        if first:
            occasions[v] += 1
            for place in range(start[v], start[v] + degree[v]):
                e = pool[place]
                for k in range(source.shape[0]):
                    if source[k] == leads_to[e]:
                        seen[e] += 1
                        break
    for i in range(edge.shape[0]):
        w = oja(weight[edge[i]], 1.0, 1.0, eta, ltp * modifiability[target[i]])
        weight[edge[i]], seen[edge[i]] = min(max(w, 0.0), 1.0), occasions[target[i]]


@kernel
def occur(
    times: int,
    source: Any,
    target: Any,
    edge: Any,
    eta: float,
    ltp: float,
    modifiability: Any,
    start: Any,
    degree: Any,
    pool: Any,
    leads_to: Any,
    occasions: Any,
    weight: Any,
    seen: Any,
) -> None:
    """`times` occasions in order; pair i belongs to occasion i mod `times`.  Others as for
    `occasion`.  Cost: that of each.
    """
    for i in range(times):
        occasion(
            source[i::times],
            target[i::times],
            edge[i::times],
            eta,
            ltp,
            modifiability,
            start,
            degree,
            pool,
            leads_to,
            occasions,
            weight,
            seen,
        )


@kernel
def pass_on(
    rows: Any,
    match: Any,
    release: Any,
    resources: Any,
    eta: float,
    start: Any,
    degree: Any,
    pool: Any,
    leads_to: Any,
    occasions: Any,
    weight: Any,
    seen: Any,
    out: Any,
) -> None:
    """out_j = sum_i match_i release_i resources_i w_ij over some memories i.  Cost: O(their edges).

    rows                      (q,)      memories i; those without a positive match pass nothing on
    match                     (n,)  sd  match with the query, or activity, see
                                        `shared.coactivation.sources`
    release, resources        (n,)      factors on the match they pass on
    out                       (n,)  sd  NaN before, and where nothing arrives; written
    Others as for `occasion`.
    """
    for v in rows:
        sent = match[v] * release[v] * resources[v]
        if sent > 0.0:
            for place in range(start[v], start[v] + degree[v]):
                e = pool[place]
                j = leads_to[e]
                if j >= 0 and weight[e] > 0.0:
                    arrives = sent * current(weight[e], occasions[j] - seen[e], eta)
                    out[j] = arrives if np.isnan(out[j]) else out[j] + arrives


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class HebbianAssociationParams(Params):
    eta: float
    seeds: int  # best matches that pass activation on
    present: float  # activity of the memories used last in the session, together
    weight: float


class HebbianAssociation(Mechanism[HebbianAssociationParams]):
    """Strengthens associations between memories active together; retrieves the associates of the
    best matches and of what was used last.
    """

    owns = (HEBBIAN_WEIGHT, HEBBIAN_SEEN, HEBBIAN_OCCASIONS, ASSOCIATED)

    def _learn(self, view: Any, times: int) -> None:
        pairs, edges = view.coactivation, view.graph.csr(EdgeType.COACCESS)
        if times:
            occur(
                times,
                pairs.source,
                pairs.target,
                pairs.edge,
                self.params.eta,
                view.ltp,
                view.modifiability,
                edges.start,
                edges.degree,
                edges.pool,
                view.graph.target,
                view.hebbian_occasions,
                view.hebbian_weight,
                view.hebbian_seen,
            )

    @hook(
        Phase.ENCODE,
        reads=(ROW, COACTIVATION, GRAPH, LTP, MODIFIABILITY),
        adds=(),
        sets=(HEBBIAN_WEIGHT, HEBBIAN_SEEN, HEBBIAN_OCCASIONS),
    )
    def encode(self, view: Any, incoming: Incoming) -> None:
        """The event and all memories in working memory form one occasion."""
        self._learn(view, min(len(view.coactivation.edge), 1))
        edges = view.graph.csr(EdgeType.COACCESS)
        view.wrote(HEBBIAN_OCCASIONS, view.coactivation.target)
        view.wrote(
            HEBBIAN_SEEN,
            between(
                view.coactivation.source, edges.start, edges.degree, edges.pool, view.graph.target
            ),
        )

    @hook(
        Phase.CONSOLIDATE,
        reads=(COACTIVATION, GRAPH, LTP, MODIFIABILITY),
        adds=(),
        sets=(HEBBIAN_WEIGHT, HEBBIAN_SEEN, HEBBIAN_OCCASIONS),
    )
    def replay(self, view: Any, tick: Tick) -> None:
        """Each replayed step is an occasion, in both directions."""
        self._learn(view, len(view.coactivation.edge) // 2)

    @hook(
        Phase.RETRIEVE,
        reads=(RECALLED, COACTIVATION, GRAPH, LTP, MODIFIABILITY),
        adds=(),
        sets=(HEBBIAN_WEIGHT, HEBBIAN_SEEN, HEBBIAN_OCCASIONS),
    )
    def on_recall(self, view: Any, cue: Cue) -> None:
        """The best memories of the answer form one occasion."""
        self._learn(view, min(len(view.coactivation.edge), 1))

    @hook(Phase.RETRIEVE, reads=(GRAPH, MATCH, VISIBLE, USED.before, USED_TIME.before,
                                 RELEASE_PROBABILITY, RESOURCES, HEBBIAN_WEIGHT,
                                 HEBBIAN_SEEN, HEBBIAN_OCCASIONS), adds=(), sets=(ASSOCIATED,))  # fmt: skip
    def associate(self, view: Any, cue: Cue) -> None:
        """Only memories with an activity above 0, the mean of the match, pass it on."""
        p, edges = self.params, view.graph.csr(EdgeType.COACCESS)
        rows, activity = sources(
            view.match,
            view.visible,
            used_last(cue, view.used, view.used_time, view.visible),
            p.seeds,
            p.present,
        )
        pass_on(
            rows,
            activity,
            view.release_probability,
            view.resources,
            p.eta,
            edges.start,
            edges.degree,
            edges.pool,
            view.graph.target,
            view.hebbian_occasions,
            view.hebbian_weight,
            view.hebbian_seen,
            view.associated,
        )
