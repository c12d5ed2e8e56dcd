"""Fusion: a memory that both words and meaning speak for comes before one that only one of them
speaks for; the answer depends on nothing else.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, Within, mean
from .harness.life import MINUTE, Life
from .stimuli import NAMES, OBJECTS, PLACES, Stimuli

CASES, FIRST = 10, 10
# the meaning of the question, hardly a word of it
ALIKE: Final = "{} stores {} belongings at some spot, as people do."
# words of the question, another meaning
WORDS: Final = "Keep in mind: the keeper of the {} does not keep {}."


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("fusion_identities", seed)
    names, things, places = s.draw(NAMES, CASES), s.draw(OBJECTS, CASES), s.draw(PLACES, CASES)
    told = [
        (kind, i, form.format(*words))
        for i in range(CASES)
        for kind, form, words in (
            ("both", "{} keeps the {} in the {}.", (names[i], things[i], places[i])),
            ("meaning", ALIKE, (names[i], "private")),
            ("words", WORDS, (things[i], names[i])),
        )
    ]
    at = life.now
    orders = (list(range(len(told))), s.rng.permutation(len(told)).tolist())
    answers = []

    def asked(memory: Life, kinds: dict[str, tuple[str, int]]) -> list[list[tuple[str, int]]]:
        return [
            [
                kinds[event.id]
                for event in memory.ask(f"Where does {name} keep the {thing}?", FIRST).events
                if event.id in kinds
            ]
            for name, thing in zip(names, things, strict=True)
        ]

    for order in orders:
        memory = life.fresh()
        ids = {told[j][:2]: memory.tell(told[j][2], at=at) for j in order}
        kinds = {id: key for key, id in ids.items()}
        memory.wait(MINUTE)
        answers.append((asked(memory, kinds), asked(memory, kinds)))
    (first, twice), (other, _) = answers
    top = [answer[:1] == [("both", i)] for i, answer in enumerate(first)]
    one_of = [answer[:1] in ([("words", i)], [("meaning", i)]) for i, answer in enumerate(first)]
    leads = [
        memory.lead(
            f"Where does {name} keep the {thing}?",
            ids["both", i],
            [ids["meaning", i], ids["words", i]],
        )
        for i, (name, thing) in enumerate(zip(names, things, strict=True))
    ]
    return {
        "both first": sum(top) / CASES,
        "lead of both": mean(leads),
        "one of them first": sum(one_of) / CASES,
        "same answer twice": sum(a == b for a, b in zip(first, twice, strict=True)) / CASES,
        "same first in another order of telling": sum(
            a[:1] == b[:1] for a, b in zip(first, other, strict=True)
        )
        / CASES,
    }


PROBES = (
    Probe(
        id="fusion_identities/agreement",
        capability="What both words and meaning speak for is first, whatever the order of telling, and again when asked again.",
        source="cormack2009reciprocal",
        place="agreement of lists; checks RR-3 and RR-5",
        unit="share of questions",
        protocol="10 questions; to each of them one memory with its words and its meaning, one with the words alone and one with the meaning alone, all "
        "told at one time, in two orders; each question is asked twice.",
        band=(
            Within("both first", low=0.9),
            Above("both first", "one of them first"),
            Within("same answer twice", low=1.0),
            Within("same first in another order of telling", low=0.9),
        ),
        matters=("convex_fusion", "weighted_rrf", "lexical_bm25", "dense_similarity"),
        sets=("hybrid", "default", "waking", "everything"),
        run=run,
        also=("lead of both",),
        measures=Measures(answers=True),
    ),
)
