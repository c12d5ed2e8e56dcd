"""One's own conversations: what is read, what is refused and where, and that conversion loses
nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.datasets import load
from hebbarium.benchmarks.datasets.base import Dataset
from hebbarium.benchmarks.datasets.conversations import (
    describe,
    load_conversations,
    write_conversations,
)
from hebbarium.engine.base.errors import DataError

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "own_data"
Rows = list[dict[str, Any]]


def rows(file: str) -> Rows:
    return [json.loads(line) for line in (EXAMPLE / file).read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(
        events: Rows | None = None, questions: Rows | None = None, about: str = "name: kitchen\n"
    ) -> Path:
        for file, given in (("events.jsonl", events), ("questions.jsonl", questions)):
            lines = [json.dumps(row) + "\n" for row in (rows(file) if given is None else given)]
            (tmp_path / file).write_text("".join(lines), encoding="utf-8")
        (tmp_path / "dataset.yaml").write_text(about, encoding="utf-8")
        return tmp_path

    return write


def test_the_example_is_read_whole() -> None:
    data = load("conversations", EXAMPLE)
    (talk,) = data.conversations
    assert (data.name, talk.id, [e.id for e in talk.events]) == (
        "kitchen",
        "kitchen",
        ["k1", "k2", "k3", "k4", "k5"],
    )
    start = 19844 * 24 + 18 + 2 / 60  # h: 1 May 2024 is day 19,844 since 1970, at 18:02
    assert talk.events[0].time == pytest.approx(start)
    assert talk.events[3].caption == "a bent metal hinge" and all(e.dated for e in talk.events)
    first, second, _ = talk.questions
    assert (first.gold, first.category, first.answer) == (
        ("k4", "k5"),
        "two steps",
        "Tom's aunt",
    ) and second.gold == ("k3",)
    assert first.time == pytest.approx(talk.events[-1].time + 1 / 60)
    assert load("conversations", EXAMPLE / "events.jsonl").sha256 == data.sha256


def test_sessions_can_be_the_unit() -> None:
    (talk,) = load("conversations", EXAMPLE, unit="session").conversations
    assert [e.id for e in talk.events] == ["Wednesday", "Monday", "Thursday"] and talk.questions[
        0
    ].gold == ("Monday", "Thursday")


def test_events_out_of_order_are_sorted_and_counted(written: Callable[..., Path]) -> None:
    events = rows("events.jsonl")
    data = load("conversations", written(events[2:] + events[:2]))
    assert [e.id for e in data.conversations[0].events] == [
        "k1",
        "k2",
        "k3",
        "k4",
        "k5",
    ] and data.notes["events_reordered"] == 5


def test_events_without_times_follow_each_other_and_their_times_stay_out_of_the_text(
    written: Callable[..., Path],
) -> None:
    events = rows("events.jsonl")
    for event in (events[1], events[4]):
        del event["time"]
    data = load("conversations", written(events))
    found = data.conversations[0].events
    assert data.notes["times_made_up"] == 2 and [e.dated for e in found] == [
        True,
        False,
        True,
        True,
        False,
    ]
    assert (
        found[1].time - found[0].time == pytest.approx(1 / 60)
        and "2024" not in found[1].rendered()
        and "2024" in found[0].rendered()
    )


def with_field(file: str, line: int, **fields: Any) -> Rows:
    changed = rows(file)
    changed[line - 1].update(fields)
    return changed


@pytest.mark.parametrize(("events", "questions", "line", "words"), [
    (with_field("events.jsonl", 3, id="k1"), None, 3, "was used in line 1"),
    (with_field("events.jsonl", 2, time="next Tuesday"), None, 2, "is no time"),
    (with_field("events.jsonl", 2, time=1715000000), None, 2, "outside the years 1 to 9999"),
    (with_field("events.jsonl", 2, mood="glad"), None, 2, "unknown field 'mood'"),
    (with_field("events.jsonl", 4, text=7), None, 4, "a string is expected"),
    (with_field("events.jsonl", 4, attributes={"kind": 3}), None, 4, "a string is expected"),
    (with_field("events.jsonl", 4, attributes={"tags": ["a", 3]}), None, 4, "a string is expected"),
    (with_field("events.jsonl", 4, attributes={"": "a"}), None, 4, "it is empty"),
    (with_field("events.jsonl", 4, attributes=["kind", "a"]), None, 4, "an object is expected"),
    (with_field("events.jsonl", 4, attributes={"\ud800": "a"}), None, 4,
     "half of a surrogate pair"),
    (None, with_field("questions.jsonl", 1, gold=["k4", "k9"]), 1, "gold 'k9' names no event"),
    (None, with_field("questions.jsonl", 2, conversation="garden"), 2, "'garden' has no events"),
    (None, with_field("questions.jsonl", 3, time="2020-01-01"), 3, "before the first event"),
], ids=lambda value: value if isinstance(value, str) else None)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line_and_its_cure(
    written: Callable[..., Path], events: Rows | None, questions: Rows | None, line: int, words: str
) -> None:
    with pytest.raises(DataError) as caught:
        load("conversations", written(events, questions))
    assert f"line {line}" in caught.value.what and words in caught.value.what and caught.value.cure
    assert ("events.jsonl" if events else "questions.jsonl") in caught.value.where


@pytest.mark.parametrize(("name", "text", "words"), [
    ("events.jsonl", '{"conversation": "a", "id": "1", "text": "x"\n', "line 1"), ("events.jsonl",
    '\n\n[1, 2]\n', "line 3"),
    ("events.jsonl", '{"conversation": "a", "id": "1", "text": "x", "time": NaN}\n', "line 1"),
    ("dataset.yaml", "licence: free\n", "no name"), ("dataset.yaml", "name: a\nflavour: b\n",
    "'flavour'"), ("dataset.yaml", "name: [a\n", "YAML"),
    ("dataset.yaml", f"name: {'[' * 5000}\n", "YAML"), ("dataset.yaml",
    "name: &n mine\nlicence: *n\n", "YAML"),
    ("dataset.yaml", "name: a\nname: b\n", "YAML"), ("dataset.yaml", "- a\n", "holds a list"),
])  # fmt: skip
def test_damaged_files_are_refused(
    written: Callable[..., Path], name: str, text: str, words: str
) -> None:
    folder = written()
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        load("conversations", folder)


def test_a_folder_without_the_files_names_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no events\.jsonl"):
        load("conversations", tmp_path)
    with pytest.raises(DataError, match="needs a path"):
        load("conversations")


def test_missing_gold_is_counted_only_on_request(written: Callable[..., Path]) -> None:
    folder = written(None, with_field("questions.jsonl", 1, gold=["k4", "k9"]))
    data = load("conversations", folder, allow_missing_gold=True)
    assert data.notes["gold_missing"] == 1 and data.conversations[0].questions[0].gold == ("k4",)


MARKED = {
    1: {"kind": "note", "tags": ["home", "diy"], "place": "Oslo"},
    2: {"tags": ["diy"], "kind": "note"},
    3: {},
}


def marked() -> Rows:
    """The example with attributes of the first three events; the first two make a session."""
    events = rows("events.jsonl")
    for line, attributes in MARKED.items():
        events[line - 1]["attributes"] = attributes
    return events


def test_attributes_reach_the_events(written: Callable[..., Path]) -> None:
    data = load("conversations", written(marked()))
    first, second, third, *others = data.conversations[0].events
    assert first.attributes == (
        ("kind", "note"),
        ("place", "Oslo"),
        ("tags", "diy"),
        ("tags", "home"),
    )
    assert (
        second.attributes == (("kind", "note"), ("tags", "diy"))
        and third.attributes == ()
        and not any(e.attributes for e in others)
    )
    assert data.notes["events_with_attributes"] == 3
    assert [e.rendered() for e in data.conversations[0].events] == [
        e.rendered() for e in load("conversations", EXAMPLE).conversations[0].events
    ]


def test_a_session_has_the_attributes_that_all_its_turns_have(written: Callable[..., Path]) -> None:
    (talk,) = load("conversations", written(marked()), unit="session").conversations
    assert [e.attributes for e in talk.events] == [(("kind", "note"), ("tags", "diy")), (), ()]


def test_conversion_keeps_attributes(written: Callable[..., Path], tmp_path: Path) -> None:
    data = load("conversations", written(marked()))
    write_conversations(data, tmp_path / "again", licence="free", citation="none")
    assert load_conversations(tmp_path / "again").conversations == data.conversations
    lines = [
        json.loads(line)
        for line in (tmp_path / "again" / "events.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert (
        lines[0]["attributes"] == {"kind": "note", "place": "Oslo", "tags": ["diy", "home"]}
        and "attributes" not in lines[4]
    )


def test_times_keep_the_offset_of_their_clock(written: Callable[..., Path], tmp_path: Path) -> None:
    """An ISO time with an offset, in text and after writing; one without is of no known clock."""
    times = [
        "2024-05-01T20:02:00-04:00",
        "2024-05-02T09:02:00+05:45",
        "2024-05-02T08:00:00Z",
        "2024-05-03T08:00",
        477_000.0,
    ]
    told = rows("events.jsonl")
    data = load(
        "conversations",
        written([{**row, "time": time} for row, time in zip(told, times, strict=True)]),
    )
    events = data.conversations[0].events
    assert [e.offset for e in events] == [-4.0, 5.75, 0.0, None, None]
    assert events[0].rendered().startswith("[8:02 pm on 1 May, 2024]") and events[
        1
    ].rendered().startswith("[9:02 am on 2 May, 2024]")
    write_conversations(data, tmp_path / "again", licence="free", citation="none")
    assert load_conversations(tmp_path / "again").conversations == data.conversations


@pytest.mark.parametrize("made_up", [False, True])
def test_conversion_loses_nothing(tmp_path: Path, made_up: bool) -> None:
    demo = load("demo", limit=2)
    if made_up:  # as BEAM has them
        from dataclasses import replace

        demo = replace(
            demo,
            conversations=tuple(
                replace(c, events=tuple(replace(e, dated=False) for e in c.events))
                for c in demo.conversations
            ),
        )
    write_conversations(demo, tmp_path, licence="free", citation="none")
    again = load_conversations(tmp_path)
    assert (
        again.conversations == demo.conversations
        and again.name == "demo"
        and again.notes["licence"] == "free"
    )


@pytest.mark.parametrize("name", ["1e-3", "1:30", "010", "0o10", "true", "2024-05-01"])
def test_a_name_that_looks_like_a_number_stays_text(tmp_path: Path, name: str) -> None:
    write_conversations(load("demo", limit=1), tmp_path, licence=name, citation="none")
    assert load_conversations(tmp_path).notes["licence"] == name


def test_counts_gaps_and_repetitions_are_described(written: Callable[..., Path]) -> None:
    events = with_field("events.jsonl", 5, text=rows("events.jsonl")[0]["text"])
    described = describe(load("conversations", written(events)))
    counts = ("conversations", "events", "speakers", "sessions", "repeated_texts")
    assert [described[name] for name in counts] == [1, 5, 2, 3, 1]
    texts = [row["text"] for row in rows("events.jsonl")]
    texts[4] = texts[0]
    by_hand = sum(math.ceil(len(text) / 4) for text in texts)
    means = [described[f"mean_{name}"] for name in ("sessions", "questions", "tokens")]
    assert means == [3.0, len(rows("questions.jsonl")), by_hand]
    assert described["longest_gap_before"] == "kitchen, k3" and described[
        "longest_gap_hours"
    ] == pytest.approx(4 * 24 + 15.2)
    assert (
        described["first_event"] == "2024-05-01T18:02:00+00:00"
        and described["questions_one step"] == 2
    )


def test_one_changed_letter_is_another_data_set(written: Callable[..., Path]) -> None:
    def digest(data: Dataset) -> str:
        return data.sha256

    assert digest(load("conversations", written())) != digest(
        load("conversations", written(with_field("events.jsonl", 1, text="The oven")))
    )
