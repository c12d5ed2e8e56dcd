"""Tripartite synapse: compiled and plain kernels agree, and through the engine an active
territory changes release probabilities for hours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import RELEASE_PROBABILITY
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.maintenance import tripartite_synapse as paper
from hebbarium.mechanisms.maintenance import tripartite_synapse_printed as printed

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

Build = Callable[..., Engine]
ID = "tripartite_synapse"
FLOW, GATES = (6.0, 0.11, 0.9, 0.05, 2.0, 0.185, 0.13, 0.08234), (0.13, 1.049, 0.9434, 0.2)
IP3 = (0.5, 0.05, 2.0, 0.05, 1.3, 10.0, 0.6, 1.5, 0.1, 0.7, 1.0)
A, R = (FLOW, GATES, IP3, 0.002, 5.0), (0.5, (0.6, 200e3, 6.5e-4), (0.6, 60.0, 1.5, 0.5 / 60.0))
VECTOR = np.random.default_rng(1).standard_normal(16).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "arguments"), [
    (paper.calcium, (0.3, 0.7, 0.4, *FLOW)), (paper.gating, (0.3, 0.7, 0.4, *GATES)),
    (paper.phosphate, (0.3, 0.4, 1.0, *IP3)),
    (paper.stride, (0.3, 0.7, 0.4, 1.0, 0.1, A)), (paper.resized, (0.1, 3.0)), (paper.integrate,
    (0.1, 0.8, 0.2, 2.0, 5.0, A)),
    (paper.release, (0.9, 1.0, *R[1])), (paper.between_releases, (0.4, 78.0, 0.1, 0.3, *R[2])),
    (paper.release_probability, (0.3, 0.6, 1.0)),
    (paper.crossing, (0.4, 1.0, 0.6, 1.5, 0.2, 0.5)), (paper.nearest, (VECTOR, 8, 3)),
    (printed.calcium, (0.3, 0.7, 0.4, *FLOW)),
    (printed.inactivation, (0.3, 0.4, 0.13, 1.049, 0.9434)), (printed.steady, (0.2,)),
    (printed.risen, (0.1, 2.0, 0.15, 2.0, 0.54, 0.3)),
    (printed.modulation, (0.7, 0.3, 0.6, 0.2, 0.15)),
], ids=lambda x: getattr(x, "__name__", ""))  # fmt: skip
def test_kernels_compiled_equal_plain(kernel: Any, arguments: tuple[Any, ...]) -> None:
    with np.errstate(over="ignore"):  # uint64 arithmetic wraps around
        assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-10)


@pytest.mark.slow
def test_territory_kernels_compiled_equal_plain() -> None:
    results = []
    for plain in (False, True):
        active, gate = (k.py_func if plain else k for k in (paper.active, paper.gate))
        rest = np.array([0.0306, 0.9006, 0.1626])
        arrays = (
            np.zeros((3, 3)),
            np.zeros((3, 3)),
            np.zeros(3),
            np.full(3, 0.02),
            np.full(3, np.nan),
        )
        territory, probability = np.array([0, 2, 1, 0], np.int16), np.ones(4)
        for now in (0.0, 2.0, 4.0):
            active(now, np.array([2.0, 0.0, 1.0]), 0.3, 20.0, 1.0, rest, *arrays, A, R)
        gate(12.0, -1, 0.6, 1.0, territory, probability, 1.0, rest, *arrays, A, R)
        results.append(np.concatenate([*(x.ravel() for x in arrays), probability]))
    assert results[0][-1] > 1.2 and results[0][-2] == 1.0
    np.testing.assert_allclose(results[0], results[1], rtol=1e-9)


def talk(memory: Engine, n: int = 6, gap: float = 1.0 / 60.0, start: float = 1000.0) -> Engine:
    """Several turns on one subject, then one on another."""
    for i in range(n):
        memory.encode(Event(start + i * gap, "So the old mill.", "Ada", "s", dated=False))
    memory.encode(
        Event(start + n * gap, "Zebras fly quickly over seven green oceans", "Bo", "s", dated=False)
    )
    return memory


def factor(memory: Engine) -> Any:
    return memory.column(RELEASE_PROBABILITY)


def test_an_active_territory_passes_more_activation_on_for_hours_and_another_does_not(
    build: Build,
) -> None:
    memory = talk(build(ID))
    territory = memory.store.array(paper.TERRITORY)
    assert (territory[:6] == territory[0]).all() and territory[6] != territory[0]
    memory.advance(1000.6)
    assert (factor(memory)[:6] > 1.3).all() and factor(memory)[6] == 1.0
    seen = [factor(memory)[0]]
    for hours in (3.0, 6.0, 24.0):
        memory.advance(1000.0 + hours)
        seen.append(factor(memory)[0])
    assert np.all(np.diff(seen) < 0.0) and seen[-1] - 1.0 < 1e-3


def test_gamma_decays_with_a_time_constant_of_two_hours(build: Build) -> None:
    """1 / Omega_G = 120 s, 60 times as long here; calcium is at rest by then."""
    memory, seen = talk(build(ID)), []
    for hours in (8.0, 10.0):
        memory.advance(1000.0 + hours)
        seen.append(factor(memory)[0] - 1.0)
    assert seen[1] / seen[0] == pytest.approx(np.exp(-1.0), rel=1e-6)


def test_a_single_event_changes_nothing(build: Build) -> None:
    memory = build(ID)
    memory.encode(Event(1000.0, "So the old mill.", "Ada", "s", dated=False))
    memory.advance(1000.5)
    assert (factor(memory) == 1.0).all()


def test_alpha_decides_the_sign(build: Build) -> None:
    less, same, more = (factor_at(build, alpha) for alpha in (0.0, 0.6, 1.0))
    assert less < 0.7 and same == pytest.approx(1.0) and more > 1.3


def factor_at(build: Build, alpha: float) -> float:
    memory = talk(build(ID, params={ID: {"alpha": alpha}}))
    memory.advance(1000.6)
    return float(factor(memory)[0])


def test_recall_also_raises_calcium(build: Build) -> None:
    memory = build(ID, "dense_similarity")
    for i in range(4):
        memory.encode(Event(1000.0 + 24.0 * i, "So the old mill.", "Ada", "s", dated=False))
    memory.advance(1095.0)
    assert factor(memory).max() < 1.01
    for _ in range(3):
        memory.retrieve("the old mill", k=2, learn=True)
    memory.advance(1096.0)
    assert factor(memory).min() > 1.2


@pytest.mark.parametrize("ticks", [0.003, 0.7, 100.0])
def test_ticks_do_not_matter(build: Build, ticks: float) -> None:
    one, other = (talk(build(ID, tick_hours=t), start=1000.0 + 0.0001) for t in (ticks, 1.0))
    for hours in np.arange(0.2, 4.0, 0.31):
        one.advance(1000.2 + hours)
    one.advance(1009.0)
    other.advance(1009.0)
    for column in (
        RELEASE_PROBABILITY,
        paper.ASTROCYTE,
        paper.GLIOTRANSMISSION,
        paper.ASTROCYTE_CLOCK,
    ):
        np.testing.assert_array_equal(one.store.array(column), other.store.array(column))


def test_the_scale_of_time_is_a_change_of_unit(build: Build) -> None:
    seen = []
    for kappa in (1.0, 600.0):
        memory = talk(
            build(ID, params={ID: {"time_scale": kappa}}, tick_hours=1e-4),
            gap=kappa / 3600.0,
            start=0.0,
        )
        memory.advance(20.0 * kappa / 3600.0)
        seen.append(factor(memory)[0])
    assert seen[0] == pytest.approx(seen[1], rel=1e-6) and seen[0] > 1.3


def test_printed_form_has_three_regimes_and_decays(build: Build) -> None:
    memory = talk(build("tripartite_synapse_printed"), n=12)
    memory.advance(1000.21)
    level = memory.store.array(printed.PRINTED_CALCIUM)[
        memory.store.array(printed.PRINTED_TERRITORY)[0]
    ]
    assert 0.3 < level < 0.6 and factor(memory)[0] == pytest.approx(
        1.0 + 0.2 * (level * np.exp(-0.1 / 60.0) - 0.3) / 0.3, rel=1e-2
    )
    memory.advance(1048.0)
    assert (factor(memory) == 1.0).all()
