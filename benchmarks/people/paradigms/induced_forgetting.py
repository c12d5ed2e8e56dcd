"""Retrieval-induced forgetting: recall of some words of a category makes its other words harder to
recall (Anderson, Bjork & Bjork 1994).
"""

from __future__ import annotations

from itertools import product
from typing import Final

from ...probes.harness.life import MINUTE, SECOND
from .contract import Effect, Paradigm, ReadoutKind, SimulatedPerson, difference, share
from .words import CATEGORIES

USED, PRACTISED, ROUNDS = 8, 3, 3


def run(subject: SimulatedPerson) -> None:
    names = subject.draws.shuffled(list(CATEGORIES))[:USED]
    items = {name: subject.draws.shuffled(CATEGORIES[name])[: 2 * PRACTISED] for name in names}
    pairs = [(name, items[name][i]) for i in range(2 * PRACTISED) for name in names]
    for turn, half in product(range(2), range(2)):  # categories, and halves of them, change places
        memory, practised = subject.fresh(), names[turn::2]
        first = {name: items[name][half::2] for name in practised}
        told = memory.study([f"{name}: {item}" for name, item in pairs], 5 * SECOND)
        ids = dict(zip(pairs, told, strict=True))
        for _ in range(ROUNDS):
            memory.life.wait(2 * MINUTE)
            for name in practised:
                for item in first[name]:
                    memory.practise(f"{name}: {item[:3]}")
                    memory.life.wait(5 * SECOND)
        memory.life.wait(20 * MINUTE)
        for name, item in pairs:
            point = (
                "baseline"
                if name not in first
                else "practised"
                if item in first[name]
                else "related"
            )
            memory.recall(point, [{ids[name, item]}], f"{name}: {item[:2]}")


PARADIGM: Final = Paradigm(
    id="induced_forgetting",
    title="Retrieval-induced forgetting",
    source="Anderson, Bjork & Bjork 1994, https://doi.org/10.1037/0278-7393.20.5.1063, experiment 1",
    read="second-hand: shares as generally quoted; errors are the greatest that 36 people can have",
    protocol="8 categories of 6 words are told as pairs; half of the words of half of the categories "
    "are recalled three times by category and three letters; 20 min later each word is asked for by "
    "category and two letters. Counterbalanced over four memories.",
    departures="People were asked for a category's words in any order, without letters.",
    kind=ReadoutKind.CUED,
    points=("practised", "related", "baseline"),
    printed={"practised": share(0.74, 36), "related": share(0.38, 36), "baseline": share(0.49, 36)},
    effects=(
        Effect("practice helps", difference(["practised"], ["baseline"])),
        Effect("practice hurts its relatives", difference(["baseline"], ["related"])),
    ),
    missing="Recall must weaken what competed, or strengthen its winner so that it blocks its "
    "relatives.",
    run=run,
)
