"""The filter of a query: which rows it admits, against a search through all events, and what it
refuses.
"""

from __future__ import annotations

import random
import sys
from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hebbarium as hb
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.base.times import hours
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.contract.vocabulary import VETO
from hebbarium.engine.memory.arguments import checked_query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.event_log import EventLog
from hebbarium.engine.state.graph import EdgeType, Graph, entity_node
from hebbarium.engine.steps.filter import admits as filter_admits
from hebbarium.engine.steps.filter import banned
from hebbarium.testing.small import by_number, does, mechanism, memory

NOON = datetime(2024, 5, 1, 12)
PEOPLE, SESSIONS, KINDS, TAGS = (
    ("Ada", "Bo", "Cleo", ""),
    ("s1", "s2", "s3", ""),
    ("note", "plan", ""),
    ("home", "diy", "work"),
)


def some_vetoed() -> Any:
    def gate(view: Any, incoming: Any) -> None:
        view.veto = int(incoming.event.text.endswith("7"))

    return mechanism("gate", does(Phase.ENCODE, gate, adds=[VETO]), order=1)


def populated(n: int = 60) -> Engine:
    """Events of all combinations, some vetoed; row and number of an event differ."""
    chance, m = random.Random(3), memory(by_number(), some_vetoed())
    for i in range(n):
        kind, tags = chance.choice(KINDS), chance.sample(TAGS, chance.randrange(3))
        pairs = tuple(
            sorted([*((("kind", kind),) if kind else ()), *(("tags", tag) for tag in tags)])
        )
        m.encode(
            Event(
                i * 3.0,
                f"number {i}",
                chance.choice(PEOPLE),
                chance.choice(SESSIONS),
                f"e{i}",
                attributes=pairs,
            )
        )
    m.advance(m.now)
    return m


MEMORY = populated()


def admits(only: Only, event: Event) -> bool:
    """The definition, one event at a time."""
    return (
        (only.since is None or event.time >= only.since)
        and (only.until is None or event.time <= only.until)
        and (not only.sessions or event.session in only.sessions)
        and (not only.speakers or event.speaker in only.speakers)
        and all(
            any(
                (key, one) in event.attributes
                for one in ([wanted] if isinstance(wanted, str) else wanted)
            )
            for key, wanted in only.attributes
        )
        and event.id not in only.exclude
    )


def by_search(m: Engine, only: Only) -> list[bool]:
    return [not admits(only, m.event(row)) for row in range(m.store.n)]


def mask(m: Engine, only: Only) -> list[bool]:
    checked = checked_query(Query("?", only=only), m.now).only
    assert checked is not None
    found = banned(checked, m.event_log, m.store, m.graph)
    assert found.dtype == np.bool_ and found.shape == (m.store.n,)
    return [bool(one) for one in found]


@pytest.mark.parametrize("only", [
    Only(), Only(since=30.0), Only(until=30.0), Only(since=30.0, until=30.0), Only(since=31.0,
    until=32.0), Only(since=90.0, until=30.0),
    Only(since=-5.0), Only(until=1e6), Only(sessions=("s1",)),
    Only(sessions=("s1", "s3")), Only(sessions=("",)), Only(sessions=("s9",)), Only(sessions=("s9",
    "s2")),
    Only(speakers=("Ada",)), Only(speakers=("", "Bo")), Only(speakers=("ada",)),
    Only(attributes=(("kind", "note"),)),
    Only(attributes=(("tags", "diy"), ("tags", "home"))), Only(attributes=(("kind", "note"),
    ("kind", "plan"))), Only(attributes=(("mood", "glad"),)),
    Only(attributes=(("kind", ("note", "plan")),)),
    Only(attributes=(("kind", ("note", "mood")), ("tags", ("diy", "home")), ("tags", "work"))),
    Only(exclude=("e3",)), Only(exclude=("e3", "e9", "e49", "e77")), Only(exclude=("e7",)),
    Only(exclude=("",)),
    Only(20.0, 120.0, ("s1", "s2"), ("Ada", "Bo"), (("tags", "home"),), ("e4",)),
], ids=str)  # fmt: skip
def test_the_rows_that_a_filter_bans(only: Only) -> None:
    assert mask(MEMORY, only) == by_search(MEMORY, only)


def test_random_filters_ban_what_a_search_finds() -> None:
    chance, sizes = random.Random(8), set()
    pairs = [("kind", k) for k in KINDS if k] + [("tags", t) for t in TAGS]
    for _ in range(300):
        ids = tuple(f"e{chance.randrange(80)}" for _ in range(chance.randrange(4)))
        only = Only(
            chance.choice((None, chance.uniform(-5.0, 190.0))),
            chance.choice((None, chance.uniform(-5.0, 190.0))),
            tuple(chance.sample(SESSIONS, chance.randrange(4))),
            tuple(chance.sample(PEOPLE, chance.randrange(4))),
            tuple(sorted(chance.sample(pairs, chance.choice((0, 0, 1, 2))))),
            ids,
        )
        found = mask(MEMORY, only)
        assert found == by_search(MEMORY, only), only
        sizes.add(sum(found))
    assert len(sizes) > 20, "filters of many sizes were tried"


def test_several_values_of_one_attribute_ask_for_any_of_them() -> None:
    wanted: Any = Only(attributes={"kind": ["note", "plan"]})
    either = {row for kind in ("note", "plan") for row in range(MEMORY.store.n)
              if ("kind", kind) in MEMORY.event(row).attributes}  # fmt: skip
    found = mask(MEMORY, wanted)
    assert {row for row, out in enumerate(found) if not out} == either and either
    one: Any = Only(attributes={"kind": ["note"], "tags": []})
    assert mask(MEMORY, one) == mask(MEMORY, Only(attributes=(("kind", "note"),)))
    answered = MEMORY.retrieve(Query("number", only=wanted), 99)
    assert set(answered.rows.tolist()) == either
    wrong: Any = Only(attributes={"kind": ["note", 3]})
    with pytest.raises(InputError, match="not a key and its text"):
        MEMORY.retrieve(Query("number", only=wrong))


def test_an_event_with_an_excluded_id_is_banned() -> None:
    for row in (0, 3, MEMORY.store.n - 1):
        assert [
            other
            for other, out in enumerate(mask(MEMORY, Only(exclude=(MEMORY.event(row).id,))))
            if out
        ] == [row]


def test_an_empty_memory_has_an_empty_mask() -> None:
    m = memory(by_number())
    only = Only(0.0, 1.0, ("s1",), ("Ada",), (("kind", "note"),), ("e1",))
    assert banned(only, m.event_log, m.store, m.graph).tolist() == []


def test_a_restored_memory_bans_the_same_rows(tmp_path: Any) -> None:
    events = MEMORY.events
    m = memory(by_number(), some_vetoed(), path=tmp_path / "m.db")
    m.encode_all(events)
    m.close()
    again = memory(by_number(), some_vetoed(), path=tmp_path / "m.db")
    for only in (
        Only(attributes=(("tags", "home"),)),
        Only(speakers=("Bo",), exclude=("e3",)),
        Only(sessions=("s2",), since=40.0),
    ):
        assert mask(again, only) == mask(MEMORY, only)


def test_a_filter_costs_numpy_time_and_not_a_loop() -> None:
    """50,000 rows, half of them with the attribute: a loop over rows would run a line for each."""
    n, m = 50_000, memory(by_number())
    for i in range(n):
        m.event_log.write(
            Event(
                float(i),
                "",
                "Ada" if i % 2 else "Bo",
                f"s{i // 9}",
                f"e{i}",
                attributes=(("kind", "note"),) if i % 2 else (),
            ),
            i,
        )
    created = np.arange(n, dtype=np.float64)
    numbers = {
        "session": np.arange(n, dtype=np.int32) // 9,
        "speaker": np.arange(n, dtype=np.int32) % 2,
    }

    class Columns:
        n = len(created)

        def array(self, column: Any) -> Any:
            return created if column.name == "created" else numbers[column.name]

    rows: Any = Columns()
    only = Only(10.0, 40_000.0, ("s5", "s90"), ("Ada",), (("kind", "note"),), ("e51",))
    lines = 0

    def count(frame: Any, event: str, argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        kept = ~banned(only, m.event_log, rows, Graph())
    finally:
        sys.settrace(before)
    assert np.flatnonzero(kept).tolist() == [45, 47, 49, 53, 811, 813, 815, 817]
    assert 0 < lines < 500, "lines of Python for 50,000 rows"


def test_a_filter_of_made_rows_is_that_of_their_events_without_a_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By brute force, of random logs with made rows of made rows, of many events and of none,
    which have every attribute and are never excluded.
    """

    def admitted(log: EventLog, row: int, only: Only) -> bool:
        writing = log.writing(row)
        if writing is None:
            return (
                set(only.attributes) <= set(log.of_row(row).attributes)
                and log.of_row(row).id not in only.exclude
            )
        return all(admitted(log, source, only) for source in writing.sources)

    chance, sizes = random.Random(5), set()
    for _ in range(60):
        log = EventLog()
        for row in range(chance.randrange(40)):
            if chance.random() < 0.5:
                sources = (
                    [chance.randrange(row) for _ in range(chance.choice([0, 1, 2, 20]))]
                    if row
                    else []
                )
                log.make(log.writings.add("text", "summary", "maker", sources))
            else:
                log.write(
                    Event(
                        float(row),
                        "text",
                        id=f"e{row % 9}",
                        attributes=tuple(("tags", tag) for tag in TAGS if chance.random() < 0.8),
                    ),
                    row,
                )
        rows: Any = SimpleNamespace(n=len(log.rows))
        for only in (
            Only(attributes=(("tags", "diy"),)),
            Only(attributes=(("tags", "diy"), ("tags", "home"))),
            Only(exclude=("e3",)),
            Only(exclude=("e3", "e5", "e77"), attributes=(("tags", "work"),)),
            Only(exclude=("e77",)),
            Only(attributes=(("mood", "glad"),)),
        ):
            expected = [not admitted(log, row, only) for row in range(rows.n)]
            with monkeypatch.context() as patched:
                patched.setattr(EventLog, "origins", None)
                assert banned(only, log, rows, Graph()).tolist() == expected
            sizes.add(sum(expected))
    assert len(sizes) > 20, "filters of many sizes were tried"


def test_a_filter_of_entities_admits_what_mentions_one_of_them() -> None:
    """By words of the texts; a made row, if all that it was made from mention one."""
    names, m = ("Ada", "Bo", "Cleo"), memory(by_number())
    chance = random.Random(4)
    held = [chance.sample(names, chance.randrange(3)) for _ in range(40)]
    for n, who in enumerate(held):
        m.encode(
            Event(float(n), f"They met {' and '.join(who) or 'nobody'} at stop {n}", id=f"e{n}")
        )
    for wanted in (("ada",), ("Bo", "CLEO"), (" Bo ", "@cleo"), ("Dora",), ("",),
                   ("ada", "nobody")):  # fmt: skip
        folded = {name.lower().strip(" @") for name in wanted}
        kept = [n for n, who in enumerate(held) if folded & {name.lower() for name in who}]
        only = Only(entities=wanted)
        assert [n for n, out in enumerate(mask(m, only)) if not out] == kept
        checked = checked_query(Query("?", only=only), m.now).only
        assert checked and [n for n in range(40) if filter_admits(checked, m.event(n))] == kept
    log, graph = EventLog(), Graph()
    for row, name in enumerate(("ada", "bo", "ada")):
        log.write(Event(float(row), name), row)
        graph.cover_rows(row + 1)
        graph.add(entity_node(graph.entity(name)), row, EdgeType.ENTITY, 0.0)
    for sources in ((0, 2), (0, 1)):
        log.make(log.writings.add("text", "summary", "maker", sources))
    rows: Any = SimpleNamespace(n=5)
    out = banned(Only(entities=("ada",)), log, rows, graph)
    assert out.tolist() == [False, True, False, False, True]


def test_what_mentions_somebody_is_erased_by_a_filter() -> None:
    m = memory(by_number())
    m.encode_all(
        Event(float(n), f"They met {who} at stop {n}") for n, who in enumerate(("Ada", "Bo"))
    )
    assert list(m.erase(Only(entities=("ADA",)), confirm=True)) == [0]
    assert m.event(0).text == "" and "Bo" in m.event(1).text


# --- what a user gives ----------------------------------------------------------------------------
def test_a_filter_is_converted_to_its_plain_form() -> None:
    times: Any = NOON, NOON.replace(tzinfo=UTC)
    names: Any = (
        ["s2", "s1", "s2"],
        {"Bo", "Ada"},
        {"tags": ["b", "a"], "kind": np.str_("note")},
        [np.str_("e1")],
    )
    found = checked_query(Query("?", id="q", only=Only(*times, *names)), 1e6).only
    noon = (NOON - datetime(1970, 1, 1)).total_seconds() / 3600.0
    assert found == Only(
        noon, noon, ("s1", "s2"), ("Ada", "Bo"), (("kind", "note"), ("tags", ("a", "b"))), ("e1",)
    )
    assert found and type(found.exclude[0]) is str and type(found.since) is float
    assert (
        checked_query(Query("?", only=found), 1e6).only == found
        and checked_query("?", 1e6).only is None
    )


@pytest.mark.parametrize(("only", "words", "place"), [
    ({"since": 3.0}, "only is dict, not Only", ""), ("Ada", "only is str", ""), (Only(since="May"),
    "'May' is no number", "only.since"),  # type: ignore[arg-type]
    (Only(since=float("nan")), "no number", "only.since"), (Only(until=float("inf")),
    "outside the years", "only.until"),
    (Only(until=True), "no number", "only.until"), (Only(since=date(2024, 5, 1)), "no number",
    "only.since"),  # type: ignore[arg-type]
    (Only(until=1e300), "outside the years", "only.until"), (Only(sessions="s1"),
    "no tuple of names", "only.sessions"),  # type: ignore[arg-type]
    (Only(speakers=(3,)), "no tuple of names", "only.speakers"), (Only(speakers=None),
    "no tuple of names", "only.speakers"),  # type: ignore[arg-type]
    (Only(exclude={"e1": 1}), "no tuple of names", "only.exclude"), (Only(exclude=iter("ab")),
    "no tuple", "only.exclude"),  # type: ignore[arg-type]
    (Only(entities="Ada"), "no tuple of names", "only.entities"),  # type: ignore[arg-type]
    (Only(attributes=(("kind",),)), "no pair", "only.attributes"), (Only(attributes="kind"),
    "not a mapping", "only.attributes"),  # type: ignore[arg-type]
])  # fmt: skip
def test_a_filter_of_wrong_types_is_refused(only: Any, words: str, place: str) -> None:
    before = MEMORY.digest()
    with pytest.raises(InputError) as caught:
        MEMORY.retrieve(Query("number", id="q1", only=only))
    assert (
        words in caught.value.what
        and caught.value.where == f"query 'q1'{', ' if place else ''}{place}"
        and caught.value.cure
    )
    assert MEMORY.digest() == before


def test_the_package_has_the_filter() -> None:
    assert hb.Only is Only and "Only" in hb.__all__


def test_times_of_a_filter_may_lie_after_the_present() -> None:
    assert checked_query(Query("?", only=Only(until=hours(NOON))), 1.0).only == Only(
        until=hours(NOON)
    )


# --- asked of a memory ----------------------------------------------------------------------------
def answered(m: Engine, only: Any, k: int = 1000, **more: Any) -> list[int]:
    return [int(row) for row in m.retrieve(Query("number", only=only), k, **more).rows]


def test_an_answer_holds_what_the_filter_admits_in_the_order_of_the_whole_answer() -> None:
    whole = answered(MEMORY, None)
    assert len(whole) == MEMORY.store.n == len(answered(MEMORY, Only()))
    for only in (
        Only(speakers=("Ada",)),
        Only(since=60.0, until=120.0, sessions=("s1", "s2")),
        Only(attributes=(("kind", "note"),), exclude=("e3",)),
    ):
        expected = [row for row in whole if admits(only, MEMORY.event(row))]
        assert answered(MEMORY, only) == expected and 1 < len(expected) < len(whole)
        assert answered(MEMORY, only, k=2) == expected[:2]


def test_a_filter_that_nothing_meets_is_an_empty_answer() -> None:
    before = MEMORY.digest()
    for only in (
        Only(since=90.0, until=30.0),
        Only(sessions=("s9",)),
        Only(attributes=(("mood", "glad"),)),
        Only(speakers=("Ada",), until=-1.0),
    ):
        answer = MEMORY.retrieve(Query("number", only=only))
        assert len(answer.rows) == len(answer.scores) == 0 and not answer.answerable.any()
    assert MEMORY.digest() == before
    assert answered(MEMORY, None, k=3) == answered(populated(), None, k=3), (
        "the next query is answered without the filter"
    )


def test_days_of_the_calendar_and_attributes_in_loose_form() -> None:
    with hb.memory("bm25", embedding="hashing:16") as m:
        for day, kind in ((1, "note"), (2, "plan"), (3, "note")):
            m.encode(
                Event.at(
                    datetime(2024, 5, day), f"We met on day {day}", "Ada", attributes={"kind": kind}
                )
            )
        loose: Any = Only(since=datetime(2024, 5, 2), attributes={"kind": "note"})
        assert [
            event.get("kind") + event.text[-1]
            for event in m.retrieve(Query("Who met?", only=loose)).events
        ] == ["note3"]


def test_an_empty_memory_answers_nothing_under_a_filter() -> None:
    assert answered(memory(by_number()), Only(speakers=("Ada",))) == []


def test_recall_that_changes_memory_reaches_only_what_was_answered() -> None:
    m, other = populated(30), populated(30)
    assert answered(m, Only(speakers=("Ada",)), k=5, learn=True) == answered(
        other, Only(speakers=("Ada",)), k=5
    )
    assert answered(m, None) == answered(other, None)


def test_archived_memories_are_not_admitted_by_a_filter() -> None:
    m = populated(30)
    first, *others = answered(m, Only(speakers=("Ada",)))
    m.archive(first)
    assert answered(m, Only(speakers=("Ada",))) == others
