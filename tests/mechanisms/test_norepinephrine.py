"""norepinephrine: compiled and plain kernels agree; in the engine a change of topic reduces the
temporal context.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hebbarium.audit.evidence.norepinephrine import Given, events, topics
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.vocabulary import CHOICE_GAIN, CONTEXT_KEPT
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.encoding import norepinephrine as module
from hebbarium.mechanisms.encoding.norepinephrine import (
    CONTEXT_SWITCHES,
    CONTEXT_TRIALS,
    CONTEXT_TRUST,
)
from hebbarium.mechanisms.encoding.temporal_context import CONTEXT_RETENTION

RNG = np.random.default_rng(7)
SCALARS = ("validity", "switch_bar", "switches", "response", "engagement", "log_odds",
           "choice_gain")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SCALARS)
def test_scalar_kernels_compiled_equal_plain(name: str) -> None:
    kernel: Any = getattr(module, name)
    for values in RNG.random((20, 4)):
        arguments = [float(v) for v in values[: kernel.py_func.__code__.co_argcount]]
        assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-13)


@pytest.mark.slow
def test_recursion_compiled_equals_plain() -> None:
    for lam, gamma, tau in RNG.random((20, 3)):
        for valid in (True, False):
            assert module.unchanged(lam, valid, gamma, tau) == pytest.approx(
                module.unchanged.py_func(lam, valid, gamma, tau), rel=1e-13
            )


def engine(vectors: Any, **overrides: float) -> Engine:
    registry = Registry.read()
    return Engine(
        [registry.instance("temporal_context"), registry.instance("norepinephrine", overrides)],
        Given(vectors),
    )


def test_the_temporal_context_is_reset_at_a_change_of_topic_only() -> None:
    vectors = topics((30,) * 8, 1.0, 0)
    memory, cut = engine(vectors, kept_on_switch=0.25), []
    for event in events(len(vectors)):
        memory.encode(event)
        cut.append(float(memory.store.array(CONTEXT_KEPT)[()]) < 1.0)
    plain = engine(vectors, kept_on_switch=0.999)
    plain.encode_all(events(len(vectors)))
    retention, whole = memory.store.array(CONTEXT_RETENTION), plain.store.array(CONTEXT_RETENTION)
    np.testing.assert_allclose(
        retention[1:] / whole[1:], np.where(cut, 0.25 / 0.999, 1.0)[1:], rtol=1e-12
    )
    assert memory.store.array(CONTEXT_SWITCHES)[()] == sum(cut)
    found = np.flatnonzero(cut)
    assert all(
        ((found >= change) & (found < change + 3)).any() for change in (90, 120, 150, 180, 210)
    )


def test_uncertainty_lowers_the_gain_of_choice() -> None:
    vectors = topics((30,) * 3 + (1,), 0.8, 5)
    memory = engine(vectors, persistence=0.999, prior_valid=700.0, prior_invalid=300.0)
    gains = []
    for event in events(len(vectors)):
        memory.encode(event)
        gains.append(float(memory.store.array(CHOICE_GAIN)[()]))
    assert memory.store.array(CONTEXT_TRUST)[()] < 1.0 and 0.25 < gains[-1] < gains[1] <= 1.0


def test_the_first_two_events_are_not_judged() -> None:
    memory = engine(np.eye(3))
    memory.encode_all(events(2))
    assert (
        memory.store.array(CONTEXT_TRIALS)[()] == 0.0
        and memory.store.array(CONTEXT_TRUST)[()] == 1.0
    )
    memory.encode(events(3)[2])
    assert memory.store.array(CONTEXT_TRIALS)[()] == 1.0
