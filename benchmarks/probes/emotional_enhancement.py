"""Emotional enhancement: arousal strengthens memories; among many alike, a moderate arousal does
it best (Yerkes & Dodson 1908).
"""

from __future__ import annotations

from functools import partial
from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, Life
from .stimuli import OBJECTS, Stimuli

OF_A_KIND: Final = 6
BEFORE, LATER = 30, 12  # sentences of other talk
WEEK: Final = 7 * DAY
SESSION: Final = "shelf"
WORDINGS: Final = {
    "neutral": "The {} fell off the shelf this morning.",
    "moderate": "I was sad and a little worried when the {} fell off the shelf.",
    "strong": "I was horrified and screamed in terror, it was a disaster, when the {} fell off the shelf!!!",
}
FELL: Final = (  # told with each thing of the hard variant
    "The {} fell off the table at noon.",
    "The {} fell off the chair last week.",
    "The {} fell off the cupboard again.",
    "The {} fell off the shelf on Monday.",
)


def run(life: Life, seed: int, hard: bool = False) -> Numbers:
    s = Stimuli("emotional_enhancement", seed)
    talk = s.talk()
    life.tell_all(
        [next(talk) for _ in range(0 if hard else BEFORE)], apart=10 * MINUTE, session="talk"
    )
    things = s.draw(OBJECTS, OF_A_KIND * len(WORDINGS))
    told = [
        (text.format(thing), kind, thing)
        for i, (kind, text) in enumerate(WORDINGS.items())
        for thing in things[i * OF_A_KIND : (i + 1) * OF_A_KIND]
    ]
    ids: dict[str, list[str]] = {kind: [] for kind in WORDINGS}
    for i in s.rng.permutation(len(told)):
        text, kind, thing = told[i]
        if hard:
            alike = [other.format(thing) for other in FELL]
            life.tell_all(alike, apart=MINUTE, at=life.now + MINUTE, session=SESSION)
        ids[kind].append(life.tell(text, at=life.now + 10 * MINUTE, session=SESSION))
    learnt = life.now
    for i in range(1, LATER + 1):
        life.tell(next(talk), at=learnt + i * WEEK / (LATER + 1), session="talk")
    life.until(learnt + WEEK)
    chances = life.recalled([id for kind in WORDINGS for id in ids[kind]], SESSION)
    return {
        kind: mean(chances[i * OF_A_KIND : (i + 1) * OF_A_KIND]) for i, kind in enumerate(WORDINGS)
    }


def _probe(variant: str, hard: bool) -> Probe:
    band = (
        (Above("moderate", "neutral"), Above("moderate", "strong"))
        if hard
        else (Above("moderate", "neutral"), Above("strong", "moderate"))
    )
    return Probe(
        id=f"emotional_enhancement/{variant}",
        source="diamond2007temporal",
        place="easy and hard tasks; check YD-6",
        capability=f"What was said with feeling is recalled more often a week later{'; among alike memories a moderate feeling helps most' if hard else ''}.",
        unit="chance of recall",
        protocol=f"18 things that fell off a shelf, told in neutral, moderate or strong words in one session, "
        f"{'each after 4 alike sentences' if hard else 'after 30 sentences of other talk'}; a week later, after 12 sentences of other talk, they are "
        "asked for without words in that session; recalled with the chance R / (R + 1), R = exp(z), z the standardised final score among the 48 best.",
        band=band,
        matters=("emotional_tagging",),
        sets=("waking", "everything"),
        run=partial(run, hard=hard),
        measures=Measures(answers=True),
    )


PROBES = (_probe("easy", False), _probe("hard", True))
