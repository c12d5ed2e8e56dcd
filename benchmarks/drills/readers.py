"""Threads that ask one memory while another thread changes it: every answer is one that some
order of the calls gives.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from time import sleep

from ...engine.contract.records import Event
from ...engine.memory.engine import Engine
from .flips import Make
from .tally import Tally

PROMISED = "each answer is that of the memory after some number of events, no smaller than before, and the state is that of the writer alone"
READERS, TEXTS = 8, 12
Found = tuple[bytes, bytes, bytes]


def readers(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Ask `count` questions from eight threads while another one encodes the later two thirds of
    the events, and lets the time of a day pass.

    Answers are compared bit for bit with those of a memory that one thread fills, after each event
    and with all scores.
    """
    tally, chance, told = Tally("readers", PROMISED), random.Random(seed), len(events) // 3
    texts = [event.text for event in chance.choices(events, k=TEXTS)]
    alone, shared = (
        _begun(make(folder / "alone.sqlite"), events[:told]),
        _begun(make(folder / "shared.sqlite"), events[:told]),
    )
    stages = [{text: _answered(alone, text) for text in texts}]
    for step in range(told, len(events) + 1):
        _step(alone, events, step)
        stages.append({text: _answered(alone, text) for text in texts})
    asked = [
        [chance.choice(texts) for _ in range(number, count, READERS)] for number in range(READERS)
    ]
    answers: list[list[tuple[str, Found]]] = [[] for _ in asked]

    def write() -> None:
        for step in range(told, len(events) + 1):
            while sum(map(len, answers)) * (len(events) + 1 - told) < (step - told) * count:
                sleep(0.0005)  # spread over the questions
            _step(shared, events, step)

    def ask(number: int) -> None:
        for text in asked[number]:
            answers[number].append((text, _answered(shared, text)))

    writer = Thread(target=write)
    writer.start()
    with ThreadPoolExecutor(READERS) as pool:
        list(pool.map(ask, range(READERS)))
    writer.join()
    for some in answers:
        stage = 0
        for text, answer in some:
            right = next(
                (later for later in range(stage, len(stages)) if stages[later][text] == answer),
                None,
            )
            stage = stage if right is None else right
            tally.count(
                "question",
                "no order of the calls gives this answer" if right is None else "answered",
                broken=right is None,
            )
    same = shared.digest() == alone.digest()
    tally.count("state", "that of the writer alone" if same else "another", broken=not same)
    shared.close()
    alone.close()
    return tally


def _begun(memory: Engine, events: Sequence[Event]) -> Engine:
    # asked by several threads at the same time, however small it is
    memory.assembly.beside_from = 0
    for event in events:
        memory.encode(event)
    return memory


def _step(memory: Engine, events: list[Event], step: int) -> None:
    if step < len(events):
        memory.encode(events[step])
    else:
        memory.advance(memory.now + 24.0)


def _answered(memory: Engine, text: str) -> Found:
    answer = memory.retrieve(text)
    return answer.rows.tobytes(), answer.final.tobytes(), answer.answerable.tobytes()
