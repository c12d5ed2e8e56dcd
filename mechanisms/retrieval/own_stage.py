"""own_stage: a source of contexts, what the current stage of the talk holds: the best matches,
chosen so that together they cover the most.

The current stage is that of the asker's session, at its latest event, else that of the best match
that is no summary.  Its memories are offered level by level: those among the best matches that hold
512 tokens, then those among the best matches that hold twice as many, and so on.  Of each level
that set comes first whose concepts weigh most under half of its tokens, beside those of the levels
before; the others follow by rank.  A concept is a stem or an entity, and weighs more the fewer
events hold it.  Greedy choice by gain and by gain per token is computed, and the better of the two
is taken, which reaches at least (1 - 1/e) / 2 of the best set.  If a session names the stage, the
best matches are those of the stage, else those of the whole memory.  The order is one for all
budgets; a budget says only how many levels are read.

It runs only when a context is asked for.  Cost: O(n) to find the stage, and about 0.05 ms for each
memory read, at most 400.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.context.coverage import Concepts, cover_within
from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Kind
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    ASKER_SESSION,
    BUDGET,
    FOCUS,
    GRAPH,
    KIND,
    LEXICON,
    OFFERED,
    OFFERS,
    RELEASED,
    SESSION,
    STAGE,
    TEXTS,
)
from ...engine.state.graph import EdgeType
from ...engine.state.ranking import best
from ...engine.text.features import terms_of
from ..shared.offering import BEYOND, MOST, levels, on_scale, sizes, within
from ..shared.stages import stages_of

SECTION: Final = "Current Stage Context"


# --- equations ------------------------------------------------------------------------------------
@kernel
def idf(held: float, n: float) -> float:
    """w = ln((n + 1) / (h + 1)), weight of a concept that h of n events hold.  Cost: O(1).

    >>> round(idf(0.0, 9.0), 6), idf(9.0, 9.0)
    (2.302585, 0.0)
    """
    return log((n + 1.0) / (held + 1.0))


def concepts_of(
    texts: Sequence[str], entities: Sequence[Sequence[str]], held: Any, n: int
) -> Concepts:
    """The concepts of memories: stems, and entities, which are marked with a `#`; weighed by `idf`.
    O(length).

    texts     of the memories
    entities  of each memory
    held      concept -> events that hold it
    n         events

    >>> concepts = concepts_of(["The boat leaks"], [["oslo"]], {"boat": 4, "leak": 0, "#oslo": 1}.get, 9)
    >>> concepts.weight.round(3).tolist()
    [0.693, 2.303, 1.609]
    """
    items = [
        [
            *dict.fromkeys(terms_of(text, stem=True, stop_words=True)),
            *(f"#{name}" for name in names),
        ]
        for text, names in zip(texts, entities, strict=True)
    ]
    return Concepts.of(
        items,
        {
            name: idf(float(min(held(name), n)), float(n))
            for name in dict.fromkeys(c for item in items for c in item)
        },
    )


def chosen(
    concepts: Concepts, tokens: NDArray[np.float64], room: float, given: Sequence[int] = ()
) -> NDArray[np.int64]:
    """The items, ascending, that together cover the most under so many tokens, beside items that
    are given.  Cost: as `cover_within`.
    """
    return np.sort(
        cover_within(concepts, tokens, room + float(tokens[list(given)].sum()), given=given)[
            len(given) :
        ]
    )


def by_level(
    concepts: Concepts, tokens: NDArray[np.float64], level: NDArray[np.int64]
) -> tuple[list[int], list[int]]:
    """Items, best first, level by level: the first one, of each level those that are `chosen` under
    half of its tokens, then its others; and those that are chosen.

    level  (k,)  of each item, ascending

    >>> some = Concepts.of([("a", "b"), ("a",), ("c",), ("a",), ("d",)], {})
    >>> by_level(some, np.full(5, 10.0), np.array([0, 0, 0, 1, 1]))
    ([0, 1, 2, 4, 3], [0, 4])
    """
    order, taken = list[int](), list[int]()
    for at_level in np.unique(level).tolist():
        start, end = np.searchsorted(level, [at_level, at_level + 1]).tolist()
        read = Concepts(
            concepts.start[: end + 1], concepts.concept[: concepts.start[end]], concepts.weight
        )
        best_one = [] if order else [0]
        room = float(tokens[start:end].sum()) / 2.0 - float(tokens[best_one].sum())
        some = best_one + chosen(read, tokens[:end], room, order + best_one).tolist()
        order += some + [place for place in range(start, end) if place not in some]
        taken += some
    return order, taken


def current_stage(stages: Any, session: Any, asker: int, scores: Any, answerable: Any) -> int:
    """Row of the first event of the current stage: of the latest row of the asker's session, else
    of the best match; -1 if nothing matches.

    stages   (n,)  as `stages_of` gives them
    session  (n,)
    asker    ()    session of the asker; -1: not given

    >>> stages, session, scores = np.array([0, 0, 2]), np.array([5, 5, 6]), np.array([0.1, 0.2, 0.9])
    >>> [current_stage(stages, session, asker, scores, np.ones(3, dtype=np.bool_)) for asker in (5, -1, 9)]
    [0, 2, 2]
    """
    if asker >= 0 and (own := np.flatnonzero((session == asker) & (stages >= 0))).size:
        return int(stages[own[-1]])
    top = best(scores, answerable & (stages >= 0), 1)
    return int(stages[top[0]]) if top.size else -1


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class OwnStageParams(Params):
    share: float  # percent of the budget


class OwnStage(Mechanism[OwnStageParams]):
    """Offers what covers the current stage best."""

    @hook(Phase.RETRIEVE, reads=(BUDGET, ASKER_SESSION, RELEASED, ANSWERABLE, KIND, STAGE, SESSION,
                                 TEXTS, LEXICON, GRAPH), adds=(OFFERS, OFFERED),
          sets=(FOCUS,))  # fmt: skip
    def offer(self, view: Any, cue: Cue) -> None:
        stages = stages_of(view.kind, view.stage, view.session)
        among = view.answerable & (view.kind != Kind.SUMMARY)
        stage = current_stage(stages, view.session, view.asker_session, view.released, among)
        if stage < 0:
            return
        relevance = np.empty(len(stages))
        on_scale(view.released, view.answerable, relevance)
        named = view.asker_session >= 0 and np.any(
            (view.session == view.asker_session) & (stages == stage)
        )
        matches = best(view.released, among & (stages == stage) if named else among, MOST)
        tokens, own = sizes(view.texts, matches), stages[matches] == stage
        rows, level, tokens = matches[own], levels(tokens)[own], tokens[own]
        if not rows.size:
            return
        last = min(within(tokens, BEYOND * view.budget), rows.size - 1)
        read = int(np.searchsorted(level, level[last], side="right"))
        order, taken = by_level(self._concepts(view, rows[:read]), tokens[:read], level[:read])
        first = rows[[place for place in taken if level[place] == level[0]]]
        view.focus[first] = 1.0
        view.offered[first] += 1
        for row in rows[order].tolist():
            view.offers.add(row, SECTION, float(relevance[row]))

    def _concepts(self, view: Any, rows: NDArray[np.int64]) -> Concepts:
        graph, lexicon = view.graph, view.lexicon
        degree, target = graph.csr(EdgeType.ENTITY).degree, graph.target
        number: dict[str, int] = {}
        entities = []
        for row in rows.tolist():
            nodes = target[graph.neighbours(row, EdgeType.ENTITY)].tolist()
            entities.append([graph.entity_name(-1 - node) for node in nodes])
            number.update(
                (f"#{name}", int(degree[node]))
                for name, node in zip(entities[-1], nodes, strict=True)
            )
        return concepts_of(
            [view.texts[row] for row in rows.tolist()],
            entities,
            lambda name: number[name] if name in number else lexicon.document_frequency(name),
            lexicon.n_counted,
        )
