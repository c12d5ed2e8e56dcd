"""Consolidation cascade: compiled and plain kernels agree, and through the engine replayed and
recalled memories outlast the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Mechanism, Params, Tick, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import LOG_STRENGTH, REPLAYS
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.consolidation import consolidation_cascade as paper
from hebbarium.mechanisms.consolidation import consolidation_cascade_printed as printed

# tables of matrix powers take longer to compile than to compute
pytestmark = pytest.mark.kernels

START = 1000.0


class Dreamer(Mechanism[Params]):
    """Replays memory 0 twice in every sleep."""

    @hook(Phase.CONSOLIDATE, reads=(), adds=(), sets=(REPLAYS,))
    def dream(self, view: Any, tick: Tick) -> None:
        view.replays[0] = 2


def memory_of(
    registry: Registry,
    id: str,
    events: int,
    *,
    dreams: bool = False,
    hours: float = 2.0,
    tick: float = 1.0,
    **params: Any,
) -> Engine:
    mechanisms: list[Mechanism[Any]] = [
        registry.instance(id, params),
        registry.instance("dense_similarity"),
    ]
    memory = Engine(
        [*mechanisms, *([Dreamer("dreamer", Params(1.0))] if dreams else [])],
        HashingEmbedder(16),
        tick_hours=tick,
    )
    for i in range(events):
        memory.encode(
            Event(
                START + hours * i,
                f"Note {i} about {('tea', 'bread', 'rain')[i % 3]} and the number {i * i}.",
            )
        )
    memory.advance(memory.now + 1e-9)
    return memory


def reference(events: int, n: int = 10, x: float = 0.5) -> Any:
    """ln of the signal relative to its start after 0 to events - 1 later events, from the
    transition matrix of the states.
    """
    m, read = np.zeros((2 * n, 2 * n)), np.repeat([1.0, -1.0], n)
    pot = np.zeros((2 * n, 2 * n))
    for i in range(n):
        q, p = (
            x**i / (1.0 if i < n - 1 else 1.0 - x),
            x ** (i + 1) / (1.0 - x) if i < n - 1 else 0.0,
        )
        pot[0, n + i], pot[n + i, n + i], pot[i, i] = q, 1.0 - q, 1.0 - p
        if i < n - 1:
            pot[i + 1, i] = p
    m = 0.5 * (pot + np.roll(np.roll(pot, n, axis=0), n, axis=1))
    v, out = pot @ np.full(2 * n, 0.5 / n), []
    for _ in range(events):
        out.append(read @ v)
        v = m @ v
    return np.log(np.array(out) / out[0])


@pytest.mark.slow
@pytest.mark.parametrize("chain", [False, True])
def test_compiled_equals_plain(chain: bool) -> None:
    rng, n, rows = np.random.default_rng(0), 5, 7
    q, p = paper.overwriting(n, 0.5), paper.deepening(n, 0.5)
    np.testing.assert_array_equal(q, paper.overwriting.py_func(n, 0.5))
    np.testing.assert_array_equal(p, paper.deepening.py_func(n, 0.5))
    step = paper.beakers_after(rng.random(n), 7.0, 1.0, 0.25, True)
    np.testing.assert_allclose(
        step,
        paper.beakers_after.py_func(np.random.default_rng(0).random(n), 7.0, 1.0, 0.25, True),
        rtol=1e-10,
    )
    table = paper.powers(np.diag(rng.uniform(0.5, 1.0, n)))
    np.testing.assert_allclose(table, paper.powers.py_func(table[0].copy()))
    strong, weak = rng.random(n), rng.random(n)
    results = []
    for plain in (False, True):
        overwrite, renew, relative = (
            k.py_func if plain else k for k in (paper.overwrite, paper.renew, paper.relative_signal)
        )
        a, b = strong.copy(), weak.copy()
        overwrite(a, b, q, p)
        balance, occupancy = (
            np.linspace(0.1, 0.3, rows * n).reshape(rows, n),
            np.full((rows, n), 0.4),
        )
        as_of, out = np.array([3, 3, 5, 3, 8, 9, 11]), np.zeros(rows)
        relative(20, balance, as_of, np.ones(n), table, 0.2, 1e-3, out)
        renew(
            np.arange(rows),
            np.arange(rows) % 3,
            20,
            balance,
            occupancy,
            as_of,
            table,
            table,
            q,
            p,
            chain,
        )
        results.append(
            np.concatenate(
                [a, b, balance.ravel(), occupancy.ravel(), as_of, out, [paper.signal(a, b)]]
            )
        )
    np.testing.assert_allclose(results[0], results[1], rtol=1e-9)


def test_the_power_law_through_the_engine(registry: Registry) -> None:
    """Memory i of 60 has 59 - i later events, over five nights."""
    memory = memory_of(registry, "consolidation_cascade", 60)
    np.testing.assert_allclose(memory.column(LOG_STRENGTH), reference(60)[::-1], atol=2e-5)


def test_hours_do_not_matter_and_idle_days_cost_nothing(registry: Registry) -> None:
    strengths = [
        memory_of(registry, "consolidation_cascade", 30, hours=h).column(LOG_STRENGTH)
        for h in (0.01, 50.0)
    ]
    np.testing.assert_allclose(strengths[0], strengths[1], atol=2e-5)


def test_ticks_do_not_matter(registry: Registry) -> None:
    fine, coarse = (
        memory_of(registry, "consolidation_cascade", 40, dreams=True, tick=tick)
        for tick in (0.01, 500.0)
    )
    coarse.advance(coarse.now)
    np.testing.assert_allclose(fine.column(LOG_STRENGTH), coarse.column(LOG_STRENGTH), rtol=1e-12)


@pytest.mark.parametrize("synapse", ["cascade", "chain"])
def test_replayed_memories_last_longer(registry: Registry, synapse: str) -> None:
    plain, dreamt = (
        memory_of(registry, "consolidation_cascade", 60, dreams=d, synapse=synapse).column(
            LOG_STRENGTH
        )
        for d in (False, True)
    )
    assert dreamt[0] > plain[0] + 1.0
    np.testing.assert_array_equal(dreamt[1:], plain[1:])


def test_recalled_memories_last_longer(registry: Registry) -> None:
    memory = memory_of(registry, "consolidation_cascade", 40)
    before = memory.column(LOG_STRENGTH).copy()
    rows = memory.retrieve("Note 5 about rain and the number 25.", k=5, learn=True).rows
    memory.advance(memory.now + 1.0)
    gain = memory.column(LOG_STRENGTH) - before
    assert (gain[rows[:3]] > 0.1).all()
    np.testing.assert_allclose(np.delete(gain, rows[:3]), 0.0, atol=1e-6)


def test_the_chain_through_the_engine(registry: Registry) -> None:
    memory = memory_of(registry, "consolidation_cascade", 30, synapse="chain")
    expected = [
        math.log(paper.beakers_after.py_func(np.eye(10)[0], float(t), 1.0, 0.25, True)[0])
        for t in range(30)
    ]
    np.testing.assert_allclose(memory.column(LOG_STRENGTH), expected[::-1], atol=2e-5)


def test_printed_form_depends_on_hours(registry: Registry, build: Callable[..., Engine]) -> None:
    """Without a mechanism that sets importance the memory stays LABILE and decays at twice the
    base rate, with no floor.
    """
    memory = memory_of(registry, "consolidation_cascade_printed", 1)
    memory.advance(START + 30.0)
    assert memory.column(LOG_STRENGTH)[0] == pytest.approx(2.0 * 30.0 * math.log(0.95))
    assert np.isnan(memory.store.array(printed.STAGE_ENTERED)[0, 1:]).all()
