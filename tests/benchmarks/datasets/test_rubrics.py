"""Answers and rubrics from the loaders: read where the source has them, written and read again,
and never part of what is encoded or asked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.datasets import load
from hebbarium.benchmarks.datasets.conversations import write_conversations
from hebbarium.engine.base.errors import DataError


def beam(folder: Path, **probe: Any) -> Path:
    chat = [
        {
            "batch_number": 1,
            "turns": [
                [{"id": 1, "role": "user", "content": "We moved.", "time_anchor": "March-15-2024"}]
            ],
        }
    ]
    place = folder / "100K" / "1"
    (place / "probing_questions").mkdir(parents=True)
    (place / "chat.json").write_text(json.dumps(chat), encoding="utf-8")
    asked = {"summarization": [{"question": "What happened?", "source_chat_ids": [1], **probe}]}
    (place / "probing_questions" / "probing_questions.json").write_text(
        json.dumps(asked), encoding="utf-8"
    )
    return folder


@pytest.mark.parametrize(
    "key", ["answer", "ideal_answer", "ideal_summary", "ideal_response", "expected_compliance"]
)
def test_beam_has_an_answer_under_the_name_of_its_category_and_a_rubric(
    key: str, tmp_path: Path
) -> None:
    (question,) = (
        load(
            "beam",
            beam(
                tmp_path, **{key: "A move.", "rubric": ["says that they moved", "names the month"]}
            ),
        )
        .conversations[0]
        .questions
    )
    assert (question.answer, question.rubric) == (
        "A move.",
        ("says that they moved", "names the month"),
    )


@pytest.mark.parametrize(
    ("rubric", "what"),
    [
        ("one text", "a list is expected"),
        ([["nested"]], "a string is expected"),
        ([""], "it is empty"),
    ],
)
def test_an_odd_rubric_is_refused(rubric: Any, what: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=what):
        load("beam", beam(tmp_path, rubric=rubric))


def test_a_source_without_rubrics_has_none(tmp_path: Path) -> None:
    (question,) = load("beam", beam(tmp_path)).conversations[0].questions
    assert (question.answer, question.rubric) == ("", ())
    assert all(q.rubric == () for c in load("demo", limit=1).conversations for q in c.questions)


def test_ones_own_conversations_keep_theirs(tmp_path: Path) -> None:
    read = load("beam", beam(tmp_path / "b", answer="A move.", rubric=["a", "b"]))
    write_conversations(read, tmp_path / "own", licence="none", citation="none")
    line = json.loads((tmp_path / "own" / "questions.jsonl").read_text(encoding="utf-8"))
    again = load("conversations", tmp_path / "own")
    assert line["rubric"] == ["a", "b"] and again.conversations[0].questions[0].rubric == ("a", "b")
    with (tmp_path / "own" / "questions.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({**line, "id": "q2", "rubric": 7}) + "\n")
    with pytest.raises(DataError, match="line 2, rubric: a list is expected"):
        load("conversations", tmp_path / "own")
