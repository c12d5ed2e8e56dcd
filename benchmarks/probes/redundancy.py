"""Redundancy: an answer of ten holds different facts, not ten wordings of one."""

from __future__ import annotations

from typing import Final

import numpy as np

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, Life
from .stimuli import FOODS, NAMES, Stimuli

TOPICS, FACTS, WORDINGS = 2, 10, 5
FIRST: Final = 10
SAID: Final = (
    "{} likes {} a lot.",
    "{} told me how much she likes {}.",
    "For {}, nothing beats {}.",
    "{} asked for {} again.",
    "{} never says no to {}.",
)


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("redundancy", seed)
    names, foods = s.draw(NAMES, TOPICS), s.draw(FOODS, TOPICS * FACTS)
    told = [
        (SAID[w].format(names[t], foods[t * FACTS + f]), (t, f))
        for t in range(TOPICS)
        for f in range(FACTS)
        for w in range(WORDINGS)
    ]
    fact: dict[str, tuple[int, int]] = {}
    for i in s.rng.permutation(len(told)):
        text, key = told[i]
        fact[life.tell(text, at=life.now + 30 * MINUTE)] = key
    life.wait(DAY)
    mine, dense = list[float](), list[float]()
    ids = list(fact)
    for t, name in enumerate(names):
        question = f"Which foods does {name} like?"
        mine.append(
            float(
                len(
                    {
                        fact[e.id]
                        for e in life.ask(question, FIRST).events
                        if e.id in fact and fact[e.id][0] == t
                    }
                )
            )
        )
        nearest = np.argsort(-life.cosines(question, ids), kind="stable")[:FIRST]
        dense.append(float(len({fact[ids[i]] for i in nearest if fact[ids[i]][0] == t})))
    return {"different facts": mean(mine), "dense": mean(dense)}


PROBES = (
    Probe(
        id="redundancy/wordings",
        capability="Ten answers hold more different facts than the ten nearest texts.",
        source="lin2011class",
        place="coverage",
        unit="different facts in the top 10",
        protocol="2 people like 10 foods each, and each liking is told in 5 wordings on other days; asked which foods a person likes; beside it "
        "the ten nearest by cosine alone.",
        band=(Above("different facts", "dense"),),
        matters=("curation", "event_ordering"),
        sets=("everything",),
        run=run,
        measures=Measures(answers=True),
    ),
)
