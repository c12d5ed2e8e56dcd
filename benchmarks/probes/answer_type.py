"""Types of answers: of memories about one thing, a question finds the one that holds a time, a
quantity or a name, as it asks.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, MoreThan, Numbers, Probe, mean
from .harness.life import MINUTE, Life
from .stimuli import NAMES, PLACES, Stimuli

CASES: Final = 10
MONTHS: Final = ("January", "March", "April", "June", "July", "August", "September", "October",
                 "November", "December")  # fmt: skip
NUMBERS: Final = ("three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
                  "twelve")  # fmt: skip
SAID: Final = {
    "when": "{0} was at the {1} in {2} 2024.",
    "how many": "{0} was at the {1} {3} times.",
    "who": "{0} was at the {1} beside {4}.",
    "other": "{0} was at the {1} again.",
}
ASKED: Final = {
    "when": "When was {0} at the {1}?",
    "how many": "How many times was {0} at the {1}?",
    "who": "Who was at the {1} with {0}?",
}


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("answer_type", seed)
    names, places = s.draw(NAMES, 2 * CASES), s.draw(PLACES, CASES)
    words = list(
        zip(
            names,
            places,
            s.draw(MONTHS, CASES),
            s.draw(NUMBERS, CASES),
            names[CASES:],
            strict=False,
        )
    )
    told = [(kind, i) for kind in SAID for i in range(CASES)]
    ids = {}
    for j in s.rng.permutation(len(told)).tolist():
        kind, i = told[j]
        ids[kind, i] = life.tell(SAID[kind].format(*words[i]), at=life.now + 5 * MINUTE)
    life.wait(1.0)
    leads = {
        kind: [
            life.lead(
                text.format(*words[i]),
                ids[kind, i],
                [ids[other, i] for other in SAID if other != kind],
            )
            for i in range(CASES)
        ]
        for kind, text in ASKED.items()
    }
    first = [lead > 0 for of_kind in leads.values() for lead in of_kind if lead == lead]
    return {
        "right one first": mean(first),
        "lead": mean([mean(of_kind) for of_kind in leads.values()]),
        **{f"lead, {kind}": mean(of_kind) for kind, of_kind in leads.items()},
    }


PROBES = (
    Probe(
        id="answer_type/kinds",
        capability="A question that asks when, how many or who finds the memory that says so, of several about one thing.",
        source="",
        place="an experiment of ours",
        unit="share of questions; sd of all scores",
        protocol="10 people at 10 places, of each of whom four sentences are told: with a month, a number, another person and none of them; asked when, "
        "how many times and who. Chance: one of the 4.",
        band=(MoreThan("right one first", 1.0 / len(SAID)),),
        matters=("answer_type", "late_interaction_rerank"),
        sets=("default", "waking", "everything"),
        run=run,
        also=("lead",),
        measures=Measures(answers=True),
    ),
)
