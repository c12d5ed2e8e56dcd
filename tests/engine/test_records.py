"""Events and queries: times, and how an event prints."""
from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from hebbarium.engine.records import Event, as_hours, hours, moment

NOON = datetime(2023, 5, 8, 12, 30)


@pytest.mark.parametrize("when", [NOON, NOON.replace(tzinfo=UTC), datetime(2023, 5, 8, 14, 30, tzinfo=timezone(timedelta(hours=2)))], ids=str)
def test_an_event_at_a_moment_has_its_hours(when: datetime) -> None:
    made = Event.at(when, "We moved.", "Ada", "s1", "e1", "a house", False)
    assert made == Event((NOON - datetime(1970, 1, 1)) / timedelta(hours=1), "We moved.", "Ada", "s1", "e1", "a house", False)
    assert moment(made.time) == NOON.replace(tzinfo=UTC) and type(made.time) is float


def test_hours_from_datetimes_and_numbers() -> None:
    assert as_hours(NOON) == hours(NOON) == as_hours(hours(NOON))
    for other in (None, "noon", True, 3):
        assert as_hours(other) is other  # type: ignore[arg-type]


@pytest.mark.parametrize(("event", "shown"), [
    (Event.at(NOON, "We moved."), "<Event 2023-05-08 12:30, 'We moved.'>"),
    (Event(NOON, "We moved.", "Ada"), "<Event 2023-05-08 12:30, Ada: 'We moved.'>"),  # type: ignore[arg-type]
    (Event(30.0, "one\n\n  two\ud800", "Ada\nBo"), "<Event 1970-01-02 06:00, Ada Bo: 'one two\\ud800'>"),
    (Event(30.0, "x" * 60), f"<Event 1970-01-02 06:00, '{'x' * 60}'>"), (Event(30.0, "x" * 61), f"<Event 1970-01-02 06:00, '{'x' * 57}...'>"),
    (Event(30.0, "x " * 10**6), f"<Event 1970-01-02 06:00, '{'x ' * 28}x...'>"), (Event(1e300, ""), "<Event time 1e+300, ''>"),
    (Event(float("nan"), None), "<Event time nan, 'None'>"), (Event("now", 3, 4), "<Event time 'now', 4: '3'>"),  # type: ignore[arg-type]
], ids=range(9))
def test_an_event_prints_in_one_line(event: Any, shown: str) -> None:
    assert repr(event) == shown and "\n" not in repr(event)
