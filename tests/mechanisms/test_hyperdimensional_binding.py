"""Hyperdimensional binding: compiled and plain kernels agree; in the engine, a role and its
filler find the memory that contains them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import numpy as np
import pytest

from hebbarium.engine.base.times import hours
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.retrieval import hyperdimensional_binding as hd

Build = Callable[..., Engine]
RNG = np.random.default_rng(2)
A, B, TIE = RNG.integers(0, 2**64, (3, 4), dtype=np.uint64)


@pytest.mark.slow
def test_vector_kernels_compiled_equal_plain() -> None:
    for k, arguments in (
        (hd.bind, (A, B)),
        (hd.permute, (A, 0)),
        (hd.permute, (A, 130)),
        (hd.permute, (A, 77)),
    ):
        out, plain = np.empty_like(A), np.empty_like(A)
        k(*arguments, out)
        k.py_func(*arguments, plain)
        np.testing.assert_array_equal(out, plain)
    sums = [np.zeros(256, dtype=np.int32) for _ in range(2)]
    for x in (A, B, A):
        hd.tally(x, sums[0])
        hd.tally.py_func(x, sums[1])
    np.testing.assert_array_equal(*sums)
    for m in (3, 4):
        out, plain = np.empty_like(A), np.empty_like(A)
        hd.majority(sums[0], m, TIE, out)
        hd.majority.py_func(sums[0], m, TIE, plain)
        np.testing.assert_array_equal(out, plain)
    real, plain_real = np.empty((2, 8)), np.empty((2, 8))
    x, y = RNG.standard_normal((2, 8))
    hd.convolve(x, y, real[0])
    hd.convolve.py_func(x, y, plain_real[0])
    hd.involution(x, real[1])
    hd.involution.py_func(x, plain_real[1])
    np.testing.assert_allclose(real, plain_real, rtol=1e-12)


@pytest.mark.slow
def test_scalar_kernels_compiled_equal_plain() -> None:
    for word in (0, 1, 2**64 - 1, *RNG.integers(0, 2**64, 20, dtype=np.uint64)):
        with np.errstate(over="ignore"):  # uint64 arithmetic wraps around
            assert (
                int(hd.ones(np.uint64(word)))
                == int(hd.ones.py_func(np.uint64(word)))
                == int(word).bit_count()
            )
    minuses = RNG.integers(0, 4, 256).astype(np.int32)
    for k, arguments in (
        (hd.hamming, (A, B)),
        (hd.cosine, (A, B)),
        (hd.sum_cosine, (minuses, 3, A)),
        (hd.cleanup, (np.array([TIE, B]), A)),
    ):
        assert k(*arguments) == pytest.approx(k.py_func(*arguments), rel=1e-12)


@pytest.mark.slow
def test_compare_compiled_equals_plain() -> None:
    records = RNG.integers(0, 2**64, (30, 4), dtype=np.uint64)
    outs = [np.full(30, np.nan, np.float32) for _ in range(2)]
    hd.compare(records, records[3], 0.05, outs[0])
    hd.compare.py_func(records, records[3], 0.05, outs[1])
    np.testing.assert_array_equal(*outs)
    differ = [sum(int(word).bit_count() for word in record ^ records[3]) for record in records]
    np.testing.assert_array_equal(
        outs[0], [1.0 - h / 128.0 if h <= 121 else np.nan for h in differ]
    )
    assert outs[0][3] == 1.0 and np.isnan(outs[0]).any()


MAY = hours(datetime(2023, 5, 7, 12))
TALK = (
    Event(MAY, "We planted roses in the garden.", "Ada"),
    Event(MAY + 1.0, "I met Ada in Oslo.", "Bo"),
    Event(MAY + 24.0 * 30, "The lake was frozen.", "Cleo"),
    Event(MAY + 24.0 * 400, "The mill burned down.", "Bo"),
)


def bound_scores(build: Build, query: str, **params: float) -> np.ndarray:
    memory = build(
        "hyperdimensional_binding", params={"hyperdimensional_binding": {"words": 157, **params}}
    )
    memory.encode_all(TALK)
    memory.retrieve(query)
    return np.asarray(memory.store.array(hd.BINDING))


def test_a_name_finds_memories_by_and_about_the_person(build: Build) -> None:
    got = bound_scores(build, "What about Ada?")
    assert got[0] > 0.05 and got[1] > 0.05 and np.isnan(got[2:]).all()


def test_a_month_finds_its_memories(build: Build) -> None:
    got = bound_scores(build, "Was it in May 2023?")
    # 0 and 1: year and month; 2: the year alone
    assert got[0] > got[2] and got[1] > got[2]


def test_roles_and_words_together_find_one_memory(build: Build) -> None:
    got = bound_scores(build, "When did Ada plant the roses?")
    assert np.nanargmax(got) == 0 and got[0] > 2.0 * np.nan_to_num(got[1])


def test_a_query_without_words_gives_no_signal(build: Build) -> None:
    assert (
        np.isnan(bound_scores(build, "")).all()
        and np.isnan(bound_scores(build, "what was it?")).all()
    )


def test_a_record_is_the_majority_of_its_pairs(build: Build) -> None:
    memory = build("hyperdimensional_binding")
    memory.encode(TALK[0])
    record = memory.store.array(hd.ROLE_FILLER_RECORD)[0]
    for role, filler in (
        ("who", "ada"),
        ("year", "2023"),
        ("month", "5"),
        ("day", "7"),
        ("what", "rose"),
        ("what", "garden"),
        ("what", "plant"),
    ):
        pair = hd.atom(f"role {role}", 32) ^ hd.atom(f"filler {filler}", 32)
        # C(6, 3) / 2^6, seven pairs
        assert hd.cosine(record, pair) == pytest.approx(0.3125, abs=5 / 2048**0.5)
    assert (
        abs(hd.cosine(record, hd.atom("role about", 32) ^ hd.atom("filler ada", 32)))
        < 5 / 2048**0.5
    )


def test_records_hold_at_most_their_capacity(build: Build) -> None:
    memory = build(
        "hyperdimensional_binding", params={"hyperdimensional_binding": {"most_pairs": 1}}
    )
    memory.encode(TALK[0])
    np.testing.assert_array_equal(
        memory.store.array(hd.ROLE_FILLER_RECORD)[0],
        hd.atom("role who", 32) ^ hd.atom("filler ada", 32),
    )


@pytest.mark.parametrize(("date", "pairs"), [
    ("2023-05-07", {"year": "2023", "month": "5", "day": "7"}), ("7 May 2023", {"year": "2023",
    "month": "5", "day": "7"}),
    ("May 7th, 2023", {"year": "2023", "month": "5", "day": "7"}), ("May 2023", {"year": "2023",
    "month": "5"}), ("in 2019", {"year": "2019"}),
    ("in September", {"month": "9"}), ("yesterday", {}), ("two decades ago", {}), ("5/7/23", {}),
    *((f"in {datetime(2000, k, 1):%B}", {"month": str(k)}) for k in range(1, 13)), ("in Sept",
    {"month": "9"}),
])  # fmt: skip
def test_partial_dates_are_read(date: str, pairs: dict[str, str]) -> None:
    assert dict(hd.dated(date)) == pairs
