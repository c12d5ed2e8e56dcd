"""Rapid reuse: a memory that was just used passes less on, until it has recovered (Tsodyks &
Markram 1997).
"""

from __future__ import annotations

from typing import Final

from ...engine.contract.vocabulary import RESOURCES
from .harness.base import Above, Measures, Numbers, Probe, Within, mean
from .harness.life import DAY, MINUTE, SECOND, Life, Need
from .stimuli import Stimuli, sentence

ITEMS, USED = 12, 4
DELAYS: Final = {"at once": 10 * SECOND, "after 20 min": 20 * MINUTE, "after a day": DAY}


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("rapid_reuse", seed)
    texts = [sentence(fact) for fact in s.facts(ITEMS)]
    ids = life.tell_all(texts, apart=10 * MINUTE)
    life.wait(DAY)
    for text in texts[:USED]:
        life.ask(text, k=1, learn=True)
        life.wait(SECOND)
    used, numbers = life.now, dict[str, float]()
    for name, delay in DELAYS.items():
        life.until(used + delay)
        life.ask(texts[0])
        numbers[name] = mean(life.of(RESOURCES, ids[:USED]))
        if name == "at once":
            numbers["not used"] = mean(life.of(RESOURCES, ids[USED:]))
    return numbers


PROBES = (
    Probe(
        id="rapid_reuse/recovery",
        capability="What was just used passes less on to its associates, and all of it again after a rest.",
        source="tsodyks1997neural",
        place="depression and recovery; checks 10.4 and 10.6",
        unit="1, RESOURCES",
        protocol="12 facts; a day later 4 of them are recalled; RESOURCES of these after 10 s, 20 min and a day, and of the others.",
        band=(
            Above("not used", "at once"),
            Above("after 20 min", "at once"),
            Within("after a day", low=0.993),
        ),
        matters=("short_term_plasticity",),
        sets=("night", "everything"),
        needs=frozenset({Need.COLUMNS, Need.LEARNING}),
        run=run,
        measures=Measures(columns=("resources",), answers=True, learns=True),
    ),
)
