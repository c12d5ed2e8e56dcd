"""Reward-modulated memory: what was followed by something good is stronger a day later."""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import Stimuli, sentence

EACH: Final = 10
REWARDS: Final = (
    "Wonderful, that was exactly right, thank you so much, I am delighted!",
    "Great news, it worked perfectly, we won, hooray!",
    "Excellent, this is the best result we ever had, I love it!",
    "Perfect, you saved the day, what a success!",
)
NEUTRAL: Final = (
    "Then the next person came in and sat down.",
    "After that the window was closed again.",
    "Then somebody looked at the list on the wall.",
    "After that the door was opened for a moment.",
)


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("reward_modulated_memory", seed)
    texts = [sentence(fact) for fact in s.facts(2 * EACH)]
    numbers: dict[str, list[float]] = {"rewarded": [], "neutral": []}
    for turn in range(2):  # the same items with the other outcome
        memory, ids = life.fresh(), list[str]()
        for i, text in enumerate(texts):
            ids.append(memory.tell(text, at=memory.now + 20 * MINUTE))
            outcomes = REWARDS if (i + turn) % 2 else NEUTRAL
            memory.tell(outcomes[i // 2 % len(outcomes)], at=memory.now + MINUTE / 2)
        memory.wait(DAY)
        strength = memory.strength(ids).tolist()
        for i, value in enumerate(strength):
            numbers["rewarded" if (i + turn) % 2 else "neutral"].append(value)
    return {kind: mean(values) for kind, values in numbers.items()}


PROBES = (
    Probe(
        id="reward_modulated_memory/after",
        capability="What was followed by a success is stronger a day later than what nothing special followed.",
        source="schultz1997neural",
        place="reward prediction errors",
        unit="ln, ACTIVATION + LOG_STRENGTH",
        protocol="20 facts 20 min apart, each followed after 30 s by delighted or by neutral words (counterbalanced over two lives); strength "
        "after 24 h.",
        band=(Above("rewarded", "neutral"),),
        matters=("dopamine",),
        sets=("waking", "everything"),
        needs=frozenset({Need.COLUMNS}),
        run=run,
        measures=Measures(columns=("activation", "log_strength")),
    ),
)
