"""A process killed at a random moment while its memory is told and taught things seconds apart:
what has returned is in the file, once.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

from ...engine.base.errors import SnapshotError
from ...engine.contract.records import Event
from ...engine.memory.engine import Engine
from ...engine.saving.call_log import Call
from .children import killed, opened
from .flips import Make
from .tally import Tally

PROMISED = (
    "the memory is, bit for bit, as after the last call that returned, or after all or some steps of the one in flight; no event is there "
    "twice"
)
KEPT, STEPS = "kept", "kept, and some steps of the call in flight"
LONGEST = 0.2  # s from the first sign of life to the kill
GAP = 7.0 / 3600.0  # h between events
PAUSE = 1.5  # h before every twelfth event: a tick ends, and is saved
Act = Callable[[Engine], object]


def calls(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Kill a process `count` times in the midst of calls of all kinds; the memory grows from kill
    to kill, and begins anew after the last call.

    make    opens the memory of a path
    events  what it is told, at times that are made for the drill; 2 at least

    Cost: a process and a loading each.  Needs `os.fork`.
    """
    tally, chance, path = Tally("calls", PROMISED), random.Random(seed), folder / "killed.db"
    acts = acts_of(events)
    (digests, steps), done = _digests(make, acts, folder / "whole.db"), 0
    for _ in range(count):
        returned = _killed(make, path, acts, done, chance)
        outcome, reached = _kept(make, path, digests, steps, done if returned is None else returned)
        kind = (
            "while it opens"
            if returned is None
            else "in the first call after opening"
            if returned == done
            else "in a later call"
        )
        tally.count(kind, outcome, broken=outcome not in (KEPT, STEPS))
        done = reached if outcome == KEPT else len(acts)
        if done == len(acts):
            for file in folder.glob("killed.db*"):
                file.unlink()
            done = 0
    return tally


def acts_of(events: list[Event]) -> list[Act]:
    """Calls of all kinds that change a memory, each after some events."""
    acts, now = list[Act](), events[0].time
    for i, event in enumerate(events):
        now += PAUSE if i % 12 == 11 else GAP
        acts.append(partial(_encode, replace(event, time=now, id=f"call {i}")))
        every = {3: _learn, 4: _use, 7: _archive, 9: _restore, 8: _begin_task, 13: _end_task,
                 15: _erase, 17: _advance, 19: _encode_more}  # fmt: skip
        acts += [partial(act, i) for number, act in every.items() if i % number == number - 1]
    return acts


def _encode(event: Event, memory: Engine) -> None:
    memory.encode(event)


def _encode_more(i: int, memory: Engine) -> None:
    memory.encode_all(
        [Event(memory.now, f"Told at once, number {n}", id=f"more {i} {n}") for n in range(2)]
    )


def _learn(i: int, memory: Engine) -> None:
    memory.retrieve(f"What about {i}?", 3, learn=True)


def _use(i: int, memory: Engine) -> None:
    answer = memory.retrieve(f"Which {i}?", 4)
    memory.use(answer, answer.rows[: i % 3], outcome=0.5 if i % 2 else None)


def _archive(i: int, memory: Engine) -> None:
    if memory.store.n:
        memory.archive(i % memory.store.n)


def _restore(i: int, memory: Engine) -> None:
    rows = [
        row
        for row in memory.assembly.withholding.rows().tolist()
        if not memory.assembly.withholding.erased(row)
    ]
    if rows and memory.event_log.rows[rows[0]] >= 0:
        memory.restore(rows[0])


def _begin_task(i: int, memory: Engine) -> None:
    memory.tasks.push(f"Settle the question {i}")


def _end_task(i: int, memory: Engine) -> None:
    if len(memory.tasks):
        memory.tasks.pop(f"It is {i}")


def _erase(i: int, memory: Engine) -> None:
    memory.erase(f"call {i - 3}", confirm=True)


def _advance(i: int, memory: Engine) -> None:
    memory.advance(memory.now)


def _digests(make: Make, acts: list[Act], path: Path) -> tuple[list[str], list[set[str]]]:
    """Digests after each number of calls, without a kill; and those after the steps of the next
    call: of several events, the end of a tick before.
    """
    memory, steps = make(path), list[set[str]]()
    digests = [memory.digest()]
    for act in acts:
        steps.append(set())
        with noted(memory, steps[-1]):
            act(memory)
        digests.append(memory.digest())
    memory.close()
    return digests, [*steps, set()]


@contextmanager
def noted(memory: Engine, digests: set[str]) -> Iterator[None]:
    """Within it the digest after each change of the memory is added."""
    snapshot = memory.changes.snapshot
    assert snapshot is not None
    changing = snapshot.changing

    @contextmanager
    def noting(call: Call | None) -> Iterator[None]:
        with changing(call):
            yield
        digests.add(memory.assembly.digest())

    with patch.object(snapshot, "changing", noting):
        yield


def _killed(
    make: Make, path: Path, acts: list[Act], done: int, chance: random.Random
) -> int | None:
    """Go on with the calls in a child process, and kill it; how many had returned, None if it
    had not even opened the file.
    """

    def live(writer: int) -> None:
        memory = make(path)
        os.write(writer, done.to_bytes(4, "little"))
        for number in range(done, len(acts)):
            acts[number](memory)
            os.write(writer, (number + 1).to_bytes(4, "little"))
        time.sleep(60.0)

    received = killed(live, chance, 0.9, LONGEST)
    return int.from_bytes(received, "little") if received else None


def _kept(
    make: Make, path: Path, digests: list[str], steps: list[set[str]], finished: int
) -> tuple[str, int]:
    """What came of a kill after so many calls had returned, and how many the file then holds."""
    try:
        memory = opened(make, path)
    except SnapshotError as refused:
        return f"the file is refused: {refused.what}", finished
    try:
        digest, ids = memory.digest(), Counter(event.id for event in memory.events if event.id)
        if max(ids.values(), default=1) > 1:
            return "an event is there twice", finished
        for number in (finished, finished + 1):
            if digest == digests[min(number, len(digests) - 1)]:
                return KEPT, min(number, len(digests) - 1)
        if digest in steps[finished]:
            return STEPS, finished
        return (
            "calls that had returned are lost" if digest in digests[:finished] else "another digest"
        ), finished
    finally:
        memory.close()
