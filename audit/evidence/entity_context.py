"""Evidence for entity_context: saliences by plain lists, profiles by hand, and what a memory
offers of a story.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event, Only, Query
from ...engine.contract.vocabulary import SALIENCE
from ...engine.memory.engine import Engine
from ...engine.state.graph import EdgeType, Graph, entity_node
from ...mechanisms.shared.relations import RelationTable
from ..checks import adaptation, limit, mutant, reference
from ..figures import Curve, Picture, figure
from ..memory import memory_of, neighbour
from .shared.sentences import facts_of_long_texts, facts_of_sentences, names_of_tellers

# Texts with their speakers, and by hand what they say of Ada: the latest fact of each predicate
# that holds.
TOLD: tuple[tuple[tuple[tuple[str, str], ...], dict[str, str]], ...] = (
    ((("Ada", "I live in Rome."),), {"lives in": "rome"}),
    ((("Ada", "I live in Rome."), ("Bo", "Ada moved to Oslo.")), {"lives in": "oslo"}),
    ((("Bo", "I live in Rome."),), {}),
    ((("Ada", "I no longer live in Rome."),), {}),
    ((("Ada", "I live in Rome."), ("Ada", "I no longer live in Rome.")), {}),
    (
        (("Ada", "I live in Rome. I work at the port."), ("Bo", "Ada moved to Oslo.")),
        {"works at": "port", "lives in": "oslo"},
    ),
    ((("Ada", "What a day!"), ("Bo", "Where is Ada?")), {}),
    ((), {}),
)


def of_graph(
    specimen: Any, mentions: list[list[int]], entities: int, importance: Any, answerable: Any
) -> Any:
    graph = Graph()
    for e in range(entities):
        graph.entity(f"e{e}")
    graph.cover_rows(len(mentions))
    for row, named in enumerate(mentions):
        for e in named:
            graph.add(row, entity_node(e), EdgeType.ENTITY)
            graph.add(entity_node(e), row, EdgeType.ENTITY)
    links, out = graph.csr(EdgeType.ENTITY), np.full(entities, np.nan)
    specimen.saliences(
        entities, links.start, links.degree, links.pool, graph.target, importance, answerable, out
    )
    return out


@adaptation("EC-1", source="sums over plain lists, 30 random memories")
def saliences_are_shares_of_the_largest_sum(specimen: Any) -> Any:
    measured, expected = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        mentions = [[e for e in range(5) if rng.random() < 0.4] for _ in range(12)]
        importance, answerable = (
            (rng.random(12) + 0.1) * (1.0, 0.01)[seed % 2],
            rng.random(12) < 0.8,
        )
        answerable[0], mentions[0] = True, [0]
        sums = np.array(
            [
                sum(importance[i] for i in range(12) if e in mentions[i] and answerable[i])
                for e in range(5)
            ]
        )
        measured.append(of_graph(specimen, mentions, 5, importance, answerable))
        expected.append(sums / sums.max())
    return measured, expected


@limit("EC-2", source="definition: without memories every salience is 0")
def nothing_is_salient_without_memories(specimen: Any) -> Any:
    return [
        of_graph(specimen, [[]], 2, np.ones(1), np.ones(1, dtype=bool)),
        of_graph(specimen, [[0, 1]], 2, np.ones(1), np.zeros(1, dtype=bool)),
    ], [[0.0, 0.0]] * 2


@reference("EC-3", source="eight lists of texts with their profile by hand, in order of time")
def what_texts_say_of_an_entity(specimen: Any) -> Any:
    return [str(dict(specimen.profile("ada", told))) for told, _ in TOLD], [
        str(by_hand) for _, by_hand in TOLD
    ]


@adaptation("EC-3b", source="150 sentences and more, written for it, with their facts by hand")
def the_facts_of_sentences_are_found(specimen: Any) -> Any:
    return facts_of_sentences(specimen)


@adaptation(
    "EC-3c", source="definition: 200 clauses of a text and 300 characters of a clause are read"
)
def long_texts_are_read_in_part(specimen: Any) -> Any:
    return facts_of_long_texts(specimen)


@adaptation("EC-3d", source="indexed texts with the names of their speakers by hand")
def speakers_are_read_from_the_indexed_text(specimen: Any) -> Any:
    return names_of_tellers(specimen)


def told(specimen: Any, **values: Any) -> Engine:
    def importance(view: Any, incoming: Any) -> None:
        view.salience = (0.5, 0.25, 1.0, 0.5)[incoming.before + 1]

    memory = memory_of(
        specimen, neighbour(Phase.ENCODE, importance, sets=(SALIENCE,), id="importance"), **values
    )
    for i, text in enumerate(
        (
            "They say Ada met Bo.",
            "They met Ada. Ada moved to Oslo.",
            "They say Bo sleeps.",
            "They say Cleo sings.",
        )
    ):
        memory.encode(Event(float(i), text, "Dan", id=f"e{i}", dated=False))
    return memory


@adaptation(
    "EC-9",
    source="by hand: the type that most relations ask of an entity, of as many the first, of those that the filter admits; without any the "
    "word entity",
)
def lines_begin_with_types(specimen: Any) -> Any:
    memory = memory_of(specimen, "typed_relations")
    texts = (
        "Bo lives in Graz.",
        "Cleo lives in Graz.",
        "They say Bo uses Graz.",
        "So Zoe sings.",
        "They say Bo visited Heron.",
        "They say Cleo works on Heron.",
    )
    for i, text in enumerate(texts):
        memory.encode(Event(float(i), text, "Dan", id=f"e{i}", dated=False))
    asked = "?", Query("?", only=Only(exclude=("e0", "e1")))
    return [
        str(sorted(str(o.text).split(" (")[0] for o in memory.offers(query, 900)[1]))
        for query in asked
    ], [
        "['**entity**: zoe', '**person**: bo', '**person**: cleo', '**place**: graz', '**place**: heron']",
        "['**entity**: zoe', '**person**: bo', '**person**: cleo', '**place**: heron', '**thing**: graz']",
    ]


@adaptation(
    "EC-4",
    source="by hand: Bo .5 + 1, Ada .5 + .25 doubled where the query mentions her, Cleo .5, Oslo .25",
)
def a_memory_offers_lines_of_entities(specimen: Any) -> Any:
    memory, few = told(specimen), told(specimen, most=1, mentioned=3.0)
    few.archive(0)
    lines = [
        f"{o.text} | {o.section} | {o.score:.4f} | {o.forms} | {o.kind}"
        for o in (
            *memory.offers("Where is Ada?", 100)[1],
            *few.offers("Is it Cleo or Zoe?", 100)[1],
        )
    ]
    ada, name = "**entity**: ada (memories: 2, lives in: oslo)", "('**entity**: {}',)".format
    part = "Known Entities"
    return lines, [
        f"{ada} | {part} | 0.5000 | {name('ada')} | entity",
        f"**entity**: bo (memories: 2) | {part} | 0.5000 | {name('bo')} | entity",
        f"**entity**: cleo (memories: 1) | {part} | 0.1667 | {name('cleo')} | entity",
        f"**entity**: oslo (memories: 1) | {part} | 0.0833 | {name('oslo')} | entity",
        f"**entity**: cleo (memories: 1) | {part} | 0.5000 | {name('cleo')} | entity",
        f"**entity**: bo (memories: 1) | {part} | 0.3333 | {name('bo')} | entity",
    ]


@adaptation(
    "EC-4b",
    source="by hand: facts of an entity's five latest memories, told in the first person by its own speaker alone",
)
def a_line_has_the_facts_of_the_latest_memories(specimen: Any) -> Any:
    story = (
        ("Bo", "They met Ada. Ada works at the port."),
        ("Bo", "They say Ada and Dan met. Ada is a nurse."),
        ("Ada", "Call me Ada. I live in Rome."),
        ("Dan", "Call me Dan. I live in Lima."),
        ("Bo", "They met Ada and Dan. I live in Cork."),
        ("Dan", "We saw Ada."),
        ("Bo", "We saw Ada."),
    )
    memory = memory_of(specimen)
    for i, (speaker, text) in enumerate(story):
        memory.encode(Event(float(i), text, speaker, id=f"e{i}", dated=False))
    return [o.text for o in memory.offers("?", 100)[1]][:2], [
        "**entity**: ada (memories: 6, is: nurse, lives in: rome)",
        "**entity**: dan (memories: 3, lives in: lima)",
    ]


@adaptation(
    "EC-4c",
    source="by hand: the most salient alone, without those of archived memories; a factor below 1 divides no score",
)
def no_more_lines_than_asked_for(specimen: Any) -> Any:
    single, archived, small = told(specimen, most=1), told(specimen), told(specimen, mentioned=0.5)
    for row in (0, 1):
        archived.archive(row)
    return [
        ", ".join(f"{o.text.split()[1]} {o.score:.3f}" for o in memory.offers(asked, 100)[1])
        for memory, asked in ((single, "?"), (archived, "Is it Ada?"), (small, "Is it Ada?"))
    ], ["bo 0.500", "bo 0.500, cleo 0.250", "bo 1.000, cleo 0.333, ada 0.250, oslo 0.167"]


@limit("EC-5", source="definition: nothing at a budget of 0, and of a memory without entities")
def nothing_without_a_budget(specimen: Any) -> Any:
    return [
        len(told(specimen).offers("Ada", 0)[1]),
        len(memory_of(specimen).offers("Ada", 9)[1]),
        len(told(specimen).offers("?", 9)[1]),
    ], [0, 0, 4]


@figure(
    "saliences",
    caption="Salience of entities that 1 to 9 of ten memories of equal importance mention",
    source="closed form: memories / 9",
)
def saliences_by_memories(specimen: Any) -> Picture:
    x = np.arange(1, 10)
    saliences = of_graph(
        specimen,
        [[e for e in range(9) if row <= e] for row in range(10)],
        9,
        np.ones(10),
        np.ones(10, dtype=bool),
    )
    return Picture(
        "memories",
        "salience",
        (Curve("mechanism", x, saliences), Curve("memories / 9", x, x / 9.0)),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("memories are counted, whatever their importance", rejected_by="EC-1")
def counted(specimen: Any) -> Any:
    original = specimen.saliences
    return specimen.replacing(
        "saliences",
        lambda n, st, de, po, ta, importance, answerable, out: original(
            n, st, de, po, ta, np.ones(len(importance)), answerable, out
        ),
    )


@mutant("archived memories count", rejected_by="EC-2")
def archived(specimen: Any) -> Any:
    original = specimen.saliences
    return specimen.replacing(
        "saliences",
        lambda n, st, de, po, ta, importance, answerable, out: original(
            n, st, de, po, ta, importance, np.ones(len(importance), dtype=bool), out
        ),
    )


@mutant("the first fact of each predicate stays", rejected_by="EC-3")
def first_fact(specimen: Any) -> Any:
    original = specimen.profile
    return specimen.replacing("profile", lambda name, told: original(name, list(told)[:1]))


@mutant("filtered memories tell the type of an entity", rejected_by="EC-9")
def typed_by_filtered_ones(specimen: Any) -> Any:
    original = RelationTable.type_of

    def offer(self: Any, view: Any, cue: Any) -> None:
        def type_of(table: Any, name: str, shown: Any) -> str:
            return original(table, name, np.ones_like(shown))

        with patch.object(RelationTable, "type_of", type_of):
            specimen.EntityContext.offer(self, view, cue)

    return specimen.overriding("EntityContext", offer=offer)


@mutant("what the query mentions counts once", rejected_by="EC-4")
def once(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        object.__setattr__(
            self, "params", type(self.params)(1.0, self.params.share, self.params.most, 1.0)
        )
        specimen.EntityContext.offer(self, view, cue)

    return specimen.overriding("EntityContext", offer=offer)


@mutant("it offers at a budget of 0", rejected_by="EC-5")
def generous(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        view.offers.add("**entity**: nobody", "Known Entities", 0.0)
        specimen.EntityContext.offer(self, view, cue)

    return specimen.overriding("EntityContext", offer=offer)
