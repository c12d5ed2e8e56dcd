"""Adjacent answers: a reply that does not say what it is about is found through the question
that it answered.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, SECOND, Life
from .stimuli import NAMES, OBJECTS, PLACES, Stimuli, sentence

PAIRS, OTHERS = 10, 30
FIRST: Final = 3


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("adjacent_answer", seed)
    things, places, (asker, replier) = (
        s.draw(OBJECTS, 2 * PAIRS),
        s.draw(PLACES, 2 * PAIRS),
        s.draw(NAMES, 2),
    )
    others = [sentence(fact) for fact in s.facts(2 * OTHERS) if fact[1] not in things][:OTHERS]
    replies = [f"I think somebody left it in the {place}." for place in places]
    ids: dict[int, str] = {}
    for i in range(2 * PAIRS):
        # after the last ones nobody asks
        told = f"Where did the {things[i]} go?" if i < PAIRS else f"I like the {things[i]}."
        for text in others[i :: 2 * PAIRS]:
            life.tell(text, asker, f"day {i}", at=life.now + MINUTE)
        life.tell(told, asker, f"day {i}", at=life.now + MINUTE)
        ids[i] = life.tell(replies[i], replier, f"day {i}", at=life.now + 10 * SECOND)
        life.wait(DAY / 4)
    numbers = {}
    for name, rows in (("asked", range(PAIRS)), ("not asked", range(PAIRS, 2 * PAIRS))):
        questions = [f"Where is the {things[i]}?" for i in rows]
        numbers[name] = (
            sum(life.hit(text, ids[i], FIRST) for text, i in zip(questions, rows, strict=True))
            / PAIRS
        )
        numbers[f"margin, {name}"] = mean(
            [life.margin(text, ids[i]) for text, i in zip(questions, rows, strict=True)]
        )
    return numbers


PROBES = (
    Probe(
        id="adjacent_answer/pairs",
        capability="A reply that does not say what it is about is found through the question that it answered.",
        source="",
        place="an experiment of ours",
        unit="share of replies in the top 3; sd of the others' scores",
        protocol="10 questions after a thing, each answered by another speaker who does not name it, and 10 replies of the same form after a "
        "remark about a thing, among 30 other facts, 6 h apart; each thing is asked for.",
        band=(Above("asked", "not asked"),),
        matters=("adjacency_pairs", "temporal_context"),
        sets=("everything",),
        run=run,
        also=("margin, asked",),
        measures=Measures(answers=True),
    ),
)
