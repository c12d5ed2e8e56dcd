"""When: the same kind of event at several times is told apart by the time that is asked for,
which may be all that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from ...engine.base.times import hours, moment
from .harness.base import Measures, Numbers, Probe, Within, mean
from .harness.life import DAY, Life
from .stimuli import NAMES, OBJECTS, PLACES, Stimuli, sentence

TIMES: Final = 6
KINDS: Final = (
    "had an appointment with the dentist",
    "took the car to the garage",
    "gave a talk at the library",
    "went swimming in the lake",
    "cooked dinner for the neighbours",
)
SPACING: Final = 17 * DAY  # between events of one kind
OTHERS: Final = 60
DAYS: Final = 42  # of a diary
SPEAKERS: Final = 3
OF_A_DAY: Final = (8, 12, 16, 19)  # hours at which it may be written in
THINGS: Final = 5  # told of once a week
SAID: Final = (
    "We cleaned the {} with vinegar.",
    "A screw fell out of the {}.",
    "The {} went to the {place}.",
    "Somebody asked what the {} cost.",
    "I dropped the {}, and it still works.",
    "Nobody wanted to carry the {}.",
)
# a time that is named is not the time at which it is told
LATER: Final = (" More about that next month.", "")


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("when_did", seed)
    names, company = np.split(np.array(s.draw(NAMES, len(KINDS) + TIMES)), [len(KINDS)])
    start = life.now
    told = [
        (
            start + t * SPACING + (2 * k + 1 + float(s.rng.uniform(0.0, 0.3))) * DAY,
            f"{name} {kind} together with {company[t]}.",
            (k, t),
        )
        for k, (name, kind) in enumerate(zip(names, KINDS, strict=True))
        for t in range(TIMES)
    ]
    told += [
        (start + float(s.rng.uniform(0.0, TIMES * SPACING)), text, (-1, i))
        for i, text in enumerate(s.chatter(OTHERS))
    ]
    ids, times = {}, {}
    for at, text, key in sorted(told):
        ids[key], times[key] = life.tell(text, at=at, dated=True), at
    life.until(start + TIMES * SPACING + 3 * DAY)
    hits: dict[str, list[bool]] = {"absolute": [], "relative": []}
    leads = []  # of the event asked for by its date over the same event at other times
    for k, (name, kind) in enumerate(zip(names, KINDS, strict=True)):
        for t in range(TIMES):
            date, days = moment(times[k, t]), round((life.now - times[k, t]) / DAY)
            ago = f"{days} days ago" if days < 14 else f"{round(days / 7)} weeks ago"
            absolute = f"What did {name} do on {date.day} {date:%B} {date.year}?"
            hits["absolute"].append(life.hit(absolute, ids[k, t], 1))
            leads.append(
                life.lead(
                    absolute, ids[k, t], [ids[k, other] for other in range(TIMES) if other != t]
                )
            )
            hits["relative"].append(
                life.hit(f"When {name} {kind} {ago}, what happened?", ids[k, t], 1)
            )
    return {
        f"hit@1 {way}": sum(hits_of_way) / len(hits_of_way) for way, hits_of_way in hits.items()
    } | {"chance": 1.0 / TIMES, "lead absolute": mean(leads)}


def day(at: datetime, shift: int = 0) -> datetime:
    """Midnight before a moment, or that of a day before or after it."""
    return datetime(at.year, at.month, at.day) + timedelta(days=shift)


def times_before(now: datetime) -> Iterator[tuple[str, datetime, datetime]]:
    """Times as one asks for them, with their first moment and the first after them, by the
    calendar.
    """
    monday = day(now, -now.weekday())

    def span(words: str, first: datetime, days: float) -> tuple[str, datetime, datetime]:
        return words, first, first + timedelta(days=days)

    for words, ago in (
        ("yesterday", 1),
        ("the day before yesterday", 2),
        ("four days ago", 4),
        ("twenty days ago", 20),
    ):
        yield span(words, day(now, -ago), 1)
    for ago in (5, 6):
        yield span(f"last {day(now, -ago):%A}", day(now, -ago), 1)
    for ago in (9, 17, 25, 33):
        yield span(f"on {day(now, -ago).day} {day(now, -ago):%B}", day(now, -ago), 1)
    first, last = day(now, -13), day(now, -11)
    yield span(f"between {first.day} {first:%B} and {last.day} {last:%B}", first, 3)
    yield span("this morning", day(now) + timedelta(hours=6), 0.25)
    yield span("yesterday evening", day(now, -1) + timedelta(hours=18), 0.25)
    yield span("last week", monday - timedelta(days=7), 7)
    yield (
        span("at the weekend", monday - timedelta(days=2), 2)
        if now.weekday() < 5
        else span("last week", monday - timedelta(days=7), 7)
    )


def run_alone(life: Life, seed: int) -> Numbers:
    s = Stimuli("when_did/alone", seed)
    names = s.draw(NAMES, SPEAKERS)
    texts = s.shuffled([*s.chatter(OTHERS), *map(sentence, s.facts(OTHERS))])
    start, told = day(moment(life.now), 1), []
    for date in range(DAYS):
        for hour in sorted(
            s.rng.choice(OF_A_DAY, int(s.rng.integers(2, 4)), replace=False).tolist()
        ):
            if texts:
                at, name = (
                    start + timedelta(days=date, hours=hour, minutes=int(s.rng.integers(30))),
                    s.draw(names, 1)[0],
                )
                told.append((at, name, life.tell(texts.pop(), name, at=hours(at), dated=True)))
    now = start + timedelta(days=DAYS - 1, hours=20)
    life.until(hours(now))
    share: dict[str, list[float]] = {"anybody": [], "somebody": []}
    for words, first, end in times_before(now):
        of_it = [(name, id) for at, name, id in told if first <= at < end]
        for who, verb, gold in (
            ("anybody", "What happened", of_it),
            *(
                ("somebody", f"What did {name} do", [event for event in of_it if event[0] == name])
                for name in names
            ),
        ):
            if gold:
                size = min(len(gold), 10)
                best = [event.id for event in life.ask(f"{verb} {words}?", size).events]
                share[who].append(len({id for _, id in gold} & set(best)) / size)
    return {f"recall, {who}": mean(values) for who, values in share.items()}


def run_both(life: Life, seed: int) -> Numbers:
    s = Stimuli("when_did/both", seed)
    things, places = s.draw(OBJECTS, THINGS), s.draw(PLACES, THINGS)
    start = day(moment(life.now), 1)
    monday = start + timedelta(days=(7 - start.weekday()) % 7)
    weeks, told = len(SAID), []
    for thing, place in zip(things, places, strict=True):
        for week, text in enumerate(s.shuffled(SAID)):
            at = monday + timedelta(
                days=7 * week + int(s.rng.integers(5)), hours=9 + float(s.rng.uniform(0.0, 9.0))
            )
            told.append(
                (
                    at,
                    text.format(thing, place=place) + LATER[int(s.rng.integers(len(LATER)))],
                    (thing, week),
                )
            )
    end = monday + timedelta(days=7 * weeks)
    told += [
        (monday + timedelta(days=float(s.rng.uniform(0.0, 7.0 * weeks))), text, (text, -1))
        for text in s.chatter(OTHERS)
    ]
    ids, times = {}, {}
    for at, text, key in sorted(told):
        ids[key], times[key] = life.tell(text, at=hours(at), dated=True), at
    life.until(hours(end + timedelta(hours=20)))  # a Monday evening
    hits: dict[str, list[bool]] = {"day": [], "week": []}
    for thing in things:
        for week in range(weeks):
            at = times[thing, week]
            date, ago = (
                f"on {at.day} {at:%B}",
                (
                    f"in the week of {(monday + timedelta(days=7 * week)).day} {monday + timedelta(days=7 * week):%B}",
                    "last week",
                )[week == weeks - 1],
            )
            hits["day"].append(
                life.hit(f"What did I say about the {thing} {date}?", ids[thing, week], 1)
            )
            hits["week"].append(life.hit(f"What about the {thing} {ago}?", ids[thing, week], 1))
    return {f"hit@1 {way}": mean(values) for way, values in hits.items()} | {"chance": 1.0 / weeks}


PROBES = (
    Probe(
        id="when_did/distractors",
        capability="A question that names a time finds what happened then, not the same kind of event at another time.",
        source="",
        place="an experiment of ours",
        unit="share of questions",
        protocol="5 kinds of events, each by one person at 6 times 17 days apart, with another companion each time, among 60 other events, all dated; "
        "asked with the date and with how long ago it was. Chance: one of the 6.",
        band=(Within("hit@1 absolute", low=0.8), Within("hit@1 relative", low=0.8)),
        matters=("temporal_index", "query_intent", "recency"),
        sets=("default", "waking", "everything"),
        run=run,
        also=("lead absolute",),
        measures=Measures(answers=True),
    ),
    Probe(
        id="when_did/alone",
        capability="A question that asks for a time and nothing else is answered by what was told then, all of it first.",
        source="",
        place="an experiment of ours",
        unit="share of what was told at the time",
        protocol="A diary of 42 days by 3 speakers, two or three entries a day as far as 120 texts last, dated; at the end it is asked what happened, "
        "and what each of them did, yesterday, last week, on a date and so on: 15 times, found by the calendar. As many memories are answered "
        "as there are entries of the time, at most 10.",
        band=(Within("recall, anybody", low=0.95), Within("recall, somebody", low=0.95)),
        matters=("temporal_index",),
        sets=("default", "waking", "everything"),
        run=run_alone,
        measures=Measures(answers=True),
    ),
    Probe(
        id="when_did/both",
        capability="A question about something at a time finds what was told of it then, and nothing else.",
        source="",
        place="an experiment of ours",
        unit="share of questions",
        protocol="Of 5 things one sentence each in 6 weeks, the six sentences in random order, half of them with a later time in their words, among 60 "
        "other events, all dated; asked for what was said about a thing on the day, and in the week. Chance: one of the 6.",
        band=(Within("hit@1 day", low=0.8), Within("hit@1 week", low=0.8)),
        matters=("temporal_index", "query_intent"),
        sets=("default", "waking", "everything"),
        run=run_both,
        measures=Measures(answers=True),
    ),
)
