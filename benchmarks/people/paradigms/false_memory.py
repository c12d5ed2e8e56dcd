"""False memory: a word whose associates were told is recalled although it was not told (Roediger &
McDermott 1995).
"""

from __future__ import annotations

from typing import Final

from ...probes.harness.life import DAY, SECOND
from .contract import Effect, Paradigm, ReadoutKind, SimulatedPerson, share
from .words import ASSOCIATES

HEARD: Final = 12  # words of a list in experiment 1


def run(subject: SimulatedPerson) -> None:
    for lure in subject.draws.shuffled(list(ASSOCIATES)):
        memory = subject.fresh()
        ids = memory.study(ASSOCIATES[lure][:HEARD], 1.5 * SECOND, session="list")
        memory.recall("studied", [{id} for id in ids], session="list")
        memory.life.wait(DAY)
        memory.recall("lure", [set(memory.units_with(lure, session="list"))], session="list")


PARADIGM: Final = Paradigm(
    id="false_memory",
    title="False memory",
    source="Roediger & McDermott 1995, https://doi.org/10.1037/0278-7393.21.4.803, experiment 1",
    read="second-hand: shares as generally quoted; errors are the greatest that 36 people can have",
    protocol="Six lists of 12 associates of a word, 1.5 s apart, are told, each to a memory, and asked "
    "for without words. The word itself is looked for in what the memory made of the list, after "
    "a night.",
    departures="People recalled at once. A memory gets a night, since it makes memories of its own in "
    "sleep alone.",
    kind=ReadoutKind.FREE,
    points=("studied", "lure"),
    printed={"studied": share(0.65, 36), "lure": share(0.40, 36)},
    effects=(Effect("the word that was not told is recalled", {"lure": 1.0}),),
    missing="A memory that answers with what it was told cannot recall what it was not told: it must "
    "write memories with words of its own.",
    run=run,
)
