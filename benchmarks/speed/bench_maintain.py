"""Speed of maintenance: one pass over all units, first as encoded, then with every unit recalled
many times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.maintenance.base_level_activation import RECENT_DECAYS, RECENT_USES, USES

TARGETS = {1_000: None, 10_000: None, 100_000: 5.0}  # ms
HOUR = 1.0
Memory = Callable[[int], Engine]


@pytest.mark.parametrize("n", sizes(*TARGETS))
def test_maintain(clock: Any, memory: Memory, n: int) -> None:
    grown_memory = memory(n)
    clock(lambda: grown_memory.advance(grown_memory.now + HOUR), 64, target=TARGETS.get(n))


@pytest.fixture
def used(memory: Memory, n: int) -> Iterator[Engine]:
    """The memory with every kept use of every unit filled, as after many recalls."""
    grown_memory = memory(n)
    arrays = [grown_memory.store.array(column) for column in (USES, RECENT_USES, RECENT_DECAYS)]
    before = [array.copy() for array in arrays]
    arrays[0][:], arrays[1][:], arrays[2][:] = (
        arrays[1].shape[1],
        before[1][:, :1],
        before[2][:, :1],
    )
    yield grown_memory
    for array, old in zip(arrays, before, strict=True):
        array[:] = old


@pytest.mark.parametrize("n", sizes(*TARGETS))
def test_used(clock: Any, used: Engine, n: int) -> None:
    """Every unit has as many uses as are kept one by one; older uses at most double the time."""
    clock(lambda: used.advance(used.now + HOUR), 64)
