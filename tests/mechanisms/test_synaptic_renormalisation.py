"""Synaptic renormalisation: compiled and plain kernels agree, and through the engine days add
weight, nights remove it, idle nights do not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Mechanism
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import INITIAL_STRENGTH, LOG_STRENGTH, SLEEP_SHARE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.consolidation import synaptic_renormalisation as shy
from hebbarium.testing.small import does, mechanism

LEFT = 1.0 - 0.2 / 20.0  # headroom after one event or answer


def memory_of(
    registry: Registry,
    *others: Mechanism[Any],
    turns: int = 40,
    days: int = 1,
    tick: float = 1.0,
    **params: Any,
) -> Engine:
    """Daily sessions of `turns` events, each followed by a query that may change memory."""
    memory = Engine(
        [
            *others,
            registry.instance("dense_similarity", {}),
            registry.instance("synaptic_renormalisation", params),
        ],
        HashingEmbedder(32),
        tick_hours=tick,
    )
    for day in range(days):
        for k in range(turns):
            memory.encode(
                Event(
                    100.0 + 24.0 * day + k / 60.0,
                    f"turn {k} of day {day} about apples",
                    "Ada",
                    f"s{day}",
                )
            )
        memory.retrieve("apples", learn=True)
    return memory


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    for kernel, arguments in ((shy.headroom, (7.0, 20.0)), (shy.loss, (0.3, 0.0, 1.0))):
        assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-12)
    results = []
    for plain in (False, True):
        potentiate, downscale = (k.py_func if plain else k for k in (shy.potentiate, shy.downscale))
        log_weight = np.random.default_rng(0).normal(0.3, 0.6, 40)
        room = potentiate(np.array([1, 4, 7]), 0.2, 20.0, -0.1, log_weight)
        left = downscale(0.18, 0.3, 0.7, log_weight.copy(), log_weight)
        results.append(np.append(log_weight, [room, left]))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


@pytest.mark.kernels
def test_wakefulness_lowers_plasticity_and_sleep_restores_it(registry: Registry) -> None:
    memory = memory_of(registry, turns=40)
    encoded = memory.store.array(INITIAL_STRENGTH)
    np.testing.assert_allclose(encoded, math.log(LEFT) * np.arange(40), atol=1e-12)
    for night in range(4):
        memory.advance(100.0 + 24.0 * (night + 1) + 1.0)
    assert memory.store.array(shy.RENORMALISED_ROOM)[()] == pytest.approx(0.0, abs=1e-9)
    row = memory.encode(Event(memory.now, "good morning", "Ada", "new"))
    assert row.stored and memory.store.array(INITIAL_STRENGTH)[row] == pytest.approx(0.0, abs=1e-9)


def test_active_memories_share_the_gain_of_an_occasion(registry: Registry) -> None:
    memory = memory_of(registry, turns=3)
    excess = np.exp(memory.store.array(shy.RENORMALISED_WEIGHT)) - 1.0
    # three events and one answer
    assert excess.sum() == pytest.approx(20.0 * (1.0 - LEFT**4), rel=1e-9)
    # the first event was alone
    shared = [0.2 + 0.1 * LEFT, 0.1 * LEFT + 0.1 * LEFT**2, 0.1 * LEFT**2]
    np.testing.assert_allclose(excess, np.array(shared) + 0.2 * LEFT**3 / 3.0, rtol=1e-9)


def test_a_night_scales_down_in_proportion_and_protects_strong_memories(registry: Registry) -> None:
    strong = np.zeros(30)
    strong[:6] = 1.0

    def mark(view: Any, tick: Any) -> None:
        view.log_strength[: len(strong)] = strong

    marker = mechanism("marker", does(Phase.MAINTAIN, mark, adds=(LOG_STRENGTH,)))
    memory = memory_of(registry, marker, turns=30)
    before = memory.store.array(shy.RENORMALISED_WEIGHT).copy()
    memory.advance(100.0 + 25.0)
    change = memory.store.array(shy.RENORMALISED_WEIGHT) - before
    np.testing.assert_array_equal(change[:6], 0.0)
    weak = np.argsort(memory.store.array(shy.RENORMALISED_WEIGHT)[6:])[:10] + 6
    np.testing.assert_allclose(change[weak], change[weak[0]], rtol=1e-9)
    assert change[weak[0]] < -0.05


def test_nights_without_events_change_nothing(registry: Registry) -> None:
    memory = memory_of(registry, days=3)
    memory.advance(100.0 + 24.0 * 10)
    before = memory.store.array(shy.RENORMALISED_WEIGHT).copy()
    memory.advance(100.0 + 24.0 * 375)
    np.testing.assert_array_equal(memory.store.array(shy.RENORMALISED_WEIGHT), before)
    assert np.exp(before).mean() == pytest.approx(1.0, abs=1e-9)


def test_two_halves_of_a_night_equal_one_night(registry: Registry) -> None:
    """If all weights lose the same share and the excess is not used up."""

    def shared(share: float) -> Mechanism[Any]:
        def set_share(view: Any, tick: Any) -> None:
            view.sleep_share = share

        return mechanism("sleeper", does(Phase.CONSOLIDATE, set_share, sets=(SLEEP_SHARE,)))

    totals = []
    for share, nights in ((0.5, 2), (1.0, 1)):
        memory = memory_of(registry, shared(share), turns=12, eta=1.0, spared=0.0, ramp=0.0)
        memory.advance(100.0 + 24.0 * nights + 1.0)
        totals.append(np.exp(memory.store.array(shy.RENORMALISED_WEIGHT)).sum())
    assert totals[0] == pytest.approx(totals[1], rel=1e-9) and totals[0] > 12.0


def test_ticks_do_not_matter(registry: Registry) -> None:
    fine, coarse = (memory_of(registry, days=4, tick=tick) for tick in (0.01, 15.0))
    for memory in (fine, coarse):
        memory.advance(300.0)
    np.testing.assert_allclose(
        fine.column(LOG_STRENGTH), coarse.column(LOG_STRENGTH), rtol=1e-9, atol=1e-12
    )


def test_asking_without_learning_adds_nothing(registry: Registry) -> None:
    memory = memory_of(registry)
    before = memory.digest()
    memory.retrieve("apples")
    assert memory.digest() == before
