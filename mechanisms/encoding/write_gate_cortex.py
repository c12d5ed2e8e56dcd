"""Cortex's write gate: computes a weighted mean of four prediction errors and vetoes an event whose
error is not above a threshold.

Cortex 4.1.1 names four terms: embedding distance, entity overlap, hours since the session's last
memory, trigram similarity. Two of them are similarities and one is an unbounded time, so their sum
as printed is larger for a duplicate.  Here all four are errors in [0, 1], and all are 0 for a
duplicate.  The source prints neither weights nor threshold; they are engineering, as is the gate,
and no theory of predictive coding is claimed for it.

Cost: one exact search, O(n d); one pass over the sessions, O(n) at worst; O(length) for each of k
neighbours: 0.5 ms per event and 10 neighbours.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ARRIVED,
    GRAPH,
    INDEX,
    NOW,
    SESSION,
    TEXTS,
    THRESHOLD_SHIFT,
    VETO,
)
from ...engine.state.graph import EdgeType, entity_node
from ...engine.state.postings import trigrams_of
from ...engine.text.memo import remembered

# most characters compared per text; bounds the cost near very long memories
CHARACTERS: Final = 8_192

# --- columns --------------------------------------------------------------------------------------
CORTEX_ERRORS = Column(
    "cortex_errors",
    np.float64,
    Scope.EVENT,
    "1",
    np.nan,
    "errors d1..d4: meaning, entities, time, structure; NaN: not computed",
    (4,),
    low=0,
    high=1,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def embedding_error(cosine: float) -> float:
    """d1 = 1 - max cos, in [0, 1].  Cortex 4.1.1, term 1.  Cost: O(1).

    cosine  ()  1  cosine of the event and its nearest memory

    >>> round(embedding_error(0.75), 6), embedding_error(1.0000001), embedding_error(-0.5)
    (0.25, 0.0, 1.0)
    """
    return min(max(1.0 - cosine, 0.0), 1.0)


@kernel
def overlap_error(shared: int, mine: int, theirs: int) -> float:
    """1 - |A and B| / |A or B|, d2 for entities, d4 for trigrams.  Cortex 4.1.1, terms 2 and 4, as
    errors instead of similarities.  Cost: O(1).

    shared        ()  1  |A and B|
    mine, theirs  ()  1  |A|, |B|; the error of two empty sets is 0

    >>> overlap_error(1, 2, 2) == 1 - 1 / 3, overlap_error(0, 0, 0), overlap_error(0, 0, 3)
    (True, 0.0, 1.0)
    """
    union = mine + theirs - shared
    return 1.0 - shared / union if union > 0 else 0.0


@kernel
def time_error(elapsed: float, tau: float) -> float:
    """d3 = 1 - exp(-dt / tau).  Cortex 4.1.1, term 3, as an error instead of unbounded hours.
    Cost: O(1).

    elapsed  ()  h  since the last memory of the same session; infinite for a new session
    tau      ()  h  time constant of the error

    >>> time_error(0.0, 1.0), time_error(np.inf, 1.0)
    (0.0, 1.0)
    """
    return 1.0 - float(np.exp(-elapsed / tau))


@kernel
def prediction_error(d: Any, w: Any) -> float:
    """S = sum w_k d_k / sum w_k, in [0, 1].  Cortex 4.1.1, "weighted prediction error".  Cost:
    O(4).

    d  (4,)  1  errors
    w  (4,)  1  weights, not all 0

    >>> prediction_error(np.array([1.0, 0.0, 0.0, 0.5]), np.array([1.0, 1.0, 0.0, 2.0]))
    0.5
    """
    total, weight = 0.0, 0.0
    for k in range(d.shape[0]):
        total += w[k] * d[k]
        weight += w[k]
    return total / weight


@kernel
def admits(score: float, bar: float) -> bool:
    """S > threshold: the event is stored.  Cortex 4.1.1.  Cost: O(1).

    >>> admits(0.0, 0.0), admits(0.2, 0.1)
    (False, True)
    """
    return score > bar


@kernel
def last_of(session: Any, wanted: int) -> int:
    """Row of the session's last memory, -1 if it has none.  Cost: O(n) for a new session, O(1) for
    the current one.

    session  (n,)  1  session of every memory

    >>> last_of(np.array([0, 1, 1, 0, 2]), 1), last_of(np.array([0, 1]), 7)
    (2, -1)
    """
    for row in range(session.shape[0] - 1, -1, -1):
        if session[row] == wanted:
            return row
    return -1


def apart(mine: Set[Any], theirs: Set[Any]) -> float:
    """`overlap_error` of two sets.

    >>> apart({"ada", "bo"}, {"bo"})
    0.5
    """
    return float(overlap_error(len(mine & theirs), len(mine), len(theirs)))


@remembered
def _trigrams(text: str) -> frozenset[str]:
    return frozenset(trigrams_of(text))


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class WriteGateCortexParams(Params):
    embedding_weight: float
    entity_weight: float
    time_weight: float
    structure_weight: float
    threshold: float
    news_time: float  # tau
    neighbours: int


class WriteGateCortex(Mechanism[WriteGateCortexParams]):
    """Vetoes an event whose weighted error is not above the threshold."""

    owns = (CORTEX_ERRORS,)

    @hook(Phase.ENCODE, adds=(VETO,), sets=(CORTEX_ERRORS,), reads=(
        NOW, INDEX.before, TEXTS.before, GRAPH.before, SESSION.before, ARRIVED.before,
        THRESHOLD_SHIFT))  # fmt: skip
    def judge(self, view: Any, incoming: Incoming) -> None:
        p, d = self.params, view.cortex_errors
        rows, cosines = view.index.search(incoming.vector, p.neighbours)
        d[...] = 1.0
        if rows.size:
            near, graph = rows.tolist(), view.graph
            d[0] = embedding_error(float(cosines[0]))
            named = (graph.entity_id(name) for name in incoming.features.entities)
            entities = {
                name if e is None else entity_node(e)
                for e, name in zip(named, incoming.features.entities, strict=True)
            }
            d[1] = min(
                apart(entities, set(graph.target[graph.neighbours(row, EdgeType.ENTITY)].tolist()))
                for row in near
            )
            trigrams = _trigrams(incoming.event.text[:CHARACTERS])
            d[3] = min(apart(trigrams, _trigrams(view.texts[row][:CHARACTERS])) for row in near)
        last = last_of(view.session, incoming.session)
        if last >= 0:
            d[2] = time_error(view.now - view.arrived[last], self.hours("news_time"))
        score = prediction_error(
            d, np.array([p.embedding_weight, p.entity_weight, p.time_weight, p.structure_weight])
        )
        view.veto = int(not admits(score, p.threshold + view.threshold_shift))
