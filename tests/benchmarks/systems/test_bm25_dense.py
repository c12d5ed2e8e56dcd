"""The baseline: BM25 against bm25s and a closed form, the sum against a count by hand, and the
promises of the port.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import Stemmer

from hebbarium.benchmarks.systems.base import Capability, System
from hebbarium.benchmarks.systems.bm25_dense import BM25Dense
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.testing.conformance import talk

ROOT = Path(__file__).parent.parent.parent.parent


def encoded(*texts: str) -> BM25Dense:
    system = BM25Dense(HashingEmbedder(32), 0)
    system.encode([Event(float(i), text, id=f"e{i}", dated=False) for i, text in enumerate(texts)])
    return system


def test_bm25_is_that_of_another_library() -> None:
    """bm25s leaves out the constant factor k1 + 1."""
    import bm25s

    events = talk(40)
    system, stem = BM25Dense(HashingEmbedder(32), 0), Stemmer.Stemmer("english").stemWord
    system.encode(events)
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(
        [[stem(word) for word in re.findall(r"\w+", e.rendered().lower())] for e in events],
        show_progress=False,
    )
    for event in events[::4]:
        words = list(dict.fromkeys(stem(word) for word in re.findall(r"\w+", event.text.lower())))
        assert system._bm25(event.text) == pytest.approx(
            2.2 * index.get_scores(words), rel=1e-5, abs=1e-6
        )


def test_bm25_in_closed_form() -> None:
    """One term in one of two texts of equal length: ln(1 + 1.5 / 1.5) = ln 2, and tf saturates
    as 2.2 tf / (tf + 1.2).
    """
    system = encoded("apple pear", "plum cherry")
    assert system._bm25("apples").tolist() == pytest.approx([np.log(2.0), 0.0])
    twice = encoded("apple apple", "plum cherry")
    assert twice._bm25("apple").tolist() == pytest.approx([np.log(2.0) * 4.4 / 3.2, 0.0])


def test_the_sum_gives_words_and_meaning_equal_parts() -> None:
    system = encoded("apple pear", "plum cherry", "fig apple")
    cosine = (
        HashingEmbedder(32).embed(["apple pear", "plum cherry", "fig apple"])
        @ HashingEmbedder(32).embed(["apple pear"])[0]
    )
    words = system._bm25("apple pear")
    expected = [
        0.5 * words[i] / max(words) + 0.5 * (cosine[i] - min(cosine)) / (max(cosine) - min(cosine))
        for i in range(3)
    ]
    hits = system.retrieve(Query("apple pear"), 3).events
    assert {hit.id: hit.score for hit in hits} == pytest.approx(
        {f"e{i}": score for i, score in enumerate(expected)}, rel=1e-6
    )
    assert (
        [hit.score for hit in hits] == sorted(expected, reverse=True)
        and hits[0].text == "apple pear"
        and hits[0].id == "e0"
    )


@pytest.mark.parametrize("question", ["", "zzz", "apple", "apple " * 50])
def test_any_question_has_an_answer_and_recall_changes_none(question: str) -> None:
    system, nothing = (
        encoded("apple pear", "plum cherry", "fig apple"),
        BM25Dense(HashingEmbedder(32), 0),
    )
    before = system.retrieve(Query(question), 2)
    system.advance(1000.0)
    system.retrieve(Query("plum"), 3, learn=True)
    assert (
        system.retrieve(Query(question), 2) == before
        and len(before.events) == 2
        and all(np.isfinite(hit.score) for hit in before.events)
    )
    assert nothing.retrieve(Query(question), 5).events == ()


def test_it_is_a_system_and_declares_nothing_more() -> None:
    system: Any = BM25Dense(HashingEmbedder(8), 0)
    assert isinstance(system, System) and not system.capabilities & set(Capability)
    system.close()


def test_it_shares_no_code_with_the_engine() -> None:
    source = (ROOT / "benchmarks" / "systems" / "bm25_dense.py").read_text(encoding="utf-8")
    assert set(re.findall(r"engine\.([\w.]+)", source)) == {"ports.embedder", "contract.records"}
