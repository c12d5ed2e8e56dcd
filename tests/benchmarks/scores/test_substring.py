"""Reciprocal ranks by substring, by hand and beside those of the gold events."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hebbarium.benchmarks.datasets.demo import load_demo
from hebbarium.benchmarks.scores.substring import substring_mrr, substring_rank
from hebbarium.reporting.claims import BY_SUBSTRING, SUBSTRING, published_numbers

CONVERSATION = load_demo().conversations[0]


def row(
    retrieved: list[str], gold: list[str], answer: str = "", category: str = "c"
) -> dict[str, Any]:
    return {
        "conversation": CONVERSATION.id, "retrieved": retrieved, "gold": gold, "answer": answer,
        "category": category,
    }  # fmt: skip


@given(
    st.lists(st.text("ab ", max_size=6), max_size=6),
    st.lists(st.text("ab ", max_size=3), max_size=3),
)
def test_ranks_are_those_of_a_search_one_by_one(texts: list[str], wanted: list[str]) -> None:
    expected = 0
    for rank, text in enumerate(texts, 1):
        plain = " ".join(text.split())
        if any(w.split() and " ".join(w.split()) in plain for w in wanted):
            expected = rank
            break
    assert substring_rank(texts, wanted) == expected


def test_a_gold_event_contains_its_own_text() -> None:
    ids = [event.id for event in CONVERSATION.events[:5]]
    means = substring_mrr(
        [row(ids, [ids[2]]), row(ids, [ids[0]], category="d"), row(ids, [], "", "none")],
        [CONVERSATION],
    )
    assert means == {"": (1 / 3 + 1.0) / 2, "c": 1 / 3, "d": 1.0}


def test_the_answer_counts_where_the_gold_event_is_missed() -> None:
    first, second = CONVERSATION.events[:2]
    part = second.text.split(".")[0].upper()
    assert substring_mrr([row([first.id, second.id], ["no such event"], part)], [CONVERSATION]) == {
        "": 0.5,
        "c": 0.5,
    }
    assert substring_mrr([row(["row 7"], ["no such event"], part)], [CONVERSATION])[""] == 0.0


def test_numbers_of_the_source_by_substring_stand_beside_this_metric_alone() -> None:
    beam = [n for n in published_numbers() if n.system == "Cortex" and n.metric == "MRR"]
    assert {n.ours for n in beam if n.table.gold == BY_SUBSTRING} == {SUBSTRING}
    assert {n.ours for n in beam if n.table.gold != BY_SUBSTRING} == {"mrr@10"}
