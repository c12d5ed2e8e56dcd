"""Temporal index: compiled and plain kernels agree, hostile dates are no times, and no query
changes memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import WITHIN
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval import temporal_index
from hebbarium.mechanisms.retrieval.temporal_index import END, NONE, TIME_END, TIME_START, WHEN
from hebbarium.testing.conformance import START

REGISTRY = Registry.read()
TEXTS = (
    "We moved on May 7, 2023",
    "In the year 0, last February 30, in 99999, between 2023 and 2019",
    "in 2001, in 2002, in 2003, in 2004, in 2005",
    "Rain",
    "",
)


def told() -> Engine:
    made = Engine(
        [REGISTRY.instance("temporal_index"), REGISTRY.instance("dense_similarity")],
        HashingEmbedder(32),
    )
    made.encode_all(Event(START + 30.0 * i, text) for i, text in enumerate(TEXTS))
    return made


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    k: Any = temporal_index
    rng = np.random.default_rng(0)
    starts = rng.integers(0, 10**6, (40, 4))
    ends = starts + rng.integers(1, 10**6, (40, 4))
    for row, named in enumerate(rng.integers(0, 5, 40)):
        starts[row, named:] = ends[row, named:] = NONE
    created, asked, widths = (
        rng.uniform(0.0, 400.0, 40),
        np.array([[10.0, 60.0], [200.0, 201.0]]),
        np.array([50.0, 24.0]),
    )
    offset, focus = rng.uniform(-12.0, 12.0, 40), np.array([[20.0, 44.0], [0.0, 0.0]])
    found = [
        (*(np.empty(40) for _ in range(5)), np.zeros(40), np.empty(40, np.int8)) for _ in range(2)
    ]
    for (when, within, order, gap, dated, prior, standing), plain in zip(
        found, (False, True), strict=True
    ):
        times, ends_of, stand, date, add = (
            each.py_func if plain else each
            for each in (
                k.score_times,
                k.score_order,
                k.stand_in_time,
                k.date_scores,
                k.add_elsewhere,
            )
        )
        times(starts, ends, created, offset, 3.0, asked, widths, when, within)
        ends_of(created, 400.0, 300.0, order)
        stand(starts, ends, created, offset, 3.0, asked, focus, widths, 0.5, standing, gap)
        date(created.astype(np.float32), created > 20.0, gap, np.flatnonzero(standing), dated)
        add(standing, gap, -1.5, prior)
    for compiled, plain_found in zip(*found, strict=True):
        np.testing.assert_allclose(compiled, plain_found)
    for near, far in ((0.0, 5.0), (3.0, 90.0)):
        assert k.decayed(near, far, 7.0) == pytest.approx(k.decayed.py_func(near, far, 7.0))
    for span in ((0.0, 4.0), (3.0, 3.0), (-9.0, 90.0)):
        assert k.fit(*span, 2.0, 9.0, 24.0) == pytest.approx(k.fit.py_func(*span, 2.0, 9.0, 24.0))
        assert k.share_inside(*span, 2.0, 9.0) == pytest.approx(
            k.share_inside.py_func(*span, 2.0, 9.0)
        )


def test_four_times_of_a_text_are_kept_and_bad_dates_are_none() -> None:
    memory = told()
    named = (memory.column(TIME_START) != NONE).sum(axis=1)
    assert (
        named.tolist() == [1, 0, 4, 0, 0]
        and ((memory.column(TIME_END) != NONE).sum(axis=1) == named).all()
    )


@pytest.mark.parametrize("text", ["", "\ud800", "in the year 0", "in 99999, on 99999-01-01",
                                  "last February 30", "between 2023 and 2019",
                                  "Where did we sit?", "before 0000-00-00 and after February 31",
                                  "a" * 1_000_000])  # fmt: skip
def test_a_query_without_a_sound_time_is_left_alone(text: str) -> None:
    memory = told()
    before = memory.digest()
    assert len(memory.retrieve(text)) == len(TEXTS)
    assert (
        all(np.isnan(memory.column(column)).all() for column in (WHEN, END, WITHIN))
        and memory.digest() == before
    )


@pytest.mark.slow
@pytest.mark.parametrize("text", ["yesterday", "before the move", "the first walk", "in 2001",
                                  "since 0001-01-01", "until 9999-12-31",
                                  "yesterday, before the move, " * 30_000])  # fmt: skip
def test_a_query_with_a_time_scores_in_bounds_and_leaves_the_memory_as_it_is(text: str) -> None:
    empty, memory = Engine([REGISTRY.instance("temporal_index")], HashingEmbedder(32)), told()
    assert len(empty.retrieve(text)) == 0 and math.isnan(empty.now)
    before = memory.digest()
    memory.retrieve(text)
    for column in (WHEN, END, WITHIN):
        scores = memory.column(column)
        assert np.isnan(scores).all() or (
            np.isfinite(scores).all() and scores.min() >= 0.0 and scores.max() <= 1.0
        )
    assert memory.digest() == before
