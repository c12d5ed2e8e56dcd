"""BCM metaplasticity: compiled and plain kernels agree, and through the engine thresholds and
modifiability follow the pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Mechanism
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import MODIFIABILITY, REPLAY_LAG, REPLAYED
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.maintenance import bcm_metaplasticity as paper
from hebbarium.mechanisms.maintenance import bcm_metaplasticity_printed as printed
from hebbarium.mechanisms.shared.coactivation import COACTIVATION
from hebbarium.testing.small import does, mechanism

ETA, TAU = 0.01, 5.0


def clique(n: int) -> tuple[Any, Any, Any]:
    source, target = np.nonzero(~np.eye(n, dtype=bool))
    return source, target, np.arange(len(source))


@pytest.mark.slow
def test_scalar_kernels_compiled_equal_plain() -> None:
    cases = (
        (paper.phi, (1.3, 0.7)),
        (paper.slide, (0.4, 1.3, 5.0)),
        (printed.phi, (1.3, 0.7)),
        (printed.smoothed, (0.4, 1.3, 0.9)),
    )
    for kernel, arguments in cases:
        assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("module", [paper, printed])
def test_network_kernels_compiled_equal_plain(module: Any) -> None:
    source, target, edge = clique(4)
    results = []
    for plain in (False, True):
        rng = np.random.default_rng(0)
        state = [
            rng.normal(0.1, 0.2, 12),
            *(rng.random(4) for _ in range(2 if module is paper else 3)),
        ]
        for kernel in (module.occasion, module.occur):
            times = () if kernel is module.occasion else (6,)
            (kernel.py_func if plain else kernel)(
                *times, source, target, edge, 1.0, ETA, 0.9 if module is printed else TAU, *state
            )
        results.append(np.concatenate(state))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


def replays(steps: list[tuple[int, int]]) -> Mechanism[Any]:
    """Replays the same steps in every sleep."""

    def replay(view: Any, tick: Any) -> None:
        view.replayed[: len(steps)] = steps
        view.replay_lag[: len(steps)] = 0.01

    return mechanism("replay", does(Phase.CONSOLIDATE, replay, sets=(REPLAYED, REPLAY_LAG)))


def memory_of(
    registry: Registry,
    *others: Mechanism[Any],
    id: str = "bcm_metaplasticity",
    turns: int = 3,
    **params: Any,
) -> Engine:
    memory = Engine([*others, registry.instance(id, params)], HashingEmbedder(32))
    for k in range(turns):
        memory.encode(Event(100.0 + k / 60.0, f"turn {k} about apples", "Ada", "s"))
    return memory


@pytest.mark.kernels
def test_modifiability_is_one_for_a_new_memory_and_less_for_a_used_one(registry: Registry) -> None:
    memory = memory_of(registry, turns=2)
    np.testing.assert_array_equal(memory.store.array(MODIFIABILITY), [1.0, 1.0])
    np.testing.assert_allclose(memory.store.array(paper.BCM_THETA), [1.0 / TAU, 1.0 / TAU])
    memory.encode(Event(100.1, "turn 2", "Ada", "s"))
    np.testing.assert_allclose(memory.store.array(MODIFIABILITY), [1.0, 1.0 - 1.0 / TAU, 1.0])


def test_modifiability_tends_to_zero_with_constant_use(registry: Registry) -> None:
    memory = memory_of(registry, replays([(0, 1)] * 40))
    memory.advance(100.0 + 24.0 * 20)
    theta, modifiability = memory.store.array(paper.BCM_THETA), memory.store.array(MODIFIABILITY)
    np.testing.assert_allclose(theta[:2], 1.0, atol=1e-2)
    np.testing.assert_allclose(modifiability[:2], 0.0, atol=1e-2)


def test_each_replayed_step_is_an_occasion_and_modifiability_is_the_mean(
    registry: Registry,
) -> None:
    memory = memory_of(registry, replays([(0, 2), (2, 1)]), turns=3)
    theta, w = (
        memory.store.array(paper.BCM_THETA).copy(),
        {(0, 2): 0.0, (2, 0): 0.0, (2, 1): 0.0, (1, 2): 0.0},
    )
    graph, weight = memory.assembly.store.graph, memory.store.array(paper.BCM_WEIGHT)
    for edge in range(len(weight)):
        w[int(graph.source[edge]), int(graph.target[edge])] = float(weight[edge])
    phis: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for a, b in ((0, 2), (2, 1)):
        for source, v in ((a, b), (b, a)):
            c = 1.0 + w[source, v]
            phis[v].append(c * (c - theta[v]))
            theta[v] += (c * c - theta[v]) / TAU
    memory.advance(100.0 + 24.5)
    np.testing.assert_allclose(memory.store.array(paper.BCM_THETA), theta, rtol=1e-12)
    np.testing.assert_allclose(
        memory.store.array(MODIFIABILITY), [np.mean(phis[v]) for v in range(3)], rtol=1e-12
    )


def test_partners_active_at_different_times_compete(registry: Registry) -> None:
    """A memory with no drive, active with one of two partners at a time, becomes selective for
    one of them.
    """
    source, target, edge = np.array([1, 2]), np.array([0, 0]), np.array([0, 1])
    weight, theta, phis = np.array([0.6, 0.5]), np.full(3, 0.3), np.zeros(3)
    for k in range(8000):
        paper.occasion(
            source[k % 2 :][:1], target[:1], edge[k % 2 :][:1], 0.0, ETA, TAU, weight, theta, phis
        )
    assert weight[0] == pytest.approx(2.0, abs=0.3) and weight[1] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("module", [paper, printed])
@pytest.mark.parametrize("every", [60, 100])
def test_the_weight_of_an_input_rarer_than_the_averaging_time_is_bounded(
    module: Any, every: int
) -> None:
    """The frequent input gives c = 0, so theta decays between occasions of the rare input, and
    the rule alone would not stop the growth.
    """
    source, target, edge = np.array([1, 2]), np.array([0, 0]), np.array([0, 1])
    weight, running, phis = (
        np.array([-1.0, 0.0]),
        [np.zeros(3) for _ in range(1 if module is paper else 2)],
        np.zeros(3),
    )
    for k in range(40000):
        rare = int(k % every == every - 1)
        module.occasion(
            source[rare:][:1],
            target[:1],
            edge[rare:][:1],
            1.0,
            ETA,
            TAU if module is paper else 0.8,
            weight,
            *running,
            phis,
        )
    assert np.isfinite(phis).all() and weight.tolist() == [-1.0, module.LARGEST]


def test_only_retrieval_with_learning_changes_thresholds(registry: Registry) -> None:
    memory = memory_of(registry)
    before = memory.store.array(paper.BCM_THETA).copy()
    memory.retrieve("apples")
    np.testing.assert_array_equal(memory.store.array(paper.BCM_THETA), before)
    memory.retrieve("apples", learn=True)
    assert (memory.store.array(paper.BCM_THETA) != before).any()


def test_modifiability_changes_the_weights_of_other_rules(registry: Registry) -> None:
    """A rule whose growth is scaled by MODIFIABILITY of the target reads it in the same pass."""
    seen: list[float] = []

    def read(view: Any, incoming: Any) -> None:
        seen.extend(view.modifiability[view.coactivation.target].tolist())

    reader = mechanism("reader", does(Phase.ENCODE, read, reads=(COACTIVATION, MODIFIABILITY)))
    memory_of(registry, reader, turns=3)
    assert sorted(round(x, 12) for x in seen) == [0.8, 1.0, 1.0, 1.0]


@pytest.mark.kernels
def test_printed_threshold_is_lower_than_the_mean_of_squares(registry: Registry) -> None:
    memory = memory_of(registry, replays([(0, 1)] * 40), id="bcm_metaplasticity_printed")
    memory.advance(100.0 + 25.0)
    mean, theta = (
        memory.store.array(printed.PRINTED_BCM_MEAN)[0],
        memory.store.array(printed.PRINTED_BCM_THETA)[0],
    )
    assert 0.0 < theta < mean**2 and memory.store.array(MODIFIABILITY)[0] > 0.0
