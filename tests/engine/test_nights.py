"""Time that nobody can mean: refused before anything changes; nights that change nothing pass in one stride, with the same state."""
from __future__ import annotations

import math
import time
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from hebbarium.engine import loop, nights
from hebbarium.engine.columns import Phase
from hebbarium.engine.errors import InputError
from hebbarium.engine.loop import Engine
from hebbarium.engine.nights import CENTURY, DAY, MOST_NIGHTS, YEAR, LongIdleWarning
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.records import Event, hours
from hebbarium.engine.registry import Registry
from hebbarium.testing.small import by_number, column, does, mechanism, memory, numbered

START, LATE = hours(datetime(2024, 5, 6)), hours(datetime(9999, 1, 1))


def sleeper() -> Any:
    """A mechanism that counts its nights."""
    held = column("nights")

    def count(view: Any, tick: Any) -> None:
        view.nights += 1.0

    return mechanism("sleeper", does(Phase.CONSOLIDATE, count, sets=[held]), owns=[held])


@pytest.mark.parametrize("jump", [lambda e: e.encode(Event(LATE, "number 2", id="late")), lambda e: e.advance(LATE),
                                  lambda e: e.encode_all([Event(LATE, "number 2", id="late")])], ids=["encode", "advance", "encode_all"])
def test_a_jump_of_thousands_of_years_is_refused_and_changes_nothing(jump: Any) -> None:
    e = memory(sleeper(), by_number())
    e.encode(Event(START, "number 1"))
    before, began = e.digest(), time.process_time()
    with pytest.raises(InputError, match=r"7974 years, over 29\d{5} nights") as caught:
        jump(e)
    assert e.digest() == before and time.process_time() - began < 2.0
    assert caught.value.where and "consolidate_every=math.inf" in caught.value.cure
    e.encode(Event(START + 30.0, "number 3"))
    assert e.column("nights").tolist() == [1.0, 0.0]


def test_a_jump_that_is_meant_is_told_and_taken_night_by_night(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nights, "MANY_NIGHTS", 50)
    e = memory(sleeper(), by_number())
    e.encode(Event(START, "number 1"))
    with pytest.warns(LongIdleWarning, match="100 nights are consolidated"):
        e.advance(START + 100 * DAY)
    assert e.column("nights").tolist() == [100.0]
    assert MOST_NIGHTS * DAY == CENTURY and 100 * YEAR == CENTURY


@pytest.mark.parametrize("name", ["bm25", "hybrid", "naive_rag"])
def test_nights_that_change_nothing_pass_in_one_stride_with_the_same_state(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    registry, digests = Registry.read(), []
    for stride in (366, math.inf):
        monkeypatch.setattr(loop, "STRIDE", stride)
        e = Engine(registry.build(registry.set(name)), HashingEmbedder(16))
        e.encode_all(numbered(3, 9, 5))
        e.advance(e.now + 400 * DAY + 0.1)
        e.encode(Event(e.now + 7.3, "number 8"))
        digests.append(e.digest())
    assert digests[0] == digests[1]


def test_without_consolidation_the_year_9999_costs_nothing() -> None:
    registry = Registry.read()
    e = Engine(registry.build(registry.set("bm25")), HashingEmbedder(16))
    e.encode(Event(START, "a boat"))
    began = time.process_time()
    e.encode(Event(LATE, "a ship"))
    assert time.process_time() - began < 5.0 and LATE - DAY < e.clock.consolidated <= LATE


def test_no_night_is_due_if_sleep_is_off() -> None:
    e = memory(sleeper(), by_number(), consolidate_every=math.inf)
    e.encode(Event(START, "number 1"))
    e.encode(Event(LATE, "number 2"))
    assert e.column("nights").tolist() == [0.0, 0.0]


@pytest.mark.parametrize("every", [0.001, 0.1, 24.0, 1e-9, math.inf])
def test_the_last_consolidation_is_that_of_the_loop_over_all(every: float) -> None:
    """Also over more nights than are summed at once, at their very ends, and where a night is too short to be added."""
    for start in (0.1, 1e6, -3.7e5):
        ends = np.cumsum([start, *[every] * 5]).tolist() if every < math.inf else [start]
        for end in (start - 1.0, start, *ends, math.nextafter(ends[-1], start), start + 70_000.5 * min(every, 24.0)):
            expected = start
            while expected < expected + every <= end:
                expected += every
            assert nights.last_due(start, every, end) == expected
