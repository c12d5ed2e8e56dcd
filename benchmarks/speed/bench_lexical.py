"""Speed of the text features and of the lexical indexes at 1k, 10k and 100k rows of about 25 words,
outside a memory.

Words follow Zipf's law, so that common terms and trigrams have long postings as in English.
"""

from __future__ import annotations

from functools import cache
from itertools import cycle
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.state.postings import BM25Index, Idf, TrigramIndex, TrigramMeasure, terms_of
from hebbarium.engine.text.features import features

SIZES = sizes(1_000, 10_000, 100_000)
SYLLABLES = (
    "the", "an", "re", "in", "er", "at", "on", "is", "or", "en", "st", "al", "co", "de", "un",
    "ing", "ti", "es", "ma", "ri",
    "ta", "lo", "mi", "ca", "pro", "ver", "com", "per", "ness", "ment", "ly", "ed", "bu", "po",
    "sha", "ki", "gro", "wel", "fa", "ju",
)  # fmt: skip


@cache
def texts(n: int) -> tuple[str, ...]:
    """n texts of 15 to 35 words from 20,000 words of 1 to 4 syllables, drawn with probability 1
    / (rank + 2).
    """
    rng = np.random.default_rng(7)
    words = np.array(
        list(
            dict.fromkeys(
                "".join(rng.choice(SYLLABLES, 1 + min(3, i // 40 + i % 2))) for i in range(20_000)
            )
        )
    )
    weights = 1.0 / (np.arange(len(words)) + 2.0)
    return tuple(
        " ".join(rng.choice(words, rng.integers(15, 36), p=weights / weights.sum())).capitalize()
        + "."
        for _ in range(n)
    )


@cache
def indexes(n: int) -> tuple[BM25Index, TrigramIndex]:
    terms, trigrams = BM25Index(), TrigramIndex()
    for row, text in enumerate(texts(n)):
        terms.add(row, terms_of(text))
        trigrams.add(row, text)
    return terms, trigrams


def query(n: int) -> str:
    """Ten words, common and rare."""
    return " ".join(texts(n)[n // 2].split()[:10])


@pytest.mark.parametrize("n", SIZES)
def test_bm25_query(clock: Any, n: int) -> None:
    index, out = indexes(n)[0], np.empty(n, np.float32)
    clock(lambda: index.scores(terms_of(query(n)), out, Idf.ROBERTSON.weight), 64)


@pytest.mark.parametrize("max_df", (1.0, 0.25))
@pytest.mark.parametrize("n", SIZES)
def test_trigram_query(clock: Any, n: int, max_df: float) -> None:
    index, out = indexes(n)[1], np.empty(n, np.float32)
    clock(lambda: index.scores(query(n), out, TrigramMeasure.SIMILARITY, max_df), 64)


@pytest.mark.parametrize("n", SIZES)
def test_add(clock: Any, n: int) -> None:
    """One event into both indexes, tokenised; they hold at least n rows."""
    terms, trigrams = indexes.__wrapped__(n)
    more = cycle(texts(n))

    def add() -> None:
        text = next(more)
        terms.add(terms.n_rows, terms_of(text))
        trigrams.add(trigrams.n_rows, text)

    clock(add, 1_000)


def test_features(clock: Any) -> None:
    """All features of one text, those that are computed when they are read included."""
    some, late = cycle(texts(sizes(1_000)[0])), attrgetter("terms", "act", "emotion")
    clock(lambda: late(features(next(some))), 1_000)
