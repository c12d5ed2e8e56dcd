"""Directed forgetting: a list that is to be forgotten is recalled worse, and the next one better
(list method; Geiselman, Bjork & Fishman 1983).
"""

from __future__ import annotations

from typing import Final

from ...probes.harness.life import MINUTE, SECOND
from ...probes.stimuli import WORDS
from .contract import Effect, Paradigm, ReadoutKind, SimulatedPerson, difference

LENGTH: Final = 16
SAID: Final = {
    "forget": "Forget that first list, it was only for practice. Here comes the real list.",
    "remember": "Keep that first list in mind. Here comes the second half.",
}
POINTS: Final = tuple(f"list {n}, {told}" for n in (1, 2) for told in SAID)


def run(subject: SimulatedPerson) -> None:
    words = subject.draws.draw(WORDS, 2 * LENGTH)
    for told, sentence in SAID.items():
        memory = subject.fresh()
        lists = {1: memory.study(words[:LENGTH], 4 * SECOND, session="list 1")}
        memory.life.tell(sentence, session="list 1")
        memory.life.wait(10 * SECOND)
        lists[2] = memory.study(words[LENGTH:], 4 * SECOND, session="list 2")
        memory.life.wait(2 * MINUTE)
        for n, ids in lists.items():
            memory.recall(f"list {n}, {told}", [{id} for id in ids], session=f"list {n}")


PARADIGM: Final = Paradigm(
    id="directed_forgetting",
    title="Directed forgetting",
    source="Geiselman, Bjork & Fishman 1983, https://doi.org/10.1037/0096-3445.112.1.58; first "
    "Bjork, LaBerge & Legrand 1968, https://doi.org/10.3758/BF03331404",
    read="not read: only the signs are compared, as they are generally described for the list method",
    protocol="A list of 16 words, 4 s apart; a sentence says to forget it or to keep it in mind; a second "
    "list; 2 min later each list is asked for without words, in its session.",
    departures="Both lists are asked for in the same order; nothing is asked in between. People of "
    "1983 heard one list of 48 words with the instruction in its middle, and were to learn every "
    "other word; those of 1968 saw groups of consonants, of which the second alone was asked for.",
    kind=ReadoutKind.FREE,
    points=POINTS,
    effects=(
        Effect(
            "the list to be forgotten suffers", difference(["list 1, remember"], ["list 1, forget"])
        ),
        Effect("the next list gains", difference(["list 2, forget"], ["list 2, remember"])),
    ),
    missing="An instruction about memory must act on what was told before it.",
    run=run,
)
