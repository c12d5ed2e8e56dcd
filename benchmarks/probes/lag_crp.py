"""Contiguity across a distractor: free recall goes on to items told next to the last one, more often
forward (Kahana 1996), though other talk came between them.  Contiguity in lists without other talk
is measured by the experiments with people.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .harness.base import Above, Measures, Numbers, Probe, Ratio
from .harness.life import MINUTE, Life
from .stimuli import WORDS, Stimuli

LENGTH: Final = 16
LISTS: Final = 2
STEPS: Final = 5
LAGS: Final = range(-5, 6)


def run(life: Life, seed: int) -> Numbers:
    """Moves that are possible count by their chances, and one of them is drawn and made."""
    s, stream = Stimuli("lag_crp", seed), np.random.default_rng(seed)
    words = s.draw(WORDS, LISTS * LENGTH)
    moved, possible = np.zeros(2 * LENGTH - 1), np.zeros(2 * LENGTH - 1)
    for i in range(LISTS):
        memory, items = life.fresh(), words[i * LENGTH : (i + 1) * LENGTH]
        ids = told(memory, s, items)
        for start in range(LENGTH):
            here, left = start, [place for place in range(LENGTH) if place != start]
            for _ in range(STEPS):
                chances = memory.next_recalls(items[here], [ids[place] for place in left])
                lags = np.array(left) - here + LENGTH - 1
                moved[lags] += chances
                possible[lags] += 1
                here = left.pop(int(stream.choice(len(left), p=chances)))
    places = {lag: lag + LENGTH - 1 for lag in LAGS if lag}
    p = {lag: float(moved[place] / possible[place]) for lag, place in places.items()}
    near = {distance: (p[distance] + p[-distance]) / 2 for distance in (1, 2, 3)}
    return {
        "P(+1)": p[1],
        "P(-1)": p[-1],
        **{f"P(|{d}|)": near[d] for d in near},
        **{f"lag {lag:+d}": p[lag] for lag in p},
    }


def told(life: Life, s: Stimuli, items: list[str]) -> list[str]:
    """Ids of a list that is told with a sentence of other talk and 30 min between its items."""
    ids = []
    for item, other in zip(items, s.chatter(len(items)), strict=True):
        ids.append(life.tell(item))
        life.wait(15 * MINUTE)
        life.tell(other)
        life.wait(15 * MINUTE)
    return ids


PROBES = (
    Probe(
        id="lag_crp/distractor",
        capability="Recall of one thing leads to what was said next to it, more often forward than backward.",
        source="kahana1996associative",
        place="conditional response probability by lag; check TC-7",
        unit="probability",
        protocol="2 lists of 16 unrelated words, 30 min of other talk between them; from each word 5 steps of "
        "free recall, each drawn by the readout of the experiments with people at temperature 1; mean "
        "chance of the moves that are possible, by lag.",
        band=(
            Above("P(+1)", "P(-1)"),
            Ratio("P(+1)", "P(-1)", low=1.3, high=3.0),
            Above("P(|1|)", "P(|2|)"),
            Above("P(|2|)", "P(|3|)"),
        ),
        matters=("temporal_context",),
        bounds="1.5 to 2.0 in the 16 conditions of Pazdera & Kahana (2023), counted from the data that "
        "`human` compares with; the margin around them is ours",
        sets=("default", "waking", "everything"),
        run=run,
        measures=Measures(answers=True),
    ),
)
