"""Homeostatic scaling: compiled and plain kernels agree, and through the engine a speaker's
growing mean strength is returned to its target.
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
from hebbarium.engine.contract.vocabulary import LOG_STRENGTH, SPEAKER, VISIBLE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.maintenance import homeostatic_scaling as paper
from hebbarium.mechanisms.maintenance import homeostatic_scaling_printed as printed
from hebbarium.testing.small import does, mechanism

KERNELS: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (paper.rate, (0.4, 1.0, 100.0)),
    (paper.slopes, (90.0, 5.0, 120.0, 100.0, 4e-5, 1e-7, 100.0)),
    (paper.advance, (90.0, 5.0, 3.0, 700.0, 1.0, 100.0, 4e-5, 1e-7, 100.0)),
    (printed.power_ratio, (2.0, 0.7, 0.4, 0.3)),
    (printed.proportional, (2.0, 0.7, 0.4, 0.05)),
    (printed.mean_strength, (np.array([0.0, -1.0, 0.4]), np.array([True, False, True]))),
)


def growing(per_day: float) -> Mechanism[Any]:
    """Adds an amount that grows by `per_day` to the log strength of the first speaker's
    memories, and constants to all.
    """

    def grow(view: Any, tick: Any) -> None:
        view.log_strength[...] = np.where(
            view.speaker == 0, per_day * (tick.end - 100.0) / 24.0, 0.0
        ) + np.linspace(0.0, 0.2, len(view.speaker))

    return mechanism("growth", does(Phase.MAINTAIN, grow, reads=(SPEAKER,), adds=(LOG_STRENGTH,)))


def after_days(
    registry: Registry,
    id: str | None,
    days: float,
    *,
    per_day: float = 0.05,
    tick: float = 1.0,
    **params: Any,
) -> Engine:
    """Ten memories of each of two speakers, then idle days."""
    mechanisms = [growing(per_day), *([registry.instance(id, params)] if id else [])]
    memory = Engine(mechanisms, HashingEmbedder(16), tick_hours=tick)
    for k in range(20):
        memory.encode(Event(100.0, f"turn {k}", ("Ada", "Bo")[k % 2]))
    memory.advance(100.0 + 24.0 * days)
    return memory


def mean(memory: Engine, speaker: int) -> float:
    log_strength = memory.column(LOG_STRENGTH)
    return float(np.exp(log_strength[memory.store.array(SPEAKER) == speaker]).mean())


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "arguments"), KERNELS, ids=lambda x: getattr(x, "__name__", ""))
def test_compiled_equals_plain(kernel: Any, arguments: tuple[Any, ...]) -> None:
    assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-12)


@pytest.mark.slow
def test_array_kernels_compiled_equal_plain() -> None:
    rng, results = np.random.default_rng(0), []
    log_w, visible, speaker = (
        rng.normal(size=30),
        rng.random(30) < 0.8,
        rng.integers(0, 7, 30).astype(np.int32),
    )
    for plain in (False, True):
        means, scale = (k.py_func if plain else k for k in (paper.mean_strengths, paper.scale))
        mean, count, out = np.zeros(4), np.zeros(4, np.int64), np.zeros(30)
        means(log_w, visible, speaker, mean, count)
        scale(mean, speaker, out)
        results.append(np.concatenate([mean, count, out]))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


def test_strengths_that_grow_without_bound_return_to_the_target(registry: Registry) -> None:
    assert mean(after_days(registry, None, 200), 0) > math.exp(9.9)
    memory = after_days(registry, "homeostatic_scaling", 200)
    assert mean(memory, 0) == pytest.approx(1.0, abs=0.06)
    assert mean(memory, 1) == pytest.approx(1.0, abs=0.02)


def test_order_and_ratios_within_a_speaker_stay(registry: Registry) -> None:
    bare, scaled = (after_days(registry, id, 30) for id in (None, "homeostatic_scaling"))
    factor = scaled.column(LOG_STRENGTH) - bare.column(LOG_STRENGTH)
    speaker = scaled.store.array(SPEAKER)
    for k in (0, 1):
        np.testing.assert_allclose(factor[speaker == k], factor[speaker == k][0], atol=1e-12)
    assert factor[speaker == 0][0] < -1.0 < factor[speaker == 1][0]


def test_scaling_is_slower_than_learning(registry: Registry) -> None:
    """About a tenth of a day's growth is removed by the next day."""
    days = 3.0 - 1.0 / 24.0  # before the third night
    memory = after_days(registry, "homeostatic_scaling", days, per_day=0.5)
    assert mean(memory, 0) > 0.7 * math.exp(0.5 * days)


def test_archived_memories_do_not_count(registry: Registry) -> None:
    memory = Engine(
        [growing(0.0), registry.instance("homeostatic_scaling", {"target": 0.9})],
        HashingEmbedder(16),
    )
    for k in range(6):
        memory.encode(Event(100.0, f"turn {k}", "Ada"))
    for row in range(6):
        memory.archive(row)
    memory.advance(400.0)
    assert (
        not memory.store.array(VISIBLE).any() and not memory.store.array(paper.SCALING_FACTOR).any()
    )


def test_speakers_beyond_the_domains_share(registry: Registry) -> None:
    memory = Engine(
        [growing(0.1), registry.instance("homeostatic_scaling", {"domains": 2})],
        HashingEmbedder(16),
    )
    for k in range(9):
        memory.encode(Event(100.0, f"turn {k}", f"speaker {k % 3}"))
    memory.advance(200.0)
    log_factor = memory.store.array(paper.SCALING_FACTOR)
    assert log_factor.shape == (2,) and log_factor[0] < log_factor[1] < 0.0


def test_the_scale_of_time_is_a_change_of_unit(registry: Registry) -> None:
    def factor(kappa: float) -> Any:
        scaling = registry.instance("homeostatic_scaling", {"time_scale": kappa, "target": 2.0})
        memory = Engine([scaling], HashingEmbedder(16), consolidate_every=kappa / 100)
        memory.encode(Event(100.0, "turn", "Ada"))
        memory.advance(100.0 + kappa / 10.0 * (1.0 + 1e-12))
        return memory.store.array(paper.SCALING_FACTOR)[0]

    assert factor(1.0) == pytest.approx(factor(800.0), rel=1e-9)
    assert factor(800.0) > 0.1


def test_ticks_do_not_matter(registry: Registry) -> None:
    fine, coarse = (
        after_days(registry, "homeostatic_scaling", 15, tick=tick) for tick in (0.1, 500.0)
    )
    np.testing.assert_allclose(
        fine.column(LOG_STRENGTH), coarse.column(LOG_STRENGTH), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize(("variant", "alpha"), [("paper", 1.0), ("code", 0.05)])
def test_printed_form_multiplies_all_alike(registry: Registry, variant: str, alpha: float) -> None:
    memory = after_days(
        registry, "homeostatic_scaling_printed", 1, per_day=0.0, variant=variant, alpha=alpha
    )
    before = np.exp(np.linspace(0.0, 0.2, 20)).mean()
    memory.advance(memory.now + 1.0)
    factor = 0.4 / before if variant == "paper" else 1.0 + 0.05 * (0.4 - before)
    np.testing.assert_allclose(
        memory.column(LOG_STRENGTH) - np.linspace(0.0, 0.2, 20), math.log(factor), rtol=1e-9
    )
