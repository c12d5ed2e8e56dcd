"""The scripts that compare shortlists and the index `ivf` with all rows, on small data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hebbarium as hb
from hebbarium.benchmarks.datasets import Conversation, Dataset, Question, load
from hebbarium.benchmarks.datasets.long_chat import write_long_chat
from hebbarium.benchmarks.speed import index_answers, shortlist_answers
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.scale import approximate, shortlist


def data(*conversations: Conversation) -> Dataset:
    return Dataset("own", "0", conversations, {})


def asked(text: str, *gold: str) -> Question:
    return Question(text, text, 9.0, "any", gold)


EARLY = Conversation(
    "early",
    (
        Event(1.0, "It rained. We left.", id="a", dated=False),
        Event(5.0, "We left. Nobody came!", id="b", dated=False),
    ),
    (asked("who", "b"), asked("nothing")),
)
LATE = Conversation(
    "late",
    (Event(2.0, "It was dry.", id="a", dated=False), Event(6.0, "We left.", id="c", dated=False)),
    (asked("when", "a", "c"),),
)


def test_conversations_become_one_in_the_order_of_time() -> None:
    found = shortlist_answers.merged([data(EARLY), data(LATE)], split=False)
    assert [e.id for e in found.events] == ["0/early/a", "1/late/a", "0/early/b", "1/late/c"]
    assert all(found.turns[e.id] == {e.id} for e in found.events)
    assert [(q.text, q.conversation, q.gold) for q in found.questions] == [
        ("who", "0/early", {"0/early/b"}),
        ("when", "1/late", {"1/late/a", "1/late/c"}),
    ]


def test_sentences_are_events_once_and_parts_of_every_turn_that_says_them() -> None:
    found = shortlist_answers.merged([data(EARLY), data(LATE)], split=True)
    assert [(e.text, found.turns[e.id]) for e in found.events] == [
        ("It rained.", {"0/early/a"}),
        ("We left.", {"0/early/a", "0/early/b", "1/late/c"}),
        ("It was dry.", {"1/late/a"}),
        ("Nobody came!", {"0/early/b"}),
    ]
    assert len({e.id for e in found.events}) == 4
    assert found.mark != shortlist_answers.merged([data(EARLY), data(LATE)], split=False).mark
    shown = Conversation("shown", (Event(1.0, "", caption="a cat", id="a"),), (asked("who", "a"),))
    (picture,) = shortlist_answers.merged([data(shown)], split=True).events
    assert picture.caption == "a cat"


def test_answers_are_compared_question_by_question() -> None:
    found = shortlist_answers.merged([data(EARLY), data(LATE)], split=False)
    whole = shortlist_answers.Answers(
        (frozenset({1, 2}), frozenset({3, 4})), (1, 3), np.array([1.0, 0.5]), 1.0, 1.0
    )
    short = shortlist_answers.Answers(
        (frozenset({1, 5}), frozenset({3, 4})), (1, 4), np.array([0.0, 1.0]), 3.0, 2.0
    )
    got = shortlist_answers.compared(short, whole, found, "ivf", 64)
    assert (got.overlap, got.same, got.recall, got.less, got.ms, got.scans) == (
        0.75,
        0.5,
        0.5,
        -0.25,
        3.0,
        1.5,
    )
    assert got.overlap_interval == (0.5, 1.0) and got.less_interval == (-1.0, 0.5)


@pytest.mark.slow
def test_a_memory_is_asked_in_part_and_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, model = (
        shortlist_answers.merged([load("demo", limit=2)], split=False),
        embedder("hashing:64"),
    )
    n, whole, (short, lists, _) = shortlist_answers.measured(
        "minimal", found, model, tmp_path, ["exact", "ivf"], [80]
    )
    # so few rows are searched exactly
    assert n == len(found.events) and (lists.overlap, lists.same, lists.less) == (1.0, 1.0, 0.0)
    monkeypatch.setattr(shortlist, "PAYS", 1)
    monkeypatch.setattr(Engine, "encode_all", None)  # the memory is not made again
    path = shortlist_answers.lived("minimal", found, model, tmp_path)
    rows, recall = list[list[set[int]]](), list[float]()
    for most in (None, 80):
        with hb.memory("minimal", embedding=model, path=path, shortlist=most) as memory:
            answers = [memory.retrieve(q.text) for q in found.questions]
        rows.append([set(answer.rows.tolist()) for answer in answers])
        recall.append(
            np.mean(
                [
                    len(q.gold & {e.id for e in answer.events}) / len(q.gold)
                    for q, answer in zip(found.questions, answers, strict=True)
                ]
            )
        )
    assert (
        short.overlap
        == pytest.approx(np.mean([len(a & b) / 10 for a, b in zip(*rows, strict=True)]))
        != 1.0
    )
    assert (whole.recall.mean(), short.recall, short.less) == pytest.approx(
        (*recall, recall[1] - recall[0])
    )
    for size in (64, n + 1):
        with pytest.raises(InputError, match=f"shortlist of {size}, of {n} rows, are asked of all"):
            shortlist_answers.measured("minimal", found, model, tmp_path, ["exact"], [size])


@pytest.mark.slow
def test_the_commands_read_official_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_long_chat(tmp_path, 2, 40)
    given = ["--beam", str(tmp_path), "--embedder", "hashing:32"]
    shortlist_answers.main([*given, "--set", "minimal", "--sentences", "--shortlist", "80",
                            "--index", "exact,ivf", "--json"])  # fmt: skip
    printed = json.loads(capsys.readouterr().out)
    assert [(row["index"], row["asked"]) for row in printed["compared"]] == [
        ("exact", 80),
        ("ivf", None),
        ("ivf", 80),
    ]
    # so few rows are searched exactly
    assert printed["rows"] == printed["events"] > 80 and printed["compared"][1]["overlap"] == 1.0
    with pytest.raises(SystemExit):
        shortlist_answers.main(["--shortlist", "64"])
    assert "name files by --locomo" in capsys.readouterr().err


@pytest.fixture(scope="module")
def rows() -> Any:
    """Rows around topics that differ in width, unit vectors of 24 dimensions."""
    rng = np.random.default_rng(0)
    topics, width = rng.standard_normal((400, 24)), rng.uniform(0.05, 0.5, (400, 1))
    near = np.repeat(topics, 50, axis=0) + np.repeat(width, 50, axis=0) * rng.standard_normal(
        (20_000, 24)
    )
    return index_answers.unit(near[rng.permutation(len(near))])


@pytest.mark.slow
def test_grown_rows_follow_their_own_and_are_as_near_as_real_ones(rows: Any) -> None:
    base, held, rng = rows[:2000], rows[2000:], np.random.default_rng(1)
    near = index_answers.neighbours(base)
    assert not np.any(near == np.arange(len(base))[:, None])
    cosines = base[:5] @ base.T
    cosines[np.arange(5), np.arange(5)] = -2.0
    assert np.array_equal(np.sort(near[:5]), np.sort(np.argsort(-cosines)[:, : index_answers.NEAR]))
    scale = index_answers.scale_of(base, held, near, rng)
    more = index_answers.grown(base, near, scale, 6000, rng)
    assert np.array_equal(more[::3], base) and np.allclose(
        np.linalg.norm(more, axis=1), 1.0, atol=1e-6
    )
    added = np.delete(more, np.s_[::3], axis=0)
    real, ours = ((some[:2000] @ base.T).max(axis=1) for some in (held, added))
    assert abs(np.median(real) - np.median(ours)) < 0.01


def test_recall_rises_with_the_lists_that_are_looked_at(rows: Any) -> None:
    """The goal for as many as a memory looks at is .98, also for questions that belong to no
    topic.
    """
    between = index_answers.unit(np.random.default_rng(2).standard_normal((40, 24)))
    few, usual, all_lists = index_answers.measured(
        "real", rows, between, [1, approximate.PROBED, 256]
    )
    assert (few.lists, few.rows) == (
        256,
        len(rows),
    ) and few.recall < 0.9 < 0.98 <= usual.recall < all_lists.recall
    assert all(ms > 0.0 for ms in (few.ms, few.ms_shortlist, few.ms_flat))
