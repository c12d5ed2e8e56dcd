"""Retention: what is left of lists of syllables after minutes, hours, days and a month (Ebbinghaus
1885).
"""

from __future__ import annotations

from typing import Final

from ...probes.harness.life import SECOND
from ...probes.stimuli import SYLLABLES
from .contract import Effect, Paradigm, Printed, ReadoutKind, SimulatedPerson, difference

SAVINGS: Final = {  # h, and the share saved; the true intervals of section 29
    "19 min": (19 / 60, 0.582),
    "63 min": (63 / 60, 0.442),
    "8.75 h": (8.75, 0.358),
    "1 d": (24.0, 0.337),
    "2 d": (48.0, 0.278),
    "6 d": (144.0, 0.254),
    "31 d": (744.0, 0.211),
}
LENGTH: Final = 13
LISTS: Final = 2
A_DAY: Final = 6


def run(subject: SimulatedPerson) -> None:
    syllables = subject.draws.draw(SYLLABLES, LISTS * LENGTH)
    lists = [syllables[i * LENGTH : (i + 1) * LENGTH] for i in range(LISTS)]
    for point, (delay, _) in SAVINGS.items():
        memory = subject.fresh()
        ids = [memory.study(words, SECOND, session=f"list {n}") for n, words in enumerate(lists)]
        memory.live(memory.life.now + delay, A_DAY)
        for n, own in enumerate(ids):
            memory.recall(point, [{id} for id in own], session=f"list {n}")


PARADIGM: Final = Paradigm(
    id="retention",
    title="Retention",
    source="Ebbinghaus 1885, Über das Gedächtnis, section 29; Murre & Dros 2015, "
    "https://doi.org/10.1371/journal.pone.0120644",
    read="second-hand: savings at the true intervals as generally quoted; a standard error of .015, "
    "after probable errors of about a point",
    protocol="Two lists of 13 syllables, one a second, each in a session; 19 min to 31 days later, "
    "with six sentences of other talk a day, each list is asked for without words.",
    departures="The share recalled stands for the share of relearning time that is saved. A list is "
    "told once; Ebbinghaus read it until he could say it twice.",
    kind=ReadoutKind.FREE,
    points=tuple(SAVINGS),
    printed={point: Printed(value, 0.015) for point, (_, value) in SAVINGS.items()},
    effects=(
        Effect("forgotten within a day", difference(["19 min"], ["1 d"])),
        Effect("forgotten within a month", difference(["1 d"], ["31 d"])),
        Effect(
            "fast at first, slow later", {"19 min": 1.0, "8.75 h": -1.0, "1 d": -1.0, "31 d": 1.0}
        ),
    ),
    missing="A memory whose scores do not fall with age beside the age of other memories keeps all "
    "lists alike.",
    papers=("ebbinghaus1885gedachtnis", "murre2015replication"),
    matters=("base_level_activation", "consolidation_cascade"),
    run=run,
)
