"""Salience: of two messages about a person, the one that said something new comes before the one
that repeated what was known.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, MoreThan, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, Life
from .stimuli import NAMES, PLACES, Stimuli

PEOPLE: Final = 12
HALF: Final = 0.5
SAID: Final = "{} paid {} euros at the {}."
AGAIN: Final = "As I said, {} paid {} euros at the {}."


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("salience", seed)
    names, places = s.draw(NAMES, PEOPLE), s.draw(PLACES, 2 * PEOPLE)
    prices = (s.rng.choice(800, 2 * PEOPLE, replace=False) + 101).tolist()
    first, second = (
        list(zip(names, prices[part], places[part], strict=True))
        for part in (slice(PEOPLE), slice(PEOPLE, None))
    )
    life.tell_all([SAID.format(*facts) for facts in first], apart=10 * MINUTE)
    life.wait(DAY)
    told = [(kind, i) for kind in ("new", "repeated") for i in range(PEOPLE)]
    ids = {}
    for j in s.rng.permutation(len(told)).tolist():
        kind, i = told[j]
        ids[kind, i] = life.tell(
            AGAIN.format(*(second if kind == "new" else first)[i]), at=life.now + 10 * MINUTE
        )
    life.wait(1.0)
    leads = [
        life.lead(f"How much did {name} pay?", ids["new", i], ids["repeated", i])
        for i, name in enumerate(names)
    ]
    return {
        "new one first": mean([(lead > 0) + HALF * (lead == 0) for lead in leads if lead == lead]),
        "lead of the new one": mean(leads),
    }


PROBES = (
    Probe(
        id="salience/news",
        capability="Of two messages about a person, the one that said something new comes first.",
        source="truememory2026",
        place="4.1 stage 9, the surprise factor",
        unit="share of people; sd of all scores",
        protocol="12 people, of each of whom one payment is told; a day later two messages of one form about each, one with the same payment and one "
        "with another; asked how much was paid. Chance: one half.",
        band=(MoreThan("new one first", HALF),),
        matters=("salience_reweighting", "surprise_index"),
        sets=("everything",),
        run=run,
        also=("lead of the new one",),
        measures=Measures(answers=True),
    ),
)
