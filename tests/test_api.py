"""`hebbarium.memory`, `hebbarium.load` and `hebbarium.Event.at` take what users give, or say
what they need.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import hebbarium as hb


def test_a_set_may_be_a_path_and_a_single_mechanism_a_text(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "mechanisms: {dense_similarity: {}, lexical_bm25: {}, convex_fusion: {}}\n",
        encoding="utf-8",
    )
    named = {
        spec: hb.memory(spec, embedding="hashing:8", without="lexical_bm25")
        for spec in (file, str(file))
    }
    for memory in named.values():
        assert {m.id for m in memory.mechanisms} == {"dense_similarity", "convex_fusion"}


def test_a_snapshot_may_be_named_by_a_text(tmp_path: Path) -> None:
    with hb.memory("bm25", embedding="hashing:8", path=str(tmp_path / "m.db")) as memory:
        memory.encode(hb.Event(1.0, "We moved."))
    with hb.memory("bm25", embedding="hashing:8", path=tmp_path / "m.db") as memory:
        assert [event.text for event in memory.events] == ["We moved."]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hb.memory(["dense_similarity"]), "the set is"),  # type: ignore[arg-type]
        (lambda: hb.Event.at("2024-05-01", "x"), "is no datetime"),  # type: ignore[arg-type]
        (lambda: hb.Event.at(date(2024, 5, 1), "x"), "is no datetime"),  # type: ignore[arg-type]
        (lambda: hb.hours(3.0), "is no datetime"),  # type: ignore[arg-type]
        (lambda: hb.load("conversations", "nowhere"), "there is no such file or folder"),
    ],
)
def test_a_wrong_argument_is_told_with_a_cure(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(hb.HebbariumError, match=words) as caught:
        call()
    assert caught.value.where and caught.value.cure
