"""Share of the machine's limits: each measure against a plain pass over the same arrays, or against
FAISS alone, timed in turn.

`ratio` is the limit's time over ours: 1 is the limit.  It depends little on the machine and on
other load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.contract.records import Query
from hebbarium.engine.contract.vocabulary import ACTIVATION, ARRIVED, LOG_STRENGTH
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.consolidation.synaptic_tagging import EARLY_PHASE_INDUCED, LATE_PHASE
from hebbarium.mechanisms.maintenance.base_level_activation import RECENT_DECAYS, RECENT_USES, USES

SIZES = sizes(1_000, 10_000, 100_000)
Memory = Callable[[int], Engine]


def flat(memory: Engine) -> Callable[[], object]:
    """FAISS's own exact search for the ten best, in one thread."""
    faiss = import_module("faiss")
    index, wanted = (
        faiss.IndexFlatIP(memory.assembly.index.dimensions),
        memory.assembly.index.vectors[:1].copy(),
    )
    index.add(memory.assembly.index.vectors)

    def search() -> None:
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        index.search(wanted, 10)
        faiss.omp_set_num_threads(threads)

    return search


@pytest.mark.parametrize("n", SIZES)
def test_faiss(clock: Any, memory: Memory, n: int) -> None:
    """FAISS itself against reading its vectors once."""
    vectors = memory(n).assembly.index.vectors
    clock(
        flat(memory(n)),
        48,
        reference=vectors.max,
        against=f"read {vectors.nbytes / 1e6:.3g} MB of vectors",
    )


@pytest.mark.parametrize("n", SIZES)
def test_scores(clock: Any, memory: Memory, n: int) -> None:
    """The index's scores of all units against reading its vectors once."""
    index, out = memory(n).assembly.index, np.empty(memory(n).store.n, np.float32)
    query = index.vectors[0].copy()
    clock(
        lambda: index.scores(query, out),
        48,
        reference=index.vectors.max,
        against=f"read {index.vectors.nbytes / 1e6:.3g} MB of vectors",
    )


@pytest.mark.parametrize("n", SIZES)
def test_retrieve(
    clock: Any, memory: Memory, asked: Callable[[int], Iterator[Query]], n: int
) -> None:
    """All signals, fusion and answer against FAISS's search alone."""
    grown_memory, queries = memory(n), asked(n)
    clock(
        lambda: grown_memory.retrieve(next(queries)),
        64,
        reference=flat(grown_memory),
        against="FAISS flat search, one signal",
    )


@pytest.mark.parametrize("n", SIZES)
def test_maintain(clock: Any, memory: Memory, n: int) -> None:
    """One maintenance, and the columns that wait until they are read, against copying the arrays
    written and reading those read.
    """
    grown_memory = memory(n)
    read = [
        grown_memory.store.array(column)
        for column in (ARRIVED, USES, RECENT_USES, RECENT_DECAYS, EARLY_PHASE_INDUCED, LATE_PHASE)
    ]
    written = [
        (grown_memory.store.array(column), grown_memory.store.array(column).copy())
        for column in (ACTIVATION, LOG_STRENGTH)
    ]

    def touch() -> None:
        for array in read:
            array.max()
        for array, copy in written:
            np.copyto(copy, array)

    size = sum(array.nbytes for array in read) + 2 * sum(array.nbytes for array, _ in written)

    def tick() -> None:
        grown_memory.advance(grown_memory.now + 1.0)
        grown_memory.column(ACTIVATION)

    clock(tick, 64, reference=touch, against=f"read and write {size / 1e6:.3g} MB of columns")
