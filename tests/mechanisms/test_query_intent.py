from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Facet
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import FACET_WEIGHTS
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.text.features import features
from hebbarium.mechanisms.retrieval.query_intent import (
    CLUE_FACETS,
    INTENT,
    INTENT_FACETS,
    Clue,
    clues_of,
    facet_weights,
)
from hebbarium.mechanisms.shared.questions import Intent, intent_of


def engine(*ids: str, **overrides: float) -> Engine:
    registry = Registry.read()
    others = [registry.instance(id, {"weight": 0.5} if id == "recency" else {}) for id in ids]
    made = Engine([registry.instance("query_intent", overrides), *others], HashingEmbedder(64))
    made.encode_all(
        Event(24.0 * i, text)
        for i, text in enumerate(
            ("Ada works at the mill.", "Rain.", "Ada works at the bank.", "Snow.")
        )
    )
    return made


def test_the_tables_have_a_row_for_each_name_and_a_column_for_each_facet() -> None:
    assert INTENT_FACETS.shape == (len(Intent), len(Facet))
    assert CLUE_FACETS.shape == (len(Clue), len(Facet))


@pytest.mark.parametrize(
    ("text", "clues"),
    [
        ("what did Ada say last week", [Clue.DATE, Clue.NAME]),
        ("fix the crash in src/loop.py", [Clue.IDENTIFIER, Clue.FAULT]),
        ("and then", []),
    ],
)
def test_clues_are_what_the_query_names(text: str, clues: list[Clue]) -> None:
    found = features(text)
    named = clues_of(" ".join(found.words), found)
    assert [c for c in named if c is not Clue.NAME or "Ada" in text] == clues


def test_of_two_versions_a_query_about_the_present_ranks_the_later_first() -> None:
    ids = ("dense_similarity", "lexical_bm25", "recency", "convex_fusion")
    with_intent, without = engine(*ids, strength=1.0), engine(*ids, strength=0.0)
    lead = [
        answer.final[2] - answer.final[0]
        for answer in (e.retrieve("Where does Ada work now?") for e in (with_intent, without))
    ]
    assert lead[0] > lead[1]
    assert with_intent.store.array(INTENT)[()] == Intent.KNOWLEDGE_UPDATE


def test_the_weights_of_one_query_do_not_reach_the_next() -> None:
    made = engine("dense_similarity")
    made.retrieve("Why does Ada work now?")
    made.retrieve("")
    assert made.store.array(INTENT)[()] == -1
    assert made.store.array(FACET_WEIGHTS).tolist() == [1.0] * len(Facet)


@given(st.text(max_size=200), st.floats(0.0, 1.0))
def test_any_text_gives_valid_weights(text: str, strength: float) -> None:
    found = features(text)
    words = " ".join(found.words)
    weights = facet_weights(intent_of(words), clues_of(words, found), strength)
    assert np.isfinite(weights).all() and (weights > 0.0).all()
