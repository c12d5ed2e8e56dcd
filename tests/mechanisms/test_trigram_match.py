from __future__ import annotations

import numpy as np

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval import trigram_match as module

TEXTS = ("See src/engine/loop.py line 12", "Carolyn likes hiking", "0 0 0", "We bought paint")


def test_silence_jitted_equals_plain() -> None:
    jitted = np.array([0.0, 0.5, -0.0, 1.0], dtype=np.float32)
    plain = jitted.copy()
    module.silence_zeros(jitted)
    module.silence_zeros.py_func(plain)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(jitted, plain)
    assert np.isnan(jitted).tolist() == [True, False, True, False]


def test_misspelt_words_and_paths_are_found() -> None:
    engine = Engine([Registry.read().instance("trigram_match")], HashingEmbedder(16))
    engine.encode_all(Event(float(i), text) for i, text in enumerate(TEXTS))
    assert engine.retrieve("Caroline's hike", k=1).rows.tolist() == [1]
    assert engine.retrieve("engine/loop", k=1).rows.tolist() == [0]


def test_texts_without_common_trigrams_give_no_signal() -> None:
    engine = Engine(
        [Registry.read().instance("trigram_match", {"max_df": 1.0})], HashingEmbedder(16)
    )
    engine.encode_all(Event(float(i), text) for i, text in enumerate(TEXTS))
    engine.retrieve("bought")
    assert np.isnan(engine.store.array(module.FORM)).tolist() == [True, True, True, False]
