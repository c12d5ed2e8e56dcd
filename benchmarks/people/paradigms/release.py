"""Release from proactive interference: recall of three words falls over trials of one category, and
recovers with another category (Wickens, Born & Allen 1963).
"""

from __future__ import annotations

from itertools import product
from typing import Final

from ...probes.harness.life import SECOND
from .contract import Effect, Paradigm, ReadoutKind, SimulatedPerson, difference
from .words import CATEGORIES

TRIALS, WORDS = 4, 3
POINTS: Final = ("trial 1", "trial 2", "trial 3", "trial 4, same", "trial 4, other")


def run(subject: SimulatedPerson) -> None:
    category, other = subject.draws.draw(list(CATEGORIES), 2)
    lists = {name: _lists(subject, name) for name in (category, other)}
    for before, first in product((category, other), range(TRIALS - 1)):
        memory = subject.fresh()
        for n in range(TRIALS):
            last = n == TRIALS - 1  # its words are the same in all memories
            name = category if last else before
            words = lists[name][n if last else (n + first) % (TRIALS - 1)]
            ids = memory.study(words, 2 * SECOND, session="words")
            memory.life.wait(20 * SECOND)
            if before == category or last:
                point = POINTS[n] if before == category else POINTS[-1]
                memory.recall(point, [set(ids)], name, session="words")
            memory.life.wait(10 * SECOND)


def _lists(subject: SimulatedPerson, category: str) -> list[list[str]]:
    members = subject.draws.shuffled(CATEGORIES[category])
    return [members[n * WORDS : (n + 1) * WORDS] for n in range(TRIALS)]


PARADIGM: Final = Paradigm(
    id="release",
    title="Release from proactive interference",
    source="Wickens, Born & Allen 1963, https://doi.org/10.1016/S0022-5371(63)80045-6",
    read="not read: only the signs are compared, as they are generally described",
    protocol="Four trials of three words of a category, 2 s apart, 20 s later asked for by the name of "
    "the category; the first three trials are of the category of the fourth or of another one. "
    "Their lists change places over memories.",
    departures="People of 1963 had three consonants or three digits; words of categories came "
    "later. The category is named in the question, the counting is time alone, and a draw is one "
    "word of the three.",
    kind=ReadoutKind.CUED,
    points=POINTS,
    effects=(
        Effect("interference builds up", difference(["trial 1"], ["trial 3"])),
        Effect("another category releases", difference(["trial 4, other"], ["trial 4, same"])),
    ),
    missing="Words of one category must compete for its name.",
    matters=("retrieval_competition",),
    run=run,
)
