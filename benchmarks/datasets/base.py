"""The common form of all data sets, conversations of events with questions, and helpers that
read official files strictly.
"""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import NoReturn

from ...engine.base.errors import DataError
from ...engine.base.times import moment
from ...engine.contract.records import Event
from ...engine.memory.nights import CENTURY, YEAR
from .events import Events

MINUTE = 1.0 / 60.0  # h
DOWNLOAD_AGAIN = "compare the file with the official one; `hebbarium data list` names the source and `hebbarium data check` its SHA-256"


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose evidence is known.

    time       h, time of the query; never before the conversation's first event
    category   the data set's name for the kind of question
    gold       ids of the events that hold the answer, in the source's order, without repetition; ()
               if there are none
    answer     the expected answer in words; "" where the source gives none
    rubric     what a good answer holds, one statement each; () where the source gives none
    after      id of the event after which it is asked; "": after all events that are not later than
               its time
    forbidden  ids of the events that must not come back, in the source's order, without repetition;
               () where the source names none

    Answer, rubric and forbidden ids are never shown to a memory.
    """

    id: str
    text: str
    time: float
    category: str
    gold: tuple[str, ...]
    answer: str = ""
    rubric: tuple[str, ...] = ()
    after: str = ""
    forbidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """Events in order of time, and the questions asked about them, after the last event or in the
    middle.

    events     a tuple, or `Events`, which are read anew each time that they are iterated
    questions  in the order of the source; () for a conversation of one's own that nobody has asked
               about
    """

    id: str
    events: Sequence[Event]
    questions: tuple[Question, ...]

    def handed(self, read: Callable[[], Iterable[Event]]) -> Conversation:
        """The same conversation without its events; `read` gives them again."""
        return replace(
            self, events=Events(read, len(self.events), (self.events[0], self.events[-1]))
        )

    def held(self) -> Conversation:
        """The same conversation with its events in memory, unless they are read part by part."""
        events = self.events
        return (
            replace(self, events=tuple(events))
            if isinstance(events, Events) and not events.by_part
            else self
        )


@dataclass(frozen=True, slots=True)
class Stop:
    """A point of a conversation at which questions are asked.

    events     told since the stop before
    questions  in order of time, ties in the order of the source; () of the last stop, if events
               follow the last question
    """

    events: Sequence[Event]
    questions: tuple[Question, ...]


def stops(conversation: Conversation) -> Iterator[Stop]:
    """The conversation as it is lived: events, then the questions that are asked before later
    events.  At least one stop.

    Cost: O(events) if a question is asked in the middle, else nothing; the events between two stops
    are in memory at a time.
    """
    told = told_before(conversation)
    groups: dict[int, list[Question]] = {}
    for question, n in sorted(
        zip(conversation.questions, told, strict=True), key=lambda pair: (pair[1], pair[0].time)
    ):
        groups.setdefault(n, []).append(question)
    if set(groups) <= {len(conversation.events)}:
        yield Stop(conversation.events, tuple(chain.from_iterable(groups.values())))
        return
    events, place = iter(conversation.events), 0
    for n, questions in groups.items():
        yield Stop(tuple(islice(events, n - place)), tuple(questions))
        place = n
    if place < len(conversation.events):
        yield Stop(tuple(events), ())


def asked_in_order(conversation: Conversation) -> list[Question]:
    """The questions in the order in which they are asked.  Cost as `stops`."""
    return [
        question
        for _, question in sorted(
            zip(told_before(conversation), conversation.questions, strict=True),
            key=lambda pair: (pair[0], pair[1].time),
        )
    ]


def told_before(conversation: Conversation) -> list[int]:
    """For each question how many events are told before it.  Cost: O(events) if one is asked in
    the middle, else O(questions).
    """
    events, questions = conversation.events, conversation.questions
    if not events or all(not q.after and q.time >= events[-1].time for q in questions):
        return [len(events)] * len(questions)
    times, places = array("d"), dict[str, int]()
    for event in events:
        places[event.id] = len(times)
        times.append(event.time)
    return _told_before(questions, times, places)


def _told_before(
    questions: Iterable[Question], times: Sequence[float], places: Mapping[str, int]
) -> list[int]:
    return [places[q.after] + 1 if q.after else bisect_right(times, q.time) for q in questions]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A loaded data set.

    sha256   of the bytes that were read
    conversations  of a file without their events, which are read when they are iterated
    notes    counts of deviations from the format, and of what was loaded
    form     the name by which `load` takes it, such as `conversations`; "" for data that were made
             in memory
    path     where it was read; "" for the demo, and for data that were made in memory
    limit    number of conversations that were asked for; None for all
    """

    name: str
    sha256: str
    conversations: tuple[Conversation, ...]
    notes: Mapping[str, int | str]
    form: str = ""
    path: str = ""
    limit: int | None = None


def assemble(
    name: str,
    sha256: str,
    conversations: Iterable[Conversation],
    counted: Mapping[str, int | str],
    where: str,
    again: Callable[[int], Callable[[], Iterable[Event]]] | None = None,
    cure: str = DOWNLOAD_AGAIN,
    *,
    unasked: bool = False,
) -> Dataset:
    """Check the invariants of every data set, and count.  O(events + gold ids).

    conversations  taken one at a time
    again          number of a conversation -> what reads its events anew; the data set then holds
                   no events.  None: it holds what it is given
    cure           of every error
    unasked        whether a conversation may have no questions

    Ids of events and of questions are unique within a conversation.

    Errors: DataError if there are no conversations, or if one has no events, no questions, repeated
    or empty ids, times that are not finite or that decrease or jump by more than a century, a
    question before its first event, gold that names no event told before the question, or a
    forbidden id that names none or is gold, too.  Jumps of
    more than a year, questions asked as long after the last event, and questions in the middle are
    notes.
    """
    kept, silent, late = list[Conversation](), 0, Counter[str]()
    for number, conversation in enumerate(conversations):
        times, ids, empty = _read(conversation.events)
        for broken in _broken(conversation, times, ids, unasked):
            raise DataError(f"conversation {conversation.id!r} {broken}", where=where, cure=cure)
        silent += empty
        late["jumps_over_a_year"] += sum(
            later - earlier > YEAR for earlier, later in pairwise(times)
        )
        late["questions_asked_over_a_year_later"] += sum(
            q.time - times[-1] > YEAR for q in conversation.questions
        )
        late["questions_in_the_middle"] += sum(
            n < len(times) for n in _told_before(conversation.questions, times, _places(ids))
        )
        kept.append(
            conversation
            if again is None or isinstance(conversation.events, Events)
            else conversation.handed(again(number))
        )
        del conversation
    if not kept:
        raise DataError("it holds no conversations", where=where, cure=cure)
    if twice := [id for id, count in Counter(c.id for c in kept).items() if count > 1]:
        raise DataError(
            f"conversation id {twice[0]!r} occurs more than once", where=where, cure=cure
        )
    questions = [q for c in kept for q in c.questions]
    notes: dict[str, int | str] = {
        "conversations": len(kept),
        "events": sum(len(c.events) for c in kept),
        "questions": len(questions),
        "questions_without_gold": sum(not q.gold for q in questions),
        "events_without_text": silent,
        **counted,
        **+late,
    }
    return Dataset(name, sha256, tuple(kept), notes)


def _read(events: Iterable[Event]) -> tuple[array[float], Counter[str], int]:
    """Times, ids with their counts, and how many events have no text."""
    times, ids, empty = array("d"), Counter[str](), 0
    for event in events:
        times.append(event.time)
        ids[event.id] += 1
        empty += not event.text.strip()
    return times, ids, empty


def _places(ids: Iterable[str]) -> dict[str, int]:
    return {id: place for place, id in enumerate(ids)}


def _broken(
    conversation: Conversation, times: Sequence[float], ids: Counter[str], unasked: bool
) -> Iterator[str]:
    questions = conversation.questions
    if not times:
        yield "has no events"
    if not questions and not unasked:
        yield "has no questions"
    if ids[""]:
        yield "has an event without an id"
    yield from (f"has the event id {id!r} {count} times" for id, count in ids.items() if count > 1)
    yield from (
        f"has the question id {id!r} {count} times"
        for id, count in Counter(q.id for q in questions).items()
        if count > 1
    )
    if not all(map(math.isfinite, [*times, *(q.time for q in questions)])):
        yield "has a time that is not finite"
    if any(later < earlier for earlier, later in pairwise(times)):
        yield "has events whose times run backwards"
    yield from (
        f"has the event {id!r}, before which time jumps by {(later - earlier) / YEAR:.0f} years"
        for (earlier, later), id in zip(pairwise(times), islice(ids, 1, None), strict=True)
        if later - earlier > CENTURY
    )
    if any(q.time < times[0] for q in questions):
        yield "has a question asked before its first event"
    yield from (
        f"has the question {q.id!r} after {q.after!r}, which names no event"
        for q in questions
        if q.after and q.after not in ids
    )
    yield from (
        f"has the question {q.id!r}, asked {(q.time - times[-1]) / YEAR:.0f} years after its last event"
        for q in questions
        if q.time - times[-1] > CENTURY
    )
    yield from (
        f"has gold {id!r} (question {q.id}) that names no event"
        for q in questions
        for id in q.gold
        if id not in ids
    )
    places = _places(ids)
    for question, told in zip(questions, _told_before(questions, times, places), strict=True):
        if not told or not times[told - 1] <= question.time <= (
            times[told] if told < len(times) else math.inf
        ):
            yield f"has the question {question.id!r}, whose time is not between event {question.after!r} and the next one"
        yield from (
            f"has gold {id!r} (question {question.id}) that is told after the question"
            for id in question.gold
            if places[id] >= told
        )
        yield from (
            f"has the forbidden event {id!r} (question {question.id}) that "
            + (
                "is gold, too"
                if id in question.gold
                else "is told after the question"
                if id in places
                else "names no event"
            )
            for id in question.forbidden
            if id in question.gold or places.get(id, told) >= told
        )


def by_session(conversation: Conversation) -> Conversation:
    """The same conversation with each session's turns merged into one event.  O(characters).

    A merged event's text is its lines `speaker: text [caption]`, its time the first turn's, its id
    the session's, its attributes those that all its turns have; gold is mapped to sessions.  Raises
    DataError for a question that is asked in the middle of a session, of which the memory would
    then know turns that come later.
    """
    turns: dict[str, list[Event]] = {}
    home, last = dict[str, str](), dict[str, int]()
    for place, event in enumerate(conversation.events):
        turns.setdefault(event.session, []).append(event)
        home[event.id], last[event.session] = event.session, place
    after = _after_sessions(conversation, home, last)
    events = tuple(
        Event(
            group[0].time,
            "\n".join(map(_line, group)),
            session=session,
            id=session,
            dated=group[0].dated,
            attributes=tuple(
                pair for pair in group[0].attributes if all(pair in e.attributes for e in group)
            ),
        )
        for session, group in turns.items()
    )
    questions = tuple(
        replace(matched(q, home), after=session)
        for q, session in zip(conversation.questions, after, strict=True)
    )
    return Conversation(conversation.id, events, questions)


def matched(question: Question, home: Mapping[str, str]) -> Question:
    """The question with sessions in the place of events.  A session with gold is not forbidden.

    home  event -> session
    """
    gold = unique(home[id] for id in question.gold)
    forbidden = unique(home[id] for id in question.forbidden)
    return replace(question, gold=gold, forbidden=tuple(s for s in forbidden if s not in gold))


def _after_sessions(
    conversation: Conversation, home: Mapping[str, str], last: Mapping[str, int]
) -> list[str]:
    """For each question the session after which it is asked; "" after all.

    home  event -> session, in order
    last  session -> place of its last event, sessions in order of their first events
    """
    sessions, homes = list(home.values()), list[str]()
    for question, told in zip(conversation.questions, told_before(conversation), strict=True):
        begun = unique(sessions[:told]) if told < len(sessions) else ()
        for session in begun:
            if last[session] >= told:
                raise DataError(
                    f"question {question.id!r} is asked in the middle of session {session!r}, which would be one event",
                    where=f"conversation {conversation.id!r}",
                    cure="take the unit turn, with --match session to rank sessions",
                )
        homes.append(begun[-1] if begun else "")
    return homes


def _line(event: Event) -> str:
    who = f"{event.speaker}: " if event.speaker else ""
    return f"{who}{event.text}" + (f" [{event.caption}]" if event.caption else "")


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """The names without repetition, in order of first appearance.

    >>> unique(["b", "a", "b"])
    ('b', 'a')
    """
    return tuple(dict.fromkeys(names))


@dataclass(slots=True)
class TurnClock:
    """Times of turns: a minute apart, sessions at their own times, strictly increasing; corrections
    are counted.

    clamped       sessions that would begin before the turn before them
    out_of_order  those of them that would begin before the session before them begins

    >>> clock = TurnClock()
    >>> [round(clock.next(start), 3) for start in (5.0, None, 5.0, 4.0, 9.0)], clock.clamped, clock.out_of_order
    ([5.0, 5.017, 5.033, 5.05, 9.0], 2, 1)
    """

    now: float = -math.inf
    clamped: int = 0
    out_of_order: int = 0
    began: float | None = None

    def next(self, start: float | None = None, place: JsonPlace | None = None) -> float:
        """Time of the next turn, h.

        start  the time at which a session begins, if the turn begins one
        place  where it was read.  Raises DataError there for a time more than a century from that
               of the session before, which no file can mean
        """
        earliest = self.now + MINUTE
        if start is not None:
            before = start if self.began is None else self.began
            if place and abs(start - before) > CENTURY:
                place.wrong(
                    f"time jumps by {abs(start - before) / YEAR:.0f} years, from {moment(before):%Y-%m-%d} to {moment(start):%Y-%m-%d}",
                    "correct the time of this session, or of the one before it",
                )
            self.clamped += start < earliest
            self.out_of_order += start < before
            self.began = start
        self.now = earliest if start is None else max(start, earliest)
        return self.now


@dataclass(slots=True)
class JsonPlace:
    """A value inside a JSON file with its file and place, so that every error names file, place
    and cure.
    """

    value: object
    file: Path
    steps: tuple[str, ...] = field(default=())
    cure: str = DOWNLOAD_AGAIN

    def wrong(self, what: str, cure: str = "") -> NoReturn:
        """Raise DataError for this place."""
        place = ", ".join(self.steps) or "top level"
        raise DataError(f"{place}: {what}", where=str(self.file), cure=cure or self.cure)

    def no_list(self) -> NoReturn:
        """Raise DataError for a place that holds something else than a list."""
        self.wrong(f"a list is expected, {_kind(self.value)} was found")

    def named(self, label: str) -> JsonPlace:
        """The same value under a readable name, such as 'sample conv-26'."""
        return JsonPlace(self.value, self.file, (label,), self.cure)

    def members(self) -> Iterator[tuple[str, JsonPlace]]:
        """The members of an object, in file order."""
        if not isinstance(self.value, dict):
            self.wrong(f"an object is expected, {_kind(self.value)} was found")
        return (
            (key, JsonPlace(value, self.file, (*self.steps, key), self.cure))
            for key, value in self.value.items()
        )

    def maybe(self, key: str) -> JsonPlace | None:
        """A member that may be absent or null."""
        if not isinstance(self.value, dict):
            self.wrong(f"an object is expected, {_kind(self.value)} was found")
        value = self.value.get(key)
        return None if value is None else JsonPlace(value, self.file, (*self.steps, key), self.cure)

    def field(self, key: str) -> JsonPlace:
        """A required member."""
        value = self.maybe(key)
        return self.wrong(f"no {key!r}") if value is None else value

    def items(self, label: str) -> Iterator[JsonPlace]:
        """The items of a list, called `label 1`, `label 2` ..."""
        if not isinstance(self.value, list):
            self.no_list()
        return (
            JsonPlace(item, self.file, (*self.steps, f"{label} {n}"), self.cure)
            for n, item in enumerate(self.value, 1)
        )

    def text(self) -> str:
        """A string that can be stored and encoded."""
        if not isinstance(self.value, str):
            self.wrong(f"a string is expected, {_kind(self.value)} was found")
        if "\0" in self.value:
            self.wrong(
                "the text holds a NUL character",
                "remove the \\u0000 escape, or download the file again",
            )
        try:
            self.value.encode("utf-8")
        except UnicodeEncodeError:
            self.wrong(
                "the text holds half of a surrogate pair",
                "write the character as \\uD8xx\\uDCxx (both halves) or as itself",
            )
        return self.value

    def whole_number(self) -> int:
        """An integer."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self.wrong(f"a whole number is expected, {_kind(self.value)} was found")
        return self.value

    def name(self) -> str:
        """A non-empty identifier or text; some files write it as a number."""
        if isinstance(self.value, int | float) and not isinstance(self.value, bool):
            return str(self.value)
        text = self.text()
        return text if text.strip() else self.wrong("it is empty")


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false",
             int: "a number", float: "a number", type(None): "null"}  # fmt: skip
    return names.get(type(value), type(value).__name__)


def unreadable(
    file: Path, error: Exception, cure: str = "give --data the path of a readable file"
) -> DataError:
    """What is raised where a file cannot be opened or read."""
    why = f"it cannot be read ({getattr(error, 'strerror', None) or error})"
    return DataError("it is a folder" if file.is_dir() else why, where=str(file), cure=cure)


def read_json(file: Path) -> tuple[JsonPlace, bytes]:
    """The top-level value of a JSON file, and the bytes of the file.

    Errors: DataError if the file cannot be read, is empty, is not UTF-8, begins with a byte order
    mark or is not JSON (NaN and Infinity are not).
    """
    try:
        data = file.read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from error
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise DataError(
            "it begins with a byte order mark",
            where=str(file),
            cure="save it as UTF-8 without a byte order mark",
        )
    if not data.strip():
        raise DataError(
            "it is empty",
            where=str(file),
            cure="download it again; the download was probably cut off",
        )
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        cure = f"{DOWNLOAD_AGAIN}; a cut-off download looks like this"
        raise DataError(f"it is not JSON in UTF-8 ({error})", where=str(file), cure=cure) from error
    return JsonPlace(value, file), data


def read_json_lines(file: Path) -> tuple[list[JsonPlace], bytes]:
    """The values of a file that has one JSON value a line, called `line 1`, `line 2` ..., and the
    bytes of the file; blank lines are skipped.

    Errors: DataError if the file cannot be read, is empty, or has a line that is no JSON in UTF-8.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        cure = "give --data the folder that holds it, and check its permissions"
        raise unreadable(file, error, cure) from error
    places = list[JsonPlace]()
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode("utf-8"), parse_constant=no_constant)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"line {number}: it is not JSON in UTF-8 ({error})",
                where=str(file),
                cure=DOWNLOAD_AGAIN,
            ) from error
        places.append(JsonPlace(value, file, (f"line {number}",)))
    if not places:
        raise DataError(
            "it is empty",
            where=str(file),
            cure="download it again; the download was probably cut off",
        )
    return places, data


def no_constant(name: str) -> NoReturn:
    """For `parse_constant`: NaN and Infinity are not JSON."""
    raise ValueError(f"{name} is not a JSON number")


def one_json(path: Path | None, name: str) -> Path:
    """The file at PATH, or the only .json file in the folder PATH."""
    path = given(path, name)
    if not path.is_dir():
        return path
    files = sorted(p for p in path.glob("*.json") if p.is_file())
    if len(files) != 1:
        fault = (
            f"several JSON files ({', '.join(p.name for p in files[:5])})"
            if files
            else "no JSON file"
        )
        raise DataError(
            f"the folder holds {fault}", where=str(path), cure=f"give --data the {name} file itself"
        )
    return files[0]


def folder_with(path: Path | None, name: str, files: Sequence[str]) -> Path:
    """The folder PATH, or that of the file PATH, which holds all these files.  Raises DataError."""
    path = given(path, name)
    folder = path if path.is_dir() else path.parent
    if missing := [file for file in files if not (folder / file).is_file()]:
        raise DataError(
            f"the folder does not hold {' and '.join(missing)}",
            where=str(folder),
            cure=f"give --data the folder that `hebbarium data get {name}` makes",
        )
    return folder


def given(path: Path | None, name: str, cure: str = "") -> Path:
    """PATH; raises DataError, with this cure or one for official files, if it is None or does
    not exist.
    """
    if path is None:
        raise DataError(
            f"the data set {name!r} needs a path",
            cure=cure
            or f"download it (`hebbarium data get {name}`) and give --data PATH; or use the data set demo",
        )
    try:
        there = path.exists()
    except (OSError, ValueError):
        there = False
    if not there:
        raise DataError(
            "there is no such file or folder",
            where=str(path),
            cure=cure or f"check the path, or download it with `hebbarium data get {name}`",
        )
    return path


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
