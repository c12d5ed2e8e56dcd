"""Conversations of the demo with planted turns whose truth is known.

A text is made of pieces, each with the statement that it makes.  Statements are equal if they say
the same; one can make another outdated.  Planted are, in places drawn from a seed:

    said again      a turn of the demo in a later session, word for word or with a phrase around it
    nearly again    the same with another number or name, negated, or by another speaker: another
                    statement, which may contradict the first
    two matters     two turns of one speaker from different sessions as one turn
    one matter      a long turn
    changes         a fact and a later one that makes it outdated; and pairs that only look so

Every other turn makes a statement of its own, equal only to that of the same words by the same
speaker.  So an edit of turns in which nothing was planted counts as an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...engine.contract.records import Event
from ..datasets.base import MINUTE, Conversation
from .sentences import GROUPS, Sentences

AGAINS, NEARS, JOINS, LONGS = 8, 8, 8, 3  # planted turns of each kind in a conversation
LEAST = 10  # words of a turn that is said again or joined
_NUMBER = re.compile(r"\b\d[\d,.]*\d\b|\b\d+\b")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_NEGATED = (("n't ", " "), (" not ", " "), (" is ", " is not "), (" are ", " are not "), (" was ",
    " was not "), (" have ", " have not "),
            (" will ", " will not "), (" can ", " cannot "))  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlantedPiece:
    """text[start:end] makes a statement."""

    start: int
    end: int
    statement: str


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of a conversation.

    pieces    event id -> the pieces of its text, in order, without gaps but spaces
    outdated  (statement, the one that it makes outdated)
    against   (later statement, earlier one that it contradicts without a word about it): a change
              or an error, nobody can tell
    """

    pieces: Mapping[str, tuple[PlantedPiece, ...]]
    outdated: frozenset[tuple[str, str]]
    against: frozenset[tuple[str, str]] = frozenset()

    def statements(self, id: str, span: tuple[int, int] | None = None) -> frozenset[str]:
        """What an event states, or a part of it.

        >>> Truth({"e": (PlantedPiece(0, 4, "a"), PlantedPiece(5, 9, "b"))}, frozenset()).statements("e", (0, 3))
        frozenset({'a'})
        """
        start, end = span or (0, 1 << 60)
        return frozenset(
            piece.statement for piece in self.pieces[id] if piece.start < end and start < piece.end
        )

    def counts(self) -> dict[str, int]:
        """How many edits of each kind are right: turns of two matters, statements that are made
        twice or more by whole turns, outdated ones.
        """
        whole = [
            next(iter(statements))
            for id in self.pieces
            if len(statements := self.statements(id)) == 1
        ]
        return {
            "split": sum(len(pieces) > 1 for pieces in self.pieces.values()),
            "merge": sum(whole.count(s) > 1 for s in set(whole)),
            "update": len(self.outdated),
        }


def altered(text: str, rng: np.random.Generator) -> str:
    """The text with another number, name or negation; "" if it has none of these.

    >>> altered("We paid 30 for it.", np.random.default_rng(0)), altered("Nobody came", np.random.default_rng(0))
    ('We paid 37 for it.', '')
    """
    ways = []
    if number := _NUMBER.search(text):
        ways.append(
            f"{text[: number.start()]}{int(re.sub('[,.]', '', number[0])) + 7}{text[number.end() :]}"
        )
    if number := _NAME.search(text):
        ways.append(f"{text[: number.start()]}Zelda{text[number.end() :]}")
    ways += [text.replace(before, after, 1) for before, after in _NEGATED if before in text][:1]
    return ways[int(rng.integers(len(ways)))] if ways else ""


class _Planter:
    """The events of a conversation by sessions, to which turns are added; words fill the slots
    of sentences.
    """

    def __init__(
        self, events: Sequence[Event], rng: np.random.Generator, words: Mapping[str, Sequence[str]]
    ) -> None:
        self.rng, self.events, self.words = rng, list(events), words
        self.sessions = list(dict.fromkeys(event.session for event in events))
        self.pieces: dict[str, tuple[PlantedPiece, ...]] = {
            event.id: (PlantedPiece(0, len(event.text), f"{event.speaker}: {event.text}"),)
            for event in events
        }
        self.planted: list[Event] = []
        self.outdated: set[tuple[str, str]] = set()
        self.against: set[tuple[str, str]] = set()

    def plant(self, session: str, speaker: str, text: str, *pieces: PlantedPiece) -> None:
        """Add a turn at the end of a session; one piece without a statement stands for the turn."""
        last = max(
            (e for e in [*self.events, *self.planted] if e.session == session), key=lambda e: e.time
        )
        event = Event(last.time + 2 * MINUTE, text, speaker, session, f"plant{len(self.planted)}")
        self.planted.append(event)
        self.pieces[event.id] = pieces

    def turns(self, count: int) -> list[Event]:
        """Turns of enough words that are no questions, not of the last session."""
        fit = [
            e
            for e in self.events
            if len(e.text.split()) >= LEAST
            and "?" not in e.text
            and e.session != self.sessions[-1]
            and not e.caption
        ]
        return [fit[place] for place in self.rng.permutation(len(fit))[:count].tolist()]

    def after(self, session: str) -> str:
        """A later session."""
        place = self.sessions.index(session)
        return self.sessions[int(self.rng.integers(place + 1, len(self.sessions)))]

    def filled(self, *texts: str) -> list[str]:
        """Texts with their slots filled, a word for every slot of all of them."""
        decks = {kind: self.rng.permutation(words).tolist() for kind, words in self.words.items()}
        slots = sorted(set(re.findall(r"\{(\w+)\}", " ".join(texts))))
        words = {slot: str(decks[slot.rstrip("2")].pop()) for slot in slots}
        return [text.format(**words) for text in texts]


def planted(
    conversation: Conversation, seed: int, half: int, sentences: Sentences = GROUPS["first"]
) -> tuple[Conversation, Truth]:
    """A conversation with planted turns, and what is known of it.

    half       0 or 1: which half of the sentences is planted, so that what is fitted on one half is
               not measured on it
    sentences  the group of them
    """
    rng = np.random.default_rng((seed, half))
    planter = _Planter(conversation.events, rng, sentences.words)
    speakers = sorted({event.speaker for event in conversation.events})
    for said in planter.turns(AGAINS):
        text = sentences.again[int(rng.integers(len(sentences.again)))].format(text=said.text)
        planter.plant(
            planter.after(said.session),
            said.speaker,
            text,
            PlantedPiece(0, len(text), f"{said.speaker}: {said.text}"),
        )
    for near in planter.turns(NEARS):
        next_one = speakers[(speakers.index(near.speaker) + 1) % len(speakers)]
        text, speaker = (
            (near.text, next_one)
            if rng.integers(4) == 0
            else (altered(near.text, rng), near.speaker)
        )
        if text:
            planter.plant(
                planter.after(near.session),
                speaker,
                text,
                PlantedPiece(0, len(text), f"{speaker}: {text}"),
            )
            if speaker == near.speaker:
                planter.against.add((f"{speaker}: {text}", f"{speaker}: {near.text}"))
    some = planter.turns(len(conversation.events))
    for piece, other in zip(some[:JOINS], some[JOINS:], strict=False):
        if piece.session != other.session:
            parts = (piece.text, other.text)
            whole = " ".join(parts)
            planter.plant(
                planter.sessions[-1],
                piece.speaker,
                whole,
                PlantedPiece(0, len(parts[0]), f"{piece.speaker}: {parts[0]}"),
                PlantedPiece(len(parts[0]) + 1, len(whole), f"{piece.speaker}: {parts[1]}"),
            )
    long = sentences.long[half::2]
    for place in rng.permutation(len(long))[:LONGS].tolist():
        told = long[place]
        planter.plant(
            planter.after(planter.sessions[0]), speakers[0], told, PlantedPiece(0, len(told), told)
        )
    for number, (earlier, later, outdated) in enumerate(sentences.changes[half::2]):
        speaker = speakers[number % len(speakers)]
        old, new = planter.filled(earlier, later)
        session = planter.sessions[int(rng.integers(len(planter.sessions) - 1))]
        planter.plant(session, speaker, old, PlantedPiece(0, len(old), f"{speaker}: {old}"))
        planter.plant(
            planter.after(session), speaker, new, PlantedPiece(0, len(new), f"{speaker}: {new}")
        )
        if outdated:
            planter.outdated.add((f"{speaker}: {new}", f"{speaker}: {old}"))
    order = {session: place for place, session in enumerate(planter.sessions)}
    events = tuple(
        sorted(
            [*planter.events, *planter.planted],
            key=lambda event: (order[event.session], event.time),
        )
    )
    return replace(conversation, events=events, questions=()), Truth(
        planter.pieces, frozenset(planter.outdated), frozenset(planter.against)
    )
