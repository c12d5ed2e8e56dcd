"""Threads that share one memory: every answer is one that some order of the calls gives, and the state is that of the writer alone."""
from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread

import pytest

from hebbarium.engine.errors import HebbariumError
from hebbarium.engine.loop import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.records import Event
from hebbarium.engine.registry import Registry

TELLERS = ("Ada", "Bo", "Cleo")
EVENTS = [Event(2.0 * i, f"{TELLERS[i % 3]} took the {word} to the mill on day {i}", TELLERS[i % 3], f"s{i // 8}", f"e{i}")
          for i, word in enumerate(("cat", "cart", "flour", "rope", "lamp", "boat", "key", "bread") * 5)]
QUESTIONS = ("Who took the cat?", "Where is the key?", "What did Bo bring to the mill?", "When did Cleo take the lamp?")
READERS, TOLD = 8, 12
Found = tuple[tuple[int, ...], tuple[float, ...]]


def memory(events: Sequence[Event] = EVENTS[:TOLD], chosen: str = "default") -> Engine:
    registry = Registry.read()
    made = Engine(registry.build(registry.set(chosen)), HashingEmbedder(16))
    for event in events:
        made.encode(event)
    return made


def answered(shared: Engine, question: str) -> Found:
    answer = shared.retrieve(question, 5)
    return tuple(answer.rows.tolist()), tuple(answer.scores.tolist())


@pytest.mark.parametrize("chosen", ["default", "everything"])
def test_readers_get_the_answers_of_one_thread(chosen: str) -> None:
    shared, gate = memory(chosen=chosen), Barrier(READERS)
    expected, before = {question: answered(shared, question) for question in QUESTIONS}, shared.digest()

    def ask(first: int) -> list[tuple[str, Found]]:
        gate.wait()
        return [(question, answered(shared, question)) for question in (QUESTIONS * 3)[first % 4:]]

    with ThreadPoolExecutor(READERS) as pool:
        found = [each for some in pool.map(ask, range(READERS)) for each in some]
    assert all(answer == expected[question] for question, answer in found)
    assert shared.digest() == before


def test_readers_and_a_writer_take_turns() -> None:
    """Each answer is one of the memory after some number of the writer's events, and not one of an earlier time than the answer before."""
    alone, stages = memory(), []
    for event in (None, *EVENTS[TOLD:]):
        if event is not None:
            alone.encode(event)
        stages.append({question: answered(alone, question) for question in QUESTIONS})
    shared, gate = memory(), Barrier(READERS + 1)

    def write() -> None:
        gate.wait()
        for event in EVENTS[TOLD:]:
            shared.encode(event)

    def ask(first: int) -> list[tuple[str, Found]]:
        gate.wait()
        return [(question, answered(shared, question)) for question in (QUESTIONS * 6)[first % 4:]]

    writer = Thread(target=write)
    writer.start()
    with ThreadPoolExecutor(READERS) as pool:
        series = list(pool.map(ask, range(READERS)))
    writer.join()
    assert shared.digest() == alone.digest()
    for some in series:
        stage = 0
        for question, answer in some:
            stage = next(number for number in range(stage, len(stages) + 1) if number == len(stages) or stages[number][question] == answer)
            assert stage < len(stages), f"no order of the calls gives this answer to {question!r}"


def test_writers_in_several_threads_leave_a_sound_memory() -> None:
    """Events of equal time from six threads: all of them are stored, and each can be read."""
    shared, gate = memory(()), Barrier(6)

    def write(number: int) -> None:
        gate.wait()
        for i in range(10):
            shared.encode(Event(1.0, f"thread {number} says {i}", f"T{number}", "s", f"{number}-{i}"))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    assert sorted(event.id for event in shared.events) == sorted(f"{n}-{i}" for n in range(6) for i in range(10))
    own = [[event.id for event in shared.events if event.speaker == f"T{n}"] for n in range(6)]
    assert own == [[f"{n}-{i}" for i in range(10)] for n in range(6)]


def test_a_memory_closed_by_one_thread_refuses_the_others() -> None:
    shared = memory()
    closing = Thread(target=shared.close)
    closing.start()
    closing.join()
    with pytest.raises(HebbariumError, match="is closed"):
        shared.retrieve(QUESTIONS[0])
