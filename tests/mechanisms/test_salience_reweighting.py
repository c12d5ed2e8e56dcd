"""Salience reweighting: compiled and plain kernels agree, and no query changes memory."""

from __future__ import annotations

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval.salience_reweighting import (
    add_bans,
    add_log_factors,
    add_log_of_summaries,
)

REGISTRY = Registry.read()


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    within, news = rng.choice([1.0, 0.5, np.nan], 40).astype(np.float32), rng.random(40)
    out, plain, votes, plain_votes = (
        np.zeros(40),
        np.zeros(40),
        np.zeros(40, np.int16),
        np.zeros(40, np.int16),
    )
    add_log_factors(within, news, 1.3, 0.2, out)
    add_log_factors.py_func(within, news, 1.3, 0.2, plain)  # type: ignore[attr-defined]
    add_bans(news, 0.4, votes)
    add_bans.py_func(news, 0.4, plain_votes)  # type: ignore[attr-defined]
    kind = rng.integers(0, 4, 40).astype(np.int8)
    add_log_of_summaries(kind, 3, 0.7, out)
    add_log_of_summaries.py_func(kind, 3, 0.7, plain)  # type: ignore[attr-defined]
    np.testing.assert_allclose(out, plain)
    np.testing.assert_array_equal(votes, plain_votes)


@pytest.mark.parametrize("floor", [0.0, 0.5, 1.0])
def test_queries_leave_the_memory_as_it_is(floor: float) -> None:
    made = Engine(
        [
            REGISTRY.instance("salience_reweighting", {"floor": floor}),
            REGISTRY.instance("lexical_bm25"),
        ],
        HashingEmbedder(16),
    )
    assert made.retrieve("when was it?").rows.size == 0
    made.encode_all((Event(0.0, "We dug the garden"), Event(1.0, "Rain on 7 May 2023")))
    before = made.digest()
    for text in ("", "when " * 50_000, "\ud800", "When did we dig?"):
        assert len(made.retrieve(text).rows) == (0 if floor > 0.5 else 2)
    assert made.digest() == before
