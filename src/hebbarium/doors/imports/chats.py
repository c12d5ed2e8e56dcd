"""Chats between people: exports of Slack, WhatsApp, Telegram and Discord.  A channel or a chat
becomes a conversation; a thread, or else a day, a session of it.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, Final

from .json_stream import ALL, items
from .messages import Choices, ImportReport, Message
from .source import Export
from .values import as_dict, as_list, from_iso, from_numbers, from_seconds, text_of

NOTICES: Final = "notices, such as who joined or left"
BOTS: Final = "messages of programs"
UNNAMED: Final = "attachments without a name and a text"


def day_of(time: datetime | None) -> str:
    """The day of a message, by which a chat without threads is divided."""
    return "" if time is None else f"{time:%Y-%m-%d}"


# --- Slack ----------------------------------------------------------------------------------------
SAID: Final = frozenset({"", "thread_broadcast", "me_message", "file_share", "file_comment"})
DAY_FILE: Final = re.compile(r"\d{4}-\d\d-\d\d\.json")
LINK: Final = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")
LISTS: Final = ("channels.json", "groups.json", "dms.json", "mpims.json")
LIST_MOST: Final = 1 << 26  # bytes of a list of users or channels


def slack(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """A folder for each channel with a file for each day; users.json names who spoke."""
    listed = {PurePosixPath(name).name: name for name in source.names}
    users = {
        text_of(user.get("id")): _slack_name(user)
        for user in map(as_dict, _small_list(source, listed.get("users.json"), report))
    }
    channels = dict[str, str]()
    for name in LISTS:
        for channel in map(as_dict, _small_list(source, listed.get(name), report)):
            people = ", ".join(users.get(text_of(u), "?") for u in as_list(channel.get("members")))
            label = text_of(channel.get("name")) or people
            channels[text_of(channel.get("id"))] = channels[label] = label
    days = [name for name in names if DAY_FILE.fullmatch(PurePosixPath(name).name)]
    for name in sorted(days, key=lambda name: (PurePosixPath(name).parent, name)):
        folder = PurePosixPath(name).parent.name
        with source.text(name) as file:
            for item in items(file, ((ALL,),), report, name):
                yield from _of_slack(as_dict(item.value), channels.get(folder, folder), users,
                                     report, f"{name}, message {item.place[0]}")  # fmt: skip


def _small_list(source: Export, name: str | None, report: ImportReport) -> Sequence[Any]:
    if name is None or source.size(name) > LIST_MOST:
        return ()
    with source.text(name) as file:
        try:
            return as_list(json.loads(file.read()))
        except (ValueError, RecursionError):
            report.leave_out("lists of users or channels that are no JSON", name)
            return ()


def _slack_name(user: Mapping[str, Any]) -> str:
    profile = as_dict(user.get("profile"))
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"),
             user.get("name"))  # fmt: skip
    return next(filter(None, map(text_of, names)), text_of(user.get("id")))


def _of_slack(
    message: Mapping[str, Any],
    channel: str,
    users: Mapping[str, str],
    report: ImportReport,
    where: str,
) -> Iterator[Message]:
    subtype = text_of(message.get("subtype"))
    if subtype == "bot_message" or (message.get("bot_id") and not message.get("user")):
        report.leave_out(BOTS, where)
    elif subtype not in SAID:
        report.leave_out(NOTICES, where)
    else:
        time, thread = from_seconds(message.get("ts")), from_seconds(message.get("thread_ts"))
        user, stamp = text_of(message.get("user")), text_of(message.get("ts"))
        files = (as_dict(attachment) for attachment in as_list(message.get("files")))
        yield Message(
            _slack_text(text_of(message.get("text")), users),
            time,
            users.get(user, user),
            channel,
            f"thread of {thread:%Y-%m-%d %H:%M}" if thread else day_of(time),
            stamp,
            tuple(filter(None, (text_of(f.get("name") or f.get("title")) for f in files))),
            where=where,
        )


def _slack_text(text: str, users: Mapping[str, str]) -> str:
    """The text with names in place of marks, and the labels of links beside them."""

    def plain(mark: re.Match[str]) -> str:
        target, label = mark[1], mark[2]
        if target[0] == "@":
            return f"@{users.get(target[1:], label or target[1:])}"
        if target[0] in "#!":
            return f"{'#' if target[0] == '#' else '@'}{label or target[1:].partition('^')[0]}"
        return f"{label} ({target})" if label and label != target else target

    return html.unescape(LINK.sub(plain, text))


# --- WhatsApp -------------------------------------------------------------------------------------
DATE: Final = (
    r"(\d{1,4})[./-](\d{1,2})[./-](\d{2,4}),?[ \u202f]"
    r"(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:[ \u202f\xa0]?([AaPp])\.?[ \u202f\xa0]?[Mm]\.?)?"
)
START: Final = re.compile(rf"^[\u200e\u200f]?(?:\[{DATE}\][ ]|{DATE} - )")
SPOKEN: Final = re.compile(r"([^:\n]{1,80}?): (.*)", re.DOTALL)
OMITTED: Final = re.compile(
    r"<Media omitted>|[\u200e\u200f]*(?:image|video|audio|sticker|GIF|document|Contact card) omitted"
)
ATTACHED: Final = re.compile(r"[\u200e\u200f]*<attached: ([^<>\n]+)>|(\S[^\n]*?) \(file attached\)")
EDITED: Final = re.compile(r"\s*[\u200e\u200f]*<This message was edited>\s*$")
DELETED: Final = ("This message was deleted", "You deleted this message")
MESSAGE_MOST: Final = 2_000_000  # characters


def whatsapp(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """Chats as text, in the form of iPhones ("[01.03.25, 22:03:11] Mira: ...") and of Android
    ("01/03/2025, 22:03 - Mira: ...").
    """
    for name in names:
        day_first = _day_first(source, name, report, choices)
        title = PurePosixPath(name).stem
        title = title.removeprefix("WhatsApp Chat with ").removeprefix("WhatsApp Chat - ")
        if title in ("_chat", "chat"):
            title = source.path.stem
        for head, text, where in _entries(source, name, report):
            yield from _of_whatsapp(head, text, day_first, title, report, where)


def _entries(
    source: Export, name: str, report: ImportReport
) -> Iterator[tuple[re.Match[str], str, str]]:
    """Each message: the match of its date, its text with further lines, and its place."""
    head: re.Match[str] | None = None
    parts, first, size = list[str](), 0, 0
    with source.text(name) as file:
        number = 0
        while line := file.readline(MESSAGE_MOST):
            number += 1
            if match := START.match(line):
                if head:
                    yield head, "".join(parts), f"{name}, line {first}"
                head, parts, first, size = match, [line[match.end() :]], number, len(line)
            elif head is None:
                if line.strip():
                    report.leave_out("lines before the first date", f"{name}, line {number}")
            elif size < MESSAGE_MOST:
                parts.append(line)
                size += len(line)
    if head:
        yield head, "".join(parts), f"{name}, line {first}"


def _day_first(source: Export, name: str, report: ImportReport, choices: Choices) -> bool:
    """Whether the first number of a date is the day: as the user says; else as the dates allow;
    else as they go ahead in smaller steps.
    """
    if choices.dates:
        return choices.dates == "day-first"
    dates = dict[tuple[str, str, str], None]()
    with source.text(name) as file:
        while line := file.readline(MESSAGE_MOST):
            if match := START.match(line):
                dates[match[1] or match[8], match[2] or match[9], match[3] or match[10]] = None
    if any(len(date[0]) == 4 for date in dates):
        return True  # a year stands first
    readings = {
        first: [from_numbers(date, first) for date in dates] for first in (True, False)
    }  # in the order of the file
    able = [first for first, read in readings.items() if None not in read]
    if len(able) == 1:
        return able[0]

    def steps(first: bool) -> tuple[int, float]:
        days = [day for day in readings[first] if day]
        gaps = [(later - earlier).days for earlier, later in pairwise(days)]
        return sum(gap < 0 for gap in gaps), sum(abs(gap) for gap in gaps)

    chosen = steps(True) <= steps(False)
    if dates:
        said = "day" if chosen else "month"
        report.assume(f"the first number of a date in {name} is the {said}; --dates says otherwise")
    return chosen


def _of_whatsapp(
    head: re.Match[str], text: str, day_first: bool, title: str, report: ImportReport, where: str
) -> Iterator[Message]:
    groups = head.groups()[:7] if head[1] else head.groups()[7:]
    hour, minute, second = int(groups[3]), int(groups[4]), int(groups[5] or 0)
    if groups[6]:
        hour = hour % 12 + (12 if groups[6] in "Pp" else 0)
    time = from_numbers(groups[:3], day_first, hour, minute, second)
    spoken = SPOKEN.match(text)
    if spoken is None or spoken[2].startswith(("\u200eMessages and calls", "\u200eYou created")):
        report.leave_out(NOTICES, where)
        return
    said = EDITED.sub("", spoken[2])
    if said.strip().lstrip("\u200e").startswith(DELETED):
        report.leave_out("messages that were deleted", where)
        return
    attached = tuple(filter(None, (m[1] or m[2] for m in ATTACHED.finditer(said))))
    rest = OMITTED.sub("", ATTACHED.sub("", said)).strip()
    if rest != said.strip() and not rest and not attached:
        report.leave_out(UNNAMED, where)
        return
    yield Message(
        rest, time, spoken[1].lstrip("\u200e~ "), title, day_of(time), "", attached, where=where
    )


# --- Telegram and Discord -------------------------------------------------------------------------
def telegram(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """result.json of one chat, or of all."""
    ways = (("messages", ALL), ("chats", "list", ALL, "messages", ALL))
    for name in names:
        with source.text(name) as file:
            for item in items(file, ways, report, name):
                message = as_dict(item.value)
                where = f"{name}, message {text_of(message.get('id'))}"
                if message.get("type") != "message":
                    report.leave_out(NOTICES, where)
                    continue
                time = from_seconds(message.get("date_unixtime")) or from_iso(message.get("date"))
                parts = message.get("text")
                texts = (
                    part if isinstance(part, str) else text_of(as_dict(part).get("text"))
                    for part in ([parts] if isinstance(parts, str) else as_list(parts))
                )
                media = text_of(message.get("file_name")) or _last(
                    text_of(message.get("file") or message.get("photo"))
                )  # fmt: skip
                yield Message(
                    "".join(texts), time, text_of(message.get("from")) or "?",
                    text_of(item.beside.get("name")) or "Telegram", day_of(time),
                    text_of(message.get("id")), (media,) if media else (), where=where
                )  # fmt: skip


def _last(path: str) -> str:
    """The name of a file at the end of a path; a note in brackets, which stands for a file that was
    not exported, is none.
    """
    return "" if path.startswith("(") else path.replace("\\", "/").rpartition("/")[2]


def discord(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """Channels as DiscordChatExporter writes them."""
    for name in names:
        with source.text(name) as file:
            for item in items(file, (("messages", ALL),), report, name):
                message, author = as_dict(item.value), as_dict(as_dict(item.value).get("author"))
                where = f"{name}, message {text_of(message.get('id'))}"
                if author.get("isBot"):
                    report.leave_out(BOTS, where)
                    continue
                if text_of(message.get("type")) not in ("", "Default", "Reply", "0", "19"):
                    report.leave_out(NOTICES, where)
                    continue
                channel = text_of(as_dict(item.beside.get("channel")).get("name"))
                guild = text_of(as_dict(item.beside.get("guild")).get("name"))
                files = (as_dict(attachment) for attachment in as_list(message.get("attachments")))
                time = from_iso(message.get("timestamp"))
                yield Message(
                    text_of(message.get("content")), time,
                    text_of(author.get("nickname")) or text_of(author.get("name")),
                    f"{guild} #{channel}" if guild and channel else channel or guild or "Discord",
                    day_of(time), text_of(message.get("id")),
                    tuple(filter(None, (text_of(f.get("fileName") or f.get("filename"))
                                        for f in files))), where=where
                )  # fmt: skip


def own_discord(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """Messages of one's own, as Discord hands them out: a folder for each channel."""
    report.assume("Discord hands out your own messages alone, so the speaker is always 'me'")
    for name in names:
        channel = PurePosixPath(name).parent.name or PurePosixPath(name).stem
        with source.text(name) as file:
            for item in items(file, ((ALL,),), report, name):
                message = as_dict(item.value)
                time = from_iso(message.get("Timestamp"))
                files = text_of(message.get("Attachments")).split()
                yield replace(
                    Message(text_of(message.get("Contents")), time, "me", channel, day_of(time)),
                    id=text_of(message.get("ID")),
                    attachments=tuple(_last(file.partition("?")[0]) for file in files),
                    where=f"{name}, message {item.place[0]}",
                )
