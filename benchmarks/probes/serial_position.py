"""Serial position: the first and the last items of a list are recalled best; the last ones not
after a filled delay (Howard & Kahana 2002).
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from .harness.base import Above, Measures, NotBelow, Numbers, Probe
from .harness.life import MINUTE, SECOND, Life
from .stimuli import WORDS, Stimuli

LENGTH: Final = 16
LISTS: Final = 4
RECALLED: Final = 8
CUE: Final = "the words of the list"


def run(life: Life, seed: int, delayed: bool = False) -> Numbers:
    s = Stimuli("serial_position", seed)
    recalled = np.zeros(LENGTH)
    words = s.draw(WORDS, LISTS * LENGTH)
    for i in range(LISTS):
        memory, items = life.fresh(), words[i * LENGTH : (i + 1) * LENGTH]
        ids = memory.tell_all(items, apart=3 * SECOND)
        if delayed:
            memory.wait(3 * MINUTE)
            memory.tell_all(s.chatter(10), apart=3 * MINUTE)
        for id in memory.recall(CUE, RECALLED, among=ids):
            recalled[ids.index(id)] += 1.0 / LISTS
    return {
        "first 2": recalled[:2].mean(),
        "middle": recalled[2:-3].mean(),
        "last 3": recalled[-3:].mean(),
        **{f"position {i + 1}": value for i, value in enumerate(recalled.tolist())},
    }


def _probe(variant: str, delay: str, delayed: bool) -> Probe:
    last = NotBelow("middle", "last 3") if delayed else Above("last 3", "middle")
    return Probe(
        id=f"serial_position/{variant}",
        capability="The beginning and the end of a list are recalled better than its middle"
        f"{'; the end no longer after other talk' if delayed else ''}.",
        source="howard2002distributed",
        place="serial position curves",
        unit="share of lists",
        protocol=f"4 lists of 16 unrelated words, 3 s apart, {delay}; 8 steps of free recall from the cue {CUE!r}; p by position.",
        band=(Above("first 2", "middle"), last),
        matters=("temporal_context", "recency", "base_level_activation"),
        sets=("default", "waking", "everything"),
        run=partial(run, delayed=delayed),
        measures=Measures(answers=True),
    )


PROBES = (
    _probe("immediate", "recalled at once", False),
    _probe("delayed", "recalled after 30 min of other talk", True),
)
