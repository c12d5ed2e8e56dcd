"""sleep_orthogonalisation: compiled and plain kernels agree; through the engine, rivals are
separated within a bound; the printed form has none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Mechanism, Params, Tick, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import SLEEP_SHARE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.consolidation import sleep_orthogonalisation as paper
from hebbarium.mechanisms.consolidation import sleep_orthogonalisation_printed as printed

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

Build = Callable[..., Engine]
PLACES = ("Lisbon", "Oslo", "Rome", "Cairo", "Lima")


class Nap(Mechanism[Params]):
    """Sets the share of sleep to 0."""

    @hook(Phase.CONSOLIDATE, reads=(), adds=(), sets=(SLEEP_SHARE,))
    def say(self, view: Any, tick: Tick) -> None:
        view.sleep_share = 0.0


def filled(memory: Engine) -> Engine:
    """Five memories that differ in one word, and an unrelated one, stored twice."""
    texts = [
        *(
            f"So Ada and Bo went by train together to visit the old harbour of {place}"
            for place in PLACES
        ),
        "It rained.",
        "It rained.",
    ]
    memory.encode_all(Event(100.0 + i / 60.0, text, dated=False) for i, text in enumerate(texts))
    return memory


def cosines(memory: Engine, column: Any) -> np.ndarray:
    codes = memory.store.array(column).astype(np.float64)
    return np.asarray(codes @ codes.T)


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 8)) * 0.3 + 1.0
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    rivals = np.array([[1, 2], [0, -1], [0, 4], [-1, -1], [2, 3]])
    both = [x.copy(), x.copy()]
    turned = [
        k(np.arange(5), x, rivals, 30, 0.05, 0.675, 0.075, 4.0, 0.95, w)
        for k, w in zip((paper.separate, paper.separate.py_func), both, strict=True)
    ]
    assert turned[0] == turned[1] == 4
    np.testing.assert_allclose(both[0], both[1], rtol=1e-12)
    for name, arguments in (
        ("unit", (0.7, 0.5, 2.0)),
        ("contrast", (0.8, False, 0.675, 0.075, 4.0)),
        ("contrast", (0.9, True, 0.675, 0.075, 4.0)),
    ):
        kernel = getattr(paper, name)
        assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-12)
    pushed, opposed, bound = (
        [x.copy(), x.copy()],
        [np.full((5, 2), -1), np.full((5, 2), -1)],
        [x[1] + x[0] * 0.1, x[1] + x[0] * 0.1],
    )
    for i, plain in enumerate((False, True)):
        push_all, oppose, bounded = (
            k.py_func if plain else k for k in (printed.push_all, paper.oppose, paper.bounded)
        )
        push_all(rivals, 0.15, pushed[i])
        oppose(3, np.array([0, 1, 2]), np.array([0.9, 0.8, 0.7]), 0.6, 0.95, opposed[i])
        bounded(x[2], 0.99, bound[i])
    np.testing.assert_allclose(pushed[0], pushed[1], rtol=1e-12)
    np.testing.assert_allclose(bound[0], bound[1], rtol=1e-12)
    np.testing.assert_array_equal(opposed[0], opposed[1])
    one, other = x[0].copy(), x[1].copy()
    printed.push.py_func(one, other, 0.15)
    a, b = x[0].copy(), x[1].copy()
    printed.push(a, b, 0.15)
    np.testing.assert_allclose([one, other], [a, b], rtol=1e-12)


def test_codes_of_rivals_separate_and_stay_near_the_originals(build: Build) -> None:
    memory = filled(build("sleep_orthogonalisation"))
    before, codes = (
        cosines(memory, paper.DISTINCT_CODE),
        memory.store.array(paper.DISTINCT_CODE).astype(np.float64),
    )
    vectors = memory.assembly.index.vectors.copy()
    memory.advance(125.0)
    after, own = (
        cosines(memory, paper.DISTINCT_CODE),
        (memory.store.array(paper.DISTINCT_CODE) * codes).sum(axis=1),
    )
    pairs = np.triu_indices(5, 1)
    assert (after[pairs] < before[pairs] - 0.05).all()
    assert own.min() >= 0.95 - 1e-6 and own[:5].max() < 1.0 - 1e-4
    # identical memories are not rivals
    np.testing.assert_array_equal(own[5:].round(6), 1.0)
    np.testing.assert_array_equal(memory.assembly.index.vectors, vectors)


def test_nights_without_new_memories_change_nothing(build: Build) -> None:
    memory = filled(build("sleep_orthogonalisation"))
    memory.advance(125.0)
    once = memory.store.array(paper.DISTINCT_CODE).copy()
    memory.advance(1000.0)
    np.testing.assert_array_equal(memory.store.array(paper.DISTINCT_CODE), once)


def test_there_is_a_signal_once_a_code_was_changed(build: Build) -> None:
    memory = filled(build("sleep_orthogonalisation"))
    memory.retrieve("Which harbour?")
    assert np.isnan(memory.store.array(paper.DISTINCT)).all()
    memory.advance(125.0)
    memory.retrieve("Which harbour?")
    assert (np.abs(memory.store.array(paper.DISTINCT)) <= 1.0 + 1e-6).all()


def test_after_many_events_only_the_newest_are_examined(build: Build) -> None:
    memory = filled(
        build("sleep_orthogonalisation", params={"sleep_orthogonalisation": {"newest": 3}})
    )
    for night in (125.0, 149.0):
        memory.advance(night)
        assert int(memory.store.array(paper.DISTINCT_SEARCHED)) == 7, "a backlog remains"
    looked_at = (memory.store.array(paper.DISTINCT_RIVALS) >= 0).any(axis=1)
    whole = filled(build("sleep_orthogonalisation"))
    whole.advance(125.0)
    assert looked_at.sum() <= (whole.store.array(paper.DISTINCT_RIVALS) >= 0).any(axis=1).sum()


def test_without_sleep_nothing_is_learnt(registry: Registry) -> None:
    memory = filled(
        Engine(
            [Nap("nap", Params(1.0)), registry.instance("sleep_orthogonalisation")],
            HashingEmbedder(32),
        )
    )
    memory.advance(200.0)
    assert (
        int(memory.store.array(paper.DISTINCT_SEARCHED))
        == int(memory.store.array(paper.DISTINCT_TURNED))
        == 0
    )


def test_the_printed_form_continues_until_codes_are_orthogonal(build: Build) -> None:
    memory = filled(build("sleep_orthogonalisation_printed"))
    codes = memory.store.array(printed.PUSHED_CODE).astype(np.float64)
    memory.advance(125.0)
    after_one = cosines(memory, printed.PUSHED_CODE)
    memory.advance(125.0 + 24.0 * 60)
    after_all = cosines(memory, printed.PUSHED_CODE)
    pairs = np.triu_indices(5, 1)
    assert (after_all[pairs] < after_one[pairs]).all() and after_all[pairs].max() < 0.01
    assert (memory.store.array(printed.PUSHED_CODE) * codes).sum(axis=1).min() < 0.95
