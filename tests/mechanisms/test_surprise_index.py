"""Surprise index: compiled and plain kernels agree, and a memory that was saved, or lost a text,
continues as one that was not saved.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import NEWS
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.encoding.surprise_index import fingerprints, length_bonus, news

REGISTRY = Registry.read()


def events(n: int) -> list[Event]:
    return [
        Event(
            float(i),
            f"On {1 + i % 28} May 2021 Ada sold {i % 7} kg of tea to Bo {i % 11}",
            "Ada",
            id=f"e{i}",
            dated=False,
        )
        for i in range(n)
    ]


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    for new, total, length, details, events_ in product(
        (0.0, 2.0), (0.0, 3.0), (10.0, 200.0), (0.0, 5.0), (0.0, 1.0)
    ):
        values = (new, total, length, details, events_, 0.6, 0.05, 0.05, 0.1)
        assert news(*values) == pytest.approx(news.py_func(*values))  # type: ignore[attr-defined]
        assert length_bonus(length) == length_bonus.py_func(length)  # type: ignore[attr-defined]


def test_contradictions_are_off_unless_a_set_asks_for_them() -> None:
    chosen = {name: REGISTRY.set(name).mechanisms for name in REGISTRY.sets}
    asked = {
        name
        for name, mechanisms in chosen.items()
        if mechanisms.get("surprise_index", {}).get("contradiction", 0.0)
    }
    assert asked == {"true_memory", "true_memory_gated"}


def test_a_contradicting_memory_continues_when_it_was_saved(tmp_path: Path) -> None:
    told = [Event(0.0, "I live in Oslo.", "Mia", id="a", dated=False)]
    later = Event(1.0, "I moved to Bergen.", "Mia", dated=False)
    chosen = REGISTRY.set("true_memory").mechanisms["surprise_index"]
    scores = []
    for path in (None, tmp_path / "memory.db"):
        mechanism = REGISTRY.instance("surprise_index", chosen)
        memory = Engine([mechanism], HashingEmbedder(16), path=path)
        memory.encode_all(told)
        if path:
            memory.close()
            memory = Engine([mechanism], HashingEmbedder(16), path=path)
        memory.encode(later)
        scores.append(float(memory.column(NEWS)[-1]))
        memory.close()
    plain = Engine([REGISTRY.instance("surprise_index")], HashingEmbedder(16))
    plain.encode_all([*told, later])
    assert scores == [pytest.approx(float(plain.column(NEWS)[-1]) + 0.2)] * 2


def test_a_saved_memory_continues_as_an_unsaved_one_also_after_erasing(tmp_path: Path) -> None:
    def memory(path: Path | None) -> Engine:
        return Engine([REGISTRY.instance("surprise_index")], HashingEmbedder(16), path=path)

    plain, saved = memory(None), memory(tmp_path / "memory.db")
    for each in (plain, saved):
        each.encode_all(events(20))
        each.erase("e3", confirm=True)
    saved.close()
    saved = memory(tmp_path / "memory.db")
    for each in (plain, saved):
        each.encode_all(Event(30.0 + e.time, e.text, "Bo", dated=False) for e in events(40))
    np.testing.assert_array_equal(plain.column(NEWS), saved.column(NEWS))
    assert plain.digest() == saved.digest()
    saved.close()


@pytest.mark.parametrize(
    "text",
    ["\ud800 is \ud800", "7 May" * 1000, "is is is is", "$,,,", "12:99:99 pm", "’s 3 kg", "İ 5 km"],
)
def test_any_text_has_fingerprints(text: str) -> None:
    found = fingerprints(text, ())
    assert len(set(found.all)) == len(found.all) and found.events <= set(found.all)
