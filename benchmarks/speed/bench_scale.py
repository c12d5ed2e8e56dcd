"""Speed by size: shared scans and the approximate index, beside one flat scan of the same vectors
in the same run.

`-k "not 100000"` leaves out the large size; UNITS=1000000 needs 6 GB and ten minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.speed.large import sizes
from hebbarium.engine.scale.approximate import ListIndex
from hebbarium.engine.state.vectors import VectorIndex

DIMENSIONS, TOPICS, ASKED = 384, 2_000, 48
SIZES = sizes(1_000, 10_000, 100_000)
RECALL = 0.98  # least share of the exact ten nearest that the lists find


def drawn(n: int, seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Unit vectors around 2,000 topics, half topic, half noise."""
    rng, topics = (
        np.random.default_rng(seed),
        np.random.default_rng(1).standard_normal((TOPICS, DIMENSIONS), np.float32),
    )
    rows = rng.standard_normal((n, DIMENSIONS), np.float32)
    rows += topics[rng.integers(0, TOPICS, n)]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


@cache
def lists(n: int) -> ListIndex:
    index = ListIndex(DIMENSIONS)
    index.add_many(drawn(n, 2))
    index.search(drawn(1, 3)[0], 10)  # builds
    return index


def asked(seed: int) -> Callable[[], np.ndarray[Any, np.dtype[np.float32]]]:
    """Questions one after the other: more than the index keeps products of, so that none is
    answered from an earlier one.
    """
    return cycle(drawn(ASKED, seed)).__next__


@pytest.mark.parametrize("n", SIZES)
def test_three_askers(clock: Any, n: int) -> None:
    """All products, the 256 nearest and the products again, as the mechanisms of `waking` ask;
    against one flat scan in one thread.
    """
    faiss, index, out, new, other = (
        import_module("faiss"),
        lists(n),
        np.empty(n, np.float32),
        asked(4),
        asked(5),
    )
    flat = faiss.IndexFlatIP(DIMENSIONS)
    flat.add(index.vectors)

    def ask() -> None:
        query = new()
        VectorIndex.scores(index, query, out)
        VectorIndex._nearest(index, query, 256, True)
        VectorIndex.scores(index, query, out)

    def scan() -> None:
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        flat.search(other()[None], 10)
        faiss.omp_set_num_threads(threads)

    clock(ask, ASKED, reference=scan, against="FAISS flat search")


@pytest.mark.parametrize("n", SIZES)
def test_lists(clock: Any, benchmark: Any, n: int) -> None:
    """The ten nearest by lists, exact below 16,384 rows; against an exact search.  Recall in
    `extra_info` and with `-s`.
    """
    index, new, other = lists(n), asked(6), asked(7)
    clock(
        lambda: index.search(new(), 10),
        ASKED,
        reference=lambda: VectorIndex._nearest(index, other(), 10, True),
        against="exact search",
    )
    recalled = index.recall(list(drawn(ASKED, 8)))
    benchmark.extra_info["recall_at_10"] = recalled
    print(f"\n{n:,} rows: recall@10 {recalled:.3f} of the exact answer")
    assert recalled >= RECALL
