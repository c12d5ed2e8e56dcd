"""Memos of texts: a known text is not read again, results are as without a memo, old texts are
dropped, and erasing empties all.
"""

from __future__ import annotations

import gc
import zlib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import hebbarium as hb
from hebbarium.engine.contract.records import Event
from hebbarium.engine.text import compression, condensing, dates, features, memo, words
from hebbarium.engine.text.memo import LONGEST, MOST, TextMemo, forget_texts, remembered
from hebbarium.mechanisms.shared import facts

READERS: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (features.features, ()),
    (words._terms, (True, False)),
    (condensing.summary, ()),
    (dates.times, (470_000.0,)),
    (facts._facts_of, ("Ada",)),
)


def test_a_known_text_is_not_read_again() -> None:
    calls = Counter[str]()

    @remembered
    def upper(text: str, mark: str = "") -> str:
        calls[text] += 1
        return text.upper() + mark

    assert [upper("one"), upper("o" + "ne"), upper("one", "!"), upper("two")] == [
        "ONE",
        "ONE",
        "ONE!",
        "TWO",
    ]
    assert calls == {"one": 2, "two": 1}
    assert upper("one", mark="?") == "ONE?" and upper("one") == "ONE", (
        "keywords are no part of the key, so such a call is not remembered"
    )
    forget_texts()
    assert upper("one") == "ONE" and calls == {"one": 4, "two": 1}


def test_the_oldest_texts_are_dropped_and_very_long_ones_not_kept() -> None:
    kept, whole = TextMemo[int](), LONGEST // 2
    texts = [f"{number:09}".ljust(whole, "x") for number in range(2 * MOST // whole + 2)]
    for text in texts:
        kept.keep((text,), len(text))
    left = [args[0] for args in kept.known]
    assert left == texts[-len(left) :], "the latest ones, in their order"
    assert MOST - whole - memo.ENTRY < sum(map(len, left)) <= MOST
    kept.keep(("y" * LONGEST,), LONGEST)
    assert [args[0] for args in kept.known] == left
    kept.forget()
    assert not kept.known and kept.held == 0


def test_what_a_memo_holds_is_counted_once_for_each_text_that_threads_read_together() -> None:
    kept = TextMemo[int]()
    texts = [f"{number % 50} " * 40 for number in range(4_000)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda text: kept.keep((text,), len(text)), texts))
    assert kept.held == sum(memo.ENTRY + len(text) for text in set(texts))


@pytest.mark.parametrize(("read", "more"), READERS, ids=lambda one: getattr(one, "__name__", ""))
@given(text=st.text(max_size=80))
def test_readers_give_what_they_give_without_a_memo(
    read: Callable[..., Any], more: tuple[Any, ...], text: str
) -> None:
    assert read(text, *more) == read(text, *more) == read.__wrapped__(text, *more)  # type: ignore[attr-defined]


def test_lists_of_a_reader_are_the_callers_own() -> None:
    text = "I moved to Oslo. I like tea."
    for read in (features.terms_of, facts.facts_of):
        first = read(text)
        first.clear()
        assert read(text), read.__name__


@given(st.binary(max_size=300), st.integers(1, 9), st.sampled_from([-15, 15, 31]))
def test_a_compressed_length_is_that_of_zlib(data: bytes, level: int, wbits: int) -> None:
    for _ in range(2):
        assert compression.compressed_length(data, level, wbits) == len(
            zlib.compress(data, level, wbits)
        )


def test_data_are_compressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(compression.zlib, "compress", lambda *_: calls.append(1) or b"abc")
    data = b"compressed nowhere else " * 7
    assert [compression.compressed_length(data, level, 15) for level in (1, 1, 2)] == [
        3,
        3,
        3,
    ] and len(calls) == 2
    for number in range(compression.MOST):
        compression.compressed_length(b"%d of many" % number, 1, 15)
    assert len(compression._SIZES) == compression.MOST
    compression.compressed_length(data, 1, 15)
    assert len(calls) == compression.MOST + 3
    compression._SIZES.clear()


def test_arms_of_one_conversation_read_each_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second memory of the same events reads none of them again, and ends in the same state."""
    calls: list[str] = []
    monkeypatch.setattr(
        features,
        "_entities",
        lambda prose, identifiers, of=features._entities: (
            calls.append(prose) or of(prose, identifiers)
        ),
    )
    events = [
        Event(480_000.0 + i, f"We met {name} in Oslo on day {i}.")
        for i, name in enumerate(("Bo", "Cleo", "Dan"))
    ]
    forget_texts()
    digests = []
    for _ in range(2):
        with hb.memory("hybrid", embedding="hashing") as memory:
            memory.encode_all(events)
            digests.append(memory.digest())
    assert digests[0] == digests[1] and len(calls) == len(events)


@pytest.mark.slow
def test_erasing_leaves_no_text_in_a_memo() -> None:
    secret = "The code of the vault is 8842, Ada said."
    with hb.memory("night", embedding="hashing") as memory:
        memory.encode_all(
            [Event(480_000.0, secret, id="e1"), Event(480_001.0, "We met Bo in Oslo.", id="e2")]
        )
        assert any(secret in str(args[0]) for held in memo._ALL for args in held.known)
        memory.erase("e1", confirm=True)
        gc.collect()
        assert not any(
            secret in str(part) for held in memo._ALL for args in held.known for part in args
        )
