"""Successor representation as Cortex 4.3.3 prints it: counts how often two memories are retrieved
in the same session: in one answer, or in answers to questions of one session, of which the rows of
the latest uses are known.

The source says: "Over time, this approximates the successor representation".  But the count is
symmetric, a sum over all time without discount or normalisation, and covers one step only.

Cost: O(p^2) per query that may change memory, for p best memories; O(n + their
edges) per query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import GRAPH, MATCH, NOW, RECALLED, USED, VISIBLE
from ...engine.state.graph import EdgeType
from ...engine.state.ranking import best
from ...engine.steps.uses import session_key

# --- columns --------------------------------------------------------------------------------------
COACCESS_COUNT = Column(
    "coaccess_count",
    np.float64,
    Scope.EDGE,
    "times",
    0.0,
    "number of joint retrievals in one session",
    low=0,
)
COACCESSED = signal(
    "coaccessed",
    Facet.ASSOCIATION,
    "number of joint retrievals with the best matches",
    unit="times",
    direct=False,
)


# --- equations ------------------------------------------------------------------------------------
def retrieved_together(graph: Any, a: int, b: int, now: float = 0.0) -> None:
    """w_ab += 1 and w_ba += 1.  Cortex 4.3.3, exactly as printed.  Cost: O(1).

    a, b  nodes
    now   h, time of new edges
    """
    for source, target in ((a, b), (b, a)):
        edge = graph.add(source, target, EdgeType.COACCESS, now)
        graph.column(COACCESS_COUNT.name)[edge] += 1.0


@kernel
def associates(
    rows: Any, start: Any, degree: Any, pool: Any, target: Any, count: Any, out: Any
) -> None:
    """out_j = sum_i w_ij over the memories i in `rows`.  Cost: O(their edges).

    rows                 (q,)          memories i
    start, degree, pool                edges of node v: pool[start[v]:start[v] + degree[v]]
    target, count        (m,)   times  target of each edge, and w_ij
    out                  (n,)   times  written; NaN on entry, and stays NaN where nothing arrives
    """
    for v in rows:
        for place in range(start[v], start[v] + degree[v]):
            j, w = target[pool[place]], count[pool[place]]
            if j >= 0 and w > 0.0:
                out[j] = w if np.isnan(out[j]) else out[j] + w


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SuccessorRepresentationPrintedParams(Params):
    partners: int  # p, best memories of a query or an answer
    weight: float


class SuccessorRepresentationPrinted(Mechanism[SuccessorRepresentationPrintedParams]):
    owns = (COACCESS_COUNT, COACCESSED)

    @hook(
        Phase.RETRIEVE, reads=(GRAPH, COACCESS_COUNT, MATCH, VISIBLE), adds=(), sets=(COACCESSED,)
    )
    def score(self, view: Any, cue: Cue) -> None:
        """No score unless the best match is above 0, the mean of MATCH."""
        rows = best(view.match, view.visible, self.params.partners)
        if rows.size and view.match[rows[0]] > 0.0:
            edges = view.graph.csr(EdgeType.COACCESS)
            associates(
                rows,
                edges.start,
                edges.degree,
                edges.pool,
                view.graph.target,
                view.coaccess_count,
                view.coaccessed,
            )

    @hook(Phase.RETRIEVE, reads=(RECALLED, NOW, USED.before), adds=(GRAPH,), sets=(COACCESS_COUNT,))
    def count(self, view: Any, cue: Cue) -> None:
        """The memories of the answer with each other, and with those that the latest uses in the
        session of the query needed.
        """
        rows = view.recalled[: self.params.partners].tolist()
        key = session_key(cue.query.session)
        earlier = view.used[(view.used[:, 0] >= 0) & (view.used[:, 1] == key), 0]
        for b in dict.fromkeys(earlier.tolist()) if key >= 0 else ():
            for a in rows:
                if b not in rows:
                    retrieved_together(view.graph, a, b, view.now)
        for i, a in enumerate(rows):
            for b in rows[:i]:
                retrieved_together(view.graph, a, b, view.now)
