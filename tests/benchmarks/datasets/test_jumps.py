"""Jumps of time in a data file: a note for more than a year, an error with line and cure for more than a century."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.datasets.base import Conversation, Question, assemble
from hebbarium.benchmarks.datasets.conversations import load_conversations
from hebbarium.engine.errors import DataError
from hebbarium.engine.records import Event


def folder(path: Path, times: list[Any], asked: str | None = None) -> Path:
    """A conversation of events at these times, in the order of the lines."""
    events = [{"conversation": "c", "id": f"e{i}", "text": f"text {i}", "time": time} for i, time in enumerate(times)]
    question = {"conversation": "c", "id": "q", "text": "What?", "gold": ["e0"], **({"time": asked} if asked else {})}
    (path / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in events), encoding="utf-8")
    (path / "questions.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")
    (path / "dataset.yaml").write_text("name: mine\n", encoding="utf-8")
    return path


def test_a_session_of_the_year_9999_is_refused_with_line_and_cure(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        load_conversations(folder(tmp_path, ["2024-05-01T12:00", "9999-05-02T12:00", "2024-05-03T12:00"]))
    assert "line 2: time jumps by 7975 years, from event 'e2' (line 3) to 'e1'" in caught.value.what
    assert "events.jsonl" in caught.value.where and "correct the time" in caught.value.cure


def test_a_year_of_three_digits_is_refused_too(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="time jumps by 1822 years"):
        load_conversations(folder(tmp_path, ["0202-05-01T12:00", "2024-05-02T12:00"]))


def test_a_question_of_the_year_9999_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="years after the last event") as caught:
        load_conversations(folder(tmp_path, ["2024-05-01T12:00"], "9999-01-01T00:00"))
    assert "line 1" in caught.value.what


@pytest.mark.parametrize(("times", "jumps"), [(["2024-05-01T12:00", "2025-04-30T12:00"], 0), (["2024-05-01T12:00", "2025-05-03T12:00"], 1),
                                              (["1930-05-01T12:00", "2024-05-01T12:00", "2026-05-01T12:00"], 2)])
def test_a_jump_of_more_than_a_year_is_a_note(tmp_path: Path, times: list[str], jumps: int) -> None:
    data = load_conversations(folder(tmp_path, times))
    assert data.notes.get("jumps_over_a_year", 0) == jumps and ("jumps_over_a_year" in data.notes) == bool(jumps)


def test_every_data_set_is_checked() -> None:
    events = (Event(0.0, "a", id="e0"), Event(9e6, "b", id="e1"))
    with pytest.raises(DataError, match="time jumps by 1027 years"):
        assemble("x", "0", [Conversation("c", events, (Question("q", "?", 9e6, "all", ("e0",)),))], {}, "file")
