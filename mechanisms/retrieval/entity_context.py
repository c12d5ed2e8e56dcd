"""entity_context: a source of contexts, what is known of entities: those that the query mentions,
then the most salient ones.

The salience of an entity is the summed importance of the memories that mention it, over the largest
of all.  An entity that the query mentions counts twice.  Its line has the number of its memories,
the last of them, and what they say of it: the latest fact of each predicate, by the table of facts.
With `typed_relations` in the set the line names its type, such as person or place.

It runs only when a context is asked for.  Cost: O(entity links), and about 0.2 ms for each memory
read, at most 5 for an entity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.context.kinds import entity_line
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    BUDGET,
    GRAPH,
    IMPORTANCE,
    OFFERS,
    SPEAKER,
    TEXTS,
)
from ...engine.state.graph import EdgeType, rows_of_entity
from ..shared.facts import FactStanding, facts_of, teller
from ..shared.relations import RELATIONS

SECTION: Final = "Known Entities"
ENTITY: Final = "entity"  # the kind of one whose type nothing tells
READ: Final = 5  # latest memories of an entity that are read for facts


# --- equations ------------------------------------------------------------------------------------
@kernel
def saliences(
    entities: int,
    start: Any,
    degree: Any,
    pool: Any,
    target: Any,
    importance: Any,
    answerable: Any,
    out: Any,
) -> None:
    """out_e = sum of importance over the answerable memories that mention e, over the largest such
    sum; 0 without any.  Cost: O(entity links).

    start, degree, pool  out-links of the nodes, v = -1 - e of an entity
    target               (m,)  of each link
    importance           (n,)
    answerable           (n,)  bool
    out                  (e,)  written
    """
    largest = 0.0
    for e in range(entities):
        out[e] = 0.0
        v = -1 - e
        for place in range(start[v], start[v] + degree[v]):
            row = target[pool[place]]
            if row >= 0 and answerable[row]:
                out[e] += importance[row]
        largest = max(largest, out[e])
    for e in range(entities):
        out[e] = out[e] / largest if largest > 0.0 else 0.0


def profile(name: str, told: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """What texts say of an entity: by predicate the value of the latest fact, in order of time.
    O(length).

    told  (speaker, text), the oldest first

    >>> profile("ada", [("Ada", "I live in Rome."), ("Bo", "Ada moved to Oslo.")])
    {'lives in': 'oslo'}
    """
    values: dict[str, str] = {}
    for speaker, text in told:
        for fact in facts_of(text, speaker):
            if fact.subject == name:
                values.pop(fact.predicate, None)
                if fact.standing is FactStanding.HOLDS and fact.value:
                    values[fact.predicate] = fact.value
    return {predicate.replace("_", " "): value for predicate, value in values.items()}


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class EntityContextParams(Params):
    share: float  # percent of the budget
    most: int  # salient entities, besides those mentioned
    mentioned: float  # factor on the salience of what the query mentions


class EntityContext(Mechanism[EntityContextParams]):
    """Offers a line for each entity."""

    @hook(
        Phase.RETRIEVE,
        reads=(BUDGET, GRAPH, RELATIONS, IMPORTANCE, ANSWERABLE, SPEAKER, TEXTS),
        adds=(OFFERS,),
        sets=(),
    )
    def offer(self, view: Any, cue: Cue) -> None:
        p, graph = self.params, view.graph
        if view.budget == 0 or not graph.n_entities:
            return
        links, salience = graph.csr(EdgeType.ENTITY), np.empty(graph.n_entities)
        saliences(
            graph.n_entities,
            links.start,
            links.degree,
            links.pool,
            graph.target,
            view.importance,
            view.answerable,
            salience,
        )
        named = [
            e
            for name in cue.features.entities
            if (e := graph.entity_id(name)) is not None and salience[e] > 0.0
        ]
        worth = salience.copy()
        worth[named] *= p.mentioned
        top = [int(e) for e in np.argsort(-salience, kind="stable")[: p.most] if salience[e] > 0.0]
        for e in sorted(dict.fromkeys([*named, *top]), key=lambda e: (-worth[e], e)):
            name, rows = graph.entity_name(e), self._rows(view, e)
            about = profile(
                name,
                [
                    (
                        teller(int(view.speaker[row]), view.texts[row], view.texts.rendered(row)),
                        view.texts[row],
                    )
                    for row in rows[-READ:].tolist()
                ],
            )
            type = view.relations.type_of(name, view.answerable) or ENTITY
            line = entity_line(type, name, {"memories": f"{rows.size}", **about})
            view.offers.add(
                line,
                SECTION,
                float(worth[e] / max(p.mentioned, 1.0)),
                (entity_line(type, name),),
                kind="entity",
            )

    def _rows(self, view: Any, e: int) -> NDArray[np.int64]:
        """Rows of the answerable memories that mention an entity, ascending."""
        rows = rows_of_entity(view.graph, e)
        return np.asarray(rows[view.answerable[rows]])
