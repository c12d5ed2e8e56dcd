"""Fan effect: a fact is recognised the more slowly, the more facts share its person or its place
(Anderson 1974).
"""

from __future__ import annotations

from itertools import product
from typing import Final

from ...probes.harness.life import SECOND
from ...probes.stimuli import JOBS, PLACES
from .contract import Effect, Paradigm, Printed, ReadoutKind, SimulatedPerson, difference

FANS: Final = (1, 2, 3)
EACH: Final = 5  # persons, and places, of each fan
ERROR: Final = 0.03  # s
CELLS: Final = tuple((person, place) for place, person in product(FANS, FANS))
TIMES: Final = {  # s, of CELLS: three fans of the person at each fan of the place
    "fact": (1.11, 1.17, 1.22, 1.17, 1.20, 1.22, 1.15, 1.23, 1.36),
    "foil": (1.20, 1.22, 1.26, 1.25, 1.36, 1.29, 1.26, 1.47, 1.47),
}


def _point(kind: str, person: int, place: int) -> str:
    return f"{kind} {person}-{place}"


POINTS: Final = {
    _point(kind, *cell): time
    for kind, times in TIMES.items()
    for cell, time in zip(CELLS, times, strict=True)
}


def run(subject: SimulatedPerson) -> None:
    fans = [fan for fan in FANS for _ in range(EACH)]
    persons, places = (
        dict(zip(subject.draws.draw(pool, len(fans)), fans, strict=True)) for pool in (JOBS, PLACES)
    )
    pairs = _pairs(subject, persons, places)
    memory = subject.fresh()
    told = memory.study([f"The {a} is in the {b}." for a, b in pairs], 10 * SECOND)
    ids = dict(zip(pairs, told, strict=True))
    memory.life.wait(1.0)
    for (person, place), id in ids.items():
        memory.recall(
            _point("fact", persons[person], places[place]),
            [{id}],
            f"The {person} is in the {place}.",
        )
    unpaired = [pair for pair in product(persons, places) if pair not in ids]
    for cell in CELLS:
        foils = [p for p in unpaired if (persons[p[0]], places[p[1]]) == cell][:3]
        for person, place in foils:
            # a foil is rejected by the fact that comes to mind
            sharing = {id for pair, id in ids.items() if person in pair or place in pair}
            cue = f"The {person} is in the {place}."
            memory.recall(_point("foil", *cell), [sharing], cue)


def _pairs(
    subject: SimulatedPerson, persons: dict[str, int], places: dict[str, int]
) -> list[tuple[str, str]]:
    """Random pairs in which everyone and every place occurs as often as its fan, no pair twice, and
    every combination of fans occurs.
    """
    left, right = ([n for n, fan in fans.items() for _ in range(fan)] for fans in (persons, places))
    while True:
        pairs = list(zip(left, subject.draws.shuffled(right), strict=True))
        cells = {(persons[a], places[b]) for a, b in pairs}
        if len(set(pairs)) == len(pairs) and len(cells) == len(CELLS):
            return [pairs[i] for i in subject.draws.rng.permutation(len(pairs))]


def _fan(kind: str, axis: int, fan: int) -> list[str]:
    return [_point(kind, *cell) for cell in CELLS if cell[axis] == fan]


PARADIGM: Final = Paradigm(
    id="fan",
    title="Fan effect",
    source="Anderson 1974, https://doi.org/10.1016/0010-0285(74)90021-8",
    read="second-hand: recognition times as they are given with the tutorial of ACT-R; a standard "
    "error of 30 ms is assumed",
    protocol="30 facts 'The baker is in the park.', in which persons and places occur once, twice or "
    "three times; an hour later each fact, and foils of known persons and places, are asked for.",
    departures="People learnt the facts to a criterion. A foil has the time of the best fact that "
    "shares its person or its place.",
    kind=ReadoutKind.TIME,
    points=tuple(POINTS),
    printed={point: Printed(time, ERROR) for point, time in POINTS.items()},
    effects=(
        Effect(
            "slower with the fan of the person", difference(_fan("fact", 0, 3), _fan("fact", 0, 1))
        ),
        Effect(
            "slower with the fan of the place", difference(_fan("fact", 1, 3), _fan("fact", 1, 1))
        ),
        Effect(
            "foils are slower",
            difference([_point("foil", *c) for c in CELLS], [_point("fact", *c) for c in CELLS]),
        ),
    ),
    missing="Activation of a person or a place must be shared by its facts.",
    papers=("anderson1974retrieval",),
    matters=("spreading_activation",),
    run=run,
)
