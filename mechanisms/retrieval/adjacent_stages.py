"""adjacent_stages: a source of contexts, memories of other stages that share entities with what is
offered of the current one.

A random walk starts at the entities of the memories in FOCUS, in proportion to node specificity, 1
/ (memories that mention the entity), and goes from entities to memories and back, with restart
(HippoRAG, Jiménez Gutiérrez et al. 2024).  Memories of other stages are offered level by level:
those among the best matches that hold 512 tokens, then those among the best matches that hold twice
as many, and so on.  Of each level those with a mass of their entities come first, by mass; of equal
mass the better match comes first.  The others follow by rank.  The order is one for all budgets; a
budget says only how many are offered.  If nothing is in FOCUS, the walk starts at the entities of
the query and no stage is left out.

It runs only when a context is asked for.  Cost: the walk, at most 1 / (epsilon (1 - sqrt d)) links,
and O(n log n).  The last walks are kept with the memory as long as the graph stays as it is, so
that the same stage, asked about again, costs no walk.
"""

from __future__ import annotations

import math
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase, Structure
from ...engine.contract.drafts import Kind
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    BUDGET,
    FOCUS,
    GRAPH,
    KIND,
    OFFERED,
    OFFERS,
    RELEASED,
    SESSION,
    STAGE,
    TEXTS,
)
from ...engine.state.graph import EdgeType, Links, entity_node
from ...engine.state.ranking import best
from ..shared.offering import BEYOND, MOST, levels, on_scale, sizes, within
from ..shared.stages import stages_of
from ..shared.walks import MOST_ROUNDS, passages, specificity, walk

SECTION: Final = "Related Prior Context"
KEPT: Final = 16  # walks of one state of the graph


# --- equations ------------------------------------------------------------------------------------
def masses(
    graph: Any, n: int, seeds: Sequence[int], d: float, epsilon: float
) -> NDArray[np.float64]:
    """The mass of each memory, (n,): sum of pi over its entities, in a walk from some entity nodes
    by specificity; NaN where no entity was reached.

    seeds    nodes below 0, each once; those without links are left out
    d        probability of a step from entity to entity; each of its two links has sqrt(d)
    epsilon  as in `shared.walks.walk`
    """
    links: Links = graph.links(EdgeType.ENTITY)
    mass = np.full(n, np.nan)
    nodes = np.array([v for v in seeds if links.degree[v] > 0], dtype=np.int64)
    if nodes.size:
        share = np.array([specificity(float(links.degree[v])) for v in nodes])
        rank = np.zeros(links.start.shape[0])
        walk(nodes, share / share.sum(), *links, math.sqrt(d), epsilon, MOST_ROUNDS, rank)
        passages(rank, graph.n_entities, *links, mass)
    return mass


def by_mass(mass: Any, level: Any) -> NDArray[np.int64]:
    """Places of some best matches, best first, level by level, of each level by mass, then by
    place; those without a mass last.  O(k log k).

    mass   (k,)  NaN: none
    level  (k,)  ascending

    >>> by_mass(np.array([0.2, np.nan, 0.5, 0.2, 0.9]), np.array([0, 0, 0, 0, 1])).tolist()
    [2, 0, 3, 1, 4]
    """
    order: NDArray[np.int64] = np.lexsort((-np.asarray(mass), level))
    return order


def allocated(view: Any) -> Any:
    """The array that owns the memory of a view, however often it was viewed.

    >>> whole = np.zeros(4)
    >>> allocated(np.asarray(memoryview(whole[:2]))[:1]) is whole
    True
    """
    owner = of = view
    while of is not None:
        owner = of if isinstance(of, np.ndarray) else owner
        of = of.obj if isinstance(of, memoryview) else getattr(of, "base", None)
    return owner


class Walks:
    """The masses of the last walks, as long as the graph stays as it is.

    A state of a graph is its array of targets, how many edges were ever added and how many are
    alive: both numbers change with every edge that comes or goes, and only grow or fall.
    """

    def __init__(self) -> None:
        self._targets: Callable[[], Any] = lambda: None
        self._state: tuple[int, ...] = ()
        self._kept: OrderedDict[
            tuple[float, ...], tuple[NDArray[np.int64], NDArray[np.float64]]
        ] = OrderedDict()

    def forget(self) -> None:
        """Drop all walks.  The engine calls it when memories are erased."""
        self._kept.clear()

    def masses(
        self, graph: Any, n: int, walk: Sequence[float], made: Callable[[], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """What `made` returns for a walk, its seeds and parameters, an array of its own, (n,).
        O(n + edges) if it is kept.
        """
        targets = allocated(graph.target)
        state = n, len(graph.target), int(np.count_nonzero(graph.alive))
        if self._targets() is not targets or state != self._state:
            self.forget()
            self._targets, self._state = weakref.ref(targets), state
        key = tuple(walk)
        if key not in self._kept:
            values = made()
            rows = np.flatnonzero(~np.isnan(values))
            self._kept[key] = rows, values[rows]
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return values
        self._kept.move_to_end(key)
        mass = np.full(n, np.nan)
        rows, values = self._kept[key]
        mass[rows] = values
        return mass


WALKS: Final = Structure(
    "walks",
    "the masses of the last walks from entities, derived from the graph",
    ("masses",),
    persists=False,
    phases=(Phase.RETRIEVE,),
    create=Walks,
    partial=lambda _, __: Walks(),
)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class AdjacentStagesParams(Params):
    share: float  # percent of the budget
    damping: float  # d, per step from entity to entity
    epsilon: float


class AdjacentStages(Mechanism[AdjacentStagesParams]):
    """Offers memories of other stages, linked to the current one by entities."""

    owns = (WALKS,)

    @hook(
        Phase.RETRIEVE,
        reads=(BUDGET, FOCUS, RELEASED, ANSWERABLE, KIND, STAGE, SESSION, GRAPH, TEXTS, WALKS),
        adds=(OFFERS, OFFERED),
        sets=(),
    )
    def offer(self, view: Any, cue: Cue) -> None:
        p, graph = self.params, view.graph
        stages, focus = (
            stages_of(view.kind, view.stage, view.session),
            np.flatnonzero(view.focus > 0.0),
        )
        if focus.size:
            seeds = dict.fromkeys(
                int(v)
                for row in focus.tolist()
                for v in graph.target[graph.neighbours(row, EdgeType.ENTITY)]
            )
        else:
            seeds = dict.fromkeys(
                entity_node(e)
                for name in cue.features.entities
                if (e := graph.entity_id(name)) is not None
            )
        mass = view.walks.masses(
            graph,
            len(stages),
            (p.damping, p.epsilon, *seeds),
            lambda: masses(graph, len(stages), list(seeds), p.damping, p.epsilon),
        )
        matches = best(view.released, view.answerable & (view.kind != Kind.SUMMARY), MOST)
        tokens = sizes(view.texts, matches)
        other = ~np.isin(stages[matches], np.unique(stages[focus]))
        rows, level, tokens = matches[other], levels(tokens)[other], tokens[other]
        order = by_mass(mass[rows], level)
        rows, level, tokens = rows[order], level[order], tokens[order]
        view.offered[rows[(level == 0) & ~np.isnan(mass[rows])]] += 1
        relevance = np.empty(len(stages))
        on_scale(view.released, view.answerable, relevance)
        for row in rows[: within(tokens, BEYOND * view.budget) + 1].tolist():
            view.offers.add(row, SECTION, float(relevance[row]))
