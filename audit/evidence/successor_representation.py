"""Evidence for successor_representation.  References are (I - gamma T)^-1 in numpy and closed
forms; none calls a kernel it judges.

A walk to all successors at once, with equal probability and alpha = 1, is the Bellman iteration M
<- I + gamma T M, so learning by the mechanism is compared with the closed form at full precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.records import Event, Query
from ...engine.contract.vocabulary import DRAFTS, HORIZON, LEARNING_RATE, NEED, PLASTICITY
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ...engine.state.graph import EdgeType, Graph
from ..checks import adaptation, at_least, at_most, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour
from .shared.named import SOURCE as NAMED
from .shared.named import named
from .shared.once import computed_once
from .shared.views import Instead

Array = NDArray[np.float64]
Successors = Sequence[Sequence[int]]
DAYAN = "Dayan 1993"
RING: Successors = [[1], [2], [3], [4], [0]]
LINE: Successors = [[1], [0, 2], [1, 3], [2, 4], [3]]
CHAIN: Successors = [[1], [2], []]


# --- references -----------------------------------------------------------------------------------
def transition(successors: Successors) -> Array:
    """T, each successor with equal probability; a row of zeros where the walk ends."""
    t = np.zeros((len(successors), len(successors)))
    for s, following in enumerate(successors):
        t[s, list(following)] = 1.0 / max(len(following), 1)
    return t


def closed(t: Array, gamma: float) -> Array:
    """(I - gamma T)^-1."""
    return np.asarray(np.linalg.inv(np.eye(len(t)) - gamma * t))


def ring(gamma: float) -> Array:
    return np.array([gamma**j / (1.0 - gamma**5) for j in range(5)])


# --- the specimen, on a graph ---------------------------------------------------------------------
def blank(specimen: Any) -> Graph:
    graph = Graph()
    graph.allocate(specimen.SUCCESSOR.name, np.float64, (), 0.0)
    return graph


def matrix(specimen: Any, graph: Graph, n: int) -> Array:
    """M, read from the edges."""
    m, weight = np.zeros((n, n)), graph.column(specimen.SUCCESSOR.name)
    for edge in np.flatnonzero(graph.alive & (graph.type == EdgeType.COACCESS)):
        m[graph.source[edge], graph.target[edge]] = weight[edge]
    return m


def sweep(
    specimen: Any,
    graph: Graph,
    successors: Successors,
    gamma: float,
    alpha: float,
    sweeps: int,
    *,
    least: float = 0.0,
) -> None:
    """Leave every state in order, to all its successors at once.  After a sweep that changes no bit,
    none of the others would.
    """
    before = b""
    for _ in range(sweeps):
        for s, following in enumerate(successors):
            specimen.experience(graph, [s], following, alpha, gamma, least, 1.0)
        now = graph.alive.tobytes() + graph.column(specimen.SUCCESSOR.name).tobytes()
        if now == before:
            return
        before = now


def learnt(specimen: Any, successors: Successors, gamma: float, sweeps: int = 400) -> Array:
    """M at the end of learning."""
    graph = blank(specimen)
    sweep(specimen, graph, successors, gamma, 1.0, sweeps)
    return matrix(specimen, graph, len(successors))


# --- the equations --------------------------------------------------------------------------------
@equation(
    "SR-1",
    source=f"{DAYAN}; gamma^j / (1 - gamma^5) on a ring of five",
    papers=("dayan1993improving", "stachenfeld2017hippocampus"),
)
def a_ring_has_its_closed_form(specimen: Any) -> Any:
    m = [learnt(specimen, RING, gamma) for gamma in (0.5, 0.9)]
    return [[table[s, (s + j) % 5] for s in range(5) for j in range(5)] for table in m], [
        np.tile(ring(gamma), 5) for gamma in (0.5, 0.9)
    ]


@equation(
    "SR-2",
    source=f"{DAYAN}; rows sum to 1 / (1 - gamma), the present (t = 0) included",
    papers=("dayan1993improving", "stachenfeld2017hippocampus"),
)
def every_row_sums_to_the_horizon(specimen: Any) -> Any:
    rng = np.random.default_rng(0)
    walk = [
        sorted(rng.choice(12, int(rng.integers(1, 5)), replace=False).tolist()) for _ in range(12)
    ]
    m = [learnt(specimen, walk, gamma, 300) for gamma in (0.5, 0.9)]
    return [table.sum(axis=1) for table in m], [np.full(12, 2.0), np.full(12, 10.0)]


@equation(
    "SR-2b",
    source=f"{DAYAN}; (I - gamma T)^-1 in numpy, random walks on twelve states",
    papers=("dayan1993improving", "stachenfeld2017hippocampus"),
)
def random_walks_have_the_resolvent_of_their_transitions(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    walk = [
        sorted(rng.choice(12, int(rng.integers(1, 5)), replace=False).tolist()) for _ in range(12)
    ]
    return learnt(specimen, walk, 0.9), closed(transition(walk), 0.9)


@equation(
    "SR-3a",
    source="unbiased walk on a line of five, gamma = 0.9; numbers from the resolvent",
    atol=1e-6,
    figure="successor_line",
    papers=("dayan1993improving", "stachenfeld2017hippocampus"),
)
def a_walk_on_a_line_has_the_rows_of_its_resolvent(specimen: Any) -> Any:
    m = learnt(specimen, LINE, 0.9)
    return [m[2], m[0]], [
        [1.065789, 2.368421, 3.131579, 2.368421, 1.065789],
        [2.406126, 3.124724, 2.131579, 1.612119, 0.725453],
    ]


@equation(
    "SR-3b",
    source="T u = lambda u implies M u = u / (1 - gamma lambda); cos(k pi / 4) on the line",
    atol=1e-6,
    papers=("dayan1993improving", "stachenfeld2017hippocampus"),
)
def eigenvalues_follow_from_those_of_the_walk(specimen: Any) -> Any:
    measured = np.sort(np.linalg.eigvals(learnt(specimen, LINE, 0.9)).real)[::-1]
    expected = [1.0 / (1.0 - 0.9 * math.cos(k * math.pi / 4)) for k in range(5)]
    return [measured, measured], [expected, [10.0, 2.750246, 1.0, 0.611099, 0.526316]]


@computed_once
def walked(specimen: Any) -> tuple[float, float]:
    """Greatest error of M after 2,000 and after 5,000 steps around the ring, alpha = 0.1, gamma =
    0.9, M_0 = 0.
    """
    graph, errors = blank(specimen), list[float]()
    for t in range(5000):
        specimen.experience(graph, [t % 5], [(t + 1) % 5], 0.1, 0.9, 0.0, 0.0)
        if t + 1 in (2000, 5000):
            off = matrix(specimen, graph, 5) - closed(transition(RING), 0.9)
            errors.append(float(np.abs(off).max()))
    return errors[0], errors[1]


@equation(
    "SR-4a",
    source="TD(0) around the ring, alpha = 0.1, M_0 = 0: the recursion in numpy, and its error of 0.0336",
    atol=1e-4,
    papers=("dayan1993improving", "stachenfeld2017hippocampus"),
)
def two_thousand_steps_leave_the_error_of_the_recursion(specimen: Any) -> Any:
    m = np.zeros((5, 5))
    for t in range(2000):
        m[t % 5] += 0.1 * (np.eye(5)[t % 5] + 0.9 * m[(t + 1) % 5] - m[t % 5])
    error, _ = walked(specimen)
    return [error, error], [float(np.abs(m - closed(transition(RING), 0.9)).max()), 0.0336]


@equation(
    "SR-4b",
    source="TD(0) around the ring, alpha = 0.1, M_0 = 0",
    papers=("dayan1993improving", "stachenfeld2017hippocampus"),
)
def five_thousand_steps_reach_the_closed_form(specimen: Any) -> Any:
    _, error = walked(specimen)
    return at_most(error, 1e-4)


@equation(
    "SR-4c",
    source=f"{DAYAN}: the rule written out in numpy, a random walk of 500 steps",
    atol=1e-10,
    papers=("dayan1993improving", "stachenfeld2017hippocampus"),
)
def learning_is_the_rule_step_by_step(specimen: Any) -> Any:
    rng, graph, expected = np.random.default_rng(2), blank(specimen), np.eye(7)
    states = rng.integers(0, 7, 501)
    for s in range(7):
        specimen.experience(graph, [s], [s], 0.0, 0.9, 0.0, 1.0)
    for s, after in pairwise(states):
        specimen.experience(graph, [int(s)], [int(after)], 0.3, 0.9, 0.0, 1.0)
        expected[s] += 0.3 * (np.eye(7)[s] + 0.9 * expected[after] - expected[s])
    return matrix(specimen, graph, 7), expected


# --- signatures -----------------------------------------------------------------------------------
@signature(
    "SR-5",
    source=f"{DAYAN}; a chain 0 -> 1 -> 2 that ends, gamma = 0.9: M(0,1), M(1,0), M(0,2)",
    figure="successor_chain",
    papers=("dayan1993improving", "stachenfeld2017hippocampus"),
)
def preceding_states_are_not_expected(specimen: Any) -> Any:
    graph = blank(specimen)
    sweep(specimen, graph, CHAIN, 0.9, 0.1, 400)
    m = matrix(specimen, graph, 3)
    return [m[0, 1], m[1, 0], m[0, 2]], [0.9, 0.0, 0.81]


@signature(
    "SR-6a",
    source="Momennejad et al. 2017, reward revaluation; V = (I - gamma T)^-1 R",
    papers=("momennejad2017successor",),
)
def new_rewards_are_valued_without_new_experience(specimen: Any) -> Any:
    graph, rewards = blank(specimen), np.random.default_rng(3).standard_normal((2, 5))
    sweep(specimen, graph, LINE, 0.9, 1.0, 400)
    before = [matrix(specimen, graph, 5) @ r for r in rewards]
    return before, [np.linalg.solve(np.eye(5) - 0.9 * transition(LINE), r) for r in rewards]


@signature(
    "SR-6b",
    source="Momennejad et al. 2017, transition revaluation; closed forms 0.81 and 0",
    atol=1e-9,
    papers=("momennejad2017successor",),
)
def new_transitions_change_values_only_after_they_are_experienced(specimen: Any) -> Any:
    graph = blank(specimen)
    sweep(specimen, graph, [[1], [2], [], []], 0.9, 1.0, 5)
    # now 1 leads to 3, but no walk starts at 0
    for _ in range(300):
        specimen.experience(graph, [1], [3], 0.1, 0.9, 0.0, 1.0)
    stale = matrix(specimen, graph, 4)
    for _ in range(300):
        specimen.experience(graph, [0], [1], 0.1, 0.9, 0.0, 1.0)
    relived = matrix(specimen, graph, 4)
    return [stale[1, 2], stale[1, 3], stale[0, 2], stale[0, 3], relived[0, 2], relived[0, 3]], [
        0.0,
        0.9,
        0.81,
        0.0,
        0.0,
        0.81,
    ]


@limit(
    "SR-7a",
    source=f"{DAYAN}: M = I at gamma = 0",
    papers=("dayan1993improving", "stachenfeld2017hippocampus"),
)
def at_discount_zero_a_state_expects_itself_only(specimen: Any) -> Any:
    return learnt(specimen, LINE, 0.0, 3), np.eye(5)


@limit(
    "SR-7b",
    source="gamma -> 1: (1 - gamma) M -> 1 pi, pi = (1, 2, 2, 2, 1) / 8; within 0.005 at gamma = 0.999 after 2,200 sweeps",
    papers=("dayan1993improving", "stachenfeld2017hippocampus"),
)
def at_a_long_horizon_rows_are_the_stationary_distribution(specimen: Any) -> Any:
    m = learnt(specimen, LINE, 0.999, 2200)
    return at_most(np.abs(0.001 * m - np.array([1, 2, 2, 2, 1]) / 8).max(), 0.005)


# --- the adaptation -------------------------------------------------------------------------------
@adaptation(
    "SR-8",
    source="mass of a row, 1 / (1 - gamma), over half the least entry, below which entries are removed",
)
def rows_stay_bounded_among_many_states(specimen: Any) -> Any:
    rng, graph = np.random.default_rng(4), blank(specimen)
    states = rng.integers(0, 300, 3000)
    for s, after in pairwise(states):
        specimen.experience(graph, [int(s)], [int(after)], 0.2, 0.5, 0.02, 1.0)
    return at_most(np.bincount(graph.source[graph.alive], minlength=300), 2.0 / (0.5 * 0.02))


@adaptation(
    "SR-8b",
    source="(I - gamma T)^-1 in numpy: entries far above the least one are exact although they are created late",
)
def a_least_entry_leaves_the_others_as_they_are(specimen: Any) -> Any:
    graph = blank(specimen)
    sweep(specimen, graph, LINE, 0.9, 0.5, 600, least=1e-3)
    return matrix(specimen, graph, 5), closed(transition(LINE), 0.9)


@adaptation(
    "SR-9",
    source="the definition, M R with R_i(j) = 1 / fan_j, without the current visit, in numpy",
)
def the_signal_is_the_expected_number_of_visits(specimen: Any) -> Any:
    rng, memories, entities = np.random.default_rng(5), 15, 6
    linked = rng.random((memories, entities)) < 0.4
    linked[rng.integers(0, memories, entities), np.arange(entities)] = True
    row, states = rng.uniform(0.1, 2.0, entities), [1, 4]
    present = np.isin(np.arange(entities), states) / len(states)
    expected = linked @ (np.maximum(row - present, 0.0) / linked.sum(axis=0))
    degree = np.zeros(memories + entities, np.int64)
    degree[[-1 - e for e in range(entities)]] = linked.sum(axis=0)
    start = np.cumsum(degree) - degree
    target = np.concatenate([np.flatnonzero(linked[:, e]) for e in reversed(range(entities))])
    out = np.full(memories, np.nan)
    order = np.arange(entities)[::-1]
    specimen.visits(
        np.array([-1 - s for s in states]),
        -1 - order,
        row[order],
        start,
        degree,
        target,
        degree,
        out,
    )
    return np.nan_to_num(out), expected


@limit(
    "SR-9b",
    source="definition: nothing arrives from an expectation of 0, nor at a link that ends at an entity",
)
def where_nothing_arrives_there_is_no_signal(specimen: Any) -> Any:
    out = np.full(2, np.nan)
    links = np.array([0, 2, 3]), np.array([2, 1, 0]), np.array([-2, 0, 1]), np.array([2, 1, 0])
    specimen.visits(np.array([-2]), np.array([0, 1]), np.array([0.8, 0.5]), *links, out)
    same = np.full(2, np.nan)
    specimen.visits(np.array([1]), np.array([1]), np.array([1.0]), *links, same)
    return np.nan_to_num([*out, *same], nan=-1.0), [0.4, 0.5, -1.0, -1.0]


@adaptation(
    "SR-8c",
    source="closed form (1 - alpha)^n: an entry needs more than least, goes below half of it, and that of the state itself stays",
)
def an_entry_is_dropped_below_half_of_the_least(specimen: Any) -> Any:
    graph, measured = blank(specimen), []
    specimen.experience(graph, [0], [1], 0.5, 1.0, 0.25, 1.0)
    for _ in range(4):
        measured.append(matrix(specimen, graph, 3)[0, 1])
        specimen.experience(graph, [0], [2], 0.5, 0.0, 0.25, 1.0)
    small = blank(specimen)
    for _ in range(2):
        specimen.experience(small, [0], [1], 0.01, 0.5, 0.25, 0.0)
    return [*measured, matrix(specimen, small, 2)[0, 0]], [0.5, 0.25, 0.125, 0.0, 1.0 - 0.99**2]


TALES = (
    ("Then Ada rang.", "Then Bo came.", "Then Cleo sang."),
    ("Then Dora left.", "Then Ada rang.", "Then Bo came."),
)


def succession(specimen: Any, query: str) -> tuple[list[str], Array]:
    """Texts, and the signal for a query after the tales, each encoded three times in sessions of
    their own.
    """
    params = specimen.SuccessorRepresentationParams(1.0, 0.3, 0.9, 0.0, 1.0, 0.1)
    memory = Engine(
        [specimen.SuccessorRepresentation("successor_representation", params)], HashingEmbedder(16)
    )
    told = [(r, i, text) for r in range(6) for i, text in enumerate(TALES[r % 2])]
    memory.encode_all(Event(24.0 * r + i / 60.0, text, session=f"s{r}") for r, i, text in told)
    memory.retrieve(query)
    return [text for _, _, text in told], np.nan_to_num(
        memory.store.array(specimen.SUCCESSION).astype(np.float64)
    )


@adaptation(
    "SR-10a",
    source="ours: of the events around a match, only later ones get a score",
    needs="engine",
)
def later_events_get_a_score_and_earlier_ones_do_not(specimen: Any) -> Any:
    texts, visits = succession(specimen, "What about Ada?")
    sums = {
        name: float(sum(v for text, v in zip(texts, visits, strict=True) if name in text))
        for name in ("Ada", "Bo", "Cleo", "Dora")
    }
    return bool(sums["Bo"] > sums["Cleo"] > 0.0 and sums["Dora"] == sums["Ada"] == 0.0)


@adaptation("SR-10b", source="ours: two steps ahead, never adjacent", needs="engine")
def the_signal_reaches_beyond_the_next_step(specimen: Any) -> Any:
    texts, visits = succession(specimen, "What about Dora?")
    return at_least([visits[i] for i, text in enumerate(texts) if "Bo" in text], 1e-3)


# Session and names of each event; "s" has two sessions at once, some events name nobody.
LOG = (("s", "Ada"), ("s", "Bo Cleo"), ("t", "Dora"), ("t", "Ada"), ("s", ""), ("s", "Dora"), ("u",
    ""), ("u", "Bo"), ("u", ""), ("u", "Ada Bo"),
       ("u", "Cleo"), ("u", "Cleo Dora"), ("u", "Emil"), ("v", "Ada"), ("v", "Bo"), ("v", "Cleo"),
       ("v", "Dora"), ("v", "Emil"), ("v", "Ada"))  # fmt: skip
LEAST, FACTORS = (
    0.03,
    ((1.0, 1.0, 1.0), (1.5, 1.2, 2.0), (4.0, 3.0, 0.5), (0.5, 0.4, 1.0), (1.0, 1.0, 0.0)),
)


def dictionary_step(
    m: dict[str, dict[str, float]], before: list[str], after: list[str], alpha: float, gamma: float
) -> None:
    """Dayan's rule on dictionaries; entries below half of LEAST are dropped, new ones need
    LEAST.
    """
    for s in (*before, *after):
        m.setdefault(s, {s: 0.7})
    following = {j: sum(m[s].get(j, 0.0) for s in after) / len(after) for s in after for j in m[s]}
    for s in before:
        row = m[s]
        old = set(row)
        for j in {*row, *following}:
            row[j] = row.get(j, 0.0) + alpha * (
                float(j == s) + gamma * following.get(j, 0.0) - row.get(j, 0.0)
            )
        m[s] = {
            j: x for j, x in row.items() if j == s or (x >= 0.5 * LEAST if j in old else x > LEAST)
        }


def stated(log: Sequence[tuple[str, str]], session: str) -> str:
    """The last names of the session, if the log ends with it."""
    return next(
        (
            names
            for of, names in takewhile(lambda event: event[0] == session, reversed(log))
            if names
        ),
        "",
    )


def expected_visits(
    m: dict[str, dict[str, float]], states: list[str], log: Sequence[str], present: bool
) -> list[float]:
    """Visits of each memory: those of its entities, each divided among the memories that name
    it; NaN if none arrives.
    """
    row = (
        {
            j: sum(m.get(s, {}).get(j, 0.0) for s in states) / len(states)
            for s in states
            for j in m.get(s, {})
        }
        if states
        else {}
    )
    visits = [math.nan] * len(log)
    for j, x in row.items():
        mine, x = (
            [i for i, names in enumerate(log) if j in names.split()],
            x - (0.0 if present else states.count(j) / len(states)),
        )
        for i in mine if x > 0.0 else ():
            visits[i] = x / len(mine) + (0.0 if math.isnan(visits[i]) else visits[i])
    return visits


@equation(
    "SR-11",
    source=f"{DAYAN}: the rule and M R on dictionaries, event by event, with queries and nights; sessions, fans and the least "
    "entry are ours",
    rtol=1e-6,
    atol=1e-7,
    papers=("dayan1993improving", "stachenfeld2017hippocampus"),
)
def a_memory_learns_which_entities_follow_which(specimen: Any) -> Any:
    present: list[tuple[float, float, float]] = []

    def modulate(view: Any, _: Any) -> None:
        view.learning_rate, view.plasticity, view.horizon = present[-1]

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, modulate, sets=(LEARNING_RATE, PLASTICITY, HORIZON)),
        alpha=0.3,
        discount=0.8,
        least=LEAST,
        initial=0.7,
    )
    m: dict[str, dict[str, float]] = {}
    measured, expected = list[float](), list[float]()
    for i, (session, names) in enumerate(LOG):
        present.append(FACTORS[i % len(FACTORS)])
        rate, plasticity, horizon = present[-1]
        text = f"Then {' met '.join(names.split())}." if names else "It rained."
        encode(memory, Event(6.0 * i, text, session=session, dated=False))
        last = stated(LOG[:i], session)
        if names and last:
            dictionary_step(
                m,
                last.split(),
                names.split(),
                min(1.0, 0.3 * rate * plasticity),
                max(0.0, 1.0 - 0.2 / horizon) if horizon else 0.0,
            )
        log = [o for _, o in LOG[: i + 1]]
        for query in (["Ada"], ["Dora", "Bo"], ["Zoe", "Cleo"], ["Zoe"]):
            memory.retrieve(f"What about {' and '.join(query)}?")
            known = [name for name in query if any(name in o.split() for o in log)]
            measured += np.nan_to_num(memory.column(specimen.SUCCESSION), nan=-1.0).tolist()
            expected += np.nan_to_num(expected_visits(m, known, log, False), nan=-1.0).tolist()
        if i % 4 == 3 or i > 12:
            memory.advance(24.0 * (6.0 * i // 24.0 + 1) if i % 4 == 3 else 6.0 * i)
        if i % 4 == 3:
            measured += memory.column(NEED).tolist()
            expected += np.nan_to_num(
                expected_visits(m, stated(LOG[: i + 1], session).split(), log, True)
            ).tolist()
    edges = memory.graph
    weights = {
        (
            edges.entity_name(~int(edges.source[e])),
            edges.entity_name(~int(edges.target[e])),
        ): memory.column(specimen.SUCCESSOR)[e]
        for e in np.flatnonzero(edges.alive & (edges.type == EdgeType.COACCESS))
    }
    named = {(s.lower(), j.lower()): x for s, row in m.items() for j, x in row.items()}
    measured += memory.column(specimen.SUCCESSOR_STATED).tolist()
    expected += [0, 1, 2, 3, -1, 5, -1, 7, 7, *range(9, len(LOG))]
    keys = sorted({*weights, *named})
    return [*measured, *(weights.get(k, -1.0) for k in keys)], [
        *expected,
        *(named.get(k, -1.0) for k in keys),
    ]


@adaptation(
    "SR-12",
    source="ours, M R on dictionaries: the last event counts, also if the memory made rows after it",
    rtol=1e-6,
    atol=1e-7,
)
def need_follows_from_the_last_event(specimen: Any) -> Any:
    def draft(view: Any, tick: Any) -> None:
        for text, kind in (
            (("came", Kind.SEGMENT), ("a whole", Kind.BUNDLE), ("a word", Kind.SUMMARY))
            if len(view.need) == 4
            else ()
        ):
            view.drafts.add(Draft(text, kind, (0,)))

    memory = memory_of(
        specimen,
        neighbour(Phase.CONSOLIDATE, draft, reads=(NEED,), adds=(DRAFTS,)),
        alpha=0.3,
        discount=0.8,
        least=LEAST,
        initial=0.7,
    )
    names, m, measured = ("Ada", "Bo", "Cleo", "Bo"), dict[str, dict[str, float]](), list[float]()
    for before, after in pairwise(names):
        dictionary_step(m, [before], [after], 0.3, 0.8)
    encode(
        memory,
        *(
            Event(float(i), f"Then {name} came.", session="s", dated=False)
            for i, name in enumerate(names)
        ),
    )
    for night in (1, 2, 3):
        memory.advance(24.0 * night)
        measured += memory.column(NEED).tolist()
    need = [*np.nan_to_num(expected_visits(m, ["Bo"], names, True)), 0.0, 0.0, 0.0]
    return measured, [*need, *need, *need]


USES = (
    (1.0, "x", (0,)),
    (2.0, "y", (3,)),
    (2.5, "x", (1, 2)),
    (3.0, "", (0,)),
    (4.0, "x", (4,)),
    (5.0, "y", (1, 3)),
    (6.0, "x", (3,)),
    (7.0, "y", ()),
    (8.0, "y", (0,)),
    (9.0, "x", (3,)),
    (10.0, "x", (2,)),
    (11.0, "y", (0, 3)),
)  # hours, session of the query, rows needed; row 4 names nobody
TOLD = ("Ada", "Bo Cleo", "Cleo", "Dora", "")


def used_after_last(
    m: dict[str, dict[str, float]],
    last: dict[str, tuple[int, ...]],
    session: str,
    rows: tuple[int, ...],
    alpha: float,
    gamma: float,
) -> None:
    """The rule on dictionaries, from the entities of the last use in a session, of other
    memories, to those of the present one.
    """
    before, after = (
        sorted({name for row in used for name in TOLD[row].split()})
        for used in ([row for row in last.get(session, ()) if row not in rows], rows)
    )
    if before and after:
        dictionary_step(m, before, after, alpha, gamma)
    last[session] = rows


@equation(
    "SR-13",
    source=f"{DAYAN}: the rule on dictionaries, over uses in two sessions told one after the other; the mean over the entities of the "
    "memories needed together is ours",
    rtol=1e-6,
    atol=1e-7,
    papers=("dayan1993improving",),
)
def a_memory_learns_which_entities_are_used_after_which(specimen: Any) -> Any:
    present: list[tuple[float, float, float]] = []

    def modulate(view: Any, _: Any) -> None:
        view.learning_rate, view.plasticity, view.horizon = present[-1]

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, modulate, sets=(LEARNING_RATE, PLASTICITY, HORIZON)),
        alpha=0.3,
        discount=0.8,
        least=LEAST,
        initial=0.7,
    )
    m, last, measured, expected = (
        dict[str, dict[str, float]](),
        dict[str, tuple[int, ...]](),
        list[float](),
        list[float](),
    )
    # each in a session of its own: no step at encoding
    for row, names in enumerate(TOLD):
        present.append((1.5, 1.2, 2.0))
        encode(
            memory,
            Event(
                0.0,
                f"Then {' met '.join(names.split())}." if names else "It rained.",
                session=str(row),
                dated=False,
            ),
        )
    for place, (time, session, rows) in enumerate(USES):
        # every third use at a rate beyond 1, which counts as 1
        factors = ((1.5, 1.2, 2.0), (1.5, 0.4, 0.5), (9.0, 1.2, 2.0))[place % 3]
        for factor, value in zip((LEARNING_RATE, PLASTICITY, HORIZON), factors, strict=True):
            memory.store.array(factor)[()] = value
        memory.advance(time)
        memory.use(memory.retrieve(Query("Who came?", session=session)), rows)
        if session and rows:
            rate, plasticity, horizon = factors
            alpha = min(1.0, 0.3 * rate * plasticity)
            used_after_last(m, last, session, rows, alpha, 1.0 - 0.2 / horizon)
        for query in ("Ada", "Bo", "Cleo", "Dora"):
            memory.retrieve(f"What about {query}?")
            measured += np.nan_to_num(memory.column(specimen.SUCCESSION), nan=-1.0).tolist()
            expected += np.nan_to_num(expected_visits(m, [query], TOLD, False), nan=-1.0).tolist()
    return measured, expected


@equation(
    "SR-14",
    source=f"{DAYAN}: M R on dictionaries, from the entities of the query and of the memories that the last use in its session "
    "needed, all with equal probability",
    rtol=1e-6,
    atol=1e-7,
    papers=("dayan1993improving",),
)
def a_question_is_asked_from_where_the_session_is(specimen: Any) -> Any:
    memory = memory_of(specimen, alpha=0.3, discount=0.8, least=LEAST, initial=0.7)
    m, last, measured, expected = (
        dict[str, dict[str, float]](),
        dict[str, tuple[int, ...]](),
        list[float](),
        list[float](),
    )
    # each in a session of its own: no step at encoding
    for row, names in enumerate(TOLD):
        encode(
            memory,
            Event(
                0.0,
                f"Then {' met '.join(names.split())}." if names else "It rained.",
                session=str(row),
                dated=False,
            ),
        )
    for time, session, rows in USES:
        memory.advance(time)
        memory.use(memory.retrieve(Query("Who came?", session=session)), rows)
        if session and rows:
            used_after_last(m, last, session, rows, 0.3, 0.8)
        for asked, text in (
            ("x", "Who is next?"),
            ("y", "Who is next?"),
            ("x", "After Dora, who is next?"),
            ("y", "And Ada?"),  # who is one of those used last in the end, and counts once
            ("", "Who is next?"),
            ("z", "And Ada?"),
        ):
            memory.retrieve(Query(text, session=asked))
            named = [name for name in ("Ada", "Dora") if name in text]
            states = sorted(
                {*named, *(name for row in last.get(asked, ()) for name in TOLD[row].split())}
            )
            measured += np.nan_to_num(memory.column(specimen.SUCCESSION), nan=-1.0).tolist()
            expected += np.nan_to_num(expected_visits(m, states, TOLD, False), nan=-1.0).tolist()
    # of x; an archived memory is no state
    memory.archive(2)
    memory.retrieve(Query("Who is next?", session="x"))
    return [*measured, float(np.isnan(memory.column(specimen.SUCCESSION)).all())], [*expected, 1.0]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "successor_line",
    caption="Expected discounted visits of a walk on a line of five states: they fall with the distance from the current "
    "state, and are higher at inner states",
    source=f"{DAYAN}; the resolvent (I - gamma T)^-1 at gamma = 0.9",
)
def rows_of_a_line(specimen: Any) -> Picture:
    states, m = np.arange(5), learnt(specimen, LINE, 0.9, 100)
    return Picture(
        "state",
        "expected visits",
        (
            Curve("from the middle", states, m[2]),
            Curve("from the end", states, m[0]),
            dots("resolvent, middle", states, [1.065789, 2.368421, 3.131579, 2.368421, 1.065789]),
            dots("resolvent, end", states, [2.406126, 3.124724, 2.131579, 1.612119, 0.725453]),
        ),
    )


@figure(
    "successor_chain",
    caption="On a walk in one direction later states are expected, discounted by the steps to them, and earlier ones are "
    "not",
    source=f"{DAYAN}; closed form gamma^k ahead, 0 behind",
)
def a_row_of_a_chain(specimen: Any) -> Picture:
    steps, m = np.arange(-3, 4), learnt(specimen, [[1], [2], [3], [4], [5], [6], []], 0.9, 20)
    return Picture(
        "steps ahead",
        "expected visits",
        (
            Curve("mechanism", steps, m[3]),
            dots("closed form", steps, np.where(steps < 0, 0.0, 0.9 ** np.maximum(steps, 0))),
        ),
    )


@adaptation("SR-16", source=NAMED)
def what_an_event_changes_of_earlier_edges_is_named(specimen: Any) -> Any:
    """The last event repeats a step that was learnt before."""
    memory = memory_of(specimen)
    texts = ("Ada sang.", "Bo danced.", "Ada sang again.", "Bo danced again.")
    counts = [
        named(memory, [specimen.SUCCESSOR], Event(float(i), text, session="s", dated=False))
        for i, text in enumerate(texts)
    ]
    return [(changed > 0, missed) for changed, missed in counts[-1]], [(True, 0)]


# --- mutants --------------------------------------------------------------------------------------
def written(graph: Graph, s: int, row: dict[int, float]) -> None:
    """Write the entries of a row."""
    for j, value in row.items():
        edge = graph.add(s, j, EdgeType.COACCESS)
        graph.column("successor")[edge] = value


def read(graph: Graph, s: int, initial: float) -> dict[int, float]:
    edges = graph.neighbours(s, EdgeType.COACCESS)
    row = dict(
        zip(graph.target[edges].tolist(), graph.column("successor")[edges].tolist(), strict=True)
    )
    return row or {s: initial}


def taught(
    graph: Graph,
    s: int,
    after: Sequence[int],
    alpha: float,
    gamma: float,
    initial: float,
    *,
    mean: bool = True,
    ahead: bool = True,
    present: bool = True,
) -> None:
    """The rule on dictionaries, with optional faults."""
    aim: dict[int, float] = {s: float(present)}
    for other in after:
        for j, value in (read(graph, other, initial) if ahead else {other: 1.0}).items():
            aim[j] = aim.get(j, 0.0) + gamma * value / (len(after) if mean else 1)
    row = read(graph, s, initial)
    written(
        graph,
        s,
        {j: row.get(j, 0.0) + alpha * (aim.get(j, 0.0) - row.get(j, 0.0)) for j in {*aim, *row}},
    )


@mutant("symmetric: the step back is learnt, too", rejected_by="SR-5")
def symmetric(specimen: Any) -> Any:
    def experience(graph: Graph, before: Any, after: Any, *rest: float) -> None:
        specimen.experience(graph, before, after, *rest)
        if after:
            specimen.experience(graph, after, before, *rest)

    return specimen.replacing("experience", experience)


@mutant("co-access counts", rejected_by="SR-2")
def counts(specimen: Any) -> Any:
    def experience(graph: Graph, before: Any, after: Any, *rest: float) -> None:
        for s in before:
            for other in after:
                for a, b in ((s, other), (other, s)):
                    edge = graph.add(a, b, EdgeType.COACCESS)
                    graph.column("successor")[edge] += 1.0

    return specimen.replacing("experience", experience)


def faulty(specimen: Any, **faults: bool) -> Any:
    def experience(
        graph: Graph,
        before: Any,
        after: Any,
        alpha: float,
        gamma: float,
        least: float,
        initial: float,
    ) -> None:
        for s in before:
            taught(graph, s, after, alpha, gamma, initial, **faults)

    return specimen.replacing("experience", experience)


@mutant("probabilities that are not normalised", rejected_by="SR-3a")
def unnormalised(specimen: Any) -> Any:
    return faulty(specimen, mean=False)


@mutant("one step only", rejected_by="SR-1")
def single_step(specimen: Any) -> Any:
    return faulty(specimen, ahead=False)


@mutant("the current visit is not counted", rejected_by="SR-7a")
def without_the_present(specimen: Any) -> Any:
    return faulty(specimen, present=False)


@mutant("half the learning rate", rejected_by="SR-4c")
def half_rate(specimen: Any) -> Any:
    return specimen.replacing(
        "update",
        lambda s, nodes, values, alpha, gamma, *rest: specimen.update(
            s, nodes, values, alpha / 2, gamma, *rest
        ),
    )


@mutant("a discount of sqrt(gamma)", rejected_by="SR-4b")
def undiscounted(specimen: Any) -> Any:
    return specimen.replacing(
        "update",
        lambda s, nodes, values, alpha, gamma, *rest: specimen.update(
            s, nodes, values, alpha, gamma**0.5, *rest
        ),
    )


@mutant("only the first successor is learnt", rejected_by="SR-2b")
def first_only(specimen: Any) -> Any:
    return specimen.replacing(
        "expected_row", lambda states, *rest: specimen.expected_row(states[:1], *rest)
    )


@mutant("a session starts from where the one before it ended", rejected_by="SR-11")
def across_sessions(specimen: Any) -> Any:
    def learn(self: Any, view: Any, incoming: Any) -> None:
        row, graph, p = view.row, view.graph, self.params
        last = int(view.successor_stated[row - 1]) if row else -1
        view.successor_stated[row] = row if incoming.features.entities else last
        if incoming.features.entities and last >= 0:
            specimen.experience(
                graph,
                specimen.entities_of(graph, last),
                specimen.entities_of(graph, row),
                min(1.0, p.alpha * view.learning_rate * view.plasticity),
                specimen.further(p.discount, view.horizon),
                p.least,
                p.initial,
                incoming.event.time,
            )

    return specimen.overriding("SuccessorRepresentation", learn=learn)


@mutant("the last row counts, whether it is an event or not", rejected_by="SR-12")
def last_row(specimen: Any) -> Any:
    return specimen.replacing("last_event", lambda kind: len(kind) - 1)


@mutant("visits not divided among the memories of an entity", rejected_by="SR-9")
def unshared(specimen: Any) -> Any:
    def visits(
        states: Any,
        nodes: Any,
        values: Any,
        start: Any,
        degree: Any,
        ends: Any,
        fan: Any,
        out: Array,
    ) -> None:
        out[:] = 0.0
        for j, expected in zip(nodes, values, strict=True):
            out[ends[start[j] : start[j] + degree[j]]] += max(
                expected - np.isin(j, states) / len(states), 0.0
            )

    return specimen.replacing("visits", visits)


def _of_uses(specimen: Any, seen: Callable[[Any], dict[str, float]]) -> Any:
    """A mechanism that learns from uses with other values of what modulates it."""
    original = specimen.SuccessorRepresentation.follow

    def follow(self: Any, view: Any, cue: Any) -> None:
        original(self, Instead(view, **seen(view)), cue)

    return specimen.overriding("SuccessorRepresentation", follow=follow)


@mutant("uses teach at a plasticity of at least 1", rejected_by="SR-13")
def plastic_uses(specimen: Any) -> Any:
    return _of_uses(specimen, lambda view: {"plasticity": max(1.0, float(view.plasticity))})


@mutant("uses teach over at least the usual horizon", rejected_by="SR-13")
def long_uses(specimen: Any) -> Any:
    return _of_uses(specimen, lambda view: {"horizon": max(1.0, float(view.horizon))})


@mutant("uses of all sessions form one sequence", rejected_by="SR-13")
def one_sequence_of_uses(specimen: Any) -> Any:
    steps = specimen.step_of_use
    return specimen.replacing(
        "step_of_use",
        lambda cue, *rest: steps(replace(cue, query=replace(cue.query, session="y")), *rest),
    )


@mutant("a question is asked from the entities that it names alone", rejected_by="SR-14")
def without_a_state(specimen: Any) -> Any:
    return specimen.replacing(
        "used_last", lambda cue, used, times, visible: np.empty(0, dtype=np.int64)
    )


@mutant("the entity that is named first counts twice", rejected_by="SR-14")
def counted_twice(specimen: Any) -> Any:
    original = specimen.expected_row
    return specimen.replacing(
        "expected_row", lambda states, *rest: original(np.concatenate([states[:1], states]), *rest)
    )


@mutant("a step of uses is learnt backwards", rejected_by="SR-13")
def backwards_uses(specimen: Any) -> Any:
    def turned(*given: Any) -> Any:
        before, rows, lag = steps(*given)
        return (rows, before, lag) if before.size else (before, rows, lag)

    steps = specimen.step_of_use
    return specimen.replacing("step_of_use", turned)


@mutant("an event names none of the edges that it changes", rejected_by="SR-16")
def unnamed(specimen: Any) -> Any:
    def experience(*given: Any) -> Any:
        specimen.experience(*given)
        return []

    return specimen.replacing("experience", experience)
