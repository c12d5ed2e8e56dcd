"""Retention of facts: recall to a cue over six weeks (Carpenter, Pashler, Wixted & Vul 2008)."""

from __future__ import annotations

from typing import Final

from ...probes.harness.life import DAY, MINUTE, SECOND
from ...probes.stimuli import sentence
from .contract import Effect, Paradigm, ReadoutKind, SimulatedPerson, difference, share

FACTS: Final = 15
A_DAY: Final = 4
RECALLED: Final = {  # h, and share of 55 people
    "5 min": (5 * MINUTE, 0.93),
    "1 d": (DAY, 0.88),
    "2 d": (2 * DAY, 0.86),
    "7 d": (7 * DAY, 0.66),
    "14 d": (14 * DAY, 0.47),
    "42 d": (42 * DAY, 0.34),
}


def run(subject: SimulatedPerson) -> None:
    facts = subject.draws.facts(FACTS)
    texts = [sentence(fact) for fact in facts]
    cues = [f"{name}, {thing}" for name, thing, _ in facts]
    for point, (delay, _) in RECALLED.items():
        memory = subject.fresh()
        ids = [{id} for id in memory.study(texts, 10 * SECOND)]
        for cue, text, own in zip(cues, texts, ids, strict=True):
            memory.practise(cue)
            own.add(memory.study([text], 5 * SECOND)[0])
        memory.live(memory.life.now + delay, A_DAY)
        for cue, own in zip(cues, ids, strict=True):
            memory.recall(point, [own], cue)


PARADIGM: Final = Paradigm(
    id="fact_retention",
    title="Retention of facts",
    source="Carpenter, Pashler, Wixted & Vul 2008, https://doi.org/10.3758/MC.36.2.438, experiment 1",
    read="second-hand: shares as they are given with the code of Farrell & Lewandowsky (2018), "
    "Computational modeling of cognition and behavior, chapter 3; errors are the greatest that 55 "
    "people can have",
    protocol="15 facts are told, recalled by name and object and told again; 5 min to 42 days later, "
    "with four sentences of other talk a day, each is asked for by name and object.",
    departures="Which condition the shares are of was not read. A fact is studied twice.",
    kind=ReadoutKind.CUED,
    points=tuple(RECALLED),
    printed={point: share(value, 55) for point, (_, value) in RECALLED.items()},
    effects=(
        Effect("kept for two days", {"2 d": 2.0, "5 min": -1.0, "7 d": -1.0}),
        Effect("forgotten within a week", difference(["5 min"], ["7 d"])),
        Effect("forgotten within six weeks", difference(["7 d"], ["42 d"])),
    ),
    missing="A memory that a good cue always finds keeps facts for ever: age must count beside what "
    "the words of the question say.",
    matters=("base_level_activation", "consolidation_cascade"),
    run=run,
)
