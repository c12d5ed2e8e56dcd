"""Spacing effect: two uses close together help soon after, two uses far apart help later (Pavlik
& Anderson 2005).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import DAY, SECOND, Life, Need
from .stimuli import Stimuli, sentence

ITEMS: Final = 20
SOON, LATE = 10 * SECOND, 7 * DAY
LAGS: Final = {"massed": 10 * SECOND, "spaced": DAY}


def run(life: Life, seed: int) -> Numbers:
    texts = [sentence(fact) for fact in Stimuli("spacing_effect", seed).facts(ITEMS)]
    found: dict[str, float] = {}
    for name, lag in LAGS.items():
        one = life.fresh()
        ids = [one.tell(text, at=one.now + (SECOND if i else 0.0)) for i, text in enumerate(texts)]
        first, soon = one.now, list[float]()
        # used one after the other, half a minute apart
        for i, (text, id) in enumerate(zip(texts, ids, strict=True)):
            one.until(first + lag + i * 30 * SECOND)
            one.ask(text, k=1, learn=True)
            one.wait(SOON)
            soon.append(float(one.strength([id])[0]))
        last = one.now
        one.until(last + LATE)
        found |= {f"{name} at 10 s": mean(soon), f"{name} at 7 d": mean(one.strength(ids))}
    return found


PROBES = (
    Probe(
        id="spacing_effect/crossover",
        capability="A repetition after a day holds longer than one after seconds, which is stronger at first.",
        source="pavlik2005practice",
        place="two uses; check 6.8",
        unit="ln, ACTIVATION + LOG_STRENGTH",
        protocol="20 facts, each told and then recalled once, 10 s later or 24 h later; strength 10 s and 7 d after the recall.",
        band=(Above("massed at 10 s", "spaced at 10 s"), Above("spaced at 7 d", "massed at 7 d")),
        matters=("base_level_activation", "testing_effect"),
        sets=("default", "waking", "everything"),
        needs=frozenset({Need.COLUMNS, Need.LEARNING}),
        run=run,
        measures=Measures(columns=("activation", "log_strength"), answers=True, learns=True),
    ),
)
