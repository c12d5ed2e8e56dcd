"""norepinephrine: compiled and plain kernels agree; in the engine a change of topic reduces the temporal context."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hebbarium.audit.evidence.norepinephrine import Given, events, topics
from hebbarium.engine.loop import Engine
from hebbarium.engine.registry import Registry
from hebbarium.engine.vocabulary import CHOICE_GAIN, CONTEXT_KEPT
from hebbarium.mechanisms.encoding import norepinephrine as module
from hebbarium.mechanisms.encoding.norepinephrine import CONTEXT_SWITCHES, CONTEXT_TRIALS, CONTEXT_TRUST, fits, follow
from hebbarium.mechanisms.encoding.temporal_context import CONTEXT_RETENTION

RNG = np.random.default_rng(7)
SCALARS = ("validity", "switch_bar", "switches", "response", "engagement", "log_odds", "choice_gain")


@pytest.mark.parametrize("name", SCALARS)
def test_scalar_kernels_compiled_equal_plain(name: str) -> None:
    kernel: Any = getattr(module, name)
    for values in RNG.random((20, 4)):
        arguments = [float(v) for v in values[:kernel.py_func.__code__.co_argcount]]
        assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-13)


def test_recursion_compiled_equals_plain() -> None:
    for lam, gamma, tau in RNG.random((20, 3)):
        for valid in (True, False):
            assert module.unchanged(lam, valid, gamma, tau) == pytest.approx(module.unchanged.py_func(lam, valid, gamma, tau), rel=1e-13)


@pytest.mark.parametrize(("joins", "anew"), [(True, False), (False, False), (False, True)])
def test_topic_kernels_compiled_equal_plain(joins: bool, anew: bool) -> None:
    themes, masses, vector = RNG.standard_normal((2, 16)), np.array([3.0, 9.0]), RNG.standard_normal(16).astype(np.float32)
    assert fits(themes, vector) == fits.py_func(themes, vector)
    a, b = (themes.copy(), masses.copy()), (themes.copy(), masses.copy())
    follow(*a, vector, joins, anew, 0.9)
    follow.py_func(*b, vector, joins, anew, 0.9)
    np.testing.assert_allclose(a[0], b[0], rtol=1e-13)
    np.testing.assert_array_equal(a[1], b[1])


def test_the_mean_of_everything_is_the_mean_and_a_new_topic_is_its_first_event() -> None:
    vectors, themes, masses = RNG.standard_normal((30, 8)), np.zeros((2, 8)), np.zeros(2)
    for i, vector in enumerate(vectors):
        follow(themes, masses, vector, True, i == 20, 1.0)
    np.testing.assert_allclose(themes, [vectors[20:].mean(axis=0), vectors.mean(axis=0)], atol=1e-12)
    np.testing.assert_array_equal(masses, [10.0, 30.0])


def engine(vectors: Any, **overrides: float) -> Engine:
    registry = Registry.read()
    return Engine([registry.instance("temporal_context"), registry.instance("norepinephrine", overrides)], Given(vectors))


def test_a_change_of_topic_cuts_the_temporal_context_there_and_nowhere_else() -> None:
    vectors = topics((30,) * 8, 1.0, 0)
    memory, cut = engine(vectors, kept_on_switch=0.25), []
    for event in events(len(vectors)):
        memory.encode(event)
        cut.append(float(memory.store.array(CONTEXT_KEPT)[()]) < 1.0)
    plain = engine(vectors, kept_on_switch=0.999)
    plain.encode_all(events(len(vectors)))
    retention, whole = memory.store.array(CONTEXT_RETENTION), plain.store.array(CONTEXT_RETENTION)
    np.testing.assert_allclose(retention[1:] / whole[1:], np.where(cut, 0.25 / 0.999, 1.0)[1:], rtol=1e-12)
    assert memory.store.array(CONTEXT_SWITCHES)[()] == sum(cut)
    found = np.flatnonzero(cut)
    assert all(((found >= change) & (found < change + 3)).any() for change in (90, 120, 150, 180, 210))


def test_uncertainty_opens_choice() -> None:
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
    assert memory.store.array(CONTEXT_TRIALS)[()] == 0.0 and memory.store.array(CONTEXT_TRUST)[()] == 1.0
    memory.encode(events(3)[2])
    assert memory.store.array(CONTEXT_TRIALS)[()] == 1.0
