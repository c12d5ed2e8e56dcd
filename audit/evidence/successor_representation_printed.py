"""Evidence for successor_representation_printed: what Cortex 4.3.3 says it does, and the checks of the papers' form on the printed one."""
from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.storage.graph import EdgeType, Graph
from ..checks import Check, adaptation, mutant
from ..figures import Curve, Picture, dots, figure
from . import successor_representation as papers


def as_learner(specimen: Any) -> SimpleNamespace:
    """The printed form in the place of the papers': being in s and then in s' is taken for retrieving them in one session."""

    def experience(graph: Graph, before: Sequence[int], after: Sequence[int], *_rates: float) -> None:
        for s in before:
            for other in after:
                specimen.retrieved_together(graph, s, other)

    return SimpleNamespace(experience=experience, SUCCESSOR=specimen.COACCESS_COUNT)


def on_printed(check: Check) -> Check:
    """A check of the papers' M, asked of the printed counts."""

    @functools.wraps(check.function)
    def function(specimen: Any) -> Any:
        return check.function(as_learner(specimen))

    return replace(check, function=function)


# --- as printed --------------------------------------------------------------------------------------------------------------
@adaptation("SRP-1", source="Cortex 4.3.3: a count of 1 each time, both ways, and nothing two steps away", figure="successor_chain")
def counts_are_symmetric_and_reach_one_step(specimen: Any) -> Any:
    graph = papers.blank(as_learner(specimen))
    for _ in range(3):
        specimen.retrieved_together(graph, 0, 1)
    specimen.retrieved_together(graph, 1, 2)
    return papers.matrix(as_learner(specimen), graph, 3), np.array([[0.0, 3.0, 0.0], [3.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


@adaptation("SRP-2", source="counts times an indicator of the asked memories, in numpy")
def associates_are_summed_over_the_best_matches(specimen: Any) -> Any:
    graph, out = papers.blank(as_learner(specimen)), np.full(4, np.nan)
    for a, b in ((0, 1), (0, 2), (1, 2), (0, 1)):
        specimen.retrieved_together(graph, a, b)
    rows = np.array([0, 1])
    specimen.associates(rows, *graph.csr(EdgeType.COACCESS), graph.target, graph.column(specimen.COACCESS_COUNT.name), out)
    return np.nan_to_num(out), papers.matrix(as_learner(specimen), graph, 4)[rows].sum(axis=0)


# --- the papers' checks ------------------------------------------------------------------------------------------------------
ring = on_printed(papers.a_ring_has_its_closed_form)
row_sums = on_printed(papers.every_row_sums_to_the_horizon)
walks = on_printed(papers.random_walks_have_the_resolvent_of_their_transitions)
line = on_printed(papers.a_walk_on_a_line_has_the_rows_of_its_resolvent)
eigenvalues = on_printed(papers.eigenvalues_are_those_of_the_walk_discounted)
few_steps = on_printed(papers.two_thousand_steps_leave_the_error_of_the_recursion)
many_steps = on_printed(papers.five_thousand_steps_find_the_closed_form)
rule = on_printed(papers.learning_is_the_rule_step_by_step)
direction = on_printed(papers.what_comes_before_does_not_follow)
rewards = on_printed(papers.new_rewards_are_valued_without_new_experience)
transitions = on_printed(papers.new_transitions_are_valued_only_once_they_are_relived)
no_future = on_printed(papers.without_a_future_a_state_expects_itself)
far_horizon = on_printed(papers.at_a_far_horizon_rows_are_the_stationary_distribution)


# --- to be seen --------------------------------------------------------------------------------------------------------------
chain_picture = papers.a_row_of_a_chain.of_variety(
    "The printed counts on a walk that only goes forward: one step behind as many as one step ahead, none further, growing with every walk",
    as_learner)


@figure("successor_line", caption="Printed counts on a walk along a line of five, scaled to the sum of the papers' row: only next neighbours, and "
        "never the state itself", source=f"{papers.DAYAN}; the resolvent at gamma = 0.9")
def rows_of_a_line(specimen: Any) -> Picture:
    states, m = np.arange(5), papers.learnt(as_learner(specimen), papers.LINE, 0.9, 50)
    middle, end = (10.0 * m[s] / max(m[s].sum(), 1.0) for s in (2, 0))
    return Picture("state", "expected visits", (
        Curve("from the middle", states, middle), Curve("from the end", states, end),
        dots("resolvent, middle", states, [1.065789, 2.368421, 3.131579, 2.368421, 1.065789]),
        dots("resolvent, end", states, [2.406126, 3.124724, 2.131579, 1.612119, 0.725453])))


@mutant("counted one way only, which is not what is printed", rejected_by="SRP-1")
def directed(specimen: Any) -> Any:
    def forward(graph: Graph, a: int, b: int, now: float = 0.0) -> None:
        edge = graph.add(a, b, EdgeType.COACCESS, now)
        graph.column(specimen.COACCESS_COUNT.name)[edge] += 1.0

    return specimen.replacing("retrieved_together", forward)
