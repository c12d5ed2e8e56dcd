"""What every reader of an export makes, and what it reports of the rest."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final

EARLIEST: Final = 1900  # year: no message is older, and a time that says so is wrong
TEXT_MOST: Final = 1_000_000  # characters of a text
CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200e\u200f\u202a-\u202e\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of an export.

    time          when it was written; None: not known.  A naive datetime is of the zone that the
                  user names
    conversation  which becomes a conversation of one's own data
    session       a chat with an assistant, a thread, or a day
    id            unique within its conversation, and the same in a later export; "": made from
                  time, speaker and text
    attachments   names of files, which are never opened
    attributes    pairs of key and text, such as the role
    where         the place in the export, for the report
    """

    text: str
    time: datetime | None = None
    speaker: str = ""
    conversation: str = ""
    session: str = ""
    id: str = ""
    attachments: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a user may say about an export that it does not say itself.

    zone     of times without an offset
    dates    "day-first", "month-first", or "": as the dates of the file suggest
    columns  field of an event -> name of the column or field that holds it
    """

    zone: tzinfo = UTC
    dates: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class ImportReport:
    """What an import read, what it took for granted, and what it left out and why."""

    form: str = ""
    messages: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    changed: Counter[str] = field(default_factory=Counter)
    assumed: list[str] = field(default_factory=list)

    def leave_out(self, why: str, where: str = "") -> None:
        """Count something that is left out; the first place of each kind is kept."""
        self.left_out[why] += 1
        self.first.setdefault(why, where)

    def assume(self, what: str) -> None:
        if what not in self.assumed:
            self.assumed.append(what)

    def plain(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            "form": self.form,
            "messages": self.messages,
            "left_out": [
                {"what": why, "count": count, "first": self.first[why]}
                for why, count in self.left_out.most_common()
            ],
            "changed": dict(+self.changed),
            "assumed": self.assumed,
        }


def cleaned(
    message: Message, choices: Choices, report: ImportReport, now: datetime
) -> Message | None:
    """The message as it is kept, or None, which the report counts.

    Control characters are taken out, a time without an offset gets the user's zone, and a time that
    cannot be is taken as not known.
    """
    text = CONTROL.sub("", message.text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    report.changed["texts without their control characters"] += len(text) < len(
        message.text.replace("\r\n", "\n").strip()
    )
    report.changed["texts with characters that are not in the encoding of the file"] += (
        "\ufffd" in text
    )
    if not text and not message.attachments:
        report.leave_out("messages without a text", message.where)
        return None
    if len(text) > TEXT_MOST:
        report.leave_out(f"texts of more than {TEXT_MOST:,} characters", message.where)
        return None
    time = message.time
    if time is not None and time.tzinfo is None:
        report.changed["times without an offset"] += 1
        time = time.replace(tzinfo=choices.zone)
    if time is not None and not (time.year >= EARLIEST and time <= now + timedelta(days=2)):
        report.changed["times before 1900 or in the future, taken as not known"] += 1
        time = None
    names = tuple(filter(None, (plain_name(name) for name in message.attachments)))
    return Message(
        text or f"[{', '.join(names) or 'attachment'}]",
        time,
        plain_name(message.speaker),
        plain_name(message.conversation) or "messages",
        plain_name(message.session),
        plain_name(message.id) or made_id(message, time),
        names,
        tuple((key, plain_name(value)) for key, value in message.attributes if value),
        message.where,
    )


def plain_name(name: str) -> str:
    """A name in one line, without control characters and paths of more than 200 characters."""
    return " ".join(CONTROL.sub("", name).split())[:200]


def made_id(message: Message, time: datetime | None) -> str:
    """An id of what was said, which a later export of the same chat gives again.

    >>> made_id(Message("We moved.", speaker="Ada"), None)
    'd0c1427b659d'
    """
    said = f"{time.isoformat() if time else ''}\x00{message.speaker}\x00{message.text}"
    return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=6).hexdigest()
