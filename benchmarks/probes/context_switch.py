"""Context switch: a change of topic is noticed within a few events, later where topics are noisy
(Yu & Dayan 2005).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...engine.contract.vocabulary import CONTEXT_KEPT
from .harness.base import Measures, NotBelow, Numbers, Probe, Within, mean
from .harness.life import MINUTE, Life, Need
from .stimuli import FOODS, OBJECTS, Stimuli, sentence

OTHER, BEFORE, AFTER, LIVES = 30, 20, 12, 3
VALIDITIES: Final = (0.95, 0.8)  # share of events that are on the topic
COOKING: Final = (
    "I fried the {} in butter.",
    "The {} needs more salt.",
    "We boiled the {} for ten minutes.",
    "Serve the {} with lemon.",
    "The recipe calls for fresh {}.",
    "I chopped the {} for the soup.",
)
REPAIRS: Final = (
    "The {} has a loose screw.",
    "I glued the handle of the {}.",
    "The motor of the {} is broken.",
    "We ordered a spare part for the {}.",
    "I sanded and varnished the {}.",
    "The {} needs a new spring.",
)


def run(life: Life, seed: int) -> Numbers:
    s, numbers = Stimuli("context_switch", seed), dict[str, float]()
    for validity in VALIDITIES:
        trials = []
        for _ in range(LIVES):
            memory, foods, things = life.fresh(), s.shuffled(FOODS), s.shuffled(OBJECTS)
            valid = s.rng.random(BEFORE + AFTER) < validity
            valid[BEFORE] = True
            texts = [
                (
                    COOKING[int(s.rng.integers(len(COOKING)))].format(foods[i % len(foods)]),
                    REPAIRS[int(s.rng.integers(len(REPAIRS)))].format(things[i % len(things)]),
                )
                for i in range(BEFORE + AFTER)
            ]
            memory.tell_all(
                s.shuffled([*s.chatter(OTHER // 2), *map(sentence, s.facts(OTHER // 2))]),
                apart=MINUTE,
            )
            memory.tell_all(
                [texts[i][0 if valid[i] else 1] for i in range(BEFORE)],
                apart=MINUTE,
                at=memory.now + MINUTE,
            )
            for i in range(BEFORE, BEFORE + AFTER):
                memory.tell(texts[i][1 if valid[i] else 0], at=memory.now + MINUTE)
                if not float(memory.column(CONTEXT_KEPT).item()) >= 1.0:
                    trials.append(float(i - BEFORE + 1))
                    break
            else:
                trials.append(np.inf)
        numbers[f"events at {validity:g}"] = mean(trials)
        numbers[f"noticed at {validity:g}"] = float(np.mean(np.isfinite(trials)))
    return numbers


PROBES = (
    Probe(
        id="context_switch/trials",
        capability="A new topic is noticed within one to four events, and later if topics were mixed before.",
        source="yu2005uncertainty",
        place="unexpected uncertainty; check NE-4",
        unit="events until CONTEXT_KEPT is below 1",
        protocol="30 sentences about this and that, 20 about cooking, then repairs, with 5% or 20% of sentences about the other topic; 3 lives each; "
        "events after the change until the context is not kept, and the share of lives in which that happens at all.",
        band=(
            Within("events at 0.95", 1.0, 4.0),
            Within("events at 0.8", 1.0, 4.0),
            NotBelow("events at 0.8", "events at 0.95"),
        ),
        matters=("norepinephrine",),
        sets=("waking", "everything"),
        needs=frozenset({Need.COLUMNS}),
        run=run,
        also=tuple(f"noticed at {validity:g}" for validity in VALIDITIES),
        measures=Measures(columns=("context_kept",)),
    ),
)
