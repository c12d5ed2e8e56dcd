"""Scores of an answer in words against the expected one: token F1, BLEU-1 and ROUGE-L, each in [0,
1].

A score of words says nothing about truth: "it was not in May" has a high score against "it was in
May".  A judge reads what the answer says.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from math import exp
from typing import Final

_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_WORD: Final = re.compile(r"\w+(?:['\u2019]\w+)*")


def token_f1(answer: str, expected: str) -> float:
    """Harmonic mean of precision and recall over words, counted with repetition.  Rajpurkar et al.
    2016, SQuAD, doi:10.18653/v1/D16-1264.

    Words as in the paper's script: in lower case, without punctuation and articles, split at
    spaces.  If one text has no words, 1 if the other has none either, else 0.  O(words).

    >>> token_f1("The red boat.", "a boat"), round(token_f1("in Oslo, Oslo", "Oslo"), 3)
    (0.6666666666666666, 0.5)
    """
    said, wanted = _normal(answer), _normal(expected)
    if not said or not wanted:
        return float(said == wanted)
    same = sum((Counter(said) & Counter(wanted)).values())
    return 2.0 * same / (len(said) + len(wanted))


def bleu_1(answer: str, expected: str | Iterable[str]) -> float:
    """Modified unigram precision times the brevity penalty.  Papineni et al. 2002, BLEU,
    doi:10.3115/1073083.1073135, with N = 1.

    expected  one reference, or several

    A word counts at most as often as in the reference that has it most often.  The penalty is exp(1
    - r / c) for an answer of c words shorter than the r words of the reference whose length is
    nearest, the shorter of two equally near.  0 for an answer without words.  O(words).

    >>> round(bleu_1("the the the the the the the", ["The cat is on the mat.", "There is a cat on the mat."]), 4) == round(2 / 7, 4)
    True
    """
    said = words(answer)
    references = [
        words(reference) for reference in ([expected] if isinstance(expected, str) else expected)
    ]
    if not said or not references:
        return 0.0
    most: Counter[str] = Counter()
    for reference in references:
        most |= Counter(reference)
    precision = sum((Counter(said) & most).values()) / len(said)
    nearest = min((abs(len(reference) - len(said)), len(reference)) for reference in references)[1]
    return precision * (1.0 if len(said) > nearest else exp(1.0 - nearest / len(said)))


def rouge_l(answer: str, expected: str) -> float:
    """F measure of the longest common subsequence of words, beta = 1.  Lin 2004, ROUGE, section 3,
    https://aclanthology.org/W04-1013.

    0 for a text without words.  O(words of one times words of the other).

    >>> rouge_l("police kill the gunman", "police killed the gunman"), rouge_l("the gunman kill police", "police killed the gunman")
    (0.75, 0.5)
    """
    said, wanted = words(answer), words(expected)
    if not said or not wanted:
        return 0.0
    return 2.0 * _common(said, wanted) / (len(said) + len(wanted))


def words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation, in Unicode's composed form.

    >>> words("Ada's boat -- it's RED!")
    ["ada's", 'boat', "it's", 'red']
    """
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def _normal(text: str) -> list[str]:
    return _ARTICLES.sub(
        " ", unicodedata.normalize("NFC", text).lower().translate(_PUNCTUATION)
    ).split()


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for word in a:
        before = 0
        for place, other in enumerate(b, 1):
            here = row[place]
            row[place] = before + 1 if word == other else max(here, row[place - 1])
            before = here
    return row[-1]
