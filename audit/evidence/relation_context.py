"""Evidence for relation_context: breadth-first search against shortest paths of networkx, and
what a memory offers by hand.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event, Only, Query
from ...engine.contract.vocabulary import GRAPH, RELEASED
from ...engine.memory.engine import Engine
from ...engine.state.graph import EdgeType, entity_node
from ..checks import adaptation, equation, limit, mutant, signature
from ..figures import Curve, Picture, figure
from ..memory import memory_of, neighbour
from .shared.scripts import giving
from .shared.views import Instead


@equation("RE-1", source="closed form")
def scores_fall_with_depth(specimen: Any) -> Any:
    return [[specimen.weighed(w, float(d)) for d in range(4)] for w in (1.0, 6.0)], [
        [1.0, 1 / 2, 1 / 3, 1 / 4],
        [6.0, 3.0, 2.0, 1.5],
    ]


@adaptation(
    "RE-2",
    source="networkx: the depth of a pair is the smaller distance of its two entities from the start; 60 random networks",
)
def pairs_and_depths_are_those_of_shortest_paths(specimen: Any) -> Any:
    import networkx as nx

    measured, expected = [], []
    for seed in range(60):
        graph, rng = nx.gnp_random_graph(9, 0.25, seed=seed), np.random.default_rng(seed)
        starts, depth = (
            [int(v) for v in rng.choice(9, size=int(rng.integers(1, 3)), replace=False)],
            int(rng.integers(0, 4)),
        )
        weight = {frozenset(pair): float(rng.integers(1, 9)) for pair in graph.edges}
        pairs = specimen.breadth_first(
            starts, lambda v, g=graph, w=weight: {u: w[frozenset((u, v))] for u in g[v]}, depth
        )
        far = nx.multi_source_dijkstra_path_length(graph, set(starts), weight=None)
        by_hand = {
            tuple(sorted(pair)): (weight[frozenset(pair)], min(far[v] for v in pair if v in far))
            for pair in graph.edges
            if any(far.get(v, depth) < depth for v in pair)
        }
        measured.append(str(sorted((*sorted(pair), *what) for pair, what in pairs.items())))
        expected.append(str(sorted((*pair, *what) for pair, what in by_hand.items())))
    return measured, expected


@signature(
    "RE-3",
    source="the printed code returns a relation between two entities of one depth twice; here each pair is there once",
)
def no_pair_is_there_twice(specimen: Any) -> Any:
    triangle = {1: {2: 1.0, 3: 1.0}, 2: {1: 1.0, 3: 1.0}, 3: {1: 1.0, 2: 1.0}}
    pairs = specimen.breadth_first([1], lambda v: triangle[v], 5)
    return len({frozenset(pair) for pair in pairs}) == len(pairs) == 3


STORY = (
    "They say Ada met Bo.",
    "So Ada sang with Bo.",
    "They say Bo moved to Oslo.",
    "So Oslo is near Rome.",
    "So Cleo sleeps.",
)


TYPED = (
    "Dora is married to Cleo.",
    "Dora works at Acme.",
    "Cleo works at Acme.",
    "Cleo is married to Dora.",
    "Bo works at Acme.",
    "They say Dora met Bo.",
)


def told(specimen: Any, **values: Any) -> Engine:
    def marry(view: Any, _: Any) -> None:
        graph = view.graph
        ada, cleo = (entity_node(graph.entity_id(name)) for name in ("ada", "cleo"))
        if not graph.neighbours(ada, EdgeType.RELATION).size:
            graph.add(ada, cleo, EdgeType.RELATION)

    memory = memory_of(
        specimen,
        neighbour(Phase.MAINTAIN, marry, sets=(GRAPH,), id="marry"),
        giving(Phase.RETRIEVE, RELEASED, (0.0, 0.0, 0.0, 2.0, 1.0)),
        **values,
    )
    for i, text in enumerate(STORY):
        memory.encode(Event(0.1 * i, text, id=f"e{i}", dated=False))
    memory.advance(3.0)
    return memory


@adaptation("RE-4", source="pairs, weights and depths of a story by hand")
def a_memory_offers_relations(specimen: Any) -> Any:
    memory = told(specimen)
    offers = [*memory.offers("Where is Ada?", 100)[1]]
    memory.archive(1)
    again = [*memory.offers("Where is Ada?", 100)[1]]
    lines = [
        f"{o.text} | {o.section} | {o.score:.4f} | {o.forms} | {o.kind}" for o in (*offers, *again)
    ]
    tail = "| () | relation"
    two, single = "ada --[mentioned together 2 times]--> bo", "ada --[mentioned together]--> bo"
    return lines, [
        f"{two} | Relationships | 1.0000 {tail}",
        f"ada --[related]--> cleo | Relationships | 0.5000 {tail}",
        f"bo --[mentioned together]--> oslo | Relationships | 0.2500 {tail}",
        f"{single} | Relationships | 1.0000 {tail}",
        f"ada --[related]--> cleo | Relationships | 1.0000 {tail}",
        f"bo --[mentioned together]--> oslo | Relationships | 0.5000 {tail}",
    ]


@adaptation(
    "RE-5",
    source="definition: without an entity in the query the best matches start the search; by hand",
)
def the_best_matches_start_without_entities(specimen: Any) -> Any:
    """Rows 3, 4 and 0 start it: Oslo, Rome, Cleo, Ada, Bo; of equal scores the pair that is met
    first, of one entity in the order of the names.
    """
    return [o.text for o in told(specimen, depth=1).offers("What?", 100)[1]], [
        "ada --[mentioned together 2 times]--> bo",
        "oslo --[mentioned together]--> bo",
        "oslo --[mentioned together]--> rome",
        "ada --[related]--> cleo",
    ]


@adaptation(
    "RE-9",
    source="by hand: each typed relation once, in its direction, and one that holds in both from the entity that was asked for; told "
    "twice it weighs two, and one if the filter leaves out a telling; a step away half; none that only filtered memories tell",
)
def typed_relations_are_offered_once(specimen: Any) -> Any:
    memory = memory_of(specimen, "typed_relations", depth=2)
    for i, text in enumerate(TYPED):
        memory.encode(Event(float(i), text, id=f"e{i}", dated=False))
    memory.advance(30.0)
    asked = (
        Query("Who is Dora?"),
        Query("Who is Dora?", only=Only(exclude=("e1",))),
        Query("Who is Dora?", only=Only(exclude=("e0", "e3"))),
        Query("Who is Dora?", only=Only(exclude=("e0",))),
    )
    return [
        str(sorted(f"{o.text} {o.score}" for o in memory.offers(query, 200)[1] if o.text))
        for query in asked
    ], [
        str(
            [
                "bo --[works at]--> acme 0.25",
                "cleo --[works at]--> acme 0.25",
                "dora --[knows]--> bo 0.5",
                "dora --[married to]--> cleo 1.0",
                "dora --[works at]--> acme 0.5",
            ]
        ),
        str(
            [
                "bo --[works at]--> acme 0.25",
                "cleo --[works at]--> acme 0.25",
                "dora --[knows]--> bo 0.5",
                "dora --[married to]--> cleo 1.0",
            ]
        ),
        str(
            [
                "bo --[works at]--> acme 0.5",
                "cleo --[works at]--> acme 0.5",
                "dora --[knows]--> bo 1.0",
                "dora --[works at]--> acme 1.0",
            ]
        ),
        str(
            [
                "bo --[works at]--> acme 0.5",
                "cleo --[works at]--> acme 0.5",
                "dora --[knows]--> bo 1.0",
                "dora --[married to]--> cleo 1.0",
                "dora --[works at]--> acme 1.0",
            ]
        ),
    ]


@adaptation(
    "RE-10",
    source="by hand: of a pair that is shown a relation that filtered memories alone tell is not; a speaker whom no text names is "
    "known by his relations",
)
def filtered_relations_and_unnamed_speakers(specimen: Any) -> Any:
    memory = memory_of(
        specimen, "typed_relations", giving(Phase.RETRIEVE, RELEASED, (3.0, 2.0, 0.0, 1.0)), depth=1
    )
    for i, (text, speaker) in enumerate(
        (
            ("Dora works at Acme.", ""),
            ("They say Acme called Dora.", ""),
            ("I am married to Bo.", "Zora"),
            ("They say Acme called Dora.", ""),
        )
    ):
        memory.encode(Event(float(i), text, speaker, id=f"e{i}", dated=False))
    asked = (
        Query("Who is Dora?", only=Only(exclude=("e0",))),
        Query("Who is Zora?"),
        Query("Who is Zora?", only=Only(exclude=("e2",))),  # so she is unknown
    )
    return [str([o.text for o in memory.offers(query, 200)[1] if o.text]) for query in asked], [
        "['dora --[mentioned together 2 times]--> acme']",
        "['zora --[married to]--> bo']",
        "['dora --[works at]--> acme']",
    ]


@limit("RE-6", source="definition: nothing at a budget of 0, without depth, and of an empty memory")
def nothing_without_a_budget(specimen: Any) -> Any:
    return [
        len(told(specimen).offers("Ada", 0)[1]),
        len(told(specimen, depth=0).offers("Ada", 9)[1]),
        len(memory_of(specimen).offers("Ada", 9)[1]),
        len(told(specimen).offers("Ada", 9)[1]),
    ], [0, 0, 0, 3]


NAMES = ("Ana", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gina", "Hugo", "Ines", "Jack", "Kira", "Leo",
         "Mona", "Nils")  # fmt: skip


@adaptation(
    "RE-7",
    source="definition: the 12 strongest relations among the latest 50 memories, of equal strength the earlier name; by plain lists",
)
def the_strongest_relations_of_an_entity(specimen: Any) -> Any:
    """Zoe is not the first name; one name is also joined to her by an edge, which adds no
    strength, and so is a memory, which is no entity.
    """

    def join(view: Any, _: Any) -> None:
        graph = view.graph
        zoe, eva = (entity_node(graph.entity_id(name)) for name in ("zoe", "eva"))
        if not graph.neighbours(zoe, EdgeType.RELATION).size:
            graph.add(zoe, eva, EdgeType.RELATION)
            graph.add(zoe, 0, EdgeType.RELATION)

    memory = memory_of(specimen, neighbour(Phase.MAINTAIN, join, sets=(GRAPH,), id="join"), depth=1)
    rng = np.random.default_rng(6)
    met = [
        "Ana",
        *(
            NAMES[j]
            for j in rng.permutation(np.repeat(np.arange(14), np.arange(14) // 2 + 1)).tolist()
        ),
    ]
    for i, name in enumerate(met):
        memory.encode(
            Event(
                0.01 * i, f"They say {name} met {'Zoe' if i else 'Rex'}.", id=f"e{i}", dated=False
            )
        )
    memory.advance(3.0)
    order = list(dict.fromkeys(met))
    number = {name: sum(met_name == name for met_name in met[-50:]) for name in order}
    strongest = sorted(
        (name for name in order if number[name]),
        key=lambda name: (-number[name], order.index(name)),
    )[:12]
    how = {
        name: "related"
        if name == "Eva"
        else f"mentioned together {n} times"
        if n > 1
        else "mentioned together"
        for name, n in number.items()
    }
    return [f"{o.text} {o.score:.4f}" for o in memory.offers("Where is Zoe?", 100)[1]], [
        f"zoe --[{how[name]}]--> {name.lower()} {number[name] / number[strongest[0]]:.4f}"
        for name in strongest
    ]


@adaptation("RE-8", source="definition: entities of the 3 best matches start the search; by hand")
def three_matches_start_the_search(specimen: Any) -> Any:
    memory = memory_of(specimen, giving(Phase.RETRIEVE, RELEASED, (1.0, 4.0, 2.0, 5.0, 3.0)))
    for i in range(5):
        memory.encode(
            Event(
                0.1 * i, f"They say {NAMES[2 * i]} met {NAMES[2 * i + 1]}.", id=f"e{i}", dated=False
            )
        )
    return [o.text for o in memory.offers("What?", 100)[1]], [
        f"{a} --[mentioned together]--> {b}"
        for a, b in (("gina", "hugo"), ("cleo", "dan"), ("ines", "jack"))
    ]


@figure(
    "weighed", caption="Score of a relation over its depth, for two weights", source="closed form"
)
def score_over_depth(specimen: Any) -> Picture:
    x = np.arange(6)
    return Picture(
        "depth",
        "score",
        tuple(
            Curve(f"weight {w:g}", x, [specimen.weighed(w, float(d)) for d in x])
            for w in (1.0, 4.0)
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("the weight alone, as printed", rejected_by="RE-1")
def printed(specimen: Any) -> Any:
    return specimen.replacing("weighed", lambda weight, depth: weight)


@mutant("one step less", rejected_by="RE-2")
def shallow(specimen: Any) -> Any:
    original = specimen.breadth_first
    return specimen.replacing(
        "breadth_first", lambda seeds, related, depth: original(seeds, related, depth - 1)
    )


@mutant("both directions", rejected_by="RE-3")
def both(specimen: Any) -> Any:
    original = specimen.breadth_first

    def twice(seeds: Any, related: Any, depth: int) -> Any:
        pairs = original(seeds, related, depth)
        return {**pairs, **{pair[::-1]: what for pair, what in pairs.items()}}

    return specimen.replacing("breadth_first", twice)


@mutant("depth is no matter in a memory", rejected_by="RE-4")
def flat(specimen: Any) -> Any:
    return specimen.replacing("weighed", lambda weight, depth: weight)


@mutant("without an entity in the query nothing is offered", rejected_by="RE-5")
def silent(specimen: Any) -> Any:
    return specimen.replacing("best", lambda scores, among, k: np.empty(0, dtype=np.int64))


@mutant("it offers at a budget of 0", rejected_by="RE-6")
def generous(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        view.offers.add("nobody --[related]--> nobody", "Relationships", 0.0)
        specimen.RelationContext.offer(self, view, cue)

    return specimen.overriding("RelationContext", offer=offer)


@mutant("typed relations of filtered memories are offered", rejected_by="RE-9")
def unfiltered(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        everything = Instead(view, answerable=np.ones_like(view.answerable))
        specimen.RelationContext.offer(self, everything, cue)

    return specimen.overriding("RelationContext", offer=offer)


@mutant("a relation weighs by all its tellings, filtered ones included", rejected_by="RE-9")
def weighed_by_filtered_ones(specimen: Any) -> Any:
    class Relations:
        def __init__(self, view: Any) -> None:
            self._view = view

        def of(self, name: str, shown: Any) -> Any:
            relations, everything = self._view.relations, np.ones_like(shown)
            told = {(r.source, r.kind, r.target) for r in relations.of(name, shown)}
            return [
                r for r in relations.of(name, everything) if (r.source, r.kind, r.target) in told
            ]

    def _related(self: Any, view: Any, *of: Any) -> Any:
        return specimen.RelationContext._related(
            self, Instead(view, relations=Relations(view)), *of
        )

    return specimen.overriding("RelationContext", _related=_related)


@mutant("a pair that is shown has the relations of filtered memories", rejected_by="RE-10")
def lines_of_filtered_ones(specimen: Any) -> Any:
    def _lines(self: Any, view: Any, *of: Any) -> Any:
        names = {"relations": view.relations, "graph": view.graph}
        shown = SimpleNamespace(answerable=np.ones_like(view.answerable), **names)
        return specimen.RelationContext._lines(self, shown, *of)

    return specimen.overriding("RelationContext", _lines=_lines)
