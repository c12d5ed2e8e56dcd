"""Retrieval competition: compiled and plain kernels agree; in the engine, only traces of earlier
retrieval change the order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.retrieval import retrieval_competition as papers
from hebbarium.mechanisms.retrieval import retrieval_competition_printed as printed

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

Build = Callable[..., Engine]
TEXTS = (
    *(f"fruit {name}" for name in ("orange", "banana", "grape", "lemon")),
    *(f"note {i}" for i in range(60)),
)


def filled(build: Build, *ids: str) -> Engine:
    memory = build("lexical_bm25", *ids)
    memory.encode_all(Event(0.0, text) for text in TEXTS)
    return memory


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    drive, target, noise, scores = (
        rng.random(12),
        rng.random(12) < 0.3,
        rng.standard_normal((50, 12)),
        rng.random(20).astype(np.float32),
    )
    ordered = np.sort(drive)[::-1].copy()
    outs = []
    for pick in (lambda k: k, lambda k: k.py_func):
        x, traces = np.zeros(12), np.zeros(12)
        stands, change, loss = (np.empty(12) for _ in range(3))
        pick(papers.settle)(drive, 0.3, 0.2, 0.1, 80, noise, x)
        pick(papers.standing)(drive, x, 0.2, stands)
        level = pick(papers.normal_inhibition)(drive, 4)
        pick(papers.contrast)(drive, drive, target, level, 0.3, 2.0, change)
        pick(papers.add_traces)(30.0, change, 20.0 * drive, 24.0, traces)
        pick(printed.suppressed)(ordered, 0.3, loss)
        outs.append(np.concatenate([x, stands, [level], change, traces, loss]))
    np.testing.assert_allclose(*outs, rtol=1e-12)
    wide, level = np.empty(12), np.empty(12)
    papers.spread_out(scores, np.arange(3, 15), wide)
    np.testing.assert_allclose(
        wide, np.interp(scores[3:15], [min(scores[3:15]), max(scores[3:15])], [0, 1]), rtol=1e-12
    )
    papers.spread_out(scores, np.full(12, 4), level)
    assert not level.any()
    assert papers.unit(0.6, 0.4, 2.0) == pytest.approx(papers.unit.py_func(0.6, 0.4, 2.0))
    assert papers.faded(-1.0, 5.0, 24.0) == pytest.approx(papers.faded.py_func(-1.0, 5.0, 24.0))


@pytest.mark.kernels
def test_without_traces_no_order_changes(build: Build) -> None:
    plain, competing = filled(build), filled(build, "retrieval_competition")
    for query in ("fruit orange", "note 7 lemon", "grape"):
        found = plain.retrieve(query).rows
        best = found[plain.retrieve(query).scores > 0]
        assert competing.retrieve(query).rows[: len(best)].tolist() == best.tolist()


@pytest.mark.kernels
def test_retrieval_lowers_strong_competitors_only(build: Build) -> None:
    memory = filled(build, "retrieval_competition")
    memory.retrieve(Query("fruit orange"), k=1, learn=True)
    trace = memory.store.array(papers.COMPETITION_TRACE)
    assert trace[0] > 0.0 and (trace[1:4] < 0.0).all()
    assert not trace[4:].any()


@pytest.mark.kernels
def test_suppression_changes_the_next_competition(build: Build) -> None:
    memory = filled(build, "retrieval_competition")
    before = memory.retrieve("fruit").scores[:4]
    np.testing.assert_allclose(before, before[0])
    for _ in range(3):
        memory.retrieve(Query("fruit orange"), k=1, learn=True)
    after = memory.retrieve("fruit")
    assert after.rows[0] == 0 and after.scores[0] > after.scores[1]


@pytest.mark.kernels
def test_scores_stay_in_the_range_of_the_pool(build: Build) -> None:
    plain, memory = (
        filled(build).retrieve("fruit orange", k=64),
        filled(build, "retrieval_competition").retrieve("fruit orange", k=64),
    )
    assert memory.scores.max() == pytest.approx(
        plain.scores.max()
    ) and memory.scores.min() == pytest.approx(plain.scores.min())


def test_printed_form_learns_nothing(build: Build) -> None:
    memory = filled(build, "retrieval_competition_printed")
    before = memory.digest()
    first = memory.retrieve(Query("fruit orange"), k=1, learn=True)
    assert memory.digest() == before
    assert first.rows.tolist() == [0]


@pytest.mark.parametrize("id", ["retrieval_competition", "retrieval_competition_printed"])
def test_memories_that_may_not_be_answered_do_not_compete(build: Build, id: str) -> None:
    memory, plain = build("lexical_bm25", id), build("lexical_bm25")
    for each in (memory, plain):
        each.encode_all(Event(0.0, text, id=text) for text in TEXTS)
    query = Query("fruit orange", only=Only(exclude=("fruit orange",)))
    answer = memory.retrieve(query, k=1, learn=True)
    assert 0 not in answer.rows and answer.final[0] == pytest.approx(plain.retrieve(query).final[0])
    if id == "retrieval_competition":
        trace = memory.store.array(papers.COMPETITION_TRACE)
        assert trace[0] == 0.0 and trace[answer.rows[0]] > 0.0
