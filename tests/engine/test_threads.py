"""Threads that share one memory: every answer is one that some order of the calls gives, and the
state is that of the writer alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Thread
from threading import Event as TurnEvent
from typing import Any

import numpy as np
import pytest
from tiers import EVERYDAY_SETS, slow_unless

from hebbarium.engine.base.errors import ContractError, HebbariumError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.contract.vocabulary import VISIBLE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.testing.small import by_number, does, mechanism
from hebbarium.testing.small import memory as small

TELLERS = ("Ada", "Bo", "Cleo")
EVENTS = [Event(2.0 * i, f"{TELLERS[i % 3]} took the {word} to the mill on day {i}", TELLERS[i % 3],
                f"s{i // 8}", f"e{i}")
          for i, word in enumerate(("cat", "cart", "flour", "rope", "lamp", "boat", "key",
                                    "bread") * 5)]  # fmt: skip
QUESTIONS = (
    "Who took the cat?",
    "Where is the key?",
    "What did Bo bring to the mill?",
    "When did Cleo take the lamp?",
)
READERS, TOLD = 8, 12
SETS = sorted(Registry.read().sets)
Found = tuple[object, ...]


def memory(
    events: Sequence[Event] = EVENTS[:TOLD], chosen: str = "default", **options: Any
) -> Engine:
    """A memory that several threads ask at the same time, however small it is."""
    registry = Registry.read()
    made = Engine(registry.build(registry.set(chosen)), HashingEmbedder(16), **options)
    made.assembly.beside_from = 0
    for event in events:
        made.encode(event)
    return made


def answered(shared: Engine, question: str | Query) -> Found:
    answer = shared.retrieve(question, 5)
    return (
        answer.rows.tobytes(),
        answer.final.tobytes(),
        answer.answerable.tobytes(),
        answer.units,
        answer.sufficiency,
        answer.chronological,
    )


@pytest.mark.parametrize("chosen", slow_unless(EVERYDAY_SETS, SETS))
def test_an_answer_beside_another_question_is_the_same(chosen: str) -> None:
    """In every set, bit for bit, with a filter, after further events, and without a trace in the
    state or in the columns of the question before.
    """
    shared = memory(EVENTS, chosen)
    shared.advance(shared.now + 30.0)
    for later in (
        None,
        Event(
            EVENTS[-1].time + 40.0,
            "Ada left the oar at the mill, did Bo see it?",
            "Ada",
            "s9",
            "late",
        ),
    ):
        if later is not None:
            shared.encode(later)
        asked = [
            *QUESTIONS,
            *(Query(text, only=Only(speakers=("Ada",)), session="s1") for text in QUESTIONS[:2]),
        ]
        expected = [answered(shared, question) for question in asked]
        before, column = shared.digest(), shared.column("released").copy()
        with shared.assembly.places.taken() as place:
            assert place is None  # the memory itself is in use
            assert [answered(shared, question) for question in asked] == expected
        assert shared.digest() == before
        assert np.array_equal(shared.column("released"), column, equal_nan=True)


def test_shortlists_beside_one_another() -> None:
    events = [
        replace(event, time=event.time + 100.0 * i, id=f"{event.id}.{i}")
        for i in range(30)
        for event in EVENTS
    ]
    shared = memory(events, "hybrid", shortlist=64)
    expected = [answered(shared, question) for question in QUESTIONS]
    with shared.assembly.places.taken():
        assert [answered(shared, question) for question in QUESTIONS] == expected
    assert (
        shared.store.n >= 16 * 64
        and np.count_nonzero(np.isfinite(shared.retrieve(QUESTIONS[0], 5).final)) <= 64
    )


@pytest.mark.parametrize("chosen", slow_unless({"default"}, ["default", "stages"]))
def test_threads_get_the_contexts_of_one_thread(chosen: str) -> None:
    """Of a set without sources and of one with sources, which are asked alone."""
    shared, gate = memory(EVENTS, chosen), Barrier(READERS)
    alone = memory(EVENTS, chosen)
    expected = {
        (question, most): alone.context(question, most).text
        for question in QUESTIONS
        for most in (40, 200)
    }

    def ask(first: int) -> list[bool]:
        gate.wait()
        asked = list(expected)[first:] + list(expected)[:first]
        return [
            shared.context(*each).text == expected[each]
            and shared.unit(first).text == shared.event(first).text
            for each in asked
        ]

    with ThreadPoolExecutor(READERS) as pool:
        assert all(all(some) for some in pool.map(ask, range(READERS)))


def test_an_answer_of_another_place_can_be_used() -> None:
    """Feedback on it asks again, and changes the memory as feedback on the same answer of the
    memory itself.
    """
    one, other = memory(), memory()
    first = one.retrieve(QUESTIONS[0], 5)
    with other.assembly.places.taken():
        second = other.retrieve(QUESTIONS[0], 5)
    assert (
        one.use(first, [int(first.rows[0])]).tolist()
        == other.use(second, [int(second.rows[0])]).tolist()
    )
    assert one.digest() == other.digest()


def test_an_erased_text_is_in_no_place() -> None:
    shared = memory(chosen="hybrid")
    with shared.assembly.places.taken():
        shared.retrieve(QUESTIONS[0])
    assert shared.assembly.places.beside == 1
    shared.erase("e0", confirm=True)
    assert shared.assembly.places.beside == 0


@pytest.mark.parametrize("least", [0, 4096])
@pytest.mark.parametrize("call", ["encode", "retrieve"])
def test_a_hook_cannot_call_the_memory_that_asks_it(call: str, least: int) -> None:
    held: list[Engine] = []

    def meddle(view: Any, cue: Any) -> None:
        _ = held[0].retrieve("again") if call == "retrieve" else held[0].encode(EVENTS[TOLD])

    held.append(small(mechanism("m", does(Phase.RETRIEVE, meddle, reads=[VISIBLE])), by_number()))
    held[0].assembly.beside_from = least
    held[0].encode(EVENTS[0])
    with pytest.raises(ContractError, match="in the middle of a call"):
        held[0].retrieve(QUESTIONS[0])
    assert held[0].store.n == 1
    assert held[0].encode(EVENTS[1]) == 1


def test_threads_push_tasks_in_turn() -> None:
    shared, gate = memory(), Barrier(READERS)

    def push(number: int) -> str:
        gate.wait()
        return shared.tasks.push(f"goal {number}").goal

    with ThreadPoolExecutor(READERS) as pool:
        assert list(pool.map(push, range(READERS))) == [
            f"goal {number}" for number in range(READERS)
        ]
    assert len({frame.id for frame in shared.tasks.frames()}) == READERS == len(shared.tasks)


def test_an_old_view_is_not_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that reads a column while another adds a row: the view that it made before is not
    shown to others.
    """
    shared = memory(chosen="hybrid")
    view, n = shared.store.array(VISIBLE), shared.store.n
    stale, live = view[:], shared.store._live
    shared.encode(EVENTS[TOLD])
    live[VISIBLE] = stale
    assert len(shared.store.array(VISIBLE)) == n + 1


@pytest.mark.slow
@pytest.mark.parametrize("chosen", ["default", "everything", "true_memory", "hybrid"])
def test_readers_get_the_answers_of_one_thread(chosen: str) -> None:
    shared, gate = memory(chosen=chosen), Barrier(READERS)
    expected, before = (
        {question: answered(shared, question) for question in QUESTIONS},
        shared.digest(),
    )

    def ask(first: int) -> list[tuple[str, Found]]:
        gate.wait()
        return [(question, answered(shared, question)) for question in (QUESTIONS * 3)[first % 4 :]]

    with ThreadPoolExecutor(READERS) as pool:
        found = [each for some in pool.map(ask, range(READERS)) for each in some]
    assert all(answer == expected[question] for question, answer in found)
    assert shared.digest() == before


@pytest.mark.slow
@pytest.mark.parametrize("chosen", ["default", "everything", "hybrid"])
def test_readers_and_a_writer_take_turns(chosen: str) -> None:
    """Each answer is one of the memory after some number of the writer's events, and not one of
    an earlier time than the answer before.
    """
    alone, stages = memory(chosen=chosen), []
    for event in (None, *EVENTS[TOLD:]):
        if event is not None:
            alone.encode(event)
        stages.append({question: answered(alone, question) for question in QUESTIONS})
    shared, gate = memory(chosen=chosen), Barrier(READERS + 1)

    def write() -> None:
        gate.wait()
        for event in EVENTS[TOLD:]:
            shared.encode(event)

    def ask(first: int) -> list[tuple[str, Found]]:
        gate.wait()
        return [(question, answered(shared, question)) for question in (QUESTIONS * 6)[first % 4 :]]

    writer = Thread(target=write)
    writer.start()
    with ThreadPoolExecutor(READERS) as pool:
        series = list(pool.map(ask, range(READERS)))
    writer.join()
    assert shared.digest() == alone.digest()
    for some in series:
        stage = 0
        for question, answer in some:
            stage = next(
                number
                for number in range(stage, len(stages) + 1)
                if number == len(stages) or stages[number][question] == answer
            )
            assert stage < len(stages), f"no order of the calls gives this answer to {question!r}"


def test_writers_in_several_threads_leave_a_sound_memory() -> None:
    """Events of equal time from six threads: all of them are stored, and each can be read."""
    shared, gate = memory(()), Barrier(6)

    def write(number: int) -> None:
        gate.wait()
        for i in range(10):
            shared.encode(
                Event(1.0, f"thread {number} says {i}", f"T{number}", "s", f"{number}-{i}")
            )

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    assert sorted(event.id for event in shared.events) == sorted(
        f"{n}-{i}" for n in range(6) for i in range(10)
    )
    own = [[event.id for event in shared.events if event.speaker == f"T{n}"] for n in range(6)]
    assert own == [[f"{n}-{i}" for i in range(10)] for n in range(6)]


def test_a_memory_closed_by_one_thread_refuses_the_others() -> None:
    shared = memory()
    closing = Thread(target=shared.close)
    closing.start()
    closing.join()
    with pytest.raises(HebbariumError, match="is closed"):
        shared.retrieve(QUESTIONS[0])


def test_others_ask_while_an_iterator_of_events_waits() -> None:
    """Each 256 of its events have a turn; a list has one."""
    e, waits, goes_on = small(by_number()), TurnEvent(), TurnEvent()

    def slowly() -> Iterator[Event]:
        for n in range(300):
            if n == 280:
                waits.set()
                assert goes_on.wait(30.0)
            yield Event(float(n), f"number {n}", id=str(n))

    with ThreadPoolExecutor(1) as pool:
        told = pool.submit(e.encode_all, slowly())
        try:
            assert waits.wait(30.0)
            assert len(e.retrieve("number 7")) == 10 and e.store.n == 256
        finally:
            goes_on.set()
        assert told.result(30.0) == list(range(300))
    whole = small(by_number())
    whole.encode_all([Event(float(n), f"number {n}", id=str(n)) for n in range(300)])
    assert e.digest() == whole.digest()
