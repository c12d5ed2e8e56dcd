"""A process killed while its memory consolidates, with mechanisms that make, hide and link
memories: no half of a night is in the file.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import struct
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...engine.catalogue.registry import Registry
from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from .children import opened, started, told
from .flips import Make
from .tally import Tally

PROMISED = "the file holds the memory as it was at a save of a life without a kill; after the next and after the last event the digest is as there"
MARK = struct.Struct("<cI")  # what the child does, and how many events it has finished
BEGUN, ENDED, FINISHED = b"b", b"e", b"f"
WITHIN = "in a consolidation"
# mechanisms that make, hide and link memories, with parameters by which they do so every night
MAKING: dict[str, dict[str, Any]] = {
    "dense_similarity": {"passages": False},
    "surprise_index": {},
    "speaker_engram": {},
    "fact_timeline": {},
    "typed_expansion": {},
    "topology_consolidation": {"interval": 1},
}


def making() -> Make:
    """Opens memories of these mechanisms with 64 dimensions."""
    registry = Registry.read()
    mechanisms = [registry.instance(id, parameters) for id, parameters in MAKING.items()]
    return lambda path: Engine(mechanisms, HashingEmbedder(64), path=path, durable=False)


def nights(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Kill a process `count` times within a consolidation, at a random moment; the memory grows
    from kill to kill, and begins anew at its end.

    make    opens the memory of a path
    events  what it is told, of several nights

    Kills that come after the end of the consolidation, while it is saved or later, are made beside
    these.  Cost: a process each.  Needs `os.fork`.
    """
    tally, chance, path = Tally("nights", PROMISED), random.Random(seed), folder / "killed.db"
    life = _Life(make, events, folder / "whole.db")
    while sum(n for (kind, _), n in tally.outcomes.items() if kind == WITHIN) < count:
        last, finished = _killed(make, path, events, chance, life.typical)
        over = last is None  # the memory had no further night
        outcome = (
            _ended(make, path, events, life)
            if over
            else _continued(make, path, events, life, finished)
        )
        kind = (
            "after the last night"
            if over
            else WITHIN
            if last == BEGUN
            else "after it, or in the save"
        )
        if not over or outcome != "continued":
            tally.count(kind, outcome, broken=outcome != "continued")
        if over or outcome != "continued":
            for file in folder.glob("killed.db*"):
                file.unlink()
    return tally


class _Life:
    """The life without a kill.

    after    digests after each number of events
    saved    digests of all saves
    typical  s, median time of a consolidation
    """

    def __init__(self, make: Make, events: Sequence[Event], path: Path) -> None:
        memory = make(path)
        self.after, self.saved, times = [memory.digest()], {memory.digest()}, [0.0]
        snapshot = memory.changes.snapshot
        assert snapshot is not None
        consolidate, save = memory.assembly.run[Phase.CONSOLIDATE], snapshot.save

        def timed(tick: Any) -> None:
            began = time.perf_counter()
            consolidate(tick)
            times.append(time.perf_counter() - began)

        def noted(*given: Any, **named: Any) -> None:
            self.saved.add(memory.assembly.digest())
            save(*given, **named)

        memory.assembly.run[Phase.CONSOLIDATE] = timed
        snapshot.save = noted  # type: ignore[method-assign]
        for event in events:
            told(memory, event)
            self.after.append(memory.digest())
        self.typical = statistics.median(times)
        memory.close()


def _killed(
    make: Make, path: Path, events: list[Event], chance: random.Random, typical: float
) -> tuple[bytes | None, int]:
    """Live on in a child process, and kill it after a random part of a consolidation: its last
    mark of one, and how many events were finished.
    """

    def live(writer: int) -> None:
        memory = make(path)
        consolidate, done = memory.assembly.run[Phase.CONSOLIDATE], len(memory.event_log.events)

        def marked(tick: Any) -> None:
            os.write(writer, MARK.pack(BEGUN, done))
            consolidate(tick)
            os.write(writer, MARK.pack(ENDED, done))

        memory.assembly.run[Phase.CONSOLIDATE] = marked
        for event in events[done:]:
            told(memory, event)
            done += 1
            os.write(writer, MARK.pack(FINISHED, done))

    child, pipe = started(live)
    marks = []
    with pipe:
        while mark := _read(pipe):
            marks.append(mark)
            if mark[0] == BEGUN:
                time.sleep(chance.uniform(0.0, typical))
                os.kill(child, signal.SIGKILL)
                break
        os.waitpid(child, 0)
        while mark := _read(pipe):
            marks.append(mark)
    nightly = [kind for kind, _ in marks if kind != FINISHED]
    return (nightly[-1] if nightly else None), max((done for _, done in marks), default=0)


def _read(pipe: Any) -> tuple[bytes, int] | None:
    """The next mark, None after the last."""
    data = b""
    while len(data) < MARK.size:
        more = pipe.read(MARK.size - len(data))
        if not more:
            return None
        data += more
    kind, done = MARK.unpack(data)
    return kind, done


def _continued(make: Make, path: Path, events: list[Event], life: _Life, finished: int) -> str:
    """What came of a kill after so many finished events."""
    memory = opened(make, path)
    try:
        held = len(memory.event_log.events)
        if not finished <= held <= finished + 1:
            return f"{finished} events were finished, the file holds {held}"
        if memory.digest() not in life.saved:
            return "the file holds what was never saved"
        if held < len(events):
            told(memory, events[held])
            if memory.digest() != life.after[held + 1]:
                return "another digest after the next event"
        return "continued"
    finally:
        memory.close()


def _ended(make: Make, path: Path, events: list[Event], life: _Life) -> str:
    """Whether a memory that was killed in its nights is, after its last event, that of the life
    without a kill.
    """
    memory = opened(make, path)
    try:
        for event in events[len(memory.event_log.events) :]:
            told(memory, event)
        return (
            "continued"
            if memory.digest() == life.after[-1]
            else "another digest after the last event"
        )
    finally:
        memory.close()
