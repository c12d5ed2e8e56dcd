"""Reconsolidation: compiled and plain kernels agree, and through the engine an event similar to
an old memory becomes a version of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import LOG_STRENGTH, VISIBLE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import EdgeType
from hebbarium.mechanisms.consolidation import reconsolidation as paper

START, S, D, STORED, WINDOW, LOW, HIGH = 1000.0, 0.8, 0.95, 0.8, 6.0, 0.1, 0.3


class Angles:
    """Texts end in an angle in degrees, which is their embedding."""

    name, revision, dimensions = "angles", "1", 2

    def embed(self, texts: Sequence[str]) -> Any:
        radians = np.deg2rad([float(text.split()[-1]) for text in texts])
        return np.column_stack([np.cos(radians), np.sin(radians)]).astype(np.float32)


def angle(m: float) -> float:
    """Angle in degrees between two vectors of mismatch m at a background of 0."""
    return math.degrees(math.acos(1.0 - m))


def memory_of(
    registry: Registry,
    events: Sequence[tuple[float, float, str]],
    until: float,
    *,
    tick: float = 1.0,
    **params: Any,
) -> Engine:
    """Events (h after the start, mismatch to the first, speaker) with a background near 0."""
    chosen = [
        registry.instance("reconsolidation", {"prior": 1e4, **params}),
        registry.instance("dense_similarity"),
    ]
    memory = Engine(chosen, Angles(), tick_hours=tick)
    for hours, m, speaker in events:
        memory.encode(Event(START + hours, f"It is now {angle(m):.9f}", speaker))
    memory.advance(START + until)
    return memory


def strengths(memory: Engine) -> Any:
    return memory.column(LOG_STRENGTH).tolist()


def versions(memory: Engine) -> list[tuple[int, int]]:
    graph = memory.assembly.graph
    return [
        (int(graph.source[e]), int(graph.target[e]))
        for e in np.flatnonzero(graph.type == EdgeType.VERSION)
    ]


@pytest.mark.slow
def test_compiled_equals_plain() -> None:
    rng = np.random.default_rng(0)
    w, u, current = rng.uniform(-1.0, 1.0, (6, 6)), rng.random(6), rng.normal(size=6)
    for kernel, arguments in (
        (paper.settle, (u, w, current, 1.0, 3.0)),
        (paper.expected, (current,)),
        (paper.session, (w, u, current, S, D)),
        (paper.between_sessions, (w, 0.1)),
        (paper.change, (0.3, 0.6, -0.2, S, D)),
        (paper.clipped, (1.7,)),
        (paper.mismatch, (0.8, 0.3)),
        (paper.regime, (0.2, LOW, HIGH)),
        (paper.degraded, (0.5, 0.4, D, 0.05)),
        (paper.restabilised, (0.4, S, 2.0, WINDOW)),
    ):
        np.testing.assert_allclose(kernel(*arguments), kernel.py_func(*arguments), rtol=1e-12)
    out = np.zeros((2, 5))
    for row, relative in zip(
        out, (paper.relative_weights, paper.relative_weights.py_func), strict=True
    ):
        relative(
            9.0,
            np.full(5, 0.4),
            np.linspace(0.0, 0.8, 5),
            np.array([math.nan, 1.0, 4.0, 8.0, 9.0]),
            WINDOW,
            STORED,
            row,
        )
    np.testing.assert_allclose(out[0], out[1], rtol=1e-12)


def test_a_repetition_strengthens_the_old_memory(registry: Registry) -> None:
    memory = memory_of(registry, [(0.0, 0.0, "Ada"), (1.0, 0.0, "Bo")], 24.0)
    np.testing.assert_allclose(strengths(memory), [math.log(1.0 / STORED), 0.0], atol=1e-3)
    assert not versions(memory)


def test_a_similar_but_different_event_is_a_new_version(registry: Registry) -> None:
    memory = memory_of(registry, [(0.0, 0.0, "Ada"), (1.0, 0.2, "Ada")], 24.0)
    np.testing.assert_allclose(
        strengths(memory),
        [math.log((STORED - D * 0.2) / STORED), math.log(1.0 / STORED)],
        atol=1e-3,
    )
    assert versions(memory) == [(1, 0)]
    assert memory.event(0).text.endswith("0.000000000") and memory.store.array(VISIBLE).all()


@pytest.mark.parametrize(("m", "speaker"), [(0.5, "Ada"), (0.2, "Bo")])
def test_another_topic_or_another_speaker_changes_no_memory(
    registry: Registry, m: float, speaker: str
) -> None:
    memory = memory_of(registry, [(0.0, 0.0, "Ada"), (1.0, m, speaker)], 24.0)
    assert strengths(memory) == [0.0, 0.0] and not versions(memory)


def test_versions_make_a_chain(registry: Registry) -> None:
    memory = memory_of(registry, [(0.0, 0.0, "Ada"), (30.0, 0.2, "Ada"), (60.0, 0.6, "Ada")], 90.0)
    assert versions(memory) == [(1, 0), (2, 1)]


def test_synthesis_lasts_as_long_as_the_window(registry: Registry) -> None:
    """Three hours after a restatement, half of the synthesis is done; an inhibitor stops it, and
    without a mismatch nothing is lost.
    """
    events = [(0.0, 0.0, "Ada"), (1.0, 0.09, "Bo")]
    left = STORED - D * 0.09
    for until, s, weight in (
        (4.0, S, left + S / 2.0),
        (7.0, S, 1.0),
        (500.0, S, 1.0),
        (4.0, 0.0, left),
        (500.0, 0.0, left),
    ):
        found = strengths(memory_of(registry, events, until, s=s))[0]
        assert found == pytest.approx(math.log(min(weight, 1.0) / STORED), abs=1e-3)


def test_time_scale_stretches_the_window(registry: Registry) -> None:
    events = [(0.0, 0.0, "Ada"), (1.0, 0.09, "Bo")]
    plain, slow = (
        memory_of(registry, events, 2.0),
        memory_of(registry, events, 11.0, time_scale=10.0),
    )
    assert strengths(plain) == pytest.approx(strengths(slow))


def test_recall_reactivates_only_memories_similar_to_the_cue(registry: Registry) -> None:
    for m, gain in ((0.05, math.log(1.0 / STORED)), (0.2, math.log(1.0 / STORED)), (0.6, 0.0)):
        memory = memory_of(registry, [(0.0, 0.0, "Ada")], 1.0)
        memory.retrieve(Query(f"Is it {angle(m):.9f}", memory.now), k=1, learn=True)
        memory.advance(START + 30.0)
        assert strengths(memory)[0] == pytest.approx(gain, abs=1e-3)


def test_recalled_memories_are_weak_while_labile(registry: Registry) -> None:
    memory = memory_of(registry, [(0.0, 0.0, "Ada")], 1.0)
    memory.retrieve(Query(f"Is it {angle(0.25):.9f}", memory.now), k=1, learn=True)
    memory.advance(START + 1.01)
    assert strengths(memory)[0] == pytest.approx(math.log((STORED - D * 0.25) / STORED), abs=5e-3)


def test_no_revision_erases(registry: Registry) -> None:
    memory = memory_of(
        registry,
        [(0.0, 0.0, "Ada"), *((10.0 + i, (0.25, 0.0)[i % 2], "Ada") for i in range(30))],
        100.0,
    )
    assert min(strengths(memory)) >= math.log(0.05 / STORED) - 1e-9
    assert memory.store.array(VISIBLE).all() and len(memory.event_log.events) == 31


def test_ticks_do_not_matter(registry: Registry) -> None:
    degrees = (0, 36, 72, 108, 144, 180, 12, 90, 50, 126, 160, 20, 64)
    events = [(2.3 * i, 1.0 - math.cos(math.radians(x)), "Ada") for i, x in enumerate(degrees)]
    fine, coarse = (memory_of(registry, events, 80.0, tick=tick) for tick in (0.01, 500.0))
    np.testing.assert_allclose(strengths(fine), strengths(coarse), rtol=1e-12)
    assert len(versions(fine)) == len(versions(coarse)) > 3


def test_what_all_memories_have_in_common_is_not_counted_as_similarity(registry: Registry) -> None:
    """After thirty similar memories, an event at the average similarity is no version of any."""
    events = [*((float(i), 0.0, "Ada") for i in range(30)), (30.0, 0.2, "Ada")]
    assert len(versions(memory_of(registry, events, 40.0))) == 1
    assert not versions(memory_of(registry, events, 40.0, prior=1.0))
