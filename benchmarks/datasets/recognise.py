"""What a file or folder seems to be, by its first bytes: for errors that say what was given, and
how its messages become events.
"""

from __future__ import annotations

import csv
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from ...reporting.text import plural

HEAD: Final = 65_536  # bytes of a file that are read
LISTED: Final = 1_000  # entries of a folder that are looked at
TRIED: Final = 20  # files of a folder that are looked into
DEEPEST: Final = 12  # levels of JSON that are looked at
OWN_DATA: Final = "conversations"
EVENTS, QUESTIONS, DESCRIPTION = "events.jsonl", "questions.jsonl", "dataset.yaml"

EXAMPLE: Final = """
    {"conversation": "kitchen", "id": "k1", "time": "2024-05-01T18:02:00", "speaker": "Mira", "text": "The oven door no longer shuts."}
    {"conversation": "kitchen", "id": "k2", "time": "2024-05-01T18:03:00", "speaker": "Tom", "text": "Then let us eat cold tonight."}
  """
OWN_FORM: Final = (
    f"{EVENTS} has one JSON object a line with `conversation`, `id` and `text`, and where they are known `time`, `speaker` and "
    f"`session`, such as{EXAMPLE}docs/guides/data.md describes it"
)


@dataclass(frozen=True, slots=True)
class DataForm:
    """What a file or folder seems to be.

    name     with its article, such as "an export of ChatGPT"
    dataset  name of the data set whose files look like this; "" if none do
    fields   (field there, field of an event) of each that has a place in an event; () for what
             holds no messages
    before   what has to be done before the messages can be written as events; "" for nothing
    kind     name by which `hebbarium import` reads it; "" for what it does not read
    """

    name: str
    dataset: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    before: str = ""
    kind: str = ""

    def cure(self) -> str:
        """How it can be used: the data set to name, or how its messages become events."""
        if self.kind and not self.dataset and all(ours != "text" for _, ours in self.fields):
            return f"no field seems to hold the text of a message; give the one that does the name `text`: {OWN_FORM}"
        if self.kind and not self.dataset:
            fields = ", ".join(f"{theirs} is {ours}" for theirs, ours in self.fields)
            return (
                f"`hebbarium import PATH --to FOLDER` writes it as events ({fields}); by hand: "
                f"{OWN_FORM}"
            )
        steps = [self.before] if self.before else []
        if self.dataset and not (self.before and self.dataset == OWN_DATA):
            return "; ".join(
                [*steps, f"use --dataset {self.dataset}, in Python load({self.dataset!r}, path)"]
            )
        if self.fields:
            mapped = ", ".join(f"{theirs} is {ours}" for theirs, ours in self.fields)
            steps.append(
                f"write each message as a line of {EVENTS}, in a folder of its own: {mapped}"
            )
        return "; ".join([*steps, OWN_FORM])


def _fields(table: str) -> tuple[tuple[str, str], ...]:
    """Fields of a form, from 'field there = field of an event; ...'."""
    pairs = (pair.rpartition(" = ") for pair in table.split("; "))
    return tuple((theirs, ours) for theirs, _, ours in pairs)


BROKEN_JSON: Final = DataForm(
    "JSON that breaks off or has an error",
    before="export it again, or correct it until a JSON reader takes it",
)
EMPTY: Final = DataForm("an empty file", before="give a file with messages")


def recognise(path: Path) -> DataForm | None:
    """What a file or folder seems to be; None if nothing is known of it, or if it cannot be read.

    Cost: the first 64 kB of a file and its size; of a folder the names of at most 1,000 entries,
    and as much of at most 20 files.
    """
    try:
        return _of_folder(path) if path.is_dir() else _of_file(path) if path.is_file() else None
    except (OSError, ValueError):  # not readable, or no path
        return None


# --- folders --------------------------------------------------------------------------------------
KINDS: Final = {**dict.fromkeys((".jpg", ".jpeg", ".png", ".gif", ".heic", ".webp", ".tif", ".tiff",
                                 ".bmp", ".svg", ".raw"), "pictures"),
                **dict.fromkeys((".mp3", ".m4a", ".wav", ".ogg", ".opus", ".flac", ".aac"),
                                "sounds"),
                **dict.fromkeys((".mp4", ".mov", ".avi", ".mkv", ".webm"), "films")}  # fmt: skip
READABLE: Final = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".mbox", ".eml", ".zip",
                   ".gz", "")  # fmt: skip
WRITE_OUT: Final = "describe them in words"


def _of_folder(folder: Path) -> DataForm:
    entries = sorted(islice(folder.iterdir(), LISTED))
    names, files = (
        {entry.name for entry in entries},
        [entry for entry in entries if entry.is_file()],
    )
    if EVENTS in names:
        form = _of_file(folder / EVENTS)
        if form is None or form.dataset == OWN_DATA or form.name.startswith("lines of JSON"):
            return DataForm("a folder of your own conversations", OWN_DATA)
        return replace(form, name=f"{form.name}, under the name {EVENTS}")
    if names & {QUESTIONS, DESCRIPTION}:
        return DataForm(f"a folder of your own conversations without {EVENTS}", OWN_DATA)
    if not entries:
        return DataForm("an empty folder")
    if _chats(folder, entries):
        return DataForm("a folder of BEAM's chats", "beam")
    if {"manifest.json", "rows.jsonl"} <= names:
        return DataForm("a run of Hebbarium", before="give the data that it measured")
    if {"channels.json", "users.json"} <= names:
        return replace(
            SLACK,
            name="an export of Slack",
            before=f"{SLACK.before}, and take the names of users from users.json",
        )
    if {"cur", "new", "tmp"} <= names:
        return replace(MAIL, name="a folder of mail (Maildir)")
    for file in islice((file for file in files if file.suffix.lower() in READABLE), TRIED):
        if (form := _of_file(file)) and (form.fields or form.dataset) and form != TEXT:
            return replace(form, name=f"a folder with {file.name}, {form.name}")
    kinds = Counter(KINDS.get(entry.suffix.lower(), "") for entry in files)
    for kind, count in kinds.most_common(1):
        if kind and 2 * count > len(files):
            return DataForm(
                f"a folder of {kind} ({count} of {len(files)} files)",
                before=f"an event is a text: {WRITE_OUT}",
            )
    suffixes = Counter(file.suffix or "no suffix" for file in files)
    listed = ", ".join(f"{count} {suffix}" for suffix, count in suffixes.most_common(3))
    folders = len(entries) - len(files)
    return DataForm(
        f"a folder of {plural(len(files), 'file')}{f' ({listed})' if listed else ''} and {plural(folders, 'folder')}"
    )


def _chats(folder: Path, entries: Sequence[Path]) -> bool:
    """Whether a folder is one of BEAM's chats, one of its scales, or all of them."""
    level = [folder]
    for _ in range(3):
        for subfolder in level:
            if (subfolder / "chat.json").is_file() and (
                (subfolder / "probing_questions").is_dir()
                or _dataset(subfolder / "chat.json") == "beam"
            ):
                return True
        below = chain.from_iterable(
            entries if subfolder == folder else sorted(islice(subfolder.iterdir(), LISTED))
            for subfolder in level
        )
        level = list(islice((entry for entry in below if entry.is_dir()), TRIED))
    return False


def _dataset(file: Path) -> str:
    form = _of_file(file)
    return form.dataset if form else ""


# --- files ----------------------------------------------------------------------------------------
UNPACK: Final = "unpack it"
EXPORT_TEXT: Final = "export its text"
SIGNATURES: Final = (       # place, first bytes, name, what to do first
    (0, b"%PDF", "a PDF", EXPORT_TEXT), (0, b"\x89PNG", "a picture (PNG)", WRITE_OUT), (0,
    b"\xff\xd8\xff", "a picture (JPEG)", WRITE_OUT),
    (0, b"GIF8", "a picture (GIF)", WRITE_OUT), (8, b"WEBP", "a picture (WebP)", WRITE_OUT), (8,
    b"WAVE", "a sound (WAV)", "transcribe it"),
    (0, b"OggS", "a sound (Ogg)", "transcribe it"), (0, b"ID3", "a sound (MP3)", "transcribe it"),
    (4, b"ftyp", "a film (MP4)", "transcribe it"),
    (0, b"BZh", "a compressed file (bzip2)", UNPACK), (0, b"\xfd7zXZ\x00", "a compressed file (xz)",
    UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "a compressed file (zstd)", UNPACK), (0, b"7z\xbc\xaf\x27\x1c",
    "an archive (7z)", UNPACK),
    (0, b"Rar!", "an archive (RAR)", UNPACK), (257, b"ustar", "an archive (tar)", UNPACK),
    (0, b"PAR1", "a table (Parquet)", "write it as JSON Lines"), (0, b"ARROW1", "a table (Arrow)",
    "write it as JSON Lines"),
    (0, b"!BDN", "a mailbox of Outlook (PST)", "export its mails as text"),
    (0, b"\xd0\xcf\x11\xe0", "an old file of Microsoft Office", EXPORT_TEXT), (0, b"{\\rtf",
    "a document (RTF)", EXPORT_TEXT),
    (0, b"bplist", "a property list", EXPORT_TEXT), (0, b"\x93NUMPY", "an array (NumPy)", ""), (0,
    b"\x89HDF", "an array (HDF5)", ""))  # fmt: skip
SQLITE: Final = b"SQLite format 3\x00"
# bytes 68 to 72 of an SQLite file
APPLICATIONS: Final = {b"HebS": "a memory of Hebbarium", b"HebT": "a transcript of Hebbarium"}


def _of_file(file: Path) -> DataForm | None:
    with file.open("rb") as opened:
        head = opened.read(HEAD)
        whole = not opened.read(1)
    return recognise_bytes(head, whole)


def recognise_bytes(head: bytes, whole: bool) -> DataForm | None:
    """What a file seems to be, by its first bytes; whole: whether they are all of it."""
    if whole and not head.removeprefix(b"\xef\xbb\xbf").strip():
        return EMPTY
    if head.startswith(b"\x1f\x8b"):
        return _of_gzip(head)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _of_zip(head)
    if head.startswith(SQLITE):
        return _of_sqlite(head)
    for place, mark, name, before in SIGNATURES:
        if head[place : place + len(mark)] == mark:
            return DataForm(name, before=before)
    encoding = _encoding(head)
    if encoding.startswith("utf-16") or encoding.startswith("utf-32"):
        return _to_save(
            _of_text(head.decode(encoding, "ignore").removeprefix("\ufeff"), whole),
            f"in {encoding[:6].upper()}",
        )
    if b"\x00" in head:
        return DataForm("a file of bytes that are no text")
    text = head.decode("utf-8-sig", "replace")
    if _broken(text, whole):
        return _to_save(_of_text(head.decode("latin-1"), whole), "not in UTF-8")
    return _of_text(text, whole)


def _to_save(form: DataForm | None, encoding: str) -> DataForm:
    """A form in an encoding that nothing here reads."""
    saved = form or DataForm("a text")
    return replace(
        saved,
        name=f"{saved.name}, {encoding}",
        before="; ".join(filter(None, ("save it as UTF-8", saved.before))),
    )


def _broken(text: str, whole: bool) -> bool:
    """Whether a text that was decoded as UTF-8 is none; its last character may be cut."""
    return "\ufffd" in (text if whole else text[:-4])


def _encoding(head: bytes) -> str:
    """By the byte order mark, else by where the bytes are 0, as they are in every other place of
    Latin letters in UTF-16.
    """
    for mark, name in (
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if head.startswith(mark):
            return name
    some = head[:2_048]
    even, odd = some[::2].count(0), some[1::2].count(0)
    if (
        len(some) >= 8
        and max(even, odd) > 0.3 * len(some) / 2
        and min(even, odd) < 0.05 * len(some)
    ):
        return "utf-16-le" if odd > even else "utf-16-be"
    return ""


def _of_gzip(head: bytes) -> DataForm:
    try:
        inner = zlib.decompressobj(31).decompress(head, HEAD)
        form = recognise_bytes(inner, False) if inner else None
    except zlib.error:
        form = None
    if form is None:
        return DataForm("a compressed file (gzip)", before=UNPACK)
    return replace(
        form,
        name=f"a compressed file (gzip), of {form.name}",
        before="; ".join(filter(None, (UNPACK, form.before))),
    )


def _of_zip(head: bytes) -> DataForm:
    first = _member(head)
    if first in ("[Content_Types].xml", "_rels/.rels"):
        return DataForm("a document of an office program", before=EXPORT_TEXT)
    if first == "mimetype":
        return DataForm("a document (OpenDocument or EPUB)", before=EXPORT_TEXT)
    return DataForm(
        f"a zip archive{f', whose first file is {first}' if first else ''}",
        before=f"{UNPACK}, and give what is in it",
    )


def _member(head: bytes) -> str:
    """Name of the first file of a zip archive, from its local header."""
    return (
        head[30 : 30 + int.from_bytes(head[26:28], "little")].decode("utf-8", "replace")
        if head.startswith(b"PK\x03\x04")
        else ""
    )


def _of_sqlite(head: bytes) -> DataForm:
    name = APPLICATIONS.get(head[68:72])
    if name == APPLICATIONS[b"HebS"]:
        return DataForm(
            name,
            before="open it in Python with hebbarium.memory(path=...), which asks it and goes on with it",
        )
    return DataForm(
        name or "a database (SQLite)",
        before="select its messages from their table, as rows with a text, a time and a speaker",
    )


# --- texts ----------------------------------------------------------------------------------------
WHATSAPP_DATE: Final = r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?[ \u202f]\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ \u202f\xa0]?[AaPp]\.?[ ]?[Mm]\.?)?"
WHATSAPP: Final = re.compile(
    rf"^[\u200e\u200f]?(?:\[{WHATSAPP_DATE}\] |{WHATSAPP_DATE} - )", re.MULTILINE
)
MAIL_HEADER: Final = re.compile(
    r"^(?:From|To|Subject|Date|Received|Return-Path|Message-ID|MIME-Version|Delivered-To|Content-Type): ",
    re.MULTILINE | re.IGNORECASE,
)
COLUMN: Final = re.compile(r"[^\W\d][\w .\-/]{0,39}")  # the name of a column
SPOKEN: Final = re.compile(r"^(?!https?:)[^\s:{}\[\]\"<>][^:{}\[\]\"<>\n]{0,39}: \S", re.MULTILINE)

MAIL: Final = DataForm(
    "mails (mbox)",
    kind="mail",
    fields=_fields(
        "the thread, by `Subject` or `In-Reply-To`, = conversation; `Message-ID` = id; `Date`, as ISO 8601, = time; `From` = speaker; "
        "the body without what it quotes = text"
    ),
)
CHAT_LINES: Final = DataForm(
    "a chat of WhatsApp",
    kind="whatsapp",
    fields=_fields(
        "the name of the chat = conversation; a number of your own = id; the date before each message, as ISO 8601, = time; "
        "the name before the colon = speaker; the rest, with the lines up to the next date, = text"
    ),
)
SUBTITLES: Final = DataForm(
    "subtitles",
    fields=_fields(
        "the name of the recording = conversation; the number of a subtitle = id; its start, after that of the recording, = time; the words = text"
    ),
)
SPEAKER_LINES: Final = DataForm(
    "a text of lines `speaker: text`",
    fields=_fields(
        "the name of the text = conversation; the number of the line = id; the name before the colon = speaker; the rest = text"
    ),
)
TEXT: Final = DataForm(
    "a plain text",
    fields=_fields(
        "the name of the text = conversation; the number of a paragraph = id; a paragraph = text"
    ),
)


def _of_text(text: str, whole: bool) -> DataForm | None:
    text = text.lstrip()
    start = text[:512].lower()
    if start.startswith(("{", "[")) and not WHATSAPP.match(text) and (json_like := _of_json(text)):
        return json_like
    if start[:1] in ("{", "[") and _is_json(text):
        return None  # a list or an object without fields
    if (
        whole
        and start[:1] in ("{", "[")
        and not WHATSAPP.match(text)
        and start[1:].strip(" \n\t")[:1] in ("", '"', "{")
    ):
        return BROKEN_JSON
    if start.startswith(("<!doctype html", "<html")) or (
        start.startswith("<") and ("<html" in start or "<body" in start)
    ):
        return DataForm(
            "a page (HTML)",
            before="export the same as JSON, where the program offers it, or take the text out of the page",
        )
    if start.startswith(("<?xml", "<")):
        return DataForm("XML", before="take its messages out")
    if WHATSAPP.match(text):
        return CHAT_LINES
    if text.startswith("From ") and MAIL_HEADER.search(text[:4_096]):
        return MAIL
    if len(MAIL_HEADER.findall(text[:4_096].split("\n\n")[0])) >= 2:
        return replace(MAIL, name="a mail")
    if start.startswith("webvtt") or re.match(r"1\s+\d\d:\d\d:\d\d,\d{3} --> ", text):
        return SUBTITLES
    if start.startswith("begin:v"):
        return DataForm(
            "a calendar or an address book",
            before="take out what should be remembered, each as a text",
        )
    return _of_table(text, whole) or (SPEAKER_LINES if _mostly(SPOKEN, text) else TEXT)


def _mostly(pattern: re.Pattern[str], text: str) -> bool:
    lines = [line for line in text.splitlines()[:200] if line.strip()]
    return len(lines) > 1 and 2 * sum(bool(pattern.match(line)) for line in lines) > len(lines)


def _of_table(text: str, whole: bool) -> DataForm | None:
    """A table whose first line names its columns; None for a text that is none."""
    lines = text.splitlines()
    if not whole and len(lines) > 1:
        lines.pop()
    for delimiter, name in (
        (",", "CSV"),
        ("\t", "TSV"),
        (";", "CSV, with semicolons"),
        ("|", "CSV, with bars"),
    ):
        try:
            rows = list(islice(csv.reader(lines, delimiter=delimiter, strict=True), 20))
        except csv.Error:
            continue
        heads = [head.strip() for head in rows[0]] if rows else []
        even = (
            len(heads) > 1 and len(rows) > 1 and all(len(row) == len(heads) for row in rows if row)
        )
        if even and all(map(COLUMN.fullmatch, heads)):
            return DataForm(
                f"a table ({name}) with the columns {_listed(heads)}",
                fields=_mapped(dict(zip(heads, rows[1], strict=True))),
                kind="table",
            )
    return None


# --- JSON -----------------------------------------------------------------------------------------
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:"]', re.DOTALL)
SLACK: Final = DataForm(
    "a day of a channel of Slack",
    kind="slack",
    before="read the days of a channel in order, and no `subtype`",
    fields=_fields(
        "the channel = conversation; `ts` = id; `ts` / 3600 = time; the name of `user` = speaker; `thread_ts` = session; `text` = text"
    ),
)
OPENAI: Final = DataForm(
    "messages as OpenAI's interface takes them",
    kind="messages",
    fields=_fields(
        "the name of the chat = conversation; the place in the list = id; `role` = speaker; `content` = text"
    ),
)
CHATGPT: Final = DataForm(
    "an export of ChatGPT",
    kind="chatgpt",
    before="follow `parent` from `current_node`, which gives the branch that was shown",
    fields=_fields(
        "`title` = conversation; `message.id` = id; `message.create_time` / 3600 = time; `message.author.role` = speaker; "
        "what `message.content.parts` holds = text"
    ),
)
CLAUDE: Final = DataForm(
    "an export of Claude",
    kind="claude",
    fields=_fields(
        "`name` or `uuid` of the chat = conversation; `uuid` = id; `created_at` = time; `sender` = speaker; `text` = text"
    ),
)
TELEGRAM: Final = DataForm(
    "an export of Telegram",
    kind="telegram",
    fields=_fields(
        "`name` of the chat = conversation; `id` = id; `date` = time; `from` = speaker; `text`, whose parts are joined, = text"
    ),
)
DISCORD: Final = DataForm(
    "an export of Discord",
    kind="discord",
    fields=_fields(
        "`channel.name` = conversation; `id` = id; `timestamp` = time; `author.name` = speaker; `content` = text"
    ),
)
OWN_DISCORD: Final = DataForm(
    "a channel of Discord's own export",
    kind="own_discord",
    fields=_fields(
        "the channel = conversation; `ID` = id; `Timestamp` = time; yourself = speaker; `Contents` = text"
    ),
)
CLAUDE_CODE: Final = DataForm(
    "a log of Claude Code",
    kind="claude_code",
    fields=_fields(
        "`sessionId` = session; `uuid` = id; `timestamp` = time; `message.role` = speaker; the texts of `message.content` = text"
    ),
)
CODEX: Final = DataForm(
    "a log of Codex",
    kind="codex",
    fields=_fields(
        "`id` of the first line = session; the number of the line = id; `timestamp` = time; `role` = speaker; the texts of `content` = text"
    ),
)
MESSENGER: Final = DataForm(
    "an export of Messenger or Instagram",
    fields=_fields(
        "`title` = conversation; the place in the list = id; `timestamp_ms` / 3600000 = time; `sender_name` = speaker; `content` = text"
    ),
)
GOOGLE_CHAT: Final = DataForm(
    "an export of Google Chat",
    fields=_fields(
        "the folder = conversation; `message_id` = id; `created_date`, as ISO 8601, = time; `creator.name` = speaker; `text` = text"
    ),
)
MATRIX: Final = DataForm(
    "an export of Matrix",
    fields=_fields(
        "`room_name` = conversation; `event_id` = id; `origin_server_ts` / 3600000 = time; `sender` = speaker; `content.body` = text"
    ),
)
SHARE_GPT: Final = DataForm(
    "conversations in the form of ShareGPT",
    fields=_fields(
        "`id`, or the place in the list, = conversation; a number of your own = id; `from` = speaker; `value` = text"
    ),
)
# a form, and sets of fields of which one must be there whole
JSON_FORMS: Final[tuple[tuple[DataForm, tuple[tuple[str, ...], ...]], ...]] = (
    (CHATGPT, (("[].mapping",), (".mapping", ".current_node"))),
    (CLAUDE, (("[].chat_messages",), (".chat_messages",))),
    (DataForm("LoCoMo's file", "locomo"), (("[].sample_id",), ("[].qa", "[].conversation"))),
    (DataForm("LongMemEval's file", "longmemeval"), (("[].haystack_sessions",), ("[].haystack_dates",),
                                                 ("[].haystack_session_ids",))),
    (DataForm("a chat of BEAM", "beam"), (("[].turns", "[].batch_number"), ("[].turns",
    "[].time_anchor"), ("[].turns[][].role",), ("[].plan-1",),
                                      (".plan-1",), ("[].time_anchor", "[].role"))),
    (DataForm("an audit of LoCoMo", "locomo-corrected"), (("[].error_type", "[].correct_evidence"),)),
    (DataForm("MADial-Bench's dialogues", "madial"), ((".relevant-id", ".test-turn"),)),
    (DataForm("MemDaily's file", "memdaily"), ((".simple.roles[].message_list",),
                                           (".simple.events[].message_list",))),
    (DataForm("PrecisionMemBench's beliefs", "precisionmembench"), (("[]._id", "[].canonical_name",
                                                                 "[].epistemic_status"),)),
    (DataForm("PrecisionMemBench's cases", "precisionmembench"), (("[].caseId", "[].expect"),
                                                               ("[].caseId", "[].turns"))),
    (TELEGRAM, ((".messages[].from_id",), (".messages[].date_unixtime",), (".chats.list[].messages",
    ), (".messages[].from", ".messages[].date"))),
    (DISCORD, ((".guild", ".channel"), (".messages[].author.name", ".messages[].timestamp"))),
    (CLAUDE_CODE, ((".sessionId", ".message.role"), (".sessionId", ".message.content"))),
    (CODEX, ((".payload.type", ".timestamp"), (".instructions", ".role", ".content[].text"))),
    (OWN_DISCORD, (("[].Timestamp", "[].Contents"),)),
    (MESSENGER, ((".messages[].sender_name",),)),
    (GOOGLE_CHAT, ((".messages[].creator",),)),
    (MATRIX, ((".messages[].origin_server_ts",), ("[].origin_server_ts",))),
    (SLACK, (("[].ts", "[].type"), ("[].ts", "[].user"))),
    (SHARE_GPT, (("[].conversations[].value",), (".conversations[].value",))),
    (OPENAI, ((".messages[].role", ".messages[].content"), ("[].messages[].role",
    "[].messages[].content"), ("[][].role", "[][].content"))),
)  # fmt: skip
# field of an event -> names that others use, the likeliest first
SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    "conversation": ("conversation", "conversation_id", "conversationid", "chat_id", "chat",
                     "channel", "channel_id", "room", "dialog_id",
                     "dialogue_id"),
    "id": ("id", "uuid", "message_id", "messageid", "msg_id", "event_id", "_id"),
    "time": ("time", "timestamp", "ts", "datetime", "date", "created_at", "createdat", "created",
             "create_time", "sent_at", "sent", "timestamp_ms",
             "when"),
    "speaker": ("speaker", "role", "author", "sender", "from", "user", "username", "user_name",
                "name", "sender_name", "nick", "who"),
    "session": ("session", "session_id", "thread", "thread_id", "thread_ts"),
    "text": ("text", "content", "message", "body", "msg", "utterance", "value", "contents", "said"),
}  # fmt: skip


def _of_json(text: str) -> DataForm | None:
    """A file that begins like JSON; None for one that has no fields in its first part."""
    paths = _paths(text)
    for form, ways in JSON_FORMS:
        if any(all(path in paths for path in way) for way in ways):
            return form
    first, lines = _first(text)
    if first is None:  # the first item is longer than what was read, or this is no JSON
        first = {
            path.removeprefix(top): ""
            for top in ("[].", ".")
            for path in sorted(paths)
            if re.fullmatch(rf"{re.escape(top)}[^.\[]+", path)
        }
        lines = False
        if len(text) < HEAD // 4:
            return None
    if not first:
        return None
    if set(first) >= OWN_FIELDS and lines:
        return DataForm(
            "events in the form of your own conversations",
            OWN_DATA,
            before=f"name the file {EVENTS}, and give its folder",
        )
    fields = _mapped(first)
    if {"role", "content"} <= set(first):
        if "time" not in dict(fields).values():
            return OPENAI
        if set(first) <= TIMED_MESSAGE and first["role"] in ROLES_OF_MESSAGES:
            return replace(OPENAI, fields=fields)
    kind = (
        "lines of JSON"
        if lines
        else "a list of objects in JSON"
        if text.startswith("[")
        else "an object in JSON"
    )
    return DataForm(
        f"{kind} with the fields {_listed(first)}",
        fields=fields,
        kind="records" if lines or text.startswith("[") else "",
    )


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


# of a message of an interface to which a program has added its time
TIMED_MESSAGE: Final = frozenset({"role", "content", "id", "name", "type", "tool_calls",
                                  "tool_call_id", "created_at", "timestamp", "time"})  # fmt: skip
ROLES_OF_MESSAGES: Final = ("system", "developer", "user", "assistant", "tool")
OWN_FIELDS: Final = frozenset({"conversation", "id", "text"})


def _first(text: str) -> tuple[Mapping[str, Any] | None, bool]:
    """The first object of lines or of a list, or the object itself, and whether it stands in
    lines.
    """
    lines = text.startswith("{")
    start = 0 if lines else 1 + len(text[1:]) - len(text[1:].lstrip())
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, lines
    if not isinstance(value, dict):
        return None, lines
    return value, lines and "\n" not in text[:end] and (
        not text[end:].strip() or text[end:].lstrip().startswith("{")
    )


def field_map(fields: Iterable[str]) -> str:
    """How fields with other names become fields of an event, as a sentence; "" if none is known.

    >>> field_map(["role", "content", "mood"])
    '`role` is speaker, `content` is text'
    """
    return ", ".join(
        f"{theirs} is {ours}"
        for theirs, ours in _mapped(dict.fromkeys(fields, ""))
        if theirs != f"`{ours}`"
    )


def _mapped(record: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """(field there, field of an event), by the names and the first values; the text stands last."""
    plain = {name.casefold().replace(" ", "_").replace("-", "_"): name for name in record}
    pairs: list[tuple[str, str]] = []
    taken = set[str]()
    for ours, names in SYNONYMS.items():
        if theirs := next(
            (plain[name] for name in names if name in plain and plain[name] not in taken), None
        ):
            taken.add(theirs)
            pairs.append((f"`{theirs}`{_divided(record[theirs]) if ours == 'time' else ''}", ours))
    return tuple(pairs)


def _divided(value: object) -> str:
    """How a number becomes hours since 1970; "" for what is no number, or hours already."""
    try:
        number = float(str(value))
    except ValueError:
        return ""
    return " / 3600000" if number > 1e11 else " / 3600" if number > 2e7 else ""


def _paths(text: str) -> set[str]:
    """The fields in the first part of a JSON document, or of lines of it, as paths: `[].role` is
    a field of the items of a list.
    """
    paths, stack, key, expects = set[str](), list[tuple[str, str]](), "", False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == '"':
            break  # a text that goes on after the first part
        if token[0] == '"':
            if expects and stack:
                key = f"{stack[-1][1]}.{token[1:-1]}"
                paths.add(key)
                expects = False
        elif token in "[{":
            if len(stack) > DEEPEST:
                break  # no messages lie so deep
            inside = "" if not stack else f"{key}" if stack[-1][0] == "{" else f"{stack[-1][1]}"
            stack.append((token, f"{inside}[]" if token == "[" else inside))
            expects = token == "{"
        elif token in "]}":
            if stack:
                stack.pop()
            expects = False
        elif token == ",":
            expects = bool(stack) and stack[-1][0] == "{"
    return paths


def _listed(names: Iterable[str], most: int = 8) -> str:
    some = [f"`{name[:40]}`" for name in islice(names, most + 1)]
    return ", ".join(some[:most]) + (" ..." if len(some) > most else "")
