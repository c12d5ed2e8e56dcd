"""Permastore: what was learnt well stays at a level for years, what was told once goes on fading
(Bahrick 1984).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, Within, mean
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import Stimuli, sentence

SESSION: Final = "lessons"
KINDS: Final = ("learnt well", "told once")
OF_A_KIND, SESSIONS, APART = 6, 8, 7
YEARS: Final = (1, 2, 3)
YEAR: Final = 365 * DAY
TALK: Final = 30  # events of other talk a year


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("permastore", seed)
    facts = s.facts(2 * OF_A_KIND)
    cues = [f"{name}, {thing}" for name, thing, _ in facts]
    order = s.rng.permutation(2 * OF_A_KIND).tolist()
    told = life.tell_all([sentence(facts[i]) for i in order], apart=10 * MINUTE, session=SESSION)
    ids = [told[order.index(i)] for i in range(2 * OF_A_KIND)]
    start = life.now
    talk = iter(
        s.chatter(60)
        + [f"On day {i} nothing much happened again." for i in range(len(YEARS) * TALK)]
    )
    for _ in range(SESSIONS):
        life.wait(APART * DAY)
        for cue in cues[:OF_A_KIND]:
            life.ask(cue, k=1, learn=True, session=SESSION)
            life.wait(MINUTE)
    chances: dict[tuple[str, int], float] = {}
    for year in YEARS:
        for i in range(TALK):
            life.tell(
                next(talk),
                session="talk",
                at=max(life.now, start + (year - 1 + (i + 1) / (TALK + 1)) * YEAR),
            )
        life.until(start + year * YEAR)
        recalled = life.recalled(ids, SESSION)
        chances["learnt well", year] = mean(recalled[:OF_A_KIND])
        chances["told once", year] = mean(recalled[OF_A_KIND:])
    kept = {
        f"kept, {kind}": chances[kind, YEARS[-1]] / max(chances[kind, YEARS[0]], 1e-9)
        for kind in KINDS
    }
    return kept | {f"{kind}, year {year}": chances[kind, year] for kind in KINDS for year in YEARS}


PROBES = (
    Probe(
        id="permastore/years",
        capability="Of what was learnt well in two months, most of what is recalled after one year is recalled after three.",
        source="bahrick1984semantic",
        place="retention over years; check 1.9",
        unit="share; chance of recall",
        protocol="12 facts of one session; 6 of them recalled by name and object in 8 weeks; then 3 years of other talk, 30 sentences a year; at the end "
        "of each year they are asked for without words in the session; a fact is recalled with the chance R / (R + 1), R = exp(z), z its standardised "
        "final score among the 48 best; share of the chance after the first year which is left after the third.",
        band=(
            Above("learnt well, year 3", "told once, year 3"),
            Within("kept, learnt well", low=0.5),
            Above("kept, learnt well", "kept, told once"),
        ),
        matters=("consolidation_cascade", "base_level_activation"),
        sets=("night", "everything"),
        needs=frozenset({Need.LEARNING}),
        run=run,
        measures=Measures(answers=True, learns=True),
    ),
)
