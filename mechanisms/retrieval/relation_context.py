"""relation_context: a source of contexts, relations between entities, breadth first from those that
the query mentions.

Two entities are related by the number of memories that mention both and of those that tell a typed
relation of them, if the set has `typed_relations`; memories that may not be answered do not count.
A RELATION edge of another mechanism relates them, too, with weight 1.  A typed relation is shown in
place of "mentioned together".  If the query mentions no entity, the search starts at those of the 3
best matches.  It goes 2 steps deep, shows each pair once, and scores it by weight / (1 + depth).
The Context Assembly Specification says that the score depends on the depth and prints the weight
alone, and it returns a relation twice that lies between two entities of one depth.

It runs only when a context is asked for.  Cost: the memories of the entities reached, the latest 50
of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.context.kinds import relation_line
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import ANSWERABLE, BUDGET, GRAPH, OFFERS, RELEASED
from ...engine.state.graph import EdgeType
from ...engine.state.ranking import best
from ..shared.relations import RELATIONS, kind_named

SECTION: Final = "Relationships"
READ: Final = 50  # latest memories of an entity
FAN: Final = 12  # strongest relations of an entity
# best matches whose entities start the search, if the query mentions none
START: Final = 3


# --- equations ------------------------------------------------------------------------------------
@kernel
def weighed(weight: float, depth: float) -> float:
    """w / (1 + d).  Cost: O(1).

    >>> weighed(3.0, 0.0), weighed(3.0, 2.0)
    (3.0, 1.0)
    """
    return weight / (1.0 + depth)


def breadth_first(
    seeds: Sequence[int], related: Callable[[int], Mapping[int, float]], depth: int
) -> dict[tuple[int, int], tuple[float, int]]:
    """Pairs of entities -> weight and depth at which the pair is first met; each pair once,
    whatever its direction.

    related  of an entity: the others with weights
    depth    steps

    >>> links = {1: {2: 5.0}, 2: {1: 5.0, 3: 1.0}, 3: {2: 1.0, 4: 9.0}}
    >>> breadth_first([1], lambda e: links.get(e, {}), 2)
    {(1, 2): (5.0, 0), (2, 3): (1.0, 1)}
    """
    pairs: dict[tuple[int, int], tuple[float, int]] = {}
    seen, frontier = set(seeds), list(dict.fromkeys(seeds))
    for step in range(depth):
        ahead: list[int] = []
        for e in frontier:
            for other, weight in related(e).items():
                if (e, other) not in pairs and (other, e) not in pairs:
                    pairs[e, other] = weight, step
                if other not in seen:
                    seen.add(other)
                    ahead.append(other)
        frontier = ahead
    return pairs


class EntityNames:
    """Nodes of entities by name: those of the graph, and further ones for names that no text
    mentions, such as those of speakers.
    """

    def __init__(self, graph: Any) -> None:
        self._graph, self._further = graph, dict[str, int]()
        self._entities = int(graph.n_entities)

    def known(self, name: str) -> int | None:
        """The node of an entity of the graph; None if there is none."""
        entity = self._graph.entity_id(name)
        return None if entity is None else -1 - int(entity)

    def node(self, name: str) -> int:
        known = self.known(name)
        if known is not None:
            return known
        return self._further.setdefault(name, -1 - self._entities - len(self._further))

    def of(self, node: int) -> str:
        """The name of a node that `node` or the graph gave."""
        place = -1 - node
        if place < self._entities:
            return str(self._graph.entity_name(place))
        return list(self._further)[place - self._entities]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RelationContextParams(Params):
    share: float  # percent of the budget
    depth: int  # steps


class RelationContext(Mechanism[RelationContextParams]):
    """Offers a line for each relation."""

    @hook(
        Phase.RETRIEVE,
        reads=(BUDGET, GRAPH, RELATIONS, ANSWERABLE, RELEASED),
        adds=(OFFERS,),
        sets=(),
    )
    def offer(self, view: Any, cue: Cue) -> None:
        if view.budget == 0:
            return
        names = EntityNames(view.graph)
        seeds = [
            names.node(name)
            for name in cue.features.entities
            if names.known(name) is not None or view.relations.of(name, view.answerable)
        ]
        if not seeds:
            seeds = [
                v
                for row in best(view.released, view.answerable, START).tolist()
                for v in self._targets(view, row, EdgeType.ENTITY)
            ]
        pairs = breadth_first(seeds, lambda v: self._related(view, names, v), self.params.depth)
        scores = {pair: weighed(weight, float(depth)) for pair, (weight, depth) in pairs.items()}
        largest = max(scores.values(), default=1.0)
        for a, b in sorted(scores, key=lambda pair: -scores[pair]):
            for line in self._lines(view, names, a, b, pairs[a, b][0]):
                view.offers.add(line, SECTION, scores[a, b] / largest, (), kind="relation")

    def _lines(self, view: Any, names: EntityNames, a: int, b: int, weight: float) -> list[str]:
        """What is shown of a pair: its typed relations, each in its direction; without any, how
        often both are mentioned.
        """
        first, second = names.of(a), names.of(b)
        typed = dict.fromkeys(
            relation_line(r.source, r.kind, r.target)
            for r in view.relations.of(first, view.answerable)
            if second in (r.source, r.target)
            and not (kind_named(r.kind).both and r.target == first)
        )
        if typed:
            return list(typed)
        how = f"mentioned together {int(weight)} times" if weight > 1.0 else "mentioned together"
        how = "related" if b in self._targets(view, a, EdgeType.RELATION) else how
        return [relation_line(first, how, second)]

    def _related(self, view: Any, names: EntityNames, v: int) -> dict[int, float]:
        """Entities that share memories with an entity, are in a typed relation with it, or are
        joined to it by a RELATION edge: the strongest, with weights.
        """
        rows = [
            row
            for row in self._targets(view, v, EdgeType.ENTITY)
            if row >= 0 and view.answerable[row]
        ][-READ:]
        number = Counter(
            w
            for row in rows
            for w in dict.fromkeys(self._targets(view, row, EdgeType.ENTITY))
            if w != v
        )
        name = names.of(v)
        for relation in view.relations.of(name, view.answerable):
            if not (kind_named(relation.kind).both and relation.target == name):
                other = relation.target if relation.source == name else relation.source
                number[names.node(other)] += relation.weight
        for w in self._targets(view, v, EdgeType.RELATION):
            if w < 0:
                number[w] = max(number[w], 1)
        return {
            w: float(weight)
            for w, weight in sorted(number.items(), key=lambda pair: (-pair[1], -pair[0]))[:FAN]
        }

    def _targets(self, view: Any, node: int, kind: EdgeType) -> list[int]:
        if node < -view.graph.n_entities:
            return []  # a name that no text mentions: a speaker's
        targets: list[int] = np.asarray(view.graph.target)[
            view.graph.neighbours(node, kind)
        ].tolist()
        return targets
