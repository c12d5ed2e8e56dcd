"""Release from proactive interference: recall of three words falls over trials of one category, and
recovers with another category (Wickens, Born & Allen 1963).
"""

from __future__ import annotations

from typing import Final

from ...probes.harness.life import SECOND
from .contract import Effect, Kind, Paradigm, Subject, difference
from .words import CATEGORIES

WORDS: Final = 3  # of a trial
POINTS: Final = ("trial 1", "trial 2", "trial 3", "trial 4, same", "trial 4, other")


def run(subject: Subject) -> None:
    usable = [name for name, members in CATEGORIES.items() if len(members) >= 3 * WORDS]
    names = subject.draws.shuffled(usable)
    for shifted in (False, True):
        memory, category, other = subject.fresh(), names[0], names[1]
        members = memory.draws.shuffled(CATEGORIES[category])
        lists = [members[n * WORDS : (n + 1) * WORDS] for n in range(3)]
        last = other if shifted else category
        left = CATEGORIES[other] if shifted else EXTRA[category]
        lists.append(memory.draws.shuffled(left)[:WORDS])
        for n, words in enumerate(lists):
            ids = memory.study(words, 2 * SECOND, session="words")
            memory.life.wait(20 * SECOND)
            point = POINTS[n] if n < 3 else POINTS[4 if shifted else 3]
            memory.recall(point, [set(ids)], last if n == 3 else category, session="words")
            memory.life.wait(10 * SECOND)


EXTRA: Final = {  # three more members of each
    name: tuple(words.split())
    for name, words in {
        "fruit": "pear peach fig",
        "tool": "rake pickaxe screwdriver",
        "bird": "stork gull pigeon",
        "metal": "steel brass bronze",
        "drink": "beer cocoa sherry",
        "tree": "beech pine fir",
        "fish": "carp tuna sardine",
        "cloth": "canvas tweed nylon",
        "profession": "tailor plumber waiter",
        "flower": "peony crocus lilac",
    }.items()
}


PARADIGM: Final = Paradigm(
    id="release",
    title="Release from proactive interference",
    source="Wickens, Born & Allen 1963, https://doi.org/10.1016/S0022-5371(63)80045-6",
    read="not read: only the signs are compared, as they are generally described",
    protocol="Four trials of three words of a category, 2 s apart, 20 s later asked for by the name of "
    "the category; the words of the fourth trial are of the same or of another category.",
    departures="The category is named in the question, the counting is time alone, and a draw is one "
    "word of the three.",
    kind=Kind.CUED,
    points=POINTS,
    effects=(
        Effect("interference builds up", difference(["trial 1"], ["trial 3"])),
        Effect("another category releases", difference(["trial 4, other"], ["trial 4, same"])),
    ),
    missing="Words of one category must compete for its name.",
    run=run,
)
