"""Evidence for dendritic_integration.  References: values of the published formulas, computed with
scipy's logistic function, and counts in dictionaries.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import MATCH, SESSION
from ...engine.state.graph import EdgeType, Graph, entity_node
from ..checks import adaptation, at_least, at_most, equation, limit, mutant, reference, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of
from ..paper_numbers import paper_number
from .shared.views import Instead

Array = NDArray[np.float64]
DENDRITE, CELL = np.array([3.6, 0.2, 0.3, 0.0114]), np.array([0.96, 1509.0, 0.26])
POIRAZI = "Poirazi, Brannon & Mel 2003, as public reimplementations quote it"
NUMBERS = (
    paper_number("half", DENDRITE[0], "synapses", paper="poirazi2003pyramidal",
                 where="thin branches, s(n)",
                 held=lambda plug_in: plug_in.dendrite[0]),
    paper_number("slope", DENDRITE[1], "synapses", paper="poirazi2003pyramidal",
                 where="thin branches, s(n)",
                 held=lambda plug_in: plug_in.dendrite[1]),
    paper_number("linear", DENDRITE[2], "1 per synapse", paper="poirazi2003pyramidal",
                 where="thin branches, s(n)",
                 held=lambda plug_in: plug_in.dendrite[2]),
    paper_number("quadratic", DENDRITE[3], "1 per synapse^2", paper="poirazi2003pyramidal",
                 where="thin branches, s(n)",
                 held=lambda plug_in: plug_in.dendrite[3]),
    paper_number("rate_slope", CELL[0], "Hz", paper="poirazi2003pyramidal",
                 where="soma and axon, g(x)", held=lambda plug_in: plug_in.cell[0]),
    paper_number("rate_odds", CELL[1], "1", paper="poirazi2003pyramidal",
                 where="soma and axon, g(x)", held=lambda plug_in: plug_in.cell[1]),
    paper_number("rate_gain", CELL[2], "1", paper="poirazi2003pyramidal",
                 where="soma and axon, g(x)", held=lambda plug_in: plug_in.cell[2]),
)  # fmt: skip


# --- references -----------------------------------------------------------------------------------
def s(n: Any) -> Any:
    x = np.asarray(n, dtype=np.float64)
    return expit((x - 3.6) / 0.2) + 0.3 * x + 0.0114 * x * x


def g(x: Any) -> Any:
    return 0.96 * np.asarray(x) * expit(0.26 * np.asarray(x) - math.log(1509.0))


def branches(specimen: Any, *n: float) -> Array:
    return np.array([specimen.branch(float(k), DENDRITE) for k in n])


def output(specimen: Any, *n: int) -> float:
    return float(specimen.output(np.array(n), 1.0, DENDRITE, CELL))


# --- the equations --------------------------------------------------------------------------------
@equation(
    "CM-13.1",
    source=f"{POIRAZI}: values of s, to the digits given",
    atol=6e-6,
    papers=("poirazi2003pyramidal",),
)
def the_branch_has_the_published_values(specimen: Any) -> Any:
    given = [0.31140, 0.64594, 1.05003, 1.72774, 2.26320, 2.78409, 3.21039]
    return [
        *branches(specimen, 1, 2, 3, 3.6, 4, 5, 6),
        round(float(branches(specimen, 10)[0]), 2),
    ], [*given, 5.14]


@equation(
    "CM-13.1b",
    source=f"{POIRAZI}; scipy's logistic function",
    atol=1e-12,
    papers=("poirazi2003pyramidal",),
)
def the_branch_is_a_step_on_a_parabola(specimen: Any) -> Any:
    n = np.linspace(0.0, 40.0, 161)
    return branches(specimen, *n), s(n)


@equation(
    "CM-13.3",
    source=f"{POIRAZI}: values of g",
    atol=6e-4,
    figure="soma",
    papers=("poirazi2003pyramidal",),
)
def the_soma_has_the_published_values(specimen: Any) -> Any:
    return [specimen.soma(x, CELL) for x in (0.0, 5.0, 10.0, 20.0, 30.0, 40.0, 100.0)], [0.0,
        0.01164, 0.0849, 2.0591, 17.797, 36.714, 96.0]  # fmt: skip


@equation(
    "CM-13.3b",
    source="half of the asymptote where 1509 exp(-0.26 x) = 1, x = 28.151",
    atol=1e-9,
    papers=("poirazi2003pyramidal",),
)
def the_soma_is_at_half_its_asymptote_at_28(specimen: Any) -> Any:
    x = math.log(1509.0) / 0.26
    return [specimen.soma(x, CELL), round(x, 3)], [0.48 * x, 28.151]


@equation(
    "CM-13.6",
    source="the sum over branches does not depend on their order; scipy's logistic function",
    atol=1e-12,
    papers=("poirazi2003pyramidal",),
)
def output_does_not_depend_on_the_order_of_branches(specimen: Any) -> Any:
    return [output(specimen, *n) for n in permutations((6, 3, 1, 0))], np.full(
        24, g(s([6, 3, 1]).sum())
    )


@equation(
    "CM-13.6b",
    source="s(4) + s(3) + s(1) is not s(3) + s(3) + s(2)",
    atol=1e-12,
    papers=("poirazi2003pyramidal",),
)
def output_depends_on_the_distribution_over_branches(specimen: Any) -> Any:
    moved = [output(specimen, 4, 3, 1), output(specimen, 3, 3, 2)]
    return [*moved, float(moved[0] > 1.1 * moved[1])], [
        g(s([4, 3, 1]).sum()),
        g(s([3, 3, 2]).sum()),
        1.0,
    ]


@equation(
    "CM-13.8",
    source="y = g(sum_i alpha s(n_i)) at alpha = 3; scipy's logistic function",
    atol=1e-12,
    papers=("poirazi2003pyramidal",),
)
def branches_are_weighted_and_go_through_the_soma(specimen: Any) -> Any:
    return specimen.output(np.array([5, 4, 2]), 3.0, DENDRITE, CELL), g(3.0 * s([5, 4, 2]).sum())


# --- limits ---------------------------------------------------------------------------------------
@limit("CM-13.4", source="g(x) / x -> 0.96", atol=1e-9, papers=("poirazi2003pyramidal",))
def the_rate_grows_in_proportion_to_a_strong_current(specimen: Any) -> Any:
    return [specimen.soma(x, CELL) / x for x in (120.0, 1000.0, 1e6)], [
        0.96 * expit(0.26 * 120.0 - math.log(1509.0)),
        0.96,
        0.96,
    ]


@limit(
    "CM-13.4b",
    source="s(n) -> 1 + 0.30 n + 0.0114 n^2 far above the step: expansive, without bound",
    rtol=1e-12,
    papers=("poirazi2003pyramidal",),
)
def a_branch_never_saturates(specimen: Any) -> Any:
    n = np.array([15.0, 50.0, 200.0])
    return branches(specimen, *n), 1.0 + 0.3 * n + 0.0114 * n * n


# --- signatures and data --------------------------------------------------------------------------
@signature(
    "CM-13.2",
    source=f"{POIRAZI}: the dendritic spike at the fourth synapse",
    atol=6e-5,
    figure="dendritic_spike",
    papers=("poirazi2003pyramidal",),
)
def the_fourth_synapse_on_a_branch_triggers_the_spike(specimen: Any) -> Any:
    return np.diff(branches(specimen, 2, 3, 4, 5)), [0.4041, 1.2132, 0.5209]


@signature(
    "CM-13.5",
    source=f"{POIRAZI}: weak input is best clustered, strong input best spread; 2.263 > 1.292 and 4.130 < 4.526",
    atol=6e-4,
    figure="clustering",
    papers=("poirazi2003pyramidal",),
)
def clustering_helps_a_weak_input_and_harms_a_strong_one(specimen: Any) -> Any:
    peaks = branches(specimen, 4, 0, 2, 8)
    return [peaks[0] + peaks[1], 2.0 * peaks[2], peaks[3] + peaks[1], 2.0 * peaks[0]], [
        2.263,
        1.292,
        4.130,
        4.526,
    ]


@signature(
    "CM-13.5b",
    source="the same order of the rates, as g is monotone",
    figure="clustering",
    papers=("poirazi2003pyramidal",),
)
def the_cell_fires_more_for_the_better_arrangement(specimen: Any) -> Any:
    return bool(
        output(specimen, 4, 0) > 1.8 * output(specimen, 2, 2) > 0.0
        and output(specimen, 8, 0) < output(specimen, 4, 4)
    )


@reference(
    "CM-13.7",
    source="the paper: two layers explain 94 % of a cell's rates, one layer about 82 %; here one layer on the output of two",
    warn=True,
    papers=("poirazi2003pyramidal",),
)
def a_point_neuron_explains_less(specimen: Any) -> Any:
    """Forty synapses over eight branches, spread or clustered to a random degree; the best
    function of their number alone.
    """
    rng, sizes, rates = np.random.default_rng(0), [], []
    for _ in range(600):
        n = rng.multinomial(
            rng.integers(30, 50), rng.dirichlet(np.full(8, 10.0 ** rng.uniform(-1.0, 1.0)))
        )
        sizes.append(int(n.sum()))
        rates.append(output(specimen, *n))
    y, size = np.array(rates), np.array(sizes)
    mean = np.array([y[size == k].mean() for k in size])
    return at_most(1.0 - (y - mean).var() / y.var(), 0.82)


# --- the adaptation -------------------------------------------------------------------------------
@adaptation(
    "CM-13.9", source="ln g(sum s(n_i)) - ln g(N s(1)); scipy's logistic function", atol=1e-10
)
def cooperation_is_the_log_gain_by_clustering(specimen: Any) -> Any:
    cases = [(2,), (4,), (10,), (4, 1, 1), (5, 5, 2)]
    expected = [math.log(g(s(n).sum()) / g(sum(n) * s(1.0))) for n in cases]
    return [specimen.cooperation(np.array(n), 1.0, DENDRITE, CELL) for n in cases], expected


@adaptation("CM-13.9b", source="one synapse on each branch: no cooperation")
def scattered_synapses_do_not_cooperate(specimen: Any) -> Any:
    return [
        specimen.cooperation(np.ones(k, dtype=np.int64), 1.0, DENDRITE, CELL)
        for k in (0, 1, 2, 7, 31)
    ], [0.0] * 5


@adaptation(
    "CM-13.9c", source="no arrangement is worse than a branch for each synapse: s(n) >= n s(1)"
)
def cooperation_is_never_negative(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    return at_least(
        [specimen.cooperation(rng.integers(0, 9, 6), 1.0, DENDRITE, CELL) for _ in range(100)], 0.0
    )


@adaptation(
    "CM-13.10",
    source="counts in dictionaries over 60 memories of 5 entities in 6 sessions",
    atol=1e-6,
)
def memories_on_an_active_branch_share_its_gain(specimen: Any) -> Any:
    rng, graph, said = np.random.default_rng(2), Graph(), {}
    session = np.sort(rng.integers(0, 6, 60)).astype(np.int32)
    for name in "abcde":
        graph.entity(name)
    for row in range(60):
        said[row] = set(rng.choice(5, rng.integers(0, 3), replace=False).tolist())
        for e in sorted(said[row]):
            graph.add(row, entity_node(e), EdgeType.ENTITY)
            graph.add(entity_node(e), row, EdgeType.ENTITY)
    rows, out, expected = rng.permutation(60)[:24], np.full(60, np.nan), np.zeros(60)
    links = graph.csr(EdgeType.ENTITY)
    specimen.bind(
        rows, session, links.start, links.degree, links.pool, graph.target, 1.0, DENDRITE, CELL, out
    )
    for e in range(5):
        n = Counter(int(session[r]) for r in rows.tolist() if e in said[r])
        if n:
            gain = math.log(g(s(list(n.values())).sum()) / g(sum(n.values()) * s(1.0)))
            for j in (j for j in range(60) if e in said[j]):
                expected[j] = max(
                    expected[j],
                    gain * s(n[int(session[j])]) / s(list(n.values())).sum()
                    if n[int(session[j])]
                    else 0.0,
                )
    return np.nan_to_num(out), expected


@adaptation(
    "CM-13.10b",
    source="by hand: memories 1 (a, b) and 3 (a) in sessions 1 and 2, then 3 and 5 (a) in session 2; 4 is of a later session",
)
def a_cell_with_one_match_gains_nothing(specimen: Any) -> Any:
    graph, session = Graph(), np.array([0, 1, 1, 2, 3, 2], np.int32)
    for name in "ab":
        graph.entity(name)
    for row, e in ((1, 0), (1, 1), (3, 0), (4, 0), (5, 0)):
        graph.add(row, entity_node(e), EdgeType.ENTITY)
        graph.add(entity_node(e), row, EdgeType.ENTITY)
    links, measured = graph.csr(EdgeType.ENTITY), []
    for rows in ([1, 3], [3, 5], [1]):
        out = np.full(6, np.nan)
        specimen.bind(
            np.array(rows),
            session,
            links.start,
            links.degree,
            links.pool,
            graph.target,
            1.0,
            DENDRITE,
            CELL,
            out,
        )
        measured.append(np.nan_to_num(out, nan=-1.0))
    gain = math.log(g(s(2.0)) / g(2.0 * s(1.0)))
    return measured, [[-1.0] * 6, [-1.0, -1.0, -1.0, gain, -1.0, gain], [-1.0] * 6]


@adaptation(
    "CM-13.10c",
    source="by hand: memory 0 is on a cell with four matches and on one with two, in either order; the larger gain counts",
)
def a_memory_on_two_cells_gets_the_larger_gain(specimen: Any) -> Any:
    large, small = (math.log(g(s(n)) / g(n * s(1.0))) for n in (4.0, 2.0))
    measured = []
    for cells in ((range(4), (0, 4)), ((0, 4), range(4))):
        graph = Graph()
        for name in "ab":
            graph.entity(name)
        for e, members in enumerate(cells):
            for row in members:
                graph.add(row, entity_node(e), EdgeType.ENTITY)
                graph.add(entity_node(e), row, EdgeType.ENTITY)
        links, out = graph.csr(EdgeType.ENTITY), np.full(5, np.nan)
        specimen.bind(
            np.arange(5),
            np.zeros(5, np.int32),
            links.start,
            links.degree,
            links.pool,
            graph.target,
            1.0,
            DENDRITE,
            CELL,
            out,
        )
        measured.append(out)
    return measured, [[large] * 4 + [small]] * 2


# --- in a memory ----------------------------------------------------------------------------------
def coactive(n: list[int], alpha: float) -> tuple[float, Any]:
    """ln gain of n synapses on each branch over as many alone, and each branch's share of the
    current.
    """
    together = alpha * s(n)
    return math.log(g(together.sum()) / g(alpha * sum(n) * s(1.0))), together / together.sum()


@adaptation(
    "CM-13.11",
    source="names and sessions of the best matches counted in dictionaries; scipy's logistic",
    rtol=1e-5,
    atol=1e-7,
)
def in_a_memory_matches_of_one_session_of_an_entity_cooperate(specimen: Any) -> Any:
    """Three sessions, memories with one, two or no name, one archived; queries with many
    matches, with more than are active, and with one.
    """
    rng, alpha, matches = np.random.default_rng(7), 1.3, 7
    cast = ["Ada", "Bo", "Ada", "Ada", "Bo", "Ada", "", "Cleo", "Ada", "Bo", "Ada Bo", "Ada", "Ada",
            "Bo Cleo", "Cleo", "Ada", "Bo", "Ada", "", "Ada"]  # fmt: skip
    chapter = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]
    texts = [
        f"event {row} " + (" and ".join(f"with {name}" for name in names.split()) or "alone")
        for row, names in enumerate(cast)
    ]
    directions = ([1.0, 0.3, 0.0, 0.0, 0.0, 0.0], [-0.2, -1.0, 0.0, 0.0, 0.0, 0.0], *np.eye(6)[2:])
    queries = dict(zip(("many", "others", "five", "two", "one", "none"), directions, strict=True))
    places = np.zeros((20, 6))
    places[:, :2] = rng.normal([0.5, 0.0], 1.0, (20, 2))
    # these alone are above the mean for "five", "two" and "one"
    for k, above in ((2, [0, 2, 5, 10, 16]), (3, [8, 11]), (4, [7])):
        places[above, k] = 2.0 + np.arange(len(above))
    vectors = dict(zip(texts, places, strict=True))
    memory = memory_of(
        specimen,
        "dense_similarity",
        embedder=Scripted({**vectors, **queries}),
        alpha=alpha,
        matches=matches,
    )
    encode(
        memory,
        *(
            Event(0.1 * row, text, session=f"s{k}", dated=False)
            for row, (text, k) in enumerate(zip(texts, chapter, strict=True))
        ),
    )
    memory.archive(3)
    measured: list[float] = memory.column(SESSION).tolist()
    expected: list[float] = [*chapter]
    for query in queries:
        memory.retrieve(query)
        match = memory.column(MATCH)
        active = [row for row in np.argsort(-match, kind="stable").tolist() if row != 3][:matches]
        active = [row for row in active if match[row] > 0.0]
        out = np.full(20, np.nan)
        for name in ("Ada", "Bo", "Cleo"):
            n = Counter(chapter[row] for row in active if name in cast[row].split())
            if n and len(active) > 1:
                gain, shares = coactive(list(n.values()), alpha)
                share = dict(zip(n, shares, strict=True))
                for row in range(20):
                    if name in cast[row].split() and chapter[row] in share and max(n.values()) > 1:
                        out[row] = np.fmax(out[row], gain * share[chapter[row]])
        measured += [*np.nan_to_num(memory.column(specimen.COACTIVE), nan=-1.0), float(len(active))]
        expected += [
            *np.nan_to_num(out, nan=-1.0),
            float({"many": 7, "others": 7, "five": 5, "two": 2, "one": 1, "none": 0}[query]),
        ]
    return measured, expected


# --- figures --------------------------------------------------------------------------------------
@figure(
    "dendritic_spike",
    caption="The current of a branch rises little until the fourth synapse triggers a spike; the printed slope of 2 has "
    "no spike, and its curve ends at 1",
    source=f"{POIRAZI}; Cortex 4.4.8 prints the logistic alone, 3.6 and the slope of 2 are from its public code",
)
def current_over_synapses(specimen: Any) -> Picture:
    n = np.linspace(0.0, 10.0, 201)
    return Picture("synapses active on one branch", "current of the branch", (
        Curve("mechanism", n, branches(specimen, *n)),
        dots("published formula", [1, 2, 3, 4, 5, 6, 10], [0.31140, 0.64594, 1.05003, 2.26320,
        2.78409, 3.21039, 5.14]),
        Curve("printed", n, expit((n - 3.6) / 2.0))))  # fmt: skip


@figure(
    "soma",
    caption="The soma hardly responds to a weak current, and in proportion to a strong one",
    source=f"{POIRAZI}: values of g",
)
def rate_over_current(specimen: Any) -> Picture:
    x = np.linspace(0.0, 60.0, 121)
    return Picture("current from all branches", "rate, Hz", (
        Curve("mechanism", x, np.array([specimen.soma(v, CELL) for v in x])),
        dots("published formula", [0.0, 5.0, 10.0, 20.0, 30.0, 40.0], [0.0, 0.01164, 0.0849, 2.0591,
        17.797, 36.714])))  # fmt: skip


@figure(
    "clustering",
    caption="A weak input drives the cell best if its synapses share a branch, a strong one if they are spread over two",
    source=f"{POIRAZI}: 4 + 0 above 2 + 2, and 8 + 0 below 4 + 4",
)
def current_over_arrangement(specimen: Any) -> Picture:
    n = np.arange(2.0, 13.0, 2.0)
    return Picture(
        "synapses in total",
        "current of two branches",
        (
            Curve("on one branch", n, branches(specimen, *n) + branches(specimen, 0.0)),
            Curve("half on each of two", n, 2.0 * branches(specimen, *(n / 2.0))),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
def with_branch(specimen: Any, curve: Any) -> Any:
    return specimen.replacing("branch", lambda n, d: float(curve(n)))


@mutant("a plain logistic, which saturates", rejected_by="CM-13.4b")
def plain_logistic(specimen: Any) -> Any:
    return with_branch(specimen, lambda n: expit((n - 3.6) / 0.2))


@mutant("slope 2.0", rejected_by="CM-13.2")
def slope_two(specimen: Any) -> Any:
    return with_branch(specimen, lambda n: expit((n - 3.6) / 2.0) + 0.3 * n + 0.0114 * n * n)


@mutant("no quadratic term", rejected_by="CM-13.1")
def no_quadratic(specimen: Any) -> Any:
    return with_branch(specimen, lambda n: expit((n - 3.6) / 0.2) + 0.3 * n)


@mutant("no soma", rejected_by="CM-13.8")
def no_soma(specimen: Any) -> Any:
    return specimen.replacing("soma", lambda x, cell: x)


@mutant("a soma that saturates", rejected_by="CM-13.4")
def saturating_soma(specimen: Any) -> Any:
    return specimen.replacing(
        "soma", lambda x, cell: 96.0 * float(expit(0.26 * x - math.log(1509.0)))
    )


@mutant("a soma that is steeper", rejected_by="CM-13.3")
def steeper_soma(specimen: Any) -> Any:
    return specimen.replacing("soma", lambda x, cell: float(g(1.5 * x)))


@mutant("a soma for each branch", rejected_by="CM-13.6")
def soma_per_branch(specimen: Any) -> Any:
    return specimen.replacing(
        "output",
        lambda n, alpha, d, c: sum(
            specimen.soma(alpha * specimen.branch(float(k), d), c) for k in n
        ),
    )


@mutant("a point neuron: all synapses on one branch", rejected_by="CM-13.6b")
def point_neuron(specimen: Any) -> Any:
    return specimen.replacing(
        "current", lambda n, alpha, d: alpha * specimen.branch(float(n.sum()), d)
    )


@mutant(
    "cooperation as the output itself, not relative to separate branches", rejected_by="CM-13.9b"
)
def not_relative(specimen: Any) -> Any:
    return specimen.replacing("cooperation", lambda n, *rest: specimen.output(n, *rest))


@mutant("all sessions of an entity as one branch", rejected_by="CM-13.10")
def global_spike(specimen: Any) -> Any:
    return specimen.replacing(
        "bind", lambda rows, session, *rest: specimen.bind(rows, 0 * session, *rest)
    )


@mutant("n as a sum of weights, not a number", rejected_by="CM-13.9")
def weights_for_numbers(specimen: Any) -> Any:
    return specimen.replacing("cooperation", lambda n, *rest: specimen.cooperation(0.5 * n, *rest))


@mutant("matches below the mean are active, too", rejected_by="CM-13.11")
def all_active(specimen: Any) -> Any:
    def integrate(self: Any, view: Any, cue: Any) -> None:
        above = Instead(view, match=np.ones_like(view.match))
        specimen.DendriticIntegration.integrate(self, above, cue)

    return specimen.overriding("DendriticIntegration", integrate=integrate)


@mutant("the coupling to the soma is left out", rejected_by="CM-13.11")
def uncoupled(specimen: Any) -> Any:
    return specimen.replacing("bind", lambda *a: specimen.bind(*a[:6], 1.0, *a[7:]))
