"""Evidence for synonym_links: all cosines by hand, and walks over a network with the links as
linear systems in numpy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.catalogue.registry import Registry
from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.ports.language_model import Request
from ...mechanisms.retrieval.personalized_pagerank import PAGERANK
from ...mechanisms.shared.synonyms import SYNONYMS, Synonyms, joined
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, figure
from ..memory import FunctionModel, encode, lines_with, memory_of, neighbour
from ..paper_numbers import paper_number
from .shared.views import Instead

PAPER, LEAST, D = "jimenez2024hipporag", 0.8, 0.5
NUMBERS = (
    paper_number(
        "cosine", LEAST, "1", paper=PAPER, where="implementation details: synonymy threshold 0.8"
    ),
    paper_number(
        "query",
        "nearest",
        "1",
        paper=PAPER,
        where="online retrieval: query nodes are those of the largest cosine with the named entities",
    ),
)


def circle(*angles: float) -> NDArray[np.float32]:
    """Unit vectors at some angles, rad."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@equation(
    "SL-1",
    source="HippoRAG: names of a cosine of 0.8 or more, by the cosine of every pair; new names are compared with all",
    papers=(PAPER,),
)
def pairs_are_those_of_all_cosines(specimen: Any) -> Any:
    rng, same = np.random.default_rng(1), []
    for n, d in ((2, 2), (30, 3), (600, 3)):
        vectors = rng.normal(size=(n, d))
        vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        cosines = vectors.astype(float) @ vectors.T.astype(float)
        for first in (0, n // 2, n):
            near = {(a, b) for b in range(first, n) for a in range(b) if cosines[a, b] >= LEAST}
            pairs = [tuple(pair) for pair in specimen.near_pairs(vectors, first, LEAST).tolist()]
            same.append(
                set(pairs) == near
                and len(pairs) == len(near)
                and pairs == sorted(pairs, key=lambda pair: pair[::-1])
            )
    edge = specimen.near_pairs(
        circle(0.0, math.acos(LEAST) - 1e-3, -math.acos(LEAST) - 1e-3), 0, LEAST
    ).tolist()
    exact = specimen.near_pairs(
        np.array([[1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]], np.float32), 0, 0.5
    ).tolist()
    return [*same, edge == [[0, 1]], exact == [[0, 1]]], [True] * 11


@limit(
    "SL-6",
    source="definition: names that come one by one have the pairs of those that come together, also at a cosine of just the least",
)
def a_pair_does_not_depend_on_when_its_names_come(specimen: Any) -> Any:
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(300, 384))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    def near(pair: tuple[int, int], names: int, known: int, least: float) -> bool:
        """Whether two are a pair of so many names, of which so many were known."""
        pairs = np.asarray(specimen.near_pairs(vectors[:names], known, least))
        return bool((pairs == pair).all(axis=1).any())

    same = []
    for pair in zip(
        rng.integers(0, 150, 12).tolist(), rng.integers(150, 300, 12).tolist(), strict=True
    ):
        late, low, high = pair[1], -1.0, 1.0
        # the cosine of a late name, to the last bit, by bisection
        for _ in range(30):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if near(pair, late + 1, late, middle) else (low, middle)
        same.append(near(pair, len(vectors), 0, low))
    return same, [True] * 12


@adaptation(
    "SL-2",
    source="ours: links by lists; a synonym is one link each way between two entities, beside all others",
)
def the_network_has_the_links_of_both(specimen: Any) -> Any:
    rng, same = np.random.default_rng(2), []
    for _ in range(20):
        nodes, links = (
            12,
            [(int(a), int(b)) for a, b in rng.integers(0, 12, (int(rng.integers(0, 30)), 2))],
        )
        order = sorted(range(len(links)), key=lambda k: links[k][0])
        degree = np.bincount([a for a, _ in links], minlength=nodes)
        pairs = np.array([(0, 2), (1, 3)], np.int64)
        held = [
            sorted(t for s, t in [*links, (11, -3), (9, -1), (10, -4), (8, -2)] if s == v)
            for v in range(nodes)
        ]
        ends = np.array([b for _, b in links], np.int64)
        start, out, joined_ends = joined(np.cumsum(degree) - degree, degree, ends[order], pairs)
        same.append(
            [sorted(joined_ends[s : s + d].tolist()) for s, d in zip(start, out, strict=True)]
            == held
        )
    return same, [True] * 20


@adaptation(
    "SL-13",
    source="definition: facts by cosine, the first of equal ones; each is embedded once, as long as it is told",
)
def the_nearest_facts_are_embedded_once(specimen: Any) -> Any:
    embedded, angles = list[str](), {"a": 0.5, "b": 0.5, "c": 0.2, "d": 0.5}

    def embed(facts: Sequence[str]) -> NDArray[np.float32]:
        embedded.extend(facts)
        return circle(*(angles[fact] for fact in facts))

    synonyms, query, measured = Synonyms(), circle(0.0)[0], []
    for facts in (("a", "b", "c"), ("b", "d", "a", "c"), ("d",), ("a", "d")):
        measured.append(str(synonyms.closest(query, facts, embed, 3)))
    return [*measured, " ".join(embedded)], ["[2, 0, 1]", "[3, 0, 1]", "[0]", "[0, 1]", "a b c d a"]


@adaptation(
    "SL-14",
    source="definition: pairs, starts and what stands for a name hold for the query that set them; changed names begin anew; by hand",
)
def what_a_query_sets_holds_for_it_alone(specimen: Any) -> Any:
    angles = {"ada": 0.0, "adah": 0.1, "bo": 2.0, "beau": 2.1, "\0erased 1": 2.0, "ad": 0.2}
    synonyms, asked = Synonyms(), [object(), object(), object()]

    def embed(names: Sequence[str]) -> NDArray[np.float32]:
        return circle(*(angles[name] for name in names))

    def near(vectors: NDArray[np.float32], first: int) -> NDArray[np.int64]:
        pairs: NDArray[np.int64] = specimen.near_pairs(vectors, first, 0.9)
        return pairs

    def state(cue: object) -> str:
        return str((synonyms.of(cue).tolist(), synonyms.nearest(cue, "ad"), synonyms.starts(cue)))

    synonyms.put(asked[0], ["ada", "bo", "adah"], embed, near)
    synonyms.link(["ad", "bo"], embed)
    synonyms.start(["bo"])
    measured = [state(asked[0]), state(asked[1])]
    synonyms.put(asked[1], ["ada", "bo", "adah", "beau"], embed, near)
    measured += [state(asked[0]), state(asked[1])]
    # the second name is erased
    synonyms.put(asked[2], ["ada", "\0erased 1", "adah", "beau"], embed, near)
    return [*measured, state(asked[2])], [
        "([[0, 2]], 2, ['bo'])",
        "([], None, None)",
        "([], None, None)",
        "([[0, 2], [1, 3]], None, None)",
        "([[0, 2]], None, None)",
    ]


class Named:
    """Vectors of names by angle; any other text has the vector of a third dimension."""

    name, revision, dimensions = "named", "1", 3

    def __init__(self, angles: dict[str, float]) -> None:
        self.angles = angles

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, 3) float32."""
        return np.array(
            [
                [math.cos(a), math.sin(a), 0.0]
                if (a := self.angles.get(t)) is not None
                else [0.0, 0.0, 1.0]
                for t in texts
            ],
            np.float32,
        ).reshape(-1, 3)


# the last two in queries
ANGLES = {"mia": 0.0, "maria": 0.5, "bo": 2.0, "lisbon": 3.0, "lissabon": 3.6, "oslo": 4.6,
          "marie": 0.4, "zora": 5.4}  # fmt: skip
STORY = (
    ("Yesterday Mia met Bo.", ("mia", "bo")),
    ("They say Maria lives in Lisbon.", ("maria", "lisbon")),
    ("In winter Lissabon was warm.", ("lissabon",)),
    ("And Oslo was cold.", ("oslo",)),
    ("Nothing was said.", ()),
)


def walked(asked: Sequence[str], least: float, count: int = len(STORY)) -> NDArray[np.float64]:
    """Each memory's sum of pi over its names: (1 - d) (I - d P^T)^-1 s with links between names
    of near angles; NaN without mass.
    """
    names, n = list(ANGLES), count
    adjacent = np.zeros((n + len(names), n + len(names)))
    for i, (_, held) in enumerate(STORY[:count]):
        for name in held:
            adjacent[i, n + names.index(name)] = adjacent[n + names.index(name), i] = 1.0
    mentioned = {name for _, held in STORY[:count] for name in held}
    restart = np.zeros(len(adjacent))
    for name in asked:
        restart[n + names.index(name)] = 1.0 / adjacent[n + names.index(name)].sum()
    for a in mentioned:
        for b in mentioned - {a}:
            if math.cos(ANGLES[a] - ANGLES[b]) >= least:
                adjacent[n + names.index(a), n + names.index(b)] = 1.0
    restart, damping = restart / restart.sum(), math.sqrt(D)
    step = adjacent / np.maximum(adjacent.sum(axis=1, keepdims=True), 1.0)
    pi = (1.0 - damping) * np.linalg.solve(np.eye(len(adjacent)) - damping * step.T, restart)
    mass = adjacent[:n, n:] @ pi[n:]
    return np.where(mass > 1e-12, mass, np.nan)


def told(specimen: Any, count: int = len(STORY), first: int = 0, **values: Any) -> Any:
    """A memory of the story that walks exactly; the first events are asked about before the
    others are told.
    """
    walks = Registry.read().instance("personalized_pagerank", {"epsilon": 0.0, "damping": D})
    memory = memory_of(specimen, walks, embedder=Named(ANGLES), **values)
    for part in (range(first), range(first, count)):
        encode(memory, *(Event(0.1 * i, STORY[i][0], id=f"e{i}") for i in part))
        if part and part.start < part.stop <= first:
            memory.retrieve("Did Mia see Bo?")
    return memory


@equation(
    "SL-3",
    source="HippoRAG: personalized PageRank with synonymy edges, as a linear system; restarts by specificity over memories alone",
    rtol=1e-6,
    papers=(PAPER,),
)
def a_query_reaches_memories_of_a_synonym(specimen: Any) -> Any:
    measured, expected = [], []
    for least, first in ((LEAST, 0), (LEAST, 2), (0.9, 0), (0.0, 1)):
        memory = told(specimen, first=first, cosine=least)
        for query, asked in (
            ("Where is Mia?", ("mia",)),
            ("Did Bo see Lissabon?", ("bo", "lissabon")),
            ("Is it cold in Oslo?", ("oslo",)),
        ):
            memory.retrieve(query)
            measured += np.nan_to_num(memory.column(PAGERANK), nan=-1.0).tolist()
            expected += np.nan_to_num(walked(asked, least), nan=-1.0).tolist()
    return measured, expected


@limit(
    "SL-4",
    source="definition: no names, no query with a name, no pair: answers and state of a memory without the mechanism",
)
def without_a_pair_nothing_changes(specimen: Any) -> Any:
    measured = []
    for least in (LEAST, 1.0):
        memory, without = (
            told(specimen, 1, cosine=least, query="names"),
            told(specimen, 1, query="names"),
        )
        for query in ("Where is Mia?", "What?", "Did Zoe go?"):
            measured.append(
                memory.retrieve(query).final.tolist() == without.retrieve(query).final.tolist()
            )
            wanted = walked(("mia",), 2.0, 1) if "Mia" in query else np.array([np.nan])
            measured.append(
                bool(np.allclose(memory.column(PAGERANK), wanted, rtol=1e-6, equal_nan=True))
            )
        empty = memory_of(specimen, embedder=Named(ANGLES))
        measured.append(len(empty.retrieve("Where is Mia?").rows) == 0)
        full, edges = told(specimen, cosine=0.0), told(specimen, cosine=0.0)
        full.retrieve("Where is Mia?")
        measured.append(full.digest() == edges.digest())
    return measured, [True] * 16


@limit(
    "SL-5",
    source="definition: a name whose only event was erased has no vector and no synonyms; the others keep theirs",
    rtol=1e-6,
)
def an_erased_name_has_no_synonyms(specimen: Any) -> Any:
    measured, expected = list[float](), list[float]()
    for asked_before in (False, True):
        memory = told(specimen, cosine=LEAST)
        if asked_before:
            memory.retrieve("Where is Mia?")
        memory.erase("e1", confirm=True)
        # the embedder takes this name and erased names for any other text
        encode(memory, Event(0.9, "In spring Zelda sang.", id="e9"))
        alone = 1.0 / (1.0 + math.sqrt(D))
        for query, masses in (
            ("Where is Mia?", [walked(("mia",), LEAST, 1)[0], -1.0, -1.0, -1.0, -1.0]),
            ("Is it Lissabon?", [-1.0, alone, -1.0, -1.0, -1.0]),
            ("Is it Zelda?", [-1.0, -1.0, -1.0, -1.0, alone]),
        ):
            memory.retrieve(query)
            measured += np.nan_to_num(np.delete(memory.column(PAGERANK), 1), nan=-1.0).tolist()
            expected += masses
    return measured, expected


@adaptation(
    "SL-7",
    source="HippoRAG: a name of the query starts at the entity of the largest cosine, found by angles; walks as linear systems",
    rtol=1e-6,
    papers=(PAPER,),
)
def an_unknown_name_starts_at_the_nearest_entity(specimen: Any) -> Any:
    measured, expected = list[float](), list[float]()
    for query, first in (("nearest", 0), ("nearest", 2), ("names", 0)):
        memory = told(specimen, first=first, query=query)
        for text, asked in (
            ("Is Marie in Lissabon?", ("marie", "lissabon")),
            ("Did Zora see Maria or Marie?", ("zora", "maria", "marie")),
            ("Is it Zora?", ("zora",)),
            ("Is it cold?", ()),
        ):
            memory.retrieve(text)
            mentioned = {name for _, held in STORY for name in held}
            near = {
                name: max(mentioned, key=lambda held: math.cos(ANGLES[held] - ANGLES[name]))
                for name in asked
            }
            starts = sorted(
                {near[name] if query == "nearest" else name for name in asked} & mentioned
            )
            measured += np.nan_to_num(memory.column(PAGERANK), nan=-1.0).tolist()
            expected += (
                np.nan_to_num(walked(starts, LEAST), nan=-1.0).tolist()
                if starts
                else [-1.0] * len(STORY)
            )
    return measured, expected


@limit(
    "SL-8",
    source="definition: in a memory without names, or with erased names alone, no name of a query starts anywhere; nothing is stored",
)
def without_names_none_is_nearest(specimen: Any) -> Any:
    empty, erased = memory_of(specimen, embedder=Named(ANGLES)), told(specimen, 1)
    measured = [len(empty.retrieve("Where is Marie?").rows) == 0]
    erased.erase("e0", confirm=True)
    erased.retrieve("Where is Marie?")
    measured.append(bool(np.isnan(erased.column(PAGERANK)).all()))
    asked_life, untouched = told(specimen), told(specimen)
    asked_life.retrieve("Where is Zora?")
    return [*measured, asked_life.digest() == untouched.digest()], [True] * 3


@figure(
    "reach",
    caption="Mass at the memory of a synonym, against the cosine of the two names: links from 0.8 on carry the walk",
    source="HippoRAG, synonymy; two memories of ours",
)
def mass_over_cosine(specimen: Any) -> Picture:
    cosines, mass = np.linspace(0.5, 1.0, 26), []
    for cosine in cosines:
        walks = Registry.read().instance("personalized_pagerank", {"epsilon": 0.0})
        memory = memory_of(
            specimen,
            walks,
            embedder=Named({"mia": 0.0, "maria": math.acos(min(float(cosine), 1.0))}),
        )
        encode(memory, (0.0, "Yesterday Mia slept."), (0.1, "They say Maria left."))
        memory.retrieve("Where is Mia?")
        mass.append(float(np.nan_to_num(memory.column(PAGERANK))[1]))
    return Picture(
        "cosine of the names",
        "probability at the synonym",
        (Curve("the memory of the synonym", cosines, np.array(mass)),),
    )


# --- a language model -----------------------------------------------------------------------------
def triple_filter(word: str | None) -> FunctionModel:
    """A language model that knows one triple of each message, and keeps of those that it is offered
    the ones with a word; without a word it replies what is no JSON.
    """

    def answer(request: Request) -> Any:
        if request.purpose == "triples":
            name, thing = request.prompt.split('"')[1], request.prompt.split(" ")[-1].strip('."')
            return {"triples": [{"subject": name, "relation": "sings of", "object": thing}]}
        return "no JSON" if word is None else {"numbers": lines_with(request.prompt, word)}

    return FunctionModel(answer)


SONGS = (
    (0.0, "A song of kettles", "Ada"),
    (1.0, "A song of harbours", "Bo"),
    (2.0, "A song of kettles", "Cleo"),
    (3.0, "Ada hums.", "Dora"),
)


def ranked(
    specimen: Any,
    word: str | None,
    songs: Any = SONGS,
    question: str = "Who sings of kettles, Bo?",
    archived: Sequence[int] = (),
) -> tuple[list[int], list[str], list[str]]:
    """The rows that the walk of a question reaches, the prompts of the filter, and the names at which
    the walk starts, as far as the mechanism gives them.
    """
    model, starts = triple_filter(word), list[str]()

    def note(view: Any, cue: Any) -> None:
        starts.extend(view.synonyms.starts(cue) or ())

    relations = Registry.read().instance("typed_relations", {"rules": False, "model": True})
    memory = memory_of(
        specimen,
        relations,
        "personalized_pagerank",
        neighbour(Phase.RETRIEVE, note, reads=(SYNONYMS,)),
        language_model=model,
        model=True,
        query="names",
    )
    encode(memory, *songs)
    memory.advance(30.0)
    for row in archived:
        memory.archive(row)
    memory.retrieve(question, 4)
    offered = [request.prompt for request in model.asked if request.purpose == "triple_filter"]
    return np.flatnonzero(memory.column(PAGERANK) > 0.0).tolist(), offered, starts


@adaptation(
    "SL-9",
    source="by hand: the walk starts at the entities of the triples that a model keeps; of none, where it keeps none; where its reply "
    "is no JSON, at the name in the question",
)
def a_model_filters_triples(specimen: Any) -> Any:
    kettles, offered, starts = ranked(specimen, "kettles")
    # what an archived memory alone tells is not offered
    offered += ranked(specimen, "kettles", archived=(1, 2))[1]
    return [
        str(kettles),
        str(ranked(specimen, "violins")[0]),
        str(ranked(specimen, None)[0]),
        str(ranked(specimen, "kettles", question="What is it?")[0]),
        str(ranked(specimen, "kettles", question="?!")[0]),
        str(sorted(starts)),
        str([sorted(line.split(" ", 1)[1] for line in p.splitlines()[1:]) for p in offered]),
    ], [
        "[0, 2, 3]",
        "[]",
        "[1]",
        "[0, 2, 3]",
        "[]",
        "['ada', 'cleo', 'kettles']",
        str([['"ada sings of kettles"', '"bo sings of harbours"', '"cleo sings of kettles"',
              '"dora sings of hums"'], ['"ada sings of kettles"', '"dora sings of hums"']]),
    ]  # fmt: skip


@adaptation(
    "SL-12",
    source="definition: the 5 nearest triples are offered, and 4,000 characters of a question and of a triple are shown",
)
def a_request_has_five_triples(specimen: Any) -> Any:
    """Of seven triples, five of which are of the kettles of the question."""
    things = ("violins", "kettles", "kettles", "harbours", "kettles", "kettles", "kettles")
    names = ("Zoe", "Ada", "Cleo", "Ivo", "Dora", "Emil", "Greta")
    songs = [(float(i), f"A song of {things[i]}", names[i]) for i in range(7)]
    (offered,) = ranked(specimen, None, songs)[1]
    text = "a" * 4000
    shown = specimen.filter_request(f"{text}b", [(f"{text}b", "is", "c")]).prompt
    return [str(sorted(line.split(" ", 1)[1] for line in offered.splitlines()[1:])), shown], [
        str([f'"{name} sings of kettles"' for name in ("ada", "cleo", "dora", "emil", "greta")]),
        f'QUESTION "{text}"\n1 "{text}"',
    ]


@mutant("all triples are offered", rejected_by="SL-12")
def all_offered(specimen: Any) -> Any:
    return specimen.replacing("OFFERED", 1000)


@mutant("what the model keeps is thrown away", rejected_by="SL-9")
def thrown_away(specimen: Any) -> Any:
    return specimen.replacing("kept_of", lambda reply, triples: None)


# --- mutants --------------------------------------------------------------------------------------
def changed(specimen: Any, change: Any) -> Any:
    """The specimen whose pairs are changed: (vectors, first, least, original) -> pairs."""
    original = specimen.near_pairs
    return specimen.replacing(
        "near_pairs", lambda vectors, first, least: change(vectors, first, least, original)
    )


@mutant("new names are compared with new ones only", rejected_by="SL-1")
def new_ones_only(specimen: Any) -> Any:
    def near(vectors: Any, first: int, least: float, original: Any) -> Any:
        pairs = original(vectors, first, least)
        return pairs[pairs[:, 0] >= first]

    return changed(specimen, near)


@mutant("a distance for the cosine", rejected_by="SL-1")
def by_distance(specimen: Any) -> Any:
    return changed(
        specimen, lambda vectors, first, least, original: original(vectors, first, 1.0 - least)
    )


@mutant("the threshold of the hook is fixed", rejected_by="SL-3")
def fixed_threshold(specimen: Any) -> Any:
    return changed(
        specimen, lambda vectors, first, least, original: original(vectors, first, LEAST)
    )


@mutant("earlier pairs are found again", rejected_by="SL-3")
def pairs_twice(specimen: Any) -> Any:
    return changed(specimen, lambda vectors, first, least, original: original(vectors, 0, least))


@mutant("pairs without a threshold", rejected_by="SL-4")
def every_pair(specimen: Any) -> Any:
    return changed(specimen, lambda vectors, first, least, original: original(vectors, first, -1.0))


@mutant("a name of the query starts at the entity of the smallest cosine", rejected_by="SL-7")
def farthest(specimen: Any) -> Any:
    def link(self: Any, view: Any, cue: Any) -> None:
        names = [view.graph.entity_name(e) for e in range(view.graph.n_entities)]
        view.synonyms.put(
            cue,
            names,
            view.embedder.embed,
            lambda vectors, first: specimen.near_pairs(vectors, first, self.params.cosine),
        )
        if self.params.query == "nearest":
            view.synonyms.link(cue.features.entities, lambda texts: -view.embedder.embed(texts))

    return specimen.overriding("SynonymLinks", link=link)


@mutant("a question of words without content asks nothing", rejected_by="SL-9")
def content_alone(specimen: Any) -> Any:
    original = specimen.terms_of
    return specimen.replacing(
        "terms_of", lambda text, stem=True, **how: original(text, stem=stem, stop_words=True)
    )


@mutant("what archived memories tell is offered", rejected_by="SL-9")
def archived_offered(specimen: Any) -> Any:
    def _start(view: Any, cue: Any) -> None:
        specimen.SynonymLinks._start(Instead(view, visible=np.ones_like(view.visible)), cue)

    return specimen.overriding("SynonymLinks", _start=staticmethod(_start))
