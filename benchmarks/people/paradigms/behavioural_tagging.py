"""Behavioural tagging: something new, an hour before or after, makes unrelated learning last
(Ballarini, Martinez, Diaz Perez, Moncada & Viola 2013).
"""

from __future__ import annotations

from typing import Final

from ...probes.harness.life import DAY, MINUTE, SECOND
from ...probes.stimuli import sentence
from .contract import Effect, Paradigm, ReadoutKind, SimulatedPerson, difference

FACTS: Final = 10
LAGS: Final = {"4 h before": -4.0, "1 h before": -1.0, "1 h after": 1.0, "4 h after": 4.0}
FAMILIAR: Final = "familiar, 1 h after"
POINTS: Final = ("no lesson", *LAGS, FAMILIAR)
NOON: Final = 4.0  # h after the day begins
LESSON: Final = (
    "Today a stranger came in and everything was different, we were amazed!",
    "A volcano of red foam exploded out of the bottle and everybody screamed!",
    "This is extremely important, remember it: never mix these two powders!",
    "An egg was sucked into the glass by itself, I could not believe my eyes!",
    "We were thrilled and decided to found a club for experiments!",
)
NEAR: Final = ("1 h before", "1 h after")
FAR: Final = ("4 h before", "4 h after")


def run(subject: SimulatedPerson) -> None:
    facts = subject.draws.facts(FACTS)
    texts = [sentence(fact) for fact in facts]
    for point in POINTS:
        memory = subject.fresh()
        begun = memory.life.now
        for day in range(2):
            memory.life.until(begun + day * DAY + NOON)
            if point == FAMILIAR:
                _lesson(memory)
        story = begun + 2 * DAY + NOON
        lag = 1.0 if point == FAMILIAR else LAGS.get(point, 0.0)
        memory.life.until(story + min(lag, 0.0))
        if lag < 0.0:
            _lesson(memory)
        memory.life.until(story)
        ids = memory.study(texts, 10 * SECOND)
        if lag > 0.0:
            memory.life.until(story + lag)
            _lesson(memory)
        memory.life.until(story + DAY)
        for (name, thing, _), id in zip(facts, ids, strict=True):
            memory.recall(point, [{id}], f"{name}, {thing}")


def _lesson(memory: SimulatedPerson) -> None:
    memory.life.tell_all(LESSON, 4 * MINUTE)
    memory.life.wait(4 * MINUTE)


PARADIGM: Final = Paradigm(
    id="behavioural_tagging",
    title="Behavioural tagging",
    source="Ballarini, Martinez, Diaz Perez, Moncada & Viola 2013, "
    "https://doi.org/10.1371/journal.pone.0066875",
    read="abstract read, no number: a new lesson an hour before or after a story helps the memory of "
    "it, one four hours away does not, nor does a familiar one; the same hours are in the abstract "
    "of Ramirez Butavand et al. 2020, https://doi.org/10.3389/fpsyg.2020.00048. Only the signs are "
    "compared",
    protocol="10 facts are told at one o'clock; a lesson of five sentences comes 4 h or 1 h before or "
    "after, or not at all; of the familiar lesson the same sentences were told on both days before. "
    "A day later each fact is asked for by name and object.",
    departures="Facts stand for a story, and excited sentences for a new lesson; no sentence of the "
    "lesson shares a name with the story, as in the experiment.",
    kind=ReadoutKind.CUED,
    points=POINTS,
    effects=(
        Effect("new an hour before helps", difference(["1 h before"], ["no lesson"])),
        Effect("new an hour after helps", difference(["1 h after"], ["no lesson"])),
        Effect("four hours away helps less", difference(NEAR, FAR)),
        Effect("a familiar lesson helps less", difference(["1 h after"], [FAMILIAR])),
    ),
    missing="Something strong must help what was told hours before or after without sharing its words "
    "or names: a resource of the whole memory, not of an entity, with a life of hours.",
    matters=("synaptic_tagging",),
    run=run,
)
