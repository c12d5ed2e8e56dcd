"""Distortion budget: a memory of little value is condensed, one of much value keeps its words
(Nagy et al. 2020).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...engine.contract.vocabulary import DETAIL
from .harness.base import Above, Measures, Numbers, Probe, Run, Within, mean
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import Stimuli, sentence

EACH, WEEKS = 8, 8
LONG: Final = " It stood there for a while, next to some other things that nobody needed, and later somebody moved it a little to the side."
TWICE: Final = " {0} put the {1} there, in the {2}, because the {2} has a dry corner and {0} wants the {1} to stay dry over the whole winter."


def value(life: Life, seed: int) -> Numbers:
    return _weeks(life, Stimuli("distortion_budget", seed), LONG)


def twice(life: Life, seed: int) -> Numbers:
    return _weeks(life, Stimuli("distortion_budget, twice", seed), TWICE)


def _weeks(life: Life, s: Stimuli, second: str) -> Numbers:
    texts = [sentence(fact) + second.format(*fact) for fact in s.facts(2 * EACH)]
    order = s.rng.permutation(2 * EACH).tolist()
    told = life.tell_all([texts[i] for i in order], apart=10 * MINUTE)
    ids = [told[order.index(i)] for i in range(2 * EACH)]
    first = life.of(DETAIL, ids)
    for _ in range(WEEKS):
        life.wait(7 * DAY)
        for text in texts[:EACH]:
            life.ask(text, k=1, learn=True)
            life.wait(MINUTE)
    forms = life.of(DETAIL, ids)
    return {
        "of value": mean(forms[:EACH]),
        "of little value": mean(forms[EACH:]),
        "at first": mean(first),
        "whole, of value": float(np.mean(forms[:EACH] == 0.0)),
    }


def _probe(variant: str, run: Run, told: str) -> Probe:
    return Probe(
        id=f"distortion_budget/{variant}",
        capability="After two months what was never used is condensed, and what was used every week is whole.",
        source="nagy2020optimal",
        place="rate and distortion; check 3.7",
        unit="DETAIL: 0 whole, 1 summary, 2 keywords",
        protocol=f"{told}; half of them recalled every week for 8 weeks; form in which each is shown.",
        band=(Above("of little value", "of value"), Within("whole, of value", low=0.8)),
        matters=("gist_compression",),
        sets=("night", "everything"),
        needs=frozenset({Need.COLUMNS, Need.LEARNING}),
        run=run,
        measures=Measures(columns=("detail",), answers=True, learns=True),
    )


PROBES = (
    _probe("value", value, "16 facts of two sentences"),
    _probe(
        "twice",
        twice,
        "16 facts, each said again by a second sentence that gives a reason, so that the first one can be left out",
    ),
)
