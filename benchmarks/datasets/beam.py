"""BEAM: chats of a user and an assistant at four scales, with probing questions of ten kinds.

Source: Tavakoli et al. 2026, Beyond a Million Tokens: Benchmarking and Enhancing Long-Term Memory
in LLMs, ICLR (arXiv:2510.27246). Layout: `<scale>/<n>/chat.json` and
`<scale>/<n>/probing_questions/probing_questions.json`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from ...engine.base.errors import DataError
from ...engine.base.times import hours
from ...engine.contract.records import Event
from .base import (
    DOWNLOAD_AGAIN,
    Conversation,
    Dataset,
    JsonPlace,
    Question,
    TurnClock,
    assemble,
    given,
    read_json,
    unique,
)
from .events import Events
from .reading import Element, digest_of, elements, whole

CHAT = "chat.json"
SCALES = ("100K", "500K", "1M", "10M")
PROBES = Path("probing_questions", "probing_questions.json")
EPOCH = hours(datetime(2024, 1, 1, 9))  # used if a chat's first message has no date
# the first is the official one: 'March-15-2024'
DATES = ("%B-%d-%Y", "%b-%d-%Y", "%d-%B-%Y", "%Y-%m-%d", "%Y-%B-%d")
DEEPEST = 8  # levels of lists and objects above a message; the official 10M chats have five
# by category
ANSWERS = ("answer", "ideal_answer", "ideal_summary", "ideal_response", "expected_compliance")
NUMBER = r"(?:\d+|N/?A)"
# The generator's mark of the plan entry a message came from: '->-> 3,14', '->-> 3,N/A'; with any
# punctuation at the end of a text ('->-> 5,14)').
TAIL = r"[\d\s,.;:()\[\]/NA\"'`*>-]{0,24}\Z"
MARKER = re.compile(rf"\s*->->{TAIL}|\s*->->[ \t]*\(?{NUMBER}(?:[ \t]*,[ \t]*{NUMBER})*\)?")


@dataclass(slots=True)
class BeamMessage:
    """One message: its place in the file, its plan (10M chats), its exchange, and the date that
    begins at it, if any.
    """

    place: JsonPlace
    plan: str
    exchange: str
    anchor: JsonPlace | None


class _Bare(Exception):
    """A list of messages without batches has to be read as a whole."""


@dataclass(frozen=True, slots=True)
class Chat:
    """The file of a chat, read part by part: a part is a plan of a 10M chat, a batch of another
    one, or the whole file.
    """

    parts: tuple[Element, ...]
    whole: bool

    @classmethod
    def of(cls, file: Path) -> Chat:
        """Raises DataError for what is no JSON."""
        parts = elements(file, "part")
        return cls((whole(file),), True) if parts is None else cls(parts, False)

    def messages(self) -> Iterator[BeamMessage]:
        """Every message in order; one part is in memory at a time.  Raises DataError, `_Bare`
        for a part that is a message.
        """
        for number, part in enumerate(self.parts, 1):
            place = part.place()
            if _is_message(place.value) and not self.whole:
                raise _Bare
            yield from _messages(
                place, "", "" if self.whole else str(number), 0 if self.whole else 1
            )
            del place  # before the next part is read

    def events(self) -> Iterator[Event]:
        """Every event in order.  Raises DataError."""
        return _events(self, Counter())


def load_beam(path: Path | None, limit: int | None = None) -> Dataset:
    """The chats under PATH: the folder of scales, one scale, or one chat.

    A chat is a list of batches (each with one date), a batch a list of exchanges: a main question,
    its answer and follow-ups, 2 to 6 messages.  The exchange is taken as the session,
    `<batch>.<exchange>` counted from 1, because a batch is hundreds of kilobytes long.  Event ids
    are the message ids; in the 10M chats, made of plans, both are prefixed by `<plan>/`.  An id
    that occurs again gets `~2`.

    Times: a message with a `time_anchor` begins at that date, 09:00 UTC (engineering), the others
    follow a minute apart; a date before the previous message is clamped to a minute after it.  Gold
    is every id in `source_chat_ids`, at any depth of lists and objects (an object's keys may name
    plans), or in `conversation_sessions` if that is missing; there it is a list of message ids, or
    a count, which names none. Questions are asked an hour after the last event. The digest covers
    (relative path, bytes) of the files read, in order of path.  Cost: O(characters).  Errors:
    DataError.
    """
    folders = _folders(given(path, "beam"))[:limit]
    oddities: Counter[str] = Counter(
        times_clamped=0,
        sessions_out_of_order=0,
        chats_without_first_date=0,
        dates_unreadable=0,
        gold_missing=0,
        gold_ambiguous=0,
        gold_unreadable=0,
        ids_repeated=0,
    )
    files = {
        f"{_name(folder)}/{file.as_posix()}": folder / file
        for folder in folders
        for file in (Path(CHAT), PROBES)
    }
    chats = list[Chat]()
    loaded = assemble(
        "beam",
        "",
        (_conversation(folder, oddities, chats) for folder in folders),
        oddities,
        str(path),
        lambda n: chats[n].events,
    )
    return replace(loaded, sha256=digest_of(sorted(files.items())))


def _name(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def _folders(path: Path) -> list[Path]:
    try:
        path = (path.parent if path.name == CHAT else path).resolve()
        levels = (
            [[path], *([p for p in path.glob(depth) if p.is_dir()] for depth in ("*", "*/*"))]
            if path.is_dir()
            else []
        )
    except (OSError, RuntimeError) as error:
        raise DataError(
            f"the folder cannot be listed ({error})", where=str(path), cure="check its permissions"
        ) from error
    for level in levels:
        if chats := [folder for folder in level if (folder / CHAT).is_file()]:
            return sorted(chats, key=_order)
    cure = "give --data the folder that holds 100K, 500K ..., one of these, or one chat folder"
    raise DataError("there is no chat.json", where=str(path), cure=cure)


def _order(folder: Path) -> tuple[int, str, int, str]:
    scale, number = folder.parent.name, folder.name
    return (
        SCALES.index(scale) if scale in SCALES else len(SCALES),
        scale,
        int(number) if number.isdecimal() else 0,
        number,
    )


def _conversation(folder: Path, counted: Counter[str], chats: list[Chat]) -> Conversation:
    chat, probes = Chat.of(folder / CHAT), read_json(folder / PROBES)[0]
    try:
        found_now = _read(chat, folder, probes, counted)
    except _Bare:
        chat = Chat((whole(folder / CHAT),), True)
        found_now = _read(chat, folder, probes, counted)
    chats.append(chat)
    return found_now


def _read(chat: Chat, folder: Path, probes: JsonPlace, counted: Counter[str]) -> Conversation:
    """The conversation; the events of a chat of plans are read anew each time, plan by plan."""
    name, mine, index = _name(folder), Counter[str](), dict[str, list[str]]()
    size, planned, ends, held = 0, False, list[Event](), list[Event]()
    for event in _events(chat, mine, index):
        size, planned, ends = (
            size + 1,
            planned or "/" in event.session,
            [ends[0] if ends else event, event],
        )
        if planned and not chat.whole:
            held.clear()
        else:
            held.append(event)
    counted.update(mine)
    asked = (ends[1].time if ends else -math.inf) + 1.0
    questions = [
        Question(
            f"{name}/{category}/{n}",
            place.field("question").name(),
            asked,
            category,
            _gold(place, index, counted),
            _answer(place),
            tuple(statement.name() for statement in rubric.items("statement"))
            if (rubric := place.maybe("rubric"))
            else (),
        )
        for category, group in probes.members()
        for n, place in enumerate(group.items("question"))
    ]
    events = (
        Events(chat.events, size, (ends[0], ends[1]), by_part=True)
        if planned and not chat.whole
        else tuple(held)
    )
    return Conversation(name, events, tuple(questions))


def _events(
    chat: Chat, counted: Counter[str], index: dict[str, list[str]] | None = None
) -> Iterator[Event]:
    """The events of a chat in order; the ids under which a question may name each are added to
    the index, if there is one.
    """
    clock, taken, first = TurnClock(), Counter[str](), True
    for message in chat.messages():
        start = _time(message.anchor, counted)
        if first and start is None:
            counted["chats_without_first_date"] += 1
            start = EPOCH
        first = False
        number, prefix = (
            message.place.field("id").name(),
            f"{message.plan}/" if message.plan else "",
        )
        taken[prefix + number] += 1
        again = taken[prefix + number]
        counted["ids_repeated"] += again > 1
        event = prefix + number + (f"~{again}" if again > 1 else "")
        if index is not None:
            for known in unique((number, prefix + number)):
                index.setdefault(known, []).append(event)
        role = message.place.field("role").name()
        yield Event(
            clock.next(start, message.anchor),
            _content(message.place),
            role,
            prefix + message.exchange,
            event,
            dated=False,
        )
    counted["times_clamped"] += clock.clamped
    counted["sessions_out_of_order"] += clock.out_of_order


def _messages(place: JsonPlace, plan: str, batch: str, depth: int) -> Iterator[BeamMessage]:
    """Every message below a place, in order.

    Reads batches with `turns`, bare lists of messages (cut into exchanges at main questions, as the
    authors' converter does), and objects `{"plan-1": [...], ...}`, taken in numeric order.
    """
    if depth > DEEPEST:
        place.wrong("it is nested deeper than any BEAM chat")
    if isinstance(place.value, dict):
        if "turns" in place.value:
            own = place.maybe("batch_number")
            yield from _batch(
                place.field("turns"),
                plan,
                own.name() if own else batch or "1",
                place.maybe("time_anchor"),
            )
            return
        inner = [
            (key, member)
            for key, member in place.members()
            if isinstance(member.value, list | dict)
        ]
        if not inner:
            place.wrong("neither a message list, a batch with 'turns' nor a plan")
        for key, member in sorted(
            inner, key=lambda item: [int(digits) for digits in re.findall(r"\d{1,9}", item[0])]
        ):
            yield from _messages(member, key, "", depth + 1)
    elif isinstance(place.value, list) and any(_is_message(message) for message in place.value):
        yield from _batch(place, plan, batch or "1", None)
    else:
        for number, member in enumerate(place.items("part"), 1):
            yield from _messages(member, plan, str(number), depth + 1)


def _batch(
    turns: JsonPlace, plan: str, batch: str, anchor: JsonPlace | None
) -> Iterator[BeamMessage]:
    groups = (
        [turns]
        if isinstance(turns.value, list) and any(_is_message(turn) for turn in turns.value)
        else list(turns.items("exchange"))
    )
    exchange, first = 0, True
    for group in groups:
        for n, place in enumerate(group.items("message")):
            kind = place.maybe("question_type")
            exchange += n == 0 or (kind is not None and kind.value == "main_question")
            own = place.maybe("time_anchor")
            # A batch's date (rarely given) applies to its first message, unless that message has
            # its own.
            yield BeamMessage(
                place, plan, f"{batch}.{exchange}", own or (anchor if first else None)
            )
            first = False


def _is_message(value: object) -> bool:
    return (
        isinstance(value, dict) and "turns" not in value and ("content" in value or "role" in value)
    )


def _content(message: JsonPlace) -> str:
    place = message.field("content")
    text = place.text()
    text = MARKER.sub("", text) if "->->" in text else text
    if "->->" in text:
        place.wrong(
            "a '->->' mark of the generator is inside the text",
            f"remove the mark from the text, or {DOWNLOAD_AGAIN}",
        )
    return text


def _time(anchor: JsonPlace | None, counted: Counter[str]) -> float | None:
    if anchor is None or not anchor.text().strip():
        return None
    text = "-".join(re.findall(r"\w+", anchor.text()))
    for form in DATES:
        with suppress(ValueError):
            return hours(datetime.strptime(text, form).replace(hour=9))
    counted["dates_unreadable"] += 1
    return None


def _answer(probe: JsonPlace) -> str:
    """The expected answer under whichever name its category has."""
    answers = (probe.maybe(name) for name in ANSWERS)
    return next((place.name() for place in answers if place), "")


def _gold(probe: JsonPlace, index: dict[str, list[str]], counted: Counter[str]) -> tuple[str, ...]:
    sources = probe.maybe("source_chat_ids")
    if (
        sources is None
        and (sessions := probe.maybe("conversation_sessions")) is not None
        and isinstance(sessions.value, list | dict)
    ):
        sources = sessions
    named = unique(_ids(sources, "", counted, 0)) if sources else ()
    held = {name: index.get(name) or index.get(name.rpartition("/")[2], []) for name in named}
    counted["gold_missing"] += sum(not events for events in held.values())
    # an ambiguous id is not resolved
    counted["gold_ambiguous"] += sum(len(events) > 1 for events in held.values())
    return unique(events[0] for events in held.values() if len(events) == 1)


def _ids(place: JsonPlace, plan: str, counted: Counter[str], depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        place.wrong("it is nested deeper than any list of BEAM sources")
    if isinstance(place.value, dict):
        for key, member in place.members():
            yield from _ids(
                member,
                key if re.fullmatch(r"plan\D*\d+", key, re.IGNORECASE) else plan,
                counted,
                depth + 1,
            )
    elif isinstance(place.value, list):
        for member in place.items("id"):
            yield from _ids(member, plan, counted, depth + 1)
    elif place.value is not None:
        numbers = (
            re.findall(r"\d+", place.name())
            if not isinstance(place.value, float)
            else [f"{place.value:.0f}"]
        )
        counted["gold_unreadable"] += not numbers
        yield from (
            f"{plan}/{int(n) if len(n) < 18 else n}" if plan else str(int(n) if len(n) < 18 else n)
            for n in numbers
        )
