"""One's own conversations: two files of JSON Lines and a description.

`events.jsonl`, one object a line: `conversation`, `id`, `text`, and where they are known `time`
(ISO 8601, or hours since 1970), `speaker`, `session`, `caption`, `attributes` (an object of texts,
or of lists of texts) and `dated` (false: the time was made up and does not enter the text).
`questions.jsonl`: `conversation`, `id`, `text`, and `gold` (ids of the events that hold the
answer), `time` or `after` (id of an event) of a question in the middle, `category`, `answer`,
`rubric` (a list of statements that a good answer holds), `forbidden` (ids of the events that must
not come back).  `dataset.yaml`: `name`, `licence`, `citation`.  The names of categories are free.  Only `events.jsonl` is needed: a conversation
without questions can be assembled and shown, and without a description the data are named like
their folder.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from ...engine.base.errors import DataError, InputError, RegistryError, nearest
from ...engine.base.times import hours, moment, offset_of
from ...engine.base.yaml_file import read_yaml, yaml_text
from ...engine.context.tokens import LengthCounter
from ...engine.contract.records import Event
from ...engine.memory.nights import CENTURY, YEAR
from ...engine.text.utf8 import encoded
from ...reporting.files import write_whole
from .base import (
    MINUTE,
    Conversation,
    Dataset,
    JsonPlace,
    Question,
    TurnClock,
    assemble,
    given,
    no_constant,
    told_before,
    unique,
)
from .reading import mark
from .recognise import DESCRIPTION, EVENTS, OWN_FORM, QUESTIONS, field_map

OWN = (EVENTS, QUESTIONS, DESCRIPTION)
FILES = f"{EVENTS}, {QUESTIONS} and {DESCRIPTION}"
FIX = "correct the line; docs/guides/data.md describes the files"
EVENT_FIELDS = frozenset(
    {"conversation", "id", "time", "speaker", "session", "text", "caption", "dated", "attributes"}
)
QUESTION_FIELDS = frozenset(
    {
        "conversation",
        "id",
        "text",
        "time",
        "after",
        "category",
        "gold",
        "answer",
        "rubric",
        "forbidden",
    }
)
NO_TIME = -math.inf  # of an event until its place in the file gives it one
DESCRIPTION_FIELDS = frozenset({"name", "licence", "citation"})


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines of a file: of each the number from 1 and the first byte, and a digest over all of
    them.
    """

    file: Path
    numbers: array[int]
    starts: array[int]
    mark: bytes

    def places(self) -> Iterator[JsonPlace]:
        """Each line as a place that names its number, read anew.  Raises DataError for a file
        that has changed.
        """
        digest = hashlib.blake2b(digest_size=16)
        with _opened(self.file) as file:
            for number, start in zip(self.numbers, self.starts, strict=True):
                file.seek(start)
                digest.update(line := file.readline())
                yield _place(line, number, self.file)
        if digest.digest() != self.mark:
            raise DataError(
                "it has changed since it was loaded",
                where=str(self.file),
                cure="start the command again",
            )

    def events(self) -> Sequence[Event]:
        """Their events in order of time."""
        return list(_in_time([(_event(line), line) for line in self.places()], Counter()))


@dataclass(slots=True)
class _Draft:
    """A conversation while the files are read: where its events stand, and its questions with
    their gold.
    """

    numbers: array[int] = field(default_factory=lambda: array("q"))
    starts: array[int] = field(default_factory=lambda: array("q"))
    mark: hashlib.blake2b = field(default_factory=lambda: hashlib.blake2b(digest_size=16))
    questions: list[tuple[JsonPlace, tuple[str, ...]]] = field(default_factory=list)

    def add(self, number: int, start: int, line: bytes) -> None:
        self.numbers.append(number)
        self.starts.append(start)
        self.mark.update(line)

    def lines(self, file: Path) -> _Lines:
        return _Lines(file, self.numbers, self.starts, self.mark.digest())


def load_conversations(
    path: Path | None, limit: int | None = None, *, allow_missing_gold: bool = False
) -> Dataset:
    """The conversations of a folder that holds `events.jsonl`, and may hold the other two files, or
    of the folder in which one of these stands.

    limit               only the first so many conversations, in order of first mention
    allow_missing_gold  leave out gold that names no event, and count it in the notes, instead of
                        refusing the data

    Events are ordered by time; those that the file has in another order are counted.  An event
    without a time follows the one before it by a minute, and its time does not enter its text.  A
    question with a time is asked before all events that are later; one with `after` and no time a
    minute after that event, or at the time of the next one if that is earlier; one with neither a
    minute after the last event. Cost: O(characters).  Errors: DataError, which names file, line and
    cure.
    """
    folder = _folder(given(path, "conversations", f"give --data the folder that holds {EVENTS}"))
    about = _description(folder)
    oddities: Counter[str] = Counter(
        events_reordered=0, times_made_up=0, gold_missing=0, events_with_attributes=0
    )
    drafts: dict[str, _Draft] = {}
    read = hashlib.sha256()
    for file, fields in ((EVENTS, EVENT_FIELDS), (QUESTIONS, QUESTION_FIELDS)):
        if file == QUESTIONS and not (folder / file).is_file():
            continue
        for number, start, raw, line in _lines(folder / file, read):
            _require_fields(line, fields)
            name = line.field("conversation").name()
            if file == EVENTS:
                _event(line)
                drafts.setdefault(name, _Draft()).add(number, start, raw)
            elif name not in drafts:
                line.wrong(
                    f"the conversation {name!r} has no events",
                    f"name a conversation of {EVENTS}, or remove the question",
                )
            else:
                drafts[name].questions.append((line, _gold(line)))
        read.update(b"\0")
    chosen = {name: draft.lines(folder / EVENTS) for name, draft in list(drafts.items())[:limit]}
    conversations = (
        _conversation(
            name, list(lines.places()), drafts[name].questions, oddities, allow_missing_gold
        )
        for name, lines in chosen.items()
    )
    loaded = assemble(
        str(about["name"]),
        read.hexdigest(),
        conversations,
        oddities,
        str(folder),
        lambda n: list(chosen.values())[n].events,
        cure=f"correct the files; docs/guides/data.md describes {FILES}",
        unasked=True,
    )
    return replace(
        loaded,
        notes={
            **loaded.notes,
            **oddities,
            **{key: str(value) for key, value in about.items() if key != "name"},
        },
    )


def write_conversations(data: Dataset, folder: Path, *, licence: str, citation: str) -> None:
    """Write a data set as the three files; loading them gives the same conversations.

    Existing files are replaced, each whole or not at all.  Raises HebbariumError.
    """
    events = ({"conversation": c.id, "id": e.id, **_time_field(e), "speaker": e.speaker,
               "session": e.session, "text": e.text,
               **({"caption": e.caption} if e.caption else {}),
               **({"attributes": _grouped(e)} if e.attributes else {})}
              for c in data.conversations for e in c.events)  # fmt: skip
    questions = ({"conversation": c.id, "id": q.id, "text": q.text, "time": _written(q.time),
                  **({"after": q.after} if q.after else {}),
        "category": q.category,
                  "gold": list(q.gold),
                  **({"answer": q.answer} if q.answer else {}),
                  **({"rubric": list(q.rubric)} if q.rubric else {}),
                  **({"forbidden": list(q.forbidden)} if q.forbidden else {})}
                 for c in data.conversations for q in c.questions)  # fmt: skip
    about = {"name": data.name, "licence": licence, "citation": citation}
    for file, rows in ((EVENTS, events), (QUESTIONS, questions)):
        write_whole(folder / file, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    write_whole(folder / DESCRIPTION, [yaml_text(about)])


def describe(data: Dataset) -> dict[str, Any]:
    """What `hebbarium data check` prints of any data set: counts, means of a conversation (tokens of
    four characters each), span, longest gap, repeated texts.  O(characters).

    >>> from .demo import load_demo
    >>> describe(load_demo(None, 1))["conversations"]
    1
    """
    speakers, sessions, texts = (
        set[tuple[str, str]](),
        set[tuple[str, str]](),
        Counter[tuple[str, bytes]](),
    )
    tokens, told = LengthCounter(), 0
    span, longest, after = (math.inf, -math.inf), (-math.inf, "", ""), False
    for c in data.conversations:
        before: Event | None = None
        for e in c.events:
            speakers.add((c.id, e.speaker))
            sessions.add((c.id, e.session))
            told += tokens.tokens(e.text)
            texts[c.id, mark(encoded(e.text))] += 1
            span = min(span[0], e.time), max(span[1], e.time)
            if before is not None:
                after, longest = True, max(longest, (e.time - before.time, c.id, e.id))
            before = e
    categories = Counter(q.category for c in data.conversations for q in c.questions)
    return {
        "name": data.name,
        **data.notes,
        "speakers": len(speakers),
        "sessions": len(sessions),
        **{
            f"mean_{name}": round(count / max(len(data.conversations), 1), 1)
            for name, count in (
                ("sessions", len(sessions)),
                ("questions", categories.total()),
                ("tokens", told),
            )
        },
        "first_event": _iso(span[0]),
        "last_event": _iso(span[1]),
        "longest_gap_hours": round(longest[0], 3) if after else 0.0,
        "longest_gap_before": f"{longest[1]}, {longest[2]}" if after else "",
        "repeated_texts": sum(count - 1 for count in texts.values()),
        **{f"questions_{name}": count for name, count in sorted(categories.items())},
    }


def overview(data: Dataset) -> list[dict[str, Any]]:
    """One row for each conversation: its numbers, and the times of its first and last event.
    O(events).
    """
    rows = []
    for c in data.conversations:
        speakers, sessions = set[str](), set[str]()
        for e in c.events:
            speakers.add(e.speaker)
            sessions.add(e.session)
        rows.append({"conversation": c.id, "events": len(c.events), "questions": len(c.questions),
                     "speakers": len(speakers),
                     "sessions": len(sessions), "first": _iso(c.events[0].time),
                     "last": _iso(c.events[-1].time)})  # fmt: skip
    return rows


def events_of(
    conversation: Conversation, speaker: str | None = None, session: str | None = None
) -> dict[str, Any]:
    """The `speakers` and `sessions` of a conversation with their numbers of events, and its
    `events`, one row each.  O(events).

    speaker, session  only events of these; None: all

    Raises InputError, which names the nearest, for a speaker or a session that the conversation
    does not have.
    """
    speakers, sessions, rows = Counter[str](), Counter[str](), list[dict[str, Any]]()
    for e in conversation.events:
        speakers[e.speaker] += 1
        sessions[e.session] += 1
        if speaker in (None, e.speaker) and session in (None, e.session):
            rows.append(
                {
                    "id": e.id,
                    "time": _iso(e.time),
                    "speaker": e.speaker,
                    "session": e.session,
                    "text": e.text + (f" [{e.caption}]" if e.caption else ""),
                }
            )
    for what, name, known in (("speaker", speaker, speakers), ("session", session, sessions)):
        if name is not None and name not in known:
            raise InputError(
                f"conversation {conversation.id!r} has no {what} {name!r}",
                where=f"--{what}",
                cure=nearest(name, filter(None, known)),
            )
    return {"speakers": dict(speakers), "sessions": dict(sessions), "events": rows}


def is_own(path: Path) -> bool:
    """Whether a path is one of the three files, or a folder that holds one of them."""
    return path.is_file() if path.name in OWN else any((path / name).is_file() for name in OWN)


# --- reading --------------------------------------------------------------------------------------
def _folder(path: Path) -> Path:
    folder = path.parent if path.is_file() and path.name in OWN else path
    if not (folder / EVENTS).is_file():
        raise DataError(
            f"no {EVENTS} in it" if folder.is_dir() else f"it is not {EVENTS}",
            where=str(folder),
            cure=f"give a folder with {EVENTS}, and {QUESTIONS} and {DESCRIPTION} if there are any; {OWN_FORM}",
        )
    return folder


def _description(folder: Path) -> Mapping[str, Any]:
    file = folder / DESCRIPTION
    if not file.is_file():
        return {"name": folder.absolute().name or "conversations"}
    try:
        about = read_yaml(file)
    except RegistryError as error:
        raise DataError(
            error.what, where=error.where, cure="write `name: my data`, one field a line"
        ) from error
    if not isinstance(about.get("name"), str) or not about["name"].strip():
        raise DataError("no name", where=str(file), cure="write `name: my data` in it")
    for key, value in about.items():
        if key not in DESCRIPTION_FIELDS or not isinstance(value, str):
            raise DataError(
                f"{key!r}: {'the value is no text' if key in DESCRIPTION_FIELDS else 'an unknown field'}",
                where=str(file),
                cure=f"write {', '.join(sorted(DESCRIPTION_FIELDS))}, each as text",
            )
    return about


def _lines(file: Path, read: hashlib._Hash) -> Iterator[tuple[int, int, bytes, JsonPlace]]:
    """Of each line that is not blank: its number, its first byte, its bytes, and its place; all
    bytes of the file enter `read`.
    """
    start = 0
    with _opened(file) as opened:
        for number, line in enumerate(opened, 1):
            read.update(line)
            if line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").strip():
                yield number, start, line, _place(line, number, file)
            start += len(line)


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    try:
        with file.open("rb") as opened:
            yield opened
    except OSError as error:
        raise DataError(
            f"it cannot be read as UTF-8 ({error})", where=str(file), cure="save it as UTF-8"
        ) from error


def _place(line: bytes, number: int, file: Path) -> JsonPlace:
    """A line as a place that names its number."""
    here = JsonPlace(None, file, (f"line {number}",), FIX)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"it cannot be read as UTF-8 (line {number}: {error})",
            where=str(file),
            cure="save it as UTF-8",
        ) from error
    try:
        here.value = json.loads(
            text.removeprefix("\ufeff") if number == 1 else text, parse_constant=no_constant
        )
    except (ValueError, RecursionError) as error:
        here.wrong(
            f"it is not a JSON object ({error})",
            "write one JSON object a line, without line breaks inside",
        )
    return here


def _require_fields(line: JsonPlace, fields: frozenset[str]) -> None:
    if unknown := [key for key, _ in line.members() if key not in fields]:
        known = (
            field_map(key for key, _ in line.members() if key not in fields)
            if fields is EVENT_FIELDS
            else ""
        )
        more = (
            (
                "; "
                + (f"{known}; " if known else "")
                + "what else is known of an event goes into `attributes`"
            )
            if fields is EVENT_FIELDS
            else ""
        )
        line.wrong(f"an unknown field {unknown[0]!r}", f"use {', '.join(sorted(fields))}{more}")


def _event(line: JsonPlace) -> Event:
    def text(key: str) -> str:
        place = line.maybe(key)
        return place.text() if place else ""

    time, dated, attributes = line.maybe("time"), line.maybe("dated"), line.maybe("attributes")
    if dated is not None and (not isinstance(dated.value, bool) or (dated.value and time is None)):
        dated.wrong("true or false is expected, and true needs a time")
    known = time is not None and (dated is None or dated.value is True)
    return Event(
        _time(time) if time else NO_TIME,
        line.field("text").text(),
        text("speaker"),
        text("session"),
        line.field("id").name(),
        text("caption"),
        known,
        _attributes(attributes) if attributes else (),
        _offset(time) if time else None,
    )


def _attributes(place: JsonPlace) -> tuple[tuple[str, str], ...]:
    """The attributes of an event, from an object of texts or lists of texts."""
    pairs: set[tuple[str, str]] = set()
    for key, value in place.members():
        name = replace(place, value=key).name()
        pairs.update(
            (name, member.text())
            for member in (value.items("value") if isinstance(value.value, list) else [value])
        )
    return tuple(sorted(pairs))


def _offset(time: JsonPlace) -> float | None:
    """Offset of the clock from UTC, h, if a date of ISO 8601 gives one."""
    return (
        offset_of(datetime.fromisoformat(time.value.strip()))
        if isinstance(time.value, str)
        else None
    )


def _time(place: JsonPlace) -> float:
    """Hours, from a number or a date of ISO 8601; one without an offset is taken as UTC."""
    if isinstance(place.value, int | float) and not isinstance(place.value, bool):
        with suppress(OverflowError, ValueError):
            moment(float(place.value))
            return float(place.value)
        place.wrong(
            f"{place.value} h since 1970-01-01 lies outside the years 1 to 9999",
            "divide seconds by 3600, or write the time like 2024-05-01T12:30:00",
        )
    text = place.text().strip()
    with suppress(ValueError):
        return hours(datetime.fromisoformat(text))
    return place.wrong(
        f"{text!r} is no time", "write it like 2024-05-01T12:30:00, or as hours since 1970-01-01"
    )


def _gold(line: JsonPlace) -> tuple[str, ...]:
    return _ids(line, "gold")


def _forbidden(line: JsonPlace, places: Mapping[str, int]) -> tuple[str, ...]:
    """Ids of the events that must not come back; each names an event that is no gold."""
    forbidden, gold = _ids(line, "forbidden"), _gold(line)
    for id in forbidden:
        if id in gold or id not in places:
            line.wrong(
                f"the forbidden event {id!r} "
                + ("is gold, too" if id in gold else "names no event of its conversation"),
                "correct the id, or leave it out",
            )
    return forbidden


def _ids(line: JsonPlace, name: str) -> tuple[str, ...]:
    """Ids of events in a field: a list, or one as a text; () without the field."""
    place = line.maybe(name)
    if place is None:
        return ()
    return (
        (place.name(),)
        if isinstance(place.value, str)
        else unique(item.name() for item in place.items(f"{name} id"))
    )


# --- assembling -----------------------------------------------------------------------------------
def _conversation(
    name: str,
    lines: Sequence[JsonPlace],
    asked: Sequence[tuple[JsonPlace, tuple[str, ...]]],
    counted: Counter[str],
    allow_missing_gold: bool,
) -> Conversation:
    told = [(_event(line), line) for line in lines]
    events = list(_in_time(told, counted))
    seen: dict[str, JsonPlace] = {}
    for event, line in told:
        if event.id in seen:
            line.wrong(
                f"the event id {event.id!r} of conversation {name!r} was used in {seen[event.id].steps[0]}",
                "give every event its own id",
            )
        seen[event.id] = line
    _check_jumps(events, seen)
    places, used, questions = (
        {event.id: place for place, event in enumerate(events)},
        dict[str, JsonPlace](),
        list[Question](),
    )
    for line, _ in asked:
        question = _question(line, events, places)
        if question.id in used:
            line.wrong(
                f"the question id {question.id!r} of conversation {name!r} was used in {used[question.id].steps[0]}",
                "give every question of a conversation its own id",
            )
        used[question.id] = line
        questions.append(question)
    conversation = Conversation(name, tuple(events), tuple(questions))
    known = list[tuple[str, ...]]()
    for (line, gold), n in zip(asked, told_before(conversation), strict=True):
        known.append(tuple(id for id in gold if places.get(id, n) < n))
        if len(known[-1]) < len(gold) and not allow_missing_gold:
            id = next(name for name in gold if name not in known[-1])
            line.wrong(
                f"gold {id!r} names no event of conversation {name!r}"
                if id not in places
                else f"gold {id!r} is told after the question",
                "correct the id or the time, or leave out such gold with --allow-missing-gold",
            )
        counted["gold_missing"] += len(gold) - len(known[-1])
    return replace(
        conversation,
        questions=tuple(replace(q, gold=gold) for q, gold in zip(questions, known, strict=True)),
    )


def _in_time(lines: Iterable[tuple[Event, JsonPlace]], counted: Counter[str]) -> Iterator[Event]:
    """Events in order of time; those without a time follow the one before them in the file by a
    minute.
    """
    dated, clock = list[Event](), TurnClock()
    for event, line in lines:
        counted["events_with_attributes"] += line.maybe("attributes") is not None
        if event.time > NO_TIME:
            clock.now = event.time
            dated.append(event)
        else:
            counted["times_made_up"] += 1
            dated.append(replace(event, time=clock.next(None if clock.now > NO_TIME else 0.0)))
    ordered = sorted(dated, key=lambda e: e.time)
    counted["events_reordered"] += sum(a is not b for a, b in zip(dated, ordered, strict=True))
    yield from ordered


def _check_jumps(events: Sequence[Event], places: Mapping[str, JsonPlace]) -> None:
    """Raises DataError for a jump of time of more than a century, which no conversation can
    mean.
    """
    for earlier, later in pairwise(events):
        jump = later.time - earlier.time
        if jump > CENTURY:
            place = places[later.id]
            place.wrong(
                f"time jumps by {jump / YEAR:.0f} years, from event {earlier.id!r} ({places[earlier.id].steps[0]}) to {later.id!r}",
                "correct the time of one of the two",
            )


def _question(line: JsonPlace, events: Sequence[Event], places: Mapping[str, int]) -> Question:
    """A question without its gold."""
    category, answer, rubric = line.maybe("category"), line.maybe("answer"), line.maybe("rubric")
    asked, after = _asked(line, events, places)
    return Question(
        line.field("id").name(),
        line.field("text").name(),
        asked,
        category.name() if category else "all",
        (),
        answer.name() if answer else "",
        tuple(statement.name() for statement in rubric.items("statement")) if rubric else (),
        after,
        _forbidden(line, places),
    )


def _asked(
    line: JsonPlace, events: Sequence[Event], places: Mapping[str, int]
) -> tuple[float, str]:
    """When a question is asked, and the event after which it is asked; "" where the time says
    it.
    """
    given, named, first, last = line.maybe("time"), line.maybe("after"), events[0], events[-1]
    after = named.name() if named else last.id
    if after not in places:
        line.wrong(
            f"it is asked after {after!r}, which names no event of its conversation",
            "give `after` the id of an event, or leave it out",
        )
    place = places[after]
    event, following = events[place], events[place + 1] if place + 1 < len(events) else None
    if given is None:
        return (
            (event.time + MINUTE, "")
            if following is None
            else (min(event.time + MINUTE, following.time), after)
        )
    time = _time(given)
    if time < first.time:
        line.wrong(
            "it is asked before the first event of its conversation",
            "correct the time, or leave it out",
        )
    if time - last.time > CENTURY:
        line.wrong(
            f"it is asked {(time - last.time) / YEAR:.0f} years after the last event of its conversation",
            "correct the time, or leave it out",
        )
    if named and not event.time <= time <= (following.time if following else math.inf):
        line.wrong(
            f"its time is not between event {after!r}, after which it is asked, and the next one",
            "leave out `time` or `after`",
        )
    return time, after if following and named else ""


# --- writing --------------------------------------------------------------------------------------
def _grouped(event: Event) -> dict[str, str | list[str]]:
    """Attributes by key: a text, or a list of the texts of a key with several."""
    groups: dict[str, list[str]] = {}
    for key, value in event.attributes:
        groups.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in groups.items()}


def _time_field(event: Event) -> dict[str, Any]:
    return {"time": _written(event.time, event.offset), **({} if event.dated else {"dated": False})}


def _written(time: float, offset: float | None = None) -> str | float:
    """ISO 8601 where it says the time exactly, or to a millisecond beside the offset of a clock;
    else hours.
    """
    with suppress(OverflowError, ValueError):
        at = moment(time, offset)
        text = (at.replace(tzinfo=None) if offset is None else at).isoformat()
        if offset is not None or hours(datetime.fromisoformat(text)) == time:
            return text
    return time


def _iso(time: float) -> str:
    with suppress(OverflowError, ValueError):
        return moment(time).isoformat()
    return f"{time} h"
