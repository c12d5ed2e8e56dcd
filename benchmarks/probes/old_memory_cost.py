"""Cost of old memories: they are found as well after years as at first, and a tick costs no more
(Akers et al. 2014; Aimone et al. 2009).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, Numbers, Probe, Within, mean
from .harness.life import DAY, MINUTE, Life
from .stimuli import Stimuli, sentence

EACH, YEARS, TALK = 10, 3, 10
YEAR: Final = 365 * DAY


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("old_memory_cost", seed)
    facts = s.facts(EACH * (YEARS + 1))
    start, other, ids = life.now, iter(s.chatter(YEARS * TALK)), list[str]()
    for year in range(YEARS + 1):
        mine = facts[year * EACH : (year + 1) * EACH]
        ids += life.tell_all(
            [sentence(fact) for fact in mine], apart=10 * MINUTE, at=start + year * YEAR
        )
        for i in range(TALK if year < YEARS else 0):
            life.tell(next(other), at=start + (year + (i + 1) / (TALK + 1)) * YEAR)
    life.wait(1.0)
    ranks = [
        life.rank(f"Where does {name} keep the {thing}?", id)
        for (name, thing, _), id in zip(facts, ids, strict=True)
    ]
    numbers = {
        f"p, {YEARS - year} years old": mean(
            [float(rank <= 3) for rank in ranks[year * EACH : (year + 1) * EACH]]
        )
        for year in range(YEARS + 1)
    }
    memories = len(life.kept())
    return numbers | {
        "loss in 3 years": numbers["p, 0 years old"] - numbers["p, 3 years old"],
        "memories per event": memories / len(life.told),
    }


PROBES = (
    Probe(
        id="old_memory_cost/years",
        capability="A fact of three years ago is found as well as a new one, and the memory does not grow by itself.",
        source="akers2014hippocampal",
        place="forgetting by turnover; check 16.2",
        unit="share in the top 3; memories per event told",
        protocol="10 facts at the beginning of each of 3 years and at the end, 10 other sentences in between each year; each fact is asked for at the "
        "end. Memories that can be answered per event told stand for the cost of a tick, which is linear in them.",
        band=(
            Within("loss in 3 years", high=0.1),
            Within("p, 3 years old", low=0.8),
            Within("memories per event", high=1.1),
        ),
        matters=("neurogenesis", "recency", "heat"),
        sets=("waking", "everything"),
        run=run,
        measures=Measures(answers=True),
    ),
)
