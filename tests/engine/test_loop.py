"""The loop: which phases run when, which input is refused, and what stays unchanged."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from examples import fewer_examples
from hanging import ended_if_it_hangs
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.contract.columns import Phase, Scope
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import GRAPH, NOW, RANDOM, RECALLED, ROW, VETO
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.state.graph import EdgeType
from hebbarium.testing.conformance import START, talk
from hebbarium.testing.small import by_number, column, does, mechanism, memory, numbered

HOURS_IN_A_YEAR = 365 * 24.0
Steps = list[tuple[str, float, float]]


def recorder() -> tuple[Any, Steps]:
    """A mechanism that records every tick it is called for."""
    steps: Steps = []
    return mechanism(
        "recorder",
        does(Phase.MAINTAIN, lambda _, tick: steps.append(("maintain", tick.start, tick.end))),
        does(
            Phase.CONSOLIDATE, lambda _, tick: steps.append(("consolidate", tick.start, tick.end))
        ),
    ), steps


def test_a_year_of_idle_time_costs_one_consolidation_a_day() -> None:
    who, steps = recorder()
    e = memory(who)
    e.encode(Event(0.0, "x"))
    e.advance(HOURS_IN_A_YEAR)
    assert [s for s in steps if s[0] == "consolidate"] == [
        ("consolidate", 24.0 * d, 24.0 * (d + 1)) for d in range(365)
    ]
    *each, last = [s for s in steps if s[0] == "maintain"]
    assert each == [("maintain", 24.0 * d, 24.0 * (d + 1)) for d in range(365)] and last == (
        "maintain",
        HOURS_IN_A_YEAR,
        HOURS_IN_A_YEAR,
    )
    assert steps[:-1:2] == each, "maintenance runs up to each consolidation"


@given(
    st.lists(st.floats(0.0, 60.0), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.5, 5.0, 1000.0]),
    st.sampled_from([0.7, 24.0, math.inf]),
)
def test_maintenance_covers_all_time_exactly_once_for_any_gaps(
    gaps: list[float], tick_hours: float, every: float
) -> None:
    who, steps = recorder()
    e = memory(who, tick_hours=tick_hours, consolidate_every=every)
    now = 7.0
    for gap in (0.0, *gaps):
        now += gap
        e.encode(Event(now, "x"))
        assert now - e.clock.maintained < max(tick_hours, 1e-12), "no tick is longer than asked for"
        assert now < e.clock.consolidated + every
    e.advance(now)
    maintained = [s for s in steps if s[0] == "maintain"]
    assert all(a < b for _, a, b in maintained[:-1]), (
        "only the last maintenance may have length 0, for events since the previous one"
    )
    assert [a for _, a, _ in maintained] == [7.0, *(b for _, _, b in maintained)][
        : len(maintained)
    ], "each starts where the previous one ended"
    assert (maintained[-1][2] if maintained else 7.0) == now
    consolidated = [b for kind, _, b in steps if kind == "consolidate"]
    np.testing.assert_allclose(
        consolidated,
        [7.0 + every * (i + 1) for i in range(len(consolidated))] if consolidated else [],
        rtol=1e-12,
    )
    # Each sleep is due `every` after the last, so sums of rounded times decide the last one.
    last = consolidated[-1] if consolidated else 7.0
    assert last <= now < last + every


def test_without_events_or_memories_nothing_is_maintained() -> None:
    who, steps = recorder()
    veto = mechanism("never", does(Phase.ENCODE, lambda v, _: setattr(v, "veto", 1), adds=[VETO]))
    e = memory(who, veto)
    e.advance(5.0)
    assert math.isnan(e.now)
    assert not e.encode(Event(6.0, "x")).stored
    e.advance(HOURS_IN_A_YEAR)
    assert e.now == HOURS_IN_A_YEAR and steps == []


@pytest.mark.parametrize(
    "wrong",
    [math.nan, math.inf, -math.inf, True, None, "3", 10**400, 1e300, 1.7e12, 1.7e9, 1j, [1.0]],
    ids=repr,
)
@pytest.mark.parametrize("where", ["encode", "advance", "retrieve", "encode_all"])
def test_invalid_times_are_refused_and_change_nothing(wrong: Any, where: str) -> None:
    e = memory(by_number())
    e.encode_all(numbered(1, 2))
    before = e.digest()
    call: dict[str, Callable[[], Any]] = {
        "encode": lambda: e.encode(Event(wrong, "number 3")),
        "advance": lambda: e.advance(wrong),
        "retrieve": lambda: e.retrieve(Query("x", wrong)),
        "encode_all": lambda: e.encode_all([Event(e.now, "number 4"), Event(wrong, "number 5")]),
    }
    if (where, wrong) == ("retrieve", None):
        assert len(e.retrieve(Query("x", None)).rows) == 2
    else:
        with pytest.raises(InputError):
            call[where]()
    assert e.digest() == before and e.encode(Event(e.now, "number 9")) == 2


def test_events_before_the_present_and_queries_after_it_are_refused() -> None:
    e = memory(by_number())
    e.encode_all(numbered(1, 2, start=10.0))
    before = e.digest()
    for call in (
        lambda: e.encode(Event(9.0, "x")),
        lambda: e.advance(9.0),
        lambda: e.retrieve(Query("x", 9.0)),
    ):
        with pytest.raises(InputError, match="backwards"):
            call()
    with pytest.raises(InputError, match="after the memory's present") as caught:
        e.retrieve(Query("x", 11.0))
    assert "advance(query.time)" in caught.value.cure
    assert e.digest() == before


@pytest.mark.parametrize(
    "number", [3, np.int32(3), np.float32(3.0), np.float64(3.0), -0.0], ids=repr
)
def test_any_kind_of_number_is_the_same_time(number: Any) -> None:
    one, other = memory(by_number()), memory(by_number())
    one.encode(Event(number, "number 1"))
    other.encode(Event(float(number) + 0.0, "number 1"))
    one.advance(number + 5)
    other.advance(float(number) + 5.0)
    assert one.digest() == other.digest() and type(one.now) is float


@pytest.mark.parametrize(
    "event",
    [
        None,
        "text",
        Event(1.0, None),
        Event(1.0, "x", speaker=3),
        Event(1.0, "x", session=b"s"),  # type: ignore[arg-type]
        Event(1.0, "x", id=None),
        Event(1.0, "x", caption=["c"]),
        # type: ignore[arg-type]
        *(Event(1.0, "x", dated=bad) for bad in (None, 1, "no", math.nan)),
    ],
    ids=repr,
)  # type: ignore[arg-type]
def test_invalid_events_are_refused_and_change_nothing(event: Any) -> None:
    e = memory(by_number())
    e.encode(Event(0.0, "number 1"))
    before = e.digest()
    for call in (e.encode, lambda bad: e.encode_all([Event(0.5, "number 2"), bad])):
        with pytest.raises(InputError) as caught:
            call(event)
        assert caught.value.what and caught.value.cure
    assert e.digest() == before


@pytest.mark.parametrize("k", [-1, 2.0, True, None, "3"], ids=repr)
def test_invalid_k_is_refused(k: Any) -> None:
    e = memory(by_number())
    e.encode_all(numbered(1, 2))
    with pytest.raises(InputError, match="k is"):
        e.retrieve("x", k)


def test_k_of_zero_and_k_above_the_number_of_memories() -> None:
    e = memory(by_number())
    e.encode_all(numbered(3, 1, 2))
    assert e.retrieve("x", 0).rows.tolist() == [] and e.retrieve("x", 10**9).rows.tolist() == [
        0,
        2,
        1,
    ]
    assert e.retrieve("x", np.int64(1)).rows.tolist() == [0]


@pytest.mark.parametrize("option", [{"tick_hours": -1.0}, {"tick_hours": math.nan},
                                    {"consolidate_every": 0.0}, {"consolidate_every": -1.0},
                                    {"seed": -1},
                                    {"consolidate_every": math.nan}, {"consolidate_every": 1e-12},
                                    {"consolidate_every": "24"}, {"seed": 0.5}],
                                    ids=repr)  # fmt: skip
def test_invalid_options_are_refused(option: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(option))):
        memory(**option)


class Broken(HashingEmbedder):
    """An embedder whose vectors for some texts are no unit vectors."""

    def embed(self, texts: Any) -> Any:
        vectors = super().embed(texts)
        for vector, text in zip(vectors, texts, strict=True):
            vector *= {"nan": math.nan, "zero": 0.0, "long": 2.0}.get(
                str(text).rsplit(maxsplit=1)[-1], 1.0
            )
        return vectors


@pytest.mark.parametrize("word", ["nan", "zero", "long"])
def test_an_invalid_vector_is_refused_before_anything_changes(word: str) -> None:
    e = Engine([], Broken(16))
    e.encode(Event(0.0, "one", session="a"))
    before, memories = e.digest(), e.store.n
    with pytest.raises(InputError, match="unit vector"):
        e.encode(Event(99.0, word, session="b"))
    with pytest.raises(InputError, match="unit vector"):
        e.retrieve(word)
    assert e.digest() == before and e.store.n == memories
    e.encode(Event(1.0, "two", session="c"))
    assert e.store.persistent()["session"].tolist() == [0, 1], (
        "a refused event takes no session number"
    )


def test_a_rejected_event_leaves_the_store_untouched_and_keeps_its_text() -> None:
    veto = mechanism(
        "gate",
        does(
            Phase.ENCODE,
            lambda v, inc: setattr(v, "veto", int("not" in inc.event.text)),
            adds=[VETO],
        ),
    )
    called: list[int] = []
    dresser = mechanism(
        "dresser", does(Phase.ENCODE, lambda v, _: called.append(v.row), reads=[ROW])
    )
    e = memory(veto, dresser, by_number("n"))
    e.encode_all(numbered(1, 2))
    before = {k: v.copy() for k, v in e.store.persistent().items() if k != "now"}
    size = (
        e.store.n,
        len(e.store.index),
        e.store.graph.n_edges,
        e.store.graph.n_entities,
        e.assembly.lexicon.n_rows,
        e.assembly.trigrams.n_rows,
    )
    secret = Event(1.0, "not this, said Ada in Lisbon \ud800\x00 9", "Ada", "s9", "kept")
    refused = e.encode(secret)
    assert (refused.row, refused.vetoed_by, refused.why) == (
        None,
        ("gate",),
        "not stored: refused by gate",
    )
    assert size == (
        e.store.n,
        len(e.store.index),
        e.store.graph.n_edges,
        e.store.graph.n_entities,
        e.assembly.lexicon.n_rows,
        e.assembly.trigrams.n_rows,
    )
    for name, array in before.items():
        np.testing.assert_array_equal(array, e.store.persistent()[name], err_msg=name)
    assert e.event_log.events[-1] == secret and e.event_log.row("kept") == -1 and called == [0, 1]


def learner() -> Any:
    """With learn=True, draws a random number, marks the answered rows and links the first two; a
    plain query changes nothing.
    """
    marks = column("marks")

    def learn(view: Any, _: Any) -> None:
        view.marks[view.recalled] += view.random.random()
        if len(view.recalled) > 1:
            view.graph.add(view.recalled[0], view.recalled[1], EdgeType.COACCESS, view.now)

    return mechanism(
        "learner",
        does(Phase.RETRIEVE, learn, reads=[RECALLED, NOW], adds=[GRAPH], sets=[marks, RANDOM]),
        owns=[marks],
    )


def test_only_retrieval_with_learning_changes_the_state() -> None:
    e = memory(learner(), by_number())
    e.encode_all(numbered(*range(20)))
    before, stream = e.digest(), e.assembly.streams["learner"].bit_generator.state
    for _ in range(3):
        e.retrieve("number", k=5)
    assert e.digest() == before and e.assembly.streams["learner"].bit_generator.state == stream
    first = np.random.default_rng()
    first.bit_generator.state = stream
    e.retrieve("number", k=2, learn=True)
    expected = np.zeros(20)
    expected[[19, 18]] = first.random()
    np.testing.assert_array_equal(e.store.persistent()["marks"], expected)
    assert e.store.graph.find(19, 18, EdgeType.COACCESS) is not None and e.digest() != before


def test_archived_memories_are_kept_but_not_retrieved() -> None:
    e = memory(by_number())
    e.encode_all(numbered(5, 9, 7))
    before = e.digest()
    e.archive(1)
    answer = e.retrieve("number")
    assert answer.rows.tolist() == [2, 0] and [answer.rank(r) for r in range(3)] == [2, 0, 1]
    assert (
        e.event_log.of_row(1).text == "number 9" and e.store.persistent()["number_held"][1] == 9.0
    )
    e.archive(1)
    e.restore(1)
    assert e.digest() == before and e.retrieve("number").rows.tolist() == [1, 2, 0]
    for row in (-1, 3, 1.0, None, True):
        with pytest.raises(InputError, match="the row is"):
            e.archive(row)  # type: ignore[arg-type]


def test_ties_are_broken_by_row() -> None:
    e = memory(by_number())
    e.encode_all(numbered(1, 2, 1, 2, 1))
    assert e.retrieve("number").rows.tolist() == [1, 3, 0, 2, 4]


@pytest.mark.slow
def test_ten_thousand_identical_events(build: Callable[..., Engine]) -> None:
    """All are stored, and rank by row."""
    e = build("dense_similarity", "lexical_bm25", "convex_fusion")
    with ended_if_it_hangs():
        e.encode_all(
            [Event(START, "the same thing again", "Ada", "s", f"e{i}") for i in range(10_000)]
        )
    answer = e.retrieve("the same thing", k=7)
    assert (
        e.store.n == 10_000
        and answer.rows.tolist() == list(range(7))
        and answer.rank(9_999) == 10_000
    )


def test_two_engines_in_one_process_are_independent(build: Callable[..., Engine]) -> None:
    ids = ("temporal_context", "dense_similarity", "lexical_bm25", "convex_fusion")
    alone = build(*ids)
    alone.encode_all(talk())
    left, right = build(*ids), build(*ids, seed=1)
    for event in talk():
        left.encode(event)
        right.encode(replace(event, text=event.text[::-1], time=event.time + 1.0))
        right.retrieve("Lisbon", learn=True)
    left.advance(left.now)
    assert left.digest() == alone.digest() != right.digest()


def fragile(phase: Phase) -> Any:
    level = column("level", Scope.GLOBAL)
    hit = {Phase.ENCODE: [ROW], Phase.RETRIEVE: [RECALLED]}.get(phase, [])

    def fail(view: Any, _: Any) -> None:
        view.level = 1.0
        raise RuntimeError("half-way")

    return mechanism("fragile", does(phase, fail, reads=hit, sets=[level]), owns=[level])


@pytest.mark.parametrize("phase", list(Phase), ids=lambda p: p.value)
def test_a_hook_that_fails_half_way_ends_the_memory(phase: Phase) -> None:
    """After a failed change the memory refuses every further call, with a cure."""
    e = memory(fragile(phase))
    with pytest.raises(RuntimeError, match="half-way"):
        e.encode(Event(0.0, "x"))
        e.advance(25.0)
        e.retrieve("x", learn=True)
    for call in (
        lambda: e.encode(Event(90.0, "y")),
        lambda: e.advance(90.0),
        lambda: e.retrieve("x"),
        e.save,
        lambda: e.archive(0),
    ):
        with pytest.raises(HebbariumError, match="broke off in") as caught:
            call()
        assert caught.value.cure


def test_a_failed_retrieval_without_learning_does_not_end_the_memory() -> None:
    def fail(view: Any, cue: Any) -> None:
        if "fail" in cue.query.text:
            raise RuntimeError("no answer")

    e = memory(mechanism("m", does(Phase.RETRIEVE, fail)), by_number())
    e.encode_all(numbered(1, 2))
    before = e.digest()
    with pytest.raises(RuntimeError):
        e.retrieve("fail")
    assert e.digest() == before and e.retrieve("x").rows.tolist() == [1, 0]


@given(st.permutations(range(4)))
@fewer_examples
def test_the_order_in_which_mechanisms_are_given_does_not_matter(order: list[int]) -> None:
    made = [by_number(f"n{i}") for i in range(3)] + [learner()]
    one, other = memory(*made), memory(*(made[i] for i in order))
    for e in (one, other):
        e.encode_all(numbered(3, 1, 4, 1, 5))
        e.retrieve("number", learn=True)
    assert one.digest() == other.digest()
    np.testing.assert_array_equal(one.retrieve("x").final, other.retrieve("x").final)
