"""The rules of asker_prior on composed questions, the kernel in plain Python, and the prior
through the engine.
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
from hebbarium.mechanisms.retrieval.asker_prior import ROLE, WhoseWords, add_prior, said_by

# Composed after the rules, apart from the questions of the evidence, on which the rules were
# adjusted.
QUESTIONS: Final[dict[WhoseWords, tuple[str, ...]]] = {
    WhoseWords.ASKER: (
        "What would you advise me to wear?",
        "How many weeks did my course take?",
        "Which of my cousins lives in Ghent?",
        "What colour is my bike?",
        "When had I planned to visit my aunt?",
        "What have I mentioned about my landlord?",
        "Tell me about myself.",
        "Which exam did I say was hardest?",
        "What was the first thing I asked you to do?",
        "I'd like a plan for my garden.",
    ),
    WhoseWords.OTHER: (
        "What did you originally propose for the roof?",
        "Which steps did you list for the setup?",
        "What was the tip you gave me about basil?",
        "When did you tell me to call the bank?",
        "Can you show me your earlier draft?",
        "How did you explain the error?",
        "What does your plan say about Tuesday?",
        "What example did you provide?",
    ),
    WhoseWords.BOTH: (
        "Can you summarize my progress with the guitar?",
        "How has my opinion on painting evolved?",
        "What did we decide about our kitchen?",
        "Give me the main points of your talk.",
        "Sum up what happened with my visa.",
        "Which dates had we talked about?",
    ),
    WhoseWords.UNMARKED: (
        "What is the deadline?",
        "Does Mia like jazz?",
        "Explain recursion.",
        "Which port does the server listen on?",
        "Who painted the mural?",
    ),
}


@pytest.mark.parametrize("said", WhoseWords)
def test_questions_ask_for_one_side(said: WhoseWords) -> None:
    assert [
        text for text in QUESTIONS[said] if said_by(" ".join(features(text).words)) is not said
    ] == []


def test_an_order_of_what_i_said_is_no_summary() -> None:
    assert said_by("can you summarize the order in which i brought up my plans") is WhoseWords.ASKER
    assert said_by("can you summarize my plans") is WhoseWords.BOTH


@given(st.text(max_size=200))
def test_any_text_has_a_side(text: str) -> None:
    words = " ".join(features(text).words)
    assert (said_by(words) is None) == (not words)


def test_the_kernel_equals_plain_python() -> None:
    roles = np.random.default_rng(0).integers(0, 4, 50).astype(np.int8)
    compiled, plain = np.zeros(50), np.zeros(50)
    add_prior(roles, 2, 0.4, compiled)
    add_prior.py_func(roles, 2, 0.4, plain)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(compiled, plain)


def test_the_prior_of_one_query_does_not_reach_the_next() -> None:
    registry = Registry.read()
    memory = Engine(
        [registry.instance(id) for id in ("dense_similarity", "asker_prior")], HashingEmbedder(16)
    )
    memory.encode_all(
        (
            Event(0.0, "I moved.", "user"),
            Event(1.0, "Good.", "assistant"),
            Event(2.0, "I moved, too.", "Ada"),
        )
    )
    assert memory.column(ROLE).tolist() == [1, 2, 0]
    memory.retrieve("When did I move?")
    assert memory.column(LOG_PRIOR).tolist() == [0.4, 0.0, 0.0]
    memory.retrieve("Summarise my week.")
    assert not memory.column(LOG_PRIOR).any()
