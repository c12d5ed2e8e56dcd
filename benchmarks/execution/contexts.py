"""One context measured: how much of the evidence and of the answer stands in the text that a reader
gets, and what it costs.

No judge and no reader: a score says what a reader could find.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from ...engine.text.features import features, fold, sanitise, terms_of
from ..systems.base import Assembled

SHINGLE: Final = 5  # words of a sequence whose second appearance is a repetition
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_WORD: Final = re.compile(r"[^\W_]+")


class ContextRow(TypedDict):
    """The scores of one context; None where the question names no evidence or no answer.

    evidence   share of the gold events whose verbatim text stands whole in the context
    answer     share of the answer's content words, numbers and names that stand in it
    tokens     of the context, as `counter` counts
    items      components
    repeated   share of the text's sequences of five words that appeared before in it
    cut        components that are condensed
    truncated  whether anything was left out or condensed
    latest_evidence, latest_answer   the same shares of the latest events until full, the strategy
                                     `everything`
    """

    evidence: float | None
    answer: float | None
    tokens: int
    counter: str
    items: int
    repeated: float
    cut: int
    truncated: bool
    latest_evidence: float | None
    latest_answer: float | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an answer consists of.

    words    stems of content words that are in no name, digits left out
    numbers  without separators of thousands
    names    each as the terms that follow one another
    """

    words: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, answer: str) -> Wanted:
        """The parts of an answer; the first word of a sentence is a name only where `features`
        finds one.  O(length).

        >>> wanted = Wanted.of("Ada moved to New York in 2021 for $1,200.")
        >>> sorted(wanted.words), sorted(wanted.numbers), sorted(wanted.names)
        (['move'], ['1200', '2021'], [('ada',), ('new', 'york')])
        """
        names = frozenset(
            terms
            for name in features(answer).entities
            if (terms := tuple(terms_of(name, stem=False)))
        )
        inside = {term for name in names for term in name}
        plain = " ".join(word for word in _WORD.findall(fold(answer)) if word not in inside)
        words = frozenset(
            term for term in terms_of(plain, stem=True, stop_words=True) if not term.isdigit()
        )
        return cls(
            words,
            frozenset(numbers_in(answer)),
            frozenset(name for name in names if not all(term.isdigit() for term in name)),
        )

    def __len__(self) -> int:
        return len(self.words) + len(self.numbers) + len(self.names)

    def share(self, text: str) -> float:
        """The share of these parts that stand in a text, names as sequences of terms.
        O(length).
        """
        terms = terms_of(text, stem=False)
        whole = f" {' '.join(terms)} "
        shared = len(self.words & set(terms_of(text, stem=True, stop_words=True))) + len(
            self.numbers & numbers_in(text)
        )
        return (shared + sum(f" {' '.join(name)} " in whole for name in self.names)) / len(self)


def numbers_in(text: str) -> set[str]:
    """The numbers of a text without separators of thousands.

    >>> sorted(numbers_in("1,200 of 3.50, on 7 May"))
    ['1200', '3.50', '7']
    """
    return {re.sub(r",(?=\d{3}(?:\D|$))", "", number) for number in _NUMBER.findall(text)}


def context_row(
    context: Assembled, gold: Sequence[str], answer: str, latest: Assembled
) -> ContextRow:
    """The scores of a context.

    gold    verbatim texts of the gold events; () for a question without evidence, whose answer is
            not scored either
    answer  the expected answer; "" if there is none
    latest  the context of the same budget with the latest events until full

    Cost: O(characters), about 2 ms for 1,000 words.
    """
    wanted = Wanted.of(answer) if gold and answer else None
    return {
        "evidence": _evidence(context, gold),
        "answer": wanted.share(context.text) if wanted else None,
        "tokens": context.tokens,
        "counter": context.counter,
        "items": context.items,
        "repeated": repeated(context.text),
        "cut": context.condensed,
        "truncated": context.truncated,
        "latest_evidence": _evidence(latest, gold),
        "latest_answer": wanted.share(latest.text) if wanted else None,
    }


def _evidence(context: Assembled, gold: Sequence[str]) -> float | None:
    return sum(stands(text, context.text) for text in gold) / len(gold) if gold else None


def stands(text: str, context: str) -> bool:
    """Whether a verbatim text stands whole in a context, apart from NUL and halves of surrogate
    pairs; a text without characters never does.

    >>> stands("No, 7.", "Bo: No, 7."), stands("No, 7.", "Bo: no 7."), stands(" ", "a b")
    (True, False, False)
    """
    return bool(text.strip()) and sanitise(text) in context


def repeated(text: str) -> float:
    """The share of sequences of five words that appeared before; 0 for fewer than six words.
    O(length).

    >>> round(repeated("a b c d e a b c d e"), 3)
    0.167
    """
    words = _WORD.findall(fold(text))
    sequences = list(zip(*(words[n:] for n in range(SHINGLE)), strict=False))
    return 1.0 - len(set(sequences)) / len(sequences) if sequences else 0.0
