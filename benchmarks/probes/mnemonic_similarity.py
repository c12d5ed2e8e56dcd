"""Mnemonic similarity: lures are told from what is old, the better the less alike they are
(Yassa & Stark 2011).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...engine.contract.vocabulary import DUPLICATE
from .harness.base import Above, Measures, Numbers, Probe
from .harness.life import MINUTE, Life, Need
from .stimuli import FOODS, JOBS, NAMES, OBJECTS, PLACES, Stimuli

POOLS: Final = (NAMES, OBJECTS, FOODS, PLACES, JOBS)
SENTENCE: Final = "{} carried the {} and the {} from the {} to the {}."
BINS: Final = (1, 2, 3, 4, 5)  # words of five that are changed
EACH: Final = 7


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("mnemonic_similarity", seed)
    kinds = ["old", *(f"bin {b}" for b in BINS), "new"]
    studied = [
        [pool[int(s.rng.integers(len(pool)))] for pool in POOLS]
        for _ in range(EACH * (len(BINS) + 1))
    ]
    ids = life.tell_all([SENTENCE.format(*words) for words in studied], apart=2 * MINUTE)
    tests = [
        (
            kind,
            _changed(s, studied[i * EACH + j], i)
            if i <= len(BINS)
            else [pool[int(s.rng.integers(len(pool)))] for pool in POOLS],
        )
        for i, kind in enumerate(kinds)
        for j in range(EACH)
    ]
    said, near = dict.fromkeys(kinds, 0.0), list[tuple[str, float]]()
    for n in s.rng.permutation(len(tests)):
        kind, words = tests[n]
        text = SENTENCE.format(*words)
        near.append((kind, float(life.cosines(text, ids).max())))
        life.tell(text, at=life.now + 2 * MINUTE)
        said[kind] += float(life.column(DUPLICATE).item()) < 0.0
    criterion = np.sort([cosine for _, cosine in near])[
        max(0, min(len(near) - 1, int(sum(said.values()))))
    ]
    dense = {kind: sum(cosine < criterion for k, cosine in near if k == kind) for kind in kinds}
    return {
        **{f"LDI {b}": (said[f"bin {b}"] - said["old"]) / EACH for b in BINS},
        **{f"dense LDI {b}": (dense[f"bin {b}"] - dense["old"]) / EACH for b in BINS},
        "new given old": said["old"] / EACH,
        "new given new": said["new"] / EACH,
    }


def _changed(s: Stimuli, words: list[str], n: int) -> list[str]:
    """The words with n of them replaced by others of their pools."""
    made = list(words)
    for i in s.rng.choice(len(words), n, replace=False):
        made[i] = s.draw([word for word in POOLS[i] if word != words[i]], 1)[0]
    return made


PROBES = (
    Probe(
        id="mnemonic_similarity/bins",
        capability="What resembles a memory is told from it, better than by similarity alone.",
        source="yassa2011pattern",
        place="lure discrimination index over similarity bins; check 7.3",
        unit="difference of shares called new",
        protocol="42 sentences of five changeable words; then 7 old ones, 7 lures with 1, 2, 3, 4 and 5 words changed, 7 new ones. Called new: DUPLICATE "
        "names no memory. LDI: share of lures called new less that of old ones. Dense: the nearest cosine under a criterion with as many 'new'.",
        band=(Above("LDI 5", "LDI 1"), Above("LDI 3", "LDI 1"), Above("LDI 3", "dense LDI 3")),
        matters=("pattern_separation", "pattern_completion_threshold", "predictive_coding"),
        sets=("everything",),
        needs=frozenset({Need.COLUMNS}),
        run=run,
        measures=Measures(columns=("duplicate",)),
    ),
)
