"""Clocks: late events, clocks that are wrong, the wall clock, and the time that a speaker's
clock shows.
"""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hebbarium as hb
from hebbarium.engine.arms.variants import Variants
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.base.times import hours
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.assembly import assemble
from hebbarium.engine.context.tokens import LengthCounter
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.contract.vocabulary import CREATED
from hebbarium.engine.memory.arrivals import ClockWarning, arrival, set_back, standing
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.memory.nights import YEAR
from hebbarium.engine.state.clock import Jump

MONDAY = datetime(2025, 3, 3, 9)
NOW = hours(MONDAY)


def small(set: str = "minimal", **options: Any) -> Engine:
    return hb.memory(set, embedding="hashing:32", **options)


def told(memory: Engine, *hours_after: float, **fields: Any) -> Engine:
    for n, after in enumerate(hours_after):
        memory.encode(Event(NOW + after, f"message {n}", "Ada", id=f"e{n}", **fields))
    return memory


def unchanged(memory: Engine, call: Callable[[], object], match: str) -> InputError:
    """The error of a call, after which the memory is what it was."""
    before = memory.digest()
    with pytest.raises(InputError, match=match) as error:
        call()
    assert memory.digest() == before and error.value.cure
    return error.value


# --- late events ----------------------------------------------------------------------------------
@given(st.lists(st.integers(-30, 40), min_size=1, max_size=12))
def test_an_event_is_taken_if_it_is_at_most_a_day_late(steps: list[int]) -> None:
    """Against a plain account: the present is the latest time so far, and rows stand in the
    order of arrival with the times that they were given.
    """
    memory, present, kept = small("naive_rag"), -math.inf, list[float]()
    for n, time in enumerate(itertools.accumulate(steps)):
        event = Event(NOW + time, f"message {n}")
        if NOW + time < present - 24.0:
            with pytest.raises(InputError, match="runs backwards"):
                memory.encode(event)
        else:
            assert memory.encode(event).row == len(kept)
            kept.append(NOW + time)
            present = max(present, NOW + time)
        assert memory.now == present
    assert memory.column("created").tolist() == kept
    assert memory.column("arrived").tolist() == np.maximum.accumulate(kept).tolist()
    assert [hit.time for hit in memory.retrieve("message", k=len(kept)).in_time()] == sorted(kept)


def test_a_late_event_has_its_own_time_and_the_present_stays() -> None:
    memory = told(small(), 0.0, 10.0, 4.0, 10.0 - 1 / 3600)
    assert memory.now == NOW + 10.0 and [memory.event(row).id for row in range(4)] == [
        "e0",
        "e1",
        "e2",
        "e3",
    ]
    assert {
        hit.id
        for hit in memory.retrieve(
            Query("message", only=Only(since=NOW + 1.0, until=NOW + 9.9998)), k=4
        )
    } == {"e2", "e3"}
    assert "3 March 2025 13:00" in memory.context("message 2", 200).text


def test_a_list_is_taken_as_one_by_one() -> None:
    events = [
        Event(NOW + at, f"message {n}", dated=False)
        for n, at in enumerate((0.0, 30.0, 8.0, 31.0, 30.5))
    ]
    one, other = small(), small()
    assert one.encode_all(events) == [other.encode(event) for event in events]
    other.advance(other.now)
    assert one.digest() == other.digest()
    unchanged(
        one,
        lambda: one.encode_all([Event(NOW + 60.0, "new"), Event(NOW + 30.0, "older than a day")]),
        "runs backwards",
    )
    unchanged(
        one,
        lambda: one.encode_all(
            [Event(NOW + 60.0, "new"), Event(NOW + 61.0, "no offset", offset=30.0)]
        ),
        r"offset 30\.0",
    )


def test_the_hour_of_the_clock_change_and_a_second_out_of_order() -> None:
    """A naive clock that goes back from 3:00 to 2:00, and an aware one whose offset changes: the
    second is no step back at all.
    """
    memory = small()
    for at in ("2025-10-26T02:50:00", "2025-10-26T02:10:00", "2025-10-26T02:09:59"):
        assert memory.encode(Event.at(datetime.fromisoformat(at), "It rains.")).stored
    aware = small(late=0.0)
    for at in ("2025-10-26T02:50:00+02:00", "2025-10-26T02:10:00+01:00"):
        assert aware.encode(Event.at(datetime.fromisoformat(at), "It rains.")).stored
    assert aware.now - aware.event(0).time == pytest.approx(1 / 3)
    assert [aware.event(row).local.strftime("%H:%M") for row in (0, 1)] == ["02:50", "02:10"]


def test_how_late_is_an_option() -> None:
    strict, week, any_time = (
        told(small(late=late), 0.0) for late in (0.0, timedelta(days=7), math.inf)
    )
    assert (
        "late"
        in unchanged(
            strict, lambda: strict.encode(Event(NOW - 0.001, "late")), "runs backwards"
        ).cure
    )
    assert week.encode(Event(NOW - 167.9, "late")).stored
    unchanged(week, lambda: week.encode(Event(NOW - 168.1, "later")), "by more than 168 h: .* 2025")
    assert (
        any_time.encode(Event.at(datetime(1, 1, 1), "In the beginning.")).stored
        and any_time.now == NOW
    )
    for wrong in (-1.0, math.nan, "a day", True, timedelta(days=-1)):
        with pytest.raises(InputError, match="late_hours"):
            small(late=wrong)  # type: ignore[arg-type]
    plain = Engine(
        [Registry.installed().instance("dense_similarity")], told(small()).assembly.embedder
    )
    plain.encode(Event(NOW, "first"))
    # experiments take no late event
    unchanged(plain, lambda: plain.encode(Event(NOW - 0.001, "late")), "runs backwards")


# --- clocks that are wrong ------------------------------------------------------------------------
def test_an_event_far_ahead_is_stored_and_the_present_stays() -> None:
    memory = told(small(), 0.0)
    with pytest.warns(ClockWarning, match=r"event 'far'.*70\.0 years ahead.*\n.*confirm=True"):
        far = memory.encode(Event(NOW + 70 * YEAR, "From a wrong clock.", id="far"))
    assert (
        far.stored
        and memory.now == NOW
        and memory.column("created")[far] == NOW + 70 * YEAR
        and memory.column("arrived")[far] == NOW
    )
    assert (
        np.isfinite(memory.retrieve("wrong clock").scores).all()
        and memory.retrieve("wrong clock").units[0].id == "far"
    )
    assert "2095" in memory.context("wrong clock", 100).text
    memory.encode(Event(NOW + 24.0, "The next day."))
    memory.erase("far", confirm=True)
    assert memory.now == NOW + 24.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            memory.encode(Event(NOW + 0.99 * YEAR, "Nearly a year later.")).stored
            and memory.now == NOW + 0.99 * YEAR
        )


@pytest.mark.parametrize("by", ["encode", "encode_all"])
def test_a_jump_that_is_confirmed_and_then_erased(by: str) -> None:
    """The clock goes back when the last event that it had reached there is gone, and everything
    that reads it goes back with it.
    """
    memory = told(small("default"), 0.0, 10.0)
    memory.advance(NOW + 30.0)
    far = [
        Event(NOW + 5 * YEAR, "From a wrong clock.", id="far"),
        Event(NOW + 5 * YEAR + 1.0, "From the same clock.", id="farther"),
    ]
    if by == "encode":
        assert all(memory.encode(event, confirm=True).stored for event in far)
    else:
        memory.encode_all(far, confirm=True)
    memory.use(memory.retrieve("From a wrong clock."), "far")
    assert memory.now == NOW + 5 * YEAR + 1.0
    memory.erase("far", confirm=True)
    assert memory.now == NOW + 5 * YEAR + 1.0, "an event that its clock has reached is left"
    memory.erase("farther", confirm=True)
    assert memory.now == NOW + 30.0
    for column in memory.store.columns:
        if column.upkeep.clock and column.persists:
            values = memory.store.array(column)
            # the next sleep may lie ahead
            assert not (values > NOW + 30.0 + 48.0).any(), column.name
    memory.encode(Event(NOW + 31.0, "message from the right clock", id="right"))
    memory.advance(NOW + 500.0)
    answer = memory.retrieve("message from the right clock")
    assert (
        answer.units[0].id == "right"
        and np.isfinite(answer.scores).all()
        and memory.now == NOW + 500.0
    )


def test_passing_time_that_was_confirmed_is_not_taken_back() -> None:
    memory = told(small(), 0.0)
    error = unchanged(
        memory, lambda: memory.advance(NOW + 3 * YEAR), r"3\.0 years, from .* 2025 to .* 2028"
    )
    assert "advance(time, confirm=True)" in error.cure
    memory.advance(NOW + 3 * YEAR, confirm=True)
    memory.encode(Event(NOW + 3 * YEAR + 1.0, "After the years.", id="after"))
    memory.erase("after", confirm=True)
    assert memory.now == NOW + 3 * YEAR + 1.0
    plain = Engine(memory.mechanisms, memory.assembly.embedder)
    plain.encode(Event(NOW, "first"))
    plain.advance(NOW + 20 * YEAR)  # experiments pass time as their data say
    plain.encode(Event(NOW + 40 * YEAR, "second"))
    assert plain.now == NOW + 40 * YEAR


def test_after_a_first_event_of_a_wrong_clock_is_erased_the_next_one_sets_the_clock(
    tmp_path: Path,
) -> None:
    memory = small(path=tmp_path / "m.db")
    memory.encode(Event(NOW + 70 * YEAR, "From a wrong clock.", id="far"))
    error = unchanged(memory, lambda: memory.encode(Event(NOW, "first")), "runs backwards")
    assert "erase" in error.cure
    memory.erase("far", confirm=True)
    memory.close()
    memory = small(path=tmp_path / "m.db")
    told(memory, 0.0, 5.0, 4.0)
    memory.advance(NOW + 50.0)
    assert (
        memory.now == NOW + 50.0
        and np.isfinite(memory.retrieve("message 1").scores).all()
        and len(memory.retrieve("message 1")) == 3
    )
    memory.close()


def test_a_jump_is_known_after_reopening(tmp_path: Path) -> None:
    file, whole = tmp_path / "m.db", told(small(), 0.0)
    memory = told(small(path=file), 0.0)
    for each in (whole, memory):
        each.encode(Event(NOW + 5 * YEAR, "From a wrong clock.", id="far"), confirm=True)
        each.advance(each.now)
    memory.close()
    memory = small(path=file)
    for each in (whole, memory):
        each.erase("far", confirm=True)
    assert memory.now == NOW and memory.digest() == whole.digest()
    memory.close()


def test_which_jumps_hold_and_where_stamps_go() -> None:
    events = [Event(at, "x") for at in (0.0, 9000.0, 9001.0, 20000.0, 8995.0)]
    jumps = (Jump(0, math.nan), Jump(1, 10.0), Jump(3, 9001.0))
    for erased, left in (
        ({3}, 2),
        ({1, 3}, 2),
        ({1, 2, 3}, 2),
        ({1, 2, 3, 4}, 1),
        (set(range(5)), 0),
        ({1, 2, 4}, 3),
    ):
        assert len(standing(jumps, events, erased.__contains__, 20000.0)) == left, erased
    assert standing((Jump(0, math.nan), Jump(-1, 0.0)), events[:1], lambda n: True, 9000.0) == (
        Jump(0, math.nan),
        Jump(-1, 0.0),
    )
    assert arrival(50.0, math.nan, 0.0, 0.0, False, "event") == 50.0
    stamps = np.array([[-5.0, 0.0, 90.0], [100.0, 130.0, np.nan]])
    set_back(stamps, 10.0, 100.0)
    np.testing.assert_array_equal(stamps, [[-5.0, 0.0, 10.0], [10.0, 40.0, np.nan]])


def test_moving_to_another_set_keeps_late_events_and_confirmed_jumps() -> None:
    old = told(small(late=math.inf), 0.0, 100.0, 3.0)
    old.encode(Event(NOW + 3 * YEAR, "Three years on.", id="far"), confirm=True)
    with pytest.warns(ClockWarning):
        old.encode(Event(NOW + 30 * YEAR, "A wrong clock.", id="wrong"))
    with pytest.warns(ClockWarning):
        new = hb.rebuild(old, "naive_rag", embedding="hashing:32")
    assert (
        new.now == old.now == NOW + 3 * YEAR
        and new.column("created").tolist() == old.column("created").tolist()
    )
    assert new.passing.late_hours == 24.0
    unchanged(new, lambda: new.encode(Event(NOW, "late")), "runs backwards")


# --- the wall clock -------------------------------------------------------------------------------
class Wall:
    """A clock that a test sets."""

    def __init__(self, offset: float = -5.0) -> None:
        self.now = MONDAY.replace(tzinfo=timezone(timedelta(hours=offset)))

    def __call__(self) -> datetime:
        return self.now

    def passes(self, **times: float) -> None:
        self.now += timedelta(**times)


def test_a_live_memory_sees_the_present() -> None:
    wall = Wall()
    memory = small(clock=wall)
    row = memory.encode(Event.untimed("I live in Oslo.", "Ada"))
    assert memory.event(row) == Event(NOW + 5.0, "I live in Oslo.", "Ada", offset=-5.0)
    assert "[9:00 am on 3 March, 2025]" in memory.event(row).rendered()
    for ask in (
        memory.retrieve,
        lambda text: memory.context(text, 100),
        lambda text: memory.explain(text, 0),
        memory.offers,
    ):
        wall.passes(minutes=7)
        ask("Where does Ada live?")
        assert memory.now == hours(wall.now)
    wall.passes(days=9)
    memory.use(memory.retrieve("Where does Ada live?"), [row])
    assert memory.now == hours(wall.now) and memory.clock.maintained == memory.now
    wall.passes(days=-4)  # set back: time stays, and what is told happens now
    memory.retrieve("Where does Ada live?")
    late = memory.encode(Event.untimed("I moved to Bonn.", "Ada"))
    assert memory.now == memory.event(late).time == NOW + 5.0 + 28 / 60 + 9 * 24 and late == 1


def test_a_variant_of_a_live_memory_sees_the_present() -> None:
    wall = Wall()
    memory = small(clock=wall)
    memory.encode(Event.untimed("I live in Oslo.", "Ada"))
    variants = Variants(memory)
    plan = variants.plan_for(memory.mechanisms)
    arms = variants.parameter_arms([plan, plan])
    for ask in (
        lambda text: variants.retrieve(text, 3, plan),
        lambda text: variants.offers(text, 100, plan),
        lambda text: variants.retrieve_each(text, 3, arms),
    ):
        wall.passes(minutes=7)
        ask("Where does Ada live?")
        assert memory.now == hours(wall.now)


def test_a_wall_clock_that_is_far_ahead_is_not_followed() -> None:
    wall = Wall()
    memory = told(small(clock=wall), 0.0)
    wall.passes(days=800)
    with pytest.warns(ClockWarning, match="the wall clock shows .* 2027"):
        memory.retrieve("message")
    assert memory.now == NOW
    with pytest.warns(ClockWarning):
        assert memory.encode(Event.untimed("Told meanwhile.")).stored
    memory.advance(wall.now, confirm=True)
    memory.retrieve("message")
    assert memory.now == hours(wall.now)


def test_history_can_be_told_to_a_live_memory_before_it_is_asked() -> None:
    wall = Wall()
    memory = told(small(clock=wall), -2000.0, -1000.0, -10.0)
    assert memory.now == NOW - 10.0
    memory.retrieve("message")
    assert memory.now == hours(wall.now)


def test_a_live_memory_reopens_as_it_was(tmp_path: Path) -> None:
    """What the wall clock showed is part of the state: a memory that reads no clock continues
    it.
    """
    wall = Wall()
    memory = small(path=tmp_path / "m.db", clock=wall)
    for minutes in (0, 30, 90, 3000):
        wall.passes(minutes=minutes)
        memory.encode(Event.untimed(f"message after {minutes}"))
        memory.retrieve("message")
    digest, now = memory.digest(), memory.now
    memory.close()
    again = small(path=tmp_path / "m.db")
    assert again.digest() == digest and again.now == now
    again.close()


def test_a_query_without_a_wall_clock_passes_no_time_and_an_event_needs_a_time() -> None:
    memory = told(small(), 0.0)
    memory.retrieve("message")
    assert memory.now == NOW
    assert (
        'clock="wall"'
        in unchanged(
            memory, lambda: memory.encode(Event.untimed("when?")), "time None is no number"
        ).cure
    )
    live = small(clock="wall")
    live.encode(Event.untimed("now"))
    assert abs(live.now - hours(datetime.now(UTC))) < 1.0 and live.event(0).offset is not None


@pytest.mark.parametrize(
    "clock", ["sundial", 3.0, lambda: 12.0, lambda: datetime(2025, 3, 3), lambda: None]
)
def test_a_clock_that_is_none_is_refused(clock: Any) -> None:
    with pytest.raises(InputError, match="clock"):
        small(clock=clock).encode(Event.untimed("now"))


# --- the speaker's clock --------------------------------------------------------------------------
def test_contexts_and_hits_show_the_speakers_day() -> None:
    memory = small()
    memory.encode(
        Event.at(datetime.fromisoformat("2025-06-30T23:30-04:00"), "We signed the lease.", "Bo")
    )
    memory.encode(
        Event.at(
            datetime.fromisoformat("2025-07-01T05:45+02:00"), "Good morning, signed lease.", "Cleo"
        )
    )
    hits = {hit.speaker: hit for hit in memory.retrieve("signed lease")}
    assert (
        hits["Bo"].local.isoformat() == "2025-06-30T23:30:00-04:00"
        and hits["Cleo"].local.isoformat() == "2025-07-01T05:45:00+02:00"
    )
    assert memory.unit(0).local == hits["Bo"].local
    for strategy in ("flat", "packed", "covering", "everything"):
        text = assemble(
            memory, "signed lease", 300, strategy=strategy, counter=LengthCounter()
        ).text
        assert "30 June 2025" in text and "1 July 2025" in text, strategy


def test_each_day_stands_once_and_contexts_keep_their_budget_across_clocks() -> None:
    """Speakers on both sides of midnight alternate: their messages stand under the day of their
    own clock.
    """
    memory = small("naive_rag")
    for n in range(12):
        memory.encode(
            Event(
                NOW + n / 4,
                f"Number {n} about the lease that we signed.",
                "Bo" if n % 2 else "Cleo",
                offset=-11.0 if n % 2 else 9.0,
            )
        )
    for budget in (60, 120, 200, 400, 1000):
        context = assemble(
            memory, "the lease that we signed", budget, strategy="packed", counter=LengthCounter()
        )
        days = re.findall(r"(?m)^\[(\d+ March 2025)\]$", context.text)
        assert (
            context.tokens <= budget and len(days) == len(set(days)) <= 2 and days == sorted(days)
        )


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Event(math.nan, "x"), "no number"),
        (Event(math.inf, "x"), "outside the years"),
        (Event(-1e300, "x"), "outside the years"),
        (Event(NOW, "x", offset=30.0), r"offset 30\.0"),
        (Event(hours(datetime(9999, 12, 31, 23)), "x", offset=3.0), "outside the years"),
        (Event(hours(datetime(1, 1, 1)), "x", offset=-3.0), "outside the years"),
        (Event("noon", "x"), "no number"),
    ],
)  # type: ignore[arg-type]
def test_times_that_cannot_be_change_nothing(event: Event, words: str) -> None:
    memory = told(small(late=math.inf), 0.0, 1.0)
    for call in (
        memory.encode,
        lambda event: memory.encode(event, confirm=True),
        lambda event: memory.encode_all([Event(NOW + 2.0, "ok"), event]),
    ):
        unchanged(memory, lambda call=call: call(event), words)  # type: ignore[misc]


def test_years_1_and_9999_and_mixed_clocks_are_stored() -> None:
    memory = told(small(late=math.inf), 0.0)
    with pytest.warns(ClockWarning):
        memory.encode(Event.at(datetime(9999, 12, 31, 23, 59), "The end.", id="end"))
    memory.encode(Event.at(datetime(1, 1, 1), "The beginning.", id="start"))
    memory.encode(
        Event.at(
            datetime(2025, 3, 3, 10, tzinfo=timezone(timedelta(hours=-12))), "Aware.", id="aware"
        )
    )
    memory.encode(Event.at(datetime(2025, 3, 3, 10), "Naive.", id="naive"))
    memory.advance(memory.now + 100.0)
    assert [hit.id for hit in memory.retrieve("message", k=9).in_time()] == [
        "start",
        "e0",
        "naive",
        "aware",
        "end",
    ]
    assert np.isfinite(memory.retrieve("the end or the beginning").scores).all()
    for text in ("The end.", "The beginning."):
        assert text in memory.context(text, 200).text


def test_the_documentation_lists_what_reads_an_events_own_time() -> None:
    registry = Registry.installed()
    readers = {
        id
        for id in registry.order
        for h in registry.entry(id).load().hooks()
        for c in h.reads
        if getattr(c, "of", c) is CREATED
    }
    page = (Path(__file__).parents[2] / "docs" / "guides" / "time.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| `CREATED`"))
    assert set(re.findall(r"`([a-z_]+)`", row)) == readers
