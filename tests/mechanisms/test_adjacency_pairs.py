"""Adjacency pairs: compiled and plain kernels agree, sentences composed apart from the evidence,
hostile texts, and the ranking of a short talk.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import LOG_PRIOR
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval.adjacency_pairs import (
    ANSWER,
    ANSWERS,
    add_telling,
    answer,
    told_and_asked,
)

REGISTRY = Registry.read()


def memory() -> Engine:
    return Engine(
        [REGISTRY.instance(id) for id in ("adjacency_pairs", "lexical_bm25", "convex_fusion")],
        HashingEmbedder(16),
    )


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    told, asked = (
        np.where(rng.random(40) < 0.2, np.nan, rng.integers(0, 30, 40)),
        rng.integers(0, 9, 40).astype(np.float64),
    )
    match, answers = (
        rng.normal(size=40).astype(np.float32),
        np.where(rng.random(40) < 0.5, rng.integers(0, 40, 40), -1),
    )
    for kernel, arguments, kind in (
        (add_telling, (told, asked, 0.8, 6.0), np.float64),
        (answer, (match, answers), np.float32),
    ):
        out, plain = np.zeros(40, kind), np.zeros(40, kind)
        kernel(*arguments, out)
        kernel.py_func(*arguments, plain)  # type: ignore[attr-defined]
        np.testing.assert_array_equal(out, plain)


@pytest.mark.parametrize(
    ("text", "told", "asked"),
    [
        ("Thanks! Have you eaten yet?", 1, 4),
        ("I had soup... you?", 3, 1),
        ("Soup, bread and tea.\n\nWhat else?", 4, 2),
        ("It cost £3.50? No: £4.", 2, 3),
        ('"Who goes there?", he said.', 5, 0),
        ("What a day!", 3, 0),
    ],
)
def test_sentences_that_ask(text: str, told: int, asked: int) -> None:
    assert told_and_asked(text) == (told, asked)


@given(st.text(max_size=200))
def test_every_word_tells_or_asks(text: str) -> None:
    assert sum(told_and_asked(text)) == len(text.split())


def test_the_answer_to_the_question_that_matches_comes_first() -> None:
    made = memory()
    made.encode_all(
        Event(float(i), text, who, "s", dated=False)
        for i, (who, text) in enumerate(
            (
                ("Ada", "Where did you spend the summer holidays?"),
                ("Bo", "In Oban, with my sister and her two dogs."),
                ("Ada", "The garden is full of weeds."),
                ("Bo", "My sister has two dogs and a boat near Oban."),
                ("Ada", "Holidays are short."),
            )
        )
    )
    assert [int(row) for row in made.retrieve("Where did Bo spend the summer holidays?", 5).rows][
        :2
    ] == [1, 0]
    assert int(made.retrieve("What did Ada ask about the summer holidays?", 5).rows[0]) == 0


@pytest.mark.parametrize("text", ["", "?", " ? ", "\ud800?", "? " * 10_000, "Æ?" * 10_000, "\n\n"])
def test_hostile_texts(text: str) -> None:
    made = memory()
    made.encode_all(
        (Event(0.0, text, "Ada", "s"), Event(1.0, "Rain", "Bo", "s"), Event(2.0, text, "user", "s"))
    )
    before = made.digest()
    assert len(made.retrieve(text).rows) == len(made.retrieve("rain").rows) == 3
    assert np.isfinite(made.column(LOG_PRIOR)).all() and made.digest() == before


def test_a_chat_with_an_assistant_is_left_alone() -> None:
    made = memory()
    made.encode_all(
        Event(float(i), f"Is number {i} odd?", who, "s")
        for i, who in enumerate(("user", "assistant", "system", "user"))
    )
    made.retrieve("number 3")
    assert (
        not made.column(LOG_PRIOR).any()
        and np.isnan(made.column(ANSWER)).all()
        and (made.column(ANSWERS) == -1).all()
    )
