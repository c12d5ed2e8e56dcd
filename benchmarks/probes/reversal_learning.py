"""Reversal: an old association is weakened while a new one with the same cue is learnt
(Hasselmo, Bodelon & Wyble 2002).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import MINUTE, SECOND, Life
from .stimuli import WORDS, Stimuli

CUES, ROUNDS = 6, 3
NEAR: Final = 2 * SECOND


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("reversal_learning", seed)
    words = s.draw(WORDS, 3 * CUES)
    a, b, c = words[:CUES], words[CUES : 2 * CUES], words[2 * CUES :]
    ids: dict[str, set[str]] = {word: set() for word in words}
    for word in s.shuffled(words):  # every word is known before
        ids[word].add(life.tell(word, at=life.now + 10 * MINUTE))
    numbers: dict[str, float] = {}
    for phase, partners in (("A-B", b), ("A-C", c)):
        life.wait(1.0)
        for _ in range(ROUNDS):
            for i in s.rng.permutation(CUES).tolist():
                for word in (a[i], partners[i]):
                    ids[word].add(life.tell(word))
                    life.wait(NEAR)
                life.wait(MINUTE)
        life.wait(1.0)
        for name, side in (("B", b), ("C", c)):
            numbers[f"{name} after {phase}"] = mean(
                [life.margin(cue, ids[word]) for cue, word in zip(a, side, strict=True)]
            )
    return numbers


PROBES = (
    Probe(
        id="reversal_learning/ab_ac",
        capability="Of two words that were studied with a cue, the new one comes up and the old one less than before.",
        source="hasselmo2002proposed",
        place="reversal of prior learning; check ACH-2",
        unit="sd of the others' scores, margin of the partner",
        protocol="18 words told one by one; then 6 of them with a partner each in three rounds, 2 s apart, then with another partner; after each "
        "phase the cue is asked for, and the margins of both partners are measured.",
        band=(
            Above("B after A-B", "B after A-C"),
            Above("C after A-C", "C after A-B"),
            Above("C after A-C", "B after A-C"),
        ),
        matters=("acetylcholine", "oscillatory_clock", "hebbian_association", "temporal_context"),
        sets=("everything",),
        run=run,
        measures=Measures(answers=True),
    ),
)
