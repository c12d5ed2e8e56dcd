"""Evidence for successor_representation_printed: the counts of Cortex 4.3.3, and the checks of
the papers' form applied to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.records import Query
from ...engine.contract.vocabulary import MATCH
from ...engine.state.graph import EdgeType, Graph
from ..checks import adaptation, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from . import successor_representation as papers
from .shared.views import Instead


def as_learner(specimen: Any) -> SimpleNamespace:
    """The printed form under the names of the papers' form: a step from s to s' counts as their
    retrieval in one session.
    """

    def experience(
        graph: Graph, before: Sequence[int], after: Sequence[int], *_rates: float
    ) -> None:
        for s in before:
            for other in after:
                specimen.retrieved_together(graph, s, other)

    return SimpleNamespace(experience=experience, SUCCESSOR=specimen.COACCESS_COUNT)


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "SRP-1",
    source="Cortex 4.3.3: a count of 1 each time, in both directions, and 0 two steps away",
    figure="successor_chain",
    papers=("cortex2026",),
)
def counts_are_symmetric_and_reach_one_step(specimen: Any) -> Any:
    graph = papers.blank(as_learner(specimen))
    for _ in range(3):
        specimen.retrieved_together(graph, 0, 1)
    specimen.retrieved_together(graph, 1, 2)
    return papers.matrix(as_learner(specimen), graph, 3), np.array(
        [[0.0, 3.0, 0.0], [3.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    )


@adaptation("SRP-2", source="counts times an indicator of the best matches, in numpy")
def associates_are_summed_over_the_best_matches(specimen: Any) -> Any:
    graph, out = papers.blank(as_learner(specimen)), np.full(4, np.nan)
    for a, b in ((0, 1), (0, 2), (1, 2), (0, 1)):
        specimen.retrieved_together(graph, a, b)
    rows = np.array([0, 1])
    specimen.associates(
        rows,
        *graph.csr(EdgeType.COACCESS),
        graph.target,
        graph.column(specimen.COACCESS_COUNT.name),
        out,
    )
    return np.nan_to_num(out), papers.matrix(as_learner(specimen), graph, 4)[rows].sum(axis=0)


@adaptation(
    "SRP-3",
    source="Cortex 4.3.3, by hand: two memories retrieved in one session are linked, in one answer or in several; in another "
    "session, or without one, the answers stay apart",
    papers=("cortex2026",),
)
def memories_of_one_session_are_linked(specimen: Any) -> Any:
    memory = memory_of(specimen, "lexical_bm25")
    encode(
        memory, (0.0, "the kettle"), (1.0, "the harbour"), (2.0, "the garden"), (3.0, "the train")
    )
    for text, session in (("kettle", "S1"), ("harbour", "S1"), ("garden", "S2"), ("train", "")):
        memory.retrieve(Query(text, 3.0, session=session), 1, learn=True)
    graph = memory.assembly.graph
    links = {(int(s), int(t)): float(w) for s, t, w in zip(
        graph.source, graph.target, memory.column(specimen.COACCESS_COUNT), strict=True) if w > 0.0}  # fmt: skip
    return str(sorted(links.items())), str([((0, 1), 1.0), ((1, 0), 1.0)])


@adaptation(
    "SRP-4",
    source="Cortex 4.3.3, by hand: a count for each pair of an answer, and of its memories with others of earlier answers; "
    "a question without words matches nothing, and has no associates",
    papers=("cortex2026",),
)
def each_pair_of_memories_is_counted_once_for_an_answer(specimen: Any) -> Any:
    memory = memory_of(specimen, "lexical_bm25", partners=3)
    texts = ("a red kettle", "a red harbour", "a red and blue garden", "a blue train", "a train")
    encode(memory, *((float(hour), text) for hour, text in enumerate(texts)))
    counts, before = np.zeros((5, 5)), list[int]()
    for text, k in (("red", 3), ("blue", 2), ("train", 2)):
        now = memory.retrieve(Query(text, 4.0, session="S1"), k, learn=True).rows.tolist()
        pairs = [(a, b) for i, a in enumerate(now) for b in now[:i]]
        pairs += [(a, b) for a in now for b in dict.fromkeys(before) if b not in now]
        for a, b in pairs:
            counts[[a, b], [b, a]] += 1.0
        before += now
    memory.archive(0)
    memory.retrieve("red")
    match = np.where(np.arange(5) > 0, memory.column(MATCH), -np.inf)
    best = np.argsort(-match, kind="stable")[:3]
    weight, graph = memory.column(specimen.COACCESS_COUNT), memory.assembly.graph
    measured = np.zeros((5, 5))
    measured[graph.source, graph.target] = np.where(weight > 0.0, weight, 0.0)
    associates = np.nan_to_num(memory.column(specimen.COACCESSED))
    memory.retrieve(Query("", 4.0, session="S1"))
    given = int(np.count_nonzero(~np.isnan(memory.column(specimen.COACCESSED))))
    return [*measured.ravel(), *associates, given], [*counts.ravel(), *counts[best].sum(axis=0), 0]


# --- the papers' checks ---------------------------------------------------------------------------
ring = papers.a_ring_has_its_closed_form.of_variety(as_learner)
row_sums = papers.every_row_sums_to_the_horizon.of_variety(as_learner)
walks = papers.random_walks_have_the_resolvent_of_their_transitions.of_variety(as_learner)
line = papers.a_walk_on_a_line_has_the_rows_of_its_resolvent.of_variety(as_learner)
eigenvalues = papers.eigenvalues_follow_from_those_of_the_walk.of_variety(as_learner)
few_steps = papers.two_thousand_steps_leave_the_error_of_the_recursion.of_variety(as_learner)
many_steps = papers.five_thousand_steps_reach_the_closed_form.of_variety(as_learner)
rule = papers.learning_is_the_rule_step_by_step.of_variety(as_learner)
direction = papers.preceding_states_are_not_expected.of_variety(as_learner)
rewards = papers.new_rewards_are_valued_without_new_experience.of_variety(as_learner)
transitions = papers.new_transitions_change_values_only_after_they_are_experienced.of_variety(
    as_learner
)
no_future = papers.at_discount_zero_a_state_expects_itself_only.of_variety(as_learner)
far_horizon = papers.at_a_long_horizon_rows_are_the_stationary_distribution.of_variety(as_learner)


# --- figures --------------------------------------------------------------------------------------
chain_picture = papers.a_row_of_a_chain.of_variety(
    "The printed counts on a walk in one direction: equal one step behind and one step ahead, 0 beyond, and growing with every walk",
    as_learner,
)


@figure(
    "successor_line",
    caption="Printed counts on a walk on a line of five states, scaled to the sum of the papers' row: neighbours only, "
    "never the state itself",
    source=f"{papers.DAYAN}; the resolvent at gamma = 0.9",
)
def rows_of_a_line(specimen: Any) -> Picture:
    states, m = np.arange(5), papers.learnt(as_learner(specimen), papers.LINE, 0.9, 50)
    middle, end = (10.0 * m[s] / max(m[s].sum(), 1.0) for s in (2, 0))
    return Picture(
        "state",
        "expected visits",
        (
            Curve("from the middle", states, middle),
            Curve("from the end", states, end),
            dots("resolvent, middle", states, [1.065789, 2.368421, 3.131579, 2.368421, 1.065789]),
            dots("resolvent, end", states, [2.406126, 3.124724, 2.131579, 1.612119, 0.725453]),
        ),
    )


@mutant("counted in one direction in place of both", rejected_by="SRP-1")
def directed(specimen: Any) -> Any:
    def forward(graph: Graph, a: int, b: int, now: float = 0.0) -> None:
        edge = graph.add(a, b, EdgeType.COACCESS, now)
        graph.column(specimen.COACCESS_COUNT.name)[edge] += 1.0

    return specimen.replacing("retrieved_together", forward)


@mutant("answers of one session stay apart", rejected_by="SRP-3")
def apart(specimen: Any) -> Any:
    return specimen.replacing("session_key", lambda session: -1)


@mutant("all questions without a session are of one", rejected_by="SRP-3")
def together(specimen: Any) -> Any:
    return specimen.replacing("session_key", lambda session: 0)


@mutant("a memory of two answers is counted with what both hold", rejected_by="SRP-4")
def with_both(specimen: Any) -> Any:
    def count(self: Any, view: Any, cue: Any) -> None:
        specimen.SuccessorRepresentationPrinted.count(self, view, cue)
        rows = view.recalled.tolist()
        for a in np.intersect1d(view.used[:, 0], rows).tolist():
            for b in rows:
                if b != a:
                    specimen.retrieved_together(view.graph, a, b, view.now)

    return specimen.overriding("SuccessorRepresentationPrinted", count=count)


@mutant("a question that matches nothing has associates, too", rejected_by="SRP-4")
def of_nothing(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        above = Instead(view, match=view.match - np.min(view.match) + 1.0)
        specimen.SuccessorRepresentationPrinted.score(self, above, cue)

    return specimen.overriding("SuccessorRepresentationPrinted", score=score)
