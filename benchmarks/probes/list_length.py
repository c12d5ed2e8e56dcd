"""List length: the longer a list, the smaller the chance to recall each of its items
(Raaijmakers & Shiffrin 1981).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import SECOND, Life
from .stimuli import NAMES, OBJECTS, PLACES, Stimuli, sentence

LENGTHS: Final = (10, 20, 30)
OTHERS: Final = 25
CUES: Final = 5  # different objects of a list; each is the cue of several items


def run(life: Life, seed: int) -> Numbers:
    s, numbers = Stimuli("list_length", seed), dict[str, float]()
    things, names, places = (
        s.draw(OBJECTS, len(OBJECTS)),
        s.draw(NAMES, max(LENGTHS)),
        s.draw(PLACES, max(LENGTHS)),
    )
    mine = [
        (name, things[i % CUES], place)
        for i, (name, place) in enumerate(zip(names, places, strict=True))
    ]
    others = [sentence(fact) for fact in s.facts(len(OBJECTS)) if fact[1] not in things[:CUES]][
        :OTHERS
    ]
    for length in LENGTHS:
        memory = life.fresh()
        memory.tell_all(others, apart=10 * SECOND)
        memory.wait(1.0)
        ids = memory.tell_all([sentence(fact) for fact in mine[:length]], apart=10 * SECOND)
        numbers[f"p of {length}"] = (
            sum(
                memory.hit(f"Who keeps the {thing}?", id)
                for (_, thing, _), id in zip(mine, ids, strict=False)
            )
            / length
        )
        numbers[f"margin of {length}"] = mean(
            [
                memory.margin(f"Who keeps the {thing}?", id)
                for (_, thing, _), id in zip(mine, ids, strict=False)
            ]
        )
    return numbers


PROBES = (
    Probe(
        id="list_length/sam",
        capability="Each item of a long list is harder to recall than one of a short list.",
        source="raaijmakers1981search",
        place="list-length effect; check SAM-3",
        unit="share of items in the top 3",
        protocol="Lists of 10, 20 and 30 facts about the same 5 objects after 25 others; each item is asked for with its object.",
        band=(Above("p of 10", "p of 20"), Above("p of 20", "p of 30")),
        matters=("sampling_recovery",),
        sets=("naive_rag", "waking", "everything"),
        run=run,
        also=("margin of 10", "margin of 30"),
        measures=Measures(answers=True),
    ),
)
