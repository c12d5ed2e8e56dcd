"""Microglial pruning: compiled and plain kernels agree, and through the engine idle associations
are removed, used ones and all memories stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import EdgeType
from hebbarium.mechanisms.maintenance import microglial_pruning as paper
from hebbarium.mechanisms.maintenance import microglial_pruning_printed as printed

Build = Callable[..., Engine]
K = (7.0, 1.0, 1.0, (0.05, 0.01, 1.0), (0.1, 0.5, 3.5, 1.5, 1.0))
FORMS = ("microglial_pruning", "microglial_pruning_printed")


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "arguments"), [
    (paper.deposition, (0.3, 2.0, 0.1, 0.05, 0.01, 1.0)), (paper.protection, (2.0, 1.0)),
    (paper.hazard, (0.4, 0.2, 0.1, 0.5, 3.5, 1.5, 1.0)),
    (paper.moments, (0.7,)), (paper.propagator, (0.8, 7.0, 1.0)), (paper.strides, (9.3, K)),
    (paper.advance, (2.0, 0.3, 0.4, 0.1, 9.3, K)),
    (paper.engulfed, (0.5, 0.45)), (paper.engulfed, (0.5, 0.2)), (paper.uniform, (12345, 7)),
    (printed.prunable, (0.05, 200.0, 0.0, 0.0, 1, 0.1, 168.0, 0.1, 5)),
], ids=lambda x: getattr(x, "__name__", ""))  # fmt: skip
def test_kernels_compiled_equal_plain(kernel: Any, arguments: tuple[Any, ...]) -> None:
    with np.errstate(over="ignore"):  # uint64 arithmetic wraps around
        assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-12)


@pytest.mark.slow
def test_kernels_over_edges_compiled_equal_plain() -> None:
    rng, m, results = np.random.default_rng(0), 60, []
    ends, uses, before = rng.integers(-1, 8, (2, m)), rng.integers(0, m, 30), rng.random((3, m))
    for plain in (False, True):
        use, patrol, sweep, shield = (
            k.py_func if plain else k
            for k in (paper.use, paper.patrol, printed.sweep, paper.shield)
        )
        A, P, T = before.copy()
        risk, clock, pruned, gone = (
            np.zeros(m),
            np.where(np.arange(m) % 3, 0.0, np.nan),
            np.full(m, np.nan),
            np.zeros(m, bool),
        )
        alive, kind, cd55 = (
            np.arange(m) % 7 > 0,
            np.where(np.arange(m) % 5, 5, 4).astype(np.uint8),
            np.zeros(8),
        )
        shield(np.linspace(-1.0, 1.0, 8), 1.0, cd55)
        with np.errstate(over="ignore"):
            use(4.0, uses, alive, *ends, cd55, K, A, P, T, risk, clock)
            count = patrol(9.0, 0.0, 99, kind, alive, *ends, cd55, K, A, P, T, risk, clock, pruned)
        weak = sweep(
            300.0,
            0.5,
            168.0,
            0.1,
            5,
            48.0,
            kind,
            alive,
            *ends,
            T,
            np.zeros(m),
            np.ones(8, int),
            np.zeros(8),
            gone,
        )
        results.append(np.concatenate([A, P, T, risk, clock, pruned, gone, [count, weak]]))
    assert count > 0 and weak > 0
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


def associations(memory: Engine, live: bool = True) -> set[tuple[int, int]]:
    g = memory.store.graph
    return {
        (int(g.source[e]), int(g.target[e]))
        for e in np.flatnonzero((g.type == EdgeType.COACCESS) & (g.alive == live))
        if g.source[e] >= 0
    }


def chain(memory: Engine, n: int = 30) -> Engine:
    """n memories a minute apart, each associated with the one before; the first two share a
    word.
    """
    for i in range(n):
        memory.encode(
            Event(
                1000.0 + i / 60.0,
                f"Number {i} came with {'wine' if i < 2 else 'bread'}.",
                "Ada",
                "s",
            )
        )
    return memory


@pytest.mark.kernels
@pytest.mark.parametrize("form", FORMS)
def test_idle_associations_become_tombstones_and_no_memory_is_lost(form: str, build: Build) -> None:
    memory = chain(build(form))
    assert len(associations(memory)) == 58
    memory.advance(1000.0 + 24.0 * 5)
    assert len(associations(memory)) == 58  # days are not enough
    memory.advance(1000.0 + 24.0 * 120)
    assert len(associations(memory)) < 12
    assert len(associations(memory)) + len(associations(memory, live=False)) == 58
    texts = [memory.event(i).text for i in range(memory.store.n)]
    assert texts == [f"Number {i} came with {'wine' if i < 2 else 'bread'}." for i in range(30)]


@pytest.mark.parametrize("form", FORMS)
def test_a_used_association_is_not_removed(form: str, build: Build) -> None:
    memory = chain(build(form, "dense_similarity", "lexical_bm25"))
    for day in range(1, 61):
        memory.advance(1000.0 + 24.0 * day)
        memory.retrieve("wine", k=2, learn=True)
    assert {(0, 1), (1, 0)} <= associations(memory)
    assert len(associations(memory)) < 40


def test_state_of_an_association_is_that_of_its_differential_equations(build: Build) -> None:
    memory = build("microglial_pruning", params={"microglial_pruning": {"k_ph": 0.0}})
    for time in (1000.0, 1000.5, 1055.0, 1200.0):
        memory.encode(Event(time, f"At {time} o'clock.", "Ada", "s"))
    memory.advance(1000.0 + 24.0 * 14)
    edge = memory.store.graph.find(0, 1, EdgeType.COACCESS)

    def slope(_: float, y: Any) -> Any:
        return [
            -y[0] / 7.0,
            y[0] / (y[0] + 1.0) - y[1],
            0.05 / (1.0 + y[0]) * (1.0 - y[2]) - 0.01 * y[2],
        ]

    expected = solve_ivp(
        slope, (0.0, 14.0 - 0.5 / 24.0), [1.0, 0.0, 0.0], rtol=1e-10, atol=1e-12
    ).y[:, -1]
    measured = [
        memory.store.array(c)[edge]
        for c in (paper.SYNAPTIC_USE, paper.SYNAPTIC_PROTECTOR, paper.COMPLEMENT)
    ]
    np.testing.assert_allclose(measured, expected, atol=1e-5)


def test_without_the_mechanism_no_association_is_removed(build: Build) -> None:
    memory = chain(build("microglial_pruning", params={"microglial_pruning": {"microglia": 0.0}}))
    memory.advance(1000.0 + 24.0 * 400)
    assert len(associations(memory)) == 58


def test_the_number_of_removed_associations_follows_the_hazard(build: Build) -> None:
    """Number of survivors after 40 days against the survival of an association used once, within
    4 sigma.
    """
    n = 400
    memory = chain(build("microglial_pruning", params={"microglial_pruning": {"cd55": 0.0}}), n)
    memory.advance(1000.0 + 24.0 * 40)

    def slope(_: float, y: Any) -> Any:
        T4 = max(y[2], 0.0) ** 4
        return [
            -y[0] / 7.0,
            y[0] / (y[0] + 1.0) - y[1],
            0.05 / (1.0 + y[0]) * (1.0 - y[2]) - 0.01 * y[2],
            0.1 * T4 / (T4 + 0.0625) * (1.0 - y[1]),
        ]

    p = math.exp(
        -solve_ivp(slope, (0.0, 40.0), [1.0, 0.0, 0.0, 0.0], rtol=1e-9, atol=1e-11).y[3, -1]
    )
    assert abs(len(associations(memory)) - 2 * (n - 1) * p) < 4.0 * math.sqrt(2 * n * p * (1.0 - p))


def test_a_removed_association_can_be_made_again(build: Build) -> None:
    memory = chain(build("microglial_pruning", "dense_similarity", "lexical_bm25"))
    memory.advance(1000.0 + 24.0 * 300)
    assert (0, 1) not in associations(memory)
    memory.retrieve("wine", k=2, learn=True)
    edge = memory.store.graph.find(0, 1, EdgeType.COACCESS)
    assert (
        edge is not None
        and memory.store.array(paper.COMPLEMENT)[edge] == 0.0
        and memory.store.array(paper.SYNAPTIC_USE)[edge] == 1.0
    )


def test_a_removed_association_keeps_its_time_of_creation(build: Build) -> None:
    memory = chain(build("microglial_pruning"))
    memory.advance(1000.0 + 24.0 * 120)
    g, pruned = memory.store.graph, memory.store.array(paper.PRUNED)
    dead = np.flatnonzero((g.type == EdgeType.COACCESS) & ~g.alive)
    assert (
        dead.size
        and ((pruned[dead] - 1000.0) % 24.0 == 0.0).all()
        and np.isnan(pruned[g.alive]).all()
    )


def test_the_scale_of_time_is_a_change_of_unit(build: Build) -> None:
    ends = []
    for kappa in (1.0, 3.0):
        memory = build(
            "microglial_pruning",
            params={"microglial_pruning": {"time_scale": kappa}},
            consolidate_every=24.0 * kappa,
        )
        for i in range(10):
            memory.encode(Event(1000.0 + kappa * i, f"Number {i}.", "Ada", "s"))
        memory.advance(1000.0 + 24.0 * 30 * kappa)
        ends.append(memory.store.array(paper.COMPLEMENT).copy())
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9)
