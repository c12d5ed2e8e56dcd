"""evolving_notes: a language model writes a note of each memory in sleep, links it to earlier ones,
and rewrites their notes where the new memory says more about them (A-MEM).

A note has keywords, tags and a sentence of context.  Its vector is that of the text of the memory
and of the note together, and a question is compared with it.  The notes of the nearest earlier
memories are shown with the new one: the model names those to which it is linked, and gives a new
context and new tags to those that it changes.  Memories that are linked to one of the best notes
take its match times a factor, if theirs is less.

A note is a writing; texts never change, and an erased memory has no note.  Without a model, and of
memories for which no whole reply came, there is no note and no signal.  The prompts are ours,
described from the paper; texts stand in them as data.

Cost: two requests for each new event, in two batches a sleep; O(n d) for its neighbours; O(n d) per
query over the notes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, Tick, at_rest, hook
from ...engine.contract.vocabulary import (
    EMBEDDER,
    GRAPH,
    KIND,
    LANGUAGE_MODEL,
    NOW,
    SPEAKER,
    TEXTS,
    VISIBLE,
    WRITINGS,
)
from ...engine.ports.language_model import Reply, Request, Status
from ...engine.state.graph import EdgeType
from ...engine.state.ranking import best
from ...engine.text.features import terms_of
from ..shared.facts import messages
from ..shared.prompts import DATA, TEXT, WHOLE, list_of, message, object_of, quoted

# --- columns --------------------------------------------------------------------------------------
NOTE = Column(
    "note",
    np.int64,
    Scope.MEMORY,
    "1",
    -1,
    "number of the writing that is its note; -1: none",
    low=-1,
)
NOTE_EMBEDDING = Column(
    "note_embedding",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "unit vector of the text and its note; 0: none",
    shape=("dimensions",),
)
NOTES_UNTIL = Column(
    "notes_until", np.int64, Scope.GLOBAL, "rows", 0, "rows for whose notes was asked", low=0
)
NOTE_LINK = Column(
    "note_link", np.bool_, Scope.EDGE, "1", False, "whether a language model linked two notes"
)
NOTED = signal(
    "noted",
    Facet.MEANING,
    "cosine of the query with text and note, or what a linked note lends",
    floor=-1.0,
    scale=Scale.SIMILARITY,
)
WRITTEN: Final = "note"  # kind of a writing


# --- equations ------------------------------------------------------------------------------------
@kernel
def lend(
    seeds: Any,
    start: Any,
    degree: Any,
    pool: Any,
    target: Any,
    linked: Any,
    share: float,
    own: Any,
    out: Any,
) -> None:
    """out_j = max(out_j, a c_i) over the links from seeds i to j.  Ours.  Cost: O(links of the
    seeds).

    seeds                (k,)     best notes
    start, degree, pool           edges of node v: pool[start[v]:start[v] + degree[v]]
    target, linked       (m,)     target of each edge, and whether it links notes
    share                ()    1  a
    own                  (n,)  1  c, NaN of memories without a note
    out                  (n,)  1  own on entry, written

    >>> c = np.array([0.5, 0.1])
    >>> out = c.copy()
    >>> lend(np.array([0]), np.array([0, 1]), np.array([1, 0]), np.array([0]), np.array([1]), np.array([True]), 0.8, c, out)
    >>> out.tolist()
    [0.5, 0.4]
    """
    for i in seeds:
        for place in range(start[i], start[i] + degree[i]):
            j = target[pool[place]]
            if j >= 0 and linked[pool[place]] and not np.isnan(own[j]):
                out[j] = max(out[j], share * own[i])


# --- notes ----------------------------------------------------------------------------------------
MOST_WORDS: Final = 8  # keywords and tags, each
LONGEST: Final = 400  # characters of a context; 60 of a keyword or tag
WORD: Final = 60
SHOWN: Final = 2000  # characters of a text in a prompt
NOTE_TOKENS, LINK_TOKENS = 250, 500


@dataclass(frozen=True, slots=True)
class MemoryNote:
    """A note: what a memory is about.

    >>> MemoryNote(("boat",), ("travel",), "Ada books a boat.").text
    'Ada books a boat. boat; travel'
    """

    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str

    @property
    def text(self) -> str:
        """The note in one line."""
        return f"{self.context} {'; '.join((*self.keywords, *self.tags))}".strip()

    def written(self) -> str:
        """As a text that `read_note` reads."""
        fields = {"keywords": self.keywords, "tags": self.tags, "context": self.context}
        return json.dumps(fields, ensure_ascii=False)


def read_note(text: str) -> MemoryNote | None:
    """The note of a text that `written` gave; None for an erased one.

    >>> read_note(MemoryNote(("boat",), (), "A boat.").written()), read_note("")
    (MemoryNote(keywords=('boat',), tags=(), context='A boat.'), None)
    """
    if not text:
        return None
    held = json.loads(text)
    return MemoryNote(tuple(held["keywords"]), tuple(held["tags"]), held["context"])


DESCRIBE: Final = f"""You see one message of a conversation and who said it.  Give keywords that name what it is about, the most important first,
tags for broader subjects and kinds of text, and one sentence of context: the subject, the points and who is meant.
At most {MOST_WORDS} keywords and {MOST_WORDS} tags.
{DATA}"""
EVOLVE: Final = f"""You keep the notes of a memory.  You see a new note and the nearest earlier ones, each with a number.
links: the numbers of the earlier notes that a reader of the new one should see with it; none if none is related.
updates: the earlier notes whose context or tags should change because of the new one, with their new context and tags; most need no change.
{DATA}"""
_WORDS: Final = list_of(TEXT)
DESCRIBED: Final = object_of(keywords=_WORDS, tags=_WORDS, context=TEXT)
_UPDATE: Final = object_of(number=WHOLE, context=TEXT, tags=_WORDS)
EVOLVED: Final = object_of(links=list_of(WHOLE), updates=list_of(_UPDATE))


def note_request(speaker: str, text: str) -> Request:
    """The request for the note of a memory.

    >>> print(note_request("Ada", "I book a boat.").prompt)
    SAID BY "Ada"
    MESSAGE "I book a boat."
    """
    return Request("note", DESCRIBE, message(speaker, text, SHOWN), DESCRIBED, NOTE_TOKENS)


def note_of(reply: Reply) -> MemoryNote | None:
    """The note of a reply; None unless it is ok and its context has words and is short enough.

    >>> note_of(Reply(Status.OK, {"keywords": ["Boat", "?", "Boat"], "tags": [], "context": "A  boat."}))
    MemoryNote(keywords=('Boat',), tags=(), context='A boat.')
    """
    if reply.status is not Status.OK:
        return None
    context = _context(reply.data["context"])
    return (
        MemoryNote(_words(reply.data["keywords"]), _words(reply.data["tags"]), context)
        if context
        else None
    )


def _context(raw: str) -> str:
    context = " ".join(raw.split())
    return context if len(context) <= LONGEST and terms_of(context, stem=False) else ""


def _words(given: Iterable[str]) -> tuple[str, ...]:
    """Keywords or tags: those with a word, each once, as many as a note has."""
    words = (" ".join(word.split()) for word in given if len(word) <= WORD)
    return tuple(dict.fromkeys(w for w in words if terms_of(w, stem=False)))[:MOST_WORDS]


def evolution_request(
    new: tuple[str, MemoryNote], near: Sequence[tuple[str, MemoryNote]]
) -> Request:
    """The request for links and changes, of texts with their notes.

    >>> print(evolution_request(("I book a boat.", MemoryNote((), (), "A boat.")), [("We sail.", MemoryNote((), (), "Sails."))]).prompt)
    NEW "I book a boat." NOTE "A boat."
    1 "We sail." NOTE "Sails."
    """
    heads = ("NEW", *range(1, len(near) + 1))
    prompt = "\n".join(
        f"{head} {quoted(text, SHOWN)} NOTE {quoted(note.text, SHOWN)}"
        for head, (text, note) in zip(heads, (new, *near), strict=True)
    )
    return Request("note_evolution", EVOLVE, prompt, EVOLVED, LINK_TOKENS)


def evolution_of(
    reply: Reply, near: Sequence[MemoryNote]
) -> tuple[tuple[int, ...], Mapping[int, MemoryNote]]:
    """Places of the notes to which the new one is linked, and changed notes by place; numbers that
    were not shown and contexts without words count as not given.

    >>> data = {"links": [1, 1, 7], "updates": [{"number": 1, "context": "Sails in May.", "tags": ["May"]}]}
    >>> evolution_of(Reply(Status.OK, data), [MemoryNote(("sail",), (), "Sails.")])
    ((0,), {0: MemoryNote(keywords=('sail',), tags=('May',), context='Sails in May.')})
    """
    if reply.status is not Status.OK:
        return (), {}
    shown = range(1, len(near) + 1)
    links = tuple(number - 1 for number in dict.fromkeys(reply.data["links"]) if number in shown)
    changed = {
        update["number"] - 1: replace(
            near[update["number"] - 1], tags=_words(update["tags"]), context=context
        )
        for update in reply.data["updates"]
        if update["number"] in shown and (context := _context(update["context"]))
    }
    return links, changed


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class EvolvingNotesParams(Params):
    neighbours: int  # earlier notes that a new one is compared with
    seeds: int  # best notes whose links count at a question
    share: float  # of the match of a note that a linked one gets
    weight: float


class EvolvingNotes(Mechanism[EvolvingNotesParams]):
    """Keeps a note of each memory."""

    owns = (NOTE, NOTE_EMBEDDING, NOTES_UNTIL, NOTE_LINK, NOTED)

    @hook(
        Phase.CONSOLIDATE,
        reads=(NOW, LANGUAGE_MODEL, EMBEDDER, KIND, TEXTS, SPEAKER, VISIBLE.before),
        adds=(WRITINGS, GRAPH),
        sets=(NOTE, NOTE_EMBEDDING, NOTES_UNTIL, NOTE_LINK),
    )
    def take_notes(self, view: Any, tick: Tick) -> None:
        """Write notes of new events, link them, and change earlier notes."""
        first, view.notes_until = int(view.notes_until), len(view.kind)
        told = list(messages(view.texts, view.speaker, view.kind, first))
        replies = view.language_model.ask([note_request(name, text) for _, name, text in told])
        notes = {
            row: note
            for (row, _, _), reply in zip(told, replies, strict=True)
            if (note := note_of(reply)) is not None
        }
        self._write(view, {row: (note, (row,)) for row, note in notes.items()})
        # each new note with its neighbours, whose notes stay as they are until all replies are read
        asked = [
            (row, near, [self._note(view, other) for other in near])
            for row in notes
            if (near := self._nearest(view, row))
        ]
        evolved = view.language_model.ask(
            [
                evolution_request(
                    (view.texts[row], notes[row]),
                    [(view.texts[other], note) for other, note in zip(near, known, strict=True)],
                )
                for row, near, known in asked
            ]
        )
        changed = dict[int, tuple[MemoryNote, tuple[int, ...]]]()
        for (row, near, known), reply in zip(asked, evolved, strict=True):
            links, updates = evolution_of(reply, known)
            for place in links:
                for source, target in ((row, near[place]), (near[place], row)):
                    edge = view.graph.add(source, target, EdgeType.SEMANTIC, view.now)
                    view.note_link[edge] = True
            changed |= {near[place]: (note, (near[place], row)) for place, note in updates.items()}
        self._write(view, changed)

    def _write(self, view: Any, notes: Mapping[int, tuple[MemoryNote, tuple[int, ...]]]) -> None:
        """Keep notes, each with the rows that it was made from, and their vectors."""
        if not notes:
            return
        texts = [f"{view.texts.rendered(row)} {note.text}" for row, (note, _) in notes.items()]
        for (row, (note, sources)), vector in zip(
            notes.items(), view.embedder.embed(texts), strict=True
        ):
            view.note[row] = view.writings.add(note.written(), WRITTEN, self.id, sources)
            view.note_embedding[row] = vector

    @staticmethod
    def _note(view: Any, row: int) -> MemoryNote:
        note = read_note(view.writings[int(view.note[row])].text)
        return MemoryNote((), (), "") if note is None else note

    def _nearest(self, view: Any, row: int) -> list[int]:
        """Earlier visible memories with a note, the nearest first."""
        earlier = np.flatnonzero((view.note[:row] >= 0) & view.visible[:row])
        cosines = view.note_embedding[earlier] @ view.note_embedding[row]
        order = np.argsort(-cosines, kind="stable")[: self.params.neighbours]
        nearest: list[int] = earlier[order].tolist()
        return nearest

    @at_rest(reads=(NOTES_UNTIL, KIND))
    def noted(self, view: Any, tick: Tick) -> bool:
        """Whether notes of all rows were asked for."""
        return int(view.notes_until) == len(view.kind)

    @hook(
        Phase.RETRIEVE,
        reads=(NOTE, NOTE_EMBEDDING, NOTE_LINK, GRAPH, VISIBLE),
        adds=(),
        sets=(NOTED,),
    )
    def compare(self, view: Any, cue: Cue) -> None:
        """The cosine of each note with the query, and what linked notes lend."""
        rows = np.flatnonzero(view.note >= 0)
        if not rows.size:
            return
        own: NDArray[np.float64] = np.full(len(view.note), np.nan)
        own[rows] = view.note_embedding[rows] @ cue.vector
        links, out = view.graph.csr(EdgeType.SEMANTIC), own.copy()
        among = view.visible & (view.note >= 0)
        seeds = best(own, among, self.params.seeds)
        lend(
            seeds, links.start, links.degree, links.pool, view.graph.target, view.note_link,
            self.params.share, own, out,
        )  # fmt: skip
        view.noted[rows] = out[rows]
