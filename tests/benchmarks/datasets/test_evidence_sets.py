"""MADial-Bench, MemDaily and PrecisionMemBench: what their official formats become."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from small_sets import madial, memdaily, precisionmembench, write_files

from hebbarium.benchmarks.datasets import load, official_form
from hebbarium.benchmarks.datasets.conversations import write_conversations
from hebbarium.engine.base.errors import DataError
from hebbarium.engine.base.times import hours


def test_every_memory_of_madial_is_an_event_and_every_dialogue_a_question(tmp_path: Path) -> None:
    data = load("madial", write_files(tmp_path, madial(), "madial"))
    (archive,) = data.conversations
    assert [e.id for e in archive.events] == ["1", "3", "12"], "in order of time"
    assert archive.events[0].time == hours(datetime(2022, 12, 25))
    assert archive.events[2].time == pytest.approx(hours(datetime(2023, 3, 7, 0, 1)))
    assert archive.events[1].text == "Bo won the sack race."
    assert archive.events[1].get("scene") == "Activity"
    first, second = archive.questions
    # up to the first tested turn, which would give the answer away
    assert first.text == "Bo: I run on Sunday!\nGood luck, it will be fun.\nBo: I am nervous."
    assert (first.gold, first.category) == (("3", "12"), "Activity")
    assert (second.gold, second.category) == (("1",), "Preferences")
    assert data.notes["gold_missing"] == 1
    assert {q.time for q in archive.questions} == {archive.events[-1].time + 14 * 24.0}


def test_either_file_of_madial_names_its_folder(tmp_path: Path) -> None:
    folder = write_files(tmp_path, madial(), "madial")
    for path in (folder, *folder.iterdir()):
        assert load("madial", path).sha256 == load("madial", folder).sha256
    assert official_form(folder) == "madial"
    (folder / "MADial-Bench-en-memory.json").unlink()
    with pytest.raises(DataError, match=r"does not hold MADial-Bench-en-memory\.json") as caught:
        load("madial", folder)
    assert "data get madial" in caught.value.cure


@pytest.mark.parametrize(
    ("tested", "words"), [([], "not given"), ([0], "turns 0 to 2"), ([3], "turns 0 to 2")]
)
def test_a_dialogue_without_a_cue_is_refused(tmp_path: Path, tested: list[int], words: str) -> None:
    value = madial()
    value[0][1]["test-turn"] = tested
    with pytest.raises(DataError, match=words) as caught:
        load("madial", write_files(tmp_path, value, "madial"))
    assert "line 2" in caught.value.what


def test_every_series_of_memdaily_is_a_conversation_with_a_question(tmp_path: Path) -> None:
    file = tmp_path / "memdaily.json"
    file.write_text(json.dumps(memdaily(), ensure_ascii=False), encoding="utf-8")
    data = load("memdaily", file)
    assert official_form(file) == "memdaily"
    assert [c.id for c in data.conversations] == [
        "simple/roles/0",
        "aggregative/roles/0",
        "aggregative/roles/1",
    ]
    first, second, third = data.conversations
    assert first.events[0].time == hours(datetime(2024, 4, 1, 8, 12))
    assert first.events[2].time == pytest.approx(hours(datetime(2024, 4, 2, 7, 31)))
    assert first.events[0].get("place") == "Bonn"
    assert [e.session for e in first.events] == ["2024-04-01", "2024-04-02", "2024-04-02"]
    (question,) = first.questions
    assert (question.gold, question.answer, question.category) == (("1", "0"), "Otto", "simple")
    assert question.time == hours(datetime(2024, 4, 3, 9))
    assert (second.questions[0].gold, second.questions[0].answer) == (("0",), "[1, 2]")
    # the benchmark's lines: place and time stand behind the text, unrelated messages have neither
    assert [e.text for e in third.events] == ["Trams are yellow.", "Ida paints.", "Rain again."]
    assert [e.dated for e in third.events] == [False, True, False]
    assert third.events[1].time == hours(datetime(2024, 4, 1, 8, 12))
    assert third.events[0].time < third.events[1].time < third.events[2].time
    assert {name: data.notes[name] for name in ("times_clamped", "times_made_up",
            "questions_clamped", "gold_missing")} == {
        "times_clamped": 1, "times_made_up": 2, "questions_clamped": 1,
        "gold_missing": 1}  # fmt: skip
    first_alone = load("memdaily", file, limit=1)
    assert [c.id for c in first_alone.conversations] == ["simple/roles/0"]
    # counts are of the conversations that are kept
    assert first_alone.notes["times_made_up"] == first_alone.notes["questions_clamped"] == 0


def test_a_damaged_series_behind_the_limit_is_named(tmp_path: Path) -> None:
    value = memdaily()
    del value["aggregative"]["roles"][1]["QA"]["question"]
    (tmp_path / "memdaily.json").write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(DataError, match="series aggregative/roles/1, QA: no 'question'"):
        load("memdaily", tmp_path, limit=1)


def test_what_must_not_come_back_is_read(tmp_path: Path) -> None:
    data = load(
        "precisionmembench", write_files(tmp_path, precisionmembench(), "precisionmembench")
    )
    user, session = data.conversations
    assert (user.id, session.id) == ("test-user", "drift")
    assert user.events[0].id == "old-db", "in order of time"
    assert "other" not in {e.id for e in user.events}
    tea = next(e for e in user.events if e.id == "tea")
    assert tea.text == "TEA brew cup Likes tea. For breaks."
    assert tea.attributes == (
        ("scope", "domain:code"),
        ("status", "active"),
        ("type", "preference"),
    )
    asked = {q.id: q for q in user.questions}
    assert list(asked) == ["brew", "pinned", "must"]
    # db and ask are shown without a search; hero is of another scope, old-db was replaced
    assert asked["brew"].gold == ("tea",)
    assert set(asked["brew"].forbidden) == {"old-db", "hero", "red"}
    assert set(asked["pinned"].forbidden) == {"old-db", "hero", "red", "tea", "db"}
    assert asked["must"].gold == ("tea",), "a pinned belief comes back without a search"
    assert data.notes["gold_missing"] == 1
    assert data.notes["cases_without_words"] == data.notes["cases_under_a_budget"] == 1
    assert data.notes["cases_of_users_without_beliefs"] == 1
    assert data.notes["beliefs_of_users_without_cases"] == 1


def test_a_session_tells_what_its_turns_make_and_change(tmp_path: Path) -> None:
    data = load(
        "precisionmembench", write_files(tmp_path, precisionmembench(), "precisionmembench")
    )
    session = data.conversations[1]
    assert [e.id for e in session.events][-2:] == ["ci", "red~2"]
    assert session.events[-1].text == "RED Redis holds sessions. eviction"
    first, second, third = session.questions
    assert (first.gold, second.gold, third.gold) == (("red",), ("ci",), ("red~2",))
    assert second.after == "ci"
    assert "ci" not in first.forbidden, "it is not told yet"
    assert "red" in second.forbidden
    # the version before is neither asked for nor forbidden; a pinned belief is if it is named
    assert set(third.forbidden) == {"old-db", "tea", "hero", "ci", "db"}
    assert data.notes["questions_in_the_middle"] == 2


def test_either_file_of_cases_is_enough(tmp_path: Path) -> None:
    folder = write_files(tmp_path, precisionmembench(), "precisionmembench")
    assert official_form(folder) == "precisionmembench"
    (folder / "retrieval.cases.json").unlink()
    assert [c.id for c in load("precisionmembench", folder).conversations] == ["drift"]
    (folder / "session-retrieval.cases.json").unlink()
    with pytest.raises(DataError, match=r"does not hold retrieval\.cases\.json"):
        load("precisionmembench", folder)


def test_a_change_of_what_was_never_told_is_refused(tmp_path: Path) -> None:
    value = precisionmembench()
    value[2][0]["turns"][1]["updateBeliefAtTurn"]["beliefId"] = "nothing"
    with pytest.raises(DataError, match="'nothing' that changes was never told"):
        load("precisionmembench", write_files(tmp_path, value, "precisionmembench"))


def test_forbidden_events_survive_as_ones_own_data(tmp_path: Path) -> None:
    folder = write_files(tmp_path, precisionmembench(), "precisionmembench")
    data = load("precisionmembench", folder)
    write_conversations(data, tmp_path / "own", licence="none", citation="none")
    again = load("conversations", tmp_path / "own")
    assert [q.forbidden for c in again.conversations for q in c.questions] == [
        q.forbidden for c in data.conversations for q in c.questions
    ]


@pytest.mark.parametrize(
    ("forbidden", "words"),
    [(["k9"], "'k9' names no event"), (["k1"], "'k1' is gold, too"), ("k1", "is gold, too")],
)
def test_a_forbidden_event_must_be_one_and_no_gold(
    tmp_path: Path, forbidden: list[str] | str, words: str
) -> None:
    (tmp_path / "events.jsonl").write_text(
        json.dumps({"conversation": "c", "id": "k1", "text": "Hello."}), encoding="utf-8"
    )
    (tmp_path / "questions.jsonl").write_text(
        json.dumps(
            {"conversation": "c", "id": "q", "text": "?", "gold": ["k1"], "forbidden": forbidden}
        ),
        encoding="utf-8",
    )
    with pytest.raises(DataError, match=words) as caught:
        load("conversations", tmp_path)
    assert "line 1" in caught.value.what


def test_what_is_told_after_a_question_cannot_be_forbidden(tmp_path: Path) -> None:
    """It is not among the memories, so chance would be computed of more than all of them."""
    rows = [{"conversation": "c", "id": f"k{n}", "text": "Hello."} for n in range(3)]
    (tmp_path / "events.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    question = {"conversation": "c", "id": "q", "text": "?", "gold": "k0", "after": "k1"}
    for forbidden, refused in (("k1", False), ("k2", True)):
        (tmp_path / "questions.jsonl").write_text(
            json.dumps({**question, "forbidden": forbidden}), encoding="utf-8"
        )
        if refused:
            with pytest.raises(DataError, match=r"'k2' .*is told after the question"):
                load("conversations", tmp_path)
        else:
            assert load("conversations", tmp_path).conversations[0].questions[0].forbidden == (
                "k1",
            )


def test_a_session_with_gold_is_not_forbidden(tmp_path: Path) -> None:
    rows = [
        {"conversation": "c", "id": f"k{n}", "text": "Hello.", "session": session}
        for n, session in enumerate(("a", "a", "b", "c"))
    ]
    (tmp_path / "events.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    question = {
        "conversation": "c",
        "id": "q",
        "text": "?",
        "gold": "k0",
        "forbidden": ["k1", "k2"],
    }
    (tmp_path / "questions.jsonl").write_text(json.dumps(question), encoding="utf-8")
    (merged,) = load("conversations", tmp_path, unit="session").conversations
    assert (merged.questions[0].gold, merged.questions[0].forbidden) == (("a",), ("b",))
