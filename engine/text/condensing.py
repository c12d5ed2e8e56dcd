"""Condensed text: a text as a whole, its most central sentences, or its keywords.

Pure functions: equal texts have equal condensed texts.  Each form is made from the longer one
before it, so that it holds nothing that the longer form leaves out.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from ..base.errors import InputError
from .english import STOP_WORDS
from .features import fold, terms_of
from .memo import remembered
from .words import MARKED, NO_SPACE, STOPS

ONE_IN: Final = 3  # a summary keeps one sentence in three, and at least one
MOST_KEYWORDS: Final = 8
_BREAK: Final = re.compile(rf"(?<=[.!?{STOPS}])\s+|{NO_SPACE}|\n\s*")
_WRITTEN: Final = re.compile(
    rf"[^\W_]+(?:[{MARKED}]+[^\W_]*)*(?:['’-][^\W_]+(?:[{MARKED}]+[^\W_]*)*)*"
)


def condensed(text: str, detail: int) -> str:
    """The text at a level of detail: 0 all of it, 1 its summary, 2 its keywords.  Raises
    InputError for another level.  O(length).
    """
    if detail not in (0, 1, 2):
        raise InputError(
            f"there is no level of detail {detail!r}",
            where="condensed text",
            cure="give 0 (all), 1 (summary) or 2 (keywords)",
        )
    return text if detail == 0 else summary(text) if detail == 1 else keywords(text)


def levels(text: str) -> tuple[str, str, str]:
    """The text at each level of detail.  O(length), about 40 us for an utterance."""
    short = summary(text)
    return text, short, _words_of(short, text)


def sentences(text: str) -> list[str]:
    """Sentences and lines in order, without the space around them.  O(length).

    >>> sentences("It rained. Nobody came!\\nWe left.")
    ['It rained.', 'Nobody came!', 'We left.']
    >>> sentences("下雨了。谁也没来！我们走了。")
    ['下雨了。', '谁也没来！', '我们走了。']
    """
    return [part for raw in _BREAK.split(text) if (part := raw.strip())]


@remembered
def summary(text: str) -> str:
    """The most central sentences, as written and in order: those that share the most terms with the
    others.  O(length).

    Centrality is the sum over a sentence's terms of the number of other sentences that hold the
    term, the degree in the graph of overlaps; of equally central sentences that with more terms is
    taken, then the earlier one.  A single sentence is its own summary.

    >>> summary("Hi! Our cat Miso ran away. We looked for Miso all night. So tired.")
    'Our cat Miso ran away.'
    """
    parts = sentences(text)
    if len(parts) < 2:
        return text
    return " ".join(
        parts[place] for place in sorted(by_centrality(parts)[: max(1, len(parts) // ONE_IN)])
    )


def by_centrality(parts: list[str]) -> list[int]:
    """Places of the sentences, most central first, in the order that `summary` takes them.
    O(length).

    >>> by_centrality(["It rained.", "The cat ran.", "We fed the cat, a red cat."])
    [2, 1, 0]
    """
    terms = [set(terms_of(part, stem=True, stop_words=True)) for part in parts]
    held = Counter(term for part_terms in terms for term in part_terms)
    central = sorted(
        (
            -sum(held[term] - 1 for term in part_terms),
            -len(part_terms),
            not _WRITTEN.search(parts[place]),
            place,
        )
        for place, part_terms in enumerate(terms)
    )
    return [place for *_, place in central]


def keywords(text: str) -> str:
    """The most informative words of the summary, as written and in order: at most half of those
    that are no stop words, and at most eight.

    Names and numbers are preferred, then words that the text repeats, then longer words, then
    earlier ones.  A summary of stop words alone is returned whole.  O(length).

    >>> keywords("Our cat Miso ran away at midnight.")
    'Miso, away, midnight'
    """
    return _words_of(summary(text), text)


@remembered
def _words_of(short: str, text: str) -> str:
    words, often = _WRITTEN.findall(short), Counter(_WRITTEN.findall(fold(text)))
    first: dict[str, int] = {}
    for place, key in enumerate(map(fold, words)):
        if key not in STOP_WORDS:
            first.setdefault(key, place)
    if not first:
        return short
    telling = sorted(
        (words[place].islower(), -often[key], -len(key), place) for key, place in first.items()
    )
    kept = sorted(place for *_, place in telling[: min(MOST_KEYWORDS, (len(first) + 1) // 2)])
    joined = ", ".join([words[place] for place in kept])
    return joined if len(joined) < len(short) else short
