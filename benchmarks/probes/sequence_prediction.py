"""Sequence prediction: after a sequence was told three times, an item leads to the one after it
rather than to the one before it.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, MoreThan, Numbers, Probe, mean
from .harness.life import MINUTE, SECOND, Life
from .stimuli import Stimuli, sentence

LENGTH, TIMES, OTHERS = 8, 3, 24
HALF: Final = 0.5


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("sequence_prediction", seed)
    texts = [sentence(fact) for fact in s.facts(LENGTH + OTHERS)]
    mine, others = texts[:LENGTH], texts[LENGTH:]
    ids: list[set[str]] = [set() for _ in mine]
    for i in range(TIMES):
        for place, id in enumerate(life.tell_all(mine, apart=20 * SECOND)):
            ids[place].add(id)
        life.wait(30 * MINUTE)
        life.tell_all(others[i::TIMES], apart=MINUTE)
        life.wait(30 * MINUTE)
    ranks = [
        [life.rank(mine[i], ids[j]) if abs(i - j) == 1 else 0.0 for j in range(LENGTH)]
        for i in range(1, LENGTH - 1)
    ]
    pairs = [(row[i + 1], row[i - 1]) for i, row in enumerate(ranks, 1)]
    return {
        "next before previous": sum(after < before for after, before in pairs) / len(pairs),
        "reciprocal rank of next": sum(1 / after for after, _ in pairs) / len(pairs),
        "reciprocal rank of previous": sum(1 / before for _, before in pairs) / len(pairs),
        "lead of next": mean(
            [life.lead(mine[i], ids[i + 1], ids[i - 1]) for i in range(1, LENGTH - 1)]
        ),
    }


PROBES = (
    Probe(
        id="sequence_prediction/order",
        capability="An item of a known sequence leads to the next item, not to the previous one.",
        source="bi1998synaptic",
        place="direction of learnt transitions; check SR-5",
        unit="share of items",
        protocol="A sequence of 8 facts, 20 s apart, told three times with 24 other facts between; each inner item is asked for, and the ranks of its "
        "two neighbours are compared. Chance: one half.",
        band=(MoreThan("next before previous", HALF),),
        matters=("titans_memory", "spike_timing_plasticity", "temporal_context"),
        sets=("default", "waking", "everything"),
        run=run,
        also=("lead of next",),
        measures=Measures(answers=True),
    ),
)
