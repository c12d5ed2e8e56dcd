"""Part-list cueing: words of a list that are given as cues make the others harder to recall (Slamecka
1968).
"""

from __future__ import annotations

from typing import Final

from ...probes.harness.life import MINUTE, SECOND
from ...probes.stimuli import WORDS
from .contract import Effect, Paradigm, ReadoutKind, SimulatedPerson, difference

LENGTH, CUES = 30, 15


def run(subject: SimulatedPerson) -> None:
    words = subject.draws.draw(WORDS, LENGTH)
    given = subject.draws.draw(words, CUES)
    for point in ("cued", "free"):
        memory = subject.fresh()
        ids = dict(zip(words, memory.study(words, 3 * SECOND, session="list"), strict=True))
        memory.life.wait(MINUTE)
        if point == "cued":
            for word in given:
                memory.practise(word, session="list")
                memory.life.wait(2 * SECOND)
        else:
            memory.life.wait(CUES * 2 * SECOND)
        targets = [{id} for word, id in ids.items() if word not in given]
        said = {ids[word] for word in given} if point == "cued" else set()
        memory.recall(point, targets, session="list", said=said)


PARADIGM: Final = Paradigm(
    id="part_list",
    title="Part-list cueing",
    source="Slamecka 1968, https://doi.org/10.1037/h0025695",
    read="not read: only the sign is compared, as it is generally described",
    protocol="30 words, 3 s apart; a minute later 15 of them are recalled one after the other, 2 s "
    "apart, or as much time passes; then the list is asked for without words, and the 15 others are "
    "counted.",
    departures="A cue that people read is a word that the memory recalls.",
    kind=ReadoutKind.FREE,
    points=("free", "cued"),
    effects=(Effect("cues hurt the other words", difference(["free"], ["cued"])),),
    missing="Recall of some words must weaken the others, or move the context away from them.",
    matters=("retrieval_competition",),
    run=run,
)
