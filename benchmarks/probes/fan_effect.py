"""Fan effect: the more facts are known of a person or a place, the harder each of them is to
find (Anderson 1974).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import SECOND, Life
from .stimuli import JOBS, PLACES, Stimuli

FANS: Final = (1, 2, 3)
EACH: Final = 5  # persons, and places, of each fan


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("fan_effect", seed)
    fans = [fan for fan in FANS for _ in range(EACH)]
    persons, places = (
        dict(zip(s.draw(pool, len(fans)), fans, strict=True)) for pool in (JOBS, PLACES)
    )
    pairs = _pairs(s, persons, places)
    ids = life.tell_all(
        [f"The {person} is in the {place}." for person, place in pairs], apart=10 * SECOND
    )
    life.wait(1.0)
    margins = [
        life.margin(f"the {person} in the {place}", id)
        for (person, place), id in zip(pairs, ids, strict=True)
    ]
    kinds = (
        ("person", [persons[person] for person, _ in pairs]),
        ("place", [places[place] for _, place in pairs]),
    )
    return {
        f"{kind} fan {fan}": mean([m for m, own in zip(margins, fans, strict=True) if own == fan])
        for kind, fans in kinds
        for fan in FANS
    }


def _pairs(s: Stimuli, persons: dict[str, int], places: dict[str, int]) -> list[tuple[str, str]]:
    """Random pairs in which everyone and every place occurs as often as its fan, no pair twice."""
    left, right = (
        [name for name, fan in group.items() for _ in range(fan)] for group in (persons, places)
    )
    while True:
        pairs = list(zip(left, s.shuffled(right), strict=True))
        if len(set(pairs)) == len(pairs):
            return [pairs[i] for i in s.rng.permutation(len(pairs))]


PROBES = (
    Probe(
        id="fan_effect/person_place",
        capability="A fact is found less easily the more other facts share its person or its place.",
        source="anderson1974retrieval",
        place="recognition times by fan; check SA-2",
        unit="standard deviations of the competitors' scores",
        protocol="30 facts 'The baker is in the park'; each person and place occurs in 1, 2 or 3 of them; margin of the true fact.",
        band=tuple(
            Above(f"{kind} fan {a}", f"{kind} fan {b}")
            for kind in ("person", "place")
            for a, b in ((1, 2), (2, 3))
        ),
        matters=("spreading_activation",),
        sets=("everything",),
        run=run,
        measures=Measures(answers=True),
    ),
)
