from __future__ import annotations

import math

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval import recency as module

SAME = "The kettle is on."


def engine(**recency: float) -> Engine:
    registry = Registry.read()
    made = Engine(
        [registry.instance("recency", recency), registry.instance("convex_fusion")],
        HashingEmbedder(16),
    )
    made.encode_all(Event(24.0 * day, SAME) for day in range(4))
    return made


def test_recency_decays_from_each_access_and_never_exceeds_one() -> None:
    last, decayed = np.random.default_rng(0).uniform(0, 100, 30), np.empty(30)
    module.recency(90.0, last, 7.0, decayed)
    expected = [1.0 if t > 90.0 else math.exp((t - 90.0) / 7.0) for t in last]
    assert (decayed == 1.0).any()
    np.testing.assert_allclose(decayed, expected, rtol=1e-14)


def test_the_latest_is_ranked_first_and_scores_halve_with_the_half_life() -> None:
    made = engine(half_life=1.0)
    assert made.retrieve(SAME, k=4).rows.tolist() == [3, 2, 1, 0]
    np.testing.assert_allclose(made.store.array(module.RECENCY), [0.125, 0.25, 0.5, 1.0], rtol=1e-6)


def test_time_scale_stretches_the_half_life() -> None:
    made = engine(half_life=1.0, time_scale=3.0)
    made.retrieve(SAME)
    assert made.store.array(module.RECENCY)[0] == pytest.approx(0.5)


def test_recall_renews_recency_only_with_learning() -> None:
    made = engine()
    made.archive(3)
    made.advance(200.0)
    made.retrieve(SAME, k=1)
    assert made.store.array(module.LAST_ACCESS).tolist() == [0.0, 24.0, 48.0, 72.0]
    made.retrieve(SAME, k=1, learn=True)
    assert made.store.array(module.LAST_ACCESS).tolist() == [0.0, 24.0, 200.0, 72.0]


def test_recency_is_no_part_of_the_match() -> None:
    made = Engine([Registry.read().instance("recency")], HashingEmbedder(16))
    made.encode_all(Event(24.0 * day, SAME) for day in range(3))
    assert made.retrieve(SAME, k=3).scores.tolist() == [0.0, 0.0, 0.0]
