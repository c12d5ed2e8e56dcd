"""Imports: files composed after the formats' own descriptions, what becomes of each message, and
hostile ones.
"""

from __future__ import annotations

import io
import json
import random
import tracemalloc
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hebbarium import memory
from hebbarium.benchmarks.datasets import load
from hebbarium.doors.imports import (
    READERS,
    Choices,
    ImportReport,
    import_to_folder,
    import_to_memory,
)
from hebbarium.doors.imports.json_stream import ALL, CUT, items
from hebbarium.engine.base.errors import HebbariumError

Row = dict[str, Any]
START = 1740900000.0  # 2025-03-02T07:20:00 UTC


def node(id: str, parent: str | None, role: str, text: str, **more: Any) -> Row:
    message = {"id": id, "author": {"role": role}, "create_time": START + len(id),
               "content": {"content_type": "text", "parts": [text]}, "metadata": {},
               "recipient": "all", **more}  # fmt: skip
    return {"id": id, "parent": parent, "message": message, "children": []}


def chatgpt() -> list[Row]:
    nodes = [
        {"id": "root", "parent": None, "message": None},
        node("s", "root", "system", "Be helpful."),
        node("u", "s", "user", "I sold my bicycle."),
        node("old", "u", "assistant", "An answer that was made again."),
        node("tool", "u", "assistant", "search()", recipient="browser"),
        node("t", "tool", "tool", "ten results"),
        node("a", "t", "assistant", "Write the frame number."),
        node("pic", "a", "user", "", content={"content_type": "multimodal_text", "parts": [
            {"content_type": "image_asset_pointer", "asset_pointer": "file-service://../../etc"},
            "Here it is."]}, metadata={"attachments": [{"name": "frame.png"}]}),
    ]  # fmt: skip
    return [
        {"title": "Bike", "id": "c0ffee00-1", "current_node": "pic",
         "mapping": {n["id"]: n for n in nodes}},
        {"title": "Empty", "id": "c1", "current_node": "r", "mapping": {
            "r": {"id": "r", "parent": None, "message": None}}},
    ]  # fmt: skip


CLAUDE = [{"uuid": "c-1", "name": "Bike", "chat_messages": [
    {"uuid": "m1", "text": "I sold it.", "sender": "human", "created_at": "2025-03-02T07:20:01Z",
     "attachments": [{"file_name": "bill.pdf"}], "files": []},
    {"uuid": "m2", "text": "", "sender": "assistant", "created_at": "2025-03-02T07:20:04.123456789Z",
     "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Nice."},
                 {"type": "tool_use", "name": "x", "input": {}}]}]}]  # fmt: skip
CLAUDE_CODE = [
    {"type": "summary", "summary": "Fixing", "leafUuid": "x"},
    {"type": "user", "uuid": "1", "parentUuid": None, "sessionId": "s1", "cwd": "/home/ada/boat",
     "timestamp": "2025-03-02T07:20:00Z", "message": {"role": "user", "content": "Fix the sail."}},
    {"type": "assistant", "uuid": "2", "parentUuid": "1", "sessionId": "s1", "cwd": "/home/ada/boat",
     "timestamp": "2025-03-02T07:20:09Z", "message": {"role": "assistant", "content": [
         {"type": "text", "text": "I mend it."}, {"type": "tool_use", "name": "Bash", "input": {}}]}},
    {"type": "user", "uuid": "3", "sessionId": "s1", "timestamp": "2025-03-02T07:20:10Z",
     "message": {"role": "user", "content": [{"type": "tool_result", "content": "ok"}]}},
    {"type": "user", "uuid": "4", "sessionId": "s1", "isSidechain": True,
     "timestamp": "2025-03-02T07:20:11Z", "message": {"role": "user", "content": "helper"}},
]  # fmt: skip
CODEX = [
    {"timestamp": "2025-03-02T07:20:00Z", "type": "session_meta",
     "payload": {"id": "s9", "cwd": "C:\\work\\boat"}},
    {"timestamp": "2025-03-02T07:20:01Z", "type": "response_item", "payload": {
        "type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "<environment_context>cwd</environment_context>"}]}},
    {"timestamp": "2025-03-02T07:20:02Z", "type": "response_item", "payload": {
        "type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it."}]}},
    {"timestamp": "2025-03-02T07:20:03Z", "type": "response_item", "payload": {
        "type": "reasoning", "summary": []}},
    {"timestamp": "2025-03-02T07:20:04Z", "type": "response_item", "payload": {
        "type": "function_call", "name": "shell"}},
    {"timestamp": "2025-03-02T07:20:05Z", "type": "response_item", "payload": {
        "type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "Done."}]}},
]  # fmt: skip
TELEGRAM = {"name": "Potters", "type": "private_group", "id": 7, "messages": [
    {"id": 1, "type": "service", "date": "2025-03-01T10:00:00", "action": "create_group"},
    {"id": 2, "type": "message", "date": "2025-03-01T10:00:00", "date_unixtime": "1740820500",
     "from": "Ines", "from_id": "u7", "text": ["see ", {"type": "link", "text": "the kiln"}, "!"]},
    {"id": 3, "type": "message", "date": "2025-03-01T11:00:00", "from": "Jo", "from_id": "u8",
     "text": "", "photo": "photos/../../jar.jpg"}]}  # fmt: skip
DISCORD = {"guild": {"id": "1", "name": "Potters"}, "channel": {"id": "2", "name": "kiln"},
    "messages": [
        {"id": "3", "type": "Default", "timestamp": "2025-03-01T10:00:00.5+00:00",
         "content": "the kiln is hot", "author": {"name": "ines", "nickname": "Ines"},
         "attachments": [{"fileName": "kiln.jpg"}]},
        {"id": "4", "type": "GuildMemberJoin", "timestamp": "2025-03-01T10:00:00+00:00",
         "content": "Joined.", "author": {"name": "jo"}},
        {"id": "5", "type": "Default", "timestamp": "2025-03-01T10:00:00+00:00",
         "content": "beep", "author": {"name": "bot", "isBot": True}}]}  # fmt: skip
OWN_DISCORD = [{"ID": 12, "Timestamp": "2025-03-01 10:00:00", "Contents": "the kiln is hot",
    "Attachments": "https://cdn.example/1/jar.png?ex=1"}]  # fmt: skip
IPHONE = (
    "\ufeff[01/03/25, 10:02:11 PM] Mira: \u200eMessages and calls are end-to-end encrypted.\n"
    "[01/03/25, 10:03:00\u202fPM] Mira: The oven door no longer shuts\nso I ordered a hinge\n"
    "[02/03/25, 9:15:42 AM] Tom: \u200eimage omitted\n"
    "[02/03/25, 9:16:00 AM] Tom: \u200e<attached: 0001-PHOTO.jpg>\n"
    "[02/03/25, 12:00:00 AM] Mira: Good <This message was edited>\n"
)
ANDROID = (
    "13/03/2025, 22:03 - Messages are end-to-end encrypted.\n"
    "13/03/2025, 22:03 - Mira: The door shuts: at last\n"
    "13/03/2025, 22:04 - Tom: <Media omitted>\n"
)
AMERICAN = "3/13/25, 10:03 PM - Mira: The door shuts\n3/14/25, 10:04 PM - Tom: Good\n"
MAIL = """From MAILER-DAEMON Sat Mar  1 10:00:00 2025
From: =?utf-8?q?Ada_L=C3=B8?= <ada@acme.example>
Subject: Invoice
Date: Sat, 01 Mar 2025 10:00:00 +0100
Message-ID: <0@acme>
Content-Type: text/plain; charset="utf-8"

The invoice is attached.

From the start it was wrong.
-- \nAda

From MAILER-DAEMON Sun Mar  2 10:00:00 2025
From: bo@acme.example
Subject: Re: Invoice
Date: Sun, 02 Mar 2025 10:00:00 +0100
Message-ID: <1@acme>
Content-Type: text/html; charset="utf-8"

<p>Paid <b>today</b>.<script>alert(1)</script></p>
"""
DIARY = """---
tags: [x]
---
# 1 March 2025
The kiln is hot.
Very hot.

A second paragraph.
## Evening
It cooled.
# 2025-03-02
Glazed the jug.
"""


def slack(folder: Path) -> Path:
    (folder / "general").mkdir(parents=True)
    users = [{"id": "U1", "name": "ada", "real_name": "Ada L"},
             {"id": "U2", "name": "bo", "profile": {"display_name": "Bo"}}]  # fmt: skip
    write(folder / "users.json", users)
    write(folder / "channels.json", [{"id": "C1", "name": "general", "members": ["U1", "U2"]}])
    write(folder / "general" / "2025-03-01.json", [
        {"type": "message", "subtype": "channel_join", "ts": "1740820000.1", "user": "U1", "text": "x"},
        {"type": "message", "ts": "1740820500.000200", "user": "U1", "thread_ts": "1740820500.000200",
         "text": "<@U2> see <https://acme.example/x|the page> &amp; <#C1|general>"},
        {"type": "message", "subtype": "bot_message", "ts": "1740820600.1", "bot_id": "B", "text": "ok"},
    ])  # fmt: skip
    return folder


def write(path: Path, content: Any) -> Path:
    """A file of a text, of bytes, or of JSON."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8", newline="\n")
    return path


def lined(rows: list[Row]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def imported(path: Path, **choices: Any) -> tuple[list[Row], Row]:
    """The lines that an import writes, and its report; the folder is one that can be loaded."""
    folder = path.parent / f"{path.name}-read"
    report = import_to_folder(path, folder, Choices(**choices))
    rows = [json.loads(line) for line in (folder / "events.jsonl").open(encoding="utf-8")]
    data = load("conversations", folder)
    assert sum(len(c.events) for c in data.conversations) == len(rows) == report["messages"]
    assert json.loads((folder / "import.json").read_text(encoding="utf-8")) == report
    return rows, report


def left_out(report: Row) -> dict[str, int]:
    return {each["what"]: each["count"] for each in report["left_out"]}


def short(rows: list[Row]) -> list[tuple[str, str, str]]:
    return [(row["time"][:16], row["speaker"], row["text"]) for row in rows]


def test_of_chatgpt_the_branch_that_was_shown_is_read(tmp_path: Path) -> None:
    rows, report = imported(write(tmp_path / "conversations.json", chatgpt()))
    assert [(r["speaker"], r["text"]) for r in rows] == [
        ("user", "I sold my bicycle."), ("assistant", "Write the frame number."),
        ("user", "Here it is.")]  # fmt: skip
    assert rows[0]["session"] == "Bike [c0ffee00]" and rows[0]["id"] == "c0ffee00-1/u"
    assert rows[2]["attributes"] == {"attachment": ["frame.png"], "role": ["user"]}
    assert left_out(report) == {
        "messages of branches that were edited or made again": 1,
        "instructions of the program to the assistant": 1,
        "calls of tools and what they printed": 2,
        "chats without messages": 1,
    }


def test_a_branch_that_leads_back_to_itself_ends(tmp_path: Path) -> None:
    circle = {"a": node("a", "b", "user", "one"), "b": node("b", "a", "assistant", "two")}
    chats = [{"title": "x", "id": "c", "current_node": "b", "mapping": circle}]
    rows, _ = imported(write(tmp_path / "conversations.json", chats))
    assert sorted(r["text"] for r in rows) == ["one", "two"]


def test_claude_and_the_logs_of_programs_that_write_code(tmp_path: Path) -> None:
    rows, report = imported(write(tmp_path / "conversations.json", CLAUDE))
    assert short(rows) == [("2025-03-02T07:20", "user", "I sold it."),
                           ("2025-03-02T07:20", "assistant", "Nice.")]  # fmt: skip
    assert rows[0]["attributes"]["attachment"] == ["bill.pdf"]
    assert left_out(report) == {"thoughts of the assistant": 1,
                                "calls of tools and what they printed": 1}  # fmt: skip
    rows, report = imported(write(tmp_path / "log.jsonl", lined(CLAUDE_CODE)))
    assert [r["text"] for r in rows] == ["Fix the sail.", "I mend it."]
    assert rows[0]["attributes"] == {"project": ["boat"], "role": ["user"]}
    assert rows[0]["session"] == "s1" and sum(left_out(report).values()) == 4
    rows, report = imported(write(tmp_path / "codex.jsonl", lined(CODEX)))
    assert [(r["speaker"], r["text"], r["session"]) for r in rows] == [
        ("user", "Fix it.", "s9"), ("assistant", "Done.", "s9")]  # fmt: skip
    assert rows[0]["attributes"]["project"] == ["boat"] and sum(left_out(report).values()) == 3


MESSAGES = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hot?"},
            {"role": "assistant", "content": [{"type": "text", "text": "Very."},
                                              {"type": "image_url", "image_url": {}}]}]  # fmt: skip


@pytest.mark.parametrize("form", ["list", "object", "chats", "lists", "lines", "line each"])
def test_lists_of_messages_in_every_form(tmp_path: Path, form: str) -> None:
    given = {"list": MESSAGES, "object": {"id": "x", "messages": MESSAGES},
             "chats": [{"messages": MESSAGES}, {"messages": MESSAGES}],
             "lists": [MESSAGES, MESSAGES],
             "lines": lined([{"messages": MESSAGES}] * 2),
             "line each": lined(MESSAGES)}[form]  # fmt: skip
    rows, report = imported(write(tmp_path / "chat.json", given))
    chats = 2 if form in ("chats", "lists", "lines") else 1
    assert [r["text"] for r in rows] == ["Hot?", "Very."] * chats
    assert len({r["session"] for r in rows}) == chats and all(r["dated"] is False for r in rows)
    assert left_out(report)["instructions of the program to the assistant"] == chats


@pytest.mark.parametrize("field", ["created_at", "timestamp", "time"])
def test_messages_with_times_are_no_rows_of_a_table(tmp_path: Path, field: str) -> None:
    """Else instructions of the program would be told as somebody's words."""
    given = [{**message, field: f"2025-03-01T10:0{n}:00Z"} for n, message in enumerate(MESSAGES)]
    rows, report = imported(write(tmp_path / "chat.json", given))
    assert report["form"] == "messages" and [r["text"] for r in rows] == ["Hot?", "Very."]
    assert [r["time"][:16] for r in rows] == ["2025-03-01T10:01", "2025-03-01T10:02"]
    assert left_out(report)["instructions of the program to the assistant"] == 1
    others = [{**message, "room": "kitchen"} for message in given]
    assert imported(write(tmp_path / "rooms.json", others))[1]["form"] == "records"


def test_slack_has_names_in_place_of_marks(tmp_path: Path) -> None:
    folder = slack(tmp_path / "export")
    rows, report = imported(folder)
    assert short(rows) == [
        ("2025-03-01T09:15", "Ada L", "@Bo see the page (https://acme.example/x) & #general")]  # fmt: skip
    assert rows[0]["conversation"] == "general" and rows[0]["session"].startswith("thread of")
    assert left_out(report)["messages of programs"] == 1


def test_telegram_and_discord(tmp_path: Path) -> None:
    rows, _ = imported(write(tmp_path / "result.json", TELEGRAM))
    assert short(rows) == [("2025-03-01T09:15", "Ines", "see the kiln!"),
                           ("2025-03-01T11:00", "Jo", "[jar.jpg]")]  # fmt: skip
    assert {r["conversation"] for r in rows} == {"Potters"}
    whole = write(tmp_path / "all.json", {"chats": {"about": "x", "list": [TELEGRAM]}})
    assert imported(whole)[0] == rows
    rows, report = imported(write(tmp_path / "kiln.json", DISCORD))
    assert short(rows) == [("2025-03-01T10:00", "Ines", "the kiln is hot")]
    assert rows[0]["conversation"] == "Potters #kiln" and sum(left_out(report).values()) == 2
    rows, _ = imported(write(tmp_path / "own.json", OWN_DISCORD))
    assert short(rows) == [("2025-03-01T10:00", "me", "the kiln is hot")]
    assert rows[0]["attributes"] == {"attachment": ["jar.png"]}


def test_both_forms_of_whatsapp_in_every_order_of_dates(tmp_path: Path) -> None:
    rows, report = imported(write(tmp_path / "WhatsApp Chat with Mira.txt", IPHONE))
    assert short(rows) == [
        ("2025-03-01T22:03", "Mira", "The oven door no longer shuts\nso I ordered a hinge"),
        ("2025-03-02T00:00", "Mira", "Good"), ("2025-03-02T09:16", "Tom", "[0001-PHOTO.jpg]"),
    ]  # fmt: skip
    assert {r["conversation"] for r in rows} == {"Mira"} and "is the day" in report["assumed"][0]
    rows, report = imported(write(tmp_path / "android.txt", ANDROID))
    assert short(rows) == [("2025-03-13T22:03", "Mira", "The door shuts: at last")]
    assert not report["assumed"], "13 can only be a day"
    rows, _ = imported(write(tmp_path / "usa.txt", AMERICAN))
    assert [r["time"][:16] for r in rows] == ["2025-03-13T22:03", "2025-03-14T22:04"]
    zoned = write(tmp_path / "zone.txt", ANDROID)
    rows, _ = imported(zoned, zone=ZoneInfo("America/New_York"))
    assert rows[0]["time"] == "2025-03-13T22:03:00.000-04:00"
    rows, _ = imported(write(tmp_path / "said.txt", IPHONE), dates="month-first")
    assert rows[0]["time"].startswith("2025-01-03")


def test_mail_without_quotes_signatures_and_scripts(tmp_path: Path) -> None:
    rows, _ = imported(write(tmp_path / "mail.mbox", MAIL))
    assert [(r["speaker"], r["text"], r["session"], r["id"]) for r in rows] == [
        ("Ada Lø", "The invoice is attached.\n\nFrom the start it was wrong.", "Invoice", "0@acme"),
        ("bo@acme.example", "Paid today.", "Invoice", "1@acme"),
    ]
    assert rows[0]["time"] == "2025-03-01T10:00:00.000+01:00"


def test_a_diary_is_dated_by_its_headings_or_its_name(tmp_path: Path) -> None:
    rows, _ = imported(write(tmp_path / "diary.md", DIARY))
    assert [(r["time"][:10], r["text"]) for r in rows] == [
        ("2025-03-01", "The kiln is hot.\nVery hot."), ("2025-03-01", "A second paragraph."),
        ("2025-03-01", "It cooled."), ("2025-03-02", "Glazed the jug.")]  # fmt: skip
    rows, _ = imported(write(tmp_path / "2025-03-05.md", "The kiln is hot.\n"))
    assert rows[0]["time"].startswith("2025-03-05T12:00")
    with pytest.raises(HebbariumError, match="without a day"):
        imported(write(tmp_path / "notes.md", "The kiln is hot.\n"))


def test_tables_and_lines_with_named_columns(tmp_path: Path) -> None:
    table = 'date;author;message\n2025-03-01;Ines;hot; very\n2025-03-02;Jo;cold\n\n2025-03-03;Ines;"a\nb"\n'
    rows, report = imported(write(tmp_path / "t.csv", table))
    assert short(rows) == [("2025-03-02T00:00", "Jo", "cold"), ("2025-03-03T00:00", "Ines", "a\nb")]
    assert left_out(report) == {"rows with more or fewer columns": 1}
    odd = write(tmp_path / "odd.csv", "sent,who,body\n1740900000,Ines,hot\n1740900060,Jo,cold\n")
    rows, _ = imported(odd, columns={"time": "sent", "speaker": "who", "text": "body"})
    assert short(rows)[0] == ("2025-03-02T07:20", "Ines", "hot")
    with pytest.raises(HebbariumError, match="no column 'x'"):
        imported(write(tmp_path / "o.csv", "text,who\nhot,Ines\ncold,Jo\n"), columns={"text": "x"})
    with pytest.raises(HebbariumError, match="no column holds a text"):
        imported(write(tmp_path / "p.csv", "colour,size\nred,1\nblue,2\n"))
    records = [{"ts": START, "user": "Ines", "content": "hot", "mood": "glad"}] * 2
    rows, report = imported(write(tmp_path / "rows.jsonl", lined(records)))
    assert short(rows) == [("2025-03-02T07:20", "Ines", "hot")]
    assert left_out(report) == {"messages that the export holds twice": 1}


def test_days_of_a_table_may_have_dots_or_the_year_first(tmp_path: Path) -> None:
    table = (
        "date;who;text\n01.03.2025 10:05;Ines;hot\n2.3.2025;Jo;cold\n2025/03/03 9:00;Ines;warm\n"
    )
    rows, report = imported(write(tmp_path / "t.csv", table))
    assert [row[0] for row in short(rows)] == [
        "2025-03-01T10:05", "2025-03-02T00:00", "2025-03-03T09:00"]  # fmt: skip
    assert report["changed"] == {"times without an offset": 3}


def test_messages_before_the_first_with_a_time_precede_it(tmp_path: Path) -> None:
    told = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c", "timestamp": "2025-03-01T10:00:00Z"},
        {"role": "assistant", "content": "d"},
    ]
    rows, report = imported(write(tmp_path / "m.json", told))
    assert [row["time"][11:16] for row in rows] == ["09:58", "09:59", "10:00", "10:01"]
    assert [row.get("dated", True) for row in rows] == [False, False, True, False]
    assert report["changed"] == {
        "times made up, a minute after the message before": 1,
        "times made up, a minute before the next message": 2,
    }


def test_times_of_chatgpt_may_be_texts(tmp_path: Path) -> None:
    given = chatgpt()
    times = [
        node["message"]
        for chat in given
        for node in chat.get("mapping", {}).values()
        if node.get("message") and node["message"].get("create_time")
    ]
    plain, _ = imported(write(tmp_path / "numbers.json", given))
    for message in times:
        message["create_time"] = datetime.fromtimestamp(message["create_time"], UTC).isoformat()
    rows, _ = imported(write(tmp_path / "texts.json", given))
    assert times and [row["time"] for row in rows] == [row["time"] for row in plain]


def test_a_zip_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps(chatgpt()))
        archive.writestr("user.json", '[{"id": "u", "email": "x", "text": "no message"}]')
        archive.writestr("../../outside.txt", "x")
    rows, report = imported(path)
    assert len(rows) == 3 and left_out(report)["files in another form"] == 2
    assert not (tmp_path.parent / "outside.txt").exists()
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(HebbariumError):
        imported(path)


def test_a_memory_is_told_what_it_does_not_have_yet(tmp_path: Path) -> None:
    path, file = write(tmp_path / "rows.jsonl", ""), tmp_path / "life.db"
    said = [{"time": f"2025-03-0{day}T10:00:00", "speaker": "Ines", "session": "s",
             "text": f"Day {day}."} for day in range(1, 6)]  # fmt: skip

    def told(rows: list[Row]) -> dict[str, int]:
        write(path, lined(rows))
        report = import_to_memory(
            path, lambda: memory("bm25", embedding="hashing:64", path=file, late=10**6), Choices()
        )
        return report["told"]  # type: ignore[no-any-return]

    assert told(said[2:4]) == {"stored": 2}
    assert told(said) == {"known before": 2, "stored": 3}
    assert told(said) == {"known before": 5}
    with memory("bm25", embedding="hashing:64", path=file, late=10**6) as life:
        assert sorted(e.text for e in life.events) == [f"Day {day}." for day in range(1, 6)]
        assert {e.session for e in life.events} == {"s"} and len(life.retrieve("Day")) == 5


# --- hostile --------------------------------------------------------------------------------------
FORMS: dict[str, Any] = {
    "conversations.json": chatgpt(), "claude.json": CLAUDE, "code.jsonl": lined(CLAUDE_CODE),
    "codex.jsonl": lined(CODEX), "telegram.json": TELEGRAM, "discord.json": DISCORD,
    "own.json": OWN_DISCORD, "iphone.txt": IPHONE, "android.txt": ANDROID, "mail.mbox": MAIL,
    "diary.md": DIARY, "messages.json": MESSAGES,
    "table.csv": "time,speaker,text\n2025-03-01,Ines,hot\n2025-03-02,Jo,cold\n",
}  # fmt: skip
each_form = pytest.mark.parametrize("name", FORMS)


def ends_well(path: Path) -> Row | None:
    """The report, or None for an error with a cure that leaves nothing behind."""
    folder = path.parent / "read"
    try:
        return import_to_folder(path, folder, Choices())
    except HebbariumError as error:
        assert error.cure and error.where and not folder.exists(), error
        return None
    finally:
        for file in folder.glob("*"):
            file.unlink()
        if folder.exists():
            folder.rmdir()


@pytest.mark.slow
@each_form
def test_cut_and_broken_files_end_in_a_report_or_an_error(tmp_path: Path, name: str) -> None:
    whole = write(tmp_path / name, FORMS[name]).read_bytes()
    path, random_ = tmp_path / name, random.Random(name)
    assert ends_well(path)
    kept = [ends_well(write(path, whole[: len(whole) * part // 12])) for part in range(12)]
    assert kept[0] is None, "an empty file is an error"
    for _ in range(40):
        broken = bytearray(whole)
        for _ in range(random_.randrange(1, 6)):
            broken[random_.randrange(len(broken))] = random_.randrange(256)
        ends_well(write(path, bytes(broken)))
    for other in (b"\x00" * 100, b"\xff\xfe" + whole.decode().encode("utf-16-le"), b"[" * 100_000,
                  b'{"messages":' * 5_000, b"null", b"[]", b"{}", b"[null, 1, [], {}]"):  # fmt: skip
        ends_well(write(path, other))


def test_values_of_other_types_never_stop_an_import(tmp_path: Path) -> None:
    """Every value of every message, in turn, is of another type."""
    odd: list[Any] = [None, True, -1, 1e300, "", "\u0000\u202e", [], {}, [[1]], {"a": None}]

    def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        if isinstance(value, dict | list):
            keys = list(value) if isinstance(value, dict) else range(len(value))
            return [w for key in keys for w in [(*way, key), *places(value[key], (*way, key))]]
        return []

    path, generator = tmp_path / "conversations.json", random.Random(1)
    for given in (chatgpt(), CLAUDE, TELEGRAM, DISCORD, OWN_DISCORD, MESSAGES, CLAUDE_CODE, CODEX):
        ways = places(given)
        for way in generator.sample(ways, min(25, len(ways))):
            broken = json.loads(json.dumps(given))
            inside = broken
            for key in way[:-1]:
                inside = inside[key]
            inside[way[-1]] = generator.choice(odd)
            lines = lined(broken) if given in (CLAUDE_CODE, CODEX) else broken
            ends_well(write(path, lines))


def test_a_cut_file_says_so_and_keeps_what_is_whole(tmp_path: Path) -> None:
    text = json.dumps([*CLAUDE, {**CLAUDE[0], "uuid": "c-2"}])
    rows, report = imported(write(tmp_path / "conversations.json", text[:-40]))
    assert len(rows) == 2 and left_out(report)[CUT] == 1


def test_times_and_characters_that_cannot_be(tmp_path: Path) -> None:
    said = [("0001-01-01T00:00:00", "a\x00b\x1b[31m"), ("9999-12-31T23:59:59", "\u202etxt"),
            ("never", "<script>alert(1)</script>"), ("2025-03-01T10:00:00", "fine \ud800"),
            ("2025-03-01T10:00:00", " \n\t ")]  # fmt: skip
    rows, report = imported(
        write(
            tmp_path / "rows.jsonl",
            lined([{"time": t, "speaker": "x", "text": s} for t, s in said]),
        )
    )
    assert {r["text"] for r in rows} == {"ab[31m", "txt", "<script>alert(1)</script>", "fine"}
    assert sum(r.get("dated", True) for r in rows) == 1
    assert report["changed"]["times before 1900 or in the future, taken as not known"] == 2
    assert left_out(report) == {"messages without a text": 1}


def test_latin_letters_in_another_encoding_are_replaced_and_counted(tmp_path: Path) -> None:
    text = "time,speaker,text\n2025-03-01,Ines,schön\n2025-03-02,Jo,kalt\n"
    _, report = imported(write(tmp_path / "old.csv", text.encode("latin-1")))
    changed = report["changed"]
    assert changed["texts with characters that are not in the encoding of the file"] == 1


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.md", "# 2025-03-01\nsecret\n")
    folder = tmp_path / "diary"
    folder.mkdir()
    write(folder / "mine.md", DIARY)
    (folder / "link.md").symlink_to(secret)
    rows, _ = imported(folder)
    assert all(r["text"] != "secret" for r in rows)


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    path, folder = write(tmp_path / "conversations.json", CLAUDE), tmp_path / "mine"
    import_to_folder(path, folder, Choices())
    before = (folder / "events.jsonl").read_bytes()
    with pytest.raises(HebbariumError, match="already"):
        import_to_folder(path, folder, Choices())
    assert (folder / "events.jsonl").read_bytes() == before


@pytest.mark.slow
def test_a_long_export_is_read_in_bounded_memory(tmp_path: Path) -> None:
    """A document of 12 MB takes less than 4 MB at a time."""
    path = tmp_path / "result.json"
    with path.open("w", encoding="utf-8") as file:
        file.write('{"name": "Potters", "messages": [')
        for number in range(20_000):
            message = {"id": number, "type": "message", "date": "2025-03-01T10:00:00",
                       "from": "Ines", "from_id": "u", "text": f"{number} " + "hot " * 120}  # fmt: skip
            file.write(("," if number else "") + json.dumps(message))
        file.write("]}")
    size, report = path.stat().st_size, ImportReport()
    assert size > 11_000_000
    tracemalloc.start()
    try:
        with path.open(encoding="utf-8") as text:
            count = sum(1 for _ in items(text, [("messages", ALL)], report, "x"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 20_000 and peak < size / 3 and not report.left_out


@pytest.mark.parametrize("chunk", [1, 2, 7, 64])
def test_items_are_those_of_the_whole_document(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from hebbarium.doors.imports import json_stream

    monkeypatch.setattr(json_stream, "CHUNK", chunk)
    values = [1, -2.5e10, 'a\\"]}', None, [1, [2, {"x": "]"}]], {}, "", 12345, True]
    text = json.dumps({"name": "n", "messages": values, "after": {"deep": [1]}}, indent=1)
    read = []
    for item in items(io.StringIO(text), [("messages", ALL)], ImportReport(), "x"):
        assert item.beside == {"name": "n"}
        read.append(item)
    assert [item.value for item in read] == values
    assert [item.place for item in read] == [(n,) for n in range(len(values))]


Command = Callable[..., tuple[int, str, str]]


def test_from_an_export_to_an_answer_in_two_commands(hebbarium: Command, tmp_path: Path) -> None:
    path = write(tmp_path / "chat.txt", IPHONE)
    file = tmp_path / "life.db"
    code, out, err = hebbarium("import", path, "--to", file, "--set", "bm25", "--embedder",
                               "hashing:64", "--zone", "Europe/Berlin", "--json")  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["told"] == {"stored": 3}
    code, out, _ = hebbarium("memory", file, "ask", "What did Mira order?", "--json")
    assert "hinge" in json.loads(out)["memories"][0]["text"]
    assert json.loads(out)["memories"][0]["time"] == "2025-03-01T22:03:00+01:00"
    code, out, _ = hebbarium("import", path, "--to", tmp_path / "mine")
    assert code == 0 and "attachments without a name" in out and "left out" in out
    for words in (("--zone", "Mars"), ("--columns", "x"), ("--columns", "mood=x")):
        code, out, err = hebbarium("import", path, "--to", tmp_path / "no", *words)
        assert code == 2 and "What to do" in err and not (tmp_path / "no").exists()
    code, _, err = hebbarium("import", tmp_path / "absent", "--to", tmp_path / "no")
    assert code == 2 and "cannot be read" in err


def test_every_form_that_is_recognised_has_a_reader() -> None:
    module = import_module("hebbarium.benchmarks.datasets.recognise")
    kinds = {form.kind for form in vars(module).values() if isinstance(form, module.DataForm)}
    assert kinds - {""} <= set(READERS) and len(kinds) > 10


def test_ids_are_the_same_in_a_later_export(tmp_path: Path) -> None:
    first, _ = imported(write(tmp_path / "a.txt", ANDROID))
    later, _ = imported(write(tmp_path / "b.txt", ANDROID + "14/03/2025, 08:00 - Tom: Good.\n"))
    assert {r["id"] for r in first} < {r["id"] for r in later}
