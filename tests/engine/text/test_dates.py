"""Expressions of time: two hundred intervals against dateutil's calendar, what is no time,
hostile text, and speed.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta

import pytest
from dateutil.easter import easter
from dateutil.relativedelta import FR, MO, SA, SU, TH, TU, WE, relativedelta
from hanging import ended_if_it_hangs
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.times import hours
from hebbarium.engine.text.dates import (
    EARLIEST,
    LATEST,
    EventExpression,
    HistoryEnd,
    Relation,
    Times,
    bounded,
    times,
)

D = datetime(2023, 5, 10)  # a Wednesday
SAID = D + relativedelta(hours=9, minutes=30)
MONDAY = D + relativedelta(weekday=MO(-1))
BEGIN, END = datetime(1, 1, 1), None  # END: the end of the calendar
Moment = datetime | None


def day(at: datetime, days: int = 1) -> tuple[datetime, datetime]:
    return at, at + relativedelta(days=days)


def on(year: int, month: int, number: int, days: int = 1) -> tuple[datetime, datetime]:
    return day(datetime(year, month, number), days)


def month(year: int, number: int, months: int = 1) -> tuple[datetime, datetime]:
    at = datetime(year, number, 1)
    return at, at + relativedelta(months=months)


def year(number: int, years: int = 1) -> tuple[datetime, datetime]:
    return month(number, 1, 12 * years)


def around(
    shift: relativedelta, before: relativedelta, after: relativedelta
) -> tuple[datetime, datetime]:
    """From `before` the shifted day to `after` it."""
    at = D + shift
    return at - before, at + after


def week(weeks: int) -> tuple[datetime, datetime]:
    return day(MONDAY + relativedelta(weeks=weeks), 7)


def part(at: datetime, start: int, end: int) -> tuple[datetime, datetime]:
    return at + relativedelta(hours=start), at + relativedelta(hours=end)


R = relativedelta
WEEK, MONTH, YEAR = (R(days=3), R(days=4)), (R(days=15), R(days=16)), (R(months=6), R(months=6))
CASES: tuple[tuple[str, tuple[Moment, Moment]], ...] = (
    # --- ISO and written dates
    ("on 2023-05-07", on(2023, 5, 7)), ("2021-2-3", on(2021, 2, 3)), ("2020-02-29", on(2020, 2,
    29)), ("2024-01", month(2024, 1)),
    ("at 2023-05-07T10:30", (datetime(2023, 5, 7, 10, 30), datetime(2023, 5, 7, 10, 31))),
    ("at 2023-05-07 10:30:15Z", (datetime(2023, 5, 7, 10, 30), datetime(2023, 5, 7, 10, 31))),
    ("5/7/2023", on(2023, 5, 7)), ("25/7/2023", on(2023, 7, 25)), ("7.5.2023", on(2023, 5, 7)),
    ("2023/5/7", on(2023, 5, 7)),
    ("7 May 2023", on(2023, 5, 7)), ("7th of May, 2023", on(2023, 5, 7)), ("May 7, 2023", on(2023,
    5, 7)), ("May 7th 2023", on(2023, 5, 7)),
    ("1st January 1999", on(1999, 1, 1)), ("on the 31st of December 2022", on(2022, 12, 31)),
    ("Feb 29 2024", on(2024, 2, 29)),
    ("Sept. 9, 2021", on(2021, 9, 9)), ("Friday, 5 May 2023", on(2023, 5, 5)),
    ("Friday the 5th of May", on(2023, 5, 5)),
    ("on Monday, June 3rd, 2019", on(2019, 6, 3)), ("7 May last year", on(2022, 5, 7)),
    ("MAY 7 2023", on(2023, 5, 7)),
    ("3-7 May 2022", on(2022, 5, 3, 5)), ("May 3-7, 2022", on(2022, 5, 3, 5)), ("on 5 May 0800",
    on(800, 5, 5)),
    # --- without the year: the latest that has begun, or the next
    ("on 7 May", on(2023, 5, 7)), ("on May 10", on(2023, 5, 10)), ("on 11 May", on(2022, 5, 11)),
    ("December 24th", on(2022, 12, 24)),
    ("on 29 February", on(2020, 2, 29)), ("I will go on 11 May", on(2023, 5, 11)),
    ("we are going to fly on 3 March", on(2024, 3, 3)),
    ("I'll call on 29 February", on(2024, 2, 29)), ("we met on the 7th.", on(2023, 5, 7)),
    ("we met on the 31st", on(2023, 3, 31)),
    ("we will meet on the 31st", on(2023, 5, 31)), ("at Christmas", on(2022, 12, 25)),
    ("last Christmas", on(2022, 12, 25)),
    ("next Christmas", on(2023, 12, 25)), ("on Christmas Eve", on(2022, 12, 24)), ("Christmas 2019",
    on(2019, 12, 25)),
    ("at Halloween", on(2022, 10, 31)),
    # --- months, years, decades, quarters
    ("May 2022", month(2022, 5)), ("in June of 2021", month(2021, 6)), ("in march, 2020",
    month(2020, 3)), ("in May", month(2023, 5)),
    ("in June", month(2022, 6)), ("we will move in June", month(2023, 6)), ("last May", month(2022,
    5)), ("last April", month(2023, 4)),
    ("next May", month(2024, 5)), ("next June", month(2023, 6)), ("this August", month(2023, 8)),
    ("in May last year", month(2022, 5)),
    ("in January of next year", month(2024, 1)), ("in 2019", year(2019)), ("in 1850", year(1850)),
    ("since the year 2000", (datetime(2000, 1, 1), SAID)),
    ("in 2019-2021", year(2019, 3)), ("in the 1990s", year(1990, 10)), ("in the 90s", year(1990,
    10)), ("in the 1960's", year(1960, 10)),
    ("Q2 2022", month(2022, 4, 3)), ("in Sep", month(2022, 9)),
    # --- seasons
    ("in the summer of 2021", month(2021, 6, 3)), ("summer 2021", month(2021, 6, 3)),
    ("last summer", month(2022, 6, 3)),
    ("this summer", month(2023, 6, 3)), ("next spring", month(2024, 3, 3)), ("in spring",
    month(2023, 3, 3)), ("last spring", month(2022, 3, 3)),
    ("in the fall", month(2022, 9, 3)), ("last winter", month(2022, 12, 3)), ("winter 2019",
    month(2019, 12, 3)),
    ("next winter", month(2023, 12, 3)), ("in autumn 2020", month(2020, 9, 3)), ("last autumn",
    month(2022, 9, 3)),
    # --- early, mid, late
    ("in early May", on(2023, 5, 1, 10)), ("mid-May", on(2023, 5, 11, 10)), ("late May 2022",
    on(2022, 5, 21, 11)),
    ("late February 2023", on(2023, 2, 21, 8)), ("in early 2022", month(2022, 1, 4)), ("mid 2022",
    month(2022, 5, 4)),
    ("late last year", month(2022, 9, 4)), ("in the early 1990s", year(1990, 4)),
    ("in the mid-1990s", year(1994, 3)),
    ("the late 1990s", year(1997, 3)), ("early last summer", month(2022, 6)),
    ("in late summer 2020", month(2020, 8)),
    ("at the end of May 2022", on(2022, 5, 21, 11)), ("at the beginning of 2021", month(2021, 1,
    4)), ("in the middle of June", on(2022, 6, 11, 10)),
    ("early next week", day(MONDAY + R(days=7), 2)), ("late last week", day(MONDAY - R(days=3), 3)),
    ("the end of the year", month(2023, 9, 4)),
    ("earlier this week", (MONDAY, SAID)), ("later this month", (SAID, datetime(2023, 6, 1))),
    ("earlier today", (D, SAID)),
    ("later this year", (SAID, datetime(2024, 1, 1))),
    # --- days near the one said
    ("today", day(D)), ("yesterday", day(D - R(days=1))), ("tomorrow", day(D + R(days=1))),
    ("the day before yesterday", day(D - R(days=2))),
    ("the day after tomorrow", day(D + R(days=2))), ("tonight", part(D, 18, 30)), ("last night",
    part(D, -6, 6)),
    ("yesterday morning", part(D, -18, -12)), ("tomorrow evening", part(D, 42, 48)),
    ("this morning", part(D, 6, 12)),
    ("this afternoon", part(D, 12, 18)), ("yesterday", day(SAID.replace(hour=0,
    minute=0) - R(days=1))),
    # --- weekdays
    ("on Friday", day(D + R(days=-1, weekday=FR(-1)))), ("on Wednesday", day(D + R(days=-1,
    weekday=WE(-1)))), ("Monday", day(MONDAY)),
    ("last Friday", day(D + R(days=-1, weekday=FR(-1)))), ("last Wednesday", day(D + R(days=-1,
    weekday=WE(-1)))),
    ("last Monday", day(D + R(days=-1, weekday=MO(-1)))), ("next Friday", day(D + R(days=1,
    weekday=FR))),
    ("next Wednesday", day(D + R(days=1, weekday=WE))), ("next Tuesday", day(D + R(days=1,
    weekday=TU))),
    ("this Friday", day(MONDAY + R(weekday=FR))), ("this Monday", day(MONDAY)),
    ("I'll see you on Friday", day(D + R(days=1, weekday=FR))),
    ("we are going to meet on Thursday", day(D + R(days=1, weekday=TH))), ("Friday night",
    part(D + R(days=-1, weekday=FR(-1)), 18, 30)),
    ("last Sunday afternoon", part(D + R(days=-1, weekday=SU(-1)), 12, 18)),
    ("Tuesday of last week", day(MONDAY + R(weeks=-1, weekday=TU))),
    ("Monday next week", day(MONDAY + R(weeks=1))), ("next Sat", day(D + R(days=1, weekday=SA))),
    ("the past Tuesday", day(D + R(days=-1, weekday=TU(-1)))), ("the coming Saturday",
    day(D + R(days=1, weekday=SA))),
    # --- last, this, next unit
    ("last week", week(-1)), ("this week", week(0)), ("next week", week(1)), ("last month",
    month(2023, 4)), ("this month", month(2023, 5)),
    ("next month", month(2023, 6)), ("last year", year(2022)), ("this year", year(2023)),
    ("next year", year(2024)), ("last decade", year(2010, 10)),
    ("this decade", year(2020, 10)), ("last quarter", month(2023, 1, 3)), ("this quarter",
    month(2023, 4, 3)), ("the previous month", month(2023, 4)),
    ("the past week", (SAID - R(days=7), SAID)), ("over the past month", (SAID - R(months=1),
    SAID)),
    ("for the last two years", (SAID - R(years=2), SAID)),
    ("in the last 3 weeks", (SAID - R(weeks=3), SAID)), ("the past few days", (SAID - R(days=3),
    SAID)),
    ("the next two weeks", (SAID, SAID + R(weeks=2))), ("the coming month", (SAID,
    SAID + R(months=1))),
    ("in the last 36 hours", (SAID - R(hours=36), SAID)), ("the last couple of months",
    (SAID - R(months=2), SAID)),
    # --- N units ago, in N units
    ("3 days ago", day(D - R(days=3))), ("a day ago", day(D - R(days=1))), ("two weeks ago",
    around(-R(weeks=2), *WEEK)),
    ("a week ago", around(-R(weeks=1), *WEEK)), ("a month ago", around(-R(months=1), *MONTH)),
    ("6 months ago", around(-R(months=6), *MONTH)),
    ("a year ago", around(-R(years=1), *YEAR)), ("ten years ago", around(-R(years=10), *YEAR)),
    ("a few days ago", day(D - R(days=3))),
    ("a couple of weeks ago", around(-R(weeks=2), *WEEK)), ("several months ago",
    around(-R(months=5), *MONTH)),
    ("two or three weeks ago", (D - R(days=24), D - R(days=10))), ("two hours ago",
    (SAID - R(minutes=150), SAID - R(minutes=90))),
    ("a decade ago", around(-R(years=10), R(years=5), R(years=5))), ("two weekends ago",
    day(MONDAY + R(weeks=-2, days=5), 2)),
    ("3 nights ago", day(D - R(days=3))), ("in two weeks", around(R(weeks=2), *WEEK)), ("in 3 days",
    day(D + R(days=3))),
    ("in a month's time, in a month", around(R(months=1), *MONTH)), ("three weeks from now",
    around(R(weeks=3), *WEEK)),
    ("two Fridays ago", day(D + R(days=-1, weekday=FR(-1)) - R(weeks=1))), ("three summers ago",
    month(2020, 6, 3)),
    ("a week from Friday", day(D + R(weekday=FR) + R(weeks=1))), ("the week before last",
    week(-2)),
    ("the night before last", part(D, -30, -18)), ("yesterday's news", day(D - R(days=1))),
    ("last week's talk", week(-1)),
    ("two days from tomorrow", day(D + R(days=3))), ("a fortnight ago", around(-R(days=14),
    R(days=7), R(days=7))),
    # --- weekends
    ("last weekend", day(MONDAY + R(days=-2), 2)), ("this weekend", day(MONDAY + R(days=5), 2)),
    ("next weekend", day(MONDAY + R(days=12), 2)),
    ("over the weekend", day(MONDAY + R(days=-2), 2)), ("we will hike at the weekend",
    day(MONDAY + R(days=5), 2)),
    # --- since, until, between, before, after
    ("since May 2021", (datetime(2021, 5, 1), SAID)), ("since last Friday", (D + R(days=-1,
    weekday=FR(-1)), SAID)),
    ("since 2010", (datetime(2010, 1, 1), SAID)), ("since yesterday", (D - R(days=1), SAID)),
    ("until Friday", (SAID, datetime(2023, 5, 13))), ("she lived there until 2019", (BEGIN,
    datetime(2020, 1, 1))),
    ("by Friday", (SAID, datetime(2023, 5, 13))), ("by June", (SAID, datetime(2023, 7, 1))),
    ("before 2020", (BEGIN, datetime(2020, 1, 1))),
    ("before last Friday", (BEGIN, D + R(days=-1, weekday=FR(-1)))), ("after May 2022",
    (datetime(2022, 6, 1), END)),
    ("after 7 May 2023", (datetime(2023, 5, 8), END)), ("during June 2021", month(2021, 6)),
    ("between May and July 2022", month(2022, 5, 3)),
    ("between 2018 and 2020", year(2018, 3)), ("from 2018 to 2020", year(2018, 3)),
    ("between March and April", month(2023, 3, 2)),
    ("between November and January", month(2022, 11, 3)), ("from Monday to Wednesday", day(MONDAY,
    3)),
    ("between 5 and 7 May 2022", on(2022, 5, 5, 3)), ("from 28 May to 3 June 2022", on(2022, 5, 28,
    7)), ("from May 5 to May 7", on(2023, 5, 5, 3)),
    ("May to July 2022", month(2022, 5, 3)), ("Monday to Wednesday", day(MONDAY, 3)),
    ("28 May - 3 June 2022", on(2022, 5, 28, 7)),
    ("we walked from Friday to Rome", day(D + R(days=-1, weekday=FR(-1)))),
    ("two weeks before 7 May 2023", (datetime(2023, 4, 20), datetime(2023, 4, 27))),
    ("the day after 7 May 2023", on(2023, 5, 8)),
    ("the week before 7 May 2023", on(2023, 4, 30, 7)),
    # --- the first, the last of a longer interval
    ("the first week of May", on(2023, 5, 1, 7)), ("the second week of June 2021", on(2021, 6, 8,
    7)),
    ("the last week of May 2022", on(2022, 5, 25, 7)),
    ("the first Friday of May", day(datetime(2023, 5, 1) + R(weekday=FR))),
    ("the last Friday in 2021", day(datetime(2021, 12, 31) + R(weekday=FR(-1)))),
    ("the last day of February 2024", on(2024, 2, 29)), ("the first half of 2022", month(2022, 1,
    6)),
    ("the second half of last year", month(2022, 7, 6)),
    ("the third quarter of 2021", month(2021, 7, 3)), ("the first weekend of April",
    day(datetime(2023, 4, 1) + R(weekday=SA), 2)),
    ("the 2nd week of June 2021", on(2021, 6, 8, 7)), ("the last month of 2020", month(2020, 12)),
    # --- hours of a day, before or after it
    ("yesterday at noon", part(D - R(days=1), 11, 13)), ("at noon on 3 May", part(datetime(2023, 5,
    3), 11, 13)),
    ("on 3 May around lunchtime", part(datetime(2023, 5, 3), 11, 13)), ("at midnight on 3 May",
    part(datetime(2023, 5, 3), 23, 25)),
    ("at 7 pm yesterday", (D - R(hours=5, minutes=30), D - R(hours=4, minutes=30))),
    ("yesterday at 19:00", (D - R(hours=5, minutes=30),
                                                                                                             D - R(hours=4, minutes=30))),
    ("at 9 a.m. on 3 May", (datetime(2023, 5, 3, 8, 30), datetime(2023, 5, 3, 9, 30))),
    ("on 3 May at 9:30pm", (datetime(2023, 5, 3, 21), datetime(2023, 5, 3, 22))),
    ("on 3 May at 12 am", (datetime(2023, 5, 2, 23, 30), datetime(2023, 5, 3, 0, 30))),
    ("on Tuesday at 9 in the evening", (D - R(hours=3, minutes=30), D - R(hours=2, minutes=30))),
    ("at 9 o'clock this morning", (D + R(hours=8, minutes=30), D + R(hours=9, minutes=30))),
    ("last night at 11 pm", (D - R(hours=1, minutes=30), D - R(minutes=30))),
    ("on the evening of the 7th", part(datetime(2023, 5, 7), 18, 24)),
    ("in the early hours of 7 May", part(datetime(2023, 5, 7), 0, 6)),
    ("on Sunday in the afternoon", part(D + R(weekday=SU(-1)), 12, 18)),
    # --- a day within a week
    ("two weeks ago on Monday", day(D - R(days=17) + R(weekday=MO(1)))), ("Monday two weeks ago",
    day(D - R(days=17) + R(weekday=MO(1)))),
    ("last week on Friday", day(week(-1)[0] + R(weekday=FR(1)))), ("a week ago yesterday",
    day(D - R(days=8))),
    ("two weeks ago today", day(D - R(days=14))),
    ("the week of 3 May", day(datetime(2023, 5, 1), 7)), ("in the week starting 3 May",
    day(datetime(2023, 5, 3), 7)),
    ("on the weekend of the 6th of May", day(datetime(2023, 5, 6), 2)),
    # --- numbers in words, and several units of an interval
    ("twenty-one days ago", day(D - R(days=21))), ("fifteen days ago", day(D - R(days=15))),
    ("half a year ago", around(R(months=-6), *MONTH)),
    ("on the tenth of April", on(2023, 4, 10)), ("on April twenty-first", on(2023, 4, 21)),
    ("the first of May", on(2023, 5, 1)), ("on the ninth", on(2023, 5, 9)),
    ("the first ten days of April", on(2023, 4, 1, 10)), ("the last two weeks of April", on(2023, 4,
    17, 14)),
    ("in the first days of April", on(2023, 4, 1, 3)),
    # --- the one before last, ranges of counts, this time of another year
    ("the Friday before last", day(D + R(days=-1, weekday=FR(-1)) - R(weeks=1))),
    ("on the Wednesday before last", day(D - R(weeks=2))), ("Saturday before last",
    day(D + R(weekday=SA(-1)) - R(weeks=1))),
    ("the past weekend", day(MONDAY + R(days=-2), 2)), ("this past weekend",
    day(MONDAY + R(days=-2), 2)),
    ("the coming weekend", day(MONDAY + R(days=5), 2)),
    ("two or three days ago", day(D - R(days=3), 2)), ("2-3 days ago", day(D - R(days=3), 2)),
    ("ten to fourteen days ago", day(D - R(days=14), 5)), ("three days back", day(D - R(days=3))),
    ("this time last week", day(D - R(weeks=1))), ("this time last year", day(D - R(years=1,
    days=15), 31)),
    ("last year in March", month(2022, 3)), ("last year on 3 June", on(2022, 6, 3)),
    ("in 2021 in the summer", month(2021, 6, 3)),
    ("on the 5th of last month", on(2023, 4, 5)), ("on the first of the month", on(2023, 5, 1)),
    ("28-Apr-2022", on(2022, 4, 28)), ("in Q1", month(2023, 1, 3)),
    # --- nights
    ("on the night of 3 May", part(datetime(2023, 5, 3), 18, 30)), ("the night of the 7th",
    part(datetime(2023, 5, 7), 18, 30)),
    ("in the night from Monday to Tuesday", part(MONDAY, 18, 30)),
    ("in the small hours of 7 May", part(datetime(2023, 5, 7), 0, 6)),
    # --- feasts
    ("on Good Friday", on(2023, 4, 7)), ("on Easter Sunday", on(2023, 4, 9)), ("Easter Monday",
    on(2023, 4, 10)), ("at Easter 2024", on(2024, 3, 31)),
    ("next Easter", on(2024, 3, 31)), ("last Easter", on(2023, 4, 9)),
    ("on Boxing Day", on(2022, 12, 26)), ("on New Year's Eve", on(2022, 12, 31)),
    ("on New Year's Eve 2021", on(2021, 12, 31)), ("this New Year's Eve", on(2023, 12, 31)),
    ("on New Year's Day", on(2023, 1, 1)), ("on Valentine's Day", on(2023, 2, 14)),
    ("at Thanksgiving", on(2022, 11, 24)), ("Thanksgiving 2023", on(2023, 11, 23)),
    # --- lists: the last one
    ("on the 3rd and the 5th", on(2023, 5, 5)), ("on Monday, Tuesday and Sunday",
                                                 day(D + R(weekday=SU(-1)))),
    ("in January and April", month(2023, 4)),
)  # fmt: skip


def span(start: Moment, end: Moment) -> tuple[float, float]:
    return EARLIEST if start == BEGIN else hours(start or D), LATEST if end is None else hours(end)


def shown(h: float) -> str:
    return (
        str(datetime.fromtimestamp(0, UTC) + relativedelta(microseconds=round(h * 3.6e9)))
        if EARLIEST < h < LATEST
        else str(h)
    )


@pytest.mark.parametrize("year", range(1900, 2100))
def test_easter_and_thanksgiving_are_those_of_dateutil(year: int) -> None:
    said = hours(datetime(year, 12, 31))
    for name, expected in (
        ("Easter", datetime.combine(easter(year), datetime.min.time())),
        ("Thanksgiving", datetime(year, 11, 1) + R(weekday=TH(4))),
    ):
        (expression,) = times(f"at {name} {year}", said).expressions
        assert expression.start == hours(expected)


def test_new_years_eve_is_today_on_the_last_day_of_a_year() -> None:
    (expression,) = times("It is New Year's Eve!", hours(datetime(2022, 12, 31, 9))).expressions
    assert (expression.start, expression.end) == span(*on(2022, 12, 31))


def test_the_focus_of_the_middle_and_the_end_of_a_month() -> None:
    for text, expected in (
        ("at the end of April", on(2023, 4, 27, 4)),
        ("in mid April", on(2023, 4, 14, 4)),
        ("in the middle of April", on(2023, 4, 14, 4)),
    ):
        (expression,) = times(text, hours(SAID)).expressions
        assert expression.focus == span(*expected)
    (late,) = times("in late April", hours(SAID)).expressions
    assert late.focus is None


def test_there_are_two_hundred_expressions() -> None:
    assert len({text for text, _ in CASES}) >= 200


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text for text, _ in CASES])
def test_an_expression_has_its_interval(text: str, expected: tuple[Moment, Moment]) -> None:
    found = times(text, hours(SAID)).expressions
    assert found, "nothing found"
    start, end = span(*expected)
    got = found[-1]
    assert math.isclose(got.start, start, abs_tol=1e-6) and math.isclose(
        got.end, end, abs_tol=1e-6
    ), (got.text, shown(got.start), shown(got.end))


@pytest.mark.parametrize("text", [
    "", " ", "We had a good time.",
    "I may go, we march on, second thoughts, spring cleaning, the fall of Rome",
    "I have 2023 points and 1999 dollars", "every Friday", "on Fridays", "each May",
    "flight 2023-05-07-11 and v2.3.2023.4", "3.5 days ago",
    "She looks after the kids.", "the last straw", "on the 7th floor",
    "a 3-day trip, my 30-year-old", "I sat with Sun and Mon Mothma", "It fell on the fourth try",
    "in the end", "at first",
    "in no time", "a week", "years ago", "last name, next door, this one",
    "I finished it in two days", "since then, before that, by then, until now",
    "in 2000 words", "May I come in?", "for the first time in three years",
    "He will be back", "two hours back in the car", "a new year",
    "this time it works", "small hours", "a night of fun",
    "in half an hour", "this may be late", "early bird", "the middle of nowhere",
])  # fmt: skip
def test_what_is_no_time_is_left_alone(text: str) -> None:
    assert times(text, hours(SAID)).expressions == ()


@pytest.mark.parametrize("text", [
    "-3 days ago", "it was -3 days ago", "on the 45th", "in 10000 years", "last time",
    "the first time", "now", "at 9 am", "at noon",
    "my tenth birthday",
    "half a day", "the twentieth century", "25 pm", "at 9:75 pm", "noon of nowhere",
    "the week of my exam", "the first ten days of nowhere",
])  # fmt: skip
def test_nonsense_and_hours_without_a_day_are_no_time(text: str) -> None:
    assert times(text, hours(SAID)).expressions == ()


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("What did I do yesterday?", "What did I do ?"),
        ("Who called me on Tuesday at 9 am about the roof?", "Who called me  about the roof?"),
        ("In May, and in June 2021, who sang?", ", and , who sang?"),
        ("Who sang?", "Who sang?"),
        ("", ""),
        ("On the twenty-first of May we ate", " we ate"),
    ],
)
def test_the_text_beside_its_times(text: str, rest: str) -> None:
    assert times(text, hours(SAID)).beside(text) == rest


WORDS = ("yesterday", "last", "week", "on", "the", "14th", "twenty", "-", "first", "of", "May",
         "2023", "at", "9", ":", "30", "pm", "noon", "evening",
         "ago", "two", "three", "days", "and", ",", "Monday", "half", "a", "ten", "in")  # fmt: skip


@given(st.text(max_size=200) | st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_times_are_places_of_their_text_in_order(text: str) -> None:
    found, end = times(text, hours(SAID)).expressions, 0
    for each in found:
        assert (
            each.start < each.end
            and end <= each.place
            and text[each.place : each.place + len(each.text)] == each.text
        )
        assert each.focus is None or each.start <= each.focus[0] < each.focus[1] <= each.end
        end = each.place + len(each.text)


@pytest.mark.parametrize(("text", "focus"), [
    ("a week ago", day(D - R(days=7))), ("in two weeks", day(D + R(days=14))), ("two months ago",
    day(D - R(months=2))), ("two days ago", None),
    ("last week", None), ("two weeks ago on Monday", None), ("two weeks ago, and on Monday", None),
])  # fmt: skip
def test_a_vague_time_has_the_day_in_its_middle_as_focus(
    text: str, focus: tuple[Moment, Moment] | None
) -> None:
    assert times(text, hours(SAID)).expressions[-1].focus == (
        None if focus is None else span(*focus)
    )


@pytest.mark.parametrize("text", [
    "February 30", "30 February 2023", "last February 30", "on 31 April", "February 29 2023",
    "in the year 0", "0000-00-00", "2023-13-45",
    "2023-02-30", "2023-W54", "in week 0", "in week 54 of 2023", "in 13/2023", "in 99999", "99999-01-01", "5 May 0000", "32.13.2023", "9999 years ago",
    "in 9999 decades", "the last 9999 years", "since tomorrow",
    "between 2020 and 2018", "from June 2022 to May 2022", "between February 30 and February 31",
    "the fifth quarter of 2020",
    "the fifth Friday of February 2023", "summer 0000", "7-3 May 2023", "2021-2019", "in 2021-2019",
    "١٢ مايو", "May ٣", "²0 May ago",
])  # fmt: skip
def test_a_bad_date_gives_nothing(text: str) -> None:
    assert times(text, hours(SAID)).expressions == ()


@pytest.mark.parametrize("said", [math.nan, math.inf, -math.inf, 1e300, -1e300, 1e9, -1e9])
def test_outside_the_calendar_nothing_is_said(said: float) -> None:
    assert times("yesterday, in May, before the move", said) == Times()


@pytest.mark.parametrize("said", [EARLIEST, EARLIEST + 1.0, LATEST - 1.0, LATEST - 0.25])
def test_at_the_ends_of_the_calendar_intervals_stay_inside(said: float) -> None:
    for text, _ in CASES:
        for found in times(text, said).expressions:
            assert EARLIEST - 1e4 <= found.start < found.end <= LATEST + 1e4, text


@pytest.mark.parametrize(("text", "events"), [
    ("What did Ada buy before the move?", (EventExpression(Relation.BEFORE, "the move"),)),
    ("After the trip to Rome, what did she paint?", (EventExpression(Relation.AFTER,
    "the trip to Rome"),)),
    ("Where did we live until she moved to Oslo", (EventExpression(Relation.UNTIL,
    "she moved to Oslo"),)),
    ("Who called since Ada's wedding?", (EventExpression(Relation.SINCE, "Ada's wedding"),)),
    ("Three days after the launch we fixed it", (EventExpression(Relation.AFTER, "the launch", 3,
    "day"),)),
    ("What happened two weeks after the move?", (EventExpression(Relation.AFTER, "the move", 2,
    "week"),)),
    ("Who came the day before my exam?", (EventExpression(Relation.BEFORE, "my exam", 0, "day"),)),
    ("What did he learn during the course and after moving?",
     (EventExpression(Relation.DURING, "the course"), EventExpression(Relation.AFTER, "moving"))),
    ("Have we met before? I looked after the dog, and after that I slept before it", ()),
    ("before 2020, after Friday, since May", ()),
])  # fmt: skip
def test_events_that_give_a_time(text: str, events: tuple[EventExpression, ...]) -> None:
    assert times(text, hours(SAID)).events == events


@pytest.mark.parametrize(("text", "order"), [
    ("What was the first book she read?", HistoryEnd.FIRST), ("Which car did he buy first?",
    HistoryEnd.FIRST), ("my earliest memory", HistoryEnd.FIRST),
    ("What is her latest job?", HistoryEnd.LATEST), ("the most recent trip", HistoryEnd.LATEST),
    ("When was the last time we met?", HistoryEnd.LATEST),
    ("What is her first name?", HistoryEnd.NONE), ("at first", HistoryEnd.NONE), ("the last name",
    HistoryEnd.NONE), ("How long did it last?", HistoryEnd.NONE),
    ("the first week of May", HistoryEnd.NONE), ("last Friday", HistoryEnd.NONE),
])  # fmt: skip
def test_which_of_several_is_asked_for(text: str, order: HistoryEnd) -> None:
    assert times(text, hours(SAID)).order is order


def test_an_interval_is_bounded_by_another() -> None:
    span, said = (10.0, 20.0), 100.0
    assert [bounded(r, span, said) for r in Relation] == [
        (EARLIEST, 10.0),
        (20.0, LATEST),
        (10.0, 100.0),
        (EARLIEST, 20.0),
        (10.0, 20.0),
    ]
    assert (
        bounded(Relation.UNTIL, span, 15.0) == (15.0, 20.0)
        and bounded(Relation.SINCE, span, 5.0) is None
    )
    assert bounded(Relation.DURING, (7.0, 7.0), said) == (7.0, 7.0)


@pytest.mark.parametrize(("event", "happened", "expected"), [
    (EventExpression(Relation.BEFORE, "x", 0, "week"), (datetime(2023, 5, 7, 15), datetime(2023, 5,
    7, 15)), on(2023, 4, 30, 7)),
    (EventExpression(Relation.AFTER, "x", 0, "day"), (datetime(2023, 5, 7, 15), datetime(2023, 5, 7,
    15)), on(2023, 5, 8)),
    (EventExpression(Relation.AFTER, "x", 0, "day"), on(2023, 5, 7), on(2023, 5, 8)),
    (EventExpression(Relation.AFTER, "x", 3, "day"), (datetime(2023, 5, 7, 15), datetime(2023, 5, 7,
    15)), on(2023, 5, 10)),
    (EventExpression(Relation.BEFORE, "x", 1, "month"), on(2023, 5, 7), (datetime(2023, 3, 23),
    datetime(2023, 4, 23))),
    (EventExpression(Relation.AFTER, "x", 2, "hour"), (datetime(2023, 5, 7, 15), datetime(2023, 5,
    7, 15)),
     (datetime(2023, 5, 7, 16, 30), datetime(2023, 5, 7, 17, 30))),
])  # fmt: skip
def test_units_beside_an_event(
    event: EventExpression, happened: tuple[datetime, datetime], expected: tuple[datetime, datetime]
) -> None:
    assert event.span(span(*happened), hours(SAID)) == pytest.approx(span(*expected))


def test_the_first_week_of_a_year_may_begin_in_the_year_before() -> None:
    for said, expected in (
        (datetime(2025, 12, 30, 9), on(2025, 12, 29, 7)),
        (datetime(2025, 12, 28, 9), on(2024, 12, 30, 7)),
        (datetime(2027, 1, 2, 9), on(2025, 12, 29, 7)),
        (datetime(2027, 1, 4, 9), on(2027, 1, 4, 7)),
    ):
        (expression,) = times("in week 1", hours(said)).expressions
        assert (expression.start, expression.end) == span(*expected), said


@given(st.dates(datetime(1990, 1, 1).date(), datetime(2090, 1, 1).date()))
def test_weeks_by_their_number_are_those_of_the_iso_calendar(at: date) -> None:
    said = hours(datetime(at.year, at.month, at.day, 12))
    week = at.isocalendar()
    monday = hours(datetime.combine(at - timedelta(days=week.weekday - 1), datetime.min.time()))
    for text in (f"in week {week.week}", f"in KW{week.week:02}", f"{week.year}-W{week.week:02}"):
        (expression,) = times(text, said).expressions
        assert (expression.start, expression.end) == (monday, monday + 7 * 24.0)


def test_two_days_of_a_list_need_no_second_article() -> None:
    read = times("Who called on the 14th and 15th?", hours(SATURDAY)).expressions
    assert [e.start for e in read] == [hours(datetime(2026, 2, day)) for day in (14, 15)]


def test_the_first_expressions_are_kept() -> None:
    text = "in 2001, in 2002, in 2003, in 2004, in 2005"
    assert [e.text for e in times(text, hours(SAID)).expressions] == [
        "in 2001",
        "in 2002",
        "in 2003",
        "in 2004",
    ]
    assert [e.text for e in times(text, hours(SAID), 9).expressions][-1] == "in 2005" and times(
        text, hours(SAID), 0
    ).expressions == ()


def test_case_apostrophes_and_other_letters_do_not_matter() -> None:
    plain = times("i'll come next friday, in june 2022", hours(SAID))
    other = times("I’LL come NEXT FRIDAY, İn… in JUNE 2022", hours(SAID))
    assert [(e.start, e.end) for e in plain.expressions] == [
        (e.start, e.end) for e in other.expressions
    ] and len(plain.expressions) == 2


def test_the_time_said_alone_decides() -> None:
    early, late = (
        times("yesterday", hours(datetime(2023, 5, 10, h))).expressions[0] for h in (0, 23)
    )
    assert early == late
    assert times("yesterday", hours(datetime(2020, 3, 1))).expressions[0].start == hours(
        datetime(2020, 2, 29)
    )


HOSTILE = (
    "last " * 200_000, "in " * 300_000, "the first week of " * 50_000, "between " * 120_000,
    "two weeks before " * 60_000, "before the " * 90_000,
    "early " * 160_000, "every " * 160_000, "from May to " * 80_000, "in May, " * 120_000,
    "9" * 1_000_000, "1," * 500_000, "1-" * 500_000,
    "a'" * 500_000, "May 5-" * 160_000, "Friday, the " * 80_000, "in two weeks " * 70_000,
    "\u0130" * 1_000_000, "2023-05-" * 120_000,
    "the day before " * 60_000, "on the 7th " * 90_000, "1." * 499_999 + "x", " " * 1_000_000,
    "if I will " * 100_000,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_hostile_text_takes_linear_time(text: str) -> None:
    with ended_if_it_hangs():
        times(text[: len(text) // 4], hours(SAID), len(text))


@pytest.mark.slow
def test_a_megabyte_of_hostile_texts_ends() -> None:
    with ended_if_it_hangs():
        text = "".join(text[: 1_000_000 // len(HOSTILE)] for text in HOSTILE)
        times(text, hours(SAID), len(text))


@given(
    st.lists(
        st.sampled_from(sorted({w for text, _ in CASES for w in text.split()} | set(",.-–'\n²é"))),
        max_size=30,
    ),
    st.floats(-1.8e7, 7.1e7),
)
def test_any_order_of_the_words_gives_intervals_or_nothing(words: list[str], said: float) -> None:
    for found in times(" ".join(words), said).expressions:
        assert found.start < found.end and math.isfinite(found.start) and math.isfinite(found.end)
        assert found.text


SATURDAY = datetime(2026, 2, 28, 8, 10)
ASKED: tuple[tuple[str, tuple[Moment, Moment]], ...] = (
    ("Who did I meet 10d ago?", on(2026, 2, 18)),
    ("What did I pay 3 wks ago?", on(2026, 2, 4, 7)),
    ("What did I write 2w ago?", on(2026, 2, 11, 7)),
    ("Who called 5 hrs ago?", (datetime(2026, 2, 28, 2, 40), datetime(2026, 2, 28, 3, 40))),
    ("Which film did we see 2 yrs ago?", (datetime(2023, 8, 28), datetime(2024, 8, 28))),
    ("Where did we hike the autumn before last?", month(2024, 9, 3)),
    ("Where did we go the summer before last?", month(2024, 6, 3)),
    ("Who visited the Christmas before last?", on(2024, 12, 25)),
    ("Which concerts were there in the October before last?", month(2024, 10)),
    ("What did I plant on 2/3?", on(2026, 2, 3)),
    ("What did I plant on 3/4?", on(2025, 3, 4)),
    ("What did I plant on 13/2?", on(2026, 2, 13)),
    ("What was discussed from 2/9 to 2/13?", on(2026, 2, 9, 5)),
    ("What was discussed between 12/29 and 1/2?", on(2025, 12, 29, 5)),
    ("What was discussed since 2/20?", (datetime(2026, 2, 20), SATURDAY)),
    ("Who called last month on the 31st?", on(2026, 1, 31)),
    ("Who called last month on the 5th?", on(2026, 1, 5)),
    ("Who called on the 12th last month?", on(2026, 1, 12)),
    ("What happened in H2 2024?", month(2024, 7, 6)),
    ("What did he play in the eighties?", year(1980, 10)),
    ("What did he play in the '90s?", year(1990, 10)),
    ("What did I read the other evening?", on(2026, 2, 21, 7)),
    ("What is due a fortnight from Monday?", on(2026, 3, 16)),
    ("What do I have the Monday after next?", on(2026, 3, 9)),
    ("What did I do between noon and 3 pm yesterday?", part(datetime(2026, 2, 27), 12, 15)),
    ("What did I do from 2 pm to 4 pm on Monday?", part(datetime(2026, 2, 23), 14, 16)),
    ("What did I write a year and a half ago?", (datetime(2024, 8, 13), datetime(2024, 9, 13))),
    ("Who rang an hour and a half ago?", part(datetime(2026, 2, 28, 6, 10), 0, 1)),
    ("Who rang two and a half hours ago?", part(datetime(2026, 2, 28, 5, 10), 0, 1)),
    ("What did we do on St Patrick's Day?", on(2025, 3, 17)),
    ("What did we do on May Day?", on(2025, 5, 1)),
    ("Who fooled me on April Fools' Day?", on(2025, 4, 1)),
    ("What did we do between Christmas and New Year?", on(2025, 12, 25, 8)),
    ("Whom did we meet on 31.8. in Oslo?", on(2025, 8, 31)),
    ("What did I do on 31.08.?", on(2025, 8, 31)),
    ("What did I do on 3.2.?", on(2026, 2, 3)),
    ("What did I eat on Tuesday, 3.2.?", on(2026, 2, 3)),
    ("What did I eat on Tuesday 3.2 at the fair?", on(2026, 2, 3)),
    ("Where was I from 1.2. to 5.2.?", on(2026, 2, 1, 5)),
    ("Where was I between 28.12. and 2.1. with Bo?", on(2025, 12, 28, 6)),
    ("What did I do on 3. 2. with Bo?", on(2026, 2, 3)),
    ("What did I do on 31. August?", on(2025, 8, 31)),
    ("What did I do on Friday, 31. May 2024?", on(2024, 5, 31)),
    ("What did I do on 31.8.24?", on(2024, 8, 31)),
    ("What did I do on 31.8.98?", on(1998, 8, 31)),
    ("What did I do on 5/7/24?", on(2024, 5, 7)),
    ("What did I do on 31-08-2024?", on(2024, 8, 31)),
    # --- a month of a year in numbers, and years of two digits
    ("What did I do in 08/2023?", month(2023, 8)),
    ("What did I spend in 8/2023?", month(2023, 8)),
    ("What did I spend 08/2023?", month(2023, 8)),
    ("Who called in 08.2023?", month(2023, 8)),
    ("Who called in 8.2023?", month(2023, 8)),
    ("Who called in 08-2023?", month(2023, 8)),
    ("Who called in 2023/08?", month(2023, 8)),
    ("Who called between 8/2023 and 10/2023?", month(2023, 8, 3)),
    ("Who called since 8/2023?", (datetime(2023, 8, 1), SATURDAY)),
    ("Who called in Aug '23?", month(2023, 8)),
    ("Who called in Aug ‘23, and why?", month(2023, 8)),
    ("Who called in aug'23?", month(2023, 8)),
    ("Who called Aug-2023?", month(2023, 8)),
    ("Who called on 8 Aug '23?", on(2023, 8, 8)),
    ("Who called on Aug 8, '23?", on(2023, 8, 8)),
    ("Where were we in the summer of '23?", month(2023, 6, 3)),
    ("Where were we in '98?", year(1998)),
    ("What did I do on 3-Feb-26?", on(2026, 2, 3)),
    ("What did I do on 3/Feb/2026?", on(2026, 2, 3)),
    ("What did I do on 2.3.26?", on(2026, 3, 2)),
    ("What happened in Q3 '23?", month(2023, 7, 3)),
    ("What happened in Q3/2023?", month(2023, 7, 3)),
    ("What happened in 2023-Q3?", month(2023, 7, 3)),
    ("What happened in 2023Q3?", month(2023, 7, 3)),
    ("Where did we ski in 2024/25?", year(2024, 2)),
    ("Where did we ski in winter 2024/25?", month(2024, 12, 3)),
    ("Where did we ski in the winter of 2024-25?", month(2024, 12, 3)),
    ("What happened in 2009-10?", month(2009, 10)),
    # --- 3.8 without its last dot
    ("What did I do on 3.8?", on(2025, 8, 3)),
    ("Whom did we meet on 3.8 in Oslo?", on(2025, 8, 3)),
    ("What did Ada do on 3.8?", on(2025, 8, 3)),
    ("Where was Bo on 3.8?", on(2025, 8, 3)),
    ("Which parcel came on 20.2?", on(2026, 2, 20)),
    # --- weeks by their number, and by a day
    ("What did I do in week 31?", on(2025, 7, 28, 7)),
    ("What did I do in week 7 of 2026?", on(2026, 2, 9, 7)),
    ("What did I do in week 7/2025?", on(2025, 2, 10, 7)),
    ("What did I do in week 31 last year?", on(2025, 7, 28, 7)),
    ("What did I do in KW 31?", on(2025, 7, 28, 7)),
    ("What did I do in KW31?", on(2025, 7, 28, 7)),
    ("What did I do in calendar week 31?", on(2025, 7, 28, 7)),
    ("What did I do in W31 2024?", on(2024, 7, 29, 7)),
    ("What did I do in 2024-W31?", on(2024, 7, 29, 7)),
    ("What did I do on 2024-W31-3?", on(2024, 7, 31)),
    ("What did I do in week 53?", on(2020, 12, 28, 7)),
    ("What is due in week 12?", on(2026, 3, 16, 7)),
    ("What was week 7 like?", on(2026, 2, 9, 7)),
    ("Week 7: who called?", on(2026, 2, 9, 7)),
    ("What did I do in weeks 5 to 7?", on(2026, 1, 26, 21)),
    ("What did I do in weeks 5 and 6?", on(2026, 1, 26, 14)),
    ("What did I do from week 5 to week 7?", on(2026, 1, 26, 21)),
    ("Who called during the week of 2/9?", on(2026, 2, 9, 7)),
    ("Who called in the week of 9.2. then?", on(2026, 2, 9, 7)),
    ("Who called in the week commencing 9 February?", on(2026, 2, 9, 7)),
    ("Who called in the week ending 15 February?", on(2026, 2, 9, 7)),
    ("Who called w/c 9 Feb?", on(2026, 2, 9, 7)),
    ("Who called w/e 15 Feb?", on(2026, 2, 9, 7)),
    # --- weekdays with a number, which tell its month, or the order of two numbers
    ("Who called on Saturday 14?", on(2026, 2, 14)),
    ("Who called on Wednesday the 10th?", on(2025, 12, 10)),
    ("Who called on Tuesday 3/2?", on(2026, 2, 3)),
    ("What is due on Tuesday week?", on(2026, 3, 10)),
    ("Who called on 14/15 February?", on(2026, 2, 14, 2)),
    ("Who called in the past 48h?", (SATURDAY - R(hours=48), SATURDAY)),
)


@pytest.mark.parametrize(("text", "expected"), ASKED, ids=[text for text, _ in ASKED])
def test_a_question_has_the_interval_of_its_time(
    text: str, expected: tuple[Moment, Moment]
) -> None:
    read = times(text, hours(SATURDAY)).expressions
    assert [(e.start, e.end) for e in read] == [
        tuple(pytest.approx(hours(at), rel=0, abs=1e-6) for at in expected if at)
    ]


@pytest.mark.parametrize("text", [
    "May I borrow the car?", "Which march did the band play?", "Did the fall hurt Bo?",
    "How far did I get in 20 minutes of running?", "What is my 1/2 cup measure for?",
    "Is the shop open 24/7?", "Did the bill go up by 1/3?", "Who may know the code?",
    "What does April like to eat?", "Who wed in the old church?", "What is on the other hand?",
    "What is the ratio 3/4 of?", "How much is 10/15 as a decimal?", "Which size is 7/16?",
    "What does H2 mean in chemistry?", "Which H1 heading did I choose?",
    "What did Mark say about the second half?", "What is the St Patrick church like?",
    "What is the new year of the model?", "Where is the 3d printer?", "Who has a 2d barcode?",
    "Who is the man in the sixties dress?", "What did I do to the other days of the plan?",
    "What was on the other day of the fair?", "How long is a fortnight?",
    "What is new in version 3.8.?", "Which bug came with Python 10.11.12?", "What is in 2.3.?",
    "Where does section 2.3. say so?", "Why did we upgrade on 2.3. and not before?",
    "Did the price rise by 31.8.?", "Does it rise from 2.3 to 3.8.?", "What follows from 2.3.?",
    "Is it on 3.8?", "Are we still on 3.8?", "Which machines are on 3.8 now?",
    "Did the price settle on 3.8 in the end?", "Why did it crash on 3.8?", "Do we run on 3.8?",
    "What did I spend on 3.8 kilos of figs?",
    "What did we do in week 3 of the course?", "What did I write in my week 3 report?",
    "Is 5 kw 20 amps?", "Who is in the W3C?", "What is 'week' about?", "What is in week 60?",
    "Who said '42' to me?", "What is the odd 3/2000 of?", "What does w/o mean?",
    "Who lives at 13/2023?", "What is in version 08.2023?",
    "Does it run on 3.8.?", "Who won 5/7/2?", "Was he 31. May I ask?", "What is at 10.0.0.12?",
])  # fmt: skip
def test_a_word_of_an_ordinary_question_is_no_time(text: str) -> None:
    assert times(text, hours(SATURDAY)).expressions == ()
