"""Several users of one memory: a question with a user's filter is never answered, and no context
written, with words of another user, also after nights that make texts of what was told.  And what
one user can infer of another: how many answers depend on what the other one told.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from ...engine.contract.records import Event, Only, Query
from ...engine.memory.engine import Engine
from .flips import Make
from .tally import Tally

PROMISED = (
    "answers and contexts of a user's questions hold words of this user alone, and some of them"
)
USERS = ("Ada", "Bo", "Cy", "Dee")
OWN, NOTHING = "words of the user alone", "no words at all"
SAME, ORDER, OTHERS = (
    "the same answer",
    "the same events in another order",
    "other events of the user",
)
INFERENCE = "inference"
NIGHT = 24.0  # h, after every fourth part of the events


def users(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Ask `count` questions, each in words that another user has said: in turn for an answer and
    for a context, filtered by an attribute and by the speaker.  Then ask each user's questions, in
    words of that user's own, of this memory and of one in which the last user told something else:
    what differs in the answers is what can be inferred of the last user, and is counted.

    make    opens the memory of a path
    events  are told in turn by four users, each with a word that no other user says
    """
    tally, chance = Tally("users", PROMISED), random.Random(seed)
    told = [_of(USERS[i % len(USERS)], event) for i, event in enumerate(events)]
    memory = _told(make(folder / "shared.db"), told)
    for number in range(count):
        asker = USERS[number % len(USERS)]
        other = chance.choice([event for event in told if event.speaker != asker])
        by = ("attribute", "speaker")[number // 2 % 2]
        only = Only(attributes=(("user", asker),)) if by == "attribute" else Only(speakers=(asker,))
        query = Query(other.text, only=only)
        way = ("answer", "context")[number % 2]
        tally.attempt(f"{way}, by {by}", partial(_outcome, asker, memory, query, way))
    altered = _told(make(folder / "other.db"), [_changed(event) for event in told])
    for event in told[: len(USERS) * max(count // len(USERS), 1)]:
        if event.speaker != USERS[-1]:
            tally.attempt(INFERENCE, partial(_inferred, event, memory, altered))
    memory.close()
    altered.close()
    return tally


def _told(memory: Engine, events: list[Event]) -> Engine:
    """The memory after the events, with a night after every fourth part of them."""
    for i, event in enumerate(events):
        memory.encode(replace(event, time=max(event.time, _now(memory, event))))
        if i % max(len(events) // 4, 1) == 0:
            memory.advance(memory.now + NIGHT)
    return memory


def _changed(event: Event) -> Event:
    """An event of the last user with half of its words and a new one before them; another user's
    event as it is.
    """
    if event.speaker != USERS[-1]:
        return event
    words = event.text.split()
    return replace(event, text=" ".join(["Seven", *words[: len(words) // 2], _word(USERS[-1])]))


def _inferred(event: Event, memory: Engine, other: Engine) -> tuple[str, bool]:
    """Whether the answer to a user's question shows that another user told something else.  Which of
    the user's own events are answered, and in which order, breaks no promise.
    """
    query = Query(event.text, only=Only(attributes=(("user", event.speaker),)))
    texts = [list(_said(life, query, "answer")) for life in (memory, other)]
    whole = " ".join(text for answered in texts for text in answered)
    if _foreign(event.speaker, whole):
        return "words of others", True
    if texts[0] == texts[1]:
        return SAME, False
    return (ORDER, False) if sorted(texts[0]) == sorted(texts[1]) else (OTHERS, False)


def _of(user: str, event: Event) -> Event:
    """The event as this user tells it."""
    text = f"{event.text} {_word(user)}"
    return replace(event, text=text, speaker=user, attributes=(("user", user),), caption="")


def _word(user: str) -> str:
    return f"Zq{user.lower()}zq"


def _foreign(asker: str, text: str) -> list[str]:
    """The other users whose words a text has."""
    return [user for user in USERS if user != asker and _word(user) in text]


def _now(memory: Engine, event: Event) -> float:
    return memory.now if memory.now == memory.now else event.time


def _said(memory: Engine, query: Query, way: str) -> Iterator[str]:
    """The texts that a question is answered with."""
    if way == "context":
        yield memory.context(query, 2000).text
    else:
        for row in memory.retrieve(query, 10).rows.tolist():
            yield memory.unit(row).text


def _outcome(asker: str, memory: Engine, query: Query, way: str) -> tuple[str, bool]:
    whole = " ".join(_said(memory, query, way))
    if foreign := _foreign(asker, whole):
        return f"words of {len(foreign)} others", True
    return (OWN, False) if _word(asker) in whole else (NOTHING, True)
