"""Evidence for personalized_pagerank.  References are linear systems in numpy, networkx, closed
forms and stationary distributions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import GRAPH, HIDE
from ...engine.state.graph import EdgeType, entity_node
from ...mechanisms.shared.synonyms import SYNONYMS
from ..checks import adaptation, at_least, at_most, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour
from ..paper_numbers import paper_number
from .shared import walks
from .shared.views import Instead
from .shared.walks import PATH, both_ways, directed, solved, undirected, walked

D = 0.5
NUMBERS = (
    paper_number(
        "damping",
        D,
        "1",
        paper="jimenez2024hipporag",
        where="implementation details: damping factor 0.5",
    ),
)


# --- PageRank -------------------------------------------------------------------------------------
@equation(
    "PR-1",
    source="a path of three nodes, solved by hand",
    atol=1e-7,
    papers=("page1999pagerank", "haveliwala2002topic"),
)
def the_walk_on_a_path_solves_the_linear_system(specimen: Any) -> Any:
    measured = [walked(specimen, 3, PATH, {0: 1.0}, d)[0] for d in (0.5, 0.85)]
    return np.ravel(measured), [0.5833333, 0.3333333, 0.0833333, 0.3452703, 0.4594595, 0.1952703]


@equation(
    "PR-2",
    source="numpy.linalg.solve of (I - d P^T) pi = (1 - d) s",
    atol=1e-10,
    papers=("page1999pagerank", "haveliwala2002topic"),
)
def iteration_converges_to_the_solution(specimen: Any) -> Any:
    links, held = directed(np.random.default_rng(1), 40, 0.1, dangling=3), {2: 0.3, 7: 0.7}
    return np.ravel([walked(specimen, 40, links, held, d)[0] for d in (0.5, 0.85)]), np.ravel(
        [solved(40, links, held, d) for d in (0.5, 0.85)]
    )


@equation(
    "PR-2b",
    source="error <= 2 d^t: 21 rounds at d = .5 and 90 at .85 leave less than 1e-6",
    papers=("page1999pagerank", "haveliwala2002topic"),
)
def the_error_falls_by_a_factor_d_per_round(specimen: Any) -> Any:
    links, held = directed(np.random.default_rng(2), 60, 0.1), {0: 1.0}
    off = [
        np.abs(walked(specimen, 60, links, held, d, rounds=t)[0] - solved(60, links, held, d)).sum()
        for d, t in ((0.5, 21), (0.85, 90))
    ]
    return at_most(off, 1e-6)


@equation(
    "PR-2c",
    source="networkx.pagerank, whose alpha is d",
    atol=1e-9,
    figure="mass_over_hops",
    papers=("page1999pagerank", "haveliwala2002topic"),
)
def networkx_agrees(specimen: Any) -> Any:
    import networkx as nx

    links, held = directed(np.random.default_rng(3), 30, 0.12, dangling=2), {1: 0.25, 5: 0.75}
    graph = nx.DiGraph(links)
    graph.add_nodes_from(range(30))
    theirs = nx.pagerank(graph, alpha=0.85, personalization=held, tol=1e-13, max_iter=1000)
    return walked(specimen, 30, links, held, 0.85)[0], [theirs[v] for v in range(30)]


@equation(
    "PR-3",
    source="a probability; the restart alone gives a seed 1 - d",
    atol=1e-12,
    papers=("page1999pagerank", "haveliwala2002topic"),
)
def mass_is_conserved_and_seeds_keep_their_share(specimen: Any) -> Any:
    rng = np.random.default_rng(4)
    kept = []
    for epsilon in (0.0, 1e-3, 1e-2):
        pi, _ = walked(specimen, 50, directed(rng, 50, 0.08, dangling=4), {0: 1.0}, 0.5, epsilon)
        kept.append(float(pi.sum()) if (pi >= 0.0).all() and pi[0] >= 0.5 else math.nan)
    return kept, [1.0, 1.0, 1.0]


@equation(
    "PR-3b",
    source="linearity in s, without dangling nodes",
    atol=1e-12,
    papers=("page1999pagerank", "haveliwala2002topic"),
)
def walks_from_two_seeds_superpose(specimen: Any) -> Any:
    links = undirected(np.random.default_rng(5), 40)
    a, b, both = (
        walked(specimen, 40, links, held, 0.5)[0] for held in ({3: 1.0}, {9: 1.0}, {3: 0.2, 9: 0.8})
    )
    return both, 0.2 * a + 0.8 * b


@limit(
    "PR-4",
    source="d -> 0: no steps",
    atol=1e-12,
    papers=("page1999pagerank", "haveliwala2002topic"),
)
def without_steps_the_walker_stays_at_the_start(specimen: Any) -> Any:
    pi, _ = walked(specimen, 20, undirected(np.random.default_rng(6), 20), {4: 0.4, 8: 0.6}, 0.0)
    return [pi[4], pi[8], pi.sum()], [0.4, 0.6, 1.0]


@limit(
    "PR-4b",
    source="d -> 1 on a connected undirected graph that is not bipartite: pi is proportional to degree",
    atol=1e-7,
    papers=("page1999pagerank", "haveliwala2002topic"),
)
def without_restarts_probability_is_proportional_to_degree(specimen: Any) -> Any:
    links = undirected(np.random.default_rng(7), 25)
    degree = np.bincount([f for f, _ in links])
    return walked(specimen, 25, links, {0: 1.0}, 1.0 - 1e-9, rounds=5000)[0], degree / degree.sum()


@equation(
    "PR-5",
    source="a chain 0 -> 1: pi = (2/3, 1/3) by hand",
    atol=1e-9,
    papers=("page1999pagerank", "haveliwala2002topic"),
)
def a_node_without_links_returns_to_the_start(specimen: Any) -> Any:
    return walked(specimen, 2, [(0, 1)], {0: 1.0}, 0.5)[0], [2 / 3, 1 / 3]


# --- HippoRAG -------------------------------------------------------------------------------------
specificity = signature("PR-6", source=walks.SPECIFIC, papers=("jimenez2024hipporag",))(
    walks.an_entity_of_ten_memories_gets_a_tenth_of_the_restarts
)
passage_scores = equation("PR-6b", source=walks.SUMS, papers=("jimenez2024hipporag",))(
    walks.a_memory_scores_the_sum_over_its_entities
)


# --- pushing, and the adaptation ------------------------------------------------------------------
@equation(
    "PR-7",
    source="Andersen, Chung & Lang 2006: |pi_v - exact_v| <= epsilon degree_v on an undirected graph; numpy.linalg.solve",
    papers=("andersen2006local",),
)
def pushing_is_exact_to_epsilon_per_link(specimen: Any) -> Any:
    links = undirected(np.random.default_rng(9), 300)
    degree, exact, epsilon = (
        np.bincount([f for f, _ in links]),
        solved(300, links, {0: 1.0}, 0.7),
        1e-4,
    )
    return at_most(
        np.abs(walked(specimen, 300, links, {0: 1.0}, 0.7, epsilon)[0] - exact) / degree, epsilon
    )


@equation(
    "PR-7b",
    source="as above: each link followed costs the residual epsilon (1 - d); 20 to 20,000 memories around two hubs",
    papers=("andersen2006local",),
)
def the_links_followed_do_not_grow_with_the_memory(specimen: Any) -> Any:
    followed = []
    for memories in (20, 20_000):
        links = both_ways(
            [(m, -1 - m % 2) for m in range(memories)] + [(m, -3 - m % 50) for m in range(memories)]
        )
        followed.append(walked(specimen, memories + 52, links, {-3: 1.0}, 0.5, 1e-3)[1][1])
    return at_most(followed, 1.0 / (1e-3 * 0.5))


pushing = equation("PR-7c", source=walks.PUSHED, papers=("andersen2006local",))(
    walks.pushing_follows_the_definition_round_by_round
)


@adaptation(
    "PR-8",
    source="numpy.linalg.solve on the graph of entities that share a memory, damping d; sqrt(d) on each of the two links",
)
def two_links_are_one_step_between_entities(specimen: Any) -> Any:
    rng, memories, entities, d = np.random.default_rng(10), 30, 8, 0.5
    mentions = rng.random((memories, entities)) < 0.3
    mentions[np.arange(memories), rng.integers(entities, size=memories)] = True
    mentions[np.arange(entities), np.arange(entities)] = True
    links = both_ways([(int(m), -1 - int(e)) for m, e in np.argwhere(mentions)])
    pi, _ = walked(specimen, memories + entities, links, {-1: 1.0}, math.sqrt(d))
    step = (mentions / mentions.sum(axis=0)).T @ (mentions / mentions.sum(axis=1, keepdims=True))
    exact = (1 - d) * np.linalg.solve(np.eye(entities) - d * step.T, np.eye(entities)[0])
    measured = pi[::-1][:entities]
    return measured / measured.sum(), exact


@adaptation(
    "PR-9",
    source="ours: the memory with both names of the query ranks first, and one linked to it is found",
    needs="engine",
)
def a_query_reaches_memories_without_its_entities(specimen: Any) -> Any:
    from ...engine.memory.engine import Engine
    from ...engine.ports.embedder import HashingEmbedder

    texts = (
        "Yesterday Ada met Bo again.",
        "They say Bo moved to Lisbon.",
        "In winter Lisbon was warm.",
        "Nobody wrote to Cleo.",
    )
    params = specimen.PersonalizedPageRankParams(
        time_scale=1.0, damping=0.5, epsilon=1e-6, passages=0.0, weight=1.0
    )
    memory = Engine(
        [specimen.PersonalizedPageRank("personalized_pagerank", params)], HashingEmbedder(16)
    )
    memory.encode_all(Event(float(i), text) for i, text in enumerate(texts))
    scores = memory.retrieve("Did Ada see Bo?").final
    return at_least([scores[0] - scores[1], scores[1] - scores[2], scores[2] - scores[3]], 1e-6)


STORY = (
    ("Yesterday Ada met Bo.", ("ada", "bo")),
    ("They say Bo moved to Lisbon.", ("bo", "lisbon")),
    ("In winter Lisbon was warm.", ("lisbon",)),
    ("So Mia met Ada in Lisbon.", ("mia", "ada", "lisbon")),
    ("Nothing was said.", ()),
    ("Some say Cleo and Dan sail.", ("cleo", "dan")),
    ("And Cleo sleeps.", ("cleo",)),
    ("And Eve sleeps.", ("eve",)),
)
NAMES = ("ada", "bo", "lisbon", "mia", "cleo", "dan", "eve")


def pushed(
    asked: Sequence[str], d: float, epsilon: float, near: Sequence[tuple[str, str]] = ()
) -> NDArray[np.float64]:
    """Each memory's sum of pi over its names, NaN without mass: restarts by specificity, at most
    1000 rounds of pushing; Eve has lost her link.

    near  pairs of names with a link each way, which do not count for specificity
    """
    mentions = np.array(
        [[float(name in names and name != "eve") for name in NAMES] for _, names in STORY]
    )
    n, e = mentions.shape
    synonyms, pi, residual = np.zeros((e, e)), np.zeros(n + e), np.zeros(n + e)
    for first, second in near:
        synonyms[
            [NAMES.index(first), NAMES.index(second)], [NAMES.index(second), NAMES.index(first)]
        ] = 1.0
    links = np.block([[np.zeros((n, n)), mentions], [mentions.T, synonyms]])
    degree = links.sum(axis=1)
    for name in asked:
        residual[n + NAMES.index(name)] = 1.0 / mentions[:, NAMES.index(name)].sum()
    residual /= residual.sum()
    damping = math.sqrt(d)
    for _ in range(1000):
        flow = np.where(residual >= epsilon * np.maximum(degree, 1.0), residual, 0.0)
        if not flow.any():
            break
        pi += (1.0 - damping) * flow
        residual = residual - flow + damping * links.T @ (flow / np.maximum(degree, 1.0))
    pi = (pi + residual)[n:]
    return np.where(mentions @ pi > 0.0, mentions @ pi, np.nan)


def forget_eve(view: Any, _: Any) -> None:
    eve = entity_node(view.graph.entity_id("eve"))
    if view.graph.csr(EdgeType.ENTITY).degree[eve]:
        view.graph.remove(int(view.graph.neighbours(eve, EdgeType.ENTITY)[0]))


@equation(
    "PR-10",
    source="HippoRAG: node specificity, personalized PageRank, passage score; Andersen, Chung & Lang 2006: pushing; by matrices",
    rtol=1e-6,
    papers=("jimenez2024hipporag", "haveliwala2002topic", "andersen2006local"),
)
def a_memory_walks_from_the_names_of_the_query(specimen: Any) -> Any:
    measured, expected = [], []
    for d, epsilon in ((D, 0.0), (0.99, 0.0), (D, 0.02), (0.3, 0.1)):
        memory = memory_of(
            specimen,
            neighbour(Phase.MAINTAIN, forget_eve, sets=(GRAPH,)),
            damping=d,
            epsilon=epsilon,
        )
        encode(memory, *((0.1 * i, text) for i, (text, _) in enumerate(STORY)))
        memory.advance(2.0)
        memory.archive(1)
        for query, asked in (
            ("Did Ada see Lisbon?", ("ada", "lisbon")),
            ("Was it Bo, Eve or Zoe?", ("bo",)),
            ("Is it Dan or Mia?", ("dan", "mia")),
        ):
            memory.retrieve(query)
            measured.append(memory.column(specimen.PAGERANK).tolist())
            expected.append(pushed(asked, d, epsilon))
        for query in ("Is it warm?", "Was it Eve or Zoe?"):
            memory.retrieve(query)
            measured.append(memory.column(specimen.PAGERANK).tolist())
            expected.append(np.full(len(STORY), np.nan))
    return np.nan_to_num(measured, nan=-1.0), np.nan_to_num(expected, nan=-1.0)


NEAR = (("ada", "cleo"), ("mia", "lisbon"), ("lisbon", "dan"))


@equation(
    "PR-13",
    source="HippoRAG: synonymy edges, and the entity nearest to an unknown name; by the matrices of PR-10",
    rtol=1e-6,
    papers=("jimenez2024hipporag",),
)
def a_memory_walks_over_names_of_near_meaning(specimen: Any) -> Any:
    def embed(names: Sequence[str]) -> NDArray[np.float32]:
        return np.eye(len(NAMES), dtype=np.float32)[
            [NAMES.index({"zoe": "bo"}.get(name, name)) for name in names]
        ]

    def synonyms(view: Any, cue: Any) -> None:
        if cue.query.text == alone:
            return
        names = [view.graph.entity_name(e) for e in range(view.graph.n_entities)]
        pairs = np.array(
            [[names.index(first), names.index(second)] for first, second in NEAR], np.int64
        )
        view.synonyms.put(cue, names, embed, lambda _, first: pairs if first == 0 else pairs[:0])
        view.synonyms.link(cue.features.entities, embed)
        if cue.query.text in starts:
            view.synonyms.start(starts[cue.query.text])

    alone = "Was it Mia or Zoe?"  # nothing is put for this query, and nothing of another one holds
    # where other mechanisms let the walk start, in place of the names: nowhere, too
    starts = {"Where is Ada, then?": ("cleo", "dan"), "Where was Ada?": ()}
    measured, expected = [], []
    memory = memory_of(
        specimen,
        neighbour(Phase.MAINTAIN, forget_eve, sets=(GRAPH,), id="forget"),
        neighbour(Phase.RETRIEVE, synonyms, reads=(GRAPH,), sets=(SYNONYMS,), id="synonyms"),
        damping=0.7,
        epsilon=0.0,
    )
    encode(memory, *((0.1 * i, text) for i, (text, _) in enumerate(STORY)))
    memory.advance(2.0)
    for query, asked in (
        ("Did Ada see Lisbon?", ("ada", "lisbon")),
        ("Was it Zoe?", ("bo",)),
        ("Is it Dan or Mia?", ("dan", "mia")),
        *starts.items(),
        ("Where is Ada?", ("ada",)),
        ("Was it Bo, Zoe or Dan?", ("bo", "dan")),  # Bo once, though two names stand for him
        ("Is it Zoe, then?", ("bo",)),
    ):
        memory.retrieve(query)
        measured.append(memory.column(specimen.PAGERANK).tolist())
        expected.append(pushed(asked, 0.7, 0.0, NEAR) if asked else np.full(len(STORY), np.nan))
    memory.retrieve(alone)
    measured.append(memory.column(specimen.PAGERANK).tolist())
    expected.append(pushed(("mia",), 0.7, 0.0))
    return np.nan_to_num(measured, nan=-1.0), np.nan_to_num(expected, nan=-1.0)


# --- HippoRAG 2 -----------------------------------------------------------------------------------
@adaptation(
    "PR-11",
    source="HippoRAG 2: similarities on [0, 1] over the allowed memories times the weight, in numpy",
    rtol=1e-12,
)
def memories_start_by_their_similarity(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(12), [], []
    for n, weight in ((1, 0.05), (2, 0.05), (30, 0.05), (30, 1.7)):
        cosine, allowed, out = rng.uniform(-1.0, 1.0, n), rng.random(n) < 0.7, np.full(n, 9.0)
        allowed[cosine.argmax()] = n < 3
        specimen.restarts(cosine, allowed, weight, out)
        low, high = min(cosine[allowed], default=0.0), max(cosine[allowed], default=0.0)
        measured += [*out]
        expected += [
            weight * (c - low) / (high - low) if a and high > low else 0.0
            for c, a in zip(cosine, allowed, strict=True)
        ]
    return measured, expected


@adaptation(
    "PR-12",
    source="HippoRAG 2: restarts at names and memories, pi of each memory by a linear system in numpy; NaN where nobody is named",
    rtol=1e-5,
    atol=1e-7,
)
def a_memory_walks_from_names_and_memories(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(13), [], []
    mentions = np.array([[float(name in names) for name in NAMES] for _, names in STORY])
    n, e = mentions.shape
    links = np.block([[np.zeros((n, n)), mentions], [mentions.T, np.zeros((e, e))]])
    for d, weight in ((D, 0.05), (0.8, 2.0)):
        for query, asked in (
            ("Did Ada see Lisbon?", ("ada", "lisbon")),
            ("Is it Dan or Zoe?", ("dan",)),
            ("Is it warm?", ()),
        ):
            vectors = rng.normal(size=(n + 1, 5))
            unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            memory = memory_of(
                specimen,
                damping=d,
                epsilon=0.0,
                passages=weight,
                embedder=Scripted(
                    {query: vectors[n]} | {text: vectors[i] for i, (text, _) in enumerate(STORY)}
                ),
            )
            encode(memory, *((0.1 * i, text) for i, (text, _) in enumerate(STORY)))
            memory.archive(1)
            memory.retrieve(query)
            measured.append(np.nan_to_num(memory.column(specimen.PAGERANK), nan=-1.0))
            seen, c = [i for i in range(n) if i != 1], unit[:n] @ unit[n]
            s = np.zeros(n + e)
            s[seen] = weight * (c[seen] - c[seen].min()) / (c[seen].max() - c[seen].min())
            for name in asked:
                s[n + NAMES.index(name)] = 1.0 / mentions[:, NAMES.index(name)].sum()
            s /= s.sum()
            out = links.sum(axis=1)
            step = np.where(out[:, None] > 0, links / np.maximum(out, 1.0)[:, None], s)
            pi = (1.0 - d) * np.linalg.solve(np.eye(n + e) - d * step.T, s)[:n]
            expected.append(np.where(pi > 1e-12, pi, -1.0) if asked else np.full(n, -1.0))
    return np.array(measured), np.array(expected)


@limit(
    "PR-14",
    source="definition: entities are linked by a relation that a visible memory tells, and by none that hidden memories alone tell",
)
def a_relation_that_nobody_can_see_links_nothing(specimen: Any) -> Any:
    """The first text tells the only relation; a mechanism hides it, and its text stays.  Told
    `again`, by another text, it is seen.
    """

    def hide(view: Any, _: Any) -> None:
        view.hide[0] = 1

    def scores(*others: str, hidden: bool, again: bool = False) -> Any:
        hiding = [neighbour(Phase.CONSOLIDATE, hide, adds=(HIDE,), id="hiding")] if hidden else []
        memory = memory_of(specimen, *others, *hiding)
        encode(
            memory,
            (0.0, "Ada is married to Bo."),
            (1.0, "Ada sings in Lisbon."),
            (2.0, "Bo sails in Porto."),
            *([(3.0, "So Bo is married to Ada.")] if again else []),
        )
        memory.advance(30.0)
        memory.retrieve("Who is Ada?")
        return np.nan_to_num(memory.column(specimen.PAGERANK)[1:], nan=-1.0)

    related = scores("typed_relations", hidden=False)
    told = float((related != scores(hidden=False)).any())
    twice = scores("typed_relations", hidden=True, again=True)
    seen = float((twice != scores(hidden=True, again=True)).any())
    return [*scores("typed_relations", hidden=True), told, seen], [*scores(hidden=True), 1.0, 1.0]


# --- helper of the mutants ------------------------------------------------------------------------
def iterated(dangling: str, normalised: bool) -> Any:
    """The power iteration in numpy with one rule changed."""

    def walk(
        seeds: Any,
        share: Any,
        start: Any,
        degree: Any,
        ends: Any,
        d: float,
        epsilon: float,
        rounds: int,
        rank: Any,
    ) -> Any:
        size = rank.shape[0]
        s = np.zeros(size)
        np.add.at(s, seeds, share)
        source = np.repeat(np.arange(size), degree)
        targets = np.concatenate(
            [ends[start[v] : start[v] + degree[v]] for v in range(size)]
        ).astype(int)
        out, pi = np.where(degree > 0, degree if normalised else degree.max(), 1), s.copy()
        for _ in range(min(rounds, 300)):
            new = (1.0 - d) * s
            np.add.at(new, targets, d * (pi / out)[source])
            if dangling == "uniform":
                new += d * pi[degree == 0].sum() / size
            elif dangling == "start":
                new += d * pi[degree == 0].sum() * s
            pi = new
        rank[:] = pi
        return rounds, 0, 0.0

    return walk


# --- figures --------------------------------------------------------------------------------------
@figure(
    "mass_over_hops",
    caption="Stationary probability of a walk with restart on a path of nine nodes: highest near the start, and further out "
    "with a higher damping",
    source="networkx.pagerank, whose alpha is d",
)
def mass_by_the_hops_from_the_seed(specimen: Any) -> Picture:
    import networkx as nx

    nodes, links = 9, both_ways([(v, v + 1) for v in range(8)])
    hops, curves, theirs = np.arange(nodes), [], []
    for d in (0.5, 0.85):
        pi = walked(specimen, nodes, links, {0: 1.0}, d)[0]
        graph = nx.pagerank(
            nx.DiGraph(links), alpha=d, personalization={0: 1.0}, tol=1e-12, max_iter=1000
        )
        curves.append(Curve(f"mechanism, d = {d:g}", hops, pi))
        theirs.append(dots(f"networkx, d = {d:g}", hops, [graph[v] for v in range(nodes)]))
    return Picture("hops from the start", "probability", (*curves, *theirs), log="y")


# --- mutants --------------------------------------------------------------------------------------
@mutant("the mass of a dead end is lost", rejected_by="PR-5")
def lost(specimen: Any) -> Any:
    return specimen.replacing("walk", iterated("lost", True))


@mutant("the mass of a dead end is spread over all nodes", rejected_by="PR-5")
def scattered(specimen: Any) -> Any:
    return specimen.replacing("walk", iterated("uniform", True))


@mutant("mass is not divided by the degree of its node", rejected_by="PR-2")
def unnormalised(specimen: Any) -> Any:
    return specimen.replacing("walk", iterated("start", False))


@mutant("d used as the probability of restart", rejected_by="PR-1")
def swapped(specimen: Any) -> Any:
    walk = specimen.walk
    return specimen.replacing(
        "walk",
        lambda seeds, share, st, de, ends, d, *rest: walk(
            seeds, share, st, de, ends, 1.0 - d, *rest
        ),
    )


@mutant("equal restarts at all entities of the query", rejected_by="PR-6")
def unspecific(specimen: Any) -> Any:
    return specimen.replacing("specificity", lambda passages: 1.0)


@mutant("the residual that is not pushed is discarded", rejected_by="PR-3")
def leaky(specimen: Any) -> Any:
    walk = specimen.walk

    def without(
        seeds: Any,
        share: Any,
        st: Any,
        de: Any,
        ends: Any,
        d: float,
        epsilon: float,
        rounds: int,
        rank: Any,
    ) -> Any:
        report = walk(seeds, share, st, de, ends, d, epsilon, rounds, rank)
        rank *= 1.0 - report[2]
        return report

    return specimen.replacing("walk", without)


@mutant("the hook uses d for each of the two links", rejected_by="PR-10")
def damped_twice(specimen: Any) -> Any:
    walk = specimen.walk
    return specimen.replacing(
        "walk",
        lambda seeds, share, st, de, ends, d, *rest: walk(seeds, share, st, de, ends, d * d, *rest),
    )


@mutant("names of near meaning are not linked", rejected_by="PR-13")
def unlinked(specimen: Any) -> Any:
    return specimen.replacing("joined", lambda start, degree, ends, pairs: (start, degree, ends))


@mutant("hidden memories set the scale of the restarts", rejected_by="PR-11")
def scaled_by_all(specimen: Any) -> Any:
    def restarts(similarity: Any, allowed: Any, weight: float, out: Any) -> None:
        low, high = similarity.min(), similarity.max()
        out[:] = np.where(allowed, weight * (similarity - low) / max(high - low, 1e-12), 0.0)

    return specimen.replacing("restarts", restarts)


@mutant(
    "the walk with restarts at memories uses the damping of the other form", rejected_by="PR-12"
)
def damped_as_between_entities(specimen: Any) -> Any:
    walk = specimen.walk
    return specimen.replacing(
        "walk",
        lambda seeds, share, st, de, ends, d, *rest: walk(
            seeds, share, st, de, ends, math.sqrt(d), *rest
        ),
    )


@mutant("relations that hidden memories tell link entities", rejected_by="PR-14")
def hidden_relations(specimen: Any) -> Any:
    original = specimen.PersonalizedPageRank.retrieve

    def retrieve(self: Any, view: Any, cue: Any) -> None:
        original(self, Instead(view, visible=np.ones_like(view.visible)), cue)

    return specimen.overriding("PersonalizedPageRank", retrieve=retrieve)


@mutant("a walk that is to start nowhere starts at the names", rejected_by="PR-13")
def never_nowhere(specimen: Any) -> Any:
    def retrieve(self: Any, view: Any, cue: Any) -> None:
        shown = Instead(
            view,
            synonyms=SimpleNamespace(
                starts=lambda of: view.synonyms.starts(of) or None,
                of=view.synonyms.of,
                nearest=view.synonyms.nearest,
            ),
        )
        specimen.PersonalizedPageRank.retrieve(self, shown, cue)

    return specimen.overriding("PersonalizedPageRank", retrieve=retrieve)
