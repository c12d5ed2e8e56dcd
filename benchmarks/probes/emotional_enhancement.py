"""Emotional enhancement: arousal strengthens memories; among many alike, a moderate arousal does
it best (Yerkes & Dodson 1908).
"""

from __future__ import annotations

from functools import partial
from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import OBJECTS, Stimuli

EACH: Final = 6
ALIKE: Final = 4  # others told with each item of the hard variant
WORDINGS: Final = {
    "neutral": "The {} fell off the shelf this morning.",
    "moderate": "I was sad and a little worried when the {} fell off the shelf.",
    "strong": "I was horrified and screamed in terror, it was a disaster, when the {} fell off the shelf!!!",
}
FELL: Final = (
    "The {} fell off the table at noon.",
    "The {} fell off the chair last week.",
    "The {} fell off the cupboard again.",
    "The {} fell off the shelf on Monday.",
)


def run(life: Life, seed: int, hard: bool = False) -> Numbers:
    s = Stimuli("emotional_enhancement", seed)
    things = s.draw(OBJECTS, EACH * len(WORDINGS))
    told = [
        (text.format(thing), kind, thing)
        for i, (kind, text) in enumerate(WORDINGS.items())
        for thing in things[i * EACH : (i + 1) * EACH]
    ]
    ids: dict[str, list[str]] = {kind: [] for kind in WORDINGS}
    for i in s.rng.permutation(len(told)):
        text, kind, thing = told[i]
        if hard:
            life.tell_all(
                [other.format(thing) for other in FELL[:ALIKE]], apart=MINUTE, at=life.now + MINUTE
            )
        ids[kind].append(life.tell(text, at=life.now + 10 * MINUTE))
    life.wait(7 * DAY)
    return {kind: mean(life.strength(each)) for kind, each in ids.items()}


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
        capability=f"What was said with feeling is stronger a week later{'; among alike memories a moderate feeling helps most' if hard else ''}.",
        unit="ln, ACTIVATION + LOG_STRENGTH",
        protocol=f"18 things that fell off a shelf, told in neutral, moderate or strong words{', each after 4 alike sentences' if hard else ''}; "
        "strength after 7 d.",
        band=band,
        matters=("emotional_tagging",),
        sets=("waking", "everything"),
        needs=frozenset({Need.COLUMNS}),
        run=partial(run, hard=hard),
        measures=Measures(columns=("activation", "log_strength")),
    )


PROBES = (_probe("easy", False), _probe("hard", True))
