"""Spaced repetition in a memory with a ranking: what is used at intervals lasts, a failed use costs,
and heat shows the probability of recall.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.maintenance import spaced_repetition as model
from hebbarium.mechanisms.retrieval.heat import HEAT

Build = Callable[..., Engine]
DAY = 24.0


def told(build: Build, **options: float) -> Engine:
    memory = build("spaced_repetition", "lexical_bm25", "heat", "convex_fusion", **options)
    memory.encode_all(
        Event(0.0, text, dated=False)
        for text in ("a kite in spring", "a kite in autumn", "an old boat", "some rain")
    )
    return memory


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng, w = np.random.default_rng(0), np.full(21, 0.4)
    w[[0, 2, 4, 20]] = 0.5, 3.0, 6.0, 0.2
    compiled, plain = np.zeros((4, 9)), np.zeros((4, 9))
    for now in np.cumsum(rng.exponential(30.0, 12)):
        rows, grade = rng.permutation(9)[:4], int(rng.choice([model.AGAIN, model.GOOD]))
        for review, odds, (s, d, last, out) in (
            (model.review, model.all_log_odds, compiled),
            (model.review.py_func, model.all_log_odds.py_func, plain),
        ):
            review(rows, now, DAY, grade, w, s, d, last)
            odds(now + 1.0, DAY, w[20], s, last, out)
    np.testing.assert_allclose(compiled, plain, rtol=1e-12)


@pytest.mark.kernels
def test_heat_is_nine_tenths_at_the_stability(build: Build) -> None:
    memory = told(build)
    memory.advance(DAY * float(memory.column(model.STABILITY)[0]))
    memory.retrieve("kite")
    np.testing.assert_allclose(memory.column(HEAT), 0.9, rtol=1e-6)


@pytest.mark.kernels
def test_uses_a_week_apart_last_and_uses_in_a_row_do_not(build: Build) -> None:
    kept = []
    for apart in (1.0, 7 * DAY):
        memory = told(build)
        for n in range(1, 4):
            memory.advance(n * apart)
            memory.retrieve("autumn", k=1, learn=True)
        memory.advance(memory.now + 60 * DAY)
        memory.retrieve("kite")
        kept.append(float(memory.column(HEAT)[1]))
    assert kept[0] < 0.65 and kept[1] > 0.85


@pytest.mark.kernels
def test_a_failed_use_ranks_a_memory_below_its_like(build: Build) -> None:
    rows = []
    for outcome in (1.0, -1.0):
        memory = told(build)
        memory.advance(3 * DAY)
        memory.use(memory.retrieve("kite"), [1], outcome)
        memory.advance(20 * DAY)
        rows.append(memory.retrieve("kite", k=2).rows.tolist())
    assert rows == [[1, 0], [0, 1]]
