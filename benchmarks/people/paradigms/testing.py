"""Testing effect: what was recalled is remembered better a week later than what was read again, and
worse after minutes (Roediger & Karpicke 2006).
"""

from __future__ import annotations

from typing import Final

from ...probes.harness.life import DAY, MINUTE, SECOND
from ...probes.stimuli import sentence
from .contract import Effect, Paradigm, ReadoutKind, SimulatedPerson, difference, share

FACTS: Final = 15
PERIOD: Final = 7 * MINUTE
A_DAY: Final = 6
DELAYS: Final = {"5 min": 5 * MINUTE, "1 week": 7 * DAY}
RECALLED: Final = {  # experiment 2, 30 people in each
    "SSSS, 5 min": 0.83,
    "SSST, 5 min": 0.78,
    "STTT, 5 min": 0.71,
    "SSSS, 1 week": 0.40,
    "SSST, 1 week": 0.56,
    "STTT, 1 week": 0.61,
}


def run(subject: SimulatedPerson) -> None:
    facts = subject.draws.facts(FACTS)
    texts = [sentence(fact) for fact in facts]
    cues = [f"{name}, {thing}" for name, thing, _ in facts]
    for point in RECALLED:
        periods, delay = point.split(", ")
        memory = subject.fresh()
        ids: list[set[str]] = [set() for _ in facts]
        for period in periods:
            begun = memory.life.now
            for text, cue, own in zip(texts, cues, ids, strict=True):
                if period == "S":
                    own.add(memory.study([text], 10 * SECOND)[0])
                else:
                    memory.practise(cue)
                    memory.life.wait(10 * SECOND)
            memory.life.until(begun + PERIOD)
        memory.live(memory.life.now + DELAYS[delay], A_DAY)
        for cue, own in zip(cues, ids, strict=True):
            memory.recall(point, [own], cue)


def _at(periods: str, delay: str) -> list[str]:
    return [f"{periods}, {delay}"]


PARADIGM: Final = Paradigm(
    id="testing",
    title="Testing effect",
    source="Roediger & Karpicke 2006, https://doi.org/10.1111/j.1467-9280.2006.01693.x, experiment 2",
    read="second-hand: shares of idea units as generally quoted, and as public figures of experiment "
    "2 have them; errors are the greatest that 30 people in each cell can have. Of the paper the "
    "abstract was read: it has both delays, and which way recall goes at each. The periods of 7 min "
    "are from memory",
    protocol="15 facts in four periods of 7 min: told in each (SSSS), told three times and recalled "
    "once (SSST), or told once and recalled three times (STTT). After 5 min, or a week with other "
    "talk, each is asked for by name and object.",
    departures="Facts stand for the idea units of a passage, and a cue for each stands for free "
    "recall. A period of study has one reading; recall uses the best memory, right or wrong.",
    kind=ReadoutKind.CUED,
    points=tuple(RECALLED),
    printed={point: share(value, 30) for point, value in RECALLED.items()},
    effects=(
        Effect("soon, study wins", difference(_at("SSSS", "5 min"), _at("STTT", "5 min"))),
        Effect("a week later, tests win", difference(_at("STTT", "1 week"), _at("SSSS", "1 week"))),
        Effect(
            "what was tested is forgotten more slowly",
            {"SSSS, 5 min": 1.0, "SSSS, 1 week": -1.0, "STTT, 5 min": -1.0, "STTT, 1 week": 1.0},
        ),
    ),
    missing="A memory that keeps each telling as a memory of its own gains from restudy at all "
    "delays; recall must strengthen what it finds for longer than a reading does.",
    papers=("roediger2006test",),
    matters=("testing_effect", "base_level_activation"),
    run=run,
)
