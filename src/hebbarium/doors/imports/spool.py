"""Messages on disk, so that an export of any length is put in order of time in bounded memory."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from ...engine.base.times import hours, moment, offset_of
from ...engine.contract.records import Event
from .messages import ImportReport, Message

MINUTE = timedelta(minutes=1)
TABLE = """
    CREATE TABLE messages (number INTEGER PRIMARY KEY, conversation TEXT, id TEXT, time REAL,
                           offset REAL, dated INTEGER, record TEXT, UNIQUE (conversation, id))
"""
TIMES = "CREATE INDEX times ON messages (time, number)"


class Spool:
    """Messages, each conversation and id once.

    since  when the first message without a time is taken to have been written, if no message of its
           conversation has one
    """

    def __init__(self, report: ImportReport, since: datetime) -> None:
        self._folder = TemporaryDirectory(prefix="hebbarium-import-")
        self._file = sqlite3.connect(Path(self._folder.name) / "messages.sqlite")
        self._file.execute("PRAGMA journal_mode = OFF")
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute(TABLE)
        self._report, self._since = report, since
        self._last = dict[str, datetime]()
        # of each conversation, the messages before the first with a time
        self._undated = Counter[str]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._folder.cleanup()

    def add(self, message: Message) -> None:
        """Take a cleaned message.  One without a time follows the one before it by a minute; those
        before the first with a time precede it by a minute each.
        """
        dated, last = message.time is not None, self._last.get(message.conversation)
        time = message.time or (last + MINUTE if last else self._since)
        if dated and (undated := self._undated.pop(message.conversation, 0)):
            self._put_before(message.conversation, time, undated)
        elif not dated and (last is None or message.conversation in self._undated):
            self._undated[message.conversation] += 1
        self._last[message.conversation] = time
        self._report.changed["times made up, a minute after the message before"] += not dated
        record = json.dumps([message.text, message.speaker, message.session, message.attachments,
                             message.attributes])  # fmt: skip
        done = self._file.execute(
            "INSERT OR IGNORE INTO messages VALUES (NULL, ?, ?, ?, ?, ?, ?)",
            (message.conversation, message.id, hours(time), offset_of(time), dated, record),
        )
        if done.rowcount:
            self._report.messages += 1
        else:
            self._report.leave_out("messages that the export holds twice", message.where)

    def _put_before(self, conversation: str, time: datetime, undated: int) -> None:
        """Give the messages of a conversation, none of which has a time, the minutes before one."""
        self._file.execute(
            "UPDATE messages SET time = time + ?, offset = ? WHERE conversation = ?",
            (hours(time) - hours(self._since) - undated / 60.0, offset_of(time), conversation),
        )
        self._report.changed["times made up, a minute after the message before"] -= undated
        self._report.changed["times made up, a minute before the next message"] += undated

    def conversations(self) -> list[tuple[str, int]]:
        """Names of the conversations, with the number of their messages."""
        with closing(
            self._file.execute("SELECT conversation, count(*) FROM messages GROUP BY 1 ORDER BY 1")
        ) as rows:
            return list(rows)

    def summary(self) -> dict[str, Any]:
        """Counts of conversations, sessions and speakers, and the first and last time."""
        ((first, last),) = self._file.execute("SELECT min(time), max(time) FROM messages")
        sessions, speakers = set[tuple[str, str]](), set[str]()
        for conversation, record in self._file.execute("SELECT conversation, record FROM messages"):
            _, speaker, session, *_ = json.loads(record)
            sessions.add((conversation, session))
            speakers.add(speaker)
        return {
            "conversations": len(self.conversations()),
            "sessions": len(sessions),
            "speakers": len(speakers - {""}),
            "first": "" if first is None else moment(first).isoformat(timespec="seconds"),
            "last": "" if last is None else moment(last).isoformat(timespec="seconds"),
        }

    def events(self) -> Iterator[tuple[str, Event]]:
        """(conversation, event) in order of time; ties in the order of the export."""
        self._file.execute(TIMES)
        rows = self._file.execute(
            "SELECT conversation, id, time, offset, dated, record FROM messages "
            "ORDER BY time, number"
        )
        for conversation, id, time, offset, dated, record in rows:
            text, speaker, session, attachments, attributes = json.loads(record)
            pairs = {(key, value) for key, value in attributes}
            pairs |= {("attachment", name) for name in attachments}
            yield (
                conversation,
                Event(time, text, speaker, session, id, dated=bool(dated),
                      attributes=tuple(sorted(pairs)), offset=offset),
            )  # fmt: skip


def present() -> datetime:
    return datetime.now(UTC)
