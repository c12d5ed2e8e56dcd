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
RECALLED: Final = ""
WAYS: Final = (RECALLED, ", told again")  # of practice
SHARES: Final = {"practised": 0.74, "related": 0.38, "baseline": 0.49}  # after recall


def run(subject: SimulatedPerson) -> None:
    names = subject.draws.shuffled(list(CATEGORIES))[:USED]
    items = {name: subject.draws.shuffled(CATEGORIES[name])[: 2 * PRACTISED] for name in names}
    pairs = [(name, items[name][i]) for i in range(2 * PRACTISED) for name in names]
    # categories, and halves of them, change places
    for way, turn, half in product(WAYS, range(2), range(2)):
        memory, practised = subject.fresh(), names[turn::2]
        first = {name: items[name][half::2] for name in practised}
        told = memory.study([f"{name}: {item}" for name, item in pairs], 5 * SECOND)
        ids = {pair: {id} for pair, id in zip(pairs, told, strict=True)}
        for _ in range(ROUNDS):
            memory.life.wait(2 * MINUTE)
            for name in practised:
                for item in first[name]:
                    if way == RECALLED:
                        memory.practise(f"{name}: {item[:3]}")
                        memory.life.wait(5 * SECOND)
                    else:
                        ids[name, item].update(memory.study([f"{name}: {item}"], 5 * SECOND))
        memory.life.wait(20 * MINUTE)
        for name, item in pairs:
            kind = (
                "baseline"
                if name not in first
                else "practised"
                if item in first[name]
                else "related"
            )
            memory.recall(kind + way, [ids[name, item]], f"{name}: {item[:2]}")


PARADIGM: Final = Paradigm(
    id="induced_forgetting",
    title="Retrieval-induced forgetting",
    source="Anderson, Bjork & Bjork 1994, https://doi.org/10.1037/0278-7393.20.5.1063, experiment 1",
    read="second-hand: shares as generally quoted; errors are the greatest that 36 people can have",
    protocol="8 categories of 6 words are told as pairs; half of the words of half of the categories "
    "are recalled three times by category and three letters, or told again as often; 20 min later each "
    "word is asked for by category and two letters. Counterbalanced over four memories each.",
    departures="People were asked for a category's words in any order, without letters. Other "
    "experiments compared recall with telling again, and only recall hurt the relatives; none of their numbers was read.",
    kind=ReadoutKind.CUED,
    points=tuple(kind + way for way in WAYS for kind in SHARES),
    printed={kind: share(value, 36) for kind, value in SHARES.items()},
    effects=(
        Effect("practice helps", difference(["practised"], ["baseline"])),
        Effect("practice hurts its relatives", difference(["baseline"], ["related"])),
        Effect(
            "more than telling again does",
            {"baseline": 1.0, "related": -1.0}
            | {"baseline, told again": -1.0, "related, told again": 1.0},
        ),
    ),
    missing="Recall must weaken what competed, or strengthen its winner so that it blocks its "
    "relatives; what is told again must strengthen one memory instead of adding one that competes.",
    papers=("anderson1994remembering",),
    matters=("retrieval_competition",),
    run=run,
)
