"""Typed relations: reads from each event what it tells of two entities, and hands what holds to the
mechanisms that walk from entity to entity.

Cortex keeps "relationships (weighted, typed edges forming the knowledge graph)" and walks along
them in replay (3.4, 4.2.2); the Context Assembly Specification lists them under "Relationships".
Neither prints how they are found.  Here a table of rules does: verbs and copulas such as lives in,
works at, married to, owns, fixed by, depends on, prefers, and causes (because, so, after).  The
weight of a relation is the number of memories that tell it, and it dates from the first of them.  A
later telling of a kind that has one value ends the earlier one, and so does "no longer".

Entities get a type from their names, such as a path or a company's ending, and from the relations
that they stand in: who lives in something is a person, and what somebody lives in a place.

With `model` a language model extracts triples of the texts in sleep (HippoRAG), if there is one;
their names become entities of the memory, any kind of relation has any number of targets, and
without `rules` they are all that is read.

The table follows from the texts and the triples: nothing else is saved, and what was erased is in
it no more.

Cost: about 0.2 ms for each event that was not read yet; O(r log r) for r tellings once one is new.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Mechanism, Params, Tick, at_rest, hook
from ...engine.contract.vocabulary import (
    CREATED,
    GRAPH,
    KIND,
    LANGUAGE_MODEL,
    NOW,
    SPEAKER,
    TEXTS,
    WRITINGS,
)
from ...engine.contract.writings import Writing
from ...engine.state.graph import EdgeType, entity_node
from ..shared.facts import messages
from ..shared.relations import KINDS, RELATIONS, EntityRelation, Telling, held, relations_of
from ..shared.triples_model import read_triple, triples_of, triples_request, written_triple

__all__ = [
    "KINDS",
    "EntityRelation",
    "TypedRelations",
    "TypedRelationsParams",
    "held",
    "relations_of",
]


# --- columns --------------------------------------------------------------------------------------
TRIPLES_UNTIL = Column(
    "triples_until",
    np.int64,
    Scope.GLOBAL,
    "rows",
    0,
    "rows of whose texts a language model was asked for triples",
    low=0,
)
TRIPLE: Final = "triple"  # kind of a writing


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TypedRelationsParams(Params):
    rules: bool  # whether texts are read by rules
    model: bool  # whether a language model extracts triples, if there is one


class TypedRelations(Mechanism[TypedRelationsParams]):
    """Reads relations for questions, and for sleep."""

    owns = (TRIPLES_UNTIL,)

    @hook(
        Phase.CONSOLIDATE,
        reads=(NOW, LANGUAGE_MODEL, KIND, TEXTS, SPEAKER, TRIPLES_UNTIL.before),
        adds=(WRITINGS, GRAPH),
        sets=(TRIPLES_UNTIL,),
    )
    def extract(self, view: Any, tick: Tick) -> None:
        """Ask for the triples of new events, write them, and link the events to their names."""
        if not self.params.model:
            return
        first, view.triples_until = int(view.triples_until), len(view.kind)
        told = list(messages(view.texts, view.speaker, view.kind, first))
        replies = view.language_model.ask([triples_request(name, text) for _, name, text in told])
        for (row, _, _), reply in zip(told, replies, strict=True):
            for triple in triples_of(reply):
                view.writings.add(written_triple(triple), TRIPLE, self.id, (row,))
                for name in (triple[0], triple[2]):
                    node = entity_node(view.graph.entity(name))
                    if node not in view.graph.target[view.graph.neighbours(row, EdgeType.ENTITY)]:
                        view.graph.add(row, node, EdgeType.ENTITY, view.now)
                        view.graph.add(node, row, EdgeType.ENTITY, view.now)

    @hook(
        Phase.RETRIEVE, reads=(TEXTS, SPEAKER, CREATED, KIND, WRITINGS), adds=(), sets=(RELATIONS,)
    )
    def tell(self, view: Any, cue: Cue) -> None:
        self._read(view)

    @hook(
        Phase.CONSOLIDATE,
        reads=(TEXTS, SPEAKER, CREATED, KIND, WRITINGS.before),
        adds=(),
        sets=(RELATIONS,),
    )
    def recall(self, view: Any, tick: Tick) -> None:
        """For other mechanisms of this sleep, with the triples of former ones."""
        self._read(view)

    def _read(self, view: Any) -> None:
        def telling(writing: Writing) -> Telling | None:
            triple = read_triple(writing.text) if writing.maker == self.id else None
            if triple is None:
                return None
            row = writing.sources[0]
            return float(view.created[row]), row, EntityRelation(*triple)

        view.relations.read(
            view.texts,
            view.speaker,
            view.created,
            view.kind,
            view.writings if self.params.model else (),
            telling,
            rules=self.params.rules,
        )

    @at_rest(reads=(TRIPLES_UNTIL, KIND))
    def known(self, view: Any, tick: Tick) -> bool:
        """The table follows from the texts and from the triples of all events that were asked for;
        time does not change it.
        """
        return not self.params.model or int(view.triples_until) == len(view.kind)
