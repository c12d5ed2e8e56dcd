"""Ids are unique; erasing takes an id, a row or a filter, and says what it will erase."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder

REGISTRY = Registry.read()
SAID = [Event(float(i), text, who, f"s{i // 3}", id, attributes=(("kind", kind),))
        for i, (text, who, id, kind) in enumerate([
            ("We moved to the mill", "Ada", "a", "note"), ("The boat leaks", "Bo", "", "note"),
            ("The code is 4711", "Ada", "c", "secret"),
            ("Rain again", "Bo", "d", "note"), ("We sold the boat", "Ada", "", "note"),
            ("The code is 4712", "Bo", "f", "secret")])]  # fmt: skip


def told(events: list[Event] = SAID) -> Engine:
    memory = Engine(REGISTRY.build(REGISTRY.set("minimal")), HashingEmbedder(16))
    memory.encode_all(events)
    return memory


def texts(memory: Engine) -> list[str]:
    return [event.text for event in memory.events]


# --- ids ------------------------------------------------------------------------------------------
def test_an_id_that_an_event_has_is_refused_with_its_place_and_nothing_changes() -> None:
    memory = told()
    before = memory.digest()
    with pytest.raises(InputError, match="event 'c': the id is that of event 2"):
        memory.encode(Event(9.0, "another", id="c"))
    for twice in (
        [Event(9.0, "one", id="z"), Event(9.0, "two", id="z")],
        [Event(9.0, "one"), Event(9.0, "two", id="a")],
    ):
        with pytest.raises(InputError, match="the id is that of"):
            memory.encode_all(twice)
    assert memory.digest() == before


def test_events_without_ids_are_never_the_same() -> None:
    assert len(told([Event(1.0, "again"), Event(1.0, "again")]).events) == 2


def test_the_id_of_an_erased_event_is_free_again() -> None:
    memory = told()
    memory.erase("c", confirm=True)
    row = memory.encode(Event(9.0, "The code is 4713", id="c"))
    assert (
        memory.event_log.row("c") == row
        and memory.retrieve("code 4713", k=1).events[0].text == "The code is 4713"
    )
    assert memory.erase("c", confirm=False) == (row,), "what was erased before is not named again"
    memory.erase("c", confirm=True)
    assert memory.events[-1].text == "" and memory.erase("c", confirm=False)


# --- what is named --------------------------------------------------------------------------------
@pytest.mark.parametrize(("what", "gone"), [
    ("c", {2}), (1, {1}), (4, {4}), (Only(speakers=("Bo",)), {1, 3, 5}), (Only(sessions=("s1",)),
    {3, 4, 5}), (Only(since=2.0, until=3.0), {2, 3}),
    (Only(attributes=(("kind", "secret"),)), {2, 5}), (Only(speakers=("Ada",), exclude=("a",)), {2,
    4}), (Only(speakers=("Ada",), since=4.0), {4})])  # fmt: skip
def test_what_is_named_is_erased_and_nothing_else(what: Any, gone: set[int]) -> None:
    memory = told()
    before = memory.digest()
    planned = memory.erase(what, confirm=False)
    assert memory.digest() == before and not planned.done and set(planned) == gone
    assert all(repr(SAID[i].text) in str(planned) for i in gone) and str(planned).startswith(
        "would erase"
    )
    done = memory.erase(what, confirm=True)
    assert done.done and done == planned and not any(SAID[i].text in str(done) for i in gone)
    assert texts(memory) == ["" if i in gone else event.text for i, event in enumerate(SAID)]
    assert not any(hit.row in gone for hit in memory.retrieve("code boat mill rain", k=6))


@given(
    st.none() | st.floats(0, 6),
    st.none() | st.floats(0, 6),
    st.sets(st.sampled_from(["Ada", "Bo", "Cy"])),
    st.sets(st.sampled_from(["s0", "s1"])),
)
def test_a_filter_names_the_events_that_a_query_with_it_may_answer(
    since: float | None, until: float | None, who: set[str], where: set[str]
) -> None:
    only, memory = Only(since, until, tuple(where), tuple(who)), told()
    answered = {hit.row for hit in memory.retrieve(Query("", only=only), k=6)}
    if only == Only() or not answered:
        with pytest.raises(InputError):
            memory.erase(only, confirm=True)
    else:
        assert set(memory.erase(only, confirm=False)) == answered


def test_erasing_needs_a_confirmation_and_says_what_it_would_erase() -> None:
    memory = told()
    before = memory.digest()
    with pytest.raises(InputError, match=r"would erase 1 event[\s\S]*4711[\s\S]*confirm=True"):
        memory.erase("c")
    for what in (
        "e99",
        "",
        77,
        -1,
        1.5,
        None,
        ["c"],
        Only(),
        Only(exclude=("a",)),
        Only(speakers=("Cy",)),
    ):
        with pytest.raises(InputError) as caught:
            memory.erase(what, confirm=True)  # type: ignore[arg-type]
        assert caught.value.cure
    with pytest.raises(InputError):
        memory.erase("c", confirm=1)  # type: ignore[arg-type]
    assert memory.digest() == before


def test_of_many_events_the_first_are_named_and_the_others_counted() -> None:
    memory = told([Event(float(i), f"line {i}", "Ada") for i in range(25)])
    planned = str(memory.erase(Only(speakers=("Ada",)), confirm=False))
    assert (
        planned.startswith("would erase 25 events")
        and "'line 9'" in planned
        and "and 15 more" in planned
        and "'line 10'" not in planned
    )


def test_a_filter_passes_by_what_was_erased_before() -> None:
    memory = told()
    memory.erase(Only(speakers=("Bo",)), confirm=True)
    with pytest.raises(InputError, match="no event meets"):
        memory.erase(Only(speakers=("Bo",)), confirm=True)
