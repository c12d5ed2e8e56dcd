"""Stages: compiled and plain kernels agree, a saved memory continues as an unsaved one,
summaries are those of the stages, and detection is fast.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.drafts import Kind
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import KIND, STAGE, VISIBLE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.consolidation.stage_summary import telling
from hebbarium.mechanisms.encoding.stage_detection import deep, follow, similarity

REGISTRY = Registry.read()
TOPICS = (
    "boat mast sail harbour anchor deck",
    "oven bread flour yeast crust dough",
    "train ticket station platform luggage seat",
    "tulip spade soil hedge compost rake",
)


def events(first: int, n: int) -> list[Event]:
    """A talk that changes its topic every 15 events and its session every 40."""
    rng = np.random.default_rng(first)
    texts = [
        " ".join(rng.choice(TOPICS[i // 15 % 4].split(), 4, replace=False))
        for i in range(first, first + n)
    ]
    return [
        Event(
            0.5 * i + 20.0 * (i // 40),
            f"{text} on day {i}.",
            ("Ada", "Bo")[i % 2],
            f"S{i // 40}",
            f"e{i}",
        )
        for i, text in enumerate(texts, first)
    ]


def memory(by: str, path: Path | None = None) -> Engine:
    chosen = [
        REGISTRY.instance("stage_detection", {"by": by}),
        REGISTRY.instance("stage_summary"),
        REGISTRY.instance("lexical_bm25"),
    ]
    return Engine(chosen, HashingEmbedder(64), path=path)


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(10, 7))
    assert similarity(vectors) == pytest.approx(similarity.py_func(vectors))  # type: ignore[attr-defined]
    assert similarity(np.zeros((2, 3))) == 0.0
    states = [(np.full(3, np.nan), np.zeros(3)) for _ in range(2)]
    for s in rng.normal(size=60):
        lowest = [
            kernel(*state, s)
            for kernel, state in zip((follow, follow.py_func), states, strict=True)
        ]  # type: ignore[attr-defined]
        cut = [
            kernel(*state, 0.5) for kernel, state in zip((deep, deep.py_func), states, strict=True)
        ]  # type: ignore[attr-defined]
        assert lowest[0] == lowest[1] and cut[0] == cut[1]
        np.testing.assert_allclose(states[0], states[1])
    held, others, out, plain = (
        rng.integers(1, 5, 9),
        rng.integers(0, 5, 9),
        np.zeros(9),
        np.zeros(9),
    )
    telling(held, others, 9, out)
    telling.py_func(held, others, 9, plain)  # type: ignore[attr-defined]
    np.testing.assert_allclose(out, plain)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["labels", "gap", "semantic", "model"])
def test_a_saved_memory_continues_as_an_unsaved_one_also_after_erasing(
    by: str, tmp_path: Path
) -> None:
    plain, saved = memory(by), memory(by, tmp_path / "memory.db")
    for each in (plain, saved):
        each.encode_all(events(0, 70))
        each.erase("e5", confirm=True)
    saved.close()
    saved = memory(by, tmp_path / "memory.db")
    for each in (plain, saved):
        each.encode_all(events(70, 70))
        each.advance(400.0)
    assert plain.digest() == saved.digest()
    saved.close()


@pytest.mark.slow
@pytest.mark.parametrize("by", ["labels", "gap", "semantic", "model"])
def test_each_stage_has_one_visible_summary_of_its_events(by: str) -> None:
    made = memory(by)
    for start in range(0, 200, 50):
        made.encode_all(events(start, 50))
        made.erase(f"e{start + 7}", confirm=True)
    made.advance(500.0)
    kind, visible, stage = (made.column(c) for c in (KIND, VISIBLE, STAGE))
    summaries = np.flatnonzero((kind == Kind.SUMMARY) & visible).tolist()
    of = {
        int(stage[row]): made.event_log.writings[int(made.column("writing")[row])].sources
        for row in summaries
    }
    groups = {
        int(s): tuple(np.flatnonzero((kind == Kind.EVENT) & (stage == s)).tolist())
        for s in set(stage[kind == Kind.EVENT].tolist()) - {-1}
    }
    assert len(of) == len(summaries) > 3 and of == {
        s: rows for s, rows in groups.items() if len(rows) >= 3
    }
