"""Corrections hold: after nights and other talk, the corrected value is answered first, also if
the old one was mentioned again.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, Numbers, Probe, Within
from .harness.life import MINUTE, Life
from .stimuli import NAMES, OBJECTS, PLACES, Stimuli

SUBJECTS, NIGHTS, EACH_DAY = 6, 5, 10
FIRST: Final = 5


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("correction_holds", seed)
    names, things = s.draw(NAMES, SUBJECTS), s.draw(OBJECTS, SUBJECTS)
    places = [s.draw(PLACES, 2) for _ in range(SUBJECTS)]
    others = s.chatter(NIGHTS * EACH_DAY)
    subjects = list(zip(names, things, places, strict=True))
    old = [
        life.tell(f"{name} keeps the {thing} in the {place[0]}.", at=life.now + MINUTE)
        for name, thing, place in subjects
    ]
    life.wait(1.0)
    new = [
        life.tell(
            f"I was wrong about {name}: the {thing} is in the {place[1]}, not in the {place[0]}.",
            at=life.now + MINUTE,
        )
        for name, thing, place in subjects
    ]
    for night in range(NIGHTS):
        i = night % SUBJECTS
        life.tell_all(
            others[night * EACH_DAY : (night + 1) * EACH_DAY - 1],
            apart=20 * MINUTE,
            at=life.now + MINUTE,
        )
        life.tell(
            f"{names[i]} and I walked past the {places[i][0]} and talked about the {things[i]}.",
            at=life.now + 20 * MINUTE,
        )
        life.sleep()
    first, reachable = [], []
    for name, thing, was, now in zip(names, things, old, new, strict=True):
        answer = [event.id for event in life.ask(f"Where is the {thing} of {name}?", FIRST).events]
        before = [
            event.id
            for event in life.ask(
                f"Where did I first say that {name} keeps the {thing}?", FIRST
            ).events
        ]
        first.append(bool(answer) and answer[0] == now)
        reachable.append(was in before)
    return {
        "corrected first": sum(first) / SUBJECTS,
        "old value when asked": sum(reachable) / SUBJECTS,
    }


PROBES = (
    Probe(
        id="correction_holds/after_nights",
        capability="A correction stays the first answer over nights and talk; the old value is found when asked for.",
        source="",
        place="an experiment of ours",
        unit="share of subjects",
        protocol="6 statements, each corrected once; 5 nights and 50 other sentences, of which 5 mention an old value in passing; asked for the "
        "value, and for what was said first.",
        band=(Within("corrected first", low=1.0), Within("old value when asked", low=0.8)),
        matters=("curation", "reconsolidation", "fact_timeline"),
        sets=("default", "waking", "everything"),
        run=run,
        measures=Measures(columns=("sleep_end", "sleep_onset"), answers=True),
    ),
)
