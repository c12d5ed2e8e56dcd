"""LongMemEval: each instance is one question about a haystack of chats with an assistant.

Source: Wu et al. 2025, LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory,
ICLR (arXiv:2410.10813); files `longmemeval_s.json`, `_m.json`, `_oracle.json`, their cleaned
successors, and samples of them.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from ...engine.base.times import hours
from ...engine.contract.records import Event
from ...engine.memory.nights import CENTURY, YEAR
from .base import MINUTE, Conversation, Dataset, JsonPlace, Question, TurnClock, one_json
from .reading import items, of_items

DATE = re.compile(r"\s*(\d{4}/\d{1,2}/\d{1,2})\s*(?:\([^)]*\))?\s*(\d{1,2}:\d{2})?\s*")


def load_longmemeval(path: Path | None, limit: int | None = None) -> Dataset:
    """One conversation per instance, named by its question.

    Sessions are taken in order of date (ties in file order), their turns a minute apart; a session
    that would begin before the previous one has ended is clamped to follow it.  Event ids are
    `<session>#<turn>`, counted from 0; a session id that occurs again gets `~2`.  Gold: the turns
    marked `has_answer` in answer sessions, or all turns of the answer sessions if none is marked;
    none for abstention (ids ending in `_abs`). The question is asked at its date, or a minute after
    the last event if that is later (counted).  Cost: O(characters).  Errors: DataError.
    """
    file = one_json(path, "longmemeval")
    oddities: Counter[str] = Counter(
        times_clamped=0,
        sessions_out_of_order=0,
        questions_clamped=0,
        session_ids_repeated=0,
        sessions_without_turns=0,
        gold_missing=0,
        gold_unmarked=0,
    )
    return of_items("longmemeval", file, items(file, "instance"), _conversation, oddities, limit)


def _conversation(instance: JsonPlace, counted: Counter[str]) -> Conversation:
    name = instance.field("question_id").name()
    instance = instance.named(f"instance {name}")
    ids = [place.name() for place in instance.field("haystack_session_ids").items("id")]
    dates = list(instance.field("haystack_dates").items("date"))
    starts = [_time(place) for place in dates]
    sessions = list(instance.field("haystack_sessions").items("session"))
    if not len(ids) == len(starts) == len(sessions):
        instance.wrong(
            f"{len(sessions)} sessions, {len(ids)} session ids and {len(starts)} dates; there must be as many of each"
        )
    wanted = dict.fromkeys(
        place.name() for place in instance.field("answer_session_ids").items("id")
    )
    clock, events, answer, marked = TurnClock(), list[Event](), list[str](), list[str]()
    seen: Counter[str] = Counter()
    for number in sorted(range(len(sessions)), key=starts.__getitem__):
        session, start = ids[number], starts[number]
        seen[session] += 1
        counted["session_ids_repeated"] += seen[session] > 1
        label = session + (f"~{seen[session]}" if seen[session] > 1 else "")
        turns = list(sessions[number].items("turn"))
        counted["sessions_without_turns"] += not turns
        for n, turn in enumerate(turns):
            time = clock.next(start if n == 0 else None, dates[number])
            event = Event(
                time, turn.field("content").text(), turn.field("role").name(), label, f"{label}#{n}"
            )
            events.append(event)
            has_answer = turn.maybe("has_answer")
            if session in wanted:
                answer.append(event.id)
                if has_answer is not None and has_answer.value is True:
                    marked.append(event.id)
    abstention = name.endswith("_abs")
    counted["times_clamped"] += clock.clamped
    counted["sessions_out_of_order"] += sum(later < earlier for earlier, later in pairwise(starts))
    counted["gold_missing"] += sum(id not in seen for id in wanted)
    counted["gold_unmarked"] += not marked and not abstention
    date = instance.field("question_date")
    asked = _time(date)
    if events and abs(asked - clock.now) > CENTURY:
        date.wrong(
            f"it is {abs(asked - clock.now) / YEAR:.0f} years from the last event",
            "correct the date",
        )
    counted["questions_clamped"] += asked < clock.now + MINUTE
    category = "abstention" if abstention else instance.field("question_type").name()
    gold = () if abstention else tuple(marked or answer)
    expected = instance.maybe("answer")
    question = Question(
        name,
        instance.field("question").name(),
        max(asked, clock.now + MINUTE),
        category,
        gold,
        expected.name() if expected else "",
    )
    return Conversation(name, tuple(events), (question,))


def _time(place: JsonPlace) -> float:
    match = DATE.fullmatch(place.text())
    try:
        if match:
            return hours(datetime.strptime(f"{match[1]} {match[2] or '0:00'}", "%Y/%m/%d %H:%M"))
    except ValueError:
        pass
    place.wrong(f"{place.value!r} is not a date", "write it like '2023/07/12 (Wed) 10:14'")
