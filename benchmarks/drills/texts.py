"""Texts of any characters: each is kept verbatim, through the file too, and questions in them
are answered.
"""

from __future__ import annotations

import random
import warnings
from dataclasses import replace
from pathlib import Path

from ...engine.base.errors import HebbariumError
from ...engine.contract.records import Event, Query
from .flips import Make
from .tally import Tally

PROMISED = "kept verbatim, also in the file, and asked about without an error; nothing else changes by asking"
ALPHABETS = ("abc xyz", "\0\x01\x1b\x7f\t\r\n", "\ud800\udfff\udc80", "\u202e\u05d0\u0627\u200f",
             "\U0001f469\u200d\U0001f467\ufe0f",
             "e\u0301\u0300\u0489", "'\";--%s{}<>&$", "0123456789.,:/-", "\u2028\x85\u3000\ufeff",
             "日本語한국어ไทย")  # fmt: skip
BATCH = 50  # texts in one memory


def texts(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Store and ask `count` random texts, with random speakers, sessions and ids.

    events  the first of them give the time at which the texts begin
    """
    tally, chance, now = Tally("texts", PROMISED), random.Random(seed), events[-1].time
    for start in range(0, count, BATCH):
        path = folder / f"texts{start}.db"
        told = _with_ids_of_their_own(
            [_event(now + i, chance) for i in range(min(BATCH, count - start))]
        )
        kinds = [_kind(event.text) for event in told]
        try:
            outcomes = _told(make, path, told)
        except Exception as error:  # the drill counts errors of every kind
            outcomes = [f"failed with {type(error).__name__}: {error}"] * len(told)
        for kind, outcome in zip(kinds, outcomes, strict=True):
            tally.count(kind, outcome, broken=outcome != "kept")
    return tally


def _with_ids_of_their_own(events: list[Event]) -> list[Event]:
    """Without the id of an event that an earlier one has: a memory refuses it."""
    ids = [event.id for event in events]
    return [
        replace(event, id="") if event.id in ids[:at] else event for at, event in enumerate(events)
    ]


def _told(make: Make, path: Path, told: list[Event]) -> list[str]:
    """What came of each text."""
    memory = make(path)
    for event in told:
        memory.encode(event)
    memory.advance(memory.now)
    before, failed = memory.digest(), set[int]()
    for number, event in enumerate(told):
        try:
            memory.retrieve(Query(event.text))
        except HebbariumError:
            failed.add(number)
    same = memory.digest() == before
    memory.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = make(path)
    try:
        kept = again.digest() == before and same
        return [
            "not answered"
            if n in failed
            else "kept"
            if kept and again.events[n] == event
            else "changed"
            for n, event in enumerate(told)
        ]
    finally:
        again.close()


def _event(time: float, chance: random.Random) -> Event:
    def text(most: int) -> str:
        letters = "".join(chance.sample(ALPHABETS, chance.randint(1, 3)))
        return "".join(chance.choice(letters) for _ in range(chance.randrange(most)))

    return Event(
        time,
        text(400 if chance.random() < 0.95 else 20_000),
        text(12),
        text(8),
        text(12),
        text(20) if chance.random() < 0.2 else "",
    )


def _kind(text: str) -> str:
    return (
        "empty"
        if not text.strip()
        else "long"
        if len(text) > 400
        else "half surrogates"
        if any("\ud800" <= c <= "\udfff" for c in text)
        else "control characters"
        if any(c < " " for c in text)
        else "other"
    )
