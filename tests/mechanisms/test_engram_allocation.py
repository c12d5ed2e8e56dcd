"""engram_allocation: compiled and plain kernels agree; in the engine memories of the same day
are linked and those of the next day are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.base.errors import RegistryError
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import EdgeType
from hebbarium.mechanisms.encoding import engram_allocation as papers
from hebbarium.mechanisms.encoding import engram_allocation_printed as printed

Build = Callable[..., Engine]
START = 480_000.0


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    x, y, gap, base = (
        rng.random(30),
        rng.random(30),
        rng.exponential(9.0, 30),
        rng.standard_normal(30),
    )
    excitable = np.empty(30)
    papers.excitability(base, x, y, gap, 2.0, 0.6, 8.0, 24.0, excitable)
    expected = [
        e + 2.0 * rise * math.exp(-age / 8.0) - 0.6 * fall * math.exp(-age / 24.0)
        for e, rise, fall, age in zip(base, x, y, gap, strict=True)
    ]
    np.testing.assert_allclose(excitable, expected, rtol=1e-12)
    engrams = np.array(
        [papers.allocate(rng.standard_normal(30), 6) for _ in range(12)], dtype=np.int16
    )
    assert (papers.allocate.py_func(excitable, 6) == papers.allocate(excitable, 6)).all()
    states = [(x.copy(), y.copy(), gap.copy()) for _ in range(2)]
    for kernel, state in zip((papers.activate, papers.activate.py_func), states, strict=True):
        kernel(engrams[0], 50.0, 8.0, 24.0, 1.5, *state)
    np.testing.assert_allclose(states[0], states[1], rtol=1e-13)
    tables = [(np.full((30, 4), -1, np.int32), np.zeros(30, np.int64)) for _ in range(2)]
    for kernel, table in zip((papers.write, papers.write.py_func), tables, strict=True):
        for row, engram in enumerate(engrams):
            kernel(engram, row, *table)
    assert (tables[0][0] == tables[1][0]).all()
    for a, b in zip(
        papers.companions(engrams[-1], tables[0][0], engrams, 0.1, 3),
        papers.companions.py_func(engrams[-1], tables[0][0], engrams, 0.1, 3),
        strict=True,
    ):
        np.testing.assert_allclose(a, b)
    assert papers.overlap.py_func(engrams[0], engrams[1]) == papers.overlap(engrams[0], engrams[1])
    np.testing.assert_allclose(papers.chance(30, 6), papers.chance.py_func(30, 6))


def story(build: Build, *ids: str, later: float, **params: object) -> Engine:
    """Many pairs of events without a common word, each pair a year after the previous one."""
    memory = build("lexical_bm25", *ids, params={ids[0]: params}, consolidate_every=math.inf)
    for i in range(12):
        memory.encode_all(
            [
                Event(START + 9000.0 * i, f"Zebra{i} ran."),
                Event(START + 9000.0 * i + later, "Rain fell softly."),
            ]
        )
    return memory


def links(memory: Engine) -> float:
    return float(
        np.mean(
            [
                memory.store.graph.find(i, i + 1, EdgeType.SIBLING) is not None
                for i in range(0, 24, 2)
            ]
        )
    )


def test_linked_within_hours_and_separate_after_a_day_and_a_week(build: Build) -> None:
    assert links(story(build, "engram_allocation", later=3.0)) > 0.7
    for later in (24.0, 168.0):
        assert links(story(build, "engram_allocation", later=later)) < 0.1


def test_a_query_for_one_linked_memory_ranks_the_other_higher(build: Build) -> None:
    memory = story(build, "engram_allocation", later=1.0)
    before = memory.digest()
    memory.retrieve("zebra3", k=1)
    lent = memory.store.array(papers.LINKED)
    assert lent[7] > 0.0 and lent[7] == np.nanmax(lent)
    assert memory.digest() == before


def test_recall_makes_the_units_of_the_best_excitable_again(build: Build) -> None:
    memory = story(build, "engram_allocation", later=1.0)
    memory.advance(memory.now + 100.0)
    memory.retrieve("zebra3", k=3, learn=True)
    active, engram = memory.store.array(papers.ENGRAM_ACTIVE), memory.store.array(papers.ENGRAM)
    assert set(np.flatnonzero(active == memory.now)) == set(engram[6].tolist())


def test_degrees_stay_bounded_after_many_events(build: Build) -> None:
    memory = build("engram_allocation", params={"engram_allocation": {"links": 3}})
    memory.encode_all(Event(START + i / 30.0, f"turn {i}") for i in range(200))
    degrees = [len(memory.store.graph.neighbours(row, EdgeType.SIBLING)) for row in range(200)]
    assert 1 < max(degrees) <= 6
    engrams = memory.store.array(papers.ENGRAM)
    assert (np.diff(engrams, axis=1) > 0).all() and engrams.shape == (200, 100)
    for edge in np.flatnonzero(memory.store.graph.alive):
        a, b = memory.store.graph.source[edge], memory.store.graph.target[edge]
        assert memory.store.graph.column(papers.ENGRAM_OVERLAP.name)[edge] == pytest.approx(
            len(np.intersect1d(engrams[a], engrams[b])) / 100
        )


def test_an_engram_larger_than_the_population_is_refused(build: Build) -> None:
    with pytest.raises(RegistryError, match="more than"):
        build("engram_allocation", params={"engram_allocation": {"units": 10, "size": 11}})


@pytest.mark.kernels
def test_printed_puts_everything_into_the_first_slot(build: Build) -> None:
    memory = story(build, "engram_allocation_printed", later=24.0)
    assert (memory.store.array(printed.SLOT) == 0).all()
    memory.retrieve("zebra3", k=1)
    mates = memory.store.array(printed.SLOTMATES)
    assert mates[0] > 0.0 and (mates == mates[0]).all()
