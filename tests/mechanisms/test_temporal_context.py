"""temporal_context: compiled and plain kernels agree; in the engine it raises the rank of the
next memory.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from hebbarium.audit.evidence.temporal_context import WordParams, Words
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.encoding.temporal_context import (
    CONTEXT,
    CONTEXT_RETENTION,
    carried,
    choice,
    drift,
    retention,
    support,
)

RNG = np.random.default_rng(7)


@pytest.mark.slow
def test_scalar_kernels_compiled_equal_plain() -> None:
    for beta, dot, gap, kept in RNG.random((20, 4)):
        assert retention(beta, dot) == pytest.approx(retention.py_func(beta, dot), rel=1e-14)
        assert carried(dot, gap, 24.0, kept) == pytest.approx(
            carried.py_func(dot, gap, 24.0, kept), rel=1e-14
        )


@pytest.mark.slow
def test_drift_compiled_equals_plain() -> None:
    t, t_in = (v / np.linalg.norm(v) for v in RNG.standard_normal((2, 16)))
    a, b = np.empty(16), np.empty(16)
    drift(t, t_in, 0.3, a)
    drift.py_func(t, t_in, 0.3, b)
    np.testing.assert_allclose(a, b, rtol=1e-13)
    assert np.linalg.norm(a) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("own", [0.0, 0.4, 1.0])
def test_choice_and_support_compiled_equal_plain(own: float) -> None:
    match = RNG.standard_normal(50).astype(np.float32)
    rows, rho = np.sort(RNG.choice(50, 9, replace=False)), RNG.random(50)
    p = choice(match, rows, 0.7)
    np.testing.assert_allclose(p, choice.py_func(match, rows, 0.7), rtol=1e-12)
    assert p.sum() == pytest.approx(1.0)
    a, b = np.empty(50, np.float32), np.empty(50, np.float32)
    support(rows, p, rho, 0.3, 0.6, own, a)
    support.py_func(rows, p, rho, 0.3, 0.6, own, b)
    np.testing.assert_allclose(a, b, rtol=1e-6)


def engine(**overrides: float) -> Engine:
    return Engine(
        [Words("words", WordParams(1.0)), Registry.read().instance("temporal_context", overrides)],
        HashingEmbedder(64),
    )


def test_retention_is_the_share_of_the_earlier_context() -> None:
    memory = engine(beta=0.6, drift_time=10.0, session_retention=0.5)
    memory.encode_all(
        [
            Event(0.0, "one", session="a"),
            Event(2.0, "two", session="a"),
            Event(3.0, "three", session="b"),
        ]
    )
    np.testing.assert_allclose(
        memory.store.array(CONTEXT_RETENTION),
        [0.0, 0.8 * math.exp(-0.2), 0.4 * math.exp(-0.1)],
        rtol=1e-12,
    )


def test_time_scale_stretches_the_drift() -> None:
    memory = engine(beta=0.6, drift_time=10.0, time_scale=3.0)
    memory.encode_all([Event(0.0, "one"), Event(6.0, "two")])
    assert memory.store.array(CONTEXT_RETENTION)[1] == pytest.approx(
        0.8 * math.exp(-0.2), rel=1e-12
    )


def test_support_goes_to_neighbours_and_more_to_the_next() -> None:
    memory = engine(recalled_items=1, own_support=0.0)
    memory.encode_all(
        [Event(i / 60.0, text) for i, text in enumerate(("ash", "birch", "cedar", "elm", "fir"))]
    )
    before = memory.digest()
    memory.retrieve("cedar")
    a = memory.store.array(CONTEXT)
    assert a[2] == 0.0 and a[3] > a[1] > 0.0 and a[3] > a[4] > 0.0
    assert a[3] / a[1] == pytest.approx(1.6, rel=1e-5)
    assert memory.digest() == before


def test_without_a_match_there_is_no_signal() -> None:
    memory = engine()
    memory.retrieve("nothing yet")
    memory.encode_all([Event(0.0, "ash"), Event(0.1, "birch")])
    memory.retrieve("zebra")
    assert np.isnan(memory.store.array(CONTEXT)).all()
