"""Equal texts: of two memories that match a question alike, the younger one and the one that was
used come first (Anderson & Schooler 1991).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, MoreThan, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import NAMES, OBJECTS, PLACES, Stimuli

PAIRS: Final = 10  # of one age, and of two ages
USES: Final = 3
HALF: Final = 0.5


def run(life: Life, seed: int) -> Numbers:
    s, numbers = Stimuli("equal_texts", seed), dict[str, float]()
    names, things = s.draw(NAMES, PAIRS), s.draw(OBJECTS, PAIRS)
    places = [s.draw(PLACES, 2) for _ in names]
    chosen = s.rng.integers(2, size=PAIRS).tolist()  # the one that is told last, or used
    texts = [
        [f"{name} carried the {thing} through the {place}." for place in two]
        for name, thing, two in zip(names, things, places, strict=True)
    ]
    for kind in ("younger", "used"):
        memory, ids = life.fresh(), dict[tuple[int, int], str]()
        days = (
            [[(i, place) for i in range(PAIRS) for place in (0, 1)], []]
            if kind == "used"
            else [[(i, 1 - place) for i, place in enumerate(chosen)], list(enumerate(chosen))]
        )
        for told in days:
            for j in s.rng.permutation(len(told)).tolist():
                i, place = told[j]
                ids[i, place] = memory.tell(texts[i][place], at=memory.now + MINUTE)
            memory.wait(DAY)
        for _ in range(USES * (kind == "used")):
            for i in range(PAIRS):
                memory.ask(texts[i][chosen[i]], k=1, learn=True)
                memory.wait(MINUTE)
        memory.wait(1.0)
        asked = [
            f"What did {name} do with the {thing}?"
            for name, thing in zip(names, things, strict=True)
        ]
        leads = [
            memory.lead(text, ids[i, chosen[i]], ids[i, 1 - chosen[i]])
            for i, text in enumerate(asked)
        ]
        numbers |= {
            f"{kind} first": mean(
                [(lead > 0) + HALF * (lead == 0) for lead in leads if lead == lead]
            ),
            f"lead of the {kind}": mean(leads),
        }
    return numbers


PROBES = (
    Probe(
        id="equal_texts/age_and_use",
        capability="Of two memories that match a question alike, the younger one comes first, and the one that was used.",
        source="anderson1991reflections",
        place="odds of need by recency and by frequency",
        unit="share of pairs; sd of all scores",
        protocol="10 pairs of sentences that differ in the place alone; told a day apart, or at one time and one of them recalled three times a day "
        "later; the question names no place. Chance: one half.",
        band=(MoreThan("younger first", HALF), MoreThan("used first", HALF)),
        matters=("recency", "heat", "base_level_activation"),
        sets=("default", "waking", "everything"),
        needs=frozenset({Need.LEARNING}),
        run=run,
        also=("lead of the younger", "lead of the used"),
        measures=Measures(answers=True, learns=True),
    ),
)
