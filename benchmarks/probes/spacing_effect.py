"""Spacing effect: two uses close together help soon after, two uses far apart help later (Pavlik
& Anderson 2005).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import DAY, SECOND, Life, Need
from .stimuli import Stimuli, sentence

ITEMS: Final = 10  # of each kind
OTHERS: Final = 48  # sentences of other talk on the day before
A_DAY: Final = 5
SESSION: Final = "list"
SOON, LATE = 10 * SECOND, 7 * DAY


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("spacing_effect", seed)
    facts = s.facts(2 * ITEMS)
    talk = s.talk()
    life.tell_all([next(talk) for _ in range(OTHERS)], apart=DAY / OTHERS, session="talk")
    life.wait(DAY / OTHERS)
    first = life.now
    spaced = life.tell_all(
        [sentence(fact) for fact in facts[:ITEMS]], apart=30 * SECOND, session=SESSION
    )
    massed, soon = list[str](), dict[str, list[float]]()
    for i in range(ITEMS):
        life.until(first + DAY + 2 * i * 30 * SECOND)
        for kind in ("massed", "spaced")[:: 1 if i % 2 else -1]:
            if kind == "massed":
                massed.append(life.tell(sentence(facts[ITEMS + i]), session=SESSION))
                life.wait(SOON)
            name, thing, _ = facts[i if kind == "spaced" else ITEMS + i]
            life.ask(f"{name}, {thing}", k=1, learn=True, session=SESSION)
            life.wait(SOON)
            id = spaced[i] if kind == "spaced" else massed[i]
            soon.setdefault(kind, []).append(float(life.recalled([id], SESSION)[0]))
    last = life.now
    for i in range(1, 7 * A_DAY):
        life.tell(next(talk), at=last + i * DAY / A_DAY, session="talk")
    life.until(last + LATE)
    late = life.recalled([*massed, *spaced], SESSION)
    return {
        "massed at 10 s": mean(soon["massed"]),
        "massed at 7 d": mean(late[:ITEMS]),
        "spaced at 10 s": mean(soon["spaced"]),
        "spaced at 7 d": mean(late[ITEMS:]),
    }


PROBES = (
    Probe(
        id="spacing_effect/crossover",
        capability="A repetition after a day holds longer than one after seconds, which helps recall more at first.",
        source="pavlik2005practice",
        place="two uses; check 6.8",
        unit="chance of recall",
        protocol="After a day of 48 sentences of other talk, 10 facts are told in a session; a day later each is recalled once by name and object, and between "
        "them 10 other facts are told in the session and recalled 10 s later. 10 s after its recall, and 7 d later with 5 sentences of other talk a day, a "
        "fact is asked for without words in the session; it is recalled with the chance R / (R + 1), R = exp(z), z its standardised final score among "
        "the 48 best.",
        band=(Above("massed at 10 s", "spaced at 10 s"), Above("spaced at 7 d", "massed at 7 d")),
        matters=("base_level_activation", "testing_effect"),
        sets=("default", "waking", "everything"),
        needs=frozenset({Need.LEARNING}),
        run=run,
        measures=Measures(answers=True, learns=True),
    ),
)
