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

The table follows from the texts: nothing is saved, and what was erased is in it no more.

Cost: about 0.2 ms for each event that was not read yet; O(r log r) for r tellings once one is new.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, Tick, at_rest, hook
from ...engine.contract.vocabulary import CREATED, KIND, SPEAKER, TEXTS
from ..shared.relations import KINDS, RELATIONS, EntityRelation, held, relations_of

__all__ = [
    "KINDS",
    "EntityRelation",
    "TypedRelations",
    "TypedRelationsParams",
    "held",
    "relations_of",
]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TypedRelationsParams(Params):
    pass


class TypedRelations(Mechanism[TypedRelationsParams]):
    """Reads relations for questions, and for sleep."""

    @hook(Phase.RETRIEVE, reads=(TEXTS, SPEAKER, CREATED, KIND), adds=(), sets=(RELATIONS,))
    def tell(self, view: Any, cue: Cue) -> None:
        view.relations.read(view.texts, view.speaker, view.created, view.kind)

    @hook(Phase.CONSOLIDATE, reads=(TEXTS, SPEAKER, CREATED, KIND), adds=(), sets=(RELATIONS,))
    def recall(self, view: Any, tick: Tick) -> None:
        view.relations.read(view.texts, view.speaker, view.created, view.kind)

    @at_rest(reads=())
    def known(self, view: Any, tick: Tick) -> bool:
        """The table follows from the texts; time does not change it."""
        return True
