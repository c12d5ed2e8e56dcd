"""Answer types: rules on questions composed apart from the evidence, compiled and plain kernels,
any text, and the ranking of a short talk.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import LOG_PRIOR
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.text.features import features
from hebbarium.mechanisms.retrieval.answer_type import (
    ASKED_TYPE,
    MENTIONED,
    MOST,
    WantedAnswer,
    add_prior,
    mentions_another,
    type_of,
)

REGISTRY = Registry.read()
QUESTIONS: Final[dict[WantedAnswer, tuple[str, ...]]] = {
    WantedAnswer.TIME: ("And when did the roof leak?", "Which weekend suits Mia?",
                  "When will the train leave?", "What month was the fair in?",
                  "How recently was the boiler checked?"),
    WantedAnswer.QUANTITY: ("How many pears did we pick?", "How far is the lake?",
                      "What was the price of the lamp?", "How heavy is the trunk?",
                      "Which total did they agree on?"),
    WantedAnswer.NAME: ("To whom did Mia write?", "Where are the spare keys?",
                  "Which film did they watch?", "Who is her tutor?",
                  "What is the boat called?", "What are their names?",
                  "Can you recall where the lamp was bought?"),
    WantedAnswer.OTHER: ("What does the tutor who lives here teach?", "Is it cold when it snows?",
                   "What did she cook?", "Why is the lake empty?",
                   "Explain how tides work.", "Which lamp is broken?"),
}  # fmt: skip


@pytest.mark.parametrize("wanted", WantedAnswer)
def test_questions_ask_for_one_type(wanted: WantedAnswer) -> None:
    assert [
        text for text in QUESTIONS[wanted] if type_of(" ".join(features(text).words)) is not wanted
    ] == []


@given(st.text(max_size=200))
def test_any_text_is_kept_and_asked(text: str) -> None:
    memory = Engine([REGISTRY.instance("answer_type")], HashingEmbedder(16))
    memory.encode(Event(0.0, text or "empty", text[:9]))
    memory.retrieve(text)
    assert set(memory.column(LOG_PRIOR).tolist()) <= {0.0, 0.3}


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    random = np.random.default_rng(0)
    holds, names, known = (
        random.random(40) < 0.5,
        random.integers(0, 9, (40, 3)),
        np.array([0, 2, 5, 7]),
    )
    prior, plain = np.zeros(40), np.zeros(40)
    add_prior(holds, 0.4, prior)
    add_prior.py_func(holds, 0.4, plain)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(prior, plain)
    other, same = np.zeros(40, dtype=np.bool_), np.zeros(40, dtype=np.bool_)
    mentions_another(names, known, other)
    mentions_another.py_func(names, known, same)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(other, same)


def test_of_two_memories_that_match_alike_the_one_that_could_answer_comes_first() -> None:
    memory = Engine(
        [REGISTRY.instance(id) for id in ("answer_type", "lexical_bm25", "convex_fusion")],
        HashingEmbedder(16),
    )
    memory.encode_all(
        Event(float(i), text, who, dated=False)
        for i, (who, text) in enumerate(
            (
                ("Ada", "The walk was cold and wet"),
                ("Bo", "The walk was fine, Ada"),
                ("Ada", "Yesterday the walk was dry"),
                ("Bo", "The walk was lovely Leeds"),
                ("Ada", "The walk was two miles"),
            )
        )
    )
    for text, wanted, best in (
        ("When was the walk?", 1, 2),
        ("How far was the walk?", 2, 4),
        ("Where was the walk?", 3, 3),
    ):
        assert memory.retrieve(text, k=1).rows.tolist() == [best]
        assert memory.column(ASKED_TYPE).item() == wanted
    memory.retrieve("Why was the walk in Leeds?")
    assert not memory.column(LOG_PRIOR).any()


def test_a_text_of_many_names_keeps_the_first() -> None:
    memory = Engine([REGISTRY.instance("answer_type")], HashingEmbedder(16))
    memory.encode(Event(0.0, ", ".join(f"we met Name{chr(97 + i)}" for i in range(20))))
    assert np.count_nonzero(memory.column(MENTIONED)) == MOST
