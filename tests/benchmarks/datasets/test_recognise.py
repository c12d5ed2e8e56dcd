"""What a file or folder seems to be: files that were composed after the formats' own
descriptions, errors that name the form, and bounded reading.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import mailbox
import sqlite3
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.benchmarks.datasets import load, official_form
from hebbarium.benchmarks.datasets.recognise import HEAD, field_map, recognise
from hebbarium.engine.base.errors import DataError

BENCHMARKS = ("locomo", "beam", "longmemeval")
CHAT_GPT = [
    {
        "title": "Paint",
        "create_time": 1.7e9,
        "current_node": "b",
        "mapping": {
            "a": {"id": "a", "message": None, "parent": None, "children": ["b"]},
            "b": {
                "id": "b",
                "parent": "a",
                "children": [],
                "message": {
                    "id": "b",
                    "author": {"role": "user"},
                    "create_time": 1.7e9,
                    "content": {"content_type": "text", "parts": ["Which paint dries fast?"]},
                },
            },
        },
    }
]
CLAUDE = [
    {
        "uuid": "c",
        "name": "Paint",
        "created_at": "2025-01-02T10:00:00Z",
        "chat_messages": [
            {
                "uuid": "m",
                "text": "Which paint dries fast?",
                "sender": "human",
                "created_at": "2025-01-02T10:00:01Z",
            }
        ],
    }
]
SLACK = [{"type": "message", "ts": "1735812000.000100", "user": "U7", "text": "the kiln is hot"}]
TELEGRAM = {"name": "Potters", "type": "private_group", "id": 7, "messages": [
    {"id": 1, "type": "message", "date": "2025-01-02T10:00:00", "from": "Ines", "from_id": "user7",
     "text": "the kiln is hot"}]}  # fmt: skip
DISCORD = {
    "guild": {"id": "1", "name": "Potters"},
    "channel": {"id": "2", "name": "kiln"},
    "messages": [
        {
            "id": "3",
            "timestamp": "2025-01-02T10:00:00+00:00",
            "content": "the kiln is hot",
            "author": {"id": "4", "name": "ines"},
        }
    ],
}
MESSENGER = {
    "participants": [{"name": "Ines"}],
    "messages": [{"sender_name": "Ines", "timestamp_ms": 1735812000000, "content": "hot"}],
}
OPENAI = [
    {"role": "user", "content": "The kiln is hot."},
    {"role": "assistant", "content": "Let it cool."},
]
SHARE = [{"id": "x", "conversations": [{"from": "human", "value": "The kiln is hot."}]}]
LOCOMO = [{"sample_id": "conv-1", "conversation": {"session_1": []}, "qa": []}]
LONGMEMEVAL = [
    {
        "question_id": "q",
        "question": "?",
        "haystack_dates": [],
        "haystack_session_ids": [],
        "haystack_sessions": [],
    }
]
BEAM = [
    {
        "batch_number": 1,
        "time_anchor": "March-15-2024",
        "turns": [[{"role": "user", "id": 0, "content": "Hi."}]],
    }
]
LINES = [
    {"role": "user", "content": "The kiln is hot.", "ts": 1735812000, "mood": "glad"},
    {"role": "user", "content": "Now it is cold.", "ts": 1735815600},
]
ANDROID = "02/01/2025, 10:00 - Messages are end-to-end encrypted.\n02/01/2025, 10:01 - Ines: the kiln is hot\nand the shelf, too\n"
IPHONE = "\u200e[02.01.25, 10:01:07] Ines: the kiln is hot\n[02.01.25, 10:02:00] Jo: good\n"
AMERICAN = "1/2/25, 10:01\u202fPM - Ines: the kiln is hot\n1/2/25, 10:02\u202fPM - Jo: good\n"


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def lined(rows: list[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def table(delimiter: str) -> bytes:
    out = io.StringIO()
    rows = [
        ("date", "author", "message"),
        ("2025-01-02", "Ines", "hot, very hot"),
        ("2025-01-03", "Jo", 'so "cold"'),
    ]
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue().encode()


def zipped(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, "x")
    return out.getvalue()


CONTENT, ROLE, TEXT = ("`content`", "text"), ("`role`", "speaker"), ("`text`", "text")
FILES: dict[str, tuple[bytes, str, str, tuple[tuple[str, str], ...]]] = {
    # what it holds, words of its name, its data set, pairs (field there, field of an event) that
    # must be named
    "chatgpt": (dumped(CHAT_GPT), "ChatGPT", "", (("`message.author.role`", "speaker"),)),
    "claude": (dumped(CLAUDE), "Claude", "", (("`sender`", "speaker"), TEXT)),
    "slack": (dumped(SLACK), "Slack", "", (("`ts` / 3600", "time"), TEXT)),
    "telegram": (dumped(TELEGRAM), "Telegram", "", (("`from`", "speaker"),)),
    "discord": (dumped(DISCORD), "Discord", "", (CONTENT,)),
    "messenger": (
        dumped(MESSENGER),
        "Messenger",
        "",
        (("`timestamp_ms` / 3600000", "time"), CONTENT),
    ),
    "openai": (dumped(OPENAI), "OpenAI", "", (ROLE, CONTENT)),
    "finetuning": (lined([{"messages": OPENAI}]), "OpenAI", "", (ROLE, CONTENT)),
    "sharegpt": (dumped(SHARE), "ShareGPT", "", (("`value`", "text"),)),
    "locomo": (dumped(LOCOMO), "LoCoMo", "locomo", ()),
    "longmemeval": (dumped(LONGMEMEVAL), "LongMemEval", "longmemeval", ()),
    "beam": (dumped(BEAM), "BEAM", "beam", ()),
    "lines": (
        lined(LINES),
        "lines of JSON with the fields `role`, `content`, `ts`, `mood`",
        "",
        (ROLE, CONTENT, ("`ts` / 3600", "time")),
    ),
    "own lines": (
        lined([{"conversation": "a", "id": "1", "text": "x"}]),
        "your own",
        "conversations",
        (),
    ),
    "milliseconds": (
        lined([{"timestamp": 1735812000000, "Body": "hot"}]),
        "JSON",
        "",
        (("`timestamp` / 3600000", "time"), ("`Body`", "text")),
    ),
    "csv": (
        table(","),
        "CSV",
        "",
        (("`date`", "time"), ("`author`", "speaker"), ("`message`", "text")),
    ),
    "tsv": (table("\t"), "TSV", "", (("`message`", "text"),)),
    "semicolons": (table(";"), "semicolons", "", (("`message`", "text"),)),
    "android": (ANDROID.encode(), "WhatsApp", "", ()),
    "iphone": (IPHONE.encode(), "WhatsApp", "", ()),
    "american": (AMERICAN.encode(), "WhatsApp", "", ()),
    "mark": (b"\xef\xbb\xbf" + lined(LINES), "lines of JSON", "", (CONTENT,)),
    "utf-16": (ANDROID.encode("utf-16"), "WhatsApp, in UTF-16", "", ()),
    "utf-16 without mark": (
        dumped(CLAUDE).decode().encode("utf-16-le"),
        "Claude, in UTF-16",
        "",
        (),
    ),
    "utf-32": (ANDROID.encode("utf-32"), "WhatsApp, in UTF-32", "", ()),
    "latin": ("Café: geöffnet\nJo: schön\n".encode("latin-1"), "not in UTF-8", "", ()),
    "gzip": (gzip.compress(lined(LINES)), "gzip), of lines of JSON", "", (CONTENT,)),
    "zip": (
        zipped("conversations.json"),
        "zip archive, whose first file is conversations.json",
        "",
        (),
    ),
    "office": (zipped("[Content_Types].xml"), "office", "", ()),
    "html": (b"<!DOCTYPE html>\n<html><body>hot</body></html>", "HTML", "", ()),
    "xml": (b"<?xml version='1.0'?><smses count='1'/>", "XML", "", ()),
    "pdf": (b"%PDF-1.7\n\x00", "PDF", "", ()),
    "png": (b"\x89PNG\r\n\x1a\n\x00", "PNG", "", ()),
    "subtitles": (b"WEBVTT\n\n00:01.000 --> 00:04.000\nhot\n", "subtitles", "", ()),
    "speakers": (b"Ines: the kiln is hot\nJo: good\n", "`speaker: text`", "", ()),
    "text": (b"The kiln is hot.\n\nLet it cool.\n", "plain text", "", ()),
    "empty": (b" \n", "empty file", "", ()),
    "bytes": (bytes(range(256)), "no text", "", ()),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_known_by_its_content_whatever_its_name(tmp_path: Path, kind: str) -> None:
    content, words, dataset, fields = FILES[kind]
    (tmp_path / "given").write_bytes(content)
    found = recognise(tmp_path / "given")
    assert found is not None and words in found.name and found.dataset == dataset
    assert set(fields) <= set(found.fields)


@pytest.mark.parametrize(
    "kind", [kind for kind, (_, _, dataset, _) in FILES.items() if dataset not in BENCHMARKS]
)
def test_what_no_benchmark_is_gets_no_name_of_one_and_is_told_how_to_become_events(
    tmp_path: Path, kind: str
) -> None:
    (tmp_path / "given").write_bytes(FILES[kind][0])
    for refused in (
        lambda: load("conversations", tmp_path / "given"),
        lambda: official_form(tmp_path / "given"),
    ):
        with pytest.raises(DataError) as caught:
            refused()
        said = f"{caught.value.what} {caught.value.cure}".replace(str(tmp_path), "").casefold()
        assert (
            FILES[kind][1].casefold() in said
            and "events.jsonl" in said
            and '"conversation": "kitchen"' in said
        )
        assert not any(name in said for name in BENCHMARKS) and "download" not in said
        assert all(f"{theirs} is {ours}".casefold() in said for theirs, ours in FILES[kind][3])


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmarks_file_given_as_ones_own_names_the_option(tmp_path: Path, name: str) -> None:
    (tmp_path / "chat.json").write_bytes(FILES[name][0])
    for path in (tmp_path / "chat.json", tmp_path):
        assert official_form(path) == name
        with pytest.raises(DataError) as caught:
            load("conversations", path)
        assert f"--dataset {name}" in caught.value.cure and "it seems to be" in caught.value.what


def test_a_benchmark_that_is_asked_for_says_what_was_given_instead(tmp_path: Path) -> None:
    (tmp_path / "conversations.json").write_bytes(dumped(CLAUDE))
    for name in ("locomo", "longmemeval"):
        with pytest.raises(DataError, match="it seems to be an export of Claude") as caught:
            load(name, tmp_path / "conversations.json")
        assert "`sender` is speaker" in caught.value.cure and "download" not in caught.value.cure
    (tmp_path / "cut.json").write_bytes(dumped(LOCOMO)[:40])
    with pytest.raises(DataError, match="not JSON") as caught:
        load("locomo", tmp_path / "cut.json")
    assert "cut-off download" in caught.value.cure


def mbox(folder: Path) -> None:
    box = mailbox.mbox(folder / "mail")
    message = EmailMessage()
    message["From"], message["To"], message["Subject"], message["Date"] = (
        "a@x.example",
        "b@x.example",
        "Kiln",
        "Thu, 02 Jan 2025 10:00:00 +0100",
    )
    message.set_content("It is hot.")
    box.add(message)
    box.close()


def database(folder: Path) -> None:
    with sqlite3.connect(folder / "chat.db") as connection:
        connection.execute("CREATE TABLE messages (text)")
    connection.close()


def pictures(folder: Path) -> None:
    for n in range(3):
        (folder / f"IMG_{n}.JPG").write_bytes(b"\xff\xd8\xff\x00")


def slack(folder: Path) -> None:
    for name in ("channels.json", "users.json"):
        (folder / name).write_text("[]")
    (folder / "kiln").mkdir()


def table_in_place(folder: Path) -> None:
    (folder / "events.jsonl").write_bytes(table(","))


def maildir(folder: Path) -> None:
    mailbox.Maildir(folder / "in").close()
    for part in (folder / "in").iterdir():
        part.rename(folder / part.name)
    (folder / "in").rmdir()


@pytest.mark.parametrize(("make", "words"), [
    (mbox, "a folder with mail, mails (mbox)"), (database,
                                                 "a folder of 1 file (1 .db) and 0 folders"),
    (pictures, "a folder of pictures (3 of 3 files)"),
    (slack, "an export of Slack"), (table_in_place, "CSV"), (maildir, "Maildir"),
    (lambda folder: None, "an empty folder"),
    (lambda folder: (folder / "chat.txt").write_text(ANDROID),
     "a folder with chat.txt, a chat of WhatsApp")])  # fmt: skip
def test_a_folder_is_known_by_what_it_holds(
    tmp_path: Path, make: Callable[[Path], None], words: str
) -> None:
    make(tmp_path)
    found = recognise(tmp_path)
    assert found is not None and words in found.name
    with pytest.raises(DataError) as caught:
        load("conversations", tmp_path)
    assert words in caught.value.what and not any(
        name in f"{caught.value}".replace(str(tmp_path), "").casefold() for name in BENCHMARKS
    )


def test_a_database_and_a_memory_are_told_apart(tmp_path: Path) -> None:
    import hebbarium as hb

    database(tmp_path)
    with hb.memory("minimal", embedding="hashing:16", path=tmp_path / "own.db") as memory:
        memory.encode(hb.Event(1.0, "The kiln is hot."))
    first, second = recognise(tmp_path / "chat.db"), recognise(tmp_path / "own.db")
    assert (
        first
        and second
        and (first.name, second.name) == ("a database (SQLite)", "a memory of Hebbarium")
        and "hebbarium.memory" in second.cure()
    )


@pytest.mark.parametrize(
    "kind", ["chatgpt", "claude", "telegram", "locomo", "lines", "csv", "android"]
)
def test_only_the_first_part_of_a_file_is_read(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = FILES[kind][0]
    long = (
        content[:-1] + b"," + b"\n".join([b'{"more": "' + b"x" * 9_000 + b'"}'] * 200)
        if content.startswith(b"[")
        else content + content * 2_000
    )
    (tmp_path / "given").write_bytes(long)
    taken = list[int]()
    original = Path.open
    monkeypatch.setattr(
        Path, "open", lambda self, *arguments: Counting(original(self, *arguments), taken)
    )
    found = recognise(tmp_path / "given")
    assert (
        found is not None
        and FILES[kind][1].split(" with")[0] in found.name
        and sum(taken) <= HEAD + 1 < len(long)
    )


class Counting:
    """A file that notes how much is read."""

    def __init__(self, file: Any, taken: list[int]) -> None:
        self._file, self._taken = file, taken

    def __enter__(self) -> Counting:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int) -> bytes:
        found: bytes = self._file.read(size)
        self._taken.append(len(found))
        return found


@given(
    st.one_of(
        st.binary(max_size=300),
        st.text(alphabet='[]{}":,\\ \nax1é\x00', max_size=300).map(str.encode),
        st.sampled_from(sorted(FILES)).flatmap(
            lambda kind: st.integers(0, len(FILES[kind][0])).map(lambda n: FILES[kind][0][:n])
        ),
    )
)
def test_nothing_that_a_file_holds_makes_it_fail(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any"
    file.write_bytes(content)
    found = recognise(file)
    assert found is None or (found.name and found.cure())


@pytest.mark.parametrize("content", [b"[" * HEAD, b'{"a":' * 13_000, b'"' * HEAD,
                                     b'["' + b"\\" * HEAD, b"\xff\xfe" * 9, b"," * HEAD,
                                     b"a:" * HEAD])  # fmt: skip
def test_hostile_beginnings_hold_no_messages(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "given").write_bytes(content)
    found = recognise(tmp_path / "given")
    assert (
        found is None
        or not (found.dataset or found.fields)
        or found.name.startswith("a plain text")
    )


def test_what_cannot_be_read_is_nothing_known(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert (
        recognise(tmp_path / "nowhere") is None
        and recognise(tmp_path / "loop") is None
        and recognise(Path("a\0b")) is None
    )


def test_fields_with_other_names_are_mapped() -> None:
    assert field_map(["Content", "created_at", "id"]) == "`created_at` is time, `Content` is text"


@pytest.mark.parametrize(
    ("text", "name", "cure"),
    [
        ("{", "JSON that breaks off", "export it again"),
        ('{"', "JSON that breaks off", "export it again"),
        ('{"a": 1}', "the fields `a`", "no field seems to hold the text"),
        ('[{"role": "user"}]', "the fields `role`", "no field seems to hold the text"),
        ("{smile} hello there", "a plain text", "paragraph"),
        ("[note] we met", "a plain text", "paragraph"),
    ],
)
def test_broken_json_and_json_without_a_text_are_named(
    tmp_path: Path, text: str, name: str, cure: str
) -> None:
    (tmp_path / "given.json").write_text(text, encoding="utf-8")
    form = recognise(tmp_path / "given.json")
    assert form is not None and name in form.name and cure in form.cure()
    assert "writes it as events" not in form.cure()
