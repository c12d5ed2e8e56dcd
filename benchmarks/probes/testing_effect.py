"""Testing effect: recall helps later recall more than reading again, except soon after (Roediger
& Karpicke 2006).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, NotBelow, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, SECOND, Life, Need
from .stimuli import Stimuli, sentence

ITEMS: Final = 16  # each of restudied, recalled and untouched ones
DELAYS: Final = {"5 min": 5 * MINUTE, "2 d": 2 * DAY, "7 d": 7 * DAY}


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("testing_effect", seed)
    facts = s.facts(3 * ITEMS)
    texts = [sentence(fact) for fact in facts]
    cues = [f"{name}, {thing}" for name, thing, _ in facts]
    ways = ("restudy", "recall", "none")
    numbers: dict[tuple[str, str], list[float]] = {}
    for turn in range(2):  # restudied and recalled items change places
        memory = life.fresh()
        ids = [{id} for id in memory.tell_all(texts, apart=10 * SECOND)]
        memory.wait(5 * MINUTE)
        treated = {
            way: [3 * i + (place + turn) % 2 if place < 2 else 3 * i + 2 for i in range(ITEMS)]
            for place, way in enumerate(ways)
        }
        for recalled, again in zip(treated["recall"], treated["restudy"], strict=True):
            memory.ask(texts[recalled], k=1, learn=True)
            ids[again].add(memory.tell(texts[again], at=memory.now + 10 * SECOND))
        done = memory.now
        for delay, hours in DELAYS.items():
            memory.until(done + hours)
            for way in ways:
                numbers.setdefault((way, delay), []).extend(
                    memory.margin(cues[i], ids[i]) for i in treated[way]
                )
    return {f"{way} at {delay}": mean(values) for (way, delay), values in numbers.items()}


PROBES = (
    Probe(
        id="testing_effect/crossover",
        capability="What was recalled once is remembered better days later than what was read again.",
        source="roediger2006test",
        place="experiment 1; check TE-1",
        unit="standard deviations of the competitors' scores",
        protocol="48 facts; a third is told again, a third recalled once, a third untouched (counterbalanced over two lives); margin of each over all "
        "others, cued by name and object, after 5 min, 2 d and 7 d.",
        band=(
            NotBelow("restudy at 5 min", "recall at 5 min"),
            Above("recall at 2 d", "restudy at 2 d"),
            Above("recall at 7 d", "restudy at 7 d"),
        ),
        matters=("testing_effect", "base_level_activation"),
        sets=("default", "waking", "everything"),
        needs=frozenset({Need.LEARNING}),
        run=run,
        measures=Measures(answers=True, learns=True),
    ),
)
