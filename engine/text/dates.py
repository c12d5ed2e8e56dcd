"""Expressions of time in a text, as intervals [start, end) in hours of simulated time, against the
time at which they were said.

Pure functions; the wall clock is never read.  One pass over the words with bounded look-ahead:
O(length) for any text, about 0.05 ms for an utterance.  English, Gregorian calendar, UTC.  An
impossible date (February 30, year 0, year 99999) gives nothing.

Conventions:
day              midnight to midnight; a week starts on Monday, a weekend is Saturday and Sunday
parts of a day   morning 6-12, afternoon 12-18, evening 18-24; night, tonight and last night 18-6;
                 the early hours 0-6; noon and lunchtime 11-13, midnight 23-1; "at 9 am", "at
                 21:30": the hour around it, "9 o'clock" between 7 and 18; all beside a day only, or
                 within a part of it
seasons          of the northern hemisphere, in whole months: spring March-May, summer June-August,
                 autumn September-November, winter from December of its year to February
last, this, next with a unit (week, weekend, month, quarter, year, decade): the calendar unit
                 before, at or after the time said; "past week" and "last two weeks" end at that
                 time, "next two weeks" begin there.  With a name (Friday, May, summer, Christmas):
                 the latest that is over before the day said, the one of the same week or year, the
                 first that begins after the day said; "past weekend" is the calendar's, "the
                 Friday before last" a week before last Friday
names alone      without a year, or a weekday without its week: the latest that has begun, a weekday
                 the latest before the day said; near words of the future ("will", "going to",
                 "plan") and after "by" and "until", unless near a verb in the past tense, the next
                 instead
before last      "the summer before last", "the week before last": the one before the last one
the other day    the seven days before the day said
N units ago      one unit long, its middle N units before the day said (days: that whole day; hours
                 and minutes: that time), "in N units" likewise after it; its `focus` is the day in
                 the middle; "a few" is 3, "several" is 5; "two or three days ago" is both;
                 "two Fridays ago" is the Friday before last Friday; "two weeks ago on Monday" is
                 the Monday of these seven days, "a week ago yesterday" the day a week before
                 yesterday, "a week from Friday" the day a week after Friday
early, mid, late thirds: of a month from day 1, 11 and 21; of a year four months each, of a season
                 one, of a decade from its years 0, 4 and 7, of a week from Monday, Wednesday and
                 Friday; "start", "middle" and "end of" likewise; the `focus` of the middle of a
                 month is days 14 to 17, of its end the last four days
feasts           of the western calendar: Easter by its rule, Thanksgiving in the United States
first week of X  days 1 to 7; the last week its last seven days; "the first ten days of X" likewise;
                 the week of a day is the calendar's; "w/c" and "w/e" a day: the seven days from it,
                 or that end with it
week 31          of the ISO calendar, as "KW 31", "CW 31", "W31" and "2025-W31": without a year the
                 latest that has begun; "weeks 30 to 32"; no week 3 of a course
since X          from the start of X to the time said; until and by X: to the end of X, from the
                 time said if X is not over by then
before, after X  to the start of X, from the end of X; without the other end, which is EARLIEST or
                 LATEST
between A and B  from the start of A to the end of B; B is the first after A, and A the last before
                 B, where they have no year
5/7/2023         month first, unless only day first is a date; 7.5.2023 day first.  10/15 likewise,
                 its year as for names alone, after "on", "since", "from" and the like; 24/7 is no
                 day, and 1/2 and 3/4 are days after "on" and in ranges alone; 5/7/23 is of 2023
31.8.            day first, with the dot behind the month, after a weekday, or after "on", "since" and
                 the like if the sentence goes on or the day tells that it is one (31.8., 03.08.);
                 31.8 without that dot after a weekday, or after "on" where somebody does something;
                 no day near words such as "version" and "section"; 31.8.23 likewise, of 2023;
                 31. August after a weekday or such a word
8/2023           a month, as 08/2023, 8.2023, 08-2023 and 2023/08, after a preposition unless it has
                 a slash and two digits of the month; 2024/25 is two years, and of a winter the first
'23              a year after a month, a day, a season, a quarter or a preposition: of this century,
                 up to 20 years after the time said; "Aug 23" is a day
Recurring times ("every Friday", "Fridays") give nothing, nor do negative numbers ("-3 days ago").
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Final

from ..base.times import moment
from .english import word_set
from .memo import remembered

Span = tuple[float, float]  # [start, end), h

DAY: Final = 24.0  # h
_EPOCH: Final = date(1970, 1, 1).toordinal()
_AFTER_CALENDAR: Final = date.max.toordinal() + 1
EARLIEST: Final = DAY * (1 - _EPOCH)  # start of the year 1
LATEST: Final = DAY * (_AFTER_CALENDAR - _EPOCH)  # end of the year 9999
MOST: Final = 4  # expressions of one text


class Relation(Enum):
    """How a time is given by another one."""

    BEFORE = "before"
    AFTER = "after"
    SINCE = "since"
    UNTIL = "until"
    DURING = "during"


class HistoryEnd(Enum):
    """Which end of a history is asked for."""

    NONE = 0
    FIRST = 1
    LATEST = 2


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A time in a text: words as written, and its interval [start, end) in h.

    place  index of the first character in the text
    focus  of a vague time, such as "three weeks ago": the day in its middle, [start, end) in h;
           None: it has none
    """

    text: str
    start: float
    end: float
    place: int = field(default=0, compare=False)
    focus: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class EventExpression:
    """A time given by something that happened, such as "two days before the move".

    phrase  what happened, as written
    unit    "": the relation alone; otherwise `count` units before or after it, or the one unit next
            to it if count is 0
    """

    relation: Relation
    phrase: str
    count: int = 0
    unit: str = ""

    def span(self, happened: Span, said: float) -> Span | None:
        """The interval, once the interval of what happened is known (start = end: an instant); None
        if it ends before it begins.  O(1).

        >>> EventExpression(Relation.BEFORE, "the move", 2, "day").span((60.0, 60.0), 90.0)
        (0.0, 24.0)
        >>> EventExpression(Relation.SINCE, "the move").span((60.0, 60.0), 90.0)
        (60.0, 90.0)
        """
        try:
            return (
                _beside(self.relation, happened, self.count, self.unit)
                if self.unit
                else bounded(self.relation, happened, said)
            )
        except (ValueError, OverflowError):
            return None


@dataclass(frozen=True, slots=True)
class Times:
    """The times in a text: those of the calendar, those given by events, and whether the first
    or the latest of several is asked for.
    """

    expressions: tuple[TimeExpression, ...] = ()
    events: tuple[EventExpression, ...] = ()
    order: HistoryEnd = HistoryEnd.NONE

    def beside(self, text: str) -> str:
        """The text from which they were read without its times of the calendar.  O(length).

        >>> text = "What did I do on 7 May 2023 with Bo?"
        >>> times(text, 500_000.0).beside(text)
        'What did I do  with Bo?'
        """
        parts, end = [], 0
        for expression in self.expressions:
            parts.append(text[end : expression.place])
            end = expression.place + len(expression.text)
        return "".join([*parts, text[end:]])


@remembered
def times(text: str, said: float, most: int = MOST) -> Times:
    """The first `most` expressions of time of each kind in a text that was said at `said` (h).
    O(length); silent outside the years 1 to 9999.

    >>> from hebbarium.engine.contract.records import hours, moment
    >>> from datetime import datetime
    >>> said = hours(datetime(2023, 5, 10, 9))                       # a Wednesday
    >>> read = times("We met last Friday, two weeks after the move, and I leave in June 2024.", said)
    >>> [(e.text, f"{moment(e.start):%Y-%m-%d}", f"{moment(e.end):%Y-%m-%d}") for e in read.expressions]
    [('last Friday', '2023-05-05', '2023-05-06'), ('in June 2024', '2024-06-01', '2024-07-01')]
    >>> read.events
    (EventExpression(relation=<Relation.AFTER: 'after'>, phrase='the move', count=2, unit='week'),)
    >>> times("We met and had a good time.", said)
    Times(expressions=(), events=(), order=<HistoryEnd.NONE: 0>)
    """
    try:
        return _Reader(text, said).read(most)
    except (ValueError, OverflowError):  # said outside the calendar
        return Times()


def bounded(relation: Relation, span: Span, said: float) -> Span | None:
    """The interval before, after, since, until or during another one; None if it ends before it
    begins.  O(1).

    >>> bounded(Relation.SINCE, (0.0, 24.0), 60.0), bounded(Relation.SINCE, (72.0, 96.0), 60.0)
    ((0.0, 60.0), None)
    >>> bounded(Relation.UNTIL, (72.0, 96.0), 60.0), bounded(Relation.BEFORE, (72.0, 96.0), 60.0) == (EARLIEST, 72.0)
    ((60.0, 96.0), True)
    """
    start, end = span
    if relation is Relation.BEFORE:
        start, end = EARLIEST, start
    elif relation is Relation.AFTER:
        start, end = end, LATEST
    elif relation is Relation.SINCE:
        end = said
    elif relation is Relation.UNTIL:
        start = said if end > said else EARLIEST
    return (start, end) if start < end or (relation is Relation.DURING and start == end) else None


# --------------------------------------------------------------------------------------------------


def _days(start: int, end: int) -> Span:
    """From one day to another, both as ordinals.  Raises ValueError outside the calendar."""
    if not 1 <= start < end <= _AFTER_CALENDAR:
        raise ValueError("outside the calendar")
    return DAY * (start - _EPOCH), DAY * (end - _EPOCH)


def _month_start(index: int) -> int:
    """The first day of the month 12 year + month - 1, as an ordinal.  Raises ValueError outside
    the calendar.
    """
    return _AFTER_CALENDAR if index == 120_000 else date(index // 12, index % 12 + 1, 1).toordinal()


def _months(index: int, count: int) -> Span:
    return _days(_month_start(index), _month_start(index + count))


def _shifted(day: int, months: int) -> int:
    """The same day of another month, or its last day."""
    at = date.fromordinal(day)
    first = _month_start(index := 12 * at.year + at.month - 1 + months)
    return min(first + at.day - 1, _month_start(index + 1) - 1)


def _part_of_year(part: str, year: int) -> Span:
    """A quarter, such as "q3", or a half, such as "h2", of a year."""
    length = 3 if part[0] == "q" else 6
    return _months(12 * year + length * (int(part[1]) - 1), length)


def _calendar_unit(unit: str, day: int, shift: int) -> Span:
    """The calendar unit that holds the day, or one `shift` units from it."""
    at = date.fromordinal(day)
    if unit == "day":
        return _days(day + shift, day + shift + 1)
    if unit in ("week", "weekend"):
        monday = day - at.weekday() + 7 * shift
        return _days(monday, monday + 7) if unit == "week" else _days(monday + 5, monday + 7)
    length = MONTHS_PER[unit]
    return _months((12 * at.year + at.month - 1) // length * length + length * shift, length)


def _from(day: int, count: int, unit: str) -> int:
    """The day `count` units after another."""
    return (
        day + DAYS_PER[unit] * count
        if unit in DAYS_PER
        else _shifted(day, MONTHS_PER[unit] * count)
    )


def _around(said: float, count: int, unit: str) -> Span:
    """One unit, its middle `count` units after `said`."""
    if unit in HOURS_PER:
        middle = said + HOURS_PER[unit] * count
        return middle - HOURS_PER[unit] / 2.0, middle + HOURS_PER[unit] / 2.0
    day = _from(int(said // DAY) + _EPOCH, count, unit)
    if unit == "weekend":
        return _calendar_unit(unit, day, 0)
    if unit in DAYS_PER:
        half = DAYS_PER[unit] // 2
        return _days(day - half, day - half + DAYS_PER[unit])
    if unit == "month":
        return _days(day - 15, day + 16)
    half = MONTHS_PER[unit] // 2
    return _days(
        _shifted(day, -half),
        _shifted(day, half) if MONTHS_PER[unit] % 2 == 0 else _shifted(day, half + 1),
    )


def _rolling(said: float, count: int, unit: str) -> Span:
    """From `said` to `count` units after it, or before it if negative."""
    if unit in HOURS_PER:
        other = said + HOURS_PER[unit] * count
    else:
        day, hour = divmod(said, DAY)
        other = DAY * (_from(int(day) + _EPOCH, count, unit) - _EPOCH) + hour
    if not EARLIEST <= other <= LATEST:
        raise ValueError("outside the calendar")
    return (said, other) if count > 0 else (other, said)


def _beside(relation: Relation, span: Span, count: int, unit: str) -> Span:
    """`count` units before or after the interval, or the unit next to it if 0; shorter intervals
    count as their days.
    """
    start, end = span
    if unit not in HOURS_PER:
        start, end = start // DAY * DAY, max(-(-end // DAY), start // DAY + 1.0) * DAY
    before = relation is Relation.BEFORE
    if count:
        return _around(
            start if before else end - (0.0 if unit in HOURS_PER else DAY),
            -count if before else count,
            unit,
        )
    return _rolling(start, -1, unit) if before else _rolling(end, 1, unit)


def _easter(year: int) -> int:
    """Easter Sunday as an ordinal, by the Gregorian rule (Meeus 1991, chapter 8)."""
    a, (b, c) = year % 19, divmod(year, 100)
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    month, day = divmod(h + weekday - 7 * ((a + 11 * h + 22 * weekday) // 451) + 114, 31)
    return date(year, month, day + 1).toordinal()


def _thanksgiving(year: int) -> int:
    """The fourth Thursday of November as an ordinal."""
    first = date(year, 11, 1)
    return first.toordinal() + (3 - first.weekday()) % 7 + 21


def _third(span: Span, part: int) -> Span:
    """The first, second or last third, in whole days or months where the interval is a calendar
    unit.
    """
    days = round((span[1] - span[0]) / DAY)
    start = round(span[0] / DAY) + _EPOCH
    cuts: tuple[int, int] | None = (
        (start + 10, start + 20)
        if 28 <= days <= 31
        else (start + 2, start + 4)
        if days == 7
        else None
    )
    for least, most, first, second in ((89, 93, 1, 2), (365, 366, 4, 8), (3652, 3653, 48, 84)):
        if least <= days <= most:
            cuts = _shifted(start, first), _shifted(start, second)
    inner = (
        [DAY * (cut - _EPOCH) for cut in cuts]
        if cuts
        else [span[0] + (span[1] - span[0]) * k / 3.0 for k in (1, 2)]
    )
    edges = (span[0], *inner, span[1])
    return edges[part], edges[part + 1]


# --------------------------------------------------------------------------------------------------

HOURS_PER: Final = {"minute": 1.0 / 60.0, "hour": 1.0}
DAYS_PER: Final = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14}
MONTHS_PER: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_UNITS: Final = {form: unit for unit in (*HOURS_PER, *DAYS_PER, *MONTHS_PER) for form in (unit,
    f"{unit}s", f"{unit}s'")} | {
    "night": "day", "nights": "day", "hr": "hour", "hrs": "hour", "min": "minute", "mins": "minute",
    "wk": "week", "wks": "week", "yr": "year", "yrs": "year"}  # fmt: skip
_COUNTS: Final = {word: n for n, word in enumerate(
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
     "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
     "seventeen", "eighteen", "nineteen", "twenty"), 1)} | {
    "a": 1, "an": 1, "few": 3, "couple": 2, "several": 5, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90}  # fmt: skip
_MONTH_NAMES: Final = ("january", "february", "march", "april", "may", "june", "july", "august",
                       "september", "october", "november", "december")  # fmt: skip
_MONTHS: Final = {
    form: m for m, name in enumerate(_MONTH_NAMES, 1) for form in (name, name[:3])
} | {"sept": 9}
_WEEKDAYS: Final = {
    name: d
    for d, name in enumerate(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    )
}
_SHORT_WEEKDAYS: Final = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3,
                          "fri": 4, "sat": 5, "sun": 6}  # fmt: skip
# first month, from 0
_SEASONS: Final = {"spring": 2, "summer": 5, "autumn": 8, "fall": 8, "winter": 11}
_HOLIDAYS: Final[dict[str, Callable[[int], int]]] = {  # ordinal of the day, of a year
    "christmas": lambda year: date(year, 12, 25).toordinal(),
    "boxing day": lambda year: date(year, 12, 26).toordinal(),
    "new year": lambda year: date(year, 1, 1).toordinal(),
    "valentine's day": lambda year: date(year, 2, 14).toordinal(),
    "st patrick's": lambda year: date(year, 3, 17).toordinal(),
    "april fools": lambda year: date(year, 4, 1).toordinal(),
    "april fool's": lambda year: date(year, 4, 1).toordinal(),
    "may day": lambda year: date(year, 5, 1).toordinal(),
    "independence day": lambda year: date(year, 7, 4).toordinal(),
    "bastille day": lambda year: date(year, 7, 14).toordinal(),
    "halloween": lambda year: date(year, 10, 31).toordinal(),
    "bonfire night": lambda year: date(year, 11, 5).toordinal(),
    "thanksgiving": _thanksgiving,
    "easter": _easter,
    "easter sunday": _easter,
    "easter monday": lambda year: _easter(year) + 1,
    "good friday": lambda year: _easter(year) - 2,
}
_PARTS: Final = {"morning": (6, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}
_HOURS: Final = {"noon": (11, 13), "midday": (11, 13), "lunchtime": (11, 13), "midnight": (23, 25)}
# the first hour that is of the morning where neither "am" nor "pm" is said
_O_CLOCK: Final = 7
_THIRDS: Final = {"early": 0, "mid": 1, "late": 2, "beginning": 0, "start": 0, "middle": 1,
                  "end": 2}  # fmt: skip
_ORDINALS: Final = {
    word: n for n, word in enumerate(("first", "second", "third", "fourth", "fifth"), 1)
} | {"last": -1}
_NUMBERED: Final = {word: n for n, word in enumerate(        # in words, beyond those of _ORDINALS
    ("sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth",
     "fourteenth", "fifteenth", "sixteenth", "seventeenth",
     "eighteenth", "nineteenth", "twentieth"), 6)} | {"thirtieth": 30}  # fmt: skip
_ORDINAL_WORDS: Final = frozenset((*_ORDINALS, *_NUMBERED)) - {"last"}
_TENS: Final = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
                "eighty": 80, "ninety": 90}  # fmt: skip
# what is counted within a longer interval
_HELD: Final = frozenset(("day", "week", "weekend", "month", "quarter", "half", "third"))
_SHIFTS: Final = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1,
                  "coming": 1, "upcoming": 1}  # fmt: skip
_RELATIONS: Final = {"before": Relation.BEFORE, "after": Relation.AFTER, "since": Relation.SINCE,
                     "until": Relation.UNTIL, "till": Relation.UNTIL,
                     "by": Relation.UNTIL, "through": Relation.UNTIL, "during": Relation.DURING}  # fmt: skip
# also other words
_AMBIGUOUS: Final = frozenset(("may", "march", "mar", "sun", "sat", "wed", "fall", "spring"))
_FUTURE: Final = word_set(
    "will won't shall gonna upcoming plan plans planning planned hope hoping intend tomorrow deadline due schedule scheduled "
    "appointment let's soon"
)
_PAST: Final = word_set(
    "did didn't was wasn't were weren't had hadn't been went got made took came said saw met told bought gave found left felt "
    "knew thought ran wrote built ate won lost spent began"
)
_BEGINS_EVENT: Final = word_set("the my your his her their our its a an")
_PRONOUNS: Final = word_set("i we she he they you it")
_ACTORS: Final = word_set("i we she he you")
_ASKS: Final = word_set("what who whom whose where which why when how")
_ASKS_DEED: Final = word_set("did do does will was were")
_BEING: Final = word_set("am is are was were be been being still now currently stay stays")
_ENDS_EVENT: Final = word_set(
    "what who whom whose where which why how when did do does is are was were will would could can should and but or then "
    "that"
)
_NOT_AFTER: Final = word_set(
    "look looks looked looking name named names called run runs running ran ask asked asks take takes took"
)
_NOT_AFTER_FIRST: Final = word_set("name names aid class floor grade lady hand person and of half")
_NOT_AFTER_LAST: Final = word_set("name names straw resort minute of")
_NOT_AFTER_FEAST: Final = word_set("holiday holidays break week weekend egg eggs tree")
_WITHIN_YEAR: Final = frozenset(("in", "on", "at", "during", "around", "over"))
_NOT_AFTER_BACK: Final = word_set("in to from at home then there together up and into")
_OWNERS: Final = word_set("the my your his her its our their")
_AFTER_DAY: Final = word_set("at in with and we i she he they it for to is was of , . ? ! ;")
# "yesterday's news"
_POSSESSIVE: Final = frozenset(
    (*_MONTHS, *_WEEKDAYS, *_SEASONS, *_UNITS, "yesterday", "today", "tomorrow")
)
_SENTENCE_ENDS: Final = frozenset(".!?;\n")
_DASHES: Final = frozenset("-–—")
_MARKS: Final = _DASHES | {"/"}  # between the parts of a date
_ENDINGS: Final = ("st", "nd", "rd", "th")
_JOINTS: Final = _DASHES | {"to", "until", "till", "through"}
_AFTER_NUMBER: Final = _DASHES | {*_MONTHS, "of"}  # in a date
_DAY_NAMES: Final = frozenset((*_WEEKDAYS, *_SHORT_WEEKDAYS))
_NAMES: Final = frozenset((*_MONTHS, *_WEEKDAYS, *_SHORT_WEEKDAYS))
_LOOK_BACK, _LOOK_AHEAD, _EVENT_WORDS = 12, 6, 8  # words
_DEPTH: Final = 4  # expressions within expressions

_TOKEN: Final = re.compile(
    r"(?<![\w-])\d{4}-?w\d\d(?:-?[1-7])?(?![\w-])"
    r"|(?<![\w-])\d{4}-\d\d?-\d\d?(?:[t ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?z?)?(?![\w-])"
    r"|(?<![\w-])(?:\d{4}-\d\d|\d\d?-\d\d?-(?:19|20)\d\d)(?![\w-])"
    r"|(?<![\w/.])(?:\d\d?/\d\d?/\d{4}|\d\d?\.\d\d?\.\d{4}|\d{4}/\d\d?/\d\d?)(?![\w/]|\.\d)"
    r"|\d+(?:[.,]\d+)+(?!\w)"
    r"|\w+(?:'[^\W\d]\w*)*"
    r"|[^\w \t\r]"
)
_NUMBER: Final = re.compile(r"(\d{1,4})(st|nd|rd|th)?", re.ASCII)
_YEARS: Final = re.compile(r"(\d{4})", re.ASCII)
_DECADE: Final = re.compile(r"((?:1[0-9]|20)?\d0)'?s", re.ASCII)
_WRITTEN: Final = re.compile(
    r"(\d+)([-/.])(\d+)[-/.](\d+)(?:[t ](\d\d):(\d\d).*)?|(\d{4})-(\d\d)", re.ASCII
)
_DAY: Final = re.compile(r"\d\d?", re.ASCII)
_DAY_AND_MONTH: Final = re.compile(r"(\d\d?)\.(\d\d?)", re.ASCII)
_MONTH_AND_YEAR: Final = re.compile(r"(\d\d?)\.(\d{4})", re.ASCII)
_SEASON_YEARS: Final = re.compile(r"(\d{4})-(\d\d)", re.ASCII)
_ISO_WEEK: Final = re.compile(r"(\d{4})-?w(\d\d)(?:-?([1-7]))?", re.ASCII)
_YEAR_AND_QUARTER: Final = re.compile(r"(\d{4})(q[1-4]|h[12])", re.ASCII)
_WEEK_NUMBER: Final = re.compile(r"[kc]?wk?(\d\d?)", re.ASCII)
_DIGITS: Final = frozenset("0123456789")
_CLOCK: Final = re.compile(r"(\d\d?)(?:\.(\d\d))?(am|pm)?", re.ASCII)
_MINUTES: Final = re.compile(r"(\d\d)(am|pm)?", re.ASCII)

_DAYS_BETWEEN: Final = ("day", "week", "fortnight")
_WEEK_WORDS: Final = frozenset(("week", "weeks", "wk", "wks", "kw", "cw"))  # before its number
_QUARTERS: Final = frozenset(("q1", "q2", "q3", "q4", "h1", "h2"))
_OF_WEEK: Final = frozenset(("of", "from", "starting", "beginning", "commencing"))
_SHORT_UNITS: Final = {"d": "day", "w": "week", "h": "hour", "mo": "month", "y": "year"} | {
    short: _UNITS[short] for short in ("wk", "hr", "hrs", "min", "mins", "yr", "yrs")}  # fmt: skip
_SHORT: Final = re.compile(rf"(\d{{1,3}})({'|'.join(_SHORT_UNITS)})", re.ASCII)
# first year; "the twenties" are of two centuries
_DECADES: Final = {"fifties": 1950, "sixties": 1960, "seventies": 1970, "eighties": 1980,
                   "nineties": 1990}  # fmt: skip
_BEFORE_DECADE: Final = ("the", "early", "mid", "late", "-")
_BEFORE_DOTS: Final = frozenset(("on", "since", "until", "till", "by", "before", "after", "from",
                                 "between", "through"))  # fmt: skip
# before "10/15", which is a fraction or a name elsewhere
_BEFORE_SLASHES: Final = _BEFORE_DOTS | {"and", "to"}
# near "3.8." in a sentence: the number of a thing, not a day
_NUMBERED_THINGS: Final = word_set(
    """version versions v release released releases upgrade upgraded update updated build built
    section sections chapter chapters paragraph clause article part figure fig table equation eq
    step item point rule level score scored rating rated average mean price python java node ruby
    php go rust swift kernel linux ubuntu debian fedora android ios windows macos api run runs
    running ran based depend depends tested test tests magnitude grade gpa odds factor ratio"""
)
_FRACTIONS: Final = frozenset(("1/2", "1/3", "2/3", "1/4", "3/4", "24/7", "9/11"))
_LATIN: Final = re.compile("[a-z]+")


def _tokens(lower: str) -> list[tuple[int, int]]:
    """The places of words and marks of a text in lower case.

    None if the text has no digit and no Latin word that can begin a time, and is not all ASCII: a
    long text in another script then costs little.
    """
    if (
        not lower.isascii()
        and _DIGITS.isdisjoint(lower)
        and _OPENERS.isdisjoint(_LATIN.findall(lower))
    ):
        return []
    return [match.span() for match in _TOKEN.finditer(lower)]


# an interval, or None for one that is no date or not taken; index of the next word
_Found = tuple[Span | None, int]
_OfYear = Callable[[int], Span]


# --------------------------------------------------------------------------------------------------


def _month_first(mark: str, first: int, second: int) -> bool:
    """Whether a date of three numbers with the year last begins with the month."""
    return (first <= 12) if mark == "/" else (mark == "-" and second > 12)


class _Reader:
    """The words of one text, and the time at which it was said.  Every method looks at a bounded
    number of words from its place.
    """

    def __init__(self, text: str, said: float) -> None:
        at = moment(said)
        self.raw = text
        lower = text.lower()
        if len(lower) != len(text):
            lower = "".join([c.lower() if len(c.lower()) == 1 else c for c in text])
        for curly in "‘’":
            lower = lower.replace(curly, "'")
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        places = _tokens(lower)
        words, read = [lower[start:end] for start, end in places], 0
        for nth, word in enumerate(words):
            if word not in _ORDINAL_WORDS and word[-2:] != "'s":
                continue
            self._take(words, places, read, nth)
            (start, end), read = places[nth], nth + 1
            if word in _ORDINAL_WORDS:
                word, joined = self.ordinal_number(word)
                if joined:
                    start = self.starts[-2]
                    del self.words[-2:], self.starts[-2:], self.ends[-2:]
            elif word[:-2] in _POSSESSIVE:
                word, end = word[:-2], end - 2
            self._take([word], [(start, end)], 0, 1)
        self._take(words, places, read, len(words))
        self.n = len(self.words)
        self.said, self.day, self.year, self.index = (
            said,
            at.toordinal(),
            at.year,
            12 * at.year + at.month - 1,
        )
        self.events: list[EventExpression] = []
        self.depth = 0
        self.focus: Span | None = None  # focus of the last vague time that was read
        # within "between": the other end, and the direction in which to look from it
        self.pivot: tuple[float, int] | None = None

    def _take(self, words: list[str], places: list[tuple[int, int]], first: int, end: int) -> None:
        """Append some words with their places."""
        self.words += words[first:end]
        self.starts += [start for start, _ in places[first:end]]
        self.ends += [end for _, end in places[first:end]]

    def read(self, most: int) -> Times:
        expressions: list[TimeExpression] = []
        order, i = HistoryEnd.NONE, 0
        openers = [
            at for at, word in enumerate(self.words) if word in _READERS or word[0] in _DIGITS
        ]
        while len(expressions) < most and (at := bisect_left(openers, i)) < len(openers):
            i = openers[at]
            reader = _READERS.get(self.words[i]) or _Reader.number
            self.focus = None
            taken = self.safely(reader, i, False)
            if taken is None or taken[1] <= i:
                if order is HistoryEnd.NONE:
                    order = self.order(i)
                i += 1
                continue
            span, after = taken
            if (
                span is not None
                and self.word(after) in _JOINTS
                and (self.word(after + 1) in _NAMES or self.word(after + 1)[:1] in _DIGITS)
            ):
                span, after = self.safely(_Reader.range_of, i, True) or taken
            while span is not None:
                span, after = self.narrowed(span, after)
                expressions.append(
                    TimeExpression(self.written(i, after), *span, self.starts[i], self.focus)
                )
                i, (span, after) = (
                    self.another(after) if len(expressions) < most else (after, (None, after))
                )
            i = after
        return Times(tuple(expressions), tuple(self.events[:most]), order)

    def ordinal_number(self, word: str) -> tuple[str, bool]:
        """An ordinal in words as a number, "10th", and whether the two words before belong to it
        ("twenty-" of "twenty-first").  Others stay.
        """
        joined = (
            self.words[-1:] == ["-"]
            and len(self.words) > 1
            and self.words[-2] in ("twenty", "thirty")
        )
        if joined and 0 < (unit := _ORDINALS.get(word, _NUMBERED.get(word, 0))) < 10:
            return f"{_TENS[self.words[-2]] + unit}th", True
        return f"{_NUMBERED[word]}th" if word in _NUMBERED else word, False

    def narrowed(self, span: Span, after: int) -> tuple[Span, int]:
        """The part of a time that follows it: "yesterday at noon", "on 3 May in the evening",
        "two weeks ago on Monday".
        """
        j = after + (self.word(after) == ",")
        j += self.word(j) == "on"
        if 28 * DAY <= span[1] - span[0] <= 31 * DAY and self.word(j - 1) == "on":
            k = j + (self.word(j) == "the")
            number = self.day_number(k)
            if (
                number is not None
                and self.word(k + 1) not in (*_MONTHS, "of", "/", *_UNITS)
                and date.fromordinal(round(span[0] / DAY) + _EPOCH).day == 1
                and 0 < number <= round((span[1] - span[0]) / DAY)
            ):
                self.focus = None
                return (span[0] + DAY * (number - 1), span[0] + DAY * number), k + 1
        if DAY < span[1] - span[0] <= 14 * DAY and self.word(j) in _WEEKDAYS:
            day = self.narrowed_to(_WEEKDAYS[self.word(j)], span)
            if day[0] < span[1]:
                self.focus = None
                span, after = day, j + 1
        if 365.0 * DAY <= span[1] - span[0] <= 366.0 * DAY and self.word(after) in _WITHIN_YEAR:
            self.pivot = (span[0], 1)
            inner = self.safely(_Reader.at, after + 1, True)
            self.pivot = None
            if inner and inner[0] and span[0] <= inner[0][0] and inner[0][1] <= span[1]:
                span, after = inner[0], inner[1]
        j = after + (self.word(after) == ",")
        j += self.word(j) in ("in", "at", "around", "about", "during")
        j += self.word(j) == "the"
        if (
            span[1] - span[0] <= DAY
            and (clock := self.clock(j)) is not None
            and (part := self.part_of(span, clock[0])) is not None
        ):
            return part, clock[1]
        return span, after

    def another(self, i: int) -> tuple[int, _Found]:
        """Where the next time of a list begins, and the time: "on the 10th and the 12th", "in
        April and May".
        """
        j = i + 1 + (self.word(i) == "," and self.word(i + 1) == "and")
        k = j + (self.word(j) == "the")
        name, numbered = (
            self.word(k) in _NAMES and self.word(k) not in _AMBIGUOUS,
            (k > j or self.word(i - 1)[-2:] in _ENDINGS) and self.word(k)[-2:] in _ENDINGS,
        )
        taken = (
            self.safely(_Reader.at, j, True)
            if self.word(i) in ("and", ",") and (name or numbered)
            else None
        )
        return (j, taken) if taken is not None and taken[1] > j else (i, (None, i))

    def clock(self, i: int) -> tuple[tuple[float, float], int] | None:
        """Hours within a day, and the next word: "morning", "noon", "9 am", "9 o'clock",
        "21:30", "early hours".
        """
        word = self.word(i)
        if word in _PARTS or word in _HOURS:
            return _PARTS.get(word) or _HOURS[word], i + 1
        if (word == "early" and self.word(i + 1) in ("hours", "morning")) or (
            word == "small" and self.word(i + 1) == "hours"
        ):
            return (0, 6), i + 2
        if (read := _CLOCK.fullmatch(word)) is None:
            return None
        hour, minute, j, half = int(read[1]), int(read[2] or 0), i + 1, read[3]
        if (
            self.word(j) == ":"
            and self.word(j + 1)[:2].isdigit()
            and not read[2]
            and (rest := _MINUTES.fullmatch(self.word(j + 1))) is not None
        ):
            minute, half, j = int(rest[1]), rest[2], j + 2
        clear = j > i + 1
        if not half and self.word(j) in ("am", "pm", "a", "p"):
            if len(self.word(j)) == 2:
                half, j = self.word(j), j + 1
            elif self.words[j + 1 : j + 3] == [".", "m"]:
                half, j = self.word(j) + "m", j + 3 + (self.word(j + 3) == ".")
        if not half and self.word(j) in ("o'clock", "oclock"):
            hour, clear, j = hour + 12 * (hour < _O_CLOCK), True, j + 1
        part = (
            self.word(k := j + 1 + (self.word(j + 1) == "the"))
            if self.word(j) in ("in", "at") and not (half or clear)
            else ""
        )
        if part in _PARTS:
            hour, clear, j = (
                hour + 12 * (hour < 12 and part != "morning" and (part != "night" or hour > 6)),
                True,
                k + 1,
            )
        if half and 1 <= hour <= 12:
            hour = hour % 12 + 12 * (half == "pm")
        elif half or not clear:
            return None
        return (
            ((hour + minute / 60.0 - 0.5, hour + minute / 60.0 + 0.5), j)
            if hour < 24 and minute < 60
            else None
        )

    def part_of(self, span: Span, hours: tuple[float, float]) -> Span | None:
        """Hours of the day in which the interval begins, or of the next, if they touch it; half
        a day later for "9 o'clock" in an evening.
        """
        midnight = span[0] // DAY * DAY
        for later in (0.0, DAY, DAY / 2.0):
            start, end = midnight + hours[0] + later, midnight + hours[1] + later
            if start < span[1] and end > span[0]:
                return start, end
        return None

    def safely(
        self, reader: Callable[[_Reader, int, bool], _Found | None], i: int, licensed: bool
    ) -> _Found | None:
        try:
            return reader(self, i, licensed)
        except (ValueError, OverflowError):
            return None

    def at(self, i: int, licensed: bool) -> _Found | None:
        """The expression that begins at a word; `licensed`: a preposition or the like before it
        says that it is a time.
        """
        word = self.word(i)
        reader = _READERS.get(word) or (_Reader.number if word[:1] in _DIGITS and word else None)
        if reader is None or reader is _Reader.relation or self.depth >= _DEPTH:
            return None
        self.depth += 1
        try:
            return reader(self, i, licensed)
        finally:
            self.depth -= 1

    def word(self, i: int) -> str:
        return self.words[i] if 0 <= i < self.n else ""

    def written(self, i: int, after: int) -> str:
        return self.raw[self.starts[i] : self.ends[after - 1]]

    def capital(self, i: int) -> bool:
        return self.raw[self.starts[i]].isupper()

    def direction(self, i: int, default: int) -> int:
        """1 near words of the future, -1 near verbs of the past, in the same sentence."""
        for j in range(i - 1, max(i - 1 - _LOOK_BACK, -1), -1):
            word = self.words[j]
            if word in _SENTENCE_ENDS:
                break
            if (
                word in _FUTURE
                or word.endswith("'ll")
                or (word == "going" and self.words[j + 1] == "to")
            ):
                return 1
            if word in _PAST or (len(word) > 4 and word.endswith("ed")):
                return -1
        for j in range(i + 1, min(i + 1 + _LOOK_AHEAD, self.n)):
            word = self.words[j]
            if word in _SENTENCE_ENDS:
                break
            if word in _FUTURE or word.endswith("'ll"):
                return 1
        return default

    # --- times without their year or week

    def recurring(self, i: int, of_year: _OfYear, how: str = "") -> Span:
        """The one of a time that recurs every year.  `how`: "last", "this", "next", or "" for
        the time alone.  Raises ValueError if there is none.
        """
        if how == "this":
            return of_year(self.year)
        today, whole = DAY * (self.day - _EPOCH), bool(how) and self.pivot is None
        if self.pivot is None:
            ahead = how == "next" or (not how and self.direction(i, self.default(i)) > 0)
            year, now = self.year, self.said
        else:
            now, ahead = self.pivot[0], self.pivot[1] > 0
            year = moment(now).year
        for step in range(-1 if ahead else 0, 10):
            try:
                start, end = of_year(year + step if ahead else year - step)
            except (ValueError, OverflowError):
                continue
            if (
                (start >= today + DAY if whole else end > now)
                if ahead
                else (end <= today if whole else start <= now)
            ):
                return start, end
        raise ValueError("there is no such day")

    def default(self, i: int) -> int:
        """The direction in which a name alone is looked for: ahead after "by" and "until"."""
        return (
            1
            if any(self.word(j) in ("by", "until", "till", "through") for j in (i - 1, i - 2))
            else -1
        )

    def weekday_span(self, i: int, weekday: int, how: str = "") -> Span:
        if self.pivot is not None:
            day = int(self.pivot[0] // DAY) + _EPOCH
            now = date.fromordinal(day).weekday()
            day += (weekday - now) % 7 if self.pivot[1] > 0 else -((now - weekday) % 7)
            return _days(day, day + 1)
        now = date.fromordinal(self.day).weekday()
        if how == "this":
            day = self.day - now + weekday
        elif how == "next" or (not how and self.direction(i, self.default(i)) > 0):
            day = self.day + ((weekday - now - 1) % 7 + 1)
        else:
            day = self.day - ((now - weekday - 1) % 7 + 1)
        return _days(day, day + 1)

    # --- pieces

    def count(self, i: int) -> tuple[int, int] | None:
        """A number of units and the next word: "3", "two", "a", "a few", "a couple of"."""
        word = self.word(i)
        if word == "a" and self.word(i + 1) in ("few", "couple"):
            i, word = i + 1, self.words[i + 1]
        n = (
            int(word)
            if 1 <= len(word) <= 4 and word.isascii() and word.isdigit()
            else _COUNTS.get(word, 0)
        )
        if not n:
            return None
        if (
            word in _TENS
            and self.word(i + 1) == "-"
            and 0 < _COUNTS.get(self.word(i + 2), 0) < 10
            and len(self.word(i + 2)) > 2
        ):
            return n + _COUNTS[self.word(i + 2)], i + 3
        return n, i + 2 if word == "couple" and self.word(i + 1) == "of" else i + 1

    def month(self, i: int, licensed: bool) -> tuple[int, int] | None:
        """A month and the next word; "may" and "march" only as a name."""
        word = self.word(i)
        if word not in _MONTHS or (word in _AMBIGUOUS and not licensed and not self.capital(i)):
            return None
        short = (
            len(word) <= 4
            and self.word(i + 1) == "."
            and self.word(i + 2)[:1] in _DIGITS
            and self.word(i + 2) != ""
        )
        return _MONTHS[word], i + 2 if short else i + 1

    def year_of(self, i: int) -> tuple[int, int] | None:
        """The year after a month, a day or a season, and the next word: ", 2023", "of 2023",
        "last year", "'23", "-Feb-23".
        """
        j = i + 1 if self.word(i) in (",", "of") else i
        mark = self.word(i)
        if mark in _MARKS and (self.word(i - 2) == mark or self.joins(i, 4)):
            j = i + 1
            if self.word(i - 2) == mark and self.joins(i, 2) and self.word(i - 1) in _MONTHS:
                return self.short_year(int(self.words[j])), j + 1
        if (short := self.apostrophe_year(j)) is not None:
            return short
        word = self.word(j)
        if (season := self.season_years(j)) is not None:
            return season
        if len(word) == 4 and (digits := _YEARS.fullmatch(word)) and self.word(j + 1) not in _UNITS:
            return int(digits[1]), j + 1
        if word == "the" and self.word(j + 1) in ("last", "next", "this"):
            j += 1
        if self.word(j) in ("last", "next", "this") and self.word(j + 1) == "year":
            return self.year + _SHIFTS[self.words[j]], j + 2
        return None

    def joins(self, i: int, digits: int) -> bool:
        """Whether the mark at a word stands without spaces between the words beside it, the next
        of which is a number of so many digits.
        """
        after = self.word(i + 1)
        return (
            len(after) == digits
            and _DIGITS.issuperset(after)
            and self.ends[i - 1] == self.starts[i]
            and self.ends[i] == self.starts[i + 1]
        )

    def short_year(self, number: int) -> int:
        """A year of two digits: of this century, up to 20 years after the time said."""
        year = self.year // 100 * 100 + number
        return year - 100 * (year > self.year + 20)

    def season_years(self, i: int) -> tuple[int, int] | None:
        """The first year of 2024/25 or 2024-25, and the next word."""
        word, j, slash = self.word(i), i + 1, self.word(i + 1) == "/"
        if slash and self.joins(j, 2):
            word, j = f"{word}-{self.words[j + 1]}", j + 2
        read = _SEASON_YEARS.fullmatch(word)
        if (
            read is None
            or (int(read[1]) + 1) % 100 != int(read[2])
            or self.word(j) in _MARKS
            or not (slash or int(read[2]) > 12)  # 2009-10 is a month
        ):
            return None
        return int(read[1]), j

    def apostrophe_year(self, i: int) -> tuple[int, int] | None:
        """The year '23 and the next word, but no number within quotation marks."""
        number = self.word(i + 1)
        if (
            self.word(i) != "'"
            or len(number) != 2
            or not _DIGITS.issuperset(number)
            or self.ends[i] != self.starts[i + 1]
            or self.word(i + 2) == "'"
        ):
            return None
        return self.short_year(int(number)), i + 2

    def year_after_apostrophe(self, i: int, licensed: bool) -> _Found | None:
        """In '98."""
        year = self.apostrophe_year(i) if licensed else None
        return None if year is None else (_months(12 * year[0], 12), year[1])

    def day_number(self, i: int) -> int | None:
        """A number of one or two digits, with or without its ending."""
        match = _NUMBER.fullmatch(self.word(i))
        return int(match[1]) if match and len(match[1]) <= 2 else None

    def may_end(self, i: int) -> bool:
        """Whether a time may end before a word: there the text ends, or the sentence goes on."""
        return i == self.n or self.word(i) in _AFTER_DAY

    def day_of_month(
        self, i: int, day: int, month: int, j: int, how: str = "", last: int = 0
    ) -> _Found:
        """A day of a month, with the year that follows or without; `last`: the end of a range of
        days.
        """
        year = self.year_of(j)
        after = year[1] if year else j

        def of_year(y: int) -> Span:
            start, end = (
                date(y, month, day).toordinal(),
                date(y, month, last or day).toordinal() + 1,
            )
            return _days(start, end)

        try:
            return (of_year(year[0]) if year else self.recurring(i, of_year, how)), after
        except (ValueError, OverflowError):
            return None, after

    def with_part(self, span: Span, j: int) -> _Found:
        """The part of a day that follows: "morning", "night"."""
        if (hours := _PARTS.get(self.word(j))) is None:
            return span, j
        return (span[0] + hours[0], span[0] + hours[1]), j + 1

    # --- readers: one for each word with which an expression begins

    def number(self, i: int, licensed: bool) -> _Found | None:
        word = self.words[i]
        if self.negative(i):
            return None, i + 1
        if (timed := self.of_day(i, licensed)) is not None:
            return timed
        if licensed and (season := self.season_years(i)) is not None:
            return _months(12 * season[0], 24), season[1]
        if len(word) > 5 and (written := _WRITTEN.fullmatch(word)) is not None:
            return self.written_date(i, written)
        if len(word) > 5 and (unit := self.with_letter(i)) is not None:
            return unit
        if (monthly := self.month_and_year(i, licensed)) is not None:
            return monthly
        if (short := _SHORT.fullmatch(word)) is not None:
            return (
                (self.around(self.said, -int(short[1]), _SHORT_UNITS[short[2]]), i + 2)
                if self.word(i + 1) == "ago"
                else None
            )
        if self.word(i + 1) == "/" and (slashed := self.slashed(i)) is not None:
            return slashed
        if (dotted := self.dotted(i, licensed)) is not None:
            return dotted
        decade = _DECADE.fullmatch(word) if word[-1] == "s" else None
        if decade is not None and (
            len(decade[1]) == 4 or self.word(i - 1 - (self.word(i - 1) == "'")) in _BEFORE_DECADE
        ):
            first = (
                int(decade[1])
                if len(decade[1]) == 4
                else 1900 + int(decade[1])
                if int(decade[1]) >= 20
                else 2000 + int(decade[1])
            )
            return _months(12 * first, 120), i + 1
        if (match := _NUMBER.fullmatch(word)) is None:
            return None
        if len(match[1]) == 4 and not match[2]:
            return self.year_alone(i, licensed)
        if match[2] and (dated := self.of_month(i, int(match[1]))):
            return dated
        if match[2] and (ordered := self.ordinal(i, int(match[1]))):
            return ordered
        if len(match[1]) <= 2:
            if (dated := self.day_first(i, licensed)) is not None:
                return dated
            listed = self.word(i - 1) in ("and", ",") and self.word(i - 2)[-2:] in _ENDINGS
            if (
                licensed
                and match[2]
                and (self.word(i - 1) == "the" or listed)
                and self.may_end(i + 1)
            ):
                return self.day_alone(i, int(match[1])), i + 1
        return self.counted(i, licensed)

    def with_letter(self, i: int) -> _Found | None:
        """2025-W31, 2025-W31-3, 2025Q3."""
        word = self.words[i]
        if (week := _ISO_WEEK.fullmatch(word)) is not None:
            monday = date.fromisocalendar(int(week[1]), int(week[2]), 1).toordinal()
            if week[3] is None:
                return _days(monday, monday + 7), i + 1
            day = monday + int(week[3]) - 1
            return _days(day, day + 1), i + 1
        if (quarter := _YEAR_AND_QUARTER.fullmatch(word)) is not None:
            return _part_of_year(quarter[2], int(quarter[1])), i + 1
        return None

    def month_and_year(self, i: int, licensed: bool) -> _Found | None:
        """08/2023, 8.2023, 08-2023, 2023/08; after a preposition alone, unless two digits and a
        slash make the month.
        """
        number, mark, year, j = self.words[i], self.word(i + 1), self.word(i + 2), i + 3
        if (dotted := _MONTH_AND_YEAR.fullmatch(number)) is not None:
            number, mark, year, j = dotted[1], ".", dotted[2], i + 1
        elif mark not in _MARKS or not (self.joins(i + 1, 4) or self.joins(i + 1, 2)):
            return None
        elif len(number) == 4 and mark == "/":
            number, year = year, number
        if (
            not (len(number) <= 2 and _DIGITS.issuperset(number) and _YEARS.fullmatch(year))
            or not (1 <= int(number) <= 12 and 1900 <= int(year) <= 2199)
            or not (licensed or (mark == "/" and len(number) == 2))
            or self.word(j) in _MARKS
            or self.word(i - 1) in _MARKS
            or (mark == "." and self.numbers_thing(i, j))
        ):
            return None
        return _months(12 * int(year) + int(number) - 1, 1), j

    def numbers_thing(self, i: int, after: int) -> bool:
        """Whether a word near a number with dots says that it is the number of a thing."""
        return not _NUMBERED_THINGS.isdisjoint(self.words[max(i - _LOOK_AHEAD, 0) : after + 2])

    def of_week(self, i: int) -> bool:
        """Whether the day at a word is that of a week or weekend: "the week of 7/8"."""
        return self.word(i - 1) in _OF_WEEK and self.word(i - 2) in ("week", "weekend")

    def slashed(self, i: int) -> _Found | None:
        """10/15: month first, unless only day first is a date; after some prepositions alone."""
        if (of_year := self.slashed_with_year(i)) is not None:
            return of_year
        a, b = self.day_number(i), self.day_number(i + 2)
        after, before = self.word(i + 3), self.word(i - 1)
        if (
            a is None
            or b is None
            or not (
                before in _BEFORE_SLASHES or self.of_week(i) or self.before_day(i) in _DAY_NAMES
            )
            or self.ends[i + 2] - self.starts[i] != len(self.words[i]) + 1 + len(self.words[i + 2])
            or after in ("/", "of", "th", *_UNITS, *_MONTHS)
            or (
                f"{a}/{b}" in _FRACTIONS
                and (a == 24 or not (before == "on" or self.word(i - 3) == "/"))
            )
        ):
            return None
        month, day = (a, b) if a <= 12 else (b, a)
        return self.day_of_month(i, day, month, i + 3) if 1 <= month <= 12 else None

    def slashed_with_year(self, i: int) -> _Found | None:
        """5/7/23, month first, unless only day first is a date."""
        a, b, year = (self.day_number(at) for at in (i, i + 2, i + 4))
        if (
            a is None
            or b is None
            or year is None
            or self.word(i + 3) != "/"
            or len(self.word(i + 4)) != 2
            or self.word(i - 1) == "/"
            or self.word(i + 5) == "/"
            or self.ends[i + 4] - self.starts[i] != sum(map(len, self.words[i : i + 5]))
        ):
            return None
        month, day = (a, b) if a <= 12 else (b, a)
        span = self.day_of_short_year(day, month, year)
        return None if span is None else (span, i + 5)

    def decade(self, i: int, licensed: bool) -> _Found | None:
        """The nineties."""
        after = self.word(i + 1)
        if self.word(i - 1) not in _BEFORE_DECADE or (after.isalpha() and after not in _AFTER_DAY):
            return None
        return _months(12 * _DECADES[self.words[i]], 120), i + 1

    def of_month(self, i: int, day: int) -> _Found | None:
        """The 5th of last month, the 5th last month, the first of the month."""
        j = i + 1 + (self.word(i + 1) == "of")
        if (
            self.word(j) not in ("the", "this", "last", "next")
            or (self.word(j) == "the" and j == i + 1)
            or self.word(j + 1) != "month"
        ):
            return None
        index = self.index + _SHIFTS.get(self.words[j], 0)
        at = date(index // 12, index % 12 + 1, day).toordinal()
        return _days(at, at + 1), j + 2

    def negative(self, i: int) -> bool:
        """Whether a minus stands before the number, and nothing before the minus."""
        before = self.starts[i] - 2
        return (
            self.word(i - 1) == "-"
            and self.starts[i - 1] == before + 1
            and (before < 0 or self.raw[before].isspace())
        )

    def of_day(self, i: int, licensed: bool) -> _Found | None:
        """A part of a day before the day: "noon yesterday", "9 am on 3 May", "the evening of the
        14th".
        """
        if (clock := self.clock(i)) is None:
            return None
        j = clock[1] + (self.word(clock[1]) in ("of", "on", ","))
        reading = self.safely(_Reader.at, j, True)
        if (
            reading is None
            or reading[0] is None
            or reading[1] <= j
            or reading[0][1] - reading[0][0] > DAY
        ):
            return None
        part = self.part_of(reading[0], clock[0])
        return None if part is None else (part, reading[1])

    def written_date(self, i: int, match: re.Match[str]) -> _Found | None:
        """2023-05-07, with or without a time; 2023-05; 5/7/2023; 7.5.2023; 2023/5/7; 7-5-2023."""
        if match[7]:
            index = 12 * int(match[7]) + int(match[8]) - 1
            return (_months(index, 1) if 1 <= int(match[8]) <= 12 else None), i + 1
        a, b, c = int(match[1]), int(match[3]), int(match[4])
        if len(match[1]) == 4:
            y, m, d = a, b, c
        elif len(match[4]) == 4:
            y, m, d = (c, a, b) if _month_first(match[2], a, b) else (c, b, a)
        elif len(match[4]) == 2 and self.is_dotted(i, match[1], i + 1, False):
            return self.day_of_short_year(a, b, c), i + 1
        else:
            return None
        try:
            day = date(y, m, d).toordinal()
        except ValueError:
            return None, i + 1
        if match[5] and int(match[5]) < 24 and int(match[6]) < 60:
            start = DAY * (day - _EPOCH) + int(match[5]) + int(match[6]) / 60.0
            return (start, start + 1.0 / 60.0), i + 1
        return _days(day, day + 1), i + 1

    def day_of_short_year(self, day: int, month: int, year: int) -> Span | None:
        """A day of a year of two digits."""
        try:
            at = date(self.short_year(year), month, day).toordinal()
        except ValueError:
            return None
        return _days(at, at + 1)

    def dotted(self, i: int, licensed: bool) -> _Found | None:
        """31.8., as Germans write it, and 31. 8.; a sentence that ends in a number is none."""
        if dotted := _DAY_AND_MONTH.fullmatch(self.word(i)):
            day, month, j = dotted[1], dotted[2], i + 1
        elif self.word(i + 1) == "." and _DAY.fullmatch(self.word(i + 2)):
            day, month, j = self.word(i), self.word(i + 2), i + 3
            if not _DAY.fullmatch(day) or self.word(j) != ".":
                return None
        else:
            return None
        after_dot = j + (self.word(j) == "." and self.starts[j] == self.ends[j - 1])
        if self.before_day(i) not in _WEEKDAYS and (
            not self.on_day(i, day, j)
            if after_dot == j
            else not (
                self.is_dotted(i, day, after_dot, True)
                or (licensed and self.word(i - 1) in (*_JOINTS, "and"))
            )
        ):
            return None
        if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
            return None
        return self.day_of_month(i, int(day), int(month), after_dot)

    def is_dotted(self, i: int, day: str, after: int, short: bool) -> bool:
        """Whether the sentence makes a day of a number with dots.

        after  index of the word behind it
        short  whether it has no year, and its last dot may end the sentence
        """
        if self.numbers_thing(i, after):
            return False
        before, clear = self.word(i - 1), int(day) > 12 or day[0] == "0"
        if self.of_week(i):
            return True
        if not short:
            return clear or before in _BEFORE_DOTS or before in _WEEKDAYS
        goes_on = (
            after < self.n
            and self.raw[self.starts[after]] not in ".!?\n\"'”’)"
            and not (self.capital(after) and self.word(after) != "i")
        )
        if before == "from":  # a range alone: "from 2.3. it follows"
            return goes_on and self.word(after) in (*_JOINTS, "on", "onwards", "onward")
        return before in _BEFORE_DOTS and (
            goes_on or before == "on" or (clear and before != "by" and before != "through")
        )

    def on_day(self, i: int, day: str, after: int) -> bool:
        """Whether a number with a dot within it is a day: "What did I do on 3.8?", but not "Is it
        on 3.8?", where nobody does anything.
        """
        sentence = self.sentence_before(i)
        if (
            self.word(i - 1) != "on"
            or not _NUMBERED_THINGS.isdisjoint((*sentence, *self.words[after : after + 2]))
            or not self.may_end(after)
        ):
            return False
        if int(day) > 12 or day[0] == "0":
            return True
        asked = not _ASKS.isdisjoint(sentence)
        return any(
            not _BEING.issuperset(sentence[place + 1 : -1])
            for place, word in enumerate(sentence)
            if word in _ACTORS
            or (asked and word in _ASKS_DEED and sentence[place + 1] not in ("it", "they"))
        )

    def sentence_before(self, i: int) -> list[str]:
        """The words before a word in its sentence, at most `_LOOK_BACK`."""
        start = max(i - _LOOK_BACK, 0)
        for j in range(i - 1, start - 1, -1):
            if self.words[j] in _SENTENCE_ENDS:
                return self.words[j + 1 : i]
        return self.words[start:i]

    def year_alone(self, i: int, licensed: bool) -> _Found | None:
        year, after = int(self.words[i]), self.word(i + 1)
        j = i + 1 + (after in _DASHES)
        if self.word(j) in _QUARTERS and 1000 <= year <= 2199:
            return _part_of_year(self.words[j], year), j + 1
        counts = after in _UNITS or (
            year % 100 == 0
            and len(after) > 3
            and after.isalpha()
            and after.endswith("s")
            and not self.capital(i + 1)
        )
        if not licensed or not 1000 <= year <= 2199 or counts:
            return self.counted(i, licensed)
        if self.word(i + 1) in _DASHES and _YEARS.fullmatch(self.word(i + 2)):
            end = int(self.words[i + 2])
            return (
                (_months(12 * year, 12)[0], _months(12 * end, 12)[1]) if end >= year else None
            ), i + 3
        return _months(12 * year, 12), i + 1

    def day_first(self, i: int, licensed: bool) -> _Found | None:
        """7 May 2023, 7th of May, 5-7 May, 5 to 7 May."""
        if not (
            licensed
            or self.word(i + 1) in _AFTER_NUMBER
            or (self.word(i + 1) == "/" and self.word(i + 2) in _MONTHS)
        ):
            return None
        day, j, last = self.day_number(i), i + 1, 0
        if self.word(j) == "." and self.word(j + 1) in _MONTHS and self.is_named(i):
            j += 1
        if self.word(j) in _MARKS and self.word(j + 1) in _MONTHS:
            j += 1
        elif (
            self.word(j) in _DASHES
            or (self.word(j) == "/" and self.word(j + 2) in _MONTHS)
            or (licensed and self.word(j) in ("to", "and"))
        ):
            if (second := self.day_number(j + 1)) is None:
                return None
            last, j = second, j + 2
        ending = self.words[j - 1][-1] not in _DIGITS
        if self.word(j) == "of":
            j += 1
        if (month := self.month(j, licensed or ending)) is None or day is None:
            return None
        return self.day_of_month(i, day, month[0], month[1], last=last)

    def is_named(self, i: int) -> bool:
        """Whether "31." before the name of a month is a day: after "on", a weekday and the like."""
        before = self.before_day(i)
        return self.starts[i + 1] == self.ends[i] and (
            before in _WEEKDAYS or before in _BEFORE_DOTS
        )

    def before_day(self, i: int) -> str:
        """The word before a day, or before a comma or "the" that stands between them."""
        return self.word(i - 1 - (self.word(i - 1) in (",", "the")))

    def day_alone(self, i: int, day: int) -> Span:
        """The day of this month or of one before; of this or a later one near words of the
        future.
        """
        ahead = self.direction(i, self.default(i)) > 0
        for step in range(4):
            index = self.index + step if ahead else self.index - step
            try:
                candidate = date(index // 12, index % 12 + 1, day).toordinal()
            except ValueError:
                continue
            if candidate >= self.day if ahead else candidate <= self.day:
                return _days(candidate, candidate + 1)
        raise ValueError("there is no such day")

    def month_name(self, i: int, licensed: bool, how: str = "") -> _Found | None:
        """May 2023, May 7th, 2023, May 5-7, and May alone after a preposition."""
        if f"{self.words[i]} {self.word(i + 1)}" in _HOLIDAYS:
            return self.holiday(i, True, how)
        if (month := self.month(i, licensed)) is None:
            return None
        m, j = month
        if (day := self.day_number(j)) is not None and not (
            self.word(j + 1) in _UNITS and self.word(j + 2) == "ago"
        ):
            last, after = 0, j + 1
            if (
                self.word(after) in (*_DASHES, "to")
                and (second := self.day_number(after + 1)) is not None
                and self.word(after + 2) not in _MONTHS
            ):
                last, after = second, after + 2
            return self.day_of_month(i, day, m, after, how, last)
        if (year := self.year_of(j)) is not None:
            return (_months(12 * year[0] + m - 1, 1) if year[0] >= 1 else None), year[1]
        earlier = self.before_last(i, j, lambda y: _months(12 * y + m - 1, 1))
        if earlier is not None:
            return earlier
        if not licensed and not (self.word(j) in _JOINTS and self.word(j + 1) in _MONTHS):
            return None
        return self.recurring(i, lambda y: _months(12 * y + m - 1, 1), how), j

    def season(self, i: int, licensed: bool, how: str = "") -> _Found | None:
        first = _SEASONS[self.words[i]]
        if (year := self.year_of(i + 1)) is not None:
            return _months(12 * year[0] + first, 3), year[1]
        earlier = self.before_last(i, i + 1, lambda y: _months(12 * y + first, 3))
        if earlier is not None:
            return earlier
        if not licensed:
            return None
        return self.recurring(i, lambda y: _months(12 * y + first, 3), how), i + 1

    def holiday(self, i: int, licensed: bool, how: str = "") -> _Found | None:
        """Christmas, Christmas Eve, New Year's Eve, Good Friday, Easter 2024."""
        pair = f"{self.word(i)} {self.word(i + 1)}"
        name, j = (pair, i + 2) if pair in _HOLIDAYS else (self.word(i), i + 1)
        day_of = _HOLIDAYS.get(name)
        if (
            day_of is None
            or (name == "new year" and not self.turn_of_year(i, j))
            or self.word(j) in _NOT_AFTER_FEAST
        ):
            return None
        j += self.word(j) == "'" and self.word(j + 1) in ("day", "eve")
        eve = self.word(j) == "eve"
        j += eve or self.word(j) == "day"
        year = self.year_of(j)

        def of_year(y: int) -> Span:
            # New Year's Eve 2022 is the last day of 2022, not the day before New Year's Day 2022
            ends_year = eve and name == "new year"
            day = date(y, 12, 31).toordinal() if ends_year else day_of(y) - eve
            return _days(day, day + 1)

        if year is not None:
            return of_year(year[0]), year[1]
        if (earlier := self.before_last(i, j, of_year)) is not None:
            return earlier
        return (
            (self.recurring(i, of_year, how), j)
            if licensed or " " in name or name == "easter"
            else None
        )

    def turn_of_year(self, i: int, j: int) -> bool:
        """Whether "new year" at word i names the day: "New Year's Day", "by New Year".  j: the
        next word.
        """
        return self.word(j) in ("day", "eve") or (
            self.capital(i) and self.word(i - 1) in ("and", "at", "before", "after", "by", "until")
        )

    def before_last(self, i: int, j: int, of_year: _OfYear) -> _Found | None:
        """The summer before last: a year before the last one.  j: the word after the name."""
        if self.word(j) != "before" or self.word(j + 1) != "last":
            return None
        last = self.recurring(i, of_year, "last")
        year = date.fromordinal(round(last[0] / DAY) + _EPOCH).year
        return of_year(year - 1), j + 2 + (self.word(j + 2) == self.words[i])

    def weekday(self, i: int, licensed: bool, how: str = "") -> _Found | None:
        """Friday, Friday night, Friday of last week, Friday, 5 May 2023."""
        weekday = _WEEKDAYS.get(self.words[i], _SHORT_WEEKDAYS.get(self.words[i], 0))
        if (self.words[i] in _SHORT_WEEKDAYS and not licensed) or self.word(i - 1) in (
            "a",
            "each",
            "every",
        ):
            return None
        j = i + 1
        k = j + 1 if self.word(j) in (",", "the") else j
        k += self.word(k) == "the"
        if self.word(k) in _MONTHS or (self.word(k)[:1] in _DIGITS and self.word(k)):
            dated = self.safely(
                _Reader.month_name if self.word(k) in _MONTHS else _Reader.number, k, True
            )
            alone = dated is None or dated[1] == k + 1
            if alone and (numbered := self.numbered_weekday(k, weekday)) is not None:
                return numbered
            if dated is not None and self.word(k + 1) == "/":
                dated = self.of_weekday(k, weekday, dated)
            if dated is not None and (dated[0] is None or dated[0][1] - dated[0][0] == DAY):
                return dated
        if not how and self.word(j) == "week" and self.may_end(j + 1):
            start, end = self.weekday_span(i, weekday, "next")
            return (start + 7.0 * DAY, end + 7.0 * DAY), j + 1
        k = j + 1 if self.word(j) == "of" else j
        if self.word(k) in ("last", "this", "next") and self.word(k + 1) == "week":
            monday = self.day - date.fromordinal(self.day).weekday() + 7 * _SHIFTS[self.words[k]]
            return self.with_part(_days(monday + weekday, monday + weekday + 1), k + 2)
        if (
            not how
            and (count := self.count(j))
            and _UNITS.get(self.word(count[1])) == "week"
            and self.word(count[1] + 1) == "ago"
        ):
            return self.narrowed_to(weekday, _around(self.said, -count[0], "week")), count[1] + 2
        if not how and self.word(j) == "before" and self.word(j + 1) == "last":
            start, end = self.weekday_span(i, weekday, "last")
            return (start - 7.0 * DAY, end - 7.0 * DAY), j + 2 + (self.word(j + 2) == self.word(i))
        if not how and self.word(j) == "after" and self.word(j + 1) == "next":
            start, end = self.weekday_span(i, weekday, "next")
            return (start + 7.0 * DAY, end + 7.0 * DAY), j + 2 + (self.word(j + 2) == self.word(i))
        return self.with_part(self.weekday_span(i, weekday, how), j)

    def numbered_weekday(self, i: int, weekday: int) -> _Found | None:
        """Friday the 13th, Friday 13: the nearest such day of a month on this weekday, in the
        direction of the sentence.
        """
        match = _NUMBER.fullmatch(self.word(i))
        if (
            match is None
            or len(match[1]) > 2
            or not 1 <= int(match[1]) <= 31
            or self.pivot is not None
            or not self.may_end(i + 1)
        ):
            return None
        step = 1 if self.direction(i, self.default(i)) > 0 else -1
        for months in range(24):
            index = self.index + step * months
            try:
                day = date(index // 12, index % 12 + 1, int(match[1]))
            except ValueError:
                continue
            if day.weekday() == weekday and step * (day.toordinal() - self.day) >= 0:
                return _days(day.toordinal(), day.toordinal() + 1), i + 1
        return None

    def of_weekday(self, i: int, weekday: int, dated: _Found) -> _Found:
        """A day such as 3/2 whose two numbers stand in the order that its weekday tells."""
        a, b = self.day_number(i), self.day_number(i + 2)
        if dated[0] is None or dated[1] != i + 3 or a is None or b is None or not 1 <= b <= 12:
            return dated
        swapped = self.day_of_month(i, a, b, i + 3)
        spans = [reading[0] for reading in (dated, swapped) if reading[0] is not None]
        weekdays = [
            date.fromordinal(round(start / DAY) + _EPOCH).weekday() == weekday for start, _ in spans
        ]
        return swapped if weekdays == [False, True] else dated

    def narrowed_to(self, weekday: int, span: Span) -> Span:
        """The first such day of an interval of at least a week."""
        first = int(span[0] // DAY) + _EPOCH
        day = first + (weekday - date.fromordinal(first).weekday()) % 7
        return _days(day, day + 1)

    def near_day(self, i: int, licensed: bool) -> _Found | None:
        """Yesterday, today, tomorrow, tonight."""
        word = self.words[i]
        start = DAY * (self.day - _EPOCH)
        if word == "tonight":
            return (start + 18.0, start + 30.0), i + 1
        shift = {"yesterday": -1, "today": 0, "tomorrow": 1}[word]
        return self.with_part(_days(self.day + shift, self.day + shift + 1), i + 1)

    def qualified(self, i: int, licensed: bool) -> _Found | None:
        """Last, this, next, past, coming with a unit, a number of units, or a name."""
        word, j = self.words[i], i + 1
        shift = _SHIFTS[word]
        if word == "last" and (ordered := self.ordinal(i, -1)):
            return ordered
        target = self.word(j)
        how = ("last", "this", "next")[shift + 1]
        if (
            shift
            and (counted := self.count(j))
            and (unit := _UNITS.get(self.word(counted[1])))
            and target not in ("a", "an")
        ):
            return _rolling(self.said, shift * counted[0], unit), counted[1] + 1
        if shift and (short := _SHORT.fullmatch(target)) is not None:
            return _rolling(self.said, shift * int(short[1]), _SHORT_UNITS[short[2]]), j + 1
        start = DAY * (self.day - _EPOCH)
        if target == "night" and shift <= 0:
            return (start + 18.0 + 24.0 * shift, start + 30.0 + 24.0 * shift), j + 1
        if word == "this" and target in ("time", "day") and self.word(j + 1) in ("last", "next"):
            return self.this_time(j + 1)
        if target in _PARTS:
            return (
                None
                if shift > 0 or word == "past"
                else self.with_part((start + 24.0 * shift, start + 24.0 * (shift + 1)), j)
            )
        if target in _UNITS and not target.endswith(("s", "'")):
            unit = _UNITS[target]
            if unit in ("minute", "day") or (unit in ("hour", "fortnight") and not shift):
                return None
            if unit == "weekend" and word == "coming":
                now = date.fromordinal(self.day).weekday() >= 5
                return _calendar_unit(unit, self.day, int(now)), j + 1
            if (word in ("past", "coming") and unit != "weekend") or unit in ("hour", "fortnight"):
                return _rolling(self.said, shift, unit), j + 1
            return _calendar_unit(unit, self.day, shift), j + 1
        if target in _MONTHS:
            return self.month_name(j, shift != 0 or self.capital(j), how)
        if target in _SEASONS:
            return self.season(j, True, how)
        if target in _HOLIDAYS or f"{target} {self.word(j + 1)}" in _HOLIDAYS:
            return self.holiday(j, True, how)
        if target in _WEEKDAYS or target in _SHORT_WEEKDAYS:
            return self.weekday(j, target not in _AMBIGUOUS or self.capital(j), how)
        return None

    def this_time(self, i: int) -> _Found | None:
        """This time, or this day, last year: the month around that day; last month: the week;
        last week: the day.
        """
        unit = _UNITS.get(self.word(i + 1), "")
        if unit not in ("week", "month", "year"):
            return None
        day = _from(self.day, _SHIFTS[self.words[i]], unit)
        beside = {"week": 0, "month": 3, "year": 15}[unit]
        self.focus = _days(day, day + 1) if beside else None
        return _days(day - beside, day + beside + 1), i + 2

    def third(self, i: int, licensed: bool) -> _Found | None:
        """Early May, mid-2023, late last year, the end of May."""
        word, j = self.words[i], i + 1
        if word == "early" and self.word(j) == "hours":
            return self.of_day(i, licensed)
        if word in ("beginning", "start", "middle", "end"):
            if self.word(j) != "of":
                return None
            j += 1
            reading = self.at_unit(j)
        else:
            j += self.word(j) in _DASHES or (word != "mid" and self.word(j) == "in")
            if self.word(j) in ("in", "on", "at"):
                return None
            reading = self.at_unit(j)
        if reading is None or reading[0] is None:
            return reading
        span = _third(reading[0], part := _THIRDS[word])
        if part and word != "late" and 28.0 * DAY <= reading[0][1] - reading[0][0] <= 31.0 * DAY:
            self.focus = (
                (span[0] + 3.0 * DAY, span[0] + 7.0 * DAY)
                if part == 1
                else (span[1] - 4.0 * DAY, span[1])
            )
        return span, reading[1]

    def at_unit(self, j: int) -> _Found | None:
        """An expression after "of" or "early"; "the week" is this one."""
        if self.word(j) in ("the", "this") and (unit := _UNITS.get(self.word(j + 1))) in (
            "week",
            "month",
            "quarter",
            "year",
            "decade",
        ):
            return _calendar_unit(str(unit), self.day, 0), j + 2
        if self.word(j) in _THIRDS:
            return None
        return self.at(j, True)

    def sooner(self, i: int, licensed: bool) -> _Found | None:
        """Earlier this week, later today."""
        j = i + 1
        if self.word(j) == "today":
            span = _days(self.day, self.day + 1)
        elif (
            self.word(j) in ("this", "last")
            and (unit := _UNITS.get(self.word(j + 1)))
            and unit not in (*HOURS_PER, "fortnight", "day")
        ):
            span, j = _calendar_unit(unit, self.day, _SHIFTS[self.words[j]]), j + 1
        else:
            return None
        if self.words[j - 1] == "last":
            return _third(span, 0 if self.words[i] == "earlier" else 2), j + 1
        span = (span[0], self.said) if self.words[i] == "earlier" else (self.said, span[1])
        return (span if span[0] < span[1] else None), j + 1

    def first(self, i: int, licensed: bool) -> _Found | None:
        n = _ORDINALS[self.words[i]]
        if self.word(i + 1) == "of" and (month := self.month(i + 2, True)) is not None:
            return self.day_of_month(i, n, *month)
        if n > 0 and (dated := self.of_month(i, n)):
            return dated
        return self.ordinal(i, n)

    def ordinal(self, i: int, n: int) -> _Found | None:
        """The first week of May, the last Friday of 2023, the second half of last year.  `n` =
        -1: the last.
        """
        if n in (1, -1) and (several := self.several(i, n)) is not None:
            return several
        unit, j = self.word(i + 1), i + 2
        if self.word(j) not in ("of", "in") or not (unit in _WEEKDAYS or unit in _HELD):
            return None
        if (whole := self.at_unit(j + 1)) is None or whole[0] is None:
            return whole
        (start, end), after = whole[0], whole[1]
        first, last = int(start // DAY) + _EPOCH, int(-(-end // DAY)) + _EPOCH
        if n == 0:
            return None, after
        if unit in ("half", "third"):
            parts = 2 if unit == "half" else 3
            k = n - 1 if n > 0 else parts - 1
            if k >= parts:
                return None, after
            at = date.fromordinal(first)
            if at.day == 1 and last - first >= 89 and parts == 2:
                middle = DAY * (
                    _month_start(12 * at.year + at.month - 1 + round((last - first) / 30.4375) // 2)
                    - _EPOCH
                )
                return ((start, middle), (middle, end))[k], after
            return (
                start + (end - start) * k / parts,
                start + (end - start) * (k + 1) / parts,
            ), after
        if unit in ("month", "quarter"):
            at, length = date.fromordinal(first), MONTHS_PER[unit]
            held = round((last - first) / 30.4375) // length
            k = n - 1 if n > 0 else held - 1
            return (
                _months(12 * at.year + at.month - 1 + length * k, length) if 0 <= k < held else None
            ), after
        if unit in ("day", "week"):
            length = DAYS_PER[unit]
            day = first + length * (n - 1) if n > 0 else last - length
            return (_days(day, min(day + length, last)) if first <= day < last else None), after
        weekday, length = (5, 2) if unit == "weekend" else (_WEEKDAYS[unit], 1)
        if n > 0:
            day = first + (weekday - date.fromordinal(first).weekday()) % 7 + 7 * (n - 1)
        else:
            day = last - 1 - (date.fromordinal(last - 1).weekday() - weekday) % 7
        return (_days(day, day + length) if first <= day < last else None), after

    def several(self, i: int, n: int) -> _Found | None:
        """The first ten days of May, the last two weeks of 2023, the first days of May: three."""
        count, j = self.count(i + 1) or (3, i + 1)
        unit = _UNITS.get(self.word(j))
        if (
            unit not in ("day", "week", "month")
            or self.word(j) == unit
            or self.word(j + 1) not in ("of", "in")
        ):
            return None
        if (whole := self.at_unit(j + 2)) is None or whole[0] is None:
            return whole
        (start, end), after = whole[0], whole[1]
        first, last = int(start // DAY) + _EPOCH, int(-(-end // DAY)) + _EPOCH
        other = _from(first, count, unit) if n > 0 else _from(last, -count, unit)
        if not first <= other <= last:
            return whole
        return (_days(first, other) if n > 0 else _days(other, last)), after

    def counted(self, i: int, licensed: bool) -> _Found | None:
        """Three weeks ago, three weeks from now, three weeks before an expression or an event."""
        if (count := self.count(i)) is None or self.word(i - 1) == "half":
            return None
        if (
            self.word(count[1]) in ("or", "to", *_DASHES)
            and (more := self.count(count[1] + 1)) is not None
            and more[0] > count[0]
            and (unit := _UNITS.get(self.word(more[1]))) is not None
            and self.word(more[1] + 1) == "ago"
        ):
            far, near = (_around(self.said, -n, unit) for n in (more[0], count[0]))
            return (far[0], near[1]), more[1] + 2
        if (half := self.and_a_half(*count)) is not None:
            return half
        n, j = count[0], count[1] + 1
        if (unit := _UNITS.get(self.word(count[1]))) is None:
            return self.named_ago(n, j) if self.word(j) == "ago" else None
        if self.word(j) == "back" and self.word(j + 1) not in _NOT_AFTER_BACK:
            return self.around(self.said, -n, unit), j + 1
        if self.word(j) == "ago":
            if unit in ("week", "fortnight") and self.word(j + 1) in ("today", "yesterday"):
                return _calendar_unit(
                    "day", self.day, -DAYS_PER[unit] * n - (self.words[j + 1] == "yesterday")
                ), j + 2
            return self.around(self.said, -n, unit), j + 1
        if self.word(j) == "from" and self.word(j + 1) in ("now", "today", "tomorrow", "yesterday"):
            shift = {"tomorrow": DAY, "yesterday": -DAY}.get(self.words[j + 1], 0.0)
            return self.around(self.said + shift, n, unit), j + 2
        if self.word(j) == "from" and self.word(j + 1) in _WEEKDAYS and unit in _DAYS_BETWEEN:
            start = self.weekday_span(j + 1, _WEEKDAYS[self.words[j + 1]], "next")[0]
            day = round(start / DAY) + _EPOCH + DAYS_PER[unit] * n
            return _days(day, day + 1), j + 2
        if self.word(j) == "from" and self.word(j + 1) in _WEEKDAYS:
            return _beside(
                Relation.AFTER,
                self.weekday_span(j + 1, _WEEKDAYS[self.words[j + 1]], "next"),
                n,
                unit,
            ), j + 2
        if self.word(j) in ("before", "after"):
            return self.offset(j, n, unit)
        return None

    def and_a_half(self, n: int, j: int) -> _Found | None:
        """An hour and a half ago, two and a half years ago.  n: the count, j: the next word."""
        half = ["and", "a", "half"]
        if self.words[j : j + 3] == half:
            unit, k = self.word(j + 3), j + 4
        elif self.words[j + 1 : j + 4] == half:
            unit, k = self.word(j), j + 4
        else:
            return None
        count, smaller = {"hour": (60, "minute"), "year": (12, "month")}.get(
            _UNITS.get(unit, ""), (0, "")
        )
        if not count or self.word(k) != "ago":
            return None
        whole = count * n + count // 2
        if smaller == "minute":  # as long as an hour ago
            return _around(self.said - whole / 60.0, 0, "hour"), k + 1
        return self.around(self.said, -whole, smaller), k + 1

    def around(self, said: float, count: int, unit: str) -> Span:
        """`_around`, whose middle day is the focus if it is longer than a day."""
        span = _around(said, count, unit)
        if unit != "weekend" and span[1] - span[0] > DAY:
            middle = _from(int(said // DAY) + _EPOCH, count, unit)
            self.focus = _days(middle, middle + 1)
        return span

    def half(self, i: int, licensed: bool) -> _Found | None:
        """Half an hour ago, half a year ago."""
        j = i + 1 + (self.word(i + 1) in ("a", "an"))
        halves = {"hour": (30, "minute"), "day": (12, "hour"), "year": (6, "month")}
        if (
            self.word(j) not in halves
            or self.word(j + 1) != "ago"
            or self.word(i - 1) in ("a", "and")
        ):
            return None
        count, unit = halves[self.word(j)]
        return self.around(self.said, -count, unit), j + 2

    def named_ago(self, n: int, j: int) -> _Found | None:
        """Two Fridays ago, three summers ago."""
        name = self.words[j - 1].removesuffix("s")
        if name in _WEEKDAYS:
            start = self.weekday_span(j, _WEEKDAYS[name], "last")[0] - 7.0 * DAY * (n - 1)
            return _days(round(start / DAY) + _EPOCH, round(start / DAY) + _EPOCH + 1), j + 1
        if name in _SEASONS:
            last = date.fromordinal(
                round(
                    self.recurring(j, lambda y: _months(12 * y + _SEASONS[name], 3), "last")[0]
                    / DAY
                )
                + _EPOCH
            )
            return _months(12 * (last.year - n + 1) + last.month - 1, 3), j + 1
        return None

    def offset(self, j: int, n: int, unit: str) -> _Found | None:
        """The rest of "two weeks before X" and "the week after X"."""
        relation = _RELATIONS[self.words[j]]
        reading = self.safely(_Reader.at, j + 1, True)
        if reading is not None and reading[1] > j + 1:
            return (_beside(relation, reading[0], n, unit) if reading[0] else None), reading[1]
        return self.event(j, relation, n, unit)

    def unit_before(self, i: int, licensed: bool) -> _Found | None:
        """The day before yesterday, the week after the trip."""
        unit, word = _UNITS[self.words[i]], self.word(i + 1)
        if unit == "week" and (numbered := self.week(i, licensed)) is not None:
            return numbered
        if self.words[i] == "year" and _YEARS.fullmatch(word):
            return self.year_alone(i + 1, True)
        if self.words[i] in ("week", "weekend") and word in (*_OF_WEEK, "ending", "to"):
            return self.unit_of_day(i + 2, unit, word)
        if self.words[i] == "night" and word in ("of", "from"):
            return self.night_of(i + 2, word == "from")
        if word not in ("before", "after"):
            return None
        target, again = self.word(i + 2), self.word(i + 3) == self.words[i]
        if unit == "day" and (word, target) in (("before", "yesterday"), ("after", "tomorrow")):
            return _calendar_unit(unit, self.day, -2 if word == "before" else 2), i + 3
        if (word, target) in (("before", "last"), ("after", "next")) and (
            again or not self.word(i + 3)[:1].isalpha()
        ):
            span = _calendar_unit(unit, self.day, -2 if word == "before" else 2)
            return (
                (span[0] + 18.0, span[0] + 30.0) if self.words[i] == "night" else span
            ), i + 4 if again else i + 3
        return self.offset(i + 1, 0, unit)

    def unit_of_day(self, i: int, unit: str, word: str) -> _Found | None:
        """The week or weekend of the day at a word, or the seven days that begin or end with it.

        word  "of", one that says that it begins the week, or "ending" or "to"
        """
        reading = self.at(i, True)
        if reading is None or reading[0] is None or reading[0][1] - reading[0][0] != DAY:
            return None
        day = round(reading[0][0] / DAY) + _EPOCH
        if word == "of" or unit == "weekend":
            return _calendar_unit(unit, day, 0), reading[1]
        first = day - 6 if word in ("ending", "to") else day
        return _days(first, first + 7), reading[1]

    def week_of_letters(self, i: int, licensed: bool) -> _Found | None:
        """The week w/c 9 Feb, w/e 15 Feb."""
        word = {"c": "commencing", "e": "ending"}.get(self.word(i + 2))
        if self.word(i + 1) != "/" or word is None:
            return None
        return self.unit_of_day(i + 3, "week", word)

    def week(self, i: int, licensed: bool) -> _Found | None:
        """Week 31, KW 31, W31, week 31 of 2025, weeks 30 to 32: of the ISO calendar."""
        j = i + (self.words[i] == "calendar")
        attached = _WEEK_NUMBER.fullmatch(self.words[i])
        if attached is None:
            if self.word(j) not in _WEEK_WORDS:
                return None
            j += 1 + (self.word(j + 1) in ("number", "no", "#"))
        number = int(attached[1]) if attached else self.bare_number(j)
        if number is None or self.word(i - 1)[:1] in _DIGITS:
            return None
        first, last, j = number, number, j + 1
        if (
            self.word(j) in _JOINTS or (self.words[i].endswith("s") and self.word(j) == "and")
        ) and (second := self.bare_number(j + 1)) is not None:
            last, j = second, j + 2
        year, after = self.year_of(j + (self.word(j) in ("/", "in"))), j
        if year is not None:
            after = year[1]
        elif self.word(j) == "of" or self.word(j) in _UNITS:
            return None  # week 3 of the course
        elif not (licensed or self.week_alone(i, j)):
            return None

        def of_year(y: int) -> Span:
            start, end = (date.fromisocalendar(y, n, 1).toordinal() for n in (first, last))
            return _days(start, end + 7)

        if year is not None or not 1 <= first <= last <= 53:
            try:
                return (of_year(year[0]) if year else None), after
            except ValueError:  # there is no such week
                return None, after
        # the first week of a year may begin in the year before it
        later = date.fromordinal(self.day).isocalendar().year - self.year
        return self.recurring(i, lambda y: of_year(y + (later if self.pivot is None else 0))), after

    def week_alone(self, i: int, after: int) -> bool:
        """Whether the number of a week stands for a time without a preposition: "what is due week
        31", but not "my week 3 report".
        """
        return self.words[i][0] in "ck" or (
            self.words[i][:2] in ("we", "wk")
            and self.word(i - 1) not in _BEGINS_EVENT
            and (
                self.may_end(after)
                or self.word(after) in (":", "like")
                or self.word(i - 1) in _BEING
            )
        )

    def bare_number(self, i: int) -> int | None:
        """A number of one or two digits without an ending."""
        word = self.word(i)
        return int(word) if _DAY.fullmatch(word) else None

    def night_of(self, i: int, to: bool) -> _Found | None:
        """The night of 3 May, the night from Monday to Tuesday."""
        reading = self.at(i + (self.word(i) == "the"), True)
        if reading is None or reading[0] is None or reading[0][1] - reading[0][0] != DAY:
            return None
        start, j = reading[0][0], reading[1]
        if to:
            next_day = self.safely(_Reader.at, j + 1, True) if self.word(j) == "to" else None
            if next_day is None:
                return None
            j = next_day[1]
        return (start + 18.0, start + 30.0), j

    def article(self, i: int, licensed: bool) -> _Found | None:
        """The day before yesterday, the last two weeks, the first week of May, the 7th of May,
        the weekend.
        """
        word = self.word(i + 1)
        if word == "weekend" and self.word(i + 2) not in ("before", "after", "of"):
            if self.word(i - 1) not in (
                "over",
                "on",
                "at",
                "this",
                "during",
                "in",
                "by",
                "until",
                "since",
                "before",
                "after",
                "for",
            ):
                return None
            ahead = (
                self.direction(i, self.default(i)) > 0 or date.fromordinal(self.day).weekday() >= 5
            )
            return _calendar_unit("weekend", self.day, 0 if ahead else -1), i + 2
        if word == "other":
            return (
                (_days(self.day - 7, self.day), i + 3)
                if self.word(i + 2) in ("day", "night", "morning", "evening")
                and self.word(i - 1) not in ("on", "in", "of", "and", "for")
                and self.word(i + 3) != "of"
                else None
            )
        if word in ("a", "an", "the", "in", "on", "at"):
            return None
        return self.at(i + 1, licensed)

    def preposition(self, i: int, licensed: bool) -> _Found | None:
        """In May, on Friday, in two weeks."""
        word, j = self.words[i], i + 1
        if word == "in" and (count := self.count(j)) and (unit := _UNITS.get(self.word(count[1]))):
            after = count[1] + 1
            if self.word(after) in ("'", "’"):
                after += 1
            if (
                self.direction(i, 1) < 0
                or self.word(after) in ("of", "ago")
                or self.word(i - 1) == "time"
            ):
                return None
            return self.around(self.said, count[0], unit), after + (self.word(after) == "time")
        if self.word(j) in _PREPOSITIONS:
            return None
        return self.at(j, True)

    def relation(self, i: int, licensed: bool) -> _Found | None:
        """Since May, before the trip."""
        word, j = self.words[i], i + 1
        relation = _RELATIONS[word]
        if (
            self.word(j) not in _PREPOSITIONS
            and (reading := self.safely(_Reader.at, j, True)) is not None
            and reading[1] > j
        ):
            return (bounded(relation, reading[0], self.said) if reading[0] else None), reading[1]
        if word in ("by", "through") or (word == "after" and self.word(i - 1) in _NOT_AFTER):
            return None
        return self.event(i, relation, 0, "")

    def between(self, i: int, licensed: bool) -> _Found | None:
        """Between A and B, from A to B, from 2 to 4 pm yesterday."""
        if (hours := self.between_hours(i + 1)) is not None:
            return hours
        reading = self.range_of(i + 1, licensed)
        return (
            reading
            if reading is None or self.words[i] == "from" or "and" in self.words[i + 1 : reading[1]]
            else None
        )

    def between_hours(self, i: int) -> _Found | None:
        """2 pm and 4 pm yesterday."""
        if (first := self.clock(i)) is None or self.word(first[1]) not in ("and", *_JOINTS):
            return None
        if (last := self.clock(first[1] + 1)) is None:
            return None
        j = last[1] + (self.word(last[1]) in ("on", "of", ","))
        day = self.safely(_Reader.at, j, True)
        if day is None or day[0] is None or day[1] <= j or day[0][1] - day[0][0] != DAY:
            return None
        start, end = (day[0][0] + sum(hours) / 2.0 for hours in (first[0], last[0]))
        return ((start, end) if start < end else None), day[1]

    def range_of(self, i: int, licensed: bool) -> _Found | None:
        """A to B, after "between" A and B; A alone if no B follows."""
        reading = self.safely(_Reader.at, i, True)
        if reading is None or reading[0] is None or reading[1] <= i:
            return reading
        (start, end), j = reading[0], reading[1]
        if self.pivot is not None or self.word(j) not in (
            ("and",) if self.word(i - 1) == "between" else _JOINTS
        ):
            return reading
        day = self.day_number(j + 1)
        if (
            day is not None
            and end - start == DAY
            and self.word(j + 2) not in (*_MONTHS, "of", "/", *_UNITS)
        ):
            at = date.fromordinal(round(start / DAY) + _EPOCH)
            try:
                end = DAY * (date(at.year, at.month, day).toordinal() + 1 - _EPOCH)
            except ValueError:
                return None, j + 2
            return ((start, end) if start < end else None), j + 2
        try:
            self.pivot = (start, 1)
            later = self.safely(_Reader.at, j + 1, True)
            if later is None or later[1] <= j + 1:
                return reading
            if later[0] is None:
                return None, later[1]
            self.pivot = (later[0][0], -1)
            again = self.safely(_Reader.at, i, True)
        finally:
            self.pivot = None
        start = again[0][0] if again is not None and again[0] is not None else start
        return ((start, later[0][1]) if start < later[0][1] else None), later[1]

    def recurrence(self, i: int, licensed: bool) -> _Found | None:
        """Every Friday: not one time."""
        reading = self.safely(_Reader.at, i + 1, True)
        return None if reading is None else (None, reading[1])

    def quarter(self, i: int, licensed: bool) -> _Found | None:
        """Q2 2023 and H1 2023, and Q2 alone after a preposition."""
        part = self.words[i]
        year = self.year_of(i + 1 + (self.word(i + 1) in _MARKS))
        if year is not None:
            return _part_of_year(part, year[0]), year[1]
        return (self.recurring(i, lambda y: _part_of_year(part, y)), i + 1) if licensed else None

    # --- events and order

    def event(self, i: int, relation: Relation, n: int, unit: str) -> _Found | None:
        """The event that a relation at word i names, kept in `events`: "the move", "she moved to
        Oslo", "moving", "Ada's wedding".
        """
        j = i + 1
        first = self.word(j)
        noun = (
            first in _BEGINS_EVENT
            or first in _PRONOUNS
            or first.endswith("'s")
            or (len(first) > 4 and first.endswith("ing"))
        )
        if not first[:1].isalpha() or not (noun or self.capital(j)):
            return None
        end = j + 1
        stops = _ENDS_EVENT if first in _PRONOUNS else _ENDS_EVENT | _PRONOUNS
        while (
            end < self.n
            and end - j < _EVENT_WORDS
            and self.words[end][0].isalnum()
            and self.words[end] not in stops
        ):
            end += 1
        if end - j < 2 and (first in _BEGINS_EVENT or first in _PRONOUNS):
            return None
        self.events.append(EventExpression(relation, self.written(j, end), n, unit))
        return None, end

    def order(self, i: int) -> HistoryEnd:
        """Whether the word asks for the first or the latest of several."""
        word, after = self.words[i], self.word(i + 1)
        if (
            word == "first" and after not in _NOT_AFTER_FIRST and self.word(i - 1) != "at"
        ) or word in ("earliest", "oldest"):
            return HistoryEnd.FIRST
        if word in ("latest", "newest") or (word == "recent" and self.word(i - 1) == "most"):
            return HistoryEnd.LATEST
        if (
            word == "last"
            and self.word(i - 1) in _OWNERS
            and after
            and after[0].isalpha()
            and after not in _NOT_AFTER_LAST
        ):
            return HistoryEnd.LATEST
        return HistoryEnd.NONE


def _silent(reader: _Reader, i: int, licensed: bool) -> _Found | None:
    """For words that only tell the order."""
    return None


_PREPOSITIONS: Final = frozenset(("in", "on", "at", "around", "about", "over", "throughout", "of",
                                  "circa", "within", "year", "back"))  # fmt: skip
_READERS: Final[dict[str, Callable[[_Reader, int, bool], _Found | None]]] = {
    **dict.fromkeys(("earliest", "oldest", "latest", "newest", "recent"), _silent),
    **dict.fromkeys(_PREPOSITIONS, _Reader.preposition),
    **dict.fromkeys(_COUNTS, _Reader.counted),
    **dict.fromkeys(_MONTHS, _Reader.month_name),
    **dict.fromkeys(_SEASONS, _Reader.season),
    **dict.fromkeys(
        (first for name in _HOLIDAYS if (first := name.split()[0]) not in ("new", *_MONTHS)),
        _Reader.holiday,
    ),
    "new": _Reader.holiday,
    "small": _Reader.of_day,
    **dict.fromkeys((*_WEEKDAYS, *_SHORT_WEEKDAYS), _Reader.weekday),
    **dict.fromkeys(("yesterday", "today", "tomorrow", "tonight"), _Reader.near_day),
    **dict.fromkeys(_ORDINALS, _Reader.first),
    **dict.fromkeys(_SHIFTS, _Reader.qualified),
    **dict.fromkeys(_THIRDS, _Reader.third),
    **dict.fromkeys(("earlier", "later"), _Reader.sooner),
    **dict.fromkeys(("day", "week", "weekend", "month", "year", "night"), _Reader.unit_before),
    **dict.fromkeys(_RELATIONS, _Reader.relation),
    **dict.fromkeys(("between", "from"), _Reader.between),
    **dict.fromkeys(("every", "each"), _Reader.recurrence),
    **dict.fromkeys(_QUARTERS, _Reader.quarter),
    **dict.fromkeys(_DECADES, _Reader.decade),
    **dict.fromkeys(("morning", "afternoon", "evening", *_HOURS), _Reader.of_day),
    **dict.fromkeys((*_WEEK_WORDS - {"week"}, "calendar"), _Reader.week),
    **dict.fromkeys(
        (
            f"{word}{n:0{width}}"
            for word in ("w", "kw", "cw", "wk")
            for n in range(1, 54)
            for width in (1, 2)
        ),
        _Reader.week,
    ),
    "w": _Reader.week_of_letters,
    "'": _Reader.year_after_apostrophe,
    "half": _Reader.half,
    "the": _Reader.article,
}
# Words without which a text without digits has no time.
_OPENERS: Final = frozenset(word.split("'")[0] for word in (*_READERS, *_ORDINAL_WORDS))
