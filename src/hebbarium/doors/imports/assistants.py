"""Chats with assistants: exports of ChatGPT and Claude, logs of Claude Code and Codex, and the
lists of messages that the interfaces of OpenAI and Anthropic take.

All chats of an export become one conversation, each chat a session of it: they are one life.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from .json_stream import ALL, items, lines
from .messages import Choices, ImportReport, Message
from .source import Export
from .values import as_dict, as_list, from_iso, from_seconds, text_of

MessagesOf = Callable[[Mapping[str, Any], ImportReport, str], Iterator[Message]]  # of one chat
ROLES = {"human": "user", "user": "user", "assistant": "assistant", "ai": "assistant"}
BRANCHES = "messages of branches that were edited or made again"
SYSTEM = "instructions of the program to the assistant"
TOOLS = "calls of tools and what they printed"
THOUGHTS = "thoughts of the assistant"
ODD = "messages in a form that is not known"


def chatgpt(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """conversations.json: of each chat the branch that was shown last."""
    return _of_chats(source, names, report, _of_chatgpt)


def _of_chats(
    source: Export, names: Sequence[str], report: ImportReport, messages_of: MessagesOf
) -> Iterator[Message]:
    """The messages of each chat of files that hold a list of chats, one chat at a time."""
    for name in names:
        with source.text(name) as file:
            for item in items(file, ((ALL,), ()), report, name):
                yield from messages_of(as_dict(item.value), report, name)


def _of_chatgpt(chat: Mapping[str, Any], report: ImportReport, where: str) -> Iterator[Message]:
    mapping = as_dict(chat.get("mapping"))
    key = text_of(chat.get("conversation_id") or chat.get("id"))
    title = text_of(chat.get("title")) or "chat"
    where = f"{where}, {title[:40]!r}"
    shown = _branch(mapping, text_of(chat.get("current_node")))
    if not mapping:
        report.leave_out("chats without messages", where)
    for id, node in mapping.items():
        if id not in shown and _texts(as_dict(as_dict(node).get("message")))[0]:
            report.leave_out(BRANCHES, f"{where}, {id}")
    said = 0
    for id in shown:
        message = as_dict(as_dict(mapping[id]).get("message"))
        role = text_of(as_dict(message.get("author")).get("role"))
        text, attachments = _texts(message)
        place = f"{where}, {id}"
        if not message:
            continue
        hidden = as_dict(message.get("metadata")).get("is_visually_hidden_from_conversation")
        content = as_dict(message.get("content"))
        kind = text_of(content.get("content_type"))
        if role == "system" or hidden or kind == "user_editable_context":
            if text:
                report.leave_out(SYSTEM, place)
            continue
        if role == "tool" or text_of(message.get("recipient")) not in ("", "all"):
            report.leave_out(TOOLS, place)
            continue
        if kind in ("thoughts", "reasoning_recap"):
            report.leave_out(THOUGHTS, place)
            continue
        if role not in ROLES:
            report.leave_out(ODD, place)
            continue
        said += 1
        yield Message(
            text,
            from_seconds(message.get("create_time")) or from_iso(message.get("create_time")),
            ROLES[role],
            "chatgpt",
            _session(title, key),
            f"{key}/{id}",
            attachments,
            (("role", ROLES[role]),),
            place,
        )
    if mapping and not said:
        report.leave_out("chats without messages", where)


def _session(title: str, key: str) -> str:
    """A name of a chat that no other has: many are called "New chat"."""
    return f"{title} [{key[:8]}]" if key else title


def _branch(mapping: Mapping[str, Any], current: str) -> list[str]:
    """The nodes from the root to the current one; without one, to the last one of the file."""
    at, way = current if current in mapping else next(reversed(list(mapping)), ""), list[str]()
    known = set[str]()
    while at in mapping and at not in known:
        known.add(at)
        way.append(at)
        at = text_of(as_dict(mapping[at]).get("parent"))
    return way[::-1]


def _texts(message: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Text of a message of ChatGPT, and names of what is attached."""
    content = as_dict(message.get("content"))
    texts, attached = [text_of(content.get("text"))], list[str]()
    for part in as_list(content.get("parts")):
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and part.get("text"):
            texts.append(text_of(part["text"]))
        elif isinstance(part, dict):
            attached.append(text_of(part.get("content_type")).partition("_")[0] or "attachment")
    given = as_list(as_dict(message.get("metadata")).get("attachments"))
    named = [text_of(as_dict(attachment).get("name")) for attachment in given]
    return "\n".join(filter(None, texts)), tuple(filter(None, named)) or tuple(attached)


def claude(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """conversations.json of Claude."""
    return _of_chats(source, names, report, _of_claude)


def _of_claude(chat: Mapping[str, Any], report: ImportReport, where: str) -> Iterator[Message]:
    key, title = text_of(chat.get("uuid")), text_of(chat.get("name")) or "chat"
    told = as_list(chat.get("chat_messages"))
    if not told:
        report.leave_out("chats without messages", f"{where}, {title[:40]!r}")
    for number, given in enumerate(told):
        message = as_dict(given)
        id = text_of(message.get("uuid")) or str(number)
        place, role = f"{where}, {title[:40]!r}, {id}", text_of(message.get("sender"))
        if role not in ROLES:
            report.leave_out(ODD, place)
            continue
        blocks = said(message.get("content"), report, place)
        files = [*as_list(message.get("attachments")), *as_list(message.get("files"))]
        names = (text_of(as_dict(file).get("file_name")) or "attachment" for file in files)
        yield Message(
            blocks or text_of(message.get("text")),
            from_iso(message.get("created_at")),
            ROLES[role],
            "claude",
            _session(title, key),
            f"{key}/{id}",
            tuple(names),
            (("role", ROLES[role]),),
            place,
        )


def said(content: Any, report: ImportReport, where: str) -> str:
    """What a message says in words: a text, or the blocks of text of a list; other blocks are
    counted in the report.
    """
    if isinstance(content, str):
        return content
    texts = list[str]()
    for block in as_list(content):
        kind = text_of(as_dict(block).get("type"))
        if isinstance(block, str):
            texts.append(block)
        elif kind in ("text", "input_text", "output_text", ""):
            texts.append(text_of(as_dict(block).get("text")))
        elif "think" in kind or "reasoning" in kind:
            report.leave_out(THOUGHTS, where)
        elif "tool" in kind or "function" in kind:
            report.leave_out(TOOLS, where)
        else:
            report.leave_out("pictures, sounds and files inside a message", where)
    return "\n".join(filter(None, texts))


def interface_messages(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """Lists of messages with `role` and `content`, in one document or in JSON Lines."""
    for name in names:
        with source.text(name) as file:
            if is_lines(source, name):
                for number, record in lines(file, report, name):
                    yield from _of_record(record, name, number, report)
                continue
            for item in items(file, (("messages", ALL), (ALL, ALL), (ALL,)), report, name):
                chat = text_of(item.beside.get("id")) or name
                key = f"{chat}, chat {item.place[0] + 1}" if len(item.place) > 1 else chat
                if "messages" in as_dict(item.value):
                    yield from _of_record(item.value, name, item.place[0] + 1, report)
                else:
                    yield from _of_interface(item.value, key, item.place[-1], report)


def _of_record(
    record: Mapping[str, Any], name: str, number: int, report: ImportReport
) -> Iterator[Message]:
    """The messages of one chat among several, or the one message of a line."""
    if "messages" not in record:
        yield from _of_interface(record, name, number, report)
        return
    key = text_of(record.get("id")) or f"{name}, chat {number}"
    for place, message in enumerate(as_list(record.get("messages"))):
        yield from _of_interface(message, key, place, report)


def is_lines(source: Export, name: str) -> bool:
    """Whether a file holds one object a line."""
    head, _ = source.head(name)
    first, _, rest = head.partition(b"\n")
    return first.strip().startswith(b"{") and rest.lstrip().startswith(b"{")


def _of_interface(given: Any, key: str, number: int, report: ImportReport) -> Iterator[Message]:
    message, place = as_dict(given), f"{key}, message {number}"
    role = text_of(message.get("role"))
    if role in ("system", "developer"):
        report.leave_out(SYSTEM, place)
    elif role in ("tool", "function"):
        report.leave_out(TOOLS, place)
    elif role not in ROLES:
        report.leave_out(ODD, place)
    else:
        if message.get("tool_calls"):
            report.leave_out(TOOLS, place)
        time = message.get("created_at", message.get("timestamp", message.get("time")))
        text = said(message.get("content"), report, place)
        if text or not message.get("tool_calls"):
            yield Message(text, from_iso(time) or from_seconds(time), ROLES[role], "messages", key,
                          text_of(message.get("id")) or f"{key}/{number}",
                          attributes=(("role", ROLES[role]),), where=place)  # fmt: skip


def claude_code(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """Session logs of Claude Code: what the person and the assistant said."""
    for name in names:
        with source.text(name) as file:
            for number, line in lines(file, report, name):
                place = f"{name}, line {number}"
                kind, message = text_of(line.get("type")), as_dict(line.get("message"))
                if kind not in ROLES:
                    report.leave_out("notes of the program to itself", place)
                elif line.get("isSidechain"):
                    report.leave_out("messages of helpers of the assistant", place)
                elif line.get("isMeta"):
                    report.leave_out(SYSTEM, place)
                elif text := said(message.get("content"), report, place):
                    yield _coded(
                        text, ROLES[kind], line.get("timestamp"), text_of(line.get("sessionId")),
                        text_of(line.get("uuid")), text_of(line.get("cwd")), "claude code", place
                    )  # fmt: skip


def codex(
    source: Export, names: Sequence[str], report: ImportReport, choices: Choices
) -> Iterator[Message]:
    """Session logs of Codex: what the person and the assistant said."""
    for name in names:
        session, folder = name, ""
        with source.text(name) as file:
            for number, line in lines(file, report, name):
                place, payload = f"{name}, line {number}", as_dict(line.get("payload")) or line
                if line.get("type") == "session_meta" or "instructions" in line:
                    session = text_of(payload.get("id")) or session
                    folder = text_of(payload.get("cwd"))
                    continue
                role = text_of(payload.get("role"))
                if payload.get("type") != "message":
                    kind = text_of(payload.get("type"))
                    report.leave_out(
                        THOUGHTS if "reasoning" in kind
                        else TOOLS if "call" in kind
                        else "notes of the program to itself", place
                    )  # fmt: skip
                elif role not in ROLES:
                    report.leave_out(SYSTEM, place)
                elif text := said(payload.get("content"), report, place):
                    if text.lstrip().startswith(("<environment_context", "<user_instructions")):
                        report.leave_out(SYSTEM, place)
                    else:
                        yield _coded(text, ROLES[role], line.get("timestamp"), session,
                                     f"{session}/{number}", folder, "codex", place)  # fmt: skip


def _coded(
    text: str, role: str, time: Any, session: str, id: str, folder: str, program: str, where: str
) -> Message:
    """A message of a session with a program that writes code; the name of the project's folder is
    an attribute.
    """
    project = folder.replace("\\", "/").rstrip("/").rpartition("/")[2]
    at: datetime | None = from_iso(time)
    return Message(
        text, at, role, program, session, id,
        attributes=(("role", role), ("project", project)), where=where
    )  # fmt: skip
