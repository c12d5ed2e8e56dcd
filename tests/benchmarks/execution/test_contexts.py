"""Contexts measured: evidence that stands whole, parts of the answer, repetition; and what a run
writes of them.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from hebbarium.benchmarks.datasets import Dataset, load
from hebbarium.benchmarks.execution.contexts import (
    ContextRow,
    Wanted,
    context_row,
    numbers_in,
    repeated,
    stands,
)
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.execution.spec import Settings, budgets
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.runs.export import table, to_csv
from hebbarium.benchmarks.scores.context import context_metrics
from hebbarium.benchmarks.systems.base import Assembled
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

TEXT = "[3] Ada: We moved to New York in May 2021.\n[4] Bo: It cost $1,200 and 3.5 hours."


def assembled(text: str, **more: object) -> Assembled:
    return Assembled(
        text,
        **{
            "tokens": 40,
            "counter": "length/4",
            "items": 2,
            "condensed": 1,
            "truncated": True,
            **more,
        },
    )  # type: ignore[arg-type]


def scored(context: Assembled, gold: list[str], answer: str) -> ContextRow:
    return context_row(context, gold, answer, assembled("Bo: It cost $1,200 and 3.5 hours."))


def test_evidence_is_the_share_of_gold_events_that_stand_whole() -> None:
    gold = [
        "We moved to New York in May 2021.",
        "It cost $1,200 and 3.5 hours.",
        "We moved to new york",
        "It cost $1,200 and 3.5 hours. Yes.",
    ]
    assert scored(assembled(TEXT), gold, "")["evidence"] == 0.5
    assert (
        scored(assembled(TEXT), gold[:1], "")["evidence"] == 1.0
        and scored(assembled(""), gold[:1], "")["evidence"] == 0.0
    )
    latest = scored(assembled(TEXT), gold, "3.5 hours in May")
    assert (latest["latest_evidence"], latest["latest_answer"]) == (0.25, pytest.approx(2 / 3))
    assert (
        scored(assembled(TEXT), [], "May")["evidence"]
        is None
        is scored(assembled(TEXT), [], "May")["answer"]
    )


@pytest.mark.parametrize(("answer", "share"), [
    ("New York", 1.0), ("York", 1.0), ("New Orleans", 0.0), ("moving", 1.0), ("It cost 1200", 1.0),
    ("It cost 1,201", 0.5), ("for Ada in Oslo", 0.5),
    ("3.5 hours", 1.0), ("35 hours", 0.5), ("Ada moved in 2021, and Cleo paid", 3 / 5),
])  # fmt: skip
def test_an_answer_is_its_words_numbers_and_names(answer: str, share: float) -> None:
    assert Wanted.of(answer).share(TEXT) == pytest.approx(share)


def test_an_answer_of_nothing_but_stop_words_is_not_scored() -> None:
    row = scored(assembled(TEXT), ["x"], "It is what it is.")
    assert row["answer"] is None


def test_names_stand_as_a_whole() -> None:
    assert (
        Wanted.of("New York").share("New things in York") == 0.0
        and Wanted.of("New York").share("new york") == 1.0
    )


def test_numbers_without_separators_of_thousands() -> None:
    assert numbers_in("1,200,300 and 1,20 and 7.5%") == {"1200300", "1,20", "7.5"}


def test_repetition_counts_sequences_that_appeared_before() -> None:
    words = "we sailed to the red harbour"
    assert repeated(words) == 0.0 and repeated("") == 0.0
    assert repeated(f"{words} {words}") == pytest.approx(1.0 - 6 / 8)


def test_a_text_without_characters_never_stands() -> None:
    assert not stands("", TEXT) and not stands(" \n", TEXT) and stands("a\x00b", "ab")


def test_means_are_by_budget_and_category_over_questions_with_gold() -> None:
    one, two, none = (
        scored(assembled(TEXT, tokens=n), gold, "moved to Oslo")
        for n, gold in ((10, ["It cost"]), (30, ["nowhere"]), (90, []))
    )
    found = context_metrics(
        [
            ("a", {"512": one, "64": two}),
            ("b", {"512": two, "64": two}),
            ("b", {"512": none, "64": none}),
        ]
    )
    assert found["counter"] == "length/4" and list(found["budgets"]) == ["64", "512"]
    overall = found["budgets"]["512"]["overall"]
    assert (
        overall["n"],
        overall["answers"],
        overall["evidence"],
        overall["answer"],
        overall["tokens"],
    ) == (2, 2, 0.5, 0.5, 20.0)
    assert (
        found["budgets"]["512"]["by_category"]["b"]["evidence"] == 0.0
        and overall["truncated"] == 1.0
    )
    assert context_metrics([]) == {}


def test_budgets_of_the_command_line() -> None:
    assert budgets(["512,1024", "64"]) == (64, 512, 1024) and budgets([]) == ()
    for wrong in ("x", "1.5", "-1", "512,", "\u0661"):
        with pytest.raises(InputError, match="no number of tokens"):
            budgets([wrong])


def test_another_system_gives_no_contexts() -> None:
    with pytest.raises(InputError, match="another system"):
        Settings(system="a:b", context=(64,)).check_set(None)


@pytest.mark.parametrize("strategy", ["flat", "everything", "nothing"])
def test_a_run_writes_contexts_only_where_they_are_asked_for(strategy: str, tmp_path: Path) -> None:
    registry = Registry.installed()
    data = load("demo", limit=1)
    few: Dataset = replace(
        data,
        conversations=(
            replace(data.conversations[0], questions=data.conversations[0].questions[:4]),
        ),
    )
    embedder = CachedEmbedder(HashingEmbedder(64), None)
    plain = run(registry.set("bm25"), registry, few, embedder, tmp_path / "plain")
    found = run(
        registry.set("bm25"),
        registry,
        few,
        embedder,
        tmp_path / "more",
        settings=Settings(context=(64, 100_000), strategy=strategy),
    )  # type: ignore[arg-type]
    assert "contexts" not in plain and set(found["contexts"]["budgets"]) == {"64", "100000"}
    rows = [
        json.loads(line)
        for line in (tmp_path / "more" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    before = [
        json.loads(line)
        for line in (tmp_path / "plain" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [
        {name: value for name, value in row.items() if name != "contexts"} for row in rows
    ] == before
    assert all(row["contexts"]["64"]["tokens"] <= 64 for row in rows)
    whole = found["contexts"]["budgets"]["100000"]["overall"]
    assert (whole["evidence"], whole["latest_evidence"]) == (
        0.0 if strategy == "nothing" else 1.0,
        1.0,
    )
    to_csv(table(RunFolder.read(tmp_path / "more")), tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        assert [json.loads(line["contexts"]) for line in csv.DictReader(file)] == [
            row["contexts"] for row in rows
        ]
