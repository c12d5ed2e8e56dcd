"""Pruning: associations that are not used are lost over weeks, those that are used stay (Wang et
al. 2020).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, NotBelow, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, SECOND, Life, Need
from .stimuli import WORDS, Stimuli

PAIRS, ROUNDS, DAYS, EVERY = 10, 3, 60, 4


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("pruning_selectivity", seed)
    words = s.draw(WORDS, 2 * PAIRS)
    pairs: Final = list(zip(words[::2], words[1::2], strict=True))
    ids: dict[str, set[str]] = {word: set() for word in words}
    for _ in range(ROUNDS):
        for i in s.rng.permutation(PAIRS).tolist():
            for word in pairs[i]:
                ids[word].add(life.tell(word))
                life.wait(2 * SECOND)
            life.wait(MINUTE)
        life.wait(1.0)
    used, unused = pairs[: PAIRS // 2], pairs[PAIRS // 2 :]
    life.wait(DAY)
    numbers = {
        f"{name}, day 1": _partner(life, of, ids)
        for name, of in (("used", used), ("unused", unused))
    }
    for _ in range(DAYS // EVERY):
        life.wait(EVERY * DAY)
        for a, b in used:
            life.ask(f"{a} {b}", k=2, learn=True)
            life.wait(MINUTE)
    life.wait(DAY)
    return numbers | {
        f"{name}, day 60": _partner(life, of, ids)
        for name, of in (("used", used), ("unused", unused))
    }


def _partner(life: Life, pairs: list[tuple[str, str]], ids: dict[str, set[str]]) -> float:
    return mean([life.margin(a, ids[b]) for a, b in pairs])


PROBES = (
    Probe(
        id="pruning_selectivity/weeks",
        capability="A word no longer brings up its partner if the pair was not used for two months; a pair in use stays.",
        source="wang2020microglia",
        place="activity-dependent forgetting; checks 11.4 and 11.6",
        unit="sd of the others' scores, margin of the partner",
        protocol="10 pairs of words, 2 s apart, in three rounds; half of the pairs are recalled together every 4 days for 60 days; margin of the partner "
        "on day 1 and after day 60.",
        band=(
            Above("unused, day 1", "unused, day 60"),
            NotBelow("used, day 60", "used, day 1"),
            Above("used, day 60", "unused, day 60"),
        ),
        matters=("microglial_pruning", "hebbian_association"),
        sets=("night", "everything"),
        needs=frozenset({Need.LEARNING}),
        run=run,
        measures=Measures(answers=True, learns=True),
    ),
)
