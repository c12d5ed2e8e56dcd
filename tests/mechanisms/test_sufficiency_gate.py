"""Sufficiency gate beyond its evidence: compiled kernels against plain Python, closed gates on
hostile queries, and recall of what is held back.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.vocabulary import SUFFICIENCY
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval import sufficiency_gate, sufficiency_gate_printed
from hebbarium.testing.conformance import simulated, talk

KERNELS: Any = sufficiency_gate
CLOSED = {"A": 0.0, "B": 50.0, "threshold": 0.5}  # p is about 0 for every f


def memory(registry: Registry, *others: str, **values: Any) -> Engine:
    ids = ("lexical_bm25", "dense_similarity", *others)
    return Engine(
        [*map(registry.instance, ids), registry.instance("sufficiency_gate", values)],
        HashingEmbedder(32),
    )


@pytest.mark.slow
def test_compiled_kernels_agree_with_plain_python() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores, may = rng.normal(size=12).astype(np.float32), rng.random(12) < 0.6
        scores[rng.random(12) < 0.3] = np.nan
        for kernel in (KERNELS.margin, KERNELS.most_relevant):
            np.testing.assert_allclose(kernel(scores, may), kernel.py_func(scores, may), rtol=1e-6)
        insufficient: Any = sufficiency_gate_printed.insufficient
        assert insufficient(scores, may, 0.3) == insufficient.py_func(scores, may, 0.3)
        f, A, B = rng.normal(size=3)
        assert KERNELS.probability(f, A, B) == pytest.approx(
            KERNELS.probability.py_func(f, A, B), rel=1e-14
        )


@pytest.mark.parametrize("evidence", ["relevance", "margin", "coverage"])
def test_hostile_queries_have_a_probability_and_change_nothing(
    registry: Registry, evidence: str
) -> None:
    store = memory(registry, evidence=evidence, **{**CLOSED, "threshold": 1.0})
    for query in (
        "",
        "?!",
        "\x00",
        "Lisbon " * 20_000,
        "x" * 100_000,
        " ".join(f"w{i}" for i in range(3_000)),
    ):
        assert len(store.retrieve(query).rows) == 0, "an empty memory"
    simulated(store, talk(), learn=False)
    before = store.digest()
    for query in (
        "",
        "?!",
        "\x00",
        "Lisbon " * 20_000,
        "x" * 100_000,
        " ".join(f"w{i}" for i in range(3_000)),
        "Lisbon",
    ):
        answer = store.retrieve(query, k=0 if query == "?!" else 10)
        assert 0.0 <= answer.sufficiency <= 1.0 and store.digest() == before
        judged = not math.isnan(store.column("sufficiency_evidence").item())
        assert judged == (answer.sufficiency < 1.0) and (len(answer.rows) == 0) == (
            judged or query == "?!"
        )


def test_a_held_back_answer_is_empty_and_has_no_ranks(registry: Registry) -> None:
    store = simulated(memory(registry, evidence="coverage", **CLOSED), talk(), learn=False)
    answer = store.retrieve("What did Ada do in Lisbon?")
    assert (
        (len(answer), list(answer), answer.rank(0)) == (0, [], 0)
        and answer.answerable.all()
        and np.isnan(answer.final).all()
    )
    assert answer.sufficiency == store.column(SUFFICIENCY).item() < 1e-12


def test_what_is_held_back_is_not_recalled(registry: Registry) -> None:
    """A memory that answers nothing learns nothing: columns of recall are those of a memory that
    was not asked.
    """
    asked, silent = (
        memory(registry, "testing_effect", "recency", evidence="coverage", **CLOSED)
        for _ in range(2)
    )
    for store in (asked, silent):
        simulated(store, talk(), learn=False)
    asked.retrieve("What did Ada do in Lisbon?", learn=True)
    for column in ("last_access", "log_strength"):
        np.testing.assert_array_equal(asked.column(column), silent.column(column))


def test_without_a_fit_every_answer_is_that_of_a_memory_without_the_gate(
    registry: Registry,
) -> None:
    with_gate = simulated(memory(registry, evidence="coverage"), talk())
    without = simulated(
        Engine(
            [registry.instance(id) for id in ("lexical_bm25", "dense_similarity")],
            HashingEmbedder(32),
        ),
        talk(),
    )
    for query in ("Lisbon", "Who painted the old mill?", "", "nothing of this"):
        one, two = with_gate.retrieve(query), without.retrieve(query)
        assert one.rows.tolist() == two.rows.tolist() and one.final.tolist() == two.final.tolist()
