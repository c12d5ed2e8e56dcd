"""Sleep: a mechanism schedules it, an event ends it, and idle time costs one consolidation per
sleep.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.contract.columns import Phase, Scope
from hebbarium.engine.contract.hooks import Mechanism
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import NOW, SLEEP_END, SLEEP_ONSET, VETO
from hebbarium.engine.memory.engine import Engine
from hebbarium.testing.small import column, does, mechanism, memory

Sleeps = list[tuple[float, float, float]]


def sleeper(sleeps: Sleeps, awake: float = 16.0, asleep: float = 8.0) -> Mechanism[Any]:
    """Schedules `asleep` hours of sleep after every `awake` hours awake; records onset, end and
    the end of the previous sleep.
    """
    known = column("sleeper_known", Scope.GLOBAL)

    def plan(view: Any, now: float) -> None:
        view.sleep_onset, view.sleep_end = now + awake, now + awake + asleep

    def first(view: Any, incoming: Any) -> None:
        if not view.sleeper_known:
            view.sleeper_known = 1.0
            plan(view, view.now)

    def sleep(view: Any, tick: Any) -> None:
        sleeps.append((view.sleep_onset, tick.end, tick.start))
        assert view.now == tick.end
        plan(view, tick.end)

    return mechanism(
        "sleeper",
        does(Phase.ENCODE, first, reads=[NOW], sets=[SLEEP_ONSET, SLEEP_END, known]),
        does(Phase.CONSOLIDATE, sleep, reads=[NOW], sets=[SLEEP_ONSET, SLEEP_END]),
        owns=[known],
    )


def test_idle_days_cost_one_sleep_each_whatever_the_interval() -> None:
    sleeps: Sleeps = []
    e = memory(sleeper(sleeps), consolidate_every=1.0)
    e.encode(Event(0.0, "x"))
    e.advance(5 * 24.0)
    assert sleeps == [(24.0 * d + 16.0, 24.0 * d + 24.0, 24.0 * d) for d in range(5)]


def test_an_event_ends_a_sleep_and_advance_does_not() -> None:
    sleeps: Sleeps = []
    e = memory(sleeper(sleeps))
    e.encode(Event(0.0, "x"))
    e.advance(18.0)
    e.advance(20.0)
    assert sleeps == []
    e.encode(Event(21.0, "y"))
    assert sleeps == [(16.0, 21.0, 0.0)]
    e.encode(Event(21.0, "z"))
    e.advance(21.0 + 24.0)
    assert sleeps[1:] == [(37.0, 45.0, 21.0)]


def test_an_event_exactly_at_onset_or_end_of_a_sleep() -> None:
    sleeps: Sleeps = []
    e = memory(sleeper(sleeps))
    for time in (0.0, 16.0, 24.0):
        e.encode(Event(time, "x"))
    assert sleeps == [(16.0, 24.0, 0.0)], "an event at the time of onset does not end the sleep"


@given(
    st.lists(st.floats(0.01, 40.0), min_size=1, max_size=10),
    st.sampled_from([0.0, 1.0, 1000.0]),
    st.booleans(),
)
def test_sleeps_depend_on_events_alone(gaps: list[float], tick_hours: float, peek: bool) -> None:
    """Against a direct simulation of the rule: a sleep begins 16 h after the last one ended, and
    lasts 8 h or until an event.
    """
    sleeps: Sleeps = []
    e = memory(sleeper(sleeps), tick_hours=tick_hours)
    times = [0.0, *np.cumsum(gaps).tolist()]
    for time in times:
        if peek:
            e.advance(max(e.now, 0.5 * (e.now + time)) if e.now == e.now else time)
        e.encode(Event(time, "x"))
    expected: Sleeps = []
    woke = 0.0
    for time in times[1:]:
        while woke + 24.0 <= time:
            expected.append((woke + 16.0, woke + 24.0, woke))
            woke += 24.0
        if woke + 16.0 < time:
            expected.append((woke + 16.0, time, woke))
            woke = time
    np.testing.assert_allclose(
        np.array(sleeps).reshape(-1, 3), np.array(expected).reshape(-1, 3), rtol=1e-12
    )


def test_a_memory_saved_after_an_interrupted_sleep_continues_the_same(tmp_path: Path) -> None:
    def life(path: Path | None, stops: tuple[int, ...]) -> str:
        e: Engine = memory(sleeper([]), path=path)
        for i, time in enumerate((0.0, 3.0, 20.0, 41.0, 90.0)):
            if i in stops:
                e.close()
                e = memory(sleeper([]), path=path)
            e.encode(Event(time, f"event {i}"))
        e.advance(200.0)
        return e.digest()

    assert life(tmp_path / "m.db", (2, 3)) == life(None, ())


def test_a_sleep_that_never_ends_is_an_error_that_says_so() -> None:
    def once(view: Any, incoming: Any) -> None:
        view.sleep_onset, view.sleep_end = 1.0, 2.0

    e = memory(mechanism("forgetful", does(Phase.ENCODE, once, sets=[SLEEP_ONSET, SLEEP_END])))
    e.encode(Event(0.0, "x"))
    with pytest.raises(ContractError, match="next sleep also ends by then"):
        e.advance(3.0)


def test_an_empty_memory_does_not_sleep() -> None:
    sleeps: Sleeps = []
    never = mechanism("never", does(Phase.ENCODE, lambda v, _: setattr(v, "veto", 1), adds=[VETO]))
    e = memory(sleeper(sleeps), never)
    e.encode(Event(0.0, "x"))
    e.advance(1000.0)
    assert sleeps == [] and e.now == 1000.0
