"""Speaker engram: compiled and plain kernels agree, and a memory that was saved, or lost a text,
continues as one that was not saved.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval.speaker_engram import (
    PROFILE,
    add_ngrams,
    add_up_to,
    normalise,
    style,
)

REGISTRY = Registry.read()


def memory(path: Path | None = None) -> Engine:
    return Engine(
        [REGISTRY.instance(i) for i in ("speaker_engram", "lexical_bm25", "convex_fusion")],
        HashingEmbedder(32),
        path=path,
    )


def events(first: int, n: int) -> list[Event]:
    told = (
        "I moved to {c}.",
        "I love {d}.",
        "I sing every day.",
        "I don't like {d}.",
        "What a day!",
    )
    return [
        Event(
            2.0 * i,
            told[i % 5].format(c=("Rome", "Oslo", "Bern")[i % 3], d=("tea", "milk")[i % 2]),
            ("Ada", "Bo", "user")[i % 3],
            id=f"e{i}",
            attributes=(("recipient", "Bo"),) if i % 3 == 0 else (),
        )
        for i in range(first, first + n)
    ]


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    codes, out, plain = rng.integers(0, 0x10FFFF, 50), np.zeros(256), np.zeros(256)
    add_ngrams(codes, out)
    add_ngrams.py_func(codes, plain)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(out, plain)
    normalise(out)
    normalise.py_func(plain)  # type: ignore[attr-defined]
    np.testing.assert_allclose(out, plain)
    fused, rows, fit, missing, other = (
        rng.normal(size=9),
        rng.permutation(9)[:5],
        rng.normal(size=5),
        np.zeros(9),
        np.zeros(9),
    )
    add_up_to(fused, float(fused.min()), float(fused.max()), rows, fit, 0.8, missing)
    add_up_to.py_func(fused, float(fused.min()), float(fused.max()), rows, fit, 0.8, other)  # type: ignore[attr-defined]
    np.testing.assert_allclose(missing, other)


def test_a_saved_memory_continues_as_an_unsaved_one_also_after_erasing(tmp_path: Path) -> None:
    plain, saved = memory(), memory(tmp_path / "memory.db")
    for each in (plain, saved):
        each.encode_all(events(0, 40))
        each.erase("e0", confirm=True)
    saved.close()
    saved = memory(tmp_path / "memory.db")
    for each in (plain, saved):
        each.encode_all(events(40, 40))
        each.advance(200.0)
    assert plain.digest() == saved.digest() and (plain.column(PROFILE) >= 0).sum() == 3
    for question in ("What kind of person is Ada?", "What do I like?", "Where does Bo live?"):
        np.testing.assert_array_equal(plain.retrieve(question).rows, saved.retrieve(question).rows)
    saved.close()


@pytest.mark.parametrize("text", ["", "\ud800", "🦊" * 4, "a" * 100_000])
def test_a_style_has_unit_length_or_is_zero(text: str) -> None:
    assert np.linalg.norm(style(text)) == pytest.approx(float(len(text) >= 3))
