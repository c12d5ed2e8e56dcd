"""MemDaily: short daily messages of a user to an assistant, in Chinese, and a question about each
series of them whose evidence is known.

Source: Zhang et al. 2024, MemSim: A Bayesian Simulator for Evaluating Memory of LLM-based Personal
Assistants (arXiv:2409.20163); `memdaily.json` of its repository, and the files `memdaily_<n>.json`
of its benchmark, in which n unrelated messages stand beside each one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from ...engine.base.times import hours, moment
from ...engine.contract.records import Event
from .base import (
    MINUTE,
    Conversation,
    Dataset,
    JsonPlace,
    Question,
    TurnClock,
    assemble,
    one_json,
    read_json,
    unique,
)
from .reading import digest_of

DATE = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日\D*(\d{1,2}):(\d{2})")
# what the source's benchmark writes behind a message: its place and its time
NOTED = re.compile(r"(.*) \(消息地点 (.*), 消息时间 ([^()]*)\)", re.DOTALL)


def load_memdaily(path: Path | None, limit: int | None = None) -> Dataset:
    """One conversation for each series of messages, `<kind of question>/<scenario>/<tid>`, with one
    question.

    A message is an event, its id its place from 0; its place is the attribute `place`, its day its
    session (engineering: the file has no sessions).  A message that would come before the one
    before it follows it by a minute and is counted.  A message without a time (the unrelated ones
    of the benchmark) does so, too, and carries no date.  Gold: the messages in `target_step_id`;
    numbers of no message are counted.  Category: the kind of question.  The question is asked at
    its time, or a minute after the last message if that is later (counted).  `choices` are left
    out, since nothing here chooses.

    path  the file, or a folder with it alone

    Cost: O(characters), all in memory.  Errors: DataError.
    """
    file = one_json(path, "memdaily")
    top, _ = read_json(file)
    counted: Counter[str] = Counter(
        times_clamped=0, times_made_up=0, questions_clamped=0, gold_missing=0
    )
    series = list(_series(top))
    conversations = [_conversation(name, place, counted) for name, place in series[:limit]]
    for name, place in series[len(conversations) :]:  # read, so that a damaged one is named
        _conversation(name, place, Counter())
    return assemble(
        "memdaily", digest_of([("", file)]), conversations, counted, str(file)
    )  # fmt: skip


def _series(top: JsonPlace) -> Iterator[tuple[str, JsonPlace]]:
    """Name and value of each series, in the order of the file; a scenario may be null."""
    for kind, scenarios in top.members():
        for scenario, listed in scenarios.members():
            if listed.value is None:
                continue
            for place in listed.items("series"):
                yield f"{kind}/{scenario}/{place.field('tid').name()}", place


def _conversation(name: str, place: JsonPlace, counted: Counter[str]) -> Conversation:
    place = place.named(f"series {name}")
    messages = list(place.field("message_list").items("message"))
    told = [_message(message) for message in messages]
    starts = [
        _time(date, m) if date else None for m, (_, _, date) in zip(messages, told, strict=True)
    ]
    if starts and starts[0] is None:  # messages without a time stand before the first one with one
        before, first = next(((n, t) for n, t in enumerate(starts) if t is not None), (0, 0.0))
        starts[0] = first - before * MINUTE
    clock, events = TurnClock(), list[Event]()
    for number, (message, (text, where, date)) in enumerate(zip(messages, told, strict=True)):
        time = clock.next(starts[number], message)
        counted["times_made_up"] += not date
        events.append(
            Event(
                time, text, "user", f"{moment(time):%Y-%m-%d}", str(number), dated=bool(date),
                attributes=(("place", where),) if where else (),
            )
        )  # fmt: skip
    counted["times_clamped"] += clock.clamped
    asked = place.field("QA")
    named = unique(step.name() for step in asked.field("target_step_id").items("message"))
    gold = tuple(id for id in named if id.isdecimal() and int(id) < len(events))
    counted["gold_missing"] += len(named) - len(gold)
    due = asked.maybe("time")
    time = _time(due.text(), due) if due else clock.now + MINUTE
    counted["questions_clamped"] += time < clock.now + MINUTE
    question = Question(
        name,
        asked.field("question").name(),
        max(time, clock.now + MINUTE),
        name.partition("/")[0],
        gold,
        _answer(asked),
    )
    return Conversation(name, tuple(events), (question,))


def _message(message: JsonPlace) -> tuple[str, str, str]:
    """Text, place and time of a message: an object, or the benchmark's line; "" for what it does
    not have.
    """
    if isinstance(message.value, str):
        match = NOTED.fullmatch(message.text())
        return (match[1], match[2], match[3]) if match else (message.text(), "", "")
    where, date = message.maybe("place"), message.maybe("time")
    return (
        message.field("message").text(),
        where.text() if where else "",
        date.text() if date else "",
    )


def _answer(asked: JsonPlace) -> str:
    """The answer; some are lists, which stay JSON."""
    answer = asked.maybe("answer")
    if answer is None:
        return ""
    if isinstance(answer.value, list | dict | bool):
        return json.dumps(answer.value, ensure_ascii=False)
    return answer.name()


def _time(text: str, place: JsonPlace) -> float:
    match = DATE.search(text)
    try:
        if match:
            return hours(datetime(*map(int, match.groups())))  # type: ignore[arg-type]  # five numbers
    except ValueError:
        pass
    place.wrong(f"{text!r} is not a time", "write it like '2024年04月01日 周一 08:30'")
