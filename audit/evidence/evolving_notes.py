"""Evidence for evolving_notes: the signal by plain loops, and notes, links and changes in a memory by
hand, with a scripted language model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ...engine.ports.language_model import Reply, Request, Status
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, figure
from ..memory import FunctionModel, encode, lines_with, memory_of

MESSAGES = (
    (0.0, "The kettle is old.", "Ada"),
    (1.0, "Rain again.", "Bo"),
    (2.0, "I sold the kettle.", "Ada"),
    (3.0, "Nothing to note.", "Bo"),
)
NOTES: Mapping[str, Any] = {
    "kettle is old": {
        "keywords": ["kettle"],
        "tags": ["home"],
        "context": "Ada has an old kettle.",
    },
    "Rain again": {"keywords": ["rain"], "tags": ["weather"], "context": "Bo sees rain."},
    "sold the kettle": {
        "keywords": ["kettle", "sale"],
        "tags": ["home"],
        "context": "Ada sold it.",
    },
}


def note_taker(evolves: Any = None) -> FunctionModel:
    """A language model that notes three messages and says of others what is no JSON; the sale of
    the kettle is linked to the kettle, whose context it changes, unless `evolves` is its reply.
    """

    def answer(request: Request) -> Any:
        if request.purpose == "note":
            told = [note for mark, note in NOTES.items() if mark in request.prompt]
            return told[0] if told else "no JSON"
        if evolves is not None:
            return evolves
        kettle = lines_with(request.prompt, "kettle is old")
        sold = "sold" in request.prompt.splitlines()[0]
        changed = [{"number": n, "context": "Ada had a kettle.", "tags": ["past"]} for n in kettle]
        return {"links": kettle if sold else [], "updates": changed if sold else []}

    return FunctionModel(answer)


def told(specimen: Any, model: Any, **values: Any) -> Engine:
    memory = memory_of(specimen, language_model=model, **values)
    encode(memory, *MESSAGES)
    memory.advance(30.0)
    return memory


def notes(memory: Engine) -> list[str]:
    """The present note of each memory, "" for none."""
    return [
        memory.event_log.writings[int(number)].text if number >= 0 else ""
        for number in memory.column("note")
    ]


def linked(memory: Engine) -> list[tuple[int, int]]:
    graph = memory.graph
    return sorted(
        (int(source), int(target))
        for source, target, held in zip(
            graph.source, graph.target, memory.column("note_link"), strict=True
        )
        if held
    )


@equation("EN-1", source="plain loops over 60 random networks of notes")
def linked_notes_borrow_from_the_best(specimen: Any) -> Any:
    measured, expected = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 9)), int(rng.integers(0, 20))
        own = np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n))
        source, target = rng.integers(0, n, m), rng.integers(-2, n, m)
        held, share = rng.random(m) < 0.7, float(rng.random())
        pool = np.argsort(source, kind="stable")
        degree = np.bincount(source, minlength=n)
        start = np.cumsum(degree) - degree
        seeds = np.flatnonzero(~np.isnan(own))[:3]
        out, by_hand = own.copy(), own.copy()
        specimen.lend(seeds, start, degree, pool, target, held, share, own, out)
        for s, t, yes in zip(source.tolist(), target.tolist(), held.tolist(), strict=True):
            if yes and t >= 0 and s in seeds and not np.isnan(own[t]):
                by_hand[t] = max(by_hand[t], share * own[s])
        measured += np.nan_to_num(out, nan=9.0).tolist()
        expected += np.nan_to_num(by_hand, nan=9.0).tolist()
    return measured, expected


@adaptation("EN-2", source="by hand: notes of three messages, one link both ways, one changed note")
def notes_are_written_linked_and_changed(specimen: Any) -> Any:
    model = note_taker()
    memory = told(specimen, model)
    memory.advance(60.0)
    held = [json.loads(note) if note else {} for note in notes(memory)]
    return [
        str([note.get("context", "") for note in held]),
        str([note.get("tags", "") for note in held]),
        str(linked(memory)),
        str([writing.sources for writing in memory.event_log.writings]),
        str(len(model.asked)),
        str([message.text for message in memory.events]),
    ], [
        "['Ada had a kettle.', 'Bo sees rain.', 'Ada sold it.', '']",
        "[['past'], ['weather'], ['home'], '']",
        "[(0, 2), (2, 0)]",
        "[(0,), (1,), (2,), (0, 2)]",
        "6",
        str([text for _, text, _ in MESSAGES]),
    ]


@adaptation("EN-7", source="by hand: a hidden note is no neighbour of a new one")
def a_hidden_note_is_not_compared(specimen: Any) -> Any:
    model = note_taker()
    memory = memory_of(specimen, language_model=model)
    encode(memory, *MESSAGES[:2])
    memory.advance(30.0)
    memory.archive(0)
    encode(memory, (40.0, "I sold the kettle.", "Ada"))
    memory.advance(60.0)
    shown = [line.split(" NOTE ")[0] for line in model.asked[-1].prompt.splitlines()]
    return shown, ['NEW "I sold the kettle."', '1 "Rain again."']


@adaptation(
    "EN-3",
    source="by hand: cosines of the query with the vectors of text and note together; the link of the best note lends its share",
    atol=1e-6,
)
def a_question_is_compared_with_text_and_note(specimen: Any) -> Any:
    memory = told(specimen, note_taker(), seeds=1, share=0.9)
    asked = "I sold the kettle. Ada sold it. kettle; sale; home"
    memory.retrieve(asked, 4)
    said = [memory.event_log.rendered(row) for row in range(4)]
    texts = [
        f"{said[0]} Ada had a kettle. kettle; past",
        f"{said[1]} Bo sees rain. rain; weather",
        f"{said[2]} Ada sold it. kettle; sale; home",
    ]
    embed = HashingEmbedder(16).embed
    cosines = [float(v @ embed([asked])[0]) for v in embed(texts)]
    best = int(np.argmax(cosines))
    cosines[2 - best] = max(cosines[2 - best], 0.9 * cosines[best])
    return np.nan_to_num(memory.column("noted"), nan=9.0), [*cosines, 9.0]


@limit(
    "EN-4",
    source="definition: without a model, and with one that answers badly, there is no note, link or signal",
)
def without_a_model_nothing_is_noted(specimen: Any) -> Any:
    measured = []
    for model in (None, FunctionModel(lambda request: Reply(Status.TIMEOUT))):
        memory = told(specimen, model)
        memory.retrieve("kettle", 4)
        measured.append(
            str((notes(memory), linked(memory), bool(np.isnan(memory.column("noted")).all())))
        )
    return measured, [str(([""] * 4, [], True))] * 2


@adaptation(
    "EN-5",
    source="definition: numbers that were not shown, and contexts without words, change nothing",
)
def odd_replies_change_nothing(specimen: Any) -> Any:
    odd = {
        "links": [0, -1, 9],
        "updates": [
            {"number": 9, "context": "Other.", "tags": []},
            {"number": 1, "context": "?!", "tags": ["x"]},
            {"number": 1, "context": "long " * 100, "tags": []},
        ],
    }
    memory = told(specimen, note_taker(odd))
    kept = [json.loads(note)["context"] if note else "" for note in notes(memory)]
    return [str(kept), str(linked(memory))], [
        "['Ada has an old kettle.', 'Bo sees rain.', 'Ada sold it.', '']",
        "[]",
    ]


@adaptation(
    "EN-6",
    source="definition: an erased memory has no note, nor is it in the note that it changed; none is asked for",
)
def an_erased_memory_is_in_no_note(specimen: Any) -> Any:
    memory = told(specimen, note_taker())
    memory.erase(2, confirm=True)
    memory.retrieve("kettle", 4)
    texts = [writing.text for writing in memory.event_log.writings]
    model = note_taker()
    early = memory_of(specimen, language_model=model)
    encode(early, *MESSAGES)
    early.erase(0, confirm=True)
    early.advance(30.0)
    asked = [request.prompt.splitlines()[1] for request in model.asked if request.purpose == "note"]
    return [
        str([bool(text) for text in texts]),
        str(memory.column("note")[2]),
        str(linked(memory)),
        str(asked),
    ], [
        "[True, True, False, False]",
        "-1",
        "[]",
        str([f"MESSAGE {json.dumps(text)}" for _, text, _ in MESSAGES[1:]]),
    ]


@adaptation(
    "EN-8",
    source="definition: 8 keywords and 8 tags of up to 60 characters, a context of up to 400, and 2,000 of a text in a prompt",
)
def notes_hold_at_their_limits(specimen: Any) -> Any:
    def noted(words: list[str], context: str) -> Any:
        data = {"keywords": words, "tags": words[::-1], "context": context}
        return specimen.note_of(Reply(Status.OK, data))

    words = [f"w{i}" for i in range(9)]
    many = noted(words, "A boat.")
    long = [len(noted(["w" * n], "A boat.").keywords) for n in (1, 60, 61)]
    contexts = [noted([], "a" * n) is not None for n in (1, 400, 401)]
    text = "a" * 2000
    shown = [specimen.note_request("Ada", f"{text}b").prompt]
    note = specimen.MemoryNote((), (), f"{text}c")
    shown.append(specimen.evolution_request((f"{text}b", note), ()).prompt)
    return [str(many.keywords), str(many.tags), str(long), str(contexts), *shown], [
        str(tuple(words[:8])),
        str(tuple(words[:0:-1])),
        "[1, 1, 0]",
        "[True, True, False]",
        f'SAID BY "Ada"\nMESSAGE "{text}"',
        f'NEW "{text}" NOTE "{text}"',
    ]


TOLD_BY = ("Ada", "Bo", "Cleo", "Ada", "Bo", "Cleo", "Ada")
WORDS = ("kettle", "boat", "rain", "kettle", "rain boat", "mill", "boat kettle")


def seven(specimen: Any) -> tuple[Engine, FunctionModel, list[tuple[int, int]], list[str], Any]:
    """A memory with seven messages, its model, and by plain numpy the links of each note with the
    two nearest earlier ones, and context and tags of each, as the last note near it changed them.
    """
    texts = [f"The {word} again, number {i}." for i, word in enumerate(WORDS)]

    def answer(request: Request) -> Any:
        if request.purpose == "note":
            (place,) = (i for i, text in enumerate(texts) if text in request.prompt)
            return {
                "keywords": [WORDS[place]],
                "tags": ["new"],
                "context": f"About {WORDS[place]}.",
            }
        shown = range(1, len(request.prompt.splitlines()))
        changed = [{"number": n, "context": f"Seen at {n}.", "tags": []} for n in shown]
        return {"links": list(shown), "updates": changed}

    model = FunctionModel(answer)
    memory = memory_of(specimen, language_model=model, neighbours=2, seeds=2, share=0.95)
    encode(memory, *((float(i), text, TOLD_BY[i]) for i, text in enumerate(texts)))
    memory.advance(30.0)
    vectors = HashingEmbedder(16).embed(
        [
            f"{memory.event_log.rendered(i)} About {word}. {word}; new"
            for i, word in enumerate(WORDS)
        ]
    )
    near = {
        row: sorted(range(row), key=lambda other: (-float(vectors[row] @ vectors[other]), other))[
            :2
        ]
        for row in range(1, len(texts))
    }
    both = sorted({pair for row in near for o in near[row] for pair in ((row, o), (o, row))})
    last = {o: (row, place) for row in near for place, o in enumerate(near[row], 1)}
    contexts = [f"Seen at {last[i][1]}." if i in last else f"About {WORDS[i]}." for i in range(7)]
    return memory, model, both, contexts, [[] if i in last else ["new"] for i in range(7)]


@adaptation(
    "EN-9",
    source="plain numpy: each of seven messages with the two nearest earlier notes, all of which are linked, and changed by the last "
    "that names them, to no tags; each message by its speaker",
)
def each_near_note_is_linked_and_changed(specimen: Any) -> Any:
    memory, model, both, contexts, tags = seven(specimen)
    held = [json.loads(note) for note in notes(memory)]
    said = [request.prompt.splitlines()[0] for request in model.asked[:7]]
    kept = [[note[field] for note in held] for field in ("context", "tags")]
    return [str(linked(memory)), *map(str, kept), str(said)], [
        str(both),
        str(contexts),
        str(tags),
        str([f'SAID BY "{name}"' for name in TOLD_BY]),
    ]


@adaptation(
    "EN-12",
    source="cosines and links of EN-9 by plain numpy: of seven notes the two best lend to those that are linked to them",
    atol=1e-6,
)
def the_best_notes_lend(specimen: Any) -> Any:
    memory, _, both, contexts, tags = seven(specimen)
    asked = "The mill, the rain and the boat."
    memory.retrieve(asked, 7)
    noted = [
        f"{memory.event_log.rendered(i)} {contexts[i]} {'; '.join((WORDS[i], *tags[i]))}"
        for i in range(7)
    ]
    own = [
        float(v @ HashingEmbedder(16).embed([asked])[0]) for v in HashingEmbedder(16).embed(noted)
    ]
    best = sorted(range(7), key=lambda row: -own[row])[:2]
    lent = [[0.95 * own[a] for a, b in both if a in best and b == row] for row in range(7)]
    return memory.column("noted"), [max(own[row], *lent[row], -1.0) for row in range(7)]


@adaptation(
    "EN-11",
    source="definition: of notes that are equally near the first ones are compared; by hand",
)
def of_equal_notes_the_first_are_neighbours(specimen: Any) -> Any:
    def answer(request: Request) -> Any:
        if request.purpose == "note":
            return {"keywords": [], "tags": [], "context": "A mill."}
        return {"links": list(range(1, len(request.prompt.splitlines()))), "updates": []}

    memory = memory_of(specimen, language_model=FunctionModel(answer), neighbours=2)
    encode(memory, *((float(i), "The mill again.", "Ada") for i in range(4)))
    memory.advance(30.0)
    return [str(linked(memory))], [
        "[(0, 1), (0, 2), (0, 3), (1, 0), (1, 2), (1, 3), (2, 0), (2, 1), (3, 0), (3, 1)]"
    ]


@adaptation(
    "EN-10", source="definition: an archived note lends nothing; cosines by numpy", atol=1e-6
)
def an_archived_note_lends_nothing(specimen: Any) -> Any:
    memory = told(specimen, note_taker(), seeds=1, share=0.9)
    asked = "I sold the kettle. Ada sold it. kettle; sale; home"
    memory.archive(2)
    memory.retrieve(asked, 4)
    embed = HashingEmbedder(16).embed
    (note,) = embed([f"{memory.event_log.rendered(0)} Ada had a kettle. kettle; past"])
    return [memory.column("noted")[0]], [float(note @ embed([asked])[0])]


@figure(
    "lent",
    caption="Match that a linked note gets from the best one, over its own",
    source="closed form",
)
def lent_over_own(specimen: Any) -> Picture:
    x = np.linspace(0.0, 1.0, 21)
    outs = []
    for own in x:
        both = np.array([0.9, own])
        out = both.copy()
        link = np.array([0]), np.array([0, 1]), np.array([1, 0]), np.array([0]), np.array([1])
        specimen.lend(*link, np.array([True]), 0.8, both, out)
        outs.append(out[1])
    return Picture(
        "own match",
        "match",
        (Curve("mechanism", x, outs), Curve("max(c, 0.8 x 0.9)", x, np.maximum(x, 0.72))),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("links add their share", rejected_by="EN-1")
def adding(specimen: Any) -> Any:
    original = specimen.lend

    def lend(seeds: Any, *rest: Any) -> None:
        own, out = rest[-2:]
        original(seeds, *rest)
        out += np.where(out > own, np.nan_to_num(own), 0.0)

    return specimen.replacing("lend", lend)


@mutant("links lead one way", rejected_by="EN-2")
def one_way(specimen: Any) -> Any:
    original = specimen.evolution_of
    return specimen.replacing("evolution_of", lambda reply, near: ((), original(reply, near)[1]))


@mutant("changed notes are thrown away", rejected_by="EN-2")
def unchanged(specimen: Any) -> Any:
    original = specimen.evolution_of
    return specimen.replacing("evolution_of", lambda reply, near: (original(reply, near)[0], {}))


@mutant("notes are no part of the vector", rejected_by="EN-3")
def text_alone(specimen: Any) -> Any:
    return specimen.overriding("MemoryNote", text=property(lambda self: ""))


@mutant("a bad reply is an empty note", rejected_by="EN-4")
def empty(specimen: Any) -> Any:
    return specimen.replacing("note_of", lambda reply: specimen.MemoryNote((), (), "none"))


@mutant("any number is taken", rejected_by="EN-5")
def any_number(specimen: Any) -> Any:
    return specimen.replacing("evolution_of", lambda reply, near: ((0,), {}))


@mutant("hidden notes are neighbours, too", rejected_by="EN-7")
def hidden_neighbours(specimen: Any) -> Any:
    def nearest(self: Any, view: Any, row: int) -> list[int]:
        rows = np.flatnonzero(view.note[:row] >= 0)
        likeness = view.note_embedding[rows] @ view.note_embedding[row]
        ranked: list[int] = rows[np.argsort(-likeness)][: self.params.neighbours].tolist()
        return ranked

    return specimen.overriding("EvolvingNotes", _nearest=nearest)


@mutant("any number of keywords and tags", rejected_by="EN-8")
def many_words(specimen: Any) -> Any:
    return specimen.replacing("MOST_WORDS", 100)


@mutant("a context of any length", rejected_by="EN-8")
def long_context(specimen: Any) -> Any:
    return specimen.replacing("LONGEST", 10_000)


@mutant("a note that another memory changed names its own memory alone", rejected_by="EN-6")
def own_source(specimen: Any) -> Any:
    original = specimen.EvolvingNotes._write

    def write(self: Any, view: Any, made: Any) -> None:
        original(self, view, {row: (note, (row,)) for row, (note, _) in made.items()})

    return specimen.overriding("EvolvingNotes", _write=write)


@mutant("of the notes that are near the first is linked alone", rejected_by="EN-9")
def first_link(specimen: Any) -> Any:
    original = specimen.evolution_of
    return specimen.replacing(
        "evolution_of", lambda reply, near: (original(reply, near)[0][:1], original(reply, near)[1])
    )


@mutant("a changed note keeps its tags where it is given none", rejected_by="EN-9")
def kept_tags(specimen: Any) -> Any:
    original = specimen.evolution_of

    def evolution_of(reply: Any, near: Any) -> Any:
        links, changed = original(reply, near)
        return links, {
            place: specimen.MemoryNote(note.keywords, note.tags or near[place].tags, note.context)
            for place, note in changed.items()
        }

    return specimen.replacing("evolution_of", evolution_of)


@mutant("one note more lends", rejected_by="EN-12")
def one_seed_more(specimen: Any) -> Any:
    original = specimen.best
    return specimen.replacing("best", lambda own, among, k: original(own, among, k + 1))


@mutant("of notes that are equally near the last ones are compared", rejected_by="EN-11")
def last_of_equal(specimen: Any) -> Any:
    def nearest(self: Any, view: Any, row: int) -> list[int]:
        rows = np.flatnonzero((view.note[:row] >= 0) & view.visible[:row])[::-1]
        likeness = view.note_embedding[rows] @ view.note_embedding[row]
        order = np.argsort(-likeness, kind="stable")[: self.params.neighbours]
        ranked: list[int] = rows[order].tolist()
        return ranked

    return specimen.overriding("EvolvingNotes", _nearest=nearest)


@mutant("archived notes lend their share", rejected_by="EN-10")
def archived_lend(specimen: Any) -> Any:
    original = specimen.best
    return specimen.replacing("best", lambda own, among, k: original(own, ~np.isnan(own), k))
