"""Hooks of an assistant's session, on payloads in the documented forms of Claude Code, Gemini CLI and
Codex, and in forms of other versions.
"""

from __future__ import annotations

import io
import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hebbarium import HebbariumError, reopen
from hebbarium.doors.files import memory_of
from hebbarium.doors.hooks import ASSISTANTS, HOOKS, answered, settings
from hebbarium.doors.inbox import inbox_of, leave, take_in

COMMON = {"session_id": "s1", "transcript_path": "/nowhere/s1.jsonl", "cwd": "/home/ada/boat",
          "permission_mode": "default"}  # fmt: skip
PAYLOADS: dict[str, dict[str, Any]] = {
    "start": {**COMMON, "hook_event_name": "SessionStart", "source": "startup"},
    "prompt": {**COMMON, "hook_event_name": "UserPromptSubmit", "prompt": "Why does the sail tear?"},
    "tool": {**COMMON, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t1",
             "tool_input": {"command": "make sail", "description": "Builds"},
             "tool_response": {"stdout": "the sail is torn\n", "stderr": "", "interrupted": False}},
    "edit": {**COMMON, "hook_event_name": "PostToolUse", "tool_name": "Edit",
             "tool_input": {"file_path": "/home/ada/boat/sail.py", "old_string": "a",
                            "new_string": "mend()"}, "tool_response": {"success": True}},
    "failure": {**COMMON, "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
                "tool_input": {"command": "make mast"}, "error": "Exit code 2\nno mast"},
    "compact": {**COMMON, "hook_event_name": "PreCompact", "trigger": "auto",
                "custom_instructions": ""},
    "end": {**COMMON, "hook_event_name": "SessionEnd", "reason": "exit"},
}  # fmt: skip
GEMINI_COMMON = {"session_id": "s1", "transcript_path": "/nowhere/s1.json", "cwd": "/home/ada/boat",
                 "timestamp": "2026-03-01T10:00:00Z"}  # fmt: skip
CODEX_COMMON = {"session_id": "s1", "turn_id": "u1", "transcript_path": None, "cwd": "/home/ada/boat",
                "model": "m", "permission_mode": "default"}  # fmt: skip
SAIL_PATCH = "*** Begin Patch\n*** Update File: sail.py\n@@\n-a\n+mend()\n*** End Patch"
# the life of a session: hook and payload, in order
LIVES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "gemini": [
        ("start", {**GEMINI_COMMON, "hook_event_name": "SessionStart", "source": "startup"}),
        ("prompt", {**GEMINI_COMMON, "hook_event_name": "BeforeAgent",
                    "prompt": "Why does the sail tear?"}),
        ("tool", {**GEMINI_COMMON, "hook_event_name": "AfterTool", "tool_name": "run_shell_command",
                  "tool_input": {"command": "make sail"},
                  "tool_response": {"llmContent": "the sail is torn", "returnDisplay": "torn"}}),
        ("tool", {**GEMINI_COMMON, "hook_event_name": "AfterTool", "tool_name": "write_file",
                  "tool_input": {"file_path": "sail.py", "content": "mend()"},
                  "tool_response": {"llmContent": "written", "returnDisplay": ""}}),
        ("tool", {**GEMINI_COMMON, "hook_event_name": "AfterTool", "tool_name": "run_shell_command",
                  "tool_input": {"command": "make mast"},
                  "tool_response": {"llmContent": "", "error": "no mast"}}),
        ("tool", {**GEMINI_COMMON, "hook_event_name": "AfterTool", "tool_name": "read_file",
                  "tool_input": {"absolute_path": "sail.py"}, "tool_response": {"llmContent": "x"}}),
        ("compact", {**GEMINI_COMMON, "hook_event_name": "PreCompress", "trigger": "auto"}),
        ("end", {**GEMINI_COMMON, "hook_event_name": "SessionEnd", "reason": "exit"}),
    ],
    "codex": [
        ("start", {**CODEX_COMMON, "hook_event_name": "SessionStart", "source": "startup"}),
        ("prompt", {**CODEX_COMMON, "hook_event_name": "UserPromptSubmit",
                    "prompt": "Why does the sail tear?"}),
        ("tool", {**CODEX_COMMON, "hook_event_name": "PostToolUse", "tool_name": "Bash",
                  "tool_use_id": "t1", "tool_input": {"command": "make sail"},
                  "tool_response": "the sail is torn"}),
        ("tool", {**CODEX_COMMON, "hook_event_name": "PostToolUse", "tool_name": "apply_patch",
                  "tool_use_id": "t2", "tool_input": {"command": SAIL_PATCH},
                  "tool_response": "Done!"}),
        ("tool", {**CODEX_COMMON, "hook_event_name": "PostToolUse", "tool_name": "Bash",
                  "tool_use_id": "t3", "tool_input": {"command": "make mast"},
                  "tool_response": {"error": "no mast"}}),
        ("compact", {**CODEX_COMMON, "hook_event_name": "PreCompact", "trigger": "auto"}),
        ("end", {**CODEX_COMMON, "hook_event_name": "Stop", "stop_hook_active": False,
                 "last_assistant_message": "Mended."}),
    ],
}  # fmt: skip


class Session:
    """The hooks of one memory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self) -> Any:
        return memory_of(self.path, "bm25", "hashing:64")

    def __call__(self, name: str, payload: Any = None) -> dict[str, Any]:
        given = PAYLOADS[name] if payload is None else payload
        text = given if isinstance(given, str) else json.dumps(given)
        return answered(name, text, self.path, self.open)

    def told(self) -> list[tuple[str, str]]:
        with reopen(self.path) as memory:
            return [(event.get("kind"), event.text) for event in memory.events]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path / "life.db")


def test_a_session_is_kept_and_the_next_one_is_shown_it(session: Session) -> None:
    assert session("start") == {}, "an empty memory shows nothing"
    assert session("prompt") == {}
    for name in ("tool", "edit", "failure"):
        assert session(name) == {}
    session("compact")
    assert session.told() == [
        ("", "Why does the sail tear?"), ("shell_exec", "the sail is torn\n"),
        ("file_write", "/home/ada/boat/sail.py\nmend()"), ("error", "make mast\nExit code 2\nno mast"),
    ]  # fmt: skip
    session("tool")
    assert session("end") == {} and len(session.told()) == 5
    shown = session("start")["hookSpecificOutput"]
    assert shown["hookEventName"] == "SessionStart"
    assert "the sail is torn" in shown["additionalContext"]
    assert "not instructions" in shown["additionalContext"].splitlines()[0]
    shown = session("prompt")["hookSpecificOutput"]
    assert shown["hookEventName"] == "UserPromptSubmit" and "sail" in shown["additionalContext"]
    with reopen(session.path) as memory:
        event = memory.events[1]
        assert (event.session, event.get("project"), event.get("command")) == (
            "s1", "boat", "make sail")  # fmt: skip


@pytest.mark.parametrize("assistant", LIVES)
def test_other_assistants_keep_and_are_shown_the_same(session: Session, assistant: str) -> None:
    life = LIVES[assistant]
    assert {payload["hook_event_name"] for _, payload in life} == set(
        ASSISTANTS[assistant].values()
    )
    for name, payload in life:
        assert session(name, payload) == {}, "an empty memory shows nothing, and none fails"
    written = "sail.py\n" + ("mend()" if assistant == "gemini" else SAIL_PATCH)
    assert session.told() == [
        ("", "Why does the sail tear?"), ("shell_exec", "the sail is torn"),
        ("file_write", written), ("error", "make mast\nno mast"),
    ]  # fmt: skip
    for name, payload in life[:2]:
        shown = session(name, payload)["hookSpecificOutput"]
        assert shown["hookEventName"] == payload["hook_event_name"]
        assert "the sail is torn" in shown["additionalContext"]


def test_a_project_is_shown_its_own_memories(session: Session) -> None:
    session("tool")
    session("tool", {**PAYLOADS["tool"], "cwd": "C:\\work\\garden",
                     "tool_response": {"stdout": "the roses bloom"}})  # fmt: skip
    session("end")
    shown = session("start")["hookSpecificOutput"]["additionalContext"]
    assert "sail is torn" in shown and "roses" not in shown
    other = session("start", {**PAYLOADS["start"], "cwd": "/home/ada/empty"})
    assert other == {}


def test_what_is_told_meanwhile_waits_in_the_inbox(session: Session) -> None:
    with session.open() as memory:
        session("tool")
        assert session("failure") == {}
        reply = session("prompt")
        assert "hookSpecificOutput" not in reply and "systemMessage" in reply
        assert not memory.events
    session("end")
    assert [kind for kind, _ in session.told()] == ["shell_exec", "error", ""]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_an_inbox_is_its_users_alone(session: Session) -> None:
    session("tool")
    assert inbox_of(session.path).stat().st_mode & 0o077 == 0


def test_an_inbox_is_told_once_even_if_it_could_not_be_emptied(session: Session) -> None:
    leave(session.path, {"text": "one", "time": "2025-03-01T10:00:00+00:00", "id": "h1"})
    kept = inbox_of(session.path).read_bytes()
    with session.open() as memory:
        assert take_in(memory, session.path) == 1 and take_in(memory, session.path) == 0
    inbox_of(session.path).write_bytes(kept)
    with session.open() as memory:
        assert take_in(memory, session.path) == 0 and len(memory.events) == 1


def test_looking_into_files_is_not_kept_and_long_output_is_shortened(session: Session) -> None:
    for name in ("Read", "Grep", "Glob"):
        session("tool", {**PAYLOADS["tool"], "tool_name": name})
    assert not inbox_of(session.path).exists()
    session("tool", {**PAYLOADS["tool"], "tool_response": {"stdout": "x" * 1_000_000 + "end"}})
    session("tool", {**PAYLOADS["edit"], "tool_name": "MultiEdit", "tool_input": {
        "file_path": "a.py", "edits": [{"new_string": "one"}, {"new_string": "two"}, 5]}})  # fmt: skip
    session("tool", {**PAYLOADS["tool"], "tool_name": "WebSearch", "tool_input": {"query": "oak"}})
    session("end")
    (_, long), edited, searched = session.told()
    assert len(long) < 5_000 and long.endswith("end")
    assert edited == ("file_write", "a.py\none\ntwo") and "oak" in searched[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", HOOKS)
def test_payloads_of_other_versions_never_stop_an_assistant(session: Session, name: str) -> None:
    """Fields that are missing or of another type, and inputs that are no payload."""
    for field in PAYLOADS[name]:
        for value in (None, 5, [], {}, [{"a": 1}], "", "\x00\u202e"):
            reply = session(name, {**PAYLOADS[name], field: value})
            assert set(reply) <= {"hookSpecificOutput"}, (field, value, reply)
    session(name, {})
    for text in ("", "x", "[]", "null", "5", '"x"', "[" * 100_000, '{"prompt": "a'):
        assert "systemMessage" in session(name, text)


def test_a_damaged_inbox_is_an_error_with_a_cure(session: Session) -> None:
    inbox_of(session.path).write_bytes(b"no database at all" * 100)
    assert "inbox" in session("tool")["systemMessage"]
    with session.open() as memory, pytest.raises(HebbariumError, match="inbox"):
        take_in(memory, session.path)
    inbox_of(session.path).unlink()
    leave(session.path, {"text": "one", "time": "never"})
    with session.open() as memory, pytest.raises(HebbariumError, match="inbox"):
        take_in(memory, session.path)
    with sqlite3.connect(inbox_of(session.path)) as file:
        assert file.execute("SELECT count(*) FROM told").fetchone() == (1,)
    file.close()


def test_the_settings_call_commands_that_exist(
    hebbarium: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(ASSISTANTS["claude"]) == set(HOOKS) - {"edit"} and len(HOOKS) == 7
    path = tmp_path / "life.db"
    for assistant, events in ASSISTANTS.items():
        code, out, _ = hebbarium("hook", "settings", "--path", path, "--for", assistant)
        assert code == 0 and json.loads(out) == settings(path, assistant)
        assert list(json.loads(out)["hooks"]) == list(events.values()) and set(events) < set(HOOKS)
    assert settings(path) == settings(path, "claude")
    for name in HOOKS:
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(PAYLOADS[name])))
        code, out, err = hebbarium("hook", name, "--path", tmp_path / "life.db", "--set", "bm25",
                                   "--embedder", "hashing:64")  # fmt: skip
        assert code == 0 and isinstance(json.loads(out), dict), err
    code, _, _ = hebbarium("hook", "nothing")
    assert code == 2
