"""Repetition suppression: the same message surprises less the second time (Rao & Ballard 1999)."""

from __future__ import annotations

from typing import Final

from ...engine.contract.vocabulary import SURPRISE
from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import MINUTE, Life, Need
from .stimuli import Stimuli, sentence

ITEMS, BEFORE = 15, 30
APART: Final = 5 * MINUTE


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("repetition_suppression", seed)
    texts = [sentence(fact) for fact in s.facts(ITEMS + BEFORE)]
    life.tell_all(texts[ITEMS:], apart=APART)
    first, second = list[float](), list[float]()
    for text in texts[:ITEMS]:
        for group in (first, second):
            life.tell(text, at=life.now + APART)
            group.append(float(life.column(SURPRISE).item()))
    return {"first": mean(first), "second": mean(second)}


PROBES = (
    Probe(
        id="repetition_suppression/text",
        capability="A message that was just told surprises less than a new one.",
        source="rao1999predictive",
        place="repetition suppression; check PC-7",
        unit="nats",
        protocol="30 facts; then 15 others, each told twice, 5 min apart; SURPRISE of the first and of the second.",
        band=(Above("first", "second"),),
        matters=("predictive_coding",),
        sets=("waking", "everything"),
        needs=frozenset({Need.COLUMNS}),
        run=run,
        measures=Measures(columns=("surprise",)),
    ),
)
