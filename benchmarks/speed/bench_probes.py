"""Probes over `waking`: time of one seed, and the share of it that is not spent in calls of the
memory.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from hebbarium.benchmarks.probes.harness.collection import own
from hebbarium.benchmarks.probes.harness.life import Life
from hebbarium.benchmarks.systems.hebbarium import Hebbarium
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

PROBES = (
    "lag_crp/distractor",
    "permastore/years",
    "needle/depths",
    "sleep_benefit/wake_sleep",
    "old_memory_cost/years",
)


class Timed(Hebbarium):
    """A memory that adds up the time of its calls."""

    spent = 0.0

    def _timed(self, call: Any, *values: Any, **named: Any) -> Any:
        start = time.perf_counter()
        try:
            return call(*values, **named)
        finally:
            Timed.spent += time.perf_counter() - start

    def encode(self, *values: Any, **named: Any) -> Any:
        return self._timed(super().encode, *values, **named)

    def retrieve(self, *values: Any, **named: Any) -> Any:
        return self._timed(super().retrieve, *values, **named)

    def advance(self, *values: Any, **named: Any) -> Any:
        return self._timed(super().advance, *values, **named)


@pytest.mark.parametrize("id", PROBES)
def test_one_seed(id: str, benchmark: Any) -> None:
    registry = Registry.read()
    embedder, mechanisms = (
        CachedEmbedder(HashingEmbedder(384), None),
        registry.build(registry.set("default")),
    )

    def lived() -> None:
        life = Life(
            lambda instruments, _: Timed([*mechanisms, *instruments], embedder, 0), embedder
        )
        try:
            own()[id].run(life, 0)
        finally:
            life.close()

    lived()  # kernels are compiled, texts embedded
    Timed.spent = 0.0
    benchmark.pedantic(lived, rounds=3)
    if not benchmark.disabled:
        benchmark.extra_info["overhead"] = 1.0 - Timed.spent / sum(benchmark.stats.stats.data)
