"""Mail, diaries, tables and lines of JSON."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from email import message_from_bytes
from email.errors import MessageError
from email.message import EmailMessage
from email.policy import default
from email.utils import parseaddr, parsedate_to_datetime
from html.parser import HTMLParser
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final

from ...benchmarks.datasets.recognise import SYNONYMS
from ...engine.base.errors import InputError
from ...engine.base.times import hours, moment
from ...engine.text.dates import times
from .assistants import is_lines
from .chats import day_of
from .json_stream import ALL, items, lines
from .messages import Choices, ImportReport, Message
from .source import Export
from .values import as_dict, from_day, from_iso, from_seconds, text_of

# --- mail -----------------------------------------------------------------------------------------
MAIL_MOST: Final = 1 << 26  # bytes of one mail
LINE_MOST: Final = 1 << 20
BEGIN: Final = re.compile(rb"From \S+ .*\d{4}\s*$")  # of a mail
REPLY: Final = re.compile(r"^\s*((re|aw|fwd?|wg|sv|antw)\s*(\[\d+\])?:\s*)+", re.IGNORECASE)
WROTE: Final = re.compile(r"^(on .{5,200} wrote|am .{5,200} schrieb.*|-+ ?original message ?-+):?$",
                          re.IGNORECASE)  # fmt: skip


def mbox(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """A mailbox: each mail without what it quotes and without its signature; a subject is a
    session.
    """
    for name in names:
        conversation = PurePosixPath(name).stem
        with source.binary(name) as file:
            for number, raw in enumerate(_mails(file, report, name), 1):
                yield from _of_mail(raw, conversation, report, f"{name}, mail {number}")


def _mails(file: BinaryIO, report: ImportReport, where: str) -> Iterator[bytes]:
    """The bytes of each mail: from a line "From ..." after an empty one to the next."""
    parts, size, empty, whole = list[bytes](), 0, True, True
    while line := file.readline(LINE_MOST):
        if empty and BEGIN.match(line):
            if parts and whole:
                yield b"".join(parts)
            parts, size, whole = [], 0, True
        else:
            size += len(line)
            if whole and size > MAIL_MOST:
                report.leave_out(f"mails of more than {MAIL_MOST >> 20} MB", where)
                parts, whole = [], False
            if whole:
                parts.append(line)
        empty = not line.strip()
    if parts and whole:
        yield b"".join(parts)


def _of_mail(raw: bytes, conversation: str, report: ImportReport, where: str) -> Iterator[Message]:
    try:
        mail = message_from_bytes(raw, policy=default)
        assert isinstance(mail, EmailMessage)
        sender, subject = str(mail.get("From", "")), str(mail.get("Subject", ""))
        dated, id = str(mail.get("Date", "")), str(mail.get("Message-ID", ""))
        body = mail.get_body(("plain", "html"))
        text = str(body.get_content()) if body else ""
        if body and body.get_content_subtype() == "html":
            text = without_tags(text)
        names = tuple(filter(None, (part.get_filename() for part in mail.iter_attachments())))
    except (MessageError, LookupError, ValueError, TypeError, KeyError, AttributeError,
            IndexError, AssertionError, RecursionError):  # fmt: skip
        report.leave_out("mails that cannot be read", where)
        return
    name, address = parseaddr(sender)
    thread = REPLY.sub("", subject).strip()
    yield Message(
        _without_quotes(text), _mail_time(dated), name or address, conversation,
        thread or "no subject", id.strip("<> "), names,
        (("subject", subject),) if subject else (), where
    )  # fmt: skip


def _mail_time(written: str) -> datetime | None:
    try:
        return parsedate_to_datetime(written)
    except (ValueError, TypeError, IndexError):
        return None


def _without_quotes(text: str) -> str:
    kept = list[str]()
    for line in text.splitlines():
        if line == "-- ":
            break
        if not line.startswith(">") and not WROTE.match(line.strip()):
            kept.append(line)
    return "\n".join(kept).strip()


class _Words(HTMLParser):
    """The words of a page without tags, scripts and styles."""

    HIDDEN: Final = ("script", "style", "head", "title")

    def __init__(self) -> None:
        super().__init__()
        self.words, self._hidden = list[str](), 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._hidden += tag in self.HIDDEN
        self.words.append("\n" if tag in ("p", "br", "div", "li", "tr") else "")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in self.HIDDEN))

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words.append(data)


def without_tags(page: str) -> str:
    """The words of a page of HTML.

    >>> without_tags("<p>The kiln <b>is</b> hot.<script>alert(1)</script></p>")
    'The kiln is hot.'
    """
    reader = _Words()
    reader.feed(page)
    reader.close()
    return "\n".join(filter(None, (line.strip() for line in "".join(reader.words).splitlines())))


# --- diaries --------------------------------------------------------------------------------------
HEADING: Final = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
ISO_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
SAID: Final = hours(datetime(2000, 1, 1))  # a heading needs a year to be a date
NOON: Final = 12


def markdown(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """Diaries: a day in a heading, or in the name of a file, dates the paragraphs below it; each
    paragraph is a message.
    """
    report.assume("paragraphs of a diary are dated at noon of their day")
    for name in names:
        day = _day(PurePosixPath(name).stem)
        heading, number = PurePosixPath(name).stem, 0
        paragraph, first, front = list[str](), 0, False

        def told(
            paragraph: list[str], first: int, heading: str, day: datetime | None, name: str
        ) -> Iterator[Message]:
            text = "\n".join(paragraph).strip()
            if text and day is None:
                report.leave_out("paragraphs without a day", f"{name}, line {first}")
            elif text:
                yield Message(
                    text, day, "", source.path.stem, heading, where=f"{name}, line {first}"
                )

        with source.text(name) as file:
            while line := file.readline(LINE_MOST):
                number += 1
                plain = line.rstrip("\r\n")
                if plain.strip() == "---" and (number == 1 or front):
                    front = number == 1  # the block of settings at the head of a file
                    continue
                if front:
                    continue
                mark = HEADING.match(plain)
                if mark or not plain.strip():
                    yield from told(paragraph, first, heading, day, name)
                    paragraph = []
                if mark and (new_day := _day(mark[1])):
                    day, heading = new_day, mark[1]
                elif mark:
                    heading = f"{day_of(day)} {mark[1]}".strip()
                elif plain.strip():
                    first = first if paragraph else number
                    paragraph.append(plain)
        yield from told(paragraph, first, heading, day, name)


def _day(text: str) -> datetime | None:
    """Noon of the day that a heading or a name says, in the writer's zone."""
    if match := ISO_DAY.search(text):
        day = from_iso(match[0])
        return day.replace(hour=NOON) if day else None
    read = times(text, SAID).expressions
    if len(read) == 1 and read[0].end - read[0].start == 24.0 and re.search(r"\d{4}", text):
        return moment(read[0].start).replace(tzinfo=None, hour=NOON)
    return None


# --- tables and lines of JSON ---------------------------------------------------------------------
FIELDS: Final = ("conversation", "id", "time", "speaker", "session", "text")
csv.field_size_limit(1 << 26)


def table(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """Tables whose first line names the columns."""
    for name in names:
        with source.text(name) as file:
            head = file.readline(LINE_MOST)
            delimiter = max(",\t;|", key=head.count)
            heads = [
                heading.strip() for heading in next(csv.reader([head], delimiter=delimiter), [])
            ]
            columns = named(heads, choices, name)
            rows = csv.reader(file, delimiter=delimiter)
            for number in range(2, 1 << 62):
                try:
                    row = next(rows)
                except StopIteration:
                    break
                except csv.Error:
                    report.leave_out("rows that are no rows of a table", f"{name}, row {number}")
                    continue
                if len(row) != len(heads):
                    if row:
                        report.leave_out("rows with more or fewer columns", f"{name}, row {number}")
                    continue
                record = dict(zip(heads, row, strict=True))
                yield _of_record(record, columns, name, f"{name}, row {number}")


def records(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """Objects of JSON with a text, in lines or in a list."""
    for name in names:
        with source.text(name) as file:
            told: Iterable[tuple[int, Any]]
            if is_lines(source, name):
                told = lines(file, report, name)
            else:
                told = (
                    (item.place[-1] + 1, item.value)
                    for item in items(file, ((ALL,),), report, name)
                )
            columns: Mapping[str, str] | None = None
            for number, record in told:
                if not isinstance(record, dict):
                    report.leave_out("items that are no objects", f"{name}, item {number}")
                    continue
                columns = named(list(record), choices, name) if columns is None else columns
                yield _of_record(record, columns, name, f"{name}, item {number}")


def named(heads: Sequence[str], choices: Choices, where: str) -> Mapping[str, str]:
    """Field of an event -> column that holds it: as the user says, else by usual names.  Raises
    InputError if no column holds the text, or if a column is not there.
    """
    plain = {head.casefold().replace(" ", "_").replace("-", "_"): head for head in heads}
    columns = dict[str, str]()
    for field in FIELDS:
        if given := choices.columns.get(field):
            if given not in heads:
                raise InputError(
                    f"there is no column {given!r} among {', '.join(heads)}",
                    where=f"--columns, {where}",
                    cure="name a column of the file, such as --columns text=body,time=sent",
                )
            columns[field] = given
        else:
            free = (plain[n] for n in SYNONYMS[field] if n in plain)
            taken = {*columns.values(), *choices.columns.values()}
            if column := next((head for head in free if head not in taken), ""):
                columns[field] = column
    if "text" not in columns:
        raise InputError(
            f"no column holds a text: {', '.join(heads)[:300]}",
            where=where,
            cure="say which, such as --columns text=body,time=sent,speaker=who",
        )
    return columns


def _of_record(
    record: Mapping[str, Any], columns: Mapping[str, str], name: str, where: str
) -> Message:
    values = {field: record.get(column) for field, column in columns.items()}
    written = values.get("time")
    time = from_iso(written) or from_day(written) or from_seconds(written)
    said = Message(
        text_of(values["text"]),
        time,
        text_of(values.get("speaker")),
        text_of(values.get("conversation")) or PurePosixPath(name).stem,
        text_of(values.get("session")) or day_of(time),
        text_of(values.get("id")),
        where=where,
    )
    role = text_of(as_dict(record).get("role"))
    return replace(said, attributes=(("role", role),)) if role else said
