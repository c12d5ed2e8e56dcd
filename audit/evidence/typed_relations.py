"""Evidence for typed_relations: two hundred sentences with what each tells, what holds after many
tellings against a loop over plain sets, and what the mechanisms that read relations do with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import VISIBLE
from ...engine.ports.language_model import Reply, Request, Status
from ...engine.state.graph import EdgeType, entity_node
from ..checks import Measured, adaptation, at_least, limit, mutant, reference
from ..figures import Curve, Picture, dots, figure
from ..memory import FunctionModel, encode, memory_of, neighbour
from .shared.relation_sentences import SPEAKER, TOLD
from .shared.views import nothing


def written(relation: Any) -> str:
    """A relation as `TOLD` writes it."""
    return f"{'' if relation.holds else '-'}{relation.source} | {relation.kind} | {relation.target}"


def scores(specimen: Any, sentences: Any) -> tuple[float, float]:
    """Precision and recall over sentences."""
    right, n_read, due = 0, 0, 0
    for text, *told in sentences:
        read = {written(relation) for relation in specimen.relations_of(text, SPEAKER)}
        right, n_read, due = right + len(read & set(told)), n_read + len(read), due + len(told)
    return right / max(n_read, 1), right / due


@reference(
    "TR-1",
    source="200 sentences written for it before the rules, all and the half that the rules were not tuned on: precision",
)
def what_it_reads_is_told(specimen: Any) -> Measured:
    return at_least([scores(specimen, TOLD)[0], scores(specimen, TOLD[1::2])[0]], 0.9)


@reference("TR-2", source="the same sentences: recall")
def what_is_told_it_reads(specimen: Any) -> Measured:
    return at_least([scores(specimen, TOLD)[1], scores(specimen, TOLD[1::2])[1]], 0.9)


@figure(
    "read_and_told",
    caption="The rules read nearly as many relations as a hand wrote beside the sentences, in all kinds of sentences",
    source="ours: 200 sentences written before the rules",
)
def relations_read_over_sentences(specimen: Any) -> Picture:
    read = [len(specimen.relations_of(text, SPEAKER)) for text, *_ in TOLD]
    number = np.arange(1, len(TOLD) + 1)
    return Picture(
        "sentences",
        "relations",
        (
            Curve("read by the rules", number, np.cumsum(read)),
            dots("told, by hand", number, np.cumsum([len(told) for _, *told in TOLD])),
        ),
    )


ASKED = (
    "Does Bo live in Oslo?",
    "Bo would live in Oslo.",
    "If Bo lives in Oslo, call Cleo.",
    "Bo does not live in Oslo.",
    "Maybe Bo lives in Oslo.",
    "Bo wants to live in Oslo.",
    "Bo may live in Oslo.",
    "In May Bo may live in Oslo.",
    "",
    "Bo. Oslo.",
    "a" * 100_000,
    "Bo lives in " * 10_000,
)


@limit("TR-3", source="definition: questions, wishes, conditions and denials tell nothing")
def what_is_not_stated_is_not_read(specimen: Any) -> Any:
    return [len(specimen.relations_of(text, SPEAKER)) for text in ASKED], [0] * len(ASKED)


@limit("TR-3b", source="definition: May after a preposition is a month, and no modal verb")
def what_is_dated_in_may_is_read(specimen: Any) -> Any:
    dated = (
        "Bo moved to Oslo in May.",
        "Bo works at Northgate Labs since May.",
        "Bo married Cleo last May.",
    )
    return [len(specimen.relations_of(text, SPEAKER)) for text in dated], [1] * len(dated)


def by_hand(tellings: list[tuple[float, int, Any]], kinds: Any) -> set[tuple[str, str, str, int]]:
    """What holds and its weight, telling by telling over one set of plain tuples."""
    holds: dict[tuple[str, str, str], int] = {}
    for _, _, r in sorted(tellings, key=lambda told: told[:2]):
        ways = {(r.source, r.target)} | ({(r.target, r.source)} if kinds[r.kind].both else set())
        if kinds[r.kind].single and r.holds:
            taken = {source for source, _ in ways}
            for key in [*holds]:
                if (
                    key[1] == r.kind
                    and (key[0], key[2]) not in ways
                    and (key[0] in taken or (kinds[r.kind].both and key[2] in taken))
                ):
                    del holds[key]
        for source, target in ways:
            key = (source, r.kind, target)
            if r.holds:
                holds[key] = holds.get(key, 0) + 1
            else:
                holds.pop(key, None)
    return {(*key, number) for key, number in holds.items()}


def in_words(relations: Iterable[Any]) -> list[str]:
    """Source, kind and target of each relation."""
    return [f"{r.source} {r.kind} {r.target}" for r in relations]


@limit(
    "TR-3c",
    source="definition: he is the name with which the last sentence began that began with one; who speaks is told in any form",
)
def a_pronoun_stands_for_the_last_name_that_began_a_sentence(specimen: Any) -> Any:
    texts = (
        "Bo is a cook. It rained all day. He lives in Oslo.",
        "Bo is a cook. They say Cleo swims. He lives in Oslo.",
        "It rained all day. He lives in Oslo.",
        "I live in Oslo.",
    )
    return [", ".join(in_words(specimen.relations_of(text, "Zoë"))) for text in texts], [
        "bo lives in oslo",
        "bo lives in oslo",
        "",
        "zoe lives in oslo",
    ]


@limit(
    "TR-3d",
    source="by hand: what is said aside, and what belongs: code to its whole, a thing to its owner",
)
def asides_and_belongings_are_read(specimen: Any) -> Any:
    texts = (
        "They say Bo, who lives in Graz, works at Kestrel Labs.",
        "They say `load_config()` belongs to Heron.",
        "They say `auth.py` belongs to Heron.",
        "They say Bluepine belongs to Bo.",
    )
    return [", ".join(sorted(in_words(specimen.relations_of(text)))) for text in texts], [
        "bo lives in graz, bo works at kestrel labs",
        "load_config() part of heron",
        "auth.py part of heron",
        "bo owns bluepine",
    ]


@adaptation(
    "TR-15",
    source="definition: 200 sentences of a text, 400 characters of a sentence and 60 names of a text are read",
)
def long_texts_are_read_in_part(specimen: Any) -> Any:
    """Number of relations of a text that ends with one: behind other sentences, behind a long word,
    and behind other names.
    """
    tie = "Bo is married to Cleo"
    names = [f"{first}{vowel}el" for first in "BDFGKLMPRSTV" for vowel in "aeiou"]
    texts = (
        *("It rained. " * (n - 1) + f"{tie}." for n in (1, 199, 200, 201)),
        *(f"So {'b' * (n - len(tie) - 4)} {tie}." for n in (60, 399, 400, 401)),
        *(" ".join(f"They met {x}." for x in names[: n - 2]) + f" {tie}." for n in (2, 60, 61)),
    )
    return [len(specimen.relations_of(text)) for text in texts], [1, 1, 1, 0] * 2 + [1, 1, 0]


@adaptation("TR-4", source="a loop over one set of plain tuples, 200 random courses of tellings")
def the_latest_telling_holds(specimen: Any) -> Any:
    measured, expected = [], []
    names, kinds = ("a", "b", "c", "d"), ("lives in", "knows", "married to", "uses")
    for seed in range(200):
        rng = np.random.default_rng(seed)
        tellings = []
        for row in range(12):
            first, second = rng.choice(4, 2, replace=False)
            relation = specimen.EntityRelation(
                names[first], kinds[rng.integers(4)], names[second], bool(rng.random() < 0.8)
            )
            tellings.append((float(rng.integers(0, 5)), row, relation))
        holds = {(h.source, h.kind, h.target, h.weight) for h in specimen.held(tellings)}
        measured.append(str(sorted(holds)))
        expected.append(str(sorted(by_hand(tellings, specimen.KINDS))))
    return measured, expected


STORY = (
    (1.0, "Bo lives in Rome.", "Ada"),
    (3.0, "I live in Oslo.", "Ada"),
    (4.0, "Bo lives in Graz.", "Ada"),
    (5.0, "Bo lives in Graz, I say.", "Cleo"),
    (6.0, "I moved to Bergen.", "Ada"),
    (7.0, "I am married to Bo.", "Cleo"),
)


TABLE = (
    (0.0, "They say Bo lives in Graz.", "Ada"),
    (1.0, "Bo lives in Graz, I say.", "Cleo"),
    (2.0, "Dan is married to Bo.", "Ada"),
    (3.0, "I live in Oslo."),  # nobody knows who
)


@adaptation(
    "TR-17",
    source="by hand: a relation is shown if one of the memories that tell it is, with those that are shown, since the first of them; "
    "pairs once, the earlier entity first; types of what shown memories tell, of as many the first",
)
def a_table_shows_what_shown_memories_tell(specimen: Any) -> Any:
    """The last memory is told after the others were read; entities are Bo, Graz and Dan."""
    memory = memory_of(specimen)
    encode(memory, *TABLE[:2])
    memory.retrieve("?")
    encode(memory, *TABLE[2:])
    memory.retrieve("? ")
    table, measured = memory.store.structures[specimen.RELATIONS], []
    names = ("bo", "graz", "dan")
    for shown in ((1, 1, 1), (0, 1, 0), (1, 0, 1), (0, 0, 1), (0, 0, 0)):
        mask = np.array([*shown, 1], dtype=bool)
        counts = [len(table.shown(mask)), *(len(table.of(name, mask)) for name in ("bo", "graz"))]
        graz = [(r.rows, r.since) for r in table.of("graz", mask)]
        types = [table.type_of(name, mask) for name in names]
        pairs = table.pairs(memory.graph.entity_id, mask).tolist()
        measured.append(str((counts, graz, types, pairs)))
    lives, weds = [0, 1], [0, 2]
    both = memory_of(specimen)
    encode(both, (0.0, "They say Bo visited Graz.", "Ada"), (1.0, "I work on Graz.", "Cleo"))
    both.retrieve("?")
    equal = both.store.structures[specimen.RELATIONS].type_of("graz", np.ones(2, dtype=bool))
    return [*measured, equal], [
        str(([3, 3, 1], [((0, 1), 0.0)], ["person", "place", "person"], [lives, weds])),
        str(([1, 1, 1], [((1,), 1.0)], ["person", "place", ""], [lives])),
        str(([3, 3, 1], [((0,), 0.0)], ["person", "place", "person"], [lives, weds])),
        str(([2, 2, 0], [], ["person", "", "person"], [weds])),
        str(([0, 0, 0], [], ["", "", ""], [])),
        "place",
    ]


def lines(memory: Any, query: str) -> list[str]:
    return [str(o.text) for o in memory.offers(query, 400)[1] if o.kind == "relation"]


@adaptation(
    "TR-5",
    source="by hand: what is told later of where one lives ends the earlier; Bo and Rome are still mentioned together",
)
def relations_are_dated_and_superseded(specimen: Any) -> Any:
    memory = memory_of(specimen, "relation_context")
    encode(memory, *STORY)
    return [sorted(lines(memory, "Where do Ada and Bo live?"))], [
        [
            "ada --[lives in]--> bergen",
            "bo --[lives in]--> graz",
            "bo --[married to]--> cleo",
            "bo --[mentioned together]--> rome",
        ]
    ]


@adaptation("TR-6", source="by hand: the weight of a relation is the number of its tellings")
def relations_told_twice_weigh_more(specimen: Any) -> Any:
    memory = memory_of(specimen, "relation_context")
    encode(memory, (0.0, "I use Emacs."), (1.0, "I use Emacs and I use Vim.", "Ada"),
           (2.0, "I still use Emacs.", "Ada"))  # fmt: skip
    offers = {str(o.text): o.score for o in memory.offers("What does Ada use?", 400)[1]}
    return offers.get("ada --[uses]--> emacs", 0.0) / offers["ada --[uses]--> vim"], 2.0


@limit("TR-7", source="definition: what an erased, or an archived, memory told is in no context")
def erased_and_archived_memories_tell_nothing(specimen: Any) -> Any:
    memory = memory_of(specimen, "relation_context")
    for number, text in enumerate(("I live in Oslo.", "I use Emacs.", "I speak Danish.")):
        memory.encode(Event(float(number), text, "Ada", id=f"e{number}", dated=False))
    before = len(lines(memory, "Ada"))
    memory.erase(0, confirm=True)
    memory.archive(1)
    return [float(before), *lines(memory, "Ada")], [3.0, "ada --[speaks]--> danish"]


@adaptation(
    "TR-8",
    source="by hand: who lives somewhere is a person, where one lives a place; names tell files, code and companies",
)
def entities_have_types(specimen: Any) -> Any:
    memory = memory_of(specimen, "entity_context")
    encode(memory, (0.0, "They say Bo lives in Graz."), (1.0, "They say Bo uses Kestrel Labs."),
           (2.0, "They say Bo fixed `auth.py` in Project Heron."), (3.0, "They say hello to Zoe."))  # fmt: skip
    types = [str(o.text).split(" (")[0] for o in memory.offers("?", 900)[1]]
    return [sorted(types)], [
        sorted(
            ["**person**: bo", "**place**: graz", "**organisation**: kestrel labs",
             "**file**: auth.py", "**project**: project heron", "**entity**: zoe"]
        )
    ]  # fmt: skip


@adaptation(
    "TR-9",
    source="a walk from Ada reaches the memory of Bluepine, which she owns as another speaker tells, only along the relation",
)
def the_walk_of_pagerank_follows_relations(specimen: Any) -> Any:
    texts = ((0.0, "They say Ada sang."), (1.0, "They say Bluepine grows."),
             (2.0, "I own Bluepine.", "Ada"))  # fmt: skip
    memory = memory_of(specimen, "personalized_pagerank")
    encode(memory, *texts)
    memory.retrieve("What of Ada?", 3)
    return [float(memory.column("pagerank")[1] > 0.0)], [1.0]


# --- a language model -----------------------------------------------------------------------------
TRIPLES: Final = {
    "the old kettle": ("ada", "is fond of", "the old kettle"),
    "sold the boat": ("bo", "sold", "the boat"),
}


def extractor() -> FunctionModel:
    """A language model that knows the triples of some texts, and says of others what is no JSON."""

    def answer(request: Request) -> Any:
        told = [t for mark, t in TRIPLES.items() if mark in request.prompt]
        named = [dict(zip(("subject", "relation", "object"), t, strict=True)) for t in told]
        return {"triples": named} if told else "no JSON"

    return FunctionModel(answer)


MESSAGES = (
    (0.0, "She loves the old kettle.", "Ada"),
    (1.0, "Bo sold the boat.", "Cleo"),
    (2.0, "It rained.", "Bo"),
    (3.0, "Bo lives in Oslo.", "Cleo"),
)


@adaptation(
    "TR-10",
    source="by hand: a model's triples of each message, asked once, with their entities and the messages that tell them",
)
def a_model_extracts_triples_in_sleep(specimen: Any) -> Any:
    measured = []
    for rules in (True, False):
        model = extractor()
        memory = memory_of(specimen, language_model=model, model=True, rules=rules)
        encode(memory, *MESSAGES)
        memory.advance(30.0)
        memory.advance(60.0)
        memory.retrieve("?")
        shown = np.ones(4, dtype=bool)
        held = memory.store.structures[specimen.RELATIONS].shown(shown)
        graph = memory.graph
        kettle = entity_node(graph.entity_id("the old kettle"))
        linked = graph.target[graph.neighbours(kettle, EdgeType.ENTITY)].tolist()
        # named in the text of both, and once more in a triple
        bo = entity_node(graph.entity_id("bo"))
        linked += graph.target[graph.neighbours(bo, EdgeType.ENTITY)].tolist()
        told = sorted(f"{r.source} {r.kind} {r.target} {r.rows}" for r in held)
        measured.append(str((told, linked, len(model.asked), int(memory.column("triples_until")))))
    model_told = ["ada is fond of the old kettle (0,)", "bo sold the boat (1,)"]
    with_rules = sorted([*model_told, "bo lives in oslo (3,)"])
    return measured, [str((with_rules, [0, 1, 3], 4, 4)), str((model_told, [0, 1, 3], 4, 4))]


@limit(
    "TR-11",
    source="definition: a model whose replies are no triples, and none, leave the memory and what is read as they are without the switch",
)
def bad_replies_add_nothing(specimen: Any) -> Any:
    measured = []
    for model, switch in ((None, False), (None, True), (extractor(), True)):
        memory = memory_of(specimen, language_model=model, model=switch)
        encode(
            memory,
            *(message for message in MESSAGES if "rained" in message[1] or "Oslo" in message[1]),
        )
        memory.advance(30.0)
        memory.retrieve("?")
        held = memory.store.structures[specimen.RELATIONS].shown(np.ones(2, dtype=bool))
        measured.append(
            str(([r.source for r in held], memory.graph.n_entities, len(memory.event_log.writings)))
        )
    return measured, [measured[0]] * 3


@adaptation(
    "TR-16",
    source="definition: 16 triples of a reply, names of up to 80 characters, and 4,000 of a message in a prompt",
)
def replies_are_read_up_to_their_limits(specimen: Any) -> Any:
    def triples(*names: str) -> Any:
        told = [{"subject": name, "relation": "is", "object": "Oslo"} for name in names]
        return specimen.triples_of(Reply(Status.OK, {"triples": told}))

    numbers = [len(triples(*(f"w{i}" for i in range(n)))) for n in (1, 16, 17)]
    lengths = [len(triples("w" * n)) for n in (1, 80, 81)]
    text = "a" * 4000
    return [str(numbers), str(lengths), specimen.triples_request("Ada", f"{text}b").prompt], [
        "[1, 16, 16]",
        "[1, 1, 0]",
        f'SAID BY "Ada"\nMESSAGE "{text}"',
    ]


@adaptation("TR-12", source="definition: a triple is erased with the message that tells it")
def an_erased_message_tells_no_triple(specimen: Any) -> Any:
    memory = memory_of(specimen, language_model=extractor(), model=True)
    encode(memory, *MESSAGES)
    memory.advance(30.0)
    memory.retrieve("?")
    memory.erase(0, confirm=True)
    memory.retrieve("?")
    held = memory.store.structures[specimen.RELATIONS].shown(np.array(memory.column("visible")))
    return [
        str(sorted(r.source for r in held)),
        str([w.text for w in memory.event_log.writings]),
        str(memory.graph.entity_id("the old kettle")),
    ], ["['bo', 'bo']", "['', 'bo · sold · the boat']", "None"]


@adaptation("TR-13", source="by hand: a hook of sleep sees what was told before the sleep, unasked")
def relations_are_read_in_sleep(specimen: Any) -> Any:
    seen = list[str]()

    def look(view: Any, tick: Any) -> None:
        shown = np.ones(len(view.visible), np.bool_)
        seen.append(" ".join(str(r.target) for r in view.relations.of("ada", shown)))

    reader = neighbour(
        Phase.CONSOLIDATE, look, reads=(specimen.RELATIONS, VISIBLE), id="reader", order=10**5
    )
    memory = memory_of(specimen, reader, consolidate_every=24.0)
    encode(memory, (1.0, "I live in Oslo.", "Ada"))
    memory.advance(30.0)
    encode(memory, (31.0, "I moved to Bergen.", "Ada"))
    memory.advance(60.0)
    return [" ".join(dict.fromkeys(seen))], ["oslo bergen"]


@limit(
    "TR-14", source="definition: what another mechanism writes, in whatever form, tells no relation"
)
def writings_of_another_maker_tell_nothing(specimen: Any) -> Any:
    memory = memory_of(specimen, language_model=extractor(), model=True, rules=False)
    encode(memory, *MESSAGES)
    memory.advance(30.0)
    memory.retrieve("?")
    (kettle, boat), writings = memory.event_log.writings, memory.event_log.writings
    for other in (kettle.text.replace("ada", "zoe"), boat.text):
        writings.add(other, kettle.kind, "another", (2,))
    memory.retrieve("? ")
    held = memory.store.structures[specimen.RELATIONS].shown(np.ones(4, dtype=bool))
    return sorted(f"{r.source} {r.rows}" for r in held), ["ada (0,)", "bo (1,)"]


@limit(
    "TR-18",
    source="definition: triples that were written while a model was asked tell nothing without it",
)
def without_the_switch_no_triple_is_told(specimen: Any) -> Any:
    told = []
    for switch in (True, False):
        memory = memory_of(specimen, model=switch)
        encode(memory, *MESSAGES)
        written_before = " · ".join(TRIPLES["sold the boat"])
        memory.event_log.writings.add(written_before, specimen.TRIPLE, specimen.id, (1,))
        memory.retrieve("?")
        held = memory.store.structures[specimen.RELATIONS].shown(np.ones(4, dtype=bool))
        told.append(str(sorted(f"{r.source} {r.kind}" for r in held)))
    return told, ["['bo lives in', 'bo sold']", "['bo lives in']"]


# --- mutants --------------------------------------------------------------------------------------
@mutant("every writing tells a relation", rejected_by="TR-14")
def any_writing(specimen: Any) -> Any:
    def _read(self: Any, view: Any) -> None:
        own = [replace(writing, maker=self.id) for writing in view.writings]
        seen = {name: getattr(view, name) for name in ("texts", "speaker", "created", "kind")}
        changed = SimpleNamespace(**seen, writings=own, relations=view.relations)
        specimen.TypedRelations._read(self, changed)

    return specimen.overriding("TypedRelations", _read=_read)


@mutant("names side by side are related", rejected_by="TR-1")
def side_by_side(specimen: Any) -> Any:
    original = specimen.relations_of

    def every(text: str, speaker: str = "") -> Any:
        names = [word.strip(".,?").lower() for word in text.split() if word[:1].isupper()]
        return (*original(text, speaker), *(
            specimen.EntityRelation(first, "knows", second) for first, second in pairwise(names)
        ))  # fmt: skip

    return specimen.replacing("relations_of", every)


@mutant("the speaker is nobody", rejected_by="TR-2")
def nobody(specimen: Any) -> Any:
    original = specimen.relations_of
    return specimen.replacing("relations_of", lambda text, speaker="": original(text, ""))


@mutant("questions state what they ask", rejected_by="TR-3")
def asked(specimen: Any) -> Any:
    original = specimen.relations_of
    return specimen.replacing(
        "relations_of",
        lambda text, speaker="": original(
            text.replace("does not live", "lives").replace("?", "."), speaker
        ),
    )


@mutant("the first half of a long text alone is read", rejected_by="TR-15")
def half(specimen: Any) -> Any:
    original = specimen.relations_of
    return specimen.replacing(
        "relations_of", lambda text, speaker="": original(text[: max(600, len(text) // 2)], speaker)
    )


@mutant("names of triples are shortened", rejected_by="TR-16")
def short_names(specimen: Any) -> Any:
    original = specimen.triples_of

    def triples_of(reply: Reply) -> Any:
        told = [{k: name[:20] for k, name in t.items()} for t in reply.data["triples"]]
        return original(Reply(reply.status, {"triples": told}))

    return specimen.replacing("triples_of", triples_of)


@mutant("nothing that was told ends", rejected_by="TR-4")
def lasting(specimen: Any) -> Any:
    original = specimen.held
    return specimen.replacing(
        "held", lambda tellings: original([told for told in tellings if told[2].holds])
    )


@mutant("texts are never read", rejected_by="TR-5")
def unread(specimen: Any) -> Any:
    return specimen.overriding("TypedRelations", tell=nothing)


@mutant("texts are never read, so no walk follows them", rejected_by="TR-9")
def unwalked(specimen: Any) -> Any:
    return specimen.overriding("TypedRelations", tell=nothing)


@mutant("triples are written and read by nobody", rejected_by="TR-10")
def unread_triples(specimen: Any) -> Any:
    return specimen.replacing("read_triple", lambda text: None)


@mutant("messages are asked about again in every sleep", rejected_by="TR-10")
def again(specimen: Any) -> Any:
    original = specimen.TypedRelations.extract

    def extract(self: Any, view: Any, tick: Any) -> None:
        original(self, view, tick)
        view.triples_until = 0

    return specimen.overriding("TypedRelations", extract=extract)


@mutant("texts are read for questions alone", rejected_by="TR-13")
def asleep(specimen: Any) -> Any:
    return specimen.overriding("TypedRelations", recall=nothing)


@mutant("every sentence is read alone", rejected_by="TR-3c")
def sentences_alone(specimen: Any) -> Any:
    original = specimen.relations_of
    return specimen.replacing(
        "relations_of",
        lambda text, speaker="": tuple(
            relation for part in text.split(". ") for relation in original(part, speaker)
        ),
    )
