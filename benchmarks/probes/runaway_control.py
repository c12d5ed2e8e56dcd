"""Runaway control: memories that are driven every day do not grow without bound; a factor common
to a speaker keeps their order (Turrigiano 2008).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...engine.contract.vocabulary import LOG_STRENGTH
from .harness.base import Above, Measures, Numbers, Probe, Within
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import Stimuli, sentence

EACH, DAYS, DRIVEN = 10, 12, 5
SPEAKERS: Final = ("Ada", "Boris")


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("runaway_control", seed)
    facts = [sentence(fact) for fact in s.facts(2 * EACH)]
    ids = [
        life.tell(text, SPEAKERS[i // EACH], at=life.now + 10 * MINUTE)
        for i, text in enumerate(facts)
    ]
    before = life.of(LOG_STRENGTH, ids)
    for _ in range(DAYS):
        life.wait(DAY - DRIVEN * MINUTE)
        for text in facts[:DRIVEN]:
            life.ask(text, k=1, learn=True)
            life.wait(MINUTE)
    after = life.of(LOG_STRENGTH, ids)
    gain = after - before
    # untouched memories of the driven speaker against those of the other
    idle = gain[DRIVEN:EACH] - gain[EACH:].mean()
    spread = float(np.ptp(after[EACH:]) - np.ptp(before[EACH:]))
    return {
        "driven speaker": float(gain[:EACH].mean()),
        "idle speaker": float(gain[EACH:].mean()),
        "untouched beside driven": float(idle.mean()),
        "untouched": 0.0,
        "change of spread, idle speaker": spread,
    }


PROBES = (
    Probe(
        id="runaway_control/speakers",
        capability="If half of what a speaker said is recalled every day, the other half becomes weaker by a common factor.",
        source="turrigiano2008self",
        place="multiplicative scaling; checks 8.1 and 8.8",
        unit="ln, change of LOG_STRENGTH",
        protocol="10 facts of each of two speakers; 5 of the first one's are recalled every day for 12 days. Change of strength of the others of the "
        "same speaker beside that of the other speaker's.",
        band=(
            Above("untouched", "untouched beside driven"),
            Within("change of spread, idle speaker", -0.05, 0.05),
        ),
        matters=("homeostatic_scaling",),
        sets=("night", "everything"),
        needs=frozenset({Need.COLUMNS, Need.LEARNING}),
        run=run,
        measures=Measures(columns=("log_strength",), answers=True, learns=True),
    ),
)
