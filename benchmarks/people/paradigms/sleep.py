"""Sleep: less is forgotten in hours asleep than in as many hours awake (Jenkins & Dallenbach 1924)."""

from __future__ import annotations

from typing import Final

from ...probes.harness.life import SECOND
from ...probes.stimuli import SYLLABLES
from .contract import Effect, Paradigm, ReadoutKind, SimulatedPerson, difference, share

LENGTH: Final = 10
DELAYS: Final = (1, 2, 4, 8)
BEGUN: Final = {"asleep": 23.0, "awake": 9.0}  # o'clock
AN_HOUR: Final = 4  # sentences of talk while awake
RECALLED: Final = {"asleep": (0.70, 0.54, 0.55, 0.56), "awake": (0.46, 0.31, 0.22, 0.09)}
POINTS: Final = {
    f"{state}, {delay} h": value
    for state, values in RECALLED.items()
    for delay, value in zip(DELAYS, values, strict=True)
}


def run(subject: SimulatedPerson) -> None:
    syllables = subject.draws.draw(SYLLABLES, LENGTH)
    for point in POINTS:
        state, after = point.split(", ")
        delay = float(after.split()[0])
        memory = subject.fresh()
        memory.life.wait(BEGUN[state] - BEGUN["awake"])  # it is nine o'clock
        ids = memory.study(syllables, SECOND, session="list")
        end = memory.life.now + delay
        if state == "awake":
            memory.talk(round(delay * AN_HOUR), 1.0 / AN_HOUR)
        memory.life.until(end)
        memory.recall(point, [{id} for id in ids], session="list")


PARADIGM: Final = Paradigm(
    id="sleep",
    title="Sleep against waking",
    source="Jenkins & Dallenbach 1924, https://doi.org/10.2307/1414040",
    read="second-hand: shares of ten syllables as generally quoted; errors are those of 16 lists a "
    "condition, of two people",
    protocol="10 syllables are told at nine in the morning or at eleven in the evening; 1, 2, 4 or 8 h "
    "later, with talk every quarter of an hour while awake, they are asked for without words.",
    departures="A list is told once; people learnt it to a criterion. Nobody is woken: the memory's "
    "own sleep ends when it does.",
    kind=ReadoutKind.FREE,
    points=tuple(POINTS),
    printed={point: share(value, 16) for point, value in POINTS.items()},
    effects=(
        Effect("sleep keeps more for 1 h", difference(["asleep, 1 h"], ["awake, 1 h"])),
        Effect("sleep keeps more for 8 h", difference(["asleep, 8 h"], ["awake, 8 h"])),
        Effect("forgotten while awake", difference(["awake, 1 h"], ["awake, 8 h"])),
        Effect(
            "the difference grows",
            {"asleep, 8 h": 1.0, "awake, 8 h": -1.0, "asleep, 1 h": -1.0, "awake, 1 h": 1.0},
        ),
    ),
    missing="Talk must interfere with what was learnt, or sleep strengthen it before it ends.",
    matters=("sleep_replay", "synaptic_renormalisation"),
    run=run,
)
