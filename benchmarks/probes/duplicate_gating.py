"""Duplicate gating: what is repeated word for word is not stored again; new facts and
corrections are.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, Numbers, Probe, Within
from .harness.life import MINUTE, Life
from .stimuli import PLACES, Stimuli, sentence

FACTS, REPEATS, CORRECTIONS, LIVES = 50, 20, 20, 2  # of each life
APART: Final = 10 * MINUTE


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("duplicate_gating", seed)
    refused: dict[str, list[bool]] = {"repeats": [], "facts": [], "corrections": []}
    for _ in range(LIVES):
        memory, facts = life.fresh(), s.facts(FACTS)
        ids = memory.tell_all([sentence(fact) for fact in facts], apart=APART)
        chosen = s.rng.permutation(FACTS).tolist()
        later = [("repeats", i) for i in chosen[:REPEATS]] + [
            ("corrections", i) for i in chosen[REPEATS : REPEATS + CORRECTIONS]
        ]
        new: dict[tuple[str, int], str] = {}
        for n in s.rng.permutation(len(later)):
            kind, i = later[n]
            name, thing, place = facts[i]
            other = s.draw([p for p in PLACES if p != place], 1)[0]
            text = (
                sentence(facts[i])
                if kind == "repeats"
                else f"Sorry, I was wrong: {name} keeps the {thing} in the {other}."
            )
            new[kind, i] = memory.tell(text, at=memory.now + APART)
        kept = memory.kept()
        refused["repeats"] += [
            len({ids[i], new["repeats", i]} & kept) < 2 for kind, i in new if kind == "repeats"
        ]
        refused["corrections"] += [
            id not in kept for (kind, _), id in new.items() if kind == "corrections"
        ]
        refused["facts"] += [ids[i] not in kept for i in chosen[REPEATS + CORRECTIONS :]]
    return {f"refused {kind}": sum(refusals) / len(refusals) for kind, refusals in refused.items()}


PROBES = (
    Probe(
        id="duplicate_gating/stream",
        capability="A repetition adds no second memory; what is new or corrects something is kept.",
        source="",
        place="labelled stream",
        unit="share",
        protocol="2 streams of 50 facts, then 20 of them repeated word for word and 20 corrected, 10 min apart. Refused: a repetition of which one copy "
        "can be retrieved; a fact or a correction that cannot be retrieved.",
        band=(
            Within("refused repeats", low=0.8),
            Within("refused facts", high=0.1),
            Within("refused corrections", high=0.1),
        ),
        matters=("write_gate_true_memory", "write_gate_cortex", "predictive_coding", "curation"),
        sets=("everything",),
        of_gates=True,
        run=run,
        measures=Measures(answers=True),
    ),
)
