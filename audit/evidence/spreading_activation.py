"""Evidence for spreading_activation.  References are linear systems in numpy, enumerated walks,
closed forms and Anderson's data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from ...engine.state.graph import Graph
from ..checks import adaptation, at_least, at_most, data, equation, limit, mutant, rival, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, plug_in
from ..paper_numbers import paper_number
from .shared.scripts import refusing

GAMMA, W = 0.65, 1.0
NUMBERS = (
    paper_number(
        "attention",
        W,
        "1",
        paper="anderson1998atomic",
        where="activation equation: total W of the sources, ACT-R's default",
    ),
)
# s; rows: fan of the location, columns: of the person
FAN_TARGETS = np.array([[1.11, 1.17, 1.22], [1.17, 1.20, 1.22], [1.15, 1.23, 1.36]])
Links = Sequence[tuple[int, int, float]]


# --- references -----------------------------------------------------------------------------------
def packed(nodes: int, links: Links) -> tuple[NDArray[Any], ...]:
    """start, degree, pool, target, strength of links (from, to, w); nodes -k count from the
    back.
    """
    order = sorted(range(len(links)), key=lambda k: links[k][0] % nodes)
    degree = np.bincount([f % nodes for f, _, _ in links], minlength=nodes)
    start = np.cumsum(degree) - degree
    return (
        start,
        degree,
        np.array(order),
        np.array([t for _, t, _ in links]),
        np.array([w for _, _, w in links], dtype=np.float64),
    )


def spread_on(
    specimen: Any, nodes: int, links: Links, held: dict[int, float], hops: int, *, limited: bool
) -> NDArray[np.float64]:
    """The specimen's activation of every node."""
    out = np.zeros(nodes)
    specimen.spread(
        np.array(list(held)),
        np.array(list(held.values())),
        *packed(nodes, links),
        GAMMA,
        hops,
        limited,
        0.0,
        out,
    )
    return out


def walked(nodes: int, links: Links, held: dict[int, float], hops: int) -> NDArray[np.float64]:
    """The definition: every walk of at most `hops` links from a seed, with the product of gamma
    w along it.
    """
    out = np.zeros(nodes)

    def walk(node: int, carried: float, left: int) -> None:
        out[node] += carried
        if left:
            for _, to, w in (link for link in links if link[0] == node):
                walk(to, carried * GAMMA * w, left - 1)

    for seed, amount in held.items():
        walk(seed, amount, hops)
    return out


def both_ways(pairs: Sequence[tuple[int, int]]) -> Links:
    return [(a, b, 1.0) for a, b in pairs] + [(b, a, 1.0) for a, b in pairs]


def random_links(rng: np.random.Generator, nodes: int, chance: float) -> Links:
    return [
        (a, b, float(rng.uniform(0.2, 1.0)))
        for a in range(nodes)
        for b in range(nodes)
        if a != b and rng.random() < chance
    ]


def rows_of_sum_one(nodes: int, links: Links) -> Links:
    total = [sum(w for f, _, w in links if f == v) for v in range(nodes)]
    return [(f, t, w / total[f]) for f, t, w in links]


def matrix(nodes: int, links: Links) -> NDArray[np.float64]:
    w = np.zeros((nodes, nodes))
    for f, t, weight in links:
        w[f, t] += weight
    return w


def star(degree: int) -> Links:
    return [(0, k, 1.0) for k in range(1, degree + 1)]


CHAIN: Links = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]
DIAMOND: Links = [(0, 1, 1.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, 1.0)]


def fan_activation(specimen: Any, person: int, location: int, attention: float = 1.0) -> float:
    """The specimen's spread to one fact from its person, location and relation, a third of W each,
    S = 1.6; the relation has one more fact.
    """
    fans = (person, location, 2)
    links = [
        (-1 - j, 0 if k == 0 else 3 * k + j, 1.0) for j, fan in enumerate(fans) for k in range(fan)
    ]
    nodes = 12 + len(fans)
    activation, out = np.zeros(nodes), np.full(12, np.nan)
    activation[-3:] = attention / 3
    start, degree, pool, target, _ = packed(nodes, links)
    specimen.respond(activation, 0.0, 1.6, 3, start, degree, pool, target, degree, out)
    return float(out[0])


# --- ACT-R's fan equation -------------------------------------------------------------------------
@equation(
    "SA-1", source="ACT-R, S = 1.6; S - ln(fan) by hand", atol=1e-6, papers=("anderson1998atomic",)
)
def strength_falls_with_the_log_of_the_fan(specimen: Any) -> Any:
    return [specimen.associative_strength(1.6, float(fan)) for fan in range(1, 6)], [
        1.6,
        0.9068528,
        0.5013877,
        0.2137056,
        -0.0094379,
    ]


@equation(
    "SA-1b",
    source="the definition, sum_j W_j (S - ln(links_j + 1)), in numpy; of some links a part is listed",
    papers=("anderson1998atomic",),
)
def activation_sums_over_the_sources_of_each_memory(specimen: Any) -> Any:
    rng, memories, entities = np.random.default_rng(1), 12, 5
    linked, held = rng.random((memories, entities)) < 0.4, rng.uniform(0.1, 1.0, entities)
    fans = linked.sum(axis=0) + np.array([0, 3, 0, 1, 7])
    expected = np.where(linked.any(axis=1), linked @ (held * (3.0 - np.log(fans + 1.0))), -1.0)
    pairs = np.argwhere(linked).tolist()
    nodes = memories + entities
    activation, fan, out = np.zeros(nodes), np.zeros(nodes, np.int32), np.full(memories, np.nan)
    names = [-1 - e for e in range(entities)]
    activation[names], fan[names] = held, fans
    start, degree, pool, target, _ = packed(
        nodes, [link for m, e in pairs for link in ((m, -1 - e, 1.0), (-1 - e, m, 1.0))]
    )
    # a source at the threshold counts
    specimen.respond(
        activation, float(held.min()), 3.0, entities, start, degree, pool, target, fan, out
    )
    named = np.full(2, np.nan)
    # a link between names reaches no memory
    links = [(-1, 0, 1.0), (-1, -2, 1.0), (-2, -1, 1.0)]
    start, degree, pool, target, _ = packed(4, links)
    specimen.respond(
        np.array([0.0, 0.0, 0.5, 1.0]), 0.0, 3.0, 2, start, degree, pool, target, degree, named
    )
    return np.nan_to_num([*out, *named], nan=-1.0), [*expected, 3.0 - math.log(3.0), -1.0]


@data(
    "SA-2",
    source="Anderson 1974, nine means of targets, as in the ACT-R tutorial; F = 0.63 and S = 1.6 of the tutorial, only the intercept free. "
    "A line over the sum of fans whose slope is fitted comes as near (0.055 s): these data do not tell the two apart",
    figure="fan_effect",
    papers=("anderson1974retrieval", "anderson1998atomic"),
    subjects="students; their number was not read",
)
def latencies_have_the_size_of_the_measured_fan_effect(specimen: Any) -> Any:
    attention = plug_in(specimen).params.attention
    latency = np.array(
        [
            [
                0.63 * math.exp(-fan_activation(specimen, person, location, attention))
                for person in (1, 2, 3)
            ]
            for location in (1, 2, 3)
        ]
    )
    off = FAN_TARGETS - latency
    return at_most(np.abs(off - off.mean()), 0.09)


@signature(
    "SA-2b",
    source="Anderson 1974: slower with each fan",
    figure="fan_effect",
    papers=("anderson1974retrieval",),
)
def latency_rises_with_each_fan(specimen: Any) -> Any:
    a = np.array(
        [
            [fan_activation(specimen, person, location) for person in (1, 2, 3)]
            for location in (1, 2, 3)
        ]
    )
    return bool((np.diff(a, axis=0) < 0).all() and (np.diff(a, axis=1) < 0).all())


# --- the linear network ---------------------------------------------------------------------------
@equation(
    "SA-3",
    source="Anderson 1983, linear network; gamma, gamma^2, gamma^3",
    figure="hops",
    papers=("anderson1983spreading",),
)
def each_hop_decays_once(specimen: Any) -> Any:
    return spread_on(specimen, 4, CHAIN, {0: 1.0}, 3, limited=False)[1:], [0.65, 0.4225, 0.274625]


@equation(
    "SA-4",
    source="Collins & Loftus 1975, intersection; 2 gamma^2",
    papers=("collins1975spreading",),
)
def converging_paths_are_summed(specimen: Any) -> Any:
    both = spread_on(specimen, 4, DIAMOND, {0: 1.0}, 3, limited=False)[3]
    single = spread_on(
        specimen, 4, [link for link in DIAMOND if 2 not in link[:2]], {0: 1.0}, 3, limited=False
    )[3]
    return [both, single], [0.845, 0.4225]


@equation(
    "SA-4b",
    source="the definition: every walk of at most three links, enumerated",
    papers=("anderson1983spreading",),
)
def activation_is_the_sum_over_all_walks(specimen: Any) -> Any:
    rng = np.random.default_rng(2)
    links, held = random_links(rng, 9, 0.4), {0: 1.0, 4: 1.0}
    shared = rows_of_sum_one(9, links)
    measured = [
        spread_on(specimen, 9, links, held, 3, limited=limited) for limited in (False, True)
    ]
    return np.ravel(measured), np.ravel([walked(9, links, held, 3), walked(9, shared, held, 3)])


def hop_by_hop(
    nodes: int,
    links: Links,
    held: Sequence[tuple[int, float]],
    gamma: float,
    hops: int,
    limited: bool,
    least: float,
) -> list[float]:
    """Activation of each node, and links followed, by the definition: in each hop every active
    node passes its share on, if it is large enough.
    """
    flow, activation, followed = np.zeros(nodes), np.zeros(nodes), 0
    for seed, amount in held:
        flow[seed] += amount
    for hop in range(hops + 1):
        activation, arriving = activation + flow, np.zeros(nodes)
        for v in np.flatnonzero(flow) if hop < hops else ():
            mine = [(t % nodes, w) for f, t, w in links if f % nodes == v]
            total = sum(w for _, w in mine) if limited else 1.0
            if gamma * flow[v] >= least * len(mine) and total > 0.0:
                followed += len(mine)
                for t, w in mine:
                    arriving[t] += gamma * flow[v] * w / total
        flow = arriving
    return [*activation, followed]


@equation(
    "SA-4c",
    source="Anderson 1983, hop by hop by the definition: seeds named twice, links of strength 0, shares at the least passed on",
    papers=("anderson1983spreading",),
)
def activation_and_links_follow_the_definition(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(5), [], []
    mixed = [(a, b, 0.0 if (a + b) % 5 == 0 else w) for a, b, w in random_links(rng, 9, 0.3)]
    even: Links = [(0, 1, 1.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, 1.0), (3, 4, 0.0), (4, 5, 1.0), (1,
        5, 0.0), (5, 0, 1.0)]  # fmt: skip
    settings = (
        (0.5, 3, True, 0.0),
        (0.5, 3, True, 0.25),
        (0.5, 4, False, 0.0),
        (0.75, 2, False, 0.125),
        (0.5, 0, True, 0.0),
    )
    for nodes, links, held in (
        (9, mixed, [(3, 0.3), (2, 0.5), (3, 0.4)]),
        (6, even, [(0, 0.5), (1, 0.25), (0, 0.5)]),
        (6, even, [(4, 1.0)]),
    ):
        for gamma, hops, limited, least in settings:
            out = np.zeros(nodes)
            seeds, amounts = (
                np.array([v for v, _ in held]),
                np.array([amount for _, amount in held]),
            )
            followed = specimen.spread(
                seeds, amounts, *packed(nodes, links), gamma, hops, limited, least, out
            )
            measured += [*out, followed]
            expected += hop_by_hop(nodes, links, held, gamma, hops, limited, least)
    return measured, expected


@equation(
    "SA-5",
    source="a = (I - gamma W^T)^-1 s of a cycle of two; truncated after three hops, its first terms",
    atol=1e-6,
    papers=("anderson1983spreading",),
)
def the_truncated_sum_converges_to_the_fixed_point_of_a_cycle(specimen: Any) -> Any:
    cycle = both_ways([(0, 1)])
    long, short = (spread_on(specimen, 2, cycle, {0: 1.0}, hops, limited=True) for hops in (100, 3))
    return [*long, *short], [1.7316017, 1.1255411, 1.0 + GAMMA**2, GAMMA + GAMMA**3]


@limit(
    "SA-5b", source="numpy.linalg.solve of the linear network", papers=("anderson1983spreading",)
)
def many_hops_solve_the_linear_system(specimen: Any) -> Any:
    rng = np.random.default_rng(3)
    links = random_links(rng, 20, 0.3)
    w = matrix(20, rows_of_sum_one(20, links))
    s = np.zeros(20)
    s[[2, 7]] = 0.5
    return spread_on(specimen, 20, links, {2: 0.5, 7: 0.5}, 150, limited=True), np.linalg.solve(
        np.eye(20) - GAMMA * w.T, s
    )


@limit(
    "SA-6",
    source="spectral radius: gamma rho(W) = 2.6 unlimited, 0.65 limited; total activation W / (1 - gamma)",
    rtol=1e-9,
    papers=("anderson1983spreading",),
)
def limited_release_converges_on_a_complete_graph(specimen: Any) -> Any:
    complete = both_ways([(a, b) for a in range(5) for b in range(a)])
    return spread_on(specimen, 5, complete, {0: 1.0}, 200, limited=True).sum(), 1.0 / (1.0 - GAMMA)


@equation("SA-7", source="linearity", atol=1e-12, papers=("anderson1983spreading",))
def activations_of_two_seeds_superpose(specimen: Any) -> Any:
    links = random_links(np.random.default_rng(4), 12, 0.3)
    a, b, both = (
        spread_on(specimen, 12, links, held, 3, limited=True)
        for held in ({0: 1.0}, {1: 1.0}, {0: 1.0, 1: 1.0})
    )
    return both, a + b


@signature(
    "SA-8",
    source="Anderson 1974, fan; shares gamma/10 and gamma/6 against a threshold of 0.1",
    figure="hops",
    papers=("anderson1974retrieval",),
)
def a_hub_gives_less_to_each_of_its_neighbours(specimen: Any) -> Any:
    shares = [
        spread_on(specimen, degree + 1, star(degree), {0: 1.0}, 1, limited=True)[1]
        for degree in (10, 6)
    ]
    return [*shares, shares[0] >= 0.1, shares[1] >= 0.1], [0.065, GAMMA / 6, False, True]


# --- in a memory ----------------------------------------------------------------------------------
# texts, and the mentions of each name, counted by hand
STORY: tuple[tuple[str, dict[str, int]], ...] = (
    ("Yesterday Ada met Bo, and later Ada sang.", {"ada": 2, "bo": 1}),
    ("They say Bo moved to Lisbon, since Bo likes Lisbon, and Bo paints.", {"bo": 3, "lisbon": 2}),
    ("In winter Lisbon was warm.", {"lisbon": 1}),
    ("So Mia's friend met Ada in Lisbon.", {"mia": 1, "ada": 1, "lisbon": 1}),
    ("Nothing was said.", {}),
    ("Some say Cleo and Mia sail, and Mia steers.", {"cleo": 1, "mia": 2}),
    ("And Cleo sleeps.", {"cleo": 1}),
)
NAMES = ("ada", "bo", "lisbon", "mia", "cleo")


def story_in(specimen: Any, **values: Any) -> Any:
    """A memory of the story, with one event vetoed between the second and the third, and the
    third archived.
    """

    memory = memory_of(specimen, refusing("vetoed"), **values)
    texts = [text for text, _ in STORY]
    encode(
        memory,
        *(
            (float(i), text)
            for i, text in enumerate([*texts[:2], "So Ada was vetoed by Bo.", *texts[2:]])
        ),
    )
    memory.archive(2)
    return memory


def from_names(
    asked: Sequence[str],
    attention: float,
    gamma: float,
    depth: int,
    threshold: float,
    margin: float,
    least: float,
    shown: float = 1.0,
    elsewhere: int = 0,
) -> Any:
    """The linear network between the memories and names of the story by matrices, then ACT-R's sum
    over names; NaN where nothing arrives.

    shown, elsewhere  the share of all memories that is the story, and how many others each name has
    """
    mentions = np.array([[counts.get(name, 0) for name in NAMES] for _, counts in STORY])
    n, e = mentions.shape
    tie = np.where(mentions > 0, 1.0 + np.log(np.maximum(mentions, 1)), 0.0)
    links = np.block([[np.zeros((n, n)), tie], [tie.T, np.zeros((e, e))]])
    degree, total = (links > 0).sum(axis=1), links.sum(axis=1)
    flow, activation = np.zeros(n + e), np.zeros(n + e)
    flow[[n + NAMES.index(name) for name in asked]] = attention / len(asked)
    for hop in range(depth):
        activation += flow
        if hop < depth - 1:
            released = np.where(gamma * flow >= least * degree, gamma * flow, 0.0) / np.where(
                total > 0.0, total, 1.0
            )
            flow = links.T @ released
    source = np.where(activation[n:] >= threshold, activation[n:], 0.0)
    sent = source * (math.log(n / shown + 1.0) + margin - np.log(degree[n:] + elsewhere + 1.0))
    reached = (tie > 0.0) & (source > 0.0)
    return np.where(reached.any(axis=1), reached @ sent, np.nan)


@equation(
    "SA-11",
    source="Anderson 1983, linear network, by matrices; ACT-R, sum of W_j (S - ln(links + 1)), S = ln(n + 1) + margin",
    rtol=1e-6,
    papers=("anderson1998atomic", "anderson1983spreading"),
)
def a_memory_spreads_from_the_names_of_the_query(specimen: Any) -> Any:
    measured, expected = [], []
    names = ("attention", "gamma", "depth", "threshold", "margin", "least_share")
    for values in (
        (W, GAMMA, 3, 0.01, 0.1, 0.0),
        (1.7, 0.4, 1, 0.02, 0.3, 0.01),
        (1.7, 0.8, 5, 0.08, 0.3, 0.0),
        (1.0, 0.7, 4, 0.0, 0.1, 0.15),
        (1.0, 0.5, 5, 0.21, 0.2, 0.0),
        (W, 0.6, 2, 0.0, 0.1, 0.0),
    ):
        memory = story_in(specimen, **dict(zip(names, values, strict=True)))
        for query, asked in (
            ("Did Ada see Cleo?", ("ada", "cleo")),
            ("Was it Bo, or Zoe?", ("bo",)),
            ("Is it Mia, Ada or Lisbon?", ("mia", "ada", "lisbon")),
        ):
            memory.retrieve(query)
            measured.append(memory.column(specimen.SPREAD).tolist())
            expected.append(from_names(asked, *values))
        for query in ("Is it warm?", "Was it Zoe?"):
            memory.retrieve(query)
            measured.append(memory.column(specimen.SPREAD).tolist())
            expected.append(np.full(len(STORY), np.nan))
    return np.nan_to_num(measured, nan=-9.0), np.nan_to_num(expected, nan=-9.0)


@equation(
    "SA-11b",
    source="as SA-11, of a fifth of all memories, where each name has three others",
    rtol=1e-6,
    papers=("anderson1998atomic", "anderson1983spreading"),
)
def of_a_shortlist_the_fan_is_that_of_all_memories(specimen: Any) -> Any:
    memory, values = (
        story_in(
            specimen, attention=1.7, gamma=0.4, depth=2, threshold=0.02, margin=0.3, least_share=0.0
        ),
        (1.7, 0.4, 2, 0.02, 0.3, 0.0),
    )
    with (
        patch.object(memory.store.graph, "whole_rows", 5 * memory.graph.n_rows),
        patch.object(Graph, "fan", lambda graph, type: graph.csr(type).degree + 3),
    ):
        memory.retrieve("Did Ada see Cleo?")
    measured = memory.column(specimen.SPREAD)
    return np.nan_to_num(measured, nan=-9.0), np.nan_to_num(
        from_names(("ada", "cleo"), *values, shown=0.2, elsewhere=3), nan=-9.0
    )


@adaptation(
    "SA-12",
    source="ours: 1 + ln of the number of mentions, counted by hand, in both directions of a link",
)
def a_memory_links_a_name_by_its_mentions(specimen: Any) -> Any:
    memory = story_in(specimen)
    graph, strength = memory.graph, memory.column(specimen.ASSOCIATION)
    strengths = {
        (int(graph.source[k]), int(graph.target[k])): float(strength[k])
        for k in range(graph.n_edges)
    }
    expected = {}
    for row, (_, counts) in enumerate(STORY):
        for name, count in counts.items():
            for link in ((row, -1 - NAMES.index(name)), (-1 - NAMES.index(name), row)):
                expected[link] = 1.0 + math.log(count)
    return sorted((*link, w) for link, w in strengths.items()), sorted(
        (*link, float(np.float32(w))) for link, w in expected.items()
    )


# --- the adaptation -------------------------------------------------------------------------------
@adaptation(
    "SA-9", source="conservation: at most W (gamma + gamma^2 + gamma^3) is released in three hops"
)
def the_least_share_bounds_the_links_followed_in_any_graph(specimen: Any) -> Any:
    memories = 3000
    links = both_ways(
        [(m, -1) for m in range(memories)] + [(m, -2 - m % 40) for m in range(memories)]
    )
    out, least = np.zeros(memories + 41), 1e-3
    followed = specimen.spread(
        np.array([-1, -2]),
        np.array([0.5, 0.5]),
        *packed(memories + 41, links),
        GAMMA,
        3,
        True,
        least,
        out,
    )
    return at_most(followed, (GAMMA + GAMMA**2 + GAMMA**3) / least)


@adaptation("SA-10", source="fan of an entity that every one of n memories mentions is n + 1")
def strengths_stay_positive_at_the_largest_fan(specimen: Any) -> Any:
    fans = np.array([2.0, 10.0, 1e5])
    return at_least(
        [specimen.associative_strength(math.log(fan) + 0.1, fan) for fan in fans], 0.1 - 1e-12
    )


# --- helper of the mutants ------------------------------------------------------------------------
def breadth_first(
    seeds: Any,
    attention: Any,
    start: Any,
    degree: Any,
    pool: Any,
    target: Any,
    strength: Any,
    gamma: float,
    hops: int,
    out: Any,
    decay: Any,
    first_only: bool,
) -> int:
    """Activate every node once, at its distance d, from its parents (or the first of them),
    times decay(d).
    """
    level, seen = list(seeds), set(seeds)
    out[seeds] = attention
    for d in range(1, hops + 1):
        arriving: dict[int, float] = {}
        for v in level:
            for edge in pool[start[v] : start[v] + degree[v]]:
                w = int(target[edge])
                if w not in seen and not (first_only and w in arriving):
                    arriving[w] = arriving.get(w, 0.0) + out[v] * strength[edge] * decay(d)
        for w, a in arriving.items():
            out[w] = a
        level, seen = list(arriving), seen | set(arriving)
    return 0


# --- figures --------------------------------------------------------------------------------------
@figure(
    "fan_effect",
    caption="Time to recognise a fact rises with the number of facts about its person and its place, in the mechanism and in the "
    "experiment",
    source="Anderson 1974, targets; F = 0.63 s, with one intercept fitted",
)
def latency_over_the_fan(specimen: Any) -> Picture:
    fans = np.array([1, 2, 3])
    latency = np.array(
        [
            [
                0.63 * math.exp(-fan_activation(specimen, int(person), int(location)))
                for person in fans
            ]
            for location in fans
        ]
    )
    latency += FAN_TARGETS.mean() - latency.mean()
    return Picture(
        "facts about the person",
        "time to recognise, s",
        (
            *(Curve(f"mechanism, {n} at the place", fans, latency[i]) for i, n in enumerate(fans)),
            *(
                dots(f"Anderson 1974, {n} at the place", fans, FAN_TARGETS[i])
                for i, n in enumerate(fans)
            ),
        ),
    )


@figure(
    "hops",
    caption="Activation along a chain: each hop multiplies it by the same factor, and a node with two links gives half to each "
    "neighbour",
    source="Anderson 1983, linear network: gamma^d",
)
def activation_over_hops(specimen: Any) -> Picture:
    hops, chain = np.arange(7), [(v, v + 1, 1.0) for v in range(6)]
    # at every node one more link
    fork = [*chain, *((v, 7 + v, 1.0) for v in range(6))]
    return Picture(
        "hops from the cue",
        "activation",
        (
            Curve(
                "chain of links", hops, spread_on(specimen, 7, chain, {0: 1.0}, 6, limited=False)
            ),
            Curve(
                "two links at every node, shared",
                hops,
                spread_on(specimen, 13, fork, {0: 1.0}, 6, limited=True)[:7],
            ),
            dots("gamma^d", hops, GAMMA**hops),
        ),
        log="y",
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("gamma^d applied to an activation that already decayed", rejected_by="SA-3")
def double_decay(specimen: Any) -> Any:
    return specimen.replacing(
        "spread",
        lambda s, a, st, de, po, ta, w, gamma, hops, limited, least, out: breadth_first(
            s, a, st, de, po, ta, w, gamma, hops, out, lambda d: gamma**d, False
        ),
    )


@mutant("breadth-first search that ignores a second arrival", rejected_by="SA-4")
def first_visit(specimen: Any) -> Any:
    return specimen.replacing(
        "spread",
        lambda s, a, st, de, po, ta, w, gamma, hops, limited, least, out: breadth_first(
            s, a, st, de, po, ta, w, gamma, hops, out, lambda d: gamma, True
        ),
    )


@mutant("breadth-first search that never returns to a node", rejected_by="SA-7")
def no_return(specimen: Any) -> Any:
    return specimen.replacing(
        "spread",
        lambda s, a, st, de, po, ta, w, gamma, hops, limited, least, out: breadth_first(
            s, a, st, de, po, ta, w, gamma, hops, out, lambda d: gamma, False
        ),
    )


@mutant("release is not shared among the links", rejected_by="SA-8")
def fan_free(specimen: Any) -> Any:
    return specimen.replacing(
        "spread",
        lambda s, a, st, de, po, ta, w, gamma, hops, limited, least, out: specimen.spread(
            s, a, st, de, po, ta, w, gamma, hops, False, least, out
        ),
    )


@rival("a constant: no fan effect", rejected_by="SA-2")
def no_fan(specimen: Any) -> Any:
    return specimen.replacing("associative_strength", lambda strongest, fan: strongest)


@rival("strength falls with the fan itself, not with its log", rejected_by="SA-2")
def linear_fan(specimen: Any) -> Any:
    return specimen.replacing("associative_strength", lambda strongest, fan: strongest - fan)


@rival("strength is divided by the fan", rejected_by="SA-2")
def divided_strength(specimen: Any) -> Any:
    return specimen.replacing("associative_strength", lambda strongest, fan: strongest / fan)


@mutant("associative strength independent of the fan", rejected_by="SA-2b")
def flat_strength(specimen: Any) -> Any:
    return specimen.replacing("associative_strength", lambda strongest, fan: strongest)


@mutant("the hook gives each name of the query all of W", rejected_by="SA-11")
def undivided(specimen: Any) -> Any:
    original = specimen.spread

    def spread(seeds: Any, attention: Any, *rest: Any) -> Any:
        return original(seeds, attention * len(seeds), *rest)

    return specimen.replacing("spread", spread)


@mutant("mentions are not counted", rejected_by="SA-12")
def uncounted(specimen: Any) -> Any:
    return specimen.replacing("prominence", lambda mentions: 1.0)
