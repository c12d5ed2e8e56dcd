"""titans_memory: compiled and plain kernels agree; in the engine it learns transitions, and the
printed form diverges.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import LOG_STRENGTH
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.retrieval import titans_memory as paper
from hebbarium.mechanisms.retrieval import titans_memory_printed as printed

Build = Callable[..., Engine]
TEXTS = ("the kettle boiled", "a stranger knocked", "snow fell on the harbour")


@pytest.mark.slow
def test_vector_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    x, w, k = rng.standard_normal(9), rng.standard_normal((9, 5)), rng.standard_normal(5)
    m, values = rng.standard_normal((5, 5)), rng.standard_normal((11, 37))
    y = values[3].copy()
    for kernel, arguments, shape in (
        (paper.project, (x, w), 5),
        (paper.recall, (m, k), 5),
        (paper.products, (values, y), 11),
    ):
        a, b = np.empty(shape), np.empty(shape)
        kernel(*arguments, a)
        kernel.py_func(*arguments, b)
        np.testing.assert_allclose(a, b, rtol=1e-5)
    a, b = k.copy(), k.copy()
    paper.unit(a)
    paper.unit.py_func(b)
    np.testing.assert_allclose(a, b, rtol=1e-13)
    assert paper.relevance(x, x[::-1].copy()) == pytest.approx(
        paper.relevance.py_func(x, x[::-1].copy())
    )
    assert paper.gates(0.4, 30.0, 0.9, 0.2, 0.01, 720.0) == pytest.approx(
        paper.gates.py_func(0.4, 30.0, 0.9, 0.2, 0.01, 720.0)
    )


@pytest.mark.slow
@pytest.mark.parametrize("form", ["paper", "printed"])
def test_learning_compiled_equals_plain(form: str) -> None:
    rng = np.random.default_rng(1)
    k, v = rng.standard_normal((2, 6))
    state = rng.standard_normal((2, 2, 6, 6))
    state[1] = state[0]
    rates = (0.9, 0.1, 0.05) if form == "paper" else (0.9, 0.1)
    kernel = paper.memorise if form == "paper" else printed.memorise
    for learn, (m, s) in zip((kernel, kernel.py_func), state, strict=True):
        learn(m, s, k, v, *rates)
    np.testing.assert_allclose(state[0], state[1], rtol=1e-12)


def filled(build: Build, id: str, rounds: int = 8, **params: object) -> Engine:
    memory = build(id, params={id: params})
    memory.encode_all(
        Event(30.0 * r + i / 60.0, text, session=f"s{r}")
        for r in range(rounds)
        for i, text in enumerate(TEXTS)
    )
    return memory


def test_the_following_memory_is_recalled_and_reading_changes_nothing(build: Build) -> None:
    memory = filled(build, "titans_memory")
    before = memory.digest()
    for asked, due in ((0, 1), (1, 2)):
        memory.retrieve(TEXTS[asked])
        assert np.argmax(memory.store.array(paper.TITANS_RECALL)[-3:]) == due
    assert memory.digest() == before


def test_without_successions_there_is_no_signal(build: Build) -> None:
    memory = build("titans_memory")
    memory.encode_all([Event(0.0, TEXTS[0], session="a"), Event(1.0, TEXTS[1], session="b")])
    memory.retrieve(TEXTS[0])
    assert np.isnan(memory.store.array(paper.TITANS_RECALL)).all()
    assert (memory.store.array(paper.TITANS_UNFORESEEN) == 1.0).all()


def test_predicted_events_are_encoded_less_strongly(build: Build) -> None:
    memory = filled(build, "titans_memory", surprise_gain=0.5)
    strength, surprise = memory.column(LOG_STRENGTH), memory.store.array(paper.TITANS_UNFORESEEN)
    np.testing.assert_allclose(strength, 0.5 * (np.minimum(surprise, 2.0) - 1.0))
    assert strength[-1] < strength[1] <= 0.0


def test_time_scale_stretches_the_half_life(build: Build) -> None:
    slow, fast = (
        filled(build, "titans_memory", half_life=60.0),
        filled(build, "titans_memory", half_life=30.0, time_scale=2.0),
    )
    np.testing.assert_array_equal(
        slow.store.array(paper.TITANS_MATRIX), fast.store.array(paper.TITANS_MATRIX)
    )


def test_another_seed_draws_other_projections(build: Build) -> None:
    one, other = (build("titans_memory", seed=seed) for seed in (0, 1))
    for memory in (one, other):
        memory.encode(Event(0.0, TEXTS[0]))
    assert not np.array_equal(
        one.store.array(paper.TITANS_PROJECTIONS), other.store.array(paper.TITANS_PROJECTIONS)
    )


def test_the_printed_form_diverges(build: Build) -> None:
    memory = build("titans_memory_printed")
    memory.encode_all(Event(i / 60.0, TEXTS[0]) for i in range(60))
    state, vector = (
        memory.store.array(printed.TITANS_PRINTED_MATRIX)[:, 0],
        memory.store.index.vectors[0],
    )
    assert state @ vector < -10.0
    assert memory.column(LOG_STRENGTH)[-1] > memory.column(LOG_STRENGTH)[0] > 0.0
