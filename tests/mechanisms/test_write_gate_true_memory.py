"""write_gate_true_memory: compiled and plain kernels agree; in a memory it stores new events,
rejects the others and loses no text.
"""

from __future__ import annotations

import gzip
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from hebbarium.engine.base.errors import RegistryError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import SALIENCE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.mechanisms.encoding import write_gate_true_memory as tm
from hebbarium.mechanisms.encoding.write_gate_true_memory import (
    GATE_NOVELTY,
    GATE_PREDICTION_ERROR,
    GATE_TAGS,
)

RNG = np.random.default_rng(11)
FACT, NEWS = (
    "Alice prefers oat milk in her coffee.",
    "The nightly backup job moved to Frankfurt at 02:30 on Tuesdays.",
)


def memory(**overrides: str | float) -> Engine:
    registry = Registry.read()
    overrides = {"prediction_error": "always", **overrides}
    return Engine(
        [
            registry.instance("write_gate_true_memory", overrides),
            registry.instance("dense_similarity"),
        ],
        HashingEmbedder(64),
    )


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    for a, b, c, x, y, z in RNG.random((20, 6)):
        assert tm.gate_score(a, b, c, x, y, z) == pytest.approx(
            tm.gate_score.py_func(a, b, c, x, y, z), rel=1e-14
        )
        assert tm.admits(a, b, x, y) == tm.admits.py_func(a, b, x, y)
        assert tm.clamped(4 * a - 2) == tm.clamped.py_func(4 * a - 2)
        assert tm.density(50 + 900 * a, 5 * b, 5 * c, x) == pytest.approx(
            tm.density.py_func(50 + 900 * a, 5 * b, 5 * c, x), rel=1e-14
        )
    for u, v in RNG.standard_normal((10, 2, 64)).astype(np.float32):
        assert tm.prediction_error(u, v) == pytest.approx(
            tm.prediction_error.py_func(u, v), rel=1e-12
        )


@given(
    known=some.binary(max_size=2000),
    said=some.binary(max_size=300),
    container=some.sampled_from(["raw", "zlib", "gzip"]),
)
def test_novelty_of_any_bytes_is_a_share(known: bytes, said: bytes, container: str) -> None:
    n = tm.novelty(known, said, 6, container)
    assert 0.0 <= n <= 1.0
    assert known or n == 1.0


@given(texts=some.lists(some.text(max_size=80), max_size=12))
def test_memory_text_is_the_plain_join_while_it_fits(texts: list[str]) -> None:
    assert tm.memory_text(texts) == "".join(reversed(texts)).encode("utf-8", "surrogatepass")


def test_memory_text_is_bounded_and_ends_with_the_nearest() -> None:
    joined = tm.memory_text(["é" * 20_000, "b" * 1_000_000])
    assert joined == ("é" * 16_384).encode() and len(joined) == tm.WINDOW
    mixed = tm.memory_text(["near", "b" * 1_000_000])
    assert len(mixed) == tm.WINDOW and mixed.endswith(b"bnear")


def test_new_events_are_stored_and_known_or_empty_ones_are_not() -> None:
    m = memory()
    rows = [
        m.encode(Event(i / 60.0, text, "Ann", id=str(i)))
        for i, text in enumerate((FACT, "ok", FACT, NEWS))
    ]
    assert [row.row for row in rows] == [0, None, None, 1] and rows[1].vetoed_by == (
        "write_gate_true_memory",
    )
    assert [event.text for event in m.event_log.events] == [FACT, "ok", FACT, NEWS]
    assert m.event_log.row_of == [0, -1, -1, 1]


def test_the_signals_are_columns_of_stored_events() -> None:
    m = memory()
    for i, text in enumerate((FACT, "lol", NEWS)):
        m.encode(Event(i / 60.0, text))
    last = [float(m.store.array(c)[()]) for c in (GATE_NOVELTY, SALIENCE, GATE_PREDICTION_ERROR)]
    tags = m.store.array(GATE_TAGS)
    assert tags.shape == (2, 3) and tags[0].tolist() == [1.0, 0.5, 0.0]
    np.testing.assert_allclose(tags[1], last, atol=1e-7)

    def size(text: str) -> int:
        return len(gzip.compress(text.encode(), 6))

    assert last[0] == (size(FACT + NEWS) - size(FACT)) / size(NEWS)


def test_the_judged_text_is_without_date_and_speaker() -> None:
    m = memory()
    m.encode(Event(0.0, FACT, "Ann"))
    assert not m.encode(Event(9000.0, FACT, "Bo")).stored
    assert m.store.array(GATE_PREDICTION_ERROR)[()] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["paper", "code"])
def test_hostile_texts_are_judged_in_bounded_time(variant: str) -> None:
    m = memory(variant=variant)
    texts = ["", " ", "\x00", "\ud800 lone", "x" * 1_000_000, "x" * 1_000_000, "שלום עולם", NEWS,
             "?" * 60]  # fmt: skip
    for i, text in enumerate(texts):
        m.encode(Event(float(i), text))
        signals = [
            float(m.store.array(c)[()]) for c in (GATE_NOVELTY, SALIENCE, GATE_PREDICTION_ERROR)
        ]
        assert all(math.isfinite(x) and 0.0 <= x <= 1.0 for x in signals), text[:20]


TALK = [
    Event(i / 60.0, f"{who} {did} {what}{end}", who)
    for i, (who, did, what, end) in enumerate(
        (who, did, what, end)
        for end in (".", " again, on 3 May.", "?")
        for what in ("oat milk", "the backup job in Oslo", "a red bicycle")
        for did in ("likes", "sold", "prefers")
        for who in ("Ann", "Bo")
    )
]
TALK += [Event(9.0, text) for text in ("ok", "Actually, Ann sold it.", FACT, NEWS, FACT)]


@pytest.mark.parametrize("variant", ["paper", "code"])
@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.7])
def test_leaving_out_a_prediction_error_never_changes_a_decision(
    variant: str, threshold: float
) -> None:
    one, other = (
        memory(variant=variant, threshold=threshold, prediction_error=when)
        for when in ("needed", "always")
    )
    assert [one.encode(event) for event in TALK] == [other.encode(event) for event in TALK]
    needed, always = one.store.array(GATE_TAGS), other.store.array(GATE_TAGS)
    assert np.isfinite(always).all()
    np.testing.assert_array_equal(np.where(np.isnan(needed), always, needed), always)


class Asked(HashingEmbedder):
    """Notes the texts of each call."""

    def __init__(self) -> None:
        super().__init__(64)
        self.calls: list[list[str]] = []

    def embed(self, texts: list[str]) -> np.ndarray:
        self.calls.append(list(texts))
        return super().embed(texts)


@pytest.mark.parametrize("cached", [True, False])
def test_the_forecast_changes_when_pairs_are_embedded_and_nothing_else(cached: bool) -> None:
    registry, source = Registry.read(), Asked()
    gate = registry.instance("write_gate_true_memory", {"threshold": 0.3})
    ahead = Engine(
        [gate, registry.instance("dense_similarity")],
        CachedEmbedder(source, None) if cached else source,
    )
    one_by_one = Engine([gate, registry.instance("dense_similarity")], HashingEmbedder(64))
    rows = [one_by_one.encode(event) for event in TALK]
    one_by_one.advance(one_by_one.now)
    assert ahead.encode_all(TALK) == rows and ahead.digest() == one_by_one.digest() and -1 in rows
    calls = [call for call in source.calls if any("[SEP]" in text for text in call)]
    pairs, asked = {text for call in calls for text in call}, one_by_one.store.array(GATE_TAGS)
    assert np.isnan(asked[:, 2]).any() and np.isfinite(asked[1:, 2]).any()
    assert (
        len(calls[0]) > 20 and len(pairs) == sum(map(len, calls))
        if cached
        else all(len(call) == 2 for call in calls)
    )


def test_container_and_variant_are_choices() -> None:
    with pytest.raises(RegistryError, match="none of its choices"):
        memory(container="bzip2")


def test_the_container_decides_how_new_a_short_message_can_be() -> None:
    found = []
    for container in ("raw", "zlib", "gzip"):
        m = memory(container=container)
        m.encode(Event(0.0, FACT))
        m.encode(Event(0.1, "Tom moved to Oslo."))
        found.append(float(m.store.array(GATE_NOVELTY)[()]))
    assert found[0] > found[1] > found[2]
