from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import CUES
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.text.features import terms_of
from hebbarium.mechanisms.retrieval import lexical_bm25 as module
from hebbarium.testing.small import does, mechanism

TEXTS = (
    "the cat sat on the mat",
    "a dog beside a grey cat",
    "dogs bark",
    "the quick brown fox jumps over the lazy dog",
    "mat mat mat",
    "nothing here",
)


def engine(**overrides: float | str) -> Engine:
    made = Engine([Registry.read().instance("lexical_bm25", overrides)], HashingEmbedder(16))
    made.encode_all(Event(float(i), text) for i, text in enumerate(TEXTS))
    return made


@pytest.mark.parametrize("arguments", [(10.0, 2.0), (10.0, 9.0), (1.0, 0.0)])
def test_idf_kernels_jitted_equal_plain(arguments: tuple[float, float]) -> None:
    for kernel in (module.idf_robertson, module.idf_lucene):
        assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-15)  # type: ignore[attr-defined]


def test_saturation_and_silence_jitted_equal_plain() -> None:
    rng = np.random.default_rng(0)
    for tf, length, mean, k1, b in rng.uniform(0.1, 5.0, (20, 5)):
        assert module.saturation(tf, length, mean, k1, b / 5) == pytest.approx(
            module.saturation.py_func(tf, length, mean, k1, b / 5)
        )  # type: ignore[attr-defined]
    jitted = rng.integers(0, 2, 50).astype(np.float32)
    plain = jitted.copy()
    module.silence_zeros(jitted)
    module.silence_zeros.py_func(plain)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(jitted, plain)


def test_the_signal_is_that_of_sqlite_fts5() -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE memory USING fts5(text, tokenize='porter unicode61')")
    made = engine()
    words = [
        " ".join(terms_of(Event(float(i), text).rendered(), stem=False, stop_words=True))
        for i, text in enumerate(TEXTS)
    ]
    database.executemany("INSERT INTO memory(rowid, text) VALUES (?, ?)", enumerate(words))
    expected = np.full(len(TEXTS), np.nan)
    for row, score in database.execute(
        "SELECT rowid, -bm25(memory) FROM memory WHERE memory MATCH 'dog OR mat OR fox'"
    ):
        expected[row] = score
    made.retrieve("dogs, mats, fox")
    np.testing.assert_allclose(made.store.array(module.LEXICAL), expected, rtol=1e-5)


def test_memories_without_a_common_word_have_no_score_and_are_ranked_last() -> None:
    made = engine(idf="lucene")
    answer = made.retrieve("brown fox", k=len(TEXTS))
    assert answer.rows[0] == 3
    assert np.isnan(made.store.array(module.LEXICAL)).tolist() == [
        row != 3 for row in range(len(TEXTS))
    ]


def test_b_controls_the_length_normalisation() -> None:
    assert engine(b=1.0).retrieve("dog", k=1).rows[0] == 2
    flat = engine(b=0.0)
    flat.retrieve("dog")
    scores = flat.store.array(module.LEXICAL)
    assert scores[1] == scores[2] == scores[3]


def test_a_wording_finds_memories_that_share_no_word_with_the_query() -> None:
    wordy = mechanism(
        "wordy",
        does(Phase.RETRIEVE, lambda view, cue: view.cues.add("fox", 0.5, "test"), adds=[CUES]),
    )
    made, plain = (
        Engine([Registry.read().instance("lexical_bm25"), wordy], HashingEmbedder(16)),
        engine(),
    )
    made.encode_all(Event(float(i), text) for i, text in enumerate(TEXTS))
    made.retrieve("mat")
    plain.retrieve("mat")
    asked = plain.store.array(module.LEXICAL).copy()
    plain.retrieve("fox")
    of_wording, found = plain.store.array(module.LEXICAL), made.store.array(module.LEXICAL)
    np.testing.assert_array_equal(found[[0, 4]], asked[[0, 4]])
    assert found[3] == pytest.approx(0.5 * of_wording[3]) and np.isnan(asked[3])
    assert np.isnan(found[[1, 2, 5]]).all()
