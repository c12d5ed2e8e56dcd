"""Jumps of time in a data file: a note for more than a year, an error with line and cure for
more than a century.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.datasets import load, official_form
from hebbarium.benchmarks.datasets.base import Conversation, Question, assemble
from hebbarium.benchmarks.datasets.conversations import load_conversations
from hebbarium.engine.base.errors import DataError
from hebbarium.engine.contract.records import Event


def folder(path: Path, times: list[Any], asked: str | None = None) -> Path:
    """A conversation of events at these times, in the order of the lines."""
    events = [
        {"conversation": "c", "id": f"e{i}", "text": f"text {i}", "time": time}
        for i, time in enumerate(times)
    ]
    question = {
        "conversation": "c",
        "id": "q",
        "text": "What?",
        "gold": ["e0"],
        **({"time": asked} if asked else {}),
    }
    (path / "events.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in events), encoding="utf-8"
    )
    (path / "questions.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")
    (path / "dataset.yaml").write_text("name: mine\n", encoding="utf-8")
    return path


def test_a_session_of_the_year_9999_is_refused_with_line_and_cure(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        load_conversations(
            folder(tmp_path, ["2024-05-01T12:00", "9999-05-02T12:00", "2024-05-03T12:00"])
        )
    assert "line 2: time jumps by 7975 years, from event 'e2' (line 3) to 'e1'" in caught.value.what
    assert "events.jsonl" in caught.value.where and "correct the time" in caught.value.cure


def test_a_year_of_three_digits_is_refused_too(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="time jumps by 1822 years"):
        load_conversations(folder(tmp_path, ["0202-05-01T12:00", "2024-05-02T12:00"]))


def test_a_question_of_the_year_9999_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="years after the last event") as caught:
        load_conversations(folder(tmp_path, ["2024-05-01T12:00"], "9999-01-01T00:00"))
    assert "line 1" in caught.value.what


@pytest.mark.parametrize(
    ("times", "jumps"),
    [
        (["2024-05-01T12:00", "2025-04-30T12:00"], 0),
        (["2024-05-01T12:00", "2025-05-03T12:00"], 1),
        (["1930-05-01T12:00", "2024-05-01T12:00", "2026-05-01T12:00"], 2),
    ],
)
def test_a_jump_of_more_than_a_year_is_a_note(tmp_path: Path, times: list[str], jumps: int) -> None:
    data = load_conversations(folder(tmp_path, times))
    assert data.notes.get("jumps_over_a_year", 0) == jumps and (
        "jumps_over_a_year" in data.notes
    ) == bool(jumps)


@pytest.mark.parametrize(
    ("asked", "late"), [("2025-05-01T11:00", 0), ("2025-05-03T12:00", 1), ("2124-04-30T12:00", 1)]
)
def test_a_question_of_more_than_a_year_after_the_last_event_is_a_note(
    tmp_path: Path, asked: str, late: int
) -> None:
    notes = load_conversations(folder(tmp_path, ["2024-05-01T12:00"], asked)).notes
    assert (
        notes.get("questions_asked_over_a_year_later", 0) == late
        and "jumps_over_a_year" not in notes
    )


def test_every_data_set_is_checked() -> None:
    def told(last: float, asked: float) -> None:
        events = (Event(0.0, "a", id="e0"), Event(last, "b", id="e1"))
        assemble(
            "x",
            "0",
            [Conversation("c", events, (Question("q", "?", asked, "all", ("e0",)),))],
            {},
            "file",
        )

    with pytest.raises(DataError, match="the event 'e1', before which time jumps by 1027 years"):
        told(9e6, 9e6)
    with pytest.raises(DataError, match="the question 'q', asked 1027 years after its last event"):
        told(0.0, 9e6)


# --- the official formats: sessions on these days, and for LongMemEval a question on one ----------
def locomo(path: Path, days: list[tuple[int, int, int]]) -> Path:
    months = ("January", "February", "March", "April", "May")
    talk: dict[str, Any] = {}
    for n, (year, month, day) in enumerate(days, 1):
        talk |= {
            f"session_{n}": [
                {"speaker": "Ann", "dia_id": f"D{n}:{turn}", "text": "Hi."} for turn in (1, 2)
            ],
            f"session_{n}_date_time": f"1:56 pm on {day} {months[month - 1]}, {year:04}",
        }
    qa = [{"question": "What?", "category": 4, "evidence": ["D1:1"]}]
    (path / "locomo.json").write_text(
        json.dumps([{"sample_id": "conv-1", "conversation": talk, "qa": qa}]), encoding="utf-8"
    )
    return path / "locomo.json"


def beam(path: Path, days: list[tuple[int, int, int]]) -> Path:
    months = ("January", "February", "March", "April", "May")
    chat = [
        {
            "batch_number": n,
            "turns": [
                [
                    {
                        "role": "user",
                        "id": n,
                        "content": "Hi.",
                        "time_anchor": f"{months[month - 1]}-{day:02}-{year:04}",
                    }
                ]
            ],
        }
        for n, (year, month, day) in enumerate(days, 1)
    ]
    (path / "1" / "probing_questions").mkdir(parents=True)
    (path / "1" / "chat.json").write_text(json.dumps(chat), encoding="utf-8")
    (path / "1" / "probing_questions" / "probing_questions.json").write_text(
        json.dumps({"recall": [{"question": "What?"}]}), encoding="utf-8"
    )
    return path / "1" / "chat.json"


def longmemeval(
    path: Path, days: list[tuple[int, int, int]], asked: tuple[int, int, int] | None = None
) -> Path:
    dates = ["{:04}/{:02}/{:02} (Sun) 10:01".format(*day) for day in (*days, asked or max(days))]
    names = [f"s{n}" for n in range(len(days))]
    instance = {"question_id": "q1", "question_type": "recall", "question": "What?",
                "question_date": dates.pop(), "haystack_dates": dates,
                "haystack_session_ids": names, "haystack_sessions": [[{"role": "user",
                "content": "Hi."}] for _ in days], "answer_session_ids": []}  # fmt: skip
    (path / "longmemeval.json").write_text(json.dumps([instance]), encoding="utf-8")
    return path / "longmemeval.json"


OFFICIAL = pytest.mark.parametrize("write", [locomo, beam, longmemeval])
MAY = (2023, 5, 8)


@OFFICIAL
def test_a_jump_of_decades_in_an_official_file_is_a_note(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    file = write(tmp_path, [MAY, (2023, 5, 9), (2063, 5, 8)])
    notes = load(official_form(file), file).notes
    assert notes["jumps_over_a_year"] == 1 and notes["sessions_out_of_order"] == 0


@OFFICIAL
def test_sessions_out_of_order_are_counted(tmp_path: Path, write: Callable[..., Path]) -> None:
    notes = load(write.__name__, write(tmp_path, [MAY, (2023, 5, 7), (2023, 5, 9), MAY])).notes
    assert notes["sessions_out_of_order"] == 2 and "jumps_over_a_year" not in notes


@OFFICIAL
@pytest.mark.parametrize(
    ("days", "words"),
    [
        ([MAY, (9999, 5, 8)], "time jumps by 7976 years, from 2023-05-08 to 9999-05-08"),
        ([MAY, (1823, 5, 8)], "time jumps by 200 years, from "),
        ([MAY, (2123, 5, 10)], "time jumps by 100 years"),
    ],
)
def test_a_jump_of_more_than_a_century_names_the_session(
    tmp_path: Path, write: Callable[..., Path], days: Any, words: str
) -> None:
    place = {
        "locomo": "sample conv-1, conversation, session_2_date_time",
        "beam": "part 2, turns, exchange 1, message 1, time_anchor",
        "longmemeval": f"instance q1, haystack_dates, date {1 if days[1] < days[0] else 2}",
    }[write.__name__]
    file = write(tmp_path, days)
    with pytest.raises(DataError) as caught:
        load(write.__name__, file)
    assert f"{place}: {words}" in caught.value.what
    assert (
        str(file) == caught.value.where and "correct the time of this session" in caught.value.cure
    )


@pytest.mark.parametrize("year", [9999, 1023])
def test_a_question_of_another_millennium_is_refused(tmp_path: Path, year: int) -> None:
    with pytest.raises(DataError, match=r"question_date: it is \d+ years from the last event"):
        load("longmemeval", longmemeval(tmp_path, [MAY], (year, 5, 8)))


def test_a_question_of_decades_later_is_a_note(tmp_path: Path) -> None:
    assert (
        load("longmemeval", longmemeval(tmp_path, [MAY], (2063, 5, 8))).notes[
            "questions_asked_over_a_year_later"
        ]
        == 1
    )


@pytest.mark.parametrize("content", ['{"a": 1}', "[1]", "[]", '[{"a": 1}]', "hello"])
def test_a_file_that_is_no_data_set_is_in_no_form(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        official_form(tmp_path / "x.json")
    assert "x.json" in caught.value.where and caught.value.cure
