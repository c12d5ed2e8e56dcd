"""predictive_coding: compiled and plain kernels agree; in the engine known events have lower
surprise and encoding strength.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from examples import fewer_examples
from hypothesis import example, given
from hypothesis import strategies as st

from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import INITIAL_STRENGTH, SURPRISE
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.encoding import predictive_coding as pc

Build = Callable[..., Engine]
SAID = (
    "Ada moved to Oslo with her cello",
    "the kettle boiled over again",
    "Bo saw a heron at the harbour",
)


@pytest.mark.slow
@pytest.mark.parametrize("saturating", [False, True])
def test_compiled_equals_plain(saturating: bool) -> None:
    rng = np.random.default_rng(0)
    weights, prior, e = (
        (rng.standard_normal((5, 4)), rng.standard_normal((4, 2))),
        rng.standard_normal(2),
        rng.standard_normal(4),
    )
    precisions, start = np.array([1.0, 0.5, 2.0, 0.7]), rng.standard_normal(11)
    results = []
    for plain in (False, True):

        def take(kernel: Callable[..., object], plain: bool = plain) -> Callable[..., object]:
            return kernel.py_func if plain else kernel  # type: ignore[attr-defined, no-any-return]

        x, eps, slope, imagined, w, left = (
            start.copy(),
            np.empty(15),
            np.empty(11),
            np.empty(11),
            weights[0].copy(),
            np.empty(4),
        )
        take(pc.errors)(x, weights, prior, e, 5, saturating, eps)
        take(pc.descent)(x, eps, weights, precisions, 0.3, 5, saturating, slope)
        numbers = [
            take(pc.surprise)(eps, weights, precisions),
            take(pc.free_energy)(x, eps, weights, precisions, 0.3),
        ]
        take(pc.imagine)(weights, prior, saturating, imagined)
        take(pc.learn)(w, x[:5], eps[:5], x[5:9], 1.5, 0.05, 0.1, saturating)
        take(pc.relax)(x, weights, prior, e, 5, precisions, 0.3, saturating, 0.05, 30, eps)
        take(pc.settle)(x, weights, prior, e, 5, precisions, 0.3, saturating, 1e-9, 2000, eps)
        take(pc.expected)(start[:4], start[4:8], 0.4, start[7:], left)
        numbers += [
            take(pc.variance_after)(1.0, 2.0, 0.3),
            take(pc.relative)(1.0, 2.0),
            take(pc.relative)(1.0, 0.0),
        ]
        results.append(np.concatenate([slope, imagined, w.ravel(), x, eps, left, numbers]))
    np.testing.assert_allclose(*results, rtol=1e-7, atol=1e-9)


@pytest.mark.slow
@pytest.mark.kernels
@example(8040, 99.0, 0.0, True)
@given(st.integers(0, 10_000), st.floats(0.01, 100.0), st.floats(0.0, 2.0), st.booleans())
@fewer_examples
def test_inference_converges_and_does_not_end_above_the_energy_of_its_start(
    seed: int, precision: float, alpha: float, saturating: bool
) -> None:
    rng = np.random.default_rng(seed)
    weights, prior = (
        (rng.standard_normal((6, 3)), rng.standard_normal((3, 2))),
        rng.standard_normal(2),
    )
    x, eps, e, slope = rng.standard_normal(11), np.empty(12), np.zeros(1), np.empty(11)
    precisions = np.array([precision, 1.0, 1.0, 0.0])
    pc.errors(x, weights, prior, e, 6, saturating, eps)
    start = pc.free_energy(x, eps, weights, precisions, alpha)
    steps = pc.settle(x, weights, prior, e, 6, precisions, alpha, saturating, 1e-6, 20_000, eps)
    pc.descent(x, eps, weights, precisions, alpha, 6, saturating, slope)
    assert pc.free_energy(x, eps, weights, precisions, alpha) <= start + 1e-9
    assert steps < 20_000 and np.abs(slope).max() <= 1e-6


def filled(build: Build, rounds: int, **params: object) -> tuple[Engine, np.ndarray]:
    memory = build("predictive_coding", params={"predictive_coding": params})
    surprise = []
    for i in range(rounds * len(SAID)):
        memory.encode(Event(float(i), SAID[i % len(SAID)], dated=False))
        surprise.append(float(memory.store.array(SURPRISE)[()]))
    return memory, np.array(surprise).reshape(rounds, len(SAID))


def test_known_events_surprise_less_and_are_encoded_less_strongly(build: Build) -> None:
    memory, surprise = filled(build, 2)
    assert (surprise[1] < 0.1 * surprise[0]).all()
    strength = memory.store.array(INITIAL_STRENGTH)
    assert strength[0] == 0.0 and (strength[3:] < -0.08).all()


def test_a_repetition_is_stored(build: Build) -> None:
    memory, _ = filled(build, 3)
    assert memory.store.n == 3 * len(SAID)


def test_without_recall_repetition_is_learnt(build: Build) -> None:
    _, surprise = filled(build, 30, recall_share=0.0, adaptation=0.0, learning_rate=0.1)
    assert (surprise[-1] < 0.5 * surprise[0]).all()


def test_with_gains_of_zero_nothing_changes(build: Build) -> None:
    memory, _ = filled(build, 2, surprise_gain=0.0)
    assert memory.store.n == 2 * len(SAID) and not memory.store.array(INITIAL_STRENGTH).any()


def test_known_names_lower_the_surprise(build: Build) -> None:
    surprise = []
    for name in ("Ada", "Zebulon"):
        memory = build("predictive_coding", params={"predictive_coding": {"recall_share": 1.0}})
        for i, text in enumerate(["We met Ada at home", f"We met {name} at home"]):
            memory.encode(Event(float(i), text, dated=False))
        surprise.append(float(memory.store.array(SURPRISE)[()]))
    assert surprise[0] < surprise[1]
