"""Selectivity: associations onto a memory grow less easily, the more it was active (Bienenstock,
Cooper & Munro 1982).
"""

from __future__ import annotations

from ...engine.contract.vocabulary import MODIFIABILITY
from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import Stimuli, sentence

EACH, DAYS = 8, 5


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("selectivity", seed)
    texts = [sentence(fact) for fact in s.facts(2 * EACH)]
    order = s.rng.permutation(2 * EACH).tolist()
    told = life.tell_all([texts[i] for i in order], apart=10 * MINUTE)
    ids = [told[order.index(i)] for i in range(2 * EACH)]
    for _ in range(DAYS):
        life.wait(DAY)
        for text in texts[:EACH]:
            life.ask(text, k=1, learn=True)
            life.wait(MINUTE)
    modifiability = life.of(MODIFIABILITY, ids)
    return {"often active": mean(modifiability[:EACH]), "seldom active": mean(modifiability[EACH:])}


PROBES = (
    Probe(
        id="selectivity/modifiability",
        capability="What was active often is changed less by new associations than what was seldom active.",
        source="bienenstock1982theory",
        place="sliding threshold; check 8.6",
        unit="1, MODIFIABILITY",
        protocol="16 facts; half of them recalled on each of 5 days; MODIFIABILITY of each half after the last recall.",
        band=(Above("seldom active", "often active"),),
        matters=("bcm_metaplasticity",),
        sets=("night", "everything"),
        needs=frozenset({Need.COLUMNS, Need.LEARNING}),
        run=run,
        measures=Measures(columns=("modifiability",), answers=True, learns=True),
    ),
)
