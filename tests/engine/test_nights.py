"""Time that nobody can mean: refused before anything changes; nights that change nothing pass in
one stride, with the same state.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from hanging import ended_if_it_hangs

from hebbarium.engine.base.errors import ContractError, InputError
from hebbarium.engine.base.times import hours
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Mechanism, Params, at_rest, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import SALIENCE
from hebbarium.engine.memory import nights, passing
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.memory.nights import CENTURY, DAY, MOST_NIGHTS, YEAR, LongIdleWarning
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.testing.small import by_number, column, does, mechanism, memory, numbered

START, LATE = hours(datetime(2024, 5, 6)), hours(datetime(9999, 1, 1))


def sleeper() -> Any:
    """A mechanism that counts its nights."""
    held = column("nights")

    def count(view: Any, tick: Any) -> None:
        view.nights += 1.0

    return mechanism("sleeper", does(Phase.CONSOLIDATE, count, sets=[held]), owns=[held])


@pytest.mark.parametrize(
    "jump",
    [
        lambda e: e.encode(Event(LATE, "number 2", id="late")),
        lambda e: e.advance(LATE),
        lambda e: e.encode_all([Event(LATE, "number 2", id="late")]),
    ],
    ids=["encode", "advance", "encode_all"],
)
def test_a_jump_of_thousands_of_years_is_refused_and_changes_nothing(jump: Any) -> None:
    e = memory(sleeper(), by_number())
    e.encode(Event(START, "number 1"))
    before = e.digest()
    with (
        ended_if_it_hangs(),
        pytest.raises(InputError, match=r"7974 years, over 29\d{5} nights") as caught,
    ):
        jump(e)
    assert e.digest() == before
    assert caught.value.where and "consolidate_every=math.inf" in caught.value.cure
    e.encode(Event(START + 30.0, "number 3"))
    assert e.column("nights").tolist() == [1.0, 0.0]


def test_a_jump_that_is_meant_is_told_and_taken_night_by_night(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("MANY_NIGHTS", 50), ("STRIDE", 7), ("TELL_SECONDS", 0.0)):
        monkeypatch.setattr(nights, name, value)
    told: list[tuple[int, int]] = []
    e = memory(sleeper(), by_number(), progress=lambda *now: told.append(now))
    e.encode(Event(START, "number 1"))
    with pytest.warns(LongIdleWarning, match="100 nights are consolidated"):
        e.advance(START + 100 * DAY)
    assert e.column("nights").tolist() == [100.0] and told == [
        (night, 100) for night in range(1, 101)
    ]
    assert MOST_NIGHTS * DAY == CENTURY and 100 * YEAR == CENTURY


def test_progress_is_told_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, told = iter(np.arange(0.0, 100.0, 0.3)), list[int]()
    monkeypatch.setattr(nights, "monotonic", lambda: next(clock))
    bar = nights.NightBar(lambda done, due: told.append(done), 20.0)
    for _ in range(20):
        bar.passed()
    assert told and all(
        5 >= later - first >= 3 for first, later in zip([0, *told], told, strict=False)
    )


def waking(rest: bool, lasting: int) -> Any:
    """A mechanism that counts its nights up to `lasting`, and says that it is at rest from then
    on if `rest`.
    """
    held = column("nights")

    class Waking(Mechanism[Params]):
        owns = (held,)

        @hook(Phase.CONSOLIDATE, reads=(), adds=(), sets=(held,))
        def count(self, view: Any, tick: Any) -> None:
            calls.append(tick.end)
            view.nights[...] = np.minimum(view.nights + 1.0, lasting)

    class Resting(Waking):
        @at_rest(reads=(held,))
        def counted(self, view: Any, tick: Any) -> bool:
            return bool(view.nights[0] >= lasting)

    calls: list[float] = []
    return (Resting if rest else Waking)("waking", Params(1.0)), calls


def test_years_pass_at_once_from_the_night_after_which_all_are_at_rest() -> None:
    found = []
    for rest, beside in ((False, False), (True, False), (True, True)):
        one, calls = waking(rest, 5)
        e = memory(one, *[restless()] * beside, by_number())
        e.encode(Event(START, "number 1"))
        e.advance(START + 1000 * DAY + 3.0)
        found.append(
            (e.column("nights").tolist(), e.clock.consolidated, e.clock.maintained, e.clock.settled)
        )
        assert len(calls) == (6 if rest and not beside else 1000), "five nights and the last"
        assert calls[-1] == START + 1000 * DAY
    assert found[0] == found[1] == found[2]


def restless() -> Any:
    """A mechanism that consolidates and is never at rest."""
    return mechanism("restless", does(Phase.CONSOLIDATE, lambda view, tick: None, sets=[]))


def test_a_promise_to_rest_reads_what_it_declares() -> None:
    with pytest.raises(ContractError, match="outside an event and a query"):

        class Wrong(Mechanism[Params]):
            @at_rest(reads=(SALIENCE,))
            def still(self, view: Any, tick: Any) -> bool:
                return True


@pytest.mark.parametrize("name", ["minimal", "default", "light", "context_spec"])
@pytest.mark.parametrize("more", [0.0, 7.0])
def test_sets_at_rest_are_as_after_each_night(
    name: str, more: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the call ends with a sleep.  In a fraction of the nights."""
    registry, digests, nights_run = Registry.read(), [], []
    for stride in (50, math.inf):
        monkeypatch.setattr(passing, "STRIDE", stride)
        e = Engine(registry.build(registry.set(name)), HashingEmbedder(32))
        run, count = e.assembly.run[Phase.CONSOLIDATE], [0]

        def counted(tick: Any, run: Any = run, count: list[int] = count) -> None:
            count[0] += 1
            run(tick)

        e.assembly.run[Phase.CONSOLIDATE] = counted
        for each in range(12):
            e.encode(
                Event(
                    START + 5.0 * each,
                    f"Ada met Eva in Rome on trip {each}, and moved to Oslo",
                    "Bo",
                    f"s{each // 4}",
                    f"e{each}",
                )
            )
        e.retrieve("Where does Ada live?", learn=True)
        e.advance(START + 200 * DAY + more)
        e.encode(Event(e.now + 30.0, "Ada moved to Bonn", "Bo", "s9"))
        e.advance(e.now + 200 * DAY)
        digests.append((e.digest(), e.clock.settled))
        nights_run.append(count[0])
    assert digests[0] == digests[1] and nights_run[0] < 30 < 380 < nights_run[1]


@pytest.mark.parametrize("name", ["bm25", "hybrid", "naive_rag"])
def test_nights_that_change_nothing_pass_in_one_stride_with_the_same_state(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry, digests = Registry.read(), []
    for stride in (366, math.inf):
        monkeypatch.setattr(passing, "STRIDE", stride)
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
    with ended_if_it_hangs():
        e.encode(Event(LATE, "a ship"))
    assert LATE - DAY < e.clock.consolidated <= LATE


def test_no_night_is_due_if_sleep_is_off() -> None:
    e = memory(sleeper(), by_number(), consolidate_every=math.inf)
    e.encode(Event(START, "number 1"))
    e.encode(Event(LATE, "number 2"))
    assert e.column("nights").tolist() == [0.0, 0.0]


@pytest.mark.parametrize("every", [0.001, 0.1, 24.0, 1e-9, math.inf])
def test_the_last_consolidation_is_that_of_the_loop_over_all(every: float) -> None:
    """Also over more nights than are summed at once, at their very ends, and where a night is
    too short to be added.
    """
    for start in (0.1, 1e6, -3.7e5):
        ends = np.cumsum([start, *[every] * 5]).tolist() if every < math.inf else [start]
        for end in (
            start - 1.0,
            start,
            *ends,
            math.nextafter(ends[-1], start),
            start + 70_000.5 * min(every, 24.0),
        ):
            expected = start
            while expected < expected + every <= end:
                expected += every
            assert nights.last_due(start, every, end) == expected
