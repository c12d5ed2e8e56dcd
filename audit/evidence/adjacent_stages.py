"""Evidence for adjacent_stages: the walk against linear systems in numpy, and what a memory
offers of other stages by hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import FOCUS, OFFERED, RELEASED, STAGE
from ...engine.memory.engine import Engine
from ...engine.state.graph import EdgeType, Graph, entity_node
from ..checks import adaptation, equation, limit, mutant, signature
from ..figures import Curve, Picture, figure
from ..memory import memory_of, neighbour
from ..paper_numbers import paper_number
from .shared import context_sources as shared
from .shared import walks
from .shared.context_sources import stages_by_hand
from .shared.scripts import drafting, giving, marking

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
Mentions = Sequence[Sequence[int]]


def network(mentions: Mentions, entities: int) -> Graph:
    """A graph in which memory i mentions the entities `mentions[i]`."""
    graph = Graph()
    for e in range(entities):
        graph.entity(f"e{e}")
    graph.cover_rows(len(mentions))
    for row, named in enumerate(mentions):
        for e in named:
            graph.add(row, entity_node(e), EdgeType.ENTITY)
            graph.add(entity_node(e), row, EdgeType.ENTITY)
    return graph


def solved(
    mentions: Mentions, entities: int, seeds: Sequence[int], d: float
) -> NDArray[np.float64]:
    """Mass of each memory by (1 - c) (I - c P^T)^-1 s with c = sqrt(d) per link, NaN where no
    entity was reached.
    """
    n = len(mentions)
    links = np.zeros((n + entities, n + entities))
    for row, named in enumerate(mentions):
        for e in named:
            links[row, n + e] = links[n + e, row] = 1.0
    degree, s = links.sum(axis=1), np.zeros(n + entities)
    for e in seeds:
        if degree[n + e]:
            s[n + e] = 1.0 / degree[n + e]
    if not s.any():
        return np.full(n, np.nan)
    s, c = s / s.sum(), math.sqrt(d)
    step = np.divide(links, degree[:, None], out=np.zeros_like(links), where=degree[:, None] > 0)
    pi = (1 - c) * np.linalg.solve(np.eye(n + entities) - c * step.T, s)
    mass = links[:n] @ np.where(degree > 0, pi, 0.0)
    return np.where(mass > 1e-12, mass, np.nan)


def mass(
    specimen: Any,
    mentions: Mentions,
    entities: int,
    seeds: Sequence[int],
    d: float = D,
    epsilon: float = 0.0,
) -> NDArray[np.float64]:
    masses: NDArray[np.float64] = specimen.masses(
        network(mentions, entities), len(mentions), [entity_node(e) for e in seeds], d, epsilon
    )
    return masses


def compared(value: Any, other: Any) -> Any:
    return np.nan_to_num(value, nan=-1.0), np.nan_to_num(other, nan=-1.0)


def random_mentions(seed: int, memories: int, entities: int) -> Mentions:
    rng = np.random.default_rng(seed)
    return [[e for e in range(entities) if rng.random() < 0.25] for _ in range(memories)]


@equation(
    "PR-1",
    source="path entity - memory - entity - memory: 1 and 2 links by hand; numpy.linalg.solve",
    rtol=1e-9,
    papers=("jimenez2024hipporag", "haveliwala2002topic"),
)
def a_chain_of_memories(specimen: Any) -> Any:
    chain: Mentions = [[0], [0, 1], [1, 2], [2]]
    c = math.sqrt(D)
    # two nodes: pi at the entity is 1 / (1 + c)
    lone = mass(specimen, [[0]], 1, [0])
    return compared(
        [*mass(specimen, chain, 3, [0]), *lone], [*solved(chain, 3, [0], D), 1 / (1 + c)]
    )


@equation(
    "PR-2",
    source="numpy.linalg.solve on random networks, two dampings",
    rtol=1e-8,
    papers=("haveliwala2002topic", "jimenez2024hipporag"),
)
def masses_solve_the_linear_system(specimen: Any) -> Any:
    measured, expected = [], []
    for seed, d in ((1, 0.5), (2, 0.5), (3, 0.85)):
        mentions = random_mentions(seed, 12, 6)
        measured.append(mass(specimen, mentions, 6, [0, 3], d))
        expected.append(solved(mentions, 6, [0, 3], d))
    return compared(measured, expected)


@equation(
    "PR-3",
    source="the exact mass by numpy.linalg.solve; errors of pushing are at most epsilon per link",
    atol=2e-3,
)
def pushing_is_near_the_exact_mass(specimen: Any) -> Any:
    mentions = random_mentions(4, 14, 6)
    return compared(
        mass(specimen, mentions, 6, [1, 2], epsilon=1e-4), solved(mentions, 6, [1, 2], D)
    )


@limit(
    "PR-4", source="d = 0: the walk stays at its start, in shares 1 / (memories that mention it)"
)
def without_steps_only_the_seeds_have_mass(specimen: Any) -> Any:
    mentions: Mentions = [[0], [0, 1], [1], [1, 2], [2]]
    return compared(mass(specimen, mentions, 3, [0, 1], 0.0), [0.6, 1.0, 0.4, 0.4, np.nan])


@limit(
    "PR-5",
    source="definition: an entity without memories starts nothing, and a memory without entities has no mass",
)
def nothing_starts_without_links(specimen: Any) -> Any:
    mentions: Mentions = [[0], [], [0]]
    return compared(
        [
            mass(specimen, mentions, 2, [1]),
            mass(specimen, mentions, 2, []),
            mass(specimen, mentions, 2, [0, 1], 0.0),
        ],
        [[np.nan] * 3, [np.nan] * 3, [1.0, np.nan, 1.0]],
    )


@signature(
    "PR-6",
    source="node specificity: a starting entity of ten memories has a tenth of the weight of one of a single memory",
    papers=("jimenez2024hipporag",),
)
def common_names_lead_less(specimen: Any) -> Any:
    walk = mass(specimen, [[0]] * 10 + [[1]], 2, [0, 1], 0.0)
    return bool(np.allclose(walk[10] / walk[0], 10.0))


@adaptation(
    "AS-1",
    source="order by hand: level, then mass, then rank; rows without a mass behind the others of their level",
)
def rows_by_level_then_by_mass(specimen: Any) -> Any:
    mass_, level = (
        np.array([0.2, np.nan, 0.5, 0.2, 0.9, np.nan, 0.2]),
        np.array([0, 0, 0, 0, 1, 1, 1]),
    )
    return str(
        [specimen.by_mass(mass_, level).tolist(), specimen.by_mass(mass_[:0], level[:0]).tolist()]
    ), "[[2, 0, 3, 1, 4, 6, 5], []]"


# --- in a memory ----------------------------------------------------------------------------------
STORY = (
    ("S1", "They say Ada met Bo."),
    ("S1", "So Ada slept."),
    ("S2", "They say Bo moved to Lisbon."),
    ("S2", "Nothing happened."),
    ("S3", "So Lisbon was warm."),
    ("S3", "They say Ada sings with Bo."),
)


def told(specimen: Any, focus: Sequence[int], *others: Any, **values: Any) -> Engine:
    def look(view: Any, cue: Any) -> None:
        view.focus[list(focus)] = 1.0

    def rank(view: Any, cue: Any) -> None:
        view.released[...] = 10.0 - np.arange(len(view.released))

    memory = memory_of(
        specimen,
        neighbour(Phase.RETRIEVE, look, sets=(FOCUS,), id="focus"),
        neighbour(Phase.RETRIEVE, rank, sets=(RELEASED,), id="ranking"),
        *others,
        **values,
    )
    for i, (session, text) in enumerate(STORY):
        memory.encode(Event(float(i), text, "", session, f"e{i}", dated=False))
    return memory


NAMED: Mentions = [[0, 1], [0], [1, 2], [], [2], [0, 1]]  # Ada, Bo, Lisbon


@adaptation(
    "AS-2",
    source="order and scores from the linear system over the story, whose memories are all of the first level; by hand",
)
def a_memory_offers_what_entities_link(specimen: Any) -> Any:
    memory = told(specimen, [0], share=40.0, epsilon=0.0)
    _, offers = memory.offers("?", 60)
    exact = solved(NAMED, 3, [0, 1], D)
    linked = sorted(
        (row for row in (2, 3, 4, 5) if not np.isnan(exact[row])), key=lambda row: -exact[row]
    )
    expected = [*linked, *(row for row in (2, 3, 4, 5) if row not in linked)]
    lines = [f"{o.row} {o.section} {o.score:.3f} {o.source}" for o in offers]
    marks = [int(row in linked) for row in range(6)]
    return [*lines, str(memory.column(OFFERED).tolist())], [
        *(f"{row} Related Prior Context {(5 - row) / 5:.3f} adjacent_stages" for row in expected),
        str(marks),
    ]


@adaptation(
    "AS-3",
    source="definition: without FOCUS the entities of the query start the walk, and no stage is left out; by hand",
)
def without_a_focus_the_query_starts_the_walk(specimen: Any) -> Any:
    memory = told(specimen, [], share=100.0)
    memory.archive(5)
    offered = [
        [o.row for o in memory.offers(query, 400)[1]]
        for query in ("Is it warm in Lisbon?", "What?")
    ]
    exact = solved(NAMED, 3, [2], D)
    linked = sorted(
        (row for row in (0, 1, 2, 4) if not np.isnan(exact[row])), key=lambda row: -exact[row]
    )
    return str(offered), str([[*linked, 3], [0, 1, 2, 3, 4]])


@adaptation(
    "AS-3b",
    source="definition: all entities of the query start the walk, and summaries are not offered; the linear system by numpy",
)
def two_entities_start_the_walk_and_no_summary_is_offered(specimen: Any) -> Any:
    draft = Draft("Bo was in Lisbon.", Kind.SUMMARY, (2, 3))
    memory = told(specimen, [], drafting(draft), share=100.0)
    events = list(range(memory.store.n))
    memory.advance(30.0)
    assert memory.store.n > len(events)
    offered = [o.row for o in memory.offers("Did Ada see Lisbon?", 400)[1]]
    exact = solved(NAMED, 3, [0, 2], D)
    linked = sorted((row for row in events if not np.isnan(exact[row])), key=lambda r: -exact[r])
    return str(offered), str([*linked, *(row for row in events if row not in linked)])


@limit(
    "AS-4",
    source="definition: it runs only if a context is asked for; an empty memory offers nothing",
)
def nothing_is_offered_unless_a_context_is_asked_for(specimen: Any) -> Any:
    memory = told(specimen, [0])
    memory.retrieve("Ada")
    return [int(memory.column(OFFERED).sum()), len(memory_of(specimen).offers("Ada", 100)[1])], [
        0,
        0,
    ]


NAMES = ("Ada", "Bo", "Cleo", "Lisbon")


def shown(tokens: Sequence[float], room: float) -> int:
    """How many of the first items have at most `room` tokens together."""
    return int((np.cumsum(tokens) <= room).sum())


@adaptation(
    "AS-5",
    source="the definition in plain lists, masses by numpy.linalg.solve; 60 random talks with stages, archived events and "
    "budgets, of which those count whose masses leave no doubt of the order",
)
def random_talks_by_plain_lists(specimen: Any) -> Any:
    judged = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = 12
        texts, named = [], []
        for _ in range(n):
            some = rng.permutation(4)[: int(rng.integers(0, 3))].tolist()
            long = "So it went" + " on" * int(rng.integers(1, 160)) + "."
            texts.append(
                f"They say {' met '.join(NAMES[e] for e in some)}. {long}" if some else long
            )
            named.append(some)
        order = list(dict.fromkeys(e for some in named for e in some))
        mentions: Mentions = [[order.index(e) for e in some] for some in named]
        session, stage = (
            rng.integers(0, 3, n),
            np.where(rng.random(n) < 0.5, rng.integers(0, n, n), -1),
        )
        scores, focus = (
            rng.permutation(n).astype(float),
            np.sort(rng.choice(n, int(rng.integers(0, 3)), replace=False)).tolist(),
        )
        budget, share = int(rng.choice([20, 60, 300])), float(rng.choice([10.0, 40.0, 100.0]))
        archived = rng.choice(n, 2, replace=False).tolist()
        memory = talk(specimen, texts, session, stage, scores, focus, share=share, epsilon=0.0)
        for row in archived:
            memory.archive(row)
        answerable = [row for row in range(n) if row not in archived]
        tokens = [min((len(text) + 32) / 4, 128.0) for text in texts]
        ranked = sorted(answerable, key=lambda row: -scores[row])
        level = {
            row: next(
                k for k in range(9) if sum(tokens[other] for other in ranked[:at]) < 512.0 * 2**k
            )
            for at, row in enumerate(ranked)
        }
        stages = stages_by_hand([0] * n, stage, session)
        among = [row for row in answerable if stages[row] not in {stages[f] for f in focus}]
        mass_ = np.round(
            solved(
                mentions, len(order), list(dict.fromkeys(e for f in focus for e in mentions[f])), D
            ),
            7,
        )
        linked = [row for row in among if not np.isnan(mass_[row])]
        if any(
            mass_[a] == mass_[b] and sorted(mentions[a]) != sorted(mentions[b])
            for a in linked
            for b in linked
        ):
            continue
        rows = sorted(
            among,
            key=lambda row: (
                level[row],
                row not in linked,
                -mass_[row] if row in linked else 0.0,
                -scores[row],
            ),
        )
        rows = rows[: shown([tokens[row] for row in rows], 1.25 * budget) + 1]
        low, high = min(scores[answerable]), max(scores[answerable])
        marks = [3 + int(row in linked and level[row] == 0) for row in range(n)]
        offered = [f"{o.row} {o.score:.4f}" for o in memory.offers("?", budget)[1]]
        yield (
            [str(offered), str(memory.column(OFFERED).tolist())],
            [str([f"{row} {(scores[row] - low) / (high - low):.4f}" for row in rows]), str(marks)],
        )
        judged += 1
    yield [judged > 40], [True]


def talk(
    specimen: Any,
    texts: Sequence[str],
    session: Any,
    stage: Any,
    scores: Any,
    focus: Sequence[int],
    **values: Any,
) -> Engine:
    """A memory of some texts with their stages; other sources offer each three times."""

    def look(view: Any, cue: Any) -> None:
        view.focus[list(focus)] = 1.0

    def offer(view: Any, cue: Any) -> None:
        view.offered[...] += 3

    memory = memory_of(
        specimen,
        marking(STAGE, stage),
        neighbour(Phase.RETRIEVE, look, sets=(FOCUS,), id="focus"),
        neighbour(Phase.RETRIEVE, offer, adds=(OFFERED,), id="offer"),
        giving(Phase.RETRIEVE, RELEASED, scores),
        **values,
    )
    for i, text in enumerate(texts):
        memory.encode(Event(float(i), text, "", f"S{session[i]}", f"e{i}", dated=False))
    return memory


@adaptation(
    "AS-8",
    source="definition: the 16 walks used last are kept, until an edge comes or goes; a plain list over 600 questions",
)
def walks_are_kept_until_the_graph_changes(specimen: Any) -> Any:
    rng, graph, walks_ = (
        np.random.default_rng(3),
        network([[0], [0, 1], [1], [], []], 2),
        specimen.Walks(),
    )
    kept, added, changes = list[int](), list[int](), 0
    measured, expected = [], []
    for _ in range(600):
        if rng.random() < 0.05:
            changes, kept = changes + 1, []
            goes = len(added) == 5 or (len(added) > 0 and rng.random() < 0.5)
            if goes:
                graph.remove(added.pop())
            # or one edge in place of another, after which as many are alive
            if not goes or rng.random() < 0.3:
                added.append(graph.add(len(added), entity_node(0), EdgeType.SEMANTIC))
        seed = int(rng.integers(20))
        walk = np.where(np.arange(5) % (2 + seed % 3) > 0, seed + 100.0 * changes, np.nan)
        made = list[int]()

        def walked(walk: Any = walk, made: list[int] = made) -> Any:
            made.append(1)
            return walk.copy()

        given = walks_.masses(graph, 5, [seed, -1], walked)
        measured += [*np.nan_to_num(given, nan=-1.0), len(made)]
        expected += [*np.nan_to_num(walk, nan=-1.0), int(seed not in kept)]
        kept = [*(k for k in kept if k != seed), seed][-16:]
        given[...] = 0.0  # what is given out is the caller's own
    return measured, expected


@adaptation(
    "AS-10",
    source="definition: the 400 best matches are looked at, however large the budget is; 403 memories by their scores",
)
def the_best_matches_alone_are_looked_at(specimen: Any) -> Any:
    scores, none = np.random.default_rng(10).permutation(403).astype(float), np.full(403, -1)
    texts = [f"So it went {i}." for i in range(403)]
    memory = talk(specimen, texts, np.zeros(403, int), none, scores, [])
    rows = sorted(o.row for o in memory.offers("?", 10_000)[1])
    return str(rows), str([row for row in range(403) if scores[row] >= 3.0])


stages_by_loops = adaptation("AS-6", source=shared.STAGES)(shared.stages_are_those_of_plain_loops)
levels_by_tokens = adaptation("AS-9", source=shared.LEVELS)(shared.levels_by_doubling)
one_scale = adaptation("AS-7", source=shared.SCALE, atol=1e-12)(shared.scores_are_put_on_one_scale)
specificity = signature("PR-7", source=walks.SPECIFIC, papers=("jimenez2024hipporag",))(
    walks.an_entity_of_ten_memories_gets_a_tenth_of_the_restarts
)
passage_scores = equation("PR-8", source=walks.SUMS, papers=("jimenez2024hipporag",))(
    walks.a_memory_scores_the_sum_over_its_entities
)
pushing = equation(
    "PR-9", source="rounds of pushing by the definition in numpy: number, links and residual"
)(walks.pushing_follows_the_definition_round_by_round)


@figure(
    "mass_over_stages",
    caption="Mass of memories in a chain, each of which shares an entity with the next, from the entity of the first",
    source="numpy.linalg.solve",
)
def mass_along_a_chain(specimen: Any) -> Picture:
    chain: Mentions = [[0], *([e, e + 1] for e in range(8)), [8]]
    x = np.arange(len(chain))
    return Picture(
        "memories from the start",
        "mass",
        (
            Curve("mechanism", x, mass(specimen, chain, 9, [0])),
            Curve("linear system", x, solved(chain, 9, [0], D)),
        ),
        log="y",
    )


# --- mutants --------------------------------------------------------------------------------------
def walking(specimen: Any, change: Any) -> Any:
    original = specimen.walk
    return specimen.replacing("walk", lambda *given: original(*change(given)))


@mutant("d for each of the two links", rejected_by="PR-1")
def damped_twice(specimen: Any) -> Any:
    return walking(specimen, lambda given: (*given[:5], given[5] ** 2, *given[6:]))


@mutant("one round of pushing", rejected_by="PR-2")
def one_round(specimen: Any) -> Any:
    return walking(specimen, lambda given: (*given[:7], 1, given[8]))


@mutant("coarse pushing", rejected_by="PR-3")
def coarse(specimen: Any) -> Any:
    return walking(specimen, lambda given: (*given[:6], 0.2, *given[7:]))


@mutant("the walk never restarts", rejected_by="PR-4")
def restless(specimen: Any) -> Any:
    return walking(specimen, lambda given: (*given[:5], 0.5, *given[6:]))


@mutant("memories without entities have mass", rejected_by="PR-5")
def everywhere(specimen: Any) -> Any:
    original = specimen.masses
    return specimen.replacing("masses", lambda *given: np.nan_to_num(original(*given)))


@mutant("equal weights of all starting entities", rejected_by="PR-6")
def unspecific(specimen: Any) -> Any:
    return specimen.replacing("specificity", lambda passages: 1.0)


@mutant("the worst of equal masses first", rejected_by="AS-1")
def by_row(specimen: Any) -> Any:
    return specimen.replacing(
        "by_mass", lambda mass, level: np.lexsort((-np.arange(len(mass)), -mass, level))
    )


@mutant("the current stage is not left out", rejected_by="AS-2")
def own_too(specimen: Any) -> Any:
    return specimen.replacing("stages_of", lambda kind, stage, session: np.arange(len(kind)))


@mutant("memories far down the ranking are linked, too", rejected_by="AS-5")
def far(specimen: Any) -> Any:
    return specimen.replacing("levels", lambda tokens: np.zeros(len(tokens), dtype=np.int64))


@mutant("without a focus nothing is offered", rejected_by="AS-3")
def only_focus(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        if (view.focus > 0.0).any():
            specimen.AdjacentStages.offer(self, view, cue)

    return specimen.overriding("AdjacentStages", offer=offer)


@mutant("it offers a text of its own", rejected_by="AS-4")
def own_text(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        view.offers.add("nothing", "Related Prior Context", 0.0)

    return specimen.overriding("AdjacentStages", offer=offer)


@mutant("every match is looked at", rejected_by="AS-10")
def every_match(specimen: Any) -> Any:
    return specimen.replacing("MOST", 10_000)


late_stages, other_scale = shared.mutants(stages="AS-6", scale="AS-7")


@mutant("one entity of the query starts the walk", rejected_by="AS-3b")
def one_start(specimen: Any) -> Any:
    original = specimen.entity_node
    first = list[int]()

    def entity_node(entity: int) -> int:
        first.append(entity)
        return int(original(first[0]))

    return specimen.replacing("entity_node", entity_node)


@mutant("an edge in place of another leaves the graph as it is", rejected_by="AS-8")
def as_many(specimen: Any) -> Any:
    def masses(self: Any, graph: Any, *rest: Any) -> Any:
        alive = int(np.count_nonzero(graph.alive))
        seen = SimpleNamespace(target=graph.target[:alive], alive=graph.alive)
        return specimen.Walks.masses(self, seen, *rest)

    return specimen.overriding("Walks", masses=masses)
