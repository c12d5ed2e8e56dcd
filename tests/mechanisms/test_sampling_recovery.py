"""Sampling and recovery: compiled and plain kernels agree; in the engine the signal follows the
definition, and recall changes later recall.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import EdgeType
from hebbarium.engine.state.postings import BM25Index, Idf, terms_of
from hebbarium.mechanisms.retrieval import sampling_recovery as papers

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

Build = Callable[..., Engine]
TEXTS = (
    "Yesterday Ada played the violin.",
    "In spring Ada sold a boat.",
    "Somebody broke a violin.",
    "Nothing happened.",
)
A, B, D, DRAWS = 0.1, 0.1, 0.02, 30


def filled(build: Build, texts: tuple[str, ...] = TEXTS) -> Engine:
    memory = build("sampling_recovery")
    memory.encode_all(Event(float(i), text) for i, text in enumerate(texts))
    return memory


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    match, visible, cued = (
        rng.uniform(-1, 1, 20).clip(0).astype(np.float32),
        rng.random(20) < 0.8,
        rng.random(20) < 0.5,
    )
    outs = []
    for pick in (lambda k: k, lambda k: k.py_func):
        product, total, p, out, m = (
            np.zeros(20),
            np.zeros(20),
            np.empty(20),
            np.full(20, np.nan),
            np.empty(20, np.float32),
        )
        pick(papers.add_cue)(match, 0.3, 0.02, 0.7, product, total)
        pick(papers.sampling)(product, visible, p)
        pick(papers.log_recall)(p, total, cued, 30.0, -30.0, out)
        pick(papers.linked)(
            0,
            np.full(3, 0.2),
            0.1,
            np.zeros(1, int),
            np.full(1, 3),
            np.arange(3),
            np.array([4, -1, 7]),
            m,
        )
        marks = cued.copy()
        pick(papers.mark)(match, marks)
        outs.append(np.concatenate([product, total, p, out[cued], m, marks]))
    np.testing.assert_allclose(*outs, rtol=1e-6)
    assert papers.recalled(0.2, 0.3, 4.0) == pytest.approx(papers.recalled.py_func(0.2, 0.3, 4.0))
    assert papers.recovery(0.3) == pytest.approx(papers.recovery.py_func(0.3))


@pytest.mark.kernels
def test_signal_is_the_definition(build: Build) -> None:
    memory = filled(build)
    memory.retrieve("Ada's violin")
    got = np.array(memory.store.array(papers.RECALL_ODDS), dtype=np.float64)
    lexicon = BM25Index()
    for row, event in enumerate(memory.event_log.events):
        lexicon.add(row, terms_of(event.rendered(), stop_words=True))
    violin = np.empty(4, np.float32)
    lexicon.scores(["violin"], violin, Idf.LUCENE.weight)
    ada = np.array([1.0, 1.0, 0.0, 0.0])
    strengths = np.array([np.full(4, A), B * ada + D, B * violin + D])
    p = strengths.prod(axis=0) / strengths.prod(axis=0).sum()
    expected = np.log((1 - (1 - p) ** DRAWS) * (1 - np.exp(-strengths.sum(axis=0))))
    np.testing.assert_allclose(got[:3], expected[:3], rtol=1e-5)
    assert np.isnan(got[3])


@pytest.mark.kernels
def test_longer_lists_lower_the_probability_of_each_memory(build: Build) -> None:
    few, many = (filled(build, (*("They met near the harbour.",) * n,)) for n in (10, 40))
    scores = []
    for memory in (few, many):
        memory.retrieve("harbour")
        scores.append(float(memory.store.array(papers.CUE_PRODUCT)[0]))
    # the date makes some texts a word longer
    np.testing.assert_allclose(scores, [1 / 10, 1 / 40], rtol=0.01)


def test_recall_strengthens_the_cues_of_the_query(build: Build) -> None:
    memory = filled(build)
    memory.retrieve(Query("Ada's violin"), k=1, learn=True)
    assert memory.store.array(papers.CONTEXT_GAIN).tolist() == [0.7, 0.0, 0.0, 0.0]
    gain, graph = memory.store.array(papers.CUE_GAIN), memory.store.graph
    edge = graph.find(-1 - graph.entity_id("ada"), 0, EdgeType.ENTITY)
    assert gain[edge] == pytest.approx(0.7) and gain.sum() == pytest.approx(0.7)
    memory.retrieve("Ada")
    p = memory.store.array(papers.CUE_PRODUCT)
    assert p[0] / p[1] == pytest.approx((A + 0.7) * (B + D + 0.7) / (A * (B + D)))


def test_without_any_cue_there_is_no_signal(build: Build) -> None:
    memory = filled(build)
    memory.retrieve("Who was it?")
    assert np.isnan(memory.store.array(papers.RECALL_ODDS)).all()
    assert math.isfinite(memory.retrieve("").final.sum())
