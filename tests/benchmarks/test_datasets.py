"""The loaders on small files in the official formats, on broken ones, and on the real ones where
HEBBARIUM_DATA names their folder.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_sets import FILES, madial, memdaily, precisionmembench, write_files

from hebbarium.audit.references import load as load_references
from hebbarium.benchmarks.datasets import (
    LOADERS,
    OVERLAYS,
    Conversation,
    Dataset,
    Question,
    load,
    papers_of,
)
from hebbarium.benchmarks.datasets import fetch as fetching
from hebbarium.benchmarks.datasets.base import MINUTE, assemble
from hebbarium.benchmarks.datasets.locomo_corrected import corrections
from hebbarium.engine.base.errors import DataError
from hebbarium.engine.base.times import hours
from hebbarium.engine.contract.records import Event

Json = Any


def locomo() -> Json:
    def turn(name: str, speaker: str, text: str, **more: Json) -> Json:
        return {"speaker": speaker, "dia_id": name, "text": text, **more}

    talk = {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_2_date_time": "12:48 am on 1 February, 2023",
        "session_2": [turn("D2:1", "Bo", "Back from Oslo.")],
        "session_1_date_time": "1:56 pm on 8 January, 2023",
        "session_1": [
            turn("D1:1", "Ann", "Hi!"),
            turn(
                "D1:2", "Bo", " Look! ", img_url=["x"], query="dog", blip_caption="a photo of a dog"
            ),
            turn("D1:3", "Ann", "Nice."),
        ],
        "session_10_date_time": "9:05 am on 3 March, 2023",
        "session_10": [turn("D10:1", "Ann", "Hello again."), turn("D10:26", "Bo", "Hello.")],
        "session_11_date_time": "9:05 am on 4 March, 2023",
    }
    asked = [
        (["D1:2"], 4),
        (["D1:2; D2:1 D01:02"], 1),
        (["D"], 2),
        (["D:10:26", "D9:9"], 3),
        ([" D10:01 "], 5),
        ([], 5),
    ]
    qa = [
        {
            "question": f"Question {n}?",
            "evidence": evidence,
            "category": category,
            "answer" if category < 5 else "adversarial_answer": n,
        }
        for n, (evidence, category) in enumerate(asked)
    ]
    return [{"sample_id": "conv-1", "conversation": talk, "qa": qa, "event_summary": {}}]


def audited(n: int, kind: str, evidence: list[str], answer: str, text: str = "") -> Json:
    return {
        "question_id": f"locomo_7_qa{n}", "question": text or f"Question {n}?", "golden_answer": "",
        "error_type": kind, "cited_evidence": [], "correct_evidence": evidence,
        "reasoning": "Bo says so.", "correct_answer": answer,
    }  # fmt: skip


def corrected(folder: Path, *errors: Json) -> Path:
    put(folder, locomo(), "locomo")
    (folder / "errors_conv_7.json").write_text(json.dumps(list(errors)), encoding="utf-8")
    return folder


def test_locomo_with_corrections(tmp_path: Path) -> None:
    folder = corrected(
        tmp_path,
        audited(0, "WRONG_CITATION", ["D1:3", "D2:1; D77:1"], "Oslo"),
        audited(2, "HALLUCINATION", ["D1:2"], "a dog"),
        audited(1, "TEMPORAL_ERROR", ["D1:2", "D2:1"], "May"),  # the evidence was right
        audited(3, "AMBIGUOUS", ["D1:1"], "both", text="Question 4?"),  # of another conversation
    )
    plain, data = load("locomo", folder / "locomo.json"), load("locomo-corrected", folder)
    (before,), (after,) = plain.conversations, data.conversations
    assert golds(after)[:4] == [("D1:3", "D2:1"), ("D1:2", "D2:1"), ("D1:2",), ("D10:26",)]
    assert golds(before)[:4] == [("D1:2",), ("D1:2", "D2:1"), (), ("D10:26",)]
    assert [q.answer for q in after.questions][:4] == ["Oslo", "May", "a dog", "3"]
    assert [replace(q, gold=(), answer="") for q in after.questions] == [
        replace(q, gold=(), answer="") for q in before.questions
    ]
    assert tuple(after.events) == tuple(before.events)
    assert {name: n for name, n in data.notes.items() if "correct" in name} == {
        "corrected": 3, "corrected_gold": 2, "corrected_gold_missing": 1, "corrections_elsewhere": 1,
        "corrected_wrong_citation": 1, "corrected_hallucination": 1,
        "corrected_temporal_error": 1}  # fmt: skip
    assert data.notes["questions_without_gold"] == 1
    assert (data.name, data.sha256 == plain.sha256) == ("locomo-corrected", False)
    assert [c.reason for c in corrections(folder)] == ["Bo says so."] * 4
    assert papers_of("locomo-corrected") == ("maharana2024locomo", "dial2026locomoaudit")
    assert papers_of("locomo") == ("maharana2024locomo",)


def test_corrections_need_both_kinds_of_files(tmp_path: Path) -> None:
    folder = corrected(tmp_path)
    (folder / "more.json").write_text("[]", encoding="utf-8")
    with pytest.raises(DataError, match="2 JSON files beside") as caught:
        load("locomo-corrected", folder)
    assert "data get locomo-audit" in caught.value.cure
    (folder / "more.json").unlink()
    (folder / "errors_conv_7.json").unlink()
    with pytest.raises(DataError, match="holds no file errors_conv_<n>"):
        load("locomo-corrected", folder)
    corrected(tmp_path, {**audited(0, "X", [], "a"), "question_id": "0"})
    with pytest.raises(DataError, match="error 1, question_id: '0' names no question"):
        load("locomo-corrected", folder)


def message(number: int, content: str, role: str = "user", **more: Json) -> Json:
    return {"role": role, "id": number, "content": content, **more}


def beam_chat() -> Json:
    return [
        {
            "batch_number": 1,
            "time_anchor": None,
            "turns": [
                [
                    message(
                        0,
                        "Hello ->-> 1,1",
                        time_anchor="March-15-2024",
                        index="1,1",
                        question_type="main_question",
                    ),
                    message(1, "Hi ->->  1,1", "assistant"),
                    message(2, "More\n->-> 1,1) ", question_type="followup_question"),
                    message(3, "Yes.", "assistant"),
                ],
                [message(4, "Next ->-> 1,N/A"), message(5, "Ok ->-> 1,2 ->-> 1,3", "assistant")],
            ],
        },
        {
            "batch_number": 2,
            "turns": [
                [message(6, "Late", time_anchor="April-05-2024"), message(7, "Fine", "assistant")]
            ],
        },
        {
            "batch_number": 3,
            "turns": [
                [
                    message(8, "Back in time", time_anchor="April-01-2024"),
                    message(9, "Bye", "assistant"),
                ]
            ],
        },
    ]


def beam_probes() -> Json:
    return {
        "abstention": [{"question": "Unknown?", "rubric": []}],
        "knowledge_update": [
            {"question": "Now?", "source_chat_ids": {"original_info": [0], "updated_info": [6, 0]}}
        ],
        "event_ordering": [{"question": "Order?", "source_chat_ids": [4, [2, 4], 99]}],
        "summarization": [
            {"question": "All?", "source_chat_ids": ["8", "id 9"], "conversation_sessions": [1, 2]}
        ],
    }


def longmemeval() -> Json:
    def session(*texts: str, answer: int = -1) -> Json:
        marks = [{"has_answer": n == answer} if answer >= 0 else {} for n in range(len(texts))]
        return [
            {"role": ("user", "assistant")[n % 2], "content": text, **marks[n]}
            for n, text in enumerate(texts)
        ]

    def instance(name: str, answer: int) -> Json:
        return {"question_id": name, "question_type": "knowledge-update",
                "question": 1776 if answer < 0 else "Which one?", "answer": 5,
                "question_date": "2023/05/30 (Tue) 04:17", "haystack_session_ids": ["s2", "s1",
                "s2"],
                "haystack_dates": ["2023/05/21 (Sun) 10:01", "2023/05/20 (Sat) 02:21",
                                   "2023/05/21 (Sun) 10:02"],
                "haystack_sessions": [session("a", "b", "c"), session("d", "e", answer=answer),
                                      session("f")], "answer_session_ids": ["s1"]}  # fmt: skip

    return [instance("q1", 1), instance("q2", -1), instance("q3_abs", 0)]


def put(folder: Path, value: Json, name: str) -> Path:
    """Write a value as a data set's file or folder and return the path for `load`."""
    if name == "beam":
        chat, probes = value
        return beam(folder, "100K/1", chat, probes)
    if name in FILES:
        return write_files(folder, value, name)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def beam(root: Path, where: str, chat: Json, probes: Json) -> Path:
    folder = root / where
    (folder / "probing_questions").mkdir(parents=True)
    (folder / "chat.json").write_text(json.dumps(chat), encoding="utf-8")
    (folder / "probing_questions" / "probing_questions.json").write_text(
        json.dumps(probes), encoding="utf-8"
    )
    return root


VALID: dict[str, Callable[[], Json]] = {
    "locomo": locomo,
    "beam": lambda: [beam_chat(), beam_probes()],
    "longmemeval": longmemeval,
    "madial": madial,
    "memdaily": memdaily,
    "precisionmembench": precisionmembench,
}


def golds(conversation: Conversation) -> list[tuple[str, ...]]:
    return [q.gold for q in conversation.questions]


def test_locomo(tmp_path: Path) -> None:
    data = load("locomo", put(tmp_path, locomo(), "locomo"))
    (talk,) = data.conversations
    # sessions in numeric order
    assert [e.id for e in talk.events] == ["D1:1", "D1:2", "D1:3", "D2:1", "D10:1", "D10:26"]
    assert talk.events[1] == Event(
        hours(datetime(2023, 1, 8, 13, 57)),
        " Look! ",
        "Bo",
        "session_1",
        "D1:2",
        "a photo of a dog",
    )
    assert talk.events[3].time == hours(datetime(2023, 2, 1, 0, 48))
    assert golds(talk) == [("D1:2",), ("D1:2", "D2:1"), (), ("D10:26",), ("D10:1",), ()]
    assert [q.category for q in talk.questions] == [
        "single-hop",
        "multi-hop",
        "temporal",
        "open-domain",
        "adversarial",
        "adversarial",
    ]
    assert [q.id for q in talk.questions][:2] == ["conv-1/q0", "conv-1/q1"]
    assert {q.time for q in talk.questions} == {talk.events[-1].time + 1.0}
    assert data.notes == {
        "conversations": 1, "events": 6, "questions": 6, "questions_without_gold": 2,
        "events_without_text": 0, "times_clamped": 0,
        "sessions_out_of_order": 0, "gold_missing": 1, "evidence_unreadable": 1,
        "dates_without_session": 1, "sessions_without_turns": 0}  # fmt: skip


def test_locomo_by_session(tmp_path: Path) -> None:
    (talk,) = load("locomo", put(tmp_path, locomo(), "locomo"), unit="session").conversations
    assert [e.id for e in talk.events] == ["session_1", "session_2", "session_10"]
    assert talk.events[0].text == "Ann: Hi!\nBo:  Look!  [a photo of a dog]\nAnn: Nice."
    assert (talk.events[0].time, talk.events[0].speaker, talk.events[0].session) == (
        hours(datetime(2023, 1, 8, 13, 56)),
        "",
        "session_1",
    )
    assert golds(talk) == [
        ("session_1",),
        ("session_1", "session_2"),
        (),
        ("session_10",),
        ("session_10",),
        (),
    ]


def test_a_session_that_runs_backwards_is_clamped_and_counted(tmp_path: Path) -> None:
    value = locomo()
    value[0]["conversation"]["session_2_date_time"] = "1:57 pm on 8 January, 2023"
    data = load("locomo", put(tmp_path, value, "locomo"))
    times = [e.time for e in data.conversations[0].events]
    assert data.notes["times_clamped"] == 1
    assert times[3] == pytest.approx(times[2] + 1 / 60)


@pytest.mark.parametrize("form", ["file", "folder", "folder of folders"])
def test_a_path_is_a_file_its_folder_or_the_folder_of_data_sets(tmp_path: Path, form: str) -> None:
    home = tmp_path / "locomo"
    home.mkdir()
    file = put(home, locomo(), "locomo")
    data = load("locomo", {"file": file, "folder": home, "folder of folders": tmp_path}[form])
    assert data.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()


def test_beam(tmp_path: Path) -> None:
    data = load("beam", put(tmp_path, [beam_chat(), beam_probes()], "beam"))
    (chat,) = data.conversations
    assert chat.id == "100K/1"
    # no generator marks
    assert [e.text for e in chat.events] == ["Hello", "Hi", "More", "Yes.", "Next", "Ok", "Late",
                                             "Fine", "Back in time", "Bye"]  # fmt: skip
    assert [e.session for e in chat.events] == ["1.1"] * 4 + ["1.2"] * 2 + ["2.1"] * 2 + ["3.1"] * 2
    assert [e.id for e in chat.events] == list("0123456789")
    assert chat.events[0].time == hours(datetime(2024, 3, 15, 9)) and chat.events[6].time == hours(
        datetime(2024, 4, 5, 9)
    )
    assert chat.events[5].time == pytest.approx(hours(datetime(2024, 3, 15, 9, 5)))
    # an anchor that ran backwards
    assert chat.events[8].time == pytest.approx(hours(datetime(2024, 4, 5, 9, 2)))
    assert {q.category: q.gold for q in chat.questions} == {
        "abstention": (),
        "knowledge_update": ("0", "6"),
        "event_ordering": ("4", "2"),
        "summarization": ("8", "9"),
    }
    assert (
        data.notes["times_clamped"],
        data.notes["gold_missing"],
        data.notes["questions_without_gold"],
    ) == (1, 1, 1)
    merged = load("beam", tmp_path, unit="session").conversations[0]
    assert merged.events[1].text == "user: Next\nassistant: Ok"
    assert merged.questions[1].gold == ("1.1", "2.1")


def test_beam_scales_come_in_order_of_size_and_any_level_can_be_given(tmp_path: Path) -> None:
    for where in ("1M/2", "100K/10", "100K/9", "500K/1"):
        beam(tmp_path, where, beam_chat(), beam_probes())
    assert [c.id for c in load("beam", tmp_path).conversations] == [
        "100K/9",
        "100K/10",
        "500K/1",
        "1M/2",
    ]
    assert [c.id for c in load("beam", tmp_path, limit=2).conversations] == ["100K/9", "100K/10"]
    assert [c.id for c in load("beam", tmp_path / "100K").conversations] == ["100K/9", "100K/10"]
    one = load("beam", tmp_path / "500K" / "1")
    assert [c.id for c in one.conversations] == ["500K/1"]
    files = ("500K/1/chat.json", "500K/1/probing_questions/probing_questions.json")
    assert (
        one.sha256
        == hashlib.sha256(
            b"".join(name.encode() + (tmp_path / name).read_bytes() for name in files)
        ).hexdigest()
    )


@pytest.mark.parametrize("restart", [False, True], ids=["ids run on", "ids restart"])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda plans: plans,
        lambda plans: [{"plan-1": None, "plan-2": None} | plan for plan in plans],
        lambda plans: {key: value for plan in reversed(plans) for key, value in plan.items()},
        lambda plans: [plans],
    ],
    ids=["list of plans", "null plans", "one object", "list of lists"],
)
def test_beam_plans(tmp_path: Path, wrap: Callable[[Json], Json], restart: bool) -> None:
    """The 10M chats: lists or objects of plans, whose message ids may run on or start again."""

    def plan(first: int) -> Json:
        return [
            {
                "batch_number": 1,
                "turns": [[message(first, "a"), message(first + 1, "b", "assistant")]],
            }
        ]

    plans = [{"plan-1": plan(0)}, {"plan-2": plan(0 if restart else 2)}]
    probes = {
        "event_ordering": [
            {
                "question": "Where?",
                "source_chat_ids": {"plan-2": [0 if restart else 2], "plan-1": [1]},
            },
            {"question": "And?", "source_chat_ids": [1]},
        ]
    }
    data = load("beam", beam(tmp_path, "10M/1", wrap(plans), probes))
    chat = data.conversations[0]
    assert [e.id for e in chat.events] == [
        "plan-1/0",
        "plan-1/1",
        *(["plan-2/0", "plan-2/1"] if restart else ["plan-2/2", "plan-2/3"]),
    ]
    assert [e.session for e in chat.events] == ["plan-1/1.1"] * 2 + ["plan-2/1.1"] * 2
    assert golds(chat) == [
        ("plan-2/0" if restart else "plan-2/2", "plan-1/1"),
        () if restart else ("plan-1/1",),
    ]
    assert data.notes["gold_ambiguous"] == restart
    assert data.notes["chats_without_first_date"] == 1 and chat.events[0].time == hours(
        datetime(2024, 1, 1, 9)
    )


def test_beam_batches_that_are_bare_lists_are_cut_at_main_questions(tmp_path: Path) -> None:
    batches = [
        [
            message(0, "a", question_type="main_question"),
            message(1, "b"),
            message(2, "c", question_type="main_question"),
        ],
        [message(3, "d")],
    ]
    chat = load("beam", beam(tmp_path, "100K/1", batches, beam_probes())).conversations[0]
    assert [e.session for e in chat.events] == ["1.1", "1.1", "1.2", "2.1"]


def test_conversation_sessions_stand_in_for_missing_source_ids(tmp_path: Path) -> None:
    probes = {
        "summarization": [
            {"question": "All?", "conversation_sessions": [2, 4]},
            {"question": "Some?", "conversation_sessions": 3},
        ]
    }
    chat = load("beam", beam(tmp_path, "100K/1", beam_chat(), probes)).conversations[0]
    assert golds(chat) == [("2", "4"), ()]


@pytest.mark.parametrize(("text", "kept"), [
    ("a ->-> 1,2", "a"), ("a\n\n->-> 12,34\n", "a"), ("a->->3,N/A", "a"), ("a ->-> 1,2\nb", "a\nb"),
    ("a ->->", "a"), ("a ->-> 1,2).", "a"),
    ("a -> b", "a -> b"), ("x->y->z", "x->y->z"),
])  # fmt: skip
def test_generator_marks_are_removed(tmp_path: Path, text: str, kept: str) -> None:
    data = load(
        "beam",
        beam(
            tmp_path, "100K/1", [{"turns": [[message(0, text), message(1, "end")]]}], beam_probes()
        ),
    )
    assert data.conversations[0].events[0].text == kept


def test_a_mark_that_survives_is_an_error(tmp_path: Path) -> None:
    beam(
        tmp_path,
        "100K/1",
        [{"turns": [[message(0, "see ->-> the plan entry that follows here")]]}],
        beam_probes(),
    )
    with pytest.raises(DataError, match=r"chat\.json.*message 1.*content.*mark"):
        load("beam", tmp_path)


def test_longmemeval(tmp_path: Path) -> None:
    data = load("longmemeval", put(tmp_path, longmemeval(), "longmemeval"))
    first, second, third = data.conversations
    # by date; a session id occurs twice
    assert [e.id for e in first.events] == ["s1#0", "s1#1", "s2#0", "s2#1", "s2#2", "s2~2#0"]
    assert [e.text for e in first.events] == list("deabcf")
    assert first.events[2].time == hours(datetime(2023, 5, 21, 10, 1))
    # it would begin inside the session before
    assert first.events[5].time == pytest.approx(hours(datetime(2023, 5, 21, 10, 4)))
    assert first.questions == (
        Question(
            "q1",
            "Which one?",
            hours(datetime(2023, 5, 30, 4, 17)),
            "knowledge-update",
            ("s1#1",),
            "5",
        ),
    )
    # nothing marked: the whole session
    assert (second.questions[0].text, second.questions[0].gold) == ("1776", ("s1#0", "s1#1"))
    assert (third.questions[0].category, third.questions[0].gold) == ("abstention", ())
    assert (
        data.notes["times_clamped"],
        data.notes["session_ids_repeated"],
        data.notes["gold_unmarked"],
    ) == (3, 3, 1)
    merged = load(
        "longmemeval", tmp_path / "longmemeval.json", unit="session", limit=1
    ).conversations[0]
    assert [e.id for e in merged.events] == ["s1", "s2", "s2~2"] and merged.questions[0].gold == (
        "s1",
    )


def test_a_question_is_never_asked_before_the_last_event(tmp_path: Path) -> None:
    value = longmemeval()[:1]
    value[0]["question_date"] = "2023/05/21 (Sun) 10:00"
    data = load("longmemeval", put(tmp_path, value, "longmemeval"))
    assert data.conversations[0].questions[0].time == pytest.approx(
        data.conversations[0].events[-1].time + MINUTE
    )
    assert data.notes["questions_clamped"] == 1


BROKEN_BYTES = {
    "empty": b"", "blank": b"  \n", "cut off": b'[{"sample_id": "conv', "not JSON": b"hello",
    "byte order mark": b"\xef\xbb\xbf[]",
    "UTF-16": "[]".encode("utf-16"), "Latin-1": b'["\xe9"]', "NaN": b"[NaN]",
    "Infinity": b'{"a": -Infinity}',
    "an endless number": b"[" + b"9" * 5000 + b"]", "nested": b"[" * 200_000, "null": b"null",
    "a string": b'"x"', "a number": b"3",
    "an empty list": b"[]", "an empty object": b"{}", "a list of numbers": b"[1, 2]",
}  # fmt: skip


@pytest.mark.parametrize("name", VALID)
@pytest.mark.parametrize("content", BROKEN_BYTES.values(), ids=BROKEN_BYTES)
def test_a_broken_file_is_named_with_a_cure(tmp_path: Path, name: str, content: bytes) -> None:
    path = put(tmp_path, VALID[name](), name)
    several = name == "beam" or name in FILES
    first = "100K/1/chat.json" if name == "beam" else FILES.get(name, (f"{name}.json",))[0]
    (tmp_path / first).write_bytes(content)
    with pytest.raises(DataError) as caught:
        load(name, path)
    assert str(tmp_path if several else tmp_path / first) in caught.value.where
    assert caught.value.cure


def spoil(value: Json, keys: str, new: Json) -> Json:
    """The value with the node at a path replaced, or deleted where `new` is `...`."""
    *path, last = [int(key) if key.isdecimal() else key for key in keys.split("/")]
    node = value
    for key in path:
        node = node[key]
    if new is ...:
        del node[last]
    else:
        node[last] = new
    return value


@pytest.mark.parametrize(
    ("name", "keys", "new", "words"),
    [
        ("locomo", "0/sample_id", ..., "sample 1: no 'sample_id'"),
        ("locomo", "0/conversation", [], "sample conv-1, conversation: an object is expected"),
        (
            "locomo",
            "0/conversation/session_1/1/text",
            ...,
            "sample conv-1, session_1, turn 2: no 'text'",
        ),
        (
            "locomo",
            "0/conversation/session_1/1/text",
            "a\0b",
            "sample conv-1, session_1, turn 2, text: the text holds a NUL",
        ),
        ("locomo", "0/conversation/session_1/1/text", "\ud83d", "half of a surrogate pair"),
        ("locomo", "0/conversation/session_1/1/dia_id", "D1:1", "'D1:1' 2 times"),
        (
            "locomo",
            "0/conversation/session_1/1/blip_caption",
            7,
            "blip_caption: a string is expected, a number was found",
        ),
        ("locomo", "0/conversation/session_1_date_time", ..., "no 'session_1_date_time'"),
        ("locomo", "0/conversation/session_1_date_time", "yesterday", "'yesterday' is not a time"),
        (
            "locomo",
            "0/conversation/session_1_date_time",
            "13:56 pm on 31 February, 2023",
            "is not a time",
        ),
        ("locomo", "0/qa", [], "has no questions"),
        ("locomo", "0/qa/2/category", 6, "question 3: category 6"),
        ("locomo", "0/qa/2/evidence", {"a": 1}, "question 3, evidence: a list is expected"),
        ("beam", "0/0/turns/0/1/content", ..., "exchange 1, message 2: no 'content'"),
        ("beam", "0/0/turns/0/1/role", True, "role: a string is expected, true or false was found"),
        ("beam", "0/0/turns", ..., "neither a message list, a batch with 'turns' nor a plan"),
        ("beam", "0/0/turns", "x", "turns: a list is expected"),
        ("beam", "0/0", [[[[[[[[[[[]]]]]]]]]]], "nested deeper"),
        ("beam", "1/event_ordering/0/question", None, "event_ordering, question 1: no 'question'"),
        ("beam", "1/event_ordering/0/source_chat_ids", [True], "true or false was found"),
        ("beam", "1/event_ordering", 3, "event_ordering: a list is expected"),
        ("longmemeval", "1/question_id", "q1", "conversation id 'q1' occurs more than once"),
        (
            "longmemeval",
            "0/haystack_dates/0",
            "2023/13/40 (Sun) 10:01",
            "instance q1, haystack_dates, date 1: '2023/13/40",
        ),
        ("longmemeval", "0/haystack_dates/0", ..., "3 sessions, 3 session ids and 2 dates"),
        ("longmemeval", "0/haystack_sessions/1/0/content", None, "session 2, turn 1: no 'content'"),
        ("longmemeval", "0/haystack_sessions", {}, "a list is expected, an object was found"),
        ("longmemeval", "0/question_date", ..., "instance q1: no 'question_date'"),
        ("longmemeval", "0/question", [], "question: a string is expected"),
        ("longmemeval", "0/question_type", "", "question_type: it is empty"),
    ],
)
def test_a_malformed_value_is_named_by_file_place_and_cure(
    tmp_path: Path, name: str, keys: str, new: Json, words: str
) -> None:
    with pytest.raises(DataError) as caught:
        load(name, put(tmp_path, spoil(VALID[name](), keys, new), name))
    assert words in str(caught.value)
    assert str(tmp_path) in caught.value.where and caught.value.cure


def nodes(value: Json, path: tuple[Json, ...] = ()) -> list[tuple[Json, ...]]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(found for key, item in inner for found in nodes(item, (*path, key)))]


JUNK: tuple[Json, ...] = (..., None, True, -1, 10**40, 2.5, 1e300, "", "x", "plan-3", "D1:1",
                          "->->", "a\0", "\udc00",
                          [], {}, [[]], [None], {"a": 1}, {"turns": []}, ["x"] * 3)  # fmt: skip


@pytest.mark.parametrize("name", VALID)
@given(
    draws=st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(JUNK)), min_size=1, max_size=3)
)
def test_damaged_data_load_or_raise_a_data_error(name: str, draws: list[tuple[int, Json]]) -> None:
    value = copy.deepcopy(VALID[name]())
    for which, new in draws:
        places = nodes(value)[1:]
        if not places or (name == "beam" and len(value) != 2):
            break
        *path, last = places[which % len(places)]
        node = value
        for key in path:
            node = node[key]
        if new is not ...:
            node[last] = copy.deepcopy(new)  # or a later draw would spoil the junk itself
        elif not (name == "beam" and not path):
            del node[last]
    with tempfile.TemporaryDirectory() as folder:
        try:
            sound(load(name, put(Path(folder), value, name)))
        except DataError as error:
            assert error.where and error.cure


def sound(data: Dataset) -> None:
    """What users of a data set rely on, checked without the code that promises it."""
    assert data.conversations and len(data.sha256) == 64
    for conversation in data.conversations:
        ids = [e.id for e in conversation.events]
        assert ids and conversation.questions and len(set(ids)) == len(ids)
        assert [e.time for e in conversation.events] == sorted(e.time for e in conversation.events)
        for question in conversation.questions:
            assert set(question.gold) <= set(ids) and len(set(question.gold)) == len(question.gold)
            told = {e.id for e in conversation.events if e.time <= question.time}
            assert set(question.gold) <= told and not set(question.gold) & set(question.forbidden)
            assert set(question.forbidden) <= set(ids)
            assert question.text and question.category
    assert data.notes["questions_without_gold"] == sum(
        not q.gold for c in data.conversations for q in c.questions
    )


@pytest.mark.parametrize("name", VALID)
@pytest.mark.parametrize("path", [None, "missing", "empty folder", "several files", "\0"])
def test_a_path_that_holds_no_data_set_is_an_error(
    tmp_path: Path, name: str, path: str | None
) -> None:
    (tmp_path / "empty folder").mkdir()
    (tmp_path / "several files").mkdir()
    for n in "12":
        (tmp_path / "several files" / f"{n}.json").write_text("[]", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load(name, tmp_path / path if path else None)
    assert caught.value.cure


def test_missing_probing_questions_are_named(tmp_path: Path) -> None:
    (tmp_path / "1M" / "3").mkdir(parents=True)
    (tmp_path / "1M" / "3" / "chat.json").write_text(json.dumps(beam_chat()), encoding="utf-8")
    with pytest.raises(DataError, match=r"probing_questions\.json"):
        load("beam", tmp_path)


def test_unknown_words_are_answered_with_the_known_ones() -> None:
    with pytest.raises(DataError) as caught:
        load("squad")
    assert all(name in str(caught.value) for name in LOADERS)
    with pytest.raises(DataError, match="turn or session"):
        load("demo", unit="word")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="limit of 0"):
        load("demo", limit=0)


EVENT = Event(1.0, "a", id="1")
ASK = Question("q", "?", 2.0, "c", ("1",))


@pytest.mark.parametrize(("events", "questions", "words"), [
    ((), (ASK,), "no events"), ((EVENT,), (), "no questions"), ((EVENT, EVENT), (ASK,), "2 times"),
    ((EVENT, Event(2.0, "b")), (ASK,), "without an id"),
    ((Event(float("nan"), "a", id="1"),), (ASK,), "not finite"), ((EVENT, Event(0.5, "b", id="2")),
    (ASK,), "backwards"),
    ((EVENT,), (Question("q", "?", 0.0, "c", ()),), "before its first event"), ((EVENT,), (ASK,
    ASK), "the question id 'q' 2 times"),
    ((EVENT,), (Question("q", "?", 2.0, "c", ("7",)),), "names no event"),
    ((EVENT, Event(3.0, "b", id="2")), (Question("q", "?", 2.0, "c", ("2",)),),
     "told after the question"),
    ((EVENT,), (Question("q", "?", 2.0, "c", (), after="7"),), "after '7', which names no event"),
    ((EVENT, Event(3.0, "b", id="2")), (Question("q", "?", 2.0, "c", (), after="2"),),
     "not between event '2' and the next one"),
])  # fmt: skip
def test_the_promises_of_a_data_set_are_checked(
    events: tuple[Event, ...], questions: tuple[Question, ...], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        assemble("x", "", [Conversation("c", events, questions)], {}, "here")


def test_sources_state_licence_and_citation() -> None:
    for source in fetching.list_sources():
        assert source.licence and source.citation and source.url.startswith("https://")
        paper = load_references().get(source.paper)
        first, *others = (name.partition(",")[0] for name in paper.fields["author"].split(" and "))
        authors = {0: first, 1: f"{first} & {''.join(others)}"}.get(len(others), f"{first} et al.")
        assert source.citation.startswith(f"{authors} {paper.fields['year']}"), source.name
        assert source.sha256 is None or len(bytes.fromhex(source.sha256)) == 32
        assert bool(source.file) != bool(source.by_hand)
        assert bool(source.sha256) == bool(source.size)
        fixed = source.sha256 or re.search("/[0-9a-f]{40}/", source.url)
        assert bool(source.file) == bool(fixed), "a file has a digest, or a commit in its address"
    known = {s.name for s in fetching.list_sources()} | set(chain(*OVERLAYS.values()))
    assert known >= set(LOADERS) - {"demo", "conversations", *OVERLAYS}


def test_a_first_download_is_recorded_and_a_changed_file_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pooch

    def retrieve(
        url: str, known_hash: str | None, fname: str, path: Path, progressbar: bool
    ) -> None:
        assert known_hash is None and url.endswith(fname) and progressbar
        (path / fname).write_bytes(b"[]")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    unpublished = replace(fetching.SOURCES[0], name="new", file="new.json", sha256=None)
    unpublished = replace(unpublished, url="https://example.org/new.json")
    monkeypatch.setattr(fetching, "SOURCES", (unpublished,))
    path = fetching.get("new", tmp_path / "new")
    words = hashlib.sha256(b"[]").hexdigest()
    assert words in capsys.readouterr().out
    assert path.with_name(path.name + ".sha256").read_text(encoding="utf-8").split() == [
        words,
        path.name,
    ]
    assert fetching.check(path) == fetching.Checked(path, words, "none")
    assert fetching.check(path, recorded=True) == fetching.Checked(path, words, "first use")
    path.write_bytes(b"[1]")
    with pytest.raises(DataError, match="recorded on first use"):
        fetching.check(path, recorded=True)
    with pytest.raises(DataError, match="recorded on first use"):
        fetching.get("new", tmp_path / "new", progress=False)


def test_all_files_of_a_data_set_are_fetched_from_one_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pooch

    asked: list[str] = []

    def retrieve(url: str, fname: str, path: Path, **_: Json) -> None:
        asked.append(url)
        write_files(path, madial(), "madial")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    folder = fetching.get("madial", tmp_path / "data")
    assert folder == tmp_path / "data" and len(load("madial", folder).conversations) == 1
    assert len(asked) == 1 and asked[0].endswith("/data/en/MADial-Bench-en-dialogue.json")
    assert all((folder / f"{name}.sha256").is_file() for name in FILES["madial"])
    (folder / FILES["madial"][1]).unlink()
    (folder / f"{FILES['madial'][1]}.sha256").unlink()
    fetching.get("madial", folder, progress=False)
    assert asked[1] == asked[0].replace(*FILES["madial"])
    assert fetching.check(folder).sha256 == load("madial", folder).sha256


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (ConnectionError("no route"), "machine that has a network"),
        (ValueError("hash"), "official file has changed"),
    ],
)
def test_a_failed_download_names_the_alternative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception, words: str
) -> None:
    import pooch

    def retrieve(*_: Json, **__: Json) -> None:
        raise failure

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(DataError, match=words):
        fetching.get("locomo", tmp_path)
    assert not list(tmp_path.iterdir())


def test_get_and_check_refuse_what_they_cannot_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="locomo, longmemeval"):
        fetching.get("squad", tmp_path)
    with pytest.raises(DataError, match="download_dataset"):
        fetching.get("beam", tmp_path)
    with pytest.raises(DataError, match="no such file"):
        fetching.check(tmp_path / "x")
    (tmp_path / "locomo10.json").write_bytes(b"[]")
    with pytest.raises(DataError, match="published"):
        fetching.check(tmp_path / "locomo10.json")
    folder = beam(tmp_path / "beam", "100K/1", beam_chat(), beam_probes())
    assert (
        fetching.record(folder).sha256
        == fetching.check(folder).sha256
        == load("beam", folder).sha256
    )
    assert fetching.check(folder, recorded=True).basis == "first use"


@pytest.mark.parametrize("recorded", [False, True])
def test_a_digest_beside_a_file_never_overrides_the_published_one(
    tmp_path: Path, recorded: bool
) -> None:
    """Whoever exchanges the file can write the other file, too."""
    file = tmp_path / "locomo10.json"
    file.write_bytes(b"[]")
    other = hashlib.sha256(b"[]").hexdigest()
    file.with_name("locomo10.json.sha256").write_text(f"{other}  locomo10.json\n")
    for look in (lambda: fetching.check(file, recorded=recorded), lambda: fetching.record(file)):
        with pytest.raises(DataError, match=f"{other}, and [0-9a-f]+ was published"):
            look()


def test_a_digest_that_is_asked_for_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_bytes(b"[]")
    with pytest.raises(DataError, match="no digest is recorded") as caught:
        fetching.check(tmp_path / "mine.json", recorded=True)
    assert "sha256sum" in caught.value.cure


def test_a_manifest_says_how_its_data_stand_to_the_published_ones() -> None:
    (locomo,) = (s for s in fetching.SOURCES if s.name == "locomo")
    assert fetching.basis(f"data/{locomo.file}", locomo.sha256 or "") == "published"
    assert fetching.basis(f"data/{locomo.file}", "0" * 64) == "another than the published one"
    assert fetching.basis("", "0" * 64) == fetching.basis("a.json", "") == "none published"


def homes(name: str, folder: Path) -> list[Path]:
    """Where a data set is to be found: a small one written here, and the official files under
    HEBBARIUM_DATA where that is set.
    """
    official = Path(os.environ.get("HEBBARIUM_DATA", folder / "none")) / name
    return [put(folder, VALID[name](), name), *([official] if official.is_dir() else [])]


@pytest.mark.parametrize("unit", ["turn", "session"])
@pytest.mark.parametrize("name", VALID)
def test_small_and_official_files_keep_the_promises(
    tmp_path: Path, name: str, unit: Literal["turn", "session"]
) -> None:
    for home in homes(name, tmp_path):
        sound(load(name, home, unit=unit))


def test_locomo_gold_agrees_with_a_plain_reading(tmp_path: Path) -> None:
    """Reference: evidence that is exactly the dia_id of a turn is gold; 997 of the 999 questions
    of conv-26, 30, 41, 42, 43 have some.
    """
    for home in homes("locomo", tmp_path):
        data = load("locomo", home)
        file = home if home.is_file() else next(home.glob("*.json"))
        plain = 0
        for sample, conversation in zip(
            json.loads(file.read_text(encoding="utf-8")), data.conversations, strict=True
        ):
            turns = {
                turn["dia_id"]
                for session in sample["conversation"].values()
                if isinstance(session, list)
                for turn in session
            }
            for item, question in zip(sample["qa"], conversation.questions, strict=True):
                assert set(item["evidence"]) & turns <= set(question.gold)
                plain += bool(set(item["evidence"]) & turns)
        assert plain > 0
        if [c.id for c in data.conversations] == [
            "conv-26",
            "conv-30",
            "conv-41",
            "conv-42",
            "conv-43",
        ]:
            assert sum(bool(q.gold) for c in data.conversations for q in c.questions) == 997


def test_beam_sources_become_gold(tmp_path: Path) -> None:
    """Reference: questions whose `source_chat_ids` hold an integer anywhere have gold; these are
    179 of the 200 of the 100K chats 1 to 10.
    """
    for home in homes("beam", tmp_path):
        chats = {c.id: c for c in load("beam", home).conversations}
        for name, chat in chats.items():
            probes = json.loads(
                (home / name / "probing_questions" / "probing_questions.json").read_text(
                    encoding="utf-8"
                )
            )
            sources = [
                json.dumps(item.get("source_chat_ids"))
                for group in probes.values()
                for item in group
            ]
            assert [bool(q.gold) for q in chat.questions] == [
                any(sign.isdecimal() for sign in source) for source in sources
            ]
            assert not any("->->" in e.text for e in chat.events)
        known = [f"100K/{n}" for n in range(1, 11)]
        if set(known) <= set(chats):
            assert sum(bool(q.gold) for name in known for q in chats[name].questions) == 179
