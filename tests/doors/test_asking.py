"""Writing questions of one's own: what is suggested, what marks mean, and what is kept."""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hebbarium.benchmarks.datasets import load
from hebbarium.doors.asking import chosen

Command = Callable[..., tuple[int, str, str]]
TOLD = [("k1", "Mira", "The oven door no longer shuts, so I ordered a hinge."),
        ("k2", "Tom", "Let us eat cold tonight."),
        ("k3", "Mira", "The hinge is for the wrong model."),
        ("k4", "Tom", "My aunt repaired the oven with a spring.")]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    rows = [{"conversation": name, "id": id, "speaker": who, "text": text,
             "time": f"2025-03-0{n + 1}"}
            for name, told in (("short", TOLD[:1]), ("kitchen", TOLD))
            for n, (id, who, text) in enumerate(told)]  # fmt: skip
    (tmp_path / "mine" / "events.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    return tmp_path / "mine"


@pytest.fixture
def typed(hebbarium: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def call(*lines: str, more: tuple[str, ...] = ()) -> str:
        left: Iterator[str] = iter(lines)

        def read(prompt: str = "") -> str:
            print(prompt, end="")
            try:
                return next(left)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr(builtins, "input", read)
        code, out, err = hebbarium("data", "ask", folder, "--embedder", "hashing:64", *more)
        assert code == 0, err
        return out

    return call


def questions(folder: Path) -> list[tuple[str, str, list[str], str]]:
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [(row["id"], row["text"], row["gold"], row.get("category", ""))
            for row in map(json.loads, lines)]  # fmt: skip


def test_numbers_and_ids_mark_the_events_that_answer(
    typed: Callable[..., str], folder: Path
) -> None:
    out = typed("Who repaired the oven with a spring?", "1", "Which hinge?", "k3 k1 k3",
                "Who won?", "0", "")  # fmt: skip
    assert questions(folder) == [
        ("q1", "Who repaired the oven with a spring?", ["k4"], ""),
        ("q2", "Which hinge?", ["k3", "k1"], ""), ("q3", "Who won?", [], "abstention")]  # fmt: skip
    first = next(line for line in out.splitlines() if "  1  " in line)
    assert "My aunt repaired the oven" in first and "all" in first and "dense" in first
    data = load("conversations", folder)
    assert [len(c.questions) for c in data.conversations] == [0, 3]


def test_wrong_marks_are_asked_again_and_other_words_look_further(
    typed: Callable[..., str], folder: Path
) -> None:
    out = typed("Where?", "99 k9", "x", "/eat cold tonight", "1", "Nothing", "", "")
    assert questions(folder) == [("q1", "Where?", ["k2"], "")]
    assert "no event is 99, k9" in out and "left out" in out


def test_what_was_written_stays_when_the_input_ends(
    typed: Callable[..., str], folder: Path
) -> None:
    typed("Who repaired the oven?", "k4", "Half a")
    typed("Which hinge?", "k3", more=("--questions", "1"))
    assert [id for id, *_ in questions(folder)] == ["q1", "q2"]
    typed()
    assert len(questions(folder)) == 2


def test_a_conversation_is_chosen_by_name_or_by_length(hebbarium: Command, folder: Path) -> None:
    assert chosen(folder, None).id == "kitchen" and chosen(folder, "short").id == "short"
    code, _, err = hebbarium("data", "ask", folder, "--conversation", "kitchn")
    assert code == 2 and "kitchen" in err
    code, _, err = hebbarium("data", "ask", folder / "absent")
    assert code == 2 and "What to do" in err
