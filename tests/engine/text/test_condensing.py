"""What a context shows: extractive, deterministic, each form within the one before, and the
centrality that brute force finds.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hanging import ended_if_it_hangs
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.text.condensing import (
    MOST_KEYWORDS,
    condensed,
    keywords,
    levels,
    sentences,
    summary,
)
from hebbarium.engine.text.features import terms_of

TALK = (
    "Good evening! Mira moved the bakery to Lisbon in March. The bakery in Lisbon sells rye bread. It rained a lot. "
    "Her brother Jon fixed the oven of the bakery. We ate soup."
)
WORDS = ["Ada", "sang", "the", "song", "7", "of", "rain.", "Oslo!", "why?", "\n", "and",
         "self-care", "--", "日本"]  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)


def overlaps(text: str) -> list[int]:
    """For each sentence, the terms it shares with each other one, summed."""
    bags = [set(terms_of(part, stem=True, stop_words=True)) for part in sentences(text)]
    return [sum(len(a & b) for j, b in enumerate(bags) if j != i) for i, a in enumerate(bags)]


def test_a_summary_keeps_the_most_central_sentences_in_their_order() -> None:
    parts, central = sentences(TALK), overlaps(TALK)
    best = sorted(range(len(parts)), key=lambda i: central[i], reverse=True)[:2]
    assert len(parts) == 6 and sorted(central)[-3] < sorted(central)[-2]
    assert summary(TALK) == " ".join(parts[i] for i in sorted(best))
    assert (
        summary(TALK)
        == "Mira moved the bakery to Lisbon in March. The bakery in Lisbon sells rye bread."
    )


def test_keywords_are_names_numbers_and_repeated_words() -> None:
    assert (
        keywords("They saw 12 big seals near Oslo, seals and more seals, lying lazily around")
        == "12, seals, Oslo, lazily, around"
    )
    assert keywords("It is what it is.") == "It is what it is."
    assert len(keywords(" ".join(f"word{i}" for i in range(100))).split(", ")) == MOST_KEYWORDS


def test_the_summary_of_one_sentence_is_the_sentence_and_of_no_text_is_empty() -> None:
    assert summary("  Just this one.") == "  Just this one."
    assert levels("") == ("", "", "")
    assert levels("?!") == ("?!", "?!", "?!")


def test_each_level_equals_its_function() -> None:
    assert (
        levels(TALK)
        == (TALK, summary(TALK), keywords(TALK))
        == tuple(condensed(TALK, d) for d in range(3))
    )


@pytest.mark.parametrize("detail", [-1, 3, 0.5])
def test_another_level_is_refused(detail: int) -> None:
    with pytest.raises(InputError, match="level of detail"):
        condensed("text", detail)


@given(TEXTS)
def test_each_form_is_shorter_and_part_of_the_form_before(text: str) -> None:
    forms = levels(text)
    assert all(len(short) <= len(long) for long, short in pairwise(forms))
    assert set(forms[1].split()) <= set(text.split())
    assert set(terms_of(forms[2])) <= set(terms_of(forms[1])) <= set(terms_of(text))
    assert bool(terms_of(text)) == bool(terms_of(forms[2]))
    assert forms == levels(text)


@pytest.mark.parametrize("text", ["a" * 200_000, "a b " * 50_000, ". " * 100_000,
                                  "Ada sang. " * 20_000, "\n" * 200_000, "\ud800 x. y",
                                  "-" * 99_999])  # fmt: skip
def test_hostile_texts_take_linear_time(text: str) -> None:
    with ended_if_it_hangs():
        assert levels(text)[0] == text
