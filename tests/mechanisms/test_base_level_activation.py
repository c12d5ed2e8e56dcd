"""base_level_activation and its printed variety: compiled and plain kernels agree; through the
engine use raises activation, time lowers it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from hebbarium.audit.evidence.temporal_context import WordParams, Words
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import ACTIVATION
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.maintenance import base_level_activation as paper
from hebbarium.mechanisms.maintenance import base_level_activation_printed as printed

N, K = 30, 4


def history(seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    uses = rng.integers(0, 9, N)
    recent = np.sort(rng.uniform(10.0, 100.0, (N, K)), axis=1)[:, ::-1].copy()
    recent[np.arange(K) >= uses[:, None]] = np.nan
    return (
        rng.uniform(0.0, 10.0, N),
        uses,
        recent,
        np.where(np.isnan(recent), np.nan, rng.uniform(0.1, 1.5, (N, K))),
    )


@pytest.mark.slow
def test_activation_compiled_equals_plain() -> None:
    a, b = np.zeros(N), np.zeros(N)
    paper.activation(120.0, *history(), 3600.0, a)
    paper.activation.py_func(120.0, *history(), 3600.0, b)
    np.testing.assert_allclose(a, b, rtol=1e-12)
    assert np.isfinite(a).all() and (a[history()[1] == 0] == 0.0).all()


@pytest.mark.slow
def test_use_compiled_equals_plain() -> None:
    a, b = history(), history()
    rows = np.array([4, 17])
    paper.use(rows, 120.0, *a, 3600.0, 0.177, 0.217)
    paper.use.py_func(rows, 120.0, *b, 3600.0, 0.177, 0.217)
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)
    assert (
        a[1][4] == history()[1][4] + 1
        and (a[2][17, 1:] == history()[2][17, :-1])[: min(history()[1][17], K - 1)].all()
    )


@pytest.mark.slow
def test_printed_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(5)
    created, accessed, then = rng.uniform(0.0, 50.0, N), rng.uniform(50.0, 60.0, N), rng.random(N)
    a, b = np.empty(N), np.empty(N)
    printed.cool(70.0, created, accessed, then, 0.05, 1.0, a)
    printed.cool.py_func(70.0, created, accessed, then, 0.05, 1.0, b)
    np.testing.assert_allclose(a, b, rtol=1e-12)
    counts = rng.integers(1, 9, N)
    np.testing.assert_allclose(
        printed.base_level(counts, created, 0.5),
        printed.base_level.py_func(counts, created, 0.5),
        rtol=1e-12,
    )
    entered = [(np.ones(N, dtype=np.int64), accessed.copy(), then.copy()) for _ in range(2)]
    for access, (accesses, last, heat) in zip(
        (printed.access, printed.access.py_func), entered, strict=True
    ):
        access(np.array([1, 8]), 70.0, created, accesses, last, heat, 0.05, 1.0, 0.1)
    for x, y in zip(*entered, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


def engine(id: str, tick_hours: float = 1.0, **overrides: float | str) -> Engine:
    return Engine(
        [Words("words", WordParams(1.0)), Registry.read().instance(id, overrides)],
        HashingEmbedder(64),
        tick_hours=tick_hours,
    )


def after_uses(id: str, tick_hours: float = 1.0, **overrides: float | str) -> np.ndarray:
    """Activation of three memories about a day later, the second of them recalled in between."""
    memory = engine(id, tick_hours, **overrides)
    memory.encode_all([Event(0.0, "ash"), Event(1.0, "birch"), Event(2.5, "cedar")])
    memory.advance(8.0)
    memory.retrieve("birch", k=1, learn=True)
    for time in np.arange(8.0 + tick_hours, 26.0, tick_hours):
        memory.advance(float(time))
    memory.advance(26.0)
    return np.array(memory.column(ACTIVATION))


def test_activation_after_a_history_of_uses_is_the_power_law() -> None:
    first = 25 * 3600.0
    d2 = 0.217 * (7 * 3600.0) ** -0.177 + 0.177
    expected = [
        -0.177 * math.log(26 * 3600.0),
        math.log(first**-0.177 + (18 * 3600.0) ** -d2),
        -0.177 * math.log(23.5 * 3600.0),
    ]
    np.testing.assert_allclose(after_uses("base_level_activation"), expected, rtol=1e-12)


def test_time_scale_stretches_the_second() -> None:
    assert after_uses("base_level_activation", time_scale=100.0)[0] == pytest.approx(
        -0.177 * math.log(26 * 36.0), rel=1e-12
    )


@pytest.mark.parametrize("law", ["heat", "base_level"])
def test_printed_activation_after_a_history_of_uses(law: str) -> None:
    heat = 0.95 ** (2.0 + 5 * 1.2 + 1 * 0.8) + 0.1  # birch at age 7 h, just recalled
    heat *= 0.95 ** (17 * 0.8 + 1 * 0.5)  # and at 25 h
    heat = max(heat, 0.1)
    expected = (
        math.log(heat / (1.0 - heat)) if law == "heat" else math.log(2.0) - 0.5 * math.log(25.0)
    )
    assert after_uses("base_level_activation_printed", law=law)[1] == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize("id", ["base_level_activation", "base_level_activation_printed"])
def test_ticks_do_not_matter(id: str) -> None:
    np.testing.assert_allclose(
        after_uses(id, tick_hours=0.5), after_uses(id, tick_hours=6.0), rtol=1e-13
    )


@pytest.mark.parametrize(
    ("id", "fresh"),
    [("base_level_activation", 0.0), ("base_level_activation_printed", math.log(999_999.0))],
)
def test_a_fresh_memory_has_its_activation_before_any_maintenance(id: str, fresh: float) -> None:
    memory = engine(id)
    memory.encode(Event(0.0, "ash"))
    assert memory.column(ACTIVATION)[0] == pytest.approx(fresh, rel=1e-9)


def test_retrieval_without_learning_counts_as_no_use() -> None:
    memory = engine("base_level_activation")
    memory.encode_all([Event(0.0, "ash"), Event(1.0, "birch")])
    before = memory.digest()
    memory.retrieve("birch", k=1)
    assert memory.digest() == before
    memory.retrieve("birch", k=1, learn=True)
    assert memory.store.array(paper.USES).tolist() == [1, 2]
