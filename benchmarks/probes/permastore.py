"""Permastore: what was learnt well stays at a level for years, what was told once goes on fading
(Bahrick 1984).
"""

from __future__ import annotations

import math
from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, Within, mean
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import Stimuli, sentence

EACH, SESSIONS, APART = 6, 8, 7
YEARS: Final = (1, 2, 3)
YEAR: Final = 365 * DAY
TALK: Final = 30  # events of other talk a year


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("permastore", seed)
    texts = [sentence(fact) for fact in s.facts(2 * EACH)]
    order = s.rng.permutation(2 * EACH).tolist()
    told = life.tell_all([texts[i] for i in order], apart=10 * MINUTE)
    ids = [told[order.index(i)] for i in range(2 * EACH)]
    start, other = (
        life.now,
        iter(
            s.chatter(60)
            + [f"On day {i} nothing much happened again." for i in range(len(YEARS) * TALK)]
        ),
    )
    for _ in range(SESSIONS):
        life.wait(APART * DAY)
        for text in texts[:EACH]:
            life.ask(text, k=1, learn=True)
            life.wait(MINUTE)
    strengths: dict[int, tuple[float, float]] = {}
    for year in YEARS:
        for i in range(TALK):
            life.tell(
                next(other), at=max(life.now, start + (year - 1 + (i + 1) / (TALK + 1)) * YEAR)
            )
        life.until(start + year * YEAR)
        found = life.strength(ids)
        strengths[year] = mean(found[:EACH]), mean(found[EACH:])
    kept = [
        math.exp(last - first)
        for first, last in zip(strengths[YEARS[0]], strengths[YEARS[-1]], strict=True)
    ]
    return {
        "kept, learnt well": kept[0],
        "kept, told once": kept[1],
        **{
            f"{kind}, year {year}": strengths[year][i]
            for i, kind in enumerate(("learnt well", "told once"))
            for year in YEARS
        },
    }


PROBES = (
    Probe(
        id="permastore/years",
        capability="Of what was learnt well in two months, most of the strength after one year is left after three.",
        source="bahrick1984semantic",
        place="retention over years; check 1.9",
        unit="share; ln",
        protocol="12 facts; 6 of them recalled in 8 weeks; then 3 years of other talk, 30 sentences a year; strength at the end of each year; share of "
        "that after the first year which is left after the third.",
        band=(Within("kept, learnt well", low=0.5), Above("kept, learnt well", "kept, told once")),
        matters=("consolidation_cascade", "base_level_activation"),
        sets=("night", "everything"),
        needs=frozenset({Need.COLUMNS, Need.LEARNING}),
        run=run,
        measures=Measures(columns=("activation", "log_strength"), answers=True, learns=True),
    ),
)
