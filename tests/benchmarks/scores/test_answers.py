"""Token F1, BLEU-1 and ROUGE-L: examples of the papers, and computations of their own."""

from __future__ import annotations

import math
import string
from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.benchmarks.scores.answers import bleu_1, rouge_l, token_f1, words

SHORT = st.lists(st.sampled_from(["red", "boat", "Oslo", "in", "7"]), max_size=7)
# Papineni et al. 2002, examples 1 and 2
MILITARY = (
    "It is a guide to action that ensures that the military will forever heed Party commands.",
    "It is the guiding principle which guarantees the military forces always being under the command of the Party.",
    "It is the practical guide for the army always to heed the directions of the party.",
)
GOOD = "It is a guide to action which ensures that the military always obeys the commands of the party."
BAD = "It is to insure the troops forever hearing the activity guidebook that party direct."
CAT = ("The cat is on the mat.", "There is a cat on the mat.")


@pytest.mark.parametrize(
    ("answer", "references", "precision"),
    [
        (GOOD, MILITARY, Fraction(17, 18)),
        (BAD, MILITARY, Fraction(8, 14)),
        ("the the the the the the the", CAT, Fraction(2, 7)),
    ],
)
def test_modified_unigram_precision_of_papineni(
    answer: str, references: tuple[str, ...], precision: Fraction
) -> None:
    """Candidates that are not shorter than the nearest reference, and the one of 14 words, whose
    nearest reference has 16.
    """
    penalty = math.exp(1 - 16 / 14) if answer == BAD else 1.0
    assert bleu_1(answer, references) == pytest.approx(float(precision) * penalty, rel=1e-12)


def test_the_penalty_takes_the_nearest_length_and_the_shorter_of_two() -> None:
    assert bleu_1("red boat", ["red boat in Oslo now", "red boat sails"]) == pytest.approx(
        math.exp(1 - 3 / 2)
    )
    assert bleu_1("red boat in Oslo", ["red", "red boat in Oslo now today sir"]) == pytest.approx(
        1.0
    ), "1 and 7 words are equally near to 4"
    assert bleu_1("a b c d e", ["a b c"]) == pytest.approx(3 / 5)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("police kill the gunman", 3 / 4),
        ("the gunman kill police", 2 / 4),
        ("the gunman police killed", 2 / 4),
    ],
)
def test_the_examples_of_lin(answer: str, score: float) -> None:
    """Lin 2004, section 3.1: S1 is 'police killed the gunman'."""
    assert rouge_l(answer, "police killed the gunman") == pytest.approx(score)


@given(SHORT, SHORT)
def test_rouge_l_against_all_subsequences(said: list[str], wanted: list[str]) -> None:
    ways = [
        {
            tuple(one.lower() for one in some)
            for n in range(len(each) + 1)
            for some in combinations(each, n)
        }
        for each in (said, wanted)
    ]
    longest = max(map(len, ways[0] & ways[1]))
    p, r = (Fraction(longest, len(each)) if each else Fraction(0) for each in (said, wanted))
    assert rouge_l(" ".join(said), " ".join(wanted)) == pytest.approx(
        float(2 * p * r / (p + r)) if p and r else 0.0
    )


@given(SHORT, SHORT)
def test_f1_against_matching_words_one_by_one(said: list[str], wanted: list[str]) -> None:
    left, same = [w.lower() for w in wanted], 0
    for word in said:
        if word.lower() in left:
            left.remove(word.lower())
            same += 1
    p, r = (Fraction(same, len(each)) if each else Fraction(0) for each in (said, wanted))
    expected = float(2 * p * r / (p + r)) if same else float(not said and not wanted)
    assert token_f1(" ".join(said), " ".join(wanted)) == pytest.approx(expected)


@given(SHORT, st.lists(SHORT, min_size=1, max_size=3))
def test_bleu_against_counting_each_word(said: list[str], references: list[list[str]]) -> None:
    kept = sum(
        min(count, max(sum(w.lower() == word for w in one) for one in references))
        for word, count in Counter(w.lower() for w in said).items()
    )
    lengths = sorted(len(one) for one in references)
    r = next((n for distance in range(20) for n in lengths if abs(n - len(said)) == distance), 0)
    expected = kept / len(said) * min(1.0, math.exp(1 - r / len(said))) if said else 0.0
    assert bleu_1(" ".join(said), [" ".join(one) for one in references]) == pytest.approx(expected)


@pytest.mark.parametrize(("answer", "expected", "score"), [
    ("The Boat!", "boat", 1.0), ("a an the", "", 1.0), ("", "", 1.0), ("", "boat", 0.0), ("boat",
    "the", 0.0), (string.punctuation, "", 1.0),
    ("on May 7", "May 7", 0.8), ("cafe\u0301", "caf\u00e9", 1.0)])  # fmt: skip
def test_f1_of_squad(answer: str, expected: str, score: float) -> None:
    assert token_f1(answer, expected) == pytest.approx(score)


def test_each_is_one_for_the_same_words_and_zero_for_none_in_common() -> None:
    for score in (token_f1, bleu_1, rouge_l):
        assert (
            score("In Oslo, on 7 May.", "in oslo on 7 may") == pytest.approx(1.0)
            and score("red boat", "quiet harbour") == 0.0
        )
        assert score("", "red") == 0.0 and score("?!", "red") == 0.0
    assert (
        words("l'\u00e9t\u00e9 -- IT'S 3.5") == ["l'\u00e9t\u00e9", "it's", "3", "5"]
        and bleu_1("red", []) == 0.0
    )
