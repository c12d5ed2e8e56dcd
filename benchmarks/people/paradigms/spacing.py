"""Spacing: the best gap between two sessions grows with the delay of the test (Cepeda, Vul, Rohrer,
Wixted & Pashler 2008).
"""

from __future__ import annotations

from typing import Final

from ...probes.harness.life import DAY, MINUTE, SECOND
from ...probes.stimuli import sentence
from .contract import Effect, Paradigm, ReadoutKind, SimulatedPerson, difference

FACTS: Final = 8
GAPS: Final = {"0 d": 5 * MINUTE, "1 d": DAY, "11 d": 11 * DAY, "21 d": 21 * DAY}
DELAYS: Final = {"7 d": 7 * DAY, "35 d": 35 * DAY, "350 d": 350 * DAY}


def run(subject: SimulatedPerson) -> None:
    facts = subject.draws.facts(FACTS)
    texts = [sentence(fact) for fact in facts]
    cues = [f"{name}, {thing}" for name, thing, _ in facts]
    for delay, later in DELAYS.items():
        for gap, between in GAPS.items():
            memory = subject.fresh()
            ids = [{id} for id in memory.study(texts, 10 * SECOND)]
            _days(memory, between)
            for cue, text, own in zip(cues, texts, ids, strict=True):
                memory.practise(cue)
                own.add(memory.study([text], 10 * SECOND)[0])
            _days(memory, later)
            for cue, own in zip(cues, ids, strict=True):
                memory.recall(f"{delay}, gap {gap}", [own], cue)


def _days(memory: SimulatedPerson, hours: float) -> None:
    """Days with a sentence of other talk, of long ones every tenth day."""
    end, step = memory.life.now + hours, max(1.0, hours / (40 * DAY)) * DAY
    while memory.life.now + step < end:
        memory.life.wait(step)
        memory.talk(1, SECOND)
    memory.life.until(end)


PARADIGM: Final = Paradigm(
    id="spacing",
    title="Spacing",
    source="Cepeda, Vul, Rohrer, Wixted & Pashler 2008, "
    "https://doi.org/10.1111/j.1467-9280.2008.02209.x",
    read="abstract read: the best gap grows with the delay, from 20 to 40 % of a week to 5 to 10 % of a "
    "year. Second-hand: the best gaps of 1, 11, 21 and 21 days for tests after 7, 35, 70 and 350 days. "
    "The surface of recall was not read, so only the signs that follow from these are compared",
    protocol="8 facts are told, recalled by name and object and told again after 5 min or 1, 11 or 21 "
    "days, and asked for 7, 35 or 350 days later, with other talk in between.",
    departures="Facts are told once in the first session, where people learnt them to a criterion.",
    kind=ReadoutKind.CUED,
    points=tuple(f"{delay}, gap {gap}" for delay in DELAYS for gap in GAPS),
    effects=(
        Effect("after 7 d: a day beats minutes", difference(["7 d, gap 1 d"], ["7 d, gap 0 d"])),
        Effect("after 7 d: a day beats 21 d", difference(["7 d, gap 1 d"], ["7 d, gap 21 d"])),
        Effect("after 35 d: 11 d beat a day", difference(["35 d, gap 11 d"], ["35 d, gap 1 d"])),
        Effect("after 350 d: 21 d beat a day", difference(["350 d, gap 21 d"], ["350 d, gap 1 d"])),
        Effect(
            "a longer delay favours a longer gap",
            {
                "350 d, gap 21 d": 1.0,
                "350 d, gap 1 d": -1.0,
                "7 d, gap 21 d": -1.0,
                "7 d, gap 1 d": 1.0,
            },
        ),
    ),
    missing="A memory in which the gain of a repetition does not depend on how much was forgotten "
    "before has no best gap.",
    matters=("base_level_activation", "testing_effect"),
    run=run,
)
