"""Predictive recall: an item of a known sequence leads to what comes two steps later, not to
what came two steps earlier.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, MoreThan, Numbers, Probe, mean
from .harness.life import MINUTE, SECOND, Life, Need
from .stimuli import Stimuli, sentence

LENGTH, ROUNDS, OTHERS = 8, 3, 24
HALF: Final = 0.5


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("predictive_recall", seed)
    texts = [sentence(fact) for fact in s.facts(LENGTH + OTHERS)]
    # told in another order than that of the walks
    mine, order = texts[:LENGTH], s.rng.permutation(LENGTH).tolist()
    told = life.tell_all([mine[i] for i in order] + texts[LENGTH:], apart=10 * MINUTE)
    ids = [told[order.index(i)] for i in range(LENGTH)]
    for _ in range(ROUNDS):
        life.wait(1.0)
        for text in mine:
            life.ask(text, k=1, learn=True, session="walk")
            life.wait(20 * SECOND)
    life.wait(1.0)
    numbers = {}
    for steps in (1, 2):
        inner = range(steps, LENGTH - steps)
        pairs = [
            (life.rank(mine[i], ids[i + steps]), life.rank(mine[i], ids[i - steps])) for i in inner
        ]
        numbers[f"{steps} ahead before {steps} back"] = sum(
            ahead < back for ahead, back in pairs
        ) / len(pairs)
        numbers[f"lead of {steps} ahead"] = mean(
            [life.lead(mine[i], ids[i + steps], ids[i - steps]) for i in inner]
        )
    return numbers


PROBES = (
    Probe(
        id="predictive_recall/order",
        capability="Memories that were recalled one after the other lead to what comes next, one and two steps ahead.",
        source="stachenfeld2017hippocampus",
        place="successor representation; check SR-5",
        unit="share of items",
        protocol="32 facts; 8 of them recalled in one order three times, 20 s apart, in one conversation, which is not the order of telling; for each "
        "inner item the rank of the one 1 or 2 steps ahead is compared with that of the one as many steps back. Chance: one half.",
        band=(MoreThan("1 ahead before 1 back", HALF), MoreThan("2 ahead before 2 back", HALF)),
        matters=("successor_representation",),
        sets=("waking", "everything"),
        needs=frozenset({Need.LEARNING}),
        run=run,
        also=("lead of 1 ahead", "lead of 2 ahead"),
        measures=Measures(answers=True, learns=True),
    ),
)
