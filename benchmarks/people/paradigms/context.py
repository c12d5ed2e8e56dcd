"""Context: words are recalled better where they were learnt (Godden & Baddeley 1975)."""

from __future__ import annotations

from typing import Final

from ...probes.harness.life import MINUTE, SECOND
from ...probes.stimuli import WORDS
from .contract import Effect, Paradigm, ReadoutKind, SimulatedPerson, share

LENGTH: Final = 36
RECALLED: Final = {  # learnt and recalled; words of 36
    "dry, dry": 13.5,
    "dry, wet": 8.6,
    "wet, dry": 8.4,
    "wet, wet": 11.4,
}
SCENES: Final = {
    "dry": "The sand of the beach is warm and gulls cry over the cars.",
    "wet": "Bubbles rise from the regulator and the sea is green and cold.",
}


def run(subject: SimulatedPerson) -> None:
    words = subject.draws.draw(WORDS, LENGTH)
    for point in RECALLED:
        learnt, asked = point.split(", ")
        memory = subject.fresh()
        for place in ("wet", "dry"):  # both are known
            memory.talk(3, MINUTE, session=place)
        memory.life.tell(SCENES[learnt], session=learnt)
        memory.life.wait(MINUTE)
        ids = memory.study(words, 4 * SECOND, session=learnt)
        memory.life.wait(2 * MINUTE)
        memory.life.tell(SCENES[asked], session=asked)
        memory.life.wait(2 * MINUTE)
        memory.recall(point, [{id} for id in ids], session=asked)


PARADIGM: Final = Paradigm(
    id="context",
    title="Context",
    source="Godden & Baddeley 1975, https://doi.org/10.1111/j.2044-8295.1975.tb01468.x",
    read="second-hand: mean words of 36 as generally quoted; errors are the greatest that 16 divers "
    "can have. A replication with 16 divers (Murre 2021, https://doi.org/10.1098/rsos.200724) did "
    "not find the effect",
    protocol="36 words, 4 s apart, in the session of a place, the beach or under water, after a "
    "sentence about it; 4 min later, after a sentence about the same or the other place, the words "
    "are asked for without words in the session of that place.",
    departures="A place is a session and a sentence.",
    kind=ReadoutKind.FREE,
    points=tuple(RECALLED),
    printed={point: share(words / LENGTH, 16) for point, words in RECALLED.items()},
    effects=(
        Effect(
            "better where it was learnt",
            {"dry, dry": 0.5, "wet, wet": 0.5, "dry, wet": -0.5, "wet, dry": -0.5},
        ),
    ),
    missing="The session, or what was told in it, must be a part of the context that cues.",
    matters=("temporal_context",),
    run=run,
)
