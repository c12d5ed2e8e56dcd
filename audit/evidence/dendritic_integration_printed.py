"""Evidence for dendritic_integration_printed: the rule of Cortex 4.4.8, and the checks of the
paper's form run on it.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import expit

from ...engine.contract.records import Event
from ..checks import adaptation, at_most, mutant
from ..memory import memory_of
from . import dendritic_integration as papers
from .shared.views import Instead

CELL = (0.96, 1509.0, 0.26)


def as_cell(specimen: Any) -> SimpleNamespace:
    """The printed functions under the paper's names; the soma takes the sum over branches that
    the text prints.
    """

    def branch(n: float, dendrite: Any) -> float:
        return float(specimen.branch(n, 3.6, 2.0))

    def soma(x: float, cell: Any) -> float:
        return float(specimen.soma(x, *CELL))

    def output(n: Any, alpha: float, dendrite: Any, cell: Any) -> float:
        return soma(sum(alpha * branch(float(k), dendrite) for k in n if k), cell)

    return SimpleNamespace(branch=branch, soma=soma, output=output)


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "DIP-1",
    source="Cortex 4.4.8: 1 / (1 + exp(-(n - 3.6) / 2)); scipy's logistic function",
    atol=1e-12,
    papers=("cortex2026",),
)
def the_branch_is_the_printed_logistic(specimen: Any) -> Any:
    n = np.arange(16.0)
    return [specimen.branch(float(k), 3.6, 2.0) for k in n], expit((n - 3.6) / 2.0)


@adaptation("DIP-2", source="s <= 1 on one branch: g(1) = 0.00083 Hz; the half point of g is at 28")
def one_branch_hardly_drives_the_soma(specimen: Any) -> Any:
    return at_most(
        [specimen.soma(specimen.branch(n, 3.6, 2.0), *CELL) for n in (1.0, 4.0, 15.0, 1000.0)],
        0.001,
    )


@adaptation("DIP-3", source="intersection and union of sets")
def similarity_of_entities_is_jaccard(specimen: Any) -> Any:
    rng = np.random.default_rng(0)
    pairs = [
        (rng.permutation(8)[: rng.integers(0, 6)], rng.permutation(8)[: rng.integers(0, 6)])
        for _ in range(40)
    ]
    expected = [len({*a} & {*b}) / len({*a} | {*b}) if len({*a} | {*b}) else 0.0 for a, b in pairs]
    return [specimen.jaccard(a, b) for a, b in pairs], expected


@adaptation(
    "DIP-5",
    source="Cortex 4.4.8, by hand: of two memories with one entity, whose Jaccard index with two tags is 1/5 or 3/3, the "
    "latter alone is on its branch",
    papers=("cortex2026",),
)
def branches_are_alike_in_entities_and_tags(specimen: Any) -> Any:
    measured = []
    for tags in (("travel", "sea"), ("music", "choir")):
        memory = memory_of(specimen)
        for hour, (text, told) in enumerate(
            (("They say Ada sang.", ("music", "choir")), ("They say Ada left.", tags))
        ):
            attributes = tuple(("tags", tag) for tag in told)
            memory.encode(Event(float(hour), text, dated=False, attributes=attributes))
        measured.append(memory.column(specimen.BRANCH).tolist())
    return measured, [[0, 1], [0, 0]]


@adaptation(
    "DIP-9",
    source="Cortex 4.4.8, by hand: a branch with room for two takes the second memory, and the third begins another",
    papers=("cortex2026",),
)
def a_full_branch_takes_no_memory(specimen: Any) -> Any:
    memory = memory_of(specimen, room=2)
    for hour in range(4):
        memory.encode(
            Event(float(hour), "They say Ada sang.", dated=False, attributes=(("tags", "sea"),))
        )
    return memory.column(specimen.BRANCH), [0, 0, 2, 2]


@adaptation(
    "DIP-4",
    source="Cortex 4.4.8, g of the sum of the branches, shared by their currents, written out; scipy's logistic function",
    atol=1e-9,
    papers=("cortex2026",),
)
def memories_share_the_output_of_the_soma(specimen: Any) -> Any:
    """Branch 0 has 2 of 10 members active and is below its spike, branch 2 has 1 of 2."""
    on, match, out = (
        np.array([0, 0, 2, 0, 2, -1]),
        np.array([1.0, 2.0, 0.5, 0.0, 3.0, 9.0]),
        np.full(6, np.nan),
    )
    members, plasticity = np.array([10, 0, 2, 0, 0, 0]), np.array([0.8, 1.0, 0.5, 1.0, 1.0, 1.0])
    cell = np.array(CELL)
    specimen.integrate(
        np.array([5, 4, 1, 0]), match, on, members, plasticity, np.array([3.6, 2.0]),
        np.array([0.4, 0.7, 1.5]), cell, out,
    )  # fmt: skip
    x = expit((np.array([2.0, 1.0]) - 3.6) / 2.0) * [1.5, 3.0] * np.array([0.8, 0.5])
    x *= [2.0**-0.3, 1.0 + 0.5 * (0.5 - 0.4) / 0.6]
    y = 0.96 * x * expit(0.26 * x.sum() - np.log(1509.0))
    return np.nan_to_num(out), [y[0], y[0], y[1], y[0], y[1], 0.0]


@adaptation(
    "DIP-6",
    source="Cortex 4.4.8, in words: the sum of a branch grows more slowly than its inputs below the spike and faster above it",
    papers=("cortex2026",),
)
def a_branch_has_two_regimes(specimen: Any) -> Any:
    """Signs of the second differences of the summed input of a branch of ten; 0 where the spike begins, at the fourth."""
    n = np.arange(1.0, 11.0)
    summed = np.array([k * specimen.regime(k, 10.0, 0.4, 0.7, 1.5) for k in n])
    curved = np.sign(np.diff(summed, 2))
    return [*curved[:1], *curved[3:], summed[9]], [-1.0] + [1.0] * 5 + [15.0]


@adaptation("DIP-7", source="without a power law and a boost the sum is linear")
def without_regimes_nothing_is_changed(specimen: Any) -> Any:
    measured = [specimen.regime(k, 7.0, 0.4, 1.0, 1.0) for k in range(1, 8)]
    return measured, np.ones(7)


@adaptation(
    "DIP-8",
    source="Cortex 4.4.8, in words: plasticity is local to the branch; by hand: of ten memories in one branch and one in "
    "another the recalled share decides, 1/10 and 3/10 are LTD, 4/10 and 1/1 are LTP; one that is on no branch changes none",
    papers=("cortex2026",),
    atol=1e-12,
)
def plasticity_is_local_to_the_branch(specimen: Any) -> Any:
    measured = []
    recalled = (("Ada sang", 1), ("Bob left", 1), ("Ada sang", 3), ("Ada sang", 4), ("it rains", 1))
    for question, k in recalled:
        memory = memory_of(specimen, "lexical_bm25")
        for hour in range(10):
            memory.encode(Event(float(hour), "They say Ada sang.", dated=False))
        for text in ("it rains", "They say Bob left."):
            memory.encode(Event(10.0, text, dated=False))
        memory.retrieve(question, k=k, learn=True)
        measured.append(memory.column(specimen.BRANCH_PLASTICITY)[[0, 11]].tolist())
    down, up = 0.97 + 0.01 * (0.5 - 0.97), 1.0 + 0.01 * (0.5 - 1.0)
    return measured, [[down, 1.0], [1.0, up], [down, 1.0], [up, 1.0], [1.0, 1.0]]


# --- the paper's checks ---------------------------------------------------------------------------
values = papers.the_branch_has_the_published_values.of_variety(as_cell)
curve = papers.the_branch_is_a_step_on_a_parabola.of_variety(as_cell)
spike = papers.the_fourth_synapse_on_a_branch_triggers_the_spike.of_variety(as_cell)
soma_values = papers.the_soma_has_the_published_values.of_variety(as_cell)
half = papers.the_soma_is_at_half_its_asymptote_at_28.of_variety(as_cell)
proportional = papers.the_rate_grows_in_proportion_to_a_strong_current.of_variety(as_cell)
unbounded = papers.a_branch_never_saturates.of_variety(as_cell)
clustering = papers.clustering_helps_a_weak_input_and_harms_a_strong_one.of_variety(as_cell)
arrangement = papers.the_cell_fires_more_for_the_better_arrangement.of_variety(as_cell)
order = papers.output_does_not_depend_on_the_order_of_branches.of_variety(as_cell)
moved = papers.output_depends_on_the_distribution_over_branches.of_variety(as_cell)


# --- figures --------------------------------------------------------------------------------------
current = papers.current_over_synapses.of_variety(
    "The printed branch has no spike at the fourth synapse and ends at 1", as_cell
)
rates = papers.rate_over_current.of_variety(standing_in=as_cell)
arrangement_of_synapses = papers.current_over_arrangement.of_variety(
    "On printed branches a weak input gains almost nothing by sharing one; the paper's spike nearly doubles it",
    as_cell,
)


@mutant("the paper's slope instead of the printed one", rejected_by="DIP-1")
def papers_slope(specimen: Any) -> Any:
    return specimen.replacing("branch", lambda n, half, slope: float(expit((n - half) / 0.2)))


@mutant("the soma takes the count", rejected_by="DIP-2")
def count_to_soma(specimen: Any) -> Any:
    return specimen.replacing("branch", lambda n, half, slope: n)


@mutant("overlap over the smaller set", rejected_by="DIP-3")
def szymkiewicz_simpson(specimen: Any) -> Any:
    return specimen.replacing(
        "jaccard", lambda a, b: len(np.intersect1d(a, b)) / max(min(len(a), len(b)), 1)
    )


@mutant("the soma takes one branch at a time, as in the public code", rejected_by="DIP-4")
def soma_of_one_branch(specimen: Any) -> Any:
    def integrate(rows: Any, match: Any, on: Any, *rest: Any) -> None:
        for b in np.unique(on[rows]):
            specimen.integrate(rows[on[rows] == b], match, on, *rest)

    return specimen.replacing("integrate", integrate)


@mutant("the sum of matches, not their mean", rejected_by="DIP-4")
def summed(specimen: Any) -> Any:
    return specimen.replacing(
        "integrate",
        lambda rows, match, on, *rest: specimen.integrate(
            rows, match * np.array([np.sum(on[rows] == b) for b in on]), on, *rest
        ),
    )


@mutant("the power law holds above the spike, too", rejected_by="DIP-6")
def always_compressed(specimen: Any) -> Any:
    return specimen.replacing(
        "regime", lambda n, members, spike, exponent, boost: n ** (exponent - 1.0)
    )


@mutant("a spike multiplies by the whole boost", rejected_by="DIP-4")
def whole_boost(specimen: Any) -> Any:
    def regime(n: float, members: float, spike: float, exponent: float, boost: float) -> float:
        return boost if n >= spike * members else float(n ** (exponent - 1.0))

    return specimen.replacing("regime", regime)


@mutant("each recall is LTP", rejected_by="DIP-8")
def only_ltp(specimen: Any) -> Any:
    return specimen.replacing(
        "plastic", lambda p, spikes, ltp, ltd, decay: specimen.plastic(p, True, ltp, ltd, decay)
    )


@mutant("a branch spikes only above the share from which it does", rejected_by="DIP-8")
def above_the_share(specimen: Any) -> Any:
    def learn(self: Any, view: Any, cue: Any) -> None:
        params = replace(self.params, spike=self.params.spike + 1e-9)
        specimen.DendriticIntegrationPrinted.learn(SimpleNamespace(params=params), view, cue)

    return specimen.overriding("DendriticIntegrationPrinted", learn=learn)


@mutant("a branch takes one memory more than it has room for", rejected_by="DIP-9")
def roomier(specimen: Any) -> Any:
    original = specimen.DendriticIntegrationPrinted.assign

    def assign(self: Any, view: Any, incoming: Any) -> None:
        params = replace(self.params, room=self.params.room + 1)
        original(SimpleNamespace(params=params), view, incoming)

    return specimen.overriding("DendriticIntegrationPrinted", assign=assign)


@mutant("tags do not count", rejected_by="DIP-5")
def without_tags(specimen: Any) -> Any:
    return specimen.replacing("tag_numbers", lambda event: np.empty(0, np.int64))


@mutant("a memory on no branch counts as one of the last", rejected_by="DIP-8")
def on_the_last_branch(specimen: Any) -> Any:
    def learn(self: Any, view: Any, cue: Any) -> None:
        last = len(view.branch) - 1
        other = Instead(view, branch=np.where(view.branch < 0, last, view.branch))
        specimen.DendriticIntegrationPrinted.learn(self, other, cue)

    return specimen.overriding("DendriticIntegrationPrinted", learn=learn)
