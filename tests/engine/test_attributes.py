"""Attributes of events: what a user may give, what an event then has, and that they never enter
the text.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.contract.records import Event, attribute_pairs
from hebbarium.engine.memory.arguments import checked_event
from hebbarium.testing.small import by_number, memory

PAIRS = (("kind", "note"), ("tags", "diy"), ("tags", "home"))
FORMS: list[Any] = [
    PAIRS,
    PAIRS[::-1],
    list(PAIRS),
    [list(pair) for pair in PAIRS],
    PAIRS * 2,
    {"tags": ["home", "diy"], "kind": "note"},
    {"tags": ("home", "diy", "home"), "kind": {"note"}},
    {np.str_("kind"): np.str_("note"), "tags": frozenset(("diy", "home"))},
]


@pytest.mark.parametrize("form", FORMS, ids=[str(place) for place in range(len(FORMS))])
def test_every_form_gives_the_same_sorted_pairs(form: Any) -> None:
    found = [
        checked_event(Event(1.0, "number 1", attributes=form)).attributes,
        Event.at(datetime(2024, 5, 1), "number 1", attributes=form).attributes,
    ]
    assert found == [PAIRS, PAIRS] and all(type(text) is str for pair in found[0] for text in pair)


def test_pairs_are_taken_from_an_iterator() -> None:
    assert attribute_pairs(iter(PAIRS)) == PAIRS


@given(st.lists(st.tuples(st.text(min_size=1, max_size=3), st.text(max_size=3)), max_size=8))
def test_pairs_are_sorted_and_unique_whatever_their_order(pairs: list[tuple[str, str]]) -> None:
    found = attribute_pairs(pairs)
    assert set(found) == set(pairs) and all(a < b for a, b in pairwise(found))
    assert attribute_pairs(found) == found == attribute_pairs(pairs[::-1])


WRONG: list[Any] = [
    "kind", b"kind", 3, None, True, [3], ["ab"], [("kind",)], [("kind", "a", "b")], {"kind": 3},
    {"kind": None}, {3: "a"}, {"": "a"}, [("", "a")],
    [("kind", ["a", "b"])], {"kind": ["a", 3]}, {"kind": {"a": "b"}}, {"kind": [["a"]]}, [("kind",
    b"a")], {"kind": True},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_what_is_no_attribute_is_refused_and_nothing_changes(wrong: Any) -> None:
    m = memory(by_number())
    m.encode(Event(0.0, "number 0"))
    before = m.digest()
    with pytest.raises(InputError) as caught:
        m.encode(Event(1.0, "number 1", id="e1", attributes=wrong))
    assert (
        "attribute" in caught.value.what
        and caught.value.where == "event 'e1'"
        and "('kind', 'note')" in caught.value.cure
    )
    assert m.digest() == before
    with pytest.raises(InputError, match="attribute"):
        Event.at(datetime(2024, 5, 1), "number 1", attributes=wrong)


def test_the_first_value_of_a_key() -> None:
    event = Event(1.0, "", attributes=PAIRS)
    assert [event.get(key) for key in ("kind", "tags", "tag")] == ["note", "diy", ""] and event.get(
        "role", "user"
    ) == "user"
    assert Event(1.0, "", attributes=(("kind", ""),)).get("kind", "x") == ""


def test_a_memory_keeps_attributes_and_never_embeds_them() -> None:
    """Vectors, postings and text of an event are those of the same event without attributes."""
    plain, marked = memory(by_number()), memory(by_number())
    plain.encode(Event(1.0, "we met number 1", "Ada"))
    marked.encode(Event(1.0, "we met number 1", "Ada", attributes=(("kind", "zebra"),)))
    assert (
        marked.event(0).get("kind") == "zebra"
        and marked.event(0).rendered() == plain.event(0).rendered()
    )
    np.testing.assert_array_equal(marked.store.index.vectors, plain.store.index.vectors)
    assert Counter(marked.assembly.incoming(marked.event(0)).terms) == Counter(
        plain.assembly.incoming(plain.event(0)).terms
    )
    assert "zebra" not in repr(marked.assembly.incoming(marked.event(0)).features)


def test_rows_by_attribute_are_those_of_stored_events() -> None:
    m = memory(by_number())
    m.encode_all(
        [
            Event(
                i * 1.0,
                f"number {i}",
                id=f"e{i}",
                attributes=(("parity", str(i % 2)), ("third", str(i % 3))),
            )
            for i in range(9)
        ]
    )
    assert (
        m.event_log.rows_with("parity", "1").tolist() == [1, 3, 5, 7]
        and m.event_log.rows_with("parity", "2").tolist() == []
    )
    assert m.event_log.rows_with("1", "parity").tolist() == []
    assert (
        m.event_log.rows_of("e1") == [1]
        and m.event_log.rows_of("e9") == []
        and m.event_log.row("e1") == 1
    )
