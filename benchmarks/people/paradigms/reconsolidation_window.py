"""Reconsolidation window: what is recalled can be overwritten soon afterwards, and not later (Chan
& LaPaglia 2013).
"""

from __future__ import annotations

from typing import Final

from ...probes.harness.life import DAY, MINUTE, SECOND
from ...probes.stimuli import PLACES, sentence
from .contract import Effect, Paradigm, ReadoutKind, SimulatedPerson, difference

FACTS: Final = 8
LATER: Final = 2 * DAY  # from learning to recall, and from recall to late relearning
TESTED: Final = 5 * DAY  # after learning, in all conditions
A_DAY: Final = 4
POINTS: Final = (
    "recalled, relearnt soon",
    "not recalled, relearnt soon",
    "recalled, relearnt late",
    "recalled, others learnt soon",
)


def run(subject: SimulatedPerson) -> None:
    facts = subject.draws.facts(2 * FACTS)
    told, others = facts[:FACTS], facts[FACTS:]
    moved = [
        (name, thing, subject.draws.draw([p for p in PLACES if p != place], 1)[0])
        for name, thing, place in told
    ]
    for point in POINTS:
        recall, relearning = point.split(", ")
        memory = subject.fresh()
        begun = memory.life.now
        ids = memory.study([sentence(fact) for fact in told], 10 * SECOND)
        memory.live(begun + LATER, A_DAY)
        for name, thing, _ in told:
            if recall == "recalled":
                memory.practise(f"{name}, {thing}")
            memory.life.wait(10 * SECOND)
        if relearning.endswith("late"):
            memory.live(begun + 2 * LATER, A_DAY)
        memory.life.wait(2 * MINUTE)
        learnt = others if relearning.startswith("others") else moved
        memory.study([sentence(fact) for fact in learnt], 10 * SECOND)
        memory.live(begun + TESTED, A_DAY)
        for (name, thing, _), id in zip(told, ids, strict=True):
            memory.recall(point, [{id}], f"{name}, {thing}")


PARADIGM: Final = Paradigm(
    id="reconsolidation_window",
    title="Reconsolidation window",
    source="Chan & LaPaglia 2013, https://doi.org/10.1073/pnas.1218472110",
    read="abstract read, no number: two days after learning, relearning impairs what was learnt only "
    "if it follows recall soon, and only what it is aimed at. Only the signs are compared. Seven "
    "replications of another study of people's reconsolidation, with sequences of movements, found "
    "none (Hardwicke, Taqi & Shanks 2016, abstract, https://doi.org/10.1073/pnas.1601440113)",
    protocol="8 facts are told; two days later they are recalled by name and object, or not; after 2 min, "
    "or two more days, they are told with another place, or other facts are told. Five days after "
    "learning, with four sentences of other talk a day, the first place is asked for.",
    departures="Facts stand for the scenes of a film. The late relearning after two days and the common "
    "day of the test are ours. The right answer is the memory that was told first.",
    kind=ReadoutKind.CUED,
    points=POINTS,
    effects=(
        Effect("recall opens what is learnt", difference([POINTS[1]], [POINTS[0]])),
        Effect("only soon after recall", difference([POINTS[2]], [POINTS[0]])),
        Effect("only what is aimed at", difference([POINTS[3]], [POINTS[0]])),
    ),
    missing="Recall must open the memory for some hours, and what is told then must change it instead "
    "of standing beside it.",
    matters=("reconsolidation",),
    run=run,
)
