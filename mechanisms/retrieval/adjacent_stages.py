"""adjacent_stages: a source of contexts, memories of other stages that share entities with what is offered of the current one.

A random walk starts at the entities of the memories in FOCUS, in proportion to node specificity, 1 / (memories that mention the entity), and goes
from entities to memories and back, with restart (HippoRAG, Jiménez Gutiérrez et al. 2024).  A memory of another stage that is among the
best matches that would fill the budget is offered by the mass of its entities; of equal mass the better match comes first.  The other memories follow
by rank, for what is left over of the budget.  If nothing
is in FOCUS, the walk starts at the entities of the query and no stage is left out.

It runs only when a context is asked for.  Cost: the walk, at most 1 / (epsilon (1 - sqrt d)) links, and O(n log n).
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.columns import Phase
from ...engine.contract import Cue, Mechanism, Params, hook
from ...engine.drafts import Kind
from ...engine.ranking import best
from ...engine.storage.graph import EdgeType, entity_node
from ...engine.vocabulary import ANSWERABLE, BUDGET, FOCUS, GRAPH, KIND, OFFERED, OFFERS, RELEASED, SESSION, STAGE, TEXTS
from ..shared.offering import BEYOND, MOST, near, on_scale, sizes, within
from ..shared.stages import stages_of
from ..shared.walks import MOST_ROUNDS, passages, specificity, walk

SECTION: Final = "Related Prior Context"


# --- equations ----------------------------------------------------------------------------------------------------------------
def masses(graph: Any, n: int, seeds: Sequence[int], d: float, epsilon: float) -> NDArray[np.float64]:
    """The mass of each memory, (n,): sum of pi over its entities, in a walk from some entity nodes by specificity; NaN where no entity was reached.

    seeds    nodes below 0, each once; those without links are left out
    d        probability of a step from entity to entity; each of its two links has sqrt(d)
    epsilon  as in `shared.walks.walk`
    """
    links, mass = graph.csr(EdgeType.ENTITY), np.full(n, np.nan)
    nodes = np.array([v for v in seeds if links.degree[v] > 0], dtype=np.int64)
    if nodes.size:
        share = np.array([specificity(float(links.degree[v])) for v in nodes])
        network, rank = (links.start, links.degree, links.pool, graph.target), np.zeros(links.start.shape[0])
        walk(nodes, share / share.sum(), *network, math.sqrt(d), epsilon, MOST_ROUNDS, rank)
        passages(rank, graph.n_entities, *network, mass)
    return mass


def by_mass(mass: Any, scores: Any, among: Any, most: int) -> NDArray[np.int64]:
    """Rows with a mass by mass, of equal mass by score, then by row; at most `most`.  O(n log n).

    mass, scores  (n,)  NaN: none
    among         (n,)  bool

    >>> by_mass(np.array([0.2, np.nan, 0.5, 0.2]), np.array([1.0, 9.0, 0.0, 2.0]), np.ones(4, dtype=np.bool_), 3).tolist()
    [2, 3, 0]
    """
    rows = np.flatnonzero(np.asarray(among) & ~np.isnan(mass) & ~np.isnan(scores))
    return rows[np.lexsort((rows, -np.asarray(scores)[rows], -np.asarray(mass)[rows]))][:most]


# --- plug-in ------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class AdjacentStagesParams(Params):
    share: float                # percent of the budget
    damping: float              # d, per step from entity to entity
    epsilon: float


class AdjacentStages(Mechanism[AdjacentStagesParams]):
    """Offers memories of other stages, linked to the current one by entities."""

    @hook(Phase.RETRIEVE, reads=(BUDGET, FOCUS, RELEASED, ANSWERABLE, KIND, STAGE, SESSION, GRAPH, TEXTS), adds=(OFFERS, OFFERED), sets=())
    def offer(self, view: Any, cue: Cue) -> None:
        p, graph = self.params, view.graph
        stages, focus = stages_of(view.kind, view.stage, view.session), np.flatnonzero(view.focus > 0.0)
        if focus.size:
            seeds = dict.fromkeys(int(v) for row in focus.tolist() for v in graph.target[graph.neighbours(row, EdgeType.ENTITY)])
        else:
            seeds = dict.fromkeys(entity_node(e) for name in cue.features.entities if (e := graph.entity_id(name)) is not None)
        mass = masses(graph, len(stages), list(seeds), p.damping, p.epsilon)
        among = view.answerable & (view.kind != Kind.SUMMARY) & ~np.isin(stages, np.unique(stages[focus]))
        mass[~near(view.released, view.answerable & (view.kind != Kind.SUMMARY), view.texts, view.budget)] = np.nan
        linked = by_mass(mass, view.released, among, MOST)
        rows = np.concatenate((linked, best(view.released, among & np.isnan(mass), MOST - linked.size)))
        relevance = np.empty(len(stages))
        on_scale(view.released, view.answerable, relevance)
        room, tokens = view.budget * p.share / 100.0, sizes(view.texts, rows, view.budget)
        view.offered[linked[:within(tokens, room)]] += 1
        for row in rows[:within(tokens, max(float(view.budget), BEYOND * room)) + 1].tolist():
            view.offers.add(row, SECTION, float(relevance[row]))
