"""Questions: every text has an intent and a kind, whatever it holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.text.features import features
from hebbarium.mechanisms.shared.questions import (
    Intent,
    QuestionKind,
    intent_of,
    question_kind_of,
    state_asked,
)


@pytest.mark.parametrize(("text", "kind"), [
    ("When did the shop open?", "DETAIL"), ("And who paid for it?", "DETAIL"),
    ("What is the exact wording?", "DETAIL"),
    ("Give me a recap of the exact wording", "SYNTHESIS"), ("How did the shop develop?",
    "SYNTHESIS"), ("How did the shop open?", "GENERAL"),
    ("Please tell me its opening date", "DETAIL"), ("Why is the shop closed?", "GENERAL"),
])  # fmt: skip
def test_a_question_has_its_kind(text: str, kind: str) -> None:
    assert question_kind_of(" ".join(features(text).words)).name == kind


@pytest.mark.parametrize(("text", "state"), [
    ("Have we met before?", "ANY"), ("Well, hasn't Bo been here before now?", "ANY"),
    ("Had Bo eaten snails before?", "ANY"),
    ("Where had Bo lived before?", "FORMER"), ("Did Bo live here before?", "FORMER"),
    ("Has Bo kept his former job?", "FORMER"),
    ("Has Bo moved before that?", "FORMER"), ("Have I locked the door?", "PRESENT"),
])  # fmt: skip
def test_a_question_whether_something_ever_happened_asks_for_no_former_state(
    text: str, state: str
) -> None:
    assert state_asked(" ".join(features(text).words)).name == state


@pytest.mark.parametrize(("text", "state"), [
    ("Am I still a vegetarian?", "NEWEST"), ("Does Ada still work at the bank?", "NEWEST"),
    ("Who still owes me money?", "NEWEST"), ("Do you know whether I still smoke?", "NEWEST"),
    ("Was I still a vegetarian in 2019?", "ANY"), ("Did Bo still live in Rome when we met?", "ANY"),
    ("Wasn't the shop still open on Friday?", "ANY"), ("Where is Bo still working now?", "NEWEST"),
    ("What did I say that Bo still owes me?", "NEWEST"),
])  # fmt: skip
def test_still_asks_for_the_present_but_of_the_past(text: str, state: str) -> None:
    assert state_asked(" ".join(features(text).words)).name == state


@given(st.text(max_size=200))
def test_any_text_has_a_kind_and_an_intent_if_it_has_words(text: str) -> None:
    words = " ".join(features(text).words)
    assert question_kind_of(words) in QuestionKind
    assert (intent_of(words) in Intent) if words else (intent_of(words) is None)
