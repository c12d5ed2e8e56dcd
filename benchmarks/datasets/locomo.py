"""LoCoMo: ten long conversations of two people, with captions of shared pictures.

Source: Maharana et al. 2024, Evaluating Very Long-Term Conversational Memory of LLM Agents, ACL
(arXiv:2402.17753); file `locomo10.json`.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from pathlib import Path

from ...engine.base.times import hours
from ...engine.contract.records import Event
from .base import Conversation, Dataset, JsonPlace, Question, TurnClock, one_json, unique
from .reading import items, of_items

CATEGORIES = {
    "1": "multi-hop",
    "2": "temporal",
    "3": "open-domain",
    "4": "single-hop",
    "5": "adversarial",
}
# also 'D:11:26' and 'D30:05', which the official file contains
DIALOG = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)", re.IGNORECASE)
SESSION = re.compile(r"session_(\d{1,6})")


def load_locomo(path: Path | None, limit: int | None = None) -> Dataset:
    """The conversations of `locomo10.json` or of a subset of it.

    A session has a date and time, its turns follow a minute apart (engineering: the file has no
    times of turns).  Questions are asked an hour after the last event.  Evidence is free text with
    errors; every D<session>:<turn> in it counts, ids that name no turn are counted in the notes.
    Cost: O(characters).  Errors: DataError.
    """
    file = one_json(path, "locomo")
    oddities: Counter[str] = Counter(
        times_clamped=0,
        sessions_out_of_order=0,
        gold_missing=0,
        evidence_unreadable=0,
        dates_without_session=0,
        sessions_without_turns=0,
    )
    return of_items("locomo", file, items(file, "sample"), _conversation, oddities, limit)


def _conversation(sample: JsonPlace, counted: Counter[str]) -> Conversation:
    name = sample.field("sample_id").name()
    sample = sample.named(f"sample {name}")
    talk = sample.field("conversation")
    numbered = {
        int(match[1]): JsonPlace(place.value, place.file, (f"sample {name}", key))
        for key, place in talk.members()
        if (match := SESSION.fullmatch(key)) and place.value is not None
    }
    counted["dates_without_session"] += sum(
        key.endswith("_date_time") and talk.maybe(key[:-10]) is None for key, _ in talk.members()
    )
    clock, events = TurnClock(), list[Event]()
    for number, session in sorted(numbered.items()):
        date = talk.field(f"session_{number}_date_time")
        start: float | None = _time(date)
        before = len(events)
        for turn in session.items("turn"):
            caption = turn.maybe("blip_caption")
            events.append(
                Event(
                    clock.next(start, date),
                    turn.field("text").text(),
                    turn.field("speaker").text(),
                    f"session_{number}",
                    turn.field("dia_id").name(),
                    caption.text() if caption else "",
                )
            )
            start = None
        counted["sessions_without_turns"] += len(events) == before
    counted["times_clamped"] += clock.clamped
    counted["sessions_out_of_order"] += clock.out_of_order
    turns = {plain: event.id for event in events for plain in dialogs(event.id)}
    questions = tuple(
        _question(place, f"{name}/q{n}", clock.now + 1.0, turns, counted)
        for n, place in enumerate(sample.field("qa").items("question"))
    )
    return Conversation(name, tuple(events), questions)


def _question(
    place: JsonPlace, name: str, time: float, turns: dict[str, str], counted: Counter[str]
) -> Question:
    number = place.field("category").name().strip()
    category = CATEGORIES.get(number)
    if category is None:
        place.wrong(f"category {number} is none of 1 to 5")
    evidence = place.maybe("evidence")
    listed = (
        []
        if evidence is None
        else [evidence]
        if isinstance(evidence.value, str)
        else list(evidence.items("evidence"))
    )
    named = [id for item in listed for id in dialogs(item.text())]
    counted["evidence_unreadable"] += sum(not dialogs(item.text()) for item in listed)
    counted["gold_missing"] += sum(id not in turns for id in unique(named))
    answer = place.maybe("answer")
    return Question(
        name,
        place.field("question").name(),
        time,
        category,
        unique(turns[id] for id in named if id in turns),
        answer.name() if answer else "",
    )


def dialogs(text: str) -> list[str]:
    """Every dialog id in a text, without leading zeros: 'D8:6; D30:05' holds D8:6 and D30:5."""
    return [
        f"D{int(session)}:{int(turn)}"
        for session, turn in DIALOG.findall(text)
        if len(session + turn) < 18
    ]


def _time(place: JsonPlace) -> float:
    text = " ".join(place.text().replace(",", " ").split())
    try:
        return hours(datetime.strptime(text, "%I:%M %p on %d %B %Y"))
    except ValueError:
        place.wrong(f"{place.value!r} is not a time", "write it like '1:56 pm on 8 May, 2023'")
