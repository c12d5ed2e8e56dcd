"""Evidence for consolidation_cascade_printed: the rules of Cortex 4.2.1, and the checks of
Fusi's cascade run on its stages.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import CONGRUENCY, LOG_STRENGTH, PLASTICITY, REPLAYS, SALIENCE
from ..checks import Measured, adaptation, mutant, signature
from ..figures import Curve, Picture, figure
from ..memory import encode, memory_of, neighbour
from . import consolidation_cascade as paper
from .shared.scripts import marking
from .shared.tellings import as_happened, tell

RATE = -math.log(0.95)
NEVER = math.nan


def lived(
    specimen: Any,
    *looks: tuple[float, int],
    importance: float = 0.5,
    dopamine: float = 1.0,
    congruent: bool = False,
    scale: float = 1.0,
) -> Any:
    """Start of each stage, for a memory created at 0 h; looks: (h, replays so far) of each
    evaluation.
    """
    entered = np.array([0.0, NEVER, NEVER, NEVER])
    specimen.advance(0.0, dopamine, importance, 0, False, scale, entered)
    for at, replays in looks:
        specimen.advance(at, 0.0, importance, replays, congruent, scale, entered)
    return np.nan_to_num(entered, nan=-1.0)


def heat(specimen: Any, entered: Any, *times: float) -> Any:
    return np.array(
        [
            math.exp(specimen.log_heat(t, np.where(entered < 0.0, NEVER, entered), RATE))
            for t in times
        ]
    )


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "CCP-1", source="Cortex 4.2.1: advancement criteria, by hand", atol=0.0, papers=("cortex2026",)
)
def stages_are_left_on_the_printed_conditions(specimen: Any) -> Any:
    cases = [((0, 1.0, 0.6, 9, True), False), ((0, 1.01, 0.0, 0, False), True), ((0, 0.0, 0.61, 0,
        False), True), ((1, 9.0, 0.7, 0, True), False),
             ((1, 0.0, 0.71, 0, False), True), ((1, 0.0, 0.0, 1, False), True), ((2, 9.0, 1.0, 2,
             False), False), ((2, 0.0, 0.0, 3, False), True),
             ((2, 0.0, 0.0, 1, True), True), ((2, 0.0, 0.0, 0, True), False), ((3, 9.0, 1.0, 9,
             True), False)]  # fmt: skip
    return [int(specimen.goes_on(*given)) for given, _ in cases], [int(want) for _, want in cases]


@adaptation(
    "CCP-2",
    source="Cortex 4.2.1: 0-1 h, 1-6 h, 6-24 h, above 24 h",
    atol=1e-9,
    papers=("cortex2026",),
)
def stages_last_as_printed_and_wait_for_their_conditions(specimen: Any) -> Any:
    return np.concatenate(
        [
            lived(specimen, (0.5, 3), importance=0.9),
            lived(specimen, (30.0, 1), (54.0, 3), importance=0.65),
            lived(specimen, (30.0, 1), importance=0.65, congruent=True),
            lived(specimen, (30.0, 9)),
            lived(specimen, dopamine=1.5, scale=2.0),
        ]
    ), [0, 1, 6, 24, 0, 1, 30, 54, 0, 1, 30, 48, 0, -1, -1, -1, 0, 2, -1, -1]


@adaptation(
    "CCP-5",
    source="Cortex 4.2.1, by hand: replays count over all nights, so one in each of three consolidates",
    papers=("cortex2026",),
)
def replays_add_up_over_nights(specimen: Any) -> Any:
    def judge(view: Any, incoming: Any) -> None:
        view.salience = 0.65

    def dream(view: Any, tick: Any) -> None:
        view.replays[0] = 1

    memory, stages = (
        memory_of(
            specimen,
            neighbour(Phase.ENCODE, judge, sets=(SALIENCE,), id="judge"),
            neighbour(Phase.CONSOLIDATE, dream, sets=(REPLAYS,), id="dreamer"),
        ),
        [],
    )
    encode(memory, (0.0, "the boat"))
    for night in range(1, 4):
        memory.advance(24.0 * night)
        stages.append(int(np.isfinite(memory.column(specimen.STAGE_ENTERED)[0]).sum()))
    return stages, [3, 3, 4]


# when each event is told and when it happened, h; its salience, dopamine and fit with a schema; its
# replays in each of three nights; and by hand, when its stages begin
LIVES = (
    (0.0, 0.0, 0.65, 1.0, 0.9, (0, 1, 0), (0.0, 1.0, 48.0, 66.0)),
    (2.0, 2.0, 0.75, 1.0, 0.2, (0, 0, 3), (2.0, 3.0, 8.0, 72.0)),
    (5.0, 5.0, 0.4, 1.2, 0.2, (0, 0, 0), (5.0, 6.0)),
    (6.0, 6.0, 0.5, 1.0, 1.0, (2, 2, 2), (6.0,)),
    (30.0, 3.0, 0.9, 1.0, 0.5, (0, 1, 1), (30.0, 31.0, 36.0)),
)


def heat_in_memory(specimen: Any, scale: float) -> tuple[Any, Any]:
    """Stages and strength of some lives in a memory, and by hand in hours of the source."""
    lives = iter(LIVES)

    def judge(view: Any, incoming: Any) -> None:
        _, _, view.salience, view.plasticity, *_ = next(lives)

    def dream(view: Any, tick: Any) -> None:
        night = round(tick.end / scale / 24.0) - 1
        for row in range(len(view.replays)):
            view.replays[row] = LIVES[row][5][night]

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, judge, sets=(SALIENCE, PLASTICITY), id="judge"),
        marking(CONGRUENCY, [life[4] for life in LIVES]),
        neighbour(Phase.CONSOLIDATE, dream, sets=(REPLAYS,), id="dreamer"),
        time_scale=scale,
        consolidate_every=24.0 * scale,
        decay_factor=0.9,
        congruent=0.5,
    )
    for i, (told, happened, *_) in enumerate(LIVES):
        tell(memory, told * scale, Event(happened * scale, f"event {i}", dated=False))
    memory.advance(72.0 * scale)
    measured = (memory.column(specimen.STAGE_ENTERED) / scale).ravel().tolist()
    expected = [at for *_, begins in LIVES for at in (*begins, *[-1.0] * (4 - len(begins)))]
    for now in (73.0, 75.5):
        memory.advance(now * scale)
        measured += memory.column(LOG_STRENGTH).tolist()
        for *_, begins in LIVES:
            ends = [*begins[1:], now]
            spent = [factor * (end - begin) for factor, begin, end in zip(
                (2.0, 1.2, 0.8, 0.5), begins, ends, strict=False)]  # fmt: skip
            floor = (0.0, 0.0, 0.05, 0.1)[len(begins) - 1]
            expected.append(max(sum(spent) * math.log(0.9), math.log(floor) if floor else -np.inf))
    return np.nan_to_num(measured, nan=-1.0), expected


@adaptation(
    "CCP-6",
    source="Cortex 4.2.1, by hand: five lives in a memory, one of an event that happened before it was told",
    atol=1e-9,
    papers=("cortex2026",),
)
def in_a_memory_stages_begin_and_heat_decays_as_printed(specimen: Any) -> Any:
    return heat_in_memory(specimen, 1.0)


@adaptation("CCP-6b", source="as CCP-6 with hours that last two", atol=1e-9)
def at_another_time_scale_stages_last_longer(specimen: Any) -> Any:
    return heat_in_memory(specimen, 2.0)


@adaptation(
    "CCP-3",
    source="Cortex 4.2.1: multipliers 2.0, 1.2, 0.8, 0.5; heat as lambda^t",
    atol=1e-12,
    papers=("cortex2026",),
)
def heat_decays_by_stage(specimen: Any) -> Any:
    entered = np.array([0.0, 1.0, 6.0, 24.0])
    return heat(specimen, entered, 0.5, 1.0, 6.0, 10.0, 30.0), 0.95 ** np.array(
        [1.0, 2.0, 8.0, 11.2, 2.0 + 6.0 + 14.4 + 3.0]
    )


@adaptation(
    "CCP-4", source="Cortex 4.2.1: floors 0, 0, 0.05, 0.10", atol=1e-12, papers=("cortex2026",)
)
def heat_stops_at_the_floor_of_its_stage(specimen: Any) -> Any:
    return [
        heat(specimen, np.array(e), 1e5)[0]
        for e in ([0, -1, -1, -1], [0, 1, -1, -1], [0, 1, 6, -1], [0, 1, 6, 24])
    ], [0.0, 0.0, 0.05, 0.10]


# --- the paper's checks ---------------------------------------------------------------------------
stationary = paper.the_uniform_occupancy_is_stationary
initial_signal = paper.the_initial_signal_is_two_over_n


@signature(
    "CM-1.4",
    source=f"{paper.FUSI}: forgetting by the 3/4 power of time; hours for events, 30 to 300",
    atol=0.05,
    figure="heat",
    papers=("fusi2005cascade",),
)
def heat_falls_by_the_three_quarter_power(specimen: Any) -> Any:
    early, late = heat(specimen, lived(specimen, importance=0.65), 30.0, 300.0)
    return math.log(late / early) / math.log(10.0), -0.75


@signature(
    "CM-1.4c",
    source="straight in log and log, not in log and linear",
    figure="heat",
    papers=("fusi2005cascade",),
)
def heat_passes_the_test_of_a_power_law(specimen: Any) -> Any:
    times = np.arange(10.0, 301.0, 10.0)
    y = np.log(heat(specimen, lived(specimen, importance=0.65), *times))
    return bool(paper.fit(np.log(times), y) > paper.fit(times, y))


@signature(
    "CM-1.9",
    source="Bahrick 1984: a well-trained item stays, one seen once fades; no common floor",
    figure="heat",
    papers=("bahrick1984semantic",),
)
def a_memory_trained_often_stays_and_one_seen_once_fades(specimen: Any) -> Any:
    nights = [(24.0 * k, 3 * k) for k in range(1, 40)]
    trained, thrice, once = (
        heat(specimen, e, 90_000.0)[0]
        for e in (
            lived(specimen, *nights, importance=0.8),
            lived(specimen, (24.0, 3), importance=0.8),
            lived(specimen, importance=0.8),
        )
    )
    return Measured(
        [trained, thrice, once],
        "falling, the last near 0",
        bool(trained > thrice > once and once < 0.01),
    )


# --- figures --------------------------------------------------------------------------------------
@figure(
    "heat",
    caption="Printed heat falls exponentially to the floor of its stage; the cascade that it cites falls with the 3/4 power of time",
    source="Cortex 4.2.1; 3/4 power of Fusi, Drew & Abbott 2005",
)
def printed_heat_over_time(specimen: Any) -> Picture:
    times, nights = np.geomspace(1.0, 1000.0, 80), [(24.0 * k, 3 * k) for k in range(1, 40)]
    lives = (
        ("seen once", lived(specimen, importance=0.65)),
        ("replayed every night", lived(specimen, *nights, importance=0.8)),
    )
    return Picture(
        "time since the memory was stored, h",
        "heat",
        (
            *(
                Curve(label, times, np.where(y > 1e-4, y, np.nan))
                for label, e in lives
                for y in (heat(specimen, e, *times),)
            ),
            Curve("3/4 power, by events", times, times**-0.75),
        ),
        log="xy",
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("two replays are enough", rejected_by="CCP-1")
def two_replays(specimen: Any) -> Any:
    return specimen.replacing(
        "goes_on",
        lambda stage, d, i, r, c: (
            d > 1.0 or i > 0.6,
            r >= 1 or i > 0.7,
            r >= 2 or (r >= 1 and c),
            False,
        )[stage],
    )


@mutant("replays of one night alone count", rejected_by="CCP-5")
def last_night(specimen: Any) -> Any:
    original = specimen.ConsolidationCascadePrinted.sleep

    def sleep(self: Any, view: Any, tick: Any) -> None:
        view.replayed_so_far[...] = 0
        original(self, view, tick)

    return specimen.overriding("ConsolidationCascadePrinted", sleep=sleep)


@mutant("stages by age alone", rejected_by="CCP-2")
def clock_alone(specimen: Any) -> Any:
    def advance(
        now: float,
        dopamine: float,
        importance: float,
        replays: int,
        congruent: bool,
        scale: float,
        entered: Any,
    ) -> None:
        entered[:] = scale * np.array([0.0, 1.0, 6.0, 24.0])

    return specimen.replacing("advance", advance)


@mutant("one floor for all stages", rejected_by="CCP-4")
def one_floor(specimen: Any) -> Any:
    return specimen.replacing("FLOOR", np.full(4, 0.1))


@mutant("multipliers in reverse", rejected_by="CCP-3")
def reverse(specimen: Any) -> Any:
    return specimen.replacing("MULTIPLIER", np.array([0.5, 0.8, 1.2, 2.0]))


@mutant("heat decays at its rate of an hour at any time scale", rejected_by="CCP-6b")
def unscaled(specimen: Any) -> Any:
    original = specimen.heats
    return specimen.replacing(
        "heats", lambda now, entered, rate, out: original(now, entered, -math.log(0.9), out)
    )


@mutant("heat at the start of a tick", rejected_by="CCP-6")
def at_the_start(specimen: Any) -> Any:
    original = specimen.heats
    return specimen.replacing(
        "heats", lambda now, entered, rate, out: original(now - 1.0, entered, rate, out)
    )


@mutant("dopamine of an event counts in its nights, too", rejected_by="CCP-6")
def lasting_dopamine(specimen: Any) -> Any:
    original = specimen.goes_on
    return specimen.replacing(
        "goes_on",
        lambda stage, d, i, r, c: bool(original(stage, d, i, r, c) or (stage == 0 and d == 0.0)),
    )


@mutant("a fit at the bound is congruent", rejected_by="CCP-6")
def at_the_bound(specimen: Any) -> Any:
    original = specimen.slept
    return specimen.replacing(
        "slept",
        lambda now, importance, replayed, fit, congruent, scale, entered: original(
            now, importance, replayed, fit, congruent - 1e-9, scale, entered
        ),
    )


@mutant("stages count from when an event happened", rejected_by="CCP-6")
def from_the_event(specimen: Any) -> Any:
    return as_happened(specimen, "ConsolidationCascadePrinted", "encode")
