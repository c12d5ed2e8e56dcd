"""Feedback: which rows of an answer were needed reaches the hooks that read RECALLED, once, and
equals an answer that may change memory.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiers import slow_unless

from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase, Scope
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import HIDE, MATCH, NOW, OUTCOME, RECALLED
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.state.ranking import Answer
from hebbarium.testing.conformance import talk
from hebbarium.testing.small import by_number, column, does, mechanism, memory, numbered

USES = column("uses_told", dtype=np.int64)
BEST = column("best_told", Scope.GLOBAL, -1.0)
TOLD = column("outcome_told", Scope.GLOBAL, 0.0)
EVERYTHING = tuple(Registry.read().set("everything").mechanisms)
MINIMAL = tuple(Registry.read().set("minimal").mechanisms)
ASKED_AT = column("asked_at", Scope.GLOBAL, -1.0)
COUNTED = column("counted", Scope.CANDIDATE, 0.0)


def note(view: Any, cue: Any) -> None:
    view.uses_told[view.recalled] += 1
    view.best_told = float(view.recalled[0]) if len(view.recalled) else -2.0
    view.outcome_told, view.asked_at = view.outcome, view.now


def told() -> Any:
    return mechanism(
        "told",
        does(
            Phase.RETRIEVE,
            note,
            reads=[RECALLED, OUTCOME, NOW, MATCH],
            sets=[USES, BEST, TOLD, ASKED_AT],
        ),
        owns=[USES, BEST, TOLD, ASKED_AT],
        order=1,
    )


@pytest.fixture
def e() -> Engine:
    """Five events, ranked 4, 2, 0, 3, 1."""
    made = memory(by_number(), told())
    made.encode_all(replace(event, id=f"e{i}") for i, event in enumerate(numbered(5, 1, 7, 3, 9)))
    return made


def refused(e: Engine, words: str, *given: Any) -> InputError:
    before = e.digest()
    with pytest.raises(InputError, match=words) as caught:
        e.use(*given)
    assert e.digest() == before and caught.value.where.startswith("use") and caught.value.cure
    return caught.value


# --- what hooks get -------------------------------------------------------------------------------
@pytest.mark.parametrize(("needed", "rows"), [
    ([0, 4], [4, 0]), ((0, 4, 0), [4, 0]), (np.array([3]), [3]), (2, [2]), ("e1", [1]), (["e0", 4,
    "e4"], [4, 0]), ((), []),
    (range(5), [4, 2, 0, 3, 1])], ids=str)  # fmt: skip
def test_hooks_get_exactly_the_rows_that_were_needed_best_first(
    e: Engine, needed: Any, rows: list[int]
) -> None:
    answer = e.retrieve("number", k=2)
    assert answer.rows.tolist() == [4, 2]
    assert e.use(answer, needed).tolist() == rows
    assert (
        np.flatnonzero(e.column(USES)).tolist() == sorted(rows)
        and e.column(USES).max(initial=0) <= 1
    )
    assert e.column(BEST) == (rows[0] if rows else -2.0)


def test_the_outcome_reaches_the_hooks_and_is_reset(e: Engine) -> None:
    for outcome in (-1, 0.25, np.float32(1.0)):
        e.use(e.retrieve("number"), [2], outcome)
        assert e.column(TOLD) == float(outcome) and np.isnan(e.column(OUTCOME))
    e.use(e.retrieve("number"), [2])
    assert np.isnan(e.column(TOLD))
    e.retrieve("number", learn=True)
    assert np.isnan(e.column(TOLD)) and np.isnan(e.column(OUTCOME))


def test_later_feedback_runs_at_the_present(e: Engine) -> None:
    answer = e.retrieve("number", k=2)
    e.encode(Event(50.0, "number 99"))
    assert e.use(answer, answer.rows).tolist() == [4, 2], (
        "the answer's rows, not those of the present"
    )
    assert e.column(ASKED_AT) == 50.0 and e.column(USES).tolist() == [0, 0, 1, 0, 1, 0]
    assert e.retrieve("number", k=1).rows.tolist() == [5], "the next answer is chosen again"


def test_an_answer_in_order_of_time_is_the_same_answer(e: Engine) -> None:
    answer = e.retrieve("number", k=2)
    assert (
        e.use(answer.in_time(), answer.in_time().rows).tolist() == [4, 2] and e.column(BEST) == 4.0
    )
    refused(e, "already learnt", answer, [4])


def test_an_id_means_the_answered_rows_that_show_the_event() -> None:
    e = memory(by_number(), told())
    e.encode_all(numbered(5, 1))
    assert e.use(e.retrieve("number", k=1), "e0").tolist() == [0]
    assert e.use(e.retrieve("number", k=0), "e1").tolist() == [1], (
        "it was not answered: the row of the event"
    )


# --- what is refused ------------------------------------------------------------------------------
@pytest.mark.parametrize(("needed", "words"), [
    ([5], "no row that the memory held"), ([-1], "no row"), ([0, 7], "no row"), (None, "no row"),
    ([True], "no row"), ([1.0], "no row"),
    (["e9"], "'e9' is unknown"), ("", "'' is unknown"), ([b"e0"], "no row")], ids=repr)  # fmt: skip
def test_an_unknown_row_or_id_is_refused(e: Engine, needed: Any, words: str) -> None:
    answer = e.retrieve("number")
    refused(e, words, answer, needed)
    assert e.use(answer, [0]).tolist() == [0], "a refusal uses nothing up"


def test_where_no_answered_event_has_an_id_a_row_is_asked_for() -> None:
    e = memory(by_number(), told())
    e.encode_all(replace(event, id="") for event in numbered(5, 1))
    assert refused(e, "unknown", e.retrieve("number"), ["e9"]).cure.endswith("or a row")


@pytest.mark.parametrize("outcome", [1.01, -2, np.nan, True, "good"], ids=repr)
def test_an_outcome_out_of_range_is_refused(e: Engine, outcome: Any) -> None:
    refused(e, "the outcome is", e.retrieve("number"), [0], outcome)


def test_double_feedback_is_refused(e: Engine) -> None:
    answer = e.retrieve("number")
    e.use(answer, [0])
    refused(e, "already learnt from this answer", answer, [1])
    refused(e, "already learnt from this answer", e.retrieve("number", learn=True), [0])


def test_what_is_no_answer_of_a_memory_is_refused(e: Engine) -> None:
    for wrong in (None, [0], replace(e.retrieve("number"), asked=None)):
        refused(e, "is no answer of a memory", wrong, [0])


def test_a_row_or_event_that_came_after_the_answer_is_refused(e: Engine) -> None:
    answer = e.retrieve("number")
    e.encode(Event(1.0, "number 4", id="later"))
    refused(e, "no row that the memory held when it answered", answer, [5])
    refused(e, "'later' was not stored before the answer", answer, ["later"])


def test_an_answer_of_another_memory_is_refused_and_that_of_an_equal_one_harmless(
    e: Engine,
) -> None:
    other = memory(by_number(), told())
    other.encode_all(replace(event, id=f"e{i}") for i, event in enumerate(numbered(5, 1, 7, 3, 8)))
    refused(e, "does not hold the rows", other.retrieve("number"), [4])
    short = memory(by_number(), told())
    short.encode_all(numbered(5, 1))
    assert "not older" in refused(short, "does not hold the rows", e.retrieve("number"), [4]).cure
    equal = memory(by_number(), told())
    equal.encode_all(e.events)
    assert equal.use(e.retrieve("number"), [4]).tolist() == [4]


def test_a_hook_that_fails_ends_the_memory_and_the_outcome_is_reset() -> None:
    def fail(view: Any, _: Any) -> None:
        raise RuntimeError

    e = memory(by_number(), mechanism("m", does(Phase.RETRIEVE, fail, reads=[RECALLED])))
    e.encode_all(numbered(1))
    answer = e.retrieve("number")
    with pytest.raises(RuntimeError):
        e.use(answer, [0], 1.0)
    with pytest.raises(HebbariumError, match="broke off in use"):
        e.use(answer, [0])
    assert np.isnan(e.store.array(OUTCOME))


# --- use at once ----------------------------------------------------------------------------------
def asked() -> tuple[Engine, list[str]]:
    """A memory with five events, and a list of the questions for which it computes its signal."""
    asked_for = list[str]()

    def ask(view: Any, cue: Any) -> None:
        asked_for.append(cue.query.text)

    e = memory(
        by_number(),
        told(),
        mechanism("m", does(Phase.RETRIEVE, ask, reads=[MATCH], sets=[COUNTED]), owns=[COUNTED]),
    )
    e.encode_all(replace(event, id=f"e{i}") for i, event in enumerate(numbered(5, 1, 7, 3, 9)))
    return e, asked_for


def test_use_at_once_does_not_ask_again_and_use_later_does() -> None:
    e, asked_for = asked()
    e.use(e.retrieve("one"), [0])
    assert asked_for == ["one"] and e.column(USES).tolist() == [1, 0, 0, 0, 0]
    answer = e.retrieve("two")
    e.retrieve("three")
    e.use(answer, [1])
    assert asked_for == ["one", "two", "three", "two"]
    answer = e.retrieve("four")
    e.encode(Event(60.0, "number 4"))
    e.use(answer, [1])
    answer = e.retrieve("five")
    e.use(e.retrieve("six"), [2])
    e.use(answer, [2])
    assert asked_for[4:] == ["four", "four", "five", "six", "five"] and e.column(USES).tolist() == [
        1,
        2,
        2,
        0,
        0,
        0,
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["in_use", "hybrid", "night"])
def test_use_at_once_equals_use_after_another_question(registry: Registry, name: str) -> None:
    """Bit for bit: all columns, and so what is asked and slept next."""
    lives = [Engine(registry.build(registry.set(name)), HashingEmbedder(32)) for _ in range(2)]
    for i, event in enumerate(talk(24)):
        for e, again in zip(lives, (False, True), strict=True):
            e.encode(event)
            answer = e.retrieve(Query(event.text, session="s"), 3)
            if again:
                e.retrieve("who was it")
            e.use(answer, answer.rows[i % 3 :][:1])
    for e in lives:
        e.advance(e.now + 30.0)
    one, two = (e.store.persistent() for e in lives)
    assert lives[0].digest() == lives[1].digest() and all(
        np.array_equal(one[c], two[c], equal_nan=one[c].dtype.kind == "f") for c in one
    )


# --- archived and erased rows ---------------------------------------------------------------------
def test_an_archived_row_counts_and_stays_archived(e: Engine) -> None:
    answer = e.retrieve("number")
    e.archive(4)
    assert (
        e.use(answer, [4]).tolist() == [4] and e.column(USES)[4] == 1 and not e.column("visible")[4]
    )


def test_an_erased_row_is_left_out(e: Engine) -> None:
    first, second = e.retrieve("number"), e.retrieve("number")
    e.erase("e4", confirm=True)
    assert e.use(first, [4, "e2"]).tolist() == [2] and e.column(USES).tolist() == [0, 0, 1, 0, 0]
    before = e.digest()
    assert e.use(second, ["e4"]).tolist() == [] and e.digest() == before


def test_an_event_without_text_that_a_mechanism_archived_is_no_erased_one() -> None:
    def hide(view: Any, tick: Any) -> None:
        view.hide[0] += 1

    e = memory(told(), mechanism("hider", does(Phase.CONSOLIDATE, hide, adds=[HIDE])))
    e.encode_all([Event(0.0, "", id="e0"), Event(1.0, "words", id="e1")])
    e.advance(30.0)
    answer = e.retrieve("number")
    assert (
        not e.column("visible")[0] and e.use(answer, [0]).tolist() == [0] and e.column(USES)[0] == 1
    )


# --- snapshots ------------------------------------------------------------------------------------
def test_an_answer_outlives_a_snapshot(tmp_path: Path) -> None:
    def opened() -> Engine:
        return memory(by_number(), told(), path=tmp_path / "m.db")

    with opened() as one:
        one.encode_all(replace(event, id=f"e{i}") for i, event in enumerate(numbered(5, 1, 7)))
        answers: list[Answer] = [one.retrieve("number", k=2) for _ in range(3)]
        one.use(answers[0], [0])
    with opened() as two:
        refused(two, "already learnt", answers[0], [0])
        assert two.use(pickle.loads(pickle.dumps(answers[1])), [2]).tolist() == [2]
        two.erase("e2", confirm=True)
    with opened() as three:
        assert three.column(USES).tolist() == [1, 0, 0]
        assert three.use(answers[2], [0, 2]).tolist() == [0] and three.column(USES).tolist() == [
            2,
            0,
            0,
        ]


# --- the same as recall ---------------------------------------------------------------------------
@pytest.mark.parametrize("id", slow_unless(MINIMAL, ["everything", *EVERYTHING]))
def test_use_of_the_whole_answer_equals_an_answer_that_may_change_memory(
    id: str, build: Callable[..., Engine]
) -> None:
    """Bit for bit, after every question and after the sleeps that follow; for each mechanism
    alone and for all of them.
    """
    lives = [
        build(*(EVERYTHING if id == "everything" else {id, "dense_similarity"}), seed=1)
        for _ in range(2)
    ]
    changed = False
    for i, event in enumerate(talk(24)):
        for e in lives:
            e.encode(event)
        if i % 6 == 5:
            query = Query(f"What did {event.speaker} do in Lisbon?")
            before = lives[0].digest()
            lives[0].retrieve(query, 4, learn=True)
            answer = lives[1].retrieve(query, 4)
            assert lives[1].digest() == before
            assert lives[1].use(answer, answer.rows[::-1]).tolist() == answer.rows.tolist()
            assert lives[0].digest() == lives[1].digest()
            changed = changed or lives[0].digest() != before
    for e in lives:
        e.advance(e.now + 80.0)
    assert lives[0].digest() == lives[1].digest() and (changed or id != "everything")
