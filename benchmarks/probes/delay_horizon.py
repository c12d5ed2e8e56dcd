"""Delay horizon: after much reward a memory looks further ahead along a known chain (Doya 2002;
Daw, Kakade & Dayan 2002).
"""

from __future__ import annotations

from typing import Final

from ...engine.contract.vocabulary import HORIZON
from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import MINUTE, SECOND, Life, Need
from .stimuli import Stimuli, sentence

LENGTH, ROUNDS, OTHERS, TALKS, LATER = 7, 3, 24, 40, 4
REWARDS: Final = (
    "Wonderful, it worked perfectly.",
    "Great news, we won again.",
    "What a success, I am so happy.",
    "Excellent, I love it, thanks.",
)
NEUTRAL: Final = (
    "Then the window was closed.",
    "After that the list was read.",
    "Then the next person came in.",
    "After that the door was opened.",
)


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("delay_horizon", seed)
    texts = [sentence(fact) for fact in s.facts(LENGTH + OTHERS)]
    mine, order = texts[:LENGTH], s.rng.permutation(LENGTH).tolist()
    numbers = {}
    for kind, said in (("rewarded", REWARDS), ("neutral", NEUTRAL)):
        memory = life.fresh()
        told = memory.tell_all([mine[i] for i in order] + texts[LENGTH:], apart=10 * MINUTE)
        ids = [told[order.index(i)] for i in range(LENGTH)]
        for _ in range(ROUNDS):
            memory.wait(1.0)
            for text in mine:
                memory.ask(text, k=1, learn=True)
                memory.wait(20 * SECOND)
        for i in range(TALKS):
            memory.tell(said[i % len(said)], at=memory.now + 5 * MINUTE)
        memory.wait(1.0)
        starts = range(LENGTH - LATER)
        numbers[f"later, {kind}"] = mean(
            [
                memory.margin(mine[i], ids[i + LATER]) - memory.margin(mine[i], ids[i + 1])
                for i in starts
            ]
        )
        numbers[f"horizon, {kind}"] = float(memory.column(HORIZON).item())
    return numbers


PROBES = (
    Probe(
        id="delay_horizon/choice",
        capability="After a long run of reward, what comes late in a known chain counts for more beside what comes next.",
        source="doya2002metalearning",
        place="choice between delays; check 5HT-2",
        unit="sd of the others' scores; 1",
        protocol="7 facts recalled in one order three times, among 24 others; then 40 delighted or 40 neutral sentences. Asked for an item: the margin "
        "of the one four steps ahead minus that of the next one, and HORIZON.",
        band=(
            Above("horizon, rewarded", "horizon, neutral"),
            Above("later, rewarded", "later, neutral"),
        ),
        matters=("serotonin", "successor_representation"),
        sets=("waking", "everything"),
        needs=frozenset({Need.COLUMNS, Need.LEARNING}),
        run=run,
        measures=Measures(columns=("horizon",), answers=True, learns=True),
    ),
)
