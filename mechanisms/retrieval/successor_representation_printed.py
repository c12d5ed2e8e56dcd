"""Successor representation as Cortex 4.3.3 prints it: memories that are retrieved together gain an edge, one count each time.

"Over time, this approximates the successor representation": the count is the same both ways, sums over all time without discount or
normalisation, and reaches one step.

Acts on: the COACCESSED signal, counts beside the best matches.  Cost: O(p^2) per query that may change memory, for p partners; O(n + p fans) per
query.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.columns import Column, Facet, Phase, Scope, signal
from ...engine.contract import Cue, Mechanism, Params, hook
from ...engine.numerics import kernel
from ...engine.ranking import best
from ...engine.storage.graph import EdgeType
from ...engine.vocabulary import GRAPH, MATCH, NOW, RECALLED, VISIBLE

# --- columns -----------------------------------------------------------------------------------------------------------------
COACCESS_COUNT = Column("coaccess_count", np.float64, Scope.EDGE, "times", 0.0, "how often two memories were retrieved together", low=0)
COACCESSED = signal("coaccessed", Facet.ASSOCIATION, "times retrieved together with the best matches", unit="times", direct=False)


# --- equations ---------------------------------------------------------------------------------------------------------------
def retrieved_together(graph: Any, a: int, b: int, now: float = 0.0) -> None:
    """w_ab += 1 and w_ba += 1.  Cortex 4.3.3, to the letter.  Cost: O(1).

    a, b  nodes
    now   h, for new edges
    """
    for source, target in ((a, b), (b, a)):
        edge = graph.add(source, target, EdgeType.COACCESS, now)
        graph.column(COACCESS_COUNT.name)[edge] += 1.0


@kernel
def associates(rows: Any, start: Any, degree: Any, pool: Any, target: Any, count: Any, out: Any) -> None:
    """out_j = sum_i w_ij over some memories i.  Cost: O(their edges).

    rows                 (q,)          memories i
    start, degree, pool                edges of node v: pool[start[v]:start[v] + degree[v]]
    target, count        (m,)   times  where an edge leads, and w_ij
    out                  (n,)   times  NaN before, and where nothing arrives; written
    """
    for v in rows:
        for place in range(start[v], start[v] + degree[v]):
            j, w = target[pool[place]], count[pool[place]]
            if j >= 0 and w > 0.0:
                out[j] = w if np.isnan(out[j]) else out[j] + w


# --- plug-in -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SuccessorRepresentationPrintedParams(Params):
    partners: int           # p
    weight: float


class SuccessorRepresentationPrinted(Mechanism[SuccessorRepresentationPrintedParams]):
    owns = (COACCESS_COUNT, COACCESSED)

    @hook(Phase.RETRIEVE, reads=(GRAPH, COACCESS_COUNT, MATCH, VISIBLE), adds=(), sets=(COACCESSED,))
    def navigate(self, view: Any, cue: Cue) -> None:
        """Silent where nothing stands out of the match, which is 0 on average."""
        rows = best(view.match, view.visible, self.params.partners)
        if rows.size and view.match[rows[0]] > 0.0:
            edges = view.graph.csr(EdgeType.COACCESS)
            associates(rows, edges.start, edges.degree, edges.pool, view.graph.target, view.coaccess_count, view.coaccessed)

    @hook(Phase.RETRIEVE, reads=(RECALLED, NOW), adds=(GRAPH,), sets=(COACCESS_COUNT,))
    def count(self, view: Any, cue: Cue) -> None:
        rows = view.recalled[: self.params.partners].tolist()
        for i, a in enumerate(rows):
            for b in rows[:i]:
                retrieved_together(view.graph, a, b, view.now)
