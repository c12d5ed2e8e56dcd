"""Evidence for scratchpad_filter: the nearest notes by plain sorting, and what a question is answered
with in a memory with a scripted language model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import DRAFTS, KIND
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ...engine.ports.language_model import Reply, Status
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, figure
from ..memory import FunctionModel, lines_with, memory_of, neighbour
from .shared.views import Instead

TOLD = ("Miso the cat ran away.", "The oven is broken.", "Miso came back.", "Rain again.")
# notes, with the rows that they are made of
NOTES = (("Miso ran away and came back.", (0, 2)), ("The oven broke.", (1,)), ("Rainy days.", (3,)))
ASKED = "Where is the cat Miso?"


@equation("SF-1", source="sorted(), by cosine and place, over random notes with equal cosines")
def the_nearest_notes(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(4), list[int](), list[int]()
    for _ in range(60):
        n, most = int(rng.integers(1, 12)), int(rng.integers(1, 9))
        notes = np.sort(rng.choice(99, n, replace=False))
        cosines = rng.integers(0, 5, n) / 4.0
        measured += specimen.nearest_notes(notes, cosines, most).tolist()
        order = sorted(range(n), key=lambda place: (-cosines[place], place))[:most]
        expected += [int(notes[place]) for place in order]
    return measured, expected


# --- a memory -------------------------------------------------------------------------------------
def lived(specimen: Any, model: FunctionModel | None, **values: Any) -> Engine:
    """A memory with three notes."""

    def write(view: Any, tick: Any) -> None:
        if not (view.kind == Kind.SUMMARY).any():
            for text, rows in NOTES:
                view.drafts.add(Draft(text, Kind.SUMMARY, rows))

    writer = neighbour(Phase.CONSOLIDATE, write, reads=(KIND,), adds=(DRAFTS,))
    memory = memory_of(
        specimen, writer, "dense_similarity", embedder=HashingEmbedder(64),
        language_model=model, **values,
    )  # fmt: skip
    for hour, text in enumerate(TOLD):
        memory.encode(Event(float(hour), text, "Ada", dated=False))
    memory.advance(48.0)
    return memory


def naming(*marks: str) -> FunctionModel:
    """A model that names the notes in which one of these words stands."""
    return FunctionModel(lambda request: {"numbers": lines_with(request.prompt, *marks)})


def saying(reply: Any) -> FunctionModel:
    """A model that gives every request the same reply."""
    return FunctionModel(lambda request: reply)


def answered(memory: Engine, query: str = ASKED) -> list[str]:
    return sorted(unit.text for unit in memory.retrieve(query, 20).units)


ALL = sorted([*TOLD, *(text for text, _ in NOTES)])


def without(*texts: str) -> list[str]:
    return [text for text in ALL if text not in texts]


@adaptation(
    "SF-2",
    source="by hand: of three notes those that the model does not name are not answered, and events always are",
)
def notes_that_do_not_help_are_not_answered(specimen: Any) -> Any:
    about_miso, none, none_of_two = naming("Miso"), naming("no note"), naming("no note")
    helpful = answered(lived(specimen, about_miso))
    unhelpful = answered(lived(specimen, none))
    # a question of words without content is a question
    plain = naming("no note")
    answered(lived(specimen, plain), "What is it?")
    # the model is shown the two nearest notes alone, and the third stays
    two = answered(lived(specimen, none_of_two, most=2))
    unseen = sum(note in two for note, _ in NOTES)
    shown = [line for line in none_of_two.asked[-1].prompt.splitlines() if line[0].isdigit()]
    numbers = len(about_miso.asked), len(plain.asked), unseen, len(shown)
    return [*helpful, *unhelpful, *map(str, numbers)], [
        *without("The oven broke.", "Rainy days."),
        *sorted(TOLD),
        *"1112",
    ]


@limit(
    "SF-3",
    source="definition: without a model, a sound reply, words or notes all are answered; numbers that were not offered ban nothing else",
)
def nothing_is_banned_without_a_sound_reply(specimen: Any) -> Any:
    replies = ("no JSON", {"notes": [1]}, Reply(Status.TIMEOUT), {"numbers": [1, 2, 3]})
    models = (None, *map(saying, replies))
    outcomes = [answered(lived(specimen, model)) == ALL for model in models]
    model = naming("Miso")
    memory = lived(specimen, model)
    blank = answered(memory, " ?! ") == ALL and not model.asked
    memory.archive(4)
    outcomes += [blank, "Miso ran away and came back." not in answered(memory)]
    strange = lived(specimen, saying({"numbers": [-1, 0, 99]}))
    return [*outcomes, answered(strange) == sorted(TOLD)], [True] * (len(models) + 3)


@adaptation("SF-4", source="the state by its digest: a question leaves the memory as it is")
def a_question_changes_nothing(specimen: Any) -> Any:
    memory = lived(specimen, naming("Miso"))
    before = memory.digest()
    answered(memory)
    return [memory.digest() == before], [True]


@adaptation(
    "SF-5", source="definition: 1,000 characters of the question and of each note are in a request"
)
def long_texts_are_shown_in_part(specimen: Any) -> Any:
    text = "a" * 1000
    request = specimen.filter_request(f"{text}b", [text, f"{text}c"])
    return [request.prompt], [f'QUESTION "{text}"\n1 "{text}"\n2 "{text}"']


@limit(
    "SF-6",
    source="definition: the model is shown no archived note, and is not asked if all notes are archived; by hand",
)
def archived_notes_are_not_shown(specimen: Any) -> Any:
    model = naming("Miso")
    memory = lived(specimen, model)
    memory.archive(len(TOLD))
    answered(memory)
    (request,) = model.asked
    shown = [text for text, _ in NOTES if text in request.prompt]
    for row in range(len(TOLD) + 1, len(ALL)):
        memory.archive(row)
    answered(memory, f"{ASKED} ")
    return [*shown, str(len(model.asked))], ["The oven broke.", "Rainy days.", "1"]


@figure(
    "kept",
    caption="Notes that are answered of three, by the words of which the scripted model approves",
    source="the memory of SF-2",
)
def notes_answered(specimen: Any) -> Picture:
    words = ((), ("Miso",), ("Miso", "oven"), ("Miso", "oven", "Rainy"))
    kept = [
        sum(text in answered(lived(specimen, naming(*marks))) for text, _ in NOTES)
        for marks in words
    ]
    x = np.arange(len(words))
    return Picture("notes that the model names", "notes answered", (Curve("answered", x, kept),))


# --- mutants --------------------------------------------------------------------------------------
@mutant("all of a text is shown", rejected_by="SF-5")
def whole_texts(specimen: Any) -> Any:
    return specimen.replacing("SHOWN", 10_000)


@mutant("the farthest notes are shown", rejected_by="SF-1")
def farthest(specimen: Any) -> Any:
    original = specimen.nearest_notes
    return specimen.replacing(
        "nearest_notes", lambda notes, cosines, most: original(notes, -np.asarray(cosines), most)
    )


@mutant("every note is shown", rejected_by="SF-1")
def all_shown(specimen: Any) -> Any:
    original = specimen.nearest_notes
    return specimen.replacing(
        "nearest_notes", lambda notes, cosines, most: original(notes, cosines, len(notes))
    )


@mutant("the notes that help are banned", rejected_by="SF-2")
def the_other_way(specimen: Any) -> Any:
    original = specimen.kept_of

    def kept_of(reply: Any) -> Any:
        kept = original(reply)
        return None if kept is None else set(range(1, 30)) - kept

    return specimen.replacing("kept_of", kept_of)


@mutant("numbers count from 0", rejected_by="SF-2")
def from_zero(specimen: Any) -> Any:
    original = specimen.kept_of

    def kept_of(reply: Any) -> Any:
        kept = original(reply)
        return None if kept is None else {number + 1 for number in kept}

    return specimen.replacing("kept_of", kept_of)


@mutant("no reply is a reply that names no note", rejected_by="SF-3")
def silence_bans(specimen: Any) -> Any:
    original = specimen.kept_of
    return specimen.replacing("kept_of", lambda reply: original(reply) or set())


@mutant("a question without words is asked", rejected_by="SF-3")
def blank_asks(specimen: Any) -> Any:
    return specimen.replacing("terms_of", lambda text, **how: ["word"])


@mutant("archived notes are shown, too", rejected_by="SF-6")
def all_notes(specimen: Any) -> Any:
    def ask(self: Any, view: Any, cue: Any) -> None:
        shown = Instead(view, visible=np.ones_like(view.visible))
        specimen.ScratchpadFilter.ask(self, shown, cue)

    return specimen.overriding("ScratchpadFilter", ask=ask)


@mutant("a question of words without content asks nothing", rejected_by="SF-2")
def content_alone(specimen: Any) -> Any:
    original = specimen.terms_of
    return specimen.replacing(
        "terms_of", lambda text, stem=True, **how: original(text, stem=stem, stop_words=True)
    )
