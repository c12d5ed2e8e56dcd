"""Postings restored from what each row added equal those built row by row: scores bit for bit,
and what later rows add.
"""

from __future__ import annotations

import random
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.saving.fingerprints import CHUNK, fingerprints
from hebbarium.engine.state.postings import (
    Added,
    BM25Index,
    Forward,
    Idf,
    TrigramIndex,
    TrigramMeasure,
)

WORDS = [f"w{i}" for i in range(60)]


def rows(count: int, seed: int) -> list[list[str]]:
    chance = random.Random(seed)
    return [
        [WORDS[min(int(chance.expovariate(0.1)), 59)] for _ in range(chance.randrange(30))]
        for _ in range(count)
    ]


def forward(journal: list[Added], counted: list[bool]) -> Forward:
    """The journal as a file holds it."""
    keys = np.concatenate([each.keys for each in journal])
    counts = (
        None
        if journal[0].counts is None
        else np.concatenate([each.counts for each in journal if each.counts is not None])
    )
    return Forward(
        np.array([len(each.keys) for each in journal]),
        keys,
        counts,
        [name for each in journal for name in each.names],
        np.array(counted),
    )


@pytest.mark.parametrize("count", [1, 2, 7, 300])
@pytest.mark.parametrize("made", [0.0, 0.3, 1.0])
def test_both_indexes_are_restored(count: int, made: float) -> None:
    chance, told = random.Random(count), rows(count + 40, 5)
    counted = [chance.random() >= made for _ in told]
    pairs: list[tuple[Any, Any, Any]] = [
        (BM25Index(), BM25Index(), list),
        (TrigramIndex(), TrigramIndex(), " ".join),
    ]
    for built, restored, form in pairs:
        built.journal = []
        for row in range(count):
            built.add(row, form(told[row]), counted[row])
        restored.restore(forward(built.journal, counted[:count]))
        for row in range(count, count + 40):
            for each in (built, restored):
                each.add(row, form(told[row]), counted[row])
            assert scores(built, told[row], form) == scores(restored, told[row], form)
        assert (
            (built.n_rows, built.n_counted)
            == (restored.n_rows, restored.n_counted)
            == (count + 40, sum(counted))
        )


def scores(index: Any, words: list[str], form: Any) -> bytes:
    out = np.empty(index.n_rows, np.float32)
    if isinstance(index, BM25Index):
        index.scores(words, out, Idf.LUCENE.weight)
        return out.tobytes() + bytes(
            str([index.document_frequency(word) for word in WORDS]), "ascii"
        )
    index.scores(form(words), out, TrigramMeasure.SIMILARITY, max_df=0.7)
    return out.tobytes()


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown key"):
        BM25Index().restore(
            Forward(np.array([1]), np.array([3]), np.array([1]), ["only"], np.array([True]))
        )


def test_fingerprints_tell_blocks_apart() -> None:
    """Every flipped bit, signs of up to four float32 numbers together, and zeros of another
    length; equal blocks are equal wherever they stand.
    """
    chance = np.random.default_rng(3)
    whole = chance.integers(0, 256, 3 * 64 + 13).astype(np.uint8)
    before = fingerprints(whole, 64)
    assert len(before) == 4 and len(set(before.tolist())) == 4
    for bit in range(8 * len(whole)):
        other = whole.copy()
        other[bit // 8] ^= 1 << bit % 8
        changed = fingerprints(other, 64) != before
        assert changed.sum() == 1 and changed[bit // 8 // 64]
    for some in chain.from_iterable(combinations(range(16), count) for count in (1, 2, 3, 4)):
        signs = whole.copy()
        signs[[4 * number + 3 for number in some]] ^= 128
        assert fingerprints(signs, 64)[0] != before[0], some
    assert len({int(fingerprints(np.zeros(n, np.uint8), 64)[-1]) for n in range(1, 65)}) == 64
    assert (
        len(set(fingerprints(np.tile(whole[:64], 5), 64).tolist())) == 1
        and len(fingerprints(np.zeros(0, np.uint8), 64)) == 0
    )


def test_fingerprints_cover_every_word_of_a_long_block() -> None:
    """Changed signs of two words, two words or two chunks in each other's place, and zeros in
    place of a word, anywhere in three chunks.
    """
    chance = np.random.default_rng(4)
    words = chance.standard_normal(2 * CHUNK + 9)

    def seen(changed: np.ndarray[Any, Any]) -> int:
        return int(fingerprints(changed.view(np.uint8), words.nbytes)[0])

    found = {
        seen(words),
        seen(np.concatenate([words[CHUNK : 2 * CHUNK], words[:CHUNK], words[2 * CHUNK :]])),
    }
    assert len(found) == 2
    for at in range(len(words) - 1):
        signs, swapped, gone = words.copy(), words.copy(), words.copy()
        signs[at : at + 2] *= -1.0
        swapped[[at, at + 1]] = words[[at + 1, at]]
        gone[at] = 0.0
        found |= {seen(signs), seen(swapped), seen(gone)}
    assert len(found) == 2 + 3 * (len(words) - 1)
