"""Retrograde gradient: after the loss of the hippocampus, old memories are better preserved than
young ones (Squire & Alvarez 1995).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.instruments import lesion
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import Stimuli, sentence

DAYS: Final = (1, 10, 20, 29)
LESION: Final = 30
EACH: Final = 10


def run(life: Life, seed: int) -> Numbers:
    facts, numbers = (
        Stimuli("retrograde_gradient", seed).facts(len(DAYS) * EACH),
        dict[str, float](),
    )
    for name in ("lesion", "intact"):
        at = life.now + LESION * DAY
        memory = life.fresh(lesion(at)) if name == "lesion" else life.fresh()
        start, ids = memory.now, list[list[str]]()
        for i, day in enumerate(DAYS):
            ids.append(
                memory.tell_all(
                    [sentence(fact) for fact in facts[i * EACH : (i + 1) * EACH]],
                    apart=5 * MINUTE,
                    at=start + day * DAY,
                )
            )
        memory.until(at)
        memory.wait(1.0)
        numbers |= {
            f"{name}, day {day}": mean(memory.strength(of_day))
            for day, of_day in zip(DAYS, ids, strict=True)
        }
        for part, days in (("remote", ids[:2]), ("recent", ids[2:])):
            numbers[f"{name}, {part}"] = mean(
                memory.strength([id for of_day in days for id in of_day])
            )
    return numbers


PROBES = (
    Probe(
        id="retrograde_gradient/lesion",
        capability="Old memories survive the loss of the fast store, young ones do not.",
        source="squire1995retrograde",
        place="retrograde gradient; check 3.2",
        unit="ln, ACTIVATION + LOG_STRENGTH",
        protocol="10 facts on each of the days 1, 10, 20 and 29, with nights between; on day 30 each memory keeps the share that does not depend on the "
        "hippocampus. Remote: days 1 and 10; recent: days 20 and 29. A second life has no lesion.",
        band=(Above("lesion, remote", "lesion, recent"), Above("intact, recent", "intact, remote")),
        matters=("systems_transfer",),
        sets=("night", "everything"),
        needs=frozenset({Need.COLUMNS, Need.INSTRUMENTS, Need.SLEEP}),
        run=run,
        measures=Measures(columns=("activation", "log_strength")),
    ),
)
