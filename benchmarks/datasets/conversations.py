"""One's own conversations: two files of JSON Lines and a description.

`events.jsonl`, one object a line: `conversation`, `id`, `text`, and where they are known `time` (ISO 8601, or hours since 1970), `speaker`,
`session`, `caption`, `attributes` (an object of texts, or of lists of texts) and `dated` (false: the time was made up and does not enter the
text).  `questions.jsonl`: `conversation`, `id`, `text`, and `gold` (ids of the events that hold the answer), `time`, `category`,
`answer`, `rubric` (a list of statements that a good answer holds).  `dataset.yaml`: `name`, `licence`, `citation`.  The names of categories are free.
"""
from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from ...engine.errors import DataError
from ...engine.records import Event, hours, moment
from ...reporting.files import write_whole
from .base import MINUTE, Clock, Conversation, Dataset, Place, Question, assemble, digest, given, no_constant, unique

EVENTS, QUESTIONS, DESCRIPTION = "events.jsonl", "questions.jsonl", "dataset.yaml"
FIX = "correct the line; docs/own-data.md describes the files"
EVENT_FIELDS = frozenset({"conversation", "id", "time", "speaker", "session", "text", "caption", "dated", "attributes"})
QUESTION_FIELDS = frozenset({"conversation", "id", "text", "time", "category", "gold", "answer", "rubric"})
NO_TIME = -math.inf     # of an event until its place in the file gives it one
DESCRIPTION_FIELDS = frozenset({"name", "licence", "citation"})


@dataclass(slots=True)
class _Draft:
    """A conversation while its lines are read: events in file order, each with its place and whether the file gives its time."""

    events: list[tuple[Event, Place]]
    questions: list[tuple[Place, tuple[str, ...]]]


def load_conversations(path: Path | None, limit: int | None = None, *, allow_missing_gold: bool = False) -> Dataset:
    """The conversations of a folder that holds the three files, or of the folder in which the named `events.jsonl` stands.

    limit               only the first so many conversations, in order of first mention
    allow_missing_gold  leave out gold that names no event, and count it in the notes, instead of refusing the data

    Events are ordered by time; those that the file has in another order are counted.  An event without a time follows the one before it by
    a minute, and its time does not enter its text.  A question without a time is asked a minute after the last event.
    Cost: O(characters).  Errors: DataError, which names file, line and cure.
    """
    folder = _folder(given(path, "conversations"))
    about = _description(folder)
    found: Counter[str] = Counter(events_reordered=0, times_made_up=0, gold_missing=0, events_with_attributes=0)
    drafts: dict[str, _Draft] = {}
    read = b""
    for file, fields in ((EVENTS, EVENT_FIELDS), (QUESTIONS, QUESTION_FIELDS)):
        lines, data = _lines(folder / file)
        read += data + b"\0"
        for line in lines:
            _require_fields(line, fields)
            name = line.field("conversation").name()
            if file == EVENTS:
                drafts.setdefault(name, _Draft([], [])).events.append((_event(line), line))
            elif name not in drafts:
                line.wrong(f"the conversation {name!r} has no events", f"name a conversation of {EVENTS}, or remove the question")
            else:
                drafts[name].questions.append((line, _gold(line)))
    chosen = list(drafts.items())[:limit]
    conversations = [_conversation(name, draft, found, allow_missing_gold) for name, draft in chosen]
    notes: dict[str, int | str] = {**found, **{key: str(value) for key, value in about.items() if key != "name"}}
    return assemble(str(about["name"]), digest(read), conversations, notes, str(folder))


def write_conversations(data: Dataset, folder: Path, *, licence: str, citation: str) -> None:
    """Write a data set as the three files; loading them gives the same conversations.

    Existing files are replaced, each whole or not at all.  Raises HebbariumError.
    """
    events = ({"conversation": c.id, "id": e.id, **_time_field(e), "speaker": e.speaker, "session": e.session, "text": e.text,
               **({"caption": e.caption} if e.caption else {}), **({"attributes": _grouped(e)} if e.attributes else {})}
              for c in data.conversations for e in c.events)
    questions = ({"conversation": c.id, "id": q.id, "text": q.text, "time": _written(q.time), "category": q.category, "gold": list(q.gold),
                  **({"answer": q.answer} if q.answer else {}), **({"rubric": list(q.rubric)} if q.rubric else {})}
                 for c in data.conversations for q in c.questions)
    about = {"name": data.name, "licence": licence, "citation": citation}
    for file, rows in ((EVENTS, events), (QUESTIONS, questions)):
        write_whole(folder / file, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    write_whole(folder / DESCRIPTION, [yaml.safe_dump(about, sort_keys=False, allow_unicode=True)])


def describe(data: Dataset) -> dict[str, Any]:
    """What `hebbarium data check` prints of any data set: counts, span, longest gap, repeated texts.  O(characters).

    >>> from .demo import load_demo
    >>> describe(load_demo(None, 1))["conversations"]
    1
    """
    events = [e for c in data.conversations for e in c.events]
    gaps = [(later.time - earlier.time, c.id, later.id) for c in data.conversations for earlier, later in zip(c.events, c.events[1:], strict=False)]
    longest = max(gaps, default=(0.0, "", ""))
    texts = Counter((c.id, e.text) for c in data.conversations for e in c.events)
    categories = Counter(q.category for c in data.conversations for q in c.questions)
    return {
        "name": data.name, **data.notes, "speakers": len({(c.id, e.speaker) for c in data.conversations for e in c.events}),
        "sessions": len({(c.id, e.session) for c in data.conversations for e in c.events}),
        "first_event": _iso(min(e.time for e in events)), "last_event": _iso(max(e.time for e in events)),
        "longest_gap_hours": round(longest[0], 3), "longest_gap_before": f"{longest[1]}, {longest[2]}" if gaps else "",
        "repeated_texts": sum(count - 1 for count in texts.values()),
        **{f"questions_{name}": count for name, count in sorted(categories.items())},
    }


# --- reading -----------------------------------------------------------------------------------------------------------------------
def _folder(path: Path) -> Path:
    folder = path.parent if path.is_file() and path.name == EVENTS else path
    missing = [name for name in (EVENTS, QUESTIONS, DESCRIPTION) if not (folder / name).is_file()]
    if not folder.is_dir() or missing:
        raise DataError(f"no {missing[0] if missing else EVENTS} in it", where=str(folder),
                        cure=f"give a folder with {EVENTS}, {QUESTIONS} and {DESCRIPTION}")
    return folder


def _description(folder: Path) -> Mapping[str, Any]:
    file = folder / DESCRIPTION
    try:
        about = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise DataError(f"it is not YAML in UTF-8 ({' '.join(str(error).split())})", where=str(file),
                        cure="write `name: my data`, one field a line") from error
    if not isinstance(about, dict) or not isinstance(about.get("name"), str) or not about["name"].strip():
        raise DataError("no name", where=str(file), cure="write `name: my data` in it")
    for key, value in about.items():
        if key not in DESCRIPTION_FIELDS or not isinstance(value, str):
            raise DataError(f"{key!r}: {'the value is no text' if key in DESCRIPTION_FIELDS else 'an unknown field'}", where=str(file),
                            cure=f"write {', '.join(sorted(DESCRIPTION_FIELDS))}, each as text")
    return about


def _lines(file: Path) -> tuple[list[Place], bytes]:
    """Each line that is not blank as a place that names its number, and the bytes of the file."""
    try:
        data = file.read_bytes()
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"it cannot be read as UTF-8 ({error})", where=str(file), cure="save it as UTF-8") from error
    places = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.strip():
            here = Place(None, file, (f"line {number}",), FIX)
            try:
                here.value = json.loads(line, parse_constant=no_constant)
            except (ValueError, RecursionError) as error:
                here.wrong(f"it is not a JSON object ({error})", "write one JSON object a line, without line breaks inside")
            places.append(here)
    return places, data


def _require_fields(line: Place, fields: frozenset[str]) -> None:
    if unknown := [key for key, _ in line.members() if key not in fields]:
        line.wrong(f"an unknown field {unknown[0]!r}", f"use {', '.join(sorted(fields))}")


def _event(line: Place) -> Event:
    def text(key: str) -> str:
        place = line.maybe(key)
        return place.text() if place else ""

    time, dated, attributes = line.maybe("time"), line.maybe("dated"), line.maybe("attributes")
    if dated is not None and (not isinstance(dated.value, bool) or (dated.value and time is None)):
        dated.wrong("true or false is expected, and true needs a time")
    known = time is not None and (dated is None or dated.value is True)
    return Event(_time(time) if time else NO_TIME, line.field("text").text(), text("speaker"), text("session"), line.field("id").name(),
                 text("caption"), known, _attributes(attributes) if attributes else ())


def _attributes(place: Place) -> tuple[tuple[str, str], ...]:
    """The attributes of an event, from an object of texts or lists of texts."""
    found: set[tuple[str, str]] = set()
    for key, value in place.members():
        name = replace(place, value=key).name()
        found.update((name, one.text()) for one in (value.each("value") if isinstance(value.value, list) else [value]))
    return tuple(sorted(found))


def _time(place: Place) -> float:
    """Hours, from a number or a date of ISO 8601; one without an offset is taken as UTC."""
    if isinstance(place.value, int | float) and not isinstance(place.value, bool):
        return float(place.value)
    text = place.text().strip()
    with suppress(ValueError):
        return hours(datetime.fromisoformat(text))
    return place.wrong(f"{text!r} is no time", "write it like 2024-05-01T12:30:00, or as hours since 1970-01-01")


def _gold(line: Place) -> tuple[str, ...]:
    place = line.maybe("gold")
    if place is None:
        return ()
    return (place.name(),) if isinstance(place.value, str) else unique(one.name() for one in place.each("gold id"))


# --- assembling --------------------------------------------------------------------------------------------------------------------
def _conversation(name: str, draft: _Draft, found: Counter[str], allow_missing_gold: bool) -> Conversation:
    events = list(_in_time(draft.events, found))
    seen: dict[str, Place] = {}
    for event, line in draft.events:
        if event.id in seen:
            line.wrong(f"the event id {event.id!r} of conversation {name!r} was used in {seen[event.id].steps[0]}", "give every event its own id")
        seen[event.id] = line
    end = events[-1].time
    questions = []
    for line, gold in draft.questions:
        missing = [one for one in gold if one not in seen]
        if missing and not allow_missing_gold:
            line.wrong(f"gold {missing[0]!r} names no event of conversation {name!r}",
                       "correct the id, or leave out such gold with --allow-missing-gold")
        found["gold_missing"] += len(missing)
        questions.append(_question(line, tuple(one for one in gold if one in seen), end))
    return Conversation(name, tuple(events), tuple(questions))


def _in_time(lines: Iterable[tuple[Event, Place]], found: Counter[str]) -> Iterator[Event]:
    """Events in order of time; those without a time follow the one before them in the file by a minute."""
    dated, clock = list[Event](), Clock()
    for event, line in lines:
        found["events_with_attributes"] += line.maybe("attributes") is not None
        if event.time > NO_TIME:
            clock.now = event.time
            dated.append(event)
        else:
            found["times_made_up"] += 1
            dated.append(replace(event, time=clock.next(None if clock.now > NO_TIME else 0.0)))
    ordered = sorted(dated, key=lambda e: e.time)
    found["events_reordered"] += sum(a is not b for a, b in zip(dated, ordered, strict=True))
    yield from ordered


def _question(line: Place, gold: tuple[str, ...], end: float) -> Question:
    time, category, answer, rubric = line.maybe("time"), line.maybe("category"), line.maybe("answer"), line.maybe("rubric")
    asked = _time(time) if time else end + MINUTE
    if asked < end:
        line.wrong("it is asked before the last event of its conversation", "leave the time out, or cut the conversation at the question")
    return Question(line.field("id").name(), line.field("text").name(), asked, category.name() if category else "all", gold,
                    answer.name() if answer else "", tuple(one.name() for one in rubric.each("statement")) if rubric else ())


# --- writing -----------------------------------------------------------------------------------------------------------------------
def _grouped(event: Event) -> dict[str, str | list[str]]:
    """Attributes by key: a text, or a list of the texts of a key with several."""
    found: dict[str, list[str]] = {}
    for key, value in event.attributes:
        found.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in found.items()}


def _time_field(event: Event) -> dict[str, Any]:
    return {"time": _written(event.time), **({} if event.dated else {"dated": False})}


def _written(time: float) -> str | float:
    """ISO 8601 where it says the time exactly, else hours."""
    with suppress(OverflowError, ValueError):
        text = moment(time).isoformat()
        if hours(datetime.fromisoformat(text)) == time:
            return text
    return time


def _iso(time: float) -> str:
    with suppress(OverflowError, ValueError):
        return moment(time).isoformat()
    return f"{time} h"
