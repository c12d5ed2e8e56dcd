"""Reverse replay: a path is replayed backwards after a reward at its end, forwards before it is
run again (Diba & Buzsaki 2007).
"""

from __future__ import annotations

from typing import Final

from ...engine.contract.vocabulary import REPLAYED
from .harness.base import Above, Measures, Numbers, Probe
from .harness.life import MINUTE, SECOND, Life, Need
from .stimuli import Stimuli, sentence

LENGTH, OTHERS = 8, 12
EVENING: Final = 21.0  # o'clock
REWARD: Final = "Wonderful, we made it, what a great success, I am so happy, thank you all!"


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("reverse_replay", seed)
    texts = [sentence(fact) for fact in s.facts(LENGTH + OTHERS)]
    path, others = texts[:LENGTH], texts[LENGTH:]
    numbers: dict[str, float] = {}
    for name in ("reward", "run"):
        memory = life.fresh()
        memory.tell_all(others, apart=20 * MINUTE)
        start = memory.now + (EVENING - memory.now % 24.0)
        ids = memory.tell_all(path, apart=20 * SECOND, at=start)
        if name == "reward":
            memory.tell(REWARD, at=memory.now + 20 * SECOND)
        else:
            # the path is a day old when its start is visited again
            memory.sleep()
            memory.until(start + 24.0)
            memory.ask(path[0], k=1, learn=True)
        memory.sleep()
        steps = _steps(memory, ids)
        numbers[f"forward, {name}"] = float(sum(step == 1 for step in steps))
        numbers[f"reverse, {name}"] = float(sum(step == -1 for step in steps))
    return numbers


def _steps(life: Life, ids: list[str]) -> list[int]:
    """Places moved along the path by each replayed step of the last sleep between two of its
    items.
    """
    engine, rows = life.engine, life.column(REPLAYED)
    if engine is None:
        return []
    place = {engine.event_log.row(id): i for i, id in enumerate(ids)}
    return [place[b] - place[a] for a, b in rows.tolist() if a in place and b in place and a >= 0]


PROBES = (
    Probe(
        id="reverse_replay/reward",
        capability="A path is replayed backwards after a reward at its end and forwards before it is run again.",
        source="diba2007forward",
        place="forward and reverse replay; checks 2.2 and 2.5",
        unit="replayed steps of one sleep",
        protocol="A path of 8 facts told in the evening, 20 s apart, then delighted words and a sleep. In a second life no such words; a day later the "
        "first fact is recalled before the sleep. Steps between neighbours of the path that are replayed in each direction.",
        band=(Above("reverse, reward", "forward, reward"), Above("forward, run", "reverse, run")),
        matters=("sleep_replay", "successor_representation"),
        sets=("night", "everything"),
        needs=frozenset({Need.COLUMNS, Need.LEARNING, Need.SLEEP}),
        run=run,
        measures=Measures(
            columns=("replayed", "sleep_end", "sleep_onset"), answers=True, learns=True, whole=True
        ),
    ),
)
