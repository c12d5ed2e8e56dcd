"""Role and filler: who did what to whom is told apart among all permutations of the same words."""

from __future__ import annotations

from itertools import permutations
from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, Within, mean
from .harness.life import MINUTE, Life
from .stimuli import NAMES, Stimuli

TRIPLES: Final = 5


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("role_filler", seed)
    names = s.draw(NAMES, 3 * TRIPLES)
    facts = [order for i in range(TRIPLES) for order in permutations(names[3 * i : 3 * i + 3])]
    ids = {}
    for i in s.rng.permutation(len(facts)):
        who, what, whom = facts[i]
        ids[facts[i]] = life.tell(f"{who} introduced {what} to {whom}.", at=life.now + 5 * MINUTE)
    life.wait(1.0)
    asked = [
        (f"Was {what} introduced to {whom} by {who}?", ids[who, what, whom])
        for who, what, whom in facts
    ]
    return {
        "hit@1": sum(life.hit(text, id, 1) for text, id in asked) / len(asked),
        "dense": sum(life.dense_hit(text, id, 1) for text, id in asked) / len(asked),
        "chance": 1.0 / 6.0,
        "lead": mean(
            [
                life.lead(text, id, [ids[order] for order in permutations(fact) if order != fact])
                for (text, id), fact in zip(asked, facts, strict=True)
            ]
        ),
    }


PROBES = (
    Probe(
        id="role_filler/permutations",
        capability="Sentences with the same words in other roles are told apart.",
        source="kanerva2009hyperdimensional",
        place="role-filler binding; checks HD-5 and HD-8",
        unit="share of questions",
        protocol="5 triples of names, each in all 6 orders of 'A introduced B to C'; asked 'Was B introduced to C by A?', so that the "
        "order of the names does not say who is who. Chance: one of the 6.",
        band=(Within("hit@1", low=0.8), Above("hit@1", "dense")),
        matters=("hyperdimensional_binding",),
        sets=("everything",),
        run=run,
        also=("lead",),
        measures=Measures(answers=True),
    ),
)
