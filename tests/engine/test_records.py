"""Events and queries: times, and how an event prints."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.base.times import as_hours, hours, moment, offset_of, written
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.memory.arguments import checked_event, checked_query

NOON = datetime(2023, 5, 8, 12, 30)


@pytest.mark.parametrize(
    "when",
    [
        NOON,
        NOON.replace(tzinfo=UTC),
        datetime(2023, 5, 8, 14, 30, tzinfo=timezone(timedelta(hours=2))),
    ],
    ids=str,
)
def test_an_event_at_a_moment_has_its_hours(when: datetime) -> None:
    made = Event.at(when, "We moved.", "Ada", "s1", "e1", "a house", False)
    offset = (
        None
        if when.tzinfo is None
        else float(when.day * 24 + when.hour - NOON.day * 24 - NOON.hour)
    )
    assert made == Event(
        (NOON - datetime(1970, 1, 1)) / timedelta(hours=1),
        "We moved.",
        "Ada",
        "s1",
        "e1",
        "a house",
        False,
        offset=offset,
    )
    assert made.local == when.replace(tzinfo=when.tzinfo or UTC) and made.local.replace(
        tzinfo=None
    ) == when.replace(tzinfo=None)
    assert moment(made.time) == NOON.replace(tzinfo=UTC) and type(made.time) is float


def test_hours_from_datetimes_and_numbers() -> None:
    assert as_hours(NOON) == hours(NOON) == as_hours(hours(NOON))
    for other in (None, "noon", True, 3):
        assert as_hours(other) is other  # type: ignore[arg-type]


@pytest.mark.parametrize(("event", "shown"), [
    (Event.at(NOON, "We moved."), "<Event 2023-05-08 12:30, 'We moved.'>"),
    (Event(NOON, "We moved.", "Ada"), "<Event 2023-05-08 12:30, Ada: 'We moved.'>"),
    # type: ignore[arg-type]
    (Event(30.0, "one\n\n  two\ud800", "Ada\nBo"),
     "<Event 1970-01-02 06:00, Ada Bo: 'one two\\ud800'>"),
    (Event(30.0, "x" * 60), f"<Event 1970-01-02 06:00, '{'x' * 60}'>"), (Event(30.0, "x" * 61),
    f"<Event 1970-01-02 06:00, '{'x' * 57}...'>"),
    (Event(30.0, "x " * 10**6), f"<Event 1970-01-02 06:00, '{'x ' * 28}x...'>"), (Event(1e300, ""),
    "<Event time 1e+300, ''>"),
    (Event(float("nan"), None), "<Event time nan, 'None'>"), (Event("now", 3, 4),
    "<Event time 'now', 4: '3'>"),  # type: ignore[arg-type]
], ids=range(9))  # fmt: skip
def test_an_event_prints_in_one_line(event: Any, shown: str) -> None:
    assert repr(event) == shown and "\n" not in repr(event)


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)), st.integers(-24 * 60 + 1, 24 * 60 - 1)
)
def test_a_clock_shows_its_own_time_everywhere(when: datetime, minutes: int) -> None:
    """Whatever its offset, the day and the hour in a text are those of the given clock, and the
    time is the moment of UTC.
    """
    when = when.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=minutes)))
    event = checked_event(Event.at(when, "We moved."))
    assert event.offset == pytest.approx(minutes / 60) and moment(event.time) == event.local == when
    assert event.local.replace(tzinfo=None) == when.replace(tzinfo=None)
    shown = f"{when.hour % 12 or 12}:{when:%M} {'am' if when.hour < 12 else 'pm'} on {when.day} {when:%B}, {when.year}"
    assert written(event.time, event.offset) == shown and event.rendered() == f"[{shown}] We moved."
    assert checked_event(Event(when, "We moved.")) == event  # type: ignore[arg-type]
    assert checked_query(Query("Who?", time=when), event.time).offset == event.offset  # type: ignore[arg-type]


def test_an_aware_time_and_an_offset_that_is_given() -> None:
    """The offset that is given counts: the same moment on another clock."""
    aware = datetime(1970, 1, 2, 2, tzinfo=timezone(timedelta(hours=-4)))
    assert (
        checked_event(Event(aware, "We moved.", offset=5.5)).local.isoformat()
        == "1970-01-02T11:30:00+05:30"
    )  # type: ignore[arg-type]
    assert (
        offset_of(datetime(1970, 1, 2))
        is None
        is checked_event(Event(datetime(1970, 1, 2), "We moved.")).offset
    )  # type: ignore[arg-type]


FIRST, LAST = hours(datetime(1, 1, 1)), hours(datetime(9999, 12, 31, 23))


@pytest.mark.parametrize(("time", "offset", "words"), [
    (30.0, 30.0, "offset 30.0"), (30.0, -24.0, "offset -24.0"), (30.0, float("nan"), "offset nan"),
    (30.0, float("inf"), "offset inf"),
    (30.0, True, "offset True"), (30.0, "+02:00", "02:00"), (FIRST, -1.0, "outside the years"),
    (LAST, 2.0, "outside the years"),
    (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))), None, "outside the years"),
    (datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12))), None, "outside the years")])  # fmt: skip
def test_a_clock_that_cannot_be_is_refused(time: Any, offset: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        checked_event(Event(time, "We moved.", id="e1", offset=offset))
    assert "'e1'" in str(error.value) and error.value.cure
    with pytest.raises(InputError):
        checked_query(Query("Who?", time=time, offset=offset), float(LAST))


@pytest.mark.parametrize(
    ("time", "offset"), [(FIRST, 1.0), (LAST, -2.0), (FIRST, None), (LAST, 0.0)]
)
def test_the_first_and_the_last_hour_of_the_calendar_are_taken(
    time: float, offset: float | None
) -> None:
    event = checked_event(Event(time, "We moved.", offset=offset))
    assert event.rendered().startswith("[") and str(event.local.year) in ("1", "9999")


def test_a_query_in_the_past_names_the_filter_that_asks_for_it() -> None:
    with pytest.raises(InputError, match="before the memory's present") as error:
        checked_query(Query("Who?", time=29.0), 30.0)
    assert "only=hb.Only(until=time)" in error.value.cure
