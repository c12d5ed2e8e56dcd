"""One's own conversations on the command line: without questions, with questions in the middle,
and with ids of questions that several have.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "own_data"
FAST = ("--set", "bm25", "--embedder", "hashing:64")
Command = Callable[..., tuple[int, str, str]]
KILN = [
    ("k1", "Ines", "2025-01-02T10:00", "The kiln is hot, so the bowl must wait."),
    ("k2", "Jo", "2025-01-02T10:05", "Then I glaze the blue jug first."),
    ("k3", "Ines", "2025-01-05T09:00", "The kiln is cold again."),
    ("k4", "Jo", "2025-01-09T09:00", "The kiln has a new thermometer."),
]


def write(
    folder: Path,
    events: dict[str, list[tuple[str, str, str, str]]],
    questions: list[dict[str, Any]] | None = None,
) -> Path:
    """A folder of one's own data, without a description."""
    folder.mkdir()
    rows = [{"conversation": name, "id": id, "speaker": who, "time": time, "session": time[:10],
             "text": text}
            for name, told in events.items() for id, who, time, text in told]  # fmt: skip
    for file, lines in (("events.jsonl", rows), ("questions.jsonl", questions)):
        if lines is not None:
            (folder / file).write_text(
                "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
            )
    return folder


@pytest.fixture
def unasked(tmp_path: Path) -> Path:
    return write(tmp_path / "pottery", {"kiln": KILN, "shop": KILN[:2]})


def test_conversations_without_questions_are_checked_and_shown(
    hebbarium: Command, unasked: Path
) -> None:
    code, out, _ = hebbarium("data", "check", unasked, "--json")
    notes = json.loads(out)["notes"]
    assert code == 0 and (
        notes["name"],
        notes["conversations"],
        notes["events"],
        notes["questions"],
    ) == ("pottery", 2, 6, 0)
    code, out, _ = hebbarium("data", "show", unasked)
    assert code == 0 and "2 of 2 conversations" in out
    found = json.loads(hebbarium("data", "show", unasked, "--json")[1])
    assert [
        (row["conversation"], row["events"], row["questions"], row["speakers"], row["sessions"])
        for row in found
    ] == [("kiln", 4, 0, 2, 3), ("shop", 2, 0, 2, 1)]
    shown = json.loads(
        hebbarium(
            "data",
            "show",
            unasked / "events.jsonl",
            "--conversation",
            "kiln",
            "--speaker",
            "Jo",
            "--json",
        )[1]
    )
    assert shown["speakers"] == {"Ines": 2, "Jo": 2} and [row["id"] for row in shown["events"]] == [
        "k2",
        "k4",
    ]
    code, out, _ = hebbarium(
        "data", "show", unasked, "--conversation", "kiln", "--session", "2025-01-05"
    )
    assert (
        code == 0
        and "The kiln is cold again." in out
        and "thermometer" not in out
        and "1 of 1 events" in out
    )
    assert (
        "2 of 4 events; --limit shows more"
        in hebbarium("data", "show", unasked, "--conversation", "kiln", "--limit", "2")[1]
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--conversation", "kilm"), "no conversation 'kilm'"),
        (("--speaker", "Inez"), "no speaker 'Inez'"),
        (("--session", "x"), "no session 'x'"),
    ],
)
def test_what_the_data_do_not_have_is_named_with_what_is_near(
    hebbarium: Command, unasked: Path, words: tuple[str, ...], said: str
) -> None:
    code, out, err = hebbarium("data", "show", unasked, *words)
    assert code == 2 and out == "" and said in err and "What to do" in err


def test_conversations_without_questions_are_asked_at_any_time(
    hebbarium: Command, unasked: Path
) -> None:
    asked = ("assemble", *FAST, "--dataset", "conversations", "--data", unasked, "--query",
             "How is the kiln?")  # fmt: skip
    code, out, _ = hebbarium(*asked)
    assert code == 0 and "new thermometer" in out
    code, out, _ = hebbarium(*asked, "--time", "2025-01-06")
    assert code == 0 and "cold again" in out and "new thermometer" not in out
    assert "3 components" in out and "4 components" in hebbarium(*asked)[1]
    for time, said in (("2024-12-31", "before the first event"), ("soon", "is no time")):
        code, _, err = hebbarium(*asked, "--time", time)
        assert code == 2 and said in err and "What to do" in err


@pytest.mark.parametrize(
    "command",
    [
        ("run",),
        ("ablate",),
        ("ablate", "--design", "shapley", "--set", "hybrid"),
        ("calibrate", "--evidence", "margin"),
    ],
    ids=" ".join,
)
def test_what_needs_questions_says_once_what_is_missing_and_how_to_add_it(
    hebbarium: Command, unasked: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    code, out, err = hebbarium(
        *command, *FAST, "--dataset", "conversations", "--data", unasked, "--out", tmp_path / "o"
    )
    assert (
        code == 2
        and out == ""
        and err.count("error: ") == 1
        and "the data hold no questions" in err
    )
    assert (
        "questions.jsonl" in err
        and '"gold": ["k3"]' in err
        and not (tmp_path / "o" / "rows.jsonl").exists()
    )


def question(conversation: str, id: str, text: str, *gold: str, **more: Any) -> dict[str, Any]:
    return {"conversation": conversation, "id": id, "text": text, "gold": list(gold), **more}


def test_conversations_that_nobody_asked_about_are_left_out_of_a_run_which_says_so(
    hebbarium: Command, tmp_path: Path
) -> None:
    data = write(
        tmp_path / "d",
        {"kiln": KILN, "shop": KILN},
        [question("shop", "q1", "Who glazes the jug?", "k2")],
    )
    code, _, err = hebbarium(
        "run", *FAST, "--dataset", "conversations", "--data", data, "--out", tmp_path / "o"
    )
    assert (
        code == 0
        and "conversations without questions, left out: 1 of 2, the first is 'kiln'" in err
    )
    rows = [
        json.loads(line)
        for line in (tmp_path / "o" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [(row["conversation"], row["question"]) for row in rows] == [("shop", "q1")]


def test_questions_of_several_conversations_may_have_one_id(
    hebbarium: Command, tmp_path: Path
) -> None:
    more = [
        (f"m{n}", "Jo", f"2025-02-{n + 1:02}T09:00", f"I glaze blue jug number {n}.")
        for n in range(12)
    ]
    data = write(
        tmp_path / "d",
        {"kiln": KILN, "shop": KILN[:2] + more},
        [
            question("kiln", "q1", "What has a new thermometer?", "k4"),
            question("shop", "q1", "Which jug is blue?", "k1"),
            question("shop", "q2", "Which bowl must wait?", "k1"),
        ],
    )
    for out in ("a", "b"):
        assert (
            hebbarium(
                "run", *FAST, "--dataset", "conversations", "--data", data, "--out", tmp_path / out
            )[0]
            == 0
        )
    rows = [
        json.loads(line)
        for line in (tmp_path / "a" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [(row["conversation"], row["question"], row["ranks"]) for row in rows] == [
        ("kiln", "q1", [1]),
        ("shop", "q1", [14]),
        ("shop", "q2", [1]),
    ]
    found = json.loads(hebbarium("compare", tmp_path / "a", tmp_path / "b", "--json")[1])
    assert found["n_questions"] == 3 and found["n_changed"] == 0
    listed = hebbarium("explain", tmp_path / "a")[1]
    assert "shop/q1" in listed and "shop/q2" not in listed
    code, out, _ = hebbarium("explain", tmp_path / "a", "shop/q1", "--json")
    assert code == 0 and (json.loads(out)["conversation"], json.loads(out)["text"]) == (
        "shop",
        "Which jug is blue?",
    )
    assert (
        json.loads(hebbarium("explain", tmp_path / "a", "q2", "--json")[1])["conversation"]
        == "shop"
    )
    for words in (("explain", tmp_path / "a", "q1"), ("explain", tmp_path / "a", "q1", "--misses")):
        code, _, err = hebbarium(*words)
        assert (
            code == 2
            and "2 conversations have a question 'q1'" in err
            and "kiln/q1, shop/q1" in err
        )
    missed = json.loads(hebbarium("explain", tmp_path / "a", "shop/q1", "--misses", "--json")[1])[
        "misses"
    ]
    assert [(each["conversation"], each["question"], each["gold"]) for each in missed] == [
        ("shop", "q1", "k1")
    ]


def test_an_id_that_a_conversation_uses_twice_is_refused_with_both_lines(
    hebbarium: Command, tmp_path: Path
) -> None:
    data = write(
        tmp_path / "d",
        {"kiln": KILN},
        [question("kiln", "q1", "Who?", "k1"), question("kiln", "q1", "What?", "k2")],
    )
    code, _, err = hebbarium(
        "run", *FAST, "--dataset", "conversations", "--data", data, "--out", tmp_path / "o"
    )
    assert (
        code == 2
        and "questions.jsonl: line 2: the question id 'q1' of conversation 'kiln' was used in line 1"
        in err
    )
    assert "give every question of a conversation its own id" in err


def test_a_question_in_the_middle_is_run_and_explained_as_it_was(
    hebbarium: Command, tmp_path: Path
) -> None:
    data = write(
        tmp_path / "d",
        {"kiln": KILN},
        [
            question("kiln", "now", "How is the kiln?", "k4"),
            question("kiln", "then", "How is the kiln?", "k3", after="k3"),
            question("kiln", "first", "How is the kiln?", "k1", time="2025-01-03"),
        ],
    )
    out = tmp_path / "o"
    assert (
        hebbarium("run", *FAST, "--dataset", "conversations", "--data", data, "--out", out)[0] == 0
    )
    rows = {
        row["question"]: row
        for row in map(json.loads, (out / "rows.jsonl").read_text(encoding="utf-8").splitlines())
    }
    assert {name: len(row["retrieved"]) for name, row in rows.items()} == {
        "now": 4,
        "then": 3,
        "first": 2,
    } and list(rows) == ["now", "then", "first"]
    for name, stored in (("then", 3), ("first", 2), ("now", 4)):
        found = json.loads(hebbarium("explain", out, name, "--json")[1])
        assert found["stored"] == stored and found["notes"] == []
    assert json.loads(hebbarium("explain", out, "--misses", "--json")[1])["notes"] == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"gold": ["k4"], "time": "2025-01-06"}, "gold 'k4' is told after the question"),
        ({"gold": ["k4"], "after": "k3"}, "gold 'k4' is told after"),
        ({"after": "k9"}, "asked after 'k9', which names no event"),
        ({"after": "k2", "time": "2025-01-08"}, "not between event 'k2'"),
        ({"time": "2025-01-01"}, "before the first event"),
        ({"time": "2525-01-01"}, "500 years after the last event"),
    ],
)
def test_a_question_at_an_impossible_time_is_refused_with_its_line(
    hebbarium: Command, tmp_path: Path, more: dict[str, Any], said: str
) -> None:
    data = write(
        tmp_path / "d",
        {"kiln": KILN},
        [question("kiln", "q1", "Who?", "k1"), question("kiln", "q2", "Who?") | more],
    )
    code, _, err = hebbarium("data", "check", data)
    assert (
        code == 2
        and f"questions.jsonl: line 2: {'it is ' if said.startswith(('asked', 'before')) else ''}"
        in err
        and said in err
    )
    assert "What to do" in err


def test_an_export_that_is_asked_with_the_demos_name_is_recognised(
    hebbarium: Command, tmp_path: Path
) -> None:
    message = {"from": "Ines", "from_id": "user7", "date": "2025-01-02T10:00:00", "text": "hot"}
    (tmp_path / "result.json").write_text(json.dumps({"messages": [message]}))
    code, _, err = hebbarium(
        "assemble", *FAST, "--data", tmp_path / "result.json", "--query", "What is hot?"
    )
    assert code == 2 and "an export of Telegram" in err and "`from` is speaker" in err
    code, _, err = hebbarium("assemble", *FAST, "--data", EXAMPLE, "--query", "What is hot?")
    assert code == 2 and "use --dataset conversations" in err
