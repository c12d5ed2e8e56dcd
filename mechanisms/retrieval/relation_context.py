"""relation_context: a source of contexts, relations between entities, breadth first from those that
the query mentions.

Two entities are related by a RELATION edge, with weight 1, or by the number of memories that
mention both.  If the query mentions no entity, the search starts at those of the 3 best matches.
It goes 2 steps deep, shows each pair once, and scores it by weight / (1 + depth).  The Context
Assembly Specification says that the score depends on the depth and prints the weight alone, and it
returns a relation twice that lies between two entities of one depth.

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
    found: dict[tuple[int, int], tuple[float, int]] = {}
    seen, frontier = set(seeds), list(dict.fromkeys(seeds))
    for step in range(depth):
        ahead: list[int] = []
        for e in frontier:
            for other, weight in related(e).items():
                if (e, other) not in found and (other, e) not in found:
                    found[e, other] = weight, step
                if other not in seen:
                    seen.add(other)
                    ahead.append(other)
        frontier = ahead
    return found


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RelationContextParams(Params):
    share: float  # percent of the budget
    depth: int  # steps


class RelationContext(Mechanism[RelationContextParams]):
    """Offers a line for each relation."""

    @hook(Phase.RETRIEVE, reads=(BUDGET, GRAPH, ANSWERABLE, RELEASED), adds=(OFFERS,), sets=())
    def offer(self, view: Any, cue: Cue) -> None:
        graph = view.graph
        if view.budget == 0:
            return
        seeds = [
            -1 - e for name in cue.features.entities if (e := graph.entity_id(name)) is not None
        ]
        if not seeds:
            seeds = [
                v
                for row in best(view.released, view.answerable, START).tolist()
                for v in self._targets(view, row, EdgeType.ENTITY)
            ]
        pairs = breadth_first(seeds, lambda v: self._related(view, v), self.params.depth)
        scores = {pair: weighed(weight, float(depth)) for pair, (weight, depth) in pairs.items()}
        largest = max(scores.values(), default=1.0)
        for a, b in sorted(scores, key=lambda pair: -scores[pair]):
            weight, one, other = (
                pairs[a, b][0],
                graph.entity_name(-1 - a),
                graph.entity_name(-1 - b),
            )
            how = (
                f"mentioned together {int(weight)} times" if weight > 1.0 else "mentioned together"
            )
            how = "related" if b in self._targets(view, a, EdgeType.RELATION) else how
            view.offers.add(
                relation_line(one, how, other), SECTION, scores[a, b] / largest, (), kind="relation"
            )

    def _related(self, view: Any, v: int) -> dict[int, float]:
        """Entities that share memories with an entity, or are joined to it by a RELATION edge:
        the strongest, with weights.
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
        for w in self._targets(view, v, EdgeType.RELATION):
            if w < 0:
                number[w] = max(number[w], 1)
        return {
            w: float(weight)
            for w, weight in sorted(number.items(), key=lambda pair: (-pair[1], -pair[0]))[:FAN]
        }

    def _targets(self, view: Any, node: int, kind: EdgeType) -> list[int]:
        found: list[int] = np.asarray(view.graph.target)[view.graph.neighbours(node, kind)].tolist()
        return found
