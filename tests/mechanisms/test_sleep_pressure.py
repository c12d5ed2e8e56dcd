"""sleep_pressure: compiled and plain kernels agree; through the engine, the times of sleep
depend neither on ticks nor on which events are stored.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Mechanism, Params, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import (
    CREATED,
    ROW,
    SLEEP_END,
    SLEEP_ONSET,
    SLEEP_SHARE,
    VETO,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.consolidation import sleep_pressure as module

Build = Callable[..., Engine]
NOON = 24.0 * 19000 + 12.0
RHYTHM = (18.2, 4.2, 0.67, 0.17, 0.12, 9.54, 24.0)


class Watch(Mechanism[Params]):
    """Records every sleep; vetoes events while `shut` is True."""

    def __init__(self) -> None:
        super().__init__("watch", Params(1.0))
        self.sleeps: list[tuple[float, float]] = []
        self.shut = False

    @hook(Phase.ENCODE, reads=(), adds=(VETO,), sets=())
    def gate(self, view: object, incoming: object) -> None:
        view.veto = int(self.shut)  # type: ignore[attr-defined]

    @hook(Phase.CONSOLIDATE, reads=(SLEEP_SHARE,), adds=(), sets=())
    def note(self, view: object, tick: object) -> None:
        self.sleeps.append((tick.end, view.sleep_share))  # type: ignore[attr-defined]


def watched(**options: float) -> tuple[Engine, Watch]:
    watch = Watch()
    return Engine(
        [watch, Registry.read().instance("sleep_pressure")], HashingEmbedder(16), **options
    ), watch  # type: ignore[arg-type]


def state(memory: Engine) -> list[float]:
    return [
        float(memory.store.array(c).item())
        for c in (*module.SleepPressure.owns, SLEEP_ONSET, SLEEP_END)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), [
    ("awake", (0.3, 5.0, 18.2)), ("asleep", (0.3, 5.0, 4.2)), ("circadian", (NOON, 0.12, 9.54,
    24.0)), ("until_sleep", (0.3, NOON, RHYTHM)),
    ("first_rise", (0.33, 0.7, 18.2, -0.12, 5.0, 9.54, 24.0)), ("until_waking", (0.6, NOON,
    RHYTHM)), ("cycle", (RHYTHM, 20)),
    ("s_now", (0.3, NOON, NOON + 11.0, NOON + 19.0, NOON + 100.0, RHYTHM)), ("effort", (12.0, 0.4,
    0.02, 20.0)),
])  # fmt: skip
def test_kernels_compiled_equal_plain(name: str, arguments: tuple[object, ...]) -> None:
    kernel = getattr(module, name)
    assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-12)


def test_one_sleep_a_night_from_eleven_to_seven() -> None:
    memory, watch = watched()
    memory.encode(Event(NOON, "It is noon."))
    memory.advance(NOON + 5 * 24.0)
    assert [end % 24.0 for end, _ in watch.sleeps] == pytest.approx([6.94] * 5, abs=0.02)
    assert [share for _, share in watch.sleeps] == pytest.approx([1.0] * 5, abs=0.001)
    assert memory.store.array(SLEEP_ONSET).item() % 24.0 == pytest.approx(23.0, abs=0.02)


def test_neither_ticks_nor_queries_change_the_times_of_sleep() -> None:
    rng = np.random.default_rng(1)
    times = NOON + np.sort(rng.uniform(0.0, 300.0, 60))
    ends = []
    for options, looks in (({"tick_hours": 0.01}, 0.0), ({"tick_hours": 50.0}, 0.0), ({}, 0.5)):
        memory, watch = watched(**options)
        for time in times:
            if looks and time - looks > memory.now:
                memory.advance(time - looks)
            memory.encode(Event(float(time), f"at {time}"))
        memory.advance(NOON + 400.0)
        ends.append((watch.sleeps, state(memory)))
    assert ends[0] == ends[1] == ends[2] and len(ends[0][0]) > 12


def test_an_empty_memory_computes_the_pressure_over_missed_nights() -> None:
    full, _ = watched()
    empty, watch = watched()
    watch.shut = True
    for memory in (full, empty):
        memory.encode(Event(NOON, "nobody keeps this"))
        memory.advance(NOON + 90.0)
    assert not watch.sleeps and not empty.store.n
    for memory in (full, empty):
        memory.encode(Event(NOON + 100.0, "nor this"))
    watch.shut = False
    assert state(empty) == pytest.approx(state(full), abs=0.01) and state(empty)[0] < state(full)[0]
    empty.encode(Event(NOON + 101.0, "but this"))
    empty.advance(NOON + 124.0)
    assert (
        len(watch.sleeps) == 1
        and empty.store.array(CREATED)[:1].item() == NOON + 101.0
        and empty.store.array(ROW).item() == 0
    )


def test_an_event_in_the_night_wakes_once() -> None:
    memory, watch = watched()
    memory.encode(Event(NOON, "noon"))
    for minute in range(30):
        memory.encode(Event(NOON + 14.0 + minute / 60.0, f"night talk {minute}"))
    assert [end for end, _ in watch.sleeps] == [NOON + 14.0] and 0.0 < watch.sleeps[0][1] < 0.8
    assert memory.store.array(SLEEP_ONSET).item() > memory.now + 1.9


def test_two_events_at_the_same_moment() -> None:
    memory, watch = watched()
    for _ in range(3):
        memory.encode(Event(NOON + 12.0, "midnight"))
    assert not watch.sleeps and memory.store.array(SLEEP_END).item() > memory.now


def test_time_scale_stretches_the_day_and_both_processes(build: Build) -> None:
    one, double = (
        build("sleep_pressure", params={"sleep_pressure": {"time_scale": k, "effort": 0.0}})
        for k in (1.0, 2.0)
    )
    one.encode(Event(24.0 * 19000, "hello"))
    double.encode(Event(48.0 * 19000, "hello"))
    assert np.subtract(state(double)[2:], 48.0 * 19000) == pytest.approx(
        2.0 * np.subtract(state(one)[2:], 24.0 * 19000), rel=1e-9
    )
