"""Event ordering: compiled and plain kernels agree, and no query changes memory."""

from __future__ import annotations

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import ARRANGED
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval.event_ordering import (
    affinities,
    asks_order,
    items_asked,
    lazy_greedy,
    share_exchanges,
)

REGISTRY = Registry.read()


def engine(**values: float) -> Engine:
    made = Engine(
        [REGISTRY.instance("event_ordering", values), REGISTRY.instance("lexical_bm25")],
        HashingEmbedder(16),
    )
    made.encode_all(Event(30.0 * i, f"On day {i} we painted wall {i % 3}") for i in range(12))
    return made


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    cosine, time, r = rng.uniform(-1.0, 1.0, (9, 9)), rng.uniform(0.0, 50.0, 9), rng.random(9)
    out, plain, chosen, plain_chosen = (
        np.empty((9, 9)),
        np.empty((9, 9)),
        np.empty(5, np.int64),
        np.empty(5, np.int64),
    )
    affinities(cosine, time, r, 7.0, out)
    affinities.py_func(cosine, time, r, 7.0, plain)  # type: ignore[attr-defined]
    np.testing.assert_allclose(out, plain)
    assert lazy_greedy(out, chosen) == lazy_greedy.py_func(plain, plain_chosen)  # type: ignore[attr-defined]
    assert chosen.tolist() == plain_chosen.tolist()
    exchange, answerable = np.array([0, 0, 2, 2, -1, 5, 6, 6, -1]), rng.random(9) < 0.8
    r[3] = np.nan
    shared, plain_shared = r.copy(), r.copy()
    share_exchanges(r, exchange, answerable, 0.3, shared)
    share_exchanges.py_func(r, exchange, answerable, 0.3, plain_shared)  # type: ignore[attr-defined]
    np.testing.assert_allclose(shared, plain_shared)


@pytest.mark.parametrize("text", ["", "list the order in which " * 20_000, "in what order",
                                  "timeline: mention only 999 items",
                                  "name 0 items in order", "summarize the walls", "\ud800"])  # fmt: skip
def test_queries_of_any_kind_leave_the_memory_as_it_is(text: str) -> None:
    made = engine()
    before = made.digest()
    for k in (0, 1, 50):
        answer = made.retrieve(text, k=k)
        assert len(answer.rows) == min(k, 12) and answer.chronological == (
            "order" in text or "timeline" in text
        )
        assert np.isfinite(made.store.array(ARRANGED)).all()
    assert made.digest() == before


def test_an_order_over_no_memory_is_an_empty_answer() -> None:
    made = Engine([REGISTRY.instance("event_ordering")], HashingEmbedder(16))
    assert made.retrieve("in what order did it happen?").rows.size == 0


def test_as_many_items_as_asked_are_chosen_and_no_more_than_there_are() -> None:
    made = engine()
    made.retrieve("give me the timeline of the walls, only four steps")
    raised = made.store.array(ARRANGED)
    assert (raised > np.sort(raised)[:8].max()).sum() == 4
    for pool in (1, 2, 2000):
        assert len(engine(pool=pool, items=1000).retrieve("timeline of the walls", k=12).rows) == 12


def test_a_reply_without_the_words_is_above_other_memories_for_a_summary() -> None:
    made = Engine(
        [REGISTRY.instance("event_ordering"), REGISTRY.instance("lexical_bm25")],
        HashingEmbedder(16),
    )
    made.encode_all(Event(float(i), text, who, "s") for i, (who, text) in enumerate((
        ("user", "May I ask about tea?"), ("assistant", "Certainly, it is fine."), ("user",
        "Does my garden need rain?"),
        ("assistant", "A little each day."), ("user", "I thank you."), ("assistant",
        "You are welcome."))))  # fmt: skip
    assert made.retrieve("Give me a summary of my garden", k=2).rows.tolist() == [2, 3]
    assert made.retrieve("What about my garden?", k=2).rows.tolist() == [2, 0]


def test_an_exchange_takes_one_place_of_an_order() -> None:
    made = Engine(
        [REGISTRY.instance("event_ordering"), REGISTRY.instance("lexical_bm25")],
        HashingEmbedder(64),
    )
    said = (
        ("user", "How do I prune my garden roses?"),
        ("assistant", "To prune your garden roses, cut them in March: prune, prune, prune."),
        ("user", "My garden pond leaks."),
        ("assistant", "A pond leaks when it freezes."),
        ("user", "The fence fell into my garden."),
    )
    made.encode_all(Event(100.0 * i, text, who, "s") for i, (who, text) in enumerate(said))
    chosen = made.retrieve("List the order of my garden work, only three items", k=3).rows.tolist()
    assert sorted(row // 2 for row in chosen) == [0, 1, 2], "each part once"


def test_no_word_of_an_order_in_other_questions() -> None:
    for words in (
        "how do i order a pizza",
        "we did it in order to win",
        "is the lift out of order",
        "alphabetical orders",
    ):
        assert not asks_order(words) and items_asked(words) == 0
