"""acetylcholine: compiled and plain kernels agree; with norepinephrine on, both compute the same
topic and validity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hebbarium.audit.evidence.norepinephrine import Given, events, joint_model, topics
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Facet
from hebbarium.engine.contract.vocabulary import FACET_WEIGHTS, INITIAL_STRENGTH, LEARNING_RATE
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.encoding import acetylcholine as module
from hebbarium.mechanisms.encoding import norepinephrine
from hebbarium.mechanisms.encoding.acetylcholine import (
    ACETYLCHOLINE_LEVEL,
    ACETYLCHOLINE_USUAL,
    CUE_TRIALS,
    CUE_VALID,
    learn_cycle,
)

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

RNG = np.random.default_rng(7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["validity", "theta", "recurrent_gain", "learning"])
def test_scalar_kernels_compiled_equal_plain(name: str) -> None:
    kernel: Any = getattr(module, name)
    for values in RNG.random((20, 4)):
        arguments = [float(v) for v in values[: kernel.py_func.__code__.co_argcount]]
        assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-13)


@pytest.mark.slow
def test_learn_cycle_compiled_equals_plain() -> None:
    ec, ca3, w, a, b = (
        RNG.random(3),
        RNG.random(4),
        RNG.random((3, 4)),
        np.empty((3, 4)),
        np.empty((3, 4)),
    )
    learn_cycle(ec, ca3, w, 0.7, 0.3, 2.9, 0.1, 12, a)
    learn_cycle.py_func(ec, ca3, w, 0.7, 0.3, 2.9, 0.1, 12, b)
    np.testing.assert_allclose(a, b, rtol=1e-12)


def engine(vectors: Any, *ids: str, **overrides: float) -> Engine:
    registry = Registry.read()
    return Engine(
        [*(registry.instance(i) for i in ids), registry.instance("acetylcholine", overrides)],
        Given(vectors),
    )


@pytest.mark.kernels
def test_acetylcholine_and_norepinephrine_together_are_the_joint_model() -> None:
    vectors = topics((30,) * 8, 1.0, 6)
    memory, found = engine(vectors, "norepinephrine"), []
    array = memory.store.array
    for event in events(len(vectors)):
        memory.encode(event)
        found.append(
            [
                float(array(c)[()])
                for c in (
                    norepinephrine.CONTEXT_TRUST,
                    norepinephrine.CONTEXT_VALID,
                    norepinephrine.CONTEXT_TRIALS,
                    CUE_VALID,
                    CUE_TRIALS,
                )
            ]
        )
    trials = joint_model(vectors, 0.99, (4.0, 1.0), 16.0)
    assert sum(not t.kept for t in trials) >= 5
    np.testing.assert_allclose(
        found, [[t.lam, t.valid, t.trials, t.valid, t.trials] for t in trials], atol=1e-9
    )


def test_effects_are_relative_to_the_usual_level() -> None:
    vectors = topics((30,) * 5, 1.0, 6)
    memory = engine(vectors, "norepinephrine", suppression=0.8, rate_gain=0.5)
    memory.encode_all(events(len(vectors)))
    memory.retrieve("event 3")
    array = memory.store.array
    level, usual = (
        float(array(ACETYLCHOLINE_LEVEL)[()]),
        float(np.exp(array(ACETYLCHOLINE_USUAL)[()])),
    )
    assert array(LEARNING_RATE)[()] == pytest.approx((level / usual) ** 0.5)
    expected = np.ones(len(Facet))
    expected[[Facet.ASSOCIATION.value, Facet.CONTEXT.value, Facet.COMPLETION.value]] = (
        1 - 0.8 * level
    ) / (1 - 0.8 * usual)
    np.testing.assert_allclose(array(FACET_WEIGHTS), expected, rtol=1e-12)
    assert (
        abs(float(array(INITIAL_STRENGTH).mean()))
        < 0.05
        < float(array(INITIAL_STRENGTH).max() - array(INITIAL_STRENGTH).min())
    )


def test_before_the_first_event_no_facet_is_weighted() -> None:
    memory = engine(np.eye(3))
    memory.retrieve("event 0")
    np.testing.assert_array_equal(memory.store.array(FACET_WEIGHTS), 1.0)
