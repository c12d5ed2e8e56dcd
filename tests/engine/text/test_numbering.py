"""Numbers in order of first appearance, against a dictionary of Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.text import numbering
from hebbarium.engine.text.numbering import Stretches, codes_of, numbered, strings

KEYS = st.integers(-3, 3) | st.integers(-(2**62), 2**62) | st.integers(0, 99).map(lambda k: k << 42)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30)


@given(st.lists(KEYS, max_size=40), st.sampled_from((0, 100)), st.sampled_from((8, 0)))
def test_keys_are_numbered_as_by_a_dictionary(keys: list[int], hashed: int, steps: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "HASHED_FROM", hashed)
        patch.setattr(numbering, "STEPS", steps)  # 0: keys that collide are sorted
        numbers, first = numbered(np.array(keys, np.int64))
    known: dict[int, int] = {}
    assert numbers.tolist() == [known.setdefault(key, len(known)) for key in keys]
    assert [keys[place] for place in first.tolist()] == list(known)


def test_many_keys_are_numbered_as_by_a_dictionary() -> None:
    keys = np.random.default_rng(3).integers(-(2**40), 2**40, 20_000).repeat(2)[::-1].copy()
    assert len(keys) >= numbering.HASHED_FROM
    numbers, first = numbered(keys)
    known: dict[int, int] = {}
    assert numbers.tolist() == [known.setdefault(key, len(known)) for key in keys.tolist()]
    assert keys[first].tolist() == list(known)


@given(TEXT, st.data())
def test_stretches_are_told_apart_as_slices_are(text: str, data: st.DataObject) -> None:
    stretches = Stretches.of(text)
    spans = data.draw(
        st.lists(st.tuples(st.integers(0, len(text) - 1), st.integers(1, stretches.longest)))
    )
    begin = np.array([start for start, _ in spans], np.int64)
    end = np.minimum(begin + np.array([size for _, size in spans], np.int64), len(text))
    slices = [text[a:b] for a, b in zip(begin.tolist(), end.tolist(), strict=True)]
    keys = stretches.keys(begin, end).tolist()
    assert [[a == b for b in keys] for a in keys] == [[a == b for b in slices] for a in slices]
    assert all(key > 0 for key in keys)
    assert strings(codes_of(text), begin, end) == slices
