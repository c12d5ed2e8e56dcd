"""Testing effect: compiled and plain kernels agree, and in the engine a retrieved memory is
weaker at first and stronger from then on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import LOG_STRENGTH
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.retrieval import testing_effect as papers

Build = Callable[..., Engine]
FIT = (0.804, 0.329, 0.76, 0.135)


def filled(build: Build, **options: float) -> Engine:
    memory = build(
        "testing_effect", "lexical_bm25", params={"testing_effect": {"criterion": 1.0}}, **options
    )
    memory.encode_all(
        Event(0.0, text)
        for text in ("a red kite", "a blue kite", "an old boat", "some rain", "more rain")
    )
    return memory


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    tests, tested, a, b = (
        rng.uniform(-1, 2, 20).clip(0),
        rng.uniform(0, 50, 20),
        np.zeros(20),
        np.zeros(20),
    )
    papers.add_advantage(60.0, 24.0, tests, tested, *FIT, a)
    papers.add_advantage.py_func(60.0, 24.0, tests, tested, *FIT, b)
    np.testing.assert_allclose(a, b, rtol=1e-12)
    assert ((a == 0.0) == (tests == 0.0)).all()
    for kernel, arguments in (
        (papers.retention, (3.0, 0.8, 0.2)),
        (papers.after_tests, (1.5, 0.3, 0.1)),
        (papers.difficulty, (0.3, 0.8)),
    ):
        assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments))


def test_tested_memories_are_weaker_after_minutes_and_stronger_after_days(build: Build) -> None:
    memory = filled(build)
    memory.retrieve(Query("red kite"), learn=True)
    for hours, sign in ((5 / 60, -1), (48, 1), (168, 1)):
        memory.advance(float(hours))
        assert np.sign(memory.column(LOG_STRENGTH)).tolist() == [sign, 0, 0, 0, 0]


def test_a_late_retrieval_counts_more(build: Build) -> None:
    weights = []
    for wait in (0.0, 48.0):
        memory = filled(build)
        memory.advance(wait)
        memory.retrieve(Query("red kite"), learn=True)
        weights.append(float(memory.store.array(papers.TESTS)[0]))
    np.testing.assert_allclose(weights, [1.0, (1 - 0.804 * 3**-0.329) / 0.196], rtol=1e-9)


def test_failed_retrieval_and_rows_below_the_best_do_not_count_as_tests(build: Build) -> None:
    memory = filled(build)
    memory.retrieve(Query("nobody knows"), learn=True)
    assert not memory.store.array(papers.TESTS).any()
    for _ in range(9):
        memory.retrieve(Query("red kite"), k=5, learn=True)
    assert memory.store.array(papers.TESTS).tolist() == [3.0, 0.0, 0.0, 0.0, 0.0]


def test_days_later_retrieved_memories_are_ranked_first_by_heat(build: Build) -> None:
    ranks = []
    for practised in (False, True):
        memory = build(
            "testing_effect",
            "lexical_bm25",
            "heat",
            "convex_fusion",
            params={"testing_effect": {"criterion": 1.0}},
        )
        memory.encode_all(
            Event(0.0, text)
            for text in (
                "a kite in spring",
                "a kite in autumn",
                "an old boat",
                "some rain",
                "more rain",
            )
        )
        if practised:
            memory.retrieve(Query("autumn"), learn=True)
        memory.advance(48.0)
        ranks.append(memory.retrieve("kite").rank(1))
    assert ranks == [2, 1]
